// SPDX-License-Identifier: GPL-2.0
/*
 * rings.c - suite callout_resize: a wheel whose entries move to another ring
 *
 * The case acts as the worker: it stops a move between any two units.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/numa.h>
#include "lib/crowd.h"
#include "core/resize.h"
#include "lib/softirq.h"

#define FIRST		CALLOUT_WHEEL_FIRST

/* Begin to move the base's entries to @buckets buckets. */
static void resize_begin(struct kunit *test, struct callout_base *base,
			 unsigned int buckets)
{
	struct callout_ring ring;

	KUNIT_ASSERT_EQ(test, 0, co_ring_alloc(&ring, buckets,
					       NUMA_NO_NODE, GFP_KERNEL));
	co_base_lock_irq(base);
	co_wheel_resize(to_wheel(base->scheme), &ring);
	co_base_unlock_irq(base);
}

/* Move up to @units units. Return true if there are more. Any context. */
static bool resize_step(struct callout_base *base, unsigned int units)
{
	unsigned long flags;
	bool more;

	local_irq_save(flags);
	co_base_lock(base);
	more = co_wheel_move(to_wheel(base->scheme), &units);
	co_unlock(base, flags);
	return more;
}

static void resize_end(struct callout_base *base)
{
	struct callout_ring old;

	while (resize_step(base, CALLOUT_BUDGET))
		;
	co_base_lock_irq(base);
	co_wheel_moved(to_wheel(base->scheme), &old);
	co_base_unlock_irq(base);
	co_ring_free(&old);
}

#define EQUALS	20U

/* Set EQUALS items for one tick, before and after @units units of a move. */
static void order_over(struct kunit *test, struct callout_item *item,
		       unsigned int buckets, unsigned int units)
{
	struct callout_virtual *v = test->priv;
	unsigned int i, first = v->ran;
	long distance = 7;

	for (i = 0; i < EQUALS; i++)
		callout_virtual_set(&item[i], distance);
	resize_begin(test, v->base, buckets);
	if (units)
		resize_step(v->base, units);
	for (; i < 2 * EQUALS; i++)
		callout_virtual_set(&item[i], distance);
	resize_step(v->base, EQUALS / 2);
	for (; i < 3 * EQUALS; i++)
		callout_virtual_set(&item[i], distance);
	callout_virtual_run_to(v, v->now + distance);
	for (i = 0; i < 3 * EQUALS; i++)
		KUNIT_ASSERT_EQ_MSG(test, item[i].place, first + i,
				    "%u units to %u buckets", units, buckets);
	resize_end(v->base);
}

/* Callouts of one tick run in the order of setting, wherever a move stands. */
static void resize_keeps_order(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 3 * EQUALS);
	unsigned int units, moved;

	for (units = 0; units < EQUALS + 5; units++) {
		/* The buckets before the callouts' bucket are empty, and each takes one unit. */
		moved = (v->now + 7) % FIRST + units;
		order_over(test, item, 16 * FIRST, moved);
		moved = (v->now + 7) % (16 * FIRST) + units;
		order_over(test, item, FIRST, moved);
	}
}

#define RANDOM_ITEMS	500U

/**
 * struct mix - callouts, and their expected state
 * @v: base of the callouts
 * @item: the callouts
 * @due: when each callout is due; 0 if it is not set
 * @runs: how often each callout has run
 * @rng: random numbers
 */
struct mix {
	struct callout_virtual *v;
	struct callout_item *item;
	u64 due[RANDOM_ITEMS];
	unsigned int runs[RANDOM_ITEMS];
	struct rnd_state rng;
};

static struct mix *the_mix;

static bool is_moving(struct callout_base *base)
{
	return to_wheel(base->scheme)->old.bucket;
}

/* callout_item.then: other callouts are due, and a part of the entries moves. */
static void mix_move(struct callout_item *item)
{
	if (!(item->v->ran % 4) && is_moving(item->v->base))
		resize_step(item->v->base, 16);
}

static void mix_set_or_stop(struct kunit *test, struct mix *mix)
{
	unsigned int i = callout_test_below(&mix->rng, RANDOM_ITEMS);
	long distance = 1 + callout_test_below(&mix->rng, 2000);
	bool pending = mix->due[i];

	if (callout_test_below(&mix->rng, 3)) {
		KUNIT_ASSERT_EQ(test, callout_virtual_set(&mix->item[i],
							  distance), pending);
		mix->due[i] = mix->v->now + distance;
	} else {
		KUNIT_ASSERT_EQ(test, callout_stop(&mix->item[i].c),
				pending ? 1 : -1);
		mix->due[i] = 0;
	}
}

