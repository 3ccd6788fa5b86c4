// SPDX-License-Identifier: GPL-2.0
/*
 * reserve.c - suite callout_reserve: slots that callout_reserve() adds or finds
 */
#include <linux/smp.h>
#include "handles/kernel.h"
#include "lib/kernel_table.h"
#include "lib/stock.h"

/* callout_reserve() adds free slots to this CPU's pool before it returns. */
static void reserve_adds_slots(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), have;

	callout_test_pin(test, cpu);
	have = callout_test_free_slots(cpu);
	KUNIT_EXPECT_EQ(test, callout_reserve(0), 0);
	KUNIT_EXPECT_EQ(test, callout_reserve(have), 0);
	KUNIT_EXPECT_EQ(test, callout_reserve(have + 1), 0);
	KUNIT_EXPECT_GT(test, callout_test_free_slots(cpu), have);
	/* All slots of a chunk but the first chunk's spare one. */
	KUNIT_EXPECT_EQ(test, (callout_test_free_slots(cpu) - have) % CALLOUT_CHUNK_SLOTS, 0);
}

/* The slots are in the pool that setcallout() uses, even on a nohz_full CPU. */
static void reserve_at_home(struct kunit *test)
{
	unsigned int cpu, home, have;

	for_each_online_cpu(cpu) {
		callout_test_pin(test, cpu);
		home = co_base(co_home_cpu())->index;
		have = callout_test_free_slots(home);
		KUNIT_EXPECT_EQ(test, callout_reserve(have + 1), 0);
		KUNIT_EXPECT_GT(test, callout_test_free_slots(home), have);
	}
}

/* At the limit the free slots of all CPUs count, and stay where they are. */
static void reserve_counts_all(struct kunit *test)
{
	unsigned int cpu = raw_smp_processor_id(), have, all;

	callout_test_pin_one(test);
	callout_stock_create(test, true);
	have = callout_test_free_slots(cpu);
	all = callout_stock_free();
	KUNIT_ASSERT_GT(test, all, have);
	KUNIT_EXPECT_EQ(test, callout_reserve(all), 0);
	KUNIT_EXPECT_EQ(test, callout_test_free_slots(cpu), have);
	KUNIT_EXPECT_EQ(test, callout_stock_free(), all);
}

/* A callout_reserve() that fails changes nothing. */
static void reserve_too_much(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	unsigned int cpu, wrong = 0, *have;
	u64 handle;

	have = kunit_kcalloc(test, nr_cpu_ids, sizeof(*have), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, have);
	callout_stock_create(test, true);
	/* After this the other CPU has some slots. */
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(other, callout_stock_set,
							  &handle, true));
	KUNIT_ASSERT_EQ(test, unsetcallout(handle), 1);
	for_each_possible_cpu(cpu)
		have[cpu] = callout_test_free_slots(cpu);
	KUNIT_EXPECT_EQ(test, callout_reserve(callout_stock_free() + 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, callout_reserve(UINT_MAX), -ENOSPC);
	for_each_possible_cpu(cpu)
		wrong += have[cpu] != callout_test_free_slots(cpu);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

struct reserver {
	unsigned int n;
	int ret;
};

static void reserve_thread(void *arg)
{
	struct reserver *r = arg;

	r->ret = callout_reserve(r->n);
}

/* Two CPUs that both reserve all slots, or more, do not livelock. */
static void reserve_on_two_cpus(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), all, more, i;
	struct callout_test_thread *t[2];
	struct reserver *r;

	r = kunit_kcalloc(test, 2, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, r);
	callout_stock_create(test, true);
	all = callout_stock_free();
	for (more = 0; more < 2; more++) {
		for (i = 0; i < 2; i++) {
			r[i].n = all + more;
			t[i] = callout_test_thread(test, i ? other :
						   raw_smp_processor_id(),
						   reserve_thread, &r[i]);
		}
		for (i = 0; i < 2; i++) {
			KUNIT_ASSERT_TRUE(test, callout_test_join(t[i]));
			KUNIT_EXPECT_EQ(test, r[i].ret, more ? -ENOSPC : 0);
		}
		KUNIT_EXPECT_EQ(test, callout_stock_free(), all);
	}
}

static struct kunit_case reserve_cases[] = {
	KUNIT_CASE(reserve_adds_slots),
	KUNIT_CASE(reserve_at_home),
	KUNIT_CASE(reserve_counts_all),
	KUNIT_CASE(reserve_too_much),
	KUNIT_CASE(reserve_on_two_cpus),
	{}
};

static struct kunit_suite reserve_suite = {
	.name = "callout_reserve",
	.test_cases = reserve_cases,
};

kunit_test_suite(reserve_suite);
