// SPDX-License-Identifier: GPL-2.0
/*
 * sorted_wheel.c - Scheme 5: a hashed timing wheel with sorted lists
 *
 * Varghese and Lauck, section VI.A.1. The low bits of the expiry select the
 * bucket, and each bucket's list is in order of expiry, as in Scheme 2. stop is
 * O(1). A tick visits one bucket and looks at its first entry only, so it is
 * O(1) plus the due callouts. start searches one bucket: O(1) on average if
 * there are more buckets than callouts and the expiries spread over them, O(n)
 * in the worst case, hence unbounded. It is the right choice where a tick must
 * be short and that spread is certain; otherwise the paper prefers Scheme 6.
 * With one bucket it would be Scheme 2.
 *
 * The search is from the rear of the bucket's list, so callouts of one interval
 * find their place at once.
 *
 * next_due is the next tick whose bucket is not empty, although the first entry
 * there may be of a later lap. A late caller has each tick done in order,
 * except laps in which no callout is due.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include "first.h"
#include "ring.h"

struct sorted_wheel {
	struct callout_slots r;
	struct callout_laps laps;
};

static struct sorted_wheel *to_sorted(struct callout_scheme *s)
{
	return container_of(to_ring(s), struct sorted_wheel, r);
}

static void sorted_wheel_start(struct callout_scheme *s, struct callout_node *c,
			       u64 now, u64 expires)
{
	struct sorted_wheel *w = to_sorted(s);

	co_ring_catch_up(&w->r, now);
	c->expires = expires;
	if (co_ring_start_late(&w->r, c))
		return;
	co_sorted_add(s, co_ring_slot(&w->r, expires), c);
	co_ring_added(&w->r, c);
	w->laps.bound = min(w->laps.bound, expires);
}

/* Looks at the first entry of the bucket of tick r->next. */
static void sorted_wheel_visit(struct sorted_wheel *w, struct list_head *due)
{
	struct callout_slots *r = &w->r;
	struct callout_node *c;

	c = list_first_entry(co_ring_slot(r, r->next), struct callout_node,
			     entry);
	if (c->expires == r->next) {
		co_ring_due(r, due);
	} else {
		r->s.visits++;
		w->laps.bound = min(w->laps.bound, c->expires);
		co_ring_set_time(r, r->next);
	}
}

static bool sorted_wheel_advance(struct callout_scheme *s, u64 now,
				 unsigned int *budget, struct list_head *due)
{
	struct sorted_wheel *w = to_sorted(s);

	for (;;) {
		if (co_ring_advance_late(&w->r, budget, due))
			return true;
		co_ring_skip(&w->r, &w->laps, now);
		if (!co_ring_find(&w->r, now, budget))
			return true;
		if (w->r.next > now) {
			co_ring_set_time(&w->r, now);
			return false;
		}
		if (!*budget)
			return true;
		--*budget;
		sorted_wheel_visit(w, due);
	}
}

/* Every invariant of the head comment. */
static int sorted_wheel_check(struct callout_scheme *s)
{
	struct sorted_wheel *w = to_sorted(s);
	int ret = co_ring_check(&w->r);
	struct callout_node *c;
	unsigned int i;

	for (i = 0; !ret && i <= w->r.mask; i++) {
		if (!co_sorted_check(&w->r.slot[i]))
			return 10;
		list_for_each_entry(c, &w->r.slot[i], entry)
			if (w->r.time - w->laps.since > w->r.mask &&
			    c->expires < w->laps.bound)
				return 11;
	}
	return ret;
}

static struct callout_scheme *
sorted_wheel_create(const struct callout_scheme_params *p)
{
	struct callout_scheme *s;

	s = co_ring_create(&callout_sorted_wheel, p,
			   sizeof(struct sorted_wheel));
	if (IS_ERR(s))
		return s;
	to_sorted(s)->laps.since = p->now;
	to_sorted(s)->laps.bound = U64_MAX;
	return s;
}

const struct callout_scheme_ops callout_sorted_wheel = {
	.name		= "sorted_wheel",
	.flags		= CALLOUT_TAKES_BUCKETS,
	.create		= sorted_wheel_create,
	.destroy	= co_scheme_free,
	.start		= sorted_wheel_start,
	.rearm		= co_scheme_restart,
	.stop		= co_ring_del,
	.advance	= sorted_wheel_advance,
	.next_due	= co_ring_next_due,
	.take		= co_ring_take,
	.check		= sorted_wheel_check,
};
