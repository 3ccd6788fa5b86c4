// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl.c - arguments of ioctls: checked, copied in and out
 *
 * The operations of a batch are copied in, executed and copied out a few at a time.
 * These few operations share one copy, one read of the clock, holds of a base's
 * lock, and one update of the file's counters.
 */
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <uapi/linux/callout.h>
#include "alarm.h"
#include "cancel.h"
#include "clock.h"
#include "copy.h"
#include "ctx.h"
#include "event.h"
#include "file.h"
#include "ioctl.h"
#include "key.h"
#include "set.h"
#include "user.h"
#include "wait.h"
#include "kcompat.h"

/* The number of a batch's operations executed at a time; they are on the stack. */
#define BATCH_OPS		16U

/* A bit for each opcode that sets a callout. */
#define SETS		(1U << CALLOUT_OP_SET | 1U << CALLOUT_OP_TIMEOUT)

/* The flags that say which callout SET names. */
#define NAMING		(CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_NEW | \
			 CALLOUT_OPF_ONLY_OLD)

/* Does the operation write the time that was left? */
static inline bool op_writes_left(const struct callout_op *op)
{
	return op->op == CALLOUT_OP_MOVE ||
	       (op->op == CALLOUT_OP_SET && op->flags & NAMING &&
		!(op->flags & CALLOUT_OPF_ONLY_NEW));
}

/* Does the operation write a handle? */
static inline bool op_writes_handle(const struct callout_op *op)
{
	return (op->op == CALLOUT_OP_SET && !(op->flags & NAMING)) ||
	       op->op == CALLOUT_OP_TIMEOUT;
}

static inline bool op_numbers_bad(const struct callout_op *op)
{
	/* The sign bit: more than KTIME_MAX. */
	return (s64)(op->time | op->period | op->slack) < 0;
}

static bool op_clock_bad(const struct callout_op *op)
{
	return !co_clock_is_valid(co_clock_plain(op->clockid));
}

static bool op_slack_bad(const struct callout_op *op)
{
	return op->flags & CALLOUT_OPF_EXACT && op->slack;
}

/* Give a SET or TIMEOUT without slack the default slack. */
static inline void op_default_slack(struct callout_op *op)
{
	if (likely(!op->slack) && !(op->flags & CALLOUT_OPF_EXACT))
		op->slack = callout_slack_ns;
}

/* Do the flags of a SET contradict each other or its other members? */
static bool op_flags_bad(const struct callout_op *op)
{
	if (op->flags & ~(NAMING | CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET |
			  CALLOUT_OPF_EXACT) || op_slack_bad(op))
		return true;
	if (op->flags & CALLOUT_OPF_ONLY_NEW &&
	    (op->flags & NAMING) != (CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_NEW))
		return true;
	return op->flags & CALLOUT_OPF_CANCEL_ON_SET &&
	       (co_clock_plain(op->clockid) != CLOCK_REALTIME ||
		!(op->flags & CALLOUT_OPF_ABSTIME) || op->period);
}

/* Is a SET wrong, whatever the state of its callout? */
static bool op_set_bad(const struct callout_op *op)
{
	return op_numbers_bad(op) || op_flags_bad(op) || op_clock_bad(op) ||
	       (op->func && !op_writes_left(op));
}

static inline bool op_times_given(const struct callout_op *op)
{
	return (op->clockid | op->time | op->period | op->slack) != 0;
}

/* Does a MOVE have more than a name and a time? */
static inline bool op_move_bad(const struct callout_op *op)
{
	return op_numbers_bad(op) ||
	       (op->flags & ~(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME)) ||
	       (op->clockid | op->period | op->slack | op->cookie) != 0;
}

/* Does a CANCEL have more than a name? */
static inline bool op_cancel_bad(const struct callout_op *op)
{
	return op_times_given(op) | ((op->flags & ~CALLOUT_OPF_KEY) != 0) |
	       ((op->cookie | op->func) != 0);
}

