/* SPDX-License-Identifier: GPL-2.0 */
/*
 * calls.h - the fixture for tests of libcallout's calls
 */
#ifndef _CALLOUT_SELFTESTS_CALLS_H
#define _CALLOUT_SELFTESTS_CALLS_H

#include "kselftest_harness.h"
#include "common.h"

FIXTURE(calls) {
	int fd;
};

FIXTURE_SETUP(calls)
{
	self->fd = callout_dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(calls)
{
	EXPECT_EQ(0, close(self->fd));
}

#endif /* _CALLOUT_SELFTESTS_CALLS_H */
