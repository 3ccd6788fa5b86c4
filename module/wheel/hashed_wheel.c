// SPDX-License-Identifier: GPL-2.0
/*
 * hashed_wheel.c - Scheme 6: a hashed timing wheel with unsorted lists
 *
 * Varghese and Lauck, section VI.A.2. A ring of a power of two of buckets; a
 * callout due at tick t is queued at the tail of the list of bucket t & mask,
 * whatever its lap. start and stop are always O(1). Each expiry walks one
 * bucket, so the work per tick is n / buckets on average.
 *
 * The paper's wheel steps through every bucket, busy or not. This wheel keeps a
 * lower bound of the expiries in each bucket, and above the buckets a tree of
 * minima, FANOUT to a node, whose root bounds the whole ring. So a tick with no due
 * callout looks only at the root, or at the bounds of a few buckets. A jump over
 * any distance costs no more than a tick, and the caller knows until when it can
 * sleep: the chip of the paper's Appendix A in software, without its interrupts for
 * entries of later laps.
 *
 * The rules of the bounds:
 *
 *  - A bucket's bound is at most the expiry of each of its entries, and a node's
 *    minimum is at most each child's minimum. Both may be too low, never too high.
 *  - start lowers the bounds up the tree, as far as the first bound that is low
 *    enough already. In an empty bucket it sets the bound, which may raise it.
 *  - stop does not touch the bounds.
 *  - A walk over a bucket knows the bucket's new bound when it ends, which it
 *    does when its cursor reaches the end. Until then the old bound holds.
 *  - When a bucket's bound rises, or the bucket is found empty, the nodes above
 *    it stay too low until the search for the minimum corrects them.
 *
 * Callouts become due in order of expiry, even if the caller is many laps late: the
 * bucket with the lowest bound is walked, unless its bound is in the future, as if
 * the current tick were that bound. The walk is in place: a cursor points to the
 * next entry, and a due one stays queued until the caller takes it. stop moves the
 * cursor when it removes that entry. New entries go to the tail, so the walk sees
 * them too.
 *
 * Most ticks come soon after the previous tick, and the next callout is due soon
 * after that. No entry is due before w->next, and no bucket with entries has a
 * lower bound than w->next. So the bounds of the buckets of the few ticks from
 * w->next on show what is due first, without correcting the tree. The search for
 * the next due tick raises w->next, so that the tick that the caller asks for finds
 * its bucket at once, however late that tick comes, unless there are two rings. A
 * caller that knows that there are no entries need not search: the bounds of empty
 * buckets, and of the nodes above them, then stay too low until the tree is needed.
 *
 * Lazy re-arm: to move an entry to a later time, rearm only writes its expiry.
 * The entry stays in its bucket, whose bound still holds, and the walk over
 * that bucket requeues it.
 *
 * The caller can give the wheel another ring, larger or smaller. New entries go to
 * the new ring. The entries of the old ring are moved, a budget at a time, in any
 * order of buckets. During the move the ring with the lower root is walked. Of the
 * entries due at one tick the old ring has those queued first, so the old ring is
 * walked first. Its buckets are emptied from the tail to the head of the new ring's
 * buckets, so moved entries go before entries queued since. stop, and a rearm to a
 * later time, need not know the ring: they touch no bound.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kmemleak.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/prefetch.h>
#include <linux/slab.h>
#include "hashed_wheel.h"
#include "scheme.h"

/*
 * NEAR is how many ticks a walk looks at one by one before it uses the tree, SOON
 * how many a search does.
 */
#define NEAR	16U
#define SOON	8U

/* How many buckets ahead a walk prefetches. */
#define PREFETCH_BUCKETS	8

static void wheel_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			u64 expires)
{
	co_wheel_start(to_wheel(s), c, expires);
}

static void wheel_rearm(struct callout_scheme *s, struct callout_node *c, u64 now,
			u64 expires)
{
	co_wheel_rearm(to_wheel(s), c, expires);
}

static void wheel_stop(struct callout_scheme *s, struct callout_node *c)
{
	co_wheel_stop(to_wheel(s), c);
}

static inline u64 min_of_4(const u64 *m)
{
	return min(min(m[0], m[1]), min(m[2], m[3]));
}

