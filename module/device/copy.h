/* SPDX-License-Identifier: GPL-2.0 */
/* copy.h - copy in structures that may be of another version */
#ifndef _CALLOUT_DEVICE_COPY_H
#define _CALLOUT_DEVICE_COPY_H

#include <linux/errno.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <uapi/linux/callout.h>

/*
 * Is this size, which a program gave, impossible for the structure? @least is the
 * size of version 1.
 */
static inline bool co_size_bad(size_t size, size_t least)
{
	return size < least || size > CALLOUT_SIZE_MAX || size % sizeof(u64);
}

/*
 * Copy a structure in. Its size is @size in the program, which must be at least
 * @least, and @known here. Return 0, -EINVAL, -E2BIG or -EFAULT.
 */
static inline int co_copy_in(void *to, size_t known,
			     const void __user *from, size_t size,
			     size_t least)
{
	if (co_size_bad(size, least))
		return -EINVAL;
	return copy_struct_from_user(to, known, from, size);
}

#endif /* _CALLOUT_DEVICE_COPY_H */
