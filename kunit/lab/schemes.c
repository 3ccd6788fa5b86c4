// SPDX-License-Identifier: GPL-2.0
/*
 * schemes.c - suite callout_schemes: each scheme and variant against the model
 *
 * The cases come from conform.c. The harness in user space runs them with more
 * operations than fit here.
 */
#include "lib/conform.h"
#include "lib/env.h"
#include "kcompat.h"

#define NR_OPS		40000U
#define NR_MANY		100000U
#define NR_MANY_LINEAR	1000U

#define MAX_VARIANTS	64U

struct scheme_param {
	const struct callout_scheme_ops *ops;
	unsigned int variant;
};

static struct scheme_param scheme_params[MAX_VARIANTS];
static unsigned int nr_params;

static int schemes_init(struct kunit_suite *suite)
{
	const struct callout_scheme_ops *const *ops;
	unsigned int v;

	nr_params = 0;
	for (ops = callout_schemes; *ops; ops++) {
		for (v = 0; v < callout_conform_variants(*ops); v++) {
			if (nr_params == MAX_VARIANTS)
				return -ENOSPC;
			scheme_params[nr_params].ops = *ops;
			scheme_params[nr_params++].variant = v;
		}
	}
	return 0;
}

static const void *CALLOUT_GENERATOR(scheme_gen_params)
{
	const struct scheme_param *p = prev;

	p = p ? p + 1 : scheme_params;
	if (p == scheme_params + nr_params)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s%s", p->ops->name,
		 p->ops->variants ? " " : "",
		 callout_conform_variant(p->ops, p->variant));
	return p;
}

static void run(struct kunit *test, void (*fn)(struct callout_conform *t))
{
	const struct scheme_param *p = test->param_value;
	struct callout_conform t = {
		.env = test,
		.ops = p->ops,
		.variant = p->variant,
		.nr_ops = NR_OPS,
		.nr_many = NR_MANY,
		.nr_many_linear = NR_MANY_LINEAR,
	};

	callout_test_rng(test, &t.rng);
	fn(&t);
	if (t.reach)
		kunit_info(test, "reaches %llu ticks in a jump\n", t.reach);
}

static void schemes_random(struct kunit *test)
{
	run(test, callout_conform_random);
}

static void schemes_gaps(struct kunit *test)
{
	run(test, callout_conform_gaps);
}

static void schemes_farthest(struct kunit *test)
{
	run(test, callout_conform_farthest);
}

static void schemes_earlier(struct kunit *test)
{
	run(test, callout_conform_earlier);
}

static void schemes_many(struct kunit *test)
{
	run(test, callout_conform_many);
}

static void schemes_refuses(struct kunit *test)
{
	run(test, callout_conform_refuses);
}

static struct kunit_case scheme_cases[] = {
	KUNIT_CASE_PARAM(schemes_random, scheme_gen_params),
	KUNIT_CASE_PARAM(schemes_gaps, scheme_gen_params),
	KUNIT_CASE_PARAM(schemes_farthest, scheme_gen_params),
	KUNIT_CASE_PARAM(schemes_earlier, scheme_gen_params),
	KUNIT_CASE_PARAM(schemes_many, scheme_gen_params),
	KUNIT_CASE_PARAM(schemes_refuses, scheme_gen_params),
	{}
};

static struct kunit_suite scheme_suite = {
	.name = "callout_schemes",
	.suite_init = schemes_init,
	.test_cases = scheme_cases,
};

kunit_test_suite(scheme_suite);
