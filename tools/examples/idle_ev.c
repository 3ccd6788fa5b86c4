// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_ev.c - timers of libcallout in a libev loop
 *
 * libev calls ev_prepare just before the loop sleeps.
 */
#include <ev.h>

#include "idle.h"

const char *const loop_name = "idle_ev";

static struct ev_loop *loop;
static ev_prepare prepare;
static ev_io io;

static void before_sleep(struct ev_loop *l, ev_prepare *w, int revents)
{
	(void)l;
	(void)w;
	(void)revents;
	idle_before_sleep();
}

static void readable(struct ev_loop *l, ev_io *w, int revents)
{
	(void)l;
	(void)w;
	(void)revents;
	idle_readable();
}

static void too_late(struct ev_loop *l, ev_timer *w, int revents)
{
	(void)l;
	(void)w;
	(void)revents;
	loop_stop();
}

bool loop_open(int fd)
{
	loop = ev_default_loop(0);
	if (!loop)
		return false;
	ev_prepare_init(&prepare, before_sleep);
	/* Others of the program may arm timers: they are called first. */
	ev_set_priority(&prepare, EV_MINPRI);
	ev_prepare_start(loop, &prepare);
	ev_io_init(&io, readable, fd, EV_READ);
	ev_io_start(loop, &io);
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
	ev_io_stop(loop, &io);
	ev_prepare_stop(loop, &prepare);
}
