// SPDX-License-Identifier: GPL-2.0
/*
 * read_errors.c - reads with bad buffers, which lose no event
 */
#include "lib/bystander.h"

TEST_F(errors, einval_short_read)
{
	char buffer[sizeof(struct callout_event)];
	size_t size;

	for (size = 0; size < sizeof(buffer); size++) {
		EXPECT_EQ(-1, read(self->fd, buffer, size));
		EXPECT_EQ(EINVAL, errno);
	}
	ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
	for (size = 0; size < sizeof(buffer); size++) {
		EXPECT_EQ(-1, read(self->fd, buffer, size));
		EXPECT_EQ(EINVAL, errno);
	}
}

/* Time enough for a test to set its callouts, also on a busy machine. */
#define LATER	(500 * 1000 * 1000ULL)

/*
 * Set @n callouts on one CPU that fire in the order of their cookies. All are
 * set before the first is due: not all schemes order callouts that are due
 * together.
 */
static bool fire_in_order(struct _test_data_errors *self, unsigned int n)
{
	__u64 handle, tick = default_slack(), start = dev_now() + LATER;
	unsigned int i;

	if (!pin_to_cpu(0) || !readable_within(self->fd, WAIT_MS))
		return false;
	for (i = 0; i < n; i++)
		if (dev_timeout(self->fd, CALLOUT_OPF_ABSTIME,
				start + 4 * i * tick, 2, i, &handle))
			return false;
	freeze(self);
	return wait_unread(self->fd, n + 1);
}

/* Events that could not be copied stay unread, and keep their order. */
TEST_F(errors, efault_read)
{
	enum { N = 20 };
	void *bad[] = { NULL, self->edge, (void *)-1L, in_the_kernel() };
	struct callout_event e;
	unsigned int i;

	ASSERT_TRUE(fire_in_order(self, N));
	for (i = 0; i < 3 * ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EFAULT, dev_read(self->fd,
					    bad[i % ARRAY_SIZE(bad)],
						    1 + i * 5));
	EXPECT_EQ(N + 1, info_of(self->fd).unread);
	for (i = 0; i < N; i++) {
		ASSERT_TRUE(receive_one(self, &e));
		EXPECT_EQ(i, e.cookie);
	}
}

/* If the buffer is inaccessible from within the second event, one is read. */
TEST_F(errors, efault_in_the_middle_of_read)
{
	enum { N = 30 };
	struct callout_event *e = (void *)(self->edge - sizeof(*e) * 3 / 2);
	unsigned int next = 0;
	int n;

	ASSERT_TRUE(fire_in_order(self, N));
	while (next < N) {
		n = dev_read(self->fd, e, 16);
		ASSERT_EQ(1, n);
		if (e->cookie == BYSTANDER) {
			ASSERT_FALSE(self->seen);
			self->seen = true;
			continue;
		}
		ASSERT_EQ(next, e->cookie);
		next++;
	}
}

/* An event that could not be copied can be withdrawn. */
TEST_F(errors, efault_read_then_cancel)
{
	struct callout_event e;

	ASSERT_TRUE(fire_in_order(self, 3));
	EXPECT_EQ(-EFAULT, dev_read(self->fd, (void *)self->edge, 9));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, dev_untimeout(self->fd, 2, 1, 0));
	ASSERT_TRUE(receive_one(self, &e));
	EXPECT_EQ(0, e.cookie);
	ASSERT_TRUE(receive_one(self, &e));
	EXPECT_EQ(2, e.cookie);
	EXPECT_EQ(1, counts_of(self->fd).withdrawn);
	freeze(self);
}

TEST_HARNESS_MAIN
