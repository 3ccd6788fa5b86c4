// SPDX-License-Identifier: GPL-2.0
/*
 * clock.c - expiry times: ticks, three clocks, and two alarm clocks
 *
 * CLOCK_BOOTTIME and CLOCK_REALTIME differ from CLOCK_MONOTONIC by offsets that
 * only change in steps: when the system resumes, and when CLOCK_REALTIME is set or
 * has a leap second. So callouts of all clocks are queued alike, by tick. After a
 * step a worker requeues the callouts that became due earlier, one by one. A
 * callout that became due later is postponed at its tick. The cost is paid only at
 * a step, and only for files that have had callouts in these clocks.
 *
 * Setting a clock does not affect a relative time. So a slot with a relative time
 * has its due time in CLOCK_MONOTONIC although its clock may be CLOCK_REALTIME, and
 * in CLOCK_BOOTTIME if its clock is CLOCK_REALTIME_ALARM, which runs while the
 * system is suspended.
 *
 * The times in slots are times of the initial time namespace. Absolute times are
 * converted to it when an operation comes in, and to the caller's namespace when
 * they go out. The times of an event are converted to the reader's namespace,
 * whoever has set the callout.
 */
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>
#include "core/queue.h"
#include "clock.h"
#include "file.h"
#include "handles/hash.h"
#include "handles/requeue.h"
#include "kcompat.h"

u64 callout_boot_step;
EXPORT_SYMBOL_IF_KUNIT(callout_boot_step);

u64 callout_slack_ns __ro_after_init;
EXPORT_SYMBOL_IF_KUNIT(callout_slack_ns);
unsigned int callout_slack_ticks __ro_after_init;
EXPORT_SYMBOL_IF_KUNIT(callout_slack_ticks);

/* Set the default slack: the whole ticks in @slack_ns, at least one. */
void co_slack_init(unsigned int slack_ns, u64 tick_ns)
{
	callout_slack_ticks = max_t(u64, div64_u64(slack_ns, tick_ns), 1);
	callout_slack_ns = callout_slack_ticks * tick_ns;
}

/*
 * Return the tick at which a callout fires that is due at @due of CLOCK_MONOTONIC.
 *
 * With less than the default slack it is the first tick. With the default slack or
 * more it is a multiple of the default slack that other callouts likely choose too.
 * The default slack is an odd number of ticks unless a parameter was given, so these
 * callouts use all buckets of the wheel: see co_coalesce().
 */
u64 co_slack_tick(struct callout_base *base, u64 due, u64 slack, u64 now)
{
	unsigned int ticks = slack < callout_slack_ns ? 1 : callout_slack_ticks;
	u64 unit = ticks * base->tick_ns;
	u64 first = co_first_multiple(due, now, unit);

	/* A time that has passed has no slack left: @due may be 0 in place of an earlier time. */
	if (slack <= callout_slack_ns || due <= now)
		return first * ticks;
	due = min_t(u64, due + slack, KTIME_MAX);
	return co_coalesce(first, div64_u64(due, unit)) * ticks;
}
EXPORT_SYMBOL_IF_KUNIT(co_slack_tick);

/*
 * Arm a slot that is not due, or re-arm it if it is pending. In the hash it moves in one
 * hold of its bucket's lock:
 *
 *	CPU0: SET				CPU1: UNTIMEOUT
 *	lock(base), lock(bucket)
 *	slot out of the bucket
 *	rearm: another tick			waits for bucket
 *	slot into the bucket
 *	unlock(bucket)				finds the slot
 *	unlock(base)				locks base: still the first, cancels it
 */
void co_slot_requeue(struct callout_file *file, struct callout_base *base,
		     struct callout_slot *slot, u64 tick)
	__must_hold(&base->lock)
{
	co_table_requeue(&file->table, base, slot, tick);
}

/* Can a step of a clock make the slot due earlier? */
static bool slot_may_step(const struct callout_slot *slot)
{
	return READ_ONCE(slot->node.state) & CALLOUT_S_PENDING &&
	       READ_ONCE(slot->node.flags) & CALLOUT_SLOT_STEPS;
}

