// SPDX-License-Identifier: GPL-2.0
/*
 * dary_heap.c - a 4-ary heap in an array, a variety of Scheme 3
 *
 * The Crystal RFC praises the array for its use of the caches, up to a million
 * timers, and rejects it for one reason: to delete from the middle it had to
 * search the array. Here each callout knows its index, so stop needs no search.
 * (Go's timers, it says, are a 4-ary heap too, in which stopped timers stay,
 * marked; Varghese and Lauck warn that memory then grows without bound.)
 *
 * start is O(log n): a comparison at each of log4 n levels, but one on average
 * where intervals are alike. stop and each expiry are O(log n): four comparisons a
 * level. tick is O(1). The array holds the expiries, so a comparison follows no
 * pointer unless they are equal. For equal expiries a serial number in the callout
 * keeps the order of queueing. It is the right choice where most timers expire.
 *
 * reserve extends the array. Callouts for which it has no room go to a red-black
 * tree. Both are in order, and among equals callouts in the array are first. So a
 * callout that has the expiry of a callout in the tree goes to the tree even if the
 * array has room.
 */
#include <linux/slab.h>
#include "blocks.h"
#include "first.h"
#include "wheel/scheme.h"
#include "tree.h"

#define ARITY	4U

/*
 * An element of the array. word[0] of the callout is a serial number. word[2] is
 * the index of the callout's element, shifted, with CALLOUT_NOT_IN_TREE.
 */
struct dary_entry {
	u64 expires;	/* of @c */
	struct callout_node *c;
};

struct dary_heap {
	struct callout_blocks_scheme b;	/* of struct dary_entry */
	unsigned long n;		/* callouts in the array */
	unsigned long serial;		/* serial number of the next callout */
	struct rb_root_cached tree;	/* callouts without room in the array */
};

static struct dary_heap *to_heap(struct callout_scheme *s)
{
	return container_of(s, struct dary_heap, b.s);
}

static struct dary_entry *dary_at(const struct dary_heap *h, unsigned long i)
{
	return co_blocks_at(&h->b.blocks, i);
}

static unsigned long dary_index(const struct callout_node *c)
{
	return c->word[2] >> 1;
}

static void dary_put(struct dary_heap *h, unsigned long i, struct dary_entry e)
{
	*dary_at(h, i) = e;
	e.c->word[2] = i << 1 | CALLOUT_NOT_IN_TREE;
}

static bool dary_before(const struct dary_entry *a, const struct dary_entry *b)
{
	if (a->expires != b->expires)
		return a->expires < b->expires;
	return a->c->word[0] < b->c->word[0];
}

/* Place @e between @i, which is free, and the root. */
static void dary_up(struct dary_heap *h, unsigned long i, struct dary_entry e)
{
	struct dary_entry *parent;

	for (; i; i = (i - 1) / ARITY) {
		parent = dary_at(h, (i - 1) / ARITY);
		if (!dary_before(&e, parent))
			break;
		dary_put(h, i, *parent);
	}
	dary_put(h, i, e);
}

/* Place @e between @i, which is free, and the leaves. */
static void dary_down(struct dary_heap *h, unsigned long i, struct dary_entry e)
{
	struct dary_entry *child, *first;
	unsigned long at, next, end;

	for (; i * ARITY + 1 < h->n; i = next) {
		next = i * ARITY + 1;
		first = dary_at(h, next);
		end = min(next + ARITY, h->n);
		for (at = next + 1; at < end; at++) {
			child = dary_at(h, at);
			if (dary_before(child, first)) {
				first = child;
				next = at;
			}
		}
		if (!dary_before(first, &e))
			break;
		dary_put(h, i, *first);
	}
	dary_put(h, i, e);
}

static void dary_start(struct callout_scheme *s, struct callout_node *c, u64 now,
		       u64 expires)
{
	struct dary_heap *h = to_heap(s);
	struct dary_entry e = { .expires = expires, .c = c };

	c->expires = expires;
	if (h->n >= co_blocks_room(&h->b.blocks) ||
	    co_tree_has(&h->tree, expires)) {
		co_tree_add(&h->tree, c);
		return;
	}
	c->word[0] = h->serial++;
	dary_up(h, h->n++, e);
}

/* Remove element @i. The last element takes its place. */
static void dary_remove(struct dary_heap *h, unsigned long i)
{
	struct dary_entry e = *dary_at(h, --h->n);

	if (i == h->n)
		return;
	if (i && dary_before(&e, dary_at(h, (i - 1) / ARITY)))
		dary_up(h, i, e);
	else
		dary_down(h, i, e);
}

static void dary_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct dary_heap *h = to_heap(s);

	if (co_in_tree(c))
		co_tree_del(&h->tree, c);
	else
		dary_remove(h, dary_index(c));
}

/* The first callout to expire, or NULL. */
static struct callout_node *dary_first(struct callout_scheme *s)
{
	struct dary_heap *h = to_heap(s);
	struct callout_node *spilt = co_tree_first(&h->tree);
	struct dary_entry *top;

	if (!h->n)
		return spilt;
	top = dary_at(h, 0);
	return spilt && spilt->expires < top->expires ? spilt : top->c;
}

static int dary_check(struct callout_scheme *s)
{
	struct dary_heap *h = to_heap(s);
	struct dary_entry *e;
	unsigned long i;

	if (h->n > co_blocks_room(&h->b.blocks))
		return 10;
	for (i = 0; i < h->n; i++) {
		e = dary_at(h, i);
		if (e->expires != e->c->expires)
			return 11;
		if (co_in_tree(e->c) || dary_index(e->c) != i)
			return 12;
		if (i && !dary_before(dary_at(h, (i - 1) / ARITY), e))
			return 13;
	}
	return co_tree_check(&h->tree);
}

static struct callout_scheme *dary_create(const struct callout_scheme_params *p)
{
	return co_blocks_create(&callout_dary_heap, sizeof(struct dary_heap),
				sizeof(struct dary_entry), p);
}

const struct callout_scheme_ops callout_dary_heap = {
	.name		= "dary_heap",
	.create		= dary_create,
	.destroy	= co_blocks_destroy,
	.reserve	= co_blocks_scheme_reserve,
	.start		= dary_start,
	.stop		= dary_stop,
	.advance	= co_first_advance,
	.next_due	= co_first_due,
	.take		= co_first_take,
	.first		= dary_first,
	.check		= dary_check,
};
