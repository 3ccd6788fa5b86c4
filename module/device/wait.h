/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wait.h - how a batch waits: deadline, number of events, signal mask
 */
#ifndef _CALLOUT_DEVICE_WAIT_H
#define _CALLOUT_DEVICE_WAIT_H

#include <linux/signal_types.h>
#include <uapi/linux/callout.h>

struct read_deadline;

/* struct callout_wait of a batch, checked */
struct checked_wait {
	struct callout_wait arg;	/* as the program gave it */
	sigset_t mask;			/* during the wait, if @arg has a signal mask */
};

int co_wait_copy_in(struct checked_wait *waiter,
		    const struct callout_batch *batch);
void co_wait_begin(const struct checked_wait *waiter,
		   struct read_deadline *deadline);
void co_wait_end(const struct checked_wait *waiter, bool interrupted);
void co_deadline_in(struct read_deadline *deadline, u64 timeout);

#endif /* _CALLOUT_DEVICE_WAIT_H */
