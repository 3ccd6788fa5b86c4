// SPDX-License-Identifier: GPL-2.0
/*
 * core.c - arm, stop and drain callouts: locking and the states of a callout
 *
 * A callout is idle, queued (in its base's scheme), due (on the base's due
 * list), or running; while it runs it may be queued again. Queued and due are
 * both "pending". Whatever it is, callout.cpu says which base it belongs to,
 * and that base's lock protects it. The lock of a callout is therefore found
 * in a loop, as in the kernel's own lock_timer_base(): read callout.cpu, lock
 * that base, and look whether the callout is still of that base.
 *
 * Only a callout that is neither pending nor running changes its base, and
 * not in one step, since there is no order between two bases' locks:
 *
 *	CPU0: callout_reset_on(c, 2)		CPU1: callout_stop(c)
 *	lock(base 0), c.cpu == 0
 *	take c out of base 0
 *	c.cpu = MOVING				reads c.cpu: MOVING, spins
 *	unlock(base 0)
 *	lock(base 2)
 *	c.cpu = 2				reads c.cpu: 2
 *	file c in base 2			waits for base 2
 *	unlock(base 2)				locks base 2: c is pending
 *
 * CPU0 has interrupts off all the way, so CPU1 spins for a bounded time.
 *
 * Handlers run in softirq context without the base's lock, see expiry.c. The
 * base remembers whose handler runs, by address only: after the handler was
 * called the callout may be gone. Pending is cleared before that, so the
 * handler may re-arm, stop or free its own callout.
 *
 * A callout may have an associated lock, which the core takes around the
 * handler. Then stopping it under that lock always works:
 *
 *	CPU0: softirq				CPU1: holds c's lock
 *	takes c off the due list
 *	running = c, stoppable
 *	unlock(base)
 *	waits for c's lock			callout_stop(c): lock(base)
 *						running == c and stoppable:
 *						stoppable = false
 *						unlock(base), returns 1
 *						unlocks c's lock, may free c
 *	has c's lock
 *	lock(base): not stoppable any more
 *	so it was stopped: unlocks, goes on
 *	with the next callout
 *
 * Once CPU0 finds itself stoppable under the base's lock it clears that, and
 * from there on callout_stop() returns 0: too late. (The lock itself outlives
 * the callout, as FreeBSD asks too.)
 */
#define CREATE_TRACE_POINTS
#include <trace/events/callout.h>
#undef CREATE_TRACE_POINTS

#include <linux/callout.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include "core.h"
#include "kcompat.h"

/* The lock of callouts made by callout_init() with mpsafe = 0: BSD's Giant. */
static DEFINE_SPINLOCK(giant);

/* callout_lock() when the callout's base has just changed, or is changing. */
noinline struct callout_base *callout_lock_slow(struct callout *c)
	__acquires(&base->lock)
{
	struct callout_base *base;
	u32 cpu;

	for (;;) {
		cpu_relax();
		/* Pairs with the writes of c->cpu under the lock taken below. */
		cpu = READ_ONCE(c->cpu);
		if (cpu == CALLOUT_CPU_MOVING)
			continue;
		base = callout_base(cpu);
		raw_spin_lock(&base->lock);
		if (c->cpu == cpu)
			return base;
		raw_spin_unlock(&base->lock);
	}
}

/* callout_lock_home() when that CPU is on its way up or down, or is another. */
noinline struct callout_base *callout_lock_home_slow(struct callout_base *base)
	__acquires(&base->lock)
{
	raw_spin_lock(&base->lock);
	/* A CPU on its way up or down still can use its own base. */
	if (base->online || base->index == smp_processor_id())
		return base;
	raw_spin_unlock(&base->lock);
	base = callout_base(smp_processor_id());
	raw_spin_lock(&base->lock);
	return base;
}

/* Lets go of @base and locks @target, or this CPU's base if that is offline. */
static struct callout_base *callout_move_locked(struct callout_base *base,
						struct callout *c,
						struct callout_base *target)
	__must_hold(&base->lock)
{
	WRITE_ONCE(c->cpu, CALLOUT_CPU_MOVING);
	raw_spin_unlock(&base->lock);
	raw_spin_lock(&target->lock);
	if (unlikely(!target->online)) {
		raw_spin_unlock(&target->lock);
		target = callout_base(smp_processor_id());
		raw_spin_lock(&target->lock);
	}
	WRITE_ONCE(c->cpu, target->index);
	return target;
}

/**
 * callout_program - has the tick source wake a base up
 * @base: the base, locked
 * @tick: when
 */
void callout_program(struct callout_base *base, u64 tick)
{
	base->armed = tick;
	base->tick->program(base, tick);
	trace_callout_tick_start(base->index, tick);
}

/**
 * callout_setup - sets the private members of a callout
 * @c: the callout
 * @kind: what happens when it is due
 * @cpu: the base that it belongs to
 */
