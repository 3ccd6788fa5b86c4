/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * callout_v1.h - the user interface of the callout facility: /dev/callout
 *
 * Not for use: a copy of callout.h of version 1, for device/frozen.c, which is as old
 * programs are. It does not change from the first release on.
 *
 * An open file of /dev/callout, which is opened with O_RDWR, owns the callouts
 * that are set through it. read() returns an array of struct callout_event, one
 * for each that has fired. close() cancels the others; the file stays open while
 * a command of io_uring is pending in it.
 *
 * A callout has one of two names: the handle that the facility gave it, or a key
 * that the program chose, any 64-bit number.
 *
 * All times are in nanoseconds, and in the caller's time namespace. A callout
 * fires at the first tick from its time on, see callout_info.tick_ns, or at a later
 * one within its slack. It is never early, but for one of CLOCK_REALTIME that is due in
 * the milliseconds in which the kernel has still to insert a leap second.
 *
 * Structures grow at the end, by multiples of 8, but for struct callout_event,
 * since read() has no size for it. Their size is part of the request's number or a
 * member. From a longer one than the kernel's it takes the members that it knows;
 * E2BIG if the rest is not 0. What is longer and only written is filled up with 0.
 * The smallest size is the one of version 1, CALLOUT_*_SIZE_V1, the largest
 * CALLOUT_SIZE_MAX.
 */
#ifndef _CALLOUT_SELFTESTS_CALLOUT_V1_H
#define _CALLOUT_SELFTESTS_CALLOUT_V1_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CALLOUT_SIZE_MAX	4096U

/**
 * enum callout_opcode - what a struct callout_op asks for
 * @CALLOUT_OP_SET: set a callout, or set one again that is outstanding
 * @CALLOUT_OP_MOVE: set the callout again that @handle or @key names, to another
 *	@time; all else stays. With a relative one it does not follow settings of
 *	CLOCK_REALTIME, nor end by one.
 * @CALLOUT_OP_CANCEL: cancel the callout that @handle or @key names
 * @CALLOUT_OP_TIMEOUT: set a callout that is found by @func and @cookie
 * @CALLOUT_OP_UNTIMEOUT: cancel a callout with @func and @cookie: of several the
 *	first to be due, or if @handle is not 0 the one with this handle
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
 * callout_op.flags. SET without CALLOUT_OPF_KEY makes a new callout, unless it has
 * ONLY_OLD; with CALLOUT_OPF_KEY it sets the callout again that has the key, or
 * makes one if none is outstanding.
 */
#define CALLOUT_OPF_ABSTIME	(1U << 0)	/* SET, MOVE, TIMEOUT: time is absolute */
#define CALLOUT_OPF_KEY		(1U << 1)	/* SET, MOVE, CANCEL: key is the name */
#define CALLOUT_OPF_ONLY_NEW	(1U << 2)	/* SET of a key: EEXIST if it is outstanding */
#define CALLOUT_OPF_ONLY_OLD	(1U << 3)	/* SET: ENOENT if it is not outstanding */
/*
 * SET with ABSTIME, CLOCK_REALTIME or its alarm clock, and no period: a setting of
 * the clock ends the callout, with an event CALLOUT_EVENT_CLOCK_SET.
 */
#define CALLOUT_OPF_CANCEL_ON_SET (1U << 4)
#define CALLOUT_OPF_EXACT	(1U << 5)	/* SET, TIMEOUT: no slack; @slack is 0 */

