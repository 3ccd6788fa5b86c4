/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_bsd.h - the names of BSD kernels, for code that comes from a BSD kernel
 *
 * Opt-in: the names are short and common, so only files that use them should
 * include this, after every other header. untimeout() takes two arguments as in
 * 4.4BSD, or three as in FreeBSD from release 3 on.
 */
#ifndef _LINUX_CALLOUT_BSD_H
#define _LINUX_CALLOUT_BSD_H

#include <linux/callout.h>

/* timeout(9): FreeBSD's timeout() returns this handle, and untimeout() takes it. */
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

typedef callout_func_t timeout_t;

/* A flag of pause_sbt(9), which the port must provide; no effect here. */
#define C_CATCH		0x0800

/* Flags of _callout_stop_safe(). */
#define CS_DRAIN	0x0001	/* wait, as callout_drain() does */
#define CS_EXECUTING	0x0002	/* return 1 instead of 0 if the handler runs */

/* FreeBSD's callout_stop(), callout_drain() and callout_async_drain() in one. */
static inline int _callout_stop_safe(struct callout *c, int flags,
				     callout_func_t *drain)
{
	int ret;

	if (flags & CS_DRAIN)
		ret = callout_drain(c);
	else if (drain)
		ret = callout_async_drain(c, drain);
	else
		ret = callout_stop(c);
	return ret ?: !!(flags & CS_EXECUTING);
}

/*
 * callout(9) with an rmlock. Handlers take it without sleeping, for reading if
 * CALLOUT_SHAREDLOCK is given. Linux's corresponding lock is the rwlock_t. Its
 * percpu_rw_semaphore, whose readers are as cheap as an rmlock's, sleeps.
 */
#define callout_init_rm(c, rm, flags)	callout_init_rw(c, rm, flags)

/* Include it last: it defines macros with common names. */
#include <linux/callout_hz.h>

#endif /* _LINUX_CALLOUT_BSD_H */
