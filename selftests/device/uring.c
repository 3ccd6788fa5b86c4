// SPDX-License-Identifier: GPL-2.0
/*
 * uring.c - io_uring reads and polls the device
 */
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "lib/stuck.h"

#define ENTRIES	8U

FIXTURE(uring) {
	int fd;		/* blocking: io_uring decides how to wait */
	int ring;
	struct io_uring_params p;
	size_t size;
	char *rings;
	struct io_uring_sqe *sqes;
};

FIXTURE_SETUP(uring)
{
	self->ring = syscall(__NR_io_uring_setup, ENTRIES, &self->p);
	if (self->ring < 0)
		SKIP(return, "the kernel has no io_uring");
	ASSERT_TRUE(self->p.features & IORING_FEAT_SINGLE_MMAP);
	/* Both rings, and the array of indices, are in one mapping. */
	self->size = self->p.cq_off.cqes +
		     self->p.cq_entries * sizeof(struct io_uring_cqe) +
		     self->p.sq_off.array + self->p.sq_entries * sizeof(__u32);
	self->rings = mmap(NULL, self->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   self->ring, IORING_OFF_SQ_RING);
	ASSERT_NE(MAP_FAILED, self->rings);
	self->sqes = mmap(NULL, self->p.sq_entries * sizeof(*self->sqes),
			  PROT_READ | PROT_WRITE, MAP_SHARED, self->ring,
			  IORING_OFF_SQES);
	ASSERT_NE(MAP_FAILED, self->sqes);
	self->fd = dev_open(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(uring)
{
	close(self->fd);
	close(self->ring);
}

/* A ring lives as long as it is mapped. */
static int unmap(struct _test_data_uring *self)
{
	return munmap(self->rings, self->size) +
	       munmap(self->sqes, self->p.sq_entries * sizeof(*self->sqes));
}

static atomic_uint *ring_word(struct _test_data_uring *self, __u32 offset)
{
	return (void *)(self->rings + offset);
}

static bool submit(struct _test_data_uring *self,
		   const struct io_uring_sqe *sqe)
{
	atomic_uint *tail = ring_word(self, self->p.sq_off.tail);
	unsigned int i = *tail & (self->p.sq_entries - 1);

	self->sqes[i] = *sqe;
	*ring_word(self, self->p.sq_off.array + i * sizeof(__u32)) = i;
	atomic_fetch_add(tail, 1);
	return syscall(__NR_io_uring_enter, self->ring, 1, 0, 0, NULL, 0) == 1;
}

static bool submit_read(struct _test_data_uring *self, void *buffer,
			unsigned int size)
{
	return submit(self, &(struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.fd = self->fd,
		.addr = (uintptr_t)buffer,
		.len = size,
		.off = -1,
		.user_data = size,
	});
}

/* Return the result of the next completion, or -ETIME. */
static int complete(struct _test_data_uring *self, int ms)
{
	atomic_uint *head = ring_word(self, self->p.cq_off.head);
	atomic_uint *tail = ring_word(self, self->p.cq_off.tail);
	struct io_uring_cqe *cqes = (void *)(self->rings +
					     self->p.cq_off.cqes);
	int ret;

	if (*head == *tail && !readable_within(self->ring, ms))
		return -ETIME;
	ret = cqes[*head & (self->p.cq_entries - 1)].res;
	atomic_fetch_add(head, 1);
	return ret;
}

TEST_F(uring, read_before_it_fires)
{
	struct callout_event e = { 0 };
	__u64 handle;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		ASSERT_TRUE(submit_read(self, &e, sizeof(e)));
		EXPECT_EQ(-ETIME, complete(self, 5));
		handle = set(self->fd, 10 * MSEC, i);
		ASSERT_EQ((int)sizeof(e), complete(self, WAIT_MS));
		EXPECT_EQ(handle, e.handle);
		EXPECT_EQ(i, e.cookie);
		EXPECT_LE(e.due, e.fired);
	}
}

TEST_F(uring, read_after_it_has_fired)
{
	struct callout_event e[8] = { 0 };
	int i;

	for (i = 0; i < 5; i++)
		ASSERT_NE(0, set(self->fd, 0, i));
	ASSERT_TRUE(wait_unread(self->fd, 5));
	ASSERT_TRUE(submit_read(self, e, sizeof(e)));
	EXPECT_EQ(5 * (int)sizeof(e[0]), complete(self, WAIT_MS));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Each of several waiting reads gets an event, and no event comes twice. */
TEST_F(uring, several_reads)
{
	struct callout_event e[4] = { 0 };
	unsigned int i, sum = 0;

	for (i = 0; i < 4; i++)
		ASSERT_TRUE(submit_read(self, &e[i], sizeof(e[i])));
	for (i = 0; i < 4; i++) {
		ASSERT_NE(0, set(self->fd, i * MSEC, 1 << i));
		if (i & 1)
			sleep_ns(10 * MSEC);
	}
	for (i = 0; i < 4; i++)
		ASSERT_EQ((int)sizeof(e[0]), complete(self, WAIT_MS));
	for (i = 0; i < 4; i++)
		sum += e[i].cookie;
	EXPECT_EQ(15, sum);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/*
 * A multishot read, which is woken by the first unread event, gets all events
 * even while another reader is stuck. Kernels before 6.7 have no multishot
 * reads; device_stuck has the same with epoll.
 */
#ifndef IORING_OP_READ_MULTISHOT
#define IORING_OP_READ_MULTISHOT	49
#endif
#define GROUP	1

TEST_F(uring, multishot_with_a_stuck_reader)
{
	struct callout_event e[ENTRIES] = { 0 };
	struct stuck stuck;
	unsigned int i;
	int ret;

	if (!stuck_possible())
		SKIP(return, "the kernel has no userfaultfd");
	ASSERT_TRUE(submit(self, &(struct io_uring_sqe){
		.opcode = IORING_OP_PROVIDE_BUFFERS,
		.fd = ENTRIES,
		.addr = (uintptr_t)e,
		.len = sizeof(e[0]),
		.buf_group = GROUP,
	}));
	ASSERT_EQ(0, complete(self, WAIT_MS));
	ASSERT_NE(0, set(self->fd, 0, 100));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(stuck_start(&stuck, self->fd));
	ASSERT_TRUE(submit(self, &(struct io_uring_sqe){
		.opcode = IORING_OP_READ_MULTISHOT,
		.flags = IOSQE_BUFFER_SELECT,
		.fd = self->fd,
		.off = -1,
		.buf_group = GROUP,
	}));
	ret = complete(self, 10);
	if (ret == -EINVAL) {
		TH_LOG("no multishot reads");
	} else {
		EXPECT_EQ(-ETIME, ret);
		for (i = 0; i < 4; i++) {
			ASSERT_NE(0, set(self->fd, 0, i));
			ASSERT_EQ((int)sizeof(e[0]), complete(self, WAIT_MS));
		}
		EXPECT_EQ(1, info_of(self->fd).outstanding);
	}
	EXPECT_EQ(1, stuck_finish(&stuck));
	EXPECT_EQ(100, stuck.page->cookie);
	stuck_free(&stuck);
}

/* Big-endian kernels swap the halves of the word. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define POLL_MASK(events)	((__u32)(events) << 16)
#else
#define POLL_MASK(events)	((__u32)(events))
#endif

TEST_F(uring, poll)
{
	ASSERT_TRUE(submit(self, &(struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD,
		.fd = self->fd,
		.poll32_events = POLL_MASK(POLLIN),
	}));
	EXPECT_EQ(-ETIME, complete(self, 5));
	ASSERT_NE(0, set(self->fd, 5 * MSEC, 1));
	EXPECT_EQ(POLLIN, complete(self, WAIT_MS) & POLLIN);
}

TEST_F(uring, bad_buffer)
{
	struct callout_event e;

	ASSERT_NE(0, set(self->fd, 0, 1));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(submit_read(self, nowhere(), sizeof(e)));
	EXPECT_EQ(-EFAULT, complete(self, WAIT_MS));
	EXPECT_EQ(1, info_of(self->fd).unread);
	ASSERT_TRUE(submit_read(self, &e, sizeof(e) - 1));
	EXPECT_EQ(-EINVAL, complete(self, WAIT_MS));
	ASSERT_TRUE(submit_read(self, &e, sizeof(e)));
	EXPECT_EQ((int)sizeof(e), complete(self, WAIT_MS));
}

/* A ring that is closed while it reads releases the file. */
TEST_F(uring, ring_is_closed)
{
	int other = dev_open(O_NONBLOCK);
	struct callout_event e;

	ASSERT_LE(0, other);
	ASSERT_TRUE(wait_user_outstanding(other, 0));
	ASSERT_TRUE(submit_read(self, &e, sizeof(e)));
	ASSERT_NE(0, set(self->fd, HOUR, 1));
	EXPECT_LT(0, info_of(other).user_charged);
	EXPECT_EQ(0, unmap(self));
	EXPECT_EQ(0, close(self->fd));
	EXPECT_EQ(0, close(self->ring));
	EXPECT_TRUE(wait_user_outstanding(other, 0));
	self->fd = other;
	self->ring = dup(other);
}

TEST_HARNESS_MAIN
