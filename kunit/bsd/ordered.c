// SPDX-License-Identifier: GPL-2.0
/*
 * ordered.c - suite callout_ordered: callouts whose handlers run one after the other,
 * and calls that wait for such a handler
 */
#include <linux/callout_work.h>
#include <linux/delay.h>
#include <linux/workqueue.h>
#include "lib/common.h"

/**
 * struct ordered - two callouts of the ordered queue
 * @first: a callout whose handler keeps the queue busy until @go
 * @p: the other callout
 * @begun: the handler of @first has begun
 * @go: the handler of @first may return
 * @done: the handler of @first is about to return
 * @p_begun: the handler of @p has begun
 * @p_go: the handler of @p may return
 * @drained: the function of a drain of @first was called
 */
struct ordered {
	struct callout_work first;
	struct callout_work p;
	bool begun;
	bool go;
	bool done;
	bool p_begun;
	bool p_go;
	bool drained;
};

static void ordered_first(void *arg)
{
	struct ordered *o = arg;

	callout_test_tell(&o->begun);
	callout_test_wait_until(callout_test_told(&o->go));
	callout_test_tell(&o->done);
}

static void ordered_nothing(void *arg)
{
}

/* Create the two callouts. Return when the handler of the first callout runs. */
static struct ordered *ordered_create(struct kunit *test)
{
	struct ordered *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, o);
	callout_work_init_as(&o->first, CALLOUT_WORK_ORDERED);
	callout_work_init_as(&o->p, CALLOUT_WORK_ORDERED);
	callout_test_drains_work(test, &o->p);
	callout_test_drains_work(test, &o->first);
	callout_work_reset(&o->first, 1, ordered_first, o);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&o->begun)));
	return o;
}

static void ordered_let_go(void *arg)
{
	struct ordered *o = arg;

	callout_test_wait_until(READ_ONCE(o->first.drains));
	msleep(20);
	callout_test_tell(&o->go);
}

/*
 * A drain waits for the running handler, even if the callout was set again since, and
 * is due and queued.
 */
static void ordered_drain_finds(struct kunit *test)
{
	struct ordered *o = ordered_create(test);
	struct callout_test_thread *t;

	KUNIT_EXPECT_EQ(test, callout_work_reset(&o->first, 1, NULL, NULL), 0);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(work_pending(&o->first.work)));
	t = callout_test_thread(test, raw_smp_processor_id(), ordered_let_go, o);
	KUNIT_EXPECT_EQ(test, callout_work_drain(&o->first), 1);
	KUNIT_EXPECT_TRUE(test, callout_test_told(&o->done));
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, callout_work_stop(&o->first), -1);
}

static void ordered_barrier(void *arg)
{
	struct ordered *o = arg;

	callout_work_barrier(&o->p);
}

/* A barrier does not wait for a callout that is due, nor for callouts queued before it. */
static void ordered_barrier_passes_queued(struct kunit *test)
{
	struct ordered *o = ordered_create(test);
	struct callout_test_thread *t;

	callout_work_reset(&o->p, 1, ordered_nothing, o);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(work_pending(&o->p.work)));
	t = callout_test_thread(test, raw_smp_processor_id(), ordered_barrier, o);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, work_pending(&o->p.work));
	KUNIT_EXPECT_EQ(test, callout_work_drain(&o->p), 1);
	callout_test_tell(&o->go);
}

static void ordered_second(void *arg)
{
	struct ordered *o = arg;

	callout_test_tell(&o->p_begun);
	callout_test_wait_until(callout_test_told(&o->p_go));
}

static void ordered_drained(void *arg)
{
	struct ordered *o = arg;

	callout_test_tell(&o->drained);
}

/*
 * An asynchronous drain is not over before its function has been called, although the
 * handler has returned: here it waits for its turn behind another handler.
 */
static void ordered_async_drain_waits(struct kunit *test)
{
	struct ordered *o = ordered_create(test);

	callout_work_reset(&o->p, 1, ordered_second, o);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(work_pending(&o->p.work)));
	KUNIT_EXPECT_EQ(test, callout_work_async_drain(&o->first, ordered_drained), 0);
	callout_test_tell(&o->go);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&o->p_begun)));
	KUNIT_EXPECT_EQ(test, callout_work_async_drain(&o->first, ordered_nothing), 0);
	callout_test_tell(&o->p_go);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&o->drained)));
}

static struct kunit_case ordered_cases[] = {
	KUNIT_CASE(ordered_drain_finds),
	KUNIT_CASE(ordered_barrier_passes_queued),
	KUNIT_CASE(ordered_async_drain_waits),
	{}
};

static struct kunit_suite ordered_suite = {
	.name = "callout_ordered",
	.test_cases = ordered_cases,
};

kunit_test_suite(ordered_suite);
