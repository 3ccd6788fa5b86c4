// SPDX-License-Identifier: GPL-2.0
/*
 * file.c - the callouts of an open file of /dev/callout
 *
 * An open file has a handle table of its own, so it can name no other's
 * callouts. A callout of a file does not run a function: when it is due, its
 * slot moves from the base's due list to the file's ready list and becomes the
 * event, so that no expiration is lost for want of memory. The slot is free
 * when the event has been read or withdrawn; that of a periodic callout is
 * armed for the next time when its event has been read, so that as long as
 * nobody reads it takes no time either.
 *
 * Locks: a base's lock, and inside it callout_file.lock for the ready list.
 * A slot that is not free is in one of these states:
 *
 *	pending		protected by its base's lock
 *	ready		on the ready list; callout_file.lock
 *	detached	taken by a reader, which is copying it to its buffer;
 *			not in the hash; see events.c
 *
 * Cancelling goes through the base's lock first, so it sees a pending slot,
 * or one that is ready or later; it never sees one between the two. If it sees
 * a detached one it is too late, except for a periodic callout, which is going
 * to be armed (CALLOUT_SLOT_REPEAT): then it tells the reader not to, or for when,
 * and waits for nobody. Its reader looks with the base locked when the event was
 * copied, and with callout_file.lock held when it could not be.
 *
 * Lifetime: release() cancels all callouts, base by base. But an expiry on
 * another CPU may have moved the last slot to the ready list and not have
 * called wake_up() yet:
 *
 *	CPU0: callout_expire_file()		CPU1: release()
 *	rcu_read_lock() in callout_expire()
 *	slot to the ready list
 *	unlock(base)
 *						no callout is pending any more
 *						queue_rcu_work(free the file)
 *	wake_up(&file->wait)
 *	rcu_read_unlock()
 *						grace period over: freed
 *
 * so the file is freed after an RCU grace period.
 */
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "arm.h"
#include "expiry.h"
#include "file.h"
#include "table.h"
#include "table_search.h"
#include "kcompat.h"

u64 callout_boot_step;
EXPORT_SYMBOL_IF_KUNIT(callout_boot_step);

/* log2 of the buckets that a file's (func, arg) hash begins with. */
#define HASH_BITS		6

static struct workqueue_struct *free_wq;

static struct callout_file *slot_file(struct callout_slot *slot)
{
	return container_of(callout_slot_table(slot), struct callout_file,
			    table);
}

/* Files a slot for another tick, lazily if it is pending and that is later. */
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
 * The same for a slot that may be in the hash. Its place there depends on its
 * tick, so it moves, and in one hold of the hash's lock: UNTIMEOUT has no other
 * lock when it looks, and must not miss what is outstanding all the time:
 *
 *	CPU0: RESET				CPU1: UNTIMEOUT
 *	lock(base), lock(hash)
 *	slot out of the hash
 *	rearm: another tick			waits for hash
 *	slot into the hash
 *	unlock(hash)				finds the slot
 *	unlock(base)				locks base: its handle, cancels it
 */
static noinline void file_refile(struct callout_file *file,
				 struct callout_base *base,
				 struct callout_slot *slot, u64 tick)
	__must_hold(&base->lock)
{
	struct callout_hash *hash = &file->table.hash;

	if (slot->node.mark != CALLOUT_HASH_IN) {
		slot_file_at(base, slot, tick);
		return;
	}
	callout_hash_move_begin(hash, slot);
	slot_file_at(base, slot, tick);
	callout_hash_move_end(hash, slot);
}

/*
 * The tick has come, the time has not: jiffies were behind the clock when the
 * callout was set.
 */
static void file_postpone(struct callout_file *file, struct callout_base *base,
			  struct callout_slot *slot, u64 now)
{
	file_refile(file, base, slot,
		    callout_from_ns(base, callout_slot_due_mono(slot), now));
}

