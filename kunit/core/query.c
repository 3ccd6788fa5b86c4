// SPDX-License-Identifier: GPL-2.0
/*
 * query.c - suite callout_query: queries about a callout
 */
#include <linux/bottom_half.h>
#include "lib/softirq.h"

/* callout_expires() returns the tick of the last setting, even if the callout is not pending. */
static void query_expires(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	u64 start = v->now;

	KUNIT_EXPECT_EQ(test, callout_expires(&a->c), 0);
	KUNIT_EXPECT_EQ(test, callout_expires_sbt(&a->c), 0);
	callout_virtual_set(a, 10);
	KUNIT_EXPECT_EQ(test, callout_expires(&a->c), start + 10);
	callout_virtual_set(a, 7);
	KUNIT_EXPECT_EQ(test, callout_expires(&a->c), start + 7);
	callout_virtual_set(a, 70);
	KUNIT_EXPECT_EQ(test, callout_expires(&a->c), start + 70);
	callout_virtual_run_to(v, start + 75);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	KUNIT_EXPECT_EQ(test, callout_expires(&a->c), start + 70);
	callout_virtual_set(a, LONG_MAX);
	KUNIT_EXPECT_EQ(test, callout_expires_sbt(&a->c), SBT_MAX);
}

/*
 * A time is returned to the nanosecond, and a number of ticks to within a tick: the
 * time of a tick is never later than the tick, and earlier only if jiffies lag the
 * clock.
 */
static void query_expires_sbt(struct kunit *test)
{
	const sbintime_t far = CALLOUT_TEST_FAR * (SBT_1S / callout_hz());
	sbintime_t before, after, due;
	struct callout c;

	callout_init(&c, CALLOUT_MPSAFE);
	due = callout_sbinuptime() + 3600 * SBT_1S + 12345;
	callout_reset_sbt(&c, due, SBT_1S, callout_virtual_handler, NULL,
			  C_ABSOLUTE);
	KUNIT_EXPECT_GE(test, callout_expires_sbt(&c), due);
	KUNIT_EXPECT_LT(test, callout_expires_sbt(&c), due + SBT_1US);
	KUNIT_EXPECT_EQ(test, callout_stop(&c), 1);

	before = callout_sbinuptime();
	callout_reset(&c, CALLOUT_TEST_FAR, callout_virtual_handler, NULL);
	after = callout_sbinuptime();
	KUNIT_EXPECT_GE(test, callout_expires_sbt(&c), before + far - SBT_1M);
	KUNIT_EXPECT_LE(test, callout_expires_sbt(&c), after + far + SBT_1S);
	KUNIT_EXPECT_EQ(test, callout_stop(&c), 1);

	before = callout_sbinuptime();
	callout_reset_sbt(&c, 3600 * SBT_1S, 0, callout_virtual_handler, NULL, C_HARDCLOCK);
	KUNIT_EXPECT_GE(test, callout_expires_sbt(&c), before + 3600 * SBT_1S - SBT_1M);
	KUNIT_EXPECT_EQ(test, callout_stop(&c), 1);

	/* The last second that a sbintime_t has. */
	due = SBT_MAX - SBT_1S / 2;
	callout_reset_sbt(&c, due, 0, callout_virtual_handler, NULL, C_ABSOLUTE);
	KUNIT_EXPECT_GE(test, callout_expires_sbt(&c), due);
	KUNIT_EXPECT_LT(test, callout_expires_sbt(&c), due + SBT_1US);
	callout_reset_sbt(&c, SBT_MAX, 0, callout_virtual_handler, NULL, C_ABSOLUTE);
	KUNIT_EXPECT_EQ(test, callout_expires_sbt(&c), SBT_MAX);
	KUNIT_EXPECT_EQ(test, callout_stop(&c), 1);
}

/* A sbintime_t has seconds for 68 years: any later time is never. */
static void query_expires_in_decades(struct kunit *test)
{
	const long year = 365 * CALLOUT_TEST_FAR / HZ * callout_hz();
	struct callout c;

	callout_init(&c, CALLOUT_MPSAFE);
	callout_reset(&c, 67 * year, callout_virtual_handler, NULL);
	KUNIT_EXPECT_GT(test, callout_expires_sbt(&c), 0);
	KUNIT_EXPECT_LT(test, callout_expires_sbt(&c), SBT_MAX);
	callout_reset(&c, 69 * year, callout_virtual_handler, NULL);
	KUNIT_EXPECT_EQ(test, callout_expires_sbt(&c), SBT_MAX);
	callout_reset(&c, 200 * year, callout_virtual_handler, NULL);
	KUNIT_EXPECT_EQ(test, callout_expires_sbt(&c), SBT_MAX);
	KUNIT_EXPECT_EQ(test, callout_stop(&c), 1);
}

