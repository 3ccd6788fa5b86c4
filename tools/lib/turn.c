// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * turn.c - a turn of a loop: does what is queued, reads events, hands out timers
 *
 * A callout's cookie is the address of its timer. A batch does the operations
 * before it reads events, so there is no event of a timer that was disarmed
 * before. timer._event is the event that was read and not handed out yet.
 *
 * A turn makes a system call only if operations are queued, if it is to wait,
 * or if a callout can have fired: none has before ctx->bound.
 */
#include <errno.h>

#include "ctx.h"

/* Timers that are filed again in one call. */
#define REFILES		64U

/* A flag of an event: its timer could not be filed again, by overrun. */
#define EVENT_FAILED	(1U << 31)

/* In the time of a call the kernel looks at this many timers or more. */
#define LOOKS		64U

/*
 * A relative time of CLOCK_MONOTONIC counts from the turn's begin. The clock is
 * that of the timer: RESET names none. Without @timer it is an UNSET.
 */
void callout_op_at(struct callout_ctx *ctx, struct callout_op *op,
		   const struct callout_timer *timer)
{
	if (!timer || timer->_clockid != CLOCK_MONOTONIC ||
	    op->flags & CALLOUT_ABSTIME)
		return;
	op->time = time_after(ctx->now, op->time);
	op->flags |= CALLOUT_ABSTIME;
}

static void unfiled(struct callout_ctx *ctx)
{
	if (--ctx->nr_filed)
		return;
	ctx->bound = CALLOUT_FOREVER;
	ctx->other_clock = false;
}

/* An operation was done. Without @timer it was an UNSET. */
void callout_op_done(struct callout_ctx *ctx, const struct callout_op *op,
		     struct callout_timer *timer)
{
	if (!timer) {
		unfiled(ctx);
		return;
	}
	if (op->op == CALLOUT_OP_SET)
		ctx->nr_filed++;
	timer->_due = op->flags & CALLOUT_ABSTIME ? op->time :
		      time_after(callout_now(timer->_clockid), op->time);
	timer->_slack = op->slack;
	timer->_period = op->period;
	timer->_filed = CALLOUT_FOREVER;
	if (timer->_clockid != CLOCK_MONOTONIC) {
		ctx->other_clock = true;
		return;
	}
	if (op->time < ctx->bound)
		ctx->bound = op->time;
	if (!op->period)
		timer->_filed = op->time;
}

/* Closes the gaps in the queue. No timer may have a slot. */
static void compact(struct callout_ctx *ctx)
{
	unsigned int i, n = 0;

	for (i = 0; i < ctx->nr_ops; i++) {
		if (ctx->ops[i].op == OP_NONE)
			continue;
		callout_op_at(ctx, &ctx->ops[i], ctx->owners[i]);
		ctx->ops[n] = ctx->ops[i];
		ctx->owners[n++] = ctx->owners[i];
	}
	ctx->nr_ops = n;
}

/* From now on the relative times count that were given since the last turn. */
static void begin(struct callout_ctx *ctx)
{
	struct callout_timer *timer;
	unsigned int i;

	ctx->turn++;
	if (ctx->nr_moved || ctx->nr_live)
		ctx->now = callout_now(CLOCK_MONOTONIC);
	for (i = 0; i < ctx->nr_moved; i++) {
		timer = ctx->moved[i];
		if (!timer)
			continue;
		timer->_due = time_after(ctx->now, timer->_due);
		timer->_moved = 0;
	}
	ctx->nr_moved = 0;
	compact(ctx);
}

/* The only place that knows a batch. */
static int submit(struct callout_ctx *ctx, struct callout_op *ops,
		  unsigned int nr_ops, unsigned int nr_events, __u64 timeout,
		  struct callout_batch *batch)
{
	callout_batch_init(batch, ops, nr_ops, nr_events ? ctx->events : NULL,
			   nr_events);
	if (timeout) {
		batch->flags = CALLOUT_BATCH_WAIT;
		batch->timeout = timeout;
	}
	return callout_batch_submit(ctx->fd, batch);
}

/*
 * The first @done operations were tried. The queue keeps the failed ones, to be
 * handed out, and behind them those that were not tried.
 */
