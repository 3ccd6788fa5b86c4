// SPDX-License-Identifier: GPL-2.0
/*
 * members.c - structures that are not operations: with wrong members, and
 * what the kernel writes of them
 */
#include "lib/bystander.h"

/* Members that must be zero are checked, and so are flags, counts and sizes. */
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

	for (bit = 2; bit < 32; bit++)
		REFUSED(b.flags = 1U << bit);
	REFUSED(b.timeout = 1);
	REFUSED(b.wait_size = CALLOUT_WAIT_SIZE_V1);
	for (bit = 0; bit < 32; bit++)
		REFUSED(b.reserved = 1U << bit);
	REFUSED(b.nr_ops = CALLOUT_BATCH_MAX + 1);
	REFUSED(b.nr_ops = ~0U);
	REFUSED(b.nr_events = CALLOUT_BATCH_MAX + 1);
	REFUSED(b.nr_events = ~0U);
	for (size = 0; size < 2 * CALLOUT_SIZE_MAX; size++)
		if (!is_size(size, CALLOUT_OP_SIZE_V1))
			REFUSED(b.op_size = size);
	REFUSED(b.op_size = ~0U);
	REFUSED(b.op_size = 1U << 31);
	for (size = 0; size < 2 * CALLOUT_SIZE_MAX; size++)
		if (!is_size(size, CALLOUT_EVENT_SIZE_V1))
			REFUSED(b.event_size = size);
	REFUSED(b.event_size = ~0U);
	REFUSED(b.event_size = 1U << 31);
#undef REFUSED
}

/* A wrong struct callout_wait is refused before any operation is done. */
TEST_F(errors, wait_members)
{
	static const int clocks[] = { 2, 3, 4, 5, 6, 10, 11, 31, -1, -2,
				      1 << 30 };
	struct callout_op op = callout_op_set(HOUR, 1);
	struct {
		struct callout_wait wait;
		char more[LARGEST_SIZE];
	} w;
	struct callout_event e;
	struct callout_batch b;
	__u64 mask = 0;
	unsigned int i;

#define REFUSED(error, change) do {					\
	b = with_events(batch_of(&op, 1), &e, 1, CALLOUT_BATCH_WAIT, 0); \
	memset(&w, 0, sizeof(w));					\
	w.wait.clockid = CLOCK_MONOTONIC;				\
	b.wait = (uintptr_t)&w;						\
	b.wait_size = sizeof(w.wait);					\
	change;								\
	EXPECT_EQ(-(error), do_batch(self->fd, &b)) {			\
		TH_LOG("%s", #change);					\
	}								\
	EXPECT_EQ(0, op.handle);					\
} while (0)

	for (i = 0; i < 2 * CALLOUT_SIZE_MAX; i++)
		if (!is_size(i, CALLOUT_WAIT_SIZE_V1))
			REFUSED(EINVAL, b.wait_size = i);
	REFUSED(EINVAL, b.wait_size = ~0U);
	REFUSED(E2BIG, b.wait_size = CALLOUT_SIZE_MAX; w.more[4000] = 1);
	REFUSED(EINVAL, b.timeout = 1);
	REFUSED(EINVAL, b.flags = 0);
	REFUSED(EINVAL, b.nr_events = 0);
	REFUSED(EFAULT, b.wait = 8);
	REFUSED(EFAULT, b.wait = (uintptr_t)self->edge);
	REFUSED(EFAULT, b.wait = (uintptr_t)(self->edge -
					     CALLOUT_WAIT_SIZE_V1 + 1));
	for (i = 0; i < ARRAY_SIZE(kernel_addresses); i++)
		REFUSED(EFAULT, b.wait = kernel_addresses[i]);
	for (i = 1; i < 32; i++)
		REFUSED(EINVAL, w.wait.flags = 1U << i);
	for (i = 0; i < ARRAY_SIZE(clocks); i++)
		REFUSED(EINVAL, w.wait.clockid = clocks[i]);
	REFUSED(EOPNOTSUPP, w.wait.clockid = CLOCK_REALTIME_ALARM);
	REFUSED(EOPNOTSUPP, w.wait.clockid = CLOCK_BOOTTIME_ALARM);
	REFUSED(EINVAL, w.wait.min_events = 2);
	REFUSED(EINVAL, w.wait.min_events = ~0U);
	REFUSED(EINVAL, w.wait.sigmask_size = 8);
	for (i = 0; i < 130; i++)
		if (i != sizeof(mask))
			REFUSED(EINVAL, w.wait.sigmask = (uintptr_t)&mask;
				w.wait.sigmask_size = i);
	for (i = 0; i < ARRAY_SIZE(kernel_addresses); i++)
		REFUSED(EFAULT, w.wait.sigmask = kernel_addresses[i];
			w.wait.sigmask_size = 8);
	REFUSED(EFAULT, w.wait.sigmask = (uintptr_t)self->edge;
		w.wait.sigmask_size = 8);
#undef REFUSED
}

