// SPDX-License-Identifier: GPL-2.0
/*
 * grow.c - suite callout_grow: wheels that follow the number of callouts
 *
 * On a virtual base the case is the worker: it looks when it wants to, and stops
 * a move of entries between any two units. The real bases have the real one.
 */
#include <kunit/static_stub.h>
#include <linux/cpu.h>
#include <linux/numa.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include "grow.h"
#include "softirq.h"

/* Under KASAN accesses are slow, and the debug kernel has less memory. */
#define MANY		(IS_ENABLED(CONFIG_KASAN) ? 100000U : 1000000U)

#define FIRST		CALLOUT_WHEEL_FIRST

/* The least memory that a CPU with nothing set should need. */
#define IDLE_BYTES	16384U

/**
 * struct crowd - many callouts with one handler
 * @n: how many there are
 * @ran: how many have run
 * @c: the callouts
 */
struct crowd {
	unsigned int n;
	atomic_t ran;
	struct callout c[];
};

static void crowd_handler(void *arg)
{
	struct crowd *crowd = arg;

	atomic_inc(&crowd->ran);
}

static void crowd_drain(void *data)
{
	struct crowd *crowd = data;
	unsigned int i;

	for (i = 0; i < crowd->n; i++) {
		callout_drain(&crowd->c[i]);
		if (i % 1024 == 0)
			cond_resched();
	}
}

/* Callouts of the real bases; the end of the case drains them. */
static struct crowd *crowd_create(struct kunit *test, unsigned int n)
{
	struct crowd *crowd;
	unsigned int i;

	crowd = callout_test_vcalloc(test, 1, struct_size(crowd, c, n));
	crowd->n = n;
	for (i = 0; i < n; i++)
		callout_init(&crowd->c[i], CALLOUT_MPSAFE);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, crowd_drain, crowd));
	return crowd;
}

/* The same of the virtual base. */
static struct crowd *crowd_create_virtual(struct kunit *test, unsigned int n)
{
	struct crowd *crowd = crowd_create(test, n);
	unsigned int i;

	for (i = 0; i < n; i++)
		crowd->c[i].node.cpu = CALLOUT_VIRTUAL;
	return crowd;
}

/* Sets those from @first to @end - 1, for one tick each from @distance on. */
static void crowd_set(struct crowd *crowd, unsigned int first,
		      unsigned int end, long distance)
{
	unsigned int i;

	for (i = first; i < end; i++)
		callout_reset(&crowd->c[i], distance++, crowd_handler, crowd);
}

static void crowd_stop(struct crowd *crowd, unsigned int first,
		       unsigned int end)
{
	unsigned int i;

	for (i = first; i < end; i++)
		callout_stop(&crowd->c[i]);
}

static unsigned int buckets_of(struct callout_base *base)
{
	unsigned int buckets, old;

	callout_base_sizes(base, &buckets, &old);
	return buckets;
}

static bool is_moving(struct callout_base *base)
{
	unsigned int buckets, old;

	callout_base_sizes(base, &buckets, &old);
	return old;
}

static bool has_asked(struct callout_base *base)
{
	return READ_ONCE(base->grow_at) == INT_MAX;
}

/* Time passes until the next look. */
static void look_is_due(struct callout_base *base)
{
	callout_base_lock_irq(base);
	base->few_since -= CALLOUT_LOOK_SECONDS * HZ;
	callout_base_unlock_irq(base);
}

/* Begins to move the base's entries to @buckets buckets. */
static void resize_begin(struct kunit *test, struct callout_base *base,
			 unsigned int buckets)
{
	struct callout_ring ring;

	KUNIT_ASSERT_EQ(test, 0, callout_ring_alloc(&ring, buckets,
						    NUMA_NO_NODE, GFP_KERNEL));
	callout_base_lock_irq(base);
	callout_wheel_resize(to_wheel(base->scheme), &ring);
	callout_base_unlock_irq(base);
}

/* Moves up to @units units; true if there are more. Any context. */
static bool resize_step(struct callout_base *base, unsigned int units)
{
	unsigned long flags;
	bool more;

	local_irq_save(flags);
	callout_base_lock(base);
	more = callout_wheel_move(to_wheel(base->scheme), &units);
	callout_unlock(base, flags);
	return more;
}

