// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - load and unload, module parameters
 */
#include <linux/module.h>
#include <linux/string.h>
#include "core.h"
#include "dev.h"
#include "handle.h"
#include "kcompat.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

static char *scheme = "hashed_wheel";
module_param(scheme, charp, 0444);
MODULE_PARM_DESC(scheme, "timer data structure: hashed_wheel");

static unsigned int buckets = 1U << 14;
module_param(buckets, uint, 0444);
MODULE_PARM_DESC(buckets, "buckets of each CPU's wheel, a power of two from 4 to 1048576 (default 16384)");

static char *tick_source = "jiffies";
module_param(tick_source, charp, 0444);
MODULE_PARM_DESC(tick_source, "what drives the wheel: jiffies");

static unsigned int max_callouts = 1000000;
module_param(max_callouts, uint, 0444);
MODULE_PARM_DESC(max_callouts, "how many callouts kernel code may set by handle (default 1000000)");

module_param_named(max_per_file, callout_max_per_file, uint, 0644);
MODULE_PARM_DESC(max_per_file, "how many callouts a file of /dev/callout opened from now on may have (default 1000000)");

static const struct callout_scheme_ops *const schemes[] = {
	&callout_hashed_wheel,
};

static const struct callout_tick_source *const tick_sources[] = {
	&callout_tick_jiffies,
};

static const struct callout_scheme_ops *find_scheme(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(schemes); i++)
		if (!strcmp(scheme, schemes[i]->name))
			return schemes[i];
	pr_err("scheme=%s: no such scheme\n", scheme);
	return NULL;
}

static const struct callout_tick_source *find_tick_source(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tick_sources); i++)
		if (!strcmp(tick_source, tick_sources[i]->name))
			return tick_sources[i];
	pr_err("tick_source=%s: no such tick source\n", tick_source);
	return NULL;
}

static bool check_range(const char *name, unsigned int value, unsigned int min,
			unsigned int max)
{
	if (value >= min && value <= max)
		return true;
	pr_err("%s=%u: not from %u to %u\n", name, value, min, max);
	return false;
}

static int __init callout_module_init(void)
{
	const struct callout_scheme_ops *ops = find_scheme();
	const struct callout_tick_source *tick = find_tick_source();
	int ret;

	if (!ops || !tick ||
	    !check_range("buckets", buckets, CALLOUT_WHEEL_MIN_BUCKETS,
			 CALLOUT_WHEEL_MAX_BUCKETS) ||
	    !check_range("max_callouts", max_callouts, 1,
			 CALLOUT_MAX_PER_FILE) ||
	    !check_range("max_per_file", callout_max_per_file, 1,
			 CALLOUT_MAX_PER_FILE))
		return -EINVAL;
	if (!is_power_of_2(buckets)) {
		pr_err("buckets=%u: not a power of two\n", buckets);
		return -EINVAL;
	}

	ret = callout_core_init(tick, ops, buckets);
	if (ret)
		return ret;
	ret = callout_handle_init(max_callouts);
	if (ret)
		goto err_core;
	ret = callout_dev_init();
	if (ret)
		goto err_handle;
	return 0;

err_handle:
	callout_handle_stop();
	callout_core_exit();
	callout_handle_exit();
	return ret;
err_core:
	callout_core_exit();
	return ret;
}

static void __exit callout_module_exit(void)
{
	u64 left;

	callout_dev_exit();
	callout_handle_stop();
	/* Slots are in the schemes' lists: the bases go before the table. */
	left = callout_core_exit();
	callout_handle_exit();
	if (left)
		pr_warn("%llu callouts were still pending; they will not run\n",
			left);
}

module_init(callout_module_init);
module_exit(callout_module_exit);

MODULE_DESCRIPTION("Callout facility on hashed timing wheels");
MODULE_LICENSE("GPL");
