// SPDX-License-Identifier: GPL-2.0
/*
 * calls.c - each call of libcallout
 */
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "lib/calls.h"

/* Receives one event, which must be of this callout. */
static bool comes(int fd, callout_handle_t handle, __u64 cookie,
		  struct callout_event *e)
{
	return readable_within(fd, WAIT_MS) && callout_read(fd, e, 1) == 1 &&
	       e->handle == handle && e->cookie == cookie &&
	       e->fired <= callout_now(CLOCK_MONOTONIC);
}

TEST_F(calls, open)
{
	int fd = callout_open(0);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	close(fd);
	EXPECT_NE(0, fcntl(self->fd, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(-EINVAL, callout_open(O_CREAT));
	EXPECT_EQ(-EINVAL, callout_open(O_CLOEXEC));
}

TEST_F(calls, not_the_device)
{
	callout_handle_t handle = 1;
	struct callout_info info;

	EXPECT_EQ(-EBADF, callout_set(-1, 1, 0, &handle));
	EXPECT_EQ(-EBADF, callout_get_info(-1, &info));
	EXPECT_EQ(-ENOTTY, callout_unset(STDOUT_FILENO, 1));
	EXPECT_EQ(1, handle);
}

TEST_F(calls, do_needs_an_operation)
{
	struct callout_op op = callout_op_set(HOUR, 0);

	op.op = 0;
	EXPECT_EQ(-EINVAL, callout_do(self->fd, &op));
	op.op = CALLOUT_OP_UNTIMEOUT + 1;
	EXPECT_EQ(-EINVAL, callout_do(self->fd, &op));
	op.op = ~0U;
	EXPECT_EQ(-EINVAL, callout_do(self->fd, &op));
}

TEST_F(calls, set)
{
	__u64 before = callout_now(CLOCK_MONOTONIC);
	callout_handle_t handle = 0;
	struct callout_event e;

	EXPECT_EQ(-EAGAIN, callout_read(self->fd, &e, 1));
	ASSERT_EQ(0, callout_set(self->fd, 20 * MSEC, 7, &handle));
	ASSERT_NE(0, handle);
	ASSERT_TRUE(comes(self->fd, handle, 7, &e));
	EXPECT_LE(before + 20 * MSEC, e.due);
	EXPECT_LE(e.due, e.fired);
	EXPECT_EQ(-EINVAL, callout_read(self->fd, &e, 0));
}

TEST_F(calls, set_fails)
{
	callout_handle_t handle = 5;

	EXPECT_EQ(-EINVAL, callout_set(self->fd, TIME_MAX + 1, 0, &handle));
	EXPECT_EQ(5, handle);
}

TEST_F(calls, set_at)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME,
					    CLOCK_REALTIME };
	callout_handle_t handle;
	struct callout_event e;
	unsigned int i;
	__u64 time;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		time = callout_now(clocks[i]) + 20 * MSEC;
		ASSERT_EQ(0, callout_set_at(self->fd, clocks[i], time, i,
					    &handle));
		ASSERT_TRUE(comes(self->fd, handle, i, &e));
		EXPECT_EQ(time, e.due);
		EXPECT_LE(time, callout_now(clocks[i]));
	}
	EXPECT_EQ(-EINVAL, callout_set_at(self->fd, CLOCK_TAI, 1, 0,
					  &handle));
}

TEST_F(calls, set_every)
{
	callout_handle_t handle;
	struct callout_event e;
	__u64 due = 0;
	int i;

	EXPECT_EQ(-EINVAL, callout_set_every(self->fd, 0, 0, &handle));
	ASSERT_EQ(0, callout_set_every(self->fd, 30 * MSEC, 3, &handle));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(comes(self->fd, handle, 3, &e));
		EXPECT_EQ(CALLOUT_EVENT_PERIODIC, e.flags);
		if (i)
			EXPECT_EQ(due, e.due);
		due = e.due + (e.overrun + 1ULL) * 30 * MSEC;
	}
	EXPECT_LT(0, callout_unset(self->fd, handle));
	EXPECT_EQ(-ENOENT, callout_unset(self->fd, handle));
}

