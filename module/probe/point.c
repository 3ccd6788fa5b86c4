// SPDX-License-Identifier: GPL-2.0
/*
 * point.c - walks the pairs of points: interleavings; in no other build
 *
 * A racing test samples the interleavings that the scheduler happens to make. Here,
 * for each ordered pair of points (a, b) that it passes, one CPU waits at a until
 * another CPU has come to b. The other CPU then waits at b until the first has come
 * to its next point:
 *
 *	CPU0				CPU1
 *	...
 *	a: waits
 *					...
 *					b: they have met, waits
 *	continues
 *	its next point, whichever
 *					continues
 *
 * So everything that CPU1 does up to b falls between two critical sections of CPU0,
 * and the next critical section of CPU0 falls between two of CPU1. A CPU that is not
 * met continues after WAIT_NS: interrupts may be off, and other points can be inside
 * a lock.
 *
 * /sys/module/callout/parameters/points: writing a number of milliseconds begins a
 * walk, which spends that long on each pair, less if the pair meets ENOUGH times
 * sooner. Ticks in which no point is passed do not count. Writing 0 ends the walk.
 * Only points passed since the walk began make pairs. Reading gives "walking", or
 * "done" once all pairs have been tried, the number of pairs tried and the number
 * that met. A line for each point passed follows: its name, how often it was passed,
 * and with how many others it met as a.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include "kcompat.h"
#include "point.h"

/* How long a CPU waits at a point. */
#define WAIT_NS		(500 * NSEC_PER_USEC)

/* How often a pair meets before the next one has its turn. */
#define ENOUGH		8

/* Ticks before the walk looks for points again. */
#define COLLECT		25

/* The number of points that can be distinguished. */
#define POINTS		192U

DEFINE_STATIC_KEY_FALSE(callout_points_key);
EXPORT_SYMBOL_IF_KUNIT(callout_points_key);

/*
 * Names in the order in which points were first passed. A test module, which has
 * copies of inline functions, comes and goes: so these strings are copies.
 */
static char names[POINTS][48];
static unsigned int nr_points;
static DEFINE_RAW_SPINLOCK(names_lock);

/* How often each point was passed; other CPUs may count concurrently. */
static unsigned long passed[POINTS];

/* How often (a, b) has met since its turn came, and TRIED. */
static u16 met[POINTS][POINTS];

#define TRIED	0x8000U

/* a * POINTS + b, or NO_PAIR. */
static unsigned int pair;

#define NO_PAIR	(POINTS * POINTS)

/*
 * State of the meeting. MET_NOT. 2 * CPU + MET_FIRST: this CPU waits at a. 2 * CPU
 * + MET_BOTH: this CPU continues from a, and another CPU waits at b.
 */
static atomic_t meeting = ATOMIC_INIT(0);

#define MET_NOT		0
#define MET_FIRST	2
#define MET_BOTH	3

static DEFINE_MUTEX(walk_lock);
static struct task_struct *walker;
/* The module is being unloaded: no walk begins any more. */
static bool ended;
/* The last search for pairs has found some. */
static bool walking;

/* Wait while @meeting is @state, then change it to MET_NOT. */
static void point_wait(int state)
{
	u64 end = ktime_get_mono_fast_ns() + WAIT_NS;

	while (atomic_read(&meeting) == state && ktime_get_mono_fast_ns() < end)
		cpu_relax();
	atomic_cmpxchg(&meeting, state, MET_NOT);
}

/* Give @point the number that belongs to its name. */
static void point_register(struct callout_point *point)
{
	char name[sizeof(names[0])];
	unsigned long flags;
	unsigned int i;

	snprintf(name, sizeof(name), "%s:%u", point->function, point->line);
	raw_spin_lock_irqsave(&names_lock, flags);
	for (i = 0; i < nr_points && strcmp(names[i], name); i++)
		;
	if (i == nr_points && !WARN_ON_ONCE(i == POINTS)) {
		strscpy(names[i], name, sizeof(names[i]));
		nr_points++;
	}
	WRITE_ONCE(point->number, i + 1);
	raw_spin_unlock_irqrestore(&names_lock, flags);
}

/* Count a pass of @here, and wait there if the point is part of the pair being tried. */
void co_point_pass(struct callout_point *here)
{
	int me = 2 * raw_smp_processor_id(), state = atomic_read(&meeting);
	unsigned int now = READ_ONCE(pair), a = now / POINTS, b = now % POINTS;
	unsigned int point;

	if (unlikely(!READ_ONCE(here->number)))
		point_register(here);
	point = here->number - 1;
	if (point == POINTS)
		return;
	WRITE_ONCE(passed[point], READ_ONCE(passed[point]) + 1);
	if (now == NO_PAIR)
		return;
	if (state == me + MET_BOTH) {
		atomic_cmpxchg(&meeting, state, MET_NOT);
	} else if (state != MET_NOT && !(state & 1) && state != me + MET_FIRST &&
		   point == b) {
		if (atomic_cmpxchg(&meeting, state, state + 1) != state)
			return;
		WRITE_ONCE(met[a][b], READ_ONCE(met[a][b]) + 1);
		point_wait(state + 1);
	} else if (state == MET_NOT && point == a) {
		if (atomic_cmpxchg(&meeting, MET_NOT, me + MET_FIRST) == MET_NOT)
			point_wait(me + MET_FIRST);
	}
}
EXPORT_SYMBOL_IF_KUNIT(co_point_pass);

