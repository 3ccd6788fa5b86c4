// SPDX-License-Identifier: GPL-2.0
/*
 * dev.c - /dev/callout: what programs call, checked
 *
 * Nothing here knows how callouts work.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/user_namespace.h>
#include <uapi/linux/callout.h>
#include "base.h"
#include "dev.h"
#include "dev_clock.h"
#include "dev_event.h"
#include "dev_file.h"
#include "dev_ioctl.h"
#include "dev_user.h"
#include "tick.h"

static ssize_t callout_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct callout_file *file = iocb->ki_filp->private_data;
	bool nonblock = iocb->ki_filp->f_flags & O_NONBLOCK ||
			iocb->ki_flags & IOCB_NOWAIT;
	ssize_t ret;

	if (iov_iter_count(to) < sizeof(struct callout_event))
		return -EINVAL;
	ret = callout_file_read(file, to, !nonblock, KTIME_MAX);
	return ret ? ret : -EAGAIN;
}

static __poll_t callout_poll(struct file *filp, poll_table *wait)
{
	struct callout_file *file = filp->private_data;

	poll_wait(filp, &file->wait, wait);
	return READ_ONCE(file->unread) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int callout_fasync(int fd, struct file *filp, int on)
{
	struct callout_file *file = filp->private_data;

	return fasync_helper(fd, filp, on, &file->fasync);
}

static long callout_ioctl_next(struct callout_file *file, size_t size,
			       struct callout_next __user *unext)
{
	struct callout_next next;
	int ret;

	if (size < CALLOUT_NEXT_SIZE_V1 || size > PAGE_SIZE)
		return -EINVAL;
	ret = copy_struct_from_user(&next, sizeof(next), unext, size);
	if (ret)
		return ret;
	if (next.flags || (next.clockid != CLOCK_MONOTONIC &&
			   next.clockid != CLOCK_BOOTTIME))
		return -EINVAL;
	return put_user(callout_file_next(file, next.clockid), &unext->due);
}

static long callout_ioctl_limit(struct callout_file *file, size_t size,
				const u64 __user *ulimit)
{
	u64 limit;

	if (size != sizeof(limit))
		return -EINVAL;
	if (get_user(limit, ulimit))
		return -EFAULT;
	return callout_file_lower_limit(file, limit);
}

static long callout_ioctl_eventfd(struct callout_file *file, size_t size,
				  const s32 __user *ufd)
{
	s32 fd;

	if (size != sizeof(fd))
		return -EINVAL;
	if (get_user(fd, ufd))
		return -EFAULT;
	return callout_file_set_eventfd(file, fd);
}

/* What the scheme is, and how late it is by its own design. */
static void info_scheme(struct callout_info *info)
{
	static const unsigned int seconds[] = { 1, 60, 3600, 86400 };
	struct callout_scheme *s = callout_base(0)->scheme;
	unsigned int i;
	u64 ticks;

	BUILD_BUG_ON(ARRAY_SIZE(seconds) != ARRAY_SIZE(info->scheme_late));
	strscpy(info->scheme, s->ops->name, sizeof(info->scheme));
	for (i = 0; s->ops->late && i < ARRAY_SIZE(seconds); i++) {
		ticks = div64_u64(seconds[i] * NSEC_PER_SEC, info->tick_ns);
		info->scheme_late[i] = s->ops->late(s, ticks);
	}
}

/* What all bases have counted, of all files and of kernel code. */
static void info_facility(struct callout_info *info)
{
	struct callout_stats stats;

	callout_all_stats(&stats);
	info->handlers = stats.handlers;
	info->wakeups = stats.wakeups;
	info->false_wakeups = stats.false_wakeups;
	info->hops = stats.hops;
	info->visits = stats.visits;
	info->refiles = stats.refiles;
	info->max_units = stats.max_units;
	memcpy(info->late, stats.late, sizeof(info->late));
}

static long callout_ioctl_info(struct callout_file *file, size_t size,
			       void __user *uinfo)
{
	struct callout_info info = {
		.abi_version	 = CALLOUT_ABI_VERSION,
		.op_size	 = sizeof(struct callout_op),
		.event_size	 = sizeof(struct callout_event),
		.clocks		 = 1U << CLOCK_MONOTONIC | 1U << CLOCK_BOOTTIME,
		.max_outstanding = READ_ONCE(file->limit),
		.outstanding	 = atomic_read(&file->outstanding),
		.unread		 = READ_ONCE(file->unread),
		.set		 = atomic64_read(&file->set),
		.cancelled	 = atomic64_read(&file->cancelled),
		.withdrawn	 = atomic64_read(&file->withdrawn),
		.delivered	 = atomic64_read(&file->delivered),
		.reset		 = atomic64_read(&file->reset),
		.repeated	 = atomic64_read(&file->repeated),
		.max_user	 = READ_ONCE(callout_max_per_user),
		.user_outstanding = callout_file_user_charged(file),
	};

	if (size < CALLOUT_INFO_SIZE_V1 || size > PAGE_SIZE)
		return -EINVAL;
	info.tick_ns = callout_tick_ns();
	info_scheme(&info);
	/* When others' timers fire is not for all to know; and it takes locks. */
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN))
		info_facility(&info);
	if (size > sizeof(info) &&
	    clear_user(uinfo + sizeof(info), size - sizeof(info)))
		return -EFAULT;
	if (copy_to_user(uinfo, &info, min(size, sizeof(info))))
		return -EFAULT;
	return 0;
}

