// SPDX-License-Identifier: GPL-2.0
/*
 * handle.c - handle tables: from a 64-bit number to a callout in O(1)
 *
 * A handle is the number of a slot and a generation. The slot holds the
 * callout itself, so to find it takes two loads: the chunk in the table's
 * directory, and there the slot, which is at a known place. The handle in the
 * slot tells whether it is still the one that the caller means. It changes
 * whenever the slot is freed, so a handle that has fired, was cancelled, is
 * of another table or was made up finds a slot with another handle, or no
 * slot. Generations start at random; a slot that has used up its generations
 * is never used again, so no handle ever comes back.
 *
 * Chunks are freed only with their table. A stale handle may therefore lock
 * the base of a slot's callout and look, whatever has become of the slot.
 *
 * While its handler runs a callout keeps its slot, in no pool, so it belongs to
 * the base that runs it, and that base's lock, which a cancel takes anyway, is
 * enough to tell a handle that is running from one that is stale:
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
 * So that a handler can set a callout when all others are in use, a base has
 * one slot to spare, which goes into its pool when a handler starts. The
 * handler's own is the spare one when it has returned.
 *
 * Free slots are kept for each base, under the base's lock, and a slot goes
 * back to the base that its callout belongs to. So setcallout() and
 * unsetcallout() take one lock each, that of the base. A base that has no
 * free slot steals some of another's, and that is the only way, apart from
 * CPU hotplug, that a slot changes its base:
 *
 *	CPU0: callout_slot_steal()		CPU1: unsetcallout(stale)
 *	lock(table->steal)
 *	lock(base 1)
 *	takes slot off base 1's pool
 *	slot.node.cpu = MOVING
 *	unlock(base 1)				reads slot.node.cpu: MOVING, spins
 *	lock(base 0)
 *	slot.node.cpu = 0				reads slot.node.cpu: 0
 *	puts slots in base 0's pool		waits for base 0
 *	unlock(table->steal)
 *	takes one of them, unlock(base 0)	locks base 0: another handle
 *
 * Without table->steal CPU1 could look for a slot while CPU0 has the last ones
 * on their way, and find none though the table is not exhausted.
 *
 * Nothing is allocated in the caller's context. When the free slots of a base
 * become few, a worker adds some.
 */
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "cpu.h"
#include "debugobjects.h"
#include "expiry.h"
#include "handle.h"
#include "kcompat.h"

/* Slots that each CPU begins with. */
#define FIRST_SLOTS	256U

/* Slots moved at a time from one base's pool to another's. */
#define STEAL_SLOTS	32U

#define HASH_BITS	12

static struct callout_table kernel_table;

/* The worker is going to look at all pools, and at the hash. */
static bool refill_asked;

DEFINE_STATIC_KEY_FALSE(callout_searches);

/**
 * callout_table_init - makes an empty table
 * @table: the table, zeroed
 * @kind: kind of its callouts
 * @max_slots: how many slots it may have
 * @gfp: how to allocate
 *
 * Return: 0 or -ENOMEM.
 */
int callout_table_init(struct callout_table *table, enum callout_kind kind,
		       unsigned int max_slots, gfp_t gfp)
{
	table->pools = alloc_percpu_gfp(struct callout_pool, gfp);
	if (!table->pools)
		return -ENOMEM;
	table->kind = kind;
	table->max_chunks = min_t(unsigned int, CALLOUT_MAX_CHUNKS,
				  DIV_ROUND_UP(max_slots, CALLOUT_CHUNK_SLOTS));
	/* At least half of all generations are left to each slot. */
	table->first = (get_random_u64() & (CALLOUT_GEN_MAX >> 1)) | 1;
	atomic_set(&table->retired, 0);
	mutex_init(&table->grow);
	raw_spin_lock_init(&table->steal);
	raw_spin_lock_init(&table->hash.lock);
	return 0;
}

/**
 * callout_table_destroy - frees a table
 * @table: the table, with no callout pending and nobody using it
 */
