// SPDX-License-Identifier: GPL-2.0
/*
 * netbsd.c - NetBSD's callout(9)
 *
 * In NetBSD a callout is pending, or expired, which means that its handler has
 * started, until it is set or stopped. callout_stop() returns whether it was
 * expired. The state of a callout and the start of its handler change in one step,
 * under callout_work.lock.
 */
#include <linux/callout_netbsd.h>
#include <linux/module.h>
#include "work.h"

/**
 * callout_netbsd_destroy() - End the use of a callout.
 * @c: the callout, stopped; its handler does not run, or calls this
 *
 * Warns if the callout is pending. From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_netbsd_destroy(struct callout_netbsd *c)
{
	WARN_ONCE(callout_work_pending(&c->w),
		  "callout: destroyed while it is pending\n");
}
EXPORT_SYMBOL_GPL(callout_netbsd_destroy);

/**
 * callout_netbsd_setfunc() - Set the handler of a callout.
 * @c: the callout
 * @func: the handler
 * @arg: the handler's argument
 *
 * For callout_netbsd_schedule(). From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_netbsd_setfunc(struct callout_netbsd *c, callout_func_t *func,
			    void *arg)
{
	callout_work_set_func(&c->w, func, arg);
}
EXPORT_SYMBOL_GPL(callout_netbsd_setfunc);

/**
 * callout_netbsd_reset() - Set a callout, or move it to another time.
 * @c: the callout
 * @distance: ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: the handler's argument
 *
 * The handler runs on the current CPU. A pending callout stays on its CPU, and so
 * does a callout that is bound, or was initialised without CALLOUT_MPSAFE. From
 * NetBSD's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_netbsd_reset(struct callout_netbsd *c, int distance,
			  callout_func_t *func, void *arg)
{
	if (!c->bound && callout_work_pending(&c->w))
		callout_work_reset_on(&c->w, distance, func, arg, -1);
	else
		callout_work_reset(&c->w, distance, func, arg);
}
EXPORT_SYMBOL_GPL(callout_netbsd_reset);

/**
 * callout_netbsd_schedule() - Set a callout, with the handler that it has.
 * @c: the callout
 * @distance: ticks from now; less than 1 counts as 1
 *
 * As callout_netbsd_reset(). Without a handler this warns, once, and sets
 * nothing. From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_netbsd_schedule(struct callout_netbsd *c, int distance)
{
	callout_netbsd_reset(c, distance, NULL, NULL);
}
EXPORT_SYMBOL_GPL(callout_netbsd_schedule);

/**
 * callout_netbsd_stop() - Cancel a callout.
 * @c: the callout
 *
 * Does not wait for a running handler. From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 * Return: true if the handler has started since the callout was set, and the callout
 * has not been stopped since: the handler may still run.
 */
bool callout_netbsd_stop(struct callout_netbsd *c)
{
	return callout_work_cancel(&c->w).past & CALLOUT_WORK_FIRED;
}
EXPORT_SYMBOL_GPL(callout_netbsd_stop);

static void co_netbsd_release(void *lock, bool spin)
{
	if (!spin) {
		mutex_unlock(lock);
		return;
	}
	spin_unlock_bh((spinlock_t *)lock);
	__acquire(lock);	/* locked again below; for sparse */
}

static void co_netbsd_acquire(void *lock, bool spin)
{
	if (!spin) {
		mutex_lock(lock);
		return;
	}
	__release(lock);	/* unlocked above; for sparse */
	spin_lock_bh((spinlock_t *)lock);
}

/* callout_netbsd_halt(). @lock is a spinlock_t if @spin, otherwise a mutex, or NULL. */
bool callout_netbsd_halt_as(struct callout_netbsd *c, void *lock, bool spin)
{
	struct callout_work_was was = callout_work_cancel(&c->w);

	if (was.running && !callout_work_is_own(&c->w)) {
		if (lock)
			co_netbsd_release(lock, spin);
		/* The handler may have set the callout again. */
		callout_work_drain(&c->w);
		if (lock)
			co_netbsd_acquire(lock, spin);
	}
	return was.past & CALLOUT_WORK_FIRED;
}
EXPORT_SYMBOL_GPL(callout_netbsd_halt_as);

/**
 * callout_netbsd_pending() - Is the callout set, and its handler not started?
 * @c: the callout
 *
 * From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 * Return: true if it is pending; a snapshot.
 */
bool callout_netbsd_pending(struct callout_netbsd *c)
{
	return callout_work_pending(&c->w);
}
EXPORT_SYMBOL_GPL(callout_netbsd_pending);

/**
 * callout_netbsd_expired() - Has the handler started?
 * @c: the callout
 *
 * From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 * Return: true if the handler has started since the callout was set, and the callout
 * has not been stopped since; a snapshot.
 */
bool callout_netbsd_expired(struct callout_netbsd *c)
{
	return READ_ONCE(c->w.past) & CALLOUT_WORK_FIRED;
}
EXPORT_SYMBOL_GPL(callout_netbsd_expired);

/**
 * callout_netbsd_active() - Is the callout pending or expired?
 * @c: the callout
 *
 * From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 * Return: true from when the callout is set until it is stopped; a snapshot.
 */
bool callout_netbsd_active(struct callout_netbsd *c)
{
	return callout_work_active(&c->w);
}
EXPORT_SYMBOL_GPL(callout_netbsd_active);

/**
 * callout_netbsd_invoking() - Has the handler not acknowledged its start?
 * @c: the callout
 *
 * Code that has stopped the callout uses this to leave it to the handler to free
 * the callout. From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 * Return: true from when the handler starts until callout_netbsd_ack() or until the
 * callout is set, also if the callout was stopped; a snapshot.
 */
bool callout_netbsd_invoking(struct callout_netbsd *c)
{
	return READ_ONCE(c->w.past) & CALLOUT_WORK_INVOKED;
}
EXPORT_SYMBOL_GPL(callout_netbsd_invoking);

/**
 * callout_netbsd_ack() - Acknowledge the start of a handler.
 * @c: the callout
 *
 * The handler calls this. From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_netbsd_ack(struct callout_netbsd *c)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&c->w.lock, flags);
	WRITE_ONCE(c->w.past, c->w.past & ~CALLOUT_WORK_INVOKED);
	raw_spin_unlock_irqrestore(&c->w.lock, flags);
}
EXPORT_SYMBOL_GPL(callout_netbsd_ack);

/**
 * callout_netbsd_bind() - Bind a callout to a CPU.
 * @c: the callout, neither pending nor running
 * @cpu: the number of the CPU; NetBSD takes a struct cpu_info
 *
 * From NetBSD's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_netbsd_bind(struct callout_netbsd *c, unsigned int cpu)
{
	c->bound = true;
	c->w.cpu = cpu;
}
EXPORT_SYMBOL_GPL(callout_netbsd_bind);
