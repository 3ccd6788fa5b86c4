/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file.h - the callouts of an open file of /dev/callout
 */
#ifndef _CALLOUT_FILE_H
#define _CALLOUT_FILE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/callout.h>
#include "table.h"

struct callout_user;
struct eventfd_ctx;
struct fasync_struct;
struct iov_iter;
struct seq_file;

/*
 * callout_node.flags of a file's slot; 0 while it is free, since a guessed
 * handle may name it. callout_file.lock protects READY and REPEAT. BOOT and
 * HASHED are constant while the slot is in use: SET writes them in the hold of
 * the base's lock in which the slot becomes pending. So no update of the byte
 * is lost:
 *
 *	being set or freed	written by its only owner, with the base locked
 *	pending			constant
 *	ready, detached		written with callout_file.lock held
 *
 * A reader of the byte that does not exclude its writers uses READ_ONCE().
 * REPEAT has a meaning for detached slots only: detaching writes it.
 *
 * There is no bit for periodic callouts, since RESET changes that while the
 * callout is pending, under the base's lock: a slot is periodic if it is not
 * HASHED and its period, which that lock protects, is not 0.
 */
#define CALLOUT_SLOT_READY	0x01	/* on the ready list */
#define CALLOUT_SLOT_REPEAT	0x02	/* detached: its reader is to arm it */
#define CALLOUT_SLOT_BOOT	0x04	/* its clock is CLOCK_BOOTTIME */
#define CALLOUT_SLOT_HASHED	0x08	/* set by TIMEOUT: has a key */


/* callout_file.moves: below this, how many are on their way. */
#define CALLOUT_MOVED		0x10000

/**
 * struct callout_file - an open file of /dev/callout
 * @table: its callouts
 * @lock: protects @ready, @unread, @fired and which slots are ready; inside a
 *	base's
 * @ready: slots that have fired, oldest first
 * @unread: how many there are on @ready
 * @fired: how many have ever been put there
 * @readers: those who wait in read() or BATCH, exclusively
 * @wait: pollers
 * @fasync: those who want a signal
 * @eventfd: signalled with @wait, or NULL; written under @lock, freed after
 *	a grace period
 * @moves: what file_search() may overlook: callouts that are on their way from
 *	one list to another, and CALLOUT_MOVED for each that has been
 * @outstanding: how many slots are in use, or promised to a batch
 * @allowed: how many may be without asking callout_file_allow(); this and what
 *	follows up to @user is protected by a lock of files.c
 * @limit: how many may be at all
 * @charged: how many are charged to @user; @allowed if @limit was not lowered
 * @user: who opened it
 * @set: counter for struct callout_info
 * @cancelled: counter for struct callout_info
 * @withdrawn: counter for struct callout_info
 * @delivered: counter for struct callout_info
 * @reset: counter for struct callout_info
 * @repeated: counter for struct callout_info
 * @files: link in the list of all files
 * @pid: of the process that opened it
 * @comm: the name that this process had
 * @free: frees this
 */
struct callout_file {
	struct callout_table table;
	raw_spinlock_t lock;
	struct list_head ready;
	unsigned int unread;
	u64 fired;
	wait_queue_head_t readers;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
	struct eventfd_ctx __rcu *eventfd;
	atomic_t moves;
	atomic_t outstanding;
	unsigned int allowed;
	unsigned int limit;
	unsigned int charged;
	struct callout_user *user;
	atomic64_t set;
	atomic64_t cancelled;
	atomic64_t withdrawn;
	atomic64_t delivered;
	atomic64_t reset;
	atomic64_t repeated;
	struct list_head files;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	struct rcu_work free;
};

/**
 * struct callout_tally - what some operations in a row have in common
 * @base: the base that the last one has locked and left so, or NULL
 * @flags: for callout_unlock()
 * @now: CLOCK_MONOTONIC at the first that asked; 0: none has
 * @ahead: how many slots they may take besides the first, until one is taken
 * @spare: slots that count as outstanding and are not in use
 * @set: how many were set
 * @cancelled: how many were cancelled while pending
 * @withdrawn: how many were cancelled when they had fired
 * @reset: how many were set anew
 *
 * Begins as zeroes and ends with callout_tally_flush(). It spares the file's
 * counters, which its users on all CPUs share, a write for each operation, and
 * a base to be locked and unlocked for each. There must not be more of them
 * than make a budget's worth of work.
 */
