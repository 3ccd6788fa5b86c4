// SPDX-License-Identifier: GPL-2.0
/*
 * wait_set.c - BATCH waits while CLOCK_REALTIME is set forward and back
 */
#include <sys/wait.h>

#include "lib/realtime.h"

/* A process that waits in a batch, for an event that does not come. */
struct waiter {
	__u64 time;
	clockid_t clockid;
	__u32 flags;	/* CALLOUT_BATCHF_ABSTIME or 0 */
	__u64 end;	/* CLOCK_MONOTONIC: the wait must not end before */
	pid_t pid;
};

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
};

/* The exit status: 0 if the wait ended without an event, and not before @end. */
static int wait_in_batch(int fd, const struct waiter *w)
{
	struct callout_event e;
	struct callout_batch b = with_events(batch_of(NULL, 0), &e, 1,
					     CALLOUT_BATCHF_WAIT | w->flags,
					     w->time);

	b.clockid = w->clockid;
	if (do_batch(fd, &b))
		return 1;
	if (dev_now() < w->end)
		return 2;
	return b.got ? 3 : 0;
}

/* Return when the process sleeps in its wait, or has ended it. */
static bool start(int fd, struct waiter *w)
{
	w->pid = fork();
	if (!w->pid)
		_exit(wait_in_batch(fd, w));
	if (w->pid < 0)
		return false;
	while (state_of(w->pid) != 'S' && state_of(w->pid) != 'Z')
		sleep_ns(MSEC);
	return true;
}

static bool still_waits(struct waiter *w)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, w->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       !info.si_pid;
}

/* Return the exit status, or -1 if the wait does not end. */
static int end(struct waiter *w)
{
	bool ended = wait_until(!still_waits(w));
	int status;

	if (!ended)
		kill(w->pid, SIGKILL);
	waitpid(w->pid, &status, 0);
	return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Set the clock during a wait of @clock, by @by. Return the result of end().
 * The longer the setting of the clock takes, the longer is the wait.
 */
static int set_during(int fd, clockid_t clock, bool abs, __s64 by)
{
	struct waiter w;
	__u64 time;
	bool met;
	int ret;

	for (time = 100 * MSEC;; time *= 2) {
		w = (struct waiter){ .clockid = clock };
		w.end = dev_now() + time;
		w.time = time;
		if (abs) {
			w.time += now_of(clock);
			w.flags = CALLOUT_BATCHF_ABSTIME;
		}
		if (!start(fd, &w) || !step(by))
			return -1;
		met = still_waits(&w);
		ret = end(&w);
		if (ret || met)
			return ret;
	}
}

/* Relative waits, and absolute ones of other clocks, take as long as they should. */
TEST_F(realtime, others_stay)
{
	unsigned int i;
	int by;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		for (by = -1; by <= 1; by += 2) {
			EXPECT_EQ(0, set_during(self->fd, clocks[i], false,
						by * (__s64)HOUR)) {
				TH_LOG("relative, clock %d, %d h", clocks[i], by);
			}
			if (clocks[i] == CLOCK_REALTIME)
				continue;
			EXPECT_EQ(0, set_during(self->fd, clocks[i], true,
						by * (__s64)HOUR)) {
				TH_LOG("absolute, clock %d, %d h", clocks[i], by);
			}
		}
	}
}

/* An absolute wait of CLOCK_REALTIME ends when the clock is set past its time. */
TEST_F(realtime, set_forth)
{
	struct waiter w = {
		.time = real_now() + 2 * HOUR,
		.clockid = CLOCK_REALTIME,
		.flags = CALLOUT_BATCHF_ABSTIME,
	};

	ASSERT_TRUE(start(self->fd, &w));
	ASSERT_TRUE(step(HOUR));
	sleep_ns(50 * MSEC);
	EXPECT_TRUE(still_waits(&w));
	ASSERT_TRUE(step(HOUR));
	EXPECT_EQ(0, end(&w));
	EXPECT_LE(w.time, real_now());
}

/* A wait does not end at its old time if the clock was set back. */
TEST_F(realtime, set_back)
{
	struct waiter w = {
		.clockid = CLOCK_REALTIME,
		.flags = CALLOUT_BATCHF_ABSTIME,
	};
	__u64 after = 100 * MSEC, before;

	for (;; after *= 2) {
		before = dev_now();
		w.time = real_now() + after;
		ASSERT_TRUE(start(self->fd, &w));
		ASSERT_TRUE(step(-HOUR));
		if (dev_now() < before + after)
			break;
		ASSERT_TRUE(step(HOUR));
		EXPECT_EQ(0, end(&w));
	}
	while (dev_now() < before + after + 50 * MSEC)
		sleep_ns(10 * MSEC);
	EXPECT_TRUE(still_waits(&w));
	ASSERT_TRUE(step(HOUR));
	EXPECT_EQ(0, end(&w));
	EXPECT_LE(w.time, real_now());
}

/* No setting ends a wait without a limit. An event does. */
TEST_F(realtime, without_limit)
{
	static const __u64 times[] = { TIME_MAX, CALLOUT_FOREVER };
	struct waiter w;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		w = (struct waiter){
			.time = times[i / 2],
			.clockid = CLOCK_REALTIME,
			.flags = i % 2 ? CALLOUT_BATCHF_ABSTIME : 0,
		};
		ASSERT_TRUE(start(self->fd, &w));
		ASSERT_TRUE(step(1000 * HOUR));
		ASSERT_TRUE(step(-1000 * HOUR));
		sleep_ns(20 * MSEC);
		EXPECT_TRUE(still_waits(&w));
		ASSERT_NE(0, set(self->fd, 0, i));
		EXPECT_EQ(3, end(&w));
	}
}

TEST_HARNESS_MAIN
