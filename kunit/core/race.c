// SPDX-License-Identifier: GPL-2.0
/*
 * race.c - suite callout_race: associated locks, drain, and running handlers
 *
 * A case makes its calls while the handler is certain to run, or to wait for its
 * lock: see softirq.c.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>
#include "core/associated.h"
#include "core/debug.h"
#include "lib/softirq.h"
#define CALLOUT_BSD_NO_TICKS
#include <linux/callout_bsd.h>

/* Stopping a running callout returns 0, and leaves it inactive. */
static void race_stop_running(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout *c = &r->item.c;

	KUNIT_EXPECT_FALSE(test, callout_pending(c));
	KUNIT_EXPECT_TRUE(test, callout_active(c));
	KUNIT_EXPECT_EQ(test, callout_stop(c), 0);
	KUNIT_EXPECT_FALSE(test, callout_active(c));
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, callout_stop(c), -1);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* Stopping a running callout that was set again returns 0, and cancels the new setting. */
static void race_stop_running_and_pending(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout *c = &r->item.c;

	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 0);
	KUNIT_EXPECT_TRUE(test, callout_pending(c));
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 6), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(c), 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(c));
	KUNIT_EXPECT_EQ(test, co_base_pending(r->v->base), 0);
	callout_race_end(test, r);
	callout_virtual_run_to(r->v, r->v->now + 10);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* A running callout that is set again runs once more, at its time. */
static void race_reset_running(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	u64 now = r->v->now;

	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 0);
	callout_race_end(test, r);
	callout_virtual_run_to(r->v, now + 4);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
	callout_virtual_run_to(r->v, now + 5);
	KUNIT_EXPECT_EQ(test, r->item.runs, 2);
}

static int race_reset_on(struct callout_race *r)
{
	return callout_reset_on(&r->item.c, 3600 * HZ, callout_virtual_handler,
				&r->item, raw_smp_processor_id());
}

/* A running callout that is set for another CPU migrates when its handler returns. */
static void race_leaving(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout *c = &r->item.c;

	KUNIT_EXPECT_EQ(test, race_reset_on(r), 0);
	KUNIT_EXPECT_EQ(test, c->node.cpu, CALLOUT_VIRTUAL);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 1);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, c->node.cpu, raw_smp_processor_id());
	KUNIT_EXPECT_EQ(test, co_base_pending(r->v->base), 0);
	KUNIT_EXPECT_GE(test, callout_drain(c), -1);
}

/* A running callout does not migrate if it is stopped before its handler has returned. */
static void race_leaving_stopped(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout *c = &r->item.c;

	KUNIT_EXPECT_EQ(test, race_reset_on(r), 0);
	KUNIT_EXPECT_EQ(test, callout_stop(c), 0);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, c->node.cpu, CALLOUT_VIRTUAL);
	KUNIT_EXPECT_EQ(test, callout_stop(c), -1);
}

/* A running callout does not migrate if it is drained. */
static void race_leaving_drained(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout_test_thread *drainer;

	KUNIT_EXPECT_EQ(test, race_reset_on(r), 0);
	drainer = callout_race_drain(test, r);
	callout_race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(drainer));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	KUNIT_EXPECT_FALSE(test, r->too_soon);
	KUNIT_EXPECT_EQ(test, r->item.c.node.cpu, CALLOUT_VIRTUAL);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
}

/* While a handler runs, other callouts of its base can be set and cancelled. */
static void race_others_while_running(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout_item *a = callout_virtual_items(test, 2);

	KUNIT_EXPECT_EQ(test, callout_virtual_set(&a[0], 5), 0);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&a[1], 5), 0);
	KUNIT_EXPECT_EQ(test, callout_stop(&a[0].c), 1);
	KUNIT_EXPECT_EQ(test, callout_drain(&a[0].c), -1);
	/* An expiry from elsewhere does nothing while this expiry is running. */
	WRITE_ONCE(r->v->now, r->v->now + 10);
	callout_virtual_expire(r->v);
	KUNIT_EXPECT_EQ(test, a[1].runs, 0);
	callout_race_end(test, r);
	/*
	 * Expiry had read the time earlier, so it asks to be called again, unless
	 * it yielded before the handler and then read the time again.
	 */
	if (!a[1].runs) {
		KUNIT_EXPECT_LE(test, r->v->armed, r->v->now);
		callout_virtual_expire(r->v);
	}
	KUNIT_EXPECT_EQ(test, a[1].runs, 1);
}

