/* SPDX-License-Identifier: GPL-2.0 */
/*
 * list.h - LIST
 */
#ifndef _CALLOUT_DEVICE_LIST_H
#define _CALLOUT_DEVICE_LIST_H

#include <linux/compiler.h>
#include <linux/types.h>

struct callout_file;
struct callout_list;

long co_ioctl_list(struct callout_file *file, size_t size,
		   struct callout_list __user *ulist);

#endif /* _CALLOUT_DEVICE_LIST_H */
