// SPDX-License-Identifier: GPL-2.0
/*
 * events.c - reading the events of a file
 *
 * A reader takes slots off the ready list, a few at a time: they are detached.
 * It copies their events with no lock held but the file's mutex, and then frees
 * the slots, or arms those that are periodic for their next time. If the copy
 * fails they go back to the head of the list, so each is as it was.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include "file.h"
#include "hash_inline.h"
#include "kcompat.h"

/* Events copied to a reader at a time; they are on the stack. */
#define READ_EVENTS		16U

/* Events on their way to a reader. */
struct batch {
	unsigned int n;
	struct callout_slot *slot[READ_EVENTS];
	struct callout_event events[READ_EVENTS];
};

static void slot_to_event(const struct callout_slot *slot,
			  struct callout_event *event)
{
	*event = (struct callout_event){
		.handle	= slot->handle,
		.cookie	= (unsigned long)slot->c.arg,
		.func	= (unsigned long)slot->c.func,
		.due	= callout_slot_due(slot),
		.fired	= slot->c.scheme[2],
	};
}

/* Takes up to @max events off the ready list. */
static void events_detach(struct callout_file *file, unsigned int max,
			  struct batch *batch)
{
	struct callout_slot *slot;
	unsigned int n = 0;
	struct callout *c;

	raw_spin_lock_irq(&file->lock);
	while (n < max && !list_empty(&file->ready)) {
		c = list_first_entry(&file->ready, struct callout, entry);
		slot = callout_to_slot(c);
		list_del(&c->entry);
		c->state &= ~CALLOUT_S_READY;
		if (c->lock_flags)
			callout_hash_remove(&file->table.hash, slot);
		slot_to_event(slot, &batch->events[n]);
		batch->slot[n++] = slot;
	}
	batch->n = n;
	WRITE_ONCE(file->unread, file->unread - n);
	raw_spin_unlock_irq(&file->lock);
}

/* Puts all events but the first @copied back, in the order that they had. */
static void events_attach(struct callout_file *file, struct batch *batch,
			  unsigned int copied)
{
	struct eventfd_ctx *eventfd;
	struct callout_slot *slot;
	unsigned int n = batch->n;
	bool wake;

	rcu_read_lock();
	raw_spin_lock_irq(&file->lock);
	wake = !file->unread;
	eventfd = rcu_dereference(file->eventfd);
	WRITE_ONCE(file->unread, file->unread + n - copied);
	while (n-- > copied) {
		slot = batch->slot[n];
		slot->c.state |= CALLOUT_S_READY;
		if (slot->c.lock_flags)
			callout_table_put(&file->table, slot);
		list_add(&slot->c.entry, &file->ready);
	}
	raw_spin_unlock_irq(&file->lock);
	/* Others may have looked while it was empty, and sleep by now. */
	if (wake)
		callout_file_wake(file, eventfd);
	rcu_read_unlock();
}

/* Sees how often a periodic callout has been due by now. */
static void event_count(struct callout_slot *slot, struct callout_event *event,
			u64 now)
{
	u64 period = slot->word[CALLOUT_WORD_PERIOD], missed = 0;

	if (slot->c.state & CALLOUT_S_BOOT)
		now += callout_boot_offset();
	if (now > event->due && now - event->due >= period)
		missed = div64_u64(now - event->due, period);
	event->overrun = min_t(u64, missed, U32_MAX);
	event->flags = CALLOUT_EVENT_PERIODIC;
	/* The next time after now. No overflow: two times of less than 2^63. */
	slot->word[CALLOUT_WORD_NEXT] =
		min_t(u64, event->due + missed * period + period, KTIME_MAX);
}

/* Arms a periodic callout whose event was read. */
static struct callout_base *slot_repeat(struct callout_base *base,
					struct callout_slot *slot, u64 now)
	__must_hold(&base->lock)
{
	base = callout_rehome(base, &slot->c);
	callout_slot_set_due(slot, slot->word[CALLOUT_WORD_NEXT]);
	callout_start_locked(base, &slot->c,
			     callout_slack_tick(base,
						callout_slot_due_mono(slot),
						slot->word[CALLOUT_WORD_SLACK],
						now));
	return base;
}

