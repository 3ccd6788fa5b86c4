// SPDX-License-Identifier: GPL-2.0
/*
 * op.c - operations on the callouts of a file: set, cancel, re-arm
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <uapi/linux/callout.h>
#include "core/queue.h"
#include "alarm.h"
#include "clock.h"
#include "command.h"
#include "ctx.h"
#include "event.h"
#include "file.h"
#include "named.h"
#include "key.h"
#include "op.h"
#include "user.h"
#include "handles/table.h"
#include "kcompat.h"

/* Slots that CANCEL looks at in one hold of a base's lock. */
#define CANCEL_SLOTS		16U

/* Locks the base for new callouts, unless the run holds that lock already. */
static __always_inline struct callout_base *
ctx_lock_home(struct callout_file *file, struct callout_op_ctx *ctx)
{
	struct callout_base *base = ctx->base;

	if (likely(ctx->home))
		return base;
	if (!base || !base->online ||
	    base != co_base_of(file->table.class, co_home_cpu())) {
		co_ctx_unlock(ctx);
		lockdep_assert_irqs_enabled();
		local_irq_disable();
		base = co_lock_home_irqs_off(file->table.class);
		/* For sparse, which cannot follow this. */
		__release(&base->lock);
		ctx->base = base;
	}
	ctx->home = true;
	return base;
}

/*
 * As co_file_slot(): finds @slot, which may have another handle by now, or
 * returns false. Even with this handle it may be free, or have no generations
 * left, where that is 0: neither is pending, ready or detached.
 */
static __always_inline bool file_find_slot(struct callout_file *file, u64 handle,
					   struct callout_slot **slot)
{
	bool found;

	preempt_disable();
	found = co_table_slot_of(&file->table, handle, true, slot);
	preempt_enable();
	/* Or gcc computes it from the handle at each use. */
	if (likely(found))
		OPTIMIZER_HIDE_VAR(*slot);
	return found;
}

/* Finds the slot of a handle and locks its base; false if it is stale or invalid. */
static __always_inline bool ctx_lock_slot(struct callout_file *file,
					  struct callout_op_ctx *ctx, u64 handle,
					  struct callout_slot **slot)
{
	if (unlikely(!file_find_slot(file, handle, slot)))
		return false;
	co_ctx_lock(ctx, &(*slot)->node);
	return likely((*slot)->handle == handle);
}

/* Reserves a slot, and up to ctx->ahead more if the limits permit. */
static inline int file_charge(struct callout_file *file,
			      struct callout_op_ctx *ctx)
{
	unsigned int more, allowed;
	int n, ret;

	if (likely(--ctx->spare >= 0))
		return 0;
	ctx->spare = 0;
	n = atomic_read(&file->outstanding);
	do {
		while (unlikely(n >= (allowed = READ_ONCE(file->allowed)))) {
			co_ctx_sleep(ctx);
			ret = co_file_allow(file, n);
			if (ret)
				return ret;
		}
		more = min_t(unsigned int, ctx->ahead, allowed - n - 1);
	} while (!atomic_try_cmpxchg(&file->outstanding, &n, n + 1 + more));
	ctx->spare = more;
	ctx->ahead = 0;
	return 0;
}

/*
 * Gets a slot when the locked base has no free one: steals another base's, or
 * grows the table. If the table is at its maximum another thread has just
 * added the last chunk. The table has more slots than the file may use, so one
 * of them is free: retry.
 */
static noinline struct callout_slot *ctx_find_slot(struct callout_file *file,
						   struct callout_op_ctx *ctx)
{
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned int cpu, chunks;
	bool all = false;
	int ret;

	for (;;) {
		chunks = READ_ONCE(file->table.nr_chunks);
		slot = co_slot_steal(&file->table, ctx->base);
		if (slot)
			break;
		cpu = ctx->base->cpu;
		co_ctx_sleep(ctx);
		ret = co_table_grow_beyond(&file->table, cpu, chunks,
					   GFP_KERNEL_ACCOUNT |
					   __GFP_NOWARN);
		if (ret && (ret != -ENOSPC || all))
			return ERR_PTR(ret);
		all = ret;
		base = ctx_lock_home(file, ctx);
		slot = co_slot_get(co_pool(&file->table, base));
		if (slot)
			break;
	}
	co_ctx_set_base(ctx, co_base(slot->node.cpu));
	return slot;
}

