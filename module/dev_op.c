// SPDX-License-Identifier: GPL-2.0
/*
 * dev_op.c - what programs do with the callouts of a file: set, cancel, move
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <uapi/linux/callout.h>
#include "arm.h"
#include "dev_clock.h"
#include "dev_event.h"
#include "dev_file.h"
#include "dev_op.h"
#include "dev_search.h"
#include "dev_user.h"
#include "table.h"
#include "table_search.h"
#include "kcompat.h"

/* log2 of the buckets that a file's (func, arg) hash begins with. */
#define FILE_HASH_BITS		6

/* callout_lock_home(), if that base is not locked anyway. */
static inline struct callout_base *ctx_lock_home(struct callout_op_ctx *ctx)
{
	struct callout_base *base = ctx->base;

	if (base && likely(base == callout_base(callout_home_cpu()) &&
			   base->online))
		return base;
	callout_ctx_unlock(ctx);
	base = callout_lock_home(&ctx->flags);
	__release(&base->lock);
	ctx->base = base;
	return base;
}

/*
 * Finds the slot of a handle, and locks its base if it has that handle. A file's
 * chunks stay as long as the file.
 */
static inline struct callout_slot *ctx_lock_slot(struct callout_file *file,
						 struct callout_op_ctx *ctx,
						 u64 handle)
{
	struct callout_slot *slot;

	/* For the directory, of which there may be a newer version. */
	preempt_disable();
	slot = callout_table_slot(&file->table, handle);
	preempt_enable();
	if (unlikely(!slot || !handle))
		return NULL;
	callout_ctx_lock(ctx, &slot->node);
	return likely(slot->handle == handle) ? slot : NULL;
}

/* Gets a slot counted as outstanding, and if it can those that follow too. */
static inline int file_charge(struct callout_file *file,
			      struct callout_op_ctx *ctx)
{
	int n = atomic_read(&file->outstanding), ret;
	unsigned int more, allowed;

	if (ctx->spare) {
		ctx->spare--;
		return 0;
	}
	do {
		while (unlikely(n >= (allowed = READ_ONCE(file->allowed)))) {
			callout_ctx_unlock(ctx);
			ret = callout_file_allow(file);
			if (ret)
				return ret;
		}
		more = min(ctx->ahead, allowed - n - 1);
	} while (!atomic_try_cmpxchg(&file->outstanding, &n, n + 1 + more));
	ctx->spare = more;
	ctx->ahead = 0;
	return 0;
}

/*
 * A slot where the base that is locked has none: another's, or a new one. If
 * the table has all its chunks others have just added the last ones. There are
 * more slots than the file may use, so one of those is free.
 */
