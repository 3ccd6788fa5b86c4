// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - an array of lists that is stepped through tick by tick
 *
 * See ring.h for what it keeps to.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "ring.h"

/**
 * callout_ring_create - makes an empty ring
 * @ops: the scheme
 * @p: the scheme's parameters
 * @size: of the scheme's structure, which begins with a struct callout_ring
 *
 * Return: the scheme, zero but for the ring; or an ERR_PTR.
 */
struct callout_scheme *
callout_ring_create(const struct callout_scheme_ops *ops,
		    const struct callout_scheme_params *p, size_t size)
{
	struct callout_ring *r;
	unsigned int i;
	size_t slots;

	if (!is_power_of_2(p->buckets) ||
	    p->buckets < CALLOUT_WHEEL_MIN_BUCKETS ||
	    p->buckets > CALLOUT_WHEEL_MAX_BUCKETS)
		return ERR_PTR(-EINVAL);

	/* One block: the scheme's structure, the lists, the bits. */
	slots = array_size(p->buckets, sizeof(*r->slot));
	r = kvzalloc_node(size_add(size_add(size, slots),
				   BITS_TO_LONGS(p->buckets) * sizeof(long)),
			  GFP_KERNEL, p->node);
	if (!r)
		return ERR_PTR(-ENOMEM);
	r->s.ops = ops;
	r->mask = p->buckets - 1;
	r->time = p->now;
	r->next = p->now + 1;
	INIT_LIST_HEAD(&r->late);
	r->slot = (struct list_head *)((char *)r + size);
	r->busy = (unsigned long *)((char *)r->slot + slots);
	for (i = 0; i < p->buckets; i++)
		INIT_LIST_HEAD(&r->slot[i]);
	return &r->s;
}

/**
 * callout_ring_destroy - destroy of a scheme that is a ring
 * @s: the scheme
 */
void callout_ring_destroy(struct callout_scheme *s)
{
	kvfree(to_ring(s));
}

/**
 * callout_sorted_add - files a callout in a list in order of expiry
 * @s: the scheme, whose steps are counted
 * @list: the list
 * @c: the callout; goes behind those with the same expiry
 *
 * The search is from the rear.
 */
void callout_sorted_add(struct callout_scheme *s, struct list_head *list,
			struct callout *c)
{
	struct list_head *pos;

	list_for_each_prev(pos, list) {
		s->steps++;
		if (list_entry(pos, struct callout, entry)->expires <=
		    c->expires)
			break;
	}
	list_add(&c->entry, pos);
}

/**
 * callout_ring_start_late - files a callout, if it is late
 * @r: the ring
 * @c: the callout
 *
 * Return: whether it is.
 */
bool callout_ring_start_late(struct callout_ring *r, struct callout *c)
{
	if (c->expires > r->time)
		return false;
	callout_sorted_add(&r->s, &r->late, c);
	return true;
}

/**
 * callout_ring_filed - takes note that a callout is in a slot
 * @r: the ring
 * @c: the callout, just added to the list of its slot
 */
void callout_ring_filed(struct callout_ring *r, struct callout *c)
{
	u64 visit = callout_ring_visit(r, c->expires);

	__set_bit(c->expires & r->mask, r->busy);
	r->nr++;
	r->next = min(r->next, visit);
}

/**
 * callout_ring_file - files a callout at the end of the list of its slot
 * @r: the ring
 * @c: the callout
 */
void callout_ring_file(struct callout_ring *r, struct callout *c)
{
	list_add_tail(&c->entry, callout_ring_slot(r, c->expires));
	callout_ring_filed(r, c);
}

/**
 * callout_ring_del - takes a callout out of its slot or out of the late ones
 * @r: the ring
 * @c: the callout
 */
void callout_ring_del(struct callout_ring *r, struct callout *c)
{
	__list_del_entry(&c->entry);
	if (c->expires <= r->time)
		return;
	r->nr--;
	if (list_empty(callout_ring_slot(r, c->expires)))
		__clear_bit(c->expires & r->mask, r->busy);
}

/**
 * callout_ring_find - looks for the next slot that is not empty
 * @r: the ring
 * @limit: the last tick of interest
 * @budget: a unit is spent on each word of bits
 *
 * Puts the tick of that slot, or one after @limit, in @r->next.
 *
 * Return: false if the budget ran out before that was found.
 */
bool callout_ring_find(struct callout_ring *r, u64 limit,
		       unsigned int *budget)
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
		if (!*budget)
			return false;
		--*budget;
		end = min((i | (BITS_PER_LONG - 1)) + 1, r->mask + 1);
		r->next += find_next_bit(r->busy, end, i) - i;
	}
	return true;
}

/**
 * callout_ring_due - hands over the first callout in the slot of @r->next
 * @r: the ring
 * @due: the list for it
 *
 * It is due at that tick, and everything before that tick is done.
 */
