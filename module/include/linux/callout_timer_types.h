/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_timer_types.h - Linux's timers on callouts: the structure, the calls
 *
 * linux/callout_timer.h gives these calls the names of linux/timer.h.
 *
 * The meaning is as for timer_list in linux/timer.h, with one difference: a timer
 * runs when jiffies reach its expiry, however far away the expiry was, whereas a
 * timer_list runs at least a tick later.
 */
#ifndef _LINUX_CALLOUT_TIMER_TYPES_H
#define _LINUX_CALLOUT_TIMER_TYPES_H

#include <linux/callout_node.h>
#include <linux/lockdep_types.h>
#include <linux/types.h>

struct lock_class_key;

/**
 * struct callout_timer - a function to be called when jiffies reach a value
 * @node: private: the part that bases and schemes queue
 * @entry: private: the same memory as linux/timer.h's initialisers expect it
 * @expires: that value; the user may write it while the timer is not pending
 * @function: the function; NULL if the timer was shut down
 * @flags: TIMER_DEFERRABLE, TIMER_PINNED and TIMER_IRQSAFE; never a CPU's number
 * @lockdep_map: private: for lockdep a handler holds this lock, and a waiter for
 *	the handler takes it
 *
 * The members that users of struct timer_list know have the same names and types,
 * and a static initialiser of linux/timer.h prepares both structures:
 * DEFINE_TIMER() needs no call. Cleared memory is a timer that was shut down.
 *
 * __aligned(1) changes nothing. linux/callout_timer.h has it in each use of the
 * name, and clang then requires it here.
 */
struct callout_timer {
	union {
		struct callout_node node;
		struct hlist_node entry;
	};
	unsigned long expires;
	void (*function)(struct callout_timer *timer);
	u32 flags;
#ifdef CONFIG_LOCKDEP
	struct lockdep_map lockdep_map;
#endif
} __aligned(1);

void callout_timer_init_key(struct callout_timer *timer,
			    void (*func)(struct callout_timer *timer),
			    unsigned int flags, const char *name,
			    struct lock_class_key *key);
void callout_timer_init_key_on_stack(struct callout_timer *timer,
				     void (*func)(struct callout_timer *timer),
				     unsigned int flags, const char *name,
				     struct lock_class_key *key);
void callout_timer_destroy_on_stack(struct callout_timer *timer);

void callout_timer_add(struct callout_timer *timer);
void callout_timer_add_local(struct callout_timer *timer);
void callout_timer_add_global(struct callout_timer *timer);
void callout_timer_add_on(struct callout_timer *timer, int cpu);
int callout_timer_mod(struct callout_timer *timer, unsigned long expires);
int callout_timer_mod_pending(struct callout_timer *timer,
			      unsigned long expires);
int callout_timer_reduce(struct callout_timer *timer, unsigned long expires);

int callout_timer_delete(struct callout_timer *timer);
int callout_timer_delete_sync(struct callout_timer *timer);
int callout_timer_delete_sync_try(struct callout_timer *timer);
int callout_timer_shutdown(struct callout_timer *timer);
int callout_timer_shutdown_sync(struct callout_timer *timer);

/**
 * callout_timer_pending() - Is the timer set, and its handler not yet started?
 * @timer: the timer
 *
 * Context: Any. The result is a snapshot, unless the caller excludes other users of
 * @timer.
 * Return: 1 or 0. 0 in the handler, until the handler sets the timer again.
 */
static inline int callout_timer_pending(const struct callout_timer *timer)
{
	return READ_ONCE(timer->node.state) & CALLOUT_S_PENDING;
}

#endif /* _LINUX_CALLOUT_TIMER_TYPES_H */
