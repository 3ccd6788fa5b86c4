// SPDX-License-Identifier: GPL-2.0
/*
 * softirq.c - a second thread that acts as the softirq of the virtual base
 *
 * The thread runs, on another CPU, a handler that waits for the case to make its
 * calls. The threads only wait for each other, not for time to pass.
 */
#include <linux/bottom_half.h>
#include "softirq.h"

static void race_softirq(void *arg)
{
	struct callout_race *r = arg;

	if (callout_test_spin_until(READ_ONCE(r->begin)))
		callout_virtual_expire(r->v);
}

/* Create a callout and the thread. Skip the case if there is only one CPU. */
struct callout_race *callout_race_create(struct kunit *test)
{
	struct callout_race *r;

	r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, r);
	r->v = test->priv;
	spin_lock_init(&r->lock);
	raw_spin_lock_init(&r->raw);
	rwlock_init(&r->rwlock);
	callout_virtual_item(r->v, &r->item);
	r->other_cpu = callout_test_pin_one(test);
	r->softirq = callout_test_thread(test, r->other_cpu, race_softirq, r);
	return r;
}

/* callout_item.then: wait until the case sets callout_race.go. */
void callout_race_then_wait(struct callout_item *item)
{
	struct callout_race *r = container_of(item, struct callout_race, item);

	callout_test_spin_until(READ_ONCE(r->go));
	if (r->set_again)
		callout_virtual_set(item, 1);
	callout_test_tell(&r->returns);
}

/* Start the handler, and wait until it is inside. */
void callout_race_begin(struct kunit *test, struct callout_race *r)
{
	r->item.then = callout_race_then_wait;
	callout_virtual_set(&r->item, 1);
	r->v->now++;
	WRITE_ONCE(r->begin, true);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_spin_until(READ_ONCE(r->item.runs)));
}

/* Create a race whose handler is running and waits. */
struct callout_race *callout_race_running(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);

	callout_race_begin(test, r);
	return r;
}

/* Let the handler return, and wait for the thread. */
void callout_race_end(struct kunit *test, struct callout_race *r)
{
	WRITE_ONCE(r->go, true);
	KUNIT_ASSERT_TRUE(test, callout_test_join(r->softirq));
	KUNIT_EXPECT_EQ(test, r->v->base->run_seq & 1, 0);
	KUNIT_EXPECT_NULL(test, r->v->base->running);
}

/* For a thread: drain the race's callout, or shut it down. */
void callout_race_drainer(void *arg)
{
	struct callout_race *r = arg;

	callout_test_spin_until(READ_ONCE(r->drain));
	r->ret = r->shut ? callout_shutdown(&r->item.c) :
			   callout_drain(&r->item.c);
	r->too_soon = !callout_test_told(&r->returns);
}

/*
 * Make a third thread wait in callout_drain() for the running handler, and return
 * the thread. callout_race.ret is what callout_drain() returns.
 */
struct callout_test_thread *callout_race_drain(struct kunit *test,
					       struct callout_race *r)
{
	struct callout_test_thread *t;

	r->ret = -100;
	r->drain = true;
	t = callout_test_thread(test, raw_smp_processor_id(),
				callout_race_drainer, r);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(r->item.c.node.state) &
						  CALLOUT_S_DRAINING));
	return t;
}

/* As callout_race_drain(), with callout_shutdown(). */
struct callout_test_thread *callout_race_shutdown(struct kunit *test,
						  struct callout_race *r)
{
	r->shut = true;
	return callout_race_drain(test, r);
}

/* Initialise the callout again, with the associated lock of @lock_flags. */
void callout_race_set_lock(struct callout_race *r, u8 lock_flags)
{
	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		callout_init_mtx(&r->item.c, &r->lock, lock_flags);
		break;
	case CALLOUT_L_RAW:
		callout_init_raw(&r->item.c, &r->raw, lock_flags);
		break;
	default:
		callout_init_rw(&r->item.c, &r->rwlock, lock_flags);
	}
	r->item.c.node.cpu = CALLOUT_VIRTUAL;
}

/* Take the associated lock; a rwlock is taken for writing. For sparse this is a single lock. */
void callout_race_take_lock(struct callout_race *r)
	__acquires(&r->lock)
{
	local_bh_disable();
	switch (r->item.c.node.flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_lock(&r->lock);
		break;
	case CALLOUT_L_RAW:
		raw_spin_lock(&r->raw);
		break;
	default:
		write_lock(&r->rwlock);
	}
}

void callout_race_drop_lock(struct callout_race *r)
	__releases(&r->lock)
{
	switch (r->item.c.node.flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_unlock(&r->lock);
		break;
	case CALLOUT_L_RAW:
		raw_spin_unlock(&r->raw);
		break;
	default:
		write_unlock(&r->rwlock);
	}
	local_bh_enable();
}

/*
 * Make the softirq wait for the associated lock: the callout is off the due list,
 * and its handler has not started. Return with the lock held, so the case must not
 * assert.
 */
void callout_race_wait_for_lock(struct kunit *test, struct callout_race *r,
				u8 lock_flags)
	__acquires(&r->lock)
{
	struct callout_base *base = r->v->base;

	callout_race_set_lock(r, lock_flags);
	callout_race_take_lock(r);
	callout_virtual_set(&r->item, 1);
	r->v->now++;
	WRITE_ONCE(r->begin, true);
	if (!callout_test_spin_until(READ_ONCE(base->running) == &r->item.c.node))
		KUNIT_FAIL(test, "the callout does not become due");
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
}
