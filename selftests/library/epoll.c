// SPDX-License-Identifier: GPL-2.0
/*
 * epoll.c - loops on epoll(7) that watch a context: they wake when there is work, and do not spin
 *
 * A descriptor that stays readable with nothing to do would make a loop turn for
 * ever. The tests bound the number of turns by the number of armings, at any
 * speed.
 */
#include <sys/epoll.h>

#include "lib/loop.h"

#define TIMERS	100
#define ROOM	16
/* More timers than a turn looks at. */
#define CROWD	4000

FIXTURE(epoll) {
	struct callout_ctx *ctx;
	struct callout_timer t[TIMERS];
	int epoll;
	unsigned int turns;
	unsigned int fired;
};

FIXTURE_VARIANT(epoll) {
	__u32 events;
	bool on_timerfd;
};

FIXTURE_VARIANT_ADD(epoll, device) { EPOLLIN, false };
FIXTURE_VARIANT_ADD(epoll, device_oneshot) { EPOLLIN | EPOLLONESHOT, false };
FIXTURE_VARIANT_ADD(epoll, device_edge) { EPOLLIN | EPOLLET, false };
FIXTURE_VARIANT_ADD(epoll, timerfd) { EPOLLIN, true };
FIXTURE_VARIANT_ADD(epoll, timerfd_oneshot) { EPOLLIN | EPOLLONESHOT, true };
FIXTURE_VARIANT_ADD(epoll, timerfd_edge) { EPOLLIN | EPOLLET, true };

static int watch(struct _test_data_epoll *self, int op, __u32 events)
{
	struct epoll_event event = { .events = events };

	return epoll_ctl(self->epoll, op, callout_ctx_fd(self->ctx), &event);
}

FIXTURE_SETUP(epoll)
{
	memset(self->t, 0, sizeof(self->t));
	self->turns = 0;
	self->fired = 0;
	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &self->ctx, ROOM));
	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, self->epoll);
	ASSERT_EQ(0, watch(self, EPOLL_CTL_ADD, variant->events));
}

FIXTURE_TEARDOWN(epoll)
{
	EXPECT_EQ(0, close(self->epoll));
	callout_ctx_destroy(self->ctx);
}

/* A turn of the library. Return whether an edge-triggered loop has to turn again. */
static bool turn(struct _test_data_epoll *self)
{
	bool any = callout_ctx_turn(self->ctx, 0) > 0;

	while (callout_ctx_next(self->ctx, NULL))
		self->fired++;
	return any || callout_ctx_more(self->ctx);
}

/*
 * The loop: sleep until the descriptor is readable, and turn. Return when nothing
 * woke the loop for @ms, when @fired timers were handed out, or after @most turns.
 */
static void loop(struct _test_data_epoll *self, __u32 events, int ms,
		 unsigned int fired, unsigned int most)
{
	struct epoll_event event;

	self->turns = 0;
	self->fired = 0;
	while (self->fired < fired && self->turns <= most) {
		if (callout_ctx_pending(self->ctx))
			callout_ctx_flush(self->ctx);
		if (epoll_wait(self->epoll, &event, 1, ms) != 1)
			return;
		self->turns++;
		while (turn(self) && events & EPOLLET && self->fired < fired)
			;
		if (events & EPOLLONESHOT)
			watch(self, EPOLL_CTL_MOD, events);
	}
}

/* Run the loop of this variant. Return whether it turned at most @most times. */
#define turns_within(most, ms, n) \
	turned(self, variant->events, most, ms, n)

static bool turned(struct _test_data_epoll *self, __u32 events,
		   unsigned int most, int ms, unsigned int fired)
{
	loop(self, events, ms, fired, most);
	return self->turns <= most;
}

