// SPDX-License-Identifier: GPL-2.0
/*
 * timens.c - time namespaces: absolute times are the caller's
 *
 * Each test runs in a time namespace with an offset for each clock, except where
 * it returns to the initial namespace. A callout that confuses the times of the
 * two namespaces is early, or late by more than WAIT_MS.
 */
#include "kselftest_harness.h"
#include "lib/common.h"
#include "lib/timens.h"

#define NS_CHILDREN	"/proc/self/ns/time_for_children"

FIXTURE(timens) {
	int fd;
	int initial;
	int inner;
	__s64 shift;	/* the namespace's offset of the clock, in ns */
};

/* Offsets in seconds. Offsets that are not positive keep the clocks above 0. */
FIXTURE_VARIANT(timens) {
	clockid_t clock;
	int monotonic, boottime;
};

FIXTURE_VARIANT_ADD(timens, monotonic_ahead) {
	.clock = CLOCK_MONOTONIC,
	.monotonic = 5000,
};

FIXTURE_VARIANT_ADD(timens, monotonic_behind) {
	.clock = CLOCK_MONOTONIC,
	.monotonic = -1,
	.boottime = 7000,
};

FIXTURE_VARIANT_ADD(timens, boottime_ahead) {
	.clock = CLOCK_BOOTTIME,
	.boottime = 7000,
};

FIXTURE_VARIANT_ADD(timens, boottime_behind) {
	.clock = CLOCK_BOOTTIME,
	.monotonic = 5000,
	.boottime = -1,
};

/* The thread's namespace becomes @ns. */
static bool enter(int ns)
{
	return !setns(ns, CLONE_NEWTIME);
}

FIXTURE_SETUP(timens)
{
	self->fd = -1;
	self->inner = -1;
	self->initial = open(NS_FILE, O_RDONLY | O_CLOEXEC);
	if (self->initial < 0 && errno == ENOENT)
		SKIP(return, "the kernel has no time namespaces");
	ASSERT_LE(0, self->initial);
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(shift_children(variant->monotonic, variant->boottime));
	self->inner = open(NS_CHILDREN, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->inner);
	ASSERT_TRUE(enter(self->inner));
	self->shift = (variant->clock == CLOCK_BOOTTIME ? variant->boottime :
							  variant->monotonic) *
		      (__s64)SEC;
}

FIXTURE_TEARDOWN(timens)
{
	close(self->fd);
	close(self->inner);
	close(self->initial);
}

static struct callout_op op_of(clockid_t clock, __u32 flags, __u64 time)
{
	struct callout_op op = callout_op_set(time, 1);

	op.clockid = clock;
	op.flags = flags;
	return op;
}

TEST_F(timens, absolute)
{
	__u64 start = now_of(variant->clock);
	__u64 times[] = { start, start + 1, start + 30 * MSEC };
	struct callout_event e;
	struct callout_op op;
	unsigned int i;
	__u64 before;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, times[i]);
		before = dev_now();
		ASSERT_EQ(0, do_op(self->fd, &op));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_LE(times[i], now_of(variant->clock));
		EXPECT_EQ(times[i], e.due);
		EXPECT_LE(before, e.fired);
		EXPECT_GE(dev_now(), e.fired);
	}
}

/* Times of callouts with slack or a period are converted elsewhere. */
TEST_F(timens, absolute_with_slack_and_period)
{
	__u64 time = now_of(variant->clock) + 30 * MSEC;
	struct callout_op op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, time);
	struct callout_event e;

	op.slack = 20 * MSEC;
	op.period = HOUR;
	op.time = time + HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	EXPECT_EQ(op.time, next_due(self->fd, variant->clock));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
	op.time = time;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(time, now_of(variant->clock));
	EXPECT_EQ(time, e.due);
	EXPECT_EQ(0, e.overrun);
	EXPECT_EQ(time + HOUR, next_due(self->fd, variant->clock));
}

TEST_F(timens, relative)
{
	__u64 before = now_of(variant->clock), after;
	struct callout_op op = op_of(variant->clock, 0, 30 * MSEC);
	struct callout_event e;

	ASSERT_EQ(0, do_op(self->fd, &op));
	after = now_of(variant->clock);
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(before + 30 * MSEC, e.due);
	EXPECT_GE(after + 30 * MSEC, e.due);
	EXPECT_LE(e.due, now_of(variant->clock));
	EXPECT_GE(dev_now(), e.fired);

	op = op_of(variant->clock, 0, HOUR);
	before = now_of(variant->clock);
	ASSERT_EQ(0, do_op(self->fd, &op));
	after = now_of(variant->clock);
	EXPECT_LE(before + HOUR, next_due(self->fd, variant->clock));
	EXPECT_GE(after + HOUR, next_due(self->fd, variant->clock));
}