/**
 * callout_file_wake - tells everybody that there are events, and were none
 * @file: the file
 * @eventfd: what file->eventfd was in the hold of file->lock that has changed
 *	file->unread; the caller has been in an RCU read-side critical section
 *	since
 *
 * Context: Softirq or process context. The locks of all three are such that
 * sleep on PREEMPT_RT.
 */
void callout_file_wake(struct callout_file *file, struct eventfd_ctx *eventfd)
{
	wake_up(&file->readers);
	wake_up_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
	kill_fasync(&file->fasync, SIGIO, POLL_IN);
	if (eventfd)
		eventfd_signal(eventfd);
}

/* EXPIRYPROCESSING for a file: it and those after it of the same file. */
static unsigned int callout_expire_file(struct callout_base *base,
					struct callout_node *n)
	__must_hold(&base->lock)
{
	struct callout_slot *slot = callout_to_slot(n);
	struct callout_file *file = slot_file(slot);
	struct eventfd_ctx *eventfd = NULL;
	unsigned int taken = 0, ready = 0;
	u64 now = ktime_get_ns();
	bool wake;

	raw_spin_lock(&file->lock);
	do {
		taken++;
		if (unlikely(callout_slot_due_mono(slot) > now)) {
			callout_dequeue_locked(base, n);
			file_postpone(file, base, slot, now);
		} else {
			callout_take_due(base, n);
			n->time = now;
			callout_slot_change_flags(file, slot, 0,
						  CALLOUT_SLOT_READY);
			list_add_tail(&n->entry, &file->ready);
			trace_callout_expire_exit(n);
			ready++;
		}
		if (list_empty(&base->due))
			break;
		n = list_first_entry(&base->due, struct callout_node, entry);
		if (n->kind != CALLOUT_KIND_EVENT)
			break;
		slot = callout_to_slot(n);
	} while (taken < CALLOUT_BUDGET && slot_file(slot) == file);
	wake = ready && !file->unread;
	if (wake)
		eventfd = rcu_dereference(file->eventfd);
	WRITE_ONCE(file->unread, file->unread + ready);
	file->fired += ready;
	raw_spin_unlock(&file->lock);

	callout_count_units(base, taken);
	/* Not only to wake: this was a budget's worth with the base locked. */
	raw_spin_unlock_irq(&base->lock);
	if (wake)
		callout_file_wake(file, eventfd);
	base->clock = callout_clock(base);
	raw_spin_lock_irq(&base->lock);
	return taken;
}

static const struct callout_kind_ops kind_event = {
	.expire = callout_expire_file,
};

/**
 * callout_tally_flush - puts what operations have counted on the file's account
 * @file: the file
 * @tally: what they have counted
 */
void callout_tally_flush(struct callout_file *file, struct callout_tally *tally)
{
	callout_tally_unlock(tally);
	if (tally->set)
		atomic64_add(tally->set, &file->set);
	if (tally->cancelled)
		atomic64_add(tally->cancelled, &file->cancelled);
	if (tally->withdrawn)
		atomic64_add(tally->withdrawn, &file->withdrawn);
	if (tally->reset)
		atomic64_add(tally->reset, &file->reset);
	if (tally->spare)
		atomic_sub(tally->spare, &file->outstanding);
}
EXPORT_SYMBOL_IF_KUNIT(callout_tally_flush);

/* callout_lock_home(), if that base is not locked anyway. */
static inline struct callout_base *tally_lock_home(struct callout_tally *tally)
{
	struct callout_base *base = tally->base;

	if (base && likely(base == callout_base(callout_home_cpu()) &&
			   base->online))
		return base;
	callout_tally_unlock(tally);
	base = callout_lock_home(&tally->flags);
	__release(&base->lock);
	tally->base = base;
	return base;
}

/*
 * Finds the slot of a handle, and locks its base if it has that handle. A file's
 * chunks stay as long as the file.
 */
static inline struct callout_slot *tally_slot(struct callout_file *file,
					      struct callout_tally *tally,
					      u64 handle)
{
	struct callout_slot *slot;

	/* For the directory, of which there may be a newer version. */
	preempt_disable();
	slot = callout_table_slot(&file->table, handle);
	preempt_enable();
	if (unlikely(!slot || !handle))
		return NULL;
	callout_tally_lock(tally, &slot->node);
	return likely(slot->handle == handle) ? slot : NULL;
}

