// SPDX-License-Identifier: GPL-2.0
/*
 * file.c - suite callout_file: an open file's callouts across suspend, corrupt
 * slots, keys whose events come back, and extreme times
 *
 * CLOCK_BOOTTIME steps on resume only, so these cases add the length of a sleep to
 * it themselves, for callouts on the bases of real CPUs. The selftests test the
 * rest of the device from user space.
 */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/uio.h>
#include "lib/common.h"
#include "core/queue.h"
#include "core/expiry.h"
#include "device/alarm.h"
#include "device/clock.h"
#include "device/ctx.h"
#include "device/event.h"
#include "device/file.h"
#include "device/key.h"
#include "device/named.h"
#include "device/set.h"
#include "lib/file.h"

#define HOUR	(3600ULL * NSEC_PER_SEC)

struct file_event {
	ssize_t ret;
	struct callout_event event;
};

/* Set a callout with a slack. Return the handle. */
static u64 file_set_slack(struct kunit *test, u32 what, clockid_t clockid,
			  u64 time, u64 cookie, u64 slack)
{
	struct callout_op op = {
		.op = what,
		.clockid = clockid,
		.time = time,
		.cookie = cookie,
		.slack = slack,
	};

	KUNIT_EXPECT_EQ(test, 0, callout_test_file_do(test->priv, &op));
	return op.handle;
}

static u64 file_set(struct kunit *test, u32 what, clockid_t clockid, u64 time,
		    u64 cookie)
{
	return file_set_slack(test, what, clockid, time, cookie, 0);
}

/* Simulate that the system sleeps for @ns. */
static void file_sleep(u64 ns)
{
	callout_boot_step += ns;
	co_clock_stepped();
}

static struct file_event file_read(struct callout_file *file)
{
	struct file_event got = {};
	struct kvec vec = {
		.iov_base = &got.event,
		.iov_len = sizeof(got.event),
	};
	struct iov_iter to;

	iov_iter_kvec(&to, ITER_DEST, &vec, 1, vec.iov_len);
	got.ret = co_file_read(file, &to, NULL);
	return got;
}

/* Wait for an event, and read it. */
static struct callout_event file_event(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct file_event got;

	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(READ_ONCE(file->unread)));
	got = file_read(file);
	KUNIT_EXPECT_EQ(test, got.ret, (ssize_t)sizeof(got.event));
	return got.event;
}

/* On resume the callouts of CLOCK_BOOTTIME that became due during the sleep fire, and no others. */
static void boot_sleep(struct kunit *test)
{
	struct callout_file *file = test->priv;
	u64 now = ktime_get_ns() + co_boot_offset(), first, third;
	struct callout_event event;

	first = file_set(test, CALLOUT_OP_SET, CLOCK_BOOTTIME, HOUR, 1);
	file_set(test, CALLOUT_OP_SET, CLOCK_MONOTONIC, HOUR, 2);
	third = file_set(test, CALLOUT_OP_SET, CLOCK_BOOTTIME, 3 * HOUR, 3);
	KUNIT_EXPECT_LE(test, now + HOUR, callout_test_file_due(file, first));
	file_sleep(2 * HOUR);
	event = file_event(test);
	schedule_timeout_uninterruptible(4);
	KUNIT_EXPECT_EQ(test, event.cookie, 1ULL);
	KUNIT_EXPECT_LE(test, now + HOUR, event.due);
	KUNIT_EXPECT_LE(test, event.due, now + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, file_read(file).ret, 0L);
	KUNIT_EXPECT_LE(test, now + 3 * HOUR, callout_test_file_due(file, third));
}

/* A callout that is set after a sleep is not early by the length of the sleep. */
static void boot_set_after_sleep(struct kunit *test)
{
	struct callout_file *file = test->priv;
	u64 now, handle;

	file_sleep(2 * HOUR);
	now = ktime_get_ns() + co_boot_offset();
	handle = file_set(test, CALLOUT_OP_SET, CLOCK_BOOTTIME, HOUR, 1);
	KUNIT_EXPECT_LE(test, now + HOUR, callout_test_file_due(file, handle));
	schedule_timeout_uninterruptible(4);
	KUNIT_EXPECT_EQ(test, file_read(file).ret, 0L);
}

