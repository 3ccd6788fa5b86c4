// SPDX-License-Identifier: GPL-2.0
/*
 * hash.c - find a callout by its function and argument
 *
 * The old BSD interface has no handles: it searches for a callout by its key, a
 * function and an argument. As in Costello's facility, a hash table finds it. Several
 * callouts may have the same key; the old sorted list found the callout that expires
 * first. So a bucket with several slots is a tree, ordered by key, and for each key by
 * expiry. If a million callouts have one key, or keys that were chosen to collide, an
 * operation takes as many steps as the tree is deep, some 40. Nearly always a bucket
 * has one slot or none.
 *
 * The links are in the slots, so inserting allocates nothing.
 *
 * Each bucket has its own lock, in its only word: see bucket.c.
 *
 * An empty bucket is locked, given a slot and unlocked in one exchange. A bucket that
 * loses its only slot to co_hash_remove() or co_hash_take() is also locked, emptied and
 * unlocked in one exchange. The exchange fails unless the bucket has exactly that slot
 * at that moment. Whether the bucket had other slots in the meantime does not matter: of
 * the slot only the name is read, which the base's lock protects.
 *
 * Some keys have at most one slot: for them co_hash_insert_only() searches and inserts
 * in one hold of the bucket's lock. An empty bucket has no slot to search. Such a slot
 * is never compared with another slot of its key, so its expiry may change.
 *
 * The table grows in process context, a portion at a time, bucket by bucket. A key's
 * slots are protected by the lock of its bucket in the first table in which that
 * bucket has not moved. All operations begin at callout_hash.table, and continue in
 * the next table when the bucket they have locked is empty and MOVING. A bucket that
 * is MOVING and not empty still protects all its keys, and also the buckets of the
 * next table to which they move. Nobody reaches those buckets yet in any other way, so
 * one lock is enough, and order among equals is kept.
 *
 *	CPU0: co_hash_grow()		CPU1: co_hash_find()
 *						finds b in the old table
 *	locks b
 *	moves some slots, in order		waits for b
 *	unlocks b, MOVING with a root
 *						locks b, searches both tables,
 *						takes the earlier of two,
 *						moves two
 *						unlocks b
 *	locks b, moves the last slots
 *	unlocks b, MOVING without a root
 *						locks b: moved; unlocks it,
 *						locks the bucket of the next
 *	when all buckets have moved:
 *	hash->table = the next one
 *	frees the old one, after a grace
 *	period
 *
 * A bucket that has moved stays MOVING and empty. Interrupts are off from reading
 * hash->table to unlocking the bucket, so the old table exists as long as CPU1 needs
 * it.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "base/base.h"
#include "hash.h"
#include "bucket.h"
#include "kcompat.h"

/* 64 MB: up to a million slots, 8 to 16 buckets for each slot, as growth wants. */
#define HASH_MAX_BITS	23

/*
 * The number of slots and empty buckets that growth looks at with interrupts off.
 * Where trees are deep, moving a slot takes as long as several units of work.
 */
#define MOVE_BUDGET	(CALLOUT_BUDGET / 8)

static unsigned int buckets_number(const struct callout_buckets *table)
{
	return 1U << (64 - table->shift);
}

static struct callout_buckets *buckets_alloc(unsigned int bits, gfp_t gfp)
{
	struct callout_buckets *table;

	table = kvzalloc(struct_size(table, bucket, 1UL << bits), gfp);
	if (table)
		table->shift = 64 - bits;
	return table;
}

/* Only growth changes the table, and calls of growth are serialised. */
static struct callout_buckets *hash_table(struct callout_hash *hash)
{
	return rcu_dereference_protected(hash->table, true);
}

/*
 * Decide when to grow or to look again, from @bits on. From an eighth full, buckets
 * with two keys are slower: with one crowded slot for 128 buckets, a slot is likely
 * to share its bucket with another key. Slots with the same key share a bucket in
 * any table.
 */
static void hash_set_growth(struct callout_hash *hash, unsigned int bits)
{
	unsigned int crowded = atomic_read(&hash->crowded);
	unsigned int at = max((1U << bits) / 128, crowded + crowded / 2 + 1);

	WRITE_ONCE(hash->grow_at, bits < HASH_MAX_BITS ? at : UINT_MAX);
}

