/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.h - what the parts of callout_bench.ko share
 */
#ifndef _CALLOUT_BENCH_H
#define _CALLOUT_BENCH_H

#include <linux/types.h>

#undef pr_fmt
#define pr_fmt(fmt) fmt

/**
 * bench_compare - for sort()
 * @a: points to a u64
 * @b: points to another
 *
 * Return: less than, equal to or greater than 0, as @a is to @b.
 */
static inline int bench_compare(const void *a, const void *b)
{
	u64 x = *(u64 *)a, y = *(u64 *)b;

	return x < y ? -1 : x > y;
}

void bench_ops(void);
void bench_stale(void);
int bench_tick(void);

#endif /* _CALLOUT_BENCH_H */
