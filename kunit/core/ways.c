// SPDX-License-Identifier: GPL-2.0
/*
 * ways.c - suite callout_ways: each way out of a handler's path leaves its lock free
 *
 * A handler's path begins where the lock is taken, or tried, and has several ends: the
 * handler has returned, it was stopped or replaced just before, or the callout is
 * drained. Where a thread runs the handler the case acts as the worker, except for a
 * drain: it takes the work item from its queue, as a worker does, makes a call, and
 * then runs the work item.
 */
#include <linux/bottom_half.h>
#include <linux/callout_work.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "lib/virtual.h"

#define DISTANCE	5

/* The event between the queue and the handler, or in the handler. */
enum way {
	RUN,
	STOP,
	RESET,
	FREE_IN_HANDLER,
	STOP_IN_HANDLER,
	RESET_IN_HANDLER,
	DRAIN_IN_HANDLER,	/* asynchronously */
	/* From here on another thread holds the mutex. */
	CONTENDED,
	CONTENDED_STOP,
	CONTENDED_RESET,
	NR_WAYS
};

static const char * const way_names[] = {
	[RUN]			= "run",
	[STOP]			= "stopped",
	[RESET]			= "reset",
	[FREE_IN_HANDLER]	= "freed by its handler",
	[STOP_IN_HANDLER]	= "stopped by its handler",
	[RESET_IN_HANDLER]	= "reset by its handler",
	[DRAIN_IN_HANDLER]	= "drained by its handler",
	[CONTENDED]		= "contended",
	[CONTENDED_STOP]	= "contended, stopped",
	[CONTENDED_RESET]	= "contended, reset",
};

/**
 * struct ways_row - a way out, and the callout
 * @way: the way
 * @mutex: the callout has a mutex
 * @how: CALLOUT_WORK_ORDERED and so on
 */
struct ways_row {
	enum way way;
	bool mutex;
	u8 how;
};

#define MUTEX		.mutex = true
#define ORDERED		.how = CALLOUT_WORK_ORDERED
#define GIANT		.how = CALLOUT_WORK_SOFTIRQ | CALLOUT_WORK_GIANT

static const struct ways_row ways_rows[] = {
	{ RUN }, { RUN, MUTEX }, { RUN, ORDERED },
	{ STOP }, { STOP, MUTEX }, { STOP, ORDERED },
	{ RESET }, { RESET, MUTEX }, { RESET, ORDERED },
	{ FREE_IN_HANDLER }, { FREE_IN_HANDLER, MUTEX },
	{ FREE_IN_HANDLER, ORDERED },
	{ STOP_IN_HANDLER }, { STOP_IN_HANDLER, MUTEX },
	{ STOP_IN_HANDLER, ORDERED },
	{ RESET_IN_HANDLER }, { RESET_IN_HANDLER, MUTEX },
	{ RESET_IN_HANDLER, ORDERED },
	{ CONTENDED, MUTEX }, { CONTENDED_STOP, MUTEX },
	{ CONTENDED_RESET, MUTEX },
};

static void ways_row_desc(const struct ways_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s%s", way_names[row->way],
		 row->mutex ? ", mutex" : "", row->how ? ", ordered" : "");
}

KUNIT_ARRAY_PARAM(ways_row, ways_rows, ways_row_desc);

/**
 * struct ways - a callout and its mutex, which outlives it
 * @row: the row
 * @p: the callout
 * @first: keeps the ordered queue busy
 * @go: the handler of @first may return
 * @mutex: the mutex
 * @v: the base
 * @runs: how often the handler has run
 * @unlocked: how often the handler ran without the mutex held
 * @ret: what the drain returned to the handler
 * @drained: how often the function of the drain was called
 * @locked: how often the mutex was held at that call
 * @begin: the other CPU may begin
 */
struct ways {
	const struct ways_row *row;
	struct callout_work *p;
	struct callout_work first;
	bool go;
	struct mutex mutex;	/* see above */
	struct callout_virtual *v;
	unsigned int runs;
	unsigned int unlocked;
	int ret;
	unsigned int drained;
	unsigned int locked;
	bool begin;
};

static void ways_first(void *arg)
{
	struct ways *w = arg;

	callout_test_wait_until(callout_test_told(&w->go));
}

