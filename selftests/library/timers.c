// SPDX-License-Identifier: GPL-2.0
/*
 * timers.c - timers of libcallout, turn by turn
 */
#include <stdlib.h>

#include "lib/loop.h"

/*
 * Timeout in seconds of tests that take long where a kernel checks much, or on a
 * busy machine. Only a hang exceeds it.
 */
#define SLOW	1800

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
	EXPECT_EQ(0, told(self->ctx));
	expect_turn(1);
	t = callout_ctx_next(self->ctx, &e);
	ASSERT_EQ(&self->t[0], t);
	EXPECT_EQ(self, t->data);
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
	EXPECT_FALSE(callout_armed(&self->t[0]));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	self->t[0].clockid = CLOCK_PROCESS_CPUTIME_ID;
	EXPECT_EQ(-EINVAL, callout_arm(self->ctx, &self->t[0], HOUR));
	EXPECT_EQ(-EINVAL, callout_arm_at(self->ctx, &self->t[0], HOUR));
	EXPECT_FALSE(callout_armed(&self->t[0]));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	self->t[0].clockid = CLOCK_MONOTONIC;
	EXPECT_EQ(0, callout_arm_at(self->ctx, &self->t[0],
				    callout_now(CLOCK_MONOTONIC) + HOUR));
	/* A call that is refused leaves an armed timer unchanged. */
	self->t[0].slack = ~0ULL;
	EXPECT_EQ(-EINVAL, callout_arm(self->ctx, &self->t[0], 0));
	EXPECT_TRUE(callout_armed(&self->t[0]));
	EXPECT_LT(0, callout_remaining(&self->t[0]));
}

/* All timers share one callout, which is due when the first of them is. */
TEST_F(loop, one_callout)
{
	int i;
	__u64 now = callout_now(CLOCK_MONOTONIC);

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i],
					 (4 - i) * HOUR));
	EXPECT_EQ(0, outstanding(self->ctx));
	expect_flush();
	EXPECT_EQ(1, outstanding(self->ctx));
	EXPECT_LE(now + HOUR, due_by(self->ctx, CLOCK_MONOTONIC));
	EXPECT_GT(now + 2 * HOUR, due_from(self->ctx, CLOCK_MONOTONIC));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR / 2));
	expect_flush();
	EXPECT_EQ(1, outstanding(self->ctx));
	EXPECT_GT(now + HOUR, due_from(self->ctx, CLOCK_MONOTONIC));

	/* A timer that is armed and disarmed before a turn changes nothing. */
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
	EXPECT_TRUE(callout_disarm(self->ctx, &self->t[0]));
	EXPECT_FALSE(callout_armed(&self->t[0]));
	EXPECT_FALSE(callout_disarm(self->ctx, &self->t[0]));
	EXPECT_FALSE(callout_ctx_pending(self->ctx));
	expect_flush();
	EXPECT_LE(now + HOUR / 2, due_by(self->ctx, CLOCK_MONOTONIC));
}

/* Timers at all distances fire when they are due, however long the loop is away. */
TEST_F_TIMEOUT(loop, distances, SLOW)
{
	struct callout_timer t[40] = { 0 }, *fired;
	unsigned int i, got = 0;
	struct callout_event e;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		t[i].clockid = CLOCK_MONOTONIC;
		ASSERT_EQ(0, callout_arm(self->ctx, &t[i], 1ULL << i));
	}
	/* The last timer that the test waits for is due in 2 s. */
	while (got <= 31) {
		ASSERT_LT(0, callout_ctx_turn(self->ctx, WAIT_MS * MSEC));
		while ((fired = callout_ctx_next(self->ctx, &e))) {
			EXPECT_LE(e.due, e.fired);
			EXPECT_LE(e.fired, callout_now(CLOCK_MONOTONIC));
			got++;
		}
	}
	for (i = 0; i < ARRAY_SIZE(t); i++)
		EXPECT_EQ(i > 31, callout_disarm(self->ctx, &t[i]));
	for (i = 31; i < 63; i++) {
		ASSERT_EQ(0, callout_arm(self->ctx, &t[0], 1ULL << i));
		expect_flush();
		EXPECT_GE(1ULL << i, callout_remaining(&t[0]));
	}
	ASSERT_EQ(0, callout_arm(self->ctx, &t[0], TIME_MAX));
	expect_flush();
	t[0].slack = TIME_MAX;
	ASSERT_EQ(0, callout_arm(self->ctx, &t[0], TIME_MAX));
	expect_flush();
	EXPECT_TRUE(callout_disarm(self->ctx, &t[0]));
}

