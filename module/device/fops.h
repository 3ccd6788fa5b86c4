/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fops.h - /dev/callout: load and unload, and the list of open files
 */
#ifndef _CALLOUT_DEVICE_FOPS_H
#define _CALLOUT_DEVICE_FOPS_H

struct seq_file;

int co_dev_init(void);
void co_dev_exit(void);

int co_files_show(struct seq_file *m, void *unused);

#endif /* _CALLOUT_DEVICE_FOPS_H */
