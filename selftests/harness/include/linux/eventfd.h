/* SPDX-License-Identifier: GPL-2.0 */
/*
 * eventfd.h - nothing of it is used here
 */
#ifndef _HARNESS_LINUX_EVENTFD_H
#define _HARNESS_LINUX_EVENTFD_H

#endif /* _HARNESS_LINUX_EVENTFD_H */