/* Frees or arms the slots whose events were copied. */
static void events_finish(struct callout_file *file, struct batch *batch,
			  unsigned int copied, u64 now)
{
	struct callout_tally tally = {};
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned int i, repeated = 0;

	for (i = 0; i < copied; i++) {
		slot = batch->slot[i];
		base = callout_tally_lock(&tally, &slot->c);
		if (unlikely(slot->c.state & CALLOUT_S_PERIODIC)) {
			tally.base = slot_repeat(base, slot, now);
			repeated++;
		} else {
			callout_file_release_slot(file, base, slot);
			tally.spare++;
		}
	}
	atomic64_add(tally.spare, &file->delivered);
	if (repeated)
		atomic64_add(repeated, &file->repeated);
	callout_tally_flush(file, &tally);
}

/* Copies some events. Returns how many bytes; 0 if there was none; -EFAULT. */
static ssize_t events_read(struct callout_file *file, struct iov_iter *to)
{
	unsigned int i, copied;
	struct batch batch __uninitialized;
	size_t size;
	u64 now = 0;

	size = min_t(size_t, iov_iter_count(to) / sizeof(batch.events[0]),
		     READ_EVENTS);
	events_detach(file, size, &batch);
	if (!batch.n)
		return 0;
	for (i = 0; i < batch.n; i++) {
		if (likely(!(batch.slot[i]->c.state & CALLOUT_S_PERIODIC)))
			continue;
		if (!now)
			now = ktime_get_ns();
		event_count(batch.slot[i], &batch.events[i], now);
	}
	size = copy_to_iter(batch.events, batch.n * sizeof(batch.events[0]),
			    to);
	copied = size / sizeof(batch.events[0]);
	/* Part of an event does not count as read. */
	iov_iter_revert(to, size % sizeof(batch.events[0]));
	if (unlikely(copied < batch.n)) {
		events_attach(file, &batch, copied);
		if (!copied)
			return -EFAULT;
	}
	events_finish(file, &batch, copied, now);
	return copied * sizeof(batch.events[0]);
}

/**
 * callout_file_read_locked - copies the events that there are
 * @file: the file; the caller holds its mutex reader
 * @to: where to; has room for one event or more
 *
 * Context: Process context, may sleep.
 * Return: how many bytes; 0 if there was no event; -EFAULT.
 */
ssize_t callout_file_read_locked(struct callout_file *file, struct iov_iter *to)
{
	ssize_t ret, done = 0;

	do {
		ret = events_read(file, to);
		if (ret > 0)
			done += ret;
		cond_resched();
		/* If it was less than that there were no more. */
	} while (ret == READ_EVENTS * sizeof(struct callout_event) &&
		 iov_iter_count(to) >= sizeof(struct callout_event) &&
		 !fatal_signal_pending(current));
	return done ? done : ret;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_read_locked);

/**
 * callout_file_read - copies events, as they come
 * @file: the file
 * @to: where to; has room for one event or more
 * @nonblock: do not wait
 *
 * Context: Process context, may sleep.
 * Return: how many bytes; -EAGAIN if there was no event and @nonblock is set;
 * -EFAULT; -ERESTARTSYS.
 */
ssize_t callout_file_read(struct callout_file *file, struct iov_iter *to,
			  bool nonblock)
{
	ssize_t ret;

	for (;;) {
		if (nonblock && !mutex_trylock(&file->reader))
			return -EAGAIN;
		if (!nonblock && mutex_lock_interruptible(&file->reader))
			return -ERESTARTSYS;
		ret = callout_file_read_locked(file, to);
		mutex_unlock(&file->reader);
		if (ret)
			return ret;
		if (nonblock)
			return -EAGAIN;
		ret = wait_event_interruptible(file->wait,
					       READ_ONCE(file->unread));
		if (ret)
			return ret;
	}
}
