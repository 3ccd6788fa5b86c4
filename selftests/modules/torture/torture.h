/* SPDX-License-Identifier: GPL-2.0 */
/*
 * torture.h - shared by the files of callout_torture.ko
 */
#ifndef _CALLOUT_TORTURE_H
#define _CALLOUT_TORTURE_H

#include <linux/atomic.h>
#include <linux/callout.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* The counters. names[] in main.c has the words that are printed. */
enum torture_count {
	/* struct callout: */
	T_OBJECTS,	/* Callouts created. */
	T_SETS,		/* Resets that returned 0: newly set. */
	T_REPLACED,	/* Resets that returned 1: re-armed. */
	T_UNSURE,	/* Resets during a drain, which may refuse them. */
	T_STOPPED,	/* Stops and drains that returned 1: cancelled. */
	T_NOT_PENDING,	/* Stops and drains that returned -1: not pending. */
	T_RUNS,		/* Handlers run. */
	T_OWN_FREED,	/* Callouts freed by their own handler. */
	T_DRAINS,	/* Calls of callout_drain(). */
	T_ASYNC,	/* Calls of callout_async_drain(). */
	T_ASYNC_ZEROES,	/* Async drains that returned 0: the drain function follows. */
	T_ASYNC_CALLS,	/* Drain functions called. */
	T_EXACT,	/* Books without a lock that balanced exactly. */
	T_BOUNDED,	/* Books without a lock that balanced within bounds. */
	T_GIANT,	/* Books of callouts under Giant. */
	T_LOCKED,	/* Callouts with an associated lock freed. */
	/* setcallout() and timeout(): */
	T_HANDLE_SETS,	/* Handles returned by setcallout(). */
	T_HANDLE_RUNS,	/* Handlers of setcallout() run. */
	T_HANDLE_UNSET,	/* Callouts cancelled by their handle. */
	T_HANDLE_FULL,	/* Calls that found no free slot. */
	T_TIMEOUTS,	/* Callouts set by timeout(). */
	T_TIMEOUT_RUNS,	/* Handlers of timeout() run. */
	T_UNTIMEOUTS,	/* Callouts cancelled by untimeout(). */
	/* Callouts whose handler may sleep: */
	T_WORK_SETS,	/* Resets. */
	T_WORK_RUNS,	/* Handlers run. */
	T_WORK_STOPPED,	/* Stops and drains that returned 1: cancelled. */
	T_WORK_EXACT,	/* Callouts freed, whose books must be exact. */
	/* The machine: */
	T_PAUSES,	/* Pauses in which all pending callouts had to run. */
	T_HOTPLUGS,	/* CPUs taken offline and online. */
	T_IRQS_OFF,	/* Stretches of some ms with interrupts off. */
	T_OWN_CANCEL,	/* Cancels of a callout by its own handler. */
	/* The rest are raced cancels: the callout was due, or running elsewhere. */
	T_RACED_STOP,	/* Stops that found the callout running elsewhere. */
	T_RACED_LOCK,	/* Stops under the callout's lock that found it about to start. */
	T_RACED_DRAIN,	/* Drains that waited for the callout. */
	T_RACED_ASYNC,	/* Async drains that found the callout running elsewhere. */
	T_RACED_UNSET,	/* Cancels by handle that found the callout running. */
	T_RACED_WORK,	/* Stops and drains that found a callout that may sleep running. */
	T_COUNTS
};

struct torture_counts {
	u64 n[T_COUNTS];
};

DECLARE_PER_CPU(struct torture_counts, torture_counts);

static inline void torture_count(enum torture_count what)
{
	this_cpu_inc(torture_counts.n[what]);
}

u64 torture_sum(enum torture_count what);
__printf(1, 2) void torture_error(const char *fmt, ...);
u32 torture_below(u32 bound);
long torture_distance(void);
unsigned int torture_cpu(void);
bool torture_quiet(void);
void torture_linger(void);
void torture_wait_for(const atomic_t *n);

/**
 * enum torture_armed - the expected state of a callout with a lock
 * @NOT_ARMED: its handler must not start
 * @ARMED: its handler must run, once
 * @MAYBE_ARMED: it was set while it was drained, which may have refused it
 */
enum torture_armed {
	NOT_ARMED,
	ARMED,
	MAYBE_ARMED,
};

/**
 * enum torture_who - the caller that sets or cancels a callout
 * @ANYONE: some thread or handler
 * @OWN_HANDLER: the callout's own handler
 * @AMBUSH: a thread that waits for the callout to become due, on another CPU
 */