void callout_table_destroy(struct callout_table *table)
{
	struct callout_directory *dir = rcu_dereference_raw(table->directory);
	unsigned int i;

	for (i = 0; i < table->nr_chunks; i++) {
		/* When the kernel's own goes the bases have gone already. */
		if (table != &kernel_table)
			callout_base_unreserve(callout_base(dir->chunk[i]->base),
					       CALLOUT_CHUNK_SLOTS);
		kfree(dir->chunk[i]);
		cond_resched();
	}
	kvfree(dir);
	callout_hash_destroy(&table->hash);
	mutex_destroy(&table->grow);
	free_percpu(table->pools);
}

/* Makes room in the directory for one more chunk. */
static int table_reserve_chunk(struct callout_table *table, gfp_t gfp)
{
	struct callout_directory *old, *dir;
	unsigned int size;

	old = rcu_dereference_protected(table->directory,
					lockdep_is_held(&table->grow));
	if (old && table->nr_chunks < old->size)
		return 0;
	size = old ? 2 * old->size : 8;
	dir = kvzalloc(struct_size(dir, chunk, size), gfp);
	if (!dir)
		return -ENOMEM;
	dir->size = size;
	if (old)
		memcpy(dir->chunk, old->chunk,
		       old->size * sizeof(old->chunk[0]));
	rcu_assign_pointer(table->directory, dir);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

/* The pool's base is locked, and the slot is of that base. */
static void pool_add(struct callout_pool *pool, struct callout_slot *slot)
{
	slot->node.word[0] = (unsigned long)pool->free;
	pool->free = slot;
	WRITE_ONCE(pool->count, pool->count + 1);
}

static int table_add_chunk(struct callout_table *table,
			   struct callout_base *base, gfp_t gfp)
{
	struct callout_directory *dir;
	struct callout_chunk *chunk;
	struct callout_slot *slot;
	struct callout_pool *pool;
	unsigned int n, i;
	int ret;

	n = table->nr_chunks;
	if (n >= table->max_chunks)
		return -ENOSPC;
	ret = table_reserve_chunk(table, gfp);
	if (ret)
		return ret;
	/* Without room setting is slower: the kernel's callers live with that. */
	ret = callout_base_reserve(base, CALLOUT_CHUNK_SLOTS);
	if (ret && table != &kernel_table)
		return ret;
	chunk = kmalloc(CALLOUT_CHUNK_SIZE, gfp | __GFP_ZERO);
	if (!chunk) {
		if (!ret)
			callout_base_unreserve(base, CALLOUT_CHUNK_SLOTS);
		return -ENOMEM;
	}

	chunk->table = table;
	chunk->base = base->index;
	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++) {
		slot = &chunk->slot[i];
		callout_setup(&slot->node, table->kind, base->index);
		slot->handle = table->first << CALLOUT_SLOT_BITS |
			       n << CALLOUT_PLACE_BITS | i;
	}
	dir = rcu_dereference_protected(table->directory,
					lockdep_is_held(&table->grow));
	/* Pairs with the load in callout_table_slot(). */
	smp_store_release(&dir->chunk[n], chunk);
	WRITE_ONCE(table->nr_chunks, n + 1);

	raw_spin_lock_irq(&base->lock);
	pool = callout_pool(table, base);
	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
		pool_add(pool, &chunk->slot[i]);
	if (!pool->spare && table == &kernel_table)
		pool->spare = callout_slot_get(pool);
	raw_spin_unlock_irq(&base->lock);
	return 0;
}

/**
 * callout_table_grow - adds free slots to a table
 * @table: the table
 * @cpu: for which base
 * @chunks: how many chunks of slots
 * @gfp: how to allocate
 *
 * Context: Process context, may sleep.
 * Return: 0, -ENOSPC if the table would exceed its maximum, or -ENOMEM; some
 * chunks may have been added even then.
 */
