// SPDX-License-Identifier: GPL-2.0
/*
 * suspend_alarm.c - callouts in alarm clocks wake the system from suspend, and no
 * callout is lost in a suspend
 *
 * The machine is suspended by /sys/power/state. If no callout wakes it a timerfd
 * does, much later, so that the test fails and does not hang. The kernel refuses to
 * suspend when an alarm is near, so on a slow machine a test tries again with a
 * longer time.
 *
 * QEMU's machine sleeps once: after that it wakes from S3 as soon as it is asleep.
 * So the first test checks that it sleeps and is woken. The other tests read from
 * the kernel's trace the time for which the RTC was programmed.
 */
#include <sys/timerfd.h>

#include "kselftest_harness.h"
#include "lib/uring.h"

#define POWER		"/sys/power/"
#define TRACING		"/sys/kernel/tracing/"
#define TRACE_RTC	TRACING "events/alarmtimer/alarmtimer_suspend/enable"
#define TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"
#define TIMERS		"/sys/module/callout_pending/parameters/"
#define DEVICE_POWER	"/sys/devices/platform/callout-alarm/power/"
#define MAY_WAKE	DEVICE_POWER "wakeup"
#define AWAKE		DEVICE_POWER "wakeup_active"
/* The time until the callout is due, at first, and from then until the timerfd is due. */
#define SOON		(5 * SEC)
#define LONG		(15 * SEC)
#define BACKSTOP	(90 * SEC)

enum { DEEP, IDLE };

FIXTURE(suspend) {
	int fd;
	int backstop;
	__u64 start;	/* when the callout was set, in CLOCK_BOOTTIME */
	__u64 time;	/* time from @set until it is due */
	__u64 handle;
};

FIXTURE_SETUP(suspend)
{
	self->backstop = -1;
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(suspend)
{
	close(self->backstop);
	EXPECT_EQ(0, close(self->fd));
}

/* Return 0 when the system has been suspended and woken, or an error. */
static int suspend(int how)
{
	if (!write_text(TRACE_RTC, "1") || !write_text(TRACING "trace", "\n") ||
	    (how == DEEP && !write_text(POWER "mem_sleep", "deep")))
		return -errno;
	if (write_text(POWER "state", how == DEEP ? "mem" : "freeze"))
		return 0;
	return -errno;
}

/* Does a callout that has fired keep the system awake? */
static bool is_awake(void)
{
	FILE *f = fopen(AWAKE, "r");
	bool awake = f && fgetc(f) == '1';

	if (f)
		fclose(f);
	return awake;
}

/* Wait until no callout keeps the system awake. */
static void settle(void)
{
	while (is_awake())
		usleep(100 * 1000);
}

/* The time for which the RTC was programmed at the last suspend, or 0 if it was not. */
static __u64 programmed(void)
{
	FILE *f = fopen(TRACING "trace", "r");
	unsigned long long time = 0;
	char line[256], *at;

	while (f && fgets(line, sizeof(line), f)) {
		at = line[0] == '#' ? NULL : strstr(line, "expires:");
		if (at)
			sscanf(at, "expires:%llu", &time);
	}
	if (f)
		fclose(f);
	return time;
}

/* How long the system has been suspended since it booted, or a bit more. */
static __u64 slept(void)
{
	__u64 monotonic = dev_now();

	return now_of(CLOCK_BOOTTIME) - monotonic;
}

/* A timerfd that wakes the system at @time of CLOCK_BOOTTIME. */
static int wake_by_timerfd(__u64 time)
{
	struct itimerspec at = {
		.it_value = { .tv_sec = time / SEC, .tv_nsec = time % SEC },
	};
	int fd = timerfd_create(CLOCK_BOOTTIME_ALARM, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL))
		return -1;
	return fd;
}

static struct callout_op op_in(clockid_t clock, __u32 flags, __u64 time)
{
	struct callout_op op = callout_op_set(time, 1);

	op.clockid = clock;
	op.flags = flags;
	if (flags & CALLOUT_OPF_ABSTIME)
		op.time += now_of(clock);
	return op;
}

/* Cancel the callout, or take its event. */
static void forget(struct _test_data_suspend *self)
{
	struct callout_event e;

	if (dev_cancel(self->fd, self->handle) < 0)
		dev_read(self->fd, &e, 1);
}

/*
 * Suspend the system with a callout due in @time, or later if the kernel finds
 * @time too soon, and with a timerfd after it.
 */
