// SPDX-License-Identifier: GPL-2.0
/*
 * unbound.c - suite callout_unbound: callouts that follow their caller
 *
 * On the real bases, with real ticks. Which CPU runs them is the kernel's choice.
 */
#include <linux/cpu.h>
#include "core/queue.h"
#include "lib/timed.h"

/* The index of the base where an unbound callout is that @cpu has set. */
static unsigned int index_of(unsigned int cpu)
{
	return callout_base_of(CALLOUT_CLASS_GLOBAL, cpu)->index;
}

static struct callout_timed *unbound_create(struct kunit *test)
{
	struct callout_timed_set *set = callout_timed_create(test, 1);

	callout_unbind(&set->t[0].c);
	return set->t;
}

static int unbound_set(struct callout_timed *t, long distance)
{
	return callout_reset(&t->c, distance, callout_timed_handler, t);
}

/* It is on the CPU that has set it last, pending or not. */
static void unbound_follows(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	unsigned int this = raw_smp_processor_id(), i;
	struct callout_timed *t = unbound_create(test);

	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, unbound_set(t, CALLOUT_TEST_FAR), !!i);
		KUNIT_EXPECT_EQ(test, t->c.node.cpu,
				index_of(i % 2 ? other : this));
		KUNIT_EXPECT_TRUE(test, callout_pending(&t->c));
		callout_test_pin(test, i % 2 ? this : other);
	}
	KUNIT_EXPECT_EQ(test, callout_stop(&t->c), 1);
	KUNIT_EXPECT_EQ(test, unbound_set(t, CALLOUT_TEST_FAR), 0);
	KUNIT_EXPECT_EQ(test, t->c.node.cpu, index_of(this));
	KUNIT_EXPECT_EQ(test, callout_drain(&t->c), 1);
}

/* It runs once, and not early. */
static void unbound_runs(struct kunit *test)
{
	struct callout_timed *t = unbound_create(test);
	long distance;
	u64 now;

	for (distance = 1; distance < 100; distance *= 3) {
		atomic_set(&t->runs, 0);
		now = callout_ticks();
		KUNIT_EXPECT_EQ(test, unbound_set(t, distance), 0);
		KUNIT_EXPECT_TRUE(test,
				  callout_test_wait_until(atomic_read(&t->runs)));
		KUNIT_EXPECT_GE(test, t->ran, now + distance);
		callout_drain(&t->c);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->runs), 1);
	}
}

/* A setting for a CPU binds it to that, until it is unbound again. */
static void unbound_is_bound(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct callout_timed *t = unbound_create(test);
	struct callout *c = &t->c;

	unbound_set(t, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, callout_schedule_on(c, CALLOUT_TEST_FAR, other),
			1);
	KUNIT_EXPECT_EQ(test, c->node.cpu, other);
	KUNIT_EXPECT_EQ(test, unbound_set(t, CALLOUT_TEST_FAR), 1);
	KUNIT_EXPECT_EQ(test, c->node.cpu, other);
	callout_unbind(c);
	KUNIT_EXPECT_EQ(test, unbound_set(t, CALLOUT_TEST_FAR), 1);
	KUNIT_EXPECT_EQ(test, c->node.cpu, index_of(raw_smp_processor_id()));
	KUNIT_EXPECT_EQ(test, callout_stop(c), 1);
}

/*
 * It is in the global base of the CPU that sets it or, if that is nohz_full, bound
 * to a housekeeping CPU: to arm in that CPU's global base would take all of its
 * unbound callouts away. The job nohz runs this where there is such a CPU.
 */
static void unbound_set_anywhere(struct kunit *test)
{
	struct callout_timed *t = unbound_create(test);
	unsigned int cpu, home;

	for_each_online_cpu(cpu) {
		callout_test_pin(test, cpu);
		home = callout_home_cpu();
		unbound_set(t, CALLOUT_TEST_FAR);
		KUNIT_EXPECT_EQ(test, t->c.node.cpu, home == cpu ?
				index_of(cpu) : callout_base(home)->index);
	}
	KUNIT_EXPECT_EQ(test, callout_stop(&t->c), 1);
}

static void rearming_handler(void *arg)
{
	struct callout_timed *t = arg;

	atomic_inc(&t->runs);
	callout_schedule(&t->c, 2);
}

/*
 * A callout that its handler sets stays on that CPU, also if it was meant for
 * another one, which is back.
 */
static void unbound_stays_where_it_runs(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);
	struct callout_timed *t;
	int runs;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	t = unbound_create(test);
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	callout_reset_on(&t->c, 2, rearming_handler, t, cpu);
	callout_unbind(&t->c);
	runs = atomic_read(&t->runs);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&t->runs) > runs + 1));
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	runs = atomic_read(&t->runs);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&t->runs) > runs + 2));
	KUNIT_EXPECT_EQ(test, callout_base(READ_ONCE(t->c.node.cpu))->number, 0);
}

static void binding_handler(void *arg)
{
	struct callout_timed *t = arg;

	callout_reset_on(&t->c, CALLOUT_TEST_FAR, callout_timed_handler, t,
			 t->cpu);
	atomic_inc(&t->runs);
}

static void binding_handler_that_stops(void *arg)
{
	struct callout_timed *t = arg;

	binding_handler(arg);
	callout_stop(&t->c);
}

