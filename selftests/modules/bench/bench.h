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
 * struct bench_facility - a facility whose ticks and expiry are measured
 * @name: the name of its rows; NULL ends an array
 * @set: set a timer, @ticks of the kernel after @now
 * @cancel: cancel it, or find that it has run
 * @idle: measure its idle ticks too, and expiry among others
 * @jumps: measure the ticks after a jump of jiffies too
 */
struct bench_facility {
	const char *name;
	void (*set)(union bench_timer *t, unsigned long ticks, ktime_t now);
	void (*cancel)(union bench_timer *t);
	bool idle;
	bool jumps;
};

/*
 * The first facility has no timers. The second array is for callout.ko loaded
 * with tick_source=hrtimer.
 */
extern const struct bench_facility bench_facilities[];
extern const struct bench_facility bench_hrtimer_source[];

/* Number of timers that have run. */
extern unsigned int bench_ran;
/* Timers set themselves again when they expire. */
extern bool bench_periodic;

/* Time for workers that adapt to the number outstanding. The clock leaps over slept time. */
static inline void bench_settle(void)
{
	msleep(MSEC_PER_SEC);
}

int bench_cpus(void);
void bench_ops(void);
void bench_ops_hrtimer_source(void);
int bench_tick(const struct bench_facility *none);

#endif /* _CALLOUT_BENCH_H */
