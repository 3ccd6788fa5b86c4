// SPDX-License-Identifier: GPL-2.0
/*
 * errors.c - operations that are wrong in themselves, one test a reason
 */
#include <limits.h>

#include "lib/bystander.h"

/* A correct operation, and its members that must be zero. */
struct operation {
	const char *name;
	unsigned int cmd;
	struct callout_op op;
	struct callout_op zero;
};

#define ALL	(~0ULL)

/* Members that must be zero in an operation that takes no time. */
#define ZERO_WITHOUT_TIME						\
	.flags = -1U, .clockid = -1, .time = ALL, .period = ALL,	\
	.slack = ALL

static const struct operation operations[] = {
	{
		.name = "SET",
		.cmd = CALLOUT_IOC_SET,
		.op = {
			.op = CALLOUT_OP_SET,
			.clockid = CLOCK_MONOTONIC,
			.time = HOUR,
			.cookie = 1,
		},
		.zero = { .func = ALL },
	}, {
		.name = "UNSET",
		.cmd = CALLOUT_IOC_UNSET,
		.op = { .op = CALLOUT_OP_UNSET },
		.zero = {
			ZERO_WITHOUT_TIME,
			.cookie = ALL,
			.func = ALL,
		},
	}, {
		.name = "TIMEOUT",
		.cmd = CALLOUT_IOC_TIMEOUT,
		.op = {
			.op = CALLOUT_OP_TIMEOUT,
			.clockid = CLOCK_MONOTONIC,
			.time = HOUR,
			.cookie = 1,
			.func = 1,
		},
		.zero = { .period = ALL },
	}, {
		.name = "UNTIMEOUT",
		.cmd = CALLOUT_IOC_UNTIMEOUT,
		.op = {
			.op = CALLOUT_OP_UNTIMEOUT,
			.cookie = BYSTANDER,
			.func = BYSTANDER_FUNC,
		},
		.zero = {
			ZERO_WITHOUT_TIME,
		},
	}, {
		.name = "RESET",
		.cmd = CALLOUT_IOC_RESET,
		.op = {
			.op = CALLOUT_OP_RESET,
			.time = HOUR,
		},
		/* Period and slack without their flags. */
		.zero = {
			.clockid = -1,
			.period = ALL,
			.slack = ALL,
			.cookie = ALL,
		},
	},
};

#define OPERATIONS_END	(operations + ARRAY_SIZE(operations))

#define SET		(&operations[0])
#define UNSET		(&operations[1])
#define TIMEOUT		(&operations[2])
#define RESET		(&operations[4])

static bool makes_handle(const struct operation *o)
{
	return o == SET || o == TIMEOUT;
}

static bool has_time(const struct operation *o)
{
	return makes_handle(o) || o == RESET;
}

static bool needs_handle(const struct operation *o)
{
	return o == UNSET || o == RESET;
}

/* The first bit of flags that the operation does not know. */
static unsigned int first_unknown_flag(const struct operation *o)
{
	return o == RESET ? 3 : has_time(o) ? 1 : 0;
}

/* Operation @o, with @change applied to a copy of it, op, must give @error. */
#define EXPECT_REFUSED(error, o, change) do {				\
	const struct operation *o_ = (o);				\
	struct callout_op op_ = o_->op;					\
	struct callout_op *op = &op_;					\
									\
	if (needs_handle(o_))						\
		op->handle = self->bystander;				\
	change;								\
	EXPECT_EQ(-(error),						\
		  callout_dev_ioctl(self->fd, o_->cmd, op)) {		\
		TH_LOG("%s: %s", o_->name, #change);			\
	}								\
} while (0)

TEST_F(errors, enotty_unknown_number)
{
	struct callout_op op = SET->op;
	unsigned int nr;

	for (nr = 0; nr < 256; nr++) {
		if (nr == 1)
			nr = _IOC_NR(CALLOUT_IOC_CANCEL) + 1;
		op.op = nr;
		EXPECT_EQ(-ENOTTY,
			  callout_dev_ioctl(self->fd,
					    _IOWR(CALLOUT_IOC_MAGIC, nr,
						  struct callout_op), &op)) {
			TH_LOG("number %u", nr);
		}
	}
}

TEST_F(errors, enotty_unknown_type)
{
	static const unsigned int types[] = { 0, 'c', 0xf8, 0xfa, 0xff };
	const struct operation *o;
	struct callout_op op;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		for (i = 0; i < ARRAY_SIZE(types); i++) {
			op = o->op;
			EXPECT_EQ(-ENOTTY,
				  callout_dev_ioctl(self->fd,
						    _IOWR(types[i],
							  _IOC_NR(o->cmd),
							  struct callout_op),
						    &op));
		}
	}
}

