// SPDX-License-Identifier: GPL-2.0
/*
 * ordered.c - suite callout_ordered: callouts whose handlers run one after the
 * other, and of which the work queue does not know that they run, or are about to
 *
 * It would not in another pool, where wq_unbound_cpumask takes the queue. Here the
 * case takes the work item from its queue, as a worker does, and a thread of the
 * case runs it.
 */
#include <linux/callout_work.h>
#include <linux/delay.h>
#include <linux/workqueue.h>
#include "lib/common.h"

/**
 * struct elsewhere - an ordered callout that the work queue does not know to run
 * @first: keeps the queue busy, so that @p is due, and queued
 * @p: the callout
 * @go: the handler of @first may return
 * @late: @p is about to be run
 * @begun: the handler of @p has begun
 * @done: it has returned, all but
 * @drained: times that an asynchronous drain was over
 */
struct elsewhere {
	struct callout_work first;
	struct callout_work p;
	bool go;
	bool late;
	bool begun;
	bool done;
	unsigned int drained;
};

static void elsewhere_first(void *arg)
{
	struct elsewhere *e = arg;

	callout_test_wait_until(callout_test_told(&e->go));
}

static void elsewhere_handler(void *arg)
{
	struct elsewhere *e = arg;

	callout_test_tell(&e->begun);
	callout_test_wait_until(READ_ONCE(e->p.drains));
	msleep(20);
	callout_test_tell(&e->done);
}

static void elsewhere_run(void *arg)
{
	struct elsewhere *e = arg;

	callout_work_run(&e->p.work);
}

/* Likewise, if the worker was preempted before, until @p had been stopped. */
static void elsewhere_run_late(void *arg)
{
	struct elsewhere *e = arg;

	callout_test_wait_until(!callout_work_pending(&e->p));
	msleep(50);
	callout_test_tell(&e->late);
	callout_work_run(&e->p.work);
}

static void elsewhere_drained(void *arg)
{
	struct elsewhere *e = arg;

	WRITE_ONCE(e->drained, e->drained + 1);
}

/* @p is due, and queued behind @first, whose handler runs. */
static struct elsewhere *elsewhere_queue(struct kunit *test)
{
	struct elsewhere *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	callout_work_init_as(&e->first, CALLOUT_WORK_ORDERED);
	callout_work_init_as(&e->p, CALLOUT_WORK_ORDERED);
	callout_work_reset(&e->first, 1, elsewhere_first, e);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(!callout_work_pending(&e->first)));
	callout_work_reset(&e->p, 1, elsewhere_handler, e);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(work_pending(&e->p.work)));
	return e;
}

/* @p is due, and a worker has taken its work item. */
static struct elsewhere *elsewhere_take(struct kunit *test)
{
	struct elsewhere *e = elsewhere_queue(test);

	KUNIT_EXPECT_TRUE(test, cancel_work(&e->p.work));
	return e;
}

/* Such as that worker. */
static struct callout_test_thread *
elsewhere_thread(struct kunit *test, struct elsewhere *e, void (*fn)(void *))
{
	return callout_test_thread(test, raw_smp_processor_id(), fn, e);
}

static void elsewhere_end_first(struct elsewhere *e)
{
	callout_test_tell(&e->go);
	callout_work_drain(&e->first);
}

static void elsewhere_end(struct kunit *test, struct elsewhere *e,
			  struct callout_test_thread *t)
{
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_FALSE(test, work_pending(&e->p.work));
	KUNIT_EXPECT_EQ(test, callout_work_drain(&e->p), -1);
	elsewhere_end_first(e);
}

/* The worker runs the handler, and a drain waits for that. */
static void elsewhere_runs(struct kunit *test, struct elsewhere *e)
{
	struct callout_test_thread *t = elsewhere_thread(test, e, elsewhere_run);

	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&e->begun)));
	KUNIT_EXPECT_EQ(test, callout_work_drain(&e->p), 0);
	KUNIT_EXPECT_TRUE(test, callout_test_told(&e->done));
	elsewhere_end(test, e, t);
}

/* A drain waits for a handler in the ordered queue that flush_work() does not find. */
static void ordered_drain_finds(struct kunit *test)
{
	elsewhere_runs(test, elsewhere_take(test));
}

