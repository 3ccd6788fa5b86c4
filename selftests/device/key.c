// SPDX-License-Identifier: GPL-2.0
/*
 * key.c - callouts that are named by a number that the program chooses
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/fixture.h"

static int set_key(int fd, __u64 key, __u64 time)
{
	struct callout_op op = callout_op_key(callout_op_set(time, 0), key);
	int ret = do_op(fd, &op);

	/* The key stays where it was. */
	return op.key == key ? ret : -EPROTO;
}

/* As set_key(), with more flags, and a cookie. */
static int set_flags(int fd, __u64 key, __u32 flags, __u64 time, __u64 cookie)
{
	struct callout_op op = callout_op_key(callout_op_set(time, cookie), key);

	op.flags |= flags;
	return do_op(fd, &op);
}

static int cancel_key(int fd, __u64 key)
{
	struct callout_op op = callout_op_key(callout_op_cancel(0), key);

	return do_op(fd, &op);
}

static int list_key(int fd, __u64 key, struct callout_entry *entry)
{
	return list_one(fd, CALLOUT_LISTF_KEY, key, entry);
}

/* SET inserts a callout or moves the callout that has the key. */
TEST_F(file, insert_or_move)
{
	static const __u64 keys[] = { 0, 1, 42, 1ULL << 63, ~0ULL };
	unsigned int n = ARRAY_SIZE(keys), i;
	struct callout_event e;

	for (i = 0; i < n; i++)
		EXPECT_EQ(0, set_key(self->fd, keys[i], HOUR));
	for (i = 0; i < n; i++)
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  set_key(self->fd, keys[i], 2 * HOUR));
	EXPECT_EQ(n, info_of(self->fd).outstanding);
	EXPECT_EQ(n, counts_of(self->fd).set);
	EXPECT_EQ(n, counts_of(self->fd).reset);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(CALLOUT_STATE_PENDING, set_key(self->fd, keys[i], 0));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
		EXPECT_EQ(CALLOUT_EVENTF_KEY, e.flags);
		EXPECT_EQ(keys[i], e.key);
		EXPECT_EQ(0, e.cookie);
		EXPECT_EQ(0, e.func);
		EXPECT_EQ(-ENOENT, cancel_key(self->fd, keys[i]));
		/* After its event was read, the key names another callout. */
		EXPECT_EQ(0, set_key(self->fd, keys[i], HOUR));
		EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, keys[i]));
		EXPECT_EQ(-ENOENT, cancel_key(self->fd, keys[i]));
	}
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* An unread event is withdrawn by each operation. */
TEST_F(file, unread)
{
	struct callout_op op = callout_op_key(callout_op_move(0, HOUR), 7);

	EXPECT_EQ(0, set_key(self->fd, 7, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, set_key(self->fd, 7, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	op.left = ~0ULL;
	EXPECT_EQ(CALLOUT_STATE_UNREAD, do_op(self->fd, &op));
	EXPECT_EQ(0, op.left);
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	EXPECT_GE(HOUR, op.left);
	EXPECT_LT(0, op.left);
	EXPECT_EQ(CALLOUT_STATE_PENDING, set_key(self->fd, 7, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, cancel_key(self->fd, 7));
	EXPECT_EQ(-ENOENT, do_op(self->fd, &op));
	EXPECT_EQ(1, counts_of(self->fd).set);
}

/* SET returns how much time was left, or 0 if it has inserted. */
TEST_F(file, left)
{
	struct callout_op op = callout_op_key(callout_op_set(HOUR, 0), 7);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		op.left = ~0ULL;
		ASSERT_EQ(0, do_op(self->fd, &op));
		EXPECT_EQ(0, op.left);
		op.left = ~0ULL;
		ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
		EXPECT_GE(HOUR, op.left);
		EXPECT_LT(HOUR / 2, op.left);
		EXPECT_EQ(7, op.key);
		EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, 7));

		op.left = ~0ULL;
		ASSERT_EQ(1, do_ops(self->fd, &op, 1));
		EXPECT_EQ(0, op.left);
		ASSERT_EQ(1, do_ops(self->fd, &op, 1));
		EXPECT_GE(HOUR, op.left);
		EXPECT_LT(HOUR / 2, op.left);
		EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, 7));
	}
}

/*
 * A SET by key whose results cannot be written is not undone: another thread may
 * have moved the callout. If they cannot be written before either, it is not
 * done at all, except in a batch.
 */
