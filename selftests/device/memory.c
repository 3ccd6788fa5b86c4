// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - structures and arrays of wrong sizes, or in memory that is
 * inaccessible, the kernel's, or read-only
 */
#include "lib/bystander.h"
#include "lib/flicker.h"
#include "lib/uring.h"

/* Structures that are not operations. Operations are tested in device_errors. */
struct structure {
	const char *name;
	unsigned int cmd;
	unsigned int size;
	union {
		struct callout_batch batch;
		struct callout_list list;
		struct callout_limit limit;
		struct callout_match match;
	} in;
};

static struct callout_entry entry;

static const struct structure structures[] = {
	{
		.name = "BATCH",
		.cmd = CALLOUT_IOC_BATCH,
		.size = CALLOUT_BATCH_SIZE_V1,
		.in.batch.op_size = CALLOUT_OP_SIZE_V1,
	}, {
		.name = "LIMIT",
		.cmd = CALLOUT_IOC_LIMIT,
		.size = CALLOUT_LIMIT_SIZE_V1,
		.in.limit.max_outstanding = 2,
	}, {
		/* CANCEL_MATCHING for a cookie that no callout has. */
		.name = "CANCEL_MATCHING",
		.cmd = CALLOUT_IOC_CANCEL_MATCHING,
		.size = CALLOUT_MATCH_SIZE_V1,
		.in.match.cookie = ~0ULL,
		.in.match.mask = ~0ULL,
	}, {
		/* The bystander, see fill(). */
		.name = "LIST of one",
		.cmd = CALLOUT_IOC_LIST,
		.size = CALLOUT_LIST_SIZE_V1,
		.in.list.nr_entries = 1,
		.in.list.entry_size = CALLOUT_ENTRY_SIZE_V1,
		.in.list.flags = CALLOUT_LISTF_HANDLE,
	}, {
		.name = "LIST",
		.cmd = CALLOUT_IOC_LIST,
		.size = CALLOUT_LIST_SIZE_V1,
		/* The cursor is after the last callout. */
		.in.list.cursor = ~0ULL,
		.in.list.nr_entries = 1,
		.in.list.entry_size = CALLOUT_ENTRY_SIZE_V1,
	},
};

/* Copy the contents of the structure of a call that succeeds. */
static void fill(void *at, const struct structure *s, __u64 bystander)
{
	struct callout_list list = s->in.list;

	list.entries = (uintptr_t)&entry;
	list.cursor = bystander;
	memcpy(at, s->cmd == CALLOUT_IOC_LIST && list.flags ? (void *)&list : &s->in,
	       s->size);
}

/* A structure has the exact size, or is larger. */
TEST_F(errors, sizes)
{
	static char space[LARGEST_SIZE];
	const struct structure *s;
	unsigned int size, i;
	int ret, expected;

	for (i = 0; i < ARRAY_SIZE(structures); i++) {
		s = &structures[i];
		for (size = 0; size < LARGEST_SIZE; size++) {
			/* This call would lower the limit: see device_user. */
			if (is_size(size, s->size) &&
			    s->cmd == CALLOUT_IOC_LIMIT)
				continue;
			memset(space, 0, size);
			fill(space, s, self->bystander);
			ret = dev_ioctl(self->fd,
					resized(s->cmd, size), space);
			expected = is_size(size, s->size) ? 0 : -EINVAL;
			ASSERT_EQ(expected, ret) {
				TH_LOG("%s, %u", s->name, size);
			}
		}
	}
}

/* A non-zero byte that the kernel does not know is refused with E2BIG. */
TEST_F(errors, e2big)
{
	static const unsigned int more[] = { 8, 16, 104, 4000 };
	static char space[LARGEST_SIZE];
	const struct structure *s;
	unsigned int i, j, size;

	for (i = 0; i < ARRAY_SIZE(structures); i++) {
		s = &structures[i];
		for (j = 0; j < ARRAY_SIZE(more); j++) {
			size = s->size + more[j];
			memset(space, 0, sizeof(space));
			fill(space, s, self->bystander);
			space[size - 1] = 1;
			EXPECT_EQ(-E2BIG,
				  dev_ioctl(self->fd,
					    resized(s->cmd, size),
						    space)) {
				TH_LOG("%s, %u", s->name, size);
			}
		}
	}
}

