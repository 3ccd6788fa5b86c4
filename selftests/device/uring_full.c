// SPDX-License-Identifier: GPL-2.0
/*
 * uring_full.c - commands of io_uring: more completions than a ring has places
 *
 * io_uring keeps the excess completions in a list, and moves them to the ring when
 * a task that has made room enters the kernel.
 */
#include "lib/uring.h"

#define PLACES	128U
#define MANY	3000U

static struct callout_op ops[MANY];
static unsigned int completions[MANY];

/* Open a ring of the variant's kind with few places. */
static bool open_small(struct ring *r, __u32 flags)
{
	return ring_open_entries(r, flags, PLACES / 2) &&
	       r->p.cq_entries == PLACES;
}

/* Submit commands from @from on: as many as fit at one time. */
static unsigned int submit_some(struct ring *r, int fd, unsigned int from)
{
	unsigned int i, n = r->p.sq_entries < MANY - from ? r->p.sq_entries :
							    MANY - from;

	for (i = from; i < from + n; i++) {
		/* Commands to cancel, and commands that fire. */
		ops[i] = set_op(i % 3 ? i % 7 * MSEC : HOUR, i);
		queue(r, fd, &ops[i], i);
	}
	return submit(r) ? n : 0;
}

/* Return the next completion. The task enters the kernel for it. */
static int next(struct ring *r, __u64 *which)
{
	atomic_uint *head = ring_word(r, r->p.cq_off.head);
	atomic_uint *tail = ring_word(r, r->p.cq_off.tail);

	if (*head == *tail && !wait_for(r, 1, WAIT_MS) && *head == *tail)
		return -ETIME;
	return complete(r, which, WAIT_MS);
}

/* If no completion is taken until all have come, each comes once, with its result. */
TEST_F(uring_cmd, none_is_lost)
{
	unsigned int i, n, fired = 0, cancelled = 0, wrong = 0, by_key = 0;
	struct callout_op op;
	struct ring small;
	__u64 which;
	int ret;

	if (!self->works)
		return;
	ASSERT_TRUE(open_small(&small, variant->flags));
	for (i = 0; i < MANY; i += n) {
		n = submit_some(&small, self->fd, i);
		ASSERT_NE(0, n);
	}
	/* Cancel the commands due in an hour, and any other command that has not fired yet. */
	for (i = 0; i < MANY; i++) {
		op = cancel_op(i);
		if (i % 3 && i % 2)
			continue;
		ret = do_op(self->fd, &op);
		by_key += ret == CALLOUT_STATE_PENDING;
		wrong += ret != CALLOUT_STATE_PENDING && (ret != -ENOENT || !(i % 3));
	}
	EXPECT_EQ(0, wrong);
	EXPECT_TRUE(wait_outstanding(self->fd, 0));
	for (i = 0; i < MANY; i++) {
		ret = next(&small, &which);
		ASSERT_NE(-ETIME, ret) {
			TH_LOG("%u of %u came", i, MANY);
		}
		ASSERT_GT(MANY, which);
		completions[which]++;
		fired += !ret;
		cancelled += ret == -ECANCELED;
		EXPECT_TRUE(which % 3 || ret == -ECANCELED);
	}
	EXPECT_EQ(-ETIME, complete(&small, NULL, 1));
	for (i = 0; i < MANY; i++)
		wrong += completions[i] != 1;
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(MANY, fired + cancelled);
	EXPECT_EQ(by_key, cancelled);
	EXPECT_EQ(fired, counts_of(self->fd).delivered);
	EXPECT_EQ(MANY, counts_of(self->fd).set);
	EXPECT_TRUE(ring_close(&small));
}

/* A ring that is closed with more completions than places leaves nothing behind. */
TEST_F(uring_cmd, closed_with_them)
{
	struct ring small;
	unsigned int i, n;

	if (!self->works || !may_close(variant->flags))
		return;
	ASSERT_TRUE(open_small(&small, variant->flags));
	for (i = 0; i < MANY; i += n) {
		n = submit_some(&small, self->fd, i);
		ASSERT_NE(0, n);
	}
	EXPECT_TRUE(ring_close(&small));
	EXPECT_TRUE(wait_outstanding(self->fd, 0));
}

TEST_HARNESS_MAIN
