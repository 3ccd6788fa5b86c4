// SPDX-License-Identifier: GPL-2.0
/*
 * hash.c - suite callout_hash: the (func, arg) hash by itself
 *
 * Slots in no table and no base; the model is an array that is searched from
 * end to end.
 */
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include "handle.h"
#include "hash.h"
#include "common.h"

#define NR_SLOTS	600U
#define NR_KEYS		30U
#define RANDOM_OPS	30000U
#define NR_COLLIDING	100000U

/**
 * struct hash_model - a hash and its expected contents
 * @test: the case
 * @hash: the hash
 * @slot: all slots; the handle is the index plus one
 * @seq: serial number of a slot's insertion; 0: not inserted
 * @next_seq: the next serial number
 */
struct hash_model {
	struct kunit *test;
	struct callout_hash hash;
	struct callout_slot slot[NR_SLOTS];
	u64 seq[NR_SLOTS];
	u64 next_seq;
};

static struct callout_buckets *hash_table(struct hash_model *m)
{
	return rcu_dereference_protected(m->hash.table, true);
}

static unsigned int hash_bits(struct hash_model *m)
{
	return 64 - hash_table(m)->shift;
}

static void hash_destroy(void *data)
{
	callout_hash_destroy(data);
}

static struct hash_model *hash_create(struct kunit *test, unsigned int bits)
{
	struct hash_model *m;
	unsigned int i;

	m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m);
	m->test = test;
	m->next_seq = 1;
	KUNIT_ASSERT_EQ(test, 0, callout_hash_init(&m->hash, bits, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hash_destroy,
							   &m->hash));
	for (i = 0; i < NR_SLOTS; i++)
		m->slot[i].handle = i + 1;
	return m;
}

/* A key: functions and arguments that differ in a bit or two. */
static void hash_key(unsigned int key, u64 *func, u64 *arg)
{
	*func = 0xffffffff81000000UL + 16 * (key % 5);
	*arg = 0xffff888000000000UL + 64 * (key / 5);
}

/* Returns true if the hash should grow. */
static bool hash_insert(struct hash_model *m, unsigned int i, unsigned int key,
			u64 expires)
{
	struct callout_slot *slot = &m->slot[i];
	bool grow;

	hash_key(key, &slot->key, &slot->arg);
	slot->node.expires = expires;
	local_irq_disable();
	grow = callout_hash_insert(&m->hash, slot);
	local_irq_enable();
	m->seq[i] = m->next_seq++;
	return grow;
}

static void hash_insert_random(struct hash_model *m, unsigned int i,
			       struct rnd_state *rng)
{
	unsigned int key = callout_test_below(rng, NR_KEYS);

	hash_insert(m, i, key, callout_test_below(rng, 50));
}

/* Inserts every other slot. */
static void hash_fill_half(struct hash_model *m, struct rnd_state *rng)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i += 2)
		hash_insert_random(m, i, rng);
}

static void hash_remove(struct hash_model *m, unsigned int i)
{
	local_irq_disable();
	callout_hash_remove(&m->hash, &m->slot[i]);
	local_irq_enable();
	m->seq[i] = 0;
}

/* Changes a slot's expiry. */
static void hash_move(struct hash_model *m, unsigned int i, u64 expires)
{
	struct callout_bucket_hold hold;

	local_irq_disable();
	callout_hash_move_begin(&m->hash, &m->slot[i], &hold);
	m->slot[i].node.expires = expires;
	callout_hash_move_end(&m->hash, &m->slot[i], &hold);
	local_irq_enable();
}

static void hash_remove_all(struct hash_model *m)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		if (m->seq[i])
			hash_remove(m, i);
	KUNIT_EXPECT_EQ(m->test, callout_hash_count(&m->hash), 0);
}

