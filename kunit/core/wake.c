// SPDX-License-Identifier: GPL-2.0
/*
 * wake.c - suite callout_wake: when a base programs its tick source, and how
 * wake-ups are counted, on a virtual clock
 */
#include "lib/virtual.h"
#include "wheel/hashed_wheel.h"

/* The tick source is programmed only for an earlier expiry, and after expiry. */
static void wake_programs_the_source(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 3);
	u64 start = v->now;

	callout_virtual_set(&a[0], 100);
	KUNIT_EXPECT_EQ(test, v->armed, start + 100);
	KUNIT_EXPECT_EQ(test, v->programs, 1);
	callout_virtual_set(&a[1], 100);
	callout_virtual_set(&a[2], 200);
	KUNIT_EXPECT_EQ(test, v->programs, 1);
	callout_virtual_set(&a[1], 50);
	KUNIT_EXPECT_EQ(test, v->armed, start + 50);
	KUNIT_EXPECT_EQ(test, v->programs, 2);
	/* A later setting and a stop cost one spurious wake-up. */
	callout_virtual_set(&a[1], 60);
	callout_stop(&a[0].c);
	KUNIT_EXPECT_EQ(test, v->programs, 2);
	callout_virtual_run_to(v, start + 50);
	KUNIT_EXPECT_EQ(test, v->ran, 0);
	KUNIT_EXPECT_EQ(test, v->programs, 3);
	KUNIT_EXPECT_EQ(test, v->armed, start + 60);
	callout_virtual_run_to(v, start + 60);
	KUNIT_EXPECT_EQ(test, v->ran, 1);
	KUNIT_EXPECT_EQ(test, v->programs, 4);
	KUNIT_EXPECT_EQ(test, v->armed, start + 200);
	callout_virtual_run_to(v, start + 200);
	KUNIT_EXPECT_EQ(test, v->ran, 2);
	/* An empty base is not woken. */
	KUNIT_EXPECT_EQ(test, v->programs, 4);
	KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
}

/*
 * At the programmed tick its callouts run, then the next tick is programmed. Before
 * the programmed tick, that tick is programmed once more.
 */
static void wake_tick_by_tick(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);
	u64 start = v->now;

	callout_virtual_set(&a[0], 2);
	callout_virtual_set(&a[1], 3);
	v->programs = 0;
	callout_virtual_wake_at(v, start + 1);
	KUNIT_EXPECT_EQ(test, v->ran, 0);
	KUNIT_EXPECT_EQ(test, v->programs, 1);
	KUNIT_EXPECT_EQ(test, v->armed, start + 2);
	callout_virtual_wake_at(v, start + 2);
	KUNIT_EXPECT_EQ(test, a[0].runs, 1);
	KUNIT_EXPECT_EQ(test, a[1].runs, 0);
	KUNIT_EXPECT_EQ(test, v->armed, start + 3);
	callout_virtual_wake_at(v, start + 3);
	KUNIT_EXPECT_EQ(test, a[1].runs, 1);
	KUNIT_EXPECT_EQ(test, v->programs, 2);
	KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
}

/* If a base is woken before the tick and all its callouts were cancelled, it goes to sleep. */
static void wake_for_the_cancelled(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	u64 start = v->now;

	callout_virtual_set(&a[0], 1000);
	callout_stop(&a[0].c);
	KUNIT_EXPECT_EQ(test, v->base->armed, start + 1000);
	v->programs = 0;
	callout_virtual_wake_at(v, start + 900);
	KUNIT_EXPECT_EQ(test, v->programs, 0);
	KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
	callout_virtual_set(&a[0], 10);
	KUNIT_EXPECT_EQ(test, v->programs, 1);
	callout_virtual_run_to(v, start + 910);
	KUNIT_EXPECT_EQ(test, a[0].runs, 1);
}

static void expect_counts(struct kunit *test, u64 wakeups, u64 false_wakeups, u64 hops)
{
	struct callout_virtual *v = test->priv;
	struct callout_stats *stats = &v->base->stats;

	KUNIT_EXPECT_EQ(test, stats->wakeups, wakeups);
	KUNIT_EXPECT_EQ(test, stats->false_wakeups, false_wakeups);
	KUNIT_EXPECT_EQ(test, stats->hops, hops);
}

/*
 * Calls of the tick source are counted: as a wake-up, which is false if nothing was
 * due, or as a hop if the tick has not come. Expiry started by others is not counted.
 */
static void wake_counts(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	u64 start = v->now;

	callout_virtual_wake_at(v, start);
	expect_counts(test, 1, 1, 0);
	callout_virtual_set(a, 10);
	callout_virtual_wake_at(v, start + 5);
	expect_counts(test, 1, 1, 1);
	callout_virtual_run_to(v, start + 6);
	expect_counts(test, 1, 1, 1);
	callout_virtual_wake_at(v, start + 10);
	expect_counts(test, 2, 1, 1);
	callout_virtual_set(a, 10);
	callout_stop(&a->c);
	callout_virtual_wake_at(v, start + 20);
	expect_counts(test, 3, 2, 1);
	callout_virtual_set(a, 10);
	callout_virtual_run_to(v, start + 30);
	expect_counts(test, 3, 2, 1);
	KUNIT_EXPECT_EQ(test, a->runs, 2);
}

