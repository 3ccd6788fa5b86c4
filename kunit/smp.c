// SPDX-License-Identifier: GPL-2.0
/*
 * smp.c - suite callout_smp: the real bases, real ticks, all CPUs
 *
 * These cases wait for the tick source's ticks, and so take some seconds. They
 * test that a callout is never early, runs once and on its CPU; its lateness
 * depends on the machine, and is printed only.
 */
#include <linux/bottom_half.h>
#include <linux/cpu.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include "kernel_table.h"
#include "tick.h"

#define NR_DISTANCES	80U
#define MAX_DISTANCE	300U

/* A callout that is later than this is lost. */
#define LATE	(2 * NSEC_PER_SEC)

/**
 * struct timed - a callout and how it ran
 * @c: the callout
 * @cpu: the CPU that it must run on
 * @least: the first tick at which it may run
 * @ran: the tick at which it did
 * @ran_on: the CPU on which it did
 * @runs: how often
 * @block: how many ticks the handler takes
 * @done: the handler is about to return
 */
struct timed {
	struct callout c;
	unsigned int cpu;
	u64 least;
	u64 ran;
	unsigned int ran_on;
	atomic_t runs;
	unsigned int block;
	bool done;
};

static void timed_handler(void *arg)
{
	unsigned long start = jiffies;
	struct timed *t = arg;

	t->ran_on = smp_processor_id();
	t->ran = callout_now(callout_base(t->ran_on));
	atomic_inc(&t->runs);
	while (jiffies - start < t->block)
		cpu_relax();
	callout_test_tell(&t->done);
}

struct timed_set {
	unsigned int n;
	struct timed t[];
};

static void timed_drain(void *data)
{
	struct timed_set *set = data;
	unsigned int i;

	for (i = 0; i < set->n; i++)
		callout_drain(&set->t[i].c);
}

static struct timed_set *timed_create(struct kunit *test, unsigned int n)
{
	struct timed_set *set;
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

static void timed_set_on(struct timed *t, unsigned int cpu, long distance)
{
	t->cpu = cpu;
	t->least = callout_now(callout_base(cpu)) + distance;
	callout_reset_on(&t->c, distance, timed_handler, t, cpu);
}

static bool all_ran(struct timed_set *set)
{
	unsigned int i;

	for (i = 0; i < set->n; i++)
		if (!atomic_read(&set->t[i].runs))
			return false;
	return true;
}

static void timed_report(struct kunit *test, struct timed_set *set)
{
	unsigned int i, early = 0, wrong = 0, on_time = 0;
	s64 late, most = 0;

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

/* Callouts run once, on their CPU, not early, and none is lost. */
static void smp_runs_in_time_on_its_cpu(struct kunit *test)
{
	unsigned int cpu, i, n = 0, elsewhere = 0;
	struct timed_set *set;
	struct rnd_state rng;
	long distance;

	callout_test_rng(test, &rng);
	set = timed_create(test, NR_DISTANCES * num_online_cpus());
	for (i = 0; i < NR_DISTANCES; i++) {
		/* The near ones, the edges of the kernel's levels, and any. */
		distance = i < 20 ? i + 1 : i < 30 ? 54 + i - 20 :
			   1 + callout_test_below(&rng, MAX_DISTANCE);
		for_each_online_cpu(cpu)
			timed_set_on(&set->t[n++], cpu, distance);
	}
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_ran(set)));
	timed_report(test, set);
	for (i = 0; i < n; i++)
		elsewhere += set->t[i].ran_on != set->t[i].cpu;
	KUNIT_EXPECT_EQ(test, elsewhere, 0);
}

static u64 wakeups(void)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_online_cpu(cpu)
		n += READ_ONCE(callout_base(cpu)->stats.wakeups) +
		     READ_ONCE(callout_base(cpu)->stats.hops);
	return n;
}

