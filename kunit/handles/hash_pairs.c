// SPDX-License-Identifier: GPL-2.0
/*
 * hash_pairs.c - suite callout_hash_pairs: two operations that meet at a bucket
 *
 * An operation changes a bucket in one hold of its lock. Two CPUs that meet there
 * change the bucket one after the other. So each case does two operations in turn,
 * for each pair of operations in each state of a bucket, and compares the hash with
 * the model. An operation on a slot that has left the hash changes the slot alone.
 */
#include <linux/string.h>
#include "lib/common.h"
#include "lib/hash_model.h"

/* The maximum number of slots: of the key, of other keys in its bucket, and in total. */
#define MOST		9U
#define SLOTS		(2 * MOST + 2)
#define NR_KEYS		(MOST + 2)
/* The first of the two slots that the operation INSERT inserts. */
#define FIRST_SPARE	(2 * MOST)

/* Before growth there are two buckets, afterwards eight. */
#define BITS		1U

/**
 * struct pairs_shape - the initial contents of a bucket
 * @same: slots of the key
 * @others: slots of other keys
 */
struct pairs_shape {
	unsigned int same;
	unsigned int others;
};

static const struct pairs_shape shapes[] = {
	{ 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, MOST },
	{ 2, 0 }, { 2, 1 }, { 2, MOST },
	{ 3, 0 }, { 3, 1 }, { 3, MOST },
	{ MOST, 0 }, { MOST, MOST },
};

static void shape_desc(const struct pairs_shape *shape, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u of the key, %u of others",
		 shape->same, shape->others);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_desc);

/* The operation of a CPU on the key, or on a slot of the key. */
enum pairs_op {
	FIND,
	TAKE,		/* untimeout */
	REMOVE,		/* unset, or the end of an expiry */
	EARLIER,	/* reset */
	LATER,
	FIRE,
	INSERT,
	INSERT_ONLY,
	INSERT_NEW,	/* as INSERT_ONLY, for a key that no other slot has */
	GROW,
	NR_OPS
};

static const char * const op_names[] = {
	[FIND]		= "find",
	[TAKE]		= "take",
	[REMOVE]	= "remove",
	[EARLIER]	= "earlier",
	[LATER]		= "later",
	[FIRE]		= "fire",
	[INSERT]	= "insert",
	[INSERT_ONLY]	= "insert only",
	[INSERT_NEW]	= "insert new",
	[GROW]		= "grow",
};

/**
 * struct pairs - the hash, and the operations of two CPUs on it
 * @m: the hash
 * @key: [0]: the key; the last key has no slot at first; all keys share a bucket
 * @slot: the slot to which both operations apply
 * @spare: the next slot to insert
 * @now: when the next slot fires
 */
struct pairs {
	struct callout_test_hash *m;
	unsigned int key[NR_KEYS];
	unsigned int slot;
	unsigned int spare;
	u64 now;
};

static unsigned int pairs_bucket(struct pairs *p, unsigned int key,
				 unsigned int bits)
{
	u64 func, arg;

	callout_test_hash_key(key, &func, &arg);
	return co_hash_value(&p->m->hash, func, arg) >> (64 - bits);
}

/*
 * Choose keys that share a bucket. Half of the other keys, and the last key, also
 * share a bucket after growth.
 */
static void pairs_choose(struct pairs *p)
{
	unsigned int key = 0, n, bits;

	p->key[0] = 0;
	for (n = 1; n < NR_KEYS; n++) {
		bits = n % 2 ? BITS : BITS + 2;
		do {
			key++;
		} while (pairs_bucket(p, key, bits) != pairs_bucket(p, 0, bits));
		p->key[n] = key;
	}
}

/* Begin again: the bucket has the shape, and growth has done @steps. */
static void pairs_begin(struct pairs *p, const struct pairs_shape *shape,
			unsigned int steps)
{
	unsigned int i, n = max(shape->same, shape->others);

	callout_test_hash_restart(p->m, BITS);
	pairs_choose(p);
	p->spare = FIRST_SPARE;
	p->now = 1000;
	for (i = 0; i < SLOTS; i++)
		p->m->slot[i].node.state = CALLOUT_S_PENDING;
	for (i = 0; i < n; i++) {
		/* Not in order of expiry, and with some equal expiries. */
		if (i < shape->same)
			callout_test_hash_insert(p->m, i, p->key[0],
						 10 + i * 2 % 3);
		if (i < shape->others)
			callout_test_hash_insert(p->m, MOST + i, p->key[i + 1],
						 11);
	}
	for (i = 0; i < steps; i++)
		callout_test_hash_grow_a_step(p->m);
}

static void pairs_move(struct pairs *p, u64 expires)
{
	struct callout_test_hash *m = p->m;

	callout_test_hash_move(m, p->slot, expires);
	/* A slot that was removed stays out. */
	if (m->seq[p->slot])
		m->seq[p->slot] = m->next_seq++;
}

