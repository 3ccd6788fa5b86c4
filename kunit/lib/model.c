// SPDX-License-Identifier: GPL-2.0
/*
 * model.c - a scheme and a reference model that is too simple to be wrong
 *
 * The model is an array of expiries and serial numbers, searched from end to
 * end. Each operation is done to the scheme and to the model, and the results
 * are compared. The first difference aborts the case.
 *
 * Invariants, with any operations between two budgeted calls:
 *
 *  - advance moves due entries only, all of them by the time it returns false, and uses no
 *    more units than its budget: one unit for each entry that it moves, as take does, and
 *    in a strict model one for each entry that it looks at. A scheme that is late by design
 *    may keep an entry for as long as its late() says;
 *  - entries come out in order of expiry. Only an entry that was queued late, for a time
 *    that had come, can come out after later entries. In a strict model it was queued
 *    during an advance, and the later entries all belong to the tick that was being walked,
 *    or were queued late themselves;
 *  - among equals entries come out in order of queueing, except entries that were moved to
 *    a later time, and schemes that are unordered or late;
 *  - next_due is a lower bound; with budget left it is U64_MAX if and only if
 *    the scheme is empty;
 *  - a hashed wheel of another size, to which its entries move a portion at a
 *    time, keeps all of this;
 *  - find returns the first match to expire, the first queued
 *    among equals.
 */
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/numa.h>
#include <linux/slab.h>
#include "model.h"
#include "wheel/hashed_wheel.h"

