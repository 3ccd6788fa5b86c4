// SPDX-License-Identifier: GPL-2.0
/*
 * expiry.c - run due callouts: EXPIRYPROCESSING, in softirq context
 *
 * A base's expiry moves expired callouts from the scheme to the due list, a
 * budget at a time, and takes callouts off that list one by one. The lock is
 * dropped in between, so a callout on the due list can still be stopped or
 * re-armed; it counts as pending until its handler starts.
 *
 * Neither the time with the base locked nor the time in one softirq depends on
 * the number of callouts or on how late the base is. When the limits are reached
 * the rest goes on in a tasklet, that is in a later softirq, so that other
 * softirqs, ksoftirqd and RCU are not starved.
 */
#include <linux/callout.h>
#include <linux/debug_locks.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include "arm.h"
#include "debug.h"
#include "expiry.h"
#include "kcompat.h"

static_assert(CALLOUT_BUDGET >= CALLOUT_MIN_BUDGET);

static unsigned int callout_expire_func(struct callout_base *base,
					struct callout_node *n);
static unsigned int callout_expire_none(struct callout_base *base,
					struct callout_node *n);

static callout_func_t *func_of_callout(const struct callout_node *n)
{
	return container_of(n, struct callout, node)->func;
}

/* For each value that the byte callout_node.kind can have. */
static struct callout_kind_ops kinds[U8_MAX + 1] = {
	[CALLOUT_KIND_NONE] = { .expire = callout_expire_none },
	[CALLOUT_KIND_FUNC] = {
		.expire	= callout_expire_func,
		.func	= func_of_callout,
	},
	[CALLOUT_KIND_FUNC + 1 ... U8_MAX] = { .expire = callout_expire_none },
};

/* Says what to do with due nodes of one kind. Module load only. */
void callout_register_kind(enum callout_kind kind,
			   const struct callout_kind_ops *ops)
{
	kinds[kind] = *ops;
}

/* The handler of a node, for tracepoints; NULL if its kind has none. */
callout_func_t *callout_node_func(const struct callout_node *n)
{
	return kinds[n->kind].func ? kinds[n->kind].func(n) : NULL;
}

/* Takes @n off the due list: its turn has come. The base is locked. */
void callout_take_due(struct callout_base *base, struct callout_node *n)
{
	unsigned int bin = fls64(base->now - n->expires);

	base->stats.handlers++;
	base->stats.late[min(bin, CALLOUT_LATE_BINS - 1U)]++;
	trace_callout_expire_entry(n, base->now);
	callout_dequeue_locked(base, n);
}

/* Marks the handler of @n as running and unlocks the base. */
void callout_run_begin(struct callout_base *base, struct callout_node *n)
	__releases(&base->lock)
{
	base->running = n;
	callout_change_state(n, 0, CALLOUT_S_RAN);
	WRITE_ONCE(base->run_seq, base->run_seq + 1);
	raw_spin_unlock_irq(&base->lock);
}

#ifdef CONFIG_PREEMPT_RT
static void lock_expiry(struct callout_base *base)
{
	spin_lock(&base->expiry_lock);
}

static void unlock_expiry(struct callout_base *base)
{
	spin_unlock(&base->expiry_lock);
}

/* Lets the waiters for the handler that has returned pass. */
static void expiry_wake(struct callout_base *base)
{
	unlock_expiry(base);
	lock_expiry(base);
}
#else
static void lock_expiry(struct callout_base *base)
{
}

static void unlock_expiry(struct callout_base *base)
{
}

static void expiry_wake(struct callout_base *base)
{
	wake_up_all(&base->wait);
}
#endif

/*
 * Locks the base again after a handler with argument @arg has returned, and
 * wakes those that wait for that.
 */
