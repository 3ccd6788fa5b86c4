// SPDX-License-Identifier: GPL-2.0
/*
 * states.c - suite callout_table: each call of callout(9) in each state
 *
 * A row has the return value of the call, callout_pending() and callout_active()
 * after the call, how often the handler still runs and how often the function of
 * callout_async_drain() is called. Documentation/bsd.rst lists the differences from
 * FreeBSD.
 *
 * Invalid calls are not in the table: initialising a callout that is pending or
 * running, scheduling a callout that was never set, draining under the handler's
 * lock.
 */
#include <linux/callout_work.h>
#include "lib/softirq.h"

/* The distance for which the calls set the callout. */
#define DISTANCE	5

enum state {
	NEVER,			/* never set */
	RAN,			/* set, and has run */
	QUEUED,
	DUE,			/* expired; another callout's handler runs */
	PUT_OFF,		/* due, and its lock was contended */
	RUNNING,
	RUNNING_SET,		/* running, and set again */
	WAITING,		/* waiting for its lock, which the caller holds */
	WAITING_STOPPED,	/* waiting, and stopped under its lock */
	WAITING_SET,		/* waiting, and set again under its lock */
	WAITING_ASYNC,		/* waiting, with an asynchronous drain */
	WAITING_SHUT,		/* waiting, with a shutdown */
	DRAINING,		/* running, and another thread drains it */
	ASYNC,			/* running, with an asynchronous drain */
	SHUTTING,		/* running, and another thread shuts it down */
	SHUT,			/* was pending, then shut down */
};

static const char * const state_names[] = {
	[NEVER]			= "never set",
	[RAN]			= "has run",
	[QUEUED]		= "queued",
	[DUE]			= "due",
	[PUT_OFF]		= "put off",
	[RUNNING]		= "running",
	[RUNNING_SET]		= "running, set again",
	[WAITING]		= "waiting for its lock",
	[WAITING_STOPPED]	= "waiting for its lock, stopped",
	[WAITING_SET]		= "waiting for its lock, set again",
	[WAITING_ASYNC]		= "waiting for its lock, async drained",
	[WAITING_SHUT]		= "waiting for its lock, shut down",
	[DRAINING]		= "running, drained",
	[ASYNC]			= "running, async drained",
	[SHUTTING]		= "running, being shut down",
	[SHUT]			= "shut down",
};

enum call {
	RESET,
	SCHEDULE,
	RESET_ON,
	RESET_SBT,
	STOP,
	DRAIN,
	SHUTDOWN,
	ASYNC_DRAIN,
	DEACTIVATE,
	INIT,
};

static const char * const call_names[] = {
	[RESET]		= "reset",
	[SCHEDULE]	= "schedule",
	[RESET_ON]	= "reset_on",
	[RESET_SBT]	= "reset_sbt",
	[STOP]		= "stop",
	[DRAIN]		= "drain",
	[SHUTDOWN]	= "shutdown",
	[ASYNC_DRAIN]	= "async_drain",
	[DEACTIVATE]	= "deactivate",
	[INIT]		= "init",
};

/**
 * struct row - a row of the table
 * @state: state before the call
 * @call: the call
 * @ret: what the call returns; 0 if its type is void
 * @pending: callout_pending() after the call
 * @active: callout_active() after the call
 * @moved: the callout has left its CPU once its handler has returned
 * @runs: how often the handler starts after the call
 * @drained: how often the function of callout_async_drain() is called
 */
struct row {
	enum state state;
	enum call call;
	int ret;
	bool pending;
	bool active;
	bool moved;
	unsigned int runs;
	unsigned int drained;
};

#define PENDING	.pending = true
#define ACTIVE	.active = true
#define MOVED	.moved = true

