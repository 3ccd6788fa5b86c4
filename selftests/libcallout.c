// SPDX-License-Identifier: GPL-2.0
/*
 * libcallout.c - every function of libcallout, and the timers of a loop
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/time.h>

#include "kselftest_harness.h"
#include "common.h"

/* For tests that do much, on a kernel with every checker: seconds. */
#define SLOW	400

FIXTURE(calls) {
	int fd;
};

FIXTURE_SETUP(calls)
{
	self->fd = callout_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(calls)
{
	EXPECT_EQ(0, close(self->fd));
}

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
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
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
	EXPECT_EQ(-EINVAL, callout_set_at(self->fd, CLOCK_REALTIME, 1, 0,
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
		  callout_reset_at(self->fd, handle, CLOCK_MONOTONIC, time));
	ASSERT_TRUE(comes(self->fd, handle, 4, &e));
	EXPECT_EQ(time, e.due);
	EXPECT_EQ(-ENOENT, callout_reset(self->fd, handle, 0));
	EXPECT_EQ(-ENOENT, callout_reset_at(self->fd, handle, CLOCK_MONOTONIC,
					    0));
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

	/* The same structure again, for one more. */
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
	EXPECT_EQ(-ETIME, callout_batch_submit(self->fd, &batch));
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
	EXPECT_EQ(-EINVAL, callout_get_next(self->fd, CLOCK_REALTIME, &due));
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

FIXTURE(loop) {
	struct callout_ctx *ctx;
	struct callout_timer t[4];
};

FIXTURE_SETUP(loop)
{
	memset(self->t, 0, sizeof(self->t));
	ASSERT_EQ(0, callout_ctx_create(&self->ctx, 16));
}

FIXTURE_TEARDOWN(loop)
{
	callout_ctx_destroy(self->ctx);
}

#define info()		info_of(callout_ctx_fd(self->ctx))

/* A turn that waits, and must have @n timers to hand out. */
#define expect_turn(n) \
	EXPECT_EQ(n, callout_ctx_turn(self->ctx, WAIT_MS * MSEC))

/* A turn that has nothing to hand out. */
#define expect_flush()	EXPECT_EQ(0, callout_ctx_turn(self->ctx, 0))

TEST_F(loop, create)
{
	struct callout_ctx *ctx;

	EXPECT_EQ(-EINVAL, callout_ctx_create(&ctx, 0));
	EXPECT_EQ(-EINVAL, callout_ctx_create(&ctx, CALLOUT_BATCH_MAX + 1));
	ASSERT_EQ(0, callout_ctx_create(&ctx, CALLOUT_BATCH_MAX));
	EXPECT_LE(0, callout_ctx_fd(ctx));
	EXPECT_FALSE(callout_ctx_pending(ctx));
	callout_ctx_destroy(ctx);
	callout_ctx_destroy(NULL);
}

TEST_F(loop, arm)
{
	__u64 now = callout_now(CLOCK_MONOTONIC);
	struct callout_timer *t;
	struct callout_event e;

	self->t[0].data = self;
	EXPECT_FALSE(callout_armed(&self->t[0]));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 20 * MSEC));
	EXPECT_TRUE(callout_armed(&self->t[0]));
	EXPECT_TRUE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(0, info().set);
	expect_turn(1);
	t = callout_ctx_next(self->ctx, &e);
	ASSERT_EQ(&self->t[0], t);
	EXPECT_EQ(self, t->data);
	EXPECT_EQ(0, t->error);
	EXPECT_FALSE(callout_armed(t));
	EXPECT_LE(now + 20 * MSEC, e.due);
	EXPECT_LE(e.due, e.fired);
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));

	now = callout_now(CLOCK_BOOTTIME);
	t->clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, callout_arm_at(self->ctx, t, now));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(now, e.due);
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
}