/* The handle that a search for @key must find, or 0. */
static u64 hash_expect(struct hash_model *m, unsigned int key)
{
	struct callout_slot *slot, *found = NULL;
	u64 func, arg, handle = 0, seq = 0;
	unsigned int i;

	hash_key(key, &func, &arg);
	for (i = 0; i < NR_SLOTS; i++) {
		slot = &m->slot[i];
		if (!m->seq[i] || slot->key != func || slot->arg != arg)
			continue;
		if (!found || slot->node.expires < found->node.expires ||
		    (slot->node.expires == found->node.expires && m->seq[i] < seq)) {
			found = slot;
			seq = m->seq[i];
			handle = i + 1;
		}
	}
	return handle;
}

static u64 hash_take(struct hash_model *m, unsigned int key)
{
	u64 func, arg, handle = 0;

	hash_key(key, &func, &arg);
	local_irq_disable();
	if (callout_hash_take(&m->hash, func, arg, &handle))
		m->seq[handle - 1] = 0;
	local_irq_enable();
	return handle;
}

static u64 hash_look(struct hash_model *m, unsigned int key)
{
	u64 func, arg, handle = 0;

	hash_key(key, &func, &arg);
	callout_hash_find(&m->hash, func, arg, &handle);
	return handle;
}

/* Takes one and inserts it again, as the last of its equals. */
static u64 hash_find(struct hash_model *m, unsigned int key)
{
	u64 handle = hash_take(m, key);

	if (handle)
		hash_insert(m, handle - 1, key,
			    m->slot[handle - 1].node.expires);
	return handle;
}

static void hash_check(struct hash_model *m)
{
	unsigned int key;
	u64 expected;

	for (key = 0; key < NR_KEYS; key++) {
		expected = hash_expect(m, key);
		KUNIT_ASSERT_EQ(m->test, expected, hash_find(m, key));
	}
}

/* The hash finds what the model does, at any size and fill. */
static void hash_random_operations(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 2);
	unsigned int i, op, live, bias;
	struct rnd_state rng;
	u64 expected;
	u32 key;

	callout_test_rng(test, &rng);
	for (op = 0; op < RANDOM_OPS; op++) {
		/* The hash fills and empties in turns. */
		bias = op / 2000 % 2 ? 30 : 70;
		i = callout_test_below(&rng, NR_SLOTS);
		if (m->seq[i] && callout_test_below(&rng, 100) >= bias)
			hash_remove(m, i);
		else if (!m->seq[i] && callout_test_below(&rng, 100) < bias)
			hash_insert_random(m, i, &rng);
		key = callout_test_below(&rng, NR_KEYS + 5);
		expected = hash_expect(m, key);
		KUNIT_ASSERT_EQ(test, expected, hash_find(m, key));
		if (op % 500 == 0)
			callout_hash_grow(&m->hash, GFP_KERNEL);
	}
	hash_check(m);
	for (i = 0, live = 0; i < NR_SLOTS; i++)
		live += !!m->seq[i];
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), live);
	KUNIT_EXPECT_GT(test, hash_bits(m), 2);
	hash_remove_all(m);
	hash_check(m);
}

/* Growth keeps the order of duplicates, also of those with equal expiry. */
static void hash_grows_with_duplicates(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 2);
	unsigned int i, handle, grown = 0, bits = 2;

	for (i = 0; i < NR_SLOTS; i++) {
		hash_insert(m, i, i % 3, 1000 - i / 9);
		callout_hash_grow(&m->hash, GFP_KERNEL);
		grown += hash_bits(m) != bits;
		bits = hash_bits(m);
		KUNIT_ASSERT_NULL(test, hash_table(m)->next);
		if (i % 16 == 0)
			hash_check(m);
	}
	KUNIT_EXPECT_GE(test, grown, 4);
	KUNIT_EXPECT_FALSE(test, callout_hash_wants_growth(&m->hash));
	for (i = 0; i < NR_SLOTS; i++) {
		handle = hash_expect(m, i % 3);
		KUNIT_ASSERT_NE(test, handle, 0);
		KUNIT_ASSERT_EQ(test, handle, hash_take(m, i % 3));
	}
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), 0);
}

