// SPDX-License-Identifier: GPL-2.0
/*
 * wait.c - how a batch waits: deadline, number of events, signal mask
 */
#include <linux/compat.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include "clock.h"
#include "copy.h"
#include "event.h"
#include "wait.h"

static int mask_copy_in(sigset_t *mask, const struct callout_wait *arg)
{
	const void __user *umask = u64_to_user_ptr(arg->sigmask);

	if (arg->sigmask_size != sizeof(*mask))
		return -EINVAL;
#ifdef CONFIG_COMPAT
	/* The same bits, in words of another length. */
	if (in_compat_syscall())
		return get_compat_sigset(mask, umask);
#endif
	return copy_from_user(mask, umask, sizeof(*mask)) ? -EFAULT : 0;
}

/* Reads batch.wait, which is not 0, and checks it. */
int co_wait_copy_in(struct checked_wait *waiter,
		    const struct callout_batch *batch)
{
	struct callout_wait *arg = &waiter->arg;
	int ret;

	ret = co_copy_in(arg, sizeof(*arg), u64_to_user_ptr(batch->wait),
			 batch->wait_size, CALLOUT_WAIT_SIZE_V1);
	if (ret)
		return ret;
	/* A callout wakes the system, a wait does not. */
	if (co_clock_is_alarm(arg->clockid))
		return -EOPNOTSUPP;
	if (!co_clock_is_valid(arg->clockid))
		return -EINVAL;
	if (arg->flags & ~CALLOUT_WAIT_ABSTIME ||
	    arg->min_events > batch->nr_events)
		return -EINVAL;
	if (!arg->sigmask)
		return arg->sigmask_size ? -EINVAL : 0;
	return mask_copy_in(&waiter->mask, arg);
}

/* Until @timeout nanoseconds from now. */
void co_deadline_in(struct read_deadline *deadline, u64 timeout)
{
	deadline->time = KTIME_MAX;
	if (timeout < KTIME_MAX)
		deadline->time = ktime_add_safe(ktime_get(), ns_to_ktime(timeout));
	deadline->clockid = CLOCK_MONOTONIC;
	deadline->least = 1;
}

/*
 * Says until when to wait, and changes the signal mask as set_user_sigmask()
 * does, which modules cannot call.
 */
void co_wait_begin(const struct checked_wait *waiter,
		   struct read_deadline *deadline)
{
	const struct callout_wait *arg = &waiter->arg;
	sigset_t mask = waiter->mask;

	if (arg->flags & CALLOUT_WAIT_ABSTIME) {
		deadline->time = KTIME_MAX;
		if (arg->time < KTIME_MAX)
			deadline->time = co_time_in(arg->clockid, arg->time);
		deadline->clockid = arg->clockid;
	} else {
		/* Settings of CLOCK_REALTIME do not affect a relative time. */
		co_deadline_in(deadline, arg->time);
		if (arg->clockid == CLOCK_BOOTTIME &&
		    deadline->time != KTIME_MAX) {
			deadline->clockid = CLOCK_BOOTTIME;
			deadline->time = ktime_add_safe(ktime_get_boottime(),
							ns_to_ktime(arg->time));
		}
	}
	deadline->least = max(arg->min_events, 1U);
	if (arg->sigmask) {
		sigdelsetmask(&mask, sigmask(SIGKILL) | sigmask(SIGSTOP));
		set_restore_sigmask();
		current->saved_sigmask = current->blocked;
		sigprocmask(SIG_SETMASK, &mask, NULL);
	}
}

/*
 * Restores the signal mask. If a signal has @interrupted the wait, this is done
 * on the way out of the kernel, after the handler was called.
 */
void co_wait_end(const struct checked_wait *waiter, bool interrupted)
{
	sigset_t saved = current->saved_sigmask;

	if (waiter->arg.sigmask && !interrupted &&
	    test_and_clear_restore_sigmask())
		sigprocmask(SIG_SETMASK, &saved, NULL);
}
