/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_scheme.h - what the core asks of a timer data structure
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
#ifndef _LINUX_CALLOUT_SCHEME_H
#define _LINUX_CALLOUT_SCHEME_H

#include <linux/callout.h>

#define CALLOUT_MIN_BUDGET	16U

struct callout_scheme_ops;

/**
 * struct callout_scheme - the part that all schemes have in common
 * @ops: what it can do
 * @visits: entries that advance has looked at
 * @refiles: entries that advance found moved to a later time, and re-filed
 */
struct callout_scheme {
	const struct callout_scheme_ops *ops;
	u64 visits;
	u64 refiles;
};

/**
 * struct callout_scheme_params - what a scheme is created with
 * @buckets: number of buckets, for schemes that have them
 * @node: NUMA node for its memory
 */
struct callout_scheme_params {
	unsigned int buckets;
	int node;
};

/**
 * struct callout_scheme_ops - a timer data structure
 * @name: as given to the module parameter scheme=
 * @create: makes an empty one; may sleep. NULL or an ERR_PTR on failure.
 * @destroy: frees an empty one; may sleep
 * @start: files @c, which is not in any scheme, to be due at @expires. An
 *	@expires that has passed makes it due at the next advance.
 * @rearm: moves @c, which is filed here, to @expires
 * @stop: takes @c, which is filed here, out
 * @advance: moves what is due at @now or before to the tail of @due, by
 *	callout_scheme_due(), in order of expiry and, among equals, of filing.
 *	Returns true if the budget ran out before everything was moved.
 * @next_due: a lower bound of the earliest expiry; U64_MAX if empty. Exact
 *	as far as the scheme can tell if it returns with budget left.
 * @take: moves everything to @out, in no order. Returns true if the budget
 *	ran out before everything was moved.
 * @check: walks every invariant. Returns 0, or a number that tells which does
 *	not hold. For tests.
 */
struct callout_scheme_ops {
	const char *name;
	struct callout_scheme *(*create)(const struct callout_scheme_params *p);
	void (*destroy)(struct callout_scheme *s);
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
	int (*check)(struct callout_scheme *s);
};

/* Bits of callout.state that schemes and the core share; more are in core.h. */
#define CALLOUT_S_PENDING	0x1	/* in the scheme, or on a due list */
#define CALLOUT_S_DUE		0x2	/* on a due list */

/* How advance hands over @c, which is in the scheme no more. */
static inline void callout_scheme_due(struct callout *c, struct list_head *due)
{
	c->state |= CALLOUT_S_DUE;
	list_add_tail(&c->entry, due);
}

/* schemes/hashed_wheel.c */
extern const struct callout_scheme_ops callout_hashed_wheel;

#define CALLOUT_WHEEL_MIN_BUCKETS	4U
#define CALLOUT_WHEEL_MAX_BUCKETS	(1U << 20)

#endif /* _LINUX_CALLOUT_SCHEME_H */
