/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout.h - the kernel interface of the callout facility
 *
 * Two interfaces to one timing wheel. callout_reset() and its kin work on a
 * struct callout that the caller embeds in its own data, as FreeBSD's
 * callout(9) does. setcallout() and unsetcallout() work on handles, as the
 * facility of Costello and Varghese did: the memory is the facility's, and a
 * handle may be kept and used for as long as one likes.
 *
 * Times are in ticks. A callout set for n ticks runs at the n-th tick from
 * now, so after more than n - 1 and at most n tick lengths, and n <= 0 counts
 * as 1. Handlers run in softirq context on the CPU that the callout belongs
 * to: where it was initialised or moved to by callout_reset_on(), or, by
 * handle, where it was set.
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
 * 0 is never a valid handle. A handle is never valid again after its callout
 * has fired or was cancelled, however often its memory is used anew.
 */
typedef u64 callout_handle_t;

/**
 * struct callout - a function to be called at a later tick
 * @node: private: what bases and schemes file
 * @func: private: the handler
 * @arg: private: the handler's argument
 * @lock: private: the associated lock, or NULL
 * @class: private: its class for lockdep
 *
 * All members are private to the facility. Set up by callout_init(). The
 * memory must stay until callout_stop() or callout_drain() have said that the
 * callout is neither pending nor running, except that a handler may free its
 * own callout.
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

/* What lockdep knows handlers by: one for each place with a callout_init(). */
struct callout_class {
#ifdef CONFIG_LOCKDEP
	struct lock_class_key key;
	const char *name;
#endif
};

#if defined(CONFIG_64BIT) && !defined(CONFIG_LOCKDEP)
static_assert(sizeof(struct callout) <= 64);
#endif

/* callout_init()'s second argument, as FreeBSD's callout(9) has it. */
#define CALLOUT_MPSAFE		1

/* Flags of callout_init_mtx() and callout_init_rw(). */
#define CALLOUT_SHAREDLOCK	0x04	/* take the rwlock_t for reading */
#define CALLOUT_RETURNUNLOCKED	0x08	/* the handler drops it, without _bh */
#define CALLOUT_TRYLOCK		0x20	/* do not wait for the lock */

/* FreeBSD's time: seconds with 32 bits after the point, since boot. */
typedef s64 sbintime_t;

#define SBT_1S	((sbintime_t)1 << 32)
#define SBT_1M	(SBT_1S * 60)
#define SBT_1MS	(SBT_1S / 1000)
#define SBT_1US	(SBT_1S / 1000000)
#define SBT_1NS	(SBT_1S / 1000000000)
#define SBT_MAX	S64_MAX

/* Flags of the functions with a sbintime_t. */
#define C_DIRECT_EXEC	0x0001	/* run as soon as possible: it always is */
#define C_PRELBITS	7
#define C_PRELRANGE	((1 << C_PRELBITS) - 1)
#define C_PREL(x)	(((x) + 1) << 1)	/* precision: the time >> x */
#define C_PRELGET(x)	((int)((((x) >> 1) & C_PRELRANGE) - 1))
#define C_HARDCLOCK	0x0100	/* count ticks from the present one */
#define C_ABSOLUTE	0x0200	/* the time is not from now on */
#define C_PRECALC	0x0400	/* time and precision are callout_when()'s */

/* callout.node.flags, with those above; constant after init. Private. */
#define CALLOUT_L_SPIN		0x01	/* callout.lock is a spinlock_t */
#define CALLOUT_L_WRITE		0x02	/* a rwlock_t, taken for writing */
#define CALLOUT_L_TYPES		(CALLOUT_L_SPIN | CALLOUT_L_WRITE | \
				 CALLOUT_SHAREDLOCK)
#define CALLOUT_L_STATIC	0x40	/* by DEFINE_CALLOUT(), no lock */
#define CALLOUT_L_UNTRACKED	0x80	/* debugobjects does not track it */

/* An argument of callout_init_class() only. */
#define CALLOUT_L_GIANT		0x40	/* the lock is BSD's Giant */

/*
 * callout.node.mark, what callout_active() returns. Written under the base's
 * lock; callout_deactivate() writes 0 without it. Private.
 */
#define CALLOUT_A_TICKS		0x01	/* set for a number of ticks */
#define CALLOUT_A_TIME		0x02	/* set for callout.node.time */

/**
 * DEFINE_CALLOUT - a static callout that needs no callout_init()
 * @_name: its name
 *
 * As callout_init(&_name, CALLOUT_MPSAFE) on CPU 0.
 */
