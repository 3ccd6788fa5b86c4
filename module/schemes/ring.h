/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring.h - an array of lists that is stepped through tick by tick
 *
 * What Schemes 4 to 6 of Varghese and Lauck and the wheel of logic simulation
 * have in common: a power of two of slots, a callout of tick t in the list of
 * slot t & mask, and a current time that visits a slot for each tick. What the
 * order in a slot is, and whether a slot holds one tick or every mask + 1st,
 * is the scheme's.
 *
 * A bit for each slot tells that it is not empty: the busy bits of the paper's
 * Appendix A. So a word's worth of empty slots is one unit of work.
 *
 *  - Everything in a slot expires after @time.
 *  - What is started for a tick up to @time is late. It is on a list of its
 *    own, in order of expiry, and is due before anything else. Its start looks
 *    for the place from the rear, so it costs a search only if callouts are
 *    started late and out of order, and not handed out in between.
 *  - The slots of the ticks after @time and before @next are empty.
 */
#ifndef _CALLOUT_RING_H
#define _CALLOUT_RING_H

#include "scheme.h"

/**
 * struct callout_ring - an array of lists
 * @s: the common part
 * @mask: number of slots - 1
 * @nr: how many callouts are in slots
 * @time: every tick up to this is done
 * @next: the next tick whose slot is to be looked at
 * @late: callouts that were late when they were started
 * @busy: a bit for each slot: it is not empty
 * @slot: the lists
 */
struct callout_ring {
	struct callout_scheme s;
	unsigned int mask;
	unsigned int nr;
	u64 time;
	u64 next;
	struct list_head late;
	unsigned long *busy;
	struct list_head *slot;
};

static inline struct callout_ring *to_ring(struct callout_scheme *s)
{
	return container_of(s, struct callout_ring, s);
}

static inline struct list_head *callout_ring_slot(struct callout_ring *r,
						  u64 tick)
{
	return &r->slot[tick & r->mask];
}

/* The next tick at which the slot of @tick is visited. */
static inline u64 callout_ring_visit(struct callout_ring *r, u64 tick)
{
	return r->time + 1 + ((tick - r->time - 1) & r->mask);
}

/* Every tick up to @time is done, if that is news. */
static inline void callout_ring_set_time(struct callout_ring *r, u64 time)
{
	r->time = max(r->time, time);
	r->next = max(r->next, r->time + 1);
}

/* As above, but as far as there is nothing in the slots on the way. */
static inline void callout_ring_catch_up(struct callout_ring *r, u64 time)
{
	callout_ring_set_time(r, r->nr ? min(time, r->next - 1) : time);
}

/**
 * struct callout_laps - what a scheme knows of the slots that it has visited
 * @since: everything in a slot has been seen or filed after this tick, ...
 * @bound: ... if all slots have been visited by now, and expires no earlier
 *	than this
 */
struct callout_laps {
	u64 since;
	u64 bound;
};

struct callout_scheme *
callout_ring_create(const struct callout_scheme_ops *ops,
		    const struct callout_scheme_params *p, size_t size);
void callout_ring_destroy(struct callout_scheme *s);
void callout_sorted_add(struct callout_scheme *s, struct list_head *list,
			struct callout *c);
bool callout_ring_start_late(struct callout_ring *r, struct callout *c);
void callout_ring_filed(struct callout_ring *r, struct callout *c);
void callout_ring_file(struct callout_ring *r, struct callout *c);
void callout_ring_del(struct callout_ring *r, struct callout *c);
bool callout_ring_find(struct callout_ring *r, u64 limit,
		       unsigned int *budget);
void callout_ring_due(struct callout_ring *r, struct list_head *due);
bool callout_ring_advance_late(struct callout_ring *r, unsigned int *budget,
			       struct list_head *due);
bool callout_ring_advance(struct callout_ring *r, u64 now,
			  unsigned int *budget, struct list_head *due);
u64 callout_ring_skip(struct callout_ring *r, struct callout_laps *laps,
		      u64 now);
u64 callout_ring_next_due(struct callout_ring *r, unsigned int *budget);
bool callout_ring_take(struct callout_ring *r, unsigned int *budget,
		       struct list_head *out);
bool callout_sorted_check(struct list_head *list);
int callout_ring_check(struct callout_ring *r);

#endif /* _CALLOUT_RING_H */