static const struct row rows[] = {
	{ NEVER, RESET, 0, PENDING, ACTIVE, .runs = 1 },
	{ NEVER, RESET_ON, 0, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ NEVER, RESET_SBT, 0, PENDING, ACTIVE, .runs = 1 },
	{ NEVER, STOP, -1 },
	{ NEVER, DRAIN, -1 },
	{ NEVER, SHUTDOWN, -1 },
	{ NEVER, ASYNC_DRAIN, -1 },
	{ NEVER, DEACTIVATE },
	{ NEVER, INIT, MOVED },

	{ RAN, RESET, 0, PENDING, ACTIVE, .runs = 1 },
	{ RAN, SCHEDULE, 0, PENDING, ACTIVE, .runs = 1 },
	{ RAN, RESET_ON, 0, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ RAN, RESET_SBT, 0, PENDING, ACTIVE, .runs = 1 },
	{ RAN, STOP, -1 },
	{ RAN, DRAIN, -1 },
	{ RAN, SHUTDOWN, -1 },
	{ RAN, ASYNC_DRAIN, -1 },
	{ RAN, DEACTIVATE },
	{ RAN, INIT, MOVED },

	{ QUEUED, RESET, 1, PENDING, ACTIVE, .runs = 1 },
	{ QUEUED, SCHEDULE, 1, PENDING, ACTIVE, .runs = 1 },
	{ QUEUED, RESET_ON, 1, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ QUEUED, RESET_SBT, 1, PENDING, ACTIVE, .runs = 1 },
	{ QUEUED, STOP, 1 },
	{ QUEUED, DRAIN, 1 },
	{ QUEUED, SHUTDOWN, 1 },
	{ QUEUED, ASYNC_DRAIN, 1 },
	{ QUEUED, DEACTIVATE, 0, PENDING, .runs = 1 },

	{ DUE, RESET, 1, PENDING, ACTIVE, .runs = 1 },
	{ DUE, SCHEDULE, 1, PENDING, ACTIVE, .runs = 1 },
	{ DUE, RESET_ON, 1, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ DUE, RESET_SBT, 1, PENDING, ACTIVE, .runs = 1 },
	{ DUE, STOP, 1 },
	{ DUE, DRAIN, 1 },
	{ DUE, SHUTDOWN, 1 },
	{ DUE, ASYNC_DRAIN, 1 },
	{ DUE, DEACTIVATE, 0, PENDING, .runs = 1 },

	{ PUT_OFF, RESET, 1, PENDING, ACTIVE, .runs = 1 },
	{ PUT_OFF, SCHEDULE, 1, PENDING, ACTIVE, .runs = 1 },
	{ PUT_OFF, RESET_ON, 1, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ PUT_OFF, RESET_SBT, 1, PENDING, ACTIVE, .runs = 1 },
	{ PUT_OFF, STOP, 1 },
	{ PUT_OFF, ASYNC_DRAIN, 1 },
	{ PUT_OFF, DEACTIVATE, 0, PENDING, .runs = 1 },

	{ RUNNING, RESET, 0, PENDING, ACTIVE, .runs = 1 },
	{ RUNNING, SCHEDULE, 0, PENDING, ACTIVE, .runs = 1 },
	{ RUNNING, RESET_ON, 0, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ RUNNING, RESET_SBT, 0, PENDING, ACTIVE, .runs = 1 },
	{ RUNNING, STOP, 0 },
	{ RUNNING, DRAIN, 0 },
	{ RUNNING, SHUTDOWN, 0 },
	{ RUNNING, ASYNC_DRAIN, 0, .drained = 1 },
	{ RUNNING, DEACTIVATE },

	{ RUNNING_SET, RESET, 1, PENDING, ACTIVE, .runs = 1 },
	{ RUNNING_SET, SCHEDULE, 1, PENDING, ACTIVE, .runs = 1 },
	{ RUNNING_SET, RESET_ON, 1, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ RUNNING_SET, RESET_SBT, 1, PENDING, ACTIVE, .runs = 1 },
	{ RUNNING_SET, STOP, 0 },
	{ RUNNING_SET, DRAIN, 0 },
	{ RUNNING_SET, SHUTDOWN, 0 },
	{ RUNNING_SET, ASYNC_DRAIN, 0, .drained = 1 },
	{ RUNNING_SET, DEACTIVATE, 0, PENDING, .runs = 1 },

	{ WAITING, RESET, 1, PENDING, ACTIVE, .runs = 1 },
	{ WAITING, SCHEDULE, 1, PENDING, ACTIVE, .runs = 1 },
	{ WAITING, RESET_ON, 1, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ WAITING, RESET_SBT, 1, PENDING, ACTIVE, .runs = 1 },
	{ WAITING, STOP, 1 },
	{ WAITING, ASYNC_DRAIN, 0, .runs = 1, .drained = 1 },
	{ WAITING, DEACTIVATE, 0, .runs = 1 },

	{ WAITING_STOPPED, RESET, 0, PENDING, ACTIVE, .runs = 1 },
	{ WAITING_STOPPED, SCHEDULE, 0, PENDING, ACTIVE, .runs = 1 },
	{ WAITING_STOPPED, RESET_ON, 0, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ WAITING_STOPPED, RESET_SBT, 0, PENDING, ACTIVE, .runs = 1 },
	{ WAITING_STOPPED, STOP, -1 },
	{ WAITING_STOPPED, ASYNC_DRAIN, 0, .drained = 1 },
	{ WAITING_STOPPED, DEACTIVATE },

	{ WAITING_SET, RESET, 1, PENDING, ACTIVE, .runs = 1 },
	{ WAITING_SET, SCHEDULE, 1, PENDING, ACTIVE, .runs = 1 },
	{ WAITING_SET, RESET_ON, 1, PENDING, ACTIVE, MOVED, .runs = 1 },
	{ WAITING_SET, RESET_SBT, 1, PENDING, ACTIVE, .runs = 1 },
	{ WAITING_SET, STOP, 1 },
	{ WAITING_SET, ASYNC_DRAIN, 0, .drained = 1 },
	{ WAITING_SET, DEACTIVATE, 0, PENDING, .runs = 1 },

	{ WAITING_ASYNC, RESET, 1, .drained = 1 },
	{ WAITING_ASYNC, SCHEDULE, 1, .drained = 1 },
	{ WAITING_ASYNC, RESET_ON, 1, .drained = 1 },
	{ WAITING_ASYNC, RESET_SBT, 1, .drained = 1 },
	{ WAITING_ASYNC, STOP, 1, .drained = 1 },
	{ WAITING_ASYNC, ASYNC_DRAIN, 0, .runs = 1, .drained = 1 },
	{ WAITING_ASYNC, DEACTIVATE, 0, .runs = 1, .drained = 1 },

	{ WAITING_SHUT, RESET, 0, .runs = 1 },
	{ WAITING_SHUT, SCHEDULE, 0, .runs = 1 },
	{ WAITING_SHUT, RESET_ON, 0, .runs = 1 },
	{ WAITING_SHUT, RESET_SBT, 0, .runs = 1 },
	{ WAITING_SHUT, STOP, 1 },
	{ WAITING_SHUT, ASYNC_DRAIN, 0, .runs = 1, .drained = 1 },
	{ WAITING_SHUT, DEACTIVATE, 0, .runs = 1 },

	{ DRAINING, RESET },
	{ DRAINING, SCHEDULE },
	{ DRAINING, RESET_ON },
	{ DRAINING, RESET_SBT },
	{ DRAINING, STOP },
	{ DRAINING, DRAIN },
	{ DRAINING, SHUTDOWN },
	{ DRAINING, ASYNC_DRAIN, 0, .drained = 1 },
	{ DRAINING, DEACTIVATE },

	{ ASYNC, RESET, 0, .drained = 1 },
	{ ASYNC, SCHEDULE, 0, .drained = 1 },
	{ ASYNC, RESET_ON, 0, .drained = 1 },
	{ ASYNC, RESET_SBT, 0, .drained = 1 },
	{ ASYNC, STOP, 0, .drained = 1 },
	{ ASYNC, DRAIN, 0, .drained = 1 },
	{ ASYNC, SHUTDOWN, 0, .drained = 1 },
	{ ASYNC, ASYNC_DRAIN, 0, .drained = 1 },
	{ ASYNC, DEACTIVATE, 0, .drained = 1 },

	{ SHUTTING, RESET },
	{ SHUTTING, SCHEDULE },
	{ SHUTTING, RESET_ON },
	{ SHUTTING, RESET_SBT },
	{ SHUTTING, STOP },
	{ SHUTTING, DRAIN },
	{ SHUTTING, SHUTDOWN },
	{ SHUTTING, ASYNC_DRAIN, 0, .drained = 1 },
	{ SHUTTING, DEACTIVATE },

	{ SHUT, RESET },
	{ SHUT, SCHEDULE },
	{ SHUT, RESET_ON },
	{ SHUT, RESET_SBT },
	{ SHUT, STOP, -1 },
	{ SHUT, DRAIN, -1 },
	{ SHUT, SHUTDOWN, -1 },
	{ SHUT, ASYNC_DRAIN, -1 },
	{ SHUT, DEACTIVATE },
	{ SHUT, INIT, MOVED },
};

