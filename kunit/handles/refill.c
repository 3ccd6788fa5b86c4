// SPDX-License-Identifier: GPL-2.0
/*
 * refill.c - suite callout_refill: when the kernel's table grows
 *
 * A caller that finds few free slots, or none, wakes a worker that adds some.
 */
#include <kunit/static_stub.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include "handles/kernel.h"
#include "lib/kernel_table.h"
#include "lib/stock.h"

/* Try to set @n callouts. Return how often that wakes the worker, which sleeps. */
static int refill_wakes(struct callout_stock *s, unsigned int n)
{
	void (*wake)(struct irq_work *) = callout_refill_irq_work.func;
	int asked;

	callout_test_set_asking(callout_test_count_asking);
	atomic_set(&callout_test_asked, 0);
	while (n--)
		callout_stock_take(s, 1);
	irq_work_sync(&callout_refill_irq_work);
	asked = atomic_read(&callout_test_asked);
	callout_test_set_asking(wake);
	/* Don't lose the request. */
	wake(&callout_refill_irq_work);
	return asked;
}

/* The worker is woken once, not by each call that finds few slots. */
static void refill_asks_once(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();
	struct callout_stock *s;

	callout_test_pin(test, cpu);
	s = callout_stock_create(test, false);
	if (callout_test_free_slots(cpu) > CALLOUT_LOW_WATER)
		callout_stock_take(s, callout_test_free_slots(cpu) - CALLOUT_LOW_WATER);
	KUNIT_EXPECT_LE(test, refill_wakes(s, 100), 2);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_free_slots(cpu) >=
						  CALLOUT_LOW_WATER));

	callout_stock_limit(0);
	KUNIT_EXPECT_LE(test, refill_wakes(s, callout_stock_free() + 1), 1);
	KUNIT_EXPECT_EQ(test, setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR), 0);
	/* The table grows as soon as it may. */
	callout_stock_limit(s->max_chunks);
	KUNIT_EXPECT_EQ(test, callout_stock_give(s, 1), 0);
	callout_stock_take(s, 1);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_free_slots(cpu) >=
						  CALLOUT_LOW_WATER));
}

/* Run the stock's worker if it has been asked for. */
static void refill_settle(void)
{
	irq_work_sync(&callout_refill_irq_work);
	flush_work(&callout_refill_work);
}

/* At the limit the worker is not asked, although it has run since the last request. */
static void refill_asks_nothing_at_the_limit(struct kunit *test)
{
	struct callout_stock *s;

	callout_test_pin(test, raw_smp_processor_id());
	s = callout_stock_create(test, true);
	refill_settle();
	callout_refill_work.func(&callout_refill_work);
	KUNIT_EXPECT_EQ(test, refill_wakes(s, callout_stock_free() + 1), 0);
	KUNIT_EXPECT_EQ(test, setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR), 0);
}

/* The worker adds nothing where there is enough, however often it runs. */
static void refill_adds_once(struct kunit *test)
{
	unsigned int chunks;

	refill_settle();
	callout_refill_work.func(&callout_refill_work);
	chunks = co_kernel_table()->nr_chunks;
	callout_refill_work.func(&callout_refill_work);
	KUNIT_EXPECT_EQ(test, co_kernel_table()->nr_chunks, chunks);
}

/* The worker is asked for a hash that wants to grow, although slots are free. */
static void refill_asks_for_the_hash(struct kunit *test)
{
	struct callout_hash *hash = &co_kernel_table()->hash;
	void (*wake)(struct irq_work *) = callout_refill_irq_work.func;
	unsigned int grow_at, i;
	callout_handle_t handle[2];

	if (co_base(0)->scheme->ops->find)
		kunit_skip(test, "needs the hash");
	callout_test_pin(test, raw_smp_processor_id());
	KUNIT_ASSERT_EQ(test, callout_reserve(2 * CALLOUT_LOW_WATER), 0);
	refill_settle();
	callout_refill_work.func(&callout_refill_work);
	callout_test_set_asking(callout_test_count_asking);
	atomic_set(&callout_test_asked, 0);
	grow_at = hash->grow_at;
	WRITE_ONCE(hash->grow_at, 1);
	/* Two in one bucket: it is crowded. */
	for (i = 0; i < 2; i++)
		handle[i] = callout_timeout(callout_stock_handler, hash, CALLOUT_TEST_FAR);
	irq_work_sync(&callout_refill_irq_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&callout_test_asked), 1);
	WRITE_ONCE(hash->grow_at, grow_at);
	callout_test_set_asking(wake);
	/* Don't lose the request. */
	wake(&callout_refill_irq_work);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, unsetcallout(handle[i]), 1);
}

/* Counts the worker's calls to make the hash grow, and the calls without the table's lock. */
static unsigned int growths, growths_unlocked;

static bool note_growth(struct callout_hash *hash, unsigned int bits, gfp_t gfp)
{
	growths++;
	growths_unlocked += !mutex_is_locked(&co_kernel_table()->grow);
	return false;
}

/* The hash grows under the table's lock, as the table does. */
static void refill_hash_grows_under_the_lock(struct kunit *test)
{
	struct callout_hash *hash = &co_kernel_table()->hash;
	unsigned int grow_at;

	refill_settle();
	grow_at = hash->grow_at;
	growths = 0;
	growths_unlocked = 0;
	kunit_activate_static_stub(test, co_hash_grow_begin, note_growth);
	/* As if the hash had slots for more buckets than it can have. */
	atomic_add(1 << 24, &hash->crowded);
	callout_refill_work.func(&callout_refill_work);
	atomic_sub(1 << 24, &hash->crowded);
	WRITE_ONCE(hash->grow_at, grow_at);
	kunit_deactivate_static_stub(test, co_hash_grow_begin);
	KUNIT_EXPECT_EQ(test, growths, 1);
	KUNIT_EXPECT_EQ(test, growths_unlocked, 0);
}

