// SPDX-License-Identifier: GPL-2.0
/*
 * file_smp.c - suite callout_file_smp: what waits for another CPU that uses a
 * file: a step of a clock for the hold of a base, and the end of the file for a
 * read-side section of RCU
 *
 * The other CPU keeps them waiting for a while. A slow machine can hide that they
 * do not wait, and makes no case fail.
 */
#include <linux/err.h>
#include <linux/rcupdate.h>
#include "common.h"
#include "base.h"
#include "dev_clock.h"
#include "dev_file.h"
#include "dev_op.h"
#include "dev_user.h"

#define HOUR		(3600ULL * NSEC_PER_SEC)

/* How long the other CPU keeps others waiting. */
#define HOLD_NS		(50 * NSEC_PER_MSEC)

static struct callout_file *file_create(struct kunit *test)
{
	struct callout_file *file = callout_file_create();

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	return file;
}

/**
 * struct stepper - a thread that re-files callouts after a step of a clock
 * @held: a base is locked
 * @begun: it is about to
 * @ended: it has
 */
struct stepper {
	bool held;
	bool begun;
	bool ended;
};

static void stepper_thread(void *arg)
{
	struct stepper *s = arg;

	callout_test_spin_until(callout_test_told(&s->held));
	callout_test_tell(&s->begun);
	callout_clock_stepped();
	callout_test_tell(&s->ended);
}

/*
 * A step waits for the holds of all bases: an operation may have read the old
 * offset in one, and files its slot before the end.
 */
static void step_waits_for_holds(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct stepper *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct callout_test_thread *t;
	struct callout_base *base;
	bool begun, ended;
	u64 end;

	KUNIT_ASSERT_NOT_NULL(test, s);
	base = callout_base(raw_smp_processor_id());
	t = callout_test_thread(test, other, stepper_thread, s);
	callout_base_lock_irq(base);
	callout_test_tell(&s->held);
	begun = callout_test_clock_until(callout_test_told(&s->begun));
	end = ktime_get_ns() + HOLD_NS;
	while (!callout_test_told(&s->ended) && ktime_get_ns() < end)
		cpu_relax();
	ended = callout_test_told(&s->ended);
	callout_base_unlock_irq(base);
	KUNIT_EXPECT_TRUE(test, begun);
	KUNIT_EXPECT_FALSE(test, ended);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, s->ended);
}

/**
 * struct reader - a thread in a read-side section of RCU, as expiry is
 * @file: another file of the user
 * @reads: the section has begun
 * @closed: a file was closed
 * @charged: what the user is charged for at the end of the section
 */
struct reader {
	struct callout_file *file;
	bool reads;
	bool closed;
	unsigned int charged;
};

static void reader_thread(void *arg)
{
	struct reader *r = arg;
	u64 end;

	rcu_read_lock();
	callout_test_tell(&r->reads);
	callout_test_spin_until(callout_test_told(&r->closed));
	end = ktime_get_ns() + HOLD_NS;
	do {
		cpu_relax();
		r->charged = callout_file_user_charged(r->file);
	} while (r->charged && ktime_get_ns() < end);
	rcu_read_unlock();
}

static bool quota_is_back(struct callout_file *file)
{
	return callout_test_wait_until(!callout_file_user_charged(file));
}

static void set_one(struct kunit *test, struct callout_file *file)
{
	struct callout_op_ctx ctx = {};
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
	};

	KUNIT_EXPECT_EQ(test, 0, callout_file_set(file, &op, &ctx));
	callout_ctx_flush(file, &ctx);
}

/*
 * A user's quota is charged until the callouts of a closed file are freed, and
 * that is not while an expiry may still use the file.
 */
static void quota_until_freed(struct kunit *test)
{
	unsigned int cpu = callout_test_pin_one(test);
	struct reader *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct callout_test_thread *t;
	struct callout_file *closed;

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->file = file_create(test);
	KUNIT_EXPECT_TRUE(test, quota_is_back(r->file));
	closed = file_create(test);
	set_one(test, closed);
	KUNIT_EXPECT_LT(test, 0U, callout_file_user_charged(r->file));
	t = callout_test_thread(test, cpu, reader_thread, r);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&r->reads)));
	callout_file_destroy(closed);
	callout_test_tell(&r->closed);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_LT(test, 0U, r->charged);
	KUNIT_EXPECT_TRUE(test, quota_is_back(r->file));
	callout_file_destroy(r->file);
}

static struct kunit_case file_smp_cases[] = {
	KUNIT_CASE(step_waits_for_holds),
	KUNIT_CASE(quota_until_freed),
	{}
};

static struct kunit_suite file_smp_suite = {
	.name = "callout_file_smp",
	.test_cases = file_smp_cases,
};

kunit_test_suite(file_smp_suite);