/* Gets a slot counted as outstanding, and if it can those that follow too. */
static inline int file_charge(struct callout_file *file,
			      struct callout_tally *tally)
{
	int n = atomic_read(&file->outstanding), ret;
	unsigned int more, allowed;

	if (tally->spare) {
		tally->spare--;
		return 0;
	}
	do {
		while (unlikely(n >= (allowed = READ_ONCE(file->allowed)))) {
			callout_tally_unlock(tally);
			ret = callout_file_allow(file);
			if (ret)
				return ret;
		}
		more = min(tally->ahead, allowed - n - 1);
	} while (!atomic_try_cmpxchg(&file->outstanding, &n, n + 1 + more));
	tally->spare = more;
	tally->ahead = 0;
	return 0;
}

/*
 * A slot where the base that is locked has none: another's, or a new one. If
 * the table has all its chunks others have just added the last ones. There are
 * more slots than the file may use, so one of those is free.
 */
static noinline struct callout_slot *tally_find_slot(struct callout_file *file,
						     struct callout_tally *tally)
{
	struct callout_slot *slot;
	unsigned int cpu;
	bool all = false;
	int ret;

	for (;;) {
		slot = callout_slot_steal(&file->table, tally->base);
		if (slot)
			break;
		cpu = tally->base->index;
		callout_tally_unlock(tally);
		ret = callout_table_grow(&file->table, cpu, 1,
					 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (ret && (ret != -ENOSPC || all))
			return ERR_PTR(ret);
		all = ret;
		slot = callout_slot_get(callout_pool(&file->table,
						     tally_lock_home(tally)));
		if (slot)
			break;
	}
	tally->base = callout_base(slot->node.cpu);
	return slot;
}

static inline bool file_wants_hash(struct callout_file *file)
{
	struct callout_hash *hash = &file->table.hash;

	if (callout_searches())
		return false;
	/* Pairs with the smp_store_release() in callout_hash_init(). */
	return !smp_load_acquire(&hash->buckets) ||
	       callout_hash_wants_growth(hash);
}

/* The first TIMEOUT makes the hash; later ones let it grow. */
static int file_prepare_hash(struct callout_file *file)
{
	struct callout_hash *hash = &file->table.hash;
	int ret = 0;

	mutex_lock(&file->table.grow);
	if (!hash->buckets)
		ret = callout_hash_init(hash, HASH_BITS, GFP_KERNEL_ACCOUNT);
	else
		callout_hash_grow(hash, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&file->table.grow);
	return ret;
}

/* Can there be a callout that was set by TIMEOUT? */
static bool file_has_timeouts(struct callout_file *file)
{
	if (callout_searches())
		return true;
	/* Pairs with the smp_store_release() in callout_hash_init(). */
	return smp_load_acquire(&file->table.hash.buckets);
}

/* CLOCK_MONOTONIC; the same for operations in a row. */
static inline u64 tally_now(struct callout_tally *tally)
{
	if (!tally->now)
		tally->now = ktime_get_ns();
	return tally->now;
}

/* What is not common of slot_set_times(). */
static noinline u64 slot_set_times_slow(struct callout_slot *slot,
					struct callout_base *base,
					const struct callout_op *op, u64 now)
{
	u64 due = op->time, clock = now;

	if (op->clockid == CLOCK_BOOTTIME) {
		clock += callout_boot_offset();
		/* RESET finds it there. */
		if (!(slot->node.flags & CALLOUT_SLOT_BOOT))
			WRITE_ONCE(slot->node.flags, CALLOUT_SLOT_BOOT |
						     slot->node.flags);
	}
	if (!(op->flags & CALLOUT_ABSTIME))
		due = min_t(u64, clock + op->time, KTIME_MAX);
	if (op->period)
		slot->slack = op->slack;
	callout_slot_set_due(slot, due);
	return callout_slack_tick(base, callout_slot_due_mono(slot), op->slack,
				  now);
}

/* Writes when a callout is due, and says at which tick that is. */
static inline u64 slot_set_times(struct callout_slot *slot,
				 struct callout_base *base,
				 const struct callout_op *op, u64 now)
{
	u64 due = op->time;

	if (unlikely(op->period || op->slack ||
		     op->clockid != CLOCK_MONOTONIC))
		return slot_set_times_slow(slot, base, op, now);
	if (!(op->flags & CALLOUT_ABSTIME))
		due = min_t(u64, now + due, KTIME_MAX);
	callout_slot_set_due(slot, due);
	return callout_from_ns(base, due, now);
}

/**
 * callout_file_set - SET and TIMEOUT
 * @file: the file
 * @op: what to set; its handle is written
 * @tally: counts it
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOSPC, -EDQUOT or -ENOMEM.
 */
int callout_file_set(struct callout_file *file, struct callout_op *op,
		     struct callout_tally *tally)
{
	bool hashed = op->op == CALLOUT_OP_TIMEOUT;
	struct callout_base *base;
	struct callout_slot *slot;
	u64 tick;
	int ret;

