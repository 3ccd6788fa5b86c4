// SPDX-License-Identifier: GPL-2.0
/* set.c - SET and TIMEOUT: create a callout, or set a callout again by its handle */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <uapi/linux/callout.h>
#include "core/queue.h"
#include "alarm.h"
#include "clock.h"
#include "ctx.h"
#include "event.h"
#include "file.h"
#include "named.h"
#include "set.h"
#include "user.h"
#include "handles/table.h"
#include "kcompat.h"

/* Lock the base for new callouts, unless the run holds that lock already. */
static __always_inline struct callout_base *
ctx_lock_home(struct callout_file *file, struct callout_op_ctx *ctx)
{
	struct callout_base *base = ctx->base;

	if (likely(ctx->home))
		return base;
	if (!base || !base->online ||
	    !co_file_is_home(file, base)) {
		co_ctx_unlock(ctx);
		lockdep_assert_irqs_enabled();
		local_irq_disable();
		base = co_lock_home_irqs_off(file->table.class);
		/* For sparse, which cannot follow the lock. */
		__release(&base->lock);
		ctx->base = base;
	}
	ctx->home = true;
	return base;
}

/* Reserve a slot, and up to ctx->ahead further slots if the limits permit. */
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
 * Get a slot when the locked base has no free slot: steal a slot of another base,
 * or grow the table. If the table is at its maximum, another thread has just added
 * the last chunk. The table has more slots than the file may use, so one of them is
 * free: retry.
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
		ret = co_table_grow(&file->table, cpu, 1, chunks,
				    GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
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

/* Return the slot flags for the operation's clock and for the clock of its due time. */
static u8 op_clock_flags(const struct callout_op *op)
{
	clockid_t clockid = co_clock_plain(op->clockid);
	u8 alarm = clockid == op->clockid ? 0 : CALLOUT_SLOT_ALARM;

	if (clockid == CLOCK_BOOTTIME)
		return CALLOUT_SLOT_BOOT | alarm;
	if (clockid != CLOCK_REALTIME)
		return 0;
	if (!(op->flags & CALLOUT_OPF_ABSTIME))
		return CALLOUT_SLOT_REAL_REL |
		       (alarm ? CALLOUT_SLOT_BOOT | alarm : 0);
	return alarm | (op->flags & CALLOUT_OPF_CANCEL_ON_SET ?
			CALLOUT_SLOT_REAL_ON_SET : CALLOUT_SLOT_REAL);
}

/*
 * slot_set_times() with another slack or clock. A single function for both takes 40 more
 * instructions.
 */
static noinline u64 slot_set_times_slow(struct callout_slot *slot,
					struct callout_base *base,
					const struct callout_op *op, u64 now)
{
	u8 flags = op_clock_flags(op);
	u64 due = op->time, tick;

	WRITE_ONCE(slot->node.flags,
		   flags | (slot->node.flags & ~CALLOUT_SLOT_CLOCK));
	if (flags & CALLOUT_SLOT_STEPS)
		WRITE_ONCE(co_slot_file(slot)->steps, true);
	if (flags & CALLOUT_SLOT_ALARM)
		WRITE_ONCE(co_slot_file(slot)->alarms, true);
	if (op->flags & CALLOUT_OPF_ABSTIME)
		due = co_time_in(op->clockid, due);
	else
		due = min_t(u64, now + co_slot_offset(flags) + due,
			    KTIME_MAX);
	if (co_slot_on_set(flags))
		slot->next = co_real_offset();
	co_slot_set_due(slot, due);
	tick = co_slack_tick(base, co_slot_due_mono(slot), op->slack, now);
	co_point();
	return tick;
}

/*
 * Set a slot's clock and its times, except for slot->next of a periodic callout.
 * Return the slot's tick.
 */
static __always_inline u64 slot_set_times(struct callout_slot *slot,
					  struct callout_base *base,
					  const struct callout_op *op, u64 now)
{
	u64 due = op->time;

	slot->period = op->period;
	slot->slack = op->slack;
	if (unlikely(op->slack != callout_slack_ns ||
		     op->clockid != CLOCK_MONOTONIC ||
		     slot->node.flags & CALLOUT_SLOT_CLOCK))
		return slot_set_times_slow(slot, base, op, now);
	if (op->flags & CALLOUT_OPF_ABSTIME)
		due = co_time_in(CLOCK_MONOTONIC, due);
	else
		due = min_t(u64, now + due, KTIME_MAX);
	co_slot_set_due(slot, due);
	return co_default_tick(due, now);
}

/*
 * Take a free slot and leave its base locked. @hashed is true if the callout will
 * be in the hash. May sleep. Return the slot or an error.
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

/* Start the callout of a slot that was free. The slot's base is locked. */
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
 * SET without a key that creates a callout, or TIMEOUT. Write the handle of @op.
 * May sleep. Return 0, -ENOSPC, -EDQUOT or -ENOMEM.
 */
int co_file_set(struct callout_file *file, struct callout_op *op,
		struct callout_op_ctx *ctx)
{
	struct callout_slot *slot;

	slot = file_take_slot(file, ctx, op->op == CALLOUT_OP_TIMEOUT);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	co_slot_set_own(slot, op->func);
	slot->arg = op->cookie;
	op->handle = slot->handle;
	slot_start(slot, op, ctx);
	if (op->op == CALLOUT_OP_TIMEOUT) {
		WRITE_ONCE(slot->node.flags, CALLOUT_SLOT_HASHED |
					     slot->node.flags);
		co_hash_insert(&file->table.hash, slot);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_set);

/*
 * Take a free slot and leave its base locked. The slot has its handle, which the
 * caller may copy to the program before it starts the callout or gives the slot
 * back. May sleep. Return the slot, or an error as co_file_set().
 */
struct callout_slot *co_file_take(struct callout_file *file,
				  struct callout_op_ctx *ctx)
{
	return file_take_slot(file, ctx, false);
}

/* Give back a slot that was taken. Its base is locked. */
void co_file_give(struct callout_file *file, struct callout_slot *slot,
		  struct callout_op_ctx *ctx)
{
	co_pool_add(co_pool(&file->table, ctx->base), slot);
	ctx->spare++;
}

/* Start the callout of a command without a key in a slot that was taken. The base is locked. */
void co_file_start_command(struct callout_file *file, struct callout_slot *slot,
			   const struct callout_op *op,
			   struct callout_op_ctx *ctx)
{
	/*
	 * The thread may have moved to another CPU since then, and the slot's CPU may be
	 * offline.
	 */
	co_ctx_rehome(file, ctx, slot);
	slot->node.kind = CALLOUT_KIND_COMMAND;
	slot_start(slot, op, ctx);
}

/*
 * SET of a key that no callout has, for an event or a command, as @kind says. May
 * sleep. Return the slot, with its base locked; -EEXIST if a callout has the key; or
 * another error as co_file_set().
 */
struct callout_slot *co_file_set_keyed(struct callout_file *file,
				       const struct callout_op *op,
				       enum callout_kind kind,
				       struct callout_op_ctx *ctx)
{
	bool command = kind == CALLOUT_KIND_COMMAND;
	struct callout_slot *slot;

	slot = file_take_slot(file, ctx, true);
	if (IS_ERR(slot)) {
		/* -EEXIST takes precedence over the error. */
		co_ctx_unlock(ctx);
		return co_file_lock_found(file, ctx, CALLOUT_KEY_FUNC, op->key) ?
		       ERR_PTR(-EEXIST) : slot;
	}
	co_slot_set_own(slot, op->key);
	slot->arg = command ? op->key : op->cookie;
	slot->node.kind = kind;
	if (unlikely(!co_hash_insert_only(&file->table.hash, slot))) {
		slot->node.kind = CALLOUT_KIND_EVENT;
		co_file_give(file, slot, ctx);
		return ERR_PTR(-EEXIST);
	}
	/* A search that finds the slot now waits for the base. */
	WRITE_ONCE(slot->node.flags, CALLOUT_SLOT_HASHED);
	slot_start(slot, op, ctx);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_set_keyed);

/* Write the cookie and the times of a callout that is set again. Return its tick. */
static __always_inline u64 slot_set_again(struct callout_slot *slot,
					  const struct callout_op *op,
					  struct callout_op_ctx *ctx)
{
	if (unlikely(op->op == CALLOUT_OP_SET) &&
	    slot->node.kind != CALLOUT_KIND_COMMAND)
		slot->arg = op->cookie;
	return slot_set_times(slot, ctx->base, op, co_ctx_now(ctx));
}

/*
 * Move a detached callout, after co_file_withdraw(): its reader will re-arm it for the
 * new time. The base has been locked since before that call, so the reader cannot have
 * freed the slot, even if its copy fails before REPEAT is set again.
 */
static noinline void file_move_detached(struct callout_file *file,
					struct callout_slot *slot,
					const struct callout_op *op,
					struct callout_op_ctx *ctx)
{
	raw_spin_lock(&file->lock);
	slot_set_again(slot, op, ctx);
	co_slot_change_flags(file, slot, 0,
			     CALLOUT_SLOT_REPEAT | CALLOUT_SLOT_MOVED);
	raw_spin_unlock(&file->lock);
	ctx->count[CALLOUT_FILE_RESET]++;
}

/*
 * Move a callout that is not queued, or that must move to this CPU. Sharing the end
 * of this function with co_file_move() takes 55 more instructions.
 */
static noinline int file_move_slow(struct callout_file *file,
				   struct callout_slot *slot,
				   struct callout_op *op,
				   struct callout_op_ctx *ctx)
{
	bool pending = slot->node.state & CALLOUT_S_PENDING;
	int ret = CALLOUT_STATE_PENDING;
	u64 tick;

	if (pending) {
		/* It is on a list of due callouts, or on another CPU's base. */
		co_dequeue_locked(ctx->base, &slot->node);
	} else {
		/*
		 * It fails if a reader was faster, even if the event has been put
		 * back since then: after a move there would be two callouts with
		 * its key.
		 */
		ret = co_file_withdraw(file, slot, true);
		if (ret == CALLOUT_STATE_READING) {
			/* The callout has fired, unless it was set again since then. */
			if (slot->node.flags & CALLOUT_SLOT_MOVED)
				ret = CALLOUT_STATE_PENDING;
			else
				op->left = 0;
			file_move_detached(file, slot, op, ctx);
			return ret;
		}
		if (ret != CALLOUT_STATE_UNREAD)
			return ret;
		/* The callout may have fired since the run's time was read. */
		op->left = 0;
	}
	/* Read the clocks' offsets after this. */
	co_ctx_rehome(file, ctx, slot);
	tick = slot_set_again(slot, op, ctx);
	co_slot_requeue(file, ctx->base, slot, tick);
	co_trace_set(ctx->base, &slot->node, pending);
	ctx->count[CALLOUT_FILE_RESET]++;
	return ret;
}

/*
 * Complete @op, a MOVE, with the members that do not change. The slot is in use,
 * and its base is locked.
 */
static inline void op_keep(const struct callout_slot *slot, struct callout_op *op,
			   u8 flags)
{
	op->clockid = co_slot_clock(slot);
	op->period = slot->period;
	op->slack = slot->slack;
	if (unlikely(co_slot_on_set(flags)) && op->flags & CALLOUT_OPF_ABSTIME)
		op->flags |= CALLOUT_OPF_CANCEL_ON_SET;
}

/* Is it impossible to change the callout of a slot as a SET says? */
static bool op_replace_bad(const struct callout_slot *slot,
			   const struct callout_op *op, u8 flags)
{
	/* A command has no event. */
	if (slot->node.kind == CALLOUT_KIND_COMMAND)
		return op->period || op->cookie ||
		       op->flags & CALLOUT_OPF_CANCEL_ON_SET;
	/* A callout of TIMEOUT: the cookie is a part of its name. */
	return flags & CALLOUT_SLOT_HASHED && slot->node.kind == CALLOUT_KIND_EVENT;
}

/* MOVE of a callout in an alarm clock; the clock was read with the callout's base locked. */
static noinline int file_move_alarm(struct callout_file *file,
				    struct callout_op *op, u64 handle,
				    struct callout_op_ctx *ctx)
{
	int ret;

	co_ctx_sleep(ctx);
	ret = co_alarm_permit(op->clockid);
	if (ret)
		return ret;
	ctx->may_wake = true;
	/* The slot may hold another callout after the sleep. */
	op->flags &= ~CALLOUT_OPF_CANCEL_ON_SET;
	return co_file_move(file, op, handle, ctx);
}

/*
 * MOVE, or SET, of the callout with a handle. @op need not have that handle. Write
 * members of @op. Return the callout's state as enum callout_state; -ENOENT; -EBUSY if
 * the callout cannot be as @op says; or an error of co_alarm_permit().
 */
int co_file_move(struct callout_file *file, struct callout_op *op, u64 handle,
		 struct callout_op_ctx *ctx)
{
	bool keep = likely(op->op == CALLOUT_OP_MOVE);
	struct callout_slot *slot;
	struct callout_base *base;
	u64 tick, due, now;
	u8 state, flags;

	if (unlikely(!co_ctx_lock_slot(file, ctx, handle, &slot)))
		return -ENOENT;
	state = slot->node.state;
	flags = READ_ONCE(slot->node.flags);
	if (unlikely(!(state & CALLOUT_S_PENDING)) &&
	    !(flags & (CALLOUT_SLOT_READY | CALLOUT_SLOT_REPEAT)))
		return -ENOENT;
	if (keep)
		op_keep(slot, op, flags);
	else if (op_replace_bad(slot, op, flags))
		return -EBUSY;
	if (unlikely(flags & CALLOUT_SLOT_ALARM && keep && !ctx->may_wake))
		return file_move_alarm(file, op, handle, ctx);
	base = ctx->base;
	now = co_ctx_now(ctx);
	due = co_slot_due_mono(slot);
	op->left = due > now ? due - now : 0;
	if (unlikely((state & (CALLOUT_S_PENDING | CALLOUT_S_DUE)) !=
		     CALLOUT_S_PENDING || !base->online))
		return file_move_slow(file, slot, op, ctx);
	tick = slot_set_again(slot, op, ctx);
	/* If the new time would interrupt another CPU, the callout moves to this CPU. */
	if (unlikely(tick < base->armed) && !co_file_is_home(file, base))
		return file_move_slow(file, slot, op, ctx);
	if (likely(slot->node.place != CALLOUT_HASH_IN)) {
		co_scheme_rearm(base, &slot->node, tick);
		co_started(base, tick);
	} else {
		co_slot_requeue(file, base, slot, tick);
	}
	co_trace_set(base, &slot->node, true);
	ctx->count[CALLOUT_FILE_RESET]++;
	return CALLOUT_STATE_PENDING;
}
EXPORT_SYMBOL_IF_KUNIT(co_file_move);
