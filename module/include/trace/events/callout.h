/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout.h - tracepoints, modelled on the kernel's timer events
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM callout

#if !defined(_TRACE_CALLOUT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_CALLOUT_H

#include <linux/callout_node.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

struct callout_owner callout_node_owner(const struct callout_node *n);

DECLARE_EVENT_CLASS(callout_class,
	TP_PROTO(const void *callout),
	TP_ARGS(callout),
	TP_STRUCT__entry(
		__field(const void *, callout)
	),
	TP_fast_assign(
		__entry->callout = callout;
	),
	TP_printk("callout=%p", __entry->callout)
);

/**
 * callout_init - a callout was initialised
 * @callout: the callout's address
 */
DEFINE_EVENT(callout_class, callout_init,
	TP_PROTO(const void *callout),
	TP_ARGS(callout)
);

/**
 * callout_expire_exit - the handler has returned, or a file has the event
 * @callout: the address that the callout had
 */
DEFINE_EVENT(callout_class, callout_expire_exit,
	TP_PROTO(const void *callout),
	TP_ARGS(callout)
);

/**
 * callout_cancel - a pending callout was cancelled
 * @callout: the callout
 */
TRACE_EVENT(callout_cancel,
	TP_PROTO(const struct callout_node *callout),
	TP_ARGS(callout),
	TP_STRUCT__entry(
		__field(const void *, callout)
		__field(const void *, function)
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
	),
	TP_fast_assign(
		struct callout_owner owner = callout_node_owner(callout);

		__entry->callout  = callout;
		__entry->function = owner.func;
		__entry->pid	  = owner.pid;
		strscpy_pad(__entry->comm, owner.comm ?: "", TASK_COMM_LEN);
	),
	TP_printk("callout=%p function=%ps pid=%d comm=%s", __entry->callout,
		  __entry->function, __entry->pid, __entry->comm)
);

/**
 * callout_start - a callout was set, or moved to another time
 * @callout: the callout
 * @now: the current tick
 * @moved: the callout was pending, with the same handler
 */
TRACE_EVENT(callout_start,
	TP_PROTO(const struct callout_node *callout, u64 now, bool moved),
	TP_ARGS(callout, now, moved),
	TP_STRUCT__entry(
		__field(const void *, callout)
		__field(const void *, function)
		__field(u64, expires)
		__field(u64, now)
		__field(unsigned int, cpu)
		__field(unsigned int, class)
		__field(u8, kind)
		__field(bool, moved)
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
	),
	TP_fast_assign(
		struct callout_owner owner = callout_node_owner(callout);

		__entry->callout  = callout;
		__entry->function = owner.func;
		__entry->expires  = callout->expires;
		__entry->now	  = now;
		__entry->cpu	  = callout->cpu % nr_cpu_ids;
		__entry->class	  = callout->cpu / nr_cpu_ids;
		__entry->kind	  = callout->kind;
		__entry->moved	  = moved;
		__entry->pid	  = owner.pid;
		strscpy_pad(__entry->comm, owner.comm ?: "", TASK_COMM_LEN);
	),
	TP_printk("callout=%p function=%ps expires=%llu timeout=%lld cpu=%u class=%u kind=%u moved=%u pid=%d comm=%s",
		  __entry->callout, __entry->function, __entry->expires,
		  (s64)(__entry->expires - __entry->now), __entry->cpu,
		  __entry->class, __entry->kind, __entry->moved, __entry->pid,
		  __entry->comm)
);

/**
 * callout_expire_entry - a callout has expired, its handler is about to run
 * @callout: the callout
 * @now: the current tick
 * @tick_ns: the length of a tick
 */
TRACE_EVENT(callout_expire_entry,
	TP_PROTO(const struct callout_node *callout, u64 now, u64 tick_ns),
	TP_ARGS(callout, now, tick_ns),
	TP_STRUCT__entry(
		__field(const void *, callout)
		__field(const void *, function)
		__field(u64, expires)
		__field(u64, now)
		__field(u64, late_ns)
		__field(u8, kind)
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
	),
	TP_fast_assign(
		struct callout_owner owner = callout_node_owner(callout);

		__entry->callout  = callout;
		__entry->function = owner.func;
		__entry->expires  = callout->expires;
		__entry->now	  = now;
		__entry->late_ns  = (now - callout->expires) * tick_ns;
		__entry->kind	  = callout->kind;
		__entry->pid	  = owner.pid;
		strscpy_pad(__entry->comm, owner.comm ?: "", TASK_COMM_LEN);
	),
	TP_printk("callout=%p function=%ps expires=%llu now=%llu late=%lld late_ns=%llu kind=%u pid=%d comm=%s",
		  __entry->callout, __entry->function, __entry->expires,
		  __entry->now, (s64)(__entry->now - __entry->expires),
		  __entry->late_ns, __entry->kind, __entry->pid, __entry->comm)
);

/**
 * callout_tick_start - a base's tick source was programmed
 * @base: the base's class times nr_cpu_ids, plus its CPU
 * @tick: the tick for which it was programmed
 */
TRACE_EVENT(callout_tick_start,
	TP_PROTO(unsigned int base, u64 tick),
	TP_ARGS(base, tick),
	TP_STRUCT__entry(
		__field(unsigned int, cpu)
		__field(unsigned int, class)
		__field(u64, tick)
	),
	TP_fast_assign(
		__entry->cpu   = base % nr_cpu_ids;
		__entry->class = base / nr_cpu_ids;
		__entry->tick  = tick;
	),
	TP_printk("cpu=%u class=%u tick=%llu", __entry->cpu, __entry->class,
		  __entry->tick)
);

/**
 * callout_tick_stop - nothing is pending on a base: its tick source is left off
 * @base: the base's class times nr_cpu_ids, plus its CPU
 */
TRACE_EVENT(callout_tick_stop,
	TP_PROTO(unsigned int base),
	TP_ARGS(base),
	TP_STRUCT__entry(
		__field(unsigned int, cpu)
		__field(unsigned int, class)
	),
	TP_fast_assign(
		__entry->cpu   = base % nr_cpu_ids;
		__entry->class = base / nr_cpu_ids;
	),
	TP_printk("cpu=%u class=%u", __entry->cpu, __entry->class)
);

#endif /* _TRACE_CALLOUT_H */

#include <trace/define_trace.h>
