// SPDX-License-Identifier: GPL-2.0
/*
 * timeout.c - suite callout_compat: timeout() and untimeout()
 *
 * The callouts are due far away and never fire. The cases check which of several
 * callouts with the same function and argument is found. The hash itself is tested
 * in hash.c.
 */
#include "lib/kernel_table.h"
#include "base/tick.h"
#include "bsd/work.h"
#include <linux/callout_bsd.h>

#define NR_FUNCS	3U
#define NR_ARGS		40U
#define NR_CALLOUTS	3000U
#define RANDOM_OPS	20000U

static void func_0(void *arg)
{
}

static void func_1(void *arg)
{
	WRITE_ONCE(*(u8 *)arg, 1);
}

static void func_2(void *arg)
{
	WRITE_ONCE(*(u8 *)arg, 2);
}

static callout_func_t *const funcs[NR_FUNCS] = { func_0, func_1, func_2 };

static u8 args[NR_ARGS];

/**
 * struct compat_entry - a callout in the model
 * @handle: the callout's handle, or 0
 * @expires: the tick at which the callout is due
 * @seq: serial number of the setting
 * @func: index in funcs[]
 * @arg: index in args[]
 */
struct compat_entry {
	callout_handle_t handle;
	u64 expires;
	u64 seq;
	unsigned int func;
	unsigned int arg;
};

/* The callout that untimeout() must find, or NULL. */
static struct compat_entry *first_of(struct compat_entry *entry,
				     unsigned int func, unsigned int arg)
{
	struct compat_entry *e, *found = NULL;

	for (e = entry; e < entry + NR_CALLOUTS; e++) {
		if (!e->handle || e->func != func || e->arg != arg)
			continue;
		if (!found || e->expires < found->expires ||
		    (e->expires == found->expires && e->seq < found->seq))
			found = e;
	}
	return found;
}

static void compat_set(struct kunit *test, struct compat_entry *e,
		       struct rnd_state *rng, u64 seq)
{
	e->func = callout_test_below(rng, NR_FUNCS);
	e->arg = callout_test_below(rng, NR_ARGS);
	e->seq = seq;
	/* Use few different times, so that many are equal. */
	e->handle = callout_timeout(funcs[e->func], &args[e->arg],
				    CALLOUT_TEST_FAR + 100 * callout_test_below(rng, 20));
	KUNIT_ASSERT_NE(test, e->handle, 0);
	e->expires = callout_test_expires(e->handle);
	KUNIT_ASSERT_NE(test, e->expires, 0);
}

/* Call untimeout(), and check that it cancels the right callout. */
static void compat_unset(struct kunit *test, struct compat_entry *entry,
			 struct rnd_state *rng)
{
	unsigned int func = callout_test_below(rng, NR_FUNCS);
	unsigned int arg = callout_test_below(rng, NR_ARGS);
	struct compat_entry *e = first_of(entry, func, arg);
	int ret = untimeout(funcs[func], &args[arg]);

	KUNIT_ASSERT_EQ(test, ret, e ? 1 : -1);
	if (!e)
		return;
	KUNIT_ASSERT_EQ(test, callout_test_expires(e->handle), 0);
	e->handle = 0;
}

static void compat_op(struct kunit *test, struct compat_entry *entry,
		      struct rnd_state *rng, unsigned int bias, u64 seq)
{
	struct compat_entry *e;

	e = &entry[callout_test_below(rng, NR_CALLOUTS)];
	if (callout_test_below(rng, 100) >= bias) {
		compat_unset(test, entry, rng);
	} else if (!e->handle) {
		compat_set(test, e, rng, seq);
	} else if (!callout_test_below(rng, 4)) {
		/* Cancel by handle, so possibly from between other matching callouts. */
		KUNIT_ASSERT_EQ(test, unsetcallout(e->handle), 1);
		e->handle = 0;
	}
}

static void compat_clean(void *data)
{
	unsigned int i, j;

	for (i = 0; i < NR_FUNCS; i++)
		for (j = 0; j < NR_ARGS; j++)
			while (callout_untimeout(funcs[i], &args[j]) == 1)
				;
}

