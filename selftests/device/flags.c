// SPDX-License-Identifier: GPL-2.0
/*
 * flags.c - the flags of SET, and the members that each requires
 */
#include "lib/bystander.h"

/* A handle and a key of no callout. */
#define NOBODY	0x123456789abcdefULL

/* The flags with which SET names its callout, and their valid combinations. */
static const __u32 namings[] = {
	0, CALLOUT_OPF_KEY, CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_NEW,
	CALLOUT_OPF_ONLY_OLD, CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_OLD,
};

static bool is_naming(__u32 flags)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(namings); i++)
		if (flags == namings[i])
			return true;
	return false;
}

/* Cancel the callout that @op has made. */
static int cancel(int fd, const struct callout_op *op)
{
	struct callout_op by_name = callout_op_cancel(op->handle);

	by_name.flags = op->flags & CALLOUT_OPF_KEY;
	return do_op(fd, &by_name);
}

/* A copy of @from, op, with @change applied, must give EINVAL. */
#define EXPECT_REFUSED(from, change) do {				\
	struct callout_op op_ = (from), *op = &op_;			\
									\
	change;								\
	EXPECT_EQ(-EINVAL, do_op(self->fd, op)) {			\
		TH_LOG("flags %#x: %s", op->flags, #change);		\
	}								\
} while (0)

/* SET of a callout that is not outstanding, with each set of naming flags. */
TEST_F(errors, einval_naming_flags)
{
	struct callout_op op;
	int expected;
	__u32 flags;

	for (flags = 0; flags < CALLOUT_OPF_CANCEL_ON_SET; flags++) {
		op = (struct callout_op){
			.op = CALLOUT_OP_SET,
			.flags = flags,
			.clockid = CLOCK_MONOTONIC,
			.time = TIME_MAX,
			.key = NOBODY,
		};
		expected = !is_naming(flags & ~CALLOUT_OPF_ABSTIME) ? -EINVAL :
			   flags & CALLOUT_OPF_ONLY_OLD ? -ENOENT : 0;
		EXPECT_EQ(expected, do_op(self->fd, &op)) {
			TH_LOG("flags %#x", flags);
		}
		if (!expected)
			EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self->fd, &op));
	}
	freeze(self);
}

/*
 * MOVE takes no values for the members that it keeps, and no flags that decide
 * whether a callout is made.
 */
TEST_F(errors, einval_move)
{
	struct callout_op move = callout_op_move(self->bystander, HOUR);
	struct callout_op by_key = callout_op_key(callout_op_move(0, HOUR), NOBODY);
	struct callout_op *from = &move;
	unsigned int i;

	for (i = 0; i < 2; i++, from = &by_key) {
		EXPECT_REFUSED(*from, op->clockid = CLOCK_MONOTONIC);
		EXPECT_REFUSED(*from, op->clockid = CLOCK_BOOTTIME_ALARM);
		EXPECT_REFUSED(*from, op->clockid = -1);
		EXPECT_REFUSED(*from, op->period = 1);
		EXPECT_REFUSED(*from, op->slack = 1);
		EXPECT_REFUSED(*from, op->cookie = 1);
		EXPECT_REFUSED(*from, op->cookie = BYSTANDER);
		EXPECT_REFUSED(*from, op->flags |= CALLOUT_OPF_CANCEL_ON_SET);
		EXPECT_REFUSED(*from, op->flags |= CALLOUT_OPF_CANCEL_ON_SET |
						   CALLOUT_OPF_ABSTIME);
		EXPECT_REFUSED(*from, op->flags |= CALLOUT_OPF_ONLY_OLD);
		EXPECT_REFUSED(*from, op->flags |= CALLOUT_OPF_ONLY_NEW);
		EXPECT_REFUSED(*from, op->flags |= CALLOUT_OPF_EXACT);
	}
}

/* EXACT needs a slack of 0, and goes with all names, and TIMEOUT. LIST has it. */
TEST_F(errors, einval_exact)
{
	static const __u64 slacks[] = { 1, MSEC, TIME_MAX };
	struct callout_entry entry;
	struct callout_op set, op;
	unsigned int i, j;

	for (i = 0; i <= ARRAY_SIZE(namings); i++) {
		set = callout_op_timeout(1, 2, TIME_MAX);
		if (i < ARRAY_SIZE(namings)) {
			set = callout_op_set(TIME_MAX, 2);
			set.flags = namings[i];
			set.key = NOBODY;
		}
		set.flags |= CALLOUT_OPF_EXACT | CALLOUT_OPF_ABSTIME;
		for (j = 0; j < ARRAY_SIZE(slacks); j++)
			EXPECT_REFUSED(set, op->slack = slacks[j]);
		op = set;
		if (set.flags & CALLOUT_OPF_ONLY_OLD) {
			EXPECT_EQ(-ENOENT, do_op(self->fd, &op));
			continue;
		}
		ASSERT_EQ(0, do_op(self->fd, &op));
		ASSERT_EQ(0, list_one(self->fd, set.flags & CALLOUT_OPF_KEY ?
				      CALLOUT_LISTF_KEY : CALLOUT_LISTF_HANDLE,
				      op.handle, &entry));
		EXPECT_EQ(set.flags & ~CALLOUT_OPF_ONLY_NEW, entry.op_flags);
		EXPECT_EQ(0, entry.slack);
		EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self->fd, &op));
	}
	freeze(self);
}

/* CANCEL_ON_SET needs an absolute time of CLOCK_REALTIME, and no period. */
TEST_F(errors, einval_cancel_on_set)
{
	static const int clocks[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_BOOTTIME_ALARM,
	};
	struct callout_op set, op;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(namings); i++) {
		set = (struct callout_op){
			.op = CALLOUT_OP_SET,
			.flags = namings[i] | CALLOUT_OPF_CANCEL_ON_SET |
				 CALLOUT_OPF_ABSTIME,
			.clockid = CLOCK_REALTIME,
			.time = TIME_MAX,
			.key = NOBODY,
		};
		EXPECT_REFUSED(set, op->flags &= ~CALLOUT_OPF_ABSTIME);
		EXPECT_REFUSED(set, op->period = 1);
		EXPECT_REFUSED(set, op->period = HOUR);
		for (j = 0; j < ARRAY_SIZE(clocks); j++)
			EXPECT_REFUSED(set, op->clockid = clocks[j]);
		op = set;
		if (namings[i] & CALLOUT_OPF_ONLY_OLD) {
			EXPECT_EQ(-ENOENT, do_op(self->fd, &op));
		} else {
			EXPECT_EQ(0, do_op(self->fd, &op));
			EXPECT_EQ(CALLOUT_STATE_PENDING, cancel(self->fd, &op));
		}
	}
	freeze(self);
}

/* The cookie of a callout of TIMEOUT is a part of its name: SET does not change it. */
TEST_F(errors, ebusy_timeout_is_replaced)
{
	struct callout_op set = callout_op_set(HOUR, BYSTANDER), op;

	set.flags = CALLOUT_OPF_ONLY_OLD;
	set.handle = self->bystander;
	op = set;
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	op.cookie++;
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	op.period = HOUR;
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
	op = set;
	op.clockid = CLOCK_REALTIME;
	op.flags |= CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET;
	EXPECT_EQ(-EBUSY, do_op(self->fd, &op));
}

TEST_HARNESS_MAIN
