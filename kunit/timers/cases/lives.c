// SPDX-License-Identifier: GPL-2.0
/*
 * lives.c - timers that are static, on the stack, freed, and many
 */
#include "timers/api.h"

static atomic_t timer_static_runs;

static void timer_static_handler(struct timer_list *t)
{
	atomic_inc(&timer_static_runs);
}

static DEFINE_TIMER(timer_defined, timer_static_handler);

static struct timer_list timer_initialized =
	__TIMER_INITIALIZER(timer_static_handler, TIMER_IRQSAFE);

/* A static timer needs no setup. Each call is tried as the first call on a static timer. */
static void timer_static(struct kunit *test)
{
	static DEFINE_TIMER(moved, timer_static_handler);
	static DEFINE_TIMER(reduced, timer_static_handler);
	static DEFINE_TIMER(added, timer_static_handler);
	static DEFINE_TIMER(deleted, timer_static_handler);
	static DEFINE_TIMER(pending, timer_static_handler);
	unsigned int other = callout_test_pin_one(test);

	atomic_set(&timer_static_runs, 0);
	KUNIT_EXPECT_FALSE(test, timer_pending(&pending));
	KUNIT_EXPECT_EQ(test, timer_delete_sync(&deleted), 0);
	KUNIT_EXPECT_EQ(test, mod_timer_pending(&deleted, jiffies), 0);
	KUNIT_EXPECT_EQ(test, mod_timer(&moved, jiffies + 1), 0);
	KUNIT_EXPECT_EQ(test, timer_reduce(&reduced, jiffies + 1), 0);
	added.expires = jiffies + 1;
	add_timer(&added);
	timer_defined.expires = jiffies + 1;
	add_timer_on(&timer_defined, other);
	timer_initialized.expires = jiffies + 1;
	add_timer_local(&timer_initialized);
	TIMER_EXPECT_SOON(test, atomic_read(&timer_static_runs) >= 5);
	KUNIT_EXPECT_EQ(test, atomic_read(&timer_static_runs), 5);
	/* The timers belong to the module, which may be unloaded after this. */
	timer_delete_sync(&moved);
	timer_delete_sync(&reduced);
	timer_delete_sync(&added);
	timer_delete_sync(&timer_defined);
	timer_delete_sync(&timer_initialized);
}

struct timer_on_stack {
	struct timer_list t;
	bool ran;
};

static void timer_on_stack_handler(struct timer_list *t)
{
	struct timer_on_stack *s = from_timer(s, t, t);

	callout_test_tell(&s->ran);
}

/* A timer on the stack, as a function that sleeps uses it. */
static void timer_on_the_stack(struct kunit *test)
{
	struct timer_on_stack s = {};
	unsigned int i;

	for (i = 0; i < 5; i++) {
		s.ran = false;
		timer_setup_on_stack(&s.t, timer_on_stack_handler, 0);
		KUNIT_EXPECT_EQ(test, mod_timer(&s.t, jiffies + 1), 0);
		TIMER_EXPECT_SOON(test, callout_test_told(&s.ran));
		KUNIT_EXPECT_EQ(test, mod_timer(&s.t, jiffies + HZ), 0);
		KUNIT_EXPECT_EQ(test, timer_delete_sync(&s.t), 1);
		destroy_timer_on_stack(&s.t);
	}
}

static atomic_t timer_freed;

/**
 * struct timer_dying - an object that its timer frees
 * @t: the timer
 * @left: how often it re-arms itself before that
 */
struct timer_dying {
	struct timer_list t;
	unsigned int left;
};

static void timer_dying_handler(struct timer_list *t)
{
	struct timer_dying *d = from_timer(d, t, t);

	if (d->left) {
		d->left--;
		mod_timer(t, jiffies + 1);
		return;
	}
	kfree(d);
	atomic_inc(&timer_freed);
}

/* A handler may free its timer: nothing looks at it afterwards. */
static void timer_frees_itself(struct kunit *test)
{
	unsigned int i, n = 1000, made = 0;
	struct timer_dying *d;

	atomic_set(&timer_freed, 0);
	for (i = 0; i < n; i++) {
		d = kzalloc(sizeof(*d), GFP_KERNEL);
		if (!d)
			continue;
		made++;
		d->left = i % 4;
		timer_setup(&d->t, timer_dying_handler,
			    i % 3 ? 0 : TIMER_IRQSAFE);
		d->t.expires = jiffies + i % 7;
		if (i % 2)
			add_timer(&d->t);
		else
			add_timer_on(&d->t, cpumask_nth(i % num_online_cpus(),
							cpu_online_mask));
	}
	KUNIT_EXPECT_EQ(test, made, n);
	TIMER_EXPECT_SOON(test, atomic_read(&timer_freed) == made);
	/* Keep the handler's code as long as it may run. */
	synchronize_rcu();
}

/* An object is freed when timer_shutdown_sync() or timer_delete_sync() allows it. */
static void timer_is_freed(struct kunit *test)
{
	struct timer_item *item;
	unsigned int i;

	for (i = 0; i < 300; i++) {
		item = kzalloc(sizeof(*item), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, item);
		timer_setup(&item->t, timer_item_handler, 0);
		item->t.expires = jiffies + i % 3;
		add_timer_on(&item->t, cpumask_nth(i % num_online_cpus(),
						   cpu_online_mask));
		if (i % 5 == 0)
			usleep_range(1000, 2000);
		if (i % 2)
			timer_shutdown_sync(&item->t);
		else
			timer_delete_sync(&item->t);
		kfree(item);
	}
}

#define TIMER_MANY	100000U
#define TIMER_MANY_SPAN	(2 * HZ)

/* Of many timers, each timer that was left alone runs once, and no deleted timer runs. */
static void timer_many(struct kunit *test)
{
	unsigned int n = TIMER_MANY, i, early = 0, wrong = 0, deleted = 0;
	struct timer_items *items = timer_items_create(test, n, 0);
	struct timer_item *item;
	struct rnd_state rng;

	callout_test_rng(test, &rng);
	for (i = 0; i < n; i++)
		mod_timer(&items->item[i].t, jiffies + CALLOUT_TEST_FAR + i);
	for (i = 0; i < n; i++)
		if (i % 4 == 0)
			deleted += timer_delete(&items->item[i].t);
		else
			wrong += mod_timer(&items->item[i].t, jiffies +
					   callout_test_below(&rng,
							      TIMER_MANY_SPAN))
				 != 1;
	KUNIT_EXPECT_EQ(test, deleted, n / 4);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	for (i = 0; i < n; i++) {
		item = &items->item[i];
		if (i % 4)
			callout_test_wait_until(timer_item_runs(item));
	}
	for (i = 0; i < n; i++) {
		item = &items->item[i];
		wrong += timer_item_runs(item) != !!(i % 4);
		early += i % 4 && time_before(item->ran, item->t.expires);
	}
	KUNIT_EXPECT_EQ(test, early, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}
