// SPDX-License-Identifier: GPL-2.0
/*
 * list.c - LIST: pages, and one callout by its name
 */
#include <pthread.h>
#include <stdatomic.h>

#include "lib/fixture.h"

/* More callouts than the kernel's chunk has. */
#define N	200

static int get(int fd, __u64 handle, struct callout_entry *entry)
{
	return list_one(fd, CALLOUT_LISTF_HANDLE, handle, entry);
}

/* List a file in pages of @page. Return how many entries, or an error. */
static int list_all(int fd, struct callout_entry *entries, unsigned int room,
		    unsigned int page)
{
	unsigned int n = 0;
	__u64 cursor = 0;
	int ret;

	do {
		if (n + page > room)
			return -ENOBUFS;
		ret = list_page(fd, &cursor, entries + n, page);
		if (ret < 0)
			return ret;
		n += ret;
	} while (cursor);
	return n;
}

/* Are @n bytes all 0? */
static bool all_zero(const char *at, unsigned int n)
{
	while (n && !*at) {
		at++;
		n--;
	}
	return !n;
}

/* LIST shows all attributes of a callout, in each state. */
TEST_F(file, one)
{
	struct callout_op op = callout_op_set(HOUR, 5);
	__u64 before = now_of(CLOCK_BOOTTIME), handle;
	struct callout_entry entry;
	struct callout_event e;

	op.clockid = CLOCK_BOOTTIME;
	op.period = 2 * HOUR;
	op.slack = 3;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, get(self->fd, op.handle, &entry));
	EXPECT_EQ(op.handle, entry.handle);
	EXPECT_EQ(CALLOUT_OP_SET, entry.op);
	EXPECT_EQ(CALLOUT_OPF_ABSTIME, entry.op_flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(CLOCK_BOOTTIME, entry.clockid);
	EXPECT_LE(before + HOUR, entry.due);
	EXPECT_GE(now_of(CLOCK_BOOTTIME) + HOUR, entry.due);
	EXPECT_GE(HOUR, entry.left);
	EXPECT_LE(entry.due, entry.left + now_of(CLOCK_BOOTTIME));
	EXPECT_EQ(2 * HOUR, entry.period);
	EXPECT_EQ(3, entry.slack);
	EXPECT_EQ(5, entry.cookie);
	EXPECT_EQ(0, entry.func);

	EXPECT_EQ(CALLOUT_STATE_PENDING, move(self->fd, op.handle, 0));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_EQ(0, get(self->fd, op.handle, &entry));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, entry.state);
	EXPECT_EQ(0, entry.left);
	EXPECT_EQ(2 * HOUR, entry.period);
	EXPECT_EQ(3, entry.slack);
	/* Read, it is pending again. */
	ASSERT_EQ(1, dev_read(self->fd, &e, 1));
	ASSERT_EQ(0, get(self->fd, op.handle, &entry));
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(e.due + 2 * HOUR, entry.due);
	ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
	EXPECT_EQ(-ENOENT, get(self->fd, op.handle, &entry));

	ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, 6, 7, &handle));
	ASSERT_EQ(0, get(self->fd, handle, &entry));
	EXPECT_EQ(CALLOUT_OP_TIMEOUT, entry.op);
	EXPECT_EQ(CLOCK_MONOTONIC, entry.clockid);
	EXPECT_EQ(0, entry.period);
	EXPECT_EQ(default_slack(), entry.slack);
	EXPECT_EQ(7, entry.cookie);
	EXPECT_EQ(6, entry.func);
	ASSERT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handle, 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(-ENOENT, get(self->fd, handle, &entry));
}

