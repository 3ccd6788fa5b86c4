/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hash_inline.h - the (func, arg) hash where a bucket has one slot or none
 *
 * That is nearly always, so it is done in line; hash.c has the rest.
 */
#ifndef _CALLOUT_HASH_INLINE_H
#define _CALLOUT_HASH_INLINE_H

#include <linux/jump_label.h>
#include <linux/rbtree_augmented.h>
#include "handle.h"

/**
 * callout_hash_insert - adds a slot
 * @hash: the hash
 * @slot: the slot; its func, arg and expires stay until it is removed
 *
 * Context: Interrupts off.
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

/**
 * callout_hash_take - finds the callout with a function and argument
 * @hash: the hash
 * @func: the function
 * @arg: the argument
 * @handle: its handle
 *
 * Of several it is the one that expires first, and of those that do, the one
 * that was set first. It is taken out of the hash: the caller is going to
 * cancel it.
 *
 * Context: Interrupts off.
 * Return: the slot, which may be another's by now; NULL if there is none.
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

/* The scheme has a find of its own, which takes the place of the hash. */
DECLARE_STATIC_KEY_FALSE(callout_searches);

/**
 * callout_table_put - lets a slot be found by its function and argument
 * @table: its table
 * @slot: the slot, pending or ready; its func, arg and expires stay
 *
 * By callout_hash_take(), or callout_table_search() if the scheme has a find.
 *
 * Context: Interrupts off.
 * Return: whether the hash has become so full that it should grow.
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

#endif /* _CALLOUT_HASH_INLINE_H */
