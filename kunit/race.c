// SPDX-License-Identifier: GPL-2.0
/*
 * race.c - suite callout_race: associated locks, drain, and running handlers
 *
 * The clock is virtual. A second thread, on another CPU, is the softirq: it
 * runs a handler that waits until the case has done what it wants to do
 * meanwhile. Nobody waits for time to pass, only for each other.
 */
#include <linux/bottom_half.h>
#include <linux/spinlock.h>
#include "virtual.h"

/**
 * struct race - a handler on one CPU, the case on another
 * @item: the callout
 * @v: its base
 * @softirq: the thread that runs callout_expire()
 * @other_cpu: the CPU of @softirq
 * @begin: @softirq may begin
 * @drain: the thread that calls callout_drain() may
 * @go: the handler may return
 * @returns: it is about to
 * @set_again: it sets its own callout first
 * @ret: what a function has returned to another thread
 * @too_soon: it returned before the handler did
 * @lock: for cases with an associated lock
 * @rwlock: the same
 * @held: the handler has seen the lock held
 */
struct race {
	struct callout_item item;
	struct callout_virtual *v;
	struct callout_test_thread *softirq;
	unsigned int other_cpu;
	bool begin;
	bool drain;
	bool go;
	bool returns;
	bool set_again;
	int ret;
	bool too_soon;
	spinlock_t lock;	/* taken around the handler */
	rwlock_t rwlock;
	bool held;
};

static void race_softirq(void *arg)
{
	struct race *r = arg;

	if (callout_test_spin_until(READ_ONCE(r->begin)))
		callout_virtual_expire(r->v);
}

static struct race *race_create(struct kunit *test)
{
	struct race *r;

	r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, r);
	r->v = test->priv;
	spin_lock_init(&r->lock);
	rwlock_init(&r->rwlock);
	callout_virtual_item(r->v, &r->item);
	r->other_cpu = callout_test_pin_one(test);
	r->softirq = callout_test_thread(test, r->other_cpu, race_softirq, r);
	return r;
}

static void then_wait(struct callout_item *item)
{
	struct race *r = container_of(item, struct race, item);

	callout_test_spin_until(READ_ONCE(r->go));
	if (r->set_again)
		callout_virtual_set(item, 1);
	callout_test_tell(&r->returns);
}

/* A race with the handler of its callout running and waiting for @go. */
static struct race *race_with_running(struct kunit *test)
{
	struct race *r = race_create(test);

	r->item.then = then_wait;
	callout_virtual_set(&r->item, 1);
	r->v->now++;
	WRITE_ONCE(r->begin, true);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_spin_until(READ_ONCE(r->item.runs)));
	return r;
}

static void race_end(struct kunit *test, struct race *r)
{
	WRITE_ONCE(r->go, true);
	KUNIT_ASSERT_TRUE(test, callout_test_join(r->softirq));
	KUNIT_EXPECT_EQ(test, r->v->base->run_seq & 1, 0);
	KUNIT_EXPECT_NULL(test, r->v->base->running);
}

/* Stop of a running one is to say 0, and to leave nothing behind. */
static void race_stop_running(struct kunit *test)
{
	struct race *r = race_with_running(test);
	struct callout *c = &r->item.c;

	KUNIT_EXPECT_FALSE(test, callout_pending(c));
	KUNIT_EXPECT_TRUE(test, callout_active(c));
	KUNIT_EXPECT_EQ(test, callout_stop(c), 0);
	KUNIT_EXPECT_FALSE(test, callout_active(c));
	race_end(test, r);
	KUNIT_EXPECT_EQ(test, callout_stop(c), -1);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* Running and set again from elsewhere: stop says 0, and takes that back. */
static void race_stop_running_and_pending(struct kunit *test)
{
	struct race *r = race_with_running(test);
	struct callout *c = &r->item.c;

	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 0);
	KUNIT_EXPECT_TRUE(test, callout_pending(c));
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 6), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(c), 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(c));
	KUNIT_EXPECT_EQ(test, r->v->base->pending, 0);
	race_end(test, r);
	callout_virtual_run_to(r->v, r->v->now + 10);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* Running and set again: it is to run once more, at its time. */
static void race_reset_running(struct kunit *test)
{
	struct race *r = race_with_running(test);
	u64 now = r->v->now;

	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 0);
	race_end(test, r);
	callout_virtual_run_to(r->v, now + 4);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
	callout_virtual_run_to(r->v, now + 5);
	KUNIT_EXPECT_EQ(test, r->item.runs, 2);
}

