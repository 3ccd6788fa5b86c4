// SPDX-License-Identifier: GPL-2.0
/*
 * growth.c - the cost in ns of following the number of callouts
 *
 * For User Mode Linux, up to most= callouts. A change is done in portions, each in one
 * hold of a lock with interrupts off, as by the core:
 *
 *	wheel_grow	callouts move to a ring of twice as many buckets: as many as
 *			callouts, or up to half as many
 *	wheel_shrink	a sixteenth of the callouts is left, and the ring shrinks to suit
 *	table_grow	a table of handles gets room for all callouts. A portion is a call
 *			that adds a chunk: the hold is the end of it
 *	migrate		the callouts of a CPU that is dead move to another CPU's base
 *	clock_look	a clock has stepped, and no callout is due earlier
 *	clock_step	a clock has stepped, and all callouts are due earlier
 *
 * The last two, part=step, lock the base for each callout. Medians of rounds are
 * reported. Of the longest portions the least is: the host may take the CPU away in a
 * portion.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <uapi/linux/callout.h>
#include "core/cpu.h"
#include "core/resize.h"
#include "device/clock.h"
#include "device/ctx.h"
#include "device/set.h"
#include "handles/table.h"
#include "wheel/hashed_wheel.h"
#include "lab.h"
#include "native.h"

#define SPAN		(1U << 20)
#define HOUR		(3600UL * HZ)
#define HOUR_NS		(3600 * NSEC_PER_SEC)
#define STEP_NS		(60 * NSEC_PER_SEC)

/* The share of the callouts that is left when a wheel shrinks. */
#define LEFT		16U

/* The time of a change in a round. */
struct change {
	u64 ns;
	u64 portions;
	u64 longest;
};

static void portion(struct change *c, u64 ns)
{
	c->ns += ns;
	c->portions++;
	c->longest = max(c->longest, ns);
}

/* Report rounds of a change of @n callouts. */
static void report(const char *what, unsigned int n, const struct change *c)
{
	u64 ns[LAB_ROUNDS], longest = U64_MAX, middle;
	char each[LAB_TENTHS], mean[LAB_TENTHS], most[LAB_TENTHS] = "-";
	unsigned int i;

	for (i = 0; i < lab_rounds(n); i++) {
		ns[i] = c[i].ns;
		longest = min(longest, c[i].longest);
	}
	middle = lab_median(ns, lab_rounds(n));
	if (longest)
		snprintf(most, sizeof(most), "%llu", longest);
	pr_info("lab-growth: %s,%u,%s,%llu,%llu,%s,%s\n", what, n,
		lab_tenths(middle, n, each), div_u64(middle, NSEC_PER_USEC),
		c->portions, lab_tenths(middle, c->portions, mean), most);
}

/* As resize_to() of resize.c. */
static void wheel_move(struct callout_wheel *w, const struct callout_ring *ring,
		       struct change *c)
{
	struct callout_ring old;
	unsigned int budget;
	bool more;
	u64 start;

	local_irq_disable();
	co_wheel_resize(w, ring);
	local_irq_enable();
	do {
		cond_resched();
		budget = CALLOUT_BUDGET;
		start = lab_begin();
		more = co_wheel_move(w, &budget);
		portion(c, lab_clock() - start);
		local_irq_enable();
	} while (more);
	co_wheel_moved(w, &old);
	co_ring_free(&old);
}

/* Move @n callouts from a ring of @from buckets to a ring of @to buckets. */
static int wheel_change(unsigned int n, unsigned int from, unsigned int to,
			struct change *c)
{
	const struct callout_scheme_params params = { .buckets = from };
	struct callout_ring ring;
	struct lab lab;
	int ret;

	ret = lab_create(&lab, lab_find_row("hashed_wheel"), &params, n);
	if (ret)
		return ret;
	lab_fill(&lab, n, SPAN, 2 * SPAN);
	ret = co_ring_alloc(&ring, to, NUMA_NO_NODE, GFP_KERNEL);
	if (!ret)
		wheel_move(to_wheel(lab.s), &ring, c);
	lab_destroy(&lab);
	return ret;
}

static int wheel_grow(unsigned int n, struct change *c)
{
	unsigned int to = lab_buckets_for(n);

	return wheel_change(n, to / 2, to, c);
}

static int wheel_shrink(unsigned int n, struct change *c)
{
	return wheel_change(n / LEFT, lab_buckets_for(n),
			    lab_buckets_for(n / LEFT), c);
}

static int table_fill(struct callout_table *table, struct change *c)
{
	struct callout_base *base = lab_base(0);
	u64 start;
	int ret;

	mutex_lock(&table->grow);
	do {
		cond_resched();
		start = lab_clock();
		ret = co_table_add_chunk(table, base, GFP_KERNEL);
		if (!ret)
			portion(c, lab_clock() - start);
	} while (!ret);
	mutex_unlock(&table->grow);
	return ret == -ENOSPC ? 0 : ret;
}

