/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout.h - the kernel interface of the callout facility
 *
 * There are three interfaces to one timing wheel. callout_reset() and variants work
 * on a struct callout that the caller embeds in its own data, as FreeBSD's
 * callout(9) does. setcallout() and unsetcallout() work on handles, as in the
 * facility of Costello and Varghese: the facility allocates the memory, and a handle
 * may be kept and used forever. callout_timeout() and callout_untimeout() find a
 * callout by its function and argument, as in 4.4BSD.
 *
 * Times are in ticks. A callout set for n ticks runs at the n-th tick from now, so
 * after more than n - 1 and at most n tick lengths; n <= 0 counts as 1. While
 * jiffies lag behind the clock, for example because a CPU has had interrupts off for
 * long, ticks are counted from jiffies, as by Linux's own timers. Handlers run in
 * softirq context on the CPU that the callout belongs to: the CPU on which it was
 * initialised or to which callout_reset_on() moved it or, for a callout by handle,
 * the CPU on which it was set.
 */
#ifndef _LINUX_CALLOUT_H
#define _LINUX_CALLOUT_H

#include <linux/build_bug.h>
#include <linux/callout_node.h>
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/types.h>

/**
 * typedef callout_handle_t - names one setting of one callout
 *
 * 0 is never a valid handle. Once its callout has fired or was cancelled, a
 * handle is stale forever, however often the memory is reused.
 */
typedef u64 callout_handle_t;

/**
 * struct callout - a function to be called at a later tick
 * @node: private: the part that bases and schemes queue
 * @func: private: the handler
 * @arg: private: the handler's argument
 * @lock: private: the associated lock, or NULL
 * @class: private: the callout's class for lockdep
 *
 * All members are private to the facility. callout_init() initialises them. The
 * caller must not free the callout before callout_stop() has returned 1 or -1, or
 * callout_drain() or callout_shutdown() has returned. A handler may free its own
 * callout.
 */
struct callout {
	struct callout_node node;
	callout_func_t *func;
	void *arg;
	void *lock;
#ifdef CONFIG_LOCKDEP
	struct callout_class *class;
#endif
};

/* A class of handlers for lockdep: one for each callout_init() in the source. */
struct callout_class {
#ifdef CONFIG_LOCKDEP
	struct lock_class_key key;
	const char *name;
#endif
};

#if defined(CONFIG_64BIT) && !defined(CONFIG_LOCKDEP)
static_assert(sizeof(struct callout) <= 64);
#endif

/* Second argument of callout_init(), as in FreeBSD's callout(9). */
#define CALLOUT_MPSAFE		1

/* Flags of callout_init_mtx(), callout_init_raw() and callout_init_rw(). */
#define CALLOUT_SHAREDLOCK	0x04	/* take the rwlock_t for reading */
#define CALLOUT_RETURNUNLOCKED	0x08	/* the handler unlocks it, without _bh */
#define CALLOUT_IRQLOCK		0x10	/* the lock is taken in hard interrupts */
#define CALLOUT_TRYLOCK		0x20	/* do not wait for the lock */

/* FreeBSD's time since boot: seconds, with 32 fractional bits. */
typedef s64 sbintime_t;

#define SBT_1S	((sbintime_t)1 << 32)
#define SBT_1M	(SBT_1S * 60)
#define SBT_1MS	(SBT_1S / 1000)
#define SBT_1US	(SBT_1S / 1000000)
#define SBT_1NS	(SBT_1S / 1000000000)
#define SBT_MAX	S64_MAX

/* Flags of the functions with a sbintime_t. */
#define C_DIRECT_EXEC	0x0001	/* no effect */
#define C_PRELBITS	7
#define C_PRELRANGE	((1 << C_PRELBITS) - 1)
#define C_PREL(x)	(((x) + 1) << 1)	/* precision: the time >> x */
#define C_PRELGET(x)	((int)((((x) >> 1) & C_PRELRANGE) - 1))
#define C_HARDCLOCK	0x0100	/* count ticks from the present tick */
#define C_ABSOLUTE	0x0200	/* the time is since boot */
#define C_PRECALC	0x0400	/* both arguments are from callout_when() */

