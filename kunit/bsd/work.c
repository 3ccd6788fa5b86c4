// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - suite callout_work: callouts whose handler may sleep
 *
 * The suite has a table of each call in each state, and separate cases for drain
 * and for the purpose of the results: counting references.
 */
#include <linux/callout_work.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "lib/virtual.h"

/* The distance for which the calls of the table set the callout. */
#define DISTANCE	5

/*
 * The work item of a callout waits while the callout's handler runs, so a work item
 * that is due a second time stays queued.
 */
enum work_state {
	WORK_NEVER,
	WORK_RAN,
	WORK_SET,
	WORK_RUNNING,
	WORK_RUNNING_SET,
	WORK_RUNNING_DUE,	/* set again, and waiting for the work queue */
	WORK_DRAINED,		/* running, and another thread drains it */
};

static const char * const work_state_names[] = {
	[WORK_NEVER]		= "never set",
	[WORK_RAN]		= "has run",
	[WORK_SET]		= "set",
	[WORK_RUNNING]		= "running",
	[WORK_RUNNING_SET]	= "running, set again",
	[WORK_RUNNING_DUE]	= "running, due again",
	[WORK_DRAINED]		= "running, drained",
};

enum call {
	RESET,
	STOP,
	DRAIN,
};

static const char * const call_names[] = {
	[RESET]	= "reset",
	[STOP]	= "stop",
	[DRAIN]	= "drain",
};

/**
 * struct work_row - a row of the table
 * @state: state before the call
 * @call: the call
 * @ret: return value of the call
 * @pending: callout_work_pending() after the call
 */
struct work_row {
	enum work_state state;
	enum call call;
	int ret;
	bool pending;
};

#define PENDING	.pending = true

static const struct work_row work_rows[] = {
	{ WORK_NEVER, RESET, 0, PENDING },
	{ WORK_NEVER, STOP, -1 },
	{ WORK_NEVER, DRAIN, -1 },
	{ WORK_RAN, RESET, 0, PENDING },
	{ WORK_RAN, STOP, -1 },
	{ WORK_RAN, DRAIN, -1 },
	{ WORK_SET, RESET, 1, PENDING },
	{ WORK_SET, STOP, 1 },
	{ WORK_SET, DRAIN, 1 },
	{ WORK_RUNNING, RESET, 0, PENDING },
	{ WORK_RUNNING, STOP, 0 },
	{ WORK_RUNNING, DRAIN, 0 },
	{ WORK_RUNNING_SET, RESET, 1, PENDING },
	{ WORK_RUNNING_SET, STOP, 1 },
	{ WORK_RUNNING_SET, DRAIN, 1 },
	{ WORK_RUNNING_DUE, RESET, 1, PENDING },
	{ WORK_RUNNING_DUE, STOP, 1 },
	{ WORK_RUNNING_DUE, DRAIN, 1 },
	{ WORK_DRAINED, RESET, -1 },
	{ WORK_DRAINED, STOP, 0 },
	{ WORK_DRAINED, DRAIN, 0 },
};

static void work_row_desc(const struct work_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s: %s",
		 work_state_names[row->state], call_names[row->call]);
}

KUNIT_ARRAY_PARAM(work_row, work_rows, work_row_desc);

/**
 * struct work_case - a row under test
 * @p: the callout
 * @v: the callout's base
 * @go: the handler may return
 * @runs: how often the handler has begun
 */
struct work_case {
	struct callout_work p;
	struct callout_virtual *v;
	bool go;
	unsigned int runs;
};

/**
 * struct work_drainer - a thread that waits in callout_work_drain()
 * @p: the callout
 * @thread: the thread
 * @ret: what callout_work_drain() returned
 */
struct work_drainer {
	struct callout_work *p;
	struct callout_test_thread *thread;
	int ret;
};

static void work_handler(void *arg)
{
	struct work_case *t = arg;

	WRITE_ONCE(t->runs, t->runs + 1);
	callout_test_wait_until(callout_test_told(&t->go));
}

static void work_drain_fn(void *arg)
{
	struct work_drainer *d = arg;

	d->ret = callout_work_drain(d->p);
}

static int work_set(struct work_case *t)
{
	return callout_work_reset(&t->p, DISTANCE, work_handler, t);
}

/* Set the callout, expire it, and wait until its handler has begun @runs times. */
static void work_run(struct kunit *test, struct work_case *t,
		     unsigned int runs)
{
	KUNIT_EXPECT_EQ(test, work_set(t), 0);
	callout_virtual_run_to(t->v, t->v->now + DISTANCE);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(t->runs) == runs));
}

