// SPDX-License-Identifier: GPL-2.0
/*
 * smp.c - suite callout_smp: the real bases, real ticks, all CPUs
 *
 * These cases wait for the tick source's ticks, and so take some seconds.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include "core/expiry.h"
#include "lib/timed.h"

#define NR_DISTANCES	80U
#define MAX_DISTANCE	300U

/* Callouts run once, on their CPU, not early, and none is lost. */
static void smp_runs_in_time_on_its_cpu(struct kunit *test)
{
	unsigned int cpu, i, n = 0, elsewhere = 0;
	struct callout_timed_set *set;
	struct rnd_state rng;
	long distance;

	callout_test_rng(test, &rng);
	set = callout_timed_create(test, NR_DISTANCES * num_online_cpus());
	for (i = 0; i < NR_DISTANCES; i++) {
		/* The near distances, the edges of the kernel's levels, and random distances. */
		distance = i < 20 ? i + 1 : i < 30 ? 54 + i - 20 :
			   1 + callout_test_below(&rng, MAX_DISTANCE);
		for_each_online_cpu(cpu)
			callout_timed_set_on(&set->t[n++], cpu, distance);
	}
	callout_timed_check(test, set);
	for (i = 0; i < n; i++)
		elsewhere += set->t[i].ran_on != set->t[i].cpu;
	KUNIT_EXPECT_EQ(test, elsewhere, 0);
}

static u64 wakeups(void)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_online_cpu(cpu)
		n += READ_ONCE(co_base(cpu)->stats.wakeups) +
		     READ_ONCE(co_base(cpu)->stats.hops);
	return n;
}

/* No wake-ups while all callouts are far away. */
static void smp_sleeps_while_nothing_is_due(struct kunit *test)
{
	unsigned int cpu, i = 0, n = num_online_cpus();
	struct callout_timed_set *set = callout_timed_create(test, n);
	u64 before;

	for_each_online_cpu(cpu)
		callout_timed_set_on(&set->t[i++], cpu, 3600L * HZ);
	/* Let callouts that other cases have armed and stopped cause their last wake-up. */
	schedule_timeout_uninterruptible(5);
	before = wakeups();
	schedule_timeout_uninterruptible(HZ / 2);
	KUNIT_EXPECT_LE(test, wakeups() - before, 2 * n);
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
	struct callout_base *base = co_base(cpu);
	struct callout_timed_set *set = callout_timed_create(test, 1);
	unsigned int checked = 0, wrong = 0;
	struct callout_timed *t = set->t;
	u64 before, after, timer, fires;
	long distance;
	bool armed;

	for (distance = 1L << 26; distance > 0; distance -= distance / 9 + 1) {
		before = get_jiffies_64();
		callout_timed_set_on(t, cpu, distance);
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
		/* A hop leaves less than a granule of its level to the tick. */
		wrong += (fires - before) * 8 < 6 * distance;
	}
	/* The near callouts may have run. */
	callout_drain(&t->c);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, checked, 20);
}

/* The kernel's rounding makes no timer late, and hops are few. */
static void smp_hops_in_time(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);

	/* Only the kernel's wheel needs hops: an hrtimer is exact. */
	if (co_base(other)->tick != &callout_tick_jiffies) {
		KUNIT_EXPECT_EQ(test, co_base(other)->stats.hops, 0);
		return;
	}
	check_hops(test, raw_smp_processor_id());
	check_hops(test, other);
}

/* Far callouts arrive by hops alone: each is the only callout on its CPU. */
static void smp_far_ones_arrive(struct kunit *test)
{
	static const long distances[] = { 460, 230, 470, 90 };
	unsigned int cpu, i = 0, n = num_online_cpus();
	struct callout_timed_set *set = callout_timed_create(test, n);

	for_each_online_cpu(cpu) {
		callout_timed_set_on(&set->t[i], cpu,
				     distances[i % ARRAY_SIZE(distances)]);
		i++;
	}
	callout_timed_check(test, set);
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
 * An earlier callout set from another CPU moves the wake-up forward: from far away,
 * and from where the previous callout has put it.
 */
static void smp_earlier_from_another_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct callout_base *base = co_base(other);
	struct callout_timed_set *far = callout_timed_create(test, 1);
	struct callout_timed_set *set = callout_timed_create(test, 60);
	u64 tick;

	callout_timed_set_on(far->t, other, 24L * 3600 * callout_hz());
	tick = far->t->c.node.expires;
	for (i = 0; i < 20; i++) {
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(is_armed_for(base, tick)));
		callout_timed_set_on(&set->t[i], other, 1);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(atomic_read(&set->t[i].runs)));
	}
	for (; i < set->n; i++)
		callout_timed_set_on(&set->t[i], other, 3 * (set->n - i));
	callout_timed_check(test, set);
	KUNIT_EXPECT_EQ(test, callout_stop(&far->t->c), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&far->t->runs), 0);
}

