// SPDX-License-Identifier: GPL-2.0
/*
 * mock_system.c - the mock's clocks, memory, descriptors, timerfds and epolls
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include "mock_device.h"

#define REAL_AHEAD	1700000000000000000ULL

struct mock mock;

void mock_no_faults(void)
{
	mock.fail_sets = 0;
	mock.short_at = 0;
	mock.fail_batch = 0;
	mock.interrupt = false;
	mock.allocations = UINT_MAX;
}

void mock_init(void)
{
	memset(&mock, 0, sizeof(mock));
	mock.now = 1000000;
	mock.asleep = 500;
	mock.real = REAL_AHEAD;
	mock.next_handle = 1;
	mock_no_faults();
}

void *mock_calloc(size_t n, size_t size)
{
	if (!mock.allocations)
		return NULL;
	if (mock.allocations != UINT_MAX)
		mock.allocations--;
	return calloc(n, size);
}

uint64_t mock_clock(clockid_t clockid)
{
	switch (clockid) {
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		return mock.now + mock.asleep;
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_ALARM:
		return mock.now + mock.real;
	default:
		return mock.now;
	}
}

bool mock_is_alarm(clockid_t clockid)
{
	return clockid == CLOCK_BOOTTIME_ALARM || clockid == CLOCK_REALTIME_ALARM;
}

bool mock_has_clock(clockid_t clockid)
{
	return clockid == CLOCK_MONOTONIC || clockid == CLOCK_BOOTTIME ||
	       clockid == CLOCK_REALTIME || mock_is_alarm(clockid);
}

int mock_clock_gettime(clockid_t clockid, struct timespec *ts)
{
	uint64_t t;

	mock.looks++;
	/* Without an RTC alarm clocks cannot be read. */
	if (!mock_has_clock(clockid) || mock_is_alarm(clockid)) {
		errno = EINVAL;
		return -1;
	}
	mock.now += mock.jitter;
	mock.drift += mock.jitter;
	t = mock_clock(clockid);
	ts->tv_sec = t / 1000000000;
	ts->tv_nsec = t % 1000000000;
	errno = NO_ERROR;
	return 0;
}

struct mock_file *mock_file(int fd)
{
	if (fd < MOCK_FD || fd >= MOCK_FD + (int)MOCK_FILES ||
	    !mock.file[fd - MOCK_FD].open)
		return NULL;
	return &mock.file[fd - MOCK_FD];
}

static int new_file(int flags)
{
	unsigned int i;

	for (i = 0; i < MOCK_FILES; i++) {
		if (mock.file[i].open)
			continue;
		memset(&mock.file[i], 0, sizeof(mock.file[i]));
		mock.file[i].open = true;
		mock.file[i].flags = flags;
		mock.file[i].limit = MOCK_CALLOUTS;
		errno = NO_ERROR;
		return MOCK_FD + i;
	}
	errno = EMFILE;
	return -1;
}

int mock_open(const char *name, int flags, ...)
{
	fuzz_assert(!strcmp(name, CALLOUT_DEVICE), "%s", name);
	fuzz_assert(flags & O_CLOEXEC, "inherited by exec");
	fuzz_assert((flags & O_ACCMODE) == O_RDWR, "%x", flags);
	return new_file(flags);
}

static struct mock_timerfd *mock_timerfd(int fd)
{
	if (fd < MOCK_TIMERFD || fd >= MOCK_TIMERFD + (int)MOCK_TIMERFDS ||
	    !mock.timerfd[fd - MOCK_TIMERFD].open)
		return NULL;
	return &mock.timerfd[fd - MOCK_TIMERFD];
}

int mock_close(int fd)
{
	struct mock_timerfd *t = mock_timerfd(fd);
	struct mock_file *f = mock_file(fd);

	if (t) {
		t->open = false;
		errno = NO_ERROR;
		return 0;
	}
	fuzz_assert(f, "close of %d", fd);
	f->open = false;
	errno = NO_ERROR;
	return 0;
}

