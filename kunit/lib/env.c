// SPDX-License-Identifier: GPL-2.0
/*
 * env.c - the model in a KUnit case: failure and clean-up
 */
#include <linux/numa.h>
#include "env.h"

void callout_env_fail(void *env, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	struct kunit *test = env;
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	KUNIT_FAIL_AND_ABORT(test, "%pV", &vaf);
	va_end(args);
}

static void free_model(void *m)
{
	callout_model_free(m);
}

void callout_env_keep(void *env, struct callout_model *m)
{
	struct kunit *test = env;

	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_model, m));
}

/*
 * Create an empty hashed wheel with a strict model of @nr_entries callouts, freed
 * when the case ends.
 */
struct callout_model *callout_model_create(struct kunit *test,
					   unsigned int buckets,
					   unsigned int nr_entries)
{
	struct callout_scheme_params params = {
		.buckets = buckets,
		.node = NUMA_NO_NODE,
	};
	struct callout_model *m;

	m = callout_model_new(test, &callout_hashed_wheel, &params, nr_entries);
	m->strict = true;
	return m;
}
