// SPDX-License-Identifier: GPL-2.0
/*
 * logic_wheel.c - the timing wheel of logic simulation, with an overflow list
 *
 * Varghese and Lauck, section IV.B, after TEGAS and DECSIM. Time is divided
 * into cycles of as many ticks as there are slots. Callouts due in the current
 * cycle are in the slot of their tick, all others on one unsorted overflow
 * list. When a cycle ends the wheel rotates: the overflow list is searched for
 * callouts due in the next cycle. start and stop are O(1), except that late
 * callouts are kept in order, see ring.h. A tick is O(1) plus the due callouts,
 * except that a tick that rotates is O(n). The later in a cycle, the fewer new
 * callouts find a slot. It is the right choice where nearly all intervals are
 * short compared with a cycle, as in simulations; as a timer facility it is
 * improved on by Scheme 4.
 *
 * Variants: "whole" rotates at the end of each cycle; "half" also halfway, so that
 * there are slots for at least half a cycle ahead, at the cost of twice as many
 * searches.
 *
 * @horizon is the first tick that has no slot. Only a rotation moves it, after a
 * search of the whole list, so a callout gets its slot before any callout that is
 * queued later for the same tick. The search is in place, with a cursor that points
 * to the next entry; new entries go to the end, so the search reaches them.
 *
 * next_due includes rotations while the overflow list is not empty. If the
 * caller is late by several cycles, the list is searched only for those cycles
 * in which an entry is due: each search finds the earliest entry that stays.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include "first.h"
#include "ring.h"

enum { VARIANT_WHOLE, VARIANT_HALF };

struct logic_wheel {
	struct callout_slots r;
	unsigned int step;		/* ticks of a rotation */
	u64 horizon;			/* the first tick that has no slot */
	u64 overflow_bound;		/* at most any expiry on the overflow list */
	struct list_head *cursor;	/* next entry of the search, or NULL */
	u64 search_horizon;		/* @horizon after the search */
	u64 search_bound;		/* earliest expiry that the search has left on the list */
};

static struct logic_wheel *to_logic(struct callout_scheme *s)
{
	return container_of(to_ring(s), struct logic_wheel, r);
}

/* The horizon that belongs to the ring's time. */
static u64 logic_horizon(struct logic_wheel *w)
{
	return round_down(w->r.time + 1, (u64)w->step) + w->r.mask + 1;
}

/* A lower bound of the expiries on the overflow list. */
static u64 logic_overflow(struct logic_wheel *w)
{
	if (list_empty(&w->r.overflow))
		return U64_MAX;
	return max(w->overflow_bound, w->horizon);
}

static void logic_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			u64 expires)
{
	struct logic_wheel *w = to_logic(s);

	co_ring_catch_up(&w->r, min(now, logic_overflow(w) - 1));
	/* An empty list needs no search to move the horizon. */
	if (list_empty(&w->r.overflow)) {
		w->cursor = NULL;
		w->horizon = logic_horizon(w);
	}
	c->expires = expires;
	c->word[2] = IN_RING;
	if (co_ring_start_late(&w->r, c))
		return;
	if (expires < w->horizon) {
		co_ring_add(&w->r, c);
		return;
	}
	c->word[2] = IN_OVERFLOW;
	if (list_empty(&w->r.overflow) || expires < w->overflow_bound)
		w->overflow_bound = expires;
	list_add_tail(&c->entry, &w->r.overflow);
	if (w->cursor == &w->r.overflow)
		w->cursor = &c->entry;
}

static void logic_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct logic_wheel *w = to_logic(s);

	if (w->cursor == &c->entry)
		w->cursor = c->entry.next;
	co_overflow_stop(s, c);
}

static void logic_search_begin(struct logic_wheel *w)
{
	w->cursor = w->r.overflow.next;
	w->search_horizon = logic_horizon(w);
	w->search_bound = U64_MAX;
}

