/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev_hash.h - a file's callouts by function and argument: TIMEOUT's, and keys
 */
#ifndef _CALLOUT_DEV_HASH_H
#define _CALLOUT_DEV_HASH_H

#include <linux/types.h>
#include "dev_file.h"
#include "hash.h"
#include "table_search.h"

int callout_file_prepare_hash(struct callout_file *file,
			      struct callout_op_ctx *ctx);
struct callout_slot *callout_file_find(struct callout_file *file, u64 func,
				       u64 arg, u64 *handle);

/* Call callout_file_prepare_hash() before an insertion? */
static inline bool callout_file_wants_hash(struct callout_file *file)
{
	struct callout_hash *hash = &file->table.hash;

	if (callout_searches())
		return false;
	return !callout_hash_exists(hash) || callout_hash_wants_growth(hash);
}

/* May there be callouts that TIMEOUT has set, or with a key? */
static inline bool callout_file_has_named(struct callout_file *file)
{
	if (callout_searches())
		return true;
	return callout_hash_exists(&file->table.hash);
}

#endif /* _CALLOUT_DEV_HASH_H */
