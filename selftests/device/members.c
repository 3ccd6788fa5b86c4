// SPDX-License-Identifier: GPL-2.0
/*
 * members.c - structures that are not operations: wrong members, and the
 * members that the kernel writes
 */
#include "lib/bystander.h"

/* Members that must be zero are checked, and also flags, counts and sizes. */
TEST_F(errors, batch_members)
{
	struct callout_op op = callout_op_set(HOUR, 1);
	struct callout_event e;
	struct callout_batch b;
	unsigned int bit, size;

#define REFUSED(change) do {						\
	b = with_events(batch_of(&op, 1), &e, 1, 0, 0);			\
	change;								\
	EXPECT_EQ(-EINVAL, do_batch(self->fd, &b)) {			\
		TH_LOG("%s", #change);					\
	}								\
} while (0)

	for (bit = 3; bit < 32; bit++)
		REFUSED(b.flags = 1U << bit);
	REFUSED(b.nr_ops = CALLOUT_BATCH_MAX + 1);
	REFUSED(b.nr_ops = ~0U);
	REFUSED(b.nr_events = CALLOUT_BATCH_MAX + 1);
	REFUSED(b.nr_events = ~0U);
	for (size = 0; size < 2 * CALLOUT_SIZE_MAX; size++)
		if (!is_size(size, CALLOUT_OP_SIZE_V1))
			REFUSED(b.op_size = size);
	REFUSED(b.op_size = ~0U);
	REFUSED(b.op_size = 1U << 31);
#undef REFUSED
}

/* A wrong wait is refused before any operation is done. */
TEST_F(errors, wait_members)
{
	static const int clocks[] = { 2, 3, 4, 5, 6, 10, 11, 31, 32, 33, -1, -2,
				      1 << 30 };
	struct callout_op op = callout_op_set(HOUR, 1);
	struct callout_event e;
	struct callout_batch b;
	__u64 mask = 0;
	unsigned int i;

#define REFUSED(error, change) do {					\
	b = with_events(batch_of(&op, 1), &e, 1, CALLOUT_BATCHF_WAIT, 0); \
	change;								\
	EXPECT_EQ(-(error), do_batch(self->fd, &b)) {			\
		TH_LOG("%s", #change);					\
	}								\
	EXPECT_EQ(0, op.handle);					\
} while (0)

	REFUSED(EINVAL, b.nr_events = 0);
	for (i = 0; i < ARRAY_SIZE(clocks); i++)
		REFUSED(EINVAL, b.clockid = clocks[i]);
	REFUSED(EOPNOTSUPP, b.clockid = CLOCK_REALTIME_ALARM);
	REFUSED(EOPNOTSUPP, b.clockid = CLOCK_BOOTTIME_ALARM);
	REFUSED(EINVAL, b.min_events = 2);
	REFUSED(EINVAL, b.min_events = ~0U);
	REFUSED(EINVAL, b.sigmask_size = 8);
	for (i = 0; i < 130; i++)
		if (i != sizeof(mask))
			REFUSED(EINVAL, b.sigmask = (uintptr_t)&mask;
				b.sigmask_size = i);
	for (i = 0; i < ARRAY_SIZE(kernel_addresses); i++)
		REFUSED(EFAULT, b.sigmask = kernel_addresses[i];
			b.sigmask_size = 8);
	REFUSED(EFAULT, b.sigmask = (uintptr_t)self->edge;
		b.sigmask_size = 8);
#undef REFUSED
}

/* Without WAIT a batch must have no member of a wait. */
TEST_F(errors, wait_members_without_wait)
{
	static const __u32 flags[] = { 0, CALLOUT_BATCHF_STOP };
	struct callout_op op = callout_op_set(HOUR, 1);
	struct callout_event e;
	struct callout_batch b;
	__u64 mask = 0;
	unsigned int i, n;

#define REFUSED(change) do {						\
	b = with_events(batch_of(&op, 1), &e, n, flags[i], 0);		\
	change;								\
	EXPECT_EQ(-EINVAL, do_batch(self->fd, &b)) {			\
		TH_LOG("%s", #change);					\
	}								\
	EXPECT_EQ(0, op.handle);					\
} while (0)

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		for (n = 0; n < 2; n++) {
			REFUSED(b.flags |= CALLOUT_BATCHF_ABSTIME);
			REFUSED(b.time = 1);
			REFUSED(b.time = 1ULL << 63);
			REFUSED(b.clockid = CLOCK_MONOTONIC);
			REFUSED(b.clockid = CLOCK_REALTIME_ALARM);
			REFUSED(b.clockid = -1);
			REFUSED(b.min_events = 1);
			REFUSED(b.sigmask = (uintptr_t)&mask);
			REFUSED(b.sigmask = 1ULL << 63);
			REFUSED(b.sigmask_size = 8);
			REFUSED(b.sigmask = (uintptr_t)&mask;
				b.sigmask_size = 8);
		}
#undef REFUSED
}

