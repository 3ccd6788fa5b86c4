// SPDX-License-Identifier: GPL-2.0
/*
 * core.c - per-CPU bases: arm, stop, drain and expiry of callouts
 *
 * A callout is idle, queued (in its base's scheme), due (on the base's due
 * list), or running; while it runs it may be queued again. Queued and due are
 * both "pending". Whatever it is, callout.cpu says which base it belongs to,
 * and that base's lock protects it. The lock of a callout is therefore found
 * in a loop, as in the kernel's own lock_timer_base(): read callout.cpu, lock
 * that base, and look whether the callout is still of that base.
 *
 * Only a callout that is neither pending nor running changes its base, and
 * not in one step, since there is no order between two bases' locks:
 *
 *	CPU0: callout_reset_on(c, 2)		CPU1: callout_stop(c)
 *	lock(base 0), c.cpu == 0
 *	take c out of base 0
 *	c.cpu = MOVING				reads c.cpu: MOVING, spins
 *	unlock(base 0)
 *	lock(base 2)
 *	c.cpu = 2				reads c.cpu: 2
 *	file c in base 2			waits for base 2
 *	unlock(base 2)				locks base 2: c is pending
 *
 * CPU0 has interrupts off all the way, so CPU1 spins for a bounded time.
 *
 * Handlers run in softirq context without the base's lock. The base
 * remembers whose handler runs, by address only: after the handler was called
 * the callout may be gone. Pending is cleared before that, so the handler may
 * re-arm, stop or free its own callout.
 *
 * A callout may have an associated lock, which the core takes around the
 * handler. Then stopping it under that lock always works:
 *
 *	CPU0: softirq				CPU1: holds c's lock
 *	takes c off the due list
 *	running = c, stoppable
 *	unlock(base)
 *	waits for c's lock			callout_stop(c): lock(base)
 *						running == c and stoppable:
 *						stoppable = false
 *						unlock(base), returns 1
 *						unlocks c's lock, may free c
 *	has c's lock
 *	lock(base): not stoppable any more
 *	so it was stopped: unlocks, goes on
 *	with the next callout
 *
 * Once CPU0 finds itself stoppable under the base's lock it clears that, and
 * from there on callout_stop() returns 0: too late. (The lock itself outlives
 * the callout, as FreeBSD asks too.)
 */
#include <linux/callout.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "core.h"
#include "kcompat.h"

#define MAX_KINDS	4

struct callout_base **callout_bases;
EXPORT_SYMBOL_IF_KUNIT(callout_bases);

static callout_expire_fn expire_fns[MAX_KINDS];
static u8 nr_kinds;
static u8 kind_func;

/* What bases are made with, also for CPUs that come later. */
static const struct callout_tick_source *the_tick;
static const struct callout_scheme_ops *the_scheme;
static unsigned int the_buckets;

static int hotplug_state;

/* The lock of callouts made by callout_init() with mpsafe = 0: BSD's Giant. */
static DEFINE_SPINLOCK(giant);

/**
 * callout_register_kind - adds a way to treat callouts that are due
 * @expire: called for each callout of this kind; see callout_expire_fn
 *
 * Context: Module load only.
 * Return: the number for callout_setup().
 */
u8 callout_register_kind(callout_expire_fn expire)
{
	BUILD_BUG_ON(CALLOUT_BUDGET < CALLOUT_MIN_BUDGET);
	if (WARN_ON(nr_kinds == MAX_KINDS))
		return 0;
	expire_fns[nr_kinds] = expire;
	return nr_kinds++;
}

/*
 * The scheme's calls that each setting makes: direct where it is the wheel,
 * which spares an indirect call on the paths that are measured.
 */
static inline void scheme_start(struct callout_base *base, struct callout *c,
				u64 expires)
{
	struct callout_scheme *s = base->scheme;

	if (likely(s->ops == &callout_hashed_wheel))
		callout_wheel_start(s, c, 0, expires);
	else
		s->ops->start(s, c, callout_now(base), expires);
}

static inline void scheme_rearm(struct callout_base *base, struct callout *c,
				u64 expires)
{
	struct callout_scheme *s = base->scheme;

	if (likely(s->ops == &callout_hashed_wheel))
		callout_wheel_rearm(s, c, 0, expires);
	else
		s->ops->rearm(s, c, callout_now(base), expires);
}

