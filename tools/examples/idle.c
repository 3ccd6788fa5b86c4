// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle.c - idle timeouts of 100 000 connections, for the loops of the examples
 *
 *	cc idle_LOOP.c idle.c $(pkg-config --cflags --libs libcallout)
 *	idle_LOOP [CONNECTIONS [SECONDS]]
 *
 * The loop of libev also needs -lev, libuv's -luv, libevent's -levent.
 *
 * A connection is closed when no data has come for IDLE: its timer is re-armed by all
 * incoming data. All timers share one descriptor, of /dev/callout or of a timerfd, which
 * wakes the loop when the first of them is due. A system call is made only when the
 * first timer changes, however many timers there are.
 *
 * Connections are simulated: a periodic timer of the same context plays the
 * network for SECONDS. At each tick it picks connections at random: a few are
 * closed by their peers, the others receive data. Then all is quiet until the
 * last connection has timed out. The program checks that every connection is
 * closed once, and that none times out early.
 */
#include <err.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "idle.h"

#define MSEC		1000000ULL
#define SEC		1000000000ULL

#define DEFAULT_COUNT	100000
#define DEFAULT_TIME	5

#define IDLE		(2 * SEC)
#define TICK		(10 * MSEC)
/* Each connection receives data once a second, on average. */
#define TICKS_PER_TOUR	100
/* Per thousand picked connections, how many are closed. */
#define CLOSED		10

/* Timers that a turn hands out. */
#define MOST		8192

/* Time after the last timeout is due, in seconds. */
#define PATIENCE	60

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/**
 * struct conn - a connection
 * @idle: its timer
 * @last: when the last data came
 * @open: whether it is open
 */
struct conn {
	struct callout_timer idle;
	__u64 last;
	bool open;
};

/**
 * struct server - the state of the program
 * @ctx: the timers
 * @network: the timer that plays the network
 * @conns: the connections
 * @n: how many connections there are
 * @n_open: how many are open
 * @quiet: when the network falls silent
 * @seed: of random choices
 * @arms: how often a timer was armed
 * @timed_out: connections that were closed because they were idle
 * @by_peer: connections that their peers closed
 * @early: timed out before IDLE was over
 * @again: timed out when they were closed
 * @wrong: errors
 * @latest: the greatest lateness of a timeout
 */
struct server {
	struct callout_ctx *ctx;
	struct callout_timer network;
	struct conn *conns;
	unsigned int n, n_open;
	__u64 quiet;
	unsigned int seed;
	unsigned long arms, timed_out, by_peer, early, again, wrong;
	__u64 latest;
};

static void received_data(struct server *s, struct conn *c)
{
	c->last = callout_now(CLOCK_MONOTONIC);
	s->arms++;
	if (callout_arm(s->ctx, &c->idle, IDLE))
		s->wrong++;
}

static void closed(struct server *s, struct conn *c)
{
	c->open = false;
	s->n_open--;
}

static void on_idle(struct server *s, struct conn *c,
		    const struct callout_event *e)
{
	__u64 now = callout_now(CLOCK_MONOTONIC);

	if (!c->open) {
		s->again++;
		return;
	}
	if (e->fired < c->last + IDLE || now < c->last + IDLE)
		s->early++;
	else if (now - c->last - IDLE > s->latest)
		s->latest = now - c->last - IDLE;
	s->timed_out++;
	closed(s, c);
}

static void on_network(struct server *s, const struct callout_event *e)
{
	__u64 picks = (1ULL + e->overrun) * (s->n / TICKS_PER_TOUR);
	struct conn *c;

	if (callout_now(CLOCK_MONOTONIC) >= s->quiet) {
		callout_disarm(s->ctx, &s->network);
		return;
	}
	/* A slow machine makes up for one tour at most. */
	if (picks > s->n)
		picks = s->n;
	while (picks--) {
		c = &s->conns[rand_r(&s->seed) % s->n];
		if (!c->open)
			continue;
		if (rand_r(&s->seed) % 1000 < CLOSED) {
			if (!callout_disarm(s->ctx, &c->idle))
				s->wrong++;
			s->by_peer++;
			closed(s, c);
		} else {
			received_data(s, c);
		}
	}
}