/* The lowest child of a node whose children are nodes, not buckets. */
static u64 ring_min_node(const struct callout_ring *r, unsigned int node)
{
	unsigned int first = (node - (r->mask >> FANOUT_SHIFT) - 1) <<
			     FANOUT_SHIFT, j;
	const u64 *m = r->min + first;
	u64 lowest;

	/* The root may have fewer than FANOUT children. */
	if (first + FANOUT <= r->root)
		return min(min(min_of_4(m), min_of_4(m + 4)),
			   min(min_of_4(m + 8), min_of_4(m + 12)));
	lowest = m[0];
	for (j = 1; j < r->root - first; j++)
		lowest = min(lowest, m[j]);
	return lowest;
}

static inline u64 min_of_4_buckets(const struct callout_bucket *b)
{
	return min(min(b[0].min, b[1].min), min(b[2].min, b[3].min));
}

/* The lowest bound of bucket @i and its siblings. */
static u64 ring_min_bucket(const struct callout_ring *r, unsigned int i)
{
	const struct callout_bucket *b = &r->bucket[i & ~(FANOUT - 1)];
	unsigned int j;
	u64 lowest;

	/* A ring may have fewer than FANOUT buckets. */
	if (r->mask >= FANOUT - 1)
		return min(min(min_of_4_buckets(b), min_of_4_buckets(b + 4)),
			   min(min_of_4_buckets(b + 8),
			       min_of_4_buckets(b + 12)));
	lowest = b[0].min;
	for (j = 1; j <= r->mask; j++)
		lowest = min(lowest, b[j].min);
	return lowest;
}

/* Raise the bounds of empty buckets: @i and its siblings. */
static void ring_tidy(struct callout_ring *r, unsigned int i)
{
	struct callout_bucket *b = &r->bucket[i & ~(FANOUT - 1)];
	struct callout_bucket *end = b + min(FANOUT, r->mask + 1);

	for (; b < end; b++)
		if (b->min != U64_MAX && list_empty(&b->head))
			b->min = U64_MAX;
}

/* Set each node above bucket @i to the minimum of its children. */
static void ring_raise(struct callout_ring *r, unsigned int i)
{
	unsigned int node = i >> FANOUT_SHIFT;

	r->min[node] = ring_min_bucket(r, i);
	while (node != r->root) {
		node = ring_parent(r, node);
		r->min[node] = ring_min_node(r, node);
	}
}

/*
 * The ring with the lowest bound. For the same tick it is the old ring, whose
 * entries were queued first.
 */
static struct callout_ring *wheel_lowest(struct callout_wheel *w)
{
	if (w->old.bucket &&
	    w->old.min[w->old.root] <= w->ring.min[w->ring.root])
		return &w->old;
	return &w->ring;
}

/*
 * Find the bucket with the lowest bound. Every bound is the expiry of an entry that
 * is or was in the bucket, so the root's value identifies the bucket. If that
 * bucket is empty or its bound has changed, the nodes above it are corrected, and
 * the root rises: at most once for each bound that a walk or a stop left too low.
 * Return the ring, or NULL if its lowest bound is beyond @limit or if the budget
 * ran out before the root was exact. The root is a lower bound even then.
 */
static struct callout_ring *wheel_find_min(struct callout_wheel *w, u64 limit,
					   unsigned int *budget)
{
	struct callout_bucket *b;
	struct callout_ring *r;
	u64 lowest;

	for (;;) {
		r = wheel_lowest(w);
		lowest = r->min[r->root];
		if (lowest > limit || lowest == U64_MAX)
			return NULL;
		b = &r->bucket[lowest & r->mask];
		if (b->min == lowest) {
			if (!list_empty(&b->head))
				return r;
			ring_tidy(r, lowest & r->mask);
		}
		if (!*budget)
			return NULL;
		--*budget;
		ring_raise(r, lowest & r->mask);
	}
}

/*
 * The lowest bound from w->next on, if its tick comes soon. 0 if it does not, if
 * that tick is beyond the ring's end, or if a bound in between is too low.
 */
static u64 wheel_soon(const struct callout_wheel *w)
{
	const struct callout_ring *r = &w->ring;
	unsigned int i = w->next & r->mask;
	const struct callout_bucket *b = &r->bucket[i];
	u64 t = w->next, end = t + min(SOON, r->mask + 1 - i);

	/* The root says that none of these buckets has so low a bound. */
	if (w->old.bucket || r->min[r->root] >= end)
		return 0;
	for (; t < end; t++, b++)
		if (b->min <= t)
			return b->min == t && !list_empty(&b->head) ? t : 0;
	return 0;
}