static void resize_end(struct callout_base *base)
{
	struct callout_ring old;

	while (resize_step(base, CALLOUT_BUDGET))
		;
	callout_base_lock_irq(base);
	callout_wheel_moved(to_wheel(base->scheme), &old);
	callout_base_unlock_irq(base);
	callout_ring_free(&old);
}

/* A base with as many callouts as buckets stays; with one more it grows. */
static void grow_with_one_more(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	struct crowd *crowd = crowd_create_virtual(test, 4 * FIRST + 1);

	crowd_set(crowd, 0, FIRST, 1000);
	KUNIT_EXPECT_FALSE(test, has_asked(base));
	KUNIT_EXPECT_FALSE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);

	crowd_set(crowd, FIRST, FIRST + 1, 1000);
	KUNIT_EXPECT_TRUE(test, has_asked(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 4 * FIRST);
	KUNIT_EXPECT_FALSE(test, is_moving(base));

	crowd_set(crowd, FIRST + 1, 4 * FIRST, 1000);
	KUNIT_EXPECT_FALSE(test, has_asked(base));
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 4 * FIRST);
	crowd_set(crowd, 4 * FIRST, 4 * FIRST + 1, 1000);
	KUNIT_EXPECT_TRUE(test, has_asked(base));
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 16 * FIRST);
}

/* It shrinks when it had too few callouts at two looks, and none in between. */
static void grow_shrinks_at_second_look(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	struct crowd *crowd = crowd_create_virtual(test, FIRST + 1);
	unsigned int few = 4 * FIRST / CALLOUT_WHEEL_FEW;

	crowd_set(crowd, 0, FIRST + 1, 1000);
	callout_base_fit(base);
	crowd_stop(crowd, few, FIRST + 1);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	look_is_due(base);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 4 * FIRST);

	crowd_stop(crowd, few - 1, few);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 4 * FIRST);
	crowd_set(crowd, few - 1, few, 1000);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	crowd_stop(crowd, few - 1, few);
	look_is_due(base);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 4 * FIRST);

	look_is_due(base);
	KUNIT_EXPECT_FALSE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
	KUNIT_EXPECT_EQ(test, base->grow_at, FIRST);
}

/* A base whose size was given at load keeps it. */
static void grow_not_if_fixed(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct crowd *crowd = crowd_create_virtual(test, 2 * FIRST);

	v->base->follows = false;
	callout_base_grow_at(v->base, INT_MAX);
	crowd_set(crowd, 0, 2 * FIRST, 1000);
	KUNIT_EXPECT_FALSE(test, callout_base_fit(v->base));
	KUNIT_EXPECT_EQ(test, buckets_of(v->base), FIRST);
}

#define EQUALS	20U

/* Sets EQUALS items for one tick, before and after @units units of a move. */
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
static void grow_keeps_order(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 3 * EQUALS);
	unsigned int units, moved;

	for (units = 0; units < EQUALS + 5; units++) {
		/* Those before their bucket are empty, and a unit each. */
		moved = (v->now + 7) % FIRST + units;
		order_over(test, item, 16 * FIRST, moved);
		moved = (v->now + 7) % (16 * FIRST) + units;
		order_over(test, item, FIRST, moved);
	}
}

#define RANDOM_ITEMS	500U

/**
 * struct mix - callouts, and what is to become of them
 * @v: their base
 * @item: the callouts
 * @due: when each is due; 0: not
 * @runs: how often each has run
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

/* callout_item.then: others are due, and a part of the entries moves. */
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

/* Time passes. Those that are due run, and no others. */
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
	callout_base_lock_irq(v->base);
	ret = v->base->scheme->ops->check(v->base->scheme);
	callout_base_unlock_irq(v->base);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

/*
 * Callouts that are set, moved, cancelled and due during moves of the entries
 * run once, at their tick, or if they were cancelled not at all.
 */
