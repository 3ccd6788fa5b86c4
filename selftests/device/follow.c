// SPDX-License-Identifier: GPL-2.0
/*
 * follow.c - callouts that follow the CPU that sets or reads them
 *
 * Setting a callout again to an earlier time would interrupt the CPU that made it, and
 * so would each re-arming of a periodic callout. The file "bases" of debugfs shows how
 * many callouts each CPU has. Nothing else sets callouts during the test.
 */
#include <pthread.h>

#include "kselftest_harness.h"
#include "lib/bases.h"
#include "lib/common.h"

FIXTURE(follow) {
	int fd;
	int before[2];
};

/*
 * A callout that was cancelled, or moved away, may leave its wake-up behind, and a
 * callout that is due after that interrupts nobody. A callout that fires leaves no
 * wake-up.
 */
static bool settle(int fd)
{
	struct callout_event e;
	int cpu;

	for (cpu = 0; cpu < 2; cpu++)
		if (!pin_to_cpu(cpu) || !set(fd, 0, 0) || receive(fd, &e, 1) != 1)
			return false;
	return pin_to_cpu(0);
}

FIXTURE_SETUP(follow)
{
	int i;

	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	if (sysconf(_SC_NPROCESSORS_ONLN) >= 2)
		ASSERT_TRUE(settle(self->fd));
	for (i = 0; i < 2; i++) {
		self->before[i] = bases_sum("pending", i);
		ASSERT_LE(0, self->before[i]);
	}
}

FIXTURE_TEARDOWN(follow)
{
	EXPECT_EQ(0, close(self->fd));
}

/* Which of the two CPUs has one more callout than before, or -1 if not exactly one has. */
static int where(const int *before)
{
	int more[2] = {
		bases_sum("pending", 0) - before[0],
		bases_sum("pending", 1) - before[1],
	};

	return more[0] + more[1] == 1 && !(more[0] & ~1) ? more[1] : -1;
}

#define expect_on(cpu)	EXPECT_EQ(cpu, where(self->before))

TEST_F(follow, who_sets_it_earlier)
{
	struct callout_op op = callout_op_key(callout_op_set(10 * HOUR, 1), 7);
	__u64 handle;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	handle = set(self->fd, 10 * HOUR, 1);
	ASSERT_NE(0, handle);
	expect_on(0);
	ASSERT_TRUE(pin_to_cpu(1));
	ASSERT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handle, 5 * HOUR));
	expect_on(1);
	/* A callout that interrupts nobody may stay. */
	ASSERT_TRUE(pin_to_cpu(0));
	ASSERT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handle, 6 * HOUR));
	expect_on(1);
	ASSERT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handle, HOUR));
	expect_on(0);
	ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));

	/* Move the callout by its key. */
	ASSERT_TRUE(settle(self->fd));
	ASSERT_EQ(0, do_op(self->fd, &op));
	expect_on(0);
	ASSERT_TRUE(pin_to_cpu(1));
	op.time = 5 * HOUR;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	expect_on(1);
}

/* A callout whose event is unread is set again. */
TEST_F(follow, who_sets_it_again)
{
	__u64 handle;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	ASSERT_TRUE(pin_to_cpu(0));
	handle = set(self->fd, 0, 1);
	ASSERT_NE(0, handle);
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(pin_to_cpu(1));
	ASSERT_EQ(CALLOUT_STATE_UNREAD, move(self->fd, handle, HOUR));
	expect_on(1);
}

TEST_F(follow, who_reads_a_periodic_one)
{
	struct callout_op op = callout_op_set(0, 1);
	struct callout_event e;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	op.period = HOUR;
	ASSERT_TRUE(pin_to_cpu(0));
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(pin_to_cpu(1));
	ASSERT_EQ(1, dev_read(self->fd, &e, 1));
	expect_on(1);
}

#define MOVES		20000U

struct mover {
	int fd;
	int cpu;
	struct callout_op move;
	unsigned int wrong;
	pthread_t thread;
};

/* Move it to earlier times, and sometimes to later times. */
static void *move_often(void *arg)
{
	struct mover *m = arg;
	unsigned int i;

	m->wrong += !pin_to_cpu(m->cpu);
	for (i = 0; i < MOVES; i++) {
		m->move.time = HOUR + (MOVES - i) % 3000 * SEC;
		m->wrong += do_op(m->fd, &m->move) != CALLOUT_STATE_PENDING;
	}
	return NULL;
}

/* A callout that two CPUs move at the same time stays outstanding, and fires once. */
TEST_F(follow, who_moves_it_first)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), i, keyed;
	struct callout_op op, move;
	struct callout_event e;
	struct mover m[2];

	for (keyed = 0; keyed < 2; keyed++) {
		op = callout_op_set(HOUR, 1);
		if (keyed)
			op = callout_op_key(op, 7);
		ASSERT_EQ(0, do_op(self->fd, &op));
		move = callout_op_move(op.handle, 0);
		move.flags |= op.flags;
		for (i = 0; i < 2; i++) {
			m[i] = (struct mover){
				.fd = self->fd, .cpu = i % cpus, .move = move,
			};
			ASSERT_EQ(0, pthread_create(&m[i].thread, NULL, move_often, &m[i]));
		}
		for (i = 0; i < 2; i++) {
			ASSERT_EQ(0, pthread_join(m[i].thread, NULL));
			EXPECT_EQ(0, m[i].wrong);
		}
		EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &move));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_FALSE(readable(self->fd));
		EXPECT_EQ(0, info_of(self->fd).outstanding);
	}
	EXPECT_EQ(2 * (2 * MOVES + 1), counts_of(self->fd).reset);
}

TEST_HARNESS_MAIN
