// SPDX-License-Identifier: GPL-2.0
/*
 * virtual.c - a base of the core whose time is set by the case
 *
 * The base is at callout_bases[CALLOUT_INDEX_TEST], which no CPU's tick expires:
 * nothing runs unless a case calls co_expire(), with softirqs disabled, as if in a
 * softirq. Both its ticks and the jiffies of expiry's limits are variables.
 */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/numa.h>
#include "virtual.h"

/* The tick at which a case begins: past 2^32, like jiffies after boot. */
#define EPOCH	((1ULL << 32) + 12345)

#define BUCKETS	64

static struct callout_virtual the_virtual;

static u64 virtual_now(struct callout_base *base)
{
	return READ_ONCE(the_virtual.now);
}

/* Virtual time begins with the case. */
static u64 virtual_from_ns(struct callout_base *base, u64 due, u64 now)
{
	u64 tick = EPOCH;

	the_virtual.wrong_now += now < the_virtual.zero_ns || now > ktime_get_ns();
	if (due > the_virtual.zero_ns)
		tick += DIV_ROUND_UP_ULL(due - the_virtual.zero_ns, TICK_NSEC);
	return max(tick, the_virtual.now + 1);
}

static void virtual_nothing(struct callout_base *base)
{
}

static void virtual_program(struct callout_base *base, u64 tick)
{
	lockdep_assert_held(&base->lock);
	the_virtual.armed = tick;
	the_virtual.programs++;
}

static const struct callout_tick_source virtual_tick = {
	.name		= "virtual",
	.now		= virtual_now,
	.from_ns	= virtual_from_ns,
	.init		= virtual_nothing,
	.program	= virtual_program,
	.shutdown	= virtual_nothing,
};

/* Pending callouts are dropped. Their memory is freed with the case. */
static void virtual_destroy(void *data)
{
	struct callout_virtual *v = data;

	if (v->base) {
		co_base_kill(v->base);
		co_base_destroy(v->base);
	}
	v->base = NULL;
}

static int virtual_create(struct kunit *test, unsigned int buckets,
			  const struct callout_tick_source *tick)
{
	struct callout_scheme_params params = {
		.buckets = buckets,
		.node = NUMA_NO_NODE,
	};
	struct callout_base *base;

	the_virtual = (struct callout_virtual){
		.test = test,
		.now = EPOCH,
		.armed = U64_MAX,
		.zero_ns = ktime_get_ns(),
	};
	base = co_base_create(CALLOUT_VIRTUAL, tick, TICK_NSEC,
			      &callout_hashed_wheel, &params);
	if (IS_ERR(base))
		return PTR_ERR(base);
	base->jiffies = &the_virtual.jiffies;
	the_virtual.base = base;
	test->priv = &the_virtual;
	return kunit_add_action_or_reset(test, virtual_destroy, &the_virtual);
}

/* Create the base, as test->priv; the end of the case destroys it. */
int callout_virtual_create(struct kunit *test, unsigned int buckets)
{
	return virtual_create(test, buckets, &virtual_tick);
}

/*
 * As callout_virtual_create(), with a timer chip in virtual time. @buckets is for
 * both wheel and chip.
 */
int callout_virtual_create_chip(struct kunit *test,
				const struct callout_chip_source *chip,
				unsigned int buckets)
{
	static struct callout_chip_source virtual_chip;

	virtual_chip = *chip;
	virtual_chip.under = &virtual_tick;
	return virtual_create(test, buckets, &virtual_chip.tick);
}

/* The init function of suites: a base with a small wheel. */
int callout_virtual_init(struct kunit *test)
{
	return callout_virtual_create(test, BUCKETS);
}

/* Stop a pending callout before its memory is freed. */
static void virtual_stop(void *data)
{
	struct callout_item *item = data;

	/* Some cases overwrite their callout, or migrate it. */
	if (item->v->base && item->c.node.cpu == CALLOUT_VIRTUAL)
		callout_drain(&item->c);
}

/* Prepare a zeroed callout of the base; the end of the case stops it. */
void callout_virtual_item(struct callout_virtual *v, struct callout_item *item)
{
	callout_init(&item->c, CALLOUT_MPSAFE);
	item->c.node.cpu = CALLOUT_VIRTUAL;
	item->v = v;
	KUNIT_ASSERT_EQ(v->test, 0,
			kunit_add_action_or_reset(v->test, virtual_stop, item));
}

/* Allocate and prepare @n callouts of the base. */
struct callout_item *callout_virtual_items(struct kunit *test, unsigned int n)
{
	struct callout_item *item;
	unsigned int i;

	item = kunit_kcalloc(test, n, sizeof(*item), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, item);
	for (i = 0; i < n; i++)
		callout_virtual_item(test->priv, &item[i]);
	return item;
}

/* The handler of items: record the run, and call callout_item.then. */
void callout_virtual_handler(void *arg)
{
	struct callout_item *item = arg;

	item->ran_at = item->v->now;
	item->place = item->v->ran++;
	/* For threads that wait for the handler to run. */
	smp_store_release(&item->runs, item->runs + 1);
	if (item->then)
		item->then(item);
}

/* callout_item.then: take item->seen jiffies. */
void callout_virtual_take_time(struct callout_item *item)
{
	item->v->jiffies += item->seen;
}

/* Expire once. Return whether callouts are left for later. Process context. */
bool callout_virtual_expire_once(struct callout_virtual *v)
{
	bool more;

	local_bh_disable();
	more = co_expire(v->base);
	local_bh_enable();
	return more;
}

/* Run due callouts. Process context. */
void callout_virtual_expire(struct callout_virtual *v)
{
	while (callout_virtual_expire_once(v))
		;
}

/* Set the time to @now, and run due callouts. Process context. */
void callout_virtual_run_to(struct callout_virtual *v, u64 now)
{
	WRITE_ONCE(v->now, now);
	callout_virtual_expire(v);
}

/* Set the time to @now, and let the tick source wake the base. Process context. */
void callout_virtual_wake_at(struct callout_virtual *v, u64 now)
{
	WRITE_ONCE(v->now, now);
	local_bh_disable();
	co_softclock(v->base);
	local_bh_enable();
}
