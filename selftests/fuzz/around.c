// SPDX-License-Identifier: GPL-2.0
/*
 * around.c - calls that are not the device's own: descriptors, memory, processes,
 * signals, clocks, parameters
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "fuzz.h"

#define DEVICE		"/dev/callout"
#define PARAMETERS	"/sys/module/callout/parameters/"
#define MAX_PER_FILE	PARAMETERS "max_per_file"
#define MAX_PER_USER	PARAMETERS "max_per_user"
#define DEBUGFS		"/sys/kernel/debug/callout/"

static long result(long ret)
{
	return ret < 0 ? -errno : ret;
}

/* Close the file of a number, and make the number mean @fd, atomically. */
static long replace(atomic_int *place, int fd)
{
	int old = atomic_exchange(place, fd);

	if (old >= 0)
		close(old);
	return fd < 0 ? -errno : 0;
}

static long call_open(const struct call *c)
{
	static const int modes[] = { O_RDWR, O_RDWR, O_RDWR, O_RDONLY };
	int flags = modes[c->n % 4] | O_CLOEXEC;

	if (c->file != FILE_BLOCKING)
		flags |= O_NONBLOCK;
	return replace(&run.fd[c->file], open(DEVICE, flags));
}

static long call_poll(struct worker *w, const struct call *c)
{
	struct pollfd p = { .fd = run.fd[c->file], .events = POLLIN };
	long ret;

	if (c->n & 1)
		w->waits = file_of(c->file) + 1;
	ret = poll(&p, 1, c->n & 1 ? -1 : c->n % 3);
	w->waits = 0;
	return result(ret);
}

static long call_epoll(const struct call *c)
{
	struct epoll_event e = {
		.events = EPOLLIN | (c->n & 1 ? EPOLLET : 0) |
			  (c->n & 2 ? EPOLLONESHOT : 0),
	};
	static const int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD };

	if (c->key == 3)
		return result(epoll_wait(run.epoll, &e, 1, c->n % 3));
	return result(epoll_ctl(run.epoll, ops[c->key], run.fd[c->file], &e));
}

static long read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buffer[512];
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, buffer, sizeof(buffer));
	while (n > 0);
	close(fd);
	return n;
}

static long call_fdinfo(const struct call *c)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", run.fd[c->file]);
	return read_all(path);
}

static long call_debugfs(const struct call *c)
{
	static const char * const names[] = {
		DEBUGFS "files", DEBUGFS "bases", DEBUGFS "lateness",
	};

	return read_all(names[c->n % ARRAY_SIZE(names)]);
}

/* Send a descriptor to itself, or leave it in a socket that is closed. */
static long call_pass(const struct call *c)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&m);
	int pair[2], fd = run.fd[c->file];
	long ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	ret = result(sendmsg(pair[0], &m, MSG_NOSIGNAL));
	if (ret > 0 && !(c->n & 1)) {
		ret = result(recvmsg(pair[1], &m, MSG_DONTWAIT));
		cmsg = CMSG_FIRSTHDR(&m);
		if (ret > 0 && cmsg) {
			memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
			replace(&run.fd[c->file], fd);
		}
	}
	close(pair[0]);
	close(pair[1]);
	return ret;
}

/* Calls that the device does not support. */
static long call_other(struct worker *w, const struct call *c)
{
	int fd = run.fd[c->file];

	switch (c->n % 5) {
	case 0:
		return result(write(fd, w->arena, 64));
	case 1:
		return result(lseek(fd, c->n, SEEK_SET));
	case 2:
		return result(pread(fd, w->arena, 64, 0));
	case 3:
		return result(ftruncate(fd, c->n));
	default:
		return mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) ==
		       MAP_FAILED ? -errno : 0;
	}
}

/* Change the page of another thread, or of this one. */
static long call_page(const struct call *c)
{
	char *page = run_worker(c->key % THREADS)->arena +
		     ARENA_CHANGING * PAGE;
	static const int modes[] = { PROT_NONE, PROT_READ };
	unsigned int i;

	if (c->n % 4 == 3)
		return result(madvise(page, PAGE, MADV_DONTNEED));
	for (i = 0; i <= c->n % 8; i++) {
		mprotect(page, PAGE, modes[c->value & 1]);
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	}
	return 0;
}

static long call_sleep(const struct call *c)
{
	struct timespec ts = { .tv_nsec = c->n * 10000 };

	if (c->key & 1)
		return sched_yield();
	return result(nanosleep(&ts, NULL));
}

/* Fork a child that makes the rest of this thread's calls, and may be killed. */
static long call_fork(struct worker *w, unsigned int i)
{
	const struct program *p = run.program;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (++i < p->n)
			if (p->call[i].thread == w->number &&
			    !run.outcome[i].by)
				call_run(w, i);
		_exit(0);
	}
	if (p->call[i].n & 1)
		kill(pid, SIGKILL);
	/* A signal means that the program must end. */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		kill(pid, SIGKILL);
	return 0;
}

static long call_settime(const struct call *c)
{
	static const long steps[] = { 1, -1, 60, -60, 7200, -7200, 0, 30 };
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += steps[c->n % 8];
	return result(clock_settime(CLOCK_REALTIME, &ts));
}

static long write_parameter(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	long ret;

	if (fd < 0)
		return -errno;
	ret = result(write(fd, value, strlen(value)));
	close(fd);
	return ret;
}

/* The limit stays until the end of the program. Other programs may meet it too. */
static long call_parameter(const struct call *c)
{
	static const char * const values[] = { "1", "64", "300", "1000" };

	if (access(MAX_PER_FILE, W_OK))
		return -errno;
	run.limits->lowered |= 1U << run.process;
	run.limits->changes++;
	return write_parameter(c->key & 1 ? MAX_PER_FILE : MAX_PER_USER,
			       values[c->n % 4]);
}

/* The program of a process has ended. */
void limits_restore(struct limits *limits, unsigned int process)
{
	if (!(limits->lowered & 1U << process))
		return;
	write_parameter(MAX_PER_FILE, "1000000");
	write_parameter(MAX_PER_USER, "4000000");
	limits->changes++;
	limits->lowered &= ~(1U << process);
}

long around_call(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];

	switch (c->kind) {
	case K_POLL:	return call_poll(w, c);
	case K_EPOLL:	return call_epoll(c);
	case K_FDINFO:	return call_fdinfo(c);
	case K_OPEN:	return call_open(c);
	case K_CLOSE:	return replace(&run.fd[c->file], -1);
	case K_DUP:
		return replace(&run.fd[c->file],
			       fcntl(run.fd[c->key], F_DUPFD_CLOEXEC, 0));
	case K_PASS:	return call_pass(c);
	case K_OTHER:	return call_other(w, c);
	case K_PAGE:	return call_page(c);
	case K_SLEEP:	return call_sleep(c);
	case K_FORK:	return call_fork(w, i);
	case K_SIGNAL:
		return result(syscall(SYS_tgkill, getpid(),
				      run_worker(c->key)->tid, SIGUSR1));
	case K_SETTIME:	return call_settime(c);
	case K_PARAMETER: return call_parameter(c);
	default:	return call_debugfs(c);
	}
}
