/* SPDX-License-Identifier: GPL-2.0 */
/*
 * env.h - the model in a KUnit case
 */
#ifndef _CALLOUT_KUNIT_ENV_H
#define _CALLOUT_KUNIT_ENV_H

#include "common.h"
#include "model.h"

struct callout_model *callout_model_create(struct kunit *test,
					   unsigned int buckets,
					   unsigned int nr_entries);

#endif /* _CALLOUT_KUNIT_ENV_H */
