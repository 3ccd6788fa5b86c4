// SPDX-License-Identifier: GPL-2.0
/*
 * reset.c - RESET: a re-armed callout keeps its handle and fires once
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/fixture.h"

static int reset_abs(int fd, __u64 handle, __u64 time)
{
	struct callout_op op = callout_op_reset(handle, time);

	op.flags = CALLOUT_ABSTIME;
	return do_op(fd, &op);
}

TEST_F(file, to_an_earlier_time)
{
	__u64 due, handle = set(self->fd, HOUR, 7);
	struct callout_event e;

	ASSERT_NE(0, handle);
	due = callout_dev_now() + 5 * MSEC;
	EXPECT_EQ(CALLOUT_CANCELLED, reset_abs(self->fd, handle, due));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(handle, e.handle);
	EXPECT_EQ(7, e.cookie);
	EXPECT_EQ(0, e.func);
	EXPECT_EQ(0, e.overrun);
	EXPECT_EQ(0, e.flags);
	EXPECT_EQ(due, e.due);
	EXPECT_LE(due, e.fired);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_F(file, to_a_later_time)
{
	struct callout_event e;
	__u64 due, handle = set(self->fd, 20 * MSEC, 7);

	ASSERT_NE(0, handle);
	due = callout_dev_now() + 100 * MSEC;
	/* Under slow emulation it may have fired by now. */
	EXPECT_LE(CALLOUT_CANCELLED, reset_abs(self->fd, handle, due));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(due, callout_dev_now());
	EXPECT_EQ(handle, e.handle);
	EXPECT_EQ(due, e.due);
	EXPECT_LE(due, e.fired);
	EXPECT_FALSE(readable_within(self->fd, 30));
}

TEST_F(file, to_a_much_later_time)
{
	__u64 handle = set(self->fd, 20 * MSEC, 7);

	ASSERT_NE(0, handle);
	EXPECT_LE(CALLOUT_CANCELLED, reset(self->fd, handle, HOUR));
	EXPECT_FALSE(readable_within(self->fd, 100));
	EXPECT_EQ(CALLOUT_CANCELLED, reset(self->fd, handle, TIME_MAX));
	EXPECT_EQ(CALLOUT_CANCELLED, reset_abs(self->fd, handle, TIME_MAX));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_dev_unset(self->fd, handle));
}

TEST_F(file, to_the_past)
{
	static const __u64 times[] = { 0, 1, SEC };
	struct callout_event e;
	unsigned int i;
	__u64 handle;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		handle = set(self->fd, HOUR, i);
		ASSERT_NE(0, handle);
		EXPECT_EQ(CALLOUT_CANCELLED,
			  reset_abs(self->fd, handle, times[i]));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(handle, e.handle);
		EXPECT_EQ(times[i], e.due);
	}
}

/* A callout re-armed in time, as on each packet, fires after the last RESET. */
TEST_F(file, later_and_later)
{
	enum { N = 300 };
	__u64 last = 0, handle = set(self->fd, 40 * MSEC, 7);
	struct callout_event e;
	int i;

	ASSERT_NE(0, handle);
	for (i = 0; i < N; i++) {
		last = callout_dev_now();
		ASSERT_LE(CALLOUT_CANCELLED,
			  reset(self->fd, handle, 40 * MSEC));
		if (!(i % 10))
			sleep_ns(MSEC);
	}
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(last + 40 * MSEC, e.due);
	EXPECT_LE(e.due, e.fired);
	EXPECT_FALSE(readable_within(self->fd, 50));
	EXPECT_EQ(N, info_of(self->fd).reset);
	EXPECT_EQ(1, info_of(self->fd).delivered);
}

