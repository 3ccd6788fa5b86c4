// SPDX-License-Identifier: GPL-2.0
/*
 * turns.c - one user's burst does not delay another user's callout
 *
 * Many callouts of one user are due together on a CPU. A callout of another
 * user is due at the same time on the same CPU, and so is a callout in another
 * file of the first user, which is set last. Lateness is measured as the number
 * of callouts of the burst that fired before.
 */
#include <stdlib.h>

#include "lib/fixture.h"

#define TIMEOUT_S	600
#define AT_A_TIME	16384U
#define SOMEBODY	12345
#define MILLION		1000000
#define SLOW		SEC
/* How many callouts of others may come first: some turns of an expiry, of 1024 each. */
#define FIRST		(8 * 1024U)

/* Run as a real user, with the rights to open the device. */
static int open_as(uid_t uid)
{
	int fd = -EPERM;

	if (!setresuid(uid, -1, -1)) {
		fd = dev_open(O_NONBLOCK);
		if (setresuid(0, -1, -1))
			fd = -EPERM;
	}
	return fd;
}

/* Set @n callouts due at @due; false if some could not be set. */
static bool set_burst(int fd, struct callout_op *ops, unsigned int n, __u64 due)
{
	unsigned int i, some, done;

	for (done = 0; done < n; done += some) {
		some = n - done < AT_A_TIME ? n - done : AT_A_TIME;
		for (i = 0; i < some; i++) {
			ops[i] = callout_op_set(due, done + i);
			ops[i].flags = CALLOUT_OPF_ABSTIME;
		}
		if (do_ops(fd, ops, some) != (int)some)
			return false;
	}
	return true;
}

/* How many of the @n events fired before @fired. */
static unsigned int fired_before(const struct callout_event *e, unsigned int n,
				 __u64 fired)
{
	unsigned int i, before = 0;

	for (i = 0; i < n; i++)
		before += e[i].fired < fired;
	return before;
}

/* Drop all events. */
static void drop_events(int fd)
{
	struct callout_event e;

	while (readable(fd))
		dev_read(fd, &e, 1);
}

TEST_F_TIMEOUT(file, burst_of_another_user, TIMEOUT_S)
{
	struct callout_op *ops = calloc(AT_A_TIME, sizeof(*ops));
	struct callout_event *e = calloc(MILLION, sizeof(*e)), late[2];
	__u64 due, handle, other_handle, took, headroom;
	unsigned int n = MILLION, before[2];
	int burst, same = self->fd, other;

	ASSERT_TRUE(ops && e);
	ASSERT_TRUE(pin_to_cpu(0));
	other = open_as(SOMEBODY);
	ASSERT_LE(0, other);
	/*
	 * A tenth is enough for a 32-bit program, where only addresses differ,
	 * and for a kernel whose own checks make it slow.
	 */
	due = dev_now();
	burst = open_as(0);
	ASSERT_LE(0, burst);
	ASSERT_TRUE(set_burst(burst, ops, AT_A_TIME, due + HOUR));
	took = dev_now() - due;
	ASSERT_EQ(0, close(burst));
	if (sizeof(long) < 8 || took > SLOW)
		n /= 10;
	headroom = n * (2 * took / AT_A_TIME);
	for (;;) {
		burst = open_as(0);
		ASSERT_LE(0, burst);
		due = dev_now() + headroom;
		ASSERT_TRUE(set_burst(burst, ops, n, due));
		ASSERT_EQ(0, dev_set(same, CALLOUT_OPF_ABSTIME, due,
				     0, &handle));
		ASSERT_EQ(0, dev_set(other, CALLOUT_OPF_ABSTIME, due,
				     0, &other_handle));
		if (dev_now() < due)
			break;
		/* Setting took longer, interrupted by what was due. Try again. */
		ASSERT_EQ(0, close(burst));
		ASSERT_GT(60 * SEC, headroom);
		headroom *= 2;
		dev_cancel(same, handle);
		dev_cancel(other, other_handle);
		drop_events(same);
		drop_events(other);
	}
	/* The callout may be due later than receive() waits. */
	ASSERT_TRUE(readable_within(burst, headroom / MSEC + WAIT_MS));
	ASSERT_EQ((int)n, receive(burst, e, n));
	ASSERT_EQ(1, receive(same, &late[0], 1));
	ASSERT_EQ(1, receive(other, &late[1], 1));
	before[0] = fired_before(e, n, late[0].fired);
	before[1] = fired_before(e, n, late[1].fired);
	TH_LOG("%u fired within %llu ms", n, (e[n - 1].fired - due) / MSEC);
	TH_LOG("%u before one in another file, %llu us late", before[0],
	       (late[0].fired - late[0].due) / 1000);
	TH_LOG("%u before one of another user, %llu us late", before[1],
	       (late[1].fired - late[1].due) / 1000);
	EXPECT_GT(FIRST, before[1]);
	EXPECT_LE(late[1].due, late[1].fired);
	close(burst);
	close(other);
	free(ops);
	free(e);
}

TEST_HARNESS_MAIN
