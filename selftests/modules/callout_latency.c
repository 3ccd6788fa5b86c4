// SPDX-License-Identifier: GPL-2.0
/*
 * callout_latency.c - lateness of callouts and of the kernel's timers, side by side
 *
 * Loading this module sets pairs of a callout and a timer_list on a CPU, both due at
 * the same jiffy, at random distances, and sleeps until they have run; the callout
 * is set first in every other pair. Lateness is the time from the jiffy's beginning
 * to the handler. For QEMU with -icount, where a nanosecond is an instruction and
 * the host's load does not matter. Results go to the kernel log:
 *
 *	latency: LOAD,FACILITY,SAMPLES,P50,P99,P99.9,MAX
 *
 * where FACILITY is "callout" or "timer_list" and the times are in ns. Fails with
 * ERANGE if the latest callout is later than the latest timer by more than a tick.
 */
#include <linux/atomic.h>
#include <linux/callout.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include "compare.h"
#include "kcompat.h"

#undef pr_fmt
#define pr_fmt(fmt) fmt

/* Pairs that are set together, and the distances, in jiffies: Linux's wheel is exact up to 63. */
#define PAIRS		64U
#define MIN_DISTANCE	2
#define MAX_DISTANCE	60

/* 2560 pairs: the last 2 are beyond the percentile 99.9. */
#define ROUNDS		40U
#define SAMPLES		(ROUNDS * PAIRS)

static char *load = "idle";
module_param(load, charp, 0444);
MODULE_PARM_DESC(load, "Name of the load, in the results (default idle)");

enum facility { CALLOUT, TIMER_LIST, NR_FACILITIES };

static const char *const names[] = { "callout", "timer_list" };

struct pair {
	struct callout c;
	struct timer_list timer;
	u64 due;			/* the jiffy */
	u64 ran[NR_FACILITIES];		/* the times at which the handlers ran */
};

static struct pair pairs[PAIRS];
static u64 late[NR_FACILITIES][SAMPLES];
static atomic_t left;
static DECLARE_WAIT_QUEUE_HEAD(all_ran);

/* The time of jiffy 0, by the clock: jiffies never run ahead of the clock. */
static u64 zero = U64_MAX;

static void ran(struct pair *p, enum facility which)
{
	p->ran[which] = ktime_get_ns();
	zero = min(zero, p->ran[which] - get_jiffies_64() * TICK_NSEC);
	if (atomic_dec_and_test(&left))
		wake_up(&all_ran);
}

static void callout_ran(void *arg)
{
	ran(arg, CALLOUT);
}

static void timer_ran(struct timer_list *timer)
{
	ran(container_of(timer, struct pair, timer), TIMER_LIST);
}

static void set_one(struct pair *p, enum facility which, unsigned int ticks)
{
	if (which == CALLOUT)
		callout_reset_curcpu(&p->c, ticks, callout_ran, p);
	else
		mod_timer(&p->timer, jiffies + ticks);
}

/* Set both for one jiffy: again, if it has changed in between. */
static void set_pair(struct pair *p, enum facility first, unsigned int ticks)
{
	u64 now;

	local_irq_disable();
	do {
		now = get_jiffies_64();
		set_one(p, first, ticks);
		set_one(p, !first, ticks);
	} while (time_before64(now, get_jiffies_64()));
	p->due = now + ticks;
	local_irq_enable();
}

static int run_rounds(void)
{
	unsigned int round, i, facility, at = 0;
	struct rnd_state rng;
	u64 due;

	prandom_seed_state(&rng, 1);
	for (round = 0; round < ROUNDS; round++) {
		atomic_set(&left, NR_FACILITIES * PAIRS);
		for (i = 0; i < PAIRS; i++)
			set_pair(&pairs[i], i & 1, MIN_DISTANCE + prandom_u32_state(&rng) %
				 (MAX_DISTANCE - MIN_DISTANCE + 1));
		if (wait_event_interruptible(all_ran, !atomic_read(&left)))
			return -EINTR;
		for (i = 0; i < PAIRS; i++, at++) {
			due = pairs[i].due * TICK_NSEC;
			for (facility = 0; facility < NR_FACILITIES; facility++)
				late[facility][at] = pairs[i].ran[facility] - due;
		}
	}
	return 0;
}

static void report(enum facility which)
{
	u64 *sorted = late[which];
	unsigned int i;

	for (i = 0; i < SAMPLES; i++)
		sorted[i] -= zero;
	sort(sorted, SAMPLES, sizeof(*sorted), compare_u64, NULL);
	pr_info("latency: %s,%s,%u,%llu,%llu,%llu,%llu\n", load, names[which], SAMPLES,
		sorted[SAMPLES / 2], sorted[SAMPLES * 99 / 100],
		sorted[SAMPLES * 999 / 1000], sorted[SAMPLES - 1]);
}

static int measure(void)
{
	int ret;

	ret = set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	if (!ret)
		ret = run_rounds();
	if (ret)
		return ret;
	report(CALLOUT);
	report(TIMER_LIST);
	return late[CALLOUT][SAMPLES - 1] > late[TIMER_LIST][SAMPLES - 1] + TICK_NSEC ?
	       -ERANGE : 0;
}

static int __init latency_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < PAIRS; i++) {
		callout_init(&pairs[i].c, CALLOUT_MPSAFE);
		timer_setup(&pairs[i].timer, timer_ran, TIMER_PINNED);
	}
	ret = measure();
	for (i = 0; i < PAIRS; i++) {
		callout_drain(&pairs[i].c);
		timer_delete_sync(&pairs[i].timer);
	}
	return ret;
}

static void __exit latency_exit(void)
{
}

module_init(latency_init);
module_exit(latency_exit);

MODULE_DESCRIPTION("Lateness of callouts and of timers under load");
MODULE_LICENSE("GPL");
