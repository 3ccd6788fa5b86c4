// SPDX-License-Identifier: GPL-2.0
/*
 * contexts.c - contexts of libcallout: their descriptors, timers
 * that move between them, operations without events
 */
#include <stdlib.h>

#include "lib/loop.h"

TEST_F(loop, create)
{
	bool on_timerfd = variant->on_timerfd;
	struct callout_ctx *ctx;

	EXPECT_EQ(-EINVAL, callout_ctx_create(&ctx, 0));
	EXPECT_EQ(-EINVAL, new_ctx(on_timerfd, &ctx, 0));
	EXPECT_EQ(-EINVAL, new_ctx(on_timerfd, &ctx, CALLOUT_BATCH_MAX + 1));
	ASSERT_EQ(0, new_ctx(on_timerfd, &ctx, CALLOUT_BATCH_MAX));
	EXPECT_EQ(on_timerfd, callout_ctx_on_timerfd(ctx));
	EXPECT_LE(0, callout_ctx_fd(ctx));
	EXPECT_FALSE(callout_ctx_pending(ctx));
	callout_ctx_destroy(ctx);
	callout_ctx_destroy(NULL);
}

/* The context uses a descriptor that a helper has opened and limited. */
TEST(given_descriptor)
{
	struct callout_timer timer = { 0 };
	int fd = callout_dev_open(0);
	struct callout_ctx *ctx;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, callout_dev_limit(fd, 1));
	ASSERT_EQ(0, callout_ctx_create_fd(&ctx, 16, fd));
	EXPECT_EQ(fd, callout_ctx_fd(ctx));
	EXPECT_EQ(0, callout_ctx_on_timerfd(ctx));
	ASSERT_EQ(0, callout_arm(ctx, &timer, 0));
	EXPECT_EQ(1, callout_ctx_turn(ctx, WAIT_MS * MSEC));
	EXPECT_EQ(&timer, callout_ctx_next(ctx, NULL));
	callout_ctx_destroy(ctx);
	EXPECT_EQ(-1, fcntl(fd, F_GETFD));
}

/* A descriptor that is refused stays open. */
TEST(refused_descriptor)
{
	struct callout_ctx *ctx = NULL;
	struct callout_op op;
	int fd;

	EXPECT_EQ(-EBADF, callout_ctx_create_fd(&ctx, 16, -1));
	EXPECT_EQ(-ENOTTY, callout_ctx_create_fd(&ctx, 16, STDOUT_FILENO));
	fd = callout_dev_open(O_NONBLOCK);
	EXPECT_EQ(-EINVAL, callout_ctx_create_fd(&ctx, 0, fd));
	EXPECT_EQ(-EINVAL, callout_ctx_create_fd(&ctx, CALLOUT_BATCH_MAX + 1,
						 fd));
	/* The event of a callout that is not a timer's. */
	op = callout_op_set(HOUR, 1);
	ASSERT_EQ(0, callout_dev_do(fd, &op));
	EXPECT_EQ(-EBUSY, callout_ctx_create_fd(&ctx, 16, fd));
	op = callout_op_move(op.handle, 0);
	ASSERT_EQ(CALLOUT_STATE_PENDING, callout_dev_do(fd, &op));
	ASSERT_TRUE(wait_unread(fd, 1));
	EXPECT_EQ(-EBUSY, callout_ctx_create_fd(&ctx, 16, fd));
	EXPECT_EQ(NULL, ctx);
	EXPECT_EQ(0, close(fd));
}

FIXTURE(two) {
	struct callout_ctx *ctx, *other;
	struct callout_timer t[4];
};

FIXTURE_VARIANT(two) {
	bool on_timerfd;
	bool other_on_timerfd;
};

FIXTURE_VARIANT_ADD(two, device) { false, false };
FIXTURE_VARIANT_ADD(two, timerfd) { true, true };
FIXTURE_VARIANT_ADD(two, device_and_timerfd) { false, true };

FIXTURE_SETUP(two)
{
	memset(self->t, 0, sizeof(self->t));
	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &self->ctx, 16));
	ASSERT_EQ(0, new_ctx(variant->other_on_timerfd, &self->other, 16));
}

FIXTURE_TEARDOWN(two)
{
	callout_ctx_destroy(self->ctx);
	callout_ctx_destroy(self->other);
}

#define expect_flushes() do {						\
	expect_flush();							\
	EXPECT_EQ(0, callout_ctx_turn(self->other, 0));			\
} while (0)

/* A disarmed timer is armed in another context in the same turn. */
TEST_F(two, disarmed)
{
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	ASSERT_EQ(0, callout_arm(self->other, &self->t[0], HOUR));
	expect_flushes();
	EXPECT_EQ(0, outstanding(self->ctx));
	EXPECT_EQ(1, outstanding(self->other));
}

/* Armed in another context, a timer is disarmed in the first. */
TEST_F(two, moved)
{
	struct callout_timer *t = self->t;
	int i;

	/* One timer waits for a turn, the other is in the wheel. */
	ASSERT_EQ(0, callout_arm(self->ctx, &t[1], HOUR));
	expect_flush();
	ASSERT_EQ(0, callout_arm(self->ctx, &t[0], 0));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, callout_arm(self->other, &t[i], HOUR));
	expect_flushes();
	EXPECT_EQ(1, outstanding(self->other));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, callout_arm(self->other, &t[i], 0));
	for (i = 0; i < 2; ) {
		ASSERT_LT(0, callout_ctx_turn(self->other, WAIT_MS * MSEC));
		while (callout_ctx_next(self->other, NULL))
			i++;
	}
	expect_flushes();
	EXPECT_EQ(0, delivered(self->ctx));
}

