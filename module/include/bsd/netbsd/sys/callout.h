/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout.h - callout(9) by the names of NetBSD
 *
 * For files that come from NetBSD, with -I.../include/bsd/netbsd. Include it after
 * all headers of Linux. <linux/callout.h> declares another interface under these
 * names, which such a file cannot use.
 */
#ifndef _CALLOUT_NETBSD_SYS_CALLOUT_H
#define _CALLOUT_NETBSD_SYS_CALLOUT_H

#include <linux/callout_netbsd.h>
#include <linux/callout_hz.h>

typedef struct callout_netbsd callout_t;

#undef callout_init
#define callout			callout_netbsd
#define callout_init		callout_netbsd_init
#define callout_destroy		callout_netbsd_destroy
#define callout_setfunc		callout_netbsd_setfunc
#define callout_reset		callout_netbsd_reset
#define callout_schedule	callout_netbsd_schedule
#define callout_stop		callout_netbsd_stop
#define callout_halt		callout_netbsd_halt
#define callout_pending		callout_netbsd_pending
#define callout_expired		callout_netbsd_expired
#define callout_active		callout_netbsd_active
#define callout_invoking	callout_netbsd_invoking
#define callout_ack		callout_netbsd_ack
#define callout_bind		callout_netbsd_bind

#endif /* _CALLOUT_NETBSD_SYS_CALLOUT_H */
