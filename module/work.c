// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - callouts whose handler runs in a thread, and may sleep
 *
 * A layer on callout.h: the callout's own handler queues a work item, which
 * calls the user's handler. A setting belongs to the callout (SET) until it is
 * due, then to the work item (DUE), until that starts the user's handler or
 * another CPU replaces or cancels the setting. callout_work.lock is held at
 * each step, so a setting is always in one place, and is accounted for once:
 *
 *	CPU0: softirq				CPU1: callout_work_reset()
 *	c is not pending any more
 *	callout_work_due() is called
 *						lock: SET, so it returns 1
 *						SET, c is pending again
 *						unlock
 *	lock: SET, but c is pending: this
 *	setting was replaced
 *	unlock
 *
 * If CPU1 stops it instead, CPU0 finds IDLE. c cannot become due for the new
 * setting before CPU0 has unlocked: it stays on CPU0's base, where
 * callout_work_due() is the handler that runs. Likewise for the work item:
 *
 *	worker					CPU1: callout_work_stop()
 *	callout_work_run() is called
 *						lock: DUE, so it returns 1
 *						cancel_work(): too late
 *						IDLE
 *						unlock
 *	lock: not DUE
 *	unlock, the handler does not start
 *
 * The lock is a raw spinlock, taken in hard interrupts also on PREEMPT_RT. The
 * base's lock and that of a worker pool nest inside it. cancel_work() does not
 * spin there until another CPU has queued or cancelled the same item: both
 * happen under this lock, except in callout_work_drain(). That has set IDLE
 * before, and while it is, no other CPU cancels.
 */
#include <linux/callout_work.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include "arm.h"
#include "work.h"

/* callout_work.state: where the setting is, if there is one. */
#define WORK_IDLE	0
#define WORK_SET	1	/* the callout is pending, or just due */
#define WORK_DUE	2	/* the work item is queued, or just starting */

static struct workqueue_struct *wq;

/* callout_work_pending() takes no lock. */
static void callout_work_change_state(struct callout_work *w, u8 state)
{
	lockdep_assert_held(&w->lock);
	WRITE_ONCE(w->state, state);
}

/* The function of callout_work.work. */
void callout_work_run(struct work_struct *work)
{
	struct callout_work *w = container_of(work, struct callout_work, work);
	callout_func_t *func = NULL;
	unsigned long flags;
	void *arg = NULL;

	raw_spin_lock_irqsave(&w->lock, flags);
	if (w->state == WORK_DUE) {
		callout_work_change_state(w, WORK_IDLE);
		/*
		 * It is queued again if its setting was replaced while this
		 * waited for the lock, and the new one is due too: run that
		 * one.
		 */
		cancel_work(work);
		func = w->func;
		arg = w->arg;
	}
	raw_spin_unlock_irqrestore(&w->lock, flags);
	/* The handler may free @w: a work item may be freed by its function. */
	if (func)
		func(arg);
}
EXPORT_SYMBOL_GPL(callout_work_run);

static void callout_work_due(void *arg)
{
	struct callout_work *w = arg;
	unsigned long flags;

	raw_spin_lock_irqsave(&w->lock, flags);
	if (w->state == WORK_SET && !callout_pending(&w->c)) {
		callout_work_change_state(w, WORK_DUE);
		queue_work(wq, &w->work);
	}
	raw_spin_unlock_irqrestore(&w->lock, flags);
}

/**
 * callout_work_reset() - Set a callout whose handler may sleep, or re-arm it.
 * @w: the callout
 * @ticks: ticks from now; less than 1 counts as 1
 * @func: the handler, or NULL to keep the present one
 * @arg: its argument
 *
 * An earlier setting, due or not, is replaced if its handler has not started.
 * While callout_work_drain() waits nothing is set.
 *
 * Context: Any, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if it replaced a setting; 0 if there was none, so now there is one
 * more than before; -1 if nothing was set.
 */
int callout_work_reset(struct callout_work *w, long ticks, callout_func_t *func,
		       void *arg)
{
	unsigned long flags;
	int ret = -1;

	if (!func && !READ_ONCE(w->func)) {
		callout_no_function();
		return ret;
	}
	raw_spin_lock_irqsave(&w->lock, flags);
	if (w->drains)
		goto out;
	ret = w->state != WORK_IDLE;
	if (w->state == WORK_DUE)
		cancel_work(&w->work);
	callout_work_change_state(w, WORK_SET);
	if (func) {
		WRITE_ONCE(w->func, func);
		w->arg = arg;
	}
	callout_reset(&w->c, ticks, callout_work_due, w);
out:
	raw_spin_unlock_irqrestore(&w->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_work_reset);

/* callout_work_stop() with the lock held. */
static int callout_work_stop_locked(struct callout_work *w)
{
	u8 state = w->state;

	callout_work_change_state(w, WORK_IDLE);
	switch (state) {
	case WORK_SET:
		callout_stop(&w->c);
		return 1;
	case WORK_DUE:
		cancel_work(&w->work);
		return 1;
	default:
		return work_busy(&w->work) & WORK_BUSY_RUNNING ? 0 : -1;
	}
}

/**
 * callout_work_stop() - Cancel a callout whose handler may sleep.
 * @w: the callout
 *
 * The result is about the setting, so that references can be counted by it as
 * with OpenBSD's timeout_del(): unlike callout_stop() this returns 1 also while
 * an earlier setting's handler runs. @w may still be in use after it: call
 * callout_work_drain() before you free it.
 *
 * Context: Any, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if it was set and is not any more; 0 if it was not set, and its
 * handler is running; -1 if neither.
 */
int callout_work_stop(struct callout_work *w)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&w->lock, flags);
	ret = callout_work_stop_locked(w);
	raw_spin_unlock_irqrestore(&w->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_work_stop);

/**
 * callout_work_drain() - Cancel a callout and wait for its handler.
 * @w: the callout
 *
 * When this returns the callout may be freed.
 *
 * Context: Process context, may sleep. The caller must not be the handler, nor
 * hold a lock that the handler takes.
 * Return: as callout_work_stop().
 */
int callout_work_drain(struct callout_work *w)
{
	int ret;

	might_sleep();
	raw_spin_lock_irq(&w->lock);
	ret = callout_work_stop_locked(w);
	/* From here on no one sets it, nor does a handler that runs. */
	WRITE_ONCE(w->drains, w->drains + 1);
	raw_spin_unlock_irq(&w->lock);
	callout_drain(&w->c);
	cancel_work_sync(&w->work);
	raw_spin_lock_irq(&w->lock);
	WRITE_ONCE(w->drains, w->drains - 1);
	raw_spin_unlock_irq(&w->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_work_drain);

/**
 * callout_work_pending() - Is the callout set, and its handler not yet started?
 * @w: the callout
 *
 * Context: Any.
 * Return: true if so; a snapshot.
 */
bool callout_work_pending(struct callout_work *w)
{
	/* Pairs with the writes in callout_work_change_state(). */
	return READ_ONCE(w->state) != WORK_IDLE;
}
EXPORT_SYMBOL_GPL(callout_work_pending);

int callout_workqueue_create(void)
{
	wq = alloc_workqueue("callout", WQ_HIGHPRI, 0);
	return wq ? 0 : -ENOMEM;
}

/* Waits for handlers that were started, or are about to. */
void callout_workqueue_destroy(void)
{
	destroy_workqueue(wq);
}
