/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cancel.h - CANCEL, UNTIMEOUT and CANCEL_MATCHING
 */
#ifndef _CALLOUT_DEVICE_CANCEL_H
#define _CALLOUT_DEVICE_CANCEL_H

#include <linux/types.h>
#include <uapi/linux/callout.h>

struct callout_file;
struct callout_op_ctx;

int co_file_cancel(struct callout_file *file, u64 handle,
		   struct callout_op_ctx *ctx);
int co_file_cancel_named(struct callout_file *file, u64 func, u64 arg,
			 struct callout_op_ctx *ctx);
int co_file_untimeout(struct callout_file *file,
		      const struct callout_op *op,
		      struct callout_op_ctx *ctx);
int co_file_cancel_matching(struct callout_file *file, u64 cookie, u64 mask);

#endif /* _CALLOUT_DEVICE_CANCEL_H */
