/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_node.h - the part of a callout that bases and schemes queue
 *
 * The lowest layer: schemes, bases and tick sources know this struct and nothing of
 * its owner, the object in which it is embedded.
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
	CALLOUT_KIND_HANDLE,	/* call its function, then free its slot */
	CALLOUT_KIND_EVENT,	/* make an event for a reader: no function */
	CALLOUT_KIND_KEYED,	/* as CALLOUT_KIND_EVENT, for a callout with a key */
	CALLOUT_KIND_COMMAND,	/* complete a command: no function */
	CALLOUT_KIND_TIMER,	/* call its function, with the timer */
};

/* callout_node.state, written with the base's lock held. */
#define CALLOUT_S_PENDING	0x01	/* queued, or on a list of due callouts */
#define CALLOUT_S_DUE		0x02	/* on a list of due callouts */
#define CALLOUT_S_DRAINING	0x04	/* being drained: cannot be set */
#define CALLOUT_S_SHUT		0x08	/* cannot be set until initialised */
#define CALLOUT_S_STARTED_HERE	0x40	/* its handler has started on its base */
#define CALLOUT_S_AWAY		0x80	/* its cpu is not its home; means nothing for a timer */

/**
 * struct callout_node - an entry of a base and its scheme
 * @entry: link in the scheme, or in a list of due callouts
 * @word: the same memory, as the scheme uses it
 * @link: the first two words, which the hashed wheel uses
 * @time: the third word, which the wheel leaves to the owner: nanoseconds, or a
 *	jiffy
 * @own: the third word, if it is a number of another kind
 * @expires: the tick at which the node is due; once it has fired, for the owner's
 *	use
 * @cpu: index of the base to which the node belongs
 * @home: index of the base to which the node returns, if that differs; of a timer,
 *	the base to which it leaves once its handler has returned
 * @state: CALLOUT_S_*
 * @kind: what happens when the node is due
 * @flags: for the owner's use
 * @active: of a callout, CALLOUT_A_*
 * @place: the same byte of a slot: its place in the hash
 * @bytes: these four bytes, to test them at once
 *
 * The lock of base @cpu protects all members except @flags, @active and
 * @place.
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
 * @func: the handler; NULL if the callout belongs to a file
 * @pid: the process that opened the file; otherwise 0
 * @comm: the name of that process at that time; otherwise NULL
 */
struct callout_owner {
	callout_func_t *func;
	pid_t pid;
	const char *comm;
};

/*
 * Change bits of @n's state. The caller holds the lock of @n's base, which excludes
 * other writers; the owner may read the state without the lock.
 */
static inline void callout_change_state(struct callout_node *n, u8 clear,
					u8 set)
{
	WRITE_ONCE(n->state, (n->state & ~clear) | set);
}

#endif /* _LINUX_CALLOUT_NODE_H */