/* No flag of these is known yet, and no bit is outside of the mask. */
TEST_F(errors, other_members)
{
	struct callout_eventfd eventfd;
	struct callout_cancel cancel;
	struct callout_limit limit;
	unsigned int i, j;

	for (i = 0; i < 32; i++) {
		for (j = 0; j < 2; j++) {
			limit = (struct callout_limit){
				.max_outstanding = 2,
				.flags = j << i,
				.reserved = !j << i,
			};
			EXPECT_EQ(-EINVAL, callout_dev_ioctl(self->fd,
							     CALLOUT_IOC_LIMIT,
							     &limit));
			cancel = (struct callout_cancel){
				.flags = j << i,
				.reserved = !j << i,
			};
			EXPECT_EQ(-EINVAL, callout_dev_ioctl(self->fd,
							     CALLOUT_IOC_CANCEL,
							     &cancel));
		}
		eventfd = (struct callout_eventfd){
			.fd = -1,
			.flags = 1U << i,
		};
		EXPECT_EQ(-EINVAL, callout_dev_ioctl(self->fd,
						     CALLOUT_IOC_EVENTFD,
						     &eventfd));
	}
	for (i = 0; i < 64; i++) {
		cancel = (struct callout_cancel){
			.cookie = 1ULL << i,
			.mask = ~(1ULL << i),
		};
		EXPECT_EQ(-EINVAL, callout_dev_ioctl(self->fd,
						     CALLOUT_IOC_CANCEL,
						     &cancel));
	}
	EXPECT_EQ(-EINVAL, set_limit(self->fd, 0));
	EXPECT_EQ(-EBADF, set_eventfd(self->fd, self->fd));
}

static int set_format(int fd, unsigned int size, unsigned int flags)
{
	struct callout_format format = { .event_size = size, .flags = flags };

	return callout_dev_ioctl(fd, CALLOUT_IOC_FORMAT, &format);
}

/* The size of the file's events is that of a structure. */
TEST_F(errors, format_members)
{
	unsigned int i;

	for (i = 0; i < 2 * CALLOUT_SIZE_MAX; i++) {
		if (is_size(i, CALLOUT_EVENT_SIZE_V1))
			continue;
		EXPECT_EQ(-EINVAL, set_format(self->fd, i, 0));
	}
	EXPECT_EQ(-EINVAL, set_format(self->fd, ~0U, 0));
	for (i = 0; i < 32; i++)
		EXPECT_EQ(-EINVAL, set_format(self->fd, CALLOUT_EVENT_SIZE_V1,
					      1U << i));
}

TEST_F(errors, next_members)
{
	static const int clocks[] = { 2, 3, 4, 5, 6, 10, 11, 31, 32, 33, -1,
				      -2, 1 << 30 };
	struct callout_next next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		next = (struct callout_next){ .clockid = clocks[i] };
		EXPECT_EQ(-EINVAL, callout_dev_ioctl(self->fd,
						     CALLOUT_IOC_NEXT, &next));
	}
	for (i = 0; i < 32; i++) {
		next = (struct callout_next){
			.clockid = CLOCK_MONOTONIC,
			.flags = 1U << i,
		};
		EXPECT_EQ(-EINVAL, callout_dev_ioctl(self->fd,
						     CALLOUT_IOC_NEXT, &next));
	}
}

