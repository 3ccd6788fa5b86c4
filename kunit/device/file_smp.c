// SPDX-License-Identifier: GPL-2.0
/*
 * file_smp.c - suite callout_file_smp: waits for another CPU that uses a file. A
 * step of a clock waits for the hold of a base, operations wait for the growth of
 * the table, and the end of the file waits for an RCU read-side section. open() and
 * close() do not wait for the end of a step. UNTIMEOUT waits for the hold of a base
 *
 * The other CPU keeps them waiting for a while. On a slow machine a missing wait
 * can go unnoticed, but no case fails. Only untimeout_after_a_move must see the wait,
 * as callout_test_contended() does.
 */
#include <linux/err.h>
#include <linux/rcupdate.h>
#include "lib/common.h"
#include "lib/file.h"
#include "base/base.h"
#include "device/clock.h"
#include "device/ctx.h"
#include "device/file.h"
#include "device/named.h"
#include "device/set.h"
#include "device/user.h"

#define HOUR		(3600ULL * NSEC_PER_SEC)

/* How long the other CPU keeps others waiting. */
#define HOLD_NS		(50 * NSEC_PER_MSEC)

static struct callout_file *file_create(struct kunit *test)
{
	struct callout_file *file = co_file_create();

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	return file;
}

static void set_one(struct kunit *test, struct callout_file *file, u64 time)
{
	struct callout_op_ctx ctx = {};
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_MONOTONIC,
		.time = time,
	};

	KUNIT_ASSERT_EQ(test, 0, co_file_set(file, &op, &ctx));
	co_ctx_flush(file, &ctx);
}

/**
 * struct waiter - a thread on the other CPU that waits for the hold of a base
 * @up: the thread runs
 * @held: the base is locked
 * @begun: the thread is about to wait for the base
 * @ended: the thread does not wait, or no longer waits
 */
struct waiter {
	bool up;
	bool held;
	bool begun;
	bool ended;
};

static void waiter_await_hold(struct waiter *w)
{
	callout_test_tell(&w->up);
	callout_test_spin_until(callout_test_told(&w->held));
	callout_test_tell(&w->begun);
}

/* With the base locked, let the thread continue. Return whether it ended in spite of the lock. */
static bool waiter_ends(struct waiter *w)
{
	u64 end;

	callout_test_tell(&w->held);
	callout_test_clock_until(callout_test_told(&w->begun));
	end = ktime_get_ns() + HOLD_NS;
	while (!callout_test_told(&w->ended) && ktime_get_ns() < end)
		cpu_relax();
	return callout_test_told(&w->ended);
}

/* Requeue callouts after a step of a clock. */
static void stepper_thread(void *arg)
{
	struct waiter *w = arg;

	waiter_await_hold(w);
	co_clock_stepped();
	callout_test_tell(&w->ended);
}

/*
 * A step waits for the holds of all bases: an operation may have read the old
 * offset in a hold, and queues its slot before the end of the hold.
 */
static void step_waits_for_holds(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct waiter *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct callout_test_thread *t;
	struct callout_base *base;
	bool ended;

	KUNIT_ASSERT_NOT_NULL(test, w);
	base = co_base(raw_smp_processor_id());
	t = callout_test_thread(test, other, stepper_thread, w);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_test_told(&w->up)));
	co_base_lock_irq(base);
	ended = waiter_ends(w);
	co_base_unlock_irq(base);
	KUNIT_EXPECT_TRUE(test, w->begun);
	KUNIT_EXPECT_FALSE(test, ended);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, w->ended);
}

/* Threads that find no free slot at the same time; fewer than slots in a chunk */
#define SETTERS		32

/**
 * struct setter - a thread that sets a callout
 * @file: the file in which it sets the callout
 * @ret: return value of the operation
 */
struct setter {
	struct callout_file *file;
	int ret;
};

static void setter_thread(void *arg)
{
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
	};
	struct callout_op_ctx ctx = {};
	struct setter *s = arg;

	s->ret = co_file_set(s->file, &op, &ctx);
	co_ctx_flush(s->file, &ctx);
}

/*
 * Threads that wait for the growth of a table take the slots that the first of them
 * adds. A thread that counts the new chunk before its slots are available, and
 * finds none, adds another chunk.
 */