static void mix_move_or_resize(struct kunit *test, struct mix *mix)
{
	struct callout_base *base = mix->v->base;

	if (!is_moving(base))
		resize_begin(test, base, 16U << callout_test_below(&mix->rng, 9));
	else if (!resize_step(base, 1 + callout_test_below(&mix->rng, 64)))
		resize_end(base);
}

/* Let time pass. Due callouts run, and no others. */
static void mix_run(struct kunit *test, struct mix *mix)
{
	struct callout_virtual *v = mix->v;
	unsigned int i;
	int ret;

	callout_virtual_run_to(v, v->now + callout_test_below(&mix->rng, 8));
	for (i = 0; i < RANDOM_ITEMS; i++) {
		if (mix->due[i] && mix->due[i] <= v->now) {
			mix->due[i] = 0;
			mix->runs[i]++;
		}
		KUNIT_ASSERT_EQ(test, mix->item[i].runs, mix->runs[i]);
	}
	co_base_lock_irq(v->base);
	ret = v->base->scheme->ops->check(v->base->scheme);
	co_base_unlock_irq(v->base);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

/*
 * Callouts that are set, moved, cancelled and due during moves of the entries run
 * once, at their tick, or not at all if they were cancelled.
 */
static void resize_random_operations(struct kunit *test)
{
	unsigned int rounds = callout_test_rounds(10000), i;

	the_mix = kunit_kzalloc(test, sizeof(*the_mix), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, the_mix);
	callout_test_rng(test, &the_mix->rng);
	the_mix->v = test->priv;
	the_mix->item = callout_virtual_items(test, RANDOM_ITEMS);
	for (i = 0; i < RANDOM_ITEMS; i++)
		the_mix->item[i].then = mix_move;
	for (i = 0; i < rounds; i++) {
		if (callout_test_below(&the_mix->rng, 4))
			mix_set_or_stop(test, the_mix);
		else
			mix_move_or_resize(test, the_mix);
		if (i % 16 == 0)
			mix_run(test, the_mix);
	}
	KUNIT_EXPECT_GT(test, the_mix->v->ran, rounds / 50);
}

/* Stop and drain find a callout in either ring, and wait for its handler. */
static void resize_stop_and_drain(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	struct callout_item *item = callout_virtual_items(test, 2 * EQUALS);
	struct callout_base *base = r->v->base;
	struct callout_test_thread *t;
	unsigned int i;

	for (i = 0; i < 2 * EQUALS; i++)
		callout_virtual_set(&item[i], 1000 + i % 2 * 200);
	resize_begin(test, base, 4 * FIRST);
	resize_step(base, FIRST / 2);
	callout_race_begin(test, r);
	t = callout_race_drain(test, r);
	for (i = 0; i < 2 * EQUALS; i += 4) {
		KUNIT_EXPECT_EQ(test, callout_stop(&item[i].c), 1);
		KUNIT_EXPECT_EQ(test, callout_drain(&item[i + 1].c), 1);
		KUNIT_EXPECT_EQ(test, callout_stop(&item[i].c), -1);
	}
	resize_end(base);
	KUNIT_EXPECT_FALSE(test, r->returns);
	callout_race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_FALSE(test, r->too_soon);
	callout_virtual_run_to(r->v, r->v->now + 2000);
	for (i = 0; i < 2 * EQUALS; i++)
		KUNIT_EXPECT_EQ(test, item[i].runs, i % 4 / 2);
}

static void expect_sizes(struct kunit *test, unsigned int buckets, unsigned int old_buckets)
{
	struct callout_virtual *v = test->priv;
	struct callout_stats s;

	co_base_stats(v->base, &s);
	KUNIT_EXPECT_EQ(test, s.buckets, buckets);
	KUNIT_EXPECT_EQ(test, s.old_buckets, old_buckets);
}

/* debugfs shows the sizes of both rings, and no size for another scheme. */
static void resize_shows_both_sizes(struct kunit *test)
{
	struct callout_virtual *v = test->priv;

	expect_sizes(test, FIRST, 0);
	resize_begin(test, v->base, 4 * FIRST);
	expect_sizes(test, 4 * FIRST, FIRST);
	resize_end(v->base);
	expect_sizes(test, 4 * FIRST, 0);
	resize_begin(test, v->base, FIRST);
	expect_sizes(test, FIRST, 4 * FIRST);
	resize_end(v->base);
	expect_sizes(test, FIRST, 0);
	if (!IS_ENABLED(CONFIG_CALLOUT_LAB))
		return;
	v->base->wheel = false;
	expect_sizes(test, 0, 0);
	co_resize_begin(v->base);
	KUNIT_EXPECT_FALSE(test, v->base->follows);
	v->base->wheel = true;
}

/* No hold of the lock by expiry is longer during a move. */
static void resize_holds_are_bounded(struct kunit *test)
{
	unsigned int n = CALLOUT_CROWD_MANY / 5, i;
	struct callout_virtual *v = test->priv;
	struct callout_crowd *crowd = callout_crowd_create_virtual(test, 2 * n);
	struct callout_base *base = v->base;
	u64 last;

	resize_begin(test, base, roundup_pow_of_two(4 * n));
	resize_end(base);
	for (i = 0; i < n; i++)
		callout_crowd_set(crowd, i, i + 1, 100);
	callout_crowd_set(crowd, n, 2 * n, 1000);
	base->stats.max_units = 0;
	resize_begin(test, base, FIRST);
	resize_step(base, 1000);
	callout_virtual_run_to(v, v->now + 100);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->ran), n);
	/* Stop all but the last callout. Expiry must find the last one in a few wake-ups. */
	callout_crowd_stop(crowd, n, 2 * n - 1);
	last = crowd->c[2 * n - 1].node.expires;
	for (i = 0; base->armed < last && i < 64; i++)
		callout_virtual_run_to(v, base->armed);
	KUNIT_EXPECT_EQ(test, base->armed, last);
	KUNIT_EXPECT_LE(test, base->stats.max_units, CALLOUT_BUDGET);
	resize_end(base);
}