#define STEP	64	/* a user is charged for as many at a time */

/* Room for the largest, and a byte that must stay as it is. */
union written {
	struct callout_entry entry;
	char bytes[CALLOUT_SIZE_MAX + 1];
};

static int write_info(int fd, union written *w, size_t size)
{
	return callout_dev_ioctl(fd, resized(CALLOUT_IOC_INFO, size), w);
}

static int write_list(int fd, union written *w, size_t size)
{
	struct callout_list list = {
		.entries = (uintptr_t)w,
		.nr_entries = 1,
		.entry_size = size,
	};

	return callout_dev_ioctl(fd, CALLOUT_IOC_LIST, &list) ?:
	       (list.got == 1 ? 0 : -EPROTO);
}

/* GET takes a handle and flags. The kernel knows nothing of what is longer. */
static int write_get(int fd, union written *w, size_t size)
{
	union written listed;

	if (write_list(fd, &listed, sizeof(listed.entry)))
		return -EPROTO;
	w->entry.handle = listed.entry.handle;
	w->entry.flags = 0;
	memset(w->bytes + sizeof(w->entry), 0, size - sizeof(w->entry));
	return callout_dev_ioctl(fd, resized(CALLOUT_IOC_GET, size), w);
}

/*
 * Whatever was in the memory before, what the kernel writes there is the same, and
 * 0 from @known bytes on. A byte that is not written has another value each time.
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

/* No byte of what the kernel writes is left as it was, or is of its stack. */
TEST_F(errors, what_is_written_is_written_fully)
{
	int fd = callout_dev_open(O_NONBLOCK);

	ASSERT_LE(0, fd);
	/* Once it has fired, and earlier tests' files are freed, nothing changes. */
	ASSERT_NE(0, set(fd, 0, 5));
	ASSERT_TRUE(wait_unread(fd, 1));
	ASSERT_TRUE(wait_user_outstanding(fd, 2 * STEP));
	EXPECT_TRUE(fully_written(fd, write_info, sizeof(struct callout_info)));
	EXPECT_TRUE(fully_written(fd, write_list, sizeof(struct callout_entry)));
	EXPECT_TRUE(fully_written(fd, write_get, sizeof(struct callout_entry)));
	close(fd);
}

/* Results of a batch, and its counts, whatever was in their place. */
TEST_F(errors, results_are_written)
{
	struct callout_next next = {
		.clockid = CLOCK_MONOTONIC,
		.due = 0x5555555555555555ULL,
	};
	int fd = callout_dev_open(O_NONBLOCK);
	struct callout_op ops[3];
	struct callout_batch b;
	unsigned int i;

	ASSERT_LE(0, fd);
	ops[0] = callout_op_set(HOUR, 1);
	ops[1] = callout_op_set(HOUR, 1);
	ops[1].func = 1;
	ops[2] = callout_op_reset(1, HOUR);
	for (i = 0; i < 3; i++)
		ops[i].result = 0x55555555;
	ops[0].handle = 0x5555555555555555ULL;
	ops[1].handle = 0x5555555555555555ULL;
	ops[2].left = 0x5555555555555555ULL;
	b = batch_of(ops, 3);
	b.done = 0x55555555;
	b.failed = 0x55555555;
	b.got = 0x55555555;
	ASSERT_EQ(0, do_batch(fd, &b));
	EXPECT_EQ(3, b.done);
	EXPECT_EQ(2, b.failed);
	EXPECT_EQ(0, b.got);
	EXPECT_EQ(0, ops[0].result);
	EXPECT_EQ(-EINVAL, ops[1].result);
	EXPECT_EQ(0, ops[1].handle);
	EXPECT_EQ(-ENOENT, ops[2].result);
	EXPECT_EQ(0, ops[2].left);
	EXPECT_EQ(CALLOUT_CANCELLED, callout_dev_unset(fd, ops[0].handle));
	ASSERT_EQ(0, callout_dev_ioctl(fd, CALLOUT_IOC_NEXT, &next));
	EXPECT_EQ(~0ULL, next.due);
	close(fd);
}

TEST_HARNESS_MAIN
