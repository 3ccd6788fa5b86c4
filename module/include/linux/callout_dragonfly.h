/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_dragonfly.h - DragonFly's callout(9), under names of this project
 *
 * <bsd/dragonfly/sys/callout.h> defines DragonFly's names.
 */
#ifndef _LINUX_CALLOUT_DRAGONFLY_H
#define _LINUX_CALLOUT_DRAGONFLY_H

#include <linux/callout_work.h>

/**
 * struct callout_dragonfly - DragonFly's struct callout
 * @w: private: the callout's setting
 * @terminated: private: the callout must be initialised before it is used again
 */
struct callout_dragonfly {
	struct callout_work w;
	bool terminated;
};

/* The lock of callouts made by callout_dragonfly_init(): DragonFly's mplock. */
extern struct mutex callout_dragonfly_mplock;

/**
 * callout_dragonfly_init_lk() - Initialise a callout with an associated mutex.
 * @c: struct callout_dragonfly *, neither pending nor running, not on a stack
 * @lock: struct mutex * that is held while the handler runs, or NULL
 *
 * From DragonFly's callout(9), where the lock is a struct lock.
 *
 * Context: Any but NMI.
 */
#define callout_dragonfly_init_lk(c, lock)				\
do {									\
	struct callout_dragonfly *__c = (c);				\
									\
	callout_work_init_mutex(&__c->w, lock);				\
	__c->w.cpu = CALLOUT_WORK_CALLER;				\
	__c->terminated = false;					\
} while (0)

/**
 * callout_dragonfly_init_mp() - Initialise a callout.
 * @c: struct callout_dragonfly *, neither pending nor running, not on a stack
 *
 * From DragonFly's callout(9).
 *
 * Context: Any but NMI.
 */
#define callout_dragonfly_init_mp(c)	callout_dragonfly_init_lk(c, NULL)

/**
 * callout_dragonfly_init() - Initialise a callout whose handler is not MP safe.
 * @c: struct callout_dragonfly *, neither pending nor running, not on a stack
 *
 * No two handlers of such callouts run concurrently. From DragonFly's callout(9).
 *
 * Context: Any but NMI.
 */
#define callout_dragonfly_init(c)	\
	callout_dragonfly_init_lk(c, &callout_dragonfly_mplock)

void callout_dragonfly_reset(struct callout_dragonfly *c, int distance,
			     callout_func_t *func, void *arg);
void callout_dragonfly_reset_bycpu(struct callout_dragonfly *c, int distance,
				   callout_func_t *func, void *arg, int cpu);
int callout_dragonfly_stop(struct callout_dragonfly *c);
int callout_dragonfly_stop_async(struct callout_dragonfly *c);
int callout_dragonfly_cancel(struct callout_dragonfly *c);
void callout_dragonfly_terminate(struct callout_dragonfly *c);
int callout_dragonfly_pending(struct callout_dragonfly *c);
int callout_dragonfly_active(struct callout_dragonfly *c);
void callout_dragonfly_deactivate(struct callout_dragonfly *c);

#endif /* _LINUX_CALLOUT_DRAGONFLY_H */
