// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * turn.c - a turn of a loop: finds the timers that are due, and asks the kernel
 * to wake the loop for the first timer that is not
 *
 * Each clock has one callout, which is the device's or a timerfd: see struct kernel.
 */
#include <limits.h>
#include <poll.h>

#include "ctx.h"

/*
 * Without a wait, a turn looks at this many timers more than it may hand out. The
 * fuzzer has few timers, and fewer looks.
 */
#ifndef LOOKS
#define LOOKS		1024U
#endif

static void read_clocks(struct callout_ctx *ctx)
{
	struct callout_clock *clock;
	unsigned int i;

	for (i = 0; i < ctx->nr_clocks; i++) {
		clock = ctx->clocks[i];
		clock->now = callout_now(clock->clockid);
		if (clock->now < clock->wheel.base)
			callout_wheel_set_back(&clock->wheel, clock->now);
	}
}

/* Start counting the relative times that were given since the last turn. */
static void begin(struct callout_ctx *ctx)
{
	struct callout_link *link = ctx->waiting.next;
	struct callout_timer *timer;
	struct callout_clock *clock;

	read_clocks(ctx);
	link_init(&ctx->waiting);
	while (link != &ctx->waiting) {
		timer = link_timer(link, _queue);
		link = link->next;
		timer->_queued = QUEUED_NOT;
		clock = timer->_clock;
		callout_file(clock, timer, time_after(clock->now, timer->_due));
	}
}

/* Queue a timer to be handed out. A periodic timer is filed again. */
static void fire(struct callout_ctx *ctx, struct callout_clock *clock,
		 struct callout_timer *timer)
{
	link_add_tail(&timer->_queue, &ctx->fired);
	timer->_queued = QUEUED_FIRED;
	ctx->left++;
	timer->_fired_due = timer->_due;
	timer->_overrun = 0;
	if (!timer->_period)
		return;
	timer->_overrun = (clock->now - timer->_due) / timer->_period;
	callout_file(clock, timer,
		     time_after(timer->_due, (timer->_overrun + 1) * timer->_period));
}

/*
 * The clocks take turns to be the first: a clock with more due timers than a
 * turn hands out does not delay the timers of the others.
 */
static void expire(struct callout_ctx *ctx, unsigned int looks)
{
	struct callout_timer *timer;
	struct callout_clock *clock;
	unsigned int i, none = 0;

	ctx->first++;
	for (i = 0; i < ctx->nr_clocks; i++) {
		clock = ctx->clocks[(ctx->first + i) % ctx->nr_clocks];
		/* Without room, only wheel.min is updated: is a timer left that is due? */
		while ((timer = callout_wheel_pop(&clock->wheel, clock->now,
						  ctx->left < ctx->max_fired ?
						  &looks : &none)))
			fire(ctx, clock, timer);
	}
}

/* Whether the callout has fired, or is about to, and no timer is due. */
static inline bool clock_is_early(const struct callout_clock *clock)
{
	return clock->filed <= clock->now && clock->wheel.min > clock->now;
}

/*
 * Whether the callout, by clock->filed, will fire, and in time for the first timer. If it
 * has fired all the same, its clock was set back: only the descriptor shows this, and it
 * would make the loop turn until then.
 */
static inline bool may_be_set_back(const struct callout_clock *clock)
{
	return (clock->clockid == CLOCK_REALTIME ||
		clock->clockid == CLOCK_REALTIME_ALARM) &&
	       clock->filed > clock->now && clock->filed <= clock->wheel.min &&
	       clock->filed != CALLOUT_FOREVER;
}

/* Called when no timer is due. Whether a callout may have fired before its clock was set back. */
static bool any_set_back(const struct callout_ctx *ctx)
{
	struct pollfd poll_ctx = { .fd = ctx->fd, .events = POLLIN };
	unsigned int i;

	for (i = 0; i < ctx->nr_clocks; i++)
		if (may_be_set_back(ctx->clocks[i]))
			return poll(&poll_ctx, 1, 0) == 1;
	return false;
}

/*
 * Move the callouts that have the wrong time. With @set_back, also move callouts that may
 * have fired before their clock was set back. If @timeout is not 0, wait for one of them,
 * unless a callout could not be moved. Return 0, or the error.
 */
static int tell_kernel(struct callout_ctx *ctx, __u64 timeout, bool set_back)
{
	struct callout_clock *moved[NR_CLOCKS], *clock;
	unsigned int i, n = 0;

	for (i = 0; i < ctx->nr_clocks; i++) {
		clock = ctx->clocks[i];
		if (clock_is_late(clock) || clock_is_early(clock) ||
		    (set_back && may_be_set_back(clock)))
			moved[n++] = clock;
	}
	return n || timeout ? ctx->kernel->tell(ctx, moved, n, timeout) : 0;
}

int callout_ctx_turn(struct callout_ctx *ctx, __u64 timeout)
{
	const __u64 *now = &ctx->clocks[0]->now;
	__u64 end = timeout;
	bool set_back;
	int ret;

	if (ctx->left)
		return ctx->left;
	begin(ctx);
	if (timeout && timeout != CALLOUT_FOREVER)
		end = time_after(*now, timeout);
	expire(ctx, timeout ? UINT_MAX : ctx->max_fired + LOOKS);
	set_back = !ctx->left && !timeout && any_set_back(ctx);
	ret = tell_kernel(ctx, ctx->left ? 0 : timeout, set_back);
	/*
	 * A callout may fire when no timer is due. A signal may come when a
	 * timer is due whose callout has not fired yet at this tick.
	 */
	while (timeout && !ctx->left) {
		read_clocks(ctx);
		expire(ctx, UINT_MAX);
		if (ctx->left || ret || end <= *now)
			break;
		if (end != CALLOUT_FOREVER)
			timeout = end - *now;
		ret = tell_kernel(ctx, timeout, false);
	}
	return ctx->left ? (int)ctx->left : ret;
}

/* The loop sleeps until the time returned, so relative times count from here. */
__u64 callout_ctx_next_due(struct callout_ctx *ctx)
{
	if (ctx->left)
		return 0;
	if (!link_empty(&ctx->waiting))
		begin(ctx);
	return ctx->clocks[0]->wheel.min;
}

/* Return whether timers may be due that the last turn had no room or no time for. */
bool callout_ctx_more(const struct callout_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_clocks; i++)
		if (ctx->clocks[i]->wheel.min <= ctx->clocks[i]->now)
			return true;
	return ctx->left;
}

int callout_ctx_flush(struct callout_ctx *ctx)
{
	if (ctx->left)
		return ctx->left;
	begin(ctx);
	return tell_kernel(ctx, 0, false);
}

struct callout_timer *callout_ctx_next(struct callout_ctx *ctx,
				       struct callout_event *event)
{
	struct callout_timer *timer;

	if (event)
		memset(event, 0, sizeof(*event));
	if (!ctx->left)
		return NULL;
	timer = link_timer(ctx->fired.next, _queue);
	callout_unqueue(timer);
	timer->_armed = timer->_filed;
	if (event) {
		event->type = CALLOUT_EVENT_FIRED;
		event->flags = timer->_filed ? CALLOUT_EVENTF_PERIODIC : 0;
		event->cookie = (uintptr_t)timer;
		event->due = timer->_fired_due;
		event->fired = ctx->clocks[0]->now;
		event->clockid = timer->_clock->clockid;
		event->overrun = timer->_overrun;
	}
	return timer;
}
