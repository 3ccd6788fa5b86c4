// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - load and unload, module parameters
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/string.h>
#include "core/cpu.h"
#include "debugfs.h"
#include "device/clock.h"
#include "device/fops.h"
#include "device/user.h"
#include "handles/kernel.h"
#include "lab/lab.h"
#include "base/tick.h"
#include "lab/chip.h"
#include "timers/timer.h"
#include "bsd/work_queue.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define DEVICE_HZ	250000
#define SLACK_NS	100000
#define TICK_SOURCE	"jiffies"

static unsigned int device_hz = DEVICE_HZ;
module_param(device_hz, uint, 0444);
MODULE_PARM_DESC(device_hz, "ticks a second of programs' callouts, up to 1000000; 0: the kernel's HZ (default 250000)");

static unsigned int slack_ns = SLACK_NS;
module_param(slack_ns, uint, 0444);
MODULE_PARM_DESC(slack_ns, "how much later programs' callouts may fire, in ns, if they do not say (default 100000)");

static char *tick_source = TICK_SOURCE;
module_param(tick_source, charp, 0444);
MODULE_PARM_DESC(tick_source, "what drives the facility: jiffies (the kernel's tick, default), hrtimer; with CONFIG_CALLOUT_LAB also a simulated timer chip: chip_busy, chip_full");

static unsigned int hz;
module_param(hz, uint, 0444);
MODULE_PARM_DESC(hz, "ticks a second, up to 1000000 (default: the kernel's HZ, the only value for tick_source=jiffies)");

