/* SPDX-License-Identifier: GPL-2.0 */
/*
 * random.h - random numbers that a seed repeats
 */
#ifndef _CALLOUT_KUNIT_RANDOM_H
#define _CALLOUT_KUNIT_RANDOM_H

#include <linux/prandom.h>
#include <linux/types.h>

/* A random number less than @n. */
static inline u32 callout_test_below(struct rnd_state *rng, u32 n)
{
	return ((u64)prandom_u32_state(rng) * n) >> 32;
}

#endif /* _CALLOUT_KUNIT_RANDOM_H */
