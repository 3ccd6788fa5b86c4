// SPDX-License-Identifier: GPL-2.0
/*
 * resize.c - suite callout_grow: wheels that follow the number of callouts
 *
 * On a virtual base the case acts as the worker, and looks when it wants to. The
 * real bases have the real worker.
 */
#include <kunit/static_stub.h>
#include <linux/completion.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/numa.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include "lib/crowd.h"
#include "core/resize.h"

#define MANY		CALLOUT_CROWD_MANY
#define FIRST		CALLOUT_WHEEL_FIRST

/* The largest number of callouts with which a wheel keeps its first size. */
#define ROOM		(CALLOUT_WHEEL_MANY * FIRST)

/* An idle CPU must not need more memory than this. */
#define IDLE_BYTES	16384U

static unsigned int buckets_of(struct callout_base *base)
{
	struct callout_stats s;

	co_base_stats(base, &s);
	return s.buckets;
}

static bool is_moving(struct callout_base *base)
{
	struct callout_stats s;

	co_base_stats(base, &s);
	return s.old_buckets;
}

static bool has_asked(struct callout_base *base)
{
	return READ_ONCE(base->resize_at) == INT_MAX;
}

/* Let time pass until the next look. */
static void look_is_due(struct callout_base *base)
{
	co_base_lock_irq(base);
	base->few_since -= CALLOUT_LOOK_SECONDS * HZ;
	co_base_unlock_irq(base);
}

/* A base with as many callouts as it has room for keeps its size, and grows with one more. */
static void grow_with_one_more(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	struct callout_crowd *crowd =
		callout_crowd_create_virtual(test, 2 * ROOM + 1);

	callout_crowd_set(crowd, 0, ROOM, 1000);
	KUNIT_EXPECT_FALSE(test, has_asked(base));
	KUNIT_EXPECT_FALSE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);

	callout_crowd_set(crowd, ROOM, ROOM + 1, 1000);
	KUNIT_EXPECT_TRUE(test, has_asked(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), ROOM);
	KUNIT_EXPECT_FALSE(test, is_moving(base));

	callout_crowd_set(crowd, ROOM + 1, 2 * ROOM, 1000);
	KUNIT_EXPECT_FALSE(test, has_asked(base));
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), ROOM);
	callout_crowd_set(crowd, 2 * ROOM, 2 * ROOM + 1, 1000);
	KUNIT_EXPECT_TRUE(test, has_asked(base));
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 2 * ROOM);
}

/* However many callouts there are, a wheel has at most CALLOUT_WHEEL_MAX_BUCKETS. */
static void grow_to_the_most(struct kunit *test)
{
	const int many = 4 * CALLOUT_WHEEL_MAX_BUCKETS;
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;

	/* The callouts are only counted. */
	co_base_lock_irq(base);
	base->until_resize -= many;
	co_base_unlock_irq(base);
	KUNIT_EXPECT_EQ(test, co_base_pending(base), many);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), CALLOUT_WHEEL_MAX_BUCKETS);
	/* The base does not ask for more. */
	KUNIT_EXPECT_EQ(test, base->resize_at, INT_MAX);
	co_base_lock_irq(base);
	base->until_resize += many;
	co_base_unlock_irq(base);
	KUNIT_EXPECT_EQ(test, co_base_pending(base), 0);
}

/* A wheel shrinks when it had too few callouts at two looks, and did not look in between. */
static void grow_shrinks_at_second_look(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	struct callout_crowd *crowd =
		callout_crowd_create_virtual(test, ROOM + 1);
	unsigned int few = ROOM / CALLOUT_WHEEL_FEW;

	callout_crowd_set(crowd, 0, ROOM + 1, 1000);
	co_base_resize(base);
	callout_crowd_stop(crowd, few, ROOM + 1);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	look_is_due(base);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), ROOM);

	callout_crowd_stop(crowd, few - 1, few);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), ROOM);
	callout_crowd_set(crowd, few - 1, few, 1000);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	callout_crowd_stop(crowd, few - 1, few);
	look_is_due(base);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), ROOM);

	look_is_due(base);
	KUNIT_EXPECT_FALSE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
	KUNIT_EXPECT_EQ(test, base->resize_at, ROOM);
}

/* The callouts that are cancelled while the worker has no lock, and how many stay. */
static struct callout_crowd *cancelled;
static unsigned int stay;

