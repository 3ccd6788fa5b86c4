// SPDX-License-Identifier: GPL-2.0
/*
 * uring_cmd.c - callouts as commands of io_uring: operations
 */
#include <pthread.h>

#include "lib/uring.h"

/* basic.c checks where INFO has the feature. */
TEST_F(uring_cmd, feature)
{
	struct callout_op op = set_op(0, 1);

	ASSERT_TRUE(submit_one(&self->ring, self->fd, &op, 1));
	EXPECT_EQ(self->works ? 0 : -EOPNOTSUPP,
		  complete(&self->ring, NULL, WAIT_MS));
	EXPECT_TRUE(wait_outstanding(self->fd, 0));
	EXPECT_EQ(self->works, counts_of(self->fd).set);
	EXPECT_EQ(self->works, counts_of(self->fd).delivered);
}

TEST_F(uring_cmd, fires_not_early)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME
	};
	static const __u64 times[] = { 0, 1, MSEC, 30 * MSEC };
	struct callout_op op;
	unsigned int i;
	__u64 due, data;
	clockid_t id;

	for (i = 0; self->works && i < 6 * ARRAY_SIZE(times); i++) {
		id = clocks[i / 2 % 3];
		op = set_op(times[i / 6], 7);
		op.clockid = id;
		op.slack = i % 4 / 2 * MSEC;
		due = now_of(id) + op.time;
		if (i & 1) {
			op.time = due;
			op.flags |= CALLOUT_OPF_ABSTIME;
		}
		ASSERT_TRUE(submit_one(&self->ring, self->fd, &op, 100 + i));
		ASSERT_EQ(0, complete(&self->ring, &data, WAIT_MS));
		EXPECT_LE(due, now_of(id));
		EXPECT_EQ(100 + i, data);
		EXPECT_FALSE(readable(self->fd));
	}
}

/* One submission, some of it through io_uring's own threads. */
TEST_F(uring_cmd, many)
{
	static struct callout_op ops[1000];
	static bool seen[1000];
	unsigned int i, n = ARRAY_SIZE(ops);
	__u64 start = dev_now(), data;
	struct io_uring_sqe *sqe;

	if (!self->works)
		return;
	for (i = 0; i < n; i++) {
		ops[i] = set_op((n - i) * 100000, i);
		sqe = queue(&self->ring, self->fd, &ops[i], i);
		sqe->flags = i % 8 ? 0 : IOSQE_ASYNC;
	}
	ASSERT_TRUE(submit(&self->ring));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, complete(&self->ring, &data, WAIT_MS));
		ASSERT_GT(n, data);
		EXPECT_FALSE(seen[data]);
		seen[data] = true;
		EXPECT_LE(start + ops[data].time, dev_now());
	}
	EXPECT_EQ(-ETIME, complete(&self->ring, NULL, 1));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(n, counts_of(self->fd).delivered);
}

/* A task that waits for several commands wakes when the last has fired. */
TEST_F(uring_cmd, wait_for_all)
{
	static struct callout_op ops[PENDING];
	__u64 last = dev_now() + PENDING * MSEC;
	unsigned int i;

	if (!self->works)
		return;
	for (i = 0; i < PENDING; i++) {
		ops[i] = set_op((PENDING - i) * MSEC, i);
		queue(&self->ring, self->fd, &ops[i], i);
	}
	ASSERT_TRUE(submit(&self->ring));
	EXPECT_TRUE(wait_for(&self->ring, PENDING, -1));
	EXPECT_LE(last, dev_now());
	EXPECT_EQ(PENDING, counts_of(self->fd).delivered);
	for (i = 0; i < PENDING; i++)
		EXPECT_EQ(0, complete(&self->ring, NULL, 0));
}

