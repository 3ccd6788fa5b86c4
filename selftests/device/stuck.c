// SPDX-License-Identifier: GPL-2.0
/*
 * stuck.c - a reader of a file is stuck in a page fault, with an event that
 * it has taken, and does not block others
 */
#include <sys/epoll.h>

#include "lib/fixture.h"
#include "lib/stuck.h"

/* A thread is stuck in read() and has taken the event with the cookie STUCK. */
#define STUCK	1000

/* The cookie with which its callout is set again. */
#define AGAIN	1001

#define KEY	77

FIXTURE(stuck) {
	int fd;		/* non-blocking */
	__u32 naming;	/* CALLOUT_OPF_KEY or 0 */
	__u64 name;	/* the stuck reader's callout */
	struct stuck reader;
};

FIXTURE_VARIANT(stuck) {
	__u64 period;
	bool key;
};

FIXTURE_VARIANT_ADD(stuck, one_shot) { .period = 0 };
FIXTURE_VARIANT_ADD(stuck, periodic) { .period = HOUR };
FIXTURE_VARIANT_ADD(stuck, one_shot_key) { .period = 0, .key = true };
FIXTURE_VARIANT_ADD(stuck, periodic_key) { .period = HOUR, .key = true };

FIXTURE_SETUP(stuck)
{
	struct callout_op op = callout_op_set(0, STUCK);

	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	if (!stuck_possible())
		SKIP(return, "the kernel has no userfaultfd");
	if (variant->key)
		op = callout_op_key(op, KEY);
	op.period = variant->period;
	ASSERT_EQ(0, do_op(self->fd, &op));
	self->naming = op.flags;
	self->name = op.handle;
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(stuck_start(&self->reader, self->fd));
}

/* Each test has ended the reader's call. */
FIXTURE_TEARDOWN(stuck)
{
	stuck_free(&self->reader);
	EXPECT_EQ(0, close(self->fd));
}

/* The stuck reader gets its event, as the callout was set at first. */
#define FINISH() do {							\
	EXPECT_EQ(1, stuck_finish(&self->reader));			\
	EXPECT_EQ(STUCK, self->reader.page->cookie);			\
	EXPECT_EQ(self->name, self->reader.page->handle);		\
	EXPECT_EQ((variant->key ? CALLOUT_EVENTF_KEY : 0) |		\
		  (variant->period ? CALLOUT_EVENTF_PERIODIC : 0),	\
		  self->reader.page->flags);				\
} while (0)

/* The results of operations that cancel or replace a callout while its event is being read. */
#define WHILE_READING	(variant->period ? CALLOUT_STATE_READING : -ENOENT)

/* Do @op of the stuck reader's callout. */
static int do_named(struct _test_data_stuck *self, struct callout_op op)
{
	op.flags |= self->naming;
	op.handle = self->name;
	return do_op(self->fd, &op);
}

static int cancel(struct _test_data_stuck *self)
{
	return do_named(self, callout_op_cancel(0));
}

static int move_to(struct _test_data_stuck *self, __u64 time)
{
	struct callout_op op = callout_op_move(0, time);

	op.flags |= CALLOUT_OPF_ABSTIME;
	return do_named(self, op);
}

static int set_again_slack(struct _test_data_stuck *self, __u64 time, __u64 period, __u64 slack)
{
	struct callout_op op = callout_op_set(time, AGAIN);

	op.flags = CALLOUT_OPF_ABSTIME | CALLOUT_OPF_ONLY_OLD;
	op.period = period;
	op.slack = slack;
	return do_named(self, op);
}

static int set_again(struct _test_data_stuck *self, __u64 time, __u64 period)
{
	return set_again_slack(self, time, period, 0);
}

static int list_it(struct _test_data_stuck *self, struct callout_entry *entry)
{
	return list_one(self->fd,
			self->naming ? CALLOUT_LISTF_KEY : CALLOUT_LISTF_HANDLE,
			self->name, entry);
}

/* EAGAIN means that no event is unread, and POLLIN that an event is unread. */
TEST_F(stuck, others_read)
{
	struct callout_event e;
	struct callout_batch b;
	unsigned int i;

	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &e, 1));
	for (i = 0; i < 3; i++) {
		ASSERT_NE(0, set(self->fd, 0, i));
		ASSERT_TRUE(wait_unread(self->fd, 1));
		EXPECT_TRUE(readable(self->fd));
		if (i < 2) {
			ASSERT_EQ(1, dev_read(self->fd, &e, 1));
		} else {
			b = batch_wait(&e, 0);
			ASSERT_EQ(0, do_batch(self->fd, &b));
			ASSERT_EQ(1, b.got);
		}
		EXPECT_EQ(i, e.cookie);
		EXPECT_FALSE(readable(self->fd));
	}
	FINISH();
}

