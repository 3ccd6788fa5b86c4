/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file.h - an open file of /dev/callout, and its slots
 */
#ifndef _CALLOUT_DEVICE_FILE_H
#define _CALLOUT_DEVICE_FILE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "core/queue.h"
#include "handles/table.h"

struct callout_user;

/*
 * callout_node.flags of a file's slot; 0 while it is free, since a guessed handle
 * may name it. callout_file.lock protects READY, REPEAT and MOVED. The other flags
 * are constant while the slot is in use, except that SET may give the callout
 * another clock. A new callout's flags are written in the hold of the base's lock in
 * which the slot becomes pending. So no update of the byte is lost:
 *
 *	being set or freed	written by its only owner, with the base locked
 *	pending			written by SET, with the base locked
 *	ready, detached		written with callout_file.lock held
 *
 * A reader of the flags that does not exclude writers uses READ_ONCE(). REPEAT and
 * MOVED have a meaning for detached slots only: detaching a slot writes them.
 *
 * There is no bit for periodic callouts: a slot is periodic if its period is not 0,
 * which SET changes while the callout is pending, under the base's lock. The period
 * of a ready slot does not change, and the period of a detached slot changes under
 * both locks. So readers of events may read the period.
 */
#define CALLOUT_SLOT_READY	0x01	/* on the ready list */
#define CALLOUT_SLOT_REPEAT	0x02	/* detached, its reader will re-arm */
#define CALLOUT_SLOT_BOOT	0x04	/* due is in CLOCK_BOOTTIME */
#define CALLOUT_SLOT_HASHED	0x08	/* set by TIMEOUT, or with a key */
#define CALLOUT_SLOT_MOVED	0x10	/* detached, and set again since then */
#define CALLOUT_SLOT_REAL	0x20	/* due is in CLOCK_REALTIME */
#define CALLOUT_SLOT_REAL_REL	0x40	/* clock is REAL; relative, due is not */
#define CALLOUT_SLOT_REAL_ON_SET 0x60	/* REAL; a setting ends it or has */
#define CALLOUT_SLOT_REAL_MASK	0x60	/* one of these three values, or 0 */
#define CALLOUT_SLOT_ALARM	0x80	/* an alarm clock: BOOT or REAL too */

/* due is in a clock that steps. */
#define CALLOUT_SLOT_STEPS	(CALLOUT_SLOT_BOOT | CALLOUT_SLOT_REAL)
/* The callout's clock is not CLOCK_MONOTONIC. */
#define CALLOUT_SLOT_CLOCK	(CALLOUT_SLOT_BOOT | CALLOUT_SLOT_REAL_MASK | \
				 CALLOUT_SLOT_ALARM)

/*
 * Does the program see this callout, whose base is locked, as pending? A callout that is
 * detached and was set again since then counts as pending too: its reader will re-arm it
 * for the new time. It keeps both flags then, until its next event is taken. The flags
 * change under the base's lock.
 */
static inline bool co_slot_will_fire(const struct callout_slot *slot)
{
	const u8 moved = CALLOUT_SLOT_REPEAT | CALLOUT_SLOT_MOVED;

	return slot->node.state & CALLOUT_S_PENDING ||
	       (READ_ONCE(slot->node.flags) &
		(CALLOUT_SLOT_READY | moved)) == moved;
}

/* The callout's cookie. A command has no cookie: its key is in that place. */
static inline u64 co_slot_cookie(const struct callout_slot *slot)
{
	return slot->node.kind == CALLOUT_KIND_COMMAND ? 0 : slot->arg;
}

/* The counters of a file. Operations use the first CALLOUT_OP_COUNTS. */
enum callout_file_count {
	CALLOUT_FILE_SET,	/* callouts set, by SET or TIMEOUT */
	CALLOUT_FILE_CANCELLED,	/* cancelled while pending or detached */
	CALLOUT_FILE_WITHDRAWN,	/* cancelled while ready */
	CALLOUT_FILE_RESET,	/* set again by SET or MOVE */
	CALLOUT_FILE_DELIVERED,	/* events read, commands that fired */
	CALLOUT_FILE_REPEATED,	/* events read of periodic callouts */
	CALLOUT_FILE_COUNTS,
	CALLOUT_OP_COUNTS = CALLOUT_FILE_RESET + 1,
};

/* An open file of /dev/callout. */
struct callout_file {
	struct callout_table table;	/* its callouts */

