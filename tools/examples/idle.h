/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * idle.h - what a loop does for the timers of idle.c, and they for it
 */
#ifndef _CALLOUT_EXAMPLES_IDLE_H
#define _CALLOUT_EXAMPLES_IDLE_H

#include <libcallout.h>

/* Handlers: of a timer that has fired, and of a turn or a flush that has failed. */
void idle_fired(struct callout_ctx *ctx, struct callout_timer *timer,
		const struct callout_event *event);
void idle_failed(struct callout_ctx *ctx, int error);

/*
 * Each loop has these: loop_run() returns after loop_stop(), or @seconds;
 * loop_close() watches the context no longer, before it is destroyed.
 */
extern const char *const loop_name;
bool loop_open(struct callout_ctx *ctx);
void loop_run(unsigned int seconds);
void loop_stop(void);
void loop_close(void);

#endif /* _CALLOUT_EXAMPLES_IDLE_H */
