// SPDX-License-Identifier: GPL-2.0
/*
 * hierarchical_wheel.c - Scheme 7: hierarchical timing wheels
 *
 * Varghese and Lauck, section VI.B. Time is a number with several digits, not
 * necessarily of one base, like days, hours, minutes and seconds, with an array
 * of slots for each digit. A callout is queued by the highest digit in which its
 * expiry differs from now. When time reaches that slot the callout is requeued
 * by the highest digit that differs then, until none differs and it is due.
 * With m levels start takes O(m) to find the level, stop O(1), and a callout is
 * touched at most m times, however far away it is. In the paper a tick costs
 * n * c7 * m / T for n callouts of mean interval T, against n * c6 / M for
 * Scheme 6 with M slots: so this is the right choice for long intervals and
 * little memory, Scheme 6 for short ones and much memory.
 *
 * In the paper a timer advances each level's pointer. Here a bitmap of each
 * level marks the busy slots: a search of the bitmaps finds the next busy slot,
 * so time jumps over empty ones, and the caller knows until when it can sleep.
 *
 * Variants:
 *
 *  - migrate: as above. Exact.
 *  - no_migration: Nichols' proposal. The interval selects the level: the finest
 *    whose range is longer. The callout stays there, in the first slot that does not
 *    begin before its expiry, and is due when that slot begins. The paper, which
 *    rounds to the nearest slot, speaks of up to 50 % error. Here a callout is never
 *    early, so its expiry is rounded up: it is late by less than one slot of its
 *    level. A slot is shorter than the callout's interval, but nearly as long where
 *    the interval is just too long for the level below.
 *  - one_migration: Nichols' other proposal. The callout is queued in the slot that
 *    contains its expiry and, when that begins, in the level below, rounded up: late
 *    by less than one slot of the level below its interval's level.
 *  - first_digit: 16 levels of 16 slots. A digit is four bits, the level is a
 *    find-last-set of expiry XOR now, and no expiry is out of range. Exact.
 *
 * Out-of-range callouts go to a red-black tree. In the exact variants a callout is
 * out of range if it expires in another cycle of the coarsest level. In the other
 * variants it is out of range if its interval is longer than that cycle. When the
 * cycle begins in which the first callouts of the tree expire, these callouts are
 * requeued, by the finest level. In the paper out-of-range callouts are on a list,
 * which is searched at that time.
 *
 * The exact variants keep equals in order because the slot of a callout depends only
 * on its expiry and on clk, the last tick done. So all callouts of one expiry are in
 * one slot, in order of queueing. A slot that begins at tick t is emptied while clk
 * is t - 1: callouts queued in it during that time go to its end, and cannot
 * overtake callouts still in it.
 *
 * Callouts queued for clk or before go to that tree too, and are due first.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "first.h"
#include "wheel/scheme.h"
#include "tree.h"

#define DIGIT_SHIFT	4
#define DIGIT_LEVELS	(64 / DIGIT_SHIFT)

static_assert(DIGIT_LEVELS <= CALLOUT_MAX_LEVELS);

enum { MIGRATE, NO_MIGRATION, ONE_MIGRATION, FIRST_DIGIT };

static const char *const hier_variants[] = {
	[MIGRATE]	= "migrate",
	[NO_MIGRATION]	= "no_migration",
	[ONE_MIGRATION]	= "one_migration",
	[FIRST_DIGIT]	= "first_digit",
	NULL
};

static const unsigned int hier_default[] = { 256, 64, 64, 64, 64 };

/* One level: one of the wheels. */
struct hier_level {
	u64 unit;		/* ticks of a slot */
	int shift;		/* log2(unit), or -1 if not a power of two */
	unsigned int slots;	/* number of slots */
	unsigned int first;	/* index of the level's first slot in hier_wheel.slot */
};

/*
 * word[2] of a callout that is not in the tree: CALLOUT_NOT_IN_TREE, the index of
 * the callout's slot and, in the inexact variants, whether the callout has had its
 * one migration, and the level of its interval, wherever it is queued.
 */
#define HIER_MIGRATED		2UL
#define HIER_LEVEL_SHIFT	2
#define HIER_SLOT_SHIFT		8

static_assert(CALLOUT_MAX_LEVELS < 1UL << (HIER_SLOT_SHIFT - HIER_LEVEL_SHIFT));