static inline void scheme_stop(struct callout_base *base, struct callout *c)
{
	struct callout_scheme *s = base->scheme;

	if (likely(s->ops == &callout_hashed_wheel))
		callout_wheel_stop(s, c);
	else
		s->ops->stop(s, c);
}

/**
 * callout_lock - locks the base that a callout belongs to
 * @c: the callout
 * @flags: for callout_unlock()
 *
 * Context: Any. Leaves interrupts off.
 * Return: the base; @c stays its until it is unlocked.
 */
struct callout_base *callout_lock(struct callout *c, unsigned long *flags)
	__acquires(&base->lock)
{
	struct callout_base *base;
	u32 cpu;

	for (;;) {
		/* Pairs with the writes of c->cpu under the lock taken below. */
		cpu = READ_ONCE(c->cpu);
		if (likely(cpu != CALLOUT_CPU_MOVING)) {
			base = callout_base(cpu);
			raw_spin_lock_irqsave(&base->lock, *flags);
			if (likely(c->cpu == cpu))
				return base;
			raw_spin_unlock_irqrestore(&base->lock, *flags);
		}
		cpu_relax();
	}
}

/**
 * callout_lock_this_cpu - locks the base of the current CPU
 * @flags: for callout_unlock()
 *
 * A CPU's base goes offline only when the CPU is dead, so this one is online.
 *
 * Context: Any. Leaves interrupts off.
 * Return: the base.
 */
struct callout_base *callout_lock_this_cpu(unsigned long *flags)
	__acquires(&base->lock)
{
	struct callout_base *base;

	local_irq_save(*flags);
	base = callout_base(smp_processor_id());
	raw_spin_lock(&base->lock);
	return base;
}

void callout_unlock(struct callout_base *base, unsigned long flags)
	__releases(&base->lock)
{
	raw_spin_unlock_irqrestore(&base->lock, flags);
}

/* Lets go of @base and locks @target, or this CPU's base if that is offline. */
static struct callout_base *callout_move_locked(struct callout_base *base,
						struct callout *c,
						struct callout_base *target)
	__must_hold(&base->lock)
{
	WRITE_ONCE(c->cpu, CALLOUT_CPU_MOVING);
	raw_spin_unlock(&base->lock);
	raw_spin_lock(&target->lock);
	if (unlikely(!target->online)) {
		raw_spin_unlock(&target->lock);
		target = callout_base(smp_processor_id());
		raw_spin_lock(&target->lock);
	}
	WRITE_ONCE(c->cpu, target->index);
	return target;
}

/**
 * callout_start_locked - queues an idle callout
 * @base: its base, locked
 * @c: the callout, neither queued nor due
 * @expires: the tick at which it is due
 */
void callout_start_locked(struct callout_base *base, struct callout *c,
			  u64 expires)
{
	lockdep_assert_held(&base->lock);
	c->state |= CALLOUT_S_PENDING;
	base->pending++;
	scheme_start(base, c, expires);
	if (expires < base->armed) {
		base->armed = expires;
		base->tick->program(base, expires);
	}
}

/**
 * callout_dequeue_locked - takes a pending callout out
 * @base: its base, locked
 * @c: the callout
 *
 * The tick is not programmed anew: to wake up once for nothing is cheaper than
 * to do this for each callout that is cancelled.
 */
void callout_dequeue_locked(struct callout_base *base, struct callout *c)
{
	lockdep_assert_held(&base->lock);
	if (unlikely(c->state & CALLOUT_S_DUE))
		list_del(&c->entry);
	else
		scheme_stop(base, c);
	c->state &= ~(CALLOUT_S_PENDING | CALLOUT_S_DUE);
	base->pending--;
}

/* Sets @c for @expires, queued already or not. */
static void callout_requeue_locked(struct callout_base *base,
				   struct callout *c, u64 expires)
{
	if ((c->state & (CALLOUT_S_PENDING | CALLOUT_S_DUE)) ==
	    CALLOUT_S_PENDING) {
		scheme_rearm(base, c, expires);
		if (expires < base->armed) {
			base->armed = expires;
			base->tick->program(base, expires);
		}
		return;
	}
	if (c->state & CALLOUT_S_PENDING)
		callout_dequeue_locked(base, c);
	callout_start_locked(base, c, expires);
}

