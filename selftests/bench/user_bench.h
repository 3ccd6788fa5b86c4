/* SPDX-License-Identifier: GPL-2.0 */
/*
 * user_bench.h - declarations that user_bench and its facilities share
 */
#ifndef _CALLOUT_USER_BENCH_H
#define _CALLOUT_USER_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/types.h>

#include "check.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define NSEC_PER_SEC	1000000000ULL
#define NSEC_PER_MSEC	1000000ULL

/* The maximum number of timers of the device, of other facilities, and of one call. */
#define MAX_CALLOUTS	1000000U
#define MAX_TIMERS	120000U
#define MAX_CALL	1024U

/**
 * struct facility - a way for a program to have many timers
 * @name: callout, timerfd, posix or io_uring
 * @mode: single, batch64, batch1024, uring or uring64
 * @batch: operations to a call, and events to a read
 * @open: prepare for timers 0 to @n - 1; none is armed
 * @arm: arm @n timers from @first on, one or @batch to a call; time[i] is for
 *	timer @first + i, from now on or, if @absolute, of CLOCK_MONOTONIC
 * @disarm: disarm armed timers
 * @rearm: give armed timers other times
 * @watch: optional; prepare for @collect
 * @collect: receive expirations, at most MAX_CALL and at least one if there is one; return how many
 *
 * All end the process on an error. Their memory is freed with the process.
 */
struct facility {
	const char *name;
	const char *mode;
	unsigned int batch;
	void (*open)(const struct facility *f, unsigned int n);
	void (*arm)(const struct facility *f, unsigned int first,
		    unsigned int n, const __u64 *time, bool absolute);
	void (*disarm)(const struct facility *f, unsigned int first,
		       unsigned int n);
	void (*rearm)(const struct facility *f, unsigned int first,
		      unsigned int n, const __u64 *time);
	void (*watch)(unsigned int n);
	unsigned int (*collect)(const struct facility *f);
};

extern const struct facility callout_single, callout_batch64, callout_batch1024;
extern const struct facility timerfd_single, posix_single, uring_single;
extern const struct facility callout_uring, callout_uring64;

void uring_open_device(int fd);
int uring_command(__u32 cmd_op, const void *arg);

#endif /* _CALLOUT_USER_BENCH_H */
