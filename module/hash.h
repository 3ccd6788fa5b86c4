/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hash.h - find a callout by its function and argument
 */
#ifndef _CALLOUT_HASH_H
#define _CALLOUT_HASH_H

#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct callout_slot;

/**
 * struct callout_hash - slots by (func, arg)
 * @lock: protects all of this, and slot.node of the slots in it. Nests inside
 *	a base's lock.
 * @count: slots in it
 * @buckets: per bucket, a tree ordered by func, arg, expiry
 * @old: while growing: what has not been moved yet, else NULL
 * @bits: log2 of the number of @buckets
 * @old_bits: the same of @old
 * @side: goes in slots of @buckets; those of @old have the other value
 * @mul: secret odd multipliers, so that nobody can choose colliding keys
 */
struct callout_hash {
	raw_spinlock_t lock;
	unsigned int count;
	struct rb_root *buckets;
	struct rb_root *old;
	u8 bits;
	u8 old_bits;
	u8 side;
	u64 mul[2];
};

int callout_hash_init(struct callout_hash *hash, unsigned int bits, gfp_t gfp);
void callout_hash_destroy(struct callout_hash *hash);
void callout_hash_remove(struct callout_hash *hash, struct callout_slot *slot);
void callout_hash_link_slow(struct rb_root *root, struct callout_slot *slot,
			    bool moved);
struct callout_slot *callout_hash_take_slow(struct callout_hash *hash,
					    const void *func, const void *arg);
void callout_hash_grow(struct callout_hash *hash, gfp_t gfp);

/* The upper bits of a sum of products with secret factors are the hash. */
static inline u64 callout_hash_value(const struct callout_hash *hash,
				     const void *func, const void *arg)
{
	return (unsigned long)func * hash->mul[0] +
	       (unsigned long)arg * hash->mul[1];
}

static inline struct rb_root *callout_hash_bucket(struct callout_hash *hash,
						  const void *func,
						  const void *arg)
{
	return &hash->buckets[callout_hash_value(hash, func, arg) >>
			      (64 - hash->bits)];
}

static inline struct rb_root *callout_hash_old_bucket(struct callout_hash *hash,
						      const void *func,
						      const void *arg)
{
	return &hash->old[callout_hash_value(hash, func, arg) >>
			  (64 - hash->old_bits)];
}

#define CALLOUT_HASH_MAX_BITS	20

/* From a quarter full on: a bucket with another slot in it is not so fast. */
static inline bool callout_hash_wants_growth(struct callout_hash *hash)
{
	return READ_ONCE(hash->bits) < CALLOUT_HASH_MAX_BITS &&
	       (READ_ONCE(hash->count) << 2) >> READ_ONCE(hash->bits);
}

#endif /* _CALLOUT_HASH_H */
