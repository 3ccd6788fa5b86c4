/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout.h - callout(9) by the names of DragonFly
 *
 * For files that come from DragonFly, with -I.../include/bsd/dragonfly. Include it
 * after all headers of Linux. <linux/callout.h> declares another interface under
 * these names, which such a file cannot use.
 */
#ifndef _CALLOUT_DRAGONFLY_SYS_CALLOUT_H
#define _CALLOUT_DRAGONFLY_SYS_CALLOUT_H

#include <linux/callout_dragonfly.h>
#include <linux/callout_hz.h>

typedef callout_func_t timeout_t;

#undef callout_init
#define callout			callout_dragonfly
#define callout_init		callout_dragonfly_init
#define callout_init_mp		callout_dragonfly_init_mp
#define callout_init_lk		callout_dragonfly_init_lk
#define callout_reset		callout_dragonfly_reset
#define callout_reset_bycpu	callout_dragonfly_reset_bycpu
#define callout_stop		callout_dragonfly_stop
#define callout_stop_sync	callout_dragonfly_stop
#define callout_stop_async	callout_dragonfly_stop_async
#define callout_cancel		callout_dragonfly_cancel
#define callout_drain		callout_dragonfly_cancel
#define callout_terminate	callout_dragonfly_terminate
#define callout_pending		callout_dragonfly_pending
#define callout_active		callout_dragonfly_active
#define callout_deactivate	callout_dragonfly_deactivate

/* DragonFly calls these names "Legacy" too. */
#define callout_func(c)		((c)->w.func)
#define callout_arg(c)		((c)->w.arg)
#define callout_set_arg(c, a)	((c)->w.arg = (a))

#endif /* _CALLOUT_DRAGONFLY_SYS_CALLOUT_H */