#define DEFINE_CALLOUT(_name)						\
	struct callout _name = {					\
		.node.kind = CALLOUT_KIND_FUNC,				\
		.node.flags = CALLOUT_L_STATIC,				\
		CALLOUT_STATIC_CLASS(#_name)				\
	}

/* A compound literal outside a function is static, which lockdep demands. */
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

static inline void *callout_lock_of_rw(rwlock_t *rw)
{
	return rw;
}

static inline u8 callout_flags_of_mtx(int flags)
{
	return CALLOUT_L_SPIN |
	       (flags & (CALLOUT_RETURNUNLOCKED | CALLOUT_TRYLOCK));
}

static inline u8 callout_flags_of_rw(int flags)
{
	u8 type = flags & CALLOUT_SHAREDLOCK ?: CALLOUT_L_WRITE;

	return type | (flags & (CALLOUT_RETURNUNLOCKED | CALLOUT_TRYLOCK));
}

/**
 * callout_init - prepares a callout
 * @c: struct callout *, neither pending nor running
 * @mpsafe: CALLOUT_MPSAFE, or 0 to have its handler run under one lock that
 *	all such callouts share, as under BSD's Giant
 *
 * Assigns the callout to the current CPU; on a nohz_full CPU, to one that is
 * not. From FreeBSD's callout(9).
 *
 * Context: Any.
 */
#define callout_init(c, mpsafe)						\
	callout_init_here(c, NULL, (mpsafe) ? 0 : CALLOUT_L_GIANT)

/**
 * callout_init_mtx - prepares a callout with an associated spinlock
 * @c: struct callout *, neither pending nor running
 * @mtx: spinlock_t * that is held while the handler runs, or NULL
 * @flags: CALLOUT_RETURNUNLOCKED, CALLOUT_TRYLOCK, or 0
 *
 * Who stops or resets the callout holds @mtx, with softirqs off, and then the
 * handler of a callout that was stopped does not start. @mtx must live until
 * the callout is drained: after callout_stop() the core may still wait for it,
 * only to drop it again. That is inside an RCU read-side section, so after
 * a callout_stop() under @mtx that did not return 0, kfree_rcu() may free both.
 *
 * With CALLOUT_RETURNUNLOCKED the handler drops @mtx, by spin_unlock() and not
 * spin_unlock_bh(). With CALLOUT_TRYLOCK the core never waits: if @mtx is held
 * the callout stays pending and is due at the next tick, and when callout_stop()
 * has returned 1 neither callout nor lock are looked at.
 *
 * From FreeBSD's callout(9), CALLOUT_TRYLOCK from its release 15.
 *
 * Context: Any.
 */
#define callout_init_mtx(c, mtx, flags)					\
	callout_init_here(c, callout_lock_of_mtx(mtx),			\
			  callout_flags_of_mtx(flags))

/**
 * callout_init_rw - prepares a callout with an associated rwlock
 * @c: struct callout *, neither pending nor running
 * @rw: rwlock_t * that is held for writing while the handler runs, or NULL
 * @flags: CALLOUT_SHAREDLOCK to have it held for reading,
 *	CALLOUT_RETURNUNLOCKED, CALLOUT_TRYLOCK, or 0
 *
 * As callout_init_mtx(). Who stops a callout holds the lock for writing.
 *
 * Context: Any.
 */
#define callout_init_rw(c, rw, flags)					\
	callout_init_here(c, callout_lock_of_rw(rw),			\
			  callout_flags_of_rw(flags))

int callout_reset(struct callout *c, long ticks, callout_func_t *func, void *arg);
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
int callout_async_drain(struct callout *c, callout_func_t *drain);

sbintime_t callout_sbinuptime(void);
unsigned int callout_hz(void);
u64 callout_ticks(void);

/* The rest of callout(9), each a form of one of the above. */

/**
 * callout_reset_curcpu - callout_reset_on() with the current CPU
 * @c: the callout
 * @ticks: how many ticks from now
 * @func: the handler
 * @arg: its argument
 *
 * From FreeBSD's callout(9), release 8 and later. Context and Return are those
 * of callout_reset_on().
 */
#define callout_reset_curcpu(c, ticks, func, arg)			\
	callout_reset_on(c, ticks, func, arg, raw_smp_processor_id())

/**
 * callout_schedule_curcpu - callout_schedule_on() with the current CPU
 * @c: the callout
 * @ticks: how many ticks from now
 *
 * From FreeBSD's callout(9), release 8 and later. Context and Return are those
 * of callout_schedule_on().
 */
#define callout_schedule_curcpu(c, ticks)				\
	callout_schedule_on(c, ticks, raw_smp_processor_id())

/**
 * callout_reset_sbt - callout_reset_sbt_on() with the CPU that it has
 * @c: the callout
 * @sbt: the time
 * @pr: the precision
 * @func: the handler
 * @arg: its argument
 * @flags: those of callout_reset_sbt_on()
 *
 * From FreeBSD's callout(9), release 10 and later. Context and Return are those
 * of callout_reset_sbt_on().
 */
#define callout_reset_sbt(c, sbt, pr, func, arg, flags)			\
	callout_reset_sbt_on(c, sbt, pr, func, arg, -1, flags)

/**
 * callout_reset_sbt_curcpu - callout_reset_sbt_on() with the current CPU
 * @c: the callout
 * @sbt: the time
 * @pr: the precision
 * @func: the handler
 * @arg: its argument
 * @flags: those of callout_reset_sbt_on()
 *
 * As callout_reset_sbt().
 */
#define callout_reset_sbt_curcpu(c, sbt, pr, func, arg, flags)		\
	callout_reset_sbt_on(c, sbt, pr, func, arg,			\
			     raw_smp_processor_id(), flags)

/**
 * callout_schedule_sbt_on - sets a callout again for a time
 * @c: the callout; one of the functions that name a handler was called before
 * @sbt: the time
 * @pr: the precision
 * @cpu: the CPU on which the handler is to run, or -1 for the one it has
 * @flags: those of callout_reset_sbt_on()
 *
 * From FreeBSD's callout(9), release 10.2 and later. Context and Return are
 * those of callout_reset_sbt_on().
 */
#define callout_schedule_sbt_on(c, sbt, pr, cpu, flags)			\
	callout_reset_sbt_on(c, sbt, pr, NULL, NULL, cpu, flags)

/**
 * callout_schedule_sbt - callout_schedule_sbt_on() with the CPU that it has
 * @c: the callout
 * @sbt: the time
 * @pr: the precision
 * @flags: those of callout_reset_sbt_on()
 */
#define callout_schedule_sbt(c, sbt, pr, flags)				\
	callout_schedule_sbt_on(c, sbt, pr, -1, flags)

/**
 * callout_schedule_sbt_curcpu - callout_schedule_sbt_on() with the current CPU
 * @c: the callout
 * @sbt: the time
 * @pr: the precision
 * @flags: those of callout_reset_sbt_on()
 */
#define callout_schedule_sbt_curcpu(c, sbt, pr, flags)			\
	callout_schedule_sbt_on(c, sbt, pr, raw_smp_processor_id(), flags)

void callout_barrier(void);

/**
 * callout_pending - is the callout set, and its handler not yet started?
 * @c: the callout
 *
 * Context: Any. The answer is a snapshot: without a lock of the caller's that
 * its handler takes too, it may be out of date at once.
 * Return: true from callout_reset() until the handler starts or the callout
 * is stopped.
 */
static inline bool callout_pending(const struct callout *c)
{
	return READ_ONCE(c->node.state) & CALLOUT_S_PENDING;
}

/**
 * callout_active - has the callout been set and not been deactivated since?
 * @c: the callout
 *
 * Unlike callout_pending() this stays true while the handler runs and after,
 * until callout_deactivate(), callout_stop() or callout_drain(). FreeBSD,
 * callout(9).
 *
 * Context: Any.
 * Return: true if active.
 */
static inline bool callout_active(const struct callout *c)
{
	return READ_ONCE(c->node.mark);
}

/**
 * callout_deactivate - clear what callout_active() tells
 * @c: the callout
 *
 * Context: Any. Does not stop the callout. One that is pending and was set for a
 * time, as by callout_reset_sbt(), may then be early where jiffies run ahead of
 * the clock.
 */
static inline void callout_deactivate(struct callout *c)
{
	WRITE_ONCE(c->node.mark, 0);
}

callout_handle_t setcallout(callout_func_t *func, void *arg, long ticks);
int unsetcallout(callout_handle_t handle);
int unsetcallout_sync(callout_handle_t handle);
int callout_reserve(unsigned int n);

callout_handle_t callout_timeout(callout_func_t *func, void *arg, long ticks);
int callout_untimeout(callout_func_t *func, void *arg);
int callout_untimeout_handle(callout_func_t *func, void *arg,
			     callout_handle_t handle);

#endif /* _LINUX_CALLOUT_H */
