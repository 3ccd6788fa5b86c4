// SPDX-License-Identifier: GPL-2.0
/*
 * calls.c - each call of libcallout
 */
#include <sys/syscall.h>

#include "lib/calls.h"

/* Receive one event, which must be of this callout. */
static bool comes(int fd, callout_handle_t handle, __u64 cookie,
		  struct callout_event *e)
{
	return readable_within(fd, WAIT_MS) && callout_dev_read(fd, e, 1) == 1 &&
	       e->handle == handle && e->cookie == cookie &&
	       e->fired <= callout_now(CLOCK_MONOTONIC);
}

TEST_F(calls, open)
{
	int fd = callout_dev_open(0);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	close(fd);
	EXPECT_NE(0, fcntl(self->fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(-EINVAL, callout_dev_open(O_CREAT));
	EXPECT_EQ(-EINVAL, callout_dev_open(O_CLOEXEC));
}

TEST_F(calls, not_the_device)
{
	static const struct {
		int fd, error;
	} wrong[] = { { -1, -EBADF }, { STDOUT_FILENO, -ENOTTY } };
	callout_handle_t handle = 1;
	struct callout_batch batch;
	struct callout_info info;
	struct callout_op op;
	unsigned int i;
	int fd;

	op = callout_op_set(1, 0);
	callout_batch_init(&batch, &op, 1, NULL, 0);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		fd = wrong[i].fd;
		EXPECT_EQ(wrong[i].error, callout_dev_set(fd, 1, 0, &handle));
		EXPECT_EQ(wrong[i].error, callout_dev_do(fd, &op));
		EXPECT_EQ(wrong[i].error, callout_dev_cancel(fd, 1));
		EXPECT_EQ(wrong[i].error, callout_dev_batch(fd, &batch));
		EXPECT_EQ(wrong[i].error, callout_dev_limit(fd, 1));
		EXPECT_EQ(wrong[i].error, callout_dev_info(fd, &info));
	}
	EXPECT_EQ(1, handle);
}

TEST_F(calls, set)
{
	__u64 before = callout_now(CLOCK_MONOTONIC);
	callout_handle_t handle = 0;
	struct callout_event e;

	EXPECT_EQ(-EAGAIN, callout_dev_read(self->fd, &e, 1));
	ASSERT_EQ(0, callout_dev_set(self->fd, 20 * MSEC, 7, &handle));
	ASSERT_NE(0, handle);
	ASSERT_TRUE(comes(self->fd, handle, 7, &e));
	EXPECT_LE(before + 20 * MSEC, e.due);
	EXPECT_LE(e.due, e.fired);
	EXPECT_EQ(-EINVAL, callout_dev_read(self->fd, &e, 0));
}

TEST_F(calls, set_fails)
{
	callout_handle_t handle = 5;

	EXPECT_EQ(-EINVAL, callout_dev_set(self->fd, TIME_MAX + 1, 0, &handle));
	EXPECT_EQ(5, handle);
}

/* An absolute time, in each clock. */
TEST_F(calls, clocks)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME,
					    CLOCK_REALTIME };
	struct callout_event e;
	struct callout_op op;
	unsigned int i;
	__u64 time;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		time = callout_now(clocks[i]) + 20 * MSEC;
		op = callout_op_set(time, i);
		op.clockid = clocks[i];
		op.flags = CALLOUT_OPF_ABSTIME;
		ASSERT_EQ(0, callout_dev_do(self->fd, &op));
		ASSERT_TRUE(comes(self->fd, op.handle, i, &e));
		EXPECT_EQ(time, e.due);
		EXPECT_EQ(clocks[i], e.clockid);
		EXPECT_LE(time, callout_now(clocks[i]));
	}
	op.clockid = CLOCK_TAI;
	op.handle = 0;
	EXPECT_EQ(-EINVAL, callout_dev_do(self->fd, &op));
}

TEST_F(calls, period)
{
	struct callout_op op = callout_op_set(30 * MSEC, 3);
	struct callout_event e;
	__u64 due = 0;
	int i;

	op.period = op.time;
	ASSERT_EQ(0, callout_dev_do(self->fd, &op));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(comes(self->fd, op.handle, 3, &e));
		EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);
		if (i)
			EXPECT_EQ(due, e.due);
		due = e.due + (e.overrun + 1ULL) * 30 * MSEC;
	}
	EXPECT_LT(0, callout_dev_cancel(self->fd, op.handle));
	EXPECT_EQ(-ENOENT, callout_dev_cancel(self->fd, op.handle));
}

