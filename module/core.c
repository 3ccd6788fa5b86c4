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
 * Only a callout that is neither pending nor running changes its base (one that
 * is running does when its handler has returned, see callout_leave()), and
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
 * handler may re-arm, stop or free its own callout. Then the address can be
 * that of another callout, which must not be taken for the one that runs:
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
 * A callout may have an associated lock, which the core takes around the
 * handler. Then stopping it under that lock always works:
 *
 *	CPU0: softirq				CPU1: holds c's lock
 *	takes c off the due list
 *	running = c, WAITING
 *	unlock(base)
 *	waits for c's lock			callout_stop(c): lock(base)
 *						running == c and WAITING:
 *						CANCELLED
 *						unlock(base), returns 1
 *						unlocks c's lock, may free c
 *	has c's lock
 *	lock(base): CANCELLED, so it was
 *	stopped: unlocks, goes on with the
 *	next callout
 *
 * If CPU0 finds WAITING under the base's lock it makes that STARTED, and from
 * there on callout_stop() returns 0: too late. When the handler has returned it
 * makes that OVER before it unlocks c's lock, so who has that next finds the
 * callout at rest. The lock itself outlives the callout, as FreeBSD asks too.
 * Who wants to free it drains first: drain, also the asynchronous one, waits
 * until CPU0 has let go of it.
 */
#define CREATE_TRACE_POINTS
#include <trace/events/callout.h>
#undef CREATE_TRACE_POINTS

#include <linux/callout.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include "arm.h"
#include "debugobjects.h"
#include "expiry.h"
#include "kcompat.h"

/* The lock of callouts made by callout_init() with mpsafe = 0: BSD's Giant. */
static DEFINE_SPINLOCK(giant);

/**
 * callout_leave - moves a callout home that was armed while its handler ran
 * @base: the base, locked; the handler has returned
 *
 * Whoever stops or drains a callout that runs looks for it where it runs, so it
 * is armed there, and base->leaving says that it is to go. One lock protects
 * that with the rest: whoever takes the callout out while its handler runs
 * clears it, so it names a pending callout or none, and the callout is not
 * touched otherwise: the handler may have freed it.
 *
 *	CPU0: handler of c			CPU1
 *	callout_reset_on(c, 2): lock(base 0):
 *	c runs: file it here, leaving = c
 *	unlock(base 0)
 *						callout_drain(c): lock(base 0):
 *						c runs: take it out,
 *						leaving = NULL, DRAINING
 *	returns
 *	lock(base 0): running = NULL,
 *	leaving is NULL: c is not touched
 *	run_seq + 1, unlock(base 0)
 *						c does not run: returns, frees c
 *
 * or, if CPU1 comes later:
 *
 *	returns
 *	lock(base 0): running = NULL,
 *	leaving is c: takes it out, MOVING
 *	unlock(base 0)				callout_drain(c): spins
 *	lock(base 2), files c, unlock(base 2)
 *						lock(base 2): c is pending and
 *						does not run: takes it out,
 *						returns 1, frees c
 *	lock(base 0): goes on, without c
 *
 * Neither lets c run twice at a time: base 2 gets it when its handler is over.
 *
 * Context: Softirq. Interrupts stay off; the base is unlocked in between.
 */
noinline void callout_leave(struct callout_base *base)
	__must_hold(&base->lock)
{
	struct callout_node *n = base->leaving;
	struct callout_base *home = callout_base(n->home);

	base->leaving = NULL;
	if (!READ_ONCE(home->online))
		return;
	callout_unqueue_locked(base, n);
	callout_change_state(n, CALLOUT_S_DUE, 0);
	home = callout_move_locked(base, n, home);
	callout_start_locked(home, n, n->expires);
	raw_spin_unlock(&home->lock);
	raw_spin_lock(&base->lock);
}

/**
 * callout_init_class - what callout_init() and its kin do
 * @c: the callout
 * @lock: spinlock_t or rwlock_t that is held when the handler runs, or NULL
 * @lock_flags: what @lock is, and CALLOUT_RETURNUNLOCKED, CALLOUT_TRYLOCK
 * @class: for lockdep; NULL without it
 */
void callout_init_class(struct callout *c, void *lock, u8 lock_flags,
			struct callout_class *class)
{
	u8 untracked;

