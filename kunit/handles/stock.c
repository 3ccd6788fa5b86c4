// SPDX-License-Identifier: GPL-2.0
/*
 * stock.c - suite callout_stock: the free slots of the kernel's table
 *
 * Each base has a pool of free slots. A base whose pool is empty steals from
 * another base. The callouts are due far away and never fire. Where a case depends
 * on the number of slots, the table does not grow until the case ends.
 */
#include <linux/mutex.h>
#include <linux/smp.h>
#include "device/ctx.h"
#include "device/file.h"
#include "device/set.h"
#include "lib/kernel_table.h"
#include "lib/stock.h"
#include "handles/kernel.h"

/* A CPU whose pool is empty steals from the other CPUs, until no slot is free. */
static void stock_steal_and_exhaustion(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), own, all, i, wrong = 0;
	struct callout_stock *s;

	callout_test_pin(test, cpu);
	s = callout_stock_create(test, true);
	own = callout_test_free_slots(cpu);
	all = callout_stock_free();
	callout_stock_take(s, CALLOUT_STOCK_MOST);
	kunit_info(test, "%u slots, %u of them this CPU's\n", s->n, own);
	KUNIT_EXPECT_EQ(test, s->n, all);
	KUNIT_EXPECT_EQ(test, callout_stock_free(), 0);
	KUNIT_EXPECT_EQ(test, setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR), 0);
	for (i = 0; i < s->n; i++)
		wrong += callout_test_slot(s->handle[i])->node.cpu != cpu;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	/* Stolen slots are released to the thief's pool. */
	KUNIT_EXPECT_EQ(test, callout_stock_give(s, s->n), 0);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(cpu), all);
	for (i = 0; i < all; i++)
		wrong += unsetcallout(s->handle[i]) != -1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Move a few free slots to a CPU that has none. */
static void stock_give_to(struct kunit *test, struct callout_stock *s, unsigned int cpu)
{
	u64 handle;

	KUNIT_ASSERT_EQ(test, callout_test_free_slots(cpu), 0);
	KUNIT_ASSERT_EQ(test, callout_stock_give(s, 8), 0);
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(cpu, callout_stock_set,
							  &handle, true));
	KUNIT_ASSERT_EQ(test, unsetcallout(handle), 1);
	KUNIT_ASSERT_EQ(test, callout_test_free_slots(cpu), 8);
}

/* A search for a slot to steal begins with the next CPU. */
static void stock_steals_from_the_next(struct kunit *test)
{
	unsigned int first = cpumask_first(cpu_online_mask);
	unsigned int cpu = cpumask_next(first, cpu_online_mask);
	unsigned int next;
	struct callout_stock *s;
	u64 handle;

	if (num_online_cpus() < 3)
		kunit_skip(test, "needs three CPUs");
	next = cpumask_next(cpu, cpu_online_mask);
	callout_test_pin(test, cpu);
	s = callout_stock_create(test, true);
	callout_stock_take(s, CALLOUT_STOCK_MOST);
	stock_give_to(test, s, next);
	stock_give_to(test, s, first);
	handle = setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(next), 0);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(first), 8);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
}

/**
 * struct on_its_way - a CPU steals the last slots while another CPU needs a slot
 * @base: the thief's base, which the case locks while the slots are being moved
 * @locked: the thief has locked @base
 * @waits: the case is about to lock @base
 * @stole: the thief has got a slot
 * @look: the other CPU may look for a slot
 * @looks: the other CPU is about to look
 * @handle: the handle that the other CPU got
 */
struct on_its_way {
	struct callout_base *base;
	bool locked;
	bool waits;
	bool stole;
	bool look;
	bool looks;
	u64 handle;
};

static void on_its_way_thief(void *arg)
{
	struct on_its_way *w = arg;
	struct callout_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	co_base_lock(w->base);
	WRITE_ONCE(w->locked, true);
	/* The case is the next holder of the lock. */
	callout_test_spin_until(READ_ONCE(w->waits));
	callout_test_contended(w->base);
	slot = co_slot_steal(co_kernel_table(), w->base);
	if (slot)
		co_slot_put(co_kernel_table(), w->base, slot);
	co_unlock(w->base, flags);
	WRITE_ONCE(w->stole, slot);
}

