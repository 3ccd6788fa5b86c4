// SPDX-License-Identifier: GPL-2.0
/*
 * realtime.c - CLOCK_REALTIME: absolute callouts follow settings of the
 * clock
 */
#include <pthread.h>

#include "lib/realtime.h"

/* A callout fires when the clock has been set past its time, and not before. */
TEST_F(realtime, set_forth)
{
	__u64 start = real_now();
	struct callout_event e;

	ASSERT_NE(0, set_real(self->fd, start + 2 * HOUR, 1));
	ASSERT_NE(0, set_real(self->fd, start + 9 * HOUR, 2));
	ASSERT_TRUE(step(HOUR));
	EXPECT_FALSE(readable_within(self->fd, 50));
	ASSERT_TRUE(step(2 * HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(1, e.cookie);
	EXPECT_EQ(start + 2 * HOUR, e.due);
	EXPECT_GE(dev_now(), e.fired);
	EXPECT_FALSE(readable_within(self->fd, 50));
	EXPECT_EQ(start + 9 * HOUR, next_due(self->fd, CLOCK_REALTIME));
}

/*
 * A callout does not fire when its tick comes if the clock was set back before
 * that, and wakes nobody until its new time. The longer the setting of the clock takes,
 * the longer is the callout's time.
 */
TEST_F(realtime, set_back)
{
	__u64 after = 100 * MSEC, start, before;
	long long woken;
	struct callout_event e;

	for (;; after *= 2) {
		woken = bases_sum("wakeups", -1);
		before = dev_now();
		start = real_now();
		ASSERT_NE(0, set_real(self->fd, start + after, 1));
		ASSERT_TRUE(step(-HOUR));
		if (dev_now() < before + after)
			break;
		ASSERT_TRUE(step(HOUR));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
	}
	while (dev_now() < before + after + 50 * MSEC)
		sleep_ns(10 * MSEC);
	EXPECT_FALSE(readable_within(self->fd, 50));
	EXPECT_LE(0, woken);
	EXPECT_GT(woken + FEW_WAKEUPS, bases_sum("wakeups", -1));
	EXPECT_EQ(start + after, next_due(self->fd, CLOCK_REALTIME));
	ASSERT_TRUE(step(HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(start + after, e.due);
	EXPECT_LE(e.due, real_now());
}

/* Does a callout that is due @after a setting fire before a callout that is due later? */
static bool nearer_in_order(int fd, __u64 after)
{
	struct callout_op later = callout_op_set(0, 2);
	__u64 due = real_now() + HOUR + after;
	struct callout_event e[2];

	if (!set_real(fd, due, 1) || !step(HOUR))
		return false;
	later.time = dev_now() + due - real_now() + 50 * MSEC;
	later.flags = CALLOUT_OPF_ABSTIME;
	return !do_op(fd, &later) && receive(fd, e, 2) == 2 &&
	       e[0].cookie == 1 && e[1].cookie == 2;
}

/*
 * A setting of the clock that brings a callout nearer, but not to its time, makes it no
 * later than its slack. The kernel needs some time to look at all callouts.
 */
TEST_F(realtime, set_nearer)
{
	__u64 after = SEC;

	while (after < 8 * SEC && !nearer_in_order(self->fd, after))
		after *= 2;
	EXPECT_GT(8 * SEC, after);
}

/* A callout that is set after a step uses the new time. */
TEST_F(realtime, set_after_step)
{
	struct callout_event e;
	__u64 time;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(step(i ? -3 * HOUR : 3 * HOUR));
		time = real_now() + 30 * MSEC;
		ASSERT_NE(0, set_real(self->fd, time, i));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(time, e.due);
		EXPECT_LE(time, real_now());
	}
}

/* A step affects neither callouts of other clocks nor relative callouts. */
TEST_F(realtime, others_stay)
{
	enum { N = 100 };
	struct callout_event e[N];
	__u64 start = real_now(), now;
	unsigned int i;

	for (i = 0; i < N; i++) {
		ASSERT_NE(0, set_real(self->fd, start + HOUR + i, i));
		ASSERT_NE(0, set_on(self->fd, CLOCK_REALTIME, 0, HOUR, N));
		ASSERT_NE(0, set_on(self->fd, CLOCK_MONOTONIC, 0, HOUR, N));
		ASSERT_NE(0, set_on(self->fd, CLOCK_BOOTTIME, 0, HOUR, N));
	}
	ASSERT_TRUE(step(2 * HOUR));
	ASSERT_EQ(N, receive(self->fd, e, N));
	for (i = 0; i < N; i++) {
		EXPECT_GT(N, e[i].cookie);
		EXPECT_EQ(start + HOUR + e[i].cookie, e[i].due);
	}
	EXPECT_FALSE(readable_within(self->fd, 50));
	/* The time when a relative callout is due follows from the clock's present setting. */
	now = real_now();
	EXPECT_LE(now, next_due(self->fd, CLOCK_REALTIME));
	EXPECT_GE(now + HOUR, next_due(self->fd, CLOCK_REALTIME));
}

TEST_F(realtime, relative)
{
	__u64 before = real_now(), after;
	struct callout_event e;

	ASSERT_NE(0, set_on(self->fd, CLOCK_REALTIME, 0, 30 * MSEC, 1));
	after = real_now();
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(before + 30 * MSEC, e.due);
	EXPECT_GE(after + 30 * MSEC, e.due);
	EXPECT_LE(e.due, real_now());
	EXPECT_GE(dev_now(), e.fired);
}

/* MOVE may change whether the callout follows the clock. */
TEST_F(realtime, reset)
{
	struct callout_event e;
	struct callout_op op;
	__u64 handle, time;

	handle = set_real(self->fd, real_now() + HOUR, 1);
	ASSERT_NE(0, handle);
	op = callout_op_move(handle, 9 * HOUR);
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(step(20 * HOUR));
	EXPECT_FALSE(readable_within(self->fd, 50));

	time = real_now() + HOUR;
	op.flags |= CALLOUT_OPF_ABSTIME;
	op.time = time;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(step(2 * HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(time, e.due);

	/* The callout keeps its clock. */
	handle = set_real(self->fd, real_now() + HOUR, 1);
	ASSERT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handle, 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CLOCK_REALTIME, e.clockid);
	EXPECT_GE(real_now(), e.due);
	EXPECT_LE(time, e.due);
}

/* MOVE of a periodic callout, also of a callout that does not follow the clock then. */
TEST_F(realtime, move_of_periodic)
{
	struct callout_op op = callout_op_set(real_now() + HOUR, 1), again;
	struct callout_event e;
	__u64 now;

	op.clockid = CLOCK_REALTIME;
	op.flags = CALLOUT_OPF_ABSTIME;
	op.period = HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(CALLOUT_STATE_PENDING, move(self->fd, op.handle, 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);
	ASSERT_TRUE(step(10 * HOUR));
	EXPECT_FALSE(readable_within(self->fd, 50));
	now = real_now();
	EXPECT_LE(now, next_due(self->fd, CLOCK_REALTIME));
	EXPECT_GE(now + HOUR, next_due(self->fd, CLOCK_REALTIME));

	again = callout_op_move(op.handle, now + 2 * HOUR);
	again.flags |= CALLOUT_OPF_ABSTIME;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &again));
	ASSERT_TRUE(step(4 * HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(now + 2 * HOUR, e.due);
	EXPECT_EQ(2, e.overrun);
	EXPECT_EQ(now + 5 * HOUR, next_due(self->fd, CLOCK_REALTIME));
}

/* A callout with a key moves, also to a time that follows the clock. */
TEST_F(realtime, key)
{
	struct callout_op op = callout_op_key(callout_op_set(HOUR, 0), 7);
	__u64 time = real_now() + 2 * HOUR;
	struct callout_event e;

	op.clockid = CLOCK_REALTIME;
	ASSERT_EQ(0, do_op(self->fd, &op));
	op.time = time;
	op.flags |= CALLOUT_OPF_ABSTIME;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(step(3 * HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(7, e.handle);
	EXPECT_EQ(time, e.due);
	EXPECT_EQ(CLOCK_REALTIME, e.clockid);

	op.time = real_now() + 2 * HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	op.time = HOUR;
	op.flags = CALLOUT_OPF_KEY;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(step(9 * HOUR));
	EXPECT_FALSE(readable_within(self->fd, 50));
}

/* LIST shows the flags with which SET would make the callout as it is. */
TEST_F(realtime, flags_to_restore)
{
	static const __u32 flags[] = {
		0, CALLOUT_OPF_ABSTIME, CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET,
	};
	struct callout_entry entry, again;
	struct callout_op op;
	__u64 handle;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		handle = set_on(self->fd, CLOCK_REALTIME, flags[i],
				(flags[i] ? real_now() : 0) + HOUR, 1);
		ASSERT_NE(0, handle);
		ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, handle, &entry));
		EXPECT_EQ(flags[i], entry.op_flags);
		op = callout_op_entry(&entry);
		ASSERT_EQ(0, do_op(self->fd, &op));
		ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, op.handle,
				      &again));
		EXPECT_EQ(entry.op_flags, again.op_flags);
		if (flags[i])
			EXPECT_EQ(entry.due, again.due);
	}
}

/* LIST and SET return the time that is left by the clock's present setting. */
TEST_F(realtime, left)
{
	__u64 start = real_now(), handle, relative, cursor = 0;
	struct callout_entry entry, listed[2];
	struct callout_op op;
	unsigned int i;

	handle = set_real(self->fd, start + 10 * HOUR, 1);
	ASSERT_NE(0, handle);
	relative = set_on(self->fd, CLOCK_REALTIME, 0, 10 * HOUR, 2);
	ASSERT_NE(0, relative);
	op = callout_op_move(handle, 10 * HOUR);
	ASSERT_TRUE(step(4 * HOUR));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_HANDLE, handle, &entry));
	EXPECT_EQ(CLOCK_REALTIME, entry.clockid);
	EXPECT_EQ(start + 10 * HOUR, entry.due);
	EXPECT_GE(6 * HOUR, entry.left);
	EXPECT_LE(entry.due, entry.left + real_now());
	ASSERT_TRUE(step(-8 * HOUR));
	ASSERT_EQ(2, list_page(self->fd, &cursor, listed, 2));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(CLOCK_REALTIME, listed[i].clockid);
		EXPECT_LE(listed[i].due, listed[i].left + real_now());
		if (listed[i].handle == relative) {
			EXPECT_GE(10 * HOUR, listed[i].left);
		} else {
			EXPECT_EQ(start + 10 * HOUR, listed[i].due);
			EXPECT_LT(13 * HOUR, listed[i].left);
		}
	}
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	EXPECT_LT(13 * HOUR, op.left);
}

