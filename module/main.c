// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - load and unload, module parameters
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/string.h>
#include "cpu.h"
#include "debugfs.h"
#include "dev.h"
#include "file.h"
#include "handle.h"
#include "kcompat.h"
#include "work.h"
#include "tick.h"
#include "tick_chip.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

static char *scheme = "hashed_wheel";
module_param(scheme, charp, 0444);
MODULE_PARM_DESC(scheme, "timer data structure: a file of module/schemes/ (default hashed_wheel)");

static char *variant = "";
module_param(variant, charp, 0444);
MODULE_PARM_DESC(variant, "variant of the scheme, if it has several (default: the first)");

static char *tick_source = "jiffies";
module_param(tick_source, charp, 0444);
MODULE_PARM_DESC(tick_source, "what drives the facility: jiffies (the kernel's tick, default), hrtimer, or a simulated timer chip: chip_busy, chip_full");

static unsigned int hz;
module_param(hz, uint, 0444);
MODULE_PARM_DESC(hz, "ticks a second, up to 1000000 (default: the kernel's HZ, the only value for tick_source=jiffies)");

static char *bases = "percpu";
module_param(bases, charp, 0444);
MODULE_PARM_DESC(bases, "percpu: each CPU has callouts and a lock of its own (default); single: all CPUs share them, to measure the cost");

#define DEFAULT_BUCKETS	(1U << 14)

static int set_buckets(const char *val, const struct kernel_param *kp)
{
	unsigned int n;
	int ret = kstrtouint(val, 0, &n);

	if (ret || !is_power_of_2(n) || n < CALLOUT_WHEEL_MIN_BUCKETS ||
	    n > CALLOUT_WHEEL_MAX_BUCKETS) {
		pr_err("%s=%s: not a power of two from %u to %u\n", kp->name,
		       val, CALLOUT_WHEEL_MIN_BUCKETS,
		       CALLOUT_WHEEL_MAX_BUCKETS);
		return -EINVAL;
	}
	*(unsigned int *)kp->arg = n;
	return 0;
}

static const struct kernel_param_ops buckets_ops = {
	.set = set_buckets,
	.get = param_get_uint,
};

/* 0: not given. */
static unsigned int buckets;
module_param_cb(buckets, &buckets_ops, &buckets, 0444);
MODULE_PARM_DESC(buckets, "buckets of each base, a power of two from 4 to 1048576 (default 16384), for schemes and chips that have buckets");

static unsigned int levels[CALLOUT_MAX_LEVELS];
static unsigned int nr_levels;
module_param_array(levels, uint, &nr_levels, 0444);
MODULE_PARM_DESC(levels, "slots of each level, finest first, for schemes that have levels");

/* How many callouts a table may be allowed: slots have 24-bit numbers. */
static int set_limit(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_uint_minmax(val, kp, 1, CALLOUT_MAX_LIMIT);

	if (ret)
		pr_err("%s: not from 1 to %u\n", kp->name, CALLOUT_MAX_LIMIT);
	return ret;
}

static const struct kernel_param_ops limit_ops = {
	.set = set_limit,
	.get = param_get_uint,
};

static unsigned int max_callouts = 1000000;
module_param_cb(max_callouts, &limit_ops, &max_callouts, 0444);
MODULE_PARM_DESC(max_callouts, "limit of callouts that kernel code sets by handle, 1 to 10000000 (default 1000000)");

module_param_cb(max_per_file, &limit_ops, &callout_max_per_file, 0644);
MODULE_PARM_DESC(max_per_file, "limit of callouts of each file of /dev/callout opened from now on, 1 to 10000000 (default 1000000)");

module_param_cb(max_per_user, &limit_ops, &callout_max_per_user, 0644);
MODULE_PARM_DESC(max_per_user, "limit of callouts of all files of one user, 1 to 10000000 (default 4000000)");

static const struct callout_tick_source *const tick_sources[] = {
	&callout_tick_jiffies,
	&callout_tick_hrtimer,
#ifdef CONFIG_CALLOUT_SCHEMES
	&callout_chip_busy.tick,
	&callout_chip_full.tick,
#endif
};

/* For callout_kunit.ko: no file of a scheme includes what it takes to export. */
EXPORT_SYMBOL_IF_KUNIT(callout_hashed_wheel);
EXPORT_SYMBOL_IF_KUNIT(callout_schemes);
EXPORT_SYMBOL_IF_KUNIT(callout_scheme_find);

static const struct callout_scheme_ops *find_scheme(void)
{
	const struct callout_scheme_ops *found = callout_scheme_find(scheme);
	const struct callout_scheme_ops *const *ops;

	if (found)
		return found;
	pr_err("scheme=%s: there is no such scheme; there are:\n", scheme);
	for (ops = callout_schemes; *ops; ops++)
		pr_err("scheme=%s\n", (*ops)->name);
	return NULL;
}