enum want_context {
	WANT_THREAD,
	WANT_IRQS_OFF,
	WANT_SOFTIRQ,
	WANT_INTERRUPT,
};

/**
 * struct want - a call that takes a free slot
 * @name: for messages
 * @set: sets a callout; returns the handle, or 0
 * @context: the context in which @set is called
 */
struct want {
	const char *name;
	u64 (*set)(unsigned int other);
	enum want_context context;
};

static u64 want_set(unsigned int other)
{
	return setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
}

static u64 want_set_on(unsigned int other)
{
	return setcallout_on(callout_stock_handler, NULL, CALLOUT_TEST_FAR, other);
}

static u64 want_timeout(unsigned int other)
{
	return callout_timeout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
}

static const struct want wants[] = {
	{ "setcallout", want_set, WANT_THREAD },
	{ "setcallout_on", want_set_on, WANT_THREAD },
	{ "timeout", want_timeout, WANT_THREAD },
	{ "setcallout, interrupts off", want_set, WANT_IRQS_OFF },
	{ "setcallout_on, interrupts off", want_set_on, WANT_IRQS_OFF },
	{ "timeout, interrupts off", want_timeout, WANT_IRQS_OFF },
	{ "setcallout in a handler", want_set, WANT_SOFTIRQ },
	{ "setcallout in an interrupt", want_set, WANT_INTERRUPT },
	{ "setcallout_on in an interrupt", want_set_on, WANT_INTERRUPT },
	{ "timeout in an interrupt", want_timeout, WANT_INTERRUPT },
};

/**
 * struct wanting - a call that wants a free slot
 * @want: the call
 * @other: a CPU that is not the case's
 * @handle: the return value of the call
 * @c: for a handler
 */
struct wanting {
	const struct want *want;
	unsigned int other;
	u64 handle;
	struct callout c;
};

static void want_call(void *arg)
{
	struct wanting *w = arg;

	w->handle = w->want->set(w->other);
}

static u64 want_slot(struct wanting *w)
{
	switch (w->want->context) {
	case WANT_THREAD:
		want_call(w);
		break;
	case WANT_IRQS_OFF:
		local_irq_disable();
		want_call(w);
		local_irq_enable();
		break;
	case WANT_SOFTIRQ:
		callout_reset(&w->c, 1, want_call, w);
		callout_test_wait_until(!callout_pending(&w->c));
		callout_drain(&w->c);
		break;
	case WANT_INTERRUPT:
		smp_call_function_single(w->other, want_call, w, true);
		break;
	}
	return w->handle;
}

/*
 * A setting that fails since no slot is free makes the table grow, if it may grow:
 * the next setting finds a slot. This holds for each setting that fails, however
 * often the worker has run before.
 */
static void refill_grows_when_a_setting_fails(struct kunit *test)
{
	unsigned int i, free;
	struct wanting *w;
	struct callout_stock *s;

	w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w);
	w->other = callout_test_pin_one(test);
	callout_init(&w->c, CALLOUT_MPSAFE);
	s = callout_stock_create(test, true);
	for (i = 0; i < ARRAY_SIZE(wants); i++) {
		w->want = &wants[i];
		callout_stock_limit(0);
		callout_stock_take(s, CALLOUT_STOCK_MOST);
		refill_settle();
		/* At the limit the setting fails, and nothing grows. */
		KUNIT_EXPECT_EQ_MSG(test, want_slot(w), 0, "%s", w->want->name);
		refill_settle();
		KUNIT_EXPECT_EQ_MSG(test, callout_stock_free(), 0, "%s", w->want->name);
		callout_stock_limit(co_kernel_table()->nr_chunks + 8);
		KUNIT_EXPECT_EQ_MSG(test, want_slot(w), 0, "%s", w->want->name);
		refill_settle();
		free = callout_stock_free();
		KUNIT_EXPECT_GT_MSG(test, free, 0, "%s", w->want->name);
		KUNIT_EXPECT_NE_MSG(test, want_slot(w), 0, "%s", w->want->name);
		KUNIT_EXPECT_EQ_MSG(test, unsetcallout(w->handle), 1, "%s",
				    w->want->name);
	}
}

/* Moving a callout takes no slot: with none free it succeeds, and nothing grows. */
static void refill_is_not_needed_to_move(struct kunit *test)
{
	struct callout_stock *s;
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	s = callout_stock_create(test, true);
	handle = setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
	callout_stock_take(s, CALLOUT_STOCK_MOST);
	refill_settle();
	callout_stock_limit(s->max_chunks);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 2 * CALLOUT_TEST_FAR), 1);
	refill_settle();
	KUNIT_EXPECT_EQ(test, callout_stock_free(), 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
}

static struct kunit_case refill_cases[] = {
	KUNIT_CASE(refill_asks_once),
	KUNIT_CASE(refill_adds_once),
	KUNIT_CASE(refill_asks_for_the_hash),
	KUNIT_CASE(refill_asks_nothing_at_the_limit),
	KUNIT_CASE(refill_hash_grows_under_the_lock),
	KUNIT_CASE(refill_grows_when_a_setting_fails),
	KUNIT_CASE(refill_is_not_needed_to_move),
	{}
};

static struct kunit_suite refill_suite = {
	.name = "callout_refill",
	.test_cases = refill_cases,
};

kunit_test_suite(refill_suite);
