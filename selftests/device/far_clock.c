// SPDX-License-Identifier: GPL-2.0
/*
 * far_clock.c - CLOCK_REALTIME at the earliest and the latest possible setting,
 * and times whose sums with it do not fit into 63 bits
 */
#include "lib/realtime.h"

static const clockid_t clocks[] = {
	CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_MONOTONIC,
};

static const __u64 most[] = { 0, TIME_MAX };

/* Linux refuses settings below CLOCK_MONOTONIC's time, and from 2232 on. */
static bool set_year(bool late)
{
	__u64 year = 365 * 24 * HOUR, now = dev_now();

	return late ? set_clock(261 * year) : set_clock(now + HOUR);
}

/* A callout that is due soon fires, not early, whatever its period and its slack. */
static void soon(struct __test_metadata *_metadata, int fd,
		 const struct callout_op *like)
{
	struct callout_op op = *like;
	bool abs = op.flags & CALLOUT_OPF_ABSTIME;
	struct callout_event e;
	__u64 before = now_of(op.clockid);

	op.time = 20 * MSEC + (abs ? before : 0);
	op.slack = 0;
	ASSERT_EQ(0, do_op(fd, &op));
	ASSERT_EQ(1, receive(fd, &e, 1));
	EXPECT_LE(before + 20 * MSEC, e.due);
	if (abs)
		EXPECT_EQ(op.time, e.due);
	EXPECT_LE(e.due, now_of(op.clockid));
	EXPECT_EQ(0, e.overrun);
	EXPECT_EQ(op.period ? CALLOUT_EVENTF_PERIODIC : 0, e.flags);
	/* The next period does not come at once. */
	EXPECT_FALSE(readable_within(fd, 20));
	EXPECT_EQ(op.period ? CALLOUT_STATE_PENDING : -ENOENT,
		  dev_cancel(fd, op.handle));
}

/* A callout with the latest possible time does not fire, and is listed with that time. */
static void never(struct __test_metadata *_metadata, int fd,
		  const struct callout_op *like)
{
	struct callout_op op = *like;
	struct callout_entry entry;

	op.time = TIME_MAX;
	ASSERT_EQ(0, do_op(fd, &op));
	EXPECT_FALSE(readable_within(fd, 20));
	ASSERT_EQ(0, list_one(fd, CALLOUT_LISTF_HANDLE, op.handle, &entry));
	EXPECT_LT(now_of(op.clockid), entry.due);
	EXPECT_LT(20 * 365 * 24 * HOUR, entry.left);
	EXPECT_EQ(entry.due, next_due(fd, op.clockid));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(fd, op.handle));
	EXPECT_EQ(0, info_of(fd).outstanding);
}

static void far(struct __test_metadata *_metadata, int fd, bool late)
{
	struct callout_op op = callout_op_set(0, 1);
	unsigned int i;

	/* A program with a time_t of 32 bits can neither set such a clock nor read it. */
	if (sizeof(time_t) < 8)
		return;
	ASSERT_TRUE(set_year(late));
	for (i = 0; i < ARRAY_SIZE(clocks) * 8; i++) {
		op.clockid = clocks[i / 8];
		op.flags = i & 1 ? CALLOUT_OPF_ABSTIME : 0;
		op.period = most[i / 2 % 2];
		op.slack = most[i / 4 % 2];
		soon(_metadata, fd, &op);
		never(_metadata, fd, &op);
		if (!_metadata->exit_code)
			continue;
		TH_LOG("clock %d, flags %#x, period %lld, slack %lld", op.clockid,
		       op.flags, (long long)op.period, (long long)op.slack);
	}
}

TEST_F(realtime, in_1970)
{
	far(_metadata, self->fd, false);
}

TEST_F(realtime, in_2230)
{
	far(_metadata, self->fd, true);
}

/* The clock is set from one end to the other: the time left is the difference, and no more. */
TEST_F(realtime, from_end_to_end)
{
	struct callout_entry entry;
	__u64 time, handle;

	if (sizeof(time_t) < 8)
		return;
	ASSERT_TRUE(set_year(false));
	time = real_now() + 100 * 365 * 24 * HOUR;
	handle = set_real(self->fd, time, 1);
	ASSERT_NE(0, handle);
	ASSERT_NE(0, set_on(self->fd, CLOCK_REALTIME, 0, TIME_MAX, 2));
	ASSERT_NE(0, set_real(self->fd, TIME_MAX, 3));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, handle, &entry));
	EXPECT_EQ(time, entry.due);
	EXPECT_GE(100 * 365 * 24 * HOUR, entry.left);
	ASSERT_TRUE(set_year(true));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_FALSE(readable_within(self->fd, 20) && info_of(self->fd).unread > 1);
	ASSERT_TRUE(set_year(false));
	EXPECT_EQ(1, info_of(self->fd).unread);
	EXPECT_EQ(3, info_of(self->fd).outstanding);
}

TEST_HARNESS_MAIN