/**
 * struct callout_op - one operation
 * @op: enum callout_opcode
 * @flags: CALLOUT_OPF_*
 * @clockid: SET, TIMEOUT: CLOCK_MONOTONIC, CLOCK_BOOTTIME or CLOCK_REALTIME; or,
 *	with CAP_WAKE_ALARM, CLOCK_BOOTTIME_ALARM or CLOCK_REALTIME_ALARM, which are
 *	the same and wake the system from suspend. See callout_info.clocks.
 * @result: out, in a batch: what the request CALLOUT_IOC_OP would return, errors
 *	as negative numbers
 * @time: SET, MOVE, TIMEOUT: when it is due. If it is absolute and the clock is
 *	CLOCK_REALTIME, the callout follows settings of the clock.
 * @period: SET: 0, or the distance at which it fires again until it is cancelled.
 *	While an event is unread no other is added: callout_event.overrun counts the
 *	times missed.
 * @slack: SET, TIMEOUT: it may fire later than @time by this, to share a tick with
 *	others; 0, without EXACT: by the default, 100 us
 * @handle: out for SET that makes a callout without a key, and for TIMEOUT. In for
 *	MOVE and CANCEL, and SET with ONLY_OLD, without CALLOUT_OPF_KEY; and for
 *	UNTIMEOUT, where 0 is none.
 * @key: in its place, in, with CALLOUT_OPF_KEY
 * @cookie: SET: returned in the event; TIMEOUT, UNTIMEOUT: an argument
 * @func: TIMEOUT, UNTIMEOUT: any number but 2^64 - 1
 * @left: in its place, out for MOVE, and for SET that may find a callout, with
 *	ONLY_OLD or with CALLOUT_OPF_KEY and not ONLY_NEW: the time that was left of
 *	the earlier setting; 0 if there was none or it was due
 *
 * @time, @period and @slack are at most 2^63 - 1, which as a time is never. A member
 * that an operation neither uses nor writes must be 0, except @result. An operation
 * that fails changes nothing, and writes nothing but @result.
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
 * enum callout_state - the state of a callout that is outstanding
 * @CALLOUT_STATE_PENDING: it will fire
 * @CALLOUT_STATE_UNREAD: it has fired, and its event is unread
 * @CALLOUT_STATE_READING: it is periodic, and a thread is reading an event of it
 *
 * CANCEL, UNTIMEOUT, MOVE and SET that sets a callout again return the state in
 * which they found it. After PENDING or UNREAD no reader takes an event of the
 * earlier setting any more; after READING a read() returns one, unless it cannot
 * write it. One that was set again during that read() is PENDING. An operation that
 * makes a callout returns 0.
 */
enum callout_state {
	CALLOUT_STATE_PENDING	= 1,
	CALLOUT_STATE_UNREAD	= 2,
	CALLOUT_STATE_READING	= 3,
};

/**
 * enum callout_event_type - what a struct callout_event tells
 * @CALLOUT_EVENT_FIRED: a callout has fired
 * @CALLOUT_EVENT_CLOCK_SET: a callout with CALLOUT_OPF_CANCEL_ON_SET has ended
 *	since its clock was set
 */
enum callout_event_type {
	CALLOUT_EVENT_FIRED	= 1,
	CALLOUT_EVENT_CLOCK_SET	= 2,
};

/* callout_event.flags */
#define CALLOUT_EVENTF_PERIODIC	(1U << 0)	/* it has a period: the name stays */
#define CALLOUT_EVENTF_KEY	(1U << 1)	/* the name is key, not handle */