static void on_its_way_other(void *arg)
{
	struct on_its_way *w = arg;

	if (!callout_test_spin_until(READ_ONCE(w->look)))
		return;
	WRITE_ONCE(w->looks, true);
	w->handle = setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
}

/*
 * Let another CPU look while slots are being moved. Return false if the thief had
 * finished before the case had its base's lock.
 */
static bool look_on_its_way(struct kunit *test, struct callout_stock *s,
			    const unsigned int *cpu, struct on_its_way *w)
{
	struct callout_test_thread *t[2];
	bool taken, looks;
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->base = co_base(cpu[0]);
	callout_stock_take(s, CALLOUT_STOCK_MOST);
	KUNIT_ASSERT_EQ(test, callout_stock_give(s, 8), 0);
	t[1] = callout_test_thread(test, cpu[1], on_its_way_other, w);
	t[0] = callout_test_thread(test, cpu[0], on_its_way_thief, w);
	callout_test_spin_until(READ_ONCE(w->locked));
	WRITE_ONCE(w->waits, true);
	raw_spin_lock_irq(&w->base->lock);
	callout_test_spin_until(!callout_stock_free() || READ_ONCE(w->stole));
	taken = !callout_stock_free();
	WRITE_ONCE(w->look, true);
	looks = callout_test_spin_until(READ_ONCE(w->looks));
	/* Time for the other CPU to look; if it looks later, nothing fails. */
	for (i = 0; i < 100000; i++)
		cpu_relax();
	raw_spin_unlock_irq(&w->base->lock);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t[0]));
	KUNIT_ASSERT_TRUE(test, callout_test_join(t[1]));
	KUNIT_EXPECT_TRUE(test, looks);
	KUNIT_EXPECT_TRUE(test, w->stole);
	KUNIT_EXPECT_NE(test, w->handle, 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(w->handle), 1);
	return taken;
}

/*
 * A concurrent search for a slot finds slots that another CPU is stealing. Try once
 * more if a third CPU wants the lock for a moment and the thief mistakes it for the
 * case, or if the lock does not queue its waiters and the thief is faster.
 */
static void stock_on_its_way_is_found(struct kunit *test)
{
	unsigned int cpu[2], tries = 0;
	struct on_its_way *w;
	struct callout_stock *s;

	callout_test_pin_two(test, cpu);
	w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w);
	s = callout_stock_create(test, true);
	while (!look_on_its_way(test, s, cpu, w) && ++tries < 100)
		cond_resched();
	KUNIT_EXPECT_LT(test, tries, 100);
}

#define CROWD		7U
#define FILES		50U

/**
 * struct searchers - threads that want a slot at the same time, when no slot is
 * free
 * @go: the threads may look for a slot
 * @look: number of threads that are about to look
 * @found: number of threads that got a slot
 */
struct searchers {
	bool go;
	atomic_t look;
	atomic_t found;
};

static void searcher(void *arg)
{
	struct searchers *s = arg;

	if (!callout_test_spin_until(callout_test_told(&s->go)))
		return;
	atomic_inc(&s->look);
	if (setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR))
		atomic_inc(&s->found);
}

/* The threads wait for each other's searches. Return how many searches they made. */
static unsigned long search_together(struct kunit *test, struct searchers *s,
				     unsigned int nr)
{
	struct callout_table *table = co_kernel_table();
	struct callout_test_thread *t[CROWD];
	unsigned int cpu, n = 0, i;
	unsigned long before;

	memset(s, 0, sizeof(*s));
	for_each_online_cpu(cpu)
		if (cpu != raw_smp_processor_id() && n < nr)
			t[n++] = callout_test_thread(test, cpu, searcher, s);
	raw_spin_lock_irq(&table->steal);
	before = table->searches;
	callout_test_tell(&s->go);
	callout_test_clock_until(atomic_read(&s->look) == nr);
	/* Time for the threads to reach the lock. */
	for (i = 0; i < 100000; i++)
		cpu_relax();
	raw_spin_unlock_irq(&table->steal);
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_TRUE(test, callout_test_join(t[i]));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->look), nr);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->found), 0);
	return READ_ONCE(table->searches) - before;
}

