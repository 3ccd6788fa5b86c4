// SPDX-License-Identifier: GPL-2.0
/*
 * period.c - periodic callouts and their overrun
 */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "lib/common.h"

FIXTURE(period) {
	int fd;
	__u64 tick;
};

FIXTURE_VARIANT(period) {
	clockid_t clock;
};

FIXTURE_VARIANT_ADD(period, monotonic) { .clock = CLOCK_MONOTONIC };
FIXTURE_VARIANT_ADD(period, boottime) { .clock = CLOCK_BOOTTIME };

FIXTURE_SETUP(period)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->tick = default_slack();
	ASSERT_NE(0, self->tick);
}

FIXTURE_TEARDOWN(period)
{
	EXPECT_EQ(0, close(self->fd));
}

static struct callout_op op_periodic(clockid_t clock, __u64 time, __u64 period)
{
	struct callout_op op = callout_op_set(time, 3);

	op.clockid = clock;
	op.flags = CALLOUT_OPF_ABSTIME;
	op.period = period;
	return op;
}

/* Return the handle, or 0. */
static __u64 set_periodic(int fd, clockid_t clock, __u64 time, __u64 period)
{
	struct callout_op op = op_periodic(clock, time, period);

	return do_op(fd, &op) ? 0 : op.handle;
}

static int set_again(int fd, clockid_t clock, __u64 handle, __u64 time,
		     __u64 period)
{
	struct callout_op op = op_periodic(clock, time, period);

	op.flags |= CALLOUT_OPF_ONLY_OLD;
	op.handle = handle;
	return do_op(fd, &op);
}

/* The next handle of a slot that was periodic names nothing until it is set. */
TEST_F(period, next_handle_names_nothing)
{
	__u64 time = now_of(variant->clock), handle;
	struct callout_event e;

	handle = set_periodic(self->fd, variant->clock, time, HOUR);
	ASSERT_NE(0, handle);
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(handle, e.handle);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	handle += 1ULL << 24;
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, handle));
	EXPECT_EQ(-ENOENT,
		  set_again(self->fd, variant->clock, handle, time + HOUR,
			    HOUR));
}

TEST_F(period, reader_is_fast)
{
	__u64 due = now_of(variant->clock), period = 3 * self->tick, handle;
	struct callout_event e;
	int i;

	handle = set_periodic(self->fd, variant->clock, due, period);
	ASSERT_NE(0, handle);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(handle, e.handle);
		EXPECT_EQ(3, e.cookie);
		EXPECT_EQ(0, e.func);
		EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);
		EXPECT_EQ(due, e.due);
		EXPECT_LE(e.due, now_of(variant->clock));
		if (variant->clock == CLOCK_MONOTONIC)
			EXPECT_LE(e.due, e.fired);
		EXPECT_EQ(1, info_of(self->fd).outstanding);
		due += (e.overrun + 1) * period;
	}
	EXPECT_EQ(20, counts_of(self->fd).repeated);
	EXPECT_EQ(0, counts_of(self->fd).delivered);
	EXPECT_LE(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	EXPECT_FALSE(readable_within(self->fd, 50));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* A slow reader gets one event, whose overrun counts the missed periods. */
TEST_F(period, reader_is_slow)
{
	__u64 start = now_of(variant->clock), period = 5 * MSEC, handle;
	__u64 due = start, before, after;
	struct callout_event e[2];
	int i;

	handle = set_periodic(self->fd, variant->clock, start, period);
	ASSERT_NE(0, handle);
	for (i = 0; i < 4; i++) {
		sleep_ns(60 * MSEC);
		ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
		EXPECT_EQ(1, info_of(self->fd).unread);
		before = now_of(variant->clock);
		ASSERT_EQ(1, receive(self->fd, e, 1));
		after = now_of(variant->clock);
		EXPECT_EQ(due, e[0].due);
		EXPECT_LE((before - due) / period, e[0].overrun);
		EXPECT_GE((after - due) / period, e[0].overrun);
		EXPECT_LT(0, e[0].overrun);
		due += (e[0].overrun + 1) * period;
	}
	EXPECT_LE(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, e, 2));
}

TEST_F(period, cancel)
{
	__u64 now = now_of(variant->clock), handle;
	struct callout_event e;

	/* The callout is pending before its first event, and after it. */
	handle = set_periodic(self->fd, variant->clock, now + HOUR, HOUR);
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	handle = set_periodic(self->fd, variant->clock, now, HOUR);
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);
	EXPECT_EQ(now + HOUR, next_due(self->fd, variant->clock));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, handle));

	/* Unread. */
	handle = set_periodic(self->fd, variant->clock, now, MSEC);
	ASSERT_TRUE(wait_unread(self->fd, 1));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handle));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, handle));
	EXPECT_FALSE(readable_within(self->fd, 30));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_EQ(3, counts_of(self->fd).set);
	EXPECT_EQ(2, counts_of(self->fd).cancelled);
	EXPECT_EQ(1, counts_of(self->fd).withdrawn);
	EXPECT_EQ(1, counts_of(self->fd).repeated);
}

