// SPDX-License-Identifier: GPL-2.0
/*
 * uring_clock.c - callouts as commands of io_uring: clocks that are set, and
 * time namespaces
 */
#include <sys/wait.h>

#include "lib/realtime.h"
#include "lib/timens.h"
#include "lib/uring.h"

static struct callout_op set_at(clockid_t clock, __u64 time, __u64 key)
{
	struct callout_op op = set_op(time, key);

	op.clockid = clock;
	op.flags |= CALLOUT_OPF_ABSTIME;
	return op;
}

static bool has_commands(int fd)
{
	return info_of(fd).features & CALLOUT_FEATURE_URING;
}

/* A command completes when the clock has been set past its time, and not before. */
TEST_F(realtime, command_set_forth)
{
	__u64 start = real_now(), data;
	struct callout_op op = set_at(CLOCK_REALTIME, start + 2 * HOUR, 1);
	struct callout_op far = set_at(CLOCK_REALTIME, start + 9 * HOUR, 2);
	struct ring r;

	if (!has_commands(self->fd))
		return;
	ASSERT_TRUE(ring_open(&r, 0));
	ASSERT_TRUE(submit_one(&r, self->fd, &op, 1));
	ASSERT_TRUE(submit_one(&r, self->fd, &far, 2));
	ASSERT_TRUE(step(HOUR));
	EXPECT_EQ(-ETIME, complete(&r, NULL, 50));
	ASSERT_TRUE(step(2 * HOUR));
	ASSERT_EQ(0, complete(&r, &data, WAIT_MS));
	EXPECT_EQ(1, data);
	EXPECT_EQ(-ETIME, complete(&r, NULL, 50));
	EXPECT_EQ(start + 9 * HOUR, next_due(self->fd, CLOCK_REALTIME));
}

/*
 * A command does not complete when its tick comes if the clock was set back
 * before that, and wakes nobody until its new time. The longer the setting of
 * the clock takes, the longer is the command's time.
 */
TEST_F(realtime, command_set_back)
{
	__u64 after = 100 * MSEC, before;
	long long woken;
	struct callout_op op;
	struct ring r;

	if (!has_commands(self->fd))
		return;
	ASSERT_TRUE(ring_open(&r, 0));
	for (;; after *= 2) {
		woken = bases_sum("wakeups", -1);
		before = dev_now();
		op = set_at(CLOCK_REALTIME, real_now() + after, 1);
		ASSERT_TRUE(submit_one(&r, self->fd, &op, 0));
		ASSERT_TRUE(step(-HOUR));
		if (dev_now() < before + after)
			break;
		ASSERT_TRUE(step(HOUR));
		ASSERT_EQ(0, complete(&r, NULL, WAIT_MS));
	}
	EXPECT_EQ(-ETIME, complete(&r, NULL, after / MSEC + 50));
	EXPECT_LE(0, woken);
	EXPECT_GT(woken + FEW_WAKEUPS, bases_sum("wakeups", -1));
	EXPECT_EQ(op.time, next_due(self->fd, CLOCK_REALTIME));
	ASSERT_TRUE(step(HOUR));
	ASSERT_EQ(0, complete(&r, NULL, WAIT_MS));
	EXPECT_LE(op.time, real_now());
}

/* A relative command does not follow settings, and no command ends because of a setting. */
TEST_F(realtime, command_relative)
{
	struct callout_op op = set_op(50 * MSEC, 1);
	__u64 due = dev_now() + op.time;
	struct ring r;

	if (!has_commands(self->fd))
		return;
	ASSERT_TRUE(ring_open(&r, 0));
	op.clockid = CLOCK_REALTIME;
	ASSERT_TRUE(submit_one(&r, self->fd, &op, 0));
	ASSERT_TRUE(step(-HOUR));
	ASSERT_EQ(0, complete(&r, NULL, WAIT_MS));
	EXPECT_LE(due, dev_now());
	op = set_at(CLOCK_REALTIME, real_now() + HOUR, 1);
	op.flags |= CALLOUT_OPF_CANCEL_ON_SET;
	EXPECT_EQ(-EINVAL, command(&r, self->fd, &op, NULL));
}

/* Return 0, or the number of the failed step. */
static int use_shifted_clocks(int fd, __u32 flags)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct callout_op ops[4];
	struct io_uring_sqe *sqe;
	struct ring r;
	unsigned int i;
	__u64 data;

	if (!ring_open(&r, flags))
		return 1;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		ops[i] = set_at(clocks[i % 2], now_of(clocks[i % 2]) + 30 * MSEC, i);
		sqe = queue(&r, fd, &ops[i], i);
		/* Issue the command on one of io_uring's own threads. */
		if (i / 2)
			sqe->flags = IOSQE_ASYNC;
	}
	if (!submit(&r))
		return 2;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		if (complete(&r, &data, WAIT_MS))
			return 3;
		if (now_of(ops[data].clockid) < ops[data].time)
			return 4;
	}
	return 0;
}

/*
 * Absolute times are in the submitter's namespace, whichever thread issues the
 * command. A command with a time of another namespace is early, or late by more
 * than WAIT_MS.
 */
TEST_F(uring_cmd, time_namespace)
{
	int status;
	pid_t pid;

	if (!self->works || access(NS_FILE, F_OK))
		return;
	ASSERT_TRUE(shift_children(5000, -1));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(use_shifted_clocks(self->fd, variant->flags));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_TRUE(WIFEXITED(status));
}

TEST_HARNESS_MAIN
