// SPDX-License-Identifier: GPL-2.0
/*
 * dragonfly.c - suite callout_dfly: what DragonFly's callout(9) promises
 */
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "lib/virtual.h"
/* Some names below are also names of the header's macros. */
#define CALLOUT_BSD_NO_TICKS
#include <bsd/dragonfly/sys/callout.h>

#define DISTANCE	5

/**
 * struct df - a callout and what its handler has seen
 * @c: the callout
 * @v: the callout's base
 * @lock: the callout's lock, in some cases
 * @go: the handler may return
 * @waits: the handler waits for @go
 * @again: the handler sets the callout again
 * @stops: the call by which the handler stops the callout
 * @stopped: the return value of @stops
 * @in_task: the handler ran in process context
 * @locked: @lock was held while the handler ran
 * @pending: return value of callout_pending() in the handler
 * @active: return value of callout_active() in the handler
 * @cpu: the CPU on which the handler ran
 * @begun: how often the handler has begun
 * @done: how often the handler has ended
 */
struct df {
	struct callout c;
	struct callout_virtual *v;
	struct mutex lock;	/* see above */
	bool go;
	bool waits;
	bool again;
	int (*stops)(struct callout *c);
	int stopped;
	bool in_task;
	bool locked;
	int pending;
	int active;
	unsigned int cpu;
	unsigned int begun;
	unsigned int done;
};

static void df_handler(void *arg)
{
	struct df *d = arg;

	d->cpu = raw_smp_processor_id();
	d->in_task = !in_interrupt();
	d->locked = mutex_is_locked(&d->lock);
	d->pending = callout_pending(&d->c);
	d->active = callout_active(&d->c);
	if (d->again)
		callout_reset(&d->c, 1, df_handler, d);
	if (d->stops)
		d->stopped = d->stops(&d->c);
	callout_test_count(&d->begun);
	if (d->waits)
		callout_test_wait_until(callout_test_told(&d->go));
	callout_test_count(&d->done);
}

static struct df *df_real(struct kunit *test)
{
	struct df *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, d);
	d->v = test->priv;
	mutex_init(&d->lock);
	callout_init_mp(&d->c);
	callout_test_drains_work(test, &d->c.w);
	return d;
}

static void df_to_virtual(struct df *d)
{
	d->c.w.cpu = CALLOUT_WORK_STAY;
	d->c.w.c.node.cpu = CALLOUT_VIRTUAL;
}

/* Create a callout on the base whose time the case sets. */
static struct df *df_virtual(struct kunit *test)
{
	struct df *d = df_real(test);

	df_to_virtual(d);
	return d;
}

static void df_set(struct df *d)
{
	callout_reset(&d->c, DISTANCE, df_handler, d);
}

/* Let the callout become due. */
static void df_pass(struct df *d)
{
	callout_virtual_run_to(d->v, d->v->now + DISTANCE);
}

/* Set the callout, and wait until the handler has begun once more. */
static void df_run(struct kunit *test, struct df *d)
{
	unsigned int begun = READ_ONCE(d->begun);

	df_set(d);
	df_pass(d);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(callout_test_counted(&d->begun) >
							begun));
}

static void df_tell_later(void *arg)
{
	struct df *d = arg;

	usleep_range(2000, 3000);
	callout_test_tell(&d->go);
}

static int (* const stops[])(struct callout *c) = {
	callout_stop_async, callout_stop, callout_stop_sync, callout_cancel,
	callout_drain,
};

/*
 * Each call that stops returns 1 if it has removed the callout, and 0 if the
 * callout was not set or has run. Only the asynchronous call returns before the
 * handler does.
 */
