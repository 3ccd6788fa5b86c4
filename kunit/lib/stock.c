// SPDX-License-Identifier: GPL-2.0
/*
 * stock.c - callouts that use up the free slots of the kernel's table
 */
#include <linux/callout.h>
#include <linux/mutex.h>
#include "handles/kernel.h"
#include "kernel_table.h"
#include "stock.h"

/* The callouts' handler, which never runs. */
void callout_stock_handler(void *arg)
{
}

/* The number of free slots of all CPUs. */
unsigned int callout_stock_free(void)
{
	unsigned int cpu, n = 0;

	for_each_possible_cpu(cpu)
		n += callout_test_free_slots(cpu);
	return n;
}

/* Limit the table to @max_chunks from now on; 0: to the chunks that it has. */
void callout_stock_limit(unsigned int max_chunks)
{
	struct callout_table *table = co_kernel_table();

	mutex_lock(&table->grow);
	WRITE_ONCE(table->max_chunks, max_chunks ?: table->nr_chunks);
	mutex_unlock(&table->grow);
}

/* Set one callout, in an interrupt of a CPU. @handle points to a u64. */
void callout_stock_set(void *handle)
{
	*(u64 *)handle = setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
}

/* Set up to @most callouts on this CPU, until no slot is free. */
void callout_stock_take(struct callout_stock *s, unsigned int most)
{
	for (; most && s->n < CALLOUT_STOCK_MOST; s->n++, most--) {
		s->handle[s->n] = setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
		if (!s->handle[s->n])
			break;
	}
}

/* Cancel up to @most callouts. Return how many were not pending. */
unsigned int callout_stock_give(struct callout_stock *s, unsigned int most)
{
	unsigned int wrong = 0;

	for (; most && s->n; most--)
		wrong += unsetcallout(s->handle[--s->n]) != 1;
	return wrong;
}

static void stock_end(void *data)
{
	struct callout_stock *s = data;

	callout_stock_give(s, s->n);
	callout_stock_limit(s->max_chunks);
}

/* Create the stock, and pin the case's thread. With @fixed the table does not grow. */
struct callout_stock *callout_stock_create(struct kunit *test, bool fixed)
{
	struct callout_stock *s;

	s = kunit_kzalloc(test, struct_size(s, handle, CALLOUT_STOCK_MOST), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	s->max_chunks = co_kernel_table()->max_chunks;
	if (fixed)
		callout_stock_limit(0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stock_end, s));
	return s;
}