static void grow_random_operations(struct kunit *test)
{
	unsigned int i;

	the_mix = kunit_kzalloc(test, sizeof(*the_mix), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, the_mix);
	callout_test_rng(test, &the_mix->rng);
	the_mix->v = test->priv;
	the_mix->item = callout_virtual_items(test, RANDOM_ITEMS);
	for (i = 0; i < RANDOM_ITEMS; i++)
		the_mix->item[i].then = mix_move;
	for (i = 0; i < 50000; i++) {
		if (callout_test_below(&the_mix->rng, 4))
			mix_set_or_stop(test, the_mix);
		else
			mix_move_or_resize(test, the_mix);
		if (i % 16 == 0)
			mix_run(test, the_mix);
	}
	KUNIT_EXPECT_GT(test, the_mix->v->ran, 1000);
}

/* Stop and drain find a callout in either ring, and wait for its handler. */
static void grow_stop_and_drain(struct kunit *test)
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

/* No hold of the lock, of the worker or of expiry, is longer during a move. */
static void grow_holds_are_bounded(struct kunit *test)
{
	unsigned int n = MANY / 5;
	struct callout_virtual *v = test->priv;
	struct crowd *crowd = crowd_create_virtual(test, 2 * n);
	struct callout_base *base = v->base;
	unsigned int i;

	for (i = 0; i < n; i++)
		callout_reset(&crowd->c[i], 100, crowd_handler, crowd);
	crowd_set(crowd, n, 2 * n, 1000);
	base->stats.max_units = 0;
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, base->stats.max_units, CALLOUT_BUDGET);
	KUNIT_EXPECT_GE(test, buckets_of(base), 4 * n);

	base->stats.max_units = 0;
	resize_begin(test, base, FIRST);
	resize_step(base, 1000);
	callout_virtual_run_to(v, v->now + 100);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->ran), n);
	/* All but the last; expiry has to find that one, in a few wake-ups. */
	crowd_stop(crowd, n, 2 * n - 1);
	for (i = 0; base->armed < crowd->c[2 * n - 1].node.expires && i < 64;
	     i++)
		callout_virtual_run_to(v, base->armed);
	KUNIT_EXPECT_EQ(test, base->armed, crowd->c[2 * n - 1].node.expires);
	KUNIT_EXPECT_LE(test, base->stats.max_units, CALLOUT_BUDGET);
	resize_end(base);
}

static int no_memory(struct callout_ring *ring, unsigned int buckets, int node)
{
	return -ENOMEM;
}

/*
 * Without memory all goes on, and the worker is asked again when there are twice
 * as many.
 */
static void grow_without_memory(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	struct crowd *crowd = crowd_create_virtual(test, 4 * FIRST + 5);
	unsigned int n = FIRST + 1;

	kunit_activate_static_stub(test, callout_grow_alloc, no_memory);
	crowd_set(crowd, 0, n, 1000);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
	crowd_set(crowd, n, 2 * n, 1000);
	KUNIT_EXPECT_FALSE(test, has_asked(base));
	crowd_set(crowd, 2 * n, 2 * n + 1, 1000);
	KUNIT_EXPECT_TRUE(test, has_asked(base));
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_FALSE(test, has_asked(base));
	callout_virtual_run_to(v, v->now + 1000 + n - 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->ran), 2 * n + 1);

	crowd_set(crowd, 0, 4 * FIRST + 5, 1000);
	kunit_deactivate_static_stub(test, callout_grow_alloc);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 16 * FIRST);
}

/* A wheel that cannot shrink for want of memory does so at a later look. */
static void grow_shrinks_without_memory(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	struct crowd *crowd = crowd_create_virtual(test, 4 * FIRST + 1);

	crowd_set(crowd, 0, FIRST + 1, 1000);
	callout_base_fit(base);
	crowd_stop(crowd, 0, FIRST + 1);
	callout_base_fit(base);
	look_is_due(base);
	kunit_activate_static_stub(test, callout_grow_alloc, no_memory);
	KUNIT_EXPECT_TRUE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 4 * FIRST);
	KUNIT_EXPECT_EQ(test, base->grow_at, 4 * FIRST);
	kunit_deactivate_static_stub(test, callout_grow_alloc);
	KUNIT_EXPECT_FALSE(test, callout_base_fit(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
}

/* A base that dies during a move frees both rings. */
static void grow_base_dies(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout c[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c); i++) {
		callout_init(&c[i], CALLOUT_MPSAFE);
		c[i].node.cpu = CALLOUT_VIRTUAL;
		callout_reset(&c[i], 1000 + 10 * i, crowd_handler, NULL);
	}
	resize_begin(test, v->base, 4 * FIRST);
	KUNIT_EXPECT_TRUE(test, resize_step(v->base, FIRST / 2));
	callout_base_kill(v->base);
	KUNIT_EXPECT_EQ(test, callout_base_destroy(v->base), ARRAY_SIZE(c));
	v->base = NULL;
}

