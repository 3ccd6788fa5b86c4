// SPDX-License-Identifier: GPL-2.0
/*
 * stress_load.c - threads that race for the same callouts, and the accounts of
 * their settings
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include "handles/kernel.h"
#include "stress_load.h"

#define DURATION_NS	(3 * NSEC_PER_SEC / 2)
#define MAX_THREADS	8U

/* After this many operations a thread no longer waits for any outcome. */
#define MAX_OPS		10000U

/* A handler that only counts. */
void callout_stress_just_count(void *arg)
{
	struct callout_stress_item *item = arg;

	atomic_inc(&item->runs);
}

/* The accounts of all items together. */
struct stress_totals {
	u64 sets;
	u64 replaced;
	u64 stopped;
	u64 zeroes;
	u64 runs;
};

static struct stress_totals stress_add_up(struct callout_stress *s)
{
	struct callout_stress_item *item;
	struct stress_totals t = { };

	for (item = s->item; item < s->item + CALLOUT_STRESS_ITEMS; item++) {
		t.sets += atomic_read(&item->sets);
		t.replaced += atomic_read(&item->replaced);
		t.stopped += atomic_read(&item->stopped);
		t.zeroes += atomic_read(&item->zeroes);
		t.runs += atomic_read(&item->runs);
	}
	return t;
}

/* At least some of each, however slow the machine is. */
#define MIN_SETS	21
#define MIN_RUNS	11

static bool stress_is_enough(struct callout_stress *s)
{
	struct stress_totals t = stress_add_up(s);

	return t.sets >= MIN_SETS && t.runs >= MIN_RUNS &&
	       t.zeroes >= s->min_zeroes && atomic_read(&s->met) >= s->min_met;
}

static void stress_thread(void *arg)
{
	struct callout_stress *s = arg;
	struct callout_stress_item *item;
	struct rnd_state rng;
	unsigned int ops = 0;

	prandom_seed_state(&rng, s->seed + 7919 * raw_smp_processor_id());
	while (ktime_get_ns() < s->end ||
	       (ops < MAX_OPS && !stress_is_enough(s))) {
		item = &s->item[callout_test_below(&rng, CALLOUT_STRESS_ITEMS)];
		s->op(s, item, &rng);
		ops++;
		atomic64_inc(&s->ops);
		cond_resched();
	}
}

/* Join a thread, waiting for as long as any thread makes operations. */
static bool stress_join(struct callout_stress *s, struct callout_test_thread *t)
{
	s64 ops;

	do {
		ops = atomic64_read(&s->ops);
		if (callout_test_join(t))
			return true;
	} while (atomic64_read(&s->ops) != ops);
	return false;
}

static void stress_drain(void *data)
{
	struct callout_stress *s = data;
	unsigned int i;

	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++) {
		callout_drain(&s->item[i].c);
		unsetcallout_sync(s->item[i].handle);
		while (callout_untimeout(callout_stress_just_count,
					 &s->item[i]) == 1)
			;
	}
}

/* Create a load. @op does one operation on an item. */
struct callout_stress *
callout_stress_create(struct kunit *test,
		      void (*op)(struct callout_stress *s,
				 struct callout_stress_item *item,
				 struct rnd_state *rng))
{
	struct callout_stress *s;
	struct rnd_state rng;
	unsigned int i;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	callout_test_rng(test, &rng);
	s->seed = prandom_u32_state(&rng);
	s->op = op;
	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++) {
		s->item[i].s = s;
		callout_init(&s->item[i].c, CALLOUT_MPSAFE);
		mutex_init(&s->item[i].mutex);
		spin_lock_init(&s->item[i].lock);
	}
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, stress_drain, s));
	return s;
}

/* Run the load on the first @n CPUs, and @meanwhile in this thread. */
void callout_stress_run_on(struct kunit *test, struct callout_stress *s,
			   unsigned int n,
			   void (*meanwhile)(struct kunit *test))
{
	struct callout_test_thread *t[MAX_THREADS];
	unsigned int cpu, nr = 0, i;

	s->end = ktime_get_ns() + DURATION_NS;
	for_each_online_cpu(cpu)
		if (nr < min(n, MAX_THREADS))
			t[nr++] = callout_test_thread(test, cpu, stress_thread,
						      s);
	if (meanwhile)
		meanwhile(test);
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_TRUE(test, stress_join(s, t[i]));
	s->handler_sets = false;
	KUNIT_EXPECT_EQ(test, atomic_read(&s->errors), 0);
}

void callout_stress_run(struct kunit *test, struct callout_stress *s)
{
	callout_stress_run_on(test, s, MAX_THREADS, NULL);
}

/* The number of settings that are not accounted for. */
int callout_stress_missing(struct callout_stress_item *item)
{
	return atomic_read(&item->sets) - atomic_read(&item->runs) -
	       atomic_read(&item->replaced) - atomic_read(&item->stopped) -
	       item->missing;
}

/* Is each setting accounted for? */
bool callout_stress_is_complete(struct callout_stress *s)
{
	unsigned int i;

	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++)
		if (callout_stress_missing(&s->item[i]))
			return false;
	return true;
}

/* Is no callout pending, and no handler running? */
bool callout_stress_is_quiet(struct callout_stress *s)
{
	unsigned int i;

	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++)
		if (callout_pending(&s->item[i].c) ||
		    atomic_read(&s->item[i].inside))
			return false;
	return true;
}

/*
 * Check the accounts of all items while none is pending or running. Up to
 * @allowed() settings of an item may be missing, and none may count twice.
 */
void callout_stress_account(struct kunit *test, struct callout_stress *s,
			    int (*allowed)(struct callout_stress_item *item))
{
	struct stress_totals t = stress_add_up(s);
	struct callout_stress_item *item;
	unsigned int i, wrong = 0;
	int missing;

	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++) {
		item = &s->item[i];
		missing = callout_stress_missing(item);
		if (missing < 0 || missing > (allowed ? allowed(item) : 0)) {
			kunit_err(test, "item %u: %d of %d missing\n", i,
				  missing, atomic_read(&item->sets));
			wrong++;
		}
	}
	kunit_info(test, "%lld operations: set %llu, replaced %llu, stopped %llu, ran %llu, running %llu\n",
		   atomic64_read(&s->ops), t.sets, t.replaced, t.stopped,
		   t.runs, t.zeroes);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GE(test, t.sets, MIN_SETS);
	KUNIT_EXPECT_GE(test, t.runs, MIN_RUNS);
	KUNIT_EXPECT_GE(test, t.zeroes, s->min_zeroes);
	KUNIT_EXPECT_GE(test, atomic_read(&s->met), s->min_met);
}
