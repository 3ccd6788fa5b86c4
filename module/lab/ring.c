// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - an array of lists that is stepped through tick by tick
 *
 * The invariants are in ring.h.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include "first.h"
#include "ring.h"

/*
 * Create a scheme whose structure of @size bytes begins with a struct
 * callout_slots; the rest is zero. Return an ERR_PTR on failure.
 */
struct callout_scheme *
co_ring_create(const struct callout_scheme_ops *ops,
	       const struct callout_scheme_params *p, size_t size)
{
	struct callout_slots *r;
	unsigned int i;
	size_t slots;

	if (!is_power_of_2(p->buckets) ||
	    p->buckets < CALLOUT_WHEEL_MIN_BUCKETS ||
	    p->buckets > CALLOUT_WHEEL_MAX_BUCKETS)
		return ERR_PTR(-EINVAL);

	/* One allocation: the scheme's structure, the lists, the bits. */
	slots = array_size(p->buckets, sizeof(*r->slot));
	r = co_scheme_alloc(ops, size_add(size_add(size, slots),
					  BITS_TO_LONGS(p->buckets) * sizeof(long)), p);
	if (IS_ERR(r))
		return ERR_CAST(r);
	r->mask = p->buckets - 1;
	r->time = p->now;
	r->next = p->now + 1;
	r->laps.since = p->now;
	r->laps.bound = U64_MAX;
	INIT_LIST_HEAD(&r->late);
	INIT_LIST_HEAD(&r->overflow);
	r->slot = (struct list_head *)((char *)r + size);
	r->busy = (unsigned long *)((char *)r->slot + slots);
	for (i = 0; i < p->buckets; i++)
		INIT_LIST_HEAD(&r->slot[i]);
	return &r->s;
}

/* Queue @c in a sorted list, behind its equals. Search from the rear. */
void co_sorted_add(struct callout_scheme *s, struct list_head *list,
		   struct callout_node *c)
{
	struct list_head *pos;

	list_for_each_prev(pos, list) {
		s->steps++;
		if (list_entry(pos, struct callout_node, entry)->expires <=
		    c->expires)
			break;
	}
	list_add(&c->entry, pos);
}

/* Queue @c if it is late. Return whether it is. */
bool co_ring_start_late(struct callout_slots *r, struct callout_node *c)
{
	if (c->expires > r->time)
		return false;
	co_sorted_add(&r->s, &r->late, c);
	return true;
}

/* Account for @c, which the caller has added to the list of its slot. */
void co_ring_added(struct callout_slots *r, struct callout_node *c)
{
	u64 visit = co_ring_visit(r, c->expires);

	__set_bit(c->expires & r->mask, r->busy);
	r->nr++;
	r->next = min(r->next, visit);
}

/* Queue @c at the end of its slot's list. */
void co_ring_add(struct callout_slots *r, struct callout_node *c)
{
	list_add_tail(&c->entry, co_ring_slot(r, c->expires));
	co_ring_added(r, c);
}

/* stop for a ring: remove @c from its slot or from the late list. */
void co_ring_del(struct callout_scheme *s, struct callout_node *c)
{
	struct callout_slots *r = to_ring(s);

	__list_del_entry(&c->entry);
	if (c->expires <= r->time)
		return;
	r->nr--;
	if (list_empty(co_ring_slot(r, c->expires)))
		__clear_bit(c->expires & r->mask, r->busy);
}

/* stop for a ring whose scheme uses @overflow. */
void co_overflow_stop(struct callout_scheme *s, struct callout_node *c)
{
	if (c->word[2] == IN_OVERFLOW)
		__list_del_entry(&c->entry);
	else
		co_ring_del(s, c);
}

/*
 * Advance @r->next to the next busy slot, or past @limit; a unit of work for
 * each word of bits. Return false if the budget ran out first.
 */
bool co_ring_find(struct callout_slots *r, u64 limit, unsigned int *budget)
{
	unsigned int i, end;

	while (r->next <= limit) {
		if (!r->nr) {
			r->next = limit + 1;
			break;
		}
		i = r->next & r->mask;
		if (test_bit(i, r->busy))
			break;
		if (!co_spend(budget))
			return false;
		end = min((i | (BITS_PER_LONG - 1)) + 1, r->mask + 1);
		r->next += find_next_bit(r->busy, end, i) - i;
	}
	return true;
}