/**
 * callout_setup - sets the private members of a callout
 * @c: the callout
 * @kind: what happens when it is due
 * @cpu: the base that it belongs to
 */
void callout_setup(struct callout *c, u8 kind, u32 cpu)
{
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->cpu = cpu;
}
EXPORT_SYMBOL_IF_KUNIT(callout_setup);

/**
 * callout_init_lock - prepares a callout with an associated lock
 * @c: the callout
 * @lock: spinlock_t or rwlock_t that is held when the handler runs, or NULL
 * @lock_flags: CALLOUT_L_*
 */
void callout_init_lock(struct callout *c, void *lock, u8 lock_flags)
{
	callout_setup(c, kind_func, raw_smp_processor_id());
	c->lock = lock;
	c->lock_flags = lock_flags;
}
EXPORT_SYMBOL_IF_KUNIT(callout_init_lock);

/**
 * callout_init - prepares a callout
 * @c: the callout; must not be pending or running
 * @mpsafe: CALLOUT_MPSAFE, or 0 to have its handler run under one lock that
 *	all such callouts share, as under BSD's Giant
 *
 * Assigns the callout to the current CPU. From FreeBSD's callout(9).
 *
 * Context: Any.
 */
void callout_init(struct callout *c, int mpsafe)
{
	if (mpsafe)
		callout_init_lock(c, NULL, 0);
	else
		callout_init_lock(c, &giant, CALLOUT_L_SPIN);
}
EXPORT_SYMBOL_GPL(callout_init);

/* Has the handler been told to start, and can it still be kept from it? */
static bool callout_cancel_start(struct callout_base *base, struct callout *c)
{
	if (base->running != c || !base->stoppable)
		return false;
	base->stoppable = false;
	return true;
}

/* Arms @c; @target is the base to move it to, or NULL to leave it. */
static int callout_arm(struct callout *c, struct callout_base *target,
		       long ticks, callout_func_t func, void *arg)
{
	struct callout_base *base;
	unsigned long flags;
	bool replaced;

	base = callout_lock(c, &flags);
	replaced = c->state & CALLOUT_S_PENDING;
	if (unlikely(base->running == c)) {
		replaced |= callout_cancel_start(base, c);
		if (c->state & CALLOUT_S_DRAINING)
			goto out;
		/* Whoever drains it looks for it where it runs. */
		target = base;
	} else {
		if (!target)
			target = base;
		if (unlikely(!READ_ONCE(target->online)))
			target = callout_base(smp_processor_id());
	}
	if (target != base) {
		if (c->state & CALLOUT_S_PENDING)
			callout_dequeue_locked(base, c);
		base = callout_move_locked(base, c, target);
	}
	if (func) {
		c->func = func;
		c->arg = arg;
	}
	c->active = 1;
	callout_requeue_locked(base, c, callout_expiry(base, ticks));
out:
	callout_unlock(base, flags);
	return replaced;
}

/**
 * callout_reset - sets a callout, or sets it anew
 * @c: the callout
 * @ticks: how many ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: its argument
 *
 * If @c is pending it is moved to the new time. It stays on its CPU. While
 * callout_drain() waits for @c to finish, nothing is set.
 *
 * From FreeBSD's callout(9).
 *
 * Context: Any, hard interrupt included. If @c has an associated lock, the
 * caller holds it.
 * Return: 1 if it was pending, else 0.
 */
int callout_reset(struct callout *c, long ticks, callout_func_t func, void *arg)
{
	return callout_arm(c, NULL, ticks, func, arg);
}
EXPORT_SYMBOL_GPL(callout_reset);

/**
 * callout_reset_on - sets a callout on another CPU
 * @c: the callout
 * @ticks: how many ticks from now; less than 1 counts as 1
 * @func: the handler
 * @arg: its argument
 * @cpu: the CPU on which the handler is to run
 *
 * As callout_reset(). If @cpu is not online the current CPU is used, and if
 * the handler of @c is running it stays on the CPU where it runs.
 *
 * Context: Any, hard interrupt included.
 * Return: 1 if it was pending, else 0.
 */