/* A callout with a key is listed by its key, with all that it was set with. */
TEST_F(file, one_with_a_key)
{
	struct callout_op op = callout_op_key(callout_op_set(HOUR, 5), ~0ULL);
	struct callout_op real = {
		.op = CALLOUT_OP_SET,
		.flags = CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME |
			 CALLOUT_OPF_CANCEL_ON_SET,
		.clockid = CLOCK_REALTIME,
		.time = now_of(CLOCK_REALTIME) + HOUR,
		.slack = 6,
		.cookie = 7,
	};
	struct callout_entry entry;

	op.period = 2 * HOUR;
	op.slack = 3;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_KEY, ~0ULL, &entry));
	EXPECT_EQ(~0ULL, entry.key);
	EXPECT_EQ(CALLOUT_OP_SET, entry.op);
	EXPECT_EQ(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME, entry.op_flags);
	EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
	EXPECT_EQ(CLOCK_MONOTONIC, entry.clockid);
	EXPECT_EQ(2 * HOUR, entry.period);
	EXPECT_EQ(3, entry.slack);
	EXPECT_EQ(5, entry.cookie);
	EXPECT_EQ(0, entry.func);

	/* The callout has fired, and then is pending again. */
	op.time = 0;
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_KEY, ~0ULL, &entry));
	EXPECT_EQ(~0ULL, entry.key);
	EXPECT_EQ(CALLOUT_STATE_UNREAD, entry.state);
	EXPECT_EQ(2 * HOUR, entry.period);
	EXPECT_EQ(5, entry.cookie);

	/* Key 0 is a valid key. */
	ASSERT_EQ(0, do_op(self->fd, &real));
	ASSERT_EQ(0, list_one(self->fd, CALLOUT_LISTF_KEY, 0, &entry));
	EXPECT_EQ(0, entry.key);
	EXPECT_EQ(real.flags, entry.op_flags);
	EXPECT_EQ(CLOCK_REALTIME, entry.clockid);
	EXPECT_EQ(real.time, entry.due);
	EXPECT_EQ(0, entry.period);
	EXPECT_EQ(6, entry.slack);
	EXPECT_EQ(7, entry.cookie);
}

/*
 * LIST of a name must return a callout with @cookie or, if @cookie is 0, -ENOENT. The
 * name is not written.
 */
static void expect_one(struct __test_metadata *_metadata, int fd, __u32 flags,
		       __u64 name, __u64 cookie)
{
	struct callout_entry entry;
	struct callout_list list = {
		.entries = (uintptr_t)&entry,
		.cursor = name,
		/* A larger array makes no difference. */
		.nr_entries = 3,
		.entry_size = sizeof(entry),
		.got = 77,
		.flags = flags,
	};

	memset(&entry, 0x55, sizeof(entry));
	EXPECT_EQ(cookie ? 0 : -ENOENT, dev_ioctl(fd, CALLOUT_IOC_LIST, &list)) {
		TH_LOG("name %#llx", (unsigned long long)name);
	}
	EXPECT_EQ(name, list.cursor);
	EXPECT_EQ(cookie ? 1 : 77, list.got);
	EXPECT_EQ(cookie ? cookie : 0x5555555555555555ULL, entry.cookie);
}

TEST_F(file, names)
{
	__u64 handle = set(self->fd, HOUR, 1), absent[] = {
		0, handle + 1, handle + (1 << 24), ~0ULL,
	};
	struct callout_op op = callout_op_key(callout_op_set(HOUR, 2), 55);
	unsigned int i;

	ASSERT_NE(0, handle);
	ASSERT_EQ(0, do_op(self->fd, &op));
	expect_one(_metadata, self->fd, CALLOUT_LISTF_HANDLE, handle, 1);
	expect_one(_metadata, self->fd, CALLOUT_LISTF_KEY, 55, 2);
	expect_one(_metadata, self->fd, CALLOUT_LISTF_HANDLE, 55, 0);
	expect_one(_metadata, self->fd, CALLOUT_LISTF_KEY, handle, 0);
	for (i = 0; i < ARRAY_SIZE(absent); i++) {
		expect_one(_metadata, self->fd, CALLOUT_LISTF_HANDLE, absent[i], 0);
		expect_one(_metadata, self->fd, CALLOUT_LISTF_KEY, absent[i], 0);
	}
}