/* Cancelled by key: by the ring, in the same submission, by the requests. */
TEST_F(uring_cmd, cancel)
{
	struct callout_op set = set_op(HOUR, 5), cancel = cancel_op(5);
	struct callout_match all = { 0 };
	struct ring *r = &self->ring;

	if (!self->works)
		return;
	ASSERT_TRUE(submit_one(r, self->fd, &set, 0));
	EXPECT_EQ(-ETIME, complete(r, NULL, 5));
	EXPECT_EQ(1, info_of(self->fd).outstanding);
	ASSERT_TRUE(submit_one(r, self->fd, &cancel, 1));
	EXPECT_TRUE(complete_both(r, -ECANCELED, CALLOUT_STATE_PENDING));
	ASSERT_TRUE(submit_one(r, self->fd, &cancel, 1));
	EXPECT_EQ(-ENOENT, complete(r, NULL, WAIT_MS));

	queue(r, self->fd, &set, 0);
	queue(r, self->fd, &cancel, 1);
	ASSERT_TRUE(submit(r));
	EXPECT_TRUE(complete_both(r, -ECANCELED, CALLOUT_STATE_PENDING));

	ASSERT_TRUE(submit_one(r, self->fd, &set, 0));
	ASSERT_TRUE(wait_outstanding(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &cancel));
	EXPECT_EQ(-ECANCELED, complete(r, NULL, WAIT_MS));

	ASSERT_TRUE(submit_one(r, self->fd, &set, 0));
	ASSERT_TRUE(wait_outstanding(self->fd, 1));
	EXPECT_EQ(1, dev_ioctl(self->fd, CALLOUT_IOC_CANCEL_MATCHING, &all));
	EXPECT_EQ(-ECANCELED, complete(r, NULL, WAIT_MS));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(4, counts_of(self->fd).cancelled);
}

/*
 * The kernel's own cancel ignores commands. The test also passes on a kernel
 * that cancels them: in both cases the command completes once.
 */
TEST_F(uring_cmd, async_cancel)
{
	struct callout_op set = set_op(HOUR, 5), cancel = cancel_op(5);
	int ret;

	if (!self->works)
		return;
	ASSERT_TRUE(submit_one(&self->ring, self->fd, &set, 0));
	*next_entry(&self->ring) = (struct io_uring_sqe){
		.opcode = IORING_OP_ASYNC_CANCEL,
		.fd = -1,
		.user_data = 1,
	};
	ASSERT_TRUE(submit(&self->ring));
	ret = complete(&self->ring, NULL, WAIT_MS);
	TH_LOG("IORING_OP_ASYNC_CANCEL: %d", ret);
	ASSERT_TRUE(submit_one(&self->ring, self->fd, &cancel, 1));
	EXPECT_TRUE(complete_both(&self->ring, -ECANCELED,
				  ret ? CALLOUT_STATE_PENDING : -ENOENT));
}

/* SET of the key, as a command or an ioctl, sets the callout of a command again. */
TEST_F(uring_cmd, move)
{
	struct callout_entry entry;
	struct callout_op set = set_op(HOUR, 3), op = move_op(2 * HOUR, 3);
	struct ring *r = &self->ring;

	if (!self->works)
		return;
	ASSERT_TRUE(submit_one(r, self->fd, &set, 0));
	ASSERT_TRUE(submit_one(r, self->fd, &op, 1));
	EXPECT_EQ(CALLOUT_STATE_PENDING, complete(r, NULL, WAIT_MS));
	EXPECT_LT(0, op.left);
	EXPECT_GE(HOUR, op.left);
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	EXPECT_LT(HOUR, op.left);
	op = set_op(HOUR, 3);
	EXPECT_EQ(-EEXIST, do_op(self->fd, &op));
	op.flags = CALLOUT_OPF_KEY;
	op.clockid = CLOCK_BOOTTIME;
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	op.flags |= CALLOUT_OPF_ONLY_OLD;
	op.slack = MSEC;
	op.time = 3 * HOUR;
	EXPECT_EQ(CALLOUT_STATE_PENDING, command(r, self->fd, &op, NULL));
	EXPECT_LT(0, op.left);
	EXPECT_GE(HOUR, op.left);
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_KEY, 3, &entry));
	EXPECT_EQ(CLOCK_BOOTTIME, entry.clockid);
	EXPECT_EQ(MSEC, entry.slack);
	EXPECT_LT(2 * HOUR, entry.left);
	/* The callout stays a command's, which has no event. */
	op.cookie = 1;
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	EXPECT_EQ(-EBUSY, command(r, self->fd, &op, NULL));
	op.cookie = 0;
	op.period = HOUR;
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	EXPECT_EQ(-EBUSY, command(r, self->fd, &op, NULL));
	op = move_op(0, 3);
	ASSERT_TRUE(submit_one(r, self->fd, &op, 1));
	EXPECT_TRUE(complete_both(r, 0, CALLOUT_STATE_PENDING));
	op = move_op(0, 3);
	ASSERT_TRUE(submit_one(r, self->fd, &op, 1));
	EXPECT_EQ(-ENOENT, complete(r, NULL, WAIT_MS));
	EXPECT_EQ(1, counts_of(self->fd).set);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Wait until @n callouts of the file were set, also by a thread of the kernel. */
