/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tick_timer_end.h - from here on timer_list is a callout again
 *
 * See tick_timer_begin.h.
 */
#undef timer_list
#undef init_timer_key
#undef init_timer_on_stack_key
#undef destroy_timer_on_stack
#undef timer_pending
#undef add_timer
#undef add_timer_on
#undef add_timer_local
#undef add_timer_global
#undef mod_timer
#undef mod_timer_pending
#undef timer_reduce
#undef try_to_del_timer_sync
#undef timer_delete
#undef timer_delete_sync
#undef timer_shutdown
#undef timer_shutdown_sync
#undef del_timer
#undef del_timer_sync