/*
 * When no slot is free one search serves all callers that wait for it. A thread may come
 * too late to wait: then try once more.
 */
static void stock_searches_once(struct kunit *test)
{
	unsigned int nr = min(num_online_cpus() - 1, CROWD), tries = 0;
	struct searchers *s;

	if (nr < 2)
		kunit_skip(test, "needs three CPUs");
	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	callout_test_pin(test, raw_smp_processor_id());
	callout_stock_take(callout_stock_create(test, true), CALLOUT_STOCK_MOST);
	while (search_together(test, s, nr) >= nr && ++tries < 100)
		cond_resched();
	KUNIT_EXPECT_LT(test, tries, 100);
}

/**
 * struct file_crowd - threads that each set a callout of an empty file at the same
 * time
 * @round: number of the file in use, from 1
 * @ready: number of attempts of all threads
 * @refused: number of attempts that failed
 * @file: the files, with room for one chunk of slots each
 */
struct file_crowd {
	unsigned int round;
	atomic_t ready;
	atomic_t refused;
	struct callout_file *file[FILES];
};

static void file_crowd_thread(void *arg)
{
	struct file_crowd *crowd = arg;
	unsigned int round;

	for (round = 1; round <= FILES; round++) {
		struct callout_op op = {
			.op = CALLOUT_OP_SET,
			.clockid = CLOCK_MONOTONIC,
			.time = 3600 * NSEC_PER_SEC,
		};
		struct callout_file *file = crowd->file[round - 1];
		struct callout_op_ctx ctx = {};

		/* Pairs with the store in stock_of_a_file_suffices(). */
		while (smp_load_acquire(&crowd->round) < round)
			cond_resched();
		if (co_file_set(file, &op, &ctx))
			atomic_inc(&crowd->refused);
		co_ctx_flush(file, &ctx);
		atomic_inc(&crowd->ready);
	}
}

static void file_crowd_end(void *data)
{
	struct file_crowd *crowd = data;
	unsigned int i;

	for (i = 0; i < FILES && crowd->file[i]; i++)
		co_file_destroy(crowd->file[i]);
}

static void file_crowd_open(struct kunit *test, struct file_crowd *crowd)
{
	struct callout_file *file;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, file_crowd_end, crowd));
	for (i = 0; i < FILES; i++) {
		file = co_file_create();
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
		file->table.max_chunks = 1;
		crowd->file[i] = file;
	}
}

/* A thread that cannot grow the table uses the slots that another thread has added. */
static void stock_of_a_file_suffices(struct kunit *test)
{
	unsigned int cpu, round, i, nr = 0;
	struct callout_test_thread *t[CROWD];
	struct file_crowd *crowd;

	if (num_online_cpus() < 3)
		kunit_skip(test, "needs three CPUs");
	crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, crowd);
	callout_test_pin(test, raw_smp_processor_id());
	file_crowd_open(test, crowd);
	for_each_online_cpu(cpu)
		if (cpu != raw_smp_processor_id() && nr < CROWD)
			t[nr++] = callout_test_thread(test, cpu,
						      file_crowd_thread, crowd);
	for (round = 1; round <= FILES; round++) {
		/* Pairs with the load in file_crowd_thread(). */
		smp_store_release(&crowd->round, round);
		while (atomic_read(&crowd->ready) < nr * round)
			cond_resched();
	}
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_TRUE(test, callout_test_join(t[i]));
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->refused), 0);
}

/**
 * struct last_slot - a callout whose handler sets another when no slot is free
 * @runs: how often the handler has run
 * @next: the handle of the callout that it has set
 */
struct last_slot {
	unsigned int runs;
	u64 next;
};

static void last_slot_handler(void *arg)
{
	struct last_slot *last = arg;

	last->runs++;
	last->next = setcallout(last_slot_handler, last, CALLOUT_TEST_FAR);
}

