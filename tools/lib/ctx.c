// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * ctx.c - timers of a loop that does one system call a turn, and one to sleep
 *
 * The operations of timers are queued. Each timer has one slot of the queue in
 * a turn: arming and disarming it again changes that slot and takes no other. A
 * slot has an owner unless it is an UNSET or empty: a disarmed timer may be
 * freed at once, so nothing may point to it.
 *
 * timer._slot is valid only while timer._turn is ctx->turn. So the next turn
 * takes the slots from all timers at once, without accessing them. Each context
 * numbers its turns from another start: a timer that was in one has no slot in
 * another, even one at the same address (ABA).
 *
 * A callout's cookie is the address of its timer. A batch does the operations
 * before it reads events, so there is no event of a timer that was disarmed
 * before. timer._event is the event that was read and not handed out yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "libcallout.h"

#define TIME_LAST	(~0ULL >> 1)

#define FIRST_OPS	64U

/* callout_op.op of a slot that is empty, or whose operation has failed */
#define OP_NONE		0U

/**
 * struct callout_ctx - an open file, and the state between turns
 * @fd: the file, non-blocking
 * @turn: counts turns, from a multiple of 2^32 that is its own
 * @ops: the queue, with room for @max_ops
 * @owners: the timers of @ops, see above
 * @nr_ops: length of the queue
 * @max_ops: room in the queue
 * @nr_live: how many of @ops are to be done
 * @nr_failed: the first @nr_failed of @ops failed in the last turn
 * @next_failed: the first failed operation that was not handed out
 * @events: the events of the last turn; those with cookie 0 are dropped
 * @nr_events: how many events were read
 * @max_events: room for events
 * @next_event: the first event that was not handed out
 * @left: how many timers are to be handed out
 */
struct callout_ctx {
	int fd;
	__u64 turn;
	struct callout_op *ops;
	struct callout_timer **owners;
	unsigned int nr_ops, max_ops, nr_live;
	unsigned int nr_failed, next_failed;
	struct callout_event *events;
	unsigned int nr_events, max_events, next_event;
	unsigned int left;
};

/* How many contexts were created, by any thread. */
static unsigned int nr_contexts;

/* A file of the device, for operations and events, without callouts. */
static int check_fd(int fd)
{
	struct callout_info info;
	int ret = callout_get_info(fd, &info);

	if (ret < 0)
		return ret;
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
		return -EBADF;
	/* Their events have cookies that are not addresses of timers. */
	return info.outstanding ? -EBUSY : 0;
}

int callout_ctx_create_fd(struct callout_ctx **pctx, unsigned int nr_events,
			  int fd)
{
	struct callout_ctx *ctx;
	int ret;

	if (!nr_events || nr_events > CALLOUT_BATCH_MAX)
		return -EINVAL;
	ret = check_fd(fd);
	if (ret)
		return ret;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->events = calloc(nr_events, sizeof(*ctx->events));
	if (!ctx->events) {
		free(ctx);
		return -ENOMEM;
	}
	ctx->turn = (__u64)__atomic_add_fetch(&nr_contexts, 1, __ATOMIC_RELAXED)
		    << 32;
	ctx->max_events = nr_events;
	ctx->fd = fd;
	*pctx = ctx;
	return 0;
}

int callout_ctx_create(struct callout_ctx **pctx, unsigned int nr_events)
{
	int fd, ret;

	if (!nr_events || nr_events > CALLOUT_BATCH_MAX)
		return -EINVAL;
	fd = callout_open(O_NONBLOCK);
	if (fd < 0)
		return fd;
	ret = callout_ctx_create_fd(pctx, nr_events, fd);
	if (ret)
		close(fd);
	return ret;
}

void callout_ctx_destroy(struct callout_ctx *ctx)
{
	if (!ctx)
		return;
	close(ctx->fd);
	free(ctx->events);
	free(ctx->owners);
	free(ctx->ops);
	free(ctx);
}

int callout_ctx_fd(const struct callout_ctx *ctx)
{
	return ctx->fd;
}

bool callout_ctx_pending(const struct callout_ctx *ctx)
{
	return ctx->nr_live || ctx->left;
}

static bool grow(struct callout_ctx *ctx)
{
	unsigned int max = ctx->max_ops ? 2 * ctx->max_ops : FIRST_OPS;
	void *mem;

	if (max > CALLOUT_BATCH_MAX)
		return false;
	mem = realloc(ctx->ops, max * sizeof(*ctx->ops));
	if (!mem)
		return false;
	ctx->ops = mem;
	mem = realloc(ctx->owners, max * sizeof(*ctx->owners));
	if (!mem)
		return false;
	ctx->owners = mem;
	ctx->max_ops = max;
	return true;
}