TEST_F(file, cannot_write)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct callout_op *op;
	struct callout_batch b;

	op = mmap(NULL, size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, op);
	op[0] = callout_op_key(callout_op_set(HOUR, 0), 7);
	op[1] = callout_op_set(HOUR, 0);
	ASSERT_EQ(0, mprotect(op, size, PROT_READ));
	EXPECT_EQ(-EFAULT, do_op(self->fd, op));
	EXPECT_EQ(0, counts_of(self->fd).set);
	b = batch_of(op, 2);
	EXPECT_EQ(-EFAULT, do_batch(self->fd, &b));
	EXPECT_EQ(2, b.done);
	EXPECT_EQ(2, b.failed);
	EXPECT_EQ(2, counts_of(self->fd).set);
	EXPECT_EQ(1, info_of(self->fd).outstanding);
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, 7));
	munmap(op, size);
}

/* A page of LIST has the key, and LIST of the key finds the callout. */
TEST_F(file, list)
{
	const __u64 key = 1ULL << 63 | 9;
	struct callout_entry entry, entries[4];
	struct callout_op op;
	__u64 cursor = 0;

	EXPECT_EQ(-ENOENT, list_key(self->fd, key, &entry));
	op = callout_op_key(callout_op_set(HOUR, 0), key);
	op.clockid = CLOCK_BOOTTIME;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, list_key(self->fd, key, &entry));
	EXPECT_EQ(key, entry.key);
	EXPECT_EQ(CALLOUT_OP_SET, entry.op);
	EXPECT_EQ(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME, entry.op_flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(CLOCK_BOOTTIME, entry.clockid);
	EXPECT_EQ(0, entry.cookie);
	EXPECT_EQ(0, entry.func);
	EXPECT_EQ(-ENOENT, list_key(self->fd, key - 1, &entry));
	EXPECT_EQ(-ENOENT, list_one(self->fd, CALLOUT_LISTF_HANDLE, key, &entry));
	ASSERT_EQ(1, list_page(self->fd, &cursor, entries, 4));
	EXPECT_EQ(key, entries[0].key);
	EXPECT_EQ(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME, entries[0].op_flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, key));
	EXPECT_EQ(-ENOENT, list_key(self->fd, key, &entry));
}

/* SET of an outstanding key gives it another clock, period, slack and cookie. */
TEST_F(file, every_member)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
		CLOCK_BOOTTIME_ALARM, CLOCK_REALTIME_ALARM,
	};
	const __u32 has = info_of(self->fd).clocks;
	struct callout_entry entry;
	struct callout_event e;
	struct callout_op op;
	unsigned int i, absolute;
	__u64 left = 0;
	int ret;

	for (i = 0; i < 4 * ARRAY_SIZE(clocks); i++) {
		op = callout_op_key(callout_op_set(HOUR + i, 100 + i), 9);
		op.clockid = clocks[i / 2 % ARRAY_SIZE(clocks)];
		if (!(has & 1U << op.clockid))
			continue;
		absolute = i % 2 ? CALLOUT_OPF_ABSTIME : 0;
		if (absolute)
			op.time += now_of(op.clockid);
		op.flags |= absolute;
		op.period = i % 3 ? (i + 2) * HOUR : 0;
		op.slack = i % 5 * MSEC;
		op.flags |= op.slack ? 0 : CALLOUT_OPF_EXACT;
		ret = do_op(self->fd, &op);
		ASSERT_EQ(left ? CALLOUT_STATE_PENDING : 0, ret);
		EXPECT_GE(left, op.left);
		EXPECT_LE(left / 2, op.left);
		ASSERT_EQ(0, list_key(self->fd, 9, &entry));
		EXPECT_EQ(9, entry.key);
		EXPECT_EQ(op.clockid, entry.clockid);
		EXPECT_EQ(op.period, entry.period);
		EXPECT_EQ(op.slack, entry.slack);
		EXPECT_EQ(op.cookie, entry.cookie);
		if (absolute)
			EXPECT_EQ(op.time, entry.due);
		EXPECT_LT(HOUR / 2, entry.left);
		EXPECT_EQ(1, info_of(self->fd).outstanding);

		/* MOVE keeps all of these. */
		op = callout_op_key(callout_op_move(0, 0), 9);
		ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
		EXPECT_LT(HOUR / 2, op.left);
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(9, e.key);
		EXPECT_EQ(entry.clockid, e.clockid);
		EXPECT_EQ(entry.cookie, e.cookie);
		EXPECT_EQ(0, e.func);
		EXPECT_EQ(CALLOUT_EVENTF_KEY |
			  (entry.period ? CALLOUT_EVENTF_PERIODIC : 0), e.flags);
		left = entry.period;
	}
	EXPECT_EQ(left ? CALLOUT_STATE_PENDING : -ENOENT, cancel_key(self->fd, 9));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* A periodic callout keeps its key until it is cancelled. */