/* May the caller use the clock of an operation? Return values as for co_alarm_permit(). */
static int op_permit(const struct callout_op *op, struct callout_op_ctx *ctx)
{
	if (likely(!co_clock_is_alarm(op->clockid)))
		return 0;
	co_ctx_sleep(ctx);
	return co_alarm_permit(op->clockid);
}

/* SET with a flag that names a callout, or in a clock other than CLOCK_MONOTONIC. */
static noinline int op_set_rare(struct callout_file *file, struct callout_op *op,
				struct callout_op_ctx *ctx)
{
	int ret;

	if (op_set_bad(op))
		return -EINVAL;
	ret = op_permit(op, ctx);
	if (ret)
		return ret;
	op_default_slack(op);
	if (op->flags & CALLOUT_OPF_KEY)
		return co_file_set_key(file, op, ctx);
	return op->flags & CALLOUT_OPF_ONLY_OLD ?
	       co_file_move(file, op, op->handle, ctx) :
	       co_file_set(file, op, ctx);
}

static noinline int op_timeout(struct callout_file *file, struct callout_op *op,
			       struct callout_op_ctx *ctx)
{
	int ret;

	if (op_numbers_bad(op) || op_clock_bad(op) || op->period ||
	    op->flags & ~(CALLOUT_OPF_ABSTIME | CALLOUT_OPF_EXACT) ||
	    op_slack_bad(op) || op->func == CALLOUT_KEY_FUNC)
		return -EINVAL;
	op_default_slack(op);
	ret = op_permit(op, ctx);
	return ret ? ret : co_file_set(file, op, ctx);
}

/*
 * Do one operation. Members that it neither uses nor writes must be 0. The three most
 * frequent opcodes come first.
 */
int co_op_do(struct callout_file *file, struct callout_op *op,
	     struct callout_op_ctx *ctx)
{
	switch (op->op) {
	case CALLOUT_OP_SET:
		if (likely(!(op->flags & ~CALLOUT_OPF_ABSTIME) &&
			   op->clockid == CLOCK_MONOTONIC &&
			   !op_numbers_bad(op) && !op->func)) {
			op_default_slack(op);
			return co_file_set(file, op, ctx);
		}
		return op_set_rare(file, op, ctx);
	case CALLOUT_OP_MOVE:
		if (unlikely(op_move_bad(op)))
			return -EINVAL;
		if (likely(!(op->flags & CALLOUT_OPF_KEY)))
			return co_file_move(file, op, op->handle, ctx);
		return co_file_set_key(file, op, ctx);
	case CALLOUT_OP_CANCEL:
		if (unlikely(op_cancel_bad(op)))
			return -EINVAL;
		if (likely(!op->flags))
			return co_file_cancel(file, op->handle, ctx);
		return co_file_cancel_named(file, CALLOUT_KEY_FUNC, op->key, ctx);
	case CALLOUT_OP_TIMEOUT:
		return op_timeout(file, op, ctx);
	case CALLOUT_OP_UNTIMEOUT:
		if (op->flags || op_times_given(op) || op->func == CALLOUT_KEY_FUNC)
			return -EINVAL;
		return co_file_untimeout(file, op, ctx);
	default:
		return -EINVAL;
	}
}

/*
 * Cancel a callout whose handle could not be copied out. Do not use it for a
 * callout with a key: that callout's handle is not copied out, and another thread
 * may have moved it.
 */
static void op_undo(struct callout_file *file, const struct callout_op *op,
		    struct callout_op_ctx *ctx)
{
	co_file_cancel(file, op->handle, ctx);
	co_ctx_unlock(ctx);
}

/* Copy out the members that an operation writes if it succeeds. */
static inline int op_put(const struct callout_op *op, struct callout_op __user *uop)
{
	if (op_writes_handle(op))
		return put_user(op->handle, &uop->handle);
	if (op_writes_left(op))
		return put_user(op->left, &uop->left);
	return 0;
}

/*
 * Copy an operation in. Fail early if the members that it writes cannot be written,
 * by writing back the same value. Copying word by word takes 30 fewer instructions
 * than a call.
 */
static __always_inline int op_copy_in(struct callout_op *op, size_t size,
				      struct callout_op __user *uop)
{
	unsigned int i;
	int ret;

