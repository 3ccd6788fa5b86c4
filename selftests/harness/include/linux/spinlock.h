/* SPDX-License-Identifier: GPL-2.0 */
/*
 * spinlock.h - the types of locks; the harness has no lock
 */
#ifndef _HARNESS_LINUX_SPINLOCK_H
#define _HARNESS_LINUX_SPINLOCK_H

typedef struct spinlock spinlock_t;
typedef struct rwlock rwlock_t;
typedef struct { int unused; } raw_spinlock_t;

#endif /* _HARNESS_LINUX_SPINLOCK_H */
