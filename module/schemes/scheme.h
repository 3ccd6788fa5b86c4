/* SPDX-License-Identifier: GPL-2.0 */
/*
 * scheme.h - what the core asks of a timer data structure
 *
 * The four routines of Varghese and Lauck's section II, with absolute times:
 * start is STARTTIMER, stop is STOPTIMER, advance is PERTICKBOOKKEEPING.
 * EXPIRYPROCESSING is not here: advance only moves what is due to a list, and
 * the core runs it.
 *
 * A scheme knows no lock, no clock and no CPU, and allocates nothing but in
 * create and reserve: the caller serialises all calls on one scheme, and time
 * is an argument. So the same file runs in the kernel, under a test's virtual
 * clock, and in a program in user space.
 *
 * A "unit of work" is one entry or one bucket (with what is in an index over
 * it) looked at. A function with a budget does at most that many units,
 * subtracts what it has done, and can be called again to go on; between two
 * such calls anything may be started or stopped. With a budget of at least
 * CALLOUT_MIN_BUDGET each call gets further.
 */
#ifndef _CALLOUT_SCHEME_H
#define _CALLOUT_SCHEME_H

#include <linux/callout.h>

#define CALLOUT_MIN_BUDGET	16U

struct callout_scheme_ops;

/**
 * struct callout_scheme - the part that all schemes have in common
 * @ops: what it can do
 * @visits: entries that advance has looked at
 * @refiles: entries that advance found moved to a later time, or due in a
 *	finer part of the scheme, and filed anew
 * @steps: entries that start, stop and find have looked at on their way to a
 *	place or to a match; only of schemes where that is not bounded
 */
struct callout_scheme {
	const struct callout_scheme_ops *ops;
	u64 visits;
	u64 refiles;
	u64 steps;
};

#define CALLOUT_MAX_LEVELS	16U
/* Slots of a level. */
#define CALLOUT_MIN_SLOTS	2U
#define CALLOUT_MAX_SLOTS	(1U << 14)

/**
 * struct callout_scheme_params - what a scheme is created with
 * @variant: index in callout_scheme_ops.variants, 0 if it has none
 * @buckets: number of buckets; for CALLOUT_TAKES_BUCKETS
 * @nr_levels: how many of @level are given; 0: the scheme's own choice; for
 *	CALLOUT_TAKES_LEVELS
 * @level: slots of each level, the finest first
 * @now: the time
 * @node: NUMA node for its memory
 */
struct callout_scheme_params {
	unsigned int variant;
	unsigned int buckets;
	unsigned int nr_levels;
	unsigned int level[CALLOUT_MAX_LEVELS];
	u64 now;
	int node;
};

/* callout_scheme_ops.flags */
#define CALLOUT_TAKES_BUCKETS	0x1	/* heeds params.buckets */
#define CALLOUT_TAKES_LEVELS	0x2	/* heeds params.nr_levels and level */
#define CALLOUT_UNORDERED	0x4	/* no order among those of one tick */
/* start, stop or find is not bounded, or every tick looks at everything */
#define CALLOUT_LINEAR		0x8

/* For find: is @c the one that is looked for? */
typedef bool (*callout_match_fn)(struct callout *c, const void *data);

/**
 * struct callout_scheme_ops - a timer data structure
 * @name: as given to the module parameter scheme=
 * @variants: names for the module parameter variant=, NULL at the end; the
 *	first is the default. NULL if there is one way only.
 * @flags: CALLOUT_TAKES_BUCKETS and so on
 * @create: makes an empty one; may sleep. An ERR_PTR on failure: -EINVAL for
 *	parameters that it does not take, -ENOMEM.
 * @destroy: frees one; may sleep. What is still filed is not touched.
 * @reserve: makes room for @n more callouts; may sleep, and may run beside
 *	all others, so it hands over what it allocates without a lock. 0 or
 *	-ENOMEM. Without room start is slower, but does its work. NULL if the
 *	scheme needs nothing but the callouts' own memory.
 * @start: files @c, which is not in any scheme, to be due at @expires. An
 *	@expires that has passed makes it due at the next advance. @now may have
 *	grown since the last advance, which may come much later.
 * @rearm: moves @c, which is filed here, to @expires
 * @stop: takes @c, which is filed here, out
 * @advance: moves what is due at @now or before to the tail of @due, by
 *	callout_scheme_due(), in order of expiry and, among equals, of filing.
 *	Returns true if the budget ran out before everything was moved.
 * @next_due: a lower bound of the tick at which advance has something to do;
 *	U64_MAX if empty. As good as the scheme can tell if it returns with
 *	budget left.
 * @take: moves everything to @out, in no order. Returns true if the budget
 *	ran out before everything was moved.
 * @find: the first to expire of those that @match says are wanted, or NULL;
 *	among equals the one filed first. The old BSD search. NULL if the
 *	scheme has none, and a hash is to be used.
 * @late: by how many ticks at most a callout of @interval ticks comes late by
 *	the scheme's design; NULL: it is exact
 * @check: walks every invariant. Returns 0, or a number that tells which does
 *	not hold. For tests.
 */
