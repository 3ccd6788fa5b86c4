// SPDX-License-Identifier: GPL-2.0
/*
 * handle.c - suite callout_handle: setcallout(), unsetcallout(), the table
 *
 * Nothing here waits for time to pass: see kernel_table.c.
 */
#include <linux/bottom_half.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/smp.h>
#include "lib/kernel_table.h"
#include "core/expiry.h"
#include "handles/kernel.h"

#define SLOT_MASK	(CALLOUT_GEN_ONE - 1)

static void count_handler(void *arg)
{
	atomic_t *runs = arg;

	atomic_inc(runs);
}

/* 0 is never a handle, and cancels nothing. */
static void handle_zero(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	u64 handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);

	KUNIT_EXPECT_NE(test, handle, 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(0), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout_sync(0), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
}

/* A handle cancels exactly once. */
static void handle_cancel(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	u64 handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);

	KUNIT_EXPECT_GT(test, callout_test_expires(handle),
			co_now(co_base(callout_test_slot(handle)->node.cpu)));
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
	KUNIT_EXPECT_EQ(test, callout_test_expires(handle), 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout_sync(handle), -1);
	handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, unsetcallout_sync(handle), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), 0);
}

/* A handle is stale once its callout has fired. */
static void handle_stale_after_firing(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	callout_test_expire_now(handle);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout_sync(handle), -1);
}

static unsigned int hash_count(struct callout_table *table)
{
	unsigned int count;

	mutex_lock(&table->grow);
	count = co_hash_count(&table->hash);
	mutex_unlock(&table->grow);
	return count;
}

/* untimeout() does not find a callout that has fired. */
static void handle_of_timeout_stale_after_firing(struct kunit *test)
{
	struct callout_table *table = co_kernel_table();
	/* A scheme that has a find leaves the hash empty. */
	unsigned int hashed = co_base(0)->scheme->ops->find ? 0 : 1;
	unsigned int count = hash_count(table);
	atomic_t runs = ATOMIC_INIT(0);
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	handle = callout_timeout(count_handler, &runs, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, hash_count(table), count + hashed);
	callout_test_expire_now(handle);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), 1);
	KUNIT_EXPECT_EQ(test, hash_count(table), count);
	KUNIT_EXPECT_EQ(test, callout_untimeout(count_handler, &runs), -1);
	KUNIT_EXPECT_EQ(test, callout_untimeout_handle(count_handler, &runs,
						       handle), -1);
}

/* A stale handle does not cancel the next callout of its slot (ABA). */
static void handle_stale_after_reuse(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	unsigned int i, same = 0, wrong = 0;
	u64 handle, old;

	callout_test_pin(test, raw_smp_processor_id());
	old = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, unsetcallout(old), 1);
	for (i = 0; i < 10000; i++) {
		handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
		same += (handle & SLOT_MASK) == (old & SLOT_MASK);
		wrong += handle == old;
		wrong += unsetcallout(old) != -1;
		wrong += !callout_test_expires(handle);
		wrong += unsetcallout(handle) != 1;
		old = handle;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, same, 5000);
}

/*
 * Generations of a slot increase: a stale handle does not become valid again.
 */
