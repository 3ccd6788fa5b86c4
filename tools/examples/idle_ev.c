// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_ev.c - timers of libcallout in a loop of libev
 */
#include <callout_libev.h>

#include "idle.h"

const char *const loop_name = "idle_ev";

static struct ev_loop *loop;
static struct callout_libev timers;

static void too_late(struct ev_loop *l, ev_timer *w, int revents)
{
	(void)l;
	(void)w;
	(void)revents;
	loop_stop();
}

bool loop_open(struct callout_ctx *ctx)
{
	loop = ev_default_loop(0);
	if (!loop)
		return false;
	timers.ctx = ctx;
	timers.fired = idle_fired;
	timers.failed = idle_failed;
	callout_libev_start(&timers, loop);
	return true;
}

void loop_run(unsigned int seconds)
{
	ev_timer patience;

	ev_now_update(loop);
	ev_timer_init(&patience, too_late, seconds, 0);
	ev_timer_start(loop, &patience);
	ev_run(loop, 0);
	ev_timer_stop(loop, &patience);
}

void loop_stop(void)
{
	ev_break(loop, EVBREAK_ALL);
}

void loop_close(void)
{
	callout_libev_stop(&timers, loop);
}