static int set_buckets(const char *val, const struct kernel_param *kp)
{
	unsigned int n;
	int ret = kstrtouint(val, 0, &n);

	if (ret || (n && (!is_power_of_2(n) || n < CALLOUT_WHEEL_MIN_BUCKETS ||
			  n > CALLOUT_WHEEL_MAX_BUCKETS))) {
		pr_err("%s=%s: neither 0 nor a power of two from %u to %u\n",
		       kp->name, val, CALLOUT_WHEEL_MIN_BUCKETS,
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

/* 0: the size of a wheel follows the number of callouts. */
static unsigned int buckets;
module_param_cb(buckets, &buckets_ops, &buckets, 0444);
MODULE_PARM_DESC(buckets, "buckets of each base, a power of two from 4 to 1048576; 0: as many as its callouts need (default 0)");

/* The limit of a table: see CALLOUT_MAX_LIMIT. */
static int set_limit(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_uint_minmax(val, kp, 1, CALLOUT_MAX_LIMIT);

	/* A value written to sysfs ends in a newline. */
	if (ret)
		pr_err("%s=%.*s: not from 1 to %u\n", kp->name,
		       (int)strcspn(val, "\n"), val, CALLOUT_MAX_LIMIT);
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
MODULE_PARM_DESC(max_per_file, "limit of callouts of each file of /dev/callout, from its next open on, 1 to 10000000 (default 1000000)");

module_param_cb(max_per_user, &limit_ops, &callout_max_per_user, 0644);
MODULE_PARM_DESC(max_per_user, "limit of callouts of all files of one user, 1 to 10000000 (default 4000000)");

static const struct callout_tick_source *const tick_sources[] = {
	&callout_tick_jiffies,
	&callout_tick_hrtimer,
#ifdef CONFIG_CALLOUT_LAB
	&callout_chip_busy.tick,
	&callout_chip_full.tick,
#define TICK_SOURCES	"jiffies, hrtimer, chip_busy or chip_full"
#else
#define TICK_SOURCES	"jiffies or hrtimer"
#endif
};

#ifndef CONFIG_CALLOUT_LAB
/*
 * The parameters of lab.c. The kernel only warns about a parameter that does not
 * exist, and the hashed wheel would be measured under another scheme's name.
 */
static int refuse_lab(const char *val, const struct kernel_param *kp)
{
	pr_err("%s=%s: built without CONFIG_CALLOUT_LAB\n", kp->name, val);
	return -EINVAL;
}

static const struct kernel_param_ops lab_ops = {
	.set = refuse_lab,
};

module_param_cb(scheme, &lab_ops, NULL, 0);
module_param_cb(variant, &lab_ops, NULL, 0);
module_param_cb(levels, &lab_ops, NULL, 0);
module_param_cb(bases, &lab_ops, NULL, 0);
#endif

static const struct callout_tick_source *find_tick_source(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tick_sources); i++)
		if (!strcmp(tick_source, tick_sources[i]->name))
			return tick_sources[i];
	pr_err("tick_source=%s: unknown; use " TICK_SOURCES "\n", tick_source);
	return NULL;
}

/*
 * Set the tick source for programs, and the lengths of ticks. Return false after a
 * message. A simulated chip, which belongs to the laboratory, drives all callouts.
 */
static bool find_ticks(struct callout_config *config)
{
	config->tick_ns = co_tick_length(config->tick, hz);
	if (!config->tick_ns) {
		if (config->tick == &callout_tick_jiffies)
			pr_err("hz=%u: jiffies ticks %u times a second; for another hz use tick_source=hrtimer\n",
			       hz, HZ);
		else
			pr_err("hz=%u: at most %u\n", hz, CALLOUT_MAX_HZ);
		return false;
	}
	if (config->tick->create) {
		config->device_tick = config->tick;
		config->device_tick_ns = config->tick_ns;
	} else {
		config->device_tick = &callout_tick_hrtimer;
		config->device_tick_ns =
			co_tick_length(&callout_tick_hrtimer, device_hz);
	}
	if (!config->device_tick_ns) {
		pr_err("device_hz=%u: at most %u\n", device_hz, CALLOUT_MAX_HZ);
		return false;
	}
	co_slack_init(slack_ns, config->device_tick_ns);
	/* A simulated chip chooses its visits by itself. */
	if (!config->tick->create)
		config->device_wake_gap = callout_slack_ticks;
	return true;
}

/* Create the bases, as the parameters say. From then on callouts can be armed. */
static int __init co_bases_init(void)
{
	struct callout_config config = {
		.tick		= find_tick_source(),
		.scheme		= &callout_hashed_wheel,
		.params.buckets	= buckets,
	};

	if (!config.tick || (IS_ENABLED(CONFIG_CALLOUT_LAB) && co_lab_configure(&config)))
		return -EINVAL;
	buckets = config.params.buckets;
	if (!find_ticks(&config))
		return -EINVAL;
	co_timers_init();
	return co_cpus_init(&config);
}

#ifdef MODULE
/*
 * End everything that the bases run, then free the bases. Code outside the module
 * may have left callouts whose handlers set other callouts, also by handle:
 *
 *	CPU0: unload				CPU1: handler
 *						setcallout(): few slots are left
 *	co_handles_stop(): no worker
 *						refill_ask()
 *	frees the bases
 *						worker: adds slots to a base
 *
 * So each step ends whatever could start the activity that the next step ends.
 * Return how many callouts were still pending.
 */
static u64 co_bases_exit(void)
{
	u64 left;

	/* Handlers in softirq context, which can queue work. */
	co_cpus_kill();
	/* Handlers in threads. A callout that they set is queued in a dead base. */
	co_workqueue_destroy();
	/* The worker that either kind of handler may have asked for slots. */
	co_handles_stop();
	/* Slots are in the schemes' lists: free the bases before the table. */
	left = co_cpus_exit();
	co_handles_exit();
	return left;
}

static int __init co_module_init(void)
{
	int ret;

	ret = co_workqueue_create();
	if (ret)
		goto points_exit;
	ret = co_bases_init();
	if (ret) {
		co_workqueue_destroy();
		goto points_exit;
	}
	ret = co_handles_init(max_callouts);
	if (!ret)
		ret = co_dev_init();
	if (ret) {
		co_bases_exit();
		goto points_exit;
	}
	co_debugfs_init();
	return 0;

points_exit:
	/* The parameters may have begun a walk. */
	co_points_exit();
	return ret;
}

static void __exit co_module_exit(void)
{
	u64 left;

	co_points_exit();
	co_debugfs_exit();
	co_dev_exit();
	left = co_bases_exit();
	if (left)
		pr_warn("%llu callouts were still pending; they will not run\n",
			left);
}

module_init(co_module_init);
module_exit(co_module_exit);
#else
/*
 * As co_bases_init(), in a kernel with the facility built in. Its drivers have set
 * callouts before anybody can read a message. So if parameters of the bases are wrong,
 * all parameters of the bases get their defaults.
 */
static int __init co_bases_boot(void)
{
	int ret = co_bases_init();

	if (ret != -EINVAL)
		return ret;
	pr_err("wrong parameters: those of the bases have their defaults\n");
	tick_source = TICK_SOURCE;
	hz = 0;
	device_hz = DEVICE_HZ;
	slack_ns = SLACK_NS;
	buckets = 0;
	if (IS_ENABLED(CONFIG_CALLOUT_LAB))
		co_lab_forget();
	return co_bases_init();
}

#ifdef CONFIG_CALLOUT_TIMERS
/*
 * The kernel's own timers are callouts: start_kernel() calls this when memory and a
 * clock are available, before any timer is armed. The rest of the facility follows
 * with the initcalls, and the bases stay even if that fails.
 */
void __init callout_early_init(void)
{
	int ret = co_bases_boot();

	if (ret)
		panic("callout: no timers: %d\n", ret);
}
#endif

/*
 * Initialise the interface for kernel code. Its users have a later level than
 * core_initcall(). This can fail for lack of memory, or with more possible CPUs than a
 * callout can name. The kernel then cannot continue, since the callers cannot be
 * notified.
 */
static int __init co_core_init(void)
{
	int ret = 0;

	if (!IS_ENABLED(CONFIG_CALLOUT_TIMERS))
		ret = co_bases_boot();
	if (!ret)
		ret = co_workqueue_create();
	if (!ret)
		ret = co_handles_init(max_callouts);
	if (ret)
		panic("callout: cannot start: %d\n", ret);
	return 0;
}

/* Initialise the interface for programs. If this fails, kernel code does without it. */
static int __init co_device_init(void)
{
	int ret = co_dev_init();

	if (!ret)
		co_debugfs_init();
	return ret;
}

core_initcall(co_core_init);
device_initcall(co_device_init);
#endif

MODULE_AUTHOR("The callout developers");
MODULE_DESCRIPTION("Callout facility on hashed timing wheels");
MODULE_VERSION(CALLOUT_VERSION);
MODULE_LICENSE("GPL");
