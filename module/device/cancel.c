// SPDX-License-Identifier: GPL-2.0
/*
 * cancel.c - CANCEL, UNTIMEOUT and CANCEL_MATCHING
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <uapi/linux/callout.h>
#include "core/queue.h"
#include "cancel.h"
#include "command.h"
#include "ctx.h"
#include "event.h"
#include "file.h"
#include "named.h"
#include "handles/table.h"
#include "kcompat.h"

/* The number of slots that CANCEL_MATCHING looks at in one hold of a base's lock. */
#define CANCEL_SLOTS		16U

/*
 * file_cancel() of any slot. @named is true if the caller found the slot by its
 * key, or by function and argument. Calling this function in every CANCEL takes 24
 * more instructions.
 */
static noinline int file_cancel_slow(struct callout_file *file,
				     struct callout_slot *slot, bool named,
				     struct callout_op_ctx *ctx)
{
	struct callout_base *base = ctx->base;
	int ret = CALLOUT_STATE_PENDING;

	if (slot->node.state & CALLOUT_S_PENDING) {
		co_dequeue_locked(base, &slot->node);
		trace_callout_cancel(&slot->node);
		if (CALLOUT_URING && unlikely(slot->node.kind == CALLOUT_KIND_COMMAND))
			co_command_take(slot, &ctx->commands);
		ctx->count[CALLOUT_FILE_CANCELLED]++;
	} else {
		ret = co_file_withdraw(file, slot, named);
		if (ret < 0)
			return ret;
		if (ret == CALLOUT_STATE_READING) {
			/* The slot's reader frees it. The key is free from here on. */
			co_slot_unhash(&file->table, slot);
			ctx->count[CALLOUT_FILE_CANCELLED]++;
			/* If the callout was set again, no event of that setting is read. */
			return slot->node.flags & CALLOUT_SLOT_MOVED ?
			       CALLOUT_STATE_PENDING : ret;
		}
		ctx->count[CALLOUT_FILE_WITHDRAWN]++;
	}
	co_file_put_slot(file, base, slot);
	ctx->spare++;
	return ret;
}

/*
 * Is the slot pending, with an event to come, and not in the hash? To cancel such a
 * slot calls no function. Four bytes are tested at once.
 */
static __always_inline bool slot_is_plain(struct callout_base *base,
					  const struct callout_slot *slot)
{
	/* A slot whose CPU was offline once keeps CALLOUT_S_AWAY: ignore that bit. */
	static const struct callout_node mask = {
		.state = U8_MAX & ~CALLOUT_S_AWAY,
		.kind = U8_MAX,
		.place = U8_MAX,
	}, plain = {
		.state = CALLOUT_S_PENDING,
		.kind = CALLOUT_KIND_EVENT,
	};

	return (READ_ONCE(slot->node.bytes) & mask.bytes) == plain.bytes &&
	       !co_scheme_is_next(base, &slot->node) &&
	       !trace_callout_cancel_enabled();
}

/*
 * Cancel the callout of a slot whose base is locked. Nearly every CANCEL finds a
 * plain slot and calls no function, so that no register is saved.
 */
static __always_inline int file_cancel(struct callout_file *file,
				       struct callout_slot *slot,
				       struct callout_op_ctx *ctx)
{
	static const struct callout_node free = { .kind = CALLOUT_KIND_EVENT };
	struct callout_base *base = ctx->base;

	if (unlikely(!slot_is_plain(base, slot)))
		return file_cancel_slow(file, slot, false, ctx);
	co_unqueue_linked(base, &slot->node);
	WRITE_ONCE(slot->node.bytes, free.bytes);
	co_slot_put(&file->table, base, slot);
	ctx->count[CALLOUT_FILE_CANCELLED]++;
	ctx->spare++;
	return CALLOUT_STATE_PENDING;
}

