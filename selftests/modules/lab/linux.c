// SPDX-License-Identifier: GPL-2.0
/*
 * linux.c - the native costs of whole facilities: callouts, Linux's timers
 *
 * The metrics of native.c, as far as a module can measure them from outside.
 * Dense expiry is timed from the first handler to the last; so is sparse
 * expiry, where each of a few timers is due at a tick of its own and time jumps
 * over all of these ticks at once: no more of them than the lowest level of
 * Linux's wheel has ticks, since those of higher levels expire together.
 * hrtimers have no sparse expiry: they do not depend on ticks, and one
 * interrupt would serve all of them. The cost of a tick or a jump cannot be
 * separated here from the kernel's other work.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include "kcompat.h"
#include "lab.h"
#include "native.h"

#define HOUR		(3600UL * HZ)
#define SOON		2U
/* Sparse expiry: timers in a group, 64 ticks ahead at most. */
#define GROUP		48U
#define GROUPS		20U
#define PRIME		1000003ULL

/* In the same memory as the callouts of lab_callout(). */
union any {
	struct callout callout;
	struct timer_list timer;
	struct hrtimer hrtimer;
};

static_assert(sizeof(union any) <= sizeof(struct callout));

struct facility {
	void (*init)(union any *t);
	void (*set)(union any *t, unsigned long ticks);
	void (*cancel)(union any *t);
	/* Each tick expires the timers that are due at it, and no others. */
	bool ticks;
};

static unsigned int ran, expected;
static u64 first, last;
static ktime_t base_time;

/* Reads the clock twice only, since that takes as long as an expiry. */
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

static void callout_init_one(union any *t)
{
	callout_init(&t->callout, CALLOUT_MPSAFE);
}

static void callout_set_one(union any *t, unsigned long ticks)
{
	callout_reset(&t->callout, ticks, callout_note, NULL);
}

static void callout_cancel_one(union any *t)
{
	callout_stop(&t->callout);
}

static void timer_note(struct timer_list *t)
{
	note();
}

static void timer_init_one(union any *t)
{
	timer_setup(&t->timer, timer_note, TIMER_PINNED);
}

static void timer_set_one(union any *t, unsigned long ticks)
{
	mod_timer(&t->timer, jiffies + ticks);
}

static void timer_cancel_one(union any *t)
{
	timer_delete(&t->timer);
}

static enum hrtimer_restart hrtimer_note(struct hrtimer *t)
{
	note();
	return HRTIMER_NORESTART;
}

static void hrtimer_init_one(union any *t)
{
	hrtimer_setup(&t->hrtimer, hrtimer_note, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED);
}

static void hrtimer_set_one(union any *t, unsigned long ticks)
{
	hrtimer_start(&t->hrtimer,
		      ktime_add_ns(base_time, (u64)ticks * TICK_NSEC),
		      HRTIMER_MODE_ABS_PINNED);
}

static void hrtimer_cancel_one(union any *t)
{
	hrtimer_cancel(&t->hrtimer);
}

static const struct facility facilities[LAB_FACILITIES] = {
	{ callout_init_one, callout_set_one, callout_cancel_one, true },
	{ timer_init_one, timer_set_one, timer_cancel_one, true },
	{ hrtimer_init_one, hrtimer_set_one, hrtimer_cancel_one, false },
};

const char *const lab_linux_names[LAB_FACILITIES] = {
	"(callout)", "(timer_list)", "(hrtimer)",
};

static unsigned int which[LAB_OPS];
static unsigned long after[LAB_OPS];

static union any *get(unsigned int i)
{
	return (union any *)lab_callout(i);
}

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
		f->cancel(get(which[i]));
		f->set(get(which[i]), after[i]);
	}
	return lab_end(start, LAB_OPS);
}

/* Each to a later time than before, also if it was moved before. */
static u64 moves(const struct facility *f)
{
	unsigned int i;
	u64 start;

	for (i = 0; i < LAB_OPS; i++)
		after[i] = 2 * HOUR + i * (HOUR / LAB_OPS);
	start = lab_begin();
	for (i = 0; i < LAB_OPS; i++)
		f->set(get(which[i]), after[i]);
	return lab_end(start, LAB_OPS);
}

static void cancel_all(const struct facility *f, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		f->cancel(get(i));
		if (!(i % 1024))
			cond_resched();
	}
}

/*
 * The time from the first to the last of @n that were set with interrupts off,
 * in ns; 0 if not all have expired.
 */
static u64 expiry(unsigned int n, unsigned long leap)
{
	unsigned int patience = 5000;

	expected = n;
	/* No torn read of jiffies: there is one CPU. */
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
			f->set(get((group * GROUP + i) * PRIME % n), SOON + i);
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
		f->set(get(i * PRIME % n), SOON);
	return div64_u64(expiry(n, 0) * 10, n - 1);
}

static int facility_round(const struct facility *f, unsigned int n, u64 *value)
{
	unsigned int i;

	base_time = ktime_get();
	for (i = 0; i <= n; i++) {
		f->init(get(i));
		f->set(get(i), lab_random(HOUR, 2 * HOUR));
		if (!(i % 1024))
			cond_resched();
	}
	draw(n, 2 * HOUR);
	memset(which, 0, sizeof(which));
	value[LAB_PAIR_ONE] = pairs(f);
	draw(n, HOUR);
	value[LAB_PAIR_RANDOM] = pairs(f);
	draw(n, 2 * HOUR);
	value[LAB_REARM_LATER] = moves(f);
	value[LAB_SPARSE] = f->ticks ? sparse(f, n) : 0;
	cancel_all(f, n + 1);
	value[LAB_DENSE] = dense(f, n);
	cancel_all(f, n + 1);
	callout_barrier();
	return (value[LAB_SPARSE] || !f->ticks) && value[LAB_DENSE] ? 0 : -EIO;
}

/* Measures all facilities with @n outstanding: round @round of @values. */
int lab_linux_round(unsigned int n, struct lab_values *values,
		    unsigned int round)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < LAB_FACILITIES && !ret; i++) {
		ret = facility_round(&facilities[i], n, values[i].round[round]);
		if (ret)
			pr_err("lab: %s\n", lab_linux_names[i]);
	}
	return ret;
}