/* The flags of a slot that tell its clock, and that of its due time. */
static u8 op_clock_flags(const struct callout_op *op)
{
	clockid_t clockid = co_clock_plain(op->clockid);
	u8 alarm = clockid == op->clockid ? 0 : CALLOUT_SLOT_ALARM;

	if (clockid == CLOCK_BOOTTIME)
		return CALLOUT_SLOT_BOOT | alarm;
	if (clockid != CLOCK_REALTIME)
		return 0;
	if (!(op->flags & CALLOUT_ABSTIME))
		return CALLOUT_SLOT_REAL_REL |
		       (alarm ? CALLOUT_SLOT_BOOT | alarm : 0);
	return alarm | (op->flags & CALLOUT_CANCEL_ON_SET ?
			CALLOUT_SLOT_REAL_ON_SET : CALLOUT_SLOT_REAL);
}

/* slot_set_times() with slack or another clock: in one they take 40 instructions more. */
static noinline u64 slot_set_times_slow(struct callout_slot *slot,
					struct callout_base *base,
					const struct callout_op *op, u64 now)
{
	u8 flags = op_clock_flags(op);
	u64 due = op->time, slack = op->slack, tick;

	/* RESET finds the same clock. */
	WRITE_ONCE(slot->node.flags,
		   flags | (slot->node.flags & ~CALLOUT_SLOT_CLOCK));
	if (flags & CALLOUT_SLOT_STEPS)
		WRITE_ONCE(co_slot_file(slot)->steps, true);
	if (flags & CALLOUT_SLOT_ALARM) {
		WRITE_ONCE(co_slot_file(slot)->alarms, true);
		/* Not kept in the hash, but a suspend must know the latest time. */
		if (op->op == CALLOUT_OP_TIMEOUT ||
		    slot->node.flags & CALLOUT_SLOT_HASHED)
			slack = 0;
	}
	if (op->flags & CALLOUT_ABSTIME)
		due = co_time_in(op->clockid, due);
	else
		due = min_t(u64, now + co_slot_offset(flags) + due,
			    KTIME_MAX);
	if (co_slot_on_set(flags))
		slot->next = co_real_offset();
	co_slot_set_due(slot, due);
	tick = co_slack_tick(base, co_slot_due_mono(slot), slack, now);
	co_point(CALLOUT_POINT_FILE_SET);
	return tick;
}

/* Sets a slot's expiry time; returns its tick. */
static inline u64 slot_set_times(struct callout_slot *slot,
				 struct callout_base *base,
				 const struct callout_op *op, u64 now)
{
	u64 due = op->time;

	if (unlikely(op->slack || op->clockid != CLOCK_MONOTONIC))
		return slot_set_times_slow(slot, base, op, now);
	if (op->flags & CALLOUT_ABSTIME)
		due = co_time_in(CLOCK_MONOTONIC, due);
	else
		due = min_t(u64, now + due, KTIME_MAX);
	co_slot_set_due(slot, due);
	return co_from_ns_fine(base, due, now);
}

/*
 * Takes a free slot, for a callout that will be in the hash if @hashed is true, and
 * leaves its base locked. May sleep. Returns the slot or an error.
 */
static __always_inline struct callout_slot *
file_take_slot(struct callout_file *file, struct callout_op_ctx *ctx, bool hashed)
{
	struct callout_slot *slot;
	int ret;

	if (hashed && co_file_wants_hash(file)) {
		ret = co_file_prepare_hash(file, ctx);
		if (ret)
			return ERR_PTR(ret);
	}
	ret = file_charge(file, ctx);
	if (ret)
		return ERR_PTR(ret);
	slot = co_slot_get(co_pool(&file->table,
				   ctx_lock_home(file, ctx)));
	if (unlikely(!slot)) {
		slot = ctx_find_slot(file, ctx);
		if (IS_ERR(slot))
			ctx->spare++;
	}
	return slot;
}

/* Starts the callout of a slot that was free, whose base is locked. */
static __always_inline void slot_start(struct callout_slot *slot,
				       const struct callout_op *op,
				       struct callout_op_ctx *ctx)
{
	struct callout_base *base = ctx->base;
	u64 tick = slot_set_times(slot, base, op, co_ctx_now(ctx));

	co_start_locked(base, &slot->node, tick);
	co_trace_set(base, &slot->node, false);
	ctx->count[CALLOUT_FILE_SET]++;
}

/*
 * SET or TIMEOUT; writes the handle of @op. May sleep. Returns 0, -ENOSPC, -EDQUOT or
 * -ENOMEM.
 */
