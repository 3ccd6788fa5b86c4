/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clock.h - expiry times of slots, in three clocks and two alarm clocks
 */
#ifndef _CALLOUT_DEVICE_CLOCK_H
#define _CALLOUT_DEVICE_CLOCK_H

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include "core/queue.h"
#include "file.h"
#include "handles/table.h"

/* Bit n: clockid n can be used and is not an alarm clock. */
#define CALLOUT_CLOCKS		(1U << CLOCK_MONOTONIC | 1U << CLOCK_BOOTTIME | \
				 1U << CLOCK_REALTIME)
/* The clocks that wake the system from suspend, see alarm.c. */
#define CALLOUT_ALARM_CLOCKS	(1U << CLOCK_BOOTTIME_ALARM | \
				 1U << CLOCK_REALTIME_ALARM)

static inline bool co_clock_is_valid(clockid_t clockid)
{
	return clockid >= 0 && clockid < 32 && CALLOUT_CLOCKS & 1U << clockid;
}

/* The clock that shows the same time as @clockid and wakes nothing. */
static inline clockid_t co_clock_plain(clockid_t clockid)
{
	if (clockid == CLOCK_BOOTTIME_ALARM)
		return CLOCK_BOOTTIME;
	return clockid == CLOCK_REALTIME_ALARM ? CLOCK_REALTIME : clockid;
}

static inline bool co_clock_is_alarm(clockid_t clockid)
{
	return co_clock_plain(clockid) != clockid;
}

/* Added to CLOCK_BOOTTIME by tests. */
extern u64 callout_boot_step;

/* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
static inline u64 co_boot_offset(void)
{
	return ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT)) +
	       READ_ONCE(callout_boot_step);
}

/* CLOCK_REALTIME - CLOCK_MONOTONIC, which is not negative */
static inline u64 co_real_offset(void)
{
	return ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_REAL));
}

/*
 * Return the offset that the caller's time namespace adds to a clock: less than
 * 2^62 in either direction; 0 in the initial namespace, and for CLOCK_REALTIME.
 */
static inline s64 co_timens_offset(clockid_t clockid)
{
#ifdef CONFIG_TIME_NS
	const struct timens_offsets *offsets =
		&current->nsproxy->time_ns->offsets;
	clockid_t plain = co_clock_plain(clockid);
	const struct timespec64 *ts = plain == CLOCK_BOOTTIME ?
				      &offsets->boottime : &offsets->monotonic;

	if (plain == CLOCK_REALTIME)
		return 0;
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
#else
	return 0;
#endif
}

static inline bool co_timens_differs(void)
{
	return co_timens_offset(CLOCK_MONOTONIC) ||
	       co_timens_offset(CLOCK_BOOTTIME);
}

/*
 * Add @offset to @time, which is at most KTIME_MAX. The sum is from 0 to KTIME_MAX;
 * KTIME_MAX means never, in each namespace.
 */
static inline u64 co_time_add(u64 time, s64 offset)
{
	u64 sum = time + offset;

	if (likely(!offset) || time == KTIME_MAX)
		return time;
	if ((s64)sum >= 0)
		return sum;
	return offset < 0 ? 0 : KTIME_MAX;
}

/* Convert a time of the caller's clock to the initial namespace, which slots use. */
static inline u64 co_time_in(clockid_t clockid, u64 time)
{
	return co_time_add(time, -co_timens_offset(clockid));
}

/* Convert a time of the initial namespace to the caller's clock. */
static inline u64 co_time_out(clockid_t clockid, u64 time)
{
	return co_time_add(time, co_timens_offset(clockid));
}

/* The slot's expiry time in the clock that its flags give. */
static inline u64 co_slot_due(const struct callout_slot *slot)
{
	return READ_ONCE(slot->due);
}

static inline void co_slot_set_due(struct callout_slot *slot, u64 due)
{
	WRITE_ONCE(slot->due, due);
}

/* The offset from CLOCK_MONOTONIC to the clock of callout_slot.due. */
static inline u64 co_slot_offset(u8 flags)
{
	if (flags & CALLOUT_SLOT_BOOT)
		return co_boot_offset();
	return flags & CALLOUT_SLOT_REAL ? co_real_offset() : 0;
}

/* Is the slot's clock CLOCK_REALTIME or its alarm clock, and was the slot's time relative? */
static inline bool co_slot_relative(u8 flags)
{
	return (flags & CALLOUT_SLOT_REAL_MASK) == CALLOUT_SLOT_REAL_REL;
}

/*
 * The value of callout_slot.next of a callout that fired before its clock was set,
 * where a setting would have ended it. No clock has this offset.
 */
#define CALLOUT_FIRED_UNSET	U64_MAX

/* Does a setting of its clock end the callout, or has one ended it? */
static inline bool co_slot_on_set(u8 flags)
{
	return (flags & CALLOUT_SLOT_REAL_MASK) == CALLOUT_SLOT_REAL_ON_SET;
}

/*
 * The expiry time in CLOCK_MONOTONIC of a slot whose clock is ahead by @offset; 0,
 * which has passed, if a setting of the clock has ended the callout.
 */
static inline u64 co_slot_due_at(const struct callout_slot *slot, u8 flags,
				 u64 offset)
{
	u64 due = co_slot_due(slot);

	if (co_slot_on_set(flags) && slot->next != offset)
		return 0;
	return due > offset ? due - offset : 0;
}

/* The slot's expiry time in CLOCK_MONOTONIC. */
static inline u64 co_slot_due_mono(const struct callout_slot *slot)
{
	u8 flags = READ_ONCE(slot->node.flags);

	if (likely(!(flags & CALLOUT_SLOT_STEPS)))
		return co_slot_due(slot);
	return co_slot_due_at(slot, flags, co_slot_offset(flags));
}

/* The clock with which a slot was set. */
static inline clockid_t co_slot_clock(const struct callout_slot *slot)
{
	u8 flags = READ_ONCE(slot->node.flags);

	if (likely(!(flags & CALLOUT_SLOT_CLOCK)))
		return CLOCK_MONOTONIC;
	if (flags & CALLOUT_SLOT_REAL_MASK)
		return flags & CALLOUT_SLOT_ALARM ? CLOCK_REALTIME_ALARM :
						    CLOCK_REALTIME;
	return flags & CALLOUT_SLOT_ALARM ? CLOCK_BOOTTIME_ALARM :
					    CLOCK_BOOTTIME;
}

/* The slot's expiry time in its clock, as the clock is set now. */
static inline u64 co_slot_due_clock(const struct callout_slot *slot)
{
	u8 flags = READ_ONCE(slot->node.flags);
	u64 due = co_slot_due(slot);

	if (unlikely(co_slot_relative(flags)))
		due = co_time_add(due, co_real_offset() -
				       co_slot_offset(flags));
	return due;
}

/* The default slack of programs' callouts, in nanoseconds and in ticks: at least 1. */
extern u64 callout_slack_ns;
extern unsigned int callout_slack_ticks;

/* co_slack_tick() with the default slack */
static inline u64 co_default_tick(u64 due, u64 now)
{
	return co_first_multiple(due, now, callout_slack_ns) * callout_slack_ticks;
}

u64 co_slack_tick(struct callout_base *base, u64 due, u64 slack, u64 now);

void co_slot_requeue(struct callout_file *file, struct callout_base *base,
		     struct callout_slot *slot, u64 tick)
	__must_hold(&base->lock);

void co_clock_stepped(void);

void co_slack_init(unsigned int slack_ns, u64 tick_ns);
void co_clock_init(void);
void co_clock_exit(void);

#endif /* _CALLOUT_DEVICE_CLOCK_H */
