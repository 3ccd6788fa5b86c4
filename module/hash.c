// SPDX-License-Identifier: GPL-2.0
/*
 * hash.c - find a callout by its function and argument
 *
 * The old timeout() interface has no handles, so untimeout() must search.
 * Costello's facility finds the callout through a hash table, and so does
 * this: a bucket is a chain with one slot of each key, that is of each pair of
 * function and argument. Several callouts may have the same key; the old
 * sorted list found the one that expires first, so that one is in the chain,
 * and has the others below it in a tree ordered by expiry. So the work does
 * not grow when somebody sets a million callouts with one key.
 *
 * The links are in the slots: to insert allocates nothing. The table grows
 * from process context, a batch at a time: new keys go to the new table, old
 * ones are moved there with all that is below them, a search looks into both.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "core.h"
#include "handle.h"
#include "hash.h"
#include "hash_inline.h"
#include "kcompat.h"

static struct hlist_head *hash_alloc(unsigned int bits, gfp_t gfp)
{
	return kvcalloc(1UL << bits, sizeof(struct hlist_head), gfp);
}

/**
 * callout_hash_init - makes an empty hash
 * @hash: the hash
 * @bits: log2 of the number of buckets to begin with
 * @gfp: how to allocate them
 *
 * Return: 0 or -ENOMEM.
 */
int callout_hash_init(struct callout_hash *hash, unsigned int bits, gfp_t gfp)
{
	struct hlist_head *buckets = hash_alloc(bits, gfp);

	if (!buckets)
		return -ENOMEM;
	hash->shift = 64 - bits;
	hash->mul[0] = get_random_u64() | 1;
	hash->mul[1] = get_random_u64() | 1;
	/* Pairs with the load in file_prepare_hash(). */
	smp_store_release(&hash->buckets, buckets);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_init);

void callout_hash_destroy(struct callout_hash *hash)
{
	kvfree(hash->old);
	kvfree(hash->buckets);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_destroy);

/* The first slot of a key, in whichever table it is. */
static struct callout_slot *hash_find(struct callout_hash *hash,
				      const void *func, const void *arg)
{
	struct callout_slot *slot;
	u64 value;

	slot = callout_hash_search(callout_hash_bucket(hash, func, arg),
				   func, arg);
	if (!slot && hash->old) {
		value = callout_hash_value(hash, func, arg);
		slot = callout_hash_search(&hash->old[value >> hash->old_shift],
					   func, arg);
	}
	return slot;
}

/* Adds a slot below the first; before those that expire with it, or behind. */
static void hash_add_other(struct callout_slot *first,
			   struct callout_slot *slot, bool before)
{
	struct rb_node **link = &first->others.rb_node, *parent = NULL;
	u64 expires = slot->c.expires;
	struct callout_slot *other;

	while (*link) {
		parent = *link;
		other = rb_entry(parent, struct callout_slot, node);
		if (expires < other->c.expires ||
		    (before && expires == other->c.expires))
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	WRITE_ONCE(slot->c.active, CALLOUT_HASH_OTHER);
	rb_link_node(&slot->node, parent, link);
	rb_insert_color(&slot->node, &first->others);
}

/* Puts a slot that is not in the hash in the place of the first of its key. */
static void hash_replace_first(struct callout_slot *first,
			       struct callout_slot *slot)
{
	WRITE_ONCE(slot->c.active, CALLOUT_HASH_FIRST);
	slot->others = first->others;
	slot->chain = first->chain;
	*slot->chain.pprev = &slot->chain;
	if (slot->chain.next)
		slot->chain.next->pprev = &slot->chain.next;
}

/* callout_hash_insert() where the key is there already, or a table is old. */
void callout_hash_insert_slow(struct callout_hash *hash,
			      struct callout_slot *slot)
{
	struct callout *c = &slot->c;
	struct callout_slot *first = hash_find(hash, c->func, c->arg);

