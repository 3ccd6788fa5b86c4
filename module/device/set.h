/* SPDX-License-Identifier: GPL-2.0 */
/*
 * set.h - SET and TIMEOUT
 */
#ifndef _CALLOUT_DEVICE_SET_H
#define _CALLOUT_DEVICE_SET_H

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
struct callout_slot *co_file_take(struct callout_file *file,
				  struct callout_op_ctx *ctx);
void co_file_give(struct callout_file *file, struct callout_slot *slot,
		  struct callout_op_ctx *ctx);
void co_file_start_command(struct callout_file *file, struct callout_slot *slot,
			   const struct callout_op *op,
			   struct callout_op_ctx *ctx);
int co_file_move(struct callout_file *file, struct callout_op *op, u64 handle,
		 struct callout_op_ctx *ctx);

#endif /* _CALLOUT_DEVICE_SET_H */
