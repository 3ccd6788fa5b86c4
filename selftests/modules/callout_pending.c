// SPDX-License-Identifier: GPL-2.0
/*
 * callout_pending.c - timers of each class of bases, pending on each CPU
 *
 * For suspend_alarm.c, which suspends the system while they are pending: each
 * must run, once, and none early.
 *
 *	seconds	a write sets all timers, for times from now to that many seconds
 *		ahead, and fails if some have not run
 *	left	how many timers have not run
 *	wrong	how many timers have run too early, or more than once
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/callout_timer.h>

/* A timer of a class and a CPU. */
#define NR	16U

/* Kernel, global and deferrable. */
static const u32 kinds[] = { TIMER_PINNED, 0, TIMER_DEFERRABLE };

struct pending {
	struct callout_timer timer;
	atomic_t sets;
};

static DEFINE_PER_CPU(struct pending [ARRAY_SIZE(kinds)][NR], pending);
static unsigned long longest;
static atomic_t left = ATOMIC_INIT(0);
static atomic_t wrong = ATOMIC_INIT(0);

static void run(struct callout_timer *timer)
{
	struct pending *p = container_of(timer, struct pending, timer);

	if (atomic_dec_return(&p->sets) ||
	    time_before(jiffies, READ_ONCE(timer->expires)))
		atomic_inc(&wrong);
	atomic_dec(&left);
}

static void set_here(void *unused)
{
	unsigned int kind, i;
	struct pending *p;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		for (i = 0; i < NR; i++) {
			p = this_cpu_ptr(&pending[kind][i]);
			atomic_inc(&p->sets);
			atomic_inc(&left);
			p->timer.expires = jiffies + 1 + longest * i / NR;
			callout_timer_add(&p->timer);
		}
	}
}

static int seconds_set(const char *value, const struct kernel_param *kp)
{
	unsigned int n;
	int ret = kstrtouint(value, 0, &n);

	if (ret)
		return ret;
	if (atomic_read(&left))
		return -EBUSY;
	longest = (unsigned long)n * HZ;
	on_each_cpu(set_here, NULL, 1);
	return 0;
}

static const struct kernel_param_ops seconds_ops = { .set = seconds_set };
module_param_cb(seconds, &seconds_ops, NULL, 0200);
MODULE_PARM_DESC(seconds, "Sets all timers, the last for so many seconds from now");

static int number_get(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops number_ops = { .get = number_get };
module_param_cb(left, &number_ops, &left, 0444);
MODULE_PARM_DESC(left, "How many have not run");
module_param_cb(wrong, &number_ops, &wrong, 0444);
MODULE_PARM_DESC(wrong, "How many have run too early, or more than once");

/* Call a function for each timer. */
static void for_each(void (*fn)(struct pending *p, u32 flags))
{
	unsigned int cpu, kind, i;

	for_each_possible_cpu(cpu)
		for (kind = 0; kind < ARRAY_SIZE(kinds); kind++)
			for (i = 0; i < NR; i++)
				fn(&per_cpu(pending, cpu)[kind][i], kinds[kind]);
}

static void init_one(struct pending *p, u32 flags)
{
	timer_setup(&p->timer, run, flags);
}

static void delete_one(struct pending *p, u32 flags)
{
	callout_timer_delete_sync(&p->timer);
}

static int __init pending_init(void)
{
	for_each(init_one);
	return 0;
}

static void __exit pending_exit(void)
{
	for_each(delete_one);
}

module_init(pending_init);
module_exit(pending_exit);

MODULE_DESCRIPTION("Timers of each class, pending on each CPU");
MODULE_LICENSE("GPL");