/*
 * A drain waits for a worker that has taken the work item and is about to run it,
 * though the setting is not due any more: the worker uses the callout.
 */
static void ordered_drain_finds_taken(struct kunit *test)
{
	struct elsewhere *e = elsewhere_take(test);
	struct callout_test_thread *t = elsewhere_thread(test, e, elsewhere_run_late);

	KUNIT_EXPECT_EQ(test, callout_work_drain(&e->p), 1);
	KUNIT_EXPECT_TRUE(test, callout_test_told(&e->late));
	KUNIT_EXPECT_FALSE(test, callout_test_told(&e->begun));
	elsewhere_end(test, e, t);
}

/* So does a barrier; before it a stop has said that the callout is in use. */
static void ordered_barrier_finds_taken(struct kunit *test)
{
	struct elsewhere *e = elsewhere_take(test);
	struct callout_test_thread *t;

	KUNIT_EXPECT_EQ(test, callout_work_stop(&e->p), 1);
	KUNIT_EXPECT_EQ(test, callout_work_stop(&e->p), 0);
	t = elsewhere_thread(test, e, elsewhere_run_late);
	callout_work_barrier(&e->p);
	KUNIT_EXPECT_TRUE(test, callout_test_told(&e->late));
	KUNIT_EXPECT_EQ(test, callout_work_stop(&e->p), -1);
	elsewhere_end(test, e, t);
}

/* An asynchronous drain is over when the worker has run. */
static void ordered_async_drain_finds_taken(struct kunit *test)
{
	struct elsewhere *e = elsewhere_take(test);
	struct callout_test_thread *t;

	KUNIT_EXPECT_EQ(test, callout_work_async_drain(&e->p, elsewhere_drained), 0);
	KUNIT_EXPECT_EQ(test, e->drained, 0);
	t = elsewhere_thread(test, e, elsewhere_run);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(e->drained)));
	elsewhere_end(test, e, t);
	KUNIT_EXPECT_EQ(test, e->drained, 1);
}

/*
 * A callout that is initialised again before the worker has begun, which must not
 * be, can still be drained.
 */
static void ordered_taken_init_again(struct kunit *test)
{
	struct elsewhere *e = elsewhere_take(test);
	struct callout_test_thread *t;

	KUNIT_EXPECT_EQ(test, callout_work_stop(&e->p), 1);
	callout_work_init_as(&e->p, CALLOUT_WORK_ORDERED);
	t = elsewhere_thread(test, e, elsewhere_run);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	elsewhere_end_first(e);
	KUNIT_ASSERT_EQ(test, callout_work_stop(&e->p), -1);
	KUNIT_EXPECT_EQ(test, callout_work_drain(&e->p), -1);
}

/* A setting that was due twice while the worker was about to run is run once. */
static void ordered_runs_taken_once(struct kunit *test)
{
	struct elsewhere *e = elsewhere_take(test);

	KUNIT_EXPECT_EQ(test, callout_work_reset(&e->p, 1, elsewhere_handler, e), 1);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(work_pending(&e->p.work)));
	elsewhere_runs(test, e);
}

static void elsewhere_barrier(void *arg)
{
	struct elsewhere *e = arg;

	callout_work_barrier(&e->p);
}

/* A barrier does not wait for a callout that is due, nor for those before it. */
static void ordered_barrier_passes_queued(struct kunit *test)
{
	struct elsewhere *e = elsewhere_queue(test);
	struct callout_test_thread *t;

	t = elsewhere_thread(test, e, elsewhere_barrier);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, work_pending(&e->p.work));
	KUNIT_EXPECT_EQ(test, callout_work_drain(&e->p), 1);
	elsewhere_end_first(e);
}

static struct kunit_case ordered_cases[] = {
	KUNIT_CASE(ordered_drain_finds),
	KUNIT_CASE(ordered_drain_finds_taken),
	KUNIT_CASE(ordered_barrier_finds_taken),
	KUNIT_CASE(ordered_async_drain_finds_taken),
	KUNIT_CASE(ordered_taken_init_again),
	KUNIT_CASE(ordered_runs_taken_once),
	KUNIT_CASE(ordered_barrier_passes_queued),
	{}
};

static struct kunit_suite ordered_suite = {
	.name = "callout_ordered",
	.test_cases = ordered_cases,
};

kunit_test_suite(ordered_suite);
