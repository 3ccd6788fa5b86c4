// SPDX-License-Identifier: GPL-2.0
/*
 * wait.c - BATCH with a struct callout_wait
 */
#include <pthread.h>
#include <sys/wait.h>

#include "lib/fixture.h"

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
};

/* A batch that waits as @wait says. */
static struct callout_batch batch_until(struct callout_event *events,
					unsigned int n,
					const struct callout_wait *wait)
{
	struct callout_batch b = with_events(batch_of(NULL, 0), events, n,
					     CALLOUT_BATCH_WAIT, 0);

	b.wait = (uintptr_t)wait;
	b.wait_size = sizeof(*wait);
	return b;
}

/* A wait ends at its deadline and not before, in each clock. */
TEST_F(file, deadline)
{
	struct callout_wait wait;
	struct callout_event e;
	struct callout_batch b;
	unsigned int i, abs;
	__u64 end;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		for (abs = 0; abs < 2; abs++) {
			end = now_of(clocks[i]) + 20 * MSEC;
			wait = (struct callout_wait){
				.time = abs ? end : 20 * MSEC,
				.clockid = clocks[i],
				.flags = abs ? CALLOUT_WAIT_ABSTIME : 0,
			};
			b = batch_until(&e, 1, &wait);
			ASSERT_EQ(0, do_batch(self->fd, &b));
			EXPECT_EQ(0, b.got);
			EXPECT_LE(end, now_of(clocks[i]));
		}
		/* A deadline that has passed: nothing waits. */
		wait.time = 1;
		b = batch_until(&e, 1, &wait);
		ASSERT_EQ(0, do_batch(self->fd, &b));
		EXPECT_EQ(0, b.got);
	}
}

/* A structure may be longer than the kernel's, if the rest is 0. */
TEST_F(file, longer_structure)
{
	struct {
		struct callout_wait wait;
		char more[CALLOUT_SIZE_MAX - sizeof(struct callout_wait)];
	} w = { .wait = { .time = MSEC, .clockid = CLOCK_MONOTONIC } };
	struct callout_event e;
	struct callout_batch b = batch_until(&e, 1, &w.wait);

	b.wait_size = sizeof(w.wait) + 8;
	EXPECT_EQ(0, do_batch(self->fd, &b));
	b.wait_size = sizeof(w);
	EXPECT_EQ(0, do_batch(self->fd, &b));
}

/* An event ends a wait that has a far deadline, or none. */
TEST_F(file, event)
{
	static const __u64 times[] = { HOUR, TIME_MAX, CALLOUT_FOREVER };
	struct callout_wait wait;
	struct callout_event e;
	struct callout_batch b;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		for (j = 0; j < ARRAY_SIZE(times); j++) {
			wait = (struct callout_wait){
				.time = times[j],
				.clockid = clocks[i],
			};
			ASSERT_NE(0, set(self->fd, MSEC, j));
			b = batch_until(&e, 1, &wait);
			ASSERT_EQ(0, do_batch(self->fd, &b));
			ASSERT_EQ(1, b.got);
			EXPECT_EQ(j, e.cookie);
		}
	}
}

/* The wait goes on until the least number of events was read. */
TEST_F(file, min_events)
{
	struct callout_wait wait = {
		.time = HOUR,
		.clockid = CLOCK_MONOTONIC,
		.min_events = 3,
	};
	struct callout_event e[4];
	struct callout_batch b;
	unsigned int i;

	for (i = 0; i < 3; i++)
		ASSERT_NE(0, set(self->fd, 10 * i * MSEC, i));
	/* As many as there is room for. */
	b = batch_until(e, 3, &wait);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	ASSERT_EQ(3, b.got);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(i, e[i].cookie);

	/* Those that came in time are enough if no more do. */
	wait.time = 50 * MSEC;
	ASSERT_NE(0, set(self->fd, 0, 4));
	ASSERT_NE(0, set(self->fd, HOUR, 5));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	b = batch_until(e, 4, &wait);
	ASSERT_EQ(0, do_batch(self->fd, &b));
	ASSERT_EQ(1, b.got);
	EXPECT_EQ(4, e[0].cookie);

	/* A signal ends the wait for more, and loses none. */
	wait.time = CALLOUT_FOREVER;
	ASSERT_NE(0, set(self->fd, 0, 6));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_TRUE(interrupt_by(SIGALRM, SA_RESTART));
	ASSERT_TRUE(send_alarms(20000));
	b = batch_until(e, 4, &wait);
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
	/* The mask of the wait holds in the handler. */
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	was_blocked = sigismember(&now, SIGUSR2);
}

