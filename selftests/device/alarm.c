// SPDX-License-Identifier: GPL-2.0
/*
 * alarm.c - the clocks that wake the system from suspend: the right to use
 * them, and that their callouts fire as in the plain clocks
 *
 * Where the kernel has no such clocks, as clock_getres(2) shows, they are
 * refused. suspend_alarm.c checks that the system wakes.
 */
#include <glob.h>

#include "lib/realtime.h"
#include "lib/timens.h"
#include "lib/uring.h"
#include "lib/wake.h"

#define ALARM_CLOCKS	(1U << CLOCK_BOOTTIME_ALARM | 1U << CLOCK_REALTIME_ALARM)
#define KEY		77

FIXTURE(alarm) {
	int fd;
	bool works;
};

FIXTURE_VARIANT(alarm) {
	clockid_t clock, plain;
};

FIXTURE_VARIANT_ADD(alarm, boottime) {
	.clock = CLOCK_BOOTTIME_ALARM,
	.plain = CLOCK_BOOTTIME,
};

FIXTURE_VARIANT_ADD(alarm, realtime) {
	.clock = CLOCK_REALTIME_ALARM,
	.plain = CLOCK_REALTIME,
};

FIXTURE_SETUP(alarm)
{
	self->works = kernel_has_alarms();
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(alarm)
{
	EXPECT_EQ(0, close(self->fd));
}

static struct callout_op op_of(clockid_t clock, __u32 flags, __u64 time)
{
	struct callout_op op = callout_op_set(time, 5);

	op.clockid = clock;
	op.flags = flags;
	return op;
}

static struct callout_op timeout_of(clockid_t clock, __u64 time)
{
	struct callout_op op = callout_op_timeout(1, 2, time);

	op.clockid = clock;
	return op;
}

static struct callout_op keyed(clockid_t clock, __u64 time)
{
	struct callout_op op = callout_op_key(callout_op_set(time, 0), KEY);

	op.clockid = clock;
	return op;
}

static struct callout_entry get(int fd, __u64 name, __u32 flags)
{
	struct callout_entry entry;

	if (list_one(fd, flags, name, &entry))
		entry.clockid = -1;
	return entry;
}

TEST_F(alarm, is_offered_where_it_works)
{
	EXPECT_EQ(self->works ? ALARM_CLOCKS : 0,
		  info_of(self->fd).clocks & ALARM_CLOCKS);
}

/* Each way to set a callout in this clock fails with @error, and sets no callout. */
static void refused(struct __test_metadata *_metadata, int fd, clockid_t clock,
		    int error)
{
	struct callout_info before = info_of(fd), now;
	long long set = counts_of(fd).set;
	struct callout_op op, ops[3];
	struct callout_batch b;
	struct ring r;
	int i;

	op = op_of(clock, 0, HOUR);
	EXPECT_EQ(error, do_op(fd, &op));
	/* Without an RTC programs cannot read an alarm clock. */
	op = op_of(clock, CALLOUT_OPF_ABSTIME, HOUR);
	op.period = SEC;
	op.slack = SEC;
	EXPECT_EQ(error, do_op(fd, &op));
	op = timeout_of(clock, HOUR);
	EXPECT_EQ(error, do_op(fd, &op));
	op = callout_op_key(keyed(clock, HOUR), KEY + 1);
	op.flags |= CALLOUT_OPF_ONLY_NEW;
	EXPECT_EQ(error, do_op(fd, &op));
	/* In a batch, among operations that hold a lock from one to the next. */
	for (i = 0; i < 3; i++)
		ops[i] = op_of(i == 1 ? clock : CLOCK_MONOTONIC, 0, HOUR);
	b = batch_of(ops, 3);
	EXPECT_EQ(0, do_batch(fd, &b));
	EXPECT_EQ(3, b.done);
	EXPECT_EQ(1, b.failed);
	EXPECT_EQ(error, ops[1].result);
	EXPECT_EQ(0, ops[1].handle);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(fd, ops[0].handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(fd, ops[2].handle));
	op = callout_op_key(keyed(clock, HOUR), KEY + 1);
	op.flags |= CALLOUT_OPF_ONLY_NEW;
	if (before.features & CALLOUT_FEATURE_URING && ring_open(&r, 0))
		EXPECT_EQ(error, command(&r, fd, &op, NULL));
	/* An operation that is wrong in itself reports that error first. */
	op = op_of(clock, 0, 1ULL << 63);
	EXPECT_EQ(-EINVAL, do_op(fd, &op));
	op = op_of(clock, 0, HOUR);
	op.func = 1;
	EXPECT_EQ(-EINVAL, do_op(fd, &op));
	op = timeout_of(clock, HOUR);
	op.period = 1;
	EXPECT_EQ(-EINVAL, do_op(fd, &op));
	now = info_of(fd);
	EXPECT_EQ(before.outstanding, now.outstanding);
	EXPECT_EQ(set + 2, counts_of(fd).set);
}

TEST_F(alarm, eopnotsupp_without_an_rtc)
{
	int may;

	if (self->works)
		return;
	for (may = 0; may < 2; may++) {
		ASSERT_TRUE(may_wake(may));
		refused(_metadata, self->fd, variant->clock, -EOPNOTSUPP);
	}
}

/*
 * Without the capability no callout is set, and no outstanding callout is moved.
 * It may be listed, and cancelled.
 */
TEST_F(alarm, eperm_without_the_capability)
{
	struct callout_op op = op_of(variant->clock, 0, HOUR);
	struct callout_op key = keyed(variant->clock, 2 * HOUR), move;
	struct callout_entry before;

	if (!self->works)
		return;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, do_op(self->fd, &key));
	ASSERT_TRUE(may_wake(false));
	refused(_metadata, self->fd, variant->clock, -EPERM);
	before = get(self->fd, op.handle, CALLOUT_LISTF_HANDLE);
	move = callout_op_move(op.handle, 30 * HOUR);
	EXPECT_EQ(-EPERM, do_op(self->fd, &move));
	EXPECT_EQ(before.due, get(self->fd, op.handle, CALLOUT_LISTF_HANDLE).due);
	before = get(self->fd, KEY, CALLOUT_LISTF_KEY);
	move = move_op(30 * HOUR, KEY);
	EXPECT_EQ(-EPERM, do_op(self->fd, &move));
	move = keyed(variant->clock, 30 * HOUR);
	EXPECT_EQ(-EPERM, do_op(self->fd, &move));
	EXPECT_EQ(before.due, get(self->fd, KEY, CALLOUT_LISTF_KEY).due);
	EXPECT_EQ(variant->clock, before.clockid);
	EXPECT_NE(~0ULL, next_due(self->fd, variant->clock));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, op.handle));
	/* The plain clock is free for all. */
	op = op_of(variant->plain, 0, HOUR);
	EXPECT_EQ(0, do_op(self->fd, &op));
	move = callout_op_move(op.handle, 2 * HOUR);
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &move));
	ASSERT_TRUE(may_wake(true));
	move = move_op(30 * HOUR, KEY);
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &move));
}

