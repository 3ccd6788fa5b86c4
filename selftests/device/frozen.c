// SPDX-License-Identifier: GPL-2.0
/*
 * frozen.c - a program of version 1 of the interface
 *
 * It is built against callout_v1.h, a copy of the header of version 1, and must work
 * unchanged on every later module. From the first release on neither file changes; before
 * it version 1 may still change. New features are tested elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/callout_v1.h"
#include "kselftest_harness.h"

#define MSEC	1000000ULL
#define HOUR	(3600 * 1000 * MSEC)

FIXTURE(v1) {
	int fd;
};

FIXTURE_SETUP(v1)
{
	self->fd = open("/dev/callout", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(v1)
{
	EXPECT_EQ(0, close(self->fd));
}

static __u64 set(int fd, __u64 time, __u64 cookie)
{
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_MONOTONIC,
		.time = time,
		.cookie = cookie,
	};

	return ioctl(fd, CALLOUT_IOC_OP, &op) ? 0 : op.handle;
}

static int cancel(int fd, __u64 handle)
{
	struct callout_op op = {
		.op = CALLOUT_OP_CANCEL,
		.handle = handle,
	};

	return ioctl(fd, CALLOUT_IOC_OP, &op);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, -1) == 1;
}

/* The numbers of the requests have the sizes of the structures in them. */
TEST(sizes)
{
	EXPECT_EQ(CALLOUT_OP_SIZE_V1, sizeof(struct callout_op));
	EXPECT_EQ(64, sizeof(struct callout_event));
	EXPECT_EQ(CALLOUT_BATCH_SIZE_V1, sizeof(struct callout_batch));
	EXPECT_EQ(CALLOUT_MATCH_SIZE_V1, sizeof(struct callout_match));
	EXPECT_EQ(CALLOUT_ENTRY_SIZE_V1, sizeof(struct callout_entry));
	EXPECT_EQ(CALLOUT_LIST_SIZE_V1, sizeof(struct callout_list));
	EXPECT_EQ(CALLOUT_LIMIT_SIZE_V1, sizeof(struct callout_limit));
	EXPECT_EQ(CALLOUT_INFO_SIZE_V1, sizeof(struct callout_info));
}

TEST_F(v1, info)
{
	struct callout_info info;

	ASSERT_EQ(0, ioctl(self->fd, CALLOUT_IOC_INFO, &info));
	EXPECT_TRUE(info.clocks & 1U << CLOCK_MONOTONIC);
	EXPECT_LT(0, info.tick_ns);
	EXPECT_EQ(0, info.outstanding);
}

TEST_F(v1, set_move_cancel_read)
{
	struct callout_op op = {
		.op = CALLOUT_OP_MOVE,
		.time = 1,
	};
	struct callout_event e[2];

	op.handle = set(self->fd, HOUR, 42);
	ASSERT_NE(0, op.handle);
	ASSERT_EQ(CALLOUT_STATE_PENDING, ioctl(self->fd, CALLOUT_IOC_OP, &op));
	EXPECT_LT(0, op.left);
	EXPECT_GE(HOUR, op.left);
	ASSERT_TRUE(readable(self->fd));
	ASSERT_EQ(sizeof(e[0]), read(self->fd, e, sizeof(e)));
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e[0].type);
	EXPECT_EQ(op.handle, e[0].handle);
	EXPECT_EQ(42, e[0].cookie);
	EXPECT_LE(e[0].due, e[0].fired);
	EXPECT_EQ(CLOCK_MONOTONIC, e[0].clockid);
	EXPECT_EQ(-1, cancel(self->fd, op.handle));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  cancel(self->fd, set(self->fd, HOUR, 1)));
}

TEST_F(v1, timeout_untimeout)
{
	struct callout_op op = {
		.op = CALLOUT_OP_TIMEOUT,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
		.func = 7,
		.cookie = 8,
	};

	ASSERT_EQ(0, ioctl(self->fd, CALLOUT_IOC_OP, &op));
	op = (struct callout_op){
		.op = CALLOUT_OP_UNTIMEOUT,
		.func = 7,
		.cookie = 8,
	};
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  ioctl(self->fd, CALLOUT_IOC_OP, &op));
}

