// SPDX-License-Identifier: GPL-2.0
/*
 * timer.c - suite callout_timer: which base Linux's timers on callouts are in, and
 * which CPU runs them
 *
 * Other suites compare what callers see with Linux's own timers. This suite looks
 * at the bases. running.c has the timers whose handlers run.
 */
#include <linux/bottom_half.h>
#include <linux/callout_timer_types.h>
#include <linux/cpu.h>
#include <linux/limits.h>
#include <linux/smp.h>
#include "core/expiry.h"
#include "probe.h"

static unsigned int class_of(unsigned int flags)
{
	if (flags & TIMER_DEFERRABLE)
		return CALLOUT_CLASS_DEFERRABLE;
	return flags & TIMER_PINNED ? CALLOUT_CLASS_KERNEL :
				      CALLOUT_CLASS_GLOBAL;
}

/* A timer is in this CPU's base of the class that its flags select. */
static void timer_class_by_flags(struct kunit *test)
{
	unsigned int i, cpu = raw_smp_processor_id();
	struct callout_base *base;
	struct probe *p;

	callout_test_pin(test, cpu);
	for (i = 0; i < ARRAY_SIZE(all_flags); i++) {
		p = probe_create(test, all_flags[i]);
		base = co_base_of(class_of(all_flags[i]), cpu);
		KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&p->t, jiffies + FAR));
		KUNIT_EXPECT_PTR_EQ(test, base_of(p), base);
		if (base->tick == &callout_tick_jiffies)
			KUNIT_EXPECT_EQ(test, p->t.node.expires, p->t.expires);
		else
			KUNIT_EXPECT_GT(test, p->t.node.expires,
					co_now(base) + FAR / 2 * TICK_NSEC / base->tick_ns);
		if (base->tick != &callout_tick_jiffies && co_is_wheel(base))
			KUNIT_EXPECT_EQ(test, (unsigned long)p->t.node.time, p->t.expires);
		KUNIT_EXPECT_EQ(test, p->t.flags, all_flags[i]);
		KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
	}
}

/*
 * The jiffies source has a timer that is not pinned for one class, and a deferrable
 * timer for the other. With another source the class of kernel code replaces both.
 */
static void timer_classes_sleep(struct kunit *test)
{
	struct callout_base *kernel, *global, *deferrable;
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		kernel = co_base_of(CALLOUT_CLASS_KERNEL, cpu);
		global = co_base_of(CALLOUT_CLASS_GLOBAL, cpu);
		deferrable = co_base_of(CALLOUT_CLASS_DEFERRABLE, cpu);
		if (kernel->tick != &callout_tick_jiffies) {
			KUNIT_EXPECT_PTR_EQ(test, global, kernel);
			KUNIT_EXPECT_PTR_EQ(test, deferrable, kernel);
			continue;
		}
		KUNIT_EXPECT_EQ(test, kernel->timer.flags & TIMER_INIT_FLAGS,
				TIMER_PINNED);
		KUNIT_EXPECT_EQ(test, global->timer.flags & TIMER_INIT_FLAGS, 0);
		KUNIT_EXPECT_EQ(test, deferrable->timer.flags & TIMER_INIT_FLAGS,
				TIMER_DEFERRABLE | TIMER_PINNED);
		KUNIT_EXPECT_EQ(test, global->tick_ns, kernel->tick_ns);
		KUNIT_EXPECT_EQ(test, deferrable->tick_ns, kernel->tick_ns);
	}
}

