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

#define CALLOUT_ABI_VERSION	1

/**
 * enum callout_opcode - what a struct callout_op asks for
 * @CALLOUT_OP_SET: set a callout; needs @clockid, @time, @cookie
 * @CALLOUT_OP_UNSET: cancel the callout with @handle
 * @CALLOUT_OP_TIMEOUT: set a callout that is found by @func and @cookie
 * @CALLOUT_OP_UNTIMEOUT: cancel the callout with @func and @cookie, and with
 *	@handle too if that is not 0. Of several it is the one due first.
 *
 * 3, 6 and 7 are for RESET, BATCH and NEXT. The opcode is also the number of
 * the ioctl.
 */
enum callout_opcode {
	CALLOUT_OP_SET		= 1,
	CALLOUT_OP_UNSET	= 2,
	CALLOUT_OP_TIMEOUT	= 4,
	CALLOUT_OP_UNTIMEOUT	= 5,
};

/* callout_op.flags */
#define CALLOUT_ABSTIME		(1U << 0)	/* time is not from now on */

/**
 * struct callout_op - one operation
 * @op: enum callout_opcode
 * @flags: CALLOUT_ABSTIME; other bits must be 0
 * @clockid: CLOCK_MONOTONIC; see callout_info.clocks
 * @result: must be 0; for operations in a batch: what the ioctl would return
 * @time: when it is to fire, at most 2^63 - 1
 * @period: must be 0
 * @slack: must be 0
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

/* What UNSET and UNTIMEOUT return when they succeed. */
#define CALLOUT_CANCELLED	1	/* it was pending */
#define CALLOUT_WITHDRAWN	2	/* it had fired; its event was unread */

/**
 * struct callout_event - a callout has fired
 * @handle: which one; the handle is not valid any more
 * @cookie: as it was set
 * @func: as it was set
 * @due: when it was to fire, in its clock
 * @fired: when it did
 * @overrun: 0
 * @flags: 0
 *
 * read() returns an array of these, oldest first, as many as there are and
 * fit. Callouts that were set on one CPU come in the order of their ticks.
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
 * @delivered: how many were read
 * @handlers: callouts that have fired, of all files and of kernel code; this
 *	and what follows is of the whole facility since it was loaded
 * @wakeups: times that a CPU was woken because something could be due
 * @false_wakeups: those that found nothing due
 * @hops: times that a CPU was woken on the way to a far tick
 * @visits: entries of the data structure that were looked at to find those due
 * @refiles: those that were found moved to a later time, and filed anew
 * @max_units: most units of work done in one go with a CPU's callouts locked
 * @late: callouts by the number of ticks from when they were due to when they
 *	fired: 0, 1, 2 to 3, 4 to 7, and so on; the last has all the rest
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
};

#define CALLOUT_INFO_SIZE_V1	232

#define CALLOUT_IOC_MAGIC	0xF9

/*
 * SET and TIMEOUT return 0 and write the handle. UNSET and UNTIMEOUT return
 * CALLOUT_CANCELLED or CALLOUT_WITHDRAWN. Errors, none of which changes
 * anything:
 *
 * ENOTTY	not an ioctl of this device
 * EINVAL	unknown flag, clock or size; a member that must be 0 is not;
 *		time beyond 2^63 - 1
 * E2BIG	the structure is longer than the kernel's, and the rest not 0
 * EFAULT	bad pointer
 * ENOENT	UNSET, UNTIMEOUT: no such callout is outstanding
 * ENOSPC	SET, TIMEOUT: max_outstanding are outstanding
 * ENOMEM	SET, TIMEOUT: no memory
 */
#define CALLOUT_IOC_SET		_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_SET, \
				      struct callout_op)
#define CALLOUT_IOC_UNSET	_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_UNSET, \
				      struct callout_op)
#define CALLOUT_IOC_TIMEOUT	_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_TIMEOUT, \
				      struct callout_op)
#define CALLOUT_IOC_UNTIMEOUT	_IOWR(CALLOUT_IOC_MAGIC, CALLOUT_OP_UNTIMEOUT, \
				      struct callout_op)
#define CALLOUT_IOC_INFO	_IOR(CALLOUT_IOC_MAGIC, 8, struct callout_info)

#endif /* _UAPI_LINUX_CALLOUT_H */