static void logic_search_step(struct logic_wheel *w)
{
	struct callout_node *c = list_entry(w->cursor, struct callout_node, entry);

	w->cursor = c->entry.next;
	w->r.s.visits++;
	if (c->expires < w->search_horizon) {
		w->r.s.requeues++;
		__list_del_entry(&c->entry);
		c->word[2] = IN_RING;
		co_ring_add(&w->r, c);
	} else {
		w->search_bound = min(w->search_bound, c->expires);
	}
}

static void logic_search_end(struct logic_wheel *w)
{
	w->cursor = NULL;
	w->horizon = w->search_horizon;
	w->overflow_bound = w->search_bound;
}

/* Rotate the wheel up to the ring's time. Return true if the budget ran out. */
static bool logic_rotate(struct logic_wheel *w, unsigned int *budget)
{
	while (w->cursor || w->horizon < logic_horizon(w)) {
		if (!w->cursor)
			logic_search_begin(w);
		while (w->cursor != &w->r.overflow) {
			if (!co_spend(budget))
				return true;
			logic_search_step(w);
		}
		logic_search_end(w);
	}
	return false;
}

static bool logic_advance(struct callout_scheme *s, u64 now,
			  unsigned int *budget, struct list_head *due)
{
	struct logic_wheel *w = to_logic(s);
	struct callout_slots *r = &w->r;

	for (;;) {
		if (logic_rotate(w, budget) ||
		    co_ring_advance(r, now, budget, due))
			return true;
		if (r->time >= now)
			return false;
		co_ring_set_time(r, min(now, logic_overflow(w) - 1));
	}
}

static u64 logic_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct logic_wheel *w = to_logic(s);
	u64 next = co_ring_next_due(s, budget);

	if (list_empty(&w->r.overflow))
		return next;
	return min(next, w->horizon - (w->r.mask + 1) + w->step);
}

/* Check every invariant of the head comment. */
static int logic_check(struct callout_scheme *s)
{
	struct logic_wheel *w = to_logic(s);
	bool cursor_seen = !w->cursor || w->cursor == &w->r.overflow;
	int ret = co_ring_check(&w->r);
	struct callout_node *c;
	unsigned int i;

	if (ret)
		return ret;
	if (w->horizon > w->r.time + 1 + w->r.mask + 1)
		return 10;
	if (logic_overflow(w) <= w->r.time)
		return 11;
	if (!co_links_hold(&w->r.overflow))
		return 12;
	list_for_each_entry(c, &w->r.overflow, entry) {
		if (c->word[2] != IN_OVERFLOW)
			return 13;
		if (c->expires < logic_overflow(w))
			return 14;
		if (&c->entry == w->cursor)
			cursor_seen = true;
	}
	if (!cursor_seen)
		return 15;
	for (i = 0; i <= w->r.mask; i++) {
		list_for_each_entry(c, &w->r.slot[i], entry) {
			if (c->word[2] != IN_RING)
				return 16;
			if (c->expires != co_ring_visit(&w->r, i))
				return 17;
			if (c->expires >= w->horizon && !w->cursor)
				return 18;
		}
	}
	return 0;
}

static struct callout_scheme *
logic_create(const struct callout_scheme_params *p)
{
	struct callout_scheme *s;
	struct logic_wheel *w;

	s = co_ring_create(&callout_logic_wheel, p, sizeof(*w));
	if (IS_ERR(s))
		return s;
	w = to_logic(s);
	w->step = p->variant == VARIANT_HALF ? p->buckets / 2 : p->buckets;
	w->horizon = logic_horizon(w);
	return s;
}

const struct callout_scheme_ops callout_logic_wheel = {
	.name		= "logic_wheel",
	.variants	= (const char *const []){
		[VARIANT_WHOLE] = "whole", [VARIANT_HALF] = "half", NULL
	},
	.flags		= CALLOUT_TAKES_BUCKETS,
	.create		= logic_create,
	.destroy	= co_scheme_free,
	.start		= logic_start,
	.stop		= logic_stop,
	.advance	= logic_advance,
	.next_due	= logic_next_due,
	.take		= co_ring_take,
	.check		= logic_check,
};