static bool is_blocked(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, sig);
}

/* A signal that is blocked except during the wait ends the wait. */
TEST_F(file, signal_mask)
{
	struct sigaction action = { .sa_handler = count_signal };
	sigset_t blocked, during;
	struct callout_wait wait = {
		.time = CALLOUT_FOREVER,
		.clockid = CLOCK_MONOTONIC,
		.sigmask = (uintptr_t)&during,
		.sigmask_size = 8,
	};
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
	b = batch_until(&e, 1, &wait);
	EXPECT_EQ(-EINTR, do_batch(self->fd, &b));
	EXPECT_EQ(0, b.got);
	EXPECT_EQ(1, signals);
	EXPECT_EQ(1, was_blocked);
	EXPECT_TRUE(is_blocked(SIGUSR1));
	EXPECT_FALSE(is_blocked(SIGUSR2));

	/* Without a wait the mask is restored too, and no handler was called. */
	ASSERT_NE(0, set(self->fd, 0, 1));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	b = batch_until(&e, 1, &wait);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(1, b.got);
	EXPECT_TRUE(is_blocked(SIGUSR1));
	EXPECT_FALSE(is_blocked(SIGUSR2));

	/* And after a wait that times out. */
	wait.time = MSEC;
	b = batch_until(&e, 1, &wait);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	EXPECT_EQ(0, b.got);
	EXPECT_TRUE(is_blocked(SIGUSR1));
	EXPECT_FALSE(is_blocked(SIGUSR2));
	EXPECT_EQ(1, signals);
}

/* A signal that the wait blocks does not end it; it comes afterwards. */
TEST_F(file, signal_blocked_during_the_wait)
{
	struct sigaction action = { .sa_handler = count_signal };
	sigset_t during;
	struct callout_wait wait = {
		.time = 50 * MSEC,
		.clockid = CLOCK_MONOTONIC,
		.sigmask = (uintptr_t)&during,
		.sigmask_size = 8,
	};
	struct callout_event e;
	struct callout_batch b;

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	sigfillset(&during);
	ASSERT_TRUE(send_alarms(1000));
	b = batch_until(&e, 1, &wait);
	EXPECT_EQ(0, do_batch(self->fd, &b));
	ASSERT_TRUE(send_alarms(0));
	EXPECT_EQ(0, b.got);
	EXPECT_LT(0, signals);
	EXPECT_FALSE(is_blocked(SIGALRM));
}

/* A child that waits for ever, with all signals blocked meanwhile. */
static pid_t fork_deaf(int fd)
{
	__u64 during = ~0ULL;
	struct callout_wait wait = {
		.time = CALLOUT_FOREVER,
		.clockid = CLOCK_MONOTONIC,
		.sigmask = (uintptr_t)&during,
		.sigmask_size = sizeof(during),
	};
	struct callout_event e;
	struct callout_batch b = batch_until(&e, 1, &wait);
	pid_t child = fork();

	if (!child) {
		do_batch(fd, &b);
		_exit(0);
	}
	return child;
}

/* Has a child ended, or stopped, before long? */
static bool child_changes(pid_t child, int *status)
{
	__u64 limit = callout_dev_now() + WAIT_MS * MSEC;

	while (!waitpid(child, status, WNOHANG | WUNTRACED)) {
		if (callout_dev_now() > limit)
			return false;
		sleep_ns(MSEC);
	}
	return true;
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