static void dragonfly_returns(struct kunit *test)
{
	struct callout_test_thread *t;
	struct df *d = df_virtual(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		d->waits = false;
		KUNIT_EXPECT_EQ(test, stops[i](&d->c), 0);
		df_set(d);
		KUNIT_EXPECT_EQ(test, stops[i](&d->c), 1);
		KUNIT_EXPECT_EQ(test, stops[i](&d->c), 0);
		df_pass(d);
		d->go = false;
		d->waits = true;
		df_run(test, d);
		df_set(d);
		t = callout_test_thread(test, raw_smp_processor_id(),
					df_tell_later, d);
		KUNIT_EXPECT_EQ(test, stops[i](&d->c), 1);
		if (i)
			KUNIT_EXPECT_EQ(test, d->done, d->begun);
		KUNIT_EXPECT_TRUE(test, callout_test_join(t));
		KUNIT_EXPECT_EQ(test, callout_cancel(&d->c), 0);
		KUNIT_EXPECT_EQ(test, d->done, i + 1);
	}
	callout_terminate(&d->c);
}

/*
 * Called by the callout's own handler, none of these calls waits, and all drop the
 * handler's setting.
 */
static void dragonfly_stop_own(struct kunit *test)
{
	struct df *d = df_virtual(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		d->stops = stops[i];
		d->again = true;
		df_run(test, d);
		callout_cancel(&d->c);
		KUNIT_EXPECT_EQ(test, d->stopped, 1);
		KUNIT_EXPECT_EQ(test, callout_pending(&d->c), 0);
		d->again = false;
		df_run(test, d);
		callout_cancel(&d->c);
		KUNIT_EXPECT_EQ(test, d->stopped, 0);
		KUNIT_EXPECT_EQ(test, d->done, 2 * (i + 1));
	}
	callout_terminate(&d->c);
}

/*
 * A callout is active from when it is set until it is stopped or deactivated, even
 * after its handler has run. The handler may sleep, and the callout is not pending
 * then.
 */
static void dragonfly_states(struct kunit *test)
{
	struct df *d = df_virtual(test);

	KUNIT_EXPECT_EQ(test, callout_active(&d->c), 0);
	df_set(d);
	KUNIT_EXPECT_EQ(test, callout_active(&d->c), 1);
	KUNIT_EXPECT_EQ(test, callout_pending(&d->c), 1);
	callout_stop(&d->c);
	KUNIT_EXPECT_EQ(test, callout_active(&d->c), 0);
	KUNIT_EXPECT_EQ(test, callout_pending(&d->c), 0);
	df_run(test, d);
	KUNIT_EXPECT_TRUE(test, d->in_task);
	KUNIT_EXPECT_EQ(test, d->pending, 0);
	KUNIT_EXPECT_EQ(test, d->active, 1);
	KUNIT_EXPECT_EQ(test, callout_active(&d->c), 1);
	callout_deactivate(&d->c);
	KUNIT_EXPECT_EQ(test, callout_active(&d->c), 0);
	/* A deactivation also removes the callout. */
	df_set(d);
	callout_deactivate(&d->c);
	KUNIT_EXPECT_EQ(test, callout_pending(&d->c), 0);
	df_pass(d);
	callout_terminate(&d->c);
	KUNIT_EXPECT_EQ(test, d->begun, 1);
	KUNIT_EXPECT_EQ(test, callout_active(&d->c), 0);
}

/* The handler runs with the lock held. */
static void dragonfly_lock(struct kunit *test)
{
	struct df *d = df_real(test);

	callout_init_lk(&d->c, &d->lock);
	df_to_virtual(d);
	df_run(test, d);
	KUNIT_EXPECT_TRUE(test, d->locked);
	callout_drain(&d->c);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&d->lock));
	callout_init_mp(&d->c);
	df_to_virtual(d);
	df_run(test, d);
	KUNIT_EXPECT_FALSE(test, d->locked);
	callout_terminate(&d->c);
}

/*
 * A callout that is due while its lock is held does not run before the lock is
 * released. Stopped under the lock, it does not run at all. Each of the calls can
 * be made under the lock.
 */
