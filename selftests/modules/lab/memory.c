// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - holds as many timers of a facility as the job asks for
 *
 * With part=memory. The job writes "FACILITY N" to the parameter hold= and
 * compares the free memory before and after. The difference is the memory of
 * the timers, including the facility's allocations for them. "FACILITY 0" gives
 * all back.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "kcompat.h"
#include "lab.h"

#define HOUR	(3600UL * HZ)

static void *held;
static unsigned int nr_held;

static void nothing(void *arg)
{
}

static void timer_nothing(struct timer_list *t)
{
}

static enum hrtimer_restart hrtimer_nothing(struct hrtimer *t)
{
	return HRTIMER_NORESTART;
}

static int callout_hold(void *p, unsigned long ticks)
{
	struct callout *c = p;

	callout_init(c, CALLOUT_MPSAFE);
	callout_reset(c, ticks, nothing, NULL);
	return 0;
}

static void callout_drop(void *p)
{
	callout_drain(p);
}

static int handle_hold(void *p, unsigned long ticks)
{
	callout_handle_t *handle = p;

	*handle = setcallout(nothing, NULL, ticks);
	return *handle ? 0 : -ENOSPC;
}

static void handle_drop(void *p)
{
	callout_handle_t *handle = p;

	unsetcallout(*handle);
}

static int timer_hold(void *p, unsigned long ticks)
{
	struct timer_list *t = p;

	timer_setup(t, timer_nothing, TIMER_PINNED);
	mod_timer(t, jiffies + ticks);
	return 0;
}

static void timer_drop(void *p)
{
	timer_delete_sync(p);
}

static int hrtimer_hold(void *p, unsigned long ticks)
{
	struct hrtimer *t = p;

	hrtimer_setup(t, hrtimer_nothing, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED);
	hrtimer_start(t, (u64)ticks * TICK_NSEC, HRTIMER_MODE_REL_PINNED);
	return 0;
}

static void hrtimer_drop(void *p)
{
	hrtimer_cancel(p);
}

/* @size: the size of the part that a timer's user has. */
static const struct kind {
	const char *name;
	size_t size;
	int (*hold)(void *p, unsigned long ticks);
	void (*drop)(void *p);
} kinds[] = {
	{ "callout", sizeof(struct callout), callout_hold, callout_drop },
	{ "handle", sizeof(callout_handle_t), handle_hold, handle_drop },
	{ "timer_list", sizeof(struct timer_list), timer_hold, timer_drop },
	{ "hrtimer", sizeof(struct hrtimer), hrtimer_hold, hrtimer_drop },
};

static void drop(const struct kind *kind)
{
	while (nr_held)
		kind->drop(held + --nr_held * kind->size);
	vfree(held);
	held = NULL;
}

static int hold(const struct kind *kind, unsigned int n)
{
	int ret = 0;

	held = vcalloc(n, kind->size);
	if (!held)
		return -ENOMEM;
	if (kind->hold == handle_hold)
		ret = callout_reserve(n);
	while (!ret && nr_held < n) {
		ret = kind->hold(held + nr_held * kind->size,
				 lab_random(HOUR, 2 * HOUR));
		nr_held += !ret;
		if (!(nr_held % 1024))
			cond_resched();
	}
	return ret;
}

static int set_hold(const char *val, const struct kernel_param *kp)
{
	static const struct kind *kind;
	char name[16];
	unsigned int n, i;

	if (sscanf(val, "%15s %u", name, &n) != 2)
		return -EINVAL;
	if (kind)
		drop(kind);
	kind = NULL;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(name, kinds[i].name))
			kind = &kinds[i];
	if (!kind)
		return -EINVAL;
	return n ? hold(kind, n) : 0;
}

static const struct kernel_param_ops hold_ops = {
	.set = set_hold,
};

module_param_cb(hold, &hold_ops, NULL, 0200);
MODULE_PARM_DESC(hold, "For part=memory: FACILITY N, timers that are set; of callout, handle, timer_list, hrtimer");

/* The job does the rest. */
int lab_memory(const char *unused)
{
	return 0;
}
