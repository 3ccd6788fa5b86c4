/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.h - the two halves of callout_bench.ko
 */
#ifndef _CALLOUT_BENCH_H
#define _CALLOUT_BENCH_H

#undef pr_fmt
#define pr_fmt(fmt) fmt

int bench_compare(const void *a, const void *b);

void bench_ops(void);
int bench_tick(void);

#endif /* _CALLOUT_BENCH_H */
