// SPDX-License-Identifier: GPL-2.0
/*
 * deliver.c - delivery of events: signals, eventfd, epoll's edges, and
 * arrays of every size
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

#include "lib/fixture.h"

/* Time in which no second signal may come. */
#define QUIET		(50 * MSEC)

/* From now on @sig is sent when @fd becomes readable; it is blocked. */
static bool want_signal(int fd, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig ? sig : SIGIO);
	return !sigprocmask(SIG_BLOCK, &set, NULL) &&
	       !fcntl(fd, F_SETOWN, getpid()) &&
	       (!sig || !fcntl(fd, F_SETSIG, sig)) &&
	       !fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
}

/* Returns whether @sig came within @ns. */
static bool wait_signal(int sig, siginfo_t *info, __u64 ns)
{
	struct timespec ts = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	return sigtimedwait(&set, info, &ts) == sig;
}

/* Sets @n callouts and waits until they are unread. */
static bool fire(int fd, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!set(fd, i * MSEC, i))
			return false;
	return wait_unread(fd, n);
}

TEST_F(file, signal)
{
	struct callout_event e[5];
	siginfo_t info;
	int i;

	ASSERT_TRUE(want_signal(self->fd, SIGRTMIN + 1));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(fire(self->fd, 5));
		ASSERT_TRUE(wait_signal(SIGRTMIN + 1, &info, WAIT_MS * MSEC));
		EXPECT_EQ(self->fd, info.si_fd);
		EXPECT_EQ(POLL_IN, info.si_code);
		EXPECT_EQ(POLLIN | POLLRDNORM, info.si_band);
		/* One signal for all that came while some were unread. */
		EXPECT_FALSE(wait_signal(SIGRTMIN + 1, &info, QUIET));
		ASSERT_EQ(5, receive(self->fd, e, 5));
	}
}

/* After a withdrawal that leaves no event unread, the next one is signalled. */
TEST_F(file, signal_after_withdrawal)
{
	siginfo_t info;
	__u64 handle;
	int i;

	ASSERT_TRUE(want_signal(self->fd, SIGRTMIN + 1));
	for (i = 0; i < 3; i++) {
		handle = set(self->fd, 0, i);
		ASSERT_TRUE(wait_signal(SIGRTMIN + 1, &info, WAIT_MS * MSEC));
		ASSERT_EQ(CALLOUT_WITHDRAWN,
			  callout_dev_unset(self->fd, handle));
	}
	EXPECT_FALSE(wait_signal(SIGRTMIN + 1, &info, QUIET));
}

TEST_F(file, signal_is_sigio_by_default)
{
	siginfo_t info;

	ASSERT_TRUE(want_signal(self->fd, 0));
	ASSERT_TRUE(fire(self->fd, 1));
	EXPECT_TRUE(wait_signal(SIGIO, &info, WAIT_MS * MSEC));
}

TEST_F(file, signal_is_turned_off)
{
	siginfo_t info;

	ASSERT_TRUE(want_signal(self->fd, SIGRTMIN + 1));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	ASSERT_TRUE(fire(self->fd, 2));
	EXPECT_FALSE(wait_signal(SIGRTMIN + 1, &info, QUIET));
}

TEST_F(file, signal_of_a_closed_file)
{
	int fd = callout_dev_open(O_NONBLOCK);
	siginfo_t info;

	ASSERT_LE(0, fd);
	ASSERT_TRUE(want_signal(fd, SIGRTMIN + 1));
	ASSERT_NE(0, set(fd, 20 * MSEC, 1));
	/* Under slow emulation it may have fired by now. */
	if (!close(fd) && !wait_signal(SIGRTMIN + 1, &info, 0))
		EXPECT_FALSE(wait_signal(SIGRTMIN + 1, &info, 2 * QUIET));
}

/* A process that only waits for signals, as of setitimer(), gets all events. */
TEST_F(file, signals_of_many)
{
	enum { N = 2000 };
	static unsigned char seen[N];
	static struct callout_event e[64];
	unsigned int got = 0, signals = 0;
	siginfo_t info;
	int i, n;

	ASSERT_TRUE(want_signal(self->fd, SIGRTMIN + 1));
	for (i = 0; i < N; i++)
		ASSERT_NE(0, set(self->fd, i % 50 * 4 * MSEC, i));
	while (got < N) {
		ASSERT_TRUE(wait_signal(SIGRTMIN + 1, &info, WAIT_MS * MSEC));
		signals++;
		while ((n = callout_dev_read(self->fd, e, ARRAY_SIZE(e))) > 0)
			for (i = 0; i < n; i++, got++)
				EXPECT_EQ(0, seen[e[i].cookie]++);
	}
	EXPECT_GE(N, signals);
}

