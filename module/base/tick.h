/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tick.h - tick sources: a source tells a base the time and wakes it up
 */
#ifndef _CALLOUT_TICK_H
#define _CALLOUT_TICK_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/types.h>

struct callout_base;
struct callout_scheme_params;

/**
 * struct callout_tick_source - how a base learns that a tick has come
 * @name: as given to the module parameter tick_source=
 * @now: the current tick of a base; any context
 * @from_ns: a tick of a base at which CLOCK_MONOTONIC will have reached @due, as near as is
 *	known, and after the present tick; @now is the clock's time
 * @create: called when a base has only its lock and its scheme; may replace the scheme's
 *	operations; may sleep; 0 or -errno. NULL if the source needs no such step.
 * @init: prepares a base's members for this source; may sleep
 * @program: makes co_softclock(), or callout_base.again, run on the base's CPU at tick @tick
 *	or soon after it, and not before it; the base's lock is held
 * @shutdown: stops the source: co_softclock() does not run any more; may sleep
 */
struct callout_tick_source {
	const char *name;
	u64 (*now)(struct callout_base *base);
	u64 (*from_ns)(struct callout_base *base, u64 due, u64 now);
	int (*create)(struct callout_base *base,
		      const struct callout_scheme_params *params);
	void (*init)(struct callout_base *base);
	void (*program)(struct callout_base *base, u64 tick);
	void (*shutdown)(struct callout_base *base);
};

/* CLOCK_MONOTONIC at jiffy 0, or less than a tick later. */
extern atomic64_t callout_jiffy_zero;

extern const struct callout_tick_source callout_tick_jiffies;
extern const struct callout_tick_source callout_tick_hrtimer;

/* Set up a source that is simulated on the hrtimer source. */
void co_hrtimer_setup(struct callout_base *base,
		      enum hrtimer_restart (*fn)(struct hrtimer *timer));

#define CALLOUT_MAX_HZ	1000000U

u64 co_tick_length(const struct callout_tick_source *tick, unsigned int hz);

#ifdef CALLOUT_KUNIT_SEES
unsigned long co_jiffies_hop(u64 now, u64 tick, unsigned int shift);
unsigned long co_jiffies_hop_again(u64 now, u64 tick, unsigned long hop,
				   unsigned int shift);
#endif

/* A source calls this in softirq context, at the tick for which it was programmed. */
void co_softclock(struct callout_base *base);

#endif /* _CALLOUT_TICK_H */
