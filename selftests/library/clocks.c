// SPDX-License-Identifier: GPL-2.0
/*
 * clocks.c - timers of libcallout in each clock, while CLOCK_REALTIME is set
 *
 * With FAKE_SETTINGS the clock is set for this program only: the C library's calls are
 * replaced, and treat timerfds as the kernel does.
 */
#include "lib/loop.h"
#include "lib/wake.h"

#ifndef FAKE_SETTINGS
#define FAKE_SETTINGS	0
#endif

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
	CLOCK_BOOTTIME_ALARM, CLOCK_REALTIME_ALARM,
};

/* By how much CLOCK_REALTIME is set ahead, and how often a clock was read. */
static __s64 ahead;
static unsigned int looks;

static void shift(struct timespec *ts, __s64 by)
{
	__s64 ns = ts->tv_sec * (__s64)SEC + ts->tv_nsec + by;

	if (ns < 1)
		ns = 1;
	ts->tv_sec = ns / (__s64)SEC;
	ts->tv_nsec = ns % (__s64)SEC;
}

int clock_gettime(clockid_t clockid, struct timespec *ts)
{
	int ret = syscall(SYS_clock_gettime, clockid, ts);

	looks++;
	if (!ret && clockid == CLOCK_REALTIME)
		shift(ts, ahead);
	return ret;
}

/* The timerfds that follow settings, and the times for which they were set. */
static struct {
	int fd;
	bool used;
	struct itimerspec its;
} follow[2];

static unsigned int nr_follow;
/* The timerfd that cannot be armed. */
static int fails = -1;

int timerfd_create(int clockid, int flags)
{
	int fd = syscall(SYS_timerfd_create, clockid, flags);

	if (clockid == CLOCK_REALTIME || clockid == CLOCK_REALTIME_ALARM)
		follow[nr_follow++ % 2].fd = fd;
	return fd;
}

static int settime(int fd, struct itimerspec its)
{
	if (its.it_value.tv_sec || its.it_value.tv_nsec)
		shift(&its.it_value, -ahead);
	return syscall(SYS_timerfd_settime, fd, TFD_TIMER_ABSTIME, &its, NULL);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new,
		    struct itimerspec *old)
{
	unsigned int i;

	if (fd == fails && (new->it_value.tv_sec || new->it_value.tv_nsec)) {
		errno = ENOSPC;
		return -1;
	}
	for (i = 0; i < nr_follow && i < 2; i++) {
		if (follow[i].fd != fd)
			continue;
		follow[i].its = *new;
		return settime(fd, *new);
	}
	return syscall(SYS_timerfd_settime, fd, flags, new, old);
}

static bool set_by(__s64 ns)
{
	struct timespec ts;
	unsigned int i;

	if (!FAKE_SETTINGS) {
		clock_gettime(CLOCK_REALTIME, &ts);
		shift(&ts, ns);
		return !clock_settime(CLOCK_REALTIME, &ts);
	}
	ahead += ns;
	/* A timerfd that has expired stays expired. */
	for (i = 0; i < nr_follow && i < 2; i++)
		if (!readable(follow[i].fd) && settime(follow[i].fd, follow[i].its))
			return false;
	return true;
}

FIXTURE(clocks) {
	struct callout_ctx *ctx;
	struct callout_timer t[5];
	__u64 offset;
};

FIXTURE_VARIANT(clocks) {
	bool on_timerfd;
};

FIXTURE_VARIANT_ADD(clocks, device) { .on_timerfd = false };
FIXTURE_VARIANT_ADD(clocks, timerfd) { .on_timerfd = true };

FIXTURE_SETUP(clocks)
{
	self->offset = callout_now(CLOCK_REALTIME) - callout_now(CLOCK_MONOTONIC);
	memset(self->t, 0, sizeof(self->t));
	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &self->ctx, 16));
}

/* CLOCK_REALTIME is right again, except for some microseconds. */
FIXTURE_TEARDOWN(clocks)
{
	callout_ctx_destroy(self->ctx);
	nr_follow = 0;
	fails = -1;
	EXPECT_TRUE(set_by(callout_now(CLOCK_MONOTONIC) + self->offset -
			   callout_now(CLOCK_REALTIME)));
}

static bool is_alarm(clockid_t clockid)
{
	return clockid == CLOCK_BOOTTIME_ALARM || clockid == CLOCK_REALTIME_ALARM;
}

/* The result of arming the clock's first timer, with the capability. */
static int possible(const struct callout_ctx *ctx, clockid_t clockid)
{
	if (!is_alarm(clockid))
		return 0;
	if (!ctx->on_timerfd && !kernel_has_alarms())
		return -EOPNOTSUPP;
	return may_wake(true) ? 0 : -EPERM;
}

