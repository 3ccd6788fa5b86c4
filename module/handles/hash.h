/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hash.h - find a callout by its function and argument
 *
 * Nearly always a bucket has one slot or none: these are inlined here. hash.c has the
 * rest, and bucket.c says how buckets are locked.
 */
#ifndef _CALLOUT_HASH_H
#define _CALLOUT_HASH_H

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "probe/point.h"
#include "slot.h"

/*
 * callout_node.place of a slot: its place in the hash. The bucket's lock protects
 * it while the slot is in there. To insert or remove one the base is locked or,
 * when the callout has fired, its owner's lock is held. The base's lock is all that
 * protects CALLOUT_HASH_SEARCHED, which only the kernel's table has.
 */
enum callout_hash_place {
	CALLOUT_HASH_OUT,	/* not in it */
	CALLOUT_HASH_IN,
	CALLOUT_HASH_SEARCHED,	/* not in it: see search.c */
};

/*
 * The lower bits of a bucket's word say what its pointer is. An empty bucket has
 * none: its word is 0.
 */
enum callout_bucket_state {
	/* the link of its only slot, not initialised */
	CALLOUT_BUCKET_ONE,
	/* the root of a tree of slots, ordered by key, then by expiry */
	CALLOUT_BUCKET_TREE,
	/* the root, or NULL: the other slots, or all, are in the next table */
	CALLOUT_BUCKET_MOVING,
	/* NULL: only the CPU that has locked it knows its word */
	CALLOUT_BUCKET_LOCKED,
};

#define CALLOUT_BUCKET_STATE	7UL

static_assert(__alignof__(struct rb_node) > CALLOUT_BUCKET_STATE);

/**
 * struct callout_buckets - a table of the hash, RCU-protected
 * @rcu: frees it, when the next one has replaced it
 * @next: the table that its slots move to
 * @moved: buckets before this one have moved
 * @shift: 64 - log2 of the number of buckets
 * @bucket: the words of the buckets
 */
struct callout_buckets {
	struct rcu_head rcu;
	struct callout_buckets *next;
	unsigned int moved;
	u8 shift;
	unsigned long bucket[];
};

/**
 * struct callout_hash - slots by (func, arg)
 * @table: its buckets; while it grows, the old ones
 * @mul: random odd multipliers. Even to a program that knows them, colliding
 *	keys cost no more than the depth of a tree.
 * @grow_at: from this many on @crowded the hash should grow
 * @crowded: slots in it, without the first of each bucket
 * @wait: held by the CPU that is the next to lock a bucket that is locked
 * @dep_map: to lockdep all buckets are this lock. Nests inside a base's lock.
 */
struct callout_hash {
	struct callout_buckets __rcu *table;
	u64 mul[2];
	unsigned int grow_at;
	atomic_t crowded;
	raw_spinlock_t wait;
	struct lockdep_map dep_map;
};

/**
 * struct callout_bucket_hold - a bucket that this CPU has locked
 * @bucket: the bucket
 * @root: its slots
 * @next: while they move, the table that they move to; else NULL
 * @moved_to: the bucket there that has the others of the key
 * @moved: its slots
 */
struct callout_bucket_hold {
	unsigned long *bucket;
	struct rb_root root;
	struct callout_buckets *next;
	unsigned long *moved_to;
	struct rb_root moved;
};

int co_hash_init(struct callout_hash *hash, unsigned int bits, gfp_t gfp);
void co_hash_destroy(struct callout_hash *hash);
void co_hash_remove(struct callout_hash *hash, struct callout_slot *slot);
void co_hash_move_begin(struct callout_hash *hash,
			struct callout_slot *slot,
			struct callout_bucket_hold *hold);
void co_hash_move_end(struct callout_hash *hash, struct callout_slot *slot,
		      struct callout_bucket_hold *hold);
bool co_hash_insert_slow(struct callout_hash *hash, struct callout_slot *slot,
			 bool only);
struct callout_slot *co_hash_lookup_slow(struct callout_hash *hash, u64 func,
					 u64 arg, u64 *handle, bool take);
unsigned int co_hash_count(struct callout_hash *hash);
void co_hash_grow(struct callout_hash *hash, gfp_t gfp);
bool co_hash_grow_begin(struct callout_hash *hash, unsigned int bits,
			gfp_t gfp);
bool co_hash_grow_some(struct callout_hash *hash, unsigned int budget);
void co_hash_grow_end(struct callout_hash *hash);

/* Has co_hash_init() made it? */
static inline bool co_hash_exists(struct callout_hash *hash)
{
	/* Pairs with the rcu_assign_pointer() in co_hash_init(). */
	return smp_load_acquire(&hash->table);
}