static int suspend_with(struct _test_data_suspend *self, int how, __u64 time,
			clockid_t clock, __u32 flags, __u64 slack)
{
	struct callout_op op;
	int ret;

	for (self->time = time; ; self->time *= 2) {
		close(self->backstop);
		settle();
		self->start = now_of(CLOCK_BOOTTIME);
		self->backstop = wake_by_timerfd(self->start + self->time +
						 BACKSTOP);
		op = op_in(clock, flags, self->time);
		op.slack = slack;
		ret = self->backstop < 0 ? -errno : do_op(self->fd, &op);
		self->handle = op.handle;
		if (!ret)
			ret = suspend(how);
		if (ret != -EBUSY)
			return ret;
		forget(self);
	}
}

/* The system sleeps, wakes for the callout, and the callout fires. */
TEST_F(suspend, sleeps_and_wakes)
{
	__u64 before = slept();
	struct callout_event e = { 0 };

	ASSERT_EQ(0, suspend_with(self, DEEP, LONG, CLOCK_BOOTTIME_ALARM, 0, 0));
	EXPECT_LT(before + SEC, slept());
	EXPECT_FALSE(readable(self->backstop)) {
		TH_LOG("the callout did not wake the system");
	}
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(self->handle, e.handle);
	EXPECT_EQ(CLOCK_BOOTTIME_ALARM, e.clockid);
	EXPECT_LE(e.due, now_of(CLOCK_BOOTTIME));
}

/* The RTC is programmed for the first callout, at the end of its slack. */
TEST_F(suspend, programs_the_rtc)
{
	static const struct {
		clockid_t clock;
		__u32 flags;
		__u64 slack;
	} all[] = {
		{ CLOCK_BOOTTIME_ALARM, 0, 0 },
		{ CLOCK_BOOTTIME_ALARM, CALLOUT_OPF_ABSTIME, 20 * SEC },
		{ CLOCK_REALTIME_ALARM, 0, 0 },
		{ CLOCK_REALTIME_ALARM, CALLOUT_OPF_ABSTIME, 20 * SEC },
	};
	struct callout_op far = op_in(CLOCK_REALTIME_ALARM, 0, HOUR);
	__u64 time, least;
	unsigned int i;

	ASSERT_EQ(0, do_op(self->fd, &far));
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		ASSERT_EQ(0, suspend_with(self, DEEP, SOON, all[i].clock,
					  all[i].flags, all[i].slack));
		time = programmed();
		/* The two clocks were not read at the same time. */
		least = self->start + self->time + all[i].slack - SEC;
		EXPECT_LE(least, time) {
			TH_LOG("number %u: %llu", i, time);
		}
		EXPECT_GT(least + BACKSTOP / 2, time) {
			TH_LOG("number %u: %llu", i, time);
		}
		forget(self);
	}
	EXPECT_EQ(1, info_of(self->fd).outstanding);
}

/* Suspended to idle, the system wakes when the callout fires. */
TEST_F(suspend, wakes_from_idle)
{
	struct callout_event e;

	ASSERT_EQ(0, suspend_with(self, IDLE, SOON, CLOCK_BOOTTIME_ALARM, 0, 0));
	EXPECT_FALSE(readable(self->backstop));
	EXPECT_LE(self->start + self->time, now_of(CLOCK_BOOTTIME));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(self->handle, e.handle);
}

/* The RTC is not programmed for plain clocks, nor for a cancelled callout. */
TEST_F(suspend, others_do_not_wake)
{
	struct callout_op gone = op_in(CLOCK_BOOTTIME_ALARM, 0, SOON);
	struct callout_op plain, real;
	struct callout_event e[2];
	__u64 end;

	settle();
	plain = op_in(CLOCK_BOOTTIME, 0, SOON);
	real = op_in(CLOCK_REALTIME, CALLOUT_OPF_ABSTIME, SOON);
	end = now_of(CLOCK_BOOTTIME) + BACKSTOP;
	ASSERT_EQ(0, do_op(self->fd, &gone));
	ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, gone.handle));
	ASSERT_EQ(0, do_op(self->fd, &plain));
	ASSERT_EQ(0, do_op(self->fd, &real));
	self->backstop = wake_by_timerfd(end);
	ASSERT_LE(0, self->backstop);
	ASSERT_EQ(0, suspend(DEEP));
	EXPECT_EQ(end, programmed());
	ASSERT_EQ(2, receive(self->fd, e, 2));
	EXPECT_FALSE(readable(self->fd));
}

