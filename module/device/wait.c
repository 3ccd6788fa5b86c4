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
#include "event.h"
#include "wait.h"

static int mask_copy_in(sigset_t *mask, const struct callout_batch *batch)
{
	const void __user *umask = u64_to_user_ptr(batch->sigmask);

	if (batch->sigmask_size != sizeof(*mask))
		return -EINVAL;
#ifdef CONFIG_COMPAT
	/* A compat sigset has the same bits in words of another length. */
	if (in_compat_syscall())
		return get_compat_sigset(mask, umask);
#endif
	return copy_from_user(mask, umask, sizeof(*mask)) ? -EFAULT : 0;
}

/*
 * Check how a batch waits, if it waits, and read its signal mask. Return 0,
 * -EINVAL, -EOPNOTSUPP or -EFAULT.
 */
int co_wait_check(const struct callout_batch *batch, sigset_t *mask)
{
	if (!(batch->flags & CALLOUT_BATCHF_WAIT))
		return batch->flags & CALLOUT_BATCHF_ABSTIME || batch->time ||
		       batch->clockid || batch->min_events || batch->sigmask ||
		       batch->sigmask_size ? -EINVAL : 0;
	/* A callout wakes the system; a wait does not. */
	if (co_clock_is_alarm(batch->clockid))
		return -EOPNOTSUPP;
	if (!co_clock_is_valid(batch->clockid) || !batch->nr_events ||
	    batch->min_events > batch->nr_events)
		return -EINVAL;
	if (!batch->sigmask)
		return batch->sigmask_size ? -EINVAL : 0;
	return mask_copy_in(mask, batch);
}

/* Return the time at which a waiting batch ends, and its clock in @clockid. */
static ktime_t wait_until(const struct callout_batch *batch, clockid_t *clockid)
{
	*clockid = batch->clockid;
	if (batch->time >= KTIME_MAX)
		return KTIME_MAX;
	if (batch->flags & CALLOUT_BATCHF_ABSTIME)
		return co_time_in(batch->clockid, batch->time);
	if (batch->clockid == CLOCK_BOOTTIME)
		return ktime_add_safe(ktime_get_boottime(),
				      ns_to_ktime(batch->time));
	/* Setting CLOCK_REALTIME does not affect a relative time. */
	*clockid = CLOCK_MONOTONIC;
	return ktime_add_safe(ktime_get(), ns_to_ktime(batch->time));
}

/*
 * Compute the deadline, and change the signal mask to @mask. This does what
 * set_user_sigmask() does, which modules cannot call.
 */
void co_wait_begin(const struct callout_batch *batch, const sigset_t *mask,
		   struct read_deadline *deadline)
{
	sigset_t changed;

	deadline->time = wait_until(batch, &deadline->clockid);
	deadline->least = max(batch->min_events, 1U);
	if (batch->sigmask) {
		changed = *mask;
		sigdelsetmask(&changed, sigmask(SIGKILL) | sigmask(SIGSTOP));
		set_restore_sigmask();
		current->saved_sigmask = current->blocked;
		sigprocmask(SIG_SETMASK, &changed, NULL);
	}
}

/*
 * Restore the signal mask. If a signal has @interrupted the wait, the kernel
 * restores the mask on return to user space, after the handler was called.
 */
void co_wait_end(const struct callout_batch *batch, bool interrupted)
{
	sigset_t saved = current->saved_sigmask;

	if (batch->sigmask && !interrupted && test_and_clear_restore_sigmask())
		sigprocmask(SIG_SETMASK, &saved, NULL);
}
