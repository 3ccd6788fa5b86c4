// SPDX-License-Identifier: GPL-2.0
/*
 * life.c - the lifetime of an open file: fork, exec, dup, descriptors in
 * messages, close during calls and expiry, kill, rmmod
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "lib/common.h"

/* Environment variable of the executed program: the descriptor to check. */
#define EXEC_FD		"CALLOUT_SELFTEST_FD"
#define EXEC_COOKIE	42
#define EXEC_CLOSED	9

TEST(duplicated_descriptor)
{
	int copy, fd = dev_open(O_NONBLOCK);
	struct callout_event e;
	__u64 handles[2];

	ASSERT_LE(0, fd);
	copy = dup(fd);
	ASSERT_LE(0, copy);
	ASSERT_EQ(0, dev_set(fd, 0, 20 * MSEC, 1, &handles[0]));
	ASSERT_EQ(0, dev_set(fd, 0, HOUR, 2, &handles[1]));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(1, receive(copy, &e, 1));
	EXPECT_EQ(handles[0], e.handle);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(copy, handles[1]));
	EXPECT_EQ(0, close(copy));
}

static int inherit(int fd, __u64 handle)
{
	struct callout_event e;
	__u64 own;

	if (receive(fd, &e, 1) != 1 || e.cookie != 1)
		return 1;
	if (dev_cancel(fd, handle) != CALLOUT_STATE_PENDING)
		return 2;
	if (dev_set(fd, 0, 10 * MSEC, 3, &own))
		return 3;
	return 0;
}

/* A child shares the file, and its callouts stay in the file. */
TEST(inherited_descriptor)
{
	int status, fd = dev_open(O_NONBLOCK);
	struct callout_event e;
	__u64 handles[2];
	pid_t child;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_set(fd, 0, 50 * MSEC, 1, &handles[0]));
	ASSERT_EQ(0, dev_set(fd, 0, HOUR, 2, &handles[1]));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(inherit(fd, handles[1]));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(1, receive(fd, &e, 1));
	EXPECT_EQ(3, e.cookie);
	EXPECT_EQ(0, info_of(fd).outstanding);
	EXPECT_EQ(0, close(fd));
}

/* A child keeps a file that the parent has closed. */
TEST(inherited_and_closed_by_the_parent)
{
	int status, fd = dev_open(O_NONBLOCK), pipes[2];
	struct callout_event e;
	pid_t child;
	char c;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_NE(0, set(fd, 0, 1));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		close(pipes[1]);
		if (read(pipes[0], &c, 1) ||
		    receive(fd, &e, 1) != 1 || e.cookie != 1 ||
		    !set(fd, MSEC, 2) || receive(fd, &e, 1) != 1)
			_exit(1);
		_exit(e.cookie != 2);
	}
	EXPECT_EQ(0, close(fd));
	close(pipes[1]);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	close(pipes[0]);
}

/* The callouts of a killed process are freed. */
TEST(killed_owner)
{
	int i, j, fd, other = dev_open(O_NONBLOCK);
	pid_t child;

	ASSERT_LE(0, other);
	ASSERT_TRUE(wait_user_outstanding(other, 0));
	for (i = 0; i < 5; i++) {
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			fd = dev_open(0);
			for (j = 0; ; j++)
				set(fd, j % 16 * (j & 1 ? MSEC : HOUR), j);
		}
		sleep_ns(60 * MSEC);
		ASSERT_TRUE(kill_child(child));
		EXPECT_TRUE(wait_user_outstanding(other, 0));
	}
	close(other);
}

/* A waiting reader that is killed takes no event. */
TEST(killed_reader)
{
	int i, fd = dev_open(0);
	struct callout_event e;
	__u64 handle;
	pid_t child;

	ASSERT_LE(0, fd);
	for (i = 0; i < 5; i++) {
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			_exit(dev_read(fd, &e, 1));
		sleep_ns(20 * MSEC);
		ASSERT_TRUE(kill_child(child));
		handle = set(fd, 0, i);
		ASSERT_TRUE(readable_within(fd, WAIT_MS));
		ASSERT_EQ(1, dev_read(fd, &e, 1));
		EXPECT_EQ(handle, e.handle);
	}
	close(fd);
}

/* A killed reader takes only events that its read() has delivered. */
TEST(killed_in_the_middle_of_reading)
{
	enum { N = 3000 };
	int i, j, fd = dev_open(0);
	struct callout_event e[8];
	struct counts counts;
	pid_t child;

	ASSERT_LE(0, fd);
	for (i = 0; i < 5; i++) {
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			for (;;)
				dev_read(fd, e, ARRAY_SIZE(e));
		for (j = 0; j < N; j++)
			ASSERT_NE(0, set(fd, j % 16 * MSEC, j));
		ASSERT_TRUE(kill_child(child));
		while (info_of(fd).outstanding) {
			ASSERT_TRUE(readable_within(fd, WAIT_MS));
			ASSERT_LT(0, dev_read(fd, e, ARRAY_SIZE(e)));
		}
	}
	counts = counts_of(fd);
	EXPECT_EQ(5 * N, counts.set);
	EXPECT_EQ(counts.set, counts.delivered);
	close(fd);
}