static struct work_drainer *work_drain(struct kunit *test,
				       struct work_case *t)
{
	unsigned int before = READ_ONCE(t->p.drains);
	struct work_drainer *d;

	d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, d);
	d->p = &t->p;
	d->thread = callout_test_thread(test, raw_smp_processor_id(),
					work_drain_fn, d);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(t->p.drains) > before));
	return d;
}

static struct work_drainer *work_enter(struct kunit *test,
				       struct work_case *t,
				       enum work_state state)
{
	switch (state) {
	case WORK_NEVER:
		return NULL;
	case WORK_SET:
		KUNIT_EXPECT_EQ(test, work_set(t), 0);
		return NULL;
	case WORK_RAN:
		t->go = true;
		break;
	default:
		break;
	}
	work_run(test, t, 1);
	if (state == WORK_RAN) {
		flush_work(&t->p.work);
		return NULL;
	}
	if (state == WORK_RUNNING)
		return NULL;
	if (state == WORK_RUNNING_DUE) {
		work_run(test, t, 1);
		return NULL;
	}
	KUNIT_EXPECT_EQ(test, work_set(t), 0);
	return state == WORK_DRAINED ? work_drain(test, t) : NULL;
}

/* Each call in each state has the results of its row. */
static void work_row(struct kunit *test)
{
	const struct work_row *row = test->param_value;
	struct work_drainer *drainer, *caller = NULL;
	struct work_case *t;
	unsigned int runs;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	t->v = test->priv;
	callout_work_init(&t->p);
	t->p.c.node.cpu = CALLOUT_VIRTUAL;
	callout_test_drains_work(test, &t->p);
	drainer = work_enter(test, t, row->state);
	runs = t->runs;
	if (row->call == RESET)
		KUNIT_EXPECT_EQ(test, work_set(t), row->ret);
	else if (row->call == STOP)
		KUNIT_EXPECT_EQ(test, callout_work_stop(&t->p), row->ret);
	else if (!runs || row->state == WORK_RAN)
		KUNIT_EXPECT_EQ(test, callout_work_drain(&t->p), row->ret);
	else
		caller = work_drain(test, t);
	KUNIT_EXPECT_EQ(test, callout_work_pending(&t->p), row->pending);
	callout_test_tell(&t->go);
	if (drainer)
		KUNIT_ASSERT_TRUE(test, callout_test_join(drainer->thread));
	if (caller) {
		KUNIT_ASSERT_TRUE(test, callout_test_join(caller->thread));
		KUNIT_EXPECT_EQ(test, caller->ret, row->ret);
	}
	callout_virtual_run_to(t->v, t->v->now + DISTANCE);
	flush_work(&t->p.work);
	KUNIT_EXPECT_EQ(test, t->runs - runs, row->pending);
	KUNIT_EXPECT_EQ(test, callout_work_drain(&t->p), -1);
	KUNIT_EXPECT_EQ(test, co_base_pending(t->v->base), 0);
}

/**
 * struct sleeper - a callout whose handler sleeps
 * @p: the callout
 * @begun: how often the handler has begun
 * @done: how often the handler has ended
 * @go: the handler may end
 * @again: the handler sets the callout again
 * @in_task: the handler ran in process context
 */
struct sleeper {
	struct callout_work p;
	unsigned int begun;
	unsigned int done;
	bool go;
	bool again;
	bool in_task;
};

static void sleeper_handler(void *arg)
{
	struct sleeper *s = arg;

	s->in_task = in_task();
	WRITE_ONCE(s->begun, s->begun + 1);
	callout_test_wait_until(READ_ONCE(s->go));
	if (s->again)
		callout_work_reset(&s->p, 1, sleeper_handler, s);
	WRITE_ONCE(s->done, s->done + 1);
}

