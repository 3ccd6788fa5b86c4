/* SPDX-License-Identifier: GPL-2.0 */
/*
 * node_pool.h - nodes of one size for a scheme that needs more than the callouts
 *
 * Those never used come from an array that reserve makes longer; those used
 * and given back are in a list, which needs no memory but their first word.
 */
#ifndef _CALLOUT_NODE_POOL_H
#define _CALLOUT_NODE_POOL_H

#include "blocks.h"

/**
 * struct callout_node_pool - the nodes
 * @blocks: all of them
 * @used: how many have been handed out at least once
 * @free: those given back, each pointing to the next
 */
struct callout_node_pool {
	struct callout_blocks blocks;
	unsigned long used;
	void **free;
};

/* A node, its content undefined; NULL if there is none. */
static inline void *callout_node_pool_get(struct callout_node_pool *pool)
{
	void **node = pool->free;

	if (node)
		pool->free = *node;
	else if (pool->used < callout_blocks_room(&pool->blocks))
		node = callout_blocks_at(&pool->blocks, pool->used++);
	return node;
}

static inline void callout_node_pool_put(struct callout_node_pool *pool,
					 void *node)
{
	*(void **)node = pool->free;
	pool->free = node;
}

#endif /* _CALLOUT_NODE_POOL_H */
