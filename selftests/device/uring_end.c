// SPDX-License-Identifier: GPL-2.0
/*
 * uring_end.c - callouts as commands of io_uring: how they end when the ring,
 * the file or the process ends, and what completes them
 */
#include <glob.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "lib/uring.h"

TEST_F(uring_cmd, ring_is_closed)
{
	if (!self->works || !may_close(variant->flags))
		return;
	ASSERT_TRUE(set_pending(&self->ring, self->fd, 0, PENDING));
	EXPECT_TRUE(wait_outstanding(self->fd, PENDING));
	EXPECT_TRUE(ring_close(&self->ring));
	EXPECT_TRUE(wait_outstanding(self->fd, 0));
	EXPECT_EQ(PENDING, counts_of(self->fd).cancelled);
	self->ring.fd = dup(self->fd);
}

/* A pending command keeps its file open, also a file that is only registered. */
TEST_F(uring_cmd, file_is_closed)
{
	struct callout_op set = set_op(20 * MSEC, 1000);
	int other = dev_open(O_NONBLOCK), fixed;
	struct io_uring_sqe *sqe;
	__u64 data = 0;

	ASSERT_LE(0, other);
	if (!self->works || !may_close(variant->flags))
		return;
	ASSERT_TRUE(wait_user_outstanding(other, 0));
	fixed = dev_open(O_NONBLOCK);
	ASSERT_EQ(0, syscall(__NR_io_uring_register, self->ring.fd,
			     IORING_REGISTER_FILES, &fixed, 1));
	EXPECT_EQ(0, close(fixed));
	ASSERT_TRUE(set_pending(&self->ring, self->fd, 0, PENDING));
	ASSERT_TRUE(submit_one(&self->ring, self->fd, &set, 1));
	EXPECT_EQ(0, close(self->fd));
	sqe = queue(&self->ring, 0, &set, 2);
	sqe->flags = IOSQE_FIXED_FILE;
	ASSERT_TRUE(submit(&self->ring));
	EXPECT_EQ(0, complete(&self->ring, &data, WAIT_MS));
	EXPECT_EQ(0, complete(&self->ring, &data, WAIT_MS));
	set = set_op(HOUR, 1);
	sqe = queue(&self->ring, 0, &set, 3);
	sqe->flags = IOSQE_FIXED_FILE;
	ASSERT_TRUE(submit(&self->ring));
	EXPECT_LT(0, info_of(other).user_charged);
	EXPECT_TRUE(ring_close(&self->ring));
	EXPECT_TRUE(wait_user_outstanding(other, 0));
	self->fd = other;
	self->ring.fd = dup(other);
}

enum ending { EXITS, KILLED, EXECUTES, ENDINGS };

/* As returned by waitpid(2). The harness reports "skip" if it only lists its tests. */
static const int results[ENDINGS] = {
	[KILLED]   = SIGKILL,
	[EXECUTES] = KSFT_SKIP << 8,
};

/* A process ends at once, and its commands are cancelled. */
TEST_F(uring_cmd, process_ends)
{
	struct callout_op event = set_op(HOUR, 10 * PENDING);
	unsigned int ending;
	struct ring r;
	pid_t pid;
	int status;

	if (!self->works)
		return;
	EXPECT_EQ(0, do_op(self->fd, &event));
	for (ending = 0; ending < ENDINGS; ending++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			if (!ring_open(&r, variant->flags) ||
			    !set_pending(&r, self->fd, 0, PENDING) ||
			    !wait_outstanding(self->fd, PENDING + 1))
				_exit(1);
			if (ending == KILLED)
				raise(SIGKILL);
			if (ending == EXECUTES) {
				close(STDOUT_FILENO);
				close(STDERR_FILENO);
				execl("/proc/self/exe", "test", "-l", NULL);
			}
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(results[ending], status);
		/* The file's other callouts stay. */
		EXPECT_TRUE(wait_outstanding(self->fd, 1));
		EXPECT_EQ((ending + 1) * PENDING,
			  counts_of(self->fd).cancelled);
	}
}

/* How often the worker that ends rings has gone to sleep; 0 unless there is exactly one. */
static unsigned long exit_sleeps(void)
{
	unsigned long switches = 0;
	unsigned int workers = 0;
	char line[256];
	bool exits;
	glob_t g;
	size_t i;
	FILE *f;

	if (glob("/proc/[0-9]*/status", 0, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc; i++) {
		f = fopen(g.gl_pathv[i], "r");
		/* A worker that has ended a ring, and is idle, has "-" there. */
		exits = f && fgets(line, sizeof(line), f) &&
			strstr(line, "+iou_exit");
		workers += exits;
		while (exits && fgets(line, sizeof(line), f))
			sscanf(line, "voluntary_ctxt_switches: %lu", &switches);
		if (f)
			fclose(f);
	}
	globfree(&g);
	return workers == 1 ? switches : 0;
}

/*
 * Commands that have fired wait for the task that submitted them. While it is
 * stopped and their ring is closed, io_uring asks for their end again and again:
 * its worker must sleep in between, some 20 times a second.
 */
TEST_F(uring_cmd, submitter_is_stopped)
{
	struct callout_op move;
	__u64 limit, key;
	unsigned long before, after;
	int status;
	pid_t pid;

	/* Only the task that has made another kind of ring may submit. */
	if (!self->works || variant->flags)
		return;
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (!set_pending(&self->ring, self->fd, 0, PENDING) ||
		    !ring_close(&self->ring))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	for (key = 0; key < PENDING; key++) {
		move = move_op(0, key);
		EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &move));
	}
	EXPECT_TRUE(wait_outstanding(self->fd, 0));
	EXPECT_EQ(PENDING, counts_of(self->fd).delivered);

	EXPECT_TRUE(ring_close(&self->ring));
	self->ring.fd = dup(self->fd);
	limit = dev_now() + WAIT_MS * MSEC;
	while (!(before = exit_sleeps()) && dev_now() < limit)
		sleep_ns(MSEC);
	EXPECT_LT(0, before);
	sleep_ns(SEC);
	after = exit_sleeps();
	EXPECT_LT(before, after);
	EXPECT_GT(before + 40, after);
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
}