/*
 * @slot holds the slots of all levels. @open is the slot being emptied, which begins
 * at tick clk + 1, or @slots, whose busy bit is never set. @level goes from the
 * finest level to the coarsest. The unit of one more element is the coarsest level's
 * cycle, or 0 if that cycle exceeds 64 bits.
 */
struct hier_wheel {
	struct callout_scheme s;
	unsigned int variant;
	unsigned int levels;		/* number of levels */
	u64 clk;			/* every tick up to this tick is done */
	unsigned long n;		/* callouts in slots */
	struct rb_root_cached rest;	/* callouts for @clk or before, or out of range */
	unsigned int slots;		/* number of slots */
	unsigned int open;
	unsigned int open_level;	/* the level of @open */
	unsigned long *busy;		/* a bit for each @slot: not empty */
	struct hier_level level[CALLOUT_MAX_LEVELS + 1];
	struct list_head slot[];
};

static struct hier_wheel *to_hier(struct callout_scheme *s)
{
	return container_of(s, struct hier_wheel, s);
}

static bool hier_exact(const struct hier_wheel *w)
{
	return w->variant == MIGRATE || w->variant == FIRST_DIGIT;
}

/* The number of the slot of a level that contains a tick, from tick 0. */
static u64 hier_number(const struct hier_level *l, u64 tick)
{
	if (l->shift >= 0)
		return tick >> l->shift;
	return l->unit ? tick / l->unit : 0;
}

static u64 hier_number_up(const struct hier_level *l, u64 tick)
{
	u64 number = hier_number(l, tick);

	return number + (number * l->unit < tick);
}

/* The tick at which slot @number begins, or the end of time. */
static u64 hier_begin(const struct hier_level *l, u64 number)
{
	u64 tick;

	if (check_mul_overflow(number, l->unit, &tick))
		return U64_MAX - 1;
	return tick;
}

static unsigned int hier_index(const struct hier_level *l, u64 number)
{
	if (is_power_of_2(l->slots))
		return l->first + (number & (l->slots - 1));
	return l->first + number % l->slots;
}

static unsigned int hier_slot_of(const struct callout_node *c)
{
	return c->word[2] >> HIER_SLOT_SHIFT;
}

static unsigned int hier_own_level(const struct callout_node *c)
{
	return (c->word[2] & (BIT(HIER_SLOT_SHIFT) - 1)) >> HIER_LEVEL_SHIFT;
}

/* Queue @c in @slot, or in the tree if @slot is w->slots. */
static void hier_add(struct hier_wheel *w, struct callout_node *c, unsigned int slot,
		     unsigned int k, unsigned long migrated)
{
	if (slot == w->slots) {
		co_tree_add(&w->rest, c);
		return;
	}
	list_add_tail(&c->entry, &w->slot[slot]);
	c->word[2] = (unsigned long)slot << HIER_SLOT_SHIFT |
		       k << HIER_LEVEL_SHIFT | migrated | CALLOUT_NOT_IN_TREE;
	w->n++;
	__set_bit(slot, w->busy);
}

static void hier_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct hier_wheel *w = to_hier(s);
	unsigned int slot;

	if (co_in_tree(c)) {
		co_tree_del(&w->rest, c);
		return;
	}
	slot = hier_slot_of(c);
	list_del(&c->entry);
	if (list_empty(&w->slot[slot]))
		__clear_bit(slot, w->busy);
	w->n--;
}

/* The slot for @expires in an exact variant when clk is @from. */
static unsigned int hier_slot(const struct hier_wheel *w, u64 from, u64 expires)
{
	unsigned int k;

	if (w->variant == FIRST_DIGIT) {
		k = (fls64((expires ^ from) | 1) - 1) / DIGIT_SHIFT;
		return hier_index(&w->level[k],
				  hier_number(&w->level[k], expires));
	}
	for (k = 0; k < w->levels; k++)
		if (hier_number(&w->level[k + 1], expires) ==
		    hier_number(&w->level[k + 1], from))
			return hier_index(&w->level[k],
					  hier_number(&w->level[k], expires));
	return w->slots;
}

