/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * callout_libuv.h - timers of libcallout in a loop of libuv, see callout_libuv_start(3)
 *
 * libuv calls a uv_prepare_t just before the loop sleeps.
 */
#ifndef _CALLOUT_LIBUV_H
#define _CALLOUT_LIBUV_H

#include <libcallout.h>
#include <uv.h>

/**
 * struct callout_libuv - a context in a loop
 * @ctx: the context
 * @fired: called with each timer that has fired
 * @failed: called with a negative errno value if a turn or a flush has failed
 * @io: watches the context
 * @prepare: flushes the context
 */
struct callout_libuv {
	struct callout_ctx *ctx;
	void (*fired)(struct callout_ctx *ctx, struct callout_timer *timer,
		      const struct callout_event *event);
	void (*failed)(struct callout_ctx *ctx, int error);

	/* private: of this header */
	uv_poll_t io;
	uv_prepare_t prepare;
};

static inline void _callout_libuv_readable(uv_poll_t *w, int status, int events)
{
	struct callout_libuv *l = (struct callout_libuv *)w->data;
	int ret = status < 0 ? status : callout_ctx_turn(l->ctx, 0);
	struct callout_timer *timer;
	struct callout_event event;

	(void)events;
	if (ret < 0)
		l->failed(l->ctx, ret);
	while ((timer = callout_ctx_next(l->ctx, &event)))
		l->fired(l->ctx, timer, &event);
}

static inline void _callout_libuv_before_sleep(uv_prepare_t *w)
{
	struct callout_libuv *l = (struct callout_libuv *)w->data;
	int ret = callout_ctx_pending(l->ctx) ? callout_ctx_flush(l->ctx) : 0;

	if (ret < 0)
		l->failed(l->ctx, ret);
}

static inline int callout_libuv_start(struct callout_libuv *l, uv_loop_t *loop)
{
	int ret = uv_poll_init(loop, &l->io, callout_ctx_fd(l->ctx));

	if (ret)
		return ret;
	l->io.data = l;
	uv_prepare_init(loop, &l->prepare);
	l->prepare.data = l;
	/* These calls do not fail. */
	uv_prepare_start(&l->prepare, _callout_libuv_before_sleep);
	uv_poll_start(&l->io, UV_READABLE, _callout_libuv_readable);
	return 0;
}

static inline void callout_libuv_stop(struct callout_libuv *l)
{
	uv_close((uv_handle_t *)&l->io, NULL);
	uv_close((uv_handle_t *)&l->prepare, NULL);
}

#endif /* _CALLOUT_LIBUV_H */
