// SPDX-License-Identifier: GPL-2.0
/*
 * when.c - the jiffy at which a timer runs, and the order of several timers
 *
 * A handler reads jiffies. On a busy host it may read them late, so cases that
 * bound lateness try again until one timer was on time: no machine is late for
 * all of them.
 */
#include "timers/api.h"

#define TIMER_TRIES		20U

/* The kernel's wheel: level n holds timers at least this far away. */
#define TIMER_LEVEL_START(n)	(63UL << (3 * ((n) - 1)))
#define TIMER_LEVEL_STEP(n)	(1UL << (3 * (n)))

/* How many jiffies after its expires a timer ran. */
static long timer_item_late(struct timer_item *item)
{
	return item->ran - item->t.expires;
}

/*
 * No timer runs before jiffies reach its expires. The kernel's timers run not even
 * then, but a jiffy later.
 */
static void timer_is_never_early(struct kunit *test)
{
	unsigned int n = 100 * num_online_cpus(), i, early = 0, on_time = 0;
	struct timer_items *items = timer_items_create(test, n, 0);
	long least = TIMER_DIFFERS(begins_at_expires) ? 0 : 1;
	struct timer_item *item;
	struct rnd_state rng;

	callout_test_rng(test, &rng);
	for (i = 0; i < n; i++) {
		item = &items->item[i];
		item->t.expires = jiffies + callout_test_below(&rng, 200);
		if (i % 2)
			add_timer(&item->t);
		else
			add_timer_on(&item->t, cpumask_nth(i % num_online_cpus(),
							   cpu_online_mask));
	}
	timer_items_await(test, items);
	for (i = 0; i < n; i++) {
		early += timer_item_late(&items->item[i]) < least;
		on_time += timer_item_late(&items->item[i]) == least;
	}
	kunit_info(test, "%u of %u on time\n", on_time, n);
	KUNIT_EXPECT_EQ(test, early, 0);
}

/* A timer can run in the first jiffy in which it may run. */
static void timer_is_on_time(struct kunit *test)
{
	long least = TIMER_DIFFERS(begins_at_expires) ? 0 : 1, late = LONG_MAX;
	struct timer_item *item = timer_item_create(test, TIMER_PINNED);
	unsigned int i;

	callout_test_pin(test, raw_smp_processor_id());
	for (i = 1; i <= TIMER_TRIES && late != least; i++) {
		mod_timer(&item->t, jiffies + 2);
		timer_item_await(test, item, i);
		late = min(late, timer_item_late(item));
	}
	KUNIT_EXPECT_EQ(test, late, least);
}

#define TIMER_PER_LEVEL		12U

/*
 * Arm timers of one level of the kernel's wheel, each just past a step of the
 * level. Return false if that took so long that some timers were too near for the
 * level.
 */
static bool timer_arm_level(struct timer_items *items, unsigned int level)
{
	unsigned long step = TIMER_LEVEL_STEP(level);
	unsigned long start = jiffies, near;
	unsigned int i;

	near = round_up(start + TIMER_LEVEL_START(level) + step, step) + 1;
	for (i = 0; i < items->n; i++)
		mod_timer(&items->item[i].t, near + i % 6 * step);
	return time_before(jiffies, start + step);
}

/* The least lateness of a level. */
static long timer_least_late(struct kunit *test, unsigned int level)
{
	struct timer_items *items;
	long least = LONG_MAX;
	unsigned int i, try;
	bool in_time = false;

	for (try = 0; try < TIMER_TRIES && !in_time; try++) {
		items = timer_items_create(test, TIMER_PER_LEVEL, 0);
		in_time = timer_arm_level(items, level);
		timer_items_await(test, items);
	}
	KUNIT_EXPECT_TRUE(test, in_time);
	for (i = 0; i < items->n; i++)
		least = min(least, timer_item_late(&items->item[i]));
	return least;
}

/*
 * A callout runs at its jiffy at any distance. The kernel's timers run at the next
 * step of their level of the kernel's wheel.
 */
