// SPDX-License-Identifier: GPL-2.0
/*
 * dev_key.c - callouts that are named by a number of the program's
 *
 * A callout with a key is in the hash of (func, arg), with a func that TIMEOUT
 * cannot have and the key as arg. A move keeps it there, in one hold of its
 * bucket's lock, so a key that is outstanding throughout is always found.
 *
 * callout_file.keys serialises insertions, each of which begins with a search,
 * so no key is in the hash twice. It does not serialise moves: they insert none,
 * and RESET checks, with the base locked, that the handle is not stale. Nothing
 * is allocated with the mutex held, and the hash does not grow.
 *
 * A reader takes a callout out of the hash, for good. If it cannot copy the
 * event, the callout is ready again, without its key: another one may have that
 * by then. So RESET does not move it: there would be two.
 *
 *	CPU0: SET(k)				CPU1: read()
 *	finds k's handle
 *						detaches k: out of the hash
 *						cannot copy it: ready again
 *	lock(base), lock(file)
 *	ready, but not in the hash: ENOENT
 *	unlocks both
 *	finds none: inserts another k
 *
 * SET returns 0 then: the event was taken before.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <uapi/linux/callout.h>
#include "dev_file.h"
#include "dev_hash.h"
#include "dev_key.h"
#include "dev_op.h"
#include "kcompat.h"

/* RESET of the callout with a key; writes op->left if it returns no error. */
static int key_reset(struct callout_file *file, struct callout_op *op, u64 key,
		     struct callout_op_ctx *ctx)
{
	struct callout_op move;
	int ret;

	do {
		callout_ctx_unlock(ctx);
		move = *op;
		if (!callout_file_find(file, CALLOUT_KEY_FUNC, key,
				       &move.handle))
			return -ENOENT;
		callout_point(CALLOUT_POINT_FILE_FOUND);
		/* Fails if a reader or a canceller was faster: look again. */
		ret = callout_file_reset(file, &move, ctx);
	} while (ret == -ENOENT);
	if (ret > 0)
		op->left = move.left;
	return ret;
}

/* Inserts a callout unless one has the key; then moves that. May sleep. */
static int key_insert(struct callout_file *file, struct callout_op *op, u64 key,
		      struct callout_op_ctx *ctx)
{
	struct callout_op set = callout_key_timeout(op, key);
	struct callout_slot *slot;
	int ret;

	slot = callout_file_reserve(file, ctx);
	callout_ctx_sleep(ctx);
	ret = mutex_lock_killable(&file->keys);
	if (ret)
		goto out;
	ret = key_reset(file, op, key, ctx);
	/* A search that was killed may have missed it. */
	if (ret == -ENOENT && fatal_signal_pending(current)) {
		ret = -EINTR;
	} else if (ret == -ENOENT && IS_ERR(slot)) {
		/* To move one that has come meanwhile would have taken none. */
		ret = PTR_ERR(slot);
	} else if (ret == -ENOENT) {
		callout_file_start(file, slot, &set, CALLOUT_KIND_EVENT,
				   ctx);
		slot = NULL;
		op->left = 0;
		ret = 0;
	}
	callout_ctx_unlock(ctx);
	mutex_unlock(&file->keys);
out:
	if (!IS_ERR_OR_NULL(slot))
		callout_file_give_back(file, slot, ctx);
	return ret;
}

/* SET: moves the callout with this key, or inserts one. */
static int key_set(struct callout_file *file, struct callout_op *op,
		   struct callout_op_ctx *ctx)
{
	struct callout_op move = *op;
	int ret;

	/* As SET it has a clock, which must be that of the callout. */
	move.flags |= CALLOUT_NEW_SLACK;
	ret = key_reset(file, &move, op->handle, ctx);
	if (ret == -ENOENT)
		ret = key_insert(file, &move, op->handle, ctx);
	op->left = move.left;
	return ret;
}

/*
 * SET, UNSET or RESET with CALLOUT_KEY; @op has been checked. SET returns 0 if
 * it has inserted a callout, else as RESET; -EINVAL if that has another clock.
 * SET and RESET write op->left, and nothing else.
 */
int callout_file_key(struct callout_file *file, struct callout_op *op,
		     struct callout_op_ctx *ctx)
{
	switch (op->op) {
	case CALLOUT_OP_SET:
		return key_set(file, op, ctx);
	case CALLOUT_OP_UNSET:
		return callout_file_unset_named(file, CALLOUT_KEY_FUNC,
						op->handle, ctx);
	default:
		return key_reset(file, op, op->handle, ctx);
	}
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_key);
