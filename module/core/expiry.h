/* SPDX-License-Identifier: GPL-2.0 */
/*
 * expiry.h - run due callouts: functions for kinds of callouts and for tick sources
 */
#ifndef _CALLOUT_EXPIRY_H
#define _CALLOUT_EXPIRY_H

#include "run.h"

/* The most handlers that run in one softirq. */
#define CALLOUT_MAX_HANDLERS	1024U

/* The most holds of the lock that a search for the next tick takes. */
#define CALLOUT_MAX_HOLDS	64U

/**
 * struct callout_kind_ops - what to do with nodes of one kind
 * @expire: takes a due node out and does what its kind asks for. May take further
 *	nodes of the same kind that are due next, each in another hold or for a unit
 *	of the budget of this hold. Called with the base locked, and may drop
 *	the lock in between. Returns the number of nodes taken.
 * @owner: who has set a node: for tracepoints
 *
 * Kinds and handlers run in softirq context, inside an RCU read-side critical
 * section that lasts until the base's expiry ends.
 */
struct callout_kind_ops {
	unsigned int (*expire)(struct callout_base *base,
			       struct callout_node *n, unsigned int *budget);
	struct callout_owner (*owner)(const struct callout_node *n);
};

void co_register_kind(enum callout_kind kind,
		      const struct callout_kind_ops *ops);

#ifdef CONFIG_CALLOUT_LAB
bool co_collect(struct callout_base *base);
#endif
void co_program_next(struct callout_base *base, unsigned int budget);
bool co_expire(struct callout_base *base);

#endif /* _CALLOUT_EXPIRY_H */
