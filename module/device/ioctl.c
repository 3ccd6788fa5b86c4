// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl.c - arguments of ioctls: checked, copied in and out
 *
 * The operations of a batch are copied in, done and copied out a few at a time.
 * Those few share one copy, one read of the clock, holds of a base's lock, and
 * one update of the file's counters.
 */
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <uapi/linux/callout.h>
#include "alarm.h"
#include "clock.h"
#include "copy.h"
#include "ctx.h"
#include "event.h"
#include "file.h"
#include "ioctl.h"
#include "key.h"
#include "op.h"
#include "user.h"
#include "wait.h"
#include "kcompat.h"

/* Operations of a batch done at a time; they are on the stack. */
#define BATCH_OPS		16U

/* A bit for each opcode that sets a callout. */
#define SETS		(1U << CALLOUT_OP_SET | 1U << CALLOUT_OP_TIMEOUT)

static inline bool op_sets(const struct callout_op *op)
{
	return op->op == CALLOUT_OP_SET || op->op == CALLOUT_OP_TIMEOUT;
}

/* Does the operation write the time that was left? */
static inline bool op_writes_left(const struct callout_op *op)
{
	return op->op == CALLOUT_OP_RESET ||
	       (op->op == CALLOUT_OP_SET && unlikely(op->flags & CALLOUT_KEY));
}

/* Does the operation write a handle? */
static inline bool op_writes_handle(const struct callout_op *op)
{
	return op_sets(op) && !op_writes_left(op);
}

/* Are the times of a SET or TIMEOUT wrong? */
static inline bool op_times_bad(const struct callout_op *op)
{
	/* The sign bit: more than KTIME_MAX. */
	return (s64)(op->time | op->period | op->slack) < 0 ||
	       op->flags & ~(CALLOUT_ABSTIME | CALLOUT_CANCEL_ON_SET) ||
	       (unlikely(op->clockid != CLOCK_MONOTONIC) &&
		!co_clock_is_valid(co_clock_plain(op->clockid))) ||
	       (unlikely(op->flags & CALLOUT_CANCEL_ON_SET) &&
		(co_clock_plain(op->clockid) != CLOCK_REALTIME ||
		 !(op->flags & CALLOUT_ABSTIME) || op->period ||
		 op->op == CALLOUT_OP_TIMEOUT));
}

/* RESET: what it does not change must be 0. */
static inline bool op_reset_bad(const struct callout_op *op)
{
	u32 rare = op->flags & ~(CALLOUT_ABSTIME | CALLOUT_NEW_PERIOD |
				 CALLOUT_NEW_SLACK);

	return (unlikely(rare) && (rare != CALLOUT_CANCEL_ON_SET ||
				   !(op->flags & CALLOUT_ABSTIME))) ||
	       (s64)(op->time | op->period | op->slack) < 0 ||
	       op->clockid || op->cookie ||
	       (op->period && !(op->flags & CALLOUT_NEW_PERIOD)) ||
	       (op->slack && !(op->flags & CALLOUT_NEW_SLACK));
}

static inline bool op_times_given(const struct callout_op *op)
{
	return (op->flags | op->clockid | op->time | op->period | op->slack) != 0;
}

/*
 * Checks a SET, UNSET or RESET that must name its callout by a key, and clears
 * CALLOUT_KEY. Returns 0, -EINVAL, or as co_alarm_permit(). No base may be
 * locked.
 */
static inline int op_check_keyed(struct callout_op *op)
{
	if (!(op->flags & CALLOUT_KEY))
		return -EINVAL;
	op->flags &= ~CALLOUT_KEY;
	switch (op->op) {
	case CALLOUT_OP_SET:
		if (op_times_bad(op) || op->period || op->cookie ||
		    op->flags & CALLOUT_CANCEL_ON_SET)
			return -EINVAL;
		return co_alarm_permit(op->clockid);
	case CALLOUT_OP_UNSET:
		return op_times_given(op) || op->cookie || op->func ? -EINVAL : 0;
	default:
		return op_reset_bad(op) ? -EINVAL : 0;
	}
}

/* A SET, UNSET or RESET that is wrong, unless it names its callout by a key. */
static noinline int op_do_keyed(struct callout_file *file,
				struct callout_op *op,
				struct callout_op_ctx *ctx)
{
	struct callout_op keyed = *op;
	int ret;

	co_ctx_unlock(ctx);
	ret = op_check_keyed(&keyed);
	if (ret)
		return ret;
	ret = co_file_key(file, &keyed, ctx);
	op->left = keyed.left;
	return ret;
}

