// SPDX-License-Identifier: GPL-2.0
/*
 * hash.c - find a callout by its function and argument
 *
 * The old timeout() interface has no handles, so untimeout() must search.
 * Costello's facility finds the callout through a hash table, and so does
 * this. Several callouts may have the same function and argument; the old
 * sorted list found the one that expires first, so each bucket is a small
 * tree ordered by function, argument and expiry. That also bounds the search
 * when somebody sets a million callouts with one function and argument.
 *
 * The links are in the slots: to insert allocates nothing. The table grows
 * from process context, a batch at a time: new slots go to the new table,
 * old ones are moved there, a search looks into both.
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

/* Where (func, arg, expires) is, seen from @slot: left, here, or right. */
static int hash_compare(const void *func, const void *arg, u64 expires,
			const struct callout_slot *slot)
{
	const struct callout *c = &slot->c;

	if ((unsigned long)func != (unsigned long)c->func)
		return (unsigned long)func < (unsigned long)c->func ? -1 : 1;
	if (arg != c->arg)
		return arg < c->arg ? -1 : 1;
	if (expires != c->expires)
		return expires < c->expires ? -1 : 1;
	return 0;
}

static struct rb_root *hash_alloc(unsigned int bits, gfp_t gfp)
{
	return kvcalloc(1UL << bits, sizeof(struct rb_root), gfp);
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
	struct rb_root *buckets = hash_alloc(bits, gfp);

	if (!buckets)
		return -ENOMEM;
	hash->bits = bits;
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

/*
 * Equal ones go to the right: first set is first found. Those that are moved
 * when the table grows were set before those that have come to the new table
 * meanwhile, and are moved last first: they go to the left.
 */
void callout_hash_link_slow(struct rb_root *root, struct callout_slot *slot,
			    bool moved)
{
	struct rb_node **link = &root->rb_node, *parent = NULL;
	struct callout *c = &slot->c;

	while (*link) {
		parent = *link;
		if (hash_compare(c->func, c->arg, c->expires,
				 rb_entry(parent, struct callout_slot, node)) <
		    moved)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&slot->node, parent, link);
	rb_insert_color(&slot->node, root);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_link_slow);

/* The first slot of a tree with this function and argument. */
static struct callout_slot *hash_first(struct rb_root *root, const void *func,
				       const void *arg)
{
	struct rb_node *node = root->rb_node;
	struct callout_slot *slot, *found = NULL;

	while (node) {
		slot = rb_entry(node, struct callout_slot, node);
		if (hash_compare(func, arg, 0, slot) > 0) {
			node = node->rb_right;
			continue;
		}
		if ((unsigned long)func == (unsigned long)slot->c.func &&
		    arg == slot->c.arg)
			found = slot;
		node = node->rb_left;
	}
	return found;
}

static void hash_unlink(struct callout_hash *hash, struct callout_slot *slot)
{
	struct callout *c = &slot->c;
	struct rb_root *root;

	if (likely(c->active == hash->side))
		root = callout_hash_bucket(hash, c->func, c->arg);
	else
		root = callout_hash_old_bucket(hash, c->func, c->arg);
	rb_erase(&slot->node, root);
}

/**
 * callout_hash_remove - takes a slot out, if callout_hash_take() has not
 * @hash: the hash
 * @slot: a slot that was inserted
 *
 * Context: Interrupts off.
 */
void callout_hash_remove(struct callout_hash *hash, struct callout_slot *slot)
{
	/* Nobody inserts it meanwhile: once it has left it stays out. */
	if (RB_EMPTY_NODE(&slot->node))
		return;
	raw_spin_lock(&hash->lock);
	if (!RB_EMPTY_NODE(&slot->node)) {
		hash_unlink(hash, slot);
		hash->count--;
	}
	raw_spin_unlock(&hash->lock);
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_remove);

/* callout_hash_take() where a bucket holds more than the one. */
struct callout_slot *callout_hash_take_slow(struct callout_hash *hash,
					    const void *func, const void *arg)
{
	struct callout_slot *slot, *other;

	slot = hash_first(callout_hash_bucket(hash, func, arg), func, arg);
	if (hash->old) {
		other = hash_first(callout_hash_old_bucket(hash, func, arg),
				   func, arg);
		if (!slot || (other && other->c.expires <= slot->c.expires))
			slot = other;
	}
	if (slot)
		hash_unlink(hash, slot);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(callout_hash_take_slow);

/* Moves up to a budget of slots to the new table; false when all are there. */
static bool hash_move_some(struct callout_hash *hash, unsigned int *bucket)
{
	unsigned int budget = CALLOUT_BUDGET;
	struct callout_slot *slot;
	struct rb_root *root;

	for (; *bucket < 1U << hash->old_bits; ++*bucket) {
		root = &hash->old[*bucket];
		while (root->rb_node) {
			if (!budget--)
				return true;
			slot = rb_entry(rb_last(root), struct callout_slot,
					node);
			rb_erase(&slot->node, root);
			callout_hash_link(hash, slot, true);
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
	unsigned int bits, bucket = 0;
	struct rb_root *buckets;
	bool more;

	if (!callout_hash_wants_growth(hash))
		return;
	bits = clamp_t(unsigned int, ilog2(hash->count) + 4, hash->bits + 1,
		       CALLOUT_HASH_MAX_BITS);
	buckets = hash_alloc(bits, gfp | __GFP_NOWARN);
	if (!buckets)
		return;

	raw_spin_lock_irq(&hash->lock);
	hash->old = hash->buckets;
	hash->old_bits = hash->bits;
	hash->buckets = buckets;
	WRITE_ONCE(hash->bits, bits);
	hash->side = !hash->side;
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
