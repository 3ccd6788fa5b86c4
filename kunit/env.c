// SPDX-License-Identifier: GPL-2.0
/*
 * env.c - the model in a KUnit case: how it fails, and when it is freed
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

/**
 * callout_model_create - makes an empty hashed wheel and an empty strict model
 * @test: the case; when it ends they are freed
 * @buckets: the wheel's
 * @nr_entries: how many callouts there are to play with
 *
 * Return: the model; the case is aborted if there is no memory.
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
