// SPDX-License-Identifier: GPL-2.0
/*
 * core.c - suite callout_core: states and return values, on a virtual clock
 *
 * The suite has one thread, and the time is a variable. Races are in race.c, ticks
 * and limits in expiry.c, real ticks in smp.c.
 */
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "core/debug.h"
#include "lib/virtual.h"

/* callout_reset() returns whether it replaced a setting; the last setting counts. */
static void core_reset(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	u64 start = v->now;
	struct callout_item *a = callout_virtual_items(test, 1);

	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 10), 0);
	KUNIT_EXPECT_TRUE(test, callout_pending(&a->c));
	KUNIT_EXPECT_TRUE(test, callout_active(&a->c));
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 20), 1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 5), 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 1);
	callout_virtual_run_to(v, start + 4);
	KUNIT_EXPECT_EQ(test, a->runs, 0);
	callout_virtual_run_to(v, start + 5);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	KUNIT_EXPECT_FALSE(test, callout_pending(&a->c));
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	callout_virtual_run_to(v, start + 1000);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 1), 0);
}

/* callout_stop() returns 1 for a pending callout, -1 for an idle one. */
static void core_stop(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), -1);
	callout_virtual_set(a, 10);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), 1);
	KUNIT_EXPECT_FALSE(test, callout_pending(&a->c));
	KUNIT_EXPECT_FALSE(test, callout_active(&a->c));
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), -1);
	callout_virtual_run_to(v, v->now + 100);
	KUNIT_EXPECT_EQ(test, a->runs, 0);
	callout_virtual_set(a, 10);
	callout_virtual_run_to(v, v->now + 10);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), -1);
}

/* callout_drain() returns what callout_stop() returns if the handler does not run. */
static void core_drain(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	KUNIT_EXPECT_EQ(test, callout_drain(&a->c), -1);
	callout_virtual_set(a, 10);
	KUNIT_EXPECT_EQ(test, callout_drain(&a->c), 1);
	KUNIT_EXPECT_FALSE(test, callout_active(&a->c));
	callout_virtual_run_to(v, v->now + 100);
	KUNIT_EXPECT_EQ(test, a->runs, 0);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 1), 0);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
}

/* Distances below 1 count as 1. */
static void core_least_distance_is_one(struct kunit *test)
{
	static const long least[] = { 1, 0, -1, -1000, LONG_MIN };
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, ARRAY_SIZE(least));
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(least); i++) {
		callout_virtual_set(&a[i], least[i]);
		KUNIT_EXPECT_EQ(test, a[i].c.node.expires, v->now + 1);
	}
	callout_virtual_expire(v);
	KUNIT_EXPECT_EQ(test, v->ran, 0);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, v->ran, ARRAY_SIZE(least));
}

/* The greatest distance does not wrap. */
static void core_greatest_distance(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	u64 start = v->now;

	callout_virtual_set(a, LONG_MAX);
	callout_virtual_run_to(v, start + LONG_MAX - 1);
	KUNIT_EXPECT_EQ(test, a->runs, 0);
	KUNIT_EXPECT_EQ(test, v->armed, start + LONG_MAX);
	callout_virtual_run_to(v, start + LONG_MAX);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
}

static void then_look(struct callout_item *item)
{
	item->seen = callout_pending(&item->c) | callout_active(&item->c) << 1;
	item->ret = callout_stop(&item->c);
}

/* In its handler a callout is active, not pending, and stop returns 0. */
static void core_state_in_handler(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	a->then = then_look;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->seen, 2);
	KUNIT_EXPECT_EQ(test, a->ret, 0);
	KUNIT_EXPECT_FALSE(test, callout_active(&a->c));

	/* So it is if it was set for a time, which has passed. */
	a->ret = -100;
	callout_reset_sbt(&a->c, 1, 0, callout_virtual_handler, a, C_ABSOLUTE);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->seen, 2);
	KUNIT_EXPECT_EQ(test, a->ret, 0);
}

static void then_look_at_interrupts(struct callout_item *item)
{
	item->seen = irqs_disabled();
}

/* The handler of a callout without a lock runs with interrupts on. */
static void core_interrupts_are_on(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	a->then = then_look_at_interrupts;
	a->seen = 1;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->seen, 0);
}

static DEFINE_SPINLOCK(lock_before);

/*
 * The state is the same after callouts with a lock, whose handlers are over when the
 * lock is free: a base does not remember them.
 */
