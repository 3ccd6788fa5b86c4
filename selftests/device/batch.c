// SPDX-License-Identifier: GPL-2.0
/*
 * batch.c - BATCH: many operations and a read in one call
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/fixture.h"

/* Events: more than the kernel copies at a time. */
#define MANY	40

/* Each result equals the return value of CALLOUT_IOC_OP. */
TEST_F(file, all_operations)
{
	__u64 pending = set(self->fd, HOUR, 1), unread = set(self->fd, 0, 2);
	__u64 moved = set(self->fd, HOUR, 3), fired = set(self->fd, 0, 4);
	struct callout_op ops[] = {
		callout_op_set(HOUR, 11),
		callout_op_cancel(pending),
		callout_op_cancel(unread),
		callout_op_move(moved, 2 * HOUR),
		callout_op_move(fired, 2 * HOUR),
		callout_op_timeout(5, 6, HOUR),
		callout_op_timeout(5, 6, 2 * HOUR),
		callout_op_untimeout(5, 6, 0),
		callout_op_cancel(pending),
		callout_op_move(unread, HOUR),
		callout_op_untimeout(6, 5, 0),
		callout_op_key(callout_op_set(HOUR, 7), 8),
		callout_op_key(callout_op_set(2 * HOUR, 7), 8),
		callout_op_key(callout_op_set(HOUR, 7), 8),
		callout_op_key(callout_op_move(0, HOUR), 8),
		callout_op_key(callout_op_cancel(0), 8),
		callout_op_key(callout_op_cancel(0), 8),
	};
	static const int results[] = {
		0, CALLOUT_STATE_PENDING, CALLOUT_STATE_UNREAD, CALLOUT_STATE_PENDING,
		CALLOUT_STATE_UNREAD, 0, 0, CALLOUT_STATE_PENDING, -ENOENT, -ENOENT,
		-ENOENT, 0, CALLOUT_STATE_PENDING, -EEXIST, CALLOUT_STATE_PENDING,
		CALLOUT_STATE_PENDING, -ENOENT,
	};
	struct callout_batch b = batch_of(ops, ARRAY_SIZE(ops));
	unsigned int i;

	ops[13].flags |= CALLOUT_OPF_ONLY_NEW;
	ASSERT_TRUE(wait_unread(self->fd, 2));
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(ARRAY_SIZE(ops), b.done);
	EXPECT_EQ(5, b.failed);
	EXPECT_EQ(0, b.got);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		EXPECT_EQ(results[i], ops[i].result) {
			TH_LOG("operation %u", i);
		}
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd,
						    ops[0].handle));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, ops[5].handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd,
						    ops[6].handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, moved));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, fired));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* An operation of a batch sees the effects of the earlier ones. */
TEST_F(file, in_order)
{
	__u64 handle = set(self->fd, HOUR, 1);
	struct callout_op ops[] = {
		callout_op_timeout(1, 1, HOUR),
		callout_op_untimeout(1, 1, 0),
		callout_op_untimeout(1, 1, 0),
		callout_op_move(handle, 2 * HOUR),
		callout_op_cancel(handle),
		callout_op_cancel(handle),
	};

	EXPECT_EQ(4, do_ops(self->fd, ops, ARRAY_SIZE(ops)));
	EXPECT_EQ(CALLOUT_STATE_PENDING, ops[1].result);
	EXPECT_EQ(-ENOENT, ops[2].result);
	EXPECT_EQ(CALLOUT_STATE_PENDING, ops[4].result);
	EXPECT_EQ(-ENOENT, ops[5].result);
}

/* Of SET and TIMEOUT, only the result and the handle are written. */
TEST_F(file, only_result_and_handle_are_written)
{
	struct callout_op ops[3] = {
		callout_op_set(HOUR, 1),
		callout_op_timeout(2, 3, HOUR),
		callout_op_set(~0ULL, 4),
	}, before[3];
	unsigned int i;

	memcpy(before, ops, sizeof(ops));
	EXPECT_EQ(2, do_ops(self->fd, ops, 3));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(i < 2, ops[i].handle != 0);
		before[i].result = ops[i].result;
		before[i].handle = ops[i].handle;
		EXPECT_EQ(0, memcmp(&before[i], &ops[i], sizeof(ops[i])));
	}
}

/* Operations that fail, each with its error. */
struct badness {
	const char *name;
	int error;
	struct callout_op op;
};

