// SPDX-License-Identifier: GPL-2.0
/*
 * wheel.c - suite callout_wheel: the hashed wheel against its model
 *
 * Time is an argument: nothing here sleeps or looks at a clock.
 */
#include <linux/err.h>
#include <linux/limits.h>
#include "lib/env.h"
#include "lib/random_ops.h"
#include "wheel/hashed_wheel.h"

#define RANDOM_OPS	100000U
#define RANDOM_ENTRIES	200U

static const unsigned int geometries[] = { 4, 8, 64, 256, 16384 };

static void geometry_desc(const unsigned int *buckets, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u buckets", *buckets);
}

KUNIT_ARRAY_PARAM(geometry, geometries, geometry_desc);

/* The wheel agrees with the strict model, which has the wheel's additional guarantees. */
static void wheel_random_operations(struct kunit *test)
{
	unsigned int buckets = *(const unsigned int *)test->param_value;
	struct callout_model *m;
	struct rnd_state rng;

	callout_test_rng(test, &rng);
	m = callout_model_create(test, buckets, RANDOM_ENTRIES);
	callout_model_random_ops(m, &rng, buckets, 1ULL << 36, RANDOM_OPS);
}

/* Sizes that the mask or the index cannot handle are refused. */
static void wheel_create_refuses_bad_sizes(struct kunit *test)
{
	static const unsigned int bad[] = {
		0, 1, 2, 3, 5, 6, 12, 100, 16383, 16385,
		CALLOUT_WHEEL_MAX_BUCKETS - 1, CALLOUT_WHEEL_MAX_BUCKETS + 1,
		2 * CALLOUT_WHEEL_MAX_BUCKETS, U32_MAX,
	};
	struct callout_scheme_params params = { .node = NUMA_NO_NODE };
	struct callout_scheme *s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		params.buckets = bad[i];
		s = callout_hashed_wheel.create(&params);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(s), -EINVAL,
				    "%u buckets", bad[i]);
	}
}

/* The index reaches all buckets of the largest wheel. */
static void wheel_of_most_buckets(struct kunit *test)
{
	const u64 far = 5ULL * CALLOUT_WHEEL_MAX_BUCKETS - 1;
	struct callout_model *m;

	m = callout_model_create(test, CALLOUT_WHEEL_MAX_BUCKETS, 3);
	callout_model_start(m, &m->entry[0], far);
	callout_model_start(m, &m->entry[1], CALLOUT_WHEEL_MAX_BUCKETS / 2);
	callout_model_start(m, &m->entry[2], 0);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), 0);
	KUNIT_EXPECT_EQ(test, callout_model_chase(m), 0);
	KUNIT_EXPECT_EQ(test, m->now, far);
	callout_model_check(m);
}

/* From a bucket of the largest wheel to the root a search corrects at most 5 nodes. */
static void wheel_path_is_short(struct kunit *test)
{
	struct callout_model *m;
	const struct callout_ring *r;
	unsigned int i, node, nodes, most = 0;

	m = callout_model_create(test, CALLOUT_WHEEL_MAX_BUCKETS, 1);
	r = &to_wheel(m->s)->ring;
	for (i = 0; i <= r->mask; i += FANOUT) {
		nodes = 1;
		for (node = i >> FANOUT_SHIFT; node != r->root;
		     node = ring_parent(r, node))
			nodes++;
		most = max(most, nodes);
	}
	KUNIT_EXPECT_EQ(test, most, 5);
}

/* A tick with nothing due visits no entry, and uses no budget. */
static void wheel_idle_tick_looks_at_nothing(struct kunit *test)
{
	unsigned int buckets = *(const unsigned int *)test->param_value;
	struct callout_model *m;
	unsigned int budget;
	LIST_HEAD(due);
	u64 t;
	int i;

	m = callout_model_create(test, buckets, 1000);
	for (i = 0; i < 1000; i++)
		callout_model_start(m, &m->entry[i], 1000000 + 7 * i);
	for (t = 1; t < 1000000; t += t < 2000 ? 1 : 4999) {
		budget = CALLOUT_MIN_BUDGET;
		KUNIT_ASSERT_FALSE(test, m->s->ops->advance(m->s, t, &budget,
							    &due));
		KUNIT_ASSERT_EQ(test, budget, CALLOUT_MIN_BUDGET);
	}
	KUNIT_EXPECT_EQ(test, m->s->visits, 0);
	KUNIT_EXPECT_EQ(test, callout_model_chase(m), 0);
}