static void row_desc(const struct row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s: %s",
		 state_names[row->state], call_names[row->call]);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

/**
 * struct table - a row under test
 * @r: the softirq, and the callout that the softirq runs
 * @item: the callout of the row
 * @held: the callout's lock is held
 * @wait: the call, if it waits for the handler
 * @state_thread: the thread that drains the callout, if the state needs that
 * @call_thread: the thread that makes the call, if the call has to wait
 * @ret: what the call has returned
 */
struct table {
	struct callout_race *r;
	struct callout_item *item;
	bool held;
	int (*wait)(struct callout *c);
	struct callout_test_thread *state_thread;
	struct callout_test_thread *call_thread;
	int ret;
};

static void count_drained(void *arg)
{
	struct callout_item *item = arg;

	item->seen++;
}

/* Make the callout due behind a callout of the same tick whose handler runs. */
static void enter_due(struct kunit *test, struct table *t)
{
	t->item = callout_virtual_items(test, 1);
	callout_virtual_set(&t->r->item, 1);
	callout_virtual_set(t->item, 1);
	callout_race_begin(test, t->r);
	KUNIT_ASSERT_TRUE(test, callout_virtual_is_due(&t->item->c));
}

/* The lock is held when the callout's turn comes, so the callout gets another turn. */
static void enter_put_off(struct kunit *test, struct table *t)
{
	callout_race_set_lock(t->r, CALLOUT_L_SPIN | CALLOUT_TRYLOCK);
	callout_race_take_lock(t->r);
	t->held = true;
	/* The lock is dropped by leave_state(). */
	__release(&t->r->lock);
	callout_virtual_set(t->item, 1);
	t->r->v->now++;
	callout_virtual_expire(t->r->v);
	KUNIT_EXPECT_TRUE(test, callout_pending(&t->item->c));
}