/* No callout wakes the system if the device is not allowed to. */
TEST_F(suspend, administrator_forbids)
{
	struct callout_event e;
	int ret;

	ASSERT_TRUE(write_text(MAY_WAKE, "disabled"));
	ret = suspend_with(self, DEEP, SOON, CLOCK_BOOTTIME_ALARM, 0, 0);
	EXPECT_TRUE(write_text(MAY_WAKE, "enabled"));
	ASSERT_EQ(0, ret);
	EXPECT_EQ(self->start + self->time + BACKSTOP, programmed());
	EXPECT_EQ(1, receive(self->fd, &e, 1));
}

/*
 * The kernel does not suspend while an alarm callout is near, nor when one fires
 * while the system is being suspended.
 */
TEST_F(suspend, refused_when_near)
{
	enum { N = 50 };
	struct callout_event e[N];
	struct callout_op op;
	int i;

	self->backstop = wake_by_timerfd(now_of(CLOCK_BOOTTIME) + BACKSTOP);
	ASSERT_LE(0, self->backstop);
	for (i = 0; i < N; i++) {
		op = op_in(CLOCK_BOOTTIME_ALARM, 0, i * 40 * MSEC);
		ASSERT_EQ(0, do_op(self->fd, &op));
	}
	/* Until this callout has fired, only one result is possible. */
	while (info_of(self->fd).unread < N) {
		i = suspend(DEEP);
		if (info_of(self->fd).unread < N)
			EXPECT_EQ(-EBUSY, i);
	}
	EXPECT_EQ(N, receive(self->fd, e, N));
	EXPECT_FALSE(readable(self->backstop));
}

/*
 * A callout that fired just before keeps the system awake, so that its program
 * can see the event.
 */
TEST_F(suspend, refused_after_one)
{
	struct callout_event e;
	struct callout_op op;
	int ret = 0;

	self->backstop = wake_by_timerfd(now_of(CLOCK_BOOTTIME) + BACKSTOP);
	ASSERT_LE(0, self->backstop);
	/* On a slow machine the two seconds may have passed. Then try again. */
	while (!ret && !readable(self->backstop)) {
		op = op_in(CLOCK_BOOTTIME_ALARM, 0, 0);
		ASSERT_EQ(0, do_op(self->fd, &op));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		ret = suspend(DEEP);
	}
	EXPECT_EQ(-EBUSY, ret);
}

/* A callout that is too far for an RTC neither ends a suspend nor prevents one. */
TEST_F(suspend, far_alarms)
{
	struct callout_op op = op_in(CLOCK_BOOTTIME_ALARM, 0, 200ULL * 365 * 24 * HOUR);
	struct callout_op never = op_in(CLOCK_REALTIME_ALARM, 0, INT64_MAX);
	__u64 end;

	ASSERT_EQ(0, do_op(self->fd, &never));
	settle();
	end = now_of(CLOCK_BOOTTIME) + BACKSTOP;
	self->backstop = wake_by_timerfd(end);
	ASSERT_LE(0, self->backstop);
	ASSERT_EQ(0, suspend(DEEP));
	EXPECT_EQ(end, programmed());
	close(self->backstop);
	self->backstop = -1;
	/*
	 * It is the only callout, so no nearer callout hides it. The machine
	 * wakes at once, see above.
	 */
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, suspend(DEEP));
}

/* The RTC is programmed for a command of io_uring too. */
TEST_F(suspend, command_programs_the_rtc)
{
	struct callout_op op;
	struct ring r;
	int ret = -EBUSY;
	__u64 time, start;

	if (!(info_of(self->fd).features & CALLOUT_FEATURE_URING))
		return;
	ASSERT_TRUE(ring_open(&r, 0));
	self->backstop = wake_by_timerfd(now_of(CLOCK_BOOTTIME) + HOUR);
	ASSERT_LE(0, self->backstop);
	for (time = SOON; ret == -EBUSY; time *= 2) {
		op = set_op(time, 1);
		op.clockid = CLOCK_BOOTTIME_ALARM;
		settle();
		start = now_of(CLOCK_BOOTTIME);
		ASSERT_TRUE(submit_one(&r, self->fd, &op, 1));
		ret = suspend(DEEP);
		if (!ret) {
			EXPECT_LE(start + time, programmed());
			EXPECT_GT(start + HOUR / 2, programmed());
		}
		ASSERT_EQ(0, complete(&r, NULL, time / MSEC + WAIT_MS));
	}
	EXPECT_EQ(0, ret);
}

