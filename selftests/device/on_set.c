// SPDX-License-Identifier: GPL-2.0
/*
 * on_set.c - CALLOUT_CANCEL_ON_SET
 */
#include <sys/timex.h>

#include "lib/realtime.h"

static bool step_exactly(int seconds)
{
	struct timex t = { .modes = ADJ_SETOFFSET, .time.tv_sec = seconds };

	return adjtimex(&t) >= 0;
}

/* With CALLOUT_CANCEL_ON_SET a setting in either direction ends the callout. */
TEST_F(realtime, cancel_on_set)
{
	struct callout_event e;
	struct callout_op op;
	int i;

	for (i = 0; i < 2; i++) {
		op = callout_op_set(real_now() + 100 * HOUR, 1);
		op.clockid = CLOCK_REALTIME;
		op.flags = CALLOUT_ABSTIME | CALLOUT_CANCEL_ON_SET;
		ASSERT_EQ(0, do_op(self->fd, &op));
		ASSERT_NE(0, set_real(self->fd, op.time, 2));
		EXPECT_FALSE(readable_within(self->fd, 50));
		ASSERT_TRUE(step(i ? -HOUR : HOUR));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(1, e.cookie);
		EXPECT_EQ(op.time, e.due);
		EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
		EXPECT_EQ(CLOCK_REALTIME, e.clockid);
		EXPECT_EQ(0, e.flags);
		EXPECT_GE(callout_dev_now(), e.fired);
		EXPECT_EQ(-ENOENT, callout_dev_unset(self->fd, op.handle));
		EXPECT_FALSE(readable_within(self->fd, 50));
	}

	/* Without a setting it fires as others do. */
	op = callout_op_set(real_now() + 30 * MSEC, 3);
	op.clockid = CLOCK_REALTIME;
	op.flags = CALLOUT_ABSTIME | CALLOUT_CANCEL_ON_SET;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(3, e.cookie);
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
	EXPECT_LE(op.time, real_now());
	/* So does one that was unread when the clock was set. */
	op.time = real_now();
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(step(HOUR));
	EXPECT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
	/* That a setting was undone to the nanosecond makes no difference. */
	op.time = real_now() + 100 * HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_TRUE(step_exactly(3600));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(step_exactly(-3600));
	EXPECT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
	EXPECT_EQ(op.time, e.due);
}

/* RESET decides whether a setting of the clock ends the callout. */
TEST_F(realtime, cancel_on_set_and_reset)
{
	struct callout_op op, set;
	struct callout_event e;
	__u64 handle;

	handle = set_real(self->fd, real_now() + 100 * HOUR, 1);
	op = callout_op_reset(handle, real_now() + 200 * HOUR);
	op.flags = CALLOUT_ABSTIME | CALLOUT_CANCEL_ON_SET;
	ASSERT_EQ(CALLOUT_CANCELLED, do_op(self->fd, &op));
	ASSERT_TRUE(step(HOUR));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	/* The event is withdrawn, and the callout is armed by the new time. */
	ASSERT_EQ(CALLOUT_WITHDRAWN, do_op(self->fd, &op));
	EXPECT_FALSE(readable_within(self->fd, 50));
	op.flags = CALLOUT_ABSTIME;
	ASSERT_EQ(CALLOUT_CANCELLED, do_op(self->fd, &op));
	ASSERT_TRUE(step(HOUR));
	EXPECT_FALSE(readable_within(self->fd, 50));
	ASSERT_TRUE(step(300 * HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);

	/* A periodic callout cannot be ended, unless RESET takes its period. */
	set = callout_op_set(HOUR, 1);
	set.clockid = CLOCK_REALTIME;
	set.period = HOUR;
	ASSERT_EQ(0, do_op(self->fd, &set));
	op = callout_op_reset(set.handle, real_now() + 200 * HOUR);
	op.flags = CALLOUT_ABSTIME | CALLOUT_CANCEL_ON_SET;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op.flags |= CALLOUT_NEW_PERIOD;
	ASSERT_EQ(CALLOUT_CANCELLED, do_op(self->fd, &op));
	ASSERT_TRUE(step(HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Only an absolute callout of CLOCK_REALTIME, without a period, can be ended. */
TEST_F(realtime, cancel_on_set_is_refused)
{
	struct callout_op good = callout_op_set(real_now() + HOUR, 1), op;
	__u64 handle;

	good.clockid = CLOCK_REALTIME;
	good.flags = CALLOUT_ABSTIME | CALLOUT_CANCEL_ON_SET;
	op = good;
	op.flags = CALLOUT_CANCEL_ON_SET;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op = good;
	op.flags |= 1U << 5;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op = good;
	op.clockid = CLOCK_MONOTONIC;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op.clockid = CLOCK_BOOTTIME;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op = good;
	op.period = HOUR;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op = good;
	op.op = CALLOUT_OP_TIMEOUT;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op.flags = CALLOUT_ABSTIME;
	ASSERT_EQ(0, do_op(self->fd, &op));
	handle = op.handle;
	op = callout_op_reset(handle, good.time);
	op.flags = good.flags;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_dev_unset(self->fd, handle));
	/* It needs a time, an absolute one, of that clock. */
	handle = set_on(self->fd, CLOCK_BOOTTIME, 0, HOUR, 1);
	ASSERT_NE(0, handle);
	op.handle = handle;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_dev_unset(self->fd, handle));
	op.handle = set_real(self->fd, good.time, 1);
	op.flags = CALLOUT_CANCEL_ON_SET;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_dev_unset(self->fd, op.handle));
	op.flags = good.flags;
	EXPECT_EQ(-ENOENT, do_op(self->fd, &op));
	op = callout_op_unset(handle);
	op.flags = CALLOUT_CANCEL_ON_SET;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	/* One with a key cannot be ended. */
	good.cookie = 0;
	op = callout_op_key(good, 5);
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op.flags &= ~CALLOUT_CANCEL_ON_SET;
	ASSERT_EQ(0, do_op(self->fd, &op));
	op.flags |= CALLOUT_CANCEL_ON_SET;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op = callout_op_key(callout_op_reset(0, good.time), 5);
	op.flags |= good.flags;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op));
	op = callout_op_key(callout_op_unset(0), 5);
	EXPECT_EQ(CALLOUT_CANCELLED, do_op(self->fd, &op));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_HARNESS_MAIN