enum torture_who {
	ANYONE,
	OWN_HANDLER,
	AMBUSH,
};

enum torture_lock {
	NO_LOCK,
	GIANT,
	SPINLOCK,
	RWLOCK,
};

/**
 * struct torture_slot - a reference by which threads and handlers find an
 * object
 * @lock: protects @o, and the lookup of its reference
 * @o: the present object, or NULL
 * @mtx: the associated lock of objects with a spinlock; outlives them
 * @rw: the associated lock of objects with a rwlock; outlives them
 */
struct torture_slot {
	raw_spinlock_t lock;
	struct torture_object *o;
	spinlock_t mtx;		/* slots of callouts that come and go */
	rwlock_t rw;
};

/**
 * struct torture_object - a callout and its books
 * @c: the callout
 * @slot: the slot that refers or referred to it
 * @lock: which associated lock it has
 * @lock_flags: as given to callout_init_mtx() or callout_init_rw()
 * @refs: references of the slot, of users, of an asynchronous drain. The last
 *	put disposes of the object.
 * @flags: OBJECT_*
 * @reap: link in the list of objects that a work item disposes of
 * @inside: its handler runs
 * @hunters: threads that wait to cancel it while it runs
 * @met: cancels that @hunters have made since it began to run
 * @runs: times its handler has run
 * @ones: times that stop or reset returned 1
 * @sets: without a lock: resets that returned 0
 * @unsure: without a lock: resets that a drain may have refused
 * @stopped: without a lock: stops, drains that returned 1
 * @zeroes: without a lock: stops, drains that returned 0
 * @begun: without a lock: drains that have begun
 * @ended: without a lock: drains that have ended
 * @armed: with a lock, and under it: whether its handler must run
 * @drains: with a lock, and under it: drains that have not ended
 * @foreign: with a lock, and under it: it was set during a drain, and not by its own handler
 * @due: the tick before which it must not run
 * @due_ns: the time before which it must not run
 */
struct torture_object {
	struct callout c;
	struct torture_slot *slot;
	enum torture_lock lock;
	u8 lock_flags;
	atomic_t refs;
	unsigned long flags;
	struct llist_node reap;
	atomic_t inside;
	atomic_t hunters;
	atomic_t met;
	atomic_t runs;
	atomic_t ones;
	atomic_t sets;
	atomic_t unsure;
	atomic_t stopped;
	atomic_t zeroes;
	atomic_t begun;
	atomic_t ended;
	enum torture_armed armed;
	unsigned int drains;
	bool foreign;
	u64 due;
	u64 due_ns;
};

/* torture_object.flags */
#define OBJECT_ASYNC	0	/* an asynchronous drain has a reference */
#define OBJECT_DEAD	1	/* drained when the last reference is dropped */

static inline bool torture_has_lock(const struct torture_object *o)
{
	return o->lock == SPINLOCK || o->lock == RWLOCK;
}

/* object.c */
int torture_objects_init(unsigned int n);
unsigned int torture_objects_busy(void);
void torture_objects_check(void);
void torture_objects_exit(void);
void torture_object_op(void);
struct torture_slot *torture_slot(void);
struct torture_object *torture_get(struct torture_slot *slot);
void torture_put(struct torture_object *o, bool may_sleep);
bool torture_replace(struct torture_slot *slot, struct torture_object *old,
		     gfp_t gfp);
void torture_free(struct torture_object *o);

/* calls.c */
void torture_lock(struct torture_object *o);
bool torture_trylock(struct torture_object *o);
void torture_unlock(struct torture_object *o);
void torture_return_unlocked(struct torture_slot *slot, enum torture_lock lock,
			     u8 lock_flags);
void torture_arm(struct torture_object *o, enum torture_who who);
int torture_stop(struct torture_object *o, enum torture_who who);
void torture_drain(struct torture_object *o);
void torture_async(struct torture_object *o, enum torture_who who);

/* handler.c */
void torture_handler(void *arg);

/* handle.c */
int torture_handles_init(void);
bool torture_handles_busy(void);
void torture_handles_check(void);
void torture_handles_exit(void);
void torture_handle_op(bool may_sleep, const void *own);
void torture_timeout_op(const void *own);

/* work.c */
void torture_works_init(void);
bool torture_works_busy(void);
void torture_works_exit(void);
void torture_work_op(void);

#endif /* _CALLOUT_TORTURE_H */
