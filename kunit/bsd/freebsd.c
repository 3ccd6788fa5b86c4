// SPDX-License-Identifier: GPL-2.0
/*
 * freebsd.c - suite callout_freebsd: what FreeBSD's files need from its headers
 */
/* Include this first: it needs no other header. */
#include <bsd/freebsd/sys/_callout.h>
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include "lib/softirq.h"
/* Some names below are also names of the header's macros. */
#define CALLOUT_BSD_NO_TICKS
#include <bsd/freebsd/sys/callout.h>

/*
 * CS_EXECUTING turns the 0 of a running handler into a 1, even if the callout was
 * set again, and leaves 1 and -1 as they are.
 */
static void freebsd_stop_safe(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout_race *r;

	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&a->c, CS_EXECUTING, NULL), -1);
	callout_virtual_set(a, 5);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&a->c, CS_EXECUTING, NULL), 1);
	callout_virtual_set(a, 5);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&a->c, 0, NULL), 1);
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&a->c, CS_EXECUTING, NULL), -1);

	r = callout_race_running(test);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_EXECUTING, NULL),
			1);
	callout_virtual_set(&r->item, 5);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_EXECUTING, NULL),
			1);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_EXECUTING, NULL),
			-1);
}

static void count_drain(void *arg)
{
	struct callout_race *r = arg;

	callout_test_count((unsigned int *)&r->ret);
}

/* With a function the call drains asynchronously; with CS_DRAIN it waits. */
static void freebsd_stop_safe_drains(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);

	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, 0, count_drain), 0);
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->ret, 1);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, 0, count_drain), -1);

	callout_virtual_set(&r->item, 5);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_DRAIN, NULL), 1);
	KUNIT_EXPECT_EQ(test, _callout_stop_safe(&r->item.c, CS_DRAIN, NULL),
			-1);
	KUNIT_EXPECT_EQ(test, r->ret, 1);
}

/**
 * struct mtx - a port's mutex
 * @name: for the port
 * @lock: the spinlock in it
 * @bh: the holder has turned softirqs off
 */
struct mtx {
	const char *name;
	spinlock_t lock;	/* protects bh, and whatever the mutex protects */
	bool bh;
};

static void mtx_lock(struct mtx *m)
	__acquires(&m->lock)
{
	spin_lock_bh(&m->lock);
	m->bh = true;
}

/* Also for handlers, whose lock the core has taken. */
static void mtx_unlock(struct mtx *m)
	__releases(&m->lock)
{
	bool bh = m->bh;

	m->bh = false;
	spin_unlock(&m->lock);
	if (bh)
		local_bh_enable();
}

#undef callout_init_mtx
#define callout_init_mtx(c, m, flags)	\
	callout_init_lock(c, &(m)->lock, flags)

/**
 * struct softc - the data of a FreeBSD driver
 * @mtx: protects all members
 * @tick: a callout whose handler drops @mtx
 * @watch: a callout whose handler keeps @mtx
 * @runs: number of runs of both handlers
 * @unlocked: number of handlers that found @mtx not held
 */
struct softc {
	struct mtx mtx;
	struct callout tick;
	struct callout watch;
	unsigned int runs;
	unsigned int unlocked;
};

static void softc_ran(struct softc *sc)
{
	if (spin_trylock(&sc->mtx.lock)) {
		sc->unlocked++;
		spin_unlock(&sc->mtx.lock);
	}
	callout_test_count(&sc->runs);
}

static void softc_tick(void *arg)
	__releases(&((struct softc *)arg)->mtx.lock)
{
	struct softc *sc = arg;

	softc_ran(sc);
	mtx_unlock(&sc->mtx);
}

static void softc_watch(void *arg)
{
	softc_ran(arg);
}

#define MTX_ROUNDS	20

/*
 * One unlock function serves processes, and handlers with CALLOUT_RETURNUNLOCKED:
 * the core reports a handler that changes the preemption count, and softirqs are on
 * when a process has unlocked.
 */
static void freebsd_own_mutex(struct kunit *test)
{
	struct softc *sc = kunit_kzalloc(test, sizeof(*sc), GFP_KERNEL);
	unsigned int i;

	callout_test_need_spinlocks(test);
	KUNIT_ASSERT_NOT_NULL(test, sc);
	spin_lock_init(&sc->mtx.lock);
	callout_init_mtx(&sc->tick, &sc->mtx, CALLOUT_RETURNUNLOCKED);
	callout_init_mtx(&sc->watch, &sc->mtx, 0);
	for (i = 0; i < MTX_ROUNDS; i++) {
		mtx_lock(&sc->mtx);
		callout_reset(&sc->tick, 1, softc_tick, sc);
		callout_reset(&sc->watch, 1, softc_watch, sc);
		/* Every other time both callouts are due before the mutex is free. */
		if (i % 2)
			mdelay(2 * USEC_PER_SEC / HZ / 1000 + 1);
		mtx_unlock(&sc->mtx);
		KUNIT_EXPECT_FALSE(test, in_interrupt());
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(callout_test_counted(&sc->runs) ==
							  2 * (i + 1)));
	}
	KUNIT_EXPECT_EQ(test, sc->unlocked, 0);
	/* A stop under the mutex is final. */
	mtx_lock(&sc->mtx);
	callout_reset(&sc->tick, 1, softc_tick, sc);
	KUNIT_EXPECT_EQ(test, callout_stop(&sc->tick), 1);
	mtx_unlock(&sc->mtx);
	KUNIT_EXPECT_EQ(test, callout_drain(&sc->tick), -1);
	KUNIT_EXPECT_EQ(test, callout_drain(&sc->watch), -1);
	KUNIT_EXPECT_EQ(test, sc->runs, 2 * MTX_ROUNDS);
#ifdef CONFIG_LOCKDEP
	/* Each use has a class, named as the caller names the callout. */
	KUNIT_EXPECT_STREQ(test, sc->tick.class->name, "&sc->tick");
	KUNIT_EXPECT_STREQ(test, sc->watch.class->name, "&sc->watch");
#endif
}

static struct kunit_case freebsd_cases[] = {
	KUNIT_CASE(freebsd_stop_safe),
	KUNIT_CASE(freebsd_stop_safe_drains),
	KUNIT_CASE(freebsd_own_mutex),
	{}
};

static struct kunit_suite freebsd_suite = {
	.name = "callout_freebsd",
	.init = callout_virtual_init,
	.test_cases = freebsd_cases,
};

kunit_test_suite(freebsd_suite);
