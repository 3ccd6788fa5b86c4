/* SPDX-License-Identifier: GPL-2.0 */
/*
 * node_pool.h - a scheme's own nodes, all of one size
 *
 * Nodes never used come from an array that reserve extends. Freed ones are in a
 * list, linked by their first word.
 */
#ifndef _CALLOUT_NODE_POOL_H
#define _CALLOUT_NODE_POOL_H

#include "blocks.h"

struct callout_node_pool {
	struct callout_blocks blocks;
	unsigned long used;	/* number of nodes ever handed out */
	void **free;		/* the freed ones */
};

/* A node with undefined content, or NULL. */
static inline void *co_node_pool_get(struct callout_node_pool *pool)
{
	void **node = pool->free;

	if (node)
		pool->free = *node;
	else if (pool->used < co_blocks_room(&pool->blocks))
		node = co_blocks_at(&pool->blocks, pool->used++);
	return node;
}

static inline void co_node_pool_put(struct callout_node_pool *pool,
				    void *node)
{
	*(void **)node = pool->free;
	pool->free = node;
}

#endif /* _CALLOUT_NODE_POOL_H */
