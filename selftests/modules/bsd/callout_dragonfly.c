// SPDX-License-Identifier: GPL-2.0
/*
 * callout_dragonfly.c - a client in the manner of DragonFly's drivers
 *
 * Each device has a lock that may sleep. Its callout runs and is stopped under
 * the lock, and is terminated right before the lock is destroyed. With runs=1 the
 * handlers run until the module is unloaded.
 */
#include "client.h"
#include <sys/callout.h>

#define DEVICES	50
#define EVENTS	20

static bool runs;
module_param(runs, bool, 0444);
MODULE_PARM_DESC(runs, "Handlers run until the module is unloaded (default N)");

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
	/* The handler runs in a thread. */
	usleep_range(100, 200);
	if (++sc->events < EVENTS || runs)
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

	/* A stop by the handler does not wait for itself. */
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

static struct ir_softc *running[DEVICES];
static struct callout giant;

static void giant_handler(void *arg)
{
	usleep_range(100, 200);
	callout_reset(&giant, 1, giant_handler, NULL);
}

static int __init df_run(void)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		running[i] = ir_attach();
	callout_init(&giant);
	callout_reset(&giant, 1, giant_handler, NULL);
	usleep_range(20000, 40000);
	return 0;
}

static int __init df_attach(void)
{
	struct ir_softc *sc;
	int i;

	if (runs)
		return df_run();
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
	int i;

	if (!runs)
		return;
	/* The handler may set the callout until the handler has returned. */
	callout_cancel(&giant);
	callout_terminate(&giant);
	for (i = 0; i < DEVICES; i++)
		if (running[i])
			ir_detach(running[i]);
}

module_init(df_attach);
module_exit(df_detach);
MODULE_DESCRIPTION("A client of the callout facility, after DragonFly");
