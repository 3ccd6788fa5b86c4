// SPDX-License-Identifier: GPL-2.0
/*
 * bounds.c - suite callout_bounds: hold times and spurious wake-ups, at any
 * load
 *
 * The base counts the units of work of each hold. Their maximum must not depend on
 * the number of callouts, on where they are queued or on how late the base is, and
 * the base must ask to be woken only for callouts that may be due. The number of
 * holds in one softirq is bounded too. While jiffies stand still only the number
 * limits them.
 */
#include <linux/list.h>
#include <linux/random.h>
#include "lib/virtual.h"

/* Under KASAN accesses are slow; the units are the same. */
#define MANY		(IS_ENABLED(CONFIG_KASAN) ? 100000U : 1000000U)
#define LAGGING		(MANY / 10)
/* More entries than one softirq may look at. */
#define WALKED		(3 * CALLOUT_MAX_HANDLERS * CALLOUT_BUDGET + 1)
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

/* Called before the callouts are freed. */
static void bounds_stop(struct callout *c, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		callout_stop(&c[i]);
}

/* Expire the base at @now, and return the most units done in one hold. */
static u64 bounds_run(struct callout_virtual *v, u64 now)
{
	v->now = now;
	v->base->stats.max_units = 0;
	while (co_expire(v->base))
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

/*
 * Run one softirq at @now, while jiffies stand still. Return how many entries it has
 * looked at and left. It must not look at more entries than the units that it has
 * accounted for.
 */
static u64 bounds_look(struct kunit *test, u64 now, bool *more)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	u64 before = base->scheme->visits, visits;

	v->now = now;
	*more = callout_virtual_expire_once(v);
	visits = base->scheme->visits - before;
	/* Each hold of the lock takes one off base->left; the last may have begun at 0. */
	KUNIT_EXPECT_LE(test, visits,
			(u64)(CALLOUT_MAX_HANDLERS - base->left + 1) *
			CALLOUT_BUDGET);
	return visits;
}

/* A softirq looks at a limited number of entries, however many are not due. */
static void bounds_walk(struct kunit *test, u64 now, unsigned int n)
{
	u64 most = (u64)CALLOUT_MAX_HANDLERS * CALLOUT_BUDGET, visits, all = 0;
	unsigned int calls = 0;
	bool more;

	do {
		visits = bounds_look(test, now, &more);
		all += visits;
		KUNIT_EXPECT_LE(test, visits, most);
		cond_resched();
	} while (more && ++calls < n);
	KUNIT_EXPECT_EQ(test, all, n);
	KUNIT_EXPECT_GE(test, calls, (n - 1) / (unsigned int)most);
}

/* Entries of later laps, which stay in the bucket. */
static void pass_of_later_laps(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, WALKED + 1);
	unsigned int i, ran = 0;
	u64 start = v->now;

	for (i = 0; i < WALKED; i++)
		callout_reset(&c[i], 100 + (1 + i % 4) * BUCKETS, bounds_nothing,
			      &ran);
	callout_reset(&c[i], 100, bounds_nothing, &ran);
	bounds_walk(test, start + 100, WALKED);
	KUNIT_EXPECT_EQ(test, ran, 1);
	bounds_stop(c, WALKED);
}

/* Entries that were moved to a later tick, and move to that tick's bucket now. */
static void pass_of_moved(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, WALKED);
	unsigned int i, ran = 0;
	u64 start = v->now, requeues = v->base->scheme->requeues;

	for (i = 0; i < WALKED; i++)
		callout_reset(&c[i], 100, bounds_nothing, &ran);
	for (i = 0; i < WALKED; i++)
		callout_reset(&c[i], 200 + i % 1000, bounds_nothing, &ran);
	bounds_walk(test, start + 100, WALKED);
	KUNIT_EXPECT_EQ(test, v->base->scheme->requeues - requeues, WALKED);
	KUNIT_EXPECT_EQ(test, ran, 0);
	bounds_stop(c, WALKED);
}

