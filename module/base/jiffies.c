// SPDX-License-Identifier: GPL-2.0
/*
 * jiffies.c - the kernel's tick as a tick source
 *
 * In BSD the clock interrupt calls hardclock(), which schedules softclock() when a
 * callout is due. A Linux module has no hook in the tick. The nearest mechanism
 * that runs from the tick is a pinned timer_list. Each base has one, set only for a
 * tick at which something can be due: an idle base has no timer and causes no
 * wake-up.
 *
 * The time is the kernel's jiffies, 64 bits wide. Jiffies change at the edge that
 * runs the timer and are the same on all CPUs. However late a wake-up is, jiffies
 * say how many ticks have passed.
 *
 * The kernel's timer wheel fires a far timer late, up to an eighth of its distance:
 * its levels, 8 with HZ up to 100 and otherwise 9, have granules of 1, 8, 64, ...
 * ticks, and it rounds up to the end of a granule. To be exact, this source goes in
 * hops. Level i takes timers less than 63 << 3i ticks away, and fires a timer for e
 * at ((e >> 3i) + 1) << 3i. So for tick T the timer is set for the last granule
 * edge up to T, by e = (T >> 3i << 3i) - 1, and at that edge, nearer to T, it is
 * set again. That takes at most one wake-up a level within the reach of level 7,
 * and one more for each such distance beyond.
 *
 * Arming a callout of another CPU must program that CPU's timer, which
 * add_timer_on() does.
 *
 * Two classes leave idle CPUs asleep. Their bases use the kernel's own means: a
 * timer_list that is TIMER_DEFERRABLE, and a timer_list that is not pinned. From
 * 6.9 on, when the CPU of a timer_list that is not pinned is idle, another CPU that
 * is awake runs the timer. Before 6.9 the kernel looks for an awake CPU when the
 * timer is set. So expiry of a base of CALLOUT_CLASS_GLOBAL can run on any CPU:
 *
 *	CPU0: the timer of base 2		CPU2: idle, then arms in base 2
 *	co_softclock(base 2): expiring,
 *	armed = 0
 *						files: no expiry is lower than
 *						armed, so the timer stays
 *	programs: mod_timer() of a timer whose
 *	function runs: it stays CPU2's
 *	unlock(base 2)
 *						arms for an earlier tick:
 *						mod_timer() on its own CPU
 *
 * mod_timer() outside the timer's function would take the timer to CPU0. So on any
 * CPU but the base's, expiry continues neither in the irq_work nor in the tasklet,
 * and a CPU arms in its own global base only.
 *
 * A kernel whose own timers are callouts does have a hook in the tick, see
 * replaced/replaced.patch: the tick looks at the bases of its CPU. A callout that
 * this CPU arms while its tick runs sets no timer. A callout sets a timer if it is
 * armed on another CPU or with the tick stopped, or if it is overdue.
 * callout_base.armed is then the tick that the base waits for, whether a timer is
 * set or not.
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/tick.h>
#include "base.h"
#include "kcompat.h"
#include "tick.h"
#ifdef CONFIG_CALLOUT_TIMERS
#include <linux/callout_tick.h>
#include <linux/tick_timer_begin.h>
#endif

/* The kernel's LVL_CLK_SHIFT. */
#define LEVEL_SHIFT	3

/* The kernel's LVL_SIZE: the buckets of a level. */
#define LEVEL_SIZE	64

/*
 * The kernel's levels take up to 63 granules. That counts from the clock of the
 * kernel's wheel, which can be some ticks behind jiffies when the timer softirq is
 * late: leave room for the lag.
 */
#define LEVEL_REACH	56

/* The level whose granules are too coarse for either HZ to need a higher one. */
#define MAX_SHIFT	(LEVEL_SHIFT * 7)

static u64 jiffies_now(struct callout_base *base)
{
	return get_jiffies_64();
}

/*
 * The expires with which a timer_list fires at @tick or a hop before, in a level
 * with granules of 1 << @shift or in a lower level.
 */
