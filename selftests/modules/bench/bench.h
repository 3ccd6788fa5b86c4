/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.h - the parts of callout_bench.ko
 */
#ifndef _CALLOUT_BENCH_H
#define _CALLOUT_BENCH_H

#include <linux/callout.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/timer.h>

#undef pr_fmt
#define pr_fmt(fmt) fmt

/* A timer of any facility. */
union bench_timer {
	struct callout callout;
	callout_handle_t handle;
	void *arg;
	struct timer_list timer;
	struct hrtimer hrtimer;
};

/**
 * struct bench_facility - one whose ticks and expiry are measured
 * @name: its rows; NULL ends an array
 * @set: sets a timer, @ticks of the kernel after @now
 * @cancel: cancels it, or finds that it has run
 * @idle: its idle ticks are measured too, and expiry among others
 * @jumps: the ticks after a jump of jiffies are measured too
 */
struct bench_facility {
	const char *name;
	void (*set)(union bench_timer *t, unsigned long ticks, ktime_t now);
	void (*cancel)(union bench_timer *t);
	bool idle;
	bool jumps;
};

/*
 * Their first has no timers. The second array is for callout.ko loaded with
 * tick_source=hrtimer.
 */
extern const struct bench_facility bench_facilities[];
extern const struct bench_facility bench_hrtimer_source[];

/* How many timers have run. */
extern unsigned int bench_ran;
/* A timer that expires sets itself again. */
extern bool bench_periodic;

/* Time for workers that follow the number outstanding. Time that is slept leaps. */
static inline void bench_settle(void)
{
	msleep(MSEC_PER_SEC);
}

int bench_cpus(void);
void bench_ops(void);
void bench_ops_hrtimer_source(void);
int bench_tick(const struct bench_facility *none);

#endif /* _CALLOUT_BENCH_H */
