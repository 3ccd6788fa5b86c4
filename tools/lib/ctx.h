/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * ctx.h - a context, for the files of the library that work on it
 */
#ifndef _LIBCALLOUT_CTX_H
#define _LIBCALLOUT_CTX_H

#include "wheel.h"

#define TIME_LAST	(~0ULL >> 1)

#define NR_CLOCKS	2

/* callout_timer._queued */
enum queued { QUEUED_NOT, QUEUED_WAITING, QUEUED_FIRED };

/**
 * struct clock - the timers of a clock, and the callout that stands for them
 * @wheel: the timers
 * @clockid: the clock, also the key of the callout
 * @now: what the clock showed when it was last read, in a turn
 * @filed: when the callout is due; CALLOUT_FOREVER if there is none
 */
struct clock {
	struct wheel wheel;
	clockid_t clockid;
	__u64 now;
	__u64 filed;
};

/**
 * struct callout_ctx - an open file, and timers
 * @fd: the file
 * @max_fired: how many timers a turn hands out
 * @left: length of @fired
 * @nr_clocks: 1 until a timer of another clock than CLOCK_MONOTONIC is armed
 * @first: modulo @nr_clocks, the clock whose timers were looked for first
 * @waiting: timers whose relative time is to count from the next turn
 * @fired: timers that are to be handed out
 * @clocks: CLOCK_MONOTONIC first
 */
struct callout_ctx {
	int fd;
	unsigned int max_fired;
	unsigned int left;
	unsigned int nr_clocks;
	unsigned int first;
	struct callout_link waiting;
	struct callout_link fired;
	struct clock clocks[NR_CLOCKS];
};

/* The time after @time. */
static inline __u64 time_after(__u64 now, __u64 time)
{
	return time < TIME_LAST - now ? now + time : TIME_LAST;
}

static inline struct clock *clock_of(struct callout_ctx *ctx, clockid_t clockid)
{
	return &ctx->clocks[clockid != CLOCK_MONOTONIC];
}

/*
 * Whether the callout is later than the first timer. One that is past is not: it
 * fires at the next tick.
 */
static inline bool clock_is_late(const struct clock *clock)
{
	return clock->wheel.min < clock->filed && clock->filed > clock->now;
}

/* ctx.c */
void callout_unqueue(struct callout_timer *timer);
void callout_file_at(struct clock *clock, struct callout_timer *timer,
		     __u64 at);

/*
 * The time from @due to @due + @slack at which timers meet: the last multiple of
 * the greatest power of two that surely has a multiple there.
 */
static inline __u64 meeting(__u64 due, __u64 slack)
{
	__u64 grain = 1ULL << (63 - __builtin_clzll(slack));
	__u64 time = (due + slack) & ~(grain - 1);

	return time < TIME_LAST ? time : TIME_LAST;
}

/* Arms a timer of the clock for the time @due. */
static inline void callout_file(struct clock *clock,
				struct callout_timer *timer, __u64 due)
{
	__u64 at = timer->_slack ? meeting(due, timer->_slack) : due;

	timer->_due = due;
	if (timer->_filed && at >= timer->_at)
		timer->_at = at;
	else
		callout_file_at(clock, timer, at);
}

#endif /* _LIBCALLOUT_CTX_H */
