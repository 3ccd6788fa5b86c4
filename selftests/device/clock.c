// SPDX-License-Identifier: GPL-2.0
/*
 * clock.c - all clocks, and slack
 */
#include <stdlib.h>

#include "kselftest_harness.h"
#include "lib/common.h"

FIXTURE(clock) {
	int fd;
	__u64 tick;
};

FIXTURE_VARIANT(clock) {
	clockid_t clock, other;
};

FIXTURE_VARIANT_ADD(clock, monotonic) {
	.clock = CLOCK_MONOTONIC,
	.other = CLOCK_BOOTTIME,
};

FIXTURE_VARIANT_ADD(clock, boottime) {
	.clock = CLOCK_BOOTTIME,
	.other = CLOCK_REALTIME,
};

FIXTURE_VARIANT_ADD(clock, realtime) {
	.clock = CLOCK_REALTIME,
	.other = CLOCK_MONOTONIC,
};

FIXTURE_SETUP(clock)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->tick = default_slack();
	ASSERT_NE(0, self->tick);
}

FIXTURE_TEARDOWN(clock)
{
	EXPECT_EQ(0, close(self->fd));
}

static __u64 set_on(int fd, clockid_t clock, __u32 flags, __u64 time)
{
	struct callout_op op = callout_op_set(time, 5);

	op.clockid = clock;
	op.flags = flags;
	return do_op(fd, &op) ? 0 : op.handle;
}

TEST_F(clock, is_offered)
{
	EXPECT_EQ(1U << CLOCK_MONOTONIC | 1U << CLOCK_BOOTTIME |
		  1U << CLOCK_REALTIME,
		  info_of(self->fd).clocks & ~(1U << CLOCK_REALTIME_ALARM |
					       1U << CLOCK_BOOTTIME_ALARM));
}

TEST_F(clock, relative)
{
	static const __u64 times[] = { 0, 1, MSEC, 30 * MSEC };
	struct callout_event e;
	__u64 before, after;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		before = now_of(variant->clock);
		ASSERT_NE(0, set_on(self->fd, variant->clock, 0, times[i]));
		after = now_of(variant->clock);
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_LE(e.due, now_of(variant->clock));
		EXPECT_LE(before + times[i], e.due);
		EXPECT_GE(after + times[i], e.due);
		EXPECT_GE(dev_now(), e.fired);
	}
}

TEST_F(clock, absolute)
{
	__u64 start = now_of(variant->clock);
	__u64 times[] = { 0, 1, start / 2, start, start + 30 * MSEC };
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		ASSERT_NE(0, set_on(self->fd, variant->clock, CALLOUT_OPF_ABSTIME,
				    times[i]));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(times[i], e.due);
		EXPECT_LE(e.due, now_of(variant->clock));
	}
}

/* A file may have callouts of both clocks. Each fires by its clock. */
TEST_F(clock, both_at_once)
{
	enum { N = 100 };
	struct callout_event e[2 * N];
	__u64 due[2], start[2];
	struct callout_op op;
	unsigned int i, k;

	start[0] = now_of(CLOCK_MONOTONIC);
	start[1] = now_of(CLOCK_BOOTTIME);
	for (i = 0; i < 2 * N; i++) {
		op = callout_op_set(start[i & 1] + i * MSEC / 4, i);
		op.clockid = i & 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
		op.flags = CALLOUT_OPF_ABSTIME;
		ASSERT_EQ(0, do_op(self->fd, &op));
	}
	ASSERT_EQ(2 * N, receive(self->fd, e, 2 * N));
	due[0] = now_of(CLOCK_MONOTONIC);
	due[1] = now_of(CLOCK_BOOTTIME);
	for (i = 0; i < 2 * N; i++) {
		k = e[i].cookie & 1;
		EXPECT_EQ(start[k] + e[i].cookie * MSEC / 4, e[i].due);
		EXPECT_GE(due[k], e[i].due);
	}
}