/* A base that a handler holds up must be usable for all other callouts. */
static void race_others_while_running(struct kunit *test)
{
	struct race *r = race_with_running(test);
	struct callout_item *a = callout_virtual_items(test, 2);

	KUNIT_EXPECT_EQ(test, callout_virtual_set(&a[0], 5), 0);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&a[1], 5), 0);
	KUNIT_EXPECT_EQ(test, callout_stop(&a[0].c), 1);
	KUNIT_EXPECT_EQ(test, callout_drain(&a[0].c), -1);
	/* An expiry from elsewhere does nothing while this one is at work. */
	WRITE_ONCE(r->v->now, r->v->now + 10);
	callout_virtual_expire(r->v);
	KUNIT_EXPECT_EQ(test, a[1].runs, 0);
	race_end(test, r);
	/* It had looked at the time before: so it asks to be called again. */
	KUNIT_EXPECT_EQ(test, a[1].runs, 0);
	KUNIT_EXPECT_LE(test, r->v->armed, r->v->now);
	callout_virtual_expire(r->v);
	KUNIT_EXPECT_EQ(test, a[1].runs, 1);
}

static void race_drainer(void *arg)
{
	struct race *r = arg;

	callout_test_spin_until(READ_ONCE(r->drain));
	r->ret = callout_drain(&r->item.c);
	r->too_soon = !callout_test_told(&r->returns);
}

static struct callout_test_thread *begin_drain(struct kunit *test,
					       struct race *r)
{
	struct callout_test_thread *t;

	r->ret = -100;
	r->drain = true;
	t = callout_test_thread(test, raw_smp_processor_id(), race_drainer, r);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(r->item.c.state) &
						  CALLOUT_S_DRAINING));
	return t;
}

/* Drain is to wait for the handler, and to end when that does. */
static void race_drain_running(struct kunit *test)
{
	struct race *r = race_with_running(test);
	struct callout_test_thread *t = begin_drain(test, r);

	KUNIT_EXPECT_EQ(test, r->ret, -100);
	race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	KUNIT_EXPECT_FALSE(test, r->too_soon);
	KUNIT_EXPECT_EQ(test, r->item.c.state, 0);
	KUNIT_EXPECT_EQ(test, r->v->base->waiters, 0);
	/* It is as good as new. */
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 1), 0);
	callout_virtual_run_to(r->v, r->v->now + 1);
	KUNIT_EXPECT_EQ(test, r->item.runs, 2);
}