	if (hashed && unlikely(file_wants_hash(file))) {
		callout_tally_unlock(tally);
		ret = file_prepare_hash(file);
		if (ret)
			return ret;
	}
	ret = file_charge(file, tally);
	if (ret)
		return ret;
	base = tally_lock_home(tally);
	slot = callout_slot_get(callout_pool(&file->table, base));
	if (unlikely(!slot)) {
		slot = tally_find_slot(file, tally);
		if (IS_ERR(slot)) {
			tally->spare++;
			return PTR_ERR(slot);
		}
		base = tally->base;
	}

	slot->key = op->func;
	slot->arg = op->cookie;
	op->handle = slot->handle;
	tick = slot_set_times(slot, base, op, tally_now(tally));
	callout_start_locked(base, &slot->node, tick);
	if (hashed) {
		WRITE_ONCE(slot->node.flags, CALLOUT_SLOT_HASHED |
					     slot->node.flags);
		callout_table_put(&file->table, slot);
	} else {
		slot->period = op->period;
	}
	tally->set++;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_set);

/*
 * Cancels a callout that is not pending. CALLOUT_WITHDRAWN: its slot was ready,
 * and is the caller's. CALLOUT_CANCELLED: a reader was going to arm it, and is
 * going to free it now.
 */
static noinline int file_withdraw(struct callout_file *file,
				  struct callout_slot *slot)
{
	int ret = -ENOENT;

	raw_spin_lock(&file->lock);
	if (slot->node.flags & CALLOUT_SLOT_READY) {
		list_del(&slot->node.entry);
		callout_slot_change_flags(file, slot, CALLOUT_SLOT_READY, 0);
		WRITE_ONCE(file->unread, file->unread - 1);
		ret = CALLOUT_WITHDRAWN;
	} else if (slot->node.flags & CALLOUT_SLOT_REPEAT) {
		callout_slot_change_flags(file, slot, CALLOUT_SLOT_REPEAT, 0);
		ret = CALLOUT_CANCELLED;
	}
	raw_spin_unlock(&file->lock);
	return ret;
}

/* Cancels a callout whose base is locked. */
static inline int file_cancel(struct callout_file *file,
			      struct callout_slot *slot,
			      struct callout_tally *tally)
{
	struct callout_base *base = tally->base;
	int ret = CALLOUT_CANCELLED;

