// SPDX-License-Identifier: GPL-2.0
/*
 * work_queue.c - the work queues that run handlers of struct callout_work
 *
 * A drain relies on work_busy() and flush_work() to find a running handler. They look
 * in the worker pool in which the item was queued last. From Linux 6.9 on that can be
 * the wrong pool for an item of alloc_ordered_workqueue(), whose pool changes with
 * wq_unbound_cpumask. So the ordered queue, whose handlers run one after the other, is
 * a per-CPU queue that always uses the same CPU: a CPU keeps its pool, also while it
 * is offline. The other queue uses another pool. In a common pool, a work item at the
 * address of an item that its own handler has freed would wait for that handler, and
 * so would all items ordered with it.
 */
#include <linux/callout_work.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/sched/isolation.h>
#include <linux/workqueue.h>
#include "base/base.h"
#include "work_queue.h"

/* The handlers of ordered_wq run one after the other. */
static struct workqueue_struct *wq, *ordered_wq;

/* The CPU of ordered_wq. */
static unsigned int ordered_cpu;

/* Always use the same queue: on one queue a work item does not run concurrently with itself. */
void co_work_queue(struct callout_work *w)
{
	lockdep_assert_held(&w->lock);
	if (w->how & CALLOUT_WORK_ORDERED)
		queue_work_on(ordered_cpu, ordered_wq, &w->work);
	else
		queue_work(wq, &w->work);
}

/**
 * callout_work_barrier_all() - Wait for all running handlers.
 *
 * As callout_barrier(), but also for callouts whose handlers run in threads. On
 * return every handler that had started before the call has returned. So has every
 * function of callout_work_async_drain() that had started before the call, or whose
 * drain was requested before the call or by such a handler. Call this in the exit
 * function of a module whose handlers free their callouts, which therefore cannot
 * be drained. This also waits for settings that are due.
 *
 * Context: Process context, may sleep; not from a handler.
 */
void callout_work_barrier_all(void)
{
	callout_barrier();
	flush_workqueue(ordered_wq);
	flush_workqueue(wq);
	/*
	 * The handlers that this has waited for may have begun asynchronous drains
	 * on either queue, which it has not waited for. Flushing once more is
	 * enough: the functions of these drains are the last that this function
	 * promises to wait for.
	 */
	flush_workqueue(ordered_wq);
	flush_workqueue(wq);
}
EXPORT_SYMBOL_GPL(callout_work_barrier_all);

/* The first CPU that is kept free neither of timers nor of other tasks' threads. */
static unsigned int cpu_of_ordered(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (housekeeping_cpu(cpu, HK_TYPE_DOMAIN) &&
		    housekeeping_cpu(cpu, HK_TYPE_TIMER))
			return cpu;
	return co_home_cpu();
}

int co_workqueue_create(void)
{
	wq = alloc_workqueue("callout", WQ_HIGHPRI | WQ_PERCPU, 0);
	if (!wq)
		return -ENOMEM;
	ordered_cpu = cpu_of_ordered();
	ordered_wq = alloc_workqueue("callout_ordered", WQ_PERCPU, 1);
	if (!ordered_wq) {
		destroy_workqueue(wq);
		return -ENOMEM;
	}
	return 0;
}

/*
 * Wait for handlers that have started or are about to start. They may set callouts:
 * none becomes due any more, but the bases must exist.
 */
void co_workqueue_destroy(void)
{
	destroy_workqueue(ordered_wq);
	destroy_workqueue(wq);
}