/* No wake-ups while all callouts are far away. */
static void smp_sleeps_while_nothing_is_due(struct kunit *test)
{
	struct timed_set *set = timed_create(test, num_online_cpus());
	unsigned int cpu, i = 0;
	u64 before;

	for_each_online_cpu(cpu)
		timed_set_on(&set->t[i++], cpu, 3600L * HZ);
	/*
	 * Callouts that other cases have armed and stopped wake up once more.
	 */
	schedule_timeout_uninterruptible(5);
	before = wakeups();
	schedule_timeout_uninterruptible(HZ / 2);
	KUNIT_EXPECT_LE(test, wakeups() - before, 2 * num_online_cpus());
	for (i = 0; i < set->n; i++) {
		KUNIT_EXPECT_EQ(test, callout_stop(&set->t[i].c), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&set->t[i].runs), 0);
	}
}

/* The jiffy at which the kernel fires a timer set for @expires at @now. */
static u64 kernel_fires_at(u64 now, u64 expires)
{
	unsigned int shift = 0;

	if (expires < now)
		return now + 1;
	/* Level i: less than 63 << 3i away, in granules of 1 << 3i. */
	while (expires - now >= 63ULL << shift)
		shift += 3;
	return ((expires >> shift) + 1) << shift;
}

static void check_hops(struct kunit *test, unsigned int cpu)
{
	struct callout_base *base = callout_base(cpu);
	struct timed_set *set = timed_create(test, 1);
	unsigned int checked = 0, wrong = 0;
	struct timed *t = set->t;
	u64 before, after, timer, fires;
	long distance;
	bool armed;

	for (distance = 1L << 26; distance > 8; distance -= distance / 9 + 1) {
		before = get_jiffies_64();
		timed_set_on(t, cpu, distance);
		raw_spin_lock_irq(&base->lock);
		armed = base->armed == t->c.node.expires;
		timer = base->timer.expires;
		raw_spin_unlock_irq(&base->lock);
		after = get_jiffies_64();
		if (!armed || before != after)
			continue;
		checked++;
		fires = kernel_fires_at(before, timer);
		wrong += fires > t->c.node.expires || fires <= before;
		/* A hop leaves less than a granule of its level to go. */
		wrong += (fires - before) * 8 < 6 * distance;
	}
	KUNIT_EXPECT_EQ(test, callout_stop(&t->c), 1);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, checked, 20);
}

/* The kernel's rounding makes no timer late, and hops are few. */
static void smp_hops_in_time(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);

	/* Only the kernel's wheel needs hops: an hrtimer is exact. */
	if (callout_base(other)->tick != &callout_tick_jiffies) {
		KUNIT_EXPECT_EQ(test, callout_base(other)->stats.hops, 0);
		return;
	}
	check_hops(test, raw_smp_processor_id());
	check_hops(test, other);
}

/* Far callouts arrive by hops alone: each is the only one on its CPU. */
static void smp_far_ones_arrive(struct kunit *test)
{
	static const long distances[] = { 460, 230, 470, 90 };
	struct timed_set *set = timed_create(test, num_online_cpus());
	unsigned int cpu, i = 0;

	for_each_online_cpu(cpu) {
		timed_set_on(&set->t[i], cpu,
			     distances[i % ARRAY_SIZE(distances)]);
		i++;
	}
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_ran(set)));
	timed_report(test, set);
}

static bool is_armed_for(struct callout_base *base, u64 tick)
{
	bool ret;

	raw_spin_lock_irq(&base->lock);
	ret = base->armed == tick;
	raw_spin_unlock_irq(&base->lock);
	return ret;
}

/*
 * An earlier callout set from another CPU moves the wake-up forward: from far
 * away, and from where the callout before has put it.
 */
static void smp_earlier_from_another_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct callout_base *base = callout_base(other);
	struct timed_set *far = timed_create(test, 1);
	struct timed_set *set = timed_create(test, 60);
	u64 tick;

	timed_set_on(far->t, other, 24L * 3600 * callout_hz());
	tick = far->t->c.node.expires;
	for (i = 0; i < 20; i++) {
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(is_armed_for(base, tick)));
		timed_set_on(&set->t[i], other, 1);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(atomic_read(&set->t[i].runs)));
	}
	for (; i < set->n; i++)
		timed_set_on(&set->t[i], other, 3 * (set->n - i));
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_ran(set)));
	timed_report(test, set);
	KUNIT_EXPECT_EQ(test, callout_stop(&far->t->c), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&far->t->runs), 0);
}

