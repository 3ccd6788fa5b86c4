// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * device.c - the operations of /dev/callout as functions
 *
 * Each is one system call without state of its own: any number of threads may
 * call them, for the same file too.
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

/* Of 32-bit programs, where the headers do not know it: the same on all but MIPS, whose do. */
#ifndef __NR_clock_gettime64
#define __NR_clock_gettime64	403
#endif

struct timespec64 {
	__s64 sec;
	__s64 nsec;
};

/* By the opcode. */
static const unsigned long op_requests[] = {
	[CALLOUT_OP_SET] = CALLOUT_IOC_SET,
	[CALLOUT_OP_UNSET] = CALLOUT_IOC_UNSET,
	[CALLOUT_OP_RESET] = CALLOUT_IOC_RESET,
	[CALLOUT_OP_TIMEOUT] = CALLOUT_IOC_TIMEOUT,
	[CALLOUT_OP_UNTIMEOUT] = CALLOUT_IOC_UNTIMEOUT,
};

static int do_ioctl(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int callout_open(int flags)
{
	int fd;

	if (flags & ~O_NONBLOCK)
		return -EINVAL;
	fd = open(CALLOUT_DEVICE, O_RDWR | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

int callout_do(int fd, struct callout_op *op)
{
	if (op->op < CALLOUT_OP_SET || op->op > CALLOUT_OP_UNTIMEOUT)
		return -EINVAL;
	return do_ioctl(fd, op_requests[op->op], op);
}

static int do_set(int fd, struct callout_op op, callout_handle_t *handle)
{
	int ret = callout_do(fd, &op);

	if (!ret)
		*handle = op.handle;
	return ret;
}

int callout_set(int fd, __u64 time, __u64 cookie, callout_handle_t *handle)
{
	return do_set(fd, callout_op_set(time, cookie), handle);
}

int callout_set_at(int fd, clockid_t clockid, __u64 time, __u64 cookie,
		   callout_handle_t *handle)
{
	struct callout_op op = callout_op_set(time, cookie);

	op.clockid = clockid;
	op.flags = CALLOUT_ABSTIME;
	return do_set(fd, op, handle);
}

int callout_set_every(int fd, __u64 period, __u64 cookie,
		      callout_handle_t *handle)
{
	struct callout_op op = callout_op_set(period, cookie);

	if (!period)
		return -EINVAL;
	op.period = period;
	return do_set(fd, op, handle);
}

int callout_unset(int fd, callout_handle_t handle)
{
	struct callout_op op = callout_op_unset(handle);

	return callout_do(fd, &op);
}

int callout_reset(int fd, callout_handle_t handle, __u64 time)
{
	struct callout_op op = callout_op_reset(handle, time);

	return callout_do(fd, &op);
}

int callout_reset_at(int fd, callout_handle_t handle, __u64 time)
{
	struct callout_op op = callout_op_reset(handle, time);

	op.flags = CALLOUT_ABSTIME;
	return callout_do(fd, &op);
}

int callout_timeout(int fd, __u64 func, __u64 arg, __u64 time,
		    callout_handle_t *handle)
{
	return do_set(fd, callout_op_timeout(func, arg, time), handle);
}

int callout_untimeout(int fd, __u64 func, __u64 arg, callout_handle_t handle)
{
	struct callout_op op = callout_op_untimeout(func, arg, handle);

	return callout_do(fd, &op);
}

int callout_set_key(int fd, __u64 key, __u64 time)
{
	struct callout_op op = callout_op_key(callout_op_set(time, 0), key);

	return callout_do(fd, &op);
}

int callout_unset_key(int fd, __u64 key)
{
	struct callout_op op = callout_op_key(callout_op_unset(0), key);

	return callout_do(fd, &op);
}

int callout_cancel(int fd, __u64 cookie, __u64 mask)
{
	struct callout_cancel arg = { .cookie = cookie, .mask = mask };

	return do_ioctl(fd, CALLOUT_IOC_CANCEL, &arg);
}

static int do_get(int fd, struct callout_entry arg, struct callout_entry *entry)
{
	int ret = do_ioctl(fd, CALLOUT_IOC_GET, &arg);

	if (!ret)
		*entry = arg;
	return ret;
}

int callout_get(int fd, callout_handle_t handle, struct callout_entry *entry)
{
	return do_get(fd, (struct callout_entry){ .handle = handle }, entry);
}

int callout_get_key(int fd, __u64 key, struct callout_entry *entry)
{
	return do_get(fd, (struct callout_entry){
		.handle = key,
		.flags = CALLOUT_KEY,
	}, entry);
}

int callout_list(int fd, __u64 *cursor, struct callout_entry *entries,
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

int callout_batch_submit(int fd, struct callout_batch *batch)
{
	int ret;

	batch->done = 0;
	batch->failed = 0;
	batch->got = 0;
	ret = do_ioctl(fd, CALLOUT_IOC_BATCH, batch);
	return ret < 0 ? ret : (int)batch->got;
}

int callout_read(int fd, struct callout_event *events, unsigned int nr_events)
{
	ssize_t n = read(fd, events, nr_events * sizeof(*events));

	return n < 0 ? -errno : (int)(n / sizeof(*events));
}

int callout_unread_bytes(int fd)
{
	int bytes, ret = do_ioctl(fd, FIONREAD, &bytes);

	return ret < 0 ? ret : bytes;
}

int callout_get_next(int fd, clockid_t clockid, __u64 *due)
{
	struct callout_next next = { .clockid = clockid };
	int ret = do_ioctl(fd, CALLOUT_IOC_NEXT, &next);

	if (!ret)
		*due = next.due;
	return ret;
}

int callout_get_info(int fd, struct callout_info *info)
{
	return do_ioctl(fd, CALLOUT_IOC_INFO, info);
}

int callout_set_limit(int fd, __u64 limit)
{
	struct callout_limit arg = { .max_outstanding = limit };

	return do_ioctl(fd, CALLOUT_IOC_LIMIT, &arg);
}

int callout_set_eventfd(int fd, int eventfd)
{
	struct callout_eventfd arg = { .fd = eventfd };

	return do_ioctl(fd, CALLOUT_IOC_EVENTFD, &arg);
}

/*
 * A time_t of 32 bits ends in 2038: then clock_gettime() fails, or the time wraps,
 * as the C library has it. The system call for 64 bits does neither; a filter of
 * system calls that is older than it may refuse it.
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

/* An alarm clock shows the same as this one, which can be read without an RTC too. */
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
