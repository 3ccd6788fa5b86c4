/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hashed_wheel.h - the wheel's start, stop and rearm, for direct calls
 *
 * The core calls these inlined, in place of struct callout_scheme_ops, where
 * the wheel is the scheme in use. The invariants are in hashed_wheel.c.
 */
#ifndef _CALLOUT_HASHED_WHEEL_H
#define _CALLOUT_HASHED_WHEEL_H

#include "scheme.h"

#define FANOUT_SHIFT	4
#define FANOUT		(1U << FANOUT_SHIFT)

/*
 * @min holds a bound for each bucket, then a minimum for each FANOUT of those,
 * and so on up to @root: the parent of node k is wheel_parent(k).
 */
struct callout_wheel {
	struct callout_scheme s;
	unsigned int mask;		/* number of buckets - 1 */
	unsigned int root;		/* index of the whole wheel's bound */
	u64 *min;
	struct list_head *cursor;	/* next entry of the walk, or NULL */
	unsigned int walked;		/* the bucket being walked */
	u64 walk_time;			/* the tick that the walk is for */
	u64 walk_min;			/* lowest expiry that it has left */
	struct list_head head[];	/* the buckets */
};

static inline struct callout_wheel *to_wheel(struct callout_scheme *s)
{
	return container_of(s, struct callout_wheel, s);
}

/*
 * The levels of @min follow each other, each FANOUT times smaller than the one
 * before, so every level adds the same number. The parent of the root is the
 * root, or the 0 after it.
 */
static inline unsigned int wheel_parent(const struct callout_wheel *w,
					unsigned int node)
{
	return (node >> FANOUT_SHIFT) + w->mask + 1;
}

static inline void wheel_lower(struct callout_wheel *w, unsigned int node,
			       u64 bound)
{
	do {
		w->min[node] = bound;
		node = wheel_parent(w, node);
	} while (w->min[node] > bound);
}

static inline void wheel_file(struct callout_wheel *w, struct callout_node *c)
{
	unsigned int i = c->expires & w->mask;
	struct list_head *last = w->head[i].prev;

	list_add(&c->entry, last);
	if (c->expires < w->min[i])
		wheel_lower(w, i, c->expires);
	else if (last == &w->head[i])
		w->min[i] = c->expires;
	/* A walk that has not reached the end of the bucket sees the entry. */
	if (unlikely(w->cursor == &w->head[i]) && c->expires < w->walk_min)
		w->walk_min = c->expires;
}

static inline void wheel_unlink(struct callout_wheel *w, struct callout_node *c)
{
	if (unlikely(w->cursor == &c->entry))
		w->cursor = c->entry.next;
	__list_del_entry(&c->entry);
}

static inline void callout_wheel_start(struct callout_wheel *w,
				       struct callout_node *c, u64 expires)
{
	c->expires = expires;
	wheel_file(w, c);
}

static inline void callout_wheel_stop(struct callout_wheel *w,
				      struct callout_node *c)
{
	wheel_unlink(w, c);
}

static inline void callout_wheel_rearm(struct callout_wheel *w,
				       struct callout_node *c, u64 expires)
{
	if (likely(expires >= c->expires)) {
		c->expires = expires;
		return;
	}
	wheel_unlink(w, c);
	callout_wheel_start(w, c, expires);
}

bool callout_wheel_advance(struct callout_scheme *s, u64 now,
			   unsigned int *budget, struct list_head *due);
u64 callout_wheel_next_due(struct callout_scheme *s, unsigned int *budget);

#endif /* _CALLOUT_HASHED_WHEEL_H */
