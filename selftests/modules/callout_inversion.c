// SPDX-License-Identifier: GPL-2.0
/*
 * callout_inversion.c - callouts keep the priority that their users expect
 *
 * For PREEMPT_RT, where handlers run in a thread.
 *
 * Who waits for a handler avoids priority inversion. On one CPU a handler runs
 * with the least real-time priority, and is preempted by a hog of medium
 * priority. On another CPU a thread of high priority drains the callout, or
 * cancels Linux's timer and waits for it: the thread that loads this module, by
 * "with_fifo 80 insmod". The handler has only to return, and must do so before
 * the hog ends, by priority inheritance; otherwise the thread of high priority
 * waits for the one of medium priority.
 *
 * Callouts that are due keep the CPU from the threads that Linux's timers keep it
 * from. Two are due together, and jiffies change in the first handler, as if its
 * thread had been preempted. That handler wakes a thread of the least real-time
 * priority, which the thread of Linux's timers has too. So this one runs as soon as
 * no timer is due any more, and the second handler must have run before.
 */
#include <linux/callout.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/callout_timer.h>

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
 * @timer: or the timer
 * @loops: progress of the handler
 * @go: the handler may return
 * @hogged: the hog runs, and the handler makes no progress
 * @hog_over: the hog has ended
 */
struct inversion {
	struct callout c;
	struct callout_timer timer;
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

static void set_callout(struct inversion *v, unsigned int cpu)
{
	callout_init(&v->c, CALLOUT_MPSAFE);
	callout_reset_on(&v->c, 1, wait_handler, v, cpu);
}

static int drain_callout(struct inversion *v)
{
	return callout_drain(&v->c);
}

static void timer_handler(struct callout_timer *timer)
{
	wait_handler(container_of(timer, struct inversion, timer));
}

static void set_timer(struct inversion *v, unsigned int cpu)
{
	timer_setup(&v->timer, timer_handler, TIMER_PINNED);
	v->timer.expires = jiffies + 1;
	callout_timer_add_on(&v->timer, cpu);
}

static int delete_timer(struct inversion *v)
{
	return callout_timer_delete_sync(&v->timer);
}

/**
 * struct kind - what has the handler
 * @call: the call that waits for it
 * @set: has the handler run on a CPU
 * @wait: makes the call
 */
struct kind {
	const char *call;
	void (*set)(struct inversion *v, unsigned int cpu);
	int (*wait)(struct inversion *v);
};

static const struct kind kinds[] = {
	{ "callout_drain", set_callout, drain_callout },
	{ "callout_timer_delete_sync", set_timer, delete_timer },
};

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
static int wait_behind_hog(struct inversion *v, const struct kind *kind)
{
	ktime_t start;
	bool in_time;
	int ret;

	if (!wait_until(&v->hogged))
		return 1;
	start = ktime_get();
	WRITE_ONCE(v->go, true);
	ret = kind->wait(v);
	in_time = !READ_ONCE(v->hog_over);
	pr_info("%s() returned %d after %lld us, %s the hog was done\n",
		kind->call, ret, ktime_us_delta(ktime_get(), start),
		in_time ? "before" : "after");
	return in_time && !ret ? 0 : -EIO;
}

static int one_round(struct inversion *v, const struct kind *kind,
		     unsigned int cpu)
{
	struct task_struct *medium;
	unsigned int i;
	int ret = 1;

	memset(v, 0, sizeof(*v));
	medium = kthread_create_on_cpu(hog, v, cpu, "inversion_hog/%u");
	if (IS_ERR(medium))
		return PTR_ERR(medium);
	sched_set_fifo(medium);
	kind->set(v, cpu);
	for (i = 0; i < PATIENCE_MS && !READ_ONCE(v->loops); i++)
		usleep_range(500, 600);
	if (v->loops) {
		wake_up_process(medium);
		ret = wait_behind_hog(v, kind);
	}
	WRITE_ONCE(v->go, true);
	kind->wait(v);
	kthread_stop(medium);
	return ret;
}

/* Returns 0, 1 if there were not enough rounds, or an error. */
static int test(const struct kind *kind, unsigned int cpu)
{
	unsigned int tries, rounds = 0;
	static struct inversion v;
	int ret = 1;

	for (tries = 0; ret >= 0 && tries < MAX_TRIES && rounds < ROUNDS;
	     tries++) {
		ret = one_round(&v, kind, cpu);
		rounds += !ret;
	}
	if (ret >= 0)
		ret = rounds < ROUNDS;
	pr_info("%s(): %s, %u rounds in %u tries\n", kind->call,
		ret ? "FAILED" : "passed", rounds, tries);
	return ret;
}

/* Jiffies that pass in the first handler: kernels run softirqs for 2 ms. */
#define PASS		(2 + DIV_ROUND_UP(2 * HZ, 1000))

#define TURNS		10

/**
 * struct turn - two handlers and a thread
 * @c: the callouts
 * @timer: or the timers
 * @low: the thread that the first handler wakes
 * @low_ran: it has run
 * @runs: how many handlers have returned
 * @behind: it had run before the second handler
 */
struct turn {
	struct callout c[2];
	struct timer_list timer[2];
	struct task_struct *low;
	bool low_ran;
	unsigned int runs;
	bool behind;
};

static void take_turn(struct turn *t)
{
	ktime_t end = ktime_add_ms(ktime_get(), PATIENCE_MS);
	unsigned long start = jiffies;

	if (t->runs) {
		t->behind = READ_ONCE(t->low_ran);
	} else {
		wake_up_process(t->low);
		while (time_before(jiffies, start + PASS) &&
		       ktime_before(ktime_get(), end))
			cpu_relax();
	}
	WRITE_ONCE(t->runs, t->runs + 1);
}

static void callout_turn(void *arg)
{
	take_turn(arg);
}

static void set_callouts(struct turn *t, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		callout_init(&t->c[i], CALLOUT_MPSAFE);
		callout_reset_on(&t->c[i], callout_hz() / 50, callout_turn, t,
				 cpu);
	}
}

