// SPDX-License-Identifier: GPL-2.0
/*
 * object.c - torture of struct callout: objects that all threads share
 *
 * An object is a callout and its books. A slot refers to an object. Threads and
 * handlers get the object from the slot, and sometimes replace it. The last put
 * disposes of the object: it stops, drains or async-drains the callout, and
 * frees it as soon as the result allows.
 */
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/time64.h>
#include <linux/workqueue.h>
#include "torture.h"

/* The longest time that a thread waits for a callout to become due. */
#define AMBUSH_NS	(500 * NSEC_PER_USEC)

/* The maximum number of cancels that a thread makes of a running callout. */
#define MAX_CANCELS	256

static struct torture_slot *slots;
static unsigned int nr_slots;
static atomic_t alive = ATOMIC_INIT(0);

static LLIST_HEAD(reap_list);

static void torture_reap(struct work_struct *work);

static DECLARE_WORK(reap_work, torture_reap);

static const struct {
	enum torture_lock lock;
	u8 flags;
} modes[] = {
	{ NO_LOCK, 0 },
	{ NO_LOCK, 0 },
	{ NO_LOCK, 0 },
	{ NO_LOCK, 0 },
	{ NO_LOCK, 0 },
	{ NO_LOCK, 0 },
	{ GIANT, 0 },
	{ SPINLOCK, 0 },
	{ SPINLOCK, 0 },
	{ SPINLOCK, CALLOUT_RETURNUNLOCKED },
	{ SPINLOCK, CALLOUT_TRYLOCK },
	{ SPINLOCK, CALLOUT_TRYLOCK | CALLOUT_RETURNUNLOCKED },
	{ RWLOCK, 0 },
	{ RWLOCK, CALLOUT_RETURNUNLOCKED },
	{ RWLOCK, CALLOUT_TRYLOCK },
	{ RWLOCK, CALLOUT_SHAREDLOCK },
	{ RWLOCK, CALLOUT_SHAREDLOCK | CALLOUT_RETURNUNLOCKED },
	{ RWLOCK, CALLOUT_SHAREDLOCK | CALLOUT_TRYLOCK },
};

/* A random slot. */
struct torture_slot *torture_slot(void)
{
	return &slots[torture_below(nr_slots)];
}

/* Get a reference to the object of a slot. Return NULL if there is none. */
struct torture_object *torture_get(struct torture_slot *slot)
{
	struct torture_object *o;
	unsigned long flags;

	raw_spin_lock_irqsave(&slot->lock, flags);
	o = slot->o;
	if (o)
		atomic_inc(&o->refs);
	raw_spin_unlock_irqrestore(&slot->lock, flags);
	return o;
}

static struct torture_object *torture_create(struct torture_slot *slot,
					     gfp_t gfp)
{
	struct torture_object *o = kzalloc(sizeof(*o), gfp);
	unsigned int mode = torture_below(ARRAY_SIZE(modes));

	if (!o)
		return NULL;
	o->slot = slot;
	o->lock = modes[mode].lock;
	o->lock_flags = modes[mode].flags;
	/* The caller may be a handler that holds the lock of the slot. */
	if (!torture_trylock(o)) {
		o->lock = NO_LOCK;
		o->lock_flags = 0;
	}
	atomic_set(&o->refs, 1);
	switch (o->lock) {
	case NO_LOCK:
		callout_init(&o->c, CALLOUT_MPSAFE);
		break;
	case GIANT:
		callout_init(&o->c, 0);
		break;
	case SPINLOCK:
		callout_init_mtx(&o->c, &slot->mtx, o->lock_flags);
		break;
	case RWLOCK:
		callout_init_rw(&o->c, &slot->rw, o->lock_flags);
	}
	atomic_inc(&alive);
	torture_count(T_OBJECTS);
	/* callout_schedule() needs a function and an argument. */
	atomic_set(&o->sets, 1);
	torture_count(T_SETS);
	o->armed = ARMED;
	if (callout_reset(&o->c, torture_distance(), torture_handler, o))
		torture_error("a new callout is pending\n");
	torture_unlock(o);
	return o;
}

/*
 * Whether the books balance for a callout without a lock that is neither pending nor running.
 */
