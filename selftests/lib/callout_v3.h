/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * callout_v3.h - the user interface of the callout facility: /dev/callout
 *
 * Not for use: a copy of callout.h when version 3 was frozen, for device/frozen.c,
 * which is as old programs are. It does not change.
 *
 * An open file of /dev/callout owns the callouts that are set through it. An
 * ioctl sets or cancels them, and read() returns an array of struct
 * callout_event, one for each that has fired. close() cancels the others.
 *
 * All times are in nanoseconds, and in the caller's time namespace. A callout
 * never fires early; it fires at a tick, see callout_info.tick_ns.
 *
 * Structures grow at the end. The size is part of the ioctl's number, so old
 * programs run on new kernels. A new program on an old kernel gets E2BIG if a
 * member that the kernel does not know is not zero. So a member that is added to
 * a structure must be zero before the call even if the kernel only writes it.
 *
 * A size that a program gives, in a number or a member, is a multiple of 8 from
 * that of version 1, CALLOUT_*_SIZE_V1, to CALLOUT_SIZE_MAX.
 */
#ifndef _UAPI_LINUX_CALLOUT_H
#define _UAPI_LINUX_CALLOUT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CALLOUT_ABI_VERSION	3

/* The largest size of a structure. */
#define CALLOUT_SIZE_MAX	4096U

/**
 * enum callout_opcode - what a struct callout_op asks for
 * @CALLOUT_OP_SET: set a callout; needs @clockid, @time, @cookie; may have
 *	@period and @slack
 * @CALLOUT_OP_UNSET: cancel the callout with @handle
 * @CALLOUT_OP_RESET: move the callout with @handle to another @time of its
 *	clock; the handle stays valid. With CALLOUT_NEW_PERIOD it gets another
 *	@period, with CALLOUT_NEW_SLACK another @slack. Writes @left.
 * @CALLOUT_OP_TIMEOUT: set a callout that is found by @func and @cookie; may
 *	have @slack
 * @CALLOUT_OP_UNTIMEOUT: cancel the callout with @func and @cookie, and with
 *	@handle too if that is not 0. If several match, the first to be due.
 *
 * The opcode is also the number of the operation's own ioctl.
 */
enum callout_opcode {
	CALLOUT_OP_SET		= 1,
	CALLOUT_OP_UNSET	= 2,
	CALLOUT_OP_RESET	= 3,
	CALLOUT_OP_TIMEOUT	= 4,
	CALLOUT_OP_UNTIMEOUT	= 5,
};

/* callout_op.flags */
#define CALLOUT_ABSTIME		(1U << 0)	/* time is absolute */
/* RESET: otherwise it keeps what it has */
#define CALLOUT_NEW_PERIOD	(1U << 1)
#define CALLOUT_NEW_SLACK	(1U << 2)
/*
 * SET, UNSET, RESET: handle is a number of the program's, the key of a callout.
 * SET moves the callout that has it, or makes one; cookie and period must be 0.
 * It writes left, 0 for a new one, and not handle.
 */
#define CALLOUT_KEY		(1U << 3)
/*
 * SET, RESET; with CALLOUT_ABSTIME and CLOCK_REALTIME, without a period or key: a
 * setting of the clock ends the callout, with an event CALLOUT_EVENT_CLOCK_SET.
 * RESET does not keep this.
 */
#define CALLOUT_CANCEL_ON_SET	(1U << 4)

/**
 * struct callout_op - one operation
 * @op: enum callout_opcode
 * @flags: CALLOUT_ABSTIME, CALLOUT_KEY, CALLOUT_CANCEL_ON_SET; for RESET, also
 *	CALLOUT_NEW_*; other bits must be 0
 * @clockid: CLOCK_MONOTONIC, CLOCK_BOOTTIME or CLOCK_REALTIME; see
 *	callout_info.clocks. Not for RESET.
 * @result: out, in a batch: what the operation's own ioctl would return, errors
 *	as negative numbers
 * @time: when it is due, at most 2^63 - 1. If it is absolute and the clock is
 *	CLOCK_REALTIME, the callout follows settings of the clock.
 * @period: 0, or the distance at which it fires again until it is cancelled.
 *	While an event is unread no other is added: callout_event.overrun counts
 *	the times missed. At most 2^63 - 1.
 * @slack: it may fire later than @time by this, to share a tick with others; at
 *	most 2^63 - 1. A callout that was set by TIMEOUT, or has a key, does not
 *	keep it when it is moved.
 * @handle: out for SET and TIMEOUT, in a batch 0 if they fail, except with E2BIG;
 *	in for the others, and with CALLOUT_KEY
 * @cookie: returned in the event; for TIMEOUT, the arg of timeout()
 * @func: for TIMEOUT and UNTIMEOUT, where it cannot be 2^64 - 1; 0 for SET and
 *	UNSET
 * @left: out for RESET, and SET with CALLOUT_KEY: the time that was left until the
 *	callout was due; 0 if that had passed or its event is being read, and in a
 *	batch if they fail
 *
 * Members that an operation does not need must be 0, except @result and others
 * that are out only: what they are before the call makes no difference.
 */