/* Sleep for @ticks. Return false if the walk must end. */
static bool walk_sleep(unsigned int ticks)
{
	schedule_timeout_interruptible(ticks);
	return !kthread_should_stop();
}

static unsigned long all_passed(void)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < POINTS; i++)
		sum += READ_ONCE(passed[i]);
	return sum;
}

/* Try a pair for up to @ms. Return false if the walk must end. */
static bool walk_pair(unsigned int a, unsigned int b, unsigned int ms)
{
	unsigned long sum = all_passed(), last;
	int left = DIV_ROUND_UP(ms * HZ, MSEC_PER_SEC);
	bool goes_on = true;

	WRITE_ONCE(met[a][b], TRIED);
	WRITE_ONCE(pair, a * POINTS + b);
	while (goes_on && left > 0 && READ_ONCE(met[a][b]) < TRIED + ENOUGH) {
		goes_on = walk_sleep(1);
		last = sum;
		sum = all_passed();
		left -= sum != last;
	}
	WRITE_ONCE(pair, NO_PAIR);
	return goes_on;
}

/* Try the pairs of @a that have not been tried. Return false if the walk must end. */
static bool walk_row(unsigned int a, unsigned int ms, bool *more)
{
	unsigned int b, tried = 0, found = 0;
	bool goes_on = true;

	for (b = 0; b < POINTS && goes_on; b++) {
		if (met[a][b] || !READ_ONCE(passed[b]))
			continue;
		WRITE_ONCE(walking, true);
		goes_on = walk_pair(a, b, ms);
		found += met[a][b] > TRIED;
		tried++;
	}
	if (tried)
		pr_info("callout: points: %s met %u of %u\n", names[a], found, tried);
	*more |= tried;
	return goes_on;
}

static int walk(void *arg)
{
	unsigned int ms = (unsigned long)arg, a;
	bool goes_on = true, more;

	while (goes_on) {
		more = false;
		for (a = 0; a < POINTS && goes_on; a++)
			if (READ_ONCE(passed[a]))
				goes_on = walk_row(a, ms, &more);
		WRITE_ONCE(walking, more);
		if (!more)
			goes_on = walk_sleep(COLLECT);
	}
	return 0;
}

static void walk_end(void)
{
	if (!walker)
		return;
	kthread_stop(walker);
	walker = NULL;
	static_branch_disable(&callout_points_key);
}

static int walk_begin(unsigned int ms)
{
	struct task_struct *t;

	memset(passed, 0, sizeof(passed));
	memset(met, 0, sizeof(met));
	WRITE_ONCE(pair, NO_PAIR);
	WRITE_ONCE(walking, true);
	t = kthread_run(walk, (void *)(unsigned long)ms, "callout_points");
	if (IS_ERR(t))
		return PTR_ERR(t);
	walker = t;
	static_branch_enable(&callout_points_key);
	return 0;
}

static int points_set(const char *val, const struct kernel_param *kp)
{
	unsigned int ms;
	int ret = kstrtouint(val, 0, &ms);

	if (ret)
		return ret;
	mutex_lock(&walk_lock);
	walk_end();
	if (ended)
		ret = -ENODEV;
	else if (ms)
		ret = walk_begin(ms);
	mutex_unlock(&walk_lock);
	return ret;
}

/* Count the pairs of @a that were tried and, in *@found, the pairs that have met. */
static unsigned int row_count(unsigned int a, unsigned int *found)
{
	unsigned int b, tried = 0;

	*found = 0;
	for (b = 0; b < POINTS; b++) {
		tried += !!READ_ONCE(met[a][b]);
		*found += READ_ONCE(met[a][b]) > TRIED;
	}
	return tried;
}

static int points_get(char *buffer, const struct kernel_param *kp)
{
	unsigned int a, one, tried = 0, found = 0;
	int n;

	for (a = 0; a < POINTS; a++) {
		tried += row_count(a, &one);
		found += one;
	}
	n = sysfs_emit(buffer, "%s %u %u\n", READ_ONCE(walking) || !tried ? "walking" :
		       "done", tried, found);
	for (a = 0; a < POINTS; a++) {
		if (!READ_ONCE(passed[a]))
			continue;
		row_count(a, &one);
		n += sysfs_emit_at(buffer, n, "%s %lu %u\n", names[a],
				   READ_ONCE(passed[a]), one);
	}
	return n;
}

static const struct kernel_param_ops points_ops = {
	.set = points_set,
	.get = points_get,
};

module_param_cb(points, &points_ops, NULL, 0600);

/*
 * At unload, or when the load fails: end the walk permanently. The parameter can be
 * written until the module's last function has returned, and the walk runs the
 * module's code.
 */
void co_points_exit(void)
{
	mutex_lock(&walk_lock);
	ended = true;
	walk_end();
	mutex_unlock(&walk_lock);
}
