/* SPDX-License-Identifier: GPL-2.0 */
/*
 * random_ops.h - random operations on a scheme and its model
 */
#ifndef _CALLOUT_KUNIT_RANDOM_OPS_H
#define _CALLOUT_KUNIT_RANDOM_OPS_H

#include "model.h"
#include "random.h"

void callout_model_random_ops(struct callout_model *m, struct rnd_state *rng,
			      u64 scale, u64 reach, unsigned int nr_ops);

#endif /* _CALLOUT_KUNIT_RANDOM_OPS_H */