/* A timer that is set on a nonexistent CPU is in this CPU's base, and runs. */
static void timer_on_no_cpu(struct kunit *test)
{
	const int none[] = { -1, nr_cpu_ids, INT_MAX };
	unsigned int cpu = raw_smp_processor_id(), i, pending;
	struct callout_base *base = co_base(cpu);
	struct probe *p;

	callout_test_pin(test, cpu);
	for (i = 0; i < ARRAY_SIZE(none); i++) {
		p = probe_create(test, 0);
		p->t.expires = jiffies + FAR;
		pending = co_base_pending(base);
		callout_timer_add_on(&p->t, none[i]);
		KUNIT_EXPECT_PTR_EQ(test, base_of(p), base);
		KUNIT_EXPECT_EQ(test, co_base_pending(base), pending + 1);
		KUNIT_EXPECT_EQ(test, 1, callout_timer_mod(&p->t, jiffies + 1));
		KUNIT_EXPECT_TRUE(test, callout_test_wait_until(atomic_read(&p->runs)));
		/* A single base has one CPU for all. */
		if (base->cpu == cpu)
			KUNIT_EXPECT_EQ(test, p->cpu, cpu);
	}
}

/* A timer that is added on a CPU that is not online is in this CPU's base. */
static void timer_on_a_dead_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct probe *p = probe_create(test, TIMER_PINNED);
	unsigned int this = raw_smp_processor_id();

	/* The second time the timer is in the dead CPU's base already. */
	for (i = 0; i < 2; i++) {
		callout_test_set_online(co_base(other), false);
		p->t.expires = jiffies + FAR;
		callout_timer_add_on(&p->t, other);
		callout_test_set_online(co_base(other), true);
		KUNIT_EXPECT_PTR_EQ(test, base_of(p), co_base(this));
		KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
		callout_timer_add_on(&p->t, other);
		KUNIT_EXPECT_PTR_EQ(test, base_of(p), co_base(other));
		KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
	}
}

static void reduce_thread(void *arg)
{
	struct probe *p = arg;

	if (callout_test_spin_until(callout_test_told(&p->go)))
		callout_timer_reduce(&p->t, p->jiffy + FAR - 10);
}

/*
 * timer_reduce() that meets a setting for an earlier time changes nothing.
 *
 *	CPU0				CPU1: timer_reduce(t, 90)
 *	lock(base)			t.expires is 100: continue
 *	t.expires = 80
 *	unlock(base)
 *					lock(base): t.expires is 80: return
 */
static void timer_reduce_meets_earlier(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct probe *p = probe_create(test, TIMER_PINNED);
	struct callout_test_thread *t;
	struct callout_base *base;
	bool waits;

	p->jiffy = jiffies;
	callout_timer_mod(&p->t, p->jiffy + FAR);
	base = base_of(p);
	t = callout_test_thread(test, other, reduce_thread, p);
	raw_spin_lock_irq(&base->lock);
	callout_test_tell(&p->go);
	waits = callout_test_contended(base);
	WRITE_ONCE(p->t.expires, p->jiffy + FAR - 20);
	raw_spin_unlock_irq(&base->lock);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_EXPECT_EQ(test, p->t.expires, p->jiffy + FAR - 20);
}

struct anywhere {
	struct probe *p;
	struct callout_base *base;
	struct callout_base *meant;
};

static void set_anywhere(void *arg)
{
	unsigned int this = raw_smp_processor_id(), home = co_home_cpu();
	struct anywhere *a = arg;

	callout_timer_mod(&a->p->t, jiffies + FAR);
	a->base = base_of(a->p);
	a->meant = co_base_of(home == this ? CALLOUT_CLASS_GLOBAL :
					     CALLOUT_CLASS_KERNEL, home);
}

/*
 * A timer set by a CPU goes to that CPU's own global base. A timer set by a
 * nohz_full CPU goes to a housekeeping CPU, pinned: arming in that CPU's global
 * base would take all its timers away. The job nohz runs this where there is such a
 * CPU.
 */
static void timer_set_anywhere(struct kunit *test)
{
	struct anywhere a = {};
	unsigned int cpu;

	a.p = probe_create(test, 0);
	for_each_online_cpu(cpu) {
		KUNIT_ASSERT_EQ(test, 0,
				smp_call_function_single(cpu, set_anywhere, &a,
							 true));
		KUNIT_EXPECT_PTR_EQ(test, a.base, a.meant);
		KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&a.p->t));
	}
}

