/* SPDX-License-Identifier: GPL-2.0 */
/* ctx.h - the state that a run of operations on one file shares */
#ifndef _CALLOUT_DEVICE_CTX_H
#define _CALLOUT_DEVICE_CTX_H

#include <linux/atomic.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/sched/isolation.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include "core/queue.h"
#include "command.h"
#include "file.h"

struct io_uring_cmd;

/*
 * A run of operations on one file. The structure begins zeroed, and the run ends with
 * co_ctx_flush() or with that function's two parts. A run shares one write to the file's
 * counters, which all CPUs use, and one hold of a base's lock. It must not be longer
 * than a budget's worth of work, which the counters can hold. Its caller may sleep:
 * while the run holds no lock, interrupts are on.
 */
struct callout_op_ctx {
	struct callout_base *base;	/* left locked by the last operation, or NULL */
	u64 now;			/* CLOCK_MONOTONIC; 0 if it must be read */
	struct io_uring_cmd *commands;	/* commands of callouts that the run has cancelled */
	bool home;			/* @base is a base for new callouts, throughout this hold */
	bool may_wake;			/* the caller is known to have CAP_WAKE_ALARM */

	/* Counters; @ahead and @spare are about callout_file.outstanding. */
	u16 ahead;			/* slots to reserve together with the next slot */
	s16 spare;			/* unused reserved slots; >= 0 between operations */
	u16 count[CALLOUT_OP_COUNTS];
};

/* CLOCK_MONOTONIC, the same for the whole run unless the run sleeps. */
static inline u64 co_ctx_now(struct callout_op_ctx *ctx)
{
	if (!ctx->now)
		ctx->now = ktime_get_ns();
	return ctx->now;
}

/* Note that the run now holds the lock of another base, or of none. */
static inline void co_ctx_set_base(struct callout_op_ctx *ctx,
				   struct callout_base *base)
{
	ctx->base = base;
	ctx->home = false;
}

/* Drop the base's lock. The caller is about to sleep, or has finished. */
static inline void co_ctx_unlock(struct callout_op_ctx *ctx)
{
	struct callout_base *base = ctx->base;

	if (base) {
		__acquire(&base->lock);	/* for sparse */
		co_base_unlock_irq(base);
		co_ctx_set_base(ctx, NULL);
	}
}

/* Prepare for a sleep of the caller: the time is read again afterwards. */
static inline void co_ctx_sleep(struct callout_op_ctx *ctx)
{
	co_ctx_unlock(ctx);
	ctx->now = 0;
}

/* Does the run hold the lock of the base of @n? If so the base of @n cannot change. */
static inline bool co_ctx_holds(const struct callout_op_ctx *ctx,
				const struct callout_node *n)
{
	return ctx->base && likely(READ_ONCE(n->cpu) == ctx->base->index);
}

/* Lock the base of @n, unless the run holds that lock already. */
static inline struct callout_base *co_ctx_lock(struct callout_op_ctx *ctx,
					       struct callout_node *n)
{
	struct callout_base *base;

	if (co_ctx_holds(ctx, n))
		return ctx->base;
	co_ctx_unlock(ctx);
	lockdep_assert_irqs_enabled();
	local_irq_disable();
	base = co_lock_irqs_off(n);
	/* For sparse, which cannot follow the lock. */
	__release(&base->lock);
	ctx->base = base;
	return base;
}

/*
 * Is @base, which the caller has locked, a base for new callouts of the file? On a
 * nohz_full CPU every housekeeping CPU's base is such a base. Interrupts are off.
 */
static inline bool co_file_is_home(struct callout_file *file,
				   const struct callout_base *base)
{
	unsigned int cpu = raw_smp_processor_id();

	if (likely(housekeeping_cpu(cpu, HK_TYPE_TIMER)))
		return base == co_base_of(file->table.class, cpu);
	return base->online && housekeeping_cpu(base->cpu, HK_TYPE_TIMER);
}

struct callout_base *co_ctx_rehome(struct callout_file *file,
				   struct callout_op_ctx *ctx,
				   struct callout_slot *slot);
void co_ctx_flush(struct callout_file *file, struct callout_op_ctx *ctx);

/*
 * The second part of co_ctx_flush(), when no base is locked: update the counters
 * and return spare slots.
 */
static inline void co_ctx_count(struct callout_file *file,
				struct callout_op_ctx *ctx)
{
	unsigned int i;

#pragma GCC unroll 4
	for (i = 0; i < CALLOUT_OP_COUNTS; i++)
		if (ctx->count[i])
			atomic64_add(ctx->count[i], &file->count[i]);
	if (ctx->spare)
		atomic_sub(ctx->spare, &file->outstanding);
	/* Complete the commands last: they may hold the only references of the file. */
	if (CALLOUT_URING && unlikely(ctx->commands))
		co_commands_cancelled(&ctx->commands);
}

#endif /* _CALLOUT_DEVICE_CTX_H */
