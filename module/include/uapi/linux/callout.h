/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * callout.h - the user interface of the callout facility: /dev/callout
 *
 * An open file of /dev/callout, which is opened with O_RDWR, owns the callouts that
 * are set through it. read() returns an array of struct callout_event, one for each
 * callout that has fired. close() cancels the other callouts; the file stays open
 * while a command of io_uring is pending in it.
 *
 * A callout has one of two names: the handle that the facility gave it, or a key
 * that the program chose, any 64-bit number.
 *
 * All times are in nanoseconds, and in the caller's time namespace. A callout fires
 * at the first tick from its time on, see callout_info.tick_ns, or at a later tick
 * within its slack. It is never early, with one exception: a callout of
 * CLOCK_REALTIME that is due in the milliseconds by which the kernel is late to
 * insert a leap second.
 *
 * Structures grow at the end, by multiples of 8, except struct callout_event, since
 * read() has no size for it. The size of a structure is part of the request's number or
 * a member: from CALLOUT_*_SIZE_V1 to CALLOUT_SIZE_MAX. If a program's structure is
 * longer than the kernel's, the rest must be 0 (E2BIG). In a structure that is only
 * written the kernel fills the rest with 0.
 */
#ifndef _UAPI_LINUX_CALLOUT_H
#define _UAPI_LINUX_CALLOUT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CALLOUT_SIZE_MAX	4096U

/**
 * enum callout_opcode - the operation of a struct callout_op
 * @CALLOUT_OP_SET: set a callout, or set an outstanding callout again
 * @CALLOUT_OP_MOVE: set again, to another @time, the callout that @handle or @key
 *	names. Its other members do not change. With a relative @time the callout
 *	does not follow settings of CLOCK_REALTIME, and no setting ends it.
 * @CALLOUT_OP_CANCEL: cancel the callout that @handle or @key names
 * @CALLOUT_OP_TIMEOUT: set a callout that is found by @func and @cookie
 * @CALLOUT_OP_UNTIMEOUT: cancel a callout with @func and @cookie: of several
 *	callouts the first to be due, or if @handle is not 0 the callout with this
 *	handle
 *
 * The last two are the old interface of BSD, which has no handles.
 */
enum callout_opcode {
	CALLOUT_OP_SET		= 1,
	CALLOUT_OP_MOVE		= 2,
	CALLOUT_OP_CANCEL	= 3,
	CALLOUT_OP_TIMEOUT	= 4,
	CALLOUT_OP_UNTIMEOUT	= 5,
};

/*
 * callout_op.flags. SET without CALLOUT_OPF_KEY creates a new callout, unless it
 * has ONLY_OLD. SET with CALLOUT_OPF_KEY sets the callout with this key again, or
 * creates it if it is not outstanding.
 */
#define CALLOUT_OPF_ABSTIME	(1U << 0)	/* SET, MOVE, TIMEOUT: time is absolute */
#define CALLOUT_OPF_KEY		(1U << 1)	/* SET, MOVE, CANCEL: key is the name */
#define CALLOUT_OPF_ONLY_NEW	(1U << 2)	/* SET of a key: EEXIST if outstanding */
#define CALLOUT_OPF_ONLY_OLD	(1U << 3)	/* SET: ENOENT if not outstanding */
/*
 * SET with ABSTIME, CLOCK_REALTIME or its alarm clock, and no period: setting the
 * clock ends the callout, with an event CALLOUT_EVENT_CLOCK_SET.
 */
#define CALLOUT_OPF_CANCEL_ON_SET (1U << 4)
#define CALLOUT_OPF_EXACT	(1U << 5)	/* SET, TIMEOUT: no slack; @slack is 0 */

