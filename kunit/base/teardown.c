// SPDX-License-Identifier: GPL-2.0
/*
 * teardown.c - suite callout_teardown: a base dies while it has work in progress
 *
 * The case delays a tasklet, a handler or a kick until the base is dying.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include "lib/softirq.h"

/* The tick source of the present case, and the progress of its threads. */
static struct {
	struct callout_tick_source tick;
	void (*shutdown)(struct callout_base *base);
	struct callout_base *base;
	bool ready;
	bool kicked;
	bool go;
	bool begins;
	bool returns;
} teardown;

/* Replace the shutdown of the tick source. */
static void teardown_shutdown(struct callout_base *base)
{
	callout_test_tell(&teardown.begins);
	teardown.shutdown(base);
	callout_test_tell(&teardown.returns);
}

static int teardown_init(struct kunit *test)
{
	struct callout_virtual *v;
	int ret = callout_virtual_init(test);

	if (ret)
		return ret;
	v = test->priv;
	memset(&teardown, 0, sizeof(teardown));
	teardown.tick = *v->base->tick;
	teardown.shutdown = teardown.tick.shutdown;
	teardown.tick.shutdown = teardown_shutdown;
	teardown.base = v->base;
	v->base->tick = &teardown.tick;
	return 0;
}

/* Keep the base's tasklet pending until the tick source is shut down. */
static void teardown_ksoftirqd(void *unused)
{
	local_bh_disable();
	tasklet_schedule(&teardown.base->again);
	callout_test_tell(&teardown.ready);
	callout_test_clock_until(callout_test_told(&teardown.returns));
	local_bh_enable();
}

/*
 * On a dead base no handler starts, not even from its pending tasklet, nothing
 * programs the tick source, and pending callouts stay pending.
 */
static void teardown_tasklet_runs_nothing(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 4);
	unsigned int other = callout_test_pin_one(test), programs, i;
	struct callout_test_thread *t;

	for (i = 0; i < 3; i++)
		callout_virtual_set(&item[i], 5 + 100 * (i / 2));
	v->now += 10;
	t = callout_test_thread(test, other, teardown_ksoftirqd, NULL);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&teardown.ready)));
	programs = v->programs;
	co_base_kill(v->base);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, v->ran, 0);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 3);
	callout_virtual_set(&item[3], 1);
	callout_virtual_run_to(v, v->now + 1000);
	KUNIT_EXPECT_EQ(test, v->ran, 0);
	KUNIT_EXPECT_EQ(test, v->programs, programs);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, callout_stop(&item[i].c), 1);
}

/* A handler that runs while its base dies may arm callouts, and is the last. */
static void teardown_handler_is_the_last(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	struct callout_item *item = callout_virtual_items(test, 2);
	unsigned int programs;

	callout_virtual_set(&r->item, 1);
	callout_virtual_set(&item[0], 1);
	callout_virtual_set(&item[1], 100);
	r->set_again = true;
	callout_race_begin(test, r);
	programs = r->v->programs;
	co_base_kill(r->v->base);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->v->ran, 1);
	KUNIT_EXPECT_EQ(test, r->v->programs, programs);
	KUNIT_EXPECT_EQ(test, callout_stop(&r->item.c), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&item[0].c), 1);
}

/* After the last handler, with no callout due, nothing is programmed either. */
static void teardown_last_programs_nothing(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	struct callout_item *item = callout_virtual_items(test, 1);
	unsigned int programs;

	callout_virtual_set(item, 100);
	callout_race_begin(test, r);
	programs = r->v->programs;
	co_base_kill(r->v->base);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->v->programs, programs);
	KUNIT_EXPECT_EQ(test, callout_stop(&item->c), 1);
}

/* On a dead base a callout can be set, which programs nothing. */
static void teardown_set_programs_nothing(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 2);
	unsigned int programs;

	callout_virtual_set(&item[0], 100);
	programs = v->programs;
	co_base_kill(v->base);
	/* This callout is the first to expire. */
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&item[1], 1), 0);
	KUNIT_EXPECT_EQ(test, v->programs, programs);
	KUNIT_EXPECT_EQ(test, callout_stop(&item[0].c), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&item[1].c), 1);
}

