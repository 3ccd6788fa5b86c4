/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * idle.h - the interface between idle.c's timers and its event loops
 */
#ifndef _CALLOUT_EXAMPLES_IDLE_H
#define _CALLOUT_EXAMPLES_IDLE_H

#include <libcallout.h>

/* Handlers for a timer that has fired, and for a turn or a flush that has failed. */
void idle_fired(struct callout_ctx *ctx, struct callout_timer *timer,
		const struct callout_event *event);
void idle_failed(struct callout_ctx *ctx, int error);

/*
 * Each loop implements these. loop_run() returns after loop_stop() or after
 * @seconds. loop_close() stops watching the context, before the context is
 * destroyed.
 */
extern const char *const loop_name;
bool loop_open(struct callout_ctx *ctx);
void loop_run(unsigned int seconds);
void loop_stop(void);
void loop_close(void);

#endif /* _CALLOUT_EXAMPLES_IDLE_H */
