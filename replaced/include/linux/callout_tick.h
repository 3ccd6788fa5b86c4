/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_tick.h - what the kernel's tick calls: see module/base/jiffies.c
 */
#ifndef _LINUX_CALLOUT_TICK_H
#define _LINUX_CALLOUT_TICK_H

#include <linux/types.h>

bool callout_tick_is_due(void);
void callout_tick_softirq(void);
u64 callout_tick_stops(unsigned long basej, u64 basem);

#endif /* _LINUX_CALLOUT_TICK_H */
