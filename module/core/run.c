// SPDX-License-Identifier: GPL-2.0
/*
 * run.c - run the handler of a due callout, without the base's lock
 */
#include <linux/callout.h>
#include <linux/debug_locks.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/wait.h>
#include "queue.h"
#include "associated.h"
#include "debug.h"
#include "run.h"
#include "kcompat.h"

#ifdef CONFIG_PREEMPT_RT
/* Let the waiters pass that wait for the handler that has just returned. */
static void expiry_wake(struct callout_base *base)
{
	spin_unlock(&base->expiry_lock);
	spin_lock(&base->expiry_lock);
}
#else
static void expiry_wake(struct callout_base *base)
{
	wake_up_all(&base->wait);
}
#endif

/*
 * Migrate a callout home that was armed while its handler ran. The base is unlocked
 * and locked again in between; interrupts stay off.
 *
 * A thread that stops or drains a running callout looks for it where it runs. So a
 * running callout is armed there, and base->leaving names it. The base's lock
 * protects base->leaving too: taking the callout out while its handler runs clears
 * base->leaving, so base->leaving names a pending callout or is NULL. A callout
 * that base->leaving does not name is not touched: its handler may have freed it.
 *
 *	CPU0: handler of c			CPU1
 *	callout_reset_on(c, 2): lock(base 0):
 *	c runs: queue it here, leaving = c
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
 *	lock(base 0): continues, without c
 *
 * In both cases c runs once at a time: base 2 gets c when the handler of c is over.
 *
 * If the home is not online c stays here, unless this is a global base: c is then
 * a timer that was pinned while it ran, and any CPU may run the timers of a global
 * base.
 */
static void co_leave(struct callout_base *base)
	__must_hold(&base->lock)
{
	struct callout_node *n = base->leaving;
	struct callout_base *home = co_base(n->home);

	base->leaving = NULL;
	if (!READ_ONCE(home->online)) {
		if (!co_base_has_class(base, CALLOUT_CLASS_GLOBAL))
			return;
		home = co_base_sibling(home, co_home_cpu());
	}
	co_unqueue_locked(base, n);
	callout_change_state(n, CALLOUT_S_DUE, 0);
	home = co_move_locked(base, n, home);
	co_start_locked(home, n, n->expires);
	co_base_unlock(home);
	co_base_lock(base);
}

/* co_run_end() when base->attention is set. */
void co_run_end_slow(struct callout_base *base, void *arg)
	__must_hold(&base->lock)
{
	callout_func_t *drain;

	base->attention = base->waiters;
	if (base->leaving)
		co_leave(base);
	if (base->drain) {
		drain = base->drain;
		base->drain = NULL;
		/* Call it before run_seq changes: callout_barrier() waits for it too. */
		co_base_unlock_irq(base);
		co_call(base, drain, arg);
		co_check_context(base, drain);
		co_base_lock_irq(base);
	}
	co_bump_seq(base);
	if (base->waiters) {
		/* Waking takes sleeping locks on PREEMPT_RT. */
		co_base_unlock_irq(base);
		expiry_wake(base);
		/* Do not count this time for the next handler. */
		co_time_passed(base, NULL);
		co_base_lock_irq(base);
	}
	/* Do this last: co_base_kill() may have run while the base was unlocked. */
	if (base->dead)
		base->left = 0;
}

/*
 * Jiffies have changed since the last handler returned. @func is the handler that
 * has run since, if any. Expiry ends soon, except on PREEMPT_RT. The base is not
 * locked, but it has only one expiry at a time, so nobody else writes these
 * members.
 */
noinline void co_time_passed(struct callout_base *base, callout_func_t *func)
{
	u64 edges = READ_ONCE(*base->jiffies) - base->edge;

	if (!edges)
		return;
	if (func && edges >= CALLOUT_SLOW_EDGES) {
		base->stats.slow++;
		/* On PREEMPT_RT the thread may have been preempted: do not blame the handler. */
		if (!IS_ENABLED(CONFIG_PREEMPT_RT))
			pr_info_ratelimited("callout: %ps took more than %u ms\n",
					    func, jiffies_to_msecs(edges - 1));
	}
	if (co_time_is_up(base))
		base->left = 0;
	/* Printing a line on a serial console can take as long as a handler. */
	base->edge = READ_ONCE(*base->jiffies);
}

/* Report and repair what co_check_context() has found. */
noinline void co_context_changed(struct callout_base *base,
				 callout_func_t *func)
{
	if (base->preempt_count != preempt_count()) {
		WARN_ONCE(1, "callout: %pS: preempt_count %08x became %08x\n",
			  func, base->preempt_count, preempt_count());
		preempt_count_set(base->preempt_count);
	}
	/* A lockdep report clears debug_locks, and then no lock counts as held. */
	if (base->lockdep_depth != lockdep_depth(current) && debug_locks)
		WARN_ONCE(1, "callout: %pS: held %d locks and now %d\n",
			  func, base->lockdep_depth, lockdep_depth(current));
}
EXPORT_SYMBOL_IF_KUNIT(co_context_changed);