int callout_table_grow(struct callout_table *table, unsigned int cpu,
		       unsigned int chunks, gfp_t gfp)
{
	struct callout_base *base = callout_base(cpu);
	int ret = 0;

	mutex_lock(&table->grow);
	while (chunks-- && !ret)
		ret = table_add_chunk(table, base, gfp);
	mutex_unlock(&table->grow);
	return ret;
}

/* Takes up to @most slots, and a steal's worth, off a base's pool, in a chain. */
static struct callout_slot *pool_take(struct callout_table *table,
				      unsigned int cpu, unsigned int most)
	__must_hold(&table->steal)
{
	struct callout_pool *pool = per_cpu_ptr(table->pools, cpu);
	struct callout_slot *chain = NULL, *slot;
	struct callout_base *base;

	/* Most CPUs that are asked when slots are scarce have none either. */
	if (!READ_ONCE(pool->count))
		return NULL;
	base = callout_base(cpu);
	raw_spin_lock(&base->lock);
	for (most = min(most, STEAL_SLOTS); most; most--) {
		slot = callout_slot_get(pool);
		if (!slot)
			break;
		WRITE_ONCE(slot->node.cpu, CALLOUT_CPU_MOVING);
		slot->node.word[0] = (unsigned long)chain;
		chain = slot;
	}
	raw_spin_unlock(&base->lock);
	return chain;
}

/* Puts what pool_take() returned into another base's pool. */
static unsigned int pool_give(struct callout_table *table,
			      struct callout_base *base,
			      struct callout_slot *chain)
	__must_hold(&base->lock)
{
	struct callout_pool *pool = callout_pool(table, base);
	struct callout_slot *slot;
	unsigned int n = 0;

	while (chain) {
		slot = chain;
		chain = (void *)slot->node.word[0];
		pool_add(pool, slot);
		n++;
		/* Pairs with the READ_ONCE() in callout_lock(). */
		WRITE_ONCE(slot->node.cpu, base->index);
	}
	return n;
}

/**
 * callout_slot_steal - takes a free slot where a base has none
 * @table: the table
 * @base: the base, locked; the lock is dropped in between
 *
 * Looks into the pools of the other bases, beginning with the next, and moves
 * some slots of the first that has any. Each is looked at once: what is freed
 * behind the search is not found.
 *
 * Context: Interrupts off.
 * Return: the slot, and the base that its callout.cpu names is locked: @base,
 * or another if the CPU of @base has gone meanwhile. NULL if there was none,
 * and @base is locked.
 */
