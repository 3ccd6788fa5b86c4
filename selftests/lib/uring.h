/* SPDX-License-Identifier: GPL-2.0 */
/*
 * uring.h - a ring of io_uring, and commands of the device
 *
 * Where the kernel has no such commands, as CALLOUT_FEATURE_URING shows, tests do
 * nothing, except for one test, which checks that commands are refused.
 */
#ifndef _CALLOUT_SELFTESTS_URING_H
#define _CALLOUT_SELFTESTS_URING_H

#include <callout_uring.h>
#include <linux/time_types.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "common.h"

#define ENTRIES		1024U
#define PENDING		50

struct ring {
	int fd;
	bool polled;		/* a thread of the kernel submits */
	unsigned int step;	/* 2 if an entry takes the place of two */
	struct io_uring_params p;
	size_t size;
	char *rings;
	struct io_uring_sqe *sqes;
	unsigned int queued;
};

static inline bool ring_open_entries(struct ring *r, __u32 flags,
				     unsigned int entries)
{
	*r = (struct ring){
		.p = { .flags = flags, .sq_thread_idle = 10 },
		.polled = flags & IORING_SETUP_SQPOLL,
		.step = flags & IORING_SETUP_SQE128 ? 2 : 1,
	};
	r->fd = syscall(__NR_io_uring_setup, entries, &r->p);
	if (r->fd < 0)
		return false;
	r->size = r->p.cq_off.cqes +
		  r->p.cq_entries * sizeof(struct io_uring_cqe) +
		  r->p.sq_off.array + r->p.sq_entries * sizeof(__u32);
	r->rings = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			r->fd, IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, r->p.sq_entries * r->step * sizeof(*r->sqes),
		       PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		       IORING_OFF_SQES);
	return r->rings != MAP_FAILED && r->sqes != MAP_FAILED;
}

static inline bool ring_open(struct ring *r, __u32 flags)
{
	return ring_open_entries(r, flags, ENTRIES);
}

/* A ring lives as long as it is mapped. */
static inline bool ring_close(struct ring *r)
{
	return !munmap(r->rings, r->size) &&
	       !munmap(r->sqes,
		       r->p.sq_entries * r->step * sizeof(*r->sqes)) &&
	       !close(r->fd);
}

/*
 * May a task close a ring with commands pending? The lockdep of Linux 6.12 warns
 * that the ring completes the commands, if only the task itself should do so.
 */
static inline bool may_close(__u32 flags)
{
	return !(flags & IORING_SETUP_DEFER_TASKRUN) ||
	       access("/proc/lockdep", F_OK);
}

static inline atomic_uint *ring_word(struct ring *r, __u32 offset)
{
	return (void *)(r->rings + offset);
}

/* The next entry to fill, valid until it is submitted. The second half of a long entry is 0. */
static inline struct io_uring_sqe *next_entry(struct ring *r)
{
	unsigned int i = (*ring_word(r, r->p.sq_off.tail) + r->queued++) &
			 (r->p.sq_entries - 1);
	struct io_uring_sqe *sqe = &r->sqes[i * r->step];

	*ring_word(r, r->p.sq_off.array + i * sizeof(__u32)) = i;
	memset(sqe, 0, r->step * sizeof(*sqe));
	/* As if another request had been there. */
	memset(sqe, 0xff, sizeof(*sqe));
	return sqe;
}

static inline struct io_uring_sqe *queue(struct ring *r, int fd,
					 struct callout_op *op, __u64 user_data)
{
	struct io_uring_sqe *sqe = next_entry(r);

	callout_uring_prep_op(sqe, fd, op);
	sqe->user_data = user_data;
	return sqe;
}

static inline struct io_uring_sqe *queue_batch(struct ring *r, int fd,
					       struct callout_batch *batch,
					       __u64 user_data)
{
	struct io_uring_sqe *sqe = next_entry(r);

	callout_uring_prep_batch(sqe, fd, batch);
	sqe->user_data = user_data;
	return sqe;
}

/* Submit all that is queued, and wait until the kernel has read it. */
static inline bool submit(struct ring *r)
{
	unsigned int n = r->queued;
	unsigned int flags = r->polled ? IORING_ENTER_SQ_WAKEUP : 0;
	atomic_uint *head = ring_word(r, r->p.sq_off.head);
	atomic_uint *tail = ring_word(r, r->p.sq_off.tail);

	atomic_fetch_add(tail, n);
	r->queued = 0;
	if (syscall(__NR_io_uring_enter, r->fd, n, 0, flags, NULL, 0) != (long)n)
		return false;
	while (*head != *tail)
		sleep_ns(MSEC / 10);
	return true;
}

static inline bool submit_one(struct ring *r, int fd, struct callout_op *op,
			      __u64 user_data)
{
	queue(r, fd, op, user_data);
	return submit(r);
}

