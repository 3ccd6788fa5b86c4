// SPDX-License-Identifier: GPL-2.0
/*
 * file.c - operations on the callouts of an open file of the device
 */
#include "device/cancel.h"
#include "device/clock.h"
#include "device/ctx.h"
#include "device/file.h"
#include "device/key.h"
#include "device/set.h"
#include "lib/file.h"

static int file_do(struct callout_file *file, struct callout_op *op,
		   struct callout_op_ctx *ctx)
{
	bool keyed = op->flags & CALLOUT_OPF_KEY;

	if ((op->op == CALLOUT_OP_SET || op->op == CALLOUT_OP_TIMEOUT) && !op->slack &&
	    !(op->flags & CALLOUT_OPF_EXACT))
		op->slack = callout_slack_ns;
	switch (op->op) {
	case CALLOUT_OP_CANCEL:
		return keyed ? co_file_cancel_named(file, CALLOUT_KEY_FUNC, op->key, ctx) :
			       co_file_cancel(file, op->handle, ctx);
	case CALLOUT_OP_UNTIMEOUT:
		return co_file_untimeout(file, op, ctx);
	default:
		if (keyed)
			return co_file_set_key(file, op, ctx);
		return op->op == CALLOUT_OP_MOVE ?
		       co_file_move(file, op, op->handle, ctx) :
		       co_file_set(file, op, ctx);
	}
}

/* Do an operation as a separate run. Return what the request OP would. */
int callout_test_file_do(struct callout_file *file, struct callout_op *op)
{
	struct callout_op_ctx ctx = {};
	int ret = file_do(file, op, &ctx);

	co_ctx_flush(file, &ctx);
	return ret;
}

/* When the callout with a handle is due, in the callout's clock; U64_MAX if it is not pending. */
u64 callout_test_file_due(struct callout_file *file, u64 handle)
{
	struct callout_slot *slot = co_file_slot(file, handle);
	struct callout_base *base;
	unsigned long flags;
	u64 due = U64_MAX;

	if (!slot)
		return due;
	base = co_lock(&slot->node, &flags);
	if (slot->handle == handle && co_slot_will_fire(slot))
		due = co_slot_due_clock(slot);
	co_unlock(base, flags);
	return due;
}
