// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.c - the kernel's own table: setcallout() and unsetcallout()
 *
 * While its handler runs a callout keeps its slot, which is in no pool. The slot belongs
 * to the base that runs the callout. Under that base's lock, which a cancel takes
 * anyway, a handle whose handler runs can be distinguished from a stale handle:
 *
 *	CPU0: softirq				CPU1: unsetcallout(h)
 *	lock(base 0)
 *	running = slot, not pending
 *	unlock(base 0)
 *	handler					lock(base 0): slot has h
 *						and is running: returns 0
 *	lock(base 0)
 *	running = NULL
 *	slot gets its next handle
 *	unlock(base 0)
 *						lock(base 0): slot has
 *						another: returns -1
 *
 * Each base has a spare slot, with which a handler that the base runs can set a callout
 * when all other slots are in use. Only that handler may take the spare slot: any other
 * caller that has found no slot tries again, and would otherwise take it first. If the
 * handler has used the spare slot, the handler's own slot becomes the next spare slot.
 *
 *	CPU0: softirq				CPU1: the table is exhausted
 *	runner = current
 *	handler					setcallout(): looks at the pools
 *						of all bases: returns 0
 *	setcallout(): its pool is empty,
 *	runner is current: takes the spare
 *	returns
 *	runner = NULL, its slot is the spare
 *
 * Nothing is allocated in the caller's context. When a base has few free slots
 * left, a worker adds some.
 */
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include "core/cpu.h"
#include "core/expiry.h"
#include "core/debug.h"
#include "kernel.h"
#include "kcompat.h"
#include "requeue.h"
#include "search.h"

/* The number of slots that each CPU begins with. */
#define FIRST_SLOTS	64U

#define HASH_BITS	12

/* Pending callouts of this table are still in the schemes when the bases are freed. */
static struct callout_table kernel_table = {
	.outlives_bases	= true,
	.reserve_optional	= true,
	.keeps_spare	= true,
};

/* The worker will look at all pools, and at the hash. */
static bool refill_asked;

#ifdef CONFIG_LOCKDEP
/* One lockdep class for all handlers of this table. */
static struct callout_class handle_class_of_all = { .name = "setcallout" };
static struct callout_class *const handle_class = &handle_class_of_all;
#else
static struct callout_class *const handle_class;
#endif

struct callout_table *co_kernel_table(void)
{
	return &kernel_table;
}
EXPORT_SYMBOL_IF_KUNIT(co_kernel_table);

static void refill(struct work_struct *work)
{
	unsigned int cpu, chunks;

	/*
	 * Do this first: a caller that finds few slots from here on asks again.
	 * Orders this store before the reads of the pools; pairs with refill_ask().
	 */
	smp_store_mb(refill_asked, false);
	co_point();
	/* Growth by a quarter makes runs of this worker rare. */
	chunks = 1 + CALLOUT_LOW_WATER / CALLOUT_CHUNK_SLOTS +
		 READ_ONCE(kernel_table.nr_chunks) / 4 / num_online_cpus();
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct callout_base *base = co_base(cpu);

		/* A CPU that comes up during an unload has no base. */
		if (base && READ_ONCE(co_pool(&kernel_table, base)->count) <
			    CALLOUT_LOW_WATER)
			co_table_grow(&kernel_table, cpu, chunks, UINT_MAX, GFP_KERNEL);
	}
	cpus_read_unlock();

	mutex_lock(&kernel_table.grow);
	co_hash_grow(&kernel_table.hash, GFP_KERNEL);
	mutex_unlock(&kernel_table.grow);
}

VISIBLE_IF_KUNIT struct work_struct callout_refill_work =
	__WORK_INITIALIZER(callout_refill_work, refill);
EXPORT_SYMBOL_IF_KUNIT(callout_refill_work);

static void refill_wake(struct irq_work *work)
{
	schedule_work(&callout_refill_work);
}

struct irq_work callout_refill_irq_work = IRQ_WORK_INIT_HARD(refill_wake);
EXPORT_SYMBOL_IF_KUNIT(callout_refill_irq_work);

