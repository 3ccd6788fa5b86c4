// SPDX-License-Identifier: GPL-2.0
/*
 * work_queue.c - the work queues that run handlers of struct callout_work
 *
 * A handler is flushed as any work item of Linux's, unless its queue is the ordered
 * one: which item of that runs is recorded here.
 */
#include <linux/callout_work.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include "work_queue.h"

/* The handlers of ordered_wq run one after the other. */
static struct workqueue_struct *wq, *ordered_wq;

/*
 * The callout whose work item ordered_wq runs; only its address is used. The work
 * queue knows a running item only in the pool where it was queued last, and if
 * wq_unbound_cpumask changes that is another one for an ordered queue:
 *
 *	worker of pool 1			CPU1
 *	takes the work item of w
 *	(1)
 *	ordered_now = w
 *	the handler of w sleeps
 *						wq_unbound_cpumask is changed
 *						w is set, and due: queued in
 *						pool 2, until pool 1 is through
 *						callout_work_stop(): cancel_work()
 *						work_busy(): not in pool 2
 *						ordered_now is w: it runs
 *	the handler returns
 *	ordered_now = NULL
 *
 * If CPU1 does all that at (1), ordered_now is not w yet, but w is owed a run for
 * which it is not queued: see co_work_is_taken(). callout_work_run() ends that,
 * under callout_work.lock, when it has written ordered_now.
 */
static struct callout_work *ordered_now;
/* How many work items ordered_wq has begun. */
static unsigned long ordered_runs;

/*
 * Always on the same queue: a work item does not run there at the same time as
 * itself.
 */
void co_work_queue(struct callout_work *w)
{
	lockdep_assert_held(&w->lock);
	if (queue_work(w->how & CALLOUT_WORK_ORDERED ? ordered_wq : wq, &w->work))
		w->owed++;
}

/*
 * A run has begun, or will not. None is owed if @w was initialised again too early:
 * then it does not count as taken for ever.
 */
void co_work_pay(struct callout_work *w)
{
	lockdep_assert_held(&w->lock);
	if (w->owed)
		w->owed--;
}

/* Takes the work item from its queue, if no worker has taken it. */
void co_work_unqueue(struct callout_work *w)
{
	if (cancel_work(&w->work))
		co_work_pay(w);
}

/*
 * Has a worker taken the work item, and callout_work_run() not counted that yet? In
 * between no queue has that run, and the work queue may not know of it.
 */
static bool co_work_is_taken(struct callout_work *w)
{
	lockdep_assert_held(&w->lock);
	return w->owed > work_pending(&w->work);
}

/* callout_work_run() of @w, which is ordered, begins. */
void co_work_begin_ordered(struct callout_work *w)
{
	/* Pairs with co_work_wait_ordered(). */
	smp_store_release(&ordered_runs, ordered_runs + 1);
	WRITE_ONCE(ordered_now, w);
}

/* That is over. It does not use the callout, which may have been freed. */
void co_work_end_ordered(void)
{
	/* Pairs with co_work_is_ordered(). */
	smp_store_release(&ordered_now, NULL);
}

/* Does ordered_wq run @w? On false the caller may free what its handler used. */
static bool co_work_is_ordered(struct callout_work *w)
{
	/* Pairs with co_work_end_ordered(). */
	return smp_load_acquire(&ordered_now) == w;
}

/* co_work_is_taken(), for a caller without the lock. */
static bool co_work_was_taken(struct callout_work *w)
{
	bool taken;

	raw_spin_lock_irq(&w->lock);
	taken = co_work_is_taken(w);
	raw_spin_unlock_irq(&w->lock);
	return taken;
}

/*
 * Waits for a handler that flush_work() does not find. That is rare, and not to
 * wait for all of the queue, as the caller may hold locks of other handlers. A
 * handler of that queue has none to wait for: if ordered_now is @w, that is its
 * own callout, which was freed, and @w is in the same memory.
 */
void co_work_wait_ordered(struct callout_work *w)
{
	unsigned long runs;

	if (!(w->how & CALLOUT_WORK_ORDERED) || current_work() == &w->work)
		return;
	/* First: then ordered_now is @w until callout_work_run() has returned. */
	while (co_work_was_taken(w))
		schedule_timeout_uninterruptible(1);
	/* Pairs with co_work_begin_ordered(). */
	runs = smp_load_acquire(&ordered_runs);
	while (co_work_is_ordered(w) &&
	       /* As above. */
	       smp_load_acquire(&ordered_runs) == runs)
		schedule_timeout_uninterruptible(1);
}

/* Does the thread use @w, or is it about to? */
bool co_work_is_busy(struct callout_work *w)
{
	lockdep_assert_held(&w->lock);
	return co_work_is_taken(w) ||
	       work_busy(&w->work) & WORK_BUSY_RUNNING ||
	       co_work_is_ordered(w);
}

/**
 * callout_work_barrier_all() - Wait for all running handlers.
 *
 * callout_barrier() for callouts whose handlers run in threads too: on return
 * every handler, and every function of callout_work_async_drain(), that had
 * started before the call, or whose drain was asked for before it or by such a
 * handler, has returned. For the exit of a module whose handlers
 * free their callouts, so that these cannot be drained. Waits for settings that
 * are due too.
 *
 * Context: Process context, may sleep; not from a handler.
 */
void callout_work_barrier_all(void)
{
	callout_barrier();
	flush_workqueue(ordered_wq);
	flush_workqueue(wq);
	/*
	 * Handlers for which that has waited may have begun asynchronous drains,
	 * on either queue, for which it has not. Once more is enough: the
	 * functions of these drains are the last that it promises to wait for.
	 */
	flush_workqueue(ordered_wq);
	flush_workqueue(wq);
}
EXPORT_SYMBOL_GPL(callout_work_barrier_all);

int co_workqueue_create(void)
{
	wq = alloc_workqueue("callout", WQ_HIGHPRI | WQ_PERCPU, 0);
	if (!wq)
		return -ENOMEM;
	ordered_wq = alloc_ordered_workqueue("callout_ordered", WQ_HIGHPRI);
	if (!ordered_wq) {
		destroy_workqueue(wq);
		wq = NULL;
		return -ENOMEM;
	}
	return 0;
}

/*
 * Waits for handlers that were started, or are about to. They may set callouts:
 * none is due any more, but the bases must be there.
 */
void co_workqueue_destroy(void)
{
	destroy_workqueue(ordered_wq);
	destroy_workqueue(wq);
}
