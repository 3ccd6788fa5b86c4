/* SPDX-License-Identifier: GPL-2.0 */
/*
 * event.h - the ready list of a file
 */
#ifndef _CALLOUT_DEVICE_EVENT_H
#define _CALLOUT_DEVICE_EVENT_H

#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/types.h>

/* How long a reader waits. */
struct read_deadline {
	ktime_t time;		/* in @clockid; KTIME_MAX means for ever */
	clockid_t clockid;	/* a clock that hrtimers have */
	unsigned int least;	/* number of events, not 0 */
};

struct callout_file;
struct callout_node;
struct callout_owner;
struct callout_slot;
struct file;
struct iov_iter;

int co_file_withdraw(struct callout_file *file, struct callout_slot *slot,
		     bool named);
ssize_t co_file_read(struct callout_file *file, struct iov_iter *to,
		     const struct read_deadline *deadline);
__poll_t co_file_poll(struct file *filp, poll_table *wait);

struct callout_owner co_event_owner(const struct callout_node *n);
void co_event_init(void);

#endif /* _CALLOUT_DEVICE_EVENT_H */