/*
 * Slots of one key ask for growth, which there is from one for eight buckets on,
 * and moves them all.
 */
static void hash_grows_when_full(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 7);
	unsigned int i, asked = 0;

	KUNIT_EXPECT_FALSE(test, hash_insert(m, 0, 0, 1));
	callout_hash_grow(&m->hash, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, hash_bits(m), 7);
	for (i = 1; i < 15; i++) {
		if (!hash_insert(m, i, 0, 1))
			continue;
		asked++;
		callout_hash_grow(&m->hash, GFP_KERNEL);
		KUNIT_EXPECT_FALSE(test, callout_hash_wants_growth(&m->hash));
		KUNIT_EXPECT_EQ(test, hash_bits(m), 7);
	}
	KUNIT_EXPECT_GT(test, asked, 0);
	KUNIT_EXPECT_LT(test, asked, 14);
	while (!hash_insert(m, i++, 0, 1))
		KUNIT_ASSERT_LT(test, i, 32);
	callout_hash_grow(&m->hash, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, hash_bits(m), 8);
	KUNIT_EXPECT_FALSE(test, callout_hash_wants_growth(&m->hash));
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), i);
	hash_check(m);
	hash_remove_all(m);
}

/* With different keys it grows when it is an eighth full, or not much later. */
static void hash_grows_with_different_keys(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 12);
	struct callout_slot *slots;
	struct rnd_state rng;
	unsigned int i;
	bool grow;

	callout_test_rng(test, &rng);
	slots = callout_test_vcalloc(test, 2048, sizeof(*slots));
	for (i = 0; i < 2048 && hash_bits(m) == 12; i++) {
		slots[i].arg = callout_test_below(&rng, U32_MAX);
		slots[i].key = callout_test_below(&rng, U32_MAX);
		local_irq_disable();
		grow = callout_hash_insert(&m->hash, &slots[i]);
		local_irq_enable();
		if (grow)
			callout_hash_grow(&m->hash, GFP_KERNEL);
	}
	KUNIT_EXPECT_GE(test, i, 512);
	KUNIT_EXPECT_LT(test, i, 1400);
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), i);
}

/* A step of growth; the first begins it, that after the last ends it. */
static void hash_grow_a_step(struct hash_model *m)
{
	if (!hash_table(m)->next)
		KUNIT_ASSERT_TRUE(m->test,
				  callout_hash_grow_begin(&m->hash,
							  hash_bits(m) + 2,
							  GFP_KERNEL));
	else if (!callout_hash_grow_some(&m->hash, 1))
		callout_hash_grow_end(&m->hash);
}

static void hash_end_growth(struct hash_model *m)
{
	while (hash_table(m)->next)
		hash_grow_a_step(m);
}

/* While the hash grows both tables are searched, for the earliest of both. */
static void hash_random_operations_while_growing(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 2);
	struct rnd_state rng;
	unsigned int i, op;
	u64 expected;

	callout_test_rng(test, &rng);
	hash_fill_half(m, &rng);
	for (op = 0; op < RANDOM_OPS; op++) {
		i = callout_test_below(&rng, NR_SLOTS);
		if (m->seq[i] && callout_test_below(&rng, 8) == 0)
			hash_remove(m, i);
		else if (!m->seq[i])
			hash_insert_random(m, i, &rng);
		i = callout_test_below(&rng, NR_KEYS);
		expected = hash_expect(m, i);
		KUNIT_ASSERT_EQ(test, expected, hash_take(m, i));
		if (callout_test_below(&rng, 8) == 0)
			hash_grow_a_step(m);
	}
	KUNIT_EXPECT_GE(test, hash_bits(m), 8);
	hash_end_growth(m);
	hash_check(m);
	hash_remove_all(m);
}

#define NR_RACERS	4U
#define RACER_SLOTS	(NR_SLOTS / NR_RACERS / 2)
#define RACE_ROUNDS	2U
#define RACE_BITS	9U