/* Queue the worker, unless it is queued already. */
static void refill_ask(void)
{
	co_point();
	/* Orders writes of the pool before this read; pairs with refill(). */
	smp_mb();
	if (READ_ONCE(refill_asked))
		return;
	WRITE_ONCE(refill_asked, true);
	irq_work_queue(&callout_refill_irq_work);
}

static bool table_may_grow(void)
{
	return READ_ONCE(kernel_table.nr_chunks) <
	       READ_ONCE(kernel_table.max_chunks);
}

/* Lock the base of @cpu or, if @cpu is not online, the base for callers here. */
static struct callout_base *handle_lock_on(unsigned int cpu,
					   unsigned long *flags)
	__acquires(&base->lock)
{
	struct callout_base *base = NULL;

	if (cpu < nr_cpu_ids)
		base = READ_ONCE(callout_bases[cpu]);
	if (!base)
		return co_lock_home(CALLOUT_CLASS_KERNEL, flags);
	local_irq_save(*flags);
	co_base_lock(base);
	if (likely(base->online))
		return base;
	co_unlock(base, *flags);
	return co_lock_home(CALLOUT_CLASS_KERNEL, flags);
}

/*
 * Take a slot of the kernel's table and arm its callout, on @cpu unless @cpu is
 * negative. With @hashed, a constant, the callout can be found by its function and
 * argument. Any context. Return the handle; 0 if the table is exhausted or @func is
 * NULL.
 */
static __always_inline callout_handle_t
handle_set(callout_func_t *func, void *arg, long ticks, int cpu, bool hashed)
{
	struct callout_base *base;
	struct callout_slot *slot;
	struct callout_pool *pool;
	callout_handle_t handle;
	unsigned long flags;
	bool want = false;

	if (unlikely(!func)) {
		co_no_function();
		return 0;
	}
	if (co_misused_nmi())
		return 0;
	base = cpu < 0 ? co_lock_home(CALLOUT_CLASS_KERNEL, &flags) :
			 handle_lock_on(cpu, &flags);
	pool = co_pool(&kernel_table, base);
	slot = co_slot_get(pool);
	if (unlikely(!slot)) {
		slot = co_slot_steal(&kernel_table, base);
		if (!slot) {
			co_unlock(base, flags);
			if (table_may_grow())
				refill_ask();
			return 0;
		}
		base = co_base(slot->node.cpu);
		pool = co_pool(&kernel_table, base);
	}
	handle = slot->handle;
	/* Both members are also read without the lock. */
	WRITE_ONCE(slot->func, func);
	WRITE_ONCE(slot->arg, (unsigned long)arg);
	co_start_locked(base, &slot->node, co_expiry(base, ticks));
	co_trace_set(base, &slot->node, false);
	if (hashed) {
		co_slot_set_own(slot, (unsigned long)func);
		want = co_table_put(&kernel_table, slot);
	}
	if (unlikely(pool->count < CALLOUT_LOW_WATER || want)) {
		want |= table_may_grow();
		co_unlock(base, flags);
		if (want)
			refill_ask();
		return handle;
	}
	co_unlock(base, flags);
	return handle;
}

/**
 * setcallout() - Set a callout and return a handle for it.
 * @func: the handler
 * @arg: the handler's argument
 * @ticks: ticks from now; less than 1 counts as 1
 *
 * From section VII of Varghese and Lauck's paper. The callout runs once, on the
 * current CPU, or on another CPU if this CPU is nohz_full. It needs no memory from
 * the caller, and none is allocated here.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: the handle; 0 if @func is NULL or the table is exhausted: see
 * callout_reserve() and the module parameter max_callouts.
 */
callout_handle_t setcallout(callout_func_t *func, void *arg, long ticks)
{
	return handle_set(func, arg, ticks, -1, false);
}
EXPORT_SYMBOL_GPL(setcallout);

/**
 * setcallout_on() - Set a callout on a given CPU and return a handle for it.
 * @func: the handler
 * @arg: the handler's argument
 * @ticks: ticks from now; less than 1 counts as 1
 * @cpu: the CPU on which the handler will run; if it is not online, or negative, as
 *	setcallout()
 *
 * As setcallout(). Unlike a struct callout, the callout does not return to @cpu if
 * @cpu goes offline and comes back. With bases=single @cpu is ignored. The paper
 * has one CPU; this function follows callout_reset_on().
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: As setcallout().
 */