#define model_assert(m, cond, fmt, ...)	\
	callout_env_assert((m)->env, cond, fmt, ##__VA_ARGS__)

/* A budget for a next_due that looks at everything in one call. */
#define NEXT_DUE_BUDGET	(1U << 30)

/*
 * Create an empty scheme and its model, with @nr_entries callouts at time
 * @params->now. @env frees both when the case ends.
 */
struct callout_model *
callout_model_new(void *env, const struct callout_scheme_ops *ops,
		  const struct callout_scheme_params *params,
		  unsigned int nr_entries)
{
	struct callout_model *m;
	unsigned int i;

	m = kvzalloc(sizeof(*m), GFP_KERNEL);
	callout_env_assert(env, m, "no memory");
	callout_env_keep(env, m);
	m->env = env;
	m->nr_entries = nr_entries;
	m->now = params->now;
	m->clock = params->now;
	m->entry = kvcalloc(nr_entries, sizeof(*m->entry), GFP_KERNEL);
	model_assert(m, m->entry, "no memory");
	for (i = 0; i < nr_entries; i++)
		m->entry[i].key = i % CALLOUT_MODEL_KEYS;
	m->s = ops->create(params);
	model_assert(m, !IS_ERR_OR_NULL(m->s), "create: %d",
		     (int)PTR_ERR(m->s));
	return m;
}

void callout_model_free(struct callout_model *m)
{
	if (!IS_ERR_OR_NULL(m->s))
		m->s->ops->destroy(m->s);
	kvfree(m->entry);
	kvfree(m);
}

static void model_queued(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires)
{
	u64 interval = expires > m->clock ? expires - m->clock : 0;
	u64 late = m->s->ops->late ? m->s->ops->late(m->s, interval) : 0;

	e->expires = expires;
	e->latest = late < U64_MAX - expires ? expires + late : U64_MAX - 1;
	e->seq = m->seq++;
	e->lazy = false;
	if (m->strict)
		e->late = m->advancing && expires <= m->now;
	else
		e->late = expires <= m->clock;
	e->overtaken_by = 0;
}

/* The latest time for the next wake-up; U64_MAX if nothing is queued. */
static u64 model_bound(struct callout_model *m)
{
	struct callout_model_entry *e;
	u64 lowest = U64_MAX, latest;

	for (e = m->entry; e < m->entry + m->nr_entries; e++) {
		if (!e->queued)
			continue;
		latest = e->latest;
		if (e->late && !m->strict)
			latest = max(latest, m->clock);
		lowest = min(lowest, latest);
	}
	return lowest;
}

void callout_model_start(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires)
{
	model_assert(m, !e->queued, "a mistake of the case");
	e->c.state = CALLOUT_S_PENDING;
	m->s->ops->start(m->s, &e->c, m->clock, expires);
	model_queued(m, e, expires);
	e->queued = true;
	m->queued++;
}

static void model_out(struct callout_model *m, struct callout_model_entry *e)
{
	e->c.state = 0;
	e->queued = false;
	m->queued--;
}

void callout_model_stop(struct callout_model *m, struct callout_model_entry *e)
{
	model_assert(m, e->queued, "a mistake of the case");
	m->s->ops->stop(m->s, &e->c);
	model_out(m, e);
}

void callout_model_rearm(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires)
{
	bool lazy = expires >= e->expires;

	model_assert(m, e->queued, "a mistake of the case");
	co_scheme_move(m->s, &e->c, m->clock, expires);
	model_queued(m, e, expires);
	e->lazy = lazy;
}

/* Check the budget that a call has used. @more: the call must be repeated. */
static void model_spent(struct callout_model *m, unsigned int budget,
			unsigned int left, bool more)
{
	model_assert(m, left <= budget, "used %u units of %u", budget - left,
		     budget);
	model_assert(m, !more || left < (m->strict ? 1 : CALLOUT_MIN_BUDGET),
		     "stopped short of its budget, by %u units", left);
}

/* Check that a call has accounted for its work, at least @done units. */
static void model_paid(struct callout_model *m, unsigned int spent, u64 done)
{
	model_assert(m, done <= spent, "did %llu units and says %u", done, spent);
}

/* Is the scheme, in this variant, late by design? */
bool callout_model_inexact(struct callout_scheme *s)
{
	return s->ops->late && s->ops->late(s, U64_MAX / 2);
}

/* May @e come out before @f, which has the same expiry? */
static bool model_before(struct callout_model *m, struct callout_model_entry *e,
			 struct callout_model_entry *f)
{
	return e->seq < f->seq || e->lazy || f->lazy ||
	       callout_model_inexact(m->s) ||
	       (m->s->ops->flags & CALLOUT_UNORDERED);
}

/* @e comes out before @f, which is due at an earlier tick. */
static void model_overtakes(struct callout_model *m,
			    struct callout_model_entry *e,
			    struct callout_model_entry *f)
{
	model_assert(m, f->late, "entry %td of %llu before %td of %llu",
		     e - m->entry, e->expires, f - m->entry, f->expires);
	if (e->late || !m->strict)
		return;
	model_assert(m, !f->overtaken_by || f->overtaken_by == e->expires,
		     "entry %td of %llu after %llu and %llu",
		     f - m->entry, f->expires, f->overtaken_by, e->expires);
	f->overtaken_by = e->expires;
}

/* Check that no queued entry should have come out before @e. */
static void model_order(struct callout_model *m, struct callout_model_entry *e)
{
	struct callout_model_entry *f;

	for (f = m->entry; f < m->entry + m->nr_entries; f++) {
		if (!f->queued || f == e)
			continue;
		if (f->expires == e->expires)
			model_assert(m, model_before(m, e, f),
				     "entry %td before %td, both of %llu",
				     e - m->entry, f - m->entry, e->expires);
		else if (f->latest < e->expires)
			model_overtakes(m, e, f);
	}
}

/* Check an entry that advance has moved at @now, and return it. */
struct callout_model_entry *
callout_model_fired(struct callout_model *m, struct callout_node *c, u64 now)
{
	struct callout_model_entry *e;

	e = container_of(c, struct callout_model_entry, c);
	model_assert(m, e->queued, "entry %td comes out twice, or was stopped",
		     e - m->entry);
	model_assert(m, c->state == (CALLOUT_S_PENDING | CALLOUT_S_DUE),
		     "entry %td", e - m->entry);
	model_assert(m, c->expires == e->expires, "entry %td: %llu, %llu",
		     e - m->entry, c->expires, e->expires);
	model_assert(m, e->expires <= now, "entry %td: %llu is early at %llu",
		     e - m->entry, e->expires, now);
	model_out(m, e);
	m->fired++;
	return e;
}

/* One call of advance. Return true if it must be called again. */
bool callout_model_advance(struct callout_model *m, u64 now,
			   unsigned int budget)
{
	unsigned int left = budget, before = m->fired;
	struct callout_model_entry *e;
	struct callout_node *c, *next;
	u64 visits = m->s->visits;
	LIST_HEAD(due);
	bool more;

	model_assert(m, now >= m->clock, "a mistake of the case");
	more = m->s->ops->advance(m->s, now, &left, &due);
	m->now = now;
	m->clock = now;
	model_spent(m, budget, left, more);
	list_for_each_entry_safe(c, next, &due, entry)
		model_order(m, callout_model_fired(m, c, now));
	model_paid(m, budget - left, m->fired - before);
	if (m->strict)
		model_paid(m, budget - left, m->s->visits - visits);
	m->advancing = more;
	if (!more)
		for (e = m->entry; e < m->entry + m->nr_entries; e++)
			model_assert(m, !e->queued || e->latest > now,
				     "entry %td of %llu is left behind at %llu",
				     e - m->entry, e->expires, now);
	return more;
}

/* Advance with the least budget until done. Return units used, rounded up. */
unsigned int callout_model_advance_all(struct callout_model *m, u64 now)
{
	unsigned int calls = 1, limit;

	/* For each due entry all other entries may be visited, one by one. */
	limit = 10000 + m->nr_entries * (m->nr_entries + 16);
	while (callout_model_advance(m, now, CALLOUT_MIN_BUDGET))
		model_assert(m, calls++ < limit, "advance gets no further");
	return calls * CALLOUT_MIN_BUDGET;
}

static void model_next_due(struct callout_model *m, u64 due)
{
	model_assert(m, due <= model_bound(m), "%llu, but %llu is queued",
		     due, model_bound(m));
}

/* One call of next_due. */
u64 callout_model_next_due(struct callout_model *m, unsigned int budget)
{
	unsigned int left = budget;
	u64 due;

	due = m->s->ops->next_due(m->s, &left);
	model_spent(m, budget, left, false);
	model_next_due(m, due);
	if (left)
		model_assert(m, (due == U64_MAX) == !m->queued,
			     "%llu with %u queued", due, m->queued);
	return due;
}

/* Call next_due until it has budget left, and return its last result. */
u64 callout_model_next_due_all(struct callout_model *m)
{
	unsigned int calls = 0, left;
	u64 due;

	do {
		model_assert(m, calls++ < 100000, "next_due gets no further");
		left = m->strict ? CALLOUT_MIN_BUDGET : NEXT_DUE_BUDGET;
		due = m->s->ops->next_due(m->s, &left);
	} while (!left);
	model_next_due(m, due);
	model_assert(m, (due == U64_MAX) == !m->queued, "%llu with %u queued",
		     due, m->queued);
	return due;
}

/* One call of take. Return true if it must be called again. */
bool callout_model_take(struct callout_model *m, unsigned int budget)
{
	unsigned int left = budget, before = m->queued;
	struct callout_model_entry *e;
	struct callout_node *c, *next;
	LIST_HEAD(out);
	bool more;

	more = m->s->ops->take(m->s, &left, &out);
	model_spent(m, budget, left, more);
	list_for_each_entry_safe(c, next, &out, entry) {
		e = container_of(c, struct callout_model_entry, c);
		model_assert(m, e->queued, "entry %td comes out twice",
			     e - m->entry);
		model_assert(m, c->state == CALLOUT_S_PENDING, "entry %td",
			     e - m->entry);
		model_assert(m, c->expires == e->expires, "entry %td",
			     e - m->entry);
		model_out(m, e);
	}
	model_paid(m, budget - left, before - m->queued);
	model_assert(m, more || !m->queued, "%u are left", m->queued);
	return more;
}

/* Take with the least budget until done. */
void callout_model_take_all(struct callout_model *m)
{
	unsigned int calls = 1, limit = 1000 + m->nr_entries;

	while (callout_model_take(m, CALLOUT_MIN_BUDGET)) {
		model_assert(m, calls++ < limit, "take gets no further");
		callout_model_check(m);
	}
}

/* Give a hashed wheel whose entries are not moving another size. Without memory nothing changes. */
void callout_model_resize(struct callout_model *m, unsigned int buckets)
{
	struct callout_ring ring;

	if (!co_ring_alloc(&ring, buckets, NUMA_NO_NODE, GFP_KERNEL))
		co_wheel_resize(to_wheel(m->s), &ring);
}

/* Move some entries to the new ring. Return true if there are more. */
bool callout_model_move(struct callout_model *m, unsigned int budget)
{
	struct callout_wheel *w = to_wheel(m->s);
	unsigned int left = budget;
	struct callout_ring old;
	bool more;

	more = co_wheel_move(w, &left);
	model_spent(m, budget, left, more);
	if (!more) {
		co_wheel_moved(w, &old);
		co_ring_free(&old);
	}
	return more;
}

static bool model_matches(struct callout_node *c, const void *data)
{
	return container_of(c, struct callout_model_entry, c)->key ==
	       *(const unsigned int *)data;
}

/* Find an entry whose arg is @key, if the scheme has find. */
void callout_model_find(struct callout_model *m, unsigned int key)
{
	struct callout_model_entry *e, *f;
	struct callout_node *c;

	if (!m->s->ops->find)
		return;
	c = m->s->ops->find(m->s, model_matches, &key);
	e = c ? container_of(c, struct callout_model_entry, c) : NULL;
	model_assert(m, !e || (e->queued && e->key == key),
		     "entry %td for %u", e - m->entry, key);
	for (f = m->entry; f < m->entry + m->nr_entries; f++) {
		if (!f->queued || f == e || f->key != key)
			continue;
		model_assert(m, e, "entry %td is not found", f - m->entry);
		model_assert(m, e->expires < f->expires ||
			     (e->expires == f->expires && model_before(m, e, f)),
			     "entry %td of %llu before %td of %llu",
			     e - m->entry, e->expires, f - m->entry,
			     f->expires);
	}
}

/*
 * Advance from one next_due to the next until empty, as an idle CPU does: next_due
 * skips no expiry and makes progress. Return the spurious wake-ups.
 */
unsigned int callout_model_chase(struct callout_model *m)
{
	unsigned int wakeups = 0, limit, wrong = 0;
	u64 due, fired;

	/* One for each tick with a callout, and one for each bucket whose bound is too low. */
	limit = m->strict ? 2 * m->queued + 2 : 1U << 20;
	if (m->advancing)
		callout_model_advance_all(m, m->clock);
	while ((due = callout_model_next_due_all(m)) != U64_MAX) {
		model_assert(m, wakeups++ < limit, "woken too often");
		fired = m->fired;
		callout_model_advance_all(m, max(due, m->clock));
		wrong += m->fired == fired;
	}
	model_assert(m, !m->queued, "%u are left", m->queued);
	return wrong;
}

/* Run the scheme's own check of its invariants. */
void callout_model_check(struct callout_model *m)
{
	int ret = m->s->ops->check(m->s);

	model_assert(m, !ret, "invariant %d", ret);
}
