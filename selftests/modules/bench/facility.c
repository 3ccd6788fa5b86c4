// SPDX-License-Identifier: GPL-2.0
/*
 * facility.c - the facilities whose expiry tick.c measures
 *
 * All handlers do the same: they increment bench_ran, and if bench_periodic is
 * set they set their timer again, a tick later. They differ in the context of a
 * handler, and in the costs that the tick of "none", which is subtracted,
 * already includes:
 *
 *	callout		in the timer softirq of the kernel's tick, as timer_list.
 *	timer_list	That tick comes anyway, and counts for "none".
 *	hrtimer		in a separate interrupt, which is counted, with the
 *			programming of the clock event device before and after.
 *			Interrupts are off in the handler.
 *	hrtimer_soft	in the softirq that such an interrupt raises
 *	callout_hrtimer	as hrtimer_soft, which tick_source=hrtimer uses
 *
 * So an expiry of a callout costs less than an expiry of a hrtimer, as long as
 * the CPU has its tick. On a CPU that sleeps, callout and timer_list need an
 * interrupt too. callout_hrtimer and hrtimer are due at about the middle of a
 * tick, and share no interrupt with it.
 *
 * Instructions do not show the processor's cost of entering an interrupt or
 * accessing a clock event device. On hardware both cost more than here.
 *
 * handle and compat are the same callouts, set by setcallout() and timeout().
 * Their expiry also gives the slot back, and removes it from the hash.
 */
#include <linux/jiffies.h>
#include <linux/random.h>
#include "bench.h"
#include "kcompat.h"

unsigned int bench_ran;
bool bench_periodic;

static void none_set(union bench_timer *t, unsigned long ticks, ktime_t now)
{
	bench_ran++;
}

static void none_cancel(union bench_timer *t)
{
}

static void callout_note(void *arg)
{
	union bench_timer *t = arg;

	bench_ran++;
	if (unlikely(bench_periodic))
		callout_schedule(&t->callout, callout_hz() / HZ);
}

static void callout_set(union bench_timer *t, unsigned long ticks, ktime_t now)
{
	callout_init(&t->callout, CALLOUT_MPSAFE);
	callout_reset(&t->callout, ticks, callout_note, t);
}

static void callout_cancel(union bench_timer *t)
{
	callout_drain(&t->callout);
}

/* In ticks of the tick source. A tick of the kernel has several of them. */
static void source_set(union bench_timer *t, unsigned long ticks, ktime_t now)
{
	unsigned int each = callout_hz() / HZ;

	callout_set(t, ticks * each + each / 2, now);
}

static void handle_note(void *arg)
{
	union bench_timer *t = arg;

	bench_ran++;
	if (unlikely(bench_periodic))
		t->handle = setcallout(handle_note, t, 1);
}

static void handle_set(union bench_timer *t, unsigned long ticks, ktime_t now)
{
	t->handle = setcallout(handle_note, t, ticks);
}

static void handle_cancel(union bench_timer *t)
{
	unsetcallout(t->handle);
}

static void compat_note(void *arg)
{
	bench_ran++;
	if (unlikely(bench_periodic))
		callout_timeout(compat_note, arg, 1);
}

/* Arguments are random: see ops.c. */
static void compat_set(union bench_timer *t, unsigned long ticks, ktime_t now)
{
	t->arg = (void *)get_random_long();
	callout_timeout(compat_note, t->arg, ticks);
}

static void compat_cancel(union bench_timer *t)
{
	callout_untimeout(compat_note, t->arg);
}

static void timer_note(struct timer_list *t)
{
	bench_ran++;
	if (unlikely(bench_periodic))
		mod_timer(t, jiffies);
}

static void timer_set(union bench_timer *t, unsigned long ticks, ktime_t now)
{
	/* This timer fires one tick after its time. */
	timer_setup(&t->timer, timer_note, TIMER_PINNED);
	mod_timer(&t->timer, jiffies + ticks - 1);
}

static void timer_cancel(union bench_timer *t)
{
	timer_delete_sync(&t->timer);
}

static enum hrtimer_restart hrtimer_note(struct hrtimer *t)
{
	bench_ran++;
	if (likely(!bench_periodic))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(t, TICK_NSEC);
	return HRTIMER_RESTART;
}

static void start_hrtimer(struct hrtimer *t, unsigned long ticks, ktime_t now,
			  enum hrtimer_mode mode)
{
	hrtimer_setup(t, hrtimer_note, CLOCK_MONOTONIC, mode);
	hrtimer_start(t, ktime_add_ns(now, (u64)ticks * TICK_NSEC +
				      TICK_NSEC / 2), mode);
}

static void hrtimer_set(union bench_timer *t, unsigned long ticks, ktime_t now)
{
	start_hrtimer(&t->hrtimer, ticks, now, HRTIMER_MODE_ABS_PINNED);
}

static void soft_set(union bench_timer *t, unsigned long ticks, ktime_t now)
{
	start_hrtimer(&t->hrtimer, ticks, now, HRTIMER_MODE_ABS_PINNED_SOFT);
}

static void cancel_hrtimer(union bench_timer *t)
{
	hrtimer_cancel(&t->hrtimer);
}

/* hrtimers do not depend on jiffies, so they have no jump. */
const struct bench_facility bench_facilities[] = {
	{ "none", none_set, none_cancel, .idle = true, .jumps = true },
	{ "callout", callout_set, callout_cancel, .idle = true, .jumps = true },
	{ "handle", handle_set, handle_cancel },
	{ "compat", compat_set, compat_cancel },
	{ "timer_list", timer_set, timer_cancel, .idle = true, .jumps = true },
	{ "hrtimer", hrtimer_set, cancel_hrtimer, .idle = true },
	{ "hrtimer_soft", soft_set, cancel_hrtimer, .idle = true },
	{}
};

const struct bench_facility bench_hrtimer_source[] = {
	{ "none", none_set, none_cancel },
	{ "callout_hrtimer", source_set, callout_cancel, .idle = true },
	{}
};