	if (likely(slot->node.state & CALLOUT_S_PENDING)) {
		callout_dequeue_locked(base, &slot->node);
		trace_callout_cancel(&slot->node);
		tally->cancelled++;
	} else {
		ret = file_withdraw(file, slot);
		if (ret != CALLOUT_WITHDRAWN) {
			tally->cancelled += ret == CALLOUT_CANCELLED;
			return ret;
		}
		tally->withdrawn++;
	}
	WRITE_ONCE(slot->node.flags, 0);
	callout_slot_release(&file->table, base, slot);
	tally->spare++;
	return ret;
}

/*
 * callout_table_search(), and after that the ready list, with callout_file.lock
 * held for as long as it takes. In this order: a callout that fires meanwhile
 * goes from the former to the latter.
 */
static struct callout_slot *file_search_once(struct callout_file *file,
					     u64 func, u64 arg, u64 *handle)
{
	struct callout_slot *slot, *first = NULL;
	struct callout_base *base;
	u64 expires = U64_MAX;

	slot = callout_table_search(&file->table, func, arg, &base);
	if (slot) {
		__acquire(&base->lock);
		first = slot;
		expires = slot->node.expires;
		*handle = slot->handle;
		raw_spin_unlock(&base->lock);
	}
	raw_spin_lock(&file->lock);
	list_for_each_entry(slot, &file->ready, node.entry) {
		if (slot->node.flags & CALLOUT_SLOT_HASHED &&
		    slot->arg == arg && slot->key == func &&
		    slot->node.expires < expires) {
			first = slot;
			expires = slot->node.expires;
			*handle = slot->handle;
		}
	}
	raw_spin_unlock(&file->lock);
	return first;
}

/*
 * One that RESET moves from the ready list to a base, or from a dead CPU's base
 * to another, may pass by a search in the other direction. So a search that has
 * found nothing counts only if nothing was on its way when it began, and
 * nothing has begun to move since:
 *
 *	CPU0: RESET				CPU1: UNTIMEOUT
 *						moves == 0
 *						searches bases: not there
 *	moves = 1
 *	off the ready list
 *	into a base
 *	moves = MOVED
 *						searches the ready list: not
 *						there, but moves == MOVED
 *						searches again
 */
static struct callout_slot *file_search(struct callout_file *file,
					u64 func, u64 arg, u64 *handle)
{
	struct callout_slot *slot;
	unsigned long flags;
	unsigned int moves;

	do {
		/* Pairs with file_move_end(). */
		moves = atomic_read_acquire(&file->moves);
		local_irq_save(flags);
		slot = file_search_once(file, func, arg, handle);
		local_irq_restore(flags);
		/* Whoever shares the file may go on moving. */
		cond_resched();
		/* Behind the locks, under which what moves has left. */
	} while (!slot && !fatal_signal_pending(current) &&
		 (moves % CALLOUT_MOVED ||
		  moves != atomic_read(&file->moves)));
	return slot;
}

/*
 * Before a callout leaves the ready list or its base, to be pending elsewhere.
 * Pairs with the locks and the second look at moves in file_search().
 */
static void file_move_begin(struct callout_file *file)
{
	if (callout_searches())
		atomic_inc_return(&file->moves);
}

static void file_move_end(struct callout_file *file)
{
	if (callout_searches())
		atomic_add_return_release(CALLOUT_MOVED - 1, &file->moves);
}

/*
 * Finds what TIMEOUT has set. It stays where it is until it is cancelled: else
 * another UNTIMEOUT would miss it meanwhile, though a reader may yet get it.
 */
static struct callout_slot *file_find(struct callout_file *file,
				      u64 func, u64 arg, u64 *handle)
{
	if (callout_searches())
		return file_search(file, func, arg, handle);
	return callout_hash_find(&file->table.hash, func, arg, handle);
}

/**
 * callout_file_unset - UNSET
 * @file: the file
 * @op: has the handle
 * @tally: counts it
 *
 * Context: Process context.
 * Return: CALLOUT_CANCELLED, CALLOUT_WITHDRAWN or -ENOENT.
 */
int callout_file_unset(struct callout_file *file, const struct callout_op *op,
		       struct callout_tally *tally)
{
	struct callout_slot *slot = tally_slot(file, tally, op->handle);

