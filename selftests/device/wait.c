// SPDX-License-Identifier: GPL-2.0
/*
 * wait.c - how a BATCH waits: clocks, the least number of events, the signal mask
 */
#include <pthread.h>
#include <sys/wait.h>

#include "lib/fixture.h"

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
};

/* A batch that waits for @time of @clock, with room for @n events. */
static struct callout_batch batch_until(struct callout_event *events,
					unsigned int n, clockid_t clock,
					__u64 time)
{
	struct callout_batch b = with_events(batch_of(NULL, 0), events, n,
					     CALLOUT_BATCHF_WAIT, time);

	b.clockid = clock;
	return b;
}

/* A wait ends at its deadline and not before, in each clock. */
TEST_F(file, deadline)
{
	struct callout_event e;
	struct callout_batch b;
	unsigned int i, abs;
	__u64 end;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		for (abs = 0; abs < 2; abs++) {
			end = now_of(clocks[i]) + 20 * MSEC;
			b = batch_until(&e, 1, clocks[i], abs ? end : 20 * MSEC);
			b.flags |= abs ? CALLOUT_BATCHF_ABSTIME : 0;
			ASSERT_EQ(0, do_batch(self->fd, &b));
			EXPECT_EQ(0, b.got);
			EXPECT_LE(end, now_of(clocks[i]));
		}
		/* A batch with a deadline that has passed does not wait. */
		b = batch_until(&e, 1, clocks[i], 1);
		b.flags |= CALLOUT_BATCHF_ABSTIME;
		ASSERT_EQ(0, do_batch(self->fd, &b));
		EXPECT_EQ(0, b.got);
	}
}

/* The structure may be longer than the kernel's, if the rest is 0. */
TEST_F(file, longer_structure)
{
	static const unsigned int sizes[] = {
		CALLOUT_BATCH_SIZE_V1 + 8, 104, CALLOUT_SIZE_MAX,
	};
	union {
		struct callout_batch batch;
		char space[CALLOUT_SIZE_MAX];
	} u = { 0 };
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u.batch = batch_until(&e, 1, CLOCK_MONOTONIC, HOUR);
		ASSERT_NE(0, set(self->fd, 0, i));
		EXPECT_EQ(0, dev_ioctl(self->fd,
				       _IOC(_IOC_READ | _IOC_WRITE,
					    CALLOUT_IOC_MAGIC,
					    _IOC_NR(CALLOUT_IOC_BATCH),
					    sizes[i]), &u));
		ASSERT_EQ(1, u.batch.got);
		EXPECT_EQ(i, e.cookie);
	}
}

/* An event ends a wait with a far deadline, or without one. */
TEST_F(file, event)
{
	static const __u64 times[] = { HOUR, TIME_MAX, CALLOUT_FOREVER };
	struct callout_event e;
	struct callout_batch b;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		for (j = 0; j < ARRAY_SIZE(times); j++) {
			ASSERT_NE(0, set(self->fd, MSEC, j));
			b = batch_until(&e, 1, clocks[i], times[j]);
			ASSERT_EQ(0, do_batch(self->fd, &b));
			ASSERT_EQ(1, b.got);
			EXPECT_EQ(j, e.cookie);
		}
	}
}

/* The wait continues until the least number of events was read. */
TEST_F(file, min_events)
{
	struct callout_event e[4];
	struct callout_batch b;
	unsigned int i;

	for (i = 0; i < 3; i++)
		ASSERT_NE(0, set(self->fd, 10 * i * MSEC, i));
	/* The least number is the room for events. */
	b = batch_until(e, 3, CLOCK_MONOTONIC, HOUR);
	b.min_events = 3;
	ASSERT_EQ(0, do_batch(self->fd, &b));
	ASSERT_EQ(3, b.got);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(i, e[i].cookie);

	/* At the deadline the events that came in time are returned. */
	ASSERT_NE(0, set(self->fd, 0, 4));
	ASSERT_NE(0, set(self->fd, HOUR, 5));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	b = batch_until(e, 4, CLOCK_MONOTONIC, 50 * MSEC);
	b.min_events = 3;
	ASSERT_EQ(0, do_batch(self->fd, &b));
	ASSERT_EQ(1, b.got);
	EXPECT_EQ(4, e[0].cookie);

	/* A signal ends the wait for more events, and loses none. */
	ASSERT_NE(0, set(self->fd, 0, 6));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(interrupt_by(SIGALRM, SA_RESTART));
	ASSERT_TRUE(send_alarms(20000));
	b = batch_until(e, 4, CLOCK_MONOTONIC, CALLOUT_FOREVER);
	b.min_events = 3;
	EXPECT_EQ(0, do_batch(self->fd, &b));
	ASSERT_TRUE(send_alarms(0));
	ASSERT_EQ(1, b.got);
	EXPECT_EQ(6, e[0].cookie);
}

