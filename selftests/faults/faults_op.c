// SPDX-License-Identifier: GPL-2.0
/*
 * faults_op.c - each allocation and copy of operations that set, move and cancel callouts fails
 */
#include "walk.h"

#define UNTOUCHED	0x7777

/* Number of operations of a batch that are copied one at a time, so that each meets a fault. */
#define FEW		8U

/* Keep the handle. */
static int call_op(struct faulty *f, struct callout_op op)
{
	int ret = do_op(f->fd, &op);

	if (!ret)
		f->handle[NEW_ID] = op.handle;
	return ret;
}

struct longer_op {
	struct callout_op op;
	__u64 more;
};

#define CALLOUT_IOC_LONGER_OP \
	(_IOC(_IOC_READ | _IOC_WRITE, CALLOUT_IOC_MAGIC, _IOC_NR(CALLOUT_IOC_OP), \
	      sizeof(struct longer_op)))

/* As call_op(), with a longer structure, which the kernel reads in one copy. */
static int call_longer(struct faulty *f, struct callout_op op)
{
	struct longer_op longer = { .op = op };
	int ret;

	ret = dev_ioctl(f->fd, CALLOUT_IOC_LONGER_OP, &longer);
	if (!ret)
		f->handle[NEW_ID] = longer.op.handle;
	return ret;
}

static int call_set(struct faulty *f)
{
	return call_op(f, callout_op_set(HOUR, NEW_ID));
}

static int call_set_longer(struct faulty *f)
{
	struct callout_op op = callout_op_set(HOUR, NEW_ID);

	op.period = HOUR;
	op.slack = MSEC;
	return call_longer(f, op);
}

static int call_timeout(struct faulty *f)
{
	return call_op(f, callout_op_timeout(FAULTY_FUNC, NEW_ID, HOUR));
}

static int call_timeout_longer(struct faulty *f)
{
	return call_longer(f, callout_op_timeout(FAULTY_FUNC, NEW_ID, HOUR));
}

static bool set_done(struct faulty *f, int ret)
{
	f->outstanding[NEW_ID] = true;
	return !ret && f->handle[NEW_ID];
}

static int call_key(struct faulty *f)
{
	return call_op(f, callout_op_key(callout_op_set(HOUR, NEW_ID), NEW_ID));
}

static int call_key_longer(struct faulty *f)
{
	return call_longer(f, callout_op_key(callout_op_set(2 * HOUR, NEW_ID), NEW_ID));
}

static bool key_prepare(struct faulty *f)
{
	f->outstanding[NEW_ID] = true;
	return !call_key(f);
}

static bool key_done(struct faulty *f, int ret)
{
	f->outstanding[NEW_ID] = true;
	return !ret;
}

static bool moved(struct faulty *f, int ret)
{
	return ret == CALLOUT_STATE_PENDING &&
	       counts_of(f->fd).reset == f->before.counts.reset + 1;
}

static int call_move(struct faulty *f)
{
	return call_longer(f, callout_op_move(f->handle[PENDING_ID], 2 * HOUR));
}

static int call_move_key(struct faulty *f)
{
	return call_longer(f, move_op(2 * HOUR, NEW_ID));
}

static int call_cancel(struct faulty *f)
{
	return call_longer(f, callout_op_cancel(f->handle[PENDING_ID]));
}

static int call_cancel_unread(struct faulty *f)
{
	return call_longer(f, callout_op_cancel(f->handle[UNREAD_ID]));
}

static int call_untimeout(struct faulty *f)
{
	return call_longer(f, callout_op_untimeout(FAULTY_FUNC, PENDING_ID, 0));
}

static int call_cancel_key(struct faulty *f)
{
	return call_longer(f, cancel_op(NEW_ID));
}

static bool cancel_done(struct faulty *f, int ret)
{
	f->outstanding[PENDING_ID] = false;
	return ret == CALLOUT_STATE_PENDING;
}

static bool cancel_unread_done(struct faulty *f, int ret)
{
	f->outstanding[UNREAD_ID] = false;
	return ret == CALLOUT_STATE_UNREAD;
}

static bool cancel_key_done(struct faulty *f, int ret)
{
	f->outstanding[NEW_ID] = false;
	return ret == CALLOUT_STATE_PENDING;
}

static bool batch_prepare_sets(struct faulty *f, unsigned int n)
{
	for (f->nr_ops = 0; f->nr_ops < n; f->nr_ops++)
		f->ops[f->nr_ops] = callout_op_set(HOUR, NEW_ID + f->nr_ops);
	return true;
}

static bool batch_prepare(struct faulty *f)
{
	return batch_prepare_sets(f, MANY);
}

static bool batch_prepare_few(struct faulty *f)
{
	return batch_prepare_sets(f, FEW);
}

/*
 * This many callouts with a few buckets in the hash make it grow, or keep its size.
 * The time of growth is random, and with it the number of each later fault.
 */
