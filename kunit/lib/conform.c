// SPDX-License-Identifier: GPL-2.0
/*
 * conform.c - the contract of every scheme, as cases for any environment
 *
 * kunit/lab/schemes.c runs them as a KUnit suite, selftests/harness as a program.
 * Time is an argument: nothing here sleeps or looks at a clock.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/numa.h>
#include <linux/string.h>
#include "conform.h"
#include "random_ops.h"
#include "wheel/hashed_wheel.h"

#define RANDOM_ENTRIES	200U
#define EARLIER_ENTRIES	40U

/* The distances to which a lone callout is brought: the least, and the most tried. */
#define LEAST_REACH	1024ULL
#define MOST_REACH	(1ULL << 40)
/* The maximum number of calls of advance and next_due for that. */
#define REACH_CALLS	1500U

/* Times at which cases begin. Each time leaves room for 2^49 ticks. */
static const u64 epochs[] = {
	0,
	(1ULL << 31) - 20000,
	(1ULL << 32) - 20000,
	S64_MAX - 20000,
	U64_MAX - (1ULL << 50),
};

/* The first number is the facility's default, and always valid. */
static const unsigned int buckets[] = { 16384, 4, 8, 64, 256 };

static const struct {
	unsigned int nr;
	unsigned int level[CALLOUT_MAX_LEVELS];
} levels[] = {
	{ 0 },
	{ 4, { 60, 60, 24, 100 } },
	{ 2, { 2, 2 } },
	{ 3, { 4, 4, 4 } },
	{ 3, { 3, 5, 7 } },
	{ 5, { 256, 64, 64, 64, 64 } },
	{ 16, { 16, 16, 16, 16, 16, 16, 16, 16,
		16, 16, 16, 16, 16, 16, 16, 16 } },
};

/* The number of variants of a scheme; 1 for a scheme without variants. */
unsigned int callout_conform_variants(const struct callout_scheme_ops *ops)
{
	unsigned int n = 0;

	while (ops->variants && ops->variants[n])
		n++;
	return max(n, 1U);
}

/* The name of a variant; empty for a scheme without variants. */
const char *callout_conform_variant(const struct callout_scheme_ops *ops,
				    unsigned int variant)
{
	return ops->variants ? ops->variants[variant] : "";
}

/*
 * The parameters of geometry @i, and its scale: a distance near which a scheme
 * is likely to have bugs. False if there is no such geometry.
 */
static bool geometry(const struct callout_conform *t, unsigned int i,
		     struct callout_scheme_params *p, u64 *scale)
{
	*p = (struct callout_scheme_params) {
		.variant = t->variant,
		.buckets = buckets[0],
		.node = NUMA_NO_NODE,
	};
	*scale = 64;
	if (t->ops->flags & CALLOUT_TAKES_LEVELS) {
		if (i < ARRAY_SIZE(levels)) {
			p->nr_levels = levels[i].nr;
			memcpy(p->level, levels[i].level, sizeof(p->level));
			if (i)
				*scale = p->level[0] * p->level[1];
			return true;
		}
		/* buckets[0] has been tried with these levels. */
		i -= ARRAY_SIZE(levels) - 1;
	}
	if (t->ops->flags & CALLOUT_TAKES_BUCKETS) {
		if (i >= ARRAY_SIZE(buckets))
			return false;
		p->buckets = buckets[i];
		*scale = p->buckets;
		return true;
	}
	return !i;
}

/* Does the scheme accept @p? It may refuse any geometry but the first. */
static bool taken(struct callout_conform *t, unsigned int i,
		  const struct callout_scheme_params *p)
{
	struct callout_scheme *s = t->ops->create(p);

	if (!IS_ERR(s)) {
		t->ops->destroy(s);
		return true;
	}
	callout_env_assert(t->env, i && PTR_ERR(s) == -EINVAL,
			   "geometry %u: %d", i, (int)PTR_ERR(s));
	return false;
}