/*
 * At the limit a handler can still set one callout, since its own callout is no
 * longer outstanding. The number of slots stays the same.
 */
static void stock_suffices_for_a_handler(struct kunit *test)
{
	struct last_slot last = {};
	struct callout_stock *s;
	unsigned int i, wrong = 0;
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	s = callout_stock_create(test, true);
	handle = setcallout(last_slot_handler, &last, CALLOUT_TEST_FAR);
	callout_stock_take(s, CALLOUT_STOCK_MOST);
	for (i = 0; i < 100; i++) {
		callout_test_expire_now(handle);
		wrong += !last.next || unsetcallout(handle) != -1;
		wrong += setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR) != 0;
		handle = last.next;
	}
	KUNIT_EXPECT_EQ(test, last.runs, 100);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
}

/**
 * struct last - a handler that sets a callout when no slot is free, on another CPU
 * @first: the handler sets a callout at once
 * @runs: the handler runs
 * @go: the handler may set a callout now
 * @set: the function with which it sets the callout; NULL: it sets none
 * @cpu: the CPU of the case
 * @next: the handle that the handler got
 */
struct last {
	bool first;
	bool runs;
	bool go;
	u64 (*set)(unsigned int cpu);
	unsigned int cpu;
	u64 next;
};

static u64 last_set(unsigned int cpu)
{
	return setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
}

static void last_handler(void *arg)
{
	struct last *last = arg;

	if (last->first)
		last->next = last_set(last->cpu);
	callout_test_tell(&last->runs);
	callout_test_spin_until(callout_test_told(&last->go));
	if (last->set)
		last->next = last->set(last->cpu);
}

static u64 last_set_on(unsigned int cpu)
{
	return setcallout_on(callout_stock_handler, NULL, CALLOUT_TEST_FAR, cpu);
}

static u64 last_timeout(unsigned int cpu)
{
	return callout_timeout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
}

/* Let a handler run on @other, with no slot free. Return the handler's handle. */
static u64 last_begin(struct kunit *test, struct callout_stock *s, struct last *last,
		      unsigned int other, bool first)
{
	u64 handle;

	KUNIT_ASSERT_EQ(test, callout_stock_give(s, 1), 0);
	memset(last, 0, sizeof(*last));
	last->cpu = raw_smp_processor_id();
	last->first = first;
	handle = setcallout_on(last_handler, last, CALLOUT_TEST_FAR, other);
	KUNIT_ASSERT_NE(test, handle, 0);
	callout_stock_take(s, CALLOUT_STOCK_MOST);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 1), 1);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&last->runs)));
	return handle;
}

/* Runs in an interrupt of the handler. */
static void last_steal(void *arg)
{
	u64 *stolen = arg;

	stolen[0] = setcallout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
	stolen[1] = callout_timeout(callout_stock_handler, NULL, CALLOUT_TEST_FAR);
}

/*
 * The room that a handler has when no slot is free belongs to the handler alone: neither
 * another CPU, nor an interrupt of the handler, nor callout_reserve() takes it. The
 * handler can use it for any CPU, and leaves it to the next handler if it does not use
 * it.
 */
static void stock_keeps_the_handlers_slot(struct kunit *test)
{
	static u64 (*const sets[])(unsigned int cpu) = {
		last_set, last_set_on, last_timeout, NULL, last_set,
	};
	unsigned int other = callout_test_pin_one(test), i;
	struct last *last = kunit_kzalloc(test, sizeof(*last), GFP_KERNEL);
	struct callout_stock *s;
	u64 stolen[2], handle;

	KUNIT_ASSERT_NOT_NULL(test, last);
	s = callout_stock_create(test, true);
	callout_stock_take(s, CALLOUT_STOCK_MOST);
	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		handle = last_begin(test, s, last, other, false);
		KUNIT_EXPECT_EQ(test, last_set(0), 0);
		KUNIT_EXPECT_EQ(test, last_set_on(other), 0);
		KUNIT_EXPECT_EQ(test, last_timeout(0), 0);
		KUNIT_EXPECT_EQ(test, callout_reserve(1), -ENOSPC);
		KUNIT_EXPECT_EQ(test, 0, smp_call_function_single(other, last_steal,
								  stolen, true));
		KUNIT_EXPECT_EQ(test, stolen[0], 0);
		KUNIT_EXPECT_EQ(test, stolen[1], 0);
		last->set = sets[i];
		callout_test_tell(&last->go);
		unsetcallout_sync(handle);
		if (last->set)
			KUNIT_EXPECT_EQ(test, unsetcallout(last->next), 1);
		/* All slots are given back. */
		KUNIT_EXPECT_TRUE(test,
				  callout_test_wait_until(callout_stock_free() == 1));
		callout_stock_take(s, CALLOUT_STOCK_MOST);
	}
}

