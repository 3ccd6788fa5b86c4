// SPDX-License-Identifier: GPL-2.0
/*
 * become.c - kinds of processes: unprivileged, in namespaces, or disturbing
 */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define NOBODY		65534

bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Become a process that is not root, in its own user namespace or not. */
void become_nobody(bool namespace)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		exit(2);
	/* Otherwise /proc/self would be root's. */
	prctl(PR_SET_DUMPABLE, 1);
	if (namespace && !unshare(CLONE_NEWUSER))
		write_file("/proc/self/uid_map", "0 65534 1\n");
}

/* Enter a time namespace, which applies to children only. */
void become_other_time(void)
{
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWTIME) ||
	    !write_file("/proc/self/timens_offsets",
			"monotonic 100000 0\nboottime -5 0\n"))
		return;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return;
	}
	waitpid(pid, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* A thread that occupies a CPU for a while, from time to time. */
void take_cpu(unsigned int cpu)
{
	struct sched_param param = { .sched_priority = 10 };
	__u64 s = cpu + 1, end;
	struct timespec ts = { 0 };
	cpu_set_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) ||
	    sched_setscheduler(0, SCHED_FIFO, &param))
		exit(0);
	for (;;) {
		ts.tv_nsec = below(&s, 100 * MSEC);
		nanosleep(&ts, NULL);
		end = now() + below(&s, 6 * MSEC);
		while (now() < end)
			;
	}
}
