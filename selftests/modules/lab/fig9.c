// SPDX-License-Identifier: GPL-2.0
/*
 * fig9.c - the paper's figure 9: set and cancel one of n + 1
 *
 * Varghese and Lauck, section VII.A, on the whole facility with the scheme that
 * callout.ko was loaded with. n callouts are outstanding, due at random in one
 * to two hours, which lab_hour() makes shorter for some schemes. One more
 * callout is set, two to three hours ahead, and cancelled, repeatedly: by
 * handle, and in the old way, by function and argument. The old way is a lookup
 * in the hash, or the search of the scheme if it has one.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include "core/queue.h"
#include "core/expiry.h"
#include "lab.h"

#define MAX_BLOCKS	21U
/* The clock of User Mode Linux is coarser. */
#define MAX_OPS		(IS_ENABLED(CONFIG_UML) ? 2000U : 50U)

/* Pairs that take longer than this are measured in fewer blocks. */
#define LONG		5000U

#define MOST		100000U

/* In ticks. */
static unsigned long hour;

static void nothing(void *arg)
{
}

/* Set and cancel a callout. Return false if the callout was not there to be cancelled. */
static __always_inline bool pair(bool by_handle, void *arg, unsigned long ticks)
{
	if (by_handle)
		return unsetcallout(setcallout(nothing, arg, ticks)) == 1;
	callout_timeout(nothing, arg, ticks);
	return callout_untimeout(nothing, arg) == 1;
}

/* The paper does not give arguments. Random arguments spread like other users' arguments. */
static int measure(bool by_handle, const struct callout_scheme_ops *ops,
		   const char *name, unsigned int n, bool few, u64 *median)
{
	static unsigned long ticks[2000];
	static void *args[2000];
	static u64 took[MAX_BLOCKS];
	unsigned int blocks = MAX_BLOCKS, ops_a_block = MAX_OPS, block, i;
	unsigned int good = 0, done;
	const char *lookup = "hash";
	u64 start;

	if (few) {
		blocks = 5;
		ops_a_block = 20;
	}
	if (by_handle)
		lookup = "handle";
	else if (ops->find)
		lookup = "search";
	for (block = 0; block < blocks; block++) {
		get_random_bytes(args, sizeof(args));
		for (i = 0; i < ops_a_block; i++)
			ticks[i] = lab_random(2 * hour, 3 * hour);
		done = 0;
		local_irq_disable();
		start = lab_clock();
		for (i = 0; i < ops_a_block; i++)
			done += pair(by_handle, args[i], ticks[i]);
		took[good] = lab_clock() - start;
		local_irq_enable();
		good += done == ops_a_block;
		cond_resched();
	}
	if (good <= blocks / 2)
		return -EIO;
	*median = lab_median(took, good) / ops_a_block;
	pr_info("lab-fig9: %s,%s,%u,%llu\n", name, lookup, n, *median);
	return 0;
}

/* Set others @from to @to - 1, and return the mean cost of a set. */
static u64 set_others(callout_handle_t *others, unsigned int from,
		      unsigned int to)
{
	u64 start = lab_clock();
	unsigned int i;

	for (i = from; i < to; i++) {
		others[i] = callout_timeout(nothing, (void *)get_random_long(),
					    lab_random(hour, 2 * hour));
		cond_resched();
	}
	return div64_u64(lab_clock() - start, max(to - from, 1U));
}

static int measure_points(const struct callout_scheme_ops *ops,
			  const char *name, callout_handle_t *others)
{
	static const unsigned int points[] = {
		0, 10, 30, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000,
		3000, 10000, 30000, MOST,
	};
	u64 took[3], before[3] = { U64_MAX, U64_MAX, U64_MAX };
	unsigned int n = 0, i, j;
	bool steep = false, few = false;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(points) && !ret; i++) {
		if (steep && points[i] > LAB_STEEP_MAX)
			break;
		took[0] = set_others(others, n, points[i]);
		n = points[i];
		/* Time for the worker to grow the hash. */
		msleep(100);
		ret = measure(true, ops, name, n, few, &took[1]);
		if (!ret)
			ret = measure(false, ops, name, n, few, &took[2]);
		few = took[1] + took[2] > LONG;
		for (j = 0; j < ARRAY_SIZE(took) && n >= 1000; j++) {
			if (n == 1000)
				before[j] = took[j];
			steep |= took[j] / LAB_STEEP > before[j];
		}
	}
	while (n)
		unsetcallout(others[--n]);
	return ret;
}

/* Measure the scheme of the loaded facility, reported as @name. */
int lab_fig9(const char *name)
{
	callout_handle_t *others = vmalloc_array(MOST, sizeof(*others));
	const struct callout_scheme_ops *ops = co_base(0)->scheme->ops;
	int ret = others ? callout_reserve(MOST + 100) : -ENOMEM;

	hour = lab_hour(ops);
	if (!ret)
		ret = measure_points(ops, name, others);
	vfree(others);
	return ret;
}
