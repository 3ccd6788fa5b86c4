// SPDX-License-Identifier: GPL-2.0
/*
 * dev_uring.c - commands of io_uring, which complete when their callouts fire
 *
 * BATCH is the ioctl without its wait, since io_uring can wait for a read. The
 * rest is about the other commands.
 *
 * A command takes the operation that the ioctl of the same number takes, by its
 * address: clock, slack, flags and key do not fit the 16 bytes that an entry has
 * for them, and the size in the number lets it grow alike. It must have a key: a
 * handle would come too late for an entry of the same submission.
 *
 * UNSET and RESET complete at once. SET is a command that stays: its callout has
 * a key as any other, and the ioctls find and move it too, but its kind is
 * CALLOUT_KIND_COMMAND as long as it is in the hash, and in the place of the key's
 * func, which is the same for all, it has the command. A pending command holds a
 * reference of the open file, so release() never meets one.
 *
 * Three may want to end a command: expiry, a canceller, and io_uring when the
 * ring or the task goes, which gives the command instead of a key. The command
 * has the handle, so this is a cancel by handle. Whoever takes the callout out of
 * its base, with the base locked, owns the command, frees the slot in the same
 * hold, and completes the command when the base is unlocked:
 *
 *	CPU0: callout_expire_command()		CPU1: callout_uring_cmd(F_CANCEL)
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
 * CPU1 may use the command until it has unlocked uring_lock: io_uring_cmd_done()
 * is only called with that lock held, or takes it. io_uring asks again as long as
 * the command is not done, so it does not matter that CPU1 did nothing, also if
 * the callout was not yet set.
 *
 * A command can be changed only after SET has unlocked the base. From there on SET
 * does not use it. io_uring keeps the request, and so the file, until SET returns.
 *
 * Absolute times are those of the time namespace of the thread that comes here:
 * the submitter, a worker of io_uring, or the ring's SQPOLL thread. Workers are
 * threads of the submitter's process, the last of the one that has made the ring,
 * and a process with threads cannot change that namespace. A task without
 * namespaces, which is one that exits, gets here only to cancel.
 */
#include "kcompat.h"

#if CALLOUT_URING

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/io_uring/cmd.h>
#include <linux/ioctl.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <uapi/linux/callout.h>
#include "arm.h"
#include "dev_alarm.h"
#include "dev_clock.h"
#include "dev_ctx.h"
#include "dev_file.h"
#include "dev_hash.h"
#include "dev_ioctl.h"
#include "dev_key.h"
#include "dev_op.h"
#include "dev_uring.h"
#include "expiry.h"
#include "table.h"

/* Units of work of an expiry: it also takes a slot out of the hash and frees it. */
#define COMMAND_UNITS	2U

/**
 * struct command - what a pending SET keeps in its struct io_uring_cmd
 * @next: link in a list of commands that are about to complete
 * @handle: of its callout; 0 until that is set
 */
struct command {
	struct io_uring_cmd *next;
	u64 handle;
};

static struct command *to_command(struct io_uring_cmd *cmd)
{
	return io_uring_cmd_to_pdu(cmd, struct command);
}

/*
 * Random: a slot has the address of its command xor this. In the same place other
 * slots have a number that a program has chosen, see slot.h.
 */
static unsigned long command_mask __ro_after_init;

/* Makes a callout that was just set, as one of a command, that of @cmd. Base locked. */
static void command_attach(struct io_uring_cmd *cmd, struct callout_slot *slot)
{
	slot->node.own = (unsigned long)cmd ^ command_mask;
	/* Pairs with command_cancel(). */
	WRITE_ONCE(to_command(cmd)->handle, slot->handle);
}

/*
 * Takes the command of a callout that is not pending any more, and the callout out
 * of the hash; the slot is an ordinary one again. Base locked.
 */
static __always_inline struct io_uring_cmd *
command_detach(struct callout_table *table, struct callout_slot *slot)
{
	unsigned long masked = slot->node.own;
	struct io_uring_cmd *cmd = (void *)(masked ^ command_mask);

	callout_slot_set_key(slot, CALLOUT_KEY_FUNC);
	callout_slot_unhash(table, slot);
	/* Not before: who searches the hash has not locked the base. */
	slot->node.kind = CALLOUT_KIND_EVENT;
	/* The slot is another's soon. */
	WRITE_ONCE(to_command(cmd)->handle, 0);
	return cmd;
}

CALLOUT_URING_WORK(command_fired, 0)
CALLOUT_URING_WORK(command_cancelled, -ECANCELED)

