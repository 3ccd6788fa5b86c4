/* SPDX-License-Identifier: GPL-2.0 */
/*
 * core.h - what the core offers to the layers above and to the tick sources
 */
#ifndef _CALLOUT_CORE_H
#define _CALLOUT_CORE_H

#include <linux/callout.h>
#include <linux/callout_scheme.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/smp.h>
#include <linux/sched/isolation.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <trace/events/callout.h>
#include "schemes/hashed_wheel.h"

struct callout_base;

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
	u64 late[CALLOUT_LATE_BINS];
};

/* callout.cpu while a callout is between two bases: wait for a real one. */
#define CALLOUT_CPU_MOVING	U32_MAX

/* callout.state beside the scheme's bits; protected by the base's lock */
#define CALLOUT_S_DRAINING	0x4	/* callout_drain() waits: stays stopped */

/* callout.lock_flags: what callout.lock is, and whether the handler drops it */
#define CALLOUT_L_SPIN		0x1
#define CALLOUT_L_WRITE		0x2
#define CALLOUT_L_READ		0x4
#define CALLOUT_L_TYPES		0x7
#define CALLOUT_L_RETURNUNLOCKED 0x8
#define CALLOUT_L_HASHED	0x10	/* of a slot: it is in the hash */

/**
 * struct callout_tick_source - what tells the time and wakes a base up
 * @name: as given to the module parameter tick_source=
 * @now: the current tick of a base; any context
 * @from_ns: a tick at which CLOCK_MONOTONIC will have come to @due, as near as
 *	is known, and after the present one; @now is the clock's time
 * @init: prepares a base's members for this source; may sleep
 * @program: makes callout_softclock() run on the base's CPU at or soon after
 *	tick @tick, and not before; the base's lock is held
 * @shutdown: after this callout_softclock() does not run any more; may sleep
 */
struct callout_tick_source {
	const char *name;
	u64 (*now)(struct callout_base *base);
	u64 (*from_ns)(u64 due, u64 now);
	void (*init)(struct callout_base *base);
	void (*program)(struct callout_base *base, u64 tick);
	void (*shutdown)(struct callout_base *base);
};

extern const struct callout_tick_source callout_tick_jiffies;
extern const struct callout_tick_source callout_tick_hrtimer;

/**
 * struct callout_base - the callouts of one CPU
 * @lock: protects all of this and the private members of each callout whose
 *	@cpu says that it belongs here. Taken in hard interrupt context; never
 *	held for more than CALLOUT_BUDGET units of work.
 * @index: the CPU, or nr_cpu_ids for the base of a test
 * @online: others than the CPU itself may arm callouts here
 * @expiring: callout_expire() is at work
 * @stoppable: of @running: the handler waits for its associated lock and can
 *	still be kept from starting
 * @scheme: the queued callouts
 * @pending: how many callouts are in @scheme and on @due
 * @due: those that have expired and whose turn has not come yet
 * @tick: what tells the time
 * @armed: the tick for which the source is programmed; U64_MAX: not at all;
 *	0: it need not be, callout_expire() is at work or is going to be
 * @running: the callout whose handler runs. Only compared, never followed:
 *	the handler may have freed it.
 * @running_handle: the handle, if it is one set by handle
 * @run_seq: odd while a handler runs
 * @waiters: how many sleep on @wait
 * @wait: those who wait for @run_seq to change
 * @timer: for the jiffies source
 * @hrtimer: for the hrtimer source
 * @kick: for the hrtimer source: has the CPU program @hrtimer
 * @again: goes on with expiry in a later softirq
 * @now: the tick for which @due was filled last
 * @stats: counters; visits and refiles are the scheme's
 */
struct callout_base {
	raw_spinlock_t lock;
	unsigned int index;
	bool online;
	bool expiring;
	bool stoppable;
	struct callout_scheme *scheme;
	struct list_head due;
	unsigned int pending;
	const struct callout_tick_source *tick;
	u64 armed;

	struct callout *running;
	u64 running_handle;
	unsigned long run_seq;
	unsigned int waiters;
	wait_queue_head_t wait;

	union {
		struct timer_list timer;
		struct {
			struct hrtimer hrtimer;
			call_single_data_t kick;
		};
	};
	struct tasklet_struct again;

	u64 now;
	struct callout_stats stats;
};

/* Units of work done with a base locked and interrupts off, at most. */
#define CALLOUT_BUDGET		64U

/* Handlers run, and jiffies spent, in one softirq, at most. */
#define CALLOUT_MAX_HANDLERS	1024U
#define CALLOUT_MAX_JIFFIES	max_t(unsigned long, 1, msecs_to_jiffies(2))

/* One a possible CPU, made when the CPU first comes up, and one for tests. */
extern struct callout_base **callout_bases;

static inline struct callout_base *callout_base(u32 index)
{
	return callout_bases[index];
}

/*
 * Takes a callout that is due off the base's due list and does what its kind
 * asks for; may take others of the same kind that follow it. Called with the
 * base locked; may drop the lock in between. Returns how many it took.
 */
typedef unsigned int (*callout_expire_fn)(struct callout_base *base,
					  struct callout *c);

/* callout.kind of those that run a function; others are registered. */
#define CALLOUT_KIND_FUNC	0

u8 callout_register_kind(callout_expire_fn expire);

static inline u64 callout_now(struct callout_base *base)
{
	if (likely(base->tick == &callout_tick_jiffies))
		return get_jiffies_64();
	return base->tick->now(base);
}

/* The tick that is @ticks from now; less than one counts as one. */
static inline u64 callout_expiry(struct callout_base *base, long ticks)
{
	return callout_now(base) + (ticks > 0 ? ticks : 1);
}

