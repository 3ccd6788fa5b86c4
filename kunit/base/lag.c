// SPDX-License-Identifier: GPL-2.0
/*
 * lag.c - suite callout_lag: jiffies that lag the clock, a wheel that lags jiffies
 *
 * A periodic tick does not make up for an interrupt that came too late, so jiffies fall
 * further and further behind the clock. Here they have lost LOST_NS since the module
 * was loaded. A case derives its expectations from jiffies and the clock, which it
 * reads before and after a call: they hold however busy the machine is.
 */
#include <linux/bottom_half.h>
#include <linux/callout_openbsd.h>
#include <linux/callout_work.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include "core/queue.h"
#include "lib/common.h"

#define LOST_NS		(3600 * (s64)NSEC_PER_SEC)

/* Do kernel code's callouts take their time from jiffies, and is it checked? */
static bool lag_applies(void)
{
	return co_base(0)->tick == &callout_tick_jiffies &&
	       co_is_wheel(co_base(0));
}

static void lag_end(void *unused)
{
	atomic64_add(LOST_NS, &callout_jiffy_zero);
}

/* Lose LOST_NS until the end of the case. Samples taken during the case are later. */
static void lag_begin(struct kunit *test)
{
	atomic64_sub(LOST_NS, &callout_jiffy_zero);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lag_end, NULL));
}

/* Convert @sbt to ns, rounded up. */
static u64 lag_ns(sbintime_t sbt)
{
	return (sbt >> 32) * NSEC_PER_SEC +
	       (((u32)sbt * (u64)NSEC_PER_SEC + U32_MAX) >> 32);
}

/* Convert @ns, rounded up. */
static sbintime_t lag_sbt(u64 ns)
{
	return div_u64(ns, NSEC_PER_SEC) * SBT_1S +
	       DIV_ROUND_UP_ULL((ns % NSEC_PER_SEC) << 32, NSEC_PER_SEC);
}

/*
 * The latest tick for a callout due at @due: one more than the full ticks from @now,
 * which was read before the present jiffy.
 */
static u64 lag_last(u64 due, u64 now)
{
	return get_jiffies_64() + DIV_ROUND_UP_ULL(due - min(now, due), TICK_NSEC) + 1;
}

/* A time is converted to a tick after the present tick, and no further away than in full ticks. */
static void lag_from_ns(struct kunit *test)
{
	struct callout_base *base = co_base(0);
	struct rnd_state rng;
	u64 now, due, jiffy, tick;
	unsigned int i;

	if (!lag_applies())
		return;
	callout_test_rng(test, &rng);
	lag_begin(test);
	for (i = 0; i < 10000; i++) {
		jiffy = get_jiffies_64();
		now = ktime_get_ns();
		due = now + ((u64)prandom_u32_state(&rng) << i % 24);
		/* One time in four has passed. */
		if (i % 4 == 0)
			due = callout_test_below(&rng, min_t(u64, now, U32_MAX));
		tick = co_from_ns(base, due, now);
		KUNIT_ASSERT_LE(test, tick, lag_last(due, now));
		KUNIT_ASSERT_GE(test, tick, jiffy + 1 +
				DIV_ROUND_UP_ULL(due - min(now, due), TICK_NSEC));
	}
	now = ktime_get_ns();
	due = S64_MAX;
	KUNIT_EXPECT_LE(test, co_from_ns(base, due, now), lag_last(due, now));
	KUNIT_EXPECT_GT(test, co_from_ns(base, due, now), S64_MAX / TICK_NSEC);
}

/**
 * struct lagged - a callout that is set by the clock, in one of three forms
 * @c: the callout
 * @w: the callout if its handler may sleep
 * @to: the callout as OpenBSD's timeout
 * @ran: when the handler ran, in ns
 * @done: the handler has run
 */
struct lagged {
	struct callout c;
	struct callout_work w;
	struct timeout to;
	u64 ran;
	bool done;
};

static void lagged_handler(void *arg)
{
	struct lagged *l = arg;

	l->ran = ktime_get_ns();
	callout_test_tell(&l->done);
}

static void lagged_end(void *data)
{
	struct lagged *l = data;

	callout_drain(&l->c);
	callout_work_drain(&l->w);
	callout_openbsd_del_barrier(&l->to);
}

static struct lagged *lagged_new(struct kunit *test)
{
	struct lagged *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	callout_init(&l->c, CALLOUT_MPSAFE);
	callout_work_init(&l->w);
	callout_openbsd_set_flags(&l->to, lagged_handler, l, KCLOCK_UPTIME,
				  TIMEOUT_PROC | TIMEOUT_MPSAFE);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lagged_end, l));
	return l;
}

