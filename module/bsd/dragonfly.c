// SPDX-License-Identifier: GPL-2.0
/*
 * dragonfly.c - DragonFly's callout(9)
 *
 * Handlers run in a thread, and may sleep. The calls that wait do not deadlock
 * under the associated mutex, since callout_work_run() does not wait for the mutex.
 * In the handler they do not wait.
 */
#include <linux/callout_dragonfly.h>
#include <linux/module.h>
#include "work.h"

static bool co_dragonfly_terminated(struct callout_dragonfly *c)
{
	return WARN_ONCE(READ_ONCE(c->terminated),
			 "callout: set after callout_terminate()\n");
}

/**
 * callout_dragonfly_reset() - Set a callout, or move it to another time.
 * @c: the callout
 * @distance: ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: the handler's argument
 *
 * The handler runs on the current CPU. While callout_dragonfly_cancel() waits,
 * nothing is set. From DragonFly's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_dragonfly_reset(struct callout_dragonfly *c, int distance,
			     callout_func_t *func, void *arg)
{
	if (!co_dragonfly_terminated(c))
		callout_work_reset(&c->w, distance, func, arg);
}
EXPORT_SYMBOL_GPL(callout_dragonfly_reset);

/**
 * callout_dragonfly_reset_bycpu() - Set a callout on a CPU.
 * @c: the callout
 * @distance: ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: the handler's argument
 * @cpu: the CPU on which the handler will run
 *
 * From DragonFly's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_dragonfly_reset_bycpu(struct callout_dragonfly *c, int distance,
				   callout_func_t *func, void *arg, int cpu)
{
	if (!co_dragonfly_terminated(c))
		callout_work_reset_on(&c->w, distance, func, arg, cpu);
}
EXPORT_SYMBOL_GPL(callout_dragonfly_reset_bycpu);

/**
 * callout_dragonfly_stop_async() - Cancel a callout.
 * @c: the callout
 *
 * Does not wait for a running handler. From DragonFly's callout(9).
 *
 * Context: Any but NMI.
 * Return: 1 if the callout was set, and this setting does not run; else 0.
 */
int callout_dragonfly_stop_async(struct callout_dragonfly *c)
{
	return callout_work_cancel(&c->w).set;
}
EXPORT_SYMBOL_GPL(callout_dragonfly_stop_async);

/**
 * callout_dragonfly_stop() - Cancel a callout and wait for its handler.
 * @c: the callout
 *
 * Others may set the callout again while this waits. The handler may call this,
 * which then does not wait. From DragonFly's callout(9).
 *
 * Context: Process context, may sleep. The caller must not hold a lock that the
 * handler takes, except for the associated mutex.
 * Return: as callout_dragonfly_stop_async().
 */
int callout_dragonfly_stop(struct callout_dragonfly *c)
{
	int ret = callout_dragonfly_stop_async(c);

	if (!callout_work_is_own(&c->w))
		callout_work_barrier(&c->w);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_dragonfly_stop);

/**
 * callout_dragonfly_cancel() - Cancel a callout, drop settings during the wait.
 * @c: the callout
 *
 * As callout_dragonfly_stop(), but settings by others while this waits are dropped.
 * From DragonFly's callout(9), where callout_drain() is equivalent.
 *
 * Context: As callout_dragonfly_stop().
 * Return: as callout_dragonfly_stop_async().
 */
int callout_dragonfly_cancel(struct callout_dragonfly *c)
{
	if (callout_work_is_own(&c->w))
		return callout_dragonfly_stop_async(c);
	return callout_work_drain(&c->w) == 1;
}
EXPORT_SYMBOL_GPL(callout_dragonfly_cancel);

/**
 * callout_dragonfly_terminate() - End the use of a callout.
 * @c: the callout
 *
 * As callout_dragonfly_cancel(). Afterwards the callout may be freed or
 * initialised, also by its handler. Setting it before it is initialised again
 * warns, and sets nothing. From DragonFly's callout(9).
 *
 * Context: As callout_dragonfly_stop().
 */
void callout_dragonfly_terminate(struct callout_dragonfly *c)
{
	WRITE_ONCE(c->terminated, true);
	callout_work_refuse(&c->w);
	callout_dragonfly_cancel(c);
	/*
	 * If the handler calls this and has set @c again, the core may have taken
	 * that setting: then co_work_due() still needs @c->w.
	 */
	callout_drain(&c->w.c);
}
EXPORT_SYMBOL_GPL(callout_dragonfly_terminate);

/**
 * callout_dragonfly_pending() - Is the callout set, and its handler not started?
 * @c: the callout
 *
 * From DragonFly's callout(9), where a callout that is due is no longer pending.
 *
 * Context: Any but NMI.
 * Return: 1 if it is pending, else 0; a snapshot.
 */
int callout_dragonfly_pending(struct callout_dragonfly *c)
{
	return callout_work_pending(&c->w);
}
EXPORT_SYMBOL_GPL(callout_dragonfly_pending);

/**
 * callout_dragonfly_active() - Was the callout set, and not stopped since?
 * @c: the callout
 *
 * From DragonFly's callout(9).
 *
 * Context: Any but NMI.
 * Return: 1 if it is active, also after it has run; else 0.
 */
int callout_dragonfly_active(struct callout_dragonfly *c)
{
	return callout_work_active(&c->w);
}
EXPORT_SYMBOL_GPL(callout_dragonfly_active);

/**
 * callout_dragonfly_deactivate() - Make a callout inactive.
 * @c: the callout
 *
 * If the callout was set again this cancels it too, as DragonFly does. From
 * DragonFly's callout(9).
 *
 * Context: Any but NMI.
 */
void callout_dragonfly_deactivate(struct callout_dragonfly *c)
{
	callout_dragonfly_stop_async(c);
}
EXPORT_SYMBOL_GPL(callout_dragonfly_deactivate);