static bool batch_prepare_timeouts(struct faulty *f)
{
	for (f->nr_ops = 0; f->nr_ops < MANY; f->nr_ops++)
		f->ops[f->nr_ops] = callout_op_timeout(FAULTY_FUNC,
						       NEW_ID + f->nr_ops, HOUR);
	return true;
}

/* Fill memory, to detect bytes that the kernel does not write. */
static void batch_untouched(struct faulty *f)
{
	unsigned int i;

	f->batch.done = ~0U;
	f->batch.got = 0;
	for (i = 0; i < f->nr_ops; i++)
		f->ops[i].result = UNTOUCHED;
}

/* A batch that is not complete has failed. */
static int batch_result(const struct faulty *f, int ret)
{
	return !ret && f->batch.failed ? -ENOMEM : ret;
}

static int do_whole_batch(struct faulty *f)
{
	batch_untouched(f);
	return batch_result(f, do_batch(f->fd, &f->batch));
}

static int call_batch(struct faulty *f)
{
	f->batch = with_events(batch_of(f->ops, f->nr_ops), f->events, 64, 0, 0);
	return do_whole_batch(f);
}

/* As call_batch(), with longer structures, which the kernel reads one at a time. */
static int call_batch_longer(struct faulty *f)
{
	static struct longer_op longer[FEW];
	unsigned int i;
	int ret;

	f->batch = with_events(batch_of(f->ops, f->nr_ops), f->events, 64, 0, 0);
	batch_untouched(f);
	for (i = 0; i < f->nr_ops; i++)
		longer[i] = (struct longer_op){ .op = f->ops[i] };
	f->batch.ops = (uintptr_t)longer;
	f->batch.op_size = sizeof(longer[0]);
	ret = batch_result(f, do_batch(f->fd, &f->batch));
	for (i = 0; i < f->nr_ops; i++)
		f->ops[i] = longer[i].op;
	return ret;
}

/* As call_batch(), with every array that a batch can have read. */
static int call_batch_wait(struct faulty *f)
{
	__u64 mask = 0;

	f->batch = with_events(batch_of(f->ops, f->nr_ops), f->events, 64,
			       CALLOUT_BATCHF_WAIT, 0);
	f->batch.sigmask = (uintptr_t)&mask;
	f->batch.sigmask_size = sizeof(mask);
	return do_whole_batch(f);
}

/* Each operation that was tried has its result. The others are unchanged. */
static bool batch_adds_up(struct faulty *f)
{
	struct callout_batch *b = &f->batch;
	unsigned int i, left = 0, failed = 0;
	struct callout_op *op;

	if (b->done == ~0U)
		return is_unchanged(f);
	for (i = 0; i < f->nr_ops; i++) {
		op = &f->ops[i];
		if (op->result == (i < b->done ? -ENOMEM : UNTOUCHED)) {
			if (op->handle)
				return false;
			failed += i < b->done;
			f->ops[left++] = *op;
			continue;
		}
		if (i >= b->done || op->result || !op->handle)
			return false;
		f->outstanding[op->cookie] = true;
	}
	f->nr_ops = left;
	return failed == b->failed && events_are_expected(f, b->got);
}

static bool batch_done(struct faulty *f, int ret)
{
	return !ret && batch_adds_up(f) && !f->nr_ops;
}

/* A command's result comes at once, except for a SET that succeeds. */
static int command_of(struct faulty *f, struct callout_op op, unsigned int id)
{
	static struct longer_op longer;
	atomic_uint *head = ring_word(&f->ring, f->ring.p.cq_off.head);
	atomic_uint *tail = ring_word(&f->ring, f->ring.p.cq_off.tail);
	struct io_uring_sqe *sqe;

	longer = (struct longer_op){ .op = op };
	sqe = queue(&f->ring, f->fd, &longer.op, id);
	sqe->cmd_op = CALLOUT_IOC_LONGER_OP;
	if (!submit(&f->ring))
		return -EIO;
	return *head == *tail ? 0 : complete(&f->ring, NULL, WAIT_MS);
}

static int call_ring_set(struct faulty *f)
{
	return command_of(f, set_op(HOUR, NEW_ID), NEW_ID);
}

static int call_ring_cancel(struct faulty *f)
{
	return command_of(f, cancel_op(NEW_ID), NEW_ID);
}

static int call_ring_move(struct faulty *f)
{
	return command_of(f, move_op(2 * HOUR, NEW_ID), NEW_ID);
}

static bool command_done(struct faulty *f, int ret, unsigned int id)
{
	f->outstanding[id] = true;
	f->command[id] = true;
	return !ret && counts_of(f->fd).set == f->before.counts.set + 1;
}

static bool ring_set_done(struct faulty *f, int ret)
{
	return command_done(f, ret, NEW_ID);
}

