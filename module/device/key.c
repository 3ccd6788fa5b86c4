// SPDX-License-Identifier: GPL-2.0
/*
 * key.c - SET of callouts that are named by a number that the program chooses
 *
 * A callout with a key is in the hash. An insertion searches and inserts in one hold
 * of the bucket's lock, so no key is in the hash twice:
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
 * A move leaves the callout in the hash: the place of the only callout with its key
 * does not depend on its expiry time. So a callout that is outstanding throughout a
 * search by key is always found. A move checks, with the base locked, that the handle
 * is not stale.
 *
 * A periodic callout stays in the hash while its event is read. A reader takes any
 * other callout out of the hash permanently. If the reader cannot copy the event, the
 * callout is ready again, without its key: another callout may have the key by then.
 * So SET does not move the callout: there would be two callouts with the key.
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
 * SET returns 0 in this case: the event was taken before.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <uapi/linux/callout.h>
#include "ctx.h"
#include "file.h"
#include "key.h"
#include "named.h"
#include "set.h"
#include "kcompat.h"

/* MOVE, or SET, of the callout with a key. Write op->left if no error is returned. */
static int move_keyed(struct callout_file *file, struct callout_op *op,
		      struct callout_op_ctx *ctx)
{
	struct callout_op move;
	u64 handle;
	int ret;

	do {
		co_ctx_unlock(ctx);
		move = *op;
		handle = co_file_find(file, CALLOUT_KEY_FUNC, op->key);
		if (!handle)
			return -ENOENT;
		co_point();
		/* It fails if a reader or a canceller was faster: search again. */
		ret = co_file_move(file, &move, handle, ctx);
	} while (ret == -ENOENT);
	if (ret > 0)
		op->left = move.left;
	return ret;
}

/* SET of a key that no callout has. Return 0, or an error of co_file_set_keyed(). */
static int insert_keyed(struct callout_file *file, struct callout_op *op,
			struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;

	slot = co_file_set_keyed(file, op, CALLOUT_KIND_KEYED, ctx);
	op->left = 0;
	return IS_ERR(slot) ? PTR_ERR(slot) : 0;
}

/*
 * MOVE and SET with CALLOUT_OPF_KEY: set the callout with this key again, or insert a
 * new callout, as the operation and its flags permit. May sleep. Return 0 if a callout
 * was inserted. Otherwise return a value of co_file_move() or co_file_set_keyed().
 * Write op->left, and no other member.
 */
int co_file_set_key(struct callout_file *file, struct callout_op *op,
		    struct callout_op_ctx *ctx)
{
	int ret;

	if (op->flags & CALLOUT_OPF_ONLY_NEW)
		return insert_keyed(file, op, ctx);
	do {
		ret = move_keyed(file, op, ctx);
		if (ret != -ENOENT || op->op == CALLOUT_OP_MOVE ||
		    op->flags & CALLOUT_OPF_ONLY_OLD)
			return ret;
		ret = insert_keyed(file, op, ctx);
	} while (ret == -EEXIST);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_set_key);
