// SPDX-License-Identifier: GPL-2.0
/*
 * calls.c - calls of callout(9), and the books that their results allow
 *
 * Callouts with an associated lock are used as callout(9) asks, under their
 * lock, so their state is known at any time (enum torture_armed):
 *
 *	reset		returns 1 if it was armed, otherwise 0
 *	stop		returns 1 if it was armed, otherwise -1; or 0 if it runs: called by
 *			its own handler, or the handler has released the lock
 *			itself (CALLOUT_RETURNUNLOCKED) and not returned. In any
 *			case it is not armed after that.
 *	handler		is called if it was armed, and not before it was due
 *	drain		when the last drain has ended, and only the handler has set it
 *			during the drain: not pending, not running
 *
 * While a drain waits, a reset is refused, which its result does not show;
 * hence MAYBE_ARMED.
 *
 * Callouts without a lock, and callouts under Giant, which only the core takes,
 * are used concurrently by all threads, also from hard interrupts. A setting
 * ends in exactly one way: it runs, a reset replaces it (returns 1), or a stop
 * or drain cancels it. So when the callout is neither pending nor running, for
 * example when it is freed,
 *
 *	resets that returned 0 - refused == runs + returned 1 + hidden by a 0
 *
 * where "returned 1" counts stop, drain and async drain. Calls that return 0
 * have met the running handler, and may or may not have cancelled a second
 * setting. A reset during a drain may or may not have been refused, and a reset
 * under Giant may have kept the handler from starting. Each of these calls
 * hides one setting at most. So the books of a callout without such calls are
 * exact, and the books of other callouts are within bounds.
 */
#include <linux/ktime.h>
#include <linux/time64.h>
#include "torture.h"

/*
 * Sparse cannot follow a lock that depends on the object: __acquire() and
 * __release() balance its count.
 */

/* Take the associated lock, if the object has one. */
void torture_lock(struct torture_object *o)
{
	if (o->lock == SPINLOCK) {
		spin_lock_bh(&o->slot->mtx);
		__release(&o->slot->mtx);
	} else if (o->lock == RWLOCK) {
		write_lock_bh(&o->slot->rw);
		__release(&o->slot->rw);
	}
}

/*
 * As torture_lock(), but return false if the lock is contended. Handlers take a
 * second lock in any order, so they must not wait for it (deadlock).
 */
bool torture_trylock(struct torture_object *o)
{
	if (!torture_has_lock(o))
		return true;
	local_bh_disable();
	if (o->lock == SPINLOCK && spin_trylock(&o->slot->mtx)) {
		__release(&o->slot->mtx);
		return true;
	}
	if (o->lock == RWLOCK && write_trylock(&o->slot->rw)) {
		__release(&o->slot->rw);
		return true;
	}
	local_bh_enable();
	return false;
}

/* Undo torture_lock() or torture_trylock(). */
void torture_unlock(struct torture_object *o)
{
	if (o->lock == SPINLOCK) {
		__acquire(&o->slot->mtx);
		spin_unlock_bh(&o->slot->mtx);
	} else if (o->lock == RWLOCK) {
		__acquire(&o->slot->rw);
		write_unlock_bh(&o->slot->rw);
	}
}

/*
 * Release the associated lock if the flags have CALLOUT_RETURNUNLOCKED. The
 * object may have been freed, so its values are passed.
 */
void torture_return_unlocked(struct torture_slot *slot, enum torture_lock lock,
			     u8 lock_flags)
{
	if (!(lock_flags & CALLOUT_RETURNUNLOCKED))
		return;
	if (lock == SPINLOCK) {
		__acquire(&slot->mtx);
		spin_unlock(&slot->mtx);
	} else if (lock_flags & CALLOUT_SHAREDLOCK) {
		__acquire(&slot->rw);
		read_unlock(&slot->rw);
	} else {
		__acquire(&slot->rw);
		write_unlock(&slot->rw);
	}
}

/* An sbintime_t in ns, rounded down. */
static u64 sbt_ns(sbintime_t sbt)
{
	return (sbt >> 32) * NSEC_PER_SEC +
	       ((u64)(u32)sbt * NSEC_PER_SEC >> 32);
}

/* Set a callout for some time after the present, which is returned in *@ns. */
static int torture_set_precalc(struct torture_object *o, u64 *ns)
{
	sbintime_t sbt, pr;

	callout_when(SBT_1US * torture_below(300), SBT_1US * 50, C_PREL(2),
		     &sbt, &pr);
	*ns = sbt_ns(sbt);
	return callout_reset_sbt(&o->c, sbt, pr, torture_handler, o, C_PRECALC);
}

