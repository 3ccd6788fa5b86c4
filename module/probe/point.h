/* SPDX-License-Identifier: GPL-2.0 */
/*
 * point.h - named points between critical sections, for tests: CONFIG_CALLOUT_POINTS
 *
 * A point is where a lock has been released, or something been read or published
 * without one, and another critical section that depends on it follows. point.c
 * has CPUs wait at pairs of them. In any other build a point is nothing.
 */
#ifndef _CALLOUT_POINT_H
#define _CALLOUT_POINT_H

/* Of each: what has been done, and what follows. */
#define CALLOUT_POINTS(X)						\
	X(LOCK)		/* a node's base read; locks it */		\
	X(LOCK_MOVED)	/* it has another now; reads again */		\
	X(HOME)		/* this CPU's base chosen; locks it */		\
	X(MOVE)		/* node out of one base; locks the other */	\
	X(MOVE_OFFLINE)	/* that is offline; locks this CPU's */		\
	X(LEFT)		/* node is home; locks its old base again */	\
	X(ONLINE)	/* a CPU comes or goes; tells its base */	\
	X(ONLINE_TOLD)	/* the base knows it; the CPU goes on */	\
	X(DEAD)		/* a CPU is dead; locks its base */		\
	X(TAKEN_OVER)	/* some callouts taken over; locks again */	\
	X(RUN)		/* handler marked as running; is called */	\
	X(RUN_LOCKED)	/* its lock taken; asks whether it may start */	\
	X(RUN_STARTS)	/* it may; is called */				\
	X(RUN_OVER)	/* it counts as over; its lock is released */	\
	X(RUN_RETURNED)	/* handler returned; the base is told */	\
	X(RUN_DRAINED)	/* nothing runs; the drain function is called */ \
	X(RUN_WAKES)	/* the base is told; waiters are woken */	\
	X(RELOCK)	/* one hold of expiry ended; the next begins */	\
	X(EXPIRED)	/* expiry ended; it is asked for again */	\
	X(DRAIN)	/* it runs; waits for it */			\
	X(DRAIN_WAITS)	/* counted as waiter; looks */			\
	X(DRAIN_WAITED)	/* it has returned; locks the base again */	\
	X(BARRIER)	/* a handler runs; waits for it */		\
	X(HASH_ENTERS)	/* slot goes into its bucket */			\
	X(HASH_PAIRS)	/* bucket has one; becomes a pair */		\
	X(HASH_LOOKED)	/* bucket is not empty; is locked */		\
	X(HASH_LOCKS)	/* table read; locks its bucket */		\
	X(HASH_NEXT)	/* bucket has moved; locks that of the next */	\
	X(HASH_LEAVES)	/* slot is in the hash; is taken out */		\
	X(HASH_SHARED)	/* it is not alone; locks its bucket */		\
	X(HASH_LEFT)	/* slot taken out; its holder goes on */	\
	X(HASH_MOVES)	/* a bucket has moved in part; next one */	\
	X(HASH_MOVED)	/* all have moved; the next table is published */ \
	X(HASH_TAKEN)	/* slot out of the hash; is cancelled */	\
	X(STEAL)	/* base unlocked; locks the stock of others */	\
	X(STOLEN)	/* slots in no base; locks the one for them */	\
	X(HANDLE)	/* slot looked up; its base is locked */	\
	X(HANDLE_RUNS)	/* its handler runs; locks its base again */	\
	X(HANDLE_WAITS)	/* it still runs; waits for it */		\
	X(STOCK_LOW)	/* few slots are left; asks for more */		\
	X(STOCK_REFILL)	/* asked; looks at the stocks */		\
	X(WORK_DUE)	/* callout is due; locks the work's state */	\
	X(WORK_RUN)	/* work item runs; locks it */			\
	X(WORK_STARTS)	/* setting used up; handler is called */	\
	X(WORK_RETURNED) /* handler returned; work item ends */		\
	X(WORK_DRAIN)	/* setting cancelled; drains the callout */	\
	X(WORK_FLUSH)	/* callout drained; flushes the work item */	\
	X(WORK_ALLOW)	/* work item flushed; allows settings */	\
	X(TIMER_LOOKED)	/* timer is pending or not; locks its base */	\
	X(TIMER_WAITS)	/* it runs; waits for it */			\
	X(GROW_LOOKED)	/* wheel has the wrong size; makes a ring */	\
	X(GROW_MOVES)	/* some have moved to it; locks again */	\
	X(FILE_SET)	/* clock's offset read; slot is queued */	\
	X(FILE_FIRED)	/* events are ready; readers are woken */	\
	X(FILE_DETACHED) /* events detached; are copied */		\
	X(FILE_COPIED)	/* events copied; slots are freed */		\
	X(FILE_FOUND)	/* found by key; its base is locked */		\
	X(FILE_EVENTFD)	/* eventfd replaced; is signalled */		\
	X(CLOCK_STEPPED) /* clock has stepped; looks at slots */	\
	X(CLOCK_SLOT)	/* slot looked at; its base is locked */

#define CALLOUT_POINT_ENUM(name)	CALLOUT_POINT_##name,

enum callout_point {
	CALLOUT_POINTS(CALLOUT_POINT_ENUM)
	CALLOUT_NR_POINTS
};

#ifdef CONFIG_CALLOUT_POINTS
#include <linux/jump_label.h>

DECLARE_STATIC_KEY_FALSE(callout_points_key);

void co_point_pass(enum callout_point point);
void co_points_exit(void);

static __always_inline void co_point(enum callout_point point)
{
	if (static_branch_unlikely(&callout_points_key))
		co_point_pass(point);
}
#else
static __always_inline void co_point(enum callout_point point)
{
}

static inline void co_points_exit(void)
{
}
#endif

#endif /* _CALLOUT_POINT_H */