int co_file_set(struct callout_file *file, struct callout_op *op,
		struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;

	slot = file_take_slot(file, ctx, op->op == CALLOUT_OP_TIMEOUT);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	co_slot_set_key(slot, op->func);
	slot->arg = op->cookie;
	op->handle = slot->handle;
	slot_start(slot, op, ctx);
	if (op->op == CALLOUT_OP_TIMEOUT) {
		WRITE_ONCE(slot->node.flags, CALLOUT_SLOT_HASHED |
					     slot->node.flags);
		co_hash_insert(&file->table.hash, slot);
	} else {
		slot->period = op->period;
		slot->slack = op->slack;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_set);

/*
 * SET of a key that no callout has, which is op->handle, for a callout of this kind.
 * May sleep. Returns the slot, its base locked; or -EEXIST if one has the key, or as
 * co_file_set().
 */
struct callout_slot *co_file_set_keyed(struct callout_file *file,
				       const struct callout_op *op,
				       enum callout_kind kind,
				       struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;

	slot = file_take_slot(file, ctx, true);
	if (IS_ERR(slot))
		return slot;
	co_slot_set_key(slot, CALLOUT_KEY_FUNC);
	slot->arg = op->handle;
	/* In the hash it must not change. */
	slot->node.kind = kind;
	if (unlikely(!co_hash_insert_only(&file->table.hash, slot))) {
		slot->node.kind = CALLOUT_KIND_EVENT;
		co_pool_add(co_pool(&file->table, ctx->base), slot);
		ctx->spare++;
		return ERR_PTR(-EEXIST);
	}
	/* Who finds it now waits for the base. */
	WRITE_ONCE(slot->node.flags, CALLOUT_SLOT_HASHED);
	slot_start(slot, op, ctx);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_set_keyed);

/*
 * file_cancel() of any; by its key if @named is true. If UNSET calls it always that
 * takes 24 instructions more.
 */
static noinline int file_cancel_slow(struct callout_file *file,
				     struct callout_slot *slot, bool named,
				     struct callout_op_ctx *ctx)
{
	struct callout_base *base = ctx->base;
	int ret = CALLOUT_CANCELLED;

	if (slot->node.state & CALLOUT_S_PENDING) {
		co_dequeue_locked(base, &slot->node);
		trace_callout_cancel(&slot->node);
		if (unlikely(slot->node.kind == CALLOUT_KIND_COMMAND))
			co_command_take(slot, &ctx->commands);
		ctx->count[CALLOUT_FILE_CANCELLED]++;
	} else {
		ret = co_file_withdraw(file, slot, named);
		if (ret != CALLOUT_WITHDRAWN) {
			ctx->count[CALLOUT_FILE_CANCELLED] +=
				ret == CALLOUT_CANCELLED;
			return ret;
		}
		ctx->count[CALLOUT_FILE_WITHDRAWN]++;
	}
	WRITE_ONCE(slot->node.flags, 0);
	co_slot_release(&file->table, base, slot);
	ctx->spare++;
	return ret;
}

/*
 * Is the slot pending, with an event to come, and not in the hash, so that to
 * cancel it calls nothing? Four bytes are tested at once.
 */
static __always_inline bool slot_is_plain(struct callout_base *base,
					  const struct callout_slot *slot)
{
	/* A slot whose CPU was offline once is away for good, which is no matter. */
	static const struct callout_node mask = {
		.state = U8_MAX & ~CALLOUT_S_AWAY,
		.kind = U8_MAX,
		.mark = U8_MAX,
	}, plain = {
		.state = CALLOUT_S_PENDING,
		.kind = CALLOUT_KIND_EVENT,
	};

	return (READ_ONCE(slot->node.bytes) & mask.bytes) == plain.bytes &&
	       !co_scheme_is_next(base, &slot->node) &&
	       !trace_callout_cancel_enabled();
}

/*
 * Cancels the callout of a slot whose base is locked. That of nearly all calls
 * nothing, so that no register is saved.
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
	return CALLOUT_CANCELLED;
}

/* CANCEL of the slots of a chunk; returns how many were cancelled. */
static int file_cancel_slots(struct callout_file *file,
			     struct callout_slot *slot, u64 cookie, u64 mask)
{
	struct callout_op_ctx ctx = {};
	unsigned int i;
	int count = 0;

	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++, slot++) {
		/* As short a hold of the base's lock as that of a batch. */
		if (i % CANCEL_SLOTS == 0)
			co_ctx_unlock(&ctx);
		co_ctx_lock(&ctx, &slot->node);
		/* -ENOENT if it is free, or being read for the last time. */
		if ((slot->arg & mask) == cookie &&
		    file_cancel(file, slot, &ctx) > 0)
			count++;
	}
	co_ctx_flush(file, &ctx);
	return count;
}

