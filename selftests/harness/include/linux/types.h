/* SPDX-License-Identifier: GPL-2.0 */
/*
 * types.h - the tools' types, with the kernel's u64 and s64, for %llu, and its pid_t
 */
#ifndef _HARNESS_TYPES_H
#define _HARNESS_TYPES_H

#include <sys/types.h>
#define u64 tools_u64
#define s64 tools_s64
#include_next <linux/types.h>
#undef u64
#undef s64

typedef unsigned long long u64;
typedef long long s64;

#endif /* _HARNESS_TYPES_H */
