// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_uv.c - timers of libcallout in a libuv loop
 *
 * libuv calls uv_prepare just before the loop sleeps.
 */
#include <uv.h>

#include "idle.h"

const char *const loop_name = "idle_uv";

static uv_loop_t *loop;
static uv_prepare_t prepare;
static uv_poll_t io;
static uv_timer_t patience;

static void before_sleep(uv_prepare_t *w)
{
	(void)w;
	idle_before_sleep();
}

static void readable(uv_poll_t *w, int status, int events)
{
	(void)w;
	(void)events;
	if (status < 0)
		loop_stop();
	else
		idle_readable();
}

static void too_late(uv_timer_t *w)
{
	(void)w;
	loop_stop();
}

bool loop_open(int fd)
{
	loop = uv_default_loop();
	return loop && !uv_prepare_init(loop, &prepare) &&
	       !uv_prepare_start(&prepare, before_sleep) &&
	       !uv_poll_init(loop, &io, fd) &&
	       !uv_poll_start(&io, UV_READABLE, readable);
}

void loop_run(unsigned int seconds)
{
	uv_update_time(loop);
	uv_timer_init(loop, &patience);
	uv_timer_start(&patience, too_late, seconds * 1000ULL, 0);
	uv_run(loop, UV_RUN_DEFAULT);
}

void loop_stop(void)
{
	uv_stop(loop);
}

/* libuv closes in a turn of the loop. */
void loop_close(void)
{
	uv_close((uv_handle_t *)&io, NULL);
	uv_close((uv_handle_t *)&prepare, NULL);
	uv_close((uv_handle_t *)&patience, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
}
