// SPDX-License-Identifier: GPL-2.0
/*
 * arm.c - the states of a struct callout, and the calls that arm one
 *
 * Terms, here and in the other files:
 *
 *  base	the callouts of a class and CPU, with a lock, a scheme and a tick
 *	source
 *  scheme	the data structure with the base's queued callouts
 *  node	the first part of a callout, which bases and schemes queue
 *  queued	in the scheme
 *  due		its tick has come, but its turn has not
 *  pending	queued, or due and its handler has not started
 *  running	its handler has been called and has not returned; it may be
 *		pending again
 *  kind	what happens when a callout is due: call a function, make an event
 *  slot	a callout in a table, named by a handle
 *  hold	the time from locking a base to unlocking it
 *  unit of work
 *		one entry or one bucket looked at; a hold has a budget of them
 *  re-arm	move a pending callout to another tick
 *  requeue	move an entry to the bucket of its expiry
 *  migrate	move a callout from one base to another, see base.c
 *
 * Handlers run in softirq context without the base's lock, see run.c. The base
 * remembers the running callout by its address only: once its handler has been
 * called the callout may have been freed. It stops being pending before that, so a
 * handler may re-arm, stop or free its own callout. ABA: the same address can then
 * belong to another callout. A bit distinguishes the two:
 *
 *	CPU0: softirq				CPU1
 *	running = c, c has RAN
 *	unlock(base)
 *	handler frees c
 *						gets the same memory: c'
 *						callout_init(c'): not RAN
 *						callout_reset_on(c', CPU0)
 *						callout_stop(c'): running == c',
 *						but not RAN: returns 1, not 0
 *	handler returns, running = NULL
 *
 * A callout may have an associated lock, which the core holds around the
 * handler. Stopping the callout under that lock always works:
 *
 *	CPU0: softirq				CPU1: holds c's lock
 *	takes c out
 *	running = c, WAITING
 *	unlock(base)
 *	waits for c's lock			callout_stop(c): lock(base)
 *						running == c and WAITING:
 *						CANCELLED
 *						unlock(base), returns 1
 *						unlocks c's lock, may free c
 *	has c's lock
 *	lock(base): CANCELLED: unlocks,
 *	continues with the next callout
 *
 * If CPU0 finds WAITING under the base's lock it sets STARTED, and from there on
 * callout_stop() returns 0: too late. Once the handler has returned, CPU0 sets
 * OVER before it unlocks c's lock, so the next holder of that lock sees the
 * callout idle. The lock must outlive the callout, as in FreeBSD. To free it,
 * drain the callout first: callout_drain() and callout_async_drain() wait until
 * CPU0 has released it.
 */
#include <linux/callout.h>
#include <linux/math64.h>
#include <linux/module.h>
#include "queue.h"
#include "associated.h"
#include "debug.h"

DEFINE_SPINLOCK(callout_giant);

/* The callout_init() macros call this. @class is NULL without lockdep. */
void callout_init_class(struct callout *c, void *lock, u8 lock_flags,
			struct callout_class *class)
{
	u8 untracked;

	if (co_misused(c))
		return;
	if (lock_flags & CALLOUT_L_GIANT) {
		lock = &callout_giant;
		lock_flags = CALLOUT_L_SPIN;
	}
	untracked = co_debug_init(c);
	memset(c, 0, sizeof(*c));
	co_setup(&c->node, CALLOUT_KIND_FUNC, co_base(co_home_cpu())->index);
	c->lock = lock;
	c->node.flags = (lock ? lock_flags : 0) | untracked;
#ifdef CONFIG_LOCKDEP
	c->class = class;
#endif
	trace_callout_init(&c->node);
}
EXPORT_SYMBOL_GPL(callout_init_class);

/*
 * Handle the uncommon cases of arming. Leave @n queued or not, in its present base
 * or in @target if given, which is then its new home. A node that is away, because
 * its home was not online or because it was running, goes home. Return the base, or
 * NULL if @n must not be armed.
 *
 * A pending @n stays pending, since callout_pending() takes no lock. If it is no
 * longer queued it has CALLOUT_S_DUE and is on no list. It is in that state only in
 * a hold of its base's lock, which the caller ends after queueing it, or between
 * two bases.
 *
 *	CPU0: callout_reset_on(c, 9, f, a, 2)	CPU1
 *	lock(base 0): takes c out, MOVING
 *	unlock(base 0)
 *						callout_pending(c): true
 *						callout_stop(c): spins
 *	lock(base 2), c.cpu = 2, files c
 *	unlock(base 2)
 *						lock(base 2): takes c out,
 *						returns 1
 */