static const struct badness badnesses[] = {
	{ "no operation", -EINVAL, { .op = 0 } },
	{ "unknown operation", -EINVAL, { .op = 6 } },
	{ "unknown operation", -EINVAL, { .op = ~0U } },
	{ "unknown flag", -EINVAL,
	  { .op = CALLOUT_OP_SET, .flags = 1U << 6, .clockid = CLOCK_MONOTONIC } },
	{ "EXACT with slack", -EINVAL,
	  { .op = CALLOUT_OP_SET, .flags = CALLOUT_OPF_EXACT,
	    .clockid = CLOCK_MONOTONIC, .slack = 1 } },
	{ "ONLY_NEW without KEY", -EINVAL,
	  { .op = CALLOUT_OP_SET, .flags = CALLOUT_OPF_ONLY_NEW,
	    .clockid = CLOCK_MONOTONIC } },
	{ "clock", -EINVAL,
	  { .op = CALLOUT_OP_SET, .clockid = CLOCK_TAI } },
	{ "time", -EINVAL,
	  { .op = CALLOUT_OP_SET, .clockid = CLOCK_MONOTONIC,
	    .time = TIME_MAX + 1 } },
	{ "period", -EINVAL,
	  { .op = CALLOUT_OP_SET, .clockid = CLOCK_MONOTONIC,
	    .period = TIME_MAX + 1 } },
	{ "slack", -EINVAL,
	  { .op = CALLOUT_OP_SET, .clockid = CLOCK_MONOTONIC,
	    .slack = TIME_MAX + 1 } },
	{ "period of TIMEOUT", -EINVAL,
	  { .op = CALLOUT_OP_TIMEOUT, .clockid = CLOCK_MONOTONIC,
	    .time = HOUR, .period = HOUR } },
	{ "func of SET", -EINVAL,
	  { .op = CALLOUT_OP_SET, .clockid = CLOCK_MONOTONIC, .func = 1 } },
	{ "cookie of CANCEL", -EINVAL,
	  { .op = CALLOUT_OP_CANCEL, .handle = 1, .cookie = 1 } },
	{ "cookie of a move", -EINVAL,
	  { .op = CALLOUT_OP_MOVE, .handle = 1, .cookie = 1 } },
	{ "clock of a move", -EINVAL,
	  { .op = CALLOUT_OP_MOVE, .clockid = CLOCK_MONOTONIC,
	    .handle = 1 } },
	{ "CANCEL of nothing", -ENOENT,
	  { .op = CALLOUT_OP_CANCEL, .handle = 1 } },
	{ "CANCEL of no key", -ENOENT,
	  { .op = CALLOUT_OP_CANCEL, .flags = CALLOUT_OPF_KEY, .key = 1 } },
	{ "move of nothing", -ENOENT,
	  { .op = CALLOUT_OP_MOVE, .handle = 1 } },
	{ "SET of nothing", -ENOENT,
	  { .op = CALLOUT_OP_SET, .flags = CALLOUT_OPF_ONLY_OLD, .handle = 1 } },
	{ "SET of no key", -ENOENT,
	  { .op = CALLOUT_OP_SET, .flags = CALLOUT_OPF_ONLY_OLD | CALLOUT_OPF_KEY,
	    .key = 1 } },
	{ "UNTIMEOUT of nothing", -ENOENT,
	  { .op = CALLOUT_OP_UNTIMEOUT, .func = 1, .cookie = 1 } },
};

/* Operation @place of @n is bad. The others succeed if they are done. */
static void one_bad(struct __test_metadata *_metadata, int fd,
		    const struct badness *bad, unsigned int n,
		    unsigned int place, __u32 flags)
{
	struct callout_op ops[n];
	struct callout_batch b = batch_of(ops, n);
	unsigned int i, done = flags & CALLOUT_BATCHF_STOP ? place + 1 : n;

	for (i = 0; i < n; i++)
		ops[i] = i == place ? bad->op : callout_op_set(HOUR, i);
	b.flags = flags;
	EXPECT_EQ(0, do_batch(fd, &b));
	EXPECT_EQ(done, b.done);
	EXPECT_EQ(1, b.failed);
	EXPECT_EQ(done - 1, info_of(fd).outstanding);
	EXPECT_EQ(bad->error, ops[place].result) {
		TH_LOG("%s, %u of %u", bad->name, place, n);
	}
	EXPECT_EQ(bad->op.handle, ops[place].handle);
	for (i = 0; i < n; i++) {
		if (i == place)
			continue;
		EXPECT_EQ(i < done, ops[i].handle != 0);
		EXPECT_EQ(0, ops[i].result);
		if (i < done)
			EXPECT_EQ(CALLOUT_STATE_PENDING,
				  dev_cancel(fd, ops[i].handle));
	}
}

FIXTURE(bad) {
	int fd;
};