TEST_F(errors, efault)
{
	void *bad[] = { NULL, (void *)8, self->edge, self->edge - 1,
			(void *)-1L };
	const struct structure *s;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(structures); i++) {
		s = &structures[i];
		for (j = 0; j < ARRAY_SIZE(bad); j++) {
			if (bad[j] == self->edge - 1 && s->size == 1)
				continue;
			EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, s->cmd,
						     bad[j]));
		}
		/* The last byte is in the inaccessible page. */
		memcpy(self->edge - s->size + 1, &s->in, s->size - 1);
		EXPECT_EQ(-EFAULT,
			  dev_ioctl(self->fd, s->cmd,
				    self->edge - s->size + 1)) {
			TH_LOG("%s", s->name);
		}
		/* Kernel addresses, if a pointer can hold them. */
		for (j = 0; j < ARRAY_SIZE(kernel_addresses); j++) {
			void *p = (void *)(uintptr_t)kernel_addresses[j];

			if ((uintptr_t)p != kernel_addresses[j])
				continue;
			EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, s->cmd,
						     p));
		}
	}
}

/* A structure that is only read may be in a read-only page. */
TEST_F(errors, read_only_structure)
{
	char *page = self->edge - self->page;
	struct callout_op op = callout_op_set(HOUR, 1);
	const struct structure *s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(structures); i++) {
		s = &structures[i];
		if (s->cmd == CALLOUT_IOC_LIMIT)
			continue;
		fill(page, s, self->bystander);
		ASSERT_EQ(0, mprotect(page, self->page, PROT_READ));
		EXPECT_EQ(_IOC_DIR(s->cmd) & _IOC_READ ? -EFAULT : 0,
			  dev_ioctl(self->fd, s->cmd, page));
		ASSERT_EQ(0, mprotect(page, self->page,
				      PROT_READ | PROT_WRITE));
	}

	/* A callout is set only if its handle was written. */
	memcpy(page, &(struct callout_batch){
		.ops = (uintptr_t)&op,
		.nr_ops = 1,
		.op_size = sizeof(op),
	}, sizeof(struct callout_batch));
	ASSERT_EQ(0, mprotect(page, self->page, PROT_READ));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, CALLOUT_IOC_BATCH,
				     page));
	ASSERT_EQ(0, mprotect(page, self->page, PROT_READ | PROT_WRITE));
	if (op.handle)
		dev_cancel(self->fd, op.handle);
	EXPECT_GE(1, info_of(self->fd).outstanding);
	freeze(self);
}

/* Arrays at bad addresses are refused, and no event is lost. */
TEST_F(errors, batch_arrays)
{
	struct callout_op op = callout_op_cancel(self->bystander);
	struct callout_batch b;
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kernel_addresses); i++) {
		b = batch_of(&op, 1);
		b.ops = kernel_addresses[i];
		EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
		/* The array's end wraps around. */
		b.nr_ops = CALLOUT_BATCH_MAX;
		b.op_size = CALLOUT_SIZE_MAX;
		EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	}
	b = batch_of(NULL, 1);
	EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	b = batch_of((void *)self->edge, 1);
	EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));

	/* Events that cannot be copied stay unread. */
	ASSERT_TRUE(wait_unread(self->fd, 1));
	for (i = 0; i < ARRAY_SIZE(kernel_addresses); i++) {
		b = batch_of(NULL, 0);
		b.events = kernel_addresses[i];
		b.nr_events = 1;
		EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
		b.nr_events = CALLOUT_BATCH_MAX;
		EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	}
	b = batch_of(NULL, 0);
	b.nr_events = 1;
	EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	b.events = (uintptr_t)(self->edge - sizeof(e) + 1);
	EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	EXPECT_EQ(1, info_of(self->fd).unread);
}

/* Cancel the callouts, of @n, that have a handle. Return how many were cancelled. */
static int cancel_all(int fd, const struct callout_op *ops, int n)
{
	int i, count = 0;

	for (i = 0; i < n; i++)
		count += ops[i].handle &&
			 dev_cancel(fd, ops[i].handle) > 0;
	return count;
}

/* No callout is outstanding whose handle could not be written. */
TEST_F(errors, batch_ends_at_an_inaccessible_page)
{
	enum { N = 20 };
	struct callout_op ops[N], *at;
	struct callout_batch b;
	unsigned int i, there;

	for (i = 0; i < N; i++)
		ops[i] = callout_op_set(HOUR, i);
	for (there = 1; there < N; there++) {
		/* First whole operations, then also half of the next operation. */
		for (i = 0; i < 2; i++) {
			at = (void *)(self->edge - there * sizeof(ops[0]) -
				      i * 32);
			memcpy(at, ops, there * sizeof(ops[0]) + i * 32);
			b = batch_of(at, N);
			EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
			cancel_all(self->fd, at, there);
			ASSERT_GE(1, info_of(self->fd).outstanding);
		}
	}
	freeze(self);
}