TEST_F(calls, cancel)
{
	callout_handle_t handle;

	EXPECT_EQ(-ENOENT, callout_dev_cancel(self->fd, 0));
	ASSERT_EQ(0, callout_dev_set(self->fd, HOUR, 0, &handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, callout_dev_cancel(self->fd, handle));
	EXPECT_EQ(-ENOENT, callout_dev_cancel(self->fd, handle));
	ASSERT_EQ(0, callout_dev_set(self->fd, 0, 0, &handle));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, callout_dev_cancel(self->fd, handle));
	EXPECT_FALSE(readable(self->fd));
}

static int lib_move(int fd, callout_handle_t handle, __u64 time, __u32 flags)
{
	struct callout_op op = callout_op_move(handle, time);

	op.flags |= flags;
	return callout_dev_do(fd, &op);
}

TEST_F(calls, move)
{
	callout_handle_t handle;
	struct callout_event e;
	__u64 time;

	ASSERT_EQ(0, callout_dev_set(self->fd, HOUR, 4, &handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, lib_move(self->fd, handle, 0, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, lib_move(self->fd, handle, HOUR, 0));
	EXPECT_FALSE(readable(self->fd));
	time = callout_now(CLOCK_MONOTONIC) + 10 * MSEC;
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  lib_move(self->fd, handle, time, CALLOUT_OPF_ABSTIME));
	ASSERT_TRUE(comes(self->fd, handle, 4, &e));
	EXPECT_EQ(time, e.due);
	EXPECT_EQ(-ENOENT, lib_move(self->fd, handle, 0, 0));
}

/* A callout that is moved has another time, and keeps everything else. */
TEST_F(calls, move_keeps)
{
	struct callout_op op = callout_op_set(HOUR, 4);
	struct callout_entry before, after;

	op.clockid = CLOCK_BOOTTIME;
	op.period = HOUR;
	op.slack = MSEC;
	ASSERT_EQ(0, callout_dev_do(self->fd, &op));
	ASSERT_EQ(0, callout_dev_list_one(self->fd, CALLOUT_LISTF_HANDLE,
					  op.handle, &before));
	ASSERT_EQ(CALLOUT_STATE_PENDING, lib_move(self->fd, op.handle, 3 * HOUR, 0));
	ASSERT_EQ(0, callout_dev_list_one(self->fd, CALLOUT_LISTF_HANDLE,
					  op.handle, &after));
	EXPECT_LE(before.due + 2 * HOUR, after.due);
	EXPECT_EQ(4, after.cookie);
	EXPECT_EQ(HOUR, after.period);
	EXPECT_EQ(MSEC, after.slack);
	after.due = before.due;
	after.left = before.left;
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST_F(calls, timeout)
{
	struct callout_op first = callout_op_timeout(1, 2, HOUR);
	struct callout_op second = callout_op_timeout(1, 2, 2 * HOUR);
	struct callout_op op = callout_op_untimeout(1, 3, 0);
	struct callout_event e;

	ASSERT_EQ(0, callout_dev_do(self->fd, &first));
	ASSERT_EQ(0, callout_dev_do(self->fd, &second));
	EXPECT_EQ(-ENOENT, callout_dev_do(self->fd, &op));
	op = callout_op_untimeout(1, 2, second.handle);
	EXPECT_EQ(CALLOUT_STATE_PENDING, callout_dev_do(self->fd, &op));
	EXPECT_EQ(-ENOENT, callout_dev_do(self->fd, &op));
	op = callout_op_untimeout(1, 2, 0);
	EXPECT_EQ(CALLOUT_STATE_PENDING, callout_dev_do(self->fd, &op));
	EXPECT_EQ(-ENOENT, callout_dev_do(self->fd, &op));
	first = callout_op_timeout(1, 2, 0);
	ASSERT_EQ(0, callout_dev_do(self->fd, &first));
	ASSERT_TRUE(comes(self->fd, first.handle, 2, &e));
	EXPECT_EQ(1, e.func);
}

TEST_F(calls, batch)
{
	struct callout_event events[4];
	struct callout_batch batch;
	struct callout_op ops[5];

	ops[0] = callout_op_set(0, 1);
	ops[1] = callout_op_set(HOUR, 2);
	ops[2] = callout_op_timeout(5, 6, HOUR);
	ops[3] = callout_op_untimeout(5, 6, 0);
	ops[4] = callout_op_cancel(1);
	callout_batch_init(&batch, ops, 5, events, 4);
	callout_batch_wait(&batch, WAIT_MS * MSEC, NULL);
	ASSERT_EQ(1, callout_dev_batch(self->fd, &batch));
	EXPECT_EQ(5, batch.done);
	EXPECT_EQ(1, batch.failed);
	EXPECT_EQ(0, ops[0].result);
	EXPECT_EQ(CALLOUT_STATE_PENDING, ops[3].result);
	EXPECT_EQ(-ENOENT, ops[4].result);
	EXPECT_EQ(1, events[0].cookie);
	EXPECT_EQ(ops[0].handle, events[0].handle);

	/* The structure can be submitted again. */
	ops[0] = callout_op_move(ops[1].handle, 2 * HOUR);
	batch.nr_ops = 1;
	batch.time = 0;
	EXPECT_EQ(0, callout_dev_batch(self->fd, &batch));
	EXPECT_EQ(1, batch.done);
	EXPECT_EQ(CALLOUT_STATE_PENDING, ops[0].result);

	callout_batch_init(&batch, nowhere(), 1, events, 4);
	EXPECT_EQ(-EFAULT, callout_dev_batch(self->fd, &batch));
	callout_batch_init(&batch, ops, CALLOUT_BATCH_MAX + 1, NULL, 0);
	EXPECT_EQ(-EINVAL, callout_dev_batch(self->fd, &batch));
	callout_batch_init(&batch, NULL, 0, events, 4);
	callout_batch_wait(&batch, MSEC, NULL);
	EXPECT_EQ(0, callout_dev_batch(self->fd, &batch));
}

static int lib_key(int fd, struct callout_op op, __u64 key, __u32 flags)
{
	op = callout_op_key(op, key);
	op.flags |= flags;
	return callout_dev_do(fd, &op);
}

/* A key names a callout in each operation in which a handle could. */
TEST_F(calls, key)
{
	struct callout_op cancel = callout_op_cancel(0);
	struct callout_event e;
	int fd = self->fd;

	EXPECT_EQ(-ENOENT, lib_key(fd, cancel, 5, 0));
	EXPECT_EQ(-ENOENT, lib_key(fd, callout_op_set(HOUR, 0), 5,
				   CALLOUT_OPF_ONLY_OLD));
	EXPECT_EQ(-ENOENT, lib_key(fd, callout_op_move(0, HOUR), 5, 0));
	EXPECT_EQ(0, lib_key(fd, callout_op_set(HOUR, 0), 5,
			     CALLOUT_OPF_ONLY_NEW));
	EXPECT_EQ(-EEXIST, lib_key(fd, callout_op_set(HOUR, 0), 5,
				   CALLOUT_OPF_ONLY_NEW));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  lib_key(fd, callout_op_set(2 * HOUR, 7), 5, 0));
	EXPECT_EQ(-EINVAL, lib_key(fd, callout_op_set(TIME_MAX + 1, 0), 5, 0));
	EXPECT_EQ(CALLOUT_STATE_PENDING, lib_key(fd, callout_op_move(0, 0), 5, 0));
	ASSERT_TRUE(wait_unread(fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, lib_key(fd, callout_op_move(0, 0), 5, 0));
	ASSERT_TRUE(comes(fd, 5, 7, &e));
	EXPECT_EQ(CALLOUT_EVENTF_KEY, e.flags);
	EXPECT_EQ(-ENOENT, lib_key(fd, cancel, 5, 0));

	ASSERT_EQ(0, lib_key(fd, callout_op_set(0, 0), ~0ULL, 0));
	ASSERT_TRUE(comes(fd, ~0ULL, 0, &e));
	ASSERT_EQ(0, lib_key(fd, callout_op_set(HOUR, 0), 1, 0));
	EXPECT_EQ(-ENOENT, callout_dev_cancel(fd, 1));
	EXPECT_EQ(CALLOUT_STATE_PENDING, lib_key(fd, cancel, 1, 0));
}

/* A SET that moves a callout writes the time that was left. */
TEST_F(calls, left)
{
	struct callout_op op = callout_op_key(callout_op_set(2 * HOUR, 0), 5);

	ASSERT_EQ(0, callout_dev_do(self->fd, &op));
	EXPECT_EQ(0, op.left);
	op = callout_op_key(callout_op_move(0, 0), 5);
	ASSERT_EQ(CALLOUT_STATE_PENDING, callout_dev_do(self->fd, &op));
	EXPECT_LT(HOUR, op.left);
	EXPECT_GE(2 * HOUR, op.left);
}

/* A batch waits for several events, or until a clock shows a time. */
TEST_F(calls, batch_wait)
{
	__u64 end = callout_now(CLOCK_BOOTTIME) + 30 * MSEC;
	struct callout_event events[4];
	struct callout_batch batch;
	struct callout_op ops[3];
	unsigned int i;

	callout_batch_init(&batch, NULL, 0, events, 4);
	callout_batch_wait(&batch, end, NULL);
	batch.clockid = CLOCK_BOOTTIME;
	batch.flags |= CALLOUT_BATCHF_ABSTIME;
	EXPECT_EQ(0, callout_dev_batch(self->fd, &batch));
	EXPECT_LE(end, callout_now(CLOCK_BOOTTIME));

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = callout_op_set(i * 10 * MSEC, i);
	callout_batch_init(&batch, ops, 3, events, 4);
	callout_batch_wait(&batch, CALLOUT_FOREVER, NULL);
	batch.min_events = 3;
	ASSERT_EQ(3, callout_dev_batch(self->fd, &batch));
	EXPECT_EQ(0, batch.failed);
	EXPECT_FALSE(readable(self->fd));

	/* Nothing is done if the wait is wrong. */
	batch.min_events = 5;
	EXPECT_EQ(-EINVAL, callout_dev_batch(self->fd, &batch));
	batch.min_events = 0;
	batch.clockid = -1;
	EXPECT_EQ(-EINVAL, callout_dev_batch(self->fd, &batch));
	EXPECT_EQ(3, fdinfo_number(self->fd, "set"));
}

/* A signal is blocked until the batch waits with another signal mask. */
TEST_F(calls, batch_wait_with_mask)
{
	struct callout_event e;
	struct callout_batch batch;
	sigset_t blocked, none;

	ASSERT_TRUE(interrupt_by(SIGUSR1, 0));
	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &blocked, NULL));
	ASSERT_EQ(0, raise(SIGUSR1));
	callout_batch_init(&batch, NULL, 0, &e, 1);
	callout_batch_wait(&batch, CALLOUT_FOREVER, &none);
	EXPECT_EQ(-EINTR, callout_dev_batch(self->fd, &batch));

	/* The mask of the thread is restored. */
	ASSERT_EQ(0, raise(SIGUSR1));
	callout_batch_wait(&batch, MSEC, NULL);
	EXPECT_EQ(0, callout_dev_batch(self->fd, &batch));
}