/* If many files send one signal, si_fd is the file's descriptor. */
TEST_F(file, signals_of_many_files)
{
	enum { FILES = 20 };
	bool seen[FILES] = { 0 };
	int i, fds[FILES];
	siginfo_t info;

	for (i = 0; i < FILES; i++) {
		fds[i] = callout_dev_open(O_NONBLOCK);
		ASSERT_LE(0, fds[i]);
		ASSERT_TRUE(want_signal(fds[i], SIGRTMIN + 2));
		ASSERT_NE(0, set(fds[i], (FILES - i) * MSEC, i));
	}
	for (i = 0; i < FILES; i++) {
		ASSERT_TRUE(wait_signal(SIGRTMIN + 2, &info, WAIT_MS * MSEC));
		ASSERT_LE(fds[0], info.si_fd);
		ASSERT_GE(fds[FILES - 1], info.si_fd);
		EXPECT_FALSE(seen[info.si_fd - fds[0]]);
		seen[info.si_fd - fds[0]] = true;
	}
	for (i = 0; i < FILES; i++)
		EXPECT_EQ(0, close(fds[i]));
}

/* Waits for the eventfd; returns its count. */
static __u64 take(int efd, int ms)
{
	__u64 value;

	if (!readable_within(efd, ms))
		return 0;
	return read(efd, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

TEST_F(file, eventfd)
{
	int efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), i;
	struct callout_event e[5];

	ASSERT_LE(0, efd);
	ASSERT_EQ(0, set_eventfd(self->fd, efd));
	EXPECT_EQ(0, take(efd, 10));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(fire(self->fd, 5));
		EXPECT_EQ(1, take(efd, WAIT_MS));
		ASSERT_EQ(5, receive(self->fd, e, 5));
	}
	EXPECT_EQ(0, take(efd, 10));

	/* The eventfd counts how often the file became readable. */
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(fire(self->fd, 2));
		ASSERT_EQ(2, receive(self->fd, e, 2));
	}
	EXPECT_EQ(2, take(efd, WAIT_MS));
	close(efd);
}

TEST_F(file, eventfd_is_replaced_and_removed)
{
	int efds[2], i;
	struct callout_event e;

	for (i = 0; i < 2; i++) {
		efds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		ASSERT_LE(0, efds[i]);
		ASSERT_EQ(0, set_eventfd(self->fd, efds[i]));
	}
	ASSERT_TRUE(fire(self->fd, 1));
	EXPECT_EQ(1, take(efds[1], WAIT_MS));
	EXPECT_EQ(0, take(efds[0], 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	ASSERT_EQ(0, set_eventfd(self->fd, -1));
	ASSERT_EQ(0, set_eventfd(self->fd, -1));
	ASSERT_TRUE(fire(self->fd, 1));
	EXPECT_EQ(0, take(efds[1], 20));
	close(efds[0]);
	close(efds[1]);
}

TEST_F(file, eventfd_is_invalid)
{
	int pipes[2], efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), closed;

	ASSERT_LE(0, efd);
	ASSERT_EQ(0, set_eventfd(self->fd, efd));
	ASSERT_EQ(0, pipe(pipes));
	closed = dup(efd);
	close(closed);
	EXPECT_EQ(-EBADF, set_eventfd(self->fd, closed));
	EXPECT_EQ(-EBADF, set_eventfd(self->fd, pipes[0]));
	EXPECT_EQ(-EBADF, set_eventfd(self->fd, self->fd));
	EXPECT_EQ(-EBADF, set_eventfd(self->fd, -2));
	EXPECT_EQ(-EBADF, set_eventfd(self->fd, 1 << 30));
	/* The attached eventfd is kept. */
	ASSERT_TRUE(fire(self->fd, 1));
	EXPECT_EQ(1, take(efd, WAIT_MS));
	close(pipes[0]);
	close(pipes[1]);
	close(efd);
}

/* The device has its own reference to the eventfd. */
TEST_F(file, eventfd_is_closed)
{
	int efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	ASSERT_LE(0, efd);
	ASSERT_EQ(0, set_eventfd(self->fd, efd));
	EXPECT_EQ(0, close(efd));
	EXPECT_TRUE(fire(self->fd, 3));
}

/* An event that could not be copied is signalled again. */
TEST_F(file, eventfd_after_a_bad_buffer)
{
	int efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), i;
	struct callout_event e[2];

	ASSERT_LE(0, efd);
	ASSERT_EQ(0, set_eventfd(self->fd, efd));
	ASSERT_TRUE(fire(self->fd, 1));
	EXPECT_EQ(1, take(efd, WAIT_MS));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-EFAULT, callout_dev_read(self->fd, nowhere(), 1));
		EXPECT_EQ(1, take(efd, 0));
	}
	/* Not while another one stays unread. */
	ASSERT_NE(0, set(self->fd, 0, 1));
	ASSERT_TRUE(wait_unread(self->fd, 2));
	EXPECT_EQ(-EFAULT, callout_dev_read(self->fd, nowhere(), 1));
	EXPECT_EQ(0, take(efd, 0));
	ASSERT_EQ(2, receive(self->fd, e, 2));
	close(efd);
}

