// SPDX-License-Identifier: GPL-2.0
/*
 * scale.c - the costs in ns that grow with the number of callouts, for a model of more
 *
 * For User Mode Linux, like native.c, up to most= callouts:
 *
 *	line	one read of a random timer of all: a line of memory, and what finds it.
 *		Each read waits for the read before. By the bytes of all timers.
 *	scale	the metrics of native.c, of the wheel alone and of whole facilities
 *
 * growth.c has what the facility does to follow the number of callouts.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include "core/resize.h"
#include "lab.h"
#include "native.h"

/* Reads of random lines in a round: enough to fill a cache. */
#define READS		(1U << 20)

#define FEWEST		(1U << 10)

/* Knuth's constants of a linear congruential generator. */
#define STEP_FACTOR	6364136223846793005ULL
#define STEP_TERM	1442695040888963407ULL

unsigned int lab_buckets_for(unsigned int n)
{
	return rounddown_pow_of_two(clamp(n, CALLOUT_WHEEL_FIRST,
					  CALLOUT_WHEEL_MAX_BUCKETS));
}

/* Read random timers of 2^@bits, whose first words are 0. */
static u64 read_lines(unsigned int bits)
{
	u64 start, at = 0;
	unsigned int i;

	start = lab_begin();
	for (i = 0; i < READS; i++)
		at = at * STEP_FACTOR + STEP_TERM +
		     READ_ONCE(lab_timer(at >> (64 - bits))->handle);
	/* The compiler must not drop the last read. */
	OPTIMIZER_HIDE_VAR(at);
	return lab_end(start, READS);
}

/* The most timers, to a power of two, are as large as lab_most callouts by handle. */
int lab_line(const char *unused)
{
	unsigned int most = roundup_pow_of_two(4 * lab_most), n, round;
	int ret = lab_callouts_init(most);
	u64 took[LAB_ROUNDS];
	char text[LAB_TENTHS];

	for (n = FEWEST; n <= most && !ret; n *= 2) {
		read_lines(ilog2(n));
		for (round = 0; round < LAB_ROUNDS; round++)
			took[round] = read_lines(ilog2(n));
		pr_info("lab-line: %llu,%s\n", (u64)n * sizeof(union lab_timer),
			lab_tenths(lab_median(took, LAB_ROUNDS), 10, text));
		cond_resched();
	}
	lab_callouts_free();
	return ret;
}

int lab_scale(const char *unused)
{
	int ret = lab_callouts_init(lab_most + 1);
	unsigned int n;

	for (n = 1000; n <= lab_most && !ret; n *= 10) {
		ret = lab_scale_wheel(n);
		if (!ret)
			ret = lab_scale_facilities(n);
	}
	lab_callouts_free();
	return ret;
}
