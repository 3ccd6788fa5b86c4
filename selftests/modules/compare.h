/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compare.h - the order in which sort() puts measurements
 */
#ifndef _CALLOUT_COMPARE_H
#define _CALLOUT_COMPARE_H

#include <linux/types.h>

/* For sort(), of an array of u64. */
static inline int compare_u64(const void *a, const void *b)
{
	u64 x = *(u64 *)a, y = *(u64 *)b;

	return x < y ? -1 : x > y;
}

#endif /* _CALLOUT_COMPARE_H */