/* Does the thread have the capability, in its user namespace? */
static bool can_wake(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	return !syscall(SYS_capget, &header, data) &&
	       data[CAP_TO_INDEX(CAP_WAKE_ALARM)].effective &
	       CAP_TO_MASK(CAP_WAKE_ALARM);
}

/* The capability counts in the initial user namespace only. */
TEST_F(alarm, eperm_in_a_user_namespace)
{
	struct callout_op op = op_of(variant->clock, 0, HOUR), move;

	if (!self->works)
		return;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(0, unshare(CLONE_NEWUSER));
	ASSERT_TRUE(can_wake());
	refused(_metadata, self->fd, variant->clock, -EPERM);
	move = callout_op_move(op.handle, 30 * HOUR);
	EXPECT_EQ(-EPERM, do_op(self->fd, &move));
}

/* A callout, absolute, relative, past or with slack, is never early, and fires in its clock. */
TEST_F(alarm, fires)
{
	__u64 start = now_of(variant->clock), i;
	struct callout_event e;
	struct callout_op op;

	if (!self->works)
		return;
	for (i = 0; i < 4; i++) {
		op = i & 1 ? op_of(variant->clock, 0, 30 * MSEC) :
			     op_of(variant->clock, CALLOUT_OPF_ABSTIME,
				   i ? now_of(variant->clock) + 30 * MSEC : start);
		op.slack = i > 1 ? 20 * MSEC : 0;
		ASSERT_EQ(0, do_op(self->fd, &op));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
		EXPECT_EQ(variant->clock, e.clockid);
		EXPECT_EQ(op.handle, e.handle);
		EXPECT_LE(e.due, now_of(variant->clock));
		EXPECT_TRUE(op.flags & CALLOUT_OPF_ABSTIME ? op.time == e.due :
			    start + op.time <= e.due);
	}
}

