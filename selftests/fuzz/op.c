// SPDX-License-Identifier: GPL-2.0
/*
 * op.c - operations: the calls' arguments, and what the kernel may write
 */
#include <string.h>
#include <time.h>

#include "fuzz.h"

static const __u64 times[T_TIMES] = {
	[T_hour] = HOUR, [T_day] = 24 * HOUR, [T_max] = ~0ULL >> 1,
	[T_abs_hour] = HOUR, [T_tick] = 150000, [T_ms] = MSEC,
	[T_abs_soon] = 300000, [T_bad] = 1ULL << 63,
};

static clockid_t op_clock(const struct call *c)
{
	if (c->flags & F_REAL)
		return c->flags & F_ALARM ? CLOCK_REALTIME_ALARM :
					    CLOCK_REALTIME;
	if (c->flags & F_ALARM)
		return CLOCK_BOOTTIME_ALARM;
	return c->flags & F_BOOT || c->key & 1 ? CLOCK_BOOTTIME :
						 CLOCK_MONOTONIC;
}

/* The clock of an absolute time. */
static clockid_t plain_clock(clockid_t clock)
{
	if (clock == CLOCK_REALTIME_ALARM)
		return CLOCK_REALTIME;
	return clock == CLOCK_BOOTTIME_ALARM ? CLOCK_BOOTTIME : clock;
}

/* The handle of the call that @c means. */
__u64 op_target(const struct call *c, struct outcome *o)
{
	__u64 handle;

	o->target = NO_TARGET;
	if (c->target >= run.program->n)
		return 0;
	handle = run.outcome[c->target].handle;
	if (handle)
		o->target = c->target;
	return handle;
}

static void fill_time(const struct call *c, clockid_t clock,
		      struct callout_op *op)
{
	op->time = times[c->when];
	if (c->when == T_abs_past)
		op->time = 1;
	else if (c->when == T_abs_hour || c->when == T_abs_soon)
		op->time += now_of(plain_clock(clock));
	else
		return;
	op->flags |= CALLOUT_OPF_ABSTIME;
}

/* The opcode, and the flags that say which callout is meant. */
static const struct {
	__u32 op;
	__u32 flags;
} op_of[] = {
	[K_SET] = { CALLOUT_OP_SET, 0 },
	[K_CANCEL] = { CALLOUT_OP_CANCEL, 0 },
	[K_MOVE] = { CALLOUT_OP_MOVE, 0 },
	[K_OLD] = { CALLOUT_OP_SET, CALLOUT_OPF_ONLY_OLD },
	[K_TIMEOUT] = { CALLOUT_OP_TIMEOUT, 0 },
	[K_UNTIMEOUT] = { CALLOUT_OP_UNTIMEOUT, 0 },
	[K_KSET] = { CALLOUT_OP_SET, CALLOUT_OPF_KEY },
	[K_KCANCEL] = { CALLOUT_OP_CANCEL, CALLOUT_OPF_KEY },
	[K_KMOVE] = { CALLOUT_OP_MOVE, CALLOUT_OPF_KEY },
	[K_KOLD] = { CALLOUT_OP_SET, CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_OLD },
	[K_KNEW] = { CALLOUT_OP_SET, CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_NEW },
};

/* The name of the callout that the operation of call @i means. */
static void fill_name(unsigned int i, struct callout_op *op)
{
	const struct call *c = &run.program->call[i];
	struct outcome *o = &run.outcome[i];

	o->target = NO_TARGET;
	if (kind_is_keyed(c->kind))
		op->key = c->key + 1;
	else if (c->kind == K_CANCEL || c->kind == K_MOVE || c->kind == K_OLD ||
		 (c->kind == K_UNTIMEOUT && c->n % 4 == 0))
		op->handle = op_target(c, o);
	if (c->kind == K_TIMEOUT || c->kind == K_UNTIMEOUT) {
		op->cookie = c->key;
		op->func = c->key + 1;
	}
}

/* Fill all members that an operation sets, except the name and the time. */
static void fill_rest(unsigned int i, struct callout_op *op)
{
	const struct call *c = &run.program->call[i];
	unsigned int target = run.outcome[i].target;

	op->clockid = op_clock(c);
	if (c->flags & F_PERIOD)
		op->period = c->value & 1 ? 100000 : HOUR;
	if (c->flags & F_SLACK)
		op->slack = c->value & 1 ? MSEC : HOUR;
	else if (c->value & 2)
		op->flags |= CALLOUT_OPF_EXACT;
	if (c->flags & F_ON_SET)
		op->flags |= CALLOUT_OPF_CANCEL_ON_SET;
	if (c->kind == K_TIMEOUT || !op_has_cookie(run.program, run.outcome, i))
		return;
	/* MATCH uses the key, so the key stays. */
	if (target != NO_TARGET)
		c = &run.program->call[target];
	op->cookie = (i + 1) | c->key << 8 | COOKIE_MARK;
}

/* The operation of the call with the number @i. */
struct callout_op op_make(unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct callout_op op = {
		.op = op_of[c->kind].op,
		.flags = op_of[c->kind].flags,
	};
	unsigned int target;

	fill_name(i, &op);
	if (!kind_sets(c->kind))
		return op;
	target = run.outcome[i].target;
	fill_time(c, op_clock(kind_moves(c->kind) && target != NO_TARGET ?
			      &run.program->call[target] : c), &op);
	if (!kind_moves(c->kind))
		fill_rest(i, &op);
	return op;
}

void op_done(unsigned int i, const struct callout_op *op, long ret)
{
	const struct call *c = &run.program->call[i];
	struct outcome *o = &run.outcome[i];

	o->ret = ret;
	if (!ret && (c->kind == K_SET || c->kind == K_TIMEOUT))
		o->handle = op->handle;
}

static bool writes_left(const struct callout_op *op)
{
	if (op->op == CALLOUT_OP_MOVE)
		return true;
	return op->op == CALLOUT_OP_SET && !(op->flags & CALLOUT_OPF_ONLY_NEW) &&
	       op->flags & (CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_OLD);
}

static bool writes_handle(const struct callout_op *op)
{
	return op->op == CALLOUT_OP_TIMEOUT ||
	       (op->op == CALLOUT_OP_SET &&
		!(op->flags & (CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_NEW | CALLOUT_OPF_ONLY_OLD)));
}

/*
 * Return what is wrong with @op, as the kernel has left it, or NULL. Before the
 * call it was @given, and the call returned @ret, in op->result too if @in_batch
 * is true.
 */
const char *op_wrong(const struct callout_op *given, const struct callout_op *op,
		     long ret, bool in_batch)
{
	struct callout_op allowed = *given;

	if (in_batch)
		allowed.result = op->result;
	if (ret >= 0 && writes_handle(given)) {
		if (!op->handle)
			return "a callout was made and has no handle";
		allowed.handle = op->handle;
	}
	if (ret >= 0 && writes_left(given)) {
		if (op->left && (!ret || ret == CALLOUT_STATE_UNREAD))
			return "time was left of a callout that was due, or of none";
		allowed.left = op->left;
	}
	return memcmp(&allowed, op, sizeof(allowed)) ?
	       "an operation has written more than it may" : NULL;
}
