// SPDX-License-Identifier: GPL-2.0
/*
 * native.c - the cost of operations in ns, with the effects of caches
 *
 * For User Mode Linux, which executes natively. Every scheme is driven without
 * lock and clock. Rounds go over all rows, so that a temporary disturbance of
 * the machine affects all rows alike; medians over rounds are reported. Whole
 * facilities, with their locks and clocks, are in linux.c.
 *
 *	pair_one	stop one callout, the farthest, and start it again
 *	pair_random	as pair_one, with a random callout of all
 *	rearm_later	move a random callout of all to a later time
 *	idle_tick	a tick at which nothing is due
 *	jump		one tick that comes 3000 ticks after the previous tick
 *	sparse		a callout due alone, the host sleeping until then; not for inexact
 *			schemes, which bring several together
 *	start_dense	start one of many that are due in the same tick
 *	dense		expiry of one of these callouts at that tick
 *
 * Outstanding callouts are due at random in one to two times SPAN ticks. The
 * span is shorter for schemes that have a MaxInterval, so that the largest
 * number of callouts is not sparse there. A metric that cannot be measured is
 * left out: its value is 0.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include "lab.h"
#include "native.h"

#define SPAN		(1U << 20)
#define SHORT_SPAN	LAB_SHORT_HOUR
#define SCALE_SPAN	(1U << 24)
#define IDLE_TICKS	1000U
/* This and IDLE_TICKS together are less than a span. */
#define JUMPS		80U
#define JUMP		3000U
#define MAX_EXPIRED	50000U

/* Sparse expiry ends after this time. */
#define MAX_NS		(200 * NSEC_PER_MSEC)

/* Dense expiry is not measured if the starts take longer than this. */
#define MAX_DENSE_NS	(1 * NSEC_PER_SEC)

/*
 * A row whose rounds all take longer than this for each callout, with
 * LAB_STEEP_MAX callouts or more, is not measured with more callouts.
 */
#define SLOW_NS		20000ULL

const char *const lab_metrics[LAB_METRICS] = {
	"pair_one", "pair_random", "rearm_later", "idle_tick", "jump",
	"sparse", "start_dense", "dense",
};

static unsigned int which[LAB_OPS];
static u64 after[LAB_OPS];

static void draw(unsigned int n, u64 from, u64 to)
{
	unsigned int i;

	for (i = 0; i < LAB_OPS; i++) {
		which[i] = lab_random(0, n);
		after[i] = lab_random(from, to);
	}
}

/* lab_scale_wheel() makes it longer, so that 10^7 callouts are sparse, too. */
static u64 long_span = SPAN;

static u64 span_of(const struct lab *lab)
{
	return lab_has_max_interval(lab->ops) ? SHORT_SPAN : long_span;
}

static u64 pair_one(struct lab *lab, unsigned int n)
{
	struct callout_node *c = lab_callout(n);
	unsigned int i;
	u64 start;

	draw(n, 2 * span_of(lab), 3 * span_of(lab));
	lab_start(lab, c, after[0]);
	start = lab_begin();
	for (i = 0; i < LAB_OPS; i++) {
		lab->ops->stop(lab->s, c);
		lab->ops->start(lab->s, c, lab->now, lab->now + after[i]);
	}
	return lab_end(start, LAB_OPS);
}

static u64 pair_random(struct lab *lab, unsigned int n)
{
	unsigned int i;
	u64 start;

	draw(n, span_of(lab), 2 * span_of(lab));
	start = lab_begin();
	for (i = 0; i < LAB_OPS; i++) {
		struct callout_node *c = lab_callout(which[i]);

		lab->ops->stop(lab->s, c);
		lab->ops->start(lab->s, c, lab->now, lab->now + after[i]);
	}
	return lab_end(start, LAB_OPS);
}

static u64 rearm_later(struct lab *lab, unsigned int n)
{
	unsigned int i;
	u64 start;

	draw(n, 1, span_of(lab) / 64);
	start = lab_begin();
	for (i = 0; i < LAB_OPS; i++) {
		struct callout_node *c = lab_callout(which[i]);

		co_scheme_move(lab->s, c, lab->now, c->expires + after[i]);
	}
	return lab_end(start, LAB_OPS);
}

