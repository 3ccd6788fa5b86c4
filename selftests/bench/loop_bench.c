// SPDX-License-Identifier: GPL-2.0
/*
 * loop_bench.c - counts the cost of idle timeouts in an event loop
 *
 * For QEMU with -icount shift=0 and one CPU: there the time stamp counter
 * advances by one, which is a nanosecond, for each instruction of the program
 * or the kernel. Each loop runs in a separate process, under the same load:
 *
 *	all connections become active once
 *	QUIET		the loop turns, nothing else happens
 *	BUSY		each turn PER_TURN connections are active, all in turn
 *	PACED		each is active once more, one a microsecond
 *	DRAIN		the loop turns until all have timed out
 *
 * The loop never sleeps: one of its descriptors is readable all the time. The
 * cost of a turn in QUIET is subtracted for each turn of the other phases, and
 * so is the program's own cost of activity, which the loop "none" measures.
 * Prints lines
 *
 *	bench-loop: NAME,METRIC,VALUE
 *
 *	insns_activity, syscalls_activity
 *		in BUSY, for each activity; includes queueing timers again
 *	insns_expiry, syscalls_expiry
 *		in DRAIN, for each timeout; likewise
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop_bench.h"

#define NSEC_PER_MSEC	1000000ULL

#define QUIET_NS	(50 * NSEC_PER_MSEC)
#define BUSY_NS		(2 * IDLE_MS * NSEC_PER_MSEC)
#define PACE_NS		1000U

#define PER_TURN	64U

enum phase { ARM, QUIET, BUSY, PACED, DRAIN };

static const struct loop *loop;
static enum phase phase;
static bool outstanding[CONNECTIONS];
static unsigned int next, nr_out;

/* Counts since the phase began. */
static __u64 begin, turns, activities, timeouts, calls;

/* Cost of a turn of QUIET. */
static double quiet_insns, quiet_calls;

/* Cost of an activity of the loop "none". */
static double *none_insns;

static inline __u64 cycles(void)
{
	return __builtin_ia32_rdtsc();
}

/* The linker makes the program and the loops call these wrappers instead. */
#define COUNTED(type, name, parameters, ...)				\
type __real_##name parameters;						\
type __wrap_##name parameters;						\
type __wrap_##name parameters						\
{									\
	calls++;							\
	return __real_##name(__VA_ARGS__);				\
}

COUNTED(int, epoll_wait, (int fd, struct epoll_event *e, int n, int ms),
	fd, e, n, ms)
COUNTED(int, epoll_pwait, (int fd, struct epoll_event *e, int n, int ms,
			   const void *set), fd, e, n, ms, set)
COUNTED(int, epoll_ctl, (int fd, int op, int target, struct epoll_event *e),
	fd, op, target, e)
COUNTED(int, timerfd_settime, (int fd, int flags, const struct itimerspec *new,
			       struct itimerspec *old), fd, flags, new, old)
COUNTED(ssize_t, read, (int fd, void *buf, size_t n), fd, buf, n)
COUNTED(ssize_t, write, (int fd, const void *buf, size_t n), fd, buf, n)
COUNTED(int, ioctl, (int fd, unsigned long request, void *arg),
	fd, request, arg)

static void activity(void)
{
	unsigned int i = next++;

	if (next == CONNECTIONS)
		next = 0;
	nr_out += !outstanding[i];
	outstanding[i] = true;
	activities++;
	loop->active(i);
}

void timed_out(unsigned int i)
{
	check(outstanding[i], "to time out once");
	check(phase == DRAIN, "to time out when idle");
	outstanding[i] = false;
	nr_out--;
	timeouts++;
}

static void report(const char *metric, double value)
{
	printf("bench-loop: %s,%s,%.4f\n", loop->name, metric, value);
	fflush(stdout);
}

/* The cost of all turns of the phase, less their cost in QUIET. */
static double insns(void)
{
	return (double)(cycles() - begin) - turns * quiet_insns;
}

static double syscalls(void)
{
	return (double)calls - turns * quiet_calls;
}

static void busy_over(void)
{
	double each = insns() / activities;

	if (loop == &loop_none)
		*none_insns = each;
	else
		report("insns_activity", each - *none_insns);
	report("syscalls_activity", syscalls() / activities);
}

static void drain_over(void)
{
	report("insns_expiry", insns() / timeouts);
	report("syscalls_expiry", syscalls() / timeouts);
}

static void enter(enum phase new)
{
	phase = new;
	turns = 0;
	activities = 0;
	timeouts = 0;
	calls = 0;
	begin = cycles();
}

/* Each turn of the loop calls this once. */
void network(void)
{
	__u64 past = cycles() - begin;
	unsigned int i;

	turns++;
	switch (phase) {
	case ARM:
		enter(QUIET);
		break;
	case QUIET:
		if (past < QUIET_NS)
			break;
		quiet_insns = (double)past / turns;
		quiet_calls = (double)calls / turns;
		enter(BUSY);
		break;
	case BUSY:
		for (i = 0; i < PER_TURN; i++)
			activity();
		if (past < BUSY_NS || next)
			break;
		busy_over();
		if (loop == &loop_none)
			loop->stop();
		enter(PACED);
		break;
	case PACED:
		while (activities < CONNECTIONS &&
		       activities * PACE_NS <= past)
			activity();
		if (activities == CONNECTIONS)
			enter(DRAIN);
		break;
	case DRAIN:
		if (nr_out)
			break;
		drain_over();
		loop->stop();
	}
}

static void run(const struct loop *l)
{
	int fd = eventfd(1, 0), status, i;
	pid_t pid = fork();

	check(pid >= 0 && fd >= 0, "fork");
	if (pid) {
		check(waitpid(pid, &status, 0) == pid && !status, l->name);
		close(fd);
		return;
	}
	loop = l;
	l->open(fd);
	for (i = 0; i < (int)CONNECTIONS; i++)
		activity();
	/* The loop does not allocate after it is open and armed. */
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall");
	l->run();
	exit(0);
}

int main(void)
{
	none_insns = mmap(NULL, sizeof(*none_insns), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(none_insns != MAP_FAILED, "mmap");
	run(&loop_none);
	run(&loop_ev);
	run(&loop_uv);
	run(&loop_timerfd);
	run(&loop_callout);
	run(&loop_wheel);
	return 0;
}
