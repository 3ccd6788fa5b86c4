/* SPDX-License-Identifier: GPL-2.0 */
/*
 * scheme.h - the interface of a timer data structure
 *
 * The four routines of Varghese and Lauck's section II, with absolute times:
 * start is STARTTIMER, stop is STOPTIMER, advance is PERTICKBOOKKEEPING.
 * EXPIRYPROCESSING is not here: advance only moves due callouts to a list, and
 * the core runs them.
 *
 * A scheme knows no lock, no clock and no CPU: the caller serialises all calls on
 * one scheme, and time is an argument. It allocates memory in create and reserve
 * only. So the same file runs in the kernel, under a test's virtual clock, and in a
 * program in user space.
 *
 * A "unit of work" is a look at one entry or one bucket, with the index over it. A
 * function with a budget does at most that many units, subtracts the units done
 * from the budget, and continues when it is called again. Between two such calls
 * callouts may be started and stopped. With a budget of at least CALLOUT_MIN_BUDGET
 * each call makes progress.
 */
#ifndef _CALLOUT_SCHEME_H
#define _CALLOUT_SCHEME_H

#include <linux/callout_node.h>
#include <linux/list.h>

#define CALLOUT_MIN_BUDGET	16U

struct callout_scheme_ops;

/**
 * struct callout_scheme - The part that all schemes have in common.
 * @ops: the scheme's functions
 * @visits: entries that advance has looked at
 * @requeues: entries that advance has requeued: re-armed for a later time, or
 *	due in a finer part of the scheme
 * @steps: entries that start, stop and find have looked at in their searches;
 *	counted only where the search is unbounded
 */
struct callout_scheme {
	const struct callout_scheme_ops *ops;
	u64 visits;
	u64 requeues;
	u64 steps;
};

#define CALLOUT_MAX_LEVELS	16U
/* The least and most slots of a level. */
#define CALLOUT_MIN_SLOTS	2U
#define CALLOUT_MAX_SLOTS	(1U << 14)

/**
 * struct callout_scheme_params - The parameters of create.
 * @variant: index in callout_scheme_ops.variants, 0 for a scheme without variants
 * @buckets: number of buckets; for CALLOUT_TAKES_BUCKETS
 * @nr_levels: number of elements in @level, 0 for the scheme's default; for
 *	CALLOUT_TAKES_LEVELS
 * @level: slots of each level, the finest first
 * @now: the current tick
 * @node: NUMA node for the scheme's memory
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
#define CALLOUT_TAKES_BUCKETS	0x1	/* uses params.buckets */
#define CALLOUT_TAKES_LEVELS	0x2	/* uses params.nr_levels and level */
#define CALLOUT_UNORDERED	0x4	/* may reorder callouts of one tick */
/*
 * start, stop or a tick looks at a share of all callouts as a rule, not only in the
 * worst case. In a scheme with buckets, at a share of the callouts beyond the last
 * bucket. Tests queue fewer callouts.
 */
#define CALLOUT_LINEAR		0x8

/* For find: does @c match? */
typedef bool (*callout_match_fn)(struct callout_node *c, const void *data);

