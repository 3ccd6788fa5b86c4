/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tick_hrtimer.h - for a tick source that is simulated on this one
 */
#ifndef _CALLOUT_TICK_HRTIMER_H
#define _CALLOUT_TICK_HRTIMER_H

#include "base.h"

void callout_hrtimer_setup(struct callout_base *base,
			   enum hrtimer_restart (*fn)(struct hrtimer *timer));

#endif /* _CALLOUT_TICK_HRTIMER_H */