/* A reader that reads until EAGAIN gets all events, and sees the next edge. */
TEST_F(stuck, edges)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC), got;
	struct callout_event e[4];
	unsigned int i;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	for (i = 0; i < 5; i++) {
		ASSERT_NE(0, set(self->fd, 0, i));
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
		got = dev_read(self->fd, e, 4);
		ASSERT_EQ(1, got);
		EXPECT_EQ(i, e[0].cookie);
		EXPECT_EQ(-EAGAIN, dev_read(self->fd, e, 4));
	}
	FINISH();
	close(ep);
}

/* A wait ends at its timeout, also while another reader is stuck. */
TEST_F(stuck, timeout)
{
	static const __u64 timeouts[] = { 0, 1, 20 * MSEC };
	struct callout_event e;
	struct callout_batch b;
	unsigned int i;
	__u64 begin;

	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		begin = dev_now();
		b = batch_wait(&e, timeouts[i]);
		EXPECT_EQ(0, do_batch(self->fd, &b));
		EXPECT_LE(begin + timeouts[i], dev_now());
		EXPECT_EQ(0, b.got);
	}
	FINISH();
}

/* An event that could not be copied is unread again: it makes an edge, and is first. */
TEST_F(stuck, fails)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct callout_event e[2];

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	EXPECT_EQ(-EFAULT, stuck_fail(&self->reader));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
	ASSERT_NE(0, set(self->fd, 0, 1));
	ASSERT_TRUE(wait_unread(self->fd, 2));
	ASSERT_EQ(2, dev_read(self->fd, e, 2));
	EXPECT_EQ(STUCK, e[0].cookie);
	EXPECT_EQ(1, e[1].cookie);
	close(ep);
}

/* A cancel does not wait for the reader, whose event is the callout's last event. */
TEST_F(stuck, cancel)
{
	struct callout_event e;

	EXPECT_EQ(WHILE_READING, cancel(self));
	EXPECT_EQ(-ENOENT, cancel(self));
	EXPECT_EQ(-ENOENT, move_to(self, 0));
	EXPECT_EQ(-ENOENT, set_again(self, 0, 0));
	FINISH();
	EXPECT_EQ(-ENOENT, cancel(self));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &e, 1));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(1, counts_of(self->fd).set);
	EXPECT_EQ(!!variant->period, counts_of(self->fd).cancelled);
	EXPECT_EQ(!!variant->period, counts_of(self->fd).repeated);
	EXPECT_EQ(!variant->period, counts_of(self->fd).delivered);
	EXPECT_EQ(0, counts_of(self->fd).withdrawn);
}

/* CANCEL_MATCHING counts a periodic callout whose event is being read. */
TEST_F(stuck, cancel_matching)
{
	struct callout_match match = { .cookie = STUCK, .mask = ~0ULL };

	EXPECT_EQ(!!variant->period,
		  dev_ioctl(self->fd, CALLOUT_IOC_CANCEL_MATCHING, &match));
	EXPECT_EQ(-ENOENT, cancel(self));
	FINISH();
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(!!variant->period, counts_of(self->fd).cancelled);
}

/* A failed copy does not bring back a callout that was cancelled during the copy. */
TEST_F(stuck, cancel_then_fail)
{
	struct callout_event e;
	unsigned int back = !variant->period;

	EXPECT_EQ(WHILE_READING, cancel(self));
	EXPECT_EQ(-EFAULT, stuck_fail(&self->reader));
	EXPECT_EQ(back, info_of(self->fd).unread);
	EXPECT_EQ(back, info_of(self->fd).outstanding);
	EXPECT_EQ(back ? 1 : -EAGAIN, dev_read(self->fd, &e, 1));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(!back, counts_of(self->fd).cancelled);
	EXPECT_EQ(back, counts_of(self->fd).delivered);
	EXPECT_EQ(0, counts_of(self->fd).repeated);
}

