// SPDX-License-Identifier: GPL-2.0
/*
 * uv_timer.c - libuv's src/timer.c, with its timers in libcallout
 *
 * A program that links this file does not take timer.o from libuv_a.a: its uv_timer_t are
 * timers of a context that callout_libuv.h has put into the loop. Like libuv's own timers they
 * are called at the start of a turn, not when the descriptor is polled. Until then they wait in
 * a queue.
 */
#include <callout_libuv.h>
#include <err.h>
#include <stdlib.h>

#include "uv-common.h"

#define MSEC		1000000ULL
#define LAST		(~0ULL >> 1)

/**
 * struct timers - the timers of a loop
 * @part: the context in the loop
 * @due: timers to be called
 * @next: the timers of another loop
 */
struct timers {
	struct callout_libuv part;
	QUEUE due;
	struct timers *next;
};

/**
 * struct timer - the timer of an active uv_timer_t, which points to it
 * @callout: used as long as it waits
 * @due: its place in the queue after it has fired
 * @handle: the uv_timer_t
 */
struct timer {
	struct callout_timer callout;
	QUEUE due;
	uv_timer_t *handle;
};

static struct timers *loops;

static struct timers *timers_of(const uv_loop_t *loop)
{
	struct timers *t = loops;

	while (t && t->part.io.loop != loop)
		t = t->next;
	return t;
}

static struct timer *timer_of(const uv_timer_t *handle)
{
	return handle->heap_node[0];
}

static void fired(struct callout_ctx *ctx, struct callout_timer *callout,
		  const struct callout_event *event)
{
	struct timer *timer = container_of(callout, struct timer, callout);
	struct timers *t = timers_of(timer->handle->loop);

	(void)ctx;
	(void)event;
	QUEUE_INSERT_TAIL(&t->due, &timer->due);
}

static void failed(struct callout_ctx *ctx, int error)
{
	(void)ctx;
	errx(EXIT_FAILURE, "the callout: %s", strerror(-error));
}

/* As for libuv's own handles of this kind, uv_walk() does not meet them. */
static struct timers *new_timers(uv_loop_t *loop)
{
	struct timers *t = calloc(1, sizeof(*t));

	if (!t || callout_ctx_create(&t->part.ctx, 64))
		errx(EXIT_FAILURE, "no context");
	t->part.fired = fired;
	t->part.failed = failed;
	QUEUE_INIT(&t->due);
	if (callout_libuv_start(&t->part, loop))
		errx(EXIT_FAILURE, "the context cannot be put into the loop");
	t->part.io.flags |= UV_HANDLE_INTERNAL;
	t->part.prepare.flags |= UV_HANDLE_INTERNAL;
	uv_unref((uv_handle_t *)&t->part.io);
	uv_unref((uv_handle_t *)&t->part.prepare);
	t->next = loops;
	loops = t;
	return t;
}

int uv_timer_init(uv_loop_t *loop, uv_timer_t *handle)
{
	uv__handle_init(loop, (uv_handle_t *)handle, UV_TIMER);
	handle->timer_cb = NULL;
	handle->timeout = 0;
	handle->repeat = 0;
	return 0;
}

/* Count from now, not from uv_now(), which is past by up to a millisecond and the turn's length. */
int uv_timer_start(uv_timer_t *handle, uv_timer_cb cb, uint64_t timeout,
		   uint64_t repeat)
{
	struct timers *t = timers_of(handle->loop);
	__u64 now = callout_now(CLOCK_MONOTONIC);
	struct timer *timer;

	if (uv__is_closing(handle) || !cb)
		return UV_EINVAL;
	uv_timer_stop(handle);
	if (!t)
		t = new_timers(handle->loop);
	timer = calloc(1, sizeof(*timer));
	if (!timer)
		return UV_ENOMEM;
	timer->handle = handle;
	QUEUE_INIT(&timer->due);
	timer->callout.clockid = CLOCK_MONOTONIC;
	if (callout_arm_at(t->part.ctx, &timer->callout,
			   timeout < (LAST - now) / MSEC ? now + timeout * MSEC : LAST))
		errx(EXIT_FAILURE, "a timer cannot be armed");
	handle->heap_node[0] = timer;
	handle->timer_cb = cb;
	handle->timeout = handle->loop->time + timeout;
	if (handle->timeout < timeout)
		handle->timeout = UINT64_MAX;
	handle->repeat = repeat;
	uv__handle_start(handle);
	return 0;
}

int uv_timer_stop(uv_timer_t *handle)
{
	struct timer *timer = timer_of(handle);

	if (!uv__is_active(handle))
		return 0;
	callout_disarm(timers_of(handle->loop)->part.ctx, &timer->callout);
	QUEUE_REMOVE(&timer->due);
	free(timer);
	uv__handle_stop(handle);
	return 0;
}

int uv_timer_again(uv_timer_t *handle)
{
	if (!handle->timer_cb)
		return UV_EINVAL;
	if (!handle->repeat)
		return 0;
	return uv_timer_start(handle, handle->timer_cb, handle->repeat,
			      handle->repeat);
}

void uv_timer_set_repeat(uv_timer_t *handle, uint64_t repeat)
{
	handle->repeat = repeat;
}

uint64_t uv_timer_get_repeat(const uv_timer_t *handle)
{
	return handle->repeat;
}

uint64_t uv_timer_get_due_in(const uv_timer_t *handle)
{
	__u64 now = handle->loop->time;

	return handle->timeout > now ? handle->timeout - now : 0;
}

/* The descriptor wakes the loop. */
int uv__next_timeout(const uv_loop_t *loop)
{
	struct timers *t = timers_of(loop);

	return t && !QUEUE_EMPTY(&t->due) ? 0 : -1;
}

void uv__run_timers(uv_loop_t *loop)
{
	struct timers *t = timers_of(loop);
	uv_timer_t *handle;

	while (t && !QUEUE_EMPTY(&t->due)) {
		handle = QUEUE_DATA(QUEUE_HEAD(&t->due), struct timer, due)->handle;
		uv_timer_stop(handle);
		uv_timer_again(handle);
		handle->timer_cb(handle);
	}
}

void uv__timer_close(uv_timer_t *handle)
{
	uv_timer_stop(handle);
}
