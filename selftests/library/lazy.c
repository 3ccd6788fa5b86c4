// SPDX-License-Identifier: GPL-2.0
/*
 * lazy.c - system calls of libcallout's turns, timers that are moved to a later
 * time, and a context's knowledge of its deadlines
 */
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "lib/loop.h"

/* Counts settings of callouts and of timerfds, in place of the C library's functions. */
static unsigned int calls;

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	calls++;
	return syscall(SYS_ioctl, fd, request, arg);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new,
		    struct itimerspec *old)
{
	calls++;
	return syscall(SYS_timerfd_settime, fd, flags, new, old);
}

/* Do something that makes this many system calls. */
#define expect_calls(n, what) do {					\
	calls = 0;							\
	what;								\
	EXPECT_EQ(n, calls);						\
} while (0)

/* Arm a timer, whose callout the kernel has. */
#define armed(t, time) do {						\
	ASSERT_EQ(0, callout_arm(self->ctx, t, time));			\
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));			\
} while (0)

TEST_F(loop, idle_turns)
{
	int i;

	expect_calls(0, expect_flush());
	armed(&self->t[0], HOUR);
	armed(&self->t[1], 2 * HOUR);
	for (i = 0; i < 100; i++) {
		expect_calls(0, expect_flush());
		expect_calls(0, callout_ctx_flush(self->ctx));
	}
	/* The turn that finds a timer makes one call, and the turns after it make none. */
	armed(&self->t[2], 0);
	ASSERT_TRUE(wait_fired(self->ctx));
	expect_calls(1, EXPECT_EQ(1, callout_ctx_turn(self->ctx, 0)));
	EXPECT_EQ(0, unread(self->ctx));
	EXPECT_EQ(&self->t[2], callout_ctx_next(self->ctx, NULL));
	for (i = 0; i < 100; i++)
		expect_calls(0, expect_flush());
	/* Disarming makes no call. */
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[1]));
	expect_calls(0, expect_flush());
}

/* The callout of a disarmed timer comes once, and costs one call. */
TEST_F(loop, idle_after_disarming)
{
	armed(&self->t[0], 10 * MSEC);
	armed(&self->t[1], HOUR);
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	ASSERT_TRUE(wait_fired(self->ctx));
	expect_calls(1, expect_flush());
	EXPECT_EQ(0, unread(self->ctx));
	expect_calls(0, expect_flush());
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[1]));
	armed(&self->t[2], 0);
	ASSERT_TRUE(wait_fired(self->ctx));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[2]));
	expect_calls(1, expect_flush());
	EXPECT_EQ(0, unread(self->ctx));
}

/* A timer that is armed and disarmed again and again makes few calls. */
TEST_F(loop, armed_and_disarmed)
{
	int i;

	calls = 0;
	for (i = 0; i < 1000; i++) {
		armed(&self->t[0], HOUR);
		EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
		expect_flush();
	}
	EXPECT_EQ(1, calls);
}

/*
 * Timers that a turn does not hand out are handed out by the next turns, for
 * which the descriptor stays readable.
 */
TEST_F(loop, more_timers_than_room)
{
	struct callout_timer t[20] = { 0 };
	unsigned int i, got = 0;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &t[i], 0));
	for (i = 0; i < 2; i++) {
		EXPECT_LT(0, callout_ctx_turn(self->ctx, 0));
		while (callout_ctx_next(self->ctx, NULL))
			got++;
		if (!i)
			ASSERT_TRUE(wait_fired(self->ctx));
	}
	EXPECT_EQ(ARRAY_SIZE(t), got);
	expect_flush();
	EXPECT_EQ(0, outstanding(self->ctx));
}

/* Timers of another clock are not missed. */
TEST_F(loop, idle_with_other_clock)
{
	self->t[0].clockid = CLOCK_BOOTTIME;
	armed(&self->t[0], 0);
	ASSERT_TRUE(wait_fired(self->ctx));
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, 0));
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
	expect_calls(0, expect_flush());
	armed(&self->t[0], HOUR);
	expect_calls(0, expect_flush());
}