callout_handle_t setcallout_on(callout_func_t *func, void *arg, long ticks,
			       int cpu)
{
	return handle_set(func, arg, ticks, cpu, false);
}
EXPORT_SYMBOL_GPL(setcallout_on);

/* As setcallout(), for a callout that co_unset_hashed() can find. */
callout_handle_t co_set_hashed(callout_func_t *func, void *arg, long ticks)
{
	return handle_set(func, arg, ticks, -1, true);
}

/* Move a slot to another tick. It is pending, or was taken out for this purpose. */
static void handle_move(struct callout_base *base, struct callout_slot *slot,
			u64 tick)
	__must_hold(&base->lock)
{
	co_table_requeue(&kernel_table, base, slot, tick);
	co_trace_set(base, &slot->node, true);
}

/*
 * Move a pending slot, whose base's CPU is not online, to another tick, and to the
 * base of an online CPU. In its own base the slot could not stay: that base would
 * have to be programmed, and its CPU may be dead:
 *
 *	CPU0: resetcallout(h)			CPU2: CPU1 is dead
 *						shuts the tick of base 1 down
 *	lock(base 1): h is there
 *	an earlier tick: adds a timer
 *	to CPU1
 *	unlock(base 1)
 *						migrates h, initialises the
 *						tick: the timer is queued
 *
 * During the move the slot is in no base. A search that misses it begins again. The
 * slot stays in the hash all the time, and a call that finds it there waits for the
 * base.
 */
static noinline struct callout_base *
handle_move_away(struct callout_base *base, struct callout_slot *slot,
		 long ticks)
	__must_hold(&base->lock)
{
	co_move_begin();
	co_dequeue_locked(base, &slot->node);
	base = co_rehome(base, &slot->node);
	handle_move(base, slot, co_expiry(base, ticks));
	co_move_end();
	return base;
}

/* Cancel a pending callout of the kernel's table. */
static __always_inline void handle_cancel(struct callout_base *base,
					  struct callout_slot *slot)
	__must_hold(&base->lock)
{
	co_dequeue_locked(base, &slot->node);
	trace_callout_cancel(&slot->node);
	co_slot_release(&kernel_table, base, slot);
}

/*
 * Cancel a callout of the kernel's table by its slot and handle or, unless @ticks is
 * NULL, which is a constant, move it. The handle is stale if the slot has another
 * handle. Interrupts are off. Return as unsetcallout().
 */
static __always_inline int handle_change(struct callout_slot *slot,
					 callout_handle_t handle,
					 const long *ticks)
{
	struct callout_base *base = co_lock_irqs_off(&slot->node);
	int ret = -1;

	if (likely(slot->handle == handle)) {
		if (likely(slot->node.state & CALLOUT_S_PENDING)) {
			if (!ticks)
				handle_cancel(base, slot);
			else if (likely(base->online))
				handle_move(base, slot, co_expiry(base, *ticks));
			else
				base = handle_move_away(base, slot, *ticks);
			ret = 1;
		} else if (co_is_running(base, &slot->node)) {
			ret = 0;
		}
	}
	co_base_unlock(base);
	return ret;
}

/* unsetcallout() or, unless @ticks is NULL, resetcallout() */
static __always_inline int handle_find_change(callout_handle_t handle,
					      const long *ticks)
{
	struct callout_slot *slot;
	unsigned long flags;
	int ret = -1;

	if (co_misused_nmi())
		return ret;
	local_irq_save(flags);
	slot = co_table_slot(&kernel_table, handle);
	co_point();
	/*
	 * 0 names a slot too. That slot may have the handle 0: it is then retired,
	 * neither set nor running.
	 */
	if (likely(slot))
		ret = handle_change(slot, handle, ticks);
	local_irq_restore(flags);
	return ret;
}

/**
 * unsetcallout() - Cancel a callout by its handle.
 * @handle: any number; this has an effect only if the number names a callout that
 *	is set
 *
 * From section VII of Varghese and Lauck's paper.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if it was cancelled; 0 if its handler is running; -1 if the handle
 * is stale: the callout has run, was cancelled, or never existed.
 */
