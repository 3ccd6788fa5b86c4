// SPDX-License-Identifier: GPL-2.0
/*
 * runs.c - handlers: what they may do, and callers that wait for a handler
 */
#include "timers/api.h"

/* Re-arm the handler's timer, which is not pending while its handler runs. */
static void timer_then_rearm(struct timer_item *item)
{
	item->wrong += timer_pending(&item->t) || !in_serving_softirq() ||
		       in_hardirq() || irqs_disabled();
	if (time_before(item->ran, item->t.expires))
		item->wrong++;
	if (!item->left)
		return;
	item->left--;
	item->wrong += mod_timer(&item->t, jiffies + item->step) != 0;
	item->wrong += timer_pending(&item->t) != 1;
}

static void timer_rearms_itself(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);
	long step;

	item->then = timer_then_rearm;
	for (step = 1; step <= 4; step++) {
		atomic_set(&item->runs, 0);
		item->left = 10;
		item->step = step;
		mod_timer(&item->t, jiffies + 1);
		timer_item_await(test, item, 11);
		KUNIT_EXPECT_EQ(test, timer_delete_sync(&item->t), 0);
		KUNIT_EXPECT_EQ(test, timer_item_runs(item), 11);
	}
	KUNIT_EXPECT_EQ(test, item->wrong, 0);
}

/* add_timer() re-arms a timer as mod_timer() does. */
static void timer_then_add(struct timer_item *item)
{
	if (!item->left)
		return;
	item->left--;
	item->t.expires = jiffies + 1;
	add_timer(&item->t);
}

static void timer_adds_itself(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);

	item->then = timer_then_add;
	item->left = 10;
	mod_timer(&item->t, jiffies);
	timer_item_await(test, item, 11);
}

/* A timer that its handler re-arms for now runs at the next tick, not at once. */
static void timer_then_rearm_now(struct timer_item *item)
{
	static unsigned long last;

	if (timer_item_runs(item) > 1)
		item->wrong += item->ran == last;
	last = item->ran;
	if (item->left-- > 1)
		mod_timer(&item->t, jiffies + item->step);
}

static void timer_rearms_itself_for_now(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, TIMER_PINNED);

	callout_test_pin(test, raw_smp_processor_id());
	item->then = timer_then_rearm_now;
	item->left = 20;
	mod_timer(&item->t, jiffies);
	timer_item_await(test, item, 20);
	KUNIT_EXPECT_EQ(test, item->wrong, 0);
	/* Re-armed for the past: the softirq ends nevertheless. */
	atomic_set(&item->runs, 0);
	item->left = 20;
	item->step = -100;
	mod_timer(&item->t, jiffies);
	timer_item_await(test, item, 20);
}

/* Check the return values of a handler's calls on its own timer. */
static void timer_then_cancel(struct timer_item *item)
{
	struct timer_list *t = &item->t;

	item->wrong += timer_delete(t) != 0;
	item->wrong += try_to_del_timer_sync(t) != -1;
	item->wrong += mod_timer_pending(t, jiffies + 1) != 0;
	item->wrong += mod_timer(t, jiffies + 1) != 0;
	item->wrong += mod_timer(t, jiffies + 2) != 1;
	item->wrong += mod_timer_pending(t, jiffies + 3) != 1;
	item->wrong += timer_reduce(t, jiffies + 1) != 1;
	item->wrong += try_to_del_timer_sync(t) != -1;
	item->wrong += timer_pending(t) != 1;
	item->wrong += timer_delete(t) != 1;
	item->wrong += timer_pending(t) != 0;
}

static void timer_cancels_itself(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);

	item->then = timer_then_cancel;
	mod_timer(&item->t, jiffies + 1);
	timer_item_await(test, item, 1);
	timer_ticks_pass(test);
	KUNIT_EXPECT_EQ(test, timer_item_runs(item), 1);
	KUNIT_EXPECT_EQ(test, item->wrong, 0);
}

