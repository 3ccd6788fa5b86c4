/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_openbsd.h - OpenBSD's timeout(9), under names of this project
 *
 * <bsd/openbsd/sys/timeout.h> defines OpenBSD's names. As in OpenBSD 7.8, a time
 * given in seconds or fractions of a second is at least that long.
 */
#ifndef _LINUX_CALLOUT_OPENBSD_H
#define _LINUX_CALLOUT_OPENBSD_H

#include <linux/callout_work.h>

/* Flags of timeout_set_flags(). */
#define TIMEOUT_PROC		0x01	/* the handler runs in a thread */
#define TIMEOUT_INITIALIZED	0x04	/* private */
#define TIMEOUT_MPSAFE		0x10	/* in a thread, not in order */

/* Clocks of timeout_set_flags(). */
#define KCLOCK_NONE		(-1)	/* ticks: timeout_add() and variants */
#define KCLOCK_UPTIME		0	/* time since boot: timeout_abs_ts() */

/**
 * struct timeout - OpenBSD's struct timeout
 * @w: private: the timeout's setting
 * @kclock: private: KCLOCK_NONE or KCLOCK_UPTIME
 * @flags: private: TIMEOUT_*
 */
struct timeout {
	struct callout_work w;
	int kclock;
	int flags;
};

static inline u8 callout_openbsd_how(int flags)
{
	if (!(flags & TIMEOUT_PROC))
		return CALLOUT_WORK_SOFTIRQ | CALLOUT_WORK_GIANT;
	return flags & TIMEOUT_MPSAFE ? 0 : CALLOUT_WORK_ORDERED;
}

void callout_openbsd_setup(struct timeout *to, callout_func_t *func, void *arg,
			   int kclock, int flags);

/**
 * callout_openbsd_set_flags() - Initialise a timeout.
 * @to: struct timeout *, neither pending nor running, not on a stack
 * @func: the handler
 * @arg: the handler's argument
 * @_kclock: KCLOCK_NONE, or KCLOCK_UPTIME for callout_openbsd_abs()
 * @_flags: TIMEOUT_PROC, TIMEOUT_PROC | TIMEOUT_MPSAFE, or 0
 *
 * OpenBSD's timeout_set_flags(). A timeout that was added before needs
 * timeout_barrier() or timeout_del_barrier() first, as if it were freed.
 *
 * Context: Any but NMI.
 */
#define callout_openbsd_set_flags(to, func, arg, _kclock, _flags)	\
do {									\
	struct timeout *__to = (to);					\
	int __flags = (_flags);						\
									\
	callout_work_init_as(&__to->w, callout_openbsd_how(__flags));	\
	callout_openbsd_setup(__to, func, arg, _kclock, __flags);	\
} while (0)

/* The initialiser of a static struct timeout. */
#define CALLOUT_OPENBSD_INITIALIZER(_func, _arg, _kclock, _flags)	\
{									\
	.w.lock = __RAW_SPIN_LOCK_INITIALIZER(timeout),			\
	.w.how = !((_flags) & TIMEOUT_PROC) ?				\
		 CALLOUT_WORK_SOFTIRQ | CALLOUT_WORK_GIANT :		\
		 (_flags) & TIMEOUT_MPSAFE ? 0 : CALLOUT_WORK_ORDERED,	\
	.w.cpu = (_flags) & TIMEOUT_PROC ? CALLOUT_WORK_STAY :		\
					   CALLOUT_WORK_FIRST,		\
	.w.func = (_func),						\
	.w.arg = (_arg),						\
	.kclock = (_kclock),						\
	.flags = (_flags) | TIMEOUT_INITIALIZED,			\
}

int callout_openbsd_add(struct timeout *to, int distance);
int callout_openbsd_add_sec(struct timeout *to, int seconds);
int callout_openbsd_add_msec(struct timeout *to, u64 ms);
int callout_openbsd_add_usec(struct timeout *to, u64 us);
int callout_openbsd_add_nsec(struct timeout *to, u64 ns);
int callout_openbsd_add_parts(struct timeout *to, s64 seconds, s64 ns);
int callout_openbsd_abs(struct timeout *to, s64 seconds, s64 ns);
int callout_openbsd_del(struct timeout *to);
int callout_openbsd_del_barrier(struct timeout *to);
void callout_openbsd_barrier(struct timeout *to);
int callout_openbsd_pending(struct timeout *to);
int callout_openbsd_initialized(struct timeout *to);
int callout_openbsd_triggered(struct timeout *to);

/**
 * callout_openbsd_del_async() - Cancel a timeout; report when it may be freed.
 * @to: the timeout
 * @done: called with the handler's argument, in a thread where it may sleep, when
 *	the handler that is running has returned and @to may be freed
 *
 * For code that holds a lock that the handler takes, and so cannot wait. In OpenBSD
 * such code frees its timeout after timeout_del(). If settings hold references call
 * timeout_del() first, in the same hold of the lock: its result counts the
 * references.
 *
 * If this returns 0, @done will be called, once. Until just before that call @to
 * cannot be set, and timeout_add() and variants return 0. Otherwise @done is not
 * called, and @to may be freed at once. Callers must make sure that nothing sets
 * @to afterwards. A second call of this function before @done is called returns 0,
 * and its function is not called. The handler may call this for its own timeout,
 * which it must then not free. callout_work_barrier_all() waits for @done too.
 *
 * @done may be called before the caller has released the lock. If @done frees the
 * memory that has the lock, the caller needs a reference to it until it has
 * released the lock.
 *
 * Context: Any but NMI.
 * Return: 1 if @to was pending and no longer is; 0 if it may still be in use; -1 if
 * it was not pending.
 */
static inline int callout_openbsd_del_async(struct timeout *to,
					    callout_func_t *done)
{
	return callout_work_async_drain(&to->w, done);
}

#endif /* _LINUX_CALLOUT_OPENBSD_H */
