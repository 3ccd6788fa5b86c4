// SPDX-License-Identifier: GPL-2.0
/*
 * resize.c - wheels that follow the number of callouts
 *
 * A wheel begins with CALLOUT_WHEEL_FIRST buckets, or fewer. When a base has more
 * than CALLOUT_WHEEL_MANY callouts for each bucket, its wheel gets as many buckets
 * as callouts, rounded down to a power of two. It shrinks to that size when a
 * worker has seen fewer than buckets / CALLOUT_WHEEL_FEW callouts at two looks in a
 * row. The worker looks every CALLOUT_LOOK_SECONDS, while any wheel is larger than
 * the smallest. After growing or shrinking there are one to two callouts for each
 * bucket, so the number of callouts must fall to an eighth before the wheel
 * shrinks: it does not grow and shrink in turn.
 *
 * More buckets than callouts would save expiry a look at a callout of another lap,
 * which costs less than the memory: a bucket takes a quarter of the memory of a
 * slot.
 *
 * Arming decrements base->until_resize, and wakes the worker once when no room is
 * left:
 *
 *	CPU0: arms, base locked			CPU1: worker
 *	none left: resize_at = INT_MAX
 *	queues the irq_work
 *						allocates a ring
 *						lock(base), resizes the wheel
 *	queues in the new ring			unlock(base)
 *						lock(base), moves some entries
 *						unlock(base)
 *						...
 *						lock(base), takes the old ring
 *						resize_at = 2 * buckets
 *						unlock(base), frees the old ring
 *
 * Nothing is allocated or freed with the base locked, and a hold of its lock moves
 * up to CALLOUT_BUDGET units. Without memory the wheel keeps its size: everything
 * works, but a tick has more entries to look at. The worker tries again when the
 * callouts have doubled, and at its next look.
 */
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include <linux/topology.h>
#include "base/dispatch.h"
#include "resize.h"
#include "kcompat.h"

/* The largest number of callouts with which a wheel of @buckets keeps its size. */
static int room_of(unsigned int buckets)
{
	return buckets < CALLOUT_WHEEL_MAX_BUCKETS ?
	       CALLOUT_WHEEL_MANY * buckets : INT_MAX;
}

/*
 * Make the size of a base's wheel follow the number of its callouts, if the base
 * has a wheel. A kernel whose own timers are callouts creates its first bases with
 * interrupts off.
 */
void co_resize_begin(struct callout_base *base)
{
	unsigned long flags;

	if (!co_is_wheel(base))
		return;
	local_irq_save(flags);
	co_base_lock(base);
	base->follows = true;
	base->least = to_wheel(base->scheme)->ring.mask + 1;
	co_base_resize_at(base, room_of(base->least));
	co_unlock(base, flags);
}
EXPORT_SYMBOL_IF_KUNIT(co_resize_begin);

static unsigned int buckets_for(const struct callout_base *base,
				unsigned int callouts)
{
	return rounddown_pow_of_two(clamp(callouts, base->least,
					  CALLOUT_WHEEL_MAX_BUCKETS));
}

/* The size that the base's wheel, which has @buckets, should have now. */
static unsigned int buckets_wanted(struct callout_base *base,
				   unsigned int buckets)
{
	unsigned int pending = co_base_pending(base);

	lockdep_assert_held(&base->lock);
	if (pending > room_of(buckets))
		return buckets_for(base, pending);
	if (pending >= buckets / CALLOUT_WHEEL_FEW) {
		base->few = false;
		return buckets;
	}
	if (!base->few) {
		base->few = true;
		base->few_since = jiffies;
	}
	/* Other callers may ask between two looks of the worker. */
	if (time_before(jiffies, base->few_since + CALLOUT_LOOK_SECONDS * HZ))
		return buckets;
	return buckets_for(base, pending);
}

/*
 * co_ring_alloc() for a base's wheel. May sleep. A test replaces it.
 */
int co_resize_alloc(struct callout_ring *ring, unsigned int buckets, int node)
{
	KUNIT_STATIC_STUB_REDIRECT(co_resize_alloc, ring, buckets, node);
	return co_ring_alloc(ring, buckets, node, GFP_KERNEL | __GFP_NOWARN);
}
EXPORT_SYMBOL_IF_KUNIT(co_resize_alloc);