static void timer_is_exact(struct kunit *test)
{
	unsigned int level, try;
	long late;

	callout_test_pin(test, raw_smp_processor_id());
	for (level = 1; level <= 2; level++) {
		late = LONG_MAX;
		for (try = 0; try < TIMER_TRIES && late > 0; try++) {
			late = min(late, timer_least_late(test, level));
			if (!TIMER_DIFFERS(exact))
				break;
		}
		kunit_info(test, "level %u: at least %ld late\n", level, late);
		if (TIMER_DIFFERS(exact))
			KUNIT_EXPECT_EQ(test, late, 0);
		else
			KUNIT_EXPECT_GE(test, late, TIMER_LEVEL_STEP(level) - 1);
	}
}

/* Distances into the past; the sign of the difference decides. */
static const unsigned long timer_ago[] = {
	0, 1, 2, 62, 63, 64, 65, 504, 4096, SZ_1M, 1UL << 30,
	(1UL << 30) + 1, (1UL << 31) - 1, 1UL << 31, (1UL << 31) + 1,
#if BITS_PER_LONG == 64
	(1UL << 32) - 1, 1UL << 32, (1UL << 32) + 1, 1UL << 48,
#endif
	LONG_MAX / 2, LONG_MAX - CALLOUT_TEST_FAR,
};

/* An expires in the past, however long ago, means the next tick, before any later jiffy. */
static void timer_of_the_past(struct kunit *test)
{
	unsigned int n = ARRAY_SIZE(timer_ago), i, wrong = 0;
	struct timer_items *items = timer_items_create(test, n + 1, TIMER_PINNED);
	struct timer_item *witness = &items->item[n];

	callout_test_pin(test, raw_smp_processor_id());
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, mod_timer(&items->item[i].t,
						jiffies - timer_ago[i]), 0);
	mod_timer(&witness->t, jiffies + 3);
	timer_items_await(test, items);
	for (i = 0; i < n; i++)
		wrong += items->item[i].turn > witness->turn;
	if (timer_ticks_are_jiffies())
		KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Distances into the future at which nothing may run while the case lasts. */
static const unsigned long timer_ahead[] = {
	CALLOUT_TEST_FAR, (1UL << 30) - 1, 1UL << 30, (1UL << 30) + 1,
	LONG_MAX / 2, LONG_MAX - CALLOUT_TEST_FAR,
#if BITS_PER_LONG == 64
	(1UL << 31) - 1, 1UL << 31, (1UL << 31) + 1, (1UL << 32) - 1,
	1UL << 32, (1UL << 32) + 1, 1UL << 48, 1UL << 62,
#endif
};

