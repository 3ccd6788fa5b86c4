// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * ctx.c - contexts, and what arming and disarming a timer changes until a turn
 *
 * An armed timer is in the wheel of its clock (timer._filed), in one of two
 * queues (timer._queued), or in both:
 *
 *	waiting		its time, timer._due, is relative, and counts from the next
 *			turn. It may be in the wheel for an earlier time.
 *	fired		it is to be handed out; if it is periodic, the wheel has it
 *			for its next time.
 *
 * Nothing else points to a timer, so one that is disarmed may be freed at once.
 *
 * A timer that is moved to a later time stays where it is in the wheel: only
 * timer._at is set (lazy re-arm). The same holds for the callout in the kernel,
 * which may come when no timer is due; then it is moved.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctx.h"

/* A file of the device, for operations and events, without callouts. */
static int check_fd(int fd)
{
	struct callout_info info;
	int ret = callout_get_info(fd, &info);

	if (ret < 0)
		return ret;
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
		return -EBADF;
	/* Their events would not be those of a clock. */
	return info.outstanding ? -EBUSY : 0;
}

static void init_clock(struct clock *clock, clockid_t clockid)
{
	callout_wheel_init(&clock->wheel, callout_now(clockid));
	clock->clockid = clockid;
	clock->filed = CALLOUT_FOREVER;
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
	ctx->fd = fd;
	ctx->max_fired = nr_events;
	ctx->nr_clocks = 1;
	link_init(&ctx->waiting);
	link_init(&ctx->fired);
	init_clock(&ctx->clocks[0], CLOCK_MONOTONIC);
	init_clock(&ctx->clocks[1], CLOCK_BOOTTIME);
	*pctx = ctx;
	return 0;
}

int callout_ctx_create(struct callout_ctx **pctx, unsigned int nr_events)
{
	int fd, ret;

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
	free(ctx);
}

int callout_ctx_fd(const struct callout_ctx *ctx)
{
	return ctx->fd;
}

bool callout_ctx_pending(const struct callout_ctx *ctx)
{
	return ctx->left || !link_empty(&ctx->waiting) ||
	       clock_is_late(&ctx->clocks[0]) || clock_is_late(&ctx->clocks[1]);
}

/* Removes the timer from the queue that it is in. */
void callout_unqueue(struct callout_timer *timer)
{
	link_del(&timer->_queue);
	if (timer->_queued == QUEUED_FIRED)
		timer->_ctx->left--;
	timer->_queued = QUEUED_NOT;
}

/* Files a timer that is not filed, or not early enough. */
void callout_file_at(struct clock *clock, struct callout_timer *timer,
		     __u64 at)
{
	if (timer->_filed)
		wheel_remove(timer);
	timer->_at = at;
	callout_wheel_add(&clock->wheel, timer);
}

/*
 * Has the timer belong to @ctx and to a clock: it is disarmed where it was armed.
 * Returns 0, or -EINVAL and has changed nothing.
 */
static int adopt(struct callout_ctx *ctx, struct callout_timer *timer,
		 clockid_t clockid)
{
	if (clockid != CLOCK_MONOTONIC && clockid != CLOCK_BOOTTIME)
		return -EINVAL;
	callout_disarm(timer->_ctx, timer);
	timer->_ctx = ctx;
	timer->_clockid = clockid;
	return 0;
}

/* What arming does for each kind of time. Returns 0 or -EINVAL, as adopt(). */
static inline int prepare(struct callout_ctx *ctx, struct callout_timer *timer,
			  __u64 time, clockid_t clockid)
{
	if ((time | timer->period | timer->slack) > TIME_LAST)
		return -EINVAL;
	if ((timer->_ctx != ctx || timer->_clockid != clockid) &&
	    adopt(ctx, timer, clockid))
		return -EINVAL;
	if (clockid != CLOCK_MONOTONIC)
		ctx->nr_clocks = NR_CLOCKS;
	timer->_period = timer->period;
	timer->_slack = timer->slack;
	timer->_armed = true;
	return 0;
}

int callout_arm(struct callout_ctx *ctx, struct callout_timer *timer,
		__u64 time)
{
	if (prepare(ctx, timer, time, timer->clockid ?: CLOCK_MONOTONIC))
		return -EINVAL;
	timer->_due = time;
	if (timer->_queued == QUEUED_WAITING)
		return 0;
	if (timer->_queued == QUEUED_FIRED)
		callout_unqueue(timer);
	link_add_tail(&timer->_queue, &ctx->waiting);
	timer->_queued = QUEUED_WAITING;
	return 0;
}

int callout_arm_at(struct callout_ctx *ctx, struct callout_timer *timer,
		   __u64 time)
{
	/* 0, which may mean CLOCK_REALTIME, is refused. */
	if (prepare(ctx, timer, time, timer->clockid))
		return -EINVAL;
	if (timer->_queued)
		callout_unqueue(timer);
	callout_file(clock_of(ctx, timer->_clockid), timer, time);
	return 0;
}

bool callout_disarm(struct callout_ctx *ctx, struct callout_timer *timer)
{
	bool was_armed = timer->_armed;

	/* It may have been armed in another one, which it knows. */
	(void)ctx;
	if (timer->_queued)
		callout_unqueue(timer);
	if (timer->_filed)
		wheel_remove(timer);
	timer->_armed = false;
	return was_armed;
}

__u64 callout_remaining(const struct callout_timer *timer)
{
	__u64 now;

	if (!timer->_armed)
		return CALLOUT_FOREVER;
	if (timer->_queued)
		return timer->_queued == QUEUED_FIRED ? 0 : timer->_due;
	now = callout_now(timer->_clockid);
	return timer->_due > now ? timer->_due - now : 0;
}
