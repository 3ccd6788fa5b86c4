/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * callout_uring.h - operations of /dev/callout as commands of io_uring, see callout_uring(3)
 *
 * Include <liburing.h> before, if at all: it has its own copy of <linux/io_uring.h>, which may
 * be newer, and the first copy is used.
 */
#ifndef _CALLOUT_URING_H
#define _CALLOUT_URING_H

#include <libcallout.h>
#include <linux/io_uring.h>

static inline void _callout_uring_prep(struct io_uring_sqe *sqe, int fd,
				       __u32 cmd_op, void *arg)
{
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = cmd_op;
	sqe->addr = (uintptr_t)arg;
}

/* Fill an entry with an operation that sets, moves or cancels. */
static inline void callout_uring_prep_op(struct io_uring_sqe *sqe, int fd,
					 struct callout_op *op)
{
	_callout_uring_prep(sqe, fd, CALLOUT_IOC_OP, op);
}

/* Fill an entry with a batch, which does not wait. */
static inline void callout_uring_prep_batch(struct io_uring_sqe *sqe, int fd,
					    struct callout_batch *batch)
{
	_callout_uring_prep(sqe, fd, CALLOUT_IOC_BATCH, batch);
}

#endif /* _CALLOUT_URING_H */
