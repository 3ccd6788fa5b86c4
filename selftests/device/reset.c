// SPDX-License-Identifier: GPL-2.0
/*
 * reset.c - SET of an outstanding callout: it keeps its handle and fires once
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/fixture.h"

static struct callout_op op_move_to(__u64 handle, __u64 time)
{
	struct callout_op op = callout_op_move(handle, time);

	op.flags |= CALLOUT_OPF_ABSTIME;
	return op;
}

static int move_to(int fd, __u64 handle, __u64 time)
{
	struct callout_op op = op_move_to(handle, time);

	return do_op(fd, &op);
}

TEST_F(file, to_an_earlier_time)
{
	__u64 due, handle = set(self->fd, HOUR, 7);
	struct callout_event e;

	ASSERT_NE(0, handle);
	due = dev_now() + 5 * MSEC;
	EXPECT_EQ(CALLOUT_STATE_PENDING, move_to(self->fd, handle, due));
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
	due = dev_now() + 100 * MSEC;
	/* Under slow emulation the callout may have fired by now. */
	EXPECT_LE(CALLOUT_STATE_PENDING, move_to(self->fd, handle, due));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(due, dev_now());
	EXPECT_EQ(handle, e.handle);
	EXPECT_EQ(due, e.due);
	EXPECT_LE(due, e.fired);
	EXPECT_FALSE(readable_within(self->fd, 30));
}

TEST_F(file, to_a_much_later_time)
{
	__u64 handle = set(self->fd, 20 * MSEC, 7);

	ASSERT_NE(0, handle);
	EXPECT_LE(CALLOUT_STATE_PENDING, move(self->fd, handle, HOUR));
	EXPECT_FALSE(readable_within(self->fd, 100));
	EXPECT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handle, TIME_MAX));
	EXPECT_EQ(CALLOUT_STATE_PENDING, move_to(self->fd, handle, TIME_MAX));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
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
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  move_to(self->fd, handle, times[i]));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(handle, e.handle);
		EXPECT_EQ(times[i], e.due);
	}
}

/* A callout re-armed in time, as on each packet, fires after the last move. */
TEST_F(file, later_and_later)
{
	enum { N = 300 };
	__u64 last = 0, handle = set(self->fd, 40 * MSEC, 7);
	struct callout_event e;
	int i;

	ASSERT_NE(0, handle);
	for (i = 0; i < N; i++) {
		last = dev_now();
		ASSERT_LE(CALLOUT_STATE_PENDING,
			  move(self->fd, handle, 40 * MSEC));
		if (!(i % 10))
			sleep_ns(MSEC);
	}
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(last + 40 * MSEC, e.due);
	EXPECT_LE(e.due, e.fired);
	EXPECT_FALSE(readable_within(self->fd, 50));
	EXPECT_EQ(N, counts_of(self->fd).reset);
	EXPECT_EQ(1, counts_of(self->fd).delivered);
}

TEST_F(file, unread_is_withdrawn_and_rearmed)
{
	struct callout_info info;
	struct callout_event e;
	struct counts counts;
	__u64 handles[3];
	int i;

	for (i = 0; i < 3; i++) {
		handles[i] = set(self->fd, 0, i);
		ASSERT_NE(0, handles[i]);
	}
	ASSERT_TRUE(wait_unread(self->fd, 3));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, move(self->fd, handles[1], HOUR));
	info = info_of(self->fd);
	EXPECT_EQ(2, info.unread);
	EXPECT_EQ(3, info.outstanding);
	counts = counts_of(self->fd);
	EXPECT_EQ(3, counts.set);
	EXPECT_EQ(1, counts.reset);
	EXPECT_EQ(0, counts.withdrawn);
	EXPECT_EQ(0, counts.cancelled);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_NE(1, e.cookie);
	}
	EXPECT_FALSE(readable_within(self->fd, 30));

	EXPECT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handles[1], 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(handles[1], e.handle);
	EXPECT_EQ(1, e.cookie);
	EXPECT_EQ(-ENOENT, move(self->fd, handles[1], 0));
}

static const clockid_t all_clocks[] = {
	CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
};

