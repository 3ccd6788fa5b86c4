// SPDX-License-Identifier: GPL-2.0
/*
 * openbsd.c - OpenBSD's timeout(9)
 *
 * Each setting is accounted for once, also while an earlier setting's handler runs:
 * struct callout_work does that. Handlers in softirq context run on the first CPU,
 * one at a time, as OpenBSD's softclock() does on its primary CPU. If the first CPU
 * changes while a handler runs, Giant keeps the handlers apart.
 */
#include <linux/callout_openbsd.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include "work.h"

/* callout_openbsd_set_flags() calls this. */
void callout_openbsd_setup(struct timeout *to, callout_func_t *func, void *arg,
			   int kclock, int flags)
{
	to->w.func = func;
	to->w.arg = arg;
	to->w.cpu = flags & TIMEOUT_PROC ? CALLOUT_WORK_STAY :
					   CALLOUT_WORK_FIRST;
	to->kclock = kclock;
	to->flags = flags | TIMEOUT_INITIALIZED;
}
EXPORT_SYMBOL_GPL(callout_openbsd_setup);

/* Is @to initialised, for this clock? OpenBSD asserts it. */
static bool co_openbsd_is_for(struct timeout *to, int kclock)
{
	return !WARN_ONCE(!(to->flags & TIMEOUT_INITIALIZED) ||
			  to->kclock != kclock,
			  "callout: timeout not initialised, or for another clock\n");
}

/**
 * callout_openbsd_add() - Set a timeout, or move it to another time.
 * @to: the timeout
 * @distance: ticks from now; less than 1 counts as 1
 *
 * OpenBSD's timeout_add().
 *
 * Context: Any but NMI.
 * Return: 1 if the timeout was not pending, so there is one setting more; else 0.
 */
int callout_openbsd_add(struct timeout *to, int distance)
{
	if (!co_openbsd_is_for(to, KCLOCK_NONE))
		return 0;
	return !callout_work_reset(&to->w, distance, NULL, NULL);
}
EXPORT_SYMBOL_GPL(callout_openbsd_add);

/**
 * callout_openbsd_add_nsec() - Set a timeout for a number of nanoseconds.
 * @to: the timeout
 * @ns: nanoseconds before which the timeout does not run; at most INT_MAX ticks
 *
 * OpenBSD's timeout_add_nsec(): rounded up to ticks, and one more tick for the
 * present tick, which is partly over.
 *
 * Context: Any but NMI.
 * Return: as callout_openbsd_add().
 */
int callout_openbsd_add_nsec(struct timeout *to, u64 ns)
{
	u64 distance = div64_u64(ns, callout_tick_ns());

	if (distance * callout_tick_ns() != ns)
		distance++;
	return callout_openbsd_add(to, min_t(u64, distance + 1, INT_MAX));
}
EXPORT_SYMBOL_GPL(callout_openbsd_add_nsec);

/* Set a timeout for @number times @unit ns. */
static int co_openbsd_add_units(struct timeout *to, u64 number, u32 unit)
{
	u64 ns;

	if (check_mul_overflow(number, (u64)unit, &ns))
		ns = U64_MAX;
	return callout_openbsd_add_nsec(to, ns);
}

/**
 * callout_openbsd_add_sec() - Set a timeout for a number of seconds.
 * @to: the timeout
 * @seconds: the timeout does not run before they have passed; less than 0 counts as
 *	0
 *
 * OpenBSD's timeout_add_sec(), see callout_openbsd_add_nsec().
 *
 * Context: Any but NMI.
 * Return: as callout_openbsd_add().
 */
int callout_openbsd_add_sec(struct timeout *to, int seconds)
{
	return co_openbsd_add_units(to, max(seconds, 0), NSEC_PER_SEC);
}
EXPORT_SYMBOL_GPL(callout_openbsd_add_sec);

/**
 * callout_openbsd_add_msec() - Set a timeout for a number of milliseconds.
 * @to: the timeout
 * @ms: the timeout does not run before they have passed
 *
 * OpenBSD's timeout_add_msec(), see callout_openbsd_add_nsec().
 *
 * Context: Any but NMI.
 * Return: as callout_openbsd_add().
 */
int callout_openbsd_add_msec(struct timeout *to, u64 ms)
{
	return co_openbsd_add_units(to, ms, NSEC_PER_MSEC);
}
EXPORT_SYMBOL_GPL(callout_openbsd_add_msec);

/**
 * callout_openbsd_add_usec() - Set a timeout for a number of microseconds.
 * @to: the timeout
 * @us: the timeout does not run before they have passed
 *
 * OpenBSD's timeout_add_usec(), see callout_openbsd_add_nsec().
 *
 * Context: Any but NMI.
 * Return: as callout_openbsd_add().
 */
int callout_openbsd_add_usec(struct timeout *to, u64 us)
{
	return co_openbsd_add_units(to, us, NSEC_PER_USEC);
}
EXPORT_SYMBOL_GPL(callout_openbsd_add_usec);

