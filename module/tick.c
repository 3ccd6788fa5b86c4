// SPDX-License-Identifier: GPL-2.0
/*
 * tick.c - the tick source: how a base learns that a tick has come
 *
 * In BSD the clock interrupt calls hardclock(), which has softclock() run when
 * a callout is due. A Linux module has no hook in the tick itself; the nearest
 * thing that runs from it is a pinned timer_list, so each base has one. It is
 * set only for a tick at which something can be due: an idle base has no timer
 * and wakes nobody up.
 *
 * The time is the kernel's jiffies, 64 bits of them: it changes at the same
 * edge that runs the timer. It is the same on all CPUs, and however late a
 * wake-up is, it says how many ticks have passed.
 *
 * The kernel's timer wheel fires a far timer late, up to an eighth of its
 * distance: it has 9 levels with granules of 1, 8, 64, ... ticks, and rounds
 * up to the end of a granule. To be exact, this goes in hops. Level i takes
 * what is less than 63 << 3i ticks away, and a timer for e in it fires at
 * ((e >> 3i) + 1) << 3i. So for tick T the timer is set for the last granule
 * edge up to T, by e = (T >> 3i << 3i) - 1, and from there, nearer now, it is
 * set again. That is one wake-up a level at most.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
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
	unsigned long expires = jiffies_hop(get_jiffies_64(), tick);

	lockdep_assert_held(&base->lock);
	if (base->index == smp_processor_id()) {
		mod_timer(&base->timer, expires);
		return;
	}
	/* mod_timer() would pull the timer to this CPU. */
	timer_delete(&base->timer);
	base->timer.expires = expires;
	add_timer_on(&base->timer, base->index);
}

static void jiffies_timer(struct timer_list *t)
{
	/* Not by this_cpu: the timers of a dead CPU run on another. */
	struct callout_base *base = timer_container_of(base, t, timer);
	bool hop;

	raw_spin_lock_irq(&base->lock);
	hop = base->armed != U64_MAX && base->armed > get_jiffies_64();
	if (hop) {
		base->hops++;
		jiffies_program(base, base->armed);
	}
	raw_spin_unlock_irq(&base->lock);
	if (!hop)
		callout_softclock(base);
}

static void jiffies_init(struct callout_base *base)
{
	timer_setup(&base->timer, jiffies_timer, TIMER_PINNED);
}

static void jiffies_shutdown(struct callout_base *base)
{
	timer_shutdown_sync(&base->timer);
}

const struct callout_tick_source callout_tick_jiffies = {
	.name		= "jiffies",
	.tick_ns	= TICK_NSEC,
	.now		= jiffies_now,
	.init		= jiffies_init,
	.program	= jiffies_program,
	.shutdown	= jiffies_shutdown,
};
EXPORT_SYMBOL_IF_KUNIT(callout_tick_jiffies);

/**
 * callout_tick_from_ns - the tick at which a time will have come
 * @base: the base whose ticks are meant
 * @due: a time, in ns
 * @now: the present time of the same clock, in ns
 *
 * The present tick began at some time up to @now, so that many tick lengths
 * from it, rounded up, plus one, are never early. Where in the present tick
 * @now is would spare the one, but is not known to a module.
 *
 * Context: Any.
 * Return: a tick after the present one.
 */
u64 callout_tick_from_ns(struct callout_base *base, u64 due, u64 now)
{
	u64 tick = callout_now(base) + 1;

	if (due > now)
		tick += div64_u64(due - now + base->tick->tick_ns - 1,
				  base->tick->tick_ns);
	return tick;
}