static bool torture_check_books(struct torture_object *o)
{
	int missing = atomic_read(&o->sets) - atomic_read(&o->runs) -
		      atomic_read(&o->stopped);
	int slack = atomic_read(&o->zeroes) + atomic_read(&o->unsure);
	bool balance = missing >= 0 && missing <= slack;

	if (!balance)
		torture_error("set %d, ran %d, stopped %d, zeroes %d, unsure %d, lock %d\n",
			      atomic_read(&o->sets), atomic_read(&o->runs),
			      atomic_read(&o->stopped), atomic_read(&o->zeroes),
			      atomic_read(&o->unsure), o->lock);
	if (o->lock == NO_LOCK && atomic_read(&o->zeroes) &&
	    !atomic_read(&o->runs))
		torture_error("said to run, and never ran\n");
	if (o->lock == GIANT)
		torture_count(T_GIANT);
	else if (slack)
		torture_count(T_BOUNDED);
	else if (atomic_read(&o->sets))
		torture_count(T_EXACT);
	return balance;
}

/*
 * Begin new books, so that old zeroes do not excuse new differences. The
 * object is not in use, and not pending.
 */
static void torture_new_books(struct torture_object *o)
{
	atomic_set(&o->sets, 0);
	atomic_set(&o->runs, 0);
	atomic_set(&o->stopped, 0);
	atomic_set(&o->zeroes, 0);
	atomic_set(&o->unsure, 0);
}

/* Free an object that is neither pending nor running, or runs this. */
void torture_free(struct torture_object *o)
{
	if (callout_pending(&o->c) || atomic_read(&o->inside))
		torture_error("freed and pending or running\n");
	if (torture_has_lock(o))
		torture_count(T_LOCKED);
	else
		torture_check_books(o);
	kfree(o);
	atomic_dec(&alive);
}

/* Dispose by async drain, which keeps the reference: see torture_put(). */
static void torture_dispose_async(struct torture_object *o)
{
	set_bit(OBJECT_DEAD, &o->flags);
	atomic_set(&o->refs, 1);
	torture_async(o, ANYONE);
}

static void torture_dispose_atomic(struct torture_object *o)
{
	if (!torture_has_lock(o) && torture_below(2) && torture_stop(o, ANYONE)) {
		torture_free(o);
		return;
	}
	if (!torture_trylock(o)) {
		llist_add(&o->reap, &reap_list);
		schedule_work(&reap_work);
		return;
	}
	torture_dispose_async(o);
	torture_unlock(o);
	torture_put(o, false);
}

static void torture_dispose(struct torture_object *o)
{
	int ret;

	switch (torture_below(3)) {
	case 0:
		torture_lock(o);
		torture_dispose_async(o);
		torture_unlock(o);
		torture_put(o, true);
		return;
	case 1:
		torture_lock(o);
		ret = torture_stop(o, ANYONE);
		torture_unlock(o);
		if (ret)
			break;
		fallthrough;
	default:
		torture_drain(o);
	}
	torture_free(o);
}

/*
 * Drop a reference of an object that is not locked, and dispose of the object
 * if the reference was the last. @may_sleep: in a thread, no lock held.
 */
void torture_put(struct torture_object *o, bool may_sleep)
{
	if (!atomic_dec_and_test(&o->refs))
		return;
	if (test_bit(OBJECT_DEAD, &o->flags))
		torture_free(o);
	else if (may_sleep)
		torture_dispose(o);
	else
		torture_dispose_atomic(o);
}

static void torture_reap(struct work_struct *work)
{
	struct torture_object *o, *next;

	llist_for_each_entry_safe(o, next, llist_del_all(&reap_list), reap)
		torture_dispose(o);
}

/*
 * Replace the object of a slot, if it is @old, with a new object. Return
 * whether it was @old, whose reference then belongs to the caller.
 */
bool torture_replace(struct torture_slot *slot, struct torture_object *old,
		     gfp_t gfp)
{
	struct torture_object *o = torture_create(slot, gfp);
	unsigned long flags;
	bool was_there;

	raw_spin_lock_irqsave(&slot->lock, flags);
	was_there = slot->o == old;
	if (was_there)
		slot->o = o;
	raw_spin_unlock_irqrestore(&slot->lock, flags);
	if (!was_there && o)
		torture_put(o, false);
	return was_there;
}

/* Wait until a callout is about to be due, or was cancelled. */
static void torture_wait_due(struct torture_object *o)
{
	u64 end = ktime_get_ns() + AMBUSH_NS;

	while (callout_pending(&o->c) && ktime_get_ns() < end)
		cpu_relax();
}

static void torture_cancel(struct torture_object *o)
{
	torture_lock(o);
	if (!torture_below(4))
		torture_arm(o, ANYONE);
	if (torture_below(8))
		torture_stop(o, ANYONE);
	else
		torture_async(o, ANYONE);
	torture_unlock(o);
}