TEST_F(file, signal_after_a_bad_buffer)
{
	struct callout_event e;
	siginfo_t info;
	int i;

	ASSERT_TRUE(want_signal(self->fd, SIGRTMIN + 1));
	ASSERT_TRUE(fire(self->fd, 1));
	ASSERT_TRUE(wait_signal(SIGRTMIN + 1, &info, WAIT_MS * MSEC));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-EFAULT, callout_dev_read(self->fd, nowhere(), 1));
		EXPECT_TRUE(wait_signal(SIGRTMIN + 1, &info, 0));
	}
	ASSERT_EQ(1, receive(self->fd, &e, 1));
}

/* An eventfd that is attached while a callout fires is signalled. */
TEST_F(file, attach_races_expiry)
{
	int efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), i;
	unsigned int seed = 1;
	struct callout_event e;

	ASSERT_LE(0, efd);
	for (i = 0; i < 100; i++) {
		ASSERT_NE(0, set(self->fd, 0, i));
		sleep_ns(rand_r(&seed) % (2 * self->tick));
		ASSERT_EQ(0, set_eventfd(self->fd, efd));
		ASSERT_LE(1, take(efd, WAIT_MS));
		ASSERT_EQ(0, set_eventfd(self->fd, -1));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		take(efd, 0);
	}
	close(efd);
}

/*
 * An eventfd is not freed while it is signalled (no use-after-free). An event
 * is unread, so attaching an eventfd signals it; threads of the lowest priority
 * do that again and again. A busy thread preempts them anywhere, for longer
 * than an expedited grace period, while a thread of high priority closes the
 * eventfd and detaches it.
 */
#define RCU_EXPEDITED	"/sys/kernel/rcu_expedited"
#define ATTACH_ROUNDS	400
#define ATTACH_BUSY	(10 * MSEC)
#define ATTACH_IDLE	(MSEC / 2)

struct attach {
	int fd;
	int efd;
	int cpu;
	atomic_bool stop;
	atomic_uint attached;
	atomic_uint wrong;
};

static bool become(const struct attach *a, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return pin_to_cpu(a->cpu) &&
	       !pthread_setschedparam(pthread_self(), policy, &param);
}

static void *attach_again_and_again(void *arg)
{
	struct attach *a = arg;

	a->wrong += !become(a, SCHED_IDLE, 0);
	while (!a->stop) {
		a->wrong += set_eventfd(a->fd, a->efd) != 0;
		a->attached++;
	}
	return NULL;
}

static void *detach_again_and_again(void *arg)
{
	struct attach *a = arg;
	int new;

	a->wrong += !become(a, SCHED_FIFO, 1);
	while (!a->stop) {
		new = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		/* Closes the old one; the descriptor always is an eventfd. */
		a->wrong += new < 0 || dup2(new, a->efd) < 0 || close(new) ||
			    set_eventfd(a->fd, -1);
		sleep_ns(MSEC / 4);
	}
	return NULL;
}

