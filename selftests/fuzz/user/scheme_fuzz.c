// SPDX-License-Identifier: GPL-2.0
/*
 * scheme_fuzz.c - a fuzzer of the schemes, each against the reference model
 *
 * Uses the wheel, the schemes of module/lab/, and the model kunit/lib/model.c, as
 * selftests/harness does, but the fuzzer chooses the operations. The first bytes of an input
 * choose the scheme, its variant, its geometry and the time at which it begins.
 */
#include <stdarg.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/numa.h>
#include <linux/slab.h>
#include "input.h"
#include "lib/model.h"
#include "wheel/hashed_wheel.h"

#define ENTRIES		64U
/* More callouts than a block of a scheme that allocates. */
#define CROWD		1100U
/* The maximum distance from one expiry to the next: schemes step through ticks or laps. */
#define REACH		4096ULL
#define FAR		(1ULL << 40)

static struct callout_model *kept;

void callout_env_fail(void *env, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	abort();
}

void callout_env_keep(void *env, struct callout_model *m)
{
	kept = m;
}

/* How many allocations succeed. */
static unsigned int allocations(struct input *in)
{
	unsigned int n = input_below(in, 8);

	return n < 4 ? n : UINT_MAX;
}

static const u64 epochs[] = {
	0, (1ULL << 31) - 2000, (1ULL << 32) - 2000, S64_MAX - 2000,
	U64_MAX - (1ULL << 50),
};

static void choose_levels(struct input *in, struct callout_scheme_params *p)
{
	unsigned int i;

	p->nr_levels = input_below(in, CALLOUT_MAX_LEVELS + 1);
	for (i = 0; i < p->nr_levels; i++)
		p->level[i] = 1 + input_below(in, 64);
}

static unsigned int variants(const struct callout_scheme_ops *ops)
{
	unsigned int n = 0;

	while (ops->variants && ops->variants[n])
		n++;
	return n ?: 1;
}

static void choose(struct input *in, const struct callout_scheme_ops **ops,
		   struct callout_scheme_params *p)
{
	unsigned int nr = 0, start;

	while (callout_schemes[nr])
		nr++;
	*ops = callout_schemes[input_below(in, nr)];
	p->variant = input_below(in, variants(*ops));
	p->buckets = CALLOUT_WHEEL_MIN_BUCKETS << input_below(in, 7);
	start = input_below(in, 256);
	p->now = epochs[start % ARRAY_SIZE(epochs)] + start / ARRAY_SIZE(epochs);
	if ((*ops)->flags & CALLOUT_TAKES_LEVELS && input_below(in, 2))
		choose_levels(in, p);
}

static u64 expiry(struct input *in, struct callout_model *m, u64 scale)
{
	unsigned int v = input_below(in, 16);
	u64 back;

	if (!v) {
		back = input_below(in, 256);
		return m->clock - min(m->clock, back);
	}
	if (v == 1)
		return m->entry[input_below(in, ENTRIES)].expires;
	return m->clock + input_distance(in, scale, REACH);
}

static unsigned int budget(struct input *in)
{
	unsigned int v = input_below(in, 4);

	return CALLOUT_MIN_BUDGET + v * v * 8;
}

static void entry_op(struct input *in, struct callout_model *m, u64 scale)
{
	struct callout_model_entry *e = &m->entry[input_below(in, ENTRIES)];
	u64 expires;

	if (!e->queued) {
		callout_model_start(m, e, min(expiry(in, m, scale),
					      m->clock + 4 * REACH));
		return;
	}
	if (input_below(in, 2)) {
		callout_model_stop(m, e);
		return;
	}
	expires = expiry(in, m, scale);
	callout_model_rearm(m, e, min(expires, m->clock + 4 * REACH));
}

/* Start many at once: more than a budget can move. */
static void many(struct input *in, struct callout_model *m, u64 scale)
{
	u64 first = input_distance(in, scale, REACH), step = input_below(in, 4);
	unsigned int i;

	for (i = 0; i < m->nr_entries; i++)
		if (!m->entry[i].queued)
			callout_model_start(m, &m->entry[i],
					    m->clock + first + i * step);
}

