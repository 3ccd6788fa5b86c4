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
 *	free slot. node.own: in the hash, a number of the name by which that finds it,
 *	see co_slot_func(); of an event that has no such name, 0; of a command, the
 *	command. node.expires: its tick; fired, see co_slot_set_fired()
 * @func: kernel: the handler
 * @due: device: when it is due, in its clock; less than 2^63, so never an
 *	address in the kernel
 * @arg: the handler's argument; device: the cookie, or a command's key
 * @handle: its handle, until its handler has returned; in a free slot, the next
 *	one; 0 if its generations are used up. Written with the base locked.
 * @period: device: nanoseconds, 0 if it is not periodic
 * @slack: device: nanoseconds
 * @next: device, until its reader re-arms it: when it is due next, unless SET has
 *	moved it; one that ends when its clock is set: that clock's offset when it was
 *	armed
 * @link: in the hash: link in its bucket
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
	u64 period;
	u64 slack;
	u64 next;
	struct rb_node link;
#ifdef CONFIG_CALLOUT_LAB
	u64 key;
#endif
};

static_assert(offsetof(struct callout_slot, due) ==
	      offsetof(struct callout, func));
static_assert(offsetof(struct callout_slot, handle) ==
	      offsetof(struct callout, lock));
static_assert(sizeof(struct callout_slot) <=
	      (IS_ENABLED(CONFIG_CALLOUT_LAB) ? 120 : 112));

/* The function in the name of a callout with a key. */
#define CALLOUT_KEY_FUNC	(~0ULL)

static inline struct callout_slot *co_to_slot(const struct callout_node *n)
{
	return container_of(n, struct callout_slot, node);
}

/* Writes node.own, or what is in its place. */
static inline void co_slot_set_own(struct callout_slot *slot, u64 own)
{
#ifdef CONFIG_CALLOUT_LAB
	slot->key = own;
#else
	slot->node.own = own;
#endif
}

static inline u64 co_slot_own(const struct callout_slot *slot)
{
#ifdef CONFIG_CALLOUT_LAB
	return slot->key;
#else
	return slot->node.own;
#endif
}

/* Is the name that the hash knows a slot by, if it does, a key? */
static inline bool co_slot_keyed(const struct callout_slot *slot)
{
	return slot->node.kind == CALLOUT_KIND_KEYED ||
	       slot->node.kind == CALLOUT_KIND_COMMAND;
}

/*
 * The hash finds a slot by a function and an argument: node.own and @arg. In the place
 * of the function of all that have a key is a number that no function has, and the
 * argument is the key: node.own or, of a command, which uses that, @arg. The kind of a
 * slot does not change while it is in the hash.
 */
static inline u64 co_slot_func(const struct callout_slot *slot)
{
	return unlikely(co_slot_keyed(slot)) ? CALLOUT_KEY_FUNC : co_slot_own(slot);
}

static inline u64 co_slot_arg(const struct callout_slot *slot)
{
	return unlikely(slot->node.kind == CALLOUT_KIND_KEYED) ? co_slot_own(slot) :
								slot->arg;
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
 * The order of slots with the same name: those that have fired, by time, before those
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
