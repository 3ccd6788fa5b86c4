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
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/types.h>

typedef void (*callout_func_t)(void *arg);

/**
 * typedef callout_handle_t - names one setting of one callout
 *
 * 0 is never a valid handle. A handle is never valid again after its callout
 * has fired or was cancelled, however often its memory is used anew.
 */
typedef u64 callout_handle_t;

/**
 * struct callout - a function to be called at a later tick
 * @entry: private: link in the scheme, or in a list of due callouts
 * @scheme: private: the same three words as the scheme sees them
 * @expires: private: the tick at which it is due
 * @func: private: the handler
 * @arg: private: the handler's argument
 * @lock: private: the associated lock, or NULL
 * @cpu: private: index of the base that it belongs to
 * @state: private: CALLOUT_S_*, protected by the base's lock
 * @kind: private: who takes it when it is due, see enum callout_kind
 * @lock_flags: private: CALLOUT_L_*, constant after init
 * @active: private: callout_active()
 *
 * All members are private to the facility. Set up by callout_init(). The
 * memory must stay until callout_stop() or callout_drain() have said that the
 * callout is neither pending nor running, except that a handler may free its
 * own callout.
 */
struct callout {
	union {
		struct list_head entry;
		unsigned long scheme[3];
	};
	u64 expires;
	callout_func_t func;
	void *arg;
	void *lock;
	u32 cpu;
	u8 state;
	u8 kind;
	u8 lock_flags;
	u8 active;
};

#ifdef CONFIG_64BIT
static_assert(sizeof(struct callout) <= 64);
#endif

/* callout_init()'s second argument, as FreeBSD's callout(9) has it. */
#define CALLOUT_MPSAFE	1

/**
 * DEFINE_CALLOUT - a static callout that needs no callout_init()
 * @name: its name
 *
 * As callout_init(&name, CALLOUT_MPSAFE) on CPU 0.
 */
#define DEFINE_CALLOUT(name)	struct callout name = { .cpu = 0 }

void callout_init(struct callout *c, int mpsafe);
int callout_reset(struct callout *c, long ticks, callout_func_t func, void *arg);
int callout_reset_on(struct callout *c, long ticks, callout_func_t func,
		     void *arg, unsigned int cpu);
int callout_schedule(struct callout *c, long ticks);
int callout_stop(struct callout *c);
int callout_drain(struct callout *c);
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
	return READ_ONCE(c->state) & 1;
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
	return READ_ONCE(c->active);
}

/**
 * callout_deactivate - clear what callout_active() tells
 * @c: the callout
 *
 * Context: Any. Does not stop the callout.
 */
static inline void callout_deactivate(struct callout *c)
{
	WRITE_ONCE(c->active, 0);
}

callout_handle_t setcallout(callout_func_t func, void *arg, long ticks);
int unsetcallout(callout_handle_t handle);
int unsetcallout_sync(callout_handle_t handle);
int callout_reserve(unsigned int n);

callout_handle_t callout_timeout(callout_func_t func, void *arg, long ticks);
int callout_untimeout(callout_func_t func, void *arg);
int callout_untimeout_handle(callout_func_t func, void *arg,
			     callout_handle_t handle);

#endif /* _LINUX_CALLOUT_H */
