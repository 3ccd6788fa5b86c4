/* SPDX-License-Identifier: GPL-2.0 */
/*
 * device.h - the operations of /dev/callout as C functions
 *
 * Each does one system call and nothing else, and returns what the device
 * returns, or the negative errno. Operations are filled by libcallout.h; the
 * library's own calls would refuse some wrong arguments before the device does.
 */
#ifndef _CALLOUT_SELFTESTS_DEVICE_H
#define _CALLOUT_SELFTESTS_DEVICE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "libcallout.h"

#define CALLOUT_NSEC_PER_SEC	1000000000ULL
#define CALLOUT_NSEC_PER_MSEC	1000000ULL

static inline __u64 now_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * CALLOUT_NSEC_PER_SEC + ts.tv_nsec;
}

static inline __u64 dev_now(void)
{
	return now_of(CLOCK_MONOTONIC);
}

static inline int dev_open(int flags)
{
	int fd = open(CALLOUT_DEVICE, O_RDWR | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static inline int dev_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

static inline int do_op(int fd, struct callout_op *op)
{
	return dev_ioctl(fd, CALLOUT_IOC_OP, op);
}

/* SET or TIMEOUT with @flags. */
static inline int do_set(int fd, struct callout_op op, __u32 flags,
			 __u64 *handle)
{
	int ret;

	op.flags = flags;
	ret = do_op(fd, &op);
	if (!ret)
		*handle = op.handle;
	return ret;
}

static inline int dev_set(int fd, __u32 flags, __u64 time,
			  __u64 cookie, __u64 *handle)
{
	return do_set(fd, callout_op_set(time, cookie), flags, handle);
}

static inline int dev_cancel(int fd, __u64 handle)
{
	struct callout_op op = callout_op_cancel(handle);

	return do_op(fd, &op);
}

static inline int dev_timeout(int fd, __u32 flags, __u64 time,
			      __u64 func, __u64 arg, __u64 *handle)
{
	return do_set(fd, callout_op_timeout(func, arg, time), flags, handle);
}

/* If @handle is 0, cancel the first due of all callouts with (@func, @arg). */
static inline int dev_untimeout(int fd, __u64 func, __u64 arg,
				__u64 handle)
{
	struct callout_op op = callout_op_untimeout(func, arg, handle);

	return do_op(fd, &op);
}

static inline int dev_info(int fd, struct callout_info *info)
{
	return dev_ioctl(fd, CALLOUT_IOC_INFO, info);
}

/* Return the number of events. */
static inline int dev_read(int fd, struct callout_event *events,
			   size_t n)
{
	ssize_t ret = read(fd, events, n * sizeof(*events));

	return ret < 0 ? -errno : (int)(ret / sizeof(*events));
}

#endif /* _CALLOUT_SELFTESTS_DEVICE_H */
