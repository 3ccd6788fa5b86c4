// SPDX-License-Identifier: GPL-2.0
/*
 * hash_smp.c - suite callout_hash_smp: several CPUs at one (func, arg) hash
 *
 * Each thread has its own slots and keys, and knows what it must find, except where
 * threads insert keys that may have only one slot.
 */
#include "lib/common.h"
#include "lib/hash_model.h"

#define NR_RACERS	4U
#define RACER_SLOTS	(CALLOUT_TEST_HASH_SLOTS / NR_RACERS / 2)
#define RACE_ROUNDS	2U
#define RACE_BITS	9U
#define FEW_STEPS	600U
#define COMMON_KEYS	3U
#define NR_KEYS		30U
#define NR_SEARCHES	30000U
#define NR_MOVES	1000U

/**
 * struct hash_racer - a CPU that uses its own keys in a common hash
 * @m: the hash
 * @rng: for this thread
 * @first: the thread's first slot
 * @slots: number of the thread's slots
 * @key: the first of the thread's three keys
 * @ops: number of takes done
 * @wrong: number of takes that did not find the right slot
 * @stop: the thread must stop
 */
struct hash_racer {
	struct callout_test_hash *m;
	struct rnd_state rng;
	unsigned int first;
	unsigned int slots;
	unsigned int key;
	unsigned int ops;
	unsigned int wrong;
	bool stop;
};