/* The number of calls of advance and next_due until a lone callout has come out. */
static unsigned int calls_to(struct callout_model *m, u64 distance)
{
	unsigned int calls = 0;
	u64 due;

	callout_model_start(m, &m->entry[0], m->clock + distance);
	while (m->queued) {
		due = callout_model_next_due_all(m);
		do {
			if (++calls > REACH_CALLS) {
				callout_model_stop(m, &m->entry[0]);
				return calls;
			}
		} while (callout_model_advance(m, max(due, m->clock),
					       CALLOUT_MIN_BUDGET));
	}
	return calls;
}

/*
 * How far the scheme can jump in REACH_CALLS calls: schemes that step through ticks
 * or laps do not get far. The cases do not jump farther.
 */
static u64 find_reach(struct callout_conform *t,
		      const struct callout_scheme_params *p)
{
	struct callout_model *m = callout_model_new(t->env, t->ops, p, 1);
	u64 reach;

	for (reach = LEAST_REACH; reach < MOST_REACH; reach *= 4)
		if (calls_to(m, reach * 4) > REACH_CALLS)
			break;
	t->reach = max(t->reach, reach);
	return reach;
}

/* Reserve room for all callouts, for half, or for none: start must work in any case. */
static void random_reserve(struct callout_model *m, struct rnd_state *rng)
{
	unsigned int room = callout_test_below(rng, 3) * RANDOM_ENTRIES / 2;

	if (room && m->s->ops->reserve)
		callout_env_assert(m->env, !m->s->ops->reserve(m->s, room),
				   "no room for %u", room);
}

/* Scheme and model agree in each geometry and epoch. */
void callout_conform_random(struct callout_conform *t)
{
	struct callout_scheme_params p;
	unsigned int nr = 0, g, e;
	struct callout_model *m;
	u64 scale, reach;

	for (g = 0; geometry(t, g, &p, &scale); g++)
		nr += ARRAY_SIZE(epochs);
	for (g = 0; geometry(t, g, &p, &scale); g++) {
		if (!taken(t, g, &p))
			continue;
		reach = find_reach(t, &p);
		for (e = 0; e < ARRAY_SIZE(epochs); e++) {
			p.now = epochs[e];
			m = callout_model_new(t->env, t->ops, &p,
					      RANDOM_ENTRIES);
			random_reserve(m, &t->rng);
			callout_model_random_ops(m, &t->rng, scale, reach,
						 t->nr_ops / nr);
		}
	}
}

/*
 * next_due and advance cross long stretches with nothing due, at powers of 2.
 */
void callout_conform_gaps(struct callout_conform *t)
{
	struct callout_scheme_params p;
	struct callout_model *m;
	unsigned int g, e, i;
	u64 scale, reach, d;

	for (g = 0; geometry(t, g, &p, &scale); g++) {
		if (!taken(t, g, &p))
			continue;
		reach = find_reach(t, &p);
		for (e = 0; e < ARRAY_SIZE(epochs); e++) {
			p.now = epochs[e];
			m = callout_model_new(t->env, t->ops, &p, 200);
			for (i = 0, d = 1; d <= reach; d *= 2) {
				callout_model_start(m, &m->entry[i++],
						    p.now + d - 1);
				callout_model_start(m, &m->entry[i++],
						    p.now + d);
				callout_model_start(m, &m->entry[i++],
						    p.now + d + 1);
			}
			callout_model_check(m);
			/* Jump from one next_due to the next, then over the rest at once. */
			for (i = 0; m->clock < p.now + scale && i < 500; i++) {
				d = callout_model_next_due_all(m);
				callout_model_advance_all(m, max(d, m->clock));
			}
			callout_model_check(m);
			callout_model_advance_all(m, max(p.now + reach / 2,
							 m->clock));
			callout_model_check(m);
			callout_model_chase(m);
		}
	}
}

/*
 * No sum or difference of ticks overflows, up to expiries at the end of time.
 */