/* A pending timer follows the CPU that sets it to another time. */
static void timer_follows(struct kunit *test)
{
	unsigned int i, other = callout_test_pin_one(test);
	unsigned int this = raw_smp_processor_id();
	struct probe *p;

	for (i = 0; i < ARRAY_SIZE(all_flags); i++) {
		p = probe_create(test, all_flags[i]);
		p->t.expires = jiffies + FAR;
		callout_timer_add_on(&p->t, other);
		KUNIT_EXPECT_EQ(test, base_of(p)->cpu, other);
		KUNIT_EXPECT_TRUE(test, p->t.flags & TIMER_PINNED);
		/* Setting the same time is no setting. */
		KUNIT_EXPECT_EQ(test, 1, callout_timer_mod(&p->t, p->t.expires));
		KUNIT_EXPECT_EQ(test, base_of(p)->cpu, other);
		KUNIT_EXPECT_EQ(test, 1,
				callout_timer_mod(&p->t, p->t.expires + 1));
		KUNIT_EXPECT_EQ(test, base_of(p)->cpu, this);
		KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
		callout_timer_add_global(&p->t);
		KUNIT_EXPECT_FALSE(test, p->t.flags & TIMER_PINNED);
		KUNIT_EXPECT_PTR_EQ(test, base_of(p),
				    co_base_of(class_of(p->t.flags), this));
		KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
	}
}

/* Set the timers of a pair on this CPU, so that both are due soon. */
static void set_pair(void *arg)
{
	struct probe **pair = arg;

	callout_timer_mod(&pair[0]->t, jiffies + 2);
	callout_timer_mod(&pair[1]->t, jiffies + 2 + NEAR);
}

/*
 * Another CPU may run the timers of a global base, and then programs the base for
 * the next timer. Here the case's thread acts as the kernel on that CPU.
 */
static void timer_run_by_another_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct callout_base *base = co_base_of(CALLOUT_CLASS_GLOBAL, other);
	struct probe *pair[2];

	/* With another tick source no base is global. */
	if (!co_base_has_class(base, CALLOUT_CLASS_GLOBAL))
		return;
	pair[0] = probe_create(test, 0);
	pair[1] = probe_create(test, 0);
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(other, set_pair, pair,
							  true));
	KUNIT_EXPECT_PTR_EQ(test, base_of(pair[0]), base);
	local_bh_disable();
	callout_test_clock_until(({
		while (co_expire(base))
			;
		atomic_read(&pair[0]->runs);
	}));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&pair[0]->runs));
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&pair[1]->runs)));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&pair[1]->runs));
	KUNIT_EXPECT_PTR_EQ(test, base_of(pair[1]), base);
}

#define CROWD		2000U
#define CROWD_TRIES	10U
#define CROWD_SLEEP_US	(300 * USEC_PER_MSEC)
#define CROWD_IDLE	64U	/* what an idle CPU runs in one softirq */

/*
 * Timers for one jiffy. Their base runs them one after the other. The CPU that ran
 * the first, the number run in the present jiffy, and the maximum number run in a
 * jiffy.
 */
struct crowd {
	struct callout_timer t[CROWD];
	atomic_t runs;
	unsigned int cpu;
	unsigned long jiffy;
	unsigned int n;
	unsigned int most;
};

static struct crowd *crowd;

static void crowd_handler(struct callout_timer *t)
{
	unsigned long now = jiffies;

	if (crowd->jiffy != now)
		crowd->n = 0;
	crowd->jiffy = now;
	crowd->most = max(crowd->most, ++crowd->n);
	if (atomic_inc_return(&crowd->runs) == 1)
		crowd->cpu = smp_processor_id();
}