/* callout_test_hash_expect() among the slots of this thread. */
static u64 racer_expect(struct hash_racer *r, unsigned int key)
{
	struct callout_slot *slot, *found = NULL;
	unsigned int i, found_at = 0;
	u64 func, arg;

	callout_test_hash_key(key, &func, &arg);
	for (i = r->first; i < r->first + r->slots; i++) {
		slot = &r->m->slot[i];
		if (!r->m->seq[i] || co_slot_func(slot) != func || slot->arg != arg)
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
	r->wrong += callout_test_hash_look(r->m, key) != expected;
	r->wrong += callout_test_hash_take(r->m, key) != expected;
}

static void racer_run(void *arg)
{
	struct hash_racer *r = arg;
	struct callout_test_hash *m = r->m;
	unsigned int i, key;
	u64 seq = 0;

	while (!callout_test_told(&r->stop)) {
		i = r->first + callout_test_below(&r->rng, r->slots);
		key = r->key + callout_test_below(&r->rng, 3);
		if (!m->seq[i])
			callout_test_hash_insert(m, i, key,
						 callout_test_below(&r->rng, 9));
		else if (callout_test_below(&r->rng, 4) == 0)
			callout_test_hash_remove(m, i);
		else
			callout_test_hash_move(m, i,
					       callout_test_below(&r->rng, 9));
		/*
		 * Serial numbers are the thread's own: a slot gets a new number
		 * after either operation.
		 */
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

/* Take a step of growth, or only wait if the hash has @bits. */
static void race_step(struct callout_test_hash *m, unsigned int bits)
{
	if (callout_test_hash_bits(m) < bits)
		callout_test_hash_grow_a_step(m);
	usleep_range(20, 40);
}

/*
 * Let threads with @slots slots each race in a hash of two buckets, for at least
 * @steps and until the hash has grown to 2^@bits.
 */
static void hash_race(struct kunit *test, unsigned int slots,
		      unsigned int steps, unsigned int bits)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);
	struct callout_test_thread *t[NR_RACERS];
	unsigned int i, ops = 0;
	struct hash_racer *r;

	r = kunit_kcalloc(test, NR_RACERS, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, r);
	for (i = 0; i < NR_RACERS; i++) {
		r[i].m = m;
		r[i].first = i * slots;
		r[i].slots = slots;
		r[i].key = 3 * i;
		callout_test_rng(test, &r[i].rng);
		t[i] = callout_test_thread(test, i % num_online_cpus(),
					   racer_run, &r[i]);
		KUNIT_ASSERT_NOT_NULL(test, t[i]);
	}
	for (i = 0; i < steps || callout_test_hash_bits(m) < bits; i++)
		race_step(m, bits);
	for (i = 0; i < NR_RACERS; i++)
		callout_test_tell(&r[i].stop);
	for (i = 0; i < NR_RACERS; i++) {
		KUNIT_EXPECT_TRUE(test, callout_test_join(t[i]));
		KUNIT_ASSERT_EQ(test, r[i].wrong, 0);
		ops += r[i].ops;
	}
	KUNIT_ASSERT_EQ(test, co_hash_count(&m->hash), 0);
	kunit_info(test, "%u takes\n", ops);
}

/*
 * Each thread finds its own slots, in order, whatever other threads do in the same
 * buckets, and wherever the slots are.
 */
static void hash_race_while_growing(struct kunit *test)
{
	unsigned int round;

	for (round = 0; round < RACE_ROUNDS; round++)
		hash_race(test, RACER_SLOTS, 0, RACE_BITS);
}

/* As hash_race_while_growing(), where a bucket has no slot, one, two or three at a time. */
static void hash_race_for_few_slots(struct kunit *test)
{
	hash_race(test, 1, callout_test_rounds(FEW_STEPS), 0);
}

/**
 * struct hash_mover - a CPU that moves a slot back and forth
 * @m: the hash
 * @moves: how often the CPU has moved the slot
 * @stop: the thread must stop
 */
struct hash_mover {
	struct callout_test_hash *m;
	unsigned int moves;
	bool stop;
};

static void hash_move_to_and_fro(void *arg)
{
	struct hash_mover *mover = arg;
	unsigned int i;

	for (i = 0; !callout_test_told(&mover->stop); i++) {
		callout_test_hash_move(mover->m, 0, i % 7);
		WRITE_ONCE(mover->moves, i + 1);
		if (i % 256 == 0)
			cond_resched();
	}
}

/* A concurrent search finds a slot while it moves. */
static void hash_found_while_it_moves(struct kunit *test)
{
	struct hash_mover mover = { .m = callout_test_hash_create(test, 4) };
	struct callout_test_thread *t;
	unsigned long end = jiffies + CALLOUT_TEST_PATIENCE;
	unsigned int i, missed = 0;

	/* With other slots in the bucket, and a later slot of the same key. */
	for (i = 0; i < NR_KEYS; i++)
		callout_test_hash_insert(mover.m, i, i, 3);
	callout_test_hash_insert(mover.m, i, 0, 1000);
	t = callout_test_thread(test, 1 % num_online_cpus(),
				hash_move_to_and_fro, &mover);
	KUNIT_ASSERT_NOT_NULL(test, t);
	for (i = 0; i < NR_SEARCHES || (READ_ONCE(mover.moves) < NR_MOVES &&
					time_before(jiffies, end)); i++) {
		missed += callout_test_hash_look(mover.m, 0) != 1;
		cond_resched();
	}
	callout_test_tell(&mover.stop);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_GE(test, mover.moves, NR_MOVES);
	KUNIT_EXPECT_EQ(test, missed, 0);
}

/**
 * struct hash_inserter - a CPU that inserts keys that other CPUs insert, too
 * @m: the hash
 * @rng: for this thread
 * @slot: the thread's slot
 * @held: for each key, the number of threads that have inserted it
 * @inserted: how often the thread has inserted the slot
 * @refused: how often another slot had the key
 * @wrong: how often another slot had the key although the insertion succeeded
 * @stop: the thread must stop
 */
struct hash_inserter {
	struct callout_test_hash *m;
	struct rnd_state rng;
	unsigned int slot;
	atomic_t *held;
	unsigned int inserted;
	unsigned int refused;
	unsigned int wrong;
	bool stop;
};

static void inserter_run(void *arg)
{
	struct hash_inserter *s = arg;
	unsigned int key;

	while (!callout_test_told(&s->stop)) {
		key = callout_test_below(&s->rng, COMMON_KEYS);
		if (!callout_test_hash_insert_only(s->m, s->slot, key, 1)) {
			s->refused++;
		} else {
			s->wrong += atomic_inc_return(&s->held[key]) != 1;
			s->inserted++;
			atomic_dec(&s->held[key]);
			callout_test_hash_remove(s->m, s->slot);
		}
		cond_resched();
	}
}

/* Of the threads that insert a key concurrently exactly one succeeds, even while the hash grows. */
static void hash_race_for_a_key(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 1);
	unsigned int i, steps, inserted = 0, refused = 0;
	struct callout_test_thread *t[NR_RACERS];
	struct hash_inserter *s;
	atomic_t *held;

	/* On one CPU the threads run in turns, and do not meet. */
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	s = kunit_kcalloc(test, NR_RACERS, sizeof(*s), GFP_KERNEL);
	held = kunit_kcalloc(test, COMMON_KEYS, sizeof(*held), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_ASSERT_NOT_NULL(test, held);
	for (i = 0; i < NR_RACERS; i++) {
		s[i].m = m;
		s[i].slot = i;
		s[i].held = held;
		callout_test_rng(test, &s[i].rng);
		t[i] = callout_test_thread(test, i % num_online_cpus(),
					   inserter_run, &s[i]);
		KUNIT_ASSERT_NOT_NULL(test, t[i]);
	}
	steps = callout_test_rounds(FEW_STEPS);
	for (i = 0; i < steps || callout_test_hash_bits(m) < RACE_BITS; i++)
		race_step(m, i % 16 ? 0 : RACE_BITS);
	for (i = 0; i < NR_RACERS; i++)
		callout_test_tell(&s[i].stop);
	for (i = 0; i < NR_RACERS; i++) {
		KUNIT_EXPECT_TRUE(test, callout_test_join(t[i]));
		KUNIT_EXPECT_EQ(test, s[i].wrong, 0);
		inserted += s[i].inserted;
		refused += s[i].refused;
	}
	KUNIT_EXPECT_EQ(test, co_hash_count(&m->hash), 0);
	KUNIT_EXPECT_GT(test, refused, 0);
	kunit_info(test, "%u inserted, %u refused\n", inserted, refused);
}

static struct kunit_case hash_smp_cases[] = {
	KUNIT_CASE(hash_race_while_growing),
	KUNIT_CASE(hash_race_for_few_slots),
	KUNIT_CASE(hash_found_while_it_moves),
	KUNIT_CASE(hash_race_for_a_key),
	{}
};

static struct kunit_suite hash_smp_suite = {
	.name = "callout_hash_smp",
	.test_cases = hash_smp_cases,
};

kunit_test_suite(hash_smp_suite);