TEST_F(loop, later_is_no_call)
{
	int i;

	armed(&self->t[0], HOUR);
	calls = 0;
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
		EXPECT_TRUE(callout_ctx_pending(self->ctx));
		EXPECT_EQ(0, i % 2 ? callout_ctx_flush(self->ctx) :
				     callout_ctx_turn(self->ctx, 0));
		EXPECT_FALSE(callout_ctx_pending(self->ctx));
	}
	self->t[0].clockid = CLOCK_MONOTONIC;
	ASSERT_EQ(0, callout_arm_at(self->ctx, &self->t[0],
				    callout_now(CLOCK_MONOTONIC) + HOUR));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(0, calls);
	/* Arming for an earlier time makes one call if the time is the first of all. */
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR / 2));
	expect_calls(1, expect_flush());
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], HOUR));
	expect_calls(0, expect_flush());
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], HOUR - SEC));
	expect_calls(0, expect_flush());
	EXPECT_EQ(1, outstanding(self->ctx));
}

/* A timer fires at the last time that it was given, once, in one wait. */
TEST_F(loop, later_is_exact)
{
	struct callout_timer *t = &self->t[0];
	struct callout_event e;
	__u64 now, due;

	armed(t, 10 * MSEC);
	now = callout_now(CLOCK_MONOTONIC);
	ASSERT_EQ(0, callout_arm(self->ctx, t, 60 * MSEC));
	expect_turn(1);
	due = callout_now(CLOCK_MONOTONIC);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
	EXPECT_FALSE(callout_armed(t));
	EXPECT_LE(now + 60 * MSEC, e.due);
	EXPECT_LE(e.due, e.fired);
	EXPECT_LE(e.fired, due);
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	expect_flush();
	EXPECT_EQ(0, outstanding(self->ctx));

	/* The turn that finds it too early moves the callout. */
	armed(t, MSEC);
	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	ASSERT_TRUE(wait_fired(self->ctx));
	expect_flush();
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	EXPECT_TRUE(callout_armed(t));
	EXPECT_LT(HOUR / 2, callout_remaining(t));
	EXPECT_EQ(1, outstanding(self->ctx));
	EXPECT_EQ(0, unread(self->ctx));

	t->clockid = CLOCK_MONOTONIC;
	ASSERT_EQ(0, callout_arm_at(self->ctx, t, 0));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	due = callout_now(CLOCK_MONOTONIC) + 60 * MSEC;
	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	ASSERT_EQ(0, callout_arm_at(self->ctx, t, due));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(due, e.due);
	EXPECT_LE(due, e.fired);
}

/*
 * Many moved timers are filed again in a few turns. No turn looks at more than
 * a part of them, and no timer is handed out.
 */
TEST_F(loop, later_many)
{
	struct callout_timer *t = calloc(10000, sizeof(*t));
	unsigned int i, got = 0;

	ASSERT_NE(NULL, t);
	for (i = 0; i < 10000; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &t[i], 10 * MSEC));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	for (i = 0; i < 10000; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &t[i], HOUR));
	ASSERT_TRUE(wait_fired(self->ctx));
	for (i = 0; i < 20 && unread(self->ctx); i++)
		expect_flush();
	/* Each turn looks at most at 1024 + 16 timers, see callout_ctx_turn(3). */
	EXPECT_LE(9, i);
	EXPECT_EQ(0, unread(self->ctx));
	EXPECT_LT(callout_now(CLOCK_MONOTONIC) + HOUR / 2,
		  callout_ctx_next_due(self->ctx));
	for (i = 0; i < 10000; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &t[i], 0));
	while (got < 10000) {
		ASSERT_LT(0, callout_ctx_turn(self->ctx, WAIT_MS * MSEC));
		while (callout_ctx_next(self->ctx, NULL))
			got++;
	}
	free(t);
}

