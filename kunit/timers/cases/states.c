// SPDX-License-Identifier: GPL-2.0
/*
 * states.c - the effect of each call on a timer in each state
 */
#include "timers/api.h"

enum timer_state {
	TIMER_IDLE,
	TIMER_PENDING,
	TIMER_RUNNING,		/* running on another CPU */
	TIMER_RUNNING_AGAIN,	/* running, and pending again */
	TIMER_RUNNING_SHUT,	/* running, and shut down */
	TIMER_SHUT,
	TIMER_STATES
};

/**
 * struct timer_result - the effect of a call
 * @ret: the return value; 0 if the call returns nothing
 * @pending: the timer is pending afterwards
 * @takes: the timer has the new expires
 * @never: the call is not allowed: it warns, or waits for ever
 */
struct timer_result {
	s8 ret;
	bool pending;
	bool takes;
	bool never;
};

static int timer_call_mod(struct timer_list *t, unsigned long later)
{
	return mod_timer(t, later);
}

static int timer_call_same(struct timer_list *t, unsigned long later)
{
	return mod_timer(t, t->expires);
}

static int timer_call_mod_pending(struct timer_list *t, unsigned long later)
{
	return mod_timer_pending(t, later);
}

static int timer_call_reduce_later(struct timer_list *t, unsigned long later)
{
	return timer_reduce(t, later);
}

static int timer_call_reduce(struct timer_list *t, unsigned long later)
{
	return timer_reduce(t, later - 2 * HZ);
}

static int timer_call_add(struct timer_list *t, unsigned long later)
{
	add_timer(t);
	return 0;
}

static int timer_call_add_on(struct timer_list *t, unsigned long later)
{
	add_timer_on(t, raw_smp_processor_id());
	return 0;
}

static int timer_call_add_local(struct timer_list *t, unsigned long later)
{
	add_timer_local(t);
	return 0;
}

static int timer_call_add_global(struct timer_list *t, unsigned long later)
{
	add_timer_global(t);
	return 0;
}

static int timer_call_delete(struct timer_list *t, unsigned long later)
{
	return timer_delete(t);
}

static int timer_call_del(struct timer_list *t, unsigned long later)
{
	return del_timer(t);
}

static int timer_call_delete_sync(struct timer_list *t, unsigned long later)
{
	return timer_delete_sync(t);
}

static int timer_call_del_sync(struct timer_list *t, unsigned long later)
{
	return del_timer_sync(t);
}

static int timer_call_try(struct timer_list *t, unsigned long later)
{
	return try_to_del_timer_sync(t);
}

static int timer_call_shutdown(struct timer_list *t, unsigned long later)
{
	return timer_shutdown(t);
}

static int timer_call_shutdown_sync(struct timer_list *t, unsigned long later)
{
	return timer_shutdown_sync(t);
}

static int timer_call_pending(struct timer_list *t, unsigned long later)
{
	return timer_pending(t);
}

/* ARMS: pending, with the new expires. STAYS: pending, with the old expires. */
#define ARMS(n)		{ .ret = n, .pending = true, .takes = true }
#define STAYS(n)	{ .ret = n, .pending = true }
#define OFF(n)		{ .ret = n }
#define NEVER		{ .never = true }