TEST_F(file, list_refuses)
{
	struct callout_entry entry;
	struct callout_list list;
	unsigned int i;

	ASSERT_NE(0, set(self->fd, HOUR, 1));
#define EXPECT_LIST(error, change) do {					\
	list = (struct callout_list){					\
		.entries = (uintptr_t)&entry,				\
		.nr_entries = 1,					\
		.entry_size = sizeof(entry),				\
		.got = ~0U,						\
	};								\
	change;								\
	EXPECT_EQ(error, dev_ioctl(self->fd, CALLOUT_IOC_LIST,	\
					   &list)) {			\
		TH_LOG("%s", #change);					\
	}								\
} while (0)

	EXPECT_LIST(-EINVAL, list.flags = CALLOUT_LISTF_HANDLE |
					  CALLOUT_LISTF_KEY);
	for (i = 2; i < 32; i++) {
		EXPECT_LIST(-EINVAL, list.flags = 1U << i);
		EXPECT_LIST(-EINVAL, list.flags = 1U << i | CALLOUT_LISTF_KEY);
	}
	for (i = 0; i < CALLOUT_ENTRY_SIZE_V1; i++)
		EXPECT_LIST(-EINVAL, list.entry_size = i);
	for (i = 1; i < 8; i++)
		EXPECT_LIST(-EINVAL, list.entry_size = sizeof(entry) + i);
	EXPECT_LIST(-EINVAL, list.entry_size = CALLOUT_SIZE_MAX + 8);
	EXPECT_LIST(-EINVAL, list.entry_size = ~0U);
	EXPECT_LIST(-EINVAL, list.nr_entries = 0);
	EXPECT_LIST(-EINVAL, list.nr_entries = CALLOUT_BATCH_MAX + 1);
	EXPECT_LIST(-EINVAL, list.nr_entries = ~0U);
	EXPECT_LIST(-EFAULT, list.entries = 8);
	EXPECT_LIST(-EFAULT, list.entries = ~0ULL);
	EXPECT_LIST(-EFAULT, list.entries = 0xffff888000000000ULL);
	/* No slot has this number, so this is the end. */
	EXPECT_LIST(0, list.cursor = ~0ULL);
	EXPECT_EQ(0, list.cursor);
	EXPECT_EQ(0, list.got);
	EXPECT_LIST(0, list.cursor = 1ULL << 24);
	EXPECT_EQ(0, list.got);
	EXPECT_LIST(0, list.cursor = 0);
	EXPECT_EQ(1, list.got);
	EXPECT_EQ(1, entry.cookie);
#undef EXPECT_LIST
}

/* Each callout is listed once, in pages of any size. */
TEST_F(file, pages)
{
	static const unsigned int pages[] = { 1, 7, 41, 42, 43, N, 2 * N };
	struct callout_entry entries[3 * N];
	unsigned char seen[N];
	unsigned int i, j;

	EXPECT_EQ(0, list_all(self->fd, entries, 3 * N, 10));
	for (i = 0; i < N; i++)
		ASSERT_NE(0, set(self->fd, i % 3 ? HOUR : 0, i));
	ASSERT_TRUE(wait_unread(self->fd, (N + 2) / 3));
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		memset(seen, 0, sizeof(seen));
		ASSERT_EQ(N, list_all(self->fd, entries, 3 * N, pages[i]));
		for (j = 0; j < N; j++) {
			ASSERT_GT(N, entries[j].cookie);
			EXPECT_EQ(0, seen[entries[j].cookie]++);
			EXPECT_EQ(entries[j].cookie % 3 ?
				  CALLOUT_STATE_PENDING :
				  CALLOUT_STATE_UNREAD, entries[j].state);
		}
	}
}

/* Each entry has the size that the program gives, and is 0 beyond the kernel's. */
TEST_F(file, larger_entries)
{
	static const unsigned int sizes[] = {
		CALLOUT_ENTRY_SIZE_V1, CALLOUT_ENTRY_SIZE_V1 + 8, 1000,
		CALLOUT_SIZE_MAX,
	};
	enum { ENTRIES = 5 };
	static char space[ENTRIES * CALLOUT_SIZE_MAX + 1];
	struct callout_list list;
	struct callout_entry entry;
	unsigned int i, j, size, seen;
	char *at;

	for (i = 0; i < ENTRIES; i++)
		ASSERT_NE(0, set(self->fd, HOUR, i));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size = sizes[i];
		memset(space, 0x55, sizeof(space));
		list = (struct callout_list){
			.entries = (uintptr_t)space,
			.nr_entries = ENTRIES,
			.entry_size = size,
		};
		ASSERT_EQ(0, dev_ioctl(self->fd, CALLOUT_IOC_LIST,
				       &list));
		ASSERT_EQ(ENTRIES, list.got);
		for (j = 0, seen = 0; j < ENTRIES; j++) {
			at = space + j * size;
			memcpy(&entry, at, sizeof(entry));
			ASSERT_GT(ENTRIES, entry.cookie);
			seen |= 1U << entry.cookie;
			EXPECT_EQ(CALLOUT_STATE_PENDING, entry.state);
			EXPECT_TRUE(all_zero(at + sizeof(entry),
					     size - sizeof(entry)));
		}
		EXPECT_EQ((1U << ENTRIES) - 1, seen);
		EXPECT_EQ(0x55, space[ENTRIES * size]);
	}
}

