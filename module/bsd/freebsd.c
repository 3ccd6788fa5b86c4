// SPDX-License-Identifier: GPL-2.0
/*
 * freebsd.c - callout(9)'s functions with a sbintime_t and a precision
 *
 * From FreeBSD's callout(9), release 10 and later. Its sbinuptime() is
 * CLOCK_MONOTONIC here. Handlers run at ticks: a callout is never early. As long as
 * its CPU is free it is late by at most its precision and two ticks, or one tick
 * with tick_source=hrtimer. Where a periodic tick loses ticks, the ticks lost while
 * the callout is pending are added.
 */
#include <linux/callout.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include "core/queue.h"
#include "base/tick.h"
#include "work.h"

/* The length of a tick for callouts of kernel code. */
u64 callout_tick_ns(void)
{
	return co_base(0)->tick_ns;
}
EXPORT_SYMBOL_GPL(callout_tick_ns);

/* Convert to nanoseconds, rounded up; 0 if @sbt is negative. */
static u64 sbt_to_ns(sbintime_t sbt)
{
	u64 seconds, fraction;

	if (sbt <= 0)
		return 0;
	seconds = sbt >> 32;
	fraction = (u32)sbt * (u64)NSEC_PER_SEC;
	return seconds * NSEC_PER_SEC + ((fraction + U32_MAX) >> 32);
}

static sbintime_t sbt_from_ns(u64 ns)
{
	u32 rest;
	u64 seconds = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	return seconds << 32 | div_u64((u64)rest << 32, NSEC_PER_SEC);
}

static sbintime_t sbt_add(sbintime_t a, sbintime_t b)
{
	sbintime_t sum;

	return check_add_overflow(a, b, &sum) ? SBT_MAX : sum;
}

/* The precision, given as a number or by C_PREL(). */
static sbintime_t sbt_precision(sbintime_t sbt, sbintime_t pr, int flags)
{
	int shift = C_PRELGET(flags);

	pr = max_t(sbintime_t, pr, 0);
	/* As in FreeBSD, a fraction applies to a relative time only. */
	if (!(flags & C_ABSOLUTE) && shift >= 0 && shift < 63)
		pr = max(pr, sbt >> shift);
	return pr;
}

/**
 * callout_sbinuptime() - Return the time since boot.
 *
 * FreeBSD's sbinuptime().
 *
 * Context: Any but NMI.
 * Return: CLOCK_MONOTONIC.
 */
sbintime_t callout_sbinuptime(void)
{
	return sbt_from_ns(ktime_get_ns());
}
EXPORT_SYMBOL_GPL(callout_sbinuptime);

/**
 * callout_when() - Compute an absolute time and precision, for repeated use.
 * @sbt: a time, relative or with C_ABSOLUTE since boot
 * @pr: precision: how much later the callout may run
 * @flags: C_ABSOLUTE, C_PREL(), C_HARDCLOCK, C_PRECALC
 * @sbt_res: the resulting time since boot
 * @pr_res: the resulting precision
 *
 * The results are for callout_reset_sbt_on() and variants with C_PRECALC. From
 * FreeBSD's callout(9), release 11.1 and later. With C_HARDCLOCK the time is
 * rounded up to a multiple of a tick. With C_ABSOLUTE or C_PRECALC both arguments
 * are copied.
 *
 * Context: Any but NMI.
 */
void callout_when(sbintime_t sbt, sbintime_t pr, int flags,
		  sbintime_t *sbt_res, sbintime_t *pr_res)
{
	sbintime_t tick = sbt_from_ns(callout_tick_ns());

	*sbt_res = sbt;
	*pr_res = pr;
	if (flags & (C_ABSOLUTE | C_PRECALC))
		return;
	*pr_res = sbt_precision(sbt, pr, flags);
	if (flags & C_HARDCLOCK && sbt < SBT_MAX - tick)
		sbt = max_t(sbintime_t, div64_s64(sbt + tick - 1, tick), 1) *
		      tick;
	*sbt_res = sbt_add(callout_sbinuptime(), sbt);
}
EXPORT_SYMBOL_GPL(callout_when);

/* Ticks in a duration, rounded up; at least 1. */
static u64 sbt_to_ticks(sbintime_t sbt)
{
	u64 ns = sbt_to_ns(sbt);

	return max_t(u64, div64_u64(ns + callout_tick_ns() - 1,
				    callout_tick_ns()), 1);
}

