// SPDX-License-Identifier: GPL-2.0
/*
 * errors.c - operations that are wrong in themselves, one test a reason
 */
#include <limits.h>

#include "lib/bystander.h"

/* A correct operation, and its members that must be zero. */
struct operation {
	const char *name;
	struct callout_op op;
	struct callout_op zero;
};

#define ALL	(~0ULL)

/* A handle and a key of no callout. */
#define NOBODY	0x123456789abcdefULL

/* Members that must be zero in an operation that takes no time. Flags have separate tests. */
#define ZERO_WITHOUT_TIME						\
	.clockid = -1, .time = ALL, .period = ALL, .slack = ALL

static const struct operation operations[] = {
	{
		.name = "SET",
		.op = {
			.op = CALLOUT_OP_SET,
			.clockid = CLOCK_MONOTONIC,
			.time = HOUR,
			.cookie = 1,
		},
		.zero = { .func = ALL },
	}, {
		.name = "SET of a key",
		.op = {
			.op = CALLOUT_OP_SET,
			.flags = CALLOUT_OPF_KEY,
			.clockid = CLOCK_MONOTONIC,
			.time = HOUR,
			.key = NOBODY,
			.cookie = 1,
		},
	}, {
		.name = "SET of a new key",
		.op = {
			.op = CALLOUT_OP_SET,
			.flags = CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_NEW,
			.clockid = CLOCK_MONOTONIC,
			.time = HOUR,
			.key = NOBODY,
			.cookie = 1,
		},
		.zero = { .func = ALL },
	}, {
		.name = "SET of an old handle",
		.op = {
			.op = CALLOUT_OP_SET,
			.flags = CALLOUT_OPF_ONLY_OLD,
			.clockid = CLOCK_MONOTONIC,
			.time = HOUR,
			.handle = NOBODY,
			.cookie = 1,
		},
	}, {
		/* The bystander's handle is filled in. */
		.name = "MOVE",
		.op = {
			.op = CALLOUT_OP_MOVE,
			.time = HOUR,
		},
		.zero = {
			.clockid = -1,
			.period = ALL,
			.slack = ALL,
			.cookie = ALL,
		},
	}, {
		.name = "MOVE of a key",
		.op = {
			.op = CALLOUT_OP_MOVE,
			.flags = CALLOUT_OPF_KEY,
			.time = HOUR,
			.key = NOBODY,
		},
		.zero = {
			.clockid = -1,
			.period = ALL,
			.slack = ALL,
			.cookie = ALL,
		},
	}, {
		/* The bystander's handle is filled in. */
		.name = "CANCEL",
		.op = { .op = CALLOUT_OP_CANCEL },
		.zero = { ZERO_WITHOUT_TIME, .cookie = ALL, .func = ALL },
	}, {
		.name = "CANCEL of a key",
		.op = {
			.op = CALLOUT_OP_CANCEL,
			.flags = CALLOUT_OPF_KEY,
			.key = NOBODY,
		},
		.zero = { ZERO_WITHOUT_TIME, .cookie = ALL, .func = ALL },
	}, {
		.name = "TIMEOUT",
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
		.op = {
			.op = CALLOUT_OP_UNTIMEOUT,
			.cookie = BYSTANDER,
			.func = BYSTANDER_FUNC,
		},
		.zero = { ZERO_WITHOUT_TIME },
	},
};

#define OPERATIONS_END	(operations + ARRAY_SIZE(operations))

static bool has_clock(const struct callout_op *op)
{
	return op->op == CALLOUT_OP_SET || op->op == CALLOUT_OP_TIMEOUT;
}

static bool has_time(const struct callout_op *op)
{
	return has_clock(op) || op->op == CALLOUT_OP_MOVE;
}

static bool makes(const struct callout_op *op)
{
	return has_clock(op) && !(op->flags & CALLOUT_OPF_ONLY_OLD);
}

static bool makes_handle(const struct callout_op *op)
{
	return makes(op) && !(op->flags & CALLOUT_OPF_KEY);
}

static bool writes_left(const struct callout_op *op)
{
	return has_time(op) && !makes_handle(op) &&
	       !(op->flags & CALLOUT_OPF_ONLY_NEW);
}

