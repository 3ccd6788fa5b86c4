// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - callouts whose handler runs in a thread, and may sleep
 *
 * A layer on callout.h: the callout's own handler queues a work item, which calls
 * the user's handler. A setting belongs to the callout (SET) until it is due. It
 * then belongs to the work item (DUE), until the work item starts the user's
 * handler or another CPU replaces or cancels the setting. callout_work.lock is held
 * at each step, so a setting is always in one place, and is accounted for once:
 *
 *	CPU0: softirq				CPU1: callout_work_reset()
 *	c is not pending any more
 *	co_work_due() is called
 *						lock: SET, so it returns 1
 *						SET, c is pending again
 *						unlock
 *	lock: SET, but c is pending: this
 *	setting was replaced
 *	unlock
 *
 * If CPU1 stops c instead, CPU0 finds IDLE. c cannot become due for the new setting
 * before CPU0 has unlocked: c stays on CPU0's base, where co_work_due() is the
 * running handler. Likewise for the work item:
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
 * base's lock and a worker pool's lock nest inside it. Only a holder of
 * callout_work.lock queues or cancels the work item, so cancel_work() never spins
 * there.
 *
 * With CALLOUT_WORK_SOFTIRQ there is no second stage: co_work_due() starts the
 * handler. And CPU1 is too late once the core has taken c, whether or not CPU0 has
 * the lock: the handler starts. So when a stop has removed a setting, the facility
 * no longer uses the callout_work, which may be freed, unless an earlier setting's
 * handler runs:
 *
 *	CPU0: softirq				CPU1: callout_work_stop()
 *	c is not pending any more
 *	co_work_due() is called
 *						lock: SET, but the core has
 *						taken c: late, it returns 0
 *						IDLE
 *						unlock
 *	lock: late
 *	unlock, the handler starts
 */
#include <linux/callout_dragonfly.h>
#include <linux/callout_work.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include "core/queue.h"
#include "core/debug.h"
#include "work.h"
#include "work_queue.h"

/* callout_work.state: where the setting is, if any. */
#define WORK_IDLE	0
#define WORK_SET	1	/* the callout is pending, or just due */
#define WORK_DUE	2	/* the work item is queued, or just starting */

/* Use WRITE_ONCE(): callout_work_pending() takes no lock. */
static void co_work_change_state(struct callout_work *w, u8 state)
{
	lockdep_assert_held(&w->lock);
	WRITE_ONCE(w->state, state);
}

static void co_work_change_past(struct callout_work *w, u8 clear, u8 set)
{
	lockdep_assert_held(&w->lock);
	WRITE_ONCE(w->past, (w->past & ~clear) | set);
}

/* Consume the setting. Return the function that the caller then calls. */
static callout_func_t *co_work_begin(struct callout_work *w, void **arg)
{
	co_work_change_state(w, WORK_IDLE);
	co_work_change_past(w, 0, CALLOUT_WORK_FIRED | CALLOUT_WORK_INVOKED);
	*arg = w->arg;
	return w->func;
}

static void co_work_due(void *arg)
{
	struct callout_work *w = arg;
	callout_func_t *func = NULL;
	unsigned long flags;

	co_point();
	raw_spin_lock_irqsave(&w->lock, flags);
	if (w->late) {
		func = w->late;
		arg = w->late_arg;
		w->late = NULL;
	} else if (w->state == WORK_SET && !callout_pending(&w->c)) {
		if (w->how & CALLOUT_WORK_SOFTIRQ) {
			func = co_work_begin(w, &arg);
		} else {
			co_work_change_state(w, WORK_DUE);
			co_work_queue(w);
		}
	}
	if (func)
		WRITE_ONCE(w->runner, current);
	raw_spin_unlock_irqrestore(&w->lock, flags);
	/* The handler may free @w. */
	if (func)
		func(arg);
}

/* Complete an asynchronous drain, in the thread. */
static void co_work_drained(struct callout_work *w)
{
	callout_func_t *drained;
	void *arg;

	/* co_work_due() may still be waiting for the lock. */
	callout_drain(&w->c);
	raw_spin_lock_irq(&w->lock);
	drained = w->drained;
	w->drained = NULL;
	arg = w->arg;
	WRITE_ONCE(w->drains, w->drains - 1);
	raw_spin_unlock_irq(&w->lock);
	/* @drained may free @w. */
	drained(arg);
}