/* CANCEL_MATCHING of the slots of a chunk. Return the number of cancelled callouts. */
static int file_cancel_slots(struct callout_file *file,
			     struct callout_slot *slot, u64 cookie, u64 mask)
{
	struct callout_op_ctx ctx = {};
	unsigned int i;
	int count = 0;

	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++, slot++) {
		/* Hold the base's lock no longer than a batch does. */
		if (i % CANCEL_SLOTS == 0)
			co_ctx_unlock(&ctx);
		co_ctx_lock(&ctx, &slot->node);
		/*
		 * file_cancel() returns -ENOENT if the slot is free, or its event
		 * is being read for the last time.
		 */
		if ((co_slot_cookie(slot) & mask) == cookie &&
		    file_cancel(file, slot, &ctx) > 0)
			count++;
	}
	co_ctx_flush(file, &ctx);
	return count;
}

/*
 * CANCEL_MATCHING: cancel all callouts whose cookie equals @cookie in the bits of @mask.
 * A callout that is set concurrently may be missed. May sleep. Return the number of
 * cancelled callouts.
 */
int co_file_cancel_matching(struct callout_file *file, u64 cookie, u64 mask)
{
	struct callout_slot *first;
	unsigned int n;
	int count = 0;

	for (n = 0; (first = co_file_chunk(file, n)); n++) {
		count += file_cancel_slots(file, first, cookie, mask);
		cond_resched();
		if (fatal_signal_pending(current))
			break;
	}
	return count;
}

/* CANCEL of a slot whose base is locked. */
static __always_inline int
file_cancel_locked(struct callout_file *file, struct callout_slot *slot,
		   u64 handle, struct callout_op_ctx *ctx)
{
	if (unlikely(slot->handle != handle))
		return -ENOENT;
	return file_cancel(file, slot, ctx);
}

/*
 * file_cancel_locked() when the run has locked another base, or none. Inlining it takes
 * 12 more instructions in every CANCEL.
 */
static noinline int file_cancel_lock(struct callout_file *file,
				     struct callout_slot *slot, u64 handle,
				     struct callout_op_ctx *ctx)
{
	co_ctx_lock(ctx, &slot->node);
	return file_cancel_locked(file, slot, handle, ctx);
}

/* CANCEL by handle. Return the callout's state as enum callout_state, or -ENOENT. */
int co_file_cancel(struct callout_file *file, u64 handle,
		   struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;

	if (unlikely(!co_file_find_slot(file, handle, &slot)))
		return -ENOENT;
	return co_ctx_holds(ctx, &slot->node) ?
	       file_cancel_locked(file, slot, handle, ctx) :
	       file_cancel_lock(file, slot, handle, ctx);
}
EXPORT_SYMBOL_IF_KUNIT(co_file_cancel);

/* CANCEL by function and argument, or by key. Return values as for co_file_cancel(). */
int co_file_cancel_named(struct callout_file *file, u64 func, u64 arg,
			 struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;
	int ret;

	do {
		co_ctx_unlock(ctx);
		slot = co_file_lock_found(file, ctx, func, arg);
		if (!slot)
			return -ENOENT;
		/* It fails if a reader was faster: retry. */
		ret = file_cancel_slow(file, slot, true, ctx);
	} while (ret < 0);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_cancel_named);

/*
 * UNTIMEOUT: with a handle, cancel the callout if TIMEOUT has set it for the same
 * function and argument. Return values as for co_file_cancel().
 */
int co_file_untimeout(struct callout_file *file,
		      const struct callout_op *op,
		      struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;

	if (!op->handle)
		return co_file_cancel_named(file, op->func, op->cookie, ctx);
	if (!co_ctx_lock_slot(file, ctx, op->handle, &slot) ||
	    !(READ_ONCE(slot->node.flags) & CALLOUT_SLOT_HASHED) ||
	    co_slot_func(slot) != op->func || slot->arg != op->cookie)
		return -ENOENT;
	return file_cancel_slow(file, slot, true, ctx);
}
EXPORT_SYMBOL_IF_KUNIT(co_file_untimeout);
