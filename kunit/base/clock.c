// SPDX-License-Identifier: GPL-2.0
/*
 * clock.c - suite callout_clock: time that wraps, and one time for all CPUs
 */
#include <linux/sched.h>
#include "lib/virtual.h"

/* Shortly before jiffies wrap: as 32 bits, as signed 32 bits, as signed 64 bits, as 64 bits. */
static const u64 starts[] = {
	(2ULL << 32) - 4, (2ULL << 32) + S32_MAX - 4, S64_MAX - 4,
	U64_MAX - 400,
};

static void start_desc(const u64 *start, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "from %#llx", *start);
}

KUNIT_ARRAY_PARAM(start, starts, start_desc);

/* Callouts are on time where 32-bit, signed and unsigned ticks wrap. */
static void clock_wraps(struct kunit *test)
{
	static const long distances[] = { 1, 2, 3, 4, 5, 6, 10, 64, 65, 200 };
	struct callout_virtual *v = test->priv;
	struct callout_item *a;
	u64 start = *(const u64 *)test->param_value;
	unsigned int i, step;

	a = callout_virtual_items(test, ARRAY_SIZE(distances) + 2);
	callout_virtual_run_to(v, start);
	for (i = 0; i < ARRAY_SIZE(distances); i++)
		callout_virtual_set(&a[i], distances[i]);
	/* One callout is re-armed across the wrap, and one is stopped after it. */
	callout_virtual_set(&a[i], 2);
	callout_virtual_set(&a[i], 30);
	callout_virtual_set(&a[i + 1], 30);
	KUNIT_EXPECT_EQ(test, v->armed, start + 1);
	for (step = 1; step <= 200; step++) {
		callout_virtual_run_to(v, start + step);
		if (step == 20)
			KUNIT_EXPECT_EQ(test, callout_stop(&a[i + 1].c), 1);
	}
	for (i = 0; i < ARRAY_SIZE(distances); i++) {
		KUNIT_EXPECT_EQ(test, a[i].runs, 1);
		KUNIT_EXPECT_EQ(test, a[i].ran_at, start + distances[i]);
	}
	KUNIT_EXPECT_EQ(test, a[i].runs, 1);
	KUNIT_EXPECT_EQ(test, a[i].ran_at, start + 30);
	KUNIT_EXPECT_EQ(test, a[i + 1].runs, 0);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

/* A jump across the wrap runs all callouts in order of expiry. */
static void clock_jumps_over_the_wrap(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 100);
	u64 start = *(const u64 *)test->param_value;
	unsigned int i;

	callout_virtual_run_to(v, start);
	for (i = 0; i < 100; i++)
		callout_virtual_set(&a[i], 100 - i);
	callout_virtual_run_to(v, start + 100);
	KUNIT_EXPECT_EQ(test, v->ran, 100);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_EQ(test, a[i].place, 99 - i);
}

/**
 * struct relay - threads that read the time in turn
 * @last: the time that the previous thread has read
 * @turn: number of the current turn
 * @n: number of threads
 * @behind: number of times that a thread read less than the previous thread
 */
struct relay {
	u64 last;
	unsigned int turn;
	unsigned int n;
	unsigned int behind;
};

struct runner {
	struct relay *relay;
	unsigned int number;
};

#define RELAY_ROUNDS	100U

static void relay_run(void *arg)
{
	struct runner *me = arg;
	struct relay *relay = me->relay;
	unsigned int turn = me->number, i;
	struct callout_base *base;
	u64 now;

	for (i = 0; i < RELAY_ROUNDS; i++, turn += relay->n) {
		/* Pairs with the smp_store_release() below in the previous thread. */
		if (!callout_test_wait_until(smp_load_acquire(&relay->turn) ==
					     turn))
			return;
		base = co_base(raw_smp_processor_id());
		now = co_now(base);
		relay->behind += now < relay->last;
		relay->last = now;
		/* Pairs with the smp_load_acquire() above in the next thread. */
		smp_store_release(&relay->turn, turn + 1);
	}
}

/* Time never goes back between two CPUs that read it one after the other. */
static void clock_is_one_for_all(struct kunit *test)
{
	struct callout_test_thread *t[8];
	struct runner *runner;
	struct relay *relay;
	unsigned int cpu, n = 0, i;

	relay = kunit_kzalloc(test, sizeof(*relay), GFP_KERNEL);
	runner = kunit_kcalloc(test, ARRAY_SIZE(t), sizeof(*runner),
			       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, relay);
	KUNIT_ASSERT_NOT_NULL(test, runner);
	relay->n = min_t(unsigned int, num_online_cpus(), ARRAY_SIZE(t));
	for_each_online_cpu(cpu) {
		if (n == relay->n)
			break;
		runner[n].relay = relay;
		runner[n].number = n;
		t[n] = callout_test_thread(test, cpu, relay_run, &runner[n]);
		n++;
	}
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_TRUE(test, callout_test_join(t[i]));
	KUNIT_EXPECT_EQ(test, relay->turn, n * RELAY_ROUNDS);
	KUNIT_EXPECT_EQ(test, relay->behind, 0);
}

/* A tick of a source that counts from the clock's zero begins at a multiple, exactly. */
static void clock_of_a_tick(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	u64 far = v->now + U64_MAX / 4 / TICK_NSEC;

	KUNIT_EXPECT_EQ(test, co_to_ns(v->base, v->now), v->now * TICK_NSEC);
	KUNIT_EXPECT_EQ(test, co_to_ns(v->base, v->now - 1), (v->now - 1) * TICK_NSEC);
	KUNIT_EXPECT_EQ(test, co_to_ns(v->base, v->now + 1), (v->now + 1) * TICK_NSEC);
	KUNIT_EXPECT_EQ(test, co_to_ns(v->base, far), far * TICK_NSEC);
	KUNIT_EXPECT_EQ(test, co_to_ns(v->base, far + 1), U64_MAX / 2);
}

static struct kunit_case clock_cases[] = {
	KUNIT_CASE_PARAM(clock_wraps, start_gen_params),
	KUNIT_CASE_PARAM(clock_jumps_over_the_wrap, start_gen_params),
	KUNIT_CASE(clock_of_a_tick),
	KUNIT_CASE(clock_is_one_for_all),
	{}
};

static struct kunit_suite clock_suite = {
	.name = "callout_clock",
	.init = callout_virtual_init,
	.test_cases = clock_cases,
};

kunit_test_suite(clock_suite);
