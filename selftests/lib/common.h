/* SPDX-License-Identifier: GPL-2.0 */
/*
 * common.h - helpers of the tests of /dev/callout
 *
 * No test depends on speed. Tests wait for the next callout up to WAIT_MS, which
 * only a lost callout exceeds. They read clocks to see that no callout fires
 * early. How long a test slept proves nothing.
 */
#ifndef _CALLOUT_SELFTESTS_COMMON_H
#define _CALLOUT_SELFTESTS_COMMON_H

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "device.h"

#define WAIT_MS		20000

/*
 * Seconds after which the harness ends a test as hung. Its default of 30 is too
 * short on a busy machine.
 */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	240

#define MSEC		CALLOUT_NSEC_PER_MSEC
#define SEC		CALLOUT_NSEC_PER_SEC
#define HOUR		(3600 * SEC)

#define TIME_MAX	(~0ULL >> 1)

#define PARAMETERS	"/sys/module/callout/parameters/"
#define PARAMETER_FILE	PARAMETERS "max_per_file"
#define PARAMETER_USER	PARAMETERS "max_per_user"

/* An unmapped address; the compiler must not know it. */
static inline void *nowhere(void)
{
	void *p = (void *)8;

	__asm__("" : "+r"(p));
	return p;
}

static inline int set_limit(int fd, __u64 limit)
{
	struct callout_limit arg = { .max_outstanding = limit };

	return dev_ioctl(fd, CALLOUT_IOC_LIMIT, &arg);
}

static inline int move(int fd, __u64 handle, __u64 time)
{
	struct callout_op op = callout_op_move(handle, time);

	return do_op(fd, &op);
}

/* Return the handle, or 0. */
static inline __u64 set(int fd, __u64 time, __u64 cookie)
{
	__u64 handle;

	return dev_set(fd, 0, time, cookie, &handle) ? 0 : handle;
}

static inline struct callout_batch batch_of(struct callout_op *ops,
					    unsigned int n)
{
	struct callout_batch batch;

	callout_batch_init(&batch, ops, n, NULL, 0);
	return batch;
}

/* A batch of @batch's operations that also reads up to @n events. */
static inline struct callout_batch with_events(struct callout_batch b,
					       struct callout_event *events,
					       unsigned int n, __u32 flags,
					       __u64 timeout)
{
	b.events = (uintptr_t)events;
	b.nr_events = n;
	b.flags = flags;
	b.time = timeout;
	if (flags & CALLOUT_BATCHF_WAIT)
		b.clockid = CLOCK_MONOTONIC;
	return b;
}

/* A batch that waits for one event and does nothing else. */
static inline struct callout_batch batch_wait(struct callout_event *e,
					      __u64 timeout)
{
	return with_events(batch_of(NULL, 0), e, 1, CALLOUT_BATCHF_WAIT,
			   timeout);
}

static inline int do_batch(int fd, struct callout_batch *b)
{
	return dev_ioctl(fd, CALLOUT_IOC_BATCH, b);
}

/* Submit a batch of @n operations. Return how many succeeded. */
static inline int do_ops(int fd, struct callout_op *ops, unsigned int n)
{
	struct callout_batch b = batch_of(ops, n);
	int ret = do_batch(fd, &b);

	return ret ? ret : (int)(b.done - b.failed);
}

/* A page of LIST: up to @n entries from *@cursor on. Returns how many, or an error. */
static inline int list_page(int fd, __u64 *cursor, struct callout_entry *entries,
			    unsigned int n)
{
	struct callout_list list = {
		.entries = (uintptr_t)entries,
		.cursor = *cursor,
		.nr_entries = n,
		.entry_size = sizeof(*entries),
	};
	int ret = dev_ioctl(fd, CALLOUT_IOC_LIST, &list);

	*cursor = list.cursor;
	return ret ? ret : (int)list.got;
}

/* LIST of the callout that @name names, as @flags say. */
static inline int list_one(int fd, __u32 flags, __u64 name, struct callout_entry *entry)
{
	struct callout_list list = {
		.entries = (uintptr_t)entry,
		.cursor = name,
		.nr_entries = 1,
		.entry_size = sizeof(*entry),
		.flags = flags,
	};

	return dev_ioctl(fd, CALLOUT_IOC_LIST, &list);
}

/* Return when the earliest pending callout of @clock is due; ~0ULL if there is none. */
static inline __u64 next_due(int fd, clockid_t clock)
{
	struct callout_entry e[64];
	__u64 cursor = 0, due = ~0ULL;
	int i, n;

	do {
		n = list_page(fd, &cursor, e, 64);
		for (i = 0; i < n; i++)
			if (e[i].state == CALLOUT_STATE_PENDING &&
			    e[i].clockid == clock && e[i].due < due)
				due = e[i].due;
	} while (n >= 0 && cursor);
	return due;
}

static inline void sleep_ns(__u64 ns)
{
	struct timespec ts = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Sleep until @cond. False if that takes longer than WAIT_MS. */
#define wait_until(cond)						\
({									\
	__u64 __limit = dev_now() + WAIT_MS * MSEC;			\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && dev_now() <= __limit)		\
		sleep_ns(MSEC);						\
	__ok;								\
})

