/* SPDX-License-Identifier: GPL-2.0 */
/*
 * _callout.h - struct callout of FreeBSD, for its headers that have one inside
 *
 * Without the names of <sys/callout.h> that are common: hz, ticks and so on.
 */
#ifndef _CALLOUT_FREEBSD_SYS__CALLOUT_H
#define _CALLOUT_FREEBSD_SYS__CALLOUT_H

#include <linux/callout.h>

#endif /* _CALLOUT_FREEBSD_SYS__CALLOUT_H */
