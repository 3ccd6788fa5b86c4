// SPDX-License-Identifier: GPL-2.0
/*
 * calendar_queue.c - Brown's calendar queue
 *
 * A year of days, each with the sorted list of what is due on that day, in
 * whatever year. The next to expire is found by going through the days from the
 * present one on, looking whether the first of the list is of this year; if a
 * whole year has nothing, at the earliest of all firsts. There are between half
 * and twice as many callouts as days, or else there is a calendar of twice or
 * half as many days, and the length of a day follows their density. Then
 * inserting and finding the next look at a few entries, whatever n is.
 * Varghese and Lauck, section VIII, see in it a timing wheel that is resized from
 * time to time, so that fewer empty buckets are stepped through. They do not
 * think that worth it for timers, since a clock has to count all ticks anyway,
 * and remark that the gain is shown for certain benchmarks, not proved.
 *
 * start and each expiry O(1) on average, O(n) at worst: if most fall on one day
 * the list of that day is long. stop O(1). tick O(1). The right choice in a
 * simulation: no clock that ticks anyway, and nearly everything expires.
 *
 * What is different here:
 *
 *  - A new calendar is not filled at once, for which the lock cannot be held.
 *    Both are in use, and each start and stop, and each advance for half of its
 *    budget, moves some more out of the old one. What is equal is first in the
 *    old one.
 *  - Only start and stop look whether the calendar still fits.
 *  - Brown takes a sample of callouts off the queue to see how far apart they
 *    are. Here it follows from Little's result: n callouts of mean interval T
 *    expire T / n apart. A day is three times that, as his, down to a power of
 *    two.
 *  - Memory for more days comes from reserve. Without, the calendar does not
 *    grow, and its lists do.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include "blocks.h"
#include "scheme.h"

#define MIN_DAYS	2UL

/* Callouts moved, or empty days passed, by each start and stop. */
#define MOVE_STEPS	4U

/* The mean interval follows the last so many starts. */
#define MEAN_OF		16
#define MAX_INTERVAL	(1ULL << 60)

/**
 * struct calendar - one of the two
 * @nr: how many days it has, a power of two
 * @shift: logarithm of the ticks of a day
 * @n: how many callouts are in it
 * @day: where the search is, counted from tick 0: nothing is before
 * @passed: days that the search has passed since it began, or began anew
 * @low: not later than any of the lists of those days
 */
struct calendar {
	unsigned long nr;
	unsigned int shift;
	unsigned long n;
	u64 day;
	unsigned long passed;
	u64 low;
};

/**
 * struct calendar_day - lists of one day, each in order, unused if all zero
 * @list: for each of the calendars
 */
struct calendar_day {
	struct list_head list[2];
};

/**
 * struct calendar_queue - the scheme
 * @s: the common part
 * @days: the lists
 * @calendar: the one in use and, as long as that is not empty, the old one
 * @in_use: index of the one in use; scheme[2] of a callout is that of its own
 * @emptied: how many days of the old one are known to be empty
 * @mean: mean interval of those started last
 */
struct calendar_queue {
	struct callout_scheme s;
	struct callout_blocks days;
	struct calendar calendar[2];
	unsigned int in_use;
	unsigned long emptied;
	u64 mean;
};

static struct calendar_queue *to_queue(struct callout_scheme *s)
{
	return container_of(s, struct calendar_queue, s);
}

static struct list_head *calendar_list(const struct calendar_queue *q,
				       unsigned int which, u64 day)
{
	unsigned long i = day & (q->calendar[which].nr - 1);
	struct calendar_day *d = callout_blocks_at(&q->days, i);
	struct list_head *list = &d->list[which];

	if (!list->next)
		INIT_LIST_HEAD(list);
	return list;
}

/* The search begins at @day. */
static void calendar_seek(struct calendar *cal, u64 day)
{
	cal->day = day;
	cal->passed = 0;
	cal->low = U64_MAX;
}

/* Files @c behind its equals, or, if it is an @older one, before them. */
static void calendar_insert(struct calendar_queue *q, unsigned int which,
			    struct callout *c, bool older)
{
	struct calendar *cal = &q->calendar[which];
	u64 day = c->expires >> cal->shift;
	struct list_head *list = calendar_list(q, which, day);
	struct callout *pos;

