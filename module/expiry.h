/* SPDX-License-Identifier: GPL-2.0 */
/*
 * expiry.h - run due callouts: what kinds of callouts and tick sources call
 */
#ifndef _CALLOUT_EXPIRY_H
#define _CALLOUT_EXPIRY_H

#include "base.h"

/* Handlers run, and time spent, in one softirq, at most. */
#define CALLOUT_MAX_HANDLERS	1024U
#define CALLOUT_MAX_NS		(2 * NSEC_PER_MSEC)

/* A handler that takes longer, its wait for its lock included, delays others. */
#define CALLOUT_SLOW_NS		(2 * NSEC_PER_MSEC)

/**
 * struct callout_kind_ops - what to do with nodes of one kind
 * @expire: takes a due node off the base's due list and does what its kind asks
 *	for; may take others of the same kind that follow it. Called with the
 *	base locked; may drop the lock in between. Returns how many it took.
 * @func: the handler of a node, or NULL if this kind has none
 *
 * Kinds and handlers run in softirq context, inside an RCU read-side critical
 * section that lasts until the base's expiry ends.
 */
struct callout_kind_ops {
	unsigned int (*expire)(struct callout_base *base,
			       struct callout_node *n);
	callout_func_t *(*func)(const struct callout_node *n);
};

void callout_register_kind(enum callout_kind kind,
			   const struct callout_kind_ops *ops);

/* Expiry has done this many units of work in one hold of the lock. */
static inline void callout_count_units(struct callout_base *base,
				       unsigned int units)
{
	if (units > base->stats.max_units)
		base->stats.max_units = units;
}

void callout_take_due(struct callout_base *base, struct callout_node *n);
void callout_run_begin(struct callout_base *base, struct callout_node *n);
void callout_run_end(struct callout_base *base, void *arg);
void callout_call(struct callout_base *base, callout_func_t *func, void *arg);
void callout_check_context(struct callout_base *base, callout_func_t *func);
void callout_wait_run(struct callout_base *base, unsigned long seq);

bool callout_collect(struct callout_base *base);
void callout_program_next(struct callout_base *base, u64 end);
bool callout_expire(struct callout_base *base);

#endif /* _CALLOUT_EXPIRY_H */