/* A timer moves to the other context and back in one turn. */
TEST_F(two, moved_back)
{
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	expect_flush();
	ASSERT_EQ(0, callout_arm(self->other, &self->t[0], 0));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
	EXPECT_EQ(0, callout_ctx_turn(self->other, 0));
	expect_turn(1);
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	expect_flushes();
	EXPECT_EQ(0, told(self->other));
}

/* A timer that has fired in the first context, and was moved, is not handed out there. */
TEST_F(two, moved_with_event)
{
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
	expect_turn(1);
	ASSERT_EQ(0, callout_arm(self->other, &self->t[0], HOUR));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	EXPECT_TRUE(callout_armed(&self->t[0]));
	expect_flushes();
	EXPECT_EQ(1, outstanding(self->other));
}

/* A time that is refused moves nothing. */
TEST_F(two, not_moved)
{
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	expect_flush();
	EXPECT_EQ(-EINVAL, callout_arm(self->other, &self->t[0], ~0ULL));
	EXPECT_TRUE(callout_armed(&self->t[0]));
	expect_flushes();
	EXPECT_EQ(1, outstanding(self->ctx));
	EXPECT_EQ(0, told(self->other));
}

/* After a moved timer is disarmed, its memory may be freed. */
TEST_F(two, moved_and_freed)
{
	struct callout_timer *t = calloc(1, sizeof(*t));

	ASSERT_NE(NULL, t);
	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	expect_flush();
	ASSERT_EQ(0, callout_arm(self->other, t, HOUR));
	/* Disarm it in whichever context it is armed. */
	EXPECT_TRUE(callout_disarm(self->ctx, t));
	EXPECT_FALSE(callout_disarm(self->ctx, t));
	memset(t, 0xff, sizeof(*t));
	free(t);
	expect_flushes();
}

/* A flush moves the callout, and leaves timers that are due for the turn. */
TEST_F(loop, flush)
{
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	ASSERT_TRUE(wait_fired(self->ctx));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], HOUR));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	EXPECT_EQ(1, unread(self->ctx));
	expect_turn(1);
	/* A flush does not move the callout while timers wait to be handed out. */
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[2], HOUR / 2));
	EXPECT_EQ(1, callout_ctx_flush(self->ctx));
	EXPECT_EQ(HOUR / 2, callout_remaining(&self->t[2]));
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
	EXPECT_TRUE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(1, outstanding(self->ctx));
}

/*
 * A turn that hands out as many timers as it may knows whether more are due. If not, the
 * loop is not woken again.
 */
TEST_F(loop, more)
{
	struct callout_ctx *ctx;
	unsigned int n, i;

	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &ctx, 2));
	for (n = 2; n <= 4; n++) {
		ASSERT_EQ(0, callout_arm(ctx, &self->t[3], n < 4 ? HOUR : 0));
		for (i = 0; i < n; i++)
			ASSERT_EQ(0, callout_arm(ctx, &self->t[i], 0));
		ASSERT_EQ(0, callout_ctx_flush(ctx));
		ASSERT_TRUE(wait_fired(ctx));
		for (i = 0; i < n; i += 2) {
			EXPECT_TRUE(callout_ctx_more(ctx));
			EXPECT_TRUE(readable(callout_ctx_fd(ctx)));
			EXPECT_LE(1, callout_ctx_turn(ctx, 0));
			while (callout_ctx_next(ctx, NULL))
				;
		}
		EXPECT_FALSE(callout_ctx_more(ctx));
		EXPECT_FALSE(readable(callout_ctx_fd(ctx)));
	}
	callout_ctx_destroy(ctx);
}

/*
 * Uses the loop of callout_ctx_create(3), with a handler that arms its timer for
 * now. Each turn hands the timer out once, and the flush before the loop sleeps
 * makes the descriptor readable again.
 */
TEST_F(loop, armed_for_now)
{
	int fd = callout_ctx_fd(self->ctx);
	unsigned int i;

	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
	for (i = 0; i < 10; i++) {
		ASSERT_TRUE(callout_ctx_pending(self->ctx));
		ASSERT_EQ(0, callout_ctx_flush(self->ctx));
		EXPECT_FALSE(callout_ctx_pending(self->ctx));
		ASSERT_TRUE(readable_within(fd, WAIT_MS));
		ASSERT_EQ(1, callout_ctx_turn(self->ctx, 0));
		EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
		EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	}
}

/* Every time comes, 0 too. */
TEST_F(loop, armed_for_0)
{
	self->t[0].clockid = CLOCK_MONOTONIC;
	ASSERT_EQ(0, callout_arm_at(self->ctx, &self->t[0], 0));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	ASSERT_TRUE(wait_fired(self->ctx));
	expect_turn(1);
}

TEST_F(loop, flush_failed)
{
	int fd = fd_of_kernel(self->ctx);

	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	ASSERT_EQ(fd, dup2(STDOUT_FILENO, fd));
	EXPECT_EQ(error_of_kernel(self->ctx), callout_ctx_flush(self->ctx));
	EXPECT_TRUE(callout_ctx_pending(self->ctx));
}

TEST_HARNESS_MAIN
