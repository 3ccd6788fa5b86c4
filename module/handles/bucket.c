// SPDX-License-Identifier: GPL-2.0
/*
 * bucket.c - a bucket of the hash: its lock, and its slots
 *
 * A bucket is a word. With one slot the word points to the slot. With several slots
 * it points to the root of a tree, ordered by key, and for each key by expiry. A
 * holder of the lock treats one slot as a tree too.
 *
 * Each bucket has its own lock, in its only word: locking the bucket exchanges the
 * word for CALLOUT_BUCKET_LOCKED, and unlocking it stores a word again. A CPU that
 * reads CALLOUT_BUCKET_LOCKED has changed nothing and tries again. It is a raw lock,
 * inside a base's lock, held with interrupts off.
 */
#include <linux/processor.h>
#include <linux/rbtree.h>
#include "base/base.h"
#include "hash.h"
#include "bucket.h"

/* The first slot of a key in a tree, or NULL. */
struct callout_slot *co_bucket_first(const struct rb_root *tree,
				     u64 func, u64 arg)
{
	struct callout_slot *slot, *first = NULL;
	struct rb_node *node = tree->rb_node;
	int order;

	while (node) {
		slot = co_bucket_slot(node);
		order = co_slot_compare(slot, func, arg);
		if (!order)
			first = slot;
		node = order < 0 ? node->rb_right : node->rb_left;
	}
	return first;
}

/* Add a slot to a tree, after the slots with its key and expiry. The slot's bucket is locked. */
void co_bucket_add(struct callout_hash *hash, struct rb_root *tree,
		   struct callout_slot *slot)
{
	struct callout_slot *other;
	struct rb_node **link = &tree->rb_node, *parent = NULL;
	int order;

	while (*link) {
		parent = *link;
		other = co_bucket_slot(parent);
		order = co_slot_compare(other, co_slot_func(slot), co_slot_arg(slot));
		if (order < 0 ||
		    (!order &&
		     co_slot_order(other) <= co_slot_order(slot)))
			link = &parent->rb_right;
		else
			link = &parent->rb_left;
	}
	if (parent)
		atomic_inc(&hash->crowded);
	rb_link_node(&slot->link, parent, link);
	rb_insert_color(&slot->link, tree);
}

/* Remove a slot from a tree. The slot's bucket is locked. */
void co_bucket_del(struct callout_hash *hash, struct rb_root *tree,
		   struct rb_node *node)
{
	rb_erase(node, tree);
	if (tree->rb_node)
		atomic_dec(&hash->crowded);
}

/* Turn a word, which is not LOCKED, into a tree. */
struct rb_root co_bucket_root(unsigned long word)
{
	struct rb_node *node = co_bucket_node(word);
	struct rb_root root = { node };

	if (node && (word & CALLOUT_BUCKET_STATE) == CALLOUT_BUCKET_ONE) {
		rb_link_node(node, NULL, &root.rb_node);
		rb_insert_color(node, &root);
	}
	return root;
}

/*
 * co_bucket_lock() for a bucket that is locked. Waiters are served in turn, except
 * that a newcomer may be faster than the first waiter.
 */
unsigned long co_bucket_wait(struct callout_hash *hash,
			     unsigned long *bucket)
{
	unsigned long word;

	raw_spin_lock(&hash->wait);
	while ((word = xchg_acquire(bucket, CALLOUT_BUCKET_LOCKED)) ==
	       CALLOUT_BUCKET_LOCKED)
		spin_until_cond(READ_ONCE(*bucket) != CALLOUT_BUCKET_LOCKED);
	raw_spin_unlock(&hash->wait);
	return word;
}
EXPORT_SYMBOL_IF_KUNIT(co_bucket_wait);
