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
#include <linux/err.h>
#include <linux/kernel.h>
#include "first.h"
#include "ring.h"

/* The third word of a callout. */
enum { IN_RING, IN_OVERFLOW };

struct timing_wheel {
	struct callout_slots r;
	struct list_head overflow;	/* in order of expiry */
};

static struct timing_wheel *to_timing(struct callout_scheme *s)
{
	return container_of(to_ring(s), struct timing_wheel, r);
}

/* The first expiry of the overflow list. */
static u64 timing_overflow(struct timing_wheel *w)
{
	if (list_empty(&w->overflow))
		return U64_MAX;
	return list_first_entry(&w->overflow, struct callout_node, entry)->expires;
}

/* Does a future tick have a slot? */
static bool timing_reaches(struct timing_wheel *w, u64 tick)
{
	return tick - w->r.time <= w->r.mask + 1;
}

static void timing_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			 u64 expires)
{
	struct timing_wheel *w = to_timing(s);
	u64 overflow = timing_overflow(w);

	co_ring_catch_up(&w->r, min(now, overflow - 1));
	c->expires = expires;
	c->word[2] = IN_RING;
	if (co_ring_start_late(&w->r, c))
		return;
	if (timing_reaches(w, expires) && expires < overflow) {
		co_ring_add(&w->r, c);
	} else {
		c->word[2] = IN_OVERFLOW;
		co_sorted_add(s, &w->overflow, c);
	}
}

static void timing_stop(struct callout_scheme *s, struct callout_node *c)
{
	if (c->word[2] == IN_OVERFLOW)
		__list_del_entry(&c->entry);
	else
		co_ring_del(s, c);
}

/* Requeue callouts that have come within reach. Return true if the budget ran out. */
static bool timing_migrate(struct timing_wheel *w, unsigned int *budget)
{
	struct callout_node *c;

	while (!list_empty(&w->overflow)) {
		c = list_first_entry(&w->overflow, struct callout_node, entry);
		if (!timing_reaches(w, c->expires))
			break;
		if (!co_spend(budget))
			return true;
		w->r.s.requeues++;
		__list_del_entry(&c->entry);
		c->word[2] = IN_RING;
		co_ring_add(&w->r, c);
	}
	return false;
}

static bool timing_advance(struct callout_scheme *s, u64 now,
			   unsigned int *budget, struct list_head *due)
{
	struct timing_wheel *w = to_timing(s);
	struct callout_slots *r = &w->r;

	for (;;) {
		if (timing_migrate(w, budget) ||
		    co_ring_advance(r, now, budget, due))
			return true;
		if (r->time >= now)
			return false;
		co_ring_set_time(r, min(now, timing_overflow(w) - 1));
	}
}

static u64 timing_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct timing_wheel *w = to_timing(s);

	return min(co_ring_next_due(s, budget), timing_overflow(w));
}

static bool timing_take(struct callout_scheme *s, unsigned int *budget,
			struct list_head *out)
{
	return co_ring_take(s, budget, out) ||
	       co_scheme_take_list(s, &to_timing(s)->overflow, budget, out);
}

/* Check every invariant of the head comment. */
static int timing_check(struct callout_scheme *s)
{
	struct timing_wheel *w = to_timing(s);
	int ret = co_ring_check(&w->r);
	struct callout_node *c;
	unsigned int i;

	if (ret)
		return ret;
	if (!co_sorted_check(&w->overflow))
		return 10;
	if (timing_overflow(w) <= w->r.time)
		return 11;
	list_for_each_entry(c, &w->overflow, entry)
		if (c->word[2] != IN_OVERFLOW)
			return 12;
	for (i = 0; i <= w->r.mask; i++) {
		list_for_each_entry(c, &w->r.slot[i], entry) {
			if (c->word[2] != IN_RING)
				return 13;
			if (!timing_reaches(w, c->expires))
				return 14;
			if (c->expires > timing_overflow(w))
				return 15;
		}
	}
	return 0;
}

static struct callout_scheme *
timing_create(const struct callout_scheme_params *p)
{
	struct callout_scheme *s;

	s = co_ring_create(&callout_timing_wheel, p,
			   sizeof(struct timing_wheel));
	if (!IS_ERR(s))
		INIT_LIST_HEAD(&to_timing(s)->overflow);
	return s;
}

const struct callout_scheme_ops callout_timing_wheel = {
	.name		= "timing_wheel",
	.flags		= CALLOUT_TAKES_BUCKETS | CALLOUT_LINEAR,
	.create		= timing_create,
	.destroy	= co_scheme_free,
	.start		= timing_start,
	.stop		= timing_stop,
	.advance	= timing_advance,
	.next_due	= timing_next_due,
	.take		= timing_take,
	.check		= timing_check,
};
