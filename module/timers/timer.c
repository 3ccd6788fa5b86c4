// SPDX-License-Identifier: GPL-2.0
/*
 * timer.c - Linux's timers on callouts: the calls of linux/timer.h
 *
 * A timer is a node whose handler gets the timer, and whose time is a jiffy. As in
 * Linux the timer follows the CPU that sets it: setting a timer of another base
 * moves it here. Its flags decide each time where it goes: a pinned timer to a base
 * of CALLOUT_CLASS_KERNEL, any other timer to a base of CALLOUT_CLASS_GLOBAL or
 * CALLOUT_CLASS_DEFERRABLE, which leave idle CPUs asleep. These classes have the
 * same ticks. As for every node, the base's lock protects the timer. A call that
 * moves the timer holds other callers off by CALLOUT_CPU_MOVING, and the timer
 * stays pending, since callout_timer_pending() takes no lock:
 *
 *	CPU0: mod(t), pending on base 2		CPU1: delete(t)
 *	lock(base 2), takes t out
 *	t.cpu = MOVING, unlock(base 2)
 *						t is pending, t.cpu is MOVING:
 *						spins
 *	lock(base 0), t.cpu = 0
 *	files t, unlock(base 0)
 *						lock(base 0), takes t out,
 *						returns 1
 *
 * A running timer stays in the base that runs it, whoever sets it: that base knows
 * that the timer runs, and another base would not. So t runs once at a time, and a
 * caller that holds the lock of t's base and finds t not running there may free t:
 *
 *	CPU0: handler of t			CPU1: delete_sync(t)
 *						lock(base 0): t runs: -1
 *						unlock(base 0), spins
 *	mod(t): lock(base 0): t runs: files
 *	it here, unlock(base 0)
 *	returns
 *	lock(base 0): running = NULL
 *	run_seq + 1, unlock(base 0)
 *						lock(base 0): t does not run: takes
 *						it out, returns 1
 *
 * If CPU2 sets t concurrently, or just after CPU1 has unlocked, t is pending when
 * delete_sync() has returned, as in Linux. The caller of delete_sync() must exclude
 * that, or shut the timer down. From the shutdown on the function is NULL. It is
 * written and tested under the lock of t's base, and no base is t's base while CPU2
 * moves t:
 *
 *	CPU1: shutdown(t)			CPU2: mod(t)
 *						lock(base 0): t has a function,
 *						t.cpu = MOVING, unlock(base 0)
 *	spins
 *						lock(base 2), t.cpu = 2
 *						files t, unlock(base 2)
 *	lock(base 2): takes t out
 *	function = NULL, unlock(base 2)
 *						mod(t): lock(base 2): no function:
 *						returns 0
 *
 * callout_timer_add_on() also queues a running timer in the base that runs it. That
 * base moves the timer when its handler has returned, if the timer is still
 * pending: see co_leave(). Linux moves the timer at once, and forgets that it runs.
 *
 * A CPU that dies leaves its pending timers to another CPU, still pending. Between
 * the end of the dead base's expiry and that move, nobody queues in the dead base:
 * each setting tests "online" of the base in which it queues, with that base
 * locked, and a running timer is in a base whose expiry has not ended yet.
 */
#include <linux/bug.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/timer.h>
#include "core/queue.h"
#include "core/expiry.h"
#include "timer.h"

#ifndef CONFIG_LOCKDEP
static_assert(sizeof(struct callout_timer) <= 64);
#endif

/* How a timer is set. */
#define SET_IF_PENDING	0x01	/* only if the timer is pending */
#define SET_IF_EARLIER	0x02	/* only if the timer is not pending, or due later */
#define SET_PINNED	0x04	/* the timer is TIMER_PINNED from now on */
#define SET_GLOBAL	0x08	/* the timer is not TIMER_PINNED from now on */

static unsigned int timer_class(u32 flags)
{
	if (flags & TIMER_DEFERRABLE)
		return CALLOUT_CLASS_DEFERRABLE;
	return flags & TIMER_PINNED ? CALLOUT_CLASS_KERNEL :
				      CALLOUT_CLASS_GLOBAL;
}

/* The base for a timer with @flags that is set here. */
static struct callout_base *timer_base_here(u32 flags)
{
	unsigned int class = timer_class(flags);

