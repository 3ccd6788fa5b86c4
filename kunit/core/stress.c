// SPDX-License-Identifier: GPL-2.0
/*
 * stress.c - suite callout_stress: all CPUs race for the same callouts
 *
 * A thread on each CPU makes random calls on shared callouts, for a second or two
 * of real ticks, or on a slow machine until each outcome that the case demands was
 * seen. At the end each setting must have been replaced, cancelled or run, exactly
 * once.
 *
 * callout_stop() and callout_drain() return 0 if the handler runs, whether or not
 * they have also cancelled a second setting. So there are several loads, whose
 * settings are accounted for in different ways:
 *
 *	reset	only resets, on any CPU: sets == runs + replaced
 *	stop	resets and stops on any CPU, unordered: at most as many settings
 *		are missing as calls returned 0
 *	drain	one operation at a time on each callout, and its handler: after
 *		a drain two settings are missing at most
 *	lock	with the associated lock held: the handler runs if and only if
 *		the model, under the same lock, has it armed
 *	handle	one operation at a time: a handle either cancels or has run
 *	timeout	any number set with one function and argument, and cancelled
 *		by these: sets == runs + cancelled
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include "handles/kernel.h"
#include "lib/stress_load.h"

/* How long some handlers take, so that calls meet them while they run. */
#define LONG_HANDLER_US	50

/* How long a thread waits for a callout to become due: two ticks of the kernel. */
#define AMBUSH_NS	(2 * TICK_NSEC)

/* How long the handler waits for that thread. */
#define LINGER_NS	NSEC_PER_MSEC

/* Wait until the callout is drained, up to LINGER_NS. */
static void stress_linger(struct callout_stress_item *item)
{
	u64 end = ktime_get_ns() + LINGER_NS;

	while (!(READ_ONCE(item->c.node.state) & CALLOUT_S_DRAINING) &&
	       ktime_get_ns() < end)
		cpu_relax();
}

static void stress_handler(void *arg)
{
	struct callout_stress_item *item = arg;
	struct callout_stress *s = item->s;

	if (atomic_inc_return(&item->inside) != 1)
		atomic_inc(&s->errors);
	if (atomic_inc_return(&item->runs) % 4 == 0)
		udelay(LONG_HANDLER_US);
	if (READ_ONCE(item->ambushed) && atomic_read(&item->runs) % 2)
		stress_linger(item);
	if (s->handler_sets && atomic_read(&item->runs) % 3 == 0) {
		atomic_inc(&item->sets);
		if (callout_reset(&item->c, 1 + atomic_read(&item->runs) % 4,
				  stress_handler, item))
			atomic_inc(&item->replaced);
	}
	if (READ_ONCE(item->ambushed))
		stress_linger(item);
	atomic_dec(&item->inside);
}

static void stress_set(struct callout_stress_item *item, struct rnd_state *rng)
{
	long distance = callout_test_below(rng, 4);
	unsigned int cpu;
	int ret;

	atomic_inc(&item->sets);
	switch (callout_test_below(rng, 3)) {
	case 0:
		cpu = cpumask_nth(callout_test_below(rng, num_possible_cpus()),
				  cpu_possible_mask);
		ret = callout_reset_on(&item->c, distance, stress_handler,
				       item, cpu);
		break;
	default:
		ret = callout_reset(&item->c, distance, stress_handler, item);
	}
	if (ret)
		atomic_inc(&item->replaced);
}

static void stress_count(struct callout_stress_item *item, int ret)
{
	if (ret > 0)
		atomic_inc(&item->stopped);
	else if (!ret)
		atomic_inc(&item->zeroes);
}

/* Leave most callouts alone until they run: a tick is as long as some hundred operations. */
static bool leave_alone(struct callout_stress_item *item, struct rnd_state *rng)
{
	return (callout_pending(&item->c) || item->handle) &&
	       !atomic_read(&item->inside) && callout_test_below(rng, 4096);
}

static void op_reset(struct callout_stress *s, struct callout_stress_item *item,
		     struct rnd_state *rng)
{
	if (!leave_alone(item, rng))
		stress_set(item, rng);
}

/* Concurrent resets neither lose nor double a setting. */
static void stress_reset(struct kunit *test)
{
	struct callout_stress *s = callout_stress_create(test, op_reset);

	s->handler_sets = true;
	callout_stress_run(test, s);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_stress_is_quiet(s)));
	callout_stress_account(test, s, NULL);
}

static void op_stop(struct callout_stress *s, struct callout_stress_item *item,
		    struct rnd_state *rng)
{
	if (leave_alone(item, rng))
		return;
	if (callout_test_below(rng, 2))
		stress_set(item, rng);
	else
		stress_count(item, callout_stop(&item->c));
}

static int allow_zeroes(struct callout_stress_item *item)
{
	return atomic_read(&item->zeroes);
}