static void dragonfly_stop_locked(struct kunit *test)
{
	struct df *d = df_real(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		callout_init_lk(&d->c, &d->lock);
		df_to_virtual(d);
		mutex_lock(&d->lock);
		df_set(d);
		df_pass(d);
		/* The thread has found the lock held, once or twice. */
		usleep_range(1000, 2000);
		callout_virtual_run_to(d->v, d->v->now + 1);
		usleep_range(1000, 2000);
		KUNIT_EXPECT_EQ(test, callout_pending(&d->c), 1);
		KUNIT_EXPECT_EQ(test, stops[i](&d->c), 1);
		mutex_unlock(&d->lock);
		callout_virtual_run_to(d->v, d->v->now + DISTANCE);
		callout_terminate(&d->c);
		KUNIT_EXPECT_EQ(test, d->begun, 0);
	}
	callout_init_lk(&d->c, &d->lock);
	df_to_virtual(d);
	mutex_lock(&d->lock);
	df_set(d);
	df_pass(d);
	usleep_range(1000, 2000);
	mutex_unlock(&d->lock);
	for (i = 0; i < 1000 && !callout_test_counted(&d->done); i++) {
		callout_virtual_run_to(d->v, d->v->now + 1);
		usleep_range(1000, 2000);
	}
	callout_terminate(&d->c);
	KUNIT_EXPECT_EQ(test, d->done, 1);
}

#define FREE_ROUNDS	100

/* Once a callout was terminated under its lock, callout and lock may be freed. */
static void dragonfly_terminate_locked(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct rnd_state rng;
	struct df *d;

	callout_test_rng(test, &rng);
	for (i = 0; i < FREE_ROUNDS; i++) {
		d = kzalloc(sizeof(*d), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, d);
		mutex_init(&d->lock);
		callout_init_lk(&d->c, &d->lock);
		mutex_lock(&d->lock);
		callout_reset_bycpu(&d->c, 1, df_handler, d, other);
		usleep_range(100, 100 + callout_test_below(&rng, 10000));
		callout_terminate(&d->c);
		mutex_unlock(&d->lock);
		KUNIT_EXPECT_EQ(test, d->begun, 0);
		kfree(d);
	}
}

/* A cancel drops settings made by the handler or others during the cancel; a stop does not. */
static void dragonfly_cancel_overrides(struct kunit *test)
{
	struct callout_test_thread *t;
	struct df *d = df_virtual(test);

	d->waits = true;
	df_run(test, d);
	t = callout_test_thread(test, raw_smp_processor_id(), df_tell_later, d);
	callout_cancel(&d->c);
	KUNIT_EXPECT_EQ(test, d->done, 1);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	d->waits = false;
	d->again = true;
	df_run(test, d);
	KUNIT_EXPECT_EQ(test, callout_cancel(&d->c), 1);
	KUNIT_EXPECT_EQ(test, callout_pending(&d->c), 0);
	callout_virtual_run_to(d->v, d->v->now + DISTANCE);
	KUNIT_EXPECT_EQ(test, callout_cancel(&d->c), 0);
	KUNIT_EXPECT_EQ(test, d->done, 2);
	callout_terminate(&d->c);
}

static void df_cancel(void *arg)
{
	struct df *d = arg;

	callout_cancel(&d->c);
}

/* A setting dropped because a cancel waits does not make the callout active. */
static void dragonfly_refused(struct kunit *test)
{
	struct callout_test_thread *t;
	struct df *d = df_virtual(test);

	d->waits = true;
	df_run(test, d);
	t = callout_test_thread(test, raw_smp_processor_id(), df_cancel, d);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(d->c.w.drains)));
	df_set(d);
	KUNIT_EXPECT_EQ(test, callout_pending(&d->c), 0);
	KUNIT_EXPECT_EQ(test, callout_active(&d->c), 0);
	callout_test_tell(&d->go);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, callout_active(&d->c), 0);
	callout_terminate(&d->c);
}

/*
 * From callout_terminate() on no call sets the callout, not even a call that has
 * checked before whether it was terminated.
 */
