// SPDX-License-Identifier: GPL-2.0
/*
 * tick.c - the tick sources: how a base learns that a tick has come
 *
 * In BSD the clock interrupt calls hardclock(), which has softclock() run when
 * a callout is due. A Linux module has no hook in the tick itself; the nearest
 * thing that runs from it is a pinned timer_list, so with tick_source=jiffies
 * each base has one. With tick_source=hrtimer it is a pinned hrtimer, for
 * ticks that are finer than the kernel's. Either is set only for a tick at
 * which something can be due: an idle base has no timer and wakes nobody up.
 *
 * The time of the first is the kernel's jiffies, 64 bits of them: it changes
 * at the same edge that runs the timer. The time of the second is
 * CLOCK_MONOTONIC divided by the length of a tick. Both are the same on all
 * CPUs, and however late a wake-up is, they say how many ticks have passed.
 *
 * The kernel's timer wheel fires a far timer late, up to an eighth of its
 * distance: it has 9 levels with granules of 1, 8, 64, ... ticks, and rounds
 * up to the end of a granule. To be exact, this goes in hops. Level i takes
 * what is less than 63 << 3i ticks away, and a timer for e in it fires at
 * ((e >> 3i) + 1) << 3i. So for tick T the timer is set for the last granule
 * edge up to T, by e = (T >> 3i << 3i) - 1, and from there, nearer now, it is
 * set again. That is one wake-up a level at most.
 *
 * Who arms a callout of another CPU must get that CPU's timer set there.
 * add_timer_on() does; for a pinned hrtimer the CPU must do it itself, so it
 * is sent an interrupt.
 */
#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include "core.h"
#include "kcompat.h"
#include "tick.h"

/* The kernel's LVL_CLK_SHIFT. */
#define LEVEL_SHIFT	3

/*
 * The kernel's LVL_SIZE is 64 and its levels take up to 63 granules. That
 * counts from the clock of the kernel's wheel, which can be some ticks behind
 * jiffies when the timer softirq is late: leave room for that.
 */
#define LEVEL_REACH	56

/* The level above which granules are too far away for either HZ. */
#define MAX_SHIFT	(LEVEL_SHIFT * 7)

static u64 jiffies_now(struct callout_base *base)
{
	return get_jiffies_64();
}

/* What to set a timer_list to, so that it fires at @tick or a hop before. */
static unsigned long jiffies_hop(u64 now, u64 tick)
{
	unsigned int shift;

	/* Set for the present jiffy it fires at the next. */
	if (tick <= now + 1)
		return now;
	for (shift = 0; shift < MAX_SHIFT; shift += LEVEL_SHIFT)
		if (tick - now <= (u64)LEVEL_REACH << shift)
			break;
	tick = min(tick, now + ((u64)LEVEL_REACH << shift));
	return (tick >> shift << shift) - 1;
}

static void jiffies_program(struct callout_base *base, u64 tick)
{
	u64 now = jiffies_now(base);
	unsigned long expires = jiffies_hop(now, tick);

	lockdep_assert_held(&base->lock);
	if (base->cpu == smp_processor_id()) {
		/*
		 * What has come already has no edge of jiffies to wait for. But
		 * with the base locked no task may be woken, as ksoftirqd would
		 * be from where softirqs are on; there, this is rare.
		 */
		if (unlikely(tick <= now) && in_interrupt())
			tasklet_schedule(&base->again);
		else
			mod_timer(&base->timer, expires);
		return;
	}
	/* mod_timer() would pull the timer to this CPU. */
	timer_delete(&base->timer);
	base->timer.expires = expires;
	add_timer_on(&base->timer, base->cpu);
}

/*
 * It stays the same, as the kernel advances jiffies by the clock; but that can
 * be late, when nobody gets to do it, and then the jiffy tells an earlier time
 * than it is. So each look at both gives a time that is not before jiffy 0, and
 * the least of them is less than a tick after it if any of the looks was taken
 * in time. (A kernel with a periodic tick that loses ticks never makes up for
 * them. There what is set by the clock comes late, by so many ticks. One whose
 * tick is fast, or that has not advanced jiffies when the module is loaded, has
 * the least fall later on: what was set by the clock before then is early by
 * that, so expiry looks at the clock, callout_postpone() and file_postpone().)
 */
atomic64_t callout_jiffy_zero = ATOMIC64_INIT(S64_MAX);
EXPORT_SYMBOL_IF_KUNIT(callout_jiffy_zero);

static void jiffies_look(void)
{
	u64 jiffy = get_jiffies_64();
	s64 zero, least;

	/* The clock after jiffies: what passes between makes it later. */
	smp_rmb();
	zero = ktime_get_ns() - jiffy * TICK_NSEC;
	least = atomic64_read(&callout_jiffy_zero);
	while (zero < least)
		if (atomic64_try_cmpxchg(&callout_jiffy_zero, &least, zero))
			break;
}

static void jiffies_timer(struct timer_list *t)
{
	/* Not by this_cpu: the timers of a dead CPU run on another. */
	struct callout_base *base = timer_container_of(base, t, timer);
	bool hop;

	jiffies_look();
	raw_spin_lock_irq(&base->lock);
	hop = base->armed != U64_MAX && base->armed > jiffies_now(base);
	if (hop) {
		base->stats.hops++;
		jiffies_program(base, base->armed);
	}
	raw_spin_unlock_irq(&base->lock);
	if (!hop)
		callout_softclock(base);
}

