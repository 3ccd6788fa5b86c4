// SPDX-License-Identifier: GPL-2.0
/*
 * table.c - handle tables: from a 64-bit number to a callout in O(1)
 *
 * A handle is the number of a slot and a generation. The slot holds the callout
 * itself, so a lookup takes two loads: the chunk from the table's directory, then the
 * slot, at a known place in the chunk. A handle is valid if it equals the handle in
 * the slot, which changes whenever the slot is freed. So the handle of a callout that
 * has fired or was cancelled, a handle of another table, and an invented handle all
 * find a slot with another handle, or no slot. Generations start at random; a slot
 * that has used up its generations is retired, so no handle is ever reused: there is
 * no ABA.
 *
 * Chunks are freed only with their table. So a caller with a stale handle or slot may lock
 * the base of the slot and look at the slot, whatever the slot is used for by now.
 *
 * Free slots are kept for each base, under the base's lock, and a slot returns to the
 * base that its callout belongs to. So setting or cancelling a callout takes one lock,
 * the base's lock. A base that has no free slot steals some from another base. Apart
 * from CPU hotplug only a steal changes the base of a slot:
 *
 *	CPU0: co_slot_steal()		CPU1: cancels a stale handle
 *	lock(table->steal)
 *	lock(base 1)
 *	takes slot off base 1's pool
 *	slot.node.cpu = MOVING
 *	unlock(base 1)				reads node.cpu: MOVING, spins
 *	lock(base 0)
 *	slot.node.cpu = 0			reads node.cpu: 0
 *	puts slots in base 0's pool		waits for base 0
 *	unlock(table->steal)
 *	takes one of them, unlock(base 0)	locks base 0: another handle
 *
 * Without table->steal CPU1 could look for a free slot while CPU0 is moving the last
 * free slots, and find none although the table is not exhausted.
 *
 * When the table is exhausted, all CPUs may wait for table->steal, with interrupts
 * off, and a search reads each CPU's pool. So one search serves all CPUs that have
 * waited for it:
 *
 *	CPU0: setcallout()	CPU1: setcallout()	CPU2: setcallout()
 *	search 7
 *				sees 7, waits		sees 7, waits
 *	finds none: failed = 7
 *				search 8
 *				finds none: failed = 8
 *							failed is after 7: none
 *
 * CPU1 cannot use search 7, which may have passed a pool before a slot came there.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "core/queue.h"
#include "hash.h"
#include "kcompat.h"
#include "table.h"

/* The number of slots moved at a time from one base's pool to another's. */
#define STEAL_SLOTS	32U

/* Allocate the pools of a table. Return NULL without memory. A test replaces this. */
VISIBLE_IF_KUNIT struct callout_pool __percpu *co_pools_alloc(gfp_t gfp)
{
	KUNIT_STATIC_STUB_REDIRECT(co_pools_alloc, gfp);
	return alloc_percpu_gfp(struct callout_pool, gfp);
}
EXPORT_SYMBOL_IF_KUNIT(co_pools_alloc);

/*
 * Make an empty table. The caller has zeroed the table, except for its class and
 * the three properties that the caller chooses. Return 0 or -ENOMEM.
 */
