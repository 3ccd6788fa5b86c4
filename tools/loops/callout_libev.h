/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * callout_libev.h - timers of libcallout in a loop of libev, see callout_libev_start(3)
 *
 * libev calls an ev_prepare just before the loop sleeps.
 */
#ifndef _CALLOUT_LIBEV_H
#define _CALLOUT_LIBEV_H

#include <ev.h>
#include <libcallout.h>

/**
 * struct callout_libev - a context in a loop
 * @ctx: the context
 * @fired: called with each timer that has fired
 * @failed: called with a negative errno value if a turn or a flush has failed
 * @io: watches the context
 * @prepare: flushes the context
 */
struct callout_libev {
	struct callout_ctx *ctx;
	void (*fired)(struct callout_ctx *ctx, struct callout_timer *timer,
		      const struct callout_event *event);
	void (*failed)(struct callout_ctx *ctx, int error);

	/* private: of this header */
	ev_io io;
	ev_prepare prepare;
};

static inline void _callout_libev_readable(struct ev_loop *loop, ev_io *w,
					   int revents)
{
	struct callout_libev *l = (struct callout_libev *)w->data;
	int ret = callout_ctx_turn(l->ctx, 0);
	struct callout_timer *timer;
	struct callout_event event;

	(void)loop;
	(void)revents;
	if (ret < 0)
		l->failed(l->ctx, ret);
	while ((timer = callout_ctx_next(l->ctx, &event)))
		l->fired(l->ctx, timer, &event);
}

static inline void _callout_libev_before_sleep(struct ev_loop *loop,
					       ev_prepare *w, int revents)
{
	struct callout_libev *l = (struct callout_libev *)w->data;
	int ret = 0;

	(void)revents;
	/* A nested loop begins with the timers that the outer loop's turn has left. */
	while (callout_ctx_pending(l->ctx) && (ret = callout_ctx_flush(l->ctx)) > 0)
		_callout_libev_readable(loop, &l->io, EV_READ);
	if (ret < 0)
		l->failed(l->ctx, ret);
}

static inline void callout_libev_start(struct callout_libev *l,
				       struct ev_loop *loop)
{
	ev_io_init(&l->io, _callout_libev_readable, callout_ctx_fd(l->ctx),
		   EV_READ);
	ev_prepare_init(&l->prepare, _callout_libev_before_sleep);
	l->io.data = l;
	l->prepare.data = l;
	/* The program's own ev_prepares may arm timers, so they are called first. */
	ev_set_priority(&l->prepare, EV_MINPRI);
	ev_io_start(loop, &l->io);
	ev_prepare_start(loop, &l->prepare);
}

static inline void callout_libev_stop(struct callout_libev *l,
				      struct ev_loop *loop)
{
	ev_io_stop(loop, &l->io);
	ev_prepare_stop(loop, &l->prepare);
}

#endif /* _CALLOUT_LIBEV_H */