/* An operation of which a part is inaccessible is not done. */
TEST_F(errors, batch_of_a_part)
{
	struct callout_op op = callout_op_set(HOUR, 1), cancel, *at;
	struct callout_batch b;

	ASSERT_EQ(1, do_ops(self->fd, &op, 1));
	cancel = callout_op_cancel(op.handle);
	/* All but the last member, which the operation does not use. */
	at = (void *)(self->edge - offsetof(struct callout_op, left));
	memcpy(at, &cancel, offsetof(struct callout_op, left));
	b = batch_of(at, 1);
	EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
	freeze(self);
}

/* A batch fails if it cannot write the time that was left. */
TEST_F(errors, batch_left_is_read_only)
{
	struct callout_op op = callout_op_set(HOUR, 1), again, *at;
	struct callout_batch b;

	ASSERT_EQ(1, do_ops(self->fd, &op, 1));
	again = callout_op_move(op.handle, 2 * HOUR);
	at = (void *)(self->edge - offsetof(struct callout_op, left));
	ASSERT_EQ(0, mprotect(self->edge, self->page, PROT_READ | PROT_WRITE));
	memcpy(at, &again, sizeof(again));
	ASSERT_EQ(0, mprotect(self->edge, self->page, PROT_READ));
	b = batch_of(at, 1);
	EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	ASSERT_EQ(0, mprotect(self->edge, self->page, PROT_NONE));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
	freeze(self);
}

TEST_F(errors, batch_is_read_only)
{
	struct callout_op *ops = (void *)(self->edge - self->page);
	struct callout_batch b = batch_of(ops, 10);
	unsigned int i;

	for (i = 0; i < 10; i++)
		ops[i] = callout_op_set(i & 1 ? 0 : HOUR, i);
	ASSERT_EQ(0, mprotect(ops, self->page, PROT_READ));
	EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	ASSERT_EQ(0, mprotect(ops, self->page, PROT_READ | PROT_WRITE));
	EXPECT_GE(1, info_of(self->fd).outstanding);
	for (i = 0; i < 10; i++)
		EXPECT_EQ(0, ops[i].handle);
	freeze(self);
}

/* Structures and arrays may be unaligned, and end where a page ends. */
TEST_F(errors, unaligned_addresses)
{
	struct callout_op op = callout_op_set(0, 1);
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < 9; i++) {
		char *at = self->edge - sizeof(op) - i;

		memcpy(at, &op, sizeof(op));
		ASSERT_EQ(0, dev_ioctl(self->fd, CALLOUT_IOC_OP, at));
		freeze(self);
		ASSERT_TRUE(receive_one(self, &e));
		EXPECT_EQ(1, e.cookie);

		memcpy(at, &op, sizeof(op));
		ASSERT_EQ(1, do_ops(self->fd, (void *)at, 1));
		freeze(self);
		ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
		at = self->edge - sizeof(e) - i;
		ASSERT_EQ((ssize_t)sizeof(e),
			  read(self->fd, at, sizeof(e)));
		memcpy(&e, at, sizeof(e));
		if (e.cookie != BYSTANDER)
			continue;
		ASSERT_FALSE(self->seen);
		self->seen = true;
		ASSERT_TRUE(receive_one(self, &e));
	}
}

/* A batch may have larger operations than the kernel knows. */
TEST_F(errors, batch_of_larger_operations)
{
	static const unsigned int sizes[] = { 72, 80, 128, 1000, 4096 };
	static char space[8 * 4096];
	struct callout_batch b;
	struct callout_op op;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(space, 0, sizeof(space));
		for (j = 0; j < 8; j++) {
			op = callout_op_set(HOUR, j);
			memcpy(space + j * sizes[i], &op, sizeof(op));
		}
		/* The sixth has a byte that the kernel does not know. */
		space[6 * sizes[i] - 1] = 1;
		b = batch_of((void *)space, 8);
		b.op_size = sizes[i];
		ASSERT_EQ(0, do_batch(self->fd, &b));
		EXPECT_EQ(8, b.done);
		EXPECT_EQ(1, b.failed);
		for (j = 0; j < 8; j++) {
			memcpy(&op, space + j * sizes[i], sizeof(op));
			EXPECT_EQ(j, op.cookie);
			EXPECT_EQ(j == 5 ? -E2BIG : 0, op.result);
			if (j != 5)
				EXPECT_EQ(CALLOUT_STATE_PENDING,
					  dev_cancel(self->fd,
						     op.handle));
		}
	}
	freeze(self);
}

