// SPDX-License-Identifier: GPL-2.0
/*
 * basic.c - /dev/callout with correct calls
 */
#include <glob.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include "lib/bases.h"
#include "lib/fixture.h"

TEST_F(file, info_of_a_new_file)
{
	static const char * const names[] = {
		"outstanding", "unread", "fired", "set", "cancelled",
		"withdrawn", "delivered", "reset", "repeated",
	};
	struct callout_info info;
	unsigned int limit, i;

	memset(&info, 0xff, sizeof(info));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(1U << CLOCK_MONOTONIC | 1U << CLOCK_BOOTTIME |
		  1U << CLOCK_REALTIME,
		  info.clocks & ~(1U << CLOCK_REALTIME_ALARM |
				  1U << CLOCK_BOOTTIME_ALARM));
	EXPECT_EQ(0, info.features & ~CALLOUT_FEATURE_URING);
	EXPECT_EQ(0, info.reserved);
	EXPECT_LE(1000, info.tick_ns);
	EXPECT_GE(SEC, info.tick_ns);
	ASSERT_TRUE(read_number(PARAMETER_FILE, &limit));
	EXPECT_EQ(limit, info.max_outstanding);
	EXPECT_EQ(0, info.outstanding);
	EXPECT_EQ(0, info.unread);
	EXPECT_LT(0, info.max_user);
	EXPECT_GE(info.max_user, info.user_charged);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		EXPECT_EQ(0, fdinfo_number(self->fd, names[i])) {
			TH_LOG("counter %u", i);
		}
	EXPECT_EQ(limit, fdinfo_number(self->fd, "limit"));
}

static bool line_is(const char *path, const char *wanted)
{
	FILE *f = fopen(path, "r");
	char word[32];
	bool is = f && fscanf(f, "%31s", word) == 1 && !strcmp(word, wanted);

	if (f)
		fclose(f);
	return is;
}

/* Only the default scheme has room for commands of io_uring. */
static bool default_scheme(void)
{
	return access(PARAMETERS "scheme", F_OK) ||
	       line_is(PARAMETERS "scheme", "hashed_wheel");
}

static bool kernel_has_uring(void)
{
	return !access("/proc/sys/kernel/io_uring_disabled", F_OK) &&
	       kernel_version() >= 6012;
}

static bool rtc_wakes(void)
{
	bool wakes = false;
	char path[128];
	glob_t rtcs;
	size_t i;

	if (glob("/sys/class/rtc/*/wakealarm", 0, NULL, &rtcs))
		return false;
	for (i = 0; i < rtcs.gl_pathc; i++) {
		snprintf(path, sizeof(path), "%.*s/device/power/wakeup",
			 (int)(strrchr(rtcs.gl_pathv[i], '/') - rtcs.gl_pathv[i]),
			 rtcs.gl_pathv[i]);
		wakes |= line_is(path, "enabled");
	}
	globfree(&rtcs);
	return wakes;
}

/*
 * INFO has the features that the kernel's version and its RTC imply. Tests of
 * features that INFO lacks do nothing.
 */
TEST_F(file, info_has_what_the_kernel_has)
{
	struct callout_info info = info_of(self->fd);
	__u32 alarms = 1U << CLOCK_REALTIME_ALARM | 1U << CLOCK_BOOTTIME_ALARM;
	bool uring = kernel_has_uring();

	ASSERT_NE(0, kernel_version());
	EXPECT_EQ(uring && default_scheme(),
		  !!(info.features & CALLOUT_FEATURE_URING));
	if (rtc_wakes())
		EXPECT_EQ(alarms, info.clocks & alarms);
}

TEST_F(file, relative)
{
	static const __u64 times[] = { 0, 1, MSEC, 30 * MSEC, 100 * MSEC + 1 };
	struct callout_event e;
	__u64 before, after, handle;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		before = dev_now();
		ASSERT_EQ(0, dev_set(self->fd, 0, times[i], 77 + i,
				     &handle));
		after = dev_now();
		EXPECT_NE(0, handle);
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_LE(e.fired, dev_now());
		EXPECT_LE(before + times[i], e.due);
		EXPECT_GE(after + times[i], e.due);
		EXPECT_LE(e.due, e.fired);
		EXPECT_EQ(handle, e.handle);
		EXPECT_EQ(77 + i, e.cookie);
		EXPECT_EQ(0, e.func);
		EXPECT_EQ(0, e.overrun);
		EXPECT_EQ(0, e.flags);
	}
}