static bool has_slot(const struct callout_ctx *ctx,
		     const struct callout_timer *timer)
{
	return timer->_ctx == ctx && timer->_turn == ctx->turn;
}

/* Whether the operation has failed, and that was not handed out. */
static bool slot_failed(const struct callout_ctx *ctx, unsigned int slot)
{
	return ctx->ops[slot].op == OP_NONE && ctx->owners[slot];
}

/*
 * Puts an operation into the timer's slot, or into a new one. If there is no
 * room for a new slot, the operation is done at once.
 */
static int queue_op(struct callout_ctx *ctx, struct callout_timer *timer,
		    struct callout_op *op, struct callout_timer *owner)
{
	unsigned int slot;

	if (!has_slot(ctx, timer)) {
		if (ctx->nr_ops == ctx->max_ops && !grow(ctx))
			return callout_do(ctx->fd, op);
		timer->_slot = ctx->nr_ops++;
		timer->_turn = ctx->turn;
		timer->_ctx = ctx;
		ctx->ops[timer->_slot].op = OP_NONE;
		ctx->owners[timer->_slot] = NULL;
	}
	slot = timer->_slot;
	if (slot_failed(ctx, slot))
		ctx->left--;
	if (ctx->ops[slot].op == OP_NONE)
		ctx->nr_live++;
	ctx->ops[slot] = *op;
	ctx->owners[slot] = owner;
	return 0;
}

/* Removes a queued SET, or its failure. */
static void empty_slot(struct callout_ctx *ctx, unsigned int slot)
{
	if (slot_failed(ctx, slot))
		ctx->left--;
	else if (ctx->ops[slot].op != OP_NONE)
		ctx->nr_live--;
	ctx->ops[slot].op = OP_NONE;
	ctx->owners[slot] = NULL;
}

/* Drops the timer's event that was read and not handed out. */
static void drop_event(struct callout_ctx *ctx, struct callout_timer *timer)
{
	if (!timer->_event)
		return;
	ctx->events[timer->_event - 1].cookie = 0;
	timer->_event = 0;
	ctx->left--;
}

static int arm(struct callout_ctx *ctx, struct callout_timer *timer, __u64 time,
	       __u32 flags);

/*
 * Arms a timer that is armed in another context, and disarms it there. The
 * other context gets a copy of the timer's state: it keeps no pointer to a
 * disarmed timer.
 */
static int move(struct callout_ctx *ctx, struct callout_timer *timer,
		__u64 time, __u32 flags)
{
	struct callout_timer old = *timer;
	int ret;

	timer->_ctx = NULL;
	timer->_handle = 0;
	timer->_event = 0;
	timer->_armed = false;
	ret = arm(ctx, timer, time, flags);
	if (ret < 0)
		*timer = old;
	else
		callout_disarm(old._ctx, &old);
	return ret;
}

static int arm(struct callout_ctx *ctx, struct callout_timer *timer, __u64 time,
	       __u32 flags)
{
	clockid_t clockid = timer->clockid ?: CLOCK_MONOTONIC;
	callout_handle_t handle = timer->_handle;
	struct callout_op op;
	int ret;

	if (time > TIME_LAST || timer->period > TIME_LAST ||
	    timer->slack > TIME_LAST)
		return -EINVAL;
	if (timer->_armed && timer->_ctx != ctx)
		return move(ctx, timer, time, flags);
	/*
	 * It was disarmed in this turn: the UNSET becomes a RESET. As that
	 * cannot change the clock, for another one the timer gets a new slot.
	 */
	if (has_slot(ctx, timer) &&
	    ctx->ops[timer->_slot].op == CALLOUT_OP_UNSET) {
		if (timer->_clockid == clockid)
			handle = ctx->ops[timer->_slot].handle;
		else
			timer->_turn = 0;
	}
	if (handle)
		op = callout_op_reset(handle, time);
	else
		op = callout_op_set(time, (uintptr_t)timer);
	op.flags = flags;
	op.clockid = clockid;
	op.period = timer->period;
	op.slack = timer->slack;

	ret = queue_op(ctx, timer, &op, timer);
	if (ret < 0)
		return ret;
	drop_event(ctx, timer);
	timer->_handle = op.handle;
	if (op.op == CALLOUT_OP_SET)
		timer->_clockid = clockid;
	timer->_ctx = ctx;
	timer->_armed = true;
	return 0;
}

int callout_arm(struct callout_ctx *ctx, struct callout_timer *timer,
		__u64 time)
{
	return arm(ctx, timer, time, 0);
}

int callout_arm_at(struct callout_ctx *ctx, struct callout_timer *timer,
		   __u64 time)
{
	/* 0 may mean CLOCK_REALTIME, which shows another time. */
	if (!timer->clockid)
		return -EINVAL;
	return arm(ctx, timer, time, CALLOUT_ABSTIME);
}

