/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timed.h - callouts that real ticks run, and when and where they ran
 */
#ifndef _CALLOUT_KUNIT_TIMED_H
#define _CALLOUT_KUNIT_TIMED_H

#include <linux/callout.h>
#include "common.h"

/**
 * struct callout_timed - a callout and how it ran
 * @c: the callout
 * @cpu: the CPU on which the callout must run
 * @least: the first tick at which the callout may run
 * @ran: the tick at which it ran
 * @ran_on: the CPU on which it ran
 * @runs: how often it ran
 * @block: how many ticks the handler takes
 * @done: the handler is about to return
 */
struct callout_timed {
	struct callout c;
	unsigned int cpu;
	u64 least;
	u64 ran;
	unsigned int ran_on;
	atomic_t runs;
	unsigned int block;
	bool done;
};

struct callout_timed_set {
	unsigned int n;
	struct callout_timed t[];
};

void callout_timed_handler(void *arg);
struct callout_timed_set *callout_timed_create(struct kunit *test,
					       unsigned int n);
void callout_timed_set_on(struct callout_timed *t, unsigned int cpu,
			  long distance);
void callout_timed_check(struct kunit *test, struct callout_timed_set *set);

#endif /* _CALLOUT_KUNIT_TIMED_H */
