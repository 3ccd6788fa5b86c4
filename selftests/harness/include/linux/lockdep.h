/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lockdep.h - empty: the harness has no lockdep
 */
#ifndef _HARNESS_LINUX_LOCKDEP_H
#define _HARNESS_LINUX_LOCKDEP_H

#endif /* _HARNESS_LINUX_LOCKDEP_H */