/* None of these flags is known yet, and no bit is outside of the mask. */
TEST_F(errors, other_members)
{
	struct callout_match match;
	struct callout_limit limit;
	unsigned int i, j;

	for (i = 0; i < 32; i++) {
		for (j = 0; j < 2; j++) {
			limit = (struct callout_limit){
				.max_outstanding = 2,
				.flags = j << i,
				.reserved = !j << i,
			};
			EXPECT_EQ(-EINVAL, dev_ioctl(self->fd,
						     CALLOUT_IOC_LIMIT, &limit));
			match = (struct callout_match){
				.flags = j << i,
				.reserved = !j << i,
			};
			EXPECT_EQ(-EINVAL, dev_ioctl(self->fd,
						     CALLOUT_IOC_CANCEL_MATCHING,
						     &match));
		}
	}
	for (i = 0; i < 64; i++) {
		for (j = 0; j < 2; j++) {
			match = (struct callout_match){
				.cookie = 1ULL << i,
				.mask = j ? ~(1ULL << i) : 0,
			};
			EXPECT_EQ(-EINVAL, dev_ioctl(self->fd,
						     CALLOUT_IOC_CANCEL_MATCHING,
						     &match));
		}
	}
	EXPECT_EQ(-EINVAL, set_limit(self->fd, 0));
	EXPECT_EQ(-EINVAL, set_limit(self->fd, self->before.max_outstanding + 1));
	EXPECT_EQ(-EINVAL, set_limit(self->fd, ~0ULL));
}

#define STEP	64	/* callouts for which a user is charged at a time */

/* Room for the largest structure, and a byte that must not change. */
union written {
	struct callout_entry entry;
	char bytes[CALLOUT_SIZE_MAX + 1];
};

static int write_info(int fd, union written *w, size_t size)
{
	return dev_ioctl(fd, resized(CALLOUT_IOC_INFO, size), w);
}

static int write_list(int fd, union written *w, size_t size)
{
	struct callout_list list = {
		.entries = (uintptr_t)w,
		.nr_entries = 1,
		.entry_size = size,
	};

	return dev_ioctl(fd, CALLOUT_IOC_LIST, &list) ?:
	       (list.got == 1 ? 0 : -EPROTO);
}

/* The one callout, by its handle. */
static int write_one(int fd, union written *w, size_t size)
{
	struct callout_list list = {
		.entries = (uintptr_t)w,
		.nr_entries = 1,
		.entry_size = size,
		.flags = CALLOUT_LISTF_HANDLE,
	};
	union written listed;

	if (write_list(fd, &listed, sizeof(listed.entry)))
		return -EPROTO;
	list.handle = listed.entry.handle;
	return dev_ioctl(fd, CALLOUT_IOC_LIST, &list) ?:
	       (list.got == 1 ? 0 : -EPROTO);
}

/* Each byte of an event is written, and none after it. */
static bool event_is_fully_written(int fd)
{
	struct callout_event e[2][2];
	unsigned int j;
	__u64 handle;

	for (j = 0; j < 2; j++) {
		memset(&e[j], j ? 0xaa : 0x55, sizeof(e[j]));
		if (read(fd, &e[j], sizeof(e[j])) != sizeof(e[j][0]) ||
		    e[j][1].type != (j ? 0xaaaaaaaa : 0x55555555))
			return false;
		/* Another event comes, which differs in these members. */
		e[j][0].handle = 0;
		e[j][0].due = 0;
		e[j][0].fired = 0;
		if (dev_set(fd, 0, 0, 5, &handle) || !wait_unread(fd, 1))
			return false;
	}
	return !memcmp(&e[0][0], &e[1][0], sizeof(e[0][0]));
}

/*
 * Whatever was in the memory before, the kernel writes the same bytes there, and 0
 * from @known bytes on. A byte that is not written has another value each time.
 */
static bool fully_written(int fd, int (*write)(int, union written *, size_t),
			  size_t known)
{
	static const size_t more[] = { 0, 8, 16, 64 };
	union written w[2];
	unsigned int i, j;
	size_t size;

	for (i = 0; i <= ARRAY_SIZE(more); i++) {
		size = i < ARRAY_SIZE(more) ? known + more[i] : CALLOUT_SIZE_MAX;
		for (j = 0; j < 2; j++) {
			memset(&w[j], j ? 0xaa : 0x55, sizeof(w[j]));
			if (write(fd, &w[j], size) ||
			    w[j].bytes[size] != (char)(j ? 0xaa : 0x55))
				return false;
		}
		if (memcmp(&w[0], &w[1], size))
			return false;
		for (j = known; j < size; j++)
			if (w[0].bytes[j])
				return false;
	}
	return true;
}

