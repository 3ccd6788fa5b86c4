/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wait.h - how a batch waits: deadline, number of events, signal mask
 */
#ifndef _CALLOUT_DEVICE_WAIT_H
#define _CALLOUT_DEVICE_WAIT_H

#include <linux/signal_types.h>
#include <uapi/linux/callout.h>

struct callout_until;

/**
 * struct callout_waiter - struct callout_wait of a batch, checked
 * @arg: as the program gave it
 * @mask: the signal mask during the wait, if @arg has one
 */
struct callout_waiter {
	struct callout_wait arg;
	sigset_t mask;
};

int co_wait_copy_in(struct callout_waiter *waiter,
		    const struct callout_batch *batch);
void co_wait_begin(const struct callout_waiter *waiter,
		   struct callout_until *until);
void co_wait_end(const struct callout_waiter *waiter, bool interrupted);
void co_deadline_in(struct callout_until *until, u64 timeout);

#endif /* _CALLOUT_DEVICE_WAIT_H */
