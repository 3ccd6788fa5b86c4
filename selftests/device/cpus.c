// SPDX-License-Identifier: GPL-2.0
/*
 * cpus.c - the callouts of a file on all CPUs, up to the file's limit
 *
 * Free slots are kept for each CPU. Wherever they are, a file may have as many
 * callouts outstanding as its limit says, and no more; and a stale handle names
 * nothing on any CPU.
 */
#include <pthread.h>

#include "kselftest_harness.h"
#include "lib/common.h"

/* Number of callouts of each CPU, which fill several chunks of slots. */
#define SHARE		100U
#define THREADS		8U
#define CHANGES		2000U

FIXTURE(cpus) {
	int fd;
	unsigned int cpus;
	unsigned int limit;
	__u64 *handles;
};

FIXTURE_SETUP(cpus)
{
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	self->limit = SHARE * self->cpus;
	self->handles = calloc(self->limit + 1, sizeof(__u64));
	ASSERT_NE(NULL, self->handles);
	self->fd = open_with_limit(self->limit, O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(cpus)
{
	EXPECT_EQ(0, close(self->fd));
	free(self->handles);
}

/* Set callouts up to the limit, on each CPU its share, or all on CPU 0. Return how many. */
static unsigned int fill(int fd, __u64 *handles, unsigned int cpus, bool share)
{
	unsigned int cpu, i, n = 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		if ((!cpu || share) && !pin_to_cpu(cpu))
			return 0;
		for (i = 0; i < SHARE; i++, n++)
			if (dev_set(fd, 0, HOUR, n, &handles[n]))
				return n;
	}
	return n;
}

static unsigned int cancel_all(int fd, const __u64 *handles, unsigned int n)
{
	unsigned int i, cancelled = 0;

	for (i = 0; i < n; i++)
		cancelled += dev_cancel(fd, handles[i]) ==
			     CALLOUT_STATE_PENDING;
	return cancelled;
}

/* One callout above the limit is refused, on every CPU. */
TEST_F(cpus, limit_on_each)
{
	__u64 handle = 0;
	unsigned int cpu;

	ASSERT_EQ(self->limit, fill(self->fd, self->handles, self->cpus, true));
	for (cpu = 0; cpu < self->cpus; cpu++) {
		ASSERT_TRUE(pin_to_cpu(cpu));
		ASSERT_EQ(-ENOSPC, dev_set(self->fd, 0, HOUR, 0,
					   &handle));
		ASSERT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, self->handles[0]));
		ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, 0,
				     &self->handles[0]));
	}
	EXPECT_EQ(0, handle);
	EXPECT_EQ(self->limit,
		  cancel_all(self->fd, self->handles, self->limit));
}

/* Cancel each handle from another CPU. Return how many named nothing. */
static unsigned int stale(int fd, const __u64 *handles, unsigned int n,
			  unsigned int cpus)
{
	unsigned int i, named_none = 0;

	for (i = 0; i < n; i++) {
		if (i % SHARE == 0 && !pin_to_cpu((i / SHARE + 1) % cpus))
			return 0;
		named_none += dev_cancel(fd, handles[i]) == -ENOENT;
	}
	return named_none;
}

/*
 * One CPU gets the slots that were used and freed on all other CPUs. Their old
 * handles name nothing after that, on any CPU.
 */
TEST_F(cpus, slots_of_others)
{
	__u64 *old = calloc(self->limit, sizeof(__u64));

	ASSERT_NE(NULL, old);
	ASSERT_EQ(self->limit, fill(self->fd, old, self->cpus, true));
	ASSERT_TRUE(pin_to_cpu(0));
	ASSERT_EQ(self->limit, cancel_all(self->fd, old, self->limit));
	ASSERT_EQ(self->limit,
		  fill(self->fd, self->handles, self->cpus, false));
	EXPECT_EQ(-ENOSPC, dev_set(self->fd, 0, HOUR, 0,
				   &self->handles[self->limit]));
	EXPECT_EQ(self->limit, stale(self->fd, old, self->limit, self->cpus));
	EXPECT_EQ(self->limit, info_of(self->fd).outstanding);
	EXPECT_EQ(self->limit,
		  cancel_all(self->fd, self->handles, self->limit));
	free(old);
}

/**
 * struct changer - a thread that sets and cancels one callout
 * @fd: the file
 * @first: the CPU where the thread begins
 * @cpus: the number of CPUs
 * @handle: the callout
 * @wrong: operations that failed
 * @thread: the thread
 */
struct changer {
	int fd;
	unsigned int first;
	unsigned int cpus;
	__u64 handle;
	unsigned int wrong;
	pthread_t thread;
};

/* Visit every THREADS-th CPU. There is room for a callout of each thread. */
static void *change(void *arg)
{
	struct changer *c = arg;
	unsigned int cpu = c->first, i;

	for (i = 0; i < CHANGES; i++) {
		if (i % 8 == 0) {
			c->wrong += !pin_to_cpu(cpu);
			cpu += THREADS;
			if (cpu >= c->cpus)
				cpu = c->first;
		}
		if (dev_set(c->fd, 0, HOUR, i, &c->handle)) {
			c->wrong++;
			continue;
		}
		c->wrong += dev_cancel(c->fd, c->handle) !=
			    CALLOUT_STATE_PENDING;
	}
	return NULL;
}

/*
 * Threads that each set one callout, on one CPU after the other, always find a
 * slot, although few slots are free and these are being moved from CPU to CPU.
 */
TEST_F(cpus, few_slots)
{
	struct changer c[THREADS];
	unsigned int i, wrong = 0;

	ASSERT_TRUE(pin_to_cpu(0));
	ASSERT_EQ(self->limit,
		  fill(self->fd, self->handles, self->cpus, false));
	ASSERT_EQ(THREADS, cancel_all(self->fd, self->handles, THREADS));
	for (i = 0; i < THREADS; i++) {
		c[i] = (struct changer){
			.fd = self->fd,
			.first = i % self->cpus,
			.cpus = self->cpus,
		};
		ASSERT_EQ(0, pthread_create(&c[i].thread, NULL, change, &c[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(c[i].thread, NULL);
		wrong += c[i].wrong;
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(self->limit - THREADS, info_of(self->fd).outstanding);
}

TEST_HARNESS_MAIN