/* A CPU with nothing set takes little memory. */
static void grow_begins_small(struct kunit *test)
{
	unsigned int nodes = FIRST / FANOUT + FIRST / FANOUT / FANOUT;

	KUNIT_EXPECT_LE(test, sizeof(struct callout_base) +
			sizeof(struct callout_wheel) +
			FIRST * sizeof(struct callout_bucket) +
			(nodes + 1) * sizeof(u64), IDLE_BYTES);
}

/* Has the worker look now. */
static void worker_looks(void)
{
	mod_delayed_work(system_unbound_wq, &callout_fit_work, 0);
	flush_delayed_work(&callout_fit_work);
}

/* What the worker does in two looks, without waiting for them. */
static void two_looks(void)
{
	struct callout_base *base;
	unsigned int cpu;

	worker_looks();
	for_each_possible_cpu(cpu) {
		base = callout_base_owned_by(cpu);
		if (base)
			look_is_due(base);
	}
	worker_looks();
}

static bool all_are_small(void)
{
	struct callout_base *base;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		base = callout_base_owned_by(cpu);
		if (base && buckets_of(base) != FIRST)
			return false;
	}
	return true;
}

/* A real base gets memory for a million, and gives it back. */
static void grow_gives_a_million_back(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), i;
	struct callout_base *base = callout_base(cpu);
	struct crowd *crowd;

	callout_test_pin(test, cpu);
	crowd = crowd_create(test, MANY);
	for (i = 0; i < MANY; i++) {
		callout_reset_on(&crowd->c[i], CALLOUT_TEST_FAR + i,
				 crowd_handler, crowd, cpu);
		if (i % 1024 == 0)
			cond_resched();
	}
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(buckets_of(base) >= MANY &&
						  !is_moving(base)));
	worker_looks();
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&callout_fit_work));
	crowd_drain(crowd);
	two_looks();
	KUNIT_EXPECT_TRUE(test, all_are_small());
	/* Nothing is left to look for. */
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&callout_fit_work));
}

static void crowd_set_here(void *arg)
{
	crowd_set(arg, 0, FIRST + 1, CALLOUT_TEST_FAR);
}

/* A callout that is set in hard interrupt context can ask. */
static void grow_asked_by_interrupt(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct callout_base *base = callout_base(other);
	struct crowd *crowd = crowd_create(test, FIRST + 1);

	for (i = 0; i < crowd->n; i++) {
		crowd->c[i].node.cpu = other;
		crowd->c[i].node.home = other;
	}
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(other, crowd_set_here,
							  crowd, true));
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(buckets_of(base) > FIRST));
	crowd_drain(crowd);
	two_looks();
}

/* Under KASAN accesses are slow. */
#define LOAD		(IS_ENABLED(CONFIG_KASAN) ? 2000U : 10000U)

static struct crowd *load_of[NR_CPUS];

/* However slow the machine is, the first ones are pending together. */
static void load_thread(void *arg)
{
	const unsigned int first = 2 * FIRST;
	struct crowd *crowd = arg;
	struct rnd_state rng;
	unsigned int i, cpu;

	prandom_seed_state(&rng, crowd->n);
	for (i = 0; i < crowd->n; i++) {
		cpu = cpumask_nth(callout_test_below(&rng, num_online_cpus()),
				  cpu_online_mask);
		callout_reset_on(&crowd->c[i], i < first ? CALLOUT_TEST_FAR :
				 1 + callout_test_below(&rng, HZ),
				 crowd_handler, crowd, cpu);
		if (i % 64 == 0)
			cond_resched();
	}
	callout_test_wait_until(!all_are_small());
	for (i = 0; i < first; i++)
		callout_reset(&crowd->c[i], 1, crowd_handler, crowd);
}