TEST_F(loop, refused)
{
	EXPECT_EQ(-EINVAL, callout_arm(self->ctx, &self->t[0], TIME_MAX + 1));
	EXPECT_EQ(-EINVAL, callout_arm_at(self->ctx, &self->t[0], ~0ULL));
	self->t[0].period = TIME_MAX + 1;
	EXPECT_EQ(-EINVAL, callout_arm(self->ctx, &self->t[0], 0));
	self->t[0].period = 0;
	self->t[0].slack = TIME_MAX + 1;
	EXPECT_EQ(-EINVAL, callout_arm(self->ctx, &self->t[0], 0));
	self->t[0].slack = 0;
	/* 0 is CLOCK_REALTIME too: here it must be said which is meant. */
	EXPECT_EQ(-EINVAL, callout_arm_at(self->ctx, &self->t[0],
					  callout_now(CLOCK_REALTIME)));
	EXPECT_FALSE(callout_armed(&self->t[0]));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	self->t[0].clockid = CLOCK_MONOTONIC;
	EXPECT_EQ(0, callout_arm_at(self->ctx, &self->t[0], HOUR));
}

TEST_F(loop, one_operation_a_turn)
{
	int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	expect_flush();
	EXPECT_EQ(1, info().set);
	EXPECT_EQ(0, info().reset);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 2 * HOUR));
	expect_flush();
	EXPECT_EQ(1, info().set);
	EXPECT_EQ(1, info().reset);

	/* Disarmed and armed again. */
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	EXPECT_FALSE(callout_armed(&self->t[0]));
	EXPECT_FALSE(callout_disarm(self->ctx, &self->t[0]));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	expect_flush();
	EXPECT_EQ(1, info().set);
	EXPECT_EQ(2, info().reset);
	EXPECT_EQ(0, info().cancelled);

	/* Armed again and disarmed. */
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	expect_flush();
	EXPECT_EQ(2, info().reset);
	EXPECT_EQ(1, info().cancelled);
	EXPECT_EQ(0, info().outstanding);

	/* Armed and disarmed: there is nothing to do. */
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	expect_flush();
	EXPECT_EQ(1, info().set);

	/* And once more. */
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	expect_flush();
	EXPECT_EQ(2, info().set);
	EXPECT_EQ(1, info().outstanding);
}

/* A timer that was disarmed may have another clock in the same turn. */
TEST_F(loop, other_clock)
{
	struct callout_timer *t = &self->t[0];
	int i, fd = callout_ctx_fd(self->ctx);

	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	expect_flush();
	EXPECT_TRUE(callout_disarm(self->ctx, t));
	t->clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 2 * HOUR));
	expect_flush();
	EXPECT_EQ(CALLOUT_FOREVER, next_due(fd, CLOCK_MONOTONIC));
	EXPECT_NE(CALLOUT_FOREVER, next_due(fd, CLOCK_BOOTTIME));
	EXPECT_EQ(2, info().set);
	EXPECT_EQ(1, info().cancelled);

	/* There and back, and there again. */
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(callout_disarm(self->ctx, t));
		t->clockid = i & 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
		ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	}
	expect_turn(1);
	EXPECT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(0, t->error);
	EXPECT_FALSE(callout_armed(t));
	EXPECT_EQ(3, info().set);
	EXPECT_EQ(0, info().outstanding);
}

/* A timer that was disarmed may be freed before the turn. */
TEST_F(loop, freed)
{
	struct callout_timer *t[100];
	unsigned int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			t[i] = calloc(1, sizeof(*t[i]));
			ASSERT_EQ(0, callout_arm(self->ctx, t[i], round * MSEC));
		}
		if (round)
			callout_ctx_turn(self->ctx, 0);
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			if (round == 2)
				callout_arm(self->ctx, t[i], 0);
			EXPECT_TRUE(callout_disarm(self->ctx, t[i]));
			memset(t[i], 0xff, sizeof(*t[i]));
			free(t[i]);
		}
		EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
		expect_flush();
		sleep_ns(10 * MSEC);
		expect_flush();
		EXPECT_EQ(0, info().outstanding);
	}
}