TEST_F(file, periodic)
{
	struct callout_op op = callout_op_key(callout_op_set(0, 5), 9);
	struct callout_entry entry;
	struct callout_event e;
	int i;

	op.period = HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(wait_unread(self->fd, 1));
		ASSERT_EQ(0, list_key(self->fd, 9, &entry));
		EXPECT_EQ(CALLOUT_STATE_UNREAD, entry.state);
		/* This holds also after a read that could not copy its event. */
		EXPECT_EQ(-EFAULT, dev_read(self->fd, nowhere(), 1));
		EXPECT_EQ(-EEXIST, set_flags(self->fd, 9, CALLOUT_OPF_ONLY_NEW,
					     HOUR, 6));
		ASSERT_EQ(1, dev_read(self->fd, &e, 1));
		EXPECT_EQ(CALLOUT_EVENTF_KEY | CALLOUT_EVENTF_PERIODIC, e.flags);
		EXPECT_EQ(9, e.key);
		EXPECT_EQ(5, e.cookie);
		EXPECT_EQ(0, e.func);
		ASSERT_EQ(0, list_key(self->fd, 9, &entry));
		EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
		EXPECT_EQ(HOUR, entry.period);
		EXPECT_LT(e.due, entry.due);
		EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	}
	/* After a withdrawal the key is free, and also if the callout was pending. */
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, cancel_key(self->fd, 9));
	op.flags |= CALLOUT_OPF_ONLY_NEW;
	op.time = HOUR;
	op.left = 0;
	ASSERT_EQ(0, do_op(self->fd, &op));
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, 9));
	EXPECT_EQ(-ENOENT, cancel_key(self->fd, 9));
	/* A SET that takes the period makes the next event the last. */
	op.time = HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	EXPECT_EQ(CALLOUT_STATE_PENDING, set_key(self->fd, 9, 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENTF_KEY, e.flags);
	EXPECT_EQ(-ENOENT, cancel_key(self->fd, 9));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(3, counts_of(self->fd).repeated);
	EXPECT_EQ(1, counts_of(self->fd).delivered);
}

/* ONLY_NEW leaves a callout that has the key alone, in each state. */
TEST_F(file, only_new)
{
	struct callout_entry before, after;
	struct callout_event e;

	EXPECT_EQ(0, set_flags(self->fd, 4, CALLOUT_OPF_ONLY_NEW, HOUR, 1));
	ASSERT_EQ(0, list_key(self->fd, 4, &before));
	EXPECT_EQ(-EEXIST, set_flags(self->fd, 4, CALLOUT_OPF_ONLY_NEW, 0, 2));
	ASSERT_EQ(0, list_key(self->fd, 4, &after));
	EXPECT_EQ(before.due, after.due);
	EXPECT_EQ(1, after.cookie);
	EXPECT_EQ(0, counts_of(self->fd).reset);
	/* The error for an outstanding key takes precedence over the limit's. */
	ASSERT_EQ(0, set_limit(self->fd, 1));
	EXPECT_EQ(-EEXIST, set_flags(self->fd, 4, CALLOUT_OPF_ONLY_NEW, 0, 2));
	EXPECT_EQ(-ENOSPC, set_flags(self->fd, 5, CALLOUT_OPF_ONLY_NEW, 0, 2));
	EXPECT_EQ(-ENOSPC, set_flags(self->fd, 5, 0, 0, 2));
	/* Setting it again takes no room. */
	EXPECT_EQ(CALLOUT_STATE_PENDING, set_flags(self->fd, 4, 0, 0, 3));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(-EEXIST, set_flags(self->fd, 4, CALLOUT_OPF_ONLY_NEW, HOUR, 4));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(3, e.cookie);
	EXPECT_EQ(0, set_flags(self->fd, 4, CALLOUT_OPF_ONLY_NEW, HOUR, 5));
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, 4));
}

