// SPDX-License-Identifier: GPL-2.0
/*
 * stock.c - suite callout_stock: the free slots of the kernel's table
 *
 * Each base has a pool of them. A base whose pool is empty steals from another,
 * callout_reserve() adds slots, and a worker does when they become few. The
 * callouts are far away and never fire. Where a case depends on the number of
 * slots, the table does not grow until the case ends.
 */
#include <kunit/static_stub.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include "device/ctx.h"
#include "device/file.h"
#include "device/op.h"
#include "lib/kernel_table.h"
#include "handles/kernel.h"

#define MOST_SLOTS	(1U << 18)

static void nothing(void *arg)
{
}

static unsigned int all_free_slots(void)
{
	unsigned int cpu, n = 0;

	for_each_possible_cpu(cpu)
		n += callout_test_free_slots(cpu);
	return n;
}

/**
 * struct stock - callouts that a case has set
 * @n: how many
 * @max_chunks: the table's limit before the case, restored at its end
 * @handle: their handles
 */
struct stock {
	unsigned int n;
	unsigned int max_chunks;
	u64 handle[];
};

static void stock_limit(unsigned int max_chunks)
{
	struct callout_table *table = co_kernel_table();

	mutex_lock(&table->grow);
	WRITE_ONCE(table->max_chunks, max_chunks ?: table->nr_chunks);
	mutex_unlock(&table->grow);
}

/* Sets up to @most callouts on this CPU, until no slot is free. */
static void stock_take(struct stock *s, unsigned int most)
{
	for (; most && s->n < MOST_SLOTS; s->n++, most--) {
		s->handle[s->n] = setcallout(nothing, NULL, CALLOUT_TEST_FAR);
		if (!s->handle[s->n])
			break;
	}
}

static unsigned int stock_give(struct stock *s, unsigned int most)
{
	unsigned int wrong = 0;

	for (; most && s->n; most--)
		wrong += unsetcallout(s->handle[--s->n]) != 1;
	return wrong;
}

static void stock_end(void *data)
{
	struct stock *s = data;

	stock_give(s, s->n);
	stock_limit(s->max_chunks);
}

/* The case's thread is pinned; with @fixed the table does not grow. */
static struct stock *stock_create(struct kunit *test, bool fixed)
{
	struct stock *s;

	s = kunit_kzalloc(test, struct_size(s, handle, MOST_SLOTS), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	s->max_chunks = co_kernel_table()->max_chunks;
	if (fixed)
		stock_limit(0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stock_end, s));
	return s;
}

/* A CPU whose pool is empty steals from the others, until no slot is free. */
static void stock_steal_and_exhaustion(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), own, all, i, wrong = 0;
	struct stock *s;

	callout_test_pin(test, cpu);
	s = stock_create(test, true);
	own = callout_test_free_slots(cpu);
	all = all_free_slots();
	stock_take(s, MOST_SLOTS);
	kunit_info(test, "%u slots, %u of them this CPU's\n", s->n, own);
	KUNIT_EXPECT_EQ(test, s->n, all);
	KUNIT_EXPECT_EQ(test, all_free_slots(), 0);
	KUNIT_EXPECT_EQ(test, setcallout(nothing, NULL, CALLOUT_TEST_FAR), 0);
	for (i = 0; i < s->n; i++)
		wrong += callout_test_slot(s->handle[i])->node.cpu != cpu;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	/* Stolen slots are released to the thief's pool. */
	KUNIT_EXPECT_EQ(test, stock_give(s, s->n), 0);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(cpu), all);
	for (i = 0; i < all; i++)
		wrong += unsetcallout(s->handle[i]) != -1;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void set_one_there(void *handle)
{
	*(u64 *)handle = setcallout(nothing, NULL, CALLOUT_TEST_FAR);
}

