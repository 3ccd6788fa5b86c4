// SPDX-License-Identifier: GPL-2.0
/*
 * counters.c - what debugfs counts of the device's callouts
 *
 * Other callouts may run, but not as many.
 */
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "lib/bases.h"
#include "lib/common.h"

enum { N = 500, FEW = 50 };

FIXTURE(counters) {
	int fd;
};

FIXTURE_SETUP(counters)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(pin_to_cpu(0));
}

FIXTURE_TEARDOWN(counters)
{
	EXPECT_EQ(0, close(self->fd));
}

static bool set_many(int fd, __u64 time)
{
	int i;

	for (i = 0; i < N; i++)
		if (!set(fd, time, i))
			return false;
	return true;
}

static bool receive_many(int fd)
{
	struct callout_event e[N];

	return receive(fd, e, N) == N;
}

/* Callouts are pending on the CPU that has set them, and on no other CPU. */
TEST_F(counters, pending)
{
	long long all = bases_sum("pending", -1), here = bases_sum("pending", 0);

	ASSERT_LE(0, here);
	ASSERT_TRUE(set_many(self->fd, HOUR));
	EXPECT_LE(here + N / 2, bases_sum("pending", 0));
	EXPECT_GT(here + 2 * N, bases_sum("pending", 0));
	EXPECT_GT(all + 2 * N, bases_sum("pending", -1));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_GT(here + N / 2, bases_sum("pending", 0));
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

/* A wheel has a former size only while it moves. Other schemes have no buckets. */
TEST_F(counters, buckets)
{
	int i;

	for (i = 0; i < WAIT_MS && bases_sum("old_buckets", 0); i++)
		sleep_ns(MSEC);
	EXPECT_EQ(0, bases_sum("old_buckets", 0));
	EXPECT_LE(0, bases_sum("buckets", 0));
}

static const char *const columns[] = {
	"handlers", "wakeups", "false_wakeups", "slow", "requeues",
};

/* All fire at a few ticks: each is counted, and the facility is woken a few times. */
TEST_F(counters, fired)
{
	long long before[ARRAY_SIZE(columns)], more[ARRAY_SIZE(columns)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		before[i] = bases_sum(columns[i], -1);
	ASSERT_TRUE(set_many(self->fd, 10 * MSEC));
	ASSERT_TRUE(receive_many(self->fd));
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		ASSERT_LE(0, before[i]);
		more[i] = bases_sum(columns[i], -1) - before[i];
	}
	EXPECT_LE(N, more[0]);
	EXPECT_LT(0, more[1]);
	for (i = 1; i < ARRAY_SIZE(columns); i++)
		EXPECT_GT(N, more[i]);
}

/* Of all wheels, with the former size of a wheel that moves. */
static long long sizes(void)
{
	return bases_sum("buckets", -1) + bases_sum("old_buckets", -1);
}

/*
 * A callout that is moved to a later time stays in its bucket, and is requeued when the wheel comes
 * to its earlier time. Other schemes move it at once.
 */
TEST_F(counters, requeues)
{
	long long size, before, more = 0;
	long long visits = bases_sum("visits", -1);
	long long false_wakeups = bases_sum("false_wakeups", -1);
	__u64 handle;
	int try, i;

	size = sizes();
	if (size <= 0)
		return;
	/* A wheel that is resized in between files them by their later time: try again. */
	for (try = 0; try < 5 && more < FEW / 2; try++) {
		size = sizes();
		before = bases_sum("requeues", -1);
		for (i = 0; i < FEW; i++) {
			handle = set(self->fd, 1000 * MSEC, i);
			ASSERT_NE(0, handle);
			ASSERT_LE(0, move(self->fd, handle, HOUR));
		}
		for (i = 0; i < WAIT_MS && more < FEW / 2 && sizes() == size; i++) {
			sleep_ns(MSEC);
			more = bases_sum("requeues", -1) - before;
		}
		if (i == WAIT_MS)
			break;
	}
	EXPECT_LE(FEW / 2, more);
	EXPECT_LE(FEW / 2, bases_sum("visits", -1) - visits);
	EXPECT_LT(0, bases_sum("false_wakeups", -1) - false_wakeups);
	EXPECT_LT(0, bases_sum("max_units", -1));
}

/* Each counts as late by some number of ticks, as the device's and not as kernel code's. */
TEST_F(counters, lateness)
{
	long long device = debugfs_sum("lateness", "device", -1);
	long long kernel = debugfs_sum("lateness", "kernel", -1);

	ASSERT_LE(0, device);
	ASSERT_LE(0, kernel);
	ASSERT_TRUE(set_many(self->fd, 10 * MSEC));
	ASSERT_TRUE(receive_many(self->fd));
	EXPECT_LE(device + N, debugfs_sum("lateness", "device", -1));
	EXPECT_GT(kernel + N, debugfs_sum("lateness", "kernel", -1));
	/* 0, 1, 2, 4 and so on. */
	EXPECT_EQ(65535, debugfs_sum("lateness", "ticks_from", -1));
}

/* Only root reads them. */
TEST(modes)
{
	static const char *const files[] = { "bases", "lateness", "files" };
	char path[64];
	struct stat st;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), CALLOUT_DEBUGFS "%s", files[i]);
		ASSERT_EQ(0, stat(path, &st));
		EXPECT_EQ(0400, st.st_mode & 07777);
	}
}

TEST_HARNESS_MAIN
