/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_netbsd.h - NetBSD's callout(9), under names of this project
 *
 * <bsd/netbsd/sys/callout.h> defines NetBSD's names.
 */
#ifndef _LINUX_CALLOUT_NETBSD_H
#define _LINUX_CALLOUT_NETBSD_H

#include <linux/callout_work.h>

/**
 * struct callout_netbsd - NetBSD's callout_t
 * @w: private: the callout's setting
 * @bound: private: the handler always runs on the CPU callout_work.cpu
 */
struct callout_netbsd {
	struct callout_work w;
	bool bound;
};

/**
 * callout_netbsd_init() - Initialise a callout.
 * @c: struct callout_netbsd *, neither pending nor running, not on a stack
 * @flags: CALLOUT_MPSAFE; or 0: the callout's handler runs on the first online CPU,
 *	never concurrently with another such handler
 *
 * From NetBSD's callout(9), callout_init().
 *
 * Context: Any but NMI.
 */
#define callout_netbsd_init(c, flags)					\
do {									\
	struct callout_netbsd *__c = (c);				\
	bool __mpsafe = (flags) & CALLOUT_MPSAFE;			\
									\
	callout_work_init_as(&__c->w, CALLOUT_WORK_SOFTIRQ |		\
			     (__mpsafe ? 0 : CALLOUT_WORK_GIANT));	\
	__c->w.cpu = __mpsafe ? CALLOUT_WORK_CALLER :			\
				CALLOUT_WORK_FIRST;			\
	__c->bound = !__mpsafe;						\
} while (0)

void callout_netbsd_destroy(struct callout_netbsd *c);
void callout_netbsd_setfunc(struct callout_netbsd *c, callout_func_t *func,
			    void *arg);
void callout_netbsd_reset(struct callout_netbsd *c, int distance,
			  callout_func_t *func, void *arg);
void callout_netbsd_schedule(struct callout_netbsd *c, int distance);
bool callout_netbsd_stop(struct callout_netbsd *c);
bool callout_netbsd_halt_as(struct callout_netbsd *c, void *lock, bool spin);
bool callout_netbsd_pending(struct callout_netbsd *c);
bool callout_netbsd_expired(struct callout_netbsd *c);
bool callout_netbsd_active(struct callout_netbsd *c);
bool callout_netbsd_invoking(struct callout_netbsd *c);
void callout_netbsd_ack(struct callout_netbsd *c);
void callout_netbsd_bind(struct callout_netbsd *c, unsigned int cpu);

/**
 * callout_netbsd_halt() - Cancel a callout and wait for its handler.
 * @c: struct callout_netbsd *
 * @interlock: struct mutex * or spinlock_t * (locked by spin_lock_bh()) that the
 *	caller holds and that is released while this waits; or NULL
 *
 * If there is a handler to wait for, @interlock is released and taken again. The
 * handler itself may call this, which then does not wait. From NetBSD's
 * callout(9).
 *
 * Context: Process context, may sleep if the handler runs; or the handler.
 * Return: true if the handler has started since the callout was set.
 */
#define callout_netbsd_halt(c, interlock)				\
({									\
	typeof(interlock) __lock = (interlock);				\
									\
	static_assert(__same_type(__lock, spinlock_t *) ||		\
		      __same_type(__lock, struct mutex *) ||		\
		      __same_type(__lock, void *));			\
	callout_netbsd_halt_as(c, __lock,				\
			       __same_type(__lock, spinlock_t *));	\
})

#endif /* _LINUX_CALLOUT_NETBSD_H */
