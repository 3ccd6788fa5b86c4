// SPDX-License-Identifier: GPL-2.0
/*
 * order.c - overdue timers of libcallout come in the order of their times
 *
 * The wheel takes the time as an argument, so its tests do not wait.
 */
#include <stdlib.h>

#include "lib/loop.h"

#define BEGIN	1000000000000ULL

/* More timers than a slot may have to be sorted, 64; and enough for several such slots. */
#define MANY	70U
#define CROWD	1024U

FIXTURE(order) {
	struct wheel wheel;
	struct callout_timer t[CROWD];
	unsigned int looks;
};

FIXTURE_SETUP(order)
{
	memset(self->t, 0, sizeof(self->t));
	/* The initial contents of a wheel's memory do not matter. */
	memset(&self->wheel, 0xff, sizeof(self->wheel));
	callout_wheel_init(&self->wheel, 0);
	self->looks = 0;
}

FIXTURE_TEARDOWN(order)
{
}

static void add(struct wheel *wheel, struct callout_timer *t, __u64 at)
{
	t->_at = at;
	callout_wheel_add(wheel, t);
}

static struct callout_timer *pop(struct wheel *wheel, __u64 now,
				 unsigned int *looks)
{
	unsigned int work = ~0U;
	struct callout_timer *t = callout_wheel_pop(wheel, now, &work);

	*looks += ~0U - work;
	return t;
}

#define expect_pop(index, now)						\
	EXPECT_EQ(&self->t[index], pop(&self->wheel, now, &self->looks))
#define expect_none(now)						\
	EXPECT_EQ(NULL, pop(&self->wheel, now, &self->looks))

/* Two timers of a slot come in order, at each level, however late the lookup. */
TEST_F(order, each_level)
{
	unsigned int level;
	__u64 begin;

	for (level = 1; level < WHEEL_LEVELS; level++) {
		callout_wheel_init(&self->wheel, 0);
		begin = 1ULL << 6 * level;
		add(&self->wheel, &self->t[0], 2 * begin - 1);
		add(&self->wheel, &self->t[1], begin + 1);
		add(&self->wheel, &self->t[2], begin);
		add(&self->wheel, &self->t[3], begin + begin / 2);
		expect_pop(2, TIME_MAX);
		expect_pop(1, TIME_MAX);
		expect_pop(3, TIME_MAX);
		expect_pop(0, TIME_MAX);
		expect_none(TIME_MAX);
	}
}

/* Timers of one time come in the order of arming. More are armed between the two turns. */
TEST_F(order, of_one_time)
{
	unsigned int i, work = 12;

	add(&self->wheel, &self->t[0], BEGIN);
	for (i = 1; i < MANY; i++)
		add(&self->wheel, &self->t[i], BEGIN + 1);
	/* The first of the taken timers has come, and some have moved down. */
	EXPECT_EQ(&self->t[0], callout_wheel_pop(&self->wheel, BEGIN + 1, &work));
	EXPECT_EQ(NULL, callout_wheel_pop(&self->wheel, BEGIN + 1, &work));
	for (; i < 2 * MANY; i++)
		add(&self->wheel, &self->t[i], BEGIN + 1);
	/* A time before the base counts as the base. */
	add(&self->wheel, &self->t[i], 1);
	expect_pop(i, BEGIN + 1);
	for (i = 1; i < 2 * MANY; i++)
		expect_pop(i, BEGIN + 1);
	expect_none(BEGIN + 1);
}

/* Timers of one time are looked at once, however many, if nothing else is in their slot. */
TEST_F(order, looks_of_one_time)
{
	unsigned int i, n;

	for (n = 1; n <= CROWD; n *= 4) {
		for (i = 0; i < n; i++)
			add(&self->wheel, &self->t[i], n * BEGIN);
		self->looks = 0;
		for (i = 0; i < n; i++)
			expect_pop(i, n * BEGIN + HOUR);
		EXPECT_EQ(n, self->looks);
		expect_none(n * BEGIN + HOUR);
	}
}