static bool wait_set(int fd, long long n)
{
	return wait_until(counts_of(fd).set == n);
}

/* Without a key a command has a handle, by which a command or an ioctl finds it. */
TEST_F(uring_cmd, handle)
{
	struct callout_op set, cancel, op;
	struct ring *r = &self->ring;
	struct callout_entry entry;

	if (!self->works)
		return;
	set = callout_op_set(HOUR, 0);
	ASSERT_TRUE(submit_one(r, self->fd, &set, 0));
	ASSERT_TRUE(wait_set(self->fd, 1));
	ASSERT_NE(0, set.handle);
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, set.handle, &entry));
	EXPECT_EQ(CALLOUT_OP_SET, entry.op);
	EXPECT_EQ(CALLOUT_OPF_ABSTIME, entry.op_flags);
	EXPECT_EQ(CALLOUT_ENTRYF_COMMAND, entry.flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(0, entry.cookie);
	EXPECT_EQ(0, entry.period);
	cancel = callout_op_cancel(set.handle);
	ASSERT_TRUE(submit_one(r, self->fd, &cancel, 1));
	EXPECT_TRUE(complete_both(r, -ECANCELED, CALLOUT_STATE_PENDING));
	EXPECT_EQ(-ENOENT, command(r, self->fd, &cancel, NULL));

	ASSERT_TRUE(submit_one(r, self->fd, &set, 0));
	ASSERT_TRUE(wait_set(self->fd, 2));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, set.handle));
	EXPECT_EQ(-ECANCELED, complete(r, NULL, WAIT_MS));

	/* After a move the command fires, and then its handle is stale. */
	ASSERT_TRUE(submit_one(r, self->fd, &set, 0));
	ASSERT_TRUE(wait_set(self->fd, 3));
	op = callout_op_move(set.handle, 2 * HOUR);
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	op = callout_op_move(set.handle, 0);
	ASSERT_TRUE(submit_one(r, self->fd, &op, 1));
	EXPECT_TRUE(complete_both(r, 0, CALLOUT_STATE_PENDING));
	EXPECT_LT(HOUR, op.left);
	EXPECT_GE(2 * HOUR, op.left);
	EXPECT_EQ(-ENOENT, command(r, self->fd, &op, NULL));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, set.handle));
	EXPECT_EQ(-ENOENT, list_one(self->fd, CALLOUT_LISTF_HANDLE, set.handle,
				    &entry));
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Each of many commands has another handle, which is written before the command completes. */
TEST_F(uring_cmd, handles_of_many)
{
	static struct callout_op ops[PENDING];
	struct ring *r = &self->ring;
	unsigned int i, k;
	__u64 data;

	if (!self->works)
		return;
	for (i = 0; i < PENDING; i++) {
		ops[i] = callout_op_set(i % 2 ? 0 : i * MSEC, 0);
		queue(r, self->fd, &ops[i], i)->flags = i % 4 ? 0 : IOSQE_ASYNC;
	}
	ASSERT_TRUE(submit(r));
	for (i = 0; i < PENDING; i++) {
		ASSERT_EQ(0, complete(r, &data, WAIT_MS));
		ASSERT_GT(PENDING, data);
		EXPECT_NE(0, ops[data].handle);
		EXPECT_EQ(-ENOENT, dev_cancel(self->fd, ops[data].handle));
	}
	for (i = 0; i < PENDING; i++)
		for (k = 0; k < i; k++)
			EXPECT_NE(ops[i].handle, ops[k].handle);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(PENDING, counts_of(self->fd).delivered);
}