/**
 * struct callout_op - one operation
 * @op: enum callout_opcode
 * @flags: CALLOUT_OPF_*
 * @clockid: SET, TIMEOUT: CLOCK_MONOTONIC, CLOCK_BOOTTIME or CLOCK_REALTIME; or,
 *	with CAP_WAKE_ALARM, CLOCK_BOOTTIME_ALARM or CLOCK_REALTIME_ALARM, which show
 *	the same times and wake the system from suspend. See callout_info.clocks.
 * @result: out, in a batch: the value that the request CALLOUT_IOC_OP would return,
 *	errors as negative numbers
 * @time: SET, MOVE, TIMEOUT: when the callout is due. If the time is absolute and
 *	the clock is CLOCK_REALTIME, the callout follows settings of the clock.
 * @period: SET: 0, or the interval at which the callout fires again until it is
 *	cancelled. While an event of the callout is unread, no further event is
 *	added: callout_event.overrun counts the periods missed.
 * @slack: SET, TIMEOUT: the callout may fire later than @time by this interval, to
 *	share a tick with other callouts; 0, without EXACT: by the default slack, 100 us
 * @handle: out for SET that creates a callout without a key, and for TIMEOUT; in for
 *	MOVE, CANCEL and SET with ONLY_OLD, without a key, and UNTIMEOUT, where 0 means none
 * @key: in place of @handle, in, with CALLOUT_OPF_KEY
 * @cookie: SET, TIMEOUT: returned in the event; UNTIMEOUT: as TIMEOUT had it
 * @func: TIMEOUT, UNTIMEOUT: any number except 2^64 - 1
 * @left: in place of @func, out for MOVE, and for SET with ONLY_OLD or of a key without
 *	ONLY_NEW: the time left of the earlier setting; 0 if there was none or it was due
 *
 * @time, @period and @slack are at most 2^63 - 1; as a time this value means never.
 * A member that an operation neither uses nor writes must be 0, except @result. An
 * operation that fails changes nothing, and writes no member except @result.
 */
struct callout_op {
	__u32 op;
	__u32 flags;
	__s32 clockid;
	__s32 result;
	__aligned_u64 time;
	__aligned_u64 period;
	__aligned_u64 slack;
	union {
		__aligned_u64 handle;
		__aligned_u64 key;
	};
	__aligned_u64 cookie;
	union {
		__aligned_u64 func;
		__aligned_u64 left;
	};
};

#define CALLOUT_OP_SIZE_V1	64

/**
 * enum callout_state - the state of an outstanding callout
 * @CALLOUT_STATE_PENDING: the callout will fire
 * @CALLOUT_STATE_UNREAD: the callout has fired, and its event is unread
 * @CALLOUT_STATE_READING: the callout is periodic, and a thread is reading an event
 *	of it
 *
 * CANCEL, UNTIMEOUT, MOVE and a SET that sets a callout again return the state in
 * which they found the callout. After PENDING or UNREAD no reader takes an event of the
 * earlier setting any more. After READING the read() in progress returns the event,
 * unless it cannot write the event; a callout that is set again during that read() is
 * PENDING. An operation that creates a callout returns 0.
 */
enum callout_state {
	CALLOUT_STATE_PENDING	= 1,
	CALLOUT_STATE_UNREAD	= 2,
	CALLOUT_STATE_READING	= 3,
};

/**
 * enum callout_event_type - the type of a struct callout_event
 * @CALLOUT_EVENT_FIRED: a callout has fired
 * @CALLOUT_EVENT_CLOCK_SET: a callout with CALLOUT_OPF_CANCEL_ON_SET has ended
 *	because its clock was set
 */
enum callout_event_type {
	CALLOUT_EVENT_FIRED	= 1,
	CALLOUT_EVENT_CLOCK_SET	= 2,
};

/* callout_event.flags */
#define CALLOUT_EVENTF_PERIODIC	(1U << 0)	/* the callout has a period and keeps its name */
#define CALLOUT_EVENTF_KEY	(1U << 1)	/* the name is key, not handle */

