/* SPDX-License-Identifier: GPL-2.0 */
/*
 * string.h - the kernel's string functions that the C library lacks
 */
#ifndef _HARNESS_STRING_H
#define _HARNESS_STRING_H

#include <linux/types.h>
#include_next <string.h>

static inline void *memset64(u64 *s, u64 v, size_t n)
{
	while (n--)
		s[n] = v;
	return s;
}

#endif /* _HARNESS_STRING_H */
