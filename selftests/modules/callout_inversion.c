// SPDX-License-Identifier: GPL-2.0
/*
 * callout_inversion.c - callouts keep the priority that their users expect
 *
 * For PREEMPT_RT, where handlers run in a thread.
 *
 * A thread that waits for a handler avoids priority inversion. On one CPU a
 * handler runs with the least real-time priority, and is preempted by a hog of
 * medium priority. On another CPU a thread of high priority drains the callout,
 * or cancels Linux's timer and waits for it. This is the thread that loads this
 * module, by "with_fifo 80 insmod". The handler only has to return, and must do
 * so before the hog ends, by priority inheritance. Otherwise the thread of high
 * priority waits for the thread of medium priority.
 *
 * Handlers run in the thread of Linux's timers, which has a real-time priority, and
 * stay there. The first handler sets more callouts than one expiry runs, and lets
 * their tick pass, so that they are overdue when the tick source is programmed. Then
 * the first of these callouts lets jiffies pass, as if its thread had been
 * preempted. It also wakes a thread of the least real-time priority, which the
 * thread of Linux's timers has too. The woken thread must not run before the second
 * callout.
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

/* Short enough to avoid throttling. */
#define HOG_MS		500
#define PATIENCE_MS	2000

#define ROUNDS		3

/* An interrupt's thread that waits for softirqs may boost the handler. */
#define MAX_TRIES	20

/**
 * struct inversion - one round
 * @c: the callout
 * @timer: the timer, if it is a timer's round
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
 * struct kind - the owner of the handler
 * @call: the call that waits for it
 * @set: make the handler run on a CPU
 * @wait: make the call
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

/* Return 1 if the hog did not preempt the handler. */
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

/* Return 0, 1 if there were not enough rounds, or an error. */
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

/* The time that passes in a handler: kernels run softirqs for 2 ms. */
#define PASS		(2 + DIV_ROUND_UP(2 * HZ, 1000))

/* More callouts than an expiry runs. */
#define CALLOUTS	1100

#define STAYS		10

/**
 * struct stay - one round
 * @timer: one of Linux's timers: the kernel's own struct has this name since the include
 * @thread: the thread that runs @timer
 * @start: the callout whose handler sets the others
 * @c: the others
 * @low: the thread that the first of @c wakes
 * @low_ran: @low has run
 * @behind: @low had run before the second of @c
 * @runs: how many handlers of callouts have returned
 * @elsewhere: how many of these ran in another thread than @timer's function
 */
struct stay {
	callout_linux_timer_t timer;
	struct task_struct *thread;
	struct callout start;
	struct callout c[CALLOUTS];
	struct task_struct *low;
	bool low_ran;
	bool behind;
	unsigned int runs;
	unsigned int elsewhere;
};

static void stay_timer(callout_linux_timer_t *timer)
{
	struct stay *s = container_of(timer, struct stay, timer);

	WRITE_ONCE(s->thread, current);
}

static void let_jiffies_pass(void)
{
	ktime_t end = ktime_add_ms(ktime_get(), PATIENCE_MS);
	unsigned long start = jiffies;

	while (time_before(jiffies, start + PASS) &&
	       ktime_before(ktime_get(), end))
		cpu_relax();
}

static void stay_ran(struct stay *s)
{
	s->elsewhere += current != s->thread;
	WRITE_ONCE(s->runs, s->runs + 1);
}

static void stay_handler(void *arg)
{
	struct stay *s = arg;

	if (s->runs == 1) {
		wake_up_process(s->low);
		let_jiffies_pass();
	} else if (s->runs == 2) {
		s->behind = READ_ONCE(s->low_ran);
	}
	stay_ran(s);
}

/* All other callouts are overdue when this handler returns. */
static void stay_start(void *arg)
{
	struct stay *s = arg;
	unsigned int i;

	for (i = 0; i < CALLOUTS; i++)
		callout_reset_curcpu(&s->c[i], 1, stay_handler, s);
	let_jiffies_pass();
	stay_ran(s);
}

static int low(void *data)
{
	struct stay *s = data;

	WRITE_ONCE(s->low_ran, true);
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

static int find_thread(struct stay *s, unsigned int cpu)
{
	unsigned int i;

	timer_setup(&s->timer, stay_timer, TIMER_PINNED);
	s->timer.expires = jiffies + 1;
	add_timer_on(&s->timer, cpu);
	for (i = 0; i < 4 * PATIENCE_MS && !READ_ONCE(s->thread); i++)
		usleep_range(500, 600);
	timer_delete_sync(&s->timer);
	return s->thread ? 0 : -ETIMEDOUT;
}

static int one_stay(struct stay *s, unsigned int cpu)
{
	unsigned int i;
	int ret;

	memset(s, 0, sizeof(*s));
	ret = find_thread(s, cpu);
	if (ret)
		return ret;
	s->low = kthread_create_on_cpu(low, s, cpu, "inversion_low/%u");
	if (IS_ERR(s->low))
		return PTR_ERR(s->low);
	sched_set_fifo_low(s->low);
	callout_init(&s->start, CALLOUT_MPSAFE);
	for (i = 0; i < CALLOUTS; i++)
		callout_init(&s->c[i], CALLOUT_MPSAFE);
	callout_reset_on(&s->start, 1, stay_start, s, cpu);
	for (i = 0; i < 4 * PATIENCE_MS && READ_ONCE(s->runs) <= CALLOUTS; i++)
		usleep_range(500, 600);
	callout_drain(&s->start);
	for (i = 0; i < CALLOUTS; i++)
		callout_drain(&s->c[i]);
	kthread_stop(s->low);
	pr_info("%s: %u of %u handlers in another thread, the second was %s\n",
		s->thread->comm, s->elsewhere, s->runs,
		s->behind ? "behind a third one" : "in time");
	if (s->runs <= CALLOUTS)
		return -ETIMEDOUT;
	return s->elsewhere || s->behind ? -EIO : 0;
}

static int test_stays(unsigned int cpu)
{
	static struct stay s;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < STAYS; i++)
		ret = one_stay(&s, cpu);
	pr_info("the timers' thread: %s, %u rounds\n",
		ret ? "FAILED" : "passed", i);
	return ret;
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
		ret = test_stays(cpu);
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
