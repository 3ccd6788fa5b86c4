/* SPDX-License-Identifier: GPL-2.0 */
/*
 * time64.h - nothing of it is used here
 */
#ifndef _HARNESS_LINUX_TIME64_H
#define _HARNESS_LINUX_TIME64_H

#endif /* _HARNESS_LINUX_TIME64_H */