static void dragonfly_terminate_refuses(struct kunit *test)
{
	struct df *d = df_virtual(test);

	df_set(d);
	callout_terminate(&d->c);
	KUNIT_ASSERT_EQ(test, callout_work_reset(&d->c.w, DISTANCE, df_handler,
						 d), -1);
	KUNIT_EXPECT_EQ(test, callout_pending(&d->c), 0);
	callout_init_mp(&d->c);
	df_to_virtual(d);
	df_run(test, d);
	callout_terminate(&d->c);
	KUNIT_EXPECT_EQ(test, d->done, 1);
}

/* A reset is for the current CPU, a reset_bycpu for the given CPU. */
static void dragonfly_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	unsigned int this = raw_smp_processor_id();
	struct df *d = df_real(test);

	if (co_base(this) == co_base(other))
		kunit_skip(test, "needs a base for each CPU");
	callout_reset_bycpu(&d->c, 1, df_handler, d, other);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(d->done) == 1));
	KUNIT_EXPECT_EQ(test, d->cpu, other);
	callout_reset(&d->c, 1, df_handler, d);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(d->done) == 2));
	KUNIT_EXPECT_EQ(test, d->cpu, this);
	callout_terminate(&d->c);
}

/**
 * struct df_pair - two callouts that are not MP safe
 * @c: the callouts
 * @inside: number of running handlers
 * @most: most handlers running at one time
 * @runs: number of runs
 */
struct df_pair {
	struct callout c[2];
	atomic_t inside;
	int most;
	atomic_t runs;
};

static void pair_handler(void *arg)
{
	struct df_pair *p = arg;

	p->most = max(p->most, atomic_inc_return(&p->inside));
	usleep_range(500, 1000);
	atomic_dec(&p->inside);
	atomic_inc(&p->runs);
}

/* After callout_init() no two handlers run concurrently. */
static void dragonfly_mplock(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, k;
	struct df_pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (k = 0; k < 2; k++) {
		callout_init(&p->c[k]);
		callout_test_drains_work(test, &p->c[k].w);
	}
	for (i = 0; i < 30; i++) {
		callout_reset(&p->c[0], 1, pair_handler, p);
		callout_reset_bycpu(&p->c[1], 1, pair_handler, p, other);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(atomic_read(&p->runs) ==
							  2 * (i + 1)));
	}
	KUNIT_EXPECT_EQ(test, p->most, 1);
	for (k = 0; k < 2; k++)
		callout_terminate(&p->c[k]);
}

/* Function and argument can be read, and the argument changed. */
static void dragonfly_arg(struct kunit *test)
{
	struct df *d = df_virtual(test);

	callout_reset(&d->c, DISTANCE, df_handler, NULL);
	KUNIT_EXPECT_PTR_EQ(test, callout_func(&d->c), &df_handler);
	KUNIT_EXPECT_NULL(test, callout_arg(&d->c));
	callout_set_arg(&d->c, d);
	df_pass(d);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(d->done) == 1));
	callout_terminate(&d->c);
}

static struct kunit_case dragonfly_cases[] = {
	KUNIT_CASE(dragonfly_returns),
	KUNIT_CASE(dragonfly_stop_own),
	KUNIT_CASE(dragonfly_states),
	KUNIT_CASE(dragonfly_lock),
	KUNIT_CASE(dragonfly_stop_locked),
	KUNIT_CASE_SLOW(dragonfly_terminate_locked),
	KUNIT_CASE(dragonfly_cancel_overrides),
	KUNIT_CASE(dragonfly_refused),
	KUNIT_CASE(dragonfly_terminate_refuses),
	KUNIT_CASE(dragonfly_cpu),
	KUNIT_CASE(dragonfly_mplock),
	KUNIT_CASE(dragonfly_arg),
	{}
};

static struct kunit_suite dragonfly_suite = {
	.name = "callout_dfly",
	.init = callout_virtual_init,
	.test_cases = dragonfly_cases,
};

kunit_test_suite(dragonfly_suite);