/* Moves a few free slots to a CPU that has none. */
static void stock_give_to(struct kunit *test, struct stock *s, unsigned int cpu)
{
	u64 handle;

	KUNIT_ASSERT_EQ(test, callout_test_free_slots(cpu), 0);
	KUNIT_ASSERT_EQ(test, stock_give(s, 8), 0);
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(cpu, set_one_there,
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
	struct stock *s;
	u64 handle;

	if (num_online_cpus() < 3)
		kunit_skip(test, "needs three CPUs");
	next = cpumask_next(cpu, cpu_online_mask);
	callout_test_pin(test, cpu);
	s = stock_create(test, true);
	stock_take(s, MOST_SLOTS);
	stock_give_to(test, s, next);
	stock_give_to(test, s, first);
	handle = setcallout(nothing, NULL, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(next), 0);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(first), 8);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
}

/**
 * struct on_its_way - a CPU steals the last slots while another CPU needs one
 * @base: the thief's, which the case locks while the slots are on their way
 * @locked: the thief has locked it
 * @waits: the case is about to lock it
 * @stole: the thief has got a slot
 * @look: the other CPU may look for a slot
 * @looks: the other CPU is about to look
 * @handle: the handle that it got
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

/* Until the case waits for the lock, or, where locks cannot tell, most likely. */
static void until_contended(struct on_its_way *w)
{
#ifdef arch_spin_is_contended
	callout_test_spin_until(raw_spin_is_contended(&w->base->lock));
#else
	unsigned int i;

	callout_test_spin_until(READ_ONCE(w->waits));
	for (i = 0; i < 100000; i++)
		cpu_relax();
#endif
}

static void on_its_way_thief(void *arg)
{
	struct on_its_way *w = arg;
	struct callout_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	co_base_lock(w->base);
	WRITE_ONCE(w->locked, true);
	/* The case is the next holder of the lock. */
	until_contended(w);
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
	w->handle = setcallout(nothing, NULL, CALLOUT_TEST_FAR);
}

/* False if the thief was through before the case had its base's lock. */
static bool look_on_its_way(struct kunit *test, struct stock *s,
			    const unsigned int *cpu, struct on_its_way *w)
{
	struct callout_test_thread *t[2];
	bool taken, looks;
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->base = co_base(cpu[0]);
	stock_take(s, MOST_SLOTS);
	KUNIT_ASSERT_EQ(test, stock_give(s, 8), 0);
	t[1] = callout_test_thread(test, cpu[1], on_its_way_other, w);
	t[0] = callout_test_thread(test, cpu[0], on_its_way_thief, w);
	callout_test_spin_until(READ_ONCE(w->locked));
	WRITE_ONCE(w->waits, true);
	raw_spin_lock_irq(&w->base->lock);
	callout_test_spin_until(!all_free_slots() || READ_ONCE(w->stole));
	taken = !all_free_slots();
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
 * A concurrent search for a slot finds those that another CPU is stealing. A
 * third CPU may want the lock for a moment, and the thief take it for the case,
 * or the lock may not queue, and the thief be faster: then once more.
 */
static void stock_on_its_way_is_found(struct kunit *test)
{
	unsigned int cpu[2], tries = 0;
	struct on_its_way *w;
	struct stock *s;

	callout_test_pin_two(test, cpu);
	w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w);
	s = stock_create(test, true);
	while (!look_on_its_way(test, s, cpu, w) && ++tries < 100)
		cond_resched();
	KUNIT_EXPECT_LT(test, tries, 100);
}

#define CROWD		7U
#define FILES		50U

/**
 * struct searchers - threads that want a slot at once, when none is free
 * @go: they may look for one
 * @look: how many are about to
 * @found: how many have got one
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
	if (setcallout(nothing, NULL, CALLOUT_TEST_FAR))
		atomic_inc(&s->found);
}

/* The threads wait for each other's searches. Returns how many searches they made. */
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
	/* Time for them to come to the lock. */
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
 * When no slot is free one search serves the callers that wait for it. A thread may come
 * too late to wait: then once more.
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
	stock_take(stock_create(test, true), MOST_SLOTS);
	while (search_together(test, s, nr) >= nr && ++tries < 100)
		cond_resched();
	KUNIT_EXPECT_LT(test, tries, 100);
}