static unsigned int load_ran(void)
{
	unsigned int cpu, ran = 0;

	for_each_online_cpu(cpu)
		ran += atomic_read(&load_of[cpu]->ran);
	return ran;
}

/* Waits for as long as some run. */
static bool load_runs_out(void)
{
	unsigned int ran;

	do {
		ran = load_ran();
		if (ran == LOAD * num_online_cpus())
			return true;
	} while (callout_test_wait_until(load_ran() != ran));
	return false;
}

/*
 * All CPUs set callouts on all, which expire while the wheels grow and shrink:
 * each runs once.
 */
static void grow_under_load(struct kunit *test)
{
	unsigned int cpu, round, ran = 0;

	for (round = 0; round < 3; round++) {
		for_each_online_cpu(cpu)
			load_of[cpu] = crowd_create(test, LOAD);
		for_each_online_cpu(cpu)
			callout_test_thread(test, cpu, load_thread,
					    load_of[cpu]);
		KUNIT_EXPECT_TRUE(test,
				  callout_test_wait_until(!all_are_small()));
		KUNIT_EXPECT_TRUE(test, load_runs_out());
		two_looks();
		ran += load_ran();
	}
	KUNIT_EXPECT_EQ(test, ran, 3 * LOAD * num_online_cpus());
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_are_small()));
}

/* Has the worker leave a base alone. */
static void grow_stop(struct callout_base *base)
{
	callout_base_lock_irq(base);
	base->follows = false;
	callout_base_unlock_irq(base);
	worker_looks();
}

/* The callouts of a CPU that dies during a move migrate from both rings. */
static void grow_cpu_dies(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask), i, wrong = 0;
	struct callout_base *base = callout_base(cpu);
	struct crowd *crowd;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	grow_stop(base);
	crowd = crowd_create(test, 5000);
	for (i = 0; i < crowd->n; i++)
		callout_reset_on(&crowd->c[i], CALLOUT_TEST_FAR + i,
				 crowd_handler, crowd, cpu);
	resize_begin(test, base, 16 * FIRST);
	KUNIT_EXPECT_TRUE(test, resize_step(base, crowd->n / 2));
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_EQ(test, callout_base_pending(base), 0);
	resize_end(base);
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	callout_grow_begin(base);
	for (i = 0; i < crowd->n; i++)
		wrong += callout_stop(&crowd->c[i]) != 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	two_looks();
}

static int grow_init(struct kunit *test)
{
	struct callout_virtual *v;
	int ret = callout_virtual_create(test, FIRST);

	if (ret)
		return ret;
	v = test->priv;
	callout_grow_begin(v->base);
	return 0;
}

static struct kunit_case grow_cases[] = {
	KUNIT_CASE(grow_with_one_more),
	KUNIT_CASE(grow_shrinks_at_second_look),
	KUNIT_CASE(grow_not_if_fixed),
	KUNIT_CASE(grow_keeps_order),
	KUNIT_CASE_SLOW(grow_random_operations),
	KUNIT_CASE(grow_stop_and_drain),
	KUNIT_CASE_SLOW(grow_holds_are_bounded),
	KUNIT_CASE(grow_without_memory),
	KUNIT_CASE(grow_shrinks_without_memory),
	KUNIT_CASE(grow_base_dies),
	KUNIT_CASE(grow_begins_small),
	KUNIT_CASE_SLOW(grow_gives_a_million_back),
	KUNIT_CASE(grow_asked_by_interrupt),
	KUNIT_CASE_SLOW(grow_under_load),
	KUNIT_CASE_SLOW(grow_cpu_dies),
	{}
};

static struct kunit_suite grow_suite = {
	.name		= "callout_grow",
	.init		= grow_init,
	.test_cases	= grow_cases,
};

kunit_test_suite(grow_suite);