static void race_never(void *arg)
{
	WARN(1, "called\n");
}

/*
 * ABA: a new callout at the address of a callout whose handler runs, and which was
 * freed, is not mistaken for the running callout.
 */
static void race_same_address(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout *c = &r->item.c;

	memset(c, 0x5a, sizeof(*c));
	callout_init(c, CALLOUT_MPSAFE);
	c->node.cpu = CALLOUT_VIRTUAL;
	KUNIT_EXPECT_EQ(test, callout_stop(c), -1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 0);
	KUNIT_EXPECT_EQ(test, callout_stop(c), 1);
	KUNIT_EXPECT_EQ(test, callout_async_drain(c, race_never), -1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 0);
	KUNIT_EXPECT_EQ(test, callout_drain(c), 1);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* Drain returns 0 when the handler has returned, and not before. */
static void race_drain_running(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout_test_thread *t = callout_race_drain(test, r);

	KUNIT_EXPECT_EQ(test, r->ret, -100);
	callout_race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	KUNIT_EXPECT_FALSE(test, r->too_soon);
	KUNIT_EXPECT_EQ(test, r->item.c.node.state & ~CALLOUT_S_STARTED_HERE, 0);
	KUNIT_EXPECT_EQ(test, r->v->base->waiters, 0);
	/* The callout can be used again. */
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 1), 0);
	callout_virtual_run_to(r->v, r->v->now + 1);
	KUNIT_EXPECT_EQ(test, r->item.runs, 2);
}

