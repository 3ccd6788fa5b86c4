/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev_uring.h - commands of io_uring, which complete when their callouts fire
 */
#ifndef _CALLOUT_DEV_URING_H
#define _CALLOUT_DEV_URING_H

#include <linux/types.h>
#include "kcompat.h"

struct callout_file;
struct callout_op_ctx;
struct callout_slot;
struct io_uring_cmd;

#if CALLOUT_URING

int callout_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags);
void callout_uring_take(struct callout_slot *slot, struct callout_op_ctx *ctx);
void callout_uring_cancelled(struct callout_op_ctx *ctx);
bool callout_uring_works(struct callout_file *file);
void callout_uring_init(void);

#else /* !CALLOUT_URING */

static inline void callout_uring_take(struct callout_slot *slot,
				      struct callout_op_ctx *ctx)
{
}

static inline void callout_uring_cancelled(struct callout_op_ctx *ctx)
{
}

static inline bool callout_uring_works(struct callout_file *file)
{
	return false;
}

static inline void callout_uring_init(void)
{
}

#endif /* CALLOUT_URING */

#endif /* _CALLOUT_DEV_URING_H */