/* The number of slots that are neither free nor spare. */
static unsigned int slots_in_use(void)
{
	struct callout_table *table = co_kernel_table();
	unsigned int cpu, n = table->nr_chunks * CALLOUT_CHUNK_SLOTS;

	for_each_possible_cpu(cpu)
		n -= callout_test_free_slots(cpu) +
		     !!READ_ONCE(per_cpu_ptr(table->pools, cpu)->spare);
	return n;
}

/*
 * A handler that has set a callout when no slot was free has used the spare slot. If
 * the table then grows the base gets another spare slot, and the handler's own slot
 * becomes free.
 */
static void stock_grows_while_a_handler_runs(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), in_use;
	struct callout_table *table = co_kernel_table();
	struct last *last = kunit_kzalloc(test, sizeof(*last), GFP_KERNEL);
	struct callout_stock *s;
	u64 handle;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, last);
	s = callout_stock_create(test, true);
	callout_stock_take(s, CALLOUT_STOCK_MOST);
	handle = last_begin(test, s, last, other, true);
	in_use = slots_in_use();
	callout_stock_limit(table->nr_chunks + 1);
	mutex_lock(&table->grow);
	ret = co_table_add_chunk(table, co_base(other), GFP_KERNEL);
	mutex_unlock(&table->grow);
	callout_test_tell(&last->go);
	unsetcallout_sync(handle);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(slots_in_use() == in_use - 1));
	KUNIT_EXPECT_EQ(test, unsetcallout(last->next), 1);
}

static void all_slots_handler(void *arg)
{
	struct callout_stock *s = arg;

	callout_stock_take(s, CALLOUT_STOCK_MOST);
}

/* The slot of a running handler is not reused. */
static void stock_is_without_those_that_run(struct kunit *test)
{
	unsigned int i, n, wrong = 0;
	struct callout_stock *s;
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	s = callout_stock_create(test, true);
	n = callout_stock_free();
	handle = setcallout(all_slots_handler, s, CALLOUT_TEST_FAR);
	callout_test_expire_now(handle);
	/* As many slots as before: the handler's spare slot does not count. */
	KUNIT_EXPECT_EQ(test, s->n, n);
	for (i = 0; i < s->n; i++)
		wrong += (s->handle[i] ^ handle) % CALLOUT_GEN_ONE == 0;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, callout_stock_free(), 0);
	KUNIT_EXPECT_EQ(test, callout_stock_give(s, s->n), 0);
	KUNIT_EXPECT_EQ(test, callout_stock_free(), n);
}

static struct kunit_case stock_cases[] = {
	KUNIT_CASE(stock_steal_and_exhaustion),
	KUNIT_CASE(stock_steals_from_the_next),
	KUNIT_CASE(stock_on_its_way_is_found),
	KUNIT_CASE(stock_searches_once),
	KUNIT_CASE(stock_of_a_file_suffices),
	KUNIT_CASE(stock_suffices_for_a_handler),
	KUNIT_CASE(stock_keeps_the_handlers_slot),
	KUNIT_CASE(stock_grows_while_a_handler_runs),
	KUNIT_CASE(stock_is_without_those_that_run),
	{}
};

static struct kunit_suite stock_suite = {
	.name = "callout_stock",
	.test_cases = stock_cases,
};

kunit_test_suite(stock_suite);