/* A timer that was disarmed in one context may be armed in another. */
TEST_F(loop, two_contexts)
{
	struct callout_ctx *other;
	int i;

	ASSERT_EQ(0, callout_ctx_create(&other, 16));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], HOUR));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[2]));
	ASSERT_EQ(0, callout_arm(other, &self->t[2], HOUR));
	/* One that is armed may not. */
	EXPECT_EQ(-EINVAL, callout_arm(other, &self->t[1], HOUR));
	EXPECT_EQ(-EINVAL, callout_arm(self->ctx, &self->t[2], HOUR));
	EXPECT_FALSE(callout_disarm(other, &self->t[0]));
	EXPECT_TRUE(callout_armed(&self->t[0]));
	expect_flush();
	EXPECT_EQ(0, callout_ctx_turn(other, 0));
	EXPECT_EQ(2, info().set);
	EXPECT_EQ(1, info_of(callout_ctx_fd(other)).set);
	EXPECT_FALSE(callout_disarm(self->ctx, &self->t[2]));
	EXPECT_TRUE(callout_disarm(other, &self->t[2]));
	EXPECT_EQ(0, callout_ctx_turn(other, 0));
	EXPECT_EQ(0, info_of(callout_ctx_fd(other)).outstanding);
	callout_ctx_destroy(other);
}

/* What was read and not handed out can be taken back. */
TEST_F(loop, read_but_not_handed_out)
{
	struct callout_timer *t, *other;
	struct callout_event e;

	int i, fd = callout_ctx_fd(self->ctx);

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], HOUR));
	expect_flush();
	/* All three in one turn, however long that takes. */
	for (i = 0; i < 3; i++)
		ASSERT_EQ(CALLOUT_CANCELLED,
			  callout_reset(fd, self->t[i]._handle, 0));
	ASSERT_TRUE(wait_unread(fd, 3));
	expect_turn(3);
	/* It does not read on until they are handed out. */
	expect_turn(3);
	t = callout_ctx_next(self->ctx, &e);
	ASSERT_NE(NULL, t);
	expect_turn(2);
	/* One is disarmed, and the other armed anew. */
	other = t == &self->t[1] ? &self->t[2] : &self->t[1];
	EXPECT_TRUE(callout_disarm(self->ctx, other));
	other = t == &self->t[0] ? (other == &self->t[1] ? &self->t[2] :
				    &self->t[1]) : &self->t[0];
	ASSERT_EQ(0, callout_arm(self->ctx, other, 20 * MSEC));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));
	expect_turn(1);
	EXPECT_EQ(other, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(0, info().outstanding);
}

TEST_F(loop, periodic)
{
	struct callout_timer *t = &self->t[0];
	struct callout_event e;
	__u64 due = 0;
	int i;

	t->period = 20 * MSEC;
	t->slack = MSEC;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 10 * MSEC));
	for (i = 0; i < 5; i++) {
		expect_turn(1);
		ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
		EXPECT_TRUE(callout_armed(t));
		if (i)
			EXPECT_EQ(due, e.due);
		due = e.due + (e.overrun + 1ULL) * t->period;
	}
	/* Its event is read, and it is disarmed before that is handed out. */
	expect_turn(1);
	EXPECT_TRUE(callout_disarm(self->ctx, t));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));
	expect_flush();
	EXPECT_EQ(0, info().outstanding);

	/* With no period it is a one-shot again. */
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, NULL));
	t->period = 0;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_FALSE(callout_armed(t));
	EXPECT_EQ(0, info().outstanding);
}

/* One that may be an hour late does not come before one that may not. */
TEST_F(loop, slack)
{
	self->t[0].slack = HOUR;
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], MSEC));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], 50 * MSEC));
	expect_turn(1);
	EXPECT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));
	/* Armed again without it. */
	self->t[0].slack = 0;
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], MSEC));
	expect_turn(1);
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
}

/*
 * While thousands of events are read the periodic timer fires again, and is
 * read again: that is one event to the caller.
 */
#define CROWD	5000

