// SPDX-License-Identifier: GPL-2.0
/* ctx.c - a run of operations on one file: its base and its end */
#include <linux/module.h>
#include "ctx.h"
#include "kcompat.h"

/*
 * Move an idle slot, whose base is locked, to a base for new callouts. Return that
 * base, which is locked instead.
 */
struct callout_base *co_ctx_rehome(struct callout_file *file,
				   struct callout_op_ctx *ctx,
				   struct callout_slot *slot)
{
	struct callout_base *base = ctx->base;

	if (!co_file_is_home(file, base)) {
		__acquire(&base->lock);	/* for sparse */
		base = co_move_locked(base, &slot->node,
				      co_base_of(file->table.class, co_home_cpu()));
		__release(&base->lock);
		co_ctx_set_base(ctx, base);
	}
	return base;
}

/* End a run of operations. */
void co_ctx_flush(struct callout_file *file, struct callout_op_ctx *ctx)
{
	co_ctx_unlock(ctx);
	co_ctx_count(file, ctx);
}
EXPORT_SYMBOL_IF_KUNIT(co_ctx_flush);