void callout_setup(struct callout *c, u8 kind, u32 cpu);
void callout_init_lock(struct callout *c, void *lock, u8 lock_flags);

struct callout_base *callout_lock_slow(struct callout *c)
	__acquires(c);
struct callout_base *callout_lock_home_slow(struct callout_base *base)
	__acquires(base);
void callout_program(struct callout_base *base, u64 tick);

/* Expiry has done so many units of work in one hold of the lock. */
static inline void callout_count_units(struct callout_base *base,
				       unsigned int units)
{
	if (units > base->stats.max_units)
		base->stats.max_units = units;
}

/* callout_lock() with interrupts off already. */
static inline struct callout_base *callout_lock_irqs_off(struct callout *c)
	__acquires(&base->lock)
{
	struct callout_base *base;
	u32 cpu;

	/* Pairs with the writes of c->cpu under the lock taken below. */
	cpu = READ_ONCE(c->cpu);
	if (unlikely(cpu == CALLOUT_CPU_MOVING))
		return callout_lock_slow(c);
	base = callout_base(cpu);
	raw_spin_lock(&base->lock);
	if (likely(c->cpu == base->index))
		return base;
	raw_spin_unlock(&base->lock);
	return callout_lock_slow(c);
}

/**
 * callout_lock - locks the base that a callout belongs to
 * @c: the callout
 * @flags: for callout_unlock()
 *
 * Context: Any. Leaves interrupts off.
 * Return: the base; @c stays its until it is unlocked.
 */
static inline struct callout_base *callout_lock(struct callout *c,
						unsigned long *flags)
	__acquires(&base->lock)
{
	local_irq_save(*flags);
	return callout_lock_irqs_off(c);
}

/* The CPU for what is armed here: this one, unless it is kept free of that. */
static inline unsigned int callout_home_cpu(void)
{
	unsigned int cpu = raw_smp_processor_id();

	if (likely(housekeeping_cpu(cpu, HK_TYPE_TIMER)))
		return cpu;
	return housekeeping_any_cpu(HK_TYPE_TIMER);
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

/*
 * The scheme's calls that each setting makes: direct where it is the wheel,
 * which spares an indirect call on the paths that are measured.
 */
static inline void callout_scheme_start(struct callout_base *base,
					struct callout *c, u64 expires)
{
	struct callout_scheme *s = base->scheme;

	if (likely(s->ops == &callout_hashed_wheel))
		callout_wheel_start(to_wheel(s), c, expires);
	else
		s->ops->start(s, c, callout_now(base), expires);
}

static inline void callout_scheme_rearm(struct callout_base *base,
					struct callout *c, u64 expires)
{
	struct callout_scheme *s = base->scheme;

	if (likely(s->ops == &callout_hashed_wheel))
		callout_wheel_rearm(to_wheel(s), c, expires);
	else
		s->ops->rearm(s, c, callout_now(base), expires);
}

static inline void callout_scheme_stop(struct callout_base *base,
				       struct callout *c)
{
	struct callout_scheme *s = base->scheme;

	if (likely(s->ops == &callout_hashed_wheel))
		callout_wheel_stop(to_wheel(s), c);
	else
		s->ops->stop(s, c);
}

/* What comes after a callout has got its expiry, new or another. */
static inline void callout_started(struct callout_base *base,
				   struct callout *c, u64 expires)
{
	/* Asks for the time only when somebody wants to know. */
	if (trace_callout_start_enabled())
		trace_callout_start(c, callout_now(base));
	if (expires < base->armed)
		callout_program(base, expires);
}

/**
 * callout_start_locked - queues an idle callout
 * @base: its base, locked
 * @c: the callout, neither queued nor due
 * @expires: the tick at which it is due
 */
static __always_inline void callout_start_locked(struct callout_base *base,
						 struct callout *c,
						 u64 expires)
{
	lockdep_assert_held(&base->lock);
	c->state |= CALLOUT_S_PENDING;
	base->pending++;
	callout_scheme_start(base, c, expires);
	callout_started(base, c, expires);
}

/**
 * callout_dequeue_locked - takes a pending callout out
 * @base: its base, locked
 * @c: the callout
 *
 * The tick is not programmed anew: to wake up once for nothing is cheaper than
 * to do this for each callout that is cancelled.
 */
static __always_inline void callout_dequeue_locked(struct callout_base *base,
						   struct callout *c)
{
	lockdep_assert_held(&base->lock);
	if (unlikely(c->state & CALLOUT_S_DUE))
		list_del(&c->entry);
	else
		callout_scheme_stop(base, c);
	c->state &= ~(CALLOUT_S_PENDING | CALLOUT_S_DUE);
	base->pending--;
}

void callout_take_due(struct callout_base *base, struct callout *c);
void callout_run_begin(struct callout_base *base, struct callout *c,
		       u64 handle);
void callout_run_end(struct callout_base *base);
void callout_wait_run(struct callout_base *base, unsigned long seq);

bool callout_expire(struct callout_base *base);
void callout_softclock(struct callout_base *base);
void callout_again(struct tasklet_struct *t);

struct callout_base *
callout_base_create(unsigned int index, const struct callout_tick_source *tick,
		    const struct callout_scheme_ops *ops,
		    const struct callout_scheme_params *params);
u64 callout_base_destroy(struct callout_base *base);

int callout_core_init(const struct callout_tick_source *tick,
		      const struct callout_scheme_ops *ops,
		      unsigned int buckets);
u64 callout_core_exit(void);

void callout_base_stats(struct callout_base *base, struct callout_stats *stats,
			unsigned int *pending);
void callout_all_stats(struct callout_stats *sum);

#endif /* _CALLOUT_CORE_H */
