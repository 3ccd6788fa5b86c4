// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_event.c - timers of libcallout in a libevent loop
 *
 * libevent 2.1 calls nothing before it sleeps, so the program runs the loop
 * turn by turn.
 */
#include <event2/event.h>

#include "idle.h"

const char *const loop_name = "idle_event";

static struct event_base *base;
static struct event *io;
static bool stopped;

static void readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	idle_readable();
}

static void too_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	loop_stop();
}

bool loop_open(int fd)
{
	base = event_base_new();
	if (!base)
		return false;
	io = event_new(base, fd, EV_READ | EV_PERSIST, readable, NULL);
	return io && !event_add(io, NULL);
}

void loop_run(unsigned int seconds)
{
	const struct timeval tv = { .tv_sec = seconds };

	if (event_base_once(base, -1, EV_TIMEOUT, too_late, NULL, &tv))
		return;
	/* The next turn would forget that others have ended the loop. */
	while (idle_before_sleep(), !stopped)
		if (event_base_loop(base, EVLOOP_ONCE) < 0 ||
		    event_base_got_exit(base) || event_base_got_break(base))
			return;
}

void loop_stop(void)
{
	stopped = true;
}

void loop_close(void)
{
	event_free(io);
	event_base_free(base);
}