TEST_F(errors, enotty_wrong_direction)
{
	static const unsigned int cmds[] = {
		CALLOUT_IOC_SET, CALLOUT_IOC_UNSET, CALLOUT_IOC_RESET,
		CALLOUT_IOC_TIMEOUT, CALLOUT_IOC_UNTIMEOUT, CALLOUT_IOC_BATCH,
		CALLOUT_IOC_NEXT, CALLOUT_IOC_INFO, CALLOUT_IOC_LIMIT,
		CALLOUT_IOC_EVENTFD, CALLOUT_IOC_FORMAT, CALLOUT_IOC_GET,
		CALLOUT_IOC_LIST, CALLOUT_IOC_CANCEL,
	};
	union {
		struct callout_op op;
		struct callout_info info;
	} u;
	unsigned int i, dir, cmd;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		for (dir = 0; dir < 4; dir++) {
			if (dir == _IOC_DIR(cmds[i]))
				continue;
			cmd = _IOC(dir, CALLOUT_IOC_MAGIC, _IOC_NR(cmds[i]),
				   _IOC_SIZE(cmds[i]));
			u.op = SET->op;
			u.op.op = _IOC_NR(cmd);
			EXPECT_EQ(-ENOTTY,
				  callout_dev_ioctl(self->fd, cmd, &u));
		}
	}
}

TEST_F(errors, einval_unknown_flag)
{
	const struct operation *o;
	unsigned int bit;

	for (o = operations; o < OPERATIONS_END; o++)
		for (bit = first_unknown_flag(o); bit < 32; bit++)
			if (1U << bit != CALLOUT_KEY)
				EXPECT_REFUSED(EINVAL, o,
					       op->flags = 1U << bit);
}

/* What the kernel only writes may be anything before the call. */
TEST_F(errors, output_members_are_ignored)
{
	struct callout_op op, ops[2];
	const struct operation *o;
	struct callout_batch b;
	__u64 handle = 0;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		op = o->op;
		op.result = -1;
		/* UNSET and RESET get the handle of the previous operation. */
		if (o == RESET)
			op.left = ALL;
		op.handle = makes_handle(o) ? ALL :
			    needs_handle(o) ? handle : 0;
		/* UNTIMEOUT would cancel the bystander. */
		if (o->cmd == CALLOUT_IOC_UNTIMEOUT)
			op.func = TIMEOUT->op.func + 1;
		EXPECT_EQ(makes_handle(o) ? 0 : -ENOENT,
			  callout_dev_ioctl(self->fd, o->cmd, &op)) {
			TH_LOG("%s", o->name);
		}
		if (makes_handle(o)) {
			EXPECT_NE(ALL, op.handle);
			EXPECT_EQ(CALLOUT_CANCELLED,
				  callout_dev_unset(self->fd, op.handle));
			handle = op.handle;
		}
	}

	/* The same arrays again, as the first call has left them. */
	ops[0] = SET->op;
	ops[1] = UNSET->op;
	b = batch_of(ops, 2);
	b.done = 1;
	b.failed = 2;
	b.got = ~0U;
	for (i = 0; i < 2; i++) {
		ops[1].handle = handle;
		ASSERT_EQ(0, do_batch(self->fd, &b));
		EXPECT_EQ(2, b.done);
		EXPECT_EQ(!i, b.failed);
		EXPECT_EQ(0, b.got);
		EXPECT_EQ(0, ops[0].result);
		handle = ops[0].handle;
	}
	EXPECT_EQ(CALLOUT_CANCELLED, callout_dev_unset(self->fd, handle));
	/* A handle that is there was written by this call. */
	ops[0].flags = 1U << 31;
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(-EINVAL, ops[0].result);
	EXPECT_EQ(0, ops[0].handle);
	freeze(self);
}

/* Each byte of these members is checked. */
TEST_F(errors, einval_member_must_be_zero)
{
	const struct operation *o;
	size_t i;

	for (o = operations; o < OPERATIONS_END; o++)
		for (i = 0; i < sizeof(o->op); i++)
			if (((const char *)&o->zero)[i])
				EXPECT_REFUSED(EINVAL, o, ((char *)op)[i] = 1);
}

