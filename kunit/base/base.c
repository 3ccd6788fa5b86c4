// SPDX-License-Identifier: GPL-2.0
/*
 * base.c - suite co_base: how the core uses a scheme's functions
 *
 * Runs on a virtual clock. The wheel's functions, some of them replaced, are called
 * through the interface (base->wheel is off).
 */
#include "lib/virtual.h"

/* The behaviour of the scheme in the present case, and its counters. */
static struct {
	struct callout_scheme_ops ops;
	struct callout_virtual *v;
	unsigned int reserved;
	int reserve_ret;
	unsigned int searches;
	unsigned int search_takes;
	u64 next;
} fake;

static int fake_reserve(struct callout_scheme *s, int n)
{
	if (!fake.reserve_ret)
		fake.reserved += n;
	return fake.reserve_ret;
}

static u64 fake_next_due(struct callout_scheme *s, unsigned int *budget)
{
	return fake.next;
}

/* A search that always uses up its budget. */
static u64 endless_next_due(struct callout_scheme *s, unsigned int *budget)
{
	if (++fake.searches == fake.search_takes)
		fake.v->jiffies++;
	*budget = 0;
	return fake.next;
}

/* A look for due callouts that always uses up its budget, and finds none. */
static bool endless_advance(struct callout_scheme *s, u64 now, unsigned int *budget,
			    struct list_head *due)
{
	if (++fake.searches == fake.search_takes)
		fake.v->jiffies++;
	*budget = 0;
	return true;
}

static struct callout_node *fake_find(struct callout_scheme *s,
				      callout_match_fn match, const void *data)
{
	fake.searches++;
	return NULL;
}

static int base_init(struct kunit *test)
{
	struct callout_virtual *v;
	int ret = callout_virtual_init(test);

	if (ret)
		return ret;
	v = test->priv;
	memset(&fake, 0, sizeof(fake));
	fake.ops = callout_hashed_wheel;
	fake.v = v;
	KUNIT_EXPECT_TRUE(test, v->base->wheel);
	v->base->wheel = false;
	v->base->scheme->ops = &fake.ops;
	return 0;
}

/* The scheme is asked for room, and the room is given back. */
static void base_reserve(struct kunit *test)
{
	struct callout_virtual *v = test->priv;

	fake.ops.reserve = fake_reserve;
	KUNIT_EXPECT_EQ(test, 0, co_base_reserve(v->base, 100));
	KUNIT_EXPECT_EQ(test, 0, co_base_reserve(v->base, 50));
	KUNIT_EXPECT_EQ(test, fake.reserved, 150);
	KUNIT_EXPECT_EQ(test, 0, co_base_reserve(v->base, -100));
	KUNIT_EXPECT_EQ(test, fake.reserved, 50);
	fake.reserve_ret = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOMEM, co_base_reserve(v->base, 1000));
}

/* Callouts run and stop through the scheme's function pointers as with direct calls. */
static void base_indirect(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 3);
	u64 start = v->now;

	callout_virtual_set(&item[0], 10);
	callout_virtual_set(&item[1], 5);
	callout_virtual_set(&item[2], 7);
	KUNIT_EXPECT_EQ(test, 1, callout_stop(&item[2].c));
	KUNIT_EXPECT_EQ(test, 1, callout_virtual_set(&item[1], 20));
	KUNIT_EXPECT_EQ(test, 1, callout_virtual_set(&item[0], 3));
	callout_virtual_run_to(v, start + 3);
	KUNIT_EXPECT_EQ(test, item[0].runs, 1);
	callout_virtual_run_to(v, start + 20);
	KUNIT_EXPECT_EQ(test, item[1].runs, 1);
	KUNIT_EXPECT_EQ(test, item[2].runs, 0);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

/* The tick is programmed for a later tick, though next_due is in the past. */
static void base_next_in_the_past(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 2);
	u64 start = v->now;

	fake.ops.next_due = fake_next_due;
	callout_virtual_set(&item[0], 10);
	callout_virtual_set(&item[1], 1000);
	for (fake.next = start; fake.next <= start + 11; fake.next++) {
		callout_virtual_run_to(v, start + 10);
		KUNIT_EXPECT_EQ(test, v->armed, start + 11);
	}
	fake.next = start + 12;
	callout_virtual_run_to(v, start + 10);
	KUNIT_EXPECT_EQ(test, v->armed, start + 12);
}

/*
 * When time is up, the lower bound found so far is programmed. Handlers and the
 * search share one time limit.
 */
static void base_next_not_found(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 2);
	u64 start = v->now;

	fake.ops.next_due = endless_next_due;
	fake.search_takes = 8;
	callout_virtual_set(&item[0], 1000);
	fake.next = start + 500;
	v->base->stats.max_units = 0;
	callout_virtual_run_to(v, start + 10);
	KUNIT_EXPECT_EQ(test, v->base->stats.max_units, CALLOUT_BUDGET);
	KUNIT_EXPECT_EQ(test, v->armed, start + 500);
	KUNIT_EXPECT_EQ(test, fake.searches, 8);

	item[1].then = callout_virtual_take_time;
	item[1].seen = 1;
	callout_virtual_set(&item[1], 1);
	fake.searches = 0;
	fake.next = start + 501;
	callout_virtual_run_to(v, start + 11);
	KUNIT_EXPECT_EQ(test, item[1].runs, 1);
	KUNIT_EXPECT_EQ(test, v->armed, start + 501);
	KUNIT_EXPECT_EQ(test, fake.searches, 1);
}