static void pairs_insert_only(struct pairs *p, unsigned int key)
{
	bool there = callout_test_hash_expect(p->m, key);

	KUNIT_EXPECT_EQ(p->m->test, !there,
			callout_test_hash_insert_only(p->m, p->spare++, key, 10));
}

static void pairs_do(struct pairs *p, enum pairs_op op)
{
	u64 expected = callout_test_hash_expect(p->m, p->key[0]);

	switch (op) {
	case FIND:
		KUNIT_EXPECT_EQ(p->m->test, expected,
				callout_test_hash_look(p->m, p->key[0]));
		break;
	case TAKE:
		KUNIT_EXPECT_EQ(p->m->test, expected,
				callout_test_hash_take(p->m, p->key[0]));
		if (expected)
			p->slot = expected - 1;
		break;
	case REMOVE:
		callout_test_hash_remove(p->m, p->slot);
		break;
	case EARLIER:
		pairs_move(p, 5);
		break;
	case LATER:
		pairs_move(p, 20);
		break;
	case FIRE:
		callout_test_hash_fire(p->m, p->key[0], p->now++);
		break;
	case INSERT:
		callout_test_hash_insert(p->m, p->spare++, p->key[0], 10);
		break;
	case INSERT_ONLY:
		pairs_insert_only(p, p->key[0]);
		break;
	case INSERT_NEW:
		pairs_insert_only(p, p->key[NR_KEYS - 1]);
		break;
	default:
		if (callout_test_hash_growing(p->m))
			callout_test_hash_grow_a_step(p->m);
	}
}

/*
 * Does the hash agree with the model: in the first slot of each key, and in which
 * slots are in or out?
 */
static bool pairs_agree(struct pairs *p)
{
	struct callout_test_hash *m = p->m;
	unsigned int i, place;

	for (i = 0; i < NR_KEYS; i++)
		if (callout_test_hash_look(m, p->key[i]) !=
		    callout_test_hash_expect(m, p->key[i]))
			return false;
	for (i = 0; i < SLOTS; i++) {
		place = m->seq[i] ? CALLOUT_HASH_IN : CALLOUT_HASH_OUT;
		if (m->slot[i].node.place != place)
			return false;
	}
	return true;
}

/* End growth. Then the slots of each key come out in order, and none is left. */
static bool pairs_empty(struct pairs *p)
{
	struct callout_test_hash *m = p->m;
	unsigned int i, live = 0;
	u64 expected;

	while (callout_test_hash_growing(m))
		callout_test_hash_grow_a_step(m);
	for (i = 0; i < SLOTS; i++)
		live += !!m->seq[i];
	if (co_hash_count(&m->hash) != live)
		return false;
	for (i = 0; i < NR_KEYS; i++) {
		do {
			expected = callout_test_hash_expect(m, p->key[i]);
			if (callout_test_hash_take(m, p->key[i]) != expected)
				return false;
		} while (expected);
	}
	return !co_hash_count(&m->hash);
}

/* Do two operations on slot @slot of the key. Return false if growth has ended before. */
static bool pairs_try(struct pairs *p, const struct pairs_shape *shape,
		      unsigned int steps, unsigned int slot, enum pairs_op a,
		      enum pairs_op b)
{
	bool agree;

	pairs_begin(p, shape, steps);
	if (steps && !callout_test_hash_growing(p->m))
		return false;
	p->slot = slot;
	pairs_do(p, a);
	agree = pairs_agree(p);
	pairs_do(p, b);
	agree = agree && pairs_agree(p) && pairs_empty(p);
	KUNIT_ASSERT_TRUE_MSG(p->m->test, agree,
			      "%s, then %s, slot %u, after %u steps of growth",
			      op_names[a], op_names[b], slot, steps);
	return true;
}

static struct pairs *pairs_create(struct kunit *test)
{
	struct pairs *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->m = callout_test_hash_create(test, BITS);
	p->m->slots = SLOTS;
	return p;
}

/*
 * Whatever two CPUs do to a slot of a key, one after the other, all other slots of
 * the bucket stay, in order, even while they move to the next table.
 */
static void pairs_of_operations(struct kunit *test)
{
	const struct pairs_shape *shape = test->param_value;
	unsigned int steps = 0, slot, a, b;
	struct pairs *p = pairs_create(test);
	bool more;

	do {
		more = true;
		for (a = 0; a < NR_OPS && more; a++) {
			for (b = 0; b < NR_OPS && more; b++) {
				/* The first slot of the key, one in the middle, and the last. */
				for (slot = 0; slot < shape->same && more;
				     slot += max(shape->same / 2, 1U))
					more = pairs_try(p, shape, steps, slot,
							 a, b);
			}
		}
		steps++;
		cond_resched();
	} while (more);
	/* At least a unit of work for each slot. */
	KUNIT_EXPECT_GE(test, steps, shape->same + shape->others);
}

static struct kunit_case pairs_cases[] = {
	KUNIT_CASE_PARAM(pairs_of_operations, shape_gen_params),
	{}
};

static struct kunit_suite pairs_suite = {
	.name = "callout_hash_pairs",
	.test_cases = pairs_cases,
};

kunit_test_suite(pairs_suite);