static void waiters_share_a_chunk(struct kunit *test)
{
	struct callout_file *file = file_create(test);
	struct callout_test_thread *t[SETTERS];
	const atomic_t *n = &file->outstanding;
	struct setter *s;
	unsigned int i;

	s = kunit_kcalloc(test, SETTERS, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	mutex_lock(&file->table.grow);
	for (i = 0; i < SETTERS; i++) {
		s[i].file = file;
		t[i] = callout_test_thread(test, i % num_online_cpus(),
					   setter_thread, &s[i]);
	}
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(n) == SETTERS));
	fsleep(HOLD_NS / NSEC_PER_USEC);
	mutex_unlock(&file->table.grow);
	for (i = 0; i < SETTERS; i++) {
		KUNIT_EXPECT_TRUE(test, callout_test_join(t[i]));
		KUNIT_EXPECT_EQ(test, 0, s[i].ret);
	}
	KUNIT_EXPECT_LE(test, file->table.nr_chunks, 2U);
	co_file_destroy(file);
}

/**
 * struct reader - a thread in an RCU read-side section, like expiry
 * @file: another file of the user
 * @reads: the section has begun
 * @closed: a file was closed
 * @charged: number of callouts charged to the user at the end of the section
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
	/* A worker would free the file during this time. */
	end = ktime_get_ns() + 10 * HOLD_NS;
	do {
		cpu_relax();
		r->charged = co_file_user_charged(r->file);
	} while (r->charged && ktime_get_ns() < end);
	rcu_read_unlock();
}

static bool quota_is_back(struct callout_file *file)
{
	return callout_test_wait_until(!co_file_user_charged(file));
}

/*
 * A user's quota is charged until the callouts of a closed file are freed, and they
 * are not freed while an expiry may still use the file.
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
	set_one(test, closed, HOUR);
	KUNIT_EXPECT_LT(test, 0U, co_file_user_charged(r->file));
	t = callout_test_thread(test, cpu, reader_thread, r);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&r->reads)));
	co_file_destroy(closed);
	callout_test_tell(&r->closed);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_LT(test, 0U, r->charged);
	KUNIT_EXPECT_TRUE(test, quota_is_back(r->file));
	co_file_destroy(r->file);
}

/* How often a step stops, and the number of naps of at most a millisecond for each stop. */
#define STOPS		500U
#define STOP_NAPS	20U

/**
 * struct stops - a file, in each chunk of which a step of a clock can be stopped
 * @file: the file
 * @slot: a pending slot of each chunk
 * @index: index of the base to which each slot belongs
 * @n: number of chunks
 * @stopped: the step has stopped in the first chunk
 * @came_and_went: another file has been opened and closed since
 */
struct stops {
	struct callout_file *file;
	struct callout_slot *slot[STOPS];
	u32 index[STOPS];
	unsigned int n;
	bool stopped;
	bool came_and_went;
};

/* The first pending slot of a chunk, or NULL. */
static struct callout_slot *pending_of(struct callout_slot *slot)
{
	unsigned int i;

	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
		if (READ_ONCE(slot[i].node.state) & CALLOUT_S_PENDING)
			return &slot[i];
	return NULL;
}

/* Make co_lock() of the slot wait from now on, as if the slot were migrating. */
static void stop_add(struct stops *s, struct callout_slot *slot)
{
	struct callout_base *base;
	unsigned long flags;

	base = co_lock(&slot->node, &flags);
	s->slot[s->n] = slot;
	s->index[s->n++] = base->index;
	WRITE_ONCE(slot->node.cpu, CALLOUT_CPU_MOVING);
	co_unlock(base, flags);
}

static void stop_end(struct stops *s, unsigned int i)
{
	struct callout_base *base = co_base(s->index[i]);

	co_base_lock_irq(base);
	WRITE_ONCE(s->slot[i]->node.cpu, base->index);
	co_base_unlock_irq(base);
}

static struct stops *stops_create(struct kunit *test)
{
	struct stops *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_REALTIME,
		.flags = CALLOUT_OPF_ABSTIME,
		.time = ktime_get_real_ns() + 24 * HOUR,
	};
	struct callout_slot *chunk, *slot;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->file = file_create(test);
	for (i = 0; i < STOPS * CALLOUT_CHUNK_SLOTS; i++) {
		struct callout_op_ctx ctx = {};

		KUNIT_EXPECT_EQ(test, 0, co_file_set(s->file, &op, &ctx));
		co_ctx_flush(s->file, &ctx);
		cond_resched();
	}
	for (i = 0; s->n < STOPS && (chunk = co_file_chunk(s->file, i)); i++) {
		slot = pending_of(chunk);
		if (slot)
			stop_add(s, slot);
	}
	return s;
}

static void step_thread(void *arg)
{
	co_clock_stepped();
}

static void visitor_thread(void *arg)
{
	struct callout_file *file;
	struct stops *s = arg;

	if (!callout_test_wait_until(callout_test_told(&s->stopped)))
		return;
	file = co_file_create();
	if (IS_ERR(file))
		return;
	co_file_destroy(file);
	callout_test_tell(&s->came_and_went);
}