u64 co_wheel_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct callout_wheel *w = to_wheel(s);
	struct callout_ring *r;
	u64 lowest = wheel_soon(w);

	if (!lowest) {
		wheel_find_min(w, U64_MAX, budget);
		r = wheel_lowest(w);
		lowest = r->min[r->root];
	}
	w->next = max(w->next, lowest);
	return lowest;
}

static void wheel_walk_begin(struct callout_wheel *w, struct callout_ring *r,
			     u64 time)
{
	prefetch(r->bucket[(time + PREFETCH_BUCKETS) & r->mask].head.next);
	w->walked = &r->bucket[time & r->mask];
	w->cursor = w->walked->head.next;
	w->walk_time = time;
	w->walk_min = U64_MAX;
	w->walk_mask = r->mask;
}

static void wheel_walk_none(struct callout_wheel *w)
{
	w->walked = &w->nowhere;
	w->cursor = &w->nowhere.head;
}

/* The cursor has reached the end of the bucket. */
void co_wheel_walk_end(struct callout_wheel *w)
{
	w->walked->min = list_empty(&w->walked->head) ? U64_MAX : w->walk_min;
	/* With two rings the other ring may have entries of this tick. */
	if (w->next == w->walk_time && !w->old.bucket)
		w->next++;
	wheel_walk_none(w);
}

/*
 * Begin a walk over the bucket whose entries are due first, at @now or before.
 * Return false if nothing is due or the budget ran out.
 */
static bool wheel_walk_first(struct callout_wheel *w, u64 now,
			     unsigned int *budget)
{
	struct callout_ring *r = &w->ring;
	u64 time;

	if (now < w->next)
		return false;
	if (!w->old.bucket &&
	    (now - w->next < NEAR ||
	     r->bucket[w->next & r->mask].min == w->next)) {
		while (r->bucket[w->next & r->mask].min > w->next)
			if (w->next++ == now)
				return false;
		time = w->next;
	} else {
		r = wheel_find_min(w, now, budget);
		if (!r) {
			if (*budget)
				w->next = now + 1;
			return false;
		}
		time = r->min[r->root];
		w->next = time;
	}
	if (!*budget)
		return false;
	--*budget;
	wheel_walk_begin(w, r, time);
	return true;
}

/* co_wheel_first() when the next entry is not due, or there is none. */
struct callout_node *co_wheel_first_slow(struct callout_wheel *w, u64 now,
					 unsigned int *budget)
{
	struct callout_node *c;

	for (;;) {
		while (w->cursor != &w->walked->head) {
			c = list_entry(w->cursor, struct callout_node, entry);
			if (c->expires <= w->walk_time)
				return c;
			if (!*budget)
				return NULL;
			--*budget;
			w->s.visits++;
			w->cursor = c->entry.next;
			prefetch(w->cursor);
			if (((c->expires ^ w->walk_time) & w->walk_mask)) {
				w->s.requeues++;
				__list_del_entry(&c->entry);
				co_wheel_start(w, c, c->expires);
			} else if (c->expires < w->walk_min) {
				w->walk_min = c->expires;
			}
		}
		if (w->walked != &w->nowhere)
			co_wheel_walk_end(w);
		if (!wheel_walk_first(w, now, budget))
			return NULL;
	}
}

bool co_wheel_advance(struct callout_scheme *s, u64 now,
		      unsigned int *budget, struct list_head *due)
{
	struct callout_wheel *w = to_wheel(s);
	struct callout_node *c;

	while (*budget) {
		c = co_wheel_first(w, now, budget);
		if (!c || !*budget)
			return !*budget;
		--*budget;
		w->s.visits++;
		co_wheel_take(w, c);
		co_scheme_due(c, due);
	}
	return true;
}

static bool wheel_take(struct callout_scheme *s, unsigned int *budget,
		       struct list_head *out)
{
	struct callout_wheel *w = to_wheel(s);
	struct callout_bucket *b;
	struct callout_ring *r;

