/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * ctx.h - a context, for the files of the library that work on it
 */
#ifndef _LIBCALLOUT_CTX_H
#define _LIBCALLOUT_CTX_H

#include "wheel.h"

#define TIME_LAST	(~0ULL >> 1)

/* CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME, and the alarm clocks of the last two. */
#define NR_CLOCKS	5

/* callout_timer._queued */
enum queued { QUEUED_NOT, QUEUED_WAITING, QUEUED_FIRED };

/**
 * struct callout_clock - the timers of a clock, and the callout that stands for them
 * @wheel: the timers
 * @ctx: the context that the clock is in
 * @clockid: the clock
 * @fd: the timerfd that is the callout, or -1 if the callout is the device's
 * @now: what the clock showed when it was last read, in a turn
 * @filed: when the callout is due, or 0 if it is known to have fired; CALLOUT_FOREVER if
 *	there is none
 */
struct callout_clock {
	struct wheel wheel;
	struct callout_ctx *ctx;
	clockid_t clockid;
	int fd;
	__u64 now;
	__u64 filed;
};

/**
 * struct kernel - a context's interface to the kernel: the device, or timerfds
 * @add_clock: prepare a callout for the clock, or return why that is impossible
 * @tell: move the callouts of @n clocks, each to the first timer of its wheel, and then,
 *	if @timeout is not 0 and no error occurred, wait for any. Return 0, or the
 *	last error; the other callouts are moved all the same.
 */
struct kernel {
	int (*add_clock)(struct callout_ctx *ctx, struct callout_clock *clock);
	int (*tell)(struct callout_ctx *ctx, struct callout_clock **moved,
		    unsigned int n, __u64 timeout);
};

extern const struct kernel callout_on_device;
extern const struct kernel callout_on_timerfd;

/**
 * struct callout_ctx - a descriptor that a loop watches, and timers
 * @kernel: the device or timerfds behind the descriptor
 * @fd: the descriptor
 * @on_timerfd: see callout_ctx_on_timerfd()
 * @max_fired: how many timers a turn hands out
 * @left: length of @fired
 * @nr_clocks: how many clocks were used
 * @first: modulo @nr_clocks, the clock whose timers were looked for first
 * @waiting: timers whose relative time counts from the next turn
 * @fired: timers that a turn will hand out
 * @clocks: in the order of first use, CLOCK_MONOTONIC first
 */
struct callout_ctx {
	const struct kernel *kernel;
	int fd;
	int on_timerfd;
	unsigned int max_fired;
	unsigned int left;
	unsigned int nr_clocks;
	unsigned int first;
	struct callout_link waiting;
	struct callout_link fired;
	struct callout_clock *clocks[NR_CLOCKS];
};

/* The time after @time. */
static inline __u64 time_after(__u64 now, __u64 time)
{
	return time < TIME_LAST - now ? now + time : TIME_LAST;
}

/*
 * Whether the callout is later than the first timer. A callout that is past is
 * not: it fires at the next multiple of the default slack.
 */
static inline bool clock_is_late(const struct callout_clock *clock)
{
	return clock->wheel.min < clock->filed && clock->filed > clock->now;
}

/* ctx.c */
void callout_unqueue(struct callout_timer *timer);
void callout_file_at(struct callout_clock *clock, struct callout_timer *timer,
		     __u64 at);

/*
 * The time from @due to @due + @slack at which timers meet: the last multiple of
 * the greatest power of two that is certain to have a multiple there.
 */
static inline __u64 meeting(__u64 due, __u64 slack)
{
	__u64 grain = 1ULL << (63 - __builtin_clzll(slack));
	__u64 time = (due + slack) & ~(grain - 1);

	return time < TIME_LAST ? time : TIME_LAST;
}

/* Arm a timer of the clock for the time @due. */
static inline void callout_file(struct callout_clock *clock,
				struct callout_timer *timer, __u64 due)
{
	__u64 at = timer->_slack ? meeting(due, timer->_slack) : due;

	timer->_due = due;
	if (timer->_filed == FILED_IN_SLOT && at >= timer->_at)
		timer->_at = at;
	else
		callout_file_at(clock, timer, at);
}

#endif /* _LIBCALLOUT_CTX_H */