/*
 * The function of callout_work.work. It must not wait for the mutex: a drain under
 * the mutex waits for this function.
 */
void callout_work_run(struct work_struct *work)
{
	struct callout_work *w = container_of(work, struct callout_work, work);
	struct mutex *mutex = w->mutex;
	callout_func_t *func = NULL;
	bool locked, drained;
	unsigned long flags;
	void *arg;

	locked = mutex && mutex_trylock(mutex);
	co_point();
	raw_spin_lock_irqsave(&w->lock, flags);
	/*
	 * The work item is queued again if its setting was replaced while this
	 * function waited for the lock, and the new setting is due too: run the new
	 * setting. The same applies if an asynchronous drain has queued the work
	 * item.
	 */
	drained = w->drained;
	if (w->state == WORK_DUE || drained)
		cancel_work(&w->work);
	if (w->state == WORK_DUE) {
		if (mutex && !locked) {
			co_work_change_state(w, WORK_SET);
			callout_reset(&w->c, 1, co_work_due, w);
		} else {
			func = co_work_begin(w, &arg);
			WRITE_ONCE(w->runner, current);
		}
	}
	raw_spin_unlock_irqrestore(&w->lock, flags);
	co_point();
	/* The handler may free @w: a work item may be freed by its function. */
	if (func)
		func(arg);
	co_point();
	if (locked)
		mutex_unlock(mutex);
	if (drained)
		co_work_drained(w);
}
EXPORT_SYMBOL_GPL(callout_work_run);

/*
 * Held while a handler of callout_dragonfly_init() runs. It is not in
 * callout_bsd.ko, whose unload waits for nothing: callout_work_run() unlocks the
 * mutex, perhaps after the client and callout_bsd.ko have gone.
 */
DEFINE_MUTEX(callout_dragonfly_mplock);
EXPORT_SYMBOL_GPL(callout_dragonfly_mplock);

/*
 * Prepare a callout_work that was initialised statically, at its first use. All of
 * them share their lockdep classes.
 */
static void co_work_prepare(struct callout_work *w)
{
	callout_init_here(&w->c, NULL, w->how & CALLOUT_WORK_GIANT ?
				       CALLOUT_L_GIANT : 0);
	INIT_WORK(&w->work, callout_work_run);
	/* Pairs with callout_work_barrier(), which reads w->ready without the lock. */
	smp_store_release(&w->ready, true);
}

/* The CPU on which to set @w, or -1 for its present CPU. */
static int co_work_cpu(const struct callout_work *w)
{
	switch (w->cpu) {
	case CALLOUT_WORK_CALLER:
		return raw_smp_processor_id();
	case CALLOUT_WORK_FIRST:
		return cpumask_first(cpu_online_mask);
	default:
		return w->cpu;
	}
}

/* Does @w have a handler, or is it given one? */
static bool co_work_has_func(struct callout_work *w, callout_func_t *func)
{
	if (func || READ_ONCE(w->func))
		return true;
	co_no_function();
	return false;
}

/* With CALLOUT_WORK_SOFTIRQ: the core has taken a setting, so co_work_due() calls @func. */
static void co_work_make_late(struct callout_work *w, callout_func_t *func,
			      void *arg)
{
	lockdep_assert_held(&w->lock);
	w->late = func;
	w->late_arg = arg;
}

static int co_work_set_locked(struct callout_work *w, long distance,
			      const struct callout_span *span,
			      callout_func_t *func, void *arg, int cpu)
{
	callout_func_t *old_func = w->func;
	void *old_arg = w->arg;
	u8 state = w->state;
	bool replaced;

	if (w->drains)
		return -1;
	if (unlikely(!w->ready))
		co_work_prepare(w);
	if (state == WORK_DUE)
		cancel_work(&w->work);
	co_work_change_state(w, WORK_SET);
	co_work_change_past(w, CALLOUT_WORK_FIRED | CALLOUT_WORK_INVOKED, 0);
	if (func) {
		WRITE_ONCE(w->func, func);
		w->arg = arg;
	}
	if (span)
		replaced = co_arm_span(&w->c, span, co_work_due, w, cpu);
	else
		replaced = callout_reset_on(&w->c, distance, co_work_due, w, cpu);
	if (state == WORK_SET && !replaced && w->how & CALLOUT_WORK_SOFTIRQ) {
		co_work_make_late(w, old_func, old_arg);
		return 0;
	}
	return state != WORK_IDLE;
}

