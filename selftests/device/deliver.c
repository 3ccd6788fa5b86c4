// SPDX-License-Identifier: GPL-2.0
/*
 * deliver.c - delivery of events: epoll's edges, and arrays of every size
 */
#include <sys/epoll.h>
#include <sys/uio.h>

#include "lib/fixture.h"

/*
 * Each expiry is an edge, also while events are unread; a read is none. One callout
 * fires at a time: the edge of a later one could come after epoll_wait(2).
 */
TEST_F(file, epoll_edges)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC), i;
	struct callout_event e[4];

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	for (i = 0; i < 12; i++) {
		ASSERT_NE(0, set(self->fd, i % 2 * MSEC, i));
		EXPECT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 10));
		if (i % 4 < 3)
			continue;
		/* A read that leaves some unread, and one of all. */
		ASSERT_EQ(3, dev_read(self->fd, e, 3));
		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 10));
		ASSERT_EQ(1, dev_read(self->fd, e, 4));
		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 10));
	}
	close(ep);
}

/* An event that was withdrawn, or could not be copied, is followed by an edge. */
TEST_F(file, epoll_edges_after_others)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC), i;
	struct callout_event e[2];
	__u64 handle;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	for (i = 0; i < 3; i++) {
		handle = set(self->fd, 0, i);
		EXPECT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
		ASSERT_EQ(CALLOUT_WITHDRAWN, dev_cancel(self->fd, handle));
	}
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 10));
	ASSERT_NE(0, set(self->fd, 0, i));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
		EXPECT_EQ(-EFAULT, dev_read(self->fd, nowhere(), 1));
	}
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
	ASSERT_EQ(1, receive(self->fd, e, 2));
	close(ep);
}

TEST_F(file, arrays_of_every_size)
{
	enum { LARGEST = 40, N = LARGEST * (LARGEST + 1) / 2 };
	static struct callout_event e[LARGEST + 1];
	static unsigned char seen[N];
	struct callout_op ops[N];
	unsigned int i, size;
	struct iovec one[LARGEST * sizeof(e[0]) / 16];

	for (i = 0; i < N; i++)
		ops[i] = callout_op_set(0, i);
	ASSERT_EQ(N, do_ops(self->fd, ops, N));
	ASSERT_TRUE(wait_unread(self->fd, N));
	for (size = 1; size <= LARGEST; size++) {
		memset(e, 0x55, sizeof(e));
		if (size & 1) {
			/* Not quite room for one more. */
			ASSERT_EQ((ssize_t)(size * sizeof(e[0])),
				  read(self->fd, e, (size + 1) * sizeof(e[0]) -
						    1));
		} else {
			for (i = 0; i < size * sizeof(e[0]) / 16; i++)
				one[i] = (struct iovec){
					.iov_base = (char *)e + i * 16,
					.iov_len = 16,
				};
			ASSERT_EQ((ssize_t)(size * sizeof(e[0])),
				  readv(self->fd, one, i));
		}
		for (i = 0; i < size; i++) {
			ASSERT_GT(N, e[i].cookie);
			EXPECT_EQ(0, seen[e[i].cookie]++);
			EXPECT_EQ(ops[e[i].cookie].handle, e[i].handle);
		}
		/* Memory behind the events is not written. */
		EXPECT_EQ(0x55555555, e[size].flags);
		EXPECT_EQ(0x5555555555555555, e[size].handle);
	}
	EXPECT_FALSE(readable(self->fd));
}

TEST_HARNESS_MAIN