/**
 * struct callout_event - a callout has fired, or has ended
 * @type: enum callout_event_type
 * @flags: CALLOUT_EVENTF_*
 * @handle: the callout's handle, stale unless the callout is periodic
 * @key: in place of @handle, with CALLOUT_EVENTF_KEY: the callout's key
 * @cookie: as it was set
 * @func: as TIMEOUT has set it, otherwise 0
 * @due: when the callout was due, in its clock; if it is periodic, the first time
 *	that this event stands for
 * @fired: when the callout fired or ended, in CLOCK_MONOTONIC
 * @overrun: if the callout is periodic, how many more times it was due until the
 *	event was read
 * @clockid: the callout's clock
 * @reserved: 0
 *
 * Later kernels give other types and flags only to programs that ask for them. read()
 * returns as many events as are unread and fit, in the order in which the callouts
 * fired. Callouts that were created on one CPU, and not set again or read on another
 * CPU, fire in the order of their ticks, callouts of one tick in any order. A
 * periodic callout is re-armed when its event is read.
 */
struct callout_event {
	__u32 type;
	__u32 flags;
	union {
		__aligned_u64 handle;
		__aligned_u64 key;
	};
	__aligned_u64 cookie;
	__aligned_u64 func;
	__aligned_u64 due;
	__aligned_u64 fired;
	__aligned_u64 overrun;
	__s32 clockid;
	__u32 reserved;
};

/* callout_batch.flags */
#define CALLOUT_BATCHF_STOP	(1U << 0)	/* stop at an operation that fails */
#define CALLOUT_BATCHF_WAIT	(1U << 1)	/* wait for events */
#define CALLOUT_BATCHF_ABSTIME	(1U << 2)	/* time is absolute */

/**
 * struct callout_batch - many operations, and a read, in one call
 * @ops: address of an array of struct callout_op
 * @events: address of an array of struct callout_event
 * @nr_ops: number of @ops, at most CALLOUT_BATCH_MAX
 * @nr_events: room in @events, at most CALLOUT_BATCH_MAX
 * @op_size: sizeof(struct callout_op)
 * @flags: CALLOUT_BATCHF_*
 * @done: out: number of operations tried, including the operation at which the
 *	batch stopped
 * @failed: out: number of operations that failed
 * @got: out: number of events written
 * @min_events: how many events to wait for, at most @nr_events; 0 means 1
 * @time: the longest wait or, with ABSTIME, the time at which it ends; 2^63 - 1 and
 *	more: no limit
 * @sigmask: 0, or the address of the signal mask during the wait
 * @sigmask_size: the size of the kernel's signal sets, 8 nearly everywhere, or 0 if
 *	@sigmask is 0
 * @clockid: the clock of @time: CLOCK_MONOTONIC, CLOCK_BOOTTIME or CLOCK_REALTIME
 *
 * First the operations are done, in order, and the results of each operation are
 * written to its place in @ops. Then, unless the batch has stopped at an operation
 * that failed, events are read if @nr_events is not 0. With CALLOUT_BATCHF_WAIT,
 * which needs room for one event, the call waits until there are @min_events
 * events. If fewer events came in time, or before a signal, the call returns these.
 * Without CALLOUT_BATCHF_WAIT the members from @min_events on must be 0, and
 * ABSTIME must not be set. The counts are written whatever the call returns, unless
 * the structure's address, its size or the rest of a longer structure is at fault.
 */
struct callout_batch {
	__aligned_u64 ops;
	__aligned_u64 events;
	__u32 nr_ops;
	__u32 nr_events;
	__u32 op_size;
	__u32 flags;
	__u32 done;
	__u32 failed;
	__u32 got;
	__u32 min_events;
	__aligned_u64 time;
	__aligned_u64 sigmask;
	__u32 sigmask_size;
	__s32 clockid;
};

#define CALLOUT_BATCH_SIZE_V1	72
#define CALLOUT_BATCH_MAX	65536U

/**
 * struct callout_match - the callouts to cancel
 * @cookie: the callouts' cookie in the bits of @mask, and 0 in other bits; a command of
 *	io_uring has the cookie 0
 * @mask: 0 for all callouts
 * @flags: must be 0
 * @reserved: must be 0
 *
 * Callouts that have fired and are unread are cancelled too.
 */
struct callout_match {
	__aligned_u64 cookie;
	__aligned_u64 mask;
	__u32 flags;
	__u32 reserved;
};

#define CALLOUT_MATCH_SIZE_V1	24