	wheel_walk_none(w);
	while ((r = wheel_find_min(w, U64_MAX, budget))) {
		b = &r->bucket[r->min[r->root] & r->mask];
		while (!list_empty(&b->head)) {
			if (!*budget)
				return true;
			--*budget;
			list_move_tail(b->head.next, out);
		}
		b->min = U64_MAX;
	}
	r = wheel_lowest(w);
	return r->min[r->root] != U64_MAX;
}

/*
 * Allocate pages for a ring, no more than it needs: kmalloc() would take a power of
 * two of them. Return NULL if no run of free pages is at hand, since nothing is
 * reclaimed or moved to make one, or if the ring is so small that kmalloc() wastes
 * less.
 */
static void *ring_pages(size_t size, int node, gfp_t gfp)
{
	unsigned int order = get_order(size), i;
	struct page *page;
	void *pages;

	if (size <= KMALLOC_MAX_CACHE_SIZE || size > KMALLOC_MAX_SIZE)
		return NULL;
	page = alloc_pages_node(node, (gfp & ~__GFP_DIRECT_RECLAIM) |
				      __GFP_NOWARN, order);
	if (!page)
		return NULL;
	split_page(page, order);
	for (i = DIV_ROUND_UP(size, PAGE_SIZE); i < 1U << order; i++)
		__free_page(page + i);
	pages = page_address(page);
	/* The only reference to a callout may be a link in a bucket. */
	kmemleak_alloc(pages, size, 1, gfp);
	return pages;
}

static unsigned int ring_nodes(unsigned int buckets)
{
	unsigned int n, nodes = 0;

	for (n = buckets; n > 1; n = DIV_ROUND_UP(n, FANOUT))
		nodes += DIV_ROUND_UP(n, FANOUT);
	return nodes;
}

/* Size of the one allocation: the buckets, the minima, a 0, and whether the memory is pages. */
static size_t ring_size(unsigned int buckets)
{
	return size_add(array_size(buckets, sizeof(struct callout_bucket)),
			array_size(ring_nodes(buckets) + 2, sizeof(u64)));
}

/*
 * Make an empty ring. @buckets is a power of two from CALLOUT_WHEEL_MIN_BUCKETS to
 * CALLOUT_WHEEL_MAX_BUCKETS. May sleep. Return 0 or -ENOMEM.
 */
int co_ring_alloc(struct callout_ring *r, unsigned int buckets, int node,
		  gfp_t gfp)
{
	unsigned int nodes = ring_nodes(buckets), n;
	size_t size = ring_size(buckets);
	bool pages;

	r->bucket = ring_pages(size, node, gfp);
	pages = r->bucket;
	if (!pages)
		r->bucket = kvmalloc_node(size, gfp, node);
	if (!r->bucket)
		return -ENOMEM;
	r->mask = buckets - 1;
	r->root = nodes - 1;
	for (n = 0; n < buckets; n++) {
		INIT_LIST_HEAD(&r->bucket[n].head);
		r->bucket[n].min = U64_MAX;
	}
	r->min = (u64 *)(r->bucket + buckets);
	memset64(r->min, U64_MAX, nodes);
	r->min[nodes] = 0;
	r->min[nodes + 1] = pages;
	return 0;
}

/* Free a ring, if there is one. Its entries are not touched. May sleep. */
void co_ring_free(struct callout_ring *r)
{
	if (!r->bucket || !r->min[r->root + 2]) {
		kvfree(r->bucket);
		return;
	}
	kmemleak_free(r->bucket);
	free_pages_exact(r->bucket, ring_size(r->mask + 1));
}

/*
 * Replace the ring by @r, which is empty. co_wheel_move() must have emptied the
 * ring that was replaced before.
 */
void co_wheel_resize(struct callout_wheel *w,
		     const struct callout_ring *r)
{
	w->old = w->ring;
	w->ring = *r;
	w->moved = 0;
}

/* Queue @c before all others in its bucket, none of which was queued earlier than @c. */
static void wheel_start_first(struct callout_wheel *w, struct callout_node *c)
{
	unsigned int i = c->expires & w->ring.mask;
	struct callout_bucket *b = &w->ring.bucket[i];

	if (c->expires < b->min) {
		b->min = c->expires;
		ring_lower(&w->ring, i, c->expires);
	} else if (list_empty(&b->head)) {
		b->min = c->expires;
	}
	list_add(&c->entry, &b->head);
	/* A walk over this bucket has passed its head already. */
	if (w->walked == b && c->expires < w->walk_min)
		w->walk_min = c->expires;
}

