// SPDX-License-Identifier: GPL-2.0
/*
 * tick.c - instructions of ticks and expiry, compared with Linux's timers
 *
 * A loop counts its turns until jiffies changes. Between two changes a known
 * number of instructions passes, since QEMU's clock counts them; those that the
 * turns do not account for were executed by interrupts and their softirqs. So
 * all the work of a tick is counted, in any number of interrupts, and in the
 * same way for each facility. "none" has no timers; its ticks are the kernel's
 * own cost, which is subtracted from the others, except for the idle tick.
 *
 *	idle_tick	a tick with n outstanding and none due
 *	expiry_together	one of n that are due at the same tick
 *	expiry_one_by_one one that is alone at its tick
 *	jump_hour	the tick after jiffies has advanced by an hour: n are
 *			outstanding beyond that hour, and one is due
 *
 * There is no jump_hour for hrtimers, which do not depend on jiffies.
 */
#include <linux/callout.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <asm/timex.h>
#include "../compare.h"
#include "bench.h"
#include "kcompat.h"

#define OTHERS		100000U
#define TOGETHER	10000U

/* The number of ticks measured. */
#define TICKS		20U

/* Ticks with one timer each, all in the first level of the kernel's wheel. */
#define ONE_BY_ONE	50U

/* Timers due together are due in this many ticks, and have run after TICKS. */
#define SOON		6

#define JUMPS		5U

#define HOUR		(3600L * HZ)

union any {
	struct callout callout;
	struct timer_list timer;
	struct hrtimer hrtimer;
};

static unsigned int ran;

static void callout_note(void *arg)
{
	ran++;
}

static void timer_note(struct timer_list *t)
{
	ran++;
}

static enum hrtimer_restart hrtimer_note(struct hrtimer *t)
{
	ran++;
	return HRTIMER_NORESTART;
}

/* How to set a timer, @ticks after @now, and to cancel it. */
struct facility {
	const char *name;
	void (*set)(union any *t, unsigned long ticks, ktime_t now);
	void (*cancel)(union any *t);
};

static void callout_set_one(union any *t, unsigned long ticks, ktime_t now)
{
	callout_init(&t->callout, CALLOUT_MPSAFE);
	callout_reset(&t->callout, ticks, callout_note, NULL);
}

static void callout_cancel_one(union any *t)
{
	callout_drain(&t->callout);
}

static void timer_set_one(union any *t, unsigned long ticks, ktime_t now)
{
	/* Fires one tick after its time. */
	timer_setup(&t->timer, timer_note, TIMER_PINNED);
	mod_timer(&t->timer, jiffies + ticks - 1);
}

static void timer_cancel_one(union any *t)
{
	timer_delete_sync(&t->timer);
}

static void hrtimer_set_one(union any *t, unsigned long ticks, ktime_t now)
{
	hrtimer_setup(&t->hrtimer, hrtimer_note, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED);
	hrtimer_start(&t->hrtimer, ktime_add_ns(now, (u64)ticks * TICK_NSEC),
		      HRTIMER_MODE_ABS_PINNED);
}

static void hrtimer_cancel_one(union any *t)
{
	hrtimer_cancel(&t->hrtimer);
}

static void none_set_one(union any *t, unsigned long ticks, ktime_t now)
{
	ran++;
}

static void none_cancel_one(union any *t)
{
}

static const struct facility facilities[] = {
	{ "none", none_set_one, none_cancel_one },
	{ "callout", callout_set_one, callout_cancel_one },
	{ "timer_list", timer_set_one, timer_cancel_one },
	{ "hrtimer", hrtimer_set_one, hrtimer_cancel_one },
};

static const struct facility *const none = &facilities[0];

/* Counts turns until jiffies differs from @tick, up to @max. */
static noinline unsigned long spin(unsigned long tick, unsigned long max)
{
	unsigned long turns = 0;

	while (READ_ONCE(jiffies) == tick && turns < max)
		turns++;
	return turns;
}

/* Instructions of a call of spin(): a fixed part, and those of each turn. */
static u64 spin_fixed, spin_turn;

static u64 spin_takes(unsigned long turns)
{
	u64 start;

	local_irq_disable();
	start = get_cycles();
	spin(jiffies, turns);
	start = get_cycles() - start;
	local_irq_enable();
	return start;
}

static int calibrate(void)
{
	u64 one = spin_takes(1000), two = spin_takes(2000);

	spin_turn = (two - one) / 1000;
	spin_fixed = one - 1000 * spin_turn;
	if (two - one == 1000 * spin_turn && spin_turn && spin_fixed < 50)
		return 0;
	pr_err("bench-tick: 1000 turns took %llu, 2000 %llu\n", one, two);
	return -EINVAL;
}

/* Instructions of interrupts up to and including the next tick. */
static u64 watch_tick(void)
{
	u64 start = get_cycles();
	unsigned long turns = spin(jiffies, ULONG_MAX);

	return get_cycles() - start - spin_fixed - turns * spin_turn;
}

/* Returns the sum over @ticks ticks, and their median in *@median. */
static u64 watch(unsigned int ticks, u64 *median)
{
	static u64 takes[TICKS + ONE_BY_ONE];
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < ticks; i++) {
		takes[i] = watch_tick();
		sum += takes[i];
	}
	if (median) {
		sort(takes, ticks, sizeof(takes[0]), compare_u64, NULL);
		*median = takes[ticks / 2];
	}
	return sum;
}

