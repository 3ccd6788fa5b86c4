/* SPDX-License-Identifier: GPL-2.0 */
/*
 * smp.h - empty: the harness knows no CPU
 */
#ifndef _HARNESS_LINUX_SMP_H
#define _HARNESS_LINUX_SMP_H

#endif /* _HARNESS_LINUX_SMP_H */
