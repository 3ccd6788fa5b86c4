/* SPDX-License-Identifier: GPL-2.0 */
/*
 * loop_bench.h - declarations that loop_bench and its loops share
 */
#ifndef _CALLOUT_LOOP_BENCH_H
#define _CALLOUT_LOOP_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/types.h>

#include "check.h"

#define CONNECTIONS	100000U

/* After this time without activity a connection times out. */
#define IDLE_MS		500U

/**
 * struct loop - an event loop whose connections have idle timeouts
 * @name: the name of the timers
 * @open: prepare; call network() in each turn, because @fd is readable
 * @active: connection @i has received data: its timeout begins again
 * @run: turn until @stop is called
 * @stop: make @run return
 */
struct loop {
	const char *name;
	void (*open)(int fd);
	void (*active)(unsigned int i);
	void (*run)(void);
	void (*stop)(void);
};

extern const struct loop loop_none, loop_ev, loop_uv, loop_timerfd,
			 loop_wheel, loop_callout;

void network(void);
void timed_out(unsigned int i);

#endif /* _CALLOUT_LOOP_BENCH_H */
