/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ops.h - operations from programs, one by one and many in one call
 */
#ifndef _CALLOUT_OPS_H
#define _CALLOUT_OPS_H

#include "file.h"

long callout_ioctl_op(struct callout_file *file, unsigned int nr, size_t size,
		      struct callout_op __user *uop);
long callout_ioctl_batch(struct callout_file *file, fmode_t mode, size_t size,
			 struct callout_batch __user *ubatch);

#endif /* _CALLOUT_OPS_H */