noinline struct callout_slot *callout_slot_steal(struct callout_table *table,
						 struct callout_base *base)
	__must_hold(&base->lock)
{
	struct callout_slot *slot = NULL;
	unsigned int cpu;

	raw_spin_unlock(&base->lock);
	raw_spin_lock(&table->steal);
	for_each_cpu_wrap(cpu, cpu_possible_mask, base->index) {
		if (cpu != base->index)
			slot = pool_take(table, cpu, STEAL_SLOTS);
		if (slot)
			break;
	}
	raw_spin_lock(&base->lock);
	pool_give(table, base, slot);
	slot = callout_slot_get(callout_pool(table, base));
	raw_spin_unlock(&table->steal);
	if (slot)
		callout_rehome(base, &slot->node);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(callout_slot_steal);

/*
 * Moves up to @most free slots of the others to a base, and says how many. Each
 * is asked once, until it has none.
 */
static unsigned int table_collect(struct callout_table *table,
				  struct callout_base *base, unsigned int most)
{
	unsigned int cpu, n, left = most;
	struct callout_slot *chain;

	for_each_cpu_wrap(cpu, cpu_possible_mask, base->index) {
		if (cpu == base->index)
			continue;
		do {
			raw_spin_lock_irq(&table->steal);
			chain = pool_take(table, cpu, left);
			raw_spin_lock(&base->lock);
			n = pool_give(table, base, chain);
			raw_spin_unlock(&base->lock);
			raw_spin_unlock_irq(&table->steal);
			left -= n;
			cond_resched();
		} while (n && left);
	}
	return most - left;
}

/**
 * callout_table_lookup - finds the slot that a handle names
 * @table: the table
 * @handle: any number
 *
 * Context: Any.
 * Return: the slot, which may have another handle by now, or NULL.
 */
struct callout_slot *callout_table_lookup(struct callout_table *table,
					  u64 handle)
{
	struct callout_slot *slot;

	rcu_read_lock();
	slot = callout_table_slot(table, handle);
	rcu_read_unlock();
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(callout_table_lookup);

/* What callout_table_search() looks for. */
struct table_key {
	struct callout_table *table;
	u64 func;
	u64 arg;
};

static bool table_match(struct callout_node *n, const void *data)
{
	const struct table_key *key = data;

	/* Of this kind: in a slot, where callout.active is the hash's. */
	return n->kind == key->table->kind &&
	       n->mark == CALLOUT_HASH_SEARCHED &&
	       callout_to_slot(n)->key == key->func &&
	       callout_to_slot(n)->arg == key->arg &&
	       callout_slot_table(callout_to_slot(n)) == key->table;
}

static struct callout_slot *search_base(struct callout_base *base,
					const struct table_key *key)
	__must_hold(&base->lock)
{
	struct callout_node *n = callout_find_locked(base, table_match, key);

	return n ? callout_to_slot(n) : NULL;
}

/* One that was found in a base let go of since; no slot: none. */
struct table_found {
	struct callout_slot *slot;
	u64 handle;
};

/* Searches all bases but @home. */
static struct table_found search_others(struct callout_base *home,
					const struct table_key *key)
{
	struct table_found found = { NULL, 0 };
	struct callout_slot *slot;
	struct callout_base *base;
	u64 expires = U64_MAX;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		base = callout_base_owned_by(cpu);
		if (!base || base == home)
			continue;
		raw_spin_lock(&base->lock);
		slot = search_base(base, key);
		if (slot && slot->node.expires < expires) {
			expires = slot->node.expires;
			found.slot = slot;
			found.handle = slot->handle;
		}
		raw_spin_unlock(&base->lock);
	}
	return found;
}

/* Is what was found before due before @slot, which may be NULL? */
static bool found_is_earlier(struct table_found found,
			     const struct callout_slot *slot)
{
	/* Its base is not locked: if that changes now it was set anew. */
	u64 expires = data_race(found.slot->node.expires);

	return !slot || expires < slot->node.expires;
}

/*
 * Locks the base of what was found before; NULL if that is not pending now.
 * Sparse, here and below, does not know a lock that is held sometimes.
 */
static struct callout_base *lock_found(struct table_found found)
{
	struct callout_base *base = callout_lock_irqs_off(&found.slot->node);

	if (found.slot->handle == found.handle &&
	    found.slot->node.state & CALLOUT_S_PENDING) {
		__release(&base->lock);
		return base;
	}
	raw_spin_unlock(&base->lock);
	return NULL;
}

/* callout_table_search(); to sparse nothing is locked. */
static __always_inline struct callout_slot *
table_search(struct callout_table *table, u64 func, u64 arg,
	     struct callout_base **locked)
{
	const struct table_key key = { table, func, arg };
	struct table_found other = { NULL, 0 };
	struct callout_base *base, *home;
	struct callout_slot *slot;
	unsigned int seq;

	home = callout_base(smp_processor_id());
	for (;;) {
		seq = read_seqcount_begin(&callout_moves);
		if (nr_cpu_ids > 1)
			other = search_others(home, &key);
		base = home;
		raw_spin_lock(&base->lock);
		slot = search_base(base, &key);
		if (unlikely(other.slot) && found_is_earlier(other, slot)) {
			raw_spin_unlock(&base->lock);
			slot = other.slot;
			base = lock_found(other);
			if (!base)
				continue;
			__acquire(&base->lock);
		}
		if (likely(!read_seqcount_retry(&callout_moves, seq)))
			break;
		raw_spin_unlock(&base->lock);
	}
	if (slot)
		__release(&base->lock);
	else
		raw_spin_unlock(&base->lock);
	*locked = base;
	return slot;
}

/**
 * callout_table_search - finds a pending callout by its function and argument
 * @table: the table
 * @func: the function
 * @arg: the argument
 * @locked: the base of what was found, which is locked
 *
 * Callout by callout, with the scheme's find: the facility before Costello's
 * hash. All bases are searched, this CPU's last, each with its lock held and
 * interrupts off all the time that it takes.
 *
 * Of those that are pending from before the call until after it, it finds the
 * one that expires first; of those that do, one of this CPU before one of
 * another, and on one CPU the one that was set first. One that is set, is
 * cancelled or fires meanwhile may be found or not.
 *
 * Context: Interrupts off.
 * Return: the slot, pending; or NULL, and then nothing is locked.
 */
struct callout_slot *callout_table_search(struct callout_table *table,
					  u64 func, u64 arg,
					  struct callout_base **locked)
{
	return table_search(table, func, arg, locked);
}

/* From here on a slot's handle is stale; false if it can have no other. */
static bool slot_renew(struct callout_table *table, struct callout_slot *slot)
{
	if (unlikely(slot->handle >> CALLOUT_SLOT_BITS == CALLOUT_GEN_MAX)) {
		slot->handle = 0;
		atomic_inc(&table->retired);
		return false;
	}
	slot->handle += CALLOUT_GEN_ONE;
	return true;
}

/**
 * callout_slot_put - frees a slot; from here on its handle is stale
 * @table: the table
 * @base: the base that it belongs to, locked
 * @slot: the slot, not pending, not running and not in the hash
 */
void callout_slot_put(struct callout_table *table, struct callout_base *base,
		      struct callout_slot *slot)
{
	if (slot_renew(table, slot))
		pool_add(callout_pool(table, base), slot);
}
EXPORT_SYMBOL_IF_KUNIT(callout_slot_put);

static void slot_unhash(struct callout_table *table, struct callout_slot *slot)
{
	/* Nobody inserts it meanwhile: once it has left it stays out. */
	if (READ_ONCE(slot->node.mark))
		callout_hash_remove(&table->hash, slot);
}

/**
 * callout_slot_release - frees a slot that may be in the hash
 * @table: the table
 * @base: the base that it belongs to, locked
 * @slot: the slot, not pending
 */
void callout_slot_release(struct callout_table *table,
			  struct callout_base *base, struct callout_slot *slot)
{
	slot_unhash(table, slot);
	callout_slot_put(table, base, slot);
}

/* The rest is the kernel's own table. */

#ifdef CONFIG_LOCKDEP
/* All handlers of it are one to lockdep. */
static struct callout_class handle_class_of_all = { .name = "setcallout" };
static struct callout_class *const handle_class = &handle_class_of_all;
#else
static struct callout_class *const handle_class;
#endif

/**
 * callout_kernel_table - the table of setcallout() and timeout()
 *
 * Return: the table.
 */
struct callout_table *callout_kernel_table(void)
{
	return &kernel_table;
}
EXPORT_SYMBOL_IF_KUNIT(callout_kernel_table);

static void refill(struct work_struct *work)
{
	unsigned int cpu, chunks;

	/*
	 * First: who finds few slots from here on asks again. Orders this before
	 * the looks at the pools; pairs with refill_ask().
	 */
	smp_store_mb(refill_asked, false);
	/* Grow by a quarter each time, so that it does not come often. */
	chunks = 1 + CALLOUT_LOW_WATER / CALLOUT_CHUNK_SLOTS +
		 READ_ONCE(kernel_table.nr_chunks) / 4 / num_online_cpus();
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct callout_pool *pool = callout_pool(&kernel_table,
							 callout_base(cpu));

		if (READ_ONCE(pool->count) < CALLOUT_LOW_WATER)
			callout_table_grow(&kernel_table, cpu, chunks,
					   GFP_KERNEL);
	}
	cpus_read_unlock();

	mutex_lock(&kernel_table.grow);
	callout_hash_grow(&kernel_table.hash, GFP_KERNEL);
	mutex_unlock(&kernel_table.grow);
}

