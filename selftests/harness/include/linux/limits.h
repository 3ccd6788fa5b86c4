/* SPDX-License-Identifier: GPL-2.0 */
/*
 * limits.h - the limits of the kernel's integers, for a program
 */
#ifndef _HARNESS_LIMITS_H
#define _HARNESS_LIMITS_H

#include_next <linux/limits.h>
#include <stdint.h>

#define U8_MAX	UINT8_MAX
#define U16_MAX	UINT16_MAX
#define U32_MAX	UINT32_MAX
#define U64_MAX	((u64)~0ULL)
#define S32_MAX	INT32_MAX
#define S64_MAX	((s64)(U64_MAX >> 1))

#endif /* _HARNESS_LIMITS_H */
