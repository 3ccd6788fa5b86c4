// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * ctx.c - contexts, and what arming and disarming a timer changes until a turn
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
 * A timer that is moved to a later time takes no operation: the kernel's
 * earlier expiry stands, and when it comes the timer is filed again for what is
 * left (lazy re-arm). timer._due is when it is due, and timer._filed when it is
 * due in the kernel, or CALLOUT_FOREVER if it cannot be moved in this way: it is
 * not in the kernel, is periodic, or runs on another clock than
 * CLOCK_MONOTONIC. A relative time counts from the next turn: until then _due
 * is relative, and the timer is ctx->moved[timer._moved - 1].
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctx.h"

#define FIRST_OPS	64U

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
	ctx->bound = CALLOUT_FOREVER;
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
	free(ctx->moved);
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
	return ctx->nr_live || ctx->left || ctx->nr_moved;
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

static int do_now(struct callout_ctx *ctx, struct callout_op *op,
		  struct callout_timer *owner)
{
	ctx->now = callout_now(CLOCK_MONOTONIC);
	callout_op_at(ctx, op, owner);
	op->result = callout_do(ctx->fd, op);
	if (op->result >= 0)
		callout_op_done(ctx, op, owner);
	return op->result;
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
			return do_now(ctx, op, owner);
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
	if (op->op == CALLOUT_OP_SET)
		timer->_filed = CALLOUT_FOREVER;
	return 0;
}

/* Removes a queued SET, or its failure. */
void callout_empty_slot(struct callout_ctx *ctx, unsigned int slot)
{
	if (slot_failed(ctx, slot))
		ctx->left--;
	else if (ctx->ops[slot].op != OP_NONE)
		ctx->nr_live--;
	ctx->ops[slot].op = OP_NONE;
	ctx->owners[slot] = NULL;
}

/* Drops the timer's event that was read and not handed out. */
void callout_drop_event(struct callout_ctx *ctx, struct callout_timer *timer)
{
	if (!timer->_event)
		return;
	ctx->events[timer->_event - 1].cookie = 0;
	timer->_event = 0;
	ctx->left--;
}

static bool grow_moved(struct callout_ctx *ctx)
{
	unsigned int max = ctx->max_moved ? 2 * ctx->max_moved : FIRST_OPS;
	void *mem = realloc(ctx->moved, max * sizeof(*ctx->moved));

	if (!mem)
		return false;
	ctx->moved = mem;
	ctx->max_moved = max;
	return true;
}

/* Forgets a relative time that was to count from the next turn. */
static void unmove(struct callout_ctx *ctx, struct callout_timer *timer)
{
	if (!timer->_moved)
		return;
	ctx->moved[timer->_moved - 1] = NULL;
	timer->_moved = 0;
}

/* Whether its expiry in the kernel may stand for a time not before @due. */
static inline bool can_wait(const struct callout_ctx *ctx,
			    const struct callout_timer *timer, __u64 due)
{
	return due >= timer->_filed && !timer->period &&
	       timer->slack == timer->_slack && timer->_ctx == ctx &&
	       timer->_turn != ctx->turn;
}

/* Arms it for @time from the next turn on, if that takes no operation. */
static inline bool move_later(struct callout_ctx *ctx,
			      struct callout_timer *timer, __u64 time)
{
	/* The next turn is not before the last one. */
	if (time > TIME_LAST || !can_wait(ctx, timer, ctx->now + time) ||
	    (timer->clockid && timer->clockid != CLOCK_MONOTONIC))
		return false;
	if (!timer->_moved) {
		if (ctx->nr_moved == ctx->max_moved && !grow_moved(ctx))
			return false;
		ctx->moved[ctx->nr_moved++] = timer;
		timer->_moved = ctx->nr_moved;
	}
	timer->_due = time;
	return true;
}

static int arm(struct callout_ctx *ctx, struct callout_timer *timer, __u64 time,
	       __u32 flags);