/*
 * untimeout() cancels the first of the matching callouts, and only outstanding
 * callouts, while the hash's worker makes the hash grow.
 */
static void compat_random_operations(struct kunit *test)
{
	struct compat_entry *entry, *e;
	unsigned int i, live = 0, most = 0;
	struct rnd_state rng;

	callout_test_rng(test, &rng);
	/* Among equal expiries a search prefers callouts of this CPU. */
	callout_test_pin(test, raw_smp_processor_id());
	entry = kunit_kcalloc(test, NR_CALLOUTS, sizeof(*entry), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_ASSERT_EQ(test, 0, callout_reserve(NR_CALLOUTS));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, compat_clean, NULL));
	for (i = 0; i < RANDOM_OPS; i++) {
		compat_op(test, entry, &rng, i < RANDOM_OPS / 2 ? 95 : 60, i);
		if (i == RANDOM_OPS / 2)
			for (e = entry; e < entry + NR_CALLOUTS; e++)
				most += !!e->handle;
	}
	for (e = entry; e < entry + NR_CALLOUTS; e++)
		live += !!e->handle;
	kunit_info(test, "%u callouts half way, %u at the end\n", most, live);
	KUNIT_EXPECT_GT(test, most, 1000);
	for (; live; live--) {
		unsigned int func = live % NR_FUNCS, arg = live % NR_ARGS;

		for (e = entry; !e->handle; e++)
			;
		func = e->func;
		arg = e->arg;
		e = first_of(entry, func, arg);
		KUNIT_ASSERT_EQ(test, untimeout(funcs[func], &args[arg]), 1);
		KUNIT_ASSERT_EQ(test, callout_test_expires(e->handle), 0);
		e->handle = 0;
	}
	for (i = 0; i < NR_FUNCS * NR_ARGS; i++)
		KUNIT_EXPECT_EQ(test, untimeout(funcs[i % NR_FUNCS],
						&args[i / NR_FUNCS]), -1);
}

/*
 * untimeout() cancels the duplicate that expires first, in any order of
 * setting.
 */
static void compat_earliest_first(struct kunit *test)
{
	static const int order[] = { 3, 1, 4, 0, 2 };
	struct callout_handle h[ARRAY_SIZE(order)], other;
	unsigned int i, j;

	other = timeout(func_1, &args[0], 1 * CALLOUT_TEST_FAR);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		h[order[i]] = timeout(func_1, &args[1],
				      CALLOUT_TEST_FAR + 1000 * order[i]);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[1]), 1);
		for (j = 0; j < ARRAY_SIZE(order); j++)
			KUNIT_EXPECT_EQ(test,
					!callout_test_expires(h[j].handle),
					j <= i);
	}
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[1]), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0]), 1);
	KUNIT_EXPECT_EQ(test, callout_test_expires(other.handle), 0);
}

/* With a handle, untimeout() cancels the handle's callout, and only if all three match. */
static void compat_by_handle(struct kunit *test)
{
	struct callout_handle none = CALLOUT_HANDLE_INITIALIZER(&none);
	struct callout_handle a, b, c;

	c.handle = 7;
	callout_handle_init(&c);
	KUNIT_EXPECT_EQ(test, c.handle, 0);
	a = timeout(func_1, &args[0], CALLOUT_TEST_FAR);
	b = timeout(func_1, &args[0], 2 * CALLOUT_TEST_FAR);
	c = timeout(func_2, &args[1], CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, untimeout(func_2, &args[0], b), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[1], b), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0], c), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0], none), -1);
	/* Nor does a handle that no table has. */
	none.handle = U64_MAX;
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0], none), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_2, &args[0]), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[1]), -1);
	KUNIT_EXPECT_NE(test, callout_test_expires(a.handle), 0);
	KUNIT_EXPECT_NE(test, callout_test_expires(b.handle), 0);
	KUNIT_EXPECT_NE(test, callout_test_expires(c.handle), 0);
	/* The handle's callout is cancelled, although another callout expires earlier. */
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0], b), 1);
	KUNIT_EXPECT_NE(test, callout_test_expires(a.handle), 0);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0], b), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0]), 1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0], a), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_2, &args[1], c), 1);
}

