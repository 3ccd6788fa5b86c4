/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev_search.h - UNTIMEOUT where the scheme has a find
 *
 * No scheme has one without CONFIG_CALLOUT_SCHEMES.
 */
#ifndef _CALLOUT_DEV_SEARCH_H
#define _CALLOUT_DEV_SEARCH_H

#include <linux/types.h>

struct callout_file;
struct callout_op_ctx;

#if IS_ENABLED(CONFIG_CALLOUT_SCHEMES)

#include <linux/atomic.h>
#include <linux/mutex.h>
#include "dev_file.h"
#include "table_search.h"

/* callout_file.moves: moves under way, plus this for each that has ended. */
#define CALLOUT_MOVED		0x10000

/*
 * Call this before a callout leaves the ready list or its base in order to be
 * pending elsewhere. Pairs with the locks and the second read of moves in
 * callout_file_search().
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

/*
 * Insertions of callouts with a key take turns, each with its search: the hash
 * does both in one hold of a bucket's lock. May sleep. Returns 0 or -EINTR.
 */
static inline int callout_search_keys_lock(struct callout_file *file,
					   struct callout_op_ctx *ctx)
{
	if (!callout_searches())
		return 0;
	callout_ctx_sleep(ctx);
	return mutex_lock_killable(&file->keys);
}

static inline void callout_search_keys_unlock(struct callout_file *file,
					      struct callout_op_ctx *ctx)
{
	if (callout_searches()) {
		callout_ctx_unlock(ctx);
		mutex_unlock(&file->keys);
	}
}

struct callout_slot *callout_file_search(struct callout_file *file, u64 func,
					 u64 arg, u64 *handle);

#else /* !CONFIG_CALLOUT_SCHEMES */

static inline void callout_search_move_begin(struct callout_file *file)
{
}

static inline void callout_search_move_end(struct callout_file *file)
{
}

static inline int callout_search_keys_lock(struct callout_file *file,
					   struct callout_op_ctx *ctx)
{
	return 0;
}

static inline void callout_search_keys_unlock(struct callout_file *file,
					      struct callout_op_ctx *ctx)
{
}

static inline struct callout_slot *
callout_file_search(struct callout_file *file, u64 func, u64 arg, u64 *handle)
{
	return NULL;
}

#endif /* CONFIG_CALLOUT_SCHEMES */

#endif /* _CALLOUT_DEV_SEARCH_H */
