/* SPDX-License-Identifier: GPL-2.0 */
/*
 * base.h - bases: a base has the callouts of one class and CPU, with lock, scheme
 * and tick source
 */
#ifndef _CALLOUT_BASE_H
#define _CALLOUT_BASE_H

#include <linux/callout_node.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include "kcompat.h"
#include "probe/point.h"
#include "wheel/scheme.h"
#include "tick.h"

/* Lateness is counted in powers of two: 0, 1, 2 to 3, 4 to 7, ... ticks. */
#define CALLOUT_LATE_BINS	17

/**
 * struct callout_stats - what a base has done
 * @handlers: callouts that have expired: the sum of @late
 * @wakeups: times the tick source found something due, or should have
 * @false_wakeups: wake-ups that found nothing due
 * @hops: times the jiffies source was woken at a hop before a far tick
 * @visits: entries that the scheme has looked at
 * @requeues: entries that the scheme found moved to a later time, and requeued
 * @max_units: most units of work that a base's expiry, or a move of entries, has
 *	done in one hold of the base's lock
 * @slow: handlers that took too long
 * @late: callouts by the number of ticks from expiry to handler
 * @pending: callouts in the base at present
 * @buckets: the size of the base's wheel, or 0
 * @old_buckets: while entries move, the size of the ring that they leave, or 0
 */
struct callout_stats {
	u64 handlers;
	u64 wakeups;
	u64 false_wakeups;
	u64 hops;
	u64 visits;
	u64 requeues;
	u64 max_units;
	u64 slow;
	u64 late[CALLOUT_LATE_BINS];
	unsigned int pending;
	unsigned int buckets;
	unsigned int old_buckets;
};

/*
 * Classes of bases: one for the callouts of kernel code, one for root's programs,
 * the rest for other users' programs. Each CPU has a base of each class, and each
 * base has its own lock, wheel, tick and limits: however many callouts of one class
 * are due, callouts of another class do not wait for them.
 *
 * Two more classes are for callouts of kernel code that leave a CPU asleep: another
 * CPU may run callouts of CALLOUT_CLASS_GLOBAL, and callouts of
 * CALLOUT_CLASS_DEFERRABLE wait until their CPU is awake. A CPU arms in its own
 * global base only: the tick source would move the base's timer along with the
 * callout. Only the jiffies source supports these classes: with another source
 * their places in callout_bases[] have the bases of CALLOUT_CLASS_KERNEL.
 */
#define CALLOUT_CLASS_KERNEL		0U
#define CALLOUT_CLASS_ROOT		1U
#define CALLOUT_CLASSES			9U
#define CALLOUT_CLASS_GLOBAL		9U
#define CALLOUT_CLASS_DEFERRABLE	10U
#define CALLOUT_ALL_CLASSES		11U

/*
 * callout_node.cpu is an index in callout_bases[]. The bases of the first class
 * come first, by CPU, so that their index is also the CPU. The bases of the other
 * classes follow, then the base of a test.
 */
#define CALLOUT_INDEX_TEST	(CALLOUT_ALL_CLASSES * nr_cpu_ids)

/* callout_node.cpu of a node between two bases: wait until it is a base's index. */
#define CALLOUT_CPU_MOVING	(CALLOUT_INDEX_TEST + 1)

/**
 * enum callout_stage - how far the handler of callout_base.running has come
 * @CALLOUT_STAGE_STARTED: called, or past the point where it can be stopped
 * @CALLOUT_STAGE_TIMER: as CALLOUT_STAGE_STARTED, for one of Linux's timers
 * @CALLOUT_STAGE_WAITING: waiting for its associated lock
 * @CALLOUT_STAGE_CANCELLED: cancelled while it waited: the handler does not start
 * @CALLOUT_STAGE_OVER: returned; its associated lock is about to be released
 */
enum callout_stage {
	CALLOUT_STAGE_STARTED,
	CALLOUT_STAGE_TIMER,
	CALLOUT_STAGE_WAITING,
	CALLOUT_STAGE_CANCELLED,
	CALLOUT_STAGE_OVER,
};

/*
 * The callouts of one class and CPU, or with bases=single of all CPUs. Members that
 * every call and every tick need come first.
 */
