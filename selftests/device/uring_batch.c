// SPDX-License-Identifier: GPL-2.0
/*
 * uring_batch.c - BATCH as a command of io_uring
 */
#include "lib/uring.h"

#define EVENTS		64U

static struct callout_op ops[CALLOUT_BATCH_MAX];
static struct callout_event events[EVENTS];

/* Submit a batch alone. Return its result. */
static int submit_batch(struct ring *r, int fd, struct callout_batch *batch)
{
	queue_batch(r, fd, batch, 0);
	return submit(r) ? complete(r, NULL, WAIT_MS) : 0;
}

/* A program must check for the feature: without it the entry may be refused. */
TEST_F(uring_cmd, batch_feature)
{
	struct callout_batch batch = batch_of(ops, 0);
	int ret = submit_batch(&self->ring, self->fd, &batch);

	if (self->works || ret != -EOPNOTSUPP)
		EXPECT_EQ(0, ret);
}

/* A callout that a batch sets has a handle, is cancelled by it, and yields an event. */
TEST_F(uring_cmd, batch_as_the_ioctl)
{
	struct callout_batch batch = batch_of(ops, 3);
	struct counts counts;
	unsigned int i;

	if (!self->works)
		return;
	for (i = 0; i < 3; i++)
		ops[i] = callout_op_set(i ? HOUR : 0, 100 + i);
	EXPECT_EQ(0, submit_batch(&self->ring, self->fd, &batch));
	EXPECT_EQ(3, batch.done);
	EXPECT_EQ(0, batch.failed);
	EXPECT_EQ(0, batch.got);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, ops[i].result);
		EXPECT_NE(0, ops[i].handle);
	}
	ASSERT_TRUE(readable_within(self->fd, WAIT_MS));

	ops[0] = callout_op_cancel(ops[1].handle);
	ops[1] = callout_op_cancel(~0ULL);
	ops[2] = callout_op_move(ops[2].handle, 2 * HOUR);
	batch = with_events(batch_of(ops, 3), events, EVENTS, 0, 0);
	EXPECT_EQ(0, submit_batch(&self->ring, self->fd, &batch));
	EXPECT_EQ(3, batch.done);
	EXPECT_EQ(1, batch.failed);
	EXPECT_EQ(CALLOUT_STATE_PENDING, ops[0].result);
	EXPECT_EQ(-ENOENT, ops[1].result);
	EXPECT_EQ(CALLOUT_STATE_PENDING, ops[2].result);
	EXPECT_LT(0, ops[2].left);
	ASSERT_EQ(1, batch.got);
	EXPECT_EQ(100, events[0].cookie);
	counts = counts_of(self->fd);
	EXPECT_EQ(1, counts.cancelled);
	EXPECT_EQ(1, counts.delivered);
	EXPECT_EQ(1, info_of(self->fd).outstanding);
}

/*
 * A loop needs no call of the device: a read of io_uring receives the events of
 * a batch's callouts.
 */
TEST_F(uring_cmd, batch_and_read)
{
	struct callout_batch batch = batch_of(ops, EVENTS);
	unsigned int i, got = 0;
	__u64 due, which;
	int ret;

	if (!self->works)
		return;
	/* io_uring waits for a file that may block. */
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	for (i = 0; i < EVENTS; i++)
		ops[i] = callout_op_set(5 * MSEC, i);
	due = dev_now() + 5 * MSEC;
	queue_batch(&self->ring, self->fd, &batch, 0);
	while (got < EVENTS) {
		*next_entry(&self->ring) = (struct io_uring_sqe){
			.opcode = IORING_OP_READ,
			.fd = self->fd,
			.addr = (uintptr_t)events,
			.len = sizeof(events),
			.user_data = 1,
		};
		ASSERT_TRUE(submit(&self->ring));
		do {
			ret = complete(&self->ring, &which, WAIT_MS);
			ASSERT_LE(0, ret);
		} while (!which);
		ASSERT_LT(0, ret);
		got += ret / sizeof(events[0]);
		EXPECT_LE(due, dev_now());
	}
	EXPECT_EQ(EVENTS, got);
	EXPECT_EQ(EVENTS, batch.done);
	EXPECT_EQ(0, batch.failed);
	EXPECT_EQ(EVENTS, counts_of(self->fd).delivered);
}

