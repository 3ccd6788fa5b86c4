// SPDX-License-Identifier: GPL-2.0
/*
 * limit.c - a file with limit N may have N callouts, and not N + 1
 */
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest_harness.h"
#include "lib/common.h"

FIXTURE(limit) {
	int fd;
	int cpus;
	__u64 handles[11];
};

FIXTURE_VARIANT(limit) {
	unsigned int n;
};

FIXTURE_VARIANT_ADD(limit, one) { .n = 1 };
FIXTURE_VARIANT_ADD(limit, ten) { .n = 10 };

FIXTURE_SETUP(limit)
{
	unsigned int i;

	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	self->fd = open_with_limit(variant->n, O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(variant->n, info_of(self->fd).max_outstanding);
	for (i = 0; i < variant->n; i++)
		ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, i,
				     &self->handles[i]));
}

FIXTURE_TEARDOWN(limit)
{
	unsigned int i;

	/* No refused operation has taken the place of these callouts. */
	for (i = 0; i < variant->n; i++)
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, self->handles[i]));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(0, close(self->fd));
}

TEST_F(limit, enospc)
{
	struct callout_op op;
	__u64 handle = 0;
	int i;

	for (i = 0; i < 4 * self->cpus; i++) {
		ASSERT_TRUE(pin_to_cpu(i % self->cpus));
		EXPECT_EQ(-ENOSPC, dev_set(self->fd, 0, 0, 1,
					   &handle));
		EXPECT_EQ(-ENOSPC, dev_timeout(self->fd, 0, 0, 1, 2,
					       &handle));
		op = callout_op_key(callout_op_set(0, 1), 5);
		EXPECT_EQ(-ENOSPC, do_op(self->fd, &op));
	}
	EXPECT_EQ(0, handle);
	EXPECT_EQ(variant->n, info_of(self->fd).outstanding);
	EXPECT_EQ(variant->n, counts_of(self->fd).set);
	EXPECT_FALSE(readable_within(self->fd, 30));
}

/* A cancel makes room for one callout, on any CPU. */
TEST_F(limit, room_after_cancel)
{
	unsigned int i;
	__u64 handle;

	for (i = 0; i < 20U * self->cpus; i++) {
		ASSERT_TRUE(pin_to_cpu(i % self->cpus));
		ASSERT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd,
				     self->handles[i % variant->n]));
		ASSERT_TRUE(pin_to_cpu(i / 3 % self->cpus));
		ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, i,
				     &self->handles[i % variant->n]));
		ASSERT_EQ(-ENOSPC, dev_set(self->fd, 0, HOUR, i,
					   &handle));
	}
}

/* A callout that has fired counts until its event is read. */
TEST_F(limit, unread_events_count)
{
	struct callout_event e;
	__u64 handle;

	ASSERT_EQ(CALLOUT_STATE_PENDING,
		  dev_cancel(self->fd, self->handles[0]));
	ASSERT_EQ(0, dev_set(self->fd, 0, 0, 1, &handle));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(-ENOSPC, dev_set(self->fd, 0, 0, 1, &handle));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(0, dev_set(self->fd, 0, HOUR, 1, &self->handles[0]));
}

/* A limit applies to one file and does not affect other files. */
TEST_F(limit, other_files_have_their_own)
{
	int other = dev_open(O_NONBLOCK);
	__u64 handle;
	int i;

	ASSERT_LE(0, other);
	for (i = 0; i < 20; i++)
		EXPECT_EQ(0, dev_set(other, 0, HOUR, i, &handle));
	EXPECT_EQ(0, close(other));
}

#define PAIR_ROUNDS	500U

/* Two threads that set a callout each in the same new file, at the same time. */
struct pair {
	int fd;
	bool wrong;
	atomic_uint round;	/* the thread may begin */
	atomic_uint ended;	/* of the second thread */
};

static void pair_wait(const atomic_uint *what, unsigned int n)
{
	unsigned int spins = 0;

	while (*what < n)
		if (++spins % 100000 == 0)
			sched_yield();
}

static void *pair_second(void *arg)
{
	struct pair *p = arg;
	unsigned int i;

	for (i = 1; i <= PAIR_ROUNDS; i++) {
		pair_wait(&p->round, i);
		if (!set(p->fd, HOUR, 2))
			p->wrong = true;
		p->ended = i;
	}
	return NULL;
}

#define BATCH	6

/* A batch of SETs takes the room that is left, however much that is, and no more. */
TEST(batch)
{
	struct callout_op ops[BATCH];
	unsigned int room, i;
	int fd;

	for (room = 0; room <= BATCH; room++) {
		fd = open_with_limit(BATCH, O_NONBLOCK);
		ASSERT_LE(0, fd);
		for (i = room; i < BATCH; i++)
			ASSERT_NE(0, set(fd, HOUR, i));
		for (i = 0; i < BATCH; i++)
			ops[i] = callout_op_set(HOUR, i);
		ASSERT_EQ(room, do_ops(fd, ops, BATCH));
		for (i = 0; i < BATCH; i++)
			EXPECT_EQ(i < room ? 0 : -ENOSPC, ops[i].result);
		EXPECT_EQ(BATCH, info_of(fd).outstanding);
		EXPECT_EQ(0, close(fd));
	}
}

/* In a file with room for two callouts, each of two threads may set one. */
TEST(room_for_two)
{
	struct pair p = { 0 };
	pthread_t thread;
	unsigned int i;

	ASSERT_EQ(0, pthread_create(&thread, NULL, pair_second, &p));
	for (i = 1; i <= PAIR_ROUNDS; i++) {
		p.fd = open_with_limit(2, O_NONBLOCK);
		ASSERT_LE(0, p.fd);
		p.round = i;
		EXPECT_NE(0, set(p.fd, HOUR, 1));
		pair_wait(&p.ended, i);
		close(p.fd);
	}
	pthread_join(thread, NULL);
	EXPECT_FALSE(p.wrong);
}

TEST_HARNESS_MAIN
