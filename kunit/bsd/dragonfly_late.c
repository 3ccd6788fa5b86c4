// SPDX-License-Identifier: GPL-2.0
/*
 * dragonfly_late.c - suite callout_df_late: callouts ended by their own handler
 *
 * These are DragonFly's callouts that their handler has set again, or initialised.
 */
#include <linux/delay.h>
#include <linux/workqueue.h>
#include "lib/virtual.h"
/* Some names below are also names of the header's macros. */
#define CALLOUT_BSD_NO_TICKS
#include <bsd/dragonfly/sys/callout.h>

#define DISTANCE	5

/**
 * struct df_late - a callout that its handler ends
 * @c: the callout
 * @v: the callout's base
 * @due: the function that the core calls when the callout is due, except in the
 *	test
 * @other: another CPU
 * @expire: the base must expire it, on @other
 * @ready: the handler may begin its work
 * @taken: the core has taken the second setting, and waits for @go
 * @go: the core may continue
 * @over: the call of the handler has returned
 * @begun: the handler of the second callout, or setting, has begun
 * @done: the handler of the second callout is about to return
 * @waited: @done, after the call of the first handler
 */
struct df_late {
	struct callout c;
	struct callout_virtual *v;
	callout_func_t *due;
	unsigned int other;
	bool expire;
	bool ready;
	bool taken;
	bool go;
	bool over;
	bool begun;
	bool done;
	bool waited;
};

static struct df_late *df_late_create(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct df_late *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->v = test->priv;
	l->other = other;
	callout_init_mp(&l->c);
	callout_test_drains_work(test, &l->c.w);
	return l;
}

static void df_late_due(void *arg)
{
	struct df_late *l = container_of(arg, struct df_late, c.w);

	callout_test_tell(&l->taken);
	callout_test_spin_until(callout_test_told(&l->go));
	l->due(arg);
}

static void df_late_expire(void *arg)
{
	struct df_late *l = arg;

	callout_test_wait_until(callout_test_told(&l->expire));
	callout_virtual_run_to(l->v, l->v->now + DISTANCE);
}

/* Put the callout in the virtual base. Return a thread that expires it on another CPU. */
static struct callout_test_thread *df_late_prepare(struct kunit *test, struct df_late *l)
{
	l->c.w.cpu = CALLOUT_WORK_STAY;
	l->c.w.c.node.cpu = CALLOUT_VIRTUAL;
	return callout_test_thread(test, l->other, df_late_expire, l);
}

/* Set the callout, and let that thread take it. Return whether it has. */
static bool df_late_take(struct df_late *l, void (*handler)(void *arg))
{
	callout_reset(&l->c, DISTANCE, handler, l);
	l->due = l->c.w.c.func;
	l->c.w.c.func = df_late_due;
	callout_test_tell(&l->expire);
	return callout_test_wait_until(callout_test_told(&l->taken));
}

static void df_late_handler(void *arg)
{
	struct df_late *l = arg;

	callout_test_wait_until(callout_test_told(&l->ready));
	df_late_take(l, df_late_handler);
	callout_terminate(&l->c);
	callout_test_tell(&l->over);
}

/*
 * After callout_terminate() in the handler the core does not use the callout, even
 * if it had just taken another setting. So the handler may free the callout.
 */
static void df_late_terminate(struct kunit *test)
{
	struct df_late *l = df_late_create(test);
	struct callout_test_thread *t = df_late_prepare(test, l);

	callout_reset(&l->c, DISTANCE, df_late_handler, l);
	callout_virtual_run_to(l->v, l->v->now + DISTANCE);
	callout_test_tell(&l->ready);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&l->taken)));
	/*
	 * A handler spins at this time, so don't sleep on a timer_list: see
	 * callout_test_wait_until().
	 */
	usleep_range(20000, 21000);
	KUNIT_EXPECT_FALSE(test, callout_test_told(&l->over));
	callout_test_tell(&l->go);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&l->over)));
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	flush_work(&l->c.w.work);
}

static void df_late_second(void *arg)
{
	struct df_late *l = arg;

	callout_test_tell(&l->begun);
	msleep(20);
	callout_test_tell(&l->done);
}

static void df_late_first(void *arg)
{
	struct df_late *l = arg;

	callout_terminate(&l->c);
	callout_init_mp(&l->c);
	callout_reset_bycpu(&l->c, 1, df_late_second, l, l->other);
	callout_test_wait_until(callout_test_told(&l->begun));
	callout_cancel(&l->c);
	l->waited = callout_test_told(&l->done);
	callout_test_tell(&l->over);
}

/*
 * A handler that has ended its callout waits for the handler of another callout in
 * the same memory.
 */
static void df_late_recycled(struct kunit *test)
{
	struct df_late *l = df_late_create(test);

	if (co_base(raw_smp_processor_id()) == co_base(l->other))
		kunit_skip(test, "needs a base for each CPU");
	callout_reset(&l->c, 1, df_late_first, l);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&l->over)));
	KUNIT_EXPECT_TRUE(test, l->begun);
	KUNIT_EXPECT_TRUE(test, l->waited);
	callout_terminate(&l->c);
}

static void df_late_count(void *arg)
{
	struct df_late *l = arg;

	callout_test_tell(&l->begun);
}

/*
 * A callout that the core had just taken runs at its new time only.
 *
 *	CPU0				CPU1: expiry
 *					takes c, calls its function
 *	callout_reset(c, 5)
 *					c is pending: no handler is queued
 */
static void df_late_reset(struct kunit *test)
{
	struct df_late *l = df_late_create(test);
	struct callout_test_thread *t = df_late_prepare(test, l);

	KUNIT_EXPECT_TRUE(test, df_late_take(l, df_late_count));
	callout_reset(&l->c, DISTANCE, df_late_count, l);
	callout_test_tell(&l->go);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	flush_work(&l->c.w.work);
	KUNIT_EXPECT_FALSE(test, callout_test_told(&l->begun));
	callout_virtual_run_to(l->v, l->v->now + DISTANCE);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&l->begun)));
	callout_terminate(&l->c);
}

static struct kunit_case df_late_cases[] = {
	KUNIT_CASE(df_late_terminate),
	KUNIT_CASE(df_late_reset),
	KUNIT_CASE(df_late_recycled),
	{}
};

static struct kunit_suite df_late_suite = {
	.name = "callout_df_late",
	.init = callout_virtual_init,
	.test_cases = df_late_cases,
};

kunit_test_suite(df_late_suite);
