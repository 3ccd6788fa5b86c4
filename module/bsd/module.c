// SPDX-License-Identifier: GPL-2.0
/*
 * module.c - callout_bsd.ko: NetBSD's, OpenBSD's and DragonFly's names
 *
 * Functions of struct callout_work under the names of these systems. FreeBSD's names
 * are in callout.ko.
 *
 * Unloading this module waits for nothing. Every caller of its functions is linked
 * with it. callout.ko uses none of its functions and objects: the handlers belong to
 * the client, and DragonFly's mutex is in work.c.
 */
#include <linux/module.h>

MODULE_AUTHOR("The callout developers");
MODULE_DESCRIPTION("Callouts by the names of NetBSD, OpenBSD and DragonFly");
MODULE_VERSION(CALLOUT_VERSION);
MODULE_LICENSE("GPL");