/**
 * struct edge - two callouts of a CPU: the second is due while the first runs
 * @c: the two callouts
 * @wakeups: callout_stats.wakeups when each ran
 * @done: the second callout has run
 */
struct edge {
	struct callout c[2];
	u64 wakeups[2];
	bool done;
};

static void edge_second(void *arg)
{
	struct edge *e = arg;

	e->wakeups[1] = co_base(smp_processor_id())->stats.wakeups;
	callout_test_tell(&e->done);
}

static void edge_first(void *arg)
{
	struct callout_base *base = co_base(smp_processor_id());
	struct edge *e = arg;

	e->wakeups[0] = base->stats.wakeups;
	callout_reset_on(&e->c[1], 1, edge_second, e, smp_processor_id());
	callout_test_spin_until(co_now(base) >= e->c[1].node.expires);
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
		if (co_base(other)->tick == &callout_tick_jiffies)
			KUNIT_EXPECT_EQ(test, e->wakeups[0], e->wakeups[1]);
	}
}

/*
 * A tick that has passed when it is programmed, as after hotplug, expires. While the
 * CPU comes or goes that needs another tick, and no tasklet is used.
 */
static void overdue(struct kunit *test, bool online)
{
	unsigned int cpu = raw_smp_processor_id();
	struct callout_base *base = co_base(cpu);
	struct callout_timed_set *set = callout_timed_create(test, 1);
	bool here = online && !IS_ENABLED(CONFIG_PREEMPT_RT);
	struct callout_timed *t = set->t;
	bool scheduled;

	callout_test_pin(test, cpu);
	callout_timed_set_on(t, cpu, 1000000);
	t->least = 0;
	callout_test_set_online(base, online);
	local_bh_disable();
	raw_spin_lock_irq(&base->lock);
	callout_test_due_now(base, &t->c.node);
	base->armed = t->c.node.expires;
	base->tick->program(base, base->armed);
	raw_spin_unlock_irq(&base->lock);
	scheduled = callout_test_scheduled(base);
	/* Softirqs run here. */
	local_bh_enable();
	if (base->tick == &callout_tick_jiffies) {
		KUNIT_EXPECT_EQ(test, scheduled, here);
		if (here)
			KUNIT_EXPECT_EQ(test, atomic_read(&t->runs), 1);
	}
	callout_timed_check(test, set);
	callout_test_set_online(base, true);
}

static void smp_overdue(struct kunit *test)
{
	overdue(test, true);
	overdue(test, false);
}

/* Program @base for the next tick. Return whether it waits for the tick's own interrupt. */
static bool waits_for_interrupt(struct callout_base *base)
{
	unsigned long flags;
	bool expiring, ret;

	raw_spin_lock_irqsave(&base->lock, flags);
	expiring = base->expiring;
	base->expiring = true;
	base->armed = co_now(base) + 1;
	base->tick->program(base, base->armed);
	base->expiring = expiring;
	ret = irq_work_is_busy(&base->next_tick);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

/*
 * While the CPU comes or goes nothing waits for the next tick's own interrupt.
 * Callouts that waited for it before wait for the timer, and the interrupt
 * schedules no tasklet.
 */
static void smp_next_tick_of_a_cpu_that_goes(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();
	struct callout_base *base = co_base(cpu);
	struct callout_timed_set *set = callout_timed_create(test, 1);

	/* Other sources have no such interrupt, and on PREEMPT_RT it is not used. */
	if (base->tick != &callout_tick_jiffies || IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	callout_test_need_interrupts(test);
	callout_test_pin(test, cpu);
	callout_timed_set_on(set->t, cpu, 2);
	callout_test_set_online(base, false);
	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, waits_for_interrupt(base));
	timer_delete(&base->timer);
	irq_work_queue(&base->next_tick);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_spin_until(!irq_work_is_busy(&base->next_tick)));
	KUNIT_EXPECT_FALSE(test, callout_test_scheduled(base));
	local_bh_enable();
	callout_timed_check(test, set);
	callout_test_set_online(base, true);
}

/**
 * struct smp_other - a tasklet like the tasklets of other code
 * @tasklet: the tasklet
 * @t: a callout
 * @seen: how often the callout's handler had run when the tasklet ran
 */
struct smp_other {
	struct tasklet_struct tasklet;
	struct callout_timed *t;
	int seen;
};

static void smp_other_runs(struct tasklet_struct *tasklet)
{
	struct smp_other *other = from_tasklet(other, tasklet, tasklet);

	WRITE_ONCE(other->seen, atomic_read(&other->t->runs));
}

/*
 * Callouts that wait for the next tick's own interrupt run before the softirqs that
 * are pending when it comes, just as Linux's timers run before the network's
 * softirqs.
 */
