/* SPDX-License-Identifier: GPL-2.0 */
/*
 * common.h - what the tests of /dev/callout share
 *
 * No test depends on how fast anything is. That a callout fires is waited for
 * up to WAIT_MS, a time that only a lost callout exceeds; that none fires
 * early is what clocks say, not how long a test slept.
 */
#ifndef _CALLOUT_SELFTESTS_COMMON_H
#define _CALLOUT_SELFTESTS_COMMON_H

#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device.h"

#define WAIT_MS		20000
#define MSEC		CALLOUT_NSEC_PER_MSEC
#define SEC		CALLOUT_NSEC_PER_SEC
#define HOUR		(3600 * SEC)

#define TIME_MAX	(~0ULL >> 1)

#define PARAMETER	"/sys/module/callout/parameters/max_per_file"

static inline void sleep_ns(__u64 ns)
{
	struct timespec ts = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

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
 * Receives @n events, or fewer if WAIT_MS pass without one. @fd is
 * non-blocking. Returns how many, or an error.
 */
static inline int receive(int fd, struct callout_event *events, int n)
{
	int ret, got = 0;

	while (got < n && readable_within(fd, WAIT_MS)) {
		ret = callout_dev_read(fd, events + got, n - got);
		if (ret == -EAGAIN)
			continue;
		if (ret < 0)
			return ret;
		got += ret;
	}
	return got;
}

/* Waits until @n of the file's callouts have fired and are unread. */
static inline bool wait_unread(int fd, __u64 n)
{
	__u64 limit = callout_dev_now() + WAIT_MS * MSEC;
	struct callout_info info;

	do {
		if (callout_dev_info(fd, &info))
			return false;
		if (info.unread == n)
			return true;
		sleep_ns(MSEC);
	} while (callout_dev_now() < limit);
	return false;
}

static inline struct callout_info info_of(int fd)
{
	struct callout_info info = { 0 };

	callout_dev_info(fd, &info);
	return info;
}

static inline bool pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

static inline bool read_parameter(unsigned int *value)
{
	FILE *f = fopen(PARAMETER, "r");
	bool ok = f && fscanf(f, "%u", value) == 1;

	if (f)
		fclose(f);
	return ok;
}

static inline bool write_parameter(unsigned int value)
{
	FILE *f = fopen(PARAMETER, "w");
	bool ok = f && fprintf(f, "%u\n", value) > 0;

	return f && !fclose(f) && ok;
}

/* Opens a file whose limit is @limit; other files are not affected. */
static inline int open_with_limit(unsigned int limit, int flags)
{
	unsigned int saved;
	int fd;

	if (!read_parameter(&saved) || !write_parameter(limit))
		return -EACCES;
	fd = callout_dev_open(flags);
	return write_parameter(saved) ? fd : -EACCES;
}

#endif /* _CALLOUT_SELFTESTS_COMMON_H */