/* Nothing touches the memory of a timer that was moved and disarmed. */
TEST_F(loop, later_and_freed)
{
	struct callout_timer *t;
	int round;

	for (round = 0; round < 3; round++) {
		t = calloc(1, sizeof(*t));
		ASSERT_NE(NULL, t);
		armed(t, MSEC);
		ASSERT_EQ(0, callout_arm(self->ctx, t, 5 * MSEC));
		if (round == 1)
			EXPECT_EQ(0, callout_ctx_flush(self->ctx));
		if (round == 2)
			sleep_ns(10 * MSEC);
		EXPECT_TRUE(callout_disarm(self->ctx, t));
		memset(t, 0xff, sizeof(*t));
		free(t);
		expect_flush();
		sleep_ns(10 * MSEC);
		expect_flush();
		EXPECT_EQ(0, outstanding(self->ctx));
	}
}

/* Moved in one context, then armed in another. */
TEST_F(loop, later_and_elsewhere)
{
	struct callout_ctx *other;

	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &other, 16));
	armed(&self->t[0], MSEC);
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	ASSERT_EQ(0, callout_arm(other, &self->t[0], 0));
	EXPECT_EQ(1, callout_ctx_turn(other, WAIT_MS * MSEC));
	EXPECT_EQ(&self->t[0], callout_ctx_next(other, NULL));
	ASSERT_TRUE(wait_fired(self->ctx));
	expect_flush();
	EXPECT_EQ(0, outstanding(self->ctx));
	callout_ctx_destroy(other);
}

/* Moved to an earlier time in the same turn, and later again. */
TEST_F(loop, later_and_earlier)
{
	struct callout_event e;
	__u64 now;

	armed(&self->t[0], HOUR);
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 2 * HOUR));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], MSEC));
	now = callout_now(CLOCK_MONOTONIC);
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 20 * MSEC));
	expect_turn(1);
	ASSERT_EQ(&self->t[0], callout_ctx_next(self->ctx, &e));
	EXPECT_LE(now + 20 * MSEC, e.due);
	EXPECT_GT(now + HOUR, e.due);
}

/* Arm it with another slack, period or clock too. */
TEST_F(loop, later_otherwise)
{
	struct callout_timer *t = self->t;

	armed(&t[0], HOUR);
	t[0].slack = MSEC;
	expect_calls(0, armed(&t[0], HOUR));
	t[0].slack = 0;
	expect_calls(0, armed(&t[0], 2 * HOUR));
	t[0].period = HOUR;
	expect_calls(0, armed(&t[0], 3 * HOUR));
	t[0].period = 0;
	expect_calls(0, armed(&t[0], 5 * HOUR));
	/* Arming in another clock sets the other clock's callout, which the device tries first. */
	t[0].clockid = CLOCK_BOOTTIME;
	expect_calls(variant->on_timerfd ? 1 : 2, armed(&t[0], HOUR));
	expect_calls(0, armed(&t[0], 2 * HOUR));
	EXPECT_LT(HOUR, callout_remaining(&t[0]));
}

/* A timer that was moved to an earlier time counts as newly armed. */
TEST_F(loop, idle_after_an_earlier_time)
{
	__u64 now = callout_now(CLOCK_MONOTONIC), due;
	struct callout_timer *t = &self->t[0];
	int i;

	armed(t, 2 * HOUR);
	expect_calls(1, armed(t, HOUR));
	EXPECT_GE(HOUR, callout_remaining(t));
	EXPECT_LT(HOUR / 2, callout_remaining(t));
	due = callout_ctx_next_due(self->ctx);
	EXPECT_LE(now + HOUR, due);
	EXPECT_GE(callout_now(CLOCK_MONOTONIC) + HOUR, due);
	for (i = 0; i < 100; i++)
		expect_calls(0, expect_flush());
	expect_calls(0, armed(t, 2 * HOUR));
}

/* The time left counts in the timer's clock, whichever clock has moved it. */
TEST_F(loop, remaining_of_a_moved_timer)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct callout_timer *t;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		t = &self->t[i];
		t->clockid = clocks[i];
		armed(t, 3 * HOUR);
		ASSERT_EQ(0, callout_arm_at(self->ctx, t,
					    callout_now(clocks[i]) + 2 * HOUR));
		EXPECT_GE(2 * HOUR, callout_remaining(t));
		EXPECT_LT(HOUR, callout_remaining(t));
		EXPECT_EQ(0, callout_ctx_flush(self->ctx));
		EXPECT_GE(2 * HOUR, callout_remaining(t));
		EXPECT_LT(HOUR, callout_remaining(t));
		armed(t, HOUR);
		EXPECT_GE(HOUR, callout_remaining(t));
		EXPECT_LT(HOUR / 2, callout_remaining(t));
	}
}