/* Runs when the tests below execute this program again. */
static __attribute__((constructor)) void after_exec(void)
{
	const char *name = getenv(EXEC_FD);
	struct callout_event e;
	int fd;

	if (!name)
		return;
	fd = atoi(name);
	if (fcntl(fd, F_GETFD) < 0)
		_exit(EXEC_CLOSED);
	_exit(receive(fd, &e, 1) != 1 || e.cookie != EXEC_COOKIE);
}

/* Execute this program to check @fd. Return its exit status. */
static int exec_with(int fd)
{
	char name[16];
	int status;
	pid_t child = fork();

	if (!child) {
		snprintf(name, sizeof(name), "%d", fd);
		setenv(EXEC_FD, name, 1);
		execl("/proc/self/exe", "device_life", NULL);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

TEST(exec)
{
	int fd = dev_open(O_NONBLOCK);

	ASSERT_LE(0, fd);
	ASSERT_NE(0, set(fd, 10 * MSEC, EXEC_COOKIE));
	EXPECT_EQ(EXEC_CLOSED, exec_with(fd));
	EXPECT_EQ(1, info_of(fd).outstanding);
	ASSERT_EQ(0, fcntl(fd, F_SETFD, 0));
	EXPECT_EQ(0, exec_with(fd));
	EXPECT_EQ(0, info_of(fd).outstanding);
	close(fd);
}

/* With O_CLOEXEC, exec() frees the callouts of the only owner. */
TEST(exec_of_the_only_owner)
{
	int status, other = dev_open(O_NONBLOCK);
	pid_t child;

	ASSERT_LE(0, other);
	ASSERT_TRUE(wait_user_outstanding(other, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int fd = dev_open(O_NONBLOCK);

		if (!set(fd, HOUR, 1) || !info_of(other).user_charged)
			_exit(1);
		setenv(EXEC_FD, "-1", 1);
		execl("/proc/self/exe", "device_life", NULL);
		_exit(127);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(EXEC_CLOSED, WEXITSTATUS(status));
	EXPECT_TRUE(wait_user_outstanding(other, 0));
	close(other);
}

/* A control message with a descriptor. */
union message {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

static struct msghdr message_of(union message *m, struct iovec *iov)
{
	return (struct msghdr){
		.msg_iov = iov,
		.msg_iovlen = 1,
		.msg_control = m,
		.msg_controllen = sizeof(*m),
	};
}

static bool send_fd(int sock, int fd)
{
	struct iovec iov = { .iov_base = "x", .iov_len = 1 };
	union message m = { 0 };
	struct msghdr msg = message_of(&m, &iov);

	m.header.cmsg_level = SOL_SOCKET;
	m.header.cmsg_type = SCM_RIGHTS;
	m.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&m.header), &fd, sizeof(fd));
	return sendmsg(sock, &msg, 0) == 1;
}

static int receive_fd(int sock)
{
	char c;
	struct iovec iov = { .iov_base = &c, .iov_len = 1 };
	union message m = { 0 };
	struct msghdr msg = message_of(&m, &iov);
	int fd = -1;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) == 1 &&
	    m.header.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&m.header), sizeof(fd));
	return fd;
}

static int give_away(int sock)
{
	int fd = dev_open(O_NONBLOCK);

	if (fd < 0 || !set(fd, 20 * MSEC, 1) || !set(fd, HOUR, 2))
		return 1;
	return !send_fd(sock, fd);
}

