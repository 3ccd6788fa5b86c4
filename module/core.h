/* SPDX-License-Identifier: GPL-2.0 */
/*
 * core.h - what the core offers to the layers above and to the tick sources
 */
#ifndef _CALLOUT_CORE_H
#define _CALLOUT_CORE_H

#include <linux/callout.h>
#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/smp.h>
#include <linux/sched/clock.h>
#include <linux/sched/isolation.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <trace/events/callout.h>
#include "schemes/hashed_wheel.h"
#include "schemes/scheme.h"

struct callout_base;
struct callout_chip;

/* Lateness is counted in powers of two: 0, 1, 2 to 3, 4 to 7, ... ticks. */
#define CALLOUT_LATE_BINS	12

/**
 * struct callout_stats - what a base, or all of them, have done
 * @handlers: handlers run, and callouts handed to files
 * @wakeups: times the tick source found something due, or should have
 * @false_wakeups: those that found nothing due
 * @hops: times the jiffies source was woken on its way to a far tick
 * @visits: entries that the scheme has looked at
 * @refiles: entries that it found moved to a later time, and re-filed
 * @max_units: most units of work that a base's expiry has done in one hold of
 *	its lock; the sum over bases is their maximum
 * @slow: handlers that took longer than CALLOUT_SLOW_NS
 * @late: callouts by the number of ticks from expiry to handler
 */
struct callout_stats {
	u64 handlers;
	u64 wakeups;
	u64 false_wakeups;
	u64 hops;
	u64 visits;
	u64 refiles;
	u64 max_units;
	u64 slow;
	u64 late[CALLOUT_LATE_BINS];
};

/* callout.cpu while a callout is between two bases: wait for a real one. */
#define CALLOUT_CPU_MOVING	U16_MAX

/* callout_node.flags of a slot of a file: set by TIMEOUT */
#define CALLOUT_L_HASHED	0x10

/**
 * struct callout_tick_source - what tells the time and wakes a base up
 * @name: as given to the module parameter tick_source=
 * @now: the current tick of a base; any context
 * @from_ns: a tick at which CLOCK_MONOTONIC will have come to @due, as near as
 *	is known, and after the present one; @now is the clock's time
 * @init: prepares a base's members for this source; may sleep
 * @program: makes callout_softclock(), or callout_base.again, run on the base's
 *	CPU at or soon after tick @tick, and not before; the base's lock is held
 * @shutdown: after this callout_softclock() does not run any more; may sleep
 * @clock: the nanoseconds that the limits of expiry are counted in; NULL, as
 *	all but those of tests have it: local_clock()
 *
 * A simulated chip has these besides; see chip.c:
 *
 * @under: the source that it is simulated on
 * @interrupt: what the chip does when @under has come to base.armed; returns
 *	whether it interrupts the host; softirq, the base is not locked
 * @filed: a callout was queued that is due at @expires; the base's lock is held
 * @unfiled: a callout that was queued to be due at @expires is queued no more;
 *	the base's lock is held
 */
struct callout_tick_source {
	const char *name;
	u64 (*now)(struct callout_base *base);
	u64 (*from_ns)(u64 due, u64 now);
	void (*init)(struct callout_base *base);
	void (*program)(struct callout_base *base, u64 tick);
	void (*shutdown)(struct callout_base *base);
	u64 (*clock)(struct callout_base *base);

	const struct callout_tick_source *under;
	bool (*interrupt)(struct callout_base *base);
	void (*filed)(struct callout_base *base, u64 expires);
	void (*unfiled)(struct callout_base *base, u64 expires);
};

extern const struct callout_tick_source callout_tick_jiffies;
extern const struct callout_tick_source callout_tick_hrtimer;
extern const struct callout_tick_source callout_tick_chip_busy;
extern const struct callout_tick_source callout_tick_chip_full;

/**
 * enum callout_stage - where the handler of callout_base.running is
 * @CALLOUT_STAGE_STARTED: called, or past the point where it can be stopped
 * @CALLOUT_STAGE_WAITING: it waits for its associated lock
 * @CALLOUT_STAGE_CANCELLED: it did, and when it has the lock it does not start
 * @CALLOUT_STAGE_OVER: it has returned, and the core lets go of its lock
 */
enum callout_stage {
	CALLOUT_STAGE_STARTED,
	CALLOUT_STAGE_WAITING,
	CALLOUT_STAGE_CANCELLED,
	CALLOUT_STAGE_OVER,
};