/* The lock of all callouts is taken, so they are put off to the next tick. */
static void pass_of_put_off(struct kunit *test)
{
	const unsigned int n = 3 * CALLOUT_MAX_HANDLERS + 1;
	struct callout_virtual *v = test->priv;
	struct callout *c = callout_test_vcalloc(test, n, sizeof(*c));
	unsigned int i, ran = 0, calls = 0;
	size_t before = 0, put_off;
	spinlock_t lock;	/* held by this case */
	bool more;

	callout_test_need_spinlocks(test);
	spin_lock_init(&lock);
	spin_lock_bh(&lock);
	for (i = 0; i < n; i++) {
		callout_init_mtx(&c[i], &lock, CALLOUT_TRYLOCK);
		c[i].node.cpu = CALLOUT_VIRTUAL;
		callout_reset(&c[i], 1, bounds_nothing, &ran);
	}
	v->now++;
	do {
		more = co_expire(v->base);
		put_off = list_count_nodes(&v->base->put_off);
		if (put_off - before > CALLOUT_MAX_HANDLERS)
			break;
		before = put_off;
	} while (++calls < n && more);
	spin_unlock_bh(&lock);
	KUNIT_EXPECT_LE(test, put_off - before, CALLOUT_MAX_HANDLERS);
	KUNIT_EXPECT_EQ(test, put_off, n);
	KUNIT_EXPECT_EQ(test, calls, 4);
	KUNIT_EXPECT_EQ(test, ran, 0);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, ran, n);
}

/* How often the next tick was searched for. Each search uses up its budget. */
static unsigned int searches;

static u64 bounds_endless(struct callout_scheme *s, unsigned int *budget)
{
	searches++;
	*budget = 0;
	return 0;
}

/* The search for the next tick is given up after CALLOUT_MAX_HOLDS. */
static void pass_of_a_search(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, 2);
	static struct callout_scheme_ops ops;
	unsigned int ran = 0;

	ops = callout_hashed_wheel;
	ops.next_due = bounds_endless;
	v->base->wheel = false;
	v->base->scheme->ops = &ops;
	searches = 0;
	callout_reset(&c[0], 1, bounds_nothing, &ran);
	callout_reset(&c[1], 1000, bounds_nothing, &ran);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, ran, 1);
	KUNIT_EXPECT_EQ(test, searches, CALLOUT_MAX_HOLDS);
	/* The base is woken at the next tick, to continue. */
	KUNIT_EXPECT_EQ(test, v->armed, v->now + 1);
	bounds_stop(c, 2);
}

/* Return the wake-ups of the base until @end, and count spurious wake-ups in @vain. */
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

/* Cancelled callouts cost at most one spurious wake-up. */
static void silence_after_mass_cancel(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, 10001);
	unsigned int i, vain, ran = 0;
	u64 start = v->now;

	callout_reset(&c[10000], DAY, bounds_nothing, &ran);
	for (i = 0; i < 10000; i++)
		callout_reset(&c[i], 1 + i * 100, bounds_nothing, &ran);
	bounds_stop(c, 10000);
	KUNIT_EXPECT_LE(test, wake_until(v, start + DAY, &ran, &vain), 2U);
	KUNIT_EXPECT_LE(test, vain, 1U);
	KUNIT_EXPECT_EQ(test, ran, 1U);
}

/* A callout that was moved to a later time is requeued at most once. */
static void silence_after_mass_rearm(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout *c = bounds_callouts(test, 10000);
	unsigned int i, vain, ran = 0;
	u64 start = v->now;
	u64 requeues = v->base->scheme->requeues;

	for (i = 0; i < 10000; i++)
		callout_reset(&c[i], 1 + i, bounds_nothing, &ran);
	for (i = 0; i < 10000; i++)
		callout_reset(&c[i], DAY + i / 100, bounds_nothing, &ran);
	wake_until(v, start + 10000, &ran, &vain);
	KUNIT_EXPECT_EQ(test, ran, 0);
	KUNIT_EXPECT_LE(test, v->base->scheme->requeues - requeues, 10000U);
	/* From here on all callouts are in the buckets of their expiry. */
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
	KUNIT_CASE_SLOW(pass_of_later_laps),
	KUNIT_CASE_SLOW(pass_of_moved),
	KUNIT_CASE(pass_of_put_off),
	KUNIT_CASE(pass_of_a_search),
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