/* callout_entry.flags: the callout was set by a command of io_uring, and has no event. */
#define CALLOUT_ENTRYF_COMMAND	(1U << 0)

/**
 * struct callout_entry - an outstanding callout
 * @handle: the callout's handle
 * @key: in place of @handle, if @op_flags has CALLOUT_OPF_KEY: the callout's key
 * @op: the operation that sets an equal callout: CALLOUT_OP_SET or CALLOUT_OP_TIMEOUT
 * @op_flags: CALLOUT_OPF_* of the operation: KEY, CANCEL_ON_SET, EXACT; and ABSTIME
 *	unless the clock is CLOCK_REALTIME and the callout does not follow settings of it
 * @flags: CALLOUT_ENTRYF_*
 * @state: enum callout_state
 * @clockid: the callout's clock
 * @reserved: 0
 * @due: when the callout is due, or was due, in its clock
 * @left: the time left until then; 0 if it has passed
 * @period: as it was set
 * @slack: as it was set, or the default
 * @cookie: as it was set
 * @func: as it was set
 *
 * To set an equal callout, in this or another file, use an operation with @op,
 * @op_flags as its flags, @clockid, @period, @slack, @cookie, @func and the key if
 * there is one. Its time is @due if @op_flags has ABSTIME, otherwise @left. This does
 * not hold for an entry with CALLOUT_ENTRYF_COMMAND.
 */
struct callout_entry {
	union {
		__aligned_u64 handle;
		__aligned_u64 key;
	};
	__u32 op;
	__u32 op_flags;
	__u32 flags;
	__u32 state;
	__s32 clockid;
	__u32 reserved;
	__aligned_u64 due;
	__aligned_u64 left;
	__aligned_u64 period;
	__aligned_u64 slack;
	__aligned_u64 cookie;
	__aligned_u64 func;
};

#define CALLOUT_ENTRY_SIZE_V1	80

/* callout_list.flags */
#define CALLOUT_LISTF_HANDLE	(1U << 0)	/* the callout with this handle */
#define CALLOUT_LISTF_KEY	(1U << 1)	/* the callout with this key */

/**
 * struct callout_list - a page of the outstanding callouts, or one callout
 * @entries: address of an array of struct callout_entry
 * @cursor: 0 for the first page; out: the cursor for the next call, 0 if this page is
 *	the last page. A handle or key is not overwritten.
 * @handle: in place of @cursor, in, with CALLOUT_LISTF_HANDLE
 * @key: in place of @cursor, in, with CALLOUT_LISTF_KEY
 * @nr_entries: room in @entries, 1 to CALLOUT_BATCH_MAX
 * @entry_size: sizeof(struct callout_entry)
 * @got: out: number of entries written
 * @flags: CALLOUT_LISTF_*, at most one
 *
 * Each entry was right at some moment of the call. A callout that is outstanding from
 * the first call to the last call is listed once. A callout that is set, cancelled or
 * read between these calls is listed once or not at all.
 */
struct callout_list {
	__aligned_u64 entries;
	union {
		__aligned_u64 cursor;
		__aligned_u64 handle;
		__aligned_u64 key;
	};
	__u32 nr_entries;
	__u32 entry_size;
	__u32 got;
	__u32 flags;
};

#define CALLOUT_LIST_SIZE_V1	32

/**
 * struct callout_limit - a lower limit for a file
 * @max_outstanding: callout_info.max_outstanding from now on: 1 to the present value
 * @flags: must be 0
 * @reserved: must be 0
 */
struct callout_limit {
	__aligned_u64 max_outstanding;
	__u32 flags;
	__u32 reserved;
};

#define CALLOUT_LIMIT_SIZE_V1	16

/**
 * struct callout_info - features, limits and counts of a file
 * @features: CALLOUT_FEATURE_*
 * @tick_ns: length of a tick
 * @max_outstanding: limit on @outstanding
 * @outstanding: callouts of this file that are pending, unread or, if periodic,
 *	being read
 * @unread: callouts of @outstanding that have fired
 * @max_user: limit on @user_charged
 * @user_charged: callouts charged to this user: about the sum over the user's files
 *	of the most that each file ever had outstanding; the way of counting may
 *	change
 * @clocks: bit n is set if clockid n can be used
 * @reserved: 0
 *
 * The counters of a file are in /proc/PID/fdinfo.
 */
