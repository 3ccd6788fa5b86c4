// SPDX-License-Identifier: GPL-2.0
/*
 * hash.c - suite callout_hash: the (func, arg) hash alone
 */
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include "handles/bucket.h"
#include "lib/common.h"
#include "lib/hash_model.h"

#define NR_SLOTS	CALLOUT_TEST_HASH_SLOTS
#define NR_KEYS		30U
#define RANDOM_OPS	30000U
#define USES_A_STEP	16U
#define NR_COLLIDING	100000U

static void hash_insert_random(struct callout_test_hash *m, unsigned int i,
			       struct rnd_state *rng)
{
	unsigned int key = callout_test_below(rng, NR_KEYS);

	m->slot[i].node.state = CALLOUT_S_PENDING;
	callout_test_hash_insert(m, i, key, callout_test_below(rng, 50));
}

/* Insert every other slot. */
static void hash_fill_half(struct callout_test_hash *m, struct rnd_state *rng)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i += 2)
		hash_insert_random(m, i, rng);
}

static void hash_remove_all(struct callout_test_hash *m)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		if (m->seq[i])
			callout_test_hash_remove(m, i);
	KUNIT_EXPECT_EQ(m->test, co_hash_count(&m->hash), 0);
}

/* Take a slot of @key and insert it again, as the last of its equals. */
static u64 hash_find(struct callout_test_hash *m, unsigned int key)
{
	u64 handle = callout_test_hash_take(m, key);

	if (handle)
		callout_test_hash_insert(m, handle - 1, key,
					 m->slot[handle - 1].node.expires);
	return handle;
}

static void hash_check(struct callout_test_hash *m)
{
	unsigned int key;
	u64 expected;

	for (key = 0; key < NR_KEYS; key++) {
		expected = callout_test_hash_expect(m, key);
		KUNIT_ASSERT_EQ(m->test, expected, hash_find(m, key));
	}
}

/* The hash finds what the model finds, at any size and fill. */
static void hash_random_operations(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 2);
	unsigned int i, op, live, bias;
	struct rnd_state rng;
	u64 expected;
	u32 key;

	callout_test_rng(test, &rng);
	for (op = 0; op < RANDOM_OPS; op++) {
		/* The hash alternately fills and empties. */
		bias = op / 2000 % 2 ? 30 : 70;
		i = callout_test_below(&rng, NR_SLOTS);
		if (m->seq[i] && callout_test_below(&rng, 100) >= bias)
			callout_test_hash_remove(m, i);
		else if (!m->seq[i] && callout_test_below(&rng, 100) < bias)
			hash_insert_random(m, i, &rng);
		if (callout_test_below(&rng, 4) == 0)
			callout_test_hash_fire(m, callout_test_below(&rng, NR_KEYS),
					       op);
		key = callout_test_below(&rng, NR_KEYS + 5);
		expected = callout_test_hash_expect(m, key);
		KUNIT_ASSERT_EQ(test, expected, hash_find(m, key));
		if (op % 500 == 0)
			co_hash_grow(&m->hash, GFP_KERNEL);
	}
	hash_check(m);
	for (i = 0, live = 0; i < NR_SLOTS; i++)
		live += !!m->seq[i];
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), live);
	KUNIT_EXPECT_GT(test, callout_test_hash_bits(m), 2);
	hash_remove_all(m);
	hash_check(m);
}

/* Growth keeps the order of duplicates, including duplicates with equal expiry. */
static void hash_grows_with_duplicates(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 2);
	unsigned int i, handle, grown = 0, bits = 2;

	for (i = 0; i < NR_SLOTS; i++) {
		callout_test_hash_insert(m, i, i % 3, 1000 - i / 9);
		co_hash_grow(&m->hash, GFP_KERNEL);
		grown += callout_test_hash_bits(m) != bits;
		bits = callout_test_hash_bits(m);
		KUNIT_ASSERT_FALSE(test, callout_test_hash_growing(m));
		if (i % 16 == 0)
			hash_check(m);
	}
	KUNIT_EXPECT_GE(test, grown, 4);
	KUNIT_EXPECT_FALSE(test, co_hash_wants_growth(&m->hash));
	for (i = 0; i < NR_SLOTS; i++) {
		handle = callout_test_hash_expect(m, i % 3);
		KUNIT_ASSERT_NE(test, handle, 0);
		KUNIT_ASSERT_EQ(test, handle, callout_test_hash_take(m, i % 3));
	}
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), 0);
}

