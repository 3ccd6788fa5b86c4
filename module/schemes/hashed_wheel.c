// SPDX-License-Identifier: GPL-2.0
/*
 * hashed_wheel.c - Scheme 6: a hashed timing wheel with unsorted lists
 *
 * Varghese and Lauck, section VI.A.2. A power of two of buckets; a callout due
 * at tick t is filed at the tail of the list of bucket t & mask, whatever its
 * lap. start and stop are always O(1). Each expiry walks one bucket, so the
 * work per tick is n / buckets on average.
 *
 * The paper's wheel steps through every bucket, busy or not. This one keeps a
 * lower bound of the expiries in each bucket, and above the buckets a tree of
 * minima, FANOUT to a node, whose root bounds the whole wheel. So a tick with
 * no due callout looks at the root only, a jump over any distance costs no more
 * than a tick, and the caller knows until when it can sleep: the chip of the
 * paper's Appendix A in software, without its interrupts for entries of later
 * laps.
 *
 * The rules of the bounds:
 *
 *  - A bucket's bound is at most the expiry of each of its entries, and a
 *    node's minimum at most that of each child. Both may be too low, never too
 *    high.
 *  - start lowers them, up to the first that is low enough already. In an
 *    empty bucket it sets the bound, which may raise it.
 *  - stop does not touch them.
 *  - A walk over a bucket knows the bucket's new bound when it ends. Until then
 *    the old bound holds; a start during the walk lowers both.
 *  - When a bucket's bound rises, or the bucket is found empty, the nodes above
 *    it stay too low until the search for the minimum corrects them.
 *
 * advance() takes the bucket with the lowest bound, unless that is in the
 * future, and walks it as if the time were that bound. So callouts become due
 * in order of expiry even if the caller is many laps late. The walk is in
 * place: a cursor points to the next entry, and stop moves the cursor when it
 * removes that entry. New entries go to the tail, so the walk sees them too.
 *
 * Lazy re-arm: to move an entry to a later time, rearm only writes its expiry.
 * The entry stays in its bucket, whose bound still holds, and the walk over
 * that bucket re-files it.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/prefetch.h>
#include <linux/slab.h>
#include "hashed_wheel.h"
#include "scheme.h"

/* How many buckets ahead a walk prefetches. */
#define PREFETCH_BUCKETS	8

static void wheel_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			u64 expires)
{
	callout_wheel_start(to_wheel(s), c, expires);
}

static void wheel_rearm(struct callout_scheme *s, struct callout_node *c, u64 now,
			u64 expires)
{
	callout_wheel_rearm(to_wheel(s), c, expires);
}

static void wheel_stop(struct callout_scheme *s, struct callout_node *c)
{
	callout_wheel_stop(to_wheel(s), c);
}

/* The lowest child of a node; the root may have fewer than FANOUT. */
static u64 wheel_min_child(const struct callout_wheel *w, unsigned int node)
{
	unsigned int first = (node - w->mask - 1) << FANOUT_SHIFT;
	unsigned int n = min(w->root - first, FANOUT), j;
	const u64 *min = w->min + first;
	u64 lowest = min[0];

	for (j = 1; j < n; j++)
		if (min[j] < lowest)
			lowest = min[j];
	return lowest;
}

/* Sets each node above a bucket to the minimum of its children. */
static void wheel_raise(struct callout_wheel *w, unsigned int bucket)
{
	unsigned int node = bucket;

	do {
		node = wheel_parent(w, node);
		w->min[node] = wheel_min_child(w, node);
	} while (node != w->root);
}

/* Raises the bounds of empty buckets: this one and its siblings. */
static void wheel_tidy(struct callout_wheel *w, unsigned int bucket)
{
	unsigned int first = bucket & ~(FANOUT - 1), i;

	for (i = first; i < first + FANOUT && i <= w->mask; i++)
		if (list_empty(&w->head[i]))
			w->min[i] = U64_MAX;
}

/*
 * Finds the bucket with the lowest bound. Every bound is the expiry of an entry
 * that is or was in the bucket, so the root's value identifies the bucket. If
 * that bucket is empty or its bound has changed, the nodes above it are
 * corrected, and the root rises: at most once for each bound that a walk or a
 * stop left too low. Returns false if the budget ran out before the root was
 * exact; it is a lower bound even then.
 */
static bool wheel_find_min(struct callout_wheel *w, unsigned int *budget,
			   unsigned int *bucket)
{
	u64 lowest;

	while ((lowest = w->min[w->root]) != U64_MAX) {
		*bucket = lowest & w->mask;
		if (w->min[*bucket] == lowest) {
			if (!list_empty(&w->head[*bucket]))
				return true;
			wheel_tidy(w, *bucket);
		}
		if (!*budget)
			return false;
		--*budget;
		wheel_raise(w, *bucket);
	}
	return true;
}