/* In one wait timers of all clocks fire, each by its clock. */
TEST_F(clocks, all)
{
	struct callout_timer *t;
	struct callout_event e;
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		t = &self->t[i];
		t->clockid = clocks[i];
		t->data = (void *)&clocks[i];
		EXPECT_EQ(possible(self->ctx, clocks[i]),
			  callout_arm_at(self->ctx, t, callout_now(clocks[i]) + HOUR));
		n += callout_armed(t);
	}
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	EXPECT_EQ(n, outstanding(self->ctx));
	for (i = 0; i < ARRAY_SIZE(clocks); i++)
		if (callout_armed(&self->t[i]))
			ASSERT_EQ(0, callout_arm_at(self->ctx, &self->t[i],
						    callout_now(clocks[i]) +
						    (10 - i) * MSEC));
	while (n) {
		ASSERT_LT(0, callout_ctx_turn(self->ctx, CALLOUT_FOREVER));
		for (; (t = callout_ctx_next(self->ctx, &e)); n--) {
			EXPECT_EQ(*(const clockid_t *)t->data, e.clockid);
			EXPECT_LE(e.due, callout_now(e.clockid));
		}
	}
	expect_flush();
	EXPECT_EQ(0, unread(self->ctx));
}

/* A relative time counts in a clock that is not set. */
TEST_F(clocks, relative)
{
	static const clockid_t counted[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_MONOTONIC,
		CLOCK_BOOTTIME_ALARM, CLOCK_BOOTTIME_ALARM,
	};
	struct callout_event e;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		self->t[i].clockid = clocks[i];
		ret = callout_arm(self->ctx, &self->t[i], 0);
		EXPECT_EQ(possible(self->ctx, counted[i]), ret);
		if (ret)
			continue;
		expect_turn(1);
		EXPECT_EQ(&self->t[i], callout_ctx_next(self->ctx, &e));
		EXPECT_EQ(counted[i], e.clockid);
	}
}

/* Without the capability no timer of an alarm clock is armed, and no timer is moved. */
TEST_F(clocks, eperm)
{
	struct callout_timer *t = self->t;
	struct callout_ctx *other;

	if (possible(self->ctx, CLOCK_BOOTTIME_ALARM))
		SKIP(return, "no alarm clock");
	t[0].clockid = CLOCK_BOOTTIME_ALARM;
	ASSERT_EQ(0, callout_arm(self->ctx, &t[0], 2 * HOUR));
	expect_flush();
	ASSERT_EQ(0, callout_arm(self->ctx, &t[1], HOUR));
	t[1].clockid = CLOCK_REALTIME_ALARM;
	ASSERT_TRUE(may_wake(false));
	EXPECT_EQ(-EPERM, callout_arm_at(self->ctx, &t[1], 0));
	EXPECT_TRUE(callout_armed(&t[1]));
	EXPECT_EQ(HOUR, callout_remaining(&t[1]));
	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &other, 16));
	EXPECT_EQ(-EPERM, callout_arm(other, &t[1], 0));
	EXPECT_EQ(HOUR, callout_remaining(&t[1]));
	callout_ctx_destroy(other);
	ASSERT_EQ(0, callout_arm(self->ctx, &t[0], HOUR));
	EXPECT_EQ(-EPERM, callout_ctx_turn(self->ctx, 0));
	EXPECT_TRUE(callout_ctx_pending(self->ctx));
	ASSERT_TRUE(may_wake(true));
	expect_flush();
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
}

static __u64 arm_real(struct _test_data_clocks *self, __u64 time)
{
	__u64 due = callout_now(CLOCK_REALTIME) + time;

	self->t[0].clockid = CLOCK_REALTIME;
	if (callout_arm_at(self->ctx, &self->t[0], due) ||
	    callout_ctx_flush(self->ctx))
		return 0;
	return due;
}