TEST_F(clock, next)
{
	__u64 now = now_of(variant->clock), before, handles[3];
	int i, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct callout_op op;
	struct callout_event e;

	EXPECT_EQ(CALLOUT_FOREVER, next_due(self->fd, variant->clock));
	for (i = 0; i < 3; i++) {
		/* The earliest callout is set last, and each callout on another CPU. */
		ASSERT_TRUE(pin_to_cpu(i % cpus));
		handles[i] = set_on(self->fd, variant->clock, CALLOUT_OPF_ABSTIME,
				    now + (3 - i) * HOUR + 1);
		ASSERT_NE(0, handles[i]);
		EXPECT_EQ(now + (3 - i) * HOUR + 1,
			  next_due(self->fd, variant->clock));
	}
	EXPECT_EQ(CALLOUT_FOREVER, next_due(self->fd, variant->other));
	ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handles[2]));
	EXPECT_EQ(now + 2 * HOUR + 1, next_due(self->fd, variant->clock));

	/* Later, and earlier again. */
	op = callout_op_move(handles[1], now + 4 * HOUR);
	op.flags |= CALLOUT_OPF_ABSTIME;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	EXPECT_EQ(now + 3 * HOUR + 1, next_due(self->fd, variant->clock));
	op.time = now + HOUR;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	EXPECT_EQ(now + HOUR, next_due(self->fd, variant->clock));

	/* A callout that has fired is not pending. */
	op.time = now;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(now + 3 * HOUR + 1, next_due(self->fd, variant->clock));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(now + 3 * HOUR + 1, next_due(self->fd, variant->clock));
	ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handles[0]));
	EXPECT_EQ(CALLOUT_FOREVER, next_due(self->fd, variant->clock));

	/* A relative time. */
	before = now_of(variant->clock);
	ASSERT_NE(0, set_on(self->fd, variant->clock, 0, HOUR));
	EXPECT_LE(before + HOUR, next_due(self->fd, variant->clock));
	EXPECT_GE(now_of(variant->clock) + HOUR,
		  next_due(self->fd, variant->clock));
}

TEST_F(clock, next_is_of_one_file)
{
	int other = dev_open(O_NONBLOCK);

	ASSERT_LE(0, other);
	ASSERT_NE(0, set_on(other, variant->clock, 0, HOUR));
	EXPECT_EQ(CALLOUT_FOREVER, next_due(self->fd, variant->clock));
	EXPECT_EQ(0, close(other));
}

TEST_F(clock, next_of_many)
{
	enum { N = 2000, STEP = 777 };
	__u64 now = now_of(variant->clock) + HOUR;
	static __u64 handles[N];
	unsigned int i;

	for (i = 0; i < N; i++) {
		handles[i * STEP % N] =
			set_on(self->fd, variant->clock, CALLOUT_OPF_ABSTIME,
			       now + i * STEP % N * SEC);
		ASSERT_NE(0, handles[i * STEP % N]);
	}
	for (i = 0; i < N; i++) {
		if (!(i % 100))
			ASSERT_EQ(now + i * SEC,
				  next_due(self->fd, variant->clock));
		ASSERT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, handles[i]));
	}
	EXPECT_EQ(CALLOUT_FOREVER, next_due(self->fd, variant->clock));
}

/* With slack no callout is early, and the event's due is the time without slack. */
TEST_F(clock, slack_is_never_early)
{
	static const __u64 slacks[] = { 0, 1, MSEC, 20 * MSEC, 100 * MSEC };
	struct callout_event e;
	struct callout_op op;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(slacks); i++) {
		for (j = 0; j < 4; j++) {
			op = callout_op_set(now_of(variant->clock) +
					    j * 3 * MSEC, j);
			op.clockid = variant->clock;
			op.flags = CALLOUT_OPF_ABSTIME;
			op.slack = slacks[i];
			ASSERT_EQ(0, do_op(self->fd, &op));
			ASSERT_EQ(1, receive(self->fd, &e, 1));
			EXPECT_LE(op.time, now_of(variant->clock));
			EXPECT_EQ(op.time, e.due);
			if (variant->clock == CLOCK_MONOTONIC)
				EXPECT_LE(e.due, e.fired);
		}
	}
}