/* Each of these functions sets one form of @l for @ns from now on, and returns its callout. */
static struct callout *set_relative(struct lagged *l, u64 ns)
{
	callout_reset_sbt(&l->c, lag_sbt(ns), 0, lagged_handler, l, 0);
	return &l->c;
}

static struct callout *set_absolute(struct lagged *l, u64 ns)
{
	callout_reset_sbt(&l->c, lag_sbt(ktime_get_ns() + ns), 0, lagged_handler, l,
			  C_ABSOLUTE);
	return &l->c;
}

static struct callout *set_precalculated(struct lagged *l, u64 ns)
{
	sbintime_t sbt, pr;

	callout_when(lag_sbt(ns), 0, 0, &sbt, &pr);
	callout_reset_sbt_on(&l->c, sbt, pr, lagged_handler, l, raw_smp_processor_id(),
			     C_PRECALC);
	return &l->c;
}

static struct callout *set_in_ticks(struct lagged *l, u64 ns)
{
	callout_reset_sbt(&l->c, lag_sbt(ns), 0, lagged_handler, l, C_HARDCLOCK);
	return &l->c;
}

static struct callout *set_again(struct lagged *l, u64 ns)
{
	callout_reset(&l->c, CALLOUT_TEST_FAR, lagged_handler, l);
	callout_schedule_sbt(&l->c, lag_sbt(ns), 0, 0);
	return &l->c;
}

static struct callout *set_work(struct lagged *l, u64 ns)
{
	callout_work_reset_sbt_on(&l->w, lag_sbt(ns), 0, lagged_handler, l, -1, 0);
	return &l->w.c;
}

static struct callout *set_openbsd(struct lagged *l, u64 ns)
{
	u64 due = ktime_get_ns() + ns;

	callout_openbsd_abs(&l->to, due / NSEC_PER_SEC, due % NSEC_PER_SEC);
	return &l->to.w.c;
}

/**
 * struct lag_call - a call that takes a time of the clock
 * @name: name of the case
 * @set: the call
 * @ticks: the call counts ticks, so the callout is early by the clock if jiffies
 *	lag
 */
struct lag_call {
	const char *name;
	struct callout *(*set)(struct lagged *l, u64 ns);
	bool ticks;
};

static const struct lag_call calls[] = {
	{ "relative", set_relative },
	{ "absolute", set_absolute },
	{ "precalculated", set_precalculated },
	{ "hardclock", set_in_ticks, true },
	{ "again", set_again },
	{ "work", set_work },
	{ "openbsd", set_openbsd },
};

static void lag_desc(const struct lag_call *call, char *desc)
{
	strscpy(desc, call->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(lag_call, calls, lag_desc);

/* A callout set by the clock is queued for less than two ticks after its time, and runs. */
static void lag_set(struct kunit *test)
{
	const struct lag_call *call = test->param_value;
	struct lagged *l = lagged_new(test);
	u64 now, far, ns = 7 * (u64)TICK_NSEC + 1;
	struct callout *c;
	unsigned int i;

	if (!lag_applies())
		return;
	lag_begin(test);
	/* The times are so far away that the callout stays where it was queued. */
	for (i = 0; i < 40; i++) {
		far = (60 * (u64)HZ << i / 4) * TICK_NSEC + i * NSEC_PER_MSEC;
		now = ktime_get_ns();
		c = call->set(l, far);
		/* The call counts from a later time; 1 ns is for rounding. */
		KUNIT_EXPECT_LE(test, c->node.expires,
				lag_last(now + far + 1, now));
	}
	now = ktime_get_ns();
	call->set(l, ns);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_test_told(&l->done)));
	if (!call->ticks)
		KUNIT_EXPECT_GE(test, l->ran, now + ns);
}

/* A callout that is early, and is postponed, is queued by the same rule. */
static void lag_postponed(struct kunit *test)
{
	struct lagged *l = lagged_new(test);
	u64 due, ns = 20 * (u64)TICK_NSEC, early = ns - TICK_NSEC;
	s64 lost;

	if (!lag_applies())
		return;
	lag_begin(test);
	lost = atomic64_read(&callout_jiffy_zero);
	/* Set it as if jiffies had lagged when the module was loaded. */
	preempt_disable();
	atomic64_set(&callout_jiffy_zero, lost + LOST_NS + early);
	due = ktime_get_ns() + ns;
	set_relative(l, ns);
	atomic64_set(&callout_jiffy_zero, lost);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_test_told(&l->done)));
	KUNIT_EXPECT_GE(test, l->ran, due);
}

