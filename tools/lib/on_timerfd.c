// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * on_timerfd.c - a context on timerfds, where there is no device
 *
 * Each clock has a timerfd, from the first timer of the clock on. timerfd_settime(2) moves
 * it and, if it has expired, makes it unreadable again: nothing reads it.
 *
 * The descriptor of the context must stay the same when another clock comes into use, so it
 * is an epoll(7) from the start. The epoll takes two more system calls when the context is
 * made, and none later: a loop that polls an epoll asks the timerfds in it.
 */
/* ppoll() and syscall() are not declared for programs that ask for POSIX alone. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "ctx.h"

#define NSEC_PER_SEC	1000000000ULL

/* For 32-bit programs, as in device.c. */
#ifndef __NR_timerfd_settime64
#define __NR_timerfd_settime64	411
#endif

static int add_clock(struct callout_ctx *ctx, struct callout_clock *clock)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ret, fd = timerfd_create(clock->clockid, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (epoll_ctl(ctx->fd, EPOLL_CTL_ADD, fd, &event)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	clock->fd = fd;
	return 0;
}

/* Make the timerfd wait for this time, or for none. */
static int set(int fd, __u64 time)
{
	struct itimerspec its = { 0 };

	if (time != CALLOUT_FOREVER) {
		its.it_value.tv_sec = time / NSEC_PER_SEC;
		its.it_value.tv_nsec = time % NSEC_PER_SEC;
		/* 0 would disarm the timerfd. */
		if (!time)
			its.it_value.tv_nsec = 1;
	}
#if __SIZEOF_LONG__ < 8
	/* A time_t of 32 bits ends in 2038. */
	if (sizeof(its.it_value.tv_sec) < sizeof(time) && time != CALLOUT_FOREVER &&
	    time / NSEC_PER_SEC > INT32_MAX) {
		__s64 far[] = { 0, 0, time / NSEC_PER_SEC, time % NSEC_PER_SEC };

		return syscall(__NR_timerfd_settime64, fd, TFD_TIMER_ABSTIME, far,
			       NULL) ? -errno : 0;
	}
#endif
	return timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL) ? -errno : 0;
}

static int wait_for_any(struct callout_ctx *ctx, __u64 timeout)
{
	struct timespec ts = { .tv_nsec = timeout % NSEC_PER_SEC };
	bool forever = timeout > TIME_LAST;
	struct pollfd poll[NR_CLOCKS];
	unsigned int i;
	int ret;

	for (i = 0; i < ctx->nr_clocks; i++)
		poll[i] = (struct pollfd){ ctx->clocks[i]->fd, POLLIN, 0 };
	/* Fits into a time_t of 32 bits too. A turn waits again for the rest. */
	timeout /= NSEC_PER_SEC;
	ts.tv_sec = timeout < INT32_MAX ? timeout : INT32_MAX;
	ret = ppoll(poll, ctx->nr_clocks, forever ? NULL : &ts, NULL);
	for (i = 0; ret > 0 && i < ctx->nr_clocks; i++)
		if (poll[i].revents)
			ctx->clocks[i]->filed = 0;
	return ret < 0 ? -errno : 0;
}

static int tell(struct callout_ctx *ctx, struct callout_clock **moved,
		unsigned int n, __u64 timeout)
{
	int error, ret = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		error = set(moved[i]->fd, moved[i]->wheel.min);
		if (error)
			ret = error;
		else
			moved[i]->filed = moved[i]->wheel.min;
	}
	return ret || !timeout ? ret : wait_for_any(ctx, timeout);
}

const struct kernel callout_on_timerfd = {
	.add_clock = add_clock,
	.tell = tell,
};
