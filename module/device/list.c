// SPDX-License-Identifier: GPL-2.0
/*
 * list.c - LIST: the outstanding callouts of a file
 *
 * A callout keeps its slot as long as it is outstanding, and LIST looks at each
 * slot once, in order, with the slot's base locked. So a callout that is
 * outstanding from the first call to the last is listed exactly once, whatever
 * happens to it between these calls.
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

/* Return the state of a slot's callout; 0 if no callout is outstanding in the slot. */
static u32 slot_state(struct callout_file *file,
		      const struct callout_slot *slot)
{
	u8 flags;

	if (co_slot_will_fire(slot))
		return CALLOUT_STATE_PENDING;
	raw_spin_lock(&file->lock);
	flags = slot->node.flags;
	raw_spin_unlock(&file->lock);
	if (flags & CALLOUT_SLOT_READY)
		return CALLOUT_STATE_UNREAD;
	/* Without REPEAT the slot is detached for the last time, or free. */
	return flags & CALLOUT_SLOT_REPEAT ? CALLOUT_STATE_READING : 0;
}

/* Does the slot have a key? Not if a reader has taken the key and could not copy the event. */
static bool slot_has_key(const struct callout_slot *slot)
{
	return co_slot_keyed(slot) && READ_ONCE(slot->node.place) == CALLOUT_HASH_IN;
}

/* Return the flags with which SET or TIMEOUT would set an equal callout. */
static u32 slot_op_flags(const struct callout_slot *slot, bool keyed)
{
	u32 op_flags = (keyed ? CALLOUT_OPF_KEY : 0) |
		       (slot->slack ? 0 : CALLOUT_OPF_EXACT);
	u8 flags = READ_ONCE(slot->node.flags);

	if (co_slot_relative(flags))
		return op_flags;
	return op_flags | CALLOUT_OPF_ABSTIME |
	       (co_slot_on_set(flags) ? CALLOUT_OPF_CANCEL_ON_SET : 0);
}

/* Fill @entry if a callout is outstanding in the slot, whose base is locked. */
static bool slot_describe(struct callout_file *file,
			  const struct callout_slot *slot, u64 now,
			  struct callout_entry *entry)
{
	/* Asked once: a reader may take the key, or give it back, at any time. */
	bool keyed = slot_has_key(slot);
	bool timeout = !co_slot_keyed(slot) &&
		       READ_ONCE(slot->node.flags) & CALLOUT_SLOT_HASHED;
	clockid_t clockid = co_slot_clock(slot);
	u64 due = co_slot_due_mono(slot);

	*entry = (struct callout_entry){
		.handle	= keyed ? co_slot_arg(slot) : slot->handle,
		.op	= timeout ? CALLOUT_OP_TIMEOUT : CALLOUT_OP_SET,
		.op_flags = slot_op_flags(slot, keyed),
		.flags	= slot->node.kind == CALLOUT_KIND_COMMAND ?
			  CALLOUT_ENTRYF_COMMAND : 0,
		.state	= slot_state(file, slot),
		.clockid = clockid,
		.due	= co_time_out(clockid, co_slot_due_clock(slot)),
		.left	= due > now ? due - now : 0,
		.period	= slot->period,
		.slack	= slot->slack,
		.cookie	= co_slot_cookie(slot),
		.func	= timeout ? co_slot_func(slot) : 0,
	};
	return entry->state;
}

/*
 * Describe the callout in the slot of @handle. Return false if it is not outstanding or,
 * unless @any, has another handle.
 */
static bool file_describe(struct callout_file *file, u64 handle, bool any,
			  struct callout_entry *entry)
{
	struct callout_slot *slot = co_file_slot(file, handle);
	struct callout_base *base;
	unsigned long flags;
	bool found;

	if (!slot)
		return false;
	base = co_lock(&slot->node, &flags);
	found = (any || slot->handle == handle) &&
		slot_describe(file, slot, ktime_get_ns(), entry);
	co_unlock(base, flags);
	return found;
}

/* Copy an entry to the end of the array. */
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
 * List callouts from list->cursor on. The cursor is the number of a slot: the lower
 * bits of its handle. Some numbers have no slot.
 */
static int list_fill(struct callout_file *file, struct callout_list *list)
{
	u64 end = (u64)READ_ONCE(file->table.nr_chunks) << CALLOUT_PLACE_BITS;
	struct callout_entry entry;

	for (; list->cursor < end && list->got < list->nr_entries;
	     list->cursor++) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (file_describe(file, list->cursor, true, &entry) &&
		    list_put(list, &entry))
			return -EFAULT;
	}
	if (list->cursor >= end)
		list->cursor = 0;
	return 0;
}

/* List the callout that list->handle or list->key names. */
static int list_one(struct callout_file *file, struct callout_list *list)
{
	bool keyed = list->flags == CALLOUT_LISTF_KEY;
	struct callout_entry entry;
	u64 handle = list->handle;

	do {
		if (keyed)
			handle = co_file_find(file, CALLOUT_KEY_FUNC, list->key);
		if (file_describe(file, handle, false, &entry))
			return list_put(list, &entry);
		/* A reader or a canceller may have been faster: search again. */
	} while (keyed && handle);
	return -ENOENT;
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
	/* With no room for entries, the next page would begin where this page did. */
	if (list.flags > CALLOUT_LISTF_KEY || !list.nr_entries ||
	    list.nr_entries > CALLOUT_BATCH_MAX ||
	    co_size_bad(list.entry_size, CALLOUT_ENTRY_SIZE_V1))
		return -EINVAL;
	list.got = 0;
	ret = list.flags ? list_one(file, &list) : list_fill(file, &list);
	if (ret)
		return ret;
	if ((!list.flags && put_user(list.cursor, &ulist->cursor)) ||
	    put_user(list.got, &ulist->got))
		return -EFAULT;
	return 0;
}
