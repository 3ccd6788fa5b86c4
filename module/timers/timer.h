/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timer.h - Linux's timers on callouts: functions for other files
 */
#ifndef _CALLOUT_TIMER_H
#define _CALLOUT_TIMER_H

#include <linux/callout_timer_types.h>
#include <linux/debugobjects.h>
#include "base/base.h"

void co_timers_init(void);

/*
 * Does the function of @t run? The function of an earlier timer in the same memory
 * counts as well, as in Linux. A function may initialise its own timer again and set
 * it, and its user still waits for the function by callout_timer_delete_sync(),
 * unless the timer has another base since, because of other flags or because another
 * CPU ran it. So, unlike co_is_running(), this does not test CALLOUT_S_STARTED_HERE.
 *
 * A callout in the same memory does not count. It may be waiting for its associated
 * lock, under which it may have been stopped and freed, or its handler may have freed
 * it and still be running: the caller may hold the lock that either waits for.
 */
static inline bool co_timer_runs(struct callout_base *base,
				 struct callout_timer *t)
{
	lockdep_assert_held(&base->lock);
	return base->running == &t->node &&
	       READ_ONCE(base->stage) == CALLOUT_STAGE_TIMER;
}

/* For debugobjects; undefined in a kernel without debugobjects. */
extern const struct debug_obj_descr callout_timer_descr;

#endif /* _CALLOUT_TIMER_H */
