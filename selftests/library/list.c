// SPDX-License-Identifier: GPL-2.0
/*
 * list.c - libcallout's list of outstanding callouts; cancelling many; save and restore
 */
#include "lib/calls.h"

static int lib_list_handle(int fd, callout_handle_t handle,
			   struct callout_entry *entry)
{
	return callout_dev_list_one(fd, CALLOUT_LISTF_HANDLE, handle, entry);
}

static int lib_list_key(int fd, __u64 key, struct callout_entry *entry)
{
	return callout_dev_list_one(fd, CALLOUT_LISTF_KEY, key, entry);
}

TEST_F(calls, list_one)
{
	struct callout_entry entry;
	callout_handle_t handle;
	struct callout_op op;

	ASSERT_EQ(0, callout_dev_set(self->fd, HOUR, 7, &handle));
	ASSERT_EQ(0, lib_list_handle(self->fd, handle, &entry));
	EXPECT_EQ(handle, entry.handle);
	EXPECT_EQ(CALLOUT_OP_SET, entry.op);
	EXPECT_EQ(CALLOUT_OPF_ABSTIME, entry.op_flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(CLOCK_MONOTONIC, entry.clockid);
	EXPECT_GE(HOUR, entry.left);
	EXPECT_LE(entry.due, entry.left + callout_now(CLOCK_MONOTONIC));
	EXPECT_EQ(7, entry.cookie);
	op = callout_op_move(handle, 0);
	ASSERT_EQ(CALLOUT_STATE_PENDING, callout_dev_do(self->fd, &op));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_EQ(0, lib_list_handle(self->fd, handle, &entry));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, entry.state);
	EXPECT_EQ(0, entry.left);

	/* A key and an equal handle name different callouts. */
	EXPECT_EQ(-ENOENT, lib_list_key(self->fd, handle, &entry));
	EXPECT_EQ(7, entry.cookie);
	op = callout_op_key(callout_op_set(HOUR, 8), 9);
	ASSERT_EQ(0, callout_dev_do(self->fd, &op));
	EXPECT_EQ(-ENOENT, lib_list_handle(self->fd, 9, &entry));
	EXPECT_EQ(7, entry.cookie);
	ASSERT_EQ(0, lib_list_key(self->fd, 9, &entry));
	EXPECT_EQ(9, entry.key);
	EXPECT_EQ(8, entry.cookie);
	EXPECT_EQ(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME, entry.op_flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(-ENOENT, lib_list_handle(self->fd, 0, &entry));
	EXPECT_EQ(-EINVAL, callout_dev_list_one(self->fd, 0, 9, &entry));
	EXPECT_EQ(-EINVAL,
		  callout_dev_list_one(self->fd, CALLOUT_LISTF_HANDLE |
						 CALLOUT_LISTF_KEY, 9, &entry));
	EXPECT_EQ(-EFAULT, lib_list_key(self->fd, 9, nowhere()));
	EXPECT_EQ(-EBADF, lib_list_handle(-1, handle, &entry));
	EXPECT_EQ(-ENOTTY, lib_list_key(STDOUT_FILENO, 9, &entry));
	EXPECT_EQ(9, entry.key);
}

/* List a file in pages of @page. Return how many entries, or an error. */
static int list_all(int fd, struct callout_entry *entries, unsigned int page)
{
	__u64 cursor = 0;
	int n = 0, ret;

	do {
		ret = callout_dev_list(fd, &cursor, entries + n, page);
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
		ASSERT_EQ(0, callout_dev_set(self->fd, HOUR, i, &handle));
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		ASSERT_EQ(N, list_all(self->fd, entries, pages[i]));
		for (j = 0, sum = 0; j < N; j++)
			sum += entries[j].cookie;
		EXPECT_EQ(N * (N - 1) / 2, sum);
	}

	/* The caller may stop, and an error does not move the cursor. */
	ASSERT_EQ(7, callout_dev_list(self->fd, &cursor, entries, 7));
	EXPECT_NE(0, cursor);
	sum = cursor;
	EXPECT_EQ(-EINVAL, callout_dev_list(self->fd, &cursor, entries,
					    CALLOUT_BATCH_MAX + 1));
	EXPECT_EQ(-EFAULT, callout_dev_list(self->fd, &cursor, nowhere(), 7));
	EXPECT_EQ(-EBADF, callout_dev_list(-1, &cursor, entries, 7));
	EXPECT_EQ(-ENOTTY, callout_dev_list(STDOUT_FILENO, &cursor, entries, 7));
	EXPECT_EQ(sum, cursor);
}

/* Cancels by a tag in the upper half of the cookie, then all. */
TEST_F(calls, cancel_matching)
{
	const __u64 mask = ~0ULL << 32;
	callout_handle_t handle;
	unsigned int i;

	for (i = 0; i < N; i++)
		ASSERT_EQ(0, callout_dev_set(self->fd, i % 3 ? HOUR : 0,
					     (__u64)(i % 4) << 32 | i, &handle));
	EXPECT_EQ(N / 4, callout_dev_cancel_matching(self->fd, 2ULL << 32, mask));
	EXPECT_EQ(0, callout_dev_cancel_matching(self->fd, 2ULL << 32, mask));
	EXPECT_EQ(-EINVAL, callout_dev_cancel_matching(self->fd, 1, mask));
	EXPECT_EQ(3 * N / 4, info_of(self->fd).outstanding);
	EXPECT_EQ(3 * N / 4, callout_dev_cancel_matching(self->fd, 0, 0));
	EXPECT_EQ(0, callout_dev_cancel_matching(self->fd, 0, 0));
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(-EBADF, callout_dev_cancel_matching(-1, 0, 0));
	EXPECT_EQ(-ENOTTY, callout_dev_cancel_matching(STDOUT_FILENO, 0, 0));
}

static bool has_key(unsigned int i)
{
	return i % 4 == 2 || i % 8 == 3;
}

/* A callout of each sort. One in four is periodic, some have a key. */
static struct callout_op some_op(unsigned int i)
{
	struct callout_op op = callout_op_set(20 * MSEC + i * MSEC, i);

	if (i % 4 == 1)
		op = callout_op_timeout(i + 1, i, op.time);
	if (i % 4 == 3)
		op.period = HOUR + i;
	if (has_key(i))
		op = callout_op_key(op, ~0ULL - i);
	op.clockid = i & 8 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	op.slack = i & 16 ? MSEC : 0;
	return op;
}

/* The entry has the whole operation, so this sets the same callout again. */
TEST_F(calls, entry)
{
	__u64 due = callout_now(CLOCK_REALTIME) + HOUR;
	struct callout_op op = callout_op_key(callout_op_set(due, 5), 6);
	struct callout_entry before, after;

	op.clockid = CLOCK_REALTIME;
	op.flags |= CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET;
	op.slack = MSEC;
	ASSERT_EQ(0, callout_dev_do(self->fd, &op));
	ASSERT_EQ(0, lib_list_key(self->fd, 6, &before));
	op = callout_op_entry(&before);
	EXPECT_EQ(CALLOUT_STATE_PENDING, callout_dev_do(self->fd, &op));
	ASSERT_EQ(0, lib_list_key(self->fd, 6, &after));
	EXPECT_EQ(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME |
		  CALLOUT_OPF_CANCEL_ON_SET, after.op_flags);
	EXPECT_EQ(due, after.due);
	before.left = after.left;
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

/*
 * Callouts are saved by LIST, die with their file, and are set again in another:
 * each fires once, not early, with its cookie or key. On a slow machine some
 * callouts have fired before they are saved.
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

	fd = callout_dev_open(0);
	ASSERT_LE(0, fd);
	for (i = 0; i < N; i++)
		ops[i] = some_op(i);
	callout_batch_init(&batch, ops, N, NULL, 0);
	ASSERT_EQ(0, callout_dev_batch(fd, &batch));
	ASSERT_EQ(0, batch.failed);
	ASSERT_EQ(N, list_all(fd, saved, 10));
	ASSERT_EQ(0, close(fd));

	for (i = 0; i < N; i++) {
		entry = &saved[i];
		n = entry->cookie;
		ASSERT_GT(N, n);
		by_number[n] = entry;
		ops[i] = callout_op_entry(entry);
	}
	ASSERT_EQ(0, callout_dev_batch(self->fd, &batch));
	ASSERT_EQ(0, batch.failed);

	for (i = 0; i < N; i++) {
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		n = e.cookie;
		ASSERT_GT(N, n);
		entry = by_number[n];
		ASSERT_NE(NULL, entry);
		by_number[n] = NULL;
		EXPECT_EQ(has_key(n), !!(e.flags & CALLOUT_EVENTF_KEY));
		if (has_key(n))
			EXPECT_EQ(~0ULL - n, e.key);
		EXPECT_EQ(n % 4 == 3, !!(e.flags & CALLOUT_EVENTF_PERIODIC));
		EXPECT_EQ(n % 4 == 1 ? n + 1 : 0, e.func);
		EXPECT_EQ(n & 8 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, e.clockid);
		EXPECT_EQ(entry->due, e.due);
		EXPECT_LE(e.due, callout_now(e.clockid));
		EXPECT_EQ(n & 16 ? MSEC : default_slack(), entry->slack);
		if (n % 4 != 3)
			continue;
		EXPECT_EQ(HOUR + n, entry->period);
		ops[0] = callout_op_cancel(e.handle);
		if (has_key(n))
			ops[0] = callout_op_key(ops[0], e.key);
		EXPECT_EQ(CALLOUT_STATE_PENDING, callout_dev_do(self->fd, &ops[0]));
	}
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_HARNESS_MAIN