TEST_F_TIMEOUT(loop, periodic_read_twice, SLOW)
{
	struct callout_timer *t, *crowd = calloc(CROWD, sizeof(*crowd));
	struct callout_timer periodic = { .period = 1 };
	unsigned int i, round, seen, others;
	struct callout_ctx *ctx;

	ASSERT_NE(NULL, crowd);
	ASSERT_EQ(0, callout_ctx_create(&ctx, 2 * CROWD));
	ASSERT_EQ(0, callout_arm(ctx, &periodic, 0));
	for (round = 0; round < 5; round++) {
		for (i = 0; i < CROWD; i++)
			ASSERT_EQ(0, callout_arm(ctx, &crowd[i], 0));
		for (others = 0; others < CROWD; ) {
			ASSERT_LT(0, callout_ctx_turn(ctx, WAIT_MS * MSEC));
			seen = 0;
			while ((t = callout_ctx_next(ctx, NULL))) {
				if (t != &periodic)
					others++;
				else
					seen++;
			}
			ASSERT_GE(1, seen);
			/* So that there is much to read at a time. */
			sleep_ns(5 * MSEC);
		}
	}
	EXPECT_TRUE(callout_disarm(ctx, &periodic));
	EXPECT_EQ(0, callout_ctx_turn(ctx, 0));
	callout_ctx_destroy(ctx);
	free(crowd);
}

TEST_F(loop, failed)
{
	struct callout_timer *t, *failed;
	struct callout_event e;
	int i;

	ASSERT_EQ(0, callout_set_limit(callout_ctx_fd(self->ctx), 2));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], HOUR));
	EXPECT_EQ(2, callout_ctx_turn(self->ctx, 0));
	failed = callout_ctx_next(self->ctx, &e);
	ASSERT_NE(NULL, failed);
	EXPECT_EQ(-ENOSPC, failed->error);
	EXPECT_EQ(0, e.fired);
	EXPECT_FALSE(callout_armed(failed));
	/* The other is disarmed before that is handed out. */
	for (i = 0; i < 4; i++) {
		t = &self->t[i];
		if (t != failed && !t->_handle)
			break;
	}
	ASSERT_NE(4, i);
	EXPECT_TRUE(callout_disarm(self->ctx, t));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	expect_flush();

	/* Both again; now one is armed again, when there is room. */
	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	ASSERT_EQ(0, callout_arm(self->ctx, failed, HOUR));
	EXPECT_EQ(2, callout_ctx_turn(self->ctx, 0));
	for (i = 0; i < 4; i++) {
		if (&self->t[i] == t || &self->t[i] == failed)
			continue;
		EXPECT_TRUE(callout_disarm(self->ctx, &self->t[i]));
	}
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	ASSERT_EQ(failed, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));
	/* The UNSETs are queued behind the slot of what failed. */
	callout_ctx_turn(self->ctx, 0);
	while ((failed = callout_ctx_next(self->ctx, &e))) {
		EXPECT_EQ(t, failed);
		if (failed->error)
			ASSERT_EQ(0, callout_arm(self->ctx, failed, 0));
	}
	if (callout_armed(t)) {
		expect_turn(1);
		EXPECT_EQ(t, callout_ctx_next(self->ctx, &e));
	}
	EXPECT_EQ(0, t->error);
	EXPECT_EQ(0, info().outstanding);
}

/* It may not change its clock; it fires when it would have. */
TEST_F(loop, reset_failed)
{
	struct callout_timer *t = &self->t[0];
	struct callout_event e;

	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	expect_flush();
	t->clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, 0));
	ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(-EINVAL, t->error);
	EXPECT_TRUE(callout_armed(t));
	t->clockid = 0;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(0, t->error);
	EXPECT_EQ(1, info().set);
}

/* One that could not be moved, and has fired: it is armed until that is told. */
TEST_F(loop, reset_failed_and_fired)
{
	struct callout_timer *t = &self->t[0];
	int fd = callout_ctx_fd(self->ctx);

	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	expect_flush();
	ASSERT_EQ(CALLOUT_CANCELLED, callout_reset(fd, t->_handle, 0));
	ASSERT_TRUE(wait_unread(fd, 1));
	t->clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	EXPECT_EQ(2, callout_ctx_turn(self->ctx, 0));
	ASSERT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(-EINVAL, t->error);
	EXPECT_TRUE(callout_armed(t));
	ASSERT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(0, t->error);
	EXPECT_FALSE(callout_armed(t));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
}

TEST_F(loop, waits)
{
	__u64 begin = callout_now(CLOCK_MONOTONIC);

	EXPECT_EQ(0, callout_ctx_turn(self->ctx, 30 * MSEC));
	EXPECT_LE(begin + 30 * MSEC, callout_now(CLOCK_MONOTONIC));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 30 * MSEC));
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, CALLOUT_FOREVER));
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
}