static void drain_callouts(struct turn *t)
{
	callout_drain(&t->c[0]);
	callout_drain(&t->c[1]);
}

static void timer_turn_0(struct timer_list *timer)
{
	take_turn(container_of(timer, struct turn, timer[0]));
}

static void timer_turn_1(struct timer_list *timer)
{
	take_turn(container_of(timer, struct turn, timer[1]));
}

static void set_timers(struct turn *t, unsigned int cpu)
{
	unsigned long expires = jiffies + HZ / 50;

	timer_setup(&t->timer[0], timer_turn_0, TIMER_PINNED);
	timer_setup(&t->timer[1], timer_turn_1, TIMER_PINNED);
	t->timer[0].expires = expires;
	t->timer[1].expires = expires;
	add_timer_on(&t->timer[0], cpu);
	add_timer_on(&t->timer[1], cpu);
}

static void delete_timers(struct turn *t)
{
	timer_delete_sync(&t->timer[0]);
	timer_delete_sync(&t->timer[1]);
}

static int low(void *data)
{
	struct turn *t = data;

	WRITE_ONCE(t->low_ran, true);
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

/* Returns 1 if the thread came before the second handler, 0 if not, or an error. */
static int one_turn(struct turn *t, unsigned int cpu,
		    void (*set)(struct turn *t, unsigned int cpu),
		    void (*cancel)(struct turn *t))
{
	unsigned int i;

	memset(t, 0, sizeof(*t));
	t->low = kthread_create_on_cpu(low, t, cpu, "inversion_low/%u");
	if (IS_ERR(t->low))
		return PTR_ERR(t->low);
	sched_set_fifo_low(t->low);
	set(t, cpu);
	for (i = 0; i < 4 * PATIENCE_MS && READ_ONCE(t->runs) < 2; i++)
		usleep_range(500, 600);
	cancel(t);
	kthread_stop(t->low);
	return t->runs == 2 ? t->behind : -ETIMEDOUT;
}

/* Callouts may be behind the thread only where Linux's timers are. */
static int test_turns(unsigned int cpu)
{
	unsigned int callouts = 0, timers = 0, i;
	static struct turn t;
	int ret = 0;

	for (i = 0; ret >= 0 && i < TURNS; i++) {
		ret = one_turn(&t, cpu, set_callouts, drain_callouts);
		callouts += ret > 0;
	}
	for (i = 0; ret >= 0 && i < TURNS; i++) {
		ret = one_turn(&t, cpu, set_timers, delete_timers);
		timers += ret > 0;
	}
	pr_info("of %u turns %u of callouts and %u of timers were behind the thread: %d\n",
		TURNS, callouts, timers, ret);
	if (ret < 0)
		return ret;
	return callouts && !timers ? -EIO : 0;
}

static int __init inversion_init(void)
{
	unsigned int cpu, other, i;
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
	for (i = 0; !ret && i < ARRAY_SIZE(kinds); i++)
		ret = test(&kinds[i], cpu);
	if (!ret)
		ret = test_turns(cpu);
	cpus_read_unlock();
	return ret > 0 ? -ETIMEDOUT : ret;
}

static void __exit inversion_exit(void)
{
}

module_init(inversion_init);
module_exit(inversion_exit);

MODULE_DESCRIPTION("Priority inversion through callouts");
MODULE_LICENSE("GPL");
