// SPDX-License-Identifier: GPL-2.0
/*
 * expiry.c - run due callouts: EXPIRYPROCESSING, in softirq context
 *
 * A base's expiry takes due callouts out of the scheme one by one, in the order in which
 * they are due, and calls their handlers. The lock is dropped in between, so the callouts
 * that follow can still be stopped or re-armed: a callout is pending until its handler
 * starts.
 *
 * Neither the time with the base locked nor the time in one softirq depends on the number
 * of callouts or on how late the base is. When the limits are reached expiry continues in
 * a tasklet, that is in a later softirq, so that other softirqs, ksoftirqd and RCU are
 * not starved. On PREEMPT_RT no tasklet is used: it would run in ksoftirqd, at a lower
 * priority than timers. See co_go_on().
 */
#include <linux/callout.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include "queue.h"
#include "expiry.h"
#include "kcompat.h"

static_assert(CALLOUT_BUDGET >= CALLOUT_MIN_BUDGET);

static unsigned int co_expire_none(struct callout_base *base,
				   struct callout_node *n,
				   unsigned int *budget);

static struct callout_owner callout_owner(const struct callout_node *n)
{
	return (struct callout_owner){
		.func = container_of(n, struct callout, node)->func,
	};
}

/*
 * An entry for each value of the byte callout_node.kind. Only init functions write
 * the table: a later stray write faults, and cannot choose which function expiry
 * calls.
 */
static struct callout_kind_ops kinds[U8_MAX + 1] __ro_after_init = {
	[CALLOUT_KIND_NONE] = { .expire = co_expire_none },
	[CALLOUT_KIND_FUNC] = { .expire = co_run_func, .owner = callout_owner },
	[CALLOUT_KIND_FUNC + 1 ... U8_MAX] = { .expire = co_expire_none },
};

/* Set the functions for due nodes of one kind. Init functions only. */
void co_register_kind(enum callout_kind kind,
		      const struct callout_kind_ops *ops)
{
	kinds[kind] = *ops;
}

/* Return who has set @n, for tracepoints. */
struct callout_owner callout_node_owner(const struct callout_node *n)
{
	return kinds[n->kind].owner ? kinds[n->kind].owner(n) :
				      (struct callout_owner){};
}
EXPORT_SYMBOL_IF_KUNIT(callout_node_owner);

#ifdef CONFIG_PREEMPT_RT
/*
 * Begin the expiry of @base. Return false if expiry is running already, or if the
 * base is dead. A second caller must not wait for the first: the second may be in
 * the function of a timer_list, holding a lock of the kernel's timers that a
 * handler waits for.
 */
static bool lock_expiry(struct callout_base *base)
{
	bool first;

	co_base_lock_irq(base);
	first = !base->expiring && !base->dead;
	if (first)
		base->expiring = true;
	co_base_unlock_irq(base);
	if (first)
		spin_lock(&base->expiry_lock);
	return first;
}

static void unlock_expiry(struct callout_base *base)
{
	spin_unlock(&base->expiry_lock);
}
#else
static bool lock_expiry(struct callout_base *base)
{
	return true;
}

static void unlock_expiry(struct callout_base *base)
{
}
#endif

/* The node that is due next, if the wheel's walk has reached it; otherwise NULL. */
static inline struct callout_node *co_next_in_row(struct callout_base *base)
{
	return list_empty(&base->due) ? co_next_in_walk(base) : NULL;
}

/* Drop a node without a kind: not initialised, or overwritten. */
static unsigned int co_expire_none(struct callout_base *base,
				   struct callout_node *n, unsigned int *budget)
	__must_hold(&base->lock)
{
	u8 kind = n->kind;

	co_take_due(base, n);
	co_base_unlock_irq(base);
	pr_err_ratelimited("callout: dropped one of kind %u: not initialised, or overwritten\n",
			   kind);
	co_base_lock_irq(base);
	return 1;
}

/*
 * Expire next the callouts that are due at @now. Callouts that were put off at an
 * earlier tick get another turn, before them.
 */
static void co_begin_tick(struct callout_base *base, u64 now)
	__must_hold(&base->lock)
{
	if (now != base->now)
		list_splice_tail_init(&base->put_off, &base->due);
	base->now = now;
}

#ifdef CONFIG_CALLOUT_LAB
/*
 * Make the scheme, which is not the wheel, move up to a budget of due callouts to
 * the due list. Return true if more may follow. The base is locked.
 */
bool co_collect(struct callout_base *base)
{
	unsigned int budget = CALLOUT_BUDGET;
	struct callout_scheme *s = base->scheme;
	bool more;

	co_begin_tick(base, co_now(base));
	more = s->ops->advance(s, base->now, &budget, &base->due);
	co_count_units(base, CALLOUT_BUDGET - budget);
	return more;
}
#endif

