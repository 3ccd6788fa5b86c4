// SPDX-License-Identifier: GPL-2.0
/*
 * event.c - the ready list of a file: expiry adds slots, readers take them
 *
 * A reader takes slots off the ready list, a few at a time: the slots are detached.
 * The reader copies their events with no lock held, and then frees the slots, or
 * re-arms the periodic ones. If the copy fails, the slots return to the head of the
 * list.
 *
 * Readers do not exclude each other, so a reader whose buffer must be paged in does
 * not delay the others. Each reader gets events in order. But if one reader fails
 * while others read, the others may get later events first.
 *
 * Each expiry that adds events wakes all pollers without EPOLLEXCLUSIVE, one poller
 * with EPOLLEXCLUSIVE, and one waiting reader. A reader that has waited wakes the
 * next one if it leaves events behind, before it copies its own events. So while
 * there are events and waiters, at least one woken reader is running. A waiter that
 * is woken while it times out or gets a signal takes the event.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <uapi/linux/callout.h>
#include "core/queue.h"
#include "core/expiry.h"
#include "alarm.h"
#include "clock.h"
#include "ctx.h"
#include "event.h"
#include "file.h"
#include "handles/table.h"
#include "kcompat.h"

/* The number of events copied at a time; they are on the stack. */
#define READ_EVENTS		16U

#define EVENT_SIZE		sizeof(struct callout_event)

/* Slots taken off the ready list, and their events. */
struct detached {
	unsigned int n;
	bool periodic;		/* one of them repeats */
	struct callout_slot *slot[READ_EVENTS];
	struct callout_event events[READ_EVENTS];
};

/*
 * Requeue a slot that is early: the slot's clock is not the tick's clock, or was
 * set back since the callout was set.
 */
static void file_postpone(struct callout_file *file, struct callout_base *base,
			  struct callout_slot *slot, u64 now)
{
	co_slot_requeue(file, base, slot,
			co_slack_tick(base, co_slot_due_mono(slot),
				      slot->slack, now));
}

/*
 * Wake readers and pollers: events were added to the ready list. The caller must
 * hold no raw spinlock: this function takes locks that sleep on PREEMPT_RT. The file
 * cannot go away: the caller is the file's reader, or in an RCU read-side critical
 * section.
 */
static void file_wake(struct callout_file *file)
{
	wake_up(&file->readers);
	wake_up_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
}

/*
 * slot_is_early() in a clock that steps. One read of the offset decides both
 * whether the slot is due and whether a setting of the clock has ended it. Using
 * this function for all clocks takes 23 more instructions.
 */
static noinline bool slot_is_early_slow(struct callout_slot *slot, u64 now)
{
	u8 flags = slot->node.flags;
	u64 offset = co_slot_offset(flags);

	if (co_slot_due_at(slot, flags, offset) > now)
		return true;
	if (co_slot_on_set(flags) && slot->next == offset)
		slot->next = CALLOUT_FIRED_UNSET;
	return false;
}

static inline bool slot_is_early(struct callout_slot *slot, u64 now)
{
	if (unlikely(slot->node.flags & CALLOUT_SLOT_STEPS))
		return slot_is_early_slow(slot, now);
	return co_slot_due(slot) > now;
}