u64 callout_wheel_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct callout_wheel *w = to_wheel(s);
	unsigned int bucket;

	wheel_find_min(w, budget, &bucket);
	return w->min[w->root];
}

static void wheel_walk_begin(struct callout_wheel *w, unsigned int i, u64 now)
{
	struct list_head *ahead = &w->head[(i + PREFETCH_BUCKETS) & w->mask];

	w->walked = i;
	w->walk_time = now;
	w->walk_min = U64_MAX;
	w->cursor = w->head[i].next;
	prefetch(ahead->next);
}

static void wheel_walk_end(struct callout_wheel *w)
{
	w->cursor = NULL;
	w->min[w->walked] = list_empty(&w->head[w->walked]) ? U64_MAX :
								  w->walk_min;
}

static void wheel_walk_step(struct callout_wheel *w, struct list_head *due)
{
	struct callout_node *c = list_entry(w->cursor, struct callout_node, entry);

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

bool callout_wheel_advance(struct callout_scheme *s, u64 now,
			   unsigned int *budget, struct list_head *due)
{
	struct callout_wheel *w = to_wheel(s);
	unsigned int bucket;

	for (;;) {
		if (!w->cursor) {
			if (w->min[w->root] > now)
				return false;
			if (!wheel_find_min(w, budget, &bucket) || !*budget)
				return true;
			if (w->min[w->root] > now)
				return false;
			--*budget;
			wheel_walk_begin(w, bucket, w->min[w->root]);
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
	struct callout_wheel *w = to_wheel(s);
	unsigned int bucket;

	w->cursor = NULL;
	while (w->min[w->root] != U64_MAX) {
		if (!wheel_find_min(w, budget, &bucket))
			return true;
		if (w->min[w->root] == U64_MAX)
			break;
		while (!list_empty(&w->head[bucket])) {
			if (!*budget)
				return true;
			--*budget;
			list_move_tail(w->head[bucket].next, out);
		}
		w->min[bucket] = U64_MAX;
	}
	return false;
}

/* Every invariant of the head comment. */
static int wheel_check(struct callout_scheme *s)
{
	struct callout_wheel *w = to_wheel(s);
	bool cursor_seen = !w->cursor;
	struct list_head *pos;
	struct callout_node *c;
	unsigned int i;

	for (i = 0; i <= w->mask; i++) {
		if (w->cursor == &w->head[i])
			cursor_seen = true;
		list_for_each(pos, &w->head[i]) {
			c = list_entry(pos, struct callout_node, entry);
			if (pos->next->prev != pos || pos->prev->next != pos)
				return 1;
			if (c->expires < w->min[i])
				return 2;
			if (pos == w->cursor && i == w->walked)
				cursor_seen = true;
		}
	}
	if (!cursor_seen)
		return 3;
	for (i = w->mask + 1; i <= w->root; i++)
		if (wheel_min_child(w, i) < w->min[i])
			return 4;
	return 0;
}

static struct callout_scheme *
wheel_create(const struct callout_scheme_params *p)
{
	unsigned int n, root = 0;
	struct callout_wheel *w;
	size_t heads;

	if (!is_power_of_2(p->buckets) ||
	    p->buckets < CALLOUT_WHEEL_MIN_BUCKETS ||
	    p->buckets > CALLOUT_WHEEL_MAX_BUCKETS)
		return ERR_PTR(-EINVAL);

	for (n = p->buckets; n > 1; n = DIV_ROUND_UP(n, FANOUT))
		root += n;

	/* One allocation: the wheel, its heads, its minima and a 0. */
	heads = struct_size(w, head, p->buckets);
	w = kvzalloc_node(size_add(heads, array_size(root + 2, sizeof(u64))),
			  GFP_KERNEL, p->node);
	if (!w)
		return ERR_PTR(-ENOMEM);

	w->s.ops = &callout_hashed_wheel;
	w->mask = p->buckets - 1;
	w->root = root;
	for (n = 0; n < p->buckets; n++)
		INIT_LIST_HEAD(&w->head[n]);
	w->min = (u64 *)((char *)w + heads);
	memset64(w->min, U64_MAX, root + 1);
	return &w->s;
}

static void wheel_destroy(struct callout_scheme *s)
{
	kvfree(to_wheel(s));
}

const struct callout_scheme_ops callout_hashed_wheel = {
	.name		= "hashed_wheel",
	.flags		= CALLOUT_TAKES_BUCKETS,
	.create		= wheel_create,
	.destroy	= wheel_destroy,
	.start		= wheel_start,
	.rearm		= wheel_rearm,
	.stop		= wheel_stop,
	.advance	= callout_wheel_advance,
	.next_due	= callout_wheel_next_due,
	.take		= wheel_take,
	.check		= wheel_check,
};
