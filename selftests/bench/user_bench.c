// SPDX-License-Identifier: GPL-2.0
/*
 * user_bench.c - counts instructions of /dev/callout and of its alternatives
 *
 * For QEMU with -icount shift=0 and one CPU: there the time stamp counter
 * advances by one for each instruction of the program or the kernel. Every
 * facility runs in a separate process, in the same loops, with the same random
 * times, which are drawn in advance. The program's part of an operation is
 * counted too. Prints lines
 *
 *	bench-user: FACILITY,MODE,OUTSTANDING,METRIC,VALUE
 *
 *	insns_arm_disarm, insns_rearm
 *		with OUTSTANDING others, due within one to two hours, and the
 *		measured timers due later
 *	insns_per_expiry
 *		with OUTSTANDING others, EXPIRE timers due at once: their expiry and their receipt
 *	insns_irqsoff_max
 *		the worst lateness of the probe while OUTSTANDING timers, due at
 *		once, expire and are received
 *	bytes_per_timer
 *		the decrease of free memory with OUTSTANDING timers: slabs, tables and all else
 *
 *	user_bench irqsoff
 *		insns_irqsoff_max; callout_probe.ko must be loaded. Run this
 *		first: later the kernel frees pages, a thousand with interrupts
 *		off
 *	user_bench memory MODULE
 *		bytes_per_timer; loads callout.ko
 *	user_bench insns
 *		the other metrics
 */
#include <fcntl.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "user_bench.h"

#define BLOCKS		41U

/* Operations in a block. A block is a batch if that is more, or if an operation takes over SLOW. */
#define OPS		64U
#define SLOW		100000U

#define EXPIRE		15000U
#define EXPIRE_FEW	1500U
#define EXPIRE_MANY	MAX_CALLOUTS
#define MEMORY_TIMERS	100000U

/*
 * Timers that expire together are armed LEAD before. Counting begins SOON
 * before they expire and lasts WINDOW, in which the kernel completes expiry.
 */
#define LEAD		(2 * NSEC_PER_SEC)
#define SOON		(8 * NSEC_PER_MSEC)
#define WINDOW		(32 * NSEC_PER_MSEC)

#define EXPIRE_ROUNDS	3U
#define PROBE_ROUNDS	7U

/* Time for the kernel to free the last process's memory, wheels included. */
#define SETTLE		(15 * NSEC_PER_SEC)

#define HOUR		(3600 * NSEC_PER_SEC)
#define PROBE		"/sys/module/callout_probe/parameters/"

static const struct facility *const facilities[] = {
	&callout_single, &callout_batch64, &callout_batch1024,
	&timerfd_single, &posix_single, &uring_single, &callout_uring,
	&callout_uring64,
};

static __u64 times[MAX_CALL];
static __u64 took[BLOCKS];

static inline __u64 cycles(void)
{
	return __builtin_ia32_rdtsc();
}

static __u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void report(const struct facility *f, unsigned int n, const char *metric,
		   __u64 value)
{
	printf("bench-user: %s,%s,%u,%s,%llu\n", f->name, f->mode, n, metric,
	       value);
	fflush(stdout);
}

static __u64 median(__u64 *values, unsigned int n)
{
	qsort(values, n, sizeof(values[0]), compare_u64);
	return values[n / 2];
}

/* The counter must advance by the number of instructions. */
static void check_counter(void)
{
	__u64 start, least = ~0ULL;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		start = cycles();
		asm volatile(".rept 10000\n\tnop\n\t.endr");
		start = cycles() - start;
		if (start < least)
			least = start;
	}
	check(least >= 10000 && least < 10050, "to be under -icount shift=0");
}

/* Spin until the counter is at @until. Return the number of turns. */
static noinline __u64 spin(__u64 until)
{
	__u64 turns = 0;

	while (cycles() < until) {
		turns++;
		asm volatile("" : "+r" (turns));
	}
	return turns;
}

/* Instructions in a turn of spin(). */
static __u64 spin_turn(void)
{
	__u64 start, turns, takes, least = ~0ULL;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		start = cycles();
		turns = spin(start + 20000);
		takes = cycles() - start;
		takes = (takes + turns / 2) / turns;
		if (takes < least)
			least = takes;
	}
	return least;
}

static void draw_times(__u64 from)
{
	unsigned int i;

	for (i = 0; i < MAX_CALL; i++)
		times[i] = from + drand48() * HOUR;
}

/* Prepare for @n timers, and arm @others of them. */
static void open_and_arm(const struct facility *f, unsigned int n,
			 unsigned int others)
{
	unsigned int first, some;

	f->open(f, n);
	for (first = 0; first < others; first += some) {
		some = others - first < MAX_CALL ? others - first : MAX_CALL;
		draw_times(HOUR);
		f->arm(f, first, some, times, false);
	}
}

/* Operate on timers @first to @first + @ops - 1. Return the instructions for each. */
typedef __u64 block_fn(const struct facility *f, unsigned int first,
			  unsigned int ops);