static void smp_next_tick_comes_first(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();
	struct callout_base *base = co_base(cpu);
	struct callout_timed_set *set = callout_timed_create(test, 1);
	struct smp_other other = { .t = set->t, .seen = -1 };

	/*
	 * Only the jiffies source uses the interrupt. In the replaced kernel the
	 * tick looks at the base.
	 */
	if (base->tick != &callout_tick_jiffies ||
	    IS_ENABLED(CONFIG_PREEMPT_RT) || IS_ENABLED(CONFIG_CALLOUT_TIMERS))
		return;
	callout_test_need_interrupts(test);
	callout_test_pin(test, cpu);
	tasklet_setup(&other.tasklet, smp_other_runs);
	local_bh_disable();
	callout_timed_set_on(set->t, cpu, 1);
	timer_delete(&base->timer);
	tasklet_schedule(&other.tasklet);
	KUNIT_EXPECT_TRUE(test, waits_for_interrupt(base));
	KUNIT_EXPECT_TRUE(test,
			  callout_test_spin_until(callout_test_scheduled(base) &&
						  base->armed <= co_now(base)));
	local_bh_enable();
	tasklet_kill(&other.tasklet);
	KUNIT_EXPECT_EQ(test, other.seen, 1);
	callout_timed_check(test, set);
}

/* A deferrable base never waits for the tick's interrupt, which would keep a tick. */
static void smp_deferrable_keeps_no_tick(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();
	struct callout_base *base = co_base_of(CALLOUT_CLASS_DEFERRABLE, cpu);

	/* With another tick source no base is deferrable. */
	if (!co_base_has_class(base, CALLOUT_CLASS_DEFERRABLE))
		return;
	callout_test_pin(test, cpu);
	KUNIT_EXPECT_FALSE(test, waits_for_interrupt(base));
}

/**
 * struct idle_tick - an interrupt of a CPU that programs its base
 * @base: the base
 * @busy: a tick programmed before has not come yet
 * @idle: the CPU is idle
 * @waits: the base waits for the next tick's own interrupt
 */
struct idle_tick {
	struct callout_base *base;
	bool busy;
	bool idle;
	bool waits;
};

static void idle_tick_interrupt(void *arg)
{
	struct idle_tick *i = arg;

	i->busy = irq_work_is_busy(&i->base->next_tick);
	i->idle = is_idle_task(current);
	i->waits = waits_for_interrupt(i->base);
}

#define IDLE_TRIES	20U

/*
 * The base of an idle CPU never waits for the tick's interrupt: the tick may be stopped,
 * and then the interrupt would come at once.
 */
static void smp_idle_keeps_no_tick(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, idle = 0;
	struct idle_tick *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->base = co_base(other);
	/* Only the jiffies source uses the interrupt. A single base is not this CPU's. */
	if (t->base->tick != &callout_tick_jiffies || t->base->cpu != other)
		return;
	for (i = 0; i < IDLE_TRIES && idle < IDLE_TRIES / 4; i++) {
		schedule_timeout_uninterruptible(3);
		KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(other, idle_tick_interrupt,
								  t, true));
		if (!t->idle || t->busy)
			continue;
		idle++;
		KUNIT_EXPECT_FALSE(test, t->waits);
	}
	kunit_info(test, "idle: %u of %u times\n", idle, i);
}

#define AGAIN		20

static void again_handler(void *arg)
{
	struct callout_timed *t = arg;

	if (atomic_inc_return(&t->runs) < AGAIN)
		callout_schedule(&t->c, 1);
}

/*
 * A wake-up by the next tick's own interrupt is counted like a wake-up by the timer.
 * Each wake-up runs a callout that its handler sets for the next tick, twice if the
 * handler takes so long.
 */
static void smp_counts_wakeups(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();
	struct callout_base *base = co_base(cpu);
	struct callout_timed_set *set = callout_timed_create(test, 1);
	struct callout_timed *t = set->t;
	u64 before;

	/* Only the jiffies source uses the interrupt. */
	if (base->tick != &callout_tick_jiffies)
		return;
	callout_test_pin(test, cpu);
	before = READ_ONCE(base->stats.wakeups);
	callout_reset_on(&t->c, 1, again_handler, t, cpu);
	/* The CPU is not idle. */
	KUNIT_EXPECT_TRUE(test, callout_test_spin_until(atomic_read(&t->runs) == AGAIN));
	callout_drain(&t->c);
	KUNIT_EXPECT_GE(test, READ_ONCE(base->stats.wakeups) - before, AGAIN / 2);
}

/**
 * struct idle_look - a callout whose handler looks at the softirq that runs it
 * @c: the callout
 * @idle: the softirq runs on an idle CPU
 * @left: how many handlers the softirq may still run
 * @done: the handler has run
 */
