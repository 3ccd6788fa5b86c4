// SPDX-License-Identifier: GPL-2.0
/*
 * timing_wheel.c - Scheme 4: a timing wheel, and an ordered list for far ticks
 *
 * Varghese and Lauck, section V. Each of the next MaxInterval ticks, here the
 * number of buckets, has its own slot: start and stop are O(1), and a tick is O(1)
 * plus the due callouts. The wheel turns by one slot each tick, so every tick
 * within MaxInterval has a slot. Later callouts go to a Scheme 2 list, as the paper
 * suggests. In that list start is O(n), hence unbounded. It is the right choice
 * where all intervals are below a maximum for which there is memory, as in a
 * network module that keeps its own timers.
 *
 * The overflow list is in order of expiry and is searched from the rear. As time
 * passes, its first entries come within reach, and the next advance queues them in
 * the wheel. To keep callouts of one tick in order of queueing, a callout that is
 * due at the tick of the list's first entry or later goes to the list until that
 * advance, even within MaxInterval. No callout in the wheel expires after a callout
 * on the list.
 */
#include <linux/kernel.h>
#include "first.h"
#include "ring.h"

/* The first expiry of the overflow list. */
static u64 timing_overflow(struct callout_slots *r)
{
	if (list_empty(&r->overflow))
		return U64_MAX;
	return list_first_entry(&r->overflow, struct callout_node, entry)->expires;
}

/* Does a future tick have a slot? */
static bool timing_reaches(struct callout_slots *r, u64 tick)
{
	return tick - r->time <= r->mask + 1;
}

static void timing_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			 u64 expires)
{
	struct callout_slots *r = to_ring(s);
	u64 overflow = timing_overflow(r);

	co_ring_catch_up(r, min(now, overflow - 1));
	c->expires = expires;
	c->word[2] = IN_RING;
	if (co_ring_start_late(r, c))
		return;
	if (timing_reaches(r, expires) && expires < overflow) {
		co_ring_add(r, c);
	} else {
		c->word[2] = IN_OVERFLOW;
		co_sorted_add(s, &r->overflow, c);
	}
}

/* Requeue callouts that have come within reach. Return true if the budget ran out. */
static bool timing_migrate(struct callout_slots *r, unsigned int *budget)
{
	struct callout_node *c;

	while (!list_empty(&r->overflow)) {
		c = list_first_entry(&r->overflow, struct callout_node, entry);
		if (!timing_reaches(r, c->expires))
			break;
		if (!co_spend(budget))
			return true;
		r->s.requeues++;
		__list_del_entry(&c->entry);
		c->word[2] = IN_RING;
		co_ring_add(r, c);
	}
	return false;
}

static bool timing_advance(struct callout_scheme *s, u64 now,
			   unsigned int *budget, struct list_head *due)
{
	struct callout_slots *r = to_ring(s);

	for (;;) {
		if (timing_migrate(r, budget) ||
		    co_ring_advance(r, now, budget, due))
			return true;
		if (r->time >= now)
			return false;
		co_ring_set_time(r, min(now, timing_overflow(r) - 1));
	}
}

static u64 timing_next_due(struct callout_scheme *s, unsigned int *budget)
{
	return min(co_ring_next_due(s, budget), timing_overflow(to_ring(s)));
}

/* Check every invariant of the head comment. */
static int timing_check(struct callout_scheme *s)
{
	struct callout_slots *r = to_ring(s);
	int ret = co_ring_check(r);
	struct callout_node *c;
	unsigned int i;

	if (ret)
		return ret;
	if (!co_order_holds(&r->overflow))
		return 10;
	if (timing_overflow(r) <= r->time)
		return 11;
	list_for_each_entry(c, &r->overflow, entry)
		if (c->word[2] != IN_OVERFLOW)
			return 12;
	for (i = 0; i <= r->mask; i++) {
		list_for_each_entry(c, &r->slot[i], entry) {
			if (c->word[2] != IN_RING)
				return 13;
			if (!timing_reaches(r, c->expires))
				return 14;
			if (c->expires > timing_overflow(r))
				return 15;
		}
	}
	return 0;
}

static struct callout_scheme *
timing_create(const struct callout_scheme_params *p)
{
	return co_ring_create(&callout_timing_wheel, p, sizeof(struct callout_slots));
}

const struct callout_scheme_ops callout_timing_wheel = {
	.name		= "timing_wheel",
	.flags		= CALLOUT_TAKES_BUCKETS | CALLOUT_LINEAR,
	.create		= timing_create,
	.destroy	= co_scheme_free,
	.start		= timing_start,
	.stop		= co_overflow_stop,
	.advance	= timing_advance,
	.next_due	= timing_next_due,
	.take		= co_ring_take,
	.check		= timing_check,
};