/* A moved callout keeps its clock, period, slack and cookie. */
TEST_F(file, keeps_all_but_the_time)
{
	struct callout_op op, to;
	struct callout_entry entry;
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all_clocks); i++) {
		op = callout_op_set(HOUR, 70 + i);
		op.clockid = all_clocks[i];
		op.period = 2 * HOUR;
		op.slack = MSEC;
		ASSERT_EQ(0, do_op(self->fd, &op));
		to = op_move_to(op.handle, now_of(all_clocks[i]));
		EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &to));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(op.handle, e.handle);
		EXPECT_EQ(70 + i, e.cookie);
		EXPECT_EQ(all_clocks[i], e.clockid);
		EXPECT_EQ(to.time, e.due);
		EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);
		EXPECT_EQ(to.time + 2 * HOUR, next_due(self->fd, all_clocks[i]));
		ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle,
				      &entry));
		EXPECT_EQ(2 * HOUR, entry.period);
		EXPECT_EQ(MSEC, entry.slack);
		EXPECT_EQ(70 + i, entry.cookie);
		EXPECT_EQ(all_clocks[i], entry.clockid);
		EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
	}
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* A callout that is set again keeps only its handle. */
TEST_F(file, replaces_all)
{
	enum { N = ARRAY_SIZE(all_clocks) };
	struct callout_op op = callout_op_set(HOUR, 1);
	struct callout_entry entry;
	struct callout_event e;
	unsigned int i;
	__u64 handle;

	ASSERT_EQ(0, do_op(self->fd, &op));
	handle = op.handle;
	/* A callout is set from each clock to each clock, with a period and without. */
	for (i = 0; i < 2 * N * N; i++) {
		op = callout_op_set(0, 1000 + i);
		op.clockid = all_clocks[i % 2 ? i / 2 % N : i / 2 / N];
		op.flags = CALLOUT_OPF_ABSTIME | CALLOUT_OPF_ONLY_OLD;
		op.time = now_of(op.clockid) + 2 * HOUR;
		op.period = i % 4 < 2 ? 0 : (i + 1) * HOUR;
		op.slack = i % 3 * MSEC;
		op.flags |= op.slack ? 0 : CALLOUT_OPF_EXACT;
		op.handle = handle;
		ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
		EXPECT_EQ(handle, op.handle);
		EXPECT_LT(HOUR / 2, op.left);
		EXPECT_GE(2 * HOUR, op.left);
		ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, handle,
				      &entry));
		EXPECT_EQ(handle, entry.handle);
		EXPECT_EQ(CALLOUT_OP_SET, entry.op);
		EXPECT_EQ(op.flags & ~CALLOUT_OPF_ONLY_OLD, entry.op_flags);
		EXPECT_EQ(op.clockid, entry.clockid);
		EXPECT_EQ(op.time, entry.due);
		EXPECT_EQ(op.period, entry.period);
		EXPECT_EQ(op.slack, entry.slack);
		EXPECT_EQ(op.cookie, entry.cookie);
	}
	EXPECT_EQ(1, counts_of(self->fd).set);
	EXPECT_EQ(2 * N * N, counts_of(self->fd).reset);

	/* The last setting fires. */
	op = callout_op_set(0, 9);
	op.clockid = CLOCK_BOOTTIME;
	op.flags = CALLOUT_OPF_ONLY_OLD;
	op.handle = handle;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(handle, e.handle);
	EXPECT_EQ(9, e.cookie);
	EXPECT_EQ(0, e.flags);
	EXPECT_EQ(CLOCK_BOOTTIME, e.clockid);
	EXPECT_EQ(-ENOENT, do_op(self->fd, &op));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* An unread callout that is set again has the event of the last setting. */
TEST_F(file, unread_is_replaced)
{
	struct callout_op op = callout_op_set(0, 1);
	struct callout_event e;
	unsigned int i;
	__u64 handle;

	ASSERT_EQ(0, do_op(self->fd, &op));
	handle = op.handle;
	for (i = 0; i < 2 * ARRAY_SIZE(all_clocks); i++) {
		ASSERT_TRUE(wait_unread(self->fd, 1));
		op = callout_op_set(0, 10 + i);
		op.clockid = all_clocks[i / 2];
		op.flags = CALLOUT_OPF_ONLY_OLD;
		op.period = i % 2 * HOUR;
		op.handle = handle;
		op.left = ~0ULL;
		ASSERT_EQ(CALLOUT_STATE_UNREAD, do_op(self->fd, &op));
		EXPECT_EQ(0, op.left);
	}
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(10 + i - 1, e.cookie);
	EXPECT_EQ(all_clocks[i / 2 - 1], e.clockid);
	EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
}