/* The level of an interval in an inexact variant; w->levels if the interval is too long. */
static unsigned int hier_level_of(const struct hier_wheel *w, u64 interval)
{
	unsigned int k;

	for (k = 0; k < w->levels; k++)
		if (interval < w->level[k + 1].unit || !w->level[k + 1].unit)
			break;
	return k;
}

/* Mark every tick up to @now as done. */
static void hier_done(struct hier_wheel *w, u64 now)
{
	w->clk = max(w->clk, now);
	w->open = w->slots;
}

/*
 * The tick at which the next busy slot of a level begins, after clk; U64_MAX if no
 * slot is busy. No slot is more than a round ahead, so the next slot is the first
 * busy slot after the slot of clk, going around.
 */
static u64 hier_next_of(const struct hier_wheel *w, const struct hier_level *l,
			unsigned int *slot)
{
	u64 number = hier_number(l, w->clk);
	unsigned int at = hier_index(l, number), end = l->first + l->slots;

	*slot = find_next_bit(w->busy, end, at + 1);
	if (*slot < end)
		return hier_begin(l, number + (*slot - at));
	*slot = find_next_bit(w->busy, at + 1, l->first);
	if (*slot <= at)
		return hier_begin(l, number + l->slots - (at - *slot));
	return U64_MAX;
}

/*
 * The next tick with work, its level and slot; U64_MAX if there is none. For
 * out-of-range callouts the level is w->levels. No callouts are queued for clk or
 * before.
 */
static u64 hier_next(const struct hier_wheel *w, unsigned int *level,
		     unsigned int *slot)
{
	const struct hier_level *cycle = &w->level[w->levels];
	struct callout_node *c = co_tree_first(&w->rest);
	u64 first = U64_MAX, tick;
	unsigned int k, i;

	*slot = w->open;
	*level = w->open_level;
	if (test_bit(w->open, w->busy))
		return w->clk + 1;
	if (c) {
		first = hier_begin(cycle, hier_number(cycle, c->expires));
		*level = w->levels;
		*slot = w->slots;
	}
	for (k = 0; k < w->levels; k++) {
		tick = hier_next_of(w, &w->level[k], &i);
		if (tick >= first)
			continue;
		first = tick;
		*level = k;
		*slot = i;
		/* All slots of coarser levels begin later. */
		if (hier_exact(w))
			break;
	}
	return first;
}

/*
 * The slot in an inexact variant for a callout of level @k. If clk is far behind,
 * that slot can be more than a round ahead. If it is one slot too far the callout
 * goes to the last slot of the round, otherwise to a coarser level.
 */
static unsigned int hier_slot_rounded(const struct hier_wheel *w, u64 expires,
				      unsigned int k, bool migrated)
{
	bool up = migrated || w->variant == NO_MIGRATION;
	const struct hier_level *l;
	u64 number, last;

	for (; k < w->levels; k++) {
		l = &w->level[k];
		number = up ? hier_number_up(l, expires) :
			      hier_number(l, expires);
		last = hier_number(l, w->clk) + l->slots;
		if (number <= last + 1)
			return hier_index(l, min(number, last));
		up = false;
	}
	return w->slots;
}

/* The first callout, if that callout is queued for clk or before; or NULL. */
static struct callout_node *hier_past(const struct hier_wheel *w)
{
	struct callout_node *c = co_tree_first(&w->rest);

	return c && c->expires <= w->clk ? c : NULL;
}

static void hier_start(struct callout_scheme *s, struct callout_node *c, u64 now,
		       u64 expires)
{
	struct hier_wheel *w = to_hier(s);
	unsigned int slot, level, k = 0;

	c->expires = expires;
	if (now > w->clk && !hier_past(w) && hier_next(w, &level, &slot) > now)
		hier_done(w, now);
	if (expires <= w->clk) {
		slot = w->slots;
	} else if (hier_exact(w)) {
		slot = hier_slot(w, w->clk, expires);
	} else {
		k = hier_level_of(w, expires > now ? expires - now : 0);
		slot = hier_slot_rounded(w, expires, k, false);
	}
	hier_add(w, c, slot, k, 0);
}

