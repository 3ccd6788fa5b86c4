/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mock_device.h - /dev/callout as callout.4 describes it, and timerfds, in a program
 *
 * The library's calls of ioctl(), read(), open(), close(), poll(), ppoll(),
 * clock_gettime(), calloc(), and the functions that make epolls and timerfds are
 * linked to the functions here. An epoll is a file of the device, and a timerfd in it
 * is a callout whose key is the clock. Time is a number. It advances when a test says
 * so, by a little when a clock is read, and in a wait, up to the next event. A call
 * that succeeds changes errno.
 */
#ifndef _FUZZ_MOCK_DEVICE_H
#define _FUZZ_MOCK_DEVICE_H

#include "libcallout.h"
#include "input.h"

#define TIME_LAST	(~0ULL >> 1)
/* errno after a successful call. No call fails with this value. */
#define NO_ERROR	EXDEV

#define MOCK_FILES	4U
#define MOCK_CALLOUTS	96U
#define MOCK_TICK	1000ULL
/* The first descriptor. 0 is a descriptor, too. */
#define MOCK_FD		0
#define MOCK_TIMERFDS	24U
/* The first descriptor of a timerfd. */
#define MOCK_TIMERFD	100

/* An outstanding callout. */
struct mock_callout {
	bool used;
	bool unread;
	struct callout_op set;
	uint64_t name;		/* its handle or, by the flags of @set, its key */
	uint64_t due;		/* in its clock */
	uint64_t fired;		/* in CLOCK_MONOTONIC; before that, a lower bound */
	uint64_t seq;
};

/* The counters that fdinfo shows. */
struct mock_counts {
	uint64_t set, cancelled, withdrawn, delivered, reset, repeated;
};

struct mock_file {
	bool open;
	bool is_epoll;
	int flags;
	uint64_t limit;
	struct mock_counts count;
	struct mock_callout callout[MOCK_CALLOUTS];
};

struct mock_timerfd {
	bool open;
	clockid_t clockid;
	struct mock_file *epoll;
};

/**
 * struct mock - the device, its clocks, and the next failures
 * @now: CLOCK_MONOTONIC
 * @asleep: by how much CLOCK_BOOTTIME is ahead of @now
 * @real: by how much CLOCK_REALTIME is ahead of @now
 * @jitter: by how much @now grows when a clock is read
 * @drift: the sum of these increments
 * @use_slack: callouts fire as late as their slack allows
 * @fail_set: errno of the next operations SET, while @fail_sets
 * @short_at: the next batch stops there with EFAULT, if it is not 0
 * @fail_batch: errno of the next batch, which does nothing
 * @interrupt: the next wait is interrupted
 * @allocations: how many calls of calloc() succeed, from now on
 * @calls: number of calls of ioctl(), read() and timerfd_settime()
 * @looks: number of calls of clock_gettime()
 * @polls: number of calls of poll()
 */
struct mock {
	struct mock_file file[MOCK_FILES];
	struct mock_timerfd timerfd[MOCK_TIMERFDS];
	uint64_t now, asleep, real, jitter, drift;
	uint64_t next_handle, next_seq;
	bool use_slack;
	int fail_set;
	unsigned int fail_sets;
	unsigned int short_at;
	int fail_batch;
	bool interrupt;
	unsigned int allocations;
	unsigned int calls;
	unsigned int looks;
	unsigned int polls;
};

extern struct mock mock;

/* mock_system.c */
void mock_init(void);
void mock_no_faults(void);
struct mock_file *mock_file(int fd);
uint64_t mock_clock(clockid_t clockid);
bool mock_is_alarm(clockid_t clockid);
bool mock_has_clock(clockid_t clockid);

/* mock_callouts.c */
struct mock_callout *mock_find(struct mock_file *f, uint64_t handle);
struct mock_callout *mock_find_key(struct mock_file *f, uint64_t key);
uint64_t mock_next_due(struct mock_file *f, clockid_t clockid);
void mock_fire(void);
unsigned int mock_unread(struct mock_file *f);
unsigned int mock_outstanding(struct mock_file *f);
uint64_t mock_left(const struct mock_callout *c);
int mock_do(struct mock_file *f, struct callout_op *op);
int mock_cancel(struct mock_file *f, struct mock_callout *c);
unsigned int mock_read_events(struct mock_file *f, struct callout_event *e,
			      unsigned int n);
int mock_wait(struct mock_file *f, uint64_t end);

#endif /* _FUZZ_MOCK_DEVICE_H */
