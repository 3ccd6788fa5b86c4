/* SPDX-License-Identifier: GPL-2.0 */
/*
 * common.h - shared by all suites: random numbers, threads, waiting
 */
#ifndef _CALLOUT_KUNIT_COMMON_H
#define _CALLOUT_KUNIT_COMMON_H

#include <kunit/resource.h>
#include <kunit/test.h>
#include <asm/barrier.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include "random.h"

struct callout;
struct callout_base;
struct callout_node;
struct callout_work;

/* Limits on waiting: an event that has not come by then never comes. */
#define CALLOUT_TEST_PATIENCE	(30 * HZ)
#define CALLOUT_TEST_SPIN	(10 * HZ)
/* A distance in ticks at which nothing fires while a case runs. */
#define CALLOUT_TEST_FAR	(24L * 3600 * HZ)

#define CALLOUT_TEST_CLOCK_NS	(2 * NSEC_PER_SEC)

/*
 * Sleep until @cond. False if that takes too long. The sleep is not on a
 * timer_list: from 6.9 on, timer_lists of idle CPUs can be run by the CPU on which
 * a handler, in the same softirq, waits for the caller.
 */
#define callout_test_wait_until(cond)					\
({									\
	unsigned long __end = jiffies + CALLOUT_TEST_PATIENCE;		\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && time_before(jiffies, __end))		\
		usleep_range(500, 1000);				\
	__ok;								\
})

/* Spin until @cond. False if that takes too long. Any context. */
#define callout_test_spin_until(cond)					\
({									\
	unsigned long __end = jiffies + CALLOUT_TEST_SPIN;		\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && time_before(jiffies, __end))		\
		cpu_relax();						\
	__ok;								\
})

/* As callout_test_spin_until(), but by the clock: with interrupts off, jiffies may stand still. */
#define callout_test_clock_until(cond)					\
({									\
	u64 __end = ktime_get_ns() + CALLOUT_TEST_CLOCK_NS;		\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && ktime_get_ns() < __end)		\
		cpu_relax();						\
	__ok;								\
})

/*
 * Wait until another CPU waits for the lock of @base or, where contention cannot be seen,
 * until it most likely does. Interrupts are off. A macro, as few files know bases.
 */
#ifdef arch_spin_is_contended
#define callout_test_contended(base)					\
	callout_test_clock_until(raw_spin_is_contended(&(base)->lock))
#else
#define callout_test_contended(base)					\
({									\
	u64 __end = ktime_get_ns() + 10 * NSEC_PER_MSEC;		\
									\
	(void)(base);							\
	while (ktime_get_ns() < __end)					\
		cpu_relax();						\
	true;								\
})
#endif

/**
 * struct callout_test_thread - a thread of a case
 * @task: the thread
 * @fn: what it runs
 * @arg: the argument of @fn
 * @done: @fn has returned
 */
struct callout_test_thread {
	struct task_struct *task;
	void (*fn)(void *arg);
	void *arg;
	struct completion done;
};

void callout_test_rng(struct kunit *test, struct rnd_state *rng);
u64 callout_test_storm_ns(void);
unsigned int callout_test_rounds(unsigned int rounds);
u64 callout_test_litmus_ns(void);

/* Set a flag for another thread, with release semantics. */
static inline void callout_test_tell(bool *flag)
{
	/* Pairs with callout_test_told(). */
	smp_store_release(flag, true);
}

static inline bool callout_test_told(const bool *flag)
{
	/* Pairs with callout_test_tell(). */
	return smp_load_acquire(flag);
}

/* Count one for another thread, with release semantics. */
static inline void callout_test_count(unsigned int *n)
{
	/* Pairs with callout_test_counted(). */
	smp_store_release(n, *n + 1);
}

static inline unsigned int callout_test_counted(const unsigned int *n)
{
	/* Pairs with callout_test_count(). */
	return smp_load_acquire(n);
}

struct callout_test_thread *callout_test_thread(struct kunit *test,
						unsigned int cpu,
						void (*fn)(void *), void *arg);
bool callout_test_join(struct callout_test_thread *t);
void callout_test_pin(struct kunit *test, unsigned int cpu);
unsigned int callout_test_pin_one(struct kunit *test);
void callout_test_pin_two(struct kunit *test, unsigned int other[2]);
void callout_test_set_online(struct callout_base *base, bool online);
bool callout_test_scheduled(struct callout_base *base);
void callout_test_due_now(struct callout_base *base, struct callout_node *n);
void callout_test_need_interrupts(struct kunit *test);
void callout_test_need_spinlocks(struct kunit *test);
void callout_test_drains(struct kunit *test, struct callout *c);
void callout_test_drains_work(struct kunit *test, struct callout_work *w);
void *callout_test_vcalloc(struct kunit *test, size_t n, size_t size);

#endif /* _CALLOUT_KUNIT_COMMON_H */
