// SPDX-License-Identifier: GPL-2.0
/*
 * uv_main.c - runs a test of libuv's by its name, or counts timers that fire early
 *
 *	uv_main TEST
 *	uv_main early	prints how many of 100 timers were early
 *
 * A turn of libuv sees that a timer is due by a clock of whole milliseconds. So a timer that is
 * started late in a millisecond is called early by the part of the millisecond that had passed
 * (libuv's issue 4773), if something other than the timer's timeout wakes the loop. Here the loop
 * does not sleep.
 */
#include <dlfcn.h>
#include <err.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#define MSEC	1000000ULL

static __u64 fired;

static void fire(uv_timer_t *timer)
{
	(void)timer;
	fired = uv_hrtime();
}

/* Each is started in the last fifth of a millisecond, for one millisecond. */
static unsigned int early(void)
{
	uv_loop_t *loop = uv_default_loop();
	unsigned int i, n = 0;
	uv_timer_t timer;
	__u64 start;

	uv_timer_init(loop, &timer);
	for (i = 0; i < 100; i++) {
		do {
			start = uv_hrtime();
		} while (start % MSEC < MSEC * 4 / 5);
		uv_update_time(loop);
		fired = 0;
		uv_timer_start(&timer, fire, 1, 0);
		while (!fired)
			uv_run(loop, UV_RUN_NOWAIT);
		n += fired < start + MSEC;
	}
	return n;
}

int main(int argc, char **argv)
{
	int (*run)(void);
	char name[64];

	if (argc != 2)
		errx(2, "usage: uv_main TEST|early");
	if (!strcmp(argv[1], "early")) {
		printf("%u\n", early());
		return 0;
	}
	snprintf(name, sizeof(name), "run_test_%s", argv[1]);
	run = (int (*)(void))dlsym(RTLD_DEFAULT, name);
	if (!run)
		errx(2, "there is no test %s", argv[1]);
	return run();
}
