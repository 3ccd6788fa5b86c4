/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev.h - /dev/callout, as seen by main.c
 */
#ifndef _CALLOUT_DEV_H
#define _CALLOUT_DEV_H

int callout_dev_init(void);
void callout_dev_exit(void);

#endif /* _CALLOUT_DEV_H */
