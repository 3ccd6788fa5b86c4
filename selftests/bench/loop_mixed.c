// SPDX-License-Identifier: GPL-2.0
/*
 * loop_mixed.c - compares the timers of loops when the timeouts differ
 *
 * N timers, due at random within SPREAD, are armed in random order. Then each is
 * disarmed and armed again. Then the loop turns each TURN until all have fired. The
 * clock is simulated, and so are the calls by which loops wait. So the timers alone are
 * measured. Each loop runs in a process for each N. Prints lines
 *
 *	bench-mixed: NAME,N,METRIC,VALUE
 *
 *	arm		arming a timer
 *	pair		disarming a timer and arming it again
 *	expiry		each timer that fires, with the turns
 *
 * VALUE is the time of the CPU in nanoseconds, which is the number of instructions in
 * QEMU with -icount shift=0.
 */
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "check.h"
#include "libcallout.h"

#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL

#define SPREAD		(30 * NSEC_PER_SEC)
#define TURN		NSEC_PER_MSEC

/* A timer is a part of a structure of the program, say a connection, with this size. */
#define OBJECT		256

#define DEFINE_OBJECT(type)						\
	union type##_object {						\
		struct type timer;					\
		char size[OBJECT];					\
	}

/* Few timers are measured repeatedly, until at least this number has fired. */
#define LEAST		(1U << 16)

/**
 * struct peer - the timers of a loop
 * @name: their name
 * @open: prepare @n timers
 * @arm: arm a timer that is not armed
 * @disarm: disarm a timer that is armed
 * @turn: let the timers fire that are due at the time now, by calling fired()
 */
struct peer {
	const char *name;
	void (*open)(unsigned int n);
	void (*arm)(unsigned int i, __u64 after);
	void (*disarm)(unsigned int i);
	void (*turn)(void);
};

/* The simulated time. A loop may take 0 for an unknown time. */
static __u64 now = 1000 * NSEC_PER_SEC;

static unsigned int nr_fired;

static void fired(void)
{
	nr_fired++;
}

/* The linker makes the program and the loops call these functions. */

int __wrap_clock_gettime(clockid_t clockid, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clockid, struct timespec *ts)
{
	(void)clockid;
	ts->tv_sec = now / NSEC_PER_SEC;
	ts->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old)
{
	(void)fd;
	(void)flags;
	(void)new;
	(void)old;
	return 0;
}

int __wrap_epoll_wait(int fd, struct epoll_event *events, int n, int ms);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	(void)fd;
	(void)events;
	(void)n;
	(void)ms;
	return 0;
}

int __wrap_epoll_pwait(int fd, struct epoll_event *events, int n, int ms,
		       const sigset_t *mask);
int __wrap_epoll_pwait(int fd, struct epoll_event *events, int n, int ms,
		       const sigset_t *mask)
{
	(void)mask;
	return __wrap_epoll_wait(fd, events, n, ms);
}

static void *zeroed(size_t n, size_t size)
{
	void *memory = malloc(n * size);

	check(memory, "malloc");
	/* The kernel finds the pages here, not while time is measured. */
	return memset(memory, 0, n * size);
}

/* A heap of which each entry has four children, and its time beside its pointer */

struct heap_timer {
	void *data;
	size_t place;
};

struct entry {
	__u64 at;
	struct heap_timer *timer;
};

DEFINE_OBJECT(heap_timer);

static union heap_timer_object *heap_timers;
static struct entry *heap;
static size_t heap_size;

static void heap_put(size_t place, struct entry e)
{
	heap[place] = e;
	e.timer->place = place;
}

static void heap_up(size_t place, struct entry e)
{
	size_t parent;

	for (; place; place = parent) {
		parent = (place - 1) / 4;
		if (heap[parent].at <= e.at)
			break;
		heap_put(place, heap[parent]);
	}
	heap_put(place, e);
}

static void heap_down(size_t place, struct entry e)
{
	size_t child, end, least;

	while ((child = 4 * place + 1) < heap_size) {
		end = child + 4 < heap_size ? child + 4 : heap_size;
		for (least = child++; child < end; child++)
			if (heap[child].at < heap[least].at)
				least = child;
		if (e.at <= heap[least].at)
			break;
		heap_put(place, heap[least]);
		place = least;
	}
	heap_put(place, e);
}

static void heap_remove(size_t place)
{
	struct entry last = heap[--heap_size];

	if (place == heap_size)
		return;
	if (place && last.at < heap[(place - 1) / 4].at)
		heap_up(place, last);
	else
		heap_down(place, last);
}

static void heap_open(unsigned int n)
{
	heap_timers = zeroed(n, sizeof(*heap_timers));
	/* The four children of an entry begin at a cache line. */
	heap = aligned_alloc(64, (n + 4) * sizeof(*heap));
	check(heap, "aligned_alloc");
	memset(heap, 0, (n + 4) * sizeof(*heap));
	heap += 3;
}

static void heap_arm(unsigned int i, __u64 after)
{
	heap_up(heap_size++, (struct entry){ now + after, &heap_timers[i].timer });
}

static void heap_disarm(unsigned int i)
{
	heap_remove(heap_timers[i].timer.place);
}

static void heap_turn(void)
{
	while (heap_size && heap[0].at <= now) {
		heap_remove(0);
		fired();
	}
}

/* libev, whose heap is like the one above */

static struct ev_loop *ev;
DEFINE_OBJECT(ev_timer);

static union ev_timer_object *ev_timers;

static void on_ev(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)loop;
	(void)w;
	(void)revents;
	fired();
}

