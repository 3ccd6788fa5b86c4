// SPDX-License-Identifier: GPL-2.0
/*
 * unsorted_list.c - Scheme 1: every tick looks at every callout
 *
 * Varghese and Lauck, section III.A. start and stop are O(1) and as fast as
 * possible; a tick is O(n), and no memory is needed besides the callouts. It is
 * the right choice for a few callouts, for callouts that are nearly all stopped
 * within a few ticks, and where dedicated hardware does the work of a tick, as
 * in common timer chips.
 *
 * Variants: "decrement", the paper's, keeps the ticks left in each callout and
 * subtracts the ticks that have passed; "compare" compares its expiry with the
 * time.
 *
 * A pass over the list is for one tick, and callouts due at that tick leave in the
 * order of the list, which is the order of queueing. A pass also finds the earliest
 * expiry of the callouts that stay. start lowers this expiry, so it is a bound at
 * all times. When several ticks have passed, the next pass is for the bound, or for
 * the present if the bound is in the future: callouts become due in order of
 * expiry, and a jump costs a pass for each tick with a callout, and one more.
 * next_due is the bound.
 *
 * During a pass a cursor points to the next entry. Entries before the cursor have
 * been decremented, the others have not. New entries go to the end, so the pass
 * reaches them.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include "first.h"

enum { VARIANT_DECREMENT, VARIANT_COMPARE };

/*
 * With @decrement, the third word of a callout is the number of ticks from @time to
 * the callout's expiry. If the current pass has seen the callout, it counts from
 * the time at which the pass ends.
 */
struct unsorted_list {
	struct callout_scheme s;
	struct list_head head;		/* in order of queueing */
	bool decrement;
	struct list_head *cursor;	/* next entry of the pass, or NULL */
	u64 time;			/* the tick of the last complete pass */
	u64 bound;			/* at most any expiry */
	u64 pass_tick;			/* the tick that the pass is for */
	u64 pass_ticks;			/* ticks that it subtracts */
	u64 pass_bound;			/* earliest expiry that the pass has left */
};

static struct unsorted_list *to_list(struct callout_scheme *s)
{
	return container_of(s, struct unsorted_list, s);
}

static void unsorted_start(struct callout_scheme *s, struct callout_node *c,
			   u64 now, u64 expires)
{
	struct unsorted_list *l = to_list(s);

	c->expires = expires;
	/* Negative if @expires has passed. */
	if (l->decrement)
		c->word[2] = expires - l->time;
	list_add_tail(&c->entry, &l->head);
	if (l->cursor == &l->head)
		l->cursor = &c->entry;
	if (expires < l->bound)
		l->bound = expires;
}

static void unsorted_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct unsorted_list *l = to_list(s);

	if (l->cursor == &c->entry)
		l->cursor = c->entry.next;
	__list_del_entry(&c->entry);
}

static void unsorted_pass_begin(struct unsorted_list *l, u64 now)
{
	l->pass_tick = min(l->bound, now);
	l->pass_ticks = l->pass_tick - min(l->pass_tick, l->time);
	l->pass_bound = U64_MAX;
	l->cursor = l->head.next;
}

static void unsorted_pass_end(struct unsorted_list *l)
{
	l->cursor = NULL;
	l->time += l->pass_ticks;
	l->bound = l->pass_bound;
}

static void unsorted_pass_step(struct unsorted_list *l, struct list_head *due)
{
	struct callout_node *c = list_entry(l->cursor, struct callout_node, entry);
	u64 expires = c->expires;

	l->cursor = c->entry.next;
	l->s.visits++;
	if (l->decrement) {
		c->word[2] -= l->pass_ticks;
		expires = l->time + l->pass_ticks + c->word[2];
	}
	if (expires <= l->pass_tick) {
		__list_del_entry(&c->entry);
		co_scheme_due(c, due);
	} else if (expires < l->pass_bound) {
		l->pass_bound = expires;
	}
}

static bool unsorted_advance(struct callout_scheme *s, u64 now,
			     unsigned int *budget, struct list_head *due)
{
	struct unsorted_list *l = to_list(s);

	for (;;) {
		if (!l->cursor) {
			if (list_empty(&l->head)) {
				l->time = now;
				l->bound = U64_MAX;
			}
			if (l->time >= now && l->bound > now)
				return false;
			unsorted_pass_begin(l, now);
		}
		while (l->cursor != &l->head) {
			if (!co_spend(budget))
				return true;
			unsorted_pass_step(l, due);
		}
		unsorted_pass_end(l);
	}
}

static u64 unsorted_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct unsorted_list *l = to_list(s);

	return list_empty(&l->head) ? U64_MAX : l->bound;
}

static bool unsorted_take(struct callout_scheme *s, unsigned int *budget,
			  struct list_head *out)
{
	return co_scheme_take_list(s, &to_list(s)->head, budget, out);
}

/* Check every invariant of the head comment. */
static int unsorted_check(struct callout_scheme *s)
{
	struct unsorted_list *l = to_list(s);
	u64 from = l->time + (l->cursor ? l->pass_ticks : 0);
	bool cursor_seen = !l->cursor || l->cursor == &l->head;
	struct callout_node *c;

	if (!co_links_hold(&l->head))
		return 1;
	list_for_each_entry(c, &l->head, entry) {
		if (c->expires < l->bound)
			return 2;
		if (&c->entry == l->cursor) {
			cursor_seen = true;
			from = l->time;
		}
		if (l->decrement && c->expires != from + c->word[2])
			return 3;
	}
	return cursor_seen ? 0 : 4;
}

static struct callout_scheme *
unsorted_create(const struct callout_scheme_params *p)
{
	struct unsorted_list *l = co_scheme_alloc(&callout_unsorted_list, sizeof(*l), p);

	if (IS_ERR(l))
		return ERR_CAST(l);
	INIT_LIST_HEAD(&l->head);
	l->decrement = p->variant == VARIANT_DECREMENT;
	l->time = p->now;
	l->bound = U64_MAX;
	return &l->s;
}

const struct callout_scheme_ops callout_unsorted_list = {
	.name		= "unsorted_list",
	.variants	= (const char *const []){
		[VARIANT_DECREMENT] = "decrement", [VARIANT_COMPARE] = "compare", NULL
	},
	.flags		= CALLOUT_LINEAR,
	.create		= unsorted_create,
	.destroy	= co_scheme_free,
	.start		= unsorted_start,
	.stop		= unsorted_stop,
	.advance	= unsorted_advance,
	.next_due	= unsorted_next_due,
	.take		= unsorted_take,
	.check		= unsorted_check,
};
