// SPDX-License-Identifier: GPL-2.0
/*
 * ordered.c - suite callout_ordered: callouts whose handlers run one after the
 * other, and of which the work queue does not know that they run
 */
#include <linux/callout_work.h>
#include <linux/delay.h>
#include <linux/workqueue.h>
#include "common.h"

/**
 * struct elsewhere - an ordered callout that the work queue does not know to run
 * @first: keeps the queue busy, so that @p is due, and queued
 * @p: the callout
 * @go: the handler of @first may return
 * @begun: the handler of @p has begun
 * @done: it has returned, all but
 */
struct elsewhere {
	struct callout_work first;
	struct callout_work p;
	bool go;
	bool begun;
	bool done;
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

/*
 * A drain waits for a handler in the ordered queue that flush_work() does not find.
 * It would not in another pool, where wq_unbound_cpumask takes the queue; here the
 * case's thread does the work.
 */
static void ordered_drain_finds(struct kunit *test)
{
	struct elsewhere *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct callout_test_thread *t;

	KUNIT_ASSERT_NOT_NULL(test, e);
	callout_work_init_as(&e->first, CALLOUT_WORK_ORDERED);
	callout_work_init_as(&e->p, CALLOUT_WORK_ORDERED);
	callout_work_reset(&e->first, 1, elsewhere_first, e);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(!callout_work_pending(&e->first)));
	callout_work_reset(&e->p, 1, elsewhere_handler, e);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(work_pending(&e->p.work)));
	t = callout_test_thread(test, raw_smp_processor_id(), elsewhere_run, e);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&e->begun)));
	KUNIT_EXPECT_EQ(test, callout_work_drain(&e->p), 0);
	KUNIT_EXPECT_TRUE(test, callout_test_told(&e->done));
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	callout_test_tell(&e->go);
	callout_work_drain(&e->first);
}

static struct kunit_case ordered_cases[] = {
	KUNIT_CASE(ordered_drain_finds),
	{}
};

static struct kunit_suite ordered_suite = {
	.name = "callout_ordered",
	.test_cases = ordered_cases,
};

kunit_test_suite(ordered_suite);