/* Wait for a while. Return whether the other file has come and gone. */
static bool stop_suffices(struct stops *s)
{
	unsigned int i;

	for (i = 0; i < STOP_NAPS && !callout_test_told(&s->came_and_went); i++)
		usleep_range(500, 1000);
	return callout_test_told(&s->came_and_went);
}

/*
 * A file is opened and closed while a step of a clock is under way: both calls wait
 * for the chunk that is being visited, or for a few chunks, not for all.
 *
 *	CPU0: the step			CPU1: open(), close()
 *	lock(files)
 *	a chunk, where it stops
 *					wait for files
 *	unlock(files)
 *	lock(files)			after a few chunks it is this one's turn
 */
static void files_come_and_go_amid_a_step(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, used;
	struct callout_test_thread *stepper, *visitor;
	struct stops *s = stops_create(test);

	KUNIT_EXPECT_GT(test, s->n, STOPS / 2);
	visitor = callout_test_thread(test, raw_smp_processor_id(),
				      visitor_thread, s);
	stepper = callout_test_thread(test, other, step_thread, s);
	/* The step holds the lock of the files. */
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(s->file->step_at)));
	callout_test_tell(&s->stopped);
	for (i = 0; i < s->n && !stop_suffices(s); i++)
		stop_end(s, i);
	used = i;
	for (; i < s->n; i++)
		stop_end(s, i);
	kunit_info(test, "after %u of %u chunks\n", used, s->n);
	KUNIT_EXPECT_LT(test, used, s->n);
	KUNIT_EXPECT_TRUE(test, callout_test_join(stepper));
	KUNIT_EXPECT_TRUE(test, callout_test_join(visitor));
	KUNIT_EXPECT_TRUE(test, s->came_and_went);
	co_file_destroy(s->file);
}

/**
 * struct canceller - a thread that cancels by function and argument
 * @file: the file
 * @begin: the thread may begin
 * @ret: the result
 */
struct canceller {
	struct callout_file *file;
	bool begin;
	int ret;
};

static void canceller_thread(void *arg)
{
	struct callout_op op = { .op = CALLOUT_OP_UNTIMEOUT, .func = 3, .cookie = 5 };
	struct canceller *c = arg;

	callout_test_spin_until(callout_test_told(&c->begin));
	c->ret = callout_test_file_do(c->file, &op);
}

/*
 * UNTIMEOUT has found the first of two callouts with one function and argument, and
 * waits for its base, when a MOVE makes it the second: it cancels the other one.
 */
static void untimeout_after_a_move(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct canceller *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct callout_op op[2];
	struct callout_bucket_hold hold;
	struct callout_test_thread *t;
	struct callout_slot *slot[2];
	struct callout_base *base;
	bool waits;

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->file = file_create(test);
	for (i = 0; i < 2; i++) {
		op[i] = (struct callout_op){
			.op = CALLOUT_OP_TIMEOUT,
			.clockid = CLOCK_MONOTONIC,
			.time = (i + 1) * HOUR,
			.func = 3,
			.cookie = 5,
		};
		KUNIT_ASSERT_EQ(test, 0, callout_test_file_do(c->file, &op[i]));
		slot[i] = co_table_lookup(&c->file->table, op[i].handle);
		KUNIT_ASSERT_NOT_NULL(test, slot[i]);
	}
	base = co_base(slot[0]->node.cpu);
	t = callout_test_thread(test, other, canceller_thread, c);
	co_base_lock_irq(base);
	callout_test_tell(&c->begin);
	waits = callout_test_contended(base);
	co_hash_move_begin(&c->file->table.hash, slot[0], &hold);
	co_scheme_move(base->scheme, &slot[0]->node, co_now(base),
		       slot[1]->node.expires + 1);
	co_hash_move_end(&c->file->table.hash, slot[0], &hold);
	co_base_unlock_irq(base);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_EXPECT_EQ(test, c->ret, CALLOUT_STATE_PENDING);
	KUNIT_EXPECT_EQ(test, op[0].handle, co_file_find(c->file, 3, 5));
	co_file_destroy(c->file);
}

static struct kunit_case file_smp_cases[] = {
	KUNIT_CASE(step_waits_for_holds),
	KUNIT_CASE(waiters_share_a_chunk),
	KUNIT_CASE(quota_until_freed),
	KUNIT_CASE(files_come_and_go_amid_a_step),
	KUNIT_CASE(untimeout_after_a_move),
	{}
};

static struct kunit_suite file_smp_suite = {
	.name = "callout_file_smp",
	.test_cases = file_smp_cases,
};

kunit_test_suite(file_smp_suite);
