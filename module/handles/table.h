/* SPDX-License-Identifier: GPL-2.0 */
/*
 * table.h - tables of callouts that are named by handles
 *
 * From a handle to its slot:
 *
 *	 63                        25 24            6 5       0
 *	+----------------------------+---------------+---------+
 *	|         generation         |     chunk     |  place  |
 *	+----------------------------+---------------+---------+
 *	               |                     |            |
 *	 table         |    directory        |            |   chunk, 4096 bytes
 *	+-----------+  |   +------------+    |            |   +---------------+
 *	| directory |----->| size       |    |            |   | table, base   |
 *	| pools     |  |   | chunk[0]   |    |            |   | slot[0]       |
 *	| hash      |  |   | chunk[1]   |    |            |   | slot[1]       |
 *	+-----------+  |   | ...        |    |            |   | ...           |
 *	               |   | chunk[i]   |<---+------------|-->| slot[place]   |
 *	               |   +------------+                 +-->|   .handle     |
 *	               |                                      | ...           |
 *	               +---- are they the same? ------------->+---------------+
 *
 * pools has, for each CPU, the free slots of its base, linked; hash leads from a
 * function and an argument to the slots that were inserted. A slot's address leads to
 * its chunk, and so to its table: chunks are aligned to their size.
 */
#ifndef _CALLOUT_TABLE_H
#define _CALLOUT_TABLE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include "core/queue.h"
#include "hash.h"
#include "kcompat.h"
#include "slot.h"

/*
 * A handle has the generation in the upper 39 bits and the slot in the lower 25.
 * The lower 6 of these 25 bits are the place in a chunk, the others are the chunk.
 */
#define CALLOUT_SLOT_BITS	25
#define CALLOUT_PLACE_BITS	6
#define CALLOUT_GEN_ONE		BIT_ULL(CALLOUT_SLOT_BITS)
#define CALLOUT_GEN_MAX		(~0ULL >> CALLOUT_SLOT_BITS)
#define CALLOUT_MAX_CHUNKS	(1U << (CALLOUT_SLOT_BITS - CALLOUT_PLACE_BITS))

/* The largest limit of a table: each slot must have a number. */
#define CALLOUT_MAX_LIMIT	10000000U

/* Slots live in naturally aligned chunks of this many bytes. */
#define CALLOUT_CHUNK_SIZE	4096U

struct callout_chunk {
	struct callout_table *table;
	u64 base;		/* index of the base whose scheme has room for the slots */
	struct callout_slot slot[];
};

#define CALLOUT_CHUNK_SLOTS	((CALLOUT_CHUNK_SIZE - \
				  sizeof(struct callout_chunk)) / \
				 sizeof(struct callout_slot))

static_assert(CALLOUT_CHUNK_SLOTS <= 1U << CALLOUT_PLACE_BITS);
static_assert(CALLOUT_MAX_CHUNKS * CALLOUT_CHUNK_SLOTS >= CALLOUT_MAX_LIMIT);

/**
 * struct callout_pool - free slots of one base; protected by the base's lock
 * @free: list of the free slots
 * @count: length of @free. Without the lock it is a hint.
 * @spare: one more free slot, for the handler that @runner runs
 * @runner: the task in which, or in whose interrupt, the base runs the handler of a
 *	slot; NULL: no handler runs. Without the lock it is a hint.
 */
struct callout_pool {
	struct callout_slot *free;
	unsigned int count;
	struct callout_slot *spare;
	struct task_struct *runner;
};

/* All chunks of a table, in RCU-protected versions of growing size. */
struct callout_directory {
	struct rcu_head rcu;
	unsigned int size;
	struct callout_chunk *chunk[] __counted_by(size);
};

/**
 * struct callout_table - callouts named by handles
 * @directory: the chunks
 * @pools: free slots of each base
 * @class: class of the bases that have the table's callouts
 * @kind: kind of the table's callouts
 * @outlives_bases: the table is freed after the bases, and gives no room in them
 *	back
 * @reserve_optional: the table also grows if a scheme has no memory for more
 *	entries, which then start more slowly
 * @keeps_spare: each pool has a spare slot
 * @first: generation of a new slot
 * @nr_chunks: number of chunks in @directory; written under @grow, after @directory
 * @max_chunks: limit of @nr_chunks
 * @retired: slots whose generations are used up
 * @grow: serialises growth
 * @steal: serialises moves of free slots from base to base, so that a search for a
 *	free slot cannot miss slots that are being moved. Taken outside bases'
 *	locks.
 * @searches: number of searches begun; written under @steal
 * @failed: the number of the last search that found no slot; protected by @steal
 * @hash: the callouts that are found by function and argument; has no buckets if
 *	there are no such callouts
 */
struct callout_table {
	struct callout_directory __rcu *directory;
	struct callout_pool __percpu *pools;
	unsigned int class;
	enum callout_kind kind;
	bool outlives_bases;
	bool reserve_optional;
	bool keeps_spare;
	u64 first;
	unsigned int nr_chunks;
	unsigned int max_chunks;
	atomic_t retired;
	struct mutex grow;	/* serialises growth */
	raw_spinlock_t steal;
	unsigned long searches;
	unsigned long failed;
	struct callout_hash hash;
};

static inline struct callout_table *co_slot_table(struct callout_slot *slot)
{
	struct callout_chunk *chunk = (void *)((unsigned long)slot &
					       ~(CALLOUT_CHUNK_SIZE - 1UL));

	return chunk->table;
}

