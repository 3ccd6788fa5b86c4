/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hashed_wheel.h - the wheel's start, stop and rearm, for direct calls
 *
 * The core calls them without the detour of struct callout_scheme_ops where
 * the wheel is the scheme in use. What they do and which invariants they keep
 * is told in hashed_wheel.c.
 */
#ifndef _CALLOUT_HASHED_WHEEL_H
#define _CALLOUT_HASHED_WHEEL_H

#include <linux/callout_scheme.h>

#define FANOUT_SHIFT	4
#define FANOUT		(1U << FANOUT_SHIFT)

/* ceil((log2(CALLOUT_WHEEL_MAX_BUCKETS)) / FANOUT_SHIFT) + 1 */
#define MAX_LEVELS	6

/**
 * struct callout_wheel - a hashed wheel
 * @s: the common part
 * @mask: number of buckets - 1
 * @top: index in @min of the root's level
 * @min: @min[0] has a bound for each bucket, @min[i] a minimum for each
 *	FANOUT of @min[i - 1], @min[@top] one element
 * @cursor: the next entry of the walk under way, or NULL
 * @walked: the bucket that is walked
 * @walk_time: the tick that the walk is for
 * @walk_min: lowest expiry of those that the walk has left behind in @walked
 * @head: the buckets
 */
struct callout_wheel {
	struct callout_scheme s;
	unsigned int mask;
	unsigned int top;
	u64 *min[MAX_LEVELS];
	struct list_head *cursor;
	unsigned int walked;
	u64 walk_time;
	u64 walk_min;
	struct list_head head[];
};

static inline struct callout_wheel *to_wheel(struct callout_scheme *s)
{
	return container_of(s, struct callout_wheel, s);
}

static inline void wheel_lower(struct callout_wheel *w, unsigned int i, u64 bound)
{
	unsigned int level;

	for (level = 0; level <= w->top; level++) {
		if (w->min[level][i] <= bound)
			break;
		w->min[level][i] = bound;
		i >>= FANOUT_SHIFT;
	}
}

static inline void wheel_file(struct callout_wheel *w, struct callout *c)
{
	unsigned int i = c->expires & w->mask;

	list_add_tail(&c->entry, &w->head[i]);
	wheel_lower(w, i, c->expires);
	/* A walk that is not at its end yet comes by and sees for itself. */
	if (unlikely(w->cursor == &w->head[i]) && c->expires < w->walk_min)
		w->walk_min = c->expires;
}

static inline void wheel_unlink(struct callout_wheel *w, struct callout *c)
{
	struct list_head *next = c->entry.next;

	if (unlikely(w->cursor == &c->entry))
		w->cursor = next;
	/* Alone between head and head: next is the bucket, and now empty. */
	if (next == c->entry.prev)
		w->min[0][next - w->head] = U64_MAX;
	__list_del(c->entry.prev, next);
}

/* start of struct callout_scheme_ops */
static inline void callout_wheel_start(struct callout_wheel *w,
				       struct callout *c, u64 expires)
{
	c->expires = expires;
	wheel_file(w, c);
}

/* stop of struct callout_scheme_ops */
static inline void callout_wheel_stop(struct callout_wheel *w,
				      struct callout *c)
{
	wheel_unlink(w, c);
}

/* rearm of struct callout_scheme_ops */
static inline void callout_wheel_rearm(struct callout_wheel *w,
				       struct callout *c, u64 expires)
{
	if (likely(expires >= c->expires)) {
		c->expires = expires;
		return;
	}
	wheel_unlink(w, c);
	callout_wheel_start(w, c, expires);
}

#endif /* _CALLOUT_HASHED_WHEEL_H */
