// SPDX-License-Identifier: GPL-2.0
/*
 * file.c - the callouts of an open file of /dev/callout
 *
 * An open file has a handle table of its own, so it can name no other's
 * callouts. A callout of a file does not run a function: when it is due, its
 * slot moves from the base's due list to the file's ready list and becomes the
 * event, so that no expiration is lost for want of memory. The slot is free
 * when the event has been read or withdrawn.
 *
 * Locks: a base's lock, and inside it callout_file.lock for the ready list.
 * A slot that is not free is in one of these states:
 *
 *	pending		protected by its base's lock
 *	ready		on the ready list; callout_file.lock
 *	detached	taken by a reader, which is copying it to its buffer;
 *			not in the hash
 *
 * Cancelling goes through the base's lock first, so it sees a pending slot,
 * or one that is ready or later; it never sees one between the two.
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
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/workqueue.h>
#include "core.h"
#include "file.h"
#include "handle.h"
#include "hash_inline.h"

/* callout.state: on the ready list; protected by callout_file.lock */
#define CALLOUT_S_READY		0x8

/* Events copied to a reader at a time; they are on the stack. */
#define READ_EVENTS		8U

/* log2 of the buckets that a file's (func, arg) hash begins with. */
#define HASH_BITS		6

static u8 kind_file;
static struct workqueue_struct *free_wq;

/*
 * A file's callouts have no handler and no associated lock. Their words hold
 * what the program has given.
 */
static void slot_set_user(struct callout_slot *slot, u64 func, u64 cookie,
			  u64 due)
{
	slot->c.func = (callout_func_t)(unsigned long)func;
	slot->c.arg = (void *)(unsigned long)cookie;
	slot->c.lock = (void *)(unsigned long)due;
}

static u64 slot_due(const struct callout_slot *slot)
{
	return (unsigned long)slot->c.lock;
}

/* While it is ready the third of the scheme's words is not used. */
static void slot_set_fired(struct callout_slot *slot, u64 fired)
{
	slot->c.scheme[2] = fired;
}

static void slot_to_event(const struct callout_slot *slot,
			  struct callout_event *event)
{
	*event = (struct callout_event){
		.handle	= slot->handle,
		.cookie	= (unsigned long)slot->c.arg,
		.func	= (unsigned long)slot->c.func,
		.due	= slot_due(slot),
		.fired	= slot->c.scheme[2],
	};
}

static struct callout_file *slot_file(struct callout_slot *slot)
{
	return container_of(callout_slot_table(slot), struct callout_file,
			    table);
}

/*
 * The tick has come, the time has not: jiffies were behind the clock when the
 * callout was set. Its place in the hash depends on its tick.
 */
static void file_postpone(struct callout_file *file, struct callout_base *base,
			  struct callout_slot *slot, u64 now)
{
	u64 tick = base->tick->from_ns(slot_due(slot), now);

	if (slot->c.lock_flags)
		callout_hash_remove(&file->table.hash, slot);
	callout_start_locked(base, &slot->c, tick);
	if (slot->c.lock_flags)
		callout_hash_insert(&file->table.hash, slot);
}

/* EXPIRYPROCESSING for a file: it and those after it of the same file. */
static unsigned int callout_expire_file(struct callout_base *base,
					struct callout *c)
	__must_hold(&base->lock)
{
	struct callout_slot *slot = callout_to_slot(c);
	struct callout_file *file = slot_file(slot);
	u64 now = ktime_get_ns();
	unsigned int n = 0;
	bool wake = false;

	raw_spin_lock(&file->lock);
	do {
		callout_take_due(base, c);
		n++;
		if (unlikely(slot_due(slot) > now)) {
			file_postpone(file, base, slot, now);
		} else {
			slot_set_fired(slot, now);
			c->state |= CALLOUT_S_READY;
			list_add_tail(&c->entry, &file->ready);
			wake |= !file->unread++;
		}
		if (list_empty(&base->due))
			break;
		c = list_first_entry(&base->due, struct callout, entry);
		if (c->kind != kind_file)
			break;
		slot = callout_to_slot(c);
	} while (n < CALLOUT_BUDGET && slot_file(slot) == file);
	raw_spin_unlock(&file->lock);

	callout_count_units(base, n);
	/* Not only to wake: this was a budget's worth with the base locked. */
	raw_spin_unlock_irq(&base->lock);
	if (wake)
		wake_up_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
	raw_spin_lock_irq(&base->lock);
	return n;
}