TEST_F(errors, einval_wrong_opcode)
{
	const struct operation *o;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		for (i = 0; i < 16; i++)
			if (i != _IOC_NR(o->cmd))
				EXPECT_REFUSED(EINVAL, o, op->op = i);
		EXPECT_REFUSED(EINVAL, o, op->op |= 0x100);
		EXPECT_REFUSED(EINVAL, o, op->op |= 1U << 31);
	}
}

static bool is_alarm(clockid_t clock)
{
	return clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM;
}

TEST_F(errors, einval_clock)
{
	static const int clocks[] = { INT_MIN, -2, -1, 0x10001, INT_MAX };
	const struct operation *o;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		if (!makes_handle(o))
			continue;
		for (i = 0; i < 20; i++)
			if (i != CLOCK_MONOTONIC && i != CLOCK_BOOTTIME &&
			    i != CLOCK_REALTIME && !is_alarm(i))
				EXPECT_REFUSED(EINVAL, o, op->clockid = i);
		for (i = 0; i < ARRAY_SIZE(clocks); i++)
			EXPECT_REFUSED(EINVAL, o, op->clockid = clocks[i]);
	}
}

TEST_F(errors, einval_time)
{
	static const __u64 times[] = { TIME_MAX + 1, TIME_MAX + 2, ~0ULL };
	const struct operation *o;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		if (!has_time(o))
			continue;
		for (i = 0; i < ARRAY_SIZE(times); i++) {
			__u32 both = o == RESET ? CALLOUT_NEW_PERIOD |
						  CALLOUT_NEW_SLACK : 0;

			EXPECT_REFUSED(EINVAL, o,
				       op->flags = both;
				       op->period = times[i]);
			EXPECT_REFUSED(EINVAL, o,
				       op->flags = both;
				       op->slack = times[i]);
			EXPECT_REFUSED(EINVAL, o, op->time = times[i]);
			EXPECT_REFUSED(EINVAL, o,
				       op->flags = CALLOUT_ABSTIME;
				       op->time = times[i]);
		}
	}
}

/*
 * Sizes below that of version 1, above the largest, and those that are not
 * multiples of 8 are refused.
 */
TEST_F(errors, einval_size)
{
	static union {
		struct callout_op op;
		char space[LARGEST_SIZE];
	} u;
	const struct operation *o;
	unsigned int size;

	for (o = operations; o < OPERATIONS_END; o++) {
		for (size = 0; size < LARGEST_SIZE; size++) {
			if (is_size(size, CALLOUT_OP_SIZE_V1))
				continue;
			u.op = o->op;
			if (needs_handle(o))
				u.op.handle = self->bystander;
			ASSERT_EQ(-EINVAL,
				  callout_dev_ioctl(self->fd,
						    resized(o->cmd, size),
						    &u)) {
				TH_LOG("%s of %u bytes", o->name, size);
			}
		}
	}
}

TEST_F(errors, einval_info_size)
{
	static char space[LARGEST_SIZE];
	unsigned int size;

	for (size = 0; size < LARGEST_SIZE; size++) {
		if (is_size(size, CALLOUT_INFO_SIZE_V1))
			continue;
		ASSERT_EQ(-EINVAL,
			  callout_dev_ioctl(self->fd,
					    resized(CALLOUT_IOC_INFO, size),
					    space)) {
			TH_LOG("%u bytes", size);
		}
	}
	for (size = 0; size < LARGEST_SIZE; size++)
		ASSERT_EQ(0, space[size]);
}

/* A non-zero byte that the kernel does not know is refused with E2BIG. */
TEST_F(errors, e2big)
{
	static union {
		struct callout_op op;
		char space[LARGEST_SIZE];
	} u;
	const struct operation *o;
	unsigned int size, nonzero;

	for (o = operations; o < OPERATIONS_END; o++) {
		u.op = o->op;
		if (needs_handle(o))
			u.op.handle = self->bystander;
		for (size = CALLOUT_OP_SIZE_V1 + 8; size <= CALLOUT_SIZE_MAX;
		     size += 8) {
			/* The first byte, the last, or one between them. */
			nonzero = size % 3 ? size - 1 : CALLOUT_OP_SIZE_V1;
			if (size % 5 == 0)
				nonzero = (CALLOUT_OP_SIZE_V1 + size) / 2;
			u.space[nonzero] = 1;
			ASSERT_EQ(-E2BIG,
				  callout_dev_ioctl(self->fd,
						    resized(o->cmd, size),
						    &u)) {
				TH_LOG("%s of %u bytes", o->name, size);
			}
			u.space[nonzero] = 0;
		}
	}
}