static int alloc_and_cancel(struct callout_ring *ring, unsigned int buckets, int node)
{
	callout_crowd_stop(cancelled, stay, cancelled->n);
	return co_ring_alloc(ring, buckets, node, GFP_KERNEL);
}

/* A wheel that has just shrunk shrinks once more at the second look after that. */
static void grow_shrinks_step_by_step(struct kunit *test)
{
	unsigned int n = 64 * FIRST, few = n / CALLOUT_WHEEL_FEW - 1;
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	unsigned int buckets;

	cancelled = callout_crowd_create_virtual(test, n);
	callout_crowd_set(cancelled, 0, n, 1000);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), n);
	callout_crowd_stop(cancelled, few, n);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	look_is_due(base);
	stay = 1;
	kunit_activate_static_stub(test, co_resize_alloc, alloc_and_cancel);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	kunit_deactivate_static_stub(test, co_resize_alloc);
	buckets = rounddown_pow_of_two(few);
	KUNIT_EXPECT_EQ(test, buckets_of(base), buckets);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), buckets);
	look_is_due(base);
	KUNIT_EXPECT_FALSE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
}

/* The node on which memory was requested. */
static int asked_node;

static int note_node(struct callout_ring *ring, unsigned int buckets, int node)
{
	asked_node = node;
	return -ENOMEM;
}

/* A wheel's memory is on its CPU's node. A test's base has no CPU: any node will do. */
static void grow_on_its_node(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_crowd *crowd =
		callout_crowd_create_virtual(test, ROOM + 1);
	struct callout_base *base = v->base;

	callout_crowd_set(crowd, 0, ROOM + 1, 1000);
	kunit_activate_static_stub(test, co_resize_alloc, note_node);
	asked_node = -100;
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, asked_node, NUMA_NO_NODE);
	/* As if it were CPU 0's base. The worker does not meet it here. */
	base->index = 0;
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	base->index = CALLOUT_VIRTUAL;
	KUNIT_EXPECT_EQ(test, asked_node, cpu_to_node(base->cpu));
	kunit_deactivate_static_stub(test, co_resize_alloc);
}

/* A base whose size was given at load keeps it. */
static void grow_not_if_fixed(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_crowd *crowd =
		callout_crowd_create_virtual(test, ROOM + 1);

	co_base_lock_irq(v->base);
	v->base->follows = false;
	co_base_resize_at(v->base, INT_MAX);
	co_base_unlock_irq(v->base);
	callout_crowd_set(crowd, 0, ROOM + 1, 1000);
	KUNIT_EXPECT_FALSE(test, co_base_resize(v->base));
	KUNIT_EXPECT_EQ(test, buckets_of(v->base), FIRST);
}

/* The worker's holds of the lock are no longer than any other hold. */
static void grow_holds_are_bounded(struct kunit *test)
{
	/* Not a multiple of CALLOUT_BUDGET: the last hold is shorter. */
	unsigned int n = 2 * MANY / 5 | 1;
	struct callout_virtual *v = test->priv;
	struct callout_crowd *crowd = callout_crowd_create_virtual(test, n);
	struct callout_base *base = v->base;

	callout_crowd_set(crowd, 0, n, 1000);
	base->stats.max_units = 0;
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, base->stats.max_units, CALLOUT_BUDGET);
	KUNIT_EXPECT_GE(test, CALLOUT_WHEEL_MANY * buckets_of(base), n);
}

static int no_memory(struct callout_ring *ring, unsigned int buckets, int node)
{
	return -ENOMEM;
}

/*
 * Without memory everything works, and the worker is asked again when there are
 * twice as many callouts.
 */
static void grow_without_memory(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	struct callout_crowd *crowd =
		callout_crowd_create_virtual(test, 2 * ROOM + 5);
	unsigned int n = ROOM + 1;

	kunit_activate_static_stub(test, co_resize_alloc, no_memory);
	callout_crowd_set(crowd, 0, n, 1000);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
	callout_crowd_set(crowd, n, 2 * n, 1000);
	KUNIT_EXPECT_FALSE(test, has_asked(base));
	callout_crowd_set(crowd, 2 * n, 2 * n + 1, 1000);
	KUNIT_EXPECT_TRUE(test, has_asked(base));
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_FALSE(test, has_asked(base));
	callout_virtual_run_to(v, v->now + 1000 + n - 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->ran), 2 * n + 1);

	callout_crowd_set(crowd, 0, 2 * ROOM + 5, 1000);
	kunit_deactivate_static_stub(test, co_resize_alloc);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), 2 * ROOM);
}

