/* SPDX-License-Identifier: GPL-2.0 */
/*
 * workqueue.h - a member of a structure that the harness does not use
 */
#ifndef _HARNESS_LINUX_WORKQUEUE_H
#define _HARNESS_LINUX_WORKQUEUE_H

struct work_struct {
};

#endif /* _HARNESS_LINUX_WORKQUEUE_H */