/**
 * struct file_crowd - threads that each set a callout of an empty file at once
 * @round: number of the file in use, from 1
 * @ready: attempts of all threads
 * @refused: attempts that failed
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

/* A thread that cannot grow the table uses the slots that another has added. */
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
 * @runs: times the handler has run
 * @next: the handle that it has set
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
 * At the limit a handler can still set one callout, since its own is no longer
 * outstanding. The number of slots stays the same.
 */
static void stock_suffices_for_a_handler(struct kunit *test)
{
	struct last_slot last = {};
	struct stock *s;
	unsigned int i, wrong = 0;
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	s = stock_create(test, true);
	handle = setcallout(last_slot_handler, &last, CALLOUT_TEST_FAR);
	stock_take(s, MOST_SLOTS);
	for (i = 0; i < 100; i++) {
		callout_test_expire_now(handle);
		wrong += !last.next || unsetcallout(handle) != -1;
		wrong += setcallout(nothing, NULL, CALLOUT_TEST_FAR) != 0;
		handle = last.next;
	}
	KUNIT_EXPECT_EQ(test, last.runs, 100);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
}

/**
 * struct last - a handler that sets a callout when no slot is free, on another CPU
 * @first: it sets one at once
 * @runs: it runs
 * @go: it may set one now
 * @set: with this, or none
 * @cpu: the CPU of the case
 * @next: the handle that it got
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
	return setcallout(nothing, NULL, CALLOUT_TEST_FAR);
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
	return setcallout_on(nothing, NULL, CALLOUT_TEST_FAR, cpu);
}

static u64 last_timeout(unsigned int cpu)
{
	return callout_timeout(nothing, NULL, CALLOUT_TEST_FAR);
}

/* A handler runs on @other, and no slot is free. Returns its handle. */
static u64 last_begin(struct kunit *test, struct stock *s, struct last *last,
		      unsigned int other, bool first)
{
	u64 handle;

	KUNIT_ASSERT_EQ(test, stock_give(s, 1), 0);
	memset(last, 0, sizeof(*last));
	last->cpu = raw_smp_processor_id();
	last->first = first;
	handle = setcallout_on(last_handler, last, CALLOUT_TEST_FAR, other);
	KUNIT_ASSERT_NE(test, handle, 0);
	stock_take(s, MOST_SLOTS);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 1), 1);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&last->runs)));
	return handle;
}

/* In an interrupt of the handler. */
static void last_steal(void *arg)
{
	u64 *stolen = arg;

	stolen[0] = setcallout(nothing, NULL, CALLOUT_TEST_FAR);
	stolen[1] = callout_timeout(nothing, NULL, CALLOUT_TEST_FAR);
}

/*
 * The room that a handler has when no slot is free is its own: no other CPU takes it, nor
 * an interrupt of the handler, nor callout_reserve(). The handler has it whatever CPU it
 * sets its callout on, and leaves it to the next handler if it does not use it.
 */
static void stock_keeps_the_handlers_slot(struct kunit *test)
{
	static u64 (*const sets[])(unsigned int cpu) = {
		last_set, last_set_on, last_timeout, NULL, last_set,
	};
	unsigned int other = callout_test_pin_one(test), i;
	struct last *last = kunit_kzalloc(test, sizeof(*last), GFP_KERNEL);
	struct stock *s;
	u64 stolen[2], handle;

	KUNIT_ASSERT_NOT_NULL(test, last);
	s = stock_create(test, true);
	stock_take(s, MOST_SLOTS);
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
		/* All are given back. */
		KUNIT_EXPECT_TRUE(test,
				  callout_test_wait_until(all_free_slots() == 1));
		stock_take(s, MOST_SLOTS);
	}
}

/* Slots of the table that are neither free nor spare. */
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
 * A handler that has set a callout when no slot was free has used the spare one. If the
 * table grows then the base gets another, and the handler's own slot becomes free.
 */