	if (!first) {
		callout_hash_add_first(callout_hash_bucket(hash, c->func,
							   c->arg), slot);
	} else if (c->expires < first->c.expires) {
		hash_replace_first(first, slot);
		/* All others of its tick were set later. */
		hash_add_other(slot, first, true);
	} else {
		hash_add_other(first, slot, false);
	}
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_insert_slow);

static void hash_unlink_first(struct callout_slot *first)
{
	struct rb_node *node = rb_first(&first->others);
	struct callout_slot *next;

	if (!node) {
		__hlist_del(&first->chain);
		return;
	}
	next = rb_entry(node, struct callout_slot, node);
	rb_erase(node, &first->others);
	hash_replace_first(first, next);
}

/**
 * callout_hash_remove - takes a slot out, if callout_hash_take() has not
 * @hash: the hash
 * @slot: a slot that was inserted; its base is locked
 *
 * Context: Interrupts off.
 */
void callout_hash_remove(struct callout_hash *hash, struct callout_slot *slot)
{
	struct callout_slot *first;

	if (READ_ONCE(slot->c.active) == CALLOUT_HASH_SEARCHED) {
		slot->c.active = CALLOUT_HASH_OUT;
		return;
	}
	raw_spin_lock(&hash->lock);
	switch (slot->c.active) {
	case CALLOUT_HASH_FIRST:
		hash_unlink_first(slot);
		hash->count--;
		break;
	case CALLOUT_HASH_OTHER:
		first = hash_find(hash, slot->c.func, slot->c.arg);
		rb_erase(&slot->node, &first->others);
		hash->count--;
		break;
	}
	WRITE_ONCE(slot->c.active, CALLOUT_HASH_OUT);
	raw_spin_unlock(&hash->lock);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_remove);

/* callout_hash_take() where there is another of this key, or an old table. */
struct callout_slot *callout_hash_take_slow(struct callout_hash *hash,
					    const void *func, const void *arg)
{
	struct callout_slot *slot = hash_find(hash, func, arg);

	if (slot)
		hash_unlink_first(slot);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_take_slow);

/* Moves up to a budget of keys to the new table; false when all are there. */
static bool hash_move_some(struct callout_hash *hash, unsigned int *bucket)
{
	unsigned int budget = CALLOUT_BUDGET;
	struct callout_slot *slot;
	struct hlist_head *old;

	for (; *bucket < 1U << (64 - hash->old_shift); ++*bucket) {
		old = &hash->old[*bucket];
		while (old->first) {
			if (!budget--)
				return true;
			slot = hlist_entry(old->first, struct callout_slot,
					   chain);
			__hlist_del(&slot->chain);
			hlist_add_head(&slot->chain,
				       callout_hash_bucket(hash, slot->c.func,
							   slot->c.arg));
		}
		if (!budget--)
			return true;
	}
	return false;
}

/**
 * callout_hash_grow - makes more buckets if there are too few
 * @hash: the hash
 * @gfp: how to allocate; without memory everything stays as it was
 *
 * Context: Process context, may sleep; one caller at a time.
 */
void callout_hash_grow(struct callout_hash *hash, gfp_t gfp)
{
	unsigned int bits = 64 - hash->shift, bucket = 0;
	struct hlist_head *buckets;
	bool more;

	if (!callout_hash_wants_growth(hash))
		return;
	bits = clamp_t(unsigned int, ilog2(hash->count) + 4, bits + 1,
		       CALLOUT_HASH_MAX_BITS);
	buckets = hash_alloc(bits, gfp | __GFP_NOWARN);
	if (!buckets)
		return;

	raw_spin_lock_irq(&hash->lock);
	hash->old = hash->buckets;
	hash->old_shift = hash->shift;
	hash->buckets = buckets;
	WRITE_ONCE(hash->shift, 64 - bits);
	raw_spin_unlock_irq(&hash->lock);

	do {
		raw_spin_lock_irq(&hash->lock);
		more = hash_move_some(hash, &bucket);
		raw_spin_unlock_irq(&hash->lock);
		cond_resched();
	} while (more);

	raw_spin_lock_irq(&hash->lock);
	buckets = hash->old;
	hash->old = NULL;
	raw_spin_unlock_irq(&hash->lock);
	kvfree(buckets);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_grow);
