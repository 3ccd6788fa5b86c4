/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wait.h - how a batch waits: deadline, number of events, signal mask
 */
#ifndef _CALLOUT_DEVICE_WAIT_H
#define _CALLOUT_DEVICE_WAIT_H

#include <linux/signal_types.h>
#include <uapi/linux/callout.h>

struct read_deadline;

int co_wait_check(const struct callout_batch *batch, sigset_t *mask);
void co_wait_begin(const struct callout_batch *batch, const sigset_t *mask,
		   struct read_deadline *deadline);
void co_wait_end(const struct callout_batch *batch, bool interrupted);

#endif /* _CALLOUT_DEVICE_WAIT_H */