TEST(received_descriptor)
{
	int status, fd, pair[2];
	struct callout_event e;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(give_away(pair[1]));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	fd = receive_fd(pair[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, receive(fd, &e, 1));
	EXPECT_EQ(1, e.cookie);
	EXPECT_EQ(1, info_of(fd).outstanding);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

/* A file to which only a message refers is freed with the message. */
TEST(descriptor_that_is_never_received)
{
	int fd, other = dev_open(O_NONBLOCK), pair[2];

	ASSERT_LE(0, other);
	ASSERT_TRUE(wait_user_outstanding(other, 0));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_NE(0, set(fd, HOUR, 1));
	ASSERT_NE(0, set(fd, 20 * MSEC, 1));
	ASSERT_TRUE(send_fd(pair[1], fd));
	EXPECT_EQ(0, close(fd));
	sleep_ns(50 * MSEC);
	EXPECT_LE(2, info_of(other).user_charged);
	close(pair[0]);
	close(pair[1]);
	EXPECT_TRUE(wait_user_outstanding(other, 0));
	close(other);
}

/* A thread that waits in a call when the descriptor is closed stays in the call. */
struct waiter {
	int fd;
	atomic_int tid;
	bool polls;
	int result;
	struct callout_event e;
	pthread_t thread;
};

/* The state of a thread of this process: R, S and so on; 0 when it has ended. */
static char thread_state(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state;
}

static void *wait_for_event(void *arg)
{
	struct waiter *w = arg;
	struct callout_batch b = batch_wait(&w->e, CALLOUT_FOREVER);

	w->tid = syscall(SYS_gettid);
	if (w->polls) {
		struct pollfd p = { .fd = w->fd, .events = POLLIN };

		/* poll() is woken by the event, and finds the descriptor closed. */
		w->result = poll(&p, 1, WAIT_MS);
		return NULL;
	}
	if (w->e.cookie)
		w->result = do_batch(w->fd, &b) ?: (int)b.got;
	else
		w->result = dev_read(w->fd, &w->e, 1);
	return NULL;
}

TEST(close_while_another_waits)
{
	int other = dev_open(O_NONBLOCK);
	int i;

	ASSERT_LE(0, other);
	ASSERT_TRUE(wait_user_outstanding(other, 0));
	for (i = 0; i < 3; i++) {
		/* The thread waits in poll(), read() or BATCH. */
		struct waiter w = { .polls = !i, .e.cookie = i == 2 };

		w.fd = dev_open(0);
		ASSERT_LE(0, w.fd);
		ASSERT_NE(0, set(w.fd, 150 * MSEC, 5));
		ASSERT_EQ(0, pthread_create(&w.thread, NULL, wait_for_event,
					    &w));
		while (!w.tid || thread_state(w.tid) == 'R')
			sleep_ns(MSEC);
		EXPECT_EQ(0, close(w.fd));
		pthread_join(w.thread, NULL);
		EXPECT_EQ(1, w.result) {
			TH_LOG("%d", i);
		}
		if (!w.polls)
			EXPECT_EQ(5, w.e.cookie);
		EXPECT_TRUE(wait_user_outstanding(other, 0));
	}
	close(other);
}

#define BURST		100000U
#define BURST_BATCH	10000U

/* Open a file with BURST callouts that are due at @due. Return -1 if they could not be set. */
static int open_burst(__u64 due)
{
	static struct callout_op ops[BURST_BATCH];
	int fd = dev_open(O_NONBLOCK);
	unsigned int i;

	for (i = 0; fd >= 0 && i < BURST; i++) {
		ops[i % BURST_BATCH] = callout_op_set(due, i);
		ops[i % BURST_BATCH].flags = CALLOUT_OPF_ABSTIME;
		if (i % BURST_BATCH == BURST_BATCH - 1 &&
		    do_ops(fd, ops, BURST_BATCH) != BURST_BATCH)
			return -1;
	}
	return fd;
}

/* Wait until @n callouts of the burst, or all, have fired. Return how many have. */
static __u64 wait_fired(int fd, __u64 n)
{
	__u64 limit = dev_now() + WAIT_MS * MSEC, fired;

	do
		fired = info_of(fd).unread;
	while (fired < n && dev_now() < limit);
	return fired;
}

FIXTURE(burst) {
	int other;
};

FIXTURE_SETUP(burst)
{
	self->other = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->other);
}

FIXTURE_TEARDOWN(burst)
{
	EXPECT_EQ(0, close(self->other));
}

/*
 * A file may be closed while 100 000 of its callouts expire, when some have fired
 * and others have not. A slow machine takes minutes.
 */
TEST_F_TIMEOUT(burst, close_while_a_hundred_thousand_expire, 300)
{
	static const __u64 when[] = { 1, BURST / 10, BURST / 2 };
	__u64 headroom = 400 * MSEC, due, fired;
	unsigned int i;
	int fd;

	ASSERT_TRUE(wait_user_outstanding(self->other, 0));
	for (i = 0; i < ARRAY_SIZE(when); i += fired < BURST) {
		/* Setting the callouts, or noticing that they fire, may take longer. */
		headroom *= 2;
		ASSERT_GT(60 * SEC, headroom);
		due = dev_now() + headroom;
		fd = open_burst(due);
		ASSERT_LE(0, fd);
		if (dev_now() < due)
			sleep_ns(due - dev_now());
		fired = wait_fired(fd, when[i]);
		ASSERT_LE(when[i], fired);
		EXPECT_EQ(0, close(fd));
		EXPECT_TRUE(wait_user_outstanding(self->other, 0));
	}
}

TEST(the_module_stays_while_a_file_is_open)
{
	int fd = dev_open(O_NONBLOCK);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, syscall(__NR_delete_module, "callout", O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	EXPECT_NE(0, set(fd, 0, 1));
	EXPECT_TRUE(readable_within(fd, WAIT_MS));
	close(fd);
}

TEST_HARNESS_MAIN