FIXTURE(level) {
	int fd;
};

/* The levels at which the kernel undoes a suspend. At "none" it suspends fully. */
FIXTURE_VARIANT(level) {
	const char *name;
};

FIXTURE_VARIANT_ADD(level, freezer) { .name = "freezer" };
FIXTURE_VARIANT_ADD(level, devices) { .name = "devices" };
FIXTURE_VARIANT_ADD(level, platform) { .name = "platform" };
FIXTURE_VARIANT_ADD(level, processors) { .name = "processors" };
FIXTURE_VARIANT_ADD(level, core) { .name = "core" };
FIXTURE_VARIANT_ADD(level, all_the_way) { .name = "none" };

FIXTURE_SETUP(level)
{
	ASSERT_TRUE(write_text(TEST_DELAY, "2"));
	ASSERT_TRUE(write_text(POWER "pm_test", variant->name));
}

FIXTURE_TEARDOWN(level)
{
	EXPECT_TRUE(write_text(POWER "pm_test", "none"));
}

static const struct {
	clockid_t clock;
	__u32 flags;
} plain[] = {
	{ CLOCK_MONOTONIC, 0 },
	{ CLOCK_BOOTTIME, 0 },
	{ CLOCK_REALTIME, 0 },
	{ CLOCK_REALTIME, CALLOUT_OPF_ABSTIME },
};

static const clockid_t alarms[] = { CLOCK_BOOTTIME_ALARM, CLOCK_REALTIME_ALARM };

/* The number of callouts of each kind, at a level. */
#define OF_EACH		16
#define ALL		((ARRAY_SIZE(plain) + ARRAY_SIZE(alarms)) * OF_EACH)

/* Set callouts of each clock. Callouts that wake the system are set for @time at least. */
static int set_all(int fd, __u64 time)
{
	struct callout_op ops[ALL];
	unsigned int i, j, n = 0;

	for (i = 0; i < OF_EACH; i++) {
		for (j = 0; j < ARRAY_SIZE(plain); j++, n++)
			ops[n] = op_in(plain[j].clock, plain[j].flags,
				       i * 250 * MSEC);
		for (j = 0; j < ARRAY_SIZE(alarms); j++, n++)
			ops[n] = op_in(alarms[j], 0, time + i * 250 * MSEC);
	}
	for (i = 0; i < ALL; i++)
		ops[i].cookie = i;
	return do_ops(fd, ops, ALL);
}

static int number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	int n = -1;

	if (f) {
		if (fscanf(f, "%d", &n) != 1)
			n = -1;
		fclose(f);
	}
	return n;
}

/* Keep each CPU from being idle for some ticks: a deferrable timer wakes none. */
static void visit_cpus(void)
{
	cpu_set_t all, one;
	__u64 end;
	int cpu;

	sched_getaffinity(0, sizeof(all), &all);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		end = dev_now() + 20 * MSEC;
		while (dev_now() < end)
			;
	}
	sched_setaffinity(0, sizeof(all), &all);
}

/*
 * No callout that is pending when the system is suspended, or due during the
 * suspend, is lost, early or comes twice. This holds for the device's callouts
 * in each clock, and for kernel timers of each class and CPU.
 */
TEST_F(level, none_is_lost_or_early)
{
	unsigned int seen[ALL] = { 0 };
	struct callout_event e;
	__u64 time = LONG;
	int ret, i;

	ASSERT_TRUE(write_text(TIMERS "seconds", "20"));
	for (; ; time *= 2) {
		self->fd = dev_open(O_NONBLOCK);
		ASSERT_LE(0, self->fd);
		ASSERT_EQ(ALL, set_all(self->fd, time));
		ret = suspend(DEEP);
		/* An alarm was near. Try again with a longer time. */
		if (ret != -EBUSY)
			break;
		ASSERT_EQ(0, close(self->fd));
		settle();
	}
	ASSERT_EQ(0, ret);
	for (i = 0; i < (int)ALL; i++) {
		ASSERT_TRUE(readable_within(self->fd, time / MSEC + WAIT_MS));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_LE(e.due, now_of(e.clockid));
		ASSERT_GT(ALL, e.cookie);
		EXPECT_EQ(0, seen[e.cookie]++);
	}
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(0, close(self->fd));
	while (number_in(TIMERS "left") > 0)
		visit_cpus();
	EXPECT_EQ(0, number_in(TIMERS "left"));
	EXPECT_EQ(0, number_in(TIMERS "wrong"));
}

TEST_HARNESS_MAIN
