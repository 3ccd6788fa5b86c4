// SPDX-License-Identifier: GPL-2.0
/*
 * linux.c - the native costs of whole facilities: callouts, Linux's timers
 *
 * The metrics of native.c, as far as a module can measure them from outside,
 * with all locks and clocks. Callouts have the bases of 1, 4 and 16 CPUs, see
 * bases.c, and are spread over them evenly: callout i belongs to base i modulo
 * their number, and the measured callouts belong to each base in turn. Linux's
 * timers have the base of the one CPU, which is part of the kernel.
 *
 * Dense expiry is timed from the first handler to the last. So is sparse
 * expiry, where each of a few timers is due at a different tick and time jumps
 * over all of these ticks at once. There are no more timers than the lowest
 * level of Linux's wheel has ticks, since timers of higher levels expire
 * together. hrtimers have no sparse expiry: they do not depend on ticks, and
 * one interrupt would serve all of them. The cost of a tick or a jump cannot be
 * separated here from the kernel's other work.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include "kcompat.h"
#include "lab.h"
#include "native.h"

#define HOUR		(3600UL * HZ)
#define SOON		2U
/* Sparse expiry: timers in a group, 64 ticks ahead at most. */
#define GROUP		48U
#define GROUPS		20U

/* The parts that measure a facility. */
#define IN_NATIVE	1U
#define IN_SCALE	2U

struct facility {
	const char *name;
	unsigned int parts;
	/* A power of two. */
	unsigned int bases;
	/* @base: for callouts, the base that it belongs to */
	void (*init)(union lab_timer *t, unsigned int base);
	void (*set)(union lab_timer *t, unsigned long ticks);
	/* Set it again while it is pending. */
	void (*move)(union lab_timer *t, unsigned long ticks);
	void (*cancel)(union lab_timer *t);
	/* Each tick expires exactly the timers that are due at it. */
	bool ticks;
};

static unsigned int ran, expected, refused;
static u64 first, last;
static ktime_t base_time;

/* Read the clock only twice, since a read takes as long as an expiry. */
static void note(void)
{
	if (++ran == 1)
		first = lab_clock();
	if (ran == expected)
		last = lab_clock();
}

static void callout_note(void *arg)
{
	note();
}

static void callout_init_one(union lab_timer *t, unsigned int base)
{
	callout_init(&t->callout, CALLOUT_MPSAFE);
	t->node.cpu = base;
	t->node.home = base;
}

static void callout_set_one(union lab_timer *t, unsigned long ticks)
{
	callout_reset(&t->callout, ticks, callout_note, NULL);
}

static void callout_cancel_one(union lab_timer *t)
{
	callout_stop(&t->callout);
}

static void handle_init_one(union lab_timer *t, unsigned int base)
{
	t->handle = 0;
}

static void handle_set_one(union lab_timer *t, unsigned long ticks)
{
	t->handle = setcallout(callout_note, NULL, ticks);
	refused += !t->handle;
}

static void handle_move_one(union lab_timer *t, unsigned long ticks)
{
	resetcallout(t->handle, ticks);
}

static void handle_cancel_one(union lab_timer *t)
{
	unsetcallout(t->handle);
}

static void timer_note(struct timer_list *t)
{
	note();
}

static void timer_init_one(union lab_timer *t, unsigned int base)
{
	timer_setup(&t->timer, timer_note, TIMER_PINNED);
}

static void timer_set_one(union lab_timer *t, unsigned long ticks)
{
	mod_timer(&t->timer, jiffies + ticks);
}

static void timer_cancel_one(union lab_timer *t)
{
	timer_delete(&t->timer);
}

static enum hrtimer_restart hrtimer_note(struct hrtimer *t)
{
	note();
	return HRTIMER_NORESTART;
}

static void hrtimer_init_one(union lab_timer *t, unsigned int base)
{
	hrtimer_setup(&t->hrtimer, hrtimer_note, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED);
}

static void hrtimer_set_one(union lab_timer *t, unsigned long ticks)
{
	hrtimer_start(&t->hrtimer,
		      ktime_add_ns(base_time, (u64)ticks * TICK_NSEC),
		      HRTIMER_MODE_ABS_PINNED);
}

static void hrtimer_cancel_one(union lab_timer *t)
{
	hrtimer_cancel(&t->hrtimer);
}

static const struct facility facilities[] = {
	{ "(callout)", IN_NATIVE | IN_SCALE, 1, callout_init_one,
	  callout_set_one, callout_set_one, callout_cancel_one, true },
	{ "(callout):4", IN_NATIVE, 4, callout_init_one, callout_set_one,
	  callout_set_one, callout_cancel_one, true },
	{ "(callout):16", IN_NATIVE, LAB_BASES, callout_init_one,
	  callout_set_one, callout_set_one, callout_cancel_one, true },
	{ "(handle)", IN_SCALE, 1, handle_init_one, handle_set_one,
	  handle_move_one, handle_cancel_one, true },
	{ "(timer_list)", IN_NATIVE | IN_SCALE, 1, timer_init_one,
	  timer_set_one, timer_set_one, timer_cancel_one, true },
	{ "(hrtimer)", IN_NATIVE, 1, hrtimer_init_one, hrtimer_set_one,
	  hrtimer_set_one, hrtimer_cancel_one, false },
};

static_assert(LAB_BASES == 16);