/* Move some entries to the new ring. Return true if there are more. */
static bool resize_move(struct callout_base *base)
{
	unsigned int budget = CALLOUT_BUDGET;
	bool more;

	co_base_lock_irq(base);
	more = co_wheel_move(to_wheel(base->scheme), &budget);
	co_count_units(base, CALLOUT_BUDGET - budget);
	co_base_unlock_irq(base);
	return more;
}

/* Make @ring the base's wheel, and free the old ring. May sleep. */
static void resize_to(struct callout_base *base, const struct callout_ring *ring)
{
	struct callout_wheel *w = to_wheel(base->scheme);
	struct callout_ring old;

	co_base_lock_irq(base);
	co_base_resize_at(base, INT_MAX);
	co_wheel_resize(w, ring);
	co_base_unlock_irq(base);
	do {
		cond_resched();
	} while (resize_move(base));
	co_base_lock_irq(base);
	co_wheel_moved(w, &old);
	base->few = false;
	co_base_unlock_irq(base);
	co_ring_free(&old);
}

/*
 * The size that the base's wheel should have, or 0 to keep its size. @more: a later
 * look may find another size.
 */
static unsigned int resize_look(struct callout_base *base, bool *more)
{
	unsigned int buckets, wanted = 0;

	*more = false;
	co_base_lock_irq(base);
	if (base->follows) {
		buckets = to_wheel(base->scheme)->ring.mask + 1;
		wanted = buckets_wanted(base, buckets);
		*more = buckets > base->least;
		if (wanted == buckets) {
			co_base_resize_at(base, room_of(buckets));
			wanted = 0;
		}
	}
	co_base_unlock_irq(base);
	return wanted;
}

/* There is no memory for a larger wheel now: try again later. */
static void resize_later(struct callout_base *base)
{
	struct callout_wheel *w = to_wheel(base->scheme);

	co_base_lock_irq(base);
	co_base_resize_at(base, max_t(int, room_of(w->ring.mask + 1),
				      2 * min(co_base_pending(base),
					      INT_MAX / 2U)));
	co_base_unlock_irq(base);
}

/*
 * Resize a base's wheel to suit its callouts, if the wheel follows their number.
 * Return true if this must be called again later. May sleep; the caller serialises
 * calls.
 */
bool co_base_resize(struct callout_base *base)
{
	struct callout_ring ring;
	int node = NUMA_NO_NODE;
	unsigned int wanted;
	bool more;

	if (base->index != CALLOUT_INDEX_TEST)
		node = cpu_to_node(base->cpu);
	while ((wanted = resize_look(base, &more))) {
		if (co_resize_alloc(&ring, wanted, node)) {
			resize_later(base);
			return true;
		}
		resize_to(base, &ring);
	}
	return more;
}
EXPORT_SYMBOL_IF_KUNIT(co_base_resize);

static void resize_all(struct work_struct *work)
{
	struct callout_base *base;
	bool again = false;
	unsigned int i;

	for_each_base(base, i)
		again |= co_base_resize(base);
	/* This does nothing if another caller has queued the work since. */
	if (again)
		queue_delayed_work(system_dfl_wq, &callout_resize_work,
				   CALLOUT_LOOK_SECONDS * HZ);
}

/* Deferrable: freeing memory does not wake an idle CPU. */
struct delayed_work callout_resize_work =
	__DELAYED_WORK_INITIALIZER(callout_resize_work, resize_all, TIMER_DEFERRABLE);
EXPORT_SYMBOL_IF_KUNIT(callout_resize_work);

static void resize_wake(struct irq_work *work)
{
	mod_delayed_work(system_dfl_wq, &callout_resize_work, 0);
}

static struct irq_work resize_irq_work = IRQ_WORK_INIT_HARD(resize_wake);

/*
 * Make the worker look at the base, which is locked. Any context, also with the
 * lock of a run queue held. Only the first call has an effect until the worker has
 * looked.
 */
void co_resize_ask(struct callout_base *base)
	__must_hold(&base->lock)
{
	co_base_resize_at(base, INT_MAX);
	irq_work_queue(&resize_irq_work);
}
EXPORT_SYMBOL_IF_KUNIT(co_resize_ask);

/*
 * End the worker, which uses the bases. No handler is left, nor one in a thread,
 * that could arm a callout and ask the worker again. May sleep.
 */
void co_resize_end(void)
{
	irq_work_sync(&resize_irq_work);
	cancel_delayed_work_sync(&callout_resize_work);
}