/* Entries are done in their order, and a batch cancels commands. */
TEST_F(uring_cmd, batch_among_commands)
{
	struct callout_op set = set_op(HOUR, 5);
	struct callout_batch batch = batch_of(ops, 1);

	if (!self->works)
		return;
	ops[0] = cancel_op(5);
	queue(&self->ring, self->fd, &set, 0);
	queue_batch(&self->ring, self->fd, &batch, 1);
	ASSERT_TRUE(submit(&self->ring));
	EXPECT_TRUE(complete_both(&self->ring, -ECANCELED, 0));
	EXPECT_EQ(CALLOUT_STATE_PENDING, ops[0].result);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* The largest batch runs on the thread that submits and on a thread of io_uring. */
TEST_F(uring_cmd, batch_largest)
{
	unsigned int i, n, outstanding = CALLOUT_BATCH_MAX;
	struct callout_batch batch;
	struct io_uring_sqe *sqe;

	if (!self->works)
		return;
	if (outstanding > info_of(self->fd).max_outstanding)
		outstanding = info_of(self->fd).max_outstanding;
	for (n = 0; n < 2; n++) {
		for (i = 0; i < outstanding; i++)
			ops[i] = n ? callout_op_cancel(ops[i].handle) :
				     callout_op_set(HOUR, i);
		batch = batch_of(ops, outstanding);
		sqe = queue_batch(&self->ring, self->fd, &batch, 0);
		sqe->flags = n ? IOSQE_ASYNC : 0;
		ASSERT_TRUE(submit(&self->ring));
		EXPECT_EQ(0, complete(&self->ring, NULL, WAIT_MS));
		EXPECT_EQ(outstanding, batch.done);
		EXPECT_EQ(0, batch.failed);
		EXPECT_EQ(n ? 0 : outstanding, info_of(self->fd).outstanding);
	}
}

static void of_another_opcode(struct io_uring_sqe *sqe)
{
	sqe->cmd_op = CALLOUT_IOC_INFO;
}

static void short_batch(struct io_uring_sqe *sqe)
{
	sqe->cmd_op -= 8U << _IOC_SIZESHIFT;
}

static void bad_address(struct io_uring_sqe *sqe)
{
	sqe->addr = 8;
}

static void with_length(struct io_uring_sqe *sqe)
{
	sqe->len = 1;
}

static void with_argument(struct io_uring_sqe *sqe)
{
	sqe->addr3 = 1;
}

/* A batch that is refused changes nothing. */
TEST_F(uring_cmd, batch_refused)
{
	static const struct {
		void (*change)(struct io_uring_sqe *sqe);
		int ret;
	} entries[] = {
		{ of_another_opcode, -ENOTTY },
		{ short_batch, -EINVAL },
		{ bad_address, -EFAULT },
		{ with_length, -EINVAL },
		{ with_argument, -EINVAL },
	};
	struct callout_batch batch = batch_of(ops, 1);
	struct ring *r = &self->ring;
	unsigned int i;

	if (!self->works)
		return;
	ops[0] = callout_op_set(HOUR, 0);
	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		entries[i].change(queue_batch(r, self->fd, &batch, 0));
		ASSERT_TRUE(submit(r));
		EXPECT_EQ(entries[i].ret, complete(r, NULL, WAIT_MS)) {
			TH_LOG("entry %u", i);
		}
	}
	/* A batch cannot wait. */
	batch = with_events(batch, events, EVENTS, CALLOUT_BATCHF_WAIT, 0);
	EXPECT_EQ(-EINVAL, submit_batch(r, self->fd, &batch));
	batch.time = HOUR;
	EXPECT_EQ(-EINVAL, submit_batch(r, self->fd, &batch));
	batch.flags |= CALLOUT_BATCHF_ABSTIME;
	EXPECT_EQ(-EINVAL, submit_batch(r, self->fd, &batch));
	/* So it has neither the time nor the clock of a wait. */
	batch = with_events(batch, events, EVENTS, 0, HOUR);
	batch.clockid = 0;
	EXPECT_EQ(-EINVAL, submit_batch(r, self->fd, &batch));
	batch.time = 0;
	batch.clockid = CLOCK_MONOTONIC;
	EXPECT_EQ(-EINVAL, submit_batch(r, self->fd, &batch));
	EXPECT_EQ(0, counts_of(self->fd).set);
}

TEST_HARNESS_MAIN