/* A wheel that cannot shrink for lack of memory shrinks at a later look. */
static void grow_shrinks_without_memory(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	struct callout_crowd *crowd =
		callout_crowd_create_virtual(test, ROOM + 1);

	callout_crowd_set(crowd, 0, ROOM + 1, 1000);
	co_base_resize(base);
	callout_crowd_stop(crowd, 0, ROOM + 1);
	co_base_resize(base);
	look_is_due(base);
	kunit_activate_static_stub(test, co_resize_alloc, no_memory);
	KUNIT_EXPECT_TRUE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), ROOM);
	KUNIT_EXPECT_EQ(test, base->resize_at, 2 * ROOM);
	kunit_deactivate_static_stub(test, co_resize_alloc);
	KUNIT_EXPECT_FALSE(test, co_base_resize(base));
	KUNIT_EXPECT_EQ(test, buckets_of(base), FIRST);
}

/* An idle CPU takes little memory. */
static void grow_begins_small(struct kunit *test)
{
	unsigned int nodes = FIRST / FANOUT + FIRST / FANOUT / FANOUT;

	KUNIT_EXPECT_LE(test, sizeof(struct callout_base) +
			sizeof(struct callout_wheel) +
			FIRST * sizeof(struct callout_bucket) +
			(nodes + 1) * sizeof(u64), IDLE_BYTES);
}

/* Make the worker look now. */
static void worker_looks(void)
{
	mod_delayed_work(system_dfl_wq, &callout_resize_work, 0);
	flush_delayed_work(&callout_resize_work);
}

/* Do what the worker does in two looks, without waiting for them. */
static void two_looks(void)
{
	struct callout_base *base;
	unsigned int i;

	worker_looks();
	for_each_base(base, i)
		look_is_due(base);
	worker_looks();
}

static bool all_are_small(void)
{
	struct callout_base *base;
	unsigned int i;

	for_each_base(base, i)
		if (buckets_of(base) != base->least)
			return false;
	return true;
}

/* A real base gets memory for a million callouts, and gives it back. */
static void grow_gives_a_million_back(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), i;
	struct callout_base *base = co_base(cpu);
	struct callout_crowd *crowd;

	callout_test_pin(test, cpu);
	crowd = callout_crowd_create(test, MANY);
	for (i = 0; i < MANY; i++) {
		callout_reset_on(&crowd->c[i], CALLOUT_TEST_FAR + i,
				 callout_crowd_handler, crowd, cpu);
		if (i % 1024 == 0)
			cond_resched();
	}
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(CALLOUT_WHEEL_MANY *
						  buckets_of(base) >= MANY &&
						  !is_moving(base)));
	worker_looks();
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&callout_resize_work));
	callout_crowd_drain(crowd);
	two_looks();
	KUNIT_EXPECT_TRUE(test, all_are_small());
	/* Nothing is left for the worker to look at. */
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&callout_resize_work));
}

/* Callouts by handle, which are queued in another way, make a wheel grow, too. */
static void grow_with_handles(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), n, i;
	struct callout_base *base = co_base(cpu);
	callout_handle_t *handles;

	callout_test_pin(test, cpu);
	/* After other suites the wheel may be large. */
	two_looks();
	n = CALLOUT_WHEEL_MANY * buckets_of(base) + 1;
	KUNIT_ASSERT_EQ(test, callout_reserve(n), 0);
	handles = callout_test_vcalloc(test, n, sizeof(*handles));
	for (i = 0; i < n; i++)
		handles[i] = setcallout_on(callout_crowd_handler, NULL, CALLOUT_TEST_FAR, cpu);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(CALLOUT_WHEEL_MANY * buckets_of(base) >= n &&
						  !is_moving(base)));
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, unsetcallout(handles[i]), 1);
	two_looks();
}

static void crowd_set_here(void *arg)
{
	callout_crowd_set(arg, 0, ROOM + 1, CALLOUT_TEST_FAR);
}