TEST_F(calls, unset)
{
	callout_handle_t handle;

	EXPECT_EQ(-ENOENT, callout_unset(self->fd, 0));
	ASSERT_EQ(0, callout_set(self->fd, HOUR, 0, &handle));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_unset(self->fd, handle));
	EXPECT_EQ(-ENOENT, callout_unset(self->fd, handle));
	ASSERT_EQ(0, callout_set(self->fd, 0, 0, &handle));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_WITHDRAWN, callout_unset(self->fd, handle));
	EXPECT_FALSE(readable(self->fd));
}

TEST_F(calls, reset)
{
	callout_handle_t handle;
	struct callout_event e;
	__u64 time;

	ASSERT_EQ(0, callout_set(self->fd, HOUR, 4, &handle));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_reset(self->fd, handle, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_WITHDRAWN, callout_reset(self->fd, handle, HOUR));
	EXPECT_FALSE(readable(self->fd));
	time = callout_now(CLOCK_MONOTONIC) + 10 * MSEC;
	EXPECT_EQ(CALLOUT_CANCELLED,
		  callout_reset_at(self->fd, handle, time));
	ASSERT_TRUE(comes(self->fd, handle, 4, &e));
	EXPECT_EQ(time, e.due);
	EXPECT_EQ(-ENOENT, callout_reset(self->fd, handle, 0));
	EXPECT_EQ(-ENOENT, callout_reset_at(self->fd, handle, 0));
}

TEST_F(calls, timeout)
{
	callout_handle_t first, second;
	struct callout_event e;

	ASSERT_EQ(0, callout_timeout(self->fd, 1, 2, HOUR, &first));
	ASSERT_EQ(0, callout_timeout(self->fd, 1, 2, 2 * HOUR, &second));
	EXPECT_EQ(-ENOENT, callout_untimeout(self->fd, 1, 3, 0));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_untimeout(self->fd, 1, 2, second));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_untimeout(self->fd, 1, 2, 0));
	EXPECT_EQ(-ENOENT, callout_untimeout(self->fd, 1, 2, 0));
	ASSERT_EQ(0, callout_timeout(self->fd, 1, 2, 0, &first));
	ASSERT_TRUE(comes(self->fd, first, 2, &e));
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
	ops[4] = callout_op_unset(1);
	callout_batch_init(&batch, ops, 5, events, 4);
	batch.flags = CALLOUT_BATCH_WAIT;
	batch.timeout = WAIT_MS * MSEC;
	ASSERT_EQ(1, callout_batch_submit(self->fd, &batch));
	EXPECT_EQ(5, batch.done);
	EXPECT_EQ(1, batch.failed);
	EXPECT_EQ(0, ops[0].result);
	EXPECT_EQ(CALLOUT_CANCELLED, ops[3].result);
	EXPECT_EQ(-ENOENT, ops[4].result);
	EXPECT_EQ(1, events[0].cookie);
	EXPECT_EQ(ops[0].handle, events[0].handle);

	/* The structure can be submitted again. */
	ops[0] = callout_op_reset(ops[1].handle, 2 * HOUR);
	batch.nr_ops = 1;
	batch.flags = 0;
	batch.timeout = 0;
	EXPECT_EQ(0, callout_batch_submit(self->fd, &batch));
	EXPECT_EQ(1, batch.done);
	EXPECT_EQ(CALLOUT_CANCELLED, ops[0].result);

	batch.ops = 8;
	EXPECT_EQ(-EFAULT, callout_batch_submit(self->fd, &batch));
	callout_batch_init(&batch, ops, CALLOUT_BATCH_MAX + 1, NULL, 0);
	EXPECT_EQ(-EINVAL, callout_batch_submit(self->fd, &batch));
	callout_batch_init(&batch, NULL, 0, events, 4);
	batch.flags = CALLOUT_BATCH_WAIT;
	batch.timeout = MSEC;
	EXPECT_EQ(0, callout_batch_submit(self->fd, &batch));
}

