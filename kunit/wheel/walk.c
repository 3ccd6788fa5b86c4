// SPDX-License-Identifier: GPL-2.0
/*
 * walk.c - suite callout_walk: operations between two parts of a bucket's walk
 *
 * advance and take stop when their budget ends, which may be in the middle of a
 * bucket. Each case stops them there, changes entries at the cursor, and has
 * the model check the rest of the walk.
 */
#include "lib/env.h"
#include "wheel/hashed_wheel.h"

/* More than advance with the least budget can move in one call. */
#define NR_EQUAL	40U
#define TICK		100003ULL
#define SPARE		8U

static const unsigned int geometries[] = { 4, 8, 1024 };

static void geometry_desc(const unsigned int *buckets, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u buckets", *buckets);
}

KUNIT_ARRAY_PARAM(geometry, geometries, geometry_desc);

static unsigned int case_buckets(struct kunit *test)
{
	return *(const unsigned int *)test->param_value;
}

/*
 * Begin a walk for TICK over entries 0 to NR_EQUAL - 1, and stop it halfway. @next
 * is the entry at the cursor. SPARE more entries are not queued.
 */
static struct callout_model *begin_walk(struct kunit *test,
					struct callout_model_entry **next)
{
	struct callout_model *m;
	unsigned int i;

	m = callout_model_create(test, case_buckets(test), NR_EQUAL + SPARE);
	for (i = 0; i < NR_EQUAL; i++)
		callout_model_start(m, &m->entry[i], TICK);
	KUNIT_ASSERT_TRUE(test, callout_model_advance(m, TICK,
						      CALLOUT_MIN_BUDGET));
	KUNIT_ASSERT_GT(test, m->fired, 0);
	KUNIT_ASSERT_LT(test, m->fired, NR_EQUAL - 4);
	*next = &m->entry[m->fired];
	callout_model_check(m);
	return m;
}

static void end_walk(struct kunit *test, struct callout_model *m,
		     unsigned int fired)
{
	callout_model_check(m);
	callout_model_advance_all(m, TICK);
	callout_model_check(m);
	KUNIT_EXPECT_EQ(test, m->fired, fired);
	KUNIT_EXPECT_LE(test, callout_model_chase(m), 1);
	callout_model_check(m);
}

/* Stopping the entry at the cursor moves the cursor forward. */
static void walk_stop_next(struct kunit *test)
{
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);

	callout_model_stop(m, next);
	callout_model_stop(m, next + 1);
	end_walk(test, m, NR_EQUAL - 2);
}

/* As walk_stop_next(), but the entry is queued elsewhere at once (ABA). */
static void walk_stop_next_and_file_elsewhere(struct kunit *test)
{
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);

	callout_model_stop(m, next);
	callout_model_start(m, next, TICK + 1);
	end_walk(test, m, NR_EQUAL - 1);
}

/* The walk ends with its bucket, even if the last entry was stopped. */
static void walk_stop_last(struct kunit *test)
{
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);

	callout_model_stop(m, &m->entry[NR_EQUAL - 1]);
	end_walk(test, m, NR_EQUAL - 1);
}

/* When the rest of a bucket was stopped, no bound remains. */
static void walk_stop_all(struct kunit *test)
{
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);
	unsigned int fired = m->fired, i;

	for (i = fired; i < NR_EQUAL; i++)
		callout_model_stop(m, &m->entry[i]);
	callout_model_check(m);
	KUNIT_EXPECT_EQ(test, callout_model_next_due(m, 100), U64_MAX);
	end_walk(test, m, fired);
}

