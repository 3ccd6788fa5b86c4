// SPDX-License-Identifier: GPL-2.0
/*
 * callout9.c - suite callout_bsd: callout(9)'s times
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include "base/tick.h"
#include "bsd/work.h"
#include "lib/virtual.h"
/* Some names below are also names of the header's macros. */
#define CALLOUT_BSD_NO_TICKS
#include <linux/callout_bsd.h>

static sbintime_t sbt_ticks(unsigned int ticks)
{
	return mul_u64_u64_div_u64(callout_tick_ns() * ticks, SBT_1S,
				   NSEC_PER_SEC);
}

static unsigned int threes(u64 n)
{
	unsigned int i;

	for (i = 0; n && !(n % 3); i++)
		n /= 3;
	return i;
}

/* The first of the ticks with the highest power of three, found by trying every tick. */
static u64 roundest(u64 first, u64 last)
{
	u64 tick, best = first;

	for (tick = first; tick <= last; tick++)
		if (threes(tick) > threes(best))
			best = tick;
	return best;
}

/* The tick is in the span, and has the highest power of three of all ticks in the span. */
static void bsd_coalesce(struct kunit *test)
{
	struct rnd_state rng;
	unsigned int i;
	u64 first, last;

	callout_test_rng(test, &rng);
	for (i = 0; i < 2000; i++) {
		first = 1 + callout_test_below(&rng, 1U << (1 + i % 31));
		last = first + callout_test_below(&rng, 200);
		KUNIT_ASSERT_EQ(test, co_coalesce(first, last),
				roundest(first, last));
	}
	KUNIT_EXPECT_EQ(test, co_coalesce(7, 7), 7);
	KUNIT_EXPECT_EQ(test, co_coalesce(7, 3), 7);
	KUNIT_EXPECT_EQ(test, co_coalesce(0, 9), 0);
	KUNIT_EXPECT_EQ(test, co_coalesce(U64_MAX - 1, U64_MAX), U64_MAX);
	for (i = 0; i < 64; i++) {
		first = 1ULL << i;
		for (last = first; last < U64_MAX / 2; last *= 2) {
			KUNIT_EXPECT_GE(test, co_coalesce(first, last), first);
			KUNIT_EXPECT_LE(test, co_coalesce(first, last), last);
		}
		KUNIT_EXPECT_GE(test, co_coalesce(first, U64_MAX), first);
	}
}

/*
 * Callouts that share ticks are in as many buckets as others, so expiry looks at few
 * that are not due.
 */
static void bsd_precision_uses_all_buckets(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	const unsigned int nr = 200, far = 1U << 20, precision = 1U << 12;
	struct callout_item *a = callout_virtual_items(test, nr);
	struct rnd_state rng;
	unsigned int i;

	callout_test_rng(test, &rng);
	for (i = 0; i < nr; i++)
		callout_reset_sbt(&a[i].c, sbt_ticks(callout_test_below(&rng, far)),
				  sbt_ticks(precision), callout_virtual_handler,
				  &a[i], C_HARDCLOCK);
	callout_virtual_run_to(v, v->now + far + precision);
	KUNIT_EXPECT_EQ(test, v->ran, nr);
	KUNIT_EXPECT_LE(test, v->base->scheme->visits, 2 * nr);
}

/* C_HARDCLOCK rounds up to ticks from now, as callout_reset() does; 0 counts as 1. */
static void bsd_hardclock(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout *c = &a->c;

	KUNIT_EXPECT_EQ(test, callout_reset_sbt(c, sbt_ticks(5), 0,
						callout_virtual_handler, a,
						C_HARDCLOCK), 0);
	KUNIT_EXPECT_EQ(test, c->node.expires, v->now + 5);
	KUNIT_EXPECT_EQ(test, callout_schedule_sbt(c, sbt_ticks(5) - 2, 0,
						   C_HARDCLOCK), 1);
	KUNIT_EXPECT_EQ(test, c->node.expires, v->now + 5);
	callout_schedule_sbt(c, 0, 0, C_HARDCLOCK);
	KUNIT_EXPECT_EQ(test, c->node.expires, v->now + 1);
	callout_schedule_sbt(c, -SBT_1S, 0, C_HARDCLOCK);
	KUNIT_EXPECT_EQ(test, c->node.expires, v->now + 1);
	callout_schedule_sbt(c, SBT_MAX, 0, C_HARDCLOCK);
	KUNIT_EXPECT_GT(test, c->node.expires, v->now + (1ULL << 31));
	callout_schedule_sbt(c, SBT_MAX, SBT_MAX, C_HARDCLOCK | C_PREL(0));
	KUNIT_EXPECT_GT(test, c->node.expires, v->now + (1ULL << 31));
	KUNIT_EXPECT_EQ(test, callout_stop(c), 1);
	KUNIT_EXPECT_EQ(test, a->runs, 0);
}

