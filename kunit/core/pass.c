// SPDX-License-Identifier: GPL-2.0
/*
 * pass.c - suite callout_pass: how many callouts of each kind one softirq runs
 *
 * The case acts as the softirq, on its own CPU. The callouts are of one kind. They are
 * set for later, and the case then moves them to the past. Jiffies stand still, as on
 * an idle CPU, or change in a handler: nothing depends on time.
 */
#include <linux/bottom_half.h>
#include <linux/callout_timer_types.h>
#include <linux/callout_work.h>
#include <linux/err.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <uapi/linux/callout.h>
#include "core/queue.h"
#include "device/ctx.h"
#include "device/file.h"
#include "device/named.h"
#include "device/key.h"
#include "device/set.h"
#include "core/expiry.h"
#include "lib/kernel_table.h"

/* As many as three softirqs run, and one more. */
#define MANY	(3 * CALLOUT_MAX_HANDLERS + 1)

struct pass;

/**
 * struct pass_kind - a kind of callouts
 * @name: name for the log
 * @set: sets a callout for a far tick; returns its node
 * @how: argument of @set
 * @more: a softirq may exceed the limit by this number: one hold of the lock takes
 *	several callouts
 */
struct pass_kind {
	const char *name;
	struct callout_node *(*set)(struct pass *p, unsigned int i);
	unsigned int how;
	unsigned int more;
};

/**
 * struct pass_one - a callout of any kind
 * @c: if it is a struct callout
 * @t: if it is a timer of linux/timer.h
 * @w: if its handler may sleep
 * @handle: the handle, if it is a callout set by handle
 * @node: the node that the base queues
 */
struct pass_one {
	union {
		struct callout c;
		struct callout_timer t;
		struct callout_work w;
		u64 handle;
	};
	struct callout_node *node;
};

/**
 * struct pass - callouts that are due together, and the jiffies of their base
 * @test: the case
 * @kind: kind of the callouts
 * @base: base of the callouts
 * @real: the base's own source of jiffies
 * @jiffies: the jiffies that the base uses instead
 * @passes: a jiffy passes in each handler
 * @ran: handlers that have run
 * @file: the file, for the device's callouts
 * @wait: for @passes: woken by the device's callouts
 * @lock: the associated lock
 * @one: the callouts
 */
struct pass {
	struct kunit *test;
	const struct pass_kind *kind;
	struct callout_base *base;
	const u64 *real;
	u64 jiffies;
	bool passes;
	unsigned int ran;
	struct callout_file *file;
	struct wait_queue_entry wait;
	spinlock_t lock;	/* taken around the handler */
	struct pass_one one[MANY];
};

/* For timers, which have no argument. */
static struct pass *the_pass;

static void pass_handler(void *arg)
{
	struct pass *p = arg;

	p->jiffies += p->passes;
	p->ran++;
}

static void pass_timer(struct callout_timer *t)
{
	pass_handler(the_pass);
}

static void pass_nothing(void *arg)
{
}

static int pass_woken(struct wait_queue_entry *wait, unsigned int mode, int flags,
		      void *key)
{
	pass_handler(container_of(wait, struct pass, wait));
	return 0;
}

/* @how: flags of callout_init_mtx(). */
static struct callout_node *set_locked(struct pass *p, unsigned int i)
{
	struct callout *c = &p->one[i].c;

	callout_init_mtx(c, &p->lock, p->kind->how);
	spin_lock_bh(&p->lock);
	callout_reset(c, CALLOUT_TEST_FAR, pass_handler, p);
	spin_unlock_bh(&p->lock);
	return &c->node;
}

/* @how: is it MP safe? */
static struct callout_node *set_plain(struct pass *p, unsigned int i)
{
	struct callout *c = &p->one[i].c;

	callout_init(c, p->kind->how);
	callout_reset(c, CALLOUT_TEST_FAR, pass_handler, p);
	return &c->node;
}

/* The callout's time has come or, with @how, has not come, and the callout is queued again. */
static struct callout_node *set_for_time(struct pass *p, unsigned int i)
{
	struct callout *c = &p->one[i].c;

	callout_init(c, CALLOUT_MPSAFE);
	callout_reset_sbt(c, 24 * 60 * SBT_1M, 0, pass_handler, p, 0);
	if (!p->kind->how)
		c->node.time = 1;
	return &c->node;
}

/* @how: can it be found by its function and argument? */
static struct callout_node *set_handle(struct pass *p, unsigned int i)
{
	u64 *handle = &p->one[i].handle;

	*handle = p->kind->how ?
		  callout_timeout(pass_handler, p, CALLOUT_TEST_FAR) :
		  setcallout(pass_handler, p, CALLOUT_TEST_FAR);
	KUNIT_ASSERT_NE(p->test, *handle, 0);
	return &callout_test_slot(*handle)->node;
}

