// SPDX-License-Identifier: GPL-2.0
/*
 * loop_uv.c - libuv's loop with its own timers, for loop_bench
 */
#include <uv.h>

#include "loop_bench.h"

static uv_loop_t *uv;
static uv_poll_t network_poll;
static uv_timer_t timers[CONNECTIONS];

static void on_network(uv_poll_t *w, int status, int events)
{
	(void)w;
	(void)events;
	check(!status, "uv_poll");
	network();
}

static void on_timer(uv_timer_t *w)
{
	uv_timer_stop(w);
	timed_out(w - timers);
}

static void open_uv(int fd)
{
	unsigned int i;

	uv = uv_default_loop();
	check(uv && !uv_poll_init(uv, &network_poll, fd) &&
	      !uv_poll_start(&network_poll, UV_READABLE, on_network),
	      "uv_poll");
	for (i = 0; i < CONNECTIONS; i++)
		check(!uv_timer_init(uv, &timers[i]) &&
		      !uv_timer_start(&timers[i], on_timer, IDLE_MS, IDLE_MS),
		      "uv_timer");
}

static void active_uv(unsigned int i)
{
	uv_timer_again(&timers[i]);
}

static void run_uv(void)
{
	uv_run(uv, UV_RUN_DEFAULT);
}

static void stop_uv(void)
{
	uv_stop(uv);
}

const struct loop loop_uv = {
	.name = "libuv",
	.open = open_uv,
	.active = active_uv,
	.run = run_uv,
	.stop = stop_uv,
};
