// SPDX-License-Identifier: GPL-2.0
/*
 * proc.c - callouts whose handler runs in a thread, and may sleep
 *
 * A layer on callout.h: the callout's own handler queues a work item, and that
 * calls the handler of the user. A setting is of the callout (SET) until that
 * is due, then of the work item (DUE), until that starts the user's handler or
 * somebody takes the setting away. callout_proc.lock is held at each step, so
 * that a setting is always in one place, and is accounted for once:
 *
 *	CPU0: softirq				CPU1: callout_proc_reset()
 *	c is not pending any more
 *	callout_proc_due() is called
 *						lock: SET, so it returns 1
 *						SET, c is pending again
 *						unlock
 *	lock: SET, but c is pending: this
 *	was replaced
 *	unlock
 *
 * If CPU1 stops it instead, CPU0 finds IDLE. c cannot become due for the new
 * setting before CPU0 has unlocked: it stays on CPU0's base, where
 * callout_proc_due() is the handler that runs. Likewise for the work item:
 *
 *	worker					CPU1: callout_proc_stop()
 *	callout_proc_work() is called
 *						lock: DUE, so it returns 1
 *						cancel_work(): too late
 *						IDLE
 *						unlock
 *	lock: not DUE
 *	unlock, the handler does not start
 *
 * The lock is a raw spinlock, taken in hard interrupts also on PREEMPT_RT.
 * Inside it are the base's lock, and that of a worker pool. cancel_work() does
 * not spin there for another one that queues or cancels the same item: both
 * happen under this lock, except in callout_proc_drain(), which has made the
 * state IDLE before, and then nobody else cancels.
 */
#include <linux/callout.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include "arm.h"
#include "proc.h"

/* callout_proc.state: where the setting is, if there is one. */
#define PROC_IDLE	0
#define PROC_SET	1	/* the callout is pending, or just due */
#define PROC_DUE	2	/* the work item is queued, or just starting */

static struct workqueue_struct *wq;

/* callout_proc_pending() takes no lock. */
static void callout_proc_change_state(struct callout_proc *p, u8 state)
{
	lockdep_assert_held(&p->lock);
	WRITE_ONCE(p->state, state);
}

/**
 * callout_proc_work - the function of callout_proc.work
 * @work: the work item
 */
void callout_proc_work(struct work_struct *work)
{
	struct callout_proc *p = container_of(work, struct callout_proc, work);
	callout_func_t *func = NULL;
	unsigned long flags;
	void *arg = NULL;

	raw_spin_lock_irqsave(&p->lock, flags);
	if (p->state == PROC_DUE) {
		callout_proc_change_state(p, PROC_IDLE);
		/*
		 * It is queued once more if its setting was replaced while this
		 * waited for the lock, and the new one is due too: this runs it.
		 */
		cancel_work(work);
		func = p->func;
		arg = p->arg;
	}
	raw_spin_unlock_irqrestore(&p->lock, flags);
	/* The handler may free @p; work items may be freed by their function. */
	if (func)
		func(arg);
}
EXPORT_SYMBOL_GPL(callout_proc_work);

static void callout_proc_due(void *arg)
{
	struct callout_proc *p = arg;
	unsigned long flags;

	raw_spin_lock_irqsave(&p->lock, flags);
	if (p->state == PROC_SET && !callout_pending(&p->c)) {
		callout_proc_change_state(p, PROC_DUE);
		queue_work(wq, &p->work);
	}
	raw_spin_unlock_irqrestore(&p->lock, flags);
}

/**
 * callout_proc_reset - sets such a callout, or moves it to another time
 * @p: the callout
 * @ticks: how many ticks from now; less than 1 counts as 1
 * @func: the handler, or NULL for the one that it had
 * @arg: its argument
 *
 * A setting that is there, due or not, is replaced: its handler does not start.
 * While callout_proc_drain() waits nothing is set.
 *
 * Context: Any, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if it replaced a setting; 0 if there was none, so that now there is
 * one more than before; -1 if nothing was set.
 */
int callout_proc_reset(struct callout_proc *p, long ticks, callout_func_t *func,
		       void *arg)
{
	unsigned long flags;
	int ret = -1;

	if (!func && !READ_ONCE(p->func)) {
		callout_no_function();
		return ret;
	}
	raw_spin_lock_irqsave(&p->lock, flags);
	if (p->drains)
		goto out;
	ret = p->state != PROC_IDLE;
	if (p->state == PROC_DUE)
		cancel_work(&p->work);
	callout_proc_change_state(p, PROC_SET);
	if (func) {
		WRITE_ONCE(p->func, func);
		p->arg = arg;
	}
	callout_reset(&p->c, ticks, callout_proc_due, p);
out:
	raw_spin_unlock_irqrestore(&p->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_proc_reset);

/* What callout_proc_stop() returns. */
static int callout_proc_stop_locked(struct callout_proc *p)
{
	u8 state = p->state;

	callout_proc_change_state(p, PROC_IDLE);
	switch (state) {
	case PROC_SET:
		callout_stop(&p->c);
		return 1;
	case PROC_DUE:
		cancel_work(&p->work);
		return 1;
	default:
		return work_busy(&p->work) & WORK_BUSY_RUNNING ? 0 : -1;
	}
}

/**
 * callout_proc_stop - cancels such a callout
 * @p: the callout
 *
 * What it returns is about the setting, so that references can be counted by
 * it as with OpenBSD's timeout_del(): unlike with callout_stop(), also 1 if an
 * earlier setting's handler is running. After it @p may be in use for a moment
 * still: callout_proc_drain() it before it is freed.
 *
 * Context: Any, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if it was set and is not any more; 0 if it was not set, and its
 * handler is running; -1 if neither.
 */
int callout_proc_stop(struct callout_proc *p)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&p->lock, flags);
	ret = callout_proc_stop_locked(p);
	raw_spin_unlock_irqrestore(&p->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_proc_stop);

/**
 * callout_proc_drain - cancels such a callout and waits for its handler
 * @p: the callout
 *
 * When this returns the callout may be freed.
 *
 * Context: Process context, may sleep; not from the handler, nor with a lock
 * held that it takes.
 * Return: as callout_proc_stop().
 */
int callout_proc_drain(struct callout_proc *p)
{
	int ret;

	might_sleep();
	raw_spin_lock_irq(&p->lock);
	ret = callout_proc_stop_locked(p);
	/* From here on neither is set, by a handler that runs or by others. */
	WRITE_ONCE(p->drains, p->drains + 1);
	raw_spin_unlock_irq(&p->lock);
	callout_drain(&p->c);
	cancel_work_sync(&p->work);
	raw_spin_lock_irq(&p->lock);
	WRITE_ONCE(p->drains, p->drains - 1);
	raw_spin_unlock_irq(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_proc_drain);

/**
 * callout_proc_pending - is the callout set, and its handler not yet started?
 * @p: the callout
 *
 * Context: Any.
 * Return: true if so; a snapshot.
 */
bool callout_proc_pending(struct callout_proc *p)
{
	/* Pairs with the writes in callout_proc_change_state(). */
	return READ_ONCE(p->state) != PROC_IDLE;
}
EXPORT_SYMBOL_GPL(callout_proc_pending);

/**
 * callout_proc_start - makes what this file needs
 *
 * Return: 0 or -ENOMEM.
 */
int callout_proc_start(void)
{
	wq = alloc_workqueue("callout", WQ_HIGHPRI, 0);
	return wq ? 0 : -ENOMEM;
}

/**
 * callout_proc_exit - waits for handlers, at module unload
 */
void callout_proc_exit(void)
{
	destroy_workqueue(wq);
}