/* A callout that is set in hard interrupt context can wake the worker. */
static void grow_asked_by_interrupt(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct callout_base *base = co_base(other);
	struct callout_crowd *crowd = callout_crowd_create(test, ROOM + 1);

	for (i = 0; i < crowd->n; i++) {
		crowd->c[i].node.cpu = other;
		crowd->c[i].node.home = other;
	}
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(other, crowd_set_here,
							  crowd, true));
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(buckets_of(base) > FIRST));
	callout_crowd_drain(crowd);
	two_looks();
}

/* Under KASAN accesses are slow. */
#define LOAD		(IS_ENABLED(CONFIG_KASAN) ? 2000U : 4000U)

/* The least number of rounds */
#define LOAD_ROUNDS	2

static struct callout_crowd *load_of[NR_CPUS];
static DECLARE_COMPLETION(load_grew);

/* The first callouts are pending together until the test has seen a wheel grow. */
static void load_thread(void *arg)
{
	const unsigned int first = 2 * ROOM;
	struct callout_crowd *crowd = arg;
	struct rnd_state rng;
	unsigned int i, cpu;

	prandom_seed_state(&rng, crowd->n);
	for (i = 0; i < crowd->n; i++) {
		cpu = cpumask_nth(callout_test_below(&rng, num_online_cpus()),
				  cpu_online_mask);
		callout_reset_on(&crowd->c[i], i < first ? CALLOUT_TEST_FAR :
				 1 + callout_test_below(&rng, HZ),
				 callout_crowd_handler, crowd, cpu);
		if (i % 64 == 0)
			cond_resched();
	}
	wait_for_completion(&load_grew);
	for (i = 0; i < first; i++)
		callout_reset(&crowd->c[i], 1, callout_crowd_handler, crowd);
}

static unsigned int load_ran(void)
{
	unsigned int cpu, ran = 0;

	for_each_online_cpu(cpu)
		ran += atomic_read(&load_of[cpu]->ran);
	return ran;
}

/* Wait for as long as callouts run. */
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
 * All CPUs set callouts on all CPUs, which expire while the wheels grow and shrink:
 * each callout runs once.
 */
static void grow_under_load(struct kunit *test)
{
	u64 end = ktime_get_ns() + callout_test_storm_ns();
	unsigned int round, cpu, ran = 0;

	for (round = 0; round < LOAD_ROUNDS || ktime_get_ns() < end; round++) {
		reinit_completion(&load_grew);
		for_each_online_cpu(cpu)
			load_of[cpu] = callout_crowd_create(test, LOAD);
		for_each_online_cpu(cpu)
			callout_test_thread(test, cpu, load_thread,
					    load_of[cpu]);
		KUNIT_EXPECT_TRUE(test,
				  callout_test_wait_until(!all_are_small()));
		complete_all(&load_grew);
		KUNIT_EXPECT_TRUE(test, load_runs_out());
		two_looks();
		ran += load_ran();
	}
	KUNIT_EXPECT_EQ(test, ran, round * LOAD * num_online_cpus());
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_are_small()));
}

static int grow_init(struct kunit *test)
{
	struct callout_virtual *v;
	int ret = callout_virtual_create(test, FIRST);

	if (ret)
		return ret;
	v = test->priv;
	co_resize_begin(v->base);
	return 0;
}

static struct kunit_case grow_cases[] = {
	KUNIT_CASE(grow_with_one_more),
	KUNIT_CASE_SLOW(grow_to_the_most),
	KUNIT_CASE(grow_shrinks_at_second_look),
	KUNIT_CASE(grow_shrinks_step_by_step),
	KUNIT_CASE(grow_on_its_node),
	KUNIT_CASE(grow_not_if_fixed),
	KUNIT_CASE_SLOW(grow_holds_are_bounded),
	KUNIT_CASE(grow_without_memory),
	KUNIT_CASE(grow_shrinks_without_memory),
	KUNIT_CASE(grow_begins_small),
	KUNIT_CASE_SLOW(grow_gives_a_million_back),
	KUNIT_CASE(grow_with_handles),
	KUNIT_CASE(grow_asked_by_interrupt),
	KUNIT_CASE_SLOW(grow_under_load),
	{}
};

static struct kunit_suite grow_suite = {
	.name		= "callout_grow",
	.init		= grow_init,
	.test_cases	= grow_cases,
};

kunit_test_suite(grow_suite);
