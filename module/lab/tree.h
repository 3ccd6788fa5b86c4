/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tree.h - an ordered tree of callouts that needs no extra memory
 *
 * Scheme 3 is this tree. Other schemes use it for callouts that have no place
 * in their own structure: it takes any number of callouts with any expiry, and
 * returns equals first in, first out.
 */
#ifndef _CALLOUT_TREE_H
#define _CALLOUT_TREE_H

#include <linux/callout_node.h>
#include <linux/kernel.h>
#include <linux/rbtree.h>

/* The tree's node is the three words of a callout that its scheme may use. */
static_assert(sizeof(struct rb_node) == 3 * sizeof(unsigned long));

/*
 * A scheme that queues some callouts in a tree and others elsewhere sets this bit
 * in word[2] of the others. In the tree word[2] is an aligned pointer.
 */
#define CALLOUT_NOT_IN_TREE	1UL

static_assert(offsetof(struct rb_node, rb_left) == 2 * sizeof(unsigned long));

static inline bool co_in_tree(const struct callout_node *c)
{
	return !(c->word[2] & CALLOUT_NOT_IN_TREE);
}

static inline struct rb_node *co_tree_node(struct callout_node *c)
{
	return (struct rb_node *)c->word;
}

static inline struct callout_node *co_of_node(struct rb_node *node)
{
	return container_of((void *)node, struct callout_node, word);
}

static inline bool co_tree_less(struct rb_node *a, const struct rb_node *b)
{
	return co_of_node(a)->expires <
	       co_of_node((struct rb_node *)b)->expires;
}

/* Equals go right, which keeps them in order of queueing. */
static inline void co_tree_add(struct rb_root_cached *tree,
			       struct callout_node *c)
{
	rb_add_cached(co_tree_node(c), tree, co_tree_less);
}

static inline void co_tree_del(struct rb_root_cached *tree,
			       struct callout_node *c)
{
	rb_erase_cached(co_tree_node(c), tree);
}

/* The first callout to expire, or NULL. */
static inline struct callout_node *
co_tree_first(const struct rb_root_cached *tree)
{
	struct rb_node *node = rb_first_cached(tree);

	return node ? co_of_node(node) : NULL;
}

static inline int co_tree_cmp(const void *expires, const struct rb_node *node)
{
	u64 a = *(const u64 *)expires;
	u64 b = co_of_node((struct rb_node *)node)->expires;

	return a < b ? -1 : a > b;
}

/* Does the tree have a callout with exactly this expiry? */
static inline bool co_tree_has(const struct rb_root_cached *tree, u64 expires)
{
	return rb_find(&expires, &tree->rb_root, co_tree_cmp);
}

int co_tree_check(const struct rb_root_cached *tree);

#endif /* _CALLOUT_TREE_H */
