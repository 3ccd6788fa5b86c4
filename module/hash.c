// SPDX-License-Identifier: GPL-2.0
/*
 * hash.c - find a callout by its function and argument
 *
 * The old BSD interface has no handles: it searches for a callout by its key, a
 * function and an argument. As in Costello's facility, a hash table finds it.
 * Several callouts may have the same key; the old sorted list found the one
 * that expires first. So a bucket is a tree, ordered by key, and for each key
 * by expiry. Nearly always it has one slot or none. If a million callouts have
 * one key, or keys that were chosen to collide, an operation takes as many
 * steps as the tree is deep, some 40.
 *
 * The links are in the slots, so inserting allocates nothing. The table grows
 * in process context, a portion at a time: new keys go to the new buckets, old
 * slots are moved there one by one, in order, and a search looks into both.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "base.h"
#include "hash.h"
#include "kcompat.h"

/*
 * Slots, and empty buckets, that growth looks at in one hold of the lock. Where
 * trees are deep, moving a slot takes as long as several units of work.
 */
#define MOVE_BUDGET	(CALLOUT_BUDGET / 8)

static struct rb_root *hash_alloc(unsigned int bits, gfp_t gfp)
{
	return kvcalloc(1UL << bits, sizeof(struct rb_root), gfp);
}

static struct rb_root *hash_old_bucket(struct callout_hash *hash,
				       u64 func, u64 arg)
{
	return &hash->old[callout_hash_value(hash, func, arg) >>
			  hash->old_shift];
}

/* Negative if the slot's key sorts before this one, positive if after. */
static int slot_compare(const struct callout_slot *slot, u64 func, u64 arg)
{
	if (slot->arg != arg)
		return slot->arg < arg ? -1 : 1;
	if (slot->key != func)
		return slot->key < func ? -1 : 1;
	return 0;
}

