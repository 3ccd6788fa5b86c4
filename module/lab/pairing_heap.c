// SPDX-License-Identifier: GPL-2.0
/*
 * pairing_heap.c - a pairing heap, a variety of Scheme 3, lazily paired
 *
 * The Crystal RFC measured a pairing heap against a 4-ary heap for the timers
 * of a language's event loop. It proposes the pairing heap, for sleeps and
 * timeouts alike: inserting is a little faster, removing from the middle much
 * faster from a hundred timers on, and only removing the smallest is slower.
 *
 * The heap is a tree of any shape whose parents do not expire after their children.
 * start melds the callout, a tree with one node, with the root: the later of the
 * two becomes a child of the other. When a callout is stopped, or the root is
 * removed, its children become separate trees, a forest, in O(1). These trees have
 * to be melded into one tree before the next root can be removed. That takes
 * amortised O(log n) or little more, but n - 1 melds if none were done before, and
 * the lock cannot be held for so long. So this is the multipass variant: two trees
 * are taken from the front of a queue, and the melded tree goes to its end. A meld
 * is one unit of work, and the heap is consistent between melds. While there is a
 * forest, start adds to it.
 *
 * start and stop are always O(1), tick is O(1) plus the postponed melds. Equals are
 * not kept in order. It is the right choice where few callouts expire, and most are
 * stopped or moved: start and stop cost as little as in a wheel, and the next
 * expiry can still be known exactly.
 *
 * Links: a node's children are in a list. The @prev of the first child is the last
 * child, and the @next of the last child is the parent. So either end leads to the
 * other and to the parent, and a whole list can be appended to another in O(1). The
 * forest is the list of children of a node that is no callout.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include "first.h"
#include "wheel/scheme.h"

/* The three words of a callout. @prev of a tree in no list is itself. */
struct pairing_node {
	struct pairing_node *child;	/* the first child, or NULL */
	struct pairing_node *next;	/* sibling; in the last child, the parent */
	struct pairing_node *prev;	/* sibling; in the first child, the last child */
};

static_assert(sizeof(struct pairing_node) == 3 * sizeof(unsigned long));

struct pairing_heap {
	struct callout_scheme s;
	struct pairing_node forest;	/* parent of all roots */
	u64 bound;			/* at most any expiry */
};

static struct pairing_heap *to_heap(struct callout_scheme *s)
{
	return container_of(s, struct pairing_heap, s);
}

static struct pairing_node *pairing_node(struct callout_node *c)
{
	return (struct pairing_node *)c->word;
}

static struct callout_node *pairing_callout(struct pairing_node *node)
{
	return container_of((void *)node, struct callout_node, word);
}

static bool pairing_is_first(const struct pairing_node *node)
{
	return node->prev->next != node;
}

static bool pairing_is_last(const struct pairing_node *node)
{
	return node->next->prev != node;
}

/* Append the list from @first to @last to the children of @parent. */
static void pairing_append(struct pairing_node *parent,
			   struct pairing_node *first,
			   struct pairing_node *last)
{
	struct pairing_node *head = parent->child;

	if (head) {
		head->prev->next = first;
		first->prev = head->prev;
	} else {
		parent->child = first;
		head = first;
	}
	head->prev = last;
	last->next = parent;
}

/* Remove @node, with its subtree, from its list. */
static void pairing_unlink(struct pairing_node *node)
{
	struct pairing_node *next = node->next, *prev = node->prev;
	bool first = pairing_is_first(node);

	if (!pairing_is_last(node)) {
		/* If @node is the first child, prev is the last child, which next needs. */
		next->prev = prev;
		if (first)
			prev->next->child = next;
		else
			prev->next = next;
	} else if (first) {
		next->child = NULL;
	} else {
		next->child->prev = prev;
		prev->next = next;
	}
	node->prev = node;
}

/* The children of @c become trees of the forest. */
static void pairing_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct pairing_node *node = pairing_node(c), *child = node->child;

	pairing_unlink(node);
	if (child)
		pairing_append(&to_heap(s)->forest, child, child->prev);
}

/* Meld two trees that are in no list. */
static struct pairing_node *pairing_meld(struct pairing_node *a,
					 struct pairing_node *b)
{
	if (pairing_callout(b)->expires < pairing_callout(a)->expires)
		swap(a, b);
	pairing_append(a, b, b);
	return a;
}

