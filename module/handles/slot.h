/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slot.h - a callout that lives in a table
 */
#ifndef _CALLOUT_SLOT_H
#define _CALLOUT_SLOT_H

#include <linux/callout.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/kconfig.h>
#include <linux/rbtree.h>

/**
 * struct callout_slot - a callout in a table
 * @node: what bases and schemes file. Free: node.word[0] links to the next
 *	free slot. node.own: the function of its key, as a number, never called;
 *	0 for what SET sets without a key; of a kind whose slots all have the
 *	same, that kind's own. node.expires: its tick; fired, see
 *	co_slot_set_fired()
 * @func: kernel: the handler
 * @due: device: when it is due, in its clock; less than 2^63, so never an
 *	address in the kernel
 * @arg: the handler's argument, or the key's
 * @handle: its handle, until its handler has returned; in a free slot, the next
 *	one; 0 if its generations are used up. Written with the base locked.
 * @link: in the (func, arg) hash: link in its bucket
 * @period: device, not in the hash: nanoseconds, 0 if it is not periodic
 * @slack: device, not in the hash: nanoseconds
 * @next: device, until its reader re-arms it: when it is due next, unless RESET
 *	has moved it; one that ends when its clock is set: that clock's offset when
 *	it was armed
 * @key: in place of node.own, where other schemes than the wheel use all of @node
 *
 * A program chooses @arg, node.own and, up to 2^63, @due, @period and @slack. If
 * memory corruption makes such a slot look like one of the kernel's, or like a
 * struct callout, the core calls, or locks, none of these numbers that can be an
 * address in the kernel. With lockdep @period is in the place of callout.class.
 */
struct callout_slot {
	struct callout_node node;
	union {
		callout_func_t *func;
		u64 due;
	};
	u64 arg;
	u64 handle;
	union {
		struct rb_node link;
		struct {
			u64 period;
			u64 slack;
			u64 next;
		};
	};
#ifdef CONFIG_CALLOUT_LAB
	u64 key;
#endif
};

static_assert(offsetof(struct callout_slot, due) ==
	      offsetof(struct callout, func));
static_assert(offsetof(struct callout_slot, handle) ==
	      offsetof(struct callout, lock));
static_assert(sizeof(struct callout_slot) <=
	      (IS_ENABLED(CONFIG_CALLOUT_LAB) ? 96 : 88));

/* The function in the key of a callout that is found by its argument alone. */
#define CALLOUT_KEY_FUNC	(~0ULL)

static inline struct callout_slot *co_to_slot(const struct callout_node *n)
{
	return container_of(n, struct callout_slot, node);
}

static inline void co_slot_set_key(struct callout_slot *slot, u64 func)
{
#ifdef CONFIG_CALLOUT_LAB
	slot->key = func;
#else
	slot->node.own = func;
#endif
}

/*
 * The function in the key of a slot that is not a command's, or that is about to be
 * inserted in the hash or removed: only in between has a command's another number in
 * that place.
 */
static inline u64 co_slot_plain_key(const struct callout_slot *slot)
{
#ifdef CONFIG_CALLOUT_LAB
	return slot->key;
#else
	return slot->node.own;
#endif
}

/*
 * The function in the key of any slot that is in the hash, where its kind does not
 * change, or has been. The lock of its bucket, its base or, if it has fired, its
 * owner is held.
 */
static inline u64 co_slot_key(const struct callout_slot *slot)
{
	if (unlikely(slot->node.kind == CALLOUT_KIND_COMMAND))
		return CALLOUT_KEY_FUNC;
	return co_slot_plain_key(slot);
}

/*
 * In node.expires a slot that has fired has the complement of the time when, which is
 * at least this: that time, in nanoseconds, is less than 2^62. A tick is less than
 * this, being at most 2^63 from now.
 */
#define CALLOUT_SLOT_FIRED	(3ULL << 62)

/* A slot has fired that was pending, so that its tick is not needed any more. */
static inline void co_slot_set_fired(struct callout_slot *slot, u64 now)
{
	WRITE_ONCE(slot->node.expires, ~now);
}

/* When a slot has fired whose event has not been read. */
static inline u64 co_slot_fired(const struct callout_slot *slot)
{
	return ~slot->node.expires;
}

/*
 * The order of slots with the same key: those that have fired, by time, before those
 * that have not, by tick. One word tells: whoever holds the bucket does not hold the
 * base, and a slot on its way out of the base is neither pending nor has it fired. A
 * slot that fires keeps its place in the bucket, which stays right unless one that
 * was due earlier, on another CPU, is late.
 */
static inline u64 co_slot_order(const struct callout_slot *slot)
{
	u64 expires = READ_ONCE(slot->node.expires);

	/* 2^62 are more than any time. */
	return expires >= CALLOUT_SLOT_FIRED ? ~expires : expires + (1ULL << 62);
}

#endif /* _CALLOUT_SLOT_H */
