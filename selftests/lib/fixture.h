/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fixture.h - the fixture for tests that need an open file of /dev/callout
 */
#ifndef _CALLOUT_SELFTESTS_FIXTURE_H
#define _CALLOUT_SELFTESTS_FIXTURE_H

#include "kselftest_harness.h"
#include "common.h"

FIXTURE(file) {
	int fd;		/* non-blocking */
	__u64 tick;	/* at whose multiples callouts fire that are not exact */
};

FIXTURE_SETUP(file)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->tick = default_slack();
	ASSERT_NE(0, self->tick);
}

FIXTURE_TEARDOWN(file)
{
	EXPECT_EQ(0, close(self->fd));
}

#endif /* _CALLOUT_SELFTESTS_FIXTURE_H */
