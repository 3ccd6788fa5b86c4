// SPDX-License-Identifier: GPL-2.0
/*
 * read_ways.c - the ways to read the device: some work, and the others lose no event
 */
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "lib/fixture.h"
#include "lib/uring.h"

#define IOV_MOST	1024

/* @n events are unread, and no callout is pending. */
static bool have_unread(int fd, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!set(fd, 0, i))
			return false;
	return wait_unread(fd, n);
}

/* However small the parts of the buffer are, it is filled with whole events. */
TEST_F(file, byte_by_byte)
{
	enum { N = IOV_MOST / sizeof(struct callout_event) };
	static struct callout_event e[N + 1];
	unsigned int i, k, n = N, seen;
	struct iovec iov[IOV_MOST];

	for (k = 0; k < 2; k++) {
		for (i = 0; i < IOV_MOST; i++)
			iov[i] = (struct iovec){ (char *)e + i, 1 };
		ASSERT_TRUE(have_unread(self->fd, n));
		/* One byte too few for the last event. */
		ASSERT_EQ((n - k) * sizeof(*e),
			  readv(self->fd, iov, n * sizeof(*e) - k));
		if (k)
			ASSERT_EQ(1, dev_read(self->fd, &e[n - 1], 2));
		for (i = 0, seen = 0; i < n; i++)
			seen |= 1U << e[i].cookie;
		EXPECT_EQ((1U << n) - 1, seen);
	}
	EXPECT_EQ(-1, readv(self->fd, iov, sizeof(*e) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, readv(self->fd, iov, sizeof(*e)));
	EXPECT_EQ(EAGAIN, errno);
}

/* RWF_NOWAIT is O_NONBLOCK for one call. */
TEST_F(file, nowait)
{
	struct callout_event e[2];
	struct iovec iov = { e, sizeof(e) };
	int fd = dev_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(-1, preadv2(fd, &iov, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_TRUE(have_unread(fd, 1));
	ASSERT_EQ(sizeof(e[0]), preadv2(fd, &iov, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(0, e[0].cookie);
	ASSERT_EQ(-1, preadv2(fd, &iov, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0, close(fd));
}

/* A file of events has no positions, and cannot be spliced: nothing is lost. */
TEST_F(file, refused)
{
	struct callout_event e[2];
	struct iovec iov = { e, sizeof(e) };
	loff_t from = 0;
	int p[2];

	ASSERT_EQ(0, pipe(p));
	ASSERT_TRUE(have_unread(self->fd, 1));
	EXPECT_EQ(-1, pread(self->fd, e, sizeof(e), 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, preadv2(self->fd, &iov, 1, 0, RWF_NOWAIT));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_CUR));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, splice(self->fd, NULL, p[1], NULL, sizeof(e), 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, splice(self->fd, &from, p[1], NULL, sizeof(e), 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, sendfile(p[1], self->fd, NULL, sizeof(e)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->fd, e, sizeof(e)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_FALSE(readable(p[0]));
	EXPECT_EQ(1, info_of(self->fd).unread);
	EXPECT_EQ(0, counts_of(self->fd).delivered);
	EXPECT_EQ(1, dev_read(self->fd, e, 2));
	EXPECT_EQ(0, close(p[0]) + close(p[1]));
}

/* FIONREAD returns how many bytes read() would return. */
TEST_F(file, fionread)
{
	struct callout_event e[2];
	int bytes = -1;

	ASSERT_EQ(0, dev_ioctl(self->fd, FIONREAD, &bytes));
	EXPECT_EQ(0, bytes);
	ASSERT_TRUE(have_unread(self->fd, 3));
	ASSERT_EQ(0, dev_ioctl(self->fd, FIONREAD, &bytes));
	EXPECT_EQ(3 * sizeof(e[0]), bytes);
	ASSERT_EQ(2, dev_read(self->fd, e, 2));
	ASSERT_EQ(0, dev_ioctl(self->fd, FIONREAD, &bytes));
	EXPECT_EQ(sizeof(e[0]), bytes);
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, FIONREAD, nowhere()));
	EXPECT_EQ(-ENOTTY, dev_ioctl(self->fd, _IOC(_IOC_NONE, 'T',
						    FIONREAD & 0xff, 4),
				     &bytes));
}

static bool read_fixed(struct ring *r, int fd, void *buffer, unsigned int size)
{
	struct callout_op none = { 0 };
	struct io_uring_sqe *sqe = queue(r, fd, &none, 1);

	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_READ_FIXED,
		.fd = fd,
		.addr = (uintptr_t)buffer,
		.len = size,
		.off = -1,
		.user_data = 1,
	};
	return submit(r);
}

/* A read into a buffer that io_uring has pinned waits for an event as other reads do. */
TEST_F(uring_cmd, registered_buffer)
{
	static struct callout_event e[8];
	struct iovec iov = { e, sizeof(e) };
	struct ring *r = &self->ring;
	int fd = dev_open(0);
	unsigned int i;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, syscall(__NR_io_uring_register, r->fd,
			     IORING_REGISTER_BUFFERS, &iov, 1));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(read_fixed(r, fd, &e[i], sizeof(e) - i * sizeof(*e)));
		EXPECT_EQ(-ETIME, complete(r, NULL, 5));
		ASSERT_NE(0, set(fd, MSEC, 100 + i));
		ASSERT_EQ((int)sizeof(*e), complete(r, NULL, WAIT_MS));
		EXPECT_EQ(100 + i, e[i].cookie);
	}
	ASSERT_TRUE(have_unread(fd, 3));
	ASSERT_TRUE(read_fixed(r, fd, e, sizeof(*e) - 1));
	EXPECT_EQ(-EINVAL, complete(r, NULL, WAIT_MS));
	ASSERT_TRUE(read_fixed(r, fd, e, sizeof(e)));
	EXPECT_EQ(3 * (int)sizeof(*e), complete(r, NULL, WAIT_MS));
	EXPECT_EQ(0, close(fd));
}

TEST_HARNESS_MAIN