int mock_epoll_create1(int flags)
{
	int fd = new_file(0);

	fuzz_assert(flags == EPOLL_CLOEXEC, "inherited by exec");
	if (fd >= 0)
		mock_file(fd)->is_epoll = true;
	return fd;
}

int mock_timerfd_create(int clockid, int flags)
{
	unsigned int i;

	fuzz_assert(flags == (TFD_CLOEXEC | TFD_NONBLOCK), "%x", flags);
	fuzz_assert(mock_has_clock(clockid), "%d", clockid);
	for (i = 0; i < MOCK_TIMERFDS && !mock.fail_batch; i++) {
		if (mock.timerfd[i].open)
			continue;
		mock.timerfd[i] = (struct mock_timerfd){ true, clockid, NULL };
		errno = NO_ERROR;
		return MOCK_TIMERFD + i;
	}
	errno = EMFILE;
	return -1;
}

int mock_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	struct mock_timerfd *t = mock_timerfd(fd);
	struct mock_file *f = mock_file(epoll);

	fuzz_assert(f && f->is_epoll && t && op == EPOLL_CTL_ADD &&
		    event->events == EPOLLIN, "epoll_ctl");
	errno = mock.short_at ? ENOMEM : NO_ERROR;
	if (!mock.short_at)
		t->epoll = f;
	return mock.short_at ? -1 : 0;
}

static int settime(struct mock_timerfd *t, uint64_t time)
{
	struct callout_op op = callout_op_set(time, 0);

	if (mock.fail_batch) {
		mock.fail_batch = 0;
		return -EINVAL;
	}
	if (!time) {
		op = callout_op_key(callout_op_cancel(0), t->clockid);
		mock_do(t->epoll, &op);
		return 0;
	}
	op.clockid = t->clockid;
	op.flags = CALLOUT_OPF_ABSTIME;
	op = callout_op_key(op, t->clockid);
	return mock_do(t->epoll, &op);
}

int mock_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			 struct itimerspec *old)
{
	struct mock_timerfd *t = mock_timerfd(fd);
	int ret;

	fuzz_assert(t && t->epoll && flags == TFD_TIMER_ABSTIME && !old &&
		    !new->it_interval.tv_sec && !new->it_interval.tv_nsec &&
		    new->it_value.tv_nsec < 1000000000, "timerfd_settime");
	mock.calls++;
	ret = settime(t, new->it_value.tv_sec * 1000000000 + new->it_value.tv_nsec);
	errno = ret < 0 ? -ret : NO_ERROR;
	return ret < 0 ? -1 : 0;
}

static bool key_is_unread(struct mock_file *f, uint64_t key)
{
	struct mock_callout *c = mock_find_key(f, key);

	mock_fire();
	return c && c->unread;
}

int mock_poll(struct pollfd *p, nfds_t n, int ms)
{
	struct mock_file *f = mock_file(p->fd);

	fuzz_assert(f && n == 1 && !ms && p->events == POLLIN, "poll");
	mock.polls++;
	errno = NO_ERROR;
	p->revents = mock_unread(f) ? POLLIN : 0;
	return !!p->revents;
}

int mock_ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts,
	       const void *mask)
{
	uint64_t timeout = ts ? ts->tv_sec * 1000000000 + ts->tv_nsec : ~0ULL;
	struct mock_timerfd *t;
	int ret, got = 0;
	nfds_t i;

	fuzz_assert(n && !mask, "ppoll");
	t = mock_timerfd(p->fd);
	ret = mock_wait(t->epoll, timeout < TIME_LAST - mock.now ?
				       mock.now + timeout : TIME_LAST);
	errno = ret ? -ret : NO_ERROR;
	for (i = 0; i < n && !ret; i++) {
		t = mock_timerfd(p[i].fd);
		fuzz_assert(t && t->epoll && p[i].events == POLLIN, "ppoll");
		p[i].revents = key_is_unread(t->epoll, t->clockid) ? POLLIN : 0;
		got += !!p[i].revents;
	}
	return ret ? -1 : got;
}
