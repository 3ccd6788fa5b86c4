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
 * @node: the part that bases and schemes queue. In a free slot node.word[0] links to
 *	the next free slot. node.own: in the hash, one of the two numbers of the
 *	slot's name, see co_slot_func(); in an event without a name, 0; in a command,
 *	the command. node.expires: the slot's tick; once it has fired, see
 *	co_slot_set_fired()
 * @func: kernel: the handler
 * @due: device: when the callout is due, in its clock; less than 2^63, so never an
 *	address in the kernel
 * @arg: the handler's argument; device: the cookie, or a command's key
 * @handle: the callout's handle, until the handler has returned; in a free slot, the
 *	next handle; 0 if the slot's generations are used up. Written with the base
 *	locked.
 * @period: device: nanoseconds, 0 if the callout is not periodic
 * @slack: device: nanoseconds
 * @next: device, until the callout's reader re-arms it: when the callout is due next,
 *	unless SET has moved it. In a callout that ends when its clock is set: the
 *	clock's offset at the time of arming
 * @link: in the hash: link in the slot's bucket
 * @key: replaces node.own where schemes other than the wheel use all of @node
 *
 * A program chooses @arg, node.own and, up to 2^63, @due, @period and @slack. If
 * memory corruption makes such a slot look like one of the kernel's, or like a struct
 * callout, the core neither calls nor locks any of these numbers that can be a kernel
 * address. With lockdep @period is at the offset of callout.class.
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

/* The function in the name of a callout that has a key. */
#define CALLOUT_KEY_FUNC	(~0ULL)

static inline struct callout_slot *co_to_slot(const struct callout_node *n)
{
	return container_of(n, struct callout_slot, node);
}

/* Write node.own, or @key, which replaces it. */
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

/* Is the slot's name in the hash, if it has a name there, a key? */
static inline bool co_slot_keyed(const struct callout_slot *slot)
{
	return slot->node.kind == CALLOUT_KIND_KEYED ||
	       slot->node.kind == CALLOUT_KIND_COMMAND;
}

/*
 * The hash finds a slot by a function and an argument: node.own and @arg. For all
 * slots with a key the function is a number that no function has, and the argument is
 * the key: node.own or, in a command, which uses node.own otherwise, @arg. A slot's
 * kind does not change while the slot is in the hash.
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
 * In a slot that has fired, node.expires is the complement of the time at which it
 * fired, which is at least this number: the time, in nanoseconds, is less than 2^62.
 * A tick is less than this number, since a tick is at most 2^63 from now.
 */
#define CALLOUT_SLOT_FIRED	(3ULL << 62)

/* A pending slot has fired, so its tick is no longer needed. */
static inline void co_slot_set_fired(struct callout_slot *slot, u64 now)
{
	WRITE_ONCE(slot->node.expires, ~now);
}

/* The time at which a slot fired. Its event has not been read. */
static inline u64 co_slot_fired(const struct callout_slot *slot)
{
	return ~slot->node.expires;
}

/*
 * The order of slots with the same name: slots that have fired, by time, before slots
 * that have not fired, by tick. A single word must decide: a holder of the bucket's
 * lock does not hold the base's lock, and a slot that is leaving the base is neither
 * pending nor fired. A slot that fires keeps its place in the bucket. That place
 * stays right unless a slot that was due earlier, on another CPU, is late.
 */
static inline u64 co_slot_order(const struct callout_slot *slot)
{
	u64 expires = READ_ONCE(slot->node.expires);

	/* 2^62 is later than any time. */
	return expires >= CALLOUT_SLOT_FIRED ? ~expires : expires + (1ULL << 62);
}

#endif /* _CALLOUT_SLOT_H */
