// SPDX-License-Identifier: GPL-2.0
/*
 * expiry.c - suite co_expiry: ticks, order and limits, on a virtual clock
 */
#include <linux/bottom_half.h>
#include <linux/callout_timer_types.h>
#include <linux/debug_locks.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>
#include <linux/timer.h>
#include "lib/virtual.h"

static void then_set_again(struct callout_item *item)
{
	callout_virtual_set(item, 7);
}

static void then_set_for_next(struct callout_item *item)
{
	callout_virtual_set(item, 1);
	WRITE_ONCE(item->v->now, item->v->now + 1);
}

/*
 * Expiry looks at the time again when all due callouts have run, but only once:
 * callouts that are due again and again are left for the next tick.
 */
static void expiry_looks_once_more(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	u64 start = v->now;

	a->then = then_set_for_next;
	callout_virtual_set(a, 1);
	v->now++;
	KUNIT_EXPECT_FALSE(test, callout_virtual_expire_once(v));
	KUNIT_EXPECT_EQ(test, a->runs, 2);
	KUNIT_EXPECT_EQ(test, v->armed, start + 3);
	callout_stop(&a->c);
}

/* The time between two expiries belongs to no handler, and does not end the second expiry. */
static void expiry_begins_now(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 3);
	unsigned int i;

	for (i = 0; i < 3; i++)
		callout_virtual_set(&a[i], 1);
	v->jiffies += 100 * CALLOUT_SLOW_EDGES;
	v->now++;
	KUNIT_EXPECT_FALSE(test, callout_virtual_expire_once(v));
	KUNIT_EXPECT_EQ(test, v->ran, 3);
	KUNIT_EXPECT_EQ(test, v->base->stats.slow, 0);
}

/* Callouts that handlers set are programmed once, when all handlers have run. */
static void expiry_handlers_program_once(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 10);
	u64 start = v->now;
	int i;

	for (i = 0; i < 10; i++) {
		callout_virtual_set(&a[i], 1);
		a[i].then = then_set_again;
	}
	v->programs = 0;
	callout_virtual_run_to(v, start + 1);
	KUNIT_EXPECT_EQ(test, v->ran, 10);
	KUNIT_EXPECT_EQ(test, v->programs, 1);
	KUNIT_EXPECT_EQ(test, v->armed, start + 8);
}

/* Expiry yields after CALLOUT_MAX_HANDLERS handlers, and continues in the same order. */
static void expiry_yields_after_many_handlers(struct kunit *test)
{
	const unsigned int nr = 3 * CALLOUT_MAX_HANDLERS + 1;
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, nr);
	unsigned int i, calls = 0, before, wrong = 0;
	bool more;

	for (i = 0; i < nr; i++)
		callout_virtual_set(&a[i], 1);
	v->programs = 0;
	v->now++;
	do {
		before = v->ran;
		more = callout_virtual_expire_once(v);
		calls++;
		KUNIT_EXPECT_LE(test, v->ran - before, CALLOUT_MAX_HANDLERS);
		KUNIT_EXPECT_EQ(test, co_base_pending(v->base), nr - v->ran);
		/*
		 * An expiry that yields is called again, with no tick
		 * programmed.
		 */
		if (more)
			KUNIT_EXPECT_EQ(test, v->programs, 0);
	} while (more && calls < 10000);
	KUNIT_EXPECT_EQ(test, calls, 4);
	KUNIT_EXPECT_EQ(test, v->ran, nr);
	for (i = 0; i < nr; i++)
		wrong += a[i].place != i || a[i].runs != 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Expiry ends when jiffies have changed, except on PREEMPT_RT, and is called again. */
static void expiry_yields_when_time_is_up(struct kunit *test)
{
	const unsigned int nr = 9;
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, nr);
	unsigned int i, n, before, most;
	bool more;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	/* Jiffies change in each n-th handler, so the next handler is not called. */
	for (n = 1; n <= 3; n++) {
		for (i = 0; i < nr; i++) {
			a[i].then = callout_virtual_take_time;
			a[i].seen = i % n == n - 1;
			callout_virtual_set(&a[i], 1);
		}
		v->now++;
		v->programs = 0;
		for (i = 0; i < nr; i += n) {
			before = v->ran;
			most = min(n, nr - i);
			more = callout_virtual_expire_once(v);
			KUNIT_EXPECT_EQ(test, v->ran - before, most);
			KUNIT_EXPECT_EQ(test, more, i + n < nr);
			KUNIT_EXPECT_EQ(test, v->programs, 0);
		}
	}
}

/* Simulate the tick. Return whether the base's tasklet is scheduled when expiry has yielded. */
static bool expiry_schedules(struct callout_virtual *v)
{
	bool ret;

	local_bh_disable();
	co_softclock(v->base);
	ret = callout_test_scheduled(v->base);
	local_bh_enable();
	return ret;
}