int unsetcallout(callout_handle_t handle)
{
	return handle_find_change(handle, NULL);
}
EXPORT_SYMBOL_GPL(unsetcallout);

/**
 * resetcallout() - Move a callout to another time by its handle.
 * @handle: any number; this has an effect only if the number names a callout that
 *	is set
 * @ticks: ticks from now; less than 1 counts as 1
 *
 * The callout keeps its handle, so that all copies of the handle stay valid. It
 * keeps its function and argument and, while its CPU is online, its CPU. Nothing is
 * allocated or taken from the stock, so unlike unsetcallout() and setcallout() in
 * turn this cannot fail while the callout is set. A callout by handle runs once:
 * its handler cannot move it, only set another callout.
 *
 * The paper only sets and cancels. The device's equivalent is SET.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if it was moved; 0 if its handler is running; -1 if the handle is
 * stale: the callout has run, was cancelled, or never existed.
 */
int resetcallout(callout_handle_t handle, long ticks)
{
	return handle_find_change(handle, &ticks);
}
EXPORT_SYMBOL_GPL(resetcallout);

/*
 * Guess the slot of a key, without the bucket's lock: nearly always it is the only slot
 * of its bucket. Return NULL for no guess. Neither result proves anything: by now the
 * slot may be free or another callout's, so co_hash_take() looks again with the slot's base
 * locked. Slots stay in memory until the unload, and so does the bucket while interrupts
 * are off. slot->func is co_slot_func() of a slot that is in this hash, and is read
 * without a lock elsewhere too.
 */
static struct callout_slot *hash_peek(const unsigned long *bucket, u64 func, u64 arg)
{
	unsigned long word = READ_ONCE(*bucket);
	struct callout_slot *slot;

	co_point();
	slot = rb_entry((struct rb_node *)word, struct callout_slot, link);
	return word && !(word & CALLOUT_BUCKET_STATE) &&
	       (unsigned long)READ_ONCE(slot->func) == func &&
	       READ_ONCE(slot->arg) == arg ? slot : NULL;
}

/*
 * Cancel the callout with this function and argument that expires first, and among
 * equals the callout that was set first. The callout leaves the hash only with its base
 * locked, so that a concurrent call does not miss a callout that fires after all:
 *
 *	CPU0: co_unset_hashed()			CPU1: co_unset_hashed()
 *	finds the only callout of the key
 *						finds none if it has left the
 *						hash: -1
 *	CPU2: it is due, its handler runs
 *	locks its base: it is not pending
 *
 * Any context. Return 1, or -1 if none is set.
 */
int co_unset_hashed(callout_func_t *func, void *arg)
{
	u64 f = (unsigned long)func, a = (unsigned long)arg, handle;
	struct callout_hash *hash = &kernel_table.hash;
	unsigned long flags, *bucket;
	struct callout_base *base;
	struct callout_slot *slot;
	bool done = false;

	if (co_misused_nmi())
		return -1;
	/* Search again if a callout of another base has become the first of the key. */
	do {
		local_irq_save(flags);
		bucket = co_hash_bucket(hash, f, a);
		slot = hash_peek(bucket, f, a);
		if (unlikely(!slot))
			slot = co_hash_find(hash, f, a, &handle);
		co_point();
		if (likely(slot)) {
			base = co_lock_irqs_off(&slot->node);
			slot = co_hash_take(hash, bucket, slot, f, a);
			done = slot && READ_ONCE(slot->node.cpu) == base->index;
			if (likely(done))
				handle_cancel(base, slot);
			co_base_unlock(base);
		}
		local_irq_restore(flags);
	} while (slot && unlikely(!done));
	return slot ? 1 : -1;
}

/**
 * unsetcallout_sync() - Cancel a callout by its handle, wait for its handler.
 * @handle: any number
 *
 * Context: Process context, may sleep. The caller must not be the handler, nor
 * hold a lock that the handler takes.
 * Return: as unsetcallout(). When this returns the handler is not running.
 */
