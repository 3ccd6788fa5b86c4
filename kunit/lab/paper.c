// SPDX-License-Identifier: GPL-2.0
/*
 * paper.c - suite callout_paper: the worked examples of Varghese and Lauck
 *
 * Each case starts the callouts of an example in its scheme, and checks that they
 * are where the paper says. The model checks everything else.
 */
#include <linux/numa.h>
#include "lib/env.h"
#include "wheel/hashed_wheel.h"
#include "lab/ring.h"

#define SECONDS(d, h, m, s)	((((d) * 24ULL + (h)) * 60 + (m)) * 60 + (s))

static const struct callout_scheme_ops *paper_scheme(struct kunit *test,
						     const char *name)
{
	const struct callout_scheme_ops *ops = co_scheme_find(name);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	return ops;
}

static struct callout_model *
paper_model(struct kunit *test, const char *name, const char *variant, u64 now,
	    unsigned int nr)
{
	const struct callout_scheme_ops *ops = paper_scheme(test, name);
	/* Seconds, minutes, hours and days. */
	struct callout_scheme_params p = {
		.buckets = 256,
		.nr_levels = ops->flags & CALLOUT_TAKES_LEVELS ? 4 : 0,
		.level = { 60, 60, 24, 100 },
		.now = now,
		.node = NUMA_NO_NODE,
	};

	while (variant && strcmp(ops->variants[p.variant], variant)) {
		p.variant++;
		KUNIT_ASSERT_NOT_NULL(test, ops->variants[p.variant]);
	}
	return callout_model_new(test, ops, &p, nr);
}

/*
 * Section III.B, figure 1: with timers for 10:23:12 and two later times queued,
 * 10:24:01 goes between the second and the third timer.
 */
static void paper_sorted_list(struct kunit *test)
{
	static const char *const variants[] = { "head", "rear" };
	struct callout_model *m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		m = paper_model(test, "sorted_list", variants[i],
				SECONDS(0, 10, 23, 0), 4);
		callout_model_start(m, &m->entry[0], SECONDS(0, 10, 23, 12));
		callout_model_start(m, &m->entry[1], SECONDS(0, 10, 23, 24));
		callout_model_start(m, &m->entry[2], SECONDS(0, 10, 24, 3));
		callout_model_start(m, &m->entry[3], SECONDS(0, 10, 24, 1));
		KUNIT_EXPECT_PTR_EQ(test, m->entry[1].c.entry.next,
				    &m->entry[3].c.entry);
		KUNIT_EXPECT_PTR_EQ(test, m->entry[3].c.entry.next,
				    &m->entry[2].c.entry);
		callout_model_chase(m);
		KUNIT_EXPECT_EQ(test, m->now, SECONDS(0, 10, 24, 3));
	}
}

static bool is_alone_in(struct callout_model *m, u64 element,
			struct callout_model_entry *e)
{
	struct list_head *slot = co_ring_slot(to_ring(m->s), element);

	return slot->next == &e->c.entry && list_is_singular(slot);
}

/*
 * Section V, figure 5: a timer of j units goes to element i + j modulo
 * MaxInterval. Here both are added in an array of 256.
 */
static void paper_timing_wheel(struct kunit *test)
{
	struct callout_model *m;

	m = paper_model(test, "timing_wheel", NULL, 10, 2);
	callout_model_start(m, &m->entry[0], 10 + 20);
	callout_model_start(m, &m->entry[1], 10 + 250);
	KUNIT_EXPECT_TRUE(test, is_alone_in(m, 30, &m->entry[0]));
	KUNIT_EXPECT_TRUE(test, is_alone_in(m, 4, &m->entry[1]));
	callout_model_chase(m);
	KUNIT_EXPECT_EQ(test, m->now, 260);
}

static const char *const hashed[] = { "sorted_wheel", "hashed_wheel_paper" };

