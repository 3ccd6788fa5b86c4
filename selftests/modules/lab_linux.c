// SPDX-License-Identifier: GPL-2.0
/*
 * lab_linux.c - the native costs of whole facilities: callouts, Linux's timers
 *
 * The metrics that lab_native.c explains, as far as a module can see them from
 * outside. Dense expiry is timed from the first handler to the last; so is
 * sparse expiry, where each of some is due in a tick of its own and time leaps
 * over all of these ticks at once. hrtimers do not go by ticks: theirs are a
 * microsecond apart. What a tick or a jump costs cannot be told apart here from
 * what else the kernel does then.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include "kcompat.h"
#include "lab.h"
#include "lab_native.h"

#define HOUR		(3600UL * HZ)
#define SPARSE		20000U
#define SOON		2U
#define SOON_US		(SOON * TICK_NSEC / 1000)
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
	/* The step between those that are to be alone, in the unit of set. */
	void (*set_apart)(union any *t, unsigned int i);
};

static unsigned int ran, expected;
static u64 first, last;
static ktime_t base_time;

/* The clock is read twice only: that takes as long as an expiry. */
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

static void callout_set_apart(union any *t, unsigned int i)
{
	callout_set_one(t, SOON + i);
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

static void timer_set_apart(union any *t, unsigned int i)
{
	timer_set_one(t, SOON + i);
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

static void hrtimer_set_apart(union any *t, unsigned int i)
{
	hrtimer_start(&t->hrtimer,
		      ktime_add_us(base_time, SOON_US + i),
		      HRTIMER_MODE_ABS_PINNED);
}

static const struct facility facilities[LAB_FACILITIES] = {
	{ callout_init_one, callout_set_one, callout_cancel_one,
	  callout_set_apart },
	{ timer_init_one, timer_set_one, timer_cancel_one, timer_set_apart },
	{ hrtimer_init_one, hrtimer_set_one, hrtimer_cancel_one,
	  hrtimer_set_apart },
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

static u64 moves(const struct facility *f)
{
	unsigned int i;
	u64 start;

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

/* From the first to the last of what @set has set with interrupts off. */
static u64 expiry(unsigned int n, unsigned long leap)
{
	unsigned int patience = 500;

	expected = n;
	/* Whoever reads jiffies here does not see it torn: one CPU. */
	jiffies_64 += leap;
	local_irq_enable();
	while (READ_ONCE(ran) < n && patience--)
		msleep(20);
	return ran == n ? div64_u64((last - first) * 10, n - 1) ?: 1 : 0;
}

static u64 sparse(const struct facility *f, unsigned int n)
{
	unsigned int some = min(n / 2, SPARSE), i;
	bool ticks = f->set_apart != hrtimer_set_apart;

	ran = 0;
	local_irq_disable();
	base_time = ktime_get();
	for (i = 0; i < some; i++)
		f->set_apart(get(i * PRIME % n), i);
	if (ticks)
		/* Linux's wheel may be late by an eighth. */
		return expiry(some, some + some / 8 + 64);
	while (ktime_us_delta(ktime_get(), base_time) < SOON_US + some)
		cpu_relax();
	return expiry(some, 0);
}

static u64 dense(const struct facility *f, unsigned int n)
{
	unsigned int i;

	ran = 0;
	local_irq_disable();
	base_time = ktime_get();
	for (i = 0; i < n; i++)
		f->set(get(i * PRIME % n), SOON);
	return expiry(n, 0);
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
	value[LAB_SPARSE] = sparse(f, n);
	cancel_all(f, n + 1);
	value[LAB_DENSE] = dense(f, n);
	cancel_all(f, n + 1);
	callout_barrier();
	return value[LAB_SPARSE] && value[LAB_DENSE] ? 0 : -EIO;
}

/**
 * lab_linux_round - measures all facilities with @n outstanding
 * @n: how many
 * @values: the values, of LAB_FACILITIES
 * @round: which of the rounds this is
 *
 * Return: 0 or an error.
 */
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