/* Stopped entries cause no wake-ups. */
static void wheel_stop_leaves_no_wakeups(struct kunit *test)
{
	unsigned int buckets = *(const unsigned int *)test->param_value;
	const unsigned int nr = 10000;
	struct callout_model *m;
	struct rnd_state rng;
	unsigned int i;

	callout_test_rng(test, &rng);
	m = callout_model_create(test, buckets, nr + 1);
	callout_model_start(m, &m->entry[nr], 100000000);
	for (i = 0; i < nr; i++)
		callout_model_start(m, &m->entry[i],
				    1 + callout_test_below(&rng, 50000));
	for (i = 0; i < nr; i++)
		callout_model_stop(m, &m->entry[i]);
	callout_model_check(m);
	/* The far entry's bucket may have had an earlier entry in it. */
	KUNIT_EXPECT_LE(test, callout_model_chase(m), 1);
	KUNIT_EXPECT_EQ(test, m->now, 100000000);
}

/* A lazily moved entry is requeued at most once, however often it was moved. */
static void wheel_lazy_rearm_costs_one_visit(struct kunit *test)
{
	const unsigned int nr = 1000, moves = 20;
	struct callout_model *m;
	struct rnd_state rng;
	unsigned int i, j;

	callout_test_rng(test, &rng);
	m = callout_model_create(test, 64, nr);
	for (i = 0; i < nr; i++)
		callout_model_start(m, &m->entry[i], 10 + i % 32);
	/* Many moves before the next visit cost as much as one move. */
	for (j = 0; j < moves; j++)
		for (i = 0; i < nr; i++)
			callout_model_rearm(m, &m->entry[i],
					    m->entry[i].expires +
					    callout_test_below(&rng, 1000));
	KUNIT_EXPECT_EQ(test, m->s->visits, 0);
	KUNIT_EXPECT_EQ(test, m->s->requeues, 0);
	/* One visit at the old place, and another if the entry was requeued ahead of the walk. */
	callout_model_advance_all(m, 42);
	callout_model_check(m);
	KUNIT_EXPECT_LE(test, m->s->visits, 2 * nr);
	KUNIT_EXPECT_GT(test, m->s->requeues, 0);
	KUNIT_EXPECT_EQ(test, callout_model_chase(m), 0);
	KUNIT_EXPECT_LE(test, m->s->requeues, nr);
}

/* An entry that is moved at each tick is visited once a period. */
static void wheel_hot_rearm_costs_one_visit_a_period(struct kunit *test)
{
	const u64 period = 100, end = 100 * period;
	struct callout_model *m;
	u64 t;

	m = callout_model_create(test, 64, 1);
	callout_model_start(m, &m->entry[0], period);
	for (t = 1; t <= end; t++) {
		callout_model_advance_all(m, t);
		callout_model_rearm(m, &m->entry[0], t + period);
	}
	KUNIT_EXPECT_EQ(test, m->fired, 0);
	KUNIT_EXPECT_LE(test, m->s->visits, end / period + 1);
	KUNIT_EXPECT_LE(test, callout_model_chase(m), 1);
}

