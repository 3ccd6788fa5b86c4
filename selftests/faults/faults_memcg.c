// SPDX-License-Identifier: GPL-2.0
/*
 * faults_memcg.c - a memory cgroup at its limit
 *
 * Callouts are charged to the memory cgroup of the process that sets them. A
 * process of another user sets callouts there until there is no more memory. It
 * gets ENOMEM if the OOM killer must not kill it, and otherwise it is killed.
 * Nothing is lost, others are not affected, and the memory comes back. With SET
 * nearly all of it is slots, with TIMEOUT about half is buckets of the hash.
 *
 * The job "faults" runs this, since the kernel reports each time with a call trace.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "lib/common.h"

#define GROUP		"/sys/fs/cgroup/callout_test"
#define LIMIT		(4U << 20)

#define USER		1000

/* Far more callouts than fit. */
#define CALLOUTS	200000U

/* As many callouts as fit easily, with another limit. */
#define FEWER		100000U
#define HIGH_LIMIT	(64U << 20)

/* The least number of bytes for a callout: a slot, and with TIMEOUT 8 buckets. */
#define SLOT		88U
#define BUCKETS		(8U * 8U)

#define BATCH		64U
#define FILES		1000

/* The exit status with which the process fails: the number of the step. */
enum step {
	ALL_RIGHT,
	BEGIN, FILL, REPEAT, OPEN, COUNT, CANCEL, REUSE, LIST, MOVE, READ, CHARGE,
};

/* The memory that the group uses. */
static unsigned int used(void)
{
	unsigned int bytes = ~0U;

	read_number(GROUP "/memory.current", &bytes);
	return bytes;
}

/* The real user counts. Root's rights do not change. */
static int open_as(uid_t user)
{
	int fd;

	if (setresuid(user, 0, 0))
		return -EPERM;
	fd = dev_open(O_NONBLOCK);
	return setresuid(0, 0, 0) ? -EPERM : fd;
}

struct filler {
	int fd;
	bool timeouts;		/* they are set with TIMEOUT, otherwise with SET */
	unsigned int n;		/* callouts that were set */
	__u64 *handle;
	bool *fired;
	struct callout_op ops[BATCH];
	struct callout_event events[BATCH];
};

