// SPDX-License-Identifier: GPL-2.0
/*
 * libcallout_failures.c - timers of libcallout when operations fail, a wait is
 * interrupted, or the device is gone
 */
#include "loop.h"

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
	/* The other refused one is disarmed before it is handed out. */
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

	/* Both again; then one is re-armed, when there is room. */
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
	/* The UNSETs are queued behind the slot of the failed operation. */
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

/* An armed timer cannot change its clock: it stays armed as it was. */
TEST_F(loop, clock_of_an_armed_timer)
{
	struct callout_timer *t = &self->t[0];
	struct callout_event e;

	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	expect_flush();
	t->clockid = CLOCK_BOOTTIME;
	EXPECT_EQ(-EINVAL, callout_arm(self->ctx, t, 0));
	EXPECT_EQ(-EINVAL, callout_arm_at(self->ctx, t, 0));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_TRUE(callout_armed(t));
	t->clockid = 0;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(0, t->error);
	EXPECT_EQ(1, info().set);
}

/* One that has fired is handed out all the same. */
TEST_F(loop, clock_of_a_fired_timer)
{
	struct callout_timer *t = &self->t[0];
	int fd = callout_ctx_fd(self->ctx);

	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	expect_flush();
	ASSERT_EQ(CALLOUT_CANCELLED, callout_reset(fd, t->_handle, 0));
	ASSERT_TRUE(wait_unread(fd, 1));
	t->clockid = CLOCK_BOOTTIME;
	EXPECT_EQ(-EINVAL, callout_arm(self->ctx, t, HOUR));
	/* It waits: that the callout was moved is not known to the context. */
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(0, t->error);
	EXPECT_FALSE(callout_armed(t));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
}

TEST_F(loop, signal)
{
	ASSERT_TRUE(interrupt_by(SIGALRM, 0));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	ASSERT_TRUE(send_alarms(100000));
	EXPECT_EQ(-EINTR, callout_ctx_turn(self->ctx, CALLOUT_FOREVER));
	ASSERT_TRUE(send_alarms(0));
	/* The queued operations are done. */
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(1, info().outstanding);
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	expect_flush();
	EXPECT_EQ(1, info().cancelled);
}

/* A turn does all operations, and does not wait if one of them failed. */
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
 * these tests there is room for one callout: that of t[0], which has fired. The
 * SET of t[1] is refused.
 */
static bool fired_and_full(struct callout_ctx *ctx, struct callout_timer *t)
{
	int fd = callout_ctx_fd(ctx);

	return !callout_set_limit(fd, 1) && !callout_arm(ctx, &t[0], HOUR) &&
	       !callout_ctx_turn(ctx, 0) &&
	       callout_reset(fd, t[0]._handle, 0) == CALLOUT_CANCELLED &&
	       wait_unread(fd, 1) && !callout_arm(ctx, &t[1], HOUR);
}

/* A turn that hands out t[1], which was refused, and no other timer. */
#define expect_refusal() do {						\
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, MSEC));		\
	ASSERT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));	\
	EXPECT_EQ(-ENOSPC, self->t[1].error);				\
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));		\
} while (0)

/* The memory of a disarmed timer is not accessed (no use-after-free). */
TEST_F(loop, freed_after_a_failure)
{
	const struct callout_timer zero = { 0 };

	ASSERT_TRUE(fired_and_full(self->ctx, self->t));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	memset(&self->t[0], 0, sizeof(self->t[0]));
	expect_refusal();
	EXPECT_EQ(0, memcmp(&self->t[0], &zero, sizeof(zero)));
	EXPECT_EQ(0, info().outstanding);
}

/* A timer in the memory of a disarmed one does not get its event (ABA). */
TEST_F(loop, reused_after_a_failure)
{
	ASSERT_TRUE(fired_and_full(self->ctx, self->t));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	memset(&self->t[0], 0, sizeof(self->t[0]));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	expect_refusal();
	EXPECT_TRUE(callout_armed(&self->t[0]));
	EXPECT_EQ(1, info().outstanding);
	EXPECT_EQ(0, info().delivered);
}

/* A timer that was re-armed by an operation does not fire earlier. */
TEST_F(loop, rearmed_after_a_failure)
{
	ASSERT_TRUE(fired_and_full(self->ctx, self->t));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR / 2));
	expect_refusal();
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
	/* No operation is lost, and slots still belong to their timers. */
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

TEST_HARNESS_MAIN
