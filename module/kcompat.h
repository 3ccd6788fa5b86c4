/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kcompat.h - the only place that looks at the kernel's version
 *
 * The sources use the newest name of each interface. This file defines these names
 * for older kernels, from 6.1 on.
 */
#ifndef _CALLOUT_KCOMPAT_H
#define _CALLOUT_KCOMPAT_H

#include <linux/alarmtimer.h>
#include <linux/export.h>
#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#ifndef CONFIG_64BIT
#error "callout keeps 64-bit user values in pointers: 64-bit kernels only"
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
static inline bool alarm_start_timer(struct alarm *alarm, ktime_t expires,
				     bool relative)
{
	if (relative)
		alarm_start_relative(alarm, expires);
	else
		alarm_start(alarm, expires);
	return true;
}
#endif

/* From 6.17 on a per-CPU queue is named so. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define WQ_PERCPU		0
#define system_percpu_wq	system_wq
#define system_dfl_wq		system_unbound_wq
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_container_of(var, timer, field)	from_timer(var, timer, field)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}

#define CALLOUT_IMPORT_KUNIT_NS	MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING)
#else
#define CALLOUT_IMPORT_KUNIT_NS	MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING")
#endif

/* The stable releases of 6.1 have the newer names from these releases on. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 158)
/* The caller makes sure that nobody sets the timer again. */
#define timer_shutdown_sync(timer)	del_timer_sync(timer)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 91)
#define timer_delete(timer)		del_timer(timer)
#endif

/* Defined from 6.6 and 6.1.191 on. */
#ifndef __counted_by
#define __counted_by(member)
#endif

/* Does a suspend check how far ahead an RTC's alarm can be set? */
#define CALLOUT_RTC_BOUNDED	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0))

/* The return type of the function of a struct alarm. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define callout_alarm_end_t	enum alarmtimer_restart
#define co_alarm_end()	ALARMTIMER_NORESTART
#else
#define callout_alarm_end_t	void
#define co_alarm_end()	((void)0)
#endif

/*
 * Can commands of io_uring be pending? Before 6.8 a ring that is closed could not
 * cancel them. Before 6.12 nothing is tested.
 */
#define CALLOUT_URING \
	(IS_ENABLED(CONFIG_IO_URING) && \
	 LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0))

/* CALLOUT_URING_WORK defines @name, which io_uring runs in a task and which completes with @ret. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define co_uring_done(cmd, ret, flags)	io_uring_cmd_done(cmd, ret, 0, flags)
#else
#define co_uring_done(cmd, ret, flags)	io_uring_cmd_done(cmd, ret, flags)
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define CALLOUT_URING_WORK(name, ret) \
static void name(struct io_uring_cmd *cmd, unsigned int issue_flags) \
{ \
	co_uring_done(cmd, ret, issue_flags); \
}
#else
#define CALLOUT_URING_WORK(name, ret) \
static void name(struct io_tw_req work, io_tw_token_t token) \
{ \
	co_uring_done(io_uring_cmd_from_tw(work), ret, \
		      IO_URING_CMD_TASK_WORK_ISSUE_FLAGS); \
}
#endif

/*
 * A timer_list of Linux's own drives the facility. In a kernel whose timer_list is
 * a callout, see replaced/, Linux's own timer_list has another name.
 */
#ifndef CONFIG_CALLOUT_TIMERS
#define tick_timer	timer_list
#endif

/*
 * For functions that callout_kunit.ko uses from outside their file, or replaces.
 * With CALLOUT_KUNIT_SEES a VISIBLE_IF_KUNIT function is not static.
 */
#if IS_ENABLED(CONFIG_KUNIT) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#define CALLOUT_KUNIT_SEES
#else
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#define KUNIT_STATIC_STUB_REDIRECT(function, ...)	do {} while (0)
#define VISIBLE_IF_KUNIT				static
#endif

/* A generator of KUnit's parameters. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define CALLOUT_GENERATOR(name)	name(const void *prev, char *desc)
#else
#define CALLOUT_GENERATOR(name) \
	name(struct kunit *test, const void *prev, char *desc)
#endif

#endif /* _CALLOUT_KCOMPAT_H */