FIXTURE_VARIANT(bad) {
	__u32 flags;
};

FIXTURE_VARIANT_ADD(bad, go_on) { .flags = 0 };
FIXTURE_VARIANT_ADD(bad, stop) { .flags = CALLOUT_BATCHF_STOP };

FIXTURE_SETUP(bad)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(bad)
{
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(0, close(self->fd));
}

/* A bad operation, anywhere in a batch, does not affect the others. */
TEST_F(bad, one)
{
	static const unsigned int sizes[] = { 1, 3, 100 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(badnesses); i++) {
		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			one_bad(_metadata, self->fd, &badnesses[i], sizes[j],
				0, variant->flags);
			one_bad(_metadata, self->fd, &badnesses[i], sizes[j],
				sizes[j] / 2, variant->flags);
			one_bad(_metadata, self->fd, &badnesses[i], sizes[j],
				sizes[j] - 1, variant->flags);
		}
	}
}

/* All operations may fail, or the operations above the file's limit. */
TEST_F(bad, several)
{
	bool stop = variant->flags & CALLOUT_BATCHF_STOP;
	struct callout_op ops[ARRAY_SIZE(badnesses)];
	struct callout_batch b;
	__u64 limit = 5;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = badnesses[i].op;
	b = batch_of(ops, ARRAY_SIZE(ops));
	b.flags = variant->flags;
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(stop ? 1 : ARRAY_SIZE(ops), b.failed);
	EXPECT_EQ(b.failed, b.done);
	for (i = 0; i < b.done; i++)
		EXPECT_EQ(badnesses[i].error, ops[i].result);

	ASSERT_EQ(0, set_limit(self->fd, limit));
	for (i = 0; i < 8; i++)
		ops[i] = callout_op_set(HOUR, i);
	b = batch_of(ops, 8);
	b.flags = variant->flags;
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(stop ? 6 : 8, b.done);
	EXPECT_EQ(b.done - 5, b.failed);
	EXPECT_EQ(-ENOSPC, ops[5].result);
	EXPECT_EQ(0, ops[5].handle);
	EXPECT_EQ(5, do_ops(self->fd, (struct callout_op[]){
		callout_op_cancel(ops[0].handle),
		callout_op_cancel(ops[1].handle),
		callout_op_cancel(ops[2].handle),
		callout_op_cancel(ops[3].handle),
		callout_op_cancel(ops[4].handle) }, 5));
}

TEST_F(file, empty)
{
	struct callout_batch b = batch_of(NULL, 0);
	struct callout_event e[2];

	EXPECT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(0, b.done + b.failed + b.got);
	b = with_events(batch_of(NULL, 0), e, 2, 0, 0);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(0, b.done + b.failed + b.got);
}

TEST_F(file, maximum)
{
	struct callout_op *ops = calloc(CALLOUT_BATCH_MAX + 1, sizeof(*ops));
	unsigned int i, wrong = 0;
	struct callout_event e;
	struct callout_batch b;

	ASSERT_NE(NULL, ops);
	for (i = 0; i <= CALLOUT_BATCH_MAX; i++)
		ops[i] = callout_op_set(HOUR, i);
	b = batch_of(ops, CALLOUT_BATCH_MAX + 1);
	EXPECT_EQ(-EINVAL, do_batch(self->fd, &b));
	b = with_events(batch_of(ops, 1), &e, CALLOUT_BATCH_MAX + 1, 0, 0);
	EXPECT_EQ(-EINVAL, do_batch(self->fd, &b));
	EXPECT_EQ(0, counts_of(self->fd).set);
	EXPECT_EQ(0, ops[0].handle);

	EXPECT_EQ(CALLOUT_BATCH_MAX,
		  do_ops(self->fd, ops, CALLOUT_BATCH_MAX));
	EXPECT_EQ(CALLOUT_BATCH_MAX, info_of(self->fd).outstanding);
	EXPECT_EQ(0, ops[CALLOUT_BATCH_MAX].handle);
	for (i = 0; i < CALLOUT_BATCH_MAX; i++)
		ops[i] = callout_op_cancel(ops[i].handle);
	EXPECT_EQ(CALLOUT_BATCH_MAX,
		  do_ops(self->fd, ops, CALLOUT_BATCH_MAX));
	for (i = 0; i < CALLOUT_BATCH_MAX; i++)
		wrong += ops[i].result != CALLOUT_STATE_PENDING;
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	free(ops);
}

