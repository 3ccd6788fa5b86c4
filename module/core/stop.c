// SPDX-License-Identifier: GPL-2.0
/*
 * stop.c - functions that cancel a callout, or wait for its handler
 *
 * arm.c has the states of a callout, and the races with its handler.
 */
#include <linux/callout.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/wait.h>
#include "queue.h"
#include "debug.h"
#include "run.h"

/* callout_stop() with the base locked. Does not cancel a handler that waits for its lock. */
static __always_inline int co_stop_locked(struct callout_base *base,
					  struct callout *c)
{
	struct callout_node *n = &c->node;
	u8 state = n->state;
	bool pending = state & CALLOUT_S_PENDING;

	WRITE_ONCE(n->active, 0);
	if (likely((state & (CALLOUT_S_PENDING | CALLOUT_S_DUE |
			     CALLOUT_S_STARTED_HERE)) == CALLOUT_S_PENDING)) {
		co_scheme_stop(base, n);
		base->until_resize++;
		WRITE_ONCE(n->state, state & ~CALLOUT_S_PENDING);
		co_debug_deactivate(c);
		trace_callout_cancel(n);
		return 1;
	}
	if (pending) {
		co_dequeue_locked(base, n);
		co_debug_deactivate(c);
		trace_callout_cancel(n);
	}
	if (co_is_running(base, n)) {
		base->leaving = NULL;
		/* If it is over it is not running, as far as the callout's user can see. */
		if (!co_handler_is_over(base))
			return 0;
	}
	return pending ? 1 : -1;
}

static __always_inline int co_stop_or_cancel(struct callout *c, bool *pending)
{
	struct callout_base *base;
	unsigned long flags;
	int ret;

	base = co_lock(&c->node, &flags);
	*pending = c->node.state & CALLOUT_S_PENDING;
	ret = co_stop_locked(base, c);
	if (!ret && co_cancel_start(base, &c->node))
		ret = 1;
	co_unlock(base, flags);
	return ret;
}

#ifdef CONFIG_DEBUG_OBJECTS
/*
 * callout_stop() for a callout that debugobjects has reported when it was freed or
 * initialised. A report about its lock would use up the only warning of that kind.
 */
int co_stop_unasserted(struct callout *c)
{
	bool pending;

	return co_stop_or_cancel(c, &pending);
}
#endif

/*
 * As callout_stop(), and say in @pending whether @c was pending. After a return of
 * 0, @pending distinguishes whose handler runs: if false the present setting's, if
 * true an earlier setting's.
 */
int co_stop_was(struct callout *c, bool *pending)
{
	co_debug_assert_init(c);
	co_debug_assert_held(c);
	return co_stop_or_cancel(c, pending);
}

/**
 * callout_stop() - Cancel a callout.
 * @c: The callout.
 *
 * Does not wait for a running handler. A callout that is running and was set again
 * is no longer set afterwards, and 0 is returned.
 *
 * If the callout has an associated lock, the caller must hold it. Then the
 * handler does not start after this has returned 1, not even if it was waiting
 * for the lock; and 0 is returned only to the handler itself and, with
 * CALLOUT_RETURNUNLOCKED, after the handler has released the lock.
 *
 * From FreeBSD's callout(9).
 *
 * Context: Any but NMI, hard interrupt included.
 * Return: 1 if it was cancelled; 0 if its handler is running and could not be
 * stopped; -1 if it was not pending.
 */
int callout_stop(struct callout *c)
{
	bool pending;

	if (co_misused(c))
		return -1;
	co_debug_assert_init(c);
	co_debug_assert_held(c);
	return co_stop_or_cancel(c, &pending);
}
EXPORT_SYMBOL_GPL(callout_stop);

#ifdef CONFIG_PREEMPT_RT
/*
 * A handler runs in a thread, which a thread of higher priority may preempt.
 * Blocking on expiry_lock boosts it, which avoids priority inversion. run.c
 * releases the lock after a handler that has waiters.
 */
static void co_wait_seq(struct callout_base *base, unsigned long seq)
{
	while (READ_ONCE(base->run_seq) == seq) {
		spin_lock_bh(&base->expiry_lock);
		spin_unlock_bh(&base->expiry_lock);
	}
}
#else
static void co_wait_seq(struct callout_base *base, unsigned long seq)
{
	wait_event(base->wait, READ_ONCE(base->run_seq) != seq);
}
#endif

/*
 * Wait until a running handler has returned. @seq is the base's run_seq, read under
 * the base's lock while the handler was running.
 */
void co_wait_for_handler(struct callout_base *base, unsigned long seq)
{
	co_base_lock_irq(base);
	base->waiters++;
	base->attention = true;
	co_base_unlock_irq(base);

	co_wait_seq(base, seq);

	co_base_lock_irq(base);
	base->waiters--;
	co_base_unlock_irq(base);
}

/*
 * Cancel and wait: callout_drain() and callout_shutdown(). @shut is CALLOUT_S_SHUT
 * to refuse settings permanently, or 0.
 *
 * The bit is set in the hold of the lock that cancels, and arming reads it in a
 * hold of the same lock, so a setting is either cancelled or refused:
 *
 *	CPU0: callout_shutdown(c)		CPU1: handler of another callout
 *						callout_reset(c): lock(base):
 *						not SHUT: files c
 *						unlock(base)
 *	lock(base): takes c out, SHUT
 *	unlock(base)
 *						callout_reset(c): lock(base):
 *						SHUT: returns 0
 *	c is neither pending nor running:
 *	returns; c stays so
 *
 * CPU1 may also run the handler of c itself. DRAINING would suffice for the handler
 * of c, but not for others, since DRAINING ends with the wait. An idle callout
 * keeps its base, so neither hotplug nor a move clears SHUT: arming refuses first.
 */
