// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - shared by all suites of callout_kunit.ko: the seed, and threads
 *
 * Each suite has its own file. Loading the module runs all suites.
 */
#include <linux/callout_work.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include "base/base.h"
#include "kcompat.h"
#include "common.h"

static unsigned long long seed;
module_param(seed, ullong, 0444);
MODULE_PARM_DESC(seed, "Seed of the random numbers; 0: a random seed (default 0)");

/*
 * Seed the random numbers of a case, and print the seed. All cases of a run have
 * the same seed, so a single case can be repeated.
 */
void callout_test_rng(struct kunit *test, struct rnd_state *rng)
{
	if (!seed)
		seed = get_random_u32() | 1;
	kunit_info(test, "seed=%llu\n", seed);
	prandom_seed_state(rng, seed);
}

static unsigned int storm = 2;
module_param(storm, uint, 0444);
MODULE_PARM_DESC(storm, "Seconds of each storm on timers (default 2)");

/* How long a storm lasts. */
u64 callout_test_storm_ns(void)
{
	return storm * NSEC_PER_SEC;
}

static unsigned int races = 1;
module_param(races, uint, 0444);
MODULE_PARM_DESC(races, "Times the rounds of each race (default 1)");

/* The number of rounds of a race that has @rounds in a short run. */
unsigned int callout_test_rounds(unsigned int rounds)
{
	return rounds * races;
}

static unsigned int litmus = 250;
module_param(litmus, uint, 0444);
MODULE_PARM_DESC(litmus, "Milliseconds of each litmus test (default 250)");

/* How long two CPUs run a litmus test. */
u64 callout_test_litmus_ns(void)
{
	return litmus * NSEC_PER_MSEC;
}

static int thread_fn(void *data)
{
	struct callout_test_thread *t = data;

	t->fn(t->arg);
	complete(&t->done);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void thread_stop(void *data)
{
	struct callout_test_thread *t = data;

	kthread_stop(t->task);
}

/*
 * Run @fn in a thread bound to @cpu; the end of the case waits for it. @fn
 * must return by itself, and must not assert.
 */
struct callout_test_thread *callout_test_thread(struct kunit *test,
						unsigned int cpu,
						void (*fn)(void *), void *arg)
{
	struct callout_test_thread *t;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	t->fn = fn;
	t->arg = arg;
	init_completion(&t->done);
	t->task = kthread_create_on_cpu(thread_fn, t, cpu, "callout_kunit/%u");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t->task);
	wake_up_process(t->task);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, thread_stop, t));
	return t;
}

/* Wait until a thread's function has returned. Return false if that takes too long. */
bool callout_test_join(struct callout_test_thread *t)
{
	return wait_for_completion_timeout(&t->done, CALLOUT_TEST_PATIENCE);
}

/* Bind the case's thread to @cpu. */
void callout_test_pin(struct kunit *test, unsigned int cpu)
{
	KUNIT_ASSERT_EQ(test, 0,
			set_cpus_allowed_ptr(current, cpumask_of(cpu)));
}

/* Bind the case's thread to its CPU, and return another CPU. Skip the case if there is none. */
unsigned int callout_test_pin_one(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), other;

	other = cpumask_any_but(cpu_online_mask, cpu);
	if (other >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");
	callout_test_pin(test, cpu);
	return other;
}

/* As callout_test_pin_one(), with two other CPUs. */
void callout_test_pin_two(struct kunit *test, unsigned int other[2])
{
	unsigned int this = raw_smp_processor_id(), cpu, n = 0;

	for_each_online_cpu(cpu)
		if (cpu != this && n < 2)
			other[n++] = cpu;
	if (n < 2)
		kunit_skip(test, "needs three CPUs");
	callout_test_pin(test, this);
}

/* Make a base regard its CPU as coming or going, or no longer so. */
void callout_test_set_online(struct callout_base *base, bool online)
{
	co_base_lock_irq(base);
	WRITE_ONCE(base->online, online);
	co_base_unlock_irq(base);
}

/* Is the base's tasklet scheduled? */
bool callout_test_scheduled(struct callout_base *base)
{
	return test_bit(TASKLET_STATE_SCHED, &base->again.state);
}

/* Make a pending callout of @base, which is locked, due now. */
void callout_test_due_now(struct callout_base *base, struct callout_node *n)
{
	u64 now = co_now(base);

	lockdep_assert_held(&base->lock);
	co_scheme_move(base->scheme, n, now, now);
}

/*
 * Skip the case where an irq_work waits for the next tick and interrupts nothing,
 * as in User Mode Linux.
 */
void callout_test_need_interrupts(struct kunit *test)
{
	if (!arch_irq_work_has_interrupt())
		kunit_skip(test, "needs irq_work that interrupts");
}

/*
 * Skip the case on a kernel for one CPU, where spin_trylock() gets a lock that is
 * held or, with CONFIG_DEBUG_SPINLOCK, reports a bug.
 */
void callout_test_need_spinlocks(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_SMP))
		kunit_skip(test, "needs spinlocks that exclude");
}

static void test_drain(void *c)
{
	callout_drain(c);
}

/*
 * Let the end of the case drain @c, which is initialised, before it frees memory that
 * was allocated earlier. That also happens if the case ends by a failed assertion.
 */
void callout_test_drains(struct kunit *test, struct callout *c)
{
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, test_drain, c));
}

static void test_drain_work(void *w)
{
	callout_work_drain(w);
}

/*
 * As callout_test_drains(), for a callout whose handler may sleep. The callouts of
 * three BSDs are such callouts.
 */
void callout_test_drains_work(struct kunit *test, struct callout_work *w)
{
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, test_drain_work, w));
}

static void test_vfree(void *data)
{
	vfree(data);
}

/* Allocate zeroed memory that is freed when the case ends. The case fails without it. */
void *callout_test_vcalloc(struct kunit *test, size_t n, size_t size)
{
	void *p = vcalloc(n, size);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, test_vfree, p));
	return p;
}

CALLOUT_IMPORT_KUNIT_NS;
MODULE_DESCRIPTION("KUnit tests of the callout facility");
MODULE_LICENSE("GPL");