static void core_state_in_next_handler(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	static const u8 flags[] = { 0, CALLOUT_TRYLOCK };
	struct callout_item *a = callout_virtual_items(test, 2);
	unsigned int i;

	a[1].then = then_look;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		callout_init_mtx(&a[0].c, &lock_before, flags[i]);
		a[0].c.node.cpu = CALLOUT_VIRTUAL;
		spin_lock_bh(&lock_before);
		callout_virtual_set(&a[0], 1);
		spin_unlock_bh(&lock_before);
		callout_virtual_set(&a[1], 1);
		a[1].ret = -100;
		callout_virtual_run_to(v, v->now + 1);
		KUNIT_EXPECT_EQ(test, a[0].runs, i + 1);
		KUNIT_EXPECT_EQ(test, a[1].seen, 2);
		KUNIT_EXPECT_EQ(test, a[1].ret, 0);
	}
}

/* Active is set until callout_deactivate(), which does not stop the callout. */
static void core_active(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	KUNIT_EXPECT_FALSE(test, callout_active(&a->c));
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_TRUE(test, callout_active(&a->c));
	callout_deactivate(&a->c);
	KUNIT_EXPECT_FALSE(test, callout_active(&a->c));
	callout_virtual_set(a, 1);
	KUNIT_EXPECT_TRUE(test, callout_active(&a->c));
	callout_deactivate(&a->c);
	KUNIT_EXPECT_TRUE(test, callout_pending(&a->c));
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 2);
}

static void then_set_again(struct callout_item *item)
{
	if (item->runs < 10)
		item->ret |= callout_virtual_set(item, 7);
}

/* A handler can set its own callout: that returns 0, and the callout runs on time. */
static void core_handler_sets_itself(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	u64 start = v->now;
	unsigned int i;

	a->then = then_set_again;
	callout_virtual_set(a, 7);
	for (i = 1; i <= 10; i++) {
		callout_virtual_run_to(v, start + 7 * i - 1);
		KUNIT_EXPECT_EQ(test, a->runs, i - 1);
		callout_virtual_run_to(v, start + 7 * i);
		KUNIT_EXPECT_EQ(test, a->runs, i);
	}
	KUNIT_EXPECT_EQ(test, a->ret, 0);
	callout_virtual_run_to(v, v->now + 1000);
	KUNIT_EXPECT_EQ(test, a->runs, 10);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

static void then_set_and_stop(struct callout_item *item)
{
	item->ret = callout_virtual_set(item, 1);
	item->seen = callout_stop(&item->c);
}

/* Stopping a callout that runs and was set again returns 0, and cancels the new setting. */
static void core_handler_sets_and_stops_itself(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	a->then = then_set_and_stop;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->ret, 0);
	KUNIT_EXPECT_EQ(test, a->seen, 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&a->c));
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	callout_virtual_run_to(v, v->now + 10);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
}

static void then_set_twice(struct callout_item *item)
{
	if (item->runs > 1)
		return;
	item->ret = callout_virtual_set(item, 50);
	item->seen = callout_virtual_set(item, 3);
}

/* A second reset in the handler returns 1: it replaces the first. */
static void core_handler_sets_itself_twice(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	a->then = then_set_twice;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->ret, 0);
	KUNIT_EXPECT_EQ(test, a->seen, 1);
	callout_virtual_run_to(v, v->now + 3);
	KUNIT_EXPECT_EQ(test, a->runs, 2);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

/* A callout without a lockdep class works, as zeroed static memory does. */
static void core_without_class(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	memset(&a->c, 0, sizeof(a->c));
	co_setup(&a->c.node, CALLOUT_KIND_FUNC, CALLOUT_VIRTUAL);
	/* debugobjects does not track it. */
	a->c.node.flags = CALLOUT_L_STATIC;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	KUNIT_EXPECT_EQ(test, callout_drain(&a->c), -1);
}

static void free_handler(void *arg)
{
	struct callout_item *item = arg;

	item->v->ran++;
	kfree(item);
}