/* Operations are done before events are read, so they can withdraw the events. */
TEST_F(file, events)
{
	struct callout_op ops[] = {
		callout_op_cancel(0), callout_op_set(HOUR, 9),
	};
	struct callout_event e[8];
	struct callout_batch b;
	__u64 handles[5];
	unsigned int i;

	for (i = 0; i < 5; i++)
		handles[i] = set(self->fd, 0, i);
	ASSERT_TRUE(wait_unread(self->fd, 5));
	ops[0].handle = handles[2];
	b = with_events(batch_of(ops, 2), e, 3, 0, 0);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(2, b.done);
	EXPECT_EQ(CALLOUT_STATE_UNREAD, ops[0].result);
	ASSERT_EQ(3, b.got);
	b = with_events(batch_of(NULL, 0), e + 3, 5, 0, 0);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	ASSERT_EQ(1, b.got);
	for (i = 0; i < 4; i++) {
		EXPECT_NE(2, e[i].cookie);
		EXPECT_EQ(handles[e[i].cookie], e[i].handle);
		EXPECT_LE(e[i].due, e[i].fired);
	}
	EXPECT_EQ(1, info_of(self->fd).outstanding);
	EXPECT_EQ(4, counts_of(self->fd).delivered);
}

/* A loop needs only one system call a turn. */
TEST_F(file, a_loop)
{
	enum { N = 300, ROOM = 16 };
	struct callout_event e[ROOM];
	struct callout_op ops[ROOM];
	unsigned int i, n = 1, next = 1, seen = 0;
	unsigned char heard[N + ROOM] = { 0 };
	struct callout_batch b;

	ops[0] = callout_op_set(0, 0);
	while (seen < N) {
		b = with_events(batch_of(ops, n), e, ROOM, CALLOUT_BATCHF_WAIT,
				CALLOUT_FOREVER);
		ASSERT_EQ(0, do_batch(self->fd, &b));
		ASSERT_EQ(n, b.done);
		ASSERT_EQ(0, b.failed);
		ASSERT_LT(0, b.got);
		n = 0;
		for (i = 0; i < b.got; i++) {
			ASSERT_GT(next, e[i].cookie);
			EXPECT_EQ(0, heard[e[i].cookie]++);
			seen++;
			/* Each event sets one more callout, and sometimes two. */
			if (next < N && n < ROOM)
				ops[n++] = callout_op_set(0, next++);
			if (next < N && n < ROOM && next % 8 == 0)
				ops[n++] = callout_op_set(MSEC, next++);
		}
	}
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

static bool is_event(const struct callout_event *e)
{
	return e->type == CALLOUT_EVENT_FIRED && !e->flags && e->handle &&
	       e->cookie < MANY && !e->func && e->due <= e->fired && !e->overrun &&
	       e->clockid == CLOCK_MONOTONIC && !e->reserved;
}

/* Set MANY callouts, and wait until all have fired. */
static bool fire_many(int fd)
{
	struct callout_op ops[MANY];
	unsigned int i;

	for (i = 0; i < MANY; i++)
		ops[i] = callout_op_set(0, i);
	return do_ops(fd, ops, MANY) == MANY && wait_unread(fd, MANY);
}

/* An event that was copied in part is read again, and no other event is lost. */
TEST_F(file, inaccessible_in_an_event)
{
	static const unsigned int ends[] = { 1, 8, 40, 63 };
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char seen[MANY] = { 0 };
	unsigned int i, got;
	struct callout_event e;
	struct callout_batch b;
	char *space, *at;

	space = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, space);
	ASSERT_EQ(0, mprotect(space + page, page, PROT_NONE));
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		ASSERT_TRUE(fire_many(self->fd));
		/* The page ends in the second event. */
		at = space + page - sizeof(e) - ends[i];
		b = with_events(batch_of(NULL, 0), (void *)at, MANY + 1, 0, 0);
		for (got = 0; got < MANY; got++) {
			ASSERT_EQ(0, do_batch(self->fd, &b));
			ASSERT_EQ(1, b.got);
			memcpy(&e, at, sizeof(e));
			ASSERT_TRUE(is_event(&e));
			EXPECT_EQ(i, seen[e.cookie]++);
		}
		ASSERT_EQ(0, do_batch(self->fd, &b));
		EXPECT_EQ(0, b.got);
	}
}

TEST_F(file, wait)
{
	struct callout_op op = callout_op_set(30 * MSEC, 1);
	__u64 begin = dev_now();
	struct callout_event e;
	struct callout_batch b;

	b = with_events(batch_of(&op, 1), &e, 1, CALLOUT_BATCHF_WAIT,
			CALLOUT_FOREVER);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_LE(begin + 30 * MSEC, dev_now());
	ASSERT_EQ(1, b.got);
	EXPECT_EQ(op.handle, e.handle);

	/* An event is unread, so the batch does not wait. */
	ASSERT_NE(0, set(self->fd, 0, 2));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	op = callout_op_set(HOUR, 1);
	b = with_events(batch_of(&op, 1), &e, 1, CALLOUT_BATCHF_WAIT,
			CALLOUT_FOREVER);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(1, b.got);
	EXPECT_EQ(2, e.cookie);
}