struct callout_base {
	/*
	 * Protects all members and the node of each callout whose cpu says that it belongs here.
	 * Taken in hard interrupt context. Never held for more than CALLOUT_BUDGET units of work.
	 */
	raw_spinlock_t lock;
	u16 index;	/* place of this base in callout_bases[] */
	u16 first;	/* index of this class's base for CPU 0; in a test's base its own index */
	struct callout_scheme *scheme;	/* the queued callouts */
	/*
	 * The tick for which the source is programmed, or at which the source looks by itself.
	 * U64_MAX: none. 0: the source need not be programmed, because expiry runs or is about
	 * to run, or because the base is dead
	 */
	u64 armed;
	const struct callout_tick_source *tick;	/* the source of the time */
	/*
	 * The node whose handler runs. Only compared, never followed: the handler may have freed
	 * the node.
	 */
	struct callout_node *running;
	/*
	 * How many more callouts can be armed before a larger wheel is asked for; see
	 * co_base_pending()
	 */
	int until_resize;
	int resize_at;	/* how many callouts the wheel has room for */
	/*
	 * How far the handler of running has come. CALLOUT_STAGE_OVER is written under the
	 * associated lock alone.
	 */
	enum callout_stage stage;
	/*
	 * Other CPUs may arm callouts here, and the tasklet again may be scheduled, except on
	 * PREEMPT_RT
	 */
	bool online;
	bool wheel;	/* the scheme is the hashed wheel: call it directly */
	bool expiring;	/* expiry runs */
	/* Nothing runs here any more and nothing is programmed; armed stays 0 */
	bool dead;
	/*
	 * Set together with any of leaving, drain, waiters and dead, which the end of the
	 * running handler must look at
	 */
	bool attention;
	bool woken;	/* next_tick has woken expiry */
	bool found;	/* expiry has found something due */

	u64 now;	/* the tick for which callouts were expired last */
	/* Ticks of a span in which a base of programs bounds false wake-ups; otherwise 0 */
	unsigned int wake_gap;
	u64 false_end;	/* the end of the span of the last false wake-up */
	u64 floor;	/* the earliest tick for which the source is programmed */
	u64 tick_ns;	/* the length of a tick in nanoseconds */
	u64 edge;	/* *jiffies when the last handler returned, or when expiry began */
	/*
	 * jiffies_64, or a test's replacement for it: the time by which the limits of
	 * expiry are measured, since reading it costs nothing
	 */
	const u64 *jiffies;
	/*
	 * How many more handlers this expiry may run; 0 as well when the base has died or, except
	 * on PREEMPT_RT, *jiffies has changed since expiry began
	 */
	int left;
	unsigned long run_seq;	/* odd while a handler runs */
	/* The running node, if it is pending and migrates home afterwards */
	struct callout_node *leaving;
	/* Called when the running handler has returned: async_drain */
	callout_func_t *drain;
	unsigned int waiters;	/* number of threads waiting for run_seq to change */
	int preempt_count;	/* preempt_count() before the handlers, and after each */
	int lockdep_depth;	/* as preempt_count */
	/* The CPU that tick wakes. For CALLOUT_CLASS_GLOBAL tick may wake another CPU instead. */
	unsigned int cpu;
	/*
	 * Callouts that were put off and whose turn has come again and, unless the scheme is
	 * the hashed wheel, callouts that the scheme has handed over
	 */
	struct list_head due;
	struct callout_stats stats;	/* counters; the scheme keeps some: see co_base_stats() */

#ifdef CONFIG_PREEMPT_RT
	/*
	 * PREEMPT_RT uses this instead of wait: held across handlers, so that a waiter
	 * boosts the expiring thread and priority is not inverted. Taken outside lock.
	 */
	spinlock_t expiry_lock;
#else
	wait_queue_head_t wait;	/* where waiters sleep */
#endif
	union {
		struct {
			struct tick_timer timer;	/* for the jiffies source */
			/* For the jiffies source: runs in the next tick's interrupt */
			struct irq_work next_tick;
		};
		struct {
			struct hrtimer hrtimer;	/* for the hrtimer source */
			/* For the hrtimer source: makes the CPU program hrtimer */
			call_single_data_t kick;
			bool kicked;	/* kick is pending */
			bool restart;	/* the function of hrtimer returns HRTIMER_RESTART */
			/*
			 * The function of hrtimer runs on cpu, and nothing has been
			 * programmed since it began
			 */
			bool ticking;
		};
	};
	struct tasklet_struct again;	/* continues expiry in a later softirq */
	/*
	 * Callouts whose lock was contended when their turn came. Their state has CALLOUT_S_DUE,
	 * and they go back to due at the next tick.
	 */
	struct list_head put_off;
	bool follows;	/* the size of the wheel follows the number of callouts */
	/* The wheel is too large for its callouts, and was at few_since, in jiffies */
	bool few;
	unsigned int least;	/* the least number of buckets of the wheel */
	unsigned long few_since;	/* see few */
};