/* See arm.c for the races with callout_stop(). */
static void co_run_with_lock(struct callout_base *base,
			     callout_func_t *func, void *arg, void *lock,
			     u8 lock_flags)
{
	unsigned long irqs;
	bool start = true;

	if (lock_flags & CALLOUT_TRYLOCK) {
		__acquire(lock);	/* co_run_func() has done so; for sparse */
	} else {
		co_associated_lock(lock, lock_flags);
		co_point();
		local_irq_save(irqs);
		co_base_lock(base);
		start = base->stage == CALLOUT_STAGE_WAITING;
		if (start)
			base->stage = CALLOUT_STAGE_STARTED;
		co_unlock(base, irqs);
		co_point();
	}
	if (start)
		func(arg);
	if (start && lock_flags & CALLOUT_RETURNUNLOCKED) {
		__release(lock);	/* by the handler; for sparse */
		co_look_at_time(base, func);
		return;
	}
	/* The next holder of the lock reads it, also under the base's lock. */
	if (start) {
		/* Pairs with co_handler_is_over(). */
		smp_store_release(&base->stage, CALLOUT_STAGE_OVER);
	}
	co_point();
	co_associated_unlock(lock, lock_flags);
	/*
	 * Not earlier: with interrupts off jiffies may stand still, and a line on
	 * the console may take a lock that an interrupt takes too, such as this
	 * lock.
	 */
	if (start)
		co_look_at_time(base, func);
}

/*
 * Not inline: x86 executes one more instruction before it takes an interrupt, and
 * that must not be the instruction that turns interrupts off again.
 */
static noinline void co_end_hold(struct callout_base *base)
	__releases(&base->lock)
{
	co_base_unlock_irq(base);
}

/* End one hold of the lock and begin another; interrupts are on in between. */
void co_relock(struct callout_base *base)
	__must_hold(&base->lock)
{
	co_end_hold(base);
	cpu_relax();
	co_base_lock_irq(base);
}

/*
 * The lock is contended: retry at the next tick. The callout stays pending
 * throughout and keeps its expiry, so it counts as late.
 */
static void co_put_off(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock)
{
	co_unqueue_locked(base, n);
	base->until_resize--;
	callout_change_state(n, 0, CALLOUT_S_DUE);
	list_add_tail(&n->entry, &base->put_off);
	co_relock(base);
}

/*
 * Requeue a callout whose tick has come before its time, which happens if
 * callout_jiffy_zero was too late, or jiffies lagged, when the callout was set. This
 * is a unit of work.
 */
static bool co_postpone(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock)
{
	u64 now = ktime_get_ns();

	if (n->time <= now)
		return false;
	co_unqueue_locked(base, n);
	callout_change_state(n, CALLOUT_S_DUE, 0);
	co_start_locked(base, n, co_from_ns(base, n->time, now));
	co_relock(base);
	return true;
}

/* Run the handler of a struct callout: the expire function of CALLOUT_KIND_FUNC. */
unsigned int co_run_func(struct callout_base *base, struct callout_node *n,
			 unsigned int *budget)
	__must_hold(&base->lock)
{
	struct callout *c = container_of(n, struct callout, node);
	struct callout_class *class = co_debug_class(c);
	struct lockdep_map map __maybe_unused = co_class_map(class);
	callout_func_t *func = c->func;
	u8 lock_flags = n->flags;
	void *lock = c->lock;
	void *arg = c->arg;

	if (READ_ONCE(n->active) == CALLOUT_A_TIME && co_postpone(base, n))
		return 1;
	if (lock_flags & CALLOUT_TRYLOCK) {
		if (!co_associated_trylock(lock, lock_flags)) {
			co_put_off(base, n);
			return 1;
		}
	}
	co_take_started(base, n);
	co_debug_deactivate(c);
	if (lock && !(lock_flags & CALLOUT_TRYLOCK))
		base->stage = CALLOUT_STAGE_WAITING;
	co_run_begin(base, n);
	/* Otherwise an interrupt could spin on the lock that trylock has taken. */
	if (!(lock_flags & CALLOUT_TRYLOCK) ||
	    !co_associated_irqs_off(lock_flags))
		local_irq_enable();
	/*
	 * From here on @c may be freed, by func or, if @c has a lock, by a holder
	 * of the lock. The class is acquired outside the lock, since draining under
	 * the lock is a deadlock too, except where trylock has taken the lock
	 * already.
	 */
	lock_acquire_exclusive(&map, 0, !!(lock_flags & CALLOUT_TRYLOCK), NULL,
			       _THIS_IP_);
	if (lock)
		co_run_with_lock(base, func, arg, lock, lock_flags);
	else
		co_call(base, func, arg);
	lock_map_release(&map);
	co_check_context(base, func);
	co_run_end(base, arg);
	base->stage = CALLOUT_STAGE_STARTED;
	return 1;
}

/* co_run_func() for a callout without a lock that was not set by the clock. */
static inline void co_run_plain(struct callout_base *base,
				struct callout_node *n)
	__must_hold(&base->lock)
{
	struct callout *c = container_of(n, struct callout, node);
	struct callout_class *class = co_debug_class(c);
	callout_func_t *func = c->func;
	void *arg = c->arg;

	co_take_started(base, n);
	co_debug_deactivate(c);
	co_run(base, n, class, func, arg);
}

/*
 * Run @n, which is plain, and the callouts that follow it in the walk of its bucket, until
 * one is not plain or base->left is 0. Return the node that is due next, if the walk has
 * reached it. Where many callouts are due together, each takes 84 instructions here, 97 one
 * by one in co_expire_due(), and 116 in co_run_func().
 */
struct callout_node *co_run_row(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock)
{
	do {
		base->left--;
		co_run_plain(base, n);
		n = co_next_in_walk(base);
	} while (n && co_is_plain(base, n) && base->left > 0);
	return n;
}
