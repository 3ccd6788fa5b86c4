// SPDX-License-Identifier: GPL-2.0
/*
 * dev.c - /dev/callout: what programs call, checked
 *
 * Nothing here knows how callouts work; that is file.c.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <uapi/linux/callout.h>
#include "core.h"
#include "dev.h"
#include "file.h"
#include "tick.h"

unsigned int callout_max_per_file = 1000000;

static ssize_t callout_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct callout_file *file = iocb->ki_filp->private_data;
	bool nonblock = iocb->ki_filp->f_flags & O_NONBLOCK ||
			iocb->ki_flags & IOCB_NOWAIT;
	ssize_t ret, done = 0;

	if (iov_iter_count(to) < sizeof(struct callout_event))
		return -EINVAL;

	for (;;) {
		if (nonblock && !mutex_trylock(&file->reader))
			return -EAGAIN;
		if (!nonblock && mutex_lock_interruptible(&file->reader))
			return -ERESTARTSYS;
		do {
			ret = callout_file_read(file, to);
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
		if (nonblock)
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
		return callout_file_unset(file, &op, false);
	case CALLOUT_OP_UNTIMEOUT:
		return callout_file_untimeout(file, &op);
	}
	/* Better to see now that the handle cannot be told. */
	if (put_user(0, &uop->handle))
		return -EFAULT;
	ret = callout_file_set(file, &op, nr == CALLOUT_OP_TIMEOUT);
	if (ret)
		return ret;
	if (put_user(op.handle, &uop->handle)) {
		/* Unmapped in between. */
		callout_file_unset(file, &op, false);
		return -EFAULT;
	}
	return 0;
}

static long callout_ioctl_info(struct callout_file *file, size_t size,
			       void __user *uinfo)
{
	struct callout_stats stats;
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

	if (size < CALLOUT_INFO_SIZE_V1 || size > PAGE_SIZE)
		return -EINVAL;
	callout_all_stats(&stats);
	info.tick_ns = callout_tick_ns();
	info.handlers = stats.handlers;
	info.wakeups = stats.wakeups;
	info.false_wakeups = stats.false_wakeups;
	info.hops = stats.hops;
	info.visits = stats.visits;
	info.refiles = stats.refiles;
	info.max_units = stats.max_units;
	memcpy(info.late, stats.late, sizeof(info.late));
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

	file = callout_file_create(READ_ONCE(callout_max_per_file));
	if (IS_ERR(file))
		return PTR_ERR(file);
	filp->private_data = file;
	return stream_open(inode, filp);
}

static int callout_release(struct inode *inode, struct file *filp)
{
	callout_file_destroy(filp->private_data);
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
	BUILD_BUG_ON(sizeof_field(struct callout_info, late) !=
		     sizeof_field(struct callout_stats, late));

	ret = callout_file_init();
	if (ret)
		return ret;
	ret = misc_register(&callout_misc);
	if (ret)
		callout_file_exit();
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
	callout_file_exit();
}