/* Make an empty hash of 2^@bits buckets. Return 0 or -ENOMEM. */
int co_hash_init(struct callout_hash *hash, unsigned int bits, gfp_t gfp)
{
	struct callout_buckets *table = buckets_alloc(bits, gfp);
	static struct lock_class_key key;

	if (!table)
		return -ENOMEM;
	hash->mul[0] = get_random_u64() | 1;
	hash->mul[1] = get_random_u64() | 1;
	atomic_set(&hash->crowded, 0);
	hash_set_growth(hash, bits);
	raw_spin_lock_init(&hash->wait);
	lockdep_init_map(&hash->dep_map, "callout_hash", &key, 0);
	/* Pairs with co_hash_exists(), for users that create the hash on demand. */
	rcu_assign_pointer(hash->table, table);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_init);

void co_hash_destroy(struct callout_hash *hash)
{
	struct callout_buckets *table = hash_table(hash);

	if (table)
		kvfree(table->next);
	kvfree(table);
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_destroy);

/* The bucket of a key in a table. */
static unsigned long *bucket_of(struct callout_buckets *table, u64 value)
{
	return &table->bucket[value >> table->shift];
}

/* Lock the bucket that protects a key. Interrupts off. */
static void hash_lock(struct callout_hash *hash, u64 func, u64 arg,
		      struct callout_bucket_hold *hold)
{
	u64 value = co_hash_value(hash, func, arg);
	struct callout_buckets *table;
	unsigned long word;

	/* Pairs with co_hash_grow_end(). */
	table = rcu_dereference_check(hash->table, rcu_read_lock_any_held());
	co_point();
	for (;;) {
		hold->bucket = bucket_of(table, value);
		word = co_bucket_lock(hash, hold->bucket);
		if (likely(word != CALLOUT_BUCKET_MOVING))
			break;
		co_bucket_unlock(hash, hold->bucket, word);
		co_point();
		table = table->next;
	}
	hold->root = co_bucket_root(word);
	hold->next = NULL;
	if (unlikely((word & CALLOUT_BUCKET_STATE) == CALLOUT_BUCKET_MOVING)) {
		hold->next = table->next;
		hold->moved_to = bucket_of(table->next, value);
		hold->moved = co_bucket_root(*hold->moved_to);
	}
}

/* Move the first slot of a tree, which is not empty, to its bucket in @table. */
static void tree_move_first(struct callout_hash *hash, struct rb_root *tree,
			    struct callout_buckets *table)
{
	struct callout_slot *slot = co_bucket_slot(rb_first(tree));
	unsigned long *bucket;
	struct rb_root root;

	bucket = bucket_of(table, co_hash_value(hash, co_slot_func(slot),
						co_slot_arg(slot)));
	root = co_bucket_root(*bucket);
	co_bucket_del(hash, tree, &slot->link);
	co_bucket_add(hash, &root, slot);
	*bucket = co_bucket_word(root);
}

/*
 * hash_unlock() for a bucket that is MOVING. Move two slots out of the bucket, more
 * than the single slot that the holder may have inserted. Otherwise the bucket
 * would not become empty while other CPUs use one of its keys faster than growth
 * moves slots.
 */
static noinline void hash_unlock_moving(struct callout_hash *hash,
					struct callout_bucket_hold *hold)
{
	unsigned int i;

	*hold->moved_to = co_bucket_word(hold->moved);
	for (i = 0; i < 2 && hold->root.rb_node; i++)
		tree_move_first(hash, &hold->root, hold->next);
	co_bucket_unlock(hash, hold->bucket,
			 (unsigned long)hold->root.rb_node |
			 CALLOUT_BUCKET_MOVING);
}

static void hash_unlock(struct callout_hash *hash,
			struct callout_bucket_hold *hold)
{
	if (unlikely(hold->next))
		hash_unlock_moving(hash, hold);
	else
		co_bucket_unlock(hash, hold->bucket,
				 co_bucket_word(hold->root));
}

/*
 * Find the first slot of a key. While slots move, the first slots of a key may be in
 * the next table and others in the old one. Among slots with the same expiry, the
 * slots in the next table were set first.
 */
static struct callout_slot *hold_first(struct callout_bucket_hold *hold,
				       u64 func, u64 arg)
{
	struct callout_slot *first, *moved;

	first = co_bucket_first(&hold->root, func, arg);
	if (likely(!hold->next))
		return first;
	moved = co_bucket_first(&hold->moved, func, arg);
	if (!moved ||
	    (first && co_slot_order(first) < co_slot_order(moved)))
		return first;
	return moved;
}