void callout_setup(struct callout *c, u8 kind, u32 cpu)
{
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->cpu = cpu;
}
EXPORT_SYMBOL_IF_KUNIT(callout_setup);

/**
 * callout_init_lock - prepares a callout with an associated lock
 * @c: the callout
 * @lock: spinlock_t or rwlock_t that is held when the handler runs, or NULL
 * @lock_flags: CALLOUT_L_*
 */
void callout_init_lock(struct callout *c, void *lock, u8 lock_flags)
{
	callout_setup(c, CALLOUT_KIND_FUNC, callout_home_cpu());
	c->lock = lock;
	c->lock_flags = lock_flags;
	trace_callout_init(c);
}
EXPORT_SYMBOL_IF_KUNIT(callout_init_lock);

/**
 * callout_init - prepares a callout
 * @c: the callout; must not be pending or running
 * @mpsafe: CALLOUT_MPSAFE, or 0 to have its handler run under one lock that
 *	all such callouts share, as under BSD's Giant
 *
 * Assigns the callout to the current CPU; on a nohz_full CPU, to one that is
 * not. From FreeBSD's callout(9).
 *
 * Context: Any.
 */
void callout_init(struct callout *c, int mpsafe)
{
	if (mpsafe)
		callout_init_lock(c, NULL, 0);
	else
		callout_init_lock(c, &giant, CALLOUT_L_SPIN);
}
EXPORT_SYMBOL_GPL(callout_init);

/* Has the handler been told to start, and can it still be kept from it? */
static inline bool callout_cancel_start(struct callout_base *base,
					struct callout *c)
{
	if (base->running != c || !base->stoppable)
		return false;
	base->stoppable = false;
	return true;
}

/*
 * What is not the common case of arming: makes of @c one that is queued or
 * idle, in its present base or in @target if there is one. Returns the base,
 * or NULL if @c must not be armed.
 */
static noinline struct callout_base *
callout_arm_slow(struct callout_base *base, struct callout *c,
		 struct callout_base *target)
	__must_hold(&base->lock)
{
	if (c->state & CALLOUT_S_DRAINING)
		return NULL;
	if (c->state & CALLOUT_S_DUE)
		callout_dequeue_locked(base, c);
	/* Whoever drains it looks for it where it runs. */
	if (base->running == c)
		return base;
	if (!target)
		target = base;
	if (!READ_ONCE(target->online))
		target = callout_base(callout_home_cpu());
	if (target == base)
		return base;
	if (c->state & CALLOUT_S_PENDING)
		callout_dequeue_locked(base, c);
	return callout_move_locked(base, c, target);
}

/* Arms @c; @target is the base to move it to, or NULL to leave it. */
static __always_inline int callout_arm(struct callout *c,
				       struct callout_base *target, long ticks,
				       callout_func_t func, void *arg)
{
	struct callout_base *base, *to;
	unsigned long flags;
	bool replaced;
	u64 expires;

	base = callout_lock(c, &flags);
	replaced = c->state & CALLOUT_S_PENDING;
	if (unlikely(base->running == c || !base->online ||
		     c->state & ~CALLOUT_S_PENDING) || target) {
		replaced |= callout_cancel_start(base, c);
		to = callout_arm_slow(base, c, target);
		if (!to)
			goto out;
		base = to;
	}
	if (func) {
		c->func = func;
		c->arg = arg;
	}
	c->active = 1;
	expires = callout_expiry(base, ticks);
	if (c->state & CALLOUT_S_PENDING) {
		callout_scheme_rearm(base, c, expires);
		callout_started(base, c, expires);
	} else {
		callout_start_locked(base, c, expires);
	}
out:
	callout_unlock(base, flags);
	return replaced;
}

/**
 * callout_reset - sets a callout, or sets it anew
 * @c: the callout
 * @ticks: how many ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: its argument
 *
 * If @c is pending it is moved to the new time. It stays on its CPU. While
 * callout_drain() waits for @c to finish, nothing is set. Without @func it is
 * as callout_schedule().
 *
 * From FreeBSD's callout(9).
 *
 * Context: Any, hard interrupt included. If @c has an associated lock, the
 * caller holds it.
 * Return: 1 if it was pending, else 0.
 */
int callout_reset(struct callout *c, long ticks, callout_func_t func, void *arg)
{
	return callout_arm(c, NULL, ticks, func, arg);
}
EXPORT_SYMBOL_GPL(callout_reset);

/**
 * callout_reset_on - sets a callout on another CPU
 * @c: the callout
 * @ticks: how many ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: its argument
 * @cpu: the CPU on which the handler is to run
 *
 * As callout_reset(). If @cpu is not online the current CPU is used, and if
 * the handler of @c is running it stays on the CPU where it runs.
 *
 * Context: Any, hard interrupt included.
 * Return: 1 if it was pending, else 0.
 */