/*
 * A callout fires before the end of its slack: before a callout without slack
 * that is due some ticks after that end. Ticks, since the position within a
 * tick is unknown when a callout is set. All are set before the first is due,
 * also on a busy machine: not all schemes order callouts that are due together.
 */
TEST_F(clock, slack_bounds_lateness)
{
	enum { N = 200, TICKS = 3 };
	__u64 start = now_of(variant->clock) + 500 * MSEC;
	struct callout_op ops[2 * N];
	struct callout_event e[2 * N];
	bool seen[N] = { 0 };
	unsigned int i, seed = 1;

	ASSERT_TRUE(pin_to_cpu(0));
	for (i = 0; i < N; i++) {
		ops[i] = callout_op_set(start + rand_r(&seed) % (20 * MSEC), i);
		ops[i].slack = rand_r(&seed) % ((i + 1) * MSEC);
		ops[N + i] = callout_op_set(ops[i].time + ops[i].slack +
					    TICKS * self->tick, N + i);
	}
	for (i = 0; i < 2 * N; i++) {
		ops[i].clockid = variant->clock;
		ops[i].flags = CALLOUT_OPF_ABSTIME | (i < N ? 0 : CALLOUT_OPF_EXACT);
	}
	ASSERT_EQ(2 * N, do_ops(self->fd, ops, 2 * N));
	ASSERT_EQ(2 * N, receive(self->fd, e, 2 * N));
	for (i = 0; i < 2 * N; i++) {
		EXPECT_EQ(ops[e[i].cookie].time, e[i].due);
		if (e[i].cookie < N)
			seen[e[i].cookie] = true;
		else
			EXPECT_TRUE(seen[e[i].cookie - N]);
	}
}

/* With slack, callouts for different times fire together. */
TEST_F(clock, slack_coalesces)
{
	enum { N = 50, TOGETHER = 8 };
	__u64 start = now_of(variant->clock) + 50 * MSEC, last = 0;
	struct callout_event e[N];
	unsigned int i, times = 0;
	struct callout_op op;

	ASSERT_TRUE(pin_to_cpu(0));
	for (i = 0; i < N; i++) {
		op = callout_op_set(start + i * (self->tick + MSEC), i);
		op.clockid = variant->clock;
		op.flags = CALLOUT_OPF_ABSTIME;
		op.slack = 4 * N * (self->tick + MSEC);
		ASSERT_EQ(0, do_op(self->fd, &op));
	}
	ASSERT_EQ(N, receive(self->fd, e, N));
	for (i = 0; i < N; i++) {
		times += e[i].fired != last;
		last = e[i].fired;
		EXPECT_EQ(start + e[i].cookie * (self->tick + MSEC), e[i].due);
	}
	EXPECT_GE(TOGETHER, times);
}

TEST_F(clock, slack_is_large)
{
	static const __u64 slacks[] = { HOUR, 1ULL << 62, TIME_MAX };
	struct callout_op op;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(slacks); i++) {
		op = callout_op_set(i & 1 ? HOUR : TIME_MAX, 1);
		op.clockid = variant->clock;
		op.slack = slacks[i / 2];
		ASSERT_EQ(0, do_op(self->fd, &op));
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, op.handle));
	}
	EXPECT_FALSE(readable_within(self->fd, 20));
}

/* TIMEOUT takes a slack, and MOVE keeps it. */
TEST_F(clock, slack_of_timeout)
{
	struct callout_op op = callout_op_timeout(1, 2, HOUR), move;
	struct callout_entry entry;
	struct callout_event e;

	op.clockid = variant->clock;
	op.slack = HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle, &entry));
	EXPECT_EQ(HOUR, entry.slack);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
	op.slack = 5 * MSEC;
	ASSERT_EQ(0, do_op(self->fd, &op));
	move = callout_op_move(op.handle, 5 * MSEC);
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &move));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(op.handle, e.handle);
	EXPECT_LE(e.due, now_of(variant->clock));
}

TEST_HARNESS_MAIN
