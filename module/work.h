/* SPDX-License-Identifier: GPL-2.0 */
/*
 * work.h - the work queue of callouts whose handler runs in a thread
 */
#ifndef _CALLOUT_WORK_H
#define _CALLOUT_WORK_H

int callout_workqueue_create(void);
void callout_workqueue_destroy(void);

#endif /* _CALLOUT_WORK_H */