/* Timers that were disarmed cost one turn, and then the loop sleeps. */
TEST_F(epoll, disarmed)
{
	unsigned int i;

	for (i = 0; i < TIMERS; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i],
					 20 * MSEC + i * MSEC / 10));
	ASSERT_EQ(0, callout_ctx_flush(self->ctx));
	for (i = 0; i < TIMERS; i++)
		EXPECT_TRUE(callout_disarm(self->ctx, &self->t[i]));
	ASSERT_TRUE(wait_fired(self->ctx));
	EXPECT_TRUE(turns_within(1, 50, 1));
	EXPECT_EQ(1, self->turns);
	EXPECT_EQ(0, self->fired);
	EXPECT_TRUE(turns_within(0, 50, 1));
}

/* A timer that was moved to later costs a turn when its callout fires, and one more turn. */
TEST_F(epoll, moved)
{
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 10 * MSEC));
	ASSERT_EQ(0, callout_ctx_flush(self->ctx));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 200 * MSEC));
	EXPECT_TRUE(turns_within(2, WAIT_MS, 1));
	EXPECT_EQ(1, self->fired);
	EXPECT_TRUE(turns_within(0, 50, 1));
}

/* Each timer has its turn: no turn is without a timer, and no timer is without a turn. */
TEST_F(epoll, one_by_one)
{
	unsigned int i;

	for (i = 0; i < TIMERS; i++) {
		self->t[i].clockid = i % 2 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], i * MSEC));
	}
	EXPECT_TRUE(turns_within(TIMERS + 2, WAIT_MS, TIMERS));
	EXPECT_EQ(TIMERS, self->fired);
	/* A loop that was late by ROOM timers has one more turn. */
	EXPECT_TRUE(turns_within(1, 50, 1));
	EXPECT_TRUE(turns_within(0, 50, 1));
}

/*
 * If more timers are due than a turn hands out, the loop does not sleep, and
 * makes no turn too many.
 */
TEST_F(epoll, crowd)
{
	unsigned int i;

	for (i = 0; i < TIMERS; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], 0));
	EXPECT_TRUE(turns_within((TIMERS + ROOM - 1) / ROOM + 2, WAIT_MS, TIMERS));
	EXPECT_EQ(TIMERS, self->fired);
	/* The callout of the last turn may still fire. */
	EXPECT_TRUE(turns_within(1, 50, 1));
	EXPECT_EQ(0, self->fired);
}

/* If more timers were moved than a turn looks at, all fire. */
TEST_F(epoll, crowd_moved)
{
	static struct callout_timer crowd[CROWD];
	unsigned int i;

	memset(crowd, 0, sizeof(crowd));
	for (i = 0; i < CROWD; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &crowd[i], MSEC));
	ASSERT_EQ(0, callout_ctx_flush(self->ctx));
	for (i = 0; i < CROWD; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &crowd[i], 100 * MSEC));
	EXPECT_TRUE(turns_within(2 * CROWD, WAIT_MS, CROWD));
	EXPECT_EQ(CROWD, self->fired);
}

/* A period takes a turn, or less if the loop is late. */
TEST_F(epoll, periodic)
{
	self->t[0].period = 5 * MSEC;
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 5 * MSEC));
	EXPECT_TRUE(turns_within(20 + 1, WAIT_MS, 20));
	EXPECT_EQ(20, self->fired);
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	EXPECT_TRUE(turns_within(1, 50, 1));
	EXPECT_EQ(0, self->fired);
	EXPECT_TRUE(turns_within(0, 50, 1));
}

/* A timer that is armed before the loop sleeps is noticed if it is the first. */
TEST_F(epoll, earlier)
{
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_TRUE(turns_within(0, 20, 1));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], 10 * MSEC));
	EXPECT_TRUE(turns_within(2, WAIT_MS, 1));
	EXPECT_EQ(1, self->fired);
	EXPECT_TRUE(callout_armed(&self->t[0]));
	EXPECT_TRUE(turns_within(0, 50, 1));
}

TEST_HARNESS_MAIN
