// SPDX-License-Identifier: GPL-2.0
/*
 * trace.c - the tracepoints, and which settings are traced
 *
 * A setting is traced where it is filed; that the facility files a callout again by
 * itself is not. So base->why says in between whose doing it is, and nothing is
 * written while nobody traces settings. It has trace_epoch, too, which changes each
 * time that somebody begins to:
 *
 *	CPU0: callout_reset(c)			CPU1
 *	lock(base), traced: why = SET
 *						the last one ends tracing
 *	files c: not traced, why stays
 *	unlock(base)
 *						one begins: trace_epoch changes
 *	lock(base)
 *	moves c home: traced, why is of
 *	another epoch: no setting
 *	unlock(base)
 *
 * The end of tracing changes code on all CPUs: it waits for CPU0, which has
 * interrupts off, so CPU1 cannot begin before CPU0 unlocks the base.
 *
 * callout_arm() asks whether settings are traced before it locks the base, where
 * tracing may end and begin before it goes on. So it asks once, and takes why back
 * in the hold that it was written in:
 *
 *	CPU0: callout_reset(c)			CPU1
 *	traced
 *						the last one ends tracing
 *						one begins: trace_epoch changes
 *	lock(base), why = SET of this epoch
 *	files c, why = REFILE
 *	unlock(base)
 *						settings are traced
 *	lock(base)
 *	moves c home: traced, no setting
 *	unlock(base)
 */
#define CREATE_TRACE_POINTS
#include <trace/events/callout.h>
#undef CREATE_TRACE_POINTS

#include <linux/callout.h>
#include "arm.h"

#define TRACE_EPOCH_ONE		4U	/* above enum callout_why */

static u32 trace_epoch;

/* Tracing of settings begins. The caller has the kernel's lock of tracepoints. */
int callout_trace_begin(void)
{
	WRITE_ONCE(trace_epoch, trace_epoch + TRACE_EPOCH_ONE);
	return 0;
}

noinline void callout_trace_why(struct callout_base *base, enum callout_why why)
	__must_hold(&base->lock)
{
	base->why = READ_ONCE(trace_epoch) + why;
}

noinline void callout_trace_started(struct callout_base *base,
				    struct callout_node *n)
	__must_hold(&base->lock)
{
	u32 why = base->why - READ_ONCE(trace_epoch);

	if (why == CALLOUT_WHY_SET || why == CALLOUT_WHY_MOVE)
		trace_callout_start(n, callout_now(base),
				    why == CALLOUT_WHY_MOVE);
	callout_trace_why(base, CALLOUT_WHY_REFILE);
}

/*
 * Settings are traced, and @c is about to get @func, unless that is NULL. Another
 * handler than before is one more cancel and one more setting, or how many callouts
 * each handler has could not be told.
 */
noinline void callout_trace_arm(struct callout_base *base, struct callout *c,
				callout_func_t *func, bool pending)
	__must_hold(&base->lock)
{
	if (!func && !c->func)
		return;
	if (pending && func && func != c->func) {
		trace_callout_cancel(&c->node);
		pending = false;
	}
	callout_trace_why(base, pending ? CALLOUT_WHY_MOVE : CALLOUT_WHY_SET);
}