/* The handler may sleep. Stop and drain return the callout's state. */
static void work_calls(struct kunit *test)
{
	struct sleeper *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int done;

	KUNIT_ASSERT_NOT_NULL(test, s);
	callout_work_init(&s->p);
	callout_test_drains_work(test, &s->p);
	KUNIT_EXPECT_EQ(test, callout_work_stop(&s->p), -1);
	KUNIT_EXPECT_EQ(test, callout_work_reset(&s->p, 1000000,
						 sleeper_handler, s), 0);
	KUNIT_EXPECT_TRUE(test, callout_work_pending(&s->p));
	KUNIT_EXPECT_EQ(test, callout_work_reset(&s->p, 1, sleeper_handler,
						 s), 1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(s->begun)));
	KUNIT_EXPECT_TRUE(test, s->in_task);
	KUNIT_EXPECT_FALSE(test, callout_work_pending(&s->p));
	KUNIT_EXPECT_EQ(test, callout_work_stop(&s->p), 0);
	/*
	 * The drain cancels the pending setting and waits for the running handler.
	 * That may not be the first run: this thread can lose its CPU before the
	 * drain.
	 */
	callout_work_reset(&s->p, 1000000, sleeper_handler, s);
	s->again = true;
	WRITE_ONCE(s->go, true);
	callout_work_drain(&s->p);
	done = READ_ONCE(s->done);
	KUNIT_EXPECT_GE(test, done, 1);
	KUNIT_EXPECT_EQ(test, done, READ_ONCE(s->begun));
	KUNIT_EXPECT_FALSE(test, callout_work_pending(&s->p));
	msleep(20);
	KUNIT_EXPECT_EQ(test, READ_ONCE(s->begun), done);
	KUNIT_EXPECT_EQ(test, callout_work_drain(&s->p), -1);
}

/* A drain ends a callout that its handler re-arms each time. */
static void work_drain_ends_it(struct kunit *test)
{
	struct sleeper *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int i, done;

	KUNIT_ASSERT_NOT_NULL(test, s);
	callout_work_init(&s->p);
	callout_test_drains_work(test, &s->p);
	s->go = true;
	s->again = true;
	for (i = 0; i < 50; i++) {
		callout_work_reset(&s->p, 1, sleeper_handler, s);
		callout_test_wait_until(READ_ONCE(s->done) > i);
		callout_work_drain(&s->p);
		done = READ_ONCE(s->done);
		KUNIT_ASSERT_FALSE(test, callout_work_pending(&s->p));
		usleep_range(3000, 4000);
		KUNIT_ASSERT_EQ(test, READ_ONCE(s->done), done);
	}
}

#define REFS_ROUNDS	400

/**
 * struct counted - a callout whose results count references
 * @p: the callout
 * @v: the callout's base, whose ticks another thread makes
 * @refs: a reference for each setting that has neither run nor been cancelled
 * @runs: how often the handler has begun
 * @rng: random numbers of the owner
 * @stop: no more ticks
 */
struct counted {
	struct callout_work p;
	struct callout_virtual *v;
	atomic_t refs;
	atomic_t runs;
	struct rnd_state rng;
	bool stop;
};

static void counted_handler(void *arg);

static void counted_set(struct counted *n, long distance)
{
	if (!callout_work_reset(&n->p, distance, counted_handler, n))
		atomic_inc(&n->refs);
}

static void counted_end(struct counted *n, int ret)
{
	if (ret == 1)
		atomic_dec(&n->refs);
}

static void counted_handler(void *arg)
{
	struct counted *n = arg;
	int runs = atomic_inc_return(&n->runs);

	atomic_dec(&n->refs);
	if (runs % 4 == 0)
		counted_set(n, 1);
	if (runs % 16 == 0)
		counted_end(n, callout_work_stop(&n->p));
}

static void counted_ticks(void *arg)
{
	struct counted *n = arg;

	while (!callout_test_told(&n->stop)) {
		callout_virtual_run_to(n->v, n->v->now + 1);
		cond_resched();
	}
}

/*
 * References balance if counted as in OpenBSD's TCP: a reset that returns 0 adds a
 * reference. A stop that returns 1 and a handler that begins drop one, at any
 * interleaving.
 */
static void work_references(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct counted *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);
	struct callout_test_thread *t;

	KUNIT_ASSERT_NOT_NULL(test, n);
	callout_test_rng(test, &n->rng);
	n->v = test->priv;
	callout_work_init(&n->p);
	n->p.c.node.cpu = CALLOUT_VIRTUAL;
	callout_test_drains_work(test, &n->p);
	t = callout_test_thread(test, other, counted_ticks, n);
	for (i = 0; i < callout_test_rounds(REFS_ROUNDS); i++) {
		counted_set(n, 1 + callout_test_below(&n->rng, 2));
		ndelay(callout_test_below(&n->rng, 2000));
		switch (callout_test_below(&n->rng, 64)) {
		case 0:
			counted_end(n, callout_work_drain(&n->p));
			break;
		case 1:
		case 2:
			schedule_timeout_uninterruptible(1);
			break;
		default:
			if (i % 2)
				counted_end(n, callout_work_stop(&n->p));
		}
	}
	counted_end(n, callout_work_drain(&n->p));
	callout_test_tell(&n->stop);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_GT(test, atomic_read(&n->runs), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&n->refs), 0);
}

