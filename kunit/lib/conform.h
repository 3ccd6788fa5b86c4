/* SPDX-License-Identifier: GPL-2.0 */
/*
 * conform.h - the contract of every scheme, as cases for any environment
 */
#ifndef _CALLOUT_KUNIT_CONFORM_H
#define _CALLOUT_KUNIT_CONFORM_H

#include "model.h"
#include "random.h"

/**
 * struct callout_conform - a scheme under test, and the size of the test
 * @env: opaque to the model: the environment's case
 * @ops: the scheme
 * @variant: index of its variant
 * @rng: random numbers
 * @nr_ops: number of random operations
 * @nr_many: number of callouts at once
 * @nr_many_linear: number of callouts at once if the scheme is CALLOUT_LINEAR and
 *	has no buckets
 * @reach: set by some cases: the farthest distance that the scheme can jump
 */
struct callout_conform {
	void *env;
	const struct callout_scheme_ops *ops;
	unsigned int variant;
	struct rnd_state rng;
	unsigned int nr_ops;
	unsigned int nr_many;
	unsigned int nr_many_linear;
	u64 reach;
};

void callout_conform_random(struct callout_conform *t);
void callout_conform_gaps(struct callout_conform *t);
void callout_conform_farthest(struct callout_conform *t);
void callout_conform_earlier(struct callout_conform *t);
void callout_conform_many(struct callout_conform *t);
void callout_conform_refuses(struct callout_conform *t);

const char *callout_conform_variant(const struct callout_scheme_ops *ops,
				    unsigned int variant);
unsigned int callout_conform_variants(const struct callout_scheme_ops *ops);

#endif /* _CALLOUT_KUNIT_CONFORM_H */
