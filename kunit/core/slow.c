// SPDX-License-Identifier: GPL-2.0
/*
 * slow.c - suite callout_slow: only handlers that take too long are counted
 */
#include <linux/wait.h>
#include "base/base.h"
#include "lib/virtual.h"

/* A handler during which jiffies change too often is counted as slow. */
static void slow_handler(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	a->then = callout_virtual_take_time;
	a->seen = CALLOUT_SLOW_EDGES - 1;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, v->base->stats.slow, 0);
	a->seen++;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, v->base->stats.slow, 1);
}

static void drained(void *arg)
{
}

static void then_take_time_and_drain(struct callout_item *item)
{
	callout_virtual_take_time(item);
	callout_async_drain(&item->c, drained);
}

/*
 * A handler's time is accounted neither to the next handler, nor to the drain
 * function of its own callout.
 */
static void slow_next(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 3);
	unsigned int i;

	a[0].then = then_take_time_and_drain;
	a[0].seen = CALLOUT_SLOW_EDGES;
	for (i = 1; i < 3; i++) {
		a[i].then = callout_virtual_take_time;
		a[i].seen = CALLOUT_SLOW_EDGES - 1;
	}
	for (i = 0; i < 3; i++)
		callout_virtual_set(&a[i], 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, v->ran, 3);
	KUNIT_EXPECT_EQ(test, v->base->stats.slow, 1);
}

#ifndef CONFIG_PREEMPT_RT
static struct callout_virtual *waking;

/* Waking this waiter takes time. */
static int waiter_takes_time(struct wait_queue_entry *wait, unsigned int mode, int flags,
			     void *key)
{
	waking->jiffies += CALLOUT_SLOW_EDGES;
	return 0;
}

/* Wait as a thread does that waits for the handler. */
static void then_has_waiter(struct callout_item *item)
{
	struct callout_base *base = item->v->base;

	co_base_lock_irq(base);
	base->waiters++;
	base->attention = true;
	co_base_unlock_irq(base);
}

/* The time for waking a handler's waiters does not count for the next handler. */
static void slow_waking(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);
	struct callout_base *base = v->base;
	struct wait_queue_entry wait;

	waking = v;
	init_waitqueue_func_entry(&wait, waiter_takes_time);
	add_wait_queue(&base->wait, &wait);
	a[0].then = then_has_waiter;
	a[1].then = callout_virtual_take_time;
	a[1].seen = CALLOUT_SLOW_EDGES - 1;
	callout_virtual_set(&a[0], 1);
	callout_virtual_set(&a[1], 1);
	callout_virtual_run_to(v, v->now + 1);
	co_base_lock_irq(base);
	base->waiters--;
	co_base_unlock_irq(base);
	remove_wait_queue(&base->wait, &wait);
	KUNIT_EXPECT_EQ(test, v->ran, 2);
	KUNIT_EXPECT_EQ(test, base->stats.slow, 0);
}
#else
/* On PREEMPT_RT nobody is woken: waiters take a lock of the base. */
static void slow_waking(struct kunit *test)
{
	kunit_skip(test, "on PREEMPT_RT nobody is woken");
}
#endif

static struct kunit_case slow_cases[] = {
	KUNIT_CASE(slow_handler),
	KUNIT_CASE(slow_next),
	KUNIT_CASE(slow_waking),
	{}
};

static struct kunit_suite slow_suite = {
	.name = "callout_slow",
	.init = callout_virtual_init,
	.test_cases = slow_cases,
};

kunit_test_suite(slow_suite);
