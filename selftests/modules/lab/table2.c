// SPDX-License-Identifier: GPL-2.0
/*
 * table2.c - the paper's Table II for every scheme: start, stop and a tick
 *
 * n callouts are outstanding, and expired callouts are started again. A start
 * adds a callout with a random interval, a stop takes a random callout, and a
 * tick has nothing due: "except when timers expire". There are more buckets
 * than callouts. timing_wheel, whose MaxInterval is its number of buckets, has
 * as many as ticks in the longest interval, which is the paper's condition for
 * O(1). All other wheels have fewer, so that a callout waits for several laps.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "lab.h"

#define SPAN	(1U << 20)
#define OPS	200U
#define TICKS	512U
#define MOST	100000U
#define BUCKETS	(1U << 17)

/* logic_wheel does its work at the end of a cycle, so CYCLES cycles are measured. */
#define CYCLE	(1U << 14)
#define CYCLES	4U

/* The part of the callouts that expires before the measurement. */
#define SETTLE	8U

/* The cost of reading the clock. */
static u64 clock_cost(void)
{
	u64 start, cost;

	local_irq_disable();
	start = lab_clock();
	cost = lab_clock() - start;
	local_irq_enable();
	return cost;
}

enum { START, STOP, TICK };

static void report(struct lab_row *row, unsigned int operation, unsigned int n,
		   u64 sum, unsigned int count)
{
	static const char *const names[] = { "start", "stop", "tick" };
	char text[LAB_TENTHS];
	u64 mean;

	sum -= min(sum, count * clock_cost());
	pr_info("lab-table2: %s,%s,%u,%s\n", row->name, names[operation], n,
		lab_tenths(sum, count, text));
	mean = count ? div_u64(sum, count) : 0;
	row->steep |= n == LAB_STEEP_MAX &&
		      mean > LAB_STEEP * row->before[operation];
	row->before[operation] = mean;
}

static u64 start_takes(struct lab *lab, struct callout_node *c)
{
	u64 interval = lab_random(1, SPAN), start, took;

	local_irq_disable();
	start = lab_clock();
	lab_start(lab, c, interval);
	took = lab_clock() - start;
	local_irq_enable();
	return took;
}

static u64 stop_takes(struct lab *lab, struct callout_node *c)
{
	u64 start, took;

	local_irq_disable();
	start = lab_clock();
	lab->ops->stop(lab->s, c);
	took = lab_clock() - start;
	local_irq_enable();
	return took;
}

static void measure_ops(struct lab *lab, struct lab_row *row, unsigned int n)
{
	struct callout_node *idle = lab_callout(n);
	u64 starts = 0, stops = 0;
	unsigned int i;

	for (i = 0; i < OPS; i++) {
		starts += start_takes(lab, idle);
		idle = lab_callout(lab_random(0, n + 1));
		stops += stop_takes(lab, idle);
	}
	report(row, START, n, starts, OPS);
	report(row, STOP, n, stops, OPS);
	/* Callouts 0 to n - 1 are outstanding again. */
	if (idle != lab_callout(n)) {
		lab->ops->stop(lab->s, lab_callout(n));
		lab_start(lab, idle, lab_random(1, SPAN));
	}
}

/*
 * The cost of the ticks, among @ticks ticks, at which nothing was due, and their number.
 */
static u64 ticks_take(struct lab *lab, unsigned int ticks, unsigned int *count)
{
	u64 sum = 0, start, took;
	struct callout_node *c;
	unsigned int i;
	LIST_HEAD(due);

	*count = 0;
	for (i = 0; i < ticks; i++) {
		local_irq_disable();
		start = lab_clock();
		lab_advance(lab, lab->now + 1, &due);
		took = lab_clock() - start;
		local_irq_enable();
		if (list_empty(&due)) {
			sum += took;
			++*count;
		}
		while ((c = lab_take_due(&due)))
			lab_start(lab, c, lab_random(1, SPAN));
		cond_resched();
	}
	return sum;
}

/*
 * Advance time, so that deferred work, such as the growth of a table or the
 * pairing of a heap, reaches its steady state.
 */
static void settle(struct lab *lab, u64 ticks)
{
	u64 end = lab->now + ticks;
	struct callout_node *c;
	LIST_HEAD(due);
	u64 next;

	while ((next = lab_next_due(lab)) <= end) {
		lab_advance(lab, max(next, lab->now + 1), &due);
		while ((c = lab_take_due(&due)))
			lab_start(lab, c, lab_random(1, SPAN));
		cond_resched();
	}
}

static bool is_logic(const struct lab_row *row)
{
	return !strcmp(row->ops->name, "logic_wheel");
}

static unsigned int buckets_of(const struct lab_row *row)
{
	if (is_logic(row))
		return CYCLE;
	return lab_has_max_interval(row->ops) ? SPAN : BUCKETS;
}

static void measure_row(struct lab *lab, struct lab_row *row, unsigned int n)
{
	unsigned int ticks = is_logic(row) ? CYCLES * CYCLE : TICKS, count;
	u64 sum;

	lab_fill(lab, n, 1, SPAN);
	settle(lab, SPAN / SETTLE);
	measure_ops(lab, row, n);
	sum = ticks_take(lab, ticks, &count);
	report(row, TICK, n, sum, count);
}

int lab_table2(const char *unused)
{
	struct callout_scheme_params params = {};
	struct lab_row *row;
	struct lab lab;
	unsigned int n;
	int ret = lab_callouts_init(MOST + 1);

	for (row = lab_rows; row < lab_rows + lab_nr_rows; row++) {
		params.buckets = buckets_of(row);
		for (n = 10; !ret && n <= MOST; n *= 10) {
			if (!lab_row_takes(row, n))
				break;
			ret = lab_create(&lab, row, &params, n + 1);
			if (ret)
				break;
			measure_row(&lab, row, n);
			lab_destroy(&lab);
		}
	}
	lab_callouts_free();
	return ret;
}
