// SPDX-License-Identifier: GPL-2.0
/*
 * libcallout_order.c - overdue timers of libcallout come in the order of their times
 *
 * The wheel takes the time as an argument: its cases do not wait.
 */
#include <stdlib.h>

#include "loop.h"
#include "wheel.h"

#define BEGIN	1000000000000ULL

FIXTURE(order) {
	struct wheel wheel;
	struct callout_timer t[64];
	unsigned int looks;
};

FIXTURE_SETUP(order)
{
	memset(self->t, 0, sizeof(self->t));
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

/* Two of a slot of each level, however late they are looked for. */
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

/* Of one time, in the order of arming; more are armed between the two turns. */
TEST_F(order, of_one_time)
{
	unsigned int i, work = 12;

	add(&self->wheel, &self->t[0], BEGIN);
	for (i = 1; i < 20; i++)
		add(&self->wheel, &self->t[i], BEGIN + 1);
	/* Of 20 taken timers the first has come, and some have moved down. */
	EXPECT_EQ(&self->t[0], callout_wheel_pop(&self->wheel, BEGIN + 1, &work));
	EXPECT_EQ(NULL, callout_wheel_pop(&self->wheel, BEGIN + 1, &work));
	for (; i < 40; i++)
		add(&self->wheel, &self->t[i], BEGIN + 1);
	/* A time before the base counts as that. */
	add(&self->wheel, &self->t[40], 1);
	expect_pop(40, BEGIN + 1);
	for (i = 1; i < 40; i++)
		expect_pop(i, BEGIN + 1);
	expect_none(BEGIN + 1);
}

/* Many timers of one time are looked at once, if nothing else is in their slot. */
TEST_F(order, looks_of_one_time)
{
	unsigned int i;

	for (i = 0; i < 64; i++)
		add(&self->wheel, &self->t[i], BEGIN);
	for (i = 0; i < 64; i++)
		expect_pop(i, BEGIN + HOUR);
	EXPECT_EQ(64, self->looks);
	expect_none(BEGIN + HOUR);
}

/* At random: in order, and each is looked at once a level at most. */
TEST_F(order, random)
{
	unsigned int i, round, seed = 1;
	struct callout_timer *t;
	__u64 last, now = BEGIN;

	for (round = 0; round < 1000; round++) {
		for (i = 0; i < 64; i++) {
			if (!self->t[i]._filed)
				add(&self->wheel, &self->t[i], now +
				    (1ULL << rand_r(&seed) % 36) +
				    rand_r(&seed) % 1000);
		}
		now += 1ULL << rand_r(&seed) % 36;
		last = 0;
		for (i = 0; (t = pop(&self->wheel, now, &self->looks)); i++) {
			ASSERT_LE(last, t->_at);
			ASSERT_GE(now, t->_at);
			last = t->_at;
		}
		for (i = 0; i < 64; i++)
			ASSERT_FALSE(self->t[i]._filed && self->t[i]._at <= now);
	}
	EXPECT_GE(64000 * WHEEL_LEVELS, self->looks);
}

/* The same in a loop that is late. */
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
