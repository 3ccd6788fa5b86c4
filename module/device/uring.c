// SPDX-License-Identifier: GPL-2.0
/*
 * uring.c - commands of io_uring: the submission side
 *
 * BATCH is the ioctl without its wait, since io_uring can wait for a read. The rest
 * of this file is about OP; command.c completes the pending commands.
 *
 * A command takes the structure that the ioctl takes, by its address: clock, slack,
 * flags and key do not fit in the 16 bytes that an entry has for them, and the size
 * in the ioctl number lets the structure grow in the same way. A handle comes too
 * late for another entry of the same submission; a key does not.
 *
 * A command can be changed only after SET has unlocked the base. From then on SET
 * does not use the command. io_uring keeps the request, and so the file, until SET
 * returns.
 *
 * Absolute times are in the time namespace of the thread that runs this code: the
 * submitter, a worker of io_uring, or the ring's SQPOLL thread. Workers are threads
 * of the submitter's process. The SQPOLL thread is a thread of the process that has
 * created the ring. A process with threads cannot change its time namespace. A task
 * without namespaces is exiting, and runs this code only to cancel.
 */
#include "kcompat.h"

#if CALLOUT_URING

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/io_uring/cmd.h>
#include <linux/ioctl.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <uapi/linux/callout.h>
#include "cancel.h"
#include "command.h"
#include "ctx.h"
#include "file.h"
#include "ioctl.h"
#include "set.h"
#include "uring.h"

/*
 * SET without a key that creates a callout: copy its handle out before it can fire.
 * Return the slot, with its base locked, or an error.
 */
static struct callout_slot *command_make(struct callout_file *file,
					 const struct callout_op *op,
					 struct callout_op __user *uop,
					 struct callout_op_ctx *ctx)
{
	struct callout_slot *slot = co_file_take(file, ctx);
	u64 handle;
	bool bad;

	if (IS_ERR(slot))
		return slot;
	handle = slot->handle;
	co_ctx_sleep(ctx);
	bad = put_user(handle, &uop->handle);
	co_ctx_lock(ctx, &slot->node);
	if (bad) {
		co_file_give(file, slot, ctx);
		return ERR_PTR(-EFAULT);
	}
	co_file_start_command(file, slot, op, ctx);
	return slot;
}

/* SET that creates a callout: the command completes when that callout fires or is cancelled. */
static int command_set(struct callout_file *file,
		       const struct callout_op *op,
		       struct callout_op __user *uop,
		       struct io_uring_cmd *cmd,
		       unsigned int issue_flags)
{
	struct callout_op_ctx ctx = {};
	struct callout_slot *slot;

	if (!co_command_works(file))
		return -EOPNOTSUPP;
	WRITE_ONCE(co_to_command(cmd)->handle, 0);
	/* The command may complete at once, which undoes this mark. */
	io_uring_cmd_mark_cancelable(cmd, issue_flags);
	slot = op->flags & CALLOUT_OPF_KEY ?
	       co_file_set_keyed(file, op, CALLOUT_KIND_COMMAND, &ctx) :
	       command_make(file, op, uop, &ctx);
	if (!IS_ERR(slot))
		co_command_attach(cmd, slot);
	co_ctx_flush(file, &ctx);
	if (IS_ERR(slot))
		co_uring_done(cmd, PTR_ERR(slot), issue_flags);
	return -EIOCBQUEUED;
}

/*
 * CANCEL, MOVE, and SET of an outstanding callout. Return values as for the ioctl.
 * With the ring locked, a cancelled command of the same ring completes here, which
 * saves the task work.
 */
static int command_change(struct callout_file *file,
			  struct callout_op *op,
			  struct io_uring_cmd *cmd,
			  unsigned int issue_flags)
{
	struct callout_op_ctx ctx = {};
	struct io_uring_cmd *other;
	int ret;

	ret = co_op_do(file, op, &ctx);
	co_ctx_unlock(&ctx);
	other = ctx.commands;
	if (other && issue_flags & IO_URING_F_COMPLETE_DEFER &&
	    cmd_to_io_kiocb(other)->ctx == cmd_to_io_kiocb(cmd)->ctx) {
		ctx.commands = NULL;
		co_uring_done(other, -ECANCELED, issue_flags);
	}
	co_ctx_flush(file, &ctx);
	return ret;
}