/* A larger structure is accepted if its unknown part is zero. */
TEST_F(errors, larger_structure)
{
	static const unsigned int sizes[] = { 72, 80, 128, 1000, 4096 };
	static union {
		struct callout_op op;
		struct callout_info info;
		unsigned char space[LARGEST_SIZE];
	} u;
	unsigned int i, j;
	__u64 handle;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(&u, 0, sizeof(u));
		u.op = SET->op;
		ASSERT_EQ(0, callout_dev_ioctl(self->fd,
					       resized(SET->cmd, sizes[i]),
					       &u));
		handle = u.op.handle;
		EXPECT_NE(0, handle);
		memset(&u, 0, sizeof(u));
		u.op = UNSET->op;
		u.op.handle = handle;
		ASSERT_EQ(CALLOUT_CANCELLED,
			  callout_dev_ioctl(self->fd,
					    resized(UNSET->cmd, sizes[i]),
					    &u));
	}
	freeze(self);

	memset(&u, 0xff, sizeof(u));
	ASSERT_EQ(0, callout_dev_ioctl(self->fd,
				       resized(CALLOUT_IOC_INFO, 4096), &u));
	EXPECT_EQ(CALLOUT_ABI_VERSION, u.info.abi_version);
	EXPECT_EQ(ARRAY_SIZE(sizes), u.info.cancelled);
	for (j = sizeof(u.info); j < 4096; j++)
		ASSERT_EQ(0, u.space[j]);
	EXPECT_EQ(0xff, u.space[4096]);
}

TEST_F(errors, efault_ioctl)
{
	void *bad[] = { NULL, (void *)8, self->edge, self->edge - 1,
			self->edge - CALLOUT_OP_SIZE_V1 + 1, (void *)-1L,
			in_the_kernel() };
	const struct operation *o;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		memcpy(self->edge - sizeof(o->op) + 1, &o->op,
		       sizeof(o->op) - 1);
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			EXPECT_EQ(-EFAULT, callout_dev_ioctl(self->fd, o->cmd,
							     bad[i]));
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EFAULT, callout_dev_ioctl(self->fd,
						     CALLOUT_IOC_INFO,
						     bad[i]));
}

/* The unknown part of a larger structure must be accessible too. */
TEST_F(errors, efault_tail)
{
	struct callout_op *op = (void *)(self->edge - sizeof(*op));
	const struct operation *o;

	for (o = operations; o < OPERATIONS_END; o++) {
		*op = o->op;
		if (needs_handle(o))
			op->handle = self->bystander;
		EXPECT_EQ(-EFAULT,
			  callout_dev_ioctl(self->fd,
					    resized(o->cmd, sizeof(*op) + 8),
					    op));
	}
	EXPECT_EQ(-EFAULT,
		  callout_dev_ioctl(self->fd,
				    resized(CALLOUT_IOC_INFO,
					    CALLOUT_INFO_SIZE_V1 + 8),
				    self->edge - CALLOUT_INFO_SIZE_V1));
}

/* A callout whose time left cannot be written is not moved. */
TEST_F(errors, efault_left)
{
	struct callout_op *op = (void *)(self->edge - self->page);

	*op = RESET->op;
	op->handle = self->bystander;
	ASSERT_EQ(0, mprotect(op, self->page, PROT_READ));
	EXPECT_EQ(-EFAULT, callout_dev_ioctl(self->fd, RESET->cmd, op));
	ASSERT_EQ(0, mprotect(op, self->page, PROT_READ | PROT_WRITE));
}

/* A callout whose handle cannot be written is not set. */
TEST_F(errors, efault_handle)
{
	struct callout_op *op = (void *)(self->edge - self->page);
	const struct operation *o;

	for (o = operations; o < OPERATIONS_END; o++) {
		if (!makes_handle(o))
			continue;
		*op = o->op;
		op->time = 0;
		ASSERT_EQ(0, mprotect(op, self->page, PROT_READ));
		EXPECT_EQ(-EFAULT, callout_dev_ioctl(self->fd, o->cmd, op));
		ASSERT_EQ(0, mprotect(op, self->page, PROT_READ | PROT_WRITE));
	}
}

