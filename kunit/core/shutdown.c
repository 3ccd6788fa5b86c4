// SPDX-License-Identifier: GPL-2.0
/*
 * shutdown.c - suite callout_shutdown: callouts that can no longer be set
 *
 * Runs on the real bases, with real ticks. states.c has the return value of each
 * call.
 */
#include <linux/cpu.h>
#include <linux/rwsem.h>
#include "lib/timed.h"

/* Each call that sets a callout sets nothing until the callout is initialised. */
static void shutdown_until_init(struct kunit *test)
{
	struct callout_timed_set *set = callout_timed_create(test, 1);
	struct callout_timed *t = set->t;
	struct callout *c = &t->c;

	callout_timed_set_on(t, 0, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, callout_shutdown(c), 1);
	KUNIT_EXPECT_EQ(test, callout_reset(c, 1, callout_timed_handler, t), 0);
	KUNIT_EXPECT_EQ(test, callout_reset_on(c, 1, callout_timed_handler, t,
					       0), 0);
	KUNIT_EXPECT_EQ(test, callout_reset_curcpu(c, 1, callout_timed_handler,
						   t), 0);
	KUNIT_EXPECT_EQ(test, callout_schedule(c, 1), 0);
	KUNIT_EXPECT_EQ(test, callout_schedule_on(c, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, callout_reset_sbt(c, SBT_1MS, 0,
						callout_timed_handler, t, 0),
			0);
	KUNIT_EXPECT_EQ(test, callout_schedule_sbt(c, SBT_1MS, 0, 0), 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(c));
	KUNIT_EXPECT_FALSE(test, callout_active(c));
	schedule_timeout_uninterruptible(5);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->runs), 0);
	callout_init(c, CALLOUT_MPSAFE);
	callout_timed_set_on(t, 0, 1);
	callout_timed_check(test, set);
}

/* A callout whose CPU goes and comes back stays shut down. */
static void shutdown_over_hotplug(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);
	struct callout_timed_set *set;
	struct callout_timed *t;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	set = callout_timed_create(test, 2);
	t = set->t;
	callout_timed_set_on(&t[0], cpu, CALLOUT_TEST_FAR);
	callout_timed_set_on(&t[1], cpu, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, callout_shutdown(&t[0].c), 1);
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_EQ(test, callout_schedule_on(&t[0].c, 1, 0), 0);
	/* This callout has migrated. */
	KUNIT_EXPECT_EQ(test, callout_shutdown(&t[1].c), 1);
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	KUNIT_EXPECT_EQ(test, callout_schedule_on(&t[0].c, 1, cpu), 0);
	KUNIT_EXPECT_EQ(test, callout_schedule_on(&t[1].c, 1, cpu), 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&t[0].c));
	KUNIT_EXPECT_FALSE(test, callout_pending(&t[1].c));
}

/**
 * struct side - one of two callouts whose handlers set each other
 * @c: the callout
 * @other: the other callout
 * @cpu: the CPU on which the handler sets @other; -1: the CPU of @other
 * @runs: how often the handler has run
 * @inside: the handler runs
 */
struct side {
	struct callout c;
	struct side *other;
	int cpu;
	atomic_t runs;
	atomic_t inside;
};

static void side_handler(void *arg)
{
	struct side *s = arg;

	atomic_inc(&s->inside);
	atomic_inc(&s->runs);
	callout_reset_on(&s->other->c, 1, side_handler, s->other, s->cpu);
	atomic_dec(&s->inside);
}

static void pair_init(struct side pair[2])
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		callout_init(&pair[i].c, CALLOUT_MPSAFE);
		pair[i].other = &pair[!i];
	}
}

static int pair_runs(const struct side pair[2])
{
	return atomic_read(&pair[0].runs) + atomic_read(&pair[1].runs);
}

/* Shut both callouts down. Return how many things are wrong then, or two ticks later. */
static unsigned int pair_end(struct side pair[2], unsigned int first)
{
	unsigned int i, wrong = 0;
	int runs;

	callout_shutdown(&pair[first].c);
	callout_shutdown(&pair[!first].c);
	runs = pair_runs(pair);
	for (i = 0; i < 2; i++) {
		wrong += callout_pending(&pair[i].c);
		wrong += atomic_read(&pair[i].inside);
		wrong += callout_reset(&pair[i].c, 1, side_handler, &pair[i]);
	}
	schedule_timeout_uninterruptible(2);
	for (i = 0; i < 2; i++)
		wrong += callout_pending(&pair[i].c);
	return wrong + (pair_runs(pair) != runs);
}