static void handle_never_comes_back(struct kunit *test)
{
	const unsigned int nr = 128, rounds = 200, nr_slots = 1 << 18;
	atomic_t runs = ATOMIC_INIT(0);
	unsigned int i, j, wrong = 0;
	u64 *handle, *last;
	struct rnd_state rng;

	callout_test_rng(test, &rng);
	/* On a single CPU the worker has no time to run here. */
	KUNIT_ASSERT_EQ(test, 0, callout_reserve(nr));
	handle = kunit_kcalloc(test, nr, sizeof(*handle), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, handle);
	last = kunit_kcalloc(test, nr_slots, sizeof(*last), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, last);
	for (i = 0; i < rounds * nr; i++) {
		j = callout_test_below(&rng, nr);
		if (handle[j]) {
			wrong += unsetcallout(handle[j]) != 1;
			handle[j] = 0;
			continue;
		}
		handle[j] = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
		if ((handle[j] & SLOT_MASK) >= nr_slots)
			continue;
		wrong += handle[j] <= last[handle[j] & SLOT_MASK];
		last[handle[j] & SLOT_MASK] = handle[j];
	}
	for (j = 0; j < nr; j++)
		wrong += handle[j] && unsetcallout(handle[j]) != 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

struct own {
	u64 handle;
	u64 next;
	int ret;
	int ret_untimeout;
	unsigned int runs;
};

static void own_next(void *arg)
{
}

static void own_handler(void *arg)
{
	struct own *own = arg;

	own->runs++;
	own->next = setcallout(own_next, NULL, CALLOUT_TEST_FAR);
	own->ret = unsetcallout(own->handle);
	own->ret_untimeout = callout_untimeout_handle(own_handler, own,
						      own->handle);
}

/*
 * In its handler a callout's handle counts as running, even after the handler has
 * set another callout. Afterwards it is stale.
 */
static void handle_in_its_own_handler(struct kunit *test)
{
	struct own own = {};
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	handle = setcallout(own_handler, &own, CALLOUT_TEST_FAR);
	own.handle = handle;
	callout_test_expire_now(handle);
	KUNIT_EXPECT_EQ(test, own.runs, 1);
	KUNIT_EXPECT_EQ(test, own.ret, 0);
	KUNIT_EXPECT_EQ(test, own.ret_untimeout, 0);
	KUNIT_EXPECT_NE(test, own.next & SLOT_MASK, handle & SLOT_MASK);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), -1);
	KUNIT_EXPECT_EQ(test, callout_untimeout_handle(own_handler, &own,
						       handle), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout(own.next), 1);
}

/**
 * struct reuse - two callouts; an interrupt sets a third before the second runs
 * @handle: the handles of the first two
 * @arg: the arguments of their handlers, which count their runs
 * @last: the handle of the callout that ran last
 * @work: the interrupt
 * @next: the handle of the third callout
 * @in_time: the third callout was set before the handler of the second began
 * @wrong: how often the third callout ran instead
 */
struct reuse {
	u64 handle[2];
	struct reuse_arg {
		struct reuse *r;
		unsigned int runs;
	} arg[2];
	u64 last;
	struct irq_work work;
	u64 next;
	bool in_time;
	unsigned int wrong;
};

static void reuse_wrong(void *arg)
{
	struct reuse *r = arg;

	r->wrong++;
}

static void reuse_work(struct irq_work *work)
{
	struct reuse *r = container_of(work, struct reuse, work);

	r->next = setcallout(reuse_wrong, r, CALLOUT_TEST_FAR);
}

/*
 * The first handler raises the interrupt, which comes when interrupts are on again:
 * when the base is unlocked for the second handler.
 */
static void reuse_handler(void *data)
{
	struct reuse_arg *arg = data;
	struct reuse *r = arg->r;

	arg->runs++;
	if (!r->last) {
		local_irq_disable();
		irq_work_queue(&r->work);
	} else {
		r->in_time = r->next;
	}
	r->last = r->handle[arg - r->arg];
}