static void on_signal(int sig)
{
}

TEST_F(loop, signal)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct itimerval it = { .it_value.tv_usec = 100000 };

	ASSERT_EQ(0, sigaction(SIGALRM, &act, NULL));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &it, NULL));
	EXPECT_EQ(-EINTR, callout_ctx_turn(self->ctx, CALLOUT_FOREVER));
	/* What was asked for has been done. */
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(1, info().outstanding);
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	expect_flush();
	EXPECT_EQ(1, info().cancelled);
}

/* A turn that waits does all, and returns at once if some of it failed. */
TEST_F(loop, failed_before_waiting)
{
	__u64 begin = callout_now(CLOCK_MONOTONIC);
	struct callout_timer *failed;
	int i;

	ASSERT_EQ(0, callout_set_limit(callout_ctx_fd(self->ctx), 1));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], HOUR));
	expect_turn(2);
	EXPECT_GT(begin + WAIT_MS * MSEC, callout_now(CLOCK_MONOTONIC));
	for (i = 0; i < 2; i++) {
		failed = callout_ctx_next(self->ctx, NULL);
		ASSERT_NE(NULL, failed);
		EXPECT_EQ(-ENOSPC, failed->error);
	}
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(1, info().outstanding);
}

/*
 * Operations behind one that fails are done before events are read. In each of
 * these tests there is room for one callout, which is that of t[0] and has
 * fired; t[1] asks for another, and is refused.
 */
static bool fired_and_full(struct callout_ctx *ctx, struct callout_timer *t)
{
	int fd = callout_ctx_fd(ctx);

	return !callout_set_limit(fd, 1) && !callout_arm(ctx, &t[0], HOUR) &&
	       !callout_ctx_turn(ctx, 0) &&
	       callout_reset(fd, t[0]._handle, 0) == CALLOUT_CANCELLED &&
	       wait_unread(fd, 1) && !callout_arm(ctx, &t[1], HOUR);
}

/* The memory of a timer that was disarmed is not touched. */
TEST_F(loop, freed_behind_a_failure)
{
	const struct callout_timer zero = { 0 };

	ASSERT_TRUE(fired_and_full(self->ctx, self->t));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	memset(&self->t[0], 0, sizeof(self->t[0]));
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, MSEC));
	EXPECT_EQ(0, memcmp(&self->t[0], &zero, sizeof(zero)));
	ASSERT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(-ENOSPC, self->t[1].error);
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(0, info().outstanding);
}

/* An event of a timer that was disarmed is not that of one in its memory. */
TEST_F(loop, reused_behind_a_failure)
{
	ASSERT_TRUE(fired_and_full(self->ctx, self->t));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	memset(&self->t[0], 0, sizeof(self->t[0]));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, MSEC));
	ASSERT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(-ENOSPC, self->t[1].error);
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	EXPECT_TRUE(callout_armed(&self->t[0]));
	EXPECT_EQ(1, info().outstanding);
	EXPECT_EQ(0, info().delivered);
}

/* A timer that was armed for later does not fire before. */
TEST_F(loop, moved_behind_a_failure)
{
	ASSERT_TRUE(fired_and_full(self->ctx, self->t));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, MSEC));
	ASSERT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(-ENOSPC, self->t[1].error);
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	EXPECT_TRUE(callout_armed(&self->t[0]));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(1, info().outstanding);
	EXPECT_EQ(0, info().delivered);
}

TEST_F(loop, device_gone)
{
	int fd = callout_ctx_fd(self->ctx), saved = dup(fd);

	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	expect_flush();
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], HOUR));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	ASSERT_EQ(fd, dup2(STDOUT_FILENO, fd));
	EXPECT_EQ(-ENOTTY, callout_ctx_turn(self->ctx, 0));
	EXPECT_TRUE(callout_ctx_pending(self->ctx));
	ASSERT_EQ(fd, dup2(saved, fd));
	close(saved);
	/* Nothing was lost, and slots are still whose they were. */
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], 0));
	expect_turn(1);
	EXPECT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(2, info().set);
	EXPECT_EQ(1, info().cancelled);
}

