// SPDX-License-Identifier: GPL-2.0
/*
 * share.c - the cost of one structure shared by all CPUs
 *
 * Varghese and Lauck, Appendix B, on the whole facility as callout.ko was
 * loaded: one CPU alone cancels and sets callouts repeatedly, or all CPUs do
 * concurrently, each with callouts of its own. With bases=percpu each has a
 * structure of its own too, with bases=single they contend for one lock. Time
 * is real time here, so the ratio of all to one counts; rounds of one CPU and
 * of all alternate.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include "../compare.h"
#include "arm.h"
#include "expiry.h"
#include "lab.h"

#define CPUS		4U
/* Outstanding, of each CPU. */
#define OWN		256U
#define ROUNDS		51U

/* How long a CPU's part of a round takes, in ns. */
#define STRETCH		(2 * NSEC_PER_MSEC)

/* The most pairs of cancel and set in a round. */
#define MAX_PAIRS	(1U << 14)

/**
 * struct share - a round
 * @hour: ticks of an hour
 * @waiting: CPUs that have not begun
 * @pairs: pairs of cancel and set of each CPU
 * @lost: callouts that could not be set, or not be cancelled
 * @start: when each CPU began
 * @end: when each CPU ended
 * @own: the outstanding callouts of each CPU
 * @ticks: the distances for which each CPU sets them
 */
static struct share {
	unsigned long hour;
	atomic_t waiting;
	unsigned int pairs;
	atomic_t lost;
	u64 start[CPUS];
	u64 end[CPUS];
	callout_handle_t own[CPUS][OWN];
	unsigned long ticks[CPUS][MAX_PAIRS];
} share;

static void nothing(void *arg)
{
}

static unsigned long draw(void)
{
	return lab_random(share.hour, 2 * share.hour);
}

static void fill(void *unused)
{
	callout_handle_t *own = share.own[smp_processor_id()];
	unsigned int i;

	for (i = 0; i < OWN; i++)
		own[i] = setcallout(nothing, NULL, draw());
}

static void empty(void *unused)
{
	callout_handle_t *own = share.own[smp_processor_id()];
	unsigned int i;

	for (i = 0; i < OWN; i++)
		unsetcallout(own[i]);
}

/* In a hard interrupt, on each CPU of the round. */
static void do_pairs(void *unused)
{
	unsigned int cpu = smp_processor_id(), i, lost = 0;
	const unsigned long *ticks = share.ticks[cpu];
	callout_handle_t *one = share.own[cpu];

	atomic_dec(&share.waiting);
	while (atomic_read(&share.waiting))
		cpu_relax();
	share.start[cpu] = ktime_get_ns();
	for (i = 0; i < share.pairs; i++) {
		lost += unsetcallout(*one) != 1;
		*one = setcallout(nothing, NULL, ticks[i]);
		lost += !*one;
		if (++one == share.own[cpu] + OWN)
			one = share.own[cpu];
	}
	share.end[cpu] = ktime_get_ns();
	atomic_add(lost, &share.lost);
}

/*
 * The time from the first begin to the last end, which shows if the host did
 * not run the CPUs at the same time.
 */
static u64 do_round(unsigned int cpus)
{
	u64 start = U64_MAX, end = 0;
	unsigned int cpu, i;

	for (cpu = 0; cpu < cpus; cpu++)
		for (i = 0; i < share.pairs; i++)
			share.ticks[cpu][i] = draw();
	atomic_set(&share.waiting, cpus);
	on_each_cpu_mask(cpus == 1 ? cpumask_of(0) : cpu_online_mask, do_pairs,
			 NULL, true);
	for (cpu = 0; cpu < cpus; cpu++) {
		start = min(start, share.start[cpu]);
		end = max(end, share.end[cpu]);
	}
	cond_resched();
	return end - start;
}

/* As many pairs as fit into a stretch. */
static void choose_pairs(void)
{
	u64 took;

	share.pairs = 1;
	do {
		share.pairs *= 2;
		took = do_round(1);
	} while (took < STRETCH / 2 && share.pairs < MAX_PAIRS);
}

/* The lower quartile for one pair: a busy host only makes rounds longer. */
static u64 of_a_pair(u64 *took)
{
	sort(took, ROUNDS, sizeof(*took), compare_u64, NULL);
	return div_u64(took[ROUNDS / 4], share.pairs);
}

static void measure(const char *name, const char *bases, unsigned int cpus)
{
	static u64 one[ROUNDS], all[ROUNDS];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		one[i] = do_round(1);
		all[i] = do_round(cpus);
	}
	pr_info("lab-share: %s,%s,1,%llu\n", name, bases,
		of_a_pair(one));
	pr_info("lab-share: %s,%s,%u,%llu\n", name, bases, cpus,
		of_a_pair(all));
}

/* Measures the loaded facility, reported as @name, on one CPU and on all. */
int lab_share(const char *name)
{
	const char *bases = "percpu";
	unsigned int cpus;
	int ret = -ENODEV;

	cpus_read_lock();
	cpus = num_online_cpus();
	if (cpus < 2 || cpus > CPUS || cpumask_last(cpu_online_mask) != cpus - 1)
		goto out;
	if (callout_base(0) == callout_base(1))
		bases = "single";
	ret = callout_reserve(CPUS * OWN * 2);
	if (ret)
		goto out;
	share.hour = lab_hour(callout_base(0)->scheme->ops);
	on_each_cpu(fill, NULL, true);
	choose_pairs();
	measure(name, bases, cpus);
	on_each_cpu(empty, NULL, true);
	if (atomic_read(&share.lost))
		ret = -EIO;
out:
	cpus_read_unlock();
	return ret;
}
