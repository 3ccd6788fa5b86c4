// SPDX-License-Identifier: GPL-2.0
/*
 * proc.c - callouts whose handler runs in a thread, and may sleep
 *
 * A layer on callout.h: the callout's own handler queues a work item, and that
 * calls the handler of the user. To the user it is pending until that, but for
 * the moment in which it is neither set nor queued. That the two are told apart
 * from each other, and both cancelled, is the work of the functions here; each
 * of them tries the callout first and then the work, which is the direction in
 * which it moves:
 *
 *	CPU0: softirq				CPU1: callout_proc_stop()
 *	callout_proc_due() is called
 *						callout_stop(): 0, running
 *						cancel_work(): not queued yet
 *	queue_work()
 *						returns 0: as if the handler ran
 *
 * which the user must be prepared for anyway; callout_proc_drain() waits for
 * the callout before it looks at the work.
 */
#include <linux/callout.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include "proc.h"

static struct workqueue_struct *wq;

/**
 * callout_proc_work - the function of callout_proc.work
 * @work: the work item
 */
void callout_proc_work(struct work_struct *work)
{
	struct callout_proc *p = container_of(work, struct callout_proc, work);

	/* Pair with the writes in callout_proc_reset(). */
	callout_func_t *func = READ_ONCE(p->func);
	void *arg = READ_ONCE(p->arg);

	/* The handler may free @p; work items may be freed by their function. */
	func(arg);
}
EXPORT_SYMBOL_GPL(callout_proc_work);

static void callout_proc_due(void *arg)
{
	struct callout_proc *p = arg;

	queue_work(wq, &p->work);
}

/**
 * callout_proc_reset - sets such a callout, or sets it anew
 * @p: the callout
 * @ticks: how many ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: its argument
 *
 * While callout_proc_drain() waits nothing is set. If @func or @arg change the
 * caller serialises this with the handler's start.
 *
 * Context: Any.
 * Return: 1 if it was pending, else 0.
 */
int callout_proc_reset(struct callout_proc *p, long ticks, callout_func_t *func,
		       void *arg)
{
	bool queued;

	/* Pairs with the write in callout_proc_drain(). */
	if (atomic_read(&p->drains))
		return 0;
	queued = cancel_work(&p->work);
	/*
	 * The handler may be starting, for an earlier setting. If these change
	 * the caller sees to it that it is not; if not, what they were will do.
	 */
	WRITE_ONCE(p->func, func);
	WRITE_ONCE(p->arg, arg);
	return callout_reset(&p->c, ticks, callout_proc_due, p) || queued;
}
EXPORT_SYMBOL_GPL(callout_proc_reset);

/**
 * callout_proc_stop - cancels such a callout
 * @p: the callout
 *
 * Context: Any.
 * Return: 1 if it was cancelled; 0 if its handler is running or just about to,
 * and if it had been set again meanwhile it is not set any more; -1 if it was
 * not pending.
 */
int callout_proc_stop(struct callout_proc *p)
{
	int ret = callout_stop(&p->c);
	unsigned int busy;

	if (cancel_work(&p->work))
		ret = 1;
	busy = work_busy(&p->work);
	/* One that is queued just now was set after this had cancelled it. */
	if (ret > 0)
		busy &= WORK_BUSY_RUNNING;
	return busy ? 0 : ret;
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
	unsigned int busy;
	int ret;

	/* A handler that starts from now on does not set it again. */
	atomic_inc(&p->drains);
	ret = callout_drain(&p->c);
	busy = work_busy(&p->work);
	if (cancel_work_sync(&p->work))
		ret = busy & WORK_BUSY_RUNNING ? 0 : 1;
	else if (busy)
		ret = 0;
	/* One that had started before may have. */
	callout_drain(&p->c);
	cancel_work_sync(&p->work);
	atomic_dec(&p->drains);
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
	return callout_pending(&p->c) || work_pending(&p->work);
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