/*
 * Cancel a pending SET whose ring or task exits. io_uring calls this again, for all
 * commands of the ring and without a pause, until they are done. If another party
 * owns a command, the command waits for its task, which may be stopped: sleep, once
 * for all commands. The task itself, if it is this one, completes them after a tick.
 */
static int command_cancel(struct callout_file *file,
			  struct io_uring_cmd *cmd,
			  unsigned int issue_flags)
{
	struct io_kiocb *req = cmd_to_io_kiocb(cmd);
	struct callout_op_ctx ctx = {};
	callout_handle_t handle;
	int ret = 0;

	/* There may be millions of commands. */
	cond_resched();
	/* Pairs with co_command_attach(). It is 0 if another party owns the command. */
	handle = READ_ONCE(co_to_command(cmd)->handle);
	if (handle)
		ret = co_file_cancel(file, handle, &ctx);
	/* The list has this command, if it is this function that has cancelled it. */
	ctx.commands = NULL;
	co_ctx_flush(file, &ctx);
	if (ret == CALLOUT_STATE_PENDING)
		co_uring_done(cmd, -ECANCELED, issue_flags);
	else if (req->ctx->cancelable_uring_cmd.first == &req->hash_node)
		schedule_timeout_uninterruptible(current->flags & PF_KTHREAD ?
						 HZ / 20 : 1);
	return 0;
}

/* Does a submission set members that no command uses? */
static bool sqe_bad(const struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	const struct io_uring_sqe *sqe = cmd->sqe;
	const u64 *more = (const u64 *)sqe->cmd;

	/* A long entry has as many further bytes. */
	if (issue_flags & IO_URING_F_SQE128 &&
	    memchr_inv(sqe + 1, 0, sizeof(*sqe)))
		return true;
	return ((cmd->flags & IORING_URING_CMD_MASK) | READ_ONCE(sqe->len) |
		READ_ONCE(sqe->buf_index) | READ_ONCE(sqe->file_index) |
		READ_ONCE(more[0]) | READ_ONCE(more[1])) != 0;
}

static int command_op(struct callout_file *file, struct io_uring_cmd *cmd,
		      struct callout_op __user *uop, unsigned int issue_flags)
{
	struct callout_op op __uninitialized;
	int ret;

	ret = co_op_get_command(&op, _IOC_SIZE(cmd->cmd_op), uop);
	if (ret)
		return ret;
	if (co_op_makes(&op))
		return command_set(file, &op, uop, cmd, issue_flags);
	ret = command_change(file, &op, cmd, issue_flags);
	if (op.op != CALLOUT_OP_CANCEL && ret > 0 && put_user(op.left, &uop->left))
		return -EFAULT;
	return ret;
}

/* file_operations.uring_cmd. May sleep, even if IO_URING_F_NONBLOCK is set. */
int co_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	struct callout_file *file = cmd->file->private_data;
	unsigned int number = cmd->cmd_op & ~IOCSIZE_MASK;
	void __user *uarg;

	if (issue_flags & IO_URING_F_CANCEL)
		return command_cancel(file, cmd, issue_flags);
	if (number != (CALLOUT_IOC_OP & ~IOCSIZE_MASK) &&
	    number != (CALLOUT_IOC_BATCH & ~IOCSIZE_MASK))
		return -ENOTTY;
	if (sqe_bad(cmd, issue_flags))
		return -EINVAL;
	uarg = u64_to_user_ptr(READ_ONCE(cmd->sqe->addr));
	if (number == (CALLOUT_IOC_BATCH & ~IOCSIZE_MASK))
		return co_ioctl_batch(file, _IOC_SIZE(cmd->cmd_op), uarg, false);
	return command_op(file, cmd, uarg, issue_flags);
}

#endif /* CALLOUT_URING */
