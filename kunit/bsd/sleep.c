// SPDX-License-Identifier: GPL-2.0
/*
 * sleep.c - suite callout_sleep: callouts whose handler may sleep, set on a CPU or
 * for a time, with a mutex, and drained asynchronously
 */
#include <linux/callout_work.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "base/base.h"
#include "lib/common.h"

/**
 * struct placed - a callout that records where and when it runs
 * @p: the callout
 * @mutex: the associated mutex, in some cases
 * @cpu: the CPU on which it ran
 * @ns: CLOCK_MONOTONIC when it ran
 * @locked: @mutex was held
 * @go: the handler may end
 * @waits: the handler waits for @go
 * @begun: how often the handler has begun
 * @done: how often the handler has ended
 * @drained: how often the drain function was called
 * @early: the drain function was called before the handler had ended
 */
struct placed {
	struct callout_work p;
	struct mutex mutex;	/* see above */
	unsigned int cpu;
	u64 ns;
	bool locked;
	bool go;
	bool waits;
	unsigned int begun;
	unsigned int done;
	unsigned int drained;
	bool early;
};

static void placed_handler(void *arg)
{
	struct placed *l = arg;

	l->cpu = raw_smp_processor_id();
	l->ns = ktime_get_ns();
	l->locked = mutex_is_locked(&l->mutex);
	callout_test_count(&l->begun);
	if (l->waits)
		callout_test_wait_until(callout_test_told(&l->go));
	callout_test_count(&l->done);
}

static void placed_drained(void *arg)
{
	struct placed *l = arg;

	l->early |= l->done != l->begun || callout_work_pending(&l->p);
	callout_test_count(&l->drained);
}

static struct placed *placed_new(struct kunit *test)
{
	struct placed *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	mutex_init(&l->mutex);
	callout_work_init(&l->p);
	callout_test_drains_work(test, &l->p);
	return l;
}

/* A handler that sleeps does not delay another one of its CPU. */
static void sleep_beside_another(struct kunit *test)
{
	struct placed *a = placed_new(test), *b = placed_new(test);

	callout_test_pin(test, raw_smp_processor_id());
	a->waits = true;
	callout_work_reset(&a->p, 1, placed_handler, a);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_test_counted(&a->begun)));
	callout_work_reset(&b->p, 1, placed_handler, b);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_test_counted(&b->done)));
	KUNIT_EXPECT_EQ(test, callout_test_counted(&a->done), 0);
	callout_test_tell(&a->go);
}

/* The handler runs on the requested CPU. */
static void sleep_on(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	unsigned int this = raw_smp_processor_id();
	struct placed *l = placed_new(test);

	if (co_base(this) == co_base(other))
		kunit_skip(test, "needs a base for each CPU");
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, callout_work_reset_on(&l->p, 1000000,
							    placed_handler, l,
							    i % 2 ? other : this),
				0);
		KUNIT_EXPECT_EQ(test, callout_work_reset_on(&l->p, 1, NULL, NULL,
							    i % 2 ? this : other),
				1);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(READ_ONCE(l->done) ==
							  i + 1));
		/* The thread may still be in the handler: see sleep_on_busy(). */
		callout_work_drain(&l->p);
		KUNIT_EXPECT_EQ(test, l->cpu, i % 2 ? this : other);
	}
}

/* Set @l without requesting a CPU. Its callout_work.cpu is @where, and it runs on @cpu. */
static void expect_on(struct kunit *test, struct placed *l, int where, unsigned int cpu)
{
	unsigned int runs = l->done;

	l->p.cpu = where;
	callout_work_reset(&l->p, 1, placed_handler, l);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_counted(&l->done) > runs));
	callout_work_drain(&l->p);
	KUNIT_EXPECT_EQ(test, l->cpu, cpu);
}

/*
 * If no CPU is requested, callout_work.cpu says where the handler runs: on the first
 * online CPU, or on the caller's CPU.
 */
static void sleep_on_first_or_callers(struct kunit *test)
{
	struct placed *l = placed_new(test);
	unsigned int cpu;

	callout_test_pin_one(test);
	for_each_online_cpu(cpu) {
		callout_test_pin(test, cpu);
		if (co_base(cpu)->cpu != cpu)
			kunit_skip(test, "needs a base for each CPU");
		expect_on(test, l, CALLOUT_WORK_FIRST, cpumask_first(cpu_online_mask));
		expect_on(test, l, CALLOUT_WORK_CALLER, cpu);
	}
}

