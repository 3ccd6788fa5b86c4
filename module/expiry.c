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
#include <linux/debug_locks.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include "arm.h"
#include "debugobjects.h"
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

/**
 * callout_take_due - takes a callout off the due list: its turn has come
 * @base: the base, locked
 * @n: the callout
 */
void callout_take_due(struct callout_base *base, struct callout_node *n)
{
	unsigned int bin = fls64(base->now - n->expires);

	base->stats.handlers++;
	base->stats.late[min(bin, CALLOUT_LATE_BINS - 1U)]++;
	trace_callout_expire_entry(n, base->now);
	callout_dequeue_locked(base, n);
}

/**
 * callout_run_begin - lets go of a base to run a handler
 * @base: the base, locked
 * @n: the callout
 */
void callout_run_begin(struct callout_base *base, struct callout_node *n)
	__releases(&base->lock)
{
	base->running = n;
	callout_change_state(n, 0, CALLOUT_S_RAN);
	WRITE_ONCE(base->run_seq, base->run_seq + 1);
	raw_spin_unlock_irq(&base->lock);
}

#ifdef CONFIG_PREEMPT_RT
static void expiry_lock(struct callout_base *base)
{
	spin_lock(&base->expiry_lock);
}

static void expiry_unlock(struct callout_base *base)
{
	spin_unlock(&base->expiry_lock);
}

/* Lets those pass who wait for the handler that has returned. */
static void expiry_wake(struct callout_base *base)
{
	expiry_unlock(base);
	expiry_lock(base);
}
#else
static void expiry_lock(struct callout_base *base)
{
}

static void expiry_unlock(struct callout_base *base)
{
}

static void expiry_wake(struct callout_base *base)
{
	wake_up_all(&base->wait);
}
#endif

/**
 * callout_run_end - takes a base again when a handler has returned
 * @base: the base
 * @arg: the handler's argument
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
		/* What they wait with sleeps on PREEMPT_RT. */
		raw_spin_unlock_irq(&base->lock);
		expiry_wake(base);
		/* The next handler is not to blame for that. */
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

/* For sparse it is not held until callout_run_with_lock() says so. */
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
	/* One expiry at a time for each base: nobody else writes this. */
	base->stats.slow++;
	pr_info_ratelimited("callout: %ps took %llu us\n", func,
			    div_u64(took, NSEC_PER_USEC));
	/* A line on a serial console can take as long. */
	base->clock = callout_clock(base);
}

/**
 * callout_call - calls a handler and looks at how it behaves
 * @base: the base, not locked
 * @func: the handler
 * @arg: its argument
 */
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

/**
 * callout_check_context - a handler must leave things as it found them
 * @base: the base, not locked
 * @func: the handler, and its associated lock let go if it has one
 */
void callout_check_context(struct callout_base *base, callout_func_t *func)
{
	if (unlikely(base->preempt_count != preempt_count())) {
		WARN_ONCE(1, "callout: %pS: preempt_count %08x became %08x\n",
			  func, base->preempt_count, preempt_count());
		preempt_count_set(base->preempt_count);
	}
	/* Without debug_locks, which a report clears, no lock counts as held. */
	if (unlikely(base->lockdep_depth != lockdep_depth(current)) &&
	    debug_locks)
		WARN_ONCE(1, "callout: %pS: held %d locks and now %d\n",
			  func, base->lockdep_depth, lockdep_depth(current));
}
EXPORT_SYMBOL_IF_KUNIT(callout_check_context);

/* See the head comment of core.c for what can happen meanwhile. */
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
	/* Who has the lock next reads it, with the base's lock too. */
	if (start)
		WRITE_ONCE(base->stage, CALLOUT_STAGE_OVER);
	associated_unlock(lock, lock_flags);
}

/* Ends a hold of the lock: after work that is no handler. */
static void callout_let_others_in(struct callout_base *base)
	__must_hold(&base->lock)
{
	raw_spin_unlock_irq(&base->lock);
	cpu_relax();
	raw_spin_lock_irq(&base->lock);
}

/*
 * The lock is taken: the callout's turn comes again at the next tick. It stays
 * due and keeps its expiry, so it counts as late.
 */
static void callout_put_off(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock)
{
	list_move_tail(&n->entry, &base->put_off);
	callout_let_others_in(base);
}

/*
 * The tick has come, the time perhaps not: callout_jiffy_zero was too late when
 * the callout was set. Then it is filed for another tick, a unit of work.
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
	callout_let_others_in(base);
	return true;
}

/* EXPIRYPROCESSING for a struct callout: runs its handler. */
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
	 * From here on @c may be freed: by others if it has a lock, or by func.
	 * The class is outside that lock, since to drain it under that is a
	 * deadlock too; but not to lockdep if the lock is held already.
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

/* No kind: it was not initialised, or its memory was overwritten. */
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

/**
 * callout_collect - moves some of what is due from the scheme to the due list
 * @base: the base, locked; its due list is empty
 *
 * What was put off at an earlier tick comes before that.
 *
 * Return: true if there may be more.
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
 * The tick at which something can be due next; U64_MAX: never. The lock is
 * dropped at times. Where the scheme has not searched to the end when
 * callout_clock() comes to @end, what it says is a lower bound.
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
		callout_let_others_in(base);
	}
}

/**
 * callout_program_next - asks for a wake-up when something can be due, if ever
 * @base: the base, locked; callout_collect() has found all that is due
 * @end: when callout_clock() is there it has searched for long enough
 *
 * The lock is dropped at times. A base that is always a search behind is woken
 * for the tick after the one that callout_collect() has seen, and so is one with
 * a callout that was put off.
 *
 * Context: Softirq.
 */
void callout_program_next(struct callout_base *base, u64 end)
	__must_hold(&base->lock)
{
	u64 next;

	next = list_empty(&base->put_off) ? callout_search_next(base, end) : 0;
	/* It may have died meanwhile, see callout_base_kill(). */
	if (base->dead)
		return;
	if (next != U64_MAX) {
		callout_program(base, max(next, base->now + 1));
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
 * after CALLOUT_MAX_HANDLERS handlers or CALLOUT_MAX_NS, which the search for
 * what is next shares, and the handler or hold of the lock that is under way.
 *
 * Context: Softirq; one at a time for each base.
 * Return: true if it must be called again soon to go on; else the tick source
 * has been programmed for what is due next.
 */
bool callout_expire(struct callout_base *base)
{
	bool more = true, again = true;
	unsigned int handlers = 0;
	int preempt, locks;
	struct callout_node *n;
	u64 end;

	expiry_lock(base);
	/*
	 * Files are freed after a grace period: see file.c. So may be associated
	 * locks that callout_run_with_lock() still waits for.
	 */
	rcu_read_lock();
	preempt = preempt_count();
	locks = lockdep_depth(current);
	raw_spin_lock_irq(&base->lock);
	if (base->expiring || base->dead) {
		/* A tasklet of a CPU that died, run when it is back already. */
		again = false;
		goto out;
	}
	base->expiring = true;
	base->clock = callout_clock(base);
	end = base->clock + CALLOUT_MAX_NS;
	base->preempt_count = preempt;
	base->lockdep_depth = locks;
	/* Lower than any expiry: those who arm now leave the tick alone. */
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
		/* That was a budget's worth with the base locked, or less. */
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
	expiry_unlock(base);
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
