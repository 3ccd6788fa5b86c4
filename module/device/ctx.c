// SPDX-License-Identifier: GPL-2.0
/*
 * ctx.c - the end of a run of operations on one file
 */
#include <linux/module.h>
#include "ctx.h"
#include "kcompat.h"

/* Ends a run of operations. */
void co_ctx_flush(struct callout_file *file, struct callout_op_ctx *ctx)
{
	co_ctx_unlock(ctx);
	co_ctx_count(file, ctx);
}
EXPORT_SYMBOL_IF_KUNIT(co_ctx_flush);