/**
 * struct callout_scheme_ops - A timer data structure.
 * @name: value of the module parameter scheme=
 * @variants: values of the module parameter variant=, the default first, NULL
 *	at the end. NULL if the scheme has no variants.
 * @flags: CALLOUT_TAKES_BUCKETS and so on
 * @refuses: Say for the log which parameter of @p create does not accept, and why.
 *	Returns NULL if create accepts all. The pointer is NULL if the checks of each
 *	parameter suffice.
 * @create: Create an empty scheme. May sleep. Returns ERR_PTR(-EINVAL) for parameters
 *	that the scheme does not accept, or ERR_PTR(-ENOMEM).
 * @destroy: Free a scheme. May sleep. Callouts still queued are not touched.
 * @reserve: Make room for @n more callouts. If @n is negative, room for as many fewer
 *	is needed, and their memory is kept for later callouts. May sleep and may run
 *	concurrently with all other functions, so it publishes new memory without a
 *	lock. 0 or -ENOMEM. Without room start is slower, but succeeds. NULL if the
 *	scheme needs no memory other than the callouts' own.
 * @start: Queue @c, which is in no scheme, for @expires, or for the next advance if
 *	@expires has passed. @now may be later than the last advance, and the next
 *	advance may come much later.
 * @rearm: Move @c, which is queued here, to @expires. NULL if stop and start do that.
 * @stop: Remove @c, which is queued here.
 * @advance: Move the callouts due at @now or before to the tail of @due, with
 *	co_scheme_due(), in order of expiry and, among equals, of queueing.
 *	True if the budget ran out first.
 * @next_due: A lower bound of the tick at which advance has work to do; U64_MAX if
 *	empty. If it returns with budget left, this is the best bound that the scheme
 *	has.
 * @take: Move all callouts to @out, in any order. True if the budget ran out
 *	first.
 * @find: The first callout to expire for which @match returns true, or NULL; among
 *	equals the callout queued first. This is the old BSD search. The pointer is NULL
 *	if the scheme has no search and a hash is used.
 * @first: The first callout to expire, or NULL. Any callout will do if only take uses
 *	this function. One unit of work. For schemes that share an advance, next_due or
 *	take.
 * @late: By how many ticks at most a callout of @interval ticks is late by the
 *	scheme's design. NULL if the scheme is exact.
 * @check: Check every invariant. 0, or the number of the invariant that does not
 *	hold. For tests.
 */
struct callout_scheme_ops {
	const char *name;
	const char *const *variants;
	unsigned int flags;
	const char *(*refuses)(const struct callout_scheme_params *p);
	struct callout_scheme *(*create)(const struct callout_scheme_params *p);
	void (*destroy)(struct callout_scheme *s);
	int (*reserve)(struct callout_scheme *s, int n);
	void (*start)(struct callout_scheme *s, struct callout_node *c, u64 now,
		      u64 expires);
	void (*rearm)(struct callout_scheme *s, struct callout_node *c, u64 now,
		      u64 expires);
	void (*stop)(struct callout_scheme *s, struct callout_node *c);
	bool (*advance)(struct callout_scheme *s, u64 now, unsigned int *budget,
			struct list_head *due);
	u64 (*next_due)(struct callout_scheme *s, unsigned int *budget);
	bool (*take)(struct callout_scheme *s, unsigned int *budget,
		     struct list_head *out);
	struct callout_node *(*find)(struct callout_scheme *s,
				     callout_match_fn match, const void *data);
	struct callout_node *(*first)(struct callout_scheme *s);
	u64 (*late)(struct callout_scheme *s, u64 interval);
	int (*check)(struct callout_scheme *s);
};

/* Take a unit of work from a budget. Return false if none is left. */
static inline bool co_spend(unsigned int *budget)
{
	if (!*budget)
		return false;
	--*budget;
	return true;
}

/* Hand over @c, which advance has removed from the scheme. */
static inline void co_scheme_due(struct callout_node *c, struct list_head *due)
{
	callout_change_state(c, 0, CALLOUT_S_DUE);
	list_add_tail(&c->entry, due);
}

/* Move @c, which is queued in @s, to @expires, by rearm or by stop and start. */
static inline void co_scheme_move(struct callout_scheme *s,
				  struct callout_node *c, u64 now, u64 expires)
{
	if (s->ops->rearm) {
		s->ops->rearm(s, c, now, expires);
		return;
	}
	s->ops->stop(s, c);
	s->ops->start(s, c, now, expires);
}

/* A take function for callouts of @s that are in one list. */
static inline bool co_scheme_take_list(struct callout_scheme *s,
				       struct list_head *list,
				       unsigned int *budget,
				       struct list_head *out)
{
	struct callout_node *c;

	while (!list_empty(list)) {
		if (!co_spend(budget))
			return true;
		c = list_first_entry(list, struct callout_node, entry);
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

/* All schemes: the default first, NULL at the end. */
extern const struct callout_scheme_ops *const callout_schemes[];

const struct callout_scheme_ops *co_scheme_find(const char *name);

#define CALLOUT_WHEEL_MIN_BUCKETS	4U
#define CALLOUT_WHEEL_MAX_BUCKETS	(1U << 20)

#endif /* _CALLOUT_SCHEME_H */
