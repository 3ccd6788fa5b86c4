/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dispatch_calls.h - a function that makes every call on a timer
 *
 * A template for dispatch.c. TIMER_CALLS is the function's name, TIMER_TYPE is the
 * type of the timer, and TIMER_CALLOUTS is the number of callouts that the timer
 * counts as. TIMER_SOCK_CALLS makes the calls of net/sock.h. The timer must be
 * idle. Both functions return the number of violations.
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

#ifdef CONFIG_NET
/* A pending timer has one reference to the socket, however often it is set. */
static unsigned int TIMER_SOCK_CALLS(TIMER_TYPE *timer, struct sock *sk)
{
	unsigned long far = jiffies + CALLOUT_TEST_FAR;
	unsigned int before = callouts_since(0), wrong = 0;

	sk_reset_timer(sk, timer, far);
	wrong += callouts_since(before) != TIMER_CALLOUTS;
	wrong += refcount_read(&sk->sk_refcnt) != 2;
	sk_reset_timer(sk, timer, far + 1);
	wrong += timer->expires != far + 1;
	wrong += refcount_read(&sk->sk_refcnt) != 2;
	sk_stop_timer(sk, timer);
	wrong += timer_pending(timer) != 0;
	wrong += refcount_read(&sk->sk_refcnt) != 1;
	sk_stop_timer(sk, timer);
	wrong += refcount_read(&sk->sk_refcnt) != 1;
	sk_reset_timer(sk, timer, far);
	sk_stop_timer_sync(sk, timer);
	wrong += timer_pending(timer) != 0;
	wrong += refcount_read(&sk->sk_refcnt) != 1;
	sk_stop_timer_sync(sk, timer);
	wrong += refcount_read(&sk->sk_refcnt) != 1;
	return wrong;
}
#endif

#undef TIMER_TYPE
#undef TIMER_CALLS
#undef TIMER_SOCK_CALLS
#undef TIMER_CALLOUTS
