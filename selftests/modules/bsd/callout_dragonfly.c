// SPDX-License-Identifier: GPL-2.0
/*
 * callout_dragonfly.c - a client in the manner of DragonFly's drivers
 *
 * Devices with a lock that may sleep, under which their callout runs, is stopped,
 * and terminated right before the lock goes away.
 */
#include "client.h"
#include <sys/callout.h>

#define DEVICES	50
#define EVENTS	20

struct ir_softc {
	struct mutex lock;	/* protects all */
	struct callout repeat;
	int events;
	bool open;
};

static void ir_repeat(void *arg)
{
	struct ir_softc *sc = arg;

	expect(mutex_is_locked(&sc->lock));
	expect(sc->open);
	expect(callout_active(&sc->repeat));
	/* It is in a thread. */
	usleep_range(100, 200);
	if (++sc->events < EVENTS)
		callout_reset(&sc->repeat, 1, ir_repeat, sc);
}

static struct ir_softc *ir_attach(void)
{
	struct ir_softc *sc = kzalloc(sizeof(*sc), GFP_KERNEL);

	if (!sc)
		return NULL;
	mutex_init(&sc->lock);
	callout_init_lk(&sc->repeat, &sc->lock);
	mutex_lock(&sc->lock);
	sc->open = true;
	callout_reset(&sc->repeat, 1, ir_repeat, sc);
	mutex_unlock(&sc->lock);
	return sc;
}

/* No event comes between the stop and the start. */
static void ir_pause(struct ir_softc *sc)
{
	mutex_lock(&sc->lock);
	sc->open = false;
	callout_stop(&sc->repeat);
	usleep_range(1000, 2000);
	expect(!callout_active(&sc->repeat));
	expect(!callout_pending(&sc->repeat));
	sc->open = true;
	callout_reset(&sc->repeat, 1, ir_repeat, sc);
	mutex_unlock(&sc->lock);
}

static void ir_detach(struct ir_softc *sc)
{
	mutex_lock(&sc->lock);
	sc->open = false;
	callout_terminate(&sc->repeat);
	mutex_unlock(&sc->lock);
	mutex_destroy(&sc->lock);
	kfree(sc);
}

static int count;

static void count_handler(void *arg)
{
	struct callout *c = arg;

	/* Does not wait for itself. */
	expect(callout_stop(c) == 0);
	WRITE_ONCE(count, count + 1);
}

static void counts(void)
{
	static struct callout c;
	int i;

	callout_init_mp(&c);
	for (i = 0; i < 10; i++) {
		callout_reset(&c, 1, count_handler, &c);
		expect(comes_true(READ_ONCE(count) == i + 1));
	}
	callout_reset(&c, 60 * hz, count_handler, &c);
	expect(callout_cancel(&c) == 1);
	expect(callout_drain(&c) == 0);
	callout_terminate(&c);
	expect(count == 10);
}

static int __init df_attach(void)
{
	struct ir_softc *sc;
	int i;

	for (i = 0; i < DEVICES; i++) {
		sc = ir_attach();
		if (!sc) {
			expect(sc);
			break;
		}
		if (i % 2)
			ir_pause(sc);
		if (i % 5)
			usleep_range(100, 10000);
		else
			expect(comes_true(READ_ONCE(sc->events) == EVENTS));
		ir_detach(sc);
	}
	counts();
	return verdict();
}

static void __exit df_detach(void)
{
}

module_init(df_attach);
module_exit(df_detach);
MODULE_DESCRIPTION("A client of the callout facility, after DragonFly");