	if (class == CALLOUT_CLASS_GLOBAL)
		return co_base_unpinned();
	return co_base_of(class, flags & TIMER_PINNED ? raw_smp_processor_id() :
							co_home_cpu());
}

/* The base for a timer that is set on @cpu. Here if @cpu is negative or has no base. */
static struct callout_base *timer_base_on(u32 flags, int cpu)
{
	unsigned int first = timer_class(flags) * nr_cpu_ids;
	struct callout_base *base = NULL;

	if (cpu >= 0 && cpu < nr_cpu_ids)
		base = READ_ONCE(callout_bases[first + cpu]);
	return base ?: timer_base_here(flags);
}

/*
 * The tick of @base at which jiffies reach the timer's time, or the next tick if
 * they have reached it already. Distances are less than half the range of jiffies.
 */
static u64 timer_tick(struct callout_base *base, struct callout_timer *t)
{
	u64 now = co_now(base), jiffy;
	long ticks;

	if (likely(base->tick == &callout_tick_jiffies)) {
		ticks = t->expires - (unsigned long)now;
		return now + (ticks > 0 ? ticks : 1);
	}
	/* Read jiffies first: if the clock advances in between, the timer is late, not early. */
	jiffy = get_jiffies_64();
	ticks = clamp_t(long, t->expires - (unsigned long)jiffy, 1,
			S64_MAX / 2 / TICK_NSEC);
	if (co_is_wheel(base))
		t->node.time = jiffy + ticks;
	now = ktime_get_ns();
	return co_from_ns(base, now + ticks * TICK_NSEC, now);
}

/* How long a timer waits for late jiffies. */
#define JIFFIES_LATE_NS		(TICK_NSEC / 4)

/*
 * With a tick source other than jiffies, a tick can come before the kernel's tick,
 * which counts jiffies. Requeue a timer whose jiffy has not begun. This is a unit
 * of work.
 */
static bool timer_postpone(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock)
{
	u64 now;

	if (likely(base->tick == &callout_tick_jiffies) ||
	    !co_is_wheel(base) || time_before_eq64(n->time, get_jiffies_64()))
		return false;
	now = ktime_get_ns();
	co_unqueue_locked(base, n);
	callout_change_state(n, CALLOUT_S_DUE, 0);
	co_start_locked(base, n, co_from_ns(base, now + JIFFIES_LATE_NS, now));
	co_relock(base);
	return true;
}

/*
 * Set a timer that has a function. The timer goes to @to unless it runs. Unlock
 * @base and return the timer's new base, locked. @pending: the timer is pending
 * already.
 */
static struct callout_base *timer_set_locked(struct callout_base *base,
					     struct callout_timer *t,
					     struct callout_base *to,
					     bool pending)
	__must_hold(&base->lock)
{
	struct callout_node *n = &t->node;
	bool stays = co_timer_runs(base, t) || (base == to && base->online);
	bool queued = pending && stays && !(n->state & CALLOUT_S_DUE);
	u64 tick;

	if (pending && !queued) {
		co_unqueue_locked(base, n);
		callout_change_state(n, CALLOUT_S_DUE, 0);
	}
	if (!stays)
		base = co_move_locked(base, n, to);
	/* Memory prepared only by a static initialiser has no kind yet. */
	n->kind = CALLOUT_KIND_TIMER;
	if (!pending)
		debug_object_activate(t, &callout_timer_descr);
	tick = timer_tick(base, t);
	if (queued) {
		co_scheme_rearm(base, n, tick);
		co_started(base, tick);
	} else {
		co_start_locked(base, n, tick);
	}
	co_trace_set(base, n, pending);
	return base;
}

/*
 * A running timer is set for @to. It moves there when its handler has returned, see
 * co_leave(). The base is locked.
 */
static void timer_leaves(struct callout_base *base, struct callout_timer *t,
			 struct callout_base *to)
	__must_hold(&base->lock)
{
	struct callout_node *n = &t->node;

	n->home = to->index;
	base->leaving = base == to ? NULL : n;
	base->attention = true;
}

/*
 * Set a timer for @expires, on @cpu or, if @cpu is negative, on this CPU. Return
 * whether the timer was pending.
 */
