// SPDX-License-Identifier: GPL-2.0
/*
 * compat.c - the old interface: timeout() and untimeout()
 *
 * Section VII of Varghese and Lauck's paper: existing code cancels a callout
 * by its function and argument, so that the facility must search for it. Here
 * the search is a look into a hash; what it finds is cancelled by its handle,
 * so a callout that fires between the two is not mistaken for another. With the
 * old scheme it is the old linear search, and its base stays locked.
 */
#include <linux/module.h>
#include "arm.h"
#include "handle.h"
#include "table_search.h"

/**
 * callout_timeout - sets a callout that callout_untimeout() can find
 * @func: the handler
 * @arg: its argument
 * @ticks: how many ticks from now; less than 1 counts as 1
 *
 * timeout() of 4.4BSD and of FreeBSD's timeout(9). There may be any number of
 * callouts with the same function and argument.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: the handle, as setcallout().
 */
callout_handle_t callout_timeout(callout_func_t *func, void *arg, long ticks)
{
	return callout_set(func, arg, ticks, true);
}
EXPORT_SYMBOL_GPL(callout_timeout);

static noinline int untimeout_hashed(callout_func_t *func, void *arg)
{
	struct callout_table *table = callout_kernel_table();
	struct callout_slot *slot;
	unsigned long flags;
	u64 handle;

	local_irq_save(flags);
	/* What is found and then not cancelled has left: no turn sees it again. */
	do {
		slot = callout_hash_take(&table->hash, (unsigned long)func,
					 (unsigned long)arg, &handle);
	} while (slot && callout_unset(slot, handle) != 1);
	local_irq_restore(flags);
	return slot ? 1 : -1;
}

/* As untimeout_hashed(), where the scheme has a find. */
static noinline int untimeout_searched(callout_func_t *func, void *arg)
{
	struct callout_table *table = callout_kernel_table();
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	slot = callout_table_search(table, (unsigned long)func,
				    (unsigned long)arg, &base);
	if (slot) {
		__acquire(&base->lock);
		callout_dequeue_locked(base, &slot->node);
		trace_callout_cancel(&slot->node);
		slot->node.mark = CALLOUT_HASH_OUT;
		callout_slot_put(table, base, slot);
		raw_spin_unlock(&base->lock);
	}
	local_irq_restore(flags);
	return slot ? 1 : -1;
}

/**
 * callout_untimeout - cancels the callout with a function and argument
 * @func: the handler
 * @arg: its argument
 *
 * untimeout() of 4.4BSD. If several match, it is the one that would run
 * first.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if one was cancelled, -1 if none is outstanding.
 */
int callout_untimeout(callout_func_t *func, void *arg)
{
	if (callout_searches())
		return untimeout_searched(func, arg);
	return untimeout_hashed(func, arg);
}
EXPORT_SYMBOL_GPL(callout_untimeout);

/**
 * callout_untimeout_handle - cancels the callout with this handle
 * @func: the handler it was set with
 * @arg: the argument it was set with
 * @handle: what timeout() returned
 *
 * untimeout() of FreeBSD's timeout(9).
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: as unsetcallout(); -1 and no effect if @func or @arg do not match.
 */
int callout_untimeout_handle(callout_func_t *func, void *arg,
			     callout_handle_t handle)
{
	struct callout_slot *slot;

	slot = callout_table_lookup(callout_kernel_table(), handle);
	/*
	 * Without the lock: if the slot is another's by now the handle is
	 * stale, and if the handle is good, or its handler runs, these two do
	 * not change.
	 */
	if (!slot || READ_ONCE(slot->func) != func ||
	    READ_ONCE(slot->arg) != (unsigned long)arg)
		return -1;
	return unsetcallout(handle);
}
EXPORT_SYMBOL_GPL(callout_untimeout_handle);