/* Set a callout for a relative time of @n ticks. */
static int torture_set_hardclock(struct torture_object *o, long n)
{
	int cpu = torture_below(2) ? (int)torture_cpu() : -1;

	return callout_reset_sbt_on(&o->c, n * (SBT_1S / callout_hz()), 0,
				    torture_handler, o, cpu, C_HARDCLOCK);
}

/*
 * Set a callout by one of the functions: in *@n ticks, or at the time *@ns,
 * with *@n then 0.
 */
static int torture_set(struct torture_object *o, long *n, u64 *ns,
		       enum torture_who who)
{
	struct callout *c = &o->c;
	unsigned int cpu;

	*ns = 0;
	if (who == AMBUSH) {
		*n = torture_below(2);
		cpu = (raw_smp_processor_id() + 1 + torture_below(2)) %
		      nr_cpu_ids;
		return callout_reset_on(c, *n, torture_handler, o, cpu);
	}
	switch (torture_below(12)) {
	case 0:
		return callout_schedule(c, *n);
	case 1:
		return callout_schedule_on(c, *n, torture_cpu());
	case 2:
		return callout_schedule_curcpu(c, *n);
	case 3:
		return callout_reset_curcpu(c, *n, torture_handler, o);
	case 4:
		return torture_set_hardclock(o, *n);
	case 5:
		*n = 0;
		return torture_set_precalc(o, ns);
	case 6:
	case 7:
	case 8:
		return callout_reset_on(c, *n, torture_handler, o,
					torture_cpu());
	default:
		return callout_reset(c, *n, torture_handler, o);
	}
}

static void torture_arm_locked(struct torture_object *o,
			       enum torture_who who)
{
	u64 now = callout_ticks(), ns;
	long n = torture_distance();
	int ret;

	ret = torture_set(o, &n, &ns, who);
	if (o->drains) {
		o->armed = MAYBE_ARMED;
		o->foreign |= who != OWN_HANDLER;
		torture_count(T_UNSURE);
		return;
	}
	if (ret != (o->armed == ARMED ? 1 : 0))
		torture_error("reset returned %d, armed %d, lock %d flags %x\n",
			      ret, o->armed, o->lock, o->lock_flags);
	if (!callout_active(&o->c))
		torture_error("set and not active\n");
	torture_count(ret ? T_REPLACED : T_SETS);
	atomic_add(ret, &o->ones);
	o->armed = ARMED;
	o->due = ns ? 0 : now + max(n, 1L);
	o->due_ns = ns;
}

static void torture_arm_unlocked(struct torture_object *o,
				 enum torture_who who)
{
	/* Pairs with the atomic_inc_return()s of the draining threads. */
	int ended = atomic_read_acquire(&o->ended), ret;
	long n = torture_distance();
	u64 ns;

	ret = torture_set(o, &n, &ns, who);
	/* Pairs with the atomic_inc_return()s of the draining threads. */
	smp_mb();
	if (atomic_read(&o->begun) != ended) {
		/* The setting counts, whether it was refused or not. */
		atomic_inc(&o->unsure);
		torture_count(T_UNSURE);
	}
	if (!ret)
		atomic_inc(&o->sets);
	torture_count(ret ? T_REPLACED : T_SETS);
}

/* Set the callout of a locked object, by some function for some time. */
void torture_arm(struct torture_object *o, enum torture_who who)
{
	if (torture_has_lock(o))
		torture_arm_locked(o, who);
	else
		torture_arm_unlocked(o, who);
}

/* Count the result of a stop or drain, for a callout without a lock. */
static void torture_stopped(struct torture_object *o, int ret)
{
	if (ret > 0)
		atomic_inc(&o->stopped);
	else if (!ret)
		atomic_inc(&o->zeroes);
	if (ret)
		torture_count(ret > 0 ? T_STOPPED : T_NOT_PENDING);
}

