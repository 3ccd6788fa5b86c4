// SPDX-License-Identifier: GPL-2.0
/*
 * hashed_wheel_paper.c - Scheme 6 as in the paper: rounds counted down
 *
 * Varghese and Lauck, section VI.A.2. An interval is divided by the number of
 * buckets: the remainder, from the current bucket on, selects the bucket, and
 * the callout keeps the quotient as its number of rounds. The list of a bucket
 * is unsorted. start and stop are O(1), except that late callouts are kept in
 * order, see ring.h. Every tick visits one bucket: callouts with no rounds left
 * are due, all others have their rounds decremented. However the hash spreads
 * them, a round decrements each callout once, so a tick costs n / buckets on
 * average, and a callout that waits for T ticks is visited T / buckets times.
 * It is the right choice for a facility that serves intervals of all lengths,
 * given memory for about as many buckets as callouts.
 *
 * hashed_wheel.c is the same scheme without the counting. This file serves for
 * comparison.
 *
 * Variants: "busy" wakes the caller at the ticks whose bucket is not empty, as
 * the chip of the paper's Appendix A does; "every_tick" at each tick while
 * any callout is queued.
 *
 * A late caller has each tick done in order. Rounds in which no callout is due are
 * skipped once a whole round has been visited: the next visit of each bucket
 * subtracts the skipped rounds too. No rounds are skipped again until every bucket
 * has had that visit, so one number, @skipped, serves for all buckets.
 *
 * A visit is in place, with a cursor that points to the next entry. New entries
 * go to the end of the list, so the visit reaches them, and their rounds are
 * counted from the current visit on.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include "first.h"
#include "ring.h"

enum { VARIANT_BUSY, VARIANT_EVERY_TICK };

/*
 * The third word of a callout is its rounds: the number of visits of its bucket
 * that leave the callout there. A visit up to tick @skipped_until subtracts
 * @skipped rounds more than the usual one.
 */
struct paper_wheel {
	struct callout_slots r;
	bool every_tick;
	u64 skipped;
	u64 skipped_until;
	struct list_head *cursor;	/* next entry of the visit, or NULL */
	u64 visited;			/* the tick of the visit */
};

static struct paper_wheel *to_paper(struct callout_scheme *s)
{
	return container_of(to_ring(s), struct paper_wheel, r);
}

/* The number of skipped rounds that the visit at a tick subtracts. */
static u64 paper_skipped(struct paper_wheel *w, u64 visit)
{
	return visit <= w->skipped_until ? w->skipped : 0;
}

/* The rounds of a callout whose bucket is next visited at @visit. */
static u64 paper_rounds(struct paper_wheel *w, u64 visit, u64 expires)
{
	return ((expires - visit) >> ilog2(w->r.mask + 1)) +
	       paper_skipped(w, visit);
}

static void paper_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			u64 expires)
{
	struct paper_wheel *w = to_paper(s);
	struct list_head *bucket = co_ring_slot(&w->r, expires);

	if (!w->cursor)
		co_ring_catch_up(&w->r, now);
	c->expires = expires;
	if (co_ring_start_late(&w->r, c))
		return;
	c->word[2] = paper_rounds(w, co_ring_visit(&w->r, expires), expires);
	co_ring_add(&w->r, c);
	if (w->cursor == bucket)
		w->cursor = &c->entry;
	w->r.laps.bound = min(w->r.laps.bound, expires);
}

static void paper_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct paper_wheel *w = to_paper(s);

	if (w->cursor == &c->entry)
		w->cursor = c->entry.next;
	co_ring_del(s, c);
}

static void paper_visit_step(struct paper_wheel *w, struct list_head *due)
{
	struct callout_node *c = list_entry(w->cursor, struct callout_node, entry);

	w->cursor = c->entry.next;
	w->r.s.visits++;
	c->word[2] -= paper_skipped(w, w->visited);
	if (c->word[2]) {
		c->word[2]--;
		w->r.laps.bound = min(w->r.laps.bound, c->expires);
	} else {
		co_ring_del(&w->r.s, c);
		co_scheme_due(c, due);
	}
}