TEST_F(timens, move)
{
	__u64 now = now_of(variant->clock);
	struct callout_op op = op_of(variant->clock, 0, HOUR), move;
	struct callout_event e;

	ASSERT_EQ(0, do_op(self->fd, &op));
	move = callout_op_move(op.handle, now + 2 * HOUR);
	move.flags |= CALLOUT_OPF_ABSTIME;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &move));
	EXPECT_EQ(now + 2 * HOUR, next_due(self->fd, variant->clock));
	move.time = now + 30 * MSEC;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &move));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(move.time, now_of(variant->clock));
	EXPECT_EQ(move.time, e.due);
}

/* Times outside of the initial namespace's clock count as its first or last. */
TEST_F(timens, ends_of_the_clock)
{
	struct callout_op op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, 0);
	struct callout_event e;

	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(self->shift > 0 ? self->shift : 0, e.due);
	op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, TIME_MAX);
	ASSERT_EQ(0, do_op(self->fd, &op));
	/* A time that never comes never comes in either namespace. */
	EXPECT_EQ(TIME_MAX, next_due(self->fd, variant->clock));
	EXPECT_FALSE(readable_within(self->fd, 20));
	ASSERT_TRUE(enter(self->initial));
	EXPECT_EQ(TIME_MAX, next_due(self->fd, variant->clock));
}

/* Time left is the same in each namespace. */
TEST_F(timens, list)
{
	__u64 time = now_of(variant->clock) + HOUR, cursor = 0;
	struct callout_op op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, time);
	struct callout_entry entry, listed;

	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle, &entry));
	EXPECT_EQ(time, entry.due);
	EXPECT_GE(HOUR, entry.left);
	EXPECT_LE(time, entry.left + now_of(variant->clock));
	ASSERT_EQ(1, list_page(self->fd, &cursor, &listed, 1));
	EXPECT_EQ(time, listed.due);

	ASSERT_TRUE(enter(self->initial));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle, &entry));
	EXPECT_EQ(time - self->shift, entry.due);
	EXPECT_GE(HOUR, entry.left);
	cursor = 0;
	ASSERT_EQ(1, list_page(self->fd, &cursor, &listed, 1));
	EXPECT_EQ(time - self->shift, listed.due);
}

/* A batch waits until its deadline in the caller's clock. */
TEST_F(timens, wait)
{
	struct callout_event e;
	struct callout_batch b;
	__u64 start;

	start = now_of(CLOCK_REALTIME);
	b = with_events(batch_of(NULL, 0), &e, 1,
			CALLOUT_BATCHF_WAIT | CALLOUT_BATCHF_ABSTIME,
			now_of(variant->clock) + 30 * MSEC);
	b.clockid = variant->clock;
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(0, b.got);
	EXPECT_LE(b.time, now_of(variant->clock));
	/* The largest time means no limit, whatever the offset. */
	b.time = TIME_MAX;
	ASSERT_NE(0, set(self->fd, MSEC, 1));
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(1, b.got);
	/* No namespace changes CLOCK_REALTIME. */
	b.clockid = CLOCK_REALTIME;
	b.time = start + 1;
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(0, b.got);
}

/* Events and LIST have times of the reader's namespace. */
TEST_F(timens, reader_is_elsewhere)
{
	__u64 time = now_of(variant->clock) + 30 * MSEC, before;
	struct callout_op op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, time);
	struct callout_event e;

	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_TRUE(enter(self->initial));
	before = dev_now();
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(time - self->shift, e.due);
	EXPECT_LE(e.due, now_of(variant->clock));
	EXPECT_GE(dev_now(), e.fired);
	EXPECT_LE(before, e.fired + WAIT_MS * MSEC);

	op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, time + HOUR);
	ASSERT_EQ(0, do_op(self->fd, &op));
	EXPECT_EQ(time + HOUR, next_due(self->fd, variant->clock));
	ASSERT_TRUE(enter(self->inner));
	EXPECT_EQ(time + HOUR + self->shift, next_due(self->fd, variant->clock));
}

TEST_HARNESS_MAIN