struct callout_op {
	__u32 op;
	__u32 flags;
	__s32 clockid;
	__s32 result;
	__u64 time;
	__u64 period;
	__u64 slack;
	__u64 handle;
	__u64 cookie;
	union {
		__u64 func;
		__u64 left;
	};
};

#define CALLOUT_OP_SIZE_V1	64

/*
 * Results of UNSET and UNTIMEOUT: the callout was pending, or had fired with
 * its event still unread. RESET, and SET of a key that was outstanding, return
 * the same about the earlier setting.
 */
#define CALLOUT_CANCELLED	1
#define CALLOUT_WITHDRAWN	2

/**
 * enum callout_event_type - what a struct callout_event tells
 * @CALLOUT_EVENT_FIRED: a callout has fired
 * @CALLOUT_EVENT_CLOCK_SET: a callout with CALLOUT_CANCEL_ON_SET has ended before
 *	it was due, since its clock was set
 * @CALLOUT_EVENT_ERROR: reserved: something failed
 *
 * No event has another type than the first unless the program has asked for it.
 */
enum callout_event_type {
	CALLOUT_EVENT_FIRED	= 1,
	CALLOUT_EVENT_CLOCK_SET	= 2,
	CALLOUT_EVENT_ERROR	= 3,
};

/**
 * struct callout_event - a callout has fired, or has ended
 * @type: enum callout_event_type
 * @flags: CALLOUT_EVENT_*
 * @handle: its handle, stale unless the callout is periodic; with
 *	CALLOUT_EVENT_KEY, its key
 * @cookie: as it was set
 * @func: as it was set
 * @due: when it was due, in its clock; if it is periodic, the first time that
 *	this event stands for
 * @fired: when it fired or ended, in CLOCK_MONOTONIC
 * @overrun: if it is periodic, how many more times it was due until this was
 *	read, at most 2^32 - 1
 * @clockid: its clock
 * @reserved: 0
 *
 * read() returns an array of these, oldest first, as many as are unread and
 * fit. The program says how long each is: see struct callout_format. What the
 * kernel does not know of it is 0. Callouts that were set on one CPU come in the
 * order of their ticks. A periodic callout is re-armed when its event is read.
 */
struct callout_event {
	__u32 type;
	__u32 flags;
	__u64 handle;
	__u64 cookie;
	__u64 func;
	__u64 due;
	__u64 fired;
	__u32 overrun;
	__s32 clockid;
	__u64 reserved;
};

#define CALLOUT_EVENT_SIZE_V1	64

/* callout_event.flags */
#define CALLOUT_EVENT_PERIODIC	(1U << 0)	/* the handle is still valid */
#define CALLOUT_EVENT_KEY	(1U << 1)	/* the handle is a key */

/**
 * struct callout_batch - many operations, and a read, in one call
 * @ops: address of an array of struct callout_op
 * @events: address of an array of struct callout_event, or 0
 * @nr_ops: number of @ops, at most CALLOUT_BATCH_MAX
 * @nr_events: room in @events, at most CALLOUT_BATCH_MAX
 * @op_size: sizeof(struct callout_op)
 * @event_size: sizeof(struct callout_event)
 * @flags: CALLOUT_BATCH_*
 * @done: out: number of operations tried, including the one at which it stopped
 * @failed: out: number of these that failed
 * @got: out: number of events written
 * @timeout: with CALLOUT_BATCH_WAIT, the longest wait; 2^63 - 1 and more: no
 *	limit
 * @wait: 0, or with CALLOUT_BATCH_WAIT the address of a struct callout_wait,
 *	instead of @timeout, which must be 0 then
 * @wait_size: sizeof(struct callout_wait), or 0 if @wait is 0
 * @reserved: must be 0
 *
 * First the operations are done, in order, and the result and handle of each
 * are written to its place in @ops. Then, if @nr_events is not 0, events are
 * read; with CALLOUT_BATCH_WAIT the call waits until one is there. That none
 * came in time is no error: @got is 0. If it has
 * stopped at an operation that failed no events are read: operations that were
 * not tried may cancel them. Without CALLOUT_BATCH_WAIT @timeout must be 0;
 * with it @nr_events must not be 0.
 */