/* The slot of a handler that is about to start is not reused. */
static void handle_not_reused_at_once(struct kunit *test)
{
	struct reuse *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct callout_base *base;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, r);
	callout_test_need_interrupts(test);
	callout_test_pin(test, raw_smp_processor_id());
	r->work = IRQ_WORK_INIT_HARD(reuse_work);
	for (i = 0; i < 2; i++) {
		r->arg[i].r = r;
		r->handle[i] = setcallout(reuse_handler, &r->arg[i], CALLOUT_TEST_FAR);
	}
	base = co_base(callout_test_slot(r->handle[0])->node.cpu);
	local_bh_disable();
	for (i = 0; i < 2; i++)
		callout_test_move_to_past(r->handle[i]);
	while (co_expire(base))
		;
	local_bh_enable();
	irq_work_sync(&r->work);
	KUNIT_EXPECT_EQ(test, r->arg[0].runs, 1);
	KUNIT_EXPECT_EQ(test, r->arg[1].runs, 1);
	KUNIT_EXPECT_EQ(test, r->wrong, 0);
	/* Otherwise the case would have shown nothing. */
	KUNIT_EXPECT_TRUE(test, r->in_time);
	KUNIT_EXPECT_NE(test, r->next & SLOT_MASK, r->last & SLOT_MASK);
	KUNIT_EXPECT_EQ(test, unsetcallout(r->next), 1);
}

/* All bits of a handle count: flipping one or two makes it stale. */
static void handle_forged_bits(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	unsigned int bit, bit2, wrong = 0;
	u64 handle;

	handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	for (bit = 0; bit < 64; bit++) {
		wrong += unsetcallout(handle ^ BIT_ULL(bit)) != -1;
		wrong += unsetcallout_sync(handle ^ BIT_ULL(bit)) != -1;
		for (bit2 = 0; bit2 < bit; bit2++)
			wrong += unsetcallout(handle ^ BIT_ULL(bit) ^
					      BIT_ULL(bit2)) != -1;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
}

/* Slot numbers beyond the chunk or the directory are stale handles. */
static void handle_forged_slots(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	u32 slot, step = 1;
	unsigned int wrong = 0;
	u64 handle;

	handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	for (slot = 0; slot < CALLOUT_GEN_ONE; slot += step) {
		if (slot == 1 << 16)
			step = 61;
		if (slot != (handle & SLOT_MASK))
			wrong += unsetcallout((handle & ~SLOT_MASK) | slot) !=
				 -1;
	}
	wrong += unsetcallout(handle | SLOT_MASK) != -1;
	wrong += unsetcallout(U64_MAX) != -1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
}

/* Random numbers cancel none of many outstanding callouts. */
static void handle_random_numbers(struct kunit *test)
{
	const unsigned int nr = 1000, tries = 100000;
	atomic_t runs = ATOMIC_INIT(0);
	unsigned int i, wrong = 0;
	struct rnd_state rng;
	u64 *handle, forged;

	callout_test_rng(test, &rng);
	handle = kunit_kcalloc(test, nr, sizeof(*handle), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, handle);
	KUNIT_ASSERT_EQ(test, callout_reserve(nr), 0);
	for (i = 0; i < nr; i++) {
		handle[i] = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
		wrong += !handle[i];
	}
	for (i = 0; i < tries; i++) {
		forged = (u64)prandom_u32_state(&rng) << 32 |
			 prandom_u32_state(&rng);
		/* Every other number names a slot that is in use. */
		if (i & 1)
			forged = (forged & ~SLOT_MASK) |
				 (handle[i % nr] & SLOT_MASK);
		if (forged >> CALLOUT_SLOT_BITS ==
		    handle[i % nr] >> CALLOUT_SLOT_BITS)
			continue;
		wrong += unsetcallout(forged) != -1;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	for (i = 0; i < nr; i++)
		wrong += unsetcallout(handle[i]) != 1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), 0);
}

/* Set the generation of a live callout's slot. */
static u64 set_generation(u64 handle, u64 generation)
{
	struct callout_slot *slot = callout_test_slot(handle);
	struct callout_base *base = co_base(slot->node.cpu);

	raw_spin_lock_irq(&base->lock);
	slot->handle = generation << CALLOUT_SLOT_BITS | (handle & SLOT_MASK);
	handle = slot->handle;
	raw_spin_unlock_irq(&base->lock);
	return handle;
}

