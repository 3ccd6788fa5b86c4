/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stress_load.h - threads that race for the same callouts, and the accounts of
 * their settings
 */
#ifndef _CALLOUT_KUNIT_STRESS_LOAD_H
#define _CALLOUT_KUNIT_STRESS_LOAD_H

#include <linux/callout.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include "common.h"

#define CALLOUT_STRESS_ITEMS	64U

struct callout_stress;

/**
 * struct callout_stress_item - a callout and the account of its settings
 * @c: the callout
 * @s: the load to which it belongs
 * @sets: number of settings
 * @replaced: resets that returned 1
 * @stopped: stops and drains that returned 1
 * @zeroes: stops and drains that returned 0
 * @runs: number of runs of the handler
 * @missing: settings cancelled by a stop or drain that returned 0
 * @inside: the handler runs
 * @ambushed: a thread waits for the handler to run, and then drains the callout
 * @mutex: one operation at a time
 * @lock: the associated lock
 * @armed: the handler must run; protected by @lock
 * @handle: the callout's handle; protected by @mutex
 */
struct callout_stress_item {
	struct callout c;
	struct callout_stress *s;
	atomic_t sets;
	atomic_t replaced;
	atomic_t stopped;
	atomic_t zeroes;
	atomic_t runs;
	unsigned int missing;
	atomic_t inside;
	bool ambushed;
	struct mutex mutex;	/* one operation at a time */
	spinlock_t lock;	/* the associated lock */
	bool armed;
	u64 handle;
};

/**
 * struct callout_stress - a load
 * @op: one operation on an item
 * @end: when the threads end, in ns, if they have seen all demanded outcomes. Not
 *	in ticks: on an overcommitted host the CPU that advances jiffies may not run
 *	for seconds.
 * @min_zeroes: least number of stops and drains that must find the handler running
 * @min_met: the least value that @met must have
 * @ops: number of operations done
 * @errors: number of violated invariants
 * @met: number of operations that found a handler waiting for its associated lock
 * @handler_sets: while the threads run, handlers sometimes set their own callouts
 * @seed: seed of the threads' random numbers
 * @item: the callouts
 */
struct callout_stress {
	void (*op)(struct callout_stress *s, struct callout_stress_item *item,
		   struct rnd_state *rng);
	u64 end;
	unsigned int min_zeroes;
	unsigned int min_met;
	atomic64_t ops;
	atomic_t errors;
	atomic_t met;
	bool handler_sets;
	u32 seed;
	struct callout_stress_item item[CALLOUT_STRESS_ITEMS];
};

struct callout_stress *
callout_stress_create(struct kunit *test,
		      void (*op)(struct callout_stress *s,
				 struct callout_stress_item *item,
				 struct rnd_state *rng));
void callout_stress_run_on(struct kunit *test, struct callout_stress *s,
			   unsigned int n,
			   void (*meanwhile)(struct kunit *test));
void callout_stress_run(struct kunit *test, struct callout_stress *s);
int callout_stress_missing(struct callout_stress_item *item);
bool callout_stress_is_complete(struct callout_stress *s);
bool callout_stress_is_quiet(struct callout_stress *s);
void callout_stress_account(struct kunit *test, struct callout_stress *s,
			    int (*allowed)(struct callout_stress_item *item));
void callout_stress_just_count(void *arg);

#endif /* _CALLOUT_KUNIT_STRESS_LOAD_H */