/* Move @n, and the slots of the same file that are due next, to the ready list. */
static unsigned int events_expire(struct callout_base *base,
				  struct callout_node *n,
				  unsigned int *budget)
	__must_hold(&base->lock)
{
	struct callout_slot *slot = co_to_slot(n);
	struct callout_file *file = co_slot_file(slot);
	unsigned int taken = 0, ready = 0;
	u64 now = ktime_get_ns();
	u8 fired = 0;

	raw_spin_lock(&file->lock);
	do {
		--*budget;
		if (unlikely(slot_is_early(slot, now))) {
			co_dequeue_locked(base, n);
			file_postpone(file, base, slot, now);
		} else {
			co_take_due(base, n);
			co_slot_set_fired(slot, now);
			co_slot_change_flags(file, slot, 0,
					     CALLOUT_SLOT_READY);
			fired |= n->flags;
			list_add_tail(&n->entry, &file->ready);
			trace_callout_expire_exit(n);
			ready++;
		}
		taken++;
		if (!*budget)
			break;
		n = co_scheme_first(base, budget);
		if (!n || (n->kind != CALLOUT_KIND_EVENT &&
			   n->kind != CALLOUT_KIND_KEYED))
			break;
		slot = co_to_slot(n);
	} while (*budget && co_slot_file(slot) == file);
	WRITE_ONCE(file->unread, file->unread + ready);
	WRITE_ONCE(file->fired, file->fired + ready);
	raw_spin_unlock(&file->lock);

	co_count_units(base, CALLOUT_BUDGET - *budget);
	/* Unlock not only to wake readers: the budget of this hold may be used up. */
	co_base_unlock_irq(base);
	if (unlikely(fired & CALLOUT_SLOT_ALARM))
		co_alarm_fired();
	co_point();
	if (likely(ready))
		file_wake(file);
	co_time_passed(base, NULL);
	co_base_lock_irq(base);
	return taken;
}

/* Return the program that has set @n, which has no handler. */
struct callout_owner co_event_owner(const struct callout_node *n)
{
	struct callout_file *file = co_slot_file(co_to_slot(n));

	return (struct callout_owner){ .pid = file->pid, .comm = file->comm };
}

static const struct callout_kind_ops kind_event = {
	.expire = events_expire,
	.owner = co_event_owner,
};

/*
 * Has the event lost its key, since a reader took it and could not copy it? Another
 * callout may have the key now. A ready slot joins or leaves the hash only with
 * callout_file.lock held.
 */
static bool slot_lost_key(const struct callout_slot *slot)
{
	return slot->node.kind == CALLOUT_KIND_KEYED &&
	       READ_ONCE(slot->node.place) == CALLOUT_HASH_OUT;
}

/*
 * Cancel a callout that is not pending. Its base is locked. Return
 * CALLOUT_STATE_UNREAD if the slot was ready: the slot now belongs to the caller.
 * Return CALLOUT_STATE_READING if the slot's reader was to re-arm it: the reader
 * will free the slot. Otherwise return -ENOENT: the callout is being read for the
 * last time, or the handle is stale, or @named is true and the callout has lost its
 * key.
 */
int co_file_withdraw(struct callout_file *file, struct callout_slot *slot,
		     bool named)
{
	int ret = -ENOENT;

	raw_spin_lock(&file->lock);
	if (slot->node.flags & CALLOUT_SLOT_READY) {
		if (unlikely(named && slot_lost_key(slot)))
			goto out;
		list_del(&slot->node.entry);
		co_slot_change_flags(file, slot, CALLOUT_SLOT_READY, 0);
		WRITE_ONCE(file->unread, file->unread - 1);
		ret = CALLOUT_STATE_UNREAD;
	} else if (slot->node.flags & CALLOUT_SLOT_REPEAT) {
		co_slot_change_flags(file, slot, CALLOUT_SLOT_REPEAT, 0);
		ret = CALLOUT_STATE_READING;
	}
out:
	raw_spin_unlock(&file->lock);
	return ret;
}

/* Write each member; otherwise programs would read the kernel's stack. */
static inline void slot_to_event(const struct callout_slot *slot, u8 flags,
				 struct callout_event *event)
{
	/* An initializer would compile to a "rep stos" and these stores after it. */
	event->type = CALLOUT_EVENT_FIRED;
	event->flags = 0;
	event->handle = slot->handle;
	event->cookie = slot->arg;
	event->func = co_slot_own(slot);
	event->due = co_slot_due(slot);
	event->fired = co_slot_fired(slot);
	event->overrun = 0;
	event->clockid = CLOCK_MONOTONIC;
	event->reserved = 0;
	if (unlikely(flags & CALLOUT_SLOT_CLOCK)) {
		event->clockid = co_slot_clock(slot);
		event->due = co_slot_due_clock(slot);
		if (co_slot_on_set(flags) && slot->next != CALLOUT_FIRED_UNSET)
			event->type = CALLOUT_EVENT_CLOCK_SET;
	}
}