/* A callout is late by at most its precision, given as a time or a share, and never early. */
static void bsd_precision(struct kunit *test)
{
	static const unsigned int far[] = { 1, 3, 100, 1000, 4097 };
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout *c = &a->c;
	unsigned int i, n;
	u64 first;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		n = far[i];
		first = v->now + n;
		callout_reset_sbt(c, sbt_ticks(n), sbt_ticks(20),
				  callout_virtual_handler, a, C_HARDCLOCK);
		KUNIT_EXPECT_EQ(test, c->node.expires, roundest(first, first + 20));
		callout_reset_sbt(c, sbt_ticks(n), 0, callout_virtual_handler,
				  a, C_HARDCLOCK | C_PREL(1));
		KUNIT_EXPECT_EQ(test, c->node.expires,
				roundest(first, v->now + n + DIV_ROUND_UP(n, 2)));
		/* The larger of the two precisions counts. */
		callout_reset_sbt(c, sbt_ticks(n), sbt_ticks(n),
				  callout_virtual_handler, a,
				  C_HARDCLOCK | C_PREL(5));
		KUNIT_EXPECT_EQ(test, c->node.expires, roundest(first, first + n));
	}
	callout_stop(c);
}

/* So is a callout that is set in nanoseconds. */
static void bsd_precision_in_ns(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	unsigned int i, shared = 0;
	u64 first;

	for (i = 0; i < 50; i++) {
		callout_reset_sbt(&a->c, sbt_ticks(5000 + i), 0,
				  callout_virtual_handler, a, 0);
		first = a->c.node.expires;
		callout_reset_sbt(&a->c, sbt_ticks(5000 + i), sbt_ticks(1000),
				  callout_virtual_handler, a, 0);
		KUNIT_EXPECT_GE(test, a->c.node.expires, first);
		/* Time passes: without precision the tick may be the next. */
		shared += a->c.node.expires > first + 1;
	}
	KUNIT_EXPECT_GE(test, shared, 48);
	KUNIT_EXPECT_EQ(test, v->wrong_now, 0);
	callout_stop(&a->c);
}

/* Absolute times count from boot. A time that has passed means the next tick. */
static void bsd_absolute(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);
	sbintime_t when, pr, now = sbinuptime();
	u64 tick;

	callout_reset_sbt(&a[0].c, now - SBT_1S, 0, callout_virtual_handler,
			  a, C_ABSOLUTE);
	KUNIT_EXPECT_EQ(test, a[0].c.node.expires, v->now + 1);
	callout_reset_sbt(&a[0].c, -1, 0, callout_virtual_handler, a,
			  C_ABSOLUTE);
	KUNIT_EXPECT_EQ(test, a[0].c.node.expires, v->now + 1);
	callout_reset_sbt(&a[0].c, now + SBT_1S, 0, callout_virtual_handler,
			  a, C_ABSOLUTE);
	tick = a[0].c.node.expires;
	KUNIT_EXPECT_GE(test, tick, v->now + NSEC_PER_SEC / TICK_NSEC - 1);
	/* C_HARDCLOCK does not apply: only a distance is counted in ticks. */
	callout_reset_sbt(&a[0].c, now + SBT_1S, 0, callout_virtual_handler,
			  a, C_ABSOLUTE | C_HARDCLOCK);
	KUNIT_EXPECT_EQ(test, a[0].c.node.expires, tick);
	/* A relative time counts from a later moment. */
	callout_reset_sbt(&a[0].c, SBT_1S, 0, callout_virtual_handler, a, 0);
	KUNIT_EXPECT_GE(test, a[0].c.node.expires, tick);

	/* A time computed once and used twice gives the same tick. */
	callout_when(SBT_1S, SBT_1MS, C_PREL(3), &when, &pr);
	KUNIT_EXPECT_EQ(test, pr, SBT_1S >> 3);
	KUNIT_EXPECT_GE(test, when, now + SBT_1S);
	callout_reset_sbt(&a[0].c, when, pr, callout_virtual_handler, a,
			  C_PRECALC);
	callout_reset_sbt_on(&a[1].c, when, pr, callout_virtual_handler, a, -1,
			     C_PRECALC);
	KUNIT_EXPECT_EQ(test, a[0].c.node.expires, a[1].c.node.expires);
	callout_reset_sbt(&a[1].c, when, pr, callout_virtual_handler, a,
			  C_ABSOLUTE);
	KUNIT_EXPECT_EQ(test, a[0].c.node.expires, a[1].c.node.expires);
	/* A share applies to a relative time, not to an absolute one. */
	tick = a[0].c.node.expires;
	callout_reset_sbt(&a[0].c, when, 0, callout_virtual_handler, a,
			  C_ABSOLUTE | C_PREL(0));
	KUNIT_EXPECT_LE(test, a[0].c.node.expires, tick);
	now = when;
	when = 0;
	callout_when(now, 7, C_ABSOLUTE | C_PREL(0), &when, &pr);
	KUNIT_EXPECT_EQ(test, pr, 7);
	KUNIT_EXPECT_EQ(test, when, now);
	when = 0;
	callout_when(now, 7, C_PRECALC | C_HARDCLOCK, &when, &pr);
	KUNIT_EXPECT_EQ(test, pr, 7);
	KUNIT_EXPECT_EQ(test, when, now);
	callout_when(SBT_MAX, SBT_1S, 0, &when, &pr);
	KUNIT_EXPECT_EQ(test, when, SBT_MAX);
}

