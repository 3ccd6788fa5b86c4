// SPDX-License-Identifier: GPL-2.0
/*
 * callout_misuse_bsd.c - misuses the names of a BSD system in one way
 *
 * As callout_misuse.c, for the names of callout_bsd.ko. No misuse may set anything.
 */
#include <linux/callout_dragonfly.h>
#include <linux/callout_netbsd.h>
#include <linux/callout_openbsd.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/string.h>

static char *what = "";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "Misuse: bsd_destroy, bsd_terminated, bsd_clock or bsd_zeroed");

#define FAR		(3600 * HZ)

static void do_nothing(void *unused)
{
}

/* NetBSD: only a callout that was stopped may be destroyed. */
static bool destroy_pending(void)
{
	static struct callout_netbsd c;

	callout_netbsd_init(&c, CALLOUT_MPSAFE);
	callout_netbsd_reset(&c, FAR, do_nothing, NULL);
	callout_netbsd_destroy(&c);
	callout_netbsd_halt(&c, NULL);
	return !callout_netbsd_pending(&c);
}

/* DragonFly. Only the first call is reported. */
static bool set_terminated(void)
{
	static struct callout_dragonfly c;

	callout_dragonfly_init_mp(&c);
	callout_dragonfly_terminate(&c);
	callout_dragonfly_reset(&c, FAR, do_nothing, NULL);
	callout_dragonfly_reset_bycpu(&c, FAR, do_nothing, NULL, 0);
	return !callout_dragonfly_pending(&c) && !callout_dragonfly_active(&c);
}

static bool add_all(struct timeout *to)
{
	return callout_openbsd_add(to, FAR) || callout_openbsd_add_sec(to, 3600) ||
	       callout_openbsd_add_msec(to, 3600000) ||
	       callout_openbsd_add_usec(to, 3600000000ULL) ||
	       callout_openbsd_add_nsec(to, 3600000000000ULL) ||
	       callout_openbsd_add_parts(to, 3600, 0);
}

/* OpenBSD: each timeout is for one clock. Only the first call is reported. */
static bool use_other_clock(void)
{
	static struct timeout ticks, uptime;
	bool set;

	callout_openbsd_set_flags(&ticks, do_nothing, NULL, KCLOCK_NONE, 0);
	callout_openbsd_set_flags(&uptime, do_nothing, NULL, KCLOCK_UPTIME, 0);
	set = callout_openbsd_abs(&ticks, S32_MAX, 0) || add_all(&uptime) ||
	      callout_openbsd_pending(&ticks) || callout_openbsd_pending(&uptime);
	callout_openbsd_del_barrier(&ticks);
	callout_openbsd_del_barrier(&uptime);
	return !set;
}

/* OpenBSD. Only the first call is reported. */
static bool use_zeroed(void)
{
	static struct timeout zeroed;

	return !callout_openbsd_initialized(&zeroed) &&
	       !callout_openbsd_abs(&zeroed, S32_MAX, 0) && !add_all(&zeroed);
}

static const struct {
	const char *name;
	bool (*fn)(void);
} misuses[] = {
	{ "bsd_destroy", destroy_pending },
	{ "bsd_terminated", set_terminated },
	{ "bsd_clock", use_other_clock },
	{ "bsd_zeroed", use_zeroed },
};

static int __init misuse_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(misuses); i++)
		if (!strcmp(what, misuses[i].name))
			return misuses[i].fn() ? 0 : -EIO;
	pr_err("callout_misuse_bsd: what=%s?\n", what);
	return -EINVAL;
}

static void __exit misuse_exit(void)
{
}

module_init(misuse_init);
module_exit(misuse_exit);

MODULE_DESCRIPTION("Misuses of the BSD names of the callout facility");
MODULE_LICENSE("GPL");
