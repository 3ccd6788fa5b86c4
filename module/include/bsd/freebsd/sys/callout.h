/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout.h - callout(9) by the names of FreeBSD
 *
 * For files that come from FreeBSD, with -I.../include/bsd/freebsd. Include it
 * after all headers of Linux.
 */
#ifndef _CALLOUT_FREEBSD_SYS_CALLOUT_H
#define _CALLOUT_FREEBSD_SYS_CALLOUT_H

#include <linux/callout_bsd.h>

#endif /* _CALLOUT_FREEBSD_SYS_CALLOUT_H */