/* Look once for due callouts. Return how many holds that took. */
static unsigned int base_look(struct kunit *test, unsigned int search_takes)
{
	struct callout_virtual *v = test->priv;

	fake.searches = 0;
	fake.search_takes = search_takes;
	v->base->stats.max_units = 0;
	KUNIT_EXPECT_TRUE(test, callout_virtual_expire_once(v));
	KUNIT_EXPECT_EQ(test, v->base->stats.max_units, CALLOUT_BUDGET);
	return fake.searches;
}

/*
 * A look for due callouts that finds none ends after CALLOUT_MAX_HANDLERS holds, or when
 * time is up, except on PREEMPT_RT, as if each hold were a handler. The look continues
 * later.
 */
static void base_look_ends(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 1);

	callout_virtual_set(item, 10);
	fake.ops.advance = endless_advance;
	v->now += 10;
	KUNIT_EXPECT_EQ(test, base_look(test, 0), CALLOUT_MAX_HANDLERS);
	KUNIT_EXPECT_EQ(test, base_look(test, 3),
			IS_ENABLED(CONFIG_PREEMPT_RT) ? CALLOUT_MAX_HANDLERS : 3);
	fake.ops.advance = callout_hashed_wheel.advance;
	callout_virtual_expire(v);
	KUNIT_EXPECT_EQ(test, item->runs, 1);
}

/* A wake-up that has not ended its look for due callouts is not false yet. */
static void base_look_is_not_false(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 1);

	callout_virtual_set(item, 10);
	fake.ops.advance = endless_advance;
	/* On PREEMPT_RT a second expiry follows, until jiffies change. */
	fake.search_takes = CALLOUT_MAX_HANDLERS + 1;
	/* Otherwise the tasklet would continue at once. */
	callout_test_set_online(v->base, false);
	callout_virtual_wake_at(v, v->now + 10);
	KUNIT_EXPECT_EQ(test, v->base->stats.wakeups, 1);
	KUNIT_EXPECT_EQ(test, v->base->stats.false_wakeups, 0);
	fake.ops.advance = callout_hashed_wheel.advance;
	callout_stop(&item->c);
}

static bool base_match(struct callout_node *n, const void *data)
{
	return container_of(n, struct callout, node)->arg == data;
}

/* A handler finds the other callouts of its tick on the due list. */
static void base_find_others(struct callout_item *item)
{
	struct callout_base *base = item->v->base;
	struct callout_node *n;

	raw_spin_lock_irq(&base->lock);
	n = co_find_locked(base, base_match, item->other);
	item->ret = n == &item->other->c.node;
	n = co_find_locked(base, base_match, item);
	item->seen = !n;
	raw_spin_unlock_irq(&base->lock);
}

/* A search finds due callouts, but not the running one. */
static void base_find_due(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 3);
	unsigned int i;

	fake.ops.find = fake_find;
	for (i = 0; i < 3; i++)
		callout_virtual_set(&item[i], 10);
	item[0].then = base_find_others;
	item[0].other = &item[2];
	callout_virtual_run_to(v, v->now + 10);
	KUNIT_EXPECT_EQ(test, v->ran, 3);
	KUNIT_EXPECT_TRUE(test, item[0].ret);
	/* A running callout is neither due nor queued. */
	KUNIT_EXPECT_TRUE(test, item[0].seen);
	KUNIT_EXPECT_EQ(test, fake.searches, 1);
}

static DEFINE_SPINLOCK(contended);

/* A search finds a callout that was put off, too. */
static void base_find_put_off(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 1);
	struct callout_node *n;

	callout_test_need_spinlocks(test);
	fake.ops.find = fake_find;
	callout_init_mtx(&item->c, &contended, CALLOUT_TRYLOCK);
	item->c.node.cpu = CALLOUT_VIRTUAL;
	spin_lock_bh(&contended);
	callout_virtual_set(item, 1);
	callout_virtual_run_to(v, v->now + 1);
	spin_unlock_bh(&contended);
	co_base_lock_irq(v->base);
	n = co_find_locked(v->base, base_match, item);
	co_base_unlock_irq(v->base);
	KUNIT_EXPECT_PTR_EQ(test, n, &item->c.node);
	KUNIT_EXPECT_EQ(test, fake.searches, 0);
}

static struct kunit_case base_cases[] = {
	KUNIT_CASE(base_reserve),
	KUNIT_CASE(base_indirect),
	KUNIT_CASE(base_next_in_the_past),
	KUNIT_CASE(base_next_not_found),
	KUNIT_CASE(base_look_ends),
	KUNIT_CASE(base_look_is_not_false),
	KUNIT_CASE(base_find_due),
	KUNIT_CASE(base_find_put_off),
	{}
};

static struct kunit_suite base_suite = {
	.name = "callout_base",
	.init = base_init,
	.test_cases = base_cases,
};

kunit_test_suite(base_suite);