/*
 * Arms a timer that is armed in another context, and disarms it there. The
 * other context gets a copy of the timer's state: it keeps no pointer to a
 * disarmed timer.
 */
static int change_context(struct callout_ctx *ctx, struct callout_timer *timer,
			  __u64 time, __u32 flags)
{
	struct callout_timer old = *timer;
	int ret;

	timer->_ctx = NULL;
	timer->_handle = 0;
	timer->_event = 0;
	timer->_moved = 0;
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
		return change_context(ctx, timer, time, flags);
	/* RESET would take the time as one of the callout's clock. */
	if (handle && timer->_clockid != clockid)
		return -EINVAL;
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
	if (handle) {
		op = callout_op_reset(handle, time);
		flags |= CALLOUT_NEW_PERIOD | CALLOUT_NEW_SLACK;
	} else {
		op = callout_op_set(time, (uintptr_t)timer);
		op.clockid = clockid;
		timer->_clockid = clockid;
	}
	op.flags = flags;
	op.period = timer->period;
	op.slack = timer->slack;

	ret = queue_op(ctx, timer, &op, timer);
	if (ret < 0)
		return ret;
	unmove(ctx, timer);
	callout_drop_event(ctx, timer);
	timer->_handle = op.handle;
	timer->_ctx = ctx;
	timer->_armed = true;
	return 0;
}

int callout_arm(struct callout_ctx *ctx, struct callout_timer *timer,
		__u64 time)
{
	if (move_later(ctx, timer, time))
		return 0;
	return arm(ctx, timer, time, 0);
}

int callout_arm_at(struct callout_ctx *ctx, struct callout_timer *timer,
		   __u64 time)
{
	/* 0 may mean CLOCK_REALTIME, which shows another time. */
	if (!timer->clockid)
		return -EINVAL;
	if (time <= TIME_LAST && timer->clockid == CLOCK_MONOTONIC &&
	    can_wait(ctx, timer, time)) {
		unmove(ctx, timer);
		timer->_due = time;
		return 0;
	}
	return arm(ctx, timer, time, CALLOUT_ABSTIME);
}

bool callout_disarm(struct callout_ctx *ctx, struct callout_timer *timer)
{
	bool was_armed = timer->_armed;
	struct callout_op op;

	/* It may have been armed in another one. */
	if (was_armed)
		ctx = timer->_ctx;
	unmove(ctx, timer);
	callout_drop_event(ctx, timer);
	if (timer->_handle) {
		op = callout_op_unset(timer->_handle);
		queue_op(ctx, timer, &op, NULL);
		timer->_handle = 0;
	} else if (has_slot(ctx, timer) && ctx->owners[timer->_slot]) {
		callout_empty_slot(ctx, timer->_slot);
	}
	timer->_filed = CALLOUT_FOREVER;
	timer->_armed = false;
	return was_armed;
}

static __u64 left(__u64 due, clockid_t clockid)
{
	__u64 now = callout_now(clockid);

	return due > now ? due - now : 0;
}

__u64 callout_remaining(const struct callout_timer *timer)
{
	const struct callout_ctx *ctx = timer->_ctx;
	const struct callout_op *op;

	if (!timer->_armed)
		return CALLOUT_FOREVER;
	if (timer->_event)
		return 0;
	if (timer->_moved)
		return timer->_due;
	if (has_slot(ctx, timer) && ctx->ops[timer->_slot].op != OP_NONE) {
		op = &ctx->ops[timer->_slot];
		return op->flags & CALLOUT_ABSTIME ?
		       left(op->time, timer->_clockid) : op->time;
	}
	/* What could not be armed is to be handed out. */
	return timer->_handle ? left(timer->_due, timer->_clockid) : 0;
}

__u64 callout_ctx_next_due(const struct callout_ctx *ctx)
{
	return callout_ctx_pending(ctx) ? 0 : ctx->bound;
}
