// SPDX-License-Identifier: GPL-2.0
/*
 * random_ops.c - random operations on a scheme and its model
 *
 * Distances are often near multiples of a scale, at which the scheme is likely
 * to have bugs.
 */
#include <linux/kernel.h>
#include "random_ops.h"
#include "wheel/hashed_wheel.h"

/* A random distance, often near multiples of @scale. */
static u64 random_distance(struct rnd_state *rng, u64 scale, u64 reach)
{
	u64 distance;

	switch (callout_test_below(rng, 8)) {
	case 0:
		return callout_test_below(rng, 4);
	case 1:
		distance = callout_test_below(rng, scale + 2);
		break;
	case 2:
		distance = scale * callout_test_below(rng, 5);
		break;
	case 3:
		distance = callout_test_below(rng, 8 * scale);
		break;
	case 4:
		if (callout_test_below(rng, 8))
			distance = callout_test_below(rng, 300);
		else
			distance = (1ULL << callout_test_below(rng, 35)) +
				   callout_test_below(rng, 100);
		break;
	default:
		return callout_test_below(rng, 64);
	}
	return min(distance, reach);
}

static u64 random_expiry(struct callout_model *m, struct rnd_state *rng,
			 u64 scale, u64 reach)
{
	u64 back, same;

	switch (callout_test_below(rng, 16)) {
	case 0:
		back = callout_test_below(rng, 2 * scale);
		return m->clock - min(m->clock, back);
	case 1:
	case 2:
		same = m->entry[callout_test_below(rng, m->nr_entries)].expires;
		return min(same, m->clock + 4 * reach);
	default:
		return m->clock + random_distance(rng, scale, reach);
	}
}

static unsigned int random_budget(struct rnd_state *rng)
{
	switch (callout_test_below(rng, 8)) {
	case 0:
		return 1U << 16;
	case 1 ... 3:
		return CALLOUT_MIN_BUDGET + callout_test_below(rng, 64);
	default:
		return CALLOUT_MIN_BUDGET;
	}
}

static void random_entry_op(struct callout_model *m, struct rnd_state *rng,
			    u64 scale, u64 reach)
{
	struct callout_model_entry *e;
	u64 expires;

	e = &m->entry[callout_test_below(rng, m->nr_entries)];
	if (!e->queued) {
		callout_model_start(m, e, random_expiry(m, rng, scale, reach));
		return;
	}
	switch (callout_test_below(rng, 3)) {
	case 0:
		callout_model_stop(m, e);
		break;
	case 1:
		expires = e->expires + random_distance(rng, scale, reach);
		callout_model_rearm(m, e, min(expires, m->clock + 4 * reach));
		break;
	default:
		callout_model_rearm(m, e, random_expiry(m, rng, scale, reach));
	}
}

/* Take all entries, with other operations in between, and start half of them again. */
static void random_take(struct callout_model *m, struct rnd_state *rng,
			u64 scale, u64 reach)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		if (!callout_model_take(m, random_budget(rng)))
			break;
		if (callout_test_below(rng, 2))
			random_entry_op(m, rng, scale, reach);
		callout_model_check(m);
	}
	callout_model_take_all(m);
	for (i = 0; i < m->nr_entries; i++)
		if (callout_test_below(rng, 2))
			callout_model_start(m, &m->entry[i],
					    m->entry[i].expires);
}

/* Give a hashed wheel a larger or smaller ring, or move some entries to the new ring. */
static void random_resize(struct callout_model *m, struct rnd_state *rng)
{
	if (m->s->ops != &callout_hashed_wheel)
		return;
	if (to_wheel(m->s)->old.bucket)
		callout_model_move(m, random_budget(rng));
	else if (!callout_test_below(rng, 4))
		callout_model_resize(m, CALLOUT_WHEEL_MIN_BUCKETS <<
					callout_test_below(rng, 9));
}

static void random_op(struct callout_model *m, struct rnd_state *rng,
		      u64 scale, u64 reach)
{
	u64 now = m->clock;

	switch (callout_test_below(rng, 32)) {
	case 0 ... 18:
		random_entry_op(m, rng, scale, reach);
		break;
	case 19:
		if (!m->strict)
			m->clock += callout_test_below(rng, 4);
		break;
	case 20:
		callout_model_next_due(m, random_budget(rng));
		break;
	case 21:
		callout_model_find(m, callout_test_below(rng,
							 CALLOUT_MODEL_KEYS));
		break;
	case 22:
		random_resize(m, rng);
		break;
	case 23:
		if (callout_test_below(rng, 64))
			break;
		if (callout_test_below(rng, 2))
			callout_model_chase(m);
		else
			random_take(m, rng, scale, reach);
		break;
	default:
		if (!m->advancing || !callout_test_below(rng, 8))
			now += random_distance(rng, scale, reach);
		callout_model_advance(m, now, random_budget(rng));
	}
	/* Replaces a search, as in the core, which counts its callouts. */
	if (!m->queued && m->s->ops == &callout_hashed_wheel &&
	    callout_test_below(rng, 2))
		co_wheel_empty(to_wheel(m->s));
}

/*
 * Check that scheme and model agree over @nr_ops random operations, with distances
 * near @scale and up to @reach, and then until nothing is queued.
 */
void callout_model_random_ops(struct callout_model *m, struct rnd_state *rng,
			      u64 scale, u64 reach, unsigned int nr_ops)
{
	unsigned int interval = max_t(u64, 1, scale / 64), i;

	for (i = 0; i < nr_ops; i++) {
		random_op(m, rng, scale, reach);
		if (i % interval == 0)
			callout_model_check(m);
	}
	callout_model_chase(m);
	callout_model_check(m);
	callout_env_assert(m->env, m->fired >= nr_ops / 100,
			   "only %llu have fired", m->fired);
}