/* The handle is filled in later. */
static bool needs_handle(const struct callout_op *op)
{
	return !op->handle && (op->op == CALLOUT_OP_CANCEL ||
			       op->op == CALLOUT_OP_MOVE);
}

/* The operation @o, of the callout with @handle if it needs one. */
static struct callout_op op_of(const struct operation *o, __u64 handle)
{
	struct callout_op op = o->op;

	if (needs_handle(&op))
		op.handle = handle;
	return op;
}

/* Cancel the callout that @op has made. */
static int cancel(int fd, const struct callout_op *op)
{
	struct callout_op by_name = callout_op_cancel(op->handle);

	by_name.flags = op->flags & CALLOUT_OPF_KEY;
	return do_op(fd, &by_name);
}

/* Operation @o, with @change applied to a copy of it, op, must give @error. */
#define EXPECT_REFUSED(error, o, change) do {				\
	const struct operation *o_ = (o);				\
	struct callout_op op_ = op_of(o_, self->bystander), *op = &op_;	\
									\
	change;								\
	EXPECT_EQ(-(error), do_op(self->fd, op)) {			\
		TH_LOG("%s: %s", o_->name, #change);			\
	}								\
} while (0)

#define IOC_LAST	_IOC_NR(CALLOUT_IOC_INFO)

TEST_F(errors, enotty_unknown_number)
{
	struct callout_op op = operations[0].op;
	unsigned int nr, dir;

	for (nr = 0; nr < 256; nr++) {
		if (nr >= 1 && nr <= IOC_LAST)
			continue;
		op.op = nr;
		for (dir = 0; dir < 4; dir++)
			EXPECT_EQ(-ENOTTY,
				  dev_ioctl(self->fd,
					    _IOC(dir, CALLOUT_IOC_MAGIC, nr,
						 sizeof(op)), &op)) {
				TH_LOG("number %u", nr);
			}
	}
}

TEST_F(errors, enotty_unknown_type)
{
	static const unsigned int types[] = {
		0, 'c', CALLOUT_IOC_MAGIC - 1, CALLOUT_IOC_MAGIC + 1, 0xf9, 0xff,
	};
	unsigned int i, nr, dir;
	struct callout_op op;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (nr = 0; nr < 20; nr++)
			for (dir = 0; dir < 4; dir++) {
				op = operations[0].op;
				op.op = nr;
				EXPECT_EQ(-ENOTTY,
					  dev_ioctl(self->fd,
						    _IOC(dir, types[i], nr,
							 sizeof(op)), &op)) {
					TH_LOG("type %#x, number %u",
					       types[i], nr);
				}
			}
}

TEST_F(errors, enotty_wrong_direction)
{
	static const unsigned int cmds[] = {
		CALLOUT_IOC_OP, CALLOUT_IOC_BATCH,
		CALLOUT_IOC_CANCEL_MATCHING, CALLOUT_IOC_LIST,
		CALLOUT_IOC_LIMIT, CALLOUT_IOC_INFO,
	};
	union {
		struct callout_op op;
		struct callout_batch batch;
		struct callout_info info;
	} u;
	unsigned int i, dir;

	EXPECT_EQ(IOC_LAST, ARRAY_SIZE(cmds));
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		for (dir = 0; dir < 4; dir++) {
			if (dir == _IOC_DIR(cmds[i]))
				continue;
			memset(&u, 0, sizeof(u));
			u.op = operations[0].op;
			EXPECT_EQ(-ENOTTY,
				  dev_ioctl(self->fd,
					    _IOC(dir, CALLOUT_IOC_MAGIC,
						 _IOC_NR(cmds[i]),
						 _IOC_SIZE(cmds[i])), &u));
		}
	}
}

/* A file that cannot be read and written is not opened. */
TEST_F(errors, einval_open)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_ACCMODE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		EXPECT_EQ(-1, open(CALLOUT_DEVICE, modes[i]));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(-1, open(CALLOUT_DEVICE, modes[i] | O_NONBLOCK));
		EXPECT_EQ(EINVAL, errno);
	}
}