/*
 * While its CPU comes or goes a base continues by its tick source, after a period
 * of the kernel's tick, and not in its tasklet, even if the tasklet was scheduled
 * before.
 */
static void expiry_goes_on_later(struct kunit *test)
{
	const unsigned int nr = 3 * CALLOUT_MAX_HANDLERS + 1;
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, nr);
	unsigned int i;

	for (i = 0; i < nr; i++)
		callout_virtual_set(&a[i], 1);
	callout_test_set_online(v->base, false);
	v->now++;
	KUNIT_EXPECT_FALSE(test, expiry_schedules(v));
	KUNIT_EXPECT_EQ(test, v->ran, CALLOUT_MAX_HANDLERS);
	KUNIT_EXPECT_EQ(test, v->base->armed, v->now + 1);
	KUNIT_EXPECT_EQ(test, v->armed, v->now + 1);

	/* The softirq runs in the last line. */
	v->now++;
	local_bh_disable();
	tasklet_schedule(&v->base->again);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, v->ran, 2 * CALLOUT_MAX_HANDLERS);
	KUNIT_EXPECT_EQ(test, v->base->armed, v->now + 1);

	v->now++;
	v->base->tick_ns = DIV_ROUND_UP(TICK_NSEC, 10);
	KUNIT_EXPECT_FALSE(test, expiry_schedules(v));
	KUNIT_EXPECT_EQ(test, v->ran, 3 * CALLOUT_MAX_HANDLERS);
	KUNIT_EXPECT_EQ(test, v->armed, v->now + 10);
	v->base->tick_ns = TICK_NSEC;

	v->now += 10;
	KUNIT_EXPECT_FALSE(test, expiry_schedules(v));
	KUNIT_EXPECT_EQ(test, v->ran, nr);
	KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
}

/* Due callouts can be stopped and reset while expiry yields. */
static void expiry_stop_and_reset_while_yielding(struct kunit *test)
{
	const unsigned int nr = CALLOUT_MAX_HANDLERS + 3;
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, nr);
	unsigned int i;
	bool more;

	for (i = 0; i < nr; i++)
		callout_virtual_set(&a[i], 1);
	v->now++;
	more = callout_virtual_expire_once(v);
	KUNIT_ASSERT_TRUE(test, more);
	KUNIT_EXPECT_EQ(test, a[nr - 3].runs, 0);
	KUNIT_EXPECT_EQ(test, callout_stop(&a[nr - 3].c), 1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&a[nr - 2], 1), 1);
	callout_virtual_expire(v);
	KUNIT_EXPECT_EQ(test, a[nr - 3].runs, 0);
	KUNIT_EXPECT_EQ(test, a[nr - 2].runs, 0);
	KUNIT_EXPECT_EQ(test, a[nr - 1].runs, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a[nr - 2].runs, 1);
	KUNIT_EXPECT_EQ(test, v->ran, nr - 1);
}

/* After a stall of many laps callouts run in order of expiry, then in order of setting. */
static void expiry_catches_up_in_order(struct kunit *test)
{
	const unsigned int nr = 500;
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, nr);
	unsigned int i, j, wrong = 0;
	struct rnd_state rng;

	callout_test_rng(test, &rng);
	for (i = 0; i < nr; i++)
		callout_virtual_set(&a[i], callout_test_below(&rng, 3000));
	callout_virtual_run_to(v, v->now + 1000000);
	KUNIT_EXPECT_EQ(test, v->ran, nr);
	for (i = 0; i < nr; i++)
		for (j = 0; j < i; j++)
			wrong += a[j].c.node.expires <= a[i].c.node.expires ?
				 a[j].place > a[i].place :
				 a[j].place < a[i].place;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Lateness is counted in bins: 0, 1, 2 to 3, 4 to 7, ..., and the rest. */
static void expiry_counts_lateness(struct kunit *test)
{
	static const unsigned int late[] = { 0, 1, 2, 3, 4, 7, 8, 1 << 30 };
	static const unsigned int bins[CALLOUT_LATE_BINS] = {
		[0] = 1, [1] = 1, [2] = 2, [3] = 2, [4] = 1,
		[CALLOUT_LATE_BINS - 1] = 1,
	};
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout_stats s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(late); i++) {
		callout_virtual_set(a, 10);
		callout_virtual_run_to(v, v->now + 10 + late[i]);
	}
	KUNIT_EXPECT_EQ(test, co_handlers(v->base), ARRAY_SIZE(late));
	for (i = 0; i < CALLOUT_LATE_BINS; i++)
		KUNIT_EXPECT_EQ(test, v->base->stats.late[i], bins[i]);
	/* With the visits of callouts that were due. */
	co_base_stats(v->base, &s);
	KUNIT_EXPECT_EQ(test, s.visits, v->base->scheme->visits + ARRAY_SIZE(late));
}

