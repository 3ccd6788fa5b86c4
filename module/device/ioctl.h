/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ioctl.h - ioctl arguments
 */
#ifndef _CALLOUT_DEVICE_IOCTL_H
#define _CALLOUT_DEVICE_IOCTL_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <uapi/linux/callout.h>

struct callout_file;
struct callout_op_ctx;

int co_op_do(struct callout_file *file, struct callout_op *op,
	     struct callout_op_ctx *ctx);
bool co_op_makes(const struct callout_op *op);
int co_op_get_command(struct callout_op *op, size_t size,
		      struct callout_op __user *uop);
long co_ioctl_op(struct callout_file *file, size_t size,
		 struct callout_op __user *uop);
long co_ioctl_batch(struct callout_file *file, size_t size,
		    struct callout_batch __user *ubatch, bool may_wait);
long co_ioctl_limit(struct callout_file *file, size_t size,
		    const struct callout_limit __user *ulimit);
long co_ioctl_cancel_matching(struct callout_file *file, size_t size,
			      const struct callout_match __user *umatch);
long co_ioctl_fionread(struct callout_file *file, int __user *ubytes);

#endif /* _CALLOUT_DEVICE_IOCTL_H */