/*
 * Do what callout_shutdown() does before it waits. A thread that calls it would
 * need a third CPU, since this CPU and the other CPU are busy with the associated
 * lock.
 */
static void begin_shutdown(struct callout *c)
{
	struct callout_base *base;
	unsigned long flags;

	callout_deactivate(c);
	base = co_lock(&c->node, &flags);
	callout_change_state(&c->node, 0, CALLOUT_S_SHUT);
	co_unlock(base, flags);
}

static void enter_waiting(struct kunit *test, struct table *t,
			  enum state state)
{
	callout_race_wait_for_lock(test, t->r, CALLOUT_L_SPIN);
	t->held = true;
	/* The lock is dropped by leave_state(). */
	__release(&t->r->lock);
	if (state == WAITING_STOPPED)
		KUNIT_EXPECT_EQ(test, callout_stop(&t->item->c), 1);
	if (state == WAITING_SET)
		KUNIT_EXPECT_EQ(test, callout_virtual_set(t->item, DISTANCE),
				1);
	if (state == WAITING_ASYNC)
		KUNIT_EXPECT_EQ(test, callout_async_drain(&t->item->c,
							  count_drained), 0);
	if (state == WAITING_SHUT)
		begin_shutdown(&t->item->c);
}

static void enter_running(struct kunit *test, struct table *t,
			  enum state state)
{
	callout_race_begin(test, t->r);
	if (state == RUNNING_SET)
		KUNIT_EXPECT_EQ(test, callout_virtual_set(t->item, DISTANCE),
				0);
	if (state == DRAINING)
		t->state_thread = callout_race_drain(test, t->r);
	if (state == SHUTTING)
		t->state_thread = callout_race_shutdown(test, t->r);
	if (state == ASYNC)
		KUNIT_EXPECT_EQ(test, callout_async_drain(&t->item->c,
							  count_drained), 0);
}

static void enter_state(struct kunit *test, struct table *t, enum state state)
{
	t->item = &t->r->item;
	switch (state) {
	case NEVER:
		break;
	case RAN:
		callout_virtual_set(t->item, 1);
		callout_virtual_run_to(t->r->v, t->r->v->now + 1);
		break;
	case QUEUED:
		callout_virtual_set(t->item, 1);
		break;
	case SHUT:
		callout_virtual_set(t->item, 1);
		KUNIT_EXPECT_EQ(test, callout_shutdown(&t->item->c), 1);
		break;
	case DUE:
		enter_due(test, t);
		break;
	case PUT_OFF:
		enter_put_off(test, t);
		break;
	case WAITING:
	case WAITING_STOPPED:
	case WAITING_SET:
	case WAITING_ASYNC:
	case WAITING_SHUT:
		enter_waiting(test, t, state);
		break;
	default:
		enter_running(test, t, state);
	}
}

static void table_waiter(void *arg)
{
	struct table *t = arg;

	t->ret = t->wait(&t->item->c);
}