/**
 * struct callout_event - a callout has fired, or has ended
 * @type: enum callout_event_type
 * @flags: CALLOUT_EVENTF_*
 * @handle: its handle, stale unless it is periodic
 * @key: in its place, with CALLOUT_EVENTF_KEY: its key
 * @cookie: as it was set
 * @func: as TIMEOUT has set it, else 0
 * @due: when it was due, in its clock; if it is periodic, the first time that this
 *	event stands for
 * @fired: when it fired or ended, in CLOCK_MONOTONIC
 * @overrun: if it is periodic, how many more times it was due until this was read
 * @clockid: its clock
 * @reserved: 0
 *
 * Later kernels give other types and flags only to who has asked for them.
 *
 * read() returns as many as are unread and fit, in the order in which they fired.
 * Callouts that were made on one CPU, and not set again or read on another, fire in
 * the order of their ticks, of one tick in any. A periodic callout is re-armed when
 * its event is read.
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
 * @done: out: number of operations tried, including the one at which it stopped
 * @failed: out: number of these that failed
 * @got: out: number of events written
 * @min_events: how many events to wait for, at most @nr_events; 0 is 1
 * @time: the longest wait or, with ABSTIME, when it ends; 2^63 - 1 and more: no
 *	limit
 * @sigmask: 0, or the address of the signal mask during the wait
 * @sigmask_size: the size of the kernel's signal sets, 8 nearly everywhere, or 0 if
 *	@sigmask is 0
 * @clockid: the clock of @time: CLOCK_MONOTONIC, CLOCK_BOOTTIME or CLOCK_REALTIME
 *
 * First the operations are done, in order, and the results of each are written to
 * its place in @ops. Then, unless it has stopped at one that failed, events are
 * read if @nr_events is not 0. With CALLOUT_BATCHF_WAIT, which needs room for one,
 * the call waits until there are @min_events; if fewer came in time, or until a
 * signal did, it returns these. Without it the members from @min_events on must
 * be 0, and ABSTIME not be set. The counts are written whatever the call returns,
 * unless the structure is at fault: its address, its size, or what is beyond the
 * kernel's members.
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
 * struct callout_match - which callouts to cancel
 * @cookie: all whose cookie is this in the bits of @mask; other bits must be 0. A
 *	command of io_uring has the cookie 0.
 * @mask: 0 for all callouts
 * @flags: must be 0
 * @reserved: must be 0
 *
 * Those that have fired and are unread are cancelled too.
 */
struct callout_match {
	__aligned_u64 cookie;
	__aligned_u64 mask;
	__u32 flags;
	__u32 reserved;
};

#define CALLOUT_MATCH_SIZE_V1	24

/* callout_entry.flags: a command of io_uring, which has no event, has set it. */
#define CALLOUT_ENTRYF_COMMAND	(1U << 0)

/**
 * struct callout_entry - a callout that is outstanding
 * @handle: its handle
 * @key: in its place, if @op_flags has CALLOUT_OPF_KEY: its key
 * @op: the operation that sets such a callout: CALLOUT_OP_SET or CALLOUT_OP_TIMEOUT
 * @op_flags: CALLOUT_OPF_* of that operation: KEY; CANCEL_ON_SET; EXACT; ABSTIME, except
 *	for a callout of CLOCK_REALTIME that does not follow settings of the clock
 * @flags: CALLOUT_ENTRYF_*
 * @state: enum callout_state
 * @clockid: its clock
 * @reserved: 0
 * @due: when it is due, or was, in its clock
 * @left: how long until then; 0 if that has passed
 * @period: as it was set
 * @slack: as it was set, or the default
 * @cookie: as it was set
 * @func: as it was set
 *
 * An operation with @op, @op_flags as its flags, @clockid, @period, @slack, @cookie,
 * @func, the key if there is one and, as time, @due if @op_flags has ABSTIME, else
 * @left, sets the same callout again, in another file too. Not one with
 * CALLOUT_ENTRYF_COMMAND.
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
#define CALLOUT_LISTF_HANDLE	(1U << 0)	/* the one with this handle */
#define CALLOUT_LISTF_KEY	(1U << 1)	/* the one with this key */

/**
 * struct callout_list - a page of the callouts that are outstanding, or one of them
 * @entries: address of an array of struct callout_entry
 * @cursor: 0 for the first page; out: what the next call takes, 0 if this page is the
 *	last one. A name is not written.
 * @handle: in its place, in, with CALLOUT_LISTF_HANDLE
 * @key: in its place, in, with CALLOUT_LISTF_KEY
 * @nr_entries: room in @entries, 1 to CALLOUT_BATCH_MAX
 * @entry_size: sizeof(struct callout_entry)
 * @got: out: number of entries written
 * @flags: CALLOUT_LISTF_*, at most one
 *
 * Each entry was right at some moment of the call. A callout that is outstanding
 * from the first call to the last is listed once. One that is set, cancelled or
 * read meanwhile is listed once or not at all.
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
 * @max_outstanding: the new value of callout_info.max_outstanding: 1 to the present
 *	one. It cannot be raised again.
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
 * struct callout_info - what a program decides by
 * @features: CALLOUT_FEATURE_*
 * @tick_ns: length of a tick
 * @max_outstanding: limit of @outstanding
 * @outstanding: callouts of this file that are pending, or fired and not read
 * @unread: those of them that have fired
 * @max_user: limit of @user_charged
 * @user_charged: callouts charged to this user, about the most that each of his
 *	files ever had outstanding; how they are counted may change
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

/* callout_info.features: what not every kernel has */
#define CALLOUT_FEATURE_URING	(1ULL << 0)	/* commands of io_uring */

