// SPDX-License-Identifier: GPL-2.0
/*
 * list.c - what libcallout tells about callouts that are
 * outstanding: GET, LIST, FIONREAD; CANCEL of many; save and restore
 */
#include "lib/calls.h"

TEST_F(calls, get)
{
	struct callout_entry entry;
	callout_handle_t handle;

	ASSERT_EQ(0, callout_set(self->fd, HOUR, 7, &handle));
	ASSERT_EQ(0, callout_get(self->fd, handle, &entry));
	EXPECT_EQ(handle, entry.handle);
	EXPECT_EQ(CALLOUT_OP_SET, entry.op);
	EXPECT_EQ(CALLOUT_ABSTIME, entry.flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(CLOCK_MONOTONIC, entry.clockid);
	EXPECT_GE(HOUR, entry.left);
	EXPECT_LE(entry.due, entry.left + callout_now(CLOCK_MONOTONIC));
	EXPECT_EQ(7, entry.cookie);
	ASSERT_EQ(CALLOUT_CANCELLED, callout_reset(self->fd, handle, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_EQ(0, callout_get(self->fd, handle, &entry));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, entry.state);
	EXPECT_EQ(0, entry.left);

	/* A key is another name than a handle. */
	EXPECT_EQ(-ENOENT, callout_get_key(self->fd, handle, &entry));
	EXPECT_EQ(7, entry.cookie);
	ASSERT_EQ(0, callout_set_key(self->fd, 9, HOUR));
	EXPECT_EQ(-ENOENT, callout_get(self->fd, 9, &entry));
	EXPECT_EQ(7, entry.cookie);
	ASSERT_EQ(0, callout_get_key(self->fd, 9, &entry));
	EXPECT_EQ(9, entry.handle);
	EXPECT_EQ(CALLOUT_KEY | CALLOUT_ABSTIME, entry.flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(-ENOENT, callout_get(self->fd, 0, &entry));
	EXPECT_EQ(-EBADF, callout_get(-1, handle, &entry));
	EXPECT_EQ(-ENOTTY, callout_get_key(STDOUT_FILENO, 9, &entry));
	EXPECT_EQ(9, entry.handle);
}

/* Lists a file in pages of @page; returns how many entries, or an error. */
static int list_all(int fd, struct callout_entry *entries, unsigned int page)
{
	__u64 cursor = 0;
	int n = 0, ret;

	do {
		ret = callout_list(fd, &cursor, entries + n, page);
		if (ret < 0)
			return ret;
		n += ret;
	} while (cursor);
	return n;
}

#define N	100

TEST_F(calls, list)
{
	static const unsigned int pages[] = { 1, 7, N, CALLOUT_BATCH_MAX };
	struct callout_entry entries[N + 7];
	callout_handle_t handle;
	__u64 cursor = 0;
	unsigned int i, j;
	__u64 sum;

	EXPECT_EQ(0, list_all(self->fd, entries, 7));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, callout_set(self->fd, HOUR, i, &handle));
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		ASSERT_EQ(N, list_all(self->fd, entries, pages[i]));
		for (j = 0, sum = 0; j < N; j++)
			sum += entries[j].cookie;
		EXPECT_EQ(N * (N - 1) / 2, sum);
	}

	/* The caller may stop, and an error does not move the cursor. */
	ASSERT_EQ(7, callout_list(self->fd, &cursor, entries, 7));
	EXPECT_NE(0, cursor);
	sum = cursor;
	EXPECT_EQ(-EINVAL, callout_list(self->fd, &cursor, entries,
					CALLOUT_BATCH_MAX + 1));
	EXPECT_EQ(-EFAULT, callout_list(self->fd, &cursor, nowhere(), 7));
	EXPECT_EQ(-EBADF, callout_list(-1, &cursor, entries, 7));
	EXPECT_EQ(-ENOTTY, callout_list(STDOUT_FILENO, &cursor, entries, 7));
	EXPECT_EQ(sum, cursor);
}

/* Cancels by a tag in the upper half of the cookie, then all. */
TEST_F(calls, cancel)
{
	const __u64 mask = ~0ULL << 32;
	callout_handle_t handle;
	unsigned int i;

	for (i = 0; i < N; i++)
		ASSERT_EQ(0, callout_set(self->fd, i % 3 ? HOUR : 0,
					 (__u64)(i % 4) << 32 | i, &handle));
	EXPECT_EQ(N / 4, callout_cancel(self->fd, 2ULL << 32, mask));
	EXPECT_EQ(0, callout_cancel(self->fd, 2ULL << 32, mask));
	EXPECT_EQ(-EINVAL, callout_cancel(self->fd, 1, mask));
	EXPECT_EQ(3 * N / 4, info_of(self->fd).outstanding);
	EXPECT_EQ(3 * N / 4, callout_cancel(self->fd, 0, 0));
	EXPECT_EQ(0, callout_cancel(self->fd, 0, 0));
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(-EBADF, callout_cancel(-1, 0, 0));
	EXPECT_EQ(-ENOTTY, callout_cancel(STDOUT_FILENO, 0, 0));
}

TEST_F(calls, unread_bytes)
{
	struct callout_event e[2];
	callout_handle_t handle;
	unsigned int i;

	EXPECT_EQ(0, callout_unread_bytes(self->fd));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, callout_set(self->fd, 0, i, &handle));
	ASSERT_TRUE(wait_unread(self->fd, 3));
	EXPECT_EQ(3 * sizeof(e[0]), callout_unread_bytes(self->fd));
	ASSERT_EQ(2, callout_read(self->fd, e, 2));
	EXPECT_EQ(sizeof(e[0]), callout_unread_bytes(self->fd));
	EXPECT_EQ(-EBADF, callout_unread_bytes(-1));
}