/* If the handle cannot be written, no callout is set. */
TEST_F(uring_cmd, handle_cannot_be_written)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct callout_op *op;

	if (!self->works)
		return;
	op = mmap(NULL, size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, op);
	*op = callout_op_set(HOUR, 0);
	ASSERT_EQ(0, mprotect(op, size, PROT_READ));
	EXPECT_EQ(-EFAULT, command(&self->ring, self->fd, op, NULL));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(0, counts_of(self->fd).set);
	munmap(op, size);
}

/* A command whose key is outstanding fails, and its slot serves another callout. */
TEST_F(uring_cmd, key_exists)
{
	struct callout_op set = set_op(HOUR, 3), event = set_op(HOUR, 4);
	struct callout_op cancel = cancel_op(3), plain = callout_op_set(MSEC, 9);
	struct ring *r = &self->ring;
	struct callout_event fired;

	if (!self->works)
		return;
	ASSERT_TRUE(submit_one(r, self->fd, &set, 0));
	ASSERT_TRUE(submit_one(r, self->fd, &set, 1));
	EXPECT_EQ(-EEXIST, complete(r, NULL, WAIT_MS));
	EXPECT_EQ(0, do_op(self->fd, &event));
	ASSERT_TRUE(submit_one(r, self->fd, &event, 1));
	EXPECT_EQ(-EEXIST, complete(r, NULL, WAIT_MS));
	EXPECT_EQ(2, info_of(self->fd).outstanding);
	ASSERT_TRUE(submit_one(r, self->fd, &cancel, 1));
	EXPECT_TRUE(complete_both(r, -ECANCELED, CALLOUT_STATE_PENDING));
	ASSERT_TRUE(submit_one(r, self->fd, &event, 1));
	EXPECT_EQ(-EEXIST, complete(r, NULL, WAIT_MS));
	EXPECT_EQ(0, do_op(self->fd, &plain));
	ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
	EXPECT_EQ(1, dev_read(self->fd, &fired, 1));
	EXPECT_EQ(9, fired.cookie);
}

TEST_F(uring_cmd, limit)
{
	struct callout_op set = set_op(HOUR, PENDING);

	if (!self->works || !may_close(variant->flags))
		return;
	EXPECT_EQ(0, set_limit(self->fd, PENDING));
	ASSERT_TRUE(set_pending(&self->ring, self->fd, 0, PENDING));
	ASSERT_TRUE(submit_one(&self->ring, self->fd, &set, 0));
	EXPECT_EQ(-ENOSPC, complete(&self->ring, NULL, WAIT_MS));
	set = set_op(HOUR, 0);
	ASSERT_TRUE(submit_one(&self->ring, self->fd, &set, 0));
	EXPECT_EQ(-EEXIST, complete(&self->ring, NULL, WAIT_MS));
	EXPECT_EQ(PENDING, info_of(self->fd).outstanding);
	EXPECT_TRUE(ring_close(&self->ring));
	EXPECT_TRUE(wait_outstanding(self->fd, 0));
	self->ring.fd = dup(self->fd);
}

static void bad_len(struct io_uring_sqe *sqe)
{
	sqe->len = 1;
}

static void bad_buffer(struct io_uring_sqe *sqe)
{
	sqe->buf_index = 1;
}