/* Move @item, which is due at the next tick, far away, and let the wake-up come. */
static void wake_falsely(struct callout_item *item, u64 now)
{
	callout_virtual_set(item, now - item->v->now);
	callout_virtual_set(item, 1000);
	callout_virtual_wake_at(item->v, now);
}

/*
 * After two false wake-ups in a span of wake_gap ticks a base of programs wakes at the end of
 * the span, whether expiry programs the source or a later setting. A callout that is due
 * earlier is late, but not lost.
 */
static void wake_spaces_false(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 4);
	u64 start = roundup(v->now + 1, 25);

	v->base->wake_gap = 25;
	callout_virtual_set(&a[1], start - v->now);
	callout_virtual_wake_at(v, start);
	wake_falsely(&a[0], start + 1);
	/* A single false wake-up delays nothing. */
	callout_virtual_set(&a[1], 1);
	KUNIT_EXPECT_EQ(test, v->armed, start + 2);
	callout_virtual_wake_at(v, start + 2);
	KUNIT_EXPECT_EQ(test, a[1].runs, 2);
	wake_falsely(&a[0], start + 3);
	expect_counts(test, 4, 2, 0);
	v->programs = 0;
	callout_virtual_set(&a[1], 1);
	KUNIT_EXPECT_EQ(test, v->armed, start + 25);
	KUNIT_EXPECT_EQ(test, v->base->armed, start + 25);
	/* The source is programmed once only. */
	callout_virtual_set(&a[2], 2);
	callout_virtual_set(&a[3], 22);
	KUNIT_EXPECT_EQ(test, v->programs, 1);
	callout_virtual_wake_at(v, start + 25);
	KUNIT_EXPECT_EQ(test, a[1].runs, 3);
	KUNIT_EXPECT_EQ(test, a[2].runs, 1);
	KUNIT_EXPECT_EQ(test, a[3].runs, 1);

	/* The next span counts from 0. Expiry programs the source no earlier either. */
	callout_virtual_set(&a[1], 3);
	wake_falsely(&a[0], start + 26);
	KUNIT_EXPECT_EQ(test, v->armed, start + 28);
	wake_falsely(&a[2], start + 27);
	expect_counts(test, 7, 4, 0);
	KUNIT_EXPECT_EQ(test, v->armed, start + 50);
	callout_virtual_wake_at(v, start + 50);
	KUNIT_EXPECT_EQ(test, a[1].runs, 4);

	/* Kernel code's bases are woken at each tick for which a callout is set. */
	v->base->wake_gap = 0;
	v->base->floor = 0;
	wake_falsely(&a[0], start + 51);
	wake_falsely(&a[0], start + 52);
	KUNIT_EXPECT_EQ(test, v->base->floor, 0);
	callout_virtual_set(&a[1], 1);
	KUNIT_EXPECT_EQ(test, v->armed, start + 53);
	callout_stop(&a[0].c);
	callout_stop(&a[1].c);
	callout_stop(&a[2].c);
}

/* A wake-up is false however many callouts of later laps expiry looks at. */
static void wake_false_after_many_looks(struct kunit *test)
{
	enum { N = CALLOUT_BUDGET + 2 };
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, N + 1);
	u64 start = v->now, lap = to_wheel(v->base->scheme)->ring.mask + 1;
	unsigned int i;

	for (i = 0; i < N; i++)
		callout_virtual_set(&a[i], 1 + (i + 1) * lap);
	callout_virtual_set(&a[N], 1);
	callout_stop(&a[N].c);
	callout_virtual_wake_at(v, start + 1);
	KUNIT_EXPECT_GE(test, v->base->scheme->visits, N);
	expect_counts(test, 1, 1, 0);
	for (i = 0; i < N; i++)
		callout_stop(&a[i].c);
}

/* A source that starts expiry in the tasklet says so. That counts as a wake-up too, once. */
static void wake_counts_the_tasklet(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	u64 start = v->now;

	callout_virtual_set(a, 10);
	WRITE_ONCE(v->base->woken, true);
	callout_virtual_run_to(v, start + 5);
	expect_counts(test, 0, 0, 1);
	callout_virtual_run_to(v, start + 10);
	expect_counts(test, 0, 0, 1);
	callout_virtual_set(a, 10);
	WRITE_ONCE(v->base->woken, true);
	callout_virtual_run_to(v, start + 20);
	expect_counts(test, 1, 0, 1);
	KUNIT_EXPECT_EQ(test, a->runs, 2);
}

static struct kunit_case wake_cases[] = {
	KUNIT_CASE(wake_programs_the_source),
	KUNIT_CASE(wake_tick_by_tick),
	KUNIT_CASE(wake_for_the_cancelled),
	KUNIT_CASE(wake_counts),
	KUNIT_CASE(wake_spaces_false),
	KUNIT_CASE(wake_false_after_many_looks),
	KUNIT_CASE(wake_counts_the_tasklet),
	{}
};

static struct kunit_suite wake_suite = {
	.name = "callout_wake",
	.init = callout_virtual_init,
	.test_cases = wake_cases,
};

kunit_test_suite(wake_suite);
