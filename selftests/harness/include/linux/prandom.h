/* SPDX-License-Identifier: GPL-2.0 */
/*
 * prandom.h - reproducible random numbers, for a program (splitmix64)
 */
#ifndef _HARNESS_PRANDOM_H
#define _HARNESS_PRANDOM_H

#include <linux/types.h>

struct rnd_state {
	u64 state;
};

static inline void prandom_seed_state(struct rnd_state *rng, u64 seed)
{
	rng->state = seed;
}

static inline u32 prandom_u32_state(struct rnd_state *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) >> 32;
}

#endif /* _HARNESS_PRANDOM_H */