/* A callout set while drain waits for it: whoever drains is to free it. */
static void race_reset_while_draining(struct kunit *test)
{
	struct race *r = race_with_running(test);
	struct callout_test_thread *t = begin_drain(test, r);

	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	KUNIT_EXPECT_EQ(test, callout_schedule(&r->item.c, 5), 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	KUNIT_EXPECT_FALSE(test, callout_active(&r->item.c));
	r->set_again = true;
	race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	KUNIT_EXPECT_EQ(test, r->v->base->pending, 0);
	callout_virtual_run_to(r->v, r->v->now + 10);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* Running and pending: drain is to take back the second, too. */
static void race_drain_running_and_pending(struct kunit *test)
{
	struct race *r = race_with_running(test);
	struct callout_test_thread *t;

	callout_virtual_set(&r->item, 5);
	t = begin_drain(test, r);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	callout_virtual_run_to(r->v, r->v->now + 10);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

static bool spinlock_is_free(spinlock_t *lock)
{
	int free = 0;

	if (spin_trylock(lock)) {
		free = 1;
		spin_unlock(lock);
	}
	return free;
}

static bool rwlock_is_free(rwlock_t *lock)
{
	int free = 0;

	if (write_trylock(lock)) {
		free = 1;
		write_unlock(lock);
	}
	return free;
}

static bool rwlock_is_readable(rwlock_t *lock)
{
	int free = 0;

	if (read_trylock(lock)) {
		free = 1;
		read_unlock(lock);
	}
	return free;
}

/* Neither lock has been left behind. */
static bool locks_are_free(struct race *r)
{
	bool ret;

	local_bh_disable();
	ret = spinlock_is_free(&r->lock) && rwlock_is_free(&r->rwlock);
	local_bh_enable();
	return ret;
}

/* The core has taken the lock, and leaves it to the handler to drop it. */
static void return_unlocked(struct race *r)
{
	__acquire(&r->lock);
	switch (r->item.c.lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_unlock(&r->lock);
		break;
	case CALLOUT_L_WRITE:
		write_unlock(&r->rwlock);
		break;
	default:
		read_unlock(&r->rwlock);
	}
}

static void then_look_at_lock(struct callout_item *item)
{
	struct race *r = container_of(item, struct race, item);

	switch (item->c.lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		r->held = !spinlock_is_free(&r->lock);
		lockdep_assert_held(&r->lock);
		break;
	case CALLOUT_L_WRITE:
		r->held = !rwlock_is_readable(&r->rwlock);
		lockdep_assert_held_write(&r->rwlock);
		break;
	case CALLOUT_L_READ:
		r->held = !rwlock_is_free(&r->rwlock);
		lockdep_assert_held_read(&r->rwlock);
		break;
	}
	if (item->c.lock_flags & CALLOUT_L_RETURNUNLOCKED)
		return_unlocked(r);
}

static void race_set_lock(struct race *r, u8 lock_flags)
{
	callout_init_lock(&r->item.c, lock_flags & CALLOUT_L_SPIN ?
			  (void *)&r->lock : (void *)&r->rwlock, lock_flags);
	r->item.c.cpu = CALLOUT_VIRTUAL;
}

static const u8 lock_types[] = {
	CALLOUT_L_SPIN, CALLOUT_L_WRITE, CALLOUT_L_READ,
	CALLOUT_L_SPIN | CALLOUT_L_RETURNUNLOCKED,
	CALLOUT_L_WRITE | CALLOUT_L_RETURNUNLOCKED,
	CALLOUT_L_READ | CALLOUT_L_RETURNUNLOCKED,
};

static void lock_desc(const u8 *type, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s",
		 *type & CALLOUT_L_SPIN ? "spinlock" :
		 *type & CALLOUT_L_WRITE ? "write lock" : "read lock",
		 *type & CALLOUT_L_RETURNUNLOCKED ? ", returns unlocked" : "");
}

KUNIT_ARRAY_PARAM(lock, lock_types, lock_desc);

/* A lock that is not taken, or not the right way, or dropped twice or never. */
static void race_lock_is_held(struct kunit *test)
{
	struct race *r = race_create(test);
	unsigned int i;

	race_set_lock(r, *(const u8 *)test->param_value);
	r->item.then = then_look_at_lock;
	for (i = 1; i <= 2; i++) {
		r->held = false;
		callout_virtual_set(&r->item, 1);
		callout_virtual_run_to(r->v, r->v->now + 1);
		KUNIT_EXPECT_EQ(test, r->item.runs, i);
		KUNIT_EXPECT_TRUE(test, r->held);
		KUNIT_EXPECT_TRUE(test, locks_are_free(r));
	}
	/* The thread was not needed. */
	WRITE_ONCE(r->begin, true);
	race_end(test, r);
}

static void take_lock(struct race *r)
	__acquires(&r->lock)
{
	local_bh_disable();
	if (r->item.c.lock_flags & CALLOUT_L_SPIN)
		spin_lock(&r->lock);
	else
		write_lock(&r->rwlock);
}

static void drop_lock(struct race *r)
	__releases(&r->lock)
{
	if (r->item.c.lock_flags & CALLOUT_L_SPIN)
		spin_unlock(&r->lock);
	else
		write_unlock(&r->rwlock);
	local_bh_enable();
}

/*
 * Gets to where the case holds the lock and the softirq waits for it, the
 * callout off the due list and its handler not started. Returns with the lock
 * held, so nobody may assert.
 */
static void race_for_lock(struct kunit *test, struct race *r)
	__acquires(&r->lock)
{
	struct callout_base *base = r->v->base;

	race_set_lock(r, *(const u8 *)test->param_value);
	r->item.then = then_look_at_lock;
	take_lock(r);
	callout_virtual_set(&r->item, 1);
	r->v->now++;
	WRITE_ONCE(r->begin, true);
	if (!callout_test_spin_until(READ_ONCE(base->running) == &r->item.c))
		KUNIT_FAIL(test, "the callout does not become due");
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
}

/* Stopped under its lock a callout must never start: its data may be gone. */
static void race_stop_while_waiting_for_lock(struct kunit *test)
{
	struct race *r = race_create(test);

	race_for_lock(test, r);
	KUNIT_EXPECT_EQ(test, callout_stop(&r->item.c), 1);
	KUNIT_EXPECT_FALSE(test, callout_active(&r->item.c));
	/* As one that frees it would do. */
	memset(&r->item.c, 0x5a, offsetof(struct callout, lock_flags));
	drop_lock(r);
	race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
	KUNIT_EXPECT_TRUE(test, locks_are_free(r));
}

/* Set anew under its lock: it must not run for the old time as well. */
static void race_reset_while_waiting_for_lock(struct kunit *test)
{
	struct race *r = race_create(test);
	u64 now = r->v->now + 1;

	race_for_lock(test, r);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 6), 1);
	KUNIT_EXPECT_TRUE(test, callout_pending(&r->item.c));
	drop_lock(r);
	race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
	callout_virtual_run_to(r->v, now + 5);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
	callout_virtual_run_to(r->v, now + 6);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
	KUNIT_EXPECT_EQ(test, r->item.ran_at, now + 6);
}