static noinline struct callout_base *
co_arm_slow(struct callout_base *base, struct callout_node *n,
	    struct callout_base *target)
	__must_hold(&base->lock)
{
	struct callout_base *home;

	if (n->state & CALLOUT_S_DRAINING ||
	    (co_is_running(base, n) && base->drain))
		return NULL;
	if (n->state & CALLOUT_S_DUE)
		co_unqueue_locked(base, n);
	if (target) {
		n->home = target->index;
		callout_change_state(n, CALLOUT_S_AWAY,
				     target == base ? 0 : CALLOUT_S_AWAY);
	}
	/* A drain looks for @n where it runs: see co_leave(). */
	if (co_is_running(base, n)) {
		base->leaving = n->state & CALLOUT_S_AWAY ? n : NULL;
		base->attention = true;
		return base;
	}
	/* The handler has returned: the next arm need not look for it. */
	callout_change_state(n, CALLOUT_S_STARTED_HERE, 0);
	if (!target) {
		home = co_base(n->home);
		target = n->state & CALLOUT_S_AWAY && READ_ONCE(home->online) ?
			 home : base;
	}
	if (!READ_ONCE(target->online))
		target = co_base_sibling(target, co_home_cpu());
	if (target == base)
		return base;
	if ((n->state & (CALLOUT_S_PENDING | CALLOUT_S_DUE)) == CALLOUT_S_PENDING) {
		co_unqueue_locked(base, n);
		callout_change_state(n, 0, CALLOUT_S_DUE);
	}
	return co_move_locked(base, n, target);
}

/*
 * The tick from @first to @last that other callouts likely choose too: the tick with
 * the highest power of three as a divisor. Wheels have 2^m buckets, and
 * multiples of any power of three use all of them. Multiples of 2^k use one in 2^k,
 * and expiry looks at all callouts there.
 */
u64 co_coalesce(u64 first, u64 last)
{
	u64 third, unit = 1, n;
	u32 over;

	if (first >= last)
		return first;
	third = div_u64(min_t(u64, last - first, S64_MAX) + 1, 3);
	while (unit <= third)
		unit *= 3;
	/* There is a multiple of unit within, and of 3 * unit one at most. */
	n = div64_u64(first + unit - 1, unit);
	div_u64_rem(n, 3, &over);
	if (over && (3 - over) * unit <= last - n * unit)
		n += 3 - over;
	return n * unit;
}
EXPORT_SYMBOL_IF_KUNIT(co_coalesce);

/* The tick within a span that other callouts likely choose too. */
static u64 co_span_expiry(struct callout_base *base,
			  const struct callout_span *span)
{
	u64 now, first;

	if (span->ticks) {
		now = co_now(base);
		return co_coalesce(now + span->first, now + span->last);
	}
	now = ktime_get_ns();
	first = co_from_ns(base, span->first, now);
	/* Read the clock once: jiffies may change between two reads, which would give two ticks. */
	if (span->first == span->last)
		return first;
	return co_coalesce(first, co_from_ns(base, span->last, now));
}

/*
 * Refuse a callout without a function: the core would call NULL later, when the
 * caller is not known any more.
 */
noinline void co_no_function(void)
{
	WARN_ONCE(1, "callout: set without a function\n");
}

/*
 * Arm @c in @ticks or, if given, in @span. @target is the base to which @c
 * migrates; NULL leaves it in its base.
 */
static __always_inline int co_arm(struct callout *c,
				  struct callout_base *target, long ticks,
				  const struct callout_span *span,
				  callout_func_t *func, void *arg)
{
	struct callout_node *n = &c->node;
	struct callout_base *base, *to;
	unsigned long flags;
	bool pending, replaced, moved;
	u64 expires;
	u8 state;

	if (co_misused(c))
		return 0;
	co_debug_assert_init(c);
	co_debug_assert_held(c);
	base = co_lock(n, &flags);
	state = n->state;
	pending = state & CALLOUT_S_PENDING;
	replaced = pending;
	if (unlikely(!base->online ||
		     state & (CALLOUT_S_DUE | CALLOUT_S_DRAINING |
			      CALLOUT_S_SHUT | CALLOUT_S_STARTED_HERE |
			      CALLOUT_S_AWAY)) || target) {
		/*
		 * A shut-down callout is never pending. A handler that waits for
		 * its lock still runs.
		 */
		if (state & CALLOUT_S_SHUT)
			goto out;
		replaced |= co_cancel_start(base, n);
		to = co_arm_slow(base, n, target);
		if (!to)
			goto out;
		base = to;
		state = n->state;
		/* Pending, but no longer queued. */
		if (state & CALLOUT_S_DUE)
			state &= ~(CALLOUT_S_PENDING | CALLOUT_S_DUE);
	}
	moved = pending;
	if (trace_callout_start_enabled())
		moved = co_trace_replace(c, func, pending);
	if (likely(func)) {
		c->func = func;
		c->arg = arg;
	} else if (unlikely(!c->func)) {
		/* The callout was never set, so it is neither pending nor running. */
		co_unlock(base, flags);
		co_no_function();
		return 0;
	}
	if (!pending)
		co_debug_activate(c);
	/* callout_active() and callout_deactivate() take no lock. */
	WRITE_ONCE(n->active, CALLOUT_A_TICKS);
	if (span && !span->ticks && co_is_wheel(base)) {
		WRITE_ONCE(n->active, CALLOUT_A_TIME);
		n->time = span->first;
	}
	expires = span ? co_span_expiry(base, span) :
			 co_expiry(base, ticks);
	if (state & CALLOUT_S_PENDING) {
		co_scheme_rearm(base, n, expires);
	} else {
		WRITE_ONCE(n->state, state | CALLOUT_S_PENDING);
		if (unlikely(--base->until_resize < 0))
			co_resize_ask(base);
		co_scheme_start(base, n, expires);
	}
	co_trace_set(base, n, moved);
	co_started(base, expires);
out:
	co_unlock(base, flags);
	return replaced;
}

