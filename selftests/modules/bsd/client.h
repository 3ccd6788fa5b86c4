/* SPDX-License-Identifier: GPL-2.0 */
/*
 * client.h - shared by the clients: a verdict
 *
 * Includes the Linux headers that the clients need, so that the header of a BSD comes last.
 */
#ifndef _CALLOUT_BSD_CLIENT_H
#define _CALLOUT_BSD_CLIENT_H

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

static unsigned int wrong;

/* Count a condition that does not hold, and print it. */
#define expect(cond)							\
do {									\
	if (!(cond)) {							\
		wrong++;						\
		pr_err("line %d: not so: %s\n", __LINE__, #cond);	\
	}								\
} while (0)

/* Sleep until @cond. The value is false if that takes too long. */
#define comes_true(cond)						\
({									\
	unsigned long __end = jiffies + 30 * HZ;			\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && time_before(jiffies, __end))		\
		usleep_range(1000, 2000);				\
	__ok;								\
})

/* The last line that a client prints. qemu/jobs/client.sh looks for it. */
static int verdict(void)
{
	pr_info("%s, %u wrong\n", wrong ? "failed" : "passed", wrong);
	return wrong ? -EIO : 0;
}

MODULE_LICENSE("GPL");

#endif /* _CALLOUT_BSD_CLIENT_H */
