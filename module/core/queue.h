/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue.h - queue and dequeue callouts of a locked base
 */
#ifndef _CALLOUT_QUEUE_H
#define _CALLOUT_QUEUE_H

#include <linux/callout.h>
#include <trace/events/callout.h>
#include "base/dispatch.h"
#include "resize.h"

/* The tick @ticks from now; less than one counts as one. */
static inline u64 co_expiry(struct callout_base *base, long ticks)
{
	return co_now(base) + (ticks > 0 ? ticks : 1);
}

/**
 * struct callout_span - when a callout may run
 * @first: not before this time
 * @last: not later than this if that can be avoided; at least @first
 * @ticks: @first and @last are ticks from now on; otherwise nanoseconds of
 *	CLOCK_MONOTONIC
 */
struct callout_span {
	u64 first;
	u64 last;
	bool ticks;
};

u64 co_coalesce(u64 first, u64 last);
int co_arm_span(struct callout *c, const struct callout_span *span,
		callout_func_t *func, void *arg, int cpu);
int co_stop_was(struct callout *c, bool *pending);
u64 co_expires_ns(struct callout *c);
void co_no_function(void);

void co_trace_start(struct callout_base *base, struct callout_node *n,
		    bool moved)
	__must_hold(&base->lock);
bool co_trace_replace(struct callout *c, callout_func_t *func, bool pending);

/*
 * Trace a setting by the user of @n, in the hold of the lock in which @n was queued.
 * @moved: @n was pending, with the same handler. Queueing by the facility itself is
 * not traced.
 */
static inline void co_trace_set(struct callout_base *base,
				struct callout_node *n, bool moved)
{
	lockdep_assert_held(&base->lock);
	if (trace_callout_start_enabled())
		co_trace_start(base, n, moved);
}

/* Called after a new expiry: program the tick if @expires is the earliest. */
static inline void co_started(struct callout_base *base, u64 expires)
{
	if (expires < base->armed)
		co_program(base, expires);
}

/* Queue an idle @n. */
static inline void co_start_locked(struct callout_base *base,
				   struct callout_node *n, u64 expires)
{
	lockdep_assert_held(&base->lock);
	callout_change_state(n, 0, CALLOUT_S_PENDING);
	if (unlikely(--base->until_resize < 0))
		co_resize_ask(base);
	co_scheme_start(base, n, expires);
	co_started(base, expires);
}

/* co_unqueue_locked() for a node that is in the scheme, as nearly all are. */
static inline void co_unqueue_linked(struct callout_base *base,
				     struct callout_node *n)
{
	lockdep_assert_held(&base->lock);
	co_scheme_stop(base, n);
	base->until_resize++;
}

/*
 * Take a pending @n out, to queue it elsewhere. It stays pending throughout: a
 * holder of its associated lock may test that without the base's lock.
 */
static inline void co_unqueue_locked(struct callout_base *base,
				     struct callout_node *n)
{
	lockdep_assert_held(&base->lock);
	if (unlikely(n->state & CALLOUT_S_DUE))
		__list_del_entry(&n->entry);
	else
		co_scheme_stop(base, n);
	base->until_resize++;
}

/*
 * Take a pending @n out. The tick stays programmed: one spurious wake-up is
 * cheaper than reprogramming on every cancel.
 */
static inline void co_dequeue_locked(struct callout_base *base,
				     struct callout_node *n)
{
	u8 state = n->state;

	co_unqueue_locked(base, n);
	WRITE_ONCE(n->state, state & ~(CALLOUT_S_PENDING | CALLOUT_S_DUE));
}

/* Queue @n, which may be queued, due or idle, at another tick. */
static inline void co_requeue_locked(struct callout_base *base,
				     struct callout_node *n, u64 tick)
{
	if (likely((n->state & (CALLOUT_S_PENDING | CALLOUT_S_DUE)) ==
		   CALLOUT_S_PENDING)) {
		co_scheme_rearm(base, n, tick);
		co_started(base, tick);
	} else {
		if (n->state & CALLOUT_S_PENDING)
			co_dequeue_locked(base, n);
		co_start_locked(base, n, tick);
	}
}

/*
 * Does the handler of @n run, or wait for its lock? ABA: a handler may free its
 * callout, and the allocator may give the same address to a new callout before the
 * handler returns. In the new callout CALLOUT_S_STARTED_HERE is clear: the bit is set
 * when a handler starts, and cleared by initialisation and when a callout leaves the
 * base.
 */
static inline bool co_is_running(struct callout_base *base,
				 struct callout_node *n)
{
	lockdep_assert_held(&base->lock);
	return base->running == n && n->state & CALLOUT_S_STARTED_HERE;
}

/*
 * Has the running handler returned, or does it not start? Then the caller, which
 * need not have taken the associated lock, may free what the handler has written.
 */
static inline bool co_handler_is_over(struct callout_base *base)
{
	/* Pairs with co_run_with_lock(). */
	return smp_load_acquire(&base->stage) >= CALLOUT_STAGE_CANCELLED;
}

/* If a handler still waits for its associated lock, cancel it. */
static inline bool co_cancel_start(struct callout_base *base,
				   struct callout_node *n)
{
	if (!co_is_running(base, n) ||
	    READ_ONCE(base->stage) != CALLOUT_STAGE_WAITING)
		return false;
	base->stage = CALLOUT_STAGE_CANCELLED;
	return true;
}

#endif /* _CALLOUT_QUEUE_H */
