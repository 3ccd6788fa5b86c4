// SPDX-License-Identifier: GPL-2.0
/*
 * files.c - all open files of /dev/callout: users' limits, resume, the list
 *
 * What a user's files may have outstanding is counted in portions: a file that
 * wants more than it was allowed so far gets some more at once, and gives all
 * back when it is closed. So setting a callout touches nothing that the files
 * share, and a program that opens many files cannot have more than one file.
 *
 * CLOCK_BOOTTIME differs from CLOCK_MONOTONIC by an offset that only changes
 * when the system resumes. So callouts of both clocks are filed alike, by the
 * tick at which the time will have come, and at resume those of CLOCK_BOOTTIME
 * are filed anew, one by one, from a worker. That they are looked at costs time
 * when the system resumes only, and they are late then in any case.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/user_namespace.h>
#include "file.h"
#include "kcompat.h"

/* What a file is allowed more at a time. */
#define PORTION		64U

#define USERS_BITS	6

/**
 * struct callout_user - the files of a user
 * @link: in the hash of all users
 * @uid: the user
 * @files: how many files there are
 * @charged: how many callouts these are allowed
 *
 * Protected by users_lock.
 */
struct callout_user {
	struct hlist_node link;
	kuid_t uid;
	unsigned int files;
	unsigned int charged;
};

unsigned int callout_max_per_file = 1000000;
unsigned int callout_max_per_user = 4000000;

static DEFINE_HASHTABLE(users, USERS_BITS);
static DEFINE_SPINLOCK(users_lock);	/* protects users and charges */
static LIST_HEAD(files);
static DEFINE_MUTEX(files_lock);	/* protects files */

static struct callout_user *user_find(kuid_t uid)
{
	struct callout_user *user;

	hash_for_each_possible(users, user, link, __kuid_val(uid))
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

static struct callout_user *user_get(kuid_t uid)
{
	struct callout_user *user, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	spin_lock(&users_lock);
	user = user_find(uid);
	if (!user) {
		user = new;
		new = NULL;
		user->uid = uid;
		hash_add(users, &user->link, __kuid_val(uid));
	}
	user->files++;
	spin_unlock(&users_lock);
	kfree(new);
	return user;
}

static void user_put(struct callout_user *user, unsigned int charged)
{
	spin_lock(&users_lock);
	user->charged -= charged;
	if (--user->files)
		user = NULL;
	else
		hash_del(&user->link);
	spin_unlock(&users_lock);
	kfree(user);
}

/**
 * callout_file_allow - lets a file have more callouts outstanding
 * @file: the file
 *
 * Context: Process context.
 * Return: 0; -ENOSPC at the file's limit; -EDQUOT at its user's.
 */
int callout_file_allow(struct callout_file *file)
{
	unsigned int max = READ_ONCE(callout_max_per_user), more;
	struct callout_user *user = file->user;
	int ret = 0;

	spin_lock(&users_lock);
	if (file->allowed >= file->limit) {
		ret = -ENOSPC;
	} else if (user->charged >= max) {
		ret = -EDQUOT;
	} else {
		more = min3(PORTION, file->limit - file->allowed,
			    max - user->charged);
		user->charged += more;
		file->charged += more;
		WRITE_ONCE(file->allowed, file->allowed + more);
	}
	spin_unlock(&users_lock);
	return ret;
}

/**
 * callout_file_lower_limit - lowers a file's limit
 * @file: the file
 * @limit: the new limit
 *
 * The user is charged as before, since the file keeps the memory.
 *
 * Return: 0, or -EINVAL if that is 0 or more than it is.
 */
int callout_file_lower_limit(struct callout_file *file, u64 limit)
{
	int ret = -EINVAL;

	spin_lock(&users_lock);
	if (limit && limit <= file->limit) {
		WRITE_ONCE(file->limit, limit);
		WRITE_ONCE(file->allowed, min(file->allowed, file->limit));
		ret = 0;
	}
	spin_unlock(&users_lock);
	return ret;
}

/**
 * callout_file_user_charged - what the files of a file's user are allowed
 * @file: the file
 *
 * Return: how many callouts.
 */
unsigned int callout_file_user_charged(struct callout_file *file)
{
	return READ_ONCE(file->user->charged);
}

/**
 * callout_files_add - puts a file on the list, and on its user's account
 * @file: the file
 *
 * Return: 0 or -ENOMEM.
 */
int callout_files_add(struct callout_file *file)
{
	file->user = user_get(current_uid());
	if (!file->user)
		return -ENOMEM;
	file->pid = task_tgid_nr(current);
	get_task_comm(file->comm, current);
	mutex_lock(&files_lock);
	list_add_tail(&file->files, &files);
	mutex_unlock(&files_lock);
	return 0;
}

/**
 * callout_files_del - takes a file off the list and off its user's account
 * @file: the file
 */
void callout_files_del(struct callout_file *file)
{
	mutex_lock(&files_lock);
	list_del(&file->files);
	mutex_unlock(&files_lock);
	user_put(file->user, file->charged);
}

/**
 * callout_files_resume - follows a step of CLOCK_BOOTTIME
 *
 * Context: Process context, may sleep.
 */
void callout_files_resume(void)
{
	struct callout_file *file;

	mutex_lock(&files_lock);
	list_for_each_entry(file, &files, files)
		callout_file_resume(file);
	mutex_unlock(&files_lock);
}
EXPORT_SYMBOL_IF_KUNIT(callout_files_resume);

static void files_resume(struct work_struct *work)
{
	callout_files_resume();
}

static DECLARE_WORK(resume_work, files_resume);

/* The clock has stepped before programs run again; this comes soon after. */
static int files_pm(struct notifier_block *nb, unsigned long event, void *data)
{
	switch (event) {
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		queue_work(system_unbound_wq, &resume_work);
	}
	return NOTIFY_DONE;
}

static struct notifier_block files_pm_block = {
	.notifier_call = files_pm,
};

/**
 * callout_files_show - a line for each open file
 * @m: where to
 */
void callout_files_show(struct seq_file *m)
{
	struct callout_file *file;

	seq_puts(m, "pid uid outstanding unread limit set cancelled withdrawn delivered reset repeated fired comm\n");
	mutex_lock(&files_lock);
	list_for_each_entry(file, &files, files) {
		seq_printf(m, "%d %u %d %u %u %lld %lld %lld %lld %lld %lld %llu ",
			   file->pid,
			   from_kuid_munged(&init_user_ns, file->user->uid),
			   atomic_read(&file->outstanding),
			   READ_ONCE(file->unread), READ_ONCE(file->limit),
			   atomic64_read(&file->set),
			   atomic64_read(&file->cancelled),
			   atomic64_read(&file->withdrawn),
			   atomic64_read(&file->delivered),
			   atomic64_read(&file->reset),
			   atomic64_read(&file->repeated),
			   READ_ONCE(file->fired));
		seq_escape(m, file->comm, " \t\n\\");
		seq_putc(m, '\n');
	}
	mutex_unlock(&files_lock);
}

/**
 * callout_files_init - prepares for files
 */
void callout_files_init(void)
{
	/* Fails only where the same block is registered already. */
	register_pm_notifier(&files_pm_block);
}

/**
 * callout_files_exit - ends what callout_files_init() has begun
 */
void callout_files_exit(void)
{
	unregister_pm_notifier(&files_pm_block);
	cancel_work_sync(&resume_work);
}