/* Requeue @c, a callout of level @k, at @tick. @c is not due. */
static void hier_requeue(struct hier_wheel *w, struct callout_node *c, unsigned int k,
			 u64 tick)
{
	const struct hier_level *l = &w->level[k];
	unsigned long migrated = 0;
	unsigned int own = 0, slot;

	w->s.requeues++;
	/*
	 * The tree does not keep the level: a callout from the tree is queued as exactly as
	 * possible.
	 */
	if (!co_in_tree(c)) {
		migrated = c->word[2] & HIER_MIGRATED;
		own = hier_own_level(c);
	}
	hier_stop(&w->s, c);
	if (hier_exact(w)) {
		slot = hier_slot(w, tick, c->expires);
	} else {
		if (w->variant == ONE_MIGRATION && !migrated && k == own &&
		    hier_number(l, c->expires) == hier_number(l, tick)) {
			migrated = HIER_MIGRATED;
			own--;
		}
		slot = hier_slot_rounded(w, c->expires, own, migrated);
	}
	hier_add(w, c, slot, own, migrated);
}

/* Handle one callout of the next slot, of level @k, which begins at @tick. */
static void hier_visit(struct hier_wheel *w, unsigned int k, unsigned int slot,
		       u64 tick, struct list_head *due)
{
	struct callout_node *c;

	w->clk = tick - 1;
	w->open = slot;
	w->open_level = k;
	if (slot == w->slots)
		c = co_tree_first(&w->rest);
	else
		c = list_first_entry(&w->slot[slot], struct callout_node, entry);
	w->s.visits++;
	if (c->expires <= tick) {
		hier_stop(&w->s, c);
		co_scheme_due(c, due);
	} else {
		hier_requeue(w, c, k, tick);
	}
}

static bool hier_advance(struct callout_scheme *s, u64 now,
			 unsigned int *budget, struct list_head *due)
{
	struct hier_wheel *w = to_hier(s);
	unsigned int level, slot;
	struct callout_node *c;
	u64 tick;

	while ((c = hier_past(w))) {
		if (!co_spend(budget))
			return true;
		s->visits++;
		co_tree_del(&w->rest, c);
		co_scheme_due(c, due);
	}
	while ((tick = hier_next(w, &level, &slot)) <= now) {
		if (!co_spend(budget))
			return true;
		hier_visit(w, level, slot, tick, due);
	}
	hier_done(w, now);
	return false;
}

static u64 hier_next_due(struct callout_scheme *s, unsigned int *budget)
{
	struct hier_wheel *w = to_hier(s);
	struct callout_node *c = hier_past(w);
	unsigned int level, slot;

	return c ? c->expires : hier_next(w, &level, &slot);
}

static struct callout_node *hier_any(struct callout_scheme *s)
{
	struct hier_wheel *w = to_hier(s);
	unsigned int slot;

	if (!w->n)
		return co_tree_first(&w->rest);
	slot = find_first_bit(w->busy, w->slots);
	return list_first_entry(&w->slot[slot], struct callout_node, entry);
}

static u64 hier_late(struct callout_scheme *s, u64 interval)
{
	struct hier_wheel *w = to_hier(s);
	unsigned int k = min(hier_level_of(w, interval), w->levels - 1);

	if (hier_exact(w))
		return 0;
	if (w->variant == ONE_MIGRATION && k)
		k--;
	/* Not 0, which would promise order within a tick, too. */
	return max(w->level[k].unit - 1, 1ULL);
}

/* Check a callout in slot @i of level @l, which next begins at @tick. */
static int hier_check_one(struct hier_wheel *w, const struct hier_level *l,
			  unsigned int i, u64 tick, struct callout_node *c)
{
	if (co_in_tree(c) || hier_slot_of(c) != i)
		return 10;
	if (c->expires <= w->clk && hier_exact(w))
		return 11;
	/*
	 * Exact variants: the slot is the only possible one. Other variants: the
	 * slot is not too late.
	 */
	if (hier_exact(w)) {
		if (hier_slot(w, w->clk, c->expires) != i &&
		    hier_slot(w, w->clk + 1, c->expires) != i)
			return 12;
		if (c->expires < tick || c->expires - tick >= l->unit)
			return 13;
	} else if (tick > c->expires && tick - c->expires >= l->unit) {
		return 14;
	}
	return 0;
}

