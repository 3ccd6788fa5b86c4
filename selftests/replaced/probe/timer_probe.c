// SPDX-License-Identifier: GPL-2.0
/*
 * timer_probe.c - the cost of struct timer_list, and its lateness
 *
 * The same source for a kernel whose timer_list is Linux's and for one whose
 * timer_list is a callout: it knows linux/timer.h only. For QEMU with -icount
 * shift=0 and one CPU, where the time stamp counter counts instructions. Results
 * go to the kernel log:
 *
 *	probe-cost: WHAT,OUTSTANDING,INSTRUCTIONS
 *	probe-late: FROM,TO,TRIALS,EARLY,MEDIAN,LATEST	in ticks
 *	probe-sleep: TRIALS,SHORTER
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <asm/timex.h>

static bool late;
module_param(late, bool, 0444);
MODULE_PARM_DESC(late, "measure lateness, which takes more than an hour of the guest's time; else costs");

#define HOUR		(3600UL * HZ)
#define OPS		1000U
#define TOGETHER	1000U
/* Less than the distance from which on Linux's wheel rounds. */
#define TICKS		50U
/* The cost of the tick itself differs from tick to tick. */
#define ROUNDS		8U

static void nothing(struct timer_list *t)
{
}

static void report(const char *what, unsigned int outstanding, u64 n)
{
	pr_info("probe-cost: %s,%u,%llu\n", what, outstanding, n);
}

/* Measure arming an idle timer, moving it to a later time, and deleting it. */
static void probe_ops(unsigned int outstanding, struct timer_list *t)
{
	u64 set = 0, later = 0, same = 0, delete = 0, start, at[5];
	unsigned long expires;
	unsigned int i;

	local_irq_disable();
	start = get_cycles();
	start = get_cycles() - start;
	for (i = 0; i < OPS; i++) {
		expires = jiffies + 2 * HOUR + get_random_u32_below(HOUR);
		at[0] = get_cycles();
		mod_timer(t, expires);
		at[1] = get_cycles();
		mod_timer(t, expires + HOUR / 4);
		at[2] = get_cycles();
		mod_timer(t, expires + HOUR / 4);
		at[3] = get_cycles();
		timer_delete(t);
		at[4] = get_cycles();
		set += at[1] - at[0] - start;
		later += at[2] - at[1] - start;
		same += at[3] - at[2] - start;
		delete += at[4] - at[3] - start;
	}
	local_irq_enable();
	report("mod_timer of an idle one", outstanding, set / OPS);
	report("mod_timer to a later time", outstanding, later / OPS);
	report("mod_timer to the same time", outstanding, same / OPS);
	report("timer_delete", outstanding, delete / OPS);
}

/* The least difference between two readings of the counter in a row. */
static u64 turn_takes(void)
{
	u64 least = U64_MAX, last = get_cycles(), now;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		now = get_cycles();
		least = min(least, now - last);
		last = now;
	}
	return least;
}

/* Instructions of interrupts, and the softirqs that follow, in @ticks ticks. */
static u64 watch(unsigned int ticks)
{
	unsigned long end = jiffies + ticks;
	u64 turn = turn_takes(), sum = 0, last, now;

	last = get_cycles();
	while (time_before(READ_ONCE(jiffies), end)) {
		now = get_cycles();
		if (now - last > 4 * turn)
			sum += now - last;
		last = now;
	}
	return sum;
}

static void begin_tick(void)
{
	unsigned long now = jiffies;

	while (READ_ONCE(jiffies) == now)
		cpu_relax();
}

static void arm(struct timer_list *timers, unsigned int n, unsigned int step)
{
	unsigned long first = jiffies + 2;
	unsigned int i;

	local_irq_disable();
	for (i = 0; i < n; i++)
		mod_timer(&timers[i], first + i * step);
	local_irq_enable();
}

/* False if ticks with timers did not take more than ticks without. */
static bool probe_expiry(unsigned int outstanding, struct timer_list *timers)
{
	u64 none = 0, alone = 0, together = 0;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		begin_tick();
		none += watch(TICKS + 5);
		begin_tick();
		arm(timers, TICKS, 1);
		alone += watch(TICKS + 5);
		begin_tick();
		arm(timers, TOGETHER, 0);
		together += watch(TICKS + 5);
	}
	report("a tick without timers", outstanding,
	       none / (ROUNDS * (TICKS + 5)));
	if (alone <= none || together <= none)
		return false;
	report("expiry alone at its tick", outstanding,
	       (alone - none) / (ROUNDS * TICKS));
	report("expiry of 1000 together", outstanding,
	       (together - none) / (ROUNDS * TOGETHER));
	return true;
}

