/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * callout.h - the user interface of the callout facility: /dev/callout
 *
 * An open file of /dev/callout owns the callouts that are set through it.
 * They are set and cancelled by ioctl, and those that have fired are read as
 * an array of struct callout_event. close() cancels what is left.
 *
 * All times are in nanoseconds. A callout never fires early; it fires at a
 * tick, see callout_info.tick_ns.
 *
 * Structures grow at the end. The size is part of the ioctl's number, so that
 * old programs run on new kernels; a new program on an old kernel gets E2BIG
 * if it uses, that is: does not leave zero, what the kernel does not know.
 */
#ifndef _UAPI_LINUX_CALLOUT_H
#define _UAPI_LINUX_CALLOUT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CALLOUT_ABI_VERSION	2

/* callout_info.scheme, with a 0 at its end */
#define CALLOUT_SCHEME_SIZE	32

/**
 * enum callout_opcode - what a struct callout_op asks for
 * @CALLOUT_OP_SET: set a callout; needs @clockid, @time, @cookie; may have
 *	@period and @slack
 * @CALLOUT_OP_UNSET: cancel the callout with @handle
 * @CALLOUT_OP_RESET: move the callout with @handle to another @time, @period
 *	and @slack; the handle stays. @clockid is that with which it was set.
 * @CALLOUT_OP_TIMEOUT: set a callout that is found by @func and @cookie; may
 *	have @slack
 * @CALLOUT_OP_UNTIMEOUT: cancel the callout with @func and @cookie, and with
 *	@handle too if that is not 0. Of several it is the one due first.
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
#define CALLOUT_ABSTIME		(1U << 0)	/* time is not from now on */

/**
 * struct callout_op - one operation
 * @op: enum callout_opcode
 * @flags: CALLOUT_ABSTIME; other bits must be 0
 * @clockid: CLOCK_MONOTONIC or CLOCK_BOOTTIME; see callout_info.clocks
 * @result: must be 0; out, in a batch: what the operation's own ioctl would
 *	return, errors as negative numbers
 * @time: when it is to fire, at most 2^63 - 1
 * @period: 0, or it fires again and again, so long after it was due, until it
 *	is cancelled. While an event is unread there is no other: those that
 *	would have come are counted in callout_event.overrun. At most 2^63 - 1.
 * @slack: it may fire later than @time by this, so that it can be put
 *	together with others, at most 2^63 - 1
 * @handle: out for SET and TIMEOUT, where it must be 0; in for the others
 * @cookie: comes back in the event; timeout()'s arg for TIMEOUT
 * @func: for TIMEOUT and UNTIMEOUT, otherwise 0
 *
 * Members that an operation does not need must be 0.
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
	__u64 func;
};

#define CALLOUT_OP_SIZE_V1	64

/*
 * What UNSET and UNTIMEOUT return when they succeed: whether the callout was
 * pending, or had fired with its event still unread. RESET returns the same
 * for what was there before.
 */
#define CALLOUT_CANCELLED	1
#define CALLOUT_WITHDRAWN	2

/**
 * struct callout_event - a callout has fired
 * @handle: which one; not valid any more, but if the callout is periodic
 * @cookie: as it was set
 * @func: as it was set
 * @due: when it was to fire, in its clock; of a periodic one, the first time
 *	that this event stands for
 * @fired: when it did, in CLOCK_MONOTONIC
 * @overrun: of a periodic one: how many more times it was due until it was
 *	read, 2^32 - 1 if more
 * @flags: CALLOUT_EVENT_*
 *
 * read() returns an array of these, oldest first, as many as there are and
 * fit. Callouts that were set on one CPU come in the order of their ticks. A
 * periodic callout is armed for its next time when its event is read.
 */
struct callout_event {
	__u64 handle;
	__u64 cookie;
	__u64 func;
	__u64 due;
	__u64 fired;
	__u32 overrun;
	__u32 flags;
};

/* callout_event.flags */
#define CALLOUT_EVENT_PERIODIC	(1U << 0)	/* the handle is still good */

/**
 * struct callout_batch - many operations, and a read, in one call
 * @ops: address of an array of struct callout_op
 * @events: address of an array of struct callout_event, or 0
 * @nr_ops: how many of @ops to do, at most CALLOUT_BATCH_MAX
 * @nr_events: room in @events, at most CALLOUT_BATCH_MAX
 * @op_size: sizeof(struct callout_op)
 * @flags: CALLOUT_BATCH_*
 * @done: must be 0; out: how many operations were tried, the one included at
 *	which it stopped
 * @failed: must be 0; out: how many of these failed
 * @got: must be 0; out: how many events were written
 * @reserved: must be 0
 * @timeout: with CALLOUT_BATCH_WAIT: how long to wait; 2^64 - 1: for ever
 *
 * First the operations are done, in order, and each one's result and handle
 * are written to its place in @ops. Then, if @nr_events is not 0, events are
 * read; with CALLOUT_BATCH_WAIT it waits until there is one. If it has stopped
 * at an operation that failed no events are read: those operations that were
 * not tried may cancel them. Without CALLOUT_BATCH_WAIT @timeout must be 0,
 * with it @nr_events must not.
 */
struct callout_batch {
	__u64 ops;
	__u64 events;
	__u32 nr_ops;
	__u32 nr_events;
	__u32 op_size;
	__u32 flags;
	__u32 done;
	__u32 failed;
	__u32 got;
	__u32 reserved;
	__u64 timeout;
};

#define CALLOUT_BATCH_SIZE_V1	56
#define CALLOUT_BATCH_MAX	65536U

/* callout_batch.flags */
#define CALLOUT_BATCH_STOP	(1U << 0)	/* stop at the first that fails */
#define CALLOUT_BATCH_WAIT	(1U << 1)	/* wait for at least one event */