/* Pseudo-random keys: consecutive keys may collide less, so that the hash grows later. */
static __u64 func_of(unsigned int cookie)
{
	__u64 z = (cookie + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static struct callout_op op_of(struct filler *f, unsigned int cookie)
{
	if (!f->timeouts)
		return callout_op_set(HOUR, cookie);
	return callout_op_timeout(func_of(cookie), cookie, HOUR);
}

/* Set callouts until there are @most or one fails. Return its error, or 0. */
static int fill(struct filler *f, unsigned int most)
{
	struct callout_batch b;
	unsigned int i;
	int ret;

	while (f->n + BATCH <= most) {
		for (i = 0; i < BATCH; i++)
			f->ops[i] = op_of(f, f->n + i);
		b = batch_of(f->ops, BATCH);
		b.flags = CALLOUT_BATCHF_STOP;
		ret = do_batch(f->fd, &b);
		if (ret)
			return ret;
		for (i = 0; i < b.done - b.failed; i++)
			f->handle[f->n++] = f->ops[i].handle;
		if (b.failed)
			return f->ops[b.done - 1].result;
	}
	return 0;
}

static bool list_all(struct filler *f)
{
	struct callout_entry entries[BATCH];
	struct callout_list list = {
		.entries = (uintptr_t)entries,
		.nr_entries = BATCH,
		.entry_size = sizeof(entries[0]),
	};
	unsigned int n = 0, i;

	do {
		if (dev_ioctl(f->fd, CALLOUT_IOC_LIST, &list))
			return false;
		for (i = 0; i < list.got; i++)
			if (entries[i].cookie >= f->n ||
			    entries[i].handle != f->handle[entries[i].cookie])
				return false;
		n += list.got;
	} while (list.cursor);
	return n == f->n;
}

static bool move_all(struct filler *f)
{
	unsigned int i, j, n;

	for (i = 0; i < f->n; i += n) {
		n = f->n - i < BATCH ? f->n - i : BATCH;
		for (j = 0; j < n; j++)
			f->ops[j] = callout_op_move(f->handle[i + j], 0);
		if (do_ops(f->fd, f->ops, n) != (int)n)
			return false;
	}
	return true;
}

static bool read_all(struct filler *f)
{
	unsigned int left = f->n;
	int i, n;

	while (left) {
		n = receive(f->fd, f->events, left < BATCH ? left : BATCH);
		if (n <= 0)
			return false;
		for (i = 0; i < n; i++) {
			if (f->events[i].cookie >= f->n ||
			    f->fired[f->events[i].cookie])
				return false;
			f->fired[f->events[i].cookie] = true;
		}
		left -= n;
	}
	return !info_of(f->fd).outstanding;
}

/* The process has all the memory that it needs itself before this. */
static bool enter(struct filler *f, bool timeouts, const char *oom_score_adj)
{
	f->timeouts = timeouts;
	f->handle = calloc(CALLOUTS, sizeof(*f->handle));
	f->fired = calloc(CALLOUTS, sizeof(*f->fired));
	f->fd = open_as(USER);
	return f->handle && f->fired && f->fd >= 0 &&
	       write_text("/proc/self/oom_score_adj", oom_score_adj) &&
	       !mlockall(MCL_CURRENT) &&
	       write_text(GROUP "/cgroup.procs", "0");
}

/* A file is small, so memory that is already charged may have room for several. */
static int open_files(void)
{
	int fds[FILES], n = 0, ret = 0;

	while (n < FILES && ret >= 0) {
		ret = dev_open(0);
		if (ret >= 0)
			fds[n++] = ret;
	}
	while (n)
		close(fds[--n]);
	return ret;
}

/* At the limit each call returns the error, and the outstanding callouts do not change. */
static enum step be_refused(bool timeouts)
{
	static struct filler f;
	struct callout_op op;

	if (!enter(&f, timeouts, "-1000"))
		return BEGIN;
	if (fill(&f, CALLOUTS) != -ENOMEM)
		return FILL;
	/* Another CPU may have memory left that is already charged. */
	if (fill(&f, CALLOUTS) != -ENOMEM)
		return REPEAT;
	if (open_files() != -ENOMEM)
		return OPEN;
	/* Opening fdinfo, which has the counters, takes memory. */
	if (info_of(f.fd).outstanding != f.n)
		return COUNT;
	/* After one cancel there is room for one callout. */
	if (dev_cancel(f.fd, f.handle[0]) != CALLOUT_STATE_PENDING)
		return CANCEL;
	op = op_of(&f, 0);
	if (do_op(f.fd, &op))
		return REUSE;
	f.handle[0] = op.handle;
	if (!list_all(&f))
		return LIST;
	if (!move_all(&f))
		return MOVE;
	return read_all(&f) ? ALL_RIGHT : READ;
}

/* The group's memory usage includes the callouts. */
static enum step be_charged(bool timeouts)
{
	static struct filler f;

	if (!enter(&f, timeouts, "1000"))
		return BEGIN;
	if (fill(&f, FEWER))
		return FILL;
	printf("# %u callouts, %u bytes\n", f.n, used());
	fflush(stdout);
	return used() < f.n * (SLOT + (timeouts ? BUCKETS : 0)) ? CHARGE :
								  ALL_RIGHT;
}

FIXTURE(memcg) {
	int fd;		/* root's file; root is in another group */
	int user;	/* the user's file, to see what the user is charged for */
};

FIXTURE_VARIANT(memcg) {
	bool timeouts;
};

FIXTURE_VARIANT_ADD(memcg, set) { .timeouts = false };
FIXTURE_VARIANT_ADD(memcg, timeout) { .timeouts = true };

static bool limit_group(unsigned int bytes)
{
	char limit[16];

	snprintf(limit, sizeof(limit), "%u", bytes);
	return write_text(GROUP "/memory.max", limit);
}

FIXTURE_SETUP(memcg)
{
	ASSERT_TRUE(write_text("/sys/fs/cgroup/cgroup.subtree_control",
			       "+memory"));
	ASSERT_EQ(0, mkdir(GROUP, 0700));
	ASSERT_TRUE(limit_group(LIMIT));
	self->fd = dev_open(O_NONBLOCK);
	self->user = open_as(USER);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->user);
	ASSERT_NE(0, set(self->fd, HOUR, 1));
}

FIXTURE_TEARDOWN(memcg)
{
	/* The file is freed some time after it was closed. */
	EXPECT_TRUE(wait_user_outstanding(self->user, 0));
	wait_until(used() <= LIMIT / 4);
	EXPECT_GE(LIMIT / 4, used());
	EXPECT_EQ(1, info_of(self->fd).outstanding);
	EXPECT_EQ(0, close(self->fd));
	EXPECT_EQ(0, close(self->user));
	EXPECT_EQ(0, rmdir(GROUP));
}

/* While the group is full, other groups set callouts, and need more memory for them. */
static bool others_work(int fd, unsigned int n)
{
	static struct callout_op ops[1000];
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < n; i++)
		ops[i] = callout_op_set(0, i);
	if (do_ops(fd, ops, n) != (int)n)
		return false;
	for (i = 0; i < n; i++)
		if (receive(fd, &e, 1) != 1)
			return false;
	return true;
}

TEST_F(memcg, enomem)
{
	int status;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child)
		_exit(be_refused(variant->timeouts));
	do {
		ASSERT_TRUE(others_work(self->fd, 100));
	} while (!waitpid(child, &status, WNOHANG));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(ALL_RIGHT, WEXITSTATUS(status));
}

TEST_F(memcg, killed)
{
	static struct filler f;
	int status;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child)
		_exit(enter(&f, variant->timeouts, "1000") ? fill(&f, CALLOUTS) :
							     BEGIN);
	do {
		ASSERT_TRUE(others_work(self->fd, 100));
	} while (!waitpid(child, &status, WNOHANG));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
	EXPECT_TRUE(others_work(self->fd, 1000));
}

/* The group is charged for slots, and for buckets of the hash. */
TEST_F(memcg, charged)
{
	int status;
	pid_t child;

	ASSERT_TRUE(limit_group(HIGH_LIMIT));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(be_charged(variant->timeouts));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(ALL_RIGHT, WEXITSTATUS(status));
}

TEST_HARNESS_MAIN
