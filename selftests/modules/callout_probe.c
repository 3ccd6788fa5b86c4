// SPDX-License-Identifier: GPL-2.0
/*
 * callout_probe.c - the longest time that interrupts are off, by an hrtimer
 *
 * A periodic hrtimer that expires in hard interrupt context, and records its
 * greatest lateness. Interrupts, or timer interrupts, were off for that long,
 * less the path from the clock event to the function. A stretch longer than the
 * period is measured short by a period at most. A shorter stretch is measured
 * by chance, so a run needs many of them.
 *
 *	run	write 1: restart; 0: stop
 *	worst	the greatest lateness since the restart, in nanoseconds
 */
#include <linux/hrtimer.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include "kcompat.h"

/* Short, and no divisor of a tick, so that all phases are met. */
#define PERIOD_NS	19997

static struct hrtimer probe;
static u64 worst;
module_param(worst, ullong, 0444);
MODULE_PARM_DESC(worst, "Greatest lateness of the probe, in nanoseconds");

static enum hrtimer_restart probe_fire(struct hrtimer *timer)
{
	ktime_t now = ktime_get();
	u64 late = ktime_to_ns(ktime_sub(now, hrtimer_get_expires(timer)));

	if (late > worst)
		WRITE_ONCE(worst, late);
	hrtimer_forward(timer, now, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static int run_set(const char *value, const struct kernel_param *kp)
{
	bool run;
	int ret = kstrtobool(value, &run);

	if (ret)
		return ret;
	hrtimer_cancel(&probe);
	if (run) {
		worst = 0;
		hrtimer_start(&probe,
			      ktime_add_ns(ktime_get(), PERIOD_NS),
			      HRTIMER_MODE_ABS_HARD);
	}
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "1: restart the probe; 0: stop it");

static int __init probe_init(void)
{
	hrtimer_setup(&probe, probe_fire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_HARD);
	return 0;
}

static void __exit probe_exit(void)
{
	hrtimer_cancel(&probe);
}

module_init(probe_init);
module_exit(probe_exit);

MODULE_DESCRIPTION("Measures for how long interrupts are off");
MODULE_LICENSE("GPL");