/* No use-after-free: the core does not touch a callout whose handler began. */
static void core_handler_frees_itself(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	unsigned int i;
	struct callout_item *item;

	for (i = 0; i < 100; i++) {
		item = kzalloc(sizeof(*item), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, item);
		item->v = v;
		callout_init(&item->c, CALLOUT_MPSAFE);
		item->c.node.cpu = CALLOUT_VIRTUAL;
		callout_reset(&item->c, 1 + i % 7, free_handler, item);
	}
	callout_virtual_run_to(v, v->now + 7);
	KUNIT_EXPECT_EQ(test, v->ran, 100);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

static void then_stop_other(struct callout_item *item)
{
	item->seen = callout_virtual_is_due(&item->other->c);
	item->ret = callout_stop(&item->other->c);
}

/* A due callout can be stopped until its handler begins. */
static void core_stop_due(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 3);
	int i;

	for (i = 0; i < 3; i++)
		callout_virtual_set(&a[i], 1);
	a[0].then = then_stop_other;
	a[0].other = &a[1];
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a[0].seen, 1);
	KUNIT_EXPECT_EQ(test, a[0].ret, 1);
	KUNIT_EXPECT_EQ(test, a[1].runs, 0);
	KUNIT_EXPECT_EQ(test, a[2].runs, 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

static void then_set_other(struct callout_item *item)
{
	item->seen = callout_virtual_is_due(&item->other->c);
	item->ret = callout_virtual_set(item->other, 5);
}

/* A due callout that is set again runs once, at the new time. */
static void core_reset_due(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);
	u64 start = v->now;

	callout_virtual_set(&a[0], 1);
	callout_virtual_set(&a[1], 1);
	a[0].then = then_set_other;
	a[0].other = &a[1];
	callout_virtual_run_to(v, start + 1);
	KUNIT_EXPECT_EQ(test, a[0].seen, 1);
	KUNIT_EXPECT_EQ(test, a[0].ret, 1);
	KUNIT_EXPECT_EQ(test, a[1].runs, 0);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 1);
	callout_virtual_run_to(v, start + 5);
	KUNIT_EXPECT_EQ(test, a[1].runs, 0);
	callout_virtual_run_to(v, start + 6);
	KUNIT_EXPECT_EQ(test, a[1].runs, 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

/* callout_schedule() keeps the handler and its argument. */
static void core_schedule(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	u64 start = v->now;

	callout_virtual_set(a, 10);
	KUNIT_EXPECT_EQ(test, callout_schedule(&a->c, 4), 1);
	callout_virtual_run_to(v, start + 3);
	KUNIT_EXPECT_EQ(test, a->runs, 0);
	callout_virtual_run_to(v, start + 4);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	KUNIT_EXPECT_EQ(test, callout_schedule(&a->c, 0), 0);
	callout_virtual_run_to(v, start + 5);
	KUNIT_EXPECT_EQ(test, a->runs, 2);
}

/* callout_reset_on() moves a callout, which is pending on one base only. */
static void core_reset_on_moves(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);
	unsigned int cpu = cpumask_first(cpu_online_mask);

	callout_virtual_set(&a[0], 10);
	callout_virtual_set(&a[1], 10);
	/* CPU -1: the callout stays. */
	KUNIT_EXPECT_EQ(test, callout_reset_on(&a[0].c, 10,
					       callout_virtual_handler, &a[0],
					       -1), 1);
	KUNIT_EXPECT_EQ(test, a[0].c.node.cpu, CALLOUT_VIRTUAL);
	KUNIT_EXPECT_EQ(test, callout_schedule_on(&a[0].c, 10, -1), 1);
	KUNIT_EXPECT_EQ(test, a[0].c.node.cpu, CALLOUT_VIRTUAL);
	KUNIT_EXPECT_EQ(test, callout_reset_on(&a[0].c, 3600 * HZ,
					       callout_virtual_handler, &a[0],
					       cpu), 1);
	KUNIT_EXPECT_EQ(test, a[0].c.node.cpu, cpu);
	KUNIT_EXPECT_TRUE(test, callout_pending(&a[0].c));
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 1);
	callout_virtual_run_to(v, v->now + 10);
	KUNIT_EXPECT_EQ(test, a[0].runs, 0);
	KUNIT_EXPECT_EQ(test, a[1].runs, 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&a[0].c), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&a[0].c), -1);
	/* Idle callouts move too; an impossible CPU means some other base. */
	KUNIT_EXPECT_EQ(test, callout_reset_on(&a[1].c, 3600 * HZ,
					       callout_virtual_handler, &a[1],
					       nr_cpu_ids), 0);
	KUNIT_EXPECT_LT(test, a[1].c.node.cpu, nr_cpu_ids);
	KUNIT_EXPECT_EQ(test, callout_drain(&a[1].c), 1);
}

static void then_move(struct callout_item *item)
{
	item->ret = callout_reset_on(&item->c, 3600 * HZ,
				     callout_virtual_handler, item, 0);
	item->seen = item->c.node.cpu;
	item->then = NULL;
}

static void then_move_and_stop(struct callout_item *item)
{
	then_move(item);
	item->ret = callout_stop(&item->c);
}

/* A running callout stays where drain looks for it, and moves when its handler returns. */
static void core_running_moves_afterwards(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);

	a[0].then = then_move;
	a[1].then = then_move_and_stop;
	callout_virtual_set(&a[0], 1);
	callout_virtual_set(&a[1], 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a[0].ret, 0);
	KUNIT_EXPECT_EQ(test, a[0].seen, CALLOUT_VIRTUAL);
	KUNIT_EXPECT_EQ(test, a[0].c.node.cpu, 0);
	KUNIT_EXPECT_TRUE(test, callout_pending(&a[0].c));
	KUNIT_EXPECT_EQ(test, callout_stop(&a[0].c), 1);
	/* A stopped callout does not move: its memory may have been freed. */
	KUNIT_EXPECT_EQ(test, a[1].ret, 0);
	KUNIT_EXPECT_EQ(test, a[1].c.node.cpu, CALLOUT_VIRTUAL);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	KUNIT_EXPECT_NULL(test, v->base->leaving);
}

