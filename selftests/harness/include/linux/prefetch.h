/* SPDX-License-Identifier: GPL-2.0 */
/*
 * prefetch.h - hints to the cache, for a program
 */
#ifndef _HARNESS_PREFETCH_H
#define _HARNESS_PREFETCH_H

#define prefetch(x)	__builtin_prefetch(x)

#endif /* _HARNESS_PREFETCH_H */
