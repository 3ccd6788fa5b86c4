/* SPDX-License-Identifier: GPL-2.0 */
/*
 * softirq.h - a second thread that acts as the softirq of the virtual base
 */
#ifndef _CALLOUT_KUNIT_SOFTIRQ_H
#define _CALLOUT_KUNIT_SOFTIRQ_H

#include <linux/spinlock.h>
#include "virtual.h"

/**
 * struct callout_race - a handler on one CPU, the case on another
 * @item: the callout
 * @v: the callout's base
 * @softirq: the thread that runs co_expire()
 * @other_cpu: the CPU of @softirq
 * @begin: @softirq may begin
 * @drain: the thread that calls callout_drain() may begin
 * @shut: the draining thread calls callout_shutdown() instead
 * @go: the handler may return
 * @returns: the handler is about to return
 * @set_again: the handler sets its own callout before it returns
 * @ret: the return value of a call of another thread
 * @too_soon: the other thread's call returned before the handler did
 * @lock: the associated lock, if it is a spinlock
 * @raw: the associated lock, if it is a raw spinlock
 * @rwlock: the associated lock, if it is a rwlock
 * @held: the handler has seen the lock held
 */
struct callout_race {
	struct callout_item item;
	struct callout_virtual *v;
	struct callout_test_thread *softirq;
	unsigned int other_cpu;
	bool begin;
	bool drain;
	bool shut;
	bool go;
	bool returns;
	bool set_again;
	int ret;
	bool too_soon;
	spinlock_t lock;	/* held while the handler runs */
	raw_spinlock_t raw;
	rwlock_t rwlock;
	bool held;
};

struct callout_race *callout_race_create(struct kunit *test);
struct callout_race *callout_race_running(struct kunit *test);
void callout_race_begin(struct kunit *test, struct callout_race *r);
void callout_race_end(struct kunit *test, struct callout_race *r);
void callout_race_then_wait(struct callout_item *item);
void callout_race_drainer(void *arg);
struct callout_test_thread *callout_race_drain(struct kunit *test,
					       struct callout_race *r);
struct callout_test_thread *callout_race_shutdown(struct kunit *test,
						  struct callout_race *r);
void callout_race_set_lock(struct callout_race *r, u8 lock_flags);
void callout_race_wait_for_lock(struct kunit *test, struct callout_race *r,
				u8 lock_flags)
	__acquires(&r->lock);
void callout_race_take_lock(struct callout_race *r)
	__acquires(&r->lock);
void callout_race_drop_lock(struct callout_race *r)
	__releases(&r->lock);

#endif /* _CALLOUT_KUNIT_SOFTIRQ_H */