/* Move entries from the old ring. Return false if none are left. */
bool co_wheel_move(struct callout_wheel *w, unsigned int *budget)
{
	struct callout_bucket *b;
	struct callout_node *c;

	for (; w->moved <= w->old.mask; w->moved++) {
		b = &w->old.bucket[w->moved];
		while (!list_empty(&b->head)) {
			if (!*budget)
				return true;
			--*budget;
			c = list_last_entry(&b->head, struct callout_node,
					    entry);
			co_wheel_stop(w, c);
			wheel_start_first(w, c);
		}
		if (!*budget)
			return true;
		--*budget;
		b->min = U64_MAX;
	}
	return false;
}

/* Hand over the old ring, which is empty, to the caller, who frees it. */
void co_wheel_moved(struct callout_wheel *w, struct callout_ring *r)
{
	*r = w->old;
	w->old.bucket = NULL;
}

/* Check every invariant of the head comment that concerns a single ring. */
static int ring_check(const struct callout_wheel *w,
		      const struct callout_ring *r, bool *cursor_seen)
{
	struct callout_bucket *b;
	struct callout_node *c;
	struct list_head *pos;
	unsigned int i;

	for (b = r->bucket; b <= r->bucket + r->mask; b++) {
		if (b->min < w->next && !list_empty(&b->head))
			return 5;
		list_for_each(pos, &b->head) {
			c = list_entry(pos, struct callout_node, entry);
			if (pos->next->prev != pos || pos->prev->next != pos)
				return 1;
			if (c->expires < b->min)
				return 2;
			if (pos == w->cursor && w->walked == b)
				*cursor_seen = true;
		}
	}
	for (i = 0; i <= r->mask; i += FANOUT)
		if (ring_min_bucket(r, i) < r->min[i >> FANOUT_SHIFT])
			return 4;
	for (i = (r->mask >> FANOUT_SHIFT) + 1; i <= r->root; i++)
		if (ring_min_node(r, i) < r->min[i])
			return 4;
	return 0;
}

static int wheel_check(struct callout_scheme *s)
{
	struct callout_wheel *w = to_wheel(s);
	bool cursor_seen = w->cursor == &w->nowhere.head;
	unsigned int i;
	int ret;

	ret = ring_check(w, &w->ring, &cursor_seen);
	if (!ret && w->old.bucket) {
		ret = ring_check(w, &w->old, &cursor_seen);
		for (i = 0; i < w->moved; i++)
			if (!list_empty(&w->old.bucket[i].head))
				ret = 6;
	}
	if (!ret && !cursor_seen)
		ret = 3;
	return ret;
}

static struct callout_scheme *
wheel_create(const struct callout_scheme_params *p)
{
	struct callout_wheel *w;

	if (!is_power_of_2(p->buckets) ||
	    p->buckets < CALLOUT_WHEEL_MIN_BUCKETS ||
	    p->buckets > CALLOUT_WHEEL_MAX_BUCKETS)
		return ERR_PTR(-EINVAL);
	w = kzalloc_node(sizeof(*w), GFP_KERNEL, p->node);
	if (!w)
		return ERR_PTR(-ENOMEM);
	if (co_ring_alloc(&w->ring, p->buckets, p->node, GFP_KERNEL)) {
		kfree(w);
		return ERR_PTR(-ENOMEM);
	}
	w->s.ops = &callout_hashed_wheel;
	w->next = p->now;
	INIT_LIST_HEAD(&w->nowhere.head);
	wheel_walk_none(w);
	return &w->s;
}

static void wheel_destroy(struct callout_scheme *s)
{
	struct callout_wheel *w = to_wheel(s);

	co_ring_free(&w->old);
	co_ring_free(&w->ring);
	kfree(w);
}

const struct callout_scheme_ops callout_hashed_wheel = {
	.name		= "hashed_wheel",
	.flags		= CALLOUT_TAKES_BUCKETS,
	.create		= wheel_create,
	.destroy	= wheel_destroy,
	.start		= wheel_start,
	.rearm		= wheel_rearm,
	.stop		= wheel_stop,
	.advance	= co_wheel_advance,
	.next_due	= co_wheel_next_due,
	.take		= wheel_take,
	.check		= wheel_check,
};
