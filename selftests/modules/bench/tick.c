// SPDX-License-Identifier: GPL-2.0
/*
 * tick.c - instructions of ticks and expiry, compared with Linux's timers
 *
 * A loop counts its turns until jiffies changes. Between two changes a known
 * number of instructions passes, since QEMU's clock counts them. Instructions
 * that the turns do not account for were executed by interrupts and their
 * softirqs. So all the work of a tick is counted, in any number of interrupts,
 * and in the same way for each facility. "none" has no timers. Its ticks are
 * the kernel's own cost, which is subtracted from the other facilities, except
 * for the idle tick.
 *
 *	idle_tick	a tick with n timers outstanding and none due
 *	expiry_together	expiry of one of n timers that are due at the same tick
 *	expiry_one_by_one expiry of a timer that is alone at its tick
 *	expiry_among	as expiry_one_by_one, with n timers outstanding that are
 *			due later
 *	expiry_periodic	expiry of one of n timers that are due at each tick,
 *			since the handler sets them again
 *	jump_hour	the tick after jiffies has advanced by an hour: n timers
 *			are outstanding beyond that hour, and one is due
 *
 * facility.c explains the differences between the facilities' rows.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include <asm/timex.h>
#include "../compare.h"
#include "bench.h"

#define OTHERS		1000000U
#define TOGETHER	10000U
#define PERIODIC	1000U

/* The number of ticks measured. */
#define TICKS		20U

/* Number of ticks with one timer each, all in the first level of the kernel's wheel. */
#define ONE_BY_ONE	50U

/* Timers due together are due in this many ticks, and have run after TICKS. */
#define SOON		6

#define JUMPS		5U

#define HOUR		(3600L * HZ)

/* The tick without timers. */
static const struct bench_facility *none;

/* Count turns until jiffies differs from @tick, up to @max. */
static noinline unsigned long spin(unsigned long tick, unsigned long max)
{
	unsigned long turns = 0;

	while (READ_ONCE(jiffies) == tick && turns < max)
		turns++;
	return turns;
}

/* Instructions of a call of spin(): a fixed part, and a part for each turn. */
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

/* Return the sum over @ticks ticks, and their median in *@median. */
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

static void report(const struct bench_facility *f, const char *metric,
		   unsigned int n, u64 insns)
{
	pr_info("bench-tick: %s,%s,%u,%llu\n", f->name, metric, n, insns);
}

static u64 less_none(u64 some, u64 without)
{
	return some > without ? some - without : 0;
}

static void set_far(const struct bench_facility *f, union bench_timer *t,
		    unsigned int n, unsigned long ticks)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		f->set(&t[i], ticks + get_random_u32_below(HOUR), ktime_get());
}

static void cancel(const struct bench_facility *f, union bench_timer *t,
		   unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		f->cancel(&t[i]);
	cond_resched();
}

/*
 * Set @n timers in one tick, @step ticks apart, and return the instructions
 * of the ticks in which they expire, or 0 if they do not.
 */
static u64 expiry_takes(const struct bench_facility *f, union bench_timer *t,
			unsigned int n, unsigned int step, unsigned int ticks,
			u64 *median)
{
	ktime_t now;
	unsigned int i;
	u64 sum;

	WRITE_ONCE(bench_ran, 0);
	watch_tick();
	local_irq_disable();
	now = ktime_get();
	for (i = 0; i < n; i++)
		f->set(&t[i], SOON + i * step, now);
	local_irq_enable();
	/* A tick that may have passed in the loop, and part of a tick. */
	watch(SOON - 2, NULL);
	sum = watch(ticks, median);
	if (READ_ONCE(bench_ran) != n) {
		pr_err("bench-tick: %s: %u of %u have run\n", f->name,
		       bench_ran, n);
		sum = 0;
	}
	cancel(f, t, n);
	return sum;
}

static void together(const struct bench_facility *f, union bench_timer *t)
{
	u64 without, some;

	/* A wheel shrinks from the size for earlier callouts after some seconds. */
	msleep(20 * MSEC_PER_SEC);
	expiry_takes(f, t, 1, 0, TICKS, NULL);
	without = expiry_takes(none, t, TOGETHER, 0, TICKS, NULL);
	some = expiry_takes(f, t, TOGETHER, 0, TICKS, NULL);

	if (some)
		report(f, "expiry_together", TOGETHER,
		       less_none(some, without) / TOGETHER);
}