#define CALLOUT_IOC_MAGIC	0xF5

/*
 * OP returns what its operation does, see above. BATCH returns 0, also if operations
 * failed. CANCEL_MATCHING returns how many it has cancelled, the others 0. FIONREAD of
 * ioctl(2) writes the number of bytes that read() would return, to an int. Errors,
 * which change nothing except in BATCH, and in OP if what it writes cannot be written:
 *
 * ENOTTY	not a request of this device
 * EINVAL	unknown operation, flag, clock or size; flags that exclude each other;
 *		a member that must be 0 is not; a number beyond its limit; LIMIT: more
 *		than the present limit
 * EOPNOTSUPP	an alarm clock, and the kernel has no RTC that wakes the system, or
 *		it is the clock of a wait; a command of io_uring, which this kernel,
 *		ring or scheme does not have
 * EPERM	an alarm clock, or MOVE of a callout in one, without CAP_WAKE_ALARM
 * E2BIG	the structure is longer than the kernel's, and the rest is not 0
 * EFAULT	bad pointer. BATCH: an operation could not be read, and is not counted;
 *		or what it writes could not be written, which ends the batch after up to
 *		15 more, with STOP too (a callout that it made is cancelled unless it
 *		has a key); or no event could be written
 * ENOENT	CANCEL, UNTIMEOUT, MOVE, SET with ONLY_OLD, LIST of a name: no such
 *		callout is outstanding, or its event is being read for the last time. If
 *		that fails, the event comes again, without its key.
 * EEXIST	SET with ONLY_NEW: the key is outstanding
 * EBUSY	SET of a callout of TIMEOUT; SET with a period, a cookie or
 *		CANCEL_ON_SET of a command of io_uring: MOVE moves them
 * ENOSPC	SET, TIMEOUT: max_outstanding are outstanding
 * EDQUOT	SET, TIMEOUT: max_user are charged to the user
 * ENOMEM	SET, TIMEOUT: no memory
 * EINTR	BATCH: a signal interrupted the wait, or the process was stopped or
 *		frozen; never restarted: operations have been done
 *
 * OP and BATCH are also commands of io_uring: IORING_OP_URING_CMD with the request
 * in cmd_op, the structure's address in addr, and 0 in all else that io_uring does
 * not use. SET that makes a callout completes when that fires, with 0, or is
 * cancelled, with -ECANCELED; a handle is written before. It has no event: period and
 * cookie must be 0, and CANCEL_ON_SET not set. With CALLOUT_OPF_KEY it must have
 * ONLY_NEW or ONLY_OLD. CANCEL, MOVE, and SET with ONLY_OLD, complete at once; OP has
 * no other operations here. BATCH makes callouts with events, and completes at once:
 * without CALLOUT_BATCHF_WAIT.
 */
#define CALLOUT_IOC_OP		_IOWR(CALLOUT_IOC_MAGIC, 1, struct callout_op)
#define CALLOUT_IOC_BATCH	_IOWR(CALLOUT_IOC_MAGIC, 2, struct callout_batch)
#define CALLOUT_IOC_CANCEL_MATCHING \
				_IOW(CALLOUT_IOC_MAGIC, 3, struct callout_match)
#define CALLOUT_IOC_LIST	_IOWR(CALLOUT_IOC_MAGIC, 4, struct callout_list)
#define CALLOUT_IOC_LIMIT	_IOW(CALLOUT_IOC_MAGIC, 5, struct callout_limit)
#define CALLOUT_IOC_INFO	_IOR(CALLOUT_IOC_MAGIC, 6, struct callout_info)

#endif /* _CALLOUT_SELFTESTS_CALLOUT_V1_H */