/* ONLY_OLD makes no callout, and sets the callout that has the key again. */
TEST_F(file, only_old)
{
	struct callout_op op = callout_op_key(callout_op_move(0, HOUR), 4);
	struct callout_event e;

	EXPECT_EQ(-ENOENT, set_flags(self->fd, 4, CALLOUT_OPF_ONLY_OLD, 0, 1));
	EXPECT_EQ(-ENOENT, do_op(self->fd, &op));
	EXPECT_EQ(0, counts_of(self->fd).set);
	EXPECT_EQ(0, set_flags(self->fd, 4, 0, HOUR, 1));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  set_flags(self->fd, 4, CALLOUT_OPF_ONLY_OLD, 0, 2));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD,
		  set_flags(self->fd, 4, CALLOUT_OPF_ONLY_OLD, 0, 3));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(4, e.key);
	EXPECT_EQ(3, e.cookie);
	EXPECT_EQ(-ENOENT, set_flags(self->fd, 4, CALLOUT_OPF_ONLY_OLD, 0, 4));
	EXPECT_EQ(-ENOENT, do_op(self->fd, &op));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Keys, handles and callouts of TIMEOUT are separate name spaces. */
TEST_F(file, apart_from_others)
{
	__u64 handle = set(self->fd, HOUR, 5), timeout;

	ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, 6, 5, &timeout));
	EXPECT_EQ(-ENOENT, cancel_key(self->fd, handle));
	EXPECT_EQ(-ENOENT, cancel_key(self->fd, timeout));
	EXPECT_EQ(-ENOENT, cancel_key(self->fd, 5));
	EXPECT_EQ(0, set_key(self->fd, handle, HOUR));
	EXPECT_EQ(0, set_key(self->fd, 5, HOUR));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 0, 5, 0));
	EXPECT_EQ(-EINVAL, dev_untimeout(self->fd, ~0ULL, 5, 0));
	EXPECT_EQ(-EINVAL, dev_timeout(self->fd, 0, HOUR, ~0ULL, 5,
				       &timeout));
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_untimeout(self->fd, 6, 5, 0));
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, 5));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_F(file, refused)
{
	struct callout_op sets = callout_op_key(callout_op_set(0, 0), 1);
	struct callout_op cancels = callout_op_key(callout_op_cancel(0), 1);
	struct callout_op moves = callout_op_key(callout_op_move(0, 0), 1);
	struct callout_op op;

#define EXPECT_REFUSED(from, change) do {				\
	op = from;							\
	change;								\
	EXPECT_EQ(-EINVAL, do_op(self->fd, &op)) {			\
		TH_LOG("%s: %s", #from, #change);			\
	}								\
} while (0)

	ASSERT_EQ(0, set_key(self->fd, 1, HOUR));
	EXPECT_REFUSED(sets, op.time = TIME_MAX + 1);
	EXPECT_REFUSED(sets, op.period = TIME_MAX + 1);
	EXPECT_REFUSED(sets, op.slack = TIME_MAX + 1);
	EXPECT_REFUSED(sets, op.clockid = CLOCK_TAI);
	EXPECT_REFUSED(sets, op.flags |= CALLOUT_OPF_ONLY_NEW | CALLOUT_OPF_ONLY_OLD);
	EXPECT_REFUSED(sets, op.flags |= 1U << 6);
	EXPECT_REFUSED(sets, op.flags |= 1U << 31);
	EXPECT_REFUSED(cancels, op.clockid = CLOCK_MONOTONIC);
	EXPECT_REFUSED(cancels, op.time = 1);
	EXPECT_REFUSED(cancels, op.period = 1);
	EXPECT_REFUSED(cancels, op.slack = 1);
	EXPECT_REFUSED(cancels, op.cookie = 1);
	EXPECT_REFUSED(cancels, op.func = 1);
	EXPECT_REFUSED(cancels, op.flags |= CALLOUT_OPF_ABSTIME);
	EXPECT_REFUSED(cancels, op.flags |= CALLOUT_OPF_ONLY_NEW);
	EXPECT_REFUSED(cancels, op.flags |= CALLOUT_OPF_ONLY_OLD);
	EXPECT_REFUSED(cancels, op.flags |= CALLOUT_OPF_CANCEL_ON_SET);
	EXPECT_REFUSED(cancels, op.flags |= 1U << 31);
	EXPECT_REFUSED(moves, op.clockid = CLOCK_MONOTONIC);
	EXPECT_REFUSED(moves, op.time = TIME_MAX + 1);
	EXPECT_REFUSED(moves, op.period = 1);
	EXPECT_REFUSED(moves, op.slack = 1);
	EXPECT_REFUSED(moves, op.cookie = 1);
	EXPECT_REFUSED(moves, op.flags |= CALLOUT_OPF_ONLY_NEW);
	EXPECT_REFUSED(moves, op.flags |= CALLOUT_OPF_ONLY_OLD);
	EXPECT_REFUSED(moves, op.flags |= CALLOUT_OPF_CANCEL_ON_SET);
	EXPECT_REFUSED(moves, op.flags |= 1U << 31);
	EXPECT_REFUSED(sets, op.op = CALLOUT_OP_TIMEOUT);
	EXPECT_REFUSED(cancels, op.op = CALLOUT_OP_UNTIMEOUT);
#undef EXPECT_REFUSED
	EXPECT_FALSE(readable_within(self->fd, 20));
	EXPECT_EQ(1, info_of(self->fd).outstanding);
	EXPECT_EQ(0, counts_of(self->fd).reset);
}

