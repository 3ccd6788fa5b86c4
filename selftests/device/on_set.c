// SPDX-License-Identifier: GPL-2.0
/*
 * on_set.c - CALLOUT_OPF_CANCEL_ON_SET
 */
#include <sys/timex.h>

#include "lib/realtime.h"

static bool step_exactly(int seconds)
{
	struct timex t = { .modes = ADJ_SETOFFSET, .time.tv_sec = seconds };

	return adjtimex(&t) >= 0;
}

/* A SET of a callout that a setting of the clock ends. */
static struct callout_op op_on_set(__u64 time, __u64 cookie)
{
	struct callout_op op = callout_op_set(time, cookie);

	op.clockid = CLOCK_REALTIME;
	op.flags = CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET;
	return op;
}

/* Make @op set the outstanding callout with this handle. */
static struct callout_op old(struct callout_op op, __u64 handle)
{
	op.flags |= CALLOUT_OPF_ONLY_OLD;
	op.handle = handle;
	return op;
}

/* With CALLOUT_OPF_CANCEL_ON_SET a setting in either direction ends the callout. */
TEST_F(realtime, cancel_on_set)
{
	struct callout_event e;
	struct callout_op op;
	int i;

	for (i = 0; i < 2; i++) {
		op = op_on_set(real_now() + 100 * HOUR, 1);
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
		EXPECT_GE(dev_now(), e.fired);
		EXPECT_EQ(-ENOENT, dev_cancel(self->fd, op.handle));
		EXPECT_FALSE(readable_within(self->fd, 50));
	}

	/* Without a setting the callout fires as others do. */
	op = op_on_set(real_now() + 30 * MSEC, 3);
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(3, e.cookie);
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
	EXPECT_LE(op.time, real_now());
	/* So does a callout that was unread when the clock was set. */
	op.time = real_now();
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(step(HOUR));
	EXPECT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
	/* A setting that was undone to the nanosecond still ends the callout. */
	op.time = real_now() + 100 * HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_TRUE(step_exactly(3600));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(step_exactly(-3600));
	EXPECT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
	EXPECT_EQ(op.time, e.due);
}

