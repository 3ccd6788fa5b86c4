// SPDX-License-Identifier: GPL-2.0
/*
 * fops.c - /dev/callout: file operations, INFO, fdinfo
 *
 * The callouts of an open file are in the other files of this folder.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <asm/ioctls.h>
#include <uapi/linux/callout.h>
#include "fops.h"
#include "alarm.h"
#include "clock.h"
#include "command.h"
#include "copy.h"
#include "event.h"
#include "file.h"
#include "ioctl.h"
#include "list.h"
#include "uring.h"
#include "user.h"
#include "kcompat.h"

static ssize_t fops_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct callout_file *file = iocb->ki_filp->private_data;
	bool nonblock = iocb->ki_filp->f_flags & O_NONBLOCK ||
			iocb->ki_flags & IOCB_NOWAIT;
	static const struct read_deadline forever = {
		.time = KTIME_MAX,
		.clockid = CLOCK_MONOTONIC,
		.least = 1,
	};
	ssize_t ret;

	if (iov_iter_count(to) < sizeof(struct callout_event))
		return -EINVAL;
	ret = co_file_read(file, to, nonblock ? NULL : &forever);
	return ret ? ret : -EAGAIN;
}

static long ioctl_info(struct callout_file *file, size_t size,
		       void __user *uinfo)
{
	struct callout_info info = {
		.clocks = CALLOUT_CLOCKS,
		.tick_ns = co_base_of(file->table.class, 0)->tick_ns,
		.max_outstanding = READ_ONCE(file->limit),
		.outstanding = atomic_read(&file->outstanding),
		.unread = READ_ONCE(file->unread),
		.max_user = READ_ONCE(callout_max_per_user),
		.user_charged = co_file_user_charged(file),
	};

	if (co_size_bad(size, CALLOUT_INFO_SIZE_V1))
		return -EINVAL;
	if (co_alarm_works())
		info.clocks |= CALLOUT_ALARM_CLOCKS;
	if (CALLOUT_URING && co_command_works(file))
		info.features |= CALLOUT_FEATURE_URING;
	if (size > sizeof(info) &&
	    clear_user(uinfo + sizeof(info), size - sizeof(info)))
		return -EFAULT;
	if (copy_to_user(uinfo, &info, min(size, sizeof(info))))
		return -EFAULT;
	return 0;
}

/* noinline: operations must not pay for its stack frame. */
static noinline long co_ioctl_rare(struct callout_file *file, unsigned int cmd,
				   size_t size, void __user *uarg)
{
	/* The size is part of FIONREAD on some architectures. */
	if (cmd == FIONREAD)
		return co_ioctl_fionread(file, uarg);
	switch (cmd & ~IOCSIZE_MASK) {
	case CALLOUT_IOC_CANCEL_MATCHING & ~IOCSIZE_MASK:
		return co_ioctl_cancel_matching(file, size, uarg);
	case CALLOUT_IOC_LIST & ~IOCSIZE_MASK:
		return co_ioctl_list(file, size, uarg);
	case CALLOUT_IOC_LIMIT & ~IOCSIZE_MASK:
		return co_ioctl_limit(file, size, uarg);
	case CALLOUT_IOC_INFO & ~IOCSIZE_MASK:
		return ioctl_info(file, size, uarg);
	default:
		return -ENOTTY;
	}
}

/* Dispatch by the ioctl number without the size: the caller may have another version. */
static long fops_ioctl(struct file *filp, unsigned int cmd,
		       unsigned long arg)
{
	struct callout_file *file = filp->private_data;
	void __user *uarg = (void __user *)arg;
	unsigned int number = cmd & ~IOCSIZE_MASK;
	size_t size = _IOC_SIZE(cmd);

	if (number == (CALLOUT_IOC_OP & ~IOCSIZE_MASK))
		return co_ioctl_op(file, size, uarg);
	if (number == (CALLOUT_IOC_BATCH & ~IOCSIZE_MASK))
		return co_ioctl_batch(file, size, uarg, true);
	return co_ioctl_rare(file, cmd, size, uarg);
}

static int fops_open(struct inode *inode, struct file *filp)
{
	const fmode_t both = FMODE_READ | FMODE_WRITE;
	struct callout_file *file;

	/* A file that cannot set callouts, or cannot read their events, is a mistake. */
	if ((filp->f_mode & both) != both)
		return -EINVAL;
	file = co_file_create();
	if (IS_ERR(file))
		return PTR_ERR(file);
	filp->private_data = file;
	filp->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, filp);
}

