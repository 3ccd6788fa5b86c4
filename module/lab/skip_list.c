// SPDX-License-Identifier: GPL-2.0
/*
 * skip_list.c - a skip list, a variety of Scheme 3
 *
 * The Crystal RFC compares it with heaps: a sorted doubly linked list, and
 * above it levels of links that skip more and more of it, so that a search
 * starts with the largest steps and takes ever smaller ones. It finds that
 * removing the smallest is excellent, and that making and removing the links at
 * each insertion and deletion costs more than a pairing heap.
 *
 * A callout is in the lowest level with probability 1/4, and in each further level
 * with 1/4 of the previous probability. Expected costs: start O(log n), stop O(1),
 * since it does not search, tick O(1) plus O(1) for each expiry. A start looks at
 * four entries a level on average, but its worst case is unbounded. It is the right
 * choice where all outstanding callouts have to be visited in order.
 *
 * The links above the list are the scheme's own nodes, from reserve: one node for
 * three callouts. A callout for which there is no node is in no level: its part of
 * the list is searched one by one, and start becomes linear.
 *
 * A callout is queued behind its equals, at each level.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include "first.h"
#include "node_pool.h"
#include "wheel/scheme.h"

/* Enough for 4^12 callouts: a level has a quarter of the entries of the level below. */
#define LEVELS		12U
#define LEVEL_SHIFT	2

/* A callout's place in one level. word[2] of a callout is its place in its highest level, or 0. */
struct skip_node {
	struct skip_node *prev;	/* the previous place, or the level's head */
	struct skip_node *next;	/* the next place, or the level's head */
	struct skip_node *down;	/* the place in the level below, or NULL */
	struct callout_node *c;
	u64 expires;		/* of @c, to save a cache miss */
};

struct skip_list {
	struct callout_blocks_scheme b;	/* of struct skip_node */
	struct list_head list;		/* all callouts, in order */
	struct skip_node head[LEVELS];	/* the head of each level, the lowest first */
	unsigned int levels;		/* levels used so far */
	unsigned long random;		/* state of the generator of heights */
	struct callout_node_pool pool;
};

static struct skip_list *to_skip(struct callout_scheme *s)
{
	return container_of(s, struct skip_list, b.s);
}

static struct skip_node *skip_top(const struct callout_node *c)
{
	return (struct skip_node *)c->word[2];
}

/* The number of levels of the next callout, by an xorshift generator. */
static unsigned int skip_height(struct skip_list *l)
{
	l->random ^= l->random << 13;
	l->random ^= l->random >> 7;
	l->random ^= l->random << 17;
	return min_t(unsigned int, __ffs(l->random) / LEVEL_SHIFT, LEVELS);
}

/* Link @c behind @after[] in the lowest @height levels. */
static void skip_raise(struct skip_list *l, struct callout_node *c,
		       struct skip_node **after, unsigned int height)
{
	struct skip_node *node, *down = NULL;
	unsigned int i;

	for (i = 0; i < height; i++) {
		node = co_node_pool_get(&l->pool, &l->b.blocks);
		if (!node)
			break;
		node->c = c;
		node->expires = c->expires;
		node->down = down;
		node->prev = after[i];
		node->next = after[i]->next;
		node->next->prev = node;
		node->prev->next = node;
		down = node;
	}
	c->word[2] = (unsigned long)down;
}

static void skip_start(struct callout_scheme *s, struct callout_node *c, u64 now,
		       u64 expires)
{
	struct skip_list *l = to_skip(s);
	unsigned int height = skip_height(l), i;
	struct skip_node *after[LEVELS], *node;
	struct list_head *pos = &l->list;

	c->expires = expires;
	/* One new level at a time: a higher one would skip no entry. */
	if (height > l->levels)
		height = ++l->levels;
	node = l->levels ? &l->head[l->levels - 1] : NULL;
	for (i = l->levels; i--; node = node->down) {
		while (node->next != &l->head[i] &&
		       node->next->expires <= expires)
			node = node->next;
		after[i] = node;
	}
	if (l->levels && after[0]->c)
		pos = &after[0]->c->entry;
	while (pos->next != &l->list &&
	       list_entry(pos->next, struct callout_node, entry)->expires <= expires)
		pos = pos->next;
	list_add(&c->entry, pos);
	skip_raise(l, c, after, height);
}

static void skip_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct skip_list *l = to_skip(s);
	struct skip_node *node = skip_top(c), *down;

	for (; node; node = down) {
		down = node->down;
		node->prev->next = node->next;
		node->next->prev = node->prev;
		co_node_pool_put(&l->pool, node);
	}
	list_del(&c->entry);
}

static struct callout_node *skip_first(struct callout_scheme *s)
{
	return list_first_entry_or_null(&to_skip(s)->list, struct callout_node,
					entry);
}

/* Check that a level follows the order of the list and has consistent links. */
static int skip_check_level(struct skip_list *l, unsigned int level)
{
	struct skip_node *head = &l->head[level], *node = head->next, *place;
	struct callout_node *c;
	unsigned int i;

	list_for_each_entry(c, &l->list, entry) {
		if (node == head)
			return 0;
		if (node->c != c)
			continue;
		if (node->expires != c->expires)
			return 1;
		if (node->next->prev != node || node->prev->next != node)
			return 2;
		/* The depth below @node must be @level. */
		for (place = node, i = 0; place->down; i++) {
			place = place->down;
			if (place->c != c)
				return 3;
		}
		if (i != level)
			return 4;
		node = node->next;
	}
	return node == head ? 0 : 5;
}

static int skip_check(struct callout_scheme *s)
{
	struct skip_list *l = to_skip(s);
	struct callout_node *c;
	unsigned int i;
	int ret;

	if (!co_order_holds(&l->list))
		return 6;
	list_for_each_entry(c, &l->list, entry)
		if (skip_top(c) && skip_top(c)->c != c)
			return 7;
	for (i = 0; i < LEVELS; i++) {
		ret = skip_check_level(l, i);
		if (ret)
			return ret;
		if (i >= l->levels && l->head[i].next != &l->head[i])
			return 8;
	}
	return 0;
}

static int skip_reserve(struct callout_scheme *s, int n)
{
	/* 1/4 + 1/16 + ... = 1/3 on average, and a quarter more. */
	return co_blocks_scheme_reserve(s, n / 3 + n / 12);
}

static struct callout_scheme *skip_create(const struct callout_scheme_params *p)
{
	struct skip_list *l = co_blocks_create(&callout_skip_list, sizeof(*l),
					       sizeof(struct skip_node), p);
	unsigned int i;

	if (IS_ERR(l))
		return ERR_CAST(l);
	/* Any seed but 0. */
	l->random = 0x9e3779b97f4a7c15UL;
	INIT_LIST_HEAD(&l->list);
	for (i = 0; i < LEVELS; i++) {
		l->head[i].prev = &l->head[i];
		l->head[i].next = &l->head[i];
		l->head[i].down = i ? &l->head[i - 1] : NULL;
	}
	return &l->b.s;
}

const struct callout_scheme_ops callout_skip_list = {
	.name		= "skip_list",
	.create		= skip_create,
	.destroy	= co_blocks_destroy,
	.reserve	= skip_reserve,
	.start		= skip_start,
	.stop		= skip_stop,
	.advance	= co_first_advance,
	.next_due	= co_first_due,
	.take		= co_first_take,
	.first		= skip_first,
	.check		= skip_check,
};