int unsetcallout_sync(callout_handle_t handle)
{
	struct callout_slot *slot;
	struct callout_base *base;
	unsigned long flags, seq;
	bool running;
	int ret;

	might_sleep();
	co_debug_wait(handle_class);

	ret = unsetcallout(handle);
	if (ret)
		return ret;
	co_point();
	slot = co_table_lookup(&kernel_table, handle);
	base = co_lock(&slot->node, &flags);
	/* The handler may have returned since, and the slot may have been reused. */
	running = slot->handle == handle &&
		  co_is_running(base, &slot->node);
	seq = base->run_seq;
	co_unlock(base, flags);
	co_point();
	if (running)
		co_wait_for_handler(base, seq);
	return 0;
}
EXPORT_SYMBOL_GPL(unsetcallout_sync);

/**
 * callout_reserve() - Make room for callouts that are set by handle.
 * @n: number of callouts
 *
 * setcallout() allocates nothing; a worker keeps some free slots in stock. Call
 * this before setting many callouts at once. The slots are not kept for the caller:
 * other callers may take them. They are on the CPU on which setcallout() would set
 * a callout now or, when max_callouts is reached, on any CPU.
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOSPC if max_callouts does not allow that many; -ENOMEM.
 */
int callout_reserve(unsigned int n)
{
	return co_table_reserve(&kernel_table, co_base(co_home_cpu()), n);
}
EXPORT_SYMBOL_GPL(callout_reserve);

/* EXPIRYPROCESSING for a slot, which stays in use until the handler returns. */
static unsigned int co_expire_handle(struct callout_base *base,
				     struct callout_node *n,
				     unsigned int *budget)
	__must_hold(&base->lock)
{
	struct callout_pool *pool = co_pool(&kernel_table, base);
	struct callout_slot *slot = co_to_slot(n);
	void *arg = (void *)(unsigned long)slot->arg;
	callout_func_t *func = slot->func;

	co_take_started(base, n);
	co_slot_unhash(&kernel_table, slot);
	WRITE_ONCE(pool->runner, current);
	co_run(base, n, handle_class, func, arg);
	WRITE_ONCE(pool->runner, NULL);
	if (unlikely(!co_slot_renew(&kernel_table, slot)))
		slot = co_slot_get(pool);
	/* If the handler has used the spare slot, its own slot is the next one. */
	if (unlikely(!pool->spare))
		pool->spare = slot;
	else if (likely(slot))
		co_pool_add(pool, slot);
	return 1;
}

static struct callout_owner handle_owner(const struct callout_node *n)
{
	return (struct callout_owner){ .func = co_to_slot(n)->func };
}

static const struct callout_kind_ops kind_handle = {
	.expire	= co_expire_handle,
	.owner	= handle_owner,
};

/*
 * Create the kernel's table, for up to @max_slots callouts. If this fails the
 * caller must call co_handles_exit().
 */
int co_handles_init(unsigned int max_slots)
{
	unsigned int cpu;
	int ret;

	co_register_kind(CALLOUT_KIND_HANDLE, &kind_handle);
	/*
	 * In addition to @max_slots callouts that are set, each CPU's running
	 * handler has a slot.
	 */
	ret = co_table_init(&kernel_table, CALLOUT_KIND_HANDLE,
			    max_slots + num_possible_cpus(), GFP_KERNEL);
	if (ret)
		return ret;
	if (IS_ENABLED(CONFIG_CALLOUT_LAB))
		co_table_search_init();
	ret = co_hash_init(&kernel_table.hash, HASH_BITS, GFP_KERNEL);
	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (!ret)
			ret = co_table_grow(&kernel_table, cpu,
					    DIV_ROUND_UP(FIRST_SLOTS,
							 CALLOUT_CHUNK_SLOTS),
					    UINT_MAX, GFP_KERNEL);
	cpus_read_unlock();
	return ret == -ENOSPC ? 0 : ret;
}

/*
 * End the worker, which uses the bases. No handler is left that sets a callout and
 * could ask for the worker. May sleep.
 */
void co_handles_stop(void)
{
	irq_work_sync(&callout_refill_irq_work);
	cancel_work_sync(&callout_refill_work);
}

/*
 * Free the kernel's table. The bases must have been freed: their schemes may have
 * pending callouts in this memory.
 */
void co_handles_exit(void)
{
	co_table_destroy(&kernel_table);
}