static const struct {
	const char *name;
	int (*call)(struct timer_list *t, unsigned long later);
	struct timer_result in[TIMER_STATES];
} timer_calls[] = {
	/* idle, pending, running, running again, running but shut down, shut down */
	{ "mod_timer", timer_call_mod,
	  { ARMS(0), ARMS(1), ARMS(0), ARMS(1), OFF(0), OFF(0) } },
	{ "mod_timer, same expires", timer_call_same,
	  { STAYS(0), STAYS(1), STAYS(0), STAYS(1), OFF(0), OFF(0) } },
	{ "mod_timer_pending", timer_call_mod_pending,
	  { OFF(0), ARMS(1), OFF(0), ARMS(1), OFF(0), OFF(0) } },
	{ "timer_reduce, later", timer_call_reduce_later,
	  { ARMS(0), STAYS(1), ARMS(0), STAYS(1), OFF(0), OFF(0) } },
	{ "timer_reduce, earlier", timer_call_reduce,
	  { ARMS(0), ARMS(1), ARMS(0), ARMS(1), OFF(0), OFF(0) } },
	{ "add_timer", timer_call_add,
	  { STAYS(0), NEVER, STAYS(0), NEVER, OFF(0), OFF(0) } },
	{ "add_timer_on", timer_call_add_on,
	  { STAYS(0), NEVER, NEVER, NEVER, NEVER, OFF(0) } },
	{ "add_timer_local", timer_call_add_local,
	  { STAYS(0), NEVER, STAYS(0), NEVER, OFF(0), OFF(0) } },
	{ "add_timer_global", timer_call_add_global,
	  { STAYS(0), NEVER, NEVER, NEVER, NEVER, OFF(0) } },
	{ "timer_delete", timer_call_delete,
	  { OFF(0), OFF(1), OFF(0), OFF(1), OFF(0), OFF(0) } },
	{ "del_timer", timer_call_del,
	  { OFF(0), OFF(1), OFF(0), OFF(1), OFF(0), OFF(0) } },
	{ "timer_delete_sync", timer_call_delete_sync,
	  { OFF(0), OFF(1), NEVER, NEVER, NEVER, OFF(0) } },
	{ "del_timer_sync", timer_call_del_sync,
	  { OFF(0), OFF(1), NEVER, NEVER, NEVER, OFF(0) } },
	{ "try_to_del_timer_sync", timer_call_try,
	  { OFF(0), OFF(1), OFF(-1), STAYS(-1), OFF(-1), OFF(0) } },
	{ "timer_shutdown", timer_call_shutdown,
	  { OFF(0), OFF(1), OFF(0), OFF(1), OFF(0), OFF(0) } },
	{ "timer_shutdown_sync", timer_call_shutdown_sync,
	  { OFF(0), OFF(1), NEVER, NEVER, NEVER, OFF(0) } },
	{ "timer_pending", timer_call_pending,
	  { OFF(0), STAYS(1), OFF(0), STAYS(1), OFF(0), OFF(0) } },
};

#undef ARMS
#undef STAYS
#undef OFF
#undef NEVER

/* Bring an idle timer into a state, with @expires far away. */
static void timer_enter(struct kunit *test, struct timer_item *item,
			enum timer_state state, unsigned int other,
			unsigned long expires)
{
	switch (state) {
	case TIMER_PENDING:
		KUNIT_ASSERT_EQ(test, mod_timer(&item->t, expires), 0);
		break;
	case TIMER_SHUT:
		timer_shutdown(&item->t);
		break;
	case TIMER_RUNNING:
	case TIMER_RUNNING_AGAIN:
	case TIMER_RUNNING_SHUT:
		item->then = timer_then_hold;
		timer_item_run_on(test, item, other);
		if (state == TIMER_RUNNING_AGAIN)
			KUNIT_ASSERT_EQ(test, mod_timer(&item->t, expires), 0);
		if (state == TIMER_RUNNING_SHUT)
			KUNIT_ASSERT_EQ(test, timer_shutdown(&item->t), 0);
		break;
	default:
		break;
	}
	item->t.expires = expires;
}

static void timer_check_state(struct kunit *test, enum timer_state state)
{
	unsigned int other = callout_test_pin_one(test), i;
	unsigned long expires = jiffies + CALLOUT_TEST_FAR, later, now;
	bool running = state == TIMER_RUNNING ||
		       state == TIMER_RUNNING_AGAIN ||
		       state == TIMER_RUNNING_SHUT;
	struct timer_item *item;
	const struct timer_result *want;
	int ret;

	for (i = 0; i < ARRAY_SIZE(timer_calls); i++) {
		want = &timer_calls[i].in[state];
		if (want->never)
			continue;
		item = timer_item_create(test, TIMER_PINNED);
		timer_enter(test, item, state, other, expires);
		later = expires + HZ;
		ret = timer_calls[i].call(&item->t, later);
		now = item->t.expires;
		KUNIT_EXPECT_EQ_MSG(test, ret, want->ret, "%s",
				    timer_calls[i].name);
		KUNIT_EXPECT_EQ_MSG(test, timer_pending(&item->t),
				    want->pending, "%s", timer_calls[i].name);
		KUNIT_EXPECT_EQ_MSG(test, now != expires, want->takes,
				    "%s: %ld later", timer_calls[i].name,
				    now - expires);
		if (running)
			timer_item_let_go(test, item);
		KUNIT_EXPECT_EQ_MSG(test, timer_delete_sync(&item->t),
				    want->pending, "%s", timer_calls[i].name);
		KUNIT_EXPECT_EQ(test, timer_item_runs(item), running);
	}
}