static void ways_drained(void *arg)
{
	struct ways *w = arg;

	w->locked += mutex_is_locked(&w->mutex);
	callout_test_count(&w->drained);
}

static void ways_handler(void *arg)
{
	struct ways *w = arg;

	w->unlocked += !mutex_is_locked(&w->mutex);
	w->runs++;
	if (w->row->way == FREE_IN_HANDLER) {
		kfree(w->p);
		w->p = NULL;
	} else if (w->row->way == STOP_IN_HANDLER) {
		callout_work_stop(w->p);
	} else if (w->row->way == RESET_IN_HANDLER && w->runs == 1) {
		callout_work_reset(w->p, DISTANCE, ways_handler, w);
	} else if (w->row->way == DRAIN_IN_HANDLER) {
		w->ret = callout_work_async_drain(w->p, ways_drained);
	}
}

static void ways_end(void *data)
{
	struct ways *w = data;

	callout_test_tell(&w->go);
	callout_work_drain(&w->first);
	if (w->p)
		callout_work_drain(w->p);
	kfree(w->p);
}

static struct ways *ways_create(struct kunit *test)
{
	struct ways *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->row = test->param_value;
	w->v = test->priv;
	mutex_init(&w->mutex);
	callout_work_init_as(&w->first, CALLOUT_WORK_ORDERED);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, ways_end, w));
	w->p = kzalloc(sizeof(*w->p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->p);
	if (w->row->mutex)
		callout_work_init_mutex(w->p, &w->mutex);
	else
		callout_work_init_as(w->p, w->row->how);
	w->p->c.node.cpu = CALLOUT_VIRTUAL;
	if (w->row->how & CALLOUT_WORK_ORDERED) {
		callout_work_reset(&w->first, 1, ways_first, w);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(!callout_work_pending(&w->first)));
	}
	return w;
}

/*
 * The callout becomes due, and the case takes its work item as a worker does. The
 * workers of this CPU, or of the ordered queue, which is busy, do not take it.
 */
static void ways_take(struct kunit *test, struct ways *w, long distance)
{
	bool taken;

	local_bh_disable();
	w->v->now += distance;
	while (co_expire(w->v->base))
		;
	taken = cancel_work(&w->p->work);
	local_bh_enable();
	KUNIT_ASSERT_TRUE(test, taken);
}

static void ways_call(struct kunit *test, struct ways *w)
{
	switch (w->row->way) {
	case STOP:
	case CONTENDED_STOP:
		KUNIT_EXPECT_EQ(test, callout_work_stop(w->p), 1);
		break;
	case RESET:
	case CONTENDED_RESET:
		KUNIT_EXPECT_EQ(test, callout_work_reset(w->p, DISTANCE,
							 ways_handler, w), 1);
		break;
	default:
		break;
	}
}

static void ways_expect_free(struct kunit *test, struct ways *w)
{
	KUNIT_ASSERT_FALSE(test, mutex_is_locked(&w->mutex));
	KUNIT_ASSERT_TRUE(test, mutex_trylock(&w->mutex));
	mutex_unlock(&w->mutex);
}

/* If a setting is left, its handler runs, holding the mutex. */
static void ways_run_rest(struct kunit *test, struct ways *w)
{
	if (!w->p || !callout_work_pending(w->p))
		return;
	ways_take(test, w, w->row->way == CONTENDED ? 1 : DISTANCE);
	callout_work_run(&w->p->work);
	ways_expect_free(test, w);
}

static unsigned int ways_expected_runs(enum way way)
{
	switch (way) {
	case STOP:
	case CONTENDED_STOP:
		return 0;
	case RESET_IN_HANDLER:
		return 2;
	default:
		return 1;
	}
}

/*
 * Whatever happens between the queue and the handler, or in the handler: afterwards the
 * mutex is as it was before, free or held by another thread. If the handler has run, it
 * has run with the mutex held.
 */
static void ways_of_work(struct kunit *test)
{
	const struct ways_row *row = test->param_value;
	struct ways *w = ways_create(test);
	bool contended = row->way >= CONTENDED;

	KUNIT_EXPECT_EQ(test, callout_work_reset(w->p, DISTANCE, ways_handler, w),
			0);
	ways_take(test, w, DISTANCE);
	if (contended)
		mutex_lock(&w->mutex);
	ways_call(test, w);
	callout_work_run(&w->p->work);
	if (contended) {
		bool locked = mutex_is_locked(&w->mutex);

		if (locked)
			mutex_unlock(&w->mutex);
		KUNIT_EXPECT_TRUE(test, locked);
		KUNIT_EXPECT_EQ(test, w->runs, 0);
	}
	ways_expect_free(test, w);
	ways_run_rest(test, w);
	KUNIT_EXPECT_EQ(test, w->runs, ways_expected_runs(row->way));
	if (row->mutex)
		KUNIT_EXPECT_EQ(test, w->unlocked, 0);
}

