/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hash.h - find a callout by its function and argument
 *
 * Nearly always a bucket has one slot or none: the code for these buckets is inline
 * here. hash.c has the rest, and bucket.c says how buckets are locked.
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
 * callout_node.place of a slot: its place in the hash. To insert or remove a slot its
 * base must be locked or, when the callout has fired, its owner's lock must be held.
 * CALLOUT_HASH_SEARCHED, which only the kernel's table uses, is protected by the
 * base's lock alone.
 */
enum callout_hash_place {
	CALLOUT_HASH_OUT,	/* not in the hash */
	CALLOUT_HASH_IN,
	CALLOUT_HASH_SEARCHED,	/* not in the hash: see search.c */
};

/*
 * The lower bits of a bucket's word say what its pointer is. An empty bucket has no
 * pointer: its word is 0.
 */
enum callout_bucket_state {
	/* the link of its only slot, not initialised */
	CALLOUT_BUCKET_ONE,
	/* the root of a tree of slots, ordered by key, then by expiry */
	CALLOUT_BUCKET_TREE,
	/* the root, or NULL: the other slots, or all slots, are in the next table */
	CALLOUT_BUCKET_MOVING,
	/* NULL: only the CPU that has locked the bucket knows its word */
	CALLOUT_BUCKET_LOCKED,
};

#define CALLOUT_BUCKET_STATE	7UL

static_assert(__alignof__(struct rb_node) > CALLOUT_BUCKET_STATE);

/**
 * struct callout_buckets - a table of the hash, RCU-protected
 * @rcu: frees the table when the next table has replaced it
 * @next: the table to which the slots move
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
 * @table: the buckets; while the hash grows, the old buckets
 * @mul: random odd multipliers. Even if a program knows them, colliding keys cost
 *	no more than the depth of a tree.
 * @grow_at: from this many on @crowded the hash should grow
 * @crowded: slots in the hash, without the first slot of each bucket
 * @wait: held by the CPU that is next to lock a locked bucket
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
 * @root: the slots of @bucket
 * @next: while slots move, the table to which they move; otherwise NULL
 * @moved_to: the bucket of @next that has the key's other slots
 * @moved: the slots of @moved_to
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
struct callout_slot *co_hash_take_slow(struct callout_hash *hash, u16 cpu,
				       u64 func, u64 arg);
struct callout_slot *co_hash_find_slow(struct callout_hash *hash, u64 func,
				       u64 arg, u64 *handle);
unsigned int co_hash_count(struct callout_hash *hash);
void co_hash_grow(struct callout_hash *hash, gfp_t gfp);
bool co_hash_grow_begin(struct callout_hash *hash, unsigned int bits,
			gfp_t gfp);
bool co_hash_grow_some(struct callout_hash *hash, unsigned int budget);
void co_hash_grow_end(struct callout_hash *hash);

/* Has co_hash_init() created it? */
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

/* The bucket of a key. Interrupts are off, which makes the caller a reader of RCU. */
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

/* Add a slot if its bucket is empty and has not moved. Return whether the slot was added. */
static inline bool co_hash_insert_alone(struct callout_hash *hash,
					struct callout_slot *slot)
{
	unsigned long *bucket = co_hash_bucket(hash, co_slot_func(slot), co_slot_arg(slot));
	unsigned long word = 0;
	bool inserted;

	co_point();
	/* LIST may look at it without the lock that the caller has. */
	WRITE_ONCE(slot->node.place, CALLOUT_HASH_IN);
	lock_map_acquire(&hash->dep_map);
	/* Lock an empty bucket, add the slot to it and unlock it. */
	inserted = likely(try_cmpxchg(bucket, &word, (unsigned long)&slot->link));
	lock_map_release(&hash->dep_map);
	return inserted;
}

/*
 * Add a slot. Until the slot is removed its name must not change, nor may its
 * expires, unless it fires. The slot's base is locked or, if the slot has fired,
 * its owner's lock is held. Interrupts are off. Return true if the hash should
 * grow.
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
 * co_hash_insert() unless a slot with the same key exists: then return false. If
 * all slots of a key are inserted by this function there is at most one, and its
 * expires may change.
 */
static inline bool co_hash_insert_only(struct callout_hash *hash,
				       struct callout_slot *slot)
{
	return co_hash_insert_alone(hash, slot) ||
	       co_hash_insert_slow(hash, slot, true);
}

/*
 * Find the callout with this function and argument: of several the first to expire,
 * and among equals the first that was set. Return its slot, which another callout may
 * use by now, and its @handle; or NULL. Interrupts are off.
 */
static inline struct callout_slot *
co_hash_find(struct callout_hash *hash, u64 func, u64 arg, u64 *handle)
{
	unsigned long *bucket = co_hash_bucket(hash, func, arg), word;
	struct callout_slot *slot;

	/* Slots of the bucket have not moved either: then the bucket would be MOVING. */
	if (!READ_ONCE(*bucket))
		return NULL;
	co_point();
	word = xchg_acquire(bucket, CALLOUT_BUCKET_LOCKED);
	if (unlikely(word == CALLOUT_BUCKET_LOCKED))
		return co_hash_find_slow(hash, func, arg, handle);
	lock_map_acquire(&hash->dep_map);
	slot = rb_entry((struct rb_node *)word, struct callout_slot, link);
	if (unlikely(word & CALLOUT_BUCKET_STATE || !word ||
		     co_slot_arg(slot) != arg || co_slot_func(slot) != func))
		slot = NULL;
	else
		*handle = slot->handle;
	lock_map_release(&hash->dep_map);
	/* Unlocks. Pairs with the exchange that locks. */
	smp_store_release(bucket, word);
	return likely(slot) || !(word & CALLOUT_BUCKET_STATE) ? slot :
	       co_hash_find_slow(hash, func, arg, handle);
}

/*
 * Look again for a slot that co_hash_find() has found, and whose base is locked now.
 * Return the slot that it would find, or NULL. A slot of the same base, this one or
 * another, is in the hash, unless a reader of a file takes it out. Interrupts are off.
 */
static inline struct callout_slot *
co_hash_find_again(struct callout_hash *hash, struct callout_slot *slot,
		   u64 func, u64 arg)
{
	u64 handle;

	/* The bucket has no other slot. The base's lock protects the slot's name. */
	if (likely(READ_ONCE(*co_hash_bucket(hash, func, arg)) ==
			   (unsigned long)&slot->link &&
		   co_slot_arg(slot) == arg && co_slot_func(slot) == func))
		return slot;
	return co_hash_find(hash, func, arg, &handle);
}

/*
 * As co_hash_find_again(), and remove the slot that is returned if the locked base is
 * its base too. @slot may have been guessed: any slot of the table. @bucket is or was the
 * key's bucket, in this section with interrupts off. For a table whose slots enter and
 * leave the hash only with their base locked, not for a file's.
 */
static inline struct callout_slot *
co_hash_take(struct callout_hash *hash, unsigned long *bucket,
	     struct callout_slot *slot, u64 func, u64 arg)
{
	unsigned long word = (unsigned long)&slot->link;

	/*
	 * Empty a bucket that has only this slot. If it has, the slot was in the hash when
	 * its name was read, since its base is locked.
	 */
	if (likely(co_slot_arg(slot) == arg && co_slot_func(slot) == func &&
		   try_cmpxchg(bucket, &word, 0))) {
		WRITE_ONCE(slot->node.place, CALLOUT_HASH_OUT);
		co_point();
		return slot;
	}
	return co_hash_take_slow(hash, slot->node.cpu, func, arg);
}

#endif /* _CALLOUT_HASH_H */
