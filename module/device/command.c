// SPDX-License-Identifier: GPL-2.0
/*
 * command.c - pending commands of io_uring, which complete when their callouts fire
 *
 * A SET that creates a callout is a command that stays pending. Its callout has a
 * handle or a key like any other, and the ioctls find and move it too. But the
 * callout's kind is CALLOUT_KIND_COMMAND as long as it is pending, and its node.own
 * is the command. A pending command holds a reference of the open file, so release()
 * never finds a pending command.
 *
 * Three parties may want to end a command: expiry, a canceller, and io_uring when the
 * ring or the task exits. io_uring passes the command, not a key. The command holds
 * the handle, so io_uring's cancellation is a cancel by handle. The party that takes
 * the callout out of its base, with the base locked, owns the command, frees the slot
 * in the same hold, and completes the command when the base is unlocked:
 *
 *	CPU0: commands_expire()		CPU1: co_uring_cmd(F_CANCEL)
 *	lock(base)				lock(uring_lock)
 *	slot out of the base, freed:
 *	its handle is stale
 *	unlock(base)
 *						lock(base)
 *						another handle: not the owner
 *						unlock(base), unlock(uring_lock)
 *	task work for the command
 *						runs the task work, or fallback:
 *						io_uring_cmd_done()
 *
 * CPU1 may use the command until it has unlocked uring_lock: io_uring_cmd_done() is
 * only called with that lock held, or takes it. io_uring cancels again as long as the
 * command is not done. So it does not matter that CPU1 did nothing, even if the
 * callout was not yet set.
 */
#include "kcompat.h"

#if CALLOUT_URING

#include <linux/io_uring/cmd.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include "core/queue.h"
#include "alarm.h"
#include "clock.h"
#include "command.h"
#include "event.h"
#include "file.h"
#include "core/expiry.h"
#include "handles/table.h"

/*
 * Units of work of one command's expiry: expiry also takes the slot out of the hash
 * and frees it.
 */
#define COMMAND_UNITS	2U

unsigned long callout_command_mask __ro_after_init;

/*
 * Take the command off a callout that is no longer pending, and take the callout
 * out of the hash. The slot is an ordinary slot again. The base is locked.
 */
static struct io_uring_cmd *command_detach(struct callout_table *table,
					   struct callout_slot *slot)
{
	unsigned long masked = slot->node.own;
	struct io_uring_cmd *cmd = (void *)(masked ^ callout_command_mask);

	co_slot_unhash(table, slot);
	/* Do not write the kind before: a searcher of the hash has not locked the base. */
	slot->node.kind = CALLOUT_KIND_EVENT;
	/* The slot soon belongs to another callout. */
	WRITE_ONCE(co_to_command(cmd)->handle, 0);
	return cmd;
}

CALLOUT_URING_WORK(command_fired, 0)
CALLOUT_URING_WORK(command_cancelled, -ECANCELED)

/* Expire @n and the commands that are due next: free their slots and complete the commands. */
static unsigned int commands_expire(struct callout_base *base,
				    struct callout_node *n,
				    unsigned int *budget)
	__must_hold(&base->lock)
{
	struct io_uring_cmd *fired = NULL, **tail = &fired, *cmd;
	struct callout_slot *slot;
	struct callout_file *file;
	u64 now = ktime_get_ns(), due;
	unsigned int taken = 0;
	u8 flags = 0;

	do {
		*budget -= min(*budget, COMMAND_UNITS);
		slot = co_to_slot(n);
		file = co_slot_file(slot);
		due = co_slot_due_mono(slot);
		if (due > now) {
			/* The slot's clock is not the tick's clock, or was set back. */
			co_dequeue_locked(base, n);
			co_slot_requeue(file, base, slot,
					co_slack_tick(base, due, slot->slack,
						      now));
		} else {
			co_take_due(base, n);
			trace_callout_expire_exit(n);
			*tail = command_detach(&file->table, slot);
			tail = &co_to_command(*tail)->next;
			flags |= n->flags;
			co_file_put_slot(file, base, slot);
			atomic64_inc(&file->count[CALLOUT_FILE_DELIVERED]);
			atomic_dec(&file->outstanding);
		}
		taken++;
		if (!*budget)
			break;
		n = co_scheme_first(base, budget);
	} while (*budget && n && n->kind == CALLOUT_KIND_COMMAND);
	*tail = NULL;

	co_count_units(base, CALLOUT_BUDGET - *budget);
	co_base_unlock_irq(base);
	if (flags & CALLOUT_SLOT_ALARM)
		co_alarm_fired();
	/* A command and its file may be freed as soon as the command is handed over. */
	while ((cmd = fired)) {
		fired = co_to_command(cmd)->next;
		io_uring_cmd_do_in_task_lazy(cmd, command_fired);
	}
	co_time_passed(base, NULL);
	co_base_lock_irq(base);
	return taken;
}

static const struct callout_kind_ops kind_command = {
	.expire = commands_expire,
	.owner = co_event_owner,
};

/* Add the command of a callout that was cancelled to @list. The callout's base is locked. */
void co_command_take(struct callout_slot *slot, struct io_uring_cmd **list)
{
	struct io_uring_cmd *cmd = command_detach(co_slot_table(slot),
						  slot);

	co_to_command(cmd)->next = *list;
	*list = cmd;
}

/* Complete the commands of @list, whose callouts were cancelled. No base is locked. */
void co_commands_cancelled(struct io_uring_cmd **list)
{
	struct io_uring_cmd *cmd;

	while ((cmd = *list)) {
		*list = co_to_command(cmd)->next;
		io_uring_cmd_complete_in_task(cmd, command_cancelled);
	}
}

/* Only the wheel leaves room in the node for the command. */
bool co_command_works(struct callout_file *file)
{
	return co_is_wheel(co_base_of(file->table.class,
				      co_home_cpu()));
}

void co_command_init(void)
{
	callout_command_mask = get_random_long();
	co_register_kind(CALLOUT_KIND_COMMAND, &kind_command);
}

#endif /* CALLOUT_URING */