static DECLARE_WORK(refill_work, refill);

static void refill_wake(struct irq_work *work)
{
	schedule_work(&refill_work);
}

struct irq_work callout_refill_irq_work = IRQ_WORK_INIT(refill_wake);
EXPORT_SYMBOL_IF_KUNIT(callout_refill_irq_work);

/* Has the worker run, if it is not going to. */
static void refill_ask(void)
{
	/* Orders what is asked for before the look; pairs with refill(). */
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

/**
 * callout_set - takes a slot of the kernel's table and sets its callout
 * @func: the handler
 * @arg: its argument
 * @ticks: how many ticks from now
 * @hashed: whether timeout's hash is to find it
 *
 * Context: Any, hard interrupt included.
 * Return: the handle, or 0 if the table is exhausted or @func is NULL.
 */
callout_handle_t callout_set(callout_func_t *func, void *arg, long ticks,
			     bool hashed)
{
	struct callout_base *base;
	struct callout_slot *slot;
	struct callout_pool *pool;
	callout_handle_t handle;
	unsigned long flags;
	bool want;

	if (unlikely(!func)) {
		callout_no_function();
		return 0;
	}
	base = callout_lock_home(&flags);
	pool = callout_pool(&kernel_table, base);
	slot = callout_slot_get(pool);
	if (unlikely(!slot)) {
		slot = callout_slot_steal(&kernel_table, base);
		if (!slot) {
			callout_unlock(base, flags);
			if (table_may_grow())
				refill_ask();
			return 0;
		}
		base = callout_base(slot->node.cpu);
		pool = callout_pool(&kernel_table, base);
	}
	handle = slot->handle;
	/* callout_untimeout_handle() looks at them without the lock. */
	WRITE_ONCE(slot->func, func);
	WRITE_ONCE(slot->arg, (unsigned long)arg);
	callout_start_locked(base, &slot->node, callout_expiry(base, ticks));
	want = false;
	if (hashed) {
		slot->key = (unsigned long)func;
		want = callout_table_put(&kernel_table, slot);
	}
	if (unlikely(pool->count < CALLOUT_LOW_WATER))
		want |= table_may_grow();
	callout_unlock(base, flags);
	if (unlikely(want))
		refill_ask();
	return handle;
}

/**
 * setcallout - sets a callout and returns a handle for it
 * @func: the handler
 * @arg: its argument
 * @ticks: how many ticks from now; less than 1 counts as 1
 *
 * From section VII of Varghese and Lauck's paper. The callout runs on the
 * current CPU (on another if this one is nohz_full), once. No memory of the
 * caller is used, none is allocated here.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: the handle, or 0 if the table is exhausted: see callout_reserve()
 * and the module parameter max_callouts. Also if @func is NULL.
 */
callout_handle_t setcallout(callout_func_t *func, void *arg, long ticks)
{
	return callout_set(func, arg, ticks, false);
}
EXPORT_SYMBOL_GPL(setcallout);

/**
 * callout_untimeout_searched - callout_untimeout() where the scheme has a find
 * @func: the handler
 * @arg: its argument
 *
 * Return: 1 if one was cancelled, -1 if none is outstanding.
 */
int callout_untimeout_searched(callout_func_t *func, void *arg)
{
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	slot = table_search(&kernel_table, (unsigned long)func,
			    (unsigned long)arg, &base);
	if (slot) {
		__acquire(&base->lock);
		callout_dequeue_locked(base, &slot->node);
		trace_callout_cancel(&slot->node);
		slot->node.mark = CALLOUT_HASH_OUT;
		callout_slot_put(&kernel_table, base, slot);
		raw_spin_unlock(&base->lock);
	}
	local_irq_restore(flags);
	return slot ? 1 : -1;
}

/**
 * callout_unset - cancels a callout of the kernel's table
 * @slot: its slot
 * @handle: its handle; if the slot has another by now it is stale
 *
 * Context: Interrupts off.
 * Return: as unsetcallout().
 */
int callout_unset(struct callout_slot *slot, callout_handle_t handle)
{
	struct callout_base *base = callout_lock_irqs_off(&slot->node);
	int ret = -1;

	if (likely(slot->handle == handle)) {
		if (likely(slot->node.state & CALLOUT_S_PENDING)) {
			callout_dequeue_locked(base, &slot->node);
			trace_callout_cancel(&slot->node);
			callout_slot_release(&kernel_table, base, slot);
			ret = 1;
		} else if (callout_is_running(base, &slot->node)) {
			ret = 0;
		}
	}
	raw_spin_unlock(&base->lock);
	return ret;
}

/**
 * unsetcallout - cancels a callout
 * @handle: any number; only a handle of an outstanding callout has an effect
 *
 * From section VII of Varghese and Lauck's paper.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if it was cancelled; 0 if its handler is running; -1 if it is not
 * outstanding: it has run, was cancelled, or never was.
 */
int unsetcallout(callout_handle_t handle)
{
	struct callout_slot *slot = callout_table_lookup(&kernel_table, handle);
	unsigned long flags;
	int ret;

	if (unlikely(!slot || !handle))
		return -1;
	local_irq_save(flags);
	ret = callout_unset(slot, handle);
	local_irq_restore(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(unsetcallout);

/**
 * unsetcallout_sync - cancels a callout and waits for its handler
 * @handle: any number
 *
 * Context: Process context, may sleep; not from the handler itself, nor with
 * a lock held that the handler takes.
 * Return: as unsetcallout(), and when it returns the handler is not running.
 */
int unsetcallout_sync(callout_handle_t handle)
{
	struct callout_slot *slot;
	struct callout_base *base;
	unsigned long flags, seq;
	bool running;
	int ret;

	might_sleep();
	callout_debug_wait(handle_class);

	ret = unsetcallout(handle);
	if (ret)
		return ret;
	slot = callout_table_lookup(&kernel_table, handle);
	base = callout_lock(&slot->node, &flags);
	/* If not it has returned since, and the slot may be another's. */
	running = slot->handle == handle && callout_is_running(base, &slot->node);
	seq = base->run_seq;
	callout_unlock(base, flags);
	if (running)
		callout_wait_run(base, seq);
	return 0;
}
EXPORT_SYMBOL_GPL(unsetcallout_sync);

/* All free slots, and those that the table may still get. */
static unsigned int table_room(struct callout_table *table)
{
	unsigned int cpu, n;

	n = (table->max_chunks - table->nr_chunks) * CALLOUT_CHUNK_SLOTS;
	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_ptr(table->pools, cpu)->count);
	return n;
}

/* Others may take slots meanwhile, but no other adds or collects any. */
static int table_reserve(struct callout_table *table, struct callout_base *base,
			 unsigned int n)
{
	struct callout_pool *pool = callout_pool(table, base);
	unsigned int count;
	int ret = 0;

	lockdep_assert_held(&table->grow);
	if (table_room(table) < n)
		return -ENOSPC;
	while (!ret && READ_ONCE(pool->count) < n) {
		ret = table_add_chunk(table, base, GFP_KERNEL);
		cond_resched();
	}
	if (ret != -ENOSPC)
		return ret;
	/* The table is at its limit, but the other CPUs do not need all. */
	count = READ_ONCE(pool->count);
	if (count < n)
		count += table_collect(table, base, n - count);
	return count < n ? -ENOSPC : 0;
}

/**
 * callout_reserve - makes room for callouts that are set by handle
 * @n: how many more must be possible
 *
 * setcallout() allocates nothing; a worker keeps some callouts in stock. Who
 * is going to set many at once asks for them here first. They are not kept
 * for the caller: others may take them. The room is on the CPU on which
 * setcallout() would set a callout now.
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOSPC if that is more than max_callouts allows; -ENOMEM.
 */
int callout_reserve(unsigned int n)
{
	struct callout_base *base = callout_base(callout_home_cpu());
	int ret;

	mutex_lock(&kernel_table.grow);
	ret = table_reserve(&kernel_table, base, n);
	mutex_unlock(&kernel_table.grow);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_reserve);

/* A handler is to start: its base has one more slot to set callouts with. */
static void pool_lend_spare(struct callout_pool *pool)
{
	if (likely(pool->spare))
		pool_add(pool, pool->spare);
	pool->spare = NULL;
}

/* It has returned: its slot is the next one's spare. */
static void pool_return_spare(struct callout_pool *pool,
			      struct callout_slot *slot)
{
	/* The table may have grown meanwhile. */
	if (unlikely(pool->spare))
		pool_add(pool, slot);
	else
		pool->spare = slot;
}

/* EXPIRYPROCESSING for a slot: it stays its handler's until that returns. */
static unsigned int callout_expire_handle(struct callout_base *base,
					  struct callout_node *n)
	__must_hold(&base->lock)
{
	struct callout_pool *pool = callout_pool(&kernel_table, base);
	struct lockdep_map map __maybe_unused = callout_class_map(handle_class);
	struct callout_slot *slot = callout_to_slot(n);
	void *arg = (void *)(unsigned long)slot->arg;
	callout_func_t *func = slot->func;

	callout_take_due(base, n);
	slot_unhash(&kernel_table, slot);
	pool_lend_spare(pool);
	callout_run_begin(base, n);
	lock_map_acquire(&map);
	callout_call(base, func, arg);
	lock_map_release(&map);
	callout_check_context(base, func);
	callout_run_end(base, arg);
	if (unlikely(!slot_renew(&kernel_table, slot)))
		slot = callout_slot_get(pool);
	if (likely(slot))
		pool_return_spare(pool, slot);
	return 1;
}

static callout_func_t *func_of_handle(const struct callout_node *n)
{
	return callout_to_slot(n)->func;
}

static const struct callout_kind_ops kind_handle = {
	.expire	= callout_expire_handle,
	.func	= func_of_handle,
};

/**
 * callout_handles_init - makes the kernel's table
 * @max_slots: how many callouts may be outstanding
 *
 * Return: 0 or -ENOMEM.
 */
int callout_handles_init(unsigned int max_slots)
{
	unsigned int cpu;
	int ret;

	callout_register_kind(CALLOUT_KIND_HANDLE, &kind_handle);
	/* A handler that runs has its slot, and others may set as many more. */
	ret = callout_table_init(&kernel_table, CALLOUT_KIND_HANDLE,
				 max_slots + num_possible_cpus(), GFP_KERNEL);
	if (ret)
		return ret;
	if (callout_base(0)->scheme->ops->find)
		static_branch_enable(&callout_searches);
	ret = callout_hash_init(&kernel_table.hash, HASH_BITS, GFP_KERNEL);
	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (!ret)
			ret = callout_table_grow(&kernel_table, cpu,
						 DIV_ROUND_UP(FIRST_SLOTS,
							      CALLOUT_CHUNK_SLOTS),
						 GFP_KERNEL);
	cpus_read_unlock();
	if (ret == -ENOSPC)
		ret = 0;
	if (ret)
		callout_table_destroy(&kernel_table);
	return ret;
}

/**
 * callout_handles_stop - ends the worker; before the bases go
 */
void callout_handles_stop(void)
{
	irq_work_sync(&callout_refill_irq_work);
	cancel_work_sync(&refill_work);
}

/**
 * callout_handles_exit - frees the kernel's table
 *
 * The bases must be gone before: pending callouts are in this memory.
 */
void callout_handles_exit(void)
{
	callout_table_destroy(&kernel_table);
}