TEST_F(calls, info_and_limit)
{
	callout_handle_t handle;
	struct callout_info info;

	ASSERT_EQ(0, callout_dev_info(self->fd, &info));
	EXPECT_LT(0, info.tick_ns);
	EXPECT_EQ(-EINVAL, callout_dev_limit(self->fd, 0));
	EXPECT_EQ(-EINVAL, callout_dev_limit(self->fd,
					     info.max_outstanding + 1));
	ASSERT_EQ(0, callout_dev_limit(self->fd, 1));
	ASSERT_EQ(0, callout_dev_info(self->fd, &info));
	EXPECT_EQ(1, info.max_outstanding);
	ASSERT_EQ(0, callout_dev_set(self->fd, HOUR, 0, &handle));
	EXPECT_EQ(-ENOSPC, callout_dev_set(self->fd, HOUR, 0, &handle));
}

TEST_F(calls, now)
{
	EXPECT_EQ(0, callout_now(-1));
	EXPECT_LT(0, callout_now(CLOCK_BOOTTIME));
}

/* Set CLOCK_REALTIME, also where time_t has 32 bits. */
static bool set_realtime(__u64 ns)
{
	__s64 time[2] = { ns / SEC, ns % SEC };

	/* The number of clock_settime64(), on all architectures on which the tests run. */
	return !syscall(sizeof(long) < sizeof(__s64) ? 404 : SYS_clock_settime,
			CLOCK_REALTIME, time);
}

/* A time after 2038, and after 2106, is read and waited for unchanged. */
TEST_F(calls, after_2038)
{
	static const __u64 years[] = { 2208988800, 4323369600 };
	__u64 offset = callout_now(CLOCK_REALTIME) -
		       callout_now(CLOCK_MONOTONIC), now, due;
	struct callout_event e;
	struct callout_op op;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(years); i++) {
		EXPECT_TRUE(set_realtime(years[i] * SEC));
		now = callout_now(CLOCK_REALTIME);
		EXPECT_LE(years[i] * SEC, now);
		EXPECT_GT((years[i] + 3600) * SEC, now);
		due = now + 50 * MSEC;
		op = callout_op_set(due, i);
		op.clockid = CLOCK_REALTIME;
		op.flags = CALLOUT_OPF_ABSTIME;
		EXPECT_EQ(0, callout_dev_do(self->fd, &op));
		EXPECT_TRUE(comes(self->fd, op.handle, i, &e));
		EXPECT_EQ(due, e.due);
		EXPECT_LE(due, callout_now(CLOCK_REALTIME));
	}
	EXPECT_TRUE(set_realtime(callout_now(CLOCK_MONOTONIC) + offset));
}

TEST_HARNESS_MAIN