/**
 * callout_openbsd_add_parts() - Set a timeout for seconds and nanoseconds.
 * @to: the timeout
 * @seconds: the timeout does not run before they have passed
 * @ns: nanoseconds to add to @seconds; a negative sum counts as 0
 *
 * OpenBSD's timeout_add_tv() and timeout_add_ts() until OpenBSD dropped them, but
 * rounded as in callout_openbsd_add_nsec().
 *
 * Context: Any but NMI.
 * Return: as callout_openbsd_add().
 */
int callout_openbsd_add_parts(struct timeout *to, s64 seconds, s64 ns)
{
	s64 sum;

	if (check_mul_overflow(seconds, (s64)NSEC_PER_SEC, &sum) ||
	    check_add_overflow(sum, ns, &sum))
		sum = seconds < 0 ? 0 : S64_MAX;
	return callout_openbsd_add_nsec(to, max_t(s64, sum, 0));
}
EXPORT_SYMBOL_GPL(callout_openbsd_add_parts);

/**
 * callout_openbsd_abs() - Set a timeout for a time since boot.
 * @to: the timeout, for KCLOCK_UPTIME
 * @seconds: the time, of CLOCK_MONOTONIC
 * @ns: nanoseconds to add to @seconds, less than a second
 *
 * OpenBSD's timeout_abs_ts(). The timeout does not run before that time. If the
 * time has passed it runs at the next tick.
 *
 * Context: Any but NMI.
 * Return: as callout_openbsd_add().
 */
int callout_openbsd_abs(struct timeout *to, s64 seconds, s64 ns)
{
	sbintime_t sbt = SBT_MAX;
	int cpu = -1;

	if (!co_openbsd_is_for(to, KCLOCK_UPTIME))
		return 0;
	if (seconds < 0)
		sbt = 0;
	else if (seconds <= S32_MAX)
		/* Round up, so that the timeout is not early. */
		sbt = (seconds << 32) +
		      DIV_ROUND_UP_ULL((u64)ns << 32, NSEC_PER_SEC);
	if (to->w.cpu == CALLOUT_WORK_FIRST)
		cpu = cpumask_first(cpu_online_mask);
	return !callout_work_reset_sbt_on(&to->w, sbt, 0, NULL, NULL, cpu,
					  C_ABSOLUTE);
}
EXPORT_SYMBOL_GPL(callout_openbsd_abs);

/**
 * callout_openbsd_del() - Cancel a timeout.
 * @to: the timeout
 *
 * Does not wait for a running handler. OpenBSD's timeout_del().
 *
 * Context: Any but NMI.
 * Return: 1 if the timeout was pending, and that setting does not run, also while an
 * earlier setting's handler runs; else 0.
 */
int callout_openbsd_del(struct timeout *to)
{
	return callout_work_cancel(&to->w).set;
}
EXPORT_SYMBOL_GPL(callout_openbsd_del);

/**
 * callout_openbsd_barrier() - Wait for a running handler.
 * @to: the timeout
 *
 * Cancels nothing. OpenBSD's timeout_barrier().
 *
 * Context: Process context, may sleep; not the handler, and without a lock that
 * the handler takes.
 */
void callout_openbsd_barrier(struct timeout *to)
{
	callout_work_barrier(&to->w);
}
EXPORT_SYMBOL_GPL(callout_openbsd_barrier);

/**
 * callout_openbsd_del_barrier() - Cancel a timeout and wait for its handler.
 * @to: the timeout
 *
 * Unlike a drain this does not keep others, or the handler, from setting the
 * timeout again. OpenBSD's timeout_del_barrier().
 *
 * Context: As callout_openbsd_barrier().
 * Return: as callout_openbsd_del().
 */
int callout_openbsd_del_barrier(struct timeout *to)
{
	int ret = callout_openbsd_del(to);

	callout_openbsd_barrier(to);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_openbsd_del_barrier);

/**
 * callout_openbsd_pending() - Is the timeout set, and its handler not started?
 * @to: the timeout
 *
 * OpenBSD's timeout_pending().
 *
 * Context: Any but NMI.
 * Return: 1 if it is pending, else 0; a snapshot.
 */
int callout_openbsd_pending(struct timeout *to)
{
	return callout_work_pending(&to->w);
}
EXPORT_SYMBOL_GPL(callout_openbsd_pending);

/**
 * callout_openbsd_initialized() - Is the timeout initialised?
 * @to: the timeout, or zeroed memory
 *
 * OpenBSD's timeout_initialized().
 *
 * Context: Any but NMI.
 * Return: 1 if it is initialised, else 0.
 */
int callout_openbsd_initialized(struct timeout *to)
{
	return !!(to->flags & TIMEOUT_INITIALIZED);
}
EXPORT_SYMBOL_GPL(callout_openbsd_initialized);

/**
 * callout_openbsd_triggered() - Has the handler started?
 * @to: the timeout
 *
 * OpenBSD's timeout_triggered().
 *
 * Context: Any but NMI.
 * Return: 1 if the handler has started since the timeout was last set or cancelled,
 * else 0; a snapshot.
 */
int callout_openbsd_triggered(struct timeout *to)
{
	return !!(READ_ONCE(to->w.past) & CALLOUT_WORK_FIRED);
}
EXPORT_SYMBOL_GPL(callout_openbsd_triggered);