/* Frees the slots of @n, and of those that are due next; completes commands. */
static unsigned int callout_expire_command(struct callout_base *base,
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
		slot = callout_to_slot(n);
		file = callout_slot_file(slot);
		due = callout_slot_due_mono(slot);
		if (unlikely(due > now)) {
			/* Its clock is not the tick's, or was set back. */
			callout_dequeue_locked(base, n);
			callout_slot_refile(file, base, slot,
					    callout_from_ns(base, due, now));
		} else {
			callout_take_due(base, n);
			trace_callout_expire_exit(n);
			*tail = command_detach(&file->table, slot);
			tail = &to_command(*tail)->next;
			flags |= n->flags;
			WRITE_ONCE(n->flags, 0);
			callout_slot_put(&file->table, base, slot);
			atomic64_inc(&file->count[CALLOUT_FILE_DELIVERED]);
			atomic_dec(&file->outstanding);
		}
		taken++;
		if (!*budget)
			break;
		n = callout_scheme_first(base, budget);
	} while (*budget && n && n->kind == CALLOUT_KIND_COMMAND);
	*tail = NULL;

	callout_count_units(base, CALLOUT_BUDGET - *budget);
	callout_base_unlock_irq(base);
	if (unlikely(flags & CALLOUT_SLOT_ALARM))
		callout_alarm_fired();
	/* A command, and its file, may be gone as soon as it is handed over. */
	while ((cmd = fired)) {
		fired = to_command(cmd)->next;
		io_uring_cmd_do_in_task_lazy(cmd, command_fired);
	}
	callout_time_passed(base, NULL);
	callout_base_lock_irq(base);
	return taken;
}

static const struct callout_kind_ops kind_command = {
	.expire = callout_expire_command,
};

/* A callout with a command was cancelled; its base is locked. */
void callout_uring_take(struct callout_slot *slot, struct callout_op_ctx *ctx)
{
	struct io_uring_cmd *cmd = command_detach(callout_slot_table(slot),
						  slot);

	to_command(cmd)->next = ctx->commands;
	ctx->commands = cmd;
}

/* Completes commands whose callouts were cancelled; no base is locked. */
void callout_uring_cancelled(struct callout_op_ctx *ctx)
{
	struct io_uring_cmd *cmd;

	while ((cmd = ctx->commands)) {
		ctx->commands = to_command(cmd)->next;
		io_uring_cmd_complete_in_task(cmd, command_cancelled);
	}
}

/* Only the wheel leaves room for the command. */
bool callout_uring_works(struct callout_file *file)
{
	return callout_is_wheel(callout_base_of(file->table.class,
						callout_home_cpu()));
}

/* SET: the command completes when its callout fires, or is cancelled. */
static __always_inline int command_set(struct callout_file *file,
				       const struct callout_op *op,
				       struct io_uring_cmd *cmd,
				       unsigned int issue_flags)
{
	struct callout_op_ctx ctx = {};
	struct callout_slot *slot;
	int ret = 0;

	if (!callout_uring_works(file))
		return -EOPNOTSUPP;
	WRITE_ONCE(to_command(cmd)->handle, 0);
	/* It may be done at once, which undoes this. */
	io_uring_cmd_mark_cancelable(cmd, issue_flags);
	slot = callout_file_set_keyed(file, op, CALLOUT_KIND_COMMAND, &ctx);
	if (!IS_ERR(slot)) {
		command_attach(cmd, slot);
	} else {
		ret = PTR_ERR(slot);
		callout_ctx_unlock(&ctx);
		/* That one has the key comes first. */
		if (callout_file_lock_found(file, &ctx, CALLOUT_KEY_FUNC,
					    op->handle))
			ret = -EEXIST;
	}
	callout_ctx_flush(file, &ctx);
	if (unlikely(ret))
		callout_uring_done(cmd, ret, issue_flags);
	return -EIOCBQUEUED;
}

/* Do two commands belong to one ring? */
static bool commands_share_ring(struct io_uring_cmd *a, struct io_uring_cmd *b)
{
	return cmd_to_io_kiocb(a)->ctx == cmd_to_io_kiocb(b)->ctx;
}

/*
 * UNSET and RESET. Returns as the ioctls. With the ring locked, a command of the
 * same ring that was cancelled completes here, which saves the task work.
 */
static __always_inline int command_change(struct callout_file *file,
					  struct callout_op *op,
					  struct io_uring_cmd *cmd,
					  unsigned int issue_flags)
{
	struct callout_op_ctx ctx = {};
	struct io_uring_cmd *other;
	int ret;

	if (op->op == CALLOUT_OP_UNSET)
		ret = callout_file_unset_named(file, CALLOUT_KEY_FUNC,
					       op->handle, &ctx);
	else
		ret = callout_file_key(file, op, &ctx);
	callout_ctx_unlock(&ctx);
	other = ctx.commands;
	if (other && issue_flags & IO_URING_F_COMPLETE_DEFER &&
	    commands_share_ring(other, cmd)) {
		ctx.commands = NULL;
		callout_uring_done(other, -ECANCELED, issue_flags);
	}
	callout_ctx_flush(file, &ctx);
	return ret;
}