static u64 idle_tick(struct lab *lab)
{
	LIST_HEAD(due);
	unsigned int i;
	u64 start;

	start = lab_begin();
	for (i = 0; i < IDLE_TICKS; i++)
		lab_advance(lab, lab->now + 1, &due);
	return lab_end(start, IDLE_TICKS);
}

static u64 jump(struct lab *lab)
{
	LIST_HEAD(due);
	unsigned int i;
	u64 start;

	start = lab_begin();
	for (i = 0; i < JUMPS; i++)
		lab_advance(lab, lab->now + JUMP, &due);
	return lab_end(start, JUMPS);
}

/* Go from one due callout to the next, as a host that sleeps in between. */
static u64 sparse(struct lab *lab, unsigned int n)
{
	unsigned int most = min(n / 2, MAX_EXPIRED), expired = 0, look = 64;
	u64 start, span = span_of(lab);
	LIST_HEAD(due);

	if (n > span || (lab->ops->late && lab->ops->late(lab->s, span)))
		return 0;
	start = lab_begin();
	while (expired < most) {
		lab_advance(lab, lab_next_due(lab), &due);
		while (lab_take_due(&due))
			expired++;
		if (expired < look)
			continue;
		if (lab_clock() - start > MAX_NS)
			break;
		look = expired + 64;
	}
	return lab_end(start, expired);
}

/* Fail if not all have expired. */
static int dense(struct lab *lab, unsigned int n, u64 *value)
{
	u64 start, late = 0, span = span_of(lab), took;
	unsigned int expired = 0, i;
	LIST_HEAD(due);

	value[LAB_START_DENSE] = 0;
	value[LAB_DENSE] = 0;
	start = lab_begin();
	for (i = 0; i < n; i++) {
		lab_start(lab, lab_callout(lab_scattered(i, n)), span);
		if (!(i % 1024) && lab_clock() - start > MAX_DENSE_NS) {
			local_irq_enable();
			return 0;
		}
	}
	took = lab_end(start, n);
	if (lab->ops->late)
		late = lab->ops->late(lab->s, span);
	start = lab_begin();
	lab_advance(lab, lab->now + span + late, &due);
	while (lab_take_due(&due))
		expired++;
	value[LAB_START_DENSE] = took;
	value[LAB_DENSE] = lab_end(start, n);
	return expired == n ? 0 : -EIO;
}

/*
 * Measure a scheme with @n outstanding: @value has a place for each metric.
 * @took: the time in ns, without the creation of the scheme
 */
static int native_row(const struct lab_row *row, unsigned int n,
		      unsigned int buckets, u64 *value, u64 *took)
{
	const struct callout_scheme_params params = { .buckets = buckets };
	struct lab lab;
	int ret = lab_create(&lab, row, &params, n + 1);

	if (ret)
		return ret;
	*took = ktime_get_ns();
	lab_fill(&lab, n, span_of(&lab), 2 * span_of(&lab));
	value[LAB_PAIR_ONE] = pair_one(&lab, n);
	value[LAB_PAIR_RANDOM] = pair_random(&lab, n);
	value[LAB_REARM_LATER] = rearm_later(&lab, n);
	value[LAB_IDLE_TICK] = idle_tick(&lab);
	value[LAB_JUMP] = jump(&lab);
	value[LAB_SPARSE] = sparse(&lab, n);
	*took = ktime_get_ns() - *took;
	lab_destroy(&lab);
	cond_resched();

	ret = lab_create(&lab, row, &params, n + 1);
	if (ret)
		return ret;
	*took -= ktime_get_ns();
	ret = dense(&lab, n, value);
	*took += ktime_get_ns();
	lab_destroy(&lab);
	cond_resched();
	return ret;
}

/* Do fewer rounds with the largest number of callouts, which take long. */
unsigned int lab_rounds(unsigned int n)
{
	return n < LAB_MOST ? LAB_ROUNDS : 3;
}

/* Report the medians of rounds, in lines of @kind. */
void lab_native_report(const char *kind, const char *name, unsigned int n,
		       const struct lab_values *v)
{
	u64 all[LAB_ROUNDS];
	char text[LAB_TENTHS];
	unsigned int metric, i;
	bool measured;

	for (metric = 0; metric < LAB_METRICS; metric++) {
		measured = true;
		for (i = 0; i < lab_rounds(n); i++) {
			all[i] = v->round[i][metric];
			measured &= !!all[i];
		}
		if (measured)
			pr_info("%s: %s,%s,%u,%s\n", kind, name,
				lab_metrics[metric], n,
				lab_tenths(lab_median(all, lab_rounds(n)), 10,
					   text));
	}
}

