/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_work.h - callouts whose handler runs in a thread, and may sleep
 */
#ifndef _LINUX_CALLOUT_WORK_H
#define _LINUX_CALLOUT_WORK_H

#include <linux/callout.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

/**
 * struct callout_work - a callout whose handler may sleep
 * @c: private: its callout
 * @work: private: the handler runs from it
 * @lock: private: protects all members except @c and @work, and makes changes
 *	of these atomic with those of @state; taken in hard interrupt context
 * @func: private: the handler
 * @arg: private: the handler's argument
 * @state: private: where its setting is
 * @drains: private: number of callout_work_drain() in progress
 *
 * As OpenBSD's timeout(9) with TIMEOUT_PROC: when it is due the handler runs in
 * a kernel thread, of a work queue. Set up by callout_work_init(). The handler
 * may free it, unless it was set again since the handler started: then the
 * handler must call callout_work_stop() and kfree_rcu().
 */
struct callout_work {
	struct callout c;
	struct work_struct work;
	raw_spinlock_t lock;	/* see above */
	callout_func_t *func;
	void *arg;
	u8 state;
	unsigned int drains;
};

void callout_work_run(struct work_struct *work);

/**
 * callout_work_init() - Initialise a callout whose handler may sleep.
 * @w: struct callout_work *, neither pending nor running, not on a stack
 *
 * Context: Any.
 */
#define callout_work_init(w)						\
do {									\
	struct callout_work *__w = (w);					\
									\
	callout_init(&__w->c, CALLOUT_MPSAFE);				\
	INIT_WORK(&__w->work, callout_work_run);			\
	raw_spin_lock_init(&__w->lock);					\
	__w->func = NULL;						\
	__w->state = 0;							\
	__w->drains = 0;						\
} while (0)

int callout_work_reset(struct callout_work *w, long ticks, callout_func_t *func,
		       void *arg);
int callout_work_stop(struct callout_work *w);
int callout_work_drain(struct callout_work *w);
bool callout_work_pending(struct callout_work *w);

#endif /* _LINUX_CALLOUT_WORK_H */
