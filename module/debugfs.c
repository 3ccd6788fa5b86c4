// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs.c - counters of bases, files and users in /sys/kernel/debug/callout/
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include "base/base.h"
#include "debugfs.h"
#include "device/fops.h"

static struct dentry *dir;

static int bases_show(struct seq_file *m, void *unused)
{
	struct callout_stats s;
	struct callout_base *base;
	unsigned int i;

	seq_puts(m, "cpu pending buckets old_buckets handlers wakeups false_wakeups hops visits requeues max_units slow class\n");
	for_each_base(base, i) {
		co_base_stats(base, &s);
		seq_printf(m, "%u %u %u %u %llu %llu %llu %llu %llu %llu %llu %llu %u\n",
			   base->cpu, s.pending, s.buckets, s.old_buckets,
			   s.handlers, s.wakeups, s.false_wakeups, s.hops,
			   s.visits, s.requeues, s.max_units, s.slow,
			   i / nr_cpu_ids);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bases);

/* Add up by how much the callouts of some classes were late. */
static void sum_late(unsigned int first, unsigned int end, u64 late[CALLOUT_LATE_BINS])
{
	struct callout_base *base;
	struct callout_stats s;
	unsigned int i, j;

	for_each_base_in(base, j, first * nr_cpu_ids, end * nr_cpu_ids) {
		co_base_stats(base, &s);
		for (i = 0; i < CALLOUT_LATE_BINS; i++)
			late[i] += s.late[i];
	}
}

static int lateness_show(struct seq_file *m, void *unused)
{
	u64 kernel[CALLOUT_LATE_BINS] = {}, device[CALLOUT_LATE_BINS] = {};
	unsigned int i;

	sum_late(CALLOUT_CLASS_KERNEL, CALLOUT_CLASS_KERNEL + 1, kernel);
	sum_late(CALLOUT_CLASSES, CALLOUT_ALL_CLASSES, kernel);
	sum_late(CALLOUT_CLASS_KERNEL + 1, CALLOUT_CLASSES, device);
	seq_puts(m, "ticks_from kernel device\n");
	for (i = 0; i < CALLOUT_LATE_BINS; i++)
		seq_printf(m, "%llu %llu %llu\n", i ? 1ULL << (i - 1) : 0ULL,
			   kernel[i], device[i]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(lateness);

DEFINE_SHOW_ATTRIBUTE(co_files);

void co_debugfs_init(void)
{
	dir = debugfs_create_dir("callout", NULL);
	debugfs_create_file("bases", 0400, dir, NULL, &bases_fops);
	debugfs_create_file("lateness", 0400, dir, NULL, &lateness_fops);
	debugfs_create_file("files", 0400, dir, NULL, &co_files_fops);
}

void co_debugfs_exit(void)
{
	debugfs_remove(dir);
}