/* A callout that resume has requeued is found by its new expiry in the hash. */
static void boot_sleep_hashed(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct callout_op op = {
		.op = CALLOUT_OP_UNTIMEOUT,
		.cookie = 1,
	};
	u64 first, second;

	first = file_set(test, CALLOUT_OP_TIMEOUT, CLOCK_MONOTONIC, 2 * HOUR,
			 1);
	second = file_set(test, CALLOUT_OP_TIMEOUT, CLOCK_BOOTTIME, 3 * HOUR,
			  1);
	/* Make the second callout due first. */
	file_sleep(2 * HOUR);
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &op));
	op = (struct callout_op){ .op = CALLOUT_OP_CANCEL, .handle = second };
	KUNIT_EXPECT_EQ(test, -ENOENT, callout_test_file_do(file, &op));
	op.handle = first;
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &op));
}

/* A callout is due once, and @overrun more times, in a sleep of @slept. */
static void periods_pass(struct kunit *test, u64 slept, u64 overrun)
{
	struct callout_file *file = test->priv;
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_BOOTTIME,
		.time = HOUR,
		.period = HOUR,
	};
	struct callout_event event;

	KUNIT_EXPECT_EQ(test, 0, callout_test_file_do(file, &op));
	file_sleep(slept);
	event = file_event(test);
	KUNIT_EXPECT_EQ(test, event.overrun, overrun);
	KUNIT_EXPECT_EQ(test, event.flags, CALLOUT_EVENTF_PERIODIC);
	KUNIT_EXPECT_EQ(test, callout_test_file_due(file, op.handle),
			event.due + (overrun + 1) * HOUR);
	op.op = CALLOUT_OP_CANCEL;
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &op));
}

/* The periods that passed in a sleep are counted as overruns. */
static void boot_sleep_periodic(struct kunit *test)
{
	periods_pass(test, 10 * HOUR + HOUR / 2, 9);
}

/* One period that has passed, and a part of the next, count as one overrun. */
static void boot_sleep_one_period(struct kunit *test)
{
	periods_pass(test, 2 * HOUR + HOUR / 2, 1);
}

/* The number of callouts that have fired. */
static u64 file_handlers(void)
{
	struct callout_base *base;
	unsigned int i;
	u64 sum = 0;

	for_each_base(base, i)
		sum += co_handlers(base);
	return sum;
}

/*
 * A callout whose tick comes before its time is postponed, and counted once,
 * when it fires. The case steps the clock back, as the kernel never does.
 */
static void boot_postponed(struct kunit *test)
{
	u64 handlers = file_handlers();
	struct callout_event event;

	callout_boot_step = HOUR;
	file_set(test, CALLOUT_OP_SET, CLOCK_BOOTTIME, 50 * NSEC_PER_MSEC, 1);
	callout_boot_step -= 200 * NSEC_PER_MSEC;
	event = file_event(test);
	KUNIT_EXPECT_EQ(test, file_handlers() - handlers, 1ULL);
	KUNIT_EXPECT_LE(test, event.due, event.fired + co_boot_offset());
}

static bool called;

static void file_call(void *arg)
{
	called = true;
}

/* A cancelled callout leaves room in its base. */
static void file_cancel_leaves_room(struct kunit *test)
{
	struct callout_op op = { .op = CALLOUT_OP_CANCEL };
	struct callout_file *file = test->priv;
	struct callout_slot *slot;
	struct callout_base *base;
	unsigned int pending;

	op.handle = file_set(test, CALLOUT_OP_SET, CLOCK_MONOTONIC, HOUR, 1);
	slot = co_table_lookup(&file->table, op.handle);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	base = co_base(slot->node.cpu);
	pending = co_base_pending(base);
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &op));
	KUNIT_EXPECT_EQ(test, co_base_pending(base), pending - 1);
}