	if (lock_flags & CALLOUT_L_GIANT) {
		lock = &giant;
		lock_flags = CALLOUT_L_SPIN;
	}
	untracked = callout_debug_init(c);
	memset(c, 0, sizeof(*c));
	callout_setup(&c->node, CALLOUT_KIND_FUNC,
		      callout_base(callout_home_cpu())->index);
	c->lock = lock;
	c->node.flags = (lock ? lock_flags : 0) | untracked;
#ifdef CONFIG_LOCKDEP
	c->class = class;
#endif
	trace_callout_init(&c->node);
}
EXPORT_SYMBOL_GPL(callout_init_class);

/* Has the handler been told to start, and can it still be kept from it? */
static inline bool callout_cancel_start(struct callout_base *base,
					struct callout_node *n)
{
	if (!callout_is_running(base, n) ||
	    READ_ONCE(base->stage) != CALLOUT_STAGE_WAITING)
		return false;
	base->stage = CALLOUT_STAGE_CANCELLED;
	return true;
}

/*
 * What is not the common case of arming: makes of @n one that is queued or
 * idle, in its present base or in @target if there is one, which is its home
 * from then on. One that is away, since its home was not online or since it was
 * running, goes home. Returns the base, or NULL if @n must not be armed.
 */
static noinline struct callout_base *
callout_arm_slow(struct callout_base *base, struct callout_node *n,
		 struct callout_base *target)
	__must_hold(&base->lock)
{
	if (n->state & CALLOUT_S_DRAINING ||
	    (callout_is_running(base, n) && base->drain))
		return NULL;
	if (n->state & CALLOUT_S_DUE)
		callout_dequeue_locked(base, n);
	if (target) {
		n->home = target->index;
		callout_change_state(n, CALLOUT_S_AWAY,
				     target == base ? 0 : CALLOUT_S_AWAY);
	}
	/* Whoever drains it looks for it where it runs: see callout_leave(). */
	if (callout_is_running(base, n)) {
		base->leaving = n->state & CALLOUT_S_AWAY ? n : NULL;
		return base;
	}
	if (!target) {
		target = base;
		if (n->state & CALLOUT_S_AWAY &&
		    READ_ONCE(callout_base(n->home)->online))
			target = callout_base(n->home);
	}
	if (!READ_ONCE(target->online))
		target = callout_base(callout_home_cpu());
	if (target == base)
		return base;
	if (n->state & CALLOUT_S_PENDING)
		callout_dequeue_locked(base, n);
	return callout_move_locked(base, n, target);
}

/* The tick in a span of time that it likely shares with others. */
static u64 callout_span_expiry(struct callout_base *base,
			       const struct callout_span *span)
{
	u64 now;

	if (span->ticks) {
		now = callout_now(base);
		return callout_coalesce(now + span->first, now + span->last);
	}
	now = ktime_get_ns();
	return callout_coalesce(callout_from_ns(base, span->first, now),
				callout_from_ns(base, span->last, now));
}

/**
 * callout_no_function - somebody sets a callout that has no function
 *
 * Nothing is set. The core would call NULL later, when it is not known any more
 * who asked for that.
 */
noinline void callout_no_function(void)
{
	WARN_ONCE(1, "callout: set without a function\n");
}

/*
 * Arms @c in @ticks, or if there is a @span, somewhere in that; @target is the
 * base to move it to, or NULL to leave it.
 */
