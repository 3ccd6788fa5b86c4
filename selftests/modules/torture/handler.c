// SPDX-License-Identifier: GPL-2.0
/*
 * handler.c - the handler of all objects: makes the calls that threads make, and frees
 */
#include <linux/ktime.h>
#include <linux/processor.h>
#include <linux/time64.h>
#include "torture.h"

/* The longest time that the handler waits for a cancel. */
#define MEET_NS	NSEC_PER_MSEC

/* Check a callout with a lock, which the core holds. */
static void torture_enter(struct torture_object *o)
{
	if (o->lock == SPINLOCK)
		lockdep_assert_held(&o->slot->mtx);
	else
		lockdep_assert_held(&o->slot->rw);
	if (callout_pending(&o->c))
		torture_error("runs and is pending, under its lock\n");
	if (o->armed == NOT_ARMED)
		torture_error("runs and was stopped, lock %d flags %x\n",
			      o->lock, o->lock_flags);
	if (!o->drains && !callout_active(&o->c))
		torture_error("runs and is not active\n");
	if (o->armed == ARMED && !o->drains &&
	    (callout_ticks() < o->due || ktime_get_ns() < o->due_ns))
		torture_error("early: due at %llu, %llu ns; it is %llu, %llu ns\n",
			      o->due, o->due_ns, callout_ticks(),
			      ktime_get_ns());
	o->armed = NOT_ARMED;
	if (torture_below(2))
		callout_deactivate(&o->c);
}

/* Make a random call on another object or, if the callout has no lock, perhaps on @own. */
static void torture_other(struct torture_object *own)
{
	enum torture_who who;
	struct torture_slot *slot = torture_slot();
	struct torture_object *o = torture_get(slot);
	bool replaced = false;

	if (!o)
		return;
	who = o == own ? OWN_HANDLER : ANYONE;
	if (!torture_trylock(o)) {
		torture_put(o, false);
		return;
	}
	switch (torture_below(4)) {
	case 0:
		torture_arm(o, who);
		break;
	case 1:
		torture_stop(o, who);
		break;
	case 2:
		torture_async(o, who);
		break;
	default:
		replaced = torture_replace(slot, o, GFP_ATOMIC);
	}
	torture_unlock(o);
	if (replaced)
		torture_put(o, false);
	torture_put(o, false);
}

/*
 * ABA: a handler frees its own callout, pending or not, and the next object,
 * likely at the same address, is set before the handler returns.
 */
static bool torture_free_own(struct torture_object *o)
{
	struct torture_slot *slot = o->slot;

	if (!torture_replace(slot, o, GFP_ATOMIC))
		return false;
	if (!atomic_dec_and_test(&o->refs))
		return false;
	torture_stop(o, OWN_HANDLER);
	atomic_dec(&o->inside);
	torture_free(o);
	torture_count(T_OWN_FREED);
	if (torture_below(2))
		torture_replace(slot, NULL, GFP_ATOMIC);
	return true;
}

/* Make a random call of the handler. Return false if it has freed @o. */
static bool torture_act(struct torture_object *o)
{
	switch (torture_below(16)) {
	case 0:
	case 1:
	case 2:
		torture_arm(o, OWN_HANDLER);
		break;
	case 3:
		torture_arm(o, OWN_HANDLER);
		torture_stop(o, OWN_HANDLER);
		break;
	case 4:
		torture_arm(o, OWN_HANDLER);
		torture_arm(o, OWN_HANDLER);
		torture_async(o, OWN_HANDLER);
		break;
	case 5:
	case 6:
		return !torture_free_own(o);
	case 7:
	case 8:
	case 9:
		torture_other(o);
		break;
	case 10:
		torture_handle_op(false, NULL);
		break;
	case 11:
		torture_timeout_op(NULL);
		break;
	}
	return true;
}

/* Wait for threads that want to cancel the callout while it runs. */
static void torture_be_met(struct torture_object *o)
{
	int wanted = 1 + torture_below(8);
	u64 end;

	if (!atomic_read(&o->hunters))
		return;
	atomic_set(&o->met, 0);
	end = ktime_get_ns() + MEET_NS;
	while (atomic_read(&o->met) < wanted && ktime_get_ns() < end)
		cpu_relax();
}

void torture_handler(void *arg)
{
	struct torture_object *o = arg;
	struct torture_slot *slot = o->slot;
	enum torture_lock lock = o->lock;
	u8 lock_flags = o->lock_flags;
	bool there = true;

	torture_count(T_RUNS);
	atomic_inc(&o->runs);
	if (atomic_inc_return(&o->inside) != 1)
		torture_error("runs twice at the same time\n");
	if (torture_has_lock(o))
		torture_enter(o);
	if (!torture_quiet()) {
		torture_linger();
		if (!torture_has_lock(o))
			torture_be_met(o);
		there = torture_act(o);
	}
	torture_return_unlocked(slot, lock, lock_flags);
	if (!torture_quiet())
		torture_linger();
	if (there)
		atomic_dec(&o->inside);
}