/* Entries of the last tick come out; U64_MAX means never. */
static void wheel_last_tick(struct kunit *test)
{
	unsigned int buckets = *(const unsigned int *)test->param_value;
	struct callout_model *m = callout_model_create(test, buckets, 3);

	callout_model_start(m, &m->entry[0], U64_MAX - 1);
	callout_model_start(m, &m->entry[1], U64_MAX - 1);
	callout_model_start(m, &m->entry[2], 1);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), 1);
	callout_model_advance_all(m, U64_MAX - 2);
	KUNIT_EXPECT_EQ(test, m->fired, 1);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), U64_MAX - 1);
	callout_model_advance_all(m, U64_MAX - 1);
	KUNIT_EXPECT_EQ(test, m->fired, 3);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), U64_MAX);
	callout_model_check(m);
}

/* The cost of a jump is proportional to the due entries, not to the ticks. */
static void wheel_jump_costs_what_is_due(struct kunit *test)
{
	unsigned int buckets = *(const unsigned int *)test->param_value;
	const unsigned int nr = 500;
	struct callout_model *m;
	struct rnd_state rng;
	unsigned int i;
	u64 visits;

	callout_test_rng(test, &rng);
	m = callout_model_create(test, buckets, nr + 1);
	for (i = 0; i < nr; i++)
		callout_model_start(m, &m->entry[i],
				    1 + ((u64)prandom_u32_state(&rng) << 8));
	callout_model_start(m, &m->entry[nr], 1ULL << 50);
	/* The model checks the order, and that no entry is left behind. */
	callout_model_advance_all(m, 1ULL << 41);
	KUNIT_EXPECT_EQ(test, m->fired, nr);
	/* Each tick walks only its bucket. */
	KUNIT_EXPECT_LE(test, m->s->visits, (u64)(nr + 1) * (nr + 1));
	if (buckets >= 16384)
		KUNIT_EXPECT_LE(test, m->s->visits, 40 * nr);

	visits = m->s->visits;
	KUNIT_EXPECT_EQ(test, callout_model_advance_all(m, 1ULL << 45),
			CALLOUT_MIN_BUDGET);
	KUNIT_EXPECT_EQ(test, m->s->visits, visits);
	KUNIT_EXPECT_EQ(test, callout_model_chase(m), 0);
}

/* A search for the minimum makes progress with the least budget. */
static void wheel_least_budget_gets_further(struct kunit *test)
{
	unsigned int buckets = *(const unsigned int *)test->param_value;
	const u64 far = 100ULL * buckets;
	struct callout_model *m;
	unsigned int i, calls = 0;

	m = callout_model_create(test, buckets, buckets + 1);
	for (i = 0; i < buckets; i++)
		callout_model_start(m, &m->entry[i], buckets + i);
	/* The index above the buckets is too low after this. */
	for (i = 0; i < buckets; i++)
		callout_model_stop(m, &m->entry[i]);
	callout_model_start(m, &m->entry[buckets], far);
	while (callout_model_next_due(m, CALLOUT_MIN_BUDGET) != far) {
		KUNIT_ASSERT_LE(test, calls++, 16 + buckets / 4);
		if (calls % 16 == 0)
			callout_model_check(m);
	}
	callout_model_stop(m, &m->entry[buckets]);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), U64_MAX);
	callout_model_check(m);
}

/* A bound that a stop has left behind hides no entry from a wheel that was declared empty. */
static void wheel_empty_finds_what_follows(struct kunit *test)
{
	struct callout_model *m = callout_model_create(test, 4, 3);

	callout_model_start(m, &m->entry[0], 8);
	callout_model_stop(m, &m->entry[0]);
	co_wheel_empty(to_wheel(m->s));
	KUNIT_EXPECT_EQ(test, to_wheel(m->s)->next, U64_MAX);
	callout_model_check(m);
	/* In the same bucket, above its bound, and before the bounds of other buckets. */
	callout_model_start(m, &m->entry[1], 12);
	callout_model_start(m, &m->entry[2], 15);
	callout_model_check(m);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), 12);
	callout_model_advance_all(m, 12);
	KUNIT_EXPECT_EQ(test, m->fired, 1);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), 15);
	callout_model_advance_all(m, 15);
	KUNIT_EXPECT_EQ(test, m->fired, 2);
}