/* A reset is refused while a drain waits: the caller of the drain may free the callout. */
static void race_reset_while_draining(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout_test_thread *t = callout_race_drain(test, r);

	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	KUNIT_EXPECT_EQ(test, callout_schedule(&r->item.c, 5), 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	KUNIT_EXPECT_FALSE(test, callout_active(&r->item.c));
	r->set_again = true;
	callout_race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	KUNIT_EXPECT_EQ(test, co_base_pending(r->v->base), 0);
	callout_virtual_run_to(r->v, r->v->now + 10);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* Draining a running callout that was set again cancels the new setting too. */
static void race_drain_running_and_pending(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout_test_thread *t;

	callout_virtual_set(&r->item, 5);
	t = callout_race_drain(test, r);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	callout_race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	callout_virtual_run_to(r->v, r->v->now + 10);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* Can a lock be taken? @op is spin, write or read. */
#define lock_is_free(op, lock)						\
({									\
	typeof(lock) __lock = (lock);					\
	int __free = 0;							\
									\
	if (op##_trylock(__lock)) {					\
		__free = 1;						\
		op##_unlock(__lock);					\
	}								\
	__free;								\
})

/* Is neither lock held? */
static bool locks_are_free(struct callout_race *r)
{
	bool ret;

	local_bh_disable();
	ret = lock_is_free(spin, &r->lock) && lock_is_free(write, &r->rwlock) &&
	      lock_is_free(raw_spin, &r->raw);
	local_bh_enable();
	return ret;
}

/* Drop the lock that the core has acquired, as CALLOUT_RETURNUNLOCKED asks. */
static void return_unlocked(struct callout_race *r)
{
	__acquire(&r->lock);
	switch (r->item.c.node.flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_unlock(&r->lock);
		break;
	case CALLOUT_L_RAW:
		raw_spin_unlock(&r->raw);
		break;
	case CALLOUT_L_WRITE:
		write_unlock(&r->rwlock);
		break;
	default:
		read_unlock(&r->rwlock);
	}
	/* With the lock's function for CALLOUT_IRQLOCK this is one call. */
	if (co_associated_irqs_off(r->item.c.node.flags))
		local_irq_enable();
}

static void then_look_at_lock(struct callout_item *item)
{
	struct callout_race *r = container_of(item, struct callout_race, item);

	switch (item->c.node.flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		r->held = !lock_is_free(spin, &r->lock);
		lockdep_assert_held(&r->lock);
		break;
	case CALLOUT_L_RAW:
		r->held = !lock_is_free(raw_spin, &r->raw);
		lockdep_assert_held(&r->raw);
		break;
	case CALLOUT_L_WRITE:
		r->held = !lock_is_free(read, &r->rwlock);
		lockdep_assert_held_write(&r->rwlock);
		break;
	case CALLOUT_SHAREDLOCK:
		r->held = !lock_is_free(write, &r->rwlock);
		lockdep_assert_held_read(&r->rwlock);
		break;
	}
	if (item->c.node.flags & CALLOUT_RETURNUNLOCKED)
		return_unlocked(r);
}

static const u8 lock_types[] = {
	CALLOUT_L_SPIN, CALLOUT_L_WRITE, CALLOUT_SHAREDLOCK,
	CALLOUT_L_SPIN | CALLOUT_RETURNUNLOCKED,
	CALLOUT_L_WRITE | CALLOUT_RETURNUNLOCKED,
	CALLOUT_SHAREDLOCK | CALLOUT_RETURNUNLOCKED,
	CALLOUT_L_RAW,
	CALLOUT_L_RAW | CALLOUT_RETURNUNLOCKED,
	CALLOUT_L_SPIN | CALLOUT_IRQLOCK,
	CALLOUT_L_RAW | CALLOUT_IRQLOCK,
	CALLOUT_L_WRITE | CALLOUT_IRQLOCK,
	CALLOUT_SHAREDLOCK | CALLOUT_IRQLOCK,
	CALLOUT_L_RAW | CALLOUT_IRQLOCK | CALLOUT_RETURNUNLOCKED,
};

static void lock_desc(const u8 *type, char *desc)
{
	static const char * const names[] = {
		[CALLOUT_L_SPIN]	= "spinlock",
		[CALLOUT_L_RAW]		= "raw spinlock",
		[CALLOUT_L_WRITE]	= "write lock",
		[CALLOUT_SHAREDLOCK]	= "read lock",
	};

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s%s",
		 names[*type & CALLOUT_L_TYPES],
		 *type & CALLOUT_IRQLOCK ? ", interrupts off" : "",
		 *type & CALLOUT_RETURNUNLOCKED ? ", returns unlocked" : "");
}

KUNIT_ARRAY_PARAM(lock, lock_types, lock_desc);

/* The handler runs with its lock held, in the right mode, and the lock is released afterwards. */
static void race_lock_is_held(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	unsigned int i;

	callout_race_set_lock(r, *(const u8 *)test->param_value);
	r->item.then = then_look_at_lock;
	for (i = 1; i <= 2; i++) {
		r->held = false;
		callout_race_take_lock(r);
		callout_virtual_set(&r->item, 1);
		callout_race_drop_lock(r);
		callout_virtual_run_to(r->v, r->v->now + 1);
		KUNIT_EXPECT_EQ(test, r->item.runs, i);
		KUNIT_EXPECT_TRUE(test, r->held);
		KUNIT_EXPECT_TRUE(test, locks_are_free(r));
	}
	/* This case does not need the thread. */
	WRITE_ONCE(r->begin, true);
	callout_race_end(test, r);
}

/* lockdep knows who may set and stop a callout: the holder of the callout's lock. */
static void race_lock_is_asserted(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	u8 type = *(const u8 *)test->param_value;
	bool known = IS_ENABLED(CONFIG_LOCKDEP);
	struct callout *c = &r->item.c;
	bool before, held, reading = true;

	callout_race_set_lock(r, type);
	before = co_lock_is_held(c);
	callout_race_take_lock(r);
	held = co_lock_is_held(c);
	callout_race_drop_lock(r);
	if (c->lock == &r->rwlock) {
		read_lock_bh(&r->rwlock);
		reading = co_lock_is_held(c);
		read_unlock_bh(&r->rwlock);
	}
	KUNIT_EXPECT_EQ(test, before, !known);
	KUNIT_EXPECT_TRUE(test, held);
	KUNIT_EXPECT_EQ(test, reading, !known || c->lock != &r->rwlock ||
			type & CALLOUT_SHAREDLOCK);
	KUNIT_EXPECT_EQ(test, co_lock_is_held(c), !known);
	callout_init(c, 0);
	KUNIT_EXPECT_TRUE(test, co_lock_is_held(c));
	/* This case does not need the thread. */
	c->node.cpu = CALLOUT_VIRTUAL;
	WRITE_ONCE(r->begin, true);
	callout_race_end(test, r);
}

/* callout_race_wait_for_lock() with the lock given by the case's parameter. */
static void race_for_lock(struct kunit *test, struct callout_race *r)
	__acquires(&r->lock)
{
	r->item.then = then_look_at_lock;
	callout_race_wait_for_lock(test, r, *(const u8 *)test->param_value);
}

/* A callout that is stopped under its lock does not start: it may be freed. */
static void race_stop_while_waiting_for_lock(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	struct callout *c = &r->item.c;
	u8 flags;

	race_for_lock(test, r);
	KUNIT_EXPECT_EQ(test, callout_stop(c), 1);
	KUNIT_EXPECT_FALSE(test, callout_active(c));
	/* The owner might do this before freeing it; the helpers need the flags. */
	flags = c->node.flags;
	memset(c, 0x5a, offsetofend(struct callout, lock));
	c->node.flags = flags;
	callout_race_drop_lock(r);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
	KUNIT_EXPECT_TRUE(test, locks_are_free(r));
}

/* A callout that is set again under its lock runs once, at the new time. */
static void race_reset_while_waiting_for_lock(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	u64 now = r->v->now + 1;

	race_for_lock(test, r);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 5), 1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(&r->item, 6), 1);
	KUNIT_EXPECT_TRUE(test, callout_pending(&r->item.c));
	callout_race_drop_lock(r);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
	callout_virtual_run_to(r->v, now + 5);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
	callout_virtual_run_to(r->v, now + 6);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
	KUNIT_EXPECT_EQ(test, r->item.ran_at, now + 6);
}