struct callout_info {
	__aligned_u64 features;
	__aligned_u64 tick_ns;
	__aligned_u64 max_outstanding;
	__aligned_u64 outstanding;
	__aligned_u64 unread;
	__aligned_u64 max_user;
	__aligned_u64 user_charged;
	__u32 clocks;
	__u32 reserved;
};

#define CALLOUT_INFO_SIZE_V1	64

/* callout_info.features: features that not every kernel has */
#define CALLOUT_FEATURE_URING	(1ULL << 0)	/* commands of io_uring */

#define CALLOUT_IOC_MAGIC	0xF5

/*
 * OP returns the value of its operation, see above. BATCH returns 0, also if operations
 * failed. CANCEL_MATCHING returns the number of cancelled callouts, the others return
 * 0. FIONREAD of ioctl(2) writes the number of bytes that read() would return to an
 * int. A request that returns an error has changed nothing, except BATCH, and OP if its
 * results cannot be written. The errors:
 *
 * ENOTTY	not a request of this device
 * EINVAL	unknown operation, flag, clock or size; flags that exclude each other;
 *		a member that must be 0 is not; a number beyond its limit; LIMIT: more
 *		than the present limit
 * EOPNOTSUPP	an alarm clock, and the kernel has no RTC that wakes the system, or
 *		the alarm clock is the clock of a wait; a command of io_uring that
 *		this kernel, ring or scheme does not support
 * EPERM	an alarm clock, or MOVE of a callout in one, without CAP_WAKE_ALARM
 * E2BIG	the structure, except struct callout_info, is longer than the kernel's,
 *		and the rest is not 0
 * EFAULT	bad pointer. BATCH: no event can be written; an operation cannot be read,
 *		and is not counted; or the results of an operation cannot be written: up
 *		to 15 further operations are done, and a callout that the operation
 *		created without a key is gone
 * ENOENT	CANCEL, UNTIMEOUT, MOVE, SET with ONLY_OLD, LIST of a name: no such callout
 *		is outstanding, or its last event is being read (if the read fails, the
 *		callout is outstanding again, without its key)
 * EEXIST	SET with ONLY_NEW: the key is outstanding
 * EBUSY	SET of a callout of TIMEOUT; SET with a period, a cookie or
 *		CANCEL_ON_SET of a command of io_uring. MOVE can move these callouts.
 * ENOSPC	SET, TIMEOUT: max_outstanding callouts are outstanding
 * EDQUOT	SET, TIMEOUT: max_user callouts are charged to the user, or to the owner
 *		of the user namespace or the namespace itself
 * ENOMEM	SET, TIMEOUT: no memory
 * EINTR	BATCH: a signal interrupted the wait, or the process was stopped or
 *		frozen; never restarted: operations have been done
 *
 * OP and BATCH are also commands of io_uring, see callout_uring(3). A SET that creates
 * a callout completes when the callout fires or is cancelled; the callout has no event.
 */
#define CALLOUT_IOC_OP		_IOWR(CALLOUT_IOC_MAGIC, 1, struct callout_op)
#define CALLOUT_IOC_BATCH	_IOWR(CALLOUT_IOC_MAGIC, 2, struct callout_batch)
#define CALLOUT_IOC_CANCEL_MATCHING \
				_IOW(CALLOUT_IOC_MAGIC, 3, struct callout_match)
#define CALLOUT_IOC_LIST	_IOWR(CALLOUT_IOC_MAGIC, 4, struct callout_list)
#define CALLOUT_IOC_LIMIT	_IOW(CALLOUT_IOC_MAGIC, 5, struct callout_limit)
#define CALLOUT_IOC_INFO	_IOR(CALLOUT_IOC_MAGIC, 6, struct callout_info)

#endif /* _UAPI_LINUX_CALLOUT_H */
