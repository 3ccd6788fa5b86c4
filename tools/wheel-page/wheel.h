/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wheel.h - every scheme with the same timers, for the page that shows them
 *
 * It is compiled twice: to WebAssembly for the page, whose script calls these functions, and for
 * this machine, for the check that compares. Ticks are 32 bits wide here, so that a number of
 * JavaScript holds a tick. A timer is an index less than WHEEL_TIMERS, a scheme is an index less
 * than wheel_new() has returned.
 */
#ifndef _WHEEL_H
#define _WHEEL_H

#include "lib/model.h"

#define WHEEL_TIMERS	1024U

/* What an operation costs: entries that the scheme has looked at, by its own counters. */
enum wheel_op {
	WHEEL_SET,
	WHEEL_CANCEL,
	WHEEL_MOVE,
	WHEEL_TICK,	/* with the search for the next due timer */
	WHEEL_PAIR,	/* of figure 9 */
	WHEEL_OPS
};

enum wheel_work { WHEEL_LAST, WHEEL_MOST, WHEEL_TENTHS, WHEEL_TIMES };

/* How a scheme keeps its timers, and what the members of struct wheel_place are. */
enum wheel_shape {
	WHEEL_LIST,	/* order */
	WHEEL_RING,	/* slot and order in its list */
	WHEEL_LEVELS,	/* slot, counted from the finest level on, and order */
	WHEEL_TREE,	/* parent and order among its children */
	WHEEL_QUEUES,	/* queue and order */
	WHEEL_TOWERS	/* order, and number of express lists */
};

/* WHEEL_APART: in a list or tree beside the scheme's main part; at the root of a tree. */
#define WHEEL_APART	(-1)
#define WHEEL_NOWHERE	(-2)

/**
 * struct wheel_place - where a scheme has a timer
 * @group: slot, queue, or the timer that is the parent; or one of the two above
 * @order: in the list of that group
 */
struct wheel_place {
	int group;
	int order;
};

unsigned int wheel_new(unsigned int slots, unsigned int seed);
const char *wheel_name(unsigned int k);
const char *wheel_variant(unsigned int k);
unsigned int wheel_random(unsigned int below);
int wheel_set(unsigned int interval);
void wheel_cancel(unsigned int timer);
void wheel_move(unsigned int timer, unsigned int interval);
void wheel_advance(unsigned int ticks);
void wheel_pair(unsigned int interval);
unsigned int wheel_pending(unsigned int timer);
unsigned int wheel_expires(unsigned int timer);
unsigned int wheel_now(void);
unsigned int wheel_cost(unsigned int k, enum wheel_op op, enum wheel_work what);
unsigned int wheel_kept(unsigned int k);
unsigned int wheel_fired(unsigned int k);
unsigned int wheel_fired_timer(unsigned int k, unsigned int i);
unsigned int wheel_late(unsigned int k, unsigned int i);
unsigned int wheel_late_by_design(unsigned int k);
enum wheel_shape wheel_shape(unsigned int k);
unsigned int wheel_levels(unsigned int k);
unsigned int wheel_slots(unsigned int k);
const struct wheel_place *wheel_places(unsigned int k);
unsigned int wheel_nr_bounds(unsigned int k);
const unsigned int *wheel_bounds(void);
const char *wheel_wrong(void);

/* In inspect.c. */
enum wheel_shape wheel_shape_of(const struct callout_scheme *s);
unsigned int wheel_levels_of(struct callout_scheme *s);
unsigned int wheel_slots_of(struct callout_scheme *s);
void wheel_place_all(struct callout_model *m, struct wheel_place *place);
unsigned int wheel_copy_bounds(struct callout_scheme *s, unsigned int *bound);

#endif /* _WHEEL_H */
