// SPDX-License-Identifier: GPL-2.0
/*
 * calendar_queue.c - Brown's calendar queue
 *
 * A year of days: each day has a sorted list of the callouts due on that day of any
 * year. The search for the next callout to expire goes through the days from the
 * present day on, until the first entry of a day's list belongs to this year. If
 * the whole year is empty it continues at the earliest of all first entries. When
 * the callouts become fewer than half the days or more than twice as many, a
 * calendar of half or twice as many days replaces this one, and the length of a day
 * follows their density. So inserting and finding the next callout look at a few
 * entries, whatever n is. Varghese and Lauck, section VIII, regard it as a timing
 * wheel that is resized from time to time to step through fewer empty buckets. They
 * do not think resizing worthwhile for timers, since a clock has to count all ticks
 * anyway, and remark that the gain is shown for certain benchmarks, not proved.
 *
 * start and each expiry are O(1) on average and O(n) in the worst case: if most
 * callouts fall on one day, that day's list is long. stop and tick are O(1). It is
 * the right choice in a simulation, where no clock ticks anyway and nearly all
 * callouts expire.
 *
 * Differences from Brown's calendar queue:
 *
 *  - A new calendar is filled step by step, since the lock cannot be held for all
 *    of it. Both are in use, and each start and stop, and each advance with half of
 *    its budget, moves some more callouts out of the old calendar. Among equals,
 *    callouts in the old calendar are first.
 *  - Only start and stop check whether the calendar still fits.
 *  - Brown samples callouts to estimate how far apart they are. Here Little's law
 *    gives the distance: n callouts of mean interval T expire T / n apart. A day is
 *    three times this distance, as in Brown's, rounded down to a power of two.
 *  - Memory for more days comes from reserve. Without it the calendar does not
 *    grow, but its lists do.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include "blocks.h"
#include "first.h"
#include "wheel/scheme.h"

#define MIN_DAYS	2UL

/* Number of callouts moved, or empty days passed, by each start and stop. */
#define MOVE_STEPS	4U

/* The mean interval is an average over about this many starts. */
#define MEAN_OF		16
#define MAX_INTERVAL	(1ULL << 60)

struct calendar {
	unsigned long nr;	/* number of days, a power of two */
	unsigned int shift;	/* log2 of the ticks of a day */
	unsigned long n;	/* number of callouts */
	u64 day;		/* the day of the search; no callout is earlier */
	unsigned long passed;	/* days that the search has passed */
	u64 low;		/* at most any expiry in the lists of the passed days */
};

/* A sorted list for each of the two calendars; a zeroed list is unused. */
struct calendar_day {
	struct list_head list[2];
};

/* word[2] of a callout is the index of its calendar. */
struct calendar_queue {
	struct callout_blocks_scheme b;	/* of struct calendar_day */
	struct calendar calendar[2];	/* the calendar in use, and the old one until it is empty */
	unsigned int in_use;		/* index of the calendar in use */
	unsigned long emptied;		/* days of the old calendar known to be empty */
	u64 mean;			/* mean interval of recent starts */
};

static struct calendar_queue *to_queue(struct callout_scheme *s)
{
	return container_of(s, struct calendar_queue, b.s);
}

static struct list_head *calendar_list(const struct calendar_queue *q,
				       unsigned int which, u64 day)
{
	unsigned long i = day & (q->calendar[which].nr - 1);
	struct calendar_day *d = co_blocks_at(&q->b.blocks, i);
	struct list_head *list = &d->list[which];

	if (!list->next)
		INIT_LIST_HEAD(list);
	return list;
}

/* Restart the search at @day. */
static void calendar_seek(struct calendar *cal, u64 day)
{
	cal->day = day;
	cal->passed = 0;
	cal->low = U64_MAX;
}

/* Queue @c behind its equals, or before them if it is @older. */
static void calendar_insert(struct calendar_queue *q, unsigned int which,
			    struct callout_node *c, bool older)
{
	struct calendar *cal = &q->calendar[which];
	u64 day = c->expires >> cal->shift;
	struct list_head *list = calendar_list(q, which, day);
	struct callout_node *pos;

	list_for_each_entry_reverse(pos, list, entry)
		if (pos->expires < c->expires ||
		    (pos->expires == c->expires && !older))
			break;
	list_add(&c->entry, &pos->entry);
	c->word[2] = which;
	if (!cal->n++ || day < cal->day)
		calendar_seek(cal, day);
	else
		cal->low = min(cal->low, c->expires);
}

static void calendar_remove(struct calendar_queue *q, struct callout_node *c)
{
	list_del(&c->entry);
	q->calendar[c->word[2]].n--;
}

/* Move some more callouts out of the old calendar. */
static void calendar_move(struct calendar_queue *q, unsigned int steps)
{
	unsigned int old = !q->in_use;
	struct list_head *list;
	struct callout_node *c;

	while (q->calendar[old].n && steps--) {
		list = calendar_list(q, old, q->emptied);
		if (list_empty(list)) {
			q->emptied++;
			continue;
		}
		/* Take the last entry first: it is then older than all entries moved before. */
		c = list_last_entry(list, struct callout_node, entry);
		calendar_remove(q, c);
		calendar_insert(q, q->in_use, c, true);
	}
}

