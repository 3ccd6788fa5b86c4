// SPDX-License-Identifier: GPL-2.0
/*
 * hashed_wheel.c - Scheme 6: a hashed timing wheel with unsorted lists
 *
 * Varghese and Lauck, section VI.A.2. A power of two of buckets; a callout
 * due at tick t is at the tail of the list of bucket t & mask, whatever its
 * lap. start and stop are O(1) always. Each expiry walks one bucket, so the
 * work per tick is n / buckets on average.
 *
 * The paper's wheel steps through every bucket, busy or not. This one keeps,
 * for each bucket, a lower bound of the expiries in it, and above the buckets
 * a tree of minima, FANOUT to a node, whose root bounds the whole wheel. So a
 * tick with nothing due looks at the root only, a jump over any distance
 * costs no more than a tick, and the caller knows until when it can sleep:
 * the chip of the paper's Appendix A in software, without the interrupts for
 * entries of later laps.
 *
 * The rules of the bounds:
 *
 *  - A bucket's bound is at most the expiry of each of its entries, and a
 *    node's minimum at most each of its children's. Either may be too low,
 *    never too high.
 *  - start lowers them, up to the first that is low enough already.
 *  - stop raises only the bound of a bucket that it empties. Nodes above stay
 *    as they are, until the search for the minimum comes by and finds that no
 *    child is as low as the node says.
 *  - A walk over a bucket knows the bucket's new bound when it ends. Until
 *    then the old one holds; a start during the walk lowers both.
 *
 * advance() takes the bucket with the lowest bound, as long as that is not in
 * the future, and walks it as if the time were that bound. So callouts come
 * out in the order of their expiry even when the caller is many laps late.
 * The walk is in place: a cursor points to the next entry, and stop moves the
 * cursor along when it takes that entry out. New entries go to the tail, so
 * the walk sees them too.
 *
 * Lazy re-arm: moving an entry to a later time only writes its expiry. It
 * stays in its bucket, whose bound is still a bound, and the walk over that
 * bucket puts it where it belongs.
 */
#include <linux/callout_scheme.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/prefetch.h>
#include <linux/slab.h>
#include "../kcompat.h"

#define FANOUT_SHIFT	4
#define FANOUT		(1U << FANOUT_SHIFT)

/* ceil((log2(CALLOUT_WHEEL_MAX_BUCKETS)) / FANOUT_SHIFT) + 1 */
#define MAX_LEVELS	6

/* How many buckets ahead of a walk the heads are fetched. */
#define PREFETCH_BUCKETS	8

/**
 * struct wheel - a hashed wheel
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
struct wheel {
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

static inline struct wheel *to_wheel(struct callout_scheme *s)
{
	return container_of(s, struct wheel, s);
}

static void wheel_lower(struct wheel *w, unsigned int i, u64 bound)
{
	unsigned int level;

	for (level = 0; level <= w->top; level++) {
		if (w->min[level][i] <= bound)
			break;
		w->min[level][i] = bound;
		i >>= FANOUT_SHIFT;
	}
}

static inline void wheel_file(struct wheel *w, struct callout *c)
{
	unsigned int i = c->expires & w->mask;

	list_add_tail(&c->entry, &w->head[i]);
	wheel_lower(w, i, c->expires);
	/* A walk that is not at its end yet comes by and sees for itself. */
	if (unlikely(w->cursor == &w->head[i]) && c->expires < w->walk_min)
		w->walk_min = c->expires;
}

static inline void wheel_unlink(struct wheel *w, struct callout *c)
{
	struct list_head *next = c->entry.next;

	if (unlikely(w->cursor == &c->entry))
		w->cursor = next;
	/* Alone between head and head: next is the bucket, and now empty. */
	if (next == c->entry.prev)
		w->min[0][next - w->head] = U64_MAX;
	__list_del(c->entry.prev, next);
}

void callout_wheel_start(struct callout_scheme *s, struct callout *c, u64 now,
			 u64 expires)
{
	c->expires = expires;
	wheel_file(to_wheel(s), c);
}

void callout_wheel_stop(struct callout_scheme *s, struct callout *c)
{
	wheel_unlink(to_wheel(s), c);
}