/**
 * struct callout_next - when the next one is due
 * @clockid: CLOCK_MONOTONIC or CLOCK_BOOTTIME: which callouts, and in what
 *	clock to tell
 * @flags: must be 0
 * @due: out: the earliest of the pending ones of that clock; 2^64 - 1: none
 */
struct callout_next {
	__s32 clockid;
	__u32 flags;
	__u64 due;
};

#define CALLOUT_NEXT_SIZE_V1	16

/**
 * struct callout_info - limits and counters
 * @abi_version: CALLOUT_ABI_VERSION of the kernel
 * @op_size: the kernel's sizeof(struct callout_op)
 * @event_size: the kernel's sizeof(struct callout_event)
 * @clocks: bit n is set if clockid n can be used
 * @tick_ns: length of a tick
 * @max_outstanding: how many callouts this file may have outstanding
 * @outstanding: how many it has: pending, or fired and not read
 * @unread: how many of these have fired
 * @set: how many were set
 * @cancelled: how many were cancelled while pending
 * @withdrawn: how many were cancelled when they had fired
 * @delivered: how many were read, but for those of periodic callouts
 * @handlers: callouts that have fired, of all files and of kernel code; this
 *	and what follows up to @late is of the whole facility since it was
 *	loaded, and told to who has CAP_SYS_ADMIN in the initial user namespace;
 *	otherwise 0
 * @wakeups: times that a CPU was woken because something could be due
 * @false_wakeups: those that found nothing due
 * @hops: times that a CPU was woken on the way to a far tick
 * @visits: entries of the data structure that were looked at to find those due
 * @refiles: those that were found moved to a later time, and filed anew
 * @max_units: most units of work done in one go with a CPU's callouts locked
 * @late: callouts by the number of ticks from when they were due to when they
 *	fired: 0, 1, 2 to 3, 4 to 7, and so on; the last has all the rest
 * @reset: how many RESETs this file has had done
 * @repeated: how many events of periodic callouts were read
 * @max_user: how many callouts all files of this user may have outstanding
 * @user_outstanding: how many count: of each file the most that it ever had,
 *	rounded up by less than 64
 * @scheme: name of the data structure: the module parameter scheme; this and
 *	what follows came after V1
 * @scheme_late: by how many ticks at most a callout comes late because the
 *	scheme is inexact, if it is set for one second, minute, hour, day; 0: it
 *	is exact
 *
 * set = cancelled + withdrawn + delivered + outstanding, when nothing is
 * under way.
 */
struct callout_info {
	__u32 abi_version;
	__u32 op_size;
	__u32 event_size;
	__u32 clocks;
	__u64 tick_ns;
	__u64 max_outstanding;
	__u64 outstanding;
	__u64 unread;
	__u64 set;
	__u64 cancelled;
	__u64 withdrawn;
	__u64 delivered;
	__u64 handlers;
	__u64 wakeups;
	__u64 false_wakeups;
	__u64 hops;
	__u64 visits;
	__u64 refiles;
	__u64 max_units;
	__u64 late[12];
	__u64 reset;
	__u64 repeated;
	__u64 max_user;
	__u64 user_outstanding;
	char scheme[CALLOUT_SCHEME_SIZE];
	__u64 scheme_late[4];
};

#define CALLOUT_INFO_SIZE_V1	232
#define CALLOUT_INFO_SIZE_V2	328

#define CALLOUT_IOC_MAGIC	0xF9

/*
 * SET and TIMEOUT return 0 and write the handle. UNSET, UNTIMEOUT and RESET
 * return CALLOUT_CANCELLED or CALLOUT_WITHDRAWN. BATCH returns 0 if it could
 * read its arguments; what became of each operation is in its result. NEXT,
 * LIMIT and EVENTFD return 0. Errors, which change nothing but for BATCH:
 *
 * ENOTTY	not an ioctl of this device
 * EINVAL	unknown flag, clock or size; a member that must be 0 is not;
 *		time, period or slack beyond 2^63 - 1; RESET: not the clock with
 *		which it was set, or @period and it was set by TIMEOUT; LIMIT:
 *		0, or higher than it is; BATCH: too many
 * E2BIG	the structure is longer than the kernel's, and the rest not 0
 * EFAULT	bad pointer. BATCH: it stopped at one that could not be read or
 *		answered; if that sets a callout it is cancelled again; or no
 *		event could be written
 * ENOENT	UNSET, UNTIMEOUT, RESET: no such callout is outstanding
 * ENOSPC	SET, TIMEOUT: max_outstanding are outstanding
 * EDQUOT	SET, TIMEOUT: max_user count as outstanding
 * ENOMEM	SET, TIMEOUT: no memory
 * EBADF	EVENTFD: not an eventfd; or the descriptor is not open for writing,
 *		and the request is not BATCH, NEXT or INFO; BATCH: there are
 *		operations, and it is not open for writing, or there is room for
 *		events, and it is not open for reading
 * EINTR	BATCH: a signal came while it waited, or the process was stopped
 *		or frozen; it is never restarted: operations have been done
 * ETIME	BATCH: nothing fired while it waited; operations have been done
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

/* Lowers max_outstanding of this file; it cannot be raised again. */
#define CALLOUT_IOC_LIMIT	_IOW(CALLOUT_IOC_MAGIC, 9, __u64)

/*
 * An eventfd to be signalled when a callout fires and none was unread before,
 * and now if there is one unread; -1 for none, as at first.
 */
#define CALLOUT_IOC_EVENTFD	_IOW(CALLOUT_IOC_MAGIC, 10, __s32)

#endif /* _UAPI_LINUX_CALLOUT_H */