/* op_set() in another clock; apart, since otherwise op_do() calls nothing. */
static noinline int op_set_clock(struct callout_file *file,
				 struct callout_op *op,
				 struct callout_op_ctx *ctx)
{
	int ret;

	if (co_clock_is_alarm(op->clockid)) {
		co_ctx_sleep(ctx);
		ret = co_alarm_permit(op->clockid);
		if (ret)
			return ret;
	}
	return co_file_set(file, op, ctx);
}

/* SET and TIMEOUT, whose times are right. */
static inline int op_set(struct callout_file *file, struct callout_op *op,
			 struct callout_op_ctx *ctx)
{
	return likely(op->clockid == CLOCK_MONOTONIC) ?
	       co_file_set(file, op, ctx) : op_set_clock(file, op, ctx);
}

/* Does an operation. Members that it neither uses nor writes must be 0. */
static int op_do(struct callout_file *file, struct callout_op *op,
		 struct callout_op_ctx *ctx)
{
	switch (op->op) {
	case CALLOUT_OP_SET:
		if (op_times_bad(op) || op->func)
			return op_do_keyed(file, op, ctx);
		return op_set(file, op, ctx);
	case CALLOUT_OP_UNSET:
		if (op_times_given(op) | ((op->cookie | op->func) != 0))
			return op_do_keyed(file, op, ctx);
		return co_file_unset(file, op, ctx);
	case CALLOUT_OP_RESET:
		if (op_reset_bad(op))
			return op_do_keyed(file, op, ctx);
		return co_file_reset(file, op, ctx);
	case CALLOUT_OP_TIMEOUT:
		if (op_times_bad(op) || op->period ||
		    op->func == CALLOUT_KEY_FUNC)
			return -EINVAL;
		return op_set(file, op, ctx);
	case CALLOUT_OP_UNTIMEOUT:
		if (op_times_given(op) || op->func == CALLOUT_KEY_FUNC)
			return -EINVAL;
		return co_file_untimeout(file, op, ctx);
	default:
		return -EINVAL;
	}
}

/*
 * Cancels a callout whose handle could not be copied out. Not one with a key: it
 * has none, and another thread may have moved it.
 */
static void op_undo(struct callout_file *file, const struct callout_op *op,
		    struct callout_op_ctx *ctx)
{
	struct callout_op undo = {
		.op = CALLOUT_OP_UNSET,
		.handle = op->handle,
	};

	op_do(file, &undo, ctx);
	co_ctx_unlock(ctx);
}

/* Copies what an operation writes out. */
static inline int op_put(const struct callout_op *op, struct callout_op __user *uop)
{
	if (op_writes_handle(op))
		return put_user(op->handle, &uop->handle);
	if (op_writes_left(op))
		return put_user(op->left, &uop->left);
	return 0;
}

/*
 * Copies an operation in; fails early if what it writes cannot be copied out. Word by
 * word takes 30 instructions less than a call.
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

/*
 * Copies the operation of a command of io_uring in, which must be @nr and name its
 * callout by a key, and clears CALLOUT_KEY. Returns 0, -EINVAL, -E2BIG, -EFAULT, or
 * as co_alarm_permit().
 */
int co_op_get_keyed(struct callout_op *op, unsigned int nr, size_t size,
		    struct callout_op __user *uop)
{
	int ret = op_copy_in(op, size, uop);

	if (unlikely(ret))
		return ret;
	return likely(op->op == nr) ? op_check_keyed(op) : -EINVAL;
}

/* An ioctl with one operation: @cmd has its opcode, and the size that it has there. */
long co_ioctl_op(struct callout_file *file, unsigned int cmd,
		 struct callout_op __user *uop)
{
	struct callout_op op __uninitialized;
	struct callout_op_ctx ctx = {};
	unsigned int nr = _IOC_NR(cmd);
	int ret;