/**
 * struct hash_racer - a CPU that uses keys of its own in a common hash
 * @m: the hash
 * @rng: for this thread
 * @first: its first slot
 * @key: its first key, of three
 * @ops: how many takes it has done
 * @wrong: how many of those have not found what they must
 * @stop: tells it to stop
 */
struct hash_racer {
	struct hash_model *m;
	struct rnd_state rng;
	unsigned int first;
	unsigned int key;
	unsigned int ops;
	unsigned int wrong;
	bool stop;
};

/* hash_expect() among the slots of this thread. */
static u64 racer_expect(struct hash_racer *r, unsigned int key)
{
	struct callout_slot *slot, *found = NULL;
	unsigned int i, found_at = 0;
	u64 func, arg;

	hash_key(key, &func, &arg);
	for (i = r->first; i < r->first + RACER_SLOTS; i++) {
		slot = &r->m->slot[i];
		if (!r->m->seq[i] || slot->key != func || slot->arg != arg)
			continue;
		if (!found || slot->node.expires < found->node.expires ||
		    (slot->node.expires == found->node.expires &&
		     r->m->seq[i] < r->m->seq[found_at])) {
			found = slot;
			found_at = i;
		}
	}
	return found ? found_at + 1 : 0;
}

static void racer_take(struct hash_racer *r, unsigned int key)
{
	u64 expected = racer_expect(r, key);

	r->ops++;
	r->wrong += hash_look(r->m, key) != expected;
	r->wrong += hash_take(r->m, key) != expected;
}

static void racer_run(void *arg)
{
	struct hash_racer *r = arg;
	struct hash_model *m = r->m;
	unsigned int i, key;
	u64 seq = 0;

	while (!callout_test_told(&r->stop)) {
		i = r->first + callout_test_below(&r->rng, RACER_SLOTS);
		key = r->key + callout_test_below(&r->rng, 3);
		if (!m->seq[i])
			hash_insert(m, i, key, callout_test_below(&r->rng, 9));
		else if (callout_test_below(&r->rng, 4) == 0)
			hash_remove(m, i);
		else
			hash_move(m, i, callout_test_below(&r->rng, 9));
		/* Serial numbers of its own: a new one after either. */
		if (m->seq[i])
			m->seq[i] = ++seq;
		if (callout_test_below(&r->rng, 2))
			racer_take(r, key);
		cond_resched();
	}
	for (key = r->key; key < r->key + 3; key++)
		while (racer_expect(r, key) && !r->wrong)
			racer_take(r, key);
}

/*
 * Each thread finds its own, in order, whatever others do in the same buckets,
 * and wherever these are: at the begin all share two buckets.
 */
static void hash_race_while_growing(struct kunit *test)
{
	struct callout_test_thread *t[NR_RACERS];
	struct hash_racer *r;
	struct hash_model *m;
	unsigned int round, i, ops = 0;

	for (round = 0; round < RACE_ROUNDS; round++) {
		m = hash_create(test, 1);
		r = kunit_kcalloc(test, NR_RACERS, sizeof(*r), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, r);
		for (i = 0; i < NR_RACERS; i++) {
			r[i].m = m;
			r[i].first = i * RACER_SLOTS;
			r[i].key = 3 * i;
			callout_test_rng(test, &r[i].rng);
			t[i] = callout_test_thread(test, i % num_online_cpus(),
						   racer_run, &r[i]);
			KUNIT_ASSERT_NOT_NULL(test, t[i]);
		}
		while (hash_bits(m) < RACE_BITS) {
			hash_grow_a_step(m);
			usleep_range(20, 40);
		}
		for (i = 0; i < NR_RACERS; i++)
			callout_test_tell(&r[i].stop);
		for (i = 0; i < NR_RACERS; i++) {
			KUNIT_EXPECT_TRUE(test, callout_test_join(t[i]));
			KUNIT_ASSERT_EQ(test, r[i].wrong, 0);
			ops += r[i].ops;
		}
		KUNIT_ASSERT_EQ(test, callout_hash_count(&m->hash), 0);
	}
	kunit_info(test, "%u takes in %u rounds\n", ops, round);
}