int callout_reset_on(struct callout *c, long ticks, callout_func_t func,
		     void *arg, unsigned int cpu)
{
	struct callout_base *target = NULL;

	if (cpu < nr_cpu_ids)
		target = READ_ONCE(callout_bases[cpu]);
	if (!target)
		target = callout_base(raw_smp_processor_id());
	return callout_arm(c, target, ticks, func, arg);
}
EXPORT_SYMBOL_GPL(callout_reset_on);

/**
 * callout_schedule - sets a callout again, with the handler it had
 * @c: the callout; callout_reset() was called on it before
 * @ticks: how many ticks from now; less than 1 counts as 1
 *
 * From FreeBSD's callout(9).
 *
 * Context: As callout_reset().
 * Return: 1 if it was pending, else 0.
 */
int callout_schedule(struct callout *c, long ticks)
{
	return callout_arm(c, NULL, ticks, NULL, NULL);
}
EXPORT_SYMBOL_GPL(callout_schedule);

/* What callout_stop() returns; @c's base is locked. */
static int callout_stop_locked(struct callout_base *base, struct callout *c)
{
	bool pending = c->state & CALLOUT_S_PENDING;

	c->active = 0;
	if (pending)
		callout_dequeue_locked(base, c);
	if (base->running == c)
		return 0;
	return pending ? 1 : -1;
}

/**
 * callout_stop - cancels a callout
 * @c: the callout
 *
 * Does not wait for a handler that is running. If the callout has an
 * associated lock, the caller holds it, and then the handler does not start
 * after this returned 1, not even if it was waiting for the lock just now.
 * A callout that is running and was set again meanwhile is not set any more
 * after this, and 0 is returned.
 *
 * From FreeBSD's callout(9).
 *
 * Context: Any, hard interrupt included.
 * Return: 1 if it was cancelled; 0 if its handler is running and could not be
 * stopped; -1 if it was not pending.
 */
int callout_stop(struct callout *c)
{
	struct callout_base *base;
	unsigned long flags;
	int ret;

	base = callout_lock(c, &flags);
	ret = callout_stop_locked(base, c);
	if (!ret && callout_cancel_start(base, c))
		ret = 1;
	callout_unlock(base, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_stop);

/**
 * callout_wait_run - waits until the handler that is running has returned
 * @base: the base
 * @seq: its run_seq, read under its lock, when the handler was running
 */
void callout_wait_run(struct callout_base *base, unsigned long seq)
{
	raw_spin_lock_irq(&base->lock);
	base->waiters++;
	raw_spin_unlock_irq(&base->lock);

	wait_event(base->wait, READ_ONCE(base->run_seq) != seq);

	raw_spin_lock_irq(&base->lock);
	base->waiters--;
	raw_spin_unlock_irq(&base->lock);
}

/**
 * callout_drain - cancels a callout and waits for its handler
 * @c: the callout
 *
 * As callout_stop(), and when this returns the handler is not running: the
 * callout may be freed. A callout_reset() while this waits, by the handler or
 * by anyone, does nothing.
 *
 * From FreeBSD's callout(9).
 *
 * Context: Process context, may sleep; not from @c's handler, nor with a lock
 * held that the handler takes, the associated one included.
 * Return: as callout_stop().
 */
int callout_drain(struct callout *c)
{
	struct callout_base *base;
	unsigned long flags, seq;
	int ret;

	might_sleep();

	base = callout_lock(c, &flags);
	ret = callout_stop_locked(base, c);
	while (base->running == c) {
		c->state |= CALLOUT_S_DRAINING;
		seq = base->run_seq;
		callout_unlock(base, flags);
		callout_wait_run(base, seq);
		base = callout_lock(c, &flags);
	}
	c->state &= ~CALLOUT_S_DRAINING;
	callout_unlock(base, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(callout_drain);

/**
 * callout_barrier - waits for all handlers that are running
 *
 * After this no handler runs that had started before it was called. For the
 * exit of a module that has cancelled all it had set, by handle say, and must
 * not go before the last handler has returned.
 *
 * Context: Process context, may sleep; not from a handler.
 */
void callout_barrier(void)
{
	struct callout_base *base;
	unsigned long seq;
	unsigned int cpu;

	might_sleep();

	for_each_possible_cpu(cpu) {
		base = READ_ONCE(callout_bases[cpu]);
		if (!base)
			continue;
		raw_spin_lock_irq(&base->lock);
		seq = base->run_seq;
		raw_spin_unlock_irq(&base->lock);
		if (seq & 1)
			callout_wait_run(base, seq);
	}
}
EXPORT_SYMBOL_GPL(callout_barrier);

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
	WRITE_ONCE(base->running_handle, handle);
	base->handlers++;
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
	raw_spin_lock_irq(&base->lock);
	base->running = NULL;
	WRITE_ONCE(base->running_handle, 0);
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

/* See the head comment for what can happen while this waits for the lock. */
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

	callout_dequeue_locked(base, c);
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
		if (budget)
			break;
		raw_spin_unlock_irq(&base->lock);
		cpu_relax();
		raw_spin_lock_irq(&base->lock);
	}
	base->armed = next;
	if (next != U64_MAX)
		base->tick->program(base, next);
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

	/* Files are freed after a grace period: see dev.c. */
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
			    time_after(jiffies, end))
				goto yield;
			c = list_first_entry(&base->due, struct callout, entry);
			handlers += expire_fns[c->kind](base, c);
		}
		if (!more)
			break;
		budget = CALLOUT_BUDGET;
		more = base->scheme->ops->advance(base->scheme,
						  callout_now(base), &budget,
						  &base->due);
		if (!more || !list_empty(&base->due))
			continue;
		if (time_after(jiffies, end))
			goto yield;
		raw_spin_unlock_irq(&base->lock);
		cpu_relax();
		raw_spin_lock_irq(&base->lock);
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

