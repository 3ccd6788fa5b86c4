// SPDX-License-Identifier: GPL-2.0
/*
 * nested_ev.c - a loop of libev that a timer's handler runs again
 *
 * The first handler arms the third timer and runs the loop until the last timer fires. The
 * second timer is due in the same turn as the first, and its handler arms the last. The nested
 * loop does not sleep while a timer is due: all come in it, in order.
 */
#include <callout_libev.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMERS		4U
/* In seconds. Only a loop that sleeps exceeds it. */
#define PATIENCE	60

static struct ev_loop *loop;
static struct callout_timer timers[TIMERS];
static unsigned int nr_fired;

static void arm(struct callout_ctx *ctx, unsigned int i)
{
	if (callout_arm(ctx, &timers[i], 0))
		errx(EXIT_FAILURE, "timer %u cannot be armed", i);
}

static void fired(struct callout_ctx *ctx, struct callout_timer *timer,
		  const struct callout_event *event)
{
	unsigned int i = nr_fired++;

	(void)event;
	if (timer != &timers[i])
		errx(EXIT_FAILURE, "timer %d came in place of %u", (int)(timer - timers), i);
	switch (i) {
	case 0:
		arm(ctx, 2);
		ev_run(loop, 0);
		if (nr_fired != TIMERS)
			errx(EXIT_FAILURE, "the nested loop ended after %u timers", nr_fired);
		ev_break(loop, EVBREAK_ONE);
		break;
	case 1:
		arm(ctx, 3);
		break;
	case TIMERS - 1:
		ev_break(loop, EVBREAK_ONE);
	}
}

static void failed(struct callout_ctx *ctx, int error)
{
	(void)ctx;
	errx(EXIT_FAILURE, "the callout: %s", strerror(-error));
}

static void too_late(struct ev_loop *l, ev_timer *w, int revents)
{
	(void)l;
	(void)w;
	(void)revents;
	errx(EXIT_FAILURE, "the loop sleeps after %u timers", nr_fired);
}

int main(void)
{
	struct callout_libev l = { .fired = fired, .failed = failed };
	ev_timer patience;

	loop = ev_loop_new(0);
	if (!loop || callout_ctx_create(&l.ctx, TIMERS))
		errx(EXIT_FAILURE, "no loop");
	callout_libev_start(&l, loop);
	ev_timer_init(&patience, too_late, PATIENCE, 0);
	ev_timer_start(loop, &patience);
	arm(l.ctx, 0);
	arm(l.ctx, 1);
	ev_run(loop, 0);
	if (nr_fired != TIMERS)
		errx(EXIT_FAILURE, "the loop ended after %u timers", nr_fired);
	callout_libev_stop(&l, loop);
	callout_ctx_destroy(l.ctx);
	ev_loop_destroy(loop);
	puts("fired");
	return EXIT_SUCCESS;
}