static inline struct callout_pool *co_pool(struct callout_table *table,
					   struct callout_base *base)
{
	return per_cpu_ptr(table->pools, base->cpu);
}

/*
 * co_table_slot(), where @from_user is a constant. Find @slot, or return false.
 * With this inline, the compiler does not test the slot for NULL again.
 */
static inline bool
co_table_slot_of(struct callout_table *table, u64 handle, bool from_user,
		 struct callout_slot **slot)
{
	u32 place = handle & ((1U << CALLOUT_PLACE_BITS) - 1);
	u32 index = (handle & (CALLOUT_GEN_ONE - 1)) >> CALLOUT_PLACE_BITS;
	struct callout_directory *dir;
	unsigned int n;

	/* Pairs with co_table_add_chunk(): the directory now has @n chunks. */
	n = smp_load_acquire(&table->nr_chunks);
	if (unlikely(index >= n || place >= CALLOUT_CHUNK_SLOTS))
		return false;
	if (from_user) {
		index = array_index_nospec(index, n);
		place = array_index_nospec(place, CALLOUT_CHUNK_SLOTS);
	}
	/* Pairs with table_reserve_chunk(). */
	dir = rcu_dereference_check(table->directory, rcu_read_lock_any_held());
	*slot = &dir->chunk[index]->slot[place];
	return true;
}

/*
 * The slot that a handle names, which may have another handle by now; NULL if there
 * is no such slot. The handle does not come from user space. Interrupts are off, or
 * the caller is in an RCU read-side critical section.
 */
static inline struct callout_slot *
co_table_slot(struct callout_table *table, u64 handle)
{
	struct callout_slot *slot;

	return co_table_slot_of(table, handle, false, &slot) ? slot : NULL;
}

/* co_table_slot() in any context. */
static inline struct callout_slot *
co_table_lookup(struct callout_table *table, u64 handle)
{
	struct callout_slot *slot;

	rcu_read_lock();
	slot = co_table_slot(table, handle);
	rcu_read_unlock();
	return slot;
}

/* Take a free slot, with a new handle. Return NULL if there is none. The base is locked. */
static inline struct callout_slot *co_slot_get(struct callout_pool *pool)
{
	struct callout_slot *slot = pool->free;

	if (unlikely(!slot))
		return NULL;
	pool->free = (void *)slot->node.word[0];
	/* Without the lock the count is a hint: see struct callout_pool. */
	data_race(pool->count--);
	return slot;
}

/* Add a slot to its base's pool. The base is locked. */
static inline void co_pool_add(struct callout_pool *pool,
			       struct callout_slot *slot)
{
	slot->node.word[0] = (unsigned long)pool->free;
	pool->free = slot;
	/* A hint, as in co_slot_get(). */
	data_race(pool->count++);
}

/*
 * Take the spare slot for the handler that the pool's base runs. Return NULL if the
 * caller is not that handler, or if the handler has taken the slot already. The base
 * is locked. A task runs one softirq at a time, so a caller in another context of the
 * same task can only be a hard interrupt.
 */
static inline struct callout_slot *co_slot_spare(struct callout_pool *pool)
{
	struct callout_slot *slot = pool->spare;

	if (pool->runner != current || in_hardirq())
		return NULL;
	pool->spare = NULL;
	return slot;
}

/* Make a slot's handle stale. Return false if no generation is left. The base is locked. */
static inline bool co_slot_renew(struct callout_table *table,
				 struct callout_slot *slot)
{
	if (unlikely(check_add_overflow(slot->handle, CALLOUT_GEN_ONE,
					&slot->handle))) {
		slot->handle = 0;
		atomic_inc(&table->retired);
		return false;
	}
	return true;
}

/*
 * Take a slot that is not pending out of the hash. The base is locked or, when the
 * callout has fired, its owner's lock is held.
 */
static inline void co_slot_unhash(struct callout_table *table,
				  struct callout_slot *slot)
{
	if (slot->node.place)
		co_hash_remove(&table->hash, slot);
}

/*
 * Free a slot of a locked base; its handle is stale from here on. The slot is
 * not pending, not running and not in the hash.
 */
static inline void co_slot_put(struct callout_table *table,
			       struct callout_base *base,
			       struct callout_slot *slot)
{
	if (co_slot_renew(table, slot))
		co_pool_add(co_pool(table, base), slot);
}

/* Free a slot that is not pending, but may be in the hash. The base is locked. */
static inline void co_slot_release(struct callout_table *table,
				   struct callout_base *base,
				   struct callout_slot *slot)
{
	co_slot_unhash(table, slot);
	co_slot_put(table, base, slot);
}

struct callout_slot *co_slot_steal(struct callout_table *table,
				   struct callout_base *base);

#ifdef CALLOUT_KUNIT_SEES
struct callout_pool __percpu *co_pools_alloc(gfp_t gfp);
int co_table_add_chunk(struct callout_table *table,
		       struct callout_base *base, gfp_t gfp);
#endif

int co_table_init(struct callout_table *table, enum callout_kind kind,
		  unsigned int max_slots, gfp_t gfp);
void co_table_destroy(struct callout_table *table);
int co_table_grow(struct callout_table *table, unsigned int cpu,
		  unsigned int chunks, unsigned int seen, gfp_t gfp);
int co_table_reserve(struct callout_table *table,
		     struct callout_base *base, unsigned int n);

#endif /* _CALLOUT_TABLE_H */
