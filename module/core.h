/* SPDX-License-Identifier: GPL-2.0 */
/*
 * core.h - what the core offers to the layers above and to the tick sources
 */
#ifndef _CALLOUT_CORE_H
#define _CALLOUT_CORE_H

#include <linux/callout.h>
#include <linux/callout_scheme.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>

struct callout_base;

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
 * @tick_ns: length of a tick
 * @now: the current tick of a base; any context
 * @init: prepares a base's members for this source; may sleep
 * @program: makes callout_softclock() run on the base's CPU at or soon after
 *	tick @tick, and not before; the base's lock is held
 * @shutdown: after this callout_softclock() does not run any more; may sleep
 */
struct callout_tick_source {
	const char *name;
	u64 tick_ns;
	u64 (*now)(struct callout_base *base);
	void (*init)(struct callout_base *base);
	void (*program)(struct callout_base *base, u64 tick);
	void (*shutdown)(struct callout_base *base);
};

extern const struct callout_tick_source callout_tick_jiffies;

/**
 * struct callout_base - the callouts of one CPU
 * @lock: protects all of this and the private members of each callout whose
 *	@cpu says that it belongs here. Taken in hard interrupt context; never
 *	held for more than CALLOUT_BUDGET units of work.
 * @index: the CPU, or nr_cpu_ids for the base of a test
 * @online: the CPU is there. A base that is not has no callouts.
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
 * @again: goes on with expiry in a later softirq
 * @handlers: handlers run, and callouts handed to files
 * @wakeups: calls of callout_softclock() by the tick source
 * @hops: times the jiffies source was woken on its way to a far tick
 * @false_wakeups: those that found nothing due
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

	struct timer_list timer;
	struct tasklet_struct again;

	u64 handlers;
	u64 wakeups;
	u64 hops;
	u64 false_wakeups;
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

struct callout_base *callout_lock(struct callout *c, unsigned long *flags);
struct callout_base *callout_lock_this_cpu(unsigned long *flags);
void callout_unlock(struct callout_base *base, unsigned long flags);

void callout_start_locked(struct callout_base *base, struct callout *c,
			  u64 expires);
void callout_dequeue_locked(struct callout_base *base, struct callout *c);
void callout_run_begin(struct callout_base *base, struct callout *c,
		       u64 handle);
void callout_run_end(struct callout_base *base);
void callout_wait_run(struct callout_base *base, unsigned long seq);

bool callout_expire(struct callout_base *base);
void callout_softclock(struct callout_base *base);

struct callout_base *
callout_base_create(unsigned int index, const struct callout_tick_source *tick,
		    const struct callout_scheme_ops *ops,
		    const struct callout_scheme_params *params);
u64 callout_base_destroy(struct callout_base *base);

u64 callout_tick_ns(void);
int callout_core_init(const struct callout_tick_source *tick,
		      const struct callout_scheme_ops *ops,
		      unsigned int buckets);
u64 callout_core_exit(void);

#endif /* _CALLOUT_CORE_H */
