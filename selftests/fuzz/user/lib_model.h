/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lib_model.h - a model of the timers of two contexts
 */
#ifndef _FUZZ_LIB_MODEL_H
#define _FUZZ_LIB_MODEL_H

#include "mock_device.h"

#define TIMERS		10U
#define CONTEXTS	2U
#define CLOCKS		10

/**
 * struct model_timer - a timer and its arming
 * @timer: the timer
 * @armed: callout_ctx_next() must return it
 * @waits: the relative time @time counts from the next turn
 * @lo: the timer is not due before this, in its clock
 * @hi: the timer is not due after this
 * @ctx: index of its context
 * @clockid: its clock
 * @period: its period
 * @slack: its slack
 * @turn: the last turn of its context before the arming
 * @base: an absolute time before this may count as this
 * @seq: the number of the arming, in order
 * @moved: it was armed already before the arming
 * @rel: it was armed for a relative time
 * @settings: how often CLOCK_REALTIME had been set when it was armed
 */
struct model_timer {
	struct callout_timer *timer;
	bool armed;
	bool waits;
	uint64_t time;
	uint64_t lo, hi;
	unsigned int ctx;
	clockid_t clockid;
	uint64_t period, slack;
	unsigned int turn;
	uint64_t base;
	unsigned int seq;
	bool moved, rel;
	unsigned int settings;
};

/* A turn: when it began, and @mock.drift at that time. */
struct turn {
	uint64_t start;
	uint64_t drift;
};

extern struct model_timer model[TIMERS];
/* A timer was armed for a time that never comes. */
extern bool model_far[CONTEXTS];
/* The latest finite time for which a timer was armed, by clock. */
extern uint64_t model_last[CLOCKS];
/* The times after the last turn, or when the clock was first used, by clock. */
extern uint64_t model_turn_end[CONTEXTS][CLOCKS];
/* How often CLOCK_REALTIME was set. */
extern unsigned int model_settings;

void model_init(void);
void model_new(struct model_timer *m);
struct model_timer *model_of(const struct callout_timer *timer);
uint64_t model_after(uint64_t now, uint64_t time);
clockid_t model_clock(const struct callout_timer *timer, bool rel);
void model_arm(struct model_timer *m, unsigned int i, uint64_t time, bool rel);
void model_turn(unsigned int i, const struct turn *turn);
void model_order(const struct model_timer *m);
void model_fired(struct model_timer *m, const struct callout_event *e,
		 const struct turn *turn);
bool model_any_left(unsigned int i);
bool model_any_due(unsigned int i, uint64_t ago);

#endif /* _FUZZ_LIB_MODEL_H */