/*
 * CANCEL: all callouts whose cookie is @cookie in the bits of @mask, except any
 * that are set meanwhile. May sleep. Returns how many.
 */
int co_file_cancel(struct callout_file *file, u64 cookie, u64 mask)
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

/* UNSET of a slot whose base is locked. */
static __always_inline int file_unset_locked(struct callout_file *file,
					     struct callout_slot *slot,
					     u64 handle,
					     struct callout_op_ctx *ctx)
{
	if (unlikely(slot->handle != handle))
		return -ENOENT;
	return file_cancel(file, slot, ctx);
}

/*
 * file_unset_locked() when the run has locked another base, or none. In line it takes 12
 * instructions more, of any UNSET.
 */
static noinline int file_unset_lock(struct callout_file *file,
				    struct callout_slot *slot, u64 handle,
				    struct callout_op_ctx *ctx)
{
	co_ctx_lock(ctx, &slot->node);
	return file_unset_locked(file, slot, handle, ctx);
}

/* UNSET. Returns CALLOUT_CANCELLED, CALLOUT_WITHDRAWN or -ENOENT. */
int co_file_unset(struct callout_file *file, const struct callout_op *op,
		  struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;
	u64 handle = op->handle;

	if (unlikely(!file_find_slot(file, handle, &slot)))
		return -ENOENT;
	return co_ctx_holds(ctx, &slot->node) ?
	       file_unset_locked(file, slot, handle, ctx) :
	       file_unset_lock(file, slot, handle, ctx);
}
EXPORT_SYMBOL_IF_KUNIT(co_file_unset);

/* Cancels a callout by its handle if TIMEOUT has set it for the key of @op. */
static int file_unset_checked(struct callout_file *file,
			      const struct callout_op *op,
			      struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;

	if (!ctx_lock_slot(file, ctx, op->handle, &slot) ||
	    !(READ_ONCE(slot->node.flags) & CALLOUT_SLOT_HASHED) ||
	    co_slot_key(slot) != op->func || slot->arg != op->cookie)
		return -ENOENT;
	return file_cancel_slow(file, slot, true, ctx);
}

/*
 * RESET of a detached callout, after co_file_withdraw(): its reader will
 * re-arm it for the new time. The base has been locked throughout, so the
 * reader cannot have freed the slot, even if its copy fails before REPEAT is
 * set again.
 */
static noinline int file_reset_detached(struct callout_file *file,
					struct callout_slot *slot,
					const struct callout_op *op,
					struct callout_op_ctx *ctx)
{
	u64 now = co_ctx_now(ctx);

	raw_spin_lock(&file->lock);
	slot_set_times(slot, ctx->base, op, now);
	slot->slack = op->slack;
	slot->period = op->period;
	co_slot_change_flags(file, slot, 0,
			     CALLOUT_SLOT_REPEAT | CALLOUT_SLOT_MOVED);
	raw_spin_unlock(&file->lock);
	ctx->count[CALLOUT_FILE_RESET]++;
	return CALLOUT_CANCELLED;
}

/*
 * RESET of a callout that is not queued, or is on an offline CPU's base. A common end
 * with co_file_reset() takes 55 instructions more.
 */
static noinline int file_reset_slow(struct callout_file *file,
				    struct callout_slot *slot,
				    struct callout_op *op,
				    struct callout_op_ctx *ctx)
{
	bool pending = slot->node.state & CALLOUT_S_PENDING;
	int ret = CALLOUT_CANCELLED;
	u64 tick;

	if (pending) {
		/* On a list of due ones, or on a base that may run no more. */
		co_dequeue_locked(ctx->base, &slot->node);
	} else {
		/*
		 * Fails if a reader was faster, also if the event has come back
		 * since: moved, it would be one of two with its key.
		 */
		ret = co_file_withdraw(file, slot, true);
		if (ret == CALLOUT_CANCELLED)
			ret = file_reset_detached(file, slot, op, ctx);
		if (ret != CALLOUT_WITHDRAWN)
			return ret;
		/* It may have fired since the time of the run was read. */
		op->left = 0;
	}
	co_ctx_set_base(ctx, co_rehome(ctx->base, &slot->node));
	tick = slot_set_times(slot, ctx->base, op, co_ctx_now(ctx));
	if (slot->node.mark != CALLOUT_HASH_IN) {
		slot->period = op->period;
		slot->slack = op->slack;
	}
	co_slot_requeue(file, ctx->base, slot, tick);
	co_trace_set(ctx->base, &slot->node, pending);
	ctx->count[CALLOUT_FILE_RESET]++;
	return ret;
}