/* A slot without generations left has no handle, not even 0, which the slot stores. */
static void file_slot_retires(struct kunit *test)
{
	struct callout_op op = { .op = CALLOUT_OP_CANCEL };
	struct callout_file *file = test->priv;
	struct callout_slot *slot;

	/* The handle 0 would belong to the first slot, if to any. */
	do {
		op.handle = file_set(test, CALLOUT_OP_SET, CLOCK_MONOTONIC, HOUR,
				     1);
		slot = co_table_lookup(&file->table, op.handle);
		KUNIT_ASSERT_NOT_NULL(test, slot);
	} while (op.handle & (CALLOUT_GEN_ONE - 1));
	op.handle |= CALLOUT_GEN_MAX << CALLOUT_SLOT_BITS;
	slot->handle = op.handle;
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &op));
	KUNIT_EXPECT_EQ(test, slot->handle, 0ULL);
	op.handle = 0;
	KUNIT_EXPECT_EQ(test, -ENOENT, callout_test_file_do(file, &op));
	op.op = CALLOUT_OP_MOVE;
	op.time = HOUR;
	KUNIT_EXPECT_EQ(test, -ENOENT, callout_test_file_do(file, &op));
}

/* A slot whose kind was overwritten does not call an address of its program. */
static void file_without_kind(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct callout_op op = {
		.op = CALLOUT_OP_TIMEOUT,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
		.func = (unsigned long)file_call,
	};
	struct callout_slot *slot;

	called = false;
	KUNIT_EXPECT_EQ(test, 0, callout_test_file_do(file, &op));
	slot = co_table_lookup(&file->table, op.handle);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	slot->node.kind = 0;
	op.op = CALLOUT_OP_MOVE;
	op.flags = CALLOUT_OPF_ABSTIME;
	op.time = 0;
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &op));
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(!(READ_ONCE(slot->node.state) &
							  CALLOUT_S_PENDING)));
	schedule_timeout_uninterruptible(2);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(called));
	KUNIT_EXPECT_EQ(test, READ_ONCE(file->unread), 0U);
}

/* A search leaves a callout in the hash, so another search finds it until it is cancelled. */
static void file_found_until_it_is_cancelled(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct callout_op set = {
		.op = CALLOUT_OP_TIMEOUT,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
		.func = 3,
		.cookie = 5,
	};
	struct callout_op cancel = {
		.op = CALLOUT_OP_UNTIMEOUT,
		.func = 3,
		.cookie = 5,
	};
	unsigned int i;

	KUNIT_EXPECT_EQ(test, 0, callout_test_file_do(file, &set));
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, set.handle, co_file_find(file, 3, 5));
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &cancel));
	KUNIT_EXPECT_EQ(test, 0, co_file_find(file, 3, 5));
	KUNIT_EXPECT_EQ(test, -ENOENT, callout_test_file_do(file, &cancel));
}

/* No number that a program chooses is stored where the core reads a function or a lock. */
static void file_numbers_are_no_addresses(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct callout_op op = {
		.op = CALLOUT_OP_TIMEOUT,
		.flags = CALLOUT_OPF_ABSTIME,
		.clockid = CLOCK_MONOTONIC,
		.time = KTIME_MAX,
		.cookie = ~0ULL,
		.func = ~0ULL,
	};
	struct callout_slot *slot;
	struct callout *c;

	KUNIT_EXPECT_EQ(test, 0, callout_test_file_do(file, &op));
	slot = co_table_lookup(&file->table, op.handle);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	c = container_of(&slot->node, struct callout, node);
	KUNIT_EXPECT_GE(test, (long)c->func, 0L);
	KUNIT_EXPECT_EQ(test, (unsigned long)c->lock, op.handle);
	op.op = CALLOUT_OP_UNTIMEOUT;
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &op));
}

/* Read into a buffer that is not mapped. */
static ssize_t file_read_fails(struct callout_file *file)
{
	struct iov_iter to;

	iov_iter_ubuf(&to, ITER_DEST, (void __user *)-1L,
		      sizeof(struct callout_event));
	return co_file_read(file, &to, NULL);
}

/*
 * An event that came back from a reader has no key, and its callout cannot be
 * moved: another callout may have the key.
 */