/*
 * Hand over the first callout in the slot of @r->next, which is due at that
 * tick. Everything before that tick is done.
 */
void co_ring_due(struct callout_slots *r, struct list_head *due)
{
	struct callout_node *c;

	co_ring_set_time(r, r->next - 1);
	c = list_first_entry(co_ring_slot(r, r->next), struct callout_node,
			     entry);
	r->s.visits++;
	co_ring_del(&r->s, c);
	co_scheme_due(c, due);
}

/* Hand over the late callouts. Return true if the budget ran out first. */
bool co_ring_advance_late(struct callout_slots *r, unsigned int *budget,
			  struct list_head *due)
{
	struct callout_node *c;

	while (!list_empty(&r->late)) {
		if (!co_spend(budget))
			return true;
		r->s.visits++;
		c = list_first_entry(&r->late, struct callout_node, entry);
		__list_del_entry(&c->entry);
		co_scheme_due(c, due);
	}
	return false;
}

/*
 * advance for a scheme whose slots hold one tick each. Afterwards no callout in the
 * ring is due at @now, although r->time may be earlier than @now.
 */
bool co_ring_advance(struct callout_slots *r, u64 now,
		     unsigned int *budget, struct list_head *due)
{
	for (;;) {
		if (co_ring_advance_late(r, budget, due) ||
		    !co_ring_find(r, now, budget))
			return true;
		if (r->next > now)
			return false;
		if (!co_spend(budget))
			return true;
		co_ring_due(r, due);
	}
}

/*
 * Skip laps in which no callout is due, and return their number: a scheme
 * that is late by any number of laps goes through at most two for each lap with
 * a due callout. No visit of a slot may be under way.
 */
u64 co_ring_skip(struct callout_slots *r, u64 now)
{
	struct callout_laps *laps = &r->laps;
	u64 skipped, until = min(now, laps->bound - 1);

	if (r->time - laps->since <= r->mask)
		return 0;
	skipped = until > r->time ? (until - r->time) / (r->mask + 1) : 0;
	r->time += skipped * (r->mask + 1);
	r->next += skipped * (r->mask + 1);
	laps->since = r->time;
	laps->bound = U64_MAX;
	return skipped;
}

/* next_due for a ring: the first late expiry, or the next busy slot. */
u64 co_ring_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct callout_slots *r = to_ring(s);

	if (!list_empty(&r->late))
		return list_first_entry(&r->late, struct callout_node,
					entry)->expires;
	if (!r->nr)
		return U64_MAX;
	co_ring_find(r, U64_MAX - 1, budget);
	return r->next;
}

/* take for a ring: the late list, the slots, the callouts without a slot. */
bool co_ring_take(struct callout_scheme *s, unsigned int *budget,
		  struct list_head *out)
{
	struct callout_slots *r = to_ring(s);
	struct list_head *slot;

	if (co_scheme_take_list(s, &r->late, budget, out))
		return true;
	while (r->nr) {
		if (!co_ring_find(r, U64_MAX - 1, budget))
			return true;
		slot = co_ring_slot(r, r->next);
		if (co_scheme_take_list(s, slot, budget, out))
			return true;
	}
	return co_scheme_take_list(s, &r->overflow, budget, out);
}

/* check for the common part; its numbers are below 10. */
int co_ring_check(struct callout_slots *r)
{
	unsigned int i, nr = 0;
	struct callout_node *c;

	if (!co_order_holds(&r->late))
		return 1;
	list_for_each_entry(c, &r->late, entry)
		if (c->expires > r->time)
			return 2;
	if (r->next <= r->time)
		return 3;
	for (i = 0; i <= r->mask; i++) {
		if (!co_links_hold(&r->slot[i]))
			return 4;
		if (test_bit(i, r->busy) == list_empty(&r->slot[i]))
			return 5;
		if (!list_empty(&r->slot[i]) && co_ring_visit(r, i) < r->next)
			return 6;
		list_for_each_entry(c, &r->slot[i], entry) {
			if (c->expires <= r->time)
				return 7;
			if ((c->expires & r->mask) != i)
				return 8;
			nr++;
		}
	}
	return nr == r->nr ? 0 : 9;
}
