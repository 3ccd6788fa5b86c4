/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_bsd.h - the names of BSD kernels, for code that comes from one
 *
 * Opt-in: the names are short and common, so only files that use them should
 * include this, after every other header. untimeout() takes two arguments as in
 * 4.4BSD, or three as in FreeBSD from release 3 on.
 */
#ifndef _LINUX_CALLOUT_BSD_H
#define _LINUX_CALLOUT_BSD_H

#include <linux/callout.h>

/* timeout(9): FreeBSD's timeout() returns one, untimeout() takes it. */
struct callout_handle {
	callout_handle_t handle;
};

#define CALLOUT_HANDLE_INITIALIZER(h)	{ 0 }

static inline void callout_handle_init(struct callout_handle *handle)
{
	handle->handle = 0;
}

static inline struct callout_handle timeout(callout_func_t *func, void *arg,
					    long ticks)
{
	return (struct callout_handle){ callout_timeout(func, arg, ticks) };
}

#define callout_untimeout_2(func, arg)	callout_untimeout(func, arg)
#define callout_untimeout_3(func, arg, h)	\
	callout_untimeout_handle(func, arg, (h).handle)
#define callout_untimeout_pick(_1, _2, _3, pick, ...)	pick
#define untimeout(...)	\
	callout_untimeout_pick(__VA_ARGS__, callout_untimeout_3, \
			       callout_untimeout_2, none)(__VA_ARGS__)

/*
 * The facility's ticks, which differ from the kernel's with the parameter hz=:
 * ticks per second, microseconds per tick, and the present tick. A file with
 * members, parameters or variables of these names must define
 * CALLOUT_BSD_NO_TICKS before it includes this, and use callout_hz() and
 * callout_ticks() instead.
 */
#ifndef CALLOUT_BSD_NO_TICKS
#define hz	((int)callout_hz())
#define tick	(1000000 / hz)
#define ticks	((int)callout_ticks())
#endif

#define tick_sbt	(SBT_1S / callout_hz())
#define sbinuptime()	callout_sbinuptime()

typedef callout_func_t timeout_t;

#endif /* _LINUX_CALLOUT_BSD_H */
