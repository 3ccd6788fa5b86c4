/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timer_callout_types.h - struct timer_list, which is a callout
 *
 * For linux/timer_types.h, which has defined struct tick_timer before.
 */
#ifndef _LINUX_TIMER_CALLOUT_TYPES_H
#define _LINUX_TIMER_CALLOUT_TYPES_H

/* One type, not two that convert: a pointer to either is a pointer to both. */
#define callout_timer timer_list
#include <linux/callout_timer_types.h>

#endif /* _LINUX_TIMER_CALLOUT_TYPES_H */