/*
 * Return the next tick at which something can be due, or U64_MAX for never. The
 * result is only a lower bound if time is up before the scheme's search has ended,
 * or after CALLOUT_MAX_HOLDS: the wake-up at that tick continues the search. Drops
 * the lock between budgets; @budget is the first budget.
 */
static u64 co_search_next(struct callout_base *base, unsigned int budget)
	__must_hold(&base->lock)
{
	unsigned int holds = 0;
	u64 next;

	for (;;) {
		next = co_scheme_next_due(base, &budget);
		co_count_units(base, CALLOUT_BUDGET - budget);
		if (budget || base->left <= 0 ||
		    ++holds == CALLOUT_MAX_HOLDS || co_time_is_up(base))
			return next;
		co_relock(base);
		budget = CALLOUT_BUDGET;
	}
}

static void co_program_nothing(struct callout_base *base)
	__must_hold(&base->lock)
{
	WRITE_ONCE(base->armed, U64_MAX);
	trace_callout_tick_stop(base->index);
}

/*
 * Program the tick source for the next tick at which something can be due, if any.
 * All callouts due now have been taken. A base whose search does not end in time is
 * woken at each tick, and so is a base with a callout that was put off. Drops the
 * lock between budgets; @budget is the first budget.
 */
void co_program_next(struct callout_base *base, unsigned int budget)
	__must_hold(&base->lock)
{
	u64 next;

	next = list_empty(&base->put_off) ? co_search_next(base, budget) : 0;
	/* co_base_kill() may have killed the base concurrently. */
	if (base->dead)
		return;
	if (next != U64_MAX)
		co_program(base, max(next, base->now + 1));
	else
		co_program_nothing(base);
}

/*
 * Count a wake-up that found nothing due. A program can cause many: a callout that is moved
 * to a later tick leaves the wake-up at its earlier tick behind, and a move takes a tenth of
 * the time of a wake-up. So in a base of programs time has spans of wake_gap ticks, the
 * default slack. After two false wake-ups in a span the next wake-up comes at the end of the
 * span, for which callouts with the default slack are set anyway.
 *
 *	CPU0: MOVE or SET			CPU1: expiry, wake_gap = 25
 *						tick 100: false, false_end = 125
 *	lock(base): 900, was 101
 *						tick 101: false, floor = 125
 *						co_program_next(): 102 is next:
 *						armed = 125
 *	lock(base): 110 < armed:
 *	co_program(): armed is 125 already
 *						tick 125: runs 110
 *
 * No wake-up is lost: co_program() only puts one off, up to the end of the span, and that
 * wake-up runs all that is due by then.
 */
static void co_false_wakeup(struct callout_base *base)
	__must_hold(&base->lock)
{
	u64 end;

	base->stats.false_wakeups++;
	if (!base->wake_gap)
		return;
	end = (div64_u64(base->now, base->wake_gap) + 1) * base->wake_gap;
	if (end == base->false_end)
		base->floor = end;
	base->false_end = end;
}

/* End a hold and begin another. Return false if expiry must not continue. */
static bool co_next_hold(struct callout_base *base, unsigned int *budget)
	__must_hold(&base->lock)
{
	co_relock(base);
	*budget = CALLOUT_BUDGET;
	/* A hold counts as a handler, since jiffies may stand still. */
	return --base->left > 0 && !base->dead && !co_time_is_up(base);
}

/*
 * Run due callouts one by one, until none is left or base->left is 0. Each hold of
 * the lock ends with a handler, or after CALLOUT_BUDGET units of work; @budget is
 * what is left of the last hold's budget. Return true if others are due.
 */
static bool co_expire_due(struct callout_base *base, unsigned int *budget)
	__must_hold(&base->lock)
{
	struct callout_node *n;
	bool looked = false;
	u64 now;

	for (;;) {
		n = co_scheme_first(base, budget);
		co_count_units(base, CALLOUT_BUDGET - *budget);
		if (!*budget) {
			if (!co_next_hold(base, budget))
				return true;
			continue;
		}
		if (!n) {
			/* Look only once: it can take longer than a tick. */
			now = co_now(base);
			if (looked || now == base->now)
				return false;
			looked = true;
			co_begin_tick(base, now);
			continue;
		}
		base->found = true;
		do {
			if (base->left <= 0 || base->dead)
				return true;
			if (co_is_plain(base, n)) {
				n = co_run_row(base, n);
			} else {
				base->left -= kinds[n->kind].expire(base, n, budget);
				n = co_next_in_row(base);
			}
			*budget = CALLOUT_BUDGET;
		} while (n);
	}
}