struct callout_batch {
	__u64 ops;
	__u64 events;
	__u32 nr_ops;
	__u32 nr_events;
	__u32 op_size;
	__u32 event_size;
	__u32 flags;
	__u32 done;
	__u32 failed;
	__u32 got;
	__u64 timeout;
	__u64 wait;
	__u32 wait_size;
	__u32 reserved;
};

#define CALLOUT_BATCH_SIZE_V1	72
#define CALLOUT_BATCH_MAX	65536U

/* callout_batch.flags */
#define CALLOUT_BATCH_STOP	(1U << 0)	/* stop at the first that fails */
#define CALLOUT_BATCH_WAIT	(1U << 1)	/* wait for at least one event */

/**
 * struct callout_wait - how a batch waits
 * @time: the longest wait or, with CALLOUT_WAIT_ABSTIME, when it ends; 2^63 - 1
 *	and more: no limit
 * @clockid: the clock of @time: CLOCK_MONOTONIC, CLOCK_BOOTTIME or
 *	CLOCK_REALTIME
 * @flags: CALLOUT_WAIT_ABSTIME or 0
 * @min_events: how many events to wait for, at most callout_batch.nr_events; 0
 *	is 1
 * @sigmask_size: the size of the kernel's signal sets, 8 nearly everywhere, or 0
 *	if @sigmask is 0
 * @sigmask: 0, or the address of the signal mask during the wait
 *
 * If fewer than @min_events came in time, or until a signal did, the call
 * returns those that did.
 */
struct callout_wait {
	__u64 time;
	__s32 clockid;
	__u32 flags;
	__u32 min_events;
	__u32 sigmask_size;
	__u64 sigmask;
};

#define CALLOUT_WAIT_SIZE_V1	32

/* callout_wait.flags */
#define CALLOUT_WAIT_ABSTIME	(1U << 0)	/* time is absolute */

/**
 * struct callout_limit - a lower limit for a file
 * @max_outstanding: the new value of callout_info.max_outstanding: 1 to the
 *	present one. It cannot be raised again.
 * @flags: must be 0
 * @reserved: must be 0
 */
struct callout_limit {
	__u64 max_outstanding;
	__u32 flags;
	__u32 reserved;
};

#define CALLOUT_LIMIT_SIZE_V1	16

/**
 * struct callout_eventfd - what to signal
 * @fd: an eventfd, which is signalled when the file becomes readable, and now if
 *	it is; -1 for none, with which a file begins
 * @flags: must be 0
 */
struct callout_eventfd {
	__s32 fd;
	__u32 flags;
};

#define CALLOUT_EVENTFD_SIZE_V1	8

/**
 * struct callout_cancel - which callouts to cancel
 * @cookie: cancels all whose cookie is this in the bits of @mask; other bits
 *	must be 0
 * @mask: 0 for all callouts
 * @flags: must be 0
 * @reserved: must be 0
 *
 * Callouts that have fired and are unread are cancelled too. Returns how many
 * were.
 */
struct callout_cancel {
	__u64 cookie;
	__u64 mask;
	__u32 flags;
	__u32 reserved;
};

#define CALLOUT_CANCEL_SIZE_V1	24

/**
 * struct callout_format - what read() writes
 * @event_size: size of each event; a file begins with CALLOUT_EVENT_SIZE_V1
 * @flags: must be 0
 *
 * It is of the open file description, for all who share it. Does not concern
 * BATCH.
 */
struct callout_format {
	__u32 event_size;
	__u32 flags;
};

#define CALLOUT_FORMAT_SIZE_V1	8

/**
 * struct callout_next - when the next callout is due
 * @clockid: one of callout_info.clocks: that of the callouts looked at, and of
 *	@due
 * @flags: must be 0
 * @due: out: the earliest due time of pending callouts; 2^64 - 1: none
 */
struct callout_next {
	__s32 clockid;
	__u32 flags;
	__u64 due;
};

#define CALLOUT_NEXT_SIZE_V1	16

/**
 * enum callout_state - what becomes of a callout that is outstanding
 * @CALLOUT_STATE_PENDING: it will fire
 * @CALLOUT_STATE_UNREAD: it has fired, and its event is to be read
 */
enum callout_state {
	CALLOUT_STATE_PENDING	= 1,
	CALLOUT_STATE_UNREAD	= 2,
};