/**
 * struct callout_base - the callouts of one CPU, or with bases=single of all
 * @lock: protects all of this and the private members of each callout whose
 *	@cpu says that it belongs here. Taken in hard interrupt context; never
 *	held for more than CALLOUT_BUDGET units of work.
 * @index: its place in callout_bases[]: the CPU; 0 for a single base;
 *	nr_cpu_ids for the base of a test
 * @cpu: the CPU that @tick wakes up. Differs from @index for a single base
 *	only, and then changes when that CPU goes down.
 * @online: others than the CPU itself may arm callouts here
 * @direct: the scheme is the wheel, and nobody asks to be told what is filed:
 *	start, rearm and stop are called in line
 * @expiring: callout_expire() is at work
 * @dead: nothing runs here any more and nothing is programmed; @armed stays 0
 * @stage: how far the handler of @running has come. CALLOUT_STAGE_OVER is
 *	written under the associated lock alone.
 * @scheme: the queued callouts
 * @slots: callouts that tables may file here, and some embedded ones
 * @room: for how many the scheme was asked to reserve memory
 * @pending: how many callouts are in @scheme, on @due and on @put_off
 * @due: those that have expired and whose turn has not come yet
 * @put_off: those whose lock was taken when their turn came: CALLOUT_TRYLOCK.
 *	They have CALLOUT_S_DUE, and go back to @due at the next tick.
 * @tick: what tells the time
 * @armed: the tick for which the source is programmed; U64_MAX: not at all;
 *	0: it need not be, callout_expire() is at work or is going to be, or
 *	the base is dead
 * @running: the callout whose handler runs. Only compared, never followed:
 *	the handler may have freed it.
 * @leaving: @running, if it is pending and is to go to its home afterwards
 * @drain: called when the handler of @running has returned: async_drain
 * @run_seq: odd while a handler runs
 * @waiters: how many wait for @run_seq to change
 * @wait: where they sleep; on PREEMPT_RT it is @expiry_lock
 * @expiry_lock: on PREEMPT_RT, held around handlers, so that who waits for one
 *	lends it his priority
 * @clock: callout_clock() when the last handler returned, or expiry began
 * @preempt_count: what it was before the handlers, and must be after each
 * @lockdep_depth: the same
 * @timer: for the jiffies source
 * @hrtimer: for the hrtimer source
 * @kick: for the hrtimer source: has the CPU program @hrtimer
 * @kicked: @kick is on its way
 * @again: goes on with expiry in a later softirq
 * @chip: of a tick source that simulates one, or NULL
 * @now: the tick for which @due was filled last
 * @stats: counters; visits and refiles are the scheme's
 */
struct callout_base {
	raw_spinlock_t lock;
	unsigned int index;
	bool online;
	bool direct;
	bool expiring;
	bool dead;
	enum callout_stage stage;
	struct callout_scheme *scheme;
	struct list_head due;
	unsigned int pending;
	unsigned int cpu;
	const struct callout_tick_source *tick;
	u64 armed;

	struct callout_node *running;
	struct callout_node *leaving;
	callout_func_t *drain;
	unsigned long run_seq;
	unsigned int waiters;
#ifdef CONFIG_PREEMPT_RT
	spinlock_t expiry_lock;	/* around handlers; outside @lock */
#else
	wait_queue_head_t wait;
#endif
	u64 clock;
	int preempt_count;
	int lockdep_depth;

	union {
		struct timer_list timer;
		struct {
			struct hrtimer hrtimer;
			call_single_data_t kick;
			bool kicked;
		};
	};
	struct tasklet_struct again;
	struct list_head put_off;
	struct callout_chip *chip;
	unsigned int slots;
	unsigned int room;

	u64 now;
	struct callout_stats stats;
};

/* Units of work done with a base locked and interrupts off, at most. */
#define CALLOUT_BUDGET		64U

/* Handlers run, and time spent, in one softirq, at most. */
#define CALLOUT_MAX_HANDLERS	1024U
#define CALLOUT_MAX_NS		(2 * NSEC_PER_MSEC)

/* A handler that takes longer, with its wait for its lock, holds others up. */
#define CALLOUT_SLOW_NS		(2 * NSEC_PER_MSEC)

/*
 * One a possible CPU, made when the CPU first comes up, and one for tests. With
 * bases=single all CPUs have the same.
 */
