// SPDX-License-Identifier: GPL-2.0
/*
 * where.c - the CPU on which a timer runs, and CPUs that it leaves asleep
 */
#include "timers/api.h"

#define TIMER_SLEEP_TRIES	30U

/**
 * struct timer_arming - a thread that arms a timer on its CPU
 * @item: the timer
 * @runs: the thread stays there, awake, until the timer has run this often
 */
struct timer_arming {
	struct timer_item *item;
	int runs;
};

static void timer_arming_thread(void *arg)
{
	struct timer_arming *a = arg;

	mod_timer(&a->item->t, jiffies + 2);
	callout_test_spin_until(timer_item_runs(a->item) >= a->runs);
}

/* Arm @item on each CPU in turn. It runs there, even if it was pending on another CPU far away. */
static void timer_check_follows(struct kunit *test, struct timer_item *item,
				bool from_elsewhere)
{
	struct callout_test_thread *t;
	struct timer_arming *a;
	unsigned int cpu;
	int runs = timer_item_runs(item);

	a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, a);
	a->item = item;
	for_each_online_cpu(cpu) {
		if (from_elsewhere)
			mod_timer(&item->t, jiffies + CALLOUT_TEST_FAR);
		a->runs = ++runs;
		t = callout_test_thread(test, cpu, timer_arming_thread, a);
		KUNIT_ASSERT_TRUE(test, callout_test_join(t));
		timer_item_await(test, item, runs);
		KUNIT_EXPECT_EQ(test, item->ran_on, cpu);
	}
}

/* A timer runs on the CPU that armed it, if that CPU is awake. */
static void timer_runs_where_it_was_armed(struct kunit *test)
{
	static const u32 flags[] = { 0, TIMER_PINNED, TIMER_DEFERRABLE,
				     TIMER_DEFERRABLE | TIMER_PINNED,
				     TIMER_IRQSAFE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		timer_check_follows(test, timer_item_create(test, flags[i]),
				    false);
		timer_check_follows(test, timer_item_create(test, flags[i]),
				    true);
	}
}

/* add_timer_on() makes a timer run on the CPU, even if the CPU sleeps, and pins it. */
static void timer_added_on_a_cpu(struct kunit *test)
{
	struct timer_items *items;
	unsigned int cpu, i = 0;

	callout_test_pin(test, raw_smp_processor_id());
	items = timer_items_create(test, nr_cpu_ids, 0);
	for_each_online_cpu(cpu) {
		items->item[i].t.expires = jiffies + 3;
		add_timer_on(&items->item[i].t, cpu);
		timer_item_await(test, &items->item[i], 1);
		KUNIT_EXPECT_EQ(test, items->item[i].ran_on, cpu);
		KUNIT_EXPECT_TRUE(test,
				  items->item[i].t.flags & TIMER_PINNED);
		i++;
	}
}

/* The flags are the flags of the setup; add_timer_local() and add_timer_global() change one. */
static void timer_shows_its_flags(struct kunit *test)
{
	static const u32 flags[] = { 0, TIMER_PINNED, TIMER_DEFERRABLE,
				     TIMER_IRQSAFE,
				     TIMER_PINNED | TIMER_IRQSAFE };
	struct timer_item *item;
	unsigned int i;
	u32 rest;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		item = timer_item_create(test, flags[i]);
		rest = flags[i] & ~TIMER_PINNED;
		KUNIT_EXPECT_EQ(test, item->t.flags & TIMER_INIT_FLAGS,
				flags[i]);
		mod_timer(&item->t, jiffies + CALLOUT_TEST_FAR);
		KUNIT_EXPECT_EQ(test, item->t.flags & TIMER_INIT_FLAGS,
				flags[i]);
		timer_delete(&item->t);
		add_timer_local(&item->t);
		KUNIT_EXPECT_EQ(test, item->t.flags & TIMER_INIT_FLAGS,
				rest | TIMER_PINNED);
		timer_delete(&item->t);
		add_timer_global(&item->t);
		KUNIT_EXPECT_EQ(test, item->t.flags & TIMER_INIT_FLAGS, rest);
		timer_delete(&item->t);
		KUNIT_EXPECT_EQ(test, item->t.flags & TIMER_INIT_FLAGS, rest);
	}
}

/* The kernel's timers have the number of their CPU among their flags. */
static void timer_shows_its_cpu(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);
	unsigned int cpu;

	callout_test_pin(test, raw_smp_processor_id());
	item->t.expires = jiffies + CALLOUT_TEST_FAR;
	for_each_online_cpu(cpu) {
		add_timer_on(&item->t, cpu);
		KUNIT_EXPECT_EQ(test, item->t.flags & TIMER_CPUMASK,
				TIMER_DIFFERS(flags) ? 0 : cpu);
		KUNIT_EXPECT_EQ(test, timer_delete(&item->t), 1);
	}
}