/* callout.node.flags, together with the flags above; constant after init. Private. */
#define CALLOUT_L_SPIN		0x01	/* callout.lock is a spinlock_t */
#define CALLOUT_L_WRITE		0x02	/* a rwlock_t, taken for writing */
#define CALLOUT_L_RAW		0x03	/* a raw_spinlock_t */
#define CALLOUT_L_TYPES		(CALLOUT_L_RAW | CALLOUT_SHAREDLOCK)
#define CALLOUT_L_STATIC	0x40	/* by DEFINE_CALLOUT(), no lock */
#define CALLOUT_L_UNTRACKED	0x80	/* not tracked by debugobjects */

/* An argument of callout_init_class() only, not a flag of the callout. */
#define CALLOUT_L_GIANT		0x40	/* the lock is BSD's Giant */

/*
 * callout.node.active, which callout_active() returns. Written under the base's lock,
 * except that callout_deactivate() writes 0 without it. Private.
 */
#define CALLOUT_A_TICKS		0x01	/* set for a number of ticks */
#define CALLOUT_A_TIME		0x02	/* set for callout.node.time */

/**
 * DEFINE_CALLOUT() - Define a static callout that needs no callout_init().
 * @_name: the callout's name
 *
 * Equivalent to callout_init(&_name, CALLOUT_MPSAFE) on CPU 0.
 */
