// SPDX-License-Identifier: GPL-2.0
/*
 * bases.c - the bases of several CPUs, on a machine with one CPU
 *
 * User Mode Linux has one CPU, and so callout.ko one base. This file adds more
 * bases, made as that base was, and the same CPU drives them. A callout's cpu
 * selects its base, and the callout is set, cancelled and run as on a machine with
 * that many CPUs. The measurement includes the load on the caches: the wheels,
 * bases and callouts of all CPUs. It does not include CPUs that work at the same
 * time, separate caches, a contended lock, or a callout that migrates.
 *
 * Linux's timers have no such rows, since their bases are the kernel's per-CPU data.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/numa.h>
#include <linux/slab.h>
#include "base/base.h"
#include "core/cpu.h"
#include "core/resize.h"
#include "lab.h"
#include "native.h"

/* callout.ko's own array, which has the first base only. */
static struct callout_base **own;
static struct callout_base *all[LAB_BASES + 1];

/* As co_cpu_prepare() and co_cpu_online() do for a CPU. */
static int add_base(unsigned int index)
{
	const struct callout_scheme_params params = {
		.buckets = LAB_BUCKETS,
		.node = NUMA_NO_NODE,
	};
	struct callout_base *base;

	base = co_base_create(index, own[0]->tick, own[0]->tick_ns,
			      own[0]->scheme->ops, &params);
	if (IS_ERR(base))
		return PTR_ERR(base);
	base->cpu = 0;
	base->online = true;
	return 0;
}

/* Valid until lab_bases_exit(), which the caller must call after an error too. */
int lab_bases_init(void)
{
	unsigned int i;
	int ret = 0;

	/* No other CPU is between two reads of callout_bases. */
	if (num_possible_cpus() > 1)
		return -EINVAL;
	/* The laboratory's bases use the places of the device's bases. */
	if (callout_nr_classes > 1)
		return -EBUSY;
	own = callout_bases;
	all[0] = own[0];
	callout_bases = all;
	for (i = 1; i < LAB_BASES && !ret; i++)
		ret = add_base(i);
	return ret;
}

/* No callout of the bases is pending any more. */
void lab_bases_exit(void)
{
	unsigned int i;

	if (!own)
		return;
	for (i = 1; i < LAB_BASES; i++) {
		if (!all[i])
			continue;
		co_base_kill(all[i]);
		co_base_destroy(all[i]);
	}
	callout_bases = own;
	own = NULL;
}

/* The base with this index, after lab_bases_init(). */
struct callout_base *lab_base(unsigned int index)
{
	return all[index];
}

/*
 * Wait until the wheels have the size that their callouts need: until the interrupt
 * that asks for the worker has come, and until the worker has returned.
 */
void lab_bases_settle(void)
{
	msleep(100);
	flush_delayed_work(&callout_resize_work);
}