/* The kernel writes each byte of a structure, and none from its stack. */
TEST_F(errors, what_is_written_is_written_fully)
{
	int fd = dev_open(O_NONBLOCK);

	ASSERT_LE(0, fd);
	/*
	 * After the callout has fired, and the files of earlier tests are
	 * freed, nothing changes.
	 */
	ASSERT_NE(0, set(fd, 0, 5));
	ASSERT_TRUE(wait_unread(fd, 1));
	ASSERT_TRUE(wait_user_outstanding(fd, 2 * STEP));
	EXPECT_TRUE(fully_written(fd, write_info, sizeof(struct callout_info)));
	EXPECT_TRUE(fully_written(fd, write_list, sizeof(struct callout_entry)));
	EXPECT_TRUE(fully_written(fd, write_one, sizeof(struct callout_entry)));
	EXPECT_TRUE(event_is_fully_written(fd));
	close(fd);
}

/*
 * The results of a batch and its counts are written, whatever was in their place. Of an
 * operation that fails, only the result is written.
 */
TEST_F(errors, results_are_written)
{
	const __u64 other = 0x5555555555555555ULL;
	int fd = dev_open(O_NONBLOCK);
	struct callout_op ops[6], before[6];
	struct callout_batch b;
	unsigned int i;

	ASSERT_LE(0, fd);
	ops[0] = callout_op_set(HOUR, 1);
	ops[1] = callout_op_set(HOUR, 1);
	ops[1].func = 1;
	ops[2] = callout_op_move(1, HOUR);
	ops[3] = callout_op_key(callout_op_set(HOUR, 1), 7);
	ops[4] = callout_op_key(callout_op_set(TIME_MAX + 1, 1), 8);
	ops[5] = callout_op_key(callout_op_set(HOUR, 1), 9);
	ops[5].flags |= CALLOUT_OPF_ONLY_NEW;
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i].result = 0x55555555;
	ops[0].handle = other;
	ops[1].handle = other;
	for (i = 2; i < 5; i++)
		ops[i].left = other;
	memcpy(before, ops, sizeof(ops));
	b = batch_of(ops, ARRAY_SIZE(ops));
	b.done = 0x55555555;
	b.failed = 0x55555555;
	b.got = 0x55555555;
	ASSERT_EQ(0, do_batch(fd, &b));
	EXPECT_EQ(ARRAY_SIZE(ops), b.done);
	EXPECT_EQ(3, b.failed);
	EXPECT_EQ(0, b.got);
	EXPECT_EQ(0, ops[0].result);
	EXPECT_NE(other, ops[0].handle);
	EXPECT_EQ(-EINVAL, ops[1].result);
	EXPECT_EQ(-ENOENT, ops[2].result);
	EXPECT_EQ(0, ops[3].result);
	EXPECT_EQ(0, ops[3].left);
	EXPECT_EQ(-EINVAL, ops[4].result);
	/* The operation finds no callout, and writes no time. */
	EXPECT_EQ(0, ops[5].result);
	before[0].handle = ops[0].handle;
	before[3].left = ops[3].left;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		before[i].result = ops[i].result;
		EXPECT_EQ(0, memcmp(&before[i], &ops[i], sizeof(ops[i]))) {
			TH_LOG("operation %u", i);
		}
	}
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(fd, ops[0].handle));
	/*
	 * An operation that fails late, after it has found that no time was
	 * left, writes no time either.
	 */
	ASSERT_EQ(0, set_limit(fd, 1));
	ops[0] = callout_op_key(callout_op_set(HOUR, 1), 10);
	ops[0].left = other;
	ASSERT_EQ(0, do_ops(fd, ops, 1));
	EXPECT_EQ(-ENOSPC, ops[0].result);
	EXPECT_EQ(other, ops[0].left);
	close(fd);
}

/* The counts are written, even if something else in the batch is wrong. */
TEST_F(errors, counts_are_written)
{
	struct callout_op op = callout_op_cancel(1);
	struct callout_event e;
	struct callout_batch b;

#define EXPECT_COUNTS(error, change) do {				\
	b = with_events(batch_of(&op, 1), &e, 1, CALLOUT_BATCHF_WAIT, 0); \
	b.done = 0x55555555;						\
	b.failed = 0x55555555;						\
	b.got = 0x55555555;						\
	change;								\
	EXPECT_EQ(-(error), do_batch(self->fd, &b)) {			\
		TH_LOG("%s", #change);					\
	}								\
	EXPECT_EQ(0, b.done | b.failed | b.got) {			\
		TH_LOG("%s", #change);					\
	}								\
} while (0)

	EXPECT_COUNTS(EINVAL, b.flags = ~0U);
	EXPECT_COUNTS(EINVAL, b.op_size = 1);
	EXPECT_COUNTS(EINVAL, b.clockid = -1);
	EXPECT_COUNTS(EFAULT, b.sigmask = (uintptr_t)self->edge;
		      b.sigmask_size = 8);
	EXPECT_COUNTS(EFAULT, b.ops = (uintptr_t)self->edge);
#undef EXPECT_COUNTS
}

TEST_HARNESS_MAIN