static int timer_set(struct callout_timer *t, unsigned long expires,
		     unsigned int how, int cpu)
{
	struct callout_base *base, *to;
	unsigned long flags;
	bool pending;

	base = co_lock(&t->node, &flags);
	pending = t->node.state & CALLOUT_S_PENDING;
	if (how & SET_PINNED)
		WRITE_ONCE(t->flags, t->flags | TIMER_PINNED);
	if (how & SET_GLOBAL)
		WRITE_ONCE(t->flags, t->flags & ~TIMER_PINNED);
	if (!t->function || (!pending && how & SET_IF_PENDING) ||
	    (pending && how & SET_IF_EARLIER &&
	     time_before_eq(t->expires, expires)))
		goto out;
	WRITE_ONCE(t->expires, expires);
	to = timer_base_on(t->flags, cpu);
	if (unlikely(co_timer_runs(base, t))) {
		base->leaving = NULL;
		/* Also if the timer was not pinned when it was set last. */
		if (cpu >= 0 || (t->flags & TIMER_PINNED &&
				 co_base_has_class(base, CALLOUT_CLASS_GLOBAL)))
			timer_leaves(base, t, to);
	}
	base = timer_set_locked(base, t, to, pending);
out:
	co_unlock(base, flags);
	return pending;
}

/* timer_set() for a timer that may be pending. Takes no lock if its time does not change. */
static int timer_mod(struct callout_timer *t, unsigned long expires,
		     unsigned int how)
{
	long later;

	debug_object_assert_init(t, &callout_timer_descr);
	if (callout_timer_pending(t)) {
		later = expires - READ_ONCE(t->expires);
		if (!later || (how & SET_IF_EARLIER && later > 0))
			return 1;
	}
	co_point();
	return timer_set(t, expires, how, -1);
}

/**
 * callout_timer_mod() - Set a timer, or move it to another time.
 * @timer: The timer.
 * @expires: The value of jiffies at which the timer's function is called. A value
 *	that jiffies have reached stands for the next jiffy.
 *
 * The timer goes to the caller's CPU, unless its function is running in another
 * CPU's base, or the timer is pending for @expires already. If the caller's CPU is
 * nohz_full, a timer that is not pinned goes to a housekeeping CPU. A timer that
 * was shut down is not set.
 *
 * From linux/timer.h: mod_timer().
 *
 * Context: Any but NMI, hard interrupt included.
 * Return: 1 if the timer was pending, else 0; 0 if it was shut down.
 */
int callout_timer_mod(struct callout_timer *timer, unsigned long expires)
{
	return timer_mod(timer, expires, 0);
}
EXPORT_SYMBOL_GPL(callout_timer_mod);

/**
 * callout_timer_mod_pending() - Move a pending timer to another time.
 * @timer: The timer. If it is not pending, nothing changes.
 * @expires: As for callout_timer_mod().
 *
 * From linux/timer.h: mod_timer_pending().
 *
 * Context: Any but NMI, hard interrupt included.
 * Return: 1 if the timer was pending, else 0.
 */
int callout_timer_mod_pending(struct callout_timer *timer,
			      unsigned long expires)
{
	return timer_mod(timer, expires, SET_IF_PENDING);
}
EXPORT_SYMBOL_GPL(callout_timer_mod_pending);

/**
 * callout_timer_reduce() - Set a timer, or move it to an earlier time.
 * @timer: The timer. If it is pending and due by @expires, nothing changes.
 * @expires: As for callout_timer_mod().
 *
 * From linux/timer.h: timer_reduce().
 *
 * Context: Any but NMI, hard interrupt included.
 * Return: As callout_timer_mod().
 */
int callout_timer_reduce(struct callout_timer *timer, unsigned long expires)
{
	return timer_mod(timer, expires, SET_IF_EARLIER);
}
EXPORT_SYMBOL_GPL(callout_timer_reduce);

static void timer_add(struct callout_timer *t, unsigned int how, int cpu)
{
	debug_object_assert_init(t, &callout_timer_descr);
	if (WARN_ON_ONCE(callout_timer_pending(t)))
		return;
	timer_set(t, t->expires, how, cpu);
}