static sig_atomic_t signals, was_blocked;

static void count_signal(int sig)
{
	sigset_t now;

	signals++;
	/* The mask of the wait applies in the handler. */
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	was_blocked = sigismember(&now, SIGUSR2);
}

static bool is_blocked(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, sig);
}

/* A batch that waits with the signal mask @during. */
static struct callout_batch batch_masked(struct callout_event *e, __u64 time,
					 const sigset_t *during)
{
	struct callout_batch b = batch_until(e, 1, CLOCK_MONOTONIC, time);

	b.sigmask = (uintptr_t)during;
	b.sigmask_size = 8;
	return b;
}

/* A signal that is blocked except during the wait ends the wait. */
TEST_F(file, signal_mask)
{
	struct sigaction action = { .sa_handler = count_signal };
	sigset_t blocked, during;
	struct callout_event e;
	struct callout_batch b;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	ASSERT_EQ(0, pthread_sigmask(SIG_BLOCK, &blocked, NULL));
	sigemptyset(&during);
	sigaddset(&during, SIGUSR2);

	ASSERT_EQ(0, raise(SIGUSR1));
	ASSERT_EQ(0, signals);
	b = batch_masked(&e, CALLOUT_FOREVER, &during);
	EXPECT_EQ(-EINTR, do_batch(self->fd, &b));
	EXPECT_EQ(0, b.got);
	EXPECT_EQ(1, signals);
	EXPECT_EQ(1, was_blocked);
	EXPECT_TRUE(is_blocked(SIGUSR1));
	EXPECT_FALSE(is_blocked(SIGUSR2));

	/* Without a wait the mask is restored too, and no handler was called. */
	ASSERT_NE(0, set(self->fd, 0, 1));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	b = batch_masked(&e, CALLOUT_FOREVER, &during);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(1, b.got);
	EXPECT_TRUE(is_blocked(SIGUSR1));
	EXPECT_FALSE(is_blocked(SIGUSR2));

	/* The mask is restored also after a wait that times out. */
	b = batch_masked(&e, MSEC, &during);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(0, b.got);
	EXPECT_TRUE(is_blocked(SIGUSR1));
	EXPECT_FALSE(is_blocked(SIGUSR2));
	EXPECT_EQ(1, signals);
}

/* A signal that the wait blocks does not end the wait. The signal comes afterwards. */
TEST_F(file, signal_blocked_during_the_wait)
{
	struct sigaction action = { .sa_handler = count_signal };
	sigset_t during;
	struct callout_event e;
	struct callout_batch b;

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	sigfillset(&during);
	ASSERT_TRUE(send_alarms(1000));
	b = batch_masked(&e, 50 * MSEC, &during);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	ASSERT_TRUE(send_alarms(0));
	EXPECT_EQ(0, b.got);
	EXPECT_LT(0, signals);
	EXPECT_FALSE(is_blocked(SIGALRM));
}

/* A child that waits for ever, with all signals blocked during the wait. */
static pid_t fork_deaf(int fd)
{
	struct callout_event e;
	struct callout_batch b;
	sigset_t during;
	pid_t child;

	/* The C library's sigfillset() leaves out the library's own signals. */
	memset(&during, 0xff, sizeof(during));
	b = batch_masked(&e, CALLOUT_FOREVER, &during);
	child = fork();
	if (!child) {
		do_batch(fd, &b);
		_exit(0);
	}
	return child;
}

/* Did a child end, or stop, before long? */
static bool child_changes(pid_t child, int *status)
{
	return wait_until(waitpid(child, status, WNOHANG | WUNTRACED));
}

/* No mask blocks SIGSTOP and SIGKILL. */
TEST_F(file, stop_and_kill_during_the_wait)
{
	int status = 0;
	pid_t child;

	child = fork_deaf(self->fd);
	ASSERT_LT(0, child);
	ASSERT_TRUE(sleeps(child));
	EXPECT_EQ(0, kill(child, SIGSTOP));
	ASSERT_TRUE(child_changes(child, &status));
	EXPECT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(child, waitpid(child, &status, 0));

	child = fork_deaf(self->fd);
	ASSERT_LT(0, child);
	ASSERT_TRUE(sleeps(child));
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_TRUE(child_changes(child, &status));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_HARNESS_MAIN