/* No operation takes a flag above the known flags. Operations without a time take only KEY. */
TEST_F(errors, einval_unknown_flag)
{
	const struct operation *o;
	__u32 known, flag;

	for (o = operations; o < OPERATIONS_END; o++) {
		known = o->op.op == CALLOUT_OP_SET ?
			2 * CALLOUT_OPF_EXACT - 1 :
			o->op.op == CALLOUT_OP_TIMEOUT ?
			CALLOUT_OPF_ABSTIME | CALLOUT_OPF_EXACT :
			o->op.op == CALLOUT_OP_MOVE ? CALLOUT_OPF_ABSTIME | CALLOUT_OPF_KEY :
			o->op.op == CALLOUT_OP_CANCEL ? CALLOUT_OPF_KEY : 0;
		for (flag = 1; flag; flag <<= 1)
			if (!(flag & known))
				EXPECT_REFUSED(EINVAL, o, op->flags |= flag);
	}
}

/* Members that the kernel only writes may have any value before the call. */
TEST_F(errors, output_members_are_ignored)
{
	struct callout_op op, ops[2];
	const struct operation *o;
	struct callout_batch b;
	__u64 handle = 0;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		/*
		 * Operations that need a handle get the first operation's handle, which is stale.
		 */
		op = op_of(o, handle);
		op.result = -1;
		if (writes_left(&op))
			op.left = ALL;
		if (makes_handle(&op))
			op.handle = ALL;
		/* UNTIMEOUT would cancel the bystander. */
		if (op.op == CALLOUT_OP_UNTIMEOUT)
			op.func = BYSTANDER_FUNC + 1;
		EXPECT_EQ(makes(&op) ? 0 : -ENOENT, do_op(self->fd, &op)) {
			TH_LOG("%s", o->name);
		}
		EXPECT_EQ(-1, op.result);
		if (!makes(&op))
			continue;
		if (makes_handle(&op)) {
			EXPECT_NE(ALL, op.handle);
			handle = op.handle;
		} else {
			EXPECT_EQ(0, op.left);
		}
		EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self->fd, &op));
	}

	/* Submit the arrays again, as the first call has left them. */
	ops[0] = operations[0].op;
	ops[1] = callout_op_cancel(0);
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
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	/* An operation that fails writes no handle. */
	ops[0].flags = 1U << 31;
	ASSERT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(-EINVAL, ops[0].result);
	EXPECT_EQ(handle, ops[0].handle);
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

TEST_F(errors, einval_opcode)
{
	const struct operation *o;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		EXPECT_REFUSED(EINVAL, o, op->op = 0);
		for (i = CALLOUT_OP_UNTIMEOUT + 1; i < 70; i++)
			EXPECT_REFUSED(EINVAL, o, op->op = i);
		EXPECT_REFUSED(EINVAL, o, op->op |= 0x100);
		EXPECT_REFUSED(EINVAL, o, op->op |= 1U << 31);
	}
}

/* One number is reserved as the func of callouts with keys. */
TEST_F(errors, einval_func)
{
	const struct operation *o;

	for (o = operations; o < OPERATIONS_END; o++)
		if (o->op.func)
			EXPECT_REFUSED(EINVAL, o, op->func = ALL);
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
		if (!has_clock(&o->op))
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
		if (!has_time(&o->op))
			continue;
		for (i = 0; i < ARRAY_SIZE(times); i++) {
			EXPECT_REFUSED(EINVAL, o, op->period = times[i]);
			EXPECT_REFUSED(EINVAL, o, op->slack = times[i]);
			EXPECT_REFUSED(EINVAL, o, op->time = times[i]);
			EXPECT_REFUSED(EINVAL, o,
				       op->flags |= CALLOUT_OPF_ABSTIME;
				       op->time = times[i]);
		}
	}
}