/* A SET that is refused leaves the callout as it was. */
TEST_F(file, refused)
{
	struct callout_op good, bad, op = callout_op_set(HOUR, 7);
	struct callout_entry before, after;
	unsigned int i;

	op.period = HOUR;
	op.slack = MSEC;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle, &before));
#define EXPECT_REFUSED(change) do {					\
	bad = good;							\
	change;								\
	EXPECT_EQ(-EINVAL, do_op(self->fd, &bad)) {			\
		TH_LOG("%s", #change);					\
	}								\
} while (0)
	/* MOVE takes no values for the members that it keeps. */
	good = callout_op_move(op.handle, 2 * HOUR);
	EXPECT_REFUSED(bad.clockid = CLOCK_MONOTONIC);
	EXPECT_REFUSED(bad.clockid = -1);
	EXPECT_REFUSED(bad.period = HOUR);
	EXPECT_REFUSED(bad.slack = MSEC);
	EXPECT_REFUSED(bad.cookie = 7);
	EXPECT_REFUSED(bad.time = TIME_MAX + 1);
	EXPECT_REFUSED(bad.flags |= CALLOUT_OPF_ONLY_OLD);
	EXPECT_REFUSED(bad.flags |= CALLOUT_OPF_ONLY_NEW);
	EXPECT_REFUSED(bad.flags |= CALLOUT_OPF_CANCEL_ON_SET);
	EXPECT_REFUSED(bad.flags |= CALLOUT_OPF_EXACT);
	for (i = 6; i < 32; i++)
		EXPECT_REFUSED(bad.flags |= 1U << i);

	good = callout_op_set(2 * HOUR, 8);
	good.flags = CALLOUT_OPF_ONLY_OLD;
	good.handle = op.handle;
	EXPECT_REFUSED(bad.clockid = CLOCK_PROCESS_CPUTIME_ID);
	EXPECT_REFUSED(bad.time = TIME_MAX + 1);
	EXPECT_REFUSED(bad.period = TIME_MAX + 1);
	EXPECT_REFUSED(bad.slack = TIME_MAX + 1);
	EXPECT_REFUSED(bad.flags |= CALLOUT_OPF_ONLY_NEW);
	EXPECT_REFUSED(bad.flags |= CALLOUT_OPF_EXACT; bad.slack = 1);
	for (i = 6; i < 32; i++)
		EXPECT_REFUSED(bad.flags |= 1U << i);
#undef EXPECT_REFUSED

	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle, &after));
	EXPECT_EQ(before.due, after.due);
	EXPECT_EQ(before.period, after.period);
	EXPECT_EQ(before.slack, after.slack);
	EXPECT_EQ(before.cookie, after.cookie);
	EXPECT_EQ(before.clockid, after.clockid);
	EXPECT_EQ(0, counts_of(self->fd).reset);
	EXPECT_EQ(1, counts_of(self->fd).set);
}

/* SET returns how much time was left. */
TEST_F(file, time_left)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct callout_op op, moves[2];
	unsigned int i;
	__u64 before;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		op = callout_op_set(HOUR, i);
		op.clockid = clocks[i];
		before = dev_now();
		ASSERT_EQ(0, do_op(self->fd, &op));
		moves[0] = callout_op_move(op.handle, 2 * HOUR);
		moves[0].left = ~0ULL;
		EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &moves[0]));
		EXPECT_GE(HOUR, moves[0].left);
		EXPECT_LE(before + HOUR, moves[0].left + dev_now());
		/* In a batch, the time left of the earlier operation's setting. */
		moves[0].time = 3 * HOUR;
		moves[1] = callout_op_move(op.handle, 0);
		ASSERT_EQ(2, do_ops(self->fd, moves, 2));
		EXPECT_GE(2 * HOUR, moves[0].left);
		EXPECT_LT(HOUR, moves[0].left);
		EXPECT_GE(3 * HOUR, moves[1].left);
		EXPECT_LT(2 * HOUR, moves[1].left);
		/* No time was left of a callout that has fired. */
		ASSERT_TRUE(wait_unread(self->fd, 1));
		EXPECT_EQ(CALLOUT_STATE_UNREAD, do_op(self->fd, &moves[0]));
		EXPECT_EQ(0, moves[0].left);
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, op.handle));
	}
}

