// SPDX-License-Identifier: GPL-2.0
/*
 * expiry.c - run what is due: EXPIRYPROCESSING, in softirq context
 *
 * A base's expiry moves what is due from the scheme to the due list, a budget
 * at a time, and takes callouts off that list one by one. The lock is free in
 * between, so a callout on the due list can still be stopped or set anew; it
 * counts as pending until its handler starts.
 *
 * Neither the time with the base locked nor the time in one softirq depends on
 * how many callouts there are or how late the base is. What is left when the
 * limits are reached goes on in a tasklet, that is in a later softirq, so that
 * other softirqs, ksoftirqd and RCU get their turn.
 */
#include <linux/callout.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include "core.h"
#include "kcompat.h"

/* Functions, handles, files. */
#define MAX_KINDS	3

static_assert(CALLOUT_BUDGET >= CALLOUT_MIN_BUDGET);

static unsigned int callout_expire_func(struct callout_base *base,
					struct callout *c);

static callout_expire_fn expire_fns[MAX_KINDS] = {
	[CALLOUT_KIND_FUNC] = callout_expire_func,
};

static u8 nr_kinds = 1;

/**
 * callout_register_kind - adds a way to treat callouts that are due
 * @expire: called for each callout of this kind; see callout_expire_fn
 *
 * Context: Module load only.
 * Return: the number for callout_setup().
 */
u8 callout_register_kind(callout_expire_fn expire)
{
	if (WARN_ON(nr_kinds == MAX_KINDS))
		return 0;
	expire_fns[nr_kinds] = expire;
	return nr_kinds++;
}

/**
 * callout_take_due - takes a callout off the due list: its turn has come
 * @base: the base, locked
 * @c: the callout
 */
void callout_take_due(struct callout_base *base, struct callout *c)
{
	unsigned int bin = fls64(base->now - c->expires);

	base->stats.handlers++;
	base->stats.late[min(bin, CALLOUT_LATE_BINS - 1U)]++;
	trace_callout_expire_entry(c, base->now);
	callout_dequeue_locked(base, c);
}

/**
 * callout_run_begin - lets go of a base to run a handler
 * @base: the base, locked
 * @c: the callout, or NULL if it is not this that a caller may wait for
 * @handle: its handle, or 0 if it has none
 */
void callout_run_begin(struct callout_base *base, struct callout *c,
		       u64 handle)
	__releases(&base->lock)
{
	base->running = c;
	/* Pairs with the smp_load_acquire() in handle_runs_on(). */
	smp_store_release(&base->running_handle, handle);
	WRITE_ONCE(base->run_seq, base->run_seq + 1);
	raw_spin_unlock_irq(&base->lock);
}

/**
 * callout_run_end - takes a base again when a handler has returned
 * @base: the base
 */
void callout_run_end(struct callout_base *base)
	__acquires(&base->lock)
{
	trace_callout_expire_exit(base->running);
	raw_spin_lock_irq(&base->lock);
	base->running = NULL;
	/* Pairs with the smp_load_acquire() in handle_runs_on(). */
	smp_store_release(&base->running_handle, 0);
	WRITE_ONCE(base->run_seq, base->run_seq + 1);
	if (unlikely(base->waiters)) {
		/* The wait queue's lock sleeps on PREEMPT_RT. */
		raw_spin_unlock_irq(&base->lock);
		wake_up_all(&base->wait);
		raw_spin_lock_irq(&base->lock);
	}
}

static void associated_lock(void *lock, u8 lock_flags)
	__acquires(lock)
{
	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_lock((spinlock_t *)lock);
		break;
	case CALLOUT_L_WRITE:
		write_lock((rwlock_t *)lock);
		break;
	default:
		read_lock((rwlock_t *)lock);
	}
}

static void associated_unlock(void *lock, u8 lock_flags)
	__releases(lock)
{
	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_unlock((spinlock_t *)lock);
		break;
	case CALLOUT_L_WRITE:
		write_unlock((rwlock_t *)lock);
		break;
	default:
		read_unlock((rwlock_t *)lock);
	}
}

/* See the head comment of core.c for what can happen meanwhile. */
static void callout_run_with_lock(struct callout_base *base,
				  callout_func_t func, void *arg, void *lock,
				  u8 lock_flags)
{
	bool start;

	associated_lock(lock, lock_flags);
	raw_spin_lock_irq(&base->lock);
	start = base->stoppable;
	base->stoppable = false;
	raw_spin_unlock_irq(&base->lock);

	if (start)
		func(arg);
	if (start && lock_flags & CALLOUT_L_RETURNUNLOCKED)
		__release(lock);	/* by the handler; for sparse */
	else
		associated_unlock(lock, lock_flags);
}

