/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file.h - operations on the callouts of an open file of the device
 */
#ifndef _CALLOUT_KUNIT_FILE_H
#define _CALLOUT_KUNIT_FILE_H

#include <linux/types.h>
#include <uapi/linux/callout.h>

struct callout_file;

int callout_test_file_do(struct callout_file *file, struct callout_op *op);
u64 callout_test_file_due(struct callout_file *file, u64 handle);

#endif /* _CALLOUT_KUNIT_FILE_H */