void callout_run_end(struct callout_base *base, void *arg)
	__acquires(&base->lock)
{
	callout_func_t *drain;

	trace_callout_expire_exit(base->running);
	raw_spin_lock_irq(&base->lock);
	base->running = NULL;
	if (unlikely(base->leaving))
		callout_leave(base);
	if (unlikely(base->drain)) {
		drain = base->drain;
		base->drain = NULL;
		/* Before run_seq changes: callout_barrier() waits for it too. */
		raw_spin_unlock_irq(&base->lock);
		callout_call(base, drain, arg);
		callout_check_context(base, drain);
		raw_spin_lock_irq(&base->lock);
	}
	WRITE_ONCE(base->run_seq, base->run_seq + 1);
	if (unlikely(base->waiters)) {
		/* Waking takes sleeping locks on PREEMPT_RT. */
		raw_spin_unlock_irq(&base->lock);
		expiry_wake(base);
		/* Do not account this to the next handler. */
		base->clock = callout_clock(base);
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

/* sparse: callout_run_with_lock() marks the lock as held. */
static bool associated_trylock(void *lock, u8 lock_flags)
{
	spinlock_t *spin = lock;
	rwlock_t *rw = lock;

	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		if (!spin_trylock(spin))
			return false;
		__release(spin);
		return true;
	case CALLOUT_L_WRITE:
		if (!write_trylock(rw))
			return false;
		__release(rw);
		return true;
	default:
		if (!read_trylock(rw))
			return false;
		__release(rw);
		return true;
	}
}

static void callout_slow(struct callout_base *base, callout_func_t *func,
			 u64 took)
{
	/* A base has one expiry at a time: this has no other writer. */
	base->stats.slow++;
	pr_info_ratelimited("callout: %ps took %llu us\n", func,
			    div_u64(took, NSEC_PER_USEC));
	/* A line on a serial console can take as long. */
	base->clock = callout_clock(base);
}

/* Calls a handler and measures it. The base is not locked. */
void callout_call(struct callout_base *base, callout_func_t *func, void *arg)
{
	u64 end, took;

	func(arg);
	end = callout_clock(base);
	took = end - base->clock;
	base->clock = end;
	if (unlikely(took > CALLOUT_SLOW_NS))
		callout_slow(base, func, took);
}

/*
 * Warns if a handler has changed the preemption count or the locks held. The
 * associated lock has been released, and the base is not locked.
 */
void callout_check_context(struct callout_base *base, callout_func_t *func)
{
	if (unlikely(base->preempt_count != preempt_count())) {
		WARN_ONCE(1, "callout: %pS: preempt_count %08x became %08x\n",
			  func, base->preempt_count, preempt_count());
		preempt_count_set(base->preempt_count);
	}
	/* A lockdep report clears debug_locks, and then no lock counts as held. */
	if (unlikely(base->lockdep_depth != lockdep_depth(current)) &&
	    debug_locks)
		WARN_ONCE(1, "callout: %pS: held %d locks and now %d\n",
			  func, base->lockdep_depth, lockdep_depth(current));
}
EXPORT_SYMBOL_IF_KUNIT(callout_check_context);

/* core.c has the races with callout_stop(). */
static void callout_run_with_lock(struct callout_base *base,
				  callout_func_t *func, void *arg, void *lock,
				  u8 lock_flags)
{
	bool start = true;

	if (lock_flags & CALLOUT_TRYLOCK) {
		__acquire(lock);	/* before; for sparse */
	} else {
		associated_lock(lock, lock_flags);
		raw_spin_lock_irq(&base->lock);
		start = base->stage == CALLOUT_STAGE_WAITING;
		if (start)
			base->stage = CALLOUT_STAGE_STARTED;
		raw_spin_unlock_irq(&base->lock);
	}
	if (start)
		callout_call(base, func, arg);
	if (start && lock_flags & CALLOUT_RETURNUNLOCKED) {
		__release(lock);	/* by the handler; for sparse */
		return;
	}
	/* The next holder of the lock reads it, under the base's lock too. */
	if (start)
		WRITE_ONCE(base->stage, CALLOUT_STAGE_OVER);
	associated_unlock(lock, lock_flags);
}

/* Ends one hold of the lock and begins another. */
static void callout_relock(struct callout_base *base)
	__must_hold(&base->lock)
{
	raw_spin_unlock_irq(&base->lock);
	cpu_relax();
	raw_spin_lock_irq(&base->lock);
}

/*
 * Lock contended: retry at the next tick. The callout stays pending throughout
 * and keeps its expiry, so it counts as late.
 */
static void callout_put_off(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock)
{
	list_move_tail(&n->entry, &base->put_off);
	callout_relock(base);
}

/*
 * Re-files a callout whose tick has come before its time, which happens if
 * callout_jiffy_zero was too late when it was set. A unit of work.
 */
static bool callout_postpone(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock)
{
	u64 now = ktime_get_ns(), tick;

	if (likely(n->time <= now))
		return false;
	tick = callout_from_ns(base, n->time, now);
	list_del(&n->entry);
	callout_change_state(n, CALLOUT_S_DUE, 0);
	callout_scheme_start(base, n, tick);
	callout_started(base, n, tick);
	callout_relock(base);
	return true;
}

/* Runs the handler of a struct callout. */
static unsigned int callout_expire_func(struct callout_base *base,
					struct callout_node *n)
	__must_hold(&base->lock)
{
	struct callout *c = container_of(n, struct callout, node);
	struct callout_class *class = callout_debug_class(c);
	struct lockdep_map map __maybe_unused = callout_class_map(class);
	callout_func_t *func = c->func;
	u8 lock_flags = n->flags;
	void *lock = c->lock;
	void *arg = c->arg;

	if (unlikely(READ_ONCE(n->mark) == CALLOUT_A_TIME) &&
	    callout_postpone(base, n))
		return 1;
	if (unlikely(lock_flags & CALLOUT_TRYLOCK)) {
		if (!associated_trylock(lock, lock_flags)) {
			callout_put_off(base, n);
			return 1;
		}
	}
	callout_take_due(base, n);
	callout_debug_deactivate(c);
	base->stage = lock && !(lock_flags & CALLOUT_TRYLOCK) ?
		      CALLOUT_STAGE_WAITING : CALLOUT_STAGE_STARTED;
	callout_run_begin(base, n);
	/*
	 * From here on @c may be freed: by func, or if it has a lock by a holder
	 * of that. The class is outside the lock, since draining under the lock
	 * is a deadlock too; but not if trylock has taken the lock already.
	 */
	lock_acquire_exclusive(&map, 0, !!(lock_flags & CALLOUT_TRYLOCK), NULL,
			       _THIS_IP_);
	if (lock)
		callout_run_with_lock(base, func, arg, lock, lock_flags);
	else
		callout_call(base, func, arg);
	lock_map_release(&map);
	callout_check_context(base, func);
	callout_run_end(base, arg);
	return 1;
}

/* Drops a node without a kind: not initialised, or overwritten. */
static unsigned int callout_expire_none(struct callout_base *base,
					struct callout_node *n)
	__must_hold(&base->lock)
{
	u8 kind = n->kind;

	callout_take_due(base, n);
	raw_spin_unlock_irq(&base->lock);
	pr_err_once("callout: dropped one of kind %u: not initialised, or overwritten\n",
		    kind);
	raw_spin_lock_irq(&base->lock);
	return 1;
}

/*
 * Moves up to a budget of expired nodes from the scheme to the due list, which
 * is empty, behind those that were put off at an earlier tick. Returns true if
 * more may follow. The base is locked.
 */
bool callout_collect(struct callout_base *base)
{
	unsigned int budget = CALLOUT_BUDGET;
	u64 now = callout_now(base);
	bool more;

	lockdep_assert_held(&base->lock);
	more = callout_scheme_advance(base, now, &budget, &base->due);
	callout_count_units(base, CALLOUT_BUDGET - budget);
	if (now != base->now)
		list_splice_init(&base->put_off, &base->due);
	base->now = now;
	return more;
}

/*
 * The next tick at which something can be due; U64_MAX: never. A lower bound if
 * the scheme's search has not ended when callout_clock() reaches @end. Drops the
 * lock between budgets.
 */
static u64 callout_search_next(struct callout_base *base, u64 end)
	__must_hold(&base->lock)
{
	unsigned int budget;
	u64 next;

	for (;;) {
		budget = CALLOUT_BUDGET;
		next = callout_scheme_next_due(base, &budget);
		callout_count_units(base, CALLOUT_BUDGET - budget);
		if (budget || callout_clock(base) >= end)
			return next;
		callout_relock(base);
	}
}

/*
 * Programs the tick source for the next tick at which something can be due, if
 * any; callout_collect() has moved all that is due now. The search ends when
 * callout_clock() reaches @end. A base whose search never ends in time is woken
 * at each tick, and so is one with a callout that was put off. Drops the lock
 * between budgets.
 */
void callout_program_next(struct callout_base *base, u64 end)
	__must_hold(&base->lock)
{
	u64 next;

	next = list_empty(&base->put_off) ? callout_search_next(base, end) : 0;
	/* The base may have died meanwhile, see callout_base_kill(). */
	if (base->dead)
		return;
	if (next != U64_MAX) {
		callout_program(base, max(next, base->now + 1));
	} else {
		base->armed = next;
		trace_callout_tick_stop(base->index);
	}
}

/*
 * Runs the due callouts of a base, in softirq context, once at a time for each
 * base. It locks the base for CALLOUT_BUDGET units of work at a time and returns
 * after CALLOUT_MAX_HANDLERS handlers or CALLOUT_MAX_NS, which the search for
 * the next tick shares, and the handler or hold that is under way. Returns true
 * if it must be called again soon; else it has programmed the tick source.
 */
bool callout_expire(struct callout_base *base)
{
	bool more = true, again = true;
	unsigned int handlers = 0;
	int preempt, locks;
	struct callout_node *n;
	u64 end;

	lock_expiry(base);
	/*
	 * A promise of struct callout_kind_ops. It also keeps an associated lock
	 * that callout_run_with_lock() waits for, if that is freed by RCU.
	 */
	rcu_read_lock();
	preempt = preempt_count();
	locks = lockdep_depth(current);
	raw_spin_lock_irq(&base->lock);
	if (base->expiring || base->dead) {
		/* The tasklet of a CPU that died, run when it is back already. */
		again = false;
		goto out;
	}
	base->expiring = true;
	base->clock = callout_clock(base);
	end = base->clock + CALLOUT_MAX_NS;
	base->preempt_count = preempt;
	base->lockdep_depth = locks;
	/* Lower than any expiry: arming leaves the tick alone. */
	base->armed = 0;
	for (;;) {
		while (!list_empty(&base->due)) {
			if (handlers >= CALLOUT_MAX_HANDLERS ||
			    base->clock >= end || base->dead)
				goto yield;
			n = list_first_entry(&base->due, struct callout_node,
					     entry);
			handlers += kinds[n->kind].expire(base, n);
		}
		if (!more)
			break;
		more = callout_collect(base);
		/* That was up to a budget of work with the base locked. */
		raw_spin_unlock_irq(&base->lock);
		if (more)
			base->clock = callout_clock(base);
		raw_spin_lock_irq(&base->lock);
		if (more && base->clock >= end)
			goto yield;
	}
	callout_program_next(base, end);
	again = false;
yield:
	base->expiring = false;
out:
	raw_spin_unlock_irq(&base->lock);
	rcu_read_unlock();
	unlock_expiry(base);
	return again;
}
EXPORT_SYMBOL_IF_KUNIT(callout_expire);

/* The base's tasklet: goes on where callout_expire() has stopped. */
void callout_again(struct tasklet_struct *t)
{
	struct callout_base *base = from_tasklet(base, t, again);

	if (callout_expire(base))
		tasklet_schedule(t);
}

/*
 * What the tick source calls when something may be due, in softirq context.
 * Named after the BSD routine that hardclock() calls for the same purpose.
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