struct callout_scheme_ops {
	const char *name;
	const char *const *variants;
	unsigned int flags;
	struct callout_scheme *(*create)(const struct callout_scheme_params *p);
	void (*destroy)(struct callout_scheme *s);
	int (*reserve)(struct callout_scheme *s, unsigned int n);
	void (*start)(struct callout_scheme *s, struct callout *c, u64 now,
		      u64 expires);
	void (*rearm)(struct callout_scheme *s, struct callout *c, u64 now,
		      u64 expires);
	void (*stop)(struct callout_scheme *s, struct callout *c);
	bool (*advance)(struct callout_scheme *s, u64 now, unsigned int *budget,
			struct list_head *due);
	u64 (*next_due)(struct callout_scheme *s, unsigned int *budget);
	bool (*take)(struct callout_scheme *s, unsigned int *budget,
		     struct list_head *out);
	struct callout *(*find)(struct callout_scheme *s,
				callout_match_fn match, const void *data);
	u64 (*late)(struct callout_scheme *s, u64 interval);
	int (*check)(struct callout_scheme *s);
};

/* Bits of callout.state that schemes and the core share; more are in core.h. */
#define CALLOUT_S_PENDING	0x1	/* in the scheme, or on a due list */
#define CALLOUT_S_DUE		0x2	/* on a due list */

/*
 * Changes bits of callout.state. The base is locked, against others that do
 * this; callout_pending() reads the state without that.
 */
static inline void callout_change_state(struct callout *c, u8 clear, u8 set)
{
	WRITE_ONCE(c->state, (c->state & ~clear) | set);
}

/* How advance hands over @c, which is in the scheme no more. */
static inline void callout_scheme_due(struct callout *c, struct list_head *due)
{
	callout_change_state(c, 0, CALLOUT_S_DUE);
	list_add_tail(&c->entry, due);
}

/* rearm of the schemes that have no shorter way. */
static inline void callout_scheme_restart(struct callout_scheme *s,
					  struct callout *c, u64 now,
					  u64 expires)
{
	s->ops->stop(s, c);
	s->ops->start(s, c, now, expires);
}

/* take of one list of callouts that are filed in @s. */
static inline bool callout_scheme_take_list(struct callout_scheme *s,
					    struct list_head *list,
					    unsigned int *budget,
					    struct list_head *out)
{
	struct callout *c;

	while (!list_empty(list)) {
		if (!*budget)
			return true;
		--*budget;
		c = list_first_entry(list, struct callout, entry);
		s->ops->stop(s, c);
		list_add_tail(&c->entry, out);
	}
	return false;
}

extern const struct callout_scheme_ops callout_hashed_wheel;
extern const struct callout_scheme_ops callout_unsorted_list;
extern const struct callout_scheme_ops callout_sorted_list;
extern const struct callout_scheme_ops callout_timing_wheel;
extern const struct callout_scheme_ops callout_logic_wheel;
extern const struct callout_scheme_ops callout_sorted_wheel;
extern const struct callout_scheme_ops callout_hashed_wheel_paper;
extern const struct callout_scheme_ops callout_tree;
extern const struct callout_scheme_ops callout_pairing_heap;
extern const struct callout_scheme_ops callout_dary_heap;
extern const struct callout_scheme_ops callout_skip_list;
extern const struct callout_scheme_ops callout_hierarchical_wheel;
extern const struct callout_scheme_ops callout_lawn;
extern const struct callout_scheme_ops callout_calendar_queue;

/* All schemes, the default first, NULL at the end. */
extern const struct callout_scheme_ops *const callout_schemes[];

const struct callout_scheme_ops *callout_scheme_find(const char *name);

#define CALLOUT_WHEEL_MIN_BUCKETS	4U
#define CALLOUT_WHEEL_MAX_BUCKETS	(1U << 20)

#endif /* _CALLOUT_SCHEME_H */
