// SPDX-License-Identifier: GPL-2.0
/*
 * killed.c - a process is killed in each wait of the device, in the middle of
 * copies, and in long operations: other users of the file lose nothing, and the
 * operations end
 *
 * device_life kills processes in read(). The waits here have no end.
 */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "lib/stuck.h"
#include "lib/uring.h"

#define KEY		3
#define LATE		4	/* the cookie of a callout that is set later */

#define HANDLES		8
#define KEYS		8
#define STUCK_OPS	(HANDLES + KEYS)

/* The calls in which a process waits. They return if the wait ends. */
static int in_batch(int fd)
{
	struct callout_event e;
	struct callout_batch b = batch_wait(&e, CALLOUT_FOREVER);

	return do_batch(fd, &b);
}

/* Wait for more events than there are, with as many signals blocked as possible. */
static int in_batch_for_three(int fd)
{
	struct callout_event e[3];
	struct callout_batch b = with_events(batch_of(NULL, 0), e, 3,
					     CALLOUT_BATCHF_WAIT |
					     CALLOUT_BATCHF_ABSTIME,
					     CALLOUT_FOREVER);
	__u64 mask = ~0ULL;

	b.clockid = CLOCK_REALTIME;
	b.min_events = 3;
	b.sigmask = (uintptr_t)&mask;
	b.sigmask_size = sizeof(mask);
	return do_batch(fd, &b);
}

static int in_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, -1);
}

static int in_select(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, NULL);
}

/* Wait for EPOLLIN, with these flags of epoll, and at most @timeout ms. */
static int wait_in_epoll(int fd, __u32 flags, int timeout)
{
	struct epoll_event e = { .events = EPOLLIN | flags };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) ?:
	       epoll_wait(epoll, &e, 1, timeout);
}

static int in_epoll(int fd)
{
	return wait_in_epoll(fd, 0, -1);
}

/* Wait with a read of the device in progress, which takes no event. */
static int in_uring_read(int fd)
{
	struct callout_event e;
	struct io_uring_sqe *sqe;
	struct ring ring;

	if (!ring_open(&ring, 0))
		return -EIO;
	sqe = queue(&ring, fd, NULL, 0);
	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.fd = fd,
		.addr = (uintptr_t)&e,
		.len = sizeof(e),
	};
	return submit(&ring) && wait_for(&ring, 1, -1);
}

/* Wait with a command pending, which is cancelled. */
static int in_uring_command(int fd)
{
	struct callout_op op = set_op(HOUR, KEY);
	struct ring ring;

	if (!ring_open(&ring, 0))
		return -EIO;
	return submit_one(&ring, fd, &op, 0) && wait_for(&ring, 1, -1);
}

FIXTURE(killed) {
	int fd;
};

FIXTURE_VARIANT(killed) {
	int (*wait)(int fd);
	bool command;
};

FIXTURE_VARIANT_ADD(killed, batch) { .wait = in_batch };
FIXTURE_VARIANT_ADD(killed, batch_for_three) { .wait = in_batch_for_three };
FIXTURE_VARIANT_ADD(killed, poll) { .wait = in_poll };
FIXTURE_VARIANT_ADD(killed, select) { .wait = in_select };
FIXTURE_VARIANT_ADD(killed, epoll) { .wait = in_epoll };
FIXTURE_VARIANT_ADD(killed, uring_read) { .wait = in_uring_read };
FIXTURE_VARIANT_ADD(killed, uring_command) {
	.wait = in_uring_command,
	.command = true,
};