VISIBLE_IF_KUNIT unsigned long co_jiffies_hop(u64 now, u64 tick,
					      unsigned int shift)
{
	/* A timer set for the present jiffy fires at the next. */
	if (!shift && tick <= now + 1)
		return now;
	for (; shift < MAX_SHIFT; shift += LEVEL_SHIFT)
		if (tick - now <= (u64)LEVEL_REACH << shift)
			break;
	tick = min(tick, now + ((u64)LEVEL_REACH << shift));
	return (tick >> shift << shift) - 1;
}
EXPORT_SYMBOL_IF_KUNIT(co_jiffies_hop);

/*
 * As co_jiffies_hop(), once the kernel has put the timer that was set to @hop in a level
 * with granules of 1 << @shift. The kernel's wheel lags jiffies while expired timers wait
 * for the softirq. If it lags by more than LEVEL_REACH allows for, the level can be higher
 * than was meant, and the timer would fire late. The last edge of that level up to @tick
 * may be before the present jiffy, but not before the wheel's clock. So there is one more
 * hop: the timer fires when the wheel's clock reaches that edge.
 */
VISIBLE_IF_KUNIT unsigned long co_jiffies_hop_again(u64 now, u64 tick,
						    unsigned long hop,
						    unsigned int shift)
{
	if (likely(!((hop + 1) & ((1UL << shift) - 1))))
		return hop;
	return co_jiffies_hop(now, tick, shift);
}
EXPORT_SYMBOL_IF_KUNIT(co_jiffies_hop_again);

/*
 * Can @base wait for the next tick's own interrupt, on this CPU? That saves
 * setting a timer in expiry, which would be expensive: the kernel has just searched
 * its wheel for the next timer, found none, and would search again at each tick.
 * The answer is no if the CPU is idle, since its tick may be stopped, where the
 * tick looks at the base anyway, and where the tasklet must not be scheduled. For a
 * pending irq_work the kernel keeps the tick of a CPU that becomes idle. That costs
 * at most one tick, so a deferrable base does not do it at all.
 */
static bool jiffies_tick_runs(struct callout_base *base)
{
	return !IS_ENABLED(CONFIG_CALLOUT_TIMERS) && base->expiring &&
	       !is_idle_task(current) && co_goes_on_here(base) &&
	       !co_base_has_class(base, CALLOUT_CLASS_DEFERRABLE);
}

/* Does @base's timer belong on this CPU, or may it stay where it is? */
static bool jiffies_timer_here(struct callout_base *base)
{
	return base->cpu == smp_processor_id() ||
	       co_base_has_class(base, CALLOUT_CLASS_GLOBAL);
}

/*
 * Does a coming tick look at @base, so that its timer need not be set? If the tick
 * stops before, callout_tick_stops() looks. Interrupts are off. The bases
 * with this source are the bases of tick_classes[] and of tests.
 */
static bool jiffies_tick_looks(struct callout_base *base)
{
	return IS_ENABLED(CONFIG_CALLOUT_TIMERS) &&
	       base->cpu == smp_processor_id() &&
	       base->index != CALLOUT_INDEX_TEST && !tick_nohz_tick_stopped();
}

static void jiffies_set_timer_to(struct callout_base *base, unsigned long expires)
{
	if (jiffies_timer_here(base)) {
		mod_timer(&base->timer, expires);
		return;
	}
	/* mod_timer() would move the timer to this CPU. */
	timer_delete(&base->timer);
	base->timer.expires = expires;
	add_timer_on(&base->timer, base->cpu);
}

/*
 * Set the timer for @tick or a hop before. The kernel keeps the timer's bucket in
 * the timer's flags. If the timer has since fired on another CPU, its function
 * waits for the base's lock, and setting the timer once more does no harm.
 */
static void jiffies_set_timer(struct callout_base *base, u64 now, u64 tick)
{
	unsigned long hop = co_jiffies_hop(now, tick, 0), again;
	unsigned int level;

	jiffies_set_timer_to(base, hop);
	level = (READ_ONCE(base->timer.flags) >> TIMER_ARRAYSHIFT) / LEVEL_SIZE;
	again = co_jiffies_hop_again(now, tick, hop, level * LEVEL_SHIFT);
	if (unlikely(again != hop))
		jiffies_set_timer_to(base, again);
}