/* A moved callout keeps the flag, as long as the times are absolute. */
TEST_F(realtime, cancel_on_set_is_kept)
{
	struct callout_op op = op_on_set(real_now() + 100 * HOUR, 1);
	struct callout_entry entry;
	struct callout_event e;

	ASSERT_EQ(0, do_op(self->fd, &op));
	op = callout_op_move(op.handle, real_now() + 200 * HOUR);
	op.flags |= CALLOUT_OPF_ABSTIME;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle, &entry));
	EXPECT_EQ(CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET, entry.op_flags);
	ASSERT_TRUE(step(HOUR));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	/* The event is withdrawn, and the callout is armed by the new time. */
	ASSERT_EQ(CALLOUT_STATE_UNREAD, do_op(self->fd, &op));
	EXPECT_FALSE(readable_within(self->fd, 50));
	ASSERT_TRUE(step(-HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
	EXPECT_EQ(1, e.cookie);

	/* So does a callout that has fired in time. */
	op = op_on_set(real_now(), 3);
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	op = callout_op_move(op.handle, real_now() + 200 * HOUR);
	op.flags |= CALLOUT_OPF_ABSTIME;
	ASSERT_EQ(CALLOUT_STATE_UNREAD, do_op(self->fd, &op));
	ASSERT_TRUE(step(HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
	EXPECT_EQ(3, e.cookie);

	/* A relative time has no setting to follow. */
	op = op_on_set(real_now() + 100 * HOUR, 2);
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(CALLOUT_STATE_PENDING, move(self->fd, op.handle, HOUR));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle, &entry));
	EXPECT_EQ(0, entry.op_flags);
	EXPECT_EQ(CLOCK_REALTIME, entry.clockid);
	ASSERT_TRUE(step(2 * HOUR));
	EXPECT_FALSE(readable_within(self->fd, 50));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
}

/* SET decides whether a setting of the clock ends the callout. */
TEST_F(realtime, cancel_on_set_is_replaced)
{
	__u64 handle = set_real(self->fd, real_now() + 100 * HOUR, 1);
	struct callout_op op, periodic;
	struct callout_event e;

	ASSERT_NE(0, handle);
	op = old(op_on_set(real_now() + 200 * HOUR, 2), handle);
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(step(HOUR));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_EQ(CALLOUT_STATE_UNREAD, do_op(self->fd, &op));
	EXPECT_FALSE(readable_within(self->fd, 50));
	op.flags &= ~CALLOUT_OPF_CANCEL_ON_SET;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(step(HOUR));
	EXPECT_FALSE(readable_within(self->fd, 50));
	ASSERT_TRUE(step(300 * HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
	EXPECT_EQ(2, e.cookie);

	/* SET with the flag takes the period from a periodic callout. */
	periodic = callout_op_set(HOUR, 3);
	periodic.clockid = CLOCK_REALTIME;
	periodic.period = HOUR;
	ASSERT_EQ(0, do_op(self->fd, &periodic));
	op = old(op_on_set(real_now() + 200 * HOUR, 4), periodic.handle);
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(step(HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
	EXPECT_EQ(0, e.flags);
	EXPECT_EQ(4, e.cookie);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* A callout with a key may have the flag too, and its key is free when the event is read. */
TEST_F(realtime, cancel_on_set_of_a_key)
{
	struct callout_op op = callout_op_key(op_on_set(real_now() + 100 * HOUR, 9), 5);
	struct callout_entry entry;
	struct callout_event e;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, do_op(self->fd, &op));
		ASSERT_TRUE(step(i ? -HOUR : HOUR));
		ASSERT_TRUE(wait_unread(self->fd, 1));
		ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_KEY, 5, &entry));
		EXPECT_EQ(CALLOUT_STATE_UNREAD, entry.state);
		EXPECT_EQ(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME |
			  CALLOUT_OPF_CANCEL_ON_SET, entry.op_flags);
		/* A callout that was ended is set again as any other callout. */
		EXPECT_EQ(CALLOUT_STATE_UNREAD, do_op(self->fd, &op));
		EXPECT_FALSE(readable_within(self->fd, 50));
		ASSERT_TRUE(step(HOUR));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
		EXPECT_EQ(CALLOUT_EVENTF_KEY, e.flags);
		EXPECT_EQ(5, e.key);
		EXPECT_EQ(9, e.cookie);
		EXPECT_EQ(op.time, e.due);
		EXPECT_EQ(-ENOENT, list_one(self->fd, CALLOUT_LISTF_KEY, 5, &entry));
	}
}

/* Only an absolute callout of CLOCK_REALTIME, without a period, can be ended. */
TEST_F(realtime, cancel_on_set_is_refused)
{
	const struct callout_op good = op_on_set(real_now() + HOUR, 1);
	struct callout_op op, timeout;
	__u64 handle;

#define EXPECT_REFUSED(op) EXPECT_EQ(-EINVAL, do_op(self->fd, &(op)))
	op = good;
	op.flags = CALLOUT_OPF_CANCEL_ON_SET;
	EXPECT_REFUSED(op);
	op = good;
	op.clockid = CLOCK_MONOTONIC;
	EXPECT_REFUSED(op);
	op.clockid = CLOCK_BOOTTIME;
	EXPECT_REFUSED(op);
	op = good;
	op.period = HOUR;
	EXPECT_REFUSED(op);
	op = good;
	op.op = CALLOUT_OP_TIMEOUT;
	EXPECT_REFUSED(op);
	op = callout_op_key(good, 5);
	op.period = HOUR;
	EXPECT_REFUSED(op);
	op = callout_op_key(good, 5);
	op.clockid = CLOCK_BOOTTIME;
	EXPECT_REFUSED(op);
	op = callout_op_cancel(1);
	op.flags = CALLOUT_OPF_CANCEL_ON_SET;
	EXPECT_REFUSED(op);
	EXPECT_EQ(0, counts_of(self->fd).set);

	/* SET does not change a callout of TIMEOUT. */
	timeout = good;
	timeout.op = CALLOUT_OP_TIMEOUT;
	timeout.flags = CALLOUT_OPF_ABSTIME;
	ASSERT_EQ(0, do_op(self->fd, &timeout));
	op = old(good, timeout.handle);
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_untimeout(self->fd, 0, 1, 0));
	EXPECT_EQ(-ENOENT, do_op(self->fd, &op));

	/* MOVE does not take the flag: it keeps the callout's flags. */
	handle = set_real(self->fd, good.time, 1);
	ASSERT_NE(0, handle);
	op = callout_op_move(handle, good.time + HOUR);
	op.flags |= CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET;
	EXPECT_REFUSED(op);
	op = old(good, handle);
	op.flags &= ~CALLOUT_OPF_ABSTIME;
	EXPECT_REFUSED(op);
	EXPECT_EQ(good.time, next_due(self->fd, CLOCK_REALTIME));
	EXPECT_EQ(0, counts_of(self->fd).reset);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
#undef EXPECT_REFUSED
}

TEST_HARNESS_MAIN