/* A slot may be removed after it was taken: untimeout(), then the release. */
static void hash_remove_after_take(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 4);
	unsigned int i;

	for (i = 0; i < 3; i++)
		hash_insert(m, i, 0, i);
	KUNIT_EXPECT_EQ(test, hash_take(m, 0), 1);
	hash_remove(m, 0);
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), 2);
	hash_insert(m, 0, 0, 7);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, hash_take(m, 0), (i + 1) % 3 + 1);
		hash_remove(m, (i + 1) % 3);
	}
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), 0);
	KUNIT_EXPECT_EQ(test, hash_take(m, 0), 0);
}

/* A slot that moves is found by its new expiry, and once. */
static void hash_random_moves(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 4);
	struct rnd_state rng;
	unsigned int i, op;
	u64 expected;

	callout_test_rng(test, &rng);
	hash_fill_half(m, &rng);
	for (op = 0; op < RANDOM_OPS / 2; op++) {
		/* The second half while it grows. */
		if (op >= RANDOM_OPS / 4 && callout_test_below(&rng, 8) == 0)
			hash_grow_a_step(m);
		i = callout_test_below(&rng, NR_SLOTS / 2) * 2;
		hash_move(m, i, callout_test_below(&rng, 50));
		m->seq[i] = m->next_seq++;
		i = callout_test_below(&rng, NR_KEYS);
		expected = hash_expect(m, i);
		KUNIT_ASSERT_EQ(test, expected, hash_look(m, i));
	}
	hash_end_growth(m);
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), NR_SLOTS / 2);
	for (i = 0; i < NR_KEYS; i++) {
		while ((expected = hash_expect(m, i)))
			KUNIT_ASSERT_EQ(test, expected, hash_take(m, i));
		KUNIT_ASSERT_EQ(test, 0, hash_take(m, i));
	}
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), 0);
}

struct hash_mover {
	struct hash_model *m;
	bool stop;
};

static void hash_move_to_and_fro(void *arg)
{
	struct hash_mover *mover = arg;
	unsigned int i;

	for (i = 0; !callout_test_told(&mover->stop); i++) {
		hash_move(mover->m, 0, i % 7);
		if (i % 256 == 0)
			cond_resched();
	}
}

/* A concurrent search finds a slot while it moves. */
static void hash_found_while_it_moves(struct kunit *test)
{
	struct hash_mover mover = { .m = hash_create(test, 4) };
	struct callout_test_thread *t;
	unsigned int i, missed = 0;

	/* With others in the bucket, and a later one of the same key. */
	for (i = 0; i < NR_KEYS; i++)
		hash_insert(mover.m, i, i, 3);
	hash_insert(mover.m, i, 0, 1000);
	t = callout_test_thread(test, 1 % num_online_cpus(),
				hash_move_to_and_fro, &mover);
	KUNIT_ASSERT_NOT_NULL(test, t);
	for (i = 0; i < RANDOM_OPS; i++)
		missed += hash_look(mover.m, 0) != 1;
	callout_test_tell(&mover.stop);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, missed, 0);
}

/* A search finds exact matches of function and argument only. */
static void hash_finds_only_what_matches(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 2);
	unsigned int key, i;

	for (i = 0; i < NR_KEYS; i++)
		hash_insert(m, i, i, i % 4);
	for (i = 0; i < NR_KEYS; i++) {
		KUNIT_EXPECT_EQ(test, hash_find(m, i), i + 1);
		hash_remove(m, i);
		KUNIT_EXPECT_EQ(test, hash_find(m, i), 0);
		for (key = i + 1; key < NR_KEYS; key++)
			KUNIT_EXPECT_EQ(test, hash_find(m, key), key + 1);
	}
}