/*
 * Slots of one key also make the hash ask for growth. From one slot for eight
 * buckets on growth takes place, and moves all slots.
 */
static void hash_grows_when_full(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 7);
	unsigned int i, asked = 0;

	KUNIT_EXPECT_FALSE(test, callout_test_hash_insert(m, 0, 0, 1));
	co_hash_grow(&m->hash, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, callout_test_hash_bits(m), 7);
	for (i = 1; i < 15; i++) {
		if (!callout_test_hash_insert(m, i, 0, 1))
			continue;
		asked++;
		co_hash_grow(&m->hash, GFP_KERNEL);
		KUNIT_EXPECT_FALSE(test, co_hash_wants_growth(&m->hash));
		KUNIT_EXPECT_EQ(test, callout_test_hash_bits(m), 7);
	}
	KUNIT_EXPECT_GT(test, asked, 0);
	KUNIT_EXPECT_LT(test, asked, 14);
	while (!callout_test_hash_insert(m, i++, 0, 1))
		KUNIT_ASSERT_LT(test, i, 32);
	co_hash_grow(&m->hash, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, callout_test_hash_bits(m), 8);
	KUNIT_EXPECT_FALSE(test, co_hash_wants_growth(&m->hash));
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), i);
	hash_check(m);
	hash_remove_all(m);
}

/* With different keys the hash grows when it is an eighth full, or soon after. */
static void hash_grows_with_different_keys(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 12);
	struct callout_slot *slots;
	struct rnd_state rng;
	unsigned int i;
	bool grow;

	callout_test_rng(test, &rng);
	slots = callout_test_vcalloc(test, 2048, sizeof(*slots));
	for (i = 0; i < 2048 && callout_test_hash_bits(m) == 12; i++) {
		slots[i].arg = callout_test_below(&rng, U32_MAX);
		co_slot_set_own(&slots[i],
				callout_test_below(&rng, U32_MAX));
		local_irq_disable();
		grow = co_hash_insert(&m->hash, &slots[i]);
		local_irq_enable();
		if (grow)
			co_hash_grow(&m->hash, GFP_KERNEL);
	}
	KUNIT_EXPECT_GE(test, i, 512);
	KUNIT_EXPECT_LT(test, i, 1400);
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), i);
}

static void hash_end_growth(struct callout_test_hash *m)
{
	while (callout_test_hash_growing(m))
		callout_test_hash_grow_a_step(m);
}

/* While the hash grows both tables are searched, and the earlier slot is found. */
static void hash_random_operations_while_growing(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 2);
	struct rnd_state rng;
	unsigned int i, op;
	u64 expected;

	callout_test_rng(test, &rng);
	hash_fill_half(m, &rng);
	for (op = 0; op < RANDOM_OPS; op++) {
		i = callout_test_below(&rng, NR_SLOTS);
		if (m->seq[i] && callout_test_below(&rng, 8) == 0)
			callout_test_hash_remove(m, i);
		else if (!m->seq[i])
			hash_insert_random(m, i, &rng);
		if (callout_test_below(&rng, 4) == 0)
			callout_test_hash_fire(m, callout_test_below(&rng, NR_KEYS),
					       op);
		i = callout_test_below(&rng, NR_KEYS);
		expected = callout_test_hash_expect(m, i);
		KUNIT_ASSERT_EQ(test, expected, callout_test_hash_take(m, i));
		if (callout_test_below(&rng, 8) == 0)
			callout_test_hash_grow_a_step(m);
	}
	KUNIT_EXPECT_GE(test, callout_test_hash_bits(m), 8);
	hash_end_growth(m);
	hash_check(m);
	hash_remove_all(m);
}

/*
 * A key has at most one slot, whatever its bucket has, and wherever the slots are.
 * The expiry of that slot may change.
 */