/* With C_HARDCLOCK callout_when() rounds a distance up to a multiple of a tick, at least one. */
static void bsd_when_in_ticks(struct kunit *test)
{
	sbintime_t tick = sbt_ticks(1), when, pr, before, after;
	/* Distances, and the ticks that they become. */
	static const struct {
		unsigned int percent;
		unsigned int ticks;
	} cases[] = { { 0, 1 }, { 1, 1 }, { 100, 1 }, { 101, 2 }, { 250, 3 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		before = callout_sbinuptime();
		callout_when(tick * cases[i].percent / 100, 0, C_HARDCLOCK, &when, &pr);
		after = callout_sbinuptime();
		KUNIT_EXPECT_GE(test, when, before + tick * cases[i].ticks);
		KUNIT_EXPECT_LE(test, when, after + tick * cases[i].ticks);
	}
}

/* callout_when() of the longest time, and of precisions that are out of range. */
static void bsd_when_at_the_limits(struct kunit *test)
{
	sbintime_t tick = sbt_ticks(1), when, pr;

	callout_when(SBT_MAX, 0, C_HARDCLOCK, &when, &pr);
	KUNIT_EXPECT_EQ(test, when, SBT_MAX);
	/* A relative time is rounded up with C_HARDCLOCK only. */
	callout_when(tick / 2, -7, 0, &when, &pr);
	KUNIT_EXPECT_LE(test, when, callout_sbinuptime() + tick / 2);
	KUNIT_EXPECT_EQ(test, pr, 0);
	callout_when(SBT_1S, 0, C_PREL(0), &when, &pr);
	KUNIT_EXPECT_EQ(test, pr, SBT_1S);
	callout_when(SBT_1S, 7, C_PREL(64), &when, &pr);
	KUNIT_EXPECT_EQ(test, pr, 7);
}

/* A callout does not run at a tick that begins before its time. */
static void bsd_never_early(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);
	unsigned int i;
	u64 time;

	callout_reset_sbt(&a[0].c, SBT_1M * 60, 0, callout_virtual_handler,
			  &a[0], 0);
	callout_reset_sbt(&a[1].c, SBT_1M * 60, 0, callout_virtual_handler,
			  &a[1], 0);
	callout_virtual_run_to(v, a[1].c.node.expires);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, v->ran, 0);
		KUNIT_EXPECT_TRUE(test, callout_pending(&a[0].c));
		KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 2);
		KUNIT_EXPECT_EQ(test, v->armed, v->now + 1);
		callout_virtual_run_to(v, v->now + 1);
	}
	/*
	 * A callout that is set again, for ticks or a time, drops its old time.
	 */
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&a[0], 1), 1);
	KUNIT_EXPECT_EQ(test, callout_schedule_sbt(&a[1].c, 1, 0, 0), 1);
	/* A coarse clock may not have advanced. */
	time = ktime_get_ns() + 1;
	KUNIT_EXPECT_TRUE(test, callout_test_clock_until(ktime_get_ns() > time));
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a[0].runs, 1);
	KUNIT_EXPECT_EQ(test, a[1].runs, 1);
}

