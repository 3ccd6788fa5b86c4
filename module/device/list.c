// SPDX-License-Identifier: GPL-2.0
/*
 * list.c - GET and LIST: what is outstanding in a file
 *
 * A callout keeps its slot as long as it is outstanding, and LIST looks at each
 * slot once, in order, with the slot's base locked. So a callout that is
 * outstanding from the first call to the last is listed exactly once, whatever
 * happens to it meanwhile.
 */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <uapi/linux/callout.h>
#include "core/queue.h"
#include "clock.h"
#include "copy.h"
#include "file.h"
#include "named.h"
#include "list.h"
#include "handles/table.h"

/* Says in which state the callout of a slot is; 0 if none is outstanding. */
static u32 slot_state(struct callout_file *file,
		      const struct callout_slot *slot)
{
	u8 flags;

	if (co_slot_will_fire(slot))
		return CALLOUT_STATE_PENDING;
	/* Detached for the last time, or free, unless it has one of these. */
	raw_spin_lock(&file->lock);
	flags = slot->node.flags;
	raw_spin_unlock(&file->lock);
	return flags & (CALLOUT_SLOT_READY | CALLOUT_SLOT_REPEAT) ?
	       CALLOUT_STATE_UNREAD : 0;
}

/* Flags with which SET sets such a callout again, for struct callout_entry. */
static u32 slot_op_flags(const struct callout_slot *slot)
{
	u8 flags = READ_ONCE(slot->node.flags);

	if (co_slot_relative(flags))
		return 0;
	return co_slot_on_set(flags) ?
	       CALLOUT_ABSTIME | CALLOUT_CANCEL_ON_SET : CALLOUT_ABSTIME;
}

/* Fills @entry if a callout is outstanding in a slot, whose base is locked. */
static bool slot_describe(struct callout_file *file,
			  const struct callout_slot *slot, u64 now,
			  struct callout_entry *entry)
{
	bool hashed = READ_ONCE(slot->node.flags) & CALLOUT_SLOT_HASHED;
	bool keyed = hashed && co_slot_keyed(slot);
	clockid_t clockid = co_slot_clock(slot);
	u64 due = co_slot_due_mono(slot);

	*entry = (struct callout_entry){
		.handle	= slot->handle,
		.op	= hashed ? CALLOUT_OP_TIMEOUT : CALLOUT_OP_SET,
		.flags	= slot_op_flags(slot),
		.state	= slot_state(file, slot),
		.clockid = clockid,
		.due	= co_time_out(clockid, co_slot_due_clock(slot)),
		.left	= due > now ? due - now : 0,
		/* Its link in the hash is in the place of both. */
		.period	= hashed ? 0 : slot->period,
		.slack	= hashed ? 0 : slot->slack,
		.cookie	= slot->arg,
		.func	= co_slot_key(slot),
	};
	if (keyed) {
		entry->handle = slot->arg;
		entry->op = CALLOUT_OP_SET;
		entry->flags |= CALLOUT_KEY;
		entry->cookie = 0;
		entry->func = 0;
	}
	return entry->state;
}

/* Describes the callout with a handle; false if none is outstanding. */
static bool file_describe(struct callout_file *file, u64 handle,
			  struct callout_entry *entry)
{
	struct callout_slot *slot = co_file_slot(file, handle);
	struct callout_base *base;
	unsigned long flags;
	bool found;

	if (!slot || !handle)
		return false;
	base = co_lock(&slot->node, &flags);
	found = slot->handle == handle &&
		slot_describe(file, slot, ktime_get_ns(), entry);
	co_unlock(base, flags);
	return found;
}

/* CALLOUT_IOC_GET */
long co_ioctl_get(struct callout_file *file, size_t size,
		  struct callout_entry __user *uentry)
{
	struct callout_entry entry;
	u64 key, handle;
	int ret;

	ret = co_copy_in(&entry, sizeof(entry), uentry, size,
			 CALLOUT_ENTRY_SIZE_V1);
	if (ret)
		return ret;
	/* What another GET has written may stay. */
	if (entry.flags & ~(CALLOUT_KEY | CALLOUT_ABSTIME |
			    CALLOUT_CANCEL_ON_SET))
		return -EINVAL;
	if (entry.flags & CALLOUT_KEY) {
		key = entry.handle;
		/* A reader or a canceller may be faster: look again. */
		do {
			if (!co_file_find(file, CALLOUT_KEY_FUNC, key,
					  &handle))
				return -ENOENT;
		} while (!file_describe(file, handle, &entry));
	} else if (!file_describe(file, entry.handle, &entry)) {
		return -ENOENT;
	}
	/* More than that is 0 already. */
	return copy_to_user(uentry, &entry, min(size, sizeof(entry))) ?
	       -EFAULT : 0;
}

/* Copies an entry to the end of the array. */
static int list_put(struct callout_list *list,
		    const struct callout_entry *entry)
{
	u64 at = list->entries + (u64)list->got * list->entry_size;
	size_t known = min_t(size_t, list->entry_size, sizeof(*entry));

	if (copy_to_user(u64_to_user_ptr(at), entry, known) ||
	    clear_user(u64_to_user_ptr(at + known), list->entry_size - known))
		return -EFAULT;
	list->got++;
	return 0;
}

/*
 * Lists callouts from list->cursor on, which is the number of a slot: the lower
 * bits of its handle. Some numbers have no slot.
 */
static int list_fill(struct callout_file *file, struct callout_list *list)
{
	u64 end = (u64)READ_ONCE(file->table.nr_chunks) << CALLOUT_PLACE_BITS;
	struct callout_entry entry;
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned long flags;
	bool found;

	for (; list->cursor < end && list->got < list->nr_entries;
	     list->cursor++) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		slot = co_file_slot(file, list->cursor);
		if (!slot)
			continue;
		base = co_lock(&slot->node, &flags);
		found = slot_describe(file, slot, ktime_get_ns(), &entry);
		co_unlock(base, flags);
		if (found && list_put(list, &entry))
			return -EFAULT;
	}
	if (list->cursor >= end)
		list->cursor = 0;
	return 0;
}

/* CALLOUT_IOC_LIST */
long co_ioctl_list(struct callout_file *file, size_t size,
		   struct callout_list __user *ulist)
{
	struct callout_list list;
	int ret;

	ret = co_copy_in(&list, sizeof(list), ulist, size,
			 CALLOUT_LIST_SIZE_V1);
	if (ret)
		return ret;
	/* Without room the next page would begin where this one did. */
	if (list.flags || !list.nr_entries ||
	    list.nr_entries > CALLOUT_BATCH_MAX ||
	    co_size_bad(list.entry_size, CALLOUT_ENTRY_SIZE_V1))
		return -EINVAL;
	list.got = 0;
	ret = list_fill(file, &list);
	if (ret)
		return ret;
	if (put_user(list.cursor, &ulist->cursor) ||
	    put_user(list.got, &ulist->got))
		return -EFAULT;
	return 0;
}
