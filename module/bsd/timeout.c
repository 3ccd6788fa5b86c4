// SPDX-License-Identifier: GPL-2.0
/*
 * timeout.c - the old interface: timeout() and untimeout()
 *
 * Section VII of Varghese and Lauck's paper: existing code cancels a callout by its
 * function and argument, so the facility must search for it. Here the search is a
 * hash lookup, which is repeated when the base of the match has been locked.
 * With a scheme that has a find, it is the old linear search.
 */
#include <linux/module.h>
#include "core/queue.h"
#include "handles/kernel.h"
#include "handles/search.h"

/**
 * callout_timeout() - Set a callout that callout_untimeout() can find.
 * @func: the handler
 * @arg: the handler's argument
 * @ticks: ticks from now; less than 1 counts as 1
 *
 * timeout() of 4.4BSD and of FreeBSD's timeout(9). Any number of callouts may
 * have the same function and argument.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: the handle, as setcallout().
 */
callout_handle_t callout_timeout(callout_func_t *func, void *arg, long ticks)
{
	return co_set_hashed(func, arg, ticks);
}
EXPORT_SYMBOL_GPL(callout_timeout);

/* co_unset_hashed() for a scheme that has a find. */
static noinline int untimeout_searched(callout_func_t *func, void *arg)
{
	struct callout_table *table = co_kernel_table();
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	slot = co_table_search(table, (unsigned long)func,
			       (unsigned long)arg, &base);
	if (slot) {
		__acquire(&base->lock);
		co_dequeue_locked(base, &slot->node);
		trace_callout_cancel(&slot->node);
		slot->node.place = CALLOUT_HASH_OUT;
		co_slot_put(table, base, slot);
		co_base_unlock(base);
	}
	local_irq_restore(flags);
	return slot ? 1 : -1;
}

/**
 * callout_untimeout() - Cancel the callout with a function and argument.
 * @func: the handler
 * @arg: the handler's argument
 *
 * untimeout() of 4.4BSD. If several match, the first to expire is cancelled.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if a callout was cancelled, -1 if none is set.
 */
int callout_untimeout(callout_func_t *func, void *arg)
{
	if (co_searches())
		return untimeout_searched(func, arg);
	return co_unset_hashed(func, arg);
}
EXPORT_SYMBOL_GPL(callout_untimeout);

/**
 * callout_untimeout_handle() - Cancel the callout with this handle.
 * @func: the handler with which the callout was set
 * @arg: the argument with which the callout was set
 * @handle: the handle that timeout() returned
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

	slot = co_table_lookup(co_kernel_table(), handle);
	/*
	 * Read without the lock: both members change only when the slot is reused,
	 * and then the handle is stale.
	 */
	if (!slot || READ_ONCE(slot->func) != func ||
	    READ_ONCE(slot->arg) != (unsigned long)arg)
		return -1;
	return unsetcallout(handle);
}
EXPORT_SYMBOL_GPL(callout_untimeout_handle);