extern struct callout_base **callout_bases;

extern seqcount_t callout_moves;

static inline struct callout_base *callout_base(u32 index)
{
	return callout_bases[index];
}

/* The base whose index is @cpu: a loop over all CPUs meets each base once. */
static inline struct callout_base *callout_base_of(unsigned int cpu)
{
	struct callout_base *base = READ_ONCE(callout_bases[cpu]);

	return base && base->index == cpu ? base : NULL;
}

/**
 * struct callout_kind_ops - what to do with nodes of one kind
 * @expire: takes a due node off the base's due list and does what its kind asks
 *	for; may take others of the same kind that follow it. Called with the
 *	base locked; may drop the lock in between. Returns how many it took.
 * @func: the handler of a node, or NULL if this kind has none
 */
struct callout_kind_ops {
	unsigned int (*expire)(struct callout_base *base,
			       struct callout_node *n);
	callout_func_t *(*func)(const struct callout_node *n);
};

void callout_register_kind(enum callout_kind kind,
			   const struct callout_kind_ops *ops);

static inline u64 callout_now(struct callout_base *base)
{
	if (likely(base->tick == &callout_tick_jiffies))
		return get_jiffies_64();
	return base->tick->now(base);
}

/* What CALLOUT_MAX_NS and CALLOUT_SLOW_NS are measured with. */
static inline u64 callout_clock(struct callout_base *base)
{
	if (likely(!base->tick->clock))
		return local_clock();
	return base->tick->clock(base);
}

/* The tick that is @ticks from now; less than one counts as one. */
static inline u64 callout_expiry(struct callout_base *base, long ticks)
{
	return callout_now(base) + (ticks > 0 ? ticks : 1);
}

/* Of the ticks from @first to @last, the one that others likely choose too. */
static inline u64 callout_coalesce(u64 first, u64 last)
{
	if (first >= last || !first)
		return first;
	return last & ~(BIT_ULL(fls64((first - 1) ^ last) - 1) - 1);
}

/**
 * struct callout_span - when a callout may run
 * @first: not before that
 * @last: not later if it can be helped, at least @first
 * @ticks: they are ticks from now on; else nanoseconds of CLOCK_MONOTONIC
 */
struct callout_span {
	u64 first;
	u64 last;
	bool ticks;
};

int callout_arm_span(struct callout *c, const struct callout_span *span,
		     callout_func_t *func, void *arg, int cpu);
void callout_no_function(void);

/* What CLOCK_MONOTONIC was at jiffy 0, or less than a tick later; see tick.c. */
extern atomic64_t callout_jiffy_zero;

/*
 * from_ns of struct callout_tick_source, for jiffies. Where the edges of
 * jiffies are is known to a tick only, so one is added to be never early.
 * Counting from the present jiffy would not do: it may be old.
 */
static inline u64 callout_jiffies_from_ns(u64 due, u64 now)
{
	u64 since = due - (u64)atomic64_read(&callout_jiffy_zero);

	return max((since + TICK_NSEC - 1) / TICK_NSEC, get_jiffies_64()) + 1;
}

static inline u64 callout_from_ns(struct callout_base *base, u64 due, u64 now)
{
	if (likely(base->tick == &callout_tick_jiffies))
		return callout_jiffies_from_ns(due, now);
	return base->tick->from_ns(due, now);
}

void callout_setup(struct callout_node *n, enum callout_kind kind, u32 cpu);

struct callout_base *callout_lock_slow(struct callout_node *n)
	__acquires(&base->lock);
struct callout_base *callout_lock_home_slow(struct callout_base *base)
	__acquires(base);
struct callout_base *callout_rehome_slow(struct callout_base *base,
					 struct callout_node *n)
	__must_hold(base);
void callout_leave(struct callout_base *base)
	__must_hold(base);
void callout_program(struct callout_base *base, u64 tick);

/* Expiry has done so many units of work in one hold of the lock. */
static inline void callout_count_units(struct callout_base *base,
				       unsigned int units)
{
	if (units > base->stats.max_units)
		base->stats.max_units = units;
}