static __u64 arm_disarm(const struct facility *f, unsigned int first,
			unsigned int ops)
{
	__u64 start = cycles();
	unsigned int i;

	for (i = 0; i < ops; i += f->batch) {
		f->arm(f, first + i, f->batch, times + i, false);
		f->disarm(f, first + i, f->batch);
	}
	return (cycles() - start) / ops;
}

static __u64 rearm(const struct facility *f, unsigned int first,
		   unsigned int ops)
{
	__u64 start = cycles();
	unsigned int i;

	for (i = 0; i < ops; i += f->batch)
		f->rearm(f, first + i, f->batch, times + i);
	return (cycles() - start) / ops;
}

static void measure(const struct facility *f, unsigned int n,
		    const char *metric, block_fn *block)
{
	unsigned int ops = f->batch > OPS ? f->batch : OPS, i;

	block(f, n, f->batch);
	if (block(f, n, f->batch) > SLOW)
		ops = f->batch;
	for (i = 0; i < BLOCKS; i++) {
		draw_times(2 * HOUR);
		took[i] = block(f, n, ops);
	}
	report(f, n, metric, median(took, BLOCKS));
}

static void operations(const struct facility *f, unsigned int n)
{
	unsigned int ops = f->batch > OPS ? f->batch : OPS;

	open_and_arm(f, n + ops, n);
	measure(f, n, "insns_arm_disarm", arm_disarm);
	draw_times(2 * HOUR);
	f->arm(f, n, ops, times, false);
	measure(f, n, "insns_rearm", rearm);
}

static void sleep_until(__u64 time)
{
	struct timespec ts = {
		.tv_sec = time / NSEC_PER_SEC,
		.tv_nsec = time % NSEC_PER_SEC,
	};

	check(!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL),
	      "clock_nanosleep");
}

/* Return the instructions in a window, less spin()'s, until @n timers are received. */
static __u64 window(const struct facility *f, unsigned int n)
{
	const __u64 turn = spin_turn();
	__u64 start = cycles(), turns = spin(start + WINDOW);
	unsigned int got = 0;

	while (got < n) {
		got += f->collect(f);
		check(cycles() - start < NSEC_PER_SEC, "to get expirations");
	}
	check(got == n, "to get no other expirations");
	return cycles() - start - turns * turn;
}

/* Arm @n timers from @first on that expire together, SOON after this function returns. */
static void arm_together(const struct facility *f, unsigned int first,
			 unsigned int n)
{
	__u64 due = now() + LEAD;
	unsigned int i, some;

	for (i = 0; i < MAX_CALL; i++)
		times[i] = due;
	for (i = 0; i < n; i += some) {
		some = n - i < MAX_CALL ? n - i : MAX_CALL;
		f->arm(f, first + i, some, times, true);
	}
	check(now() < due - 2 * SOON, "arming in time");
	sleep_until(due - SOON);
}

static void expirations(const struct facility *f, unsigned int n)
{
	__u64 without[EXPIRE_ROUNDS], with[EXPIRE_ROUNDS], some, none;
	unsigned int i;

	open_and_arm(f, n + EXPIRE, n);
	if (f->watch)
		f->watch(n + EXPIRE);
	for (i = 0; i < EXPIRE_ROUNDS; i++) {
		arm_together(f, n, 0);
		without[i] = window(f, 0);
		arm_together(f, n, EXPIRE);
		with[i] = window(f, EXPIRE);
	}
	some = median(with, EXPIRE_ROUNDS);
	none = median(without, EXPIRE_ROUNDS);
	check(some > none, "to count expiry");
	report(f, n, "insns_per_expiry", (some - none) / EXPIRE);
}

static void probe_run(bool run)
{
	FILE *file = fopen(PROBE "run", "w");

	check(file && fprintf(file, "%d\n", run) > 0 && !fclose(file),
	      "switching the probe");
}

static __u64 probe_worst(void)
{
	unsigned long long worst = 0;
	FILE *file = fopen(PROBE "worst", "r");

	check(file && fscanf(file, "%llu", &worst) == 1 && !fclose(file),
	      "reading the probe");
	return worst;
}

/* Return the worst lateness while timers 0 to @n - 1 expire. */
static __u64 irqsoff(const struct facility *f, unsigned int n)
{
	/* One round of this many timers gives the probe more samples. */
	unsigned int rounds = n < EXPIRE_MANY ? PROBE_ROUNDS : 1, i;
	__u64 worst = 0, late;

	for (i = 0; i < rounds; i++) {
		arm_together(f, 0, n);
		probe_run(true);
		window(f, n);
		probe_run(false);
		late = probe_worst();
		if (late > worst)
			worst = late;
	}
	return worst;
}

static void stretches(const struct facility *f, unsigned int n)
{
	f->open(f, n);
	if (f->watch)
		f->watch(n);
	report(f, n, "insns_irqsoff_max", irqsoff(f, n));
}

