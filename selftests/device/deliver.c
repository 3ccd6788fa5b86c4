// SPDX-License-Identifier: GPL-2.0
/*
 * deliver.c - delivery of events: epoll's edges, the sleepers that they wake, and
 * arrays of every size
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "lib/fixture.h"

/*
 * Each expiry is an edge, also while events are unread. A read is no edge. One
 * callout fires at a time, since the edge of a later callout could come after
 * epoll_wait(2).
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
		/* A read that leaves some events unread, and a read of all events. */
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
		ASSERT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handle));
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

/* Return an epoll that watches @fd with these flags of epoll. */
static int watch(int fd, __u32 flags)
{
	struct epoll_event ev = { .events = EPOLLIN | flags };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	return ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) ? -errno : ep;
}

/* Each epoll without EPOLLEXCLUSIVE gets the edge. */
TEST_F(file, epoll_edges_for_all)
{
	struct epoll_event ev;
	int ep[3], i, k;

	for (k = 0; k < 3; k++) {
		ep[k] = watch(self->fd, EPOLLET);
		ASSERT_LE(0, ep[k]);
	}
	for (i = 0; i < 5; i++) {
		ASSERT_NE(0, set(self->fd, 0, i));
		for (k = 0; k < 3; k++)
			ASSERT_EQ(1, epoll_wait(ep[k], &ev, 1, WAIT_MS));
	}
	for (k = 0; k < 3; k++)
		EXPECT_EQ(0, close(ep[k]));
}

#define SLEEPERS	2
#define EVENTS		100U
#define END		1	/* the data of the event that ends a sleeper */

/* A thread that sleeps in an epoll and counts how often it was woken. */
struct sleeper {
	int ep;
	atomic_int tid;
	atomic_uint woken;
	pthread_t thread;
};

static void *sleep_in_epoll(void *arg)
{
	struct sleeper *s = arg;
	struct epoll_event ev;

	s->tid = syscall(SYS_gettid);
	while (epoll_wait(s->ep, &ev, 1, -1) == 1 && ev.data.u32 != END)
		s->woken++;
	return NULL;
}

/*
 * Wait until the sleepers were woken @n times and all sleep. Return how often they
 * were, or 0. A thread whose state says that it sleeps holds the lock of its epoll
 * until it can be woken.
 */
static unsigned int woken_of(const struct sleeper *s, unsigned int n)
{
	__u64 limit = dev_now() + WAIT_MS * MSEC;
	unsigned int i, woken, sleeping;

	do {
		woken = 0;
		sleeping = 0;
		for (i = 0; i < SLEEPERS; i++)
			woken += s[i].woken;
		/* Check the states after the counts: a woken thread sleeps again by then. */
		for (i = 0; i < SLEEPERS; i++)
			sleeping += s[i].tid && state_of(s[i].tid) == 'S';
		if (sleeping == SLEEPERS && woken >= n)
			return woken;
		sched_yield();
	} while (dev_now() < limit);
	return 0;
}

/*
 * An event wakes one of the threads that sleep in epolls with EPOLLEXCLUSIVE. Nobody
 * reads, so that a woken thread finds an event.
 */
TEST_F(file, epollexclusive)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = END };
	int end = eventfd(0, EFD_CLOEXEC);
	struct sleeper s[SLEEPERS] = { 0 };
	unsigned int i;

	ASSERT_LE(0, end);
	for (i = 0; i < SLEEPERS; i++) {
		s[i].ep = watch(self->fd, EPOLLET | EPOLLEXCLUSIVE);
		ASSERT_LE(0, s[i].ep);
		ASSERT_EQ(0, epoll_ctl(s[i].ep, EPOLL_CTL_ADD, end, &ev));
		ASSERT_EQ(0, pthread_create(&s[i].thread, NULL, sleep_in_epoll, &s[i]));
	}
	ASSERT_EQ(0, woken_of(s, 0));
	for (i = 1; i <= EVENTS; i++) {
		ASSERT_NE(0, set(self->fd, 0, i));
		ASSERT_EQ(i, woken_of(s, i));
	}
	EXPECT_EQ(EVENTS, info_of(self->fd).unread);
	ASSERT_EQ(0, eventfd_write(end, 1));
	for (i = 0; i < SLEEPERS; i++) {
		ASSERT_EQ(0, pthread_join(s[i].thread, NULL));
		EXPECT_EQ(0, close(s[i].ep));
	}
	EXPECT_EQ(0, close(end));
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
			/* One byte too few for one more event. */
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
