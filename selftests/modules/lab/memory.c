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
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "kcompat.h"
#include "lab.h"

#define HOUR	(3600UL * HZ)

/* Timers are in pieces, since User Mode Linux has few mappings for vmalloc(). */
#define PIECE	SZ_4M
#define PIECES	256U

static void *held[PIECES];
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

static unsigned int in_piece(const struct kind *kind)
{
	return PIECE / kind->size;
}

static void *held_at(const struct kind *kind, unsigned int i)
{
	return held[i / in_piece(kind)] + i % in_piece(kind) * kind->size;
}

static void drop(const struct kind *kind)
{
	unsigned int i;

	while (nr_held)
		kind->drop(held_at(kind, --nr_held));
	for (i = 0; i < PIECES; i++) {
		kvfree(held[i]);
		held[i] = NULL;
	}
}

/* Take no more than whole pages: kmalloc() would round the last piece up further. */
static int take_pieces(const struct kind *kind, unsigned int n)
{
	unsigned int i;

	for (i = 0; n; i++) {
		if (i == PIECES)
			return -E2BIG;
		held[i] = n < in_piece(kind) ? vcalloc(n, kind->size) :
					       kvzalloc(PIECE, GFP_KERNEL);
		if (!held[i])
			return -ENOMEM;
		n -= min(n, in_piece(kind));
	}
	return 0;
}

static int hold(const struct kind *kind, unsigned int n)
{
	int ret = take_pieces(kind, n);

	if (!ret && kind->hold == handle_hold)
		ret = callout_reserve(n);
	while (!ret && nr_held < n) {
		ret = kind->hold(held_at(kind, nr_held), lab_random(HOUR, 2 * HOUR));
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