void callout_conform_farthest(struct callout_conform *t)
{
	struct callout_scheme_params p;
	struct callout_model *m;
	unsigned int g, e, i;
	u64 scale, now;

	for (g = 0; geometry(t, g, &p, &scale); g++) {
		if (!taken(t, g, &p))
			continue;
		for (e = 0; e < ARRAY_SIZE(epochs); e++) {
			now = epochs[e];
			p.now = now;
			m = callout_model_new(t->env, t->ops, &p, 6);
			callout_model_start(m, &m->entry[0], U64_MAX - 1);
			callout_model_start(m, &m->entry[1],
					    U64_MAX - 1 - scale);
			callout_model_start(m, &m->entry[2], now + (1ULL << 49));
			callout_model_start(m, &m->entry[3], now + 20);
			callout_model_start(m, &m->entry[4], U64_MAX - 1);
			callout_model_check(m);
			for (i = 1; i < 100; i++) {
				callout_model_next_due_all(m);
				callout_model_advance_all(m, now + i);
			}
			callout_model_check(m);
			callout_model_rearm(m, &m->entry[4], now + 110);
			callout_model_start(m, &m->entry[5], now + 120);
			callout_model_rearm(m, &m->entry[5], U64_MAX - 1);
			for (; i < 300; i++)
				callout_model_advance_all(m, now + i);
			callout_env_assert(t->env, !m->entry[4].queued &&
					   m->queued == 4,
					   "%u are left", m->queued);
			callout_model_stop(m, &m->entry[0]);
			callout_model_stop(m, &m->entry[1]);
			callout_model_check(m);
			callout_model_take_all(m);
			callout_env_assert(t->env,
					   callout_model_next_due_all(m) ==
					   U64_MAX, "not empty");
		}
	}
}

/* A callout that is moved to an earlier tick comes out at that tick. */
void callout_conform_earlier(struct callout_conform *t)
{
	struct callout_scheme_params p;
	struct callout_model *m;
	unsigned int g, i;
	u64 scale, tick;

	for (g = 0; geometry(t, g, &p, &scale); g++) {
		if (!taken(t, g, &p))
			continue;
		p.now = epochs[2];
		m = callout_model_new(t->env, t->ops, &p, EARLIER_ENTRIES);
		for (i = 0; i < EARLIER_ENTRIES; i++) {
			tick = p.now + 2 * EARLIER_ENTRIES + i;
			callout_model_start(m, &m->entry[i], tick);
			callout_model_rearm(m, &m->entry[i], tick - 1 - i % 8);
		}
		callout_model_check(m);
		for (i = 1; i <= 3 * EARLIER_ENTRIES; i++)
			callout_model_advance_all(m, p.now + i);
		callout_env_assert(t->env, !m->queued ||
				   callout_model_inexact(m->s),
				   "%u are left", m->queued);
		callout_model_check(m);
	}
}

/**
 * struct order - the entries that came out last
 * @expires: the expiry of the entries
 * @seq: the highest serial number of the entries, except lazily moved entries
 */
struct order {
	u64 expires;
	u64 seq;
};

static void many_fired(struct callout_conform *t, struct callout_model *m,
		       struct callout_model_entry *e, struct order *last)
{
	callout_env_assert(t->env, e->latest >= m->now,
			   "entry %td of %llu at %llu", e - m->entry,
			   e->expires, m->now);
	if (callout_model_inexact(m->s))
		return;
	callout_env_assert(t->env, e->expires >= last->expires,
			   "%llu after %llu", e->expires, last->expires);
	if (e->expires > last->expires)
		last->seq = 0;
	last->expires = e->expires;
	if (e->lazy || (t->ops->flags & CALLOUT_UNORDERED))
		return;
	callout_env_assert(t->env, e->seq >= last->seq, "%llu: %llu after %llu",
			   e->expires, e->seq, last->seq);
	last->seq = e->seq;
}

/*
 * The model's own search for entries that were left behind takes too long with many
 * entries. Since time stops at each next_due, an entry that was left behind comes
 * out after its time.
 */