/**
 * struct callout_entry - a callout that is outstanding
 * @handle: its handle or, if @flags has CALLOUT_KEY, its key; for GET, in
 * @op: the operation that sets such a callout: CALLOUT_OP_SET or
 *	CALLOUT_OP_TIMEOUT
 * @flags: those of that operation: CALLOUT_KEY, which for GET is in;
 *	CALLOUT_CANCEL_ON_SET; CALLOUT_ABSTIME, except for a callout of
 *	CLOCK_REALTIME that does not follow settings of the clock
 * @state: enum callout_state
 * @clockid: its clock
 * @due: when it is due, or was, in its clock
 * @left: how long until then; 0 if that has passed
 * @period: 0 if it is not periodic
 * @slack: 0 if it was set by TIMEOUT, or has a key: these do not keep it
 * @cookie: as it was set
 * @func: as it was set
 *
 * Members of the same name and, as time, @due if @flags has CALLOUT_ABSTIME, else
 * @left, set the same callout again, in another file too.
 */
struct callout_entry {
	__u64 handle;
	__u32 op;
	__u32 flags;
	__u32 state;
	__s32 clockid;
	__u64 due;
	__u64 left;
	__u64 period;
	__u64 slack;
	__u64 cookie;
	__u64 func;
};

#define CALLOUT_ENTRY_SIZE_V1	72

/**
 * struct callout_list - a page of the callouts that are outstanding
 * @entries: address of an array of struct callout_entry
 * @cursor: 0 for the first page; out: what the next call takes, 0 if this page
 *	is the last one
 * @nr_entries: room in @entries, 1 to CALLOUT_BATCH_MAX
 * @entry_size: sizeof(struct callout_entry)
 * @got: out: number of entries written
 * @flags: must be 0
 *
 * Each entry was right at some moment of the call. A callout that is outstanding
 * from the first call to the last is listed once. One that is set, cancelled or
 * read meanwhile is listed once or not at all.
 */
struct callout_list {
	__u64 entries;
	__u64 cursor;
	__u32 nr_entries;
	__u32 entry_size;
	__u32 got;
	__u32 flags;
};

#define CALLOUT_LIST_SIZE_V1	32

/**
 * struct callout_info - limits of a file, and its counters
 * @abi_version: CALLOUT_ABI_VERSION of the kernel
 * @op_size: the kernel's sizeof(struct callout_op)
 * @event_size: the kernel's sizeof(struct callout_event)
 * @clocks: bit n is set if clockid n can be used
 * @features: CALLOUT_FEATURE_*
 * @tick_ns: length of a tick
 * @max_outstanding: limit of @outstanding
 * @outstanding: callouts of this file that are pending, or fired and not read
 * @unread: those of them that have fired
 * @set: callouts set
 * @cancelled: callouts cancelled while pending
 * @withdrawn: callouts cancelled after they had fired
 * @delivered: events read, except those of periodic callouts, and commands of
 *	io_uring that fired
 * @reset: RESETs done
 * @repeated: events of periodic callouts read
 * @max_user: limit of @user_outstanding
 * @user_outstanding: callouts charged to this user: for each file the most that
 *	it ever had outstanding, rounded up by less than 64
 *
 * set = cancelled + withdrawn + delivered + outstanding, when no operation is
 * in progress.
 */
struct callout_info {
	__u32 abi_version;
	__u32 op_size;
	__u32 event_size;
	__u32 clocks;
	__u64 features;
	__u64 tick_ns;
	__u64 max_outstanding;
	__u64 outstanding;
	__u64 unread;
	__u64 set;
	__u64 cancelled;
	__u64 withdrawn;
	__u64 delivered;
	__u64 reset;
	__u64 repeated;
	__u64 max_user;
	__u64 user_outstanding;
};

#define CALLOUT_INFO_SIZE_V1	120

/*
 * callout_info.features. A program that needs one of these looks for its bit; all
 * else that this header declares is always there.
 */
#define CALLOUT_FEATURE_EXACT	(1ULL << 0)	/* no callout is late by design */
#define CALLOUT_FEATURE_TIMEOUT	(1ULL << 1)	/* TIMEOUT and UNTIMEOUT */
#define CALLOUT_FEATURE_KEY	(1ULL << 2)	/* CALLOUT_KEY */
#define CALLOUT_FEATURE_URING	(1ULL << 3)	/* SET as a command of io_uring */

#define CALLOUT_IOC_MAGIC	0xF9