static void hold_insert(struct callout_hash *hash,
			struct callout_bucket_hold *hold,
			struct callout_slot *slot)
{
	struct rb_root *tree = &hold->root;

	/* Keep it behind the slots with its key, which are moved in order. */
	if (unlikely(hold->next) &&
	    !co_bucket_first(tree, co_slot_func(slot), co_slot_arg(slot)))
		tree = &hold->moved;
	co_bucket_add(hash, tree, slot);
}

static void hold_remove(struct callout_hash *hash,
			struct callout_bucket_hold *hold,
			struct callout_slot *slot)
{
	struct rb_root *tree = &hold->root;
	struct rb_node *top = &slot->link;

	if (unlikely(hold->next)) {
		while (rb_parent(top))
			top = rb_parent(top);
		if (top != tree->rb_node)
			tree = &hold->moved;
	}
	co_bucket_del(hash, tree, &slot->link);
}

/*
 * co_hash_insert() into any bucket or, if @only, co_hash_insert_only(). Return whether
 * the slot was inserted.
 */
bool co_hash_insert_slow(struct callout_hash *hash, struct callout_slot *slot,
			 bool only)
{
	u64 func = co_slot_func(slot), arg = co_slot_arg(slot);
	struct callout_bucket_hold hold;
	bool there;

	hash_lock(hash, func, arg, &hold);
	there = only && hold_first(&hold, func, arg);
	if (unlikely(there))
		WRITE_ONCE(slot->node.place, CALLOUT_HASH_OUT);
	else
		hold_insert(hash, &hold, slot);
	hash_unlock(hash, &hold);
	return !there;
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_insert_slow);

/* co_hash_remove() for any bucket. */
static noinline void hash_remove(struct callout_hash *hash,
				 struct callout_slot *slot)
{
	struct callout_bucket_hold hold;

	co_point();
	hash_lock(hash, co_slot_func(slot), co_slot_arg(slot), &hold);
	hold_remove(hash, &hold, slot);
	WRITE_ONCE(slot->node.place, CALLOUT_HASH_OUT);
	hash_unlock(hash, &hold);
	co_point();
}

/* Remove a slot that has a place. Nobody else inserts or removes it. Interrupts are off. */
void co_hash_remove(struct callout_hash *hash, struct callout_slot *slot)
{
	unsigned long *bucket, word = (unsigned long)&slot->link;

	if (IS_ENABLED(CONFIG_CALLOUT_LAB) &&
	    READ_ONCE(slot->node.place) == CALLOUT_HASH_SEARCHED) {
		slot->node.place = CALLOUT_HASH_OUT;
		return;
	}
	co_point();
	/* Lock, empty and unlock a bucket that has only this slot. */
	bucket = co_hash_bucket(hash, co_slot_func(slot), co_slot_arg(slot));
	if (likely(try_cmpxchg(bucket, &word, 0))) {
		WRITE_ONCE(slot->node.place, CALLOUT_HASH_OUT);
		co_point();
		return;
	}
	hash_remove(hash, slot);
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_remove);

/*
 * Lock the bucket of a slot that is in the hash and remove the slot, so that its
 * expires may change: a search sees the slot before this call or after
 * co_hash_move_end(). The slot's base is locked, and interrupts are off.
 */
void co_hash_move_begin(struct callout_hash *hash,
			struct callout_slot *slot,
			struct callout_bucket_hold *hold)
{
	hash_lock(hash, co_slot_func(slot), co_slot_arg(slot), hold);
	hold_remove(hash, hold, slot);
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_move_begin);

/* Insert the slot again, and unlock its bucket. */
void co_hash_move_end(struct callout_hash *hash, struct callout_slot *slot,
		      struct callout_bucket_hold *hold)
{
	hold_insert(hash, hold, slot);
	hash_unlock(hash, hold);
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_move_end);

/* co_hash_find() for any bucket. */
struct callout_slot *co_hash_find_slow(struct callout_hash *hash, u64 func,
				       u64 arg, u64 *handle)
{
	struct callout_bucket_hold hold;
	struct callout_slot *slot;

	hash_lock(hash, func, arg, &hold);
	slot = hold_first(&hold, func, arg);
	if (slot)
		*handle = slot->handle;
	hash_unlock(hash, &hold);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_find_slow);

