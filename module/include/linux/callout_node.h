/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_node.h - the part of a callout that bases and schemes file
 *
 * The lowest layer: schemes, bases and tick sources know this and nothing of
 * its owner, which is what it is embedded in.
 */
#ifndef _LINUX_CALLOUT_NODE_H
#define _LINUX_CALLOUT_NODE_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>

typedef void callout_func_t(void *arg);

/*
 * callout_node.kind: what happens when a callout is due. Memory that was
 * cleared, or never initialised, has no kind, and nothing is called.
 */
enum callout_kind {
	CALLOUT_KIND_NONE,
	CALLOUT_KIND_FUNC,	/* call its function */
	CALLOUT_KIND_HANDLE,	/* call its function, free its slot */
	CALLOUT_KIND_EVENT,	/* an event to be read: no function */
	CALLOUT_KIND_KEYED,	/* the same, of a callout with a key */
	CALLOUT_KIND_COMMAND,	/* a command that completes: no function */
	CALLOUT_KIND_TIMER,	/* call its function, with the timer */
};

/* callout_node.state, written with the base's lock held. */
#define CALLOUT_S_PENDING	0x01	/* queued, or on a list of due ones */
#define CALLOUT_S_DUE		0x02	/* on a list of due ones */
#define CALLOUT_S_DRAINING	0x04	/* being drained: cannot be set */
#define CALLOUT_S_SHUT		0x08	/* cannot be set until initialised */
#define CALLOUT_S_STARTED_HERE	0x40	/* its handler has started on its base */
#define CALLOUT_S_AWAY		0x80	/* its cpu is not its home */

/**
 * struct callout_node - an entry of a base and its scheme
 * @entry: link in the scheme, or in a list of due callouts
 * @word: the same memory as the scheme uses it
 * @link: the two words of it that the hashed wheel uses
 * @time: the third, which the wheel leaves to the owner: nanoseconds, or a jiffy
 * @own: the same, if it is a number of another kind
 * @expires: the tick at which it is due; once it has fired, the owner's
 * @cpu: index of the base that it belongs to
 * @home: index of the base that it returns to, if that differs
 * @state: CALLOUT_S_*
 * @kind: what happens when it is due
 * @flags: the owner's
 * @active: of a callout, CALLOUT_A_*
 * @place: the same byte of a slot: where the hash has it
 * @bytes: these four, to be tested at once
 *
 * The lock of base @cpu protects all members except the owner's two.
 */
struct callout_node {
	union {
		struct list_head entry;
		unsigned long word[3];
		struct {
			unsigned long link[2];
			union {
				u64 time;
				u64 own;
			};
		};
	};
	u64 expires;
	u16 cpu;
	u16 home;
	union {
		struct {
			u8 state;
			u8 kind;
			u8 flags;
			union {
				u8 active;
				u8 place;
			};
		};
		u32 bytes;
	};
};

#ifdef CONFIG_64BIT
static_assert(sizeof(struct callout_node) == 40);
#endif

/**
 * struct callout_owner - who has set a callout
 * @func: its handler; NULL if it is of a file
 * @pid: the process that opened the file, else 0
 * @comm: the name of that process then, else NULL
 */
struct callout_owner {
	callout_func_t *func;
	pid_t pid;
	const char *comm;
};

/*
 * Changes bits of @n's state. The caller holds the lock of @n's base, which
 * excludes other writers; the owner may read the state without it.
 */
static inline void callout_change_state(struct callout_node *n, u8 clear,
					u8 set)
{
	WRITE_ONCE(n->state, (n->state & ~clear) | set);
}

#endif /* _LINUX_CALLOUT_NODE_H */