	if (unlikely(size != sizeof(*op))) {
		ret = co_copy_in(op, sizeof(*op), uop, size, CALLOUT_OP_SIZE_V1);
		return ret ? ret : op_put(op, uop);
	}
	if (!user_access_begin(uop, sizeof(*op)))
		return -EFAULT;
#pragma GCC unroll 8
	for (i = 0; i < sizeof(*op) / sizeof(u64); i++)
		unsafe_get_user(((u64 *)op)[i], (u64 __user *)uop + i, fault);
	if (op_writes_handle(op))
		unsafe_put_user(op->handle, &uop->handle, fault);
	else if (op_writes_left(op))
		unsafe_put_user(op->left, &uop->left, fault);
	user_access_end();
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/* Does an operation of an io_uring command create a callout? */
bool co_op_makes(const struct callout_op *op)
{
	return op->op == CALLOUT_OP_SET && !(op->flags & CALLOUT_OPF_ONLY_OLD);
}

/*
 * Copy in the operation of an io_uring command. Check it if it creates a callout;
 * co_op_do() checks the other operations. Return 0, -EINVAL, -E2BIG, -EFAULT, or a
 * value of co_alarm_permit().
 */
int co_op_get_command(struct callout_op *op, size_t size,
		      struct callout_op __user *uop)
{
	int ret = op_copy_in(op, size, uop);

	if (unlikely(ret))
		return ret;
	if (!co_op_makes(op))
		return op->op == CALLOUT_OP_SET || op->op == CALLOUT_OP_MOVE ||
		       op->op == CALLOUT_OP_CANCEL ? 0 : -EINVAL;
	/* The command completes at once, or when its callout fires, and has no event. */
	if (op_set_bad(op) || (op->flags & NAMING) == CALLOUT_OPF_KEY || op->period ||
	    op->cookie || op->flags & CALLOUT_OPF_CANCEL_ON_SET)
		return -EINVAL;
	op_default_slack(op);
	return co_alarm_permit(op->clockid);
}

/* CALLOUT_IOC_OP */
long co_ioctl_op(struct callout_file *file, size_t size,
		 struct callout_op __user *uop)
{
	struct callout_op op __uninitialized;
	struct callout_op_ctx ctx = {};
	int ret;

	ret = op_copy_in(&op, size, uop);
	if (unlikely(ret))
		return ret;
	ret = co_op_do(file, &op, &ctx);
	co_ctx_unlock(&ctx);
	if (likely(ret >= 0) && unlikely(op_put(&op, uop))) {
		if (op_writes_handle(&op))
			op_undo(file, &op, &ctx);
		ret = -EFAULT;
	}
	co_ctx_count(file, &ctx);
	return ret;
}

static struct callout_op __user *batch_place(const struct callout_batch *batch,
					     unsigned int i)
{
	return u64_to_user_ptr(batch->ops + (u64)i * batch->op_size);
}

/*
 * Copy up to @n operations in. Return the number of copied operations, or an error
 * if there are none.
 */
static int batch_copy_in(const struct callout_batch *batch,
			 struct callout_op *op, unsigned int n)
{
	unsigned long left;
	int ret;

