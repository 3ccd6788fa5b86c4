// SPDX-License-Identifier: GPL-2.0
/* named.c - a file's callouts by function and argument (TIMEOUT) and by key */
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include "file.h"
#include "named.h"
#include "kcompat.h"

/* log2 of the initial number of buckets of a file's (func, arg) hash. */
#define FILE_HASH_BITS		6

/* Create the hash at the first insertion; let it grow at later ones. May sleep. */
int co_file_prepare_hash(struct callout_file *file,
			 struct callout_op_ctx *ctx)
{
	struct callout_hash *hash = &file->table.hash;
	int ret = 0;

	co_ctx_sleep(ctx);
	mutex_lock(&file->table.grow);
	if (!co_hash_exists(hash))
		ret = co_hash_init(hash, FILE_HASH_BITS, GFP_KERNEL_ACCOUNT);
	else
		co_hash_grow(hash, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&file->table.grow);
	return ret;
}

/*
 * Return the handle of the callout that TIMEOUT set for a function and an argument, or
 * of the callout with a key; 0 if there is none. The callout stays in the hash until it
 * is cancelled, so that a concurrent UNTIMEOUT does not miss it.
 */
u64 co_file_find(struct callout_file *file, u64 func, u64 arg)
{
	unsigned long flags;
	u64 handle = 0;

	if (!co_file_has_named(file))
		return 0;
	local_irq_save(flags);
	co_hash_find(&file->table.hash, func, arg, &handle);
	local_irq_restore(flags);
	return handle;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_find);