static void settle(struct callout_ctx *ctx, unsigned int done)
{
	struct callout_timer *timer;
	unsigned int i, n = 0;
	struct callout_op *op;

	ctx->nr_failed = 0;
	ctx->next_failed = 0;
	for (i = 0; i < ctx->nr_ops; i++) {
		op = &ctx->ops[i];
		timer = ctx->owners[i];
		if (i < done) {
			if (op->result >= 0) {
				callout_op_done(ctx, op, timer);
				if (timer)
					timer->_handle = op->handle;
				continue;
			}
			if (!timer)
				continue;
			if (op->result == -ENOENT) {
				timer->_handle = 0;
				timer->_filed = CALLOUT_FOREVER;
				unfiled(ctx);
			}
			op->op = OP_NONE;
			ctx->nr_failed++;
			ctx->left++;
		}
		if (timer) {
			timer->_slot = n;
			timer->_turn = ctx->turn;
		}
		ctx->ops[n] = *op;
		ctx->owners[n++] = timer;
	}
	ctx->nr_ops = n;
	ctx->nr_live = n - ctx->nr_failed;
}

/* A second event of a periodic timer counts as overrun of the first. */
static void merge(struct callout_event *first, struct callout_event *second)
{
	if (__builtin_add_overflow(first->overrun, second->overrun,
				   &first->overrun) ||
	    __builtin_add_overflow(first->overrun, 1U, &first->overrun))
		first->overrun = ~0U;
	second->cookie = 0;
}

/* Files timers again. Those that cannot be are handed out with the error. */
static void refile(struct callout_ctx *ctx, struct callout_op *ops,
		   unsigned int n)
{
	struct callout_timer *timer;
	struct callout_batch batch;
	struct callout_event *e;
	unsigned int i;
	int ret;

	if (!n)
		return;
	ret = submit(ctx, ops, n, 0, 0, &batch);
	for (i = 0; i < n; i++) {
		timer = (struct callout_timer *)(uintptr_t)ops[i].cookie;
		if (i < batch.done)
			ret = ops[i].result;
		if (ret < 0) {
			e = &ctx->events[timer->_event - 1];
			e->flags |= EVENT_FAILED;
			e->overrun = -ret;
			continue;
		}
		callout_op_done(ctx, &ops[i], timer);
		timer->_handle = ops[i].handle;
		callout_drop_event(ctx, timer);
	}
}

/*
 * Whether the event of a timer that was moved to a later time comes too early.
 * If not, the event becomes that of the later time.
 */
static bool too_early(struct callout_ctx *ctx, struct callout_timer *timer,
		      struct callout_event *e)
{
	if (e->fired < timer->_due) {
		if (ctx->now < timer->_due)
			ctx->now = callout_now(CLOCK_MONOTONIC);
		if (ctx->now < timer->_due)
			return true;
		e->fired = ctx->now;
	}
	e->due = timer->_due;
	return false;
}

static void reap(struct callout_ctx *ctx, unsigned int got)
{
	struct callout_op ops[REFILES], *op;
	struct callout_timer *timer;
	struct callout_event *e;
	unsigned int i, n = 0;
	bool moved;

	ctx->nr_events = got;
	ctx->next_event = 0;
	for (i = 0; i < got; i++) {
		e = &ctx->events[i];
		timer = (struct callout_timer *)(uintptr_t)e->cookie;
		moved = timer->_due > timer->_filed;
		if (e->flags & CALLOUT_EVENT_PERIODIC) {
			timer->_due = e->due + (e->overrun + 1ULL) *
					       timer->_period;
			ctx->bound = 0;
		} else {
			timer->_handle = 0;
			timer->_filed = CALLOUT_FOREVER;
			unfiled(ctx);
		}
		if (timer->_event) {
			merge(&ctx->events[timer->_event - 1], e);
			continue;
		}
		timer->_event = i + 1;
		ctx->left++;
		if (!moved || !too_early(ctx, timer, e))
			continue;
		op = &ops[n++];
		*op = callout_op_set(timer->_due, e->cookie);
		op->flags = CALLOUT_ABSTIME;
		op->slack = timer->_slack;
		if (n == REFILES) {
			refile(ctx, ops, n);
			n = 0;
		}
	}
	refile(ctx, ops, n);
	/* There may be more, unless these were all. */
	if (got == ctx->max_events && ctx->nr_filed)
		ctx->bound = 0;
}

