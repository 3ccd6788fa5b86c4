// SPDX-License-Identifier: GPL-2.0
/*
 * late.c - lateness and wake-ups of every scheme
 *
 * late: the lateness of one callout at a time, with intervals in each power of
 * two, and the scheme's own bound of the lateness.
 *
 * idle: the wake-ups of a scheme in an hour in which nothing is due.
 *
 * assist: interrupts of the host for a callout of T ticks, with the chips of
 * the paper's Appendix A, with bounds and busy bits in software, and with an
 * interrupt at each tick.
 */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include "lab/chip.h"
#include "core/queue.h"
#include "core/expiry.h"
#include "lab.h"

#define OCTAVES		17U
#define TRIALS		32U

#define IDLE_TICKS	(3600UL * 250)
#define IDLE_MOST	1000U

#define CHIP_BUCKETS	256U

static int late_octave(struct lab *lab, const struct lab_row *row,
		       unsigned int octave)
{
	u64 interval, expires, late, most = 0, bound = 0, tenths = 0;
	char percent[LAB_TENTHS];
	unsigned int i;

	for (i = 0; i < TRIALS; i++) {
		/* Start from any phase of all levels. */
		lab->now += lab_random(1, 1 << OCTAVES);
		interval = lab_random(1ULL << octave, 2ULL << octave);
		expires = lab->now + interval;
		lab_wait(lab, interval);
		if (lab->now < expires) {
			pr_err("lab-late: %s: %llu ticks early\n", row->name,
			       expires - lab->now);
			return -EIO;
		}
		late = lab->now - expires;
		most = max(most, late);
		tenths = max(tenths, late * 1000 / interval);
		if (lab->ops->late)
			bound = max(bound, lab->ops->late(lab->s, interval));
	}
	pr_info("lab-late: %s,%llu,%llu,%llu,%s\n", row->name, 1ULL << octave,
		most, bound, lab_tenths(tenths, 10, percent));
	return 0;
}

int lab_late(const char *unused)
{
	const struct callout_scheme_params params = { .buckets = LAB_BUCKETS };
	const struct lab_row *row;
	int ret = lab_callouts_init(1);
	unsigned int octave;
	struct lab lab;

	for (row = lab_rows; row < lab_rows + lab_nr_rows && !ret; row++) {
		ret = lab_create(&lab, row, &params, 1);
		if (ret)
			break;
		for (octave = 0; octave < OCTAVES && !ret; octave++) {
			ret = late_octave(&lab, row, octave);
			cond_resched();
		}
		lab_destroy(&lab);
	}
	lab_callouts_free();
	return ret;
}

static int idle_hour(const struct lab_row *row, unsigned int n)
{
	const struct callout_scheme_params params = { .buckets = LAB_BUCKETS };
	unsigned int wakeups = 0;
	LIST_HEAD(due);
	struct lab lab;
	u64 next, end;
	int ret = lab_create(&lab, row, &params, n);

	if (ret)
		return ret;
	end = lab.now + IDLE_TICKS;
	lab_fill(&lab, n, IDLE_TICKS + 1, 2 * IDLE_TICKS);
	while ((next = lab_next_due(&lab)) <= end) {
		lab_advance(&lab, max(next, lab.now + 1), &due);
		wakeups++;
		if (!(wakeups % 64))
			cond_resched();
	}
	if (!list_empty(&due))
		ret = -EIO;
	lab_destroy(&lab);
	pr_info("lab-idle: %s,%u,%u\n", row->name, n, wakeups);
	return ret;
}

int lab_idle(const char *unused)
{
	const struct lab_row *row;
	int ret = lab_callouts_init(IDLE_MOST);

	for (row = lab_rows; row < lab_rows + lab_nr_rows && !ret; row++) {
		ret = idle_hour(row, 0);
		if (!ret)
			ret = idle_hour(row, IDLE_MOST);
	}
	lab_callouts_free();
	return ret;
}