static void key_lost(struct kunit *test)
{
	struct callout_op set = {
		.op = CALLOUT_OP_SET,
		.flags = CALLOUT_OPF_KEY,
		.clockid = CLOCK_MONOTONIC,
		.key = 7,
	};
	struct callout_op cancel = {
		.op = CALLOUT_OP_CANCEL,
		.flags = CALLOUT_OPF_KEY,
		.key = 7,
	};
	struct callout_op move = {
		.op = CALLOUT_OP_MOVE,
		.time = HOUR,
	};
	struct callout_file *file = test->priv;
	struct callout_event event;

	KUNIT_EXPECT_EQ(test, 0, callout_test_file_do(file, &set));
	KUNIT_EXPECT_EQ(test, set.key, 7ULL);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(READ_ONCE(file->unread)));
	move.handle = co_file_find(file, CALLOUT_KEY_FUNC, 7);
	KUNIT_ASSERT_NE(test, move.handle, 0);
	KUNIT_EXPECT_EQ(test, file_read_fails(file), (ssize_t)-EFAULT);
	KUNIT_EXPECT_EQ(test, READ_ONCE(file->unread), 1U);

	/* As a caller that found the handle before. */
	KUNIT_EXPECT_EQ(test, -ENOENT, callout_test_file_do(file, &move));
	KUNIT_EXPECT_EQ(test, READ_ONCE(file->unread), 1U);
	KUNIT_EXPECT_EQ(test, -ENOENT, callout_test_file_do(file, &cancel));

	set.time = HOUR;
	KUNIT_EXPECT_EQ(test, 0, callout_test_file_do(file, &set));
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &set));
	event = file_event(test);
	KUNIT_EXPECT_EQ(test, event.key, 7ULL);
	KUNIT_EXPECT_EQ(test, event.flags, CALLOUT_EVENTF_KEY);
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &cancel));
	KUNIT_EXPECT_EQ(test, -ENOENT, callout_test_file_do(file, &cancel));
	KUNIT_EXPECT_EQ(test, atomic_read(&file->outstanding), 0);
}

/* A periodic callout keeps its key when its event comes back from a reader. */
static void key_kept(struct kunit *test)
{
	struct callout_op set = {
		.op = CALLOUT_OP_SET,
		.flags = CALLOUT_OPF_KEY,
		.clockid = CLOCK_MONOTONIC,
		.period = HOUR,
		.key = 7,
		.cookie = 8,
	};
	struct callout_op cancel = {
		.op = CALLOUT_OP_CANCEL,
		.flags = CALLOUT_OPF_KEY,
		.key = 7,
	};
	struct callout_file *file = test->priv;
	struct callout_event event;

	KUNIT_EXPECT_EQ(test, 0, callout_test_file_do(file, &set));
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(READ_ONCE(file->unread)));
	KUNIT_EXPECT_EQ(test, file_read_fails(file), (ssize_t)-EFAULT);
	event = file_event(test);
	KUNIT_EXPECT_EQ(test, event.key, 7ULL);
	KUNIT_EXPECT_EQ(test, event.cookie, 8ULL);
	KUNIT_EXPECT_EQ(test, event.flags, CALLOUT_EVENTF_KEY | CALLOUT_EVENTF_PERIODIC);
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &cancel));
	KUNIT_EXPECT_EQ(test, -ENOENT, callout_test_file_do(file, &cancel));
	KUNIT_EXPECT_EQ(test, atomic_read(&file->outstanding), 0);
}

/*
 * A relative time counts from the moment when the callout is set: a run that has
 * slept reads the clock again.
 */
static void time_after_sleep(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct callout_op_ctx ctx = { .now = 1 };
	struct callout_op op = {
		.op = CALLOUT_OP_TIMEOUT,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
	};
	u64 now = ktime_get_ns();

	/* The first callout of a file takes memory, and so does the first TIMEOUT. */
	KUNIT_EXPECT_EQ(test, 0, co_file_set(file, &op, &ctx));
	KUNIT_EXPECT_LE(test, now, ctx.now);
	co_ctx_flush(file, &ctx);
	KUNIT_EXPECT_LE(test, now + HOUR, callout_test_file_due(file, op.handle));
}

/* As time_after_sleep(), for a file's first callout with a key. */
static void time_after_sleep_keyed(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct callout_op_ctx ctx = { .now = 1 };
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
		.key = 1,
	};
	u64 now = ktime_get_ns(), handle;

	KUNIT_EXPECT_EQ(test, 0, co_file_set_key(file, &op, &ctx));
	KUNIT_EXPECT_LE(test, now, ctx.now);
	co_ctx_flush(file, &ctx);
	handle = co_file_find(file, CALLOUT_KEY_FUNC, 1);
	KUNIT_ASSERT_NE(test, handle, 0);
	KUNIT_EXPECT_LE(test, now + HOUR, callout_test_file_due(file, handle));
}