	if (unlikely(batch->op_size != sizeof(*op))) {
		ret = copy_struct_from_user(op, sizeof(*op),
					    batch_place(batch, batch->done),
					    batch->op_size);
		return ret ? ret : 1;
	}
	left = copy_from_user(op, batch_place(batch, batch->done),
			      n * sizeof(*op));
	n -= DIV_ROUND_UP(left, sizeof(*op));
	return n ? n : -EFAULT;
}

/* Copy all results out. Return false if one cannot be written. */
static bool batch_put_all(const struct callout_batch *batch, unsigned int first,
			  const struct callout_op *op, unsigned int n)
{
	struct callout_op __user *uop = batch_place(batch, first);
	unsigned int i;

	if (unlikely(batch->op_size != sizeof(*op)) ||
	    !user_write_access_begin(uop, n * sizeof(*uop)))
		return false;
	for (i = 0; i < n; i++) {
		if (unlikely(op[i].result < 0))
			;
		else if (op_writes_handle(&op[i]))
			unsafe_put_user(op[i].handle, &uop[i].handle, fault);
		else if (op_writes_left(&op[i]))
			unsafe_put_user(op[i].left, &uop[i].left, fault);
		unsafe_put_user(op[i].result, &uop[i].result, fault);
	}
	user_write_access_end();
	return true;
fault:
	user_write_access_end();
	return false;
}

/* Copy one result out. If it cannot be written, the operation has failed: return -EFAULT. */
static int batch_put_one(struct callout_file *file,
			 struct callout_batch *batch,
			 struct callout_op __user *uop,
			 const struct callout_op *op,
			 struct callout_op_ctx *ctx)
{
	/* Write the result last: 0 says that the handle is valid. */
	if ((op->result < 0 || !op_put(op, uop)) &&
	    !put_user(op->result, &uop->result))
		return 0;
	if (!op->result && op_writes_handle(op))
		op_undo(file, op, ctx);
	batch->failed += op->result >= 0;
	return -EFAULT;
}

/* Copy results out one by one. Return 0, or -EFAULT if a result cannot be written. */
static noinline int batch_put_each(struct callout_file *file,
				   struct callout_batch *batch,
				   unsigned int first,
				   const struct callout_op *op, unsigned int n)
{
	struct callout_op_ctx ctx = {};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n; i++)
		if (batch_put_one(file, batch, batch_place(batch, first + i),
				  &op[i], &ctx))
			ret = -EFAULT;
	co_ctx_count(file, &ctx);
	return ret;
}

/* Count an operation that has failed. Does the batch stop at it? */
static bool batch_stops(struct callout_batch *batch)
{
	batch->failed++;
	return batch->flags & CALLOUT_BATCHF_STOP;
}

/*
 * Do some operations. Return 0; an error, which ends the batch; or 1 if the batch
 * stops at an operation that failed.
 */
static noinline int batch_do_some(struct callout_file *file,
				  struct callout_batch *batch)
{
	unsigned int first = batch->done, i, done;
	struct callout_op_ctx ctx = {};
	struct callout_op op[BATCH_OPS] __uninitialized, *at;
	int n, ret = 0;

	n = batch_copy_in(batch, op, min(batch->nr_ops - first, BATCH_OPS));
	if (n == -E2BIG) {
		/* -E2BIG is the error of one operation: only that operation was not copied. */
		op[0].result = -E2BIG;
		batch->done++;
		done = 1;
		ret = batch_stops(batch);
		goto put;
	}
	if (n < 0)
		return n;

	/*
	 * A batch that begins by cancelling reuses the slots of the cancelled
	 * callouts. The count may include an operation that is wrong or that moves
	 * the callout with its key: then one slot too many is reserved for a while.
	 */
	if (op_writes_handle(&op[0]))
		for (i = 1; i < n; i++)
			ctx.ahead += SETS >> op[i].op % 32 & 1;
	for (at = op; at < op + n; at++) {
		int result = co_op_do(file, at, &ctx);

		at->result = result;
		if (unlikely(result < 0) && batch_stops(batch)) {
			at++;
			ret = 1;
			break;
		}
	}
	done = at - op;
	batch->done += done;
	co_ctx_unlock(&ctx);
	/* Update the counters now: writing the results may take long. */
	co_ctx_count(file, &ctx);
put:
	if (!batch_put_all(batch, first, op, done) &&
	    batch_put_each(file, batch, first, op, done))
		ret = -EFAULT;
	return ret;
}