static void callout_again(struct tasklet_struct *t)
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
	u64 handlers = base->handlers;

	base->wakeups++;
	if (callout_expire(base))
		tasklet_schedule(&base->again);
	else if (base->handlers == handlers)
		base->false_wakeups++;
}

/**
 * callout_base_create - makes an empty base
 * @index: its place in callout_bases[]: a CPU, or nr_cpu_ids for a test
 * @tick: what tells its time
 * @ops: the scheme
 * @params: for the scheme's create
 *
 * Context: Process context, may sleep.
 * Return: the base, or an ERR_PTR.
 */
struct callout_base *
callout_base_create(unsigned int index, const struct callout_tick_source *tick,
		    const struct callout_scheme_ops *ops,
		    const struct callout_scheme_params *params)
{
	struct callout_base *base;

	base = kzalloc_node(sizeof(*base), GFP_KERNEL, params->node);
	if (!base)
		return ERR_PTR(-ENOMEM);
	base->scheme = ops->create(params);
	if (IS_ERR(base->scheme)) {
		void *err = ERR_CAST(base->scheme);

		kfree(base);
		return err;
	}
	raw_spin_lock_init(&base->lock);
	base->index = index;
	base->online = true;
	INIT_LIST_HEAD(&base->due);
	base->armed = U64_MAX;
	init_waitqueue_head(&base->wait);
	tasklet_setup(&base->again, callout_again);
	base->tick = tick;
	tick->init(base);
	/* Pairs with the READ_ONCE()s of callout_bases[]. */
	smp_store_release(&callout_bases[index], base);
	return base;
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_create);

/**
 * callout_base_destroy - frees a base that nobody uses any more
 * @base: the base
 *
 * Context: Process context, may sleep.
 * Return: how many callouts were still pending. They are forgotten: their
 * handlers are not called, and their memory, which may be gone with the
 * module that set them, is not touched.
 */
u64 callout_base_destroy(struct callout_base *base)
{
	u64 left = base->pending;

	base->tick->shutdown(base);
	tasklet_kill(&base->again);
	callout_bases[base->index] = NULL;
	base->scheme->ops->destroy(base->scheme);
	kfree(base);
	return left;
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_destroy);