/* The longest time does not overflow: the callout is due at the end of the clock. */
static void time_longest(struct kunit *test)
{
	u64 handle = file_set(test, CALLOUT_OP_SET, CLOCK_MONOTONIC, KTIME_MAX, 1);

	KUNIT_EXPECT_EQ(test, callout_test_file_due(test->priv, handle),
			(u64)KTIME_MAX);
}

/* A late callout has no time left, and can still be moved. */
static void left_of_late(struct kunit *test)
{
	struct callout_op move = {
		.op = CALLOUT_OP_MOVE,
		.time = HOUR,
	};
	struct callout_file *file = test->priv;
	u64 due = ktime_get_ns() + HOUR;

	callout_test_pin(test, raw_smp_processor_id());
	move.handle = file_set(test, CALLOUT_OP_SET, CLOCK_MONOTONIC, HOUR, 1);
	/* Nothing expires on this CPU in between. */
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &move));
	KUNIT_EXPECT_LE(test, move.left, HOUR);
	KUNIT_EXPECT_LE(test, due, ktime_get_ns() + move.left);
	move.time = 1;
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &move));
	ndelay(1000);
	move.time = HOUR;
	KUNIT_EXPECT_EQ(test, CALLOUT_STATE_PENDING, callout_test_file_do(file, &move));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, move.left, 0ULL);
	KUNIT_EXPECT_EQ(test, file_read(file).ret, 0L);
}

static int file_init(struct kunit *test)
{
	struct callout_file *file = co_file_create();

	if (IS_ERR(file))
		return PTR_ERR(file);
	test->priv = file;
	return 0;
}

static void file_exit(struct kunit *test)
{
	callout_boot_step = 0;
	if (test->priv)
		co_file_destroy(test->priv);
}

static void expect_earliest(struct kunit *test, u64 start, u64 distance)
{
	u64 now = ktime_get_ns(), earliest = co_alarm_earliest();

	KUNIT_EXPECT_LE(test, start + distance, earliest);
	KUNIT_EXPECT_GE(test, now + distance, earliest);
}

/*
 * A suspend lasts until the first callout on an alarm clock must fire: until the
 * end of its slack.
 */
static void alarm_earliest(struct kunit *test)
{
	struct callout_op cancel = { .op = CALLOUT_OP_CANCEL };
	u64 start = ktime_get_ns();

	KUNIT_EXPECT_EQ(test, co_alarm_earliest(), U64_MAX);
	file_set(test, CALLOUT_OP_SET, CLOCK_BOOTTIME, HOUR, 1);
	file_set(test, CALLOUT_OP_SET, CLOCK_REALTIME, HOUR, 1);
	KUNIT_EXPECT_EQ(test, co_alarm_earliest(), U64_MAX);
	file_set(test, CALLOUT_OP_SET, CLOCK_REALTIME_ALARM, 9 * HOUR, 0);
	expect_earliest(test, start, 9 * HOUR + callout_slack_ns);
	file_set_slack(test, CALLOUT_OP_TIMEOUT, CLOCK_BOOTTIME_ALARM, 8 * HOUR,
		       0, HOUR / 2);
	expect_earliest(test, start, 8 * HOUR + HOUR / 2);
	cancel.handle = file_set_slack(test, CALLOUT_OP_SET,
				       CLOCK_BOOTTIME_ALARM, 4 * HOUR, 0,
				      3 * HOUR);
	expect_earliest(test, start, 7 * HOUR);
	KUNIT_EXPECT_EQ(test, callout_test_file_do(test->priv, &cancel), CALLOUT_STATE_PENDING);
	expect_earliest(test, start, 8 * HOUR + HOUR / 2);
	/* A sleep brings all callouts nearer, including those set relatively. */
	file_sleep(HOUR);
	expect_earliest(test, start, 7 * HOUR + HOUR / 2);
}

/* A callout that is never due ends no suspend, not even after other callouts. */
static void alarm_never(struct kunit *test)
{
	file_sleep(HOUR);
	file_set(test, CALLOUT_OP_SET, CLOCK_BOOTTIME_ALARM, KTIME_MAX, 0);
	file_set(test, CALLOUT_OP_SET, CLOCK_REALTIME_ALARM, KTIME_MAX, 0);
	KUNIT_EXPECT_EQ(test, co_alarm_earliest(), U64_MAX);
}

