// SPDX-License-Identifier: GPL-2.0
/*
 * litmus.c - suite callout_litmus: barriers of callouts, bases and handles
 *
 * Each case is the litmus test of the same name in selftests/litmus/, with the
 * module's own functions on both sides.
 */
#include <linux/callout_openbsd.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include "base/base.h"
#include "handles/hash.h"
#include "lib/kernel_table.h"
#include "lib/litmus.h"
#include "wheel/hashed_wheel.h"
#include "handles/table.h"
#include "base/tick.h"

#define SPREAD		3000U

static void nothing(void *arg)
{
}

#define MOVES		16U

/**
 * struct moved - a callout that one side moves from CPU to CPU
 * @c: the callout
 * @moves: the number of moves that the other side has seen
 */
struct moved {
	struct callout c;
	unsigned int moves;
};

static bool move_prepare(struct litmus *l)
{
	struct moved *m = l->data;

	m->moves = 0;
	return callout_reset_on(&m->c, CALLOUT_TEST_FAR, nothing, NULL,
				l->cpu[0]) >= 0;
}

static void move_move(struct litmus *l)
{
	struct moved *m = l->data;
	unsigned int i;

	for (i = 1; i <= MOVES; i++)
		l->wrong[0] += callout_reset_on(&m->c, CALLOUT_TEST_FAR,
						nothing, NULL,
						l->cpu[i % 2]) != 1;
}

static void move_lock(struct litmus *l)
{
	struct moved *m = l->data;
	unsigned int i, turns, last = U32_MAX;
	struct callout_base *base;
	unsigned long flags;

	for (i = 0; i < 4 * MOVES; i++) {
		base = co_lock(&m->c.node, &flags);
		m->moves += last != U32_MAX && base->index != last;
		last = base->index;
		for (turns = i % 64; turns; turns--)
			barrier();
		l->wrong[1] += READ_ONCE(m->c.node.cpu) != last;
		co_unlock(base, flags);
	}
}

static bool move_seen(struct litmus *l)
{
	struct moved *m = l->data;

	return m->moves;
}

static const struct litmus_ops move_ops = {
	.spread = SPREAD,
	.prepare = move_prepare,
	.side0 = move_move,
	.side1 = move_lock,
	.seen = move_seen,
};

/* A callout stays in the base that co_lock() has returned locked. */
static void litmus_move(struct kunit *test)
{
	struct moved *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	callout_init(&m->c, CALLOUT_MPSAFE);
	callout_litmus_run(test, &move_ops, m);
	callout_drain(&m->c);
}

/* A static OpenBSD timeout before its first use. */
static const struct timeout work_unused =
	CALLOUT_OPENBSD_INITIALIZER(nothing, NULL, KCLOCK_NONE,
				    TIMEOUT_PROC | TIMEOUT_MPSAFE);
static struct timeout work;
static bool work_early;

static bool work_prepare(struct litmus *l)
{
	callout_openbsd_del_barrier(&work);
	work = work_unused;
	return true;
}

static void work_add(struct litmus *l)
{
	l->wrong[0] += callout_openbsd_add(&work, HZ * 3600) != 1;
}

static void work_wait(struct litmus *l)
{
	struct callout_work *w = &work.w;

	work_early = !READ_ONCE(w->ready);
	/* As callout_work_barrier(), which then uses the callout and its work item. */
	l->wrong[1] += !callout_litmus_wait_until(smp_load_acquire(&w->ready));
	l->wrong[1] += READ_ONCE(w->work.func) != callout_work_run ||
		       w->c.node.kind != CALLOUT_KIND_FUNC;
	callout_work_barrier(w);
}

static bool work_seen(struct litmus *l)
{
	return work_early;
}

static const struct litmus_ops work_ops = {
	.spread = SPREAD,
	.prepare = work_prepare,
	.side0 = work_add,
	.side1 = work_wait,
	.seen = work_seen,
};

/* A static callout is initialised when another CPU meets its first use. */
static void litmus_work(struct kunit *test)
{
	work = work_unused;
	callout_litmus_run(test, &work_ops, NULL);
	callout_openbsd_del_barrier(&work);
}

static bool base_early;

static void base_remove(void)
{
	struct callout_base *base = callout_bases[CALLOUT_INDEX_TEST];

	if (!base)
		return;
	co_base_kill(base);
	co_base_destroy(base);
}

static bool base_prepare(struct litmus *l)
{
	base_remove();
	return true;
}

static void base_make(struct litmus *l)
{
	static const struct callout_scheme_params params = { .buckets = 16 };

	l->wrong[0] += IS_ERR(co_base_create(CALLOUT_INDEX_TEST,
					     &callout_tick_jiffies,
					     TICK_NSEC,
					     &callout_hashed_wheel,
					     &params));
}

static void base_look(struct litmus *l)
{
	struct callout_base **at = &callout_bases[CALLOUT_INDEX_TEST];
	struct callout_base *base;

	base_early = !READ_ONCE(*at);
	l->wrong[1] += !callout_litmus_wait_until(READ_ONCE(*at));
	base = READ_ONCE(*at);
	if (!base)
		return;
	co_base_lock_irq(base);
	l->wrong[1] += base->index != CALLOUT_INDEX_TEST || !base->scheme ||
		       base->armed != U64_MAX || !base->tick;
	co_base_unlock_irq(base);
}

static bool base_seen(struct litmus *l)
{
	return base_early;
}

static const struct litmus_ops base_ops = {
	.spread = SPREAD,
	.prepare = base_prepare,
	.side0 = base_make,
	.side1 = base_look,
	.seen = base_seen,
};

/* A base that is found in callout_bases[] is complete. */
static void litmus_base(struct kunit *test)
{
	callout_litmus_run(test, &base_ops, NULL);
	base_remove();
}

static struct kunit_case litmus_cases[] = {
	KUNIT_CASE(litmus_move),
	KUNIT_CASE(litmus_work),
	KUNIT_CASE(litmus_base),
	{}
};

static struct kunit_suite litmus_suite = {
	.name = "callout_litmus",
	.test_cases = litmus_cases,
};

kunit_test_suite(litmus_suite);