static void stock_grows_while_a_handler_runs(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), in_use;
	struct callout_table *table = co_kernel_table();
	struct last *last = kunit_kzalloc(test, sizeof(*last), GFP_KERNEL);
	struct stock *s;
	u64 handle;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, last);
	s = stock_create(test, true);
	stock_take(s, MOST_SLOTS);
	handle = last_begin(test, s, last, other, true);
	in_use = slots_in_use();
	stock_limit(table->nr_chunks + 1);
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
	struct stock *s = arg;

	stock_take(s, MOST_SLOTS);
}

/* The slot of a running handler is not reused. */
static void stock_is_without_those_that_run(struct kunit *test)
{
	unsigned int i, n, wrong = 0;
	struct stock *s;
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	s = stock_create(test, true);
	n = all_free_slots();
	handle = setcallout(all_slots_handler, s, CALLOUT_TEST_FAR);
	callout_test_expire_now(handle);
	/* As many as before: the spare slot of the handler does not count. */
	KUNIT_EXPECT_EQ(test, s->n, n);
	for (i = 0; i < s->n; i++)
		wrong += (s->handle[i] ^ handle) % CALLOUT_GEN_ONE == 0;
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, all_free_slots(), 0);
	KUNIT_EXPECT_EQ(test, stock_give(s, s->n), 0);
	KUNIT_EXPECT_EQ(test, all_free_slots(), n);
}

/* callout_reserve() adds free slots to this CPU's pool before it returns. */
static void stock_reserve(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), have;

	callout_test_pin(test, cpu);
	have = callout_test_free_slots(cpu);
	KUNIT_EXPECT_EQ(test, callout_reserve(0), 0);
	KUNIT_EXPECT_EQ(test, callout_reserve(have), 0);
	KUNIT_EXPECT_EQ(test, callout_reserve(have + 1), 0);
	KUNIT_EXPECT_GT(test, callout_test_free_slots(cpu), have);
}

/* The slots are in the pool that setcallout() uses, also on a nohz_full CPU. */
static void stock_reserve_at_home(struct kunit *test)
{
	unsigned int cpu, home, have;

	for_each_online_cpu(cpu) {
		callout_test_pin(test, cpu);
		home = co_base(co_home_cpu())->index;
		have = callout_test_free_slots(home);
		KUNIT_EXPECT_EQ(test, callout_reserve(have + 1), 0);
		KUNIT_EXPECT_GT(test, callout_test_free_slots(home), have);
	}
}

/* At the limit callout_reserve() steals as many as are missing, and no more. */
static void stock_reserve_takes_what_is_missing(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), have, all;

	callout_test_pin_one(test);
	stock_create(test, true);
	have = callout_test_free_slots(cpu);
	all = all_free_slots();
	KUNIT_ASSERT_GT(test, all, have + 5);
	KUNIT_EXPECT_EQ(test, callout_reserve(have + 5), 0);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(cpu), have + 5);
	KUNIT_EXPECT_EQ(test, callout_reserve(all), 0);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(cpu), all);
	KUNIT_EXPECT_EQ(test, all_free_slots(), all);
}

