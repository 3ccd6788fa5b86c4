// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * device.c - the operations of /dev/callout as functions
 *
 * Each is one system call and keeps no state, so any number of threads may call
 * them concurrently, also for the same file.
 */
/* syscall() is not declared for programs that ask for POSIX alone. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libcallout.h"

#define NSEC_PER_SEC	1000000000ULL

/*
 * For 32-bit programs whose headers lack it. The number is the same on all but
 * MIPS, whose headers have it.
 */
#ifndef __NR_clock_gettime64
#define __NR_clock_gettime64	403
#endif

struct timespec64 {
	__s64 sec;
	__s64 nsec;
};

static int do_ioctl(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int callout_dev_open(int flags)
{
	int fd;

	if (flags & ~O_NONBLOCK)
		return -EINVAL;
	fd = open(CALLOUT_DEVICE, O_RDWR | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

int callout_dev_do(int fd, struct callout_op *op)
{
	return do_ioctl(fd, CALLOUT_IOC_OP, op);
}

int callout_dev_set(int fd, __u64 time, __u64 cookie, callout_handle_t *handle)
{
	struct callout_op op = callout_op_set(time, cookie);
	int ret = callout_dev_do(fd, &op);

	if (!ret)
		*handle = op.handle;
	return ret;
}

int callout_dev_cancel(int fd, callout_handle_t handle)
{
	struct callout_op op = callout_op_cancel(handle);

	return callout_dev_do(fd, &op);
}

int callout_dev_cancel_matching(int fd, __u64 cookie, __u64 mask)
{
	struct callout_match match = { .cookie = cookie, .mask = mask };

	return do_ioctl(fd, CALLOUT_IOC_CANCEL_MATCHING, &match);
}

int callout_dev_batch(int fd, struct callout_batch *batch)
{
	int ret;

	batch->done = 0;
	batch->failed = 0;
	batch->got = 0;
	ret = do_ioctl(fd, CALLOUT_IOC_BATCH, batch);
	return ret < 0 ? ret : (int)batch->got;
}

int callout_dev_read(int fd, struct callout_event *events,
		     unsigned int nr_events)
{
	ssize_t n = read(fd, events, nr_events * sizeof(*events));

	return n < 0 ? -errno : (int)(n / sizeof(*events));
}

int callout_dev_list(int fd, __u64 *cursor, struct callout_entry *entries,
		     unsigned int nr_entries)
{
	struct callout_list list = {
		.entries = (uintptr_t)entries,
		.cursor = *cursor,
		.nr_entries = nr_entries,
		.entry_size = sizeof(*entries),
	};
	int ret = do_ioctl(fd, CALLOUT_IOC_LIST, &list);

	if (ret < 0)
		return ret;
	*cursor = list.cursor;
	return list.got;
}

int callout_dev_list_one(int fd, __u32 flags, __u64 name,
			 struct callout_entry *entry)
{
	struct callout_list list = {
		.entries = (uintptr_t)entry,
		.cursor = name,
		.nr_entries = 1,
		.entry_size = sizeof(*entry),
		.flags = flags,
	};

	/* Without a flag, LIST would begin a page. */
	if (!flags)
		return -EINVAL;
	return do_ioctl(fd, CALLOUT_IOC_LIST, &list);
}

int callout_dev_limit(int fd, __u64 limit)
{
	struct callout_limit arg = { .max_outstanding = limit };

	return do_ioctl(fd, CALLOUT_IOC_LIMIT, &arg);
}

int callout_dev_info(int fd, struct callout_info *info)
{
	return do_ioctl(fd, CALLOUT_IOC_INFO, info);
}

/*
 * A time_t of 32 bits ends in 2038: then clock_gettime() fails or the time wraps,
 * depending on the C library. The system call for 64 bits does neither. A system
 * call filter that is older than that call may refuse it.
 */
static int read_clock(clockid_t clockid, struct timespec64 *time)
{
	struct timespec ts;

	if (sizeof(ts.tv_sec) < sizeof(time->sec) &&
	    !syscall(__NR_clock_gettime64, clockid, time))
		return 0;
	if (clock_gettime(clockid, &ts))
		return -1;
	time->sec = ts.tv_sec;
	time->nsec = ts.tv_nsec;
	return 0;
}

/* An alarm clock shows the same time as this clock, which can be read without an RTC too. */
static clockid_t readable(clockid_t clockid)
{
	switch (clockid) {
	case CLOCK_BOOTTIME_ALARM:
		return CLOCK_BOOTTIME;
	case CLOCK_REALTIME_ALARM:
		return CLOCK_REALTIME;
	}
	return clockid;
}

__u64 callout_now(clockid_t clockid)
{
	struct timespec64 time;

	if (read_clock(readable(clockid), &time))
		return 0;
	return time.sec * NSEC_PER_SEC + time.nsec;
}