/* The most units of work done while a base is locked and interrupts are off. */
#define CALLOUT_BUDGET		64U

/*
 * One for each class and possible CPU, created when the CPU first comes up, and one
 * for tests. At CALLOUT_CPU_MOVING there is a base with a lock and an index that no
 * node has. With bases=single all CPUs share one base.
 */
extern struct callout_base **callout_bases;
extern struct callout_base callout_nowhere;

static inline struct callout_base *co_base(u32 index)
{
	return callout_bases[index];
}

static inline bool co_base_has_class(const struct callout_base *base,
				     unsigned int class)
{
	return base->first == class * nr_cpu_ids;
}

static inline bool co_base_is_users(const struct callout_base *base)
{
	return base->first >= CALLOUT_CLASS_ROOT * nr_cpu_ids &&
	       base->first < CALLOUT_CLASSES * nr_cpu_ids;
}

static inline struct callout_base *co_base_of(unsigned int class,
					      unsigned int cpu)
{
	return co_base(class * nr_cpu_ids + cpu);
}

/* The base of the same class for another CPU. For a test's base, kernel code's base. */
static inline struct callout_base *
co_base_sibling(const struct callout_base *base, unsigned int cpu)
{
	unsigned int first = base->first;

	if (first == CALLOUT_INDEX_TEST)
		first = 0;
	return READ_ONCE(callout_bases[first + cpu]);
}

/* The base whose index is @index, or NULL. So a loop over all indices meets each base once. */
static inline struct callout_base *co_base_at(unsigned int index)
{
	struct callout_base *base = READ_ONCE(callout_bases[index]);

	return base && base->index == index ? base : NULL;
}

/* The first base with an index of at least @i and less than @end; NULL if there is none. */
static inline struct callout_base *co_base_from(unsigned int *i, unsigned int end)
{
	while (*i < end && !co_base_at(*i))
		++*i;
	return *i < end ? co_base_at(*i) : NULL;
}

/* Each base with an index from @from up to @end, excluded; @i is its index. */
#define for_each_base_in(base, i, from, end)				\
	for ((i) = (from); ((base) = co_base_from(&(i), end)); (i)++)

#define for_each_base(base, i)	for_each_base_in(base, i, 0, CALLOUT_INDEX_TEST)

/* How many callouts are in the base's scheme and on its lists. */
static inline unsigned int co_base_pending(const struct callout_base *base)
{
	return READ_ONCE(base->resize_at) - READ_ONCE(base->until_resize);
}

/* Make arming ask for a larger wheel when more than @n callouts are pending. */
static inline void co_base_resize_at(struct callout_base *base, int n)
{
	lockdep_assert_held(&base->lock);
	base->until_resize += n - base->resize_at;
	base->resize_at = n;
}

/* How many callouts of @base have expired. */
static inline u64 co_handlers(const struct callout_base *base)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < CALLOUT_LATE_BINS; i++)
		sum += READ_ONCE(base->stats.late[i]);
	return sum;
}

static inline bool co_is_wheel(const struct callout_base *base)
{
	return !IS_ENABLED(CONFIG_CALLOUT_LAB) || likely(base->wheel);
}

static inline u64 co_now(struct callout_base *base)
{
	if (likely(base->tick == &callout_tick_jiffies))
		return get_jiffies_64();
	return base->tick->now(base);
}

/*
 * from_ns for jiffies. The edges of jiffies are known to within a tick, so one is
 * added to never be early. Jiffies lag the clock for two reasons:
 *
 *  - No CPU advances jiffies at the moment, and they will catch up. Counting from
 *    callout_jiffy_zero is right, and counting from the present jiffy is early.
 *  - A periodic tick has lost ticks, and jiffies will not catch up. Counting from
 *    callout_jiffy_zero is late by all ticks lost since the module was loaded.
 *
 * Which reason holds cannot be known here. So this function takes the earlier tick,
 * and expiry postpones callouts that are early. The laboratory's schemes have no room
 * for the time that expiry looks at, so with them callout_jiffy_zero counts.
 */
static inline u64 co_jiffies_from_ns(struct callout_base *base, u64 due,
				     u64 now)
{
	u64 since = due - (u64)atomic64_read(&callout_jiffy_zero);
	u64 jiffy = get_jiffies_64(), tick, near;

	tick = max((since + TICK_NSEC - 1) / TICK_NSEC, jiffy);
	near = due > now ? (due - now + TICK_NSEC - 1) / TICK_NSEC : 0;
	if (co_is_wheel(base))
		tick = min(tick, jiffy + near);
	return tick + 1;
}