struct callout_tally {
	struct callout_base *base;
	unsigned long flags;
	u64 now;
	unsigned int ahead;
	unsigned int spare;
	unsigned int set;
	unsigned int cancelled;
	unsigned int withdrawn;
	unsigned int reset;
};

/* What a test adds to CLOCK_BOOTTIME. */
extern u64 callout_boot_step;

/* By how much CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC. */
static inline u64 callout_boot_offset(void)
{
	return ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT)) +
	       READ_ONCE(callout_boot_step);
}

/* When it is due, in its clock. */
static inline u64 callout_slot_due(const struct callout_slot *slot)
{
	return READ_ONCE(slot->due);
}

static inline void callout_slot_set_due(struct callout_slot *slot, u64 due)
{
	WRITE_ONCE(slot->due, due);
}

/* The same in CLOCK_MONOTONIC. */
static inline u64 callout_slot_due_mono(const struct callout_slot *slot)
{
	u64 due = callout_slot_due(slot), offset;

	if (likely(!(slot->node.flags & CALLOUT_SLOT_BOOT)))
		return due;
	offset = callout_boot_offset();
	return due > offset ? due - offset : 0;
}

/* Changes CALLOUT_SLOT_READY and CALLOUT_SLOT_REPEAT. */
static inline void callout_slot_change_flags(struct callout_file *file,
					     struct callout_slot *slot,
					     u8 clear, u8 set)
{
	lockdep_assert_held(&file->lock);
	WRITE_ONCE(slot->node.flags, (slot->node.flags & ~clear) | set);
}

/* The tick for what is due at @due in CLOCK_MONOTONIC or up to @slack later. */
static inline u64 callout_slack_tick(struct callout_base *base, u64 due,
				     u64 slack, u64 now)
{
	u64 tick = callout_from_ns(base, due, now);

	if (likely(!slack))
		return tick;
	due = min_t(u64, due + slack, KTIME_MAX);
	return callout_coalesce(tick, callout_from_ns(base, due, now));
}

/* Before anything that may sleep. */
static inline void callout_tally_unlock(struct callout_tally *tally)
{
	struct callout_base *base = tally->base;

	if (base) {
		__acquire(&base->lock);	/* for sparse */
		callout_unlock(base, tally->flags);
		tally->base = NULL;
	}
}

/* callout_lock(), if that base is not locked anyway. */
static inline struct callout_base *callout_tally_lock(struct callout_tally *tally,
						      struct callout_node *n)
{
	struct callout_base *base = tally->base;

	if (base && likely(READ_ONCE(n->cpu) == base->index))
		return base;
	callout_tally_unlock(tally);
	base = callout_lock(n, &tally->flags);
	/* For sparse, which cannot follow this. */
	__release(&base->lock);
	tally->base = base;
	return base;
}

int callout_file_set(struct callout_file *file, struct callout_op *op,
		     struct callout_tally *tally);
int callout_file_unset(struct callout_file *file, const struct callout_op *op,
		       struct callout_tally *tally);
int callout_file_reset(struct callout_file *file, const struct callout_op *op,
		       struct callout_tally *tally);
int callout_file_untimeout(struct callout_file *file,
			   const struct callout_op *op,
			   struct callout_tally *tally);
void callout_tally_flush(struct callout_file *file,
			 struct callout_tally *tally);
u64 callout_file_next(struct callout_file *file, clockid_t clockid);
void callout_file_resume(struct callout_file *file);
int callout_file_set_eventfd(struct callout_file *file, int fd);
void callout_file_wake(struct callout_file *file, struct eventfd_ctx *eventfd);

/* events.c */
ssize_t callout_file_read(struct callout_file *file, struct iov_iter *to,
			  bool wait, ktime_t until);

struct callout_file *callout_file_create(void);
void callout_file_destroy(struct callout_file *file);

int callout_file_init(void);
void callout_file_exit(void);

/* files.c */
extern unsigned int callout_max_per_file;
extern unsigned int callout_max_per_user;

int callout_files_add(struct callout_file *file);
void callout_files_del(struct callout_file *file);
void callout_files_uncharge(struct callout_file *file);
int callout_file_allow(struct callout_file *file);
int callout_file_lower_limit(struct callout_file *file, u64 limit);
unsigned int callout_file_user_charged(struct callout_file *file);
void callout_files_resume(void);
void callout_files_show(struct seq_file *m);
void callout_files_init(void);
void callout_files_exit(void);

#endif /* _CALLOUT_FILE_H */