static void ev_open(unsigned int n)
{
	ev = ev_loop_new(EVBACKEND_EPOLL);
	check(ev, "ev_loop_new");
	ev_timers = zeroed(n, sizeof(*ev_timers));
	while (n--)
		ev_timer_init(&ev_timers[n].timer, on_ev, 0, 0);
}

static void ev_arm(unsigned int i, __u64 after)
{
	ev_timer_set(&ev_timers[i].timer, (double)after / NSEC_PER_SEC, 0);
	ev_timer_start(ev, &ev_timers[i].timer);
}

static void ev_disarm(unsigned int i)
{
	ev_timer_stop(ev, &ev_timers[i].timer);
}

static void ev_turn(void)
{
	ev_run(ev, EVRUN_NOWAIT);
}

/* libuv, whose heap has pointers */

static uv_loop_t *uv;
DEFINE_OBJECT(uv_timer_s);

static union uv_timer_s_object *uv_timers;

static void on_uv(uv_timer_t *w)
{
	(void)w;
	fired();
}

static void uv_open(unsigned int n)
{
	uv = uv_default_loop();
	check(uv, "uv_default_loop");
	uv_timers = zeroed(n, sizeof(*uv_timers));
	while (n--)
		check(!uv_timer_init(uv, &uv_timers[n].timer), "uv_timer_init");
}

static void uv_arm(unsigned int i, __u64 after)
{
	check(!uv_timer_start(&uv_timers[i].timer, on_uv, after / NSEC_PER_MSEC, 0),
	      "uv_timer_start");
}

static void uv_disarm(unsigned int i)
{
	uv_timer_stop(&uv_timers[i].timer);
}

static void uv_turn(void)
{
	uv_run(uv, UV_RUN_NOWAIT);
}

/* libcallout, on a timerfd */

static struct callout_ctx *ctx;
DEFINE_OBJECT(callout_timer);

static union callout_timer_object *callouts;

static void callout_open(unsigned int n)
{
	check(!callout_ctx_create_timerfd(&ctx, 8192),
	      "callout_ctx_create_timerfd");
	callouts = zeroed(n, sizeof(*callouts));
	while (n--)
		callouts[n].timer.clockid = CLOCK_MONOTONIC;
}

static void callout_arm_after(unsigned int i, __u64 after)
{
	check(!callout_arm_at(ctx, &callouts[i].timer, now + after), "callout_arm_at");
}

static void callout_disarm_one(unsigned int i)
{
	callout_disarm(ctx, &callouts[i].timer);
}

static void callout_turn(void)
{
	do {
		check(callout_ctx_turn(ctx, 0) >= 0, "callout_ctx_turn");
		while (callout_ctx_next(ctx, NULL))
			fired();
	} while (callout_ctx_more(ctx));
}

static const struct peer peers[] = {
	{ "libev", ev_open, ev_arm, ev_disarm, ev_turn },
	{ "libuv", uv_open, uv_arm, uv_disarm, uv_turn },
	{ "heap", heap_open, heap_arm, heap_disarm, heap_turn },
	{ "callout", callout_open, callout_arm_after, callout_disarm_one,
	  callout_turn },
	{ }
};

static __u64 state = 1;

static __u64 below(__u64 bound)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % bound;
}

static double cpu_ns(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void shuffle(unsigned int *order, unsigned int n)
{
	unsigned int i, j, other;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i; i--) {
		j = below(i + 1);
		other = order[i];
		order[i] = order[j];
		order[j] = other;
	}
}

static void measure(const struct peer *peer, unsigned int n)
{
	enum { ARM, PAIR, EXPIRY, METRICS };
	static const char * const names[] = { "arm", "pair", "expiry" };
	unsigned int *order = zeroed(n, sizeof(*order)), i, metric, rounds;
	unsigned int nr_rounds = n < LEAST ? LEAST / n : 1;
	double spent[METRICS] = { 0 }, begin;

	peer->open(n);
	shuffle(order, n);
	for (rounds = 0; rounds < nr_rounds; rounds++) {
		/* A loop may take the time from its last turn. */
		peer->turn();
		nr_fired = 0;
		begin = cpu_ns();
		for (i = 0; i < n; i++)
			peer->arm(order[i], TURN + below(SPREAD));
		spent[ARM] += cpu_ns() - begin;
		shuffle(order, n);
		begin = cpu_ns();
		for (i = 0; i < n; i++) {
			peer->disarm(order[i]);
			peer->arm(order[i], TURN + below(SPREAD));
		}
		spent[PAIR] += cpu_ns() - begin;
		begin = cpu_ns();
		for (i = 0; i <= SPREAD / TURN + 2; i++) {
			now += TURN;
			peer->turn();
		}
		spent[EXPIRY] += cpu_ns() - begin;
		check(nr_fired == n, "to fire each once");
	}
	for (metric = 0; metric < METRICS; metric++)
		printf("bench-mixed: %s,%u,%s,%.0f\n", peer->name, n,
		       names[metric], spent[metric] / n / nr_rounds);
}

/* Measure in a process with nothing of the loops before. */
static void run(const struct peer *peer, unsigned int n)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	check(pid >= 0, "fork");
	if (!pid) {
		measure(peer, n);
		exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status, peer->name);
}

/* loop_mixed [NAME]: all loops, or one */
int main(int argc, char *argv[])
{
	const struct peer *peer;
	unsigned int shift;

	for (shift = 12; shift <= 20; shift += 4)
		for (peer = peers; peer->name; peer++)
			if (argc < 2 || !strcmp(argv[1], peer->name))
				run(peer, 1U << shift);
	return 0;
}