/* Calls that change callouts need a descriptor that is open for writing. */
TEST_F(errors, ebadf_not_for_writing)
{
	int fd = open(CALLOUT_DEVICE, O_RDONLY | O_NONBLOCK);
	struct callout_cancel cancel = { .mask = 0 };
	struct callout_format format = { .event_size = CALLOUT_EVENT_SIZE_V1 };
	struct callout_next next = { .clockid = CLOCK_MONOTONIC };
	const struct operation *o;
	struct callout_event e;
	struct callout_info info;
	struct callout_batch b;
	struct callout_op op;

	ASSERT_LE(0, fd);
	for (o = operations; o < OPERATIONS_END; o++) {
		op = o->op;
		EXPECT_EQ(-EBADF, callout_dev_ioctl(fd, o->cmd, &op));
		EXPECT_EQ(-EBADF, callout_dev_ioctl(fd, o->cmd, nowhere()));
		b = batch_of(&op, 1);
		EXPECT_EQ(-EBADF, do_batch(fd, &b));
		EXPECT_EQ(0, b.done);
	}
	EXPECT_EQ(-EBADF, set_limit(fd, 1));
	EXPECT_EQ(-EBADF, set_eventfd(fd, -1));
	EXPECT_EQ(-EBADF, callout_dev_ioctl(fd, CALLOUT_IOC_CANCEL, &cancel));
	/* Calls that report or read do not. */
	b = with_events(batch_of(NULL, 0), &e, 1, 0, 0);
	EXPECT_EQ(0, do_batch(fd, &b));
	EXPECT_EQ(-EAGAIN, callout_dev_read(fd, &e, 1));
	EXPECT_EQ(0, callout_dev_ioctl(fd, CALLOUT_IOC_NEXT, &next));
	EXPECT_EQ(CALLOUT_FOREVER, next.due);
	EXPECT_EQ(0, callout_dev_ioctl(fd, CALLOUT_IOC_FORMAT, &format));
	EXPECT_EQ(0, callout_dev_info(fd, &info));
	EXPECT_EQ(0, info.set);
	EXPECT_NE(1, info.max_outstanding);
	close(fd);
	freeze(self);
}

/* Reading events needs a descriptor that is open for reading. */
TEST_F(errors, ebadf_not_for_reading)
{
	struct callout_format format = { .event_size = CALLOUT_EVENT_SIZE_V1 };
	struct callout_next next = { .clockid = CLOCK_MONOTONIC };
	int fd = open(CALLOUT_DEVICE, O_WRONLY | O_NONBLOCK);
	struct callout_entry entry = { .handle = 0 };
	struct callout_list list = {
		.entries = (uintptr_t)&entry,
		.nr_entries = 1,
		.entry_size = sizeof(entry),
	};
	struct callout_event e[2];
	struct callout_batch b;
	struct callout_op op;
	int i, bytes;

	ASSERT_LE(0, fd);
	for (i = 0; i < 2; i++)
		ASSERT_NE(0, set(fd, 0, i));
	ASSERT_TRUE(wait_unread(fd, 2));
	EXPECT_EQ(-EBADF, callout_dev_read(fd, e, 2));
	EXPECT_EQ(-EBADF, callout_dev_ioctl(fd, CALLOUT_IOC_FORMAT, &format));
	op = callout_op_unset(1);
	for (i = 0; i < 2; i++) {
		b = with_events(batch_of(&op, i), e, 2, 0, 0);
		EXPECT_EQ(-EBADF, do_batch(fd, &b));
		b.flags = CALLOUT_BATCH_WAIT;
		b.timeout = MSEC;
		EXPECT_EQ(-EBADF, do_batch(fd, &b));
		EXPECT_EQ(0, b.done);
	}
	EXPECT_EQ(2, info_of(fd).unread);
	/* Other operations do not. */
	b = batch_of(&op, 1);
	EXPECT_EQ(0, do_batch(fd, &b));
	EXPECT_EQ(1, b.done);
	EXPECT_EQ(0, set_limit(fd, 2));
	EXPECT_EQ(0, callout_dev_ioctl(fd, CALLOUT_IOC_NEXT, &next));
	EXPECT_EQ(0, callout_dev_ioctl(fd, CALLOUT_IOC_LIST, &list));
	ASSERT_EQ(1, list.got);
	EXPECT_EQ(0, callout_dev_ioctl(fd, CALLOUT_IOC_GET, &entry));
	EXPECT_EQ(0, callout_dev_ioctl(fd, FIONREAD, &bytes));
	EXPECT_EQ(2 * CALLOUT_EVENT_SIZE_V1, bytes);
	close(fd);
	freeze(self);
}

TEST_HARNESS_MAIN