/* A timer may change its clock whenever it is armed; each has a callout. */
TEST_F(loop, other_clock)
{
	struct callout_timer *t = &self->t[0];
	int i;

	ASSERT_EQ(0, callout_arm(self->ctx, t, HOUR));
	expect_flush();
	EXPECT_EQ(CALLOUT_FOREVER, due_by(self->ctx, CLOCK_BOOTTIME));
	t->clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 2 * HOUR));
	expect_flush();
	EXPECT_NE(CALLOUT_FOREVER, due_by(self->ctx, CLOCK_BOOTTIME));
	EXPECT_EQ(2, outstanding(self->ctx));
	EXPECT_LT(HOUR, callout_remaining(t));

	/* Change the clock several times in one turn, for a waiting and a filed timer. */
	for (i = 0; i < 6; i++) {
		t->clockid = i & 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
		ASSERT_EQ(0, i & 2 ? callout_arm_at(self->ctx, t, HOUR) :
				     callout_arm(self->ctx, t, 0));
	}
	t->clockid = 0;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	EXPECT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_FALSE(callout_armed(t));
	expect_flush();
}

/* In one wait, timers of both clocks fire. */
TEST_F(loop, two_clocks)
{
	struct callout_event e;
	int i, got;

	for (i = 0; i < 4; i++) {
		self->t[i].clockid = i & 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i],
					 (i + 1) * 5 * MSEC));
	}
	for (got = 0; got < 4; ) {
		ASSERT_LT(0, callout_ctx_turn(self->ctx, CALLOUT_FOREVER));
		while (callout_ctx_next(self->ctx, &e)) {
			EXPECT_LE(e.due, callout_now(e.clockid));
			got++;
		}
	}
	expect_flush();
	EXPECT_EQ(0, outstanding(self->ctx));
}

/* A disarmed timer may be freed before the turn. */
TEST_F(loop, freed)
{
	struct callout_timer *t[100];
	unsigned int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			t[i] = calloc(1, sizeof(*t[i]));
			ASSERT_EQ(0, callout_arm(self->ctx, t[i],
						 round * MSEC));
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
		EXPECT_EQ(0, outstanding(self->ctx));
	}
}

/* A timer that has fired and was not handed out can be disarmed or re-armed. */
TEST_F(loop, fired_but_not_handed_out)
{
	struct callout_timer *t, *other;
	struct callout_event e;
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], 0));
	expect_turn(3);
	/* No more timers are looked for until these are handed out. */
	expect_turn(3);
	EXPECT_EQ(3, callout_ctx_flush(self->ctx));
	t = callout_ctx_next(self->ctx, &e);
	ASSERT_NE(NULL, t);
	expect_turn(2);
	/* One is disarmed, the other re-armed. */
	other = t == &self->t[1] ? &self->t[2] : &self->t[1];
	EXPECT_TRUE(callout_disarm(self->ctx, other));
	other = t == &self->t[0] ? (other == &self->t[1] ? &self->t[2] :
				    &self->t[1]) : &self->t[0];
	ASSERT_EQ(0, callout_arm(self->ctx, other, 20 * MSEC));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));
	expect_turn(1);
	EXPECT_EQ(other, callout_ctx_next(self->ctx, &e));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));
	expect_flush();
	EXPECT_EQ(0, outstanding(self->ctx));
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
	/* Disarm a timer between the read of its event and the handing out. */
	expect_turn(1);
	EXPECT_TRUE(callout_disarm(self->ctx, t));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, &e));

	/* No turn looked for the timer, so the periods that have passed are counted. */
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
	sleep_ns(100 * MSEC);
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, &e));
	EXPECT_LE(3, e.overrun);
	EXPECT_LE(e.due + e.overrun * t->period, e.fired);
	EXPECT_GT(e.due + (e.overrun + 1ULL) * t->period, e.fired);

	/* Without a period it is one-shot again. */
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, NULL));
	t->period = 0;
	ASSERT_EQ(0, callout_arm(self->ctx, t, 0));
	expect_turn(1);
	ASSERT_EQ(t, callout_ctx_next(self->ctx, NULL));
	EXPECT_FALSE(callout_armed(t));
	expect_flush();
	EXPECT_EQ(0, outstanding(self->ctx));
}

/*
 * A timer with an hour of slack may fire after a later timer without slack. A
 * timer that is past when it is submitted has no slack left, so on a slow machine
 * this takes longer.
 */
