// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_epoll.c - timers of libcallout in a loop of epoll(7), which needs no library
 */
#include <sys/epoll.h>
#include <unistd.h>

#include "idle.h"

const char *const loop_name = "idle_epoll";

static int epoll;
static bool stopped;

bool loop_open(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	epoll = epoll_create1(EPOLL_CLOEXEC);
	return epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

void loop_run(unsigned int seconds)
{
	__u64 end = callout_now(CLOCK_MONOTONIC) + seconds * 1000000000ULL;
	struct epoll_event event;

	while (callout_now(CLOCK_MONOTONIC) < end) {
		idle_before_sleep();
		if (stopped)
			break;
		/* A daemon has other descriptors there, and no limit. */
		if (epoll_wait(epoll, &event, 1, 1000) == 1)
			idle_readable();
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
