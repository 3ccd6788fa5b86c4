// SPDX-License-Identifier: GPL-2.0
/*
 * shared.c - functions that several schemes share
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "blocks.h"
#include "first.h"

/*
 * Allocate a zeroed scheme of @size bytes, which begin with struct callout_scheme, or
 * return an ERR_PTR. A zeroed red-black tree is empty.
 */
void *co_scheme_alloc(const struct callout_scheme_ops *ops, size_t size,
		      const struct callout_scheme_params *p)
{
	struct callout_scheme *s = kvzalloc_node(size, GFP_KERNEL, p->node);

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->ops = ops;
	return s;
}

/* destroy for a scheme that has no other memory. */
void co_scheme_free(struct callout_scheme *s)
{
	kvfree(s);
}

/* advance for a scheme that has first. */
bool co_first_advance(struct callout_scheme *s, u64 now, unsigned int *budget,
		      struct list_head *due)
{
	struct callout_node *c;

	while ((c = s->ops->first(s)) && c->expires <= now) {
		if (!co_spend(budget))
			return true;
		s->visits++;
		s->ops->stop(s, c);
		co_scheme_due(c, due);
	}
	return false;
}

/* next_due for a scheme that has first. */
u64 co_first_due(struct callout_scheme *s, unsigned int *budget)
{
	struct callout_node *c = s->ops->first(s);

	return c ? c->expires : U64_MAX;
}

/* take for a scheme that has first. */
bool co_first_take(struct callout_scheme *s, unsigned int *budget,
		   struct list_head *out)
{
	struct callout_node *c;

	while ((c = s->ops->first(s))) {
		if (!co_spend(budget))
			return true;
		s->ops->stop(s, c);
		list_add_tail(&c->entry, out);
	}
	return false;
}

/* Are a list's links consistent? For check. */
bool co_links_hold(struct list_head *list)
{
	struct list_head *pos;

	list_for_each(pos, list)
		if (pos->next->prev != pos || pos->prev->next != pos)
			return false;
	return true;
}

/* Are a list's links consistent, and is the list in order of expiry? */
bool co_order_holds(struct list_head *list)
{
	struct callout_node *c;
	u64 before = 0;

	if (!co_links_hold(list))
		return false;
	list_for_each_entry(c, list, entry) {
		if (c->expires < before)
			return false;
		before = c->expires;
	}
	return true;
}

static struct callout_blocks *blocks_of(struct callout_scheme *s)
{
	return &container_of(s, struct callout_blocks_scheme, s)->blocks;
}

/*
 * reserve for a scheme that needs an element for each callout. Add @n zeroed elements,
 * unless as many were given back by a negative @n. May sleep; may run concurrently
 * with any use. Return 0 or -ENOMEM.
 */
int co_blocks_scheme_reserve(struct callout_scheme *s, int n)
{
	struct callout_blocks *b = blocks_of(s);
	long wanted = atomic_long_add_return(n, &b->wanted);
	unsigned long elements;
	unsigned int nr;
	void *block;

	if (n < 0)
		return 0;
	for (nr = 0; co_blocks_end(nr) < wanted; nr++) {
		if (nr == CALLOUT_BLOCKS)
			goto enomem;
		if (READ_ONCE(b->block[nr]))
			continue;
		elements = co_blocks_end(nr + 1) - co_blocks_end(nr);
		block = kvzalloc_node(elements * b->size, GFP_KERNEL, b->node);
		if (!block)
			goto enomem;
		/* Pairs with smp_load_acquire() in co_blocks_room(). */
		if (cmpxchg(&b->block[nr], NULL, block))
			kvfree(block);
	}
	return 0;

enomem:
	atomic_long_sub(n, &b->wanted);
	return -ENOMEM;
}

/* destroy for a scheme with an array. */
void co_blocks_destroy(struct callout_scheme *s)
{
	unsigned int nr;

	for (nr = 0; nr < CALLOUT_BLOCKS; nr++)
		kvfree(blocks_of(s)->block[nr]);
	kvfree(s);
}

/*
 * As co_scheme_alloc(), for @size bytes that begin with struct callout_blocks_scheme.
 * Allocate the first block of its array too, whose elements have @element bytes.
 */
void *co_blocks_create(const struct callout_scheme_ops *ops, size_t size,
		       size_t element, const struct callout_scheme_params *p)
{
	struct callout_scheme *s = co_scheme_alloc(ops, size, p);

	if (IS_ERR(s))
		return s;
	blocks_of(s)->size = element;
	blocks_of(s)->node = p->node;
	if (!co_blocks_scheme_reserve(s, 1))
		return s;
	co_scheme_free(s);
	return ERR_PTR(-ENOMEM);
}
