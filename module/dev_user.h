/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev_user.h - limits of users, and the list of open files
 */
#ifndef _CALLOUT_DEV_USER_H
#define _CALLOUT_DEV_USER_H

#include <linux/types.h>

struct callout_file;

typedef void callout_file_fn(struct callout_file *file, void *data);
typedef bool callout_visit_fn(struct callout_file *file);

extern unsigned int callout_max_per_file;
extern unsigned int callout_max_per_user;

int callout_user_add(struct callout_file *file);
void callout_user_unlist(struct callout_file *file);
void callout_user_uncharge(struct callout_file *file);
void callout_user_walk_files(callout_file_fn *fn, void *data);
void callout_user_visit_files(callout_visit_fn *fn);

int callout_file_allow(struct callout_file *file, unsigned int n);
int callout_file_lower_limit(struct callout_file *file, u64 limit);
uid_t callout_file_uid(const struct callout_file *file);
unsigned int callout_file_user_charged(struct callout_file *file);

#endif /* _CALLOUT_DEV_USER_H */
