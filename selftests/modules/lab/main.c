// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - runs one part of the laboratory: measurements of every scheme
 *
 * Each part prints lines of values to the kernel log, headed "lab-PART: ".
 * Most drive a scheme themselves, in virtual time. Under QEMU with -icount
 * shift=0 values are instructions, in User Mode Linux nanoseconds.
 */
#include <linux/module.h>
#include <linux/string.h>
#include "kcompat.h"
#include "lab.h"

static char *part = "";
module_param(part, charp, 0444);
MODULE_PARM_DESC(part, "Part of the laboratory to run: rows, fig9, share, table2, ...");

static char *name = "hashed_wheel";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "For part=fig9 and share: the row of part=rows that callout.ko runs (default hashed_wheel)");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "Measure this scheme alone, in all its variants (default: every scheme)");

unsigned int lab_most = 1000000;
module_param_named(most, lab_most, uint, 0444);
MODULE_PARM_DESC(most, "For part=line, scale, growth and step: the largest number of callouts (default 1000000)");

/* The rows, and the parameters of callout.ko for each. */
static int lab_list_rows(const char *unused)
{
	const struct lab_row *row;
	char buckets[24];

	for (row = lab_rows; row < lab_rows + lab_nr_rows; row++) {
		pr_info("lab-rows: %s\n", row->name);
		buckets[0] = 0;
		if (lab_has_max_interval(row->ops))
			snprintf(buckets, sizeof(buckets), " buckets=%u",
				 LAB_MOST_BUCKETS);
		if (row->ops->variants)
			pr_info("lab-load: %s scheme=%s variant=%s%s\n",
				row->name, row->ops->name,
				row->ops->variants[row->variant], buckets);
		else
			pr_info("lab-load: %s scheme=%s%s\n", row->name,
				row->ops->name, buckets);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const char *row_name);
} parts[] = {
	{ "rows", lab_list_rows },
	{ "fig9", lab_fig9 },
	{ "share", lab_share },
	{ "table2", lab_table2 },
	{ "insert", lab_insert },
	{ "cross", lab_cross },
	{ "variance", lab_variance },
	{ "late", lab_late },
	{ "assist", lab_assist },
	{ "idle", lab_idle },
	{ "native", lab_native },
	{ "buckets", lab_buckets },
	{ "facilities", lab_facilities },
	{ "line", lab_line },
	{ "scale", lab_scale },
	{ "growth", lab_growth },
	{ "step", lab_step },
	{ "memory", lab_memory },
};

static int __init lab_init(void)
{
	int ret = lab_rows_init(only);
	unsigned int i;

	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strcmp(part, parts[i].name))
			continue;
		ret = parts[i].run(name);
		if (ret)
			pr_err("lab: %s gave up: %d\n", part, ret);
		return ret;
	}
	pr_err("part=%s: there is no such part\n", part);
	return -EINVAL;
}

static void __exit lab_exit(void)
{
	callout_barrier();
}

module_init(lab_init);
module_exit(lab_exit);

MODULE_DESCRIPTION("Measurements of every scheme");
MODULE_LICENSE("GPL");
CALLOUT_IMPORT_KUNIT_NS;
