// SPDX-License-Identifier: GPL-2.0
/*
 * dev.c - /dev/callout: callouts for programs
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
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/callout.h>
#include "core.h"
#include "dev.h"
#include "handle.h"
#include "kcompat.h"
#include "tick.h"

/* callout.state: on the ready list; protected by callout_file.lock */
#define CALLOUT_S_READY		0x8

/* Events copied to a reader at a time; they are on the stack. */
#define READ_EVENTS		8U

/* log2 of the buckets that a file's (func, arg) hash begins with. */
#define HASH_BITS		6

/**
 * struct callout_file - an open file of /dev/callout
 * @table: its callouts
 * @lock: protects @ready, @unread and which slots are ready; inside a base's
 * @ready: slots that have fired, oldest first
 * @unread: how many there are on @ready
 * @wait: readers and pollers
 * @reader: one reads at a time, so that events that could not be copied can
 *	go back to where they were
 * @limit: how many slots may be in use
 * @outstanding: how many are
 * @set: counter for struct callout_info
 * @cancelled: counter for struct callout_info
 * @withdrawn: counter for struct callout_info
 * @delivered: counter for struct callout_info
 * @free: frees this
 */
struct callout_file {
	struct callout_table table;
	raw_spinlock_t lock;
	struct list_head ready;
	unsigned int unread;
	wait_queue_head_t wait;
	struct mutex reader;
	unsigned int limit;
	atomic_t outstanding;
	atomic64_t set;
	atomic64_t cancelled;
	atomic64_t withdrawn;
	atomic64_t delivered;
	struct rcu_work free;
};

unsigned int callout_max_per_file = 1000000;

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
	u64 tick = callout_tick_from_ns(base, slot_due(slot), now);

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
		callout_dequeue_locked(base, c);
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
	base->handlers += n;

	if (wake) {
		raw_spin_unlock_irq(&base->lock);
		wake_up_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
		raw_spin_lock_irq(&base->lock);
	}
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