TEST_F(file, absolute)
{
	struct callout_event e;
	__u64 due, handle;
	int i;

	for (i = 0; i < 5; i++) {
		due = dev_now() + i * self->tick * 3 / 2;
		ASSERT_EQ(0, dev_set(self->fd, CALLOUT_OPF_ABSTIME, due, i,
				     &handle));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_LE(due, dev_now());
		EXPECT_EQ(due, e.due);
		EXPECT_LE(due, e.fired);
		EXPECT_EQ(handle, e.handle);
	}
}

TEST_F(file, absolute_in_the_past)
{
	__u64 before = dev_now(), handle;
	__u64 times[] = { 0, 1, before / 2, before };
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		ASSERT_EQ(0, dev_set(self->fd, CALLOUT_OPF_ABSTIME,
				     times[i], i, &handle));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(handle, e.handle);
		EXPECT_EQ(times[i], e.due);
		EXPECT_LE(before, e.fired);
	}
}

TEST_F(file, far_future)
{
	static const struct {
		__u32 flags;
		__u64 time;
	} far[] = {
		{ 0, HOUR },
		{ 0, 1ULL << 62 },
		{ 0, TIME_MAX },
		{ CALLOUT_OPF_ABSTIME, 1ULL << 62 },
		{ CALLOUT_OPF_ABSTIME, TIME_MAX - 1 },
		{ CALLOUT_OPF_ABSTIME, TIME_MAX },
	};
	__u64 handles[ARRAY_SIZE(far)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(far); i++)
		ASSERT_EQ(0, dev_set(self->fd, far[i].flags,
				     far[i].time, i, &handles[i]));
	EXPECT_FALSE(readable_within(self->fd, 50));
	for (i = 0; i < ARRAY_SIZE(far); i++)
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, handles[i]));
}

TEST_F(file, cookies)
{
	static const __u64 cookies[] = { 0, 1, 1ULL << 31, 1ULL << 32,
					 1ULL << 63, ~0ULL, ~0ULL };
	struct callout_event e[ARRAY_SIZE(cookies)];
	__u64 handles[ARRAY_SIZE(cookies)];
	unsigned int i, j, found = 0;

	for (i = 0; i < ARRAY_SIZE(cookies); i++)
		ASSERT_EQ(0, dev_set(self->fd, 0, 10 * MSEC,
				     cookies[i], &handles[i]));
	ASSERT_EQ(ARRAY_SIZE(cookies),
		  receive(self->fd, e, ARRAY_SIZE(cookies)));
	for (i = 0; i < ARRAY_SIZE(cookies); i++)
		for (j = 0; j < ARRAY_SIZE(cookies); j++)
			if (e[j].handle == handles[i] &&
			    e[j].cookie == cookies[i])
				found++;
	EXPECT_EQ(ARRAY_SIZE(cookies), found);
}

TEST_F(file, timeout_func_and_arg)
{
	static const __u64 keys[][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 },
					 { ~0ULL - 1, 1ULL << 63 }, { 5, ~0ULL } };
	struct callout_event e;
	__u64 handle;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		ASSERT_EQ(0, dev_timeout(self->fd, 0, MSEC, keys[i][0],
					 keys[i][1], &handle));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(handle, e.handle);
		EXPECT_EQ(keys[i][0], e.func);
		EXPECT_EQ(keys[i][1], e.cookie);
		EXPECT_LE(e.due, e.fired);
	}
}

static int compare_u64(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

TEST_F(file, handles_are_never_used_twice)
{
	enum { ROUNDS = 20, EACH = 100 };
	static __u64 handles[ROUNDS * EACH];
	unsigned int i;

	for (i = 0; i < ROUNDS * EACH; i++) {
		ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, i,
				     &handles[i]));
		if (i >= EACH)
			ASSERT_EQ(CALLOUT_STATE_PENDING,
				  dev_cancel(self->fd,
					     handles[i - EACH]));
	}
	qsort(handles, ROUNDS * EACH, sizeof(handles[0]), compare_u64);
	EXPECT_NE(0, handles[0]);
	for (i = 1; i < ROUNDS * EACH; i++)
		ASSERT_NE(handles[i - 1], handles[i]);
}