/* The reader has finished, so the pending callout is cancelled as any other. */
TEST_F(stuck, cancel_when_it_is_read)
{
	FINISH();
	EXPECT_EQ(variant->period ? CALLOUT_STATE_PENDING : -ENOENT, cancel(self));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* A periodic callout is found while its event is being read, and any other is not. */
TEST_F(stuck, is_found)
{
	struct callout_op op = callout_op_set(HOUR, AGAIN);
	struct callout_entry entry;

	ASSERT_EQ(variant->period ? 0 : -ENOENT, list_it(self, &entry));
	if (variant->period) {
		EXPECT_EQ(CALLOUT_STATE_READING, entry.state);
		EXPECT_EQ(self->name, entry.handle);
		EXPECT_EQ(variant->period, entry.period);
		EXPECT_EQ(STUCK, entry.cookie);
	}
	if (variant->key) {
		op.flags = CALLOUT_OPF_ONLY_NEW;
		EXPECT_EQ(variant->period ? -EEXIST : 0, do_named(self, op));
		/* SET sets the callout again that has the key at the time of the call. */
		op.flags = 0;
		EXPECT_EQ(variant->period ? CALLOUT_STATE_READING : CALLOUT_STATE_PENDING,
			  do_named(self, op));
		EXPECT_EQ(variant->period ? 1 : 2,
			  info_of(self->fd).outstanding);
	}
	FINISH();
	EXPECT_EQ(variant->period || variant->key ? CALLOUT_STATE_PENDING : -ENOENT,
		  cancel(self));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Set another callout with the key of the cancelled callout, with @cookie. */
static int set_new(struct _test_data_stuck *self, __u64 cookie)
{
	struct callout_op op = callout_op_set(HOUR, cookie);

	op.flags = CALLOUT_OPF_ONLY_NEW;
	return do_named(self, op);
}

/* A key is free as soon as its callout is cancelled, and may be another callout's from then on. */
TEST_F(stuck, key_is_free)
{
	struct callout_entry entry;

	EXPECT_EQ(WHILE_READING, cancel(self));
	if (variant->key)
		EXPECT_EQ(0, set_new(self, 7));
	FINISH();
	if (variant->key) {
		ASSERT_EQ(0, list_it(self, &entry));
		EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
		EXPECT_EQ(7, entry.cookie);
		EXPECT_EQ(0, entry.period);
		EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self));
	}
	EXPECT_EQ(-ENOENT, cancel(self));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* An event that comes back does not keep a key that is another callout's. */
TEST_F(stuck, key_is_free_then_fail)
{
	struct callout_event e;

	EXPECT_EQ(WHILE_READING, cancel(self));
	if (variant->key)
		EXPECT_EQ(0, set_new(self, 7));
	EXPECT_EQ(-EFAULT, stuck_fail(&self->reader));
	EXPECT_EQ(!variant->period, info_of(self->fd).unread);
	if (variant->key || !variant->period)
		EXPECT_EQ(variant->key ? CALLOUT_STATE_PENDING : CALLOUT_STATE_UNREAD,
			  cancel(self));
	EXPECT_EQ(-ENOENT, cancel(self));
	if (variant->key && !variant->period) {
		ASSERT_EQ(1, dev_read(self->fd, &e, 1));
		EXPECT_EQ(STUCK, e.cookie);
	}
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &e, 1));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* The last SET counts. The event that is being read belongs to the first SET. */
TEST_F(stuck, set_again)
{
	struct callout_entry entry;
	__u64 now = dev_now();

	EXPECT_EQ(WHILE_READING, set_again(self, now + HOUR, 0));
	if (!variant->period) {
		FINISH();
		return;
	}
	ASSERT_EQ(0, list_it(self, &entry));
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(now + HOUR, entry.due);
	EXPECT_EQ(0, entry.period);
	EXPECT_EQ(AGAIN, entry.cookie);
	EXPECT_EQ(now + HOUR, next_due(self->fd, CLOCK_MONOTONIC));
	/* No event of the replaced setting is read. */
	EXPECT_EQ(CALLOUT_STATE_PENDING, set_again(self, now + 3 * HOUR, 2 * HOUR));
	FINISH();
	EXPECT_EQ(now + 3 * HOUR, next_due(self->fd, CLOCK_MONOTONIC));
	ASSERT_EQ(0, list_it(self, &entry));
	EXPECT_EQ(2 * HOUR, entry.period);
	EXPECT_EQ(AGAIN, entry.cookie);
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(2, counts_of(self->fd).reset);
}

