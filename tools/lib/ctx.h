/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * ctx.h - a context, for the files of the library that work on it
 */
#ifndef _LIBCALLOUT_CTX_H
#define _LIBCALLOUT_CTX_H

#include "libcallout.h"

#define TIME_LAST	(~0ULL >> 1)

/* callout_op.op of a slot that is empty, or whose operation has failed */
#define OP_NONE		0U

/**
 * struct callout_ctx - an open file, and the state between turns
 * @fd: the file
 * @turn: counts turns, from a multiple of 2^32 that is its own
 * @now: CLOCK_MONOTONIC as it was last read, in a turn
 * @ops: the queue, with room for @max_ops
 * @owners: the timers of @ops, see ctx.c
 * @nr_ops: length of the queue
 * @max_ops: room in the queue
 * @nr_live: how many of @ops are to be done
 * @moved: timers that were moved to a later time in this turn, or NULL
 * @nr_moved: length of @moved
 * @max_moved: room in @moved
 * @nr_failed: the first @nr_failed of @ops failed in the last turn
 * @next_failed: the first failed operation that was not handed out
 * @events: the events of the last turn; those with cookie 0 are dropped
 * @nr_events: how many events were read
 * @max_events: room for events
 * @next_event: the first event that was not handed out
 * @left: how many timers are to be handed out
 * @nr_filed: callouts in the kernel, fired and unread ones included
 * @bound: none of them that runs on CLOCK_MONOTONIC fires earlier
 * @other_clock: another clock was used since @nr_filed was 0
 * @nr_idle: turns that found no event since @bound was asked for
 */
struct callout_ctx {
	int fd;
	__u64 turn;
	__u64 now;
	struct callout_op *ops;
	struct callout_timer **owners;
	unsigned int nr_ops, max_ops, nr_live;
	struct callout_timer **moved;
	unsigned int nr_moved, max_moved;
	unsigned int nr_failed, next_failed;
	struct callout_event *events;
	unsigned int nr_events, max_events, next_event;
	unsigned int left;
	unsigned int nr_filed;
	__u64 bound;
	bool other_clock;
	unsigned int nr_idle;
};

static inline bool has_slot(const struct callout_ctx *ctx,
			    const struct callout_timer *timer)
{
	return timer->_ctx == ctx && timer->_turn == ctx->turn;
}

/* Whether the operation has failed, and that was not handed out. */
static inline bool slot_failed(const struct callout_ctx *ctx, unsigned int slot)
{
	return ctx->ops[slot].op == OP_NONE && ctx->owners[slot];
}

/* The time after @time. */
static inline __u64 time_after(__u64 now, __u64 time)
{
	return time < TIME_LAST - now ? now + time : TIME_LAST;
}

/* ctx.c */
void callout_empty_slot(struct callout_ctx *ctx, unsigned int slot);
void callout_drop_event(struct callout_ctx *ctx, struct callout_timer *timer);

/* turn.c */
void callout_op_at(struct callout_ctx *ctx, struct callout_op *op,
		   const struct callout_timer *timer);
void callout_op_done(struct callout_ctx *ctx, const struct callout_op *op,
		     struct callout_timer *owner);

#endif /* _LIBCALLOUT_CTX_H */