#define FACILITIES	ARRAY_SIZE(facilities)

static unsigned int which[LAB_OPS];
static unsigned long after[LAB_OPS];

static void draw(unsigned int n, unsigned long from)
{
	unsigned int i;

	for (i = 0; i < LAB_OPS; i++) {
		which[i] = lab_random(0, n);
		after[i] = lab_random(from, from + HOUR);
	}
}

static u64 pairs(const struct facility *f)
{
	unsigned int i;
	u64 start;

	start = lab_begin();
	for (i = 0; i < LAB_OPS; i++) {
		f->cancel(lab_timer(which[i]));
		f->set(lab_timer(which[i]), after[i]);
	}
	return lab_end(start, LAB_OPS);
}

/* Move each timer to a later time than before, also if it was moved before. */
static u64 moves(const struct facility *f)
{
	unsigned int i;
	u64 start;

	for (i = 0; i < LAB_OPS; i++)
		after[i] = 2 * HOUR + i * (HOUR / LAB_OPS);
	start = lab_begin();
	for (i = 0; i < LAB_OPS; i++)
		f->move(lab_timer(which[i]), after[i]);
	return lab_end(start, LAB_OPS);
}

static void cancel_all(const struct facility *f, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		f->cancel(lab_timer(i));
		if (!(i % 1024))
			cond_resched();
	}
}

/*
 * Return the time from the first to the last of @n timers that were set with
 * interrupts off, in ns, or 0 if not all have expired.
 */
static u64 expiry(unsigned int n, unsigned long leap)
{
	unsigned int patience = 5000;

	expected = n;
	/* There is no torn read of jiffies, since there is one CPU. */
	jiffies_64 += leap;
	local_irq_enable();
	while (READ_ONCE(ran) < n && patience--)
		usleep_range(2000, 4000);
	return ran == n ? max(last - first, 1ULL) : 0;
}

static u64 sparse(const struct facility *f, unsigned int n)
{
	unsigned int group, i;
	u64 sum = 0, took;

	for (group = 0; group < GROUPS; group++) {
		ran = 0;
		local_irq_disable();
		for (i = 0; i < GROUP; i++)
			f->move(lab_timer(lab_scattered(group * GROUP + i, n)),
				SOON + i);
		took = expiry(GROUP, SOON + GROUP);
		if (!took)
			return 0;
		sum += took;
	}
	return div64_u64(sum * 10, GROUPS * (GROUP - 1)) ?: 1;
}

static u64 dense(const struct facility *f, unsigned int n)
{
	unsigned int i;

	ran = 0;
	local_irq_disable();
	base_time = ktime_get();
	for (i = 0; i < n; i++)
		f->set(lab_timer(lab_scattered(i, n)), SOON);
	return div64_u64(expiry(n, 0) * 10, n - 1);
}

static int facility_round(const struct facility *f, unsigned int n, u64 *value)
{
	unsigned int i;

	base_time = ktime_get();
	refused = 0;
	for (i = 0; i <= n; i++) {
		f->init(lab_timer(i), i % f->bases);
		f->set(lab_timer(i), lab_random(HOUR, 2 * HOUR));
		if (!(i % 1024))
			cond_resched();
	}
	lab_bases_settle();
	draw(n, 2 * HOUR);
	for (i = 0; i < LAB_OPS; i++)
		which[i] = i % f->bases;
	value[LAB_PAIR_ONE] = pairs(f);
	draw(n, HOUR);
	value[LAB_PAIR_RANDOM] = pairs(f);
	draw(n, 2 * HOUR);
	value[LAB_REARM_LATER] = moves(f);
	value[LAB_SPARSE] = f->ticks ? sparse(f, n) : 0;
	cancel_all(f, n + 1);
	value[LAB_DENSE] = dense(f, n);
	cancel_all(f, n + 1);
	if (refused)
		return -ENOSPC;
	return (value[LAB_SPARSE] || !f->ticks) && value[LAB_DENSE] ? 0 : -EIO;
}

/* All facilities of a part take turns. */
static int facilities_n(const char *kind, unsigned int part, unsigned int n)
{
	static struct lab_values values[FACILITIES];
	unsigned int round, i;
	int ret;

	for (round = 0; round < lab_rounds(n); round++) {
		for (i = 0; i < FACILITIES; i++) {
			if (!(facilities[i].parts & part))
				continue;
			ret = facility_round(&facilities[i], n,
					     values[i].round[round]);
			if (ret) {
				pr_err("lab: %s\n", facilities[i].name);
				return ret;
			}
		}
	}
	for (i = 0; i < FACILITIES; i++)
		if (facilities[i].parts & part)
			lab_native_report(kind, facilities[i].name, n,
					  &values[i]);
	return 0;
}

int lab_facilities(const char *unused)
{
	int ret = lab_callouts_init(LAB_MOST + 1);
	unsigned int n;

	if (!ret)
		ret = lab_bases_init();
	for (n = 1000; n <= LAB_MOST && !ret; n *= 10)
		ret = facilities_n("lab-native", IN_NATIVE, n);
	lab_bases_exit();
	lab_callouts_free();
	return ret;
}

/* Measure the facilities of lab_scale() with @n outstanding. Timers are allocated. */
int lab_scale_facilities(unsigned int n)
{
	int ret = callout_reserve(n + 1);

	return ret ? ret : facilities_n("lab-scale", IN_SCALE, n);
}