/* A descriptor that cannot change callouts can still look at them. */
TEST_F(calls, access_mode)
{
	int fd = open(CALLOUT_DEVICE, O_RDONLY | O_CLOEXEC);
	struct callout_entry entry;
	__u64 cursor = 0;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, callout_list(fd, &cursor, &entry, 1));
	EXPECT_EQ(-ENOENT, callout_get_key(fd, 1, &entry));
	EXPECT_EQ(0, callout_unread_bytes(fd));
	EXPECT_EQ(-EBADF, callout_cancel(fd, 0, 0));
	EXPECT_EQ(-EBADF, callout_set_key(fd, 1, HOUR));
	close(fd);
}

/* A callout of each sort. One in two is a periodic one, or has a key. */
static struct callout_op some_op(unsigned int i)
{
	struct callout_op op = callout_op_set(20 * MSEC + i * MSEC, i);

	if (i % 4 == 1)
		op = callout_op_timeout(i + 1, i, op.time);
	if (i % 4 == 2) {
		op.cookie = 0;
		op = callout_op_key(op, i);
	}
	if (i % 4 == 3)
		op.period = HOUR + i;
	op.clockid = i & 8 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	op.slack = i & 16 ? MSEC : 0;
	return op;
}

/* The number that a callout of some_op() was given. */
static __u64 number_of(const struct callout_event *e)
{
	return e->flags & CALLOUT_EVENT_KEY ? e->handle : e->cookie;
}

/*
 * Callouts are saved by LIST, die with their file, and are set again in another:
 * each fires once, not early, with its cookie or key. On a slow machine some
 * have fired before they are saved.
 */
TEST_F(calls, save_and_restore)
{
	struct callout_entry saved[N], *by_number[N] = { NULL };
	struct callout_entry *entry;
	struct callout_batch batch;
	struct callout_op ops[N];
	struct callout_event e;
	unsigned int i, n;
	int fd;

	fd = callout_open(0);
	ASSERT_LE(0, fd);
	for (i = 0; i < N; i++)
		ops[i] = some_op(i);
	callout_batch_init(&batch, ops, N, NULL, 0);
	ASSERT_EQ(0, callout_batch_submit(fd, &batch));
	ASSERT_EQ(0, batch.failed);
	ASSERT_EQ(N, list_all(fd, saved, 10));
	ASSERT_EQ(0, close(fd));

	for (i = 0; i < N; i++) {
		entry = &saved[i];
		n = entry->flags & CALLOUT_KEY ? entry->handle : entry->cookie;
		ASSERT_GT(N, n);
		by_number[n] = entry;
		ops[i] = callout_op_entry(entry);
	}
	ASSERT_EQ(0, callout_batch_submit(self->fd, &batch));
	ASSERT_EQ(0, batch.failed);

	for (i = 0; i < N; i++) {
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		n = number_of(&e);
		ASSERT_GT(N, n);
		entry = by_number[n];
		ASSERT_NE(NULL, entry);
		by_number[n] = NULL;
		EXPECT_EQ(n % 4 == 2, !!(e.flags & CALLOUT_EVENT_KEY));
		EXPECT_EQ(n % 4 == 3, !!(e.flags & CALLOUT_EVENT_PERIODIC));
		EXPECT_EQ(n % 4 == 1 ? n + 1 : 0, e.func);
		EXPECT_EQ(n & 8 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, e.clockid);
		EXPECT_EQ(entry->due, e.due);
		EXPECT_LE(e.due, callout_now(e.clockid));
		if (n % 4 != 3)
			continue;
		EXPECT_EQ(HOUR + n, entry->period);
		EXPECT_EQ(n & 16 ? MSEC : 0, entry->slack);
		EXPECT_EQ(CALLOUT_CANCELLED,
			  callout_unset(self->fd, e.handle));
	}
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_HARNESS_MAIN
