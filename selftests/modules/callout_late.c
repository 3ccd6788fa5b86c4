// SPDX-License-Identifier: GPL-2.0
/*
 * callout_late.c - lateness of a callout, at every distance up to an hour
 *
 * Sets one callout on an idle CPU and sleeps until it has run, at one distance
 * after another, from random places in the kernel's ticks. For a boot under
 * QEMU with -icount sleep=off, where time passes at once while the CPU sleeps.
 * Results go to the kernel log, a line for each range of distances:
 *
 *	late: FROM,TO,TRIALS,EARLY,LATEST,MOST_WAKEUPS
 *
 * EARLY is how many callouts were early, LATEST the greatest lateness in ticks,
 * and MOST_WAKEUPS the maximum number of wake-ups of the base for a callout.
 * The last line is for an hour in which no callout is set, and has the distance
 * 0.
 */
#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include "core/queue.h"
#include "core/expiry.h"
#include "kcompat.h"

#undef pr_fmt
#define pr_fmt(fmt) fmt

/* Up to here, each distance is tried. */
#define NEAR		200

/* Number of trials at each of these distances, and at each farther distance. */
#define PHASES		4
#define FAR_PHASES	2

/* The maximum number of kernel ticks that the CPU sleeps before each trial. */
#define MAX_PHASE	600

/* The maximum number of failed trials that are printed. */
#define MAX_TOLD	20

static unsigned int hz = HZ;
module_param(hz, uint, 0444);
MODULE_PARM_DESC(hz, "Ticks a second of callout.ko (default HZ)");

static ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "Seed of the random phases (default 1)");

/* The results for distances from @from to @to, both included. */
struct stretch {
	u64 from;
	u64 to;
	unsigned int trials;
	unsigned int early;
	u64 latest;
	u64 most_wakeups;
};

struct trial {
	struct callout c;
	struct callout_base *base;
	struct completion ran;
	u64 ran_at;
	ktime_t ran_time;
};

static struct stretch stretch;
static struct rnd_state rng;
static u64 tick_ns;

static void trial_ran(void *arg)
{
	struct trial *trial = arg;

	trial->ran_time = ktime_get();
	trial->ran_at = co_now(trial->base);
	complete(&trial->ran);
}

static void sleep_ns(u64 ns)
{
	ktime_t until = ktime_add_ns(ktime_get(), ns);

	set_current_state(TASK_IDLE);
	schedule_hrtimeout(&until, HRTIMER_MODE_ABS);
}

/* Sleep until a random phase of the ticks, the kernel's and the facility's. */
static void sleep_phase(void)
{
	u64 ns = (u64)prandom_u32_state(&rng) * TICK_NSEC * MAX_PHASE;

	sleep_ns(ns >> 32);
}

static u64 wakeups(struct callout_base *base)
{
	return READ_ONCE(base->stats.wakeups) + READ_ONCE(base->stats.hops);
}

/* Set the callout, and return the tick at which it is due. */
static u64 trial_set(struct trial *trial, u64 distance, ktime_t *time)
{
	u64 before, due, after;

	local_irq_disable();
	*time = ktime_get();
	before = co_now(trial->base);
	callout_reset(&trial->c, distance, trial_ran, trial);
	due = trial->c.node.expires;
	after = co_now(trial->base);
	local_irq_enable();
	if (due < before + distance || due > after + distance) {
		pr_info("late: distance %llu, set from %llu to %llu, due at %llu\n",
			distance, before, after, due);
		stretch.early++;
	}
	return due;
}

/* Judge by the base's clock, and less exactly by CLOCK_MONOTONIC. */
static void trial_judge(struct trial *trial, u64 distance, u64 due, u64 took)
{
	static unsigned int told;
	bool early = trial->ran_at < due || took <= (distance - 1) * tick_ns;
	u64 late = 0;

	if (trial->ran_at > due)
		late = trial->ran_at - due;
	else if (took > distance * tick_ns + tick_ns / 2)
		late = 1;
	if ((early || late) && told++ < MAX_TOLD)
		pr_info("late: distance %llu, due at %llu, ran at %llu after %llu ns\n",
			distance, due, trial->ran_at, took);
	stretch.early += early;
	stretch.latest = max(stretch.latest, late);
}