static void hash_inserts_only_one(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 2);
	unsigned int i, op, key, refused = 0;
	struct rnd_state rng;
	u64 expected;

	callout_test_rng(test, &rng);
	for (op = 0; op < RANDOM_OPS; op++) {
		i = callout_test_below(&rng, NR_KEYS * 2);
		key = callout_test_below(&rng, NR_KEYS);
		expected = callout_test_hash_expect(m, key);
		if (!m->seq[i]) {
			KUNIT_ASSERT_EQ(test, !expected,
					callout_test_hash_insert_only(m, i, key,
								      i % 7));
			KUNIT_ASSERT_EQ(test, m->slot[i].node.place,
					expected ? CALLOUT_HASH_OUT :
						   CALLOUT_HASH_IN);
			refused += !!expected;
		} else if (callout_test_below(&rng, 4) == 0) {
			callout_test_hash_remove(m, i);
		} else {
			m->slot[i].node.expires = callout_test_below(&rng, 9);
		}
		expected = callout_test_hash_expect(m, key);
		KUNIT_ASSERT_EQ(test, expected, callout_test_hash_look(m, key));
		if (callout_test_below(&rng, 16) == 0)
			callout_test_hash_take(m, key);
		if (callout_test_hash_bits(m) < 7 &&
		    callout_test_below(&rng, 64) == 0)
			callout_test_hash_grow_a_step(m);
	}
	KUNIT_EXPECT_GE(test, refused, RANDOM_OPS / 20);
	KUNIT_EXPECT_GE(test, callout_test_hash_bits(m), 7);
	hash_end_growth(m);
	hash_remove_all(m);
}

/* Growth ends although its steps move fewer slots of a key than are inserted. */
static void hash_growth_ends_while_a_key_is_used(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 2);
	unsigned int i, step;
	u64 expected;

	for (i = 0; i < NR_SLOTS; i++)
		callout_test_hash_insert(m, i, 0, 1);
	callout_test_hash_grow_a_step(m);
	for (step = 0; callout_test_hash_growing(m); step++) {
		KUNIT_ASSERT_LT(test, step, NR_SLOTS);
		callout_test_hash_grow_a_step(m);
		for (i = 0; i < USES_A_STEP; i++) {
			expected = callout_test_hash_expect(m, 0);
			KUNIT_ASSERT_EQ(test, expected, hash_find(m, 0));
		}
	}
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), NR_SLOTS);
	hash_check(m);
}

/* The number of slots in a bucket that is not LOCKED. */
static unsigned int hash_slots(unsigned long word)
{
	struct rb_root tree = { (void *)(word & ~CALLOUT_BUCKET_STATE) };
	struct rb_node *node;
	unsigned int n = 0;

	if (word && (word & CALLOUT_BUCKET_STATE) == CALLOUT_BUCKET_ONE)
		return 1;
	for (node = rb_first(&tree); node; node = rb_next(node))
		n++;
	return n;
}

/* The number of slots in the old table while the hash grows. */
static unsigned int hash_left(struct callout_test_hash *m)
{
	struct callout_buckets *table = rcu_dereference_protected(m->hash.table,
								  true);
	unsigned int i, n = 0;

	for (i = 0; i < 1U << callout_test_hash_bits(m); i++)
		n += hash_slots(table->bucket[i]);
	return n;
}

/*
 * With interrupts off growth moves as many slots as its budget allows and no more,
 * and an operation that meets it moves two. It makes no difference whether the slots
 * share a bucket and a key.
 */
static void hash_growth_is_bounded(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 2);
	unsigned int i, left, before = NR_SLOTS, budget = 7;
	bool more = true;

	for (i = 0; i < NR_SLOTS; i++)
		callout_test_hash_insert(m, i, i % 2 ? 0 : i % NR_KEYS, 1);
	callout_test_hash_grow_a_step(m);
	KUNIT_EXPECT_EQ(test, hash_left(m), NR_SLOTS);
	for (i = 0; more; i++) {
		KUNIT_ASSERT_LT(test, i, NR_SLOTS);
		more = co_hash_grow_some(&m->hash, budget);
		left = hash_left(m);
		KUNIT_ASSERT_LE(test, before - left, budget);
		callout_test_hash_look(m, 0);
		before = hash_left(m);
		KUNIT_ASSERT_LE(test, left - before, 2);
	}
	KUNIT_EXPECT_EQ(test, before, 0);
	KUNIT_EXPECT_GE(test, i, NR_SLOTS / (budget + 2));
	co_hash_grow_end(&m->hash);
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), NR_SLOTS);
	hash_check(m);
}

static bool hash_finds(struct callout_test_hash *m, unsigned int i, unsigned int key)
{
	u64 func, arg;
	bool finds;

	callout_test_hash_key(key, &func, &arg);
	local_irq_disable();
	finds = co_hash_find_again(&m->hash, &m->slot[i], func, arg) == &m->slot[i];
	local_irq_enable();
	return finds;
}

