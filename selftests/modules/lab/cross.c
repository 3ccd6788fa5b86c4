// SPDX-License-Identifier: GPL-2.0
/*
 * cross.c - the cost of a tick in Schemes 6 and 7, and its variance
 *
 * Varghese and Lauck, section VI: n callouts of mean interval T cost a tick n *
 * c6 / M in Scheme 6 with M buckets, and n * c7 * m / T in Scheme 7 with m
 * levels. Both are measured with the same number of list heads, and with them
 * the wheel with bounds, which skips buckets where nothing is due.
 *
 * The other part: where all callouts hash into one bucket, the mean work of
 * Scheme 6 in a tick is the same and its variance is not.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include "lab.h"

#define N		1024U
#define T_MIN		64U
#define T_MAX		65536U

/* The number of ticks measured, or 2 T if that is more. */
#define MIN_TICKS	8192U

#define WHEEL		256U
#define LAPS		4U

/* Do a tick. Expired callouts start again with intervals of mean @t. */
static u64 tick_takes(struct lab *lab, u64 t)
{
	struct callout_node *c;
	LIST_HEAD(due);
	u64 took;

	local_irq_disable();
	took = lab_clock();
	lab_advance(lab, lab->now + 1, &due);
	took = lab_clock() - took;
	local_irq_enable();
	while ((c = lab_take_due(&due)))
		lab_start(lab, c, lab_random(1, 2 * t));
	return took;
}

static int cross_one(const struct lab_row *row, unsigned int heads,
		     unsigned int levels, unsigned int t)
{
	char insns[LAB_TENTHS], visits[LAB_TENTHS], requeues[LAB_TENTHS];
	struct callout_scheme_params params = { .buckets = heads };
	unsigned int ticks = max(MIN_TICKS, 2 * t), i;
	u64 range = 1, sum = 0;
	struct lab lab;
	int ret;

	if (levels > 1) {
		params.nr_levels = levels;
		for (i = 0; i < levels; i++) {
			params.level[i] = heads / levels;
			range *= heads / levels;
		}
		/* Longer intervals would go to the overflow list. */
		if (range < 4 * t)
			return 0;
	}
	ret = lab_create(&lab, row, &params, N);
	if (ret)
		return ret;
	lab_fill(&lab, N, 1, 2 * t);
	for (i = 0; i < ticks; i++) {
		tick_takes(&lab, t);
		if (!(i % 64))
			cond_resched();
	}
	lab.s->visits = 0;
	lab.s->requeues = 0;
	for (i = 0; i < ticks; i++) {
		sum += tick_takes(&lab, t);
		if (!(i % 64))
			cond_resched();
	}
	pr_info("lab-cross: %s,%u,%u,%u,%u,%s,%s,%s\n", row->name, heads,
		levels, t, N, lab_tenths(sum, ticks, insns),
		lab_tenths(lab.s->visits * 1000, ticks, visits),
		lab_tenths(lab.s->requeues * 1000, ticks, requeues));
	lab_destroy(&lab);
	return 0;
}

static int cross_sizes(unsigned int t)
{
	const struct lab_row *paper;
	const struct lab_row *six = lab_find_row("hashed_wheel");
	const struct lab_row *seven = lab_find_row("hierarchical_wheel");
	unsigned int heads, levels;
	int ret = 0;

	paper = lab_find_row("hashed_wheel_paper:every_tick");
	if (!paper || !six || !seven)
		return -ENOENT;
	for (heads = 256; heads <= 4096 && !ret; heads *= 4) {
		ret = cross_one(paper, heads, 1, t);
		if (!ret)
			ret = cross_one(six, heads, 1, t);
		for (levels = 2; levels <= 4 && !ret; levels++)
			ret = cross_one(seven, heads, levels, t);
	}
	return ret;
}

/* Measure and report the cost of a tick. */
int lab_cross(const char *unused)
{
	int ret = lab_callouts_init(N);
	unsigned int t;

	for (t = T_MIN; t <= T_MAX && !ret; t *= 2)
		ret = cross_sizes(t);
	lab_callouts_free();
	return ret;
}

/*
 * N callouts that do not expire during the measurement, in one bucket or all.
 */
static int variance_one(const struct lab_row *row, bool one_bucket)
{
	const struct callout_scheme_params params = { .buckets = WHEEL };
	const char *hash = one_bucket ? "one bucket" : "all buckets";
	u64 took, most = 0, sum = 0, squares = 0;
	char mean[LAB_TENTHS], variance[LAB_TENTHS], visits[LAB_TENTHS];
	u64 ticks = LAPS * WHEEL;
	struct lab lab;
	unsigned int i;
	int ret;

	ret = lab_create(&lab, row, &params, N);
	if (ret)
		return ret;
	for (i = 0; i < N; i++)
		lab_start(&lab, lab_callout(i),
			  (i + 2 * LAPS) * WHEEL +
			  (one_bucket ? WHEEL / 2 : lab_random(0, WHEEL)));
	/* A first lap, in which bounds become exact. */
	for (i = 0; i < WHEEL; i++)
		tick_takes(&lab, T_MAX);
	lab.s->visits = 0;
	for (i = 0; i < ticks; i++) {
		took = tick_takes(&lab, T_MAX);
		sum += took;
		squares += took * took;
		most = max(most, took);
		if (i < WHEEL)
			pr_info("lab-variance-tick: %s,%s,%u,%llu\n", row->name,
				hash, i, took);
	}
	pr_info("lab-variance: %s,%s,%s,%s,%s,%llu\n", row->name,
		hash, lab_tenths(lab.s->visits, ticks, visits),
		lab_tenths(sum, ticks, mean),
		lab_tenths(squares - div64_u64(sum * sum, ticks), ticks,
			   variance), most);
	lab_destroy(&lab);
	return 0;
}

/* Measure and report the variance of the cost of a tick. */
int lab_variance(const char *unused)
{
	const struct lab_row *rows[2];
	unsigned int i;
	int ret = 0;

	rows[0] = lab_find_row("hashed_wheel_paper:every_tick");
	rows[1] = lab_find_row("hashed_wheel");
	if (!rows[0] || !rows[1])
		return -ENOENT;
	ret = lab_callouts_init(N);
	for (i = 0; i < ARRAY_SIZE(rows) && !ret; i++) {
		ret = variance_one(rows[i], false);
		if (!ret)
			ret = variance_one(rows[i], true);
	}
	lab_callouts_free();
	return ret;
}