/* A free slot, with the CPU's base locked; allocates if there is none. */
static struct callout_slot *file_get_slot(struct callout_file *file,
					  struct callout_base **base,
					  unsigned long *flags)
{
	struct callout_slot *slot;
	unsigned int cpu;
	int ret;

	for (;;) {
		*base = callout_lock_this_cpu(flags);
		slot = callout_slot_get(&file->table, *base);
		if (likely(slot))
			return slot;
		cpu = (*base)->index;
		callout_unlock(*base, *flags);
		if (callout_table_steal(&file->table, cpu))
			continue;
		ret = callout_table_grow(&file->table, cpu, 1,
					 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (ret)
			return ERR_PTR(ret);
	}
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

static int file_set(struct callout_file *file, struct callout_op *op,
		    bool hashed)
{
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned long flags;
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
	slot = file_get_slot(file, &base, &flags);
	if (IS_ERR(slot)) {
		atomic_dec(&file->outstanding);
		return PTR_ERR(slot);
	}

	now = ktime_get_ns();
	due = op->time;
	if (!(op->flags & CALLOUT_ABSTIME))
		due = min_t(u64, now + op->time, KTIME_MAX);
	slot_set_user(slot, op->func, op->cookie, due);
	op->handle = slot->handle;
	callout_start_locked(base, &slot->c,
			     callout_tick_from_ns(base, due, now));
	if (hashed) {
		slot->c.lock_flags = CALLOUT_L_HASHED;
		callout_hash_insert(&file->table.hash, slot);
	}
	callout_unlock(base, flags);
	atomic64_inc(&file->set);
	return 0;
}

/* Cancels by handle; with @check only if the handle has this func and arg. */
static int file_unset(struct callout_file *file, const struct callout_op *op,
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

static int file_untimeout(struct callout_file *file, struct callout_op *op)
{
	struct callout_hash *hash = &file->table.hash;
	unsigned long flags;
	int ret;

	if (!smp_load_acquire(&hash->buckets))
		return -ENOENT;
	if (op->handle)
		return file_unset(file, op, true);
	do {
		local_irq_save(flags);
		op->handle = callout_hash_find(hash, (void *)(unsigned long)op->func,
					       (void *)(unsigned long)op->cookie);
		local_irq_restore(flags);
		if (!op->handle)
			return -ENOENT;
		/* If a reader gets it first it is out of the hash, too. */
		ret = file_unset(file, op, true);
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
}

/* Copies one batch to the reader; returns bytes, 0 at the end, or an error. */
static ssize_t file_read_some(struct callout_file *file, struct iov_iter *to)
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

static ssize_t callout_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct callout_file *file = iocb->ki_filp->private_data;
	ssize_t ret, done = 0;

	if (iov_iter_count(to) < sizeof(struct callout_event))
		return -EINVAL;

	for (;;) {
		ret = mutex_lock_interruptible(&file->reader);
		if (ret)
			return ret;
		do {
			ret = file_read_some(file, to);
			if (ret > 0)
				done += ret;
		} while (ret > 0 &&
			 iov_iter_count(to) >= sizeof(struct callout_event) &&
			 !fatal_signal_pending(current));
		mutex_unlock(&file->reader);
		if (done)
			return done;
		if (ret < 0)
			return ret;
		if (iocb->ki_filp->f_flags & O_NONBLOCK ||
		    iocb->ki_flags & IOCB_NOWAIT)
			return -EAGAIN;
		ret = wait_event_interruptible(file->wait,
					       READ_ONCE(file->unread));
		if (ret)
			return ret;
	}
}

static __poll_t callout_poll(struct file *filp, poll_table *wait)
{
	struct callout_file *file = filp->private_data;

	poll_wait(filp, &file->wait, wait);
	return READ_ONCE(file->unread) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* Members that an operation does not use must be zero. */
static int check_op(const struct callout_op *op, unsigned int nr)
{
	bool arms = nr == CALLOUT_OP_SET || nr == CALLOUT_OP_TIMEOUT;
	bool hashed = nr == CALLOUT_OP_TIMEOUT || nr == CALLOUT_OP_UNTIMEOUT;

	if (op->op != nr || op->result || op->period || op->slack)
		return -EINVAL;
	if (arms) {
		if (op->flags & ~CALLOUT_ABSTIME ||
		    op->clockid != CLOCK_MONOTONIC ||
		    op->time > KTIME_MAX || op->handle)
			return -EINVAL;
	} else if (op->flags || op->clockid || op->time) {
		return -EINVAL;
	}
	if (!hashed && op->func)
		return -EINVAL;
	if (nr == CALLOUT_OP_UNSET && op->cookie)
		return -EINVAL;
	return 0;
}

static long callout_ioctl_op(struct callout_file *file, unsigned int nr,
			     size_t size, struct callout_op __user *uop)
{
	struct callout_op op;
	int ret;

	if (size < CALLOUT_OP_SIZE_V1 || size > PAGE_SIZE)
		return -EINVAL;
	ret = copy_struct_from_user(&op, sizeof(op), uop, size);
	if (ret)
		return ret;
	ret = check_op(&op, nr);
	if (ret)
		return ret;

	switch (nr) {
	case CALLOUT_OP_UNSET:
		return file_unset(file, &op, false);
	case CALLOUT_OP_UNTIMEOUT:
		return file_untimeout(file, &op);
	}
	/* Better to see now that the handle cannot be told. */
	if (put_user(0, &uop->handle))
		return -EFAULT;
	ret = file_set(file, &op, nr == CALLOUT_OP_TIMEOUT);
	if (ret)
		return ret;
	if (put_user(op.handle, &uop->handle)) {
		/* Unmapped in between. */
		file_unset(file, &op, false);
		return -EFAULT;
	}
	return 0;
}

static long callout_ioctl_info(struct callout_file *file, size_t size,
			       void __user *uinfo)
{
	struct callout_info info = {
		.abi_version	 = CALLOUT_ABI_VERSION,
		.op_size	 = sizeof(struct callout_op),
		.event_size	 = sizeof(struct callout_event),
		.clocks		 = 1U << CLOCK_MONOTONIC,
		.max_outstanding = file->limit,
		.outstanding	 = atomic_read(&file->outstanding),
		.unread		 = READ_ONCE(file->unread),
		.set		 = atomic64_read(&file->set),
		.cancelled	 = atomic64_read(&file->cancelled),
		.withdrawn	 = atomic64_read(&file->withdrawn),
		.delivered	 = atomic64_read(&file->delivered),
	};

	info.tick_ns = callout_tick_ns();
	if (size < CALLOUT_INFO_SIZE_V1 || size > PAGE_SIZE)
		return -EINVAL;
	if (size > sizeof(info) &&
	    clear_user(uinfo + sizeof(info), size - sizeof(info)))
		return -EFAULT;
	if (copy_to_user(uinfo, &info, min(size, sizeof(info))))
		return -EFAULT;
	return 0;
}

static long callout_ioctl(struct file *filp, unsigned int cmd,
			  unsigned long arg)
{
	struct callout_file *file = filp->private_data;
	void __user *uarg = (void __user *)arg;
	unsigned int nr = _IOC_NR(cmd);
	size_t size = _IOC_SIZE(cmd);

	/* The size may differ: it is the caller's version of the structure. */
	switch (cmd & ~IOCSIZE_MASK) {
	case CALLOUT_IOC_SET & ~IOCSIZE_MASK:
	case CALLOUT_IOC_UNSET & ~IOCSIZE_MASK:
	case CALLOUT_IOC_TIMEOUT & ~IOCSIZE_MASK:
	case CALLOUT_IOC_UNTIMEOUT & ~IOCSIZE_MASK:
		return callout_ioctl_op(file, nr, size, uarg);
	case CALLOUT_IOC_INFO & ~IOCSIZE_MASK:
		return callout_ioctl_info(file, size, uarg);
	default:
		return -ENOTTY;
	}
}

static int callout_open(struct inode *inode, struct file *filp)
{
	struct callout_file *file;
	int ret;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	file->limit = clamp(READ_ONCE(callout_max_per_file), 1U,
			    CALLOUT_MAX_PER_FILE);
	/* Slots on their way from CPU to CPU are not free, and not in use. */
	ret = callout_table_init(&file->table, kind_file,
				 file->limit + CALLOUT_CHUNK_SLOTS *
					       num_possible_cpus(),
				 GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(file);
		return ret;
	}
	raw_spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->ready);
	init_waitqueue_head(&file->wait);
	mutex_init(&file->reader);
	atomic_set(&file->outstanding, 0);
	filp->private_data = file;
	return stream_open(inode, filp);
}

static void callout_file_free(struct work_struct *work)
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

static int callout_release(struct inode *inode, struct file *filp)
{
	struct callout_file *file = filp->private_data;
	struct callout_directory *dir;
	unsigned int i;

	dir = rcu_dereference_protected(file->table.directory, 1);
	for (i = 0; i < file->table.nr_chunks; i++) {
		file_cancel_chunk(dir->chunk[i]);
		cond_resched();
	}
	INIT_RCU_WORK(&file->free, callout_file_free);
	queue_rcu_work(free_wq, &file->free);
	return 0;
}

static const struct file_operations callout_fops = {
	.owner		= THIS_MODULE,
	.open		= callout_open,
	.release	= callout_release,
	.read_iter	= callout_read_iter,
	.poll		= callout_poll,
	.unlocked_ioctl	= callout_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

static struct miscdevice callout_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "callout",
	.fops	= &callout_fops,
	.mode	= 0600,
};

/**
 * callout_dev_init - makes /dev/callout
 *
 * Return: 0 or an error.
 */
int callout_dev_init(void)
{
	int ret;

	BUILD_BUG_ON(sizeof(struct callout_op) != CALLOUT_OP_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_info) != CALLOUT_INFO_SIZE_V1);

	kind_file = callout_register_kind(callout_expire_file);
	free_wq = alloc_workqueue("callout", 0, 0);
	if (!free_wq)
		return -ENOMEM;
	ret = misc_register(&callout_misc);
	if (ret)
		destroy_workqueue(free_wq);
	return ret;
}

/**
 * callout_dev_exit - takes /dev/callout away
 *
 * Context: No file is open: each holds a reference to the module. Returns
 * when the last that was closed has been freed.
 */
void callout_dev_exit(void)
{
	misc_deregister(&callout_misc);
	rcu_barrier();
	destroy_workqueue(free_wq);
}