/**
 * struct work_code - code of a module that may be unloaded when the code has
 * returned
 * @begun: the code has begun
 * @go: the previous handler may return
 * @done: the code is about to return
 */
struct work_code {
	bool begun;
	bool go;
	bool done;
};

/**
 * struct leaver - a callout that is freed by the code that it calls
 * @p: the callout
 * @code: the code, which outlives the callout
 */
struct leaver {
	struct callout_work p;
	struct work_code *code;
};

static void leaver_takes_time(void)
{
	if (in_task())
		msleep(20);
	else
		mdelay(20);
}

static void leaver_free(void *arg)
{
	struct leaver *l = arg;
	struct work_code *code = l->code;

	kfree(l);
	callout_test_tell(&code->begun);
	leaver_takes_time();
	callout_test_tell(&code->done);
}

static void leaver_wait(void *arg)
{
	struct leaver *l = arg;

	callout_test_tell(&l->code->begun);
	if (in_task())
		callout_test_wait_until(callout_test_told(&l->code->go));
	else
		callout_test_spin_until(callout_test_told(&l->code->go));
}

static struct work_code *work_code_create(struct kunit *test)
{
	struct work_code *code = kunit_kzalloc(test, sizeof(*code), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, code);
	return code;
}

/* Set a callout on @cpu, and wait until @func has begun. */
static struct leaver *leaver_run(struct kunit *test, struct work_code *code,
				 u8 how, callout_func_t *func, unsigned int cpu)
{
	struct leaver *l = kzalloc(sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->code = code;
	callout_work_init_as(&l->p, how);
	callout_work_reset_on(&l->p, 1, func, l, cpu);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&code->begun)));
	return l;
}

static const u8 hows[] = { 0, CALLOUT_WORK_ORDERED, CALLOUT_WORK_SOFTIRQ };

static void how_desc(const u8 *how, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s",
		 *how & CALLOUT_WORK_SOFTIRQ ? "softirq" :
		 *how & CALLOUT_WORK_ORDERED ? "ordered" : "thread");
}

KUNIT_ARRAY_PARAM(how, hows, how_desc);

/*
 * When callout_work_barrier_all() has returned, no handler that had started before
 * still runs, even if its callout has been freed.
 */
static void work_barrier_all(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct work_code *code = work_code_create(test);

	leaver_run(test, code, *(const u8 *)test->param_value, leaver_free,
		   other);
	callout_work_barrier_all();
	KUNIT_EXPECT_TRUE(test, callout_test_told(&code->done));
}

/* callout_work_barrier_all() also waits for the function of an asynchronous drain. */
static void work_barrier_all_drained(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct work_code *code = work_code_create(test);
	struct leaver *l;

	l = leaver_run(test, code, *(const u8 *)test->param_value, leaver_wait,
		       other);
	KUNIT_EXPECT_EQ(test, callout_work_async_drain(&l->p, leaver_free), 0);
	code->begun = false;
	callout_test_tell(&code->go);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&code->begun)));
	callout_work_barrier_all();
	KUNIT_EXPECT_TRUE(test, callout_test_told(&code->done));
}

static void leaver_drain(void *arg)
{
	struct leaver *l = arg;

	callout_test_tell(&l->code->begun);
	leaver_takes_time();
	callout_work_async_drain(&l->p, leaver_free);
}

/*
 * callout_work_barrier_all() also waits for the drain that a handler requests after
 * it had started.
 */
static void work_barrier_all_drains(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct work_code *code = work_code_create(test);

	leaver_run(test, code, *(const u8 *)test->param_value, leaver_drain,
		   other);
	callout_work_barrier_all();
	KUNIT_EXPECT_TRUE(test, callout_test_told(&code->done));
	callout_test_wait_until(callout_test_told(&code->done));
}

static struct kunit_case work_cases[] = {
	KUNIT_CASE_PARAM(work_row, work_row_gen_params),
	KUNIT_CASE(work_calls),
	KUNIT_CASE(work_drain_ends_it),
	KUNIT_CASE_SLOW(work_references),
	KUNIT_CASE_PARAM(work_barrier_all, how_gen_params),
	KUNIT_CASE_PARAM(work_barrier_all_drained, how_gen_params),
	KUNIT_CASE_PARAM(work_barrier_all_drains, how_gen_params),
	{}
};

static struct kunit_suite work_suite = {
	.name = "callout_work",
	.init = callout_virtual_init,
	.test_cases = work_cases,
};

kunit_test_suite(work_suite);