	return likely(slot) ? file_cancel(file, slot, tally) : -ENOENT;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_unset);

/* Cancels a callout by its handle if TIMEOUT has set it as @op says. */
static int file_unset_checked(struct callout_file *file,
			      const struct callout_op *op,
			      struct callout_tally *tally)
{
	struct callout_slot *slot = tally_slot(file, tally, op->handle);

	if (!slot ||
	    !(READ_ONCE(slot->node.flags) & CALLOUT_SLOT_HASHED) ||
	    slot->key != op->func || slot->arg != op->cookie)
		return -ENOENT;
	return file_cancel(file, slot, tally);
}

/*
 * Moves a callout whose event a reader has, after file_withdraw(): the reader
 * arms it. Its base is locked all the time, so the reader does not free it,
 * though the copy may fail before CALLOUT_SLOT_REPEAT is back.
 */
static noinline int file_reset_detached(struct callout_file *file,
					struct callout_slot *slot,
					const struct callout_op *op,
					struct callout_tally *tally)
{
	u64 now = tally_now(tally);

	raw_spin_lock(&file->lock);
	slot_set_times(slot, tally->base, op, now);
	slot->next = callout_slot_due(slot);
	slot->slack = op->slack;
	slot->period = op->period;
	callout_slot_change_flags(file, slot, 0, CALLOUT_SLOT_REPEAT);
	raw_spin_unlock(&file->lock);
	tally->reset++;
	return CALLOUT_CANCELLED;
}

/* RESET where it is not just pending, and on a base whose CPU is online. */
static noinline int file_reset_slow(struct callout_file *file,
				    struct callout_slot *slot,
				    const struct callout_op *op,
				    struct callout_tally *tally)
{
	int ret = CALLOUT_CANCELLED;
	u64 tick;

	file_move_begin(file);
	if (slot->node.state & CALLOUT_S_PENDING) {
		/* Due, or its base may expire no more. */
		callout_dequeue_locked(tally->base, &slot->node);
	} else {
		/* A reader may have been faster. */
		ret = file_withdraw(file, slot);
		if (ret == CALLOUT_CANCELLED)
			ret = file_reset_detached(file, slot, op, tally);
		if (ret != CALLOUT_WITHDRAWN)
			goto out;
	}
	tally->base = callout_rehome(tally->base, &slot->node);
	tick = slot_set_times(slot, tally->base, op, tally_now(tally));
	if (slot->node.mark != CALLOUT_HASH_IN)
		slot->period = op->period;
	file_refile(file, tally->base, slot, tick);
	tally->reset++;
out:
	file_move_end(file);
	return ret;
}

/* Does the callout have the same clock, and may it have a period if @op has? */
static bool reset_is_valid(const struct callout_op *op, u8 flags)
{
	bool boot = op->clockid == CLOCK_BOOTTIME;

	return boot == !!(flags & CALLOUT_SLOT_BOOT) &&
	       !(op->period && flags & CALLOUT_SLOT_HASHED);
}

/**
 * callout_file_reset - RESET
 * @file: the file
 * @op: has the handle and the times
 * @tally: counts it
 *
 * Context: Process context.
 * Return: as callout_file_unset(), or -EINVAL if it was set with another clock
 * or cannot have a period.
 */
int callout_file_reset(struct callout_file *file, const struct callout_op *op,
		       struct callout_tally *tally)
{
	struct callout_slot *slot = tally_slot(file, tally, op->handle);
	struct callout_base *base;
	u8 state, flags;
	u64 tick;

