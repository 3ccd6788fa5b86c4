/* SPDX-License-Identifier: GPL-2.0 */
/*
 * crowd.h - many callouts with one handler
 */
#ifndef _CALLOUT_KUNIT_CROWD_H
#define _CALLOUT_KUNIT_CROWD_H

#include <linux/atomic.h>
#include "virtual.h"

/* Under KASAN accesses are slow, and the debug kernel has less memory. */
#define CALLOUT_CROWD_MANY	(IS_ENABLED(CONFIG_KASAN) ? 100000U : 1000000U)

/**
 * struct callout_crowd - many callouts with one handler
 * @n: number of callouts
 * @ran: number of callouts that have run
 * @c: the callouts
 */
struct callout_crowd {
	unsigned int n;
	atomic_t ran;
	struct callout c[];
};

void callout_crowd_handler(void *arg);
void callout_crowd_drain(void *data);
struct callout_crowd *callout_crowd_create(struct kunit *test, unsigned int n);
struct callout_crowd *callout_crowd_create_virtual(struct kunit *test,
						   unsigned int n);
void callout_crowd_set(struct callout_crowd *crowd, unsigned int first,
		       unsigned int end, long distance);
void callout_crowd_stop(struct callout_crowd *crowd, unsigned int first,
			unsigned int end);

#endif /* _CALLOUT_KUNIT_CROWD_H */
