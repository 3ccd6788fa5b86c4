/* SPDX-License-Identifier: GPL-2.0 */
/*
 * native.h - the native metrics of schemes and of facilities
 */
#ifndef _CALLOUT_LAB_NATIVE_H
#define _CALLOUT_LAB_NATIVE_H

#include <linux/irqflags.h>
#include <linux/math64.h>
#include "lab.h"

#define LAB_ROUNDS	5U
#define LAB_OPS		16384U

enum {
	LAB_PAIR_ONE, LAB_PAIR_RANDOM, LAB_REARM_LATER, LAB_IDLE_TICK, LAB_JUMP,
	LAB_SPARSE, LAB_START_DENSE, LAB_DENSE, LAB_METRICS
};

extern const char *const lab_metrics[LAB_METRICS];

/* The maximum number of callouts outstanding. */
#define LAB_MOST	1000000U

/* The results of a row in all rounds. */
struct lab_values {
	u64 round[LAB_ROUNDS][LAB_METRICS];
};

unsigned int lab_rounds(unsigned int n);
void lab_native_report(const char *kind, const char *name, unsigned int n,
		       const struct lab_values *v);

/* The maximum number of bases, one for each CPU, over which callouts are spread. */
#define LAB_BASES	16U

int lab_bases_init(void);
void lab_bases_exit(void);
void lab_bases_settle(void);
struct callout_base *lab_base(unsigned int index);

/* The buckets that the facility's wheel has with @n callouts. */
unsigned int lab_buckets_for(unsigned int n);

/* The share of these buckets that a crowded wheel has. */
#define LAB_CROWDED	16U

int lab_scale_wheel(unsigned int n);
int lab_scale_facilities(unsigned int n);

static inline u64 lab_begin(void)
{
	local_irq_disable();
	return lab_clock();
}

/*
 * The @i-th of @n timers in a scattered order. It is a permutation, since the factor is a
 * prime that divides no @n. For each power of ten timers that follow each other are far
 * apart, so that nothing prefetches them.
 */
static inline unsigned int lab_scattered(unsigned int i, unsigned int n)
{
	return i * 2654435761ULL % n;
}

/* Tenths of the mean cost of @n operations, 1 at least. */
static inline u64 lab_end(u64 start, unsigned int n)
{
	u64 took = lab_clock() - start;

	local_irq_enable();
	return div64_u64(took * 10, n) ?: 1;
}

#endif /* _CALLOUT_LAB_NATIVE_H */
