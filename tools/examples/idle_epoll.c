// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_epoll.c - timers of libcallout in a loop of epoll(7), which needs no library
 */
#include <sys/epoll.h>
#include <unistd.h>

#include "idle.h"

const char *const loop_name = "idle_epoll";

static struct callout_ctx *timers;
static int epoll;
static bool stopped;

bool loop_open(struct callout_ctx *ctx)
{
	struct epoll_event event = { .events = EPOLLIN };

	timers = ctx;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return false;
	return !epoll_ctl(epoll, EPOLL_CTL_ADD, callout_ctx_fd(ctx), &event);
}

static void before_sleep(void)
{
	int ret;

	if (!callout_ctx_pending(timers))
		return;
	ret = callout_ctx_flush(timers);
	if (ret < 0)
		idle_failed(timers, ret);
}

static void readable(void)
{
	int ret = callout_ctx_turn(timers, 0);
	struct callout_timer *timer;
	struct callout_event event;

	if (ret < 0)
		idle_failed(timers, ret);
	while ((timer = callout_ctx_next(timers, &event)))
		idle_fired(timers, timer, &event);
}

void loop_run(unsigned int seconds)
{
	__u64 end = callout_now(CLOCK_MONOTONIC) + seconds * 1000000000ULL;
	struct epoll_event event;

	while (!stopped && callout_now(CLOCK_MONOTONIC) < end) {
		before_sleep();
		/* A daemon watches other descriptors here, and has no time limit. */
		if (epoll_wait(epoll, &event, 1, 1000) == 1)
			readable();
	}
}

void loop_stop(void)
{
	stopped = true;
}

void loop_close(void)
{
	close(epoll);
}
