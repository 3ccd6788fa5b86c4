/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_work.h - callouts whose settings are accounted for once each, and
 * whose handler runs in a thread, where it may sleep
 */
#ifndef _LINUX_CALLOUT_WORK_H
#define _LINUX_CALLOUT_WORK_H

#include <linux/callout.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

struct task_struct;

/* How the handler runs: an argument of callout_work_init_as(). */
#define CALLOUT_WORK_SOFTIRQ	0x01	/* in softirq context, not in a thread */
#define CALLOUT_WORK_ORDERED	0x02	/* in a thread, one after the other */
#define CALLOUT_WORK_GIANT	0x04	/* in softirq context, under BSD's Giant */

/* callout_work.cpu, if it is not a CPU. */
#define CALLOUT_WORK_STAY	(-1)	/* the present CPU */
#define CALLOUT_WORK_CALLER	(-2)	/* the CPU of the caller who sets it */
#define CALLOUT_WORK_FIRST	(-3)	/* the first online CPU */

/* callout_work.past */
#define CALLOUT_WORK_FIRED	0x01	/* handler started; until set or stopped */
#define CALLOUT_WORK_INVOKED	0x02	/* handler started; until set */

/**
 * struct callout_work - a callout whose handler may sleep
 * @c: private: the underlying callout
 * @work: private: the work item that runs the handler
 * @lock: private: protects all members except @c and @work, and makes their changes
 *	atomic with changes of @state; taken in hard interrupt context
 * @state: private: where the setting is
 * @how: private: CALLOUT_WORK_SOFTIRQ and so on; constant after init
 * @past: private: CALLOUT_WORK_FIRED, CALLOUT_WORK_INVOKED
 * @ready: private: @c and @work are initialised
 * @cpu: private: where the callout is set: a CPU, or CALLOUT_WORK_STAY and so on
 * @drains: private: number of drains in progress
 * @func: private: the handler
 * @arg: private: the handler's argument
 * @mutex: private: held while the handler runs, or NULL; constant after init
 * @drained: private: the function of callout_work_async_drain(), or NULL
 * @runner: private: the task that ran the handler last, or whose softirq did
 * @late: private: in softirq context: the handler of a setting that was stopped
 *	or replaced too late, or NULL
 * @late_arg: private: the argument of @late
 *
 * As OpenBSD's timeout(9) with TIMEOUT_PROC: when the callout is due its handler
 * runs in a kernel thread of a work queue. callout_work_init() and variants
 * initialise it. The handler may free the callout, unless the callout was set again
 * since the handler started: then the handler must call callout_work_stop() and
 * kfree_rcu(). A handler in a thread should return soon after it has freed its
 * callout. Until then the work queue mistakes a struct callout_work in the same
 * memory for the freed callout, and delays its handler. So a handler that has freed
 * its callout must neither wait for a callout that was initialised since nor drain
 * it.
 */
struct callout_work {
	struct callout c;
	struct work_struct work;
	raw_spinlock_t lock;	/* see above */
	u8 state;
	u8 how;
	u8 past;
	bool ready;
	int cpu;
	unsigned int drains;
	callout_func_t *func;
	void *arg;
	struct mutex *mutex;	/* see above */
	callout_func_t *drained;
	struct task_struct *runner;
	callout_func_t *late;
	void *late_arg;
};

void callout_work_run(struct work_struct *work);

/* Called by callout_work_init_as() after the members that have a lockdep class. */
static inline void callout_work_setup(struct callout_work *w, u8 how)
{
	memset_after(w, 0, lock);
	w->how = how;
	w->ready = true;
	w->cpu = CALLOUT_WORK_STAY;
}

/**
 * callout_work_init_as() - Initialise a callout; say how its handler runs.
 * @w: pointer to a struct callout_work, new or drained, not on a stack
 * @_how: 0 as callout_work_init(); CALLOUT_WORK_ORDERED: in a thread, in which all
 *	handlers of this kind run one after the other; CALLOUT_WORK_SOFTIRQ: not in
 *	a thread, so the handler must not sleep; with CALLOUT_WORK_GIANT in
 *	addition, under the lock of callout_init() with mpsafe = 0
 *
 * Context: Any but NMI.
 */
#define callout_work_init_as(w, _how)					\
do {									\
	struct callout_work *__w = (w);					\
	u8 __how = (_how);						\
									\
	callout_init_here(&__w->c, NULL, __how & CALLOUT_WORK_GIANT ?	\
					 CALLOUT_L_GIANT : 0);		\
	INIT_WORK(&__w->work, callout_work_run);			\
	raw_spin_lock_init(&__w->lock);					\
	callout_work_setup(__w, __how);					\
} while (0)

/**
 * callout_work_init() - Initialise a callout whose handler may sleep.
 * @w: pointer to a struct callout_work, new or drained, not on a stack
 *
 * Context: Any but NMI.
 */
#define callout_work_init(w)	callout_work_init_as(w, 0)

/**
 * callout_work_init_mutex() - Initialise a callout with an associated mutex.
 * @w: pointer to a struct callout_work, new or drained, not on a stack
 * @_mutex: struct mutex * that is held while the handler runs, or NULL
 *
 * Once callout_work_stop() was called under @_mutex and returned 1 or -1, the
 * handler does not run. The thread never waits for @_mutex: if @_mutex is contended
 * the callout stays pending, and the next tick tries again. So callout_work_drain()
 * may be called with @_mutex held, and afterwards @_mutex may be freed with the
 * callout. The handler may free the callout, but not @_mutex, which is unlocked
 * after the handler has returned.
 *
 * After DragonFly's callout_init_lk().
 *
 * Context: Any but NMI.
 */
#define callout_work_init_mutex(w, _mutex)				\
do {									\
	struct callout_work *__wm = (w);				\
									\
	callout_work_init_as(__wm, 0);					\
	__wm->mutex = (_mutex);						\
} while (0)

int callout_work_reset(struct callout_work *w, long distance,
		       callout_func_t *func, void *arg);
int callout_work_reset_on(struct callout_work *w, long distance,
			  callout_func_t *func, void *arg, int cpu);
int callout_work_reset_sbt_on(struct callout_work *w, sbintime_t sbt,
			      sbintime_t pr, callout_func_t *func, void *arg,
			      int cpu, int flags);
int callout_work_stop(struct callout_work *w);
int callout_work_drain(struct callout_work *w);
int callout_work_async_drain(struct callout_work *w, callout_func_t *drained);
void callout_work_barrier(struct callout_work *w);
void callout_work_barrier_all(void);
bool callout_work_pending(struct callout_work *w);

#endif /* _LINUX_CALLOUT_WORK_H */
