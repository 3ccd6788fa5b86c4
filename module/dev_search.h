/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev_search.h - UNTIMEOUT where the scheme has a find
 */
#ifndef _CALLOUT_DEV_SEARCH_H
#define _CALLOUT_DEV_SEARCH_H

#include <linux/atomic.h>
#include <linux/types.h>
#include "dev_file.h"
#include "table_search.h"

/*
 * Before a callout leaves the ready list or its base, to be pending elsewhere.
 * Pairs with the locks and the second look at moves in callout_file_search().
 */
static inline void callout_search_move_begin(struct callout_file *file)
{
	if (callout_searches())
		atomic_inc_return(&file->moves);
}

static inline void callout_search_move_end(struct callout_file *file)
{
	if (callout_searches())
		atomic_add_return_release(CALLOUT_MOVED - 1, &file->moves);
}

struct callout_slot *callout_file_search(struct callout_file *file, u64 func,
					 u64 arg, u64 *handle);

#endif /* _CALLOUT_DEV_SEARCH_H */
