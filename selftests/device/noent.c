// SPDX-License-Identifier: GPL-2.0
/*
 * noent.c - callouts that are not outstanding cannot be cancelled
 */
#include "lib/bystander.h"

/* SET of an existing callout, with every attribute. */
static int replace(int fd, __u64 handle)
{
	struct callout_op op = callout_op_set(HOUR, 1);

	op.flags = CALLOUT_OPF_ONLY_OLD;
	op.handle = handle;
	return do_op(fd, &op);
}

static int tell(int fd, __u64 handle)
{
	struct callout_entry entry;

	return list_one(fd, CALLOUT_LISTF_HANDLE, handle, &entry);
}

/* A handle names nothing: nothing is cancelled, moved, replaced or listed. */
#define EXPECT_GONE(fd, handle) do {					\
	__u64 handle_ = (handle);					\
	int fd_ = (fd);							\
									\
	EXPECT_EQ(-ENOENT, dev_cancel(fd_, handle_)) {			\
		TH_LOG("handle %#llx", handle_);			\
	}								\
	EXPECT_EQ(-ENOENT, move(fd_, handle_, HOUR)) {			\
		TH_LOG("handle %#llx", handle_);			\
	}								\
	EXPECT_EQ(-ENOENT, replace(fd_, handle_)) {			\
		TH_LOG("handle %#llx", handle_);			\
	}								\
	EXPECT_EQ(-ENOENT, tell(fd_, handle_)) {			\
		TH_LOG("handle %#llx", handle_);			\
	}								\
} while (0)

TEST_F(errors, invented)
{
	static const __u64 handles[] = { 0, 1, 1ULL << 24, 1ULL << 63,
					 0x123456789abcdefULL, ~0ULL };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		EXPECT_GONE(self->fd, handles[i]);
		EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 1, 2,
						 handles[i]));
	}
	for (i = 0; i < 64; i++)
		EXPECT_GONE(self->fd, self->bystander ^ 1ULL << i);
}

TEST_F(errors, foreign)
{
	int other = dev_open(O_NONBLOCK);

	ASSERT_LE(0, other);
	EXPECT_GONE(other, self->bystander);
	EXPECT_EQ(-ENOENT, dev_untimeout(other, 1, BYSTANDER, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(other, 1, BYSTANDER,
					 self->bystander));
	EXPECT_EQ(0, close(other));
}

/* The tables of both files are alike. Only the generations of handles differ. */
TEST_F(errors, foreign_in_same_place)
{
	int other = dev_open(O_NONBLOCK);
	__u64 handle;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, dev_set(other, 0, HOUR, 1, &handle));
	ASSERT_NE(handle, self->bystander);
	EXPECT_GONE(self->fd, handle);
	EXPECT_GONE(other, self->bystander);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(other, handle));
	EXPECT_EQ(0, close(other));
}

TEST_F(errors, cancelled)
{
	__u64 handle;

	ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, 3, 3, &handle));
	ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	freeze(self);
	EXPECT_GONE(self->fd, handle);
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 3, 3, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 3, 3, handle));
}

TEST_F(errors, delivered)
{
	struct callout_event e;
	__u64 handle;

	ASSERT_EQ(0, dev_timeout(self->fd, 0, 0, 3, 3, &handle));
	freeze(self);
	ASSERT_TRUE(receive_one(self, &e));
	ASSERT_EQ(handle, e.handle);
	EXPECT_GONE(self->fd, handle);
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 3, 3, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 3, 3, handle));
}

TEST_F(errors, withdrawn)
{
	__u64 handle;

	ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
	ASSERT_EQ(0, dev_timeout(self->fd, 0, 0, 3, 3, &handle));
	ASSERT_TRUE(wait_unread(self->fd, 2));
	ASSERT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handle));
	freeze(self);
	EXPECT_GONE(self->fd, handle);
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 3, 3, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 3, 3, handle));
}

/* A stale handle does not name the callout that reuses the slot (ABA). */
TEST_F(errors, stale)
{
	enum { N = 500 };
	static __u64 handles[N];
	unsigned int i;
	__u64 last;

	ASSERT_TRUE(pin_to_cpu(0));
	for (i = 0; i < N; i++) {
		ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, i,
				     &handles[i]));
		ASSERT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, handles[i]));
	}
	ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, i, &last));
	for (i = 0; i < N; i++)
		EXPECT_GONE(self->fd, handles[i]);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, last));
	freeze(self);
}

/* Keys are no handles, and keys of one file name nothing in another file. */
TEST_F(errors, keys)
{
	struct callout_op set = callout_op_key(callout_op_set(HOUR, 5), 0x5e7);
	struct callout_op cancel = callout_op_key(callout_op_cancel(0), 0x5e7);
	struct callout_op absent[] = {
		callout_op_key(callout_op_cancel(0), 0x5e8),
		callout_op_key(callout_op_move(0, HOUR), 0x5e8),
		callout_op_key(callout_op_set(HOUR, 5), 0x5e8),
		callout_op_key(callout_op_cancel(0), self->bystander),
		callout_op_key(callout_op_move(0, HOUR), self->bystander),
		callout_op_key(callout_op_cancel(0), BYSTANDER),
		callout_op_key(callout_op_cancel(0), 0),
	};
	int other = dev_open(O_NONBLOCK);
	struct callout_entry entry;
	unsigned int i;

	ASSERT_LE(0, other);
	absent[2].flags |= CALLOUT_OPF_ONLY_OLD;
	ASSERT_EQ(0, do_op(self->fd, &set));
	EXPECT_GONE(self->fd, 0x5e7);
	for (i = 0; i < ARRAY_SIZE(absent); i++) {
		EXPECT_EQ(-ENOENT, do_op(self->fd, &absent[i])) {
			TH_LOG("operation %u", i);
		}
		EXPECT_EQ(-ENOENT, list_one(self->fd, CALLOUT_LISTF_KEY,
					    absent[i].key, &entry));
	}
	EXPECT_EQ(-ENOENT, do_op(other, &cancel));
	EXPECT_EQ(-ENOENT, list_one(other, CALLOUT_LISTF_KEY, 0x5e7, &entry));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 0, 0x5e7, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 0, 5, 0));
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &cancel));
	EXPECT_EQ(-ENOENT, do_op(self->fd, &cancel));
	freeze(self);
	EXPECT_EQ(0, close(other));
}

TEST_F(errors, untimeout)
{
	__u64 by_handle;
	int fresh;

	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 1, 0, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 2, BYSTANDER, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, BYSTANDER, 1, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 2, BYSTANDER,
					 self->bystander));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 1, BYSTANDER + 1,
					 self->bystander));

	/* A callout that was set by SET has no (func, arg). */
	ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, 5, &by_handle));
	freeze(self);
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 0, 5, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 0, 5, by_handle));

	/* A file that has never seen TIMEOUT. */
	fresh = dev_open(0);
	ASSERT_LE(0, fresh);
	EXPECT_EQ(-ENOENT, dev_untimeout(fresh, 1, 2, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(fresh, 1, 2, 3));
	EXPECT_EQ(0, close(fresh));
}

TEST_HARNESS_MAIN
