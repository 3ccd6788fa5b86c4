// SPDX-License-Identifier: GPL-2.0
/*
 * lab.c - the module parameters of the laboratory: other schemes, one base
 */
#include <linux/module.h>
#include <linux/string.h>
#include "kcompat.h"
#include "lab.h"
#include "wheel/hashed_wheel.h"
#include "chip.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define SCHEME	"hashed_wheel"
#define VARIANT	""
#define BASES	"percpu"

static char *scheme = SCHEME;
module_param(scheme, charp, 0444);
MODULE_PARM_DESC(scheme, "timer data structure: a file of module/lab/ (default hashed_wheel)");

static char *variant = VARIANT;
module_param(variant, charp, 0444);
MODULE_PARM_DESC(variant, "variant of the scheme, if it has several (default: the first)");

static unsigned int levels[CALLOUT_MAX_LEVELS];
static unsigned int nr_levels;
module_param_array(levels, uint, &nr_levels, 0444);
MODULE_PARM_DESC(levels, "slots of each level, finest first, for schemes that have levels");

static char *bases = BASES;
module_param(bases, charp, 0444);
MODULE_PARM_DESC(bases, "percpu: each CPU has callouts and a lock of its own (default); single: all CPUs share them, to measure the cost");

/* For schemes and chips whose size does not follow the number of callouts. */
#define DEFAULT_BUCKETS	(1U << 14)

/* For callout_kunit.ko: the schemes' files do not include headers for exports. */
EXPORT_SYMBOL_IF_KUNIT(callout_hashed_wheel);
EXPORT_SYMBOL_IF_KUNIT(co_ring_alloc);
EXPORT_SYMBOL_IF_KUNIT(co_ring_free);
EXPORT_SYMBOL_IF_KUNIT(co_wheel_resize);
EXPORT_SYMBOL_IF_KUNIT(co_wheel_move);
EXPORT_SYMBOL_IF_KUNIT(co_wheel_moved);
EXPORT_SYMBOL_IF_KUNIT(callout_schemes);
EXPORT_SYMBOL_IF_KUNIT(co_scheme_find);

static const struct callout_scheme_ops *find_scheme(void)
{
	const struct callout_scheme_ops *found = co_scheme_find(scheme);
	const struct callout_scheme_ops *const *ops;

	if (found)
		return found;
	pr_err("scheme=%s: there is no such scheme; there are:\n", scheme);
	for (ops = callout_schemes; *ops; ops++)
		pr_err("scheme=%s\n", (*ops)->name);
	return NULL;
}

/* The index of the variant, or -1 if the scheme does not have it. */
static int find_variant(const struct callout_scheme_ops *ops)
{
	const char *const *v;

	if (!*variant)
		return 0;
	for (v = ops->variants; v && *v; v++)
		if (!strcmp(variant, *v))
			return v - ops->variants;
	pr_err("variant=%s: scheme=%s has no such variant; it has:\n", variant,
	       ops->name);
	for (v = ops->variants; v && *v; v++)
		pr_err("variant=%s\n", *v);
	if (!ops->variants)
		pr_err("variant= none\n");
	return -1;
}

/* Do all CPUs share one base? Negative if bases= is wrong. */
static int find_bases(void)
{
	static const char *const choices[] = { "percpu", "single" };
	int i = match_string(choices, ARRAY_SIZE(choices), bases);

	if (i < 0)
		pr_err("bases=%s: neither bases=percpu nor bases=single\n",
		       bases);
	return i;
}

/* Print which schemes accept a parameter that this scheme does not accept. */
static void refuse_for(const char *name, const struct callout_scheme_ops *mine,
		       unsigned int flag)
{
	const struct callout_scheme_ops *const *ops;

	pr_err("%s=: not for scheme=%s; it is for:\n", name, mine->name);
	for (ops = callout_schemes; *ops; ops++)
		if ((*ops)->flags & flag)
			pr_err("%s= for scheme=%s\n", name, (*ops)->name);
}

/* Can a base's size follow its callouts? Only if it is the hashed wheel without a chip. */
static bool size_follows(const struct callout_config *config)
{
	return config->scheme == &callout_hashed_wheel &&
	       config->tick != &callout_chip_busy.tick &&
	       config->tick != &callout_chip_full.tick;
}

/*
 * Fill in the parameters for the scheme's create. Return false if the scheme refuses
 * any of them.
 */
static bool fill_params(struct callout_config *config)
{
	const struct callout_scheme_ops *ops = config->scheme;
	struct callout_scheme_params *params = &config->params;
	const char *refusal;
	int ret;

	ret = find_variant(ops);
	if (ret < 0)
		return false;
	params->variant = ret;
	/* Chips have buckets too. */
	if (!(ops->flags & CALLOUT_TAKES_BUCKETS) && config->tick != &callout_chip_busy.tick) {
		if (params->buckets) {
			refuse_for("buckets", ops, CALLOUT_TAKES_BUCKETS);
			return false;
		}
	} else if (!params->buckets && !size_follows(config)) {
		params->buckets = DEFAULT_BUCKETS;
	}
	if (nr_levels && !(ops->flags & CALLOUT_TAKES_LEVELS)) {
		refuse_for("levels", ops, CALLOUT_TAKES_LEVELS);
		return false;
	}
	params->nr_levels = nr_levels;
	memcpy(params->level, levels, sizeof(levels));
	refusal = ops->refuses ? ops->refuses(params) : NULL;
	if (refusal)
		pr_err("%s\n", refusal);
	return !refusal;
}

/* Apply the parameters. Return 0, or -EINVAL after a message. */
int co_lab_configure(struct callout_config *config)
{
	int single = find_bases();

	config->scheme = find_scheme();
	if (!config->scheme || single < 0 || !fill_params(config))
		return -EINVAL;
	config->single = single;
	return 0;
}

/* Reset the parameters to their defaults. */
void __init co_lab_forget(void)
{
	scheme = SCHEME;
	variant = VARIANT;
	nr_levels = 0;
	bases = BASES;
}
