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
 * lock: a search by function and argument finds it either before or after the move, and
 * cancels it. Only a callout with a key has a place that does not depend on its tick,
 * since no other has that key.
 *
 *	CPU0: resetcallout(h)			CPU1: co_unset_hashed()
 *	lock(base)				lock(bucket): takes the slot out,
 *						it has h
 *	lock(bucket): not in the hash		unlock(bucket)
 *	rearm: another tick
 *	unlock(bucket), unlock(base)
 *						lock(base): the slot has h:
 *						cancels it
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
