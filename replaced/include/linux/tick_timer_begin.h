/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tick_timer_begin.h - from here on timer_list is Linux's own wheel
 *
 * In a kernel whose struct timer_list is a callout the wheel of kernel/time/timer.c
 * is left with one user, the tick of the callouts, see module/base/jiffies.c. Its
 * sources stay as they are and get other names by this header: struct tick_timer,
 * tick_mod_timer() and so on. tick_timer_end.h gives the names back.
 *
 * Included where the wheel is declared, defined and used, so several times; last,
 * since a header that follows would be renamed too.
 */
#define timer_list		tick_timer
#define init_timer_key		tick_init_timer_key
#define init_timer_on_stack_key	tick_init_timer_on_stack_key
#define destroy_timer_on_stack	tick_destroy_timer_on_stack
#define timer_pending		tick_timer_pending
#define add_timer		tick_add_timer
#define add_timer_on		tick_add_timer_on
#define add_timer_local		tick_add_timer_local
#define add_timer_global	tick_add_timer_global
#define mod_timer		tick_mod_timer
#define mod_timer_pending	tick_mod_timer_pending
#define timer_reduce		tick_timer_reduce
#define try_to_del_timer_sync	tick_try_to_del_timer_sync
#define timer_delete		tick_timer_delete
#define timer_delete_sync	tick_timer_delete_sync
#define timer_shutdown		tick_timer_shutdown
#define timer_shutdown_sync	tick_timer_shutdown_sync
#define del_timer		tick_del_timer
#define del_timer_sync		tick_del_timer_sync