static void *keep_others_from_running(void *arg)
{
	struct attach *a = arg;
	unsigned int seed = 1;
	__u64 end;
	int i;

	a->wrong += !pin_to_cpu(a->cpu);
	for (i = 0; i < ATTACH_ROUNDS; i++) {
		end = callout_dev_now() + ATTACH_BUSY;
		while (callout_dev_now() < end)
			;
		sleep_ns(rand_r(&seed) % ATTACH_IDLE);
	}
	a->stop = true;
	return NULL;
}

TEST_F(file, eventfd_is_closed_while_it_is_signalled)
{
	void *(*functions[])(void *) = {
		keep_others_from_running, detach_again_and_again,
		attach_again_and_again, attach_again_and_again,
		attach_again_and_again, attach_again_and_again,
	};
	pthread_t threads[2][ARRAY_SIZE(functions)];
	struct attach attaches[2] = { 0 };
	unsigned int i, j, expedited;

	ASSERT_TRUE(fire(self->fd, 1));
	ASSERT_TRUE(read_number(RCU_EXPEDITED, &expedited));
	ASSERT_TRUE(write_number(RCU_EXPEDITED, 1));
	for (i = 0; i < 2; i++) {
		attaches[i].fd = self->fd;
		attaches[i].cpu = i;
		attaches[i].efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		ASSERT_LE(0, attaches[i].efd);
		for (j = 0; j < ARRAY_SIZE(functions); j++)
			ASSERT_EQ(0, pthread_create(&threads[i][j], NULL,
						    functions[j],
						    &attaches[i]));
	}
	for (i = 0; i < 2; i++) {
		for (j = 0; j < ARRAY_SIZE(functions); j++)
			pthread_join(threads[i][j], NULL);
		EXPECT_TRUE(attaches[i].wrong == 0);
		TH_LOG("CPU %u: attached %u times", i, attaches[i].attached);
		EXPECT_EQ(0, close(attaches[i].efd));
	}
	EXPECT_TRUE(write_number(RCU_EXPEDITED, expedited));
}

/* The first unread event is one edge. */
TEST_F(file, epoll_edges)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC), i;
	struct callout_event e[5];

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(fire(self->fd, 5));
		EXPECT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 10));
		/* A read that leaves some unread is no edge. */
		ASSERT_EQ(2, receive(self->fd, e, 2));
		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 10));
		ASSERT_EQ(3, receive(self->fd, e, 3));
	}
	close(ep);
}

TEST_F(file, arrays_of_every_size)
{
	enum { LARGEST = 40, N = LARGEST * (LARGEST + 1) / 2 };
	static struct callout_event e[LARGEST + 1];
	static unsigned char seen[N];
	struct callout_op ops[N];
	unsigned int i, size;
	struct iovec one[LARGEST * sizeof(e[0]) / 16];

	for (i = 0; i < N; i++)
		ops[i] = callout_op_set(0, i);
	ASSERT_EQ(N, do_ops(self->fd, ops, N));
	ASSERT_TRUE(wait_unread(self->fd, N));
	for (size = 1; size <= LARGEST; size++) {
		memset(e, 0x55, sizeof(e));
		if (size & 1) {
			/* Not quite room for one more. */
			ASSERT_EQ((ssize_t)(size * sizeof(e[0])),
				  read(self->fd, e, (size + 1) * sizeof(e[0]) -
						    1));
		} else {
			for (i = 0; i < size * sizeof(e[0]) / 16; i++)
				one[i] = (struct iovec){
					.iov_base = (char *)e + i * 16,
					.iov_len = 16,
				};
			ASSERT_EQ((ssize_t)(size * sizeof(e[0])),
				  readv(self->fd, one, i));
		}
		for (i = 0; i < size; i++) {
			ASSERT_GT(N, e[i].cookie);
			EXPECT_EQ(0, seen[e[i].cookie]++);
			EXPECT_EQ(ops[e[i].cookie].handle, e[i].handle);
		}
		/* Memory behind the events is not written. */
		EXPECT_EQ(0x55555555, e[size].flags);
		EXPECT_EQ(0x5555555555555555, e[size].handle);
	}
	EXPECT_FALSE(readable(self->fd));
}

TEST_HARNESS_MAIN