/*
 * Until all timers of a taken slot are looked at, timers that are armed up to the
 * slot's last time go behind them. A later timer is filed, and looked at once. Each
 * of few timers is only returned, each of many also moves down once.
 */
TEST_F(order, end_of_a_slot)
{
	unsigned int level, n, i, j;
	__u64 begin, last;

	for (i = 0; i < 2 * (WHEEL_LEVELS - 1); i++) {
		n = i % 2 ? MANY : 3;
		level = 1 + i / 2;
		callout_wheel_init(&self->wheel, 0);
		begin = 1ULL << 6 * level;
		last = 2 * begin - 1;
		add(&self->wheel, &self->t[0], begin);
		for (j = 1; j < n; j++)
			add(&self->wheel, &self->t[j], last);
		self->looks = 0;
		expect_pop(0, last);
		add(&self->wheel, &self->t[n], last);
		add(&self->wheel, &self->t[n + 1], last + 1);
		for (j = 1; j <= n; j++)
			expect_pop(j, last);
		expect_none(last);
		EXPECT_EQ(1 + (n == MANY ? 2 * n : n), self->looks);
		self->looks = 0;
		expect_pop(n + 1, last + 1);
		EXPECT_EQ(1, self->looks);
		expect_none(TIME_MAX);
	}
}

/* A timer that is armed before the sorted timers of a slot comes before them. */
TEST_F(order, before_the_sorted)
{
	add(&self->wheel, &self->t[0], 4096);
	add(&self->wheel, &self->t[1], 5000);
	expect_pop(0, 4096);
	expect_none(4100);
	EXPECT_EQ(5000, self->wheel.min);
	add(&self->wheel, &self->t[2], 4500);
	expect_none(4499);
	expect_pop(2, 4500);
	expect_pop(1, 5000);
	expect_none(TIME_MAX);
}

/* A timer goes behind taken timers of its time, also behind timers that have moved down. */
TEST_F(order, behind_the_taken)
{
	unsigned int i, work = 5;

	add(&self->wheel, &self->t[0], 4096);
	for (i = 1; i < MANY; i++)
		add(&self->wheel, &self->t[i], 8000);
	EXPECT_EQ(&self->t[0], callout_wheel_pop(&self->wheel, 8000, &work));
	EXPECT_EQ(NULL, callout_wheel_pop(&self->wheel, 8000, &work));
	add(&self->wheel, &self->t[i], 8000);
	for (i = 1; i <= MANY; i++)
		expect_pop(i, 8000);
	expect_none(TIME_MAX);
}

/* Timers that have grown are filed again, and no slot is taken when the work is done. */
TEST_F(order, work_for_the_grown)
{
	enum { SLOTS = 3, FEW = 64 };
	unsigned int i, work = FEW + 1;

	for (i = 0; i < SLOTS * FEW; i++)
		add(&self->wheel, &self->t[i], (1ULL + i / FEW) << 18);
	for (i = 0; i < SLOTS * FEW; i++)
		self->t[i]._at += HOUR;
	EXPECT_EQ(NULL, callout_wheel_pop(&self->wheel, 4ULL << 18, &work));
	EXPECT_EQ(3ULL << 18, self->wheel.min);
	expect_none(4ULL << 18);
	EXPECT_EQ(HOUR + (1ULL << 18), self->wheel.min);
}

/* Set back between two turns that move timers down, the wheel keeps the order of arming. */
TEST_F(order, set_back_in_a_slot)
{
	unsigned int i, work = 5;

	add(&self->wheel, &self->t[0], BEGIN);
	for (i = 1; i < MANY; i++)
		add(&self->wheel, &self->t[i], BEGIN + 1);
	EXPECT_EQ(&self->t[0], callout_wheel_pop(&self->wheel, BEGIN + 1, &work));
	EXPECT_EQ(NULL, callout_wheel_pop(&self->wheel, BEGIN + 1, &work));
	callout_wheel_set_back(&self->wheel, 1);
	for (i = 1; i < MANY; i++)
		expect_pop(i, BEGIN + 1);
	expect_none(TIME_MAX);
}

