// SPDX-License-Identifier: GPL-2.0
/*
 * bounds.c - suite callout_bounds: hold times and spurious wake-ups, at any
 * load
 *
 * The base counts the units of work of each hold. Their maximum must not depend
 * on the number of callouts, on where they are queued or on how late the base
 * is, and the base must ask to be woken only for callouts that may be due.
 */
#include <linux/random.h>
#include "virtual.h"

/* Under KASAN accesses are slow; the units are the same. */
#define MANY		(IS_ENABLED(CONFIG_KASAN) ? 100000U : 1000000U)
#define LAGGING		(MANY / 10)
#define BUCKETS		(1U << 14)
#define DAY		(24L * 3600 * HZ)

static void bounds_nothing(void *arg)
{
	unsigned int *ran = arg;

	++*ran;
}

static struct callout *bounds_callouts(struct kunit *test, unsigned int n)
{
	struct callout *c = callout_test_vcalloc(test, n, sizeof(*c));
	unsigned int i;

	for (i = 0; i < n; i++) {
		callout_init(&c[i], CALLOUT_MPSAFE);
		c[i].node.cpu = CALLOUT_VIRTUAL;
	}
	return c;
}

/* Expires the base at @now, and returns the most units done in one hold. */
static u64 bounds_run(struct callout_virtual *v, u64 now)
{
	v->now = now;
	v->base->stats.max_units = 0;
	while (callout_expire(v->base))
		cond_resched();
	return v->base->stats.max_units;
}

/* A hold is bounded, however many callouts are due at one tick. */
static void bounds_one_tick(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, MANY);
	unsigned int i, ran = 0;

	for (i = 0; i < MANY; i++)
		callout_reset(&c[i], 100, bounds_nothing, &ran);
	KUNIT_EXPECT_LE(test, bounds_run(v, v->now + 100), CALLOUT_BUDGET);
	KUNIT_EXPECT_EQ(test, ran, MANY);
}

/* A hold is bounded, however many entries of a bucket are not due. */
static void bounds_one_bucket(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, MANY);
	unsigned int i, lap, ran = 0;
	u64 start = v->now;

	for (i = 0; i < MANY; i++)
		callout_reset(&c[i], 100 + (long)(i % 4) * BUCKETS,
			      bounds_nothing, &ran);
	for (lap = 0; lap < 4; lap++) {
		KUNIT_EXPECT_LE(test, bounds_run(v, start + 100 +
						    (u64)lap * BUCKETS),
				CALLOUT_BUDGET);
		KUNIT_EXPECT_EQ(test, ran, (lap + 1) * (MANY / 4));
	}
}

/* A hold is bounded, however late the base is. */
static void bounds_lag_of_a_day(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, LAGGING);
	unsigned int i, ran = 0;

	for (i = 0; i < LAGGING; i++)
		callout_reset(&c[i], 1 + get_random_u32_below(DAY),
			      bounds_nothing, &ran);
	KUNIT_EXPECT_LE(test, bounds_run(v, v->now + DAY), CALLOUT_BUDGET);
	KUNIT_EXPECT_EQ(test, ran, LAGGING);
}

/* The search for the next tick is bounded after a mass cancellation. */
static void bounds_after_mass_cancel(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, MANY);
	unsigned int i, ran = 0;

	for (i = 0; i < MANY; i++)
		callout_reset(&c[i], 1 + get_random_u32_below(DAY),
			      bounds_nothing, &ran);
	for (i = 0; i < MANY; i++)
		callout_stop(&c[i]);
	KUNIT_EXPECT_LE(test, bounds_run(v, v->armed), CALLOUT_BUDGET);
	KUNIT_EXPECT_EQ(test, ran, 0);
	KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
}

/* Returns the wake-ups of the base until @end, and counts spurious ones. */
static unsigned int wake_until(struct callout_virtual *v, u64 end,
			       const unsigned int *ran, unsigned int *vain)
{
	unsigned int wakeups = 0, before;

	*vain = 0;
	while (v->base->armed <= end) {
		before = *ran;
		bounds_run(v, v->base->armed);
		wakeups++;
		*vain += *ran == before;
	}
	return wakeups;
}

/* Cancelled callouts cost one spurious wake-up at most. */
static void silence_after_mass_cancel(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, 10001);
	unsigned int i, vain, ran = 0;
	u64 start = v->now;

	callout_reset(&c[10000], DAY, bounds_nothing, &ran);
	for (i = 0; i < 10000; i++)
		callout_reset(&c[i], 1 + i * 100, bounds_nothing, &ran);
	for (i = 0; i < 10000; i++)
		callout_stop(&c[i]);
	KUNIT_EXPECT_LE(test, wake_until(v, start + DAY, &ran, &vain), 2U);
	KUNIT_EXPECT_LE(test, vain, 1U);
	KUNIT_EXPECT_EQ(test, ran, 1U);
}

/* A callout that was moved to a later time is re-filed once at most. */
static void silence_after_mass_rearm(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, 10000);
	unsigned int i, vain, ran = 0;
	u64 start = v->now;
	u64 refiles = v->base->scheme->refiles;

	for (i = 0; i < 10000; i++)
		callout_reset(&c[i], 1 + i, bounds_nothing, &ran);
	for (i = 0; i < 10000; i++)
		callout_reset(&c[i], DAY + i / 100, bounds_nothing, &ran);
	wake_until(v, start + 10000, &ran, &vain);
	KUNIT_EXPECT_EQ(test, ran, 0);
	KUNIT_EXPECT_LE(test, v->base->scheme->refiles - refiles, 10000U);
	/* From here on all are in their own buckets. */
	KUNIT_EXPECT_LE(test, wake_until(v, start + DAY + 100, &ran, &vain),
			100U);
	KUNIT_EXPECT_EQ(test, vain, 0);
	KUNIT_EXPECT_EQ(test, ran, 10000U);
}

/* No wake-ups while nothing is due. */
static void silence_with_nothing_due(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, 1000);
	unsigned int i, vain, ran = 0;
	u64 start = v->now;

	for (i = 0; i < 1000; i++)
		callout_reset(&c[i], DAY + 1 + i, bounds_nothing, &ran);
	KUNIT_EXPECT_EQ(test, wake_until(v, start + DAY, &ran, &vain), 0);
	KUNIT_EXPECT_EQ(test, wake_until(v, start + DAY + 1000, &ran, &vain),
			1000U);
	KUNIT_EXPECT_EQ(test, vain, 0);
	KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
}

static int bounds_init(struct kunit *test)
{
	return callout_virtual_create(test, BUCKETS);
}

static struct kunit_case bounds_cases[] = {
	KUNIT_CASE_SLOW(bounds_one_tick),
	KUNIT_CASE_SLOW(bounds_one_bucket),
	KUNIT_CASE_SLOW(bounds_lag_of_a_day),
	KUNIT_CASE_SLOW(bounds_after_mass_cancel),
	KUNIT_CASE(silence_after_mass_cancel),
	KUNIT_CASE(silence_after_mass_rearm),
	KUNIT_CASE(silence_with_nothing_due),
	{}
};

static struct kunit_suite bounds_suite = {
	.name		= "callout_bounds",
	.init		= bounds_init,
	.test_cases	= bounds_cases,
};

kunit_test_suite(bounds_suite);