/* callout_lock() with interrupts off already. */
static inline struct callout_base *callout_lock_irqs_off(struct callout_node *n)
	__acquires(&base->lock)
{
	struct callout_base *base;
	u32 cpu;

	/* Pairs with the writes of n->cpu under the lock taken below. */
	cpu = READ_ONCE(n->cpu);
	if (unlikely(cpu == CALLOUT_CPU_MOVING))
		return callout_lock_slow(n);
	base = callout_base(cpu);
	raw_spin_lock(&base->lock);
	/* If it is not of this base another CPU may be changing it. */
	if (likely(READ_ONCE(n->cpu) == base->index))
		return base;
	raw_spin_unlock(&base->lock);
	return callout_lock_slow(n);
}

/**
 * callout_lock - locks the base that a callout belongs to
 * @n: the callout
 * @flags: for callout_unlock()
 *
 * Context: Any. Leaves interrupts off.
 * Return: the base; @n stays its until it is unlocked.
 */
static inline struct callout_base *callout_lock(struct callout_node *n,
						unsigned long *flags)
	__acquires(&base->lock)
{
	local_irq_save(*flags);
	return callout_lock_irqs_off(n);
}

/* The CPU for what is armed here: this one, unless it is kept free of that. */
static inline unsigned int callout_home_cpu(void)
{
	unsigned int cpu = raw_smp_processor_id();

	if (likely(housekeeping_cpu(cpu, HK_TYPE_TIMER)))
		return cpu;
	/* That looks for the nearest to the CPU, and so must stay on it. */
	preempt_disable();
	cpu = housekeeping_any_cpu(HK_TYPE_TIMER);
	preempt_enable();
	return cpu;
}

/**
 * callout_lock_home - locks the base for callouts that are armed here
 * @flags: for callout_unlock()
 *
 * That is the base of the current CPU, or if this is a nohz_full CPU, of a
 * housekeeping CPU.
 *
 * Context: Any. Leaves interrupts off.
 * Return: the base.
 */
static inline struct callout_base *callout_lock_home(unsigned long *flags)
	__acquires(&base->lock)
{
	struct callout_base *base;

	local_irq_save(*flags);
	base = callout_base(callout_home_cpu());
	raw_spin_lock(&base->lock);
	if (likely(base->online))
		return base;
	raw_spin_unlock(&base->lock);
	return callout_lock_home_slow(base);
}

static inline void callout_unlock(struct callout_base *base,
				  unsigned long flags)
	__releases(&base->lock)
{
	raw_spin_unlock(&base->lock);
	local_irq_restore(flags);
}

void callout_scheme_start_slow(struct callout_base *base,
			       struct callout_node *n, u64 expires);
void callout_scheme_rearm_slow(struct callout_base *base,
			       struct callout_node *n, u64 expires);
void callout_scheme_stop_slow(struct callout_base *base,
			      struct callout_node *n);

/**
 * callout_rehome - has an idle callout belong to a base that can arm it
 * @base: its base, locked; if its CPU is not online another one is locked
 *	instead
 * @n: the callout, neither pending nor running; nobody else arms it meanwhile
 *
 * Context: Interrupts off.
 * Return: the base.
 */
static inline struct callout_base *callout_rehome(struct callout_base *base,
						  struct callout_node *n)
	__must_hold(base)
{
	return likely(base->online) ? base : callout_rehome_slow(base, n);
}

/*
 * The scheme's calls that each setting makes: direct where it is the wheel,
 * which spares an indirect call on the paths that are measured.
 */
static inline void callout_scheme_start(struct callout_base *base,
					struct callout_node *n, u64 expires)
{
	if (likely(base->direct))
		callout_wheel_start(to_wheel(base->scheme), n, expires);
	else
		callout_scheme_start_slow(base, n, expires);
}

static inline void callout_scheme_rearm(struct callout_base *base,
					struct callout_node *n, u64 expires)
{
	if (likely(base->direct))
		callout_wheel_rearm(to_wheel(base->scheme), n, expires);
	else
		callout_scheme_rearm_slow(base, n, expires);
}

static inline void callout_scheme_stop(struct callout_base *base,
				       struct callout_node *n)
{
	if (likely(base->direct))
		callout_wheel_stop(to_wheel(base->scheme), n);
	else
		callout_scheme_stop_slow(base, n);
}

/* What comes after a callout has got its expiry, new or another. */
static inline void callout_started(struct callout_base *base,
				   struct callout_node *n, u64 expires)
{
	/* Asks for the time only when somebody wants to know. */
	if (trace_callout_start_enabled())
		trace_callout_start(n, callout_now(base));
	if (expires < base->armed)
		callout_program(base, expires);
}