static void then_dies(struct callout_item *item)
{
	struct callout_base *base = item->v->base;

	co_base_lock_irq(base);
	base->dead = true;
	base->attention = true;
	WRITE_ONCE(base->armed, 0);
	co_base_unlock_irq(base);
}

/* A base that dies in a handler, and whose CPU goes, programs nothing for the rest. */
static void teardown_yields_for_good(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 2);
	unsigned int programs;

	item[0].then = then_dies;
	callout_virtual_set(&item[0], 1);
	callout_virtual_set(&item[1], 1);
	callout_test_set_online(v->base, false);
	programs = v->programs;
	callout_virtual_wake_at(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, v->ran, 1);
	KUNIT_EXPECT_EQ(test, v->programs, programs);
	KUNIT_EXPECT_EQ(test, callout_stop(&item[1].c), 1);
}

static void teardown_deaf(void *unused)
{
	local_irq_disable();
	callout_test_tell(&teardown.ready);
	callout_test_clock_until(callout_test_told(&teardown.go));
	local_irq_enable();
}

static void teardown_killer(void *unused)
{
	if (callout_test_spin_until(callout_test_told(&teardown.kicked)))
		co_base_kill(teardown.base);
}

static void teardown_spin(void)
{
	unsigned int i;

	for (i = 0; i < 100000 && !callout_test_told(&teardown.returns); i++)
		cpu_relax();
}

/* Give the base the hrtimer source, on @cpu. */
static struct callout_base *teardown_hrtimer(struct kunit *test, unsigned int cpu)
{
	struct callout_virtual *v = test->priv;

	/* Time stays virtual, so the timer never fires. */
	teardown.tick.program = callout_tick_hrtimer.program;
	teardown.shutdown = callout_tick_hrtimer.shutdown;
	callout_tick_hrtimer.init(v->base);
	v->base->cpu = cpu;
	return v->base;
}

/* As teardown_hrtimer(), on this CPU, to which the case is bound. */
static struct callout_base *teardown_hrtimer_here(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();

	callout_test_pin(test, cpu);
	return teardown_hrtimer(test, cpu);
}

/*
 * The hrtimer source does not shut down while a kick is pending: CPU 0 has sent a
 * kick, CPU 1 has interrupts off, and CPU 2 kills the base. Then CPU 1 takes the
 * interrupt, and waits for the base, which CPU 0 has locked.
 */
static void teardown_waits_for_kick(struct kunit *test)
{
	struct callout_item *item = callout_virtual_items(test, 1);
	struct callout_test_thread *deaf, *killer;
	struct callout_base *base;
	bool ready, begins, returns;
	unsigned int cpu[2];

	callout_test_pin_two(test, cpu);
	base = teardown_hrtimer(test, cpu[0]);
	killer = callout_test_thread(test, cpu[1], teardown_killer, NULL);
	deaf = callout_test_thread(test, cpu[0], teardown_deaf, NULL);
	ready = callout_test_clock_until(callout_test_told(&teardown.ready));
	callout_virtual_set(item, 5);
	callout_test_tell(&teardown.kicked);
	begins = callout_test_clock_until(callout_test_told(&teardown.begins));
	teardown_spin();
	raw_spin_lock_irq(&base->lock);
	callout_test_tell(&teardown.go);
	teardown_spin();
	returns = callout_test_told(&teardown.returns);
	raw_spin_unlock_irq(&base->lock);

	KUNIT_EXPECT_TRUE(test, ready);
	KUNIT_EXPECT_TRUE(test, begins);
	KUNIT_EXPECT_FALSE(test, returns);
	KUNIT_ASSERT_TRUE(test, callout_test_join(deaf));
	KUNIT_ASSERT_TRUE(test, callout_test_join(killer));
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&base->hrtimer));
}

