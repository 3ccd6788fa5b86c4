// SPDX-License-Identifier: GPL-2.0
/*
 * cpus.c - instructions of operations that may depend on the number of CPUs
 *
 * Each CPU has its base, with free slots. One CPU sets callouts by handle until
 * no slot is free, and so steals the slots of all other CPUs, one CPU after the
 * other. The last steal takes the longest search. The module has been loaded
 * with a max_callouts that keeps the table from growing.
 *
 *	set_cancel	a callout is set and cancelled
 *	stale		a cancel by a stale handle
 *	steal_first	a callout is set, with a slot of the next CPU; other slots of
 *			that CPU are moved too
 *	steal_last	as steal_first, with a slot of the last CPU
 *	exhausted	a callout is not set, as no slot is free
 */
#include <linux/callout.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include <asm/timex.h>
#include "../compare.h"
#include "bench.h"

#define BLOCKS		41
#define OPS		100
#define HOUR		(3600L * HZ)

/* The maximum number of slots that the table may have. */
#define SLOTS		100000U

/* How often slots are stolen from one CPU. The last steal takes fewer slots. */
#define STEALS		3U

static u64 took[BLOCKS];

static void nothing(void *arg)
{
}

static void report(const char *metric, u64 insns)
{
	pr_info("bench-cpus: %u,%s,%llu\n", num_possible_cpus(), metric, insns);
}

/* Report the median of the blocks, each of OPS operations. */
static void report_blocks(const char *metric)
{
	sort(took, BLOCKS, sizeof(took[0]), compare_u64, NULL);
	report(metric, took[BLOCKS / 2] / OPS);
}

static bool measure_set_cancel(void)
{
	unsigned int block, i, good = 0;
	u64 start;

	for (block = 0; block < BLOCKS; block++) {
		local_irq_disable();
		start = get_cycles();
		for (i = 0; i < OPS; i++)
			good += unsetcallout(setcallout(nothing, NULL, HOUR));
		took[block] = get_cycles() - start;
		local_irq_enable();
	}
	report_blocks("set_cancel");
	return good == BLOCKS * OPS;
}

static bool measure_stale(void)
{
	callout_handle_t old = setcallout(nothing, NULL, HOUR);
	unsigned int block, i, good = 0;
	u64 start;

	unsetcallout(old);
	for (block = 0; block < BLOCKS; block++) {
		local_irq_disable();
		start = get_cycles();
		for (i = 0; i < OPS; i++)
			good += unsetcallout(old) == -1;
		took[block] = get_cycles() - start;
		local_irq_enable();
	}
	report_blocks("stale");
	return good == BLOCKS * OPS;
}

/* Set a callout. Return the instructions, and the handle or 0 in @handle. */
static u64 set_takes(callout_handle_t *handle)
{
	u64 start;

	local_irq_disable();
	start = get_cycles();
	*handle = setcallout(nothing, NULL, HOUR);
	start = get_cycles() - start;
	local_irq_enable();
	return start;
}

static bool measure_steals(callout_handle_t *handle)
{
	u64 takes, least = 0, first = 0, last[STEALS] = { 0 };
	unsigned int n, i, steals = 0;
	bool good = true;

	for (n = 0; n < SLOTS; n++) {
		takes = set_takes(&handle[n]);
		if (!handle[n])
			break;
		least = least ?: takes;
		/* A steal moves many slots. */
		if (takes > 3 * least) {
			first = first ?: takes;
			last[steals++ % STEALS] = takes;
		}
	}
	report("steal_first", first);
	report("steal_last", max3(last[0], last[1], last[2]));
	for (i = 0; i < BLOCKS; i++) {
		callout_handle_t none;

		took[i] = set_takes(&none) * OPS;
		good &= !none;
	}
	report_blocks("exhausted");
	for (i = 0; i < n; i++)
		unsetcallout(handle[i]);
	return good && n < SLOTS;
}

/* Return 0 or an error. */
int bench_cpus(void)
{
	callout_handle_t *handle = vcalloc(SLOTS, sizeof(*handle));
	bool good;

	if (!handle)
		return -ENOMEM;
	good = measure_set_cancel() && measure_stale() &&
	       measure_steals(handle);
	vfree(handle);
	return good ? 0 : -EIO;
}