/* co_hash_take() for any bucket; the base of @cpu is locked. */
struct callout_slot *co_hash_take_slow(struct callout_hash *hash, u16 cpu,
				       u64 func, u64 arg)
{
	struct callout_bucket_hold hold;
	struct callout_slot *slot;

	co_point();
	hash_lock(hash, func, arg, &hold);
	slot = hold_first(&hold, func, arg);
	if (slot && READ_ONCE(slot->node.cpu) == cpu) {
		hold_remove(hash, &hold, slot);
		WRITE_ONCE(slot->node.place, CALLOUT_HASH_OUT);
	}
	hash_unlock(hash, &hold);
	co_point();
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_take_slow);

/*
 * Return the number of slots, approximate if other CPUs insert or remove
 * concurrently. May sleep. Must not run concurrently with growth.
 */
unsigned int co_hash_count(struct callout_hash *hash)
{
	struct callout_buckets *table = hash_table(hash);
	unsigned int count = atomic_read(&hash->crowded), i;

	for (i = 0; i < buckets_number(table); i++) {
		count += !!READ_ONCE(table->bucket[i]);
		if (i % 1024 == 0)
			cond_resched();
	}
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_count);

/* Begin to grow, to 2^@bits buckets. Return false without memory. A test replaces this. */
bool co_hash_grow_begin(struct callout_hash *hash, unsigned int bits,
			gfp_t gfp)
{
	struct callout_buckets *table = hash_table(hash);

	KUNIT_STATIC_STUB_REDIRECT(co_hash_grow_begin, hash, bits, gfp);
	/* Others read it when a bucket of @table is MOVING. */
	table->next = buckets_alloc(bits, gfp | __GFP_NOWARN);
	if (!table->next)
		return false;
	/* Nobody asks again until the hash has grown. */
	WRITE_ONCE(hash->grow_at, UINT_MAX);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_grow_begin);

/* Move slots of a bucket, at least one unit of work. Return what is left of @budget. */
static unsigned int bucket_move(struct callout_hash *hash,
				struct callout_buckets *table,
				unsigned int budget)
{
	unsigned long *bucket = &table->bucket[table->moved];
	struct rb_root root;

	root = co_bucket_root(co_bucket_lock(hash, bucket));
	/* Keep the order: the first slot of each key moves first. */
	for (; budget && root.rb_node; budget--)
		tree_move_first(hash, &root, table->next);
	if (!root.rb_node)
		table->moved++;
	co_bucket_unlock(hash, bucket, (unsigned long)root.rb_node |
				       CALLOUT_BUCKET_MOVING);
	return budget ? budget - 1 : 0;
}

/* Move slots, up to @budget units of work. Return false when all have moved. */
bool co_hash_grow_some(struct callout_hash *hash, unsigned int budget)
{
	struct callout_buckets *table = hash_table(hash);

	local_irq_disable();
	while (budget && table->moved < buckets_number(table)) {
		budget = bucket_move(hash, table, budget);
		co_point();
	}
	local_irq_enable();
	return table->moved < buckets_number(table);
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_grow_some);

/* All slots have moved: from here on all operations begin at the new table. */
void co_hash_grow_end(struct callout_hash *hash)
{
	struct callout_buckets *table = hash_table(hash);

	hash_set_growth(hash, 64 - table->next->shift);
	co_point();
	/* Pairs with hash_lock() and other readers: they find all slots that moved. */
	rcu_assign_pointer(hash->table, table->next);
	kvfree_rcu(table, rcu);
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_grow_end);

/*
 * Add buckets if there are too few. Without memory nothing changes. May sleep. The
 * caller serialises calls.
 */
void co_hash_grow(struct callout_hash *hash, gfp_t gfp)
{
	unsigned int old = 64 - hash_table(hash)->shift, bits;

	if (!co_hash_wants_growth(hash))
		return;
	bits = min(ilog2(co_hash_count(hash) | 1) + 4, HASH_MAX_BITS);
	if (bits <= old || !co_hash_grow_begin(hash, bits, gfp)) {
		/* Don't try again at each insertion: counting takes time. */
		hash_set_growth(hash, old);
		return;
	}
	while (co_hash_grow_some(hash, MOVE_BUDGET))
		cond_resched();
	co_hash_grow_end(hash);
}
EXPORT_SYMBOL_IF_KUNIT(co_hash_grow);
