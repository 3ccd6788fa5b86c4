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

/*
 * callout.active of a slot: where in the hash it is; under the hash's lock, but
 * for the last one, which needs the base's.
 */
enum callout_hash_place {
	CALLOUT_HASH_OUT,	/* not in it */
	CALLOUT_HASH_IN,
	CALLOUT_HASH_SEARCHED,	/* not in it: the scheme's find is to find it */
};

/**
 * struct callout_hash - slots by (func, arg)
 * @lock: protects all of this, and the links and callout.active of the slots
 *	in it. Nests inside a base's lock.
 * @count: slots in it
 * @buckets: per bucket, a tree of its slots, ordered by key, then by expiry
 * @old: while growing: what has not been moved yet, else NULL
 * @shift: 64 - log2 of the number of @buckets
 * @old_shift: the same of @old
 * @mul: random odd multipliers; that keys collide costs the same whether they
 *	are known or not: the depth of a tree
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

/* From an eighth full on: a bucket with another key in it is not so fast. */
static inline bool callout_hash_wants_growth(struct callout_hash *hash)
{
	unsigned int bits = 64 - READ_ONCE(hash->shift);

	return bits < CALLOUT_HASH_MAX_BITS &&
	       (READ_ONCE(hash->count) << 3) >> bits;
}

#endif /* _CALLOUT_HASH_H */
