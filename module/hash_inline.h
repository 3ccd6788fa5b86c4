/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hash_inline.h - the (func, arg) hash where a bucket holds one slot or none
 *
 * That is nearly always, so it is done in line; hash.c has the rest.
 */
#ifndef _CALLOUT_HASH_INLINE_H
#define _CALLOUT_HASH_INLINE_H

#include <linux/rbtree_augmented.h>
#include "handle.h"

static inline void callout_hash_link(struct callout_hash *hash,
				     struct callout_slot *slot, bool moved)
{
	struct callout *c = &slot->c;
	struct rb_root *root = callout_hash_bucket(hash, c->func, c->arg);

	c->active = hash->side;
	/* Mostly it is alone. */
	if (unlikely(root->rb_node)) {
		callout_hash_link_slow(root, slot, moved);
		return;
	}
	rb_link_node(&slot->node, NULL, &root->rb_node);
	rb_set_parent_color(&slot->node, NULL, RB_BLACK);
}

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
	raw_spin_lock(&hash->lock);
	callout_hash_link(hash, slot, false);
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
callout_hash_take(struct callout_hash *hash, const void *func, const void *arg,
		  u64 *handle)
{
	struct callout_slot *slot;
	struct rb_root *root;

	raw_spin_lock(&hash->lock);
	root = callout_hash_bucket(hash, func, arg);
	slot = rb_entry_safe(root->rb_node, struct callout_slot, node);
	/* Mostly it is alone. */
	if (likely(slot && (unsigned long)slot->c.func == (unsigned long)func &&
		   slot->c.arg == arg && !slot->node.rb_left &&
		   !slot->node.rb_right && !hash->old))
		root->rb_node = NULL;
	else
		slot = callout_hash_take_slow(hash, func, arg);
	if (slot) {
		*handle = slot->handle;
		RB_CLEAR_NODE(&slot->node);
		hash->count--;
	}
	raw_spin_unlock(&hash->lock);
	return slot;
}
#endif /* _CALLOUT_HASH_INLINE_H */