static noinline struct callout_slot *ctx_find_slot(struct callout_file *file,
						   struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;
	unsigned int cpu;
	bool all = false;
	int ret;

	for (;;) {
		slot = callout_slot_steal(&file->table, ctx->base);
		if (slot)
			break;
		cpu = ctx->base->index;
		callout_ctx_unlock(ctx);
		ret = callout_table_grow(&file->table, cpu, 1,
					 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (ret && (ret != -ENOSPC || all))
			return ERR_PTR(ret);
		all = ret;
		slot = callout_slot_get(callout_pool(&file->table,
						     ctx_lock_home(ctx)));
		if (slot)
			break;
	}
	ctx->base = callout_base(slot->node.cpu);
	return slot;
}

static inline bool file_wants_hash(struct callout_file *file)
{
	struct callout_hash *hash = &file->table.hash;

	if (callout_searches())
		return false;
	/* Pairs with the smp_store_release() in callout_hash_init(). */
	return !smp_load_acquire(&hash->buckets) ||
	       callout_hash_wants_growth(hash);
}

/* The first TIMEOUT makes the hash; later ones let it grow. */
static int file_prepare_hash(struct callout_file *file)
{
	struct callout_hash *hash = &file->table.hash;
	int ret = 0;

	mutex_lock(&file->table.grow);
	if (!hash->buckets)
		ret = callout_hash_init(hash, FILE_HASH_BITS, GFP_KERNEL_ACCOUNT);
	else
		callout_hash_grow(hash, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&file->table.grow);
	return ret;
}

/* Can there be a callout that was set by TIMEOUT? */
static bool file_has_timeouts(struct callout_file *file)
{
	if (callout_searches())
		return true;
	/* Pairs with the smp_store_release() in callout_hash_init(). */
	return smp_load_acquire(&file->table.hash.buckets);
}

/* What is not common of slot_set_times(). */
static noinline u64 slot_set_times_slow(struct callout_slot *slot,
					struct callout_base *base,
					const struct callout_op *op, u64 now)
{
	u64 due = op->time, clock = now;

	if (op->clockid == CLOCK_BOOTTIME) {
		clock += callout_boot_offset();
		/* RESET finds it there. */
		if (!(slot->node.flags & CALLOUT_SLOT_BOOT))
			WRITE_ONCE(slot->node.flags, CALLOUT_SLOT_BOOT |
						     slot->node.flags);
	}
	if (!(op->flags & CALLOUT_ABSTIME))
		due = min_t(u64, clock + op->time, KTIME_MAX);
	if (op->period)
		slot->slack = op->slack;
	callout_slot_set_due(slot, due);
	return callout_slack_tick(base, callout_slot_due_mono(slot), op->slack,
				  now);
}

/* Writes when a callout is due, and says at which tick that is. */
static inline u64 slot_set_times(struct callout_slot *slot,
				 struct callout_base *base,
				 const struct callout_op *op, u64 now)
{
	u64 due = op->time;

	if (unlikely(op->period || op->slack ||
		     op->clockid != CLOCK_MONOTONIC))
		return slot_set_times_slow(slot, base, op, now);
	if (!(op->flags & CALLOUT_ABSTIME))
		due = min_t(u64, now + due, KTIME_MAX);
	callout_slot_set_due(slot, due);
	return callout_from_ns(base, due, now);
}

/**
 * callout_file_set - SET and TIMEOUT
 * @file: the file
 * @op: what to set; its handle is written
 * @ctx: counts it
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOSPC, -EDQUOT or -ENOMEM.
 */
int callout_file_set(struct callout_file *file, struct callout_op *op,
		     struct callout_op_ctx *ctx)
{
	bool hashed = op->op == CALLOUT_OP_TIMEOUT;
	struct callout_base *base;
	struct callout_slot *slot;
	u64 tick;
	int ret;

	if (hashed && unlikely(file_wants_hash(file))) {
		callout_ctx_unlock(ctx);
		ret = file_prepare_hash(file);
		if (ret)
			return ret;
	}
	ret = file_charge(file, ctx);
	if (ret)
		return ret;
	base = ctx_lock_home(ctx);
	slot = callout_slot_get(callout_pool(&file->table, base));
	if (unlikely(!slot)) {
		slot = ctx_find_slot(file, ctx);
		if (IS_ERR(slot)) {
			ctx->spare++;
			return PTR_ERR(slot);
		}
		base = ctx->base;
	}

	slot->key = op->func;
	slot->arg = op->cookie;
	op->handle = slot->handle;
	tick = slot_set_times(slot, base, op, callout_ctx_now(ctx));
	callout_start_locked(base, &slot->node, tick);
	if (hashed) {
		WRITE_ONCE(slot->node.flags, CALLOUT_SLOT_HASHED |
					     slot->node.flags);
		callout_table_put(&file->table, slot);
	} else {
		slot->period = op->period;
	}
	ctx->count[CALLOUT_FILE_SET]++;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_set);

/* Cancels a callout whose base is locked. */
static inline int file_cancel(struct callout_file *file,
			      struct callout_slot *slot,
			      struct callout_op_ctx *ctx)
{
	struct callout_base *base = ctx->base;
	int ret = CALLOUT_CANCELLED;

	if (likely(slot->node.state & CALLOUT_S_PENDING)) {
		callout_dequeue_locked(base, &slot->node);
		trace_callout_cancel(&slot->node);
		ctx->count[CALLOUT_FILE_CANCELLED]++;
	} else {
		ret = callout_file_withdraw(file, slot);
		if (ret != CALLOUT_WITHDRAWN) {
			ctx->count[CALLOUT_FILE_CANCELLED] +=
				ret == CALLOUT_CANCELLED;
			return ret;
		}
		ctx->count[CALLOUT_FILE_WITHDRAWN]++;
	}
	WRITE_ONCE(slot->node.flags, 0);
	callout_slot_release(&file->table, base, slot);
	ctx->spare++;
	return ret;
}

/*
 * Finds what TIMEOUT has set. It stays where it is until it is cancelled: else
 * another UNTIMEOUT would miss it meanwhile, though a reader may yet get it.
 */
static struct callout_slot *file_find(struct callout_file *file,
				      u64 func, u64 arg, u64 *handle)
{
	if (callout_searches())
		return callout_file_search(file, func, arg, handle);
	return callout_hash_find(&file->table.hash, func, arg, handle);
}

/**
 * callout_file_unset - UNSET
 * @file: the file
 * @op: has the handle
 * @ctx: counts it
 *
 * Context: Process context.
 * Return: CALLOUT_CANCELLED, CALLOUT_WITHDRAWN or -ENOENT.
 */
int callout_file_unset(struct callout_file *file, const struct callout_op *op,
		       struct callout_op_ctx *ctx)
{
	struct callout_slot *slot = ctx_lock_slot(file, ctx, op->handle);

	return likely(slot) ? file_cancel(file, slot, ctx) : -ENOENT;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_unset);

/* Cancels a callout by its handle if TIMEOUT has set it as @op says. */
static int file_unset_checked(struct callout_file *file,
			      const struct callout_op *op,
			      struct callout_op_ctx *ctx)
{
	struct callout_slot *slot = ctx_lock_slot(file, ctx, op->handle);

	if (!slot ||
	    !(READ_ONCE(slot->node.flags) & CALLOUT_SLOT_HASHED) ||
	    slot->key != op->func || slot->arg != op->cookie)
		return -ENOENT;
	return file_cancel(file, slot, ctx);
}

/*
 * Moves a callout whose event a reader has, after callout_file_withdraw(): the reader
 * arms it. Its base is locked all the time, so the reader does not free it,
 * though the copy may fail before CALLOUT_SLOT_REPEAT is back.
 */
static noinline int file_reset_detached(struct callout_file *file,
					struct callout_slot *slot,
					const struct callout_op *op,
					struct callout_op_ctx *ctx)
{
	u64 now = callout_ctx_now(ctx);

	raw_spin_lock(&file->lock);
	slot_set_times(slot, ctx->base, op, now);
	slot->next = callout_slot_due(slot);
	slot->slack = op->slack;
	slot->period = op->period;
	callout_slot_change_flags(file, slot, 0, CALLOUT_SLOT_REPEAT);
	raw_spin_unlock(&file->lock);
	ctx->count[CALLOUT_FILE_RESET]++;
	return CALLOUT_CANCELLED;
}

/* RESET where it is not just pending, and on a base whose CPU is online. */
static noinline int file_reset_slow(struct callout_file *file,
				    struct callout_slot *slot,
				    const struct callout_op *op,
				    struct callout_op_ctx *ctx)
{
	int ret = CALLOUT_CANCELLED;
	u64 tick;

	callout_search_move_begin(file);
	if (slot->node.state & CALLOUT_S_PENDING) {
		/* Due, or its base may expire no more. */
		callout_dequeue_locked(ctx->base, &slot->node);
	} else {
		/* A reader may have been faster. */
		ret = callout_file_withdraw(file, slot);
		if (ret == CALLOUT_CANCELLED)
			ret = file_reset_detached(file, slot, op, ctx);
		if (ret != CALLOUT_WITHDRAWN)
			goto out;
	}
	ctx->base = callout_rehome(ctx->base, &slot->node);
	tick = slot_set_times(slot, ctx->base, op, callout_ctx_now(ctx));
	if (slot->node.mark != CALLOUT_HASH_IN)
		slot->period = op->period;
	callout_slot_refile(file, ctx->base, slot, tick);
	ctx->count[CALLOUT_FILE_RESET]++;
out:
	callout_search_move_end(file);
	return ret;
}

/* Does the callout have the same clock, and may it have a period if @op has? */
static bool reset_is_valid(const struct callout_op *op, u8 flags)
{
	bool boot = op->clockid == CLOCK_BOOTTIME;

	return boot == !!(flags & CALLOUT_SLOT_BOOT) &&
	       !(op->period && flags & CALLOUT_SLOT_HASHED);
}

/**
 * callout_file_reset - RESET
 * @file: the file
 * @op: has the handle and the times
 * @ctx: counts it
 *
 * Context: Process context.
 * Return: as callout_file_unset(), or -EINVAL if it was set with another clock
 * or cannot have a period.
 */
int callout_file_reset(struct callout_file *file, const struct callout_op *op,
		       struct callout_op_ctx *ctx)
{
	struct callout_slot *slot = ctx_lock_slot(file, ctx, op->handle);
	struct callout_base *base;
	u8 state, flags;
	u64 tick;

	if (!slot)
		return -ENOENT;
	state = slot->node.state;
	flags = READ_ONCE(slot->node.flags);
	if (unlikely(!(state & CALLOUT_S_PENDING)) &&
	    !(flags & (CALLOUT_SLOT_READY | CALLOUT_SLOT_REPEAT)))
		return -ENOENT;
	if (unlikely(flags & CALLOUT_SLOT_BOOT || op->period ||
		     op->clockid != CLOCK_MONOTONIC) &&
	    !reset_is_valid(op, flags))
		return -EINVAL;
	base = ctx->base;
	if (unlikely((state & (CALLOUT_S_PENDING | CALLOUT_S_DUE)) !=
		     CALLOUT_S_PENDING || !base->online))
		return file_reset_slow(file, slot, op, ctx);
	tick = slot_set_times(slot, base, op, callout_ctx_now(ctx));
	if (likely(slot->node.mark != CALLOUT_HASH_IN)) {
		slot->period = op->period;
		callout_scheme_rearm(base, &slot->node, tick);
		callout_started(base, &slot->node, tick);
	} else {
		callout_slot_refile(file, base, slot, tick);
	}
	ctx->count[CALLOUT_FILE_RESET]++;
	return CALLOUT_CANCELLED;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_reset);

/**
 * callout_file_untimeout - UNTIMEOUT
 * @file: the file
 * @op: has func and cookie, and the handle if it must be a certain one
 * @ctx: counts it
 *
 * Context: Process context.
 * Return: CALLOUT_CANCELLED, CALLOUT_WITHDRAWN or -ENOENT.
 */
int callout_file_untimeout(struct callout_file *file,
			   const struct callout_op *op,
			   struct callout_op_ctx *ctx)
{
	struct callout_op found = *op;
	int ret;

	if (!file_has_timeouts(file))
		return -ENOENT;
	if (op->handle)
		return file_unset_checked(file, op, ctx);
	do {
		callout_ctx_unlock(ctx);
		if (!file_find(file, op->func, op->cookie, &found.handle))
			return -ENOENT;
		/* If not, a reader or another cancel has taken it out. */
		ret = file_unset_checked(file, &found, ctx);
	} while (ret < 0);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(callout_file_untimeout);
