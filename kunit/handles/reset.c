// SPDX-License-Identifier: GPL-2.0
/*
 * reset.c - suite callout_reset: resetcallout(), setcallout_on()
 *
 * Only the case with a CPU and the race wait for time to pass.
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include "lib/kernel_table.h"
#include "core/cpu.h"
#include "core/expiry.h"
#include "handles/kernel.h"

static void count_handler(void *arg)
{
	atomic_t *runs = arg;

	atomic_inc(runs);
}

/* A callout moves to earlier and to later ticks, and keeps its handle. */
static void reset_moves(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	u64 handle, now;

	callout_test_pin(test, raw_smp_processor_id());
	handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	now = callout_test_expires(handle) - CALLOUT_TEST_FAR;
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 2 * CALLOUT_TEST_FAR), 1);
	KUNIT_EXPECT_GE(test, callout_test_expires(handle),
			now + 2 * CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, CALLOUT_TEST_FAR / 2), 1);
	KUNIT_EXPECT_GE(test, callout_test_expires(handle),
			now + CALLOUT_TEST_FAR / 2);
	KUNIT_EXPECT_LT(test, callout_test_expires(handle),
			now + CALLOUT_TEST_FAR);
	callout_test_expire_now(handle);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), 1);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 1), -1);
	handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 2 * CALLOUT_TEST_FAR), 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 1), -1);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), 1);
}

/* A stale or invented handle moves nothing. */
static void reset_stale(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	unsigned int i, wrong = 0;
	u64 handle, old, expires;

	callout_test_pin(test, raw_smp_processor_id());
	old = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, unsetcallout(old), 1);
	/* Most of these callouts have the same slot. */
	for (i = 0; i < 100; i++) {
		handle = setcallout(count_handler, &runs, CALLOUT_TEST_FAR);
		expires = callout_test_expires(handle);
		wrong += resetcallout(old, 1) != -1;
		wrong += resetcallout(0, 1) != -1;
		wrong += resetcallout(handle ^ CALLOUT_GEN_ONE, 1) != -1;
		wrong += resetcallout(handle + CALLOUT_GEN_ONE, 1) != -1;
		wrong += resetcallout(handle | (CALLOUT_GEN_ONE - 1), 1) != -1;
		wrong += callout_test_expires(handle) != expires;
		wrong += unsetcallout(handle) != 1;
		old = handle;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), 0);
}

struct own {
	u64 handle;
	int ret;
	unsigned int runs;
};

static void own_handler(void *arg)
{
	struct own *own = arg;

	own->runs++;
	own->ret = resetcallout(own->handle, 1);
}

/* A handler cannot move its own callout, which runs once. */
static void reset_in_its_own_handler(struct kunit *test)
{
	struct own own = { .ret = -100 };

	callout_test_pin(test, raw_smp_processor_id());
	own.handle = setcallout(own_handler, &own, CALLOUT_TEST_FAR);
	callout_test_expire_now(own.handle);
	KUNIT_EXPECT_EQ(test, own.runs, 1);
	KUNIT_EXPECT_EQ(test, own.ret, 0);
	KUNIT_EXPECT_EQ(test, resetcallout(own.handle, 1), -1);
}

/* untimeout() cancels the first callout to expire, also after moves have changed the order. */
static void reset_of_timeout(struct kunit *test)
{
	atomic_t runs = ATOMIC_INIT(0);
	u64 handle[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		handle[i] = callout_timeout(count_handler, &runs,
					    CALLOUT_TEST_FAR + 1000 * i);
	/* The order is 1, 2, 0. */
	KUNIT_EXPECT_EQ(test, resetcallout(handle[0], 2 * CALLOUT_TEST_FAR), 1);
	KUNIT_EXPECT_EQ(test, callout_untimeout(count_handler, &runs), 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle[1]), -1);
	/* The order is 0, 2. */
	KUNIT_EXPECT_EQ(test, resetcallout(handle[0], CALLOUT_TEST_FAR / 2), 1);
	KUNIT_EXPECT_EQ(test, callout_untimeout(count_handler, &runs), 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle[0]), -1);
	KUNIT_EXPECT_EQ(test, callout_untimeout_handle(count_handler, &runs,
						       handle[2]), 1);
	KUNIT_EXPECT_EQ(test, callout_untimeout(count_handler, &runs), -1);
}

#define RACE_ROUNDS	1000U

/**
 * struct race - one thread moves callouts, another cancels them
 * @handle: the handle of the callout that is set, or 0
 * @runs: the argument of the callouts' handler
 * @end: the thread that moves may return
 * @moved: number of moves
 * @wrong: number of impossible results
 */
struct race {
	u64 handle;
	atomic_t runs;
	bool end;
	unsigned int moved;
	unsigned int wrong;
};

static void race_mover(void *arg)
{
	struct race *r = arg;
	unsigned int i = 0;
	int ret;

	while (!callout_test_told(&r->end)) {
		ret = resetcallout(READ_ONCE(r->handle),
				   CALLOUT_TEST_FAR + i++ % 3);
		r->moved += ret == 1;
		/* No handler runs. */
		r->wrong += !ret;
		cond_resched();
	}
}

/* A callout that is moved all the time is cancelled exactly once. */
static void reset_against_untimeout(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, wrong = 0;
	unsigned int rounds = callout_test_rounds(RACE_ROUNDS);
	struct callout_test_thread *t;
	struct race *r;
	u64 handle;

	r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, r);
	t = callout_test_thread(test, other, race_mover, r);
	for (i = 0; i < rounds || !READ_ONCE(r->moved); i++) {
		handle = callout_timeout(count_handler, &r->runs,
					 CALLOUT_TEST_FAR);
		WRITE_ONCE(r->handle, handle);
		if (i % 4)
			ndelay(i % 512);
		wrong += callout_untimeout(count_handler, &r->runs) != 1;
		wrong += callout_untimeout(count_handler, &r->runs) != -1;
		wrong += unsetcallout(handle) != -1;
		cond_resched();
	}
	callout_test_tell(&r->end);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	kunit_info(test, "moved %u times\n", r->moved);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, r->wrong, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->runs), 0);
}

