// SPDX-License-Identifier: GPL-2.0
/*
 * ops.c - instructions to set, cancel and move, compared with Linux's timers
 *
 * The load is as in the paper's figure 9: one timer is set and cancelled
 * repeatedly, farther away than n other outstanding timers.
 *
 * Every facility runs in the same loop, with the same distribution of times,
 * drawn in advance. Linux's timers are pinned, as callouts are, which saves
 * hrtimers the search for a CPU. Each operation yields 1 if it succeeds; a
 * block with a failed operation is not counted.
 */
#include <linux/callout.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/sort.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <asm/timex.h>
#include "../compare.h"
#include "bench.h"
#include "kcompat.h"

#define BLOCKS		41
#define OPS		100

/* The others are due within one to two hours, and the measured timer in two to three. */
#define HOUR		(3600L * HZ)

static const unsigned int outstanding[] = { 0, 1000, 10000, 100000, 1000000 };

static unsigned long after[OPS];
static u64 took[BLOCKS];

static void nothing(void *arg)
{
}

static void timer_nothing(struct timer_list *t)
{
}

static enum hrtimer_restart hrtimer_nothing(struct hrtimer *t)
{
	return HRTIMER_NORESTART;
}

static unsigned long random_in_hour(void)
{
	return get_random_u32_below(HOUR);
}

/* Times for a block. With @step, each is later than the previous time. */
static void draw_times(unsigned int block, unsigned long step)
{
	unsigned int i;

	for (i = 0; i < OPS; i++)
		after[i] = 2 * HOUR + random_in_hour() +
			   (block * OPS + i) * step;
}

static void report(const char *name, unsigned int others, unsigned int good)
{
	sort(took, good, sizeof(took[0]), compare_u64, NULL);
	if (good > BLOCKS / 2)
		pr_info("bench-ops: %s,%u,%llu\n", name, others,
			took[good / 2] / OPS);
	else
		pr_err("bench-ops: %s with %u others does not work\n", name,
		       others);
}

/* Run @op in blocks with interrupts off. Return how many blocks count. */
#define RUN_BLOCKS(step, op)						\
({									\
	unsigned int block, i, done, good = 0;				\
	u64 start;							\
									\
	for (block = 0; block < BLOCKS; block++) {			\
		draw_times(block, step);				\
		done = 0;						\
		local_irq_disable();					\
		start = get_cycles();					\
		for (i = 0; i < OPS; i++) {				\
			unsigned long ticks = after[i];			\
									\
			done += op;					\
		}							\
		took[good] = get_cycles() - start;			\
		local_irq_enable();					\
		good += done == OPS;					\
		cond_resched();						\
	}								\
	good;								\
})

/* Report the instructions of an operation, as the median over the blocks. */
#define MEASURE(name, others, step, op)					\
	report(name, others, RUN_BLOCKS(step, op))

/* Measure set and cancel, as @name, and moves to later times, as @lazy if not NULL. */
static void bench_callout(unsigned int n, const char *name, const char *lazy)
{
	struct callout *others = vcalloc(n + 1, sizeof(*others));
	struct callout *c;
	unsigned int i;

	if (!others)
		return;
	for (i = 0; i <= n; i++) {
		callout_init(&others[i], CALLOUT_MPSAFE);
		callout_reset(&others[i], HOUR + random_in_hour(), nothing,
			      NULL);
	}
	bench_settle();
	c = &others[n];
	MEASURE(name, n, 0, ({
		int ret = callout_stop(c);

		callout_reset(c, ticks, nothing, NULL);
		ret;
	}));
	callout_reset(c, HOUR, nothing, NULL);
	if (lazy)
		MEASURE(lazy, n, 2 * HOUR,
			callout_reset(c, ticks, nothing, NULL));
	for (i = 0; i <= n; i++)
		callout_drain(&others[i]);
	vfree(others);
}

static void bench_handle(unsigned int n)
{
	callout_handle_t *others = vcalloc(n + 1, sizeof(*others));
	unsigned int i;

	if (!others || callout_reserve(n + 100))
		goto out;
	for (i = 0; i < n; i++)
		others[i] = setcallout(nothing, &others[i],
				       HOUR + random_in_hour());
	bench_settle();
	MEASURE("handle", n, 0,
		unsetcallout(setcallout(nothing, &others[n], ticks)));
	for (i = 0; i < n; i++)
		unsetcallout(others[i]);
out:
	vfree(others);
}

/*
 * Arguments are random: consecutive arguments spread too evenly over the hash.
 * Each is used once, since the number of others in its bucket is random.
 */
static void bench_compat(unsigned int n)
{
	unsigned int i, all = n + BLOCKS * OPS;
	void **args = vcalloc(all, sizeof(*args));

	if (!args || callout_reserve(n + 100))
		goto out;
	get_random_bytes(args, all * sizeof(*args));
	for (i = 0; i < n; i++)
		callout_timeout(nothing, args[i], HOUR + random_in_hour());
	bench_settle();
	MEASURE("compat", n, 0, ({
		void *arg = args[n + block * OPS + i];

		callout_timeout(nothing, arg, ticks);
		callout_untimeout(nothing, arg);
	}));
	for (i = 0; i < n; i++)
		callout_untimeout(nothing, args[i]);
out:
	vfree(args);
}

static void bench_timer_list(unsigned int n)
{
	struct timer_list *others = vcalloc(n + 1, sizeof(*others));
	struct timer_list *t;
	unsigned int i;

	if (!others)
		return;
	for (i = 0; i <= n; i++) {
		timer_setup(&others[i], timer_nothing, TIMER_PINNED);
		mod_timer(&others[i], jiffies + HOUR + random_in_hour());
	}
	t = &others[n];
	MEASURE("timer_list", n, 0, ({
		int ret = timer_delete(t);

		t->expires = jiffies + ticks;
		add_timer(t);
		ret;
	}));
	MEASURE("mod_timer", n, 0, mod_timer(t, jiffies + ticks));
	for (i = 0; i <= n; i++)
		timer_delete_sync(&others[i]);
	vfree(others);
}

static void bench_hrtimer(unsigned int n)
{
	struct hrtimer *others = vcalloc(n + 1, sizeof(*others));
	struct hrtimer *t;
	unsigned int i;

	if (!others)
		return;
	for (i = 0; i <= n; i++) {
		hrtimer_setup(&others[i], hrtimer_nothing, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED);
		hrtimer_start(&others[i],
			      (u64)(HOUR + random_in_hour()) * TICK_NSEC,
			      HRTIMER_MODE_REL_PINNED);
	}
	t = &others[n];
	MEASURE("hrtimer", n, 0, ({
		int ret = hrtimer_cancel(t);

		hrtimer_start(t, (u64)ticks * TICK_NSEC,
			      HRTIMER_MODE_REL_PINNED);
		ret;
	}));
	for (i = 0; i <= n; i++)
		hrtimer_cancel(&others[i]);
	vfree(others);
}

void bench_ops(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(outstanding); i++) {
		bench_callout(outstanding[i], "callout", "callout_lazy");
		bench_handle(outstanding[i]);
		bench_compat(outstanding[i]);
		bench_timer_list(outstanding[i]);
		bench_hrtimer(outstanding[i]);
	}
}

/* For callout.ko loaded with tick_source=hrtimer. */
void bench_ops_hrtimer_source(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(outstanding); i++)
		bench_callout(outstanding[i], "callout_hrtimer", NULL);
}
