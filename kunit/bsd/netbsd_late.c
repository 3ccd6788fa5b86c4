// SPDX-License-Identifier: GPL-2.0
/*
 * netbsd_late.c - suite callout_nb_late: callouts stopped or set too late
 *
 * The core has taken one of NetBSD's callouts, and its handler has not started.
 */
#include "lib/virtual.h"
/* Some names below are also names of the header's macros. */
#define CALLOUT_BSD_NO_TICKS
#include <bsd/netbsd/sys/callout.h>

#define DISTANCE	5

/**
 * struct late - a callout that the core has taken
 * @c: the callout
 * @v: the callout's base
 * @thread: the thread that expires it
 * @due: the function that the core calls when the callout is due, except in the
 *	test
 * @expire: @thread must begin
 * @taken: the core has taken the callout, and waits for @go
 * @go: the core may continue
 * @runs: how often the handler has begun
 * @other_runs: how often another handler has begun
 * @pending: return value of callout_pending() in the handler
 * @invoking: return value of callout_invoking() in the handler
 */
struct late {
	callout_t c;
	struct callout_virtual *v;
	struct callout_test_thread *thread;
	callout_func_t *due;
	bool expire;
	bool taken;
	bool go;
	unsigned int runs;
	unsigned int other_runs;
	bool pending;
	bool invoking;
};

static void late_handler(void *arg)
{
	struct late *l = arg;

	l->pending = callout_pending(&l->c);
	l->invoking = callout_invoking(&l->c);
	callout_ack(&l->c);
	l->runs++;
}

static void late_other(void *arg)
{
	struct late *l = arg;

	l->other_runs++;
}

static void late_due(void *arg)
{
	struct late *l = container_of(arg, struct late, c.w);

	callout_test_tell(&l->taken);
	callout_test_spin_until(callout_test_told(&l->go));
	l->due(arg);
}

static void late_expire(void *arg)
{
	struct late *l = arg;

	callout_test_wait_until(callout_test_told(&l->expire));
	callout_virtual_expire(l->v);
}

/*
 * Set a callout, which has run here before if @ran, let another CPU take it, and stop
 * that CPU short of the handler.
 */
static struct late *late_take(struct kunit *test, bool ran)
{
	unsigned int other = callout_test_pin_one(test);
	struct late *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->v = test->priv;
	callout_init(&l->c, CALLOUT_MPSAFE);
	callout_setfunc(&l->c, late_handler, l);
	l->c.bound = true;
	l->c.w.cpu = CALLOUT_WORK_STAY;
	l->c.w.c.node.cpu = CALLOUT_VIRTUAL;
	callout_test_drains_work(test, &l->c.w);
	if (ran) {
		callout_schedule(&l->c, 1);
		callout_virtual_run_to(l->v, l->v->now + 1);
	}
	callout_schedule(&l->c, 1);
	l->due = l->c.w.c.func;
	l->c.w.c.func = late_due;
	l->v->now++;
	l->thread = callout_test_thread(test, other, late_expire, l);
	callout_test_tell(&l->expire);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&l->taken)));
	return l;
}

static void late_go(struct kunit *test, struct late *l)
{
	callout_test_tell(&l->go);
	KUNIT_ASSERT_TRUE(test, callout_test_join(l->thread));
}

/*
 * A callout stopped at that point has expired and is invoking, and the handler
 * runs. So code that has stopped a callout that is not invoking may free it.
 */
static void late_stop(struct kunit *test)
{
	struct late *l = late_take(test, false);

	KUNIT_EXPECT_TRUE(test, callout_stop(&l->c));
	KUNIT_EXPECT_TRUE(test, callout_invoking(&l->c));
	KUNIT_EXPECT_FALSE(test, callout_active(&l->c));
	KUNIT_EXPECT_FALSE(test, callout_stop(&l->c));
	KUNIT_EXPECT_EQ(test, l->runs, 0);
	late_go(test, l);
	KUNIT_EXPECT_EQ(test, l->runs, 1);
	KUNIT_EXPECT_TRUE(test, l->invoking);
	KUNIT_EXPECT_FALSE(test, l->pending);
	KUNIT_EXPECT_FALSE(test, callout_invoking(&l->c));
	callout_schedule(&l->c, DISTANCE);
	callout_virtual_run_to(l->v, l->v->now + DISTANCE);
	KUNIT_EXPECT_EQ(test, l->runs, 2);
	callout_halt(&l->c, NULL);
}

/* A callout set again at that point, with another handler, runs the handler of each setting. */
static void late_set(struct kunit *test)
{
	struct late *l = late_take(test, false);

	callout_reset(&l->c, DISTANCE, late_other, l);
	KUNIT_EXPECT_FALSE(test, callout_invoking(&l->c));
	KUNIT_EXPECT_TRUE(test, callout_pending(&l->c));
	late_go(test, l);
	KUNIT_EXPECT_EQ(test, l->runs, 1);
	KUNIT_EXPECT_EQ(test, l->other_runs, 0);
	KUNIT_EXPECT_TRUE(test, l->pending);
	callout_virtual_run_to(l->v, l->v->now + DISTANCE);
	KUNIT_EXPECT_EQ(test, l->runs, 1);
	KUNIT_EXPECT_EQ(test, l->other_runs, 1);
	KUNIT_EXPECT_TRUE(test, callout_expired(&l->c));
	callout_halt(&l->c, NULL);
}

static void late_halt_go(void *arg)
{
	struct late *l = arg;

	/* The halt waits. */
	callout_test_wait_until(!READ_ONCE(l->c.w.state) &&
				READ_ONCE(l->c.w.drains));
	callout_test_tell(&l->go);
}

/* Halting a callout at that point waits for the handler, whoever ran it before. */
static void late_halt(struct kunit *test)
{
	struct late *l = late_take(test, true);
	struct callout_test_thread *t;

	t = callout_test_thread(test, raw_smp_processor_id(), late_halt_go, l);
	KUNIT_EXPECT_TRUE(test, callout_halt(&l->c, NULL));
	KUNIT_EXPECT_EQ(test, l->runs, 2);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, callout_test_join(l->thread));
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE(late_stop),
	KUNIT_CASE(late_set),
	KUNIT_CASE(late_halt),
	{}
};

static struct kunit_suite late_suite = {
	.name = "callout_nb_late",
	.init = callout_virtual_init,
	.test_cases = late_cases,
};

kunit_test_suite(late_suite);
