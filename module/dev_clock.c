// SPDX-License-Identifier: GPL-2.0
/*
 * dev_clock.c - expiry times of slots: ticks, and two clocks
 *
 * CLOCK_BOOTTIME differs from CLOCK_MONOTONIC by an offset that only changes
 * when the system resumes. So callouts of both clocks are filed alike, by tick,
 * and at resume a worker re-files those of CLOCK_BOOTTIME, one by one. The cost
 * is paid only when the system resumes, and those callouts are late by then
 * anyway.
 *
 * Slots have the times of the initial time namespace. Absolute times become so
 * when an operation comes in, and the caller's when they go out: those of an
 * event are the reader's, whoever has set the callout.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>
#include "arm.h"
#include "dev_clock.h"
#include "dev_file.h"
#include "dev_search.h"
#include "dev_user.h"
#include "table.h"
#include "hash.h"
#include "kcompat.h"

u64 callout_boot_step;
EXPORT_SYMBOL_IF_KUNIT(callout_boot_step);

/* Arms a slot, or re-arms it if it is pending. */
static void slot_file_at(struct callout_base *base, struct callout_slot *slot,
			 u64 tick)
	__must_hold(&base->lock)
{
	if (slot->node.state & CALLOUT_S_PENDING) {
		callout_scheme_rearm(base, &slot->node, tick);
		callout_started(base, &slot->node, tick);
	} else {
		callout_start_locked(base, &slot->node, tick);
	}
}

/*
 * Arms or re-arms a slot that may be in the hash. Its place in the hash depends
 * on its tick, so it moves, in one hold of its bucket's lock: UNTIMEOUT searches
 * under that lock only, and must find a callout that is outstanding throughout:
 *
 *	CPU0: RESET				CPU1: UNTIMEOUT
 *	lock(base), lock(bucket)
 *	slot out of the bucket
 *	rearm: another tick			waits for bucket
 *	slot into the bucket
 *	unlock(bucket)				finds the slot
 *	unlock(base)				locks base: its handle, cancels it
 */
void callout_slot_refile(struct callout_file *file, struct callout_base *base,
			 struct callout_slot *slot, u64 tick)
	__must_hold(&base->lock)
{
	struct callout_hash *hash = &file->table.hash;
	struct callout_bucket_hold hold;

	if (slot->node.mark != CALLOUT_HASH_IN) {
		slot_file_at(base, slot, tick);
		return;
	}
	callout_hash_move_begin(hash, slot, &hold);
	slot_file_at(base, slot, tick);
	callout_hash_move_end(hash, slot, &hold);
}

/* The slots of chunk @n, or NULL. A file keeps its chunks while it is open. */
static struct callout_slot *file_chunk(struct callout_file *file,
				       unsigned int n)
{
	return callout_table_lookup(&file->table,
				    (u64)n << CALLOUT_PLACE_BITS);
}

/* Is the slot pending, in CLOCK_BOOTTIME if @boot, else in CLOCK_MONOTONIC? */
static bool slot_is_pending(const struct callout_slot *slot, bool boot)
{
	return READ_ONCE(slot->node.state) & CALLOUT_S_PENDING &&
	       !(READ_ONCE(slot->node.flags) & CALLOUT_SLOT_BOOT) == !boot;
}

/* The earlier of @next and the slot's expiry time, if it is in this clock. */
static u64 slot_next(struct callout_slot *slot, bool boot, u64 next)
{
	struct callout_base *base;
	unsigned long flags;

	/* Lockless check; the lock is taken for a candidate only. */
	if (!slot_is_pending(slot, boot) || callout_slot_due(slot) >= next)
		return next;
	base = callout_lock(&slot->node, &flags);
	if (slot_is_pending(slot, boot))
		next = min(next, callout_slot_due(slot));
	callout_unlock(base, flags);
	return next;
}

/*
 * The earliest expiry time of a file's callouts in one clock, as the caller's
 * time namespace has it; U64_MAX if none is pending. Looks at every slot; may
 * sleep.
 */
u64 callout_file_next(struct callout_file *file, clockid_t clockid)
{
	bool boot = clockid == CLOCK_BOOTTIME;
	struct callout_slot *slot;
	u64 next = U64_MAX;
	unsigned int n, i;

	for (n = 0; (slot = file_chunk(file, n)); n++) {
		for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
			next = slot_next(&slot[i], boot, next);
		cond_resched();
		if (fatal_signal_pending(current))
			break;
	}
	return next == U64_MAX ? next : callout_time_out(clockid, next);
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_next);

static void slot_resume(struct callout_file *file, struct callout_slot *slot)
{
	struct callout_base *base;
	unsigned long flags;
	u64 tick;

	if (!slot_is_pending(slot, true))
		return;
	base = callout_lock(&slot->node, &flags);
	if (slot_is_pending(slot, true) &&
	    !(slot->node.state & CALLOUT_S_DUE)) {
		tick = callout_from_ns(base, callout_slot_due_mono(slot),
				       ktime_get_ns());
		/* CLOCK_BOOTTIME only gains. Slack is not used here. */
		if (tick < slot->node.expires) {
			callout_search_move_begin(file);
			if (unlikely(!base->online)) {
				callout_dequeue_locked(base, &slot->node);
				base = callout_rehome(base, &slot->node);
			}
			callout_slot_refile(file, base, slot, tick);
			callout_search_move_end(file);
		}
	}
	callout_unlock(base, flags);
}

/* Re-files the callouts of CLOCK_BOOTTIME. */
static void file_resume(struct callout_file *file, void *unused)
{
	struct callout_slot *slot;
	unsigned int n, i;

	for (n = 0; (slot = file_chunk(file, n)); n++) {
		for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
			slot_resume(file, &slot[i]);
		cond_resched();
	}
}

/* Re-files the callouts of all files after CLOCK_BOOTTIME has stepped. */
void callout_clock_resume(void)
{
	callout_user_walk_files(file_resume, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(callout_clock_resume);

static void resume_files(struct work_struct *work)
{
	callout_clock_resume();
}

static DECLARE_WORK(resume_work, resume_files);

/* The clock steps before programs run again, the worker runs soon after. */
static int clock_pm(struct notifier_block *nb, unsigned long event, void *data)
{
	switch (event) {
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		queue_work(system_unbound_wq, &resume_work);
	}
	return NOTIFY_DONE;
}

static struct notifier_block clock_pm_block = {
	.notifier_call = clock_pm,
};

void callout_clock_init(void)
{
	/* Fails only if the block is registered already. */
	register_pm_notifier(&clock_pm_block);
}

void callout_clock_exit(void)
{
	unregister_pm_notifier(&clock_pm_block);
	cancel_work_sync(&resume_work);
}
