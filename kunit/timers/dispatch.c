// SPDX-License-Identifier: GPL-2.0
/*
 * dispatch.c - suite callout_timer_dispatch: each call is dispatched by type
 *
 * Here, as in a module that includes linux/callout_timer.h, the module's own struct
 * timer_list is a callout, while the structures of the kernel's headers have the
 * kernel's timers. The number of callouts pending in this CPU's base shows which of
 * the two a call has reached.
 */
#include <linux/build_bug.h>
#include <linux/kthread.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "base/base.h"
#include "lib/common.h"

/* Include this last: struct timer_list is a callout from here on. */
#include <linux/callout_timer.h>

/**
 * struct own - a structure as a module defines it
 * @timer: the module's own timer: a callout
 * @work: a structure of the kernel, which embeds one of the kernel's timers
 * @dev: another structure of the kernel, whose watchdog is one of the kernel's
 *	timers
 * @runs: number of runs of the module's timer
 * @linux_runs: number of runs of the kernel's timer
 */
struct own {
	struct timer_list timer;
	struct delayed_work work;
	struct net_device *dev;
	atomic_t runs;
	atomic_t linux_runs;
};

static_assert(__same_type(struct timer_list, struct callout_timer));
static_assert(__same_type(((struct own *)0)->timer, struct callout_timer));
static_assert(__same_type(((struct own *)0)->work.timer, callout_linux_timer_t));
static_assert(__same_type(((struct kthread_delayed_work *)0)->timer,
			  callout_linux_timer_t));
static_assert(!__same_type(callout_linux_timer_t, struct callout_timer));

static void own_handler(struct timer_list *t)
{
	struct own *own = timer_container_of(own, t, timer);

	atomic_inc(&own->runs);
}

static struct own *watchdog_of;

static void linux_handler(callout_linux_timer_t *t)
{
	if (t == &watchdog_of->dev->watchdog_timer)
		atomic_inc(&watchdog_of->linux_runs);
}

static void work_handler(struct work_struct *work)
{
	struct own *own = container_of(to_delayed_work(work), struct own, work);

	atomic_inc(&own->linux_runs);
}

static void own_end(void *data)
{
	struct own *own = data;

	timer_shutdown_sync(&own->timer);
	timer_shutdown_sync(&own->dev->watchdog_timer);
	cancel_delayed_work_sync(&own->work);
}

static struct own *own_create(struct kunit *test)
{
	struct own *own = kunit_kzalloc(test, sizeof(*own), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, own);
	own->dev = callout_test_vcalloc(test, 1, sizeof(*own->dev));
	timer_setup(&own->timer, own_handler, TIMER_PINNED);
	timer_setup(&own->dev->watchdog_timer, linux_handler, TIMER_PINNED);
	INIT_DELAYED_WORK(&own->work, work_handler);
	watchdog_of = own;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, own_end, own));
	callout_test_pin(test, raw_smp_processor_id());
	return own;
}

/* How many more callouts this CPU's base has pending than @before. */
static int callouts_since(unsigned int before)
{
	return co_base_pending(co_base(raw_smp_processor_id())) -
	       before;
}

#define TIMER_TYPE	struct timer_list
#define TIMER_CALLS	call_callouts
#define TIMER_SOCK_CALLS	call_sock_callouts
#define TIMER_CALLOUTS	1
#include "dispatch_calls.h"

#define TIMER_TYPE	callout_linux_timer_t
#define TIMER_CALLS	call_linuxs
#define TIMER_SOCK_CALLS	call_sock_linuxs
#define TIMER_CALLOUTS	0
#include "dispatch_calls.h"

static bool has_run(atomic_t *runs)
{
	return atomic_read(runs);
}