static void timer_calls_if_idle(struct kunit *test)
{
	timer_check_state(test, TIMER_IDLE);
}

static void timer_calls_if_pending(struct kunit *test)
{
	timer_check_state(test, TIMER_PENDING);
}

static void timer_calls_if_running(struct kunit *test)
{
	timer_check_state(test, TIMER_RUNNING);
}

static void timer_calls_if_running_again(struct kunit *test)
{
	timer_check_state(test, TIMER_RUNNING_AGAIN);
}

static void timer_calls_if_running_but_shut(struct kunit *test)
{
	timer_check_state(test, TIMER_RUNNING_SHUT);
}

static void timer_calls_if_shut(struct kunit *test)
{
	timer_check_state(test, TIMER_SHUT);
}

/* A timer that is shut down cannot be started until it is set up again. */
static void timer_setup_ends_shutdown(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);
	unsigned int i;

	for (i = 1; i <= 3; i++) {
		mod_timer(&item->t, jiffies + CALLOUT_TEST_FAR);
		KUNIT_EXPECT_EQ(test, timer_shutdown_sync(&item->t), 1);
		KUNIT_EXPECT_EQ(test, mod_timer(&item->t, jiffies), 0);
		item->t.expires = jiffies;
		add_timer(&item->t);
		timer_ticks_pass(test);
		KUNIT_EXPECT_EQ(test, timer_item_runs(item), i - 1);
		timer_setup(&item->t, timer_item_handler, 0);
		KUNIT_EXPECT_FALSE(test, timer_pending(&item->t));
		KUNIT_EXPECT_EQ(test, mod_timer(&item->t, jiffies + 1), 0);
		timer_item_await(test, item, i);
	}
}

/* A handler whose timer is shut down while it runs cannot start the timer again. */
static void timer_then_hold_and_rearm(struct timer_item *item)
{
	timer_then_hold(item);
	item->ret = mod_timer(&item->t, jiffies + 1);
	item->wrong += timer_pending(&item->t);
}

static void timer_shutdown_refuses_the_handler(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct timer_item *item = timer_item_create(test, 0);

	item->then = timer_then_hold_and_rearm;
	item->ret = -2;
	timer_item_run_on(test, item, other);
	KUNIT_EXPECT_EQ(test, timer_shutdown(&item->t), 0);
	timer_item_let_go(test, item);
	KUNIT_EXPECT_EQ(test, item->ret, 0);
	KUNIT_EXPECT_EQ(test, item->wrong, 0);
	timer_ticks_pass(test);
	KUNIT_EXPECT_EQ(test, timer_item_runs(item), 1);
}

/* A timer whose function is replaced while it is pending runs the new function. */
static void timer_other_handler(struct timer_list *t)
{
	struct timer_item *item = from_timer(item, t, t);

	callout_test_tell(&item->inside);
}

static void timer_function_can_be_replaced(struct kunit *test)
{
	struct timer_item *item = timer_item_create(test, 0);

	mod_timer(&item->t, jiffies + CALLOUT_TEST_FAR);
	item->t.function = timer_other_handler;
	KUNIT_EXPECT_EQ(test, mod_timer(&item->t, jiffies + 1), 1);
	TIMER_EXPECT_SOON(test, callout_test_told(&item->inside));
	KUNIT_EXPECT_EQ(test, timer_item_runs(item), 0);
}
