// SPDX-License-Identifier: GPL-2.0
/*
 * work_drain.c - functions that wait for a handler of struct callout_work
 *
 * work.c has the states, and the races with the handler.
 */
#include <linux/callout_work.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include "core/queue.h"
#include "core/debug.h"
#include "core/run.h"
#include "work.h"
#include "work_queue.h"

/* Refuse settings until co_work_allow(). */
static void co_work_refuse_locked(struct callout_work *w)
{
	lockdep_assert_held(&w->lock);
	WRITE_ONCE(w->drains, w->drains + 1);
}

/* Refuse settings until @w is initialised again. */
void callout_work_refuse(struct callout_work *w)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&w->lock, flags);
	co_work_refuse_locked(w);
	raw_spin_unlock_irqrestore(&w->lock, flags);
}
EXPORT_SYMBOL_GPL(callout_work_refuse);

static void co_work_allow(struct callout_work *w)
{
	raw_spin_lock_irq(&w->lock);
	WRITE_ONCE(w->drains, w->drains - 1);
	raw_spin_unlock_irq(&w->lock);
}

/*
 * Wait for the work item, which is not queued again. For lockdep flush_work() waits
 * for a whole ordered queue, so it would report a handler of that queue that
 * drained another callout. So call flush_work() only if there is something to wait
 * for.
 */
static void co_work_flush(struct callout_work *w)
{
	if (!(w->how & (CALLOUT_WORK_SOFTIRQ | CALLOUT_WORK_ORDERED)) ||
	    work_busy(&w->work))
		flush_work(&w->work);
}

/**
 * callout_work_drain() - Cancel a callout and wait for its handler.
 * @w: the callout
 *
 * When this returns the callout may be freed.
 *
 * Context: Process context, may sleep. The caller must not be the handler, nor
 * hold a lock that the handler takes, except for the associated mutex.
 * Return: as callout_work_stop().
 */
int callout_work_drain(struct callout_work *w)
{
	struct callout_work_was was;
	bool ready;

	if (co_work_misused(w))
		return -1;
	might_sleep();
	raw_spin_lock_irq(&w->lock);
	was = co_work_stop_locked(w);
	/* From here on nobody sets @w, nor does a running handler. */
	co_work_refuse_locked(w);
	ready = w->ready;
	raw_spin_unlock_irq(&w->lock);
	co_point();
	if (ready) {
		callout_drain(&w->c);
		co_point();
		co_work_flush(w);
	}
	co_point();
	co_work_allow(w);
	return co_work_result(was);
}
EXPORT_SYMBOL_GPL(callout_work_drain);

/**
 * callout_work_async_drain() - Cancel a callout; report when it is not in use.
 * @w: the callout
 * @drained: called with the handler's argument, in a thread, when the handler that
 *	is running has returned and @w may be freed
 *
 * As callout_work_drain(), but does not wait: if this returns 0, @drained will be
 * called, once, and @w cannot be set until just before that call. From then on
 * callers must make sure that nothing sets @w. Otherwise @drained is not called,
 * and @w may be freed at once. Only one @drained can be waiting at a time: a
 * concurrent call returns 0, and its @drained is not called. To learn whether a
 * setting was cancelled call callout_work_stop() first.
 *
 * After FreeBSD's callout_async_drain().
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if @w was set and no longer is; 0 if it may still be in use; -1 if it
 * was not set.
 */
int callout_work_async_drain(struct callout_work *w, callout_func_t *drained)
{
	unsigned long flags;
	int ret;

	if (co_work_misused(w))
		return -1;
	raw_spin_lock_irqsave(&w->lock, flags);
	ret = co_work_result(co_work_stop_locked(w));
	/* The callout is no longer pending: 0 means that co_work_due() runs. */
	if (w->drained || (w->ready && (co_work_is_busy(w) ||
					!callout_stop(&w->c))))
		ret = 0;
	if (!ret && !w->drained) {
		w->drained = drained;
		co_work_refuse_locked(w);
		co_work_queue(w);
	}
	raw_spin_unlock_irqrestore(&w->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_work_async_drain);

/**
 * callout_work_barrier() - Wait for a running handler.
 * @w: the callout
 *
 * Cancels nothing. If the handler is running, this waits until it has returned, and
 * may also wait for a setting that becomes due during the wait. During the wait @w
 * must not be freed, not even by the handler.
 *
 * After OpenBSD's timeout_barrier().
 *
 * Context: Process context, may sleep. The caller must not be the handler, nor
 * hold a lock that the handler takes, except for the associated mutex.
 */
void callout_work_barrier(struct callout_work *w)
{
	struct callout_base *base;
	unsigned long flags, seq;
	bool running;

	if (co_work_misused(w))
		return;
	might_sleep();
	/* Pairs with co_work_prepare(). */
	if (!smp_load_acquire(&w->ready))
		return;
	co_debug_wait(co_debug_class(&w->c));
	base = co_lock(&w->c.node, &flags);
	running = co_is_running(base, &w->c.node);
	seq = base->run_seq;
	co_unlock(base, flags);
	if (running)
		co_wait_for_handler(base, seq);
	if (co_work_is_busy(w))
		flush_work(&w->work);
}
EXPORT_SYMBOL_GPL(callout_work_barrier);
