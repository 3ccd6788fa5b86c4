// SPDX-License-Identifier: GPL-2.0
/*
 * module.c - callout_bsd.ko: NetBSD's, OpenBSD's and DragonFly's names
 *
 * Calls of struct callout_work by the names of these systems. FreeBSD's are in
 * callout.ko.
 *
 * To unload this module waits for nothing. Whoever calls its functions is linked with
 * it, and no function and no object of it is used by callout.ko: the handlers are the
 * client's, and DragonFly's mutex is in work.c.
 */
#include <linux/module.h>

MODULE_AUTHOR("The callout developers");
MODULE_DESCRIPTION("Callouts by the names of NetBSD, OpenBSD and DragonFly");
MODULE_VERSION(CALLOUT_VERSION);
MODULE_LICENSE("GPL");
