// SPDX-License-Identifier: GPL-2.0
/*
 * callout_inversion.c - callout_drain() avoids priority inversion
 *
 * For PREEMPT_RT, where handlers run in a thread. On one CPU a handler runs
 * with the least real-time priority, and is preempted by a hog of medium
 * priority. On another CPU a thread of high priority drains the callout: the
 * thread that loads this module, by "with_fifo 80 insmod". The handler has only
 * to return, and must do so before the hog ends, by priority inheritance;
 * otherwise the thread of high priority waits for the one of medium priority.
 */
#include <linux/callout.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

/* Short enough not to be throttled. */
#define HOG_MS		500
#define PATIENCE_MS	2000

#define ROUNDS		3

/* An interrupt's thread that waits for softirqs may boost the handler. */
#define MAX_TRIES	20

/**
 * struct inversion - one round
 * @c: the callout
 * @loops: progress of the handler
 * @go: the handler may return
 * @hogged: the hog runs, and the handler makes no progress
 * @hog_over: the hog has ended
 */
struct inversion {
	struct callout c;
	unsigned long loops;
	bool go;
	bool hogged;
	bool hog_over;
};

static void wait_handler(void *arg)
{
	ktime_t end = ktime_add_ms(ktime_get(), 2 * PATIENCE_MS);
	struct inversion *v = arg;

	while (!READ_ONCE(v->go) && ktime_before(ktime_get(), end))
		WRITE_ONCE(v->loops, v->loops + 1);
}

static void spin_ms(unsigned int ms)
{
	ktime_t end = ktime_add_ms(ktime_get(), ms);

	while (ktime_before(ktime_get(), end))
		cpu_relax();
}

static int hog(void *data)
{
	struct inversion *v = data;
	unsigned long loops = READ_ONCE(v->loops);

	spin_ms(20);
	WRITE_ONCE(v->hogged, !v->go && READ_ONCE(v->loops) == loops);
	spin_ms(HOG_MS);
	WRITE_ONCE(v->hog_over, true);
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

static bool wait_until(const bool *flag)
{
	unsigned int i;

	for (i = 0; i < 2 * PATIENCE_MS && !READ_ONCE(*flag); i++)
		usleep_range(500, 600);
	return READ_ONCE(*flag);
}

/* Returns 1 if the hog did not preempt the handler. */
static int drain_behind_hog(struct inversion *v)
{
	ktime_t start;
	bool in_time;
	int ret;

	if (!wait_until(&v->hogged))
		return 1;
	start = ktime_get();
	WRITE_ONCE(v->go, true);
	ret = callout_drain(&v->c);
	in_time = !READ_ONCE(v->hog_over);
	pr_info("drain returned %d after %lld us, %s the hog was done\n", ret,
		ktime_us_delta(ktime_get(), start),
		in_time ? "before" : "after");
	return in_time && !ret ? 0 : -EIO;
}

static int one_round(struct inversion *v, unsigned int cpu)
{
	struct task_struct *medium;
	unsigned int i;
	int ret = 1;

	memset(v, 0, sizeof(*v));
	callout_init(&v->c, CALLOUT_MPSAFE);
	medium = kthread_create_on_cpu(hog, v, cpu, "inversion_hog/%u");
	if (IS_ERR(medium))
		return PTR_ERR(medium);
	sched_set_fifo(medium);
	callout_reset_on(&v->c, 1, wait_handler, v, cpu);
	for (i = 0; i < PATIENCE_MS && !READ_ONCE(v->loops); i++)
		usleep_range(500, 600);
	if (v->loops) {
		wake_up_process(medium);
		ret = drain_behind_hog(v);
	}
	WRITE_ONCE(v->go, true);
	callout_drain(&v->c);
	kthread_stop(medium);
	return ret;
}

static int __init inversion_init(void)
{
	static struct inversion v;
	unsigned int cpu, other, tries, rounds = 0;
	int ret;

	if (current->rt_priority <= MAX_RT_PRIO / 2) {
		pr_err("load this with a priority above %d\n",
		       MAX_RT_PRIO / 2);
		return -EPERM;
	}
	cpus_read_lock();
	cpu = cpumask_last(cpu_online_mask);
	other = cpumask_any_but(cpu_online_mask, cpu);
	/* This thread must not need the CPU of the hog. */
	ret = other < nr_cpu_ids ?
	      set_cpus_allowed_ptr(current, cpumask_of(other)) : -ENODEV;
	for (tries = 0; ret >= 0 && tries < MAX_TRIES && rounds < ROUNDS;
	     tries++) {
		ret = one_round(&v, cpu);
		rounds += !ret;
	}
	cpus_read_unlock();
	if (ret > 0)
		ret = -ETIMEDOUT;
	pr_info("%s, %u rounds in %u tries\n", ret ? "FAILED" : "passed",
		rounds, tries);
	return ret;
}

static void __exit inversion_exit(void)
{
}

module_init(inversion_init);
module_exit(inversion_exit);

MODULE_DESCRIPTION("Priority inversion through callout_drain()");
MODULE_LICENSE("GPL");
