/* SPDX-License-Identifier: GPL-2.0 */
/*
 * handle.h - tables of callouts that are named by handles
 */
#ifndef _CALLOUT_HANDLE_H
#define _CALLOUT_HANDLE_H

#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include "core.h"
#include "hash.h"

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

/**
 * struct callout_slot - a callout in a table
 * @c: the callout. Free: c.scheme[0] links to the next free slot.
 * @handle: the handle it has, or will have when it is used next; 0 if its
 *	generations are used up. Written with the base locked.
 * @node: link in the (func, arg) hash
 * @word: three words for the owner of a slot that is not in the hash
 */
struct callout_slot {
	struct callout c;
	u64 handle;
	union {
		struct rb_node node;
		u64 word[3];
	};
};

static_assert(sizeof(struct callout_slot) <= 96);

struct callout_chunk {
	struct callout_table *table;
	u64 reserved[7];
	struct callout_slot slot[];
};

#define CALLOUT_CHUNK_SLOTS	((CALLOUT_CHUNK_SIZE - \
				  sizeof(struct callout_chunk)) / \
				 sizeof(struct callout_slot))

static_assert(CALLOUT_CHUNK_SLOTS <= 1U << CALLOUT_PLACE_BITS);
static_assert(CALLOUT_MAX_CHUNKS * CALLOUT_CHUNK_SLOTS >= CALLOUT_MAX_LIMIT);

/* The free slots of one base; protected by the base's lock. */
struct callout_pool {
	struct callout_slot *free;
	unsigned int count;
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
 * @kind: of its callouts, for callout_setup()
 * @first: generation of a new slot
 * @nr_chunks: chunks in @directory; written under @grow
 * @max_chunks: how many there may be
 * @retired: slots whose generations are used up
 * @grow: one at a time enlarges the table
 * @hash: for timeout() and untimeout(); no buckets if it has none
 */
struct callout_table {
	struct callout_directory __rcu *directory;
	struct callout_pool __percpu *pools;
	u8 kind;
	u64 first;
	unsigned int nr_chunks;
	unsigned int max_chunks;
	atomic_t retired;
	struct mutex grow;	/* serialises growth */
	struct callout_hash hash;
};

static inline struct callout_slot *callout_to_slot(struct callout *c)
{
	return container_of(c, struct callout_slot, c);
}

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

int callout_table_init(struct callout_table *table, u8 kind,
		       unsigned int max_slots, gfp_t gfp);
void callout_table_destroy(struct callout_table *table);
int callout_table_grow(struct callout_table *table, unsigned int cpu,
		       unsigned int chunks, gfp_t gfp);
unsigned int callout_table_steal(struct callout_table *table, unsigned int cpu);
struct callout_slot *callout_table_lookup(struct callout_table *table,
					  u64 handle);

struct callout_slot *callout_slot_get(struct callout_pool *pool);
void callout_slot_put(struct callout_table *table, struct callout_base *base,
		      struct callout_slot *slot);

void callout_slot_release(struct callout_table *table,
			  struct callout_base *base,
			  struct callout_slot *slot);

callout_handle_t callout_set(callout_func_t func, void *arg, long ticks,
			     bool hashed);
bool callout_unset(struct callout_slot *slot, callout_handle_t handle);
struct callout_table *callout_kernel_table(void);

int callout_handles_init(unsigned int max_slots);
void callout_handles_stop(void);
void callout_handles_exit(void);

#endif /* _CALLOUT_HANDLE_H */