/* EXPIRYPROCESSING for a struct callout: runs its handler. */
static unsigned int callout_expire_func(struct callout_base *base,
					struct callout *c)
	__must_hold(&base->lock)
{
	callout_func_t func = c->func;
	u8 lock_flags = c->lock_flags;
	void *lock = c->lock;
	void *arg = c->arg;

	callout_take_due(base, c);
	base->stoppable = lock;
	callout_run_begin(base, c, 0);
	/* From here on @c may be freed: by others if it has a lock, or by func. */
	if (lock)
		callout_run_with_lock(base, func, arg, lock, lock_flags);
	else
		func(arg);
	callout_run_end(base);
	return 1;
}

/* Asks the source for a wake-up when something can be due, if ever. */
static void callout_program_next(struct callout_base *base)
	__must_hold(&base->lock)
{
	unsigned int budget;
	u64 next;

	for (;;) {
		budget = CALLOUT_BUDGET;
		next = base->scheme->ops->next_due(base->scheme, &budget);
		callout_count_units(base, CALLOUT_BUDGET - budget);
		if (budget)
			break;
		raw_spin_unlock_irq(&base->lock);
		cpu_relax();
		raw_spin_lock_irq(&base->lock);
	}
	if (next != U64_MAX) {
		callout_program(base, next);
	} else {
		base->armed = next;
		trace_callout_tick_stop(base->index);
	}
}

/**
 * callout_expire - runs what is due on a base
 * @base: the base
 *
 * The base is locked for CALLOUT_BUDGET units of work at a time. This returns
 * after CALLOUT_MAX_HANDLERS handlers or CALLOUT_MAX_JIFFIES at the latest.
 *
 * Context: Softirq; one at a time for each base.
 * Return: true if it must be called again soon to go on; else the tick source
 * has been programmed for what is due next.
 */
bool callout_expire(struct callout_base *base)
{
	unsigned long end = jiffies + CALLOUT_MAX_JIFFIES;
	unsigned int handlers = 0, budget;
	bool more = true, again = true;
	struct callout *c;

	/* Files are freed after a grace period: see file.c. */
	rcu_read_lock();
	raw_spin_lock_irq(&base->lock);
	if (base->expiring) {
		/* A tasklet of a CPU that died, run when it is back already. */
		again = false;
		goto out;
	}
	base->expiring = true;
	/* Lower than any expiry: those who arm now leave the tick alone. */
	base->armed = 0;
	for (;;) {
		while (!list_empty(&base->due)) {
			if (handlers >= CALLOUT_MAX_HANDLERS ||
			    time_after_eq(jiffies, end))
				goto yield;
			c = list_first_entry(&base->due, struct callout, entry);
			handlers += expire_fns[c->kind](base, c);
		}
		if (!more)
			break;
		budget = CALLOUT_BUDGET;
		base->now = callout_now(base);
		more = base->scheme->ops->advance(base->scheme, base->now,
						  &budget, &base->due);
		callout_count_units(base, CALLOUT_BUDGET - budget);
		/* That was a budget's worth with the base locked. */
		raw_spin_unlock_irq(&base->lock);
		cpu_relax();
		raw_spin_lock_irq(&base->lock);
		if (more && time_after_eq(jiffies, end))
			goto yield;
	}
	callout_program_next(base);
	again = false;
yield:
	base->expiring = false;
out:
	raw_spin_unlock_irq(&base->lock);
	rcu_read_unlock();
	return again;
}
EXPORT_SYMBOL_IF_KUNIT(callout_expire);

/**
 * callout_again - goes on where callout_expire() has left off
 * @t: the base's tasklet
 */
void callout_again(struct tasklet_struct *t)
{
	struct callout_base *base = from_tasklet(base, t, again);

	if (callout_expire(base))
		tasklet_schedule(t);
}

/**
 * callout_softclock - what the tick source calls when something may be due
 * @base: the base, not locked
 *
 * Named after the BSD routine that hardclock() calls for the same purpose.
 *
 * Context: Softirq.
 */
void callout_softclock(struct callout_base *base)
{
	u64 handlers = base->stats.handlers;

	base->stats.wakeups++;
	if (callout_expire(base))
		tasklet_schedule(&base->again);
	else if (base->stats.handlers == handlers)
		base->stats.false_wakeups++;
}
