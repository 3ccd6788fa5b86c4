/* SPDX-License-Identifier: GPL-2.0 */
/*
 * node_pool.h - a scheme's own nodes, all of one size
 *
 * Unused nodes come from the scheme's array, which reserve extends. Freed nodes are in a
 * list, linked by their first word.
 */
#ifndef _CALLOUT_NODE_POOL_H
#define _CALLOUT_NODE_POOL_H

#include "blocks.h"

struct callout_node_pool {
	unsigned long used;	/* number of nodes ever handed out */
	void **free;		/* the freed nodes */
};

/* Take a node with undefined content, or NULL. */
static inline void *co_node_pool_get(struct callout_node_pool *pool,
				     struct callout_blocks *blocks)
{
	void **node = pool->free;

	if (node)
		pool->free = *node;
	else if (pool->used < co_blocks_room(blocks))
		node = co_blocks_at(blocks, pool->used++);
	return node;
}

static inline void co_node_pool_put(struct callout_node_pool *pool, void *node)
{
	*(void **)node = pool->free;
	pool->free = node;
}

#endif /* _CALLOUT_NODE_POOL_H */