/* Count the periods that have passed unread, and set the next expiry. */
static void event_count(struct callout_slot *slot, struct callout_event *event,
			u64 now)
{
	u64 due = co_slot_due(slot), period = slot->period, missed = 0;

	now += co_slot_offset(slot->node.flags);
	if (now > due && now - due >= period)
		missed = div64_u64(now - due, period);
	event->overrun = missed;
	event->flags = CALLOUT_EVENTF_PERIODIC;
	/* The first expiry after now. No overflow: both terms are less than 2^63. */
	slot->next = min_t(u64, due + missed * period + period, KTIME_MAX);
}

/* Put the key into the event of a callout with a key. */
static void event_name_by_key(const struct callout_slot *slot,
			      struct callout_event *event)
{
	event->key = co_slot_own(slot);
	event->func = 0;
	event->flags |= CALLOUT_EVENTF_KEY;
}

/* Take up to @max events off the ready list. */
static void events_detach(struct callout_file *file, unsigned int max,
			  struct detached *taken)
{
	struct callout_slot *slot;
	struct list_head *pos;
	unsigned int n = 0;
	LIST_HEAD(first);
	u64 now = 0;
	u8 flags;

	taken->periodic = false;
	raw_spin_lock_irq(&file->lock);
	list_for_each(pos, &file->ready) {
		if (n == max)
			break;
		slot = list_entry(pos, struct callout_slot, node.entry);
		flags = slot->node.flags & ~(CALLOUT_SLOT_READY |
					     CALLOUT_SLOT_REPEAT |
					     CALLOUT_SLOT_MOVED);
		slot_to_event(slot, flags, &taken->events[n]);
		if (unlikely(slot->period)) {
			if (!now)
				now = ktime_get_ns();
			event_count(slot, &taken->events[n], now);
			flags |= CALLOUT_SLOT_REPEAT;
			taken->periodic = true;
		} else if (flags & CALLOUT_SLOT_HASHED) {
			/* A slot that was taken before is out of the hash already. */
			co_slot_unhash(&file->table, slot);
		}
		if (unlikely(slot->node.kind == CALLOUT_KIND_KEYED))
			event_name_by_key(slot, &taken->events[n]);
		/* Write the flags once: SET reads them without callout_file.lock. */
		WRITE_ONCE(slot->node.flags, flags);
		taken->slot[n++] = slot;
	}
	list_cut_before(&first, &file->ready, pos);
	taken->n = n;
	WRITE_ONCE(file->unread, file->unread - n);
	raw_spin_unlock_irq(&file->lock);
}

/* Convert the times of detached events to the reader's time namespace. */
static noinline void events_time_out(struct detached *taken)
{
	struct callout_event *event = taken->events;
	unsigned int i;

	for (i = 0; i < taken->n; i++, event++) {
		event->due = co_time_out(event->clockid, event->due);
		event->fired = co_time_out(CLOCK_MONOTONIC, event->fired);
	}
}

/* Was a periodic callout cancelled or set again since it was detached? */
static bool event_is_stale(const struct callout_slot *slot,
			   const struct callout_event *event)
{
	return event->flags & CALLOUT_EVENTF_PERIODIC &&
	       (slot->node.flags & (CALLOUT_SLOT_REPEAT | CALLOUT_SLOT_MOVED)) !=
	       CALLOUT_SLOT_REPEAT;
}

/*
 * Put all slots except the first @copied slots back, in their old order. Slots with
 * stale events stay detached.
 */
