/* SPDX-License-Identifier: GPL-2.0 */
/*
 * blocks.h - an array that grows concurrently with its use, without moving
 *
 * The elements are in blocks. Each block but the first is as large as all earlier
 * blocks together, so two dozen pointers suffice, and an index leads to its element
 * in a few instructions. reserve publishes a new block with cmpxchg(). The scheme
 * adopts the block when it runs out of room, without a lock and without copying.
 * Blocks are freed with the scheme.
 */
#ifndef _CALLOUT_BLOCKS_H
#define _CALLOUT_BLOCKS_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/types.h>
#include "wheel/scheme.h"

/* 2^10 elements at first, 2^31 at most. */
#define CALLOUT_BLOCK_SHIFT	10
#define CALLOUT_BLOCKS		22

struct callout_blocks {
	size_t size;		/* bytes of an element */
	int node;		/* NUMA node of the blocks */
	unsigned int nr;	/* blocks adopted: block[0] to block[nr - 1] */
	atomic_long_t wanted;	/* elements reserved */
	void *block[CALLOUT_BLOCKS];
};

/* Number of elements in the first @nr blocks. */
static inline unsigned long co_blocks_end(unsigned int nr)
{
	return nr ? 1UL << (CALLOUT_BLOCK_SHIFT + nr - 1) : 0;
}

/* Number of elements. The caller serialises all uses except reserve. */
static inline unsigned long co_blocks_room(struct callout_blocks *b)
{
	/* Pairs with cmpxchg() in co_blocks_scheme_reserve(). */
	while (b->nr < CALLOUT_BLOCKS && smp_load_acquire(&b->block[b->nr]))
		b->nr++;
	return co_blocks_end(b->nr);
}

static inline void *co_blocks_at(const struct callout_blocks *b,
				 unsigned long i)
{
	unsigned int nr = fls_long(i >> CALLOUT_BLOCK_SHIFT);

	return b->block[nr] + (i - co_blocks_end(nr)) * b->size;
}

/* The beginning of a scheme that uses such an array. */
struct callout_blocks_scheme {
	struct callout_scheme s;
	struct callout_blocks blocks;
};

void *co_blocks_create(const struct callout_scheme_ops *ops, size_t size,
		       size_t element, const struct callout_scheme_params *p);
int co_blocks_scheme_reserve(struct callout_scheme *s, int n);
void co_blocks_destroy(struct callout_scheme *s);

#endif /* _CALLOUT_BLOCKS_H */
