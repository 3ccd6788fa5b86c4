// SPDX-License-Identifier: GPL-2.0
/*
 * callout_probe.c - for how long interrupts are off, as a hard timer sees it
 *
 * A hrtimer that expires in hard interrupt context again and again, and notes
 * the greatest time from when it was due until its function ran. Interrupts, or
 * those of timers, were off for so long, but for what the way from the clock
 * event to the function takes. A stretch longer than the period is seen but
 * for at most a period; a shorter one by chance, so many should be looked at.
 *
 *	run	write 1: begin anew; 0: stop
 *	worst	the greatest lateness since then, in nanoseconds
 */
#include <linux/hrtimer.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include "kcompat.h"

/* Short, and not such that it meets a tick always at the same place. */
#define PERIOD_NS	19997

static struct hrtimer probe;
static u64 worst;
module_param(worst, ullong, 0444);
MODULE_PARM_DESC(worst, "the greatest lateness of the probe, in nanoseconds");

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
MODULE_PARM_DESC(run, "1: begin anew, 0: stop");

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
