// SPDX-License-Identifier: GPL-2.0
/*
 * dev_search.c - UNTIMEOUT where the scheme has a find
 *
 * The scheme's find replaces the hash: UNTIMEOUT searches all bases, callout by
 * callout, and then the ready list.
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
 * Searches the bases first and the ready list, with callout_file.lock held all
 * the time, second: callouts that fire move from the former to the latter.
 */
static struct callout_slot *file_search_once(struct callout_file *file,
					     u64 func, u64 arg, u64 *handle)
{
	struct callout_slot *slot, *first = NULL;
	struct callout_base *base;
	u64 order = U64_MAX;

	slot = callout_table_search(&file->table, func, arg, &base);
	if (slot) {
		__acquire(&base->lock);
		first = slot;
		order = callout_slot_order(slot);
		*handle = slot->handle;
		callout_base_unlock(base);
	}
	raw_spin_lock(&file->lock);
	list_for_each_entry(slot, &file->ready, node.entry) {
		/* Not an event that has lost its key. */
		if (slot->node.mark == CALLOUT_HASH_SEARCHED &&
		    slot->arg == arg && callout_slot_key(slot) == func &&
		    callout_slot_order(slot) < order) {
			first = slot;
			order = callout_slot_order(slot);
			*handle = slot->handle;
		}
	}
	raw_spin_unlock(&file->lock);
	return first;
}

/*
 * Finds the callout that TIMEOUT set for a key and that expires first.
 *
 * A search can miss a callout that RESET moves in the other direction, from the
 * ready list to a base, or from a dead CPU's base to another. So a search that
 * found nothing is repeated if a move was under way when it began, or has begun
 * since:
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
		/* Other threads may keep moving callouts. */
		cond_resched();
		/* After the locks, under which a callout left its list. */
	} while (!slot && !fatal_signal_pending(current) &&
		 (moves % CALLOUT_MOVED ||
		  moves != atomic_read(&file->moves)));
	return slot;
}
