/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel.h - names that kernel sources expect, for a program
 */
#ifndef _HARNESS_KERNEL_H
#define _HARNESS_KERNEL_H

#include_next <linux/kernel.h>
#include <linux/kconfig.h>
#include <linux/limits.h>
#include <linux/string.h>

#define swap(a, b)							\
do {									\
	typeof(a) *__a = &(a), *__b = &(b);				\
	typeof(a) __was = *__a;						\
									\
	*__a = *__b;							\
	*__b = __was;							\
} while (0)

#endif /* _HARNESS_KERNEL_H */