/* The index of the variant; -1 if the scheme has no such. */
static int find_variant(const struct callout_scheme_ops *ops)
{
	const char *const *v;

	if (!*variant)
		return 0;
	for (v = ops->variants; v && *v; v++)
		if (!strcmp(variant, *v))
			return v - ops->variants;
	pr_err("variant=%s: scheme=%s has no such variant; it has:\n", variant,
	       ops->name);
	for (v = ops->variants; v && *v; v++)
		pr_err("variant=%s\n", *v);
	if (!ops->variants)
		pr_err("variant= none\n");
	return -1;
}

static const struct callout_tick_source *find_tick_source(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tick_sources); i++)
		if (!strcmp(tick_source, tick_sources[i]->name))
			return tick_sources[i];
	pr_err("tick_source=%s: there is no such source; there are:\n",
	       tick_source);
	for (i = 0; i < ARRAY_SIZE(tick_sources); i++)
		pr_err("tick_source=%s\n", tick_sources[i]->name);
	return NULL;
}

/* Whether all CPUs share one base; negative if bases= is neither. */
static int find_bases(void)
{
	static const char *const choices[] = { "percpu", "single" };
	int i = match_string(choices, ARRAY_SIZE(choices), bases);

	if (i < 0)
		pr_err("bases=%s: neither bases=percpu nor bases=single\n",
		       bases);
	return i;
}

/* Says which schemes take a parameter that this one does not. */
static void refuse_for(const char *name, const struct callout_scheme_ops *mine,
		       unsigned int flag)
{
	const struct callout_scheme_ops *const *ops;

	pr_err("%s=: not for scheme=%s; it is for:\n", name, mine->name);
	for (ops = callout_schemes; *ops; ops++)
		if ((*ops)->flags & flag)
			pr_err("%s= for scheme=%s\n", name, (*ops)->name);
}

/* What the scheme is created with; false if it does not take what was given. */
static bool fill_params(struct callout_scheme_params *params,
			const struct callout_scheme_ops *ops,
			const struct callout_tick_source *tick)
{
	int ret = find_variant(ops);

	if (ret < 0)
		return false;
	params->variant = ret;
	if (ops->flags & CALLOUT_TAKES_BUCKETS ||
	    tick == &callout_chip_busy.tick) {
		if (!buckets)
			buckets = DEFAULT_BUCKETS;
	} else if (buckets) {
		refuse_for("buckets", ops, CALLOUT_TAKES_BUCKETS);
		return false;
	}
	params->buckets = buckets;
	if (nr_levels && !(ops->flags & CALLOUT_TAKES_LEVELS)) {
		refuse_for("levels", ops, CALLOUT_TAKES_LEVELS);
		return false;
	}
	params->nr_levels = nr_levels;
	memcpy(params->level, levels, sizeof(levels));
	return true;
}

static int __init callout_module_init(void)
{
	const struct callout_scheme_ops *ops = find_scheme();
	const struct callout_tick_source *tick = find_tick_source();
	struct callout_scheme_params params = {};
	int single = find_bases();
	int ret;

	if (!ops || !tick || single < 0 || !fill_params(&params, ops, tick))
		return -EINVAL;

	ret = callout_tick_set_hz(tick, hz);
	if (ret) {
		if (tick == &callout_tick_jiffies)
			pr_err("hz=%u: tick_source=jiffies has %u\n", hz, HZ);
		else
			pr_err("hz=%u: tick_source=%s has up to %u\n", hz,
			       tick_source, CALLOUT_MAX_HZ);
		return ret;
	}
	ret = callout_workqueue_create();
	if (ret)
		return ret;
	ret = callout_cpus_init(tick, ops, &params, single);
	if (ret) {
		if (ret == -EINVAL)
			pr_err("levels=: up to %u numbers from %u to %u, of which all but the last make less than 2^64; variant=first_digit takes none\n",
			       CALLOUT_MAX_LEVELS, CALLOUT_MIN_SLOTS,
			       CALLOUT_MAX_SLOTS);
		goto err_workqueue;
	}
	ret = callout_handles_init(max_callouts);
	if (ret)
		goto err_handles;
	ret = callout_dev_init();
	if (ret)
		goto err_handles;
	callout_debugfs_init();
	return 0;

err_handles:
	callout_handles_stop();
	/* Slots are in the schemes' lists: the bases go before the table. */
	callout_cpus_exit();
	callout_handles_exit();
err_workqueue:
	callout_workqueue_destroy();
	return ret;
}

/* The same ladder: handlers, which may queue work, end with the bases. */
static void __exit callout_module_exit(void)
{
	u64 left;

	callout_debugfs_exit();
	callout_dev_exit();
	callout_handles_stop();
	left = callout_cpus_exit();
	callout_handles_exit();
	callout_workqueue_destroy();
	if (left)
		pr_warn("%llu callouts were still pending; they will not run\n",
			left);
}

module_init(callout_module_init);
module_exit(callout_module_exit);

MODULE_AUTHOR("The callout developers");
MODULE_DESCRIPTION("Callout facility on hashed timing wheels");
MODULE_VERSION(CALLOUT_VERSION);
MODULE_LICENSE("GPL");