int co_table_init(struct callout_table *table, enum callout_kind kind,
		  unsigned int max_slots, gfp_t gfp)
{
	table->pools = co_pools_alloc(gfp);
	if (!table->pools)
		return -ENOMEM;
	table->kind = kind;
	table->max_chunks = min_t(unsigned int, CALLOUT_MAX_CHUNKS,
				  DIV_ROUND_UP(max_slots, CALLOUT_CHUNK_SLOTS));
	/* Each slot has at least half of all generations left. */
	table->first = (get_random_u64() & (CALLOUT_GEN_MAX >> 1)) | 1;
	atomic_set(&table->retired, 0);
	mutex_init(&table->grow);
	raw_spin_lock_init(&table->steal);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(co_table_init);

/* Free a table that is not in use: none of its callouts is pending. */
void co_table_destroy(struct callout_table *table)
{
	struct callout_directory *dir = rcu_dereference_raw(table->directory);
	unsigned int i;

	for (i = 0; i < table->nr_chunks; i++) {
		if (!table->outlives_bases)
			co_base_reserve(co_base(dir->chunk[i]->base),
					-(int)CALLOUT_CHUNK_SLOTS);
		kfree(dir->chunk[i]);
		cond_resched();
	}
	kvfree(dir);
	co_hash_destroy(&table->hash);
	mutex_destroy(&table->grow);
	free_percpu(table->pools);
}
EXPORT_SYMBOL_IF_KUNIT(co_table_destroy);

/* Make room in the directory for one more chunk. */
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
	/* Pairs with co_table_slot_of(), which finds the copied chunks. */
	rcu_assign_pointer(table->directory, dir);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

/* Add a chunk of free slots for @base. Return 0, -ENOSPC or -ENOMEM. A test replaces this. */
VISIBLE_IF_KUNIT int co_table_add_chunk(struct callout_table *table,
					struct callout_base *base, gfp_t gfp)
{
	struct callout_directory *dir;
	struct callout_chunk *chunk;
	struct callout_slot *slot;
	struct callout_pool *pool;
	unsigned int n, i;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(co_table_add_chunk, table, base, gfp);
	n = table->nr_chunks;
	if (n >= table->max_chunks)
		return -ENOSPC;
	ret = table_reserve_chunk(table, gfp);
	if (ret)
		return ret;
	ret = co_base_reserve(base, CALLOUT_CHUNK_SLOTS);
	if (ret && !table->reserve_optional)
		return ret;
	chunk = kmalloc(CALLOUT_CHUNK_SIZE, gfp | __GFP_ZERO);
	if (!chunk) {
		if (!ret)
			co_base_reserve(base, -(int)CALLOUT_CHUNK_SLOTS);
		return -ENOMEM;
	}

	chunk->table = table;
	chunk->base = base->index;
	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++) {
		slot = &chunk->slot[i];
		co_setup(&slot->node, table->kind, base->index);
		slot->handle = table->first << CALLOUT_SLOT_BITS |
			       n << CALLOUT_PLACE_BITS | i;
	}
	dir = rcu_dereference_protected(table->directory,
					lockdep_is_held(&table->grow));
	dir->chunk[n] = chunk;
	/* Pairs with co_table_slot_of(). */
	smp_store_release(&table->nr_chunks, n + 1);

	co_base_lock_irq(base);
	pool = co_pool(table, base);
	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
		co_pool_add(pool, &chunk->slot[i]);
	if (!pool->spare && table->keeps_spare)
		pool->spare = co_slot_get(pool);
	co_base_unlock_irq(base);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(co_table_add_chunk);

/*
 * Add up to @chunks chunks of free slots for the base of a CPU, as long as the table has
 * no more than @seen. May sleep. Return 0, -ENOSPC at the table's limit, or -ENOMEM. Even
 * after an error some chunks may have been added.
 *
 * A caller that found no free slot when the table had @seen chunks looks again if the
 * table has more by now, since the new slots are for all waiters.
 *
 *	CPU0: SET				CPU1: SET
 *	lock(grow)
 *						no free slot, with @seen chunks
 *	adds a chunk, 36 slots			waits for grow
 *	unlock(grow)
 *						lock(grow): more than @seen
 *
 * A file's limit counts callouts, not chunks: without @seen each waiting thread would
 * add a chunk.
 */
int co_table_grow(struct callout_table *table, unsigned int cpu,
		  unsigned int chunks, unsigned int seen, gfp_t gfp)
{
	struct callout_base *base = co_base_of(table->class, cpu);
	int ret = 0;

	mutex_lock(&table->grow);
	while (chunks-- && !ret && table->nr_chunks <= seen)
		ret = co_table_add_chunk(table, base, gfp);
	mutex_unlock(&table->grow);
	return ret;
}

/*
 * Take up to @most slots off a base's pool, as a chain. If the pool is empty and the
 * caller is the handler for which the pool's spare slot is kept, take the spare
 * slot.
 */
static struct callout_slot *pool_take(struct callout_table *table,
				      unsigned int cpu, unsigned int most)
	__must_hold(&table->steal)
{
	struct callout_pool *pool = per_cpu_ptr(table->pools, cpu);
	struct callout_slot *chain = NULL, *slot;
	struct callout_base *base;

	/* When slots are scarce, most pools are empty. */
	if (!READ_ONCE(pool->count) && READ_ONCE(pool->runner) != current)
		return NULL;
	base = co_base_of(table->class, cpu);
	co_base_lock(base);
	for (; most; most--) {
		slot = co_slot_get(pool);
		if (!slot && !chain)
			slot = co_slot_spare(pool);
		if (!slot)
			break;
		WRITE_ONCE(slot->node.cpu, CALLOUT_CPU_MOVING);
		slot->node.word[0] = (unsigned long)chain;
		chain = slot;
	}
	co_base_unlock(base);
	return chain;
}

/* Add a chain from pool_take() to another base's pool. */
static void pool_give(struct callout_table *table, struct callout_base *base,
		      struct callout_slot *chain)
	__must_hold(&base->lock)
{
	struct callout_pool *pool = co_pool(table, base);
	struct callout_slot *slot;

	lockdep_assert_held(&base->lock);
	while (chain) {
		slot = chain;
		chain = (void *)slot->node.word[0];
		co_pool_add(pool, slot);
		/* Pairs with the READ_ONCE() in co_lock(). */
		WRITE_ONCE(slot->node.cpu, base->index);
	}
}

/* Take slots off the first other base that has free slots, beginning with the next base. */
static struct callout_slot *table_search(struct callout_table *table,
					 struct callout_base *base)
	__must_hold(&table->steal)
{
	struct callout_slot *chain = NULL;
	unsigned int cpu;

	lockdep_assert_held(&table->steal);
	WRITE_ONCE(table->searches, table->searches + 1);
	/* Orders this before the reads of the pools. Pairs with co_slot_steal(). */
	smp_mb();
	for_each_cpu_wrap(cpu, cpu_possible_mask, base->cpu) {
		if (cpu != base->cpu)
			chain = pool_take(table, cpu, STEAL_SLOTS);
		if (chain)
			break;
	}
	return chain;
}

/*
 * Take a free slot for a base that has none. If the caller is the handler for which the
 * spare slot is kept, take the spare slot. Otherwise move some slots from the first
 * other base that has free slots, beginning with the next base. Each pool is looked at
 * once: slots freed behind the search are missed. Do not search if another CPU has
 * searched since this was called, and has found none.
 *
 * @base is locked and interrupts are off; the lock is dropped in between. Return the
 * slot, with the base that its node.cpu names locked: @base, or another base if the CPU
 * of @base has gone offline. If no slot was found return NULL, with @base locked.
 */
struct callout_slot *co_slot_steal(struct callout_table *table,
				   struct callout_base *base)
	__must_hold(&base->lock)
{
	struct callout_slot *slot = co_slot_spare(co_pool(table, base));
	unsigned long seen;
	unsigned int cpu;
	bool searches;

	if (slot)
		return slot;
	co_base_unlock(base);
	/* Later searches see a slot freed before this. Pairs with table_search(). */
	smp_mb();
	seen = READ_ONCE(table->searches);
	co_point();
	raw_spin_lock(&table->steal);
	searches = (long)(table->failed - seen) <= 0;
	if (searches) {
		slot = table_search(table, base);
	} else {
		/*
		 * A handler that calls this has its spare slot at this CPU's base, or at a dead
		 * CPU's.
		 */
		slot = pool_take(table, raw_smp_processor_id(), 1);
		for_each_cpu_andnot(cpu, cpu_possible_mask, cpu_online_mask)
			if (!slot)
				slot = pool_take(table, cpu, 1);
	}
	co_point();
	co_base_lock(base);
	pool_give(table, base, slot);
	slot = co_slot_get(co_pool(table, base));
	if (!slot && searches)
		table->failed = table->searches;
	raw_spin_unlock(&table->steal);
	if (slot)
		co_rehome(base, &slot->node);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(co_slot_steal);

/* The number of free slots, plus the slots that the table may still add. */
static unsigned int table_room(struct callout_table *table)
{
	unsigned int cpu, n;

	n = (table->max_chunks - table->nr_chunks) * CALLOUT_CHUNK_SLOTS;
	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_ptr(table->pools, cpu)->count);
	return n;
}

/* Other callers may take slots concurrently, but only the holder of @grow adds slots. */
static int table_reserve(struct callout_table *table, struct callout_base *base,
			 unsigned int n)
{
	struct callout_pool *pool = co_pool(table, base);
	int ret = 0;

	lockdep_assert_held(&table->grow);
	while (!ret && READ_ONCE(pool->count) < n) {
		if (table_room(table) < n)
			return -ENOSPC;
		ret = co_table_add_chunk(table, base, GFP_KERNEL);
		cond_resched();
	}
	/* The table is at its limit, and a setting takes slots from other CPUs. */
	return ret == -ENOSPC ? 0 : ret;
}

/*
 * Give a base @n free slots or, at the table's limit, check that all bases together
 * have @n. May sleep. Return 0, -ENOSPC or -ENOMEM.
 */
int co_table_reserve(struct callout_table *table,
		     struct callout_base *base, unsigned int n)
{
	int ret;

	mutex_lock(&table->grow);
	ret = table_reserve(table, base, n);
	mutex_unlock(&table->grow);
	return ret;
}