TEST_F(file, unread_is_withdrawn_and_rearmed)
{
	struct callout_info info;
	struct callout_event e;
	__u64 handles[3];
	int i;

	for (i = 0; i < 3; i++) {
		handles[i] = set(self->fd, 0, i);
		ASSERT_NE(0, handles[i]);
	}
	ASSERT_TRUE(wait_unread(self->fd, 3));
	EXPECT_EQ(CALLOUT_WITHDRAWN, reset(self->fd, handles[1], HOUR));
	info = info_of(self->fd);
	EXPECT_EQ(2, info.unread);
	EXPECT_EQ(3, info.outstanding);
	EXPECT_EQ(3, info.set);
	EXPECT_EQ(1, info.reset);
	EXPECT_EQ(0, info.withdrawn);
	EXPECT_EQ(0, info.cancelled);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_NE(1, e.cookie);
	}
	EXPECT_FALSE(readable_within(self->fd, 30));

	EXPECT_EQ(CALLOUT_CANCELLED, reset(self->fd, handles[1], 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(handles[1], e.handle);
	EXPECT_EQ(1, e.cookie);
	EXPECT_EQ(-ENOENT, reset(self->fd, handles[1], 0));
}

/* RESET keeps clock, period and slack unless its flags say otherwise. */
TEST_F(file, keeps_what_is_not_given)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct callout_op op, move;
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		op = callout_op_set(HOUR, i);
		op.clockid = clocks[i];
		op.period = 2 * HOUR;
		op.slack = MSEC;
		ASSERT_EQ(0, do_op(self->fd, &op));
		move = callout_op_reset(op.handle, now_of(clocks[i]));
		move.flags = CALLOUT_ABSTIME;
		EXPECT_EQ(CALLOUT_CANCELLED, do_op(self->fd, &move));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(op.handle, e.handle);
		EXPECT_EQ(clocks[i], e.clockid);
		EXPECT_EQ(move.time, e.due);
		EXPECT_EQ(CALLOUT_EVENT_PERIODIC, e.flags);
		EXPECT_EQ(move.time + 2 * HOUR, next_due(self->fd, clocks[i]));

		/* Another slack, and the same period; then none. */
		move.flags = CALLOUT_ABSTIME | CALLOUT_NEW_SLACK;
		EXPECT_EQ(CALLOUT_CANCELLED, do_op(self->fd, &move));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(CALLOUT_EVENT_PERIODIC, e.flags);
		move.flags = CALLOUT_ABSTIME | CALLOUT_NEW_PERIOD;
		EXPECT_EQ(CALLOUT_CANCELLED, do_op(self->fd, &move));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(0, e.flags);
		EXPECT_EQ(-ENOENT, do_op(self->fd, &move));
	}
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* RESET tells how much time was left. */
TEST_F(file, time_left)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct callout_op op, move[2];
	unsigned int i;
	__u64 before;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		op = callout_op_set(HOUR, i);
		op.clockid = clocks[i];
		before = callout_dev_now();
		ASSERT_EQ(0, do_op(self->fd, &op));
		move[0] = callout_op_reset(op.handle, 2 * HOUR);
		move[0].left = ~0ULL;
		EXPECT_EQ(CALLOUT_CANCELLED, do_op(self->fd, &move[0]));
		EXPECT_GE(HOUR, move[0].left);
		EXPECT_LE(before + HOUR, move[0].left + callout_dev_now());
		/* In a batch, of the earlier operation. */
		move[0].time = 3 * HOUR;
		move[1] = callout_op_reset(op.handle, 0);
		ASSERT_EQ(2, do_ops(self->fd, move, 2));
		EXPECT_GE(2 * HOUR, move[0].left);
		EXPECT_LT(HOUR, move[0].left);
		EXPECT_GE(3 * HOUR, move[1].left);
		EXPECT_LT(2 * HOUR, move[1].left);
		/* None was left of one that has fired. */
		ASSERT_TRUE(wait_unread(self->fd, 1));
		EXPECT_EQ(CALLOUT_WITHDRAWN, do_op(self->fd, &move[0]));
		EXPECT_EQ(0, move[0].left);
		EXPECT_EQ(CALLOUT_CANCELLED,
			  callout_dev_unset(self->fd, op.handle));
	}
}

