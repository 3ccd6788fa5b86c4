// SPDX-License-Identifier: GPL-2.0
/*
 * dev_search.c - UNTIMEOUT where the scheme has a find
 *
 * The scheme's find takes the place of the hash: all bases are searched, callout
 * by callout, and then the ready list.
 */
#include <linux/irqflags.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include "arm.h"
#include "dev_file.h"
#include "dev_search.h"
#include "table.h"
#include "table_search.h"

/*
 * callout_table_search(), and after that the ready list, with callout_file.lock
 * held for as long as it takes. In this order: a callout that fires meanwhile
 * goes from the former to the latter.
 */
static struct callout_slot *file_search_once(struct callout_file *file,
					     u64 func, u64 arg, u64 *handle)
{
	struct callout_slot *slot, *first = NULL;
	struct callout_base *base;
	u64 expires = U64_MAX;

	slot = callout_table_search(&file->table, func, arg, &base);
	if (slot) {
		__acquire(&base->lock);
		first = slot;
		expires = slot->node.expires;
		*handle = slot->handle;
		raw_spin_unlock(&base->lock);
	}
	raw_spin_lock(&file->lock);
	list_for_each_entry(slot, &file->ready, node.entry) {
		if (slot->node.flags & CALLOUT_SLOT_HASHED &&
		    slot->arg == arg && slot->key == func &&
		    slot->node.expires < expires) {
			first = slot;
			expires = slot->node.expires;
			*handle = slot->handle;
		}
	}
	raw_spin_unlock(&file->lock);
	return first;
}

/*
 * One that RESET moves from the ready list to a base, or from a dead CPU's base
 * to another, may pass by a search in the other direction. So a search that has
 * found nothing counts only if nothing was on its way when it began, and
 * nothing has begun to move since:
 *
 *	CPU0: RESET				CPU1: UNTIMEOUT
 *						moves == 0
 *						searches bases: not there
 *	moves = 1
 *	off the ready list
 *	into a base
 *	moves = MOVED
 *						searches the ready list: not
 *						there, but moves == MOVED
 *						searches again
 */
struct callout_slot *callout_file_search(struct callout_file *file, u64 func,
					 u64 arg, u64 *handle)
{
	struct callout_slot *slot;
	unsigned long flags;
	unsigned int moves;

	do {
		/* Pairs with callout_search_move_end(). */
		moves = atomic_read_acquire(&file->moves);
		local_irq_save(flags);
		slot = file_search_once(file, func, arg, handle);
		local_irq_restore(flags);
		/* Whoever shares the file may go on moving. */
		cond_resched();
		/* Behind the locks, under which what moves has left. */
	} while (!slot && !fatal_signal_pending(current) &&
		 (moves % CALLOUT_MOVED ||
		  moves != atomic_read(&file->moves)));
	return slot;
}
