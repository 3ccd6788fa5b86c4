/* SPDX-License-Identifier: GPL-2.0 */
/*
 * api.h - shared by the cases about struct timer_list
 *
 * The cases are compiled twice: by linux.c for the kernel's own timers, and by
 * callout.c after linux/callout_timer.h. A case has the same expectations of both,
 * except where it asks TIMER_DIFFERS(): it then expects one behaviour of the
 * kernel's timers and another of callouts.
 */
#ifndef _CALLOUT_KUNIT_TIMER_API_H
#define _CALLOUT_KUNIT_TIMER_API_H

#include <linux/bottom_half.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/overflow.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include "kcompat.h"
#include "lib/common.h"

#if TIMER_IS_CALLOUT
#include "base/base.h"
/* Include this last: struct timer_list is a callout from here on. */
#include <linux/callout_timer.h>
#elif defined(__timer_init)
/* Linux 6.16 no longer has the former names; callout_timer.h has both. */
#define from_timer(var, timer, field)	timer_container_of(var, timer, field)
#define del_timer(timer)		timer_delete(timer)
#define del_timer_sync(timer)		timer_delete_sync(timer)
#define try_to_del_timer_sync(timer)	timer_delete_sync_try(timer)
#define destroy_timer_on_stack(timer)	timer_destroy_on_stack(timer)
#endif

/*
 * The differences. Each is a row, by this name, of the table in
 * Documentation/timers.rst, and at least one case asks for it. A static check
 * compares the three.
 */
enum timer_difference {
	TIMER_DIFFERENCE_begins_at_expires = 1,
	TIMER_DIFFERENCE_exact,
	TIMER_DIFFERENCE_order,
	TIMER_DIFFERENCE_flags,
	TIMER_DIFFERENCE_add_timer_on,
};

#define TIMER_DIFFERS(name) \
	(TIMER_IS_CALLOUT ? TIMER_DIFFERENCE_##name : 0)

/*
 * Do timers leave idle CPUs asleep? Callouts cannot if a high resolution timer
 * provides their ticks: all are then like pinned timers.
 */
static bool timer_lets_cpus_sleep(void)
{
#if TIMER_IS_CALLOUT
	return co_base_of(CALLOUT_CLASS_GLOBAL, 0) !=
	       co_base_of(CALLOUT_CLASS_KERNEL, 0);
#else
	return true;
#endif
}

/*
 * Do the timers' ticks count jiffies? Callouts with other ticks run at any moment
 * of their jiffy, and callouts of one jiffy run in any order.
 */
static bool timer_ticks_are_jiffies(void)
{
#if TIMER_IS_CALLOUT
	return co_base_of(CALLOUT_CLASS_KERNEL, 0)->tick ==
	       &callout_tick_jiffies;
#else
	return true;
#endif
}

#define TIMER_EXPECT_SOON(test, cond) \
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(cond))

/**
 * struct timer_item - a timer and how it ran
 * @t: the timer
 * @runs: how often it has run
 * @ran: the jiffy at which it last ran
 * @ran_on: the CPU on which it last ran
 * @turn: place of its last run in the order of all runs
 * @then: called by the handler
 * @inside: the handler has begun
 * @go: a handler that waits may return
 * @returns: the handler is about to return
 * @left: how often the handler still re-arms its timer
 * @step: by how many jiffies the handler re-arms it
 * @ret: what a call in the handler returned
 * @wrong: number of violations that the handler has seen
 */
struct timer_item {
	struct timer_list t;
	atomic_t runs;
	unsigned long ran;
	unsigned int ran_on;
	int turn;
	void (*then)(struct timer_item *item);
	bool inside;
	bool go;
	bool returns;
	unsigned int left;
	long step;
	int ret;
	unsigned int wrong;
};

struct timer_items {
	unsigned int n;
	struct timer_item item[];
};

static atomic_t timer_turns;

static void timer_item_handler(struct timer_list *t)
{
	struct timer_item *item = from_timer(item, t, t);

	item->ran = jiffies;
	item->ran_on = smp_processor_id();
	item->turn = atomic_inc_return(&timer_turns);
	atomic_inc(&item->runs);
	if (item->then)
		item->then(item);
	callout_test_tell(&item->returns);
}

/* Wait in the handler until the case lets it return. */
static void timer_then_hold(struct timer_item *item)
{
	callout_test_tell(&item->inside);
	callout_test_spin_until(callout_test_told(&item->go));
}

static void timer_items_end(void *data)
{
	struct timer_items *items = data;
	unsigned int i;

	for (i = 0; i < items->n; i++) {
		callout_test_tell(&items->item[i].go);
		timer_shutdown_sync(&items->item[i].t);
	}
}

/* Create idle timers. The end of the case shuts them down. */
static struct timer_items *timer_items_create(struct kunit *test,
					      unsigned int n, u32 flags)
{
	struct timer_items *items;
	unsigned int i;

	items = callout_test_vcalloc(test, 1, struct_size(items, item, n));
	items->n = n;
	/* Each line is a lockdep class: interrupts wait for some timers of the first class. */
	for (i = 0; i < n; i++) {
		if (flags & TIMER_IRQSAFE)
			timer_setup(&items->item[i].t, timer_item_handler,
				    flags);
		else
			timer_setup(&items->item[i].t, timer_item_handler,
				    flags);
	}
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, timer_items_end,
							   items));
	return items;
}

static struct timer_item *timer_item_create(struct kunit *test, u32 flags)
{
	return &timer_items_create(test, 1, flags)->item[0];
}

static int timer_item_runs(struct timer_item *item)
{
	return atomic_read(&item->runs);
}

/* Wait until @item has run @n times. */
static void timer_item_await(struct kunit *test, struct timer_item *item, int n)
{
	TIMER_EXPECT_SOON(test, timer_item_runs(item) >= n);
	KUNIT_EXPECT_EQ(test, timer_item_runs(item), n);
}

static bool timer_items_have_run(struct timer_items *items)
{
	unsigned int i;

	for (i = 0; i < items->n; i++)
		if (!timer_item_runs(&items->item[i]))
			return false;
	return true;
}

/* Wait until all timers have run. Check that each ran once. */
static void timer_items_await(struct kunit *test, struct timer_items *items)
{
	unsigned int i, wrong = 0;

	TIMER_EXPECT_SOON(test, timer_items_have_run(items));
	for (i = 0; i < items->n; i++)
		wrong += timer_item_runs(&items->item[i]) != 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Start the timer on @cpu, and wait until its handler is inside. */
static void timer_item_run_on(struct kunit *test, struct timer_item *item,
			      unsigned int cpu)
{
	item->inside = false;
	item->go = false;
	item->returns = false;
	item->t.expires = jiffies + 1;
	add_timer_on(&item->t, cpu);
	callout_test_spin_until(callout_test_told(&item->inside));
	KUNIT_ASSERT_TRUE(test, callout_test_told(&item->inside));
}

/* Let the handler return, and wait until it has. */
static void timer_item_let_go(struct kunit *test, struct timer_item *item)
{
	callout_test_tell(&item->go);
	callout_test_spin_until(callout_test_told(&item->returns));
	KUNIT_EXPECT_TRUE(test, callout_test_told(&item->returns));
}

/* Let some ticks pass: a timer that is wrongly pending and due would run. */
static void timer_ticks_pass(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, TIMER_PINNED);

	mod_timer(&item->t, jiffies + 4);
	timer_item_await(test, item, 1);
}

#endif /* _CALLOUT_KUNIT_TIMER_API_H */
