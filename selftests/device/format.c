// SPDX-License-Identifier: GPL-2.0
/*
 * format.c - events of the size that the program gives
 */
#include <sys/mman.h>

#include "lib/fixture.h"

/* More than the kernel copies at a time. */
#define N	40

#define LARGEST	CALLOUT_SIZE_MAX

static const unsigned int sizes[] = {
	CALLOUT_EVENT_SIZE_V1, CALLOUT_EVENT_SIZE_V1 + 8, 80, 104, 128, 1000,
	LARGEST,
};

static int set_format(int fd, unsigned int size)
{
	struct callout_format format = { .event_size = size };

	return callout_dev_ioctl(fd, CALLOUT_IOC_FORMAT, &format);
}

/* Sets @n callouts, with cookies from @first on, and waits until all fired. */
static bool fire(int fd, unsigned int first, unsigned int n)
{
	struct callout_op ops[N];
	unsigned int i;

	for (i = 0; i < n; i++)
		ops[i] = callout_op_set(0, first + i);
	return do_ops(fd, ops, n) == (int)n && wait_unread(fd, n);
}

/* Is this an event of @size, 0 beyond what the header declares? */
static bool is_event(const char *at, unsigned int size)
{
	struct callout_event e;
	unsigned int i;

	memcpy(&e, at, sizeof(e));
	for (i = sizeof(e); i < size; i++)
		if (at[i])
			return false;
	return e.type == CALLOUT_EVENT_FIRED && !e.flags && e.handle &&
	       e.cookie < N && !e.func && e.due <= e.fired && !e.overrun &&
	       e.clockid == CLOCK_MONOTONIC && !e.reserved;
}

/* read() writes events of the file's size, as many as fit. */
TEST_F(file, read)
{
	static char space[(N + 1) * LARGEST];
	unsigned int i, j, size;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size = sizes[i];
		ASSERT_EQ(0, set_format(self->fd, size));
		ASSERT_TRUE(fire(self->fd, 0, N));
		memset(space, 0x55, sizeof(space));
		EXPECT_EQ(-1, read(self->fd, space, size - 1));
		EXPECT_EQ(EINVAL, errno);
		/* Not quite room for the last one. */
		ASSERT_EQ((ssize_t)((N - 1) * size),
			  read(self->fd, space, N * size - 1));
		EXPECT_EQ(0x55, space[(N - 1) * size]);
		ASSERT_EQ((ssize_t)size, read(self->fd,
					      space + (N - 1) * size,
					      2 * size));
		for (j = 0; j < N; j++)
			ASSERT_TRUE(is_event(space + j * size, size)) {
				TH_LOG("%u bytes, event %u", size, j);
			}
		EXPECT_EQ(0x55, space[N * size]);
	}
	/* A size that is refused changes nothing. */
	ASSERT_EQ(0, set_format(self->fd, 72));
	ASSERT_EQ(-EINVAL, set_format(self->fd, CALLOUT_EVENT_SIZE_V1 - 1));
	ASSERT_TRUE(fire(self->fd, 0, 1));
	EXPECT_EQ(72, read(self->fd, space, 100));
}

/* BATCH has a size of its own. */
TEST_F(file, batch)
{
	static char space[(N + 1) * LARGEST];
	struct callout_batch b;
	unsigned int i, j, size;

	ASSERT_EQ(0, set_format(self->fd, 200));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size = sizes[i];
		ASSERT_TRUE(fire(self->fd, 0, N));
		memset(space, 0x55, sizeof(space));
		b = with_events(batch_of(NULL, 0), (void *)space, N + 1, 0, 0);
		b.event_size = size;
		ASSERT_EQ(0, do_batch(self->fd, &b));
		ASSERT_EQ(N, b.got);
		for (j = 0; j < N; j++)
			ASSERT_TRUE(is_event(space + j * size, size)) {
				TH_LOG("%u bytes, event %u", size, j);
			}
		EXPECT_EQ(0x55, space[N * size]);
	}
}

/* An event that was copied in part is read again, and no other is lost. */
TEST_F(file, inaccessible_in_the_middle)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char seen[N] = { 0 };
	unsigned int i, size, got;
	struct callout_event e;
	char *space, *at;

	space = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, space);
	ASSERT_EQ(0, mprotect(space + page, page, PROT_NONE));
	for (i = 0; i < ARRAY_SIZE(sizes) - 1; i++) {
		size = sizes[i];
		ASSERT_EQ(0, set_format(self->fd, size));
		ASSERT_TRUE(fire(self->fd, 0, N));
		/* The page ends in the second event: its tail or before. */
		at = space + page - 2 * size + 1 + i % 2 * (size - 1) / 2;
		for (got = 0; got < N; got++) {
			ASSERT_EQ((ssize_t)size,
				  read(self->fd, at, (N + 1) * size));
			ASSERT_TRUE(is_event(at, size));
			memcpy(&e, at, sizeof(e));
			EXPECT_EQ(i, seen[e.cookie]++);
		}
		EXPECT_EQ(-EAGAIN, callout_dev_read(self->fd, (void *)space,
						    page / sizeof(e)));
	}
}

/* FIONREAD tells how many bytes read() would return. */
TEST_F(file, fionread)
{
	struct callout_event e[2];
	int bytes = -1;

	ASSERT_EQ(0, callout_dev_ioctl(self->fd, FIONREAD, &bytes));
	EXPECT_EQ(0, bytes);
	ASSERT_TRUE(fire(self->fd, 0, 3));
	ASSERT_EQ(0, callout_dev_ioctl(self->fd, FIONREAD, &bytes));
	EXPECT_EQ(3 * sizeof(e[0]), bytes);
	ASSERT_EQ(2, callout_dev_read(self->fd, e, 2));
	ASSERT_EQ(0, set_format(self->fd, 1000));
	ASSERT_EQ(0, callout_dev_ioctl(self->fd, FIONREAD, &bytes));
	EXPECT_EQ(1000, bytes);
	EXPECT_EQ(-EFAULT, callout_dev_ioctl(self->fd, FIONREAD, nowhere()));
	EXPECT_EQ(-ENOTTY, callout_dev_ioctl(self->fd, _IOC(_IOC_NONE, 'T',
							    FIONREAD & 0xff, 4),
					     &bytes));
}

/* An event says which clock its due time is of. */
TEST_F(file, clock)
{
	struct callout_op op = callout_op_set(0, 1);
	struct callout_event e;

	op.clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
	EXPECT_EQ(CLOCK_BOOTTIME, e.clockid);
}

TEST_HARNESS_MAIN