static void slot_step(struct callout_file *file, struct callout_slot *slot)
{
	struct callout_base *base;
	u64 due, latest, now;
	unsigned long flags;

	if (!slot_may_step(slot))
		return;
	co_point();
	base = co_lock(&slot->node, &flags);
	if (slot_may_step(slot) && !(slot->node.state & CALLOUT_S_DUE)) {
		now = ktime_get_ns();
		due = co_slot_due_mono(slot);
		latest = due;
		if (due > now)
			latest = min_t(u64, due + slot->slack, KTIME_MAX);
		/* If the slot is due later than before, expiry postpones it. */
		if (co_from_ns(base, latest, now) < slot->node.expires) {
			if (!base->online) {
				co_dequeue_locked(base, &slot->node);
				base = co_rehome(base, &slot->node);
			}
			co_slot_requeue(file, base, slot,
					co_slack_tick(base, due, slot->slack,
						      now));
		}
	}
	co_unlock(base, flags);
}

/*
 * Requeue the callouts of the file's next chunk that are in clocks that step.
 * Return false if there is no next chunk, and begin with the first chunk again the
 * next time.
 */
static bool file_step(struct callout_file *file, void *unused)
{
	struct callout_slot *slot = NULL;
	unsigned int i;

	if (READ_ONCE(file->steps))
		slot = co_file_chunk(file, file->step_at++);
	if (!slot) {
		file->step_at = 0;
		return false;
	}
	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
		slot_step(file, &slot[i]);
	return true;
}

/*
 * Requeue the callouts of all files after a clock has stepped. No callout is
 * missed, since an operation reads the offset and queues the slot in one hold of
 * its base's lock:
 *
 *	CPU0: SET				CPU1: co_clock_stepped()
 *	lock(base)
 *	reads the old offset
 *						clock steps
 *	queues the slot
 *	unlock(base)				lock(base), unlock(base)
 *						sees the slot pending, requeues
 *
 * If CPU0 locks the base after CPU1, it reads the new offset. It also does if its
 * file was opened after this function has begun.
 */
void co_clock_stepped(void)
{
	struct callout_base *base;
	unsigned int i;

	co_point();
	for_each_base(base, i) {
		co_base_lock_irq(base);
		co_base_unlock_irq(base);
	}
	co_files_visit(file_step, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(co_clock_stepped);

static void step_files(struct work_struct *work)
{
	co_clock_stepped();
}

static DECLARE_WORK(step_work, step_files);

/* CLOCK_BOOTTIME steps before programs run again; the worker runs soon after that. */
static int clock_pm(struct notifier_block *nb, unsigned long event, void *data)
{
	switch (event) {
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		queue_work(system_dfl_wq, &step_work);
	}
	return NOTIFY_DONE;
}

static struct notifier_block clock_pm_block = {
	.notifier_call = clock_pm,
};

static void clock_was_set(struct irq_work *work)
{
	queue_work(system_dfl_wq, &step_work);
}

static struct irq_work set_irq_work = IRQ_WORK_INIT_HARD(clock_was_set);

/*
 * Called at each update of the kernel's time, as a rule a tick, with interrupts
 * off, under the timekeeper's lock. Before 6.13 it is also called inside the write
 * section of the timekeeper's sequence count, and readers of the clocks spin until
 * that section ends. So this function must not read a clock, wake a thread or take
 * a lock under which clocks are read. It leaves all that to an interrupt, which
 * comes when the lock and the section are released.
 *
 * A clock that is set while the worker runs is not missed. Both the interrupt and
 * the worker can be queued again from the moment at which their function is
 * entered:
 *
 *	CPU0: clock_settime()			CPU1: the worker
 *						not queued any more
 *						requeues a slot by the old offset
 *	writes the new offset
 *	queues the interrupt
 *	the interrupt queues the worker
 *						continues with the new offset
 *						returns, and is run again
 *
 * A worker that is still queued has read no offset yet.
 */
static int clock_update(struct notifier_block *nb, unsigned long was_set,
			void *data)
{
	if (was_set)
		irq_work_queue(&set_irq_work);
	return NOTIFY_DONE;
}

static struct notifier_block clock_update_block = {
	.notifier_call = clock_update,
};

void co_clock_init(void)
{
	/* Both functions fail only if the block is registered already. */
	register_pm_notifier(&clock_pm_block);
	pvclock_gtod_register_notifier(&clock_update_block);
}

/*
 * No file is open. The notifiers queue the interrupt and the worker, and the
 * interrupt queues the worker. So end each of them before the work that it queues.
 * Unregistering a notifier waits for a running call.
 */
void co_clock_exit(void)
{
	pvclock_gtod_unregister_notifier(&clock_update_block);
	unregister_pm_notifier(&clock_pm_block);
	irq_work_sync(&set_irq_work);
	cancel_work_sync(&step_work);
}