/**
 * callout_timer_add() - Set a timer that is not pending.
 * @timer: The timer, with its time in @timer->expires. If it is pending this
 *	warns, once, and changes nothing.
 *
 * As callout_timer_mod().
 *
 * From linux/timer.h: add_timer().
 *
 * Context: Any but NMI, hard interrupt included.
 */
void callout_timer_add(struct callout_timer *timer)
{
	timer_add(timer, 0, -1);
}
EXPORT_SYMBOL_GPL(callout_timer_add);

/**
 * callout_timer_add_local() - Set a timer that is not pending, pinned.
 * @timer: As for callout_timer_add(). It has TIMER_PINNED afterwards.
 *
 * From linux/timer.h: add_timer_local(), of Linux 6.9 and later.
 *
 * Context: Any but NMI, hard interrupt included.
 */
void callout_timer_add_local(struct callout_timer *timer)
{
	timer_add(timer, SET_PINNED, -1);
}
EXPORT_SYMBOL_GPL(callout_timer_add_local);

/**
 * callout_timer_add_global() - Set a timer that is not pending, not pinned.
 * @timer: As for callout_timer_add(). It does not have TIMER_PINNED afterwards.
 *
 * From linux/timer.h: add_timer_global(), of Linux 6.9 and later.
 *
 * Context: Any but NMI, hard interrupt included.
 */
void callout_timer_add_global(struct callout_timer *timer)
{
	timer_add(timer, SET_GLOBAL, -1);
}
EXPORT_SYMBOL_GPL(callout_timer_add_global);

/**
 * callout_timer_add_on() - Set a timer that is not pending, on a given CPU.
 * @timer: As for callout_timer_add(). It has TIMER_PINNED afterwards.
 * @cpu: The CPU. If it is not online the timer is set on the current CPU.
 *
 * If the function of @timer is running on another CPU, it does not run on @cpu
 * before that call has returned.
 *
 * From linux/timer.h: add_timer_on().
 *
 * Context: Any but NMI, hard interrupt included.
 */
void callout_timer_add_on(struct callout_timer *timer, int cpu)
{
	timer_add(timer, SET_PINNED, cpu);
}
EXPORT_SYMBOL_GPL(callout_timer_add_on);

/*
 * The base that a timer belongs to until it is set. A kernel whose own timers are
 * callouts initialises some of them before there are bases, see replaced/: they get
 * the value that a static initialiser gives.
 */
static u32 timer_first_base(u32 flags)
{
	return likely(callout_bases) ? timer_base_here(flags)->index : 0;
}

static void timer_init(struct callout_timer *t,
		       void (*func)(struct callout_timer *timer),
		       unsigned int flags, const char *name,
		       struct lock_class_key *key)
{
	if (WARN_ON_ONCE(flags & ~TIMER_INIT_FLAGS))
		flags &= TIMER_INIT_FLAGS;
	co_setup(&t->node, CALLOUT_KIND_TIMER, timer_first_base(flags));
	t->function = func;
	t->flags = flags;
	lockdep_init_map(&t->lockdep_map, name, key, 0);
	trace_callout_init(&t->node);
}

/**
 * callout_timer_init_key() - Initialise a timer.
 * @timer: The timer, neither pending nor running.
 * @func: The function that is called when it is due, in softirq context.
 * @flags: TIMER_DEFERRABLE: the timer wakes no idle CPU; TIMER_PINNED: it runs on
 *	the CPU that has set it; TIMER_IRQSAFE: @func runs with interrupts off.
 * @name: For lockdep.
 * @key: For lockdep; both are NULL without it.
 *
 * timer_setup() of linux/timer.h calls this for a struct callout_timer.
 *
 * Context: Any.
 */
void callout_timer_init_key(struct callout_timer *timer,
			    void (*func)(struct callout_timer *timer),
			    unsigned int flags, const char *name,
			    struct lock_class_key *key)
{
	debug_object_init(timer, &callout_timer_descr);
	timer_init(timer, func, flags, name, key);
}
EXPORT_SYMBOL_GPL(callout_timer_init_key);

/**
 * callout_timer_init_key_on_stack() - Initialise a timer on the stack.
 * @timer: The timer.
 * @func: As for callout_timer_init_key().
 * @flags: As for callout_timer_init_key().
 * @name: As for callout_timer_init_key().
 * @key: As for callout_timer_init_key().
 *
 * timer_setup_on_stack() of linux/timer.h calls this. The caller must call
 * callout_timer_destroy_on_stack() before it returns.
 *
 * Context: Any.
 */