/* A callout with a lock drops the time for which it was set before, too. */
static void bsd_drops_its_time(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	callout_init(&a->c, 0);
	a->c.node.cpu = CALLOUT_VIRTUAL;
	callout_reset_sbt(&a->c, SBT_1M * 60, 0, callout_virtual_handler, a, 0);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 1), 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
}

/**
 * struct when - a callout that is set for a time
 * @c: the callout
 * @due: the time, in ns
 * @ran: when it ran, in ns
 * @done: the callout has run
 */
struct when {
	struct callout c;
	u64 due;
	u64 ran;
	bool done;
};

static void when_handler(void *arg)
{
	struct when *w = arg;

	w->ran = ktime_get_ns();
	callout_test_tell(&w->done);
}

/* A callout is not early if jiffies lagged the clock when it was set. */
static void bsd_never_early_jiffies(struct kunit *test)
{
	struct when *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u64 behind = 20 * TICK_NSEC;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	if (co_base(0)->tick != &callout_tick_jiffies)
		return;
	callout_init(&w->c, CALLOUT_MPSAFE);
	/* Another CPU may correct callout_jiffy_zero in between. */
	for (i = 0; i < 10; i++) {
		w->done = false;
		atomic64_add(behind, &callout_jiffy_zero);
		/* SBT_1MS is shorter than a millisecond by a part of a ns. */
		w->due = ktime_get_ns() + behind - NSEC_PER_USEC;
		callout_reset_sbt(&w->c, SBT_1MS * 20 * 1000 / HZ, 0,
				  when_handler, w, 0);
		if (!callout_test_wait_until(callout_test_told(&w->done)))
			break;
		KUNIT_EXPECT_GE(test, w->ran, w->due);
	}
	callout_drain(&w->c);
	KUNIT_EXPECT_EQ(test, i, 10);
}

/* sbinuptime() is CLOCK_MONOTONIC, to the nanosecond. */
static void bsd_sbinuptime(struct kunit *test)
{
	u64 before = ktime_get_ns(), after, ns;
	sbintime_t now = sbinuptime();

	after = ktime_get_ns();
	ns = (now >> 32) * NSEC_PER_SEC +
	     (((u32)now * (u64)NSEC_PER_SEC) >> 32);
	KUNIT_EXPECT_GE(test, ns + 1, before);
	KUNIT_EXPECT_LE(test, ns, after);
	KUNIT_EXPECT_EQ(test, tick_sbt, SBT_1S / callout_hz());
	KUNIT_EXPECT_EQ(test, SBT_1S, 1LL << 32);
	KUNIT_EXPECT_EQ(test, SBT_1M, 60 * SBT_1S);
	KUNIT_EXPECT_EQ(test, C_PRELGET(C_PREL(5) | C_HARDCLOCK | C_ABSOLUTE),
			5);
	KUNIT_EXPECT_EQ(test, C_PRELGET(C_HARDCLOCK), -1);
}

/* callout_schedule_on() keeps the function and the argument. */
static void bsd_schedule_on(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	callout_virtual_set(a, 1000000);
	KUNIT_EXPECT_EQ(test, callout_schedule_on(&a->c, 1000000, 0), 1);
	KUNIT_EXPECT_EQ(test, a->c.node.cpu, 0);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	KUNIT_EXPECT_PTR_EQ(test, a->c.arg, (void *)a);
	KUNIT_EXPECT_EQ(test, callout_schedule_curcpu(&a->c, 1000000), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), 1);
}

static struct kunit_case bsd_cases[] = {
	KUNIT_CASE(bsd_coalesce),
	KUNIT_CASE(bsd_precision_uses_all_buckets),
	KUNIT_CASE(bsd_hardclock),
	KUNIT_CASE(bsd_precision),
	KUNIT_CASE(bsd_precision_in_ns),
	KUNIT_CASE(bsd_absolute),
	KUNIT_CASE(bsd_when_in_ticks),
	KUNIT_CASE(bsd_when_at_the_limits),
	KUNIT_CASE(bsd_never_early),
	KUNIT_CASE(bsd_drops_its_time),
	KUNIT_CASE(bsd_never_early_jiffies),
	KUNIT_CASE(bsd_sbinuptime),
	KUNIT_CASE(bsd_schedule_on),
	{}
};

static struct kunit_suite bsd_suite = {
	.name = "callout_bsd",
	.init = callout_virtual_init,
	.test_cases = bsd_cases,
};

kunit_test_suite(bsd_suite);