static bool pair_has_run(const struct side pair[2], int before)
{
	return callout_test_wait_until(pair_runs(pair) > before + 2);
}

static void pair_end_at_exit(void *data)
{
	struct side *pair = data;

	pair_end(pair, 0);
}

/* End two callouts whose handlers set each other, in either order. */
static void shutdown_pair(struct kunit *test)
{
	unsigned int first, cpu[2] = { 0, cpumask_last(cpu_online_mask) };
	struct side *pair;
	int before;

	pair = kunit_kcalloc(test, 2, sizeof(*pair), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair_init(pair);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, pair_end_at_exit, pair));
	pair[0].cpu = cpu[1];
	pair[1].cpu = cpu[0];
	for (first = 0; first < 2; first++) {
		before = pair_runs(pair);
		callout_reset_on(&pair[0].c, 1, side_handler, &pair[0], cpu[0]);
		KUNIT_EXPECT_TRUE(test, pair_has_run(pair, before));
		KUNIT_EXPECT_EQ(test, pair_end(pair, first), 0);
		pair_init(pair);
	}
}

#define STRESS_ROUNDS	10

/**
 * struct stress - a pair that all CPUs set while one thread shuts it down
 * @pair: the callouts
 * @initialised: held for writing while the callouts are initialised again, which
 *	must not race with calls that set them
 * @end: the threads may return
 * @sets: settings by threads
 */
struct stress {
	struct side pair[2];
	struct rw_semaphore initialised;
	bool end;
	atomic_t sets;
};

static void stress_setter(void *arg)
{
	struct stress *s = arg;
	struct rnd_state rng;
	struct side *side;
	int cpu;

	prandom_seed_state(&rng, raw_smp_processor_id());
	while (!callout_test_told(&s->end)) {
		side = &s->pair[callout_test_below(&rng, 2)];
		cpu = callout_test_below(&rng, nr_cpu_ids + 1) - 1;
		down_read(&s->initialised);
		callout_reset_on(&side->c, callout_test_below(&rng, 3),
				 side_handler, side, cpu);
		up_read(&s->initialised);
		atomic_inc(&s->sets);
		/* Otherwise a due callout would always be moved away. */
		if (!callout_test_below(&rng, 4))
			usleep_range(500, 1000);
		cond_resched();
	}
}

static struct stress *stress_create(struct kunit *test)
{
	struct stress *s;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	init_rwsem(&s->initialised);
	s->pair[0].cpu = -1;
	s->pair[1].cpu = cpumask_last(cpu_online_mask);
	pair_init(s->pair);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, pair_end_at_exit,
						  s->pair));
	return s;
}

/*
 * After callout_shutdown() a callout is neither pending nor running, while threads
 * on all CPUs and the handler of another callout keep setting it.
 */
static void shutdown_stress(struct kunit *test)
{
	struct stress *s = stress_create(test);
	struct callout_test_thread *t[8];
	unsigned int cpu, nr = 0, i, wrong = 0, idle = 0;
	int before;

	for_each_online_cpu(cpu)
		if (nr < ARRAY_SIZE(t))
			t[nr++] = callout_test_thread(test, cpu, stress_setter,
						      s);
	for (i = 0; i < callout_test_rounds(STRESS_ROUNDS); i++) {
		before = pair_runs(s->pair);
		idle += !pair_has_run(s->pair, before);
		wrong += pair_end(s->pair, i % 2);
		down_write(&s->initialised);
		pair_init(s->pair);
		up_write(&s->initialised);
	}
	callout_test_tell(&s->end);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_TRUE(test, callout_test_join(t[i]));
	kunit_info(test, "%d settings, %d runs\n", atomic_read(&s->sets),
		   pair_runs(s->pair));
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, idle, 0);
}

static struct kunit_case shutdown_cases[] = {
	KUNIT_CASE(shutdown_until_init),
	KUNIT_CASE_SLOW(shutdown_over_hotplug),
	KUNIT_CASE(shutdown_pair),
	KUNIT_CASE_SLOW(shutdown_stress),
	{}
};

static struct kunit_suite shutdown_suite = {
	.name = "callout_shutdown",
	.test_cases = shutdown_cases,
};

kunit_test_suite(shutdown_suite);