/* A callout counts as run from the start of its handler until the callout is set again. */
static void core_ran_until_it_is_set(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout_node *n = &a->c.node;

	callout_virtual_set(a, 1);
	KUNIT_EXPECT_EQ(test, n->state & CALLOUT_S_STARTED_HERE, 0);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, n->state & CALLOUT_S_STARTED_HERE, CALLOUT_S_STARTED_HERE);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), -1);
	KUNIT_EXPECT_EQ(test, n->state & CALLOUT_S_STARTED_HERE, CALLOUT_S_STARTED_HERE);
	callout_virtual_set(a, 1);
	KUNIT_EXPECT_EQ(test, n->state & CALLOUT_S_STARTED_HERE, 0);
}

/* co_base_destroy() returns how many callouts are pending, including due callouts. */
static void core_destroy_counts_pending(struct kunit *test)
{
	const unsigned int nr = CALLOUT_MAX_HANDLERS + 5;
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, nr + 3);
	unsigned int i;
	u64 left;

	for (i = 0; i < nr; i++)
		callout_virtual_set(&a[i], 1);
	for (; i < nr + 3; i++)
		callout_virtual_set(&a[i], 100);
	callout_stop(&a[nr + 2].c);
	v->now++;
	callout_virtual_expire_once(v);
	KUNIT_EXPECT_EQ(test, nr - v->ran, 5);
	co_base_kill(v->base);
	left = co_base_destroy(v->base);
	v->base = NULL;
	KUNIT_EXPECT_EQ(test, left, nr + 2 - v->ran);
	KUNIT_EXPECT_NULL(test, callout_bases[CALLOUT_VIRTUAL]);
	/* The base has forgotten the callouts, but debugobjects has not. */
	for (i = 0; i < nr + 3; i++)
		if (callout_pending(&a[i].c))
			co_debug_deactivate(&a[i].c);
}

/* A callout whose base is not online goes to the CPU that the call names. */
static void core_reset_on_from_a_dead_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout_virtual *v = test->priv;

	callout_test_set_online(v->base, false);
	callout_reset_on(&a->c, CALLOUT_TEST_FAR, callout_virtual_handler, a, other);
	KUNIT_EXPECT_EQ(test, a->c.node.cpu, co_base(other)->index);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), 1);
}

/* A callout away from a home that is not online stays where it is, and goes home later. */
static void core_away_stays(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();
	struct callout_item *a = callout_virtual_items(test, 1);

	callout_test_pin(test, cpu);
	a->c.node.home = co_base(cpu)->index;
	a->c.node.state |= CALLOUT_S_AWAY;
	callout_test_set_online(co_base(cpu), false);
	callout_virtual_set(a, 10);
	callout_test_set_online(co_base(cpu), true);
	KUNIT_EXPECT_EQ(test, a->c.node.cpu, CALLOUT_VIRTUAL);
	callout_reset(&a->c, CALLOUT_TEST_FAR, callout_virtual_handler, a);
	KUNIT_EXPECT_EQ(test, a->c.node.cpu, co_base(cpu)->index);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), 1);
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE(core_reset),
	KUNIT_CASE(core_stop),
	KUNIT_CASE(core_drain),
	KUNIT_CASE(core_least_distance_is_one),
	KUNIT_CASE(core_greatest_distance),
	KUNIT_CASE(core_state_in_handler),
	KUNIT_CASE(core_interrupts_are_on),
	KUNIT_CASE(core_state_in_next_handler),
	KUNIT_CASE(core_active),
	KUNIT_CASE(core_handler_sets_itself),
	KUNIT_CASE(core_handler_sets_and_stops_itself),
	KUNIT_CASE(core_handler_sets_itself_twice),
	KUNIT_CASE(core_without_class),
	KUNIT_CASE(core_handler_frees_itself),
	KUNIT_CASE(core_stop_due),
	KUNIT_CASE(core_reset_due),
	KUNIT_CASE(core_schedule),
	KUNIT_CASE(core_reset_on_moves),
	KUNIT_CASE(core_reset_on_from_a_dead_cpu),
	KUNIT_CASE(core_away_stays),
	KUNIT_CASE(core_running_moves_afterwards),
	KUNIT_CASE(core_ran_until_it_is_set),
	KUNIT_CASE(core_destroy_counts_pending),
	{}
};

static struct kunit_suite core_suite = {
	.name = "callout_core",
	.init = callout_virtual_init,
	.test_cases = core_cases,
};

kunit_test_suite(core_suite);
