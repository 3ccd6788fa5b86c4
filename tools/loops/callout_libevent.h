/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * callout_libevent.h - timers of libcallout in a loop of libevent, see
 * callout_libevent_start(3)
 *
 * libevent 2.1 calls nothing before it sleeps, so callout_libevent_dispatch() runs the loop
 * turn by turn.
 */
#ifndef _CALLOUT_LIBEVENT_H
#define _CALLOUT_LIBEVENT_H

#include <errno.h>
#include <event2/event.h>
#include <libcallout.h>

/**
 * struct callout_libevent - a context in a loop
 * @ctx: the context
 * @fired: called with each timer that has fired
 * @failed: called with a negative errno value if a turn or a flush has failed
 * @io: watches the context
 */
struct callout_libevent {
	struct callout_ctx *ctx;
	void (*fired)(struct callout_ctx *ctx, struct callout_timer *timer,
		      const struct callout_event *event);
	void (*failed)(struct callout_ctx *ctx, int error);

	/* private: of this header */
	struct event *io;
};

static inline void _callout_libevent_readable(evutil_socket_t fd, short what,
					      void *arg)
{
	struct callout_libevent *l = (struct callout_libevent *)arg;
	int ret = callout_ctx_turn(l->ctx, 0);
	struct callout_timer *timer;
	struct callout_event event;

	(void)fd;
	(void)what;
	if (ret < 0)
		l->failed(l->ctx, ret);
	while ((timer = callout_ctx_next(l->ctx, &event)))
		l->fired(l->ctx, timer, &event);
}

static inline int callout_libevent_start(struct callout_libevent *l,
					 struct event_base *base)
{
	l->io = event_new(base, callout_ctx_fd(l->ctx), EV_READ | EV_PERSIST,
			  _callout_libevent_readable, l);
	if (!l->io)
		return -ENOMEM;
	if (event_add(l->io, NULL)) {
		event_free(l->io);
		return -ENOMEM;
	}
	return 0;
}

static inline void callout_libevent_stop(struct callout_libevent *l)
{
	event_free(l->io);
}

/* The next turn of the loop would forget that a callback has ended the loop. */
static inline int callout_libevent_dispatch(struct callout_libevent *l)
{
	struct event_base *base = event_get_base(l->io);
	int ret;

	do {
		ret = callout_ctx_pending(l->ctx) ? callout_ctx_flush(l->ctx) : 0;
		if (ret < 0)
			l->failed(l->ctx, ret);
		ret = event_base_loop(base, EVLOOP_ONCE);
	} while (!ret && !event_base_got_exit(base) &&
		 !event_base_got_break(base));
	return ret;
}

#endif /* _CALLOUT_LIBEVENT_H */