/* An entry for a tick that has already come is due, even after a search for the next tick. */
static void wheel_finds_late_entry(struct kunit *test)
{
	unsigned int buckets = *(const unsigned int *)test->param_value;
	struct callout_model *m = callout_model_create(test, buckets, 3);

	callout_model_start(m, &m->entry[0], 5);
	callout_model_start(m, &m->entry[1], 7ULL * buckets + 100);
	callout_model_advance_all(m, 5);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m),
			7ULL * buckets + 100);
	callout_model_start(m, &m->entry[2], 5);
	callout_model_check(m);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), 5);
	/* Late by more ticks than a walk looks at one by one. */
	callout_model_advance_all(m, 99);
	KUNIT_EXPECT_EQ(test, m->fired, 2);
}

/* A search does at most one unit of work for each cancel since the last search. */
static void wheel_search_pays_once_for_a_cancel(struct kunit *test)
{
	unsigned int buckets = *(const unsigned int *)test->param_value;
	struct callout_model *m;
	unsigned int i, budget;

	m = callout_model_create(test, buckets, buckets + 1);
	for (i = 0; i < buckets; i++)
		callout_model_start(m, &m->entry[i], buckets + i);
	for (i = 0; i < buckets; i++)
		callout_model_stop(m, &m->entry[i]);
	callout_model_start(m, &m->entry[buckets], 100ULL * buckets);
	budget = UINT_MAX;
	KUNIT_EXPECT_EQ(test, m->s->ops->next_due(m->s, &budget),
			100ULL * buckets);
	KUNIT_EXPECT_LE(test, UINT_MAX - budget, buckets);
	budget = UINT_MAX;
	m->s->ops->next_due(m->s, &budget);
	KUNIT_EXPECT_EQ(test, budget, UINT_MAX);
}

/* A search pays for each bucket that it looks at, and ends with its budget. */
static void wheel_search_keeps_to_its_budget(struct kunit *test)
{
	const unsigned int n = 1024;
	struct callout_model *m = callout_model_create(test, n, n);
	unsigned int left = CALLOUT_MIN_BUDGET, i;

	for (i = 0; i < n; i++)
		callout_model_start(m, &m->entry[i], n + i);
	for (i = 0; i < n - 1; i++)
		callout_model_stop(m, &m->entry[i]);
	KUNIT_EXPECT_LT(test, m->s->ops->next_due(m->s, &left), 2 * n - 1);
	KUNIT_EXPECT_EQ(test, left, 0);
}

static struct kunit_case wheel_cases[] = {
	KUNIT_CASE_PARAM(wheel_random_operations, geometry_gen_params),
	KUNIT_CASE(wheel_create_refuses_bad_sizes),
	KUNIT_CASE(wheel_of_most_buckets),
	KUNIT_CASE(wheel_path_is_short),
	KUNIT_CASE_PARAM(wheel_idle_tick_looks_at_nothing, geometry_gen_params),
	KUNIT_CASE_PARAM(wheel_stop_leaves_no_wakeups, geometry_gen_params),
	KUNIT_CASE(wheel_lazy_rearm_costs_one_visit),
	KUNIT_CASE(wheel_hot_rearm_costs_one_visit_a_period),
	KUNIT_CASE_PARAM(wheel_last_tick, geometry_gen_params),
	KUNIT_CASE_PARAM(wheel_jump_costs_what_is_due, geometry_gen_params),
	KUNIT_CASE_PARAM(wheel_least_budget_gets_further, geometry_gen_params),
	KUNIT_CASE_PARAM(wheel_search_pays_once_for_a_cancel, geometry_gen_params),
	KUNIT_CASE(wheel_empty_finds_what_follows),
	KUNIT_CASE_PARAM(wheel_finds_late_entry, geometry_gen_params),
	KUNIT_CASE(wheel_search_keeps_to_its_budget),
	{}
};

static struct kunit_suite wheel_suite = {
	.name = "callout_wheel",
	.test_cases = wheel_cases,
};

kunit_test_suite(wheel_suite);