/*
 * CLOCK_MONOTONIC at jiffy 0, if no tick is lost from now on. The edges of jiffies are
 * known to within a tick: a sample, less a tick, is not late unless jiffies lag at
 * present. The clock is read first: a delay makes the sample earlier, and then
 * callout_jiffy_zero counts.
 */
static inline s64 co_jiffies_zero(void)
{
	u64 clock = ktime_get_ns();
	s64 zero = clock - (get_jiffies_64() + 1) * TICK_NSEC;

	return max_t(s64, atomic64_read(&callout_jiffy_zero), zero);
}

/*
 * The first multiple of @unit that is not before @due and is after @now, in units. It
 * cannot overflow: times are less than 2^63.
 */
static inline u64 co_first_multiple(u64 due, u64 now, u64 unit)
{
	return div64_u64(max(due, now + 1) + unit - 1, unit);
}

/* from_ns for the hrtimer source and for chips */
static inline u64 co_hrtimer_from_ns(struct callout_base *base, u64 due,
				     u64 now)
{
	return co_first_multiple(due, now, base->tick_ns);
}

static inline u64 co_from_ns(struct callout_base *base, u64 due, u64 now)
{
	if (likely(base->tick == &callout_tick_jiffies))
		return co_jiffies_from_ns(base, due, now);
	if (likely(base->tick == &callout_tick_hrtimer))
		return co_hrtimer_from_ns(base, due, now);
	return base->tick->from_ns(base, due, now);
}

/*
 * When @tick begins, in nanoseconds of CLOCK_MONOTONIC, as near as is known: with
 * jiffies to within a tick, or later while jiffies lag. For a tick too far away,
 * U64_MAX / 2.
 */
static inline u64 co_to_ns(struct callout_base *base, u64 tick)
{
	u64 now = co_now(base), zero = 0;

	if (tick > now && tick - now > div64_u64(U64_MAX / 4, base->tick_ns))
		return U64_MAX / 2;
	if (base->tick == &callout_tick_jiffies)
		zero = co_jiffies_zero();
	return zero + tick * base->tick_ns;
}

/*
 * May expiry of @base continue in its tasklet, on this CPU?
 *
 *  - Not on PREEMPT_RT: there timers have a SCHED_FIFO thread, ktimers, but tasklets
 *    run in ksoftirqd, which is SCHED_OTHER.
 *  - Not while the CPU comes up or goes down. ksoftirqd is parked for a part of that
 *    time, so softirqs that do not finish in one pass stay pending, and the tick may
 *    stop. When the CPU is dead another CPU gets the tasklet, at some later time.
 *  - Not on another CPU than the base's, which may go down concurrently. A test's base
 *    has no CPU.
 *
 * The caller must not be preempted between this and tasklet_schedule(): the thread that
 * takes the CPU down could run in between.
 */
static inline bool co_goes_on_here(const struct callout_base *base)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && READ_ONCE(base->online) &&
	       (base->index == CALLOUT_INDEX_TEST ||
		base->cpu == smp_processor_id());
}

void co_program(struct callout_base *base, u64 tick);

struct callout_base *co_lock_slow(struct callout_node *n)
	__acquires(&base->lock);
struct callout_base *co_lock_home_slow(struct callout_base *base)
	__acquires(&base->lock);

/* Lock @base. Interrupts are off. */
static inline void co_base_lock(struct callout_base *base)
	__acquires(&base->lock)
{
	raw_spin_lock(&base->lock);
}

/* As co_base_lock(), with another base's lock held. */
static inline void co_base_lock_nested(struct callout_base *base)
	__acquires(&base->lock)
{
	raw_spin_lock_nested(&base->lock, SINGLE_DEPTH_NESTING);
}

static inline void co_base_unlock(struct callout_base *base)
	__releases(&base->lock)
{
	raw_spin_unlock(&base->lock);
}

static inline void co_base_lock_irq(struct callout_base *base)
	__acquires(&base->lock)
{
	raw_spin_lock_irq(&base->lock);
}

static inline void co_base_unlock_irq(struct callout_base *base)
	__releases(&base->lock)
{
	raw_spin_unlock_irq(&base->lock);
}

/* raw_spin_unlock_irqrestore() is not inline: calling it costs 4 instructions. */
static inline void co_unlock(struct callout_base *base, unsigned long flags)
	__releases(&base->lock)
{
	co_base_unlock(base);
	local_irq_restore(flags);
}

#ifdef CONFIG_CALLOUT_POINTS
/* A point is where a base is unlocked and the caller continues without the lock. */
#define co_base_unlock(base)		({ co_base_unlock(base); co_point(); })
#define co_base_unlock_irq(base)	({ co_base_unlock_irq(base); co_point(); })
#endif