static const struct ways_row drain_rows[] = {
	{ DRAIN_IN_HANDLER }, { DRAIN_IN_HANDLER, MUTEX },
	{ DRAIN_IN_HANDLER, ORDERED },
};

KUNIT_ARRAY_PARAM(drain_row, drain_rows, ways_row_desc);

/*
 * A worker runs a handler that drains its own callout, and then the function of that
 * drain, with the mutex free.
 */
static void ways_of_drain(struct kunit *test)
{
	const struct ways_row *row = test->param_value;
	struct ways *w = ways_create(test);

	callout_test_tell(&w->go);
	KUNIT_EXPECT_EQ(test, callout_work_reset(w->p, DISTANCE, ways_handler, w),
			0);
	callout_virtual_run_to(w->v, w->v->now + DISTANCE);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_counted(&w->drained)));
	KUNIT_EXPECT_EQ(test, callout_work_drain(w->p), -1);
	KUNIT_EXPECT_EQ(test, w->ret, 0);
	KUNIT_EXPECT_EQ(test, w->runs, 1);
	KUNIT_EXPECT_EQ(test, w->drained, 1);
	KUNIT_EXPECT_EQ(test, w->locked, 0);
	if (row->mutex)
		KUNIT_EXPECT_EQ(test, w->unlocked, 0);
	ways_expect_free(test, w);
}

/* In softirq context, where the lock is BSD's Giant, everything happens in one pass. */
static const struct ways_row giant_rows[] = {
	{ RUN, GIANT }, { STOP, GIANT }, { RESET, GIANT },
	{ FREE_IN_HANDLER, GIANT }, { STOP_IN_HANDLER, GIANT },
	{ RESET_IN_HANDLER, GIANT },
};

KUNIT_ARRAY_PARAM(giant_row, giant_rows, ways_row_desc);

static void giant_expire(void *arg)
{
	struct ways *w = arg;

	callout_test_wait_until(callout_test_told(&w->begin));
	callout_virtual_expire(w->v);
}

/* Take and release Giant. Does not return if Giant is not free. */
static void giant_is_free(spinlock_t *giant)
{
	spin_lock_bh(giant);
	spin_unlock_bh(giant);
}

/*
 * An event while the softirq of another CPU waits for Giant, or in the handler,
 * leaves Giant free.
 */
static void ways_of_giant(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	const struct ways_row *row = test->param_value;
	struct ways *w = ways_create(test);
	struct callout_node *n = &w->p->c.node;
	spinlock_t *giant = w->p->c.lock;
	struct callout_test_thread *t;
	bool waits;

	KUNIT_EXPECT_EQ(test, callout_work_reset(w->p, DISTANCE, ways_handler, w),
			0);
	t = callout_test_thread(test, other, giant_expire, w);
	w->v->now += DISTANCE;
	spin_lock_bh(giant);
	callout_test_tell(&w->begin);
	waits = callout_test_spin_until(READ_ONCE(w->v->base->running) == n);
	ways_call(test, w);
	spin_unlock_bh(giant);
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	giant_is_free(giant);
	if (w->p && callout_work_pending(w->p))
		callout_virtual_run_to(w->v, w->v->now + DISTANCE);
	giant_is_free(giant);
	KUNIT_EXPECT_EQ(test, w->runs, ways_expected_runs(row->way));
}

static struct kunit_case ways_cases[] = {
	KUNIT_CASE_PARAM(ways_of_work, ways_row_gen_params),
	KUNIT_CASE_PARAM(ways_of_drain, drain_row_gen_params),
	KUNIT_CASE_PARAM(ways_of_giant, giant_row_gen_params),
	{}
};

static struct kunit_suite ways_suite = {
	.name = "callout_ways",
	.init = callout_virtual_init,
	.test_cases = ways_cases,
};

kunit_test_suite(ways_suite);
