// SPDX-License-Identifier: GPL-2.0
/*
 * litmus.c - runs litmus tests on the module's own code
 *
 * The case's thread is side 0, a thread on another CPU side 1. In each round the
 * sides meet, so that both begin at about the same time. Each side waits for a
 * random time, and does its part of the test. A test that has never seen the two
 * sides in its window has tested nothing, and fails. How many rounds fit in the
 * time depends on the machine. There are always enough rounds for that failure to
 * be certain.
 */
#include "litmus.h"

/*
 * The least number of rounds, however slow the machine is, and the most if the
 * window was not seen.
 */
#define LEAST_ROUNDS	300U
#define MOST_ROUNDS	30000U

/* Let the other side, which may need this CPU's host, reach @round. */
static void litmus_await(const unsigned int *at, unsigned int round)
{
	unsigned int turns = 0;

	while (callout_test_counted(at) != round) {
		cpu_relax();
		if (++turns % 256 == 0)
			cond_resched();
	}
}

static void litmus_side(struct litmus *l, unsigned int side)
{
	unsigned int turns = callout_test_below(&l->rng[side], l->ops->spread);

	while (turns--)
		barrier();
	l->begin[side] = ktime_get_ns();
	if (side)
		l->ops->side1(l);
	else
		l->ops->side0(l);
	l->end[side] = ktime_get_ns();
}

static void litmus_other(void *arg)
{
	struct litmus *l = arg;
	unsigned int round;

	for (round = 1; ; round++) {
		litmus_await(&l->round, round);
		if (l->stop)
			return;
		if (l->ops->prepare_other)
			l->ops->prepare_other(l);
		callout_test_count(&l->ready);
		litmus_await(&l->go, round);
		litmus_side(l, 1);
		callout_test_count(&l->done);
	}
}

/* Run a round. Return false if the test cannot be prepared. */
static bool litmus_round(struct litmus *l, unsigned int round)
{
	if (!l->ops->prepare(l))
		return false;
	callout_test_count(&l->round);
	litmus_await(&l->ready, round);
	callout_test_count(&l->go);
	litmus_side(l, 0);
	litmus_await(&l->done, round);
	return true;
}

/* Is another round needed after @round rounds? */
static bool litmus_goes_on(struct litmus *l, unsigned int round,
			   unsigned int seen, u64 end)
{
	if (l->wrong[0] || l->wrong[1])
		return false;
	if (round < LEAST_ROUNDS || ktime_get_ns() < end)
		return true;
	return !seen && round < MOST_ROUNDS;
}

/* Run a test. The case's thread is pinned. */
void callout_litmus_run(struct kunit *test, const struct litmus_ops *ops, void *data)
{
	struct litmus *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	struct callout_test_thread *t;
	unsigned int round = 0, seen = 0;
	bool able = true;
	u64 end;

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->ops = ops;
	l->data = data;
	l->cpu[1] = callout_test_pin_one(test);
	l->cpu[0] = raw_smp_processor_id();
	callout_test_rng(test, &l->rng[0]);
	prandom_seed_state(&l->rng[1], prandom_u32_state(&l->rng[0]));
	t = callout_test_thread(test, l->cpu[1], litmus_other, l);
	end = ktime_get_ns() + callout_test_litmus_ns();
	while (able && litmus_goes_on(l, round, seen, end)) {
		able = litmus_round(l, round + 1);
		if (able) {
			round++;
			seen += ops->seen(l);
		}
	}
	l->stop = true;
	callout_test_count(&l->round);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	kunit_info(test, "%u rounds, the window seen in %u\n", round, seen);
	KUNIT_EXPECT_TRUE(test, able);
	KUNIT_EXPECT_GT(test, seen, 0);
	KUNIT_EXPECT_EQ(test, l->wrong[0], 0);
	KUNIT_EXPECT_EQ(test, l->wrong[1], 0);
}