struct place {
	int cpu;
	bool ran;
};

static void place_handler(void *arg)
{
	struct place *place = arg;

	place->cpu = smp_processor_id();
	callout_test_tell(&place->ran);
}

/* The handler runs on the requested CPU, also after a move. */
static void set_on_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct place *place;
	u64 handle;

	place = kunit_kzalloc(test, sizeof(*place), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, place);
	handle = setcallout_on(place_handler, place, CALLOUT_TEST_FAR, other);
	KUNIT_EXPECT_EQ(test, callout_test_slot(handle)->node.cpu, other);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 1), 1);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&place->ran)));
	KUNIT_EXPECT_EQ(test, place->cpu, other);
	callout_barrier();
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), -1);
}

/* A search that begins during a move begins again, whether or not the move has ended. */
static void reset_in_a_search(struct kunit *test)
{
	unsigned int moves;

	co_move_begin();
	moves = co_moves_read();
	KUNIT_EXPECT_TRUE(test, co_moves_since(moves));
	co_move_end();
	KUNIT_EXPECT_TRUE(test, co_moves_since(moves));
	KUNIT_EXPECT_FALSE(test, co_moves_since(co_moves_read()));
}

static void set_timeout(void *arg)
{
	u64 *handle = arg;

	*handle = callout_timeout(count_handler, handle, CALLOUT_TEST_FAR);
}

/*
 * A callout whose CPU goes offline moves to another CPU when it is reset, since the
 * tick of its CPU may have been shut down already. A search that began before the
 * move begins again.
 */
static void reset_while_cpu_goes(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, pending, moves;
	struct callout_base *base = co_base(other);
	u64 handle[2];

	handle[0] = setcallout_on(count_handler, NULL, CALLOUT_TEST_FAR, other);
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(other, set_timeout,
							  &handle[1], true));
	callout_test_set_online(base, false);
	pending = co_base_pending(base);
	for (i = 0; i < 2; i++) {
		moves = co_moves_read();
		KUNIT_EXPECT_EQ(test, resetcallout(handle[i],
						   CALLOUT_TEST_FAR / 2), 1);
		KUNIT_EXPECT_TRUE(test, co_moves_since(moves));
	}
	pending -= co_base_pending(base);
	callout_test_set_online(base, true);
	KUNIT_EXPECT_EQ(test, pending, 2);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_NE(test, callout_test_slot(handle[i])->node.cpu,
				other);
		KUNIT_EXPECT_LT(test, callout_test_expires(handle[i]),
				co_now(base) + CALLOUT_TEST_FAR);
	}
	KUNIT_EXPECT_EQ(test, unsetcallout(handle[0]), 1);
	KUNIT_EXPECT_EQ(test, callout_untimeout(count_handler, &handle[1]), 1);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle[1]), -1);
}

/* A callout that is set on a CPU is in that CPU's base, whichever CPU sets it. */
static void set_on_every_cpu(struct kunit *test)
{
	unsigned int from, cpu, index, pending;
	u64 handle;

	for_each_online_cpu(from) {
		callout_test_pin(test, from);
		for_each_online_cpu(cpu) {
			index = co_base(cpu)->index;
			pending = co_base_pending(co_base(cpu));
			handle = setcallout_on(count_handler, NULL, CALLOUT_TEST_FAR, cpu);
			KUNIT_EXPECT_EQ(test, callout_test_slot(handle)->node.cpu, index);
			KUNIT_EXPECT_EQ(test, co_base_pending(co_base(cpu)),
					pending + 1);
			KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
		}
	}
}

/* If the CPU does not exist or is offline, this CPU is used. */
static void set_on_no_cpu(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask), i;
	int none[] = { -1, nr_cpu_ids, INT_MAX, cpu };
	bool goes = IS_ENABLED(CONFIG_HOTPLUG_CPU) && cpu;
	unsigned int pending;
	u64 handle;

	callout_test_pin(test, 0);
	if (goes)
		KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	for (i = 0; i < ARRAY_SIZE(none) - !goes; i++) {
		pending = co_base_pending(co_base(0));
		handle = setcallout_on(count_handler, NULL, CALLOUT_TEST_FAR,
				       none[i]);
		KUNIT_EXPECT_EQ(test, callout_test_slot(handle)->node.cpu, 0);
		KUNIT_EXPECT_EQ(test, co_base_pending(co_base(0)), pending + 1);
		KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
		KUNIT_EXPECT_EQ(test, co_base_pending(co_base(0)), pending);
	}
	if (goes)
		KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
}

static struct kunit_case reset_cases[] = {
	KUNIT_CASE(reset_moves),
	KUNIT_CASE(reset_stale),
	KUNIT_CASE(reset_in_its_own_handler),
	KUNIT_CASE(reset_of_timeout),
	KUNIT_CASE_SLOW(reset_against_untimeout),
	KUNIT_CASE(reset_in_a_search),
	KUNIT_CASE(reset_while_cpu_goes),
	KUNIT_CASE(set_on_cpu),
	KUNIT_CASE(set_on_every_cpu),
	KUNIT_CASE_SLOW(set_on_no_cpu),
	{}
};

static struct kunit_suite reset_suite = {
	.name = "callout_reset",
	.test_cases = reset_cases,
};

kunit_test_suite(reset_suite);