static noinline void events_attach(struct callout_file *file,
				   struct detached *taken, unsigned int copied)
{
	unsigned int i, left = copied;
	struct callout_slot *slot;
	LIST_HEAD(back);
	bool wake;

	raw_spin_lock_irq(&file->lock);
	for (i = copied; i < taken->n; i++) {
		slot = taken->slot[i];
		if (unlikely(event_is_stale(slot, &taken->events[i]))) {
			taken->events[left].flags = taken->events[i].flags;
			taken->slot[left++] = slot;
			continue;
		}
		co_slot_change_flags(file, slot, CALLOUT_SLOT_REPEAT,
				     CALLOUT_SLOT_READY);
		/* The key may name another callout now. */
		if (slot->node.flags & CALLOUT_SLOT_HASHED &&
		    slot->node.kind == CALLOUT_KIND_EVENT)
			co_hash_insert(&file->table.hash, slot);
		list_add_tail(&slot->node.entry, &back);
	}
	list_splice(&back, &file->ready);
	wake = left < taken->n;
	WRITE_ONCE(file->unread, file->unread + taken->n - left);
	taken->n = left;
	raw_spin_unlock_irq(&file->lock);
	/* Other readers may have found the list empty and may sleep. */
	if (wake)
		file_wake(file);
}

/* Re-arm a periodic callout, on this CPU, unless it was cancelled while it was detached. */
static bool slot_repeat(struct callout_op_ctx *ctx, struct callout_slot *slot)
{
	struct callout_base *base;

	if (!(slot->node.flags & CALLOUT_SLOT_REPEAT))
		return false;
	base = co_ctx_rehome(co_slot_file(slot), ctx, slot);
	/* If the callout was set again, SET has written its due time. */
	if (likely(!(slot->node.flags & CALLOUT_SLOT_MOVED)))
		co_slot_set_due(slot, slot->next);
	co_start_locked(base, &slot->node,
			co_slack_tick(base,
				      co_slot_due_mono(slot),
				      slot->slack,
				      co_ctx_now(ctx)));
	co_trace_set(base, &slot->node, false);
	return true;
}

/*
 * Free or re-arm detached slots. The events of the first @copied slots were read;
 * the other events are stale.
 */
static void events_finish(struct callout_file *file, struct detached *taken,
			  unsigned int copied)
{
	unsigned int i, repeated = 0, cancelled = 0;
	struct callout_op_ctx ctx = {};
	struct callout_base *base;
	struct callout_slot *slot;

	for (i = 0; i < taken->n; i++) {
		slot = taken->slot[i];
		base = co_ctx_lock(&ctx, &slot->node);
		if (unlikely(taken->periodic) &&
		    taken->events[i].flags & CALLOUT_EVENTF_PERIODIC) {
			repeated += i < copied;
			if (slot_repeat(&ctx, slot))
				continue;
			/* The canceller has counted it. */
			cancelled++;
		}
		co_file_put_slot(file, base, slot);
		ctx.spare++;
	}
	atomic64_add(ctx.spare - cancelled,
		     &file->count[CALLOUT_FILE_DELIVERED]);
	if (repeated)
		atomic64_add(repeated, &file->count[CALLOUT_FILE_REPEATED]);
	co_ctx_flush(file, &ctx);
}

/*
 * Copy events and return the number of copied events. An event that was copied in
 * part counts as not read.
 */
static inline unsigned int events_put(const struct detached *taken,
				      struct iov_iter *to)
{
	size_t done = copy_to_iter(taken->events, taken->n * EVENT_SIZE, to);

	iov_iter_revert(to, done % EVENT_SIZE);
	return done / EVENT_SIZE;
}

/*
 * Copy some events. Return the number of bytes, 0 if there was no event, or
 * -EFAULT. A reader that has waited was the only reader woken, so it wakes the next
 * one. It does so before the copy, which may take long.
 */
