/* SPDX-License-Identifier: GPL-2.0 */
/*
 * work.h - parts of struct callout_work for its drains and for callout_bsd.ko
 */
#ifndef _CALLOUT_WORK_H
#define _CALLOUT_WORK_H

#include <linux/callout_work.h>
#include "core/debug.h"

struct callout_span;

/**
 * struct callout_work_was - the state of a callout before it was cancelled
 * @set: it was set, and its handler had not started
 * @running: its handler runs. If handlers run in a thread: the thread uses the
 *	callout; known only if it was not set
 * @past: callout_work.past
 */
struct callout_work_was {
	bool set;
	bool running;
	u8 past;
};

/* As co_misused(), for a callout_work. */
static inline bool co_work_misused(const struct callout_work *w)
{
	static_assert(offsetof(struct callout_work, c) == 0);
	return co_misused((const struct callout *)w);
}

bool co_work_is_busy(struct callout_work *w);
struct callout_work_was co_work_stop_locked(struct callout_work *w);
int co_work_result(struct callout_work_was was);

struct callout_span co_span_of(sbintime_t sbt, sbintime_t pr, int flags);

/* For callout_bsd.ko. */
u64 callout_tick_ns(void);
void callout_work_set_func(struct callout_work *w, callout_func_t *func,
			   void *arg);
struct callout_work_was callout_work_cancel(struct callout_work *w);
void callout_work_refuse(struct callout_work *w);
bool callout_work_is_own(struct callout_work *w);
bool callout_work_active(struct callout_work *w);

#endif /* _CALLOUT_WORK_H */