/* A base that dies during a move frees both rings. */
static void resize_base_dies(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout c[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c); i++) {
		callout_init(&c[i], CALLOUT_MPSAFE);
		c[i].node.cpu = CALLOUT_VIRTUAL;
		callout_reset(&c[i], 1000 + 10 * i, callout_crowd_handler,
			      NULL);
	}
	resize_begin(test, v->base, 4 * FIRST);
	KUNIT_EXPECT_TRUE(test, resize_step(v->base, FIRST / 2));
	co_base_kill(v->base);
	KUNIT_EXPECT_EQ(test, co_base_destroy(v->base), ARRAY_SIZE(c));
	v->base = NULL;
}

/* Make the worker leave a base alone from now on. */
static void worker_stop(struct callout_base *base)
{
	co_base_lock_irq(base);
	base->follows = false;
	co_base_unlock_irq(base);
	flush_delayed_work(&callout_resize_work);
}

/* The callouts of a CPU that dies during a move migrate from both rings. */
static void resize_cpu_dies(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask), i, wrong = 0;
	struct callout_base *base = co_base(cpu);
	struct callout_crowd *crowd;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	worker_stop(base);
	crowd = callout_crowd_create(test, 5000);
	for (i = 0; i < crowd->n; i++)
		callout_reset_on(&crowd->c[i], CALLOUT_TEST_FAR + i,
				 callout_crowd_handler, crowd, cpu);
	resize_begin(test, base, 16 * FIRST);
	KUNIT_EXPECT_TRUE(test, resize_step(base, crowd->n / 2));
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_EQ(test, co_base_pending(base), 0);
	resize_end(base);
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	for (i = 0; i < crowd->n; i++)
		wrong += callout_stop(&crowd->c[i]) != 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	resize_begin(test, base, FIRST);
	resize_end(base);
	co_resize_begin(base);
}

static int resize_init(struct kunit *test)
{
	return callout_virtual_create(test, FIRST);
}

/* A ring's pages are free again when the ring is, the pages that it does not need at once. */
static void resize_leaks_no_pages(struct kunit *test)
{
	const unsigned int rings = 1000, buckets = 16384;
	struct sysinfo before, after;
	struct callout_ring ring;
	unsigned int i;

	callout_test_pin(test, raw_smp_processor_id());
	si_meminfo(&before);
	for (i = 0; i < rings; i++) {
		KUNIT_ASSERT_EQ(test, 0, co_ring_alloc(&ring, buckets, NUMA_NO_NODE,
						       GFP_KERNEL));
		co_ring_free(&ring);
	}
	si_meminfo(&after);
	/*
	 * A ring needs 99 of 128 pages. Other tasks take some, too, and a list of this
	 * CPU, which is not counted, has up to some thousand.
	 */
	KUNIT_EXPECT_LT(test, before.freeram, after.freeram + rings * 10);
}

static struct kunit_case resize_cases[] = {
	KUNIT_CASE(resize_keeps_order),
	KUNIT_CASE_SLOW(resize_random_operations),
	KUNIT_CASE(resize_stop_and_drain),
	KUNIT_CASE(resize_shows_both_sizes),
	KUNIT_CASE(resize_leaks_no_pages),
	KUNIT_CASE_SLOW(resize_holds_are_bounded),
	KUNIT_CASE(resize_base_dies),
	KUNIT_CASE_SLOW(resize_cpu_dies),
	{}
};

static struct kunit_suite resize_suite = {
	.name		= "callout_resize",
	.init		= resize_init,
	.test_cases	= resize_cases,
};

kunit_test_suite(resize_suite);