/* @how: TIMER_PINNED and so on. */
static struct callout_node *set_timer(struct pass *p, unsigned int i)
{
	static struct lock_class_key key;
	struct callout_timer *t = &p->one[i].t;

	callout_timer_init_key(t, pass_timer, p->kind->how, "pass", &key);
	callout_timer_mod(t, jiffies + CALLOUT_TEST_FAR);
	/* For tick sources other than jiffies. */
	t->node.time = 0;
	return &t->node;
}

/* @how: CALLOUT_WORK_ORDERED and so on. */
static struct callout_node *set_work(struct pass *p, unsigned int i)
{
	struct callout_work *w = &p->one[i].w;

	callout_work_init_as(w, p->kind->how);
	callout_work_reset(w, CALLOUT_TEST_FAR,
			   p->kind->how & CALLOUT_WORK_SOFTIRQ ? pass_handler :
								 pass_nothing, p);
	return &w->c.node;
}

/* How an event's callout can be found; an early event is queued again. */
enum pass_event {
	EVENT,
	EVENT_HASHED,
	EVENT_KEYED,
	EVENT_EARLY,
};

static struct callout_node *set_event(struct pass *p, unsigned int i)
{
	struct callout_op_ctx ctx = {};
	struct callout_op op = {
		.op = p->kind->how == EVENT_HASHED ? CALLOUT_OP_TIMEOUT :
						     CALLOUT_OP_SET,
		.clockid = CLOCK_MONOTONIC,
		.time = 24 * 3600 * NSEC_PER_SEC,
		.key = i,
	};
	struct callout_slot *slot;
	u64 handle;
	int ret;

	if (p->kind->how == EVENT_KEYED) {
		op.flags = CALLOUT_OPF_KEY;
		ret = co_file_set_key(p->file, &op, &ctx);
	} else {
		ret = co_file_set(p->file, &op, &ctx);
	}
	handle = op.handle;
	co_ctx_flush(p->file, &ctx);
	KUNIT_ASSERT_EQ(p->test, ret, 0);
	if (p->kind->how == EVENT_KEYED)
		handle = co_file_find(p->file, CALLOUT_KEY_FUNC, i);
	KUNIT_ASSERT_NE(p->test, handle, 0);
	slot = co_table_lookup(&p->file->table, handle);
	if (p->kind->how != EVENT_EARLY)
		slot->due = 1;
	return &slot->node;
}

#define HOLD	(CALLOUT_BUDGET - 1)

static const struct pass_kind kinds[] = {
	{ "callout", set_plain, CALLOUT_MPSAFE },
	{ "callout, Giant", set_plain, 0 },
	{ "callout, lock", set_locked, 0 },
	{ "callout, lock tried", set_locked, CALLOUT_TRYLOCK },
	{ "callout, time", set_for_time },
	{ "handle", set_handle },
	{ "handle, hashed", set_handle, true },
	{ "timer", set_timer },
	{ "timer, pinned", set_timer, TIMER_PINNED },
	{ "timer, deferrable", set_timer, TIMER_DEFERRABLE },
	{ "timer, interrupts off", set_timer, TIMER_IRQSAFE },
	{ "work, softirq", set_work, CALLOUT_WORK_SOFTIRQ },
	{ "work, Giant", set_work, CALLOUT_WORK_SOFTIRQ | CALLOUT_WORK_GIANT },
	{ "event", set_event, EVENT, HOLD },
	{ "event, hashed", set_event, EVENT_HASHED, HOLD },
	{ "event, keyed", set_event, EVENT_KEYED, HOLD },
};

/* The softirq calls no handler of these kinds: a thread does, or the callout is early. */
static const struct pass_kind quiet_kinds[] = {
	{ "callout, early", set_for_time, true },
	{ "work", set_work },
	{ "work, ordered", set_work, CALLOUT_WORK_ORDERED },
	{ "event, early", set_event, EVENT_EARLY, HOLD },
};