/* The loop of libcallout(3). */
static int turns(struct callout_ctx *ctx)
{
	struct callout_timer *timer;
	struct callout_event event;

	do {
		if (callout_ctx_turn(ctx, 0) < 0)
			return -1;
		while ((timer = callout_ctx_next(ctx, &event)))
			timer->data = NULL;
	} while (callout_ctx_pending(ctx));
	return 0;
}

TEST_F(loop, loop_ends_without_device)
{
	int fd = callout_ctx_fd(self->ctx);

	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_EQ(0, turns(self->ctx));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
	ASSERT_EQ(fd, dup2(STDOUT_FILENO, fd));
	EXPECT_EQ(-1, turns(self->ctx));
}

/* More than fit into a batch, and more events than there is room for. */
TEST_F_TIMEOUT(loop, many, SLOW)
{
	unsigned int i, n = CALLOUT_BATCH_MAX + 1000, got = 0;
	struct callout_timer *t, *timers;
	int ret;

	timers = calloc(n, sizeof(*timers));
	ASSERT_NE(NULL, timers);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &timers[i], HOUR));
	EXPECT_EQ(n - CALLOUT_BATCH_MAX, info().set);
	expect_flush();
	EXPECT_EQ(n, info().set);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &timers[i], 0));
	do {
		ret = callout_ctx_turn(self->ctx, WAIT_MS * MSEC);
		ASSERT_LT(0, ret);
		ASSERT_GE(16, ret);
		while ((t = callout_ctx_next(self->ctx, NULL))) {
			ASSERT_FALSE(callout_armed(t));
			/* Twice would be too many. */
			ASSERT_EQ(NULL, t->data);
			t->data = t;
			got++;
		}
	} while (got < n);
	expect_flush();
	EXPECT_EQ(n, info().set);
	EXPECT_EQ(0, info().outstanding);
	free(timers);
}

/* Random timers, against what must be true of each at any time. */
struct model {
	struct callout_timer timer;
	bool armed;
	__u64 earliest;
};

#define MODELS		500
#define MODEL_FIRED	2000

TEST_F_TIMEOUT(loop, random, SLOW)
{
	struct model *m, *models = calloc(MODELS, sizeof(*models));
	__u64 time, limit = callout_now(CLOCK_MONOTONIC) + WAIT_MS * MSEC;
	unsigned int i, steps, fired = 0, seed = 1;
	struct callout_timer *t;
	struct callout_event e;

	ASSERT_NE(NULL, models);
	while (fired < MODEL_FIRED) {
		ASSERT_GT(limit, callout_now(CLOCK_MONOTONIC));
		for (steps = rand_r(&seed) % 30; steps; steps--) {
			m = &models[rand_r(&seed) % MODELS];
			ASSERT_EQ(m->armed, callout_armed(&m->timer));
			if (rand_r(&seed) % 4) {
				time = rand_r(&seed) % (20 * MSEC);
				m->timer.period = rand_r(&seed) % 8 ? 0 :
						  5 * MSEC;
				m->earliest = time +
					      callout_now(CLOCK_MONOTONIC);
				ASSERT_EQ(0, callout_arm(self->ctx, &m->timer,
							 time));
				m->armed = true;
			} else {
				ASSERT_EQ(m->armed,
					  callout_disarm(self->ctx, &m->timer));
				m->armed = false;
			}
		}
		ASSERT_LE(0, callout_ctx_turn(self->ctx,
					      rand_r(&seed) % 2 * MSEC));
		/* Not always all. */
		for (i = rand_r(&seed) % 20; i; i--) {
			t = callout_ctx_next(self->ctx, &e);
			if (!t)
				break;
			m = (struct model *)t;
			ASSERT_TRUE(m->armed);
			ASSERT_EQ(0, t->error);
			ASSERT_LE(m->earliest, e.due);
			ASSERT_LE(e.due, e.fired);
			m->armed = e.flags & CALLOUT_EVENT_PERIODIC;
			fired++;
		}
	}
	for (i = 0; i < MODELS; i++)
		ASSERT_EQ(models[i].armed,
			  callout_disarm(self->ctx, &models[i].timer));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	expect_flush();
	EXPECT_EQ(0, info().outstanding);
	free(models);
}

TEST_HARNESS_MAIN
