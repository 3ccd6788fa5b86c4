// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_uv.c - timers of libcallout in a loop of libuv
 */
#include <callout_libuv.h>

#include "idle.h"

const char *const loop_name = "idle_uv";

static uv_loop_t *loop;
static struct callout_libuv timers;
static uv_timer_t patience;

static void too_late(uv_timer_t *w)
{
	(void)w;
	loop_stop();
}

bool loop_open(struct callout_ctx *ctx)
{
	loop = uv_default_loop();
	timers.ctx = ctx;
	timers.fired = idle_fired;
	timers.failed = idle_failed;
	return loop && !callout_libuv_start(&timers, loop);
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
	callout_libuv_stop(&timers);
	uv_close((uv_handle_t *)&patience, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
}