/* Not in line, so that an operation does not take a stack frame for it. */
static noinline long callout_ioctl_rare(struct file *filp, unsigned int cmd,
					size_t size, void __user *uarg)
{
	bool may_write = filp->f_mode & FMODE_WRITE;
	struct callout_file *file = filp->private_data;

	switch (cmd) {
	case CALLOUT_IOC_NEXT & ~IOCSIZE_MASK:
		return callout_ioctl_next(file, size, uarg);
	case CALLOUT_IOC_INFO & ~IOCSIZE_MASK:
		return callout_ioctl_info(file, size, uarg);
	case CALLOUT_IOC_LIMIT & ~IOCSIZE_MASK:
		return may_write ? callout_ioctl_limit(file, size, uarg) :
				   -EBADF;
	case CALLOUT_IOC_EVENTFD & ~IOCSIZE_MASK:
		return may_write ? callout_ioctl_eventfd(file, size, uarg) :
				   -EBADF;
	default:
		return -ENOTTY;
	}
}

/* What changes callouts needs a descriptor that is open for writing. */
static long callout_ioctl(struct file *filp, unsigned int cmd,
			  unsigned long arg)
{
	struct callout_file *file = filp->private_data;
	void __user *uarg = (void __user *)arg;
	unsigned int nr = _IOC_NR(cmd);
	size_t size = _IOC_SIZE(cmd);

	/* The size may differ: it is the caller's version of the structure. */
	cmd &= ~IOCSIZE_MASK;
	if (cmd >= (CALLOUT_IOC_SET & ~IOCSIZE_MASK) &&
	    cmd <= (CALLOUT_IOC_UNTIMEOUT & ~IOCSIZE_MASK)) {
		if (unlikely(!(filp->f_mode & FMODE_WRITE)))
			return -EBADF;
		return callout_ioctl_op(file, nr, size, uarg);
	}
	if (cmd == (CALLOUT_IOC_BATCH & ~IOCSIZE_MASK))
		return callout_ioctl_batch(file, filp->f_mode, size, uarg);
	return callout_ioctl_rare(filp, cmd, size, uarg);
}

static int callout_open(struct inode *inode, struct file *filp)
{
	struct callout_file *file;

	file = callout_file_create();
	if (IS_ERR(file))
		return PTR_ERR(file);
	filp->private_data = file;
	filp->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, filp);
}

static int callout_release(struct inode *inode, struct file *filp)
{
	callout_file_destroy(filp->private_data);
	return 0;
}

/* What a look at every slot takes is not here: lsof(8) reads it of all files. */
static void callout_show_fdinfo(struct seq_file *m, struct file *filp)
{
	struct callout_file *file = filp->private_data;

	seq_printf(m, "outstanding:\t%d\n", atomic_read(&file->outstanding));
	seq_printf(m, "fired:\t%llu\n", READ_ONCE(file->fired));
	seq_printf(m, "unread:\t%u\n", READ_ONCE(file->unread));
	seq_printf(m, "limit:\t%u\n", READ_ONCE(file->limit));
}

static const struct file_operations callout_fops = {
	.owner		= THIS_MODULE,
	.open		= callout_open,
	.release	= callout_release,
	.read_iter	= callout_read_iter,
	.poll		= callout_poll,
	.fasync		= callout_fasync,
	.unlocked_ioctl	= callout_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.show_fdinfo	= callout_show_fdinfo,
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
	BUILD_BUG_ON(sizeof(struct callout_batch) != CALLOUT_BATCH_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_next) != CALLOUT_NEXT_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_info) != CALLOUT_INFO_SIZE_V2);
	BUILD_BUG_ON(sizeof_field(struct callout_info, late) !=
		     sizeof_field(struct callout_stats, late));

	ret = callout_file_init();
	if (ret)
		return ret;
	callout_event_init();
	callout_clock_init();
	ret = misc_register(&callout_misc);
	if (ret) {
		callout_clock_exit();
		callout_file_exit();
	}
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
	callout_clock_exit();
	callout_file_exit();
}