/* Entries that are queued with the cursor at the end are not missed. */
static void walk_stop_all_and_start(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);
	unsigned int fired = m->fired, i;

	for (i = fired; i < NR_EQUAL; i++)
		callout_model_stop(m, &m->entry[i]);
	callout_model_start(m, &m->entry[0], TICK + 7 * buckets);
	callout_model_start(m, &m->entry[1], TICK + 3 * buckets);
	callout_model_start(m, &m->entry[2], TICK);
	callout_model_start(m, &m->entry[3], TICK - 2 * buckets);
	callout_model_check(m);
	callout_model_next_due_all(m);
	end_walk(test, m, fired + 2);
	KUNIT_EXPECT_EQ(test, m->now, TICK + 7 * buckets);
}

/* As walk_stop_all_and_start(), with an entry of a later lap that the walk has passed. */
static void walk_left_behind(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model *m;
	unsigned int i;

	m = callout_model_create(test, buckets, NR_EQUAL + SPARE);
	callout_model_start(m, &m->entry[NR_EQUAL], TICK + 2 * buckets);
	for (i = 0; i < NR_EQUAL; i++)
		callout_model_start(m, &m->entry[i], TICK);
	KUNIT_ASSERT_TRUE(test, callout_model_advance(m, TICK,
						      CALLOUT_MIN_BUDGET));
	KUNIT_ASSERT_EQ(test, m->s->visits, m->fired + 1);
	for (i = m->fired; i < NR_EQUAL; i++)
		callout_model_stop(m, &m->entry[i]);
	callout_model_check(m);
	/* The bucket's new bound is the expiry of the entry that was passed. */
	callout_model_start(m, &m->entry[0], TICK + 5 * buckets);
	callout_model_check(m);
	callout_model_next_due_all(m);
	callout_model_advance_all(m, TICK);
	callout_model_check(m);
	KUNIT_EXPECT_EQ(test, callout_model_chase(m), 0);
	KUNIT_EXPECT_EQ(test, m->now, TICK + 5 * buckets);
}

/* New entries of later laps neither come out early nor are lost. */
static void walk_start_for_later_lap(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);

	callout_model_start(m, &m->entry[NR_EQUAL], TICK + 5 * buckets);
	callout_model_start(m, &m->entry[NR_EQUAL + 1], TICK + buckets);
	callout_model_start(m, &m->entry[NR_EQUAL + 2], TICK);
	end_walk(test, m, NR_EQUAL + 1);
	KUNIT_EXPECT_EQ(test, m->now, TICK + 5 * buckets);
}

/* Entries queued for ticks before the tick being walked come out, from any bucket. */
static void walk_start_in_the_past(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);

	callout_model_start(m, &m->entry[NR_EQUAL], TICK - buckets);
	callout_model_start(m, &m->entry[NR_EQUAL + 1], TICK - 1);
	callout_model_start(m, &m->entry[NR_EQUAL + 2], 0);
	callout_model_check(m);
	KUNIT_EXPECT_EQ(test, callout_model_next_due(m, 100), 0);
	end_walk(test, m, NR_EQUAL + 3);
}

/* A lazy move of the entry at the cursor does not make it fire early, nor get lost. */
static void walk_rearm_next_later(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);

	callout_model_rearm(m, next, TICK + 1);
	callout_model_rearm(m, next + 1, TICK + buckets);
	callout_model_rearm(m, next + 2, TICK + 3 * buckets + 2);
	end_walk(test, m, NR_EQUAL - 3);
}

/* As walk_rearm_next_later(), but to an earlier time, which requeues the entry. */
static void walk_rearm_next_earlier(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);

	callout_model_rearm(m, next, TICK - 1);
	callout_model_rearm(m, next + 1, TICK - buckets);
	end_walk(test, m, NR_EQUAL);
}