	if (!slot)
		return -ENOENT;
	state = slot->node.state;
	flags = READ_ONCE(slot->node.flags);
	if (unlikely(!(state & CALLOUT_S_PENDING)) &&
	    !(flags & (CALLOUT_SLOT_READY | CALLOUT_SLOT_REPEAT)))
		return -ENOENT;
	if (unlikely(flags & CALLOUT_SLOT_BOOT || op->period ||
		     op->clockid != CLOCK_MONOTONIC) &&
	    !reset_is_valid(op, flags))
		return -EINVAL;
	base = tally->base;
	if (unlikely((state & (CALLOUT_S_PENDING | CALLOUT_S_DUE)) !=
		     CALLOUT_S_PENDING || !base->online))
		return file_reset_slow(file, slot, op, tally);
	tick = slot_set_times(slot, base, op, tally_now(tally));
	if (likely(slot->node.mark != CALLOUT_HASH_IN)) {
		slot->period = op->period;
		callout_scheme_rearm(base, &slot->node, tick);
		callout_started(base, &slot->node, tick);
	} else {
		file_refile(file, base, slot, tick);
	}
	tally->reset++;
	return CALLOUT_CANCELLED;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_reset);

/**
 * callout_file_untimeout - UNTIMEOUT
 * @file: the file
 * @op: has func and cookie, and the handle if it must be a certain one
 * @tally: counts it
 *
 * Context: Process context.
 * Return: CALLOUT_CANCELLED, CALLOUT_WITHDRAWN or -ENOENT.
 */
int callout_file_untimeout(struct callout_file *file,
			   const struct callout_op *op,
			   struct callout_tally *tally)
{
	struct callout_op found = *op;
	int ret;

	if (!file_has_timeouts(file))
		return -ENOENT;
	if (op->handle)
		return file_unset_checked(file, op, tally);
	do {
		callout_tally_unlock(tally);
		if (!file_find(file, op->func, op->cookie, &found.handle))
			return -ENOENT;
		/* If not, a reader or another cancel has taken it out. */
		ret = file_unset_checked(file, &found, tally);
	} while (ret < 0);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_untimeout);

/* A file's chunks never go while it is open. */
static struct callout_slot *file_chunk(struct callout_file *file,
				       unsigned int n)
{
	return callout_table_lookup(&file->table,
				    (u64)n << CALLOUT_PLACE_BITS);
}

/* Is the slot pending, and its clock CLOCK_BOOTTIME or, if not @boot, not? */
static bool slot_is_pending(const struct callout_slot *slot, bool boot)
{
	return READ_ONCE(slot->node.state) & CALLOUT_S_PENDING &&
	       !(READ_ONCE(slot->node.flags) & CALLOUT_SLOT_BOOT) == !boot;
}

/* The earliest of @next and the slot's time, if it is of this clock. */
static u64 slot_next(struct callout_slot *slot, bool boot, u64 next)
{
	struct callout_base *base;
	unsigned long flags;

	/* Without the lock, but for one that may be it. */
	if (!slot_is_pending(slot, boot) || callout_slot_due(slot) >= next)
		return next;
	base = callout_lock(&slot->node, &flags);
	if (slot_is_pending(slot, boot))
		next = min(next, callout_slot_due(slot));
	callout_unlock(base, flags);
	return next;
}

/**
 * callout_file_next - when the next callout of a file is due
 * @file: the file
 * @clockid: which callouts, and in what clock to tell
 *
 * Looks at every slot of the file.
 *
 * Context: Process context, may sleep.
 * Return: the time; U64_MAX if none is pending.
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
	return next;
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
		/* The clock only ever gets ahead, and slack may be left. */
		if (tick < slot->node.expires) {
			file_move_begin(file);
			if (unlikely(!base->online)) {
				callout_dequeue_locked(base, &slot->node);
				base = callout_rehome(base, &slot->node);
			}
			file_refile(file, base, slot, tick);
			file_move_end(file);
		}
	}
	callout_unlock(base, flags);
}

/**
 * callout_file_resume - files the callouts of CLOCK_BOOTTIME after a step
 * @file: the file
 *
 * Context: Process context, may sleep.
 */
void callout_file_resume(struct callout_file *file)
{
	struct callout_slot *slot;
	unsigned int n, i;

	for (n = 0; (slot = file_chunk(file, n)); n++) {
		for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
			slot_resume(file, &slot[i]);
		cond_resched();
	}
}

/**
 * callout_file_set_eventfd - has an eventfd signalled when there are events
 * @file: the file
 * @fd: the eventfd, or -1 for none
 *
 * Context: Process context, may sleep.
 * Return: 0, or -EBADF if @fd is not an eventfd.
 */
