// SPDX-License-Identifier: GPL-2.0
/*
 * kernel_table.c - callouts that were set by handle
 *
 * The callouts are on the real bases, and due far away. A case that wants a callout
 * to fire re-arms it for the past and expires the base itself.
 */
#include <linux/bottom_half.h>
#include "kernel_table.h"
#include "core/expiry.h"
#include "handles/kernel.h"

struct callout_slot *callout_test_slot(u64 handle)
{
	return co_table_lookup(co_kernel_table(), handle);
}

/* The tick at which a callout is due, or 0 if it is not pending. */
u64 callout_test_expires(u64 handle)
{
	struct callout_slot *slot = callout_test_slot(handle);

	if (!slot || slot->handle != handle ||
	    !(slot->node.state & CALLOUT_S_PENDING))
		return 0;
	return slot->node.expires;
}

/* Re-arm a callout for a tick that has passed, without waking its base. */
void callout_test_move_to_past(u64 handle)
{
	struct callout_slot *slot = callout_test_slot(handle);
	struct callout_base *base = co_base(slot->node.cpu);
	struct callout_scheme *s = base->scheme;

	raw_spin_lock_irq(&base->lock);
	co_scheme_move(s, &slot->node, co_now(base), 0);
	raw_spin_unlock_irq(&base->lock);
}

/* Fire a callout of this CPU now. The caller is pinned. */
void callout_test_expire_now(u64 handle)
{
	struct callout_base *base = co_base(callout_test_slot(handle)->node.cpu);

	local_bh_disable();
	callout_test_move_to_past(handle);
	while (co_expire(base))
		;
	local_bh_enable();
}

/* The number of free slots of a CPU. */
unsigned int callout_test_free_slots(unsigned int cpu)
{
	return READ_ONCE(per_cpu_ptr(co_kernel_table()->pools,
				     cpu)->count);
}

/* How often callout_test_count_asking() was called. */
atomic_t callout_test_asked;

void callout_test_count_asking(struct irq_work *work)
{
	atomic_inc(&callout_test_asked);
}

/* Make the interrupt that wakes the stock's worker call @func from now on. */
void callout_test_set_asking(void (*func)(struct irq_work *work))
{
	irq_work_sync(&callout_refill_irq_work);
	callout_refill_irq_work.func = func;
}