/* Only the first slot of a key is found, whatever else is in its bucket. */
static void hash_finds_the_first(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);
	unsigned int key;

	for (key = 0; key < NR_KEYS; key++) {
		KUNIT_EXPECT_FALSE(test, hash_finds(m, 0, key));
		callout_test_hash_insert(m, 0, key, 10);
		KUNIT_EXPECT_TRUE(test, hash_finds(m, 0, key));
		/* There are two buckets: some of these share its bucket. */
		KUNIT_EXPECT_FALSE(test, hash_finds(m, 0, key + 1));
		KUNIT_EXPECT_FALSE(test, hash_finds(m, 0, key + 2));
		KUNIT_EXPECT_FALSE(test, hash_finds(m, 0, key + 5));
		KUNIT_EXPECT_FALSE(test, hash_finds(m, 0, key + 10));
		KUNIT_EXPECT_FALSE(test, hash_finds(m, 0, key + 15));
		callout_test_hash_insert(m, 1, key, 5);
		KUNIT_EXPECT_TRUE(test, hash_finds(m, 1, key));
		KUNIT_EXPECT_FALSE(test, hash_finds(m, 0, key));
		callout_test_hash_remove(m, 1);
		KUNIT_EXPECT_TRUE(test, hash_finds(m, 0, key));
		callout_test_hash_remove(m, 0);
	}
	KUNIT_EXPECT_FALSE(test, hash_finds(m, 0, 0));
}

/* Take the first slot of a key, with slot @guess as the guess. Return its number, or -1. */
static int hash_takes(struct callout_test_hash *m, unsigned int guess, unsigned int key)
{
	struct callout_slot *slot;
	u64 func, arg;

	callout_test_hash_key(key, &func, &arg);
	local_irq_disable();
	slot = co_hash_take(&m->hash, co_hash_bucket(&m->hash, func, arg), &m->slot[guess], func,
			    arg);
	local_irq_enable();
	if (!slot)
		return -1;
	if (!slot->node.place)
		m->seq[slot - m->slot] = 0;
	return slot - m->slot;
}

/* The first slot of a key is taken, and no other, whatever the guess. */
static void hash_takes_the_first(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);
	unsigned int key, guess, other;

	for (key = 0; key < NR_KEYS; key++) {
		for (guess = 0; guess < 3; guess++) {
			KUNIT_EXPECT_EQ(test, hash_takes(m, guess, key), -1);
			callout_test_hash_insert(m, 0, key, 10);
			/* There are two buckets: some of these share its bucket. */
			for (other = 1; other <= 10; other++)
				KUNIT_EXPECT_EQ(test, hash_takes(m, guess, key + other), -1);
			callout_test_hash_insert(m, 1, key, 5);
			KUNIT_EXPECT_EQ(test, hash_takes(m, guess, key), 1);
			KUNIT_EXPECT_EQ(test, hash_takes(m, guess, key), 0);
		}
	}
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), 0);
}

/* A slot that is in another base than the guess stays in the hash. */
static void hash_takes_of_one_base(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);

	callout_test_hash_insert(m, 0, 0, 5);
	callout_test_hash_insert(m, 1, 0, 10);
	m->slot[0].node.cpu = 1;
	KUNIT_EXPECT_EQ(test, hash_takes(m, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), 2);
	KUNIT_EXPECT_EQ(test, hash_takes(m, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, hash_takes(m, 1, 0), 1);
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), 0);
}

/* A bucket that was read before the hash has grown is not used. */
static void hash_takes_after_growth(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);
	struct callout_slot *slot;
	unsigned long *bucket;
	u64 func, arg;

	callout_test_hash_key(0, &func, &arg);
	callout_test_hash_insert(m, 0, 0, 5);
	callout_test_hash_grow_a_step(m);
	rcu_read_lock();
	bucket = co_hash_bucket(&m->hash, func, arg);
	while (callout_test_hash_growing(m))
		callout_test_hash_grow_a_step(m);
	local_irq_disable();
	slot = co_hash_take(&m->hash, bucket, &m->slot[0], func, arg);
	local_irq_enable();
	rcu_read_unlock();
	KUNIT_EXPECT_PTR_EQ(test, slot, &m->slot[0]);
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), 0);
	m->seq[0] = 0;
}