/**
 * struct edge - two callouts of a CPU: the second is due while the first runs
 * @c: the two
 * @wakeups: callout_stats.wakeups when each ran
 * @done: the second one has run
 */
struct edge {
	struct callout c[2];
	u64 wakeups[2];
	bool done;
};

static void edge_second(void *arg)
{
	struct edge *e = arg;

	e->wakeups[1] = callout_base(smp_processor_id())->stats.wakeups;
	callout_test_tell(&e->done);
}

static void edge_first(void *arg)
{
	struct callout_base *base = callout_base(smp_processor_id());
	struct edge *e = arg;

	e->wakeups[0] = base->stats.wakeups;
	callout_reset_on(&e->c[1], 1, edge_second, e, smp_processor_id());
	callout_test_spin_until(callout_now(base) >= e->c[1].node.expires);
}

static void edge_drain(void *arg)
{
	struct edge *e = arg;

	callout_drain(&e->c[0]);
	callout_drain(&e->c[1]);
}

/*
 * A callout that becomes due while a handler runs is run by the same wake-up.
 * (With an hrtimer, a time that has passed is an interrupt.)
 */
static void smp_due_while_a_handler_runs(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct edge *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	callout_init(&e->c[0], CALLOUT_MPSAFE);
	callout_init(&e->c[1], CALLOUT_MPSAFE);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, edge_drain, e));
	for (i = 0; i < 5; i++) {
		e->done = false;
		callout_reset_on(&e->c[0], 1, edge_first, e, other);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(callout_test_told(&e->done)));
		if (callout_base(other)->tick == &callout_tick_jiffies)
			KUNIT_EXPECT_EQ(test, e->wakeups[0], e->wakeups[1]);
	}
}

/* A tick that has passed when it is programmed, as after hotplug, expires. */
static void smp_overdue(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();
	struct callout_base *base = callout_base(cpu);
	struct timed_set *set = timed_create(test, 1);
	struct timed *t = set->t;

	callout_test_pin(test, cpu);
	timed_set_on(t, cpu, 1000000);
	t->least = 0;
	local_bh_disable();
	raw_spin_lock_irq(&base->lock);
	base->scheme->ops->rearm(base->scheme, &t->c.node, callout_now(base),
				 callout_now(base));
	base->armed = t->c.node.expires;
	base->tick->program(base, base->armed);
	raw_spin_unlock_irq(&base->lock);
	/* Softirqs run in here. */
	local_bh_enable();
	if (base->tick == &callout_tick_jiffies)
		KUNIT_EXPECT_EQ(test, atomic_read(&t->runs), 1);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_ran(set)));
	timed_report(test, set);
}

/* callout_barrier() and callout_drain() wait for running handlers. */
static void smp_waits_for_handlers(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct timed_set *set = timed_create(test, 2);
	struct timed *t = set->t;
	int ret = -1, i;

	t[0].block = 10;
	timed_set_on(&t[0], other, 1);
	KUNIT_ASSERT_TRUE(test, callout_test_spin_until(atomic_read(&t[0].runs)));
	callout_barrier();
	KUNIT_EXPECT_TRUE(test, callout_test_told(&t[0].done));

	t[1].block = 10;
	/* On a busy machine the handler may be over before the drain begins. */
	for (i = 1; i <= 100 && ret; i++) {
		t[1].done = false;
		timed_set_on(&t[1], other, 1);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_spin_until(atomic_read(&t[1].runs) == i));
		ret = callout_drain(&t[1].c);
		KUNIT_EXPECT_TRUE(test, callout_test_told(&t[1].done));
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
}

struct by_handle {
	unsigned int n;
	struct timed *t;
	u64 handle[];
};

static void unset_by_handle(void *data)
{
	struct by_handle *b = data;
	unsigned int i;

	for (i = 0; i < b->n; i++)
		unsetcallout_sync(b->handle[i]);
}

