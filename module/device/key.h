/* SPDX-License-Identifier: GPL-2.0 */
/* key.h - SET of callouts that are named by a number that the program chooses */
#ifndef _CALLOUT_DEVICE_KEY_H
#define _CALLOUT_DEVICE_KEY_H

#include <linux/types.h>
#include <uapi/linux/callout.h>

struct callout_file;
struct callout_op_ctx;

int co_file_set_key(struct callout_file *file, struct callout_op *op,
		    struct callout_op_ctx *ctx);

#endif /* _CALLOUT_DEVICE_KEY_H */
