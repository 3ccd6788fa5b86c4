/* SPDX-License-Identifier: GPL-2.0 */
/*
 * user.h - limits of users
 */
#ifndef _CALLOUT_DEVICE_USER_H
#define _CALLOUT_DEVICE_USER_H

#include <linux/types.h>

struct callout_file;

extern unsigned int callout_max_per_file;
extern unsigned int callout_max_per_user;

int co_user_charge(struct callout_file *file);
void co_user_uncharge(struct callout_file *file);

int co_file_allow(struct callout_file *file, unsigned int n);
int co_file_lower_limit(struct callout_file *file, u64 limit);
uid_t co_file_uid(const struct callout_file *file);
unsigned int co_file_user_charged(struct callout_file *file);

#endif /* _CALLOUT_DEVICE_USER_H */
