// SPDX-License-Identifier: GPL-2.0
/*
 * mutant.c - tells callout.ko which mutant of a sample it is, and what was reached
 *
 * A module for itself, which stays while callout.ko is loaded and unloaded.
 *
 * /sys/module/mutant/parameters/mutant: its number; 0 is none of them.
 *
 * /sys/module/mutant/parameters/reached: a digit for each number, 1 if its code
 * has run since the last read.
 */
#include <linux/module.h>
#include <linux/sysfs.h>

unsigned int callout_mutant;
EXPORT_SYMBOL_GPL(callout_mutant);
module_param_named(mutant, callout_mutant, uint, 0644);

unsigned char callout_reached[MUTANTS + 1];
EXPORT_SYMBOL_GPL(callout_reached);

static int reached_get(char *buffer, const struct kernel_param *kp)
{
	unsigned int i;

	BUILD_BUG_ON(MUTANTS + 3 > PAGE_SIZE);
	for (i = 0; i <= MUTANTS; i++) {
		buffer[i] = '0' + callout_reached[i];
		callout_reached[i] = 0;
	}
	buffer[i++] = '\n';
	return i;
}

static const struct kernel_param_ops reached_ops = {
	.get = reached_get,
};
module_param_cb(reached, &reached_ops, NULL, 0400);

MODULE_DESCRIPTION("Tells callout.ko which mutant it is");
MODULE_LICENSE("GPL");