FIXTURE_SETUP(killed)
{
	self->fd = dev_open(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(killed)
{
	EXPECT_EQ(0, close(self->fd));
}

/* The next event goes to the surviving processes, which wait too. */
TEST_F(killed, in_its_wait)
{
	struct callout_event e;
	struct counts counts;
	unsigned int i;
	pid_t child;

	if (variant->command &&
	    !(info_of(self->fd).features & CALLOUT_FEATURE_URING))
		return;
	for (i = 0; i < 5; i++) {
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			_exit(variant->wait(self->fd) < 0);
		if (variant->command)
			ASSERT_TRUE(wait_outstanding(self->fd, 1));
		ASSERT_TRUE(sleeps(child));
		ASSERT_TRUE(kill_child(child));
		ASSERT_TRUE(wait_outstanding(self->fd, 0));
		ASSERT_NE(0, set(self->fd, i & 1 ? MSEC : 0, LATE));
		ASSERT_EQ(1, dev_read(self->fd, &e, 1));
		EXPECT_EQ(LATE, e.cookie);
	}
	counts = counts_of(self->fd);
	EXPECT_EQ(5, counts.delivered);
	EXPECT_EQ(variant->command ? 5 : 0, counts.cancelled);
	EXPECT_EQ(counts.set, counts.delivered + counts.cancelled);
}

/*
 * An event wakes one of two processes that wait with EPOLLEXCLUSIVE. The woken
 * process does not read, as if it were killed. The next event wakes the other
 * process, although the first event is unread.
 */
TEST(waits_with_others)
{
	int fd = dev_open(0), status;
	pid_t child[2], woken;
	unsigned int i;

	ASSERT_LE(0, fd);
	for (i = 0; i < 2; i++) {
		child[i] = fork();
		ASSERT_LE(0, child[i]);
		if (!child[i])
			_exit(wait_in_epoll(fd, EPOLLEXCLUSIVE, WAIT_MS) != 1);
		ASSERT_TRUE(sleeps(child[i]));
	}
	for (i = 0; i < 2; i++) {
		ASSERT_NE(0, set(fd, 0, LATE));
		woken = waitpid(-1, &status, 0);
		EXPECT_TRUE(woken == child[0] || woken == child[1]);
		EXPECT_TRUE(WIFEXITED(status));
		EXPECT_EQ(0, WEXITSTATUS(status));
		/* A process that is woken too ends soon. */
		sleep_ns(50 * MSEC);
		EXPECT_EQ(i ? -1 : 0, waitpid(-1, &status, WNOHANG));
	}
	EXPECT_EQ(2, info_of(fd).unread);
	EXPECT_EQ(0, close(fd));
}

/* A process that reports when its thread is stuck in a copy, and waits. */
static void stuck_process(struct stuck *s, int says)
{
	if (stuck_has_event(s) && write(says, "x", 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

/* An event that a killed reader was copying can be read by another. */
TEST(killed_while_it_copies_an_event)
{
	int fd = dev_open(0), says[2];
	struct callout_event e;
	struct stuck s;
	pid_t child;
	char c;

	ASSERT_LE(0, fd);
	if (!stuck_possible())
		SKIP(return, "the kernel has no userfaultfd");
	ASSERT_EQ(0, pipe(says));
	ASSERT_NE(0, set(fd, 0, LATE));
	ASSERT_TRUE(wait_unread(fd, 1));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (stuck_begin(&s, fd))
			stuck_process(&s, says[1]);
		_exit(1);
	}
	ASSERT_EQ(0, close(says[1]));
	ASSERT_EQ(1, read(says[0], &c, 1));
	EXPECT_EQ(0, info_of(fd).unread);
	EXPECT_EQ(1, info_of(fd).outstanding);
	ASSERT_TRUE(kill_child(child));
	ASSERT_TRUE(readable_within(fd, WAIT_MS));
	ASSERT_EQ(1, dev_read(fd, &e, 1));
	EXPECT_EQ(LATE, e.cookie);
	EXPECT_EQ(0, info_of(fd).outstanding);
	EXPECT_EQ(1, counts_of(fd).delivered);
	close(says[0]);
	close(fd);
}

/* Number of operations of a batch, and of entries of LIST, between two checks for signals. */
#define PORTION		16U
#define ROUNDS		5

static bool set_many(int fd, unsigned int n)
{
	static struct callout_op ops[10000];
	unsigned int i, some;

	for (; n; n -= some) {
		some = n < ARRAY_SIZE(ops) ? n : ARRAY_SIZE(ops);
		for (i = 0; i < some; i++)
			ops[i] = callout_op_set(HOUR, i);
		if (do_ops(fd, ops, some) != (int)some)
			return false;
	}
	return true;
}

/* Move a callout as often as a batch can, again and again. */
static void move_for_ever(int fd, __u64 handle)
{
	static struct callout_op ops[CALLOUT_BATCH_MAX];
	unsigned int i;

	for (i = 0; i < CALLOUT_BATCH_MAX; i++)
		ops[i] = callout_op_move(handle, HOUR);
	while (do_ops(fd, ops, CALLOUT_BATCH_MAX) == CALLOUT_BATCH_MAX)
		;
	_exit(1);
}

/* A batch that is killed ends with the current portion. */
TEST(killed_amid_a_batch)
{
	int fd = dev_open(O_NONBLOCK), i;
	long long begin, at;
	__u64 handle;
	pid_t child;

	ASSERT_LE(0, fd);
	handle = set(fd, HOUR, 1);
	ASSERT_NE(0, handle);
	for (i = 0; i < ROUNDS; i++) {
		begin = fdinfo_number(fd, "reset");
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			move_for_ever(fd, handle);
		while (fdinfo_number(fd, "reset") < begin + 1000)
			sched_yield();
		ASSERT_EQ(0, kill(child, SIGKILL));
		at = fdinfo_number(fd, "reset");
		ASSERT_EQ(child, waitpid(child, NULL, 0));
		/* Operations of the current portion, and of a portion that began before that. */
		EXPECT_GE(2 * PORTION, fdinfo_number(fd, "reset") - at);
	}
	close(fd);
}

/* The number of entries: LIST fills the array from its start. */
static unsigned int listed(const struct callout_entry *entries)
{
	unsigned int n;

	for (n = 0; n < CALLOUT_BATCH_MAX; n++)
		if (!__atomic_load_n(&entries[n].handle, __ATOMIC_RELAXED))
			break;
	return n;
}

/* Repeat LIST with an array that is empty before each call. */
static void list_for_ever(int fd, struct callout_entry *entries)
{
	struct callout_list list;

	do {
		memset(entries, 0, CALLOUT_BATCH_MAX * sizeof(*entries));
		list = (struct callout_list){
			.entries = (uintptr_t)entries,
			.nr_entries = CALLOUT_BATCH_MAX,
			.entry_size = sizeof(*entries),
		};
	} while (!dev_ioctl(fd, CALLOUT_IOC_LIST, &list));
	_exit(1);
}

/* A LIST that is killed fills no more of its array. */
TEST(killed_amid_a_list)
{
	int fd = dev_open(O_NONBLOCK), met = 0, i;
	struct callout_entry *entries;
	unsigned int at;
	pid_t child;

	ASSERT_LE(0, fd);
	ASSERT_TRUE(set_many(fd, CALLOUT_BATCH_MAX));
	entries = mmap(NULL, CALLOUT_BATCH_MAX * sizeof(*entries),
		       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, entries);
	/* One call may be complete before the process is killed. */
	for (i = 0; i < 20 * ROUNDS && met < ROUNDS; i++) {
		memset(entries, 0, CALLOUT_BATCH_MAX * sizeof(*entries));
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			list_for_ever(fd, entries);
		while (listed(entries) < 1000)
			sched_yield();
		ASSERT_EQ(0, kill(child, SIGKILL));
		at = listed(entries);
		ASSERT_EQ(child, waitpid(child, NULL, 0));
		if (at && at < CALLOUT_BATCH_MAX - 2 * PORTION) {
			met++;
			EXPECT_GE(at + 2 * PORTION, listed(entries));
		}
	}
	EXPECT_EQ(ROUNDS, met);
	munmap(entries, CALLOUT_BATCH_MAX * sizeof(*entries));
	close(fd);
}

/* Whether userfaultfd can write-protect. If not, two cases do nothing. */
static bool stuck_can_protect(void)
{
	struct utsname name;

	return uname(&name) || !strcmp(name.machine, "x86_64") ||
	       (!strcmp(name.machine, "aarch64") && kernel_version() >= 6010);
}

/* A batch's operations are in a page that can be read, and not yet written. */
static void *stuck_batch(void *arg)
{
	struct stuck *s = arg;

	s->ret = do_ops(s->fd, (void *)s->page, STUCK_OPS);
	return NULL;
}

static bool stuck_batch_begin(struct stuck *s, int fd,
			      const struct callout_op ops[STUCK_OPS])
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect protect = {
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP,
	};

	s->fd = fd;
	s->size = sysconf(_SC_PAGESIZE);
	s->uffd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	s->page = mmap(NULL, s->size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->uffd < 0 || s->page == MAP_FAILED)
		return false;
	memcpy(s->page, ops, STUCK_OPS * sizeof(*ops));
	reg.range.start = (uintptr_t)s->page;
	reg.range.len = s->size;
	protect.range = reg.range;
	return !ioctl(s->uffd, UFFDIO_API, &api) &&
	       !ioctl(s->uffd, UFFDIO_REGISTER, &reg) &&
	       !ioctl(s->uffd, UFFDIO_WRITEPROTECT, &protect) &&
	       !pthread_create(&s->thread, NULL, stuck_batch, s);
}

/*
 * Callouts whose handles cannot be written, since the process is killed before
 * that, are cancelled. Callouts with a key stay, since the key names them.
 */
TEST(killed_while_it_copies_results)
{
	int fd = dev_open(O_NONBLOCK), says[2];
	struct callout_op ops[STUCK_OPS], op;
	struct counts counts;
	unsigned int i;
	struct stuck s;
	pid_t child;
	char c;

	ASSERT_LE(0, fd);
	if (!stuck_can_protect())
		return;
	if (!stuck_possible())
		SKIP(return, "the kernel has no userfaultfd");
	for (i = 0; i < STUCK_OPS; i++)
		ops[i] = i < HANDLES ? callout_op_set(HOUR, i) : set_op(HOUR, i);
	ASSERT_EQ(0, pipe(says));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (stuck_batch_begin(&s, fd, ops))
			stuck_process(&s, says[1]);
		_exit(1);
	}
	ASSERT_EQ(0, close(says[1]));
	ASSERT_EQ(1, read(says[0], &c, 1));
	EXPECT_EQ(HANDLES + KEYS, info_of(fd).outstanding);
	ASSERT_TRUE(kill_child(child));
	ASSERT_TRUE(wait_outstanding(fd, KEYS));
	for (i = HANDLES; i < HANDLES + KEYS; i++) {
		op = cancel_op(i);
		EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(fd, &op));
	}
	counts = counts_of(fd);
	EXPECT_EQ(HANDLES + KEYS, counts.set);
	EXPECT_EQ(HANDLES + KEYS, counts.cancelled);
	EXPECT_EQ(0, info_of(fd).outstanding);
	close(says[0]);
	close(fd);
}

/* Callouts that a batch has cancelled make room, although the results are not written yet. */
TEST(room_while_it_copies_results)
{
	struct uffdio_writeprotect writable = { 0 };
	int fd = dev_open(O_NONBLOCK);
	struct callout_op ops[STUCK_OPS];
	unsigned int i;
	struct stuck s;

	ASSERT_LE(0, fd);
	if (!stuck_can_protect())
		return;
	if (!stuck_possible())
		SKIP(return, "the kernel has no userfaultfd");
	ASSERT_EQ(0, set_limit(fd, STUCK_OPS));
	for (i = 0; i < STUCK_OPS; i++)
		ops[i] = callout_op_cancel(set(fd, HOUR, i));
	EXPECT_EQ(0, set(fd, HOUR, STUCK_OPS));
	ASSERT_TRUE(stuck_batch_begin(&s, fd, ops));
	ASSERT_TRUE(stuck_has_event(&s));
	for (i = 0; i < STUCK_OPS; i++)
		EXPECT_NE(0, set(fd, HOUR, i));
	EXPECT_EQ(0, set(fd, HOUR, STUCK_OPS));
	writable.range.start = (uintptr_t)s.page;
	writable.range.len = s.size;
	ASSERT_EQ(0, ioctl(s.uffd, UFFDIO_WRITEPROTECT, &writable));
	EXPECT_EQ(STUCK_OPS, stuck_join(&s));
	EXPECT_EQ(STUCK_OPS, info_of(fd).outstanding);
	stuck_free(&s);
	close(fd);
}

TEST_HARNESS_MAIN
