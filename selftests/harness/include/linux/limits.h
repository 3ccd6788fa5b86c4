/* SPDX-License-Identifier: GPL-2.0 */
/*
 * limits.h - the limits of the kernel's integers, for a program
 */
#ifndef _HARNESS_LIMITS_H
#define _HARNESS_LIMITS_H

#include_next <linux/limits.h>
#include <stdint.h>

#define U32_MAX	UINT32_MAX
#define U64_MAX	((u64)~0ULL)
#define S64_MAX	((s64)(U64_MAX >> 1))

#endif /* _HARNESS_LIMITS_H */