/* The most slots that a search for any key passes in this bucket. */
static unsigned int hash_depth(const struct rb_root *bucket)
{
	unsigned int depth, most = 0;
	struct rb_node *node, *up;

	for (node = rb_first(bucket); node; node = rb_next(node)) {
		depth = 0;
		for (up = node; up; up = rb_parent(up))
			depth++;
		most = max(most, depth);
	}
	return most;
}

/* The inverse of an odd number modulo 2^64. */
static u64 hash_inverse(u64 odd)
{
	u64 inverse = odd;
	unsigned int i;

	for (i = 0; i < 6; i++)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* Does @what with interrupts off; @worst: the most cycles that took. */
#define hash_timed(worst, what) do {					\
	u64 start_, *worst_ = (worst);					\
									\
	local_irq_disable();						\
	start_ = get_cycles();						\
	what;								\
	*worst_ = max(*worst_, get_cycles() - start_);			\
	local_irq_enable();						\
} while (0)

/*
 * The work is logarithmic for any keys. Here all share a bucket at any size of
 * the hash, as an attacker who knows its multipliers can choose them.
 */
static void hash_bounded_whatever_the_keys(struct kunit *test)
{
	struct hash_model *m = hash_create(test, 6);
	u64 inverse = hash_inverse(m->hash.mul[1]), worst[4] = {}, handle;
	struct callout_slot *slots;
	struct rb_root *bucket;
	unsigned int i, depth;

	slots = callout_test_vcalloc(test, NR_COLLIDING, sizeof(*slots));
	for (i = 0; i < NR_COLLIDING; i++) {
		slots[i].arg = i * inverse;
		slots[i].handle = i + 1;
		hash_timed(&worst[0], callout_hash_insert(&m->hash, &slots[i]));
		callout_hash_grow(&m->hash, GFP_KERNEL);
		if (i % 1024 == 0)
			cond_resched();
	}
	local_irq_disable();
	bucket = callout_hash_bucket(&m->hash, 0, 0);
	local_irq_enable();
	depth = hash_depth(bucket);
	for (i = 0; i < NR_COLLIDING; i++) {
		handle = 0;
		hash_timed(&worst[1],
			   callout_hash_take(&m->hash, 0, slots[i].arg,
					     &handle));
		KUNIT_ASSERT_EQ(test, handle, i + 1);
		hash_timed(&worst[2], callout_hash_insert(&m->hash, &slots[i]));
		hash_timed(&worst[3], callout_hash_remove(&m->hash, &slots[i]));
		hash_timed(&worst[2], callout_hash_insert(&m->hash, &slots[i]));
	}
	KUNIT_EXPECT_EQ(test, callout_hash_count(&m->hash), NR_COLLIDING);
	depth = max(depth, hash_depth(bucket));
	kunit_info(test, "%u keys in one bucket, depth %u; cycles to insert %llu, again %llu, take %llu, remove %llu\n",
		   NR_COLLIDING, depth, worst[0], worst[2], worst[1], worst[3]);
	KUNIT_EXPECT_LE(test, depth, 2 * ilog2(NR_COLLIDING + 1));
	/* All are in the bucket. */
	KUNIT_EXPECT_GE(test, depth, ilog2(NR_COLLIDING));
}

static struct kunit_case hash_cases[] = {
	KUNIT_CASE(hash_random_operations),
	KUNIT_CASE(hash_grows_with_duplicates),
	KUNIT_CASE(hash_grows_when_full),
	KUNIT_CASE(hash_grows_with_different_keys),
	KUNIT_CASE(hash_random_operations_while_growing),
	KUNIT_CASE(hash_race_while_growing),
	KUNIT_CASE(hash_random_moves),
	KUNIT_CASE(hash_found_while_it_moves),
	KUNIT_CASE(hash_remove_after_take),
	KUNIT_CASE(hash_finds_only_what_matches),
	KUNIT_CASE(hash_bounded_whatever_the_keys),
	{}
};

static struct kunit_suite hash_suite = {
	.name = "callout_hash",
	.test_cases = hash_cases,
};

kunit_test_suite(hash_suite);
