// SPDX-License-Identifier: GPL-2.0
/*
 * timed.c - callouts that real ticks run, and when and where they ran
 *
 * A callout is never early and runs once. Its lateness depends on the machine, and
 * is only printed.
 */
#include "core/queue.h"
#include "bsd/work.h"
#include "timed.h"

/* A callout that is later than this is lost. */
#define LATE	(2 * NSEC_PER_SEC)

void callout_timed_handler(void *arg)
{
	unsigned long start = jiffies;
	struct callout_timed *t = arg;

	t->ran_on = smp_processor_id();
	t->ran = co_now(co_base(t->ran_on));
	atomic_inc(&t->runs);
	while (jiffies - start < t->block)
		cpu_relax();
	callout_test_tell(&t->done);
}

static void timed_drain(void *data)
{
	struct callout_timed_set *set = data;
	unsigned int i;

	for (i = 0; i < set->n; i++)
		callout_drain(&set->t[i].c);
}

struct callout_timed_set *callout_timed_create(struct kunit *test,
					       unsigned int n)
{
	struct callout_timed_set *set;
	unsigned int i;

	set = kunit_kzalloc(test, struct_size(set, t, n), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, set);
	set->n = n;
	for (i = 0; i < n; i++)
		callout_init(&set->t[i].c, CALLOUT_MPSAFE);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, timed_drain, set));
	return set;
}

void callout_timed_set_on(struct callout_timed *t, unsigned int cpu,
			  long distance)
{
	t->cpu = cpu;
	t->least = co_now(co_base(cpu)) + distance;
	callout_reset_on(&t->c, distance, callout_timed_handler, t, cpu);
}

static bool all_ran(struct callout_timed_set *set)
{
	unsigned int i;

	for (i = 0; i < set->n; i++)
		if (!atomic_read(&set->t[i].runs))
			return false;
	return true;
}

/* Wait until all callouts have run. Check that each ran once, not early, and that none is lost. */
void callout_timed_check(struct kunit *test, struct callout_timed_set *set)
{
	unsigned int i, early = 0, wrong = 0, on_time = 0;
	s64 late, most = 0;

	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_ran(set)));
	for (i = 0; i < set->n; i++) {
		late = set->t[i].ran - set->t[i].c.node.expires;
		early += late < 0 || set->t[i].ran < set->t[i].least;
		wrong += atomic_read(&set->t[i].runs) != 1;
		on_time += !late;
		most = max(most, late);
	}
	kunit_info(test, "%u callouts, %u of them on time, %lld ticks late at most\n",
		   set->n, on_time, most);
	KUNIT_EXPECT_EQ(test, early, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_LT(test, most * callout_tick_ns(), LATE);
}