/* A batch may have many keys. A key stays in its operation. */
TEST_F(file, batch)
{
	enum { N = 1000 };
	static struct callout_op ops[N];
	unsigned int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < N; i++)
			ops[i] = callout_op_key(callout_op_set(HOUR, 0),
						i % (N / 2));
		ASSERT_EQ(N, do_ops(self->fd, ops, N));
		for (i = 0; i < N; i++) {
			EXPECT_EQ(i % (N / 2), ops[i].key);
			EXPECT_EQ(!round && i < N / 2 ? 0 : CALLOUT_STATE_PENDING,
				  ops[i].result);
		}
		EXPECT_EQ(N / 2, info_of(self->fd).outstanding);
	}
	ops[0] = callout_op_key(callout_op_set(~0ULL, 0), 77);
	ASSERT_EQ(0, do_ops(self->fd, ops, 1));
	EXPECT_EQ(-EINVAL, ops[0].result);
	EXPECT_EQ(77, ops[0].key);
}

/* An event that could not be copied comes back, without its key. */
TEST_F(file, read_fails)
{
	struct callout_event e[4];

	ASSERT_EQ(0, set_key(self->fd, 3, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(-EFAULT, dev_read(self->fd, nowhere(), 1));
	EXPECT_EQ(-ENOENT, cancel_key(self->fd, 3));
	EXPECT_EQ(0, set_key(self->fd, 3, HOUR));
	EXPECT_EQ(CALLOUT_STATE_PENDING, set_key(self->fd, 3, 2 * HOUR));
	ASSERT_EQ(1, dev_read(self->fd, e, 4));
	EXPECT_EQ(3, e[0].key);
	EXPECT_EQ(CALLOUT_EVENTF_KEY, e[0].flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, 3));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* A few keys that all threads set, move, cancel and read. */
#define KEYS	3

struct racer {
	int fd;
	atomic_bool stop;
	unsigned int seed, inserted, cancelled, read, wrong;
};

static void *race(void *arg)
{
	struct callout_event e[8];
	struct racer *r = arg;
	struct callout_op op;
	int ret, i;
	__u64 key;

	while (!r->stop) {
		key = rand_r(&r->seed) % KEYS;
		switch (rand_r(&r->seed) % 4) {
		case 0:
			ret = cancel_key(r->fd, key);
			r->cancelled += ret > 0;
			r->wrong += ret < 0 && ret != -ENOENT;
			break;
		case 1:
			ret = dev_read(r->fd, e, 8);
			for (i = 0; i < ret; i++)
				r->read += !(e[i].flags & CALLOUT_EVENTF_PERIODIC);
			r->wrong += ret < 0 && ret != -EAGAIN;
			break;
		default:
			op = callout_op_key(callout_op_set(0, 0), key);
			op.time = rand_r(&r->seed) % 2 ? 0 : HOUR;
			op.period = rand_r(&r->seed) % 2;
			ret = do_op(r->fd, &op);
			r->inserted += !ret;
			r->wrong += ret < 0;
		}
	}
	return NULL;
}

/* A key names one callout, periodic or not, and each inserted callout ends once. */
TEST_F(file, race)
{
	enum { THREADS = 4 };
	unsigned int inserted = 0, ended = 0, i;
	struct racer r[THREADS] = { 0 };
	pthread_t threads[THREADS];
	struct callout_event e;

	for (i = 0; i < THREADS; i++) {
		r[i].fd = self->fd;
		r[i].seed = i + 1;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, race, &r[i]));
	}
	for (i = 0; i < 200; i++) {
		/* There are no more callouts than keys, except those being read. */
		EXPECT_GE(KEYS + THREADS * 8, info_of(self->fd).outstanding);
		sleep_ns(MSEC);
	}
	for (i = 0; i < THREADS; i++) {
		r[i].stop = true;
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, r[i].wrong);
		inserted += r[i].inserted;
		ended += r[i].cancelled + r[i].read;
	}
	EXPECT_GE(KEYS, info_of(self->fd).outstanding);
	for (i = 0; i < KEYS; i++) {
		ended += cancel_key(self->fd, i) > 0;
		EXPECT_EQ(-ENOENT, cancel_key(self->fd, i));
	}
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &e, 1));
	EXPECT_EQ(inserted, ended);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