/* A ring can cancel the commands of another ring. Closing it cancels only its own commands. */
TEST_F(uring_cmd, two_rings)
{
	struct callout_op cancel = cancel_op(0);
	struct ring second;
	__u64 data = 0;

	if (!self->works || !may_close(variant->flags))
		return;
	ASSERT_TRUE(ring_open(&second, variant->flags));
	ASSERT_TRUE(set_pending(&self->ring, self->fd, 0, 10));
	ASSERT_TRUE(set_pending(&second, self->fd, 10, 10));
	ASSERT_TRUE(wait_outstanding(self->fd, 20));
	ASSERT_TRUE(submit_one(&second, self->fd, &cancel, 99));
	EXPECT_EQ(CALLOUT_STATE_PENDING, complete(&second, &data, WAIT_MS));
	EXPECT_EQ(99, data);
	EXPECT_EQ(-ECANCELED, complete(&self->ring, &data, WAIT_MS));
	EXPECT_EQ(0, data);
	EXPECT_TRUE(ring_close(&second));
	EXPECT_TRUE(wait_outstanding(self->fd, 9));
	EXPECT_EQ(-ETIME, complete(&self->ring, NULL, 5));
}

/*
 * Commands fire while another ring and the ioctls cancel and move them: each
 * completes exactly once, and is cancelled if and only if a cancel reports
 * success.
 */
#define KEYS		64
#define ROUNDS		300

struct canceller {
	int fd;
	bool by_ring;
	atomic_bool stop;
	__u64 cancelled;
	bool failed;
};

static void *canceller(void *arg)
{
	struct canceller *c = arg;
	unsigned int seed = 1;
	struct callout_op op;
	struct ring r;
	int ret;

	if (!ring_open(&r, 0))
		c->failed = true;
	while (!c->failed && !c->stop) {
		op = cancel_op(rand_r(&seed) % KEYS);
		if (rand_r(&seed) % 4 == 0)
			op = move_op(rand_r(&seed) % 300000, op.key);
		if (c->by_ring)
			ret = command(&r, c->fd, &op, NULL);
		else
			ret = do_op(c->fd, &op);
		if (ret == CALLOUT_STATE_PENDING && op.op == CALLOUT_OP_CANCEL)
			c->cancelled++;
		else if (ret != CALLOUT_STATE_PENDING && ret != -ENOENT)
			c->failed = true;
	}
	ring_close(&r);
	return NULL;
}

TEST_F(uring_cmd, stress)
{
	struct canceller c[2] = { { .fd = self->fd, .by_ring = true },
				  { .fd = self->fd } };
	static struct callout_op ops[KEYS];
	unsigned int round, i, seed = 2;
	__u64 fired = 0, cancelled = 0, data;
	pthread_t thread[2];
	bool seen[KEYS];
	int ret;

	if (!self->works)
		return;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, canceller, &c[i]));
	for (round = 0; round < ROUNDS; round++) {
		memset(seen, 0, sizeof(seen));
		for (i = 0; i < KEYS; i++) {
			ops[i] = set_op(rand_r(&seed) % 300000, i);
			queue(&self->ring, self->fd, &ops[i], i);
		}
		ASSERT_TRUE(submit(&self->ring));
		/* Wait for all commands at once, or for one after the other. */
		if (round & 1)
			ASSERT_TRUE(wait_for(&self->ring, KEYS, -1));
		for (i = 0; i < KEYS; i++) {
			ret = complete(&self->ring, &data, WAIT_MS);
			ASSERT_TRUE(ret == 0 || ret == -ECANCELED);
			ASSERT_GT(KEYS, data);
			ASSERT_FALSE(seen[data]);
			seen[data] = true;
			fired += !ret;
			cancelled += ret == -ECANCELED;
		}
	}
	for (i = 0; i < 2; i++)
		c[i].stop = true;
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, pthread_join(thread[i], NULL));
		EXPECT_FALSE(c[i].failed);
	}
	TH_LOG("fired %llu, cancelled %llu", fired, cancelled);
	EXPECT_EQ(cancelled, c[0].cancelled + c[1].cancelled);
	EXPECT_EQ(fired, counts_of(self->fd).delivered);
	EXPECT_EQ(cancelled, counts_of(self->fd).cancelled);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_HARNESS_MAIN