static int probe_costs(void)
{
	static const unsigned int outstanding[] = { 0, 1000, 10000, 100000 };
	unsigned int most = outstanding[ARRAY_SIZE(outstanding) - 1];
	struct timer_list *others = vcalloc(most, sizeof(*others));
	struct timer_list *timers = vcalloc(TOGETHER, sizeof(*timers));
	unsigned int i, n = 0;
	int ret = 0;

	if (!others || !timers) {
		vfree(others);
		vfree(timers);
		return -ENOMEM;
	}
	for (i = 0; i < TOGETHER; i++)
		timer_setup(&timers[i], nothing, 0);
	for (i = 0; i < most; i++)
		timer_setup(&others[i], nothing, 0);
	for (i = 0; i < ARRAY_SIZE(outstanding); i++) {
		for (; n < outstanding[i]; n++)
			mod_timer(&others[n], jiffies + 4 * HOUR +
					      get_random_u32_below(HOUR));
		/* Growth of the wheel does not count as part of an operation. */
		schedule_timeout_uninterruptible(7 * HZ);
		probe_ops(n, &timers[0]);
		if (!probe_expiry(n, timers))
			ret = -ERANGE;
	}
	for (i = 0; i < TOGETHER; i++)
		timer_shutdown_sync(&timers[i]);
	for (i = 0; i < most; i++)
		timer_shutdown_sync(&others[i]);
	vfree(others);
	vfree(timers);
	return ret;
}

#define TRIALS	50U

struct trial {
	struct timer_list timer;
	unsigned long due;
	long by;
	atomic_t *left;
	struct completion *done;
};

static void note(struct timer_list *t)
{
	struct trial *trial = container_of(t, struct trial, timer);

	trial->by = jiffies - trial->due;
	if (atomic_dec_and_test(trial->left))
		complete(trial->done);
}

static int compare_lateness(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

/* Set timers at random distances from @from to @to ticks, all at the same time. */
static int probe_late(unsigned long from, unsigned long to)
{
	static long by[TRIALS];
	DECLARE_COMPLETION_ONSTACK(done);
	struct trial *trials;
	unsigned int i, early = 0;
	atomic_t left = ATOMIC_INIT(TRIALS);

	trials = kcalloc(TRIALS, sizeof(*trials), GFP_KERNEL);
	if (!trials)
		return -ENOMEM;
	for (i = 0; i < TRIALS; i++) {
		trials[i].left = &left;
		trials[i].done = &done;
		timer_setup(&trials[i].timer, note, 0);
		trials[i].due = jiffies + from +
				get_random_u32_below(to - from);
		mod_timer(&trials[i].timer, trials[i].due);
	}
	wait_for_completion(&done);
	for (i = 0; i < TRIALS; i++) {
		timer_shutdown_sync(&trials[i].timer);
		by[i] = trials[i].by;
		early += by[i] < 0;
	}
	kfree(trials);
	sort(by, TRIALS, sizeof(by[0]), compare_lateness, NULL);
	pr_info("probe-late: %lu,%lu,%u,%u,%ld,%ld\n", from, to, TRIALS, early,
		by[TRIALS / 2], by[TRIALS - 1]);
	return 0;
}

#define MOST_TICKS	8U
#define PHASES		16U

/*
 * Sleep from any moment between two ticks: schedule_timeout() promises that at
 * least as many ticks pass as its argument says, and msleep() relies on it.
 */
static void probe_sleep(void)
{
	unsigned int ticks, phase, shorter = 0;
	u64 start;

	for (ticks = 1; ticks <= MOST_TICKS; ticks++) {
		for (phase = 0; phase < PHASES; phase++) {
			begin_tick();
			udelay(phase * jiffies_to_usecs(1) / PHASES);
			start = ktime_get_ns();
			schedule_timeout_uninterruptible(ticks);
			shorter += ktime_get_ns() - start <
				   (u64)ticks * TICK_NSEC;
		}
	}
	pr_info("probe-sleep: %u,%u\n", MOST_TICKS * PHASES, shorter);
}

static int __init probe_init(void)
{
	unsigned long from = 2, to;
	int ret = 0;

	if (!late)
		return probe_costs();
	probe_sleep();
	for (; from < HOUR && !ret; from = to) {
		to = min(from == 2 ? 64 : 8 * from, HOUR);
		ret = probe_late(from, to);
	}
	return ret;
}

static void __exit probe_exit(void)
{
}

module_init(probe_init);
module_exit(probe_exit);

MODULE_DESCRIPTION("Costs and lateness of struct timer_list");
MODULE_LICENSE("GPL");
