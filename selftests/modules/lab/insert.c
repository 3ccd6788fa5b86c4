// SPDX-License-Identifier: GPL-2.0
/*
 * insert.c - how far the sorted list is searched for an insertion
 *
 * Varghese and Lauck, section III.B: callouts arrive at random (Poisson), with
 * intervals from a negative exponential or from a uniform distribution, and all
 * of them expire. The list's own counter of steps is read.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include "lab.h"

/* Mean interval in ticks, and how many of it pass before counting begins. */
#define MEAN		(1U << 16)
#define WARM_UP		8U
#define ARRIVALS	4000U
#define MOST		1000U

/* The resolution of arrivals, in parts of a tick. */
#define PARTS		1024U

/* The outstanding number of Poisson arrivals is unbounded; this suffices. */
#define CALLOUTS	(2 * MOST)

struct arrivals {
	struct lab lab;
	u64 clock;		/* in parts of a tick */
	unsigned int nr_idle;
	u64 outstanding;
	u64 steps;
};

static struct callout_node *idle[CALLOUTS];

/* Let one more callout arrive. Return false if no callout is idle. */
static bool arrive(struct arrivals *a, unsigned int n, bool uniform, bool count)
{
	u64 interval, steps = a->lab.s->steps;
	struct callout_node *c;
	LIST_HEAD(due);

	a->clock += lab_random_exp((u64)MEAN * PARTS / n);
	lab_advance(&a->lab, a->clock / PARTS, &due);
	while ((c = lab_take_due(&due)))
		idle[a->nr_idle++] = c;
	if (!a->nr_idle)
		return false;
	interval = uniform ? lab_random(0, 2 * MEAN) : lab_random_exp(MEAN);
	if (count)
		a->outstanding += CALLOUTS - a->nr_idle;
	lab_start(&a->lab, idle[--a->nr_idle], interval + 1);
	if (count)
		a->steps += a->lab.s->steps - steps;
	return true;
}

static int measure(const struct lab_row *row, const char *from, unsigned int n,
		   bool uniform)
{
	const struct callout_scheme_params params = {};
	char outstanding[LAB_TENTHS], steps[LAB_TENTHS];
	struct arrivals a = {};
	unsigned int i;
	int ret = lab_create(&a.lab, row, &params, CALLOUTS);

	if (ret)
		return ret;
	a.clock = a.lab.now * PARTS;
	for (i = 0; i < CALLOUTS; i++)
		idle[a.nr_idle++] = lab_callout(i);
	for (i = 0; i < WARM_UP * n + ARRIVALS && !ret; i++) {
		if (!arrive(&a, n, uniform, i >= WARM_UP * n))
			ret = -ENOSPC;
		cond_resched();
	}
	lab_destroy(&a.lab);
	if (!ret)
		pr_info("lab-insert: %s,%s,%s,%s\n", from,
			uniform ? "uniform" : "exponential",
			lab_tenths(a.outstanding, ARRIVALS, outstanding),
			lab_tenths(a.steps, ARRIVALS, steps));
	return ret;
}

int lab_insert(const char *unused)
{
	static const unsigned int points[] = { 10, 30, 100, 300, MOST };
	const struct lab_row *head = lab_find_row("sorted_list");
	const struct lab_row *rear = lab_find_row("sorted_list:rear");
	unsigned int i, uniform;
	int ret;

	if (!head || !rear)
		return -ENOENT;
	ret = lab_callouts_init(CALLOUTS);
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		for (uniform = 0; uniform < 2 && !ret; uniform++) {
			ret = measure(head, "head", points[i], uniform);
			if (!ret)
				ret = measure(rear, "rear", points[i], uniform);
		}
	}
	lab_callouts_free();
	return ret;
}