static void jiffies_init(struct callout_base *base)
{
	jiffies_look();
	timer_setup(&base->timer, jiffies_timer, TIMER_PINNED);
}

static void jiffies_shutdown(struct callout_base *base)
{
	timer_shutdown_sync(&base->timer);
}

const struct callout_tick_source callout_tick_jiffies = {
	.name		= "jiffies",
	.now		= jiffies_now,
	.from_ns	= callout_jiffies_from_ns,
	.init		= jiffies_init,
	.program	= jiffies_program,
	.shutdown	= jiffies_shutdown,
};
EXPORT_SYMBOL_IF_KUNIT(callout_tick_jiffies);

static u64 tick_ns = TICK_NSEC;

static u64 hrtimer_now(struct callout_base *base)
{
	return div64_u64(ktime_get_ns(), tick_ns);
}

static void hrtimer_set(struct callout_base *base)
{
	/* Past what ktime_t can say is as good as never. */
	u64 tick = min_t(u64, base->armed, div64_u64(KTIME_MAX, tick_ns));

	hrtimer_start(&base->hrtimer, ns_to_ktime(tick * tick_ns),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Runs on the base's CPU, in a hard interrupt. A dead base has armed 0. */
static void hrtimer_kicked(void *arg)
{
	struct callout_base *base = arg;

	raw_spin_lock(&base->lock);
	base->kicked = false;
	if (base->armed && base->armed != U64_MAX)
		hrtimer_set(base);
	raw_spin_unlock(&base->lock);
}

static void hrtimer_program(struct callout_base *base, u64 tick)
{
	lockdep_assert_held(&base->lock);
	if (base->cpu == smp_processor_id())
		hrtimer_set(base);
	else if (!base->kicked)
		/*
		 * One that is on its way already will see base->armed. It fails
		 * only where callout_cpu_dead() is going to come.
		 */
		base->kicked = !smp_call_function_single_async(base->cpu,
							       &base->kick);
}

static enum hrtimer_restart hrtimer_tick(struct hrtimer *timer)
{
	struct callout_base *base = container_of(timer, struct callout_base,
						 hrtimer);

	if (!base->tick->interrupt || base->tick->interrupt(base))
		callout_softclock(base);
	return HRTIMER_NORESTART;
}

static void hrtimer_tick_init(struct callout_base *base)
{
	hrtimer_setup(&base->hrtimer, hrtimer_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	INIT_CSD(&base->kick, hrtimer_kicked, base);
}

static bool hrtimer_is_kicked(struct callout_base *base)
{
	bool kicked;

	raw_spin_lock_irq(&base->lock);
	kicked = base->kicked;
	raw_spin_unlock_irq(&base->lock);
	return kicked;
}

/*
 * The base is going to be freed, or its CPU is dead. A kick may be on its way
 * to a CPU that takes no interrupt for a while. A call that waits is no barrier
 * for it, since a CPU runs those first of what it finds queued, nor is one to
 * the CPU that this runs on, where the call is direct:
 *
 *	CPU0: shutdown				CPU1: interrupts off
 *	(the kick is queued)
 *	smp_call_function_single(1, wait)
 *						takes the interrupt, finds both,
 *						runs what is waited for
 *	returns, frees the base
 *						runs the kick: lock(freed base)
 *
 * So this waits for the kick itself. None comes after it: base->armed is 0, or
 * CPUs that are not online are not kicked.
 */
static void hrtimer_tick_shutdown(struct callout_base *base)
{
	while (hrtimer_is_kicked(base))
		schedule_timeout_uninterruptible(1);
	hrtimer_cancel(&base->hrtimer);
}

static u64 hrtimer_from_ns(u64 due, u64 now)
{
	u64 tick = div64_u64(due + tick_ns - 1, tick_ns);

	return max(tick, div64_u64(now, tick_ns) + 1);
}

const struct callout_tick_source callout_tick_hrtimer = {
	.name		= "hrtimer",
	.now		= hrtimer_now,
	.from_ns	= hrtimer_from_ns,
	.init		= hrtimer_tick_init,
	.program	= hrtimer_program,
	.shutdown	= hrtimer_tick_shutdown,
};
EXPORT_SYMBOL_IF_KUNIT(callout_tick_hrtimer);

/**
 * callout_tick_set_hz - sets the length of a tick
 * @tick: the source that is going to be used
 * @hz: ticks a second; 0 for the kernel's HZ
 *
 * Return: 0, or -EINVAL if @tick cannot have that many.
 */
int callout_tick_set_hz(const struct callout_tick_source *tick, unsigned int hz)
{
	if (!hz)
		hz = HZ;
	if (tick == &callout_tick_jiffies && hz != HZ)
		return -EINVAL;
	if (hz > CALLOUT_MAX_HZ)
		return -EINVAL;
	tick_ns = hz == HZ ? TICK_NSEC : NSEC_PER_SEC / hz;
	return 0;
}

/**
 * callout_tick_ns - how long a tick is
 *
 * Return: the length in ns.
 */
u64 callout_tick_ns(void)
{
	return tick_ns;
}
EXPORT_SYMBOL_IF_KUNIT(callout_tick_ns);