TEST_F(loop, remaining)
{
	struct callout_timer *t = &self->t[0];

	EXPECT_EQ(CALLOUT_FOREVER, callout_remaining(t));
	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	EXPECT_EQ(HOUR, callout_remaining(t));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	EXPECT_GE(HOUR, callout_remaining(t));
	EXPECT_LT(HOUR / 2, callout_remaining(t));
	/* Moved to a later time, before the turn and after it. */
	ASSERT_EQ(0, callout_arm(self->ctx, t, 2 * HOUR));
	EXPECT_EQ(2 * HOUR, callout_remaining(t));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	EXPECT_GE(2 * HOUR, callout_remaining(t));
	EXPECT_LT(HOUR, callout_remaining(t));
	t->clockid = CLOCK_MONOTONIC;
	ASSERT_EQ(0, callout_arm_at(self->ctx, t, 0));
	EXPECT_EQ(0, callout_remaining(t));
	expect_turn(1);
	EXPECT_EQ(0, callout_remaining(t));
	EXPECT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(CALLOUT_FOREVER, callout_remaining(t));
	/* For a periodic timer it is the time until it fires next. */
	t->period = HOUR;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	EXPECT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_GE(HOUR, callout_remaining(t));
	EXPECT_LT(HOUR / 2, callout_remaining(t));
	EXPECT_TRUE(callout_disarm(self->ctx, t));
	EXPECT_EQ(CALLOUT_FOREVER, callout_remaining(t));
	/* It counts in the timer's clock. */
	self->t[1].clockid = CLOCK_BOOTTIME;
	armed(&self->t[1], HOUR);
	EXPECT_GE(HOUR, callout_remaining(&self->t[1]));
	EXPECT_LT(HOUR / 2, callout_remaining(&self->t[1]));
}

TEST_F(loop, next_due)
{
	__u64 due, now = callout_now(CLOCK_MONOTONIC);

	EXPECT_EQ(CALLOUT_FOREVER, callout_ctx_next_due(self->ctx));
	/* The next due time is known without a turn, a flush or a system call. */
	self->t[2].clockid = CLOCK_MONOTONIC;
	ASSERT_EQ(0, callout_arm_at(self->ctx, &self->t[2], now + 3 * HOUR));
	EXPECT_EQ(now + 3 * HOUR, callout_ctx_next_due(self->ctx));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	due = callout_ctx_next_due(self->ctx);
	EXPECT_LE(now + HOUR, due);
	EXPECT_GE(callout_now(CLOCK_MONOTONIC) + HOUR, due);
	EXPECT_EQ(due, callout_ctx_next_due(self->ctx));
	EXPECT_GE(due - now, callout_remaining(&self->t[0]));
	EXPECT_TRUE(callout_ctx_pending(self->ctx));
	EXPECT_EQ(0, told(self->ctx));
	armed(&self->t[1], 2 * HOUR);
	due = callout_ctx_next_due(self->ctx);
	EXPECT_LE(now + HOUR, due);
	EXPECT_GT(now + 2 * HOUR, due);
	armed(&self->t[1], 0);
	EXPECT_GE(callout_now(CLOCK_MONOTONIC), callout_ctx_next_due(self->ctx));
	expect_turn(1);
	EXPECT_EQ(0, callout_ctx_next_due(self->ctx));
	EXPECT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));
	/* A turn finds out. */
	expect_flush();
	EXPECT_EQ(due, callout_ctx_next_due(self->ctx));
	/* The time may be before the first timer is due. */
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	EXPECT_EQ(due, callout_ctx_next_due(self->ctx));
}

TEST_HARNESS_MAIN