/* As stress_reset(), with concurrent stops, also while callouts migrate. */
static void stress_stop(struct kunit *test)
{
	struct callout_stress *s = callout_stress_create(test, op_stop);
	unsigned int i;

	s->handler_sets = true;
	callout_stress_run(test, s);
	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++)
		stress_count(&s->item[i], callout_drain(&s->item[i].c));
	KUNIT_EXPECT_TRUE(test, callout_stress_is_quiet(s));
	callout_stress_account(test, s, allow_zeroes);
}

/* Set a callout on another CPU, and wait until it runs there. */
static void stress_ambush(struct callout_stress_item *item)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask,
					   raw_smp_processor_id());
	u64 end = ktime_get_ns() + AMBUSH_NS;

	WRITE_ONCE(item->ambushed, true);
	atomic_inc(&item->sets);
	if (callout_reset_on(&item->c, 1, stress_handler, item,
			     cpu < nr_cpu_ids ? cpu : 0))
		atomic_inc(&item->replaced);
	while (!atomic_read(&item->inside) && ktime_get_ns() < end)
		cpu_relax();
}

/*
 * Only the holder of the mutex sets the callout, and the handler, once for each
 * run. So a stop that returned 0 hides at most one setting, the previous one. A
 * drain that returned 0 hides two: the previous setting and the handler's own,
 * which was cancelled or refused.
 */
static void op_drain(struct callout_stress *s, struct callout_stress_item *item,
		     struct rnd_state *rng)
{
	int ret, missing, hidden = 0;
	bool ambush;

	ambush = !callout_test_below(rng, 256);
	if (!ambush && leave_alone(item, rng))
		return;
	if (!mutex_trylock(&item->mutex))
		return;
	if (ambush) {
		stress_ambush(item);
	} else if (callout_test_below(rng, 2)) {
		stress_set(item, rng);
		goto out;
	}
	ret = 0;
	if (callout_test_below(rng, 2)) {
		ret = callout_stop(&item->c);
		stress_count(item, ret);
		hidden += !ret;
	}
	if (!ret) {
		ret = callout_drain(&item->c);
		stress_count(item, ret);
		hidden = ret ? hidden : 2;
	}
	WRITE_ONCE(item->ambushed, false);
	/* Neither running nor pending. */
	if (callout_pending(&item->c) || atomic_read(&item->inside))
		atomic_inc(&s->errors);
	missing = callout_stress_missing(item);
	if (missing < 0 || missing > hidden)
		atomic_inc(&s->errors);
	item->missing += missing;
out:
	mutex_unlock(&item->mutex);
}

/* After a drain a callout is neither pending nor running, though handlers re-arm. */
static void stress_drains(struct kunit *test)
{
	struct callout_stress *s = callout_stress_create(test, op_drain);

	s->handler_sets = true;
	s->min_zeroes = num_online_cpus() > 1;
	callout_stress_run(test, s);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_stress_is_quiet(s)));
	callout_stress_account(test, s, NULL);
}

static void lock_handler(void *arg)
{
	struct callout_stress_item *item = arg;

	lockdep_assert_held(&item->lock);
	if (!item->armed)
		atomic_inc(&item->s->errors);
	item->armed = false;
	/* Run this under the lock, to make the lock contended. */
	if (atomic_inc_return(&item->runs) % 4 == 0)
		udelay(LONG_HANDLER_US);
}

/* Count an operation that found the handler waiting for its lock. */
static void lock_meets(struct callout_stress *s,
		       struct callout_stress_item *item)
{
	if (item->armed && !callout_pending(&item->c))
		atomic_inc(&s->met);
}

static void op_lock(struct callout_stress *s, struct callout_stress_item *item,
		    struct rnd_state *rng)
{
	bool was_armed;
	int ret;

	/* Few items and long hold times make it likely to meet handlers that wait for the lock. */
	item = &s->item[(item - s->item) % 8];
	spin_lock_bh(&item->lock);
	if (item->armed)
		udelay(callout_test_below(rng, 100));
	lock_meets(s, item);
	was_armed = item->armed;
	if (callout_test_below(rng, 4)) {
		atomic_inc(&item->sets);
		ret = callout_reset_on(&item->c, callout_test_below(rng, 3),
				       lock_handler, item,
				       raw_smp_processor_id());
		item->armed = true;
		/*
		 * A reset replaces a setting that has not run, though it may be
		 * due.
		 */
		if (ret != was_armed)
			atomic_inc(&s->errors);
		if (ret)
			atomic_inc(&item->replaced);
	} else {
		ret = callout_stop(&item->c);
		item->armed = false;
		stress_count(item, ret);
		if (ret && ret != (was_armed ? 1 : -1))
			atomic_inc(&s->errors);
		if (!ret && was_armed)
			item->missing++;
	}
	spin_unlock_bh(&item->lock);
	/* Time for the callouts to run. */
	if (!callout_test_below(rng, 8))
		schedule_timeout_uninterruptible(1);
}

