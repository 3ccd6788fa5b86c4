/* SPDX-License-Identifier: GPL-2.0 */
/*
 * run.h - run the handlers of due callouts
 */
#ifndef _CALLOUT_RUN_H
#define _CALLOUT_RUN_H

#include <linux/callout.h>
#include <linux/prefetch.h>
#include "debug.h"
#include "queue.h"

/*
 * A handler during which jiffies change this often took at least 2 ms, including
 * its wait for its lock: it delays other callouts.
 */
#define CALLOUT_SLOW_EDGES	(1 + DIV_ROUND_UP(2 * HZ, 1000))

/* Count an expiry of @n. */
static inline void co_count_late(struct callout_base *base,
				 struct callout_node *n)
{
	u64 late = base->now - n->expires;

	if (!late)
		base->stats.late[0]++;
	else
		base->stats.late[min(fls64(late), CALLOUT_LATE_BINS - 1)]++;
	trace_callout_expire_entry(n, base->now, base->tick_ns);
}

/* Take the due node @n out: its turn has come. The base is locked. */
static inline void co_take_due(struct callout_base *base,
			       struct callout_node *n)
{
	co_count_late(base, n);
	co_dequeue_locked(base, n);
}

/*
 * As co_take_due(), for a node whose handler starts. Unless @n is in a list of the
 * base, the cursor of the wheel points to it.
 */
static inline void co_take_started(struct callout_base *base,
				   struct callout_node *n)
{
	struct callout_wheel *w = to_wheel(base->scheme);

	lockdep_assert_held(&base->lock);
	co_count_late(base, n);
	if (unlikely(n->state & CALLOUT_S_DUE)) {
		__list_del_entry(&n->entry);
	} else {
		co_wheel_take(w, n);
		prefetch(w->cursor);
	}
	base->until_resize++;
	callout_change_state(n, CALLOUT_S_PENDING | CALLOUT_S_DUE,
			     CALLOUT_S_STARTED_HERE);
}

void co_time_passed(struct callout_base *base, callout_func_t *func);
void co_run_end_slow(struct callout_base *base, void *arg)
	__must_hold(&base->lock);
void co_context_changed(struct callout_base *base, callout_func_t *func);

/*
 * Warn if a handler has changed the preemption count or the locks held. The
 * associated lock has been released, and the base is not locked.
 */
static inline void co_check_context(struct callout_base *base,
				    callout_func_t *func)
{
	if (base->preempt_count != preempt_count() ||
	    (IS_ENABLED(CONFIG_LOCKDEP) &&
	     base->lockdep_depth != lockdep_depth(current)))
		co_context_changed(base, func);
}

void co_wait_for_handler(struct callout_base *base, unsigned long seq);

static inline void co_bump_seq(struct callout_base *base)
{
	lockdep_assert_held(&base->lock);
	/*
	 * A plain increment is one instruction. Waiters read run_seq without the
	 * lock to see whether it has changed, and then take the lock.
	 */
	data_race(base->run_seq++);
}

/*
 * Mark the handler of @n, which has CALLOUT_S_STARTED_HERE, as running and unlock the
 * base. Interrupts stay off.
 */
static inline void co_run_begin(struct callout_base *base,
				struct callout_node *n)
	__releases(&base->lock)
{
	base->running = n;
	co_bump_seq(base);
	co_base_unlock(base);
}

/* Check how long @func took. The base is not locked. */
static inline void co_look_at_time(struct callout_base *base,
				   callout_func_t *func)
{
	if (READ_ONCE(*base->jiffies) != base->edge)
		co_time_passed(base, func);
}

/* Call a handler, and check how long it took. The base is not locked. */
static inline void co_call(struct callout_base *base,
			   callout_func_t *func, void *arg)
{
	func(arg);
	co_look_at_time(base, func);
}

/*
 * Lock the base again after a handler with argument @arg has returned, and wake the
 * threads that wait for the handler.
 */
static inline void co_run_end(struct callout_base *base, void *arg)
	__acquires(&base->lock)
{
	trace_callout_expire_exit(base->running);
	co_point();
	co_base_lock_irq(base);
	base->running = NULL;
	if (base->attention)
		co_run_end_slow(base, arg);
	else
		co_bump_seq(base);
}

/*
 * Run the handler of @n, which co_take_started() has taken out and which has no lock.
 * From the handler's call on, @n may be freed. @class is the lockdep class of the waits
 * for the handler.
 */
static inline void co_run(struct callout_base *base, struct callout_node *n,
			  struct callout_class *class, callout_func_t *func,
			  void *arg)
	__must_hold(&base->lock)
{
	struct lockdep_map map __maybe_unused = co_class_map(class);

	co_run_begin(base, n);
	local_irq_enable();
	lock_map_acquire(&map);
	co_call(base, func, arg);
	lock_map_release(&map);
	co_check_context(base, func);
	co_run_end(base, arg);
}

/*
 * Has the tick passed in which expiry must end? Not on PREEMPT_RT: there expiry runs
 * in a thread. Another thread may have preempted it all that time, and it need not
 * yield to threads. Ending expiry would make callouts late where Linux's timers are
 * not.
 */
static inline bool co_time_is_up(const struct callout_base *base)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) &&
	       READ_ONCE(*base->jiffies) != base->edge;
}

/*
 * Is @n the node of a struct callout without a lock that was not set by the clock,
 * and is @n still in the wheel? Four bytes are tested at once.
 */
static inline bool co_is_plain(const struct callout_base *base,
			       const struct callout_node *n)
{
	static const struct callout_node mask = {
		.state = CALLOUT_S_DUE,
		.kind = U8_MAX,
		.active = CALLOUT_A_TIME,
	}, plain = {
		.kind = CALLOUT_KIND_FUNC,
	};

	return co_is_wheel(base) &&
	       (READ_ONCE(n->bytes) & mask.bytes) == plain.bytes &&
	       !container_of(n, struct callout, node)->lock;
}

/*
 * The node that is due next, if the wheel's walk has reached it; otherwise NULL. For rows of nodes
 * in the wheel: expiry takes those in base->due before them.
 */
static inline struct callout_node *co_next_in_walk(struct callout_base *base)
{
	return co_is_wheel(base) ? co_wheel_next(to_wheel(base->scheme)) : NULL;
}

void co_relock(struct callout_base *base)
	__must_hold(&base->lock);
unsigned int co_run_func(struct callout_base *base, struct callout_node *n,
			 unsigned int *budget)
	__must_hold(&base->lock);
struct callout_node *co_run_row(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock);

#endif /* _CALLOUT_RUN_H */
