/* SPDX-License-Identifier: GPL-2.0 */
/*
 * loop.h - the fixture for tests of libcallout's timers, on the device and on timerfds
 *
 * On a machine without the device, run a program with "-V device -F global".
 */
#ifndef _CALLOUT_SELFTESTS_LOOP_H
#define _CALLOUT_SELFTESTS_LOOP_H

#include <sys/timerfd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "ctx.h"

static inline int new_ctx(bool on_timerfd, struct callout_ctx **ctx,
			  unsigned int nr_events)
{
	int ret = on_timerfd ? callout_ctx_create_timerfd(ctx, nr_events) :
			       callout_ctx_create(ctx, nr_events);

	if (!ret && !on_timerfd && callout_ctx_on_timerfd(*ctx)) {
		ret = callout_ctx_on_timerfd(*ctx);
		printf("# %s\n", callout_open_strerror(ret));
		callout_ctx_destroy(*ctx);
	}
	return ret;
}

FIXTURE(loop) {
	struct callout_ctx *ctx;
	struct callout_timer t[4];
};

FIXTURE_VARIANT(loop) {
	bool on_timerfd;
};

FIXTURE_VARIANT_ADD(loop, device) { .on_timerfd = false };
FIXTURE_VARIANT_ADD(loop, timerfd) { .on_timerfd = true };

FIXTURE_SETUP(loop)
{
	memset(self->t, 0, sizeof(self->t));
	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &self->ctx, 16));
}

FIXTURE_TEARDOWN(loop)
{
	callout_ctx_destroy(self->ctx);
}

/*
 * The time when a timerfd expires, in its clock: a lower or, if @latest, an upper bound,
 * since the kernel reports the time left. CALLOUT_FOREVER if it waits for nothing.
 */
static inline __u64 timerfd_due(const struct callout_clock *clock, bool latest)
{
	__u64 left, now = callout_now(clock->clockid);
	struct itimerspec its;

	if (timerfd_gettime(clock->fd, &its))
		return 0;
	if (latest)
		now = callout_now(clock->clockid);
	left = its.it_value.tv_sec * SEC + its.it_value.tv_nsec;
	return left ? now + left : CALLOUT_FOREVER;
}

/* How many callouts have fired, and were not moved since. A wait reads the device's events. */
static inline __u64 unread(const struct callout_ctx *ctx)
{
	unsigned int i, n = 0;

	if (!ctx->on_timerfd)
		return info_of(ctx->fd).unread;
	for (i = 0; i < ctx->nr_clocks; i++)
		n += readable(ctx->clocks[i]->fd);
	return n;
}

/*
 * How many callouts the kernel has, including unread callouts. A timerfd that is past and has not
 * expired yet is not counted, since its time left is 0.
 */
static inline __u64 outstanding(const struct callout_ctx *ctx)
{
	unsigned int i, n = 0;

	if (!ctx->on_timerfd)
		return info_of(ctx->fd).outstanding;
	for (i = 0; i < ctx->nr_clocks; i++)
		n += readable(ctx->clocks[i]->fd) ||
		     timerfd_due(ctx->clocks[i], true) != CALLOUT_FOREVER;
	return n;
}

/*
 * How many callouts were ever set in the kernel, except to try each clock. With timerfds, whether
 * any was set.
 */
static inline __u64 told(const struct callout_ctx *ctx)
{
	return ctx->on_timerfd ? outstanding(ctx) :
				  (__u64)counts_of(ctx->fd).set - ctx->nr_clocks;
}

/* How many events were read. Timerfds have none. */
static inline __u64 delivered(const struct callout_ctx *ctx)
{
	return ctx->on_timerfd ? 0 : counts_of(ctx->fd).delivered;
}

static inline __u64 due_of(const struct callout_ctx *ctx, clockid_t clockid, bool latest)
{
	unsigned int i;

	if (!ctx->on_timerfd)
		return next_due(ctx->fd, clockid);
	for (i = 0; i < ctx->nr_clocks; i++)
		if (ctx->clocks[i]->clockid == clockid)
			return timerfd_due(ctx->clocks[i], latest);
	return CALLOUT_FOREVER;
}

/* An upper and a lower bound of the time when the callout of a clock is due. */
#define due_by(ctx, clockid)	due_of(ctx, clockid, true)
#define due_from(ctx, clockid)	due_of(ctx, clockid, false)

/*
 * The descriptor by which CLOCK_MONOTONIC's callout is moved, and the error for
 * another descriptor.
 */
static inline int fd_of_kernel(const struct callout_ctx *ctx)
{
	return ctx->on_timerfd ? ctx->clocks[0]->fd : ctx->fd;
}

static inline int error_of_kernel(const struct callout_ctx *ctx)
{
	return ctx->on_timerfd ? -EINVAL : -ENOTTY;
}

/* Wait until a callout has fired. */
static inline bool wait_fired(const struct callout_ctx *ctx)
{
	return readable_within(callout_ctx_fd(ctx), WAIT_MS) && unread(ctx) == 1;
}

/* A turn that may wait and must have @n timers to hand out. */
#define expect_turn(n) \
	EXPECT_EQ(n, callout_ctx_turn(self->ctx, WAIT_MS * MSEC))

/* A turn that must have no timers to hand out. */
#define expect_flush()	EXPECT_EQ(0, callout_ctx_turn(self->ctx, 0))

#endif /* _CALLOUT_SELFTESTS_LOOP_H */