static struct pairing_node *pairing_pop_tree(struct pairing_heap *h)
{
	struct pairing_node *tree = h->forest.child;

	pairing_unlink(tree);
	return tree;
}

static void pairing_push_tree(struct pairing_heap *h, struct pairing_node *tree)
{
	pairing_append(&h->forest, tree, tree);
}

static void pairing_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			  u64 expires)
{
	struct pairing_heap *h = to_heap(s);
	struct pairing_node *node = pairing_node(c);
	struct pairing_node *root = h->forest.child;

	c->expires = expires;
	if (expires < h->bound)
		h->bound = expires;
	node->child = NULL;
	node->prev = node;
	if (root && pairing_is_last(root)) {
		pairing_unlink(root);
		node = pairing_meld(root, node);
	}
	pairing_push_tree(h, node);
}

/*
 * Meld the forest into one tree. Return false if the budget ran out first.
 * Otherwise the bound is the root's expiry.
 */
static bool pairing_consolidate(struct pairing_heap *h, unsigned int *budget)
{
	struct pairing_node *a, *b;

	while (h->forest.child && !pairing_is_last(h->forest.child)) {
		if (!co_spend(budget))
			return false;
		h->s.visits++;
		a = pairing_pop_tree(h);
		b = pairing_pop_tree(h);
		pairing_push_tree(h, pairing_meld(a, b));
	}
	h->bound = h->forest.child ?
		   pairing_callout(h->forest.child)->expires : U64_MAX;
	return true;
}

static bool pairing_advance(struct callout_scheme *s, u64 now,
			    unsigned int *budget, struct list_head *due)
{
	struct pairing_heap *h = to_heap(s);
	struct callout_node *c;

	while (h->bound <= now) {
		if (!pairing_consolidate(h, budget))
			return true;
		if (!h->forest.child || h->bound > now)
			break;
		if (!co_spend(budget))
			return true;
		s->visits++;
		c = pairing_callout(h->forest.child);
		pairing_stop(s, c);
		co_scheme_due(c, due);
	}
	return false;
}

static u64 pairing_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct pairing_heap *h = to_heap(s);

	pairing_consolidate(h, budget);
	return h->bound;
}

/* Any callout, or NULL. */
static struct callout_node *pairing_any(struct callout_scheme *s)
{
	struct pairing_node *root = to_heap(s)->forest.child;

	return root ? pairing_callout(root) : NULL;
}

/* Check the children of @parent; none may expire before @lowest. */
static int pairing_check_children(const struct pairing_node *parent, u64 lowest)
{
	struct pairing_node *node = parent->child, *last = node->prev;

	if (!pairing_is_first(node))
		return 1;
	if (!pairing_is_last(last) || last->next != parent)
		return 2;
	for (;; node = node->next) {
		if (pairing_callout(node)->expires < lowest)
			return 3;
		if (node == last)
			return 0;
		if (pairing_is_last(node) || node->next->prev != node)
			return 4;
	}
}

/* Visit all trees depth first; the last child links to the parent. */
static int pairing_check(struct callout_scheme *s)
{
	struct pairing_heap *h = to_heap(s);
	struct pairing_node *node = &h->forest;
	u64 lowest = h->bound;
	int ret;

	for (;;) {
		if (node->child) {
			ret = pairing_check_children(node, lowest);
			if (ret)
				return ret;
			node = node->child;
		} else {
			while (node != &h->forest && pairing_is_last(node))
				node = node->next;
			if (node == &h->forest)
				return 0;
			node = node->next;
		}
		lowest = pairing_callout(node)->expires;
	}
}

static struct callout_scheme *
pairing_create(const struct callout_scheme_params *p)
{
	struct callout_scheme *s;

	s = co_scheme_alloc(&callout_pairing_heap, sizeof(struct pairing_heap), p);
	if (!IS_ERR(s))
		to_heap(s)->bound = U64_MAX;
	return s;
}

const struct callout_scheme_ops callout_pairing_heap = {
	.name		= "pairing_heap",
	.flags		= CALLOUT_UNORDERED,
	.create		= pairing_create,
	.destroy	= co_scheme_free,
	.start		= pairing_start,
	.stop		= pairing_stop,
	.advance	= pairing_advance,
	.next_due	= pairing_next_due,
	.take		= co_first_take,
	.first		= pairing_any,
	.check		= pairing_check,
};