/* Set callouts in a mixed order. Return how many fire out of order. */
static unsigned int out_of_order(struct __test_metadata *_metadata, int fd,
				 __u64 tick)
{
	enum { N = 61, STRIDE = 23 };
	struct callout_event e[N];
	unsigned int i, wrong = 0;
	__u64 start, handle;

	start = dev_now() + 50 * MSEC;
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, dev_set(fd, CALLOUT_OPF_ABSTIME, start +
					     i * STRIDE % N * (4 * tick),
					     i * STRIDE % N, &handle));
	ASSERT_EQ(N, receive(fd, e, N));
	for (i = 0; i < N; i++)
		wrong += e[i].cookie != i;
	return wrong;
}

/* Callouts that were set on one CPU fire in the order of their ticks. */
TEST_F(file, order)
{
	ASSERT_TRUE(pin_to_cpu(0));
	EXPECT_EQ(0, out_of_order(_metadata, self->fd, self->tick));
}

TEST_F(file, large_arrays)
{
	enum { N = 3000, AT_A_TIME = 700 };
	static struct callout_event e[AT_A_TIME + 1];
	static unsigned char seen[N];
	size_t i, n, left;
	__u64 handle;

	for (i = 0; i < N; i++)
		ASSERT_EQ(0, dev_set(self->fd, 0, i % 20 * MSEC, i,
				     &handle));
	ASSERT_TRUE(wait_unread(self->fd, N));
	for (left = N; left; left -= n) {
		n = left < AT_A_TIME ? left : AT_A_TIME;
		/* No event fits into the end of the buffer. */
		ASSERT_EQ((ssize_t)(n * sizeof(e[0])),
			  read(self->fd, e, AT_A_TIME * sizeof(e[0]) + 47));
		EXPECT_EQ(left - n, info_of(self->fd).unread);
		for (i = 0; i < n; i++) {
			ASSERT_GT(N, e[i].cookie);
			EXPECT_EQ(0, seen[e[i].cookie]++);
		}
	}
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, e, 1));
}

TEST_F(file, readv)
{
	struct callout_event e[3];
	struct iovec iov[] = {
		{ .iov_base = (char *)e, .iov_len = 20 },
		{ .iov_base = (char *)e + 20, .iov_len = sizeof(e[0]) },
		{ .iov_base = (char *)e + 20 + sizeof(e[0]),
		  .iov_len = sizeof(e) - sizeof(e[0]) - 20 },
	};
	__u64 handle;
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, dev_set(self->fd, 0, 0, 42, &handle));
	ASSERT_TRUE(wait_unread(self->fd, 3));
	ASSERT_EQ(sizeof(e), readv(self->fd, iov, 3));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(42, e[i].cookie);
		EXPECT_LE(e[i].due, e[i].fired);
	}
}

TEST_F(file, poll)
{
	struct pollfd p = { .fd = self->fd, .events = ~0 };
	struct callout_event e;
	__u64 handle;

	ASSERT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, 1, &handle));
	ASSERT_EQ(0, poll(&p, 1, 20));
	ASSERT_EQ(0, dev_set(self->fd, 0, 20 * MSEC, 2, &handle));
	ASSERT_EQ(1, poll(&p, 1, WAIT_MS));
	EXPECT_EQ(POLLIN | POLLRDNORM, p.revents);
	ASSERT_EQ(1, poll(&p, 1, 0));
	ASSERT_EQ(1, dev_read(self->fd, &e, 1));
	EXPECT_EQ(2, e.cookie);
	EXPECT_EQ(0, poll(&p, 1, 0));
}

TEST_F(file, poll_after_withdrawal)
{
	__u64 handle;

	ASSERT_EQ(0, dev_set(self->fd, 0, 0, 1, &handle));
	ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
	ASSERT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handle));
	EXPECT_FALSE(readable(self->fd));
}

