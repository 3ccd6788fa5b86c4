// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_event.c - timers of libcallout in a loop of libevent
 */
#include <callout_libevent.h>

#include "idle.h"

const char *const loop_name = "idle_event";

static struct event_base *base;
static struct callout_libevent timers;

bool loop_open(struct callout_ctx *ctx)
{
	base = event_base_new();
	timers.ctx = ctx;
	timers.fired = idle_fired;
	timers.failed = idle_failed;
	return base && !callout_libevent_start(&timers, base);
}

void loop_run(unsigned int seconds)
{
	const struct timeval patience = { .tv_sec = seconds };

	if (!event_base_loopexit(base, &patience))
		callout_libevent_dispatch(&timers);
}

void loop_stop(void)
{
	event_base_loopbreak(base);
}

void loop_close(void)
{
	callout_libevent_stop(&timers);
	event_base_free(base);
}