/* A key names a callout in calls as in operations of a batch. */
TEST_F(calls, key)
{
	struct callout_event e;
	struct callout_op op;

	EXPECT_EQ(-ENOENT, callout_unset_key(self->fd, 5));
	EXPECT_EQ(0, callout_set_key(self->fd, 5, HOUR));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_set_key(self->fd, 5, 2 * HOUR));
	EXPECT_EQ(-EINVAL, callout_set_key(self->fd, 5, TIME_MAX + 1));
	op = callout_op_key(callout_op_reset(0, 0), 5);
	EXPECT_EQ(CALLOUT_CANCELLED, callout_do(self->fd, &op));
	EXPECT_LT(HOUR, op.left);
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_WITHDRAWN, callout_set_key(self->fd, 5, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_WITHDRAWN, callout_unset_key(self->fd, 5));
	EXPECT_EQ(-ENOENT, callout_do(self->fd, &op));

	ASSERT_EQ(0, callout_set_key(self->fd, ~0ULL, 0));
	ASSERT_TRUE(comes(self->fd, ~0ULL, 0, &e));
	EXPECT_EQ(CALLOUT_EVENT_KEY, e.flags);
	ASSERT_EQ(0, callout_set_limit(self->fd, 1));
	ASSERT_EQ(0, callout_set_key(self->fd, 1, HOUR));
	EXPECT_EQ(-ENOSPC, callout_set_key(self->fd, 2, HOUR));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_unset_key(self->fd, 1));
	EXPECT_EQ(-EBADF, callout_set_key(-1, 1, 0));
	EXPECT_EQ(-ENOTTY, callout_unset_key(STDOUT_FILENO, 1));
}

/* A batch waits for several events, or until a clock shows a time. */
TEST_F(calls, batch_wait)
{
	__u64 end = callout_now(CLOCK_BOOTTIME) + 30 * MSEC;
	struct callout_wait wait = {
		.time = end,
		.clockid = CLOCK_BOOTTIME,
		.flags = CALLOUT_WAIT_ABSTIME,
	};
	struct callout_event events[4];
	struct callout_batch batch;
	struct callout_op ops[3];
	unsigned int i;

	callout_batch_init(&batch, NULL, 0, events, 4);
	batch.timeout = 1;
	callout_batch_wait(&batch, &wait, NULL);
	EXPECT_EQ(0, callout_batch_submit(self->fd, &batch));
	EXPECT_LE(end, callout_now(CLOCK_BOOTTIME));

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = callout_op_set(i * 10 * MSEC, i);
	wait = (struct callout_wait){
		.time = CALLOUT_FOREVER,
		.clockid = CLOCK_MONOTONIC,
		.min_events = 3,
	};
	callout_batch_init(&batch, ops, 3, events, 4);
	callout_batch_wait(&batch, &wait, NULL);
	ASSERT_EQ(3, callout_batch_submit(self->fd, &batch));
	EXPECT_EQ(0, batch.failed);
	EXPECT_EQ(0, callout_unread_bytes(self->fd));

	/* Nothing is done if the wait is wrong. */
	wait.min_events = 5;
	EXPECT_EQ(-EINVAL, callout_batch_submit(self->fd, &batch));
	wait.min_events = 0;
	wait.clockid = -1;
	EXPECT_EQ(-EINVAL, callout_batch_submit(self->fd, &batch));
	EXPECT_EQ(3, info_of(self->fd).set);
}

/* A signal is blocked until the batch waits with another signal mask. */
TEST_F(calls, batch_wait_with_mask)
{
	struct callout_wait wait = {
		.time = CALLOUT_FOREVER,
		.clockid = CLOCK_MONOTONIC,
	};
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
	callout_batch_wait(&batch, &wait, &none);
	EXPECT_EQ(-EINTR, callout_batch_submit(self->fd, &batch));

	/* The mask of the thread again. */
	ASSERT_EQ(0, raise(SIGUSR1));
	wait.time = MSEC;
	callout_batch_wait(&batch, &wait, NULL);
	EXPECT_EQ(0, callout_batch_submit(self->fd, &batch));
}