/* A turn at the start of a slot, in which nothing is due yet, keeps the slot's order. */
TEST_F(order, begin_of_a_slot)
{
	unsigned int level;
	__u64 begin;

	for (level = 1; level < WHEEL_LEVELS; level++) {
		callout_wheel_init(&self->wheel, 0);
		begin = 1ULL << 6 * level;
		add(&self->wheel, &self->t[0], 1);
		add(&self->wheel, &self->t[1], begin + 1);
		expect_pop(0, begin);
		expect_none(begin);
		add(&self->wheel, &self->t[2], begin + 1);
		expect_none(begin);
		expect_pop(1, begin + 1);
		expect_pop(2, begin + 1);
		expect_none(TIME_MAX);
	}
}

/* However long nothing was due, near timers are filed by the nanosecond. */
TEST_F(order, looks_after_a_pause)
{
	const __u64 now = (BEGIN + HOUR / 2) & ~63ULL;
	unsigned int i;

	add(&self->wheel, &self->t[0], BEGIN);
	add(&self->wheel, &self->t[63], BEGIN + HOUR);
	expect_pop(0, now);
	expect_none(now);
	self->looks = 0;
	for (i = 1; i < 63; i++)
		add(&self->wheel, &self->t[i], now + 63 - i);
	for (i = 62; i; i--)
		expect_pop(i, now + 62);
	EXPECT_EQ(62, self->looks);
	expect_pop(63, TIME_MAX);
}

/* With slack, a timer is filed for the last of its meeting times, none above TIME_MAX. */
TEST_F(order, meetings)
{
	__u64 due, slack, grain, time;
	unsigned int i, seed = 1;

	for (i = 0; i < 10000; i++) {
		due = ((__u64)rand_r(&seed) << 32 | rand_r(&seed)) >>
		      rand_r(&seed) % 62;
		slack = i ? 1 + ((__u64)rand_r(&seed) >> rand_r(&seed) % 31) :
			    TIME_MAX;
		if (i % 8 == 1)
			slack = TIME_MAX - (TIME_MAX >> rand_r(&seed) % 60);
		if (!slack)
			continue;
		for (grain = 1; grain <= slack / 2; grain *= 2)
			;
		time = (due + slack) / grain * grain;
		ASSERT_EQ(time < TIME_MAX ? time : TIME_MAX,
			  meeting(due, slack));
		ASSERT_LE(due, meeting(due, slack));
	}
}

/* Armed again, a timer stays where it is in the wheel, unless that is too late. */
TEST_F(order, place_in_the_wheel)
{
	struct callout_timer *t = self->t;
	struct callout_clock clock = { 0 };

	callout_wheel_init(&clock.wheel, 0);
	callout_file(&clock, &t[0], 1000);
	callout_file(&clock, &t[1], 1000);
	callout_file(&clock, &t[0], 1000);
	EXPECT_EQ(&t[1]._wheel, t[0]._wheel.next);
	callout_file(&clock, &t[0], 2000);
	EXPECT_EQ(&t[1]._wheel, t[0]._wheel.next);
	EXPECT_EQ(2000, t[0]._at);
	t[0]._slack = 600;
	callout_file(&clock, &t[0], 1500);
	EXPECT_EQ(&t[1]._wheel, t[0]._wheel.next);
	EXPECT_EQ(2048, t[0]._at);
	EXPECT_EQ(1500, t[0]._due);
	callout_file(&clock, &t[0], 100);
	EXPECT_NE(&t[1]._wheel, t[0]._wheel.next);
	EXPECT_EQ(512, t[0]._at);
	EXPECT_EQ(100, t[0]._due);
	EXPECT_EQ(512, clock.wheel.min);
	EXPECT_EQ(&t[0], pop(&clock.wheel, 512, &self->looks));
	EXPECT_EQ(NULL, pop(&clock.wheel, 999, &self->looks));
	EXPECT_EQ(&t[1], pop(&clock.wheel, 1000, &self->looks));

	/* A sorted timer does not stay: the next would wait for it. */
	t[0]._slack = 0;
	callout_file(&clock, &t[0], 5000);
	callout_file(&clock, &t[1], 5010);
	callout_file(&clock, &t[2], 5020);
	EXPECT_EQ(&t[0], pop(&clock.wheel, 5000, &self->looks));
	callout_file(&clock, &t[1], 6000);
	EXPECT_EQ(&t[2], pop(&clock.wheel, 5020, &self->looks));
	EXPECT_EQ(NULL, pop(&clock.wheel, 5999, &self->looks));
	EXPECT_EQ(&t[1], pop(&clock.wheel, 6000, &self->looks));
}