/* UNTIMEOUT takes the callout due first, also after RESET changed the order. */
TEST_F(file, of_one_set_by_timeout)
{
	struct callout_op move;
	struct callout_event e;
	__u64 handles[2];
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, callout_dev_timeout(self->fd, 0, (i + 1) * HOUR,
						 5, 6, &handles[i]));
	move = callout_op_reset(handles[0], 3 * HOUR);
	move.flags = CALLOUT_NEW_PERIOD;
	move.period = HOUR;
	EXPECT_EQ(-EINVAL, do_op(self->fd, &move));
	EXPECT_EQ(CALLOUT_CANCELLED, reset(self->fd, handles[0], 3 * HOUR));
	EXPECT_EQ(CALLOUT_CANCELLED, callout_dev_untimeout(self->fd, 5, 6, 0));
	EXPECT_EQ(-ENOENT, reset(self->fd, handles[1], HOUR));
	EXPECT_EQ(CALLOUT_CANCELLED, reset(self->fd, handles[0], 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_WITHDRAWN, reset(self->fd, handles[0], HOUR));
	EXPECT_EQ(CALLOUT_CANCELLED,
		  callout_dev_untimeout(self->fd, 5, 6, handles[0]));

	ASSERT_EQ(0, callout_dev_timeout(self->fd, 0, HOUR, 5, 6,
					 &handles[0]));
	EXPECT_EQ(CALLOUT_CANCELLED, reset(self->fd, handles[0], 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(5, e.func);
	EXPECT_EQ(6, e.cookie);
	EXPECT_EQ(-ENOENT, callout_dev_untimeout(self->fd, 5, 6, 0));
}

TEST_F(file, from_another_cpu)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	struct callout_event e;
	__u64 handle;

	for (cpu = 0; cpu < cpus; cpu++) {
		ASSERT_TRUE(pin_to_cpu(cpu));
		handle = set(self->fd, HOUR, cpu);
		ASSERT_NE(0, handle);
		ASSERT_TRUE(pin_to_cpu((cpu + 1) % cpus));
		EXPECT_EQ(CALLOUT_CANCELLED,
			  reset(self->fd, handle, 2 * HOUR));
		EXPECT_EQ(CALLOUT_CANCELLED, reset(self->fd, handle, 0));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(cpu, e.cookie);
		EXPECT_EQ(-ENOENT, reset(self->fd, handle, 0));
	}
}

/* Re-arming some callouts does not affect the others. */
TEST_F(file, some_of_many)
{
	enum { N = 1000 };
	static struct callout_event e[N];
	static __u64 handles[N], dues[N];
	__u64 start = callout_dev_now() + 50 * MSEC;
	unsigned int i, wrong = 0;

	for (i = 0; i < N; i++) {
		dues[i] = start + i * 100000;
		ASSERT_EQ(0, callout_dev_set(self->fd, CALLOUT_ABSTIME,
					     dues[i], i, &handles[i]));
	}
	for (i = 0; i < N; i += 3) {
		dues[i] = start + (N - i) * 200000;
		ASSERT_LE(CALLOUT_CANCELLED,
			  reset_abs(self->fd, handles[i], dues[i]));
	}
	ASSERT_EQ(N, receive(self->fd, e, N));
	for (i = 0; i < N; i++) {
		ASSERT_GT(N, e[i].cookie);
		wrong += e[i].due != dues[e[i].cookie] ||
			 e[i].fired < e[i].due ||
			 e[i].handle != handles[e[i].cookie];
		dues[e[i].cookie] = 0;
	}
	EXPECT_EQ(0, wrong);
	EXPECT_FALSE(readable(self->fd));
}

/*
 * One thread re-arms callouts that are about to fire, another reads: each
 * callout has one event, that of the last RESET that succeeded.
 */
#define RACERS		20000U
#define RACE_TIME	(1500 * MSEC)

struct race {
	int fd;
	atomic_bool stop;
	unsigned int wrong;
	unsigned int seen[RACERS];
	__u64 due[RACERS];
};

static void *race_reader(void *arg)
{
	struct race *race = arg;
	struct callout_event e[16];
	int i, n;

	while (!race->stop || readable(race->fd)) {
		n = callout_dev_read(race->fd, e, ARRAY_SIZE(e));
		for (i = 0; i < n; i++) {
			if (e[i].cookie >= RACERS || e[i].fired < e[i].due) {
				race->wrong++;
				continue;
			}
			race->seen[e[i].cookie]++;
			race->due[e[i].cookie] = e[i].due;
		}
		readable_within(race->fd, 5);
	}
	return NULL;
}

TEST_F(file, reset_races_expiry)
{
	enum { LIVE = 16 };
	static struct race race;
	static __u64 last[RACERS];
	struct {
		unsigned int number;
		__u64 handle, end;
	} live[LIVE] = { 0 }, *l;
	unsigned int i, n = 0, seed = 1, moved[3] = { 0 }, missed = 0;
	__u64 now, end = callout_dev_now() + RACE_TIME, time;
	unsigned int wrong = 0;
	pthread_t thread;
	int ret;

	race.fd = self->fd;
	ASSERT_EQ(0, pthread_create(&thread, NULL, race_reader, &race));
	while (n < RACERS && (now = callout_dev_now()) < end) {
		l = &live[rand_r(&seed) % LIVE];
		/* Half of the times are now: they fire at the next tick. */
		time = now + rand_r(&seed) % (2 * self->tick) * (seed & 1);
		if (!l->handle || now > l->end) {
			l->number = n++;
			l->end = now + rand_r(&seed) % (4 * self->tick);
			last[l->number] = time;
			ASSERT_EQ(0, callout_dev_set(self->fd, CALLOUT_ABSTIME,
						     time, l->number,
						     &l->handle));
			continue;
		}
		ret = reset_abs(self->fd, l->handle, time);
		if (ret > 0) {
			last[l->number] = time;
			moved[ret]++;
		} else {
			wrong += ret != -ENOENT;
			missed++;
			l->handle = 0;
		}
	}
	for (i = 0; i < WAIT_MS && info_of(self->fd).outstanding; i++)
		sleep_ns(MSEC);
	race.stop = true;
	pthread_join(thread, NULL);
	for (i = 0; i < n; i++)
		wrong += race.seen[i] != 1 || race.due[i] != last[i];
	TH_LOG("%u set, %u moved, %u withdrawn and moved, %u moves too late",
	       n, moved[CALLOUT_CANCELLED], moved[CALLOUT_WITHDRAWN], missed);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, race.wrong);
	EXPECT_EQ(n, info_of(self->fd).delivered);
	EXPECT_EQ(moved[CALLOUT_CANCELLED] + moved[CALLOUT_WITHDRAWN],
		  info_of(self->fd).reset);
}

TEST_HARNESS_MAIN
