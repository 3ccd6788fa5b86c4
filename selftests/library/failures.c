// SPDX-License-Identifier: GPL-2.0
/*
 * failures.c - timers of libcallout when the callout cannot be moved,
 * a wait is interrupted, or the device is gone
 */
#include <sys/syscall.h>

#include "lib/loop.h"

/* Replaces the C library's function: with a limit, no second timerfd can be armed. */
#define NO_LIMIT	-1
#define NONE_ARMED	-2
static int limited = NO_LIMIT;

int timerfd_settime(int fd, int flags, const struct itimerspec *new,
		    struct itimerspec *old)
{
	bool arms = new->it_value.tv_sec || new->it_value.tv_nsec;

	if (limited != NO_LIMIT && limited != NONE_ARMED && limited != fd && arms) {
		errno = ENOSPC;
		return -1;
	}
	if (limited == NONE_ARMED || limited == fd)
		limited = arms ? fd : NONE_ARMED;
	return syscall(SYS_timerfd_settime, fd, flags, new, old);
}

/* Only one of the context's clocks can have a callout. */
static int allow_one(struct callout_ctx *ctx)
{
	if (!ctx->on_timerfd)
		return callout_dev_limit(callout_ctx_fd(ctx), 1);
	limited = NONE_ARMED;
	return 0;
}

/* There is room for the callout of one clock only. A turn fails, and loses nothing. */
TEST_F(loop, failed)
{
	struct callout_timer *t = self->t;
	int i;

	ASSERT_EQ(0, allow_one(self->ctx));
	t[1].clockid = CLOCK_BOOTTIME;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &t[i], HOUR));
	EXPECT_EQ(-ENOSPC, callout_ctx_turn(self->ctx, 0));
	EXPECT_EQ(-ENOSPC, callout_ctx_flush(self->ctx));
	EXPECT_TRUE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	for (i = 0; i < 2; i++)
		EXPECT_TRUE(callout_armed(&t[i]));
	EXPECT_EQ(1, outstanding(self->ctx));
	/* Due timers are handed out all the same. */
	ASSERT_EQ(0, callout_arm(self->ctx, &t[1], 0));
	ASSERT_EQ(0, callout_arm(self->ctx, &t[2], 0));
	expect_turn(2);
	for (i = 0; i < 2; i++)
		EXPECT_NE(NULL, callout_ctx_next(self->ctx, NULL));
	/* No timer of the other clock is left, so the failed operation is not tried. */
	expect_flush();
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
}

TEST_F(loop, signal)
{
	ASSERT_TRUE(interrupt_by(SIGALRM, 0));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	ASSERT_TRUE(send_alarms(100000));
	EXPECT_EQ(-EINTR, callout_ctx_turn(self->ctx, CALLOUT_FOREVER));
	ASSERT_TRUE(send_alarms(0));
	/* The callout was moved before the wait. */
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(1, outstanding(self->ctx));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
}

/* A turn does not wait if a callout could not be moved: it might not come. */
TEST_F(loop, failed_before_waiting)
{
	__u64 begin = callout_now(CLOCK_MONOTONIC);

	ASSERT_EQ(0, allow_one(self->ctx));
	self->t[1].clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], HOUR));
	expect_turn(-ENOSPC);
	EXPECT_GT(begin + WAIT_MS * MSEC, callout_now(CLOCK_MONOTONIC));
}

/* If the callout of one clock cannot be made, the callout of the other clock is still moved. */
TEST_F(loop, failed_for_one_clock)
{
	__u64 timeout, end = callout_now(CLOCK_BOOTTIME) + HOUR;
	int i;

	ASSERT_EQ(0, allow_one(self->ctx));
	for (i = 1; i < 4; i++)
		self->t[i].clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], 4 * HOUR));
	expect_flush();
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	for (i = 2; i < 4; i++) {
		timeout = i == 2 ? 0 : WAIT_MS * MSEC;
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i],
					 (4 - i) * HOUR));
		EXPECT_EQ(-ENOSPC, callout_ctx_turn(self->ctx, timeout));
		EXPECT_LE(end + (3 - i) * HOUR, due_by(self->ctx, CLOCK_BOOTTIME));
		EXPECT_GT(end + (4 - i) * HOUR, due_from(self->ctx, CLOCK_BOOTTIME));
	}
	EXPECT_EQ(1, outstanding(self->ctx));
}

/* An unread event is withdrawn when its timer is moved or disarmed. */
TEST_F(loop, fired_and_moved)
{
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
		EXPECT_EQ(0, callout_ctx_flush(self->ctx));
		ASSERT_TRUE(wait_fired(self->ctx));
		ASSERT_EQ(i, i ? callout_disarm(self->ctx, &self->t[0]) :
				 callout_arm(self->ctx, &self->t[0], HOUR));
		expect_flush();
		EXPECT_EQ(0, unread(self->ctx));
		EXPECT_EQ(!i, outstanding(self->ctx));
	}
	EXPECT_EQ(0, delivered(self->ctx));
}

TEST_F(loop, device_gone)
{
	int fd = fd_of_kernel(self->ctx), saved = dup(fd);
	int error = error_of_kernel(self->ctx);

	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	expect_flush();
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], HOUR / 2));
	ASSERT_EQ(fd, dup2(STDOUT_FILENO, fd));
	EXPECT_EQ(error, callout_ctx_turn(self->ctx, 0));
	EXPECT_EQ(error, callout_ctx_turn(self->ctx, CALLOUT_FOREVER));
	EXPECT_TRUE(callout_ctx_pending(self->ctx));
	ASSERT_EQ(fd, dup2(saved, fd));
	close(saved);
	/* No timer is lost. */
	expect_flush();
	EXPECT_GE(callout_now(CLOCK_MONOTONIC) + HOUR / 2,
		  due_from(self->ctx, CLOCK_MONOTONIC));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], 0));
	expect_turn(1);
	EXPECT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));
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
	int fd = fd_of_kernel(self->ctx);

	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_EQ(0, turns(self->ctx));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR / 2));
	ASSERT_EQ(fd, dup2(STDOUT_FILENO, fd));
	EXPECT_EQ(-1, turns(self->ctx));
}

TEST_HARNESS_MAIN