static int hier_check(struct callout_scheme *s)
{
	struct hier_wheel *w = to_hier(s);
	const struct hier_level *l;
	unsigned long n = 0;
	struct callout_node *c;
	unsigned int i;
	u64 number;
	int ret;

	for (i = 0; i < w->slots; i++)
		if (test_bit(i, w->busy) == list_empty(&w->slot[i]))
			return 17;
	for (l = w->level; l < w->level + w->levels; l++) {
		number = hier_number(l, w->clk) + 1;
		for (i = 0; i < l->slots; i++, number++) {
			list_for_each_entry(c, &w->slot[hier_index(l, number)],
					    entry) {
				ret = hier_check_one(w, l,
						     hier_index(l, number),
						     hier_begin(l, number), c);
				if (ret)
					return ret;
				n++;
			}
		}
	}
	return n == w->n ? co_tree_check(&w->rest) : 18;
}

/* Fill in the levels. Return the number of slots, or 0 if invalid. */
static unsigned int hier_set_levels(struct hier_level *level, unsigned int *nr,
				    const struct callout_scheme_params *p)
{
	unsigned int k, slots, first = 0;
	u64 unit = 1;

	*nr = p->nr_levels;
	if (p->variant == FIRST_DIGIT) {
		if (*nr)
			return 0;
		*nr = DIGIT_LEVELS;
	} else if (!*nr) {
		*nr = ARRAY_SIZE(hier_default);
	}
	if (*nr > CALLOUT_MAX_LEVELS)
		return 0;
	for (k = 0; ; k++) {
		level[k].unit = unit;
		level[k].shift = is_power_of_2(unit) ? ilog2(unit) : -1;
		if (k == *nr)
			return first;
		if (p->variant == FIRST_DIGIT)
			slots = 1U << DIGIT_SHIFT;
		else
			slots = p->nr_levels ? p->level[k] : hier_default[k];
		/* There is no level above a level whose range exceeds 64 bits. */
		if (slots < CALLOUT_MIN_SLOTS || slots > CALLOUT_MAX_SLOTS ||
		    !unit)
			return 0;
		level[k].slots = slots;
		level[k].first = first;
		first += slots;
		if (check_mul_overflow(unit, (u64)slots, &unit))
			unit = 0;
	}
}

static_assert(CALLOUT_MAX_LEVELS == 16 && CALLOUT_MIN_SLOTS == 2 &&
	      CALLOUT_MAX_SLOTS == 16384);

static const char *hier_refuses(const struct callout_scheme_params *p)
{
	struct hier_level level[CALLOUT_MAX_LEVELS + 1] = {};
	unsigned int levels;

	if (hier_set_levels(level, &levels, p))
		return NULL;
	return "levels=: up to 16, of 2 to 16384 each, product below 2^64; first_digit takes none";
}

static struct callout_scheme *hier_create(const struct callout_scheme_params *p)
{
	struct hier_level level[CALLOUT_MAX_LEVELS + 1] = {};
	unsigned int i, slots, levels;
	struct hier_wheel *w;
	size_t lists;

	slots = hier_set_levels(level, &levels, p);
	if (!slots)
		return ERR_PTR(-EINVAL);

	/* One allocation: the wheel, its lists, the bits. */
	lists = struct_size(w, slot, slots);
	w = co_scheme_alloc(&callout_hierarchical_wheel,
			    size_add(lists, BITS_TO_LONGS(slots + 1) * sizeof(*w->busy)), p);
	if (IS_ERR(w))
		return ERR_CAST(w);

	w->variant = p->variant;
	w->levels = levels;
	memcpy(w->level, level, sizeof(level));
	w->clk = p->now;
	w->slots = slots;
	w->open = slots;
	w->busy = (unsigned long *)((char *)w + lists);
	for (i = 0; i < slots; i++)
		INIT_LIST_HEAD(&w->slot[i]);
	return &w->s;
}

const struct callout_scheme_ops callout_hierarchical_wheel = {
	.name		= "hierarchical_wheel",
	.variants	= hier_variants,
	.flags		= CALLOUT_TAKES_LEVELS,
	.refuses	= hier_refuses,
	.create		= hier_create,
	.destroy	= co_scheme_free,
	.start		= hier_start,
	.stop		= hier_stop,
	.advance	= hier_advance,
	.next_due	= hier_next_due,
	.take		= co_first_take,
	.first		= hier_any,
	.late		= hier_late,
	.check		= hier_check,
};