/* Runs under stop_machine(): no other CPU takes a lock while debug_locks is off. */
static int check_without_lockdep(void *data)
{
	struct callout_virtual *v = data;

	rcu_read_lock();
	v->base->preempt_count = preempt_count();
	v->base->lockdep_depth = lockdep_depth(current);
	debug_locks = 0;
	co_check_context(v->base, callout_virtual_handler);
	debug_locks = 1;
	rcu_read_unlock();
	return 0;
}

/*
 * After its first report lockdep is off and regards no lock as held: handlers are
 * not reported for that.
 */
static void expiry_lockdep_ends(struct kunit *test)
{
	if (debug_locks)
		stop_machine(check_without_lockdep, test->priv, NULL);
}

/**
 * struct expiry_timer - one of Linux's timers that the virtual base runs
 * @t: the timer
 * @v: the base
 * @runs: how often the timer has run
 * @place: how many timers had run before its last run
 * @takes: jiffies that its function takes
 */
struct expiry_timer {
	struct callout_timer t;
	struct callout_virtual *v;
	unsigned int runs;
	unsigned int place;
	unsigned int takes;
};

static void expiry_timer_runs(struct callout_timer *t)
{
	struct expiry_timer *timer = container_of(t, struct expiry_timer, t);

	timer->runs++;
	timer->place = timer->v->ran++;
	timer->v->jiffies += timer->takes;
}

static void expiry_timer_end(void *data)
{
	struct expiry_timer *timer = data;

	callout_timer_shutdown_sync(&timer->t);
}

/* Queue a pending node that is in no base in the virtual base, for a tick. */
static void expiry_timer_file(struct callout_virtual *v, struct callout_node *n, u64 tick)
{
	co_base_lock_irq(v->base);
	v->base->scheme->ops->start(v->base->scheme, n, v->now, tick);
	v->base->until_resize--;
	WRITE_ONCE(n->cpu, CALLOUT_VIRTUAL);
	co_base_unlock_irq(v->base);
}

/*
 * Set a timer that is due at the next tick of the virtual base. It is set on this CPU,
 * to which the case is bound, and moved from there. Its jiffy has come.
 */
static void expiry_timer_set(struct kunit *test, struct expiry_timer *timer)
{
	static struct lock_class_key key;
	struct callout_base *base;

	timer->v = test->priv;
	callout_timer_init_key(&timer->t, expiry_timer_runs, TIMER_PINNED, "expiry", &key);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, expiry_timer_end, timer));
	callout_timer_mod(&timer->t, jiffies + CALLOUT_TEST_FAR);
	base = co_base(timer->t.node.cpu);
	co_base_lock_irq(base);
	base->scheme->ops->stop(base->scheme, &timer->t.node);
	base->until_resize++;
	WRITE_ONCE(timer->t.node.cpu, CALLOUT_CPU_MOVING);
	co_base_unlock_irq(base);
	timer->t.node.time = 0;
	expiry_timer_file(timer->v, &timer->t.node, timer->v->now + 1);
}

static struct expiry_timer *expiry_timers(struct kunit *test, unsigned int n)
{
	struct expiry_timer *timer;
	unsigned int i;

