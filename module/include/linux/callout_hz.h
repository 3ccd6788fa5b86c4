/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_hz.h - the clock of BSD kernels: hz, tick and ticks
 *
 * The facility's ticks: ticks per second, microseconds per tick, and the present
 * tick. With the parameter hz= they differ from the kernel's ticks. A file with
 * members, parameters or variables of these names must define CALLOUT_BSD_NO_TICKS
 * before it includes this, and use callout_hz() and callout_ticks() instead.
 */
#ifndef _LINUX_CALLOUT_HZ_H
#define _LINUX_CALLOUT_HZ_H

#include <linux/callout.h>

#ifndef CALLOUT_BSD_NO_TICKS
#define hz	((int)callout_hz())
#define tick	(1000000 / hz)
#define ticks	((int)callout_ticks())
#endif

#define tick_sbt	(SBT_1S / callout_hz())
#define sbinuptime()	callout_sbinuptime()

#endif /* _LINUX_CALLOUT_HZ_H */