/* The span in which a callout set for @sbt may run: see callout_reset_sbt_on(). */
struct callout_span co_span_of(sbintime_t sbt, sbintime_t pr, int flags)
{
	struct callout_span span;

	if (flags & C_PRECALC)
		flags = C_ABSOLUTE;
	else
		pr = sbt_precision(sbt, pr, flags);
	span.ticks = flags & C_HARDCLOCK && !(flags & C_ABSOLUTE);
	if (span.ticks) {
		span.first = sbt_to_ticks(sbt);
		span.last = sbt_to_ticks(sbt_add(max_t(sbintime_t, sbt, 0),
						 pr));
	} else {
		if (!(flags & C_ABSOLUTE))
			sbt = sbt_add(callout_sbinuptime(), sbt);
		span.first = sbt_to_ns(sbt);
		span.last = sbt_to_ns(sbt_add(max_t(sbintime_t, sbt, 0), pr));
	}
	return span;
}

/**
 * callout_reset_sbt_on() - Set a callout for a time and with a precision.
 * @c: the callout
 * @sbt: the time, relative or with C_ABSOLUTE since boot; if it has passed, the
 *	callout runs at the next tick
 * @pr: precision: how much later than @sbt the callout may run, so that it can
 *	share a tick with others
 * @func: the handler, or NULL to keep the present one
 * @arg: the handler's argument
 * @cpu: the CPU on which the handler will run, or -1 for the callout's present CPU
 * @flags: C_ABSOLUTE; C_HARDCLOCK: count a relative time in ticks from the present
 *	tick, as callout_reset() does; C_PREL(n): the precision is a relative @sbt
 *	shifted right by n if that is more than @pr; C_PRECALC: @sbt and @pr are
 *	from callout_when(); C_DIRECT_EXEC: no effect, as handlers never wait for a
 *	thread
 *
 * From FreeBSD's callout(9), release 10 and later.
 *
 * Context: As callout_reset().
 * Return: As callout_reset().
 */
int callout_reset_sbt_on(struct callout *c, sbintime_t sbt, sbintime_t pr,
			 callout_func_t *func, void *arg, int cpu, int flags)
{
	struct callout_span span = co_span_of(sbt, pr, flags);

	return co_arm_span(c, &span, func, arg, cpu);
}
EXPORT_SYMBOL_GPL(callout_reset_sbt_on);

/**
 * callout_expires_sbt() - Return the time at which a callout is due.
 * @c: The callout.
 *
 * While a callout that was set for a time is active, that is until it is stopped or
 * deactivated, this returns that time, to a nanosecond. The callout runs less than a
 * tick after this time, or up to its precision later. With tick_source=jiffies it
 * runs less than two ticks after this time, and as many more as a periodic tick loses
 * while the callout is pending. For any other callout this returns the beginning of
 * its tick. With tick_source=jiffies the beginning is known to within a tick, unless
 * jiffies lag the clock at the moment. FreeBSD's users read c_time.
 *
 * Context: Any but NMI.
 * Return: The time since boot, as callout_sbinuptime(), for which @c was set last,
 * whether or not it is still pending; 0 if it was never set; SBT_MAX if that time is
 * later than SBT_MAX.
 */
sbintime_t callout_expires_sbt(struct callout *c)
{
	u64 ns = co_expires_ns(c);

	return ns < (S32_MAX + 1ULL) * NSEC_PER_SEC ? sbt_from_ns(ns) : SBT_MAX;
}
EXPORT_SYMBOL_GPL(callout_expires_sbt);

/**
 * callout_hz() - Return the number of ticks per second.
 *
 * This is hz in <linux/callout_bsd.h>.
 *
 * Context: Any.
 * Return: the kernel's HZ, or with tick_source=hrtimer the module parameter hz.
 */
unsigned int callout_hz(void)
{
	return div64_u64(NSEC_PER_SEC + callout_tick_ns() / 2,
			 callout_tick_ns());
}
EXPORT_SYMBOL_GPL(callout_hz);

/**
 * callout_ticks() - Return the present tick.
 *
 * This is ticks in <linux/callout_bsd.h>.
 *
 * Context: Any but NMI.
 * Return: the number of ticks since some time before the module was loaded.
 */
u64 callout_ticks(void)
{
	return co_now(co_base(0));
}
EXPORT_SYMBOL_GPL(callout_ticks);