/* Left alone it is to run as soon as it gets the lock. */
static void race_waits_for_lock(struct kunit *test)
{
	struct race *r = race_create(test);

	race_for_lock(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
	drop_lock(r);
	race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
	KUNIT_EXPECT_TRUE(test, r->held);
}

static void then_return(struct callout_item *item)
{
	struct race *r = container_of(item, struct race, item);

	then_look_at_lock(item);
	callout_test_tell(&r->returns);
}

/* Drain, which does not hold the lock, waits for what is about to start. */
static void race_drain_while_waiting_for_lock(struct kunit *test)
{
	struct race *r = race_create(test);
	struct callout_test_thread *t;
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (cpu != r->other_cpu && cpu != raw_smp_processor_id())
			break;
	if (cpu >= nr_cpu_ids) {
		WRITE_ONCE(r->begin, true);
		kunit_skip(test, "needs three CPUs");
	}
	t = callout_test_thread(test, cpu, race_drainer, r);
	race_for_lock(test, r);
	r->item.then = then_return;
	WRITE_ONCE(r->drain, true);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_spin_until(READ_ONCE(r->item.c.state) &
						  CALLOUT_S_DRAINING));
	drop_lock(r);
	race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	KUNIT_EXPECT_FALSE(test, r->too_soon);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* All callouts that are not MPSAFE run under one lock, as under Giant. */
static void race_giant(struct kunit *test)
{
	struct race *r = race_create(test);
	struct callout other;
	bool free;

	callout_init(&other, 0);
	callout_init(&r->item.c, 0);
	KUNIT_ASSERT_NOT_NULL(test, other.lock);
	KUNIT_EXPECT_PTR_EQ(test, other.lock, r->item.c.lock);
	KUNIT_EXPECT_EQ(test, r->item.c.lock_flags, CALLOUT_L_SPIN);
	r->item.c.cpu = CALLOUT_VIRTUAL;
	r->item.then = then_wait;
	callout_virtual_set(&r->item, 1);
	r->v->now++;
	WRITE_ONCE(r->begin, true);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_spin_until(READ_ONCE(r->item.runs)));
	local_bh_disable();
	free = spinlock_is_free(other.lock);
	local_bh_enable();
	KUNIT_EXPECT_FALSE(test, free);
	race_end(test, r);
	local_bh_disable();
	free = spinlock_is_free(other.lock);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, free);
}

static void race_stopper(void *arg)
{
	struct race *r = arg;

	r->ret = callout_stop(&r->item.c);
	callout_test_tell(&r->returns);
}

/* Between two bases: whoever locks it must wait for the new base. */
static void race_stop_moving(struct kunit *test)
{
	struct callout_test_thread *t;
	struct race *r = race_create(test);
	unsigned int i;

	callout_virtual_set(&r->item, 5);
	WRITE_ONCE(r->item.c.cpu, CALLOUT_CPU_MOVING);
	r->ret = -100;
	WRITE_ONCE(r->begin, true);
	race_end(test, r);
	t = callout_test_thread(test, r->other_cpu, race_stopper, r);
	for (i = 0; i < 100000; i++)
		cpu_relax();
	KUNIT_EXPECT_FALSE(test, READ_ONCE(r->returns));
	WRITE_ONCE(r->item.c.cpu, CALLOUT_VIRTUAL);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 1);
	KUNIT_EXPECT_EQ(test, r->v->base->pending, 0);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(race_stop_running),
	KUNIT_CASE(race_stop_running_and_pending),
	KUNIT_CASE(race_reset_running),
	KUNIT_CASE(race_others_while_running),
	KUNIT_CASE(race_drain_running),
	KUNIT_CASE(race_reset_while_draining),
	KUNIT_CASE(race_drain_running_and_pending),
	KUNIT_CASE_PARAM(race_lock_is_held, lock_gen_params),
	KUNIT_CASE_PARAM(race_stop_while_waiting_for_lock, lock_gen_params),
	KUNIT_CASE_PARAM(race_reset_while_waiting_for_lock, lock_gen_params),
	KUNIT_CASE_PARAM(race_waits_for_lock, lock_gen_params),
	KUNIT_CASE_PARAM(race_drain_while_waiting_for_lock, lock_gen_params),
	KUNIT_CASE(race_giant),
	KUNIT_CASE(race_stop_moving),
	{}
};

static struct kunit_suite race_suite = {
	.name = "callout_race",
	.init = callout_virtual_init,
	.test_cases = race_cases,
};

kunit_test_suite(race_suite);