/**
 * callout_reset() - Set a callout, or move it to another time.
 * @c: The callout.
 * @ticks: Ticks from now; less than 1 counts as 1.
 * @func: The handler; NULL as for callout_schedule().
 * @arg: The handler's argument.
 *
 * A pending callout is moved to the new time. It stays on its CPU. If that CPU was
 * offline for a time and is back online, the callout returns to it. While
 * callout_drain() or callout_async_drain() waits for @c, and from callout_shutdown()
 * on, nothing is set.
 *
 * From FreeBSD's callout(9).
 *
 * Context: Any but NMI, hard interrupt included. The caller must hold the associated
 * lock of @c, if it has one.
 * Return: 1 if it was pending, or was cancelled while it waited for its associated
 * lock; otherwise 0.
 */
int callout_reset(struct callout *c, long ticks, callout_func_t *func, void *arg)
{
	return co_arm(c, NULL, ticks, NULL, func, arg);
}
EXPORT_SYMBOL_GPL(callout_reset);

/* The base of @cpu, or a base of this CPU if @cpu has none; NULL if @cpu is negative. */
static struct callout_base *arm_target(int cpu)
{
	struct callout_base *base = NULL;

	if (cpu < 0)
		return NULL;
	if (cpu < nr_cpu_ids)
		base = READ_ONCE(callout_bases[cpu]);
	return base ?: co_base(co_home_cpu());
}

/**
 * callout_reset_on() - Set a callout on a given CPU.
 * @c: The callout.
 * @ticks: Ticks from now; less than 1 counts as 1.
 * @func: The handler; NULL as for callout_schedule().
 * @arg: The handler's argument.
 * @cpu: The CPU on which the handler will run; -1: the CPU of @c.
 *
 * As callout_reset(). If @cpu is not online, the current CPU is used, or a
 * housekeeping CPU if the current CPU is nohz_full, until @c is set again when @cpu
 * is online. The same applies permanently if @cpu was never online since the module
 * was loaded, or does not exist. If the handler of @c is running, @c migrates when
 * the handler has returned, and stays on the handler's CPU if @cpu is not online
 * then. With bases=single @cpu is ignored.
 *
 * From FreeBSD's callout(9).
 *
 * Context: As callout_reset().
 * Return: As callout_reset().
 */
int callout_reset_on(struct callout *c, long ticks, callout_func_t *func,
		     void *arg, int cpu)
{
	return co_arm(c, arm_target(cpu), ticks, NULL, func, arg);
}
EXPORT_SYMBOL_GPL(callout_reset_on);

/**
 * callout_schedule() - Set a callout again, with the handler it had.
 * @c: The callout; callout_reset() was called on it before.
 * @ticks: Ticks from now; less than 1 counts as 1.
 *
 * If @c has no handler yet, this warns, once, and sets nothing.
 *
 * From FreeBSD's callout(9).
 *
 * Context: As callout_reset().
 * Return: As callout_reset().
 */
int callout_schedule(struct callout *c, long ticks)
{
	return co_arm(c, NULL, ticks, NULL, NULL, NULL);
}
EXPORT_SYMBOL_GPL(callout_schedule);

/**
 * callout_schedule_on() - Set a callout again, on a given CPU.
 * @c: The callout; callout_reset() was called on it before.
 * @ticks: Ticks from now; less than 1 counts as 1.
 * @cpu: The CPU on which the handler will run; -1: the CPU of @c.
 *
 * From FreeBSD's callout(9). See callout_schedule() and callout_reset_on().
 *
 * Context: As callout_reset().
 * Return: As callout_reset().
 */
int callout_schedule_on(struct callout *c, long ticks, int cpu)
{
	return callout_reset_on(c, ticks, NULL, NULL, cpu);
}
EXPORT_SYMBOL_GPL(callout_schedule_on);

/*
 * Set a callout to run in @span, with its previous handler if @func is NULL, on
 * @cpu, or on the callout's CPU if @cpu is -1. Context and return value as for
 * callout_reset().
 */
int co_arm_span(struct callout *c, const struct callout_span *span,
		callout_func_t *func, void *arg, int cpu)
{
	return co_arm(c, arm_target(cpu), 0, span, func, arg);
}