static void jiffies_program(struct callout_base *base, u64 tick)
{
	u64 now = jiffies_now(base);

	lockdep_assert_held(&base->lock);
	if (tick > now && jiffies_tick_looks(base))
		return;
	if (tick == now + 1 && jiffies_tick_runs(base)) {
		irq_work_queue(&base->next_tick);
	} else if (unlikely(tick <= now) && in_interrupt() &&
		   co_goes_on_here(base)) {
		/*
		 * A tick that has come has no edge of jiffies to wait for. In task
		 * context with softirqs on, the tasklet would wake ksoftirqd, and
		 * no task may be woken with the base locked. Overdue ticks are rare
		 * there.
		 */
		tasklet_schedule(&base->again);
	} else {
		jiffies_set_timer(base, now, tick);
	}
}

/*
 * Runs in the tick's interrupt. If the tick was stopped after all, it runs at once and
 * too early: expiry checks that. If the CPU has begun to go down since, callouts that
 * wait for this interrupt wait for the timer instead, one tick more.
 */
static void jiffies_next_tick(struct irq_work *work)
{
	struct callout_base *base = container_of(work, struct callout_base,
						 next_tick);

	if (likely(co_goes_on_here(base))) {
		/* For a global base: expiry may run on another CPU. */
		WRITE_ONCE(base->woken, true);
		/* Linux's own timers of this tick do not wait for the network either. */
		tasklet_hi_schedule(&base->again);
		return;
	}
	co_base_lock(base);
	if (base->armed && base->armed != U64_MAX)
		jiffies_program(base, base->armed);
	co_base_unlock(base);
}

/*
 * CLOCK_MONOTONIC at jiffy 0. It is constant in theory, but jiffies may lag the
 * clock when no CPU advances them in time. So each sample, the clock less the
 * jiffies, is an upper bound, and the least sample is less than a tick too late if
 * any was taken in time.
 *
 * A kernel with a periodic tick that loses ticks never makes up for them: on such a
 * kernel the least sample is too early by all lost ticks. So callouts that are set
 * by the clock are queued no further away than in full ticks from the present
 * jiffy, and come late only by what jiffies lose while they are pending. The same
 * holds for callouts set in ticks, and for Linux's timers. On a kernel whose tick
 * is fast, or lags when the module is loaded, the least sample falls later on:
 * callouts set by the clock before that would be early. So expiry checks the clock,
 * and postpones early callouts.
 */
atomic64_t callout_jiffy_zero = ATOMIC64_INIT(S64_MAX);
EXPORT_SYMBOL_IF_KUNIT(callout_jiffy_zero);

static void jiffies_look(void)
{
	u64 jiffy = get_jiffies_64();
	s64 zero, least;

	/*
	 * Read the clock after jiffies: a delay between them makes the sample
	 * later. The barrier has no store on the other side: jiffies are compared
	 * with a hardware counter, not with memory.
	 */
	smp_rmb();
	zero = ktime_get_ns() - jiffy * TICK_NSEC;
	least = atomic64_read(&callout_jiffy_zero);
	while (zero < least &&
	       !atomic64_try_cmpxchg(&callout_jiffy_zero, &least, zero))
		;
}

/* Take a sample at most this often, in jiffies; a power of two. */
#define LOOK_EVERY	64U

static void jiffies_softclock(struct callout_base *base)
{
	static unsigned long looked;
	unsigned long look = jiffies / LOOK_EVERY;

	if (unlikely(READ_ONCE(looked) != look)) {
		WRITE_ONCE(looked, look);
		jiffies_look();
	}
	co_softclock(base);
}

static void jiffies_timer(struct tick_timer *t)
{
	/* Don't use this_cpu here: the timers of a dead CPU run on another. */
	struct callout_base *base = timer_container_of(base, t, timer);

	jiffies_softclock(base);
}

#ifdef CONFIG_CALLOUT_TIMERS
static const unsigned int tick_classes[] = {
	CALLOUT_CLASS_KERNEL, CALLOUT_CLASS_GLOBAL, CALLOUT_CLASS_DEFERRABLE,
};

/* This CPU's base of the class tick_classes[@i] if the base must run by @tick, or NULL. */
static struct callout_base *jiffies_base_by(unsigned int i, u64 tick)
{
	unsigned int cpu = smp_processor_id();
	struct callout_base *base = co_base_of(tick_classes[i], cpu);

