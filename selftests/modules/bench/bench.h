/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.h - the parts of callout_bench.ko
 */
#ifndef _CALLOUT_BENCH_H
#define _CALLOUT_BENCH_H

#undef pr_fmt
#define pr_fmt(fmt) fmt

void bench_ops(void);
void bench_stale(void);
int bench_tick(void);

#endif /* _CALLOUT_BENCH_H */