static void bad_index(struct io_uring_sqe *sqe)
{
	sqe->file_index = 1;
}

static void bad_addr(struct io_uring_sqe *sqe)
{
	sqe->addr = (uintptr_t)nowhere();
}

static void bad_magic(struct io_uring_sqe *sqe)
{
	sqe->cmd_op ^= 0x100;
}

static void bad_direction(struct io_uring_sqe *sqe)
{
	sqe->cmd_op ^= 1U << 31;
}

static void bad_size(struct io_uring_sqe *sqe)
{
	sqe->cmd_op -= 1U << 16;
}

static void bad_info(struct io_uring_sqe *sqe)
{
	sqe->cmd_op = CALLOUT_IOC_INFO;
}

TEST_F(uring_cmd, bad_entry)
{
	struct callout_op set = set_op(HOUR, 1);
	struct callout_op timeout = callout_op_timeout(1, 2, HOUR);
	struct callout_op untimeout = callout_op_untimeout(1, 2, 0);
	struct ring *r = &self->ring;
	struct io_uring_sqe *sqe;
	unsigned int i;

	if (!self->works)
		return;
	EXPECT_EQ(-EINVAL, command(r, self->fd, &set, bad_len));
	EXPECT_EQ(-EINVAL, command(r, self->fd, &set, bad_buffer));
	EXPECT_EQ(-EINVAL, command(r, self->fd, &set, bad_index));
	EXPECT_EQ(-EFAULT, command(r, self->fd, &set, bad_addr));
	EXPECT_EQ(-ENOTTY, command(r, self->fd, &set, bad_magic));
	EXPECT_EQ(-ENOTTY, command(r, self->fd, &set, bad_direction));
	EXPECT_EQ(-EINVAL, command(r, self->fd, &set, bad_size));
	EXPECT_EQ(-ENOTTY, command(r, self->fd, &set, bad_info));
	EXPECT_EQ(-EINVAL, command(r, self->fd, &timeout, NULL));
	EXPECT_EQ(-EINVAL, command(r, self->fd, &untimeout, NULL));
	for (i = 0; i < 16; i++) {
		sqe = queue(r, self->fd, &set, 0);
		((__u8 *)&sqe->addr3)[i] = 1;
		ASSERT_TRUE(submit(r));
		EXPECT_EQ(-EINVAL, complete(r, NULL, WAIT_MS));
	}
	EXPECT_EQ(0, counts_of(self->fd).set);
}