static void then_set_far(struct callout_item *item)
{
	callout_virtual_set(item, 20);
}

/* While it waits another callout, which has run in this base, can be set and cancelled. */
static void race_others_while_waiting_for_lock(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	struct callout_item *a = callout_virtual_items(test, 1);

	/* Its handler sets it: it is pending, and the flag of its run remains. */
	a->then = then_set_far;
	callout_virtual_set(a, 1);
	callout_virtual_run_to(r->v, r->v->now + 1);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
	race_for_lock(test, r);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 21), 1);
	KUNIT_EXPECT_EQ(test, callout_virtual_set(a, 22), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), 1);
	callout_race_drop_lock(r);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
	KUNIT_EXPECT_EQ(test, a->runs, 1);
}

/* The handler runs as soon as it gets the lock. */
static void race_waits_for_lock(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);

	race_for_lock(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 0);
	callout_race_drop_lock(r);
	callout_race_end(test, r);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
	KUNIT_EXPECT_TRUE(test, r->held);
}

/* callout_init_rm() takes the rmlock, for reading if the flags say so. */
static void race_rm(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	struct callout *c = &r->item.c;

	r->item.then = then_look_at_lock;
	callout_init_rm(c, &r->rwlock, CALLOUT_SHAREDLOCK);
	KUNIT_EXPECT_EQ(test, c->node.flags & CALLOUT_L_TYPES,
			CALLOUT_SHAREDLOCK);
	callout_init_rm(c, &r->rwlock, 0);
	KUNIT_EXPECT_EQ(test, c->node.flags & CALLOUT_L_TYPES, CALLOUT_L_WRITE);
	c->node.cpu = CALLOUT_VIRTUAL;
	callout_race_take_lock(r);
	callout_virtual_set(&r->item, 1);
	callout_race_drop_lock(r);
	callout_virtual_run_to(r->v, r->v->now + 1);
	KUNIT_EXPECT_TRUE(test, r->held);
	/* This case does not need the thread. */
	WRITE_ONCE(r->begin, true);
	callout_race_end(test, r);
}

static void then_return(struct callout_item *item)
{
	struct callout_race *r = container_of(item, struct callout_race, item);

	then_look_at_lock(item);
	callout_test_tell(&r->returns);
}

/* Drain, without the lock, waits for a handler that is about to start. */
static void race_drain_while_waiting_for_lock(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	struct callout_test_thread *t;
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (cpu != r->other_cpu && cpu != raw_smp_processor_id())
			break;
	if (cpu >= nr_cpu_ids) {
		WRITE_ONCE(r->begin, true);
		kunit_skip(test, "needs three CPUs");
	}
	t = callout_test_thread(test, cpu, callout_race_drainer, r);
	race_for_lock(test, r);
	r->item.then = then_return;
	WRITE_ONCE(r->drain, true);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_spin_until(READ_ONCE(r->item.c.node.state) &
						  CALLOUT_S_DRAINING));
	callout_race_drop_lock(r);
	callout_race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	KUNIT_EXPECT_FALSE(test, r->too_soon);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* All callouts that are not MPSAFE share one lock, like BSD's Giant. */