static void one_by_one(const struct bench_facility *f, union bench_timer *t,
		       const char *metric, unsigned int n)
{
	u64 without, some;

	expiry_takes(none, t, ONE_BY_ONE, 1, ONE_BY_ONE + 4, &without);
	if (expiry_takes(f, t, ONE_BY_ONE, 1, ONE_BY_ONE + 4, &some))
		report(f, metric, n, less_none(some, without));
}

/* Measure an idle tick, and a tick with an expiry, with @n timers that stay outstanding. */
static void among(const struct bench_facility *f, union bench_timer *t,
		  unsigned int n)
{
	u64 median;

	set_far(f, t, n, HOUR);
	bench_settle();
	watch(2, NULL);
	watch(TICKS, &median);
	report(f, "idle_tick", n, median);
	if (f != none)
		one_by_one(f, t + n, "expiry_among", n);
	cancel(f, t, n);
}

static void periodic(const struct bench_facility *f, union bench_timer *t)
{
	unsigned int i, runs;
	u64 without, some;
	ktime_t now;

	without = watch(TICKS, NULL);
	WRITE_ONCE(bench_periodic, true);
	watch_tick();
	now = ktime_get();
	for (i = 0; i < PERIODIC; i++)
		f->set(&t[i], SOON, now);
	watch(2 * SOON, NULL);
	WRITE_ONCE(bench_ran, 0);
	some = watch(TICKS, NULL);
	runs = READ_ONCE(bench_ran);
	/* The last tick may have ended before its last timer ran. */
	if (runs >= (TICKS - 1) * PERIODIC)
		report(f, "expiry_periodic", PERIODIC,
		       less_none(some, without) / runs);
	else
		pr_err("bench-tick: %s: %u have run periodically\n", f->name,
		       runs);
	WRITE_ONCE(bench_periodic, false);
	watch(3, NULL);
	cancel(f, t, PERIODIC);
}

static void leap(unsigned long ticks)
{
	local_irq_disable();
	jiffies_64 += ticks;
	local_irq_enable();
}

/*
 * Return the instructions of the tick after jiffies has advanced by an hour. An
 * advance before that expires most of the kernel's own timers.
 */
static u64 jump_takes(const struct bench_facility *f, union bench_timer *t,
		      unsigned int n)
{
	bool early;
	u64 takes;

	set_far(f, t, n, 3 * HOUR);
	bench_settle();
	WRITE_ONCE(bench_ran, 0);
	f->set(&t[n], HOUR + HOUR / 2, ktime_get());
	leap(HOUR);
	watch(3, NULL);
	early = READ_ONCE(bench_ran) && f != none;
	leap(HOUR);
	takes = watch_tick();
	if (READ_ONCE(bench_ran) != 1 || early) {
		pr_err("bench-tick: %s: %u have run after the jump\n",
		       f->name, bench_ran);
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

/* Take the minimum of several jumps: the excess is the kernel's own work. */
static void jump(const struct bench_facility *f, union bench_timer *t,
		 unsigned int n)
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

static void jumps(union bench_timer *t)
{
	const struct bench_facility *f;
	unsigned int n;

	/* The first jumps disturb the kernel most. */
	for (n = 0; n < JUMPS; n++)
		jump_takes(none, t, 0);
	for (n = 0; n <= OTHERS; n = n ? n * 10 : 1000)
		for (f = none + 1; f->name; f++)
			if (f->jumps)
				jump(f, t, n);
}

/* Measure and report an array of facilities. */
int bench_tick(const struct bench_facility *facilities)
{
	const struct bench_facility *f;
	union bench_timer *t;
	unsigned int n;
	int ret;

	none = facilities;
	ret = calibrate() ?: callout_reserve(TOGETHER + 100);
	if (ret)
		return ret;
	t = vcalloc(OTHERS + ONE_BY_ONE, sizeof(*t));
	if (!t)
		return -ENOMEM;
	for (n = 0; n <= OTHERS; n = n ? n * 10 : 1000)
		for (f = none; f->name; f++)
			if (f->idle)
				among(f, t, n);
	for (f = none + 1; f->name; f++)
		together(f, t);
	for (f = none + 1; f->name; f++)
		one_by_one(f, t, "expiry_one_by_one", 1);
	for (f = none + 1; f->name; f++)
		periodic(f, t);
	/* Measure jumps last, since they disturb the kernel. */
	if (none->jumps)
		jumps(t);
	vfree(t);
	return 0;
}
