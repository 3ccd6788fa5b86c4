// SPDX-License-Identifier: GPL-2.0
/*
 * user_callout.c - /dev/callout for user_bench: an ioctl each, and batches, also as
 * commands of io_uring
 */
#include "lib/device.h"
#include "user_bench.h"

static int fd;
static __u64 handle[MAX_CALLOUTS];
static struct callout_op ops[MAX_CALL];
static struct callout_event events[MAX_CALL];

static void open_device(const struct facility *f, unsigned int n)
{
	(void)f;
	(void)n;
	fd = dev_open(O_NONBLOCK);
	check(fd >= 0, "opening " CALLOUT_DEVICE);
}

static void fill_set(struct callout_op *op, unsigned int i, __u64 time,
		     bool absolute)
{
	*op = (struct callout_op){
		.op = CALLOUT_OP_SET,
		.flags = absolute ? CALLOUT_OPF_ABSTIME : 0,
		.clockid = CLOCK_MONOTONIC,
		.time = time,
		.cookie = i,
	};
}

static void fill_cancel(struct callout_op *op, unsigned int i)
{
	*op = (struct callout_op){
		.op = CALLOUT_OP_CANCEL,
		.handle = handle[i],
	};
}

static void fill_move(struct callout_op *op, unsigned int i, __u64 time)
{
	*op = (struct callout_op){
		.op = CALLOUT_OP_MOVE,
		.time = time,
		.handle = handle[i],
	};
}

static void arm_one(const struct facility *f, unsigned int first,
		    unsigned int n, const __u64 *time, bool absolute)
{
	struct callout_op op;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		fill_set(&op, first + i, time[i], absolute);
		check(!ioctl(fd, CALLOUT_IOC_OP, &op), "SET");
		handle[first + i] = op.handle;
	}
}

static void disarm_one(const struct facility *f, unsigned int first,
		       unsigned int n)
{
	struct callout_op op;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		fill_cancel(&op, first + i);
		check(ioctl(fd, CALLOUT_IOC_OP, &op) == CALLOUT_STATE_PENDING,
		      "CANCEL");
	}
}

static void rearm_one(const struct facility *f, unsigned int first,
		      unsigned int n, const __u64 *time)
{
	struct callout_op op;
	unsigned int i;

	(void)f;
	for (i = 0; i < n; i++) {
		fill_move(&op, first + i, time[i]);
		check(ioctl(fd, CALLOUT_IOC_OP, &op) == CALLOUT_STATE_PENDING,
		      "MOVE");
	}
}

static bool by_ring;

static void open_with_ring(const struct facility *f, unsigned int n)
{
	open_device(f, n);
	uring_open_device(fd);
	by_ring = true;
}

/* Do the first @n of ops. Return how many of @room events were read. */
static unsigned int batch(unsigned int n, unsigned int room)
{
	struct callout_batch batch = {
		.ops = (uintptr_t)ops,
		.events = (uintptr_t)events,
		.nr_ops = n,
		.nr_events = room,
		.op_size = sizeof(ops[0]),
		.flags = CALLOUT_BATCHF_STOP,
	};
	int ret = by_ring ? uring_command(CALLOUT_IOC_BATCH, &batch) :
			    ioctl(fd, CALLOUT_IOC_BATCH, &batch);

	check(!ret && batch.done == n && !batch.failed, "BATCH");
	return batch.got;
}

static unsigned int portion(const struct facility *f, unsigned int n)
{
	return n < f->batch ? n : f->batch;
}

static void arm_batch(const struct facility *f, unsigned int first,
		      unsigned int n, const __u64 *time, bool absolute)
{
	unsigned int i, some;

	for (; n; n -= some, first += some, time += some) {
		some = portion(f, n);
		for (i = 0; i < some; i++)
			fill_set(&ops[i], first + i, time[i], absolute);
		batch(some, 0);
		for (i = 0; i < some; i++)
			handle[first + i] = ops[i].handle;
	}
}

static void disarm_batch(const struct facility *f, unsigned int first,
			 unsigned int n)
{
	unsigned int i, some;

	for (; n; n -= some, first += some) {
		some = portion(f, n);
		for (i = 0; i < some; i++)
			fill_cancel(&ops[i], first + i);
		batch(some, 0);
	}
}

static void rearm_batch(const struct facility *f, unsigned int first,
			unsigned int n, const __u64 *time)
{
	unsigned int i, some;

	for (; n; n -= some, first += some, time += some) {
		some = portion(f, n);
		for (i = 0; i < some; i++)
			fill_move(&ops[i], first + i, time[i]);
		batch(some, 0);
	}
}

static unsigned int collect_batch(const struct facility *f)
{
	return batch(0, f->batch);
}

static unsigned int collect(const struct facility *f)
{
	int n = dev_read(fd, events, f->batch);

	check(n >= 0 || n == -EAGAIN, "read");
	return n < 0 ? 0 : n;
}

const struct facility callout_single = {
	.name = "callout",
	.mode = "single",
	.batch = 1,
	.open = open_device,
	.arm = arm_one,
	.disarm = disarm_one,
	.rearm = rearm_one,
	.collect = collect,
};

#define CALLOUT_BATCHES(n)				\
const struct facility callout_batch##n = {		\
	.name = "callout",				\
	.mode = "batch" #n,				\
	.batch = n,					\
	.open = open_device,				\
	.arm = arm_batch,				\
	.disarm = disarm_batch,				\
	.rearm = rearm_batch,				\
	.collect = collect,				\
}

CALLOUT_BATCHES(64);
CALLOUT_BATCHES(1024);

const struct facility callout_uring64 = {
	.name = "callout",
	.mode = "uring64",
	.batch = 64,
	.open = open_with_ring,
	.arm = arm_batch,
	.disarm = disarm_batch,
	.rearm = rearm_batch,
	.collect = collect_batch,
};
