/* SPDX-License-Identifier: GPL-2.0 */
/*
 * time64.h - empty: the schemes use none of it
 */
#ifndef _HARNESS_LINUX_TIME64_H
#define _HARNESS_LINUX_TIME64_H

#endif /* _HARNESS_LINUX_TIME64_H */