/* A timer far ahead stays pending with its expires, and can be moved here. */
static void timer_of_the_far_future(struct kunit *test)
{
	unsigned int n = ARRAY_SIZE(timer_ahead), i, wrong = 0;
	struct timer_items *items = timer_items_create(test, n, TIMER_PINNED);
	unsigned long now = jiffies;

	callout_test_pin(test, raw_smp_processor_id());
	for (i = 0; i < n; i++)
		mod_timer(&items->item[i].t, now + timer_ahead[i]);
	timer_ticks_pass(test);
	for (i = 0; i < n; i++)
		wrong += timer_item_runs(&items->item[i]) ||
			 !timer_pending(&items->item[i].t) ||
			 items->item[i].t.expires != now + timer_ahead[i];
	KUNIT_EXPECT_EQ(test, wrong, 0);
	for (i = 0; i < n; i++)
		if (i % 2)
			wrong += timer_delete(&items->item[i].t) != 1;
		else
			wrong += mod_timer(&items->item[i].t, jiffies + 1) != 1;
	for (i = 0; i < n; i += 2)
		timer_item_await(test, &items->item[i], 1);
	for (i = 1; i < n; i += 2)
		wrong += timer_item_runs(&items->item[i]) != 0;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* No number is special: only its distance from jiffies counts. */
static void timer_numbers_are_relative(struct kunit *test)
{
	static const unsigned long number[] = { 0, 1, ULONG_MAX, ULONG_MAX - 1,
						LONG_MAX, (unsigned long)LONG_MIN };
	unsigned int n = ARRAY_SIZE(number), i;
	struct timer_items *items = timer_items_create(test, n, 0);
	struct timer_item *item;
	bool past;

	for (i = 0; i < n; i++) {
		item = &items->item[i];
		past = time_before_eq(number[i], jiffies);
		/* Skip numbers so near that jiffies may reach them during the case. */
		if (!past && time_before(number[i], jiffies + CALLOUT_TEST_FAR))
			continue;
		KUNIT_EXPECT_EQ(test, mod_timer(&item->t, number[i]), 0);
		if (past)
			timer_item_await(test, item, 1);
		timer_ticks_pass(test);
		KUNIT_EXPECT_EQ(test, timer_item_runs(item), past);
		KUNIT_EXPECT_EQ(test, timer_delete(&item->t), !past);
	}
}

/* Expiries on both sides of a multiple of 256 jiffies are near. */
static void timer_crosses_a_carry(struct kunit *test)
{
	unsigned long carry = round_up(jiffies + 2, 256);
	struct timer_items *items = timer_items_create(test, 8, TIMER_PINNED);
	unsigned int i, early = 0;

	callout_test_pin(test, raw_smp_processor_id());
	for (i = 0; i < items->n; i++)
		mod_timer(&items->item[i].t, carry + i - 4);
	timer_items_await(test, items);
	for (i = 0; i < items->n; i++)
		early += timer_item_late(&items->item[i]) < 0;
	KUNIT_EXPECT_EQ(test, early, 0);
}

/* Did rank[0] run first, then rank[1], and so on, if there is an order? */
static bool timer_ran_in_order(struct timer_items *items,
			       const unsigned int *rank)
{
	unsigned int i;

	if (!timer_ticks_are_jiffies())
		return true;
	for (i = 1; i < items->n; i++)
		if (items->item[rank[i - 1]].turn > items->item[rank[i]].turn)
			return false;
	return true;
}

#define TIMER_IN_ORDER	4U

/**
 * struct timer_order - an order that a case demands
 * @away: how far away the timers are
 * @least: how far away at least, when all timers are set
 * @apart: how many jiffies the timers are apart
 * @before: a further operation on the timers; returns the return value of a call
 * @callouts: the order of callouts
 * @kernels: the order of the kernel's timers
 */
struct timer_order {
	unsigned long away;
	unsigned long least;
	unsigned int apart;
	int (*before)(struct timer_items *items);
	unsigned int callouts[TIMER_IN_ORDER];
	unsigned int kernels[TIMER_IN_ORDER];
};

/* All timers must be set while they are still far enough away. Otherwise try once more. */
static void timer_check_order(struct kunit *test, const struct timer_order *o)
{
	struct timer_items *items;
	unsigned int try, i;
	bool in_time = false;
	unsigned long expires;
	int ret = 1;

	callout_test_pin(test, raw_smp_processor_id());
	for (try = 0; try < TIMER_TRIES && !in_time; try++) {
		items = timer_items_create(test, TIMER_IN_ORDER, TIMER_PINNED);
		/* A step of the second level of the kernel's wheel. */
		expires = round_up(jiffies + o->away, TIMER_LEVEL_STEP(1));
		for (i = 0; i < items->n; i++)
			mod_timer(&items->item[i].t, expires + i * o->apart);
		if (o->before)
			ret = o->before(items);
		in_time = time_before(jiffies, expires - o->least);
		timer_items_await(test, items);
	}
	KUNIT_EXPECT_TRUE(test, in_time);
	KUNIT_EXPECT_EQ(test, ret, 1);
	KUNIT_EXPECT_TRUE(test, timer_ran_in_order(items, TIMER_DIFFERS(order) ?
						   o->callouts : o->kernels));
}

/* Callouts of one jiffy run in the order of arming; the kernel's timers run in reverse order. */
static void timer_order_of_a_jiffy(struct kunit *test)
{
	static const struct timer_order o = {
		.away = 40,
		.least = 8,
		.callouts = { 0, 1, 2, 3 },
		.kernels = { 3, 2, 1, 0 },
	};

	timer_check_order(test, &o);
}

/* Callouts run in the order of expires; the kernel's timers do not within a step. */
static void timer_order_of_a_step(struct kunit *test)
{
	static const struct timer_order o = {
		.away = 100,
		.least = 70,
		.apart = 1,
		.callouts = { 0, 1, 2, 3 },
		.kernels = { 3, 2, 1, 0 },
	};

	timer_check_order(test, &o);
}

static int timer_mod_to_the_same(struct timer_items *items)
{
	return mod_timer(&items->item[1].t, items->item[1].t.expires);
}

/* A timer that is moved to its present expires keeps its place. */
static void timer_order_if_not_moved(struct kunit *test)
{
	static const struct timer_order o = {
		.away = 40,
		.least = 8,
		.before = timer_mod_to_the_same,
		.callouts = { 0, 1, 2, 3 },
		.kernels = { 3, 2, 1, 0 },
	};

	timer_check_order(test, &o);
}

static int timer_mod_and_back(struct timer_items *items)
{
	unsigned long expires = items->item[1].t.expires;

	if (mod_timer(&items->item[1].t, expires + 3) != 1)
		return 0;
	return mod_timer(&items->item[1].t, expires);
}

/* A timer that is moved away and back counts as armed last. */
static void timer_order_if_moved(struct kunit *test)
{
	static const struct timer_order o = {
		.away = 40,
		.least = 8,
		.before = timer_mod_and_back,
		.callouts = { 0, 2, 3, 1 },
		.kernels = { 1, 3, 2, 0 },
	};

	timer_check_order(test, &o);
}

static int timer_reduce_two(struct timer_items *items)
{
	unsigned long first = items->item[0].t.expires;

	if (timer_reduce(&items->item[1].t, first + 60) != 1)
		return 0;
	return timer_reduce(&items->item[3].t, first - 5);
}

static int timer_mod_within_a_step(struct timer_items *items)
{
	return mod_timer(&items->item[1].t, items->item[1].t.expires + 3);
}

/*
 * A callout that is moved by any number of jiffies counts as armed last; the
 * kernel's timers only if they are moved by a step.
 */
static void timer_order_if_moved_a_little(struct kunit *test)
{
	static const struct timer_order o = {
		.away = 100,
		.least = 70,
		.before = timer_mod_within_a_step,
		.callouts = { 0, 2, 3, 1 },
		.kernels = { 3, 2, 1, 0 },
	};

	timer_check_order(test, &o);
}

/* timer_reduce() moves a timer to an earlier jiffy only. */
static void timer_order_if_reduced(struct kunit *test)
{
	static const struct timer_order o = {
		.away = 24,
		.least = 8,
		.apart = 10,
		.before = timer_reduce_two,
		.callouts = { 3, 0, 1, 2 },
		.kernels = { 3, 0, 1, 2 },
	};

	timer_check_order(test, &o);
}

#define TIMER_SPREAD	60U

/* The number of pairs of timers that did not run in the order of their expires. */
static unsigned int timer_inversions(struct timer_items *items,
				     unsigned long apart)
{
	unsigned int i, j, n = 0;

	for (i = 0; i < items->n; i++)
		for (j = 0; j < items->n; j++)
			n += items->item[i].t.expires + apart <=
			     items->item[j].t.expires &&
			     items->item[i].turn > items->item[j].turn;
	return n;
}

/*
 * Callouts run in the order of their expires, in whatever order they were armed.
 * The kernel's timers do so if they are more than a step of the level apart.
 */
static void timer_order_of_distances(struct kunit *test)
{
	unsigned int i, try, apart = TIMER_DIFFERS(exact) ?
				     1 : TIMER_LEVEL_STEP(2);
	struct timer_items *items;
	bool in_time = false;
	unsigned long first;

	callout_test_pin(test, raw_smp_processor_id());
	for (try = 0; try < TIMER_TRIES && !in_time; try++) {
		items = timer_items_create(test, TIMER_SPREAD, TIMER_PINNED);
		first = jiffies + 70;
		/* Timers in two levels of the kernel's wheel. */
		for (i = 0; i < items->n; i++)
			mod_timer(&items->item[i].t,
				  first + i * 37 % TIMER_SPREAD * 10);
		in_time = time_before(jiffies, first);
		timer_items_await(test, items);
	}
	KUNIT_EXPECT_TRUE(test, in_time);
	if (timer_ticks_are_jiffies())
		KUNIT_EXPECT_EQ(test, timer_inversions(items, apart), 0);
}
