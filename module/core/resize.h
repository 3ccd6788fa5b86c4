/* SPDX-License-Identifier: GPL-2.0 */
/*
 * resize.h - wheels that follow the number of callouts
 */
#ifndef _CALLOUT_RESIZE_H
#define _CALLOUT_RESIZE_H

#include <linux/workqueue.h>
#include "base/base.h"
#include "wheel/hashed_wheel.h"

/* The size that a wheel begins with, and the least that it shrinks to. */
#define CALLOUT_WHEEL_FIRST	(1U << 7)

/* As CALLOUT_WHEEL_FIRST, for classes that few machines use. */
#define CALLOUT_WHEEL_LEAST	(1U << 4)

/* A wheel with more callouts than this per bucket is too small. */
#define CALLOUT_WHEEL_MANY	2U

/* A wheel with fewer callouts than its buckets divided by this is too large. */
#define CALLOUT_WHEEL_FEW	8U

/* Seconds between two looks at wheels that may be too large. */
#define CALLOUT_LOOK_SECONDS	5U

void co_resize_begin(struct callout_base *base);
void co_resize_ask(struct callout_base *base)
	__must_hold(&base->lock);
bool co_base_resize(struct callout_base *base);
void co_resize_end(void);

/* For tests. */
int co_resize_alloc(struct callout_ring *ring, unsigned int buckets, int node);
extern struct delayed_work callout_resize_work;

#endif /* _CALLOUT_RESIZE_H */
