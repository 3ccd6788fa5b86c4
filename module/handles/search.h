/* SPDX-License-Identifier: GPL-2.0 */
/*
 * search.h - find a callout of the kernel's table by function and argument
 *
 * The hash finds the callout, unless the scheme has a find function. Only schemes
 * of the laboratory have one: without CONFIG_CALLOUT_LAB the hash is always used.
 */
#ifndef _CALLOUT_TABLE_SEARCH_H
#define _CALLOUT_TABLE_SEARCH_H

#include <linux/jump_label.h>
#include "hash.h"
#include "table.h"

DECLARE_STATIC_KEY_FALSE(callout_searches_key);

/* Does the scheme's find replace the hash? */
static inline bool co_searches(void)
{
	return IS_ENABLED(CONFIG_CALLOUT_LAB) &&
	       static_branch_unlikely(&callout_searches_key);
}

struct callout_slot *co_table_search(struct callout_table *table,
				     u64 func, u64 arg,
				     struct callout_base **locked);
void co_table_search_init(void);

/*
 * Register a slot that is or will be pending under its function and argument, so
 * that co_hash_find() or co_table_search() finds it. Until the slot is removed its
 * func and arg must not change, nor may its expires, unless it fires. The slot's
 * base is locked, and interrupts are off. Return true if the hash should grow.
 */
static inline bool co_table_put(struct callout_table *table,
				struct callout_slot *slot)
{
	if (co_searches()) {
		slot->node.place = CALLOUT_HASH_SEARCHED;
		return false;
	}
	return co_hash_insert(&table->hash, slot);
}

#endif /* _CALLOUT_TABLE_SEARCH_H */