static void race_giant(struct kunit *test)
{
	struct callout_race *r = callout_race_create(test);
	struct callout other;
	bool free;

	callout_init(&other, 0);
	callout_init(&r->item.c, 0);
	KUNIT_ASSERT_NOT_NULL(test, other.lock);
	KUNIT_EXPECT_PTR_EQ(test, other.lock, r->item.c.lock);
	KUNIT_EXPECT_EQ(test, r->item.c.node.flags, CALLOUT_L_SPIN);
	r->item.c.node.cpu = CALLOUT_VIRTUAL;
	callout_race_begin(test, r);
	local_bh_disable();
	free = lock_is_free(spin, other.lock);
	local_bh_enable();
	KUNIT_EXPECT_FALSE(test, free);
	callout_race_end(test, r);
	local_bh_disable();
	free = lock_is_free(spin, other.lock);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, free);
}

static void set_after_drain(void *arg)
{
	struct callout_race *r = arg;

	/* This lets it run before the other drainer when both are woken. */
	sched_set_fifo(current);
	callout_drain(&r->item.c);
	r->ret = callout_virtual_set(&r->item, 5);
	sched_set_normal(current, 0);
}

/*
 * A setting made after the first of two drains is refused, or cancelled by the
 * second drain, whose caller may free the callout when the drain returns.
 */
static void race_two_drains(struct kunit *test)
{
	struct callout_race *r = callout_race_running(test);
	struct callout_test_thread *t, *setter;

	t = callout_race_drain(test, r);
	setter = callout_test_thread(test, raw_smp_processor_id(),
				     set_after_drain, r);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(r->v->base->waiters) ==
						  2));
	r->set_again = true;
	callout_race_end(test, r);
	KUNIT_ASSERT_TRUE(test, callout_test_join(setter));
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, r->ret, 0);
	KUNIT_EXPECT_FALSE(test, callout_pending(&r->item.c));
	KUNIT_EXPECT_EQ(test, co_base_pending(r->v->base), 0);
	callout_virtual_run_to(r->v, r->v->now + 10);
	KUNIT_EXPECT_EQ(test, r->item.runs, 1);
}

/* A callout on the stack, for the lifetime of this function. */
static noinline void use_on_stack(struct kunit *test, unsigned int *runs)
{
	struct callout_item item = {};

	item.v = test->priv;
	callout_init(&item.c, CALLOUT_MPSAFE);
	item.c.node.cpu = CALLOUT_VIRTUAL;
	callout_virtual_set(&item, 1);
	callout_virtual_run_to(item.v, item.v->now + 1);
	*runs += item.runs;
	callout_virtual_set(&item, 1);
	*runs += callout_drain(&item.c);
}

/* Callouts on the stack can be drained and their memory reused. */
static void race_on_stack(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	unsigned int i, runs = 0;

	for (i = 0; i < 10; i++)
		use_on_stack(test, &runs);
	KUNIT_EXPECT_EQ(test, runs, 20);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(race_stop_running),
	KUNIT_CASE(race_stop_running_and_pending),
	KUNIT_CASE(race_reset_running),
	KUNIT_CASE(race_leaving),
	KUNIT_CASE(race_leaving_stopped),
	KUNIT_CASE(race_leaving_drained),
	KUNIT_CASE(race_others_while_running),
	KUNIT_CASE(race_same_address),
	KUNIT_CASE(race_drain_running),
	KUNIT_CASE(race_reset_while_draining),
	KUNIT_CASE(race_drain_running_and_pending),
	KUNIT_CASE_PARAM(race_lock_is_held, lock_gen_params),
	KUNIT_CASE_PARAM(race_lock_is_asserted, lock_gen_params),
	KUNIT_CASE_PARAM(race_stop_while_waiting_for_lock, lock_gen_params),
	KUNIT_CASE_PARAM(race_reset_while_waiting_for_lock, lock_gen_params),
	KUNIT_CASE_PARAM(race_others_while_waiting_for_lock, lock_gen_params),
	KUNIT_CASE_PARAM(race_waits_for_lock, lock_gen_params),
	KUNIT_CASE_PARAM(race_drain_while_waiting_for_lock, lock_gen_params),
	KUNIT_CASE(race_rm),
	KUNIT_CASE(race_giant),
	KUNIT_CASE(race_two_drains),
	KUNIT_CASE(race_on_stack),
	{}
};

static struct kunit_suite race_suite = {
	.name = "callout_race",
	.init = callout_virtual_init,
	.test_cases = race_cases,
};

kunit_test_suite(race_suite);
