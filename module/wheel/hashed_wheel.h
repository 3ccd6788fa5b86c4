/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hashed_wheel.h - the wheel's functions for direct calls
 *
 * The core calls these functions instead of struct callout_scheme_ops. Functions that
 * every setting or expiry calls are inline. The invariants are in hashed_wheel.c.
 *
 * A ring of 16 buckets with four callouts, drawn with a FANOUT of 4. The bucket is the
 * expiry & 15; a dot is U64_MAX, the bound of nothing:
 *
 *	min[4], the root                           35
 *	                         __________________|__________________
 *	                         |           |           |           |
 *	min[0] to min[3]         35          37          .           61
 *	                    _____|____  _____|____  _____|____  _____|____
 *	                    |  |  |  |  |  |  |  |  |  |  |  |  |  |  |  |
 *	bucket[i]           0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
 *	bucket[i].min       .  .  .  35 .  37 .  .  .  .  .  .  .  61 .  .
 *	bucket[i].head               |     |                       |
 *	                   cursor -> 51    37                      61
 *	                             |
 *	                             35
 *
 * The walk is for tick 35, and a callout that was due at 35 has been taken. The cursor
 * passes 51, which belongs to the next lap and becomes walk_min, and comes to 35,
 * which is due too. At the end of the list bucket[3].min becomes walk_min, 51. min[0]
 * and the root stay 35, too low, until a search corrects them to 51 and 37.
 */
#ifndef _CALLOUT_HASHED_WHEEL_H
#define _CALLOUT_HASHED_WHEEL_H

#include "scheme.h"

#define FANOUT_SHIFT	4
#define FANOUT		(1U << FANOUT_SHIFT)

/**
 * struct callout_bucket - entries whose expiry has the same lower bits
 * @head: list of the entries
 * @min: no entry is due before this tick
 */
struct callout_bucket {
	struct list_head head;
	u64 min;
};

/**
 * struct callout_ring - buckets, and the bounds of their entries
 * @mask: number of buckets - 1
 * @root: index in @min of the bound of the whole ring
 * @min: a minimum for each FANOUT buckets, then a minimum for each FANOUT of these
 *	minima, and so on up to @root. A 0 follows, and then whether @bucket was
 *	allocated as pages.
 * @bucket: the buckets; NULL: there is no ring
 */
struct callout_ring {
	unsigned int mask;
	unsigned int root;
	u64 *min;
	struct callout_bucket *bucket;
};

/**
 * struct callout_wheel - a hashed timing wheel
 * @s: the scheme
 * @ring: takes new entries
 * @cursor: next entry of the walk; the head of @walked if there is none
 * @walked: the bucket being walked; @nowhere if there is none
 * @walk_time: the tick that the walk is for
 * @walk_min: lowest expiry among the entries that the walk has left in the bucket
 * @walk_mask: the mask of the ring being walked
 * @next: no entry is due before this tick, and only the bounds of empty buckets are
 *	lower
 * @old: the ring that @ring replaces, while entries are moved
 * @moved: the first bucket of @old that may have entries
 * @nowhere: an empty bucket
 */
struct callout_wheel {
	struct callout_scheme s;
	struct callout_ring ring;
	struct list_head *cursor;
	struct callout_bucket *walked;
	u64 walk_time;
	u64 walk_min;
	unsigned int walk_mask;
	unsigned int moved;
	u64 next;
	struct callout_ring old;
	struct callout_bucket nowhere;
};

static inline struct callout_wheel *to_wheel(struct callout_scheme *s)
{
	return container_of(s, struct callout_wheel, s);
}

/*
 * The node above bucket @i is min[i >> FANOUT_SHIFT]. The levels of @min follow
 * each other, each FANOUT times smaller than the level below it, so the step from a
 * node to its parent adds the same number on every level. The parent of the root is
 * the root itself, or the 0 after it.
 */