/* Events may be written over the operations, at an unaligned address. */
TEST_F(errors, batch_arrays_overlap)
{
	static char space[4096 + 1];
	char *odd = space + 1;
	struct callout_op op;
	struct callout_event e;
	struct callout_batch b;
	unsigned int i;

	ASSERT_TRUE(wait_unread(self->fd, 1));
	for (i = 0; i < 8; i++) {
		op = callout_op_set(HOUR, i);
		memcpy(odd + i * sizeof(op), &op, sizeof(op));
	}
	b = with_events(batch_of((void *)odd, 8), (void *)odd, 8, 0, 0);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(8, b.done);
	ASSERT_EQ(1, b.got);
	memcpy(&e, odd, sizeof(e));
	EXPECT_EQ(BYSTANDER, e.cookie);
	self->seen = true;
	EXPECT_EQ(8, info_of(self->fd).outstanding);
	for (i = 1; i < 8; i++) {
		memcpy(&op, odd + i * sizeof(op), sizeof(op));
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, op.handle));
	}
	freeze(self);
}

/* While the array's protection changes, each callout's handle is written. */
#define FLICKER_TIME	SEC

/* The maximum number of batches on a slow machine, until one succeeds. */
#define FLICKER_BATCHES	4000

TEST_F(errors, batch_races_mprotect)
{
	enum { N = 64 };
	__u64 end = dev_now() + FLICKER_TIME;
	unsigned int i, failed = 0, done = 0;
	struct flicker f = { 0 };
	struct callout_op *alias;
	struct callout_batch b;
	int n, ret;

	ASSERT_TRUE(flicker_start(&f, 1));
	alias = (void *)f.alias;
	while (dev_now() < end ||
	       (!done && failed < FLICKER_BATCHES)) {
		for (i = 0; i < N; i++)
			alias[i] = callout_op_set(HOUR, i);
		b = batch_of((void *)f.memory, N);
		ret = do_batch(self->fd, &b);
		if (ret)
			failed++;
		else
			done++;
		n = cancel_all(self->fd, alias, N);
		if ((ret && ret != -EFAULT) || (!ret && n != N) ||
		    info_of(self->fd).outstanding > 1)
			break;
	}
	flicker_stop(&f);
	TH_LOG("%u batches failed, %u did not", failed, done);
	EXPECT_LE(end, dev_now());
	EXPECT_GE(1, info_of(self->fd).outstanding);
	EXPECT_LT(0, done);
	freeze(self);
}

#define FLICKER_NS	(SEC / 2)

/*
 * A command of io_uring writes the handle after it has read the operation, and has a
 * slot for the callout then. If it cannot write, no callout is set, and the slot can be
 * used again: there are as many slots as commands.
 */
TEST_F(uring_cmd, handle_races_mprotect)
{
	unsigned int i, n, failed = 0, cancelled = 0, wrong = 0;
	__u64 end = dev_now() + FLICKER_NS;
	struct callout_match all = { 0 };
	struct ring *r = &self->ring;
	struct callout_op *op, *alias;
	struct flicker f = { 0 };
	int ret;

	if (!self->works)
		return;
	ASSERT_EQ(0, set_limit(self->fd, PENDING));
	ASSERT_TRUE(flicker_start(&f, 1));
	op = (void *)f.memory;
	alias = (void *)f.alias;
	do {
		for (i = 0; i < PENDING; i++) {
			alias[i] = callout_op_set(HOUR, 0);
			queue(r, self->fd, &op[i], i);
		}
		wrong += !submit(r);
		ret = dev_ioctl(self->fd, CALLOUT_IOC_CANCEL_MATCHING, &all);
		for (i = 0, n = 0; i < PENDING; i++) {
			switch (complete(r, NULL, WAIT_MS)) {
			case -ECANCELED:
				n++;
				break;
			case -EFAULT:
				failed++;
				break;
			default:
				wrong++;
			}
		}
		wrong += ret != (int)n || info_of(self->fd).outstanding;
		cancelled += n;
	} while (dev_now() < end && !wrong);
	flicker_stop(&f);
	TH_LOG("%u were set, %u failed", cancelled, failed);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(cancelled, counts_of(self->fd).set);
}

TEST_HARNESS_MAIN