	/*
	 * Events. @lock also protects READY, REPEAT and MOVED of the slots; it nests
	 * inside a base's lock.
	 */
	raw_spinlock_t lock;
	struct list_head ready;		/* fired slots, oldest first */
	unsigned int unread;		/* number of slots on @ready */
	u64 fired;			/* number of slots ever added to @ready */
	wait_queue_head_t readers;	/* exclusive waiters in read() and BATCH */
	wait_queue_head_t wait;		/* pollers */

	/* Clocks. @steps and @alarms are written with a base locked. */
	bool steps;			/* has had a callout in a clock that steps */
	bool alarms;			/* has had a callout in an alarm clock */
	unsigned int step_at;		/* the next chunk that clock.c visits; files_lock */

	/* Limits, protected by users_lock of user.c. */
	unsigned int allowed;		/* the present limit of @outstanding */
	unsigned int limit;		/* limit of @allowed */
	unsigned int charged;		/* charged to @user; @allowed unless @limit was lowered */
	struct callout_user *user;	/* the account of the user who opened the file */

	/* Counters. */
	atomic_t outstanding;		/* slots in use or reserved by a callout_op_ctx */
	atomic64_t count[CALLOUT_FILE_COUNTS];

	/* The list of open files, protected by files_lock of file.c. */
	struct list_head files;
	unsigned int visit;		/* the last co_files_visit() that has finished this file */

	/* Constant: the process that opened the file, and its name. */
	pid_t pid;
	char comm[TASK_COMM_LEN];

	struct rcu_work free;		/* frees the file after a grace period */
};

/* A snapshot of a file for fdinfo and debugfs. */
struct callout_file_info {
	u64 count[CALLOUT_FILE_COUNTS];
	u64 fired;
	unsigned int outstanding;
	unsigned int unread;
	unsigned int limit;
	pid_t pid;
	uid_t uid;
	const char *comm;	/* the file's */
};

static inline struct callout_file *co_slot_file(struct callout_slot *slot)
{
	return container_of(co_slot_table(slot), struct callout_file,
			    table);
}

/*
 * Find the @slot of a handle that a program gave, or return false. The slot may have
 * another handle now. A file keeps its chunks while it is open. Even with this handle
 * the slot may be free. If @handle is 0, the slot may also have no generations left.
 * Neither of these slots is pending, ready or detached.
 */
static __always_inline bool
co_file_find_slot(struct callout_file *file, u64 handle, struct callout_slot **slot)
{
	bool found;

	/* Begin an RCU read-side critical section for the directory. */
	preempt_disable();
	found = co_table_slot_of(&file->table, handle, true, slot);
	preempt_enable();
	/* Otherwise gcc computes the slot from the handle at each use. */
	if (likely(found))
		OPTIMIZER_HIDE_VAR(*slot);
	return found;
}

/* co_file_find_slot(); NULL if there is no such slot */
static inline struct callout_slot *co_file_slot(struct callout_file *file,
						u64 handle)
{
	struct callout_slot *slot;

	return co_file_find_slot(file, handle, &slot) ? slot : NULL;
}

/* Return the first slot of chunk @n, or NULL. */
static inline struct callout_slot *co_file_chunk(struct callout_file *file,
						 unsigned int n)
{
	return co_table_lookup(&file->table,
			       (u64)n << CALLOUT_PLACE_BITS);
}

/* Change CALLOUT_SLOT_READY, CALLOUT_SLOT_REPEAT and CALLOUT_SLOT_MOVED. */
static inline void co_slot_change_flags(struct callout_file *file,
					struct callout_slot *slot,
					u8 clear, u8 set)
{
	lockdep_assert_held(&file->lock);
	WRITE_ONCE(slot->node.flags, (slot->node.flags & ~clear) | set);
}

/* Free a slot that is neither pending nor ready. The base is locked. */
static inline void co_file_put_slot(struct callout_file *file,
				    struct callout_base *base,
				    struct callout_slot *slot)
{
	co_slot_unhash(&file->table, slot);
	WRITE_ONCE(slot->node.flags, 0);
	slot->node.kind = CALLOUT_KIND_EVENT;
	co_slot_put(&file->table, base, slot);
}

void co_file_info(struct callout_file *file,
		  struct callout_file_info *info);
struct callout_file *co_file_create(void);
void co_file_destroy(struct callout_file *file);

typedef bool callout_file_fn(struct callout_file *file, void *data);

void co_files_visit(callout_file_fn *fn, void *data);

int co_file_init(void);
void co_file_exit(void);

#endif /* _CALLOUT_DEVICE_FILE_H */