/* A slot that moves is found by its new expiry, once. */
static void hash_random_moves(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 4);
	struct rnd_state rng;
	unsigned int i, op;
	u64 expected;

	callout_test_rng(test, &rng);
	hash_fill_half(m, &rng);
	for (op = 0; op < RANDOM_OPS / 2; op++) {
		/* The second half runs while the hash grows. */
		if (op >= RANDOM_OPS / 4 && callout_test_below(&rng, 8) == 0)
			callout_test_hash_grow_a_step(m);
		i = callout_test_below(&rng, NR_SLOTS / 2) * 2;
		callout_test_hash_move(m, i, callout_test_below(&rng, 50));
		m->seq[i] = m->next_seq++;
		i = callout_test_below(&rng, NR_KEYS);
		expected = callout_test_hash_expect(m, i);
		KUNIT_ASSERT_EQ(test, expected, callout_test_hash_look(m, i));
	}
	hash_end_growth(m);
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), NR_SLOTS / 2);
	for (i = 0; i < NR_KEYS; i++) {
		while ((expected = callout_test_hash_expect(m, i)))
			KUNIT_ASSERT_EQ(test, expected, callout_test_hash_take(m, i));
		KUNIT_ASSERT_EQ(test, 0, callout_test_hash_take(m, i));
	}
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), 0);
}

/* Remove the slot that a search for key 0 finds first. Return its number. */
static unsigned int hash_next(struct callout_test_hash *m)
{
	return callout_test_hash_take(m, 0) - 1;
}

/*
 * Slots of a key are found by tick, even if another slot was set while one of them
 * was being cancelled: no longer pending, and still in the hash.
 */
static void hash_order_beside_a_cancel(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);

	callout_test_hash_insert(m, 0, 0, 10);
	callout_test_hash_insert(m, 1, 0, 5);
	callout_test_hash_insert(m, 2, 0, 20);
	m->slot[0].node.state = 0;
	callout_test_hash_insert(m, 3, 0, 3);
	callout_test_hash_remove(m, 0);
	KUNIT_EXPECT_EQ(test, 3, hash_next(m));
	KUNIT_EXPECT_EQ(test, 1, hash_next(m));
	KUNIT_EXPECT_EQ(test, 2, hash_next(m));
}

/* A search meets a slot that is being moved to another base. */
static void hash_order_beside_a_move(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);

	callout_test_hash_insert(m, 0, 0, 5);
	callout_test_hash_insert(m, 1, 0, 10);
	m->slot[1].node.state = 0;
	KUNIT_EXPECT_EQ(test, 1, callout_test_hash_look(m, 0));
	callout_test_hash_move(m, 1, 50);
	KUNIT_EXPECT_EQ(test, 0, hash_next(m));
	KUNIT_EXPECT_EQ(test, 1, hash_next(m));
}

/* The hash grows while a slot fires, after another slot that has fired before. */
static void hash_order_beside_an_expiry(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);

	callout_test_hash_insert(m, 0, 0, 5);
	callout_test_hash_insert(m, 1, 0, 10);
	callout_test_hash_fire(m, 0, 1000);
	m->slot[1].node.state = 0;
	co_hash_grow(&m->hash, GFP_KERNEL);
	hash_end_growth(m);
	co_slot_set_fired(&m->slot[1], 2000);
	KUNIT_EXPECT_EQ(test, 0, hash_next(m));
	KUNIT_EXPECT_EQ(test, 1, hash_next(m));
}

/* A search finds exact matches of function and argument only. */
static void hash_finds_only_what_matches(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 2);
	unsigned int key, i;

	for (i = 0; i < NR_KEYS; i++)
		callout_test_hash_insert(m, i, i, i % 4);
	for (i = 0; i < NR_KEYS; i++) {
		KUNIT_EXPECT_EQ(test, hash_find(m, i), i + 1);
		callout_test_hash_remove(m, i);
		KUNIT_EXPECT_EQ(test, hash_find(m, i), 0);
		for (key = i + 1; key < NR_KEYS; key++)
			KUNIT_EXPECT_EQ(test, hash_find(m, key), key + 1);
	}
}

