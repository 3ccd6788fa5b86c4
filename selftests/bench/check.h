/* SPDX-License-Identifier: GPL-2.0 */
/*
 * check.h - what all benchmarks of programs use
 */
#ifndef _CALLOUT_BENCH_CHECK_H
#define _CALLOUT_BENCH_CHECK_H

#include <err.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdlib.h>

/* If a call has failed, end the benchmark and report the call. */
static inline void check(bool ok, const char *what)
{
	if (!ok)
		err(EXIT_FAILURE, "failed: %s", what);
}

/* For qsort(). */
static inline int compare_u64(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

#endif /* _CALLOUT_BENCH_CHECK_H */