/* The time at which a number of ticks is due is known to within a tick. */
static void lag_expires_sbt(struct kunit *test)
{
	struct lagged *l = lagged_new(test);
	u64 now, jiffy, tick, ns, i;

	if (!lag_applies())
		return;
	lag_begin(test);
	for (i = 1; i < 1ULL << 28; i *= 4) {
		callout_reset(&l->c, i + CALLOUT_TEST_FAR, lagged_handler, l);
		tick = l->c.node.expires;
		now = ktime_get_ns();
		jiffy = get_jiffies_64();
		ns = lag_ns(callout_expires_sbt(&l->c));
		KUNIT_EXPECT_LE(test, ns, ktime_get_ns() + (tick - jiffy) * TICK_NSEC + 1);
		KUNIT_EXPECT_GE(test, ns + 1, now + (tick - get_jiffies_64() - 1) * TICK_NSEC);
	}
}

/**
 * struct linux_wheel - the place of one timer in the wheel of kernel/time/timer.c
 * @clk: the wheel's clock: jiffies, or behind them while expired timers wait
 * @shift: the level's granules are 1 << @shift ticks
 * @fires: the tick at which the timer fires
 */
struct linux_wheel {
	u64 clk;
	unsigned int shift;
	u64 fires;
};

/* As calc_wheel_index() with HZ above 100. */
static void linux_put(struct linux_wheel *w, unsigned long expires)
{
	u64 delta = expires - w->clk;

	w->shift = 0;
	w->fires = w->clk;
	if ((s64)delta < 0)
		return;
	while (w->shift < 24 && delta >= 63ULL << w->shift)
		w->shift += 3;
	w->fires = ((expires >> w->shift) + 1) << w->shift;
}

/*
 * Go from @now to @tick by hops, in a wheel that lags by @lag all the time. Return
 * how often the timer fired, or 0 if it was late. *@again counts second settings.
 */
static unsigned int linux_hops(u64 now, u64 tick, unsigned int lag,
			       unsigned int *again)
{
	struct linux_wheel w = { .clk = now - lag };
	unsigned long hop, better;
	unsigned int hops = 0;

	while (now < tick) {
		hop = co_jiffies_hop(now, tick, 0);
		linux_put(&w, hop);
		better = co_jiffies_hop_again(now, tick, hop, w.shift);
		if (better != hop) {
			linux_put(&w, better);
			++*again;
		}
		if (w.fires > tick || ++hops > lag + 10)
			return 0;
		if (w.fires > now) {
			now = w.fires;
			w.clk = now - lag;
		} else {
			/* At once: the wheel moves to the next bucket. */
			w.clk = max(w.clk, w.fires) + 1;
		}
	}
	return hops;
}

/*
 * However far the kernel's wheel lags jiffies, no timer is late. As long as the lag
 * is less than 8 ticks, each timer is set once for each hop, and needs one hop a
 * level.
 */
static void lag_hops(struct kunit *test)
{
	unsigned int phase, far, lag, n, late = 0, twice = 0, slow = 0, again;
	struct rnd_state rng;
	u64 now;

	for (phase = 0; phase < 64; phase++)
		for (far = 1; far < 140; far++)
			for (lag = 0; lag < 80; lag++) {
				again = 0;
				n = linux_hops((1ULL << 32) + phase, (1ULL << 32) + phase + far,
					       lag, &again);
				late += !n;
				twice += lag < 8 && again;
				slow += lag < 8 && n > 3;
			}
	callout_test_rng(test, &rng);
	for (n = 0; n < 100000; n++) {
		now = (1ULL << 32) + callout_test_below(&rng, 1U << 31);
		far = callout_test_below(&rng, 1U << (1 + n % 27)) + 1;
		lag = callout_test_below(&rng, 1U << (1 + n % 10));
		again = 0;
		phase = linux_hops(now, now + far, lag, &again);
		late += !phase;
		twice += lag < 8 && again;
		slow += lag < 8 && phase > 9;
	}
	KUNIT_EXPECT_EQ(test, late, 0);
	KUNIT_EXPECT_EQ(test, twice, 0);
	KUNIT_EXPECT_EQ(test, slow, 0);
}

/*
 * By how many ticks Linux's wheel lags jiffies, and a distance at which its granules are
 * 8 ticks.
 */
#define WHEEL_LAG	20
#define WHEEL_FAR	600

static struct timer_list wheel_waits;

static void wheel_nothing(struct timer_list *t)
{
}

/*
 * Set @l at many distances, each nearer than the previous distance, so that each
 * programs the tick. Return for how many of them Linux's wheel would be late, because
 * it has not put the timer on an edge of the level.
 */
