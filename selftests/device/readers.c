// SPDX-License-Identifier: GPL-2.0
/*
 * readers.c - several readers wait for the events of one file, and an event
 * wakes one of them
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "lib/fixture.h"
#include "lib/stuck.h"

#define READERS	24U

/* A thread that reads one event at a time, until it gets END. */
#define END	100000

struct reader {
	int fd;			/* blocking */
	bool batch;		/* the reader waits in BATCH, for short times */
	atomic_bool started;
	atomic_uint got;
	unsigned int seed;
	pid_t tid;
	pthread_t thread;
};

/* Return 1, 0 if none came in time, or an error. */
static int read_one(struct reader *r, struct callout_event *e)
{
	struct callout_batch b;
	int ret;

	if (!r->batch)
		return dev_read(r->fd, e, 1);
	b = batch_wait(e, rand_r(&r->seed) % (2 * MSEC));
	ret = do_batch(r->fd, &b);
	return ret ? ret : (int)b.got;
}

static void *read_all(void *arg)
{
	struct callout_event e;
	struct reader *r = arg;
	int ret;

	r->tid = syscall(SYS_gettid);
	r->started = true;
	for (;;) {
		ret = read_one(r, &e);
		if (ret == -EINTR || !ret)
			continue;
		if (ret != 1)
			return r;
		if (e.cookie == END)
			return NULL;
		r->got++;
	}
}

FIXTURE(waiting) {
	int fd;			/* blocking */
	struct reader readers[READERS];
};

FIXTURE_SETUP(waiting)
{
	self->fd = dev_open(0);
	ASSERT_LE(0, self->fd);
}

/* Each of these events ends one reader. */
FIXTURE_TEARDOWN(waiting)
{
	unsigned int i;
	void *failed;

	for (i = 0; i < READERS; i++)
		EXPECT_NE(0, set(self->fd, 0, END));
	for (i = 0; i < READERS; i++) {
		pthread_join(self->readers[i].thread, &failed);
		EXPECT_EQ(NULL, failed);
	}
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(0, close(self->fd));
}

static bool start_readers(struct _test_data_waiting *self, bool batches)
{
	struct reader *r;
	unsigned int i;

	for (i = 0; i < READERS; i++) {
		r = &self->readers[i];
		*r = (struct reader){
			.fd = self->fd,
			.batch = batches && i & 1,
			.seed = i + 1,
		};
		if (pthread_create(&r->thread, NULL, read_all, r))
			return false;
	}
	return true;
}

static unsigned int sum_of(struct _test_data_waiting *self)
{
	unsigned int i, sum = 0;

	for (i = 0; i < READERS; i++)
		sum += self->readers[i].got;
	return sum;
}

static bool wait_sum(struct _test_data_waiting *self, unsigned int sum)
{
	return wait_value(sum_of(self), sum);
}

/* Whether the reader sleeps. *@switches is how often it went to sleep. */
static bool asleep(struct reader *r, unsigned long *switches)
{
	char path[64], line[256], state = 0;
	FILE *f;

	if (!r->started)
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", r->tid);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "State: %c", &state) == 1)
			continue;
		if (sscanf(line, "voluntary_ctxt_switches: %lu", switches) == 1)
			break;
	}
	fclose(f);
	return state == 'S';
}

/* Wait until all readers sleep. Return how often they went to sleep, or 0. */
static unsigned long all_asleep(struct _test_data_waiting *self)
{
	__u64 limit = dev_now() + WAIT_MS * MSEC;
	unsigned long sum, switches;
	unsigned int i;

	do {
		sleep_ns(20 * MSEC);
		for (i = 0, sum = 0; i < READERS; i++, sum += switches)
			if (!asleep(&self->readers[i], &switches))
				break;
		if (i == READERS)
			return sum;
	} while (dev_now() < limit);
	return 0;
}

/* An event wakes one waiting reader, not all (no thundering herd). */
TEST_F(waiting, one_is_woken)
{
	unsigned long before, after;
	unsigned int i;

	ASSERT_TRUE(start_readers(self, false));
	before = all_asleep(self);
	ASSERT_NE(0, before);
	for (i = 1; i <= 10; i++) {
		ASSERT_NE(0, set(self->fd, 0, i));
		ASSERT_TRUE(wait_sum(self, i));
	}
	after = all_asleep(self);
	ASSERT_NE(0, after);
	/* On PREEMPT_RT locks sleep too. */
	EXPECT_GT(10 * READERS / 2, after - before) {
		TH_LOG("%u readers were woken %lu times by 10 events",
		       READERS, after - before);
	}
}

/* A reader that was woken and is stuck leaves other events to other readers. */
TEST_F(waiting, one_is_stuck)
{
	struct callout_op ops[2];
	struct stuck stuck;

	if (stuck_possible()) {
		/* This reader waits first, so that it will be woken. */
		ASSERT_TRUE(stuck_begin(&stuck, self->fd));
		sleep_ns(50 * MSEC);
	}
	ASSERT_TRUE(start_readers(self, false));
	if (!stuck_possible())
		SKIP(return, "the kernel has no userfaultfd");
	ASSERT_NE(0, all_asleep(self));
	ops[0] = callout_op_set(100 * MSEC, 1);
	ops[1] = callout_op_set(100 * MSEC, 2);
	ASSERT_EQ(2, do_ops(self->fd, ops, 2));
	ASSERT_TRUE(stuck_has_event(&stuck));
	EXPECT_TRUE(wait_sum(self, 1));
	EXPECT_EQ(1, stuck_finish(&stuck));
	stuck_free(&stuck);
}

/* A reader that leaves events unread wakes the next reader. */
TEST_F(waiting, many_at_once)
{
	struct callout_op ops[3 * READERS];
	unsigned int i, round;

	ASSERT_TRUE(start_readers(self, false));
	ASSERT_NE(0, all_asleep(self));
	for (round = 1; round <= 5; round++) {
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			ops[i] = callout_op_set(0, i);
		ASSERT_EQ(ARRAY_SIZE(ops),
			  do_ops(self->fd, ops, ARRAY_SIZE(ops)));
		ASSERT_TRUE(wait_sum(self, round * ARRAY_SIZE(ops)));
	}
}

/* No wake-up is lost if a signal or a timeout wakes the same reader. */
TEST_F(waiting, signals_and_timeouts)
{
	unsigned int seed = 1, i, sum = 0;

	ASSERT_TRUE(interrupt_by(SIGUSR1, 0));
	ASSERT_TRUE(start_readers(self, true));
	for (i = 0; i < 400; i++) {
		ASSERT_NE(0, set(self->fd, rand_r(&seed) % (4 * MSEC), i));
		sum++;
		pthread_kill(self->readers[rand_r(&seed) % READERS].thread,
			     SIGUSR1);
		if (i % 4 == 0)
			sleep_ns(rand_r(&seed) % (4 * MSEC));
		/* All events must have been read from time to time. */
		if (i % 40 == 0)
			ASSERT_TRUE(wait_sum(self, sum));
	}
	EXPECT_TRUE(wait_sum(self, sum));
}

TEST_HARNESS_MAIN
