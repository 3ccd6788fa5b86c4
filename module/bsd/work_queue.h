/* SPDX-License-Identifier: GPL-2.0 */
/*
 * work_queue.h - the work queues that run handlers of struct callout_work
 */
#ifndef _CALLOUT_WORK_QUEUE_H
#define _CALLOUT_WORK_QUEUE_H

#include <linux/types.h>

struct callout_work;

void co_work_queue(struct callout_work *w);
int co_workqueue_create(void);
void co_workqueue_destroy(void);

#endif /* _CALLOUT_WORK_QUEUE_H */