static int table_grow(unsigned int n, struct change *c)
{
	struct callout_table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	int ret = table ? 0 : -ENOMEM;

	if (!ret)
		ret = co_table_init(table, CALLOUT_KIND_HANDLE, n, GFP_KERNEL);
	if (!ret) {
		ret = table_fill(table, c);
		co_table_destroy(table);
	}
	kfree(table);
	return ret;
}

static void nothing(void *arg)
{
}

/* As co_base_evacuate() of cpu.c. */
static void evacuate(struct callout_base *from, struct callout_base *to,
		     struct change *c)
{
	bool more;
	u64 start;

	do {
		start = lab_begin();
		co_base_lock(to);
		co_base_lock_nested(from);
		more = co_take_over(from, to);
		co_base_unlock(from);
		co_base_unlock(to);
		portion(c, lab_clock() - start);
		local_irq_enable();
		cond_resched();
	} while (more);
}

static void stop_all(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		callout_stop(&lab_timer(i)->callout);
		if (!(i % 1024))
			cond_resched();
	}
}

/* Timer @n is the earliest, in the base to which the others migrate. */
static int migrate(unsigned int n, struct change *c)
{
	union lab_timer *t;
	unsigned int i;

	for (i = 0; i <= n; i++) {
		t = lab_timer(i);
		callout_init(&t->callout, CALLOUT_MPSAFE);
		t->node.cpu = i < n;
		t->node.home = i < n;
		callout_reset(&t->callout, i < n ? lab_random(HOUR, 2 * HOUR) :
			      HOUR / 2, nothing, NULL);
		if (!(i % 1024))
			cond_resched();
	}
	lab_bases_settle();
	evacuate(lab_base(1), lab_base(0), c);
	stop_all(n + 1);
	return co_base_pending(lab_base(1)) ? -EIO : 0;
}

static int rounds(const char *what, unsigned int n,
		  int (*round)(unsigned int n, struct change *c))
{
	struct change c[LAB_ROUNDS] = {};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < lab_rounds(n) && !ret; i++) {
		ret = round(n, &c[i]);
		cond_resched();
	}
	if (!ret)
		report(what, n, c);
	return ret;
}

int lab_growth(const char *unused)
{
	int ret = lab_callouts_init(lab_most + 1);
	unsigned int n;

	if (!ret)
		ret = lab_bases_init();
	for (n = 1000; n <= lab_most && !ret; n *= 10) {
		ret = rounds("wheel_grow", n, wheel_grow);
		if (!ret)
			ret = rounds("wheel_shrink", n, wheel_shrink);
		if (!ret)
			ret = rounds("table_grow", n, table_grow);
		if (!ret)
			ret = rounds("migrate", n, migrate);
	}
	lab_bases_exit();
	lab_callouts_free();
	return ret;
}

/* Set @n callouts of a file, due in an hour or two of a clock that steps. */
static int file_fill(struct callout_file *file, unsigned int n)
{
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.flags = CALLOUT_OPF_ABSTIME,
		.clockid = CLOCK_BOOTTIME,
		.slack = callout_slack_ns,
	};
	struct callout_op_ctx ctx = {};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		op.time = ktime_get_boottime_ns() + lab_random(HOUR_NS, 2 * HOUR_NS);
		ret = co_file_set(file, &op, &ctx);
		if (!(i % 16)) {
			co_ctx_flush(file, &ctx);
			memset(&ctx, 0, sizeof(ctx));
			cond_resched();
		}
	}
	co_ctx_flush(file, &ctx);
	lab_bases_settle();
	return ret;
}

static void clock_steps(u64 by, struct change *c)
{
	u64 start;

	callout_boot_step += by;
	start = lab_clock();
	co_clock_stepped();
	c->ns = lab_clock() - start;
}

static int step_n(unsigned int n)
{
	struct change look[LAB_ROUNDS] = {}, step[LAB_ROUNDS] = {};
	struct callout_file *file = co_file_create();
	unsigned int i;
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = file_fill(file, n);
	for (i = 0; i < lab_rounds(n) && !ret; i++) {
		clock_steps(0, &look[i]);
		clock_steps(STEP_NS, &step[i]);
		look[i].portions = n;
		step[i].portions = n;
	}
	callout_boot_step = 0;
	co_file_destroy(file);
	if (!ret) {
		report("clock_look", n, look);
		report("clock_step", n, step);
	}
	return ret;
}

int lab_step(const char *unused)
{
	unsigned int n;
	int ret = 0;

	for (n = 1000; n <= lab_most && !ret; n *= 10)
		ret = step_n(n);
	return ret;
}