/*
 * SET and TIMEOUT return 0 and write the handle, see above for CALLOUT_KEY.
 * UNSET, UNTIMEOUT and RESET return CALLOUT_CANCELLED or CALLOUT_WITHDRAWN.
 * BATCH returns 0 if it could read its arguments; each operation has its own
 * result. NEXT, LIMIT, EVENTFD, FORMAT, GET and LIST return 0. CANCEL returns a
 * number. FIONREAD of ioctl(2) writes the number of bytes that read() would
 * return, to an int. Errors, which change nothing except in BATCH:
 *
 * ENOTTY	not an ioctl of this device
 * EINVAL	unknown flag, clock or size; a member that must be 0 is not;
 *		time, period or slack beyond 2^63 - 1; RESET: a period for one
 *		set by TIMEOUT or with a key; SET: the callout with this key
 *		has another clock; TIMEOUT, UNTIMEOUT: func is 2^64 - 1;
 *		CALLOUT_CANCEL_ON_SET for what cannot have it; LIMIT: 0, or more
 *		than the present limit; BATCH: too many operations or events, or
 *		a wait without room for one; LIST: no room, or too much; CANCEL:
 *		cookie has bits outside of mask
 * EOPNOTSUPP	SET, TIMEOUT, NEXT, BATCH's wait: CLOCK_REALTIME_ALARM or
 *		CLOCK_BOOTTIME_ALARM
 * E2BIG	the structure is longer than the kernel's, and the rest is not 0
 * EFAULT	bad pointer. BATCH: it stopped at an operation that could not be
 *		read or whose result could not be written (a callout that it set
 *		is cancelled unless it has a key); or no event could be written
 * ENOENT	UNSET, UNTIMEOUT, RESET, GET: no such callout is outstanding
 * ENOSPC	SET, TIMEOUT: max_outstanding are outstanding
 * EDQUOT	SET, TIMEOUT: max_user are charged to the user
 * ENOMEM	SET, TIMEOUT: no memory
 * EBADF	EVENTFD: not an eventfd; or the descriptor is not open for writing,
 *		and the request is not BATCH, NEXT, INFO, FORMAT, GET or LIST;
 *		BATCH: operations need a descriptor open for writing, events
 *		one for reading, as FORMAT does
 * EINTR	BATCH: a signal interrupted the wait, or the process was stopped
 *		or frozen; never restarted: operations have been done
 *
 * The first three are also commands of io_uring: IORING_OP_URING_CMD with the
 * number in cmd_op, the address of a struct callout_op in addr, and 0 in all else
 * that io_uring does not use. They need CALLOUT_KEY. SET completes when the callout
 * fires, with 0, or is cancelled, with -ECANCELED; the others at once. If a callout
 * with the key is outstanding SET does not move it: EEXIST.
 */
#define CALLOUT_IOC_SET		_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_SET, \
				      struct callout_op)
#define CALLOUT_IOC_UNSET	_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_UNSET, \
				      struct callout_op)
#define CALLOUT_IOC_RESET	_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_RESET, \
				      struct callout_op)
#define CALLOUT_IOC_TIMEOUT	_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_TIMEOUT, \
				      struct callout_op)
#define CALLOUT_IOC_UNTIMEOUT	_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_UNTIMEOUT, \
				      struct callout_op)
#define CALLOUT_IOC_BATCH	_IOWR(CALLOUT_IOC_MAGIC, 6, struct callout_batch)
#define CALLOUT_IOC_NEXT	_IOWR(CALLOUT_IOC_MAGIC, 7, struct callout_next)
#define CALLOUT_IOC_INFO	_IOR(CALLOUT_IOC_MAGIC, 8, struct callout_info)
#define CALLOUT_IOC_LIMIT	_IOW(CALLOUT_IOC_MAGIC, 9, struct callout_limit)
#define CALLOUT_IOC_EVENTFD	_IOW(CALLOUT_IOC_MAGIC, 10, struct callout_eventfd)
#define CALLOUT_IOC_FORMAT	_IOW(CALLOUT_IOC_MAGIC, 11, struct callout_format)
#define CALLOUT_IOC_GET		_IOWR(CALLOUT_IOC_MAGIC, 12, struct callout_entry)
#define CALLOUT_IOC_LIST	_IOWR(CALLOUT_IOC_MAGIC, 13, struct callout_list)
#define CALLOUT_IOC_CANCEL	_IOW(CALLOUT_IOC_MAGIC, 14, struct callout_cancel)

#endif /* _UAPI_LINUX_CALLOUT_H */