/* A timer that is moved while its handler runs stays on the handler's CPU. */
static void timer_stays_while_it_runs(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct timer_item *item = timer_item_create(test, 0);

	item->then = timer_then_hold;
	timer_item_run_on(test, item, other);
	KUNIT_EXPECT_EQ(test, mod_timer(&item->t, jiffies + 1), 0);
	timer_item_let_go(test, item);
	timer_item_await(test, item, 2);
	KUNIT_EXPECT_EQ(test, item->ran_on, other);
	/* Afterwards the timer follows its setter again. */
	KUNIT_EXPECT_EQ(test, timer_delete_sync(&item->t), 0);
	mod_timer(&item->t, jiffies + 1);
	callout_test_spin_until(timer_item_runs(item) == 3);
	KUNIT_EXPECT_EQ(test, item->ran_on, raw_smp_processor_id());
}

/*
 * add_timer_on() moves a timer even while its handler runs. Linux forgets that the
 * handler runs; a callout is moved when the handler is over.
 */
static void timer_added_elsewhere_while_it_runs(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);
	unsigned int other[2];

	callout_test_pin_two(test, other);
	item->then = timer_then_hold;
	timer_item_run_on(test, item, other[0]);
	item->t.expires = jiffies + 50;
	add_timer_on(&item->t, other[1]);
	KUNIT_EXPECT_TRUE(test, timer_pending(&item->t));
	KUNIT_EXPECT_EQ(test, try_to_del_timer_sync(&item->t),
			TIMER_DIFFERS(add_timer_on) ? -1 : 1);
	if (!timer_pending(&item->t)) {
		item->t.expires = jiffies + 50;
		add_timer_on(&item->t, other[1]);
	}
	timer_item_let_go(test, item);
	timer_item_await(test, item, 2);
	KUNIT_EXPECT_EQ(test, item->ran_on, other[1]);
}

/* mod_timer() to the same expires leaves a timer where it is. */
static void timer_stays_at_the_same_expires(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct timer_item *item;
	unsigned int try;
	int ret = 0;

	/* If the timer ran before it was moved, try once more. */
	for (try = 0; try < 10 && !ret; try++) {
		item = timer_item_create(test, 0);
		item->t.expires = jiffies + 20;
		add_timer_on(&item->t, other);
		ret = mod_timer(&item->t, item->t.expires);
		timer_item_await(test, item, ret ? 1 : 2);
	}
	KUNIT_EXPECT_EQ(test, ret, 1);
	KUNIT_EXPECT_EQ(test, item->ran_on, other);
}

static void timer_arm_soon(void *arg)
{
	struct timer_item *item = arg;

	mod_timer(&item->t, jiffies + 20);
}

static void timer_call_on(struct kunit *test, unsigned int cpu,
			  void (*fn)(void *arg), void *arg)
{
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(cpu, fn, arg, true));
}

/*
 * Arm @item from an interrupt on another CPU, which then has nothing to do, while
 * this CPU is awake. Return whether the timer ran on that CPU. A CPU with callbacks
 * of RCU keeps its tick, and they wait for this CPU.
 */
static bool timer_ran_on_idle(struct kunit *test, struct timer_item *item,
			      unsigned int idle)
{
	int runs = timer_item_runs(item);

	rcu_barrier();
	timer_call_on(test, idle, timer_arm_soon, item);
	callout_test_spin_until(({ cond_resched();
				   timer_item_runs(item) > runs; }));
	KUNIT_ASSERT_EQ(test, timer_item_runs(item), runs + 1);
	return item->ran_on == idle;
}

/*
 * A pinned timer wakes its CPU. Any other timer leaves its CPU asleep, if it can
 * and another CPU is awake.
 */
static void timer_leaves_an_idle_cpu_asleep(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, elsewhere = 0;
	struct timer_item *pinned = timer_item_create(test, TIMER_PINNED);
	struct timer_item *item = timer_item_create(test, 0);

	for (i = 0; i < TIMER_SLEEP_TRIES && !elsewhere; i++) {
		elsewhere += !timer_ran_on_idle(test, item, other);
		KUNIT_EXPECT_TRUE(test, timer_ran_on_idle(test, pinned, other));
	}
	kunit_info(test, "elsewhere: %u of %u tries\n", elsewhere, i);
	KUNIT_EXPECT_EQ(test, elsewhere, timer_lets_cpus_sleep());
}

/*
 * When the later of two timers wakes the CPU, and how late the deferrable timer is
 * at least if it does not wake the CPU: on a busy machine other things wake the CPU
 * sooner.
 */
#define TIMER_DEFER_WAKE	(2 * HZ / 5)
#define TIMER_DEFER_LATE	(HZ / 25)

