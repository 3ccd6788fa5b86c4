// SPDX-License-Identifier: GPL-2.0
/*
 * share.c - the cost of one structure shared by all CPUs
 *
 * Varghese and Lauck, Appendix B, on the whole facility as callout.ko was
 * loaded: one CPU alone cancels and sets callouts repeatedly, or all CPUs do
 * concurrently, each with its own callouts. With bases=percpu each CPU also has
 * its own structure. With bases=single they contend for one lock. Time is real
 * time here, so only the ratio of all to one is meaningful. Rounds of one CPU
 * and of all alternate.
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
#include "core/queue.h"
#include "core/expiry.h"
#include "lab.h"

#define CPUS		4U
/* Callouts outstanding, for each CPU. */
#define OWN		256U
#define ROUNDS		51U

/* The time of a CPU's part of a round, in ns. */
#define STRETCH		(2 * NSEC_PER_MSEC)

/* The maximum number of pairs of cancel and set in a round. */
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
} together;

static void nothing(void *arg)
{
}

static unsigned long draw(void)
{
	return lab_random(together.hour, 2 * together.hour);
}

static void fill(void *unused)
{
	callout_handle_t *own = together.own[smp_processor_id()];
	unsigned int i;

	for (i = 0; i < OWN; i++)
		own[i] = setcallout(nothing, NULL, draw());
}

static void empty(void *unused)
{
	callout_handle_t *own = together.own[smp_processor_id()];
	unsigned int i;

	for (i = 0; i < OWN; i++)
		unsetcallout(own[i]);
}

/* Runs in a hard interrupt, on each CPU of the round. */
static void do_pairs(void *unused)
{
	unsigned int cpu = smp_processor_id(), i, lost = 0;
	const unsigned long *ticks = together.ticks[cpu];
	callout_handle_t *one = together.own[cpu];

	atomic_dec(&together.waiting);
	while (atomic_read(&together.waiting))
		cpu_relax();
	together.start[cpu] = ktime_get_ns();
	for (i = 0; i < together.pairs; i++) {
		lost += unsetcallout(*one) != 1;
		*one = setcallout(nothing, NULL, ticks[i]);
		lost += !*one;
		if (++one == together.own[cpu] + OWN)
			one = together.own[cpu];
	}
	together.end[cpu] = ktime_get_ns();
	atomic_add(lost, &together.lost);
}

/*
 * Return the time from the first begin to the last end. It shows if the host
 * did not run the CPUs at the same time.
 */
static u64 do_round(unsigned int cpus)
{
	u64 start = U64_MAX, end = 0;
	unsigned int cpu, i;

	for (cpu = 0; cpu < cpus; cpu++)
		for (i = 0; i < together.pairs; i++)
			together.ticks[cpu][i] = draw();
	atomic_set(&together.waiting, cpus);
	on_each_cpu_mask(cpus == 1 ? cpumask_of(0) : cpu_online_mask, do_pairs,
			 NULL, true);
	for (cpu = 0; cpu < cpus; cpu++) {
		start = min(start, together.start[cpu]);
		end = max(end, together.end[cpu]);
	}
	cond_resched();
	return end - start;
}

/* As many pairs as fit into a stretch. */
static void choose_pairs(void)
{
	u64 took;

	together.pairs = 1;
	do {
		together.pairs *= 2;
		took = do_round(1);
	} while (took < STRETCH / 2 && together.pairs < MAX_PAIRS);
}

/* Return the lower quartile for one pair, since a busy host only makes rounds longer. */
static u64 of_a_pair(u64 *took)
{
	sort(took, ROUNDS, sizeof(*took), compare_u64, NULL);
	return div_u64(took[ROUNDS / 4], together.pairs);
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

/* Measure the loaded facility, reported as @name, on one CPU and on all. */
int lab_share(const char *name)
{
	const char *bases = "percpu";
	unsigned int cpus;
	int ret = -ENODEV;

	cpus_read_lock();
	cpus = num_online_cpus();
	if (cpus < 2 || cpus > CPUS || cpumask_last(cpu_online_mask) != cpus - 1)
		goto out;
	if (co_base(0) == co_base(1))
		bases = "single";
	ret = callout_reserve(CPUS * OWN * 2);
	if (ret)
		goto out;
	together.hour = lab_hour(co_base(0)->scheme->ops);
	on_each_cpu(fill, NULL, true);
	choose_pairs();
	measure(name, bases, cpus);
	on_each_cpu(empty, NULL, true);
	if (atomic_read(&together.lost))
		ret = -EIO;
out:
	cpus_read_unlock();
	return ret;
}