	ret = op_copy_in(&op, _IOC_SIZE(cmd), uop);
	if (unlikely(ret))
		return ret;
	if (unlikely(op.op != nr))
		return -EINVAL;
	ret = op_do(file, &op, &ctx);
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

/* Copies up to @n operations in; returns the number, or an error if none. */
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

/* Copies all results out; false if one cannot be written. */
static bool batch_put_all(const struct callout_batch *batch, unsigned int first,
			  const struct callout_op *op, unsigned int n)
{
	struct callout_op __user *uop = batch_place(batch, first);
	unsigned int i;

	if (unlikely(batch->op_size != sizeof(*op)) ||
	    !user_write_access_begin(uop, n * sizeof(*uop)))
		return false;
	for (i = 0; i < n; i++) {
		unsafe_put_user(op[i].result, &uop[i].result, fault);
		if (op_writes_handle(&op[i]))
			unsafe_put_user(op[i].handle, &uop[i].handle, fault);
		else if (op_writes_left(&op[i]))
			unsafe_put_user(op[i].left, &uop[i].left, fault);
	}
	user_write_access_end();
	return true;
fault:
	user_write_access_end();
	return false;
}

/* Copies one result out. If it cannot, the operation has failed: -EFAULT. */
static int batch_put_one(struct callout_file *file,
			 struct callout_batch *batch,
			 struct callout_op __user *uop,
			 const struct callout_op *op,
			 struct callout_op_ctx *ctx)
{
	/* The handle first: a result of 0 says that there is one. */
	if (!op_put(op, uop) && !put_user(op->result, &uop->result))
		return 0;
	if (op_writes_handle(op) && !op->result)
		op_undo(file, op, ctx);
	batch->failed += op->result >= 0;
	return -EFAULT;
}

/* Copies results out one by one. Returns 0, or -EFAULT if one cannot be written. */
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

/* An operation has failed. Does the batch stop at it? */
static bool batch_stops(struct callout_batch *batch, struct callout_op *op)
{
	if (op_writes_handle(op))
		op->handle = 0;
	else if (op_writes_left(op))
		op->left = 0;
	batch->failed++;
	return batch->flags & CALLOUT_BATCH_STOP;
}

/*
 * Does some operations. Returns 0; an error, which ends the batch; or 1 if it
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
		/* One operation's error: only that operation was not copied. */
		op[0] = (struct callout_op){ .result = -E2BIG };
		batch->done++;
		done = 1;
		ret = batch_stops(batch, &op[0]);
		goto put;
	}
	if (n < 0)
		return n;

	/*
	 * Those that begin by cancelling get slots from that. What is wrong, or
	 * moves the callout with its key, may be counted: then one slot too many
	 * is reserved for a while.
	 */
	if (op_writes_handle(&op[0]))
		for (i = 1; i < n; i++)
			ctx.ahead += SETS >> op[i].op % 32 & 1;
	for (at = op; at < op + n; at++) {
		int result = op_do(file, at, &ctx);

		at->result = result;
		if (unlikely(result < 0) && batch_stops(batch, at)) {
			at++;
			ret = 1;
			break;
		}
	}
	done = at - op;
	batch->done += done;
	co_ctx_unlock(&ctx);
	/* Now: to write the results may take long. */
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

/* Reads events, and waits for them as @waiter says if batch.wait is not 0. */
static int batch_read(struct callout_file *file, struct callout_batch *batch,
		      const struct checked_wait *waiter)
{
	bool wait = batch->flags & CALLOUT_BATCH_WAIT;
	struct read_deadline deadline;
	struct iov_iter to;
	ssize_t ret;

	if (unlikely(batch->wait))
		co_wait_begin(waiter, &deadline);
	else if (wait)
		co_deadline_in(&deadline, batch->timeout);
	iov_iter_ubuf(&to, ITER_DEST, u64_to_user_ptr(batch->events),
		      (size_t)batch->nr_events * batch->event_size);
	ret = co_file_read(file, &to, batch->event_size,
			   wait ? &deadline : NULL);
	if (unlikely(batch->wait))
		co_wait_end(waiter, ret == -ERESTARTSYS);
	if (ret < 0)
		/* A restart would do the operations twice. */
		return ret == -ERESTARTSYS ? -EINTR : ret;
	batch->got = ret / batch->event_size;
	return 0;
}

static int batch_check(const struct callout_batch *batch, fmode_t mode,
		       bool may_wait)
{
	bool wait = batch->flags & CALLOUT_BATCH_WAIT;

	if (batch->flags & ~(CALLOUT_BATCH_STOP | CALLOUT_BATCH_WAIT) ||
	    (wait && !may_wait) ||
	    batch->nr_ops > CALLOUT_BATCH_MAX ||
	    batch->nr_events > CALLOUT_BATCH_MAX ||
	    co_size_bad(batch->op_size, CALLOUT_OP_SIZE_V1) ||
	    co_size_bad(batch->event_size, CALLOUT_EVENT_SIZE_V1) ||
	    batch->reserved ||
	    (wait ? !batch->nr_events : batch->timeout || batch->wait) ||
	    (batch->wait ? batch->timeout : batch->wait_size))
		return -EINVAL;
	if ((batch->nr_ops && !(mode & FMODE_WRITE)) ||
	    (batch->nr_events && !(mode & FMODE_READ)))
		return -EBADF;
	return 0;
}

