/* SPDX-License-Identifier: GPL-2.0 */
/*
 * debugfs.h - counters in debugfs, the interface for main.c
 */
#ifndef _CALLOUT_DEBUGFS_H
#define _CALLOUT_DEBUGFS_H

void co_debugfs_init(void);
void co_debugfs_exit(void);

#endif /* _CALLOUT_DEBUGFS_H */