/* Frees a slot; its base is locked. */
static void file_release_slot(struct callout_file *file,
			      struct callout_base *base,
			      struct callout_slot *slot)
{
	callout_slot_release(&file->table, base, slot);
	atomic_dec(&file->outstanding);
}

/* Gets the base of a CPU some free slots: from another, or new ones. */
static int file_refill(struct callout_file *file, unsigned int cpu)
{
	if (callout_table_steal(&file->table, cpu))
		return 0;
	return callout_table_grow(&file->table, cpu, 1,
				  GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

/* The first TIMEOUT makes the hash; later ones let it grow. */
static int file_prepare_hash(struct callout_file *file)
{
	struct callout_hash *hash = &file->table.hash;
	int ret = 0;

	/* Pairs with the smp_store_release() in callout_hash_init(). */
	if (likely(smp_load_acquire(&hash->buckets) &&
		   !callout_hash_wants_growth(hash)))
		return 0;
	mutex_lock(&file->table.grow);
	if (!hash->buckets)
		ret = callout_hash_init(hash, HASH_BITS, GFP_KERNEL_ACCOUNT);
	else
		callout_hash_grow(hash, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&file->table.grow);
	return ret;
}

/**
 * callout_file_set - sets a callout of a file
 * @file: the file
 * @op: what to set; its handle is written
 * @hashed: whether callout_file_untimeout() is to find it
 *
 * Return: 0, -ENOSPC at the file's limit, or -ENOMEM.
 */
int callout_file_set(struct callout_file *file, struct callout_op *op,
		     bool hashed)
{
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned long flags;
	unsigned int cpu;
	u64 now, due;
	int ret;

	if (hashed) {
		ret = file_prepare_hash(file);
		if (ret)
			return ret;
	}
	if (atomic_inc_return(&file->outstanding) > file->limit) {
		atomic_dec(&file->outstanding);
		return -ENOSPC;
	}
	for (;;) {
		base = callout_lock_home(&flags);
		slot = callout_slot_get(callout_pool(&file->table, base));
		if (likely(slot))
			break;
		cpu = base->index;
		callout_unlock(base, flags);
		ret = file_refill(file, cpu);
		if (ret) {
			atomic_dec(&file->outstanding);
			return ret;
		}
	}

	now = ktime_get_ns();
	due = op->time;
	if (!(op->flags & CALLOUT_ABSTIME))
		due = min_t(u64, now + op->time, KTIME_MAX);
	slot_set_user(slot, op->func, op->cookie, due);
	op->handle = slot->handle;
	callout_start_locked(base, &slot->c,
			     base->tick->from_ns(due, now));
	if (hashed) {
		slot->c.lock_flags = CALLOUT_L_HASHED;
		callout_hash_insert(&file->table.hash, slot);
	}
	callout_unlock(base, flags);
	atomic64_inc(&file->set);
	return 0;
}

/**
 * callout_file_unset - cancels a callout by its handle
 * @file: the file
 * @op: has the handle
 * @check: whether @op's func and cookie must be the callout's, and the callout
 *	one that was set by TIMEOUT
 *
 * Return: CALLOUT_CANCELLED, CALLOUT_WITHDRAWN or -ENOENT.
 */
int callout_file_unset(struct callout_file *file, const struct callout_op *op,
		       bool check)
{
	struct callout_slot *slot;
	struct callout_base *base;
	unsigned long flags;
	int ret = -ENOENT;

	slot = callout_table_lookup(&file->table, op->handle);
	if (!slot || !op->handle)
		return -ENOENT;
	base = callout_lock(&slot->c, &flags);
	if (slot->handle != op->handle)
		goto out;
	if (check && (!slot->c.lock_flags ||
		      (unsigned long)slot->c.func != op->func ||
		      (unsigned long)slot->c.arg != op->cookie))
		goto out;

	if (slot->c.state & CALLOUT_S_PENDING) {
		callout_dequeue_locked(base, &slot->c);
		trace_callout_cancel(&slot->c);
		atomic64_inc(&file->cancelled);
		ret = CALLOUT_CANCELLED;
	} else {
		raw_spin_lock(&file->lock);
		if (slot->c.state & CALLOUT_S_READY) {
			list_del(&slot->c.entry);
			slot->c.state &= ~CALLOUT_S_READY;
			file->unread--;
			atomic64_inc(&file->withdrawn);
			ret = CALLOUT_WITHDRAWN;
		}
		raw_spin_unlock(&file->lock);
	}
	if (ret > 0)
		file_release_slot(file, base, slot);
out:
	callout_unlock(base, flags);
	return ret;
}

/**
 * callout_file_untimeout - cancels a callout by its func and cookie
 * @file: the file
 * @op: has them, and the handle if it must be a certain one
 *
 * Return: CALLOUT_CANCELLED, CALLOUT_WITHDRAWN or -ENOENT.
 */
int callout_file_untimeout(struct callout_file *file,
			   const struct callout_op *op)
{
	struct callout_hash *hash = &file->table.hash;
	struct callout_op found = *op;
	struct callout_slot *slot;
	unsigned long flags;
	int ret;

	/* Pairs with the smp_store_release() in callout_hash_init(). */
	if (!smp_load_acquire(&hash->buckets))
		return -ENOENT;
	if (op->handle)
		return callout_file_unset(file, op, true);
	do {
		local_irq_save(flags);
		slot = callout_hash_take(hash, (void *)(unsigned long)op->func,
					 (void *)(unsigned long)op->cookie,
					 &found.handle);
		local_irq_restore(flags);
		if (!slot)
			return -ENOENT;
		/* If a reader gets it first it is delivered. */
		ret = callout_file_unset(file, &found, true);
	} while (ret < 0);
	return ret;
}

/* Events on their way to a reader. */
struct batch {
	unsigned int n;
	struct {
		struct callout_slot *slot;
		u8 lock_flags;
	} from[READ_EVENTS];
	struct callout_event events[READ_EVENTS];
};

/* Takes up to @max events off the ready list. */
static void file_detach(struct callout_file *file, unsigned int max,
			struct batch *batch)
{
	unsigned int n = 0;
	struct callout *c;

	raw_spin_lock_irq(&file->lock);
	while (n < max && !list_empty(&file->ready)) {
		c = list_first_entry(&file->ready, struct callout, entry);
		list_del(&c->entry);
		c->state &= ~CALLOUT_S_READY;
		batch->from[n].slot = callout_to_slot(c);
		batch->from[n].lock_flags = c->lock_flags;
		if (c->lock_flags)
			callout_hash_remove(&file->table.hash,
					    batch->from[n].slot);
		c->lock_flags = 0;
		slot_to_event(batch->from[n].slot, &batch->events[n]);
		n++;
	}
	batch->n = n;
	file->unread -= n;
	raw_spin_unlock_irq(&file->lock);
}

/* Puts all events but the first @copied back, in the order that they had. */
static void file_attach(struct callout_file *file, struct batch *batch,
			unsigned int copied)
{
	struct callout_slot *slot;
	unsigned int n = batch->n;

	raw_spin_lock_irq(&file->lock);
	file->unread += n - copied;
	while (n-- > copied) {
		slot = batch->from[n].slot;
		slot->c.state |= CALLOUT_S_READY;
		slot->c.lock_flags = batch->from[n].lock_flags;
		if (slot->c.lock_flags)
			callout_hash_insert(&file->table.hash, slot);
		list_add(&slot->c.entry, &file->ready);
	}
	raw_spin_unlock_irq(&file->lock);
	/* Others may have looked while it was empty, and sleep by now. */
	wake_up_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * callout_file_read - copies some events to a reader
 * @file: the file; the caller holds its mutex reader
 * @to: where to; has room for one event or more
 *
 * Return: how many bytes; 0 if there was no event; -EFAULT.
 */
ssize_t callout_file_read(struct callout_file *file, struct iov_iter *to)
{
	struct callout_base *base;
	unsigned int i, copied;
	unsigned long flags;
	struct batch batch;
	size_t size;

	size = min_t(size_t, iov_iter_count(to) / sizeof(batch.events[0]),
		     READ_EVENTS);
	file_detach(file, size, &batch);
	if (!batch.n)
		return 0;
	size = copy_to_iter(batch.events, batch.n * sizeof(batch.events[0]),
			    to);
	copied = size / sizeof(batch.events[0]);
	/* Part of an event does not count as read. */
	iov_iter_revert(to, size % sizeof(batch.events[0]));
	if (unlikely(copied < batch.n)) {
		file_attach(file, &batch, copied);
		if (!copied)
			return -EFAULT;
	}
	for (i = 0; i < copied; i++) {
		base = callout_lock(&batch.from[i].slot->c, &flags);
		file_release_slot(file, base, batch.from[i].slot);
		callout_unlock(base, flags);
	}
	atomic64_add(copied, &file->delivered);
	return copied * sizeof(batch.events[0]);
}

/**
 * callout_file_create - makes what an open file needs
 * @limit: how many callouts it may have
 *
 * Return: the file, or an ERR_PTR.
 */
struct callout_file *callout_file_create(unsigned int limit)
{
	struct callout_file *file;
	int ret;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return ERR_PTR(-ENOMEM);
	file->limit = limit;
	/* Slots on their way from CPU to CPU are not free, and not in use. */
	ret = callout_table_init(&file->table, kind_file,
				 limit + CALLOUT_CHUNK_SLOTS *
					 num_possible_cpus(),
				 GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(file);
		return ERR_PTR(ret);
	}
	raw_spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->ready);
	init_waitqueue_head(&file->wait);
	mutex_init(&file->reader);
	atomic_set(&file->outstanding, 0);
	return file;
}

static void file_free(struct work_struct *work)
{
	struct callout_file *file = container_of(to_rcu_work(work),
						 struct callout_file, free);

	callout_table_destroy(&file->table);
	mutex_destroy(&file->reader);
	kfree(file);
}

static void file_cancel_chunk(struct callout_chunk *chunk)
{
	struct callout_base *base;
	unsigned long flags;
	struct callout *c;
	unsigned int i;

	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++) {
		c = &chunk->slot[i].c;
		base = callout_lock(c, &flags);
		if (c->state & CALLOUT_S_PENDING)
			callout_dequeue_locked(base, c);
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

	dir = rcu_dereference_protected(file->table.directory, 1);
	for (i = 0; i < file->table.nr_chunks; i++) {
		file_cancel_chunk(dir->chunk[i]);
		cond_resched();
	}
	INIT_RCU_WORK(&file->free, file_free);
	queue_rcu_work(free_wq, &file->free);
}

/**
 * callout_file_init - prepares for files
 *
 * Return: 0 or -ENOMEM.
 */
int callout_file_init(void)
{
	free_wq = alloc_workqueue("callout", 0, 0);
	if (!free_wq)
		return -ENOMEM;
	kind_file = callout_register_kind(callout_expire_file);
	return 0;
}

/**
 * callout_file_exit - waits until the last file is freed
 */
void callout_file_exit(void)
{
	rcu_barrier();
	destroy_workqueue(free_wq);
}
