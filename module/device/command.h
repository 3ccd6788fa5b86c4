/* SPDX-License-Identifier: GPL-2.0 */
/*
 * command.h - pending commands of io_uring, which complete when their callouts fire
 */
#ifndef _CALLOUT_DEVICE_COMMAND_H
#define _CALLOUT_DEVICE_COMMAND_H

#include <linux/types.h>
#include "kcompat.h"

struct callout_file;
struct callout_slot;
struct io_uring_cmd;

/* Not defined without CALLOUT_URING, where the compiler drops the calls. */
void co_command_take(struct callout_slot *slot, struct io_uring_cmd **list);
void co_commands_cancelled(struct io_uring_cmd **list);
bool co_command_works(struct callout_file *file);
void co_command_init(void);

#if CALLOUT_URING

#include <linux/io_uring/cmd.h>
#include "handles/slot.h"

/* The data of a pending command in its struct io_uring_cmd. */
struct callout_command {
	struct io_uring_cmd *next;	/* in a list of commands to complete */
	u64 handle;			/* of the callout; 0 until the callout is set */
};

static inline struct callout_command *co_to_command(struct io_uring_cmd *cmd)
{
	return io_uring_cmd_to_pdu(cmd, struct callout_command);
}

/*
 * A random mask: a slot has the address of its command xor this mask. In the same
 * place other slots have a number that a program has chosen, see slot.h.
 */
extern unsigned long callout_command_mask;

/* Attach @cmd to a callout that was just set for a command. The base is locked. */
static inline void co_command_attach(struct io_uring_cmd *cmd,
				     struct callout_slot *slot)
{
	slot->node.own = (unsigned long)cmd ^ callout_command_mask;
	/* Pairs with command_cancel(). */
	WRITE_ONCE(co_to_command(cmd)->handle, slot->handle);
}

#endif /* CALLOUT_URING */

#endif /* _CALLOUT_DEVICE_COMMAND_H */
