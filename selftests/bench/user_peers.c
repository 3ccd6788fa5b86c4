// SPDX-License-Identifier: GPL-2.0
/*
 * user_peers.c - timerfd and POSIX timers for user_bench
 *
 * The expiration of a timerfd takes edge-triggered epoll, which spares the
 * kernel a second look at each, and a read(). Expirations of POSIX timers are
 * signals, read as an array from a signalfd.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "user_bench.h"

static int fds[MAX_TIMERS];
static timer_t timers[MAX_TIMERS];
static int poll_fd, signal_fd;

static void raise_limit(int resource)
{
	struct rlimit limit = { 2 * MAX_TIMERS, 2 * MAX_TIMERS };

	check(!setrlimit(resource, &limit), "setrlimit");
}

static struct itimerspec spec(__u64 time)
{
	return (struct itimerspec){
		.it_value = {
			.tv_sec = time / NSEC_PER_SEC,
			.tv_nsec = time % NSEC_PER_SEC,
		},
	};
}

static void timerfd_open(const struct facility *f, unsigned int n)
{
	unsigned int i;

	(void)f;
	raise_limit(RLIMIT_NOFILE);
	for (i = 0; i < n; i++) {
		fds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
		check(fds[i] >= 0, "timerfd_create");
	}
}

static void timerfd_set(int fd, __u64 time, int flags)
{
	struct itimerspec new = spec(time);

	check(!timerfd_settime(fd, flags, &new, NULL), "timerfd_settime");
}

static void timerfd_arm(const struct facility *f, unsigned int first,
			unsigned int n, const __u64 *time, bool absolute)
{
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++)
		timerfd_set(fds[first + i], time[i],
			    absolute ? TFD_TIMER_ABSTIME : 0);
}

static void timerfd_disarm(const struct facility *f, unsigned int first,
			   unsigned int n)
{
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++)
		timerfd_set(fds[first + i], 0, 0);
}

static void timerfd_rearm(const struct facility *f, unsigned int first,
			  unsigned int n, const __u64 *time)
{
	timerfd_arm(f, first, n, time, false);
}

static void timerfd_watch(unsigned int n)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	unsigned int i;

	poll_fd = epoll_create1(0);
	check(poll_fd >= 0, "epoll_create1");
	for (i = 0; i < n; i++) {
		event.data.u32 = i;
		check(!epoll_ctl(poll_fd, EPOLL_CTL_ADD, fds[i], &event),
		      "epoll_ctl");
	}
}

static unsigned int timerfd_collect(const struct facility *f)
{
	static struct epoll_event events[MAX_CALL];
	int n = epoll_wait(poll_fd, events, MAX_CALL, 0), i;
	__u64 times;

	(void)f;
	check(n >= 0, "epoll_wait");
	for (i = 0; i < n; i++)
		check(read(fds[events[i].data.u32], &times, sizeof(times)) ==
		      sizeof(times) && times == 1, "reading a timerfd");
	return n;
}

const struct facility timerfd_single = {
	.name = "timerfd",
	.mode = "single",
	.batch = 1,
	.open = timerfd_open,
	.arm = timerfd_arm,
	.disarm = timerfd_disarm,
	.rearm = timerfd_rearm,
	.watch = timerfd_watch,
	.collect = timerfd_collect,
};

static void posix_open(const struct facility *f, unsigned int n)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGRTMIN,
	};
	unsigned int i;
	sigset_t set;

	(void)f;
	raise_limit(RLIMIT_SIGPENDING);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	check(!sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
	signal_fd = signalfd(-1, &set, SFD_NONBLOCK);
	check(signal_fd >= 0, "signalfd");
	for (i = 0; i < n; i++) {
		event.sigev_value.sival_int = i;
		check(!timer_create(CLOCK_MONOTONIC, &event, &timers[i]),
		      "timer_create");
	}
}

static void posix_set(timer_t timer, __u64 time, int flags)
{
	struct itimerspec new = spec(time);

	check(!timer_settime(timer, flags, &new, NULL), "timer_settime");
}

static void posix_arm(const struct facility *f, unsigned int first,
		      unsigned int n, const __u64 *time, bool absolute)
{
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++)
		posix_set(timers[first + i], time[i],
			  absolute ? TIMER_ABSTIME : 0);
}

static void posix_disarm(const struct facility *f, unsigned int first,
			 unsigned int n)
{
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++)
		posix_set(timers[first + i], 0, 0);
}

static void posix_rearm(const struct facility *f, unsigned int first,
			unsigned int n, const __u64 *time)
{
	posix_arm(f, first, n, time, false);
}

static unsigned int posix_collect(const struct facility *f)
{
	static struct signalfd_siginfo infos[MAX_CALL];
	ssize_t ret = read(signal_fd, infos, sizeof(infos));

	(void)f;
	check(ret > 0 || errno == EAGAIN, "reading a signalfd");
	return ret < 0 ? 0 : ret / sizeof(infos[0]);
}

const struct facility posix_single = {
	.name = "posix",
	.mode = "single",
	.batch = 1,
	.open = posix_open,
	.arm = posix_arm,
	.disarm = posix_disarm,
	.rearm = posix_rearm,
	.collect = posix_collect,
};
