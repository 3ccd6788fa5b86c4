// SPDX-License-Identifier: GPL-2.0
/*
 * model.c - a scheme beside a reference model that is too simple to be wrong
 *
 * The model is an array of expiries and serial numbers, searched from end to
 * end. Each operation is done to the scheme and to the model, and whatever
 * the scheme answers is compared. The first difference aborts the case.
 *
 * What must hold, whatever happens between two budgeted calls:
 *
 *  - advance moves only what is due at its time, all of it by the time it
 *    returns false, and never uses more units than it was given. A scheme that
 *    is late by design may leave an entry for as long as it says;
 *  - in order of expiry. Only what is filed for a time that has come already
 *    can come out after later ones. In a strict model that is filed during an
 *    advance, and the later ones are all of one tick, the tick that was being
 *    walked, or were filed in this way themselves;
 *  - in order of filing among equals, but for those that were moved to a
 *    later time, and for schemes that say that they have no order or are late;
 *  - next_due is a lower bound; with budget left it is U64_MAX if and only if
 *    the scheme is empty;
 *  - find names the first to expire of those that match, the first filed among
 *    equals.
 */
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include "model.h"

#define model_assert(m, cond, fmt, ...)	\
	callout_env_assert((m)->env, cond, fmt, ##__VA_ARGS__)

/* Enough for a next_due that looks at everything in one call. */
#define NEXT_DUE_BUDGET	(1U << 30)

/**
 * callout_model_new - makes an empty scheme and an empty model
 * @env: the environment's; frees them when the case ends
 * @ops: the scheme
 * @params: for its create; the model's time is @params->now
 * @nr_entries: how many callouts there are to play with
 *
 * Return: the model; the case ends if there is no memory or no scheme.
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
		m->entry[i].c.arg = (void *)(uintptr_t)(i % CALLOUT_MODEL_KEYS);
	m->s = ops->create(params);
	model_assert(m, !IS_ERR_OR_NULL(m->s), "create: %d",
		     (int)PTR_ERR(m->s));
	return m;
}

/**
 * callout_model_free - frees a model and its scheme
 * @m: the model
 */
void callout_model_free(struct callout_model *m)
{
	if (!IS_ERR_OR_NULL(m->s))
		m->s->ops->destroy(m->s);
	kvfree(m->entry);
	kvfree(m);
}

static void model_filed(struct callout_model *m, struct callout_model_entry *e,
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

/* By when advance must have something to do; U64_MAX if nothing is queued. */
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

/**
 * callout_model_start - starts an entry
 * @m: the model
 * @e: the entry, not queued
 * @expires: when it is due
 */
void callout_model_start(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires)
{
	model_assert(m, !e->queued, "a mistake of the case");
	e->c.state = CALLOUT_S_PENDING;
	m->s->ops->start(m->s, &e->c, m->clock, expires);
	model_filed(m, e, expires);
	e->queued = true;
	m->queued++;
}

static void model_out(struct callout_model *m, struct callout_model_entry *e)
{
	e->c.state = 0;
	e->queued = false;
	m->queued--;
}

/**
 * callout_model_stop - stops an entry
 * @m: the model
 * @e: the entry, queued
 */
void callout_model_stop(struct callout_model *m, struct callout_model_entry *e)
{
	model_assert(m, e->queued, "a mistake of the case");
	m->s->ops->stop(m->s, &e->c);
	model_out(m, e);
}

/**
 * callout_model_rearm - moves an entry
 * @m: the model
 * @e: the entry, queued
 * @expires: when it is due from now on
 */
void callout_model_rearm(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires)
{
	bool lazy = expires >= e->expires;

	model_assert(m, e->queued, "a mistake of the case");
	m->s->ops->rearm(m->s, &e->c, m->clock, expires);
	model_filed(m, e, expires);
	e->lazy = lazy;
}

/* What a call with a budget has used of it; @more: it is to be called again. */
static void model_spent(struct callout_model *m, unsigned int budget,
			unsigned int left, bool more)
{
	model_assert(m, left <= budget, "used %u units of %u", budget - left,
		     budget);
	model_assert(m, !more || left < (m->strict ? 1 : CALLOUT_MIN_BUDGET),
		     "stopped short of its budget, by %u units", left);
}

/* Is the scheme, or this variant of it, late by design? */
bool callout_model_inexact(struct callout_scheme *s)
{
	return s->ops->late && s->ops->late(s, U64_MAX / 2);
}

/* Of two with one expiry, may @e come out while @f stays? */
static bool model_before(struct callout_model *m, struct callout_model_entry *e,
			 struct callout_model_entry *f)
{
	return e->seq < f->seq || e->lazy || f->lazy ||
	       callout_model_inexact(m->s) ||
	       (m->s->ops->flags & CALLOUT_UNORDERED);
}

/* @e comes out before @f, which is to be out by an earlier tick. */
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

/* @e comes out: of those that stay none should have come before it. */
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

/**
 * callout_model_fired - what must hold of any entry that advance moves
 * @m: the model
 * @c: what was moved
 * @now: the time given to advance
 *
 * Return: the entry.
 */
struct callout_model_entry *
callout_model_fired(struct callout_model *m, struct callout *c, u64 now)
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

/**
 * callout_model_advance - one call of advance
 * @m: the model
 * @now: the time
 * @budget: for this call
 *
 * Return: what advance returns: true if it is to be called again.
 */
bool callout_model_advance(struct callout_model *m, u64 now,
			   unsigned int budget)
{
	struct callout_model_entry *e;
	unsigned int left = budget;
	struct callout *c, *next;
	LIST_HEAD(due);
	bool more;

	model_assert(m, now >= m->clock, "a mistake of the case");
	more = m->s->ops->advance(m->s, now, &left, &due);
	m->now = now;
	m->clock = now;
	model_spent(m, budget, left, more);
	list_for_each_entry_safe(c, next, &due, entry)
		model_order(m, callout_model_fired(m, c, now));
	m->advancing = more;
	if (!more)
		for (e = m->entry; e < m->entry + m->nr_entries; e++)
			model_assert(m, !e->queued || e->latest > now,
				     "entry %td of %llu is left behind at %llu",
				     e - m->entry, e->expires, now);
	return more;
}

/**
 * callout_model_advance_all - advance with the least budget until it is done
 * @m: the model
 * @now: the time
 *
 * Return: units used, rounded up.
 */
unsigned int callout_model_advance_all(struct callout_model *m, u64 now)
{
	unsigned int calls = 1, limit;

	/* All entries may be looked at, one by one, for each that is due. */
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

/**
 * callout_model_next_due - one call of next_due
 * @m: the model
 * @budget: for this call
 *
 * Return: what it returns.
 */
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

/**
 * callout_model_next_due_all - next_due until it has looked at everything
 * @m: the model
 *
 * Return: what it returns in the end.
 */
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

/**
 * callout_model_take - one call of take
 * @m: the model
 * @budget: for this call
 *
 * Return: what take returns: true if it is to be called again.
 */
bool callout_model_take(struct callout_model *m, unsigned int budget)
{
	struct callout_model_entry *e;
	struct callout *c, *next;
	unsigned int left = budget;
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
	model_assert(m, more || !m->queued, "%u are left", m->queued);
	return more;
}

/**
 * callout_model_take_all - take with the least budget until it is done
 * @m: the model
 */
void callout_model_take_all(struct callout_model *m)
{
	unsigned int calls = 1, limit = 1000 + m->nr_entries;

	while (callout_model_take(m, CALLOUT_MIN_BUDGET)) {
		model_assert(m, calls++ < limit, "take gets no further");
		callout_model_check(m);
	}
}

static bool model_matches(struct callout *c, const void *data)
{
	return c->arg == data;
}

/**
 * callout_model_find - find, if the scheme has it
 * @m: the model
 * @key: the entries' arg that it is to look for
 */
void callout_model_find(struct callout_model *m, unsigned int key)
{
	void *arg = (void *)(uintptr_t)key;
	struct callout_model_entry *e, *f;
	struct callout *c;

	if (!m->s->ops->find)
		return;
	c = m->s->ops->find(m->s, model_matches, arg);
	e = c ? container_of(c, struct callout_model_entry, c) : NULL;
	model_assert(m, !e || (e->queued && e->c.arg == arg),
		     "entry %td for %u", e - m->entry, key);
	for (f = m->entry; f < m->entry + m->nr_entries; f++) {
		if (!f->queued || f == e || f->c.arg != arg)
			continue;
		model_assert(m, e, "entry %td is not found", f - m->entry);
		model_assert(m, e->expires < f->expires ||
			     (e->expires == f->expires && model_before(m, e, f)),
			     "entry %td of %llu before %td of %llu",
			     e - m->entry, e->expires, f - m->entry,
			     f->expires);
	}
}

/**
 * callout_model_chase - goes from one next_due to the next until empty
 * @m: the model
 *
 * This is what an idle CPU does. If next_due ever skipped an expiry, or did
 * not move on, this sees it.
 *
 * Return: wake-ups at which nothing was due.
 */
unsigned int callout_model_chase(struct callout_model *m)
{
	unsigned int wakeups = 0, limit, wrong = 0;
	u64 due, fired;

	/* Each tick with a callout, and each bucket with too low a bound. */
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

/**
 * callout_model_check - the scheme's own check of its invariants
 * @m: the model
 */
void callout_model_check(struct callout_model *m)
{
	int ret = m->s->ops->check(m->s);

	model_assert(m, !ret, "invariant %d", ret);
}
