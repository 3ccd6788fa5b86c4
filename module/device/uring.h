/* SPDX-License-Identifier: GPL-2.0 */
/* uring.h - commands of io_uring: the submission side */
#ifndef _CALLOUT_DEVICE_URING_H
#define _CALLOUT_DEVICE_URING_H

struct io_uring_cmd;

int co_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags);

#endif /* _CALLOUT_DEVICE_URING_H */