void callout_ring_due(struct callout_ring *r, struct list_head *due)
{
	struct callout *c;

	callout_ring_set_time(r, r->next - 1);
	c = list_first_entry(callout_ring_slot(r, r->next), struct callout,
			     entry);
	r->s.visits++;
	callout_ring_del(r, c);
	callout_scheme_due(c, due);
}

/**
 * callout_ring_advance_late - hands over the late ones
 * @r: the ring
 * @budget: a unit is spent on each
 * @due: the list for them
 *
 * Return: true if the budget ran out before all were moved.
 */
bool callout_ring_advance_late(struct callout_ring *r, unsigned int *budget,
			       struct list_head *due)
{
	struct callout *c;

	while (!list_empty(&r->late)) {
		if (!*budget)
			return true;
		--*budget;
		r->s.visits++;
		c = list_first_entry(&r->late, struct callout, entry);
		__list_del_entry(&c->entry);
		callout_scheme_due(c, due);
	}
	return false;
}

/**
 * callout_ring_advance - hands over what is due, if each slot is of one tick
 * @r: the ring
 * @now: the time
 * @budget: as for advance
 * @due: the list for it
 *
 * When this is done nothing in the ring is due, though r->time may lag behind.
 *
 * Return: true if the budget ran out before everything was moved.
 */
bool callout_ring_advance(struct callout_ring *r, u64 now,
			  unsigned int *budget, struct list_head *due)
{
	for (;;) {
		if (callout_ring_advance_late(r, budget, due) ||
		    !callout_ring_find(r, now, budget))
			return true;
		if (r->next > now)
			return false;
		if (!*budget)
			return true;
		--*budget;
		callout_ring_due(r, due);
	}
}

/**
 * callout_ring_skip - leaves out the laps in which nothing is due
 * @r: the ring, no slot of which is being visited
 * @laps: what has been seen in its slots
 * @now: the time
 *
 * So that a scheme that is late by any number of laps does not go through more
 * than two for each lap in which something is due. One that is not late by
 * laps leaves out nothing.
 *
 * Return: the number of laps that have been left out.
 */
u64 callout_ring_skip(struct callout_ring *r, struct callout_laps *laps,
		      u64 now)
{
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

/**
 * callout_ring_next_due - next_due of a scheme that has all in its ring
 * @r: the ring
 * @budget: as for next_due
 *
 * Return: when the next slot that is not empty is visited.
 */
u64 callout_ring_next_due(struct callout_ring *r, unsigned int *budget)
{
	if (!list_empty(&r->late))
		return list_first_entry(&r->late, struct callout,
					entry)->expires;
	if (!r->nr)
		return U64_MAX;
	callout_ring_find(r, U64_MAX - 1, budget);
	return r->next;
}

/**
 * callout_ring_take - take of a scheme that has all in its slots and late list
 * @r: the ring
 * @budget: as for take
 * @out: as for take
 *
 * Return: as take.
 */
bool callout_ring_take(struct callout_ring *r, unsigned int *budget,
		       struct list_head *out)
{
	struct list_head *slot;

	if (callout_scheme_take_list(&r->s, &r->late, budget, out))
		return true;
	while (r->nr) {
		if (!callout_ring_find(r, U64_MAX - 1, budget))
			return true;
		slot = callout_ring_slot(r, r->next);
		if (callout_scheme_take_list(&r->s, slot, budget, out))
			return true;
	}
	return false;
}

static bool links_hold(struct list_head *list)
{
	struct list_head *pos;

	list_for_each(pos, list)
		if (pos->next->prev != pos || pos->prev->next != pos)
			return false;
	return true;
}

/**
 * callout_sorted_check - check of a list in order of expiry
 * @list: the list
 *
 * Return: whether its links and its order hold.
 */
bool callout_sorted_check(struct list_head *list)
{
	struct callout *c;
	u64 before = 0;

	if (!links_hold(list))
		return false;
	list_for_each_entry(c, list, entry) {
		if (c->expires < before)
			return false;
		before = c->expires;
	}
	return true;
}

/**
 * callout_ring_check - check of what all rings have in common
 * @r: the ring
 *
 * Return: 0, or a number below 10 that tells what does not hold.
 */
int callout_ring_check(struct callout_ring *r)
{
	unsigned int i, nr = 0;
	struct callout *c;

	if (!callout_sorted_check(&r->late))
		return 1;
	list_for_each_entry(c, &r->late, entry)
		if (c->expires > r->time)
			return 2;
	if (r->next <= r->time)
		return 3;
	for (i = 0; i <= r->mask; i++) {
		if (!links_hold(&r->slot[i]))
			return 4;
		if (test_bit(i, r->busy) == list_empty(&r->slot[i]))
			return 5;
		if (!list_empty(&r->slot[i]) &&
		    callout_ring_visit(r, i) < r->next)
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