TEST_F(period, set_again)
{
	__u64 now = now_of(variant->clock), handle;
	struct callout_event e;

	/* The event goes, with its overrun. */
	handle = set_periodic(self->fd, variant->clock, now, MSEC);
	ASSERT_TRUE(wait_unread(self->fd, 1));
	now = now_of(variant->clock);
	EXPECT_EQ(CALLOUT_STATE_UNREAD,
		  set_again(self->fd, variant->clock, handle, now, HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(now, e.due);
	EXPECT_EQ(0, e.overrun);
	EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);

	/* Set another period, and then none, so that the next event is the last. */
	now = now_of(variant->clock);
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  set_again(self->fd, variant->clock, handle, now, 2 * HOUR));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(now + 2 * HOUR, next_due(self->fd, variant->clock));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  set_again(self->fd, variant->clock, handle, now, 0));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(handle, e.handle);
	EXPECT_EQ(0, e.flags);
	EXPECT_EQ(0, e.overrun);
	EXPECT_EQ(-ENOENT, set_again(self->fd, variant->clock, handle, now, 0));
	EXPECT_EQ(1, counts_of(self->fd).delivered);
}

TEST_F(period, set_again_makes_it_periodic)
{
	__u64 now = now_of(variant->clock), handle;
	struct callout_event e;
	int i;

	handle = set_periodic(self->fd, variant->clock, now + HOUR, 0);
	ASSERT_NE(0, handle);
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  set_again(self->fd, variant->clock, handle, now, MSEC));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(handle, e.handle);
		EXPECT_EQ(CALLOUT_EVENTF_PERIODIC, e.flags);
	}
	EXPECT_LE(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
}

/* A period may be much shorter than a tick or than the read of an event. */
TEST_F(period, shorter_than_a_tick)
{
	static const __u64 periods[] = { 1, 1000, 12345 };
	__u64 due, before, after, handle;
	struct callout_event e;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		due = now_of(variant->clock);
		handle = set_periodic(self->fd, variant->clock, due,
				      periods[i]);
		ASSERT_NE(0, handle);
		for (j = 0; j < 10; j++) {
			ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
			before = now_of(variant->clock);
			ASSERT_EQ(1, receive(self->fd, &e, 1));
			after = now_of(variant->clock);
			EXPECT_EQ(due, e.due);
			EXPECT_LE((before - due) / periods[i], e.overrun);
			EXPECT_GE((after - due) / periods[i], e.overrun);
			due += (e.overrun + 1) * periods[i];
		}
		EXPECT_LE(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, handle));
	}
}

/*
 * However short the period, the callout fires once until the event is read. It
 * does not fire at the ticks in between, at which another callout of the same
 * base fires.
 */
TEST_F(period, fires_once_until_it_is_read)
{
	int other = dev_open(O_NONBLOCK);
	struct callout_event e;
	long long fired;
	__u64 handle;
	int i, j;

	ASSERT_LE(0, other);
	ASSERT_TRUE(pin_to_cpu(0));
	handle = set_periodic(self->fd, variant->clock,
			      now_of(variant->clock), 1);
	ASSERT_NE(0, handle);
	for (i = 1; i <= 5; i++) {
		ASSERT_TRUE(wait_unread(self->fd, 1));
		fired = fdinfo_number(self->fd, "fired");
		EXPECT_EQ(i, fired);
		for (j = 0; j < 5; j++) {
			ASSERT_NE(0, set(other, self->tick, j));
			ASSERT_EQ(1, receive(other, &e, 1));
		}
		EXPECT_EQ(fired, fdinfo_number(self->fd, "fired"));
		EXPECT_EQ(1, info_of(self->fd).unread);
		ASSERT_EQ(1, receive(self->fd, &e, 1));
	}
	EXPECT_LE(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	EXPECT_EQ(0, close(other));
}

/* Overrun has 64 bits: here it counts one a nanosecond since the boot, for 5 s and more. */
TEST_F(period, overrun_of_many)
{
	__u64 before, now, handle;
	struct callout_event e;

	do {
		now = now_of(variant->clock);
	} while (now < 5 * SEC);
	handle = set_periodic(self->fd, variant->clock, 0, 1);
	ASSERT_NE(0, handle);
	ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
	before = now_of(variant->clock);
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(0, e.due);
	EXPECT_LE(before, e.overrun);
	EXPECT_GE(now_of(variant->clock), e.overrun);
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_LE(before, e.due);
	EXPECT_GT(UINT_MAX, e.overrun);
	EXPECT_LE(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
}

TEST_F(period, huge)
{
	static const __u64 periods[] = { TIME_MAX, TIME_MAX - 1, 1ULL << 62 };
	__u64 now = now_of(variant->clock), handle;
	struct callout_event e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		handle = set_periodic(self->fd, variant->clock, now,
				      periods[i]);
		ASSERT_NE(0, handle);
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(now, e.due);
		EXPECT_EQ(0, e.overrun);
		EXPECT_FALSE(readable_within(self->fd, 10));
		EXPECT_LT(now + HOUR, next_due(self->fd, variant->clock));
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, handle));
	}
}