static void assist_report(const char *what, unsigned int t, u64 interrupts)
{
	char text[LAB_TENTHS];

	pr_info("lab-assist: %s,%u,%u,%s\n", what, CHIP_BUCKETS, t,
		lab_tenths(interrupts, TRIALS, text));
}

/* A random interval of @t / 2 to @t * 3 / 2. */
static u64 assist_interval(unsigned int t)
{
	return lab_random(t / 2, t + t / 2 + 1);
}

static int assist_scheme(const char *name, unsigned int t)
{
	const struct callout_scheme_params params = { .buckets = CHIP_BUCKETS };
	const struct lab_row *row = lab_find_row(name);
	struct lab lab;
	unsigned int i;
	u64 sum = 0;
	int ret;

	if (!row)
		return -ENOENT;
	ret = lab_create(&lab, row, &params, 1);
	if (ret)
		return ret;
	for (i = 0; i < TRIALS; i++) {
		lab.now += lab_random(1, CHIP_BUCKETS);
		sum += lab_wait(&lab, assist_interval(t));
		cond_resched();
	}
	lab_destroy(&lab);
	assist_report(name, t, sum);
	return 0;
}

/* The time of a base that no CPU's tick expires. */
static u64 virtual_time;

static u64 virtual_now(struct callout_base *base)
{
	return virtual_time;
}

static void virtual_nothing(struct callout_base *base)
{
}

static void virtual_program(struct callout_base *base, u64 tick)
{
}

static const struct callout_tick_source virtual_tick = {
	.name		= "virtual",
	.now		= virtual_now,
	.init		= virtual_nothing,
	.program	= virtual_program,
	.shutdown	= virtual_nothing,
};

static void chip_ran(void *arg)
{
	*(bool *)arg = true;
}

static void chip_wait(struct callout_base *base, u64 interval)
{
	bool ran = false, more;
	struct callout c = {};

	co_setup(&c.node, CALLOUT_KIND_FUNC, base->index);
	callout_reset(&c, interval, chip_ran, &ran);
	while (!ran) {
		virtual_time = max(virtual_time, base->armed);
		if (!co_chip_source(base)->interrupt(base))
			continue;
		do {
			local_bh_disable();
			more = co_expire(base);
			local_bh_enable();
		} while (more);
	}
	callout_drain(&c);
}

static int assist_chip(const struct callout_chip_source *chip, unsigned int t)
{
	const struct callout_scheme_params params = {
		.buckets = CHIP_BUCKETS,
		.node = NUMA_NO_NODE,
	};
	struct callout_chip_source source = *chip;
	struct callout_base *base;
	unsigned int i;

	source.under = &virtual_tick;
	virtual_time = LAB_EPOCH;
	base = co_base_create(CALLOUT_INDEX_TEST, &source.tick, TICK_NSEC,
			      &callout_hashed_wheel,
			      &params);
	if (IS_ERR(base))
		return PTR_ERR(base);
	for (i = 0; i < TRIALS; i++) {
		virtual_time += lab_random(1, CHIP_BUCKETS);
		chip_wait(base, assist_interval(t));
	}
	assist_report(chip->tick.name, t, co_chip(base)->interrupts);
	co_base_kill(base);
	co_base_destroy(base);
	return 0;
}

/* Measure and report the interrupts for one callout. */
int lab_assist(const char *unused)
{
	static const char *const schemes[] = {
		"hashed_wheel_paper:every_tick", "hashed_wheel_paper",
		"hashed_wheel", "hierarchical_wheel",
	};
	unsigned int t, i;
	int ret = lab_callouts_init(1);

	for (t = CHIP_BUCKETS / 4; t <= CHIP_BUCKETS * 64 && !ret; t *= 4) {
		for (i = 0; i < ARRAY_SIZE(schemes) && !ret; i++)
			ret = assist_scheme(schemes[i], t);
		if (!ret)
			ret = assist_chip(&callout_chip_busy, t);
		if (!ret)
			ret = assist_chip(&callout_chip_full, t);
	}
	lab_callouts_free();
	return ret;
}