TEST_F(loop, slack)
{
	struct callout_timer *first;
	__u64 ahead = MSEC;
	int ret;

	for (;;) {
		self->t[0].slack = HOUR;
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], ahead));
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[1], 2 * ahead));
		ret = callout_ctx_turn(self->ctx, WAIT_MS * MSEC);
		ASSERT_LE(1, ret);
		first = callout_ctx_next(self->ctx, NULL);
		if (first == &self->t[1])
			break;
		/* Both may be past by then. */
		ASSERT_EQ(&self->t[0], first);
		ASSERT_EQ(ret == 2 ? &self->t[1] : NULL,
			  callout_ctx_next(self->ctx, NULL));
		ASSERT_GT(10 * SEC, ahead);
		callout_disarm(self->ctx, &self->t[1]);
		ahead *= 2;
	}
	/* Re-arm it without slack. */
	self->t[0].slack = 0;
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], MSEC));
	expect_turn(1);
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
}

/* A periodic timer that is always due is handed out once a turn. */
#define CROWD	5000

TEST_F_TIMEOUT(loop, periodic_in_a_crowd, SLOW)
{
	struct callout_timer *t, *crowd = calloc(CROWD, sizeof(*crowd));
	struct callout_timer periodic = { .period = 1 };
	unsigned int i, round, seen, others;
	struct callout_ctx *ctx;

	ASSERT_NE(NULL, crowd);
	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &ctx, 2 * CROWD));
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
		}
	}
	EXPECT_TRUE(callout_disarm(ctx, &periodic));
	EXPECT_EQ(0, callout_ctx_turn(ctx, 0));
	callout_ctx_destroy(ctx);
	free(crowd);
}

/* A periodic timer that is due in each turn does not delay the other clock's timers. */
TEST_F(loop, periodic_of_one_clock)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct callout_timer periodic = { .period = 1 }, other = { 0 }, *t;
	struct callout_ctx *ctx;
	unsigned int i, turns;

	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &ctx, 1));
	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		periodic.clockid = clocks[i];
		other.clockid = clocks[!i];
		ASSERT_EQ(0, callout_arm(ctx, &periodic, 0));
		ASSERT_EQ(0, callout_arm(ctx, &other, 0));
		for (turns = 0, t = NULL; t != &other; turns++) {
			ASSERT_GT(2, turns);
			ASSERT_EQ(1, callout_ctx_turn(ctx, 0));
			t = callout_ctx_next(ctx, NULL);
		}
	}
	callout_ctx_destroy(ctx);
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

/* More timers are due than a turn hands out. */
#define FIRE	1000U

TEST_F_TIMEOUT(loop, many, SLOW)
{
	unsigned int i, n = CALLOUT_BATCH_MAX + 1000, got = 0;
	struct callout_timer *t, *timers;
	int ret;

	timers = calloc(n, sizeof(*timers));
	ASSERT_NE(NULL, timers);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &timers[i], HOUR));
	expect_flush();
	EXPECT_EQ(1, outstanding(self->ctx));
	for (i = 0; i < FIRE; i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &timers[i], 0));
	for (; i < n; i++)
		ASSERT_TRUE(callout_disarm(self->ctx, &timers[i]));
	do {
		ret = callout_ctx_turn(self->ctx, WAIT_MS * MSEC);
		ASSERT_LT(0, ret);
		ASSERT_GE(16, ret);
		while ((t = callout_ctx_next(self->ctx, NULL))) {
			ASSERT_FALSE(callout_armed(t));
			/* Each fires once. */
			ASSERT_EQ(NULL, t->data);
			t->data = t;
			got++;
		}
	} while (got < FIRE);
	expect_flush();
	/* The callout of the disarmed timers. */
	EXPECT_GE(1, outstanding(self->ctx));
	free(timers);
}

/* Random timers agree with a model. */
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
	unsigned int i, steps, fired = 0, before, seed = 1;
	struct callout_timer *t;
	struct callout_event e;

	ASSERT_NE(NULL, models);
	while (fired < MODEL_FIRED) {
		before = fired;
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
		/* Some timers are left for the next turn. */
		for (i = rand_r(&seed) % 20; i; i--) {
			t = callout_ctx_next(self->ctx, &e);
			if (!t)
				break;
			m = (struct model *)t;
			ASSERT_TRUE(m->armed);
			ASSERT_LE(m->earliest, e.due);
			ASSERT_LE(e.due, e.fired);
			m->armed = e.flags & CALLOUT_EVENTF_PERIODIC;
			fired++;
		}
		if (fired > before)
			limit = callout_now(CLOCK_MONOTONIC) + WAIT_MS * MSEC;
		ASSERT_GT(limit, callout_now(CLOCK_MONOTONIC));
	}
	for (i = 0; i < MODELS; i++)
		ASSERT_EQ(models[i].armed,
			  callout_disarm(self->ctx, &models[i].timer));
	EXPECT_EQ(NULL, callout_ctx_next(self->ctx, NULL));
	expect_flush();
	EXPECT_GE(1, outstanding(self->ctx));
	free(models);
}

TEST_HARNESS_MAIN
