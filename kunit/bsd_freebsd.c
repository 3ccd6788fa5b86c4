// SPDX-License-Identifier: GPL-2.0
/*
 * bsd_freebsd.c - suite callout_freebsd: what files of FreeBSD need of its headers
 */
/* First: it needs no other header. */
#include <bsd/freebsd/sys/_callout.h>
#include "softirq.h"
/* Some names below are those of its macros. */
#define CALLOUT_BSD_NO_TICKS
#include <bsd/freebsd/sys/callout.h>

/*
 * CS_EXECUTING turns the 0 of a running handler into a 1, also if the callout was
 * set again, and leaves 1 and -1 as they are.
 */
static void freebsd_stop_safe(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout_race *r;

	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&a->c, CS_EXECUTING, NULL), -1);
	callout_virtual_set(a, 5);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&a->c, CS_EXECUTING, NULL), 1);
	callout_virtual_set(a, 5);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&a->c, 0, NULL), 1);
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&a->c, CS_EXECUTING, NULL), -1);

	r = callout_race_running(test);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_EXECUTING, NULL),
			1);
	callout_virtual_set(&r->item, 5);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_EXECUTING, NULL),
			1);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_EXECUTING, NULL),
			-1);
}

static void count_drain(void *arg)
{
	struct callout_race *r = arg;

	callout_test_count((unsigned int *)&r->ret);
}

/* With a function it drains asynchronously; CS_DRAIN waits. */
static void freebsd_stop_safe_drains(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);

	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, 0, count_drain), 0);
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->ret, 1);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, 0, count_drain), -1);

	callout_virtual_set(&r->item, 5);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_DRAIN, NULL), 1);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_DRAIN, NULL),
			-1);
	KUNIT_EXPECT_EQ(test, r->ret, 1);
}

static struct kunit_case freebsd_cases[] = {
	KUNIT_CASE(freebsd_stop_safe),
	KUNIT_CASE(freebsd_stop_safe_drains),
	{}
};

static struct kunit_suite freebsd_suite = {
	.name = "callout_freebsd",
	.init = callout_virtual_init,
	.test_cases = freebsd_cases,
};

kunit_test_suite(freebsd_suite);
