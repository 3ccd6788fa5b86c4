// SPDX-License-Identifier: GPL-2.0
/*
 * user_namespaces.c - counts instructions of open() of /dev/callout in a user
 * namespace, while files are open in many others
 *
 * A file's user has an account in its namespace, and an account in each namespace
 * around it. The accounts of files that are open in other namespaces exist too.
 * Prints lines
 *
 *	bench-user: callout,namespaces,NAMESPACES,insns_open,VALUE
 *
 * For one CPU, as in user_bench.c. Run as root.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"
#include "lib/common.h"

#define OPENS		21U
#define NAMESPACES	16384U
#define SOMEBODY	12345
/* The maximum depth to which Linux nests namespaces. */
#define LEVELS		33U
/* Time after which a closed file is no longer charged to its user. */
#define SETTLE		(100 * MSEC)

static void say(const char *path, const char *what)
{
	check(write_text(path, what), path);
}

/* Runs in the innermost of LEVELS namespaces. */
static void measure(unsigned int others)
{
	__u64 took[OPENS], start;
	char ids[32];
	unsigned int i;
	int fd;

	for (i = 0; i < LEVELS; i++) {
		check(!unshare(CLONE_NEWUSER), "unshare");
		/* A user without an id in a namespace cannot create a namespace in it. */
		snprintf(ids, sizeof(ids), "0 %d 1\n", i ? 0 : SOMEBODY);
		say("/proc/self/setgroups", "deny");
		say("/proc/self/gid_map", ids);
		say("/proc/self/uid_map", ids);
	}
	for (i = 0; i < OPENS; i++) {
		start = __builtin_ia32_rdtsc();
		fd = dev_open(O_NONBLOCK);
		took[i] = __builtin_ia32_rdtsc() - start;
		check(fd >= 0 && !close(fd), "open");
		sleep_ns(SETTLE);
	}
	qsort(took, OPENS, sizeof(took[0]), compare_u64);
	printf("bench-user: callout,namespaces,%u,insns_open,%llu\n", others,
	       took[OPENS / 2]);
}

static void reap(pid_t child)
{
	int status;

	check(child > 0 && waitpid(child, &status, 0) == child && !status,
	      "a child");
}

static void measure_in_child(unsigned int others)
{
	pid_t child = fork();

	if (!child) {
		measure(others);
		exit(0);
	}
	reap(child);
}

/* Share memory and descriptors with its parent, which waits for it to end. */
static int open_one(void *arg)
{
	(void)arg;
	_exit(dev_open(O_NONBLOCK) < 0);
}

int main(void)
{
	static char stack[65536];
	struct rlimit files = { NAMESPACES + 50, NAMESPACES + 50 };
	unsigned int i;

	say("/proc/sys/user/max_user_namespaces", "100000");
	check(!setrlimit(RLIMIT_NOFILE, &files), "RLIMIT_NOFILE");
	check(!chmod(CALLOUT_DEVICE, 0666), "chmod");
	check(!setresgid(SOMEBODY, SOMEBODY, SOMEBODY) &&
	      !setresuid(SOMEBODY, SOMEBODY, SOMEBODY), "setresuid");
	/* The maps may be written then. */
	check(!prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
	measure_in_child(0);
	for (i = 0; i < NAMESPACES; i++)
		reap(clone(open_one, stack + sizeof(stack),
			   CLONE_VM | CLONE_VFORK | CLONE_FILES |
			   CLONE_NEWUSER | SIGCHLD, NULL));
	measure_in_child(NAMESPACES);
	return 0;
}