/* The upper bits of a sum of products are the hash. */
static inline u64 co_hash_value(const struct callout_hash *hash,
				u64 func, u64 arg)
{
	return func * hash->mul[0] + arg * hash->mul[1];
}

/* A key's bucket. Interrupts off: a reader of RCU. */
static inline unsigned long *
co_hash_bucket(struct callout_hash *hash, u64 func, u64 arg)
{
	struct callout_buckets *table;

	/* Pairs with co_hash_grow_end(). */
	table = rcu_dereference_check(hash->table, rcu_read_lock_any_held());
	return &table->bucket[co_hash_value(hash, func, arg) >>
			      table->shift];
}

static inline bool co_hash_wants_growth(struct callout_hash *hash)
{
	return (unsigned int)atomic_read(&hash->crowded) >=
	       READ_ONCE(hash->grow_at);
}

/* Adds a slot if its bucket is empty and has not moved; false if it does not. */
static inline bool co_hash_insert_alone(struct callout_hash *hash,
					struct callout_slot *slot)
{
	unsigned long *bucket = co_hash_bucket(hash, co_slot_func(slot), co_slot_arg(slot));
	unsigned long word = 0;
	bool inserted;

	co_point();
	/* Before it is in the hash: another CPU may remove it at once. */
	WRITE_ONCE(slot->node.place, CALLOUT_HASH_IN);
	lock_map_acquire(&hash->dep_map);
	/* Locks, changes and unlocks an empty bucket. */
	inserted = likely(try_cmpxchg(bucket, &word, (unsigned long)&slot->link));
	lock_map_release(&hash->dep_map);
	return inserted;
}

/*
 * Adds a slot; until it is removed its name must not change, nor, unless it fires,
 * its expires. Its base is locked, or its owner's lock if it has fired;
 * interrupts are off. Returns true if the hash should grow.
 */
static inline bool co_hash_insert(struct callout_hash *hash,
				  struct callout_slot *slot)
{
	if (co_hash_insert_alone(hash, slot))
		return false;
	co_hash_insert_slow(hash, slot, false);
	return co_hash_wants_growth(hash);
}

/*
 * co_hash_insert() unless there is a slot with the same key; returns false if
 * there is. If all of a key are inserted by this there is one at most, and its
 * expires may change.
 */
static inline bool co_hash_insert_only(struct callout_hash *hash,
				       struct callout_slot *slot)
{
	return co_hash_insert_alone(hash, slot) ||
	       co_hash_insert_slow(hash, slot, true);
}

/* co_hash_take() or, unless @take, a constant, co_hash_find(). */
static __always_inline struct callout_slot *
co_hash_lookup(struct callout_hash *hash, u64 func, u64 arg, u64 *handle,
	       bool take)
{
	unsigned long *bucket = co_hash_bucket(hash, func, arg), word;
	struct callout_slot *slot;

	/* What the bucket had has not moved either: then it would be MOVING. */
	if (!READ_ONCE(*bucket))
		return NULL;
	co_point();
	word = xchg_acquire(bucket, CALLOUT_BUCKET_LOCKED);
	if (unlikely(word == CALLOUT_BUCKET_LOCKED))
		return co_hash_lookup_slow(hash, func, arg, handle, take);
	lock_map_acquire(&hash->dep_map);
	slot = rb_entry((struct rb_node *)word, struct callout_slot, link);
	if (unlikely(word & CALLOUT_BUCKET_STATE || !word ||
		     co_slot_arg(slot) != arg || co_slot_func(slot) != func)) {
		slot = NULL;
	} else {
		*handle = slot->handle;
		if (take) {
			/* Pairs with co_slot_unhash(): the slot may be reused at once. */
			smp_store_release(&slot->node.place, CALLOUT_HASH_OUT);
			word = 0;
		}
	}
	lock_map_release(&hash->dep_map);
	/* Unlocks. Pairs with the exchange that locks. */
	smp_store_release(bucket, word);
	return likely(slot) || !(word & CALLOUT_BUCKET_STATE) ? slot :
	       co_hash_lookup_slow(hash, func, arg, handle, take);
}

/*
 * Removes the callout with this function and argument, which the caller will
 * cancel: of several the first to expire, and of those the first that was set.
 * Returns its slot, which another callout may use by now, and its @handle; or
 * NULL. Interrupts off.
 */
static inline struct callout_slot *
co_hash_take(struct callout_hash *hash, u64 func, u64 arg, u64 *handle)
{
	return co_hash_lookup(hash, func, arg, handle, true);
}

/*
 * co_hash_take(), but the slot stays in the hash; it may have left that when
 * this returns. Interrupts off.
 */
static inline struct callout_slot *
co_hash_find(struct callout_hash *hash, u64 func, u64 arg, u64 *handle)
{
	return co_hash_lookup(hash, func, arg, handle, false);
}

#endif /* _CALLOUT_HASH_H */