/* The periods that a step skips are counted as overruns. */
TEST_F(realtime, periodic)
{
	struct callout_op op = callout_op_set(real_now() + HOUR, 1);
	struct callout_event e;

	op.clockid = CLOCK_REALTIME;
	op.flags = CALLOUT_OPF_ABSTIME;
	op.period = HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_TRUE(step(10 * HOUR + HOUR / 2));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(op.time, e.due);
	EXPECT_EQ(9, e.overrun);
	EXPECT_EQ(op.time + 10 * HOUR, next_due(self->fd, CLOCK_REALTIME));
	ASSERT_TRUE(step(HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(op.time + 10 * HOUR, e.due);
}

/*
 * UNTIMEOUT finds the callout that is due first after a step. A worker handles a
 * step slot by slot, upwards or downwards: it has handled this callout when the
 * callouts that were set before and after it have fired.
 */
TEST_F(realtime, untimeout_after_step)
{
	__u64 other, now = real_now();
	struct callout_op op = callout_op_timeout(1, 2, now + 3 * HOUR);
	unsigned int i;

	ASSERT_EQ(0, dev_timeout(self->fd, 0, 2 * HOUR, 1, 2, &other));
	op.clockid = CLOCK_REALTIME;
	op.flags = CALLOUT_OPF_ABSTIME;
	for (i = 0; i < 16; i++) {
		if (i == 8)
			ASSERT_EQ(0, do_op(self->fd, &op));
		ASSERT_NE(0, set_real(self->fd, now + 5 * HOUR / 2, 7));
	}
	ASSERT_TRUE(step(2 * HOUR));
	ASSERT_TRUE(step(HOUR / 2 + SEC));
	ASSERT_TRUE(wait_unread(self->fd, 16));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  dev_untimeout(self->fd, 1, 2, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, op.handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, other));
}

struct stepper {
	bool ok, done;
	unsigned int rounds;
};

static void *step_forth(void *arg)
{
	struct stepper *s = arg;

	s->ok = step(HOUR);
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A callout that is set while the clock is being set is not missed. */
TEST_F(realtime, set_during_a_step)
{
	enum { ROUNDS = 50, N = 1000 };
	static struct callout_event e[N];
	struct stepper stepper;
	pthread_t thread;
	__u64 start;
	int i, n;

	for (i = 0; i < ROUNDS; i++) {
		stepper = (struct stepper){ 0 };
		start = real_now();
		ASSERT_EQ(0, pthread_create(&thread, NULL, step_forth,
					    &stepper));
		for (n = 0; n < N; n++) {
			ASSERT_NE(0, set_real(self->fd, start + HOUR / 2, n));
			if (__atomic_load_n(&stepper.done, __ATOMIC_ACQUIRE))
				break;
		}
		ASSERT_EQ(0, pthread_join(thread, NULL));
		ASSERT_TRUE(stepper.ok);
		n = info_of(self->fd).outstanding;
		ASSERT_EQ(n, receive(self->fd, e, n));
		ASSERT_TRUE(step(-HOUR));
	}
}

static void *come_and_go(void *arg)
{
	struct stepper *s = arg;
	int fd;

	do {
		fd = dev_open(O_NONBLOCK);
		s->ok = fd >= 0 && set_real(fd, real_now() + HOUR, 1) &&
			set_real(fd, real_now() + 9 * HOUR, 1);
		close(fd);
		__atomic_add_fetch(&s->rounds, 1, __ATOMIC_RELEASE);
	} while (s->ok && !__atomic_load_n(&s->done, __ATOMIC_ACQUIRE));
	return NULL;
}

/* The thread has begun. */
static bool wait_rounds(struct stepper *s)
{
	return wait_until(__atomic_load_n(&s->rounds, __ATOMIC_ACQUIRE));
}

/* Files that are opened and closed at the same time do not hide other files from it. */
TEST_F(realtime, files_come_and_go)
{
	enum { FILES = 20, N = 100 };
	struct stepper stepper = { 0 };
	struct callout_event e[N];
	__u64 start = real_now();
	int fd[FILES], i, j;
	pthread_t thread;

	for (i = 0; i < FILES; i++) {
		fd[i] = dev_open(O_NONBLOCK);
		ASSERT_LE(0, fd[i]);
		for (j = 0; j < N; j++)
			ASSERT_NE(0, set_real(fd[i], start +
					      (j % 2 ? HOUR : 9 * HOUR), j));
	}
	ASSERT_EQ(0, pthread_create(&thread, NULL, come_and_go, &stepper));
	ASSERT_TRUE(wait_rounds(&stepper));
	ASSERT_TRUE(step(2 * HOUR));
	for (i = 0; i < FILES; i++) {
		EXPECT_EQ(N / 2, receive(fd[i], e, N / 2));
		close(fd[i]);
	}
	__atomic_store_n(&stepper.done, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(stepper.ok);
}

/* Slack works as with other clocks. */
TEST_F(realtime, slack)
{
	struct callout_op op = callout_op_set(real_now() + 30 * MSEC, 1);
	struct callout_event e;

	op.clockid = CLOCK_REALTIME;
	op.flags = CALLOUT_OPF_ABSTIME;
	op.slack = 50 * MSEC;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(op.time, e.due);
	EXPECT_LE(op.time, real_now());
}

/* For a time before the boot, the slack has passed too. */
TEST_F(realtime, slack_of_the_past)
{
	struct callout_op op = callout_op_set(1, 1);
	struct callout_event e;

	op.clockid = CLOCK_REALTIME;
	op.flags = CALLOUT_OPF_ABSTIME;
	op.slack = 30 * 24 * HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(1, e.due);
}

TEST_HARNESS_MAIN
