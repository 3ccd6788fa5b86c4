// SPDX-License-Identifier: GPL-2.0
/*
 * million.c - a million callouts outstanding on one descriptor: half are
 * cancelled, the others received, none is lost or early
 */
#include <stdlib.h>

#include "lib/fixture.h"

#define TIMEOUT_S	600
#define AT_A_TIME	16384U
/* Time until the first callout is due, in ns for each callout. All are due within SPREAD. */
#define HEADROOM	2500
#define SPREAD		(1500 * MSEC)
#define MILLION		1000000
#define SLOW		SEC

static __u64 due_of(__u64 start, unsigned int i, unsigned int n)
{
	/* Callouts with neighbouring numbers are not due together. */
	return start + (__u64)i * 7919 % n * (SPREAD / n);
}

/* Read all events. Return how many are wrong or missing. */
static unsigned int receive_all(int fd, __u64 start, unsigned int n,
				const __u64 *handles, unsigned char *seen)
{
	static struct callout_event e[AT_A_TIME];
	unsigned int wrong = 0, left = n / 2;
	int i, got;

	while (left) {
		if (!readable_within(fd, WAIT_MS))
			return wrong + left;
		got = dev_read(fd, e, AT_A_TIME);
		if (got <= 0)
			return wrong + left;
		for (i = 0; i < got; i++) {
			unsigned int cookie = e[i].cookie;

			if (e[i].cookie >= n || !(cookie & 1) ||
			    e[i].handle != handles[cookie] ||
			    e[i].due != due_of(start, cookie, n) ||
			    e[i].fired < e[i].due || seen[cookie]++)
				wrong++;
		}
		if (e[got - 1].fired > dev_now())
			wrong++;
		left -= got;
	}
	return wrong;
}

/* Set callouts @first to @first + @n - 1 in one call. */
static bool set_some(int fd, struct callout_op *ops, unsigned int n,
		     __u64 start, unsigned int first, unsigned int all,
		     __u64 *handles)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		ops[i] = callout_op_set(due_of(start, first + i, all),
					first + i);
		ops[i].flags = CALLOUT_OPF_ABSTIME;
	}
	if (do_ops(fd, ops, n) != (int)n)
		return false;
	for (i = 0; i < n; i++)
		handles[first + i] = ops[i].handle;
	return true;
}

/* Return how long it takes to set and cancel AT_A_TIME callouts; 0: failed. */
static __u64 time_of_some(int fd, struct callout_op *ops, __u64 *handles)
{
	__u64 begin = dev_now();
	unsigned int i;

	if (!set_some(fd, ops, AT_A_TIME, HOUR, 0, AT_A_TIME, handles))
		return 0;
	for (i = 0; i < AT_A_TIME; i++)
		ops[i] = callout_op_cancel(handles[i]);
	if (do_ops(fd, ops, AT_A_TIME) != AT_A_TIME)
		return 0;
	return dev_now() - begin;
}

TEST_F_TIMEOUT(file, million, TIMEOUT_S)
{
	struct callout_op *ops = calloc(AT_A_TIME, sizeof(*ops));
	__u64 *handles = calloc(MILLION, sizeof(*handles)), start, t[4];
	unsigned char *seen = calloc(MILLION, 1);
	unsigned int i, j, at_a_time, wrong = 0, n = MILLION;
	struct counts counts;

	ASSERT_TRUE(ops && handles && seen);
	/*
	 * A tenth is enough for a 32-bit program, where only addresses differ,
	 * and for a kernel whose own checks make it slow.
	 */
	t[0] = time_of_some(self->fd, ops, handles);
	ASSERT_NE(0, t[0]);
	if (sizeof(long) < 8 || t[0] > SLOW)
		n /= 10;
	t[0] = dev_now();
	start = t[0] + (__u64)n * HEADROOM;
	for (i = 0; i < n; i += at_a_time) {
		at_a_time = n - i < AT_A_TIME ? n - i : AT_A_TIME;
		ASSERT_TRUE(set_some(self->fd, ops, at_a_time, start, i, n,
				     handles));
	}
	EXPECT_EQ(n, info_of(self->fd).outstanding);
	if (info_of(self->fd).max_outstanding == n) {
		ops[0] = callout_op_set(HOUR, n);
		EXPECT_EQ(-ENOSPC, do_op(self->fd, &ops[0]));
	}

	t[1] = dev_now();
	for (i = 0; i < n / 2; i += at_a_time) {
		at_a_time = n / 2 - i < AT_A_TIME ? n / 2 - i : AT_A_TIME;
		for (j = 0; j < at_a_time; j++)
			ops[j] = callout_op_cancel(handles[2 * (i + j)]);
		ASSERT_EQ((int)at_a_time, do_ops(self->fd, ops, at_a_time));
	}
	counts = counts_of(self->fd);
	EXPECT_EQ(n / 2, info_of(self->fd).outstanding);
	EXPECT_EQ(AT_A_TIME + n / 2, counts.cancelled + counts.withdrawn);

	t[2] = dev_now();
	wrong = receive_all(self->fd, start, n, handles, seen);
	t[3] = dev_now();
	EXPECT_EQ(0, wrong);
	for (i = 0, wrong = 0; i < n; i++)
		wrong += seen[i] != (i & 1);
	EXPECT_EQ(0, wrong);
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(n / 2, counts_of(self->fd).delivered);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	TH_LOG("%u set in %llu ms, half cancelled in %llu ms, the rest received after %llu ms",
	       n, (t[1] - t[0]) / MSEC, (t[2] - t[1]) / MSEC,
	       (t[3] - t[2]) / MSEC);
	free(ops);
	free(handles);
	free(seen);
}

TEST_HARNESS_MAIN