static inline unsigned int ring_parent(const struct callout_ring *r,
				       unsigned int node)
{
	return (node >> FANOUT_SHIFT) + (r->mask >> FANOUT_SHIFT) + 1;
}

/* Lower the minima above bucket @i to @bound. */
static inline void ring_lower(struct callout_ring *r, unsigned int i, u64 bound)
{
	unsigned int node = i >> FANOUT_SHIFT;

	while (r->min[node] > bound) {
		r->min[node] = bound;
		node = ring_parent(r, node);
	}
}

static inline void co_wheel_start(struct callout_wheel *w,
				  struct callout_node *c, u64 expires)
{
	unsigned int i = expires & w->ring.mask;
	struct callout_bucket *b = &w->ring.bucket[i];
	struct list_head *last = b->head.prev;

	c->expires = expires;
	list_add_tail(&c->entry, &b->head);
	if (expires < b->min)
		ring_lower(&w->ring, i, expires);
	else if (last != &b->head)
		return;		/* w->next <= b->min <= expires */
	b->min = expires;
	if (unlikely(expires < w->next))
		w->next = expires;
}

/* Replaces a search: the caller knows that there are no entries. */
static inline void co_wheel_empty(struct callout_wheel *w)
{
	w->next = U64_MAX;
}

void co_wheel_walk_end(struct callout_wheel *w);

/* Remove @c, to which the cursor points. */
static inline void co_wheel_take(struct callout_wheel *w,
				 struct callout_node *c)
{
	w->cursor = c->entry.next;
	__list_del_entry(&c->entry);
	if (unlikely(w->cursor == &w->walked->head))
		co_wheel_walk_end(w);
}

static inline void co_wheel_stop(struct callout_wheel *w,
				 struct callout_node *c)
{
	if (unlikely(w->cursor == &c->entry))
		co_wheel_take(w, c);
	else
		__list_del_entry(&c->entry);
}

static inline void co_wheel_rearm(struct callout_wheel *w,
				  struct callout_node *c, u64 expires)
{
	if (likely(expires >= c->expires)) {
		c->expires = expires;
		return;
	}
	co_wheel_stop(w, c);
	co_wheel_start(w, c, expires);
}

struct callout_node *co_wheel_first_slow(struct callout_wheel *w, u64 now,
					 unsigned int *budget);

/* The next entry of the walk if that entry is due, otherwise NULL. */
static inline struct callout_node *co_wheel_next(const struct callout_wheel *w)
{
	struct callout_node *c = list_entry(w->cursor, struct callout_node,
					    entry);

	return likely(w->cursor != &w->walked->head &&
		      c->expires <= w->walk_time) ? c : NULL;
}

/*
 * The first entry that is due at @now, still queued. NULL if there is none; with no
 * budget left, there may still be one. Only buckets and entries that are not due
 * count as units of work.
 */
static inline struct callout_node *
co_wheel_first(struct callout_wheel *w, u64 now, unsigned int *budget)
{
	struct callout_node *c = co_wheel_next(w);

	if (c)
		return c;
	/* No walk is under way. Most often a walk has just ended, and this test suffices. */
	if (now < w->next)
		return NULL;
	return co_wheel_first_slow(w, now, budget);
}

bool co_wheel_advance(struct callout_scheme *s, u64 now,
		      unsigned int *budget, struct list_head *due);
u64 co_wheel_next_due(struct callout_scheme *s, unsigned int *budget);

int co_ring_alloc(struct callout_ring *r, unsigned int buckets, int node,
		  gfp_t gfp);
void co_ring_free(struct callout_ring *r);
void co_wheel_resize(struct callout_wheel *w, const struct callout_ring *r);
bool co_wheel_move(struct callout_wheel *w, unsigned int *budget);
void co_wheel_moved(struct callout_wheel *w, struct callout_ring *r);

#endif /* _CALLOUT_HASHED_WHEEL_H */