/*
 * The hrtimer source leaves no timer behind that would look at the base. A time
 * beyond the range of ktime_t means never.
 */
static void teardown_cancels_hrtimer(struct kunit *test)
{
	struct callout_item *item = callout_virtual_items(test, 1);
	struct callout_base *base = teardown_hrtimer_here(test);

	callout_virtual_set(item, LONG_MAX);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&base->hrtimer));
	KUNIT_EXPECT_GT(test, hrtimer_get_expires(&base->hrtimer),
			KTIME_MAX / 2);
	co_base_kill(base);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&base->hrtimer));
	hrtimer_cancel(&base->hrtimer);
	KUNIT_EXPECT_EQ(test, callout_stop(&item->c), 1);
}

/*
 * A callout that another CPU arms first sets the hrtimer of the base's own CPU.
 * Killing the base from the other CPU cancels that hrtimer too.
 */
static void teardown_cancels_hrtimer_elsewhere(struct kunit *test)
{
	struct callout_item *item = callout_virtual_items(test, 1);
	unsigned int other = callout_test_pin_one(test);
	struct callout_base *base = teardown_hrtimer(test, other);
	bool active;

	callout_virtual_set(item, CALLOUT_TEST_FAR);
	active = callout_test_wait_until(hrtimer_active(&base->hrtimer));
	KUNIT_EXPECT_TRUE(test, active);
	KUNIT_EXPECT_EQ(test, ktime_to_ns(hrtimer_get_expires(&base->hrtimer)),
			item->c.node.expires * TICK_NSEC);
	co_base_kill(base);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&base->hrtimer));
	KUNIT_EXPECT_EQ(test, callout_stop(&item->c), 1);
}

/*
 * The jiffies source leaves neither its timer nor an interrupt of the next tick behind,
 * which would look at the base.
 */
static void teardown_cancels_jiffies(struct kunit *test)
{
	struct callout_item *item = callout_virtual_items(test, 1);
	unsigned int cpu = raw_smp_processor_id();
	struct callout_virtual *v = test->priv;
	struct callout_base *base = v->base;
	bool waits;

	callout_test_pin(test, cpu);
	teardown.tick.program = callout_tick_jiffies.program;
	teardown.shutdown = callout_tick_jiffies.shutdown;
	callout_tick_jiffies.init(base);
	base->cpu = cpu;
	/* By the kernel's jiffies this is far away, too. */
	callout_virtual_set(item, LONG_MAX / 2);
	/* As timer_pending(), which in the replaced kernel is for the kernel's own timers. */
	KUNIT_EXPECT_NOT_NULL(test, base->timer.entry.pprev);
	local_irq_disable();
	irq_work_queue(&base->next_tick);
	waits = irq_work_is_busy(&base->next_tick);
	local_irq_enable();
	co_base_kill(base);
	KUNIT_EXPECT_NULL(test, base->timer.entry.pprev);
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_EXPECT_FALSE(test, irq_work_is_busy(&base->next_tick));
	irq_work_sync(&base->next_tick);
	KUNIT_EXPECT_EQ(test, callout_stop(&item->c), 1);
}

static struct kunit_case teardown_cases[] = {
	KUNIT_CASE(teardown_tasklet_runs_nothing),
	KUNIT_CASE(teardown_handler_is_the_last),
	KUNIT_CASE(teardown_last_programs_nothing),
	KUNIT_CASE(teardown_set_programs_nothing),
	KUNIT_CASE(teardown_yields_for_good),
	KUNIT_CASE(teardown_waits_for_kick),
	KUNIT_CASE(teardown_cancels_hrtimer),
	KUNIT_CASE(teardown_cancels_hrtimer_elsewhere),
	KUNIT_CASE(teardown_cancels_jiffies),
	{}
};

static struct kunit_suite teardown_suite = {
	.name = "callout_teardown",
	.init = teardown_init,
	.test_cases = teardown_cases,
};

kunit_test_suite(teardown_suite);
