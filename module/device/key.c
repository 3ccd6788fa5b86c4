// SPDX-License-Identifier: GPL-2.0
/*
 * key.c - callouts that are named by a number of the program's
 *
 * A callout with a key is in the hash of (func, arg), with a func that TIMEOUT
 * cannot have and the key as arg. An insertion searches and inserts in one hold of
 * the bucket's lock, so no key is in the hash twice:
 *
 *	CPU0: SET(k)				CPU1: SET(k)
 *	finds none
 *						finds none
 *	lock(base 0)				lock(base 1)
 *	lock(bucket): no k
 *	inserts k, unlock(bucket)		waits for bucket
 *						lock(bucket): k is there
 *						unlock(bucket)
 *	arms it					frees its slot
 *	unlock(base 0)				unlock(base 1)
 *						finds k, lock(base 0): moves it
 *
 * A move leaves it in the hash: the place of the only one with its key does not
 * depend on when it expires. So a key that is outstanding throughout is always
 * found. RESET checks, with the base locked, that the handle is not stale.
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
#include <uapi/linux/callout.h>
#include "ctx.h"
#include "file.h"
#include "named.h"
#include "key.h"
#include "op.h"
#include "kcompat.h"

/* RESET of the callout with a key; writes op->left if it returns no error. */
static int key_reset(struct callout_file *file, struct callout_op *op, u64 key,
		     struct callout_op_ctx *ctx)
{
	struct callout_op move;
	int ret;

	do {
		co_ctx_unlock(ctx);
		move = *op;
		if (!co_file_find(file, CALLOUT_KEY_FUNC, key,
				  &move.handle))
			return -ENOENT;
		co_point(CALLOUT_POINT_FILE_FOUND);
		/* Fails if a reader or a canceller was faster: look again. */
		ret = co_file_reset(file, &move, ctx);
	} while (ret == -ENOENT);
	if (ret > 0)
		op->left = move.left;
	return ret;
}

/*
 * SET: moves the callout with this key, or inserts one. May sleep. Returns 0 if it
 * has inserted a callout, else as RESET.
 */
static int key_set(struct callout_file *file, struct callout_op *op,
		   struct callout_op_ctx *ctx)
{
	struct callout_slot *slot = NULL;
	int ret;

	for (;;) {
		ret = key_reset(file, op, op->handle, ctx);
		if (ret != -ENOENT)
			return ret;
		/*
		 * There was no slot, also if another insertion of this key has
		 * reserved the last, and is still under way.
		 */
		if (IS_ERR(slot) && PTR_ERR(slot) != -EEXIST)
			return PTR_ERR(slot);
		slot = co_file_set_keyed(file, op, CALLOUT_KIND_EVENT,
					 ctx);
		if (!IS_ERR(slot)) {
			op->left = 0;
			return 0;
		}
	}
}

/*
 * SET, UNSET or RESET with CALLOUT_KEY; @op has been checked. SET returns 0 if
 * it has inserted a callout, else as RESET; -EINVAL if that has another clock.
 * SET and RESET write op->left, and nothing else.
 */
int co_file_key(struct callout_file *file, struct callout_op *op,
		struct callout_op_ctx *ctx)
{
	switch (op->op) {
	case CALLOUT_OP_SET:
		return key_set(file, op, ctx);
	case CALLOUT_OP_UNSET:
		return co_file_unset_named(file, CALLOUT_KEY_FUNC,
					   op->handle, ctx);
	default:
		return key_reset(file, op, op->handle, ctx);
	}
}
EXPORT_SYMBOL_IF_KUNIT(co_file_key);