/* Runs @handler as that of an unbound callout; it has returned afterwards. */
static void unbound_run(struct kunit *test, struct callout_timed *t,
			callout_func_t *handler)
{
	int runs = atomic_read(&t->runs);

	callout_unbind(&t->c);
	callout_reset(&t->c, 1, handler, t);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&t->runs) > runs));
	callout_barrier();
}

static bool is_in_global_base(struct callout_timed *t)
{
	return callout_base_has_class(callout_base(READ_ONCE(t->c.node.cpu)),
				      CALLOUT_CLASS_GLOBAL);
}

/*
 * A callout that its handler has bound is in no global base when that has
 * returned, even if the CPU is offline: a CPU arms in its own global base only,
 * and any CPU may set it from then on.
 */
static void unbound_is_bound_to_an_offline_cpu(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);
	struct callout_timed *t;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	t = unbound_create(test);
	t->cpu = cpu;
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	unbound_run(test, t, binding_handler);
	KUNIT_EXPECT_TRUE(test, callout_pending(&t->c));
	KUNIT_EXPECT_FALSE(test, is_in_global_base(t));
	/* One that is idle leaves when it is set. */
	unbound_run(test, t, binding_handler_that_stops);
	KUNIT_EXPECT_FALSE(test, callout_pending(&t->c));
	KUNIT_EXPECT_EQ(test, unbound_set(t, CALLOUT_TEST_FAR), 0);
	KUNIT_EXPECT_FALSE(test, is_in_global_base(t));
	KUNIT_EXPECT_NE(test, t->c.node.cpu, cpu);
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	KUNIT_EXPECT_EQ(test, unbound_set(t, CALLOUT_TEST_FAR), 1);
	KUNIT_EXPECT_EQ(test, t->c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, callout_stop(&t->c), 1);
}

#define STRESS_MS	500

/**
 * struct load - one unbound callout that all CPUs set and stop
 * @c: the callout
 * @end: the threads may return
 * @sets: settings that returned 0: one more than before
 * @ends: runs, and stops that returned 1
 * @zeroes: stops that met the handler, each of which may have cancelled one
 * @inside: the handler runs
 * @wrong: it ran twice at the same time
 */
struct load {
	struct callout c;
	bool end;
	atomic_t sets;
	atomic_t ends;
	atomic_t zeroes;
	atomic_t inside;
	atomic_t wrong;
};

static void load_handler(void *arg)
{
	struct load *l = arg;

	if (atomic_inc_return(&l->inside) != 1)
		atomic_inc(&l->wrong);
	if (atomic_inc_return(&l->ends) % 3 == 0 &&
	    !callout_reset(&l->c, 1, load_handler, l))
		atomic_inc(&l->sets);
	atomic_dec(&l->inside);
}

static void load_thread(void *arg)
{
	struct load *l = arg;
	struct rnd_state rng;
	int ret;

	prandom_seed_state(&rng, raw_smp_processor_id());
	while (!callout_test_told(&l->end)) {
		if (callout_test_below(&rng, 4)) {
			if (!callout_reset(&l->c, callout_test_below(&rng, 3),
					   load_handler, l))
				atomic_inc(&l->sets);
		} else {
			ret = callout_stop(&l->c);
			atomic_add(ret == 1, &l->ends);
			atomic_add(!ret, &l->zeroes);
		}
		usleep_range(200, 2000);
	}
}

static void load_drain(void *data)
{
	struct load *l = data;

	callout_drain(&l->c);
}

/* No setting is lost or doubled, while CPUs pull the callout back and forth. */
static void unbound_stress(struct kunit *test)
{
	struct callout_test_thread *t[8];
	unsigned int cpu, nr = 0, i;
	struct load *l;
	int ret;

	l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, l);
	callout_init(&l->c, CALLOUT_MPSAFE);
	callout_unbind(&l->c);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, load_drain, l));
	for_each_online_cpu(cpu)
		if (nr < ARRAY_SIZE(t))
			t[nr++] = callout_test_thread(test, cpu, load_thread, l);
	msleep(STRESS_MS);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(atomic_read(&l->ends) > 10));
	callout_test_tell(&l->end);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_TRUE(test, callout_test_join(t[i]));
	ret = callout_shutdown(&l->c);
	atomic_add(ret == 1, &l->ends);
	atomic_add(!ret, &l->zeroes);
	kunit_info(test, "%d settings, %d ends, %d stops met the handler\n",
		   atomic_read(&l->sets), atomic_read(&l->ends),
		   atomic_read(&l->zeroes));
	KUNIT_EXPECT_EQ(test, atomic_read(&l->wrong), 0);
	KUNIT_EXPECT_LE(test, atomic_read(&l->ends), atomic_read(&l->sets));
	/*
	 * Each of those may have cancelled one, and the shutdown has also refused
	 * the handler's own.
	 */
	KUNIT_EXPECT_GE(test, atomic_read(&l->ends) + atomic_read(&l->zeroes) + 1,
			atomic_read(&l->sets));
}

static struct kunit_case unbound_cases[] = {
	KUNIT_CASE(unbound_follows),
	KUNIT_CASE(unbound_runs),
	KUNIT_CASE(unbound_is_bound),
	KUNIT_CASE(unbound_set_anywhere),
	KUNIT_CASE_SLOW(unbound_stays_where_it_runs),
	KUNIT_CASE_SLOW(unbound_is_bound_to_an_offline_cpu),
	KUNIT_CASE_SLOW(unbound_stress),
	{}
};

static struct kunit_suite unbound_suite = {
	.name = "callout_unbound",
	.test_cases = unbound_cases,
};

kunit_test_suite(unbound_suite);