static void kind_desc(const struct pass_kind *kind, char *desc)
{
	strscpy(desc, kind->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_desc);
KUNIT_ARRAY_PARAM(quiet, quiet_kinds, kind_desc);

static void pass_end_one(struct pass *p, struct pass_one *one)
{
	if (!one->node || p->file)
		return;
	if (p->kind->set == set_timer)
		callout_timer_shutdown_sync(&one->t);
	else if (p->kind->set == set_work)
		callout_work_drain(&one->w);
	else if (p->kind->set == set_handle)
		unsetcallout_sync(one->handle);
	else
		callout_drain(&one->c);
}

static void pass_end(void *data)
{
	struct pass *p = data;
	unsigned int i;

	if (p->base) {
		co_base_lock_irq(p->base);
		p->base->jiffies = p->real;
		co_base_unlock_irq(p->base);
	}
	for (i = 0; i < MANY; i++)
		pass_end_one(p, &p->one[i]);
	if (p->file) {
		remove_wait_queue(&p->file->wait, &p->wait);
		co_file_destroy(p->file);
	}
}

static void pass_open(struct pass *p)
{
	struct callout_file *file = co_file_create();

	KUNIT_ASSERT_FALSE(p->test, IS_ERR(file));
	p->file = file;
	init_waitqueue_func_entry(&p->wait, pass_woken);
	add_wait_queue(&file->wait, &p->wait);
}

/* Set all callouts in one base, whose jiffies stand still. */
static struct pass *pass_create(struct kunit *test)
{
	struct pass *p = callout_test_vcalloc(test, 1, sizeof(*p));
	unsigned int i;

	p->test = test;
	p->kind = test->param_value;
	spin_lock_init(&p->lock);
	the_pass = p;
	callout_test_pin(test, raw_smp_processor_id());
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, pass_end, p));
	if (p->kind->set == set_event)
		pass_open(p);
	if (p->kind->set == set_handle)
		KUNIT_ASSERT_EQ(test, 0, callout_reserve(MANY));
	for (i = 0; i < MANY; i++)
		p->one[i].node = p->kind->set(p, i);
	p->base = co_base(p->one[0].node->cpu);
	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_EQ(test, p->one[i].node->cpu, p->base->index);
	co_base_lock_irq(p->base);
	p->real = p->base->jiffies;
	p->jiffies = *p->real;
	p->base->jiffies = &p->jiffies;
	co_base_unlock_irq(p->base);
	return p;
}

/* Make all callouts due. Nothing wakes the base. */
static void pass_make_due(struct pass *p)
{
	struct callout_scheme *s = p->base->scheme;
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		co_base_lock_irq(p->base);
		co_scheme_move(s, p->one[i].node, co_now(p->base), 0);
		co_base_unlock_irq(p->base);
	}
}

/* Return how many callouts have run, or were queued again for later or for another try. */
static unsigned int pass_done(struct pass *p)
{
	unsigned int i, n = 0;

	for (i = 0; i < MANY; i++) {
		struct callout_node *node = p->one[i].node;

		n += !(node->state & CALLOUT_S_PENDING) || node->expires;
	}
	return n;
}

/* Run all callouts, in as many softirqs as needed. Return the most that one softirq has run. */
static unsigned int pass_most(struct pass *p, unsigned int *passes)
{
	unsigned int before = 0, done, most = 0;
	bool more;

	*passes = 0;
	local_bh_disable();
	pass_make_due(p);
	do {
		more = co_expire(p->base);
		done = pass_done(p);
		most = max(most, done - before);
		before = done;
		++*passes;
	} while (more && *passes < 2 * MANY);
	local_bh_enable();
	KUNIT_EXPECT_EQ(p->test, done, MANY);
	return most;
}

static void pass_expect_bounds(struct kunit *test)
{
	struct pass *p = pass_create(test);
	unsigned int most, passes;

	most = pass_most(p, &passes);
	KUNIT_EXPECT_LE(test, most, CALLOUT_MAX_HANDLERS + p->kind->more);
	/* And not fewer. */
	KUNIT_EXPECT_GE(test, most, CALLOUT_MAX_HANDLERS);
	KUNIT_EXPECT_LE(test, passes, 5);
}

/* While jiffies stand still one softirq runs CALLOUT_MAX_HANDLERS callouts of any kind. */
static void pass_is_bounded(struct kunit *test)
{
	pass_expect_bounds(test);
}

/* The bound also holds where the softirq calls no handler. */
static void pass_is_bounded_quiet(struct kunit *test)
{
	pass_expect_bounds(test);
}

/* A softirq ends with the handler, or the hold, in which a jiffy passes, except on PREEMPT_RT. */
static void pass_ends_with_time(struct kunit *test)
{
	struct pass *p = pass_create(test);
	unsigned int done, ran;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	p->passes = true;
	local_bh_disable();
	pass_make_due(p);
	co_expire(p->base);
	done = pass_done(p);
	ran = p->ran;
	p->passes = false;
	while (co_expire(p->base))
		;
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, ran, 1);
	KUNIT_EXPECT_GE(test, done, 1);
	KUNIT_EXPECT_LE(test, done, 1 + p->kind->more);
}

static struct kunit_case pass_cases[] = {
	KUNIT_CASE_PARAM(pass_is_bounded, kind_gen_params),
	KUNIT_CASE_PARAM(pass_is_bounded_quiet, quiet_gen_params),
	KUNIT_CASE_PARAM(pass_ends_with_time, kind_gen_params),
	{}
};

static struct kunit_suite pass_suite = {
	.name = "callout_pass",
	.test_cases = pass_cases,
};

kunit_test_suite(pass_suite);