/* Begin a visit of the next busy bucket. Return false if the budget ran out. */
static bool paper_visit_begin(struct paper_wheel *w, u64 now,
			      unsigned int *budget)
{
	u64 skipped = co_ring_skip(&w->r, now);

	if (skipped) {
		w->skipped = skipped;
		w->skipped_until = w->r.time + w->r.mask + 1;
	}
	if (!co_ring_find(&w->r, now, budget))
		return false;
	if (w->r.next > now) {
		co_ring_set_time(&w->r, now);
		return true;
	}
	if (!co_spend(budget))
		return false;
	co_ring_set_time(&w->r, w->r.next - 1);
	w->visited = w->r.next;
	w->cursor = co_ring_slot(&w->r, w->visited)->next;
	return true;
}

static bool paper_advance(struct callout_scheme *s, u64 now,
			  unsigned int *budget, struct list_head *due)
{
	struct paper_wheel *w = to_paper(s);

	for (;;) {
		if (co_ring_advance_late(&w->r, budget, due))
			return true;
		if (!w->cursor) {
			if (!paper_visit_begin(w, now, budget))
				return true;
			if (!w->cursor)
				return false;
		}
		while (w->cursor != co_ring_slot(&w->r, w->visited)) {
			if (!co_spend(budget))
				return true;
			paper_visit_step(w, due);
		}
		w->cursor = NULL;
		co_ring_set_time(&w->r, w->visited);
	}
}

static u64 paper_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct paper_wheel *w = to_paper(s);

	if (w->every_tick && list_empty(&w->r.late) && w->r.nr)
		return w->r.time + 1;
	return co_ring_next_due(s, budget);
}

/* Check every invariant of the head comment. */
static int paper_check(struct callout_scheme *s)
{
	struct paper_wheel *w = to_paper(s);
	int ret = co_ring_check(&w->r);
	bool cursor_seen = !w->cursor;
	struct list_head *bucket;
	struct callout_node *c;
	unsigned int i;
	u64 visit;

	for (i = 0; !ret && i <= w->r.mask; i++) {
		bucket = &w->r.slot[i];
		visit = co_ring_visit(&w->r, i);
		/* Entries before the cursor have been visited. */
		if (w->cursor && bucket == co_ring_slot(&w->r, w->visited))
			visit += w->r.mask + 1;
		list_for_each_entry(c, bucket, entry) {
			if (&c->entry == w->cursor) {
				cursor_seen = true;
				visit = w->visited;
			}
			if (c->word[2] != paper_rounds(w, visit, c->expires))
				return 10;
			if (w->r.time - w->r.laps.since > w->r.mask &&
			    c->expires < w->r.laps.bound)
				return 11;
		}
		if (w->cursor == bucket)
			cursor_seen = true;
	}
	if (!ret && !cursor_seen)
		return 12;
	return ret;
}

static struct callout_scheme *
paper_create(const struct callout_scheme_params *p)
{
	struct callout_scheme *s;

	s = co_ring_create(&callout_hashed_wheel_paper, p,
			   sizeof(struct paper_wheel));
	if (!IS_ERR(s))
		to_paper(s)->every_tick = p->variant == VARIANT_EVERY_TICK;
	return s;
}

const struct callout_scheme_ops callout_hashed_wheel_paper = {
	.name		= "hashed_wheel_paper",
	.variants	= (const char *const []){
		[VARIANT_BUSY] = "busy", [VARIANT_EVERY_TICK] = "every_tick", NULL
	},
	.flags		= CALLOUT_TAKES_BUCKETS,
	.create		= paper_create,
	.destroy	= co_scheme_free,
	.start		= paper_start,
	.stop		= paper_stop,
	.advance	= paper_advance,
	.next_due	= paper_next_due,
	.take		= co_ring_take,
	.check		= paper_check,
};