TEST_F(calls, next)
{
	__u64 due = 1, time = callout_now(CLOCK_MONOTONIC) + HOUR;
	callout_handle_t handle;

	ASSERT_EQ(0, callout_get_next(self->fd, CLOCK_MONOTONIC, &due));
	EXPECT_EQ(CALLOUT_FOREVER, due);
	ASSERT_EQ(0, callout_set_at(self->fd, CLOCK_MONOTONIC, time, 0,
				    &handle));
	ASSERT_EQ(0, callout_get_next(self->fd, CLOCK_MONOTONIC, &due));
	EXPECT_EQ(time, due);
	EXPECT_EQ(-EINVAL, callout_get_next(self->fd, CLOCK_TAI, &due));
	EXPECT_EQ(time, due);
}

TEST_F(calls, info_and_limit)
{
	callout_handle_t handle;
	struct callout_info info;

	ASSERT_EQ(0, callout_get_info(self->fd, &info));
	EXPECT_EQ(CALLOUT_ABI_VERSION, info.abi_version);
	EXPECT_EQ(-EINVAL, callout_set_limit(self->fd, 0));
	EXPECT_EQ(-EINVAL, callout_set_limit(self->fd,
					     info.max_outstanding + 1));
	ASSERT_EQ(0, callout_set_limit(self->fd, 1));
	ASSERT_EQ(0, callout_get_info(self->fd, &info));
	EXPECT_EQ(1, info.max_outstanding);
	ASSERT_EQ(0, callout_set(self->fd, HOUR, 0, &handle));
	EXPECT_EQ(-ENOSPC, callout_set(self->fd, HOUR, 0, &handle));
}

TEST_F(calls, eventfd)
{
	callout_handle_t handle;
	eventfd_t value = 0;
	int efd;

	efd = eventfd(0, EFD_NONBLOCK);
	ASSERT_LE(0, efd);
	EXPECT_EQ(-EBADF, callout_set_eventfd(self->fd, self->fd));
	ASSERT_EQ(0, callout_set_eventfd(self->fd, efd));
	ASSERT_EQ(0, callout_set(self->fd, 0, 0, &handle));
	EXPECT_TRUE(readable_within(efd, WAIT_MS));
	EXPECT_EQ(0, eventfd_read(efd, &value));
	EXPECT_EQ(1, value);
	EXPECT_EQ(0, callout_set_eventfd(self->fd, -1));
	close(efd);
}

TEST_F(calls, now)
{
	EXPECT_EQ(0, callout_now(-1));
	EXPECT_LT(0, callout_now(CLOCK_BOOTTIME));
}

/* Sets CLOCK_REALTIME, also where time_t has 32 bits. */
static bool set_realtime(__u64 ns)
{
	__s64 time[2] = { ns / SEC, ns % SEC };

	/* The number of clock_settime64(), on all processors that the tests run on. */
	return !syscall(sizeof(long) < sizeof(__s64) ? 404 : SYS_clock_settime,
			CLOCK_REALTIME, time);
}

/* A time after 2038, and after 2106, is read and waited for as it is. */
TEST_F(calls, after_2038)
{
	static const __u64 years[] = { 2208988800, 4323369600 };
	__u64 offset = callout_now(CLOCK_REALTIME) -
		       callout_now(CLOCK_MONOTONIC), now, due;
	callout_handle_t handle;
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(years); i++) {
		EXPECT_TRUE(set_realtime(years[i] * SEC));
		now = callout_now(CLOCK_REALTIME);
		EXPECT_LE(years[i] * SEC, now);
		EXPECT_GT((years[i] + 3600) * SEC, now);
		due = now + 50 * MSEC;
		EXPECT_EQ(0, callout_set_at(self->fd, CLOCK_REALTIME, due, i,
					    &handle));
		EXPECT_TRUE(comes(self->fd, handle, i, &e));
		EXPECT_EQ(due, e.due);
		EXPECT_LE(due, callout_now(CLOCK_REALTIME));
	}
	EXPECT_TRUE(set_realtime(callout_now(CLOCK_MONOTONIC) + offset));
}

TEST_HARNESS_MAIN