void callout_wheel_rearm(struct callout_scheme *s, struct callout *c, u64 now,
			 u64 expires)
{
	struct wheel *w = to_wheel(s);

	if (expires >= c->expires) {
		c->expires = expires;
		return;
	}
	wheel_unlink(w, c);
	c->expires = expires;
	wheel_file(w, c);
}

/* The lowest of the children of node i of a level, and which it is. */
static u64 wheel_min_child(struct wheel *w, unsigned int level, unsigned int i,
			   unsigned int *child)
{
	const u64 *min = w->min[level - 1];
	unsigned int first = i << FANOUT_SHIFT;
	unsigned int last = min(first + FANOUT - 1,
				w->mask >> (FANOUT_SHIFT * (level - 1)));
	u64 lowest = U64_MAX;
	unsigned int j;

	*child = first;
	for (j = first; j <= last; j++) {
		if (min[j] < lowest) {
			lowest = min[j];
			*child = j;
		}
	}
	return lowest;
}

/*
 * Makes the nodes above a bucket agree with their children. Only what is
 * above a bucket whose bound has just risen needs it, and only for speed.
 */
static void wheel_raise(struct wheel *w, unsigned int i)
{
	unsigned int level, child;
	u64 lowest;

	for (level = 1; level <= w->top; level++) {
		i >>= FANOUT_SHIFT;
		lowest = wheel_min_child(w, level, i, &child);
		if (w->min[level][i] == lowest)
			break;
		w->min[level][i] = lowest;
	}
}

/*
 * Finds the bucket with the lowest bound. Nodes that were too low are put
 * right on the way, each at most once for each time that something above a
 * bucket was left too low. Returns false if the budget ran out before that;
 * the root is a lower bound even then.
 */
static bool wheel_find_min(struct wheel *w, unsigned int *budget,
			   unsigned int *bucket)
{
	unsigned int level = w->top, i = 0, child;
	u64 lowest;

	while (level) {
		if (!*budget)
			return false;
		--*budget;
		lowest = wheel_min_child(w, level, i, &child);
		if (lowest == w->min[level][i]) {
			i = child;
			level--;
			continue;
		}
		w->min[level][i] = lowest;
		if (level < w->top) {
			level++;
			i >>= FANOUT_SHIFT;
		}
	}
	*bucket = i;
	return true;
}

static u64 wheel_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct wheel *w = to_wheel(s);
	unsigned int bucket;

	wheel_find_min(w, budget, &bucket);
	return w->min[w->top][0];
}

static void wheel_walk_begin(struct wheel *w, unsigned int i, u64 now)
{
	struct list_head *ahead = &w->head[(i + PREFETCH_BUCKETS) & w->mask];

	w->walked = i;
	w->walk_time = now;
	w->walk_min = U64_MAX;
	w->cursor = w->head[i].next;
	prefetch(ahead->next);
}

static void wheel_walk_end(struct wheel *w)
{
	w->cursor = NULL;
	w->min[0][w->walked] = list_empty(&w->head[w->walked]) ? U64_MAX :
								  w->walk_min;
	wheel_raise(w, w->walked);
}

static void wheel_walk_step(struct wheel *w, struct list_head *due)
{
	struct callout *c = list_entry(w->cursor, struct callout, entry);

	w->cursor = c->entry.next;
	prefetch(w->cursor);
	w->s.visits++;
	if (c->expires <= w->walk_time) {
		__list_del_entry(&c->entry);
		callout_scheme_due(c, due);
	} else if ((c->expires & w->mask) != w->walked) {
		w->s.refiles++;
		__list_del_entry(&c->entry);
		wheel_file(w, c);
	} else if (c->expires < w->walk_min) {
		w->walk_min = c->expires;
	}
}

static bool wheel_advance(struct callout_scheme *s, u64 now,
			  unsigned int *budget, struct list_head *due)
{
	struct wheel *w = to_wheel(s);
	unsigned int bucket;

	for (;;) {
		if (!w->cursor) {
			if (w->min[w->top][0] > now)
				return false;
			if (!wheel_find_min(w, budget, &bucket) || !*budget)
				return true;
			if (w->min[w->top][0] > now)
				return false;
			--*budget;
			wheel_walk_begin(w, bucket, w->min[w->top][0]);
		}
		while (w->cursor != &w->head[w->walked]) {
			if (!*budget)
				return true;
			--*budget;
			wheel_walk_step(w, due);
		}
		wheel_walk_end(w);
	}
}