static void timer_then_shutdown(struct timer_item *item)
{
	item->wrong += timer_shutdown(&item->t) != 0;
	item->wrong += mod_timer(&item->t, jiffies + 1) != 0;
	item->wrong += timer_pending(&item->t) != 0;
}

static void timer_shuts_itself_down(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);

	item->then = timer_then_shutdown;
	mod_timer(&item->t, jiffies + 1);
	timer_item_await(test, item, 1);
	timer_ticks_pass(test);
	KUNIT_EXPECT_EQ(test, timer_item_runs(item), 1);
	KUNIT_EXPECT_EQ(test, item->wrong, 0);
}

/* Interrupts are off in a handler if TIMER_IRQSAFE requests that. */
static void timer_then_look(struct timer_item *item)
{
	item->ret = irqs_disabled();
	item->wrong += !in_serving_softirq();
}

static void timer_irqsafe_has_interrupts_off(struct kunit *test)
{
	static const u32 flags[] = { 0, TIMER_PINNED, TIMER_DEFERRABLE };
	struct timer_item *item;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(flags); i++) {
		item = timer_item_create(test, flags[i / 2] |
					 (i % 2 ? TIMER_IRQSAFE : 0));
		item->then = timer_then_look;
		mod_timer(&item->t, jiffies + 1);
		timer_item_await(test, item, 1);
		KUNIT_EXPECT_EQ(test, timer_delete_sync(&item->t), 0);
		KUNIT_EXPECT_EQ(test, item->ret, i % 2);
		KUNIT_EXPECT_EQ(test, item->wrong, 0);
	}
}

/* Time for a caller that wrongly does not wait to be noticed. */
#define TIMER_LINGER_NS	(2 * NSEC_PER_MSEC)

/**
 * struct timer_waiter - a call on one CPU while the handler runs on another
 * @item: the timer; its handler lingers once @item->go is set
 * @call: the call, which waits
 * @context: makes the call, in some context, on the case's CPU
 * @ret: the return value of the call
 * @too_soon: the call returned before the handler did
 * @t: a timer whose handler makes the call
 * @work: an interrupt that makes the call
 * @done: the call has returned
 */
struct timer_waiter {
	struct timer_item *item;
	int (*call)(struct timer_list *t);
	void (*context)(struct timer_waiter *w);
	int ret;
	bool too_soon;
	struct timer_list t;
	struct irq_work work;
	bool done;
};

static void timer_linger(struct timer_item *item)
{
	u64 end;

	callout_test_tell(&item->inside);
	/* Wait by the clock: interrupts may be off. */
	callout_test_clock_until(callout_test_told(&item->go));
	end = ktime_get_ns() + TIMER_LINGER_NS;
	while (ktime_get_ns() < end)
		cpu_relax();
}

static void timer_then_linger(struct timer_item *item)
{
	timer_linger(item);
}

static void timer_then_linger_and_rearm(struct timer_item *item)
{
	timer_linger(item);
	item->ret = mod_timer(&item->t, jiffies + 1);
}

static void timer_waits(struct timer_waiter *w)
{
	callout_test_tell(&w->item->go);
	w->ret = w->call(&w->item->t);
	w->too_soon = !callout_test_told(&w->item->returns);
	callout_test_tell(&w->done);
}

static void timer_waits_with_bh_off(struct timer_waiter *w)
{
	local_bh_disable();
	timer_waits(w);
	local_bh_enable();
}

static void timer_waits_with_preemption_off(struct timer_waiter *w)
{
	preempt_disable();
	timer_waits(w);
	preempt_enable();
}

static void timer_waits_with_irqs_off(struct timer_waiter *w)
{
	unsigned long flags;

	local_irq_save(flags);
	timer_waits(w);
	local_irq_restore(flags);
}

static void timer_waiter_handler(struct timer_list *t)
{
	struct timer_waiter *w = from_timer(w, t, t);

	timer_waits(w);
}