/* Makes an empty hash of 2^@bits buckets. Returns 0 or -ENOMEM. */
int callout_hash_init(struct callout_hash *hash, unsigned int bits, gfp_t gfp)
{
	struct rb_root *buckets = hash_alloc(bits, gfp);

	if (!buckets)
		return -ENOMEM;
	hash->shift = 64 - bits;
	hash->mul[0] = get_random_u64() | 1;
	hash->mul[1] = get_random_u64() | 1;
	/* Pairs with the smp_load_acquire() of users that make it on demand. */
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

/* The first slot of a key in a bucket, or NULL. */
static struct callout_slot *bucket_first(const struct rb_root *bucket,
					 u64 func, u64 arg)
{
	struct callout_slot *slot, *first = NULL;
	struct rb_node *node = bucket->rb_node;
	int order;

	while (node) {
		slot = rb_entry(node, struct callout_slot, link);
		order = slot_compare(slot, func, arg);
		if (!order)
			first = slot;
		node = order < 0 ? node->rb_right : node->rb_left;
	}
	return first;
}

/*
 * Adds a slot after those with its key and expiry. A red node below a black one
 * needs no balancing.
 */
static void bucket_add(struct rb_root *bucket, struct callout_slot *slot)
{
	struct rb_node **link = &bucket->rb_node, *parent = NULL;
	struct callout_slot *other;
	int order;

	while (*link) {
		parent = *link;
		other = rb_entry(parent, struct callout_slot, link);
		order = slot_compare(other, slot->key, slot->arg);
		if (order < 0 ||
		    (!order && other->node.expires <= slot->node.expires))
			link = &parent->rb_right;
		else
			link = &parent->rb_left;
	}
	rb_link_node(&slot->link, parent, link);
	if (unlikely(!parent || rb_is_red(parent)))
		rb_insert_color(&slot->link, bucket);
}

/* rb_erase(), without its call where the tree stays balanced. */
static void bucket_del(struct rb_root *bucket, struct rb_node *node)
{
	struct rb_node *parent = rb_parent(node);

	if (unlikely(node->rb_left || node->rb_right))
		rb_erase(node, bucket);
	else if (!parent)
		bucket->rb_node = NULL;
	else if (rb_is_black(node))
		rb_erase(node, bucket);
	else if (parent->rb_left == node)
		parent->rb_left = NULL;
	else
		parent->rb_right = NULL;
}

/*
 * Finds the first slot of a key, and its bucket: @bucket or an old one. While
 * the hash grows, the first slots of a key may be in the new table and others
 * in the old one; of those with the same expiry, those in the new one were set
 * first.
 */
static struct callout_slot *hash_first(struct callout_hash *hash,
				       struct rb_root **bucket,
				       u64 func, u64 arg)
{
	struct callout_slot *first = bucket_first(*bucket, func, arg), *other;
	struct rb_root *old;

	if (likely(!hash->old))
		return first;
	old = hash_old_bucket(hash, func, arg);
	other = bucket_first(old, func, arg);
	if (!other || (first && first->node.expires <= other->node.expires))
		return first;
	*bucket = old;
	return other;
}

/* callout_hash_insert() if the bucket is not empty, or the hash is growing. */
void callout_hash_insert_slow(struct callout_hash *hash, struct rb_root *bucket,
			      struct callout_slot *slot)
{
	struct rb_root *old;

	if (unlikely(hash->old)) {
		/* After those with its key, which are moved in order. */
		old = hash_old_bucket(hash, slot->key, slot->arg);
		if (bucket_first(old, slot->key, slot->arg))
			bucket = old;
	}
	bucket_add(bucket, slot);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_insert_slow);

/* The bucket that a slot is in, new or old. */
static struct rb_root *slot_bucket(struct callout_hash *hash,
				   struct callout_slot *slot)
{
	struct rb_root *bucket = callout_hash_bucket(hash, slot->key, slot->arg);
	struct rb_node *top = &slot->link;

	if (likely(!hash->old))
		return bucket;
	while (rb_parent(top))
		top = rb_parent(top);
	return bucket->rb_node == top ?
	       bucket : hash_old_bucket(hash, slot->key, slot->arg);
}

/*
 * Removes a slot that was inserted, unless callout_hash_take() has. Its base is
 * locked, interrupts are off.
 */
void callout_hash_remove(struct callout_hash *hash, struct callout_slot *slot)
{
	if (IS_ENABLED(CONFIG_CALLOUT_SCHEMES) &&
	    READ_ONCE(slot->node.mark) == CALLOUT_HASH_SEARCHED) {
		slot->node.mark = CALLOUT_HASH_OUT;
		return;
	}
	raw_spin_lock(&hash->lock);
	if (slot->node.mark == CALLOUT_HASH_IN) {
		bucket_del(slot_bucket(hash, slot), &slot->link);
		hash->count--;
	}
	WRITE_ONCE(slot->node.mark, CALLOUT_HASH_OUT);
	raw_spin_unlock(&hash->lock);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_remove);

/*
 * Locks the hash and removes a slot that is in it, so that its expires may
 * change: a search sees it before this or after callout_hash_move_end(). Its
 * base is locked, interrupts are off.
 */
void callout_hash_move_begin(struct callout_hash *hash,
			     struct callout_slot *slot)
	__acquires(&hash->lock)
{
	raw_spin_lock(&hash->lock);
	bucket_del(slot_bucket(hash, slot), &slot->link);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_move_begin);

/* Inserts the slot again and unlocks the hash. */
void callout_hash_move_end(struct callout_hash *hash, struct callout_slot *slot)
	__releases(&hash->lock)
{
	callout_hash_insert_slow(hash,
				 callout_hash_bucket(hash, slot->key, slot->arg),
				 slot);
	raw_spin_unlock(&hash->lock);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_move_end);

/* callout_hash_take(), but the slot stays in the hash. Any context. */
struct callout_slot *callout_hash_find(struct callout_hash *hash,
				       u64 func, u64 arg, u64 *handle)
{
	struct callout_slot *slot;
	struct rb_root *bucket;
	unsigned long flags;

	raw_spin_lock_irqsave(&hash->lock, flags);
	bucket = callout_hash_bucket(hash, func, arg);
	slot = hash_first(hash, &bucket, func, arg);
	if (slot)
		*handle = slot->handle;
	raw_spin_unlock_irqrestore(&hash->lock, flags);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_find);

/* callout_hash_take() if others are in the bucket, or the hash is growing. */
struct callout_slot *callout_hash_take_slow(struct callout_hash *hash,
					    struct rb_root *bucket,
					    u64 func, u64 arg)
{
	struct callout_slot *slot = hash_first(hash, &bucket, func, arg);

	if (slot)
		bucket_del(bucket, &slot->link);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_take_slow);

/* Moves some slots to the new buckets; returns false when all have moved. */
static bool hash_move_some(struct callout_hash *hash, unsigned int *bucket)
{
	unsigned int budget = MOVE_BUDGET;
	struct callout_slot *slot;
	struct rb_node *node;
	struct rb_root *old;

	for (; *bucket < 1U << (64 - hash->old_shift); ++*bucket) {
		old = &hash->old[*bucket];
		/* In order: the first slot of each key moves first. */
		while ((node = rb_first(old))) {
			if (!budget--)
				return true;
			bucket_del(old, node);
			slot = rb_entry(node, struct callout_slot, link);
			bucket_add(callout_hash_bucket(hash, slot->key,
						       slot->arg), slot);
		}
		if (!budget--)
			return true;
	}
	return false;
}

/*
 * Adds buckets if there are too few; without memory nothing changes. May sleep.
 * The caller serialises calls.
 */
void callout_hash_grow(struct callout_hash *hash, gfp_t gfp)
{
	unsigned int bits = 64 - hash->shift, bucket = 0;
	struct rb_root *buckets;
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