/* Operations, among them a failing operation, then a wait for an event. */
TEST_F(v1, batch)
{
	struct callout_op op[3] = {
		{ .op = CALLOUT_OP_SET, .clockid = CLOCK_MONOTONIC,
		  .time = MSEC, .cookie = 1 },
		{ .op = CALLOUT_OP_CANCEL, .handle = 12345 },
		{ .op = CALLOUT_OP_SET, .clockid = CLOCK_MONOTONIC,
		  .time = HOUR, .cookie = 2 },
	};
	struct callout_event e;
	struct callout_batch b = {
		.ops = (uintptr_t)op,
		.nr_ops = 3,
		.op_size = sizeof(op[0]),
		.events = (uintptr_t)&e,
		.nr_events = 1,
		.flags = CALLOUT_BATCHF_WAIT,
		.time = HOUR,
		.clockid = CLOCK_MONOTONIC,
		.min_events = 1,
	};

	ASSERT_EQ(0, ioctl(self->fd, CALLOUT_IOC_BATCH, &b));
	EXPECT_EQ(3, b.done);
	EXPECT_EQ(1, b.failed);
	EXPECT_EQ(0, op[0].result);
	EXPECT_EQ(-ENOENT, op[1].result);
	EXPECT_EQ(0, op[2].result);
	ASSERT_EQ(1, b.got);
	EXPECT_EQ(1, e.cookie);
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self->fd, op[2].handle));
}

/* A callout with a key and every attribute. */
TEST_F(v1, keys)
{
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.flags = CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_NEW,
		.clockid = CLOCK_BOOTTIME,
		.time = HOUR,
		.period = 2 * HOUR,
		.slack = 3,
		.key = 99,
		.cookie = 4,
	};
	struct callout_entry entry;
	struct callout_list list = {
		.entries = (uintptr_t)&entry,
		.key = 99,
		.nr_entries = 1,
		.entry_size = sizeof(entry),
		.flags = CALLOUT_LISTF_KEY,
	};
	struct callout_event e;

	ASSERT_EQ(0, ioctl(self->fd, CALLOUT_IOC_OP, &op));
	EXPECT_EQ(-1, ioctl(self->fd, CALLOUT_IOC_OP, &op));
	EXPECT_EQ(EEXIST, errno);
	ASSERT_EQ(0, ioctl(self->fd, CALLOUT_IOC_LIST, &list));
	EXPECT_EQ(1, list.got);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(99, entry.key);
	EXPECT_EQ(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME, entry.op_flags);
	EXPECT_EQ(CLOCK_BOOTTIME, entry.clockid);
	EXPECT_EQ(2 * HOUR, entry.period);
	EXPECT_EQ(3, entry.slack);
	EXPECT_EQ(4, entry.cookie);

	op.flags = CALLOUT_OPF_KEY;
	op.clockid = CLOCK_MONOTONIC;
	op.time = 0;
	op.slack = 0;
	EXPECT_EQ(CALLOUT_STATE_PENDING, ioctl(self->fd, CALLOUT_IOC_OP, &op));
	EXPECT_LT(0, op.left);
	ASSERT_TRUE(readable(self->fd));
	ASSERT_EQ(sizeof(e), read(self->fd, &e, sizeof(e)));
	EXPECT_EQ(CALLOUT_EVENTF_KEY | CALLOUT_EVENTF_PERIODIC, e.flags);
	EXPECT_EQ(99, e.key);
	EXPECT_EQ(4, e.cookie);
	EXPECT_EQ(CLOCK_MONOTONIC, e.clockid);
	op = (struct callout_op){
		.op = CALLOUT_OP_CANCEL,
		.flags = CALLOUT_OPF_KEY,
		.key = 99,
	};
	EXPECT_EQ(CALLOUT_STATE_PENDING, ioctl(self->fd, CALLOUT_IOC_OP, &op));
}

TEST_F(v1, list_cancel_matching)
{
	struct callout_match match = { .cookie = 0x10, .mask = 0xf0 };
	struct callout_entry entries[4];
	struct callout_list list = {
		.entries = (uintptr_t)entries,
		.nr_entries = 4,
		.entry_size = sizeof(entries[0]),
	};
	unsigned int i;

	for (i = 0; i < 3; i++)
		ASSERT_NE(0, set(self->fd, HOUR, 0x10 * i));
	ASSERT_EQ(0, ioctl(self->fd, CALLOUT_IOC_LIST, &list));
	ASSERT_EQ(3, list.got);
	EXPECT_EQ(0, list.cursor);
	EXPECT_EQ(CALLOUT_OP_SET, entries[0].op);
	EXPECT_EQ(1, ioctl(self->fd, CALLOUT_IOC_CANCEL_MATCHING, &match));
	memset(&match, 0, sizeof(match));
	EXPECT_EQ(2, ioctl(self->fd, CALLOUT_IOC_CANCEL_MATCHING, &match));
}

TEST_F(v1, limit)
{
	struct callout_limit limit = { .max_outstanding = 1 };

	ASSERT_EQ(0, ioctl(self->fd, CALLOUT_IOC_LIMIT, &limit));
	ASSERT_NE(0, set(self->fd, HOUR, 1));
	EXPECT_EQ(0, set(self->fd, HOUR, 2));
	EXPECT_EQ(ENOSPC, errno);
}

TEST_HARNESS_MAIN
