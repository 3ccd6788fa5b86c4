// SPDX-License-Identifier: GPL-2.0
/*
 * callout_freebsd.c - a client in the manner of FreeBSD's drivers
 *
 * A network interface whose tick polls the link with the softc's lock held, and
 * whose watchdog must not bark as long as the tick feeds it.
 */
#include "client.h"
#include <sys/_callout.h>
#include <sys/callout.h>

/* The port's mutex, which remembers whether its holder has turned softirqs off. */
struct mtx {
	spinlock_t lock;	/* protects bh, and what the mutex protects */
	bool bh;
};

static void mtx_lock(struct mtx *m)
{
	spin_lock_bh(&m->lock);
	m->bh = true;
}

static void mtx_unlock(struct mtx *m)
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

#define FX_LOCK(sc)	mtx_lock(&(sc)->mtx)
#define FX_UNLOCK(sc)	mtx_unlock(&(sc)->mtx)

#define POLLS	20

struct fx_softc {
	struct mtx mtx;		/* protects all */
	struct callout tick_ch;
	struct callout watchdog_ch;
	int polls;
	int barks;
	int last;
	int first_poll;
	bool running;
};

static timeout_t fx_tick;
static timeout_t fx_watchdog;

static void fx_tick(void *arg)
{
	struct fx_softc *sc = arg;

	expect(!spin_trylock(&sc->mtx.lock));
	expect(sc->running);
	if (!sc->polls++)
		sc->first_poll = ticks;
	sc->last = ticks;
	/* Feed the watchdog. */
	expect(callout_reset(&sc->watchdog_ch, 60 * hz, fx_watchdog, sc) == 1);
	if (sc->polls < POLLS)
		callout_schedule(&sc->tick_ch, 2);
	/* FX_UNLOCK() is the same for a callout and for a process. */
	FX_UNLOCK(sc);
}

static void fx_watchdog(void *arg)
{
	struct fx_softc *sc = arg;

	sc->barks++;
}

static void fx_init_locked(struct fx_softc *sc)
{
	sc->running = true;
	sc->polls = 0;
	expect(callout_reset(&sc->watchdog_ch, 60 * hz, fx_watchdog, sc) == 0);
	expect(callout_reset(&sc->tick_ch, 2, fx_tick, sc) == 0);
}

static void fx_stop_locked(struct fx_softc *sc)
{
	sc->running = false;
	expect(callout_stop(&sc->watchdog_ch) == 1);
	callout_stop(&sc->tick_ch);
	expect(!callout_active(&sc->tick_ch));
}

static int polls(struct fx_softc *sc)
{
	return READ_ONCE(sc->polls);
}

/* The interface goes up, polls, and goes down. After that nothing runs. */
static void fx_up_and_down(struct fx_softc *sc)
{
	int start;

	FX_LOCK(sc);
	start = ticks;
	fx_init_locked(sc);
	FX_UNLOCK(sc);
	expect(comes_true(polls(sc) == POLLS));
	FX_LOCK(sc);
	/* Each poll was at least two ticks after the previous poll. */
	expect(sc->first_poll - start >= 2);
	expect(sc->last - sc->first_poll >= 2 * (POLLS - 1));
	fx_stop_locked(sc);
	FX_UNLOCK(sc);
}

/* Times by the clock are never early, relative and absolute. */
static void fx_by_the_clock(struct fx_softc *sc)
{
	sbintime_t due = sbinuptime() + 5 * tick_sbt, pr;

	FX_LOCK(sc);
	sc->running = true;
	sc->polls = POLLS - 1;
	callout_reset(&sc->watchdog_ch, 60 * hz, fx_watchdog, sc);
	callout_reset_sbt(&sc->tick_ch, 5 * tick_sbt, 0, fx_tick, sc, C_PREL(2));
	FX_UNLOCK(sc);
	expect(comes_true(polls(sc) == POLLS));
	expect(sbinuptime() >= due);
	FX_LOCK(sc);
	sc->polls = POLLS - 1;
	callout_when(5 * tick_sbt, 0, 0, &due, &pr);
	callout_reset_sbt(&sc->tick_ch, due, pr, fx_tick, sc, C_PRECALC);
	FX_UNLOCK(sc);
	expect(comes_true(polls(sc) == POLLS));
	expect(sbinuptime() >= due);
	FX_LOCK(sc);
	fx_stop_locked(sc);
	FX_UNLOCK(sc);
}

static int __init fx_attach(void)
{
	struct fx_softc *sc = kzalloc(sizeof(*sc), GFP_KERNEL);
	int i;

	if (!sc)
		return -ENOMEM;
	spin_lock_init(&sc->mtx.lock);
	callout_init_mtx(&sc->tick_ch, &sc->mtx, CALLOUT_RETURNUNLOCKED);
	callout_init_mtx(&sc->watchdog_ch, &sc->mtx, 0);
	for (i = 0; i < 5; i++)
		fx_up_and_down(sc);
	fx_by_the_clock(sc);
	FX_LOCK(sc);
	expect(_callout_stop_safe(&sc->tick_ch, CS_EXECUTING, NULL) == -1);
	FX_UNLOCK(sc);
	expect(callout_drain(&sc->tick_ch) == -1);
	expect(callout_drain(&sc->watchdog_ch) == -1);
	expect(sc->barks == 0);
	kfree(sc);
	return verdict();
}

static void __exit fx_detach(void)
{
}

module_init(fx_attach);
module_exit(fx_detach);
MODULE_DESCRIPTION("A client of the callout facility, after FreeBSD");