/* TIMEOUT, keys and commands take the clock, and slack. */
TEST_F(alarm, fires_by_key)
{
	struct callout_op ops[] = {
		timeout_of(variant->clock, 30 * MSEC),
		keyed(variant->clock, 30 * MSEC),
	}, op;
	struct callout_event e;
	struct ring r;
	unsigned int i;

	if (!self->works)
		return;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		ops[i].slack = MSEC;
		ASSERT_EQ(0, do_op(self->fd, &ops[i]));
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(variant->clock, e.clockid);
		EXPECT_LE(e.due, now_of(variant->clock));
	}
	op = timeout_of(variant->clock, HOUR);
	ASSERT_EQ(0, do_op(self->fd, &op));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_untimeout(self->fd, 1, 2, 0));
	op = keyed(variant->clock, HOUR);
	ASSERT_EQ(0, do_op(self->fd, &op));
	op = keyed(variant->plain, HOUR);
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	EXPECT_EQ(variant->plain, get(self->fd, KEY, CALLOUT_LISTF_KEY).clockid);
	op = keyed(variant->clock, 2 * HOUR);
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	op = cancel_op(KEY);
	EXPECT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	if (!(info_of(self->fd).features & CALLOUT_FEATURE_URING))
		return;
	ASSERT_TRUE(ring_open(&r, 0));
	op = keyed(variant->clock, 30 * MSEC);
	op.flags |= CALLOUT_OPF_ONLY_NEW;
	ASSERT_TRUE(submit_one(&r, self->fd, &op, 1));
	EXPECT_EQ(0, complete(&r, NULL, WAIT_MS));
}

TEST_F(alarm, period)
{
	struct callout_op op = op_of(variant->clock, 0, MSEC);
	struct callout_event e;
	__u64 due;

	if (!self->works)
		return;
	op.period = 20 * MSEC;
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);
	due = e.due + (1 + e.overrun) * 20 * MSEC;
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(due, e.due);
	EXPECT_EQ(variant->clock, e.clockid);
	EXPECT_LE(e.due, now_of(variant->clock));
	EXPECT_LT(0, dev_cancel(self->fd, op.handle));
}

/* LIST gives the clock back, and MOVE keeps it, relative and absolute. */
TEST_F(alarm, get_list_reset)
{
	__u64 time = now_of(variant->clock) + HOUR;
	struct callout_op op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, time), move;
	struct callout_entry entry, listed = { 0 };
	struct callout_list list = {
		.entries = (uintptr_t)&listed,
		.nr_entries = 1,
		.entry_size = sizeof(listed),
	};
	unsigned int i;

	if (!self->works)
		return;
	op.slack = SEC;
	op.period = 3 * SEC;
	ASSERT_EQ(0, do_op(self->fd, &op));
	for (i = 0; i < 4; i++) {
		entry = get(self->fd, op.handle, CALLOUT_LISTF_HANDLE);
		EXPECT_EQ(variant->clock, entry.clockid);
		EXPECT_EQ(SEC, entry.slack);
		EXPECT_EQ(3 * SEC, entry.period);
		if (i & 1) {
			/* The callout's clock was read once, and here twice. */
			EXPECT_LE(time - MSEC, entry.due);
			EXPECT_GE(now_of(variant->clock) + HOUR + MSEC, entry.due);
		} else {
			EXPECT_EQ(CALLOUT_OPF_ABSTIME, entry.op_flags);
			EXPECT_EQ(time, entry.due);
			EXPECT_EQ(time, next_due(self->fd, variant->clock));
		}
		EXPECT_GE(HOUR + MSEC, entry.left);
		list.cursor = 0;
		ASSERT_EQ(0, dev_ioctl(self->fd, CALLOUT_IOC_LIST, &list));
		EXPECT_EQ(variant->clock, listed.clockid);
		EXPECT_EQ(~0ULL, next_due(self->fd, variant->plain));
		move = callout_op_move(op.handle, i & 1 ? time : HOUR);
		if (i & 1)
			move.flags |= CALLOUT_OPF_ABSTIME;
		ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &move));
	}
}

/* Each firing is a wake-up event of the system, but not in a plain clock. */
static unsigned int wakeup_events(void)
{
	unsigned int n = ~0U;
	glob_t found;

	if (glob("/sys/devices/platform/callout-alarm/wakeup/wakeup*/event_count",
		 0, NULL, &found))
		return n;
	read_number(found.gl_pathv[0], &n);
	globfree(&found);
	return n;
}

TEST_F(alarm, firing_is_a_wakeup_event)
{
	unsigned int before = wakeup_events();
	struct callout_op op = op_of(variant->plain, 0, MSEC);
	struct callout_event e;

	if (!self->works)
		return;
	ASSERT_NE(~0U, before);
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	op = op_of(variant->clock, 0, HOUR);
	ASSERT_EQ(0, do_op(self->fd, &op));
	EXPECT_EQ(before, wakeup_events());
	op = op_of(variant->clock, 0, MSEC);
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(before + 1, wakeup_events());
}

