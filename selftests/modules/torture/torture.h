/* SPDX-License-Identifier: GPL-2.0 */
/*
 * torture.h - what the files of callout_torture.ko share
 */
#ifndef _CALLOUT_TORTURE_H
#define _CALLOUT_TORTURE_H

#include <linux/atomic.h>
#include <linux/callout.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* What is counted; torture_names[] has the words that are printed. */
enum torture_count {
	T_OBJECTS,
	T_SETS,
	T_REPLACED,
	T_UNSURE,
	T_STOPPED,
	T_NOT_PENDING,
	T_RUNS,
	T_OWN_FREED,
	T_DRAINS,
	T_ASYNC,
	T_ASYNC_ZEROES,
	T_ASYNC_CALLS,
	T_EXACT,
	T_BOUNDED,
	T_GIANT,
	T_LOCKED,
	T_HANDLE_SETS,
	T_HANDLE_RUNS,
	T_HANDLE_UNSET,
	T_HANDLE_FULL,
	T_TIMEOUTS,
	T_TIMEOUT_RUNS,
	T_UNTIMEOUTS,
	T_PROC_SETS,
	T_PROC_RUNS,
	T_PROC_STOPPED,
	T_PROC_EXACT,
	T_PAUSES,
	T_HOTPLUGS,
	T_IRQS_OFF,
	T_OWN_CANCEL,
	/* The rest are cancels that found it due, or running elsewhere. */
	T_RACED_STOP,
	T_RACED_LOCK,
	T_RACED_DRAIN,
	T_RACED_ASYNC,
	T_RACED_UNSET,
	T_RACED_PROC,
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
 * enum torture_armed - what is known of a callout with a lock
 * @NOT_ARMED: its handler must not start
 * @ARMED: its handler is to run, once
 * @MAYBE_ARMED: it was set while it was drained, which may have refused it
 */
enum torture_armed {
	NOT_ARMED,
	ARMED,
	MAYBE_ARMED,
};

/**
 * enum torture_who - who sets a callout
 * @ANYONE: some thread or handler
 * @OWN_HANDLER: the callout's own handler
 * @AMBUSH: a thread that waits for it to become due, on another CPU
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
 * struct torture_slot - where threads and handlers find an object
 * @lock: protects @o, and that it is there to be referred to
 * @o: the present object, or NULL
 * @mtx: the associated lock of those that have a spinlock; outlives them
 * @rw: the same of those that have a rwlock
 */
struct torture_slot {
	raw_spinlock_t lock;
	struct torture_object *o;
	spinlock_t mtx;		/* of callouts that come and go */
	rwlock_t rw;
};

/**
 * struct torture_object - a callout and its books
 * @c: the callout
 * @slot: where it is, or was
 * @lock: which associated lock it has
 * @lock_flags: as given to callout_init_mtx() or callout_init_rw()
 * @refs: of the slot, of those that use it, of an asynchronous drain. Whoever
 *	drops the last disposes of it.
 * @flags: OBJECT_*
 * @reap: in the list of those that a work item disposes of
 * @inside: its handler runs
 * @hunters: threads that wait to cancel it while it runs
 * @met: how many cancels they have made since it began to run
 * @runs: times its handler has run
 * @ones: times that stop or reset returned 1
 * @sets: without a lock: resets that returned 0
 * @unsure: without a lock: resets that a drain may have refused
 * @stopped: without a lock: stops, drains that returned 1
 * @zeroes: without a lock: stops, drains that returned 0
 * @begun: without a lock: drains that have begun
 * @ended: without a lock: drains that have ended
 * @armed: with a lock, and under it: whether it is to run
 * @drains: with a lock, and under it: drains that have not ended
 * @foreign: with a lock, and under it: somebody else than its handler has set
 *	it while it was drained
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

/* proc.c */
void torture_procs_init(void);
bool torture_procs_busy(void);
void torture_procs_exit(void);
void torture_proc_op(void);

#endif /* _CALLOUT_TORTURE_H */