/*
 * All operations are tried before events are read. If one that cancels a
 * callout were skipped, the event of that callout could be read, and its timer
 * may have been freed (use-after-free). So there is no CALLOUT_BATCH_STOP; and
 * as failures are handed out before a wait, only a batch without operations
 * waits.
 */
static int work(struct callout_ctx *ctx, unsigned int nr_ops,
		unsigned int nr_events, __u64 timeout)
{
	struct callout_batch batch;
	int ret = submit(ctx, ctx->ops, nr_ops, nr_events, timeout, &batch);

	settle(ctx, batch.done);
	reap(ctx, batch.got);
	return ret;
}

/*
 * Whether a callout can have fired. ctx->bound falls behind when the timer that
 * it stands for is disarmed or moved, and is asked for again once that costs no
 * more than the calls that found no event. It is asked for before events are
 * read: those of callouts that have fired since are not before it.
 */
static bool can_have_fired(struct callout_ctx *ctx)
{
	__u64 due;

	if (ctx->other_clock || !ctx->nr_filed)
		return ctx->nr_filed;
	if (ctx->bound <= ctx->now)
		goto look;
	ctx->now = callout_now(CLOCK_MONOTONIC);
	if (ctx->bound > ctx->now)
		return false;
look:
	if (++ctx->nr_idle >= ctx->nr_filed / LOOKS &&
	    !callout_get_next(ctx->fd, CLOCK_MONOTONIC, &due)) {
		ctx->bound = due;
		ctx->nr_idle = 0;
	}
	return true;
}

int callout_ctx_turn(struct callout_ctx *ctx, __u64 timeout)
{
	__u64 now, end = CALLOUT_FOREVER;
	int ret = 0;

	if (ctx->left)
		return ctx->left;
	begin(ctx);
	if (ctx->nr_ops || (!timeout && can_have_fired(ctx)))
		ret = work(ctx, ctx->nr_ops, ctx->max_events, 0);
	if (timeout && timeout != CALLOUT_FOREVER)
		end = time_after(callout_now(CLOCK_MONOTONIC), timeout);
	/* Events that come too early do not end the wait. */
	while (timeout && !ctx->left && ret >= 0) {
		ret = work(ctx, 0, ctx->max_events, timeout);
		if (end == CALLOUT_FOREVER)
			continue;
		now = callout_now(CLOCK_MONOTONIC);
		timeout = end > now ? end - now : 0;
	}
	if (ctx->left)
		return ctx->left;
	return ret < 0 ? ret : 0;
}

int callout_ctx_flush(struct callout_ctx *ctx)
{
	int ret = 0;

	if (ctx->left)
		return ctx->left;
	begin(ctx);
	if (ctx->nr_ops)
		ret = work(ctx, ctx->nr_ops, 0, 0);
	return ctx->left ? (int)ctx->left : ret;
}

/* The next failed operation that was not handed out. */
static struct callout_timer *next_failed(struct callout_ctx *ctx)
{
	struct callout_timer *timer;
	unsigned int slot;

	while (ctx->next_failed < ctx->nr_failed) {
		slot = ctx->next_failed++;
		if (!slot_failed(ctx, slot))
			continue;
		timer = ctx->owners[slot];
		timer->error = ctx->ops[slot].result;
		/* It is still armed for its old time, or has fired. */
		timer->_armed = timer->_handle || timer->_event;
		callout_empty_slot(ctx, slot);
		return timer;
	}
	return NULL;
}

struct callout_timer *callout_ctx_next(struct callout_ctx *ctx,
				       struct callout_event *event)
{
	struct callout_timer *timer = next_failed(ctx);
	struct callout_event *e;

	if (event)
		memset(event, 0, sizeof(*event));
	if (timer)
		return timer;
	while (ctx->next_event < ctx->nr_events) {
		e = &ctx->events[ctx->next_event++];
		if (!e->cookie)
			continue;
		timer = (struct callout_timer *)(uintptr_t)e->cookie;
		timer->error = e->flags & EVENT_FAILED ? -(int)e->overrun : 0;
		timer->_armed = timer->_handle;
		if (event && !timer->error)
			*event = *e;
		callout_drop_event(ctx, timer);
		return timer;
	}
	return NULL;
}
