// SPDX-License-Identifier: GPL-2.0
/*
 * loop_ev.c - libev's loop for loop_bench: with its own timers, with a timerfd
 * each, with libcallout on the device and on one timerfd, and without timers
 */
#include <ev.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "libcallout.h"
#include "loop_bench.h"

/* The number of timers that libcallout hands out at a time. */
#define MOST		8192

static struct ev_loop *ev;
static ev_io network_io;

static void on_network(struct ev_loop *l, ev_io *w, int revents)
{
	(void)l;
	(void)w;
	(void)revents;
	network();
}

static void open_ev(int fd)
{
	ev = ev_loop_new(EVBACKEND_EPOLL);
	check(ev, "ev_loop_new");
	ev_io_init(&network_io, on_network, fd, EV_READ);
	ev_io_start(ev, &network_io);
}

static void run_ev(void)
{
	ev_run(ev, 0);
}

static void stop_ev(void)
{
	ev_break(ev, EVBREAK_ALL);
}

static void active_none(unsigned int i)
{
	asm volatile("" : : "r" (i));
}

const struct loop loop_none = {
	.name = "none",
	.open = open_ev,
	.active = active_none,
	.run = run_ev,
	.stop = stop_ev,
};

static ev_timer timers[CONNECTIONS];

static void on_timer(struct ev_loop *l, ev_timer *w, int revents)
{
	(void)revents;
	ev_timer_stop(l, w);
	timed_out(w - timers);
}

static void open_timers(int fd)
{
	unsigned int i;

	open_ev(fd);
	for (i = 0; i < CONNECTIONS; i++)
		ev_timer_init(&timers[i], on_timer, 0, IDLE_MS / 1000.0);
}

static void active_timer(unsigned int i)
{
	ev_timer_again(ev, &timers[i]);
}

const struct loop loop_ev = {
	.name = "libev",
	.open = open_timers,
	.active = active_timer,
	.run = run_ev,
	.stop = stop_ev,
};

static ev_io fds[CONNECTIONS];

static void on_timerfd(struct ev_loop *l, ev_io *w, int revents)
{
	__u64 times;

	(void)l;
	(void)revents;
	check(read(w->fd, &times, sizeof(times)) == sizeof(times),
	      "reading a timerfd");
	timed_out(w - fds);
}

static void open_timerfds(int fd)
{
	struct rlimit limit = { 2 * CONNECTIONS, 2 * CONNECTIONS };
	unsigned int i;

	check(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	open_ev(fd);
	for (i = 0; i < CONNECTIONS; i++) {
		fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
		check(fd >= 0, "timerfd_create");
		ev_io_init(&fds[i], on_timerfd, fd, EV_READ);
		ev_io_start(ev, &fds[i]);
	}
}

static void active_timerfd(unsigned int i)
{
	const struct itimerspec idle = {
		.it_value.tv_nsec = IDLE_MS * 1000000L,
	};

	check(!timerfd_settime(fds[i].fd, 0, &idle, NULL), "timerfd_settime");
}

const struct loop loop_timerfd = {
	.name = "timerfd",
	.open = open_timerfds,
	.active = active_timerfd,
	.run = run_ev,
	.stop = stop_ev,
};

static struct callout_timer callouts[CONNECTIONS];
static struct callout_ctx *ctx;
static ev_prepare prepare;
static ev_io callout_io;

static void hand_out(int (*work)(struct callout_ctx *ctx))
{
	struct callout_timer *timer;

	do {
		check(work(ctx) >= 0, "a turn");
		while ((timer = callout_ctx_next(ctx, NULL)))
			timed_out(timer - callouts);
	} while (callout_ctx_pending(ctx));
}

static int turn(struct callout_ctx *c)
{
	return callout_ctx_turn(c, 0);
}

static void on_readable(struct ev_loop *l, ev_io *w, int revents)
{
	(void)l;
	(void)w;
	(void)revents;
	hand_out(turn);
}

static void before_sleep(struct ev_loop *l, ev_prepare *w, int revents)
{
	(void)l;
	(void)w;
	(void)revents;
	if (callout_ctx_pending(ctx))
		hand_out(callout_ctx_flush);
}

static void open_ctx(int fd)
{
	open_ev(fd);
	ev_io_init(&callout_io, on_readable, callout_ctx_fd(ctx), EV_READ);
	ev_io_start(ev, &callout_io);
	ev_prepare_init(&prepare, before_sleep);
	ev_prepare_start(ev, &prepare);
}

static void open_callouts(int fd)
{
	check(!callout_ctx_create(&ctx, MOST) && !callout_ctx_on_timerfd(ctx),
	      "callout_ctx_create");
	open_ctx(fd);
}

/* libcallout's wheel without the device. */
static void open_wheel(int fd)
{
	check(!callout_ctx_create_timerfd(&ctx, MOST),
	      "callout_ctx_create_timerfd");
	open_ctx(fd);
}

static void active_callout(unsigned int i)
{
	check(!callout_arm(ctx, &callouts[i], IDLE_MS * 1000000ULL),
	      "callout_arm");
}

const struct loop loop_callout = {
	.name = "callout",
	.open = open_callouts,
	.active = active_callout,
	.run = run_ev,
	.stop = stop_ev,
};

const struct loop loop_wheel = {
	.name = "wheel",
	.open = open_wheel,
	.active = active_callout,
	.run = run_ev,
	.stop = stop_ev,
};