	callout_test_pin(test, raw_smp_processor_id());
	timer = kunit_kcalloc(test, n, sizeof(*timer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, timer);
	for (i = 0; i < n; i++)
		expiry_timer_set(test, &timer[i]);
	return timer;
}

/* Expiry also yields after CALLOUT_MAX_HANDLERS timers, and continues in the same order. */
static void expiry_yields_after_many_timers(struct kunit *test)
{
	const unsigned int nr = CALLOUT_MAX_HANDLERS + 2;
	struct expiry_timer *timer = expiry_timers(test, nr);
	struct callout_virtual *v = test->priv;
	unsigned int i, wrong = 0;

	v->now++;
	KUNIT_EXPECT_TRUE(test, callout_virtual_expire_once(v));
	KUNIT_EXPECT_EQ(test, v->ran, CALLOUT_MAX_HANDLERS);
	KUNIT_EXPECT_FALSE(test, callout_virtual_expire_once(v));
	for (i = 0; i < nr; i++)
		wrong += timer[i].runs != 1 || timer[i].place != i;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

/* A timer whose function takes too long is counted, and the other timers run in a later expiry. */
static void expiry_counts_slow_timers(struct kunit *test)
{
	struct expiry_timer *timer = expiry_timers(test, 3);
	struct callout_virtual *v = test->priv;
	bool more;

	timer[0].takes = CALLOUT_SLOW_EDGES;
	timer[1].takes = CALLOUT_SLOW_EDGES - 1;
	v->now++;
	more = callout_virtual_expire_once(v);
	KUNIT_EXPECT_EQ(test, v->base->stats.slow, 1);
	/* On PREEMPT_RT expiry continues. */
	KUNIT_EXPECT_EQ(test, more, !IS_ENABLED(CONFIG_PREEMPT_RT));
	KUNIT_EXPECT_EQ(test, v->ran, more ? 1 : 3);
	callout_virtual_expire(v);
	KUNIT_EXPECT_EQ(test, v->base->stats.slow, 1);
	KUNIT_EXPECT_EQ(test, v->ran, 3);
}

/* Timers and callouts of one tick run in the order of setting, each as its own kind. */
static void expiry_of_both_kinds(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 4);
	struct expiry_timer *timer;
	unsigned int i;

	callout_test_pin(test, raw_smp_processor_id());
	timer = kunit_kcalloc(test, 4, sizeof(*timer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, timer);
	for (i = 0; i < 4; i++) {
		expiry_timer_set(test, &timer[i]);
		callout_virtual_set(&a[i], 1);
	}
	v->now++;
	KUNIT_EXPECT_FALSE(test, callout_virtual_expire_once(v));
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, timer[i].runs, 1);
		KUNIT_EXPECT_EQ(test, timer[i].place, 2 * i);
		KUNIT_EXPECT_EQ(test, a[i].runs, 1);
		KUNIT_EXPECT_EQ(test, a[i].place, 2 * i + 1);
	}
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

/*
 * A timer whose jiffy has not come, though its tick has, is queued again: it stays
 * pending, and runs at a later tick.
 */
static void expiry_postpones_timers(struct kunit *test)
{
	struct expiry_timer *timer = expiry_timers(test, 2);
	struct callout_virtual *v = test->priv;

	timer[0].t.node.time = get_jiffies_64() + CALLOUT_TEST_FAR;
	v->now++;
	KUNIT_EXPECT_FALSE(test, callout_virtual_expire_once(v));
	KUNIT_EXPECT_EQ(test, timer[0].runs, 0);
	KUNIT_EXPECT_EQ(test, timer[1].runs, 1);
	KUNIT_EXPECT_TRUE(test, callout_timer_pending(&timer[0].t));
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 1);
	KUNIT_EXPECT_GT(test, timer[0].t.node.expires, v->now);
	/* The search for the timer may take more than one wake-up. */
	KUNIT_EXPECT_GT(test, v->armed, v->now);
	KUNIT_EXPECT_LE(test, v->armed, timer[0].t.node.expires);
	timer[0].t.node.time = 0;
	callout_virtual_run_to(v, timer[0].t.node.expires);
	KUNIT_EXPECT_EQ(test, timer[0].runs, 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

static void then_expire(struct callout_item *item)
{
	item->ret = co_expire(item->v->base);
}

/* Expiry is not reentrant: a second expiry of the same base does nothing. */
static void expiry_is_not_reentrant(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);

	callout_virtual_set(&a[0], 1);
	callout_virtual_set(&a[1], 1);
	a[0].then = then_expire;
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_FALSE(test, a[0].ret);
	KUNIT_EXPECT_EQ(test, a[0].place, 0);
	KUNIT_EXPECT_EQ(test, a[1].place, 1);
	KUNIT_EXPECT_EQ(test, v->ran, 2);
}

static struct kunit_case expiry_cases[] = {
	KUNIT_CASE(expiry_looks_once_more),
	KUNIT_CASE(expiry_begins_now),
	KUNIT_CASE(expiry_handlers_program_once),
	KUNIT_CASE(expiry_yields_after_many_handlers),
	KUNIT_CASE(expiry_yields_when_time_is_up),
	KUNIT_CASE(expiry_goes_on_later),
	KUNIT_CASE(expiry_stop_and_reset_while_yielding),
	KUNIT_CASE(expiry_catches_up_in_order),
	KUNIT_CASE(expiry_counts_lateness),
	KUNIT_CASE(expiry_lockdep_ends),
	KUNIT_CASE(expiry_yields_after_many_timers),
	KUNIT_CASE(expiry_counts_slow_timers),
	KUNIT_CASE(expiry_of_both_kinds),
	KUNIT_CASE(expiry_postpones_timers),
	KUNIT_CASE(expiry_is_not_reentrant),
	{}
};

static struct kunit_suite expiry_suite = {
	.name = "callout_expiry",
	.init = callout_virtual_init,
	.test_cases = expiry_cases,
};

kunit_test_suite(expiry_suite);