/* UNTIMEOUT takes the callout due first, also after a move changed the order. */
TEST_F(file, of_one_set_by_timeout)
{
	struct callout_entry entry;
	struct callout_event e;
	struct callout_op op;
	__u64 handles[2];
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, dev_timeout(self->fd, 0, (i + 1) * HOUR,
					 5, 6, &handles[i]));
	/* This callout can only be moved: its cookie is a part of its name. */
	op = callout_op_set(3 * HOUR, 6);
	op.flags = CALLOUT_OPF_ONLY_OLD;
	op.handle = handles[0];
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	op.cookie = 7;
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	op.period = HOUR;
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, handles[0], &entry));
	EXPECT_GE(HOUR, entry.left);
	EXPECT_EQ(0, entry.period);
	EXPECT_EQ(5, entry.func);
	EXPECT_EQ(6, entry.cookie);
	EXPECT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handles[0], 3 * HOUR));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_untimeout(self->fd, 5, 6, 0));
	EXPECT_EQ(-ENOENT, move(self->fd, handles[1], HOUR));
	EXPECT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handles[0], 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, move(self->fd, handles[0], HOUR));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  dev_untimeout(self->fd, 5, 6, handles[0]));

	ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, 5, 6,
				 &handles[0]));
	EXPECT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handles[0], 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(5, e.func);
	EXPECT_EQ(6, e.cookie);
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 5, 6, 0));
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
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  move(self->fd, handle, 2 * HOUR));
		EXPECT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handle, 0));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(cpu, e.cookie);
		EXPECT_EQ(-ENOENT, move(self->fd, handle, 0));
	}
}

/* Re-arming some callouts does not affect the others. */
TEST_F(file, some_of_many)
{
	enum { N = 1000 };
	static struct callout_event e[N];
	static __u64 handles[N], dues[N];
	__u64 start = dev_now() + 50 * MSEC;
	unsigned int i, wrong = 0;

	for (i = 0; i < N; i++) {
		dues[i] = start + i * 100000;
		ASSERT_EQ(0, dev_set(self->fd, CALLOUT_OPF_ABSTIME,
				     dues[i], i, &handles[i]));
	}
	for (i = 0; i < N; i += 3) {
		dues[i] = start + (N - i) * 200000;
		ASSERT_LE(CALLOUT_STATE_PENDING,
			  move_to(self->fd, handles[i], dues[i]));
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
 * callout has one event, from the last move that succeeded.
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
		n = dev_read(race->fd, e, ARRAY_SIZE(e));
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
	unsigned int i, n = 0, seed = 1, moved[CALLOUT_STATE_READING + 1] = { 0 }, missed = 0;
	__u64 now, end = dev_now() + RACE_TIME, time;
	unsigned int wrong = 0;
	pthread_t thread;
	int ret;

	race.fd = self->fd;
	ASSERT_EQ(0, pthread_create(&thread, NULL, race_reader, &race));
	while (n < RACERS && (now = dev_now()) < end) {
		l = &live[rand_r(&seed) % LIVE];
		/* Half of the times are now, so their callouts fire at the next tick. */
		time = now + rand_r(&seed) % (2 * self->tick) * (seed & 1);
		if (!l->handle || now > l->end) {
			l->number = n++;
			l->end = now + rand_r(&seed) % (4 * self->tick);
			last[l->number] = time;
			ASSERT_EQ(0, dev_set(self->fd, CALLOUT_OPF_ABSTIME,
					     time, l->number,
						     &l->handle));
			continue;
		}
		ret = move_to(self->fd, l->handle, time);
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
	       n, moved[CALLOUT_STATE_PENDING], moved[CALLOUT_STATE_UNREAD], missed);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, race.wrong);
	EXPECT_EQ(n, counts_of(self->fd).delivered);
	EXPECT_EQ(moved[CALLOUT_STATE_PENDING] + moved[CALLOUT_STATE_UNREAD],
		  counts_of(self->fd).reset);
}

TEST_HARNESS_MAIN