/* A callout on an alarm clock that becomes due while the system sleeps fires on resume. */
static void alarm_sleep(struct kunit *test)
{
	struct callout_event event;

	file_set_slack(test, CALLOUT_OP_SET, CLOCK_REALTIME_ALARM, HOUR, 0,
		       HOUR / 2);
	file_sleep(2 * HOUR);
	event = file_event(test);
	KUNIT_EXPECT_EQ(test, event.clockid, CLOCK_REALTIME_ALARM);
	KUNIT_EXPECT_EQ(test, co_alarm_earliest(), U64_MAX);
}

/*
 * With the default slack or more a callout's tick is a multiple of the default slack, up to
 * the end of the callout's slack. With less slack it is the first tick.
 */
static void slack_tick(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct callout_base *base = co_base_of(file->table.class, 0);
	u64 now = ktime_get_ns(), due, slack, tick, late;
	struct rnd_state rng;
	unsigned int i;

	callout_test_rng(test, &rng);
	for (i = 0; i < 10000; i++) {
		due = now + 1 + (prandom_u32_state(&rng) >> callout_test_below(&rng, 32));
		slack = i & 1 ? callout_slack_ns :
				prandom_u32_state(&rng) >> callout_test_below(&rng, 32);
		tick = co_slack_tick(base, due, slack, now);
		late = tick * base->tick_ns - due;
		KUNIT_EXPECT_LE(test, late, slack < callout_slack_ns ? base->tick_ns - 1 : slack);
		if (slack >= callout_slack_ns)
			KUNIT_EXPECT_EQ(test, tick % callout_slack_ticks, 0);
		if (i & 1)
			KUNIT_EXPECT_EQ(test, tick, co_default_tick(due, now));
		/* A callout that is due has no slack left. */
		tick = co_slack_tick(base, now - i, HOUR, now);
		late = tick * base->tick_ns - now;
		KUNIT_EXPECT_LE(test, late, callout_slack_ns);
		KUNIT_EXPECT_GT(test, late, 0);
	}
}

/* Bases of programs bound false wake-ups by the default slack, and other bases do not. */
static void false_wakeups_are_bounded(struct kunit *test)
{
	struct callout_file *file = test->priv;
	struct callout_base *base = co_base_of(file->table.class, 0);
	bool bounded = co_is_wheel(base) && !base->tick->create;

	KUNIT_EXPECT_EQ(test, base->wake_gap, bounded ? callout_slack_ticks : 0);
	KUNIT_EXPECT_EQ(test, co_base_of(CALLOUT_CLASS_KERNEL, 0)->wake_gap, 0);
}

static struct kunit_case file_cases[] = {
	KUNIT_CASE(slack_tick),
	KUNIT_CASE(false_wakeups_are_bounded),
	KUNIT_CASE(boot_sleep),
	KUNIT_CASE(boot_set_after_sleep),
	KUNIT_CASE(boot_sleep_hashed),
	KUNIT_CASE(alarm_earliest),
	KUNIT_CASE(alarm_never),
	KUNIT_CASE(alarm_sleep),
	KUNIT_CASE(boot_sleep_periodic),
	KUNIT_CASE(boot_sleep_one_period),
	KUNIT_CASE(boot_postponed),
	KUNIT_CASE(file_cancel_leaves_room),
	KUNIT_CASE(file_slot_retires),
	KUNIT_CASE(file_without_kind),
	KUNIT_CASE(file_found_until_it_is_cancelled),
	KUNIT_CASE(file_numbers_are_no_addresses),
	KUNIT_CASE(key_lost),
	KUNIT_CASE(key_kept),
	KUNIT_CASE(time_after_sleep),
	KUNIT_CASE(time_after_sleep_keyed),
	KUNIT_CASE(time_longest),
	KUNIT_CASE(left_of_late),
	{}
};

static struct kunit_suite file_suite = {
	.name = "callout_file",
	.init = file_init,
	.exit = file_exit,
	.test_cases = file_cases,
};

kunit_test_suite(file_suite);
