/* SPDX-License-Identifier: GPL-2.0 */
/*
 * handle.h - tables of callouts that are named by handles
 */
#ifndef _CALLOUT_HANDLE_H
#define _CALLOUT_HANDLE_H

#include <linux/bits.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include "arm.h"
#include "hash.h"
#include "kcompat.h"
#include "slot.h"

/*
 * A handle: generation in the upper 40 bits, slot in the lower 24. Of those
 * the lower 6 are the place in a chunk, the rest the chunk.
 */
#define CALLOUT_SLOT_BITS	24
#define CALLOUT_PLACE_BITS	6
#define CALLOUT_GEN_ONE		BIT_ULL(CALLOUT_SLOT_BITS)
#define CALLOUT_GEN_MAX		(~0ULL >> CALLOUT_SLOT_BITS)
#define CALLOUT_MAX_CHUNKS	(1U << (CALLOUT_SLOT_BITS - CALLOUT_PLACE_BITS))

/* The largest limit that a table may be given: its slots must have numbers. */
#define CALLOUT_MAX_LIMIT	10000000U

/* Slots live in naturally aligned chunks of this many bytes. */
#define CALLOUT_CHUNK_SIZE	4096U

struct callout_chunk {
	struct callout_table *table;
	u64 base;		/* whose scheme has room for these */
	u64 reserved[6];
	struct callout_slot slot[];
};

#define CALLOUT_CHUNK_SLOTS	((CALLOUT_CHUNK_SIZE - \
				  sizeof(struct callout_chunk)) / \
				 sizeof(struct callout_slot))

static_assert(CALLOUT_CHUNK_SLOTS <= 1U << CALLOUT_PLACE_BITS);
static_assert(CALLOUT_MAX_CHUNKS * CALLOUT_CHUNK_SLOTS >= CALLOUT_MAX_LIMIT);

/* Fewer free slots of a base than this, and the worker adds some. */
#define CALLOUT_LOW_WATER	128U

/**
 * struct callout_pool - the free slots of one base; protected by the base's lock
 * @free: a list of them
 * @count: how many
 * @spare: besides, one that goes there when a handler starts; see handle.c
 */
struct callout_pool {
	struct callout_slot *free;
	unsigned int count;
	struct callout_slot *spare;
};

/* All chunks of a table, in RCU-protected versions that only grow. */
struct callout_directory {
	struct rcu_head rcu;
	unsigned int size;
	struct callout_chunk *chunk[] __counted_by(size);
};

/**
 * struct callout_table - callouts named by handles
 * @directory: the chunks
 * @pools: free slots of each base
 * @kind: of its callouts
 * @first: generation of a new slot
 * @nr_chunks: chunks in @directory; written under @grow
 * @max_chunks: how many there may be
 * @retired: slots whose generations are used up
 * @grow: one at a time enlarges the table
 * @steal: one at a time moves free slots from base to base, so that none is on
 *	its way while another looks for it. Bases are locked inside it.
 * @hash: for timeout() and untimeout(); no buckets if it has none
 */
struct callout_table {
	struct callout_directory __rcu *directory;
	struct callout_pool __percpu *pools;
	enum callout_kind kind;
	u64 first;
	unsigned int nr_chunks;
	unsigned int max_chunks;
	atomic_t retired;
	struct mutex grow;	/* serialises growth */
	raw_spinlock_t steal;
	struct callout_hash hash;
};

static inline struct callout_table *callout_slot_table(struct callout_slot *slot)
{
	struct callout_chunk *chunk = (void *)((unsigned long)slot &
					       ~(CALLOUT_CHUNK_SIZE - 1UL));

	return chunk->table;
}

static inline struct callout_pool *callout_pool(struct callout_table *table,
						struct callout_base *base)
{
	return per_cpu_ptr(table->pools, base->index);
}

/**
 * callout_table_slot - finds the slot that a handle names
 * @table: the table
 * @handle: any number
 *
 * Context: Interrupts off, or in an RCU read-side critical section.
 * Return: the slot, which may have another handle by now, or NULL.
 */
static inline struct callout_slot *
callout_table_slot(struct callout_table *table, u64 handle)
{
	u32 place = handle & ((1U << CALLOUT_PLACE_BITS) - 1);
	u32 index = (handle & (CALLOUT_GEN_ONE - 1)) >> CALLOUT_PLACE_BITS;
	struct callout_directory *dir;
	struct callout_chunk *chunk;

	dir = rcu_dereference_check(table->directory, rcu_read_lock_any_held());
	if (unlikely(!dir || index >= dir->size ||
		     place >= CALLOUT_CHUNK_SLOTS))
		return NULL;
	/* The handle may come from user space. */
	index = array_index_nospec(index, dir->size);
	/* Pairs with the smp_store_release() in table_add_chunk(). */
	chunk = smp_load_acquire(&dir->chunk[index]);
	if (unlikely(!chunk))
		return NULL;
	return &chunk->slot[array_index_nospec(place, CALLOUT_CHUNK_SLOTS)];
}

/**
 * callout_slot_get - takes a free slot
 * @pool: the pool of the base that it is to belong to, which is locked
 *
 * Return: a slot with its new handle, or NULL if there is none.
 */
static inline struct callout_slot *callout_slot_get(struct callout_pool *pool)
{
	struct callout_slot *slot = pool->free;

	if (unlikely(!slot))
		return NULL;
	pool->free = (void *)slot->node.word[0];
	WRITE_ONCE(pool->count, pool->count - 1);
	return slot;
}

/* The scheme has a find of its own, which takes the place of the hash. */
DECLARE_STATIC_KEY_FALSE(callout_searches);

/*
 * Makes a slot that is pending or ready known by its function and argument:
 * callout_hash_take() or callout_table_search() finds it. Until it is removed
 * its func, arg and expires must not change. Interrupts off. Returns true if
 * the hash should grow.
 */
static inline bool callout_table_put(struct callout_table *table,
				     struct callout_slot *slot)
{
	if (static_branch_unlikely(&callout_searches)) {
		slot->node.mark = CALLOUT_HASH_SEARCHED;
		return false;
	}
	callout_hash_insert(&table->hash, slot);
	return callout_hash_wants_growth(&table->hash);
}

int callout_table_init(struct callout_table *table, enum callout_kind kind,
		       unsigned int max_slots, gfp_t gfp);
void callout_table_destroy(struct callout_table *table);
int callout_table_grow(struct callout_table *table, unsigned int cpu,
		       unsigned int chunks, gfp_t gfp);
struct callout_slot *callout_table_lookup(struct callout_table *table,
					  u64 handle);
struct callout_slot *callout_table_search(struct callout_table *table,
					  u64 func, u64 arg,
					  struct callout_base **locked);

struct callout_slot *callout_slot_steal(struct callout_table *table,
					struct callout_base *base);
void callout_slot_put(struct callout_table *table, struct callout_base *base,
		      struct callout_slot *slot);

void callout_slot_release(struct callout_table *table,
			  struct callout_base *base,
			  struct callout_slot *slot);

callout_handle_t callout_set(callout_func_t *func, void *arg, long ticks,
			     bool hashed);
int callout_unset(struct callout_slot *slot, callout_handle_t handle);
int callout_untimeout_searched(callout_func_t *func, void *arg);
struct callout_table *callout_kernel_table(void);

extern struct irq_work callout_refill_irq_work;

int callout_handles_init(unsigned int max_slots);
void callout_handles_stop(void);
void callout_handles_exit(void);

#endif /* _CALLOUT_HANDLE_H */
