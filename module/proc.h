/* SPDX-License-Identifier: GPL-2.0 */
/*
 * proc.h - callouts whose handler runs in a thread
 */
#ifndef _CALLOUT_PROC_H
#define _CALLOUT_PROC_H

int callout_proc_start(void);
void callout_proc_exit(void);

#endif /* _CALLOUT_PROC_H */