/* The largest number of slots that a search for any key passes in this bucket. */
static unsigned int hash_depth(unsigned long word)
{
	struct rb_root tree = { (void *)(word & ~CALLOUT_BUCKET_STATE) };
	unsigned int depth, most = 0;
	struct rb_node *node, *up;

	for (node = rb_first(&tree); node; node = rb_next(node)) {
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

/* Do @what with interrupts off. @worst: the maximum number of cycles that took. */
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
 * The work is logarithmic for any keys. Here all keys share a bucket at any size of
 * the hash, as an attacker who knows the multipliers can choose them.
 */
static void hash_bounded_whatever_the_keys(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 6);
	u64 inverse = hash_inverse(m->hash.mul[1]), worst[4] = {}, handle;
	struct callout_slot *slots;
	unsigned long *bucket;
	unsigned int i, depth;

	slots = callout_test_vcalloc(test, NR_COLLIDING, sizeof(*slots));
	for (i = 0; i < NR_COLLIDING; i++) {
		slots[i].arg = i * inverse;
		slots[i].handle = i + 1;
		hash_timed(&worst[0], co_hash_insert(&m->hash, &slots[i]));
		co_hash_grow(&m->hash, GFP_KERNEL);
		if (i % 1024 == 0)
			cond_resched();
	}
	local_irq_disable();
	bucket = co_hash_bucket(&m->hash, 0, 0);
	local_irq_enable();
	depth = hash_depth(*bucket);
	for (i = 0; i < NR_COLLIDING; i++) {
		handle = 0;
		hash_timed(&worst[1],
			   co_hash_find(&m->hash, 0, slots[i].arg, &handle));
		KUNIT_ASSERT_EQ(test, handle, i + 1);
		hash_timed(&worst[3], co_hash_remove(&m->hash, &slots[i]));
		hash_timed(&worst[2], co_hash_insert(&m->hash, &slots[i]));
	}
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), NR_COLLIDING);
	depth = max(depth, hash_depth(*bucket));
	kunit_info(test, "%u keys in one bucket, depth %u; cycles to insert %llu, again %llu, find %llu, remove %llu\n",
		   NR_COLLIDING, depth, worst[0], worst[2], worst[1], worst[3]);
	KUNIT_EXPECT_LE(test, depth, 2 * ilog2(NR_COLLIDING + 1));
	/* All slots are in the bucket. */
	KUNIT_EXPECT_GE(test, depth, ilog2(NR_COLLIDING));
}

/* The earliest comes first also if the other is as far away as can be. */
static void hash_order_of_the_farthest(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);

	callout_test_hash_insert(m, 0, 0, (1ULL << 63) + 10);
	callout_test_hash_insert(m, 1, 0, 10);
	KUNIT_EXPECT_EQ(test, 1, hash_next(m));
	KUNIT_EXPECT_EQ(test, 0, hash_next(m));
}

/* co_bucket_wait() locks a bucket that is free by then. */
static void hash_waits(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);
	unsigned long bucket = 0;

	local_irq_disable();
	KUNIT_EXPECT_EQ(test, co_bucket_wait(&m->hash, &bucket), 0);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, bucket, CALLOUT_BUCKET_LOCKED);
}

static struct kunit_case hash_cases[] = {
	KUNIT_CASE(hash_waits),
	KUNIT_CASE(hash_order_of_the_farthest),
	KUNIT_CASE(hash_random_operations),
	KUNIT_CASE(hash_finds_the_first),
	KUNIT_CASE(hash_takes_the_first),
	KUNIT_CASE(hash_takes_of_one_base),
	KUNIT_CASE(hash_takes_after_growth),
	KUNIT_CASE(hash_grows_with_duplicates),
	KUNIT_CASE(hash_grows_when_full),
	KUNIT_CASE(hash_grows_with_different_keys),
	KUNIT_CASE(hash_random_operations_while_growing),
	KUNIT_CASE(hash_inserts_only_one),
	KUNIT_CASE(hash_growth_ends_while_a_key_is_used),
	KUNIT_CASE(hash_growth_is_bounded),
	KUNIT_CASE(hash_random_moves),
	KUNIT_CASE(hash_order_beside_a_cancel),
	KUNIT_CASE(hash_order_beside_a_move),
	KUNIT_CASE(hash_order_beside_an_expiry),
	KUNIT_CASE(hash_finds_only_what_matches),
	KUNIT_CASE(hash_bounded_whatever_the_keys),
	{}
};

static struct kunit_suite hash_suite = {
	.name = "callout_hash",
	.test_cases = hash_cases,
};

kunit_test_suite(hash_suite);