/* If the n-th allocation fails, the scheme continues unchanged. */
static void reserve(struct input *in, struct callout_model *m)
{
	int ret;

	if (!m->s->ops->reserve)
		return;
	harness_allocations_left = allocations(in);
	ret = m->s->ops->reserve(m->s, input_below(in, 256));
	harness_allocations_left = UINT_MAX;
	fuzz_assert(!ret || ret == -ENOMEM, "%d", ret);
}

static void resize(struct input *in, struct callout_model *m)
{
	if (m->s->ops != &callout_hashed_wheel)
		return;
	if (to_wheel(m->s)->old.bucket) {
		callout_model_move(m, budget(in));
		return;
	}
	harness_allocations_left = allocations(in);
	callout_model_resize(m, CALLOUT_WHEEL_MIN_BUCKETS << input_below(in, 8));
	harness_allocations_left = UINT_MAX;
}

static void one_op(struct input *in, struct callout_model *m, u64 scale)
{
	switch (input_below(in, 16)) {
	case 0 ... 5:
		entry_op(in, m, scale);
		break;
	case 6:
		many(in, m, scale);
		break;
	case 7:
		if (!m->strict)
			m->clock += input_below(in, 4);
		break;
	case 8:
		callout_model_next_due(m, budget(in));
		break;
	case 9:
		callout_model_find(m, input_below(in, CALLOUT_MODEL_KEYS));
		break;
	case 10:
		resize(in, m);
		break;
	case 11:
		callout_model_take(m, budget(in));
		break;
	case 12:
		reserve(in, m);
		break;
	case 13:
		callout_model_advance_all(m, m->clock);
		break;
	default:
		callout_model_advance(m, m->clock +
				      input_distance(in, scale, REACH),
				      budget(in));
	}
	callout_model_check(m);
}

/* Expiries that no scheme reaches in reasonable time are only stopped. */
static void farthest(struct input *in, struct callout_model *m)
{
	struct callout_model_entry *e;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		e = &m->entry[input_below(in, ENTRIES)];
		if (e->queued)
			continue;
		callout_model_start(m, e, input_below(in, 2) ?
				    U64_MAX - 1 - input_byte(in) : m->clock + FAR);
		callout_model_check(m);
		callout_model_stop(m, e);
	}
	callout_model_check(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct callout_scheme_params p = { .node = NUMA_NO_NODE };
	struct input in = { data, data + size };
	const struct callout_scheme_ops *ops;
	struct callout_scheme *s;
	struct callout_model *m;
	u64 scale;

	choose(&in, &ops, &p);
	fuzz_assert(co_scheme_find(ops->name) == ops, "%s", ops->name);
	fuzz_assert(!co_scheme_find("none"), "found");
	harness_allocations_left = allocations(&in);
	if (ops->refuses && ops->refuses(&p)) {
		harness_allocations_left = UINT_MAX;
		fuzz_assert(PTR_ERR(ops->create(&p)) == -EINVAL, "created");
		return 0;
	}
	s = ops->create(&p);
	harness_allocations_left = UINT_MAX;
	if (IS_ERR(s)) {
		fuzz_assert(PTR_ERR(s) == -ENOMEM || PTR_ERR(s) == -EINVAL,
			    "%ld", PTR_ERR(s));
		if (PTR_ERR(s) == -EINVAL)
			return 0;
	} else {
		ops->destroy(s);
	}
	m = callout_model_new(NULL, ops, &p, ops->reserve && !input_below(&in, 16) ?
			      CROWD : ENTRIES);
	m->strict = ops == &callout_hashed_wheel && input_below(&in, 2);
	scale = p.nr_levels ? p.level[0] * 8 : p.buckets;
	farthest(&in, m);
	while (input_left(&in))
		one_op(&in, m, scale);
	if (input_below(&in, 2))
		callout_model_take_all(m);
	callout_model_chase(m);
	callout_model_check(m);
	callout_model_free(kept);
	return 0;
}