static void report(const struct facility *f, const char *metric,
		   unsigned int n, u64 insns)
{
	pr_info("bench-tick: %s,%s,%u,%llu\n", f->name, metric, n, insns);
}

static u64 less_none(u64 some, u64 without)
{
	return some > without ? some - without : 0;
}

static void set_far(const struct facility *f, union any *t, unsigned int n,
		    unsigned long ticks)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		f->set(&t[i], ticks + get_random_u32_below(HOUR), ktime_get());
}

static void cancel(const struct facility *f, union any *t, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		f->cancel(&t[i]);
	cond_resched();
}

static void idle_tick(const struct facility *f, union any *t, unsigned int n)
{
	u64 median;

	set_far(f, t, n, HOUR);
	watch(2, NULL);
	watch(TICKS, &median);
	report(f, "idle_tick", n, median);
	cancel(f, t, n);
}

/*
 * Sets @n timers in one tick, @step ticks apart, and returns the instructions
 * of the ticks in which they expire, or 0 if they do not.
 */
static u64 expiry_takes(const struct facility *f, union any *t, unsigned int n,
			unsigned int step, unsigned int ticks, u64 *median)
{
	ktime_t now;
	unsigned int i;
	u64 sum;

	ran = 0;
	watch_tick();
	local_irq_disable();
	now = ktime_get();
	for (i = 0; i < n; i++)
		f->set(&t[i], SOON + i * step, now);
	local_irq_enable();
	/* A tick that may have passed in the loop, and part of one. */
	watch(SOON - 2, NULL);
	sum = watch(ticks, median);
	if (ran != n) {
		pr_err("bench-tick: %s: %u of %u have run\n", f->name, ran, n);
		sum = 0;
	}
	cancel(f, t, n);
	return sum;
}

static void together(const struct facility *f, union any *t)
{
	u64 without, some;

	/* What earlier cancels have left to be done must not count. */
	expiry_takes(f, t, 1, 0, TICKS, NULL);
	without = expiry_takes(none, t, TOGETHER, 0, TICKS, NULL);
	some = expiry_takes(f, t, TOGETHER, 0, TICKS, NULL);

	if (some)
		report(f, "expiry_together", TOGETHER,
		       less_none(some, without) / TOGETHER);
}

static void one_by_one(const struct facility *f, union any *t)
{
	u64 without, some;

	expiry_takes(none, t, ONE_BY_ONE, 1, ONE_BY_ONE + 4, &without);
	if (expiry_takes(f, t, ONE_BY_ONE, 1, ONE_BY_ONE + 4, &some))
		report(f, "expiry_one_by_one", 1, less_none(some, without));
}

static void leap(unsigned long ticks)
{
	local_irq_disable();
	jiffies_64 += ticks;
	local_irq_enable();
}

/*
 * Instructions of the tick after jiffies has advanced by an hour. An advance
 * before that expires most of the kernel's own timers.
 */
static u64 jump_takes(const struct facility *f, union any *t, unsigned int n)
{
	bool early;
	u64 takes;

	set_far(f, t, n, 3 * HOUR);
	ran = 0;
	f->set(&t[n], HOUR + HOUR / 2, ktime_get());
	leap(HOUR);
	watch(3, NULL);
	early = ran && f != none;
	leap(HOUR);
	takes = watch_tick();
	if (ran != 1 || early) {
		pr_err("bench-tick: %s: %u have run after the jump\n",
		       f->name, ran);
		takes = 0;
	}
	cancel(f, t, n + 1);
	/* Deferred work of the cancels must not count for the next jump. */
	leap(3 * HOUR);
	f->set(&t[n], 1, ktime_get());
	watch(3, NULL);
	cancel(f, t, n + 1);
	msleep(100);
	return takes;
}

/* The least of several: the rest is the kernel's own work. */
static void jump(const struct facility *f, union any *t, unsigned int n)
{
	u64 takes = U64_MAX, without = U64_MAX;
	unsigned int i;

	for (i = 0; i < JUMPS; i++) {
		without = min(without, jump_takes(none, t, n));
		takes = min(takes, jump_takes(f, t, n));
	}
	if (!takes)
		return;
	report(f, "jump_hour", n, less_none(takes, without));
}

int bench_tick(void)
{
	const struct facility *f, *end = facilities + ARRAY_SIZE(facilities);
	unsigned int n;
	union any *t;
	int ret;

	ret = calibrate();
	if (ret)
		return ret;
	t = vcalloc(OTHERS + 1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	for (n = 0; n <= OTHERS; n = n ? n * 10 : 1000)
		for (f = facilities; f < end; f++)
			idle_tick(f, t, n);
	for (f = none + 1; f < end; f++)
		together(f, t);
	for (f = none + 1; f < end; f++)
		one_by_one(f, t);
	/* Last, since jumps disturb the kernel, the first ones most. */
	for (n = 0; n < JUMPS; n++)
		jump_takes(none, t, 0);
	for (n = 0; n <= OTHERS; n = n ? n * 10 : 1000)
		for (f = none + 1; f < end; f++)
			if (f->set != hrtimer_set_one)
				jump(f, t, n);
	vfree(t);
	return 0;
}
