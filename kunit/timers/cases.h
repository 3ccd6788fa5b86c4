/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cases.h - the cases about struct timer_list, compiled twice: for both kinds
 */
#ifndef _CALLOUT_KUNIT_TIMER_CASES_H
#define _CALLOUT_KUNIT_TIMER_CASES_H

#include "api.h"
#include "cases/states.c"
#include "cases/when.c"
#include "cases/runs.c"
#include "cases/where.c"
#include "cases/lives.c"
#include "cases/storm.c"

static struct kunit_case timer_cases[] = {
	KUNIT_CASE(timer_calls_if_idle),
	KUNIT_CASE(timer_calls_if_pending),
	KUNIT_CASE(timer_calls_if_running),
	KUNIT_CASE(timer_calls_if_running_again),
	KUNIT_CASE(timer_calls_if_running_but_shut),
	KUNIT_CASE(timer_calls_if_shut),
	KUNIT_CASE(timer_setup_ends_shutdown),
	KUNIT_CASE(timer_shutdown_refuses_the_handler),
	KUNIT_CASE(timer_function_can_be_replaced),
	KUNIT_CASE(timer_is_never_early),
	KUNIT_CASE(timer_is_on_time),
	KUNIT_CASE(timer_is_exact),
	KUNIT_CASE(timer_of_the_past),
	KUNIT_CASE(timer_of_the_far_future),
	KUNIT_CASE(timer_numbers_are_relative),
	KUNIT_CASE(timer_crosses_a_carry),
	KUNIT_CASE(timer_order_of_a_jiffy),
	KUNIT_CASE(timer_order_of_a_step),
	KUNIT_CASE(timer_order_if_not_moved),
	KUNIT_CASE(timer_order_if_moved),
	KUNIT_CASE(timer_order_if_moved_a_little),
	KUNIT_CASE(timer_order_if_reduced),
	KUNIT_CASE(timer_order_of_distances),
	KUNIT_CASE(timer_rearms_itself),
	KUNIT_CASE(timer_adds_itself),
	KUNIT_CASE(timer_rearms_itself_for_now),
	KUNIT_CASE(timer_cancels_itself),
	KUNIT_CASE(timer_shuts_itself_down),
	KUNIT_CASE(timer_irqsafe_has_interrupts_off),
	KUNIT_CASE(timer_sync_waits),
	KUNIT_CASE(timer_sync_waits_if_atomic),
	KUNIT_CASE(timer_sync_waits_in_a_handler),
	KUNIT_CASE(timer_sync_waits_in_hardirq),
	KUNIT_CASE(timer_sync_of_two),
	KUNIT_CASE(timer_runs_while_set_up_again),
	KUNIT_CASE(timer_started_in_an_interrupt),
	KUNIT_CASE(timer_runs_where_it_was_armed),
	KUNIT_CASE(timer_added_on_a_cpu),
	KUNIT_CASE(timer_shows_its_flags),
	KUNIT_CASE(timer_shows_its_cpu),
	KUNIT_CASE(timer_stays_while_it_runs),
	KUNIT_CASE(timer_added_elsewhere_while_it_runs),
	KUNIT_CASE(timer_stays_at_the_same_expires),
	KUNIT_CASE(timer_leaves_an_idle_cpu_asleep),
	KUNIT_CASE(timer_deferrable_wakes_nobody),
	KUNIT_CASE(timer_deferrable_is_on_time_if_awake),
	KUNIT_CASE(timer_leaves_a_dead_cpu),
	KUNIT_CASE(timer_static),
	KUNIT_CASE(timer_on_the_stack),
	KUNIT_CASE(timer_frees_itself),
	KUNIT_CASE(timer_is_freed),
	KUNIT_CASE(timer_many),
	KUNIT_CASE(timer_survives_a_storm),
	{}
};

#endif /* _CALLOUT_KUNIT_TIMER_CASES_H */