/*
 * A callout due on another CPU while its handler runs is run afterwards, on the CPU
 * of that handler.
 */
static void sleep_on_busy(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	unsigned int this = raw_smp_processor_id();
	struct placed *l = placed_new(test);

	if (co_base(this) == co_base(other))
		kunit_skip(test, "needs a base for each CPU");
	l->waits = true;
	KUNIT_EXPECT_EQ(test, callout_work_reset_on(&l->p, 1, placed_handler, l,
						    this), 0);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_counted(&l->begun) ==
						  1));
	KUNIT_EXPECT_EQ(test, callout_work_reset_on(&l->p, 1, NULL, NULL, other),
			0);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(!callout_pending(&l->p.c)));
	KUNIT_EXPECT_EQ(test, l->begun, 1);
	callout_test_tell(&l->go);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_counted(&l->done) ==
						  2));
	KUNIT_EXPECT_EQ(test, l->cpu, this);
	callout_work_drain(&l->p);
}

/* A callout for a relative or absolute time is not early, and such a setting can be replaced. */
static void sleep_sbt(struct kunit *test)
{
	struct placed *l = placed_new(test);
	u64 due = ktime_get_ns() + 20 * NSEC_PER_MSEC;
	sbintime_t when, pr;

	KUNIT_EXPECT_EQ(test, callout_work_reset_sbt_on(&l->p, SBT_1M, 0,
							placed_handler, l, -1, 0),
			0);
	/* SBT_1MS is shorter than a millisecond by a part of a ns. */
	KUNIT_EXPECT_EQ(test, callout_work_reset_sbt_on(&l->p, SBT_1MS * 20 + 20,
							0, NULL, NULL, -1, 0),
			1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(l->done) == 1));
	KUNIT_EXPECT_GE(test, l->ns, due);
	callout_when(SBT_1MS * 20 + 20, 0, 0, &when, &pr);
	KUNIT_EXPECT_EQ(test, callout_work_reset_sbt_on(&l->p, when, pr, NULL,
							NULL, -1, C_PRECALC), 0);
	due = ktime_get_ns();
	KUNIT_EXPECT_EQ(test, callout_work_stop(&l->p), 1);
	KUNIT_EXPECT_EQ(test, callout_work_reset_sbt_on(&l->p, 0, 0, NULL, NULL,
							-1, C_ABSOLUTE), 0);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(l->done) == 2));
	KUNIT_EXPECT_GE(test, l->ns, due);
	callout_work_drain(&l->p);
}

/*
 * The drain function is called if and only if 0 was returned, once, and not
 * before the handler has ended. Until then nothing is set.
 */
static void sleep_async_drain(struct kunit *test)
{
	struct placed *l = placed_new(test);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, callout_work_async_drain(&l->p, placed_drained),
			-1);
	callout_work_reset(&l->p, 1000000, placed_handler, l);
	KUNIT_EXPECT_EQ(test, callout_work_async_drain(&l->p, placed_drained),
			1);
	l->waits = true;
	for (i = 1; i <= 5; i++) {
		l->go = false;
		KUNIT_EXPECT_EQ(test, callout_work_reset(&l->p, 1,
							 placed_handler, l), 0);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(callout_test_counted(&l->begun) ==
							  i));
		/* Make a second setting, which the drain removes. */
		KUNIT_EXPECT_EQ(test, callout_work_reset(&l->p, 1, NULL, NULL),
				0);
		if (i % 2)
			usleep_range(10000, 11000);
		KUNIT_EXPECT_EQ(test, callout_work_async_drain(&l->p,
							       placed_drained),
				0);
		KUNIT_EXPECT_EQ(test, callout_work_async_drain(&l->p,
							       placed_drained),
				0);
		KUNIT_EXPECT_EQ(test, callout_work_reset(&l->p, 1, NULL, NULL),
				-1);
		KUNIT_EXPECT_EQ(test, l->drained, i - 1);
		callout_test_tell(&l->go);
		/* Another drain does not cancel this one. */
		if (i > 3)
			callout_work_drain(&l->p);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(callout_test_counted(&l->drained) ==
							  i));
	}
	KUNIT_EXPECT_FALSE(test, l->early);
	callout_work_drain(&l->p);
	KUNIT_EXPECT_EQ(test, l->begun, 5);
	KUNIT_EXPECT_EQ(test, l->drained, 5);
}