static void hashed_desc(const char *const *name, char *desc)
{
	strscpy(desc, *name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(hashed, hashed, hashed_desc);

/*
 * Section VI.A, figure 6: a table of 256, the current element 10, a timer whose
 * last 8 bits are 20: element 30, where the 24 bits above them are kept.
 */
static void paper_hashed_wheels(struct kunit *test)
{
	const char *name = *(const char *const *)test->param_value;
	const u64 high = 3, now = 7 * 256 + 10;
	struct callout_model *m;

	m = paper_model(test, name, NULL, now, 1);
	callout_model_start(m, &m->entry[0], now + (high << 8) + 20);
	KUNIT_EXPECT_TRUE(test, is_alone_in(m, 30, &m->entry[0]));
	if (!strcmp(name, "hashed_wheel_paper"))
		KUNIT_EXPECT_EQ(test, m->entry[0].c.word[2], high);

	callout_model_advance_all(m, now + 19);
	KUNIT_EXPECT_EQ(test, m->s->visits, 0);
	callout_model_advance_all(m, now + 20);
	KUNIT_EXPECT_EQ(test, m->s->visits, 1);
	callout_model_advance_all(m, now + (high << 8) + 19);
	KUNIT_EXPECT_EQ(test, m->fired, 0);
	callout_model_advance_all(m, now + (high << 8) + 20);
	KUNIT_EXPECT_EQ(test, m->fired, 1);
}

/* As paper_hashed_wheels(), for Scheme 6 as the facility implements it. */
static void paper_hashed_wheel(struct kunit *test)
{
	const u64 now = 7 * 256 + 10;
	struct callout_model *m;

	m = paper_model(test, "hashed_wheel", NULL, now, 1);
	callout_model_start(m, &m->entry[0], now + (3 << 8) + 20);
	KUNIT_EXPECT_PTR_EQ(test, to_wheel(m->s)->ring.bucket[30].head.next,
			    &m->entry[0].c.entry);
	callout_model_chase(m);
	KUNIT_EXPECT_EQ(test, m->now, now + (3 << 8) + 20);
}

/*
 * Section VI.B, figures 7 and 8: at 11 days, 10:24:30, a timer of 50 min 45 s
 * goes into the hour array, one element ahead. When the hour is 11 it goes to
 * the 15th element of the minute array, then to the 15th of the second array.
 *
 * next_due, which is the time of the element, and requeues show where the timer is.
 */
static void paper_hierarchical_wheel(struct kunit *test)
{
	static const u64 elements[] = {
		SECONDS(11, 11, 0, 0), SECONDS(11, 11, 15, 0),
		SECONDS(11, 11, 15, 15),
	};
	const u64 now = SECONDS(11, 10, 24, 30);
	struct callout_model *m;
	unsigned int i;

	m = paper_model(test, "hierarchical_wheel", "migrate", now, 1);
	callout_model_start(m, &m->entry[0], now + SECONDS(0, 0, 50, 45));
	for (i = 0; i < ARRAY_SIZE(elements); i++) {
		KUNIT_EXPECT_EQ(test, callout_model_next_due_all(m),
				elements[i]);
		callout_model_advance_all(m, elements[i] - 1);
		KUNIT_EXPECT_EQ(test, m->s->requeues, i);
		KUNIT_EXPECT_EQ(test, m->fired, 0);
		callout_model_advance_all(m, elements[i]);
	}
	KUNIT_EXPECT_EQ(test, m->s->requeues, 2);
	KUNIT_EXPECT_EQ(test, m->fired, 1);
}

/*
 * Section VI.B, Nichols: 1 min 30 s concerns minutes only. The paper rounds it to 1
 * min. A callout is never early, so here it becomes 2 min. With one migration it is
 * exact.
 */
static void paper_nichols(struct kunit *test)
{
	static const struct {
		const char *variant;
		u64 late;
	} kinds[] = { { "no_migration", 30 }, { "one_migration", 0 } };
	struct callout_model *m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		m = paper_model(test, "hierarchical_wheel",
				kinds[i].variant, SECONDS(1, 0, 0, 0), 1);
		callout_model_start(m, &m->entry[0], SECONDS(1, 0, 1, 30));
		callout_model_chase(m);
		KUNIT_EXPECT_EQ(test, m->now,
				SECONDS(1, 0, 1, 30) + kinds[i].late);
		KUNIT_EXPECT_LE(test, kinds[i].late,
				m->s->ops->late(m->s, 90));
	}
}

static struct kunit_case paper_cases[] = {
	KUNIT_CASE(paper_sorted_list),
	KUNIT_CASE(paper_timing_wheel),
	KUNIT_CASE_PARAM(paper_hashed_wheels, hashed_gen_params),
	KUNIT_CASE(paper_hashed_wheel),
	KUNIT_CASE(paper_hierarchical_wheel),
	KUNIT_CASE(paper_nichols),
	{}
};

static struct kunit_suite paper_suite = {
	.name = "callout_paper",
	.test_cases = paper_cases,
};

kunit_test_suite(paper_suite);