struct idle_look {
	struct callout c;
	bool idle;
	int left;
	bool done;
};

static void idle_look_handler(void *arg)
{
	struct idle_look *l = arg;

	l->idle = is_idle_task(current);
	l->left = co_base(raw_smp_processor_id())->left;
	callout_test_tell(&l->done);
}

/*
 * In one softirq an idle CPU runs at most 64 handlers: until the softirq ends no
 * CPU may advance jiffies. On PREEMPT_RT a thread runs the handlers.
 */
static void smp_idle_runs_few(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct idle_look *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	callout_init(&l->c, CALLOUT_MPSAFE);
	for (i = 0; i < IDLE_TRIES && !l->idle; i++) {
		l->done = false;
		callout_reset_on(&l->c, 2, idle_look_handler, l, other);
		if (!callout_test_wait_until(callout_test_told(&l->done)))
			break;
	}
	callout_drain(&l->c);
	kunit_info(test, "idle: %d, at try %u\n", l->idle, i);
	KUNIT_EXPECT_TRUE(test, l->done);
	if (l->idle)
		KUNIT_EXPECT_LT(test, l->left, (int)CALLOUT_MAX_HANDLERS / 16);
}

/* Expiry that another CPU has begun continues on the base's own CPU. */
static void smp_goes_on_at_home(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct callout_base *base = co_base(other);
	struct callout_timed_set *set;
	bool scheduled, begun;

	set = callout_timed_create(test, CALLOUT_MAX_HANDLERS + 1);
	for (i = 0; i < set->n; i++) {
		callout_timed_set_on(&set->t[i], other, 1000000);
		set->t[i].least = 0;
	}
	local_bh_disable();
	raw_spin_lock_irq(&base->lock);
	base->armed = co_now(base);
	for (i = 0; i < set->n; i++)
		callout_test_due_now(base, &set->t[i].c.node);
	raw_spin_unlock_irq(&base->lock);
	co_softclock(base);
	scheduled = callout_test_scheduled(base);
	begun = atomic_read(&set->t[set->n - 1].runs);
	local_bh_enable();
	callout_timed_check(test, set);
	/*
	 * The other CPU may have run the first or the last callout, and scheduled the
	 * tasklet itself.
	 */
	if (set->t[0].ran_on != other && !begun)
		KUNIT_EXPECT_FALSE(test, scheduled);
	KUNIT_EXPECT_EQ(test, set->t[set->n - 1].ran_on, other);
}

/* callout_barrier() and callout_drain() wait for running handlers. */
static void smp_waits_for_handlers(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct callout_timed_set *set = callout_timed_create(test, 2);
	struct callout_timed *t = set->t;
	int ret = -1, i;

	t[0].block = 10;
	/* Of two handlers in a row one is the first of a pair. */
	for (i = 1; i <= 2; i++) {
		t[0].done = false;
		callout_timed_set_on(&t[0], other, 1);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_spin_until(atomic_read(&t[0].runs) == i));
		callout_barrier();
		KUNIT_EXPECT_TRUE(test, callout_test_told(&t[0].done));
	}

	t[1].block = 10;
	/* On a busy machine the handler may be over before the drain begins. */
	for (i = 1; i <= 100 && ret; i++) {
		t[1].done = false;
		callout_timed_set_on(&t[1], other, 1);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_spin_until(atomic_read(&t[1].runs) == i));
		ret = callout_drain(&t[1].c);
		KUNIT_EXPECT_TRUE(test, callout_test_told(&t[1].done));
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
}

/* A callout's home is this CPU, or a housekeeping CPU if this CPU is nohz_full. */
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

static struct kunit_case smp_cases[] = {
	KUNIT_CASE(smp_init_home),
	KUNIT_CASE(smp_runs_in_time_on_its_cpu),
	KUNIT_CASE(smp_sleeps_while_nothing_is_due),
	KUNIT_CASE(smp_hops_in_time),
	KUNIT_CASE(smp_far_ones_arrive),
	KUNIT_CASE(smp_earlier_from_another_cpu),
	KUNIT_CASE(smp_due_while_a_handler_runs),
	KUNIT_CASE(smp_overdue),
	KUNIT_CASE(smp_next_tick_of_a_cpu_that_goes),
	KUNIT_CASE(smp_next_tick_comes_first),
	KUNIT_CASE(smp_deferrable_keeps_no_tick),
	KUNIT_CASE(smp_idle_keeps_no_tick),
	KUNIT_CASE(smp_counts_wakeups),
	KUNIT_CASE(smp_idle_runs_few),
	KUNIT_CASE(smp_goes_on_at_home),
	KUNIT_CASE(smp_waits_for_handlers),
	{}
};

static struct kunit_suite smp_suite = {
	.name = "callout_smp",
	.test_cases = smp_cases,
};

kunit_test_suite(smp_suite);
