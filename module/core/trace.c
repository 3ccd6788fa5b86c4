// SPDX-License-Identifier: GPL-2.0
/*
 * trace.c - the tracepoints, and how settings are traced
 */
#define CREATE_TRACE_POINTS
#include <trace/events/callout.h>
#undef CREATE_TRACE_POINTS

#include <linux/callout.h>
#include "queue.h"

/* For probes in KUnit and in other modules. */
EXPORT_TRACEPOINT_SYMBOL_GPL(callout_init);
EXPORT_TRACEPOINT_SYMBOL_GPL(callout_start);
EXPORT_TRACEPOINT_SYMBOL_GPL(callout_cancel);
EXPORT_TRACEPOINT_SYMBOL_GPL(callout_expire_entry);
EXPORT_TRACEPOINT_SYMBOL_GPL(callout_expire_exit);

/* co_trace_set() when settings are traced. */
void co_trace_start(struct callout_base *base,
		    struct callout_node *n, bool moved)
	__must_hold(&base->lock)
{
	trace_callout_start(n, co_now(base), moved);
}

/*
 * Called while settings are traced, when @c is about to get @func, unless @func is
 * NULL. A change of handler is traced as a cancel and a setting: otherwise each
 * handler's callouts could not be counted. Return whether the setting moves @c.
 */
bool co_trace_replace(struct callout *c, callout_func_t *func, bool pending)
{
	if (!pending || !func || func == c->func)
		return pending;
	trace_callout_cancel(&c->node);
	return false;
}