/* Call @wait. If the handler runs @wait waits, so call it in a thread then. */
static void call_and_wait(struct kunit *test, struct table *t,
			  int (*wait)(struct callout *c))
{
	struct callout_base *base = t->r->v->base;
	unsigned int waiters = t->state_thread ? 2 : 1;

	if (READ_ONCE(base->running) != &t->item->c.node) {
		t->ret = wait(&t->item->c);
		return;
	}
	t->ret = -100;
	t->wait = wait;
	t->call_thread = callout_test_thread(test, raw_smp_processor_id(),
					     table_waiter, t);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(base->waiters) ==
						  waiters));
}

static void make_call(struct kunit *test, struct table *t, enum call call)
{
	struct callout_item *item = t->item;
	struct callout *c = &item->c;

	switch (call) {
	case RESET:
		t->ret = callout_virtual_set(item, DISTANCE);
		break;
	case SCHEDULE:
		t->ret = callout_schedule(c, DISTANCE);
		break;
	case RESET_ON:
		/* On a real base, whose time the case does not control. */
		t->ret = callout_reset_on(c, CALLOUT_TEST_FAR, callout_virtual_handler,
					  item, t->r->other_cpu);
		break;
	case RESET_SBT:
		t->ret = callout_reset_sbt(c, SBT_1S * DISTANCE / callout_hz(),
					   0, callout_virtual_handler, item,
					   C_HARDCLOCK);
		break;
	case STOP:
		t->ret = callout_stop(c);
		break;
	case DRAIN:
		call_and_wait(test, t, callout_drain);
		break;
	case SHUTDOWN:
		call_and_wait(test, t, callout_shutdown);
		break;
	case ASYNC_DRAIN:
		t->ret = callout_async_drain(c, count_drained);
		break;
	case DEACTIVATE:
		callout_deactivate(c);
		break;
	case INIT:
		callout_init(c, CALLOUT_MPSAFE);
		break;
	}
}

/* Release lock and handler, and join all threads. */
static void leave_state(struct kunit *test, struct table *t)
{
	if (t->held) {
		__acquire(&t->r->lock);
		callout_race_drop_lock(t->r);
	}
	WRITE_ONCE(t->r->begin, true);
	callout_race_end(test, t->r);
	if (t->state_thread)
		KUNIT_ASSERT_TRUE(test, callout_test_join(t->state_thread));
	if (t->call_thread)
		KUNIT_ASSERT_TRUE(test, callout_test_join(t->call_thread));
}

static void check_flags(struct kunit *test, struct table *t,
			const struct row *row)
{
	struct callout *c = &t->item->c;

	KUNIT_EXPECT_EQ(test, t->ret, row->ret);
	KUNIT_EXPECT_EQ(test, callout_pending(c), row->pending);
	KUNIT_EXPECT_EQ(test, callout_active(c), row->active);
}

/* Is the callout of a row shut down after the call? */
static bool is_shut(const struct row *row)
{
	return row->call == SHUTDOWN || row->state == SHUTTING ||
	       row->state == WAITING_SHUT ||
	       (row->state == SHUT && row->call != INIT);
}

/* Each call in each state has the results of its row. */
static void table_row(struct kunit *test)
{
	const struct row *row = test->param_value;
	struct callout_virtual *v = test->priv;
	struct table *t;
	unsigned int runs;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	t->r = callout_race_create(test);
	enter_state(test, t, row->state);
	runs = t->item->runs;
	make_call(test, t, row->call);
	if (!t->call_thread)
		check_flags(test, t, row);
	leave_state(test, t);
	if (t->call_thread)
		check_flags(test, t, row);
	KUNIT_EXPECT_EQ(test, t->item->c.node.cpu != CALLOUT_VIRTUAL, row->moved);

	/* A callout that is set again is no longer put off: otherwise it would be in two lists. */
	KUNIT_ASSERT_EQ(test, !list_empty(&v->base->put_off),
			!!(t->item->c.node.state & CALLOUT_S_DUE));
	/* A callout that is stopped on another CPU counts as run. */
	if (row->moved && callout_drain(&t->item->c) == 1)
		t->item->runs++;
	callout_virtual_run_to(v, v->now + CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, t->item->runs - runs, row->runs);
	KUNIT_EXPECT_EQ(test, t->item->seen, row->drained);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	KUNIT_EXPECT_EQ(test, v->base->waiters, 0);
	KUNIT_EXPECT_EQ(test, t->item->c.node.state & ~CALLOUT_S_STARTED_HERE,
			is_shut(row) ? CALLOUT_S_SHUT : 0);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE_PARAM(table_row, row_gen_params),
	{}
};

static struct kunit_suite table_suite = {
	.name = "callout_table",
	.init = callout_virtual_init,
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);