TEST_F(file, wait_times_out)
{
	static const __u64 timeouts[] = { 0, 1, MSEC, 40 * MSEC };
	struct callout_op op;
	struct callout_event e;
	struct callout_batch b;
	unsigned int i;
	__u64 begin;

	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		begin = dev_now();
		op = callout_op_set(HOUR, i);
		b = with_events(batch_of(&op, 1), &e, 1, CALLOUT_BATCHF_WAIT,
				timeouts[i]);
		EXPECT_EQ(0, do_batch(self->fd, &b));
		EXPECT_LE(begin + timeouts[i], dev_now());
		EXPECT_EQ(1, b.done);
		EXPECT_EQ(0, b.got);
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, op.handle));
	}
}

/* A batch that stopped at a failure does not wait. */
TEST_F(file, no_wait_after_a_stop)
{
	struct callout_op ops[] = {
		callout_op_cancel(1), callout_op_set(HOUR, 1),
	};
	struct callout_event e;
	struct callout_batch b;

	b = with_events(batch_of(ops, 2), &e, 1,
			CALLOUT_BATCHF_STOP | CALLOUT_BATCHF_WAIT,
			CALLOUT_FOREVER);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(1, b.done);
	EXPECT_EQ(1, b.failed);
	EXPECT_EQ(0, b.got);
}

/* A batch that stopped reads no events: skipped operations may concern them. */
TEST_F(file, no_events_after_a_stop)
{
	struct callout_op ops[] = { callout_op_cancel(1), callout_op_cancel(0) };
	__u32 flags = CALLOUT_BATCHF_STOP;
	struct callout_event e;
	struct callout_batch b;

	ops[1].handle = set(self->fd, 0, 1);
	ASSERT_TRUE(wait_unread(self->fd, 1));
	do {
		b = with_events(batch_of(ops, 2), &e, 1, flags,
				flags & CALLOUT_BATCHF_WAIT ?
				CALLOUT_FOREVER : 0);
		ASSERT_EQ(0, do_batch(self->fd, &b));
		EXPECT_EQ(1, b.done);
		EXPECT_EQ(1, b.failed);
		EXPECT_EQ(0, b.got);
		EXPECT_EQ(1, info_of(self->fd).unread);
		flags ^= CALLOUT_BATCHF_WAIT;
	} while (flags & CALLOUT_BATCHF_WAIT);
	EXPECT_EQ(CALLOUT_STATE_UNREAD,
		  dev_cancel(self->fd, ops[1].handle));

	/* A batch that had no failure, or does not stop, reads events. */
	ASSERT_NE(0, set(self->fd, 0, 2));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	b = with_events(batch_of(NULL, 0), &e, 1, CALLOUT_BATCHF_STOP, 0);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(1, b.got);
	ASSERT_NE(0, set(self->fd, 0, 3));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	b = with_events(batch_of(ops, 2), &e, 1, 0, 0);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(2, b.failed);
	EXPECT_EQ(1, b.got);
}

TEST_F(file, wait_is_interrupted)
{
	struct callout_op op = callout_op_set(HOUR, 1);
	struct callout_event e;
	struct callout_batch b;

	/* A restart would do the operations twice. */
	ASSERT_TRUE(interrupt_by(SIGALRM, SA_RESTART));
	ASSERT_TRUE(send_alarms(20000));
	b = with_events(batch_of(&op, 1), &e, 1, CALLOUT_BATCHF_WAIT,
			CALLOUT_FOREVER);
	EXPECT_EQ(-EINTR, do_batch(self->fd, &b));
	ASSERT_TRUE(send_alarms(0));
	EXPECT_EQ(1, counts_of(self->fd).set);
	EXPECT_EQ(1, b.done);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
}

/* A callout that another thread sets ends the wait. */
static void *set_soon(void *arg)
{
	sleep_ns(30 * MSEC);
	set(*(int *)arg, 0, 77);
	return NULL;
}

TEST_F(file, wait_for_another_thread)
{
	struct callout_event e;
	struct callout_batch b;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, set_soon, &self->fd));
	b = batch_wait(&e, WAIT_MS * MSEC);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(1, b.got);
	EXPECT_EQ(77, e.cookie);
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