static void timer_waits_in_a_handler(struct timer_waiter *w)
{
	timer_setup(&w->t, timer_waiter_handler, TIMER_PINNED);
	mod_timer(&w->t, jiffies);
	callout_test_wait_until(callout_test_told(&w->done));
	timer_delete_sync(&w->t);
}

static void timer_waiter_interrupt(struct irq_work *work)
{
	timer_waits(container_of(work, struct timer_waiter, work));
}

/* Allowed only if the timer is TIMER_IRQSAFE. */
static void timer_waits_in_hardirq(struct timer_waiter *w)
{
	w->work = IRQ_WORK_INIT_HARD(timer_waiter_interrupt);
	irq_work_queue(&w->work);
	irq_work_sync(&w->work);
}

static void timer_check_waits(struct kunit *test, struct timer_waiter *w,
			      u32 flags, bool rearms)
{
	unsigned int other = callout_test_pin_one(test);
	struct timer_item *item = timer_item_create(test, flags);
	struct timer_item *waker = timer_item_create(test, TIMER_PINNED);
	int runs;

	/* A sleeping CPU runs no deferrable timer. */
	if (flags & TIMER_DEFERRABLE) {
		waker->then = timer_then_rearm;
		waker->left = UINT_MAX;
		waker->step = 1;
		waker->t.expires = jiffies + 1;
		add_timer_on(&waker->t, other);
	}
	item->then = rearms ? timer_then_linger_and_rearm : timer_then_linger;
	item->ret = -2;
	w->item = item;
	w->done = false;
	timer_item_run_on(test, item, other);
	w->context(w);
	KUNIT_ASSERT_TRUE(test, callout_test_told(&w->done));
	KUNIT_EXPECT_FALSE(test, w->too_soon);
	KUNIT_EXPECT_FALSE(test, timer_pending(&item->t));
	/* The restart by the handler was cancelled. */
	KUNIT_EXPECT_EQ(test, w->ret, rearms);
	if (rearms)
		KUNIT_EXPECT_EQ(test, item->ret, 0);
	runs = timer_item_runs(item);
	timer_ticks_pass(test);
	KUNIT_EXPECT_EQ(test, timer_item_runs(item), runs);
}

static int timer_try_until_it_ends(struct timer_list *t)
{
	int ret;

	while ((ret = try_to_del_timer_sync(t)) < 0)
		cpu_relax();
	return ret;
}

static int timer_wait_delete(struct timer_list *t)
{
	return timer_delete_sync(t);
}

static int timer_wait_shutdown(struct timer_list *t)
{
	return timer_shutdown_sync(t);
}

/* Try each call that waits, for a handler that re-arms and a handler that does not. */
static void timer_check_context(struct kunit *test, u32 flags,
				void (*context)(struct timer_waiter *w))
{
	static int (*const call[])(struct timer_list *t) = {
		timer_wait_delete, timer_wait_shutdown, timer_try_until_it_ends,
	};
	struct timer_waiter *w;
	unsigned int i;

	w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w);
	w->context = context;
	for (i = 0; i < 2 * ARRAY_SIZE(call); i++) {
		w->call = call[i / 2];
		timer_check_waits(test, w, flags, i % 2);
		/* Set it up again if it was used. */
		memset(&w->t, 0, sizeof(w->t));
	}
}

static void timer_sync_waits(struct kunit *test)
{
	timer_check_context(test, 0, timer_waits);
	timer_check_context(test, TIMER_IRQSAFE, timer_waits);
	timer_check_context(test, TIMER_DEFERRABLE, timer_waits);
}

