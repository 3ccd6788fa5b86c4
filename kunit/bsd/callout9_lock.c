// SPDX-License-Identifier: GPL-2.0
/*
 * callout9_lock.c - suite callout_bsd_lock: callout(9)'s locks and asynchronous drain
 */
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "lib/virtual.h"

static DEFINE_SPINLOCK(try_lock);

/* With CALLOUT_TRYLOCK and a contended lock the callout is put off. */
static void bsd_trylock(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);
	unsigned int i;

	callout_test_need_spinlocks(test);
	callout_init_mtx(&a[0].c, &try_lock, CALLOUT_TRYLOCK);
	a[0].c.node.cpu = CALLOUT_VIRTUAL;
	callout_virtual_set(&a[1], 1);
	spin_lock_bh(&try_lock);
	callout_virtual_set(&a[0], 1);
	for (i = 1; i <= 3; i++) {
		v->now++;
		callout_virtual_expire(v);
		KUNIT_EXPECT_EQ(test, a[0].runs, 0);
		KUNIT_EXPECT_TRUE(test, callout_pending(&a[0].c));
		KUNIT_EXPECT_EQ(test, v->armed, v->now + 1);
		KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 1);
	}
	KUNIT_EXPECT_EQ(test, a[1].runs, 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&a[0].c), 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	callout_virtual_set(&a[0], 1);
	v->now++;
	callout_virtual_expire(v);
	spin_unlock_bh(&try_lock);
	/* Not at the same tick, even though the lock is free. */
	callout_virtual_expire(v);
	KUNIT_EXPECT_EQ(test, a[0].runs, 0);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a[0].runs, 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	/* The callout is late by the tick for which it was put off. */
	KUNIT_EXPECT_EQ(test, v->base->stats.late[1], 1);
	/* The lock was released. */
	spin_lock_bh(&try_lock);
	spin_unlock_bh(&try_lock);
}

static DEFINE_RWLOCK(try_rwlock);

/* So it is if the lock is taken for reading, and has a writer. */
static void bsd_trylock_shared(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	callout_test_need_spinlocks(test);
	callout_init_rw(&a->c, &try_rwlock, CALLOUT_SHAREDLOCK | CALLOUT_TRYLOCK);
	a->c.node.cpu = CALLOUT_VIRTUAL;
	write_lock_bh(&try_rwlock);
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	write_unlock_bh(&try_rwlock);
	KUNIT_EXPECT_EQ(test, a->runs, 0);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
}

/**
 * struct put_offs - callouts whose lock is contended, and an interrupt
 * @item: the callouts; the first has no lock, and raises the interrupt
 * @work: the interrupt
 * @seen: number of callouts that had been put off when the interrupt came
 */
struct put_offs {
	struct callout_item *item;
	struct irq_work work;
	unsigned int seen;
};

#define NR_PUT_OFFS	(2 * CALLOUT_BUDGET)

static struct put_offs put_offs;

/* The base is unlocked in this interrupt, and no other CPU uses it. */
static void put_offs_count(struct irq_work *work)
{
	put_offs.seen = list_count_nodes(&put_offs.item->v->base->put_off);
}

/* Raise the interrupt, which comes when the base is next unlocked. */
static void then_interrupt(struct callout_item *item)
{
	local_irq_disable();
	irq_work_queue(&put_offs.work);
}

/* Putting off a callout ends a hold. */
static void bsd_trylock_holds(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, NR_PUT_OFFS);
	unsigned int i;

	callout_test_need_interrupts(test);
	callout_test_need_spinlocks(test);
	callout_test_pin(test, raw_smp_processor_id());
	put_offs.item = a;
	put_offs.work = IRQ_WORK_INIT_HARD(put_offs_count);
	a[0].then = then_interrupt;
	for (i = 1; i < NR_PUT_OFFS; i++) {
		callout_init_mtx(&a[i].c, &try_lock, CALLOUT_TRYLOCK);
		a[i].c.node.cpu = CALLOUT_VIRTUAL;
	}
	spin_lock_bh(&try_lock);
	for (i = 0; i < NR_PUT_OFFS; i++)
		callout_virtual_set(&a[i], 1);
	v->now++;
	callout_virtual_expire(v);
	spin_unlock_bh(&try_lock);
	irq_work_sync(&put_offs.work);
	KUNIT_EXPECT_EQ(test, v->ran, 1);
	KUNIT_EXPECT_EQ(test, put_offs.seen, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, v->ran, NR_PUT_OFFS);
	for (i = 1; i < NR_PUT_OFFS; i++)
		KUNIT_EXPECT_EQ(test, a[i].place, i);
}

static void *drained_with;
static unsigned int drained;

static void count_drain(void *arg)
{
	struct callout_item *item = arg;

	drained_with = arg;
	drained++;
	/* The handler has returned: the callout may be set again, or freed. */
	item->seen = item->v->base->running == &item->c.node;
}

static void refused_drain(void *arg)
{
	struct callout_item *item = arg;

	KUNIT_FAIL(item->v->test, "the function of a refused drain is called");
}

static void then_async_drain(struct callout_item *item)
{
	item->ret = callout_async_drain(&item->c, count_drain);
	KUNIT_EXPECT_EQ(item->v->test, drained, 0);
	/* During the drain, a reset and a second drain are refused. */
	KUNIT_EXPECT_EQ(item->v->test, callout_virtual_set(item, 1), 0);
	KUNIT_EXPECT_FALSE(item->v->test, callout_pending(&item->c));
	KUNIT_EXPECT_EQ(item->v->test,
			callout_async_drain(&item->c, refused_drain), 0);
}

static unsigned int drained_otherwise;