	list_for_each_entry_reverse(pos, list, entry)
		if (pos->expires < c->expires ||
		    (pos->expires == c->expires && !older))
			break;
	list_add(&c->entry, &pos->entry);
	c->scheme[2] = which;
	if (!cal->n++ || day < cal->day)
		calendar_seek(cal, day);
	else
		cal->low = min(cal->low, c->expires);
}

static void calendar_remove(struct calendar_queue *q, struct callout *c)
{
	list_del(&c->entry);
	q->calendar[c->scheme[2]].n--;
}

/* Goes on with moving what is in the old calendar. */
static void calendar_move(struct calendar_queue *q, unsigned int steps)
{
	unsigned int old = !q->in_use;
	struct list_head *list;
	struct callout *c;

	while (q->calendar[old].n && steps--) {
		list = calendar_list(q, old, q->emptied);
		if (list_empty(list)) {
			q->emptied++;
			continue;
		}
		/* From the last on, so that each is older than those before. */
		c = list_last_entry(list, struct callout, entry);
		calendar_remove(q, c);
		calendar_insert(q, q->in_use, c, true);
	}
}

/* After a start or stop: a calendar that fits, a step at a time. */
static void calendar_adapt(struct calendar_queue *q)
{
	struct calendar *cal = &q->calendar[q->in_use];
	struct calendar *other = &q->calendar[!q->in_use];
	unsigned long nr = cal->nr;

	if (other->n) {
		calendar_move(q, MOVE_STEPS);
		return;
	}
	if (cal->n > 2 * nr && 2 * nr <= callout_blocks_room(&q->days))
		nr *= 2;
	else if (cal->n < nr / 2 && nr > MIN_DAYS)
		nr /= 2;
	else
		return;
	other->nr = nr;
	other->shift = ilog2(max(3 * q->mean / max(cal->n, 1UL), 1ULL));
	q->in_use = !q->in_use;
	q->emptied = 0;
}

static void calendar_start(struct callout_scheme *s, struct callout *c, u64 now,
			   u64 expires)
{
	struct calendar_queue *q = to_queue(s);
	u64 interval = expires > now ? min(expires - now, MAX_INTERVAL) : 0;

	c->expires = expires;
	q->mean = q->mean - q->mean / MEAN_OF + interval / MEAN_OF;
	calendar_insert(q, q->in_use, c, false);
	calendar_adapt(q);
}

static void calendar_stop(struct callout_scheme *s, struct callout *c)
{
	struct calendar_queue *q = to_queue(s);

	calendar_remove(q, c);
	calendar_adapt(q);
}

static void calendar_rearm(struct callout_scheme *s, struct callout *c, u64 now,
			   u64 expires)
{
	calendar_remove(to_queue(s), c);
	calendar_start(s, c, now, expires);
}

/*
 * The first to expire of a calendar. NULL if there is none on the days that
 * begin up to @limit, or if the budget ran out.
 */
static struct callout *calendar_first(struct calendar_queue *q,
				      unsigned int which, u64 limit,
				      unsigned int *budget)
{
	struct calendar *cal = &q->calendar[which];
	struct callout *c;

	while (cal->n && cal->day << cal->shift <= limit && *budget) {
		--*budget;
		q->s.visits++;
		c = list_first_entry_or_null(calendar_list(q, which, cal->day),
					     struct callout, entry);
		if (c && c->expires >> cal->shift == cal->day)
			return c;
		if (c)
			cal->low = min(cal->low, c->expires);
		cal->day++;
		/* Nothing in a year: all lists have been looked at. */
		if (++cal->passed == cal->nr)
			calendar_seek(cal, max(cal->day,
					       cal->low >> cal->shift));
	}
	return NULL;
}

/* The same of both. Those of the old one are older than their equals. */
static struct callout *calendar_first_of_both(struct calendar_queue *q,
					      u64 limit, unsigned int *budget)
{
	struct callout *old, *c;

	old = calendar_first(q, !q->in_use, limit, budget);
	c = calendar_first(q, q->in_use, limit, budget);
	return !c || (old && old->expires <= c->expires) ? old : c;
}

