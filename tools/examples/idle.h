/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * idle.h - what a loop does for the timers of libcallout, and they for it
 *
 * To use libcallout in a loop takes three things:
 *
 *	when callout_ctx_fd() is readable, call callout_ctx_turn();
 *	before the loop sleeps, call callout_ctx_flush();
 *	call callout_arm() and callout_disarm() anywhere.
 *
 * A callback that runs later still before the sleep has to flush what it arms.
 * libuv calls uv_prepare_t in the reverse order of their start: start this one
 * first. The watchers keep a loop running that has nothing else to do: ev_unref()
 * and uv_unref() say that they need not.
 */
#ifndef _CALLOUT_EXAMPLES_IDLE_H
#define _CALLOUT_EXAMPLES_IDLE_H

#include "libcallout.h"

/* The loop calls these. */
void idle_readable(void);
void idle_before_sleep(void);

/*
 * Each loop has these: loop_run() returns after loop_stop(), or @seconds;
 * loop_close() watches the descriptor no longer, before it is closed.
 */
extern const char *const loop_name;
bool loop_open(int fd);
void loop_run(unsigned int seconds);
void loop_stop(void);
void loop_close(void);

#endif /* _CALLOUT_EXAMPLES_IDLE_H */
