/* SPDX-License-Identifier: GPL-2.0 */
/*
 * realtime.h - the fixture for tests that set CLOCK_REALTIME
 *
 * The tests set the clock by hours, and set it right again. A callout that fails
 * to follow is early, or late by more than WAIT_MS.
 */
#ifndef _CALLOUT_SELFTESTS_REALTIME_H
#define _CALLOUT_SELFTESTS_REALTIME_H

#include "kselftest_harness.h"
#include "bases.h"
#include "common.h"

FIXTURE(realtime) {
	int fd;
	__u64 offset;	/* of CLOCK_REALTIME to CLOCK_MONOTONIC */
};

static inline __u64 real_now(void)
{
	return now_of(CLOCK_REALTIME);
}

static inline bool set_clock(__u64 ns)
{
	struct timespec ts = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };

	return !clock_settime(CLOCK_REALTIME, &ts);
}

/* Set the clock forward, or back. */
static inline bool step(__s64 ns)
{
	return set_clock(real_now() + ns);
}

/*
 * A callout that waits for a far time wakes nobody until then. It may be looked at a few
 * times, since its clock is set; a wake-up at each tick is some hundreds in 0.15 s.
 */
#define FEW_WAKEUPS	100

FIXTURE_SETUP(realtime)
{
	self->offset = real_now() - dev_now();
	/* The clock may have a low value, from which it could not be set back. */
	if (real_now() < 1000 * HOUR)
		ASSERT_TRUE(step(1000 * HOUR));
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(realtime)
{
	EXPECT_EQ(0, close(self->fd));
	EXPECT_TRUE(set_clock(dev_now() + self->offset));
}

static inline __u64 set_on(int fd, clockid_t clock, __u32 flags, __u64 time,
			   __u64 cookie)
{
	struct callout_op op = callout_op_set(time, cookie);

	op.clockid = clock;
	op.flags = flags;
	return do_op(fd, &op) ? 0 : op.handle;
}

static inline __u64 set_real(int fd, __u64 time, __u64 cookie)
{
	return set_on(fd, CLOCK_REALTIME, CALLOUT_OPF_ABSTIME, time, cookie);
}

#endif /* _CALLOUT_SELFTESTS_REALTIME_H */