static struct lab_values values[64];

static unsigned int buckets_of(const struct lab_row *row)
{
	return lab_has_max_interval(row->ops) ? LAB_MOST_BUCKETS : LAB_BUCKETS;
}

/* All rows, round by round. */
static int native_n(unsigned int n)
{
	unsigned int round, i;
	u64 took;
	int ret;

	for (i = 0; i < lab_nr_rows; i++) {
		if (n > LAB_STEEP_MAX)
			lab_rows[i].steep |= lab_rows[i].slow;
		lab_rows[i].slow = true;
	}
	for (round = 0; round < lab_rounds(n); round++) {
		for (i = 0; i < lab_nr_rows; i++) {
			if (!lab_row_takes(&lab_rows[i], n))
				continue;
			ret = native_row(&lab_rows[i], n,
					 buckets_of(&lab_rows[i]),
					 values[i].round[round], &took);
			if (ret) {
				pr_err("lab: %s\n", lab_rows[i].name);
				return ret;
			}
			lab_rows[i].slow &= took > SLOW_NS * n;
		}
	}
	for (i = 0; i < lab_nr_rows; i++)
		if (lab_row_takes(&lab_rows[i], n))
			lab_native_report("lab-native", lab_rows[i].name, n,
					  &values[i]);
	return 0;
}

int lab_native(const char *unused)
{
	int ret = lab_callouts_init(LAB_MOST + 1);
	unsigned int n;

	if (lab_nr_rows > ARRAY_SIZE(values))
		ret = -E2BIG;
	for (n = 1000; n <= LAB_MOST && !ret; n *= 10)
		ret = native_n(n);
	lab_callouts_free();
	return ret;
}

#define MIN_SHIFT	8U
#define MAX_SHIFT	20U
#define STEP_SHIFT	2U

/* Numbers of buckets in steps of a factor of 4, round by round. */
static int buckets_n(const struct lab_row *row, unsigned int n)
{
	unsigned int round, shift;
	char buckets[12];
	u64 took;
	int ret;

	for (round = 0; round < lab_rounds(n); round++) {
		for (shift = MIN_SHIFT; shift <= MAX_SHIFT; shift += STEP_SHIFT) {
			ret = native_row(row, n, 1U << shift,
					 values[shift].round[round], &took);
			if (ret)
				return ret;
		}
	}
	for (shift = MIN_SHIFT; shift <= MAX_SHIFT; shift += STEP_SHIFT) {
		snprintf(buckets, sizeof(buckets), "%u", 1U << shift);
		lab_native_report("lab-buckets", buckets, n, &values[shift]);
	}
	return 0;
}

/* Measure and report the hashed wheel in all sizes. */
int lab_buckets(const char *unused)
{
	const struct lab_row *row = lab_find_row("hashed_wheel");
	int ret = lab_callouts_init(LAB_MOST + 1);
	unsigned int n;

	for (n = 1000; n <= LAB_MOST && !ret && row; n *= 10)
		ret = buckets_n(row, n);
	lab_callouts_free();
	return row ? ret : -ENOENT;
}

/*
 * Measure the hashed wheel with @n outstanding: with as many buckets as the facility
 * gives it, and with a sixteenth of these, as with 16 times as many callouts as a wheel
 * can have buckets for.
 */
int lab_scale_wheel(unsigned int n)
{
	const struct lab_row *row = lab_find_row("hashed_wheel");
	unsigned int round, buckets = lab_buckets_for(n);
	u64 took;
	int ret = row ? 0 : -ENOENT;

	long_span = SCALE_SPAN;
	for (round = 0; round < lab_rounds(n) && !ret; round++) {
		ret = native_row(row, n, buckets, values[0].round[round], &took);
		if (!ret)
			ret = native_row(row, n, buckets / LAB_CROWDED,
					 values[1].round[round], &took);
	}
	long_span = SPAN;
	if (ret)
		return ret;
	lab_native_report("lab-scale", "hashed_wheel", n, &values[0]);
	lab_native_report("lab-scale", "hashed_wheel:crowded", n, &values[1]);
	return 0;
}