/* A stale handle does not cancel a callout that reuses its slot (ABA). */
static void compat_stale_handle(struct kunit *test)
{
	struct callout_handle old, h;
	unsigned int i, same = 0, wrong = 0;

	callout_test_pin(test, raw_smp_processor_id());
	old = timeout(func_1, &args[0], CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0], old), 1);
	for (i = 0; i < 1000; i++) {
		h = timeout(func_1, &args[0], CALLOUT_TEST_FAR);
		same += !((h.handle ^ old.handle) & (CALLOUT_GEN_ONE - 1));
		wrong += untimeout(func_1, &args[0], old) != -1;
		wrong += !callout_test_expires(h.handle);
		wrong += untimeout(func_1, &args[0], h) != 1;
		old = h;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, same, 500);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[0]), -1);
}

/* Without a handle, untimeout() finds only callouts of timeout(). */
static void compat_setcallout_is_not_found(struct kunit *test)
{
	callout_handle_t handle = setcallout(func_1, &args[2], CALLOUT_TEST_FAR);
	struct callout_handle h = { handle };
	struct callout_handle t;

	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[2]), -1);
	t = timeout(func_1, &args[2], CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, unsetcallout(t.handle), 1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[2]), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[2], t), -1);
	/* A handle of setcallout() works too. */
	KUNIT_EXPECT_EQ(test, untimeout(func_1, &args[2], h), 1);
}

/* NULL is a valid argument; hz, tick and ticks have their BSD meaning. */
static void compat_bsd_names(struct kunit *test)
{
	struct callout_handle t = timeout(func_0, NULL, hz * 1000);

	KUNIT_EXPECT_EQ(test, hz, DIV_ROUND_CLOSEST(NSEC_PER_SEC,
						    callout_tick_ns()));
	KUNIT_EXPECT_EQ(test, tick, 1000000 / hz);
	KUNIT_EXPECT_LE(test, (int)co_now(co_base(0)) - ticks, 1);
	KUNIT_EXPECT_EQ(test, untimeout(func_0, NULL), 1);
	KUNIT_EXPECT_EQ(test, untimeout(func_0, NULL), -1);
	KUNIT_EXPECT_EQ(test, untimeout(func_0, NULL, t), -1);
}

static void set_there(void *distance)
{
	callout_timeout(func_1, &args[3], *(long *)distance);
}

/* untimeout() finds the earliest callout on any CPU. */
static void compat_of_another_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), pending;
	struct callout_base *there = co_base_at(other);
	long soon = CALLOUT_TEST_FAR, late = CALLOUT_TEST_FAR + 1000;

	if (!there)
		kunit_skip(test, "all CPUs share a base");
	pending = co_base_pending(there);
	callout_timeout(func_1, &args[3], CALLOUT_TEST_FAR + 500);
	smp_call_function_single(other, set_there, &soon, 1);
	smp_call_function_single(other, set_there, &late, 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(there), pending + 2);
	KUNIT_EXPECT_EQ(test, callout_untimeout(func_1, &args[3]), 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(there), pending + 1);
	KUNIT_EXPECT_EQ(test, callout_untimeout(func_1, &args[3]), 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(there), pending + 1);
	KUNIT_EXPECT_EQ(test, callout_untimeout(func_1, &args[3]), 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(there), pending);
	KUNIT_EXPECT_EQ(test, callout_untimeout(func_1, &args[3]), -1);
}

static struct kunit_case compat_cases[] = {
	KUNIT_CASE(compat_of_another_cpu),
	KUNIT_CASE(compat_random_operations),
	KUNIT_CASE(compat_earliest_first),
	KUNIT_CASE(compat_by_handle),
	KUNIT_CASE(compat_stale_handle),
	KUNIT_CASE(compat_setcallout_is_not_found),
	KUNIT_CASE(compat_bsd_names),
	{}
};

static struct kunit_suite compat_suite = {
	.name = "callout_compat",
	.test_cases = compat_cases,
};

kunit_test_suite(compat_suite);
