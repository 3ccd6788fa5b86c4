// SPDX-License-Identifier: GPL-2.0
/*
 * user_uring.c - io_uring for user_bench: its timeouts, and commands of the device
 *
 * Each operation is a submission, as in a program that sets one timer at a
 * time. Completions run when the ring is entered, which is the cheapest mode.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "lib/device.h"
#include "user_bench.h"

#define ENTRIES		64U
#define COMPLETIONS	32768U

/* Bit in user_data of operations on a timer. The user_data of a timer is its number. */
#define ON_TIMER	(1ULL << 32)

static int ring;
static struct io_uring_sqe *sqes;
static unsigned int *sq_tail, *sq_array, *cq_head, *cq_tail;
static unsigned int sq_mask, cq_mask;
static struct io_uring_cqe *cqes;

/* Results of a timer that has expired, and of an operation on a timer. */
static int expired, done;

static void *map(size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, ring, offset);

	check(p != MAP_FAILED, "mapping a ring");
	return p;
}

static void uring_open(const struct facility *f, unsigned int n)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN,
		.cq_entries = COMPLETIONS,
	};
	char *sq, *cq;

	(void)f;
	(void)n;
	expired = -ETIME;
	done = 0;
	ring = syscall(__NR_io_uring_setup, ENTRIES, &p);
	check(ring >= 0, "io_uring_setup");
	sq = map(p.sq_off.array + p.sq_entries * sizeof(*sq_array),
		 IORING_OFF_SQ_RING);
	cq = map(p.cq_off.cqes + p.cq_entries * sizeof(*cqes),
		 IORING_OFF_CQ_RING);
	sqes = map(p.sq_entries * sizeof(*sqes), IORING_OFF_SQES);
	sq_tail = (unsigned int *)(sq + p.sq_off.tail);
	sq_array = (unsigned int *)(sq + p.sq_off.array);
	sq_mask = p.sq_entries - 1;
	cq_head = (unsigned int *)(cq + p.cq_off.head);
	cq_tail = (unsigned int *)(cq + p.cq_off.tail);
	cq_mask = p.cq_entries - 1;
	cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
}

static struct io_uring_sqe *next_sqe(void)
{
	unsigned int at = *sq_tail & sq_mask;

	sq_array[at] = at;
	sqes[at] = (struct io_uring_sqe){ .fd = -1 };
	return &sqes[at];
}

/* Submit the entry of next_sqe() and wait for @completions completions. */
static void submit(unsigned int completions)
{
	__atomic_store_n(sq_tail, *sq_tail + 1, __ATOMIC_RELEASE);
	check(syscall(__NR_io_uring_enter, ring, 1, completions,
		      completions ? IORING_ENTER_GETEVENTS : 0, NULL, 0) == 1,
	      "io_uring_enter");
}

/* Take completions. Return how many are timers that expired. */
static unsigned int reap(void)
{
	unsigned int head = *cq_head, n = 0;

	for (; head != __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE); head++) {
		struct io_uring_cqe *cqe = &cqes[head & cq_mask];

		if (cqe->user_data & ON_TIMER)
			check(cqe->res == done, "an operation on a timer");
		else if (cqe->res == expired)
			n++;
		else
			check(cqe->res == -ECANCELED, "a timer");
	}
	__atomic_store_n(cq_head, head, __ATOMIC_RELEASE);
	return n;
}

static struct __kernel_timespec spec(__u64 time)
{
	return (struct __kernel_timespec){
		.tv_sec = time / NSEC_PER_SEC,
		.tv_nsec = time % NSEC_PER_SEC,
	};
}

static void uring_arm(const struct facility *f, unsigned int first,
		      unsigned int n, const __u64 *time, bool absolute)
{
	struct __kernel_timespec ts;
	struct io_uring_sqe *sqe;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		ts = spec(time[i]);
		sqe = next_sqe();
		sqe->opcode = IORING_OP_TIMEOUT;
		sqe->addr = (uintptr_t)&ts;
		sqe->len = 1;
		sqe->timeout_flags = absolute ? IORING_TIMEOUT_ABS : 0;
		sqe->user_data = first + i;
		submit(0);
	}
}

static void uring_disarm(const struct facility *f, unsigned int first,
			 unsigned int n)
{
	struct io_uring_sqe *sqe;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		sqe = next_sqe();
		sqe->opcode = IORING_OP_TIMEOUT_REMOVE;
		sqe->addr = first + i;
		sqe->user_data = ON_TIMER;
		/* The completions of the operation and of the timeout. */
		submit(2);
		check(!reap(), "a timer came early");
	}
}

