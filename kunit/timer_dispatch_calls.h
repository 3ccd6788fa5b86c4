/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timer_dispatch_calls.h - a function that calls everything on a timer
 *
 * A template, for timer_dispatch.c: TIMER_CALLS is its name, TIMER_TYPE the type
 * of the timer, and TIMER_CALLOUTS how many callouts it is. The timer must be
 * idle. Returns the number of violations.
 */
static unsigned int TIMER_CALLS(TIMER_TYPE *timer)
{
	unsigned long far = jiffies + CALLOUT_TEST_FAR;
	unsigned int before = callouts_since(0), wrong = 0;

	wrong += timer_pending(timer) != 0;
	wrong += mod_timer_pending(timer, far) != 0;
	wrong += mod_timer(timer, far) != 0;
	wrong += callouts_since(before) != TIMER_CALLOUTS;
	wrong += timer_pending((const TIMER_TYPE *)timer) != 1;
	wrong += mod_timer(timer, far + 1) != 1;
	wrong += timer_reduce(timer, far) != 1;
	wrong += mod_timer_pending(timer, far + 2) != 1;
	wrong += timer->expires != far + 2;
	wrong += timer_delete(timer) != 1;
	wrong += callouts_since(before) != 0;
	add_timer_local(timer);
	wrong += callouts_since(before) != TIMER_CALLOUTS;
	wrong += try_to_del_timer_sync(timer) != 1;
	add_timer_on(timer, raw_smp_processor_id());
	wrong += callouts_since(before) != TIMER_CALLOUTS;
	wrong += timer_delete_sync(timer) != 1;
	add_timer(timer);
	wrong += callouts_since(before) != TIMER_CALLOUTS;
	wrong += timer_delete_sync_try(timer) != 1;
	mod_timer(timer, far);
	wrong += del_timer(timer) != 1;
	mod_timer(timer, far);
	wrong += del_timer_sync(timer) != 1;
	add_timer_global(timer);
	wrong += timer_shutdown(timer) != 1;
	wrong += timer_shutdown_sync(timer) != 0;
	wrong += mod_timer(timer, far) != 0;
	wrong += callouts_since(before) != 0;
	return wrong;
}

#undef TIMER_TYPE
#undef TIMER_CALLS
#undef TIMER_CALLOUTS