static void placed_spin(void *arg)
{
	struct placed *l = arg;

	callout_test_count(&l->begun);
	callout_test_spin_until(callout_test_told(&l->go));
	callout_test_count(&l->done);
}

/* The drain function is not called while the core runs the callout's internal handler. */
static void sleep_async_drain_softirq(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct placed *l = placed_new(test);

	callout_work_init_as(&l->p, CALLOUT_WORK_SOFTIRQ);
	callout_work_reset_on(&l->p, 1, placed_spin, l, other);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_counted(&l->begun)));
	KUNIT_EXPECT_EQ(test, callout_work_async_drain(&l->p, placed_drained),
			0);
	/* Time in which a wrong core would call it too early. */
	msleep(20);
	callout_test_tell(&l->go);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_counted(&l->drained)));
	KUNIT_EXPECT_FALSE(test, l->early);
	callout_work_drain(&l->p);
}

/**
 * struct freed - a callout that its drain function frees
 * @p: the callout
 * @begun: the handler has begun
 * @freed: number of freed callouts
 */
struct freed {
	struct callout_work p;
	bool begun;
	atomic_t *freed;
};

static void freed_handler(void *arg)
{
	struct freed *f = arg;

	WRITE_ONCE(f->begun, true);
	/* Sometimes it is drained during this time, and sometimes it has been set again before. */
	ndelay(10000);
	callout_work_reset(&f->p, 1, NULL, NULL);
}

static void freed_drained(void *arg)
{
	struct freed *f = arg;

	atomic_inc(f->freed);
	kfree(f);
}

#define FREED_ROUNDS	100

/* Whatever state a callout is in: after a drain that returned 0 the drain function frees it. */
static void sleep_async_free(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, now = 0;
	struct rnd_state rng;
	struct freed *f;
	atomic_t freed;

	callout_test_rng(test, &rng);
	atomic_set(&freed, 0);
	for (i = 0; i < callout_test_rounds(FREED_ROUNDS); i++) {
		f = kzalloc(sizeof(*f), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, f);
		f->freed = &freed;
		callout_work_init(&f->p);
		callout_work_reset_on(&f->p, 1, freed_handler, f, other);
		if (i % 4)
			callout_test_spin_until(READ_ONCE(f->begun));
		ndelay(callout_test_below(&rng, 20000));
		if (callout_work_async_drain(&f->p, freed_drained)) {
			kfree(f);
			now++;
		}
	}
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&freed) + now == i));
	kunit_info(test, "%u of %u freed at once\n", now, i);
}

/*
 * The handler runs with the associated mutex held. A callout stopped under the
 * mutex does not run, and it can be drained under the mutex.
 */
static void sleep_mutex(struct kunit *test)
{
	struct placed *l = placed_new(test);
	unsigned int i;

	callout_work_init_mutex(&l->p, &l->mutex);
	callout_work_reset(&l->p, 1, placed_handler, l);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(l->done) == 1));
	KUNIT_EXPECT_TRUE(test, l->locked);
	for (i = 0; i < 20; i++) {
		mutex_lock(&l->mutex);
		callout_work_reset(&l->p, 1, placed_handler, l);
		usleep_range(i * 1000, i * 1000 + 100);
		KUNIT_EXPECT_TRUE(test, callout_work_pending(&l->p));
		if (i % 2)
			KUNIT_EXPECT_EQ(test, callout_work_stop(&l->p), 1);
		else
			KUNIT_EXPECT_EQ(test, callout_work_drain(&l->p), 1);
		mutex_unlock(&l->mutex);
	}
	callout_work_drain(&l->p);
	KUNIT_EXPECT_EQ(test, l->done, 1);
}

static struct kunit_case sleep_cases[] = {
	KUNIT_CASE(sleep_on),
	KUNIT_CASE(sleep_beside_another),
	KUNIT_CASE(sleep_on_first_or_callers),
	KUNIT_CASE(sleep_on_busy),
	KUNIT_CASE(sleep_sbt),
	KUNIT_CASE(sleep_async_drain),
	KUNIT_CASE(sleep_async_drain_softirq),
	KUNIT_CASE_SLOW(sleep_async_free),
	KUNIT_CASE(sleep_mutex),
	{}
};

static struct kunit_suite sleep_suite = {
	.name = "callout_sleep",
	.test_cases = sleep_cases,
};

kunit_test_suite(sleep_suite);
