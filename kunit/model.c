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
 *  - advance moves exactly what is due at its time, all of it by the time it
 *    returns false, and never uses more units than it was given;
 *  - in order of expiry. Only what is filed during an advance, for a time
 *    that the advance may have passed already, can come out after later ones.
 *    Those are then all of one tick, the tick that was being walked, or were
 *    filed in this way themselves;
 *  - in order of filing among equals, but for those that were moved to a
 *    later time;
 *  - next_due is a lower bound; with budget left it is U64_MAX if and only if
 *    the scheme is empty.
 */
#include "model.h"

#define model_assert(m, cond, fmt, ...)					\
do {									\
	if (unlikely(!(cond)))						\
		KUNIT_FAIL_AND_ABORT((m)->test, "%s: " fmt, #cond,	\
				     ##__VA_ARGS__);			\
} while (0)

static void model_destroy(void *data)
{
	struct callout_scheme *s = data;

	s->ops->destroy(s);
}

/**
 * callout_model_create - makes an empty hashed wheel and an empty model
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

	m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m);
	m->test = test;
	m->nr_entries = nr_entries;
	m->entry = kunit_kcalloc(test, nr_entries, sizeof(*m->entry),
				 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->entry);
	m->s = callout_hashed_wheel.create(&params);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m->s);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, model_destroy, m->s));
	return m;
}

static void model_filed(struct callout_model *m, struct callout_model_entry *e,
			u64 expires)
{
	e->expires = expires;
	e->seq = m->seq++;
	e->lazy = false;
	e->late = m->advancing && expires <= m->now;
	e->overtaken_by = 0;
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
	m->s->ops->start(m->s, &e->c, m->now, expires);
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
	m->s->ops->rearm(m->s, &e->c, m->now, expires);
	model_filed(m, e, expires);
	e->lazy = lazy;
}

static void model_fired(struct callout_model *m, struct callout_model_entry *e,
			u64 now)
{
	struct callout_model_entry *f;

	model_assert(m, e->queued, "entry %td comes out twice, or was stopped",
		     e - m->entry);
	model_assert(m, e->c.state == (CALLOUT_S_PENDING | CALLOUT_S_DUE),
		     "entry %td", e - m->entry);
	model_assert(m, e->c.expires == e->expires, "entry %td: %llu, %llu",
		     e - m->entry, e->c.expires, e->expires);
	model_assert(m, e->expires <= now, "entry %td: %llu is early at %llu",
		     e - m->entry, e->expires, now);
	for (f = m->entry; f < m->entry + m->nr_entries; f++) {
		if (!f->queued || f->expires > e->expires || f == e)
			continue;
		if (f->expires == e->expires) {
			model_assert(m, f->seq > e->seq || f->lazy || e->lazy,
				     "entry %td before %td, both of %llu",
				     e - m->entry, f - m->entry, e->expires);
			continue;
		}
		model_assert(m, f->late, "entry %td of %llu before %td of %llu",
			     e - m->entry, e->expires, f - m->entry,
			     f->expires);
		if (e->late)
			continue;
		model_assert(m, !f->overtaken_by ||
			     f->overtaken_by == e->expires,
			     "entry %td of %llu after %llu and %llu",
			     f - m->entry, f->expires, f->overtaken_by,
			     e->expires);
		f->overtaken_by = e->expires;
	}
	model_out(m, e);
	m->fired++;
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
	unsigned int left = budget;
	struct callout *c, *next;
	LIST_HEAD(due);
	bool more;

	more = m->s->ops->advance(m->s, now, &left, &due);
	m->now = now;
	model_assert(m, left <= budget, "used %u units of %u", budget - left,
		     budget);
	model_assert(m, !more || !left, "stopped short of its budget");
	list_for_each_entry_safe(c, next, &due, entry)
		model_fired(m, container_of(c, struct callout_model_entry, c),
			    now);
	m->advancing = more;
	if (!more)
		model_assert(m, callout_model_min(m) > now,
			     "%llu is left behind at %llu",
			     callout_model_min(m), now);
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

	/* A bucket may be walked once for each tick, and then entry by entry. */
	limit = 1000 + m->nr_entries * (m->nr_entries + 16);
	while (callout_model_advance(m, now, CALLOUT_MIN_BUDGET))
		model_assert(m, calls++ < limit, "advance gets no further");
	return calls * CALLOUT_MIN_BUDGET;
}

/**
 * callout_model_min - the earliest expiry of all that are queued
 * @m: the model
 *
 * Return: that, or U64_MAX if nothing is queued.
 */
u64 callout_model_min(struct callout_model *m)
{
	struct callout_model_entry *e;
	u64 lowest = U64_MAX;

	for (e = m->entry; e < m->entry + m->nr_entries; e++)
		if (e->queued && e->expires < lowest)
			lowest = e->expires;
	return lowest;
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
	model_assert(m, left <= budget, "used %u units of %u", budget - left,
		     budget);
	model_assert(m, due <= callout_model_min(m), "%llu, but %llu is queued",
		     due, callout_model_min(m));
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
		left = CALLOUT_MIN_BUDGET;
		due = m->s->ops->next_due(m->s, &left);
	} while (!left);
	model_assert(m, due <= callout_model_min(m), "%llu, but %llu is queued",
		     due, callout_model_min(m));
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
	model_assert(m, left <= budget, "used %u units of %u", budget - left,
		     budget);
	model_assert(m, !more || !left, "stopped short of its budget");
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
	limit = 2 * m->queued + 2;
	if (m->advancing)
		callout_model_advance_all(m, m->now);
	while ((due = callout_model_next_due_all(m)) != U64_MAX) {
		model_assert(m, wakeups++ < limit, "woken too often");
		fired = m->fired;
		callout_model_advance_all(m, max(due, m->now));
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