static struct by_handle *by_handle_create(struct kunit *test, unsigned int n)
{
	struct timed_set *set = timed_create(test, n);
	struct by_handle *b;

	b = kunit_kzalloc(test, struct_size(b, handle, n), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b);
	b->n = n;
	b->t = set->t;
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, unset_by_handle, b));
	return b;
}

static void set_by_handle(void *arg)
{
	u64 now = callout_now(callout_base(smp_processor_id()));
	struct by_handle *b = arg;
	unsigned int i;
	long distance;

	for (i = 0; i < b->n; i++) {
		distance = i < b->n / 2 ? 3600L * HZ : 1 + i;
		b->t[i].least = now + distance;
		b->handle[i] = setcallout(timed_handler, &b->t[i], distance);
		b->t[i].c.node.expires = callout_test_expires(b->handle[i]);
	}
}

/*
 * Callouts of a CPU that goes offline run on another, neither early nor twice,
 * and their handles stay valid; new ones go to the CPU when it is back.
 */
static void smp_cpu_goes_away(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask), i, far, wrong = 0;
	struct timed_set *set, *late;
	struct by_handle *b;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	set = timed_create(test, 300);
	late = timed_create(test, 2);
	b = by_handle_create(test, 64);

	for (i = 0; i < set->n; i++)
		timed_set_on(&set->t[i], cpu, 1 + i);
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(cpu, set_by_handle,
							  b, true));
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_FALSE(test, callout_base(cpu)->online);
	KUNIT_EXPECT_EQ(test, callout_base_pending(callout_base(cpu)), 0);
	timed_set_on(&late->t[0], cpu, 3);
	KUNIT_EXPECT_NE(test, late->t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&set->t[150].runs)));
	/* Some of the far ones are cancelled now, some when it is back. */
	far = b->n / 2;
	for (i = 0; i < far / 2; i++)
		wrong += unsetcallout(b->handle[i]) != 1;
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	KUNIT_EXPECT_TRUE(test, callout_base(cpu)->online);
	for (; i < far; i++)
		wrong += unsetcallout(b->handle[i]) != 1;
	timed_set_on(&late->t[1], cpu, 3);
	KUNIT_EXPECT_EQ(test, late->t[1].c.node.cpu, cpu);

	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_ran(set)));
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(all_ran(late)));
	timed_report(test, set);
	timed_report(test, late);
	KUNIT_EXPECT_NE(test, late->t[0].ran_on, cpu);
	KUNIT_EXPECT_EQ(test, late->t[1].ran_on, cpu);
	for (i = 0; i < far; i++)
		wrong += atomic_read(&b->t[i].runs) != 0 ||
			 unsetcallout(b->handle[i]) != -1;
	for (; i < b->n; i++) {
		callout_test_wait_until(atomic_read(&b->t[i].runs));
		wrong += atomic_read(&b->t[i].runs) != 1 ||
			 b->t[i].ran < b->t[i].least ||
			 unsetcallout(b->handle[i]) != -1;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/*
 * A callout's home is this CPU, or a housekeeping CPU if this one is nohz_full.
 */
static void smp_init_home(struct kunit *test)
{
	struct callout *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	unsigned int cpu;

	KUNIT_ASSERT_NOT_NULL(test, c);
	for_each_online_cpu(cpu) {
		callout_test_pin(test, cpu);
		callout_init(c, CALLOUT_MPSAFE);
		KUNIT_EXPECT_TRUE(test, housekeeping_cpu(c->node.cpu, HK_TYPE_TIMER));
		if (housekeeping_cpu(cpu, HK_TYPE_TIMER))
			KUNIT_EXPECT_EQ(test, c->node.cpu, cpu);
	}
}

/* Sets its callout again, on the same CPU. */
static void timed_again(void *arg)
{
	struct timed *t = arg;

	WRITE_ONCE(t->ran_on, smp_processor_id());
	atomic_inc(&t->runs);
	callout_schedule(&t->c, 1);
}

static bool runs_on(struct timed *t, unsigned int cpu)
{
	int runs = atomic_read(&t->runs);

	/* Some more runs, since it may have been migrating. */
	return callout_test_wait_until(atomic_read(&t->runs) > runs + 2) &&
	       READ_ONCE(t->ran_on) == cpu;
}

/*
 * A callout migrates away from a CPU that goes offline, and back at its next
 * arm when the CPU is online, also if its handler arms it.
 */
static void smp_comes_home(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);
	struct timed_set *set;
	struct timed *t;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	set = timed_create(test, 2);
	t = set->t;
	timed_set_on(&t[0], cpu, 3600L * HZ);
	callout_reset_on(&t[1].c, 1, timed_again, &t[1], cpu);
	KUNIT_EXPECT_TRUE(test, runs_on(&t[1], cpu));
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_NE(test, t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, callout_schedule(&t[0].c, 3600L * HZ), 1);
	KUNIT_EXPECT_NE(test, t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_FALSE(test, runs_on(&t[1], cpu));
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	KUNIT_EXPECT_NE(test, t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, callout_schedule(&t[0].c, 3600L * HZ), 1);
	KUNIT_EXPECT_EQ(test, t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_TRUE(test, runs_on(&t[1], cpu));
	KUNIT_EXPECT_EQ(test, callout_stop(&t[0].c), 1);
}

#define MANY	100000U

/**
 * struct observer - a thread that observes the migration from a dead CPU
 * @base: the base of that CPU
 * @seen: it has seen some callouts migrated and others not
 * @end: it may return
 */
struct observer {
	struct callout_base *base;
	bool seen;
	bool end;
};

static void observe_move(void *arg)
{
	struct observer *b = arg;
	unsigned int pending;

	while (!callout_test_told(&b->end)) {
		pending = callout_base_pending(b->base);
		if (pending && pending < MANY && !b->base->online)
			b->seen = true;
		cond_resched();
	}
}

/* The migration of many callouts can be preempted. */
static void smp_move_is_preempted(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask), i, tries;
	struct callout_test_thread *t;
	struct timed_set *set;
	struct observer b = {};

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	set = vzalloc(struct_size(set, t, MANY));
	KUNIT_ASSERT_NOT_NULL(test, set);
	for (i = 0; i < MANY; i++)
		callout_init(&set->t[i].c, CALLOUT_MPSAFE);
	b.base = callout_base(cpu);
	t = callout_test_thread(test, 0, observe_move, &b);
	/* On a fast machine the migration may end before the thread runs. */
	for (tries = 0; tries < 20 && !READ_ONCE(b.seen); tries++) {
		for (i = 0; i < MANY; i++) {
			callout_reset_on(&set->t[i].c, 3600L * HZ,
					 timed_handler, &set->t[i], cpu);
			cond_resched();
		}
		KUNIT_EXPECT_EQ(test, 0, remove_cpu(cpu));
		KUNIT_EXPECT_EQ(test, 0, add_cpu(cpu));
	}
	callout_test_tell(&b.end);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, b.seen);
	for (i = 0; i < MANY; i++) {
		callout_drain(&set->t[i].c);
		cond_resched();
	}
	vfree(set);
}

static struct kunit_case smp_cases[] = {
	KUNIT_CASE(smp_init_home),
	KUNIT_CASE(smp_runs_in_time_on_its_cpu),
	KUNIT_CASE(smp_sleeps_while_nothing_is_due),
	KUNIT_CASE(smp_hops_in_time),
	KUNIT_CASE(smp_far_ones_arrive),
	KUNIT_CASE(smp_earlier_from_another_cpu),
	KUNIT_CASE(smp_due_while_a_handler_runs),
	KUNIT_CASE(smp_overdue),
	KUNIT_CASE(smp_waits_for_handlers),
	KUNIT_CASE_SLOW(smp_cpu_goes_away),
	KUNIT_CASE_SLOW(smp_comes_home),
	KUNIT_CASE_SLOW(smp_move_is_preempted),
	{}
};

static struct kunit_suite smp_suite = {
	.name = "callout_smp",
	.test_cases = smp_cases,
};

kunit_test_suite(smp_suite);
