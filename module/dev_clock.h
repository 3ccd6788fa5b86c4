/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev_clock.h - expiry times of slots, in two clocks
 */
#ifndef _CALLOUT_DEV_CLOCK_H
#define _CALLOUT_DEV_CLOCK_H

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include "arm.h"
#include "dev_file.h"
#include "table.h"

/* Added to CLOCK_BOOTTIME by tests. */
extern u64 callout_boot_step;

/* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
static inline u64 callout_boot_offset(void)
{
	return ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT)) +
	       READ_ONCE(callout_boot_step);
}

static inline clockid_t callout_slot_clock(const struct callout_slot *slot)
{
	return READ_ONCE(slot->node.flags) & CALLOUT_SLOT_BOOT ?
	       CLOCK_BOOTTIME : CLOCK_MONOTONIC;
}

/* The slot's expiry time in its own clock. */
static inline u64 callout_slot_due(const struct callout_slot *slot)
{
	return READ_ONCE(slot->due);
}

static inline void callout_slot_set_due(struct callout_slot *slot, u64 due)
{
	WRITE_ONCE(slot->due, due);
}

/* The slot's expiry time in CLOCK_MONOTONIC. */
static inline u64 callout_slot_due_mono(const struct callout_slot *slot)
{
	u64 due = callout_slot_due(slot), offset;

	if (likely(!(READ_ONCE(slot->node.flags) & CALLOUT_SLOT_BOOT)))
		return due;
	offset = callout_boot_offset();
	return due > offset ? due - offset : 0;
}

/* A tick from @due of CLOCK_MONOTONIC to @slack later, shared if possible. */
static inline u64 callout_slack_tick(struct callout_base *base, u64 due,
				     u64 slack, u64 now)
{
	u64 tick = callout_from_ns(base, due, now);

	if (likely(!slack))
		return tick;
	due = min_t(u64, due + slack, KTIME_MAX);
	return callout_coalesce(tick, callout_from_ns(base, due, now));
}

void callout_slot_refile(struct callout_file *file, struct callout_base *base,
			 struct callout_slot *slot, u64 tick)
	__must_hold(&base->lock);

u64 callout_file_next(struct callout_file *file, clockid_t clockid);
void callout_clock_resume(void);

void callout_clock_init(void);
void callout_clock_exit(void);

#endif /* _CALLOUT_DEV_CLOCK_H */
