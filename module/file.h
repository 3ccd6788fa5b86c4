/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file.h - the callouts of an open file of /dev/callout
 */
#ifndef _CALLOUT_FILE_H
#define _CALLOUT_FILE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/callout.h>
#include "handle.h"

struct iov_iter;

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
	struct mutex reader;	/* serialises readers */
	unsigned int limit;
	atomic_t outstanding;
	atomic64_t set;
	atomic64_t cancelled;
	atomic64_t withdrawn;
	atomic64_t delivered;
	struct rcu_work free;
};

int callout_file_set(struct callout_file *file, struct callout_op *op,
		     bool hashed);
int callout_file_unset(struct callout_file *file, const struct callout_op *op,
		       bool check);
int callout_file_untimeout(struct callout_file *file,
			   const struct callout_op *op);
ssize_t callout_file_read(struct callout_file *file, struct iov_iter *to);

struct callout_file *callout_file_create(unsigned int limit);
void callout_file_destroy(struct callout_file *file);

int callout_file_init(void);
void callout_file_exit(void);

#endif /* _CALLOUT_FILE_H */