/* Is the command the first of those that io_uring asks to be cancelled? */
static bool command_is_first(struct io_uring_cmd *cmd)
{
	struct io_kiocb *req = cmd_to_io_kiocb(cmd);

	return req->ctx->cancelable_uring_cmd.first == &req->hash_node;
}

/*
 * The ring or the task of a pending SET goes. Called again, for all commands of
 * the ring and without a pause, until they are done. If somebody else owns one,
 * that waits for its task, which may be stopped: sleep, once for all of them.
 */
static noinline int command_cancel(struct callout_file *file,
				   struct io_uring_cmd *cmd,
				   unsigned int issue_flags)
{
	struct callout_op_ctx ctx = {};
	struct callout_op unset = {};

	/* There may be millions. */
	cond_resched();
	/* Pairs with command_attach(). */
	unset.handle = READ_ONCE(to_command(cmd)->handle);
	if (callout_file_unset(file, &unset, &ctx) != CALLOUT_CANCELLED) {
		callout_ctx_flush(file, &ctx);
		if (command_is_first(cmd))
			schedule_timeout_uninterruptible(1);
		return 0;
	}
	ctx.commands = NULL;
	callout_ctx_flush(file, &ctx);
	callout_uring_done(cmd, -ECANCELED, issue_flags);
	return 0;
}

/* Are members of a submission set that no command uses? */
static bool sqe_bad(const struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	const struct io_uring_sqe *sqe = cmd->sqe;
	const u64 *more = (const u64 *)sqe->cmd;

	/* A long entry is followed by as many bytes more. */
	if (unlikely(issue_flags & IO_URING_F_SQE128) &&
	    memchr_inv(sqe + 1, 0, sizeof(*sqe)))
		return true;
	return ((cmd->flags & IORING_URING_CMD_MASK) | READ_ONCE(sqe->len) |
		READ_ONCE(sqe->buf_index) | READ_ONCE(sqe->file_index) |
		READ_ONCE(more[0]) | READ_ONCE(more[1])) != 0;
}

/* A command that is none of SET, UNSET and RESET. */
static noinline int command_batch(struct callout_file *file,
				  const struct io_uring_cmd *cmd,
				  unsigned int issue_flags)
{
	if ((cmd->cmd_op & ~IOCSIZE_MASK) !=
	    (CALLOUT_IOC_BATCH & ~IOCSIZE_MASK))
		return -ENOTTY;
	if (sqe_bad(cmd, issue_flags))
		return -EINVAL;
	return callout_ioctl_batch(file, cmd->file->f_mode,
				   _IOC_SIZE(cmd->cmd_op),
				   u64_to_user_ptr(READ_ONCE(cmd->sqe->addr)),
				   false);
}

/* file_operations.uring_cmd. May sleep, also if IO_URING_F_NONBLOCK is set. */
int callout_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	struct callout_file *file = cmd->file->private_data;
	unsigned int nr = _IOC_NR(cmd->cmd_op);
	size_t size = _IOC_SIZE(cmd->cmd_op);
	struct callout_op __user *uop;
	struct callout_op op __uninitialized;
	int ret;

	if (unlikely(issue_flags & IO_URING_F_CANCEL))
		return command_cancel(file, cmd, issue_flags);
	/* The three are one after the other. */
	if ((cmd->cmd_op & ~IOCSIZE_MASK) < (CALLOUT_IOC_SET & ~IOCSIZE_MASK) ||
	    (cmd->cmd_op & ~IOCSIZE_MASK) > (CALLOUT_IOC_RESET & ~IOCSIZE_MASK))
		return command_batch(file, cmd, issue_flags);
	if (unlikely(!(cmd->file->f_mode & FMODE_WRITE)))
		return -EBADF;
	if (unlikely(sqe_bad(cmd, issue_flags)))
		return -EINVAL;
	uop = u64_to_user_ptr(READ_ONCE(cmd->sqe->addr));
	ret = callout_op_get_keyed(&op, nr, size, uop);
	if (unlikely(ret))
		return ret;
	if (nr == CALLOUT_OP_SET)
		return command_set(file, &op, cmd, issue_flags);
	ret = command_change(file, &op, cmd, issue_flags);
	if (nr == CALLOUT_OP_RESET && ret > 0 &&
	    unlikely(put_user(op.left, &uop->left)))
		return -EFAULT;
	return ret;
}

void callout_uring_init(void)
{
	command_mask = get_random_long();
	callout_register_kind(CALLOUT_KIND_COMMAND, &kind_command);
}

#endif /* CALLOUT_URING */
