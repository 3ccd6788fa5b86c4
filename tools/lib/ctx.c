// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * ctx.c - contexts, and arming and disarming of timers up to the next turn
 *
 * An armed timer is in the wheel of its clock (timer._filed), in one of two
 * queues (timer._queued), or in both:
 *
 *	waiting		its time, timer._due, is relative, and counts from the next
 *			turn. It may be in the wheel for an earlier time.
 *	fired		a turn will hand it out; if it is periodic, the wheel has it
 *			for its next time.
 *
 * Nothing else points to a timer, so a disarmed timer may be freed at once.
 *
 * A timer that is moved to a later time stays where it is in a slot of the wheel: only
 * timer._at is set (lazy re-arm). Likewise, the kernel's callout may fire when
 * no timer is due. It is moved then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ctx.h"

static bool is_clock(clockid_t clockid)
{
	switch (clockid) {
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_ALARM:
		return true;
	}
	return false;
}

static int add_clock(struct callout_ctx *ctx, clockid_t clockid,
		     struct callout_clock **pclock)
{
	struct callout_clock *clock;
	int ret;

	if (!is_clock(clockid))
		return -EINVAL;
	clock = calloc(1, sizeof(*clock));
	if (!clock)
		return -ENOMEM;
	clock->ctx = ctx;
	clock->clockid = clockid;
	clock->fd = -1;
	clock->filed = CALLOUT_FOREVER;
	ret = ctx->kernel->add_clock(ctx, clock);
	if (ret) {
		free(clock);
		return ret;
	}
	callout_wheel_init(&clock->wheel, callout_now(clockid));
	ctx->clocks[ctx->nr_clocks++] = clock;
	*pclock = clock;
	return 0;
}

/* The wheel of a clock, which is made for the first timer of the clock. */
static int get_clock(struct callout_ctx *ctx, clockid_t clockid,
		     struct callout_clock **pclock)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_clocks; i++) {
		if (ctx->clocks[i]->clockid == clockid) {
			*pclock = ctx->clocks[i];
			return 0;
		}
	}
	return add_clock(ctx, clockid, pclock);
}

static int create(struct callout_ctx **pctx, unsigned int nr_events,
		  const struct kernel *kernel, int fd)
{
	struct callout_clock *monotonic;
	struct callout_ctx *ctx;
	int ret;

	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->kernel = kernel;
	ctx->fd = fd;
	ctx->max_fired = nr_events;
	link_init(&ctx->waiting);
	link_init(&ctx->fired);
	ret = add_clock(ctx, CLOCK_MONOTONIC, &monotonic);
	if (ret) {
		free(ctx);
		return ret;
	}
	*pctx = ctx;
	return 0;
}

/* A file of the device without callouts. */
static int check_fd(int fd)
{
	struct callout_info info;
	int ret = callout_dev_info(fd, &info);

	if (ret < 0)
		return ret;
	/* Their events would not name a clock. */
	return info.outstanding ? -EBUSY : 0;
}

int callout_ctx_create_fd(struct callout_ctx **pctx, unsigned int nr_events,
			  int fd)
{
	int ret;

	if (!nr_events || nr_events > CALLOUT_BATCH_MAX)
		return -EINVAL;
	ret = check_fd(fd);
	return ret ? ret : create(pctx, nr_events, &callout_on_device, fd);
}

int callout_ctx_create_timerfd(struct callout_ctx **pctx,
			       unsigned int nr_events)
{
	int fd, ret;

	if (!nr_events || nr_events > CALLOUT_BATCH_MAX)
		return -EINVAL;
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = create(pctx, nr_events, &callout_on_timerfd, fd);
	if (ret)
		close(fd);
	else
		(*pctx)->on_timerfd = 1;
	return ret;
}

/* Timerfds do not depend on the device, so they work whatever the error. */
int callout_ctx_create(struct callout_ctx **pctx, unsigned int nr_events)
{
	int why, ret, fd = callout_dev_open(O_NONBLOCK);

	why = fd < 0 ? fd : callout_ctx_create_fd(pctx, nr_events, fd);
	if (!why)
		return 0;
	if (fd >= 0)
		close(fd);
	ret = callout_ctx_create_timerfd(pctx, nr_events);
	if (!ret)
		(*pctx)->on_timerfd = why;
	return ret;
}