/* Each call, in each spelling, reaches a module's own timer. */
static void dispatch_to_callouts(struct kunit *test)
{
	struct own *own = own_create(test);

	KUNIT_EXPECT_EQ(test, call_callouts(&own->timer), 0);
	timer_setup(&own->timer, own_handler, 0);
	mod_timer(&own->timer, jiffies + 1);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(has_run(&own->runs)));
	KUNIT_EXPECT_EQ(test, atomic_read(&own->runs), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&own->linux_runs), 0);
}

/* Each call reaches the kernel's timer in a structure of the kernel. */
static void dispatch_to_linux(struct kunit *test)
{
	struct own *own = own_create(test);

	KUNIT_EXPECT_EQ(test, call_linuxs(&own->dev->watchdog_timer), 0);
	timer_setup(&own->dev->watchdog_timer, linux_handler, 0);
	mod_timer(&own->dev->watchdog_timer, jiffies + 1);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(has_run(&own->linux_runs)));
	KUNIT_EXPECT_EQ(test, atomic_read(&own->linux_runs), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&own->runs), 0);
}

/* A module's calls reach the timer of delayed work, which the kernel arms. */
static void dispatch_to_delayed_work(struct kunit *test)
{
	struct own *own = own_create(test);
	unsigned int before = callouts_since(0);

	KUNIT_EXPECT_FALSE(test, timer_pending(&own->work.timer));
	KUNIT_EXPECT_TRUE(test, queue_delayed_work(system_percpu_wq, &own->work,
						   CALLOUT_TEST_FAR));
	KUNIT_EXPECT_TRUE(test, timer_pending(&own->work.timer));
	KUNIT_EXPECT_EQ(test, callouts_since(before), 0);
	KUNIT_EXPECT_EQ(test, mod_timer_pending(&own->work.timer, jiffies + 1),
			1);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(has_run(&own->linux_runs)));
	KUNIT_EXPECT_EQ(test, callouts_since(before), 0);
}

/* The calls for a socket's timer count references to the socket. */
static void dispatch_of_a_socket(struct kunit *test)
{
#ifdef CONFIG_NET
	struct own *own = own_create(test);
	struct sock *sk = kunit_kzalloc(test, sizeof(*sk), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sk);
	refcount_set(&sk->sk_refcnt, 1);
	KUNIT_EXPECT_EQ(test, call_sock_callouts(&own->timer, sk), 0);
	KUNIT_EXPECT_EQ(test, call_sock_linuxs(&own->dev->watchdog_timer, sk), 0);
#else
	kunit_skip(test, "no CONFIG_NET");
#endif
}

/* Each call reaches the right one of two timers on the stack. */
static void dispatch_on_the_stack(struct kunit *test)
{
	struct {
		callout_linux_timer_t linux_timer;
		struct timer_list timer;
	} on_stack;
	unsigned int before;

	callout_test_pin(test, raw_smp_processor_id());
	before = callouts_since(0);
	timer_setup_on_stack(&on_stack.timer, own_handler, TIMER_PINNED);
	timer_setup_on_stack(&on_stack.linux_timer, linux_handler, 0);
	mod_timer(&on_stack.linux_timer, jiffies + CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, callouts_since(before), 0);
	mod_timer(&on_stack.timer, jiffies + CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, callouts_since(before), 1);
	KUNIT_EXPECT_EQ(test, timer_delete_sync(&on_stack.timer), 1);
	KUNIT_EXPECT_EQ(test, timer_delete_sync(&on_stack.linux_timer), 1);
	timer_destroy_on_stack(&on_stack.timer);
	destroy_timer_on_stack(&on_stack.linux_timer);
}

static struct kunit_case dispatch_cases[] = {
	KUNIT_CASE(dispatch_to_callouts),
	KUNIT_CASE(dispatch_to_linux),
	KUNIT_CASE(dispatch_to_delayed_work),
	KUNIT_CASE(dispatch_of_a_socket),
	KUNIT_CASE(dispatch_on_the_stack),
	{}
};

static struct kunit_suite dispatch_suite = {
	.name = "callout_timer_dispatch",
	.test_cases = dispatch_cases,
};

kunit_test_suite(dispatch_suite);