/* Set @w in @distance ticks or, if given, in @span. */
static int co_work_set(struct callout_work *w, long distance,
		       const struct callout_span *span,
		       callout_func_t *func, void *arg, int cpu)
{
	unsigned long flags;
	int ret;

	if (co_work_misused(w) || !co_work_has_func(w, func))
		return -1;
	raw_spin_lock_irqsave(&w->lock, flags);
	ret = co_work_set_locked(w, distance, span, func, arg, cpu);
	raw_spin_unlock_irqrestore(&w->lock, flags);
	return ret;
}

/**
 * callout_work_reset_on() - Set a callout whose handler may sleep, on a CPU.
 * @w: the callout
 * @distance: ticks from now; less than 1 counts as 1
 * @func: the handler, or NULL to keep the present one
 * @arg: the handler's argument
 * @cpu: the CPU on which the handler will run, or -1 for the callout's present CPU
 *
 * As callout_work_reset(). The handler runs on another CPU if @cpu is not online,
 * with CALLOUT_WORK_ORDERED, and if it still runs on another CPU when it is due
 * once more.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: as callout_work_reset().
 */
int callout_work_reset_on(struct callout_work *w, long distance,
			  callout_func_t *func, void *arg, int cpu)
{
	return co_work_set(w, distance, NULL, func, arg, cpu);
}
EXPORT_SYMBOL_GPL(callout_work_reset_on);

/**
 * callout_work_reset() - Set a callout whose handler may sleep, or re-arm it.
 * @w: the callout
 * @distance: ticks from now; less than 1 counts as 1
 * @func: the handler, or NULL to keep the present one
 * @arg: the handler's argument
 *
 * An earlier setting, due or not, is replaced if its handler has not started and,
 * with CALLOUT_WORK_SOFTIRQ, is not about to start. While callout_work_drain()
 * waits, nothing is set.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if this replaced a setting; 0 if there was none, so there is one setting
 * more than before; -1 if nothing was set.
 */
int callout_work_reset(struct callout_work *w, long distance,
		       callout_func_t *func, void *arg)
{
	if (co_work_misused(w))
		return -1;
	return callout_work_reset_on(w, distance, func, arg, co_work_cpu(w));
}
EXPORT_SYMBOL_GPL(callout_work_reset);

/**
 * callout_work_reset_sbt_on() - Set a callout whose handler may sleep for a time.
 * @w: the callout
 * @sbt: the time, see callout_reset_sbt_on()
 * @pr: the precision
 * @func: the handler, or NULL to keep the present one
 * @arg: the handler's argument
 * @cpu: the CPU on which the handler will run, or -1 for the callout's present CPU
 * @flags: the flags of callout_reset_sbt_on()
 *
 * The thread is woken when callout_reset_sbt_on() would run the handler. Its CPU is
 * chosen as by callout_work_reset_on().
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: as callout_work_reset().
 */
int callout_work_reset_sbt_on(struct callout_work *w, sbintime_t sbt,
			      sbintime_t pr, callout_func_t *func, void *arg,
			      int cpu, int flags)
{
	struct callout_span span;

	if (co_work_misused(w))
		return -1;
	span = co_span_of(sbt, pr, flags);
	return co_work_set(w, 0, &span, func, arg, cpu);
}
EXPORT_SYMBOL_GPL(callout_work_reset_sbt_on);

/* Set the handler that callout_work_reset() with a NULL func uses. */
void callout_work_set_func(struct callout_work *w, callout_func_t *func,
			   void *arg)
{
	unsigned long flags;

	if (co_work_misused(w))
		return;
	raw_spin_lock_irqsave(&w->lock, flags);
	WRITE_ONCE(w->func, func);
	w->arg = arg;
	raw_spin_unlock_irqrestore(&w->lock, flags);
}
EXPORT_SYMBOL_GPL(callout_work_set_func);

/* Does a worker use @w, or is it about to? */
bool co_work_is_busy(struct callout_work *w)
{
	return work_busy(&w->work) & WORK_BUSY_RUNNING;
}

/* Stop the callout or the work item. Return whether the handler runs. */
static bool co_work_stop_thread(struct callout_work *w)
{
	if (w->state == WORK_SET)
		callout_stop(&w->c);
	else if (w->state == WORK_DUE)
		cancel_work(&w->work);
	else
		return co_work_is_busy(w);
	return false;
}