static ssize_t events_copy(struct callout_file *file, struct iov_iter *to,
			   bool waited)
{
	struct detached taken __uninitialized;
	unsigned int copied;

	events_detach(file, min_t(size_t, iov_iter_count(to) / EVENT_SIZE,
				  READ_EVENTS), &taken);
	if (!taken.n)
		return 0;
	co_point();
	if (waited && READ_ONCE(file->unread))
		wake_up(&file->readers);
	if (unlikely(co_timens_differs()))
		events_time_out(&taken);
	copied = events_put(&taken, to);
	co_point();
	if (unlikely(copied < taken.n))
		events_attach(file, &taken, copied);
	events_finish(file, &taken, copied);
	if (unlikely(!copied))
		return -EFAULT;
	return copied * EVENT_SIZE;
}

/* Copy as many events as @to has room for. Return values as for events_copy(). */
static ssize_t events_read(struct callout_file *file, struct iov_iter *to,
			   bool waited)
{
	ssize_t ret, done = 0;

	do {
		ret = events_copy(file, to, waited);
		if (ret > 0)
			done += ret;
		cond_resched();
		/* A short count means that there were no more events. */
	} while (ret == READ_EVENTS * EVENT_SIZE &&
		 iov_iter_count(to) >= EVENT_SIZE &&
		 !fatal_signal_pending(current));
	return done ? done : ret;
}

/* Wait for an event. Return 0, -ERESTARTSYS, or -ETIME. */
static int events_wait(struct callout_file *file,
		       const struct read_deadline *deadline)
{
	ktime_t time = deadline->time;
	ktime_t *expires = time == KTIME_MAX ? NULL : &time;
	struct wait_queue_entry entry;
	int ret = 0;

	init_wait_entry(&entry, WQ_FLAG_EXCLUSIVE);
	while (!ret) {
		ret = prepare_to_wait_event(&file->readers, &entry,
					    TASK_INTERRUPTIBLE);
		if (READ_ONCE(file->unread))
			break;
		if (!ret &&
		    !schedule_hrtimeout_range_clock(expires,
						    current->timer_slack_ns,
						    HRTIMER_MODE_ABS,
						    deadline->clockid))
			ret = -ETIME;
	}
	finish_wait(&file->readers, &entry);
	/* A waiter that was woken takes the event, even if it also timed out or got a signal. */
	return READ_ONCE(file->unread) ? 0 : ret;
}

/*
 * Copy events to @to, which has room for at least one event. If @deadline is not
 * NULL, wait until enough events were copied. Return the number of bytes, which is
 * 0 if there was no event in time; -EFAULT; or -ERESTARTSYS. May sleep.
 */
ssize_t co_file_read(struct callout_file *file, struct iov_iter *to,
		     const struct read_deadline *deadline)
{
	ssize_t ret = events_read(file, to, false), done = ret;
	size_t least;

	if (!deadline || ret < 0)
		return ret;
	least = deadline->least * EVENT_SIZE;
	if (likely(done >= least))
		return done;
	do {
		ret = events_wait(file, deadline);
		if (!ret)
			ret = events_read(file, to, true);
		if (ret > 0)
			done += ret;
	} while (ret >= 0 && done < least &&
		 !(done ? signal_pending(current) :
			  fatal_signal_pending(current)));
	/* Events that were added, or put back, during the read are for the next waiter. */
	if (READ_ONCE(file->unread))
		wake_up(&file->readers);
	return done || ret == -ETIME ? done : ret;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_read);

/* file_operations.poll */
__poll_t co_file_poll(struct file *filp, poll_table *wait)
{
	struct callout_file *file = filp->private_data;

	poll_wait(filp, &file->wait, wait);
	return READ_ONCE(file->unread) ? EPOLLIN | EPOLLRDNORM : 0;
}

void co_event_init(void)
{
	co_register_kind(CALLOUT_KIND_EVENT, &kind_event);
	co_register_kind(CALLOUT_KIND_KEYED, &kind_event);
}