static int batch_do(struct callout_file *file, struct callout_batch *batch)
{
	int ret = 0;

	while (batch->done < batch->nr_ops && !ret) {
		ret = batch_do_some(file, batch);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return ret;
}

/* Read events. If the batch says so, wait for them, with @mask. */
static int batch_read(struct callout_file *file, struct callout_batch *batch,
		      const sigset_t *mask)
{
	bool wait = batch->flags & CALLOUT_BATCHF_WAIT;
	struct read_deadline deadline;
	struct iov_iter to;
	ssize_t ret;

	if (wait)
		co_wait_begin(batch, mask, &deadline);
	iov_iter_ubuf(&to, ITER_DEST, u64_to_user_ptr(batch->events),
		      batch->nr_events * sizeof(struct callout_event));
	ret = co_file_read(file, &to, wait ? &deadline : NULL);
	if (wait)
		co_wait_end(batch, ret == -ERESTARTSYS);
	if (ret < 0)
		/* A restart would repeat the operations. */
		return ret == -ERESTARTSYS ? -EINTR : ret;
	batch->got = ret / sizeof(struct callout_event);
	return 0;
}

static int batch_check(const struct callout_batch *batch, bool may_wait)
{
	return batch->flags & ~(CALLOUT_BATCHF_STOP | CALLOUT_BATCHF_WAIT |
				CALLOUT_BATCHF_ABSTIME) ||
	       batch->nr_ops > CALLOUT_BATCH_MAX ||
	       batch->nr_events > CALLOUT_BATCH_MAX ||
	       co_size_bad(batch->op_size, CALLOUT_OP_SIZE_V1) ||
	       (batch->flags & CALLOUT_BATCHF_WAIT && !may_wait) ?
	       -EINVAL : 0;
}

/* Copy the counts of a batch out. */
static int batch_copy_out(const struct callout_batch *batch,
			  struct callout_batch __user *ubatch)
{
	return put_user(batch->done, &ubatch->done) ||
	       put_user(batch->failed, &ubatch->failed) ||
	       put_user(batch->got, &ubatch->got) ? -EFAULT : 0;
}

/* CALLOUT_IOC_BATCH, which may wait for events if @may_wait is true. */
long co_ioctl_batch(struct callout_file *file, size_t size,
		    struct callout_batch __user *ubatch, bool may_wait)
{
	struct callout_batch batch;
	sigset_t mask;
	int ret;

	ret = co_copy_in(&batch, sizeof(batch), ubatch, size,
			 CALLOUT_BATCH_SIZE_V1);
	if (ret)
		return ret;
	batch.done = 0;
	batch.failed = 0;
	batch.got = 0;
	/* Fail early if the counts cannot be copied out. */
	ret = batch_copy_out(&batch, ubatch);
	if (!ret)
		ret = batch_check(&batch, may_wait);
	if (!ret)
		ret = co_wait_check(&batch, &mask);
	if (ret)
		return ret;

	ret = batch_do(file, &batch);
	/* Do not wait for events if the batch stopped at an operation that failed. */
	if (!ret && batch.nr_events)
		ret = batch_read(file, &batch, &mask);
	else
		ret = min(ret, 0);
	if (batch_copy_out(&batch, ubatch))
		return -EFAULT;
	return ret;
}

long co_ioctl_limit(struct callout_file *file, size_t size,
		    const struct callout_limit __user *ulimit)
{
	struct callout_limit limit;
	int ret;

	ret = co_copy_in(&limit, sizeof(limit), ulimit, size,
			 CALLOUT_LIMIT_SIZE_V1);
	if (ret)
		return ret;
	if (limit.flags || limit.reserved)
		return -EINVAL;
	return co_file_lower_limit(file, limit.max_outstanding);
}

long co_ioctl_cancel_matching(struct callout_file *file, size_t size,
			      const struct callout_match __user *umatch)
{
	struct callout_match match;
	int ret;

	ret = co_copy_in(&match, sizeof(match), umatch, size,
			 CALLOUT_MATCH_SIZE_V1);
	if (ret)
		return ret;
	if (match.flags || match.reserved || match.cookie & ~match.mask)
		return -EINVAL;
	return co_file_cancel_matching(file, match.cookie, match.mask);
}

/* FIONREAD: the number of bytes that read() would return. */
long co_ioctl_fionread(struct callout_file *file, int __user *ubytes)
{
	u64 bytes = (u64)READ_ONCE(file->unread) * sizeof(struct callout_event);

	return put_user((int)min_t(u64, bytes, INT_MAX), ubytes);
}