static int fops_release(struct inode *inode, struct file *filp)
{
	co_file_destroy(filp->private_data);
	return 0;
}

static const char * const count_names[] = {
	[CALLOUT_FILE_SET]	 = "set",
	[CALLOUT_FILE_CANCELLED] = "cancelled",
	[CALLOUT_FILE_WITHDRAWN] = "withdrawn",
	[CALLOUT_FILE_RESET]	 = "reset",
	[CALLOUT_FILE_DELIVERED] = "delivered",
	[CALLOUT_FILE_REPEATED]	 = "repeated",
};

/* Show only counters, do not walk the slots: lsof(8) reads the fdinfo of all files. */
static void fops_show_fdinfo(struct seq_file *m, struct file *filp)
{
	struct callout_file_info info;
	unsigned int i;

	co_file_info(filp->private_data, &info);
	seq_printf(m, "outstanding:\t%u\n", info.outstanding);
	seq_printf(m, "unread:\t%u\n", info.unread);
	seq_printf(m, "limit:\t%u\n", info.limit);
	seq_printf(m, "fired:\t%llu\n", info.fired);
	for (i = 0; i < CALLOUT_FILE_COUNTS; i++)
		seq_printf(m, "%s:\t%llu\n", count_names[i], info.count[i]);
}

static bool show_file(struct callout_file *file, void *data)
{
	struct callout_file_info info;
	struct seq_file *m = data;

	co_file_info(file, &info);
	seq_printf(m, "%d %u %u %u %u %llu %llu %llu %llu %llu %llu %llu ",
		   info.pid, info.uid, info.outstanding, info.unread,
		   info.limit, info.count[CALLOUT_FILE_SET],
		   info.count[CALLOUT_FILE_CANCELLED],
		   info.count[CALLOUT_FILE_WITHDRAWN],
		   info.count[CALLOUT_FILE_DELIVERED],
		   info.count[CALLOUT_FILE_RESET],
		   info.count[CALLOUT_FILE_REPEATED], info.fired);
	seq_escape(m, info.comm, " \t\n\\");
	seq_putc(m, '\n');
	return false;
}

/* Show one line per open file, for debugfs. */
int co_files_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "pid uid outstanding unread limit set cancelled withdrawn delivered reset repeated fired comm\n");
	co_files_visit(show_file, m);
	return 0;
}

static const struct file_operations callout_fops = {
	.owner		= THIS_MODULE,
	.open		= fops_open,
	.release	= fops_release,
	.read_iter	= fops_read_iter,
	.poll		= co_file_poll,
	.unlocked_ioctl	= fops_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.show_fdinfo	= fops_show_fdinfo,
#if CALLOUT_URING
	.uring_cmd	= co_uring_cmd,
#endif
};

static struct miscdevice callout_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "callout",
	.fops	= &callout_fops,
	.mode	= 0600,
};

int co_dev_init(void)
{
	int ret;

	BUILD_BUG_ON(sizeof(struct callout_op) != CALLOUT_OP_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_event) != 64);
	BUILD_BUG_ON(sizeof(struct callout_batch) != CALLOUT_BATCH_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_limit) != CALLOUT_LIMIT_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_match) != CALLOUT_MATCH_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_entry) != CALLOUT_ENTRY_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_list) != CALLOUT_LIST_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct callout_info) != CALLOUT_INFO_SIZE_V1);

	ret = co_file_init();
	if (ret)
		return ret;
	co_event_init();
	if (CALLOUT_URING)
		co_command_init();
	co_clock_init();
	ret = co_alarm_init();
	if (ret)
		goto err_clock;
	ret = misc_register(&callout_misc);
	if (ret)
		goto err_alarm;
	return 0;

err_alarm:
	co_alarm_exit();
err_clock:
	co_clock_exit();
	co_file_exit();
	return ret;
}

/*
 * Stop the device. No file is open: each open file holds a reference to the module.
 * Return when the last closed file has been freed.
 */
void co_dev_exit(void)
{
	misc_deregister(&callout_misc);
	co_clock_exit();
	co_file_exit();
	/* Expiry uses the alarm device until the files are freed. */
	co_alarm_exit();
}
