/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_timer.h - in a kernel whose timers are callouts this adds nothing
 */
#ifndef _LINUX_CALLOUT_TIMER_H
#define _LINUX_CALLOUT_TIMER_H

#include <linux/timer.h>

#endif /* _LINUX_CALLOUT_TIMER_H */