static __always_inline int callout_arm(struct callout *c,
				       struct callout_base *target, long ticks,
				       const struct callout_span *span,
				       callout_func_t *func, void *arg)
{
	struct callout_node *n = &c->node;
	struct callout_base *base, *to;
	unsigned long flags;
	bool pending, replaced;
	u64 expires;

	callout_debug_assert_init(c);
	base = callout_lock(n, &flags);
	pending = n->state & CALLOUT_S_PENDING;
	replaced = pending;
	if (unlikely(base->running == n || !base->online ||
		     n->state & (CALLOUT_S_DUE | CALLOUT_S_DRAINING |
				 CALLOUT_S_AWAY)) || target) {
		replaced |= callout_cancel_start(base, n);
		to = callout_arm_slow(base, n, target);
		if (!to)
			goto out;
		base = to;
	}
	if (likely(func)) {
		c->func = func;
		c->arg = arg;
	} else if (unlikely(!c->func)) {
		/* Never set, so neither pending nor running. */
		callout_unlock(base, flags);
		callout_no_function();
		return 0;
	}
	if (!pending)
		callout_debug_activate(c);
	/* callout_active() and callout_deactivate() take no lock. */
	WRITE_ONCE(n->mark, CALLOUT_A_TICKS);
	if (span && !span->ticks && callout_is_wheel(base)) {
		WRITE_ONCE(n->mark, CALLOUT_A_TIME);
		n->time = span->first;
	}
	expires = span ? callout_span_expiry(base, span) :
			 callout_expiry(base, ticks);
	if (n->state & CALLOUT_S_PENDING) {
		callout_scheme_rearm(base, n, expires);
		callout_started(base, n, expires);
	} else {
		callout_start_locked(base, n, expires);
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
 * If @c is pending it is moved to the new time. It stays on its CPU; if that
 * was offline meanwhile and is back, it goes back there. While
 * callout_drain() or callout_async_drain() waits for @c to finish, nothing is
 * set. With @func NULL it is as callout_schedule().
 *
 * From FreeBSD's callout(9).
 *
 * Context: Any, hard interrupt included. If @c has an associated lock, the
 * caller holds it.
 * Return: 1 if it was pending, or waited for its associated lock and was kept
 * from starting; else 0.
 */
int callout_reset(struct callout *c, long ticks, callout_func_t *func, void *arg)
{
	return callout_arm(c, NULL, ticks, NULL, func, arg);
}
EXPORT_SYMBOL_GPL(callout_reset);

/* Where to set a callout for @cpu; NULL if it is negative: where it is. */
static struct callout_base *arm_target(int cpu)
{
	struct callout_base *base = NULL;

	if (cpu < 0)
		return NULL;
	if (cpu < nr_cpu_ids)
		base = READ_ONCE(callout_bases[cpu]);
	return base ?: callout_base(raw_smp_processor_id());
}

/**
 * callout_reset_on - sets a callout on another CPU
 * @c: the callout
 * @ticks: how many ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: its argument
 * @cpu: the CPU on which the handler is to run; -1: it stays on its CPU
 *
 * As callout_reset(). If @cpu is not online the current CPU is used, until @c is
 * set again when @cpu is online. If the handler of @c is running @c moves when
 * that has returned. With bases=single the CPU is not heeded.
 *
 * From FreeBSD's callout(9).
 *
 * Context: As callout_reset().
 * Return: As callout_reset().
 */
int callout_reset_on(struct callout *c, long ticks, callout_func_t *func,
		     void *arg, int cpu)
{
	return callout_arm(c, arm_target(cpu), ticks, NULL, func, arg);
}
EXPORT_SYMBOL_GPL(callout_reset_on);

/**
 * callout_schedule - sets a callout again, with the handler it had
 * @c: the callout; callout_reset() was called on it before
 * @ticks: how many ticks from now; less than 1 counts as 1
 *
 * If it never had a handler this warns, once, and sets nothing.
 *
 * From FreeBSD's callout(9).
 *
 * Context: As callout_reset().
 * Return: As callout_reset().
 */
int callout_schedule(struct callout *c, long ticks)
{
	return callout_arm(c, NULL, ticks, NULL, NULL, NULL);
}
EXPORT_SYMBOL_GPL(callout_schedule);

/**
 * callout_schedule_on - sets a callout again, on another CPU
 * @c: the callout; callout_reset() was called on it before
 * @ticks: how many ticks from now; less than 1 counts as 1
 * @cpu: the CPU on which the handler is to run; -1: it stays on its CPU
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

/**
 * callout_arm_span - sets a callout to run at some time of a span
 * @c: the callout
 * @span: the span
 * @func: the handler, or NULL for the one that it had
 * @arg: its argument
 * @cpu: the CPU to move it to, or -1 to leave it
 *
 * Context: As callout_reset().
 * Return: 1 if it was pending, else 0.
 */
int callout_arm_span(struct callout *c, const struct callout_span *span,
		     callout_func_t *func, void *arg, int cpu)
{
	return callout_arm(c, arm_target(cpu), 0, span, func, arg);
}

/* What callout_stop() returns; @c's base is locked. */
static __always_inline int callout_stop_locked(struct callout_base *base,
					       struct callout *c)
{
	struct callout_node *n = &c->node;
	bool pending = n->state & CALLOUT_S_PENDING;

	WRITE_ONCE(n->mark, 0);
	if (pending) {
		callout_dequeue_locked(base, n);
		callout_debug_deactivate(c);
		trace_callout_cancel(n);
	}
	if (callout_is_running(base, n)) {
		base->leaving = NULL;
		/* Kept from starting, or over: it does not run for its user. */
		if (READ_ONCE(base->stage) < CALLOUT_STAGE_CANCELLED)
			return 0;
	}
	return pending ? 1 : -1;
}

/**
 * callout_stop - cancels a callout
 * @c: the callout
 *
 * Does not wait for a handler that is running. If the callout has an
 * associated lock, the caller holds it, and then the handler does not start
 * after this returned 1, not even if it was waiting for the lock just now. Then
 * 0 is returned only to the handler itself, and with CALLOUT_RETURNUNLOCKED to
 * others once the handler has let go of the lock. A callout that is running and
 * was set again meanwhile is not set any more after this, and 0 is returned.
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

	callout_debug_assert_init(c);
	base = callout_lock(&c->node, &flags);
	ret = callout_stop_locked(base, c);
	if (!ret && callout_cancel_start(base, &c->node))
		ret = 1;
	callout_unlock(base, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_stop);

#ifdef CONFIG_PREEMPT_RT
/*
 * A handler runs in a thread, which may have been preempted by one of a
 * priority between its own and ours. To wait for the lock that it holds lends
 * it our priority. expiry.c lets go of the lock after a handler for which
 * somebody waits.
 */
static void callout_wait_seq(struct callout_base *base, unsigned long seq)
{
	while (READ_ONCE(base->run_seq) == seq) {
		spin_lock_bh(&base->expiry_lock);
		spin_unlock_bh(&base->expiry_lock);
	}
}
#else
static void callout_wait_seq(struct callout_base *base, unsigned long seq)
{
	wait_event(base->wait, READ_ONCE(base->run_seq) != seq);
}
#endif

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

	callout_wait_seq(base, seq);

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
	callout_debug_assert_init(c);
	callout_debug_wait(callout_debug_class(c));

	base = callout_lock(&c->node, &flags);
	ret = callout_stop_locked(base, c);
	while (callout_is_running(base, &c->node)) {
		callout_change_state(&c->node, 0, CALLOUT_S_DRAINING);
		seq = base->run_seq;
		callout_unlock(base, flags);
		callout_wait_run(base, seq);
		base = callout_lock(&c->node, &flags);
		/* Another drain that is over already may have let it be set. */
		callout_stop_locked(base, c);
	}
	callout_change_state(&c->node, CALLOUT_S_DRAINING, 0);
	callout_unlock(base, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_drain);

/**
 * callout_async_drain - cancels a callout and says when its handler is done
 * @c: the callout
 * @drain: called with the handler's argument, in softirq context, when a
 *	handler that is running now has returned and @c may be freed
 *
 * As callout_drain(), but does not wait: if this returns 0 @drain is going to
 * be called, once, and until then nothing sets @c. If it returns anything else
 * @drain is not called. One of these at a time: while the one waits another
 * returns 0, and its @drain is not called. A handler that waits for its
 * associated lock is not kept from starting.
 *
 * From FreeBSD's callout(9), release 11 and later.
 *
 * Context: Any, hard interrupt included.
 * Return: 1 if it was cancelled; 0 if its handler is running, or has been kept
 * from starting and its associated lock is still in use; -1 if it was not
 * pending.
 */
int callout_async_drain(struct callout *c, callout_func_t *drain)
{
	struct callout_base *base;
	unsigned long flags;
	int ret;

	callout_debug_assert_init(c);
	base = callout_lock(&c->node, &flags);
	ret = callout_stop_locked(base, c);
	if (callout_is_running(base, &c->node)) {
		ret = 0;
		if (!base->drain)
			base->drain = drain;
	}
	callout_unlock(base, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_async_drain);

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

	for_each_callout_base(base, cpu) {
		raw_spin_lock_irq(&base->lock);
		seq = base->run_seq;
		raw_spin_unlock_irq(&base->lock);
		if (seq & 1)
			callout_wait_run(base, seq);
	}
}
EXPORT_SYMBOL_GPL(callout_barrier);