static void timer_sync_waits_if_atomic(struct kunit *test)
{
	timer_check_context(test, 0, timer_waits_with_bh_off);
	/* On PREEMPT_RT the caller must be able to sleep. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	timer_check_context(test, 0, timer_waits_with_preemption_off);
	timer_check_context(test, 0, timer_waits_with_irqs_off);
}

static void timer_sync_waits_in_a_handler(struct kunit *test)
{
	timer_check_context(test, 0, timer_waits_in_a_handler);
}

static void timer_sync_waits_in_hardirq(struct kunit *test)
{
	timer_check_context(test, TIMER_IRQSAFE, timer_waits_in_hardirq);
}

/**
 * struct timer_crowd - a thread that waits in addition to the case's thread
 * @item: the timer
 * @ret: the return value of its call
 * @too_soon: the call returned before the handler did
 */
struct timer_crowd {
	struct timer_item *item;
	int ret;
	bool too_soon;
};

static void timer_crowd_thread(void *arg)
{
	struct timer_crowd *c = arg;

	c->ret = timer_delete_sync(&c->item->t);
	c->too_soon = !callout_test_told(&c->item->returns);
}

/* Wait by the clock: the duration depends on what debugging adds. */
#define TIMER_SETUP_NS	(20 * NSEC_PER_MSEC)

static void timer_then_setup(struct timer_item *item)
{
	u64 end = ktime_get_ns() + TIMER_SETUP_NS;
	unsigned int i;

	callout_test_tell(&item->inside);
	while (ktime_get_ns() < end)
		for (i = 0; i < 100; i++)
			timer_setup(&item->t, timer_item_handler, TIMER_PINNED);
}

/*
 * A timer that its function initialises again, with the same flags, is running
 * throughout: a caller that waits for it does not free it too soon.
 */
static void timer_runs_while_set_up_again(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, TIMER_PINNED);
	unsigned int cpu = cpumask_last(cpu_online_mask), wrong = 0, n;
	int ret;

	if (!cpu)
		kunit_skip(test, "needs two CPUs");
	callout_test_pin(test, 0);
	item->then = timer_then_setup;
	timer_item_run_on(test, item, cpu);
	for (n = 0;; n++) {
		ret = try_to_del_timer_sync(&item->t);
		if (callout_test_told(&item->returns))
			break;
		wrong += ret != -1;
	}
	kunit_info(test, "%u calls\n", n);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, timer_item_runs(item), 1);
}

/* Two callers wait for one handler, and one of them cancels the timer that it re-armed. */
static void timer_sync_of_two(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);
	struct callout_test_thread *t;
	struct timer_crowd *c;
	unsigned int other[2];
	int ret;

	callout_test_pin_two(test, other);
	c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c);
	c->item = item;
	item->then = timer_then_linger_and_rearm;
	timer_item_run_on(test, item, other[0]);
	t = callout_test_thread(test, other[1], timer_crowd_thread, c);
	callout_test_tell(&item->go);
	ret = timer_delete_sync(&item->t);
	KUNIT_EXPECT_TRUE(test, callout_test_told(&item->returns));
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_FALSE(test, c->too_soon);
	KUNIT_EXPECT_EQ(test, ret + c->ret, 1);
	KUNIT_EXPECT_FALSE(test, timer_pending(&item->t));
}

/* A hard interrupt may start, move and delete any timer. */
static void timer_in_interrupt(void *arg)
{
	struct timer_item *item = arg;
	unsigned long far = jiffies + CALLOUT_TEST_FAR;

	item->wrong += mod_timer(&item->t, far) != 0;
	item->wrong += mod_timer(&item->t, far + 1) != 1;
	item->wrong += timer_reduce(&item->t, far - 1) != 1;
	item->wrong += timer_delete(&item->t) != 1;
	item->wrong += mod_timer(&item->t, jiffies + 1) != 0;
}

static void timer_started_in_an_interrupt(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct timer_item *item = timer_item_create(test, 0);

	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(other,
							  timer_in_interrupt,
							  item, true));
	timer_item_await(test, item, 1);
	KUNIT_EXPECT_EQ(test, item->wrong, 0);
}