int callout_file_set_eventfd(struct callout_file *file, int fd)
{
	struct eventfd_ctx *eventfd = NULL, *old;
	bool unread;

	if (fd != -1) {
		eventfd = eventfd_ctx_fdget(fd);
		if (IS_ERR(eventfd))
			return -EBADF;
	}
	/* What fires before this is unread here; what fires later sees it. */
	raw_spin_lock_irq(&file->lock);
	old = rcu_replace_pointer(file->eventfd, eventfd,
				  lockdep_is_held(&file->lock));
	unread = file->unread;
	raw_spin_unlock_irq(&file->lock);
	if (unread) {
		/* The reference is the file's now: another may put it. */
		rcu_read_lock();
		eventfd = rcu_dereference(file->eventfd);
		if (eventfd)
			eventfd_signal(eventfd);
		rcu_read_unlock();
	}
	if (old) {
		synchronize_rcu();
		eventfd_ctx_put(old);
	}
	return 0;
}

/**
 * callout_file_create - makes what an open file needs
 *
 * Return: the file, or an ERR_PTR.
 */
struct callout_file *callout_file_create(void)
{
	struct callout_file *file;
	int ret;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return ERR_PTR(-ENOMEM);
	file->limit = READ_ONCE(callout_max_per_file);
	/* More than may be in use: see tally_find_slot(). */
	ret = callout_table_init(&file->table, CALLOUT_KIND_EVENT,
				 file->limit + CALLOUT_CHUNK_SLOTS *
					       num_possible_cpus(),
				 GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_free;
	raw_spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->ready);
	init_waitqueue_head(&file->readers);
	init_waitqueue_head(&file->wait);
	atomic_set(&file->outstanding, 0);
	ret = callout_files_add(file);
	if (ret)
		goto err_table;
	return file;

err_table:
	callout_table_destroy(&file->table);
err_free:
	kfree(file);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_create);

static void file_free(struct work_struct *work)
{
	struct callout_file *file = container_of(to_rcu_work(work),
						 struct callout_file, free);
	struct eventfd_ctx *eventfd = rcu_dereference_raw(file->eventfd);

	if (eventfd)
		eventfd_ctx_put(eventfd);
	callout_table_destroy(&file->table);
	callout_files_uncharge(file);
	kfree(file);
}

static void file_cancel_chunk(struct callout_chunk *chunk)
{
	struct callout_base *base;
	struct callout_node *n;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++) {
		n = &chunk->slot[i].node;
		base = callout_lock(n, &flags);
		if (n->state & CALLOUT_S_PENDING)
			callout_dequeue_locked(base, n);
		callout_unlock(base, flags);
	}
}

/**
 * callout_file_destroy - cancels all callouts of a file, and frees it
 * @file: the file, which nobody uses any more; see the head comment
 */
void callout_file_destroy(struct callout_file *file)
{
	struct callout_directory *dir;
	unsigned int i;

	callout_files_del(file);
	dir = rcu_dereference_protected(file->table.directory, 1);
	for (i = 0; i < file->table.nr_chunks; i++) {
		file_cancel_chunk(dir->chunk[i]);
		cond_resched();
	}
	INIT_RCU_WORK(&file->free, file_free);
	queue_rcu_work(free_wq, &file->free);
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_destroy);

/**
 * callout_file_init - prepares for files
 *
 * Return: 0 or -ENOMEM.
 */
int callout_file_init(void)
{
	/* To free a million callouts takes long: on no CPU in particular. */
	free_wq = alloc_workqueue("callout", WQ_UNBOUND, 0);
	if (!free_wq)
		return -ENOMEM;
	callout_register_kind(CALLOUT_KIND_EVENT, &kind_event);
	callout_files_init();
	return 0;
}

/**
 * callout_file_exit - waits until the last file is freed
 */
void callout_file_exit(void)
{
	callout_files_exit();
	rcu_barrier();
	destroy_workqueue(free_wq);
}