/**
 * callout_start_locked - queues an idle callout
 * @base: its base, locked
 * @n: the callout, neither queued nor due
 * @expires: the tick at which it is due
 */
static __always_inline void callout_start_locked(struct callout_base *base,
						 struct callout_node *n,
						 u64 expires)
{
	lockdep_assert_held(&base->lock);
	callout_change_state(n, 0, CALLOUT_S_PENDING);
	base->pending++;
	callout_scheme_start(base, n, expires);
	callout_started(base, n, expires);
}

/*
 * Takes a callout out that is going to be queued elsewhere. It stays pending all
 * along: whoever has its associated lock may look at that without the base's.
 */
static __always_inline void callout_unqueue_locked(struct callout_base *base,
						   struct callout_node *n)
{
	lockdep_assert_held(&base->lock);
	if (unlikely(n->state & CALLOUT_S_DUE))
		list_del(&n->entry);
	else
		callout_scheme_stop(base, n);
	base->pending--;
}

/**
 * callout_dequeue_locked - takes a pending callout out
 * @base: its base, locked
 * @n: the callout
 *
 * The tick is not programmed anew: to wake up once for nothing is cheaper than
 * to do this for each callout that is cancelled.
 */
static __always_inline void callout_dequeue_locked(struct callout_base *base,
						   struct callout_node *n)
{
	callout_unqueue_locked(base, n);
	callout_change_state(n, CALLOUT_S_PENDING | CALLOUT_S_DUE, 0);
}

/*
 * Does the handler of @n run, or wait for its lock? A handler may free its
 * callout, and who allocates next gets the same address before the handler has
 * returned. The new callout does not run there, and has CALLOUT_S_RAN clear: it
 * is set when a handler starts, and cleared when a callout is prepared and when
 * it leaves the base.
 */
static __always_inline bool callout_is_running(struct callout_base *base,
					       struct callout_node *n)
{
	lockdep_assert_held(&base->lock);
	return base->running == n && n->state & CALLOUT_S_RAN;
}

/**
 * callout_find_locked - searches a base, callout by callout
 * @base: the base, locked
 * @match: says which callout is wanted
 * @data: for @match
 *
 * Takes as long as the scheme's find does, with the base locked and interrupts
 * off all the time: this is what untimeout() was before Costello's hash.
 *
 * Return: of those wanted the first to expire, or NULL.
 */
static inline struct callout_node *
callout_find_locked(struct callout_base *base, callout_match_fn match,
		    const void *data)
{
	struct callout_node *n;

	lockdep_assert_held(&base->lock);
	list_for_each_entry(n, &base->due, entry)
		if (match(n, data))
			return n;
	list_for_each_entry(n, &base->put_off, entry)
		if (match(n, data))
			return n;
	return base->scheme->ops->find(base->scheme, match, data);
}

void callout_take_due(struct callout_base *base, struct callout_node *n);
void callout_run_begin(struct callout_base *base, struct callout_node *n);
void callout_run_end(struct callout_base *base, void *arg);
void callout_call(struct callout_base *base, callout_func_t *func, void *arg);
void callout_check_context(struct callout_base *base, callout_func_t *func);
void callout_wait_run(struct callout_base *base, unsigned long seq);

bool callout_collect(struct callout_base *base);
void callout_program_next(struct callout_base *base, u64 end);
bool callout_expire(struct callout_base *base);
void callout_softclock(struct callout_base *base);
void callout_again(struct tasklet_struct *t);

struct callout_base *
callout_base_create(unsigned int index, const struct callout_tick_source *tick,
		    const struct callout_scheme_ops *ops,
		    const struct callout_scheme_params *params);
void callout_base_kill(struct callout_base *base);
u64 callout_base_destroy(struct callout_base *base);

int callout_base_reserve(struct callout_base *base, unsigned int n);
void callout_base_unreserve(struct callout_base *base, unsigned int n);

int callout_core_init(const struct callout_tick_source *tick,
		      const struct callout_scheme_ops *ops,
		      const struct callout_scheme_params *params, bool single);
u64 callout_core_exit(void);

void callout_base_stats(struct callout_base *base, struct callout_stats *stats,
			unsigned int *pending);
void callout_all_stats(struct callout_stats *sum);

#endif /* _CALLOUT_CORE_H */
