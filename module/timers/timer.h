/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timer.h - Linux's timers on callouts: what other files call
 */
#ifndef _CALLOUT_TIMER_H
#define _CALLOUT_TIMER_H

#include <linux/callout_timer_types.h>
#include <linux/debugobjects.h>
#include "base/base.h"

void co_timers_init(void);

/*
 * Does the function of @t run? That of an earlier timer in the same memory counts
 * as well, as in Linux: a function may initialise its own timer again, and set it,
 * and its user still waits for it by callout_timer_delete_sync(), unless the timer
 * has got another base by that, of other flags or because another CPU ran it. So,
 * unlike co_is_running(), this does not ask for CALLOUT_S_STARTED_HERE. But a callout
 * does not count, neither one that waits for its associated lock, under which it may
 * have been stopped and freed, nor one whose handler has freed it and goes on: the
 * caller may hold what they wait for.
 */
static inline bool co_timer_runs(struct callout_base *base,
				 struct callout_timer *t)
{
	lockdep_assert_held(&base->lock);
	return base->running == &t->node &&
	       READ_ONCE(base->stage) == CALLOUT_STAGE_TIMER;
}

/* For debugobjects; not there in a kernel without it. */
extern const struct debug_obj_descr callout_timer_descr;

#endif /* _CALLOUT_TIMER_H */