/* A timer fires when the clock shows its time, also if the clock was set to it. */
TEST_F(clocks, set_forth)
{
	__u64 due = arm_real(self, 2 * HOUR);
	struct callout_event e;

	ASSERT_NE(0, due);
	EXPECT_EQ(1, outstanding(self->ctx));
	ASSERT_TRUE(set_by(-HOUR));
	expect_flush();
	EXPECT_LT(2 * HOUR, callout_remaining(&self->t[0]));
	ASSERT_TRUE(set_by(4 * HOUR));
	expect_turn(1);
	ASSERT_EQ(&self->t[0], callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(due, e.due);
	EXPECT_EQ(CLOCK_REALTIME, e.clockid);
}

/* Timers with a time before the last turn's come in order, and not early. */
TEST_F(clocks, set_back)
{
	unsigned int i;
	__u64 now;

	ASSERT_NE(0, arm_real(self, HOUR));
	expect_flush();
	ASSERT_TRUE(set_by(-3 * HOUR));
	now = callout_now(CLOCK_REALTIME);
	for (i = 1; i < 4; i++) {
		self->t[i].clockid = CLOCK_REALTIME;
		ASSERT_EQ(0, callout_arm_at(self->ctx, &self->t[i],
					    now + (4 - i) * HOUR / 2));
	}
	for (i = 3; i; i--) {
		expect_flush();
		ASSERT_TRUE(set_by(HOUR / 2));
		expect_turn(1);
		EXPECT_EQ(&self->t[i], callout_ctx_next(self->ctx, NULL));
	}
	expect_flush();
	EXPECT_LT(2 * HOUR, callout_remaining(&self->t[0]));
	ASSERT_TRUE(set_by(3 * HOUR));
	expect_turn(1);
}

/*
 * When its callout has fired and the clock is set back before a turn, the timer is not
 * due, and the descriptor does not stay readable until it is.
 */
TEST_F(clocks, set_back_after_firing)
{
	int i, fd = callout_ctx_fd(self->ctx);

	for (i = 0; i < 2; i++) {
		ASSERT_NE(0, arm_real(self, 2 * HOUR));
		ASSERT_TRUE(set_by(2 * HOUR));
		ASSERT_TRUE(wait_fired(self->ctx));
		/* The clock shows a later time than in the last turn, or an earlier time. */
		ASSERT_TRUE(set_by(i ? -3 * HOUR : -HOUR));
		expect_flush();
		EXPECT_FALSE(readable(fd));
		EXPECT_FALSE(callout_ctx_pending(self->ctx));
		EXPECT_EQ(1, outstanding(self->ctx));
		ASSERT_TRUE(set_by(i ? 3 * HOUR : HOUR));
		expect_turn(1);
		EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
		/* A disarmed timer's callout does not keep the descriptor readable either. */
		ASSERT_NE(0, arm_real(self, 2 * HOUR));
		ASSERT_TRUE(set_by(2 * HOUR));
		ASSERT_TRUE(wait_fired(self->ctx));
		ASSERT_TRUE(set_by(-HOUR));
		EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
		expect_flush();
		EXPECT_FALSE(readable(fd));
		expect_flush();
	}
}

/* After the clock was set back, a turn that waits sleeps, and does not keep reading the clocks. */
TEST_F(clocks, set_back_before_a_wait)
{
	ASSERT_NE(0, arm_real(self, 2 * HOUR));
	ASSERT_TRUE(set_by(2 * HOUR));
	ASSERT_TRUE(wait_fired(self->ctx));
	ASSERT_TRUE(set_by(-HOUR));
	looks = 0;
	EXPECT_EQ(0, callout_ctx_turn(self->ctx, 30 * MSEC));
	EXPECT_GT(20, looks);
	EXPECT_EQ(1, outstanding(self->ctx));
	EXPECT_TRUE(callout_armed(&self->t[0]));
}

/*
 * A callout that is later than its timer and cannot be moved is pending, also while the
 * callout of another clock has fired. The device moves the callouts that it has.
 */
TEST_F(clocks, late_and_failed)
{
	bool on_timerfd = variant->on_timerfd;

	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], 0));
	ASSERT_NE(0, arm_real(self, 2 * HOUR));
	ASSERT_TRUE(wait_fired(self->ctx));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[1]));
	ASSERT_EQ(0, callout_arm_at(self->ctx, &self->t[0],
				    callout_now(CLOCK_REALTIME) + HOUR));
	if (on_timerfd)
		fails = self->ctx->clocks[1]->fd;
	EXPECT_EQ(on_timerfd ? -ENOSPC : 0, callout_ctx_turn(self->ctx, 0));
	EXPECT_EQ(0, unread(self->ctx));
	EXPECT_EQ(on_timerfd, callout_ctx_pending(self->ctx));
	fails = -1;
	expect_flush();
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_GE(callout_now(CLOCK_REALTIME) + HOUR, due_from(self->ctx, CLOCK_REALTIME));
}

/* A callout that has fired and could not be moved does not wake the loop after its timer. */
TEST_F(clocks, set_back_and_failed)
{
	int fd = callout_ctx_fd(self->ctx);

	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], HOUR));
	ASSERT_NE(0, arm_real(self, 2 * HOUR));
	ASSERT_TRUE(set_by(2 * HOUR));
	ASSERT_TRUE(wait_fired(self->ctx));
	ASSERT_TRUE(set_by(-HOUR));
	/* The wait reads the device's event, and there is no room for another. */
	if (variant->on_timerfd)
		fails = self->ctx->clocks[1]->fd;
	else
		ASSERT_EQ(0, callout_dev_limit(fd, 1));
	expect_turn(-ENOSPC);
	EXPECT_TRUE(readable(fd) || callout_ctx_pending(self->ctx));
	ASSERT_TRUE(set_by(HOUR));
	expect_turn(1);
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
	expect_flush();
	EXPECT_FALSE(readable(fd));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
}

TEST_HARNESS_MAIN
