// SPDX-License-Identifier: GPL-2.0
/*
 * tree.c - Scheme 3: a balanced tree
 *
 * Varghese and Lauck, section IV.A.1, count every tree-based priority queue as one
 * scheme: starting a timer takes O(log n) instead of the ordered list's O(n), and a
 * tick looks at the smallest element only. They report that the gain is significant
 * for large n, that unbalanced trees are cheaper than balanced ones, and that equal
 * intervals turn an unbalanced tree into a list. In a host without hardware support
 * they find the scheme inappropriate for many timers. Here it is the kernel's
 * red-black tree with a cached leftmost node, as in hrtimers: always balanced, and
 * equal keys go right.
 *
 * start is O(log n); stop is O(log n) to rebalance, but does not search; tick
 * is O(1) plus O(log n) for each expiry. It is the right choice where timers
 * are few or mostly expire, where time has no smallest unit, and where the next
 * expiry must be known exactly.
 */
#include <linux/slab.h>
#include "first.h"
#include "wheel/scheme.h"
#include "tree.h"

struct tree {
	struct callout_scheme s;
	struct rb_root_cached root;
};

static struct tree *to_tree(struct callout_scheme *s)
{
	return container_of(s, struct tree, s);
}

static void tree_start(struct callout_scheme *s, struct callout_node *c, u64 now,
		       u64 expires)
{
	c->expires = expires;
	co_tree_add(&to_tree(s)->root, c);
}

static void tree_stop(struct callout_scheme *s, struct callout_node *c)
{
	co_tree_del(&to_tree(s)->root, c);
}

static struct callout_node *tree_first(struct callout_scheme *s)
{
	return co_tree_first(&to_tree(s)->root);
}

/* Number of black nodes from the root to @node. */
static unsigned int tree_black_height(const struct rb_node *node)
{
	unsigned int height = 0;

	for (; node; node = rb_parent(node))
		height += node->__rb_parent_color & 1;
	return height;
}

/* check for a tree; its numbers are below 10. */
int co_tree_check(const struct rb_root_cached *tree)
{
	unsigned int height = 0, above;
	const struct rb_node *parent;
	struct rb_node *node;
	u64 last = 0;

	if (tree->rb_leftmost != rb_first(&tree->rb_root))
		return 1;
	for (node = rb_first(&tree->rb_root); node; node = rb_next(node)) {
		if (co_of_node(node)->expires < last)
			return 2;
		last = co_of_node(node)->expires;
		parent = rb_parent(node);
		if (!parent && tree->rb_root.rb_node != node)
			return 3;
		if (parent && parent->rb_left != node &&
		    parent->rb_right != node)
			return 4;
		/* A red node must not have a red parent. */
		if (parent && !(parent->__rb_parent_color & 1) &&
		    !(node->__rb_parent_color & 1))
			return 6;
		if (node->rb_left && node->rb_right)
			continue;
		above = tree_black_height(node);
		if (height && above != height)
			return 5;
		height = above;
	}
	return 0;
}

static int tree_check(struct callout_scheme *s)
{
	return co_tree_check(&to_tree(s)->root);
}

static struct callout_scheme *tree_create(const struct callout_scheme_params *p)
{
	return co_scheme_alloc(&callout_tree, sizeof(struct tree), p);
}

const struct callout_scheme_ops callout_tree = {
	.name		= "tree",
	.create		= tree_create,
	.destroy	= co_scheme_free,
	.start		= tree_start,
	.stop		= tree_stop,
	.advance	= co_first_advance,
	.next_due	= co_first_due,
	.take		= co_first_take,
	.first		= tree_first,
	.check		= tree_check,
};