static void many_chase(struct callout_conform *t, struct callout_model *m)
{
	struct order last = {};
	struct callout_node *c, *next;
	unsigned int left;
	LIST_HEAD(due);
	bool more;

	while (m->queued) {
		left = UINT_MAX;
		m->now = max(m->s->ops->next_due(m->s, &left), m->now + 1);
		callout_env_assert(t->env, m->now != U64_MAX,
				   "%u are left", m->queued);
		do {
			left = 64;
			more = m->s->ops->advance(m->s, m->now, &left, &due);
			list_for_each_entry_safe(c, next, &due, entry)
				many_fired(t, m,
					   callout_model_fired(m, c, m->now),
					   &last);
			INIT_LIST_HEAD(&due);
		} while (more);
	}
}

/* All of many callouts come out on time and in order. */
void callout_conform_many(struct callout_conform *t)
{
	bool wheel = t->ops->flags & CALLOUT_TAKES_BUCKETS;
	bool linear = t->ops->flags & CALLOUT_LINEAR;
	unsigned int n = t->nr_many, i;
	struct callout_scheme_params p;
	struct callout_model *m;
	u64 scale, span;

	geometry(t, 0, &p, &scale);
	p.now = epochs[2];
	if (linear && !wheel)
		n = t->nr_many_linear;
	span = 2 * n;
	/* With a bucket for each tick no callout is on an overflow list. */
	if (linear && wheel)
		p.buckets = roundup_pow_of_two(span);
	m = callout_model_new(t->env, t->ops, &p, n);
	/* Room for half of the callouts: the others are started without reserved room. */
	if (m->s->ops->reserve)
		callout_env_assert(t->env, !m->s->ops->reserve(m->s, n / 2),
				   "no room for %u", n / 2);
	for (i = 0; i < n; i++)
		callout_model_start(m, &m->entry[i], m->clock + 1 +
				    callout_test_below(&t->rng, span));
	callout_model_check(m);
	for (i = 0; i < n; i += 3)
		callout_model_stop(m, &m->entry[i]);
	for (i = 1; i < n; i += 3)
		callout_model_rearm(m, &m->entry[i], m->clock + 1 +
				    callout_test_below(&t->rng, span));
	for (i = 0; i < n; i += 6)
		callout_model_start(m, &m->entry[i], m->clock + 1 +
				    callout_test_below(&t->rng, span));
	callout_model_check(m);
	many_chase(t, m);
	callout_model_check(m);
}

static void refuse(struct callout_conform *t, const char *what,
		   const struct callout_scheme_params *p)
{
	struct callout_scheme *s = t->ops->create(p);

	if (!IS_ERR_OR_NULL(s))
		t->ops->destroy(s);
	callout_env_assert(t->env, IS_ERR(s) && PTR_ERR(s) == -EINVAL,
			   "%s: %d", what,
			   IS_ERR(s) ? (int)PTR_ERR(s) : 0);
}

/* A scheme refuses parameters that are out of range with -EINVAL. */
void callout_conform_refuses(struct callout_conform *t)
{
	struct callout_scheme_params good, p;
	unsigned int i;
	u64 scale;

	geometry(t, 0, &good, &scale);
	if (t->ops->flags & CALLOUT_TAKES_BUCKETS) {
		p = good;
		p.buckets = 0;
		refuse(t, "no buckets", &p);
		p.buckets = CALLOUT_WHEEL_MAX_BUCKETS + 1;
		refuse(t, "a bucket too many", &p);
		p.buckets = 2 * CALLOUT_WHEEL_MAX_BUCKETS;
		refuse(t, "twice too many buckets", &p);
		p.buckets = U32_MAX;
		refuse(t, "most buckets", &p);
	}
	if (t->ops->flags & CALLOUT_TAKES_LEVELS) {
		p = good;
		p.nr_levels = CALLOUT_MAX_LEVELS + 1;
		for (i = 0; i < CALLOUT_MAX_LEVELS; i++)
			p.level[i] = 16;
		refuse(t, "too many levels", &p);
		p.nr_levels = 3;
		p.level[1] = 0;
		refuse(t, "a level without slots", &p);
		p.level[1] = 1;
		refuse(t, "a level of one slot", &p);
		p.level[1] = U32_MAX;
		refuse(t, "a level with too many slots", &p);
	}
}