/* Function and argument come from the last setting that gave any. */
static void query_func(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 2);
	struct callout *c = &a->c;

	KUNIT_EXPECT_NULL(test, callout_func(c));
	callout_virtual_set(a, 10);
	callout_schedule(c, 11);
	KUNIT_EXPECT_TRUE(test, callout_func(c) == callout_virtual_handler);
	KUNIT_EXPECT_PTR_EQ(test, callout_arg(c), (void *)a);
	callout_reset(c, 12, callout_virtual_handler, a + 1);
	callout_stop(c);
	KUNIT_EXPECT_PTR_EQ(test, callout_arg(c), (void *)(a + 1));
}

/* Initialising a callout again forgets its function, argument and time. */
static void query_func_of_none(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 1);

	callout_virtual_set(a, 10);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), 1);
	callout_init(&a->c, CALLOUT_MPSAFE);
	a->c.node.cpu = CALLOUT_VIRTUAL;
	KUNIT_EXPECT_NULL(test, callout_func(&a->c));
	KUNIT_EXPECT_NULL(test, callout_arg(&a->c));
	KUNIT_EXPECT_EQ(test, callout_expires(&a->c), 0);
}

static void then_ask(struct callout_item *item)
{
	item->seen = callout_running(&item->c);
	callout_virtual_set(item, 1);
	item->ret = callout_running(&item->c);
	callout_stop(&item->c);
}

/* A callout runs from its handler's start to its end, even if it is set in between. */
static void query_running(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout_race *r;

	a->then = then_ask;
	callout_virtual_set(a, 1);
	KUNIT_EXPECT_FALSE(test, callout_running(&a->c));
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->seen, 1);
	KUNIT_EXPECT_EQ(test, a->ret, 1);
	KUNIT_EXPECT_FALSE(test, callout_running(&a->c));

	r = callout_race_running(test);
	KUNIT_EXPECT_TRUE(test, callout_running(&r->item.c));
	KUNIT_EXPECT_FALSE(test, callout_running(&a->c));
	KUNIT_EXPECT_EQ(test, callout_stop(&r->item.c), 0);
	KUNIT_EXPECT_TRUE(test, callout_running(&r->item.c));
	callout_race_end(test, r);
	KUNIT_EXPECT_FALSE(test, callout_running(&r->item.c));
}

/* A callout that waits for its lock counts as running until it is stopped. */
static void query_waiting(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);

	r->item.then = callout_race_then_wait;
	callout_race_wait_for_lock(test, r, CALLOUT_L_SPIN);
	KUNIT_EXPECT_TRUE(test, callout_running(&r->item.c));
	KUNIT_EXPECT_EQ(test, callout_stop(&r->item.c), 1);
	KUNIT_EXPECT_FALSE(test, callout_running(&r->item.c));
	callout_race_drop_lock(r);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
}

/*
 * The CPU is the last CPU that a call gave, even while the handler still runs on
 * the previous CPU. A callout that is set on callout_cpu() stays there.
 */
static void query_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	unsigned int this = raw_smp_processor_id(), home;
	struct callout_race *r;
	struct callout c;

	if (co_base(this) == co_base(other))
		kunit_skip(test, "needs a base for each CPU");
	callout_init(&c, CALLOUT_MPSAFE);
	KUNIT_EXPECT_EQ(test, callout_cpu(&c), this);
	callout_reset_on(&c, CALLOUT_TEST_FAR, callout_virtual_handler, NULL,
			 other);
	KUNIT_EXPECT_EQ(test, callout_cpu(&c), other);
	callout_reset_on(&c, CALLOUT_TEST_FAR, NULL, NULL, callout_cpu(&c));
	KUNIT_EXPECT_EQ(test, callout_cpu(&c), other);
	callout_reset_on(&c, CALLOUT_TEST_FAR, NULL, NULL, -1);
	KUNIT_EXPECT_EQ(test, callout_cpu(&c), other);
	KUNIT_EXPECT_EQ(test, callout_stop(&c), 1);
	KUNIT_EXPECT_EQ(test, callout_cpu(&c), other);

	/*
	 * The handler runs on the virtual base, which is CPU 0's, and the callout
	 * moves afterwards.
	 */
	home = max(this, other);
	r = callout_race_running(test);
	callout_reset_on(&r->item.c, CALLOUT_TEST_FAR, callout_virtual_handler,
			 &r->item, home);
	KUNIT_EXPECT_EQ(test, callout_cpu(&r->item.c), home);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, callout_cpu(&r->item.c), home);
	KUNIT_EXPECT_EQ(test, callout_stop(&r->item.c), 1);
}

static struct kunit_case query_cases[] = {
	KUNIT_CASE(query_expires),
	KUNIT_CASE(query_expires_sbt),
	KUNIT_CASE(query_expires_in_decades),
	KUNIT_CASE(query_func),
	KUNIT_CASE(query_func_of_none),
	KUNIT_CASE(query_running),
	KUNIT_CASE(query_waiting),
	KUNIT_CASE(query_cpu),
	{}
};

static struct kunit_suite query_suite = {
	.name = "callout_query",
	.init = callout_virtual_init,
	.test_cases = query_cases,
};

kunit_test_suite(query_suite);