	/* Read without the lock; 0 means that expiry is running. */
	return READ_ONCE(base->armed) - 1 < tick && base->cpu == cpu &&
	       base->tick == &callout_tick_jiffies ? base : NULL;
}

/* The tick's interrupt: is there work for callout_tick_softirq()? */
bool callout_tick_is_due(void)
{
	u64 now = get_jiffies_64();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tick_classes); i++)
		if (jiffies_base_by(i, now))
			return true;
	return false;
}

/* Runs after Linux's wheel, which may have expired due callouts already. */
void callout_tick_softirq(void)
{
	u64 now = get_jiffies_64();
	struct callout_base *base;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tick_classes); i++) {
		base = jiffies_base_by(i, now);
		if (base)
			jiffies_softclock(base);
	}
}

/*
 * This CPU's tick may stop, and the kernel is about to ask its wheel for how long.
 * Return the time of CLOCK_MONOTONIC for which this CPU must wake up, or KTIME_MAX,
 * where @basem is the time of the jiffy @basej. The wheel would also wake it for hops.
 * With several CPUs the callouts that are not pinned wait in the wheel, where another
 * CPU finds them. Deferrable callouts wait for the next tick.
 *
 * Interrupts stay off until the tick is stopped. A callout armed here later sets a
 * timer in the wheel at once, as a callout armed here by another CPU does in any
 * case, and the kernel asks again. A callout that is due already waits for no
 * further edge.
 */
u64 callout_tick_stops(unsigned long basej, u64 basem)
{
	u64 now = get_jiffies_64(), next = KTIME_MAX, wait;
	struct callout_base *base;
	unsigned int i;

	now -= (unsigned long)now - basej;
	for (i = 0; i < ARRAY_SIZE(tick_classes); i++) {
		base = jiffies_base_by(i, U64_MAX);
		if (!base)
			continue;
		co_base_lock(base);
		/* All callouts have been cancelled: avoid a spurious wake-up. */
		if (base->armed && !co_base_pending(base))
			WRITE_ONCE(base->armed, U64_MAX);
		if (!base->armed) {
			/* Expiry runs, and programs. */
		} else if (base->armed == U64_MAX ||
			   co_base_has_class(base, CALLOUT_CLASS_DEFERRABLE)) {
			timer_delete(&base->timer);
		} else if (num_online_cpus() == 1 ||
			   co_base_has_class(base, CALLOUT_CLASS_KERNEL)) {
			timer_delete(&base->timer);
			wait = base->armed - min(base->armed, now);
			if (wait < (KTIME_MAX - basem) / TICK_NSEC)
				next = min(next, basem + wait * TICK_NSEC);
		} else if (base->armed > now) {
			jiffies_set_timer(base, now, base->armed);
		} else {
			mod_timer(&base->timer, now - 1);
		}
		co_base_unlock(base);
	}
	return next;
}
#endif

static void jiffies_init(struct callout_base *base)
{
	unsigned int flags = TIMER_PINNED;

	if (co_base_has_class(base, CALLOUT_CLASS_GLOBAL))
		flags = 0;
	else if (co_base_has_class(base, CALLOUT_CLASS_DEFERRABLE))
		flags |= TIMER_DEFERRABLE;
	jiffies_look();
	base->next_tick = IRQ_WORK_INIT_LAZY(jiffies_next_tick);
	timer_setup(&base->timer, jiffies_timer, flags);
}

/*
 * The order matters: the timer's function may queue the irq_work. The irq_work sets
 * the timer only if armed is neither 0 nor U64_MAX, and armed is 0, since the base
 * is dead.
 */
static void jiffies_shutdown(struct callout_base *base)
{
	timer_shutdown_sync(&base->timer);
	irq_work_sync(&base->next_tick);
}

const struct callout_tick_source callout_tick_jiffies = {
	.name		= "jiffies",
	.now		= jiffies_now,
	.from_ns	= co_jiffies_from_ns,
	.init		= jiffies_init,
	.program	= jiffies_program,
	.shutdown	= jiffies_shutdown,
};
EXPORT_SYMBOL_IF_KUNIT(callout_tick_jiffies);
