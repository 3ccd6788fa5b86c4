/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timeout.h - timeout(9) by the names of OpenBSD
 *
 * For files that come from OpenBSD, with -I.../include/bsd/openbsd. Include it
 * after all headers of Linux.
 *
 * The file must define the structures with a time: they need the members tv_sec and
 * tv_usec, or tv_nsec.
 */
#ifndef _CALLOUT_OPENBSD_SYS_TIMEOUT_H
#define _CALLOUT_OPENBSD_SYS_TIMEOUT_H

#include <linux/callout_openbsd.h>
#include <linux/callout_hz.h>

#define timeout_set_flags	callout_openbsd_set_flags
#define timeout_set(to, func, arg)	\
	callout_openbsd_set_flags(to, func, arg, KCLOCK_NONE, 0)
#define timeout_set_proc(to, func, arg)	\
	callout_openbsd_set_flags(to, func, arg, KCLOCK_NONE, TIMEOUT_PROC)
#define TIMEOUT_INITIALIZER_FLAGS	CALLOUT_OPENBSD_INITIALIZER
#define TIMEOUT_INITIALIZER(func, arg)	\
	CALLOUT_OPENBSD_INITIALIZER(func, arg, KCLOCK_NONE, 0)

#define timeout_add		callout_openbsd_add
#define timeout_add_sec		callout_openbsd_add_sec
#define timeout_add_msec	callout_openbsd_add_msec
#define timeout_add_usec	callout_openbsd_add_usec
#define timeout_add_nsec	callout_openbsd_add_nsec
#define timeout_add_tv(to, tv)						\
({									\
	typeof(tv) __tv = (tv);						\
									\
	callout_openbsd_add_parts(to, __tv->tv_sec,			\
				  __tv->tv_usec * 1000L);		\
})
#define timeout_add_ts(to, ts)						\
({									\
	typeof(ts) __ts = (ts);						\
									\
	callout_openbsd_add_parts(to, __ts->tv_sec, __ts->tv_nsec);	\
})
#define timeout_abs_ts(to, ts)						\
({									\
	typeof(ts) __ts = (ts);						\
									\
	callout_openbsd_abs(to, __ts->tv_sec, __ts->tv_nsec);		\
})

#define timeout_del		callout_openbsd_del
#define timeout_del_async	callout_openbsd_del_async
#define timeout_del_barrier	callout_openbsd_del_barrier
#define timeout_barrier		callout_openbsd_barrier
#define timeout_pending		callout_openbsd_pending
#define timeout_initialized	callout_openbsd_initialized
#define timeout_triggered	callout_openbsd_triggered

#endif /* _CALLOUT_OPENBSD_SYS_TIMEOUT_H */