#define DEFINE_CALLOUT(_name)						\
	struct callout _name = {					\
		.node.kind = CALLOUT_KIND_FUNC,				\
		.node.flags = CALLOUT_L_STATIC,				\
		CALLOUT_STATIC_CLASS(#_name)				\
	}

/* A compound literal outside a function is static, as lockdep requires. */
#ifdef CONFIG_LOCKDEP
#define CALLOUT_STATIC_CLASS(_string)					\
	.class = &(struct callout_class){ .name = _string },
#else
#define CALLOUT_STATIC_CLASS(...)
#endif

void callout_init_class(struct callout *c, void *lock, u8 lock_flags,
			struct callout_class *class);

#ifdef CONFIG_LOCKDEP
#define callout_init_here(c, lock, lock_flags)				\
do {									\
	static struct callout_class __class = { .name = #c };	\
									\
	callout_init_class(c, lock, lock_flags, &__class);		\
} while (0)
#else
#define callout_init_here(c, lock, lock_flags)				\
	callout_init_class(c, lock, lock_flags, NULL)
#endif

static inline void *callout_lock_of_mtx(spinlock_t *mtx)
{
	return mtx;
}

static inline void *callout_lock_of_raw(raw_spinlock_t *raw)
{
	return raw;
}

static inline void *callout_lock_of_rw(rwlock_t *rw)
{
	return rw;
}

#define CALLOUT_LOCK_FLAGS	(CALLOUT_RETURNUNLOCKED | CALLOUT_IRQLOCK | \
				 CALLOUT_TRYLOCK)

static inline u8 callout_flags_of_mtx(int flags)
{
	return CALLOUT_L_SPIN | (flags & CALLOUT_LOCK_FLAGS);
}

static inline u8 callout_flags_of_raw(int flags)
{
	return CALLOUT_L_RAW | (flags & CALLOUT_LOCK_FLAGS);
}

static inline u8 callout_flags_of_rw(int flags)
{
	u8 type = flags & CALLOUT_SHAREDLOCK ?: CALLOUT_L_WRITE;

	return type | (flags & CALLOUT_LOCK_FLAGS);
}

/**
 * callout_init() - Initialise a callout.
 * @c: pointer to a struct callout, neither pending nor running
 * @mpsafe: CALLOUT_MPSAFE; or 0 to run the handler under one lock that all such
 *	callouts share, as under BSD's Giant
 *
 * Assigns the callout to the current CPU, or to a housekeeping CPU if the current
 * CPU is nohz_full. From FreeBSD's callout(9).
 *
 * Context: Any but NMI.
 */
#define callout_init(c, mpsafe)						\
	callout_init_here(c, NULL, (mpsafe) ? 0 : CALLOUT_L_GIANT)

/**
 * callout_init_mtx() - Initialise a callout with an associated spinlock.
 * @c: pointer to a struct callout, neither pending nor running
 * @mtx: pointer to a spinlock_t that is held while the handler runs, or NULL
 * @flags: CALLOUT_RETURNUNLOCKED, CALLOUT_IRQLOCK, CALLOUT_TRYLOCK, or 0
 *
 * The caller of callout_stop() or callout_reset() must hold @mtx with softirqs
 * disabled. Then the handler does not run after a successful stop. @mtx must live
 * until the callout is drained: after callout_stop() the core may still wait for
 * @mtx, only to release it again. The core waits inside an RCU read-side section,
 * so after a callout_stop() under @mtx that did not return 0, kfree_rcu() may free
 * both.
 *
 * With CALLOUT_RETURNUNLOCKED the handler releases @mtx, by spin_unlock() and not
 * spin_unlock_bh(). With CALLOUT_TRYLOCK the core never waits: if @mtx is held the
 * callout stays pending and is due at the next tick. Once callout_stop() has
 * returned 1 the core accesses neither callout nor lock.
 *
 * With CALLOUT_IRQLOCK the core takes @mtx as spin_lock_irq() does and the handler
 * runs with interrupts off, so @mtx may be taken in hard interrupts too, and the
 * callout may be set and stopped there. All users must then take @mtx with
 * interrupts off. With CALLOUT_RETURNUNLOCKED the handler releases @mtx by
 * spin_unlock_irq(). The handler determines how long interrupts are off: the core
 * adds no more than one hold of its own lock. On PREEMPT_RT @mtx is a sleeping
 * lock, for which interrupts stay on: see callout_init_raw().
 *
 * From FreeBSD's callout(9), CALLOUT_TRYLOCK from its release 15;
 * CALLOUT_IRQLOCK is not in FreeBSD.
 *
 * Context: Any but NMI.
 */
#define callout_init_mtx(c, mtx, flags)	callout_init_lock(c, mtx, flags)

/**
 * callout_init_lock() - Initialise a callout with a port's mutex.
 * @c: pointer to a struct callout, neither pending nor running
 * @lock: pointer to the spinlock_t in that mutex, or NULL
 * @flags: as callout_init_mtx()
 *
 * callout_init_mtx() under another name, so that a port can define
 * callout_init_mtx() for its struct mtx.
 *
 * Context: Any but NMI.
 */
#define callout_init_lock(c, lock, flags)				\
	callout_init_here(c, callout_lock_of_mtx(lock),			\
			  callout_flags_of_mtx(flags))

/**
 * callout_init_raw() - Initialise a callout with an associated raw spinlock.
 * @c: pointer to a struct callout, neither pending nor running
 * @raw: raw_spinlock_t * that is held while the handler runs, or NULL
 * @flags: CALLOUT_RETURNUNLOCKED, CALLOUT_IRQLOCK, CALLOUT_TRYLOCK, or 0
 *
 * As callout_init_mtx(), but even on PREEMPT_RT the core does not sleep for @raw,
 * and the handler runs with preemption off and, with CALLOUT_IRQLOCK, interrupts
 * off. So on PREEMPT_RT the handler must take no spinlock_t or rwlock_t, and
 * allocate nothing.
 *
 * Not in FreeBSD, which allows spin mutexes only for handlers in the clock
 * interrupt.
 *
 * Context: Any but NMI.
 */
#define callout_init_raw(c, raw, flags)					\
	callout_init_here(c, callout_lock_of_raw(raw),			\
			  callout_flags_of_raw(flags))

/**
 * callout_init_rw() - Initialise a callout with an associated rwlock.
 * @c: pointer to a struct callout, neither pending nor running
 * @rw: rwlock_t * that is held for writing while the handler runs, or NULL
 * @flags: CALLOUT_SHAREDLOCK to hold @rw for reading, CALLOUT_RETURNUNLOCKED,
 *	CALLOUT_IRQLOCK, CALLOUT_TRYLOCK, or 0
 *
 * As callout_init_mtx(). The caller of callout_stop() must hold the lock for
 * writing.
 *
 * Context: Any but NMI.
 */
#define callout_init_rw(c, rw, flags)					\
	callout_init_here(c, callout_lock_of_rw(rw),			\
			  callout_flags_of_rw(flags))

int callout_reset(struct callout *c, long ticks, callout_func_t *func,
		  void *arg);
int callout_reset_on(struct callout *c, long ticks, callout_func_t *func,
		     void *arg, int cpu);
int callout_schedule_on(struct callout *c, long ticks, int cpu);
int callout_schedule(struct callout *c, long ticks);
int callout_reset_sbt_on(struct callout *c, sbintime_t sbt, sbintime_t pr,
			 callout_func_t *func, void *arg, int cpu, int flags);
void callout_when(sbintime_t sbt, sbintime_t pr, int flags,
		  sbintime_t *sbt_res, sbintime_t *pr_res);
int callout_stop(struct callout *c);
int callout_drain(struct callout *c);
int callout_shutdown(struct callout *c);
int callout_async_drain(struct callout *c, callout_func_t *drain);

u64 callout_expires(struct callout *c);
sbintime_t callout_expires_sbt(struct callout *c);
bool callout_running(struct callout *c);
int callout_cpu(struct callout *c);

sbintime_t callout_sbinuptime(void);
unsigned int callout_hz(void);
u64 callout_ticks(void);

/* The other functions of callout(9), built on the functions above. */

/**
 * callout_reset_curcpu() - Set a callout on the current CPU.
 * @c: the callout
 * @ticks: ticks from now
 * @func: the handler
 * @arg: the handler's argument
 *
 * From FreeBSD's callout(9), release 8 and later. Context and Return as for
 * callout_reset_on().
 */
#define callout_reset_curcpu(c, ticks, func, arg)			\
	callout_reset_on(c, ticks, func, arg, raw_smp_processor_id())

/**
 * callout_schedule_curcpu() - Set a callout again, on the current CPU.
 * @c: the callout
 * @ticks: ticks from now
 *
 * From FreeBSD's callout(9), release 8 and later. Context and Return as for
 * callout_schedule_on().
 */
#define callout_schedule_curcpu(c, ticks)				\
	callout_schedule_on(c, ticks, raw_smp_processor_id())

/**
 * callout_reset_sbt() - Set a callout for a time, on its CPU.
 * @c: the callout
 * @sbt: the time
 * @pr: the precision
 * @func: the handler
 * @arg: the handler's argument
 * @flags: the flags of callout_reset_sbt_on()
 *
 * From FreeBSD's callout(9), release 10 and later. Context and Return as for
 * callout_reset_sbt_on().
 */
#define callout_reset_sbt(c, sbt, pr, func, arg, flags)			\
	callout_reset_sbt_on(c, sbt, pr, func, arg, -1, flags)

/**
 * callout_reset_sbt_curcpu() - Set a callout for a time, on the current CPU.
 * @c: the callout
 * @sbt: the time
 * @pr: the precision
 * @func: the handler
 * @arg: the handler's argument
 * @flags: the flags of callout_reset_sbt_on()
 *
 * As callout_reset_sbt().
 */
#define callout_reset_sbt_curcpu(c, sbt, pr, func, arg, flags)		\
	callout_reset_sbt_on(c, sbt, pr, func, arg,			\
			     raw_smp_processor_id(), flags)

/**
 * callout_schedule_sbt_on() - Set a callout again, for a time, on a CPU.
 * @c: the callout; it has a handler from an earlier setting
 * @sbt: the time
 * @pr: the precision
 * @cpu: the CPU on which the handler will run, or -1 for the callout's present CPU
 * @flags: the flags of callout_reset_sbt_on()
 *
 * From FreeBSD's callout(9), release 10.2 and later. Context and Return as for
 * callout_reset_sbt_on().
 */
#define callout_schedule_sbt_on(c, sbt, pr, cpu, flags)			\
	callout_reset_sbt_on(c, sbt, pr, NULL, NULL, cpu, flags)

/**
 * callout_schedule_sbt() - Set a callout again, for a time, on its CPU.
 * @c: the callout
 * @sbt: the time
 * @pr: the precision
 * @flags: the flags of callout_reset_sbt_on()
 *
 * As callout_schedule_sbt_on().
 */
#define callout_schedule_sbt(c, sbt, pr, flags)				\
	callout_schedule_sbt_on(c, sbt, pr, -1, flags)

/**
 * callout_schedule_sbt_curcpu() - Set a callout again, for a time, on this CPU.
 * @c: the callout
 * @sbt: the time
 * @pr: the precision
 * @flags: the flags of callout_reset_sbt_on()
 *
 * As callout_schedule_sbt_on().
 */
#define callout_schedule_sbt_curcpu(c, sbt, pr, flags)			\
	callout_schedule_sbt_on(c, sbt, pr, raw_smp_processor_id(), flags)

void callout_barrier(void);

/**
 * callout_pending() - Is the callout set, and its handler not yet started?
 * @c: the callout
 *
 * Context: Any. The result is a snapshot: it may be out of date at once, unless the
 * caller holds a lock that the handler takes too.
 * Return: true from callout_reset() until the callout is stopped, or until the core
 * takes it to run its handler or to wait for its associated lock.
 */
static inline bool callout_pending(const struct callout *c)
{
	return READ_ONCE(c->node.state) & CALLOUT_S_PENDING;
}

/**
 * callout_active() - Has the callout been set and not been deactivated since?
 * @c: the callout
 *
 * Unlike callout_pending() this stays true while the handler runs and after,
 * until callout_deactivate(), callout_stop() or callout_drain(). From FreeBSD's
 * callout(9).
 *
 * Context: Any.
 * Return: true if active.
 */
static inline bool callout_active(const struct callout *c)
{
	return READ_ONCE(c->node.active);
}

/**
 * callout_deactivate() - Clear the flag that callout_active() returns.
 * @c: the callout
 *
 * Does not stop the callout. If it is pending and was set for a time, as by
 * callout_reset_sbt(), it may then be early, by as much as jiffies run ahead of the
 * clock, or lagged the clock when the callout was set.
 *
 * Context: Any.
 */
static inline void callout_deactivate(struct callout *c)
{
	WRITE_ONCE(c->node.active, 0);
}

/**
 * callout_func() - Return the function of a callout.
 * @c: the callout
 *
 * FreeBSD's users read c_func.
 *
 * Context: Any. The caller must make sure that nobody sets @c concurrently.
 * Return: the handler with which @c was last set; NULL if it never was set.
 */
static inline callout_func_t *callout_func(const struct callout *c)
{
	return READ_ONCE(c->func);
}

/**
 * callout_arg() - Return the argument of a callout's function.
 * @c: the callout
 *
 * FreeBSD's users read c_arg.
 *
 * Context: As callout_func().
 * Return: the argument with which @c was last set.
 */
static inline void *callout_arg(const struct callout *c)
{
	return READ_ONCE(c->arg);
}

callout_handle_t setcallout(callout_func_t *func, void *arg, long ticks);
callout_handle_t setcallout_on(callout_func_t *func, void *arg, long ticks,
			       int cpu);
int resetcallout(callout_handle_t handle, long ticks);
int unsetcallout(callout_handle_t handle);
int unsetcallout_sync(callout_handle_t handle);
int callout_reserve(unsigned int n);

callout_handle_t callout_timeout(callout_func_t *func, void *arg, long ticks);
int callout_untimeout(callout_func_t *func, void *arg);
int callout_untimeout_handle(callout_func_t *func, void *arg,
			     callout_handle_t handle);

#endif /* _LINUX_CALLOUT_H */
