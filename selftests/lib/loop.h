/* SPDX-License-Identifier: GPL-2.0 */
/*
 * loop.h - the fixture of tests of the timers of libcallout
 */
#ifndef _CALLOUT_SELFTESTS_LOOP_H
#define _CALLOUT_SELFTESTS_LOOP_H

#include "kselftest_harness.h"
#include "common.h"

FIXTURE(loop) {
	struct callout_ctx *ctx;
	struct callout_timer t[4];
};

FIXTURE_SETUP(loop)
{
	memset(self->t, 0, sizeof(self->t));
	ASSERT_EQ(0, callout_ctx_create(&self->ctx, 16));
}

FIXTURE_TEARDOWN(loop)
{
	callout_ctx_destroy(self->ctx);
}

#define info()		info_of(callout_ctx_fd(self->ctx))

/* A turn that may wait and must have @n timers to hand out. */
#define expect_turn(n) \
	EXPECT_EQ(n, callout_ctx_turn(self->ctx, WAIT_MS * MSEC))

/* A turn that must have no timers to hand out. */
#define expect_flush()	EXPECT_EQ(0, callout_ctx_turn(self->ctx, 0))

#endif /* _CALLOUT_SELFTESTS_LOOP_H */