static bool slot_comes_back(u64 handle)
{
	atomic_t runs = ATOMIC_INIT(0);
	unsigned int i;
	u64 h[8];
	bool back = false;
	int j;

	for (i = 0; i < 1000; i++) {
		for (j = 0; j < ARRAY_SIZE(h); j++) {
			h[j] = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
			back |= (h[j] & SLOT_MASK) == (handle & SLOT_MASK);
		}
		for (j = 0; j < ARRAY_SIZE(h); j++)
			unsetcallout(h[j]);
	}
	return back;
}

/* A slot is retired after its last generation, so that none wraps. */
static void handle_generation_ends(struct kunit *test)
{
	struct callout_table *table = co_kernel_table();
	int retired = atomic_read(&table->retired);
	atomic_t runs = ATOMIC_INIT(0);
	u64 handle, next;

	callout_test_pin(test, raw_smp_processor_id());
	handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	handle = set_generation(handle, CALLOUT_GEN_MAX - 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&table->retired), retired);
	/* The greatest generation is used, and is the last one. */
	next = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	KUNIT_ASSERT_EQ(test, next, handle + CALLOUT_GEN_ONE);
	KUNIT_EXPECT_EQ(test, next >> CALLOUT_SLOT_BITS, CALLOUT_GEN_MAX);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout(next), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&table->retired), retired + 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(next), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout(next & SLOT_MASK), -1);
	KUNIT_EXPECT_FALSE(test, slot_comes_back(next));

	/* A slot is also retired when its callout fires. */
	handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	handle = set_generation(handle, CALLOUT_GEN_MAX);
	callout_test_expire_now(handle);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&table->retired), retired + 2);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), -1);
	KUNIT_EXPECT_FALSE(test, slot_comes_back(handle));
}

struct hardirq {
	struct irq_work work;
	atomic_t runs;
	u64 cancel;
	u64 handle[3];
	int ret[3];
	bool in_hardirq;
	bool irqs_off;
};

static void hardirq_body(struct hardirq *h)
{
	h->in_hardirq = in_hardirq();
	h->irqs_off = irqs_disabled();
	h->ret[0] = unsetcallout(h->cancel);
	h->ret[1] = unsetcallout(h->cancel);
	h->handle[0] = setcallout(count_handler, &h->runs, CALLOUT_TEST_FAR);
	h->handle[1] = setcallout(count_handler, &h->runs, CALLOUT_TEST_FAR);
	h->ret[2] = unsetcallout(h->handle[1]);
	h->handle[2] = callout_timeout(count_handler, &h->runs, CALLOUT_TEST_FAR);
}

static void hardirq_check(struct kunit *test, struct hardirq *h)
{
	KUNIT_EXPECT_TRUE(test, h->irqs_off);
	/* A CPU that leaves idle runs such work before the interrupt. */
	if (!h->in_hardirq)
		kunit_info(test, "not run in a hard interrupt\n");
	KUNIT_EXPECT_EQ(test, h->ret[0], 1);
	KUNIT_EXPECT_EQ(test, h->ret[1], -1);
	KUNIT_EXPECT_EQ(test, h->ret[2], 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(h->handle[0]), 1);
	KUNIT_EXPECT_EQ(test, callout_untimeout(count_handler, &h->runs), 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(h->handle[2]), -1);
	KUNIT_EXPECT_EQ(test, atomic_read(&h->runs), 0);
}

static void hardirq_ipi(void *arg)
{
	hardirq_body(arg);
}

static void hardirq_work(struct irq_work *work)
{
	hardirq_body(container_of(work, struct hardirq, work));
}

/* Handles can be set and cancelled in hard interrupts. */
static void handle_in_hardirq(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct hardirq *h;

	h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, h);
	h->cancel = setcallout(count_handler, &h->runs, CALLOUT_TEST_FAR);
	KUNIT_ASSERT_EQ(test, 0,
			smp_call_function_single(other, hardirq_ipi, h, true));
	KUNIT_EXPECT_EQ(test, callout_test_slot(h->handle[0])->node.cpu, other);
	hardirq_check(test, h);

	h->cancel = setcallout(count_handler, &h->runs, CALLOUT_TEST_FAR);
	h->work = IRQ_WORK_INIT_HARD(hardirq_work);
	KUNIT_ASSERT_TRUE(test, irq_work_queue(&h->work));
	irq_work_sync(&h->work);
	hardirq_check(test, h);
}

