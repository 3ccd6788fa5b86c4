// SPDX-License-Identifier: GPL-2.0
/*
 * sorted_wheel.c - Scheme 5: a hashed timing wheel with sorted lists
 *
 * Varghese and Lauck, section VI.A.1. The low bits of the expiry select the bucket,
 * and each bucket's list is in order of expiry, as in Scheme 2. stop is O(1). A
 * tick visits one bucket and looks at its first entry only, so it is O(1) plus the
 * due callouts. start searches one bucket: O(1) on average if there are more
 * buckets than callouts and the expiries spread over them, O(n) in the worst case,
 * hence unbounded. It is the right choice where a tick must be short and the
 * expiries are certain to spread. Otherwise the paper prefers Scheme 6. With one
 * bucket this would be Scheme 2.
 *
 * The search is from the rear of the bucket's list, so callouts of one interval
 * find their place at once.
 *
 * next_due is the next tick whose bucket is not empty, although that bucket's first
 * entry may belong to a later lap. A late caller has each tick done in order,
 * except laps in which no callout is due.
 */
#include <linux/kernel.h>
#include "first.h"
#include "ring.h"

static void sorted_wheel_start(struct callout_scheme *s, struct callout_node *c,
			       u64 now, u64 expires)
{
	struct callout_slots *r = to_ring(s);

	co_ring_catch_up(r, now);
	c->expires = expires;
	if (co_ring_start_late(r, c))
		return;
	co_sorted_add(s, co_ring_slot(r, expires), c);
	co_ring_added(r, c);
	r->laps.bound = min(r->laps.bound, expires);
}

/* Look at the first entry of the bucket for tick r->next. */
static void sorted_wheel_visit(struct callout_slots *r, struct list_head *due)
{
	struct callout_node *c;

	c = list_first_entry(co_ring_slot(r, r->next), struct callout_node,
			     entry);
	if (c->expires == r->next) {
		co_ring_due(r, due);
	} else {
		r->s.visits++;
		r->laps.bound = min(r->laps.bound, c->expires);
		co_ring_set_time(r, r->next);
	}
}

static bool sorted_wheel_advance(struct callout_scheme *s, u64 now,
				 unsigned int *budget, struct list_head *due)
{
	struct callout_slots *r = to_ring(s);

	for (;;) {
		if (co_ring_advance_late(r, budget, due))
			return true;
		co_ring_skip(r, now);
		if (!co_ring_find(r, now, budget))
			return true;
		if (r->next > now) {
			co_ring_set_time(r, now);
			return false;
		}
		if (!co_spend(budget))
			return true;
		sorted_wheel_visit(r, due);
	}
}

/* Check every invariant of the head comment. */
static int sorted_wheel_check(struct callout_scheme *s)
{
	struct callout_slots *r = to_ring(s);
	int ret = co_ring_check(r);
	struct callout_node *c;
	unsigned int i;

	for (i = 0; !ret && i <= r->mask; i++) {
		if (!co_order_holds(&r->slot[i]))
			return 10;
		list_for_each_entry(c, &r->slot[i], entry)
			if (r->time - r->laps.since > r->mask &&
			    c->expires < r->laps.bound)
				return 11;
	}
	return ret;
}

static struct callout_scheme *
sorted_wheel_create(const struct callout_scheme_params *p)
{
	return co_ring_create(&callout_sorted_wheel, p, sizeof(struct callout_slots));
}

const struct callout_scheme_ops callout_sorted_wheel = {
	.name		= "sorted_wheel",
	.flags		= CALLOUT_TAKES_BUCKETS,
	.create		= sorted_wheel_create,
	.destroy	= co_scheme_free,
	.start		= sorted_wheel_start,
	.stop		= co_ring_del,
	.advance	= sorted_wheel_advance,
	.next_due	= co_ring_next_due,
	.take		= co_ring_take,
	.check		= sorted_wheel_check,
};