static void count_other_drain(void *arg)
{
	drained_otherwise++;
}

static void then_drain_otherwise(struct callout_item *item)
{
	item->ret = callout_async_drain(&item->c, count_other_drain);
}

/* The drain function is called once, and only if the handler was running. */
static void bsd_async_drain(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 1);

	drained = 0;
	KUNIT_EXPECT_EQ(test, callout_async_drain(&a->c, count_drain), -1);
	callout_virtual_set(a, 1);
	KUNIT_EXPECT_EQ(test, callout_async_drain(&a->c, count_drain), 1);
	KUNIT_EXPECT_FALSE(test, callout_active(&a->c));
	KUNIT_EXPECT_EQ(test, drained, 0);

	a->then = then_async_drain;
	a->seen = 1;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->ret, 0);
	KUNIT_EXPECT_EQ(test, drained, 1);
	KUNIT_EXPECT_PTR_EQ(test, drained_with, (void *)a);
	KUNIT_EXPECT_EQ(test, a->seen, 0);
	/* The callout can be used again. */
	a->then = NULL;
	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 1), 0);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 2);
	KUNIT_EXPECT_EQ(test, drained, 1);
	/* It can be drained again, with another function. */
	drained_otherwise = 0;
	a->then = then_drain_otherwise;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a->ret, 0);
	KUNIT_EXPECT_EQ(test, drained_otherwise, 1);
	KUNIT_EXPECT_EQ(test, drained, 1);
	/* From here on the end of a handler costs no more than before the drains. */
	KUNIT_EXPECT_FALSE(test, v->base->attention);
}

static void then_drain_and_set_other(struct callout_item *item)
{
	item->ret = callout_async_drain(&item->c, count_other_drain);
	callout_virtual_set(item->other, 1);
}

/* An asynchronous drain refuses no setting of another callout. */
static void bsd_async_drain_of_another(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, 2);

	/* The second callout has run, and is set in another way from then on. */
	callout_virtual_set(&a[1], 1);
	callout_virtual_run_to(v, v->now + 1);
	a[0].then = then_drain_and_set_other;
	a[0].other = &a[1];
	callout_virtual_set(&a[0], 1);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, a[0].ret, 0);
	KUNIT_EXPECT_TRUE(test, callout_pending(&a[1].c));
}

/**
 * struct holder - a callout with a lock
 * @c: the callout
 * @lock: the associated lock
 * @inside: the handler has begun
 * @go: the handler may return
 * @rcu: for kfree_rcu()
 */
struct holder {
	struct callout c;
	spinlock_t lock;	/* the associated lock */
	bool inside;
	bool go;
	struct rcu_head rcu;
};

static void holder_handler(void *arg)
{
	struct holder *h = arg;

	WRITE_ONCE(h->inside, true);
	callout_test_spin_until(READ_ONCE(h->go));
}

#define OVER_ROUNDS	100
#define FREE_ROUNDS	100

/*
 * The next holder of the associated lock sees the callout idle, although the core
 * still uses it:
 *
 *	CPU0: softirq				CPU1
 *	running = c
 *	handler returns
 *	unlocks c's lock			has c's lock
 *						callout_stop(c): running == c,
 *						but OVER: -1, not 0
 *	lock(base), running = NULL
 */
static void bsd_over_when_unlocked(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, wrong = 0;
	unsigned int rounds = callout_test_rounds(OVER_ROUNDS);
	struct holder *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, h);
	spin_lock_init(&h->lock);
	callout_init_mtx(&h->c, &h->lock, 0);
	for (i = 0; i < rounds; i++) {
		h->inside = false;
		h->go = false;
		spin_lock_bh(&h->lock);
		callout_reset_on(&h->c, 1, holder_handler, h, other);
		spin_unlock_bh(&h->lock);
		if (!callout_test_wait_until(READ_ONCE(h->inside)))
			break;
		WRITE_ONCE(h->go, true);
		spin_lock_bh(&h->lock);
		wrong += callout_stop(&h->c) != -1;
		spin_unlock_bh(&h->lock);
	}
	callout_drain(&h->c);
	KUNIT_EXPECT_EQ(test, i, rounds);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/*
 * The associated lock may be freed an RCU grace period after callout_stop() was
 * called under it: the core waits for the lock in a read-side critical section.
 */
static void bsd_free_stopped_by_rcu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct holder *h;

	for (i = 0; i < FREE_ROUNDS; i++) {
		h = kzalloc(sizeof(*h), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, h);
		spin_lock_init(&h->lock);
		callout_init_mtx(&h->c, &h->lock, 0);
		spin_lock_bh(&h->lock);
		callout_reset_on(&h->c, 1, holder_handler, h, other);
		callout_test_spin_until(!callout_pending(&h->c));
		KUNIT_EXPECT_EQ(test, callout_stop(&h->c), 1);
		spin_unlock_bh(&h->lock);
		kfree_rcu(h, rcu);
	}
}

static struct kunit_case bsd_lock_cases[] = {
	KUNIT_CASE(bsd_trylock),
	KUNIT_CASE(bsd_trylock_shared),
	KUNIT_CASE(bsd_trylock_holds),
	KUNIT_CASE(bsd_async_drain),
	KUNIT_CASE(bsd_async_drain_of_another),
	KUNIT_CASE(bsd_over_when_unlocked),
	KUNIT_CASE(bsd_free_stopped_by_rcu),
	{}
};

static struct kunit_suite bsd_lock_suite = {
	.name = "callout_bsd_lock",
	.init = callout_virtual_init,
	.test_cases = bsd_lock_cases,
};

kunit_test_suite(bsd_lock_suite);
