// SPDX-License-Identifier: GPL-2.0
/*
 * slack.c - the default slack of /dev/callout, and exact callouts
 */
#include "lib/fixture.h"

/*
 * The default slack is some ticks. Callouts with it fire at its multiples: callouts that
 * are due after one of them at the next, together.
 */
TEST_F(file, default_slack)
{
	enum { N = 16, TOGETHER = 2 };
	struct callout_op ops[N];
	struct callout_event e[N];
	unsigned int i, j, times;
	__u64 start, last;

	EXPECT_EQ(0, self->tick % info_of(self->fd).tick_ns);
	ASSERT_TRUE(pin_to_cpu(0));
	for (i = 0; i < 20; i++) {
		start = dev_now() + 50 * MSEC;
		start -= start % self->tick;
		for (j = 0; j < N; j++) {
			ops[j] = callout_op_set(start + 1 + self->tick / N * j, j);
			ops[j].flags = CALLOUT_OPF_ABSTIME;
		}
		ASSERT_EQ(N, do_ops(self->fd, ops, N));
		ASSERT_EQ(N, receive(self->fd, e, N));
		for (j = times = last = 0; j < N; j++) {
			EXPECT_LE(start + self->tick, e[j].fired);
			times += e[j].fired != last;
			last = e[j].fired;
		}
		EXPECT_GE(TOGETHER, times);
	}
}

/* Callout @i of exact_order(). @ahead if it will be set again, or has fired once before. */
static struct callout_op exact_op(unsigned int i, __u64 time, __u64 ahead)
{
	struct callout_op op = callout_op_set(time, 2 * i);

	if (i % 5 == 1)
		op = callout_op_timeout(1, 2 * i, time);
	if (i % 5 >= 2)
		op = callout_op_key(op, i);
	op.flags |= CALLOUT_OPF_ABSTIME | CALLOUT_OPF_EXACT;
	if (i % 5 == 2 && ahead)
		op.flags &= ~CALLOUT_OPF_EXACT;
	if (i % 5 == 4) {
		op.period = 2 * ahead;
		op.time -= op.period;
	} else if (ahead) {
		op.time += HOUR;
	}
	return op;
}

/*
 * Set callouts that fire from @ahead of now on: an exact one after each with the default
 * slack, due half of @tick later. Return false if that took as long as @ahead: the first
 * may have fired before others were moved.
 */
static bool exact_order(struct __test_metadata *_metadata, int fd, __u64 tick,
			__u64 ahead)
{
	enum { N = 20 };
	struct callout_op ops[2 * N], *exact = &ops[N];
	__u64 start = dev_now() + ahead, time, handle;
	struct callout_event e[2 * N];
	unsigned int i, periodic = 0;

	start -= start % tick;
	for (i = 0; i < N; i++) {
		ops[i] = callout_op_set(start + i * tick + 1, 2 * i + 1);
		ops[i].flags = CALLOUT_OPF_ABSTIME;
		exact[i] = exact_op(i, start + i * tick + tick / 2, ahead);
		periodic += !!exact[i].period;
	}
	ASSERT_EQ(2 * N, do_ops(fd, ops, 2 * N));
	/* These were due before now, and are pending again. */
	ASSERT_EQ(periodic, receive(fd, e, periodic));
	for (i = 0; i < N; i++) {
		if (exact[i].period)
			continue;
		handle = exact[i].handle;
		time = start + i * tick + tick / 2;
		exact[i] = exact_op(i, time, 0);
		if (i % 5 != 2) {
			exact[i] = callout_op_move(i % 5 == 3 ? i : handle, time);
			exact[i].flags = CALLOUT_OPF_ABSTIME |
					 (i % 5 == 3 ? CALLOUT_OPF_KEY : 0);
		}
		ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(fd, &exact[i]));
	}
	if (dev_now() >= start)
		return false;
	ASSERT_EQ(2 * N, receive(fd, e, 2 * N));
	for (i = 0; i < 2 * N; i++)
		EXPECT_EQ(i, e[i].cookie);
	return true;
}

/*
 * An exact callout fires at its tick, and a callout that is due a bit earlier and has
 * the default slack fires after it. A callout stays exact when it is moved, and when it
 * repeats. Where half of the default slack is less than a tick, both may have the same tick.
 */
TEST_F(file, exact)
{
	__u64 ahead = SEC;
	bool in_time;
	int fd;

	if (self->tick < 4 * info_of(self->fd).tick_ns)
		return;
	ASSERT_TRUE(pin_to_cpu(0));
	do {
		fd = dev_open(O_NONBLOCK);
		ASSERT_LE(0, fd);
		in_time = exact_order(_metadata, fd, self->tick, ahead);
		EXPECT_EQ(0, close(fd));
		ahead *= 2;
	} while (!in_time);
}

TEST_HARNESS_MAIN