struct elsewhere {
	u64 handle;
	bool runs;
	bool go;
	bool returns;
	int ret;
	bool too_soon;
};

static void elsewhere_handler(void *arg)
{
	struct elsewhere *e = arg;

	callout_test_tell(&e->runs);
	callout_test_spin_until(READ_ONCE(e->go));
	callout_test_tell(&e->returns);
}

static void elsewhere_softirq(void *arg)
{
	struct elsewhere *e = arg;

	e->handle = setcallout(elsewhere_handler, e, CALLOUT_TEST_FAR);
	callout_test_expire_now(e->handle);
}

static void elsewhere_canceller(void *arg)
{
	struct elsewhere *e = arg;

	e->ret = unsetcallout_sync(e->handle);
	e->too_soon = !callout_test_told(&e->returns);
}

/*
 * For a callout that runs on another CPU unsetcallout() returns 0;
 * unsetcallout_sync() waits first.
 */
static void handle_running_elsewhere(struct kunit *test)
{
	struct callout_test_thread *softirq, *canceller;
	unsigned int other = callout_test_pin_one(test);
	struct callout_base *base = co_base(other);
	struct elsewhere *e;

	e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e);
	e->ret = -100;
	softirq = callout_test_thread(test, other, elsewhere_softirq, e);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_spin_until(callout_test_told(&e->runs)));
	KUNIT_EXPECT_EQ(test, unsetcallout(e->handle), 0);
	KUNIT_EXPECT_EQ(test, callout_untimeout_handle(elsewhere_handler, e,
						       e->handle), 0);
	KUNIT_EXPECT_EQ(test, callout_untimeout_handle(count_handler, e,
						       e->handle), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout(e->handle ^ CALLOUT_GEN_ONE), -1);
	KUNIT_EXPECT_EQ(test, unsetcallout(e->handle + CALLOUT_GEN_ONE), -1);
	canceller = callout_test_thread(test, raw_smp_processor_id(),
					elsewhere_canceller, e);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(base->waiters)));
	KUNIT_EXPECT_EQ(test, READ_ONCE(e->ret), -100);
	WRITE_ONCE(e->go, true);
	KUNIT_ASSERT_TRUE(test, callout_test_join(softirq));
	KUNIT_ASSERT_TRUE(test, callout_test_join(canceller));
	KUNIT_EXPECT_EQ(test, e->ret, 0);
	KUNIT_EXPECT_FALSE(test, e->too_soon);
	KUNIT_EXPECT_EQ(test, unsetcallout(e->handle), -1);
	KUNIT_EXPECT_EQ(test, base->waiters, 0);
}

static struct kunit_case handle_cases[] = {
	KUNIT_CASE(handle_zero),
	KUNIT_CASE(handle_cancel),
	KUNIT_CASE(handle_stale_after_firing),
	KUNIT_CASE(handle_of_timeout_stale_after_firing),
	KUNIT_CASE(handle_stale_after_reuse),
	KUNIT_CASE(handle_never_comes_back),
	KUNIT_CASE(handle_in_its_own_handler),
	KUNIT_CASE(handle_not_reused_at_once),
	KUNIT_CASE(handle_forged_bits),
	KUNIT_CASE(handle_forged_slots),
	KUNIT_CASE(handle_random_numbers),
	KUNIT_CASE(handle_generation_ends),
	KUNIT_CASE(handle_in_hardirq),
	KUNIT_CASE(handle_running_elsewhere),
	{}
};

static struct kunit_suite handle_suite = {
	.name = "callout_handle",
	.test_cases = handle_cases,
};

kunit_test_suite(handle_suite);