/* A command with a handle, which is written first, has no cookie. */
static int call_ring_set_handle(struct faulty *f)
{
	return command_of(f, callout_op_set(HOUR, 0), 0);
}

static bool ring_set_handle_done(struct faulty *f, int ret)
{
	return command_done(f, ret, 0);
}

/* The result of a batch as a command comes at once. */
static int call_ring_batch(struct faulty *f)
{
	f->batch = with_events(batch_of(f->ops, f->nr_ops), f->events, 64, 0, 0);
	batch_untouched(f);
	queue_batch(&f->ring, f->fd, &f->batch, NEW_ID);
	if (!submit(&f->ring))
		return -EIO;
	return batch_result(f, complete(&f->ring, NULL, WAIT_MS));
}

static const struct operation operations[] = {
	{ "SET, the first", .nomem = 2, .call = call_set, .done = set_done },
	{ "SET, a chunk more", .pending = CHUNK, .nomem = 1, .call = call_set,
	  .done = set_done },
	{ "SET, a directory more", .pending = DIRECTORY, .nomem = 2,
	  .call = call_set, .done = set_done },
	{ "SET, periodic, longer", .efault = 1, .nomem = 2,
	  .call = call_set_longer, .done = set_done },
	{ "TIMEOUT, the first", .nomem = 3, .call = call_timeout,
	  .done = set_done },
	{ "TIMEOUT, the hash", .pending = 3, .nomem = 1, .call = call_timeout,
	  .done = set_done },
	{ "TIMEOUT, a directory more", .pending = DIRECTORY, .hashed = true,
	  .nomem = 2, .call = call_timeout, .done = set_done },
	{ "TIMEOUT, longer", .efault = 1, .nomem = 3,
	  .call = call_timeout_longer, .done = set_done },
	{ "SET of a new key", .nomem = 3, .call = call_key, .done = key_done },
	{ "SET of a new key, a chunk more", .pending = CHUNK, .hashed = true,
	  .nomem = 1, .call = call_key, .done = key_done },
	{ "SET of a key", .pending = 3, .efault = 1, .prepare = key_prepare,
	  .call = call_key_longer, .done = moved },
	{ "SET of a handle", .pending = 3, .efault = 1, .call = call_move,
	  .done = moved },
	{ "SET of a key, moved", .pending = 3, .efault = 1, .prepare = key_prepare,
	  .call = call_move_key, .done = moved },
	{ "CANCEL", .pending = 3, .efault = 1, .call = call_cancel,
	  .done = cancel_done },
	{ "CANCEL of an event", .pending = 3, .unread = 3, .efault = 1,
	  .call = call_cancel_unread, .done = cancel_unread_done },
	{ "CANCEL of a key", .pending = 3, .efault = 1, .prepare = key_prepare,
	  .call = call_cancel_key, .done = cancel_key_done },
	{ "UNTIMEOUT", .pending = 3, .hashed = true, .efault = 1,
	  .call = call_untimeout, .done = cancel_done },
	{ "BATCH", .pending = 20, .unread = 20, .nomem = 1, .efault = 5,
	  .prepare = batch_prepare, .call = call_batch,
	  .failed = batch_adds_up, .done = batch_done },
	{ "BATCH of TIMEOUTs", .unread = 3, .nomem = 1, .efault = 2,
	  .prepare = batch_prepare_timeouts, .call = call_batch,
	  .failed = batch_adds_up, .done = batch_done },
	{ "BATCH that may wait", .unread = 3, .nomem = 1, .efault = 6,
	  .prepare = batch_prepare, .call = call_batch_wait,
	  .failed = batch_adds_up, .done = batch_done },
	{ "BATCH of longer ones", .pending = 10, .unread = 20, .nomem = 1,
	  .efault = 2 + FEW, .prepare = batch_prepare_few,
	  .call = call_batch_longer, .failed = batch_adds_up,
	  .done = batch_done },
	{ "io_uring: SET of a new key", .ring = true, .nomem = 3, .efault = 1,
	  .call = call_ring_set, .done = ring_set_done },
	{ "io_uring: SET of a new handle", .ring = true, .nomem = 2, .efault = 1,
	  .call = call_ring_set_handle, .done = ring_set_handle_done },
	{ "io_uring: SET of a key", .ring = true, .efault = 1,
	  .prepare = key_prepare, .call = call_ring_move, .done = moved },
	{ "io_uring: CANCEL", .ring = true, .efault = 1,
	  .prepare = key_prepare, .call = call_ring_cancel,
	  .done = cancel_key_done },
	{ "io_uring: BATCH", .ring = true, .pending = 20, .unread = 20,
	  .nomem = 1, .efault = 5, .prepare = batch_prepare,
	  .call = call_ring_batch, .failed = batch_adds_up,
	  .done = batch_done },
};

TEST_F(faults, each)
{
	walk_all(_metadata, self->walk, operations, ARRAY_SIZE(operations));
}

TEST_HARNESS_MAIN