/* Sleep until @value is @n. False if @value does not change within WAIT_MS. */
#define wait_value(value, n)						\
({									\
	__u64 __n = (n), __last = ~0ULL, __limit = 0, __now;		\
									\
	while ((__now = (value)) != __n) {				\
		if (__now != __last)					\
			__limit = dev_now() + WAIT_MS * MSEC;		\
		else if (dev_now() > __limit)				\
			break;						\
		__last = __now;						\
		sleep_ns(MSEC);						\
	}								\
	__now == __n;							\
})

static inline bool readable_within(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

static inline bool readable(int fd)
{
	return readable_within(fd, 0);
}

/*
 * Receive @n events, or fewer if WAIT_MS pass without one. Return how many,
 * or an error. @fd must be non-blocking.
 */
static inline int receive(int fd, struct callout_event *events, int n)
{
	int ret, got = 0;

	while (got < n && readable_within(fd, WAIT_MS)) {
		ret = dev_read(fd, events + got, n - got);
		if (ret == -EAGAIN)
			continue;
		if (ret < 0)
			return ret;
		got += ret;
	}
	return got;
}

/* Wait until @n events of the file are unread. */
static inline bool wait_unread(int fd, __u64 n)
{
	struct callout_info info;

	return wait_value(dev_info(fd, &info) ? ~0ULL : info.unread, n);
}

static inline struct callout_info info_of(int fd)
{
	struct callout_info info = { 0 };

	dev_info(fd, &info);
	return info;
}

/* The slack of a callout that is set without: a whole number of ticks. 0: an error. */
static inline __u64 default_slack(void)
{
	struct callout_entry entry = { 0 };
	int fd = dev_open(0);

	list_one(fd, CALLOUT_LISTF_HANDLE, set(fd, HOUR, 0), &entry);
	close(fd);
	return entry.slack;
}

/* Wait until this user's files together have @n callouts outstanding. */
static inline bool wait_user_outstanding(int fd, __u64 n)
{
	return wait_value(info_of(fd).user_charged, n);
}

static inline void on_signal(int sig)
{
	(void)sig;
}

/* Make @sig interrupt blocking calls. */
static inline bool interrupt_by(int sig, int flags)
{
	struct sigaction action = {
		.sa_handler = on_signal,
		.sa_flags = flags,
	};

	return !sigaction(sig, &action, NULL);
}

/*
 * Send SIGALRM every @us microseconds, or no more if @us is 0. A single signal
 * could come before the thread enters the call.
 */
static inline bool send_alarms(unsigned int us)
{
	struct itimerval timer = {
		.it_value.tv_usec = us,
		.it_interval.tv_usec = us,
	};

	return !setitimer(ITIMER_REAL, &timer, NULL);
}

static inline bool pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

/* The version of the kernel: 6012 is 6.12. 0 if it cannot be parsed. */
static inline unsigned int kernel_version(void)
{
	unsigned int major, minor;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return 0;
	return major * 1000 + minor;
}

/* Return the number after "NAME:" in a file's fdinfo, or -1. */
static inline long long fdinfo_number(int fd, const char *name)
{
	char path[64], line[256];
	size_t n = strlen(name);
	long long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, n) && line[n] == ':')
			value = strtoll(line + n + 1, NULL, 10);
	fclose(f);
	return value;
}

/* The counters of a file. */
struct counts {
	long long set, cancelled, withdrawn, delivered, reset, repeated;
};

static inline struct counts counts_of(int fd)
{
	return (struct counts){
		.set = fdinfo_number(fd, "set"),
		.cancelled = fdinfo_number(fd, "cancelled"),
		.withdrawn = fdinfo_number(fd, "withdrawn"),
		.delivered = fdinfo_number(fd, "delivered"),
		.reset = fdinfo_number(fd, "reset"),
		.repeated = fdinfo_number(fd, "repeated"),
	};
}

/* The state of a process: R, S and so on. */
static inline char state_of(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state;
}

/* Wait until a process sleeps. Return false if that takes too long. */
static inline bool sleeps(pid_t pid)
{
	return wait_until(state_of(pid) == 'S');
}

static inline bool kill_child(pid_t child)
{
	int status;

	return !kill(child, SIGKILL) && waitpid(child, &status, 0) == child &&
	       WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static inline bool read_number(const char *path, unsigned int *value)
{
	FILE *f = fopen(path, "r");
	bool ok = f && fscanf(f, "%u", value) == 1;

	if (f)
		fclose(f);
	return ok;
}

static inline bool write_number(const char *path, unsigned int value)
{
	FILE *f = fopen(path, "w");
	bool ok = f && fprintf(f, "%u\n", value) > 0;

	return f && !fclose(f) && ok;
}

/* Write all of a text with one call. If that fails, errno says why. */
static inline bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), saved;
	bool ok = fd >= 0 && write(fd, text, strlen(text)) ==
			     (ssize_t)strlen(text);

	saved = errno;
	if (fd >= 0)
		close(fd);
	errno = saved;
	return ok;
}

/* Open a file whose limit is @limit; other files are not affected. */
static inline int open_with_limit(unsigned int limit, int flags)
{
	unsigned int saved;
	int fd;

	if (!read_number(PARAMETER_FILE, &saved) ||
	    !write_number(PARAMETER_FILE, limit))
		return -EACCES;
	fd = dev_open(flags);
	return write_number(PARAMETER_FILE, saved) ? fd : -EACCES;
}

#endif /* _CALLOUT_SELFTESTS_COMMON_H */
