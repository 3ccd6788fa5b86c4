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

int co_op_get_keyed(struct callout_op *op, unsigned int nr, size_t size,
		    struct callout_op __user *uop);
long co_ioctl_op(struct callout_file *file, unsigned int cmd,
		 struct callout_op __user *uop);
long co_ioctl_batch(struct callout_file *file, fmode_t mode, size_t size,
		    struct callout_batch __user *ubatch, bool may_wait);
long co_ioctl_next(struct callout_file *file, size_t size,
		   struct callout_next __user *unext);
long co_ioctl_limit(struct callout_file *file, size_t size,
		    const struct callout_limit __user *ulimit);
long co_ioctl_eventfd(struct callout_file *file, size_t size,
		      const struct callout_eventfd __user *uarg);
long co_ioctl_cancel(struct callout_file *file, size_t size,
		     const struct callout_cancel __user *uarg);
long co_ioctl_fionread(struct callout_file *file, int __user *ubytes);
long co_ioctl_format(struct callout_file *file, size_t size,
		     const struct callout_format __user *uformat);

#endif /* _CALLOUT_DEVICE_IOCTL_H */
