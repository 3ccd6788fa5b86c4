// SPDX-License-Identifier: GPL-2.0
/*
 * sorted_list.c - Scheme 2: a list in order of expiry, BSD's old callout queue
 *
 * Varghese and Lauck, sections III.B and VII. start searches for its place from one
 * end of the list and is O(n); stop is O(1), since the list is doubly linked; a
 * tick looks at the first entry only. It is the right choice where few callouts are
 * outstanding, or where all have the same interval and the list is searched from
 * the rear, which makes start O(1) too. The only hardware needed is a single timer,
 * set for the first entry. start is unbounded, and so is find, BSD's search by
 * function and argument.
 *
 * Variants: "head" searches from the first entry, as BSD did, "rear" from the last.
 * The paper takes the average cost of start from queueing theory, with Poisson
 * arrivals and reads and writes that cost one each: 2 + 2n/3 for exponential and 2
 * + n/2 for uniform intervals, and 2 + n/3 from the rear. Only the search is
 * counted in steps. The search takes n/2 steps from either end for exponential
 * intervals, since the rest of an exponential interval is distributed like a new
 * interval. For uniform intervals it takes 2n/3 steps from the head and n/3 from
 * the rear. These are the paper's values with the names of the distributions
 * exchanged.
 *
 * Times are differential, as BSD's c_time: the third word of a callout is the
 * number of ticks from its predecessor's expiry to its own expiry, and in the first
 * callout from the list's time. So the passage of time decrements the first callout
 * only, below zero if it is overdue. Sums are modulo 2^64 and give the absolute
 * time.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include "first.h"

enum { VARIANT_HEAD, VARIANT_REAR };

struct sorted_list {
	struct callout_scheme s;
	struct list_head head;	/* equals in order of queueing */
	bool rear;		/* search from the rear */
	u64 time;		/* the first entry counts from this tick */
	u64 last;		/* expiry of the last entry; @time if empty */
};

static struct sorted_list *to_list(struct callout_scheme *s)
{
	return container_of(s, struct sorted_list, s);
}

static struct callout_node *sorted_entry(struct list_head *pos)
{
	return list_entry(pos, struct callout_node, entry);
}

/*
 * Return the last entry that does not expire after @expires, or the head. Store the
 * entry's expiry, or the list's time, in @at.
 */
static struct list_head *sorted_search_head(struct sorted_list *l, u64 expires,
					    u64 *at)
{
	struct list_head *pos;
	u64 next;

	*at = l->time;
	list_for_each(pos, &l->head) {
		l->s.steps++;
		next = *at + sorted_entry(pos)->word[2];
		if (next > expires)
			break;
		*at = next;
	}
	return pos->prev;
}

static struct list_head *sorted_search_rear(struct sorted_list *l, u64 expires,
					    u64 *at)
{
	struct list_head *pos;

	*at = l->last;
	list_for_each_prev(pos, &l->head) {
		l->s.steps++;
		if (*at <= expires)
			break;
		*at -= sorted_entry(pos)->word[2];
	}
	return pos;
}

static void sorted_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			 u64 expires)
{
	struct sorted_list *l = to_list(s);
	struct list_head *pos;
	u64 at;

	if (l->rear)
		pos = sorted_search_rear(l, expires, &at);
	else
		pos = sorted_search_head(l, expires, &at);
	c->expires = expires;
	c->word[2] = expires - at;
	if (pos->next == &l->head)
		l->last = expires;
	else
		sorted_entry(pos->next)->word[2] -= c->word[2];
	list_add(&c->entry, pos);
}

static void sorted_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct sorted_list *l = to_list(s);

	if (c->entry.next == &l->head)
		l->last -= c->word[2];
	else
		sorted_entry(c->entry.next)->word[2] += c->word[2];
	__list_del_entry(&c->entry);
}

static bool sorted_advance(struct callout_scheme *s, u64 now,
			   unsigned int *budget, struct list_head *due)
{
	struct sorted_list *l = to_list(s);
	struct callout_node *c;

	if (list_empty(&l->head))
		l->last = now;
	else
		sorted_entry(l->head.next)->word[2] -= now - l->time;
	l->time = now;

	while (!list_empty(&l->head)) {
		c = sorted_entry(l->head.next);
		if (now + c->word[2] > now)
			return false;
		if (!co_spend(budget))
			return true;
		s->visits++;
		sorted_stop(s, c);
		co_scheme_due(c, due);
	}
	return false;
}

static u64 sorted_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct sorted_list *l = to_list(s);

	if (list_empty(&l->head))
		return U64_MAX;
	return l->time + sorted_entry(l->head.next)->word[2];
}

static bool sorted_take(struct callout_scheme *s, unsigned int *budget,
			struct list_head *out)
{
	return co_scheme_take_list(s, &to_list(s)->head, budget, out);
}

static struct callout_node *sorted_find(struct callout_scheme *s,
					callout_match_fn match,
					const void *data)
{
	struct callout_node *c;

	list_for_each_entry(c, &to_list(s)->head, entry) {
		s->steps++;
		if (match(c, data))
			return c;
	}
	return NULL;
}

/* Check every invariant of the head comment. */
static int sorted_check(struct callout_scheme *s)
{
	struct sorted_list *l = to_list(s);
	u64 at = l->time, before = 0;
	struct list_head *pos;

	list_for_each(pos, &l->head) {
		if (pos->next->prev != pos || pos->prev->next != pos)
			return 1;
		at += sorted_entry(pos)->word[2];
		if (at != sorted_entry(pos)->expires)
			return 2;
		if (at < before)
			return 3;
		before = at;
	}
	return at == l->last ? 0 : 4;
}

static struct callout_scheme *
sorted_create(const struct callout_scheme_params *p)
{
	struct sorted_list *l = co_scheme_alloc(&callout_sorted_list, sizeof(*l), p);

	if (IS_ERR(l))
		return ERR_CAST(l);
	INIT_LIST_HEAD(&l->head);
	l->rear = p->variant == VARIANT_REAR;
	l->time = p->now;
	l->last = p->now;
	return &l->s;
}

const struct callout_scheme_ops callout_sorted_list = {
	.name		= "sorted_list",
	.variants	= (const char *const []){
		[VARIANT_HEAD] = "head", [VARIANT_REAR] = "rear", NULL
	},
	.flags		= CALLOUT_LINEAR,
	.create		= sorted_create,
	.destroy	= co_scheme_free,
	.start		= sorted_start,
	.stop		= sorted_stop,
	.advance	= sorted_advance,
	.next_due	= sorted_next_due,
	.take		= sorted_take,
	.find		= sorted_find,
	.check		= sorted_check,
};
