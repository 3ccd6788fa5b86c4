// SPDX-License-Identifier: GPL-2.0
/*
 * callout_netbsd.c - a client in the manner of NetBSD's drivers
 *
 * A pulse generator on a pin has a callout that sets itself again, and is
 * reprogrammed and halted under its lock. Entries of a cache are freed by the last
 * user, the handler or the caller that removes the entry.
 */
#include "client.h"
#include <sys/callout.h>

#define EDGES	40
#define ENTRIES	200

struct pulse_softc {
	spinlock_t lock;	/* protects all */
	callout_t pulse;
	int level;
	int edges;
	int on;
	int off;
	int last;
	bool dying;
};

static void pulse_edge(void *arg)
{
	struct pulse_softc *sc = arg;
	int distance;

	spin_lock(&sc->lock);
	distance = sc->level ? sc->on : sc->off;
	/* A halt has ended the pulses, but waits for this handler. */
	expect(sc->dying || callout_expired(&sc->pulse));
	expect((int)ticks - sc->last >= distance);
	sc->level = !sc->level;
	sc->last = ticks;
	sc->edges++;
	if (!sc->dying)
		callout_schedule(&sc->pulse, sc->level ? sc->on : sc->off);
	spin_unlock(&sc->lock);
}

static void pulse(struct pulse_softc *sc)
{
	int edges;

	spin_lock_init(&sc->lock);
	callout_init(&sc->pulse, CALLOUT_MPSAFE);
	callout_setfunc(&sc->pulse, pulse_edge, sc);
	sc->on = 1;
	sc->off = 3;
	spin_lock_bh(&sc->lock);
	sc->last = ticks;
	callout_schedule(&sc->pulse, sc->off);
	expect(callout_active(&sc->pulse));
	spin_unlock_bh(&sc->lock);
	expect(comes_true(READ_ONCE(sc->edges) >= EDGES));

	/* Others wait for the lock while this thread waits for the handler. */
	spin_lock_bh(&sc->lock);
	sc->dying = true;
	callout_halt(&sc->pulse, &sc->lock);
	edges = sc->edges;
	expect(!callout_pending(&sc->pulse));
	spin_unlock_bh(&sc->lock);
	msleep(20);
	expect(sc->edges == edges);
	callout_destroy(&sc->pulse);
}

struct entry {
	callout_t timer;
	bool dead;
};

static DEFINE_SPINLOCK(entries_lock);
static atomic_t freed;

static void entry_free(struct entry *e)
{
	callout_destroy(&e->timer);
	kfree(e);
	atomic_inc(&freed);
}

/* After the acknowledgment the caller that removes the entry does not rely on this handler. */
static void entry_timeout(void *arg)
{
	struct entry *e = arg;
	bool dead;

	spin_lock(&entries_lock);
	callout_ack(&e->timer);
	dead = e->dead;
	spin_unlock(&entries_lock);
	if (dead)
		entry_free(e);
}

static void entry_remove(struct entry *e)
{
	bool invoking;

	spin_lock_bh(&entries_lock);
	callout_stop(&e->timer);
	invoking = callout_invoking(&e->timer);
	e->dead = true;
	spin_unlock_bh(&entries_lock);
	if (!invoking)
		entry_free(e);
}

static void entries(void)
{
	struct entry *e;
	int i;

	for (i = 0; i < ENTRIES; i++) {
		e = kzalloc(sizeof(*e), GFP_KERNEL);
		if (!e)
			break;
		callout_init(&e->timer, CALLOUT_MPSAFE);
		callout_reset(&e->timer, 1, entry_timeout, e);
		if (i % 3)
			usleep_range(50, 5000);
		entry_remove(e);
	}
	expect(i == ENTRIES);
	expect(comes_true(atomic_read(&freed) == ENTRIES));
	/* The last handler may not have returned yet. */
	callout_barrier();
}

static int __init nb_attach(void)
{
	struct pulse_softc *sc = kzalloc(sizeof(*sc), GFP_KERNEL);

	if (!sc)
		return -ENOMEM;
	pulse(sc);
	kfree(sc);
	entries();
	return verdict();
}

static void __exit nb_detach(void)
{
}

module_init(nb_attach);
module_exit(nb_detach);
MODULE_DESCRIPTION("A client of the callout facility, after NetBSD");