/* Stop the callout. Return whether the handler runs, or starts now. */
static bool co_work_stop_softirq(struct callout_work *w)
{
	bool pending, running;

	running = !co_stop_was(&w->c, &pending);
	if (running && !pending && w->state == WORK_SET) {
		callout_func_t *func;
		void *arg;

		func = co_work_begin(w, &arg);
		co_work_make_late(w, func, arg);
	}
	return running;
}

/* Cancel the setting of @w, if there is one. */
struct callout_work_was co_work_stop_locked(struct callout_work *w)
{
	struct callout_work_was was = {};

	if (!w->ready)
		return was;
	if (w->how & CALLOUT_WORK_SOFTIRQ)
		was.running = co_work_stop_softirq(w);
	else
		was.running = co_work_stop_thread(w);
	was.set = w->state != WORK_IDLE;
	was.past = w->past;
	co_work_change_state(w, WORK_IDLE);
	co_work_change_past(w, CALLOUT_WORK_FIRED, 0);
	return was;
}

/* The return value of callout_work_stop() and of the drains. */
int co_work_result(struct callout_work_was was)
{
	if (was.set)
		return 1;
	return was.running ? 0 : -1;
}

/* Cancel a callout. Return its state before. */
struct callout_work_was callout_work_cancel(struct callout_work *w)
{
	struct callout_work_was was = {};
	unsigned long flags;

	if (co_work_misused(w))
		return was;
	raw_spin_lock_irqsave(&w->lock, flags);
	was = co_work_stop_locked(w);
	raw_spin_unlock_irqrestore(&w->lock, flags);
	return was;
}
EXPORT_SYMBOL_GPL(callout_work_cancel);

/**
 * callout_work_stop() - Cancel a callout whose handler may sleep.
 * @w: the callout
 *
 * The result describes the setting, so that references can be counted by it as with
 * OpenBSD's timeout_del(): unlike callout_stop() this also returns 1 while an
 * earlier setting's handler runs. @w may still be in use when this returns: drain
 * it before you free it. With CALLOUT_WORK_SOFTIRQ only that handler may use @w.
 *
 * Context: Any but NMI, hard interrupt included, also on PREEMPT_RT.
 * Return: 1 if @w was set and no longer is; 0 if it was not set, and its handler is
 * running or, with CALLOUT_WORK_SOFTIRQ, about to run; -1 if neither. If handlers
 * run in a thread, 0 means that the thread may still use @w: the handler runs, has
 * just returned, or was stopped as it was about to start.
 */
int callout_work_stop(struct callout_work *w)
{
	return co_work_result(callout_work_cancel(w));
}
EXPORT_SYMBOL_GPL(callout_work_stop);

/* Is the caller the handler of @w, or was it called by the handler? */
bool callout_work_is_own(struct callout_work *w)
{
	/*
	 * If the handler does not run now, this is the runner of an earlier run,
	 * and the answer makes no difference.
	 */
	struct task_struct *runner = READ_ONCE(w->runner);

	if (w->how & CALLOUT_WORK_SOFTIRQ)
		return in_serving_softirq() && runner == current;
	/*
	 * The handler of a freed callout_work may still run, and be the caller,
	 * when @w is in the same memory. If @w has not run, it can only be queued
	 * behind the caller, who must not wait for it.
	 */
	return current_work() == &w->work && (!runner || runner == current);
}
EXPORT_SYMBOL_GPL(callout_work_is_own);

/**
 * callout_work_pending() - Is the callout set, and its handler not yet started?
 * @w: the callout
 *
 * Context: Any.
 * Return: true if it is pending; a snapshot.
 */
bool callout_work_pending(struct callout_work *w)
{
	/* Read without w->lock, which orders the writes: this may be any state that @w has had. */
	return READ_ONCE(w->state) != WORK_IDLE;
}
EXPORT_SYMBOL_GPL(callout_work_pending);

/* Was the callout set, and not stopped since? */
bool callout_work_active(struct callout_work *w)
{
	unsigned long flags;
	bool active;

	if (co_work_misused(w))
		return false;
	raw_spin_lock_irqsave(&w->lock, flags);
	active = w->state != WORK_IDLE || w->past & CALLOUT_WORK_FIRED;
	raw_spin_unlock_irqrestore(&w->lock, flags);
	return active;
}
EXPORT_SYMBOL_GPL(callout_work_active);