/* An entry that the walk has passed can be moved to become due. */
static void walk_rearm_left_behind_earlier(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model *m;
	unsigned int i;

	m = callout_model_create(test, buckets, NR_EQUAL + SPARE);
	for (i = 0; i < 4; i++)
		callout_model_start(m, &m->entry[NR_EQUAL + i],
				    TICK + (2 + i) * buckets);
	for (i = 0; i < NR_EQUAL; i++)
		callout_model_start(m, &m->entry[i], TICK);
	KUNIT_ASSERT_TRUE(test, callout_model_advance(m, TICK,
						      CALLOUT_MIN_BUDGET));
	KUNIT_ASSERT_GT(test, m->fired, 0);
	callout_model_rearm(m, &m->entry[NR_EQUAL], TICK);
	callout_model_rearm(m, &m->entry[NR_EQUAL + 1], TICK + buckets);
	callout_model_rearm(m, &m->entry[NR_EQUAL + 2], TICK - 1);
	callout_model_rearm(m, &m->entry[NR_EQUAL + 3], TICK + 9 * buckets);
	end_walk(test, m, NR_EQUAL + 2);
	KUNIT_EXPECT_EQ(test, m->now, TICK + 9 * buckets);
}

/* A walk keeps its tick while time advances. */
static void walk_while_time_goes_on(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);
	u64 now = TICK;

	callout_model_start(m, &m->entry[NR_EQUAL], TICK + buckets);
	callout_model_start(m, &m->entry[NR_EQUAL + 1], TICK + 1);
	callout_model_start(m, &m->entry[NR_EQUAL + 2], TICK + 2 * buckets);
	while (callout_model_advance(m, now, CALLOUT_MIN_BUDGET))
		now += 10 * buckets;
	KUNIT_EXPECT_EQ(test, callout_model_chase(m), 0);
	KUNIT_EXPECT_EQ(test, m->fired, NR_EQUAL + 3);
}

/* take leaves no cursor behind in a bucket that it has emptied. */
static void walk_take(struct kunit *test)
{
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);
	unsigned int i;

	callout_model_start(m, &m->entry[NR_EQUAL], TICK + 1);
	callout_model_take_all(m);
	callout_model_check(m);
	KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m), U64_MAX);
	for (i = 0; i < NR_EQUAL; i++)
		callout_model_start(m, &m->entry[i], TICK + i % 2);
	callout_model_advance_all(m, TICK);
	KUNIT_EXPECT_EQ(test, callout_model_chase(m), 0);
}

/* The bounds are right when take has stopped halfway. */
static void walk_take_in_pieces(struct kunit *test)
{
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);
	unsigned int fired = m->fired;

	KUNIT_ASSERT_TRUE(test, callout_model_take(m, CALLOUT_MIN_BUDGET));
	callout_model_check(m);
	callout_model_next_due_all(m);
	/* Of the remaining entries stop one and move one, and queue another. */
	callout_model_stop(m, &m->entry[NR_EQUAL - 1]);
	callout_model_rearm(m, &m->entry[NR_EQUAL - 2], TICK + 1);
	callout_model_start(m, &m->entry[NR_EQUAL], TICK);
	callout_model_check(m);
	callout_model_advance_all(m, TICK);
	KUNIT_EXPECT_GT(test, m->fired, fired);
	KUNIT_EXPECT_EQ(test, m->queued, 1);
	callout_model_take_all(m);
	callout_model_check(m);
}

/* The number of entries in all buckets of a ring. */
static unsigned int ring_count(const struct callout_ring *r)
{
	unsigned int i, n = 0;
	struct list_head *pos;

	for (i = 0; r->bucket && i <= r->mask; i++)
		list_for_each(pos, &r->bucket[i].head)
			n++;
	return n;
}

/* Moving a bucket to another ring also stops halfway, when its budget ends. */
static void walk_resize_in_pieces(struct kunit *test)
{
	unsigned int buckets = case_buckets(test), before, after;
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);
	struct callout_wheel *w = to_wheel(m->s);
	bool more;

	callout_model_resize(m, 2 * buckets);
	before = ring_count(&w->old);
	KUNIT_EXPECT_EQ(test, before, NR_EQUAL - m->fired);
	do {
		more = callout_model_move(m, CALLOUT_MIN_BUDGET);
		after = ring_count(&w->old);
		KUNIT_ASSERT_LE(test, before - after, CALLOUT_MIN_BUDGET);
		before = after;
		callout_model_check(m);
	} while (more);
	KUNIT_EXPECT_EQ(test, after, 0);
	end_walk(test, m, NR_EQUAL);
}