/*
 * Sizes are refused that are smaller than version 1's, larger than the maximum,
 * or not multiples of 8.
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
			u.op = op_of(o, self->bystander);
			ASSERT_EQ(-EINVAL,
				  dev_ioctl(self->fd,
					    resized(CALLOUT_IOC_OP, size), &u)) {
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
			  dev_ioctl(self->fd, resized(CALLOUT_IOC_INFO, size),
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
		u.op = op_of(o, self->bystander);
		for (size = CALLOUT_OP_SIZE_V1 + 8; size <= CALLOUT_SIZE_MAX;
		     size += 8) {
			/* The first byte, the last, or one between them. */
			nonzero = size % 3 ? size - 1 : CALLOUT_OP_SIZE_V1;
			if (size % 5 == 0)
				nonzero = (CALLOUT_OP_SIZE_V1 + size) / 2;
			u.space[nonzero] = 1;
			ASSERT_EQ(-E2BIG,
				  dev_ioctl(self->fd,
					    resized(CALLOUT_IOC_OP, size), &u)) {
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
	unsigned int i, j, cmd;
	__u64 handle;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		cmd = resized(CALLOUT_IOC_OP, sizes[i]);
		memset(&u, 0, sizeof(u));
		u.op = callout_op_set(HOUR, 1);
		ASSERT_EQ(0, dev_ioctl(self->fd, cmd, &u));
		handle = u.op.handle;
		EXPECT_NE(0, handle);
		u.op = callout_op_move(handle, 2 * HOUR);
		ASSERT_EQ(CALLOUT_STATE_PENDING, dev_ioctl(self->fd, cmd, &u));
		EXPECT_LT(0, u.op.left);
		EXPECT_GE(HOUR, u.op.left);
		u.op = callout_op_cancel(handle);
		ASSERT_EQ(CALLOUT_STATE_PENDING, dev_ioctl(self->fd, cmd, &u));
	}
	EXPECT_EQ(ARRAY_SIZE(sizes), counts_of(self->fd).cancelled);
	freeze(self);

	memset(&u, 0xff, sizeof(u));
	ASSERT_EQ(0, dev_ioctl(self->fd, resized(CALLOUT_IOC_INFO, 4096), &u));
	EXPECT_LT(0, u.info.tick_ns);
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
	struct callout_op op;
	unsigned int i;

	for (o = operations; o < OPERATIONS_END; o++) {
		op = op_of(o, self->bystander);
		memcpy(self->edge - sizeof(op) + 1, &op, sizeof(op) - 1);
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			EXPECT_EQ(-EFAULT, do_op(self->fd, bad[i]));
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, CALLOUT_IOC_INFO, bad[i]));
}

/* The unknown part of a larger structure must be accessible too. */
TEST_F(errors, efault_tail)
{
	struct callout_op *op = (void *)(self->edge - sizeof(*op));
	const struct operation *o;

	for (o = operations; o < OPERATIONS_END; o++) {
		*op = op_of(o, self->bystander);
		EXPECT_EQ(-EFAULT,
			  dev_ioctl(self->fd,
				    resized(CALLOUT_IOC_OP, sizeof(*op) + 8),
				    op));
	}
	EXPECT_EQ(-EFAULT,
		  dev_ioctl(self->fd,
			    resized(CALLOUT_IOC_INFO, CALLOUT_INFO_SIZE_V1 + 8),
			    self->edge - CALLOUT_INFO_SIZE_V1));
}

/* A callout whose handle, or time left, cannot be written is not set. */
TEST_F(errors, efault_read_only)
{
	struct callout_op *op = (void *)(self->edge - self->page);
	const struct operation *o;

	for (o = operations; o < OPERATIONS_END; o++) {
		if (!makes_handle(&o->op) && !writes_left(&o->op))
			continue;
		*op = op_of(o, self->bystander);
		op->time = 0;
		ASSERT_EQ(0, mprotect(op, self->page, PROT_READ));
		EXPECT_EQ(-EFAULT, do_op(self->fd, op)) {
			TH_LOG("%s", o->name);
		}
		ASSERT_EQ(0, mprotect(op, self->page, PROT_READ | PROT_WRITE));
	}
}

/* Nothing is written to an operation that cancels. */
TEST_F(errors, read_only_cancel)
{
	struct callout_op *op = (void *)(self->edge - self->page);
	struct callout_op made[] = {
		callout_op_set(HOUR, 1),
		callout_op_key(callout_op_set(HOUR, 1), NOBODY),
		callout_op_timeout(2, 3, HOUR),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(made); i++) {
		ASSERT_EQ(0, do_op(self->fd, &made[i]));
		*op = i == 2 ? callout_op_untimeout(2, 3, 0) :
			       callout_op_cancel(made[i].handle);
		op->flags = made[i].flags;
		ASSERT_EQ(0, mprotect(op, self->page, PROT_READ));
		EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, op));
		ASSERT_EQ(0, mprotect(op, self->page, PROT_READ | PROT_WRITE));
	}
	freeze(self);
}

TEST_HARNESS_MAIN
