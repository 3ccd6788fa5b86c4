// SPDX-License-Identifier: GPL-2.0
/*
 * run.c - runs a program: its threads, its files, and threads that wait too long
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "fuzz.h"

struct run run;

static struct worker workers[THREADS];

/*
 * A phase of a program: the threads of a mask run their calls. Its number and the
 * mask are one word: a thread that slept through a phase with other threads must
 * not see its number with the mask of the next one, and count itself twice.
 */
#define PHASE_MASK	((1U << THREADS) - 1)

static struct {
	atomic_uint word;	/* number << THREADS | mask */
	atomic_uint arrived;
	atomic_uint left;
	atomic_uint progress;	/* calls that have returned */
	atomic_uint points;	/* points that are new */
} phase;

static long futex(atomic_uint *word, int op, unsigned int value,
		  const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout,
		       NULL, 0);
}

__u64 now_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

__u64 now(void)
{
	return now_of(CLOCK_MONOTONIC);
}

struct worker *run_worker(unsigned int number)
{
	return &workers[number];
}

static void run_calls(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < run.program->n; i++) {
		if (run.program->call[i].thread != w->number ||
		    run.outcome[i].ran)
			continue;
		cover_call();
		call_run(w, i);
		phase.points += cover_end(run.program->call[i].kind);
		phase.progress++;
	}
}

/* All threads begin at once, as far as possible. */
static void meet(unsigned int mask)
{
	unsigned int n = __builtin_popcount(mask), i;

	phase.arrived++;
	for (i = 0; i < 3000 && phase.arrived < n; i++)
		if (i % 500 == 499)
			sched_yield();
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int word = 0, last;

	w->tid = syscall(SYS_gettid);
	cover_begin(w->number);
	phase.left--;
	for (;;) {
		last = word;
		while ((word = phase.word) == last)
			futex(&phase.word, FUTEX_WAIT, last, NULL);
		if (!(word & 1U << w->number))
			continue;
		meet(word & PHASE_MASK);
		run_calls(w);
		if (!--phase.left)
			futex(&phase.left, FUTEX_WAKE, 1, NULL);
	}
	return NULL;
}

static void on_signal(int sig)
{
	(void)sig;
}

/* Prepare this process. Return false if it cannot run programs. */
bool run_init(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;
	unsigned int i;

	run.outcome = mmap(NULL, CALLS_MAX * sizeof(*run.outcome),
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	run.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (run.outcome == MAP_FAILED || run.epoll < 0)
		return false;
	sigaction(SIGUSR1, &action, NULL);
	stall_make();
	phase.left = THREADS;
	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		if (!arena_make(&workers[i]) ||
		    pthread_create(&thread, NULL, work, &workers[i]))
			return false;
	}
	while (phase.left)
		sched_yield();
	return true;
}

/*
 * No call has returned for a while: threads wait for events that may not come.
 * Does a thread sleep although it need not? If not, interrupt the threads.
 */
static bool interrupt_waiters(unsigned int mask)
{
	struct callout_info info;
	bool needless = false;
	unsigned int i, waits;

	for (i = 0; i < THREADS; i++) {
		if (!(mask & 1U << i))
			continue;
		waits = workers[i].waits;
		if (waits && program_keeps_files(run.program) && file_info(waits - 1, &info) &&
		    info.unread) {
			needless = true;
			continue;
		}
		syscall(SYS_tgkill, getpid(), workers[i].tid, SIGUSR1);
	}
	return needless;
}

/* Run the calls of some threads. Return what is wrong, or NULL. */
static const char *run_phase(unsigned int mask)
{
	static const struct timespec moment = { .tv_nsec = MSEC / 2 };
	unsigned int left, progress = 0;
	__u64 since = now();

	phase.arrived = 0;
	phase.left = __builtin_popcount(mask);
	phase.word = ((phase.word >> THREADS) + 1) << THREADS | mask;
	futex(&phase.word, FUTEX_WAKE, INT32_MAX, NULL);
	while ((left = phase.left)) {
		futex(&phase.left, FUTEX_WAIT, left, &moment);
		stall_end();
		if (phase.progress != progress) {
			progress = phase.progress;
			since = now();
			continue;
		}
		if (!interrupt_waiters(mask) && now() - since < 3 * PATIENCE)
			continue;
		if (now() - since > PATIENCE)
			return "a thread sleeps, and need not";
	}
	return NULL;
}

/* The files that the calls use, as bits. */
static unsigned int files_used(void)
{
	const struct call *c = run.program->call;
	unsigned int used = 0, i;

	for (i = 0; i < run.program->n; i++, c++) {
		used |= 1U << c->file;
		if (c->kind == K_DUP)
			used |= 1U << c->key;
	}
	return used & 1U << FILE_DUPLICATE ? used | 1 : used;
}

static bool open_files(void)
{
	unsigned int used = files_used(), i;
	int fd;

	for (i = 0; i < FILES; i++) {
		fd = -1;
		if (i == FILE_DUPLICATE && used & 1U << i)
			fd = fcntl(run.fd[0], F_DUPFD_CLOEXEC, 0);
		else if (used & 1U << i)
			fd = open("/dev/callout", O_RDWR | O_CLOEXEC |
				  (i == FILE_BLOCKING ? 0 : O_NONBLOCK));
		run.fd[i] = fd;
		run.kept[i] = fd < 0 || i == FILE_DUPLICATE ? -1 :
			      fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (used & 1U << i && fd < 0)
			return false;
	}
	return true;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void close_files(void)
{
	unsigned int i;

	for (i = 0; i < FILES; i++) {
		close_fd(run.fd[i]);
		close_fd(run.kept[i]);
	}
}

/*
 * Run a program. Return what is wrong, or NULL, and the number of points of the
 * kernel that no program had reached before.
 */
const char *run_program(const struct program *p, unsigned int *points)
{
	unsigned int mask = 0, changes = run.limits->changes, i;
	bool limited = run.limits->lowered;
	__u64 left[FILES];
	const char *why = NULL;

	run.program = p;
	run.judged = false;
	memset(run.outcome, 0, CALLS_MAX * sizeof(*run.outcome));
	phase.points = 0;
	if (open_files()) {
		for (i = 0; i < p->n; i++)
			mask |= 1U << p->call[i].thread;
		if (mask & 1)
			why = run_phase(1);
		if (!why && mask & ~1U)
			why = run_phase(mask & ~1U);
		if (!why)
			why = check_commands(left);
		ring_end();
		if (!why)
			why = check_run(left, limited ||
					run.limits->changes != changes);
	}
	close_files();
	limits_restore(run.limits, run.process);
	stall_renew();
	*points = phase.points;
	return why;
}