/* Copies the counts of a batch out. */
static int batch_copy_out(const struct callout_batch *batch,
			  struct callout_batch __user *ubatch)
{
	return put_user(batch->done, &ubatch->done) ||
	       put_user(batch->failed, &ubatch->failed) ||
	       put_user(batch->got, &ubatch->got) ? -EFAULT : 0;
}

/* CALLOUT_IOC_BATCH. @mode is that of the caller's descriptor. */
long co_ioctl_batch(struct callout_file *file, fmode_t mode, size_t size,
		    struct callout_batch __user *ubatch, bool may_wait)
{
	struct checked_wait waiter;
	struct callout_batch batch;
	int ret;

	ret = co_copy_in(&batch, sizeof(batch), ubatch, size,
			 CALLOUT_BATCH_SIZE_V1);
	if (ret)
		return ret;
	ret = batch_check(&batch, mode, may_wait);
	if (ret)
		return ret;
	if (unlikely(batch.wait)) {
		ret = co_wait_copy_in(&waiter, &batch);
		if (ret)
			return ret;
	}
	batch.done = 0;
	batch.failed = 0;
	batch.got = 0;
	/* Fail early if the counts cannot be copied out. */
	ret = batch_copy_out(&batch, ubatch);
	if (ret)
		return ret;

	ret = batch_do(file, &batch);
	/* Do not wait for events if it stopped at an operation that failed. */
	if (!ret && batch.nr_events)
		ret = batch_read(file, &batch, &waiter);
	else
		ret = min(ret, 0);
	if (batch_copy_out(&batch, ubatch))
		return -EFAULT;
	return ret;
}

long co_ioctl_next(struct callout_file *file, size_t size,
		   struct callout_next __user *unext)
{
	struct callout_next next;
	int ret;

	ret = co_copy_in(&next, sizeof(next), unext, size,
			 CALLOUT_NEXT_SIZE_V1);
	if (ret)
		return ret;
	if (next.flags ||
	    !co_clock_is_valid(co_clock_plain(next.clockid)))
		return -EINVAL;
	if (co_clock_is_alarm(next.clockid) && !co_alarm_works())
		return -EOPNOTSUPP;
	return put_user(co_file_next(file, next.clockid), &unext->due);
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

long co_ioctl_eventfd(struct callout_file *file, size_t size,
		      const struct callout_eventfd __user *uarg)
{
	struct callout_eventfd arg;
	int ret;

	ret = co_copy_in(&arg, sizeof(arg), uarg, size,
			 CALLOUT_EVENTFD_SIZE_V1);
	if (ret)
		return ret;
	if (arg.flags)
		return -EINVAL;
	return co_file_set_eventfd(file, arg.fd);
}

long co_ioctl_cancel(struct callout_file *file, size_t size,
		     const struct callout_cancel __user *uarg)
{
	struct callout_cancel arg;
	int ret;

	ret = co_copy_in(&arg, sizeof(arg), uarg, size,
			 CALLOUT_CANCEL_SIZE_V1);
	if (ret)
		return ret;
	if (arg.flags || arg.reserved || arg.cookie & ~arg.mask)
		return -EINVAL;
	return co_file_cancel(file, arg.cookie, arg.mask);
}

/* How much read() would return. */
long co_ioctl_fionread(struct callout_file *file, int __user *ubytes)
{
	u64 bytes = (u64)READ_ONCE(file->unread) * READ_ONCE(file->event_size);

	return put_user((int)min_t(u64, bytes, INT_MAX), ubytes);
}

long co_ioctl_format(struct callout_file *file, size_t size,
		     const struct callout_format __user *uformat)
{
	struct callout_format format;
	int ret;

	ret = co_copy_in(&format, sizeof(format), uformat, size,
			 CALLOUT_FORMAT_SIZE_V1);
	if (ret)
		return ret;
	if (format.flags ||
	    co_size_bad(format.event_size, CALLOUT_EVENT_SIZE_V1))
		return -EINVAL;
	WRITE_ONCE(file->event_size, format.event_size);
	return 0;
}