static void crowd_set(void *arg)
{
	unsigned long expires = jiffies + 20;
	unsigned int i;

	for (i = 0; i < CROWD; i++)
		callout_timer_mod(&crowd->t[i], expires);
}

static void crowd_end(void *data)
{
	unsigned int i;

	for (i = 0; i < CROWD; i++)
		callout_timer_shutdown_sync(&crowd->t[i]);
}

/*
 * Another CPU runs more of the many timers of a sleeping CPU in a jiffy than an idle
 * CPU runs in one softirq. The sleeping CPU would have run only that many.
 */
static void timer_crowd_of_an_idle_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), elsewhere = 0, try, i;
	unsigned int most = 0;
	static struct lock_class_key key;

	crowd = callout_test_vcalloc(test, 1, sizeof(*crowd));
	for (i = 0; i < CROWD; i++)
		callout_timer_init_key(&crowd->t[i], crowd_handler, 0, "crowd",
				       &key);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, crowd_end,
							   NULL));
	for (try = 0; try < CROWD_TRIES && most <= CROWD_IDLE; try++) {
		atomic_set(&crowd->runs, 0);
		crowd->most = 0;
		KUNIT_ASSERT_EQ(test, 0,
				smp_call_function_single(other, crowd_set, NULL,
							 true));
		/* All CPUs sleep when the timers are due. */
		usleep_range(CROWD_SLEEP_US, 2 * CROWD_SLEEP_US);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(atomic_read(&crowd->runs) ==
							  CROWD));
		if (crowd->cpu == other)
			continue;
		elsewhere++;
		most = max(most, crowd->most);
	}
	kunit_info(test, "elsewhere: %u of %u tries\n", elsewhere, try);
	if (elsewhere)
		KUNIT_EXPECT_GT(test, most, CROWD_IDLE);
}

#define PER_CLASS	32

static void set_all(void *arg)
{
	struct probe **p = arg;
	unsigned int i;

	for (i = 0; i < 3 * PER_CLASS; i++)
		callout_timer_mod(&p[i]->t, jiffies + 1 + 2 * (i / 3));
}

/* Timers of a CPU that dies run once, on another CPU, and are not lost. */
static void timer_cpu_goes_away(struct kunit *test)
{
	static const unsigned int flags[] = {
		0, TIMER_PINNED, TIMER_DEFERRABLE
	};
	unsigned int cpu = cpumask_last(cpu_online_mask), i, wrong = 0;
	struct probe *p[3 * PER_CLASS];

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	for (i = 0; i < ARRAY_SIZE(p); i++)
		p[i] = probe_create(test, flags[i % 3]);
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(cpu, set_all, p,
							  true));
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	for (i = 0; i < ARRAY_SIZE(p); i++)
		KUNIT_EXPECT_TRUE(test,
				  callout_test_spin_until(atomic_read(&p[i]->runs)));
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	for (i = 0; i < ARRAY_SIZE(p); i++)
		wrong += callout_timer_delete_sync(&p[i]->t) ||
			 atomic_read(&p[i]->runs) != 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static struct kunit_case timer_cases[] = {
	KUNIT_CASE(timer_class_by_flags),
	KUNIT_CASE(timer_classes_sleep),
	KUNIT_CASE(timer_set_anywhere),
	KUNIT_CASE(timer_on_no_cpu),
	KUNIT_CASE(timer_on_a_dead_cpu),
	KUNIT_CASE(timer_reduce_meets_earlier),
	KUNIT_CASE(timer_follows),
	KUNIT_CASE(timer_run_by_another_cpu),
	KUNIT_CASE_SLOW(timer_crowd_of_an_idle_cpu),
	KUNIT_CASE_SLOW(timer_cpu_goes_away),
	{}
};

static struct kunit_suite timer_suite = {
	.name = "callout_timer",
	.test_cases = timer_cases,
};

kunit_test_suite(timer_suite);