static int trial_run(struct trial *trial, u64 distance)
{
	u64 before, due;
	ktime_t set;

	sleep_phase();
	reinit_completion(&trial->ran);
	before = wakeups(trial->base);
	due = trial_set(trial, distance, &set);
	if (!wait_for_completion_interruptible_timeout(&trial->ran,
						       4000 * HZ)) {
		callout_drain(&trial->c);
		pr_info("late: distance %llu, due at %llu, lost\n", distance,
			due);
		return -EIO;
	}
	stretch.trials++;
	stretch.most_wakeups = max(stretch.most_wakeups,
				   wakeups(trial->base) - before);
	trial_judge(trial, distance, due,
		    ktime_to_ns(ktime_sub(trial->ran_time, set)));
	return 0;
}

static void stretch_report(void)
{
	pr_info("late: %llu,%llu,%u,%u,%llu,%llu\n", stretch.from, stretch.to,
		stretch.trials, stretch.early, stretch.latest, stretch.most_wakeups);
}

static void stretch_begin(u64 from, u64 to)
{
	stretch = (struct stretch){ .from = from, .to = to };
}

static int distance_run(struct trial *trial, u64 distance, u64 hour)
{
	unsigned int phases = distance <= NEAR ? PHASES : FAR_PHASES, i;
	int ret = 0;

	if (distance > stretch.to) {
		stretch_report();
		stretch_begin(stretch.to + 1, min(stretch.to * 8, hour));
	}
	for (i = 0; i < phases && !ret; i++)
		ret = trial_run(trial, distance);
	return ret;
}

/*
 * Return the next distance: a step farther, or a limit of a level of the
 * kernel's wheel or of the hops.
 */
static u64 next_distance(u64 distance, u64 hour)
{
	static const unsigned int edges[] = { 55, 56, 57, 62, 63, 64, 65 };
	u64 next = distance + 1, edge;
	unsigned int shift, i, around;

	if (distance >= NEAR)
		next += distance / 10;
	for (shift = 0; shift < 30; shift += 3) {
		for (i = 0; i < ARRAY_SIZE(edges) * 3; i++) {
			around = i % 3;
			edge = ((u64)edges[i / 3] << shift) + around - 1;
			if (edge > distance && edge < next)
				next = edge;
		}
	}
	return min(next, hour);
}

static int late_distances(struct trial *trial)
{
	u64 hour = 3600ULL * hz, distance = 0;
	int ret = 0;

	stretch_begin(1, 8);
	while (distance < hour && !ret) {
		distance = next_distance(distance, hour);
		ret = distance_run(trial, distance, hour);
	}
	stretch_report();
	return ret;
}

/* An hour with no callout set has no wake-ups. */
static void late_nothing(struct trial *trial)
{
	u64 before;

	stretch_begin(0, 0);
	sleep_phase();
	before = wakeups(trial->base);
	sleep_ns(3600 * NSEC_PER_SEC);
	stretch.trials = 1;
	stretch.most_wakeups = wakeups(trial->base) - before;
	stretch_report();
}

static int __init late_init(void)
{
	static struct trial trial;
	int ret;

	if (!hz || num_possible_cpus() != 1)
		return -EINVAL;
	tick_ns = hz == HZ ? TICK_NSEC : NSEC_PER_SEC / hz;
	prandom_seed_state(&rng, seed);
	trial.base = co_base(0);
	init_completion(&trial.ran);
	callout_init(&trial.c, CALLOUT_MPSAFE);
	ret = late_distances(&trial);
	if (!ret)
		late_nothing(&trial);
	callout_drain(&trial.c);
	return ret;
}

static void __exit late_exit(void)
{
	callout_barrier();
}

module_init(late_init);
module_exit(late_exit);

MODULE_DESCRIPTION("Lateness of callouts at every distance");
MODULE_LICENSE("GPL");
CALLOUT_IMPORT_KUNIT_NS;
