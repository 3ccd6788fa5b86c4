/* SPDX-License-Identifier: GPL-2.0 */
/*
 * requeue.h - move a slot of a table to another tick
 */
#ifndef _CALLOUT_REQUEUE_H
#define _CALLOUT_REQUEUE_H

#include "core/queue.h"
#include "table.h"

/*
 * Queue a slot at another tick, or a free slot at its first. The slot may be in the
 * hash, where its place depends on its tick. So it moves in one hold of its bucket's
 * lock: a search by function and argument finds it either before or after the move.
 * Only a callout with a key has a place that does not depend on its tick, since no
 * other has that key. The caller of a search that has found it looks again when it has
 * locked the base:
 *
 *	CPU0: resetcallout(h)			CPU1: co_unset_hashed()
 *	lock(base)				finds the slot
 *	lock(bucket)
 *	rearm: another tick
 *	unlock(bucket), unlock(base)
 *						lock(base): another callout
 *						is the first: cancels that, or
 *						searches again if it is of
 *						another base
 */
static inline void co_table_requeue(struct callout_table *table,
				    struct callout_base *base,
				    struct callout_slot *slot, u64 tick)
	__must_hold(&base->lock)
{
	struct callout_hash *hash = &table->hash;
	struct callout_bucket_hold hold;

	if (READ_ONCE(slot->node.place) != CALLOUT_HASH_IN || co_slot_keyed(slot)) {
		co_requeue_locked(base, &slot->node, tick);
		return;
	}
	co_hash_move_begin(hash, slot, &hold);
	co_requeue_locked(base, &slot->node, tick);
	co_hash_move_end(hash, slot, &hold);
}

#endif /* _CALLOUT_REQUEUE_H */