static void timer_arm_deferrable(void *arg)
{
	struct timer_items *items = arg;

	mod_timer(&items->item[0].t, jiffies + 3);
	mod_timer(&items->item[1].t, jiffies + 3 + TIMER_DEFER_WAKE);
}

/* How late a deferrable timer is on a CPU that a later, pinned timer wakes. */
static long timer_deferred(struct kunit *test, unsigned int cpu)
{
	struct timer_items *items = timer_items_create(test, 2, TIMER_PINNED);
	struct timer_item *item = items->item;

	timer_setup(&item->t, timer_item_handler,
		    TIMER_DEFERRABLE | TIMER_PINNED);
	timer_call_on(test, cpu, timer_arm_deferrable, items);
	timer_items_await(test, items);
	KUNIT_EXPECT_EQ(test, item->ran_on, cpu);
	return item->ran - item->t.expires;
}

/*
 * A deferrable timer of a sleeping CPU waits until something else wakes the CPU.
 * Anything may wake it, so the case tries several times.
 */
static void timer_deferrable_wakes_nobody(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	long least = LONG_MAX, most = 0, late;
	bool sleeps = timer_lets_cpus_sleep();

	for (i = 0; i < TIMER_SLEEP_TRIES; i++) {
		late = timer_deferred(test, other);
		most = max(most, late);
		least = min(least, late);
		if (sleeps ? most >= TIMER_DEFER_LATE : least <= 1)
			break;
	}
	kunit_info(test, "try %u: %ld jiffies late\n", i, late);
	if (sleeps)
		KUNIT_EXPECT_GE(test, most, TIMER_DEFER_LATE);
	else
		KUNIT_EXPECT_LE(test, least, 1);
}

/* On a CPU that is awake a deferrable timer is as punctual as any other. */
static void timer_deferrable_is_on_time_if_awake(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, TIMER_DEFERRABLE);
	unsigned int i;
	long most = 1, late = LONG_MAX;

	callout_test_pin(test, raw_smp_processor_id());
	for (i = 1; i <= TIMER_SLEEP_TRIES && late > most; i++) {
		mod_timer(&item->t, jiffies + 2);
		callout_test_spin_until(timer_item_runs(item) == i);
		late = min_t(long, late, item->ran - item->t.expires);
	}
	KUNIT_EXPECT_LE(test, late, most);
}

/* Check that timers that ran from @gone to @back ran on another CPU, and that none was early. */
static void timer_check_dead(struct kunit *test, struct timer_items *items,
			     unsigned int cpu, unsigned long gone,
			     unsigned long back)
{
	unsigned int i, there = 0, early = 0, meanwhile = 0;
	struct timer_item *item;

	for (i = 0; i < items->n; i++) {
		item = &items->item[i];
		early += time_before(item->ran, item->t.expires);
		if (time_after(item->ran, gone) && time_before(item->ran, back)) {
			meanwhile++;
			there += item->ran_on == cpu;
		}
	}
	kunit_info(test, "%u ran while the CPU was away\n", meanwhile);
	KUNIT_EXPECT_EQ(test, there, 0);
	KUNIT_EXPECT_EQ(test, early, 0);
}

/*
 * The timers of a CPU that goes offline run on another CPU, once each. The CPU has
 * new timers when it is back.
 */
static void timer_leaves_a_dead_cpu(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask), i;
	unsigned long gone, back;
	struct timer_items *items;
	struct timer_item *moved;

	if (!cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	items = timer_items_create(test, 120, TIMER_PINNED);
	moved = &items->item[items->n - 1];
	for (i = 0; i < items->n; i++) {
		if (i % 3 == 1)
			timer_setup(&items->item[i].t, timer_item_handler,
				    TIMER_DEFERRABLE);
		items->item[i].t.expires = jiffies +
			(&items->item[i] == moved ? CALLOUT_TEST_FAR : 4 * i);
		add_timer_on(&items->item[i].t, cpu);
	}
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	gone = jiffies;
	/* One timer is moved while the CPU is offline, and one is no longer pending. */
	KUNIT_EXPECT_EQ(test, mod_timer(&moved->t, jiffies + 2), 1);
	timer_item_await(test, moved, 1);
	for (i = 0; i < items->n / 2; i++)
		callout_test_wait_until(timer_item_runs(&items->item[i]));
	back = jiffies;
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	timer_items_await(test, items);
	timer_check_dead(test, items, cpu, gone, back);
	timer_delete_sync(&moved->t);
	moved->t.expires = jiffies + 1;
	add_timer_on(&moved->t, cpu);
	timer_item_await(test, moved, 2);
	KUNIT_EXPECT_EQ(test, moved->ran_on, cpu);
}