/* An event that could not be copied stays unread, and its overrun keeps counting. */
TEST_F(period, bad_buffer)
{
	__u64 start = now_of(variant->clock), period = MSEC, handle, before;
	struct callout_event e;
	int i;

	handle = set_periodic(self->fd, variant->clock, start, period);
	ASSERT_TRUE(wait_unread(self->fd, 1));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(-EFAULT, dev_read(self->fd, nowhere(), 1));
		EXPECT_EQ(1, info_of(self->fd).unread);
	}
	EXPECT_EQ(0, counts_of(self->fd).repeated);
	sleep_ns(10 * MSEC);
	before = now_of(variant->clock);
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(start, e.due);
	EXPECT_LE((before - start) / period, e.overrun);
	start += (e.overrun + 1) * period;
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(start, e.due);
	EXPECT_LE(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Each callout has its own period, and none misses one. */
TEST_F(period, many)
{
	enum { N = 500 };
	static __u64 due[N], period[N];
	__u64 end, now = now_of(variant->clock);
	static struct callout_event e[64];
	unsigned int seed = 1, wrong = 0, heard = 0;
	struct callout_op op;
	int i, n;

	for (i = 0; i < N; i++) {
		period[i] = 10 * MSEC + rand_r(&seed) % (50 * MSEC);
		due[i] = now + i * MSEC / 10;
		op = op_periodic(variant->clock, due[i], period[i]);
		op.cookie = i;
		ASSERT_EQ(0, do_op(self->fd, &op));
	}
	end = dev_now() + 300 * MSEC;
	while (dev_now() < end || heard < N) {
		ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
		n = dev_read(self->fd, e, ARRAY_SIZE(e));
		ASSERT_LT(0, n);
		for (i = 0; i < n; i++) {
			ASSERT_GT(N, e[i].cookie);
			heard += due[e[i].cookie] == now + e[i].cookie *
							   MSEC / 10;
			wrong += e[i].due != due[e[i].cookie];
			due[e[i].cookie] += (e[i].overrun + 1) *
					    period[e[i].cookie];
		}
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(N, info_of(self->fd).outstanding);
}

/*
 * One thread reads, another cancels or re-arms for a time far away: no read()
 * that begins afterwards returns an event of that callout. Only a read() that
 * began earlier may.
 */
#define RACE_TIME	SEC

/* The maximum number of cancels on a slow machine, until an event was read. */
#define RACE_CANCELS	4000

struct race {
	int fd;
	void *page;
	size_t size;
	atomic_bool stop;
	atomic_ullong gone;	/* the cookie that was cancelled last */
	unsigned int late;
	atomic_uint events;
};

static void *race_reader(void *arg)
{
	struct race *race = arg;
	struct callout_event *e = race->page;
	__u64 gone;
	int i, n;

	while (!race->stop) {
		readable_within(race->fd, 5);
		/* The copy of an event takes long when it faults. */
		madvise(race->page, race->size, MADV_DONTNEED);
		gone = race->gone;
		n = dev_read(race->fd, e, 8);
		for (i = 0; i < n; i++) {
			race->late += e[i].cookie <= gone;
			race->events++;
		}
	}
	return NULL;
}

static bool race_goes_on(struct race *race, __u64 end, __u64 cancels)
{
	return dev_now() < end ||
	       (!race->events && cancels < RACE_CANCELS);
}

TEST_F(period, cancel_races_read)
{
	__u64 cookie, end = dev_now() + RACE_TIME, handle;
	unsigned int seed = 1, reading = 0;
	struct race race = {
		.fd = self->fd,
		.size = sysconf(_SC_PAGESIZE),
	};
	struct callout_op op;
	pthread_t thread;
	int ret;

	race.page = mmap(NULL, race.size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, race.page);
	ASSERT_EQ(0, pthread_create(&thread, NULL, race_reader, &race));
	for (cookie = 1; race_goes_on(&race, end, cookie - 1); cookie++) {
		op = op_periodic(variant->clock, 0, 1);
		op.cookie = cookie;
		ASSERT_EQ(0, do_op(self->fd, &op));
		handle = op.handle;
		/* Cancel when the reader wakes up too, or at any time. */
		if (cookie % 8)
			readable_within(self->fd, 20);
		else
			sleep_ns(rand_r(&seed) % (2 * self->tick));
		/* The callout is outstanding even while the reader copies its event. */
		if (cookie & 1)
			ret = dev_cancel(self->fd, handle);
		else
			ret = set_again(self->fd, variant->clock, handle,
					TIME_MAX, HOUR);
		ASSERT_LE(CALLOUT_STATE_PENDING, ret);
		race.gone = cookie;
		reading += ret == CALLOUT_STATE_READING;
		if (cookie & 1)
			continue;
		/* The reader may have finished since, but no other read has begun. */
		ASSERT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	}
	race.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, race.late);
	EXPECT_TRUE(race.events > 0);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	EXPECT_TRUE(race.events == counts_of(self->fd).repeated);
	TH_LOG("%u of %llu met their reader", reading, cookie - 1);
}

TEST_HARNESS_MAIN
