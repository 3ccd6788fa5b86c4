/* SPDX-License-Identifier: GPL-2.0 */
/*
 * types.h - what the kernel's headers take from it
 */
#ifndef _WHEEL_SYS_TYPES_H
#define _WHEEL_SYS_TYPES_H

#include <stddef.h>

typedef int pid_t;

#endif /* _WHEEL_SYS_TYPES_H */
