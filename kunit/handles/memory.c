// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - suite callout_memory: allocations that fail
 *
 * These are allocations that the job "faults" does not reach: the kernel injects no
 * fault into per-CPU memory, nor into a worker or a call of kernel code. The
 * functions that allocate are replaced in the case's thread.
 */
#include <kunit/static_stub.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "lib/common.h"
#include "device/file.h"
#include "lib/hash_model.h"
#include "lib/kernel_table.h"

static struct callout_pool __percpu *no_pools(gfp_t gfp)
{
	return NULL;
}

/* An open that has no memory for pools leaves nothing behind, and the next open succeeds. */
static void memory_of_a_file(struct kunit *test)
{
	struct callout_file *file;

	kunit_activate_static_stub(test, co_pools_alloc, no_pools);
	file = co_file_create();
	kunit_deactivate_static_stub(test, co_pools_alloc);
	KUNIT_EXPECT_PTR_EQ(test, file, ERR_PTR(-ENOMEM));
	file = co_file_create();
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	co_file_destroy(file);
}

/* A table of which nothing could be allocated can be freed, as when a load fails. */
static void memory_of_a_table(struct kunit *test)
{
	struct callout_table *table;

	table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	table->outlives_bases = true;
	kunit_activate_static_stub(test, co_pools_alloc, no_pools);
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			co_table_init(table, CALLOUT_KIND_HANDLE, 1000,
				      GFP_KERNEL));
	kunit_deactivate_static_stub(test, co_pools_alloc);
	co_table_destroy(table);
}

static void nothing(void *arg)
{
}

static int no_chunk(struct callout_table *table, struct callout_base *base,
		    gfp_t gfp)
{
	return -ENOMEM;
}

/* Give this CPU more free slots than the worker aims for. */
static void enough_slots(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, callout_reserve(2 * CALLOUT_LOW_WATER), 0);
	irq_work_sync(&callout_refill_irq_work);
	flush_work(&callout_refill_work);
}

/* Without memory callout_reserve() returns -ENOMEM, and changes nothing. */
static void memory_of_reserve(struct kunit *test)
{
	struct callout_table *table = co_kernel_table();
	unsigned int cpu = raw_smp_processor_id(), have, chunks;
	u64 handle;

	callout_test_pin(test, cpu);
	enough_slots(test);
	have = callout_test_free_slots(cpu);
	chunks = table->nr_chunks;
	kunit_activate_static_stub(test, co_table_add_chunk, no_chunk);
	KUNIT_EXPECT_EQ(test, callout_reserve(have), 0);
	KUNIT_EXPECT_EQ(test, callout_reserve(have + 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(cpu), have);
	KUNIT_EXPECT_EQ(test, table->nr_chunks, chunks);
	handle = setcallout(nothing, NULL, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
	kunit_deactivate_static_stub(test, co_table_add_chunk);
	KUNIT_EXPECT_EQ(test, callout_reserve(have + 1), 0);
	KUNIT_EXPECT_GT(test, callout_test_free_slots(cpu), have);
}

/**
 * struct taken - callouts that use up this CPU's slots
 * @wake: the function of the worker's interrupt
 * @n: number of callouts
 * @handle: the callouts' handles
 */
struct taken {
	void (*wake)(struct irq_work *work);
	unsigned int n;
	u64 *handle;
};

static void taken_end(void *data)
{
	struct taken *t = data;

	while (t->n)
		unsetcallout(t->handle[--t->n]);
	callout_test_set_asking(t->wake);
}

static void take_one(struct taken *t)
{
	t->handle[t->n++] = setcallout(nothing, NULL, CALLOUT_TEST_FAR);
}

/* A worker that has no memory is asked again by the next call. */
static void memory_of_the_worker(struct kunit *test)
{
	struct taken *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct callout_table *table = co_kernel_table();
	unsigned int cpu = raw_smp_processor_id(), chunks;

	KUNIT_ASSERT_NOT_NULL(test, t);
	callout_test_pin(test, cpu);
	enough_slots(test);
	t->handle = callout_test_vcalloc(test, callout_test_free_slots(cpu) + 1, sizeof(u64));
	t->wake = callout_refill_irq_work.func;
	callout_test_set_asking(callout_test_count_asking);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, taken_end, t));
	while (callout_test_free_slots(cpu) >= CALLOUT_LOW_WATER)
		take_one(t);
	chunks = table->nr_chunks;
	kunit_activate_static_stub(test, co_table_add_chunk, no_chunk);
	/* Run the worker in this thread. */
	callout_refill_work.func(&callout_refill_work);
	kunit_deactivate_static_stub(test, co_table_add_chunk);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(cpu), CALLOUT_LOW_WATER - 1);
	KUNIT_EXPECT_EQ(test, table->nr_chunks, chunks);
	irq_work_sync(&callout_refill_irq_work);
	atomic_set(&callout_test_asked, 0);
	take_one(t);
	irq_work_sync(&callout_refill_irq_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&callout_test_asked), 1);
	callout_refill_work.func(&callout_refill_work);
	KUNIT_EXPECT_GE(test, callout_test_free_slots(cpu), CALLOUT_LOW_WATER);
}

static bool no_buckets(struct callout_hash *hash, unsigned int bits, gfp_t gfp)
{
	return false;
}

static unsigned int hash_missed(struct callout_test_hash *m, unsigned int n)
{
	unsigned int i, missed = 0;

	for (i = 0; i < n; i++)
		missed += callout_test_hash_look(m, i) !=
			  callout_test_hash_expect(m, i);
	return missed;
}

/* A hash that cannot grow keeps its size, and asks again, but not at once. */
static void memory_of_a_hash(struct kunit *test)
{
	struct callout_test_hash *m = callout_test_hash_create(test, 2);
	const unsigned int n = CALLOUT_TEST_HASH_SLOTS;
	unsigned int i;

	for (i = 0; i < n / 2; i++)
		callout_test_hash_insert(m, i, i, i);
	KUNIT_EXPECT_TRUE(test, co_hash_wants_growth(&m->hash));
	kunit_activate_static_stub(test, co_hash_grow_begin, no_buckets);
	co_hash_grow(&m->hash, GFP_KERNEL);
	kunit_deactivate_static_stub(test, co_hash_grow_begin);
	KUNIT_EXPECT_FALSE(test, callout_test_hash_growing(m));
	KUNIT_EXPECT_EQ(test, callout_test_hash_bits(m), 2);
	KUNIT_EXPECT_FALSE(test, co_hash_wants_growth(&m->hash));
	KUNIT_EXPECT_EQ(test, hash_missed(m, n), 0);

	for (; i < n; i++)
		callout_test_hash_insert(m, i, i, i);
	KUNIT_EXPECT_TRUE(test, co_hash_wants_growth(&m->hash));
	co_hash_grow(&m->hash, GFP_KERNEL);
	KUNIT_EXPECT_GT(test, callout_test_hash_bits(m), 2);
	KUNIT_EXPECT_EQ(test, hash_missed(m, n), 0);
	for (i = 0; i < n; i++)
		callout_test_hash_remove(m, i);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(memory_of_a_file),
	KUNIT_CASE(memory_of_a_table),
	KUNIT_CASE(memory_of_reserve),
	KUNIT_CASE(memory_of_the_worker),
	KUNIT_CASE(memory_of_a_hash),
	{}
};

static struct kunit_suite memory_suite = {
	.name = "callout_memory",
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);