static bool wheel_take(struct callout_scheme *s, unsigned int *budget,
		       struct list_head *out)
{
	struct wheel *w = to_wheel(s);
	unsigned int bucket;

	w->cursor = NULL;
	while (w->min[w->top][0] != U64_MAX) {
		if (!wheel_find_min(w, budget, &bucket))
			return true;
		if (w->min[w->top][0] == U64_MAX)
			break;
		while (!list_empty(&w->head[bucket])) {
			if (!*budget)
				return true;
			--*budget;
			list_move_tail(w->head[bucket].next, out);
		}
		w->min[0][bucket] = U64_MAX;
		wheel_raise(w, bucket);
	}
	return false;
}

/* Every invariant of the head comment. The number says which is broken. */
static int wheel_check(struct callout_scheme *s)
{
	struct wheel *w = to_wheel(s);
	unsigned int level, i, child;
	bool cursor_seen = !w->cursor;
	struct list_head *pos;
	struct callout *c;

	for (i = 0; i <= w->mask; i++) {
		if (w->cursor == &w->head[i])
			cursor_seen = true;
		list_for_each(pos, &w->head[i]) {
			c = list_entry(pos, struct callout, entry);
			if (pos->next->prev != pos || pos->prev->next != pos)
				return 1;
			if (c->expires < w->min[0][i])
				return 2;
			if (pos == w->cursor && i == w->walked)
				cursor_seen = true;
		}
		if (list_empty(&w->head[i]) && w->min[0][i] != U64_MAX &&
		    !(w->cursor && w->walked == i))
			return 3;
	}
	if (!cursor_seen)
		return 4;
	for (level = 1; level <= w->top; level++)
		for (i = 0; i <= w->mask >> (FANOUT_SHIFT * level); i++)
			if (wheel_min_child(w, level, i, &child) <
			    w->min[level][i])
				return 5;
	return 0;
}

static struct callout_scheme *
wheel_create(const struct callout_scheme_params *p)
{
	unsigned int level, n, nodes = 0;
	struct wheel *w;
	size_t heads;
	u64 *min;

	if (!is_power_of_2(p->buckets) ||
	    p->buckets < CALLOUT_WHEEL_MIN_BUCKETS ||
	    p->buckets > CALLOUT_WHEEL_MAX_BUCKETS)
		return ERR_PTR(-EINVAL);

	for (n = p->buckets; n > 1; n = DIV_ROUND_UP(n, FANOUT))
		nodes += n;
	nodes++;

	/* One block: the wheel, its heads, its minima level by level. */
	heads = struct_size(w, head, p->buckets);
	w = kvzalloc_node(size_add(heads, array_size(nodes, sizeof(*min))),
			  GFP_KERNEL, p->node);
	if (!w)
		return ERR_PTR(-ENOMEM);

	w->s.ops = &callout_hashed_wheel;
	w->mask = p->buckets - 1;
	for (n = 0; n < p->buckets; n++)
		INIT_LIST_HEAD(&w->head[n]);
	min = (u64 *)((char *)w + heads);
	memset64(min, U64_MAX, nodes);
	for (level = 0, n = p->buckets; ; level++) {
		w->min[level] = min;
		min += n;
		if (n == 1)
			break;
		n = DIV_ROUND_UP(n, FANOUT);
	}
	w->top = level;
	return &w->s;
}

static void wheel_destroy(struct callout_scheme *s)
{
	kvfree(to_wheel(s));
}

const struct callout_scheme_ops callout_hashed_wheel = {
	.name		= "hashed_wheel",
	.create		= wheel_create,
	.destroy	= wheel_destroy,
	.start		= callout_wheel_start,
	.rearm		= callout_wheel_rearm,
	.stop		= callout_wheel_stop,
	.advance	= wheel_advance,
	.next_due	= wheel_next_due,
	.take		= wheel_take,
	.check		= wheel_check,
};
EXPORT_SYMBOL_IF_KUNIT(callout_hashed_wheel);
