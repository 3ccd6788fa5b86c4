/* SPDX-License-Identifier: GPL-2.0 */
/*
 * virtual.h - a base of the core whose time is set by the case
 */
#ifndef _CALLOUT_KUNIT_VIRTUAL_H
#define _CALLOUT_KUNIT_VIRTUAL_H

#include "core/queue.h"
#include "core/expiry.h"
#include "lab/chip.h"
#include "common.h"

/* Index of the virtual base, of which only one can exist at a time. */
#define CALLOUT_VIRTUAL		CALLOUT_INDEX_TEST

/**
 * struct callout_virtual - a base on a virtual clock
 * @test: the case
 * @base: the base
 * @now: the base's time, in ticks
 * @jiffies: the time by which the limits of expiry are measured
 * @armed: the tick for which the base's source is programmed
 * @programs: how often the source was programmed
 * @ran: number of handlers that have run
 * @zero_ns: CLOCK_MONOTONIC at the beginning of the case
 * @wrong_now: how often the source was given a time that is not the clock's
 */
struct callout_virtual {
	struct kunit *test;
	struct callout_base *base;
	u64 now;
	u64 jiffies;
	u64 armed;
	unsigned int programs;
	unsigned int ran;
	u64 zero_ns;
	unsigned int wrong_now;
};

/**
 * struct callout_item - a callout and the record of its runs
 * @c: the callout
 * @v: the base
 * @runs: how often the handler has run
 * @ran_at: the tick of the last run
 * @place: the number of the last run among all items' runs, from 0
 * @then: called by the handler, or NULL
 * @other: for @then
 * @ret: for @then
 * @seen: for @then
 */
struct callout_item {
	struct callout c;
	struct callout_virtual *v;
	unsigned int runs;
	u64 ran_at;
	unsigned int place;
	void (*then)(struct callout_item *item);
	struct callout_item *other;
	int ret;
	int seen;
};

int callout_virtual_create(struct kunit *test, unsigned int buckets);
int callout_virtual_create_chip(struct kunit *test,
				const struct callout_chip_source *chip,
				unsigned int buckets);
int callout_virtual_init(struct kunit *test);
void callout_virtual_item(struct callout_virtual *v, struct callout_item *item);
struct callout_item *callout_virtual_items(struct kunit *test, unsigned int n);
void callout_virtual_handler(void *arg);
void callout_virtual_take_time(struct callout_item *item);
bool callout_virtual_expire_once(struct callout_virtual *v);
void callout_virtual_expire(struct callout_virtual *v);
void callout_virtual_run_to(struct callout_virtual *v, u64 now);
void callout_virtual_wake_at(struct callout_virtual *v, u64 now);

/* Is @c due, and has its turn not come yet? */
static inline bool callout_virtual_is_due(const struct callout *c)
{
	return c->node.state & CALLOUT_S_PENDING &&
	       c->node.expires <= co_base(c->node.cpu)->now;
}

/* Set an item's callout with the handler that keeps its record. */
static inline int callout_virtual_set(struct callout_item *item,
				      long distance)
{
	return callout_reset(&item->c, distance, callout_virtual_handler, item);
}

#endif /* _CALLOUT_KUNIT_VIRTUAL_H */