static bool calendar_advance(struct callout_scheme *s, u64 now,
			     unsigned int *budget, struct list_head *due)
{
	struct calendar_queue *q = to_queue(s);
	unsigned int steps = *budget / 2;
	struct callout *c;

	if (q->calendar[!q->in_use].n) {
		calendar_move(q, steps);
		*budget -= steps;
	}
	for (;;) {
		c = calendar_first_of_both(q, now, budget);
		if (!*budget)
			return true;
		if (!c || c->expires > now)
			return false;
		--*budget;
		calendar_remove(q, c);
		callout_scheme_due(c, due);
	}
}

/* A day without anything yet is as good a bound as what is in it. */
static u64 calendar_bound(const struct calendar *cal)
{
	return cal->n ? cal->day << cal->shift : U64_MAX;
}

static u64 calendar_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct calendar_queue *q = to_queue(s);
	struct callout *c;

	c = calendar_first_of_both(q, U64_MAX, budget);
	if (c && *budget)
		return c->expires;
	return min(calendar_bound(&q->calendar[0]),
		   calendar_bound(&q->calendar[1]));
}

static bool calendar_take(struct callout_scheme *s, unsigned int *budget,
			  struct list_head *out)
{
	struct calendar_queue *q = to_queue(s);
	struct callout *c;

	for (;;) {
		c = calendar_first_of_both(q, U64_MAX, budget);
		if (!*budget)
			return true;
		if (!c)
			return false;
		--*budget;
		calendar_remove(q, c);
		list_add_tail(&c->entry, out);
	}
}

/* The list of day @i of the year, from there on, as the search sees it. */
static int calendar_check_list(struct calendar_queue *q, unsigned int which,
			       unsigned long i, unsigned long *n)
{
	const struct calendar *cal = &q->calendar[which];
	struct list_head *list = calendar_list(q, which, i);
	unsigned long ago = (cal->day - 1 - i) & (cal->nr - 1);
	struct callout *c;
	u64 last = 0;

	list_for_each_entry(c, list, entry) {
		if (c->expires < last)
			return 1;
		last = c->expires;
		if ((c->expires >> cal->shift & (cal->nr - 1)) != i)
			return 2;
		if (c->scheme[2] != which)
			return 3;
		if (c->expires >> cal->shift < cal->day)
			return 4;
		if (ago < cal->passed && c->expires < cal->low)
			return 5;
		++*n;
	}
	if (which != q->in_use && i < q->emptied && !list_empty(list))
		return 6;
	return 0;
}

static int calendar_check(struct callout_scheme *s)
{
	struct calendar_queue *q = to_queue(s);
	unsigned int which;
	unsigned long i, n;
	int ret;

	for (which = 0; which < 2; which++) {
		if (q->calendar[which].nr > callout_blocks_room(&q->days))
			return 7;
		n = 0;
		for (i = 0; i < q->calendar[which].nr; i++) {
			ret = calendar_check_list(q, which, i, &n);
			if (ret)
				return ret;
		}
		if (n != q->calendar[which].n)
			return 8;
	}
	return 0;
}

static int calendar_reserve(struct callout_scheme *s, unsigned int n)
{
	return callout_blocks_reserve(&to_queue(s)->days, n / 2);
}

static void calendar_destroy(struct callout_scheme *s)
{
	struct calendar_queue *q = to_queue(s);

	callout_blocks_free(&q->days);
	kfree(q);
}

static struct callout_scheme *
calendar_create(const struct callout_scheme_params *p)
{
	struct calendar_queue *q = kzalloc_node(sizeof(*q), GFP_KERNEL,
						p->node);

	if (!q)
		return ERR_PTR(-ENOMEM);
	q->s.ops = &callout_calendar_queue;
	q->calendar[0].nr = MIN_DAYS;
	q->calendar[1].nr = MIN_DAYS;
	if (callout_blocks_init(&q->days, sizeof(struct calendar_day),
				p->node)) {
		kfree(q);
		return ERR_PTR(-ENOMEM);
	}
	/* Calendars have days from the beginning. */
	callout_blocks_room(&q->days);
	return &q->s;
}

const struct callout_scheme_ops callout_calendar_queue = {
	.name		= "calendar_queue",
	.flags		= CALLOUT_LINEAR,
	.create		= calendar_create,
	.destroy	= calendar_destroy,
	.reserve	= calendar_reserve,
	.start		= calendar_start,
	.rearm		= calendar_rearm,
	.stop		= calendar_stop,
	.advance	= calendar_advance,
	.next_due	= calendar_next_due,
	.take		= calendar_take,
	.check		= calendar_check,
};
