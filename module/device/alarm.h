/* SPDX-License-Identifier: GPL-2.0 */
/*
 * alarm.h - clocks that wake the system from suspend
 */
#ifndef _CALLOUT_DEV_ALARM_H
#define _CALLOUT_DEV_ALARM_H

#include <linux/types.h>

bool callout_alarm_works(void);
int callout_alarm_permit(clockid_t clockid);
void callout_alarm_fired(void);
u64 callout_alarm_earliest(void);

int callout_alarm_init(void);
void callout_alarm_exit(void);

#endif /* _CALLOUT_DEV_ALARM_H */
