/* SPDX-License-Identifier: GPL-2.0 */
/*
 * litmus.h - two CPUs that do what a litmus test says, again and again
 */
#ifndef _CALLOUT_KUNIT_LITMUS_H
#define _CALLOUT_KUNIT_LITMUS_H

#include "common.h"

struct litmus;

/**
 * struct litmus_ops - a litmus test, whose memory is the module's own
 * @spread: each side begins after a random delay, of up to so many turns
 * @prepare: side 0, before each round, while the other waits; false: it cannot
 * @prepare_other: side 1, before each round, after @prepare; optional
 * @side0: what one does; each counts in litmus.wrong[] what the module forbids
 * @side1: what the other does at the same time
 * @seen: after each round: were the two in the window that the test is about?
 */
struct litmus_ops {
	unsigned int spread;
	bool (*prepare)(struct litmus *l);
	void (*prepare_other)(struct litmus *l);
	void (*side0)(struct litmus *l);
	void (*side1)(struct litmus *l);
	bool (*seen)(struct litmus *l);
};

/**
 * struct litmus - a litmus test that runs
 * @ops: the test
 * @data: the test's own
 * @cpu: the CPUs of the two sides
 * @rng: random numbers of each side
 * @begin: when each side has begun, in ns
 * @end: when each side has ended, in ns
 * @wrong: what each side has found that is forbidden
 * @round: the round that side 1 may prepare
 * @ready: the round that side 1 has prepared
 * @go: the round that both may begin
 * @done: the round that side 1 has ended
 * @stop: there is no other round
 */
struct litmus {
	const struct litmus_ops *ops;
	void *data;
	unsigned int cpu[2];
	struct rnd_state rng[2];
	u64 begin[2];
	u64 end[2];
	unsigned int wrong[2];
	unsigned int round;
	unsigned int ready;
	unsigned int go;
	unsigned int done;
	bool stop;
};

/* Were the two sides at it at the same time? */
static inline bool callout_litmus_overlap(struct litmus *l)
{
	return l->begin[0] < l->end[1] && l->begin[1] < l->end[0];
}

/*
 * Spins until @cond, and then sleeps: a thread that stops all CPUs, as a change of
 * the clock source does, has the other side wait until this one lets it run.
 */
#define callout_litmus_wait_until(cond)					\
({									\
	unsigned long __end = jiffies + CALLOUT_TEST_PATIENCE;		\
	unsigned int __turns = 0;					\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && time_before(jiffies, __end)) {	\
		if (++__turns > 100000)					\
			usleep_range(500, 1000);			\
	}								\
	__ok;								\
})

void callout_litmus_run(struct kunit *test, const struct litmus_ops *ops, void *data);

#endif /* _CALLOUT_KUNIT_LITMUS_H */
