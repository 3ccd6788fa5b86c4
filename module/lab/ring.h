/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring.h - an array of lists that is stepped through tick by tick
 *
 * The common part of Schemes 4 to 6 of Varghese and Lauck and of the wheel of logic
 * simulation: a power of two of slots, with a callout of tick t in the list of slot
 * t & mask, and a current time that visits a slot for each tick. The scheme decides
 * on the order in a slot, and whether a slot holds one tick or every (mask + 1)th.
 *
 * Each slot has a busy bit, as in the paper's Appendix A. So a word's worth of
 * empty slots is one unit of work.
 *
 *  - Every callout in a slot expires after @time.
 *  - A callout that is late when it is started, up to @time, goes to a separate
 *    list in order of expiry, and is due before all others. start searches that
 *    list from the rear, so the search is long only if late callouts are
 *    started out of order with no advance in between.
 *  - The slots of the ticks between @time and @next, both excluded, are empty.
 *
 * A scheme whose slots hold one tick each keeps callouts for farther ticks in the list
 * @overflow, and says in word[2] of each callout where it is.
 */
#ifndef _CALLOUT_RING_H
#define _CALLOUT_RING_H

#include "wheel/scheme.h"

/*
 * Knowledge about a lap, for co_ring_skip(): no callout that was visited or queued
 * after tick @since expires before @bound. One lap after @since this covers every
 * callout in a slot.
 */
struct callout_laps {
	u64 since;
	u64 bound;
};

struct callout_slots {
	struct callout_scheme s;
	unsigned int mask;	/* number of slots - 1 */
	unsigned int nr;	/* callouts in slots */
	u64 time;		/* every tick up to this tick is done */
	u64 next;		/* the next tick whose slot must be looked at */
	struct callout_laps laps; /* if slots hold several laps */
	struct list_head late;	/* callouts that were late at their start */
	struct list_head overflow; /* callouts without a slot */
	unsigned long *busy;	/* a bit for each slot: not empty */
	struct list_head *slot;
};

/* word[2] of a callout of a scheme that uses @overflow. IN_RING includes the late list. */
enum { IN_RING, IN_OVERFLOW };

static inline struct callout_slots *to_ring(struct callout_scheme *s)
{
	return container_of(s, struct callout_slots, s);
}

static inline struct list_head *co_ring_slot(struct callout_slots *r,
					     u64 tick)
{
	return &r->slot[tick & r->mask];
}

/* The next tick that visits the slot of @tick. */
static inline u64 co_ring_visit(struct callout_slots *r, u64 tick)
{
	return r->time + 1 + ((tick - r->time - 1) & r->mask);
}

/* Mark every tick up to @time as done. Time does not go back. */
static inline void co_ring_set_time(struct callout_slots *r, u64 time)
{
	r->time = max(r->time, time);
	r->next = max(r->next, r->time + 1);
}

/* As co_ring_set_time(), but stop before the first slot that may not be empty. */
static inline void co_ring_catch_up(struct callout_slots *r, u64 time)
{
	co_ring_set_time(r, r->nr ? min(time, r->next - 1) : time);
}

struct callout_scheme *
co_ring_create(const struct callout_scheme_ops *ops,
	       const struct callout_scheme_params *p, size_t size);
void co_sorted_add(struct callout_scheme *s, struct list_head *list,
		   struct callout_node *c);
bool co_ring_start_late(struct callout_slots *r, struct callout_node *c);
void co_ring_added(struct callout_slots *r, struct callout_node *c);
void co_ring_add(struct callout_slots *r, struct callout_node *c);
void co_ring_del(struct callout_scheme *s, struct callout_node *c);
void co_overflow_stop(struct callout_scheme *s, struct callout_node *c);
bool co_ring_find(struct callout_slots *r, u64 limit,
		  unsigned int *budget);
void co_ring_due(struct callout_slots *r, struct list_head *due);
bool co_ring_advance_late(struct callout_slots *r, unsigned int *budget,
			  struct list_head *due);
bool co_ring_advance(struct callout_slots *r, u64 now,
		     unsigned int *budget, struct list_head *due);
u64 co_ring_skip(struct callout_slots *r, u64 now);
u64 co_ring_next_due(struct callout_scheme *s, unsigned int *budget);
bool co_ring_take(struct callout_scheme *s, unsigned int *budget,
		  struct list_head *out);
int co_ring_check(struct callout_slots *r);

#endif /* _CALLOUT_RING_H */