static int co_cancel_wait(struct callout *c, u8 shut)
{
	struct callout_base *base;
	unsigned long flags, seq;
	int ret;

	if (co_misused(c))
		return -1;
	might_sleep();
	co_debug_assert_init(c);
	co_debug_wait(co_debug_class(c));

	base = co_lock(&c->node, &flags);
	ret = co_stop_locked(base, c);
	callout_change_state(&c->node, 0, shut);
	while (co_is_running(base, &c->node)) {
		callout_change_state(&c->node, 0, CALLOUT_S_DRAINING);
		seq = base->run_seq;
		co_unlock(base, flags);
		co_point();
		co_wait_for_handler(base, seq);
		base = co_lock(&c->node, &flags);
		/* Another drain may have ended, and the callout may have been set again. */
		co_stop_locked(base, c);
	}
	callout_change_state(&c->node, CALLOUT_S_DRAINING, 0);
	co_unlock(base, flags);
	return ret;
}

/**
 * callout_drain() - Cancel a callout and wait for its handler.
 * @c: The callout.
 *
 * As callout_stop(); when this returns the handler is not running, and the callout
 * may be freed. While this waits, callout_reset() of @c sets nothing, whether the
 * handler or another thread calls it. As always, it still cancels a handler that
 * waits for its associated lock. If several threads drain @c, a setting made when
 * the first has returned is cancelled by the others.
 *
 * From FreeBSD's callout(9).
 *
 * Context: Process context, may sleep. It deadlocks if called from the handler of
 * @c, or with a lock held that the handler takes, the associated lock included.
 * Return: As callout_stop().
 */
int callout_drain(struct callout *c)
{
	return co_cancel_wait(c, 0);
}
EXPORT_SYMBOL_GPL(callout_drain);

/**
 * callout_shutdown() - Cancel a callout permanently and wait for its handler.
 * @c: The callout.
 *
 * As callout_drain(), and nothing sets @c afterwards until callout_init() or a
 * variant: each function that sets a callout then does nothing and returns 0,
 * whoever calls it. So it ends callouts whose handlers set each other, in any order
 * and without a flag in the caller's code. Shut down a callout before freeing it.
 *
 * Like Linux's timer_shutdown_sync(); not in FreeBSD.
 *
 * Context: Process context, may sleep. It deadlocks if called from the handler of
 * @c, or with a lock held that the handler takes, the associated lock included.
 * Return: As callout_stop(). -1 if @c had been shut down before, or 0 if that
 * shutdown still waits for the handler.
 */
int callout_shutdown(struct callout *c)
{
	return co_cancel_wait(c, CALLOUT_S_SHUT);
}
EXPORT_SYMBOL_GPL(callout_shutdown);

/**
 * callout_async_drain() - Cancel a callout; report when its handler is done.
 * @c: The callout.
 * @drain: Called with the handler's argument, in softirq context, when the handler
 *	that is running has returned and @c may be freed.
 *
 * As callout_drain(), but does not wait: if this returns 0, @drain will be called,
 * once. @c cannot be set while its handler still runs. It can be set afterwards,
 * even before @drain is called. So if @drain frees @c, make sure that nobody sets
 * @c any more. After any other return value @drain is not called. Only one @drain
 * can be waiting at a time: a concurrent call returns 0, and its @drain is not
 * called. A handler that waits for its associated lock still starts.
 *
 * From FreeBSD's callout(9), release 11 and later.
 *
 * Context: Any but NMI, hard interrupt included.
 * Return: 1 if it was cancelled; 0 if its handler is running, or was cancelled
 * while it waited and its associated lock is still in use; -1 if it was not
 * pending.
 */
int callout_async_drain(struct callout *c, callout_func_t *drain)
{
	struct callout_base *base;
	unsigned long flags;
	int ret;

	if (co_misused(c))
		return -1;
	co_debug_assert_init(c);
	base = co_lock(&c->node, &flags);
	ret = co_stop_locked(base, c);
	if (co_is_running(base, &c->node)) {
		ret = 0;
		if (!base->drain)
			base->drain = drain;
		base->attention = true;
	}
	co_unlock(base, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_async_drain);

/**
 * callout_barrier() - Wait for all running handlers.
 *
 * On return every handler that had started before the call has returned. A module
 * that has cancelled all its callouts, for example by handle, calls this in its
 * exit function, since it must not be unloaded before its last handler has
 * returned.
 *
 * Context: Process context, may sleep; not from a handler.
 */
void callout_barrier(void)
{
	struct callout_base *base;
	unsigned long seq;
	unsigned int i;

	might_sleep();

	for_each_base(base, i) {
		co_base_lock_irq(base);
		seq = base->run_seq;
		co_base_unlock_irq(base);
		if (seq & 1)
			co_wait_for_handler(base, seq);
	}
}
EXPORT_SYMBOL_GPL(callout_barrier);
