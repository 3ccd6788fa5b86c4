/* SPDX-License-Identifier: GPL-2.0 */
/*
 * litmus.h - two CPUs that run a litmus test again and again
 */
#ifndef _CALLOUT_KUNIT_LITMUS_H
#define _CALLOUT_KUNIT_LITMUS_H

#include "common.h"

struct litmus;

/**
 * struct litmus_ops - a litmus test, whose memory is the module's own
 * @spread: each side begins after a random delay of up to this many turns
 * @prepare: called on side 0 before each round, while side 1 waits; returns false
 *	if the test cannot run
 * @prepare_other: called on side 1 before each round, after @prepare; optional
 * @side0: the code of side 0; each side counts in litmus.wrong[] what the module
 *	forbids
 * @side1: the code of side 1, which runs concurrently
 * @seen: called after each round: were the two sides in the test's window?
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
 * struct litmus - a running litmus test
 * @ops: the test
 * @data: the test's own data
 * @cpu: the CPUs of the two sides
 * @rng: random numbers of each side
 * @begin: when each side has begun, in ns
 * @end: when each side has ended, in ns
 * @wrong: number of forbidden outcomes that each side has found
 * @round: the round that side 1 may prepare
 * @ready: the round that side 1 has prepared
 * @go: the round that both sides may begin
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

/* Did the two sides run concurrently? */
static inline bool callout_litmus_overlap(struct litmus *l)
{
	return l->begin[0] < l->end[1] && l->begin[1] < l->end[0];
}

/*
 * Spin until @cond, and then sleep: a thread that stops all CPUs, as a change of
 * the clock source does, keeps the other side waiting until this side lets that
 * thread run.
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