/* Callout @i of many that differ in every attribute. */
static struct callout_op any_op(unsigned int i)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
	};
	struct callout_op op = callout_op_set(HOUR + i, i);

	op.clockid = clocks[i % 3];
	op.slack = i % 5;
	op.flags = i % 10 ? 0 : CALLOUT_OPF_EXACT;
	if (i % 7 == 0) {
		op.op = CALLOUT_OP_TIMEOUT;
		op.func = i + 1;
		return op;
	}
	op.period = i % 4;
	if (i % 2)
		op = callout_op_key(op, i - 1);
	if (i % 9 < 5) {
		op.flags |= CALLOUT_OPF_ABSTIME;
		op.time += now_of(op.clockid);
		if (!op.period && op.clockid == CLOCK_REALTIME)
			op.flags |= CALLOUT_OPF_CANCEL_ON_SET;
	}
	return op;
}

/* A set of callouts can be saved, and restored in another file. */
TEST_F(file, save_and_restore)
{
	struct callout_entry saved[N], restored[N];
	unsigned int i, j, n, on_set = 0;
	struct callout_op op;
	int fd;

	for (i = 0; i < N / 2; i++) {
		op = any_op(i);
		on_set += !!(op.flags & CALLOUT_OPF_CANCEL_ON_SET);
		ASSERT_EQ(0, do_op(self->fd, &op));
	}
	EXPECT_LT(0, on_set);
	n = list_all(self->fd, saved, N, 20);
	ASSERT_EQ(N / 2, n);

	fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (i = 0; i < n; i++) {
		op = callout_op_entry(&saved[i]);
		ASSERT_EQ(0, do_op(fd, &op));
	}
	ASSERT_EQ(n, list_all(fd, restored, N, 20));
	for (i = 0; i < n; i++) {
		for (j = 0; restored[j].cookie != saved[i].cookie; j++)
			ASSERT_GT(n - 1, j);
		EXPECT_EQ(saved[i].op, restored[j].op);
		EXPECT_EQ(saved[i].flags, restored[j].flags);
		EXPECT_EQ(saved[i].op_flags, restored[j].op_flags);
		EXPECT_EQ(saved[i].state, restored[j].state);
		EXPECT_EQ(saved[i].clockid, restored[j].clockid);
		/*
		 * A callout that does not follow settings of its clock is restored by its remaining
		 * time.
		 */
		EXPECT_TRUE(saved[i].flags & CALLOUT_OPF_ABSTIME ?
			    saved[i].due == restored[j].due :
			    saved[i].left >= restored[j].left);
		EXPECT_EQ(saved[i].period, restored[j].period);
		EXPECT_EQ(saved[i].slack, restored[j].slack);
		EXPECT_EQ(saved[i].func, restored[j].func);
		if (saved[i].op_flags & CALLOUT_OPF_KEY)
			EXPECT_EQ(saved[i].key, restored[j].key);
	}
	close(fd);
}

/* The first cookie of callouts that come and go. Callouts that stay have lower cookies. */
#define COMES	1000

struct changer {
	int fd;
	atomic_bool stop;
};

static void *change(void *arg)
{
	struct changer *c = arg;
	struct callout_event e[16];
	__u64 handle;
	unsigned int i;

	for (i = 0; !c->stop; i++) {
		handle = set(c->fd, i % 2 ? 0 : HOUR, COMES);
		if (i % 4 == 0)
			move(c->fd, handle, i % 8 ? 2 * HOUR : 0);
		if (i % 2 == 0)
			dev_cancel(c->fd, handle);
		/* This keeps few callouts outstanding, also on a slow machine. */
		if (i % 2 && readable_within(c->fd, 10))
			dev_read(c->fd, e, 16);
	}
	return NULL;
}

/* A callout that stays is listed once, also while other callouts come and go. */
TEST_F(file, list_while_others_change)
{
	static struct callout_entry entries[4 * N];
	struct changer c = { .fd = self->fd };
	unsigned char seen[N];
	pthread_t threads[2];
	int i, j, n, stay;

	for (i = 0; i < N; i++)
		ASSERT_NE(0, set(self->fd, HOUR, i));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, change, &c));
	for (i = 0; i < 200; i++) {
		memset(seen, 0, sizeof(seen));
		n = list_all(self->fd, entries, 4 * N, 30);
		ASSERT_LE(N, n);
		for (j = 0, stay = 0; j < n; j++) {
			if (entries[j].cookie == COMES)
				continue;
			ASSERT_GT(N, entries[j].cookie);
			EXPECT_EQ(0, seen[entries[j].cookie]++);
			EXPECT_EQ(CALLOUT_STATE_PENDING, entries[j].state);
			stay++;
		}
		ASSERT_EQ(N, stay);
	}
	c.stop = true;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

TEST_HARNESS_MAIN