static int torture_stop_locked(struct torture_object *o)
{
	bool pending = callout_pending(&o->c), ran;
	int ret = callout_stop(&o->c);

	if (callout_pending(&o->c) || callout_active(&o->c))
		torture_error("stopped and pending or active\n");
	/* Under the lock a handler is either inside, or has ended. */
	if (!ret && !(o->lock_flags & CALLOUT_RETURNUNLOCKED) &&
	    !atomic_read(&o->inside))
		torture_error("stop returned 0 and it does not run, lock %d flags %x\n",
			      o->lock, o->lock_flags);
	if (!o->drains) {
		/*
		 * The one handler that can run has begun, or was kept from beginning.
		 */
		ran = atomic_read(&o->runs) || atomic_read(&o->ones);
		if (ret ? ret != (o->armed == ARMED ? 1 : -1) : !ran)
			torture_error("stop returned %d, armed %d, lock %d flags %x\n",
				      ret, o->armed, o->lock, o->lock_flags);
		if (ret > 0 && !pending) {
			torture_count(T_RACED_LOCK);
			if (o->lock_flags & CALLOUT_TRYLOCK)
				torture_error("armed and not pending\n");
		}
	}
	if (ret)
		torture_count(ret > 0 ? T_STOPPED : T_NOT_PENDING);
	atomic_add(ret > 0, &o->ones);
	o->armed = NOT_ARMED;
	return ret;
}

/* Count a cancel that met the handler, another CPU's or its own. */
static void torture_met(enum torture_count what, enum torture_who who)
{
	torture_count(who == OWN_HANDLER ? T_OWN_CANCEL : what);
}

/* Stop the callout of a locked object, and return as callout_stop(). */
int torture_stop(struct torture_object *o, enum torture_who who)
{
	int ret;

	if (torture_has_lock(o)) {
		ret = torture_stop_locked(o);
	} else {
		ret = callout_stop(&o->c);
		torture_stopped(o, ret);
	}
	if (!ret)
		torture_met(T_RACED_STOP, who);
	return ret;
}

/* Count a drain that begins, under the associated lock if there is one. */
static void torture_drain_begins(struct torture_object *o)
{
	if (torture_has_lock(o))
		o->drains++;
	else
		atomic_inc_return(&o->begun);
}

/* Count a drain that has ended, under the associated lock if there is one. */
static void torture_drain_ended(struct torture_object *o)
{
	if (!torture_has_lock(o)) {
		atomic_inc_return(&o->ended);
		return;
	}
	if (--o->drains)
		return;
	if (o->foreign)
		callout_stop(&o->c);
	else if (callout_pending(&o->c) || atomic_read(&o->inside))
		torture_error("drained and pending or running\n");
	o->foreign = false;
	o->armed = NOT_ARMED;
}

/* Drain the callout of an object that is not locked. */
void torture_drain(struct torture_object *o)
{
	int ret;

	torture_lock(o);
	torture_drain_begins(o);
	torture_unlock(o);
	ret = callout_drain(&o->c);
	torture_stopped(o, ret);
	torture_count(T_DRAINS);
	if (!ret)
		torture_count(T_RACED_DRAIN);
	torture_lock(o);
	torture_drain_ended(o);
	torture_unlock(o);
}

/* The drain function: called once the handler has returned. */
static void torture_drained(void *arg)
{
	struct torture_object *o = arg;

	torture_count(T_ASYNC_CALLS);
	torture_lock(o);
	torture_drain_ended(o);
	torture_unlock(o);
	clear_bit_unlock(OBJECT_ASYNC, &o->flags);
	torture_put(o, false);
}

/*
 * Drain the callout of a locked object asynchronously, which keeps a reference.
 * There is one drain at a time, and none for an object that is being disposed
 * of.
 */
void torture_async(struct torture_object *o, enum torture_who who)
{
	int ret;

	if (test_and_set_bit_lock(OBJECT_ASYNC, &o->flags))
		return;
	if (!atomic_inc_not_zero(&o->refs)) {
		clear_bit_unlock(OBJECT_ASYNC, &o->flags);
		return;
	}
	torture_drain_begins(o);
	ret = callout_async_drain(&o->c, torture_drained);
	torture_stopped(o, ret);
	torture_count(T_ASYNC);
	if (!ret) {
		/* torture_drained() may have returned. */
		torture_count(T_ASYNC_ZEROES);
		torture_met(T_RACED_ASYNC, who);
		return;
	}
	if (torture_has_lock(o) && o->drains == 1 &&
	    ret != (o->armed == ARMED ? 1 : -1))
		torture_error("async drain returned %d, armed %d\n", ret,
			      o->armed);
	torture_drain_ended(o);
	clear_bit_unlock(OBJECT_ASYNC, &o->flags);
	atomic_dec(&o->refs);
}