static int callout_cpu_prepare(unsigned int cpu)
{
	struct callout_scheme_params params = {
		.buckets = the_buckets,
		.node = cpu_to_node(cpu),
	};
	struct callout_base *base = callout_bases[cpu];

	if (!base) {
		base = callout_base_create(cpu, the_tick, the_scheme, &params);
		return PTR_ERR_OR_ZERO(base);
	}
	raw_spin_lock_irq(&base->lock);
	base->online = true;
	raw_spin_unlock_irq(&base->lock);
	return 0;
}

/* Moves up to a budget of what the dead @from has to @to, both locked. */
static bool callout_take_over(struct callout_base *from,
			      struct callout_base *to)
	__must_hold(&from->lock) __must_hold(&to->lock)
{
	unsigned int budget = CALLOUT_BUDGET;
	struct callout *c;
	LIST_HEAD(taken);
	bool more;

	/* The due list first: as far as order can be kept, it is. */
	while (budget && !list_empty(&from->due)) {
		budget--;
		list_move_tail(from->due.next, &taken);
	}
	more = !budget || from->scheme->ops->take(from->scheme, &budget,
						  &taken);
	while (!list_empty(&taken)) {
		c = list_first_entry(&taken, struct callout, entry);
		list_del(&c->entry);
		c->state &= ~CALLOUT_S_DUE;
		from->pending--;
		/* Pairs with the READ_ONCE() in callout_lock(). */
		WRITE_ONCE(c->cpu, to->index);
		callout_start_locked(to, c, c->expires);
	}
	return more;
}

/* The CPU is dead: no handler runs on it, and nobody arms callouts there. */
static int callout_cpu_dead(unsigned int cpu)
{
	struct callout_base *from = callout_bases[cpu], *to;
	bool more;

	/* cpuhp_setup_state() has failed on another CPU and undoes this one. */
	if (cpu_online(cpu))
		return 0;

	do {
		local_irq_disable();
		to = callout_base(smp_processor_id());
		raw_spin_lock(&to->lock);
		raw_spin_lock_nested(&from->lock, SINGLE_DEPTH_NESTING);
		from->online = false;
		WARN_ON_ONCE(from->running);
		more = callout_take_over(from, to);
		if (!more)
			from->armed = U64_MAX;
		raw_spin_unlock(&from->lock);
		raw_spin_unlock(&to->lock);
		local_irq_enable();
	} while (more);
	from->tick->shutdown(from);
	from->tick->init(from);
	return 0;
}

/**
 * callout_tick_ns - how long a tick is
 *
 * Return: the length in ns.
 */
u64 callout_tick_ns(void)
{
	return the_tick->tick_ns;
}

/**
 * callout_core_init - makes the bases
 * @tick: the tick source for all of them
 * @ops: the scheme for all of them
 * @buckets: number of buckets of each
 *
 * Context: Module load, before any other function of this file.
 * Return: 0, -EINVAL if the scheme does not take @buckets, or another error.
 */
int callout_core_init(const struct callout_tick_source *tick,
		      const struct callout_scheme_ops *ops,
		      unsigned int buckets)
{
	int ret;

	callout_bases = kcalloc(nr_cpu_ids + 1, sizeof(*callout_bases),
				GFP_KERNEL);
	if (!callout_bases)
		return -ENOMEM;
	the_tick = tick;
	the_scheme = ops;
	the_buckets = buckets;
	kind_func = callout_register_kind(callout_expire_func);
	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "callout:prepare",
				callout_cpu_prepare, callout_cpu_dead);
	if (ret < 0) {
		callout_core_exit();
		return ret;
	}
	hotplug_state = ret;
	return 0;
}

/**
 * callout_core_exit - frees the bases
 *
 * Context: Module unload, when no one can call any other function.
 * Return: how many callouts were still pending. They do not run.
 */
u64 callout_core_exit(void)
{
	unsigned int cpu;
	u64 left = 0;

	if (hotplug_state)
		cpuhp_remove_state_nocalls(hotplug_state);
	for_each_possible_cpu(cpu)
		if (callout_bases[cpu])
			left += callout_base_destroy(callout_bases[cpu]);
	kfree(callout_bases);
	return left;
}