TEST_F(uring_cmd, bad_operation)
{
	struct callout_op good = set_op(HOUR, 1), op;
	struct ring *r = &self->ring;
	unsigned int i;

	if (!self->works)
		return;
#define REFUSED(change) \
	({ op = good; change; command(r, self->fd, &op, NULL); })
	for (i = 0; i < 32; i++)
		if (1U << i & ~(good.flags | CALLOUT_OPF_ABSTIME | CALLOUT_OPF_EXACT))
			EXPECT_EQ(-EINVAL, REFUSED(op.flags |= 1U << i));
	EXPECT_EQ(-EINVAL, REFUSED(op.flags = CALLOUT_OPF_KEY));
	EXPECT_EQ(-EINVAL, REFUSED(op.flags = CALLOUT_OPF_ONLY_NEW));
	EXPECT_EQ(-EINVAL, REFUSED(op.flags |= CALLOUT_OPF_ONLY_OLD));
	EXPECT_EQ(-EINVAL, REFUSED(op.clockid = -1));
	EXPECT_EQ(-EINVAL, REFUSED(op.clockid = CLOCK_PROCESS_CPUTIME_ID));
	EXPECT_EQ(-EINVAL, REFUSED(op.time = 1ULL << 63));
	EXPECT_EQ(-EINVAL, REFUSED(op.slack = 1ULL << 63));
	EXPECT_EQ(-EINVAL, REFUSED(op.flags |= CALLOUT_OPF_EXACT; op.slack = 1));
	EXPECT_EQ(-EINVAL, REFUSED(op.period = 1));
	EXPECT_EQ(-EINVAL, REFUSED(op.cookie = 1));
	/* No setting of its clock ends a command: that would be an event. */
	good.clockid = CLOCK_REALTIME;
	good.flags |= CALLOUT_OPF_ABSTIME;
	good.time = now_of(CLOCK_REALTIME) + HOUR;
	EXPECT_EQ(-EINVAL, REFUSED(op.flags |= CALLOUT_OPF_CANCEL_ON_SET));
	good = callout_op_set(HOUR, 0);
	EXPECT_EQ(-EINVAL, REFUSED(op.cookie = 1));
	EXPECT_EQ(-EINVAL, REFUSED(op.period = 1));
	EXPECT_EQ(-EINVAL, REFUSED(op.func = 1));
	good = cancel_op(1);
	EXPECT_EQ(-EINVAL, REFUSED(op.time = 1));
	EXPECT_EQ(-EINVAL, REFUSED(op.cookie = 1));
	EXPECT_EQ(-EINVAL, REFUSED(op.flags |= CALLOUT_OPF_ONLY_OLD));
	EXPECT_EQ(-ENOENT, REFUSED(op.flags = 0));
	good = move_op(HOUR, 1);
	EXPECT_EQ(-EINVAL, REFUSED(op.period = 1));
	EXPECT_EQ(-EINVAL, REFUSED(op.clockid = CLOCK_MONOTONIC));
	EXPECT_EQ(-EINVAL, REFUSED(op.flags |= CALLOUT_OPF_ONLY_OLD));
	EXPECT_EQ(-ENOENT, REFUSED(op.flags &= ~CALLOUT_OPF_KEY));
#undef REFUSED
	EXPECT_EQ(0, counts_of(self->fd).set);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* A ring's entries may have 80 bytes for the device instead of 16. */
TEST(long_entry)
{
	int fd = dev_open(O_NONBLOCK);
	struct callout_op op = set_op(0, 1);
	struct io_uring_sqe *sqe;
	unsigned int i;
	struct ring r;
	bool works;

	ASSERT_LE(0, fd);
	works = info_of(fd).features & CALLOUT_FEATURE_URING;
	if (!ring_open(&r, IORING_SETUP_SQE128))
		SKIP(return, "the kernel has no io_uring");
	for (i = 0; works && i < 80; i++) {
		sqe = queue(&r, fd, &op, 0);
		/* io_uring copies the entry for its own threads. */
		sqe->flags = i & 1 ? IOSQE_ASYNC : 0;
		((__u8 *)&sqe->addr3)[i] = 1;
		ASSERT_TRUE(submit(&r));
		EXPECT_EQ(-EINVAL, complete(&r, NULL, WAIT_MS)) {
			TH_LOG("byte %u", i);
		}
	}
	EXPECT_EQ(0, counts_of(fd).set);
	EXPECT_EQ(works ? 0 : -EOPNOTSUPP, command(&r, fd, &op, NULL));
	EXPECT_EQ(works, counts_of(fd).set);
	EXPECT_TRUE(ring_close(&r));
}

#define INSERT_NS	(2 * SEC)

/* A thread of two that insert the same keys at the same time. */
struct inserter {
	int fd;
	bool first;
	bool can_meet;		/* the threads may use two CPUs */
	struct ring ring;
	atomic_uint *arrived;
	atomic_bool *stop;
	pthread_t thread;
	unsigned int meetings;
	unsigned int rounds;
	unsigned int met;	/* rounds in which both threads have inserted some keys */
	unsigned int inserted;
	unsigned int wrong;
};

/* Wait for the other thread without sleep, so that both continue at nearly the same time. */
static void meet(struct inserter *in)
{
	unsigned int spins = 0;

	in->meetings++;
	atomic_fetch_add(in->arrived, 1);
	while (*in->arrived < 2 * in->meetings)
		if (++spins % 100000 == 0)
			sched_yield();
}

/* Cancel each key. Return how many keys had no callout, or another callout. */
static unsigned int cancel_keys(int fd)
{
	unsigned int wrong = 0, i;
	struct callout_op op;

	for (i = 0; i < PENDING; i++) {
		op = cancel_op(i);
		wrong += do_op(fd, &op) != CALLOUT_STATE_PENDING;
		wrong += do_op(fd, &op) != -ENOENT;
	}
	return wrong;
}

/* One thread starts with the first key, the other with the last key, so that they meet. */
static void insert_round(struct inserter *in)
{
	unsigned int i, inserted = 0;
	struct callout_op ops[PENDING];
	int ret;

	for (i = 0; i < PENDING; i++) {
		ops[i] = set_op(HOUR, in->first ? i : PENDING - 1 - i);
		queue(&in->ring, in->fd, &ops[i], i);
	}
	meet(in);
	in->wrong += !submit(&in->ring);
	meet(in);
	if (in->first)
		in->wrong += cancel_keys(in->fd);
	for (i = 0; i < PENDING; i++) {
		ret = complete(&in->ring, NULL, WAIT_MS);
		inserted += ret == -ECANCELED;
		in->wrong += ret != -ECANCELED && ret != -EEXIST;
	}
	in->rounds++;
	in->met += inserted && inserted < PENDING;
	in->inserted += inserted;
}

static void *insert(void *arg)
{
	__u64 end = dev_now() + INSERT_NS;
	struct inserter *in = arg;

	do {
		insert_round(in);
		if (in->first && (in->wrong || (dev_now() > end && (in->met || !in->can_meet))))
			*in->stop = true;
		meet(in);
	} while (!*in->stop);
	return NULL;
}

/* If two threads insert a key at the same time, exactly one succeeds. */
TEST(two_insert_one_key)
{
	int fd = dev_open(O_NONBLOCK);
	struct inserter in[2] = { 0 };
	atomic_uint arrived = 0;
	atomic_bool stop = false;
	unsigned int i;
	cpu_set_t cpus;

	ASSERT_LE(0, fd);
	if (!(info_of(fd).features & CALLOUT_FEATURE_URING))
		return;
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(cpus), &cpus));
	for (i = 0; i < 2; i++) {
		in[i].fd = fd;
		in[i].first = !i;
		in[i].can_meet = CPU_COUNT(&cpus) > 1;
		in[i].arrived = &arrived;
		in[i].stop = &stop;
		ASSERT_TRUE(ring_open(&in[i].ring, 0));
	}
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&in[i].thread, NULL, insert, &in[i]));
	for (i = 0; i < 2; i++) {
		pthread_join(in[i].thread, NULL);
		EXPECT_EQ(0, in[i].wrong);
	}
	TH_LOG("they met in %u of %u rounds", in[0].met, in[0].rounds);
	EXPECT_EQ(in[0].rounds * PENDING, in[0].inserted + in[1].inserted);
	close(fd);
}

/*
 * A ring that waits by polling can have these commands from Linux 7.2 on, and
 * cancels them when it is closed.
 */
TEST(iopoll)
{
	int fd = dev_open(O_NONBLOCK);
	struct callout_op op = set_op(0, 1);
	struct ring r;
	bool works;

	ASSERT_LE(0, fd);
	works = kernel_version() >= 7002 && info_of(fd).features & CALLOUT_FEATURE_URING;
	if (!ring_open(&r, IORING_SETUP_IOPOLL))
		SKIP(return, "the kernel has no io_uring");
	EXPECT_EQ(works ? 0 : -EOPNOTSUPP, command(&r, fd, &op, NULL));
	EXPECT_EQ(works, counts_of(fd).set);
	if (works) {
		ASSERT_TRUE(set_pending(&r, fd, 0, PENDING));
		EXPECT_EQ(PENDING, info_of(fd).outstanding);
		EXPECT_TRUE(ring_close(&r));
		EXPECT_TRUE(wait_outstanding(fd, 0));
	}
}

TEST_HARNESS_MAIN
