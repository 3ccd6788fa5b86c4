// SPDX-License-Identifier: GPL-2.0
/*
 * file.c - the open files of /dev/callout: states, lifetime, list
 *
 * An open file has its own handle table, so it cannot name another file's callouts.
 * A callout of a file runs no function: when it is due, its slot moves from its
 * base's scheme to the file's ready list and becomes the event, so no expiry is
 * lost when memory is short. The slot is freed when its event has been read or
 * withdrawn. A periodic callout is re-armed when its event has been read, so it
 * costs no CPU time while nobody reads.
 *
 * Locks: a base's lock, and inside it callout_file.lock for the ready list.
 * A slot that is not free is in one of these states:
 *
 *	pending		protected by its base's lock
 *	ready		on the ready list; callout_file.lock
 *	detached	taken by a reader, which copies the event to its buffer;
 *			not in the hash unless it is periodic; see event.c
 *
 * SET and CANCEL lock the base first, so they see a slot that is pending, ready or
 * detached, and nothing in between. For a detached slot they come too late, unless
 * the slot's reader will re-arm it (CALLOUT_SLOT_REPEAT): then CANCEL clears that
 * bit, SET changes the time, and neither waits for the reader. The reader checks
 * the flags with the base locked after it has copied the event, and with
 * callout_file.lock held if the copy failed.
 *
 * Lifetime: release() cancels all callouts, base by base. But expiry on another CPU
 * may have moved the last slot to the ready list and may not have called wake_up()
 * yet. The core's contract helps: kinds and handlers run inside an RCU read-side
 * critical section.
 *
 *	CPU0: co_expire()			CPU1: release()
 *	rcu_read_lock()
 *	events_expire():
 *	slot to the ready list
 *	unlock(base)
 *						no callout is pending any more
 *						queue_rcu_work(free the file)
 *	wake_up(&file->wait)
 *	rcu_read_unlock()
 *						grace period over: freed
 *
 * So the file is freed after an RCU grace period.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <uapi/linux/callout.h>
#include "core/queue.h"
#include "file.h"
#include "user.h"
#include "handles/table.h"
#include "kcompat.h"

static struct workqueue_struct *free_wq;
static LIST_HEAD(files);
static DEFINE_MUTEX(files_lock);	/* protects files and visit */
static DEFINE_MUTEX(visit_lock);	/* one visit at a time; taken before files_lock */
static unsigned int visit;		/* number of the last visit */

/* Read each counter separately: the counters may not add up. */
void co_file_info(struct callout_file *file,
		  struct callout_file_info *info)
{
	unsigned int i;

	for (i = 0; i < CALLOUT_FILE_COUNTS; i++)
		info->count[i] = atomic64_read(&file->count[i]);
	info->fired = READ_ONCE(file->fired);
	info->outstanding = atomic_read(&file->outstanding);
	info->unread = READ_ONCE(file->unread);
	info->limit = READ_ONCE(file->limit);
	info->pid = file->pid;
	info->uid = co_file_uid(file);
	info->comm = file->comm;
}

/* Create a file. Return an ERR_PTR on failure. */
struct callout_file *co_file_create(void)
{
	struct callout_file *file;
	int ret;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return ERR_PTR(-ENOMEM);
	file->limit = READ_ONCE(callout_max_per_file);
	/* The table has more slots than the file may use: see ctx_find_slot(). */
	ret = co_table_init(&file->table, CALLOUT_KIND_EVENT,
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
	file->pid = task_tgid_nr(current);
	get_task_comm(file->comm, current);
	ret = co_user_charge(file);
	if (ret)
		goto err_table;
	mutex_lock(&files_lock);
	file->visit = visit;
	list_add_tail(&file->files, &files);
	mutex_unlock(&files_lock);
	return file;

err_table:
	co_table_destroy(&file->table);
err_free:
	kfree(file);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_IF_KUNIT(co_file_create);

static void file_free(struct work_struct *work)
{
	struct callout_file *file = container_of(to_rcu_work(work),
						 struct callout_file, free);

	co_table_destroy(&file->table);
	co_user_uncharge(file);
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
		base = co_lock(n, &flags);
		if (n->state & CALLOUT_S_PENDING) {
			co_dequeue_locked(base, n);
			trace_callout_cancel(n);
		}
		co_unlock(base, flags);
	}
}

/* Cancel all callouts of a file that has no users, and free the file later. */
void co_file_destroy(struct callout_file *file)
{
	struct callout_directory *dir;
	unsigned int i;

	mutex_lock(&files_lock);
	list_del(&file->files);
	mutex_unlock(&files_lock);
	dir = rcu_dereference_protected(file->table.directory, 1);
	for (i = 0; i < file->table.nr_chunks; i++) {
		file_cancel_chunk(dir->chunk[i]);
		cond_resched();
	}
	INIT_RCU_WORK(&file->free, file_free);
	queue_rcu_work(free_wq, &file->free);
}
EXPORT_SYMBOL_IF_KUNIT(co_file_destroy);

/*
 * Call @fn, which may sleep, for each open file, and call it again as long as it
 * returns true. Files are opened and closed between the calls. A file for which @fn
 * returns false moves to the end of the list, where new files are added too. So when
 * the first file of the list has been visited, all have been.
 */
void co_files_visit(callout_file_fn *fn, void *data)
{
	struct callout_file *file;

	mutex_lock(&visit_lock);
	mutex_lock(&files_lock);
	visit++;
	while ((file = list_first_entry_or_null(&files, struct callout_file,
						files)) &&
	       file->visit != visit) {
		if (!fn(file, data)) {
			file->visit = visit;
			list_move_tail(&file->files, &files);
		}
		mutex_unlock(&files_lock);
		cond_resched();
		mutex_lock(&files_lock);
	}
	mutex_unlock(&files_lock);
	mutex_unlock(&visit_lock);
}

int co_file_init(void)
{
	/* Freeing a million callouts takes long: do not bind the work to one CPU. */
	free_wq = alloc_workqueue("callout", WQ_UNBOUND, 0);
	return free_wq ? 0 : -ENOMEM;
}

/* Wait until the last file is freed. */
void co_file_exit(void)
{
	rcu_barrier();
	destroy_workqueue(free_wq);
}
