// SPDX-License-Identifier: GPL-2.0
/*
 * hrtimer.c - a pinned hrtimer as a tick source, for ticks of any length
 *
 * The time is CLOCK_MONOTONIC divided by the length of a tick, so all bases with
 * the same length of tick have the same time. The hrtimer is set only for a tick at
 * which something can be due.
 *
 * Arming a callout of another CPU must program that CPU's hrtimer. Only that CPU
 * can program it, so an interrupt, the kick, makes it do so.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include "base.h"
#include "kcompat.h"
#include "tick.h"

static u64 hrtimer_now(struct callout_base *base)
{
	return div64_u64(ktime_get_ns(), base->tick_ns);
}

static void hrtimer_set(struct callout_base *base)
{
	/* Beyond the range of ktime_t means never. */
	u64 last = div64_u64(KTIME_MAX, base->tick_ns);
	ktime_t time = ns_to_ktime(min(base->armed, last) * base->tick_ns);

	if (base->ticking && !hrtimer_is_queued(&base->hrtimer)) {
		base->ticking = false;
		base->restart = true;
		hrtimer_set_expires(&base->hrtimer, time);
		return;
	}
	hrtimer_start(&base->hrtimer, time, HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Runs on the base's CPU, in a hard interrupt. In a dead base armed is 0. */
static void hrtimer_kicked(void *arg)
{
	struct callout_base *base = arg;

	co_base_lock(base);
	base->kicked = false;
	if (base->armed && base->armed != U64_MAX)
		hrtimer_set(base);
	co_base_unlock(base);
}

static void hrtimer_program(struct callout_base *base, u64 tick)
{
	lockdep_assert_held(&base->lock);
	if (base->cpu == smp_processor_id())
		hrtimer_set(base);
	else if (!base->kicked)
		/*
		 * A pending kick will see base->armed. The call fails only for a
		 * CPU that is going offline, whose callouts migrate soon.
		 */
		base->kicked = !smp_call_function_single_async(base->cpu,
							       &base->kick);
}

/*
 * Expiry sets the time at which the kernel restarts the hrtimer when this function
 * returns. That saves the kernel's lock and the search for the first timer, which
 * hrtimer_start() would need. Expiry does not do so if an interrupt has queued the
 * hrtimer between its removal by the kernel and this function. Only this CPU sets
 * the hrtimer, and nothing sets it while expiry runs, since armed is 0 then. An
 * interrupt after expiry starts the hrtimer, and the kernel keeps that time:
 *
 *	CPU0: hrtimer_tick()			CPU0: interrupt
 *	expiry: lock(base): armed = 10,
 *	expires = 10, restart
 *	unlock(base)
 *						arms for 5: lock(base):
 *						armed = 5, hrtimer_start(5)
 *						unlock(base)
 *	HRTIMER_RESTART: it is started: 5
 *
 * Only the base's CPU uses the flags, so they need no lock. Once the CPU is dead the
 * hrtimer runs on another CPU, and does not restart.
 */
static enum hrtimer_restart hrtimer_tick(struct hrtimer *timer)
{
	struct callout_base *base = container_of(timer, struct callout_base,
						 hrtimer);

	base->restart = false;
	base->ticking = base->cpu == smp_processor_id();
	co_softclock(base);
	base->ticking = false;
	/*
	 * An interrupt from here on starts the hrtimer. An earlier interrupt has
	 * set base->restart.
	 */
	barrier();
	return READ_ONCE(base->restart) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* Prepare a base's hrtimer to call @fn, for this source or for a simulated source. */
void co_hrtimer_setup(struct callout_base *base,
		      enum hrtimer_restart (*fn)(struct hrtimer *timer))
{
	hrtimer_setup(&base->hrtimer, fn, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	INIT_CSD(&base->kick, hrtimer_kicked, base);
}

static void hrtimer_tick_init(struct callout_base *base)
{
	co_hrtimer_setup(base, hrtimer_tick);
}

static bool hrtimer_is_kicked(struct callout_base *base)
{
	bool kicked;

	co_base_lock_irq(base);
	kicked = base->kicked;
	co_base_unlock_irq(base);
	return kicked;
}

/*
 * Called before a base is freed, or when its CPU is dead. A kick may be pending on
 * a CPU that takes no interrupt for a while. A synchronous call is no barrier for
 * the kick, since a CPU runs synchronous calls first, and this CPU runs calls to
 * itself directly:
 *
 *	CPU0: shutdown				CPU1: interrupts off
 *	(the kick is queued)
 *	smp_call_function_single(1, wait)
 *						takes the interrupt, finds both,
 *						runs the synchronous one
 *	returns, frees the base
 *						runs the kick: lock(freed base)
 *
 * So this function waits for the kick itself. No other kick follows: base->armed is
 * 0, or the CPU is not online.
 */
static void hrtimer_tick_shutdown(struct callout_base *base)
{
	while (hrtimer_is_kicked(base))
		schedule_timeout_uninterruptible(1);
	hrtimer_cancel(&base->hrtimer);
}

const struct callout_tick_source callout_tick_hrtimer = {
	.name		= "hrtimer",
	.now		= hrtimer_now,
	.from_ns	= co_hrtimer_from_ns,
	.init		= hrtimer_tick_init,
	.program	= hrtimer_program,
	.shutdown	= hrtimer_tick_shutdown,
};
EXPORT_SYMBOL_IF_KUNIT(callout_tick_hrtimer);

/*
 * The length of a tick in nanoseconds at @hz ticks a second. If @hz is 0, the
 * kernel's HZ counts. 0 if @tick does not support this rate.
 */
u64 co_tick_length(const struct callout_tick_source *tick, unsigned int hz)
{
	if (!hz || hz == HZ)
		return TICK_NSEC;
	if (tick == &callout_tick_jiffies || hz > CALLOUT_MAX_HZ)
		return 0;
	return NSEC_PER_SEC / hz;
}
