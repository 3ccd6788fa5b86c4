// SPDX-License-Identifier: GPL-2.0
/*
 * fails.c - makes a turn or a flush fail, for programs that are linked with --wrap
 */
#include <errno.h>
#include <libcallout.h>

int __wrap_callout_ctx_turn(struct callout_ctx *ctx, __u64 timeout)
{
	(void)ctx;
	(void)timeout;
	return -ENOSPC;
}

int __wrap_callout_ctx_flush(struct callout_ctx *ctx)
{
	(void)ctx;
	return -ENOSPC;
}
