/* SPDX-License-Identifier: GPL-2.0 */
/*
 * math64.h - the kernel's 64-bit divisions, for a 64-bit program
 */
#ifndef _HARNESS_MATH64_H
#define _HARNESS_MATH64_H

#include_next <linux/math64.h>

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

#endif /* _HARNESS_MATH64_H */
