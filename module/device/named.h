/* SPDX-License-Identifier: GPL-2.0 */
/*
 * named.h - a file's callouts by handle, by key, and by function and argument
 */
#ifndef _CALLOUT_DEVICE_NAMED_H
#define _CALLOUT_DEVICE_NAMED_H

#include <linux/irqflags.h>
#include <linux/types.h>
#include "ctx.h"
#include "file.h"
#include "handles/hash.h"

int co_file_prepare_hash(struct callout_file *file,
			 struct callout_op_ctx *ctx);
u64 co_file_find(struct callout_file *file, u64 func, u64 arg);

/* Find the slot of a handle and lock its base. Return false if the handle is stale or invalid. */
static __always_inline bool
co_ctx_lock_slot(struct callout_file *file, struct callout_op_ctx *ctx,
		 u64 handle, struct callout_slot **slot)
{
	if (unlikely(!co_file_find_slot(file, handle, slot)))
		return false;
	co_ctx_lock(ctx, &(*slot)->node);
	return likely((*slot)->handle == handle);
}

/* Must co_file_prepare_hash() be called before an insertion? */
static inline bool co_file_wants_hash(struct callout_file *file)
{
	struct callout_hash *hash = &file->table.hash;

	return !co_hash_exists(hash) || co_hash_wants_growth(hash);
}

/* May the file have callouts that TIMEOUT has set, or callouts with a key? */
static inline bool co_file_has_named(struct callout_file *file)
{
	return co_hash_exists(&file->table.hash);
}

/*
 * Find the callout that co_file_find() finds, and lock its base. A reader may take the
 * key all the same. No base may be locked by the caller. May sleep.
 */
static inline struct callout_slot *
co_file_lock_found(struct callout_file *file, struct callout_op_ctx *ctx,
		   u64 func, u64 arg)
{
	struct callout_slot *slot;
	u64 handle;

	if (!co_file_has_named(file))
		return NULL;
	for (;;) {
		local_irq_disable();
		slot = co_hash_find(&file->table.hash, func, arg, &handle);
		if (!slot) {
			local_irq_enable();
			return NULL;
		}
		co_point();
		co_ctx_set_base(ctx, co_lock_irqs_off(&slot->node));
		/* For sparse, which cannot follow the lock. */
		__release(&ctx->base->lock);
		slot = co_hash_find_again(&file->table.hash, slot, func, arg);
		if (likely(slot && co_ctx_holds(ctx, &slot->node)))
			return slot;
		/* A callout of another base is the first by now, or none is left. */
		co_ctx_sleep(ctx);
		cond_resched();
	}
}

#endif /* _CALLOUT_DEVICE_NAMED_H */