/* A callout_reserve() that fails changes nothing. */
static void stock_reserve_too_much(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	unsigned int cpu, wrong = 0, *have;
	u64 handle;

	have = kunit_kcalloc(test, nr_cpu_ids, sizeof(*have), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, have);
	stock_create(test, true);
	/* The other CPU has some slots after this. */
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(other, set_one_there,
							  &handle, true));
	KUNIT_ASSERT_EQ(test, unsetcallout(handle), 1);
	for_each_possible_cpu(cpu)
		have[cpu] = callout_test_free_slots(cpu);
	KUNIT_EXPECT_EQ(test, callout_reserve(all_free_slots() + 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, callout_reserve(UINT_MAX), -ENOSPC);
	for_each_possible_cpu(cpu)
		wrong += have[cpu] != callout_test_free_slots(cpu);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

struct reserver {
	unsigned int n;
	int ret;
};

static void reserve_thread(void *arg)
{
	struct reserver *r = arg;

	r->ret = callout_reserve(r->n);
}

/* No livelock between two CPUs that both reserve all slots, or more. */
static void stock_reserve_on_two_cpus(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), all, more, i;
	struct callout_test_thread *t[2];
	struct reserver *r;

	r = kunit_kcalloc(test, 2, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, r);
	stock_create(test, true);
	all = all_free_slots();
	for (more = 0; more < 2; more++) {
		for (i = 0; i < 2; i++) {
			r[i].n = all + more;
			t[i] = callout_test_thread(test, i ? other :
						   raw_smp_processor_id(),
						   reserve_thread, &r[i]);
		}
		for (i = 0; i < 2; i++) {
			KUNIT_ASSERT_TRUE(test, callout_test_join(t[i]));
			KUNIT_EXPECT_EQ(test, r[i].ret, more ? -ENOSPC : 0);
		}
		KUNIT_EXPECT_EQ(test, all_free_slots(), all);
	}
}

/* Tries to set @n callouts; returns how often the worker, which sleeps, is woken for that. */
static int stock_wakes(struct stock *s, unsigned int n)
{
	void (*wake)(struct irq_work *) = callout_refill_irq_work.func;
	int asked;

	callout_test_set_asking(callout_test_count_asking);
	atomic_set(&callout_test_asked, 0);
	while (n--)
		stock_take(s, 1);
	irq_work_sync(&callout_refill_irq_work);
	asked = atomic_read(&callout_test_asked);
	callout_test_set_asking(wake);
	/* The request is not lost. */
	wake(&callout_refill_irq_work);
	return asked;
}

/* The worker is woken once, not by each call that finds few slots. */
static void stock_asks_once(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id();
	struct stock *s;

	callout_test_pin(test, cpu);
	s = stock_create(test, false);
	if (callout_test_free_slots(cpu) > CALLOUT_LOW_WATER)
		stock_take(s, callout_test_free_slots(cpu) - CALLOUT_LOW_WATER);
	KUNIT_EXPECT_LE(test, stock_wakes(s, 100), 2);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_free_slots(cpu) >=
						  CALLOUT_LOW_WATER));

	stock_limit(0);
	KUNIT_EXPECT_LE(test, stock_wakes(s, all_free_slots() + 1), 1);
	KUNIT_EXPECT_EQ(test, setcallout(nothing, NULL, CALLOUT_TEST_FAR), 0);
	/* The table grows once it can again. */
	stock_limit(s->max_chunks);
	KUNIT_EXPECT_EQ(test, stock_give(s, 1), 0);
	stock_take(s, 1);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_free_slots(cpu) >=
						  CALLOUT_LOW_WATER));
}

/* Runs the worker of the stock if it has been asked for. */
static void stock_settle(void)
{
	irq_work_sync(&callout_refill_irq_work);
	flush_work(&callout_refill_work);
}

/* At the limit the worker is not asked, though it has run since it was asked last. */
static void stock_asks_nothing_at_the_limit(struct kunit *test)
{
	struct stock *s;

	callout_test_pin(test, raw_smp_processor_id());
	s = stock_create(test, true);
	stock_settle();
	callout_refill_work.func(&callout_refill_work);
	KUNIT_EXPECT_EQ(test, stock_wakes(s, all_free_slots() + 1), 0);
	KUNIT_EXPECT_EQ(test, setcallout(nothing, NULL, CALLOUT_TEST_FAR), 0);
}

/* What the worker calls to have the hash grow: how often, and without the table's lock. */
static unsigned int growths, growths_unlocked;

static bool note_growth(struct callout_hash *hash, unsigned int bits, gfp_t gfp)
{
	growths++;
	growths_unlocked += !mutex_is_locked(&co_kernel_table()->grow);
	return false;
}