int callout_ctx_on_timerfd(const struct callout_ctx *ctx)
{
	return ctx->on_timerfd;
}

void callout_ctx_destroy(struct callout_ctx *ctx)
{
	unsigned int i;

	if (!ctx)
		return;
	for (i = 0; i < ctx->nr_clocks; i++) {
		if (ctx->clocks[i]->fd >= 0)
			close(ctx->clocks[i]->fd);
		free(ctx->clocks[i]);
	}
	close(ctx->fd);
	free(ctx);
}

int callout_ctx_fd(const struct callout_ctx *ctx)
{
	return ctx->fd;
}

bool callout_ctx_pending(const struct callout_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_clocks; i++)
		if (clock_is_late(ctx->clocks[i]))
			return true;
	return ctx->left || !link_empty(&ctx->waiting);
}

/* Remove the timer from the queue that it is in. */
void callout_unqueue(struct callout_timer *timer)
{
	link_del(&timer->_queue);
	if (timer->_queued == QUEUED_FIRED)
		timer->_clock->ctx->left--;
	timer->_queued = QUEUED_NOT;
}

/* File a timer that is not filed, or cannot stay where it is. */
void callout_file_at(struct callout_clock *clock, struct callout_timer *timer,
		     __u64 at)
{
	if (timer->_filed)
		wheel_remove(timer);
	timer->_at = at;
	callout_wheel_add(&clock->wheel, timer);
}

/*
 * Assign the timer to @ctx and to a clock, after disarming it where it was armed.
 * Return 0, or an error with nothing changed.
 */
static int adopt(struct callout_ctx *ctx, struct callout_timer *timer,
		 clockid_t clockid)
{
	struct callout_clock *clock;
	int ret = get_clock(ctx, clockid, &clock);

	if (ret)
		return ret;
	callout_disarm(ctx, timer);
	timer->_clock = clock;
	return 0;
}

/* The part of arming that is common to all kinds of time. Return 0 or an error, as adopt(). */
static inline int prepare(struct callout_ctx *ctx, struct callout_timer *timer,
			  __u64 time, clockid_t clockid)
{
	int ret;

	if ((time | timer->period | timer->slack) > TIME_LAST)
		return -EINVAL;
	if (!timer->_clock || timer->_clock->ctx != ctx ||
	    timer->_clock->clockid != clockid) {
		ret = adopt(ctx, timer, clockid);
		if (ret)
			return ret;
	}
	timer->_period = timer->period;
	timer->_slack = timer->slack;
	timer->_armed = true;
	return 0;
}

/* The clock that counts a relative time: no setting changes how long the time takes. */
static inline clockid_t relative(clockid_t clockid)
{
	switch (clockid) {
	case CLOCK_REALTIME:
		return CLOCK_MONOTONIC;
	case CLOCK_REALTIME_ALARM:
		return CLOCK_BOOTTIME_ALARM;
	}
	return clockid;
}

int callout_arm(struct callout_ctx *ctx, struct callout_timer *timer,
		__u64 time)
{
	int ret = prepare(ctx, timer, time, relative(timer->clockid));

	if (ret)
		return ret;
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
	int ret = prepare(ctx, timer, time, timer->clockid);

	if (ret)
		return ret;
	if (timer->_queued)
		callout_unqueue(timer);
	callout_file(timer->_clock, timer, time);
	return 0;
}

bool callout_disarm(struct callout_ctx *ctx, struct callout_timer *timer)
{
	bool was_armed = timer->_armed;

	/* The timer may have been armed in another context, to which it points. */
	(void)ctx;
	if (timer->_queued)
		callout_unqueue(timer);
	if (timer->_filed)
		wheel_remove(timer);
	timer->_armed = false;
	return was_armed;
}

/* For languages that do not read the header. */
size_t callout_timer_size(void)
{
	return sizeof(struct callout_timer);
}

bool callout_armed(const struct callout_timer *timer)
{
	return timer->_armed;
}

__u64 callout_remaining(const struct callout_timer *timer)
{
	__u64 now;

	if (!timer->_armed)
		return CALLOUT_FOREVER;
	if (timer->_queued)
		return timer->_queued == QUEUED_FIRED ? 0 : timer->_due;
	now = callout_now(timer->_clock->clockid);
	return timer->_due > now ? timer->_due - now : 0;
}