bool callout_disarm(struct callout_ctx *ctx, struct callout_timer *timer)
{
	bool was_armed = timer->_armed;
	struct callout_op op;

	/* It may have been armed in another one. */
	if (was_armed)
		ctx = timer->_ctx;
	drop_event(ctx, timer);
	if (timer->_handle) {
		op = callout_op_unset(timer->_handle);
		queue_op(ctx, timer, &op, NULL);
		timer->_handle = 0;
	} else if (has_slot(ctx, timer) && ctx->owners[timer->_slot]) {
		empty_slot(ctx, timer->_slot);
	}
	timer->_armed = false;
	return was_armed;
}

/* Closes the gaps in the queue. No timer may have a slot. */
static void compact(struct callout_ctx *ctx)
{
	unsigned int i, n = 0;

	for (i = 0; i < ctx->nr_ops; i++) {
		if (ctx->ops[i].op == OP_NONE)
			continue;
		ctx->ops[n] = ctx->ops[i];
		ctx->owners[n++] = ctx->owners[i];
	}
	ctx->nr_ops = n;
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
			if (!timer)
				continue;
			if (op->result >= 0) {
				timer->_handle = op->handle;
				continue;
			}
			if (op->result == -ENOENT)
				timer->_handle = 0;
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

static void reap(struct callout_ctx *ctx, unsigned int got)
{
	struct callout_timer *timer;
	struct callout_event *e;
	unsigned int i;

	ctx->nr_events = got;
	ctx->next_event = 0;
	for (i = 0; i < got; i++) {
		e = &ctx->events[i];
		timer = (struct callout_timer *)(uintptr_t)e->cookie;
		if (timer->_event) {
			merge(&ctx->events[timer->_event - 1], e);
			continue;
		}
		timer->_event = i + 1;
		if (!(e->flags & CALLOUT_EVENT_PERIODIC))
			timer->_handle = 0;
		ctx->left++;
	}
}

/*
 * All operations are tried before events are read. If one that cancels a
 * callout were skipped, the event of that callout could be read, and its timer
 * may have been freed (use-after-free). So there is no CALLOUT_BATCH_STOP; and
 * as failures are handed out before a wait, only a batch without operations
 * waits.
 */
static int submit(struct callout_ctx *ctx, unsigned int nr_ops,
		  unsigned int nr_events, __u64 timeout)
{
	struct callout_batch batch;
	int ret;

	callout_batch_init(&batch, ctx->ops, nr_ops,
			   nr_events ? ctx->events : NULL, nr_events);
	if (timeout) {
		batch.flags = CALLOUT_BATCH_WAIT;
		batch.timeout = timeout;
	}
	ret = callout_batch_submit(ctx->fd, &batch);
	settle(ctx, batch.done);
	reap(ctx, batch.got);
	return ret;
}

int callout_ctx_turn(struct callout_ctx *ctx, __u64 timeout)
{
	int ret = 0;

	if (ctx->left)
		return ctx->left;
	ctx->turn++;
	compact(ctx);
	if (ctx->nr_ops || !timeout)
		ret = submit(ctx, ctx->nr_ops, ctx->max_events, 0);
	if (timeout && !ctx->left && ret >= 0)
		ret = submit(ctx, 0, ctx->max_events, timeout);
	if (ctx->left || ret == -ETIME)
		return ctx->left;
	return ret;
}

int callout_ctx_flush(struct callout_ctx *ctx)
{
	int ret = 0;

	if (ctx->left)
		return ctx->left;
	ctx->turn++;
	compact(ctx);
	if (ctx->nr_ops)
		ret = submit(ctx, ctx->nr_ops, 0, 0);
	return ctx->left ? (int)ctx->left : ret;
}

struct callout_timer *callout_ctx_next(struct callout_ctx *ctx,
				       struct callout_event *event)
{
	struct callout_timer *timer;
	struct callout_event *e;
	unsigned int slot;

	while (ctx->next_failed < ctx->nr_failed) {
		slot = ctx->next_failed++;
		if (!slot_failed(ctx, slot))
			continue;
		timer = ctx->owners[slot];
		timer->error = ctx->ops[slot].result;
		/* It is still armed for its old time, or has fired. */
		timer->_armed = timer->_handle || timer->_event;
		empty_slot(ctx, slot);
		if (event)
			memset(event, 0, sizeof(*event));
		return timer;
	}
	while (ctx->next_event < ctx->nr_events) {
		e = &ctx->events[ctx->next_event++];
		if (!e->cookie)
			continue;
		timer = (struct callout_timer *)(uintptr_t)e->cookie;
		timer->error = 0;
		timer->_armed = timer->_handle;
		if (event)
			*event = *e;
		drop_event(ctx, timer);
		return timer;
	}
	return NULL;
}