/* Called after a start or stop: take a step towards a calendar that fits. */
static void calendar_adapt(struct calendar_queue *q)
{
	struct calendar *cal = &q->calendar[q->in_use];
	struct calendar *other = &q->calendar[!q->in_use];
	unsigned long nr = cal->nr;

	if (other->n) {
		calendar_move(q, MOVE_STEPS);
		return;
	}
	if (cal->n > 2 * nr && 2 * nr <= co_blocks_room(&q->b.blocks))
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

static void calendar_start(struct callout_scheme *s, struct callout_node *c, u64 now,
			   u64 expires)
{
	struct calendar_queue *q = to_queue(s);
	u64 interval = expires > now ? min(expires - now, MAX_INTERVAL) : 0;

	c->expires = expires;
	q->mean = q->mean - q->mean / MEAN_OF + interval / MEAN_OF;
	calendar_insert(q, q->in_use, c, false);
	calendar_adapt(q);
}

static void calendar_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct calendar_queue *q = to_queue(s);

	calendar_remove(q, c);
	calendar_adapt(q);
}

/*
 * The first callout of a calendar to expire. NULL if there is none on the days that
 * begin up to @limit, or if the budget ran out.
 */
static struct callout_node *calendar_first(struct calendar_queue *q,
					   unsigned int which, u64 limit,
					   unsigned int *budget)
{
	struct calendar *cal = &q->calendar[which];
	struct callout_node *c;

	while (cal->n && cal->day << cal->shift <= limit && *budget) {
		--*budget;
		q->b.s.visits++;
		c = list_first_entry_or_null(calendar_list(q, which, cal->day),
					     struct callout_node, entry);
		if (c && c->expires >> cal->shift == cal->day)
			return c;
		if (c)
			cal->low = min(cal->low, c->expires);
		cal->day++;
		/* A year without a callout: all lists have been looked at. */
		if (++cal->passed == cal->nr)
			calendar_seek(cal, max(cal->day,
					       cal->low >> cal->shift));
	}
	return NULL;
}

/* As calendar_first(), for both calendars. Among equals, callouts of the old one are older. */
static struct callout_node *calendar_first_of_both(struct calendar_queue *q,
						   u64 limit,
						   unsigned int *budget)
{
	struct callout_node *old, *c;

	old = calendar_first(q, !q->in_use, limit, budget);
	c = calendar_first(q, q->in_use, limit, budget);
	return !c || (old && old->expires <= c->expires) ? old : c;
}

/* Remove the first callout that is due by @now. NULL if there is none, or no budget left. */
static struct callout_node *calendar_pop(struct calendar_queue *q, u64 now,
					 unsigned int *budget)
{
	struct callout_node *c = calendar_first_of_both(q, now, budget);

	if (!c || c->expires > now || !co_spend(budget))
		return NULL;
	calendar_remove(q, c);
	return c;
}

static bool calendar_advance(struct callout_scheme *s, u64 now,
			     unsigned int *budget, struct list_head *due)
{
	struct calendar_queue *q = to_queue(s);
	unsigned int steps = *budget / 2;
	struct callout_node *c;

	if (q->calendar[!q->in_use].n) {
		calendar_move(q, steps);
		*budget -= steps;
	}
	while ((c = calendar_pop(q, now, budget)))
		co_scheme_due(c, due);
	return !*budget;
}

/* A lower bound: the first tick of the day that the search has reached. */
static u64 calendar_bound(const struct calendar *cal)
{
	return cal->n ? cal->day << cal->shift : U64_MAX;
}

static u64 calendar_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct calendar_queue *q = to_queue(s);
	struct callout_node *c;

	c = calendar_first_of_both(q, U64_MAX, budget);
	if (c && *budget)
		return c->expires;
	return min(calendar_bound(&q->calendar[0]),
		   calendar_bound(&q->calendar[1]));
}

static bool calendar_take(struct callout_scheme *s, unsigned int *budget,
			  struct list_head *out)
{
	struct callout_node *c;

	while ((c = calendar_pop(to_queue(s), U64_MAX, budget)))
		list_add_tail(&c->entry, out);
	return !*budget;
}

/* Check the list of day @i of the year. */
static int calendar_check_list(struct calendar_queue *q, unsigned int which,
			       unsigned long i, unsigned long *n)
{
	const struct calendar *cal = &q->calendar[which];
	struct list_head *list = calendar_list(q, which, i);
	unsigned long ago = (cal->day - 1 - i) & (cal->nr - 1);
	struct callout_node *c;

	if (!co_order_holds(list))
		return 1;
	list_for_each_entry(c, list, entry) {
		if ((c->expires >> cal->shift & (cal->nr - 1)) != i)
			return 2;
		if (c->word[2] != which)
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
		if (q->calendar[which].nr > co_blocks_room(&q->b.blocks))
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

static int calendar_reserve(struct callout_scheme *s, int n)
{
	return co_blocks_scheme_reserve(s, n / 2);
}

static struct callout_scheme *
calendar_create(const struct callout_scheme_params *p)
{
	struct calendar_queue *q;

	q = co_blocks_create(&callout_calendar_queue, sizeof(*q),
			     sizeof(struct calendar_day), p);
	if (IS_ERR(q))
		return ERR_CAST(q);
	q->calendar[0].nr = MIN_DAYS;
	q->calendar[1].nr = MIN_DAYS;
	/* Adopt the first block: both calendars have days already. */
	co_blocks_room(&q->b.blocks);
	return &q->b.s;
}

const struct callout_scheme_ops callout_calendar_queue = {
	.name		= "calendar_queue",
	.create		= calendar_create,
	.destroy	= co_blocks_destroy,
	.reserve	= calendar_reserve,
	.start		= calendar_start,
	.stop		= calendar_stop,
	.advance	= calendar_advance,
	.next_due	= calendar_next_due,
	.take		= calendar_take,
	.check		= calendar_check,
};