/*
 * Completes @op of RESET by what stays; the slot is in use, its base locked.
 * Returns -EINVAL if the callout cannot be as @op says.
 */
static inline int reset_complete(const struct callout_slot *slot,
				 struct callout_op *op, u8 flags)
{
	clockid_t clockid = op->clockid;

	op->clockid = co_slot_clock(slot);
	/* Its link in the hash is in the place of period, slack and next. */
	if (unlikely(flags & CALLOUT_SLOT_HASHED)) {
		if (op->period || op->flags & CALLOUT_CANCEL_ON_SET ||
		    (op->op == CALLOUT_OP_SET && op->clockid != clockid))
			return -EINVAL;
		return 0;
	}
	if (likely(!(op->flags & CALLOUT_NEW_PERIOD)))
		op->period = slot->period;
	if (likely(!(op->flags & CALLOUT_NEW_SLACK)))
		op->slack = slot->slack;
	if (unlikely(op->flags & CALLOUT_CANCEL_ON_SET) &&
	    (op->period || co_clock_plain(op->clockid) != CLOCK_REALTIME))
		return -EINVAL;
	return 0;
}

/* RESET of a callout in an alarm clock, which its base's lock has shown it to be. */
static noinline int file_reset_alarm(struct callout_file *file,
				     struct callout_op *op,
				     struct callout_op_ctx *ctx)
{
	int ret;

	co_ctx_sleep(ctx);
	ret = co_alarm_permit(op->clockid);
	if (ret)
		return ret;
	ctx->may_wake = true;
	return co_file_reset(file, op, ctx);
}

/*
 * RESET, or SET of a key that is outstanding; writes members of @op. Returns as
 * UNSET, or -EINVAL if the callout cannot have a period, or cannot end when its
 * clock is set, or has another clock; or as co_alarm_permit().
 */
int co_file_reset(struct callout_file *file, struct callout_op *op,
		  struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;
	struct callout_base *base;
	u64 tick, due, now;
	u8 state, flags;

	if (unlikely(!ctx_lock_slot(file, ctx, op->handle, &slot)))
		return -ENOENT;
	state = slot->node.state;
	flags = READ_ONCE(slot->node.flags);
	if (unlikely(!(state & CALLOUT_S_PENDING)) &&
	    !(flags & (CALLOUT_SLOT_READY | CALLOUT_SLOT_REPEAT)))
		return -ENOENT;
	if (unlikely(reset_complete(slot, op, flags)))
		return -EINVAL;
	if (unlikely(flags & CALLOUT_SLOT_ALARM && !ctx->may_wake))
		return file_reset_alarm(file, op, ctx);
	base = ctx->base;
	now = co_ctx_now(ctx);
	due = co_slot_due_mono(slot);
	op->left = due > now ? due - now : 0;
	if (unlikely((state & (CALLOUT_S_PENDING | CALLOUT_S_DUE)) !=
		     CALLOUT_S_PENDING || !base->online))
		return file_reset_slow(file, slot, op, ctx);
	tick = slot_set_times(slot, base, op, now);
	if (likely(slot->node.mark != CALLOUT_HASH_IN)) {
		slot->period = op->period;
		slot->slack = op->slack;
		co_scheme_rearm(base, &slot->node, tick);
		co_started(base, tick);
	} else {
		co_slot_requeue(file, base, slot, tick);
	}
	co_trace_set(base, &slot->node, true);
	ctx->count[CALLOUT_FILE_RESET]++;
	return CALLOUT_CANCELLED;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_reset);

/* UNTIMEOUT of a function and an argument. Returns as UNSET. */
int co_file_unset_named(struct callout_file *file, u64 func, u64 arg,
			struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;
	int ret;

	do {
		co_ctx_unlock(ctx);
		slot = co_file_lock_found(file, ctx, func, arg);
		if (!slot)
			return -ENOENT;
		/* Fails if a reader was faster: retry. */
		ret = file_cancel_slow(file, slot, true, ctx);
	} while (ret < 0);
	return ret;
}

/* UNTIMEOUT, of a key or of a handle and its key. Returns as UNSET. */
int co_file_untimeout(struct callout_file *file,
		      const struct callout_op *op,
		      struct callout_op_ctx *ctx)
{
	return op->handle ? file_unset_checked(file, op, ctx) :
	       co_file_unset_named(file, op->func, op->cookie, ctx);
}
EXPORT_SYMBOL_IF_KUNIT(co_file_untimeout);