TEST_F(file, epoll_level_triggered)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = 5 };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct callout_event e;
	__u64 handle;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	ASSERT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	ASSERT_EQ(0, dev_set(self->fd, 0, 20 * MSEC, 1, &handle));
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
	EXPECT_EQ(EPOLLIN, ev.events);
	EXPECT_EQ(5, ev.data.u64);
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, 0));
	ASSERT_EQ(1, dev_read(self->fd, &e, 1));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	close(ep);
}

TEST_F(file, epoll_edge_triggered)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	unsigned int i;
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct callout_event e;
	__u64 handle;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, dev_set(self->fd, 0, 5 * MSEC, i,
				     &handle));
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, WAIT_MS));
		EXPECT_EQ(EPOLLIN, ev.events);
		ASSERT_EQ(0, epoll_wait(ep, &ev, 1, 0));
		ASSERT_EQ(1, dev_read(self->fd, &e, 1));
		EXPECT_EQ(i, e.cookie);
	}
	close(ep);
}

TEST_F(file, read_would_block)
{
	struct callout_event e;
	__u64 handle;

	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &e, 1));
	ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, 1, &handle));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &e, 1));
}

TEST_F(file, blocking_read)
{
	struct callout_event e;
	__u64 due, handle;
	int i, flags = fcntl(self->fd, F_GETFL);

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags & ~O_NONBLOCK));
	for (i = 0; i < 3; i++) {
		due = dev_now() + 40 * MSEC;
		ASSERT_EQ(0, dev_set(self->fd, CALLOUT_OPF_ABSTIME, due, i,
				     &handle));
		ASSERT_EQ(1, dev_read(self->fd, &e, 1));
		EXPECT_LE(due, dev_now());
		EXPECT_EQ(handle, e.handle);
	}
}

/* A reader waits even if no callout is set. */
TEST_F(file, blocking_read_before_set)
{
	int flags = fcntl(self->fd, F_GETFL);
	struct callout_event e;
	__u64 handle;
	int status;
	pid_t child;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags & ~O_NONBLOCK));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		sleep_ns(50 * MSEC);
		_exit(dev_set(self->fd, 0, 10 * MSEC, 9, &handle));
	}
	EXPECT_EQ(1, dev_read(self->fd, &e, 1));
	EXPECT_EQ(9, e.cookie);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(file, blocking_read_is_interrupted)
{
	int flags = fcntl(self->fd, F_GETFL);
	struct callout_event e;
	__u64 handle;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags & ~O_NONBLOCK));
	ASSERT_TRUE(interrupt_by(SIGALRM, 0));
	ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, 1, &handle));
	ASSERT_TRUE(send_alarms(20000));
	EXPECT_EQ(-EINTR, dev_read(self->fd, &e, 1));
	ASSERT_TRUE(send_alarms(0));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
}

/* Each callout that was set is counted once: as outstanding, or by how it ended. */
TEST_F(file, counters)
{
	struct callout_op op = callout_op_set(0, 5);
	struct callout_event e[3];
	struct callout_info info;
	struct counts c;
	__u64 handles[4];
	int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, dev_set(self->fd, 0, i < 2 ? HOUR : 0, i,
				     &handles[i]));
	ASSERT_TRUE(wait_unread(self->fd, 2));
	info = info_of(self->fd);
	EXPECT_EQ(4, counts_of(self->fd).set);
	EXPECT_EQ(4, info.outstanding);
	EXPECT_EQ(2, info.unread);
	EXPECT_EQ(4, fdinfo_number(self->fd, "outstanding"));
	EXPECT_EQ(2, fdinfo_number(self->fd, "unread"));
	EXPECT_EQ(2, fdinfo_number(self->fd, "fired"));

	ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handles[0]));
	ASSERT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handles[2]));
	ASSERT_EQ(1, dev_read(self->fd, e, 3));
	EXPECT_EQ(handles[3], e[0].handle);
	c = counts_of(self->fd);
	EXPECT_EQ(4, c.set);
	EXPECT_EQ(1, c.cancelled);
	EXPECT_EQ(1, c.withdrawn);
	EXPECT_EQ(1, c.delivered);
	EXPECT_EQ(0, c.reset);
	EXPECT_EQ(0, c.repeated);
	info = info_of(self->fd);
	EXPECT_EQ(1, info.outstanding);
	EXPECT_EQ(0, info.unread);

	/* A periodic callout stays outstanding when its event is delivered. */
	op.period = HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, e, 1));
	EXPECT_EQ(CALLOUT_STATE_PENDING, move(self->fd, handles[1], 2 * HOUR));
	c = counts_of(self->fd);
	EXPECT_EQ(1, c.repeated);
	EXPECT_EQ(1, c.reset);
	EXPECT_EQ(c.set, c.cancelled + c.withdrawn + c.delivered + 2);
	EXPECT_EQ(2, info_of(self->fd).outstanding);
}