/* MOVE changes the time alone. */
TEST_F(stuck, move)
{
	struct callout_entry entry;
	__u64 now = dev_now();

	EXPECT_EQ(WHILE_READING, move_to(self, now + 3 * HOUR));
	FINISH();
	if (!variant->period)
		return;
	ASSERT_EQ(0, list_it(self, &entry));
	EXPECT_EQ(now + 3 * HOUR, entry.due);
	EXPECT_EQ(variant->period, entry.period);
	EXPECT_EQ(STUCK, entry.cookie);
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_F(stuck, set_again_then_fail)
{
	__u64 now = dev_now(), cursor = 0;
	struct callout_entry entry;
	struct callout_event e;

	if (!variant->period) {
		EXPECT_EQ(-EFAULT, stuck_fail(&self->reader));
		/* The callout has lost its key, which was its name, so LIST has a handle for it. */
		EXPECT_EQ(variant->key ? -ENOENT : CALLOUT_STATE_UNREAD,
			  set_again(self, now + HOUR, 0));
		if (!variant->key)
			return;
		ASSERT_EQ(1, list_page(self->fd, &cursor, &entry, 1));
		EXPECT_EQ(CALLOUT_OP_SET, entry.op);
		EXPECT_EQ(CALLOUT_OPF_ABSTIME, entry.op_flags);
		EXPECT_EQ(CALLOUT_STATE_UNREAD, entry.state);
		EXPECT_EQ(0, entry.func);
		EXPECT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, entry.handle));
		return;
	}
	/* The callout becomes a one-shot callout, due at once. */
	EXPECT_EQ(CALLOUT_STATE_READING, set_again(self, now, 0));
	EXPECT_EQ(-EFAULT, stuck_fail(&self->reader));
	/* The callout fires, and is no longer pending. */
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(~0ULL, next_due(self->fd, CLOCK_MONOTONIC));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(AGAIN, e.cookie);
	EXPECT_EQ(now, e.due);
	EXPECT_EQ(variant->key ? CALLOUT_EVENTF_KEY : 0, e.flags);
	EXPECT_EQ(-ENOENT, cancel(self));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(1, counts_of(self->fd).delivered);
	EXPECT_EQ(0, counts_of(self->fd).repeated);
}

/* A failed copy does not bring back an event whose callout was set again. */
TEST_F(stuck, set_far_then_fail)
{
	__u64 now = dev_now();

	if (!variant->period) {
		FINISH();
		return;
	}
	EXPECT_EQ(CALLOUT_STATE_READING, set_again(self, now + HOUR, HOUR));
	EXPECT_EQ(-EFAULT, stuck_fail(&self->reader));
	EXPECT_EQ(0, info_of(self->fd).unread);
	EXPECT_EQ(now + HOUR, next_due(self->fd, CLOCK_MONOTONIC));
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* With another slack the callout is pending again, too. */
TEST_F(stuck, set_again_then_cancel)
{
	__u64 now = dev_now();
	struct callout_entry entry;

	EXPECT_EQ(WHILE_READING, set_again_slack(self, now + HOUR, HOUR, SEC));
	if (variant->period) {
		ASSERT_EQ(0, list_it(self, &entry));
		EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
		EXPECT_EQ(now + HOUR, entry.due);
		EXPECT_EQ(SEC, entry.slack);
	}
	EXPECT_EQ(variant->period ? CALLOUT_STATE_PENDING : -ENOENT, cancel(self));
	EXPECT_EQ(-ENOENT, set_again(self, 0, HOUR));
	FINISH();
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/*
 * A reader has taken two events, and its copy fails. Only the event is unread again whose
 * callout was not set again.
 */
TEST(two_then_fail)
{
	struct callout_op periodic = callout_op_set(0, 2);
	struct stuck reader = { .room = 2 };
	int fd = dev_open(O_NONBLOCK);
	struct callout_event e;

	ASSERT_LE(0, fd);
	if (!stuck_possible())
		SKIP(return, "the kernel has no userfaultfd");
	periodic.period = HOUR;
	ASSERT_NE(0, set(fd, 0, 1));
	ASSERT_TRUE(wait_unread(fd, 1));
	ASSERT_EQ(0, do_op(fd, &periodic));
	ASSERT_TRUE(wait_unread(fd, 2));
	ASSERT_TRUE(stuck_start(&reader, fd));
	EXPECT_EQ(0, info_of(fd).unread);
	EXPECT_EQ(CALLOUT_STATE_READING, move(fd, periodic.handle, HOUR));
	EXPECT_EQ(-EFAULT, stuck_fail(&reader));
	EXPECT_EQ(1, info_of(fd).unread);
	ASSERT_EQ(1, dev_read(fd, &e, 1));
	EXPECT_EQ(1, e.cookie);
	EXPECT_EQ(-EAGAIN, dev_read(fd, &e, 1));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(fd, periodic.handle));
	EXPECT_EQ(0, info_of(fd).outstanding);
	stuck_free(&reader);
	EXPECT_EQ(0, close(fd));
}

/* The file is freed when the stuck reader has left it. */
TEST_F(stuck, close)
{
	int fd = dev_open(O_NONBLOCK);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, close(self->fd));
	self->fd = fd;
	FINISH();
}

TEST_HARNESS_MAIN