static unsigned int wheel_program(struct callout_base *base, struct lagged *l,
				  unsigned int *programmed)
{
	unsigned int shift, late = 0, distance;
	unsigned long expires;
	u32 flags;
	bool armed;

	for (distance = WHEEL_FAR; distance; distance--) {
		callout_reset_on(&l->c, distance, lagged_handler, l, base->cpu);
		co_base_lock_irq(base);
		armed = base->armed == l->c.node.expires;
		expires = base->timer.expires;
		flags = base->timer.flags;
		co_base_unlock_irq(base);
		/* The wheel's buckets are numbered by level, 64 each. */
		shift = 3 * ((flags >> TIMER_ARRAYSHIFT) / 64);
		*programmed += armed;
		late += armed && (expires + 1) & ((1UL << shift) - 1);
	}
	return late;
}

/*
 * While softirqs wait, a timer that has expired holds up the clock of Linux's wheel. A
 * tick programmed at that time comes on time all the same.
 */
static void lag_of_linux_wheel(struct kunit *test)
{
	struct callout_base *base = co_base(raw_smp_processor_id());
	unsigned int late, programmed = 0;
	struct lagged *l = lagged_new(test);
	unsigned long start;
	bool waits;

	/* In the replaced kernel the tick looks at the base. */
	if (!lag_applies() || IS_ENABLED(CONFIG_CALLOUT_TIMERS))
		return;
	callout_test_pin(test, base->cpu);
	timer_setup(&wheel_waits, wheel_nothing, TIMER_PINNED);
	local_bh_disable();
	start = jiffies;
	mod_timer(&wheel_waits, start);
	callout_test_spin_until(time_after(jiffies, start + WHEEL_LAG));
	late = wheel_program(base, l, &programmed);
	waits = timer_pending(&wheel_waits);
	local_bh_enable();
	timer_delete_sync(&wheel_waits);
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_EXPECT_GT(test, programmed, WHEEL_FAR / 2);
	KUNIT_EXPECT_EQ(test, late, 0);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_test_told(&l->done)));
}

/* The least value of callout_jiffy_zero counts, as it did before the case. */
static void lag_zero_end(void *data)
{
	s64 *zero = data;

	atomic64_set(&callout_jiffy_zero, min_t(s64, *zero, atomic64_read(&callout_jiffy_zero)));
}

/* Return callout_jiffy_zero, which is restored at the end of the case; NULL: not used. */
static s64 *lag_save_zero(struct kunit *test)
{
	s64 *zero;

	if (!lag_applies())
		return NULL;
	zero = kunit_kzalloc(test, sizeof(*zero), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, zero);
	*zero = atomic64_read(&callout_jiffy_zero);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lag_zero_end, zero));
	return zero;
}

/*
 * If jiffies lagged when the module was loaded, jiffy 0 seems later than it was. That is
 * noticed when jiffies no longer lag, as long as any callout is due.
 */
static void lag_is_noticed(struct kunit *test)
{
	struct lagged *l = lagged_new(test);
	s64 *zero = lag_save_zero(test);

	if (!zero)
		return;
	atomic64_add(LOST_NS, &callout_jiffy_zero);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(({
		callout_reset(&l->c, 1, lagged_handler, l);
		atomic64_read(&callout_jiffy_zero) < *zero + LOST_NS / 2;
	})));
}

/* Where jiffy 0 says so, a time's tick is the earlier one, to the nanosecond. */
static void lag_from_ns_by_zero(struct kunit *test)
{
	struct callout_base *base = co_base(0);
	u64 jiffy, now, tick, passed;
	unsigned int i;
	s64 zero;

	if (!lag_save_zero(test))
		return;
	/* Even if ticks have been lost before. */
	atomic64_set(&callout_jiffy_zero, co_jiffies_zero() + 10 * TICK_NSEC);
	for (i = 0; i < 1000; i++) {
		zero = atomic64_read(&callout_jiffy_zero);
		jiffy = get_jiffies_64();
		now = ktime_get_ns();
		tick = co_from_ns(base, zero + (jiffy + 20) * TICK_NSEC + i % 2, now);
		passed = get_jiffies_64() - jiffy;
		/* Otherwise the present jiffy says an earlier tick, or either has changed. */
		if (now <= zero + jiffy * TICK_NSEC && !passed &&
		    zero == atomic64_read(&callout_jiffy_zero))
			KUNIT_EXPECT_EQ(test, tick, jiffy + 21 + i % 2);
	}
}

static struct kunit_case lag_cases[] = {
	KUNIT_CASE(lag_from_ns),
	KUNIT_CASE_PARAM(lag_set, lag_call_gen_params),
	KUNIT_CASE(lag_postponed),
	KUNIT_CASE(lag_expires_sbt),
	KUNIT_CASE(lag_hops),
	KUNIT_CASE(lag_of_linux_wheel),
	KUNIT_CASE(lag_is_noticed),
	KUNIT_CASE(lag_from_ns_by_zero),
	{}
};

static struct kunit_suite lag_suite = {
	.name = "callout_lag",
	.test_cases = lag_cases,
};

kunit_test_suite(lag_suite);
