/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * callout_v1.h - the names, numbers and structures of version 1 of callout.h
 *
 * For device/frozen.c, which is as old programs are. From the first release on they
 * do not change. What they mean is in callout.h.
 */
#ifndef _CALLOUT_SELFTESTS_CALLOUT_V1_H
#define _CALLOUT_SELFTESTS_CALLOUT_V1_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CALLOUT_SIZE_MAX	4096U

enum callout_opcode {
	CALLOUT_OP_SET		= 1,
	CALLOUT_OP_MOVE		= 2,
	CALLOUT_OP_CANCEL	= 3,
	CALLOUT_OP_TIMEOUT	= 4,
	CALLOUT_OP_UNTIMEOUT	= 5,
};

#define CALLOUT_OPF_ABSTIME	(1U << 0)
#define CALLOUT_OPF_KEY		(1U << 1)
#define CALLOUT_OPF_ONLY_NEW	(1U << 2)
#define CALLOUT_OPF_ONLY_OLD	(1U << 3)
#define CALLOUT_OPF_CANCEL_ON_SET (1U << 4)
#define CALLOUT_OPF_EXACT	(1U << 5)

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

enum callout_state {
	CALLOUT_STATE_PENDING	= 1,
	CALLOUT_STATE_UNREAD	= 2,
	CALLOUT_STATE_READING	= 3,
};

enum callout_event_type {
	CALLOUT_EVENT_FIRED	= 1,
	CALLOUT_EVENT_CLOCK_SET	= 2,
};

#define CALLOUT_EVENTF_PERIODIC	(1U << 0)
#define CALLOUT_EVENTF_KEY	(1U << 1)

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

#define CALLOUT_BATCHF_STOP	(1U << 0)
#define CALLOUT_BATCHF_WAIT	(1U << 1)
#define CALLOUT_BATCHF_ABSTIME	(1U << 2)

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

struct callout_match {
	__aligned_u64 cookie;
	__aligned_u64 mask;
	__u32 flags;
	__u32 reserved;
};

#define CALLOUT_MATCH_SIZE_V1	24

#define CALLOUT_ENTRYF_COMMAND	(1U << 0)

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

#define CALLOUT_LISTF_HANDLE	(1U << 0)
#define CALLOUT_LISTF_KEY	(1U << 1)

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

struct callout_limit {
	__aligned_u64 max_outstanding;
	__u32 flags;
	__u32 reserved;
};

#define CALLOUT_LIMIT_SIZE_V1	16

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

#define CALLOUT_FEATURE_URING	(1ULL << 0)

#define CALLOUT_IOC_MAGIC	0xF5

#define CALLOUT_IOC_OP		_IOWR(CALLOUT_IOC_MAGIC, 1, struct callout_op)
#define CALLOUT_IOC_BATCH	_IOWR(CALLOUT_IOC_MAGIC, 2, struct callout_batch)
#define CALLOUT_IOC_CANCEL_MATCHING \
				_IOW(CALLOUT_IOC_MAGIC, 3, struct callout_match)
#define CALLOUT_IOC_LIST	_IOWR(CALLOUT_IOC_MAGIC, 4, struct callout_list)
#define CALLOUT_IOC_LIMIT	_IOW(CALLOUT_IOC_MAGIC, 5, struct callout_limit)
#define CALLOUT_IOC_INFO	_IOR(CALLOUT_IOC_MAGIC, 6, struct callout_info)

#endif /* _CALLOUT_SELFTESTS_CALLOUT_V1_H */
