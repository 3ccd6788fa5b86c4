// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - load and unload, module parameters
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/string.h>
#include "core.h"
#include "debugfs.h"
#include "dev.h"
#include "handle.h"
#include "kcompat.h"
#include "tick.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

static char *scheme = "hashed_wheel";
module_param(scheme, charp, 0444);
MODULE_PARM_DESC(scheme, "timer data structure: hashed_wheel");

static char *tick_source = "jiffies";
module_param(tick_source, charp, 0444);
MODULE_PARM_DESC(tick_source, "what drives the wheel: jiffies (the kernel's tick, default) or hrtimer");

static unsigned int hz;
module_param(hz, uint, 0444);
MODULE_PARM_DESC(hz, "ticks a second, up to 1000000; only tick_source=hrtimer takes others than the kernel's HZ (default)");

static unsigned int buckets = 1U << 14;
module_param(buckets, uint, 0444);
MODULE_PARM_DESC(buckets, "buckets of each CPU's wheel, a power of two from 4 to 1048576 (default 16384)");

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
MODULE_PARM_DESC(max_callouts, "how many callouts kernel code may set by handle (default 1000000)");

module_param_cb(max_per_file, &limit_ops, &callout_max_per_file, 0644);
MODULE_PARM_DESC(max_per_file, "how many callouts a file of /dev/callout opened from now on may have (default 1000000)");

static const struct callout_scheme_ops *const schemes[] = {
	&callout_hashed_wheel,
};

static const struct callout_tick_source *const tick_sources[] = {
	&callout_tick_jiffies,
	&callout_tick_hrtimer,
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

static bool check_buckets(void)
{
	if (is_power_of_2(buckets) && buckets >= CALLOUT_WHEEL_MIN_BUCKETS &&
	    buckets <= CALLOUT_WHEEL_MAX_BUCKETS)
		return true;
	pr_err("buckets=%u: not a power of two from %u to %u\n", buckets,
	       CALLOUT_WHEEL_MIN_BUCKETS, CALLOUT_WHEEL_MAX_BUCKETS);
	return false;
}

static int __init callout_module_init(void)
{
	const struct callout_scheme_ops *ops = find_scheme();
	const struct callout_tick_source *tick = find_tick_source();
	int ret;

	if (!ops || !tick || !check_buckets())
		return -EINVAL;

	ret = callout_tick_set_hz(tick, hz);
	if (ret) {
		pr_err("hz=%u: tick_source=%s does not do that\n", hz,
		       tick_source);
		return ret;
	}
	ret = callout_core_init(tick, ops, buckets);
	if (ret)
		return ret;
	ret = callout_handles_init(max_callouts);
	if (ret)
		goto err_core;
	ret = callout_dev_init();
	if (ret)
		goto err_handle;
	callout_debugfs_init();
	return 0;

err_handle:
	callout_handles_stop();
	callout_core_exit();
	callout_handles_exit();
	return ret;
err_core:
	callout_core_exit();
	return ret;
}

static void __exit callout_module_exit(void)
{
	u64 left;

	callout_debugfs_exit();
	callout_dev_exit();
	callout_handles_stop();
	/* Slots are in the schemes' lists: the bases go before the table. */
	left = callout_core_exit();
	callout_handles_exit();
	if (left)
		pr_warn("%llu callouts were still pending; they will not run\n",
			left);
}

module_init(callout_module_init);
module_exit(callout_module_exit);

MODULE_DESCRIPTION("Callout facility on hashed timing wheels");
MODULE_LICENSE("GPL");
