/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bucket.h - a bucket of the hash: its lock, and its slots
 */
#ifndef _CALLOUT_HASH_BUCKET_H
#define _CALLOUT_HASH_BUCKET_H

#include <linux/lockdep.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include "hash.h"

/* Negative if the slot's name sorts before (@func, @arg), positive if after it. */
static inline int co_slot_compare(const struct callout_slot *slot,
				  u64 func, u64 arg)
{
	u64 other = co_slot_arg(slot);

	if (other != arg)
		return other < arg ? -1 : 1;
	other = co_slot_func(slot);
	if (other != func)
		return other < func ? -1 : 1;
	return 0;
}

/* The node to which a word that is not LOCKED points, or NULL. */
static inline struct rb_node *co_bucket_node(unsigned long word)
{
	return (struct rb_node *)(word & ~CALLOUT_BUCKET_STATE);
}

static inline struct callout_slot *co_bucket_slot(struct rb_node *node)
{
	return rb_entry(node, struct callout_slot, link);
}

/* The word for a tree whose bucket is not MOVING. */
static inline unsigned long co_bucket_word(struct rb_root root)
{
	struct rb_node *node = root.rb_node;

	if (!node || (!node->rb_left && !node->rb_right))
		return (unsigned long)node | CALLOUT_BUCKET_ONE;
	return (unsigned long)node | CALLOUT_BUCKET_TREE;
}

struct rb_root co_bucket_root(unsigned long word);
struct callout_slot *co_bucket_first(const struct rb_root *tree,
				     u64 func, u64 arg);
void co_bucket_add(struct callout_hash *hash, struct rb_root *tree,
		   struct callout_slot *slot);
void co_bucket_del(struct callout_hash *hash, struct rb_root *tree,
		   struct rb_node *node);

unsigned long co_bucket_wait(struct callout_hash *hash,
			     unsigned long *bucket);

/* Lock a bucket and return its word. Interrupts off. */
static inline unsigned long co_bucket_lock(struct callout_hash *hash,
					   unsigned long *bucket)
{
	unsigned long word;

	lockdep_assert_irqs_disabled();
	lock_map_acquire(&hash->dep_map);
	word = xchg_acquire(bucket, CALLOUT_BUCKET_LOCKED);
	if (unlikely(word == CALLOUT_BUCKET_LOCKED))
		return co_bucket_wait(hash, bucket);
	return word;
}

/* Unlock a bucket, storing @word in it. */
static inline void co_bucket_unlock(struct callout_hash *hash,
				    unsigned long *bucket,
				    unsigned long word)
{
	lock_map_release(&hash->dep_map);
	/* Pairs with the exchange that locks the bucket. */
	smp_store_release(bucket, word);
}

#endif /* _CALLOUT_HASH_BUCKET_H */