/* The only context. */
static struct server server;

void idle_failed(struct callout_ctx *ctx, int error)
{
	(void)ctx;
	errx(EXIT_FAILURE, "the callout: %s", strerror(-error));
}

void idle_fired(struct callout_ctx *ctx, struct callout_timer *timer,
		const struct callout_event *event)
{
	struct server *s = &server;

	(void)ctx;
	if (timer == &s->network)
		on_network(s, event);
	else
		on_idle(s, container_of(timer, struct conn, idle), event);
	if (!s->n_open && !callout_armed(&s->network))
		loop_stop();
}

static void open_connections(struct server *s)
{
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		s->conns[i].open = true;
		s->n_open++;
		received_data(s, &s->conns[i]);
	}
	s->network.period = TICK;
	if (callout_arm(s->ctx, &s->network, TICK))
		s->wrong++;
}

/* All timers share one callout, if it is one of the device. */
static void audit(struct server *s)
{
	struct callout_info info;

	if (callout_ctx_on_timerfd(s->ctx))
		return;
	if (callout_dev_info(callout_ctx_fd(s->ctx), &info) ||
	    info.outstanding > 1)
		s->wrong++;
}

static int verdict(const struct server *s)
{
	bool ok = !s->n_open && !s->early && !s->again && !s->wrong &&
		  s->timed_out + s->by_peer == s->n;

	printf("connections          %10u\n", s->n);
	printf("timers armed         %10lu\n", s->arms);
	printf("timed out            %10lu\n", s->timed_out);
	printf("closed by peer       %10lu\n", s->by_peer);
	printf("latest, in ms        %10.1f\n", (double)s->latest / MSEC);
	printf("early                %10lu\n", s->early);
	printf("lost                 %10u\n", s->n_open);
	printf("again                %10lu\n", s->again);
	printf("other errors         %10lu\n", s->wrong);
	printf("%s: %s\n", loop_name, ok ?
	       "ok: each connection was closed once, none early" : "FAILED");
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static unsigned int argument(int argc, char **argv, int i, unsigned int value)
{
	if (i < argc)
		value = strtoul(argv[i], NULL, 10);
	if (!value || argc > 3)
		errx(2, "usage: %s [CONNECTIONS [SECONDS]]", loop_name);
	return value;
}

int main(int argc, char **argv)
{
	struct server *s = &server;
	unsigned int time;
	int ret;

	s->n = argument(argc, argv, 1, DEFAULT_COUNT);
	time = argument(argc, argv, 2, DEFAULT_TIME);
	s->seed = callout_now(CLOCK_MONOTONIC);
	printf("%s: seed %u\n", loop_name, s->seed);
	s->conns = calloc(s->n, sizeof(*s->conns));
	if (!s->conns)
		errx(EXIT_FAILURE, "no memory for %u connections", s->n);
	ret = callout_ctx_create(&s->ctx, MOST);
	if (ret)
		errx(EXIT_FAILURE, "no context: %s", strerror(-ret));
	ret = callout_ctx_on_timerfd(s->ctx);
	if (ret)
		printf("%s: on a timerfd: %s\n", loop_name, callout_open_strerror(ret));
	if (!loop_open(s->ctx))
		errx(EXIT_FAILURE, "no loop");
	open_connections(s);
	s->quiet = callout_now(CLOCK_MONOTONIC) + time * SEC;
	loop_run(time + IDLE / SEC + PATIENCE);
	audit(s);
	loop_close();
	callout_ctx_destroy(s->ctx);
	ret = verdict(s);
	free(s->conns);
	return ret;
}