static void uring_rearm(const struct facility *f, unsigned int first,
			unsigned int n, const __u64 *time)
{
	struct __kernel_timespec ts;
	struct io_uring_sqe *sqe;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		ts = spec(time[i]);
		sqe = next_sqe();
		sqe->opcode = IORING_OP_TIMEOUT_REMOVE;
		sqe->addr = first + i;
		sqe->addr2 = (uintptr_t)&ts;
		sqe->timeout_flags = IORING_TIMEOUT_UPDATE;
		sqe->user_data = ON_TIMER;
		submit(1);
		check(!reap(), "a timer came early");
	}
}

static unsigned int uring_collect(const struct facility *f)
{
	(void)f;
	check(syscall(__NR_io_uring_enter, ring, 0, 0, IORING_ENTER_GETEVENTS,
		      NULL, 0) >= 0, "io_uring_enter");
	return reap();
}

const struct facility uring_single = {
	.name = "io_uring",
	.mode = "single",
	.batch = 1,
	.open = uring_open,
	.arm = uring_arm,
	.disarm = uring_disarm,
	.rearm = uring_rearm,
	.collect = uring_collect,
};

/* Make a ring with the device as its only registered file. */
void uring_open_device(int fd)
{
	uring_open(NULL, 0);
	check(!syscall(__NR_io_uring_register, ring, IORING_REGISTER_FILES, &fd,
		       1), "registering the device");
}

static void command_open(const struct facility *f, unsigned int n)
{
	int fd = dev_open(O_NONBLOCK);

	(void)f;
	(void)n;
	check(fd >= 0, "opening " CALLOUT_DEVICE);
	uring_open_device(fd);
	expired = 0;
	done = CALLOUT_STATE_PENDING;
}

/* Submit a command of the device and wait for @completions. */
static void submit_command(__u32 cmd_op, const void *arg, __u64 user_data,
			   unsigned int completions)
{
	struct io_uring_sqe *sqe = next_sqe();

	sqe->opcode = IORING_OP_URING_CMD;
	sqe->flags = IOSQE_FIXED_FILE;
	sqe->fd = 0;
	sqe->cmd_op = cmd_op;
	sqe->addr = (uintptr_t)arg;
	sqe->user_data = user_data;
	submit(completions);
}

/* As submit_command(), for a command that completes alone. Return its result. */
int uring_command(__u32 cmd_op, const void *arg)
{
	unsigned int head = *cq_head;
	int ret;

	submit_command(cmd_op, arg, 0, 1);
	check(__atomic_load_n(cq_tail, __ATOMIC_ACQUIRE) == head + 1,
	      "one completion");
	ret = cqes[head & cq_mask].res;
	__atomic_store_n(cq_head, head + 1, __ATOMIC_RELEASE);
	return ret;
}

static void command(struct callout_op *op, unsigned int key, __u64 user_data,
		    unsigned int completions)
{
	op->flags |= CALLOUT_OPF_KEY;
	op->key = key;
	submit_command(CALLOUT_IOC_OP, op, user_data, completions);
}

static void command_arm(const struct facility *f, unsigned int first,
			unsigned int n, const __u64 *time, bool absolute)
{
	struct callout_op op;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		op = callout_op_set(time[i], 0);
		op.flags = CALLOUT_OPF_ONLY_NEW |
			   (absolute ? CALLOUT_OPF_ABSTIME : 0);
		command(&op, first + i, first + i, 0);
	}
}

static void command_disarm(const struct facility *f, unsigned int first,
			   unsigned int n)
{
	struct callout_op op;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		op = callout_op_cancel(0);
		command(&op, first + i, ON_TIMER, 2);
		check(!reap(), "a timer came early");
	}
}

static void command_rearm(const struct facility *f, unsigned int first,
			  unsigned int n, const __u64 *time)
{
	struct callout_op op;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		op = callout_op_move(0, time[i]);
		command(&op, first + i, ON_TIMER, 1);
		check(!reap(), "a timer came early");
	}
}

const struct facility callout_uring = {
	.name = "callout",
	.mode = "uring",
	.batch = 1,
	.open = command_open,
	.arm = command_arm,
	.disarm = command_disarm,
	.rearm = command_rearm,
	.collect = uring_collect,
};