static void move_all(struct callout_model *m)
{
	while (callout_model_move(m, CALLOUT_MIN_BUDGET))
		callout_model_check(m);
	callout_model_check(m);
}

/* Entries that move out of the bucket being walked keep their order. */
static void walk_resize(struct kunit *test)
{
	unsigned int buckets = case_buckets(test);
	struct callout_model_entry *next;
	struct callout_model *m = begin_walk(test, &next);

	callout_model_resize(m, 4 * buckets);
	callout_model_start(m, &m->entry[NR_EQUAL], TICK);
	callout_model_start(m, &m->entry[NR_EQUAL + 1], TICK + buckets);
	/* Move everything up to the bucket, and a part of the bucket. */
	callout_model_move(m, TICK % buckets + 5);
	callout_model_advance(m, TICK, CALLOUT_MIN_BUDGET);
	move_all(m);
	end_walk(test, m, NR_EQUAL + 1);
	KUNIT_EXPECT_EQ(test, m->now, TICK + buckets);
}

/* An entry that moves into the bucket, before the cursor, has a bound. */
static void walk_resized(struct kunit *test)
{
	unsigned int buckets = case_buckets(test), i;
	struct callout_model *m;

	m = callout_model_create(test, 4 * buckets, NR_EQUAL + SPARE);
	callout_model_start(m, &m->entry[NR_EQUAL], TICK + 2 * buckets);
	callout_model_resize(m, buckets);
	for (i = 0; i < NR_EQUAL; i++)
		callout_model_start(m, &m->entry[i], TICK);
	KUNIT_ASSERT_TRUE(test, callout_model_advance(m, TICK,
						      CALLOUT_MIN_BUDGET));
	KUNIT_ASSERT_GT(test, m->fired, 0);
	move_all(m);
	end_walk(test, m, NR_EQUAL);
	KUNIT_EXPECT_EQ(test, m->now, TICK + 2 * buckets);
}

/* A walk pays for the buckets that it finds empty, and ends with its budget. */
static void walk_pays_for_empty_buckets(struct kunit *test)
{
	const unsigned int n = 100;
	struct callout_model *m = callout_model_create(test, 1024, n);
	unsigned int left = CALLOUT_MIN_BUDGET, i;
	LIST_HEAD(due);

	/* Now the first entry is where the walk begins. */
	co_wheel_empty(to_wheel(m->s));
	for (i = 0; i < n; i++)
		callout_model_start(m, &m->entry[i], TICK + i);
	for (i = 0; i < n; i++)
		callout_model_stop(m, &m->entry[i]);
	KUNIT_EXPECT_TRUE(test, m->s->ops->advance(m->s, TICK + n - 1, &left, &due));
	KUNIT_EXPECT_EQ(test, left, 0);
}

static struct kunit_case walk_cases[] = {
	KUNIT_CASE_PARAM(walk_stop_next, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_stop_next_and_file_elsewhere,
			 geometry_gen_params),
	KUNIT_CASE_PARAM(walk_stop_last, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_stop_all, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_stop_all_and_start, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_left_behind, geometry_gen_params),
	KUNIT_CASE(walk_pays_for_empty_buckets),
	KUNIT_CASE_PARAM(walk_start_for_later_lap, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_start_in_the_past, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_rearm_next_later, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_rearm_next_earlier, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_rearm_left_behind_earlier, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_while_time_goes_on, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_take, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_take_in_pieces, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_resize, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_resize_in_pieces, geometry_gen_params),
	KUNIT_CASE_PARAM(walk_resized, geometry_gen_params),
	{}
};

static struct kunit_suite walk_suite = {
	.name = "callout_walk",
	.test_cases = walk_cases,
};

kunit_test_suite(walk_suite);
