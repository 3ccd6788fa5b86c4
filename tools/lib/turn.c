// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * turn.c - a turn of a loop: finds the timers that are due, and has the kernel
 * wake the loop for the first that is not
 *
 * Each clock has one callout, whose key is the clock's number. SET moves it, and
 * withdraws its event if it has fired: only a wait reads events.
 */
#include <limits.h>

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
	unsigned int i;

	for (i = 0; i < ctx->nr_clocks; i++)
		ctx->clocks[i].now = callout_now(ctx->clocks[i].clockid);
}

/* From now on the relative times count that were given since the last turn. */
static void begin(struct callout_ctx *ctx)
{
	struct callout_link *link = ctx->waiting.next;
	struct callout_timer *timer;
	struct clock *clock;

	read_clocks(ctx);
	link_init(&ctx->waiting);
	while (link != &ctx->waiting) {
		timer = link_timer(link, _queue);
		link = link->next;
		timer->_queued = QUEUED_NOT;
		clock = clock_of(ctx, timer->_clockid);
		callout_file(clock, timer, time_after(clock->now, timer->_due));
	}
}

/* Queues a timer to be handed out. One with a period is filed again. */
static void fire(struct callout_ctx *ctx, struct clock *clock,
		 struct callout_timer *timer)
{
	__u64 missed;

	link_add_tail(&timer->_queue, &ctx->fired);
	timer->_queued = QUEUED_FIRED;
	ctx->left++;
	timer->_fired_due = timer->_due;
	timer->_overrun = 0;
	if (!timer->_period)
		return;
	missed = (clock->now - timer->_due) / timer->_period;
	timer->_overrun = missed < UINT_MAX ? missed : UINT_MAX;
	callout_file(clock, timer,
		     time_after(timer->_due, (missed + 1) * timer->_period));
}

/*
 * The clocks take turns to be the first: always more timers of one than a turn
 * hands out do not keep the other's back.
 */
static void expire(struct callout_ctx *ctx, unsigned int looks)
{
	struct callout_timer *timer;
	struct clock *clock;
	unsigned int i;

	ctx->first++;
	for (i = 0; i < ctx->nr_clocks; i++) {
		clock = &ctx->clocks[(ctx->first + i) % ctx->nr_clocks];
		while (ctx->left < ctx->max_fired) {
			timer = callout_wheel_pop(&clock->wheel, clock->now,
						  &looks);
			if (!timer)
				break;
			fire(ctx, clock, timer);
		}
	}
}

/* Has the callout wait for the first timer, or for none. */
static struct callout_op move_to_first(const struct clock *clock)
{
	struct callout_op op;

	if (clock->wheel.min == CALLOUT_FOREVER)
		return callout_op_key(callout_op_unset(0), clock->clockid);
	op = callout_op_set(clock->wheel.min, 0);
	op.flags = CALLOUT_ABSTIME;
	op.clockid = clock->clockid;
	return callout_op_key(op, clock->clockid);
}

/* Whether the callout has fired, or is about to, and no timer is due. */
static inline bool clock_is_early(const struct clock *clock)
{
	return clock->filed <= clock->now && clock->wheel.min > clock->now;
}

/*
 * Moves the callouts that are not where they should be and, if @timeout is not
 * 0, waits for one of them, all in one system call or in none. Does not wait if
 * an operation fails; the other is then done by itself. Returns 0, or the error.
 */
static int tell_kernel(struct callout_ctx *ctx, __u64 timeout)
{
	struct callout_event events[NR_CLOCKS];
	struct callout_op ops[NR_CLOCKS];
	struct clock *moved[NR_CLOCKS];
	struct callout_batch batch;
	unsigned int i, n = 0;
	bool stopped;
	int ret;

	for (i = 0; i < ctx->nr_clocks; i++) {
		if (!clock_is_late(&ctx->clocks[i]) &&
		    !clock_is_early(&ctx->clocks[i]))
			continue;
		moved[n] = &ctx->clocks[i];
		ops[n++] = move_to_first(&ctx->clocks[i]);
	}
	if (!n && !timeout)
		return 0;
	callout_batch_init(&batch, ops, n, events, timeout ? NR_CLOCKS : 0);
	if (timeout) {
		batch.flags = CALLOUT_BATCH_STOP | CALLOUT_BATCH_WAIT;
		batch.timeout = timeout;
	}
	ret = callout_batch_submit(ctx->fd, &batch);
	stopped = !ret && batch.done < n;
	for (i = 0; i < batch.done; i++) {
		if (ops[i].result >= 0)
			moved[i]->filed = moved[i]->wheel.min;
		else
			ret = ops[i].result;
	}
	if (stopped && callout_do(ctx->fd, &ops[i]) >= 0)
		moved[i]->filed = moved[i]->wheel.min;
	for (i = 0; i < batch.got; i++)
		clock_of(ctx, events[i].handle)->filed = CALLOUT_FOREVER;
	return ret < 0 ? ret : 0;
}

int callout_ctx_turn(struct callout_ctx *ctx, __u64 timeout)
{
	const __u64 *now = &ctx->clocks[0].now;
	__u64 end = timeout;
	int ret;

	if (ctx->left)
		return ctx->left;
	begin(ctx);
	if (timeout && timeout != CALLOUT_FOREVER)
		end = time_after(*now, timeout);
	expire(ctx, timeout ? UINT_MAX : ctx->max_fired + LOOKS);
	ret = tell_kernel(ctx, ctx->left ? 0 : timeout);
	/*
	 * A callout may come when no timer is due, and a signal when one is, at
	 * whose tick the callout is still to come.
	 */
	while (timeout && !ctx->left) {
		read_clocks(ctx);
		expire(ctx, UINT_MAX);
		if (ctx->left || ret || end <= *now)
			break;
		if (end != CALLOUT_FOREVER)
			timeout = end - *now;
		ret = tell_kernel(ctx, timeout);
	}
	return ctx->left ? (int)ctx->left : ret;
}

/* For a loop that sleeps until then, relative times count from here. */
__u64 callout_ctx_next_due(struct callout_ctx *ctx)
{
	if (ctx->left)
		return 0;
	if (!link_empty(&ctx->waiting))
		begin(ctx);
	return ctx->clocks[0].wheel.min;
}

int callout_ctx_flush(struct callout_ctx *ctx)
{
	if (ctx->left)
		return ctx->left;
	begin(ctx);
	return tell_kernel(ctx, 0);
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
		event->flags = timer->_filed ? CALLOUT_EVENT_PERIODIC : 0;
		event->cookie = (uintptr_t)timer;
		event->due = timer->_fired_due;
		event->fired = ctx->clocks[0].now;
		event->clockid = timer->_clockid;
		event->overrun = timer->_overrun;
	}
	return timer;
}
