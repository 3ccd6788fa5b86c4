/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slot.h - a callout that lives in a table
 */
#ifndef _CALLOUT_SLOT_H
#define _CALLOUT_SLOT_H

#include <linux/callout.h>
#include <linux/container_of.h>
#include <linux/rbtree.h>

/**
 * struct callout_slot - a callout in a table
 * @node: what bases and schemes file. Free: node.word[0] links to the next
 *	free slot.
 * @func: kernel: the handler
 * @due: device: when it is due, in its clock; less than 2^63, so never an
 *	address in the kernel
 * @arg: the handler's argument, or the key's
 * @handle: its handle, until its handler has returned; in a free slot, the next
 *	one; 0 if its generations are used up. Written with the base locked.
 * @key: in the (func, arg) hash: the function, as a number; never called
 * @link: in the (func, arg) hash: link in its bucket
 * @period: device, not in the hash: nanoseconds, 0 if it is not periodic
 * @slack: device, periodic: nanoseconds
 * @next: device, until its reader re-arms it: when it is due next, unless RESET
 *	has moved it; one that ends when its clock is set: that clock's offset when
 *	it was armed
 *
 * A program chooses @arg and @key and, up to 2^63, @due. If memory corruption
 * makes such a slot look like one of the kernel's, or like a struct callout,
 * the core calls, or locks, none of these numbers that can be an address in
 * the kernel. With lockdep @key is in the place of callout.class.
 */
struct callout_slot {
	struct callout_node node;
	union {
		callout_func_t *func;
		u64 due;
	};
	u64 arg;
	u64 handle;
	u64 key;
	union {
		struct rb_node link;
		struct {
			u64 period;
			u64 slack;
			u64 next;
		};
	};
};

static_assert(offsetof(struct callout_slot, due) ==
	      offsetof(struct callout, func));
static_assert(offsetof(struct callout_slot, handle) ==
	      offsetof(struct callout, lock));
static_assert(sizeof(struct callout_slot) <= 96);

static inline struct callout_slot *callout_to_slot(const struct callout_node *n)
{
	return container_of(n, struct callout_slot, node);
}

#endif /* _CALLOUT_SLOT_H */