int callout_reset_on(struct callout *c, long ticks, callout_func_t func,
		     void *arg, unsigned int cpu)
{
	struct callout_base *target = NULL;

	if (cpu < nr_cpu_ids)
		target = READ_ONCE(callout_bases[cpu]);
	if (!target)
		target = callout_base(raw_smp_processor_id());
	return callout_arm(c, target, ticks, func, arg);
}
EXPORT_SYMBOL_GPL(callout_reset_on);

/**
 * callout_schedule - sets a callout again, with the handler it had
 * @c: the callout; callout_reset() was called on it before
 * @ticks: how many ticks from now; less than 1 counts as 1
 *
 * From FreeBSD's callout(9).
 *
 * Context: As callout_reset().
 * Return: 1 if it was pending, else 0.
 */
int callout_schedule(struct callout *c, long ticks)
{
	return callout_arm(c, NULL, ticks, NULL, NULL);
}
EXPORT_SYMBOL_GPL(callout_schedule);

/* What callout_stop() returns; @c's base is locked. */
static __always_inline int callout_stop_locked(struct callout_base *base,
					       struct callout *c)
{
	bool pending = c->state & CALLOUT_S_PENDING;

	c->active = 0;
	if (pending) {
		callout_dequeue_locked(base, c);
		trace_callout_cancel(c);
	}
	if (base->running == c)
		return 0;
	return pending ? 1 : -1;
}

/**
 * callout_stop - cancels a callout
 * @c: the callout
 *
 * Does not wait for a handler that is running. If the callout has an
 * associated lock, the caller holds it, and then the handler does not start
 * after this returned 1, not even if it was waiting for the lock just now.
 * A callout that is running and was set again meanwhile is not set any more
 * after this, and 0 is returned.
 *
 * From FreeBSD's callout(9).
 *
 * Context: Any, hard interrupt included.
 * Return: 1 if it was cancelled; 0 if its handler is running and could not be
 * stopped; -1 if it was not pending.
 */
int callout_stop(struct callout *c)
{
	struct callout_base *base;
	unsigned long flags;
	int ret;

	base = callout_lock(c, &flags);
	ret = callout_stop_locked(base, c);
	if (!ret && callout_cancel_start(base, c))
		ret = 1;
	callout_unlock(base, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_stop);

/**
 * callout_wait_run - waits until the handler that is running has returned
 * @base: the base
 * @seq: its run_seq, read under its lock, when the handler was running
 */
void callout_wait_run(struct callout_base *base, unsigned long seq)
{
	raw_spin_lock_irq(&base->lock);
	base->waiters++;
	raw_spin_unlock_irq(&base->lock);

	wait_event(base->wait, READ_ONCE(base->run_seq) != seq);

	raw_spin_lock_irq(&base->lock);
	base->waiters--;
	raw_spin_unlock_irq(&base->lock);
}

/**
 * callout_drain - cancels a callout and waits for its handler
 * @c: the callout
 *
 * As callout_stop(), and when this returns the handler is not running: the
 * callout may be freed. A callout_reset() while this waits, by the handler or
 * by anyone, does nothing.
 *
 * From FreeBSD's callout(9).
 *
 * Context: Process context, may sleep; not from @c's handler, nor with a lock
 * held that the handler takes, the associated one included.
 * Return: as callout_stop().
 */
int callout_drain(struct callout *c)
{
	struct callout_base *base;
	unsigned long flags, seq;
	int ret;

	might_sleep();

	base = callout_lock(c, &flags);
	ret = callout_stop_locked(base, c);
	while (base->running == c) {
		c->state |= CALLOUT_S_DRAINING;
		seq = base->run_seq;
		callout_unlock(base, flags);
		callout_wait_run(base, seq);
		base = callout_lock(c, &flags);
	}
	c->state &= ~CALLOUT_S_DRAINING;
	callout_unlock(base, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_drain);

/**
 * callout_barrier - waits for all handlers that are running
 *
 * After this no handler runs that had started before it was called. For the
 * exit of a module that has cancelled all it had set, by handle say, and must
 * not go before the last handler has returned.
 *
 * Context: Process context, may sleep; not from a handler.
 */
void callout_barrier(void)
{
	struct callout_base *base;
	unsigned long seq;
	unsigned int cpu;

	might_sleep();

	for_each_possible_cpu(cpu) {
		base = READ_ONCE(callout_bases[cpu]);
		if (!base)
			continue;
		raw_spin_lock_irq(&base->lock);
		seq = base->run_seq;
		raw_spin_unlock_irq(&base->lock);
		if (seq & 1)
			callout_wait_run(base, seq);
	}
}
EXPORT_SYMBOL_GPL(callout_barrier);