/*
 * Sleep in io_uring until the ring has @n completions, or has one and @ms have
 * passed. If @ms is -1, the harness ends the test as hung after a lost wake-up.
 * With a limit the task finds the completions all the same, only late.
 */
static inline bool wait_for(struct ring *r, unsigned int n, int ms)
{
	struct __kernel_timespec ts = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * (long)MSEC,
	};
	struct io_uring_getevents_arg arg = {
		.ts = ms < 0 ? 0 : (uintptr_t)&ts,
	};

	return !syscall(__NR_io_uring_enter, r->fd, 0, n,
			IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg,
			sizeof(arg));
}

/*
 * Sleep until the ring has a completion. With IORING_SETUP_DEFER_TASKRUN only a
 * task in io_uring completes, and Linux 6.12 before 6.12.115, 7.2, and 7.3 before
 * 7.3.2 wake no poll of the ring when there is something to complete.
 */
static inline bool wait_for_one(struct ring *r, int ms)
{
	if (r->p.flags & IORING_SETUP_DEFER_TASKRUN)
		return wait_for(r, 1, ms);
	return readable_within(r->fd, ms);
}

/* Return the result of the next completion, or -ETIME. */
static inline int complete(struct ring *r, __u64 *user_data, int ms)
{
	atomic_uint *head = ring_word(r, r->p.cq_off.head);
	atomic_uint *tail = ring_word(r, r->p.cq_off.tail);
	struct io_uring_cqe *cqe = (void *)(r->rings + r->p.cq_off.cqes);
	__u64 limit = dev_now() + ms * MSEC;
	int ret;

	while (*head == *tail) {
		if (dev_now() > limit || !wait_for_one(r, ms))
			return -ETIME;
	}
	cqe += *head & (r->p.cq_entries - 1);
	ret = cqe->res;
	if (user_data)
		*user_data = cqe->user_data;
	atomic_fetch_add(head, 1);
	return ret;
}

/* Two completions, in either order: @set with user_data 0, @other with user_data 1. */
static inline bool complete_both(struct ring *r, int set, int other)
{
	int ret[2] = { -ETIME, -ETIME };
	__u64 which;
	int i, res;

	for (i = 0; i < 2; i++) {
		res = complete(r, &which, WAIT_MS);
		if (res == -ETIME || which > 1)
			return false;
		ret[which] = res;
	}
	return ret[0] == set && ret[1] == other;
}

/* A command that makes a callout with a key. */
static inline struct callout_op set_op(__u64 time, __u64 key)
{
	struct callout_op op = callout_op_key(callout_op_set(time, 0), key);

	op.flags |= CALLOUT_OPF_ONLY_NEW;
	return op;
}

static inline struct callout_op cancel_op(__u64 key)
{
	return callout_op_key(callout_op_cancel(0), key);
}

static inline struct callout_op move_op(__u64 time, __u64 key)
{
	return callout_op_key(callout_op_move(0, time), key);
}

/* Set callouts in an hour with keys from @first on. */
static inline bool set_pending(struct ring *r, int fd, __u64 first, unsigned int n)
{
	static struct callout_op ops[PENDING];
	unsigned int i;

	for (i = 0; i < n; i++) {
		ops[i] = set_op(HOUR, first + i);
		queue(r, fd, &ops[i], first + i);
	}
	return submit(r);
}

/* Commands that another task submits, or ends, take effect some time later. */
static inline bool wait_outstanding(int fd, __u64 n)
{
	return wait_until(info_of(fd).outstanding == n);
}

/* Submit one entry, changed if @change is not NULL. Return its result. */
static inline int command(struct ring *r, int fd, struct callout_op *op,
			  void (*change)(struct io_uring_sqe *sqe))
{
	struct io_uring_sqe *sqe = queue(r, fd, op, 0);

	if (change)
		change(sqe);
	return submit(r) ? complete(r, NULL, WAIT_MS) : 0;
}

FIXTURE(uring_cmd) {
	int fd;
	bool works;
	struct ring ring;
};

FIXTURE_VARIANT(uring_cmd) {
	__u32 flags;
};

FIXTURE_VARIANT_ADD(uring_cmd, plain) { .flags = 0 };

FIXTURE_VARIANT_ADD(uring_cmd, deferred) {
	.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(uring_cmd, polled) { .flags = IORING_SETUP_SQPOLL };

FIXTURE_SETUP(uring_cmd)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	if (!ring_open(&self->ring, variant->flags))
		SKIP(return, "the kernel has no io_uring");
	self->works = info_of(self->fd).features & CALLOUT_FEATURE_URING;
}

FIXTURE_TEARDOWN(uring_cmd)
{
	close(self->fd);
	close(self->ring.fd);
}

#endif /* _CALLOUT_SELFTESTS_URING_H */