void callout_timer_init_key_on_stack(struct callout_timer *timer,
				     void (*func)(struct callout_timer *timer),
				     unsigned int flags, const char *name,
				     struct lock_class_key *key)
{
	debug_object_init_on_stack(timer, &callout_timer_descr);
	timer_init(timer, func, flags, name, key);
}
EXPORT_SYMBOL_GPL(callout_timer_init_key_on_stack);

/**
 * callout_timer_destroy_on_stack() - End a timer on the stack.
 * @timer: The timer, neither pending nor running.
 *
 * From linux/timer.h: timer_destroy_on_stack(), formerly
 * destroy_timer_on_stack().
 *
 * Context: Any.
 */
void callout_timer_destroy_on_stack(struct callout_timer *timer)
{
	debug_object_free(timer, &callout_timer_descr);
}
EXPORT_SYMBOL_GPL(callout_timer_destroy_on_stack);

/*
 * Run a timer's function, with interrupts on or off. A waiter for the timer spins,
 * perhaps holding the lock of a console. So the report of how long the function took
 * is printed when the timer no longer runs. A lock or a preemption count that the
 * function leaves behind is reported at once, as in Linux. If interrupts were off they
 * are turned on for a moment, but not while the timer counts as running, since a hard
 * interrupt may wait for it.
 */
static inline void timer_run(struct callout_base *base, struct callout_node *n)
	__must_hold(&base->lock)
{
	struct callout_timer *t = container_of(n, struct callout_timer, node);
	void (*fn)(struct callout_timer *timer) = t->function;
	/* Only its name is used. */
	callout_func_t *func = (void *)fn;
	bool irqsafe = t->flags & TIMER_IRQSAFE, passed;
#ifdef CONFIG_LOCKDEP
	struct lockdep_map map;

	lockdep_copy_map(&map, &t->lockdep_map);
#endif
	if (timer_postpone(base, n))
		return;
	co_take_started(base, n);
	debug_object_deactivate(t, &callout_timer_descr);
	/* Only the timer's user can have set it to NULL. */
	if (WARN_ON_ONCE(!fn)) {
		co_relock(base);
		return;
	}
	co_run_begin(base, n);
	if (!irqsafe)
		local_irq_enable();
	/* From here on @t may be freed. */
	lock_map_acquire(&map);
	fn(t);
	lock_map_release(&map);
	co_check_context(base, func);
	passed = READ_ONCE(*base->jiffies) != base->edge;
	co_run_end(base, t);
	if (unlikely(passed)) {
		co_base_unlock_irq(base);
		co_time_passed(base, func);
		co_base_lock_irq(base);
	} else if (irqsafe) {
		co_relock(base);
	}
}

/*
 * Run @n and the timers that follow it in the walk of its bucket. Each hold of the lock ends
 * with a timer. Where many are due together, each takes 83 instructions here, and 112 one by
 * one in co_expire_due(). Between two timers the stage is CALLOUT_STAGE_TIMER too:
 * co_timer_runs() looks at base->running first.
 */
static unsigned int timer_expire(struct callout_base *base,
				 struct callout_node *n, unsigned int *budget)
	__must_hold(&base->lock)
{
	int done = 0;

	base->stage = CALLOUT_STAGE_TIMER;
	do {
		timer_run(base, n);
		done++;
		n = co_next_in_walk(base);
	} while (n && n->kind == CALLOUT_KIND_TIMER && done < base->left &&
		 !base->dead);
	base->stage = CALLOUT_STAGE_STARTED;
	return done;
}

static struct callout_owner timer_owner(const struct callout_node *n)
{
	return (struct callout_owner){
		.func = (void *)container_of(n, struct callout_timer,
					     node)->function,
	};
}

static const struct callout_kind_ops kind_timer = {
	.expire	= timer_expire,
	.owner	= timer_owner,
};

/* Called at module load, before any timer is set. */
void co_timers_init(void)
{
	co_register_kind(CALLOUT_KIND_TIMER, &kind_timer);
}
