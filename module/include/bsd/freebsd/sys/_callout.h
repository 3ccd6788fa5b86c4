/* SPDX-License-Identifier: GPL-2.0 */
/*
 * _callout.h - struct callout of FreeBSD, for FreeBSD's headers that embed it
 *
 * This leaves out the common names of <sys/callout.h>: hz, ticks and so on.
 */
#ifndef _CALLOUT_FREEBSD_SYS__CALLOUT_H
#define _CALLOUT_FREEBSD_SYS__CALLOUT_H

#include <linux/callout.h>

#endif /* _CALLOUT_FREEBSD_SYS__CALLOUT_H */