/* A handler starts if and only if its callout is armed under its lock. */
static void stress_lock(struct kunit *test)
{
	struct callout_stress *s = callout_stress_create(test, op_lock);
	unsigned int i, armed = 0;

	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++)
		callout_init_mtx(&s->item[i].c, &s->item[i].lock, 0);
	s->min_met = num_online_cpus() > 1;
	callout_stress_run(test, s);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_stress_is_quiet(s)));
	callout_barrier();
	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++)
		armed += s->item[i].armed;
	KUNIT_EXPECT_EQ(test, armed, 0);
	kunit_info(test, "met at the lock %d times\n", atomic_read(&s->met));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->errors), 0);
	callout_stress_account(test, s, NULL);
}

static void op_handle(struct callout_stress *s,
		      struct callout_stress_item *item, struct rnd_state *rng)
{
	int ret;

	if (leave_alone(item, rng) || !mutex_trylock(&item->mutex))
		return;
	if (!item->handle) {
		item->handle = setcallout(stress_handler, item,
					  callout_test_below(rng, 4));
		if (item->handle)
			atomic_inc(&item->sets);
		else
			atomic_inc(&s->errors);
		goto out;
	}
	if (callout_test_below(rng, 2)) {
		ret = unsetcallout_sync(item->handle);
	} else {
		ret = unsetcallout(item->handle);
		if (!ret && unsetcallout_sync(item->handle) > 0)
			atomic_inc(&s->errors);
	}
	stress_count(item, ret);
	/* A callout that was not cancelled has run, and none runs now. */
	if (atomic_read(&item->inside))
		atomic_inc(&s->errors);
	if (atomic_read(&item->runs) + atomic_read(&item->stopped) !=
	    atomic_read(&item->sets))
		atomic_inc(&s->errors);
	item->handle = 0;
out:
	mutex_unlock(&item->mutex);
}

/* Each callout set by handle is either cancelled or run, exactly once. */
static void stress_handles(struct kunit *test)
{
	struct callout_stress *s = callout_stress_create(test, op_handle);

	callout_stress_run(test, s);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_stress_is_complete(s)));
	callout_stress_account(test, s, NULL);
}

static void op_timeout(struct callout_stress *s,
		       struct callout_stress_item *item, struct rnd_state *rng)
{
	int ret;

	/* Do this rarely, so that some callouts run, and others are pending when cancelled. */
	if (callout_test_below(rng, 64))
		return;
	if (atomic_read(&item->sets) - atomic_read(&item->runs) -
	    atomic_read(&item->stopped) < 20 && callout_test_below(rng, 4)) {
		atomic_inc(&item->sets);
		if (!callout_timeout(callout_stress_just_count, item,
				     callout_test_below(rng, 5)))
			atomic_inc(&s->errors);
		return;
	}
	ret = callout_untimeout(callout_stress_just_count, item);
	if (ret > 0)
		atomic_inc(&item->stopped);
	else if (!ret)
		atomic_inc(&s->errors);
}

/* Each callout set by timeout() is either cancelled or run, exactly once. */
static void stress_timeouts(struct kunit *test)
{
	struct callout_stress *s = callout_stress_create(test, op_timeout);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, callout_reserve(2 * 20 * CALLOUT_STRESS_ITEMS));
	callout_stress_run(test, s);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_stress_is_complete(s)));
	for (i = 0; i < CALLOUT_STRESS_ITEMS; i++)
		KUNIT_EXPECT_EQ(test, callout_untimeout(callout_stress_just_count,
							&s->item[i]), -1);
	callout_barrier();
	callout_stress_account(test, s, NULL);
}

static void op_handle_or_reset(struct callout_stress *s,
			       struct callout_stress_item *item,
			       struct rnd_state *rng)
{
	if ((item - s->item) % 2)
		op_handle(s, item, rng);
	else
		op_reset(s, item, rng);
}

static void cpu_comes_and_goes(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask), i;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
		schedule_timeout_uninterruptible(HZ / 50);
		KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
		schedule_timeout_uninterruptible(HZ / 50);
	}
}

/* No setting is lost while a CPU goes offline and others set callouts on it. */
static void stress_hotplug(struct kunit *test)
{
	struct callout_stress *s;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || num_online_cpus() < 2)
		kunit_skip(test, "no CPU can go away");
	s = callout_stress_create(test, op_handle_or_reset);
	callout_test_pin(test, 0);
	callout_stress_run_on(test, s, num_online_cpus() - 1, cpu_comes_and_goes);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(callout_stress_is_complete(s)));
	callout_barrier();
	callout_stress_account(test, s, NULL);
}

static struct kunit_case stress_cases[] = {
	KUNIT_CASE_SLOW(stress_reset),
	KUNIT_CASE_SLOW(stress_stop),
	KUNIT_CASE_SLOW(stress_drains),
	KUNIT_CASE_SLOW(stress_lock),
	KUNIT_CASE_SLOW(stress_handles),
	KUNIT_CASE_SLOW(stress_timeouts),
	KUNIT_CASE_SLOW(stress_hotplug),
	{}
};

static struct kunit_suite stress_suite = {
	.name = "callout_stress",
	.test_cases = stress_cases,
};

kunit_test_suite(stress_suite);
