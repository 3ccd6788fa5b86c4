// SPDX-License-Identifier: GPL-2.0
/*
 * user_late.c - how late a program learns that a timer has expired: timerfd and
 * /dev/callout
 *
 * TIMERS timers, due at random times within SPREAD, on one file of /dev/callout,
 * with the default slack or exact, or a timerfd each, and one epoll. Lateness is
 * the time from when a timer was due until the program has read that it has
 * expired. With a load, another process uses the same CPU throughout. Prints lines
 *
 *	bench-user: FACILITY,idle or load,TIMERS,METRIC,VALUE
 *
 *	late_p50_ns, late_p99_ns, late_max_ns
 *		lateness
 *	fired_max_ns
 *		by how much the latest callout has fired late; the rest of its
 *		lateness is the scheduler's, which may prefer the load
 *	wakeups	how often epoll_wait() has returned
 *
 * For one CPU, as in user_bench.c. Fails if a timer is early.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "check.h"
#include "lib/common.h"

#define TIMERS	1000U
#define SPREAD	(2 * SEC)
#define HEAD	(200 * MSEC)

static __u64 due[TIMERS], late[TIMERS], fired_max;

static void watch(int poll_fd, int fd, unsigned int i)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };

	check(!epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

static unsigned int wait_for(int poll_fd, struct epoll_event *events, int max)
{
	int n = epoll_wait(poll_fd, events, max, WAIT_MS);

	check(n > 0, "epoll_wait");
	return n;
}

static void got(unsigned int i)
{
	__u64 now = dev_now();

	check(now >= due[i], "a timer was early");
	late[i] = now - due[i];
}

static unsigned int with_timerfds(void)
{
	static struct epoll_event events[TIMERS];
	int poll_fd = epoll_create1(0);
	unsigned int i, n, left = TIMERS, wakeups = 0;
	static int fd[TIMERS];
	__u64 count;

	for (i = 0; i < TIMERS; i++) {
		struct itimerspec spec = {
			.it_value.tv_sec = due[i] / SEC,
			.it_value.tv_nsec = due[i] % SEC,
		};

		fd[i] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
		check(fd[i] >= 0, "timerfd_create");
		check(!timerfd_settime(fd[i], TFD_TIMER_ABSTIME, &spec, NULL),
		      "timerfd_settime");
		watch(poll_fd, fd[i], i);
	}
	while (left) {
		n = wait_for(poll_fd, events, TIMERS);
		wakeups++;
		for (i = 0; i < n; i++) {
			check(read(fd[events[i].data.u32], &count,
				   sizeof(count)) == sizeof(count), "read");
			got(events[i].data.u32);
			left--;
		}
	}
	for (i = 0; i < TIMERS; i++)
		close(fd[i]);
	close(poll_fd);
	return wakeups;
}

static unsigned int with_flags(__u32 flags)
{
	static struct callout_event events[TIMERS];
	unsigned int i, left = TIMERS, wakeups = 0;
	int fd = dev_open(O_NONBLOCK), poll_fd = epoll_create1(0), n;
	struct epoll_event event;
	__u64 handle;

	check(fd >= 0, "open");
	for (i = 0; i < TIMERS; i++)
		check(!dev_set(fd, CALLOUT_OPF_ABSTIME | flags, due[i], i,
			       &handle), "SET");
	watch(poll_fd, fd, 0);
	while (left) {
		wait_for(poll_fd, &event, 1);
		wakeups++;
		n = dev_read(fd, events, TIMERS);
		check(n > 0, "read");
		for (i = 0; i < (unsigned int)n; i++) {
			got(events[i].cookie);
			if (events[i].fired - events[i].due > fired_max)
				fired_max = events[i].fired - events[i].due;
		}
		left -= n;
	}
	close(poll_fd);
	close(fd);
	return wakeups;
}

static unsigned int with_callouts(void)
{
	return with_flags(0);
}

static unsigned int with_exact_callouts(void)
{
	return with_flags(CALLOUT_OPF_EXACT);
}

static void report(const char *name, const char *mode, const char *metric,
		   __u64 value)
{
	printf("bench-user: %s,%s,%u,%s,%llu\n", name, mode, TIMERS, metric,
	       value);
	fflush(stdout);
}

static void measure(const char *name, unsigned int (*run)(void), bool load)
{
	const char *mode = load ? "load" : "idle";
	unsigned int i, wakeups;
	pid_t child = 0;
	__u64 start;

	fired_max = 0;
	if (load) {
		child = fork();
		check(child >= 0, "fork");
		while (!child)
			__asm__ volatile("");
	}
	srandom(1);
	start = dev_now() + HEAD;
	for (i = 0; i < TIMERS; i++)
		due[i] = start + random() % SPREAD;
	wakeups = run();
	if (load) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	qsort(late, TIMERS, sizeof(late[0]), compare_u64);
	report(name, mode, "late_p50_ns", late[TIMERS / 2]);
	report(name, mode, "late_p99_ns", late[TIMERS * 99 / 100]);
	report(name, mode, "late_max_ns", late[TIMERS - 1]);
	if (fired_max)
		report(name, mode, "fired_max_ns", fired_max);
	report(name, mode, "wakeups", wakeups);
}

int main(void)
{
	unsigned int load;

	for (load = 0; load < 2; load++) {
		measure("timerfd", with_timerfds, load);
		measure("callout", with_callouts, load);
		measure("exact", with_exact_callouts, load);
	}
	return 0;
}