/* The file "files" of debugfs has a line for each open file, with its numbers. */
TEST_F(file, debugfs)
{
	int pid = getpid();

	ASSERT_NE(0, set(self->fd, 0, 1));
	ASSERT_TRUE(wait_unread(self->fd, 1));
	ASSERT_NE(0, set(self->fd, HOUR, 2));
	ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, set(self->fd, HOUR, 3)));
	EXPECT_EQ(2, debugfs_sum("files", "outstanding", pid));
	EXPECT_EQ(1, debugfs_sum("files", "unread", pid));
	EXPECT_EQ(3, debugfs_sum("files", "set", pid));
	EXPECT_EQ(1, debugfs_sum("files", "cancelled", pid));
	EXPECT_EQ(info_of(self->fd).max_outstanding, debugfs_sum("files", "limit", pid));
}

TEST_F(file, every_cpu)
{
	enum { EACH = 20 };
	unsigned int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct callout_event e[EACH];
	__u64 handles[EACH];
	unsigned int cpu, i;

	for (cpu = 0; cpu < cpus; cpu++) {
		ASSERT_TRUE(pin_to_cpu(cpu));
		for (i = 0; i < EACH; i++)
			ASSERT_EQ(0, dev_set(self->fd, 0,
					     i & 1 ? HOUR : MSEC * i,
						     cpu, &handles[i]));
		ASSERT_TRUE(pin_to_cpu((cpu + 1) % cpus));
		for (i = 1; i < EACH; i += 2)
			ASSERT_EQ(CALLOUT_STATE_PENDING,
				  dev_cancel(self->fd, handles[i]));
		ASSERT_EQ(EACH / 2, receive(self->fd, e, EACH / 2));
		for (i = 0; i < EACH / 2; i++)
			EXPECT_EQ(cpu, e[i].cookie);
	}
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_F(file, files_have_nothing_in_common)
{
	struct callout_event e;
	__u64 handle, other_handle;
	int other = dev_open(O_NONBLOCK);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, dev_set(self->fd, 0, 0, 1, &handle));
	ASSERT_EQ(0, dev_set(other, 0, HOUR, 2, &other_handle));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(1, e.cookie);
	EXPECT_EQ(1, info_of(other).outstanding);
	EXPECT_FALSE(readable(other));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(0, close(other));
}

TEST_F(file, close_with_pending)
{
	__u64 handle;
	int i, fd = dev_open(0);

	ASSERT_LE(0, fd);
	for (i = 0; i < 500; i++) {
		ASSERT_EQ(0, dev_set(fd, 0, i * MSEC / 8, i, &handle));
		ASSERT_EQ(0, dev_timeout(fd, 0, i * HOUR, i, 0,
					 &handle));
	}
	EXPECT_EQ(0, close(fd));
	/* Callouts of the closed file would be due in this time. */
	ASSERT_EQ(0, dev_set(self->fd, 0, 80 * MSEC, 1, &handle));
	EXPECT_TRUE(readable_within(self->fd, WAIT_MS));
}

TEST_F(file, close_with_unread)
{
	__u64 handle;
	int i, fd = dev_open(0);

	ASSERT_LE(0, fd);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, dev_set(fd, 0, 0, i, &handle));
		ASSERT_EQ(0, dev_timeout(fd, 0, 0, i % 7, 0, &handle));
	}
	ASSERT_TRUE(wait_unread(fd, 200));
	EXPECT_EQ(0, close(fd));
}

TEST_HARNESS_MAIN