/* co_lock() when interrupts are already off. */
static inline struct callout_base *co_lock_irqs_off(struct callout_node *n)
	__acquires(&base->lock)
{
	struct callout_base *base;
	u32 cpu;

	/*
	 * Pairs with the writes of n->cpu under the lock taken below. Even for a
	 * node that is migrating there is a base, to which no node belongs.
	 */
	cpu = READ_ONCE(n->cpu);
	base = co_base(cpu);
	co_point();
	co_base_lock(base);
	/* If the node does not belong to this base, another CPU may be changing it. */
	if (likely(READ_ONCE(n->cpu) == base->index))
		return base;
	co_base_unlock(base);
	return co_lock_slow(n);
}

/*
 * Lock the base that @n belongs to, with interrupts off; @n stays in that base
 * until co_unlock(). Any context.
 */
static inline struct callout_base *co_lock(struct callout_node *n,
					   unsigned long *flags)
	__acquires(&base->lock)
{
	local_irq_save(*flags);
	return co_lock_irqs_off(n);
}

/* The CPU for callouts armed here: this CPU, unless it is kept free of timers. */
static inline unsigned int co_home_cpu(void)
{
	unsigned int cpu = raw_smp_processor_id();

	if (likely(housekeeping_cpu(cpu, HK_TYPE_TIMER)))
		return cpu;
	/* housekeeping_any_cpu() looks for the CPU nearest to this CPU, which must not change. */
	preempt_disable();
	cpu = housekeeping_any_cpu(HK_TYPE_TIMER);
	preempt_enable();
	return cpu;
}

/*
 * The base for callouts that any CPU may run and that are armed here: this CPU's
 * global base. A callout armed on a nohz_full CPU is pinned to a housekeeping CPU,
 * since a CPU arms in its own global base only. Interrupts are off.
 */
static inline struct callout_base *co_base_unpinned(void)
{
	unsigned int home = co_home_cpu();

	return co_base_of(home == raw_smp_processor_id() ?
			  CALLOUT_CLASS_GLOBAL : CALLOUT_CLASS_KERNEL, home);
}

/* co_lock_home() when interrupts are already off. */
static inline struct callout_base *co_lock_home_irqs_off(unsigned int class)
	__acquires(&base->lock)
{
	struct callout_base *base = co_base_of(class, co_home_cpu());

	co_point();
	co_base_lock(base);
	if (likely(base->online))
		return base;
	co_base_unlock(base);
	return co_lock_home_slow(base);
}

/*
 * Lock the base for callouts that are armed here, with interrupts off: this CPU's
 * base, or on a nohz_full CPU a housekeeping CPU's base. Any context.
 */
static inline struct callout_base *co_lock_home(unsigned int class,
						unsigned long *flags)
	__acquires(&base->lock)
{
	local_irq_save(*flags);
	return co_lock_home_irqs_off(class);
}

struct callout_base *co_move_locked(struct callout_base *base,
				    struct callout_node *n,
				    struct callout_base *target)
	__must_hold(&base->lock);
struct callout_base *co_rehome_slow(struct callout_base *base,
				    struct callout_node *n)
	__must_hold(&base->lock);

/*
 * Make an idle @n belong to a base that can arm it: @base, or another base if the
 * CPU of @base is offline, which is then locked instead. Nobody else arms @n
 * concurrently. Interrupts are off.
 */
static inline struct callout_base *co_rehome(struct callout_base *base,
					     struct callout_node *n)
	__must_hold(&base->lock)
{
	return likely(base->online) ? base : co_rehome_slow(base, n);
}

void co_setup(struct callout_node *n, enum callout_kind kind, u32 cpu);

struct callout_base *
co_base_create(unsigned int index, const struct callout_tick_source *tick,
	       u64 tick_ns, const struct callout_scheme_ops *ops,
	       const struct callout_scheme_params *params);
void co_base_kill(struct callout_base *base);
u64 co_base_destroy(struct callout_base *base);

/* The function of callout_base.again. The layer above defines it. */
void co_again(struct tasklet_struct *t);

int co_base_reserve(struct callout_base *base, int n);

struct callout_node *co_find_locked(struct callout_base *base,
				    callout_match_fn match, const void *data);

void co_base_stats(struct callout_base *base, struct callout_stats *stats);

/* Record that @units units of work were done in one hold of the lock. */
static inline void co_count_units(struct callout_base *base, unsigned int units)
{
	lockdep_assert_held(&base->lock);
	if (units > base->stats.max_units)
		base->stats.max_units = units;
}

#endif /* _CALLOUT_BASE_H */
