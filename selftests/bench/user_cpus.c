// SPDX-License-Identifier: GPL-2.0
/*
 * user_cpus.c - counts instructions of operations that may take longer on more CPUs
 *
 * For QEMU with -icount shift=0: there the time stamp counter advances by one
 * for each instruction, whichever CPU executes it. Prints lines
 *
 *	bench-cpus: CPUS,METRIC,VALUE
 *
 *	user_cpus load MODULE
 *		load: of callout.ko, by all CPUs together
 *	user_cpus device
 *		of /dev/callout, all on one CPU: the others must be offline
 *
 * While a call sleeps, or its deferred work runs, a process of the idle priority
 * counts its turns on this CPU, so that the clock does not leap. The instructions
 * of the turns are subtracted, and also the instructions of the ticks and of the
 * rest of the system in the same time.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "check.h"
#include "lib/common.h"

#define CALLS		41U
#define LOADS		5U
#define FILES		41U
#define SETS		4096U

/* Instructions of a turn of the process of the idle priority. */
#define TURN		1003U

/* Time after which workers, and work that waits for RCU readers, are done. */
#define SETTLE		(100 * MSEC)

static __u64 took[CALLS];
static unsigned int cpus;
static __u64 *turns;

static inline __u64 cycles(void)
{
	return __builtin_ia32_rdtsc();
}

/* Report the median of took[0] to took[@n - 1], each divided by @by. */
static void report(const char *metric, unsigned int n, unsigned int by)
{
	qsort(took, n, sizeof(took[0]), compare_u64);
	printf("bench-cpus: %u,%s,%llu\n", cpus, metric, took[n / 2] / by);
	fflush(stdout);
}

static void start_turns(void)
{
	static const struct sched_param none;
	pid_t pid;

	turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(turns != MAP_FAILED, "mmap");
	check(pin_to_cpu(0), "to run on CPU 0");
	pid = fork();
	check(pid >= 0, "fork");
	if (pid)
		return;
	check(!prctl(PR_SET_PDEATHSIG, SIGKILL), "PR_SET_PDEATHSIG");
	check(!sched_setscheduler(0, SCHED_IDLE, &none), "SCHED_IDLE");
	/* On a pause instruction QEMU lets other CPUs run. */
	for (;;)
		asm volatile("incq %0\n\t.rept 1000\n\tnop\n\t.endr\n\tpause"
			     : "+m" (*turns));
}

/* Instructions so far other than the turns'. */
static __u64 instructions(void)
{
	return cycles() - __atomic_load_n(turns, __ATOMIC_RELAXED) * TURN;
}

/* Instructions of a function and of its deferred work. */
static __u64 count(void (*work)(void))
{
	__u64 end, start, none, some;

	sleep_ns(SETTLE);
	start = instructions();
	sleep_ns(SETTLE);
	none = instructions() - start;

	start = instructions();
	end = dev_now();
	work();
	end = dev_now() - end + SETTLE;
	sleep_ns(SETTLE);
	some = instructions() - start;
	/* Ticks come at the same rate, however long the work takes. */
	none = none * end / SETTLE;
	return some > none ? some - none : 0;
}

static const char *module;

static void load(void)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	check(fd >= 0 && !syscall(SYS_finit_module, fd, "", 0), module);
	close(fd);
}

static void unload(void)
{
	check(!syscall(SYS_delete_module, "callout", O_NONBLOCK),
	      "rmmod callout");
}

static void loads(void)
{
	unsigned int i;

	load();
	unload();
	for (i = 0; i < LOADS; i++) {
		took[i] = count(load);
		unload();
	}
	report("load", LOADS, 1);
}

static int opened(void)
{
	int fd = dev_open(O_NONBLOCK);

	check(fd >= 0, "to open /dev/callout");
	return fd;
}

static void open_and_close(void)
{
	unsigned int i;

	for (i = 0; i < FILES; i++)
		check(!close(opened()), "close");
}

static void files(void)
{
	int fd[CALLS];
	__u64 start;
	unsigned int i;

	for (i = 0; i < CALLS; i++) {
		start = cycles();
		fd[i] = opened();
		took[i] = cycles() - start;
	}
	report("open", CALLS, 1);
	for (i = 0; i < CALLS; i++) {
		start = cycles();
		close(fd[i]);
		took[i] = cycles() - start;
	}
	report("close", CALLS, 1);
	for (i = 0; i < LOADS; i++)
		took[i] = count(open_and_close);
	report("open_close_free", LOADS, FILES);
}

static __u64 handle_set(int fd)
{
	__u64 handle = 0;

	check(!dev_set(fd, 0, HOUR, 0, &handle), "SET");
	return handle;
}

/* Set the first callouts of files, for which slots are added. */
static void first_sets(void)
{
	__u64 start;
	unsigned int i, n;
	int fd;

	for (i = 0; i < LOADS; i++) {
		fd = opened();
		start = cycles();
		for (n = 0; n < SETS; n++)
			handle_set(fd);
		took[i] = cycles() - start;
		close(fd);
	}
	report("first_sets", LOADS, SETS);
}

static int get_info(int fd)
{
	struct callout_info info;

	return dev_ioctl(fd, CALLOUT_IOC_INFO, &info);
}

static int set_cancel(int fd)
{
	return dev_cancel(fd, handle_set(fd)) - CALLOUT_STATE_PENDING;
}

static __u64 stale;

static int cancel_stale(int fd)
{
	return dev_cancel(fd, stale) + ENOENT;
}

static void read_all(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	check(fd >= 0, path);
	do {
		n = read(fd, text, sizeof(text));
	} while (n > 0);
	check(!n, path);
	close(fd);
}

/* Read once what "calloutctl stat" reads. */
static int read_stat(int fd)
{
	(void)fd;
	read_all("/sys/kernel/debug/callout/bases");
	read_all("/sys/kernel/debug/callout/lateness");
	return 0;
}

static void measure(int fd, const char *metric, int (*call)(int fd))
{
	__u64 start;
	unsigned int i;
	int ret;

	call(fd);
	for (i = 0; i < CALLS; i++) {
		start = cycles();
		ret = call(fd);
		took[i] = cycles() - start;
		check(!ret, metric);
	}
	report(metric, CALLS, 1);
}

static void device(void)
{
	int fd = opened();

	handle_set(fd);
	stale = handle_set(fd);
	check(dev_cancel(fd, stale) == CALLOUT_STATE_PENDING, "CANCEL");
	measure(fd, "info", get_info);
	measure(fd, "device_set_cancel", set_cancel);
	measure(fd, "device_stale", cancel_stale);
	measure(fd, "stat", read_stat);
	close(fd);
	first_sets();
	files();
}

int main(int argc, char **argv)
{
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	start_turns();
	if (argc == 3 && !strcmp(argv[1], "load")) {
		module = argv[2];
		loads();
	} else if (argc == 2 && !strcmp(argv[1], "device")) {
		device();
	} else {
		errx(EXIT_FAILURE, "usage: user_cpus load MODULE | device");
	}
	return EXIT_SUCCESS;
}