static void stretch_none(const struct facility *f, unsigned int n)
{
	(void)f;
	printf("bench-user-note: nothing expires: insns_irqsoff_max is %llu\n",
	       irqsoff(f, n));
	fflush(stdout);
}

/* Read a file of /proc, without allocating memory. */
static const char *slurp(const char *path)
{
	static char text[1 << 16];
	int fd = open(path, O_RDONLY);
	size_t len = 0;
	ssize_t ret;

	check(fd >= 0, path);
	while ((ret = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += ret;
	check(!ret && len < sizeof(text) - 1, path);
	close(fd);
	text[len] = '\0';
	return text;
}

static __u64 counter(const char *field)
{
	const char *at = strstr(slurp("/proc/meminfo"), field);

	check(at, field);
	return strtoull(at + strlen(field), NULL, 10) * 1024;
}

/* Return free memory, including the per-CPU lists of free pages. */
static __u64 unused(void)
{
	const char *at = slurp("/proc/zoneinfo");
	__u64 pages = 0;

	while ((at = strstr(at, " count:"))) {
		at += strlen(" count:");
		pages += strtoull(at, NULL, 10);
	}
	return counter("\nMemFree:") + pages * sysconf(_SC_PAGESIZE);
}

/* Add the counters of each CPU to the global ones. */
static void refresh_counters(void)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY);

	check(fd >= 0 && write(fd, "1", 1) == 1, "stat_refresh");
	close(fd);
}

/* Free empty slabs, so that they are not used again. */
static void shrink_slabs(void)
{
	size_t i;
	glob_t g;
	int fd;

	check(!glob("/sys/kernel/slab/*/shrink", GLOB_NOSORT, NULL, &g),
	      "/sys/kernel/slab");
	for (i = 0; i < g.gl_pathc; i++) {
		fd = open(g.gl_pathv[i], O_WRONLY);
		check(fd >= 0 && write(fd, "1", 1) == 1, g.gl_pathv[i]);
		close(fd);
	}
	globfree(&g);
}

static const char *module;

static void load_module(void)
{
	int fd = open(module, O_RDONLY);

	check(fd >= 0 && !syscall(SYS_finit_module, fd, "", 0), module);
	close(fd);
}

static double per_timer(__u64 before, __u64 after)
{
	return ((double)before - (double)after) / MEMORY_TIMERS;
}

/* Loading the module counts: it allocates the buckets. */
static void memory(const struct facility *f, unsigned int n)
{
	__u64 before, before_slabs, after, slabs, watched;

	shrink_slabs();
	refresh_counters();
	before_slabs = counter("\nSlab:");
	before = unused();
	if (f == &callout_single)
		load_module();
	open_and_arm(f, n, n);
	refresh_counters();
	slabs = counter("\nSlab:");
	after = unused();
	report(f, n, "bytes_per_timer", per_timer(before, after) + 0.5);
	printf("bench-user-note: %s: %.1f bytes a timer, of which in slabs %.1f",
	       f->name, per_timer(before, after),
	       per_timer(slabs, before_slabs));
	if (f->watch) {
		f->watch(n);
		refresh_counters();
		watched = unused();
		printf("; with epoll %.1f", per_timer(before, watched));
	}
	printf("\n");
	fflush(stdout);
}

/* Run @what in a separate process, whose memory is locked. */
static void run(void (*what)(const struct facility *f, unsigned int n),
		const struct facility *f, unsigned int n)
{
	pid_t pid = fork();
	int status;

	check(pid >= 0, "fork");
	if (!pid) {
		check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall");
		sleep_until(now() + SETTLE);
		what(f, n);
		exit(0);
	}
	check(waitpid(pid, &status, 0) == pid, "waitpid");
	if (status)
		exit(1);
}

static void run_irqsoff(void)
{
	unsigned int i;

	run(stretch_none, facilities[0], 0);
	for (i = 0; i < ARRAY_SIZE(facilities); i++) {
		run(stretches, facilities[i], EXPIRE_FEW);
		run(stretches, facilities[i], EXPIRE);
	}
	run(stretches, &callout_batch1024, EXPIRE_MANY);
}

static void run_memory(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(facilities); i++)
		if (facilities[i]->batch == 1)
			run(memory, facilities[i], MEMORY_TIMERS);
}

static void run_insns(void)
{
	static const unsigned int outstanding[] = { 0, 1000, 10000, 100000 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(facilities); i++) {
		for (j = 0; j < ARRAY_SIZE(outstanding); j++) {
			run(operations, facilities[i], outstanding[j]);
			run(expirations, facilities[i], outstanding[j]);
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	check_counter();
	if (argc == 2 && !strcmp(what, "irqsoff")) {
		run_irqsoff();
	} else if (argc == 3 && !strcmp(what, "memory")) {
		module = argv[2];
		run_memory();
	} else if (argc == 2 && !strcmp(what, "insns")) {
		run_insns();
	} else {
		fprintf(stderr, "usage: user_bench irqsoff|memory MODULE|insns\n");
		return 2;
	}
	return 0;
}
