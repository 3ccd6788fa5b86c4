/* SPDX-License-Identifier: GPL-2.0 */
/*
 * device.h - the operations of /dev/callout as C functions
 *
 * Each does one system call and nothing else. They return what the device
 * returns, or the negative errno.
 */
#ifndef _CALLOUT_TOOLS_DEVICE_H
#define _CALLOUT_TOOLS_DEVICE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/callout.h>

#define CALLOUT_DEVICE		"/dev/callout"

#define CALLOUT_NSEC_PER_SEC	1000000000ULL
#define CALLOUT_NSEC_PER_MSEC	1000000ULL

static inline __u64 callout_dev_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * CALLOUT_NSEC_PER_SEC + ts.tv_nsec;
}

static inline int callout_dev_open(int flags)
{
	int fd = open(CALLOUT_DEVICE, O_RDWR | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static inline int callout_dev_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

static inline int callout_dev_set(int fd, __u32 flags, __u64 time,
				  __u64 cookie, __u64 *handle)
{
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.flags = flags,
		.clockid = CLOCK_MONOTONIC,
		.time = time,
		.cookie = cookie,
	};
	int ret = callout_dev_ioctl(fd, CALLOUT_IOC_SET, &op);

	if (!ret)
		*handle = op.handle;
	return ret;
}

static inline int callout_dev_unset(int fd, __u64 handle)
{
	struct callout_op op = {
		.op = CALLOUT_OP_UNSET,
		.handle = handle,
	};

	return callout_dev_ioctl(fd, CALLOUT_IOC_UNSET, &op);
}

static inline int callout_dev_timeout(int fd, __u32 flags, __u64 time,
				      __u64 func, __u64 arg, __u64 *handle)
{
	struct callout_op op = {
		.op = CALLOUT_OP_TIMEOUT,
		.flags = flags,
		.clockid = CLOCK_MONOTONIC,
		.time = time,
		.cookie = arg,
		.func = func,
	};
	int ret = callout_dev_ioctl(fd, CALLOUT_IOC_TIMEOUT, &op);

	if (!ret)
		*handle = op.handle;
	return ret;
}

/* With @handle 0: the one of all with (@func, @arg) that is due first. */
static inline int callout_dev_untimeout(int fd, __u64 func, __u64 arg,
					__u64 handle)
{
	struct callout_op op = {
		.op = CALLOUT_OP_UNTIMEOUT,
		.handle = handle,
		.cookie = arg,
		.func = func,
	};

	return callout_dev_ioctl(fd, CALLOUT_IOC_UNTIMEOUT, &op);
}

static inline int callout_dev_info(int fd, struct callout_info *info)
{
	return callout_dev_ioctl(fd, CALLOUT_IOC_INFO, info);
}

/* Returns the number of events. */
static inline int callout_dev_read(int fd, struct callout_event *events,
				   size_t n)
{
	ssize_t ret = read(fd, events, n * sizeof(*events));

	return ret < 0 ? -errno : (int)(ret / sizeof(*events));
}

#endif /* _CALLOUT_TOOLS_DEVICE_H */