/*
 * Run the due callouts of a base, in softirq context. A base has one expiry at a
 * time. Each hold of the base's lock stays within the limits above, and the whole
 * expiry does too, except for the handler in progress. @tick: the tick source has
 * woken the base. Return true if expiry must be called again soon; otherwise the
 * tick source has been programmed.
 */
static bool expire(struct callout_base *base, bool tick)
{
	unsigned int budget = CALLOUT_BUDGET;
	int preempt, locks;
	bool again = false;
	u64 now;

	if (!lock_expiry(base))
		return false;
	/*
	 * struct callout_kind_ops promises this. It also keeps alive an associated
	 * lock that co_run_with_lock() waits for, if RCU frees that lock.
	 */
	rcu_read_lock();
	preempt = preempt_count();
	locks = lockdep_depth(current);
	co_base_lock_irq(base);
	/* Expiry of a global base, or of a single base, may be running on another CPU. */
	if (base->dead || (!IS_ENABLED(CONFIG_PREEMPT_RT) && base->expiring))
		goto unlock;
	now = co_now(base);
	tick |= READ_ONCE(base->woken);
	WRITE_ONCE(base->woken, false);
	if (tick && base->armed > now && base->armed != U64_MAX) {
		base->stats.hops++;
		/* All callouts may have been cancelled since. */
		if (co_base_pending(base))
			base->tick->program(base, base->armed);
		else
			co_program_nothing(base);
		goto out;
	}
	base->stats.wakeups += tick;
	base->expiring = true;
	base->edge = READ_ONCE(*base->jiffies);
	/*
	 * On an idle CPU jiffies may stand still until this softirq ends. But
	 * without the tasklet, expiry would not continue before the next tick.
	 */
	base->left = CALLOUT_MAX_HANDLERS;
	if (is_idle_task(current) && co_goes_on_here(base))
		base->left /= 16;
	base->found = false;
	base->preempt_count = preempt;
	base->lockdep_depth = locks;
	/* 0 is lower than any expiry, so arming does not program the tick. */
	WRITE_ONCE(base->armed, 0);
	co_begin_tick(base, now);
	again = co_expire_due(base, &budget);
	if (tick && !again && !base->found)
		co_false_wakeup(base);
	if (!again)
		co_program_next(base, budget);
out:
	base->expiring = false;
unlock:
	co_base_unlock_irq(base);
	rcu_read_unlock();
	unlock_expiry(base);
	return again;
}

bool co_expire(struct callout_base *base)
{
	return expire(base, false);
}
EXPORT_SYMBOL_IF_KUNIT(co_expire);

/*
 * Others are due, and wait for the tick source. They wait for a whole tick of the
 * kernel, since softirqs that an earlier interrupt raises may again find ksoftirqd
 * parked. On PREEMPT_RT other bases, and threads with a lower priority than this one,
 * run in between.
 */
static void co_go_on_later(struct callout_base *base)
{
	u64 ticks = div64_u64(TICK_NSEC - 1, base->tick_ns) + 1;

	co_base_lock_irq(base);
	/* Otherwise the base's own CPU has begun another expiry, or even ended it. */
	if (!base->expiring && !base->dead && !base->armed)
		co_program(base, co_now(base) + ticks);
	co_base_unlock_irq(base);
}

/*
 * Others are due: expiry continues in a later softirq. On PREEMPT_RT kernel code's
 * callouts continue here until jiffies change, with all locks released in between. If they
 * waited for the tick source each time, an otherwise idle CPU could fall behind for ever.
 * Callouts of a user wait, since other users' callouts are behind them.
 */
static void co_go_on(struct callout_base *base)
{
	u64 start = READ_ONCE(*base->jiffies);

	while (IS_ENABLED(CONFIG_PREEMPT_RT) && !co_base_is_users(base) &&
	       READ_ONCE(*base->jiffies) == start)
		if (!co_expire(base))
			return;
	if (co_goes_on_here(base))
		tasklet_schedule(&base->again);
	else
		co_go_on_later(base);
}

/* The base's tasklet: continue where co_expire() has stopped. */
void co_again(struct tasklet_struct *t)
{
	struct callout_base *base = from_tasklet(base, t, again);

	if (co_expire(base))
		co_go_on(base);
}

/*
 * The tick source calls this in softirq context, at the tick for which it was
 * programmed or at a hop before. Named after the BSD routine that hardclock() calls
 * for this purpose.
 */
void co_softclock(struct callout_base *base)
{
	if (expire(base, true))
		co_go_on(base);
}
EXPORT_SYMBOL_IF_KUNIT(co_softclock);
