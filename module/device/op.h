/* SPDX-License-Identifier: GPL-2.0 */
/*
 * op.h - SET, UNSET, RESET, TIMEOUT, UNTIMEOUT
 */
#ifndef _CALLOUT_DEVICE_OP_H
#define _CALLOUT_DEVICE_OP_H

#include <linux/callout_node.h>
#include <linux/types.h>
#include <uapi/linux/callout.h>

struct callout_file;
struct callout_slot;
struct callout_op_ctx;

int co_file_set(struct callout_file *file, struct callout_op *op,
		struct callout_op_ctx *ctx);
struct callout_slot *co_file_set_keyed(struct callout_file *file,
				       const struct callout_op *op,
				       enum callout_kind kind,
				       struct callout_op_ctx *ctx);
int co_file_unset(struct callout_file *file, const struct callout_op *op,
		  struct callout_op_ctx *ctx);
int co_file_reset(struct callout_file *file, struct callout_op *op,
		  struct callout_op_ctx *ctx);
int co_file_untimeout(struct callout_file *file,
		      const struct callout_op *op,
		      struct callout_op_ctx *ctx);
int co_file_unset_named(struct callout_file *file, u64 func, u64 arg,
			struct callout_op_ctx *ctx);
int co_file_cancel(struct callout_file *file, u64 cookie, u64 mask);

#endif /* _CALLOUT_DEVICE_OP_H */