/* The hash grows under the table's lock, as the table does. */
static void stock_hash_grows_under_the_lock(struct kunit *test)
{
	struct callout_hash *hash = &co_kernel_table()->hash;
	unsigned int grow_at;

	stock_settle();
	grow_at = hash->grow_at;
	growths = 0;
	growths_unlocked = 0;
	kunit_activate_static_stub(test, co_hash_grow_begin, note_growth);
	/* As if it had slots for more buckets than it can have. */
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
 * @set: sets a callout; returns its handle, or 0
 * @context: where that is called
 */
struct want {
	const char *name;
	u64 (*set)(unsigned int other);
	enum want_context context;
};

static u64 want_set(unsigned int other)
{
	return setcallout(nothing, NULL, CALLOUT_TEST_FAR);
}

static u64 want_set_on(unsigned int other)
{
	return setcallout_on(nothing, NULL, CALLOUT_TEST_FAR, other);
}

static u64 want_timeout(unsigned int other)
{
	return callout_timeout(nothing, NULL, CALLOUT_TEST_FAR);
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
 * @want: which
 * @other: a CPU that is not the case's
 * @handle: what it has returned
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
 * A setting that fails since no slot is free has the table grow, if it may: the next
 * one finds a slot. So does each that fails, however often the worker has run before.
 */
static void stock_grows_when_a_setting_fails(struct kunit *test)
{
	unsigned int i, free;
	struct wanting *w;
	struct stock *s;

	w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w);
	w->other = callout_test_pin_one(test);
	callout_init(&w->c, CALLOUT_MPSAFE);
	s = stock_create(test, true);
	for (i = 0; i < ARRAY_SIZE(wants); i++) {
		w->want = &wants[i];
		stock_limit(0);
		stock_take(s, MOST_SLOTS);
		stock_settle();
		/* At the limit it fails, and nothing grows. */
		KUNIT_EXPECT_EQ_MSG(test, want_slot(w), 0, "%s", w->want->name);
		stock_settle();
		KUNIT_EXPECT_EQ_MSG(test, all_free_slots(), 0, "%s", w->want->name);
		stock_limit(co_kernel_table()->nr_chunks + 8);
		KUNIT_EXPECT_EQ_MSG(test, want_slot(w), 0, "%s", w->want->name);
		stock_settle();
		free = all_free_slots();
		KUNIT_EXPECT_GT_MSG(test, free, 0, "%s", w->want->name);
		KUNIT_EXPECT_NE_MSG(test, want_slot(w), 0, "%s", w->want->name);
		KUNIT_EXPECT_EQ_MSG(test, unsetcallout(w->handle), 1, "%s",
				    w->want->name);
	}
}

/* To move a callout takes no slot: with none free it succeeds, and nothing grows. */
static void stock_is_not_needed_to_move(struct kunit *test)
{
	struct stock *s;
	u64 handle;

	callout_test_pin(test, raw_smp_processor_id());
	s = stock_create(test, true);
	handle = setcallout(nothing, NULL, CALLOUT_TEST_FAR);
	stock_take(s, MOST_SLOTS);
	stock_settle();
	stock_limit(s->max_chunks);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 2 * CALLOUT_TEST_FAR), 1);
	stock_settle();
	KUNIT_EXPECT_EQ(test, all_free_slots(), 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
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
	KUNIT_CASE(stock_reserve),
	KUNIT_CASE(stock_reserve_at_home),
	KUNIT_CASE(stock_reserve_takes_what_is_missing),
	KUNIT_CASE(stock_reserve_too_much),
	KUNIT_CASE(stock_reserve_on_two_cpus),
	KUNIT_CASE(stock_asks_once),
	KUNIT_CASE(stock_asks_nothing_at_the_limit),
	KUNIT_CASE(stock_hash_grows_under_the_lock),
	KUNIT_CASE(stock_grows_when_a_setting_fails),
	KUNIT_CASE(stock_is_not_needed_to_move),
	{}
};

static struct kunit_suite stock_suite = {
	.name = "callout_stock",
	.test_cases = stock_cases,
};

kunit_test_suite(stock_suite);
