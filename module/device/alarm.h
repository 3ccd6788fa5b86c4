/* SPDX-License-Identifier: GPL-2.0 */
/*
 * alarm.h - clocks that wake the system from suspend
 */
#ifndef _CALLOUT_DEVICE_ALARM_H
#define _CALLOUT_DEVICE_ALARM_H

#include <linux/types.h>

bool co_alarm_works(void);
int co_alarm_permit(clockid_t clockid);
void co_alarm_fired(void);
u64 co_alarm_earliest(void);

int co_alarm_init(void);
void co_alarm_exit(void);

#endif /* _CALLOUT_DEVICE_ALARM_H */
