// SPDX-License-Identifier: GPL-2.0
/*
 * stop.c - Linux's timers: functions that cancel a timer, or wait for its function
 *
 * timer.c has the races with the timer's function and with callers that set the
 * timer.
 */
#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/timer.h>
#include "core/queue.h"
#include "core/run.h"
#include "timer.h"

/* Take a timer out. Return whether it was pending. The base is locked. */
static bool timer_stop_locked(struct callout_base *base,
			      struct callout_timer *t)
	__must_hold(&base->lock)
{
	if (!(t->node.state & CALLOUT_S_PENDING))
		return false;
	co_dequeue_locked(base, &t->node);
	debug_object_deactivate(t, &callout_timer_descr);
	trace_callout_cancel(&t->node);
	if (co_timer_runs(base, t))
		base->leaving = NULL;
	return true;
}

/**
 * struct timer_run - a running handler of a timer
 * @base: the base that runs it
 * @seq: run_seq of @base while the handler runs
 */
struct timer_run {
	struct callout_base *base;
	unsigned long seq;
};

/* Cancel a timer. With a @run, a running timer is left alone: return -1, and fill @run. */
static int timer_cancel(struct callout_timer *t, bool shutdown,
			struct timer_run *run)
{
	struct callout_base *base;
	unsigned long flags;
	int ret = -1;

	debug_object_assert_init(t, &callout_timer_descr);
	if (!shutdown && !run && !callout_timer_pending(t))
		return 0;
	co_point();
	base = co_lock(&t->node, &flags);
	if (run && co_timer_runs(base, t)) {
		run->base = base;
		run->seq = base->run_seq;
	} else {
		ret = timer_stop_locked(base, t);
		if (shutdown)
			WRITE_ONCE(t->function, NULL);
	}
	co_unlock(base, flags);
	return ret;
}

/**
 * callout_timer_delete() - Cancel a timer.
 * @timer: The timer.
 *
 * Does not wait for a running function.
 *
 * From linux/timer.h: timer_delete(), formerly del_timer().
 *
 * Context: Any but NMI, hard interrupt included.
 * Return: 1 if the timer was pending, else 0.
 */
int callout_timer_delete(struct callout_timer *timer)
{
	return timer_cancel(timer, false, NULL);
}
EXPORT_SYMBOL_GPL(callout_timer_delete);

/**
 * callout_timer_shutdown() - Cancel a timer permanently.
 * @timer: The timer.
 *
 * Does not wait for a running function. From then on setting the timer has no
 * effect, even in that function, until the timer is initialised again.
 *
 * From linux/timer.h: timer_shutdown(), of Linux 6.2 and later.
 *
 * Context: Any but NMI, hard interrupt included.
 * Return: 1 if the timer was pending, else 0.
 */
int callout_timer_shutdown(struct callout_timer *timer)
{
	return timer_cancel(timer, true, NULL);
}
EXPORT_SYMBOL_GPL(callout_timer_shutdown);

/**
 * callout_timer_delete_sync_try() - Cancel a timer, unless its function runs.
 * @timer: The timer. If its function is running nothing changes: a timer that has
 *	been set again stays pending.
 *
 * From linux/timer.h: timer_delete_sync_try(), formerly try_to_del_timer_sync().
 *
 * Context: Any but NMI, hard interrupt included.
 * Return: 1 if the timer was pending, else 0; -1 if its function is running.
 */
int callout_timer_delete_sync_try(struct callout_timer *timer)
{
	struct timer_run run;

	return timer_cancel(timer, false, &run);
}
EXPORT_SYMBOL_GPL(callout_timer_delete_sync_try);

/*
 * Check that waiting for a handler is no deadlock: the caller must hold no lock
 * that the handler takes.
 */
static void timer_check_wait(struct callout_timer *t)
{
	bool irqsafe = READ_ONCE(t->flags) & TIMER_IRQSAFE;
#ifdef CONFIG_LOCKDEP
	unsigned long flags;

	/* No softirq may run on this CPU in between. */
	local_irq_save(flags);
	lock_map_acquire(&t->lockdep_map);
	lock_map_release(&t->lockdep_map);
	local_irq_restore(flags);
#endif
	/*
	 * The caller may have interrupted the handler, unless the handler runs with
	 * interrupts off.
	 */
	WARN_ON(in_hardirq() && !irqsafe);
	/* timer_wait() may sleep then. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !irqsafe)
		lockdep_assert_preemption_enabled();
}

/*
 * Wait until a handler has returned. The handler runs on another CPU, in softirq
 * context. There it is not preempted, so the wait is as long as the handler. On
 * PREEMPT_RT it can be preempted, even by this thread. So this thread boosts the
 * handler, unless the handler runs with interrupts off.
 */
static void timer_wait(const struct timer_run *run, bool irqsafe)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !irqsafe) {
		co_wait_for_handler(run->base, run->seq);
		return;
	}
	while (READ_ONCE(run->base->run_seq) == run->seq)
		cpu_relax();
}

static int timer_delete_and_wait(struct callout_timer *t, bool shutdown)
{
	struct timer_run run;
	int ret;

	timer_check_wait(t);
	while ((ret = timer_cancel(t, shutdown, &run)) < 0) {
		co_point();
		timer_wait(&run, READ_ONCE(t->flags) & TIMER_IRQSAFE);
	}
	return ret;
}

/**
 * callout_timer_delete_sync() - Cancel a timer and wait for its function.
 * @timer: The timer.
 *
 * When this returns the function is not running, and the timer may be freed if
 * nobody can set it: see callout_timer_shutdown_sync().
 *
 * From linux/timer.h: timer_delete_sync(), formerly del_timer_sync().
 *
 * Context: Any but hard interrupt; for a TIMER_IRQSAFE timer also hard interrupt.
 * It spins; on PREEMPT_RT it may sleep, except for a TIMER_IRQSAFE timer. It
 * deadlocks if called from the function of @timer, or with a lock held that the
 * function takes. Unless @timer is TIMER_IRQSAFE, it also deadlocks with a lock
 * held that is taken in a hard interrupt.
 * Return: 1 if the timer was pending, else 0.
 */
int callout_timer_delete_sync(struct callout_timer *timer)
{
	return timer_delete_and_wait(timer, false);
}
EXPORT_SYMBOL_GPL(callout_timer_delete_sync);

/**
 * callout_timer_shutdown_sync() - Cancel a timer permanently, wait for its
 * function.
 * @timer: The timer.
 *
 * When this returns the function is not running, and setting the timer has no
 * effect until it is initialised again. The timer may be freed when no call with it
 * is under way.
 *
 * From linux/timer.h: timer_shutdown_sync(), of Linux 6.2 and later.
 *
 * Context: As callout_timer_delete_sync().
 * Return: 1 if the timer was pending, else 0.
 */
int callout_timer_shutdown_sync(struct callout_timer *timer)
{
	return timer_delete_and_wait(timer, true);
}
EXPORT_SYMBOL_GPL(callout_timer_shutdown_sync);
