/* SPDX-License-Identifier: GPL-2.0 */
/*
 * workqueue.h - the type of a member that the harness does not use
 */
#ifndef _HARNESS_LINUX_WORKQUEUE_H
#define _HARNESS_LINUX_WORKQUEUE_H

struct work_struct {
};

#endif /* _HARNESS_LINUX_WORKQUEUE_H */
