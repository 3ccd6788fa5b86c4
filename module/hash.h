/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hash.h - find a callout by its function and argument
 *
 * Nearly always a bucket has one slot or none: inlined here; hash.c has the
 * rest.
 */
#ifndef _CALLOUT_HASH_H
#define _CALLOUT_HASH_H

#include <linux/rbtree.h>
#include <linux/rbtree_augmented.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "slot.h"

/*
 * callout_node.mark of a slot: its place in the hash. The hash's lock protects
 * it. CALLOUT_HASH_SEARCHED is written without it, with the base locked
 * or, when the callout has fired, with its owner's lock held.
 */
enum callout_hash_place {
	CALLOUT_HASH_OUT,	/* not in it */
	CALLOUT_HASH_IN,
	CALLOUT_HASH_SEARCHED,	/* not in it: see table_search.c */
};

/**
 * struct callout_hash - slots by (func, arg)
 * @lock: protects all members, and the links and marks of the slots in it.
 *	Nests inside a base's lock.
 * @count: number of slots in it
 * @buckets: each is a tree of slots, ordered by key, then by expiry
 * @old: while growing: buckets with slots that have not moved yet, else NULL
 * @shift: 64 - log2 of the number of @buckets
 * @old_shift: the same of @old
 * @mul: random odd multipliers. Even to a program that knows them, colliding
 *	keys cost no more than the depth of a tree.
 */
struct callout_hash {
	raw_spinlock_t lock;
	unsigned int count;
	struct rb_root *buckets;
	struct rb_root *old;
	u8 shift;
	u8 old_shift;
	u64 mul[2];
};

int callout_hash_init(struct callout_hash *hash, unsigned int bits, gfp_t gfp);
void callout_hash_destroy(struct callout_hash *hash);
void callout_hash_remove(struct callout_hash *hash, struct callout_slot *slot);
void callout_hash_move_begin(struct callout_hash *hash,
			     struct callout_slot *slot);
void callout_hash_move_end(struct callout_hash *hash,
			   struct callout_slot *slot);
struct callout_slot *callout_hash_find(struct callout_hash *hash,
				       u64 func, u64 arg, u64 *handle);
void callout_hash_insert_slow(struct callout_hash *hash, struct rb_root *bucket,
			      struct callout_slot *slot);
struct callout_slot *callout_hash_take_slow(struct callout_hash *hash,
					    struct rb_root *bucket,
					    u64 func, u64 arg);
void callout_hash_grow(struct callout_hash *hash, gfp_t gfp);

/* The upper bits of a sum of products are the hash. */
static inline u64 callout_hash_value(const struct callout_hash *hash,
				     u64 func, u64 arg)
{
	return func * hash->mul[0] + arg * hash->mul[1];
}

static inline struct rb_root *
callout_hash_bucket(struct callout_hash *hash, u64 func, u64 arg)
{
	return &hash->buckets[callout_hash_value(hash, func, arg) >>
			      hash->shift];
}

#define CALLOUT_HASH_MAX_BITS	20

/* True from an eighth full: buckets with two keys are not as fast. */
static inline bool callout_hash_wants_growth(struct callout_hash *hash)
{
	unsigned int bits = 64 - READ_ONCE(hash->shift);

	return bits < CALLOUT_HASH_MAX_BITS &&
	       (READ_ONCE(hash->count) << 3) >> bits;
}

/*
 * Adds a slot; until it is removed its key, arg and expires must not change.
 * Interrupts off.
 */
static inline void callout_hash_insert(struct callout_hash *hash,
				       struct callout_slot *slot)
{
	struct rb_root *bucket;

	raw_spin_lock(&hash->lock);
	bucket = callout_hash_bucket(hash, slot->key, slot->arg);
	if (unlikely(hash->old || bucket->rb_node)) {
		callout_hash_insert_slow(hash, bucket, slot);
	} else {
		rb_link_node(&slot->link, NULL, &bucket->rb_node);
		rb_set_parent_color(&slot->link, NULL, RB_BLACK);
	}
	WRITE_ONCE(slot->node.mark, CALLOUT_HASH_IN);
	hash->count++;
	raw_spin_unlock(&hash->lock);
}

/*
 * Removes the callout with this function and argument, which the caller will
 * cancel: of several the first to expire, and of those the first that was set.
 * Returns its slot, which another callout may use by now, and its @handle; or
 * NULL. Interrupts off.
 */
static inline struct callout_slot *
callout_hash_take(struct callout_hash *hash, u64 func, u64 arg, u64 *handle)
{
	struct callout_slot *slot;
	struct rb_root *bucket;

	raw_spin_lock(&hash->lock);
	bucket = callout_hash_bucket(hash, func, arg);
	slot = rb_entry_safe(bucket->rb_node, struct callout_slot, link);
	if (likely(slot && slot->arg == arg && slot->key == func &&
		   !slot->link.rb_left && !slot->link.rb_right && !hash->old))
		bucket->rb_node = NULL;
	else
		slot = callout_hash_take_slow(hash, bucket, func, arg);
	if (slot) {
		*handle = slot->handle;
		WRITE_ONCE(slot->node.mark, CALLOUT_HASH_OUT);
		hash->count--;
	}
	raw_spin_unlock(&hash->lock);
	return slot;
}

#endif /* _CALLOUT_HASH_H */