/* Absolute times are in the caller's time namespace, and event times in the reader's. */
TEST_F(alarm, time_namespace)
{
	__s64 shift = variant->plain == CLOCK_BOOTTIME ? 7000 * (__s64)SEC : 0;
	int initial = open(NS_FILE, O_RDONLY | O_CLOEXEC);
	int inner;
	struct callout_event e;
	struct callout_op op;
	__u64 time;

	if (initial < 0 || !self->works)
		return;
	ASSERT_TRUE(shift_children(5000, 7000));
	inner = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, inner);
	ASSERT_EQ(0, setns(inner, CLONE_NEWTIME));
	time = now_of(variant->clock) + 30 * MSEC;
	op = op_of(variant->clock, CALLOUT_OPF_ABSTIME, time);
	ASSERT_EQ(0, do_op(self->fd, &op));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(time, e.due);
	EXPECT_LE(time, now_of(variant->clock));
	op.time += HOUR;
	ASSERT_EQ(0, do_op(self->fd, &op));
	EXPECT_EQ(time + HOUR, next_due(self->fd, variant->clock));
	EXPECT_EQ(time + HOUR, get(self->fd, op.handle, CALLOUT_LISTF_HANDLE).due);
	ASSERT_EQ(0, setns(initial, CLONE_NEWTIME));
	EXPECT_EQ(time + HOUR - shift, next_due(self->fd, variant->clock));
	EXPECT_EQ(time + HOUR - shift, get(self->fd, op.handle, CALLOUT_LISTF_HANDLE).due);
	close(inner);
	close(initial);
}

/* An absolute callout follows a setting of the clock, a relative one does not. */
TEST_F(realtime, alarm_follows_settings)
{
	__u64 start = real_now(), entry_due, relative;
	struct callout_event e;

	if (!kernel_has_alarms())
		return;
	ASSERT_NE(0, set_on(self->fd, CLOCK_REALTIME_ALARM, CALLOUT_OPF_ABSTIME,
			    start + 2 * HOUR, 1));
	ASSERT_NE(0, set_on(self->fd, CLOCK_REALTIME_ALARM, CALLOUT_OPF_ABSTIME,
			    start + 9 * HOUR, 2));
	relative = set_on(self->fd, CLOCK_REALTIME_ALARM, 0, 2 * HOUR, 3);
	ASSERT_NE(0, relative);
	entry_due = get(self->fd, relative, CALLOUT_LISTF_HANDLE).due;
	ASSERT_TRUE(step(3 * HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(1, e.cookie);
	EXPECT_EQ(CLOCK_REALTIME_ALARM, e.clockid);
	EXPECT_EQ(start + 2 * HOUR, e.due);
	EXPECT_FALSE(readable_within(self->fd, 50));
	/* The time that the clock will show when the callout is due has moved with the clock. */
	EXPECT_LE(entry_due + 2 * HOUR, get(self->fd, relative, CALLOUT_LISTF_HANDLE).due);
	EXPECT_EQ(0, get(self->fd, relative, CALLOUT_LISTF_HANDLE).flags);
	EXPECT_LT(HOUR, get(self->fd, relative, CALLOUT_LISTF_HANDLE).left);
}

TEST_F(realtime, alarm_ended_by_a_setting)
{
	__u64 handle, time = real_now() + 9 * HOUR;
	struct callout_event e;

	if (!kernel_has_alarms())
		return;
	handle = set_on(self->fd, CLOCK_REALTIME_ALARM,
			CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET, time, 1);
	ASSERT_NE(0, handle);
	EXPECT_EQ(CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET,
		  get(self->fd, handle, CALLOUT_LISTF_HANDLE).op_flags);
	EXPECT_EQ(CLOCK_REALTIME_ALARM, get(self->fd, handle, CALLOUT_LISTF_HANDLE).clockid);
	ASSERT_TRUE(step(HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_CLOCK_SET, e.type);
	EXPECT_EQ(CLOCK_REALTIME_ALARM, e.clockid);
	/* A callout that fires at its time is not marked. */
	ASSERT_NE(0, set_on(self->fd, CLOCK_REALTIME_ALARM,
			    CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET,
			    real_now() + 30 * MSEC, 2));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENT_FIRED, e.type);
	EXPECT_EQ(CLOCK_REALTIME_ALARM, e.clockid);
}

TEST_HARNESS_MAIN