/* Set a callout, and cancel it when it is due and as long as it runs. */
static void torture_ambush(struct torture_object *o)
{
	unsigned int n = 0;

	atomic_inc(&o->hunters);
	torture_lock(o);
	torture_arm(o, AMBUSH);
	torture_unlock(o);
	torture_wait_due(o);
	if (!torture_below(4))
		torture_linger();
	if (!torture_below(8)) {
		torture_drain(o);
	} else {
		do {
			torture_cancel(o);
			atomic_inc(&o->met);
		} while (atomic_read(&o->inside) && n++ < MAX_CANCELS);
	}
	atomic_dec(&o->hunters);
}

/* Hold a callout's lock when it is due, so that the core has to wait. */
static void torture_hold(struct torture_object *o)
{
	torture_lock(o);
	torture_arm(o, AMBUSH);
	torture_wait_due(o);
	if (torture_below(2))
		torture_linger();
	if (torture_below(4))
		torture_stop(o, ANYONE);
	else
		torture_arm(o, AMBUSH);
	torture_unlock(o);
}

/* Runs in a hard interrupt, where only callouts without a lock may be used. */
static void torture_interrupt(void *arg)
{
	struct torture_object *o = arg;

	if (torture_below(2))
		torture_stop(o, ANYONE);
	else
		torture_arm(o, ANYONE);
}

static void torture_several(struct torture_object *o)
{
	unsigned int n = 1 + torture_below(4);

	torture_lock(o);
	while (n--) {
		if (torture_below(3))
			torture_arm(o, ANYONE);
		else
			torture_stop(o, ANYONE);
	}
	torture_unlock(o);
}

/* Do a random operation on some object, in a thread. */
void torture_object_op(void)
{
	struct torture_slot *slot = torture_slot();
	struct torture_object *o = torture_get(slot);

	if (!o) {
		torture_replace(slot, NULL, GFP_KERNEL);
		return;
	}
	switch (torture_below(32)) {
	case 0:
	case 1:
		torture_several(o);
		break;
	case 2:
	case 3:
		torture_drain(o);
		break;
	case 4:
		torture_lock(o);
		torture_async(o, ANYONE);
		torture_unlock(o);
		break;
	case 5:
		if (torture_replace(slot, o, GFP_KERNEL))
			torture_put(o, true);
		break;
	case 6:
	case 7:
	case 8:
		if (torture_has_lock(o))
			torture_hold(o);
		else
			torture_ambush(o);
		break;
	case 9:
		if (!torture_has_lock(o))
			smp_call_function_single(torture_cpu(),
						 torture_interrupt, o, 1);
		break;
	default:
		torture_ambush(o);
	}
	torture_put(o, true);
}

/* The number of callouts that are pending or running. */
unsigned int torture_objects_busy(void)
{
	struct torture_object *o;
	unsigned int i, busy = 0;

	for (i = 0; i < nr_slots; i++) {
		o = torture_get(&slots[i]);
		if (!o)
			continue;
		if (callout_pending(&o->c) || atomic_read(&o->inside))
			busy++;
		torture_put(o, true);
	}
	return busy;
}

/* Check that the books balance when no callout is pending or running. */
void torture_objects_check(void)
{
	struct torture_object *o;
	unsigned int i;

	for (i = 0; i < nr_slots; i++) {
		o = torture_get(&slots[i]);
		if (!o)
			continue;
		torture_lock(o);
		if (!torture_has_lock(o) && torture_check_books(o))
			torture_new_books(o);
		else if (torture_has_lock(o) && o->armed != NOT_ARMED)
			torture_error("armed %d and did not run, lock %d flags %x\n",
				      o->armed, o->lock, o->lock_flags);
		torture_unlock(o);
		torture_put(o, true);
	}
}

/* Allocate @n slots. Threads create their objects. */
int torture_objects_init(unsigned int n)
{
	unsigned int i;

	slots = kcalloc(n, sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return -ENOMEM;
	nr_slots = n;
	for (i = 0; i < n; i++) {
		raw_spin_lock_init(&slots[i].lock);
		spin_lock_init(&slots[i].mtx);
		rwlock_init(&slots[i].rw);
	}
	return 0;
}

/* Dispose of all objects, when no thread uses them. */
void torture_objects_exit(void)
{
	struct torture_object *o;
	unsigned int i;

	for (i = 0; i < nr_slots; i++) {
		o = slots[i].o;
		slots[i].o = NULL;
		if (o)
			torture_put(o, true);
	}
	flush_work(&reap_work);
	/* Wait for asynchronous drains. */
	callout_barrier();
	if (atomic_read(&alive))
		torture_error("%d objects were not freed\n", atomic_read(&alive));
	kfree(slots);
}