struct canceller {
	int fd;
	atomic_bool stop;
	unsigned int cancelled;
};

/* Cancel the callout with key 1 whenever there is one. */
static void *cancel_first(void *arg)
{
	struct canceller *c = arg;

	pin_to_cpu(1 % sysconf(_SC_NPROCESSORS_ONLN));
	while (!c->stop)
		c->cancelled += cancel_key(c->fd, 1) > 0;
	return NULL;
}

/* A slot that was found by its key is not cancelled after it got another callout's key. */
TEST_F(file, race_for_a_slot)
{
	struct canceller c = { .fd = self->fd };
	unsigned int set = 0, cancelled = 0;
	__u64 end = dev_now() + 300 * MSEC;
	pthread_t thread;

	pin_to_cpu(0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, cancel_first, &c));
	while (dev_now() < end) {
		ASSERT_EQ(0, set_key(self->fd, 1, HOUR));
		set++;
		cancelled += cancel_key(self->fd, 1) > 0;
		ASSERT_EQ(0, set_key(self->fd, 2, HOUR));
		ASSERT_EQ(CALLOUT_STATE_PENDING, cancel_key(self->fd, 2));
	}
	c.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(set, cancelled + c.cancelled);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

struct failing {
	int fd;
	int cpu;
	atomic_bool *stop;
	unsigned int reads;
};

/* Wait for events and fail to read them. */
static void *read_to_nowhere(void *arg)
{
	struct failing *f = arg;
	struct callout_batch b;

	pin_to_cpu(f->cpu);
	while (!*f->stop) {
		b = with_events(batch_of(NULL, 0), nowhere(), 16,
				CALLOUT_BATCHF_WAIT, MSEC);
		if (do_batch(f->fd, &b) == -EFAULT)
			f->reads++;
		/* The events are still there. Other threads must get to run. */
		sleep_ns(1000);
	}
	return NULL;
}

/*
 * A key has one callout, also while events come back from readers that cannot
 * copy them, and lose their keys. Moving such an event's callout would make a
 * callout that no key names, and that stays. To meet this, the callout must
 * fire, and a reader must finish, between the search for the key and the move.
 * The search has interrupts off, so ticks often come right after it. On a kernel
 * with preemption a reader on the same CPU runs then.
 */
TEST_F(file, race_with_failing_readers)
{
	unsigned int i, n = 0, lost = 0, withdrawn = 0, reads = 0;
	__u64 end = dev_now() + 2 * SEC;
	struct sched_param param = { 0 };
	atomic_bool stop = false;
	struct failing f[2] = {
		{ .fd = self->fd, .cpu = 0, .stop = &stop },
		{ .fd = self->fd, .cpu = 1, .stop = &stop },
	};
	struct callout_op ops[16];
	struct callout_event e[16];
	pthread_t threads[2];

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, read_to_nowhere,
					    &f[i]));
	pin_to_cpu(0);
	sched_setscheduler(0, SCHED_IDLE, &param);
	for (i = 0; i < 16; i++)
		ops[i] = callout_op_key(callout_op_set(i % 2 ? HOUR : 0, 0), 7);
	for (; dev_now() < end; n++) {
		ASSERT_EQ(16, do_ops(self->fd, ops, 16));
		for (i = 0; i < 16; i++) {
			lost += !ops[i].result;
			withdrawn += ops[i].result == CALLOUT_STATE_UNREAD;
		}
		/* The callouts that have lost the key, or the callout that has it. */
		while (dev_read(self->fd, e, 16) > 0)
			;
	}
	stop = true;
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		reads += f[i].reads;
	}
	TH_LOG("%u batches, %u reads failed, %u events were withdrawn, %u lost or read",
	       n, reads, withdrawn, lost);
	while (dev_read(self->fd, e, 16) > 0)
		;
	cancel_key(self->fd, 7);
	EXPECT_EQ(-ENOENT, cancel_key(self->fd, 7));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_HARNESS_MAIN