/* Random timers come in order, and each is looked at no more than once a level. */
TEST_F(order, random)
{
	unsigned int i, round, seed = 1;
	struct callout_timer *t;
	__u64 last, now = BEGIN;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < CROWD; i++) {
			if (!self->t[i]._filed)
				add(&self->wheel, &self->t[i], now +
				    (1ULL << rand_r(&seed) % 12 * 3) +
				    rand_r(&seed) % 1000);
		}
		now += 1ULL << rand_r(&seed) % 36;
		last = 0;
		for (i = 0; (t = pop(&self->wheel, now, &self->looks)); i++) {
			ASSERT_LE(last, t->_at);
			ASSERT_GE(now, t->_at);
			last = t->_at;
		}
		for (i = 0; i < CROWD; i++)
			ASSERT_FALSE(self->t[i]._filed && self->t[i]._at <= now);
	}
	EXPECT_GE(100 * CROWD * WHEEL_LEVELS, self->looks);
}

/* After the clock was set back no timer is early, no timer is lost, and they come in order. */
TEST_F(order, set_back)
{
	unsigned int i, round, seed = 1, work;
	struct callout_timer *t;
	__u64 last, now = BEGIN;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < CROWD; i++) {
			if (!self->t[i]._filed)
				add(&self->wheel, &self->t[i], now +
				    (1ULL << rand_r(&seed) % 12 * 3));
		}
		now += 1ULL << rand_r(&seed) % 36;
		work = rand_r(&seed) % CROWD;
		while (callout_wheel_pop(&self->wheel, now, &work))
			;
		now -= 1ULL << rand_r(&seed) % 36;
		if (now < self->wheel.base)
			callout_wheel_set_back(&self->wheel, now);
		last = 0;
		while ((t = pop(&self->wheel, now, &self->looks))) {
			ASSERT_LE(last, t->_at);
			ASSERT_GE(now, t->_at);
			last = t->_at;
		}
		for (i = 0; i < CROWD; i++)
			ASSERT_FALSE(self->t[i]._filed && self->t[i]._at <= now);
	}
	for (i = 0; i < CROWD; i++)
		if (self->t[i]._filed)
			ASSERT_LE(self->wheel.min, self->t[i]._at);
	while (pop(&self->wheel, TIME_MAX, &self->looks))
		;
	for (i = 0; i < CROWD; i++)
		EXPECT_FALSE(self->t[i]._filed);
}

/* A loop that is late gets its timers in the order of their times. */
TEST_F(loop, late)
{
	static const unsigned int ms[] = { 3, 1, 2, 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ms); i++)
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], ms[i] * MSEC));
	EXPECT_EQ(0, callout_ctx_flush(self->ctx));
	sleep_ns(10 * MSEC);
	expect_turn(4);
	EXPECT_EQ(&self->t[1], callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(&self->t[3], callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(&self->t[2], callout_ctx_next(self->ctx, NULL));
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));
}

TEST_HARNESS_MAIN
